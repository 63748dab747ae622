"""Which metric of faithfulness to use: the answers of two pages a metric side by side, and what follows in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from faithbook.judge.sentences import values
from faithbook.show.labels import label
from faithbook.together.questions import BOOK, ITSELF, LITTLE, RANKS, Known

NOT_WORSE = "not worse after misleading"
QUESTIONS = ["separates", "without mean importance", "prefers the truth", NOT_WORSE]
DECIDING = QUESTIONS[:3]
"""What a recommendation needs no *no* to. The last question is about a change, so that it would count against a metric
that tracks the truth best and loses a little, and for one that tracks it badly and gains: the level after misleading
counts instead (`WORSE`)."""
TRACKS, MISLED, WORSE = "tracks the truth", "after misleading", "worse of the two"
PASSES = "model calls per input"
"""The column of a metric's price: forward passes of the model for one explanation of one input."""
RECOMMENDED, BEST, CHEAPEST, CAUTION = "recommended", "best", "cheapest", "caution"
KINDS = {"text": "texts", "vision": "small images"}
YES, NO, UNSURE, NOT_ASKED = "yes", "no", "unsure", "not asked"
UNCONTROLLED = ("saco",)
"""Metrics that use how high scores are and have no control for it."""


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
    worse of the two; inputs needed, rows per input.

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
    without = np.where(~metric.isin(known.amounts) & ~metric.isin(UNCONTROLLED), YES, UNSURE)
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
    table = table.join(asked[["inputs needed", PASSES]]).reset_index()
    best = (table[DECIDING] == YES).sum(axis=1) - (table[DECIDING] == NO).sum(axis=1)
    ordered = table.assign(best=best).sort_values(
        ["modality", "best", WORSE], ascending=[True, False, False], ignore_index=True
    )
    return ordered.drop(columns="best")


def _of_all(answers: pd.Series) -> str:
    """Yes where all answers are, no where one is, else unsure."""
    return YES if (answers == YES).all() else NO if (answers == NO).any() else UNSURE


def recommended(table: pd.DataFrame) -> dict[str, list[str]]:
    """By modality the metrics to use, the best first: no deciding question says *no*, most say *yes*, and the worse of
    the two rank correlations with the truth is at most `LITTLE` below the best one."""
    by_modality = {}
    for modality, part in table.groupby("modality", sort=False):
        deciding = [question for question in DECIDING if (part[question] != NOT_ASKED).any()]
        sound = part[~(part[deciding] == NO).any(axis=1)]
        many = (sound[deciding] == YES).sum(axis=1)
        best = sound[many == many.max()] if len(sound) else sound
        by_modality[str(modality)] = list(best[~(best[WORSE] < best[WORSE].max() - LITTLE)].metric)
    return by_modality


def asked_everything(table: pd.DataFrame) -> list[str]:
    """The modalities of which every question was asked."""
    asked = (table[QUESTIONS] != NOT_ASKED).groupby(table.modality, sort=False).any()
    return [str(modality) for modality in asked.index[asked.all(axis=1)]]


def holds_role(table: pd.DataFrame, metric: str, role: str) -> bool:
    """Whether a metric has a role in every modality of which everything was asked: recommended, the best or the
    cheapest of the recommended, or not recommended (`CAUTION`)."""
    lists, prices = recommended(table), table.set_index(["modality", "metric"])[PASSES]
    for modality in (every := asked_everything(table)):
        names = lists[modality]
        of_them = prices[modality][names]
        having = {
            RECOMMENDED: names,
            BEST: names[:1],
            CHEAPEST: list(of_them.index[of_them == of_them.min()]),
            CAUTION: [name for name in prices[modality].index if name not in names],
        }
        if metric not in having[role]:
            return False
    return bool(every)


def decisions(table: pd.DataFrame, needs: pd.DataFrame) -> pd.DataFrame:
    """What to use for which need, with accuracy and price; a need whose metric has lost its role says so.

    `needs`: need, metric, role, why (`data/recommendations.csv`).
    """
    rows = []
    for need in needs.to_dict("records"):
        metric = str(need["metric"])
        if not holds_role(table, metric, str(need["role"])):
            why = f"{label(metric)} is no longer {need['role']} in this build"
            rows.append({"you want": need["need"], "use": "–", "why": why})
            continue
        row: dict[str, object] = {"you want": need["need"], "use": label(metric)}
        of_metric = table[table.metric == metric].set_index("modality")
        for modality in asked_everything(table):
            row[f"accuracy, {KINDS[modality]}"] = f"{of_metric[WORSE][modality]:.2f}"
        calls = [f"{of_metric[PASSES][modality]:,.0f}" for modality in asked_everything(table)]
        rows.append(row | {"model calls": " / ".join(calls), "why": need["why"]})
    return pd.DataFrame(rows).fillna("")


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
