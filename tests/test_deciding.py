"""How many inputs would decide a claim: what is said is what a claim with as many inputs then does."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from faithbook.judge import decide, published
from faithbook.judge.analysis_plan import Rule, rule
from faithbook.judge.scoreboard import CAUSES, Deciding, deciding, undecided
from faithbook.paths import reference_dir
from faithbook.stats import rules
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions

EFFECTS = {"a": 0.06, "b": 0.05, "c": -0.02}
SPREAD = 0.3


def parts(effects: dict[str, float], n: int, seed: int) -> dict[str, Comparison]:
    """Independent parts of n inputs each, as seen in one world in which their means are these effects."""
    generator = np.random.default_rng(seed)
    names = [f"{i}" for i in range(n)]
    values = [(name, x, y) for x, mean in effects.items()
              for name, y in zip(names, generator.normal(mean, SPREAD, n), strict=True)]  # fmt: skip
    frame = pd.DataFrame(values, columns=["id", "part", "value"])
    cells = Conditions.of(frame, over=["part"], unit="id", n_resamples=499)
    return {name: Comparison(cells.mean(part=name)) for name in effects}


def rows(book: Rule, effects: dict[str, float]) -> pd.DataFrame:
    """The parts of a claim whose values lie exactly at their effects."""
    lines = decide.lines(book)
    size = {name: min(abs(one - line) for line in lines) for name, one in effects.items()}
    needed = {name: ((1.96 + 0.8416) * SPREAD / one) ** 2 for name, one in size.items()}
    return pd.DataFrame({"part": list(effects), "ours": list(effects.values()), "needed": list(needed.values())})


@pytest.mark.parametrize(
    ("name", "effects", "part", "answer"),
    [
        ("soft_c04", EFFECTS, "c", "no"),  # all are asked for, and one is on the other side
        ("soft_c04", {"a": 0.06, "b": 0.05}, "b", "yes"),  # the last of all that has to be above
        ("saco_c06", {"a": -0.03, "b": -0.1, "c": 0.1}, "a", "yes"),  # most of three, above -.05
        ("saco_c06", {"a": -0.1, "b": -0.2, "c": 0.1}, "a", "no"),
        ("saco_c05", {"a": 0.03}, "a", "yes"),  # between -.05 and .05
    ],
)
def test_the_part_that_decides_and_how_many_inputs_it_takes(
    name: str, effects: dict[str, float], part: str, answer: str
) -> None:
    book = rule(name)
    found = deciding(book, rows(book, effects), decide.lines(book))
    assert found is not None
    assert (found.part, found.answer) == (part, answer)
    if name != "soft_c04":
        return
    # With as many inputs the rule decides so in about four of five worlds, and with a fifth of them seldom.
    word = {"yes": rules.YES, "no": rules.NO}[answer]
    for n, low, high in ((found.needed, 0.6, 0.97), (found.needed // 5, 0.0, 0.5)):
        told = [decide.judge(name, parts(effects, n, seed), have=()).decision.answer == word for seed in range(40)]
        assert low <= np.mean(told) <= high


def test_a_no_of_several_parts_needs_its_fewest_inputs_and_what_they_do_not_decide_has_no_number() -> None:
    book, orders = rule("soft_c04"), rule("saco_table2")
    found = deciding(book, rows(book, {"a": -3.0, "b": -2.0}), (0.0,))
    assert found == Deciding("a", rules.FEWEST_FOR_SEVERAL_NO, rules.NO)
    frame = rows(book, EFFECTS)
    assert deciding(orders, frame, decide.lines(orders)) is None
    assert deciding(book, frame.assign(needed=[100.0, math.nan, 100.0]), (0.0,)) is None  # one lies on the line


def test_every_undecided_finding_of_the_reference_says_why() -> None:
    board = pd.read_csv(reference_dir() / "scoreboard.csv", keep_default_na=False)
    told = undecided(board)
    assert len(told) > 5 and set(told["decided"]) <= set(CAUSES.values())
    assert told["why not"].str.len().min() > 10
    assert set(published.our_table("undecided")["cause"]) <= set(CAUSES)
    by_number = told[told["decided"] != CAUSES["rule"]].set_index("finding")["needed"].drop("xl_c05")  # by languages
    assert (by_number != "-").all()


def test_a_finding_that_another_repeats_is_listed_once() -> None:
    told = {"id": ["saco_c06", "x"], "n": 100, "same_as": ["", "saco_c06"], "needed": ["1234", ""]}
    found = undecided(pd.DataFrame(told).assign(decision="undecided"))
    assert found[["finding", "n", "needed"]].values.tolist() == [["saco_c06", 100, "1,234"]]
