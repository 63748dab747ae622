"""What report pages are written on: paired quantities, evidence, judged claims, tables, curves, the data used."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from store import Store, units_of

from faithbook.artifacts import registry
from faithbook.engine.studies import notebooks
from faithbook.judge import analysis_plan, decide, deciding, materials, published, report, scoreboard
from faithbook.judge.decide import OnlyIf, Ordered, SameNumber, Statements, Trend
from faithbook.judge.multiverse import Curve, multiverse
from faithbook.judge.report import Page, start_page
from faithbook.judge.scores import REFERENCE, RUN
from faithbook.show import tables
from faithbook.show.numbers import beside, spoken
from faithbook.show.page import badge
from faithbook.sources.edin_texts import LENGTHS
from faithbook.stats import agreement, comparison, evidence_levels, needed
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Interval95
from faithlib.errors import DataError, InputError

RESAMPLES = 1999


def cells(n: int = 40, seed: int = 0, **means: float) -> Conditions:
    frame = units_of({(name,): mean for name, mean in means.items()}, ("method",), n=n, seed=seed)
    return Conditions.of(frame, over=["method"], unit="id", n_resamples=RESAMPLES)


def pairs(means: dict[str, float], printed: dict[str, float], **more: object) -> dict[str, Comparison]:
    found = cells(**means)
    return {name: Comparison(found.mean(method=name), printed.get(name, math.nan), **more) for name in means}  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------- paired
def test_arithmetic_acts_on_ours_and_the_published() -> None:
    claim = pairs({"a": 0.6, "b": 0.2}, {"a": 0.5, "b": 0.25})
    a, b = claim["a"], claim["b"]
    for made, ours, theirs in (
        (a - b, 0.4, 0.25),
        (a + 1, 1.6, 1.5),
        (1 - a, 0.4, 0.5),
        (2 * b, 0.4, 0.5),
        (a / b, 3.0, 2.0),
        (abs(b - a), 0.4, 0.25),
        (-a, -0.6, -0.5),
        (comparison.mean([a, b]), 0.4, 0.375),
        (comparison.combined(lambda values: values.min(axis=-1), [a, b]), 0.2, 0.25),
    ):
        assert (made.ours.point, made.published) == pytest.approx((ours, theirs))
    # What is made of two rests on the weaker evidence and the smaller n.
    both = replace(a, evidence=evidence_levels.PAPER, published_n=900) - replace(
        b, evidence=evidence_levels.DATA, published_n=400
    )
    assert (both.evidence, both.published_n) == (evidence_levels.DATA, 400)
    assert math.isnan((a / Comparison(b.ours, 0.0)).published)
    found = cells(a=0.6, b=0.2, c=0.4)
    three = [Comparison(found.mean(method=name)) for name in "abc"]
    assert comparison.mean(three).ours.standard_error == pytest.approx(found.mean().standard_error)
    assert 0 < comparison.combined(lambda values: values.std(axis=-1), three).ours.standard_error < 0.02


def test_a_prediction_interval_is_only_for_the_papers_own_population() -> None:
    ours = cells(a=0.6).mean(method="a")
    own = Comparison(ours, 0.5, evidence_levels.PAPER, 40).prediction
    assert own is not None and own.low < 0.5 < own.high
    assert own.high - own.low == pytest.approx(math.sqrt(2) * (ours.interval().high - ours.interval().low))
    others = [(0.5, level, 40) for level in (evidence_levels.SUBSTITUTE, evidence_levels.DATA, evidence_levels.AUTHORS)]
    for other in (*others, (math.nan, evidence_levels.PAPER, 40), (0.5, evidence_levels.PAPER, None)):
        assert Comparison(ours, *other).prediction is None


# ----------------------------------------------------------------------------------------------------------- evidence
@pytest.mark.parametrize(
    ("paper", "notebook", "datasets", "models", "expected"),
    [
        (
            "wu_2024",
            "saco_metrics",
            ["imagenet"],
            ["timm:vit_base_patch16_224.orig_in21k_ft_in1k"],
            evidence_levels.PAPER,
        ),
        ("wu_2024", "saco_metrics", ["cifar10", "imagenet"], ["local:paper/cifar10-base-seed0"], evidence_levels.PAPER),
        ("wu_2024", "saco_metrics", ["imagenet"], ["local:vision/imagenet-base-seed0"], evidence_levels.DATA),
        ("wu_2024", "saco_metrics", ["imagenet"], [], evidence_levels.DATA),
        ("wu_2024", "saco_metrics", ["imagenet", "fashion"], ["local:paper/x"], evidence_levels.SUBSTITUTE),
        ("wu_2024", "saco_metrics", ["cifar10"], ["local:photo/cifar10-lora-seed0"], evidence_levels.DATA),
        ("wu_2024", "saco_metrics", [], [], evidence_levels.SUBSTITUTE),
        ("edin_2025", "naopc_released", ["sst2"], [], evidence_levels.AUTHORS),
        ("edin_2025", "naopc_six", ["sst2"], [], evidence_levels.DATA),
        (published.OUR_OWN, "x", ["sst2"], [], evidence_levels.OUR_QUESTION),
    ],
)
def test_the_ground_follows_from_data_and_models(
    paper: str, notebook: str, datasets: list[str], models: list[str], expected: str
) -> None:
    assert materials.evidence_level_of(paper, notebook=notebook, datasets=datasets, models=models) == expected


def test_the_materials_and_the_pages_of_claims_are_those_of_the_profiles() -> None:
    found = published.our_table("materials")
    assert set(found.paper) <= set(published.papers()) and set(found.kind) == {"data", "model", "outputs"}
    known = set(registry().data) | {"exnli", *LENGTHS}
    assert set(found[found.kind == "data"].name) <= known
    assert not found[(found.own == "yes") & (found.stands_for != "")].size
    assert set(found[(found.kind == "data") & (found.own != "yes")].stands_for) <= known
    assert set(published.claims().page) <= {notebook.name for notebook in notebooks("report")}


# ------------------------------------------------------------------------------------------------------------- judged


ABOVE, ALL = "saco_c02", "soft_c04"
"""Ids whose rules ask for one part above zero, and for all."""


def judge(name: str, claim: decide.Claim) -> decide.Judged:
    return decide.judge(name, claim, have=analysis_plan.rule(name).needs)


def of_values(values: list[float] | np.ndarray) -> Comparison:
    frame = pd.DataFrame({"id": range(len(values)), "m": "a", "value": values})
    return Comparison(Conditions.of(frame, over=["m"], unit="id", n_resamples=RESAMPLES).mean())


def test_a_part_is_beside_the_published_value_and_the_evidence_decides_the_word() -> None:
    claim = pairs(
        {"a": 0.6, "b": 0.2, "c": 0.1, "none": 0.0}, {"a": 0.5, "b": 0.55, "c": 0.1}, evidence=evidence_levels.PAPER
    )
    found = judge(ABOVE, {"a minus c": claim["a"] - claim["c"]})
    assert (found.word, found.n, found.waits_for) == ("reproduced", 40, "")
    told = found.columns
    assert (told["part"], told["passed"], told["parts"], told["published"]) == ("a minus c", 1, 1, 0.4)
    assert told["effect"] == pytest.approx(0.5) and told["low"] < 0.5 < told["high"]
    weak = replace(claim["c"] - claim["a"], evidence=evidence_levels.SUBSTITUTE)
    assert judge(ABOVE, {"a minus b": weak}).word == "does not replicate on our models"
    both = judge(ALL, {f"a minus {name}": claim["a"] - claim[name] for name in "bc"})
    assert (both.decision, both.contradicted, found.contradicted) == ("reproduced", 1, None)
    assert judge(ABOVE, OnlyIf({"a": claim["a"]}, {"b": claim["b"]})).decision == "reproduced"
    without = judge(ABOVE, OnlyIf({"a": claim["a"]}, {"the base": claim["none"]}))
    assert (without.word, without.reason) == ("not tested", "not clearly above zero: the base")
    assert without.waits_for == scoreboard.UNOBTAINABLE
    assert "passed" not in without.columns  # a count of parts that say yes would read as a no


def test_what_is_undecided_has_the_inputs_that_would_decide_it_and_what_it_waits_for() -> None:
    pair = of_values(np.linspace(-1, 1.1, 12))
    found = judge(ABOVE, {"a": pair})
    assert (found.word, found.waits_for) == ("undecided", scoreboard.MORE_INPUTS)
    assert found.columns["needed"] == pytest.approx(needed.how_many(pair.ours), rel=0.2)
    assert found.columns["detectable"] == pytest.approx(needed.smallest_detectable(pair.ours))
    released = judge(ABOVE, {"a": replace(pair, evidence=evidence_levels.AUTHORS)})
    assert released.waits_for == scoreboard.UNOBTAINABLE  # a release is as large as it is


def test_the_rows_of_orders_trends_and_numbers() -> None:
    names = [f"m{i}" for i in range(6)]
    printed = {name: 1.0 + i for i, name in enumerate(names)}
    rising = pairs({name: 0.1 * i for i, name in enumerate(names)}, printed)
    falling = {name: Comparison(-pair.ours, pair.published) for name, pair in rising.items()}
    assert judge("saco_table2", [Ordered(falling)]).rows.loc[0, "ours"] == -1.0
    both = judge("saco_table2", [Ordered(rising), Ordered(rising)])
    assert (both.columns["part"], both.columns["effect"]) == ("mean of 2", pytest.approx(1.0))
    assert judge("xl_c05", Trend(rising, rising)).rows.loc[0, "ours"] == pytest.approx(1.0)
    numbers = {"a": SameNumber(0.824, "0.82"), "b": SameNumber(0.91, "0.30")}
    told = judge("naopc_released_taus", numbers).columns
    assert [told[name] for name in ("passed", "parts", "part", "effect", "published")] == [1, 2, "b", 0.91, 0.3]
    fixed = judge("crosslingual_table6", None)
    assert (fixed.word, fixed.n) == ("nothing to test", None)
    # An order is judged beside the paper's own repeat.
    again = dict(zip(names, [3, 1, 5, 0, 4, 2], strict=True))
    for repeat, agrees, word in ((printed, "agrees", "reproduced"), (again, "disagrees", "nothing to test")):
        found = judge("saco_table2", Ordered(rising, repeats=(printed, repeat)))
        assert found.own_repeat == agrees
        assert found.decision == word
        assert found.rows.loc[0, "repeat"] == pytest.approx(agreement.tau_b([*printed.values()], [*repeat.values()]))
    assert judge("saco_table2", Ordered(rising)).own_repeat == ""


# ----------------------------------------------------------------------------------------------------------- exhibits


def test_a_cell_holds_both_values_a_sign_and_the_interval() -> None:
    claim = pairs({"a": 0.6, "b": 0.2}, {"a": 0.6, "b": 0.9})
    assert re.fullmatch(
        r'<span class="pair pair-agrees" title="95 % interval 0\.\d{3} to 0\.\d{3}, n = 40">0\.60 \(0\.60\) ≈</span>',
        tables.cell(claim["a"]),
    )
    assert "0.20 (0.90) ↓" in tables.cell(claim["b"])
    assert "0.20 (−0.10) ↑" in tables.cell(Comparison(claim["b"].ours, -0.1))
    assert tables.cell(Comparison(claim["b"].ours)).endswith(">0.20</span>")
    assert tables.cell(None) == "–"
    # What is the same for every input has no interval, and was called equal to whatever is printed.
    constant = Comparison((claim["b"] - claim["b"]).ours, 0.001)
    assert tables.cell(constant, 3) == '<span class="pair" title="no interval, n = 40">0.000 (0.001)</span>'


def test_parts_of_what_was_never_tested_have_no_answer() -> None:
    """Neither of a claim nor of one of several statements on which the paper's own repeats disagree."""
    one = {"a": replace(pairs({"a": 0.6}, {"a": 0.5})["a"], repeats=(0.5, -0.5))}
    sure = {"a": replace(one["a"], repeats=(0.5, 0.5))}
    statements = {"direction": sure, "size": one}
    apart = {name: decide.judge(f"xl_c02/{name}", part, have=()) for name, part in statements.items()}
    tested = report.Tested(
        xl_c02=decide.judge("xl_c02", Statements(statements), have=()), xl_c16=decide.judge("xl_c16", one, have=())
    )
    answers = tested.without_answers({"xl_c02": apart})["answer"].tolist()
    assert answers == ["reproduced", "nothing to test", "nothing to test"]
    assert tested.frame["answer"].tolist() == ["reproduced"] * 3


