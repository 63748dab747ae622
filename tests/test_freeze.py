"""The freeze: what counts of code, what does not, and that nothing changes after it without a row in the history."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from refusals import refused

from faithbook.judge import freeze
from faithlib.errors import DataError, InputError

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
from faithbook.studies.saco import wu
LEAST = 3
SHOWN = "blue"
page = start_page("saco_tables", profile, paper="wu_2024")
measured = page.measure("saco_metrics", over=["method"])
def gain(at):
    return at("a") - LEAST
def colour():
    return SHOWN
page.figure(colour(), "x", alt="")
CHOICES = ["one", "two"]
def under(name):
    return page.multiverse(name, ["setting"], CHOICES)
def curve_of(name):
    return under(name)
curves = {"saco_c04": curve_of("saco_c04")}
tested = page.test({"saco_c04": gain(measured), "saco_c10": wu.two_are_steady(measured)})
"""


def test_a_measure_is_what_its_claim_rests_on_and_no_more() -> None:
    reached = freeze.measure_of(PAGE)
    assert freeze.measure_of(PAGE.replace("LEAST = 3", "LEAST = 4")) != reached
    assert freeze.measure_of(PAGE.replace('"a"', '"b"')) != reached
    assert freeze.measure_of(PAGE.replace('["method"]', '["model"]')) != reached
    assert freeze.measure_of(PAGE.replace("blue", "red")) == reached
    # The choices of a curve belong to it, also where a function of the page draws the curve.
    assert freeze.measure_of(PAGE.replace('curve_of("saco_c04")', 'curve_of("saco_c10")')) != reached
    assert freeze.measure_of(PAGE.replace('"two"', '"three"')) != reached
    # Functions of a study that it calls belong to it, and those that these call: `two_are_steady` asks `falls`.
    assert any("FunctionDef(name='two_are_steady'" in text for text in reached)
    assert any("FunctionDef(name='falls'" in text for text in reached)
    assert not any("FunctionDef(name='transformers'" in text for text in reached)


def test_every_page_with_claims_has_a_measure_and_every_rule_counts() -> None:
    known = freeze.part_digests()
    assert {"judging: direction", "judging: within", "judging: order", "judging: Estimate", "judging: judge"} <= set(
        known
    )
    assert {*freeze.FILES} <= set(known)
    empty = freeze._digest([])
    measured = {name: value for name, value in known.items() if name.startswith("measures: ")}
    assert len(measured) > 20
    assert empty not in measured.values()
    assert freeze.digest_of_parts(known) != freeze.digest_of_parts({**known, "judging: direction": "another"})


def test_the_reserve_has_no_digest_before_the_freeze_and_none_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"judging: direction": "a"}
    monkeypatch.setattr(freeze, "part_digests", lambda: now)
    monkeypatch.setattr(freeze, "frozen", dict)
    with pytest.raises(DataError, match="nothing is frozen yet"):
        freeze.digest()
    known = {"digest": freeze.digest_of_parts(now), "parts": now}
    monkeypatch.setattr(freeze, "frozen", lambda: known)
    assert freeze.digest() == known["digest"]
    monkeypatch.setattr(freeze, "part_digests", lambda: {"judging: direction": "b"})
    with pytest.raises(DataError, match=r"changed since the freeze .* judging: direction"):
        freeze.digest()


def test_nothing_has_changed_since_the_freeze_without_a_row_in_the_history() -> None:
    """Before the freeze there is nothing to hold."""
    assert freeze.changed() == [], (
        "changed after the freeze: record it, `python -m faithbook.judge.freeze --record WHY --of ID`"
    )


@pytest.fixture
def renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something was frozen, and a function has had another name since."""
    (tmp_path / "data").mkdir()
    before, now = {"judging: direction": "a"}, {"judging: aim": "a"}
    frozen = {"digest": freeze.digest_of_parts(before), "parts": before}
    (tmp_path / freeze.FROZEN).write_text(json.dumps(frozen))
    columns = "id,date,rule_before,verdict_before,rule_after,verdict_after,reason,frozen"
    (tmp_path / freeze.HISTORY).write_text(f"{columns}\nsaco_c01,2026-11-22,a,b,c,d,why,\n")
    monkeypatch.setattr(freeze, "part_digests", lambda: now)
    monkeypatch.setenv("FAITHLIB_HOME", str(tmp_path))
    return tmp_path


def test_a_change_of_names_is_recorded_and_is_of_the_same_freeze(renamed: Path) -> None:
    with pytest.raises(DataError, match="without a row"):
        freeze.digest()
    refused(InputError, "needs a reason", freeze.record, " ")
    freeze.record("names only: direction is aim; golden values equal")
    assert freeze.changed() == []
    assert freeze.digest() == freeze.frozen()["digest"]
    refused(DataError, "nothing has changed", freeze.record, "again")


def test_another_change_is_another_freeze_and_so_is_what_follows_it(
    renamed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze.record("the margin is smaller", "saco_c01")
    assert freeze.changed() == []
    assert freeze.digest() != freeze.frozen()["digest"]
    monkeypatch.setattr(freeze, "part_digests", lambda: {"judging: goal": "a"})
    freeze.record("names only: aim is goal")
    assert freeze.digest() != freeze.frozen()["digest"]
