"""The tables and sentences of `soft_pipeline`, from small tables and from shares of inputs that are known."""

from __future__ import annotations

import functools
from functools import partial

import pandas as pd
import pytest

from faithbook.judge import published
from faithbook.show.numbers import listed
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.soft import zhao_aletras_by_size as by_size
from faithbook.studies.soft import zhao_aletras_pipeline as pipeline
from faithbook.studies.soft.zhao_aletras import ALL_WEIGHTS, SIZES
from faithbook.studies.soft.zhao_aletras_pipeline import METRICS, NAMES

N = 40
LARGE, SMALL = SIZES["mpnet"], SIZES[""]


@functools.cache
def shares() -> Conditions:
    """Cells in which 0, 1 ... 20 twentieths of the inputs have a 1."""
    cells = [(i, twentieths, float(i < N * twentieths / 20)) for twentieths in range(21) for i in range(N)]
    frame = pd.DataFrame(cells, columns=["id", "twentieths", "value"])
    return Conditions.of(frame, over=["twentieths"], unit="id", n_resamples=99)


def share(value: float) -> Comparison:
    """A share of inputs, to a twentieth."""
    return Comparison(shares().mean(twentieths=round(20 * value)))


def levels_of(large: float, small: float, written: float, released: float) -> dict[tuple[str, str], Comparison]:
    """The same levels for every metric."""
    by_step = {LARGE: large, SMALL: small, ALL_WEIGHTS: large, NAMES[0]: written, NAMES[-1]: released}
    return {(step, metric): share(value) for step, value in by_step.items() for metric in METRICS}


@pytest.fixture(scope="module")
def level() -> dict[str, dict[tuple[str, str], Comparison]]:
    return {"sst": levels_of(0.6, 0.8, 0.65, 0.7), "ag": levels_of(0.6, 0.8, 0.6, 0.9)}


def test_changes_are_between_levels_and_the_rest_is_to_the_published_value(level: pipeline.Levels) -> None:
    found = {key: change.ours.point for key, change in pipeline.changes_by_step(level).items()}
    assert found["sst", "nc", "another model"] == pytest.approx(-0.2)
    assert found["sst", "nc", "all weights trained"] == pytest.approx(0)
    assert found["sst", "nc", "the released code's choices"] == pytest.approx(0.05)
    assert found["sst", "nc", pipeline.REMAINS] == pytest.approx(0.7 - 0.409)
    assert len(found) == 2 * 4 * 6
    path = pipeline.path_of(level).set_index(["dataset", "step", "metric"])
    assert path["estimate"]["ag", NAMES[-1], "ns"] == pytest.approx(0.9)


def test_the_same_formulas_measured_twice_differ_most_on_one_data_set(level: pipeline.Levels) -> None:
    dataset, metric, distance = pipeline.farthest_repeat(level) or ("", "", 0.0)
    assert (dataset, metric) == ("sst", "nc")
    assert distance == pytest.approx(0.05)
    assert pipeline.farthest_repeat({}) is None


def test_a_step_spans_its_lowest_and_highest_change(level: pipeline.Levels) -> None:
    changes = listed(pipeline.changes_by_step(level), ["dataset", "metric", "step"])
    assert pipeline.span_of(changes, "the released code's choices", ["nc"]) == "+0.05 to +0.30"
    assert pipeline.span_of(changes, "never measured", ["nc"]) == ""
    assert pipeline.none_closes_the_distance(changes)
    closed = changes.assign(low=-0.1, high=0.1)
    assert not pipeline.none_closes_the_distance(closed)
    words = pipeline.changes_in_words(changes)
    assert list(words.columns[:4]) == ["dataset", "metric", "published", LARGE]
    assert words.published[0] == "0.41" and not words[LARGE].str.contains("+", regex=False).any()
    assert set(words.n) == {f"{N}"}