def test_a_table_has_the_papers_rows_and_columns_and_shows_gaps_and_one_we_have_nothing_of_is_refused() -> None:
    pair = pairs({"a": 0.6}, {"a": 0.5})["a"]
    for name, rows, columns in (
        ("saco_table1", ["cross_layer_aggregation", "gradient"], ["metric"]),
        ("saco_table2", ["k"], ["method"]),
    ):
        printed = published.table(name)
        wide, long = tables.grid(printed, lambda row: pair, rows=rows, columns=columns)
        assert len(wide) == len(printed.drop_duplicates(rows))
        assert len(wide.columns) == len(rows) + len(printed.drop_duplicates(columns)) + 1
        assert long[[*rows, *columns]].astype(str).equals(printed[[*rows, *columns]].astype(str))
        assert not any("_" in head for head in wide.columns)
        assert list(wide["n"]) == ["40"] * len(wide)
    by_k = {"rows": ["k"], "columns": ["method"]}
    wide, long = tables.grid(printed, lambda row: pair if row["k"] == "10" else None, **by_k)
    assert (list(wide["n"]), set(long.k)) == (["–", "40", "–"], {"10"})
    refused(InputError, "none of the cells", tables.grid, printed, lambda row: None, **by_k)
    by_k["columns"] = ["metric"]
    refused(InputError, "do not tell all cells apart", tables.grid, printed, lambda row: pair, **by_k)


