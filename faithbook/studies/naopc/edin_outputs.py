"""What `naopc_released_outputs` shows beside its verdicts: material, texts left out, errors against cost, and in words
how many numbers of the files are ours too.

`exact` are our limits of short texts (dataset, model, id, words, p_full, lower, upper); a row is
one text under one model.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from faithbook.show.tables import pipe_table
from faithbook.studies.naopc import edin_tables

OWN = {True: "our limits or scores", False: "released values on both sides"}
"""What a number of ours rests on, as a listing says it."""
_SAME = 1e-4
"""Limits that differ by less are one: released ones are kept in single precision."""


def material(exact: pd.DataFrame) -> pd.DataFrame:
    """By data set and model how many short texts, words and answers there are, and of how many texts the model says
    positive."""
    answered = exact.assign(answers=2.0**exact.words, positive=exact.p_full > 0.5)
    table = answered.groupby(["dataset", "model"], sort=False).agg(
        n=("id", "nunique"),
        words=("words", "mean"),
        longest=("words", "max"),
        answers=("answers", "sum"),
        positive=("positive", "sum"),
    )
    return table.reset_index().rename(columns={"n": "n (texts)", "words": "words, mean", "positive": "p > 0.5"})


def texts_left_out(exact: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """By data set and model how many short texts have no NAOPC of ours: those of one word, whose range is empty, and
    those without a score (`scores`: AOPC of ours, NaN where attributions and answers count the words differently)."""
    uncounted = scores[scores.value.isna()].groupby(["dataset", "model"]).id.nunique()
    by_text = exact.assign(one_word=exact.words == 1).groupby(["dataset", "model"], sort=False)
    table = by_text.agg(texts=("id", "nunique"), one_word=("one_word", "sum")).astype(int)
    table["counted differently"] = uncounted.reindex(table.index, fill_value=0)
    table["n (texts with a NAOPC)"] = table.texts - table.one_word - table["counted differently"]
    return table.reset_index().rename(columns={"one_word": "of one word"})


def search_costs(beams: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """Mean errors of our searches and rows that they ask about, by search and width; the last row is the exact one,
    which asks about every set of words."""
    errors = edin_tables.searched_errors(beams[beams.search != "deduplicated"], exact)
    cost = errors.groupby(["search", "width"])[["upper_error", "lower_error", "rows"]].mean().reset_index()
    subsets = (2.0**exact.words).mean()
    last = {"search": "exact", "width": 0, "upper_error": 0.0, "lower_error": 0.0, "rows": subsets}
    return pd.concat([cost, pd.DataFrame([last])], ignore_index=True)


def right_by_beam(too_high: pd.DataFrame) -> int:
    """Of how many upper limits that are too high the released beam search has the right value."""
    return int((too_high.upper_beam - too_high.upper_ours).abs().lt(_SAME).sum())


def listed(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A compared table as its file has it: these columns, the number of the files and ours, whether they match, the
    cause where they do not, and what ours rests on."""
    chosen = table[[*names, "value", "ours", "n", "match", "cause", "own"]].rename(columns={"value": "files"})
    rests_on = chosen.pop("own").map(OWN)
    # Some rows cannot be compared: there `match` is neither true nor false, and stays empty.
    return chosen.assign(match=chosen.match.map({True: "yes", False: "no"}), rests_on=rests_on)


def without_match(table: pd.DataFrame, names: Sequence[str], *, digits: int = 4) -> pd.DataFrame:
    """The rows of a compared table that differ, as a page shows them."""
    rows = table[table.match.eq(False)]
    shown = rows[[*names, "value", "ours", "n", "cause"]].rename(columns={"value": "files"}).astype(object).fillna("–")
    return shown.map(lambda cell: f"{cell:.{digits}f}" if isinstance(cell, float) else cell)


def agreement_in_words(table: pd.DataFrame, *, within: float | None = None) -> str:
    """How many numbers of a compared table are those of the files, and why the others differ; `within`: a tolerance
    instead of half the last printed digit."""
    known = table[table.ours.notna()]
    off = edin_tables.differences(table, within=within)
    same = len(known) - off.numbers.sum()
    released = int((~known.own).sum())
    text = (
        f"{same} of {len(known)} numbers are those of the files; {released} of them are means of released values on "
        "both sides."
    )
    return text if off.empty else f"{text} The others, by cause:\n\n{pipe_table(off)}"
