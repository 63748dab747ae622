"""Models and searches of ours on the measurements of Edin et al., from the committed values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from faithbook.engine.run import load_units
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.stats.verdict import Verdict
from faithbook.studies.naopc import edin_bounds, edin_own_models, edin_searches
from faithbook.studies.naopc.edin_own_models import OwnModels
from faithbook.studies.naopc.study import SMALL

Mean = Callable[..., Comparison]


def mean_of(values: pd.DataFrame, over: list[str], *names: str, stratum: str = "dataset") -> Mean:
    """The mean of values over the cells with some labels, as `Page.quantity` gives it."""
    cells = Conditions.of(values, over=over, unit=["dataset", "id"], cluster="cluster", stratum=stratum, n_resamples=99)
    return lambda *labels, **more: Comparison(cells.mean(**dict(zip(names, labels, strict=True)), **more))


@pytest.fixture(scope="module")
def models() -> OwnModels:
    parts = [load_units("naopc_models", reference=True, part=part) for part in ("", "bounds")]
    values = edin_bounds.of_models(pd.concat(parts, ignore_index=True))
    over = ["dataset", "length", "model", "method", "search", "metric"]
    return OwnModels.of(values, mean_of(values, over, "metric"), [*SMALL, "mpnet", "never run"])


@pytest.fixture(scope="module")
def searched() -> pd.DataFrame:
    return edin_bounds.of_searches(load_units("naopc_search", reference=True).assign(dataset="bbc"))


# -------------------------------------------------------------------------------------------------------------- models
def test_models_are_compared_where_they_classified_the_same_texts(models: OwnModels) -> None:
    assert models.names == [*SMALL, "mpnet"]
    assert models.of_dataset("movie") == models.of_dataset("bbc") == SMALL
    assert ("sst", "long", "mpnet") in models.cells and ("sst", "long", "lstm") not in models.cells
    assert "attention" in models.methods["l6"] and "attention" not in models.methods["lstm"]


def test_the_range_is_the_distance_of_the_bounds(models: OwnModels) -> None:
    table = edin_own_models.bounds(models)
    wide = table.pivot(index=["dataset", "length", "classifier"], columns="bound", values="estimate")
    assert len(wide) == len(models.cells)
    assert wide["range"].tolist() == pytest.approx((wide["upper"] - wide["lower"]).tolist())
    short = wide.xs("short", level="length")["range"]
    assert edin_own_models.mean_range(table, "short") == pytest.approx(short.mean())
    assert edin_own_models.mean_range(table, "long") > short.mean()
    shown = edin_own_models.quantity_table(table, ["dataset", "length", "classifier"], "bound")
    assert {*shown["dataset"]} == {"BBC news", "film reviews", "SST-2"}
    assert {*shown["model"]} >= {"MiniLM-6", "MPNet"}
    assert shown["range"][0].startswith("0.42 [")  # of bbc, short, MiniLM-6


def test_only_groups_of_several_models_have_a_spread(models: OwnModels) -> None:
    text = edin_own_models.spread_of_bounds(models)
    assert "over the 4 models on BBC news and film reviews it is 0.05 [" in text and "SST" not in text
    alone = OwnModels(models.mean, ["mpnet"], ["sst"], models.methods, [(["mpnet"], ["sst"])])
    assert edin_own_models.spread_of_bounds(alone) == ""


def test_normalising_moves_models_more_than_methods(models: OwnModels) -> None:
    table = edin_own_models.ranking_agreements(models).set_index(["dataset", "length", "metric", "ranking"])
    assert table.estimate["bbc", "short", "aopc_morf", "models"] == pytest.approx(1 / 12)
    assert np.isnan(table.estimate["sst", "short", "aopc_morf", "models"])  # one model has no ranking
    assert table.estimate["sst", "long", "aopc_lerf", "methods"] == 1
    assert (
        table.published["movie", "short", "aopc_lerf", "models"]
        == table.published["bbc", "short", "aopc_lerf", "models"]
    )
    shown = edin_own_models.rankings_in_words(table.reset_index())
    heads = ["models: BBC news", "models: film reviews", "models: released"]
    heads += ["methods: BBC news", "methods: film reviews", "methods: SST-2", "methods: released"]
    assert shown.columns.tolist() == ["texts", "order", *heads]
    assert shown["models: released"].tolist() == ["0.87", "0.33", "0.90", "0.54"]


def test_the_result_has_texts_with_exact_bounds_first_and_those_of_a_beam_apart(models: OwnModels) -> None:
    table = edin_own_models.ranking_agreements(models)
    taus = table.groupby(["length", "ranking"])["estimate"].mean()  # of one model alone there is none
    for length, ranking in taus.index:
        mean = edin_own_models.mean_agreement(models, length, ranking).ours.point
        assert mean == pytest.approx(taus[length, ranking])
    text = edin_own_models.rankings_in_short(models)
    assert text.startswith("normalising AOPC reorders models more than it reorders attribution methods. On short texts")
    exact, of_beam = text.split(" Long texts give ")
    assert "is 0.42 [" in exact and "0.94 [" in exact and "(n = 60 texts in the smallest set" in exact
    assert "released files 0.60 and 0.91" in exact
    assert of_beam.startswith("0.42 [") and "0.97 [" in of_beam and "may be too narrow" in of_beam
    by_order = edin_own_models.removal_orders_in_words(models)
    assert "0.08 [" in by_order and "by MoRF (released 0.87)" in by_order and "by LeRF (released 0.33)" in by_order
    assert "most by MoRF, and the authors' models most by LeRF" in by_order


def test_one_model_alone_has_no_ranking_of_models_to_tell(models: OwnModels) -> None:
    alone = OwnModels(models.mean, ["mpnet"], ["sst"], models.methods, [(["mpnet"], ["sst"])])
    assert edin_own_models.removal_orders_in_words(alone) == ""
    agreements = edin_own_models.ranking_agreements(alone)
    heads = ["texts", "order", "methods: SST-2", "methods: released"]
    assert edin_own_models.rankings_in_words(agreements).columns.tolist() == heads


def test_the_adversarially_trained_model_is_held_against_the_standard_one(models: OwnModels) -> None:
    pair = edin_own_models.adversarial_pair(models, ["sst"])  # on SST there is none
    assert pair and (pair.standard, pair.hardened, pair.datasets) == ("l6", "robust", ["bbc", "movie"])
    aopc, naopc = pair.differences().values()
    assert naopc.ours.point == pytest.approx(-0.071, abs=5e-4) and abs(aopc.ours.point) < 0.02
    by_hand = models.mean("naopc_morf", model="l6", method=pair.methods, dataset=pair.datasets, length="short")
    by_hand -= models.mean("naopc_morf", model="robust", method=pair.methods, dataset=pair.datasets, length="short")
    assert naopc.ours.point == pytest.approx(by_hand.ours.point)
    text = edin_own_models.adversarial_in_words(pair)
    assert "does not clearly look more or less faithful under AOPC and looks more faithful under NAOPC" in text
    assert "adversarial MiniLM-6 minus MiniLM-6 is −0.01 [" in text
    variants = pair.variants()
    assert len(variants) == 1 + 2 + 2 + len(pair.methods) + 3
    assert next(iter(variants)) == ("short texts", "all but random", "MoRF")
    assert "random" not in pair.methods
    without = OwnModels(models.mean, ["mpnet"], ["sst"], models.methods, [(["mpnet"], ["sst"])])
    assert edin_own_models.adversarial_pair(without, ["sst"]) is None
    assert edin_own_models.adversarial_in_words(None) == edin_own_models.NO_PAIR


def test_a_method_below_random_scores_is_named(models: OwnModels) -> None:
    scores = edin_own_models.scores_of_methods(models)
    assert "DeepLIFT on MPNet (0.17 against 0.28, n = 50)" in edin_own_models.below_random(scores)
    others = scores[scores.classifier != "mpnet"]
    assert edin_own_models.below_random(others).startswith("No method")
    assert "a mean NAOPC of 0.37 [" in (text := edin_own_models.random_scores(models))
    assert "from 0.28 to 0.42 by model; on short texts alone, whose bounds are exact, 0.40 [" in text


def test_both_conventions_of_sufficiency_are_means_over_the_same_methods(models: OwnModels) -> None:
    table = edin_own_models.sufficiency_conventions(models).set_index(["dataset", "length", "model"])
    methods = [*models.methods["lstm"], "random"]
    cell = {"dataset": "movie", "length": "long", "model": "lstm"}
    means = [models.mean("aopc_lerf", **cell, method=method).ours.point for method in methods]
    assert table.ascending["movie", "long", "lstm"] == pytest.approx(np.mean(means))
    assert table.tau.between(0.6, 1).all()
    shown = edin_own_models.conventions_in_words(table.reset_index())
    assert shown["ERASER"][0] == "0.67" and shown["model"][0] == "MiniLM-6"
    text = edin_own_models.conventions_in_short(table.reset_index())
    assert "is 0.85 on average" in text and "(n = 60 to 100 short and 10 to 50 long texts)" in text


# ------------------------------------------------------------------------------------------------------------ searches
def test_a_wider_beam_needs_more_forward_passes_than_a_pruned_one(searched: pd.DataFrame) -> None:
    cell = ["model", "words", "search", "metric"]
    mean = mean_of(searched, cell, *cell, stratum="words")
    table = edin_searches.costs(searched, mean)
    assert table.n.min() == 1 and table[table.n == 1].low.isna().all()
    rows = table.set_index(["classifier", "words", "search"]).rows
    assert rows["l6", 160, "pruned, width 5, 32 words"] < rows["l6", 160, "released, width 5"]
    text = edin_searches.in_short(table)
    assert "*pruned, width 5, 32 words*, needs 2.8 times fewer" in text and "(MiniLM-6, n = 5 texts)" in text
    assert "7 of 25 texts of MiniLM-6" in edin_searches.searched_exactly(table, most=13)
    shown = edin_searches.costs_in_words(table)
    assert shown["forward passes"].str.fullmatch(r"[\d,]+").all() and "MiniLM-3" in {*shown["model"]}
    outdone = edin_searches.adaptive_outdone(table, mean)
    assert outdone.count("\n- ") == int(outdone.split(" of them a pruned search")[0].rpartition(" ")[2])


def test_the_aim_is_undecided_where_no_search_reaches_it_on_enough_texts(searched: pd.DataFrame) -> None:
    cell = ["model", "words", "search", "metric"]
    mean = mean_of(searched, cell, *cell, stratum="words")
    aim = edin_searches.aim(edin_searches.costs(searched, mean), mean, mean, str)
    assert aim.table.words.min() == 80 and aim.word == "undecided"
    assert len(aim.tested) == 10 and "0 of 35 lines of the table reach it, and 25 have too few" in aim.note
    assert {answer.verdict for answer in aim.tested} <= {Verdict.NO, Verdict.UNDECIDED}
    shown = edin_searches.aims_in_words(aim.table)
    assert shown[shown.n == 1]["bounds short by"].str.match(r"−?0\.\d{4}$").all()  # a single text has no interval
    short = edin_searches.costs(searched[searched.words == 10], mean)
    none = edin_searches.aim(short, mean, mean, str)
    assert none.table.empty and none.word == "not tested" and "leaves such texts out" in none.note