def test_long_tables_are_folded() -> None:
    frame = pd.DataFrame({"a": ["x|y"] * 21})
    long = tables.markdown_table(frame, "a_b", "What was met (n inputs); intervals")
    assert long.startswith("::::{admonition} What was met: all 21 rows\n:class: dropdown")
    short = tables.markdown_table(frame[:20], "a_b", "Short")
    assert short.startswith(":::{table} Short\n:name: a-b\n") and r"| x\|y |" in short


# --------------------------------------------------------------------------------------------------------------- page
def saco(means: dict[str, float], *, n: int = 30, seed: int = 0, **columns: object) -> dict[str, pd.DataFrame]:
    keys = {(name,): mean for name, mean in means.items()}
    return {"": units_of(keys, ("method",), n=n, seed=seed, metric="saco", **columns)}


def begin(store: Store, notebook: str = "saco_tables") -> Page:
    store.begin(notebook)
    return start_page(notebook, store.profile, paper="wu_2024")


def test_values_of_the_reference_come_before_those_of_a_run(store: Store) -> None:
    store.add("saco_metrics", saco({"rollout": 0.3}), dataset="fashion")
    store.add("saco_metrics", saco({"rollout": 0.5}, n=90), dataset="fashion", reference=True)
    store.add("saco_metrics", saco({"rollout": 0.7}, n=90, seed=1), dataset="mnist", reference=True)
    page = begin(store)
    measured = page.measure("saco_metrics", over=["dataset", "method"])
    assert measured.source == REFERENCE
    pair = page.quantity("method")("rollout")
    assert (pair.ours.point, pair.ours.n) == (pytest.approx(0.6), 90)
    read = pd.DataFrame({"dataset": ["fashion", "other"]})
    assert measured.on_its_data(read).dataset.tolist() == ["fashion"]
    assert measured.on_its_data(read[1:]).dataset.tolist() == ["other"]  # all that the run has read
    said = page.data_used().data
    clothes = "90 images of clothes (*fashion*, instead of CIFAR-10)"
    digits = "90 images of handwritten digits (*mnist*, instead of CIFAR-100)"
    assert said.startswith(f"**Data used.** {clothes} and {digits} (")
    assert said.split("; ")[-1].startswith("from the committed full run. ")
    assert "saco_metrics" not in said and clothes not in page.data_used(["mnist"]).data


