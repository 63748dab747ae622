"""Every undecided finding says what it waits for."""

from __future__ import annotations

import pandas as pd

from faithbook.judge import published
from faithbook.judge.scoreboard import CAUSES, undecided_findings
from faithbook.paths import reference_dir


def test_every_undecided_finding_of_the_reference_says_why() -> None:
    board = pd.read_csv(reference_dir() / "scoreboard.csv", keep_default_na=False)
    told = undecided_findings(board)
    assert len(told) > 5 and set(told["what would decide it"]) <= set(CAUSES.values())
    assert told["why not"].str.len().min() > 10
    assert set(published.our_table("undecided")["cause"]) <= set(CAUSES)
    by_number = (
        told[told["what would decide it"] != CAUSES["rule"]].set_index("finding")["needed"].drop("xl_c05")
    )  # by languages
    assert (by_number != "–").all()


def test_a_finding_that_another_repeats_is_listed_once() -> None:
    told = {"id": ["saco_c06", "x"], "n": 100, "same_as": ["", "saco_c06"], "needed": ["1234", ""]}
    found = undecided_findings(pd.DataFrame(told).assign(decision="undecided"))
    assert found[["finding", "n", "needed"]].values.tolist() == [["saco_c06", 100, "1,234"]]
