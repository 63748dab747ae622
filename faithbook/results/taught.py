"""What the book taught: ten questions, and to each the measured numbers, followed by the claims that they judge.

`data/lessons.csv` has, by lesson, the ids that it rests on and a sentence of what was measured (`found`), written by a
person, with places that code fills. A verdict stands after the claim as its source words it, never after the finding: a
finding that contradicts a claim would read as if it failed itself. Sentences say which way nothing went, only how far,
so that none of them is wrong under another verdict.

A place is `{part}`, ours of a part of the same claim; `{id|part}`, of another one (`Page.quote` keeps values that
belong to no claim); `{published|part}`, what the paper prints for it; `{lowest}` and `{highest}`, with the name of the
part; `{passed}` of `{parts}` parts. What this copy has not measured is a dash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from faithbook.results import evidence, findings, published
from faithbook.results.exhibits import short
from faithbook.results.page import badge
from faithlib.errors import DataError

MEASURED = (findings.STANDS, findings.IN_PART, findings.DOES_NOT, findings.OPEN)
_PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Support:
    """An id that a lesson rests on, and the sentence of what was measured for it."""

    id: str
    found: str


@dataclass(frozen=True)
class Lesson:
    """A question that the book answers, and what answers it, the weightiest first."""

    number: int
    asks: str
    rests_on: tuple[Support, ...]


def lessons() -> tuple[Lesson, ...]:
    """The ten lessons of `data/lessons.csv`, in order.

    Raises DataError for an id without a sentence, or a lesson without a question.
    """
    found = []
    for number, rows in published.beside("lessons").groupby("lesson", sort=False):
        asks = rows["asks"].iloc[0]
        support = tuple(Support(name, text) for name, text in zip(rows["id"], rows["found"], strict=True))
        if silent := [one.id for one in support if not one.found]:
            raise DataError(f"data/lessons.csv says nothing of {', '.join(silent)}: fill `found`")
        if not asks:
            raise DataError(f"lesson {number} of data/lessons.csv asks nothing: fill `asks` of its first row")
        found.append(Lesson(int(str(number)), asks, support))
    return tuple(found)


def filled(support: Support, verdict: Mapping[str, Any], values: pd.DataFrame) -> str:
    """A sentence with its numbers. `verdict`: a row of the scoreboard's board; `values`: what the pages keep to be
    quoted, one row per part (claim, part, published, ours)."""
    own = values[values["claim"] == support.id].dropna(subset=["ours"])

    def value(place: re.Match[str]) -> str:
        *where, part = place[1].split("|")
        if part in ("passed", "parts"):
            return "–" if pd.isna(verdict[part]) else f"{int(verdict[part]):,}"
        if part in ("lowest", "highest"):
            row = own.sort_values("ours").iloc[[0 if part == "lowest" else -1]] if len(own) else own
            return "–" if row.empty else f"{_number(row['ours'].item())} ({row['part'].item()})"
        column = "published" if "published" in where else "ours"
        name = next((one for one in where if one != "published"), support.id)
        row = values[(values["claim"] == name) & (values["part"] == part)]
        return "–" if row.empty else _number(row[column].iloc[0])

    return _PLACE.sub(value, support.found)


def _number(value: float) -> str:
    return short(float(value)).replace("-", "−")


def paragraph(lesson: Lesson, board: pd.DataFrame, values: pd.DataFrame) -> str:
    """A lesson as MyST: for each id a sentence of what was measured, below it in small print the claim and its verdict.

    Raises DataError where the board has no verdict on an id of it.
    """
    rows = board.set_index("id", drop=False)
    if missing := [one.id for one in lesson.rests_on if one.id not in rows.index]:
        raise DataError(f"no verdict on {', '.join(missing)}, on which lesson {lesson.number} rests")
    told = []
    for one in lesson.rests_on:
        verdict = {str(name): value for name, value in rows.loc[one.id].items()}
        told.append(f'{sentence(one, verdict, values)}\n<span class="verdict-note">{_claim(verdict)}</span>')
    return "\n\n".join(told)


def sentence(support: Support, verdict: Mapping[str, Any], values: pd.DataFrame) -> str:
    """What was measured for a claim, or that it was not tested here."""
    if findings.SIDES[str(verdict["verdict"])] not in MEASURED:
        return "Not tested on the data of this copy."
    return f"{filled(support, verdict, values)}."


def _claim(verdict: Mapping[str, Any]) -> str:
    """The claim as its source words it, and after it the verdict, with what it rests on."""
    name, word, page, here = (str(verdict[one]) for one in ("id", "verdict", "page", "here"))
    source = published.sources()[name]
    kind = "Claim of" if verdict["kind"] == "claim" else "Published by"
    whose = "Our question" if source == published.OUR_OWN else f"{kind} {findings.cited(source)}"
    measured = findings.SIDES[word] in MEASURED
    size = f"n = {int(verdict['n']):,} in the smallest cell" if measured and not pd.isna(verdict["n"]) else ""
    parts = [
        str(verdict["evidence"]) if measured else "",
        size,
        str(verdict["hangs"]) if measured else "",
        f"this build: {here}" if here not in ("", word, evidence.UNTESTABLE) else "",
        f"`{name}`",
        f"{{doc}}`{page.removeprefix('executed/')}`" if page else "",
    ]
    said = findings.in_words()[name].rstrip(".")
    return f"{whose}: *{said}*. {badge(word)} {'; '.join(part for part in parts if part)}"


def table(board: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Every sentence with its verdict as data: lesson, question, id, source, verdict, evidence, n, sentence."""
    rows, source = board.set_index("id", drop=False), published.sources()
    made = [
        {
            "lesson": lesson.number,
            "asks": lesson.asks,
            "source": source[one.id],
            **{name: rows.loc[one.id, name] for name in ("id", "verdict", "evidence", "n")},
            "sentence": sentence(one, {str(name): value for name, value in rows.loc[one.id].items()}, values),
        }
        for lesson in lessons()
        for one in lesson.rests_on
    ]
    return pd.DataFrame(made)


def in_short(board: pd.DataFrame, values: pd.DataFrame) -> str:
    """How many claims stand behind the answers, whose they are, and how they fared."""
    found = table(board, values)
    whose = found["source"].map({published.OUR_OWN: "questions of our own", published.REVIEW: "of a review page"})
    counted = whose.fillna("claims of the papers").value_counts()
    sides = found["verdict"].map(findings.SIDES).value_counts()
    split = ", ".join(f"{sides[side]} {side}" for side in (*findings.TOLD, findings.NO_FINDING) if side in sides)
    return f"{len(found)} verdicts ({', '.join(f'{n} {name}' for name, n in counted.items())}): {split}."


def page(board: pd.DataFrame, values: pd.DataFrame) -> str:
    """All lessons, a heading and a paragraph each."""
    return "\n\n".join(f"## {one.number}. {one.asks}\n\n{paragraph(one, board, values)}" for one in lessons())