def test_every_data_set_has_words_for_its_inputs() -> None:
    """Lists of data used named sets as code has them ("640 of nli")."""
    named = {row["name"] for row in published.our_table("materials").to_dict("records") if row["kind"] == "data"}
    known = published.our_table("inputs")
    assert named <= set(known["name"]) and known["name"].is_unique
    assert not [text for text in known["inputs"] if "_" in text]


def test_the_result_is_of_what_was_measured_and_a_run_without_it_says_so(store: Store) -> None:
    store.add("saco_metrics", saco({"rollout": 0.3}), dataset="fashion")
    page = begin(store)
    page.measure("saco_metrics", over=["dataset", "method"])
    at = page.quantity("method")
    said = page.in_short(lambda: f"rollout has {at('rollout').ours.point:.1f}.").data
    assert said.startswith("**In short.** Rollout has 0.3.\n\n**Data used.**")
    assert "has not measured" in page.in_short(lambda: f"lrp has {at('lrp').ours.point:.1f}.").data


def test_the_data_used_are_those_of_the_whole_page(store: Store) -> None:
    """They were those that its first cells had read."""
    for seed, dataset in enumerate(("fashion", "mnist")):
        store.add("saco_metrics", saco({"rollout": 0.3}, seed=seed), dataset=dataset)
    page = begin(store, "saco_stand_ins")
    page.measure("saco_metrics", over=["method"], prepare=lambda units: units[units.dataset == "fashion"])
    opening = page.in_short(lambda: "a result.")
    page.measure("saco_metrics", over=["method"])
    before = opening.data
    page.finish()
    assert "mnist" not in before and "mnist" in opening.data and opening.data.startswith("**In short.** A result.")


