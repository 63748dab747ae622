"""The freeze: what counts of code, what does not, and that nothing changes after it without a row in the history."""

from __future__ import annotations

import ast

import pytest

from faithbook.judge import freeze
from faithlib.errors import DataError

PLAIN = "def f(x, margin=0.05):\n    return x > margin\n"


def of(text: str) -> str:
    return freeze.syntax(ast.parse(text).body[0])


@pytest.mark.parametrize(
    "text",
    [
        'def f(x, margin=0.05):\n    """Says what it does."""\n    return x > margin\n',
        "# why\n\n\ndef f(\n    x,\n    margin=0.05,  # a comment\n):\n    return x > margin\n",
    ],
)
def test_comments_docstrings_and_layout_do_not_count(text: str) -> None:
    assert of(text) == of(PLAIN)


@pytest.mark.parametrize("text", [PLAIN.replace("0.05", "0.04"), PLAIN.replace(">", ">="), PLAIN.replace("f(", "g(")])
def test_what_a_function_does_counts(text: str) -> None:
    assert of(text) != of(PLAIN)


PAGE = """
from faithbook.papers import wu
LEAST = 3
SHOWN = "blue"
page = start_page("saco_tables", profile, paper="wu_2024")
measured = page.measure("saco_metrics", over=["method"])
def gain(at):
    return at("a") - LEAST
def colour():
    return SHOWN
page.figure(colour(), "x", alt="")
tested = page.test({"saco_c04": gain(measured), "saco_c10": wu.two_are_steady(measured)})
"""


def test_a_measure_is_what_its_claim_rests_on_and_no_more() -> None:
    reached = freeze.measure_of(PAGE)
    assert freeze.measure_of(PAGE.replace("LEAST = 3", "LEAST = 4")) != reached
    assert freeze.measure_of(PAGE.replace('"a"', '"b"')) != reached
    assert freeze.measure_of(PAGE.replace('["method"]', '["model"]')) != reached
    assert freeze.measure_of(PAGE.replace("blue", "red")) == reached
    # Functions of a study that it calls belong to it, and those that these call: `two_are_steady` asks `falls`.
    assert any("FunctionDef(name='two_are_steady'" in text for text in reached)
    assert any("FunctionDef(name='falls'" in text for text in reached)
    assert not any("FunctionDef(name='transformers'" in text for text in reached)


def test_every_page_with_claims_has_a_measure_and_every_rule_counts() -> None:
    known = freeze.parts()
    assert {"judging: direction", "judging: within", "judging: order", "judging: Estimate", "judging: judge"} <= set(
        known
    )
    assert {*freeze.FILES} <= set(known)
    empty = freeze._digest([])
    measured = {name: value for name, value in known.items() if name.startswith("measures: ")}
    assert len(measured) > 20
    assert empty not in measured.values()
    assert freeze.digest_of(known) != freeze.digest_of({**known, "judging: direction": "another"})


def test_the_reserve_has_no_digest_before_the_freeze_and_none_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"judging: direction": "a"}
    monkeypatch.setattr(freeze, "parts", lambda: now)
    monkeypatch.setattr(freeze, "frozen", dict)
    with pytest.raises(DataError, match="nothing is frozen yet"):
        freeze.digest()
    known = {"digest": freeze.digest_of(now), "parts": now}
    monkeypatch.setattr(freeze, "frozen", lambda: known)
    assert freeze.digest() == known["digest"]
    monkeypatch.setattr(freeze, "parts", lambda: {"judging: direction": "b"})
    with pytest.raises(DataError, match=r"changed since the freeze .* judging: direction"):
        freeze.digest()


def test_nothing_has_changed_since_the_freeze_without_a_row_in_the_history() -> None:
    """Before the freeze there is nothing to hold."""
    assert freeze.changed() == [], "changed after the freeze: add a row to data/rule_history.csv, with its digest"
