"""Sentences that people write: code fills their numbers, and refuses a sentence whose decision has changed.

A place in a sentence is `{part}` or `{id|part}`: ours of a part of a claim (`Page.quote` keeps values that belong to no
claim). Further words, set apart by bars, say which number and how it is written:

- `published`: the printed value; `passed`, `parts`: the counts of an id, or of several ids joined by `+`;
- `lowest`, `highest`: of all parts of a claim, or of those that match a part with asterisks; `named`: with its name;
- `interval`: the 95 % interval of ours; `with interval`: ours and after it the interval; `n`: of how many inputs it is,
  in the smallest set;
- `%`: in percent; `whole`: as a whole number; `3`: with three digits; `size`: without its sign.

`when` names the decisions that a sentence was written for: `soft_c01 not reproduced; together_q7 mixed/undecided`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import pandas as pd

from faithbook.judge import wording
from faithbook.show.numbers import written
from faithbook.show.tables import rounded
from faithbook.stats.evidence_levels import DECISIONS
from faithlib.errors import DataError, unknown

_PLACE = re.compile(r"\{([^{}]+)\}(?!`)")
_WORDS = (
    *("published", "lowest", "highest", "passed", "parts", "named"),
    *("interval", "with interval", "n", "%", "whole", "size", "3"),
)


class Refused(Exception):
    """A sentence that no longer says what was measured; its text is the reason."""


@dataclass(frozen=True)
class Results:
    """What sentences are checked against: `board`, the scoreboard's board; `values`, one row per part (claim, part,
    published, ours)."""

    board: pd.DataFrame
    values: pd.DataFrame
    _of_claim: Mapping[str, pd.DataFrame] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "board", self.board.set_index("id", drop=False))
        object.__setattr__(self, "_of_claim", dict(iter(self.values.groupby("claim"))))

    def say(self, text: str, when: str = "", *, of: str = "") -> str:
        """A sentence with its numbers; `of`: the id that a place without one belongs to.

        Raises Refused where a decision is another one than `when` says, or a number was not measured.
        """
        for name, decisions in decisions_written_for(when).items():
            decision = self.decision(name)
            if decision not in decisions:
                raise Refused(f"`{name}` is {decision}, and the sentence was written for {' or '.join(decisions)}")
        return _PLACE.sub(lambda place: self._number(place, of), text)

    def shown(self, text: str, when: str = "", *, of: str = "") -> str:
        """The sentence, or in its place why it is refused."""
        try:
            return self.say(text, when, of=of)
        except Refused as refused:
            return f"*A sentence is left out here: {refused}.*"

    def decision(self, name: str) -> str:
        """The decision on an id. Raises DataError where it has none."""
        if name not in self.board.index:
            raise DataError(f"no verdict on {name}, on which a sentence rests")
        return str(self.board.loc[name, "decision"])

    def _number(self, place: re.Match[str], of: str) -> str:
        pieces = place[1].split("|")
        words = {piece for piece in pieces if piece in _WORDS}
        # "id|part|words": a sentence about one id may leave it out; without a part it is the deciding one.
        names = [piece for piece in pieces if piece not in _WORDS]
        if of and len(names) < 2:
            names = [of, *names]
        name, part = [*names, "", ""][:2]
        counted = words & {"passed", "parts"}
        if counted:
            return self._count(name, *counted)
        row = self._row(name, part, words)
        if "n" in words:
            return f"{int(row['n']):,}"
        if "interval" in words:
            return _interval(row, words)
        value = float(row["published" if "published" in words else "ours"])
        value = abs(value) if "size" in words else value
        text = _written(value, words)
        if "%" in words:
            text = f"{text}\N{NO-BREAK SPACE}%"
        if "with interval" in words and not pd.isna(row["low"]):  # what is the same for every input has none
            text = f"{text} {_interval(row, words)}"
        return f"{text} ({wording.comparison(row['part'])})" if "named" in words else text

    def _count(self, names: str, column: str) -> str:
        rows = self.board.loc[names.split("+"), column]
        if rows.isna().any():
            raise Refused(f"`{names}` has no count of parts")
        return f"{int(rows.sum()):,}"

    def _row(self, name: str, part: str, words: Set[str]) -> pd.Series:
        """The row of a value."""
        column = "published" if "published" in words else "ours"
        rows = self._of_claim.get(name, self.values[:0]).dropna(subset=[column])
        if part:
            rows = rows[[fnmatchcase(str(name), part) for name in rows["part"]]]
        if rows.empty:
            raise Refused(f"`{name}` has no {column} value of {part or 'any part'}")
        return rows.sort_values(column).iloc[0 if "lowest" in words else -1]


def _interval(row: pd.Series, words: Set[str]) -> str:
    """The interval of a row, its ends written as the words of its place ask."""
    low, high = (_written(float(row[end]), words) for end in ("low", "high"))
    return f"[{low}, {high}]"


def _written(value: float, words: Set[str]) -> str:
    """A number as the words of its place ask."""
    if "%" in words:
        return written(100 * value, ".0f")
    digits = 3 if "3" in words else 2
    return rounded(value, 0 if "whole" in words else digits)


def decisions_written_for(when: str) -> Mapping[str, list[str]]:
    """The decisions, by id, that a sentence was written for. Raises UnknownNameError for a word that is none.

    >>> decisions_written_for("soft_c01 not reproduced; together_q7 mixed/undecided")
    {'soft_c01': ['not reproduced'], 'together_q7': ['mixed', 'undecided']}
    """
    written_for = {}
    for condition in filter(None, (piece.strip() for piece in when.split(";"))):
        name, _, decisions = condition.partition(" ")
        written_for[name] = decisions.split("/")
        for decision in written_for[name]:
            if decision not in DECISIONS:
                raise unknown("decision", decision, DECISIONS)
    return written_for


def quotable_rows(name: str, ours: Mapping[str, float], published: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Numbers that no page keeps to be quoted, as rows that `Results` takes.

    >>> quotable_rows("counts", {"all": 75}).to_dict("records")
    [{'claim': 'counts', 'part': 'all', 'published': None, 'ours': 75}]
    """
    theirs = published or {}
    rows = [(name, part, theirs.get(part), ours.get(part)) for part in dict.fromkeys([*ours, *theirs])]
    return pd.DataFrame(rows, columns=["claim", "part", "published", "ours"])