def combinations() -> pd.DataFrame:
    """Eight combinations of a group of texts, the third clearly above zero, and one of another group."""
    estimates = [-0.4, 0.1, 0.3, -0.1, -0.2, -0.3, 0.05, -0.5]
    rows = [("own", "none" if i == 7 else f"choice {i}", x, x - 0.2, x + 0.2, 40) for i, x in enumerate(estimates)]
    rows.append(("other", "none", -0.1, -0.3, 0.1, 9))
    frame = pd.DataFrame(rows, columns=["texts", "released", "estimate", "low", "high", "n"])
    return frame.assign(part="Soft-NS", **dict.fromkeys(METRICS, 0.5))


def test_the_largest_combinations_and_the_texts_own_are_shown() -> None:
    found = pipeline.largest_combinations(pipeline.ordered_combinations(combinations()), {"own": "SST"})
    assert list(found["choices as in the code"]) == ["choice 2", "choice 1", "choice 6", "choice 3", "choice 4", "none"]
    assert list(found["place of 64"]) == ["1", "2", "3", "4", "5", "8"]
    assert set(found["smaller difference"]) == {"Soft-NS − NS"}
    assert "texts" not in found


def test_combinations_that_are_better_under_both_are_counted() -> None:
    own, other = pipeline.better_under_both(combinations(), {"own": "SST", "other": "movie"}).splitlines()
    assert "**SST** (n = 40 to 40): clearly better in 1 of 8 combinations, with a positive estimate in 3." in own
    assert own.endswith("The largest is 0.300 [0.100, 0.500] (n = 40), with *choice 2* as in the code.")
    assert "in 0 of 1 combinations" in other and "largest" not in other


def test_the_choice_that_changes_a_metric_most_and_those_that_change_none() -> None:
    rows = [("own", "ties", "nc", 0.1, 0.1), ("own", "mask", "nc", -0.3, 0.0), ("own", "draws", "nc", 0.0, 0.0)]
    effects = pd.DataFrame(rows, columns=["texts", "choice", "metric", "estimate", "at the end"])
    assert pipeline.largest_alone(effects, "own", ["nc"])["nc"].choice == "mask"
    assert list(pipeline.moving(effects).choice) == ["ties", "mask"]


def test_inputs_are_halved_at_the_median_confidence() -> None:
    keys = {"model": LARGE, "dataset": "sst", "seed": 0}
    sure = pd.DataFrame([keys | {"id": f"i{i}", "value": i / 10} for i in range(4)])
    wins = [keys | {"id": f"i{i}", "metric": m, "variant": v, "value": 1.0}
            for i in range(4) for m in ("soft_nc", "nc") for v in ("paper", "draws=1")]  # fmt: skip
    found = pipeline.by_confidence(pd.DataFrame(wins), sure)
    assert set(found.metric) == {"soft_nc"} and set(found.variant) == {"paper"}
    assert found.set_index("id").confident.to_dict() == {"i0": "less", "i1": "less", "i2": "more", "i3": "more"}


def amounts(less: float) -> pd.DataFrame:
    """What is below chance by its amounts, with this value on the less confident half."""
    steps = {"min-max": 0.2, "ranks": 0.6, "ranks − min-max": 0.4, "ties": 0.1}
    steps |= {"min-max, less confident half": less, "min-max, more confident half": 0.1}
    rows = [("sst", "attention", "soft_nc", step, x, x - 0.05, x + 0.05, N) for step, x in steps.items()]
    return pd.DataFrame(rows, columns=["dataset", "method", "metric", "what", "estimate", "low", "high", "n"])


def test_amounts_explain_what_equal_ones_mend() -> None:
    found = amounts(0.3)
    assert pipeline.amounts_explain(found)
    words = pipeline.what_amounts_explain(found)
    assert "from between 0.20 and 0.20 to between 0.60 and 0.60" in words
    assert "ties are at most 10 %" in words and "in 1 of 1 rows" in words and "(at most 0.30)" in words
    assert not pipeline.amounts_explain(amounts(0.6))
    assert pipeline.what_amounts_explain(amounts(0.6)) == ""
    assert not pipeline.amounts_explain(found[found.what == "ties"])
    assert pipeline.amount_table(found).n.tolist() == [f"{N}"]


