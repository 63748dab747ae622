"""How many inputs would decide a claim that is undecided, were its values as they look now.

A claim of m parts of which k are asked for is yes once its k-th clearest part is above the line at ALPHA / (m - k + 1),
and no once its (m - k + 1)-th clearest is below it at ALPHA / k (`rules.conjunction`). The points say which of the two
it would be: yes where k of them are above the line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd
import scipy.stats

from faithbook.results import rules
from faithbook.results.rulebook import Rule

POWER = 0.8


@dataclass(frozen=True)
class Deciding:
    """The part that the decision waits for, and clusters with which it would be clear with a power of .8; `answer`:
    what the claim would then be."""

    part: str
    needed: int
    answer: str


def deciding(rule: Rule, rows: pd.DataFrame, lines: tuple[float, ...]) -> Deciding | None:
    """What would decide a claim by its parts (columns part, ours, needed: clusters for each alone); None where more
    inputs do not: a part that lies on the line, or a rule that is not about parts.

    `lines`: where parts must lie right of, or between.
    """
    known = rows.dropna(subset=["needed", "ours"])
    if rule.rule not in ("above", "k_of", "leader", "at_least", "equal") or len(known) < len(rows) or rows.empty:
        return None
    m = len(known)
    k = m if rule.rule == "leader" or rule.k == "each" else rules.parts_needed(rule.k or "all", m)
    inside = (known["ours"] > lines[0]) & (known["ours"] < lines[-1] if len(lines) > 1 else True)
    yes = int(inside.sum()) >= k
    place, alpha = (k, rules.ALPHA / (m - k + 1)) if yes else (m - k + 1, rules.ALPHA / k)
    clearest = known[inside == yes].sort_values("needed", kind="stable").iloc[place - 1]
    several = 0 if yes or m == 1 else rules.FEWEST_FOR_SEVERAL_NO
    needed = max(math.ceil(clearest["needed"] * (_reach(alpha) / _reach(rules.ALPHA)) ** 2), several)
    return Deciding(str(clearest["part"]), needed, rules.YES if yes else rules.NO)


def _reach(alpha: float) -> float:
    """How many standard errors from the line a value lies that is found with the power at this level."""
    return float(scipy.stats.norm.ppf(1 - alpha) + scipy.stats.norm.ppf(POWER))
