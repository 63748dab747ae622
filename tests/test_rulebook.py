"""The rule log: complete, well-formed, and by each of its rules a claim can be true and can be false."""

from __future__ import annotations

import datetime

from faithbook.results import rulebook
from faithbook.results.scoreboard import to_judge


def test_every_id_has_a_rule_and_every_rule_an_id() -> None:
    assert list(rulebook.log()) == list(to_judge().id)


def test_rules_are_dated_and_say_why() -> None:
    for name, found in rulebook.log().items():
        assert found.dated >= datetime.date(2026, 11, 22), name
        assert len(found.why.split()) > 4, name