def test_why_a_variant_is_grey_on_one_side_of_zero() -> None:
    """Of several comparisons the interval is of one; a claim of several statements has words of its own."""
    row = {"estimate": -0.2, "low": -0.4, "high": -0.01, "answer": "undecided"}
    frame = pd.DataFrame([row | {"high": 0.1}, row])
    said = Curve("saco_c06", ("setting",), frame).grey_in_words
    assert "although its interval is below zero" in said and "number of comparisons" in said
    assert Curve("saco_c06", ("setting",), frame[:1]).grey_in_words == ""
    assert Curve("saco_c03", ("setting",), frame).grey_in_words == ""


def test_of_committed_values_the_result_has_to_be_there(store: Store) -> None:
    store.add("saco_metrics", saco({"rollout": 0.3}), dataset="fashion", reference=True)
    page = begin(store)
    page.measure("saco_metrics", over=["dataset", "method"])
    with pytest.raises(InputError):
        page.in_short(lambda: f"lrp has {page.quantity('method')('lrp').ours.point:.1f}.")


def test_a_published_table_that_no_quantity_knows_is_refused(store: Store) -> None:
    store.add("saco_metrics", saco({"rollout": 0.3}), dataset="fashion")
    page = begin(store)
    page.measure("saco_metrics", over=["dataset", "method"])
    of = page.quantity("method")
    with pytest.raises(InputError, match=r"printed=published\.table"):
        page.table("saco_table2", lambda row: of("rollout"), rows=["k"], columns=["method"])


def test_the_first_exhibit_of_a_page_is_open_and_later_long_ones_are_folded(store: Store) -> None:
    store.add("saco_metrics", saco({"rollout": 0.3}), dataset="fashion")
    page, long = begin(store), pd.DataFrame({"row": range(tables.MOST_ROWS + 1)})
    first, second = (page.listing(long, name, caption="Rows").data for name in ("first", "second"))
    assert "dropdown" not in first and "dropdown" in second


def test_what_is_the_same_for_every_input_has_no_interval_in_a_sentence() -> None:
    pair = pairs({"a": 0.6}, {"a": 0.5})["a"]
    assert re.fullmatch(r"0\.60 \[0\.\d\d, 0\.\d\d\] \(published 0\.50\)", beside(pair))
    still = Interval95(0.0, math.nan, math.nan)
    assert spoken(still, "+.2f") == "+0.00"


def test_what_several_measures_ask_of_one_function_is_prepared_once(store: Store) -> None:
    store.add("saco_metrics", saco({"rollout": 0.3, "lrp": 0.5}), dataset="fashion")
    store.add("saco_metrics", saco({"rollout": 0.4, "lrp": 0.6}, n=90), dataset="fashion", reference=True)
    page, asked = begin(store), []

    def halved(units: pd.DataFrame) -> pd.DataFrame:
        asked.append(len(units))
        return units.assign(value=units.value / 2)

    one, other = (
        page.measure("saco_metrics", over=["method"], prepare=halved, rows=lambda frame, m=m: frame[frame.method == m])
        for m in ("rollout", "lrp")
    )
    assert asked == [180]  # the reference's
    assert (one.levels("method"), other.levels("method")) == (["rollout"], ["lrp"])
    assert other.mean(method="lrp").ours.point == pytest.approx(0.3)
    alone = page.measure("saco_metrics", over=["method"], prepare=halved)
    assert len(asked) == 1 and set(alone.levels("method")) == {"rollout", "lrp"}


