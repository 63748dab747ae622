"""How everything fared that gets a verdict: what reports save, and the board of all of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from faithbook.judge.analysis_plan import Rule
from faithbook.judge.published import claims, our_table
from faithbook.stats import rules
from faithbook.stats.grounds import STAND_INS
from faithbook.stats.rules import UNDECIDED
from faithlib.errors import DataError

RULE, MORE_INPUTS, UNOBTAINABLE = "rule", "n", "unobtainable"
WAITS = {RULE: "another rule", MORE_INPUTS: "more inputs", UNOBTAINABLE: "what we cannot get", "": ""}
"""What an undecided or untested claim waits for, in words."""
CAUSES = {
    RULE: "by its rule more inputs do not decide it",
    MORE_INPUTS: "with more inputs",
    UNOBTAINABLE: "with more than there are",
}
"""Why a finding is undecided, in `data/undecided.csv`, and what would decide it."""

_TEXTS = ("decision", "reason", "page", "evidence", "part", "depends_on", "waits_for", "own_repeat", "same_as")
_COUNTS = ("n", "passed", "parts", "needed", "contradicted", "agreeing", "specifications")
_NUMBERS = ("effect", "low", "high", "published", "detectable")


FIELDS = (
    *("decision", "page", "reason", "evidence", "n", "passed", "parts", "part", "effect", "low", "high", "published"),
    *("detectable", "needed", "contradicted", "own_repeat", "depends_on", "agreeing", "specifications", "waits_for"),
    *("same_as", "post_hoc"),
)
"""Columns of the board beside id, paper and kind: how an id of the published tables, figures or claims or of our
questions fared.

- `decision`: one of `rules.DECISIONS`; `reason`: why, where the rule says more; `evidence`: what it rests on;
- `n`: independent inputs in the smallest cell; `passed` of `parts`: contrasts that hold on their own;
- `part`: the contrast that decides, its `effect` with the 95 % interval (`low`, `high`) and what is `published` for it;
  `detectable`: the smallest effect that this run would have found there, `needed`: inputs that would decide it;
- `contradicted`: contrasts of which the paper's own numbers, as they are, say the opposite;
- `own_repeat`: what the same rule decides of the paper's own repeat, where it prints one;
- `depends_on`: choices that alone change the answer, with the options that do; `agreeing` of `specifications` have the
  answer of the book's own;
- `waits_for`: what an undecided or untested claim waits for, by cause (`CAUSES`);
- `same_as`: the id whose fact it repeats; `post_hoc`: whether its rule was fixed after a first run was seen.
"""


def in_cells(verdict: Mapping[Any, Any]) -> dict[str, str]:
    """The columns of a verdict (`FIELDS`) that have a value, under the names that readers see.

    >>> told = {"id": "soft_c01", "decision": "undecided", "page": "p", "passed": 1, "parts": 2}
    >>> in_cells(told | {"part": "a", "effect": 0.5, "needed": 70})
    {'contrasts that hold': '1 of 2', 'a': '0.500', 'n to decide': '70'}
    """
    one = {name: verdict.get(name) for name in FIELDS}
    cells = {"why": one["reason"]}
    cells["contrasts that hold"] = f"{one['passed']} of {one['parts']}" if (one["parts"] or 0) > 1 else ""
    if one["effect"] is not None:
        ends = "" if None in (one["low"], one["high"]) else f" [{one['low']:.3f}, {one['high']:.3f}]"
        printed = "" if one["published"] is None else f", published {one['published']:.3f}"
        cells[str(one["part"])] = f"{one['effect']:.3f}{ends}{printed}"
    cells["n (smallest cell)"] = f"{one['n']:,}" if one["n"] else ""
    detectable = one["detectable"] if one["decision"] == UNDECIDED else None
    cells["smallest detectable effect"] = f"{detectable:.3f}" if detectable else ""
    cells["n to decide"] = f"{one['needed']:,}" if one["needed"] else ""
    cells["waits for"] = WAITS[one["waits_for"] or ""]
    cells["contradicted by the paper's own values"] = f"{one['contradicted']} contrasts" if one["contradicted"] else ""
    cells["the paper's own repeat, by this rule"] = one["own_repeat"]
    cells["depends on"] = one["depends_on"]
    same = f"{one['agreeing']} of {one['specifications']}" if one["specifications"] else ""
    cells["analysis variants with this answer"] = same
    return {name: value for name, value in cells.items() if value}


def to_judge() -> pd.DataFrame:
    """Everything that gets a verdict, in the order of the scoreboard: id, paper, kind."""
    return claims()[["id", "paper", "kind"]]


def board(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Every table, figure and claim of the four papers and every question of our own with its verdict: id, paper, kind,
    and `FIELDS`.

    Raises DataError where one lacks a verdict, or an id is unknown or judged twice.
    """
    known = to_judge()
    if stray := sorted(set(verdicts.id) - set(known.id)):
        raise DataError(f"verdicts on unknown ids: {', '.join(stray)}")
    if twice := sorted(verdicts.id[verdicts.id.duplicated()]):
        raise DataError(f"more than one verdict on: {', '.join(twice)}")
    if missing := sorted(set(known.id) - set(verdicts.id)):
        raise DataError(f"no verdict on: {', '.join(missing)}")
    board = known.merge(filled(verdicts), on="id", how="left")
    return board[["id", "paper", "kind", *FIELDS]]


