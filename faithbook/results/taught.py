"""What the book taught, ten findings in a paragraph each: every sentence follows from a verdict.

`data/lessons.csv` has, by lesson, the ids that it rests on, what may be said of each where its rule says yes (`so`;
where it is empty, the plain words of `data/plain.csv`) and where it says no (`not`). A "no" says as much as its rule
does: of a claim about all of several parts, that at least one of them is clearly otherwise. All other verdicts have a
sentence of their own that leaves the question open, so that no page says more than the scoreboard, whatever is found.
Numbers are those of the verdicts' notes; none is typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from faithbook.results import evidence, findings, published
from faithbook.results.page import badge
from faithlib.errors import DataError

YES = (evidence.MATCH, evidence.HOLDS, evidence.CARRIES_OVER)
NO = (evidence.DIFFERS, evidence.FAILS, evidence.DOES_NOT)
_OTHERWISE: Mapping[str, str] = {
    evidence.LEVEL: "{where}it makes no difference of interest whether {so}: what there is, is too small.",
    evidence.PARTLY: "{where}it is so in some parts, and clearly not in others, that {so}.",
    evidence.INCONCLUSIVE: "{where}it cannot be told yet whether {so}.",
    evidence.UNTESTABLE: "Whether {so} could not be tested on what is here.",
    evidence.NOT_RUN: "Whether {so} was not asked in this run.",
}
_OPEN = "Whether {so} is left open."
_WHERE: Mapping[str, str] = {
    evidence.AUTHORS: "In what the authors released, ",
    evidence.PAPER: "With the paper's own data and models, ",
    evidence.DATA: "On the paper's data, with our models, ",
    evidence.STAND_INS: "On stand-ins, ",
    evidence.OUR_QUESTION: "On our models, ",
}
_DECIDED = (*YES, *NO, evidence.LEVEL, evidence.PARTLY, evidence.INCONCLUSIVE)
_SHOWN = 2  # measured values under a sentence: the lowest and the highest part, where a note has many


@dataclass(frozen=True)
class Support:
    """An id that a lesson rests on: what may be said where its rule says yes, and where it says no."""

    id: str
    so: str
    otherwise: str


@dataclass(frozen=True)
class Lesson:
    """A question that the book answers, and the verdicts that answer it, the weightiest first."""

    number: int
    asks: str
    rests_on: tuple[Support, ...]


def lessons() -> tuple[Lesson, ...]:
    """The ten lessons of `data/lessons.csv`, in order.

    Raises DataError for an id that has nothing to say, or a lesson without a question.
    """
    table, plain = published.beside("lessons"), findings.plain_words()
    found = []
    for number, rows in table.groupby(table["lesson"].astype(int), sort=True):
        asks = rows["asks"].iloc[0]
        support = tuple(
            Support(name, so or plain.get(name, ""), otherwise)
            for name, so, otherwise in zip(rows["id"], rows["so"], rows["not"], strict=True)
        )
        if silent := [one.id for one in support if not (one.so and one.otherwise)]:
            raise DataError(f"data/lessons.csv says nothing of {', '.join(silent)}: fill `so` and `not`")
        if not asks:
            raise DataError(f"lesson {number} of data/lessons.csv asks nothing: fill `asks` of its first row")
        found.append(Lesson(int(number), asks, support))
    return tuple(found)


def sentence(support: Support, verdict: Mapping[str, Any], *, after: str = "") -> str:
    """What a verdict (a row of the scoreboard's board) lets one say, in a sentence.

    `after`: the ground that the sentence before it stands on; the same is not said twice, and none is not said.
    """
    word, ground = str(verdict["verdict"]), str(verdict["evidence"])
    where = "" if ground in ("", after) else _WHERE[ground]
    if word in YES:
        told = f"{where}{support.so}."
    elif word in NO:
        told = f"{where}{support.otherwise}."
    else:
        told = _OTHERWISE.get(word, _OPEN).format(where=where, so=support.so)
    return f"{told[0].upper()}{told[1:]}"


def measured(verdict: Mapping[str, Any]) -> str:
    """The numbers of a verdict that decided something: how many of its parts are so, and its first measured values."""
    if verdict["verdict"] not in _DECIDED:
        return ""
    parts = [part.strip() for part in str(verdict["note"]).split(";")]
    share = [part for part in parts[:1] if re.match(r"[\d,]+ of [\d,]+ ", part)]
    values = [part for part in parts if re.search(r"-?\d[\d.,]* \[-?\d", part)][:_SHOWN]
    size = [] if pd.isna(verdict["n"]) else [f"n = {int(verdict['n']):,}"]
    return "; ".join([*share, *values, *size])


def paragraph(lesson: Lesson, board: pd.DataFrame) -> str:
    """A lesson as MyST: a sentence and the word of each verdict, and below in small print what each rests on.

    Raises DataError where the board has no verdict on an id of it.
    """
    rows = board.set_index("id", drop=False)
    if missing := [one.id for one in lesson.rests_on if one.id not in rows.index]:
        raise DataError(f"no verdict on {', '.join(missing)}, on which lesson {lesson.number} rests")
    told, notes, after = [], [], ""
    for one in lesson.rests_on:
        verdict = {str(name): value for name, value in rows.loc[one.id].items()}
        told.append(f"{sentence(one, verdict, after=after)} {badge(str(verdict['verdict']))}")
        notes.append(f'<span class="verdict-note">{_note(one, verdict)}</span>')
        after = str(verdict["evidence"]) if "{where}" in _pattern(str(verdict["verdict"])) else after
    return "\n".join([*told, *notes])


def _pattern(word: str) -> str:
    """The sentence of a verdict, with a place for where it is so if it says that."""
    return "{where}" if word in (*YES, *NO) else _OTHERWISE.get(word, _OPEN)


def _note(support: Support, verdict: Mapping[str, Any]) -> str:
    """What a sentence rests on: its id, its page, the ground, the numbers, what the answer hangs on."""
    word, page, here = str(verdict["verdict"]), str(verdict["page"]), str(verdict["here"])
    parts = [
        f"`{support.id}`",
        f"{{doc}}`{page.removeprefix('executed/')}`" if page else "",
        str(verdict["evidence"]) if word in _DECIDED else "",
        measured(verdict),
        str(verdict["hangs"]) if word in _DECIDED else "",
        f"your run: {here}" if here and here != word else "",
    ]
    return "; ".join(part for part in parts if part)


def table(board: pd.DataFrame) -> pd.DataFrame:
    """Every sentence with its verdict as data: lesson, question, id, verdict, evidence, n, sentence."""
    rows = board.set_index("id", drop=False)
    made = [
        {
            "lesson": lesson.number,
            "asks": lesson.asks,
            **{name: rows.loc[one.id, name] for name in ("id", "verdict", "evidence", "n")},
            "sentence": sentence(one, {str(name): value for name, value in rows.loc[one.id].items()}),
        }
        for lesson in lessons()
        for one in lesson.rests_on
    ]
    return pd.DataFrame(made)


def in_short(board: pd.DataFrame) -> str:
    """How many sentences rest on what, in words: what a reader should know before the first of them."""
    found = table(board)
    decided = found[found["verdict"].isin((*YES, *NO))]
    grounds = decided["evidence"].value_counts()
    counted = ", ".join(f"{grounds[ground]} on {_named(ground)}" for ground in evidence.GROUNDS if ground in grounds)
    return (
        f"{len(found)} verdicts are behind these paragraphs. {len(decided)} of them say yes or no"
        + (f" ({counted})" if counted else "")
        + f"; {len(found) - len(decided)} leave their question open."
    )


def _named(ground: str) -> str:
    return "questions of our own" if ground == evidence.OUR_QUESTION else ground


def page(board: pd.DataFrame) -> str:
    """All lessons, a heading and a paragraph each."""
    return "\n\n".join(f"## {one.number}. {one.asks}\n\n{paragraph(one, board)}" for one in lessons())
