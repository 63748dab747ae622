"""Which comparison of a judged claim decides, for readers.

Of k comparisons that have to hold the k-th in order of the estimates decides. Where fewer are available than the plan
counts, as many have to hold as do in the paper's own numbers (`decide.judge`): then that many are counted off, and the
lowest of all says nothing about the verdict.

    columns_of(judged)["part"]  # "Soft-NC minus NC, SST"
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from faithbook.judge import analysis_plan
from faithbook.judge.analysis_plan import OF_PARTS
from faithbook.judge.decide import Judged, Parts, decisive, judge

_OF_PART = ("part", "effect", "low", "high", "published", "detectable")
"""The columns of the scoreboard that are about the comparison that decides."""


def required(judged: Judged) -> int | None:
    """How many comparisons have to hold where there are fewer than the rule counts: as many as do in the paper's
    numbers; None where the rule's own number stands."""
    rule, rows = judged.rule, judged.rows
    if rule.rule not in OF_PARTS or not isinstance(rule.k, int) or not 0 < len(rows) < rule.k:
        return None
    return int((rows["published"] > rule.threshold).sum())


def have_to_hold(name: str, parts: Parts) -> int:
    """How many comparisons of a claim have to hold, of those that are available."""
    judged = judge(name, parts, have=analysis_plan.rule(name).needs)
    return required(judged) or judged.rule.needed(len(parts))


def columns_of(judged: Judged) -> dict[str, Any]:
    """`Judged.columns`, about the comparison that decides where fewer are available than the rule counts."""
    asked = _as_asked(judged)
    of_part = {name: value for name, value in asked.columns.items() if name in _OF_PART}
    return judged.columns | of_part


def part_that_decides(judged: Judged) -> pd.Series:
    """The row of the comparison that decides; of a sentence of several statements the first."""
    asked = _as_asked(judged)
    place = 0
    if asked.rule.rule != "whole":
        place = decisive(asked.rule, asked.rows["ours"].fillna(0.0).to_numpy(dtype=float))
    return asked.rows.iloc[place]


def _as_asked(judged: Judged) -> Judged:
    """The claim with a rule that counts as many comparisons as have to hold."""
    number = required(judged)
    return replace(judged, rule=replace(judged.rule, k=number)) if number else judged