@pytest.mark.parametrize("profile", ["full", "laptop"])
def test_a_run_of_the_references_own_profile_or_on_firmer_evidence_shows_its_own_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    store = Store(tmp_path, monkeypatch, profile=profile)
    models = ("imagenet", "timm:deit_base_patch16_224.fb_in1k")
    store.add("saco_metrics", saco({"rollout": 0.3}), declared=models, dataset="imagenet")
    store.add("saco_metrics", saco({"rollout": 0.5}), dataset="fashion", reference=True)
    measured = begin(store).measure("saco_metrics", over=["dataset", "method"])
    assert (measured.source, measured.evidence(), measured.material.models) == (RUN, evidence_levels.PAPER, models[1:])


def test_published_values_are_those_with_the_labels_and_of_what_is_stood_for(store: Store) -> None:
    for seed, dataset in enumerate(("fashion", "animals")):
        store.add("saco_metrics", saco({"rollout": 0.3}, seed=seed), dataset=dataset)
    measured = begin(store).measure(
        "saco_metrics", over=["dataset", "method"], printed=published.table("saco_table2").astype({"k": int})
    )
    printed = published.table("saco_table2").query("method == 'rollout' and k == '10'").value.item()
    assert measured.mean(method="rollout", dataset=["fashion", "animals"]).published == pytest.approx(
        published.table("saco_table2").query("method == 'rollout'").value.mean()
    )
    assert measured.published(method="rollout", k=10) == printed
    assert measured.published(method="rollout", k=10, dataset="animals") == printed  # stands for ImageNet
    assert math.isnan(measured.published(method="rollout", k=10, dataset="fashion"))
    assert measured.comparable() == ["animals", "fashion"]


def test_the_papers_own_pictures_go_before_stand_ins_whatever_form_they_came_in(store: Store) -> None:
    """Twenty pictures of CIFAR-10 are a data set of their own to load, and CIFAR-10 in the values."""
    for seed, dataset in enumerate(("fashion", "animals")):
        store.add("saco_metrics", saco({"rollout": 0.1}, seed=seed), dataset=dataset)
    own = {part: frame.assign(dataset="cifar10") for part, frame in saco({"rollout": 0.7}).items()}
    store.add("saco_metrics", own, declared=("local:photo/cifar10-lora-seed0",), dataset="cifar10-few")
    page = begin(store)
    printed = published.table("saco_table2").astype({"k": int}).query("k == 10")
    every = page.measure("saco_metrics", over=["dataset", "method"], printed=printed)
    assert every.comparable() == ["cifar10"]
    assert every.by_evidence == {evidence_levels.DATA: ["cifar10"], evidence_levels.SUBSTITUTE: ["animals", "fashion"]}
    theirs = printed.query("method == 'rollout'").value.item()  # of ImageNet, beside which ours is looked at
    found = every.mean(method="rollout", dataset=every.comparable())
    assert (found.ours.point, found.published, found.evidence) == (pytest.approx(0.7), theirs, evidence_levels.DATA)
    assert every.mean(method="rollout").evidence == evidence_levels.SUBSTITUTE
    substitutes = (
        "30 silhouettes of animals (*animals*, instead of ImageNet) and "
        "30 images of clothes (*fashion*, instead of CIFAR-10)"
    )
    said = f"30 images of CIFAR-10 ({evidence_levels.DATA}); {substitutes} ({evidence_levels.SUBSTITUTE}); from"
    assert said in page.data_used().data
    alone = page.measure("saco_metrics", over=["method"], firmest=True)
    assert (alone.levels("dataset"), alone.evidence()) == (["cifar10"], evidence_levels.DATA)
    assert alone.mean(method="rollout").ours.point == pytest.approx(0.7)


