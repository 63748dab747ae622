"""Verdicts in sentences: each kind of rule has its own, and what a reader should know besides is told."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from faithbook.judge import analysis_plan, decide, published
from faithbook.judge.decide import OWN_REPEATS, UNREPORTED
from faithbook.judge.in_sentences import (
    Told,
    more,
    number,
    number_or_reason,
    reason,
    repeats,
    sentences,
    sizes_beside,
)
from faithbook.judge.reference import committed_board
from faithbook.judge.scoreboard import MORE_INPUTS, RULE, UNOBTAINABLE, filled
from faithbook.paths import reference_dir
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.stats.evidence_levels import AUTHORS

VERDICT: dict[str, Any] = {
    "id": "saco_figure3",
    "decision": "reproduced",
    "evidence": "paper's data, our models",
    "passed": 3,
    "parts": 4,
    "part": "a minus b",
    "effect": 0.2,
    "low": -0.1,
}
VERDICT |= {"high": 0.3, "published": 0.25, "n": 1200}
PLAIN = replace(analysis_plan.rule("saco_figure3"), k="all")


def told(rule: str = "direction", besides: dict[str, Any] | None = None, **line: Any) -> Told:
    """A verdict by a rule, with another line on the scoreboard; `besides`: fields of the rule."""
    return Told(VERDICT | line, replace(PLAIN, rule=rule, **(besides or {})))


MEANS = (("few", 60, 0.3), ("many", 640, 0.15))
NUMBERS = "0.200 [−0.100, 0.300]"


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (
            told(),
            f"3 of 4 comparisons hold; the one that decides is a minus b: {NUMBERS} (published 0.250; n = 1,200).",
        ),
        (told(besides={"k": 1}, passed=1), "1 of 4 comparisons holds, and the rule asks for 1; the one that decides"),
        (told("each"), "3 of 4 comparisons hold; the lowest is a minus b: "),
        (told(besides={"threshold": 0.5}, passed=4), "All 4 comparisons hold; the one that decides is a minus b: "),
        (told(besides={"threshold": 0.5}), f"{NUMBERS} (required: above 0.50; published 0.250; n = 1,200)."),
        (
            told("within", {"low": -0.05, "high": 0.05}, parts=1, published=None),
            f"A minus b: {NUMBERS} (required: within ±0.05",
        ),
        (told("order", p=0.0004), f"Kendall's tau with the printed order is {NUMBERS} (mean of 3 orders; p < 0.001; n"),
        (
            told("order", parts=1, part="tau with the printed order of languages"),
            "Kendall's tau with the printed order",
        ),
        (told("trend", low=None, high=None), "A minus b: 0.20; in the paper's numbers 0.25."),
        (told("same", low=None), "3 of 4 numbers agree; the one furthest off is a minus b: ours 0.200, printed 0.250."),
        (told("same", evidence=AUTHORS), "is a minus b: ours 0.200, in the files 0.250."),
    ],
)
def test_each_rule_has_its_sentence(verdict: Told, expected: str) -> None:
    assert expected in sentences(verdict)


def test_numbers_that_all_agree_have_none_that_is_furthest_off() -> None:
    assert sentences(told("same", passed=4)) == "All 4 numbers agree."
    alike = sentences(told("same", effect=32.4647, published=32.46))
    assert alike == "3 of 4 numbers agree; the largest difference is 0.005 (a minus b)."


def test_n_beside_a_number_is_that_of_its_comparison() -> None:
    """It was the smallest n of the whole claim, which another comparison has."""
    rng = np.random.default_rng(0)
    rows = [(name, f"i{i}", mean + rng.normal(0, 0.05)) for name, n, mean in MEANS for i in range(n)]
    cells = Conditions.of(pd.DataFrame(rows, columns=["part", "id", "value"]), over=["part"], unit="id", n_resamples=99)
    parts = {name: Comparison(cells.mean(part=name)) for name, _, _ in MEANS}
    judged = decide.judge("saco_figure3", parts, have=())
    line = {"id": "saco_figure3", "decision": judged.decision, "evidence": judged.evidence, **judged.columns}
    said = sentences(Told.of(judged, line))
    assert (judged.n, judged.columns["part"]) == (60, "many")
    assert "is many: 0.1" in said and "n = 640)" in said and "n = 60" not in said
    assert sizes_beside(decide.judge("saco_figure1", None, have=())) == []


def test_n_of_a_mean_of_orders_is_that_of_all() -> None:
    assert "n = 32 to 640, by order)" in sentences(replace(told("order"), sizes=[32, 640, 640]))


def test_a_sentence_of_several_statements_has_one_for_each() -> None:
    direction, size = told(), told(decision="nothing to test", reason=OWN_REPEATS)
    whole = Told(VERDICT, replace(PLAIN, rule="whole"), statements={"direction": direction, "size": size})
    said = sentences(whole)
    assert said.startswith("The direction replicates on our models: 3 of 4 comparisons hold; ")
    assert said.endswith(f" The size is not tested: {OWN_REPEATS}.")


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (told(decision="undecided", waits_for=MORE_INPUTS, needed=5300), "About 5,300 inputs would decide it"),
        (told(decision="undecided", waits_for=RULE), "More inputs would not decide it."),
        (told(decision="undecided", waits_for=UNOBTAINABLE), "or data that we do not have"),
        (told(decision="undecided", waits_for=UNOBTAINABLE, needed=1900), "about 1,900 inputs, more than we have"),
        (replace(told(), required=2), "2 of these 4 hold, so 2 are required."),
        (replace(told(besides={"margin": 0.05}), equivalent=True), "No difference is above the margin of 0.05."),
        (
            replace(told(reason=UNREPORTED), turned_by={"turned": ["none"], "sum": ["MoRF", "LeRF"]}),
            "The answer changes with a choice that the paper does not report: which metrics are sign-flipped (none); "
            "the order of erasure (MoRF, or LeRF).",
        ),
    ],
)
def test_the_second_sentence_says_why(verdict: Told, expected: str) -> None:
    assert expected in sentences(verdict)
    assert expected not in sentences(told())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"contradicted": 1}, "The paper's own numbers contradict 1 of the 4 comparisons."),
        ({"own_repeat": "disagrees"}, "The paper's own repeat disagrees, by the same rule."),
        ({"agreeing": 2, "specifications": 3}, "2 of the 3 analysis variants that are decided have this answer."),
        (
            {"agreeing": 1, "specifications": 3, "decision": "mixed"},
            "Of the 3 analysis variants that are decided, 1 agrees with the book's main analysis and 2 contradict it.",
        ),
        ({"agreeing": 3, "specifications": 3}, "All 3 analysis variants that are decided have this answer."),
    ],
)
def test_what_else_is_known_stands_in_the_box(line: dict[str, Any], expected: str) -> None:
    assert more(told(**line)) == [expected]
    assert more(told()) == []
    assert expected not in sentences(told(**line))


def test_the_number_under_another_choice_stands_beside_it() -> None:
    numbers = {"none": {"effect": 0.1, "low": 0.06, "high": 0.14}}
    turned = replace(told(reason=UNREPORTED), turned_by={"turned": ["none"]}, otherwise=numbers)
    assert "which metrics are sign-flipped (none: 0.100 [0.060, 0.140])." in sentences(turned)


def test_what_was_not_tested_says_why() -> None:
    untested = replace(told(decision="not tested"), lacking=["evinf", "multirc"])
    lacking = "Evidence Inference and MultiRC, for which we have no usable model"
    assert sentences(untested) == f"Not tested: it is about {lacking}."
    nothing = told("order", decision="nothing to test", reason=OWN_REPEATS)
    assert sentences(nothing) == "The paper's own repeats disagree, so there is nothing to replicate."


def test_a_repeated_finding_is_named_and_not_told_again() -> None:
    again = told(same_as="saco_c03")
    assert repeats(again, {"saco_c03": VERDICT}) == "saco_c03"
    assert repeats(again, {"saco_c03": VERDICT | {"effect": 0.3}}) == ""  # numbers of its own
    assert repeats(again, {}) == ""


def test_a_number_without_a_verdict() -> None:
    assert number({"part": "a minus b", "effect": 0.2, "low": -0.1, "high": 0.3}) == f"A minus b: {NUMBERS}."
    assert number({}) == ""


def test_reasons_of_the_board_are_words() -> None:
    """No reason is a name of ours, so that it can stand in a sentence; of several statements each has its own."""
    board = filled(pd.read_csv(reference_dir() / "scoreboard.csv"))
    reasons = {row["id"]: reason(row) for row in board.to_dict("records")}
    assert not [reason for reason in reasons.values() if re.search(r"_|\bnan\b", reason)]
    assert {name for name, reason in reasons.items() if reason} == set(committed_board().query("reason != ''")["id"])
    assert reasons["saco_c03"] == "the direction: replicates on our models; the size: does not replicate on our models"
    assert reasons["soft_c03"] == "about MultiRC, for which we have no usable model"
    assert reasons["soft_c02"] == "the claim needs 16 comparisons that hold, and we have 14 in all"


def test_words_belong_to_claims_that_there_are() -> None:
    quantities = published.our_table("quantities")
    assert set(quantities["id"]) <= set(analysis_plan.plan()) and quantities["id"].is_unique
    assert set(quantities["shown"]) <= {"", "exp"}
    assert quantities.set_index("id")["least"].replace("", pd.NA).dropna().to_dict() == {"xl_c09/erasure does not": "0"}
    assert published.our_table("parts")["part"].is_unique


def test_verdicts_are_told_shortly() -> None:
    """Three sentences at most, none of them with keys of ours."""
    for line in filled(pd.read_csv(reference_dir() / "scoreboard.csv")).to_dict("records"):
        said = sentences(Told(line, analysis_plan.rule(line["id"])))
        assert len(re.findall(r"[a-z)\]]\. (?=[A-Z])", said)) <= 2, said
        assert not re.search(r"[a-z0-9]_[a-z0-9]|\b[0-9a-f]{12,}\b|\bnan\b", said), said


def test_what_decides_is_told_in_a_few_words() -> None:
    """Of several orders that it is a tau; of a sentence that makes several statements the decision on each."""
    board = filled(pd.read_csv(reference_dir() / "scoreboard.csv"))
    told = {str(line["id"]): number_or_reason(line) for line in board.to_dict("records")}
    assert told["soft_c01"].startswith("Soft-NS minus NS: −0.280 [−0.294, −0.265] (diagnosticity; published −0.004")
    assert told["crosslingual_table8"].startswith("Kendall's tau with the printed order, mean of 4 orders: 0.708 [")
    assert told["saco_c03"] == "the direction: replicates on our models; the size: does not replicate on our models"
    assert told["soft_table5"] == ""
    assert told["naopc_c04"].startswith(
        "0 of 6 numbers agree; the one furthest off is the share of values outside [0, 1]"
    )