def filled(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts with all of `FIELDS`, their defaults where a report left one out."""
    defaults = dict.fromkeys(_TEXTS, "") | {"evidence": STAND_INS, "post_hoc": False}
    frame = verdicts.reindex(columns=["id", *FIELDS]).astype(dict.fromkeys(defaults, object)).fillna(defaults)
    return frame.astype({"post_hoc": bool} | dict.fromkeys(_COUNTS, "Int64") | dict.fromkeys(_NUMBERS, "float64"))


def distinct(board: pd.DataFrame) -> pd.DataFrame:
    """The rows of a board that are facts of their own: what says `same_as` of a row that is there is left out.

    >>> rows = pd.DataFrame({"id": ["a", "b"], "same_as": ["", "a"]})
    >>> distinct(rows)["id"].tolist()
    ['a']
    """
    return board[~board["same_as"].isin(set(board["id"]))]


# ----------------------------------------------------------------------------------------------- what would decide it
@dataclass(frozen=True)
class Deciding:
    """The part that the decision waits for, and clusters with which it would be clear with a power of .8; `answer`:
    what the claim would then be."""

    part: str
    needed: int
    answer: str


def deciding(rule: Rule, rows: pd.DataFrame, lines: tuple[float, ...]) -> Deciding | None:
    """How many inputs would decide a claim that is undecided, were its values as they look now, by its parts (columns
    part, ours, needed: clusters for each alone); None where more inputs do not: a part that lies on the line, or a rule
    that is not about parts. `lines`: where parts must lie right of, or between.

    A claim of m parts of which k are asked for is yes once its k-th clearest part is above the line at
    ALPHA / (m - k + 1), and no once its (m - k + 1)-th clearest is below it at ALPHA / k (`rules.conjunction`). The
    points say which of the two it would be: yes where k of them are above the line.
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
    rows = distinct(board).query("decision == @UNDECIDED")
    causes = our_table("undecided").set_index("id").reindex(rows["id"]).fillna("")
    return pd.DataFrame(
        {
            "finding": rows["id"].to_numpy(),
            "n": rows["n"].to_numpy(),
            "needed": [f"{int(needed):,}" if needed else "-" for needed in pd.to_numeric(rows["needed"]).fillna(0)],
            "decided": [CAUSES.get(cause, "not known") for cause in causes["cause"]],
            "why not": causes["why"].to_numpy(),
        }
    )
