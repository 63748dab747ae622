"""Study 4 from texts and models on: KernelSHAP against Shapley's definition, AttInGrad against its factors and the
released scores, attributions as the authors' code makes them, bounds and searches by hand and against loops, the
texts of the authors' files, and the page that sets the six models beside the released numbers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import replica_data
import torch
from refusals import refused
from store import Store
from toy_models import text_inputs, text_model

from faithbook.sources import files
from faithbook.sources.edin_texts import LENGTHS, edin_texts
from faithbook.studies.naopc import edin, edin_bounds, edin_released
from faithbook.studies.naopc.edin_methods import METHODS, as_coded, attin_grad, kernel_shap
from faithbook.studies.naopc.edin_released import LONG, MODELS, SHORT, read_packed
from faithbook.studies.naopc.edin_tables import released_limits, scored_by
from faithlib.attribution import attribute
from faithlib.bounds import beam_bounds, exact_bounds
from faithlib.errors import DataError, DigestError, InputError, UnknownNameError
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber


def shapley(perturber: Perturber, b: int, n: int) -> list[float]:
    """By the definition: what a feature adds to each set of the others, every size of set counted alike."""

    def answer(kept: tuple[int, ...]) -> float:
        keep = torch.zeros_like(perturber.inputs.feature_mask)
        keep[b, list(kept)] = True
        return float(perturber.keep(keep[:, None])[b, 0])

    found = []
    for number in range(n):
        others = [feature for feature in range(n) if feature != number]
        gains = [
            (answer((*combination, number)) - answer(combination)) / (n * comb(n - 1, size))
            for size in range(n)
            for combination in combinations(others, size)
        ]
        found.append(sum(gains))
    return found


@pytest.fixture(scope="module")
def texts() -> tuple[torch.nn.Module, TextInputs]:
    model = text_model()
    return model, cut_into_words(text_inputs(model, lengths=(6, 4, 3, 7)))


def cut_into_words(inputs: TextInputs) -> TextInputs:
    """The same rows, the first two pieces of each one word."""
    feature_of = torch.where(inputs.feature_of > 0, inputs.feature_of - 1, inputs.feature_of)
    return replace(inputs, feature_of=feature_of, n_features=feature_of.amax(dim=1) + 1)


def test_kernel_shap_estimates_shapley_values(texts: tuple[torch.nn.Module, TextInputs]) -> None:
    perturber = Perturber(texts[0], texts[1], erase="mask")
    found = kernel_shap(perturber, n_samples=3000)
    for b, n in enumerate(perturber.inputs.n_features.tolist()):
        expected = shapley(perturber, b, n)
        spread = max(expected) - min(expected)
        assert found[b, :n].tolist() == pytest.approx(expected, abs=0.05 * spread + 1e-6)
        assert float(found[b].sum()) == pytest.approx(float(perturber.full[b] - perturber.empty[b]), abs=1e-4)
        assert not found[b, n:].any()


def test_kernel_shap_draws_by_content_and_seed(texts: tuple[torch.nn.Module, TextInputs]) -> None:
    model, inputs = texts
    state = torch.random.get_rng_state()
    found = kernel_shap(Perturber(model, inputs, erase="mask"), n_samples=8)
    assert torch.equal(torch.random.get_rng_state(), state)  # nobody else's draws move
    turned = torch.arange(len(found)).flip(0)
    again = kernel_shap(Perturber(model, inputs[turned.tolist()], erase="mask"), n_samples=8)
    torch.testing.assert_close(again[turned], found, atol=1e-5, rtol=0)
    other = kernel_shap(Perturber(model, inputs, erase="mask"), n_samples=8, seed=1)
    assert not torch.allclose(other, found)


@pytest.mark.parametrize("model", MODELS)
def test_released_scores_of_attin_grad_are_products_up_to_a_factor_for_each_text(model: str) -> None:
    """Of a word of several pieces the released numbers are sums: the product of two sums is more than the sum of the
    products, so that it stands below the words of one piece, which share the factor."""
    table = edin_released.attributions(model).pivot(index="id", columns="method", values="scores")
    shares = []
    for row in table.itertuples():
        product = row.attention * row.input_x_gradient
        factors = row.attingrad[product > 0] / product[product > 0]
        shares.append(float(np.isclose(factors, factors.max(), rtol=0.01).mean()))
    assert np.mean(shares) > 0.6


# -------------------------------------------------------------------------------------------------- bounds and searches
ENDS = ("lower", "upper", "certified_lower", "certified_upper", "rows")


def rows(values: tuple[float, ...], **labels: Any) -> list[dict[str, Any]]:
    labels_of_text = {"dataset": "d", "classifier": "c", "id": "a", "cluster": "a", **labels}
    return [labels_of_text | {"metric": name, "value": value} for name, value in zip(ENDS, values, strict=True)]


def test_searches_are_held_against_the_best_and_against_the_published_one() -> None:
    options: dict[str, Any] = {"words": 80, "seed": 0}
    units = rows((-0.1, 0.5, -0.2, 0.7, 1000.0), **options, method="released", width=5, candidates=0)
    units += rows((-0.12, 0.5, -0.2, 0.6, 500.0), **options, method="merged", width=5, candidates=0)
    units += rows((-0.08, 0.46, -0.18, 0.76, 100.0), **options, method="merged", width=1, candidates=4)
    found = edin_bounds.of_searches(pd.DataFrame(units))
    value = found.set_index(["search", "metric"]).value
    assert set(found.search) == {"released, width 5", "merged, width 5", "pruned, width 1, 4 words"}
    assert set(found.loc[found.search == "pruned, width 1, 4 words", "kind"]) == {"pruned"}
    pruned = value["pruned, width 1, 4 words"]
    assert pruned["error"] == pytest.approx((0.04 + 0.04) / 2)
    assert pruned["short"] == pytest.approx((0.04 + 0.02) / 2)
    assert pruned["unsure"] == pytest.approx((0.3 + 0.1) / 2)
    assert pruned["fewer"] == 10
    assert value["merged, width 5"]["short"] == pytest.approx(-0.01)  # better than the published search
    assert value["released, width 5"]["error"] == pytest.approx(0.01)
    assert set(found.id) == {"80 words, a"}


def test_a_search_is_outdone_by_one_with_fewer_rows_and_a_smaller_error_alone() -> None:
    rows = [("adaptive", 100, 0.02), ("a", 90, 0.01), ("b", 80, 0.015), ("c", 110, 0.0), ("d", 50, 0.03)]
    found = pd.DataFrame([*rows, ("e", 90, 0.02 - 1e-7)], columns=["search", "rows", "error"])
    own, better = edin_bounds.outdone(found, "error") or pytest.fail("nothing found")
    assert (own["rows"], better["search"]) == (100, "a")
    for names in (["adaptive", "c", "d", "e"], ["a", "b"]):
        assert edin_bounds.outdone(found[found.search.isin(names)], "error") is None


# ----------------------------------------------------------------------- a search that holds each set once, as a loop
def slow(answers: list[float], n: int, width: int) -> float:
    """The smallest sum of answers on the way to the full set, of the sets of each size the cheapest kept."""
    kept = {0: 0.0}
    for _ in range(n):
        reached: dict[int, float] = {}
        for members, cost in kept.items():
            for word in range(n):
                if not members >> word & 1:
                    larger = members | 1 << word
                    reached[larger] = min(reached.get(larger, float("inf")), cost + answers[larger])
        kept = dict(sorted(reached.items(), key=lambda item: item[1])[:width])
    return kept[2**n - 1]


@pytest.fixture(scope="module")
def table() -> edin.AnswerTable:
    generator = torch.Generator().manual_seed(0)
    sizes = [1, 2, 4, 5, 5, 6]
    values = [torch.rand(2**n, generator=generator, dtype=torch.float64) for n in sizes]
    return edin.AnswerTable(list(range(len(sizes))), values)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_bounds_are_those_of_a_loop_over_sets(table: edin.AnswerTable, width: int) -> None:
    lower, upper = edin.deduplicated(table, width)
    for i, n in enumerate(table.feature_mask.sum(dim=1).tolist()):
        start = int(table._starts[i])
        answers = table._values[start : start + 2**n].tolist()
        assert upper[i].item() == pytest.approx(answers[0] - slow(answers, n, width) / n)
        assert lower[i].item() == pytest.approx(answers[0] + slow([-answer for answer in answers], n, width) / n)


def test_a_last_step_over_all_sets_visited_only_adds_and_a_wide_beam_is_exact(table: edin.AnswerTable) -> None:
    lower, upper = edin.deduplicated(table, 2)
    merged = beam_bounds(table, width=2, limits=(0, 1))
    assert (merged.upper >= upper - 1e-12).all() and (merged.lower <= lower + 1e-12).all()
    exact = exact_bounds(table)
    for found, best in zip(edin.deduplicated(table, 64), (exact.lower, exact.upper), strict=True):
        torch.testing.assert_close(found, best)


THEIRS = Path(__file__).resolve().parents[2] / "shared" / "data" / "naopc" / "data"


# --------------------------------------------------------------------------------------------------------- the texts
@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FAITHLIB_DATA with files of ours in their layout, whose digests are not asked for."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setattr(files, "verify", lambda source, path: None)
    (tmp_path / "edin-texts").mkdir()
    for one in files.files_of("edin-texts"):
        one.path.write_text(replica_data.edin_texts(one.file, 7), encoding="utf-8")
    return tmp_path / "edin-texts"


def test_texts_are_read_in_the_order_of_their_file_or_refused(made: Path) -> None:
    for dataset, length in ((dataset, length) for dataset, lengths in LENGTHS.items() for length in lengths):
        whole = edin_texts(dataset, length)
        assert list(whole.columns) == ["id", "text"]
        assert len(whole) == whole.id.nunique() == 7
        pd.testing.assert_frame_equal(edin_texts(dataset, length, n=3), whole[:3])
    refused(UnknownNameError, "'imbd': did you mean 'imdb'", edin_texts, "imbd", "long")
    refused(UnknownNameError, "known: long", edin_texts, "imdb", "short")
    refused(InputError, "at least one text", edin_texts, "imdb", "long", n=0)
    for content, message in (
        ("word_length,token_length,label,id\n3,5,1,0\n", "lacks the columns text"),
        ("label,id,text\n1,0,a fine film\n0,1,a dull film\n", "label '0' is not one of 1"),
        ("label,id,text\n1,0,a fine film\n1,0,a good film\n", "row 2 has the id of an earlier one"),
        ("label,id,text\n1,x,a fine film\n", "row 1 has an id that is no number"),
        ("label,id,text\n1,0,a fine film\n1,1,\n", "row 2 has no text"),
        ('label,id,text\n1,0,"a film cut sho', "cannot read"),
        ("", "cannot read"),
    ):
        (made / "yelp_test_long.csv").write_text(content)
        refused(DataError, message, edin_texts, "yelp", "long")


def test_the_real_texts_are_those_of_the_released_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not THEIRS.is_dir():
        pytest.skip("the authors' files are not on this machine")
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    shutil.copytree(THEIRS, tmp_path / "edin-texts")
    released = read_packed("texts")
    for dataset, lengths in LENGTHS.items():
        for length in lengths:
            ours = edin_texts(dataset, length)
            theirs = released[(released.dataset == dataset) & (released.length == length)].sort_values("place")
            assert ours.id.tolist() == theirs.id.tolist()
            assert ours.text.str.split().map(len).tolist() == theirs.words.tolist()
    cut = tmp_path / "edin-texts" / "imdb_test_long.csv"
    cut.chmod(0o644)
    cut.write_bytes(cut.read_bytes()[:-100])
    refused(
        DigestError, r"is not the file expected for source 'edin-texts:imdb_test_long\.csv'", edin_texts, "imdb", "long"
    )


# ---------------------------------------------------------------------------------------------------------- the scores
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_word_has_the_sum_of_its_pieces_scores(family: str) -> None:
    model = text_model(family)
    inputs = cut_into_words(text_inputs(model, lengths=(6, 4, 3, 7)))
    found = as_coded(model, inputs, target=1, ig_steps=8)
    assert tuple(found) == METHODS
    for name, scores in found.items():
        assert scores.shape == inputs.feature_mask.shape
        assert (scores >= 0).all(), name
        assert (scores[~inputs.feature_mask] == 0).all()
        assert torch.isfinite(scores).all()
    pieces = inputs.by_piece()
    lengths = attribute("input_x_gradient", model, pieces, target=1, output="logit", aggregation="l2")
    dropped = attribute("occlusion", model, pieces, target=1, output="logit", erase="mask").abs()
    weights = attribute("attention", model, pieces)
    found["product"] = attin_grad(model, inputs)
    gradient = attribute("input_x_gradient", model, pieces, output="probability", aggregation="l2")
    for name, of_pieces in {
        "input_x_gradient": lengths, "occlusion": dropped, "attention": weights, "attingrad": weights * lengths,
        "product": weights * gradient,
    }.items():  # fmt: skip
        # The first two pieces of each text are one word.
        expected = torch.cat([of_pieces[:, :1] + of_pieces[:, 1:2], of_pieces[:, 2:]], dim=1)
        expected = expected[:, : inputs.feature_mask.shape[1]] * inputs.feature_mask
        assert torch.allclose(found[name], expected, atol=1e-5), name


def test_a_text_is_explained_alike_whatever_stands_beside_it() -> None:
    model = text_model()
    inputs = cut_into_words(text_inputs(model, lengths=(6, 4, 7)))
    together = as_coded(model, inputs, target=1, ig_steps=4)
    alone = as_coded(model, inputs[[1]], target=1, ig_steps=4)
    for name in METHODS:
        size = alone[name].shape[1]
        assert torch.allclose(together[name][1, :size], alone[name][0], atol=1e-5), name


# ------------------------------------------------------------------------------------------------------------ the page
SEARCHES = {"short": ("exact", "beam"), "long": ("beam", "adaptive")}


def units_like_released(dataset: str, model: str, *, off: float, n: int = 12) -> pd.DataFrame:
    """What `naopc_six` would keep if it found the released values, p and bounds shifted by `off`."""
    both = scored_by(released_limits())
    both = both[(both.dataset == dataset) & (both.model == model)].groupby("length").head(n)
    frames = []
    for search in ("exact", "beam", "adaptive"):
        part = both[[search in SEARCHES[length] for length in both.length]]
        ends = part.assign(lower=part.lower + off, upper=part.upper + off, rows=40, width=5, method=search)
        frames.append(ends.melt(["id", "length", "method"], ["lower", "upper", "rows", "width"], "metric"))
    facts = both.assign(p_full=both.p_full + off, method="none")
    frames.append(facts.melt(["id", "length", "method"], ["p_full", "words"], "metric"))
    generator = np.random.default_rng(0)
    for method in METHODS:
        for metric in ("aopc", "naopc"):
            for kind in ("comprehensiveness", "sufficiency"):
                told = {"method": method, "metric": f"{metric}_{kind}", "value": generator.uniform(0, 1, len(both))}
                frames.append(both[["id", "length"]].assign(**told))
    found = pd.concat(frames, ignore_index=True).astype({"id": str})
    return found.assign(cluster=found.id, seed=0)


def test_the_page_sets_six_models_beside_the_released_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch, profile="paper")
    asked = list(MODELS)[:2]
    for k, model in enumerate(asked):
        for dataset in LONG:
            units = units_like_released(dataset, model, off=0.01 * (k == 0))
            declared = ("hf:textattack/bert-base-uncased-SST-2",)
            store.add("naopc_six", {"": units}, declared=declared, dataset=dataset, classifier=model)
    page = store.report("naopc_six_models")
    agreed = page.table("naopc_six_agreement")
    assert len(agreed) == len(asked) * (len(SHORT) + len(LONG))
    shifted = agreed.model == asked[0]
    assert agreed.same_p.tolist() == (~shifted).astype(float).tolist() and agreed.same_words.min() == 1
    assert agreed.upper_apart.to_numpy() == pytest.approx(np.where(shifted, 0.01, 0), abs=1e-3)
    bounds = page.table("naopc_six_bounds")
    assert len(bounds) == 3 * len(agreed) and bounds.published.notna().all()
    scores = page.table("naopc_six_scores")
    assert len(scores) == len(agreed) * len(METHODS) * 4 and set(scores.method) == set(METHODS)
    assert len(page.table("naopc_six_searches")) == len(asked) * len(LONG)
    assert f"Of {len(bounds)} released means" in page.text and f"Of {len(scores):,} released means of AOPC" in page.text
