"""How everything fared that gets a verdict: what reports save, and the board of all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import pandas as pd

from faithbook.results.evidence import DECISIONS, GROUNDS, STAND_INS, UNMEASURED
from faithbook.results.published import claims
from faithlib.errors import DataError, unknown

FIELDS = ("verdict", "n", "page", "note", "evidence", "same_as", "post_hoc", "passed", "parts", "here", "hangs")
"""Columns of the board beside id, paper and kind."""


@dataclass(frozen=True)
class Entry:
    """One line of the scoreboard: an id of the published tables, figures or claims or of our questions, and how it
    fared.

    `evidence`: the ground of the verdict; `same_as`: the id whose fact it repeats; `post_hoc`: whether its rule was
    fixed after a first run was seen; `passed` of `parts`: parts that say yes on their own; `here`: what the present run
    says, where another speaks; `hangs`: of a headline, the choice that it hangs on (`multiverse.Curve.in_short`).
    """

    id: str
    verdict: str
    page: str
    n: int | None = None
    note: str = ""
    evidence: str = STAND_INS
    same_as: str = ""
    post_hoc: bool = False
    passed: int | None = None
    parts: int | None = None
    here: str = ""
    hangs: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in DECISIONS:
            raise unknown("verdict", self.verdict, DECISIONS)
        if self.evidence not in GROUNDS:
            raise unknown("evidence", self.evidence, GROUNDS)


def entries(rows: Iterable[Entry]) -> pd.DataFrame:
    """Entries as a frame, for a report to save as `verdicts`."""
    return pd.DataFrame([asdict(row) for row in rows])


def to_judge() -> pd.DataFrame:
    """Everything that gets a verdict, in the order of the scoreboard: id, paper, kind."""
    return claims()[["id", "paper", "kind"]]


def board(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Every table, figure and claim of the four papers and every question of our own with its verdict: id, paper, kind,
    and the fields of an `Entry`. Reports that name no ground rest on stand-ins; what nothing was measured for
    rests on none.

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
    """Verdicts with every field of an `Entry`, its default where a report left it out; no ground where nothing was
    measured."""
    texts = {"note": "", "evidence": STAND_INS, "same_as": "", "here": "", "hangs": "", "post_hoc": False}
    found = verdicts.reindex(columns=["id", *FIELDS])
    found = found.astype({"n": "Int64", "passed": "Int64", "parts": "Int64"})
    found = found.fillna({"page": "", **texts}).astype({"post_hoc": bool})
    found.loc[found["verdict"].isin(UNMEASURED), "evidence"] = ""
    return found


def distinct(board: pd.DataFrame) -> pd.DataFrame:
    """The rows of a board that are facts of their own: what says `same_as` of a row that is there is left out.

    >>> rows = pd.DataFrame({"id": ["a", "b"], "same_as": ["", "a"]})
    >>> distinct(rows)["id"].tolist()
    ['a']
    """
    return board[~board["same_as"].isin(set(board["id"]))]