# --- decisions with each model ---------------------------------------------------------------------------------------


def test_each_claim_is_decided_where_it_can_be() -> None:
    better = {"Soft-NC minus NC": share(0.9) - share(0.1), "Soft-NS minus NS": share(0.8) - share(0.1)}
    decision = partial(by_size.decision_on, parts={"soft_c01": better}, have={"sst", "ag"}, worded="<{}>".format)
    assert decision("soft_c01", on_long={}) == decision("soft_c09", on_long={}) == "<replicates on our models>"
    assert decision("soft_c03", on_long={}) == by_size.LACKING
    assert decision("soft_c11", on_long={}) == by_size.NO_LONG_TEXT
    assert decision("soft_c11", on_long=better).startswith("<") and "soft_figures" in decision(
        "soft_c11", on_long=better
    )
    assert decision("soft_c12", on_long={}) == by_size.ELSEWHERE["soft_c12"]
    assert decision("naopc_c01", on_long={}) == by_size.OUTPUTS


def test_claims_with_an_answer_of_both_models_are_compared() -> None:
    answers = {
        "soft_c01": ("yes", "no"),
        "soft_c02": ("no", "no"),
        "soft_c03": (by_size.LACKING, "no"),
        "soft_c11": (by_size.NO_LONG_TEXT, "no"),
        "naopc_c06": ("yes", "yes"),
    }
    table = by_size.decisions_by_model(
        lambda claim, model: answers.get(claim, (by_size.OUTPUTS,) * 2)[model == "b"], ["a", "b"]
    )
    judged = by_size.judged_here(table)
    assert list(judged.claim.str.extract(r"\((soft_c\d+)\)$")[0]) == ["soft_c01", "soft_c02", "soft_c11"]
    assert by_size.same_decisions(judged) == (1, 2)
    said = by_size.same_in_words(judged, table)
    # Of this study alone: the table has the claims of study 4 as well.
    of_study = sum(name.startswith("soft_") for name in published.claims("claim")["id"])
    assert "in 1 of 2 claims" in said and f"The other {of_study - 3} claims of this study" in said
    assert by_size.same_in_words(judged[:0], table) == ""
    assert by_size.judged_here(by_size.decisions_by_model(lambda claim, model: "", [])).empty


def test_the_result_of_the_page_and_of_its_steps(level: pipeline.Levels) -> None:
    changes = listed(pipeline.changes_by_step(level), ["dataset", "metric", "step"])
    text = pipeline.in_short(changes, combinations(), ["sst", "ag"], "own")
    assert text.startswith("No step that we could try") and "In 1 of 8 combinations" in text
    assert "by 0.300 [0.100, 0.500], the largest of them all" in text and "(n = 40 texts or more)" not in text
    closed = changes.assign(low=-0.1, high=0.1)
    assert not pipeline.in_short(closed, combinations(), ["sst", "ag"], "own").startswith("No step")
    assert "nothing is compared" in pipeline.in_short(changes, combinations(), [], "own")
    steps = pipeline.steps_in_words(changes, level)
    assert "change the hard metrics by +0.05 to +0.30" in steps and "Steps of less than about 0.05" in steps
    assert "Training all weights changes it by " in steps
    assert pipeline.steps_in_words(changes, {}) == pipeline.ONE_SIZE
    assert pipeline.order_of_steps(pipeline.path_of(level))[:2] == [SMALL, LARGE]
    assert pipeline.printed_of(["sst"])["sst", "nc"] == 0.409


def test_data_sets_of_two_sizes_are_the_papers_own_that_were_replayed() -> None:
    frame = pd.DataFrame(
        {"dataset": ["ag", "ag", "sst", "movie", "movie"], "model": [LARGE, SMALL, LARGE, LARGE, SMALL]}
    )
    assert pipeline.of_two_sizes(frame, ["sst", "ag", "movie"]) == ["ag"]
    assert pipeline.of_two_sizes(frame, ["sst"]) == []