def test_some_of_the_papers_own_data_stands_beside_its_own_printed_values(store: Store) -> None:
    for seed, dataset in enumerate(("fashion", "cifar10", "cifar100")):
        store.add("saco_metrics", saco({"rollout": 0.1}, seed=seed), dataset=dataset)
    printed = pd.DataFrame({"dataset": ["cifar10", "cifar100", "imagenet"], "value": [0.1, 0.2, 0.6]})
    measured = begin(store).measure("saco_metrics", over=["dataset", "method"], printed=printed)
    assert measured.comparable() == ["cifar10", "cifar100"]
    assert measured.published(dataset=measured.comparable()) == pytest.approx(0.15)
    assert measured.published(dataset=["fashion", "cifar10", "cifar100"]) == pytest.approx(0.3)  # all there is


def test_without_the_papers_own_pictures_the_firmest_are_all_stand_ins(store: Store) -> None:
    """As where the reference has none yet: what the present run has of them waits until the reference has some too."""
    own = {part: frame.assign(dataset="cifar10") for part, frame in saco({"rollout": 0.7}).items()}
    store.add("saco_metrics", own, declared=("local:photo/cifar10-lora-seed0",), dataset="cifar10-few")
    store.add("saco_metrics", saco({"rollout": 0.2}), dataset="fashion")
    store.add("saco_metrics", saco({"rollout": 0.1}), dataset="fashion", reference=True)
    found = begin(store).measure("saco_metrics", over=["method"], firmest=True)
    assert (found.source, found.levels("dataset")) == (REFERENCE, ["fashion"])
    assert found.mean(method="rollout").ours.point == pytest.approx(0.1)


@pytest.mark.parametrize(("of_its_run", "source"), [(False, REFERENCE), (True, RUN)])
def test_a_page_whose_tables_hang_on_its_run_says_so(store: Store, of_its_run: bool, source: str) -> None:
    """The reference takes no verdicts from it then (`reference.keep_verdicts`)."""
    for reference in (False, True):
        store.add("saco_metrics", saco({"rollout": 0.3}), dataset="fashion", reference=reference)
    page = begin(store, "saco_stand_ins")
    page.measure("saco_metrics", over=["dataset", "method"])
    page.finish(of_its_run=of_its_run)
    assert json.loads((page.run.folder / "manifest.json").read_text())["notes"]["source"] == source


def test_a_page_ends_only_with_all_its_verdicts_and_no_other(store: Store) -> None:
    store.add("saco_metrics", saco({"rollout": 0.3, "random": 0.0}), dataset="fashion")
    page = begin(store, "saco_tables")
    measured = page.measure("saco_metrics", over=["dataset", "method"])
    assert "The reference has no values" in page.data_used().data
    assert (measured.source, page.have, measured.evidence()) == (RUN, {"fashion"}, evidence_levels.SUBSTITUTE)
    refused(DataError, r"saco_tables gives no verdict on saco_table1, .*saco_c11", page.finish)
    claim = {"saco_c05": {"mean SaCo of random scores": page.quantity("method")("random")}}
    shown = page.verdicts(page.test(claim)).data
    assert f"{badge('replicates on our models')} (substitute data, our models)" in shown
    refused(InputError, "saco_c05 is judged twice", page.test, claim)
    refused(DataError, r"saco_c05 belong to another page: change their `page` in data/claims\.csv", page.finish)


def test_tables_without_rows_stand_ins_and_the_end_of_a_page(store: Store) -> None:
    page = begin(store, "play")
    assert page.listing(pd.DataFrame(), "none", caption="None", empty="*Nothing.*").data == "*Nothing.*"
    refused(InputError, "table none has no rows", page.listing, pd.DataFrame(), "none", caption="None")
    cells = {("films", name): pair for name, pair in pairs({"a": 0.4, "b": 0.2}, {"a": 0.5}).items()}
    assert "{table} Apart" in page.stand_ins(cells, ["dataset", "method"], "apart", caption="Apart").data
    found = pd.read_csv(page.run.path("apart.csv"))
    assert found.estimate.tolist() == pytest.approx([0.4, 0.2])
    assert found.published.tolist() == pytest.approx([0.5, math.nan], nan_ok=True)
    assert "in the tables above" in page.stand_ins({}, ["dataset"], "none", caption="None").data
    assert "none.csv" not in page.run.files
    told = page.finish(note="words of ours").data
    assert ":name: provenance-play" in told and "- **Note:** words of ours" in told
    assert (page.run.folder / "manifest.json").is_file()


