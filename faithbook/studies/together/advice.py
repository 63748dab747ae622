"""Which metric of faithfulness to use: the answers of two pages a metric side by side, and what follows in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from faithbook.judge.sentences import values
from faithbook.show.labels import label
from faithbook.studies.together.questions import BOOK, ITSELF, RANKS, Known

NOT_WORSE = "not worse after misleading"
QUESTIONS = ["separates", "without mean importance", "prefers the truth", NOT_WORSE]
DECIDING = QUESTIONS[:3]
"""What a recommendation needs no *no* to. The last question is about a change, so that it would count against a metric
that tracks the truth best and loses a little, and for one that tracks it badly and gains: the level after misleading
counts instead (`WORSE`)."""
TRACKS, MISLED, WORSE = "tracks the truth", "after misleading", "worse of the two"
PASSES = "model calls per input"
"""The column of a metric's price: forward passes of the model for one explanation of one input."""
WHOLE = 1
"""The pass on the input as it is, which a run counts; a price leaves it out, for all metrics need it."""
YES, NO, UNSURE, NOT_ASKED = "yes", "no", "unsure", "not tested"
UNCONTROLLED = ("saco",)
"""Metrics that use how high scores are and have no control for it: whether they do without is not tested."""


def advice(
    telling: pd.DataFrame,
    amounts: pd.DataFrame,
    right: pd.DataFrame,
    lost: pd.DataFrame,
    follows: pd.DataFrame,
    *,
    known: Known = BOOK,
) -> pd.DataFrame:
    """One row per modality and metric, the best first: by the answers that decide, then by the worse rank correlation.
    Columns are the answer to each of `QUESTIONS`, or that nobody asked, and n (of the answer with fewest inputs). Then
    come the rank correlation with how true explanations are, on the model trained as usual, on the misled one, and the
    worse of the two; inputs needed, rows per input without the whole input.

    - `telling`: modality, metric, above chance, n, inputs needed, rows per input;
    - `amounts`: modality, metric, against, answer, n (of metrics with controls, the soft ones);
    - `right`: modality, model, metric, answer, n; `lost`: modality, metric, answer, n;
    - `follows`: modality, model, metric, estimate.
    """
    keys = ["modality", "metric"]
    asked = telling[telling.metric.isin(known.asking)].set_index(keys)
    modality, metric = (asked.index.get_level_values(name) for name in keys)
    usual, fooled = right[right.model == "trained"].set_index(keys), lost.set_index(keys)
    controls = amounts[amounts.against.isin([ITSELF, RANKS]) & amounts.metric.isin(known.amounts)].groupby(keys)
    freed = controls.agg(answer=("answer", _of_all), n=("n", "min")).reindex(asked.index)
    without = np.select([metric.isin(UNCONTROLLED), metric.isin(known.amounts)], [NOT_ASKED, UNSURE], YES)
    answers = [asked["above chance"], freed.answer.fillna(pd.Series(without, asked.index))]
    for of in (usual, fooled):
        unmeasured = np.where(modality.isin(of.index.get_level_values("modality")), UNSURE, NOT_ASKED)
        answers.append(of.answer.reindex(asked.index).fillna(pd.Series(unmeasured, asked.index)))
    sizes = [asked.n, freed.n, usual.n.reindex(asked.index), fooled.n.reindex(asked.index)]
    tracked = follows.set_index([*keys, "model"]).estimate.unstack("model").reindex(asked.index)
    table = pd.DataFrame(dict(zip(QUESTIONS, answers, strict=True)))
    table["n"] = pd.concat(sizes, axis=1).min(axis=1).astype(int)
    for name, model in ((TRACKS, "trained"), (MISLED, "misled by erasure")):
        table[name] = tracked.get(model, pd.Series(np.nan, asked.index))
    table[WORSE] = table[[TRACKS, MISLED]].min(axis=1, skipna=False)
    table = table.join(without_whole(asked)[["inputs needed", PASSES]]).reset_index()
    best = (table[DECIDING] == YES).sum(axis=1) - (table[DECIDING] == NO).sum(axis=1)
    ordered = table.assign(best=best).sort_values(
        ["modality", "best", WORSE], ascending=[True, False, False], ignore_index=True
    )
    return ordered.drop(columns="best")


def without_whole(table: pd.DataFrame) -> pd.DataFrame:
    """A table of prices as runs count them, without the pass on the whole input."""
    return table.assign(**{PASSES: table[PASSES] - WHOLE})


def _of_all(answers: pd.Series) -> str:
    """Yes where all answers are, no where one is, else unsure."""
    if (answers == YES).all():
        return YES
    return NO if (answers == NO).any() else UNSURE


def quotable(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and price of every metric, for sentences of other pages (`sentences.values`)."""
    named = {WORSE: "worse of the two", PASSES: "passes"}
    numbers = {
        f"{label(row['metric'])}, {row['modality']}: {name}": row[column]
        for row in table.to_dict("records")
        for column, name in named.items()
        if not pd.isna(row[column])
    }
    return values("advice", numbers)
