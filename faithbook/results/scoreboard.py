"""How everything fared that gets a verdict: what reports save, and the board of all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import pandas as pd

from faithbook.engine.run import Run
from faithbook.results.claims import VERDICTS
from faithbook.results.published import KINDS, index
from faithlib.errors import DataError, unknown


@dataclass(frozen=True)
class Entry:
    """One line of the scoreboard: an id of the published tables, figures or claims or of our questions, and how it
    fared."""

    id: str
    verdict: str
    page: str
    n: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise unknown("verdict", self.verdict, VERDICTS)


def entries(rows: Iterable[Entry]) -> pd.DataFrame:
    """Entries as a frame, for a report to save as `verdicts`."""
    return pd.DataFrame([asdict(row) for row in rows])


def save_verdicts(run: Run, *rows: tuple[str, str, int | None, str]) -> None:
    """Save a report's verdicts, each (id, verdict, n, note), for the scoreboard; their page is the report's own."""
    page = f"executed/{run.job.notebook}"
    run.save(entries(Entry(name, verdict, page, n, note) for name, verdict, n, note in rows), "verdicts")


def to_judge() -> pd.DataFrame:
    """Everything that gets a verdict, in the order of the scoreboard: id, paper, kind."""
    return pd.concat([index(kind)[["id", "paper"]].assign(kind=kind.removesuffix("s")) for kind in KINDS])


def board(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Every table, figure and claim of the four papers and every question of our own with its verdict: id, paper, kind,
    verdict, n, page, note.

    Raises DataError where one lacks a verdict, or an id is unknown or judged twice.
    """
    known = to_judge()
    if stray := sorted(set(verdicts.id) - set(known.id)):
        raise DataError(f"verdicts on unknown ids: {', '.join(stray)}")
    if twice := sorted(verdicts.id[verdicts.id.duplicated()]):
        raise DataError(f"more than one verdict on: {', '.join(twice)}")
    if missing := sorted(set(known.id) - set(verdicts.id)):
        raise DataError(f"no verdict on: {', '.join(missing)}")
    board = known.merge(verdicts, on="id", how="left")
    board["n"] = board["n"].astype("Int64")
    board[["page", "note"]] = board[["page", "note"]].fillna("")
    return board[["id", "paper", "kind", "verdict", "n", "page", "note"]].reset_index(drop=True)
