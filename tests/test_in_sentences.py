"""Verdicts in sentences: each kind of rule has its own, and what a reader should know besides is told."""

from __future__ import annotations

import re
from typing import Any

import pytest

from faithbook.judge.in_sentences import sentences
from faithbook.judge.reference import committed_board
from faithbook.judge.scoreboard import MORE_INPUTS, RULE, UNOBTAINABLE

VERDICT: dict[str, Any] = {
    "decision": "reproduced",
    "passed": 3,
    "parts": 4,
    "part": "a minus b",
    "effect": 0.2,
    "low": 0.1,
}
VERDICT |= {"high": 0.3, "published": 0.25, "n": 1200}


NUMBERS = ".200 [.100, .300]"
EXPECTED: dict[str, tuple[dict[str, Any], str]] = {
    "direction": (
        {},
        f"3 of 4 comparisons hold. The one that decides: a minus b, {NUMBERS} (published .250; n = 1,200).",
    ),
    "within": ({"parts": 1, "published": None}, f"A minus b: {NUMBERS} (n = 1,200)."),
    "order": ({"part": "mean"}, f"Agreement with the printed order (Kendall's tau, mean): {NUMBERS}, n = 1,200."),
    "trend": ({"low": None, "high": None}, "A minus b: .20; in the paper's numbers .25."),
    "same": ({"low": None}, "3 of 4 numbers agree. The one furthest off: a minus b, ours .200, printed .250."),
    "whole": (
        {"statements": {"lead": "undecided", "size": "mixed"}, "reason": "words that nothing reads"},
        f"Its statements: lead: undecided; size: mixed. First comparison: a minus b, {NUMBERS} (published .250;",
    ),
}


@pytest.mark.parametrize("rule", EXPECTED)
def test_each_rule_has_its_sentence(rule: str) -> None:
    more, expected = EXPECTED[rule]
    assert sentences(VERDICT | more, rule).startswith(expected)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"decision": "undecided", "waits_for": MORE_INPUTS, "needed": 5300}, "About 5,300 inputs would decide it"),
        ({"decision": "undecided", "waits_for": RULE}, "More inputs would not decide it"),
        ({"decision": "undecided", "waits_for": UNOBTAINABLE}, "or data that we do not have"),
        ({"contradicted": 1}, "The paper's own values contradict 1 comparison."),
        ({"own_repeat": "disagrees"}, "The paper's own repeat disagrees, by the same rule."),
        ({"depends_on": "sum: MoRF; texts: long"}, "The answer changes with the choice of sum: MoRF; of texts: long."),
        ({"agreeing": 2, "specifications": 3}, "2 of 3 analysis variants that decide anything have this answer."),
        ({"unrelated": 2}, "It rests on 2 models; models that share an encoder count as one."),
    ],
)
def test_what_a_reader_should_know_besides(more: dict[str, Any], expected: str) -> None:
    assert expected in sentences(VERDICT | more, "direction")
    assert expected not in sentences(VERDICT, "direction")


def test_what_was_not_tested_says_why() -> None:
    untested = {"decision": "not tested", "reason": "about evinf, multirc"}
    assert (
        sentences(untested, "direction")
        == "Not tested: it is about Evidence Inference and MultiRC, which we do not have."
    )
    nothing = {"decision": "nothing to test", "reason": "the paper's own repeats disagree"}
    assert (
        sentences(nothing, "order", date="2026-11-28")
        == "The paper's own repeats disagree. Rule as written on 2026-11-28."
    )


def test_reasons_of_the_board_are_words() -> None:
    """No reason is a name of ours, so that it can stand in a sentence."""
    reasons = set(committed_board()["reason"]) - {""}
    assert reasons
    assert not [one for one in reasons if re.search(r"_|\bnan\b", one)]
