"""Which metric of faithfulness to use: the answers of two pages a metric side by side, and what follows in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from faithbook.judge.sentences import quotable_rows
from faithbook.show.labels import label
from faithbook.show.tables import rounded
from faithbook.studies.together.questions import BOOK, ITSELF, KINDS, RANKS, Known

NOT_WORSE = "not worse after misleading"
QUESTIONS = ["separates", "without mean importance", "prefers the truth", NOT_WORSE]
DECIDING = QUESTIONS[:3]
"""What a recommendation needs no *no* to. The last question is about a change, so that it would count against a metric
that tracks the truth best and loses a little, and for one that tracks it badly and gains: the level after misleading
counts instead (`WORSE`)."""
TRACKS, MISLED, WORSE = "tracks the truth", "after misleading", "worse of the two"
MODELS = ("trained", "misled by erasure")
"""The trained models whose rank correlations the page shows: as usual, and misled."""
PASSES = "model calls per input"
"""The column of a metric's price: forward passes of the model for one explanation of one input."""
WHOLE = 1
"""The pass on the input as it is, which a run counts; a price leaves it out, for all metrics need it."""
YES, NO, UNSURE, NOT_ASKED = "yes", "no", "unsure", "not tested"
UNCONTROLLED = ("saco",)
"""Metrics that use how high scores are and have no control for it: whether they do without is not tested."""
SPELT_OUT = {
    "SRG": "symmetric relevance gain: AOPC with the most relevant features first minus AOPC with the least relevant "
    "first"
}
"""What the names of recommended metrics stand for."""


def advice_table(
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
    usual, fooled = right[right.model == MODELS[0]].set_index(keys), lost.set_index(keys)
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
    for name, model in zip((TRACKS, MISLED), MODELS, strict=True):
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


def quotable_advice(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and price of every metric, for sentences of other pages (`sentences.quotable_rows`)."""
    named = {WORSE: "worse of the two", PASSES: "passes"}
    numbers = {
        f"{label(row['metric'])}, {row['modality']}: {name}": row[column]
        for row in table.to_dict("records")
        for column, name in named.items()
        if not pd.isna(row[column])
    }
    return quotable_rows("advice", numbers)


# -------------------------------------------------------------------------------------------------- for people who read
def planted_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of texts and small images; where truth is unknown (photographs) there is nothing to show."""
    planted = table[table.modality.isin(KINDS)]
    columns = {"kind": planted.modality.map(KINDS), "metric": planted.metric.map(label)}
    columns |= {question: planted[question] for question in QUESTIONS}
    columns |= {name: planted[name].map(lambda value: rounded(value, 2)) for name in (TRACKS, MISLED)}
    for name, head in (("inputs needed", "inputs to separate"), (PASSES, "model calls")):
        columns[head] = planted[name].map(lambda number: rounded(number, 0))
    return pd.DataFrame(columns).assign(n=planted.n.astype(str))


def in_short(use: pd.DataFrame) -> str:
    """The recommendation for somebody with one model, and the needs that no metric meets; `use`: what to use for which
    need (`faithbook.studies.safe.advice.what_to_use`)."""
    first, unmet = use.iloc[0], use[use["safe"] == "no"]["you want"]
    unsafe = f" In general no metric is safe for {'; '.join(unmet)}." if len(unmet) else ""
    return (
        f"If you have one model and do not know how it reads erased inputs, **use {first['use']}, next to random "
        f"scores on the same inputs** ({SPELT_OUT.get(first['use'], 'defined in *The metrics*')}). Its rank "
        f"correlation with how true explanations are is {first['rank correlation']} under the kind of misreading that "
        f"hurts it most, if nobody made the model to mislead.{unsafe}"
    )


def best_of_all_kinds(lowest: pd.DataFrame) -> str:
    """Which metric is best if every kind of misreading counts, those made on purpose included, and what SRG has then;
    `lowest`: of each metric, over all kinds."""
    best, srg = lowest.nlargest(1, "estimate").iloc[0], lowest[lowest.metric == "srg"].iloc[0]
    return (
        f"If every kind of misreading counts, also one made on purpose, the best metric is {label(best.metric)}: its "
        f"lowest rank correlation is {_with_ends(best)}; that of SRG is {_with_ends(srg)}. Of the metrics within 0.05 "
        "of the best the table takes the cheapest."
    )


def cost_of_srg(table: pd.DataFrame) -> str:
    """What SRG costs on texts as long as those that were measured."""
    row = table[(table.modality == "text") & (table.metric == "aopc_morf")].iloc[0]
    calls = row[PASSES]
    return (
        f"**What it costs.** SRG needs both directions of AOPC, $2n - 1$ forward passes for n words: {calls:.0f} for "
        f"{(calls + 1) / 2:.0f} words. 200 texts of this length with three methods and random scores take 200 × 4 × "
        f"{calls:.0f} = {200 * 4 * calls:,.0f} passes, in addition to one per text and to those of the methods "
        "themselves."
    )


def on_photographs(table: pd.DataFrame) -> str:
    """How many metrics get a yes on photographs, of the two questions that can be answered there; "" without any."""
    photographs = table[table.modality == "photographs"]
    if photographs.empty:
        return ""
    separate, free = ((photographs[question] == YES).sum() for question in QUESTIONS[:2])
    return (
        f"On photographs only the first two questions can be answered: {separate} and {free} of {len(photographs)} "
        f"metrics get a *yes* (n = {photographs.n.min()} to {photographs.n.max()} images)."
    )


def why_not_n_auc(follows: pd.DataFrame, lowest: pd.DataFrame) -> str:
    """Why N-AUC is not recommended, although it follows the truth best on the trained models of the page: `follows` has
    its rank correlations there, `lowest` its lowest over all kinds of misreading."""
    tracked = follows[(follows.metric == "n_auc") & follows.model.isin(MODELS)].estimate
    worst, srg = (lowest[lowest.metric == metric].iloc[0] for metric in ("n_auc", "srg"))
    return (
        f"**Why not N-AUC?** Its rank correlation with the truth is {rounded(tracked.min(), 2)} to "
        f"{rounded(tracked.max(), 2)} in this table, because it uses only copies of which at most a fifth is erased, "
        "and the misled model errs once more than a third is. A model that errs on lightly erased copies misleads it: "
        f"its lowest value over all kinds of misreading of {{doc}}`safe_map` is {_with_ends(worst)}, that of SRG over "
        f"the same kinds {_with_ends(srg)}."
    )


def _with_ends(row: pd.Series) -> str:
    return f"{rounded(row.estimate, 2)} [{rounded(row.low, 2)}, {rounded(row.high, 2)}]"
