"""How many inputs would decide a claim that is undecided, were its values as they look now.

A claim of m parts of which k are asked for is yes once its k-th clearest part is above the line at ALPHA / (m - k + 1),
and no once its (m - k + 1)-th clearest is below it at ALPHA / k (`rules.conjunction`). The points say which of the two
it would be: yes where k of them are above the line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from faithbook.results import published, rules
from faithbook.results.rulebook import Rule

CAUSES = {
    "rule": "by its rule more inputs do not decide it",
    "n": "with more inputs",
    "unobtainable": "with more than there are",
}
"""Why a finding is undecided, in `data/undecided.csv`, and what would decide it."""


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
    k = rule.needed(m)
    inside = (known["ours"] > lines[0]) & (known["ours"] < lines[-1] if len(lines) > 1 else True)
    yes = int(inside.sum()) >= k
    place, alpha = (k, rules.ALPHA / (m - k + 1)) if yes else (m - k + 1, rules.ALPHA / k)
    clearest = known[inside == yes].sort_values("needed", kind="stable").iloc[place - 1]
    several = 0 if yes or m == 1 else rules.FEWEST_FOR_SEVERAL_NO
    needed = max(math.ceil(clearest["needed"] * (rules.reach(alpha) / rules.reach()) ** 2), several)
    return Deciding(str(clearest["part"]), needed, rules.YES if yes else rules.NO)


def undecided(board: pd.DataFrame) -> pd.DataFrame:
    """The findings of a scoreboard that are undecided, each once: how many inputs there are in the smallest cell, how
    many would decide it, and why there are not as many. Of what only a small run leaves undecided
    nothing is known.
    """
    rows = board[(board["decision"] == rules.UNDECIDED) & ~board["same_as"].isin(set(board["id"]))]
    causes = published.beside("undecided").set_index("id").reindex(rows["id"]).fillna("")
    return pd.DataFrame(
        {
            "finding": rows["id"].to_numpy(),
            "n": rows["n"].to_numpy(),
            "needed": [f"{int(needed):,}" if needed else "-" for needed in pd.to_numeric(rows["needed"]).fillna(0)],
            "decided": [CAUSES.get(cause, "not known") for cause in causes["cause"]],
            "why not": causes["why"].to_numpy(),
        }
    )
