"""Verdicts that come from code: on a quantity above zero, on claims with several parts, on a number computed twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from faithbook.results.resampling import Interval
from faithbook.results.rules import NOT_RECOMPUTABLE as NOT_RECOMPUTABLE
from faithbook.results.rules import NOT_RUN as NOT_RUN
from faithlib.errors import InputError

MATCH, HOLDS, FAILS, INCONCLUSIVE = "match", "holds", "fails", "inconclusive"
FEWEST_UNITS = 10


def verdict(interval: Interval, *, above: float = 0.0) -> str:
    """Verdict on "the quantity is larger than `above`": holds, fails or inconclusive, by which side the interval is on.

    Always inconclusive where a cell has fewer than 10 inputs: a bootstrap cannot see what it did not draw, and three
    inputs that agree give an interval of a single point. Where the number of inputs is not known, an interval without
    width is taken for such a case; where it is, it may be a rank or a count that no resample changes.

    >>> verdict(Interval(0.1, 0.02, 0.2, 50)), verdict(Interval(0.1, -0.02, 0.2, 50)), verdict(Interval(1.0, 1, 1, 4))
    ('holds', 'inconclusive', 'inconclusive')
    """
    few = interval.low == interval.high if interval.units is None else interval.units < FEWEST_UNITS
    if few:
        return INCONCLUSIVE
    if interval.low > above:
        return HOLDS
    return FAILS if interval.high < above else INCONCLUSIVE


def every(verdicts: Iterable[str]) -> str:
    """Verdict on a claim that needs all of its parts: fails where one part fails, holds where all hold."""
    parts = list(verdicts)
    if FAILS in parts:
        return FAILS
    return HOLDS if parts and all(part in (HOLDS, MATCH) for part in parts) else INCONCLUSIVE


def part(claim_id: str, says: str, found: Interval, *, at_least: bool = False) -> dict[str, Any]:
    """A part of a claim as a row of a table: the quantity is above zero, or (`at_least`) not below it.

    >>> part("c1", "a less b", Interval(0.1, -0.02, 0.2, 50, 50), at_least=True)["verdict"]
    'holds'
    """
    fared = verdict(found)
    if at_least and fared == INCONCLUSIVE and (found.units or 0) >= FEWEST_UNITS:
        fared = HOLDS
    return {"claim": claim_id, "part": says, **found.ends, "verdict": fared}


def parts_told(parts: pd.DataFrame, claim_id: str) -> str:
    """A claim's parts (rows as `part` makes them) in words: how many hold, and the lowest."""
    group = parts[parts.claim == claim_id]
    if group.empty:
        return "this profile has nothing to test it on"
    worst = group.iloc[int(group.estimate.argmin())]
    holding = int((group.verdict == HOLDS).sum())
    return (
        f"{holding} of {len(group)} parts hold; lowest: {worst.part}, "
        f"{worst.estimate:.3f} [{worst.low:.3f}, {worst.high:.3f}]"
    )


def match(ours: float, theirs: float, *, tolerance: float) -> str:
    """Verdict on the same quantity computed twice: match within `tolerance`, else fails."""
    if np.isnan(ours) or np.isnan(theirs):
        raise InputError(f"ours {ours}, theirs {theirs}: a missing number neither matches nor fails")
    return MATCH if abs(ours - theirs) <= tolerance else FAILS