# --------------------------------------------------------------------------------------------------------- multiverse


def test_a_curve_counts_where_the_claim_carries_and_names_what_it_depends_on() -> None:
    truth = {("min-max", "one"): 0.3, ("rank", "one"): -0.3, ("min-max", "two"): 0.2, ("rank", "two"): 0.1}
    specifications = {key: {"gain": pairs({"a": mean}, {})["a"]} for key, mean in truth.items()}
    have = analysis_plan.rule(ABOVE).needs
    curve = multiverse(ABOVE, ["normaliser", "draws"], specifications, have=have)
    assert curve.flipping_options == {"normaliser": ["rank"]}
    assert curve.columns == {"depends_on": "normaliser: rank", "agreeing": 3, "specifications": 4}
    assert curve.flipping_values["rank"]["effect"] == pytest.approx(truth["rank", "one"])
    assert list(curve.frame["estimate"]) == pytest.approx(list(truth.values()))
    assert (curve.frame["low"] < curve.frame["estimate"]).all()
    ticks = [text.get_text() for text in curve.draw().axes[1].get_yticklabels()]
    assert ticks == ["draws: two", "draws: one", "normaliser: rank", "normaliser: min-max"]
    for number in (0, 65):
        many = {(str(i),): specifications["rank", "one"] for i in range(number)}
        refused(
            InputError, f"{number} specifications of {ABOVE}: expected 1 to 64", multiverse, ABOVE, ["x"], many, have=()
        )


def test_of_fewer_comparisons_than_the_plan_counts_the_last_that_has_to_hold_decides() -> None:
    """Ten of fourteen have to hold, as in the paper's numbers: the verdict named the smallest of all."""
    ours = {f"part {number}": 0.5 - 0.1 * number for number in range(14)}
    printed = {name: 1.0 if number % 7 < 5 else -1.0 for number, name in enumerate(ours)}
    parts = pairs(ours, printed)
    judged = decide.judge("soft_c02", parts, have=())
    assert (deciding.required(judged), deciding.have_to_hold("soft_c02", parts)) == (10, 10)
    line = deciding.columns_of(judged)
    assert (line["part"], line["effect"]) == ("part 9", pytest.approx(-0.4))
    assert line["low"] < line["effect"] < line["high"] and line["passed"] == 5
    own = ("no win",)
    curve = multiverse("soft_c02", ["ties"], {own: parts, ("wins",): pairs(dict.fromkeys(ours, 0.1), {})}, have=())
    assert curve.frame["part"][0] == "part 9"
    assert curve.frame["estimate"].tolist() == pytest.approx([-0.4, 0.1])
    assert curve.called({"ties": "ties count as"}).over == ("ties count as",)
    # Where as many are there as the rule counts nothing changes.
    whole = decide.judge(ALL, pairs({"a": 0.4, "b": -0.2}, {}), have=analysis_plan.rule(ALL).needs)
    assert deciding.columns_of(whole) == whole.columns and whole.columns["part"] == "b"


def test_a_finding_that_another_page_has_too_has_that_ones_interval(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its third digit was another one, as each page draws its resamples."""
    store.begin("soft_examples")
    page = start_page("soft_examples", store.profile, paper="zhao_aletras_2023")
    gains = pairs({"Soft-NC minus NC": -0.2, "Soft-NS minus NS": -0.3}, {})
    line = {"id": "soft_c01", "part": "Soft-NS minus NS", "n": "40", "effect": "-0.3", "low": "-0.9", "high": "0.9"}
    effect = float(gains["Soft-NS minus NS"].ours.point)
    monkeypatch.setattr(report, "committed_board", lambda: pd.DataFrame([line | {"effect": str(effect)}]))
    page.test({"soft_table4_examples": gains})
    entry = page.entries["soft_table4_examples"]
    assert (entry["effect"], entry["low"], entry["high"]) == (pytest.approx(effect), -0.9, 0.9)
    # Another number is another finding's.
    monkeypatch.setattr(report, "committed_board", lambda: pd.DataFrame([line | {"effect": str(effect + 0.1)}]))
    other = Page(page.run, paper="zhao_aletras_2023")
    other.test({"soft_table4_examples": gains})
    assert -0.4 < other.entries["soft_table4_examples"]["low"] < effect
