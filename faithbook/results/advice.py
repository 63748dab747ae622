"""Which metric of faithfulness to use: the answers of two pages a metric side by side, and what follows in words."""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

from faithbook.results import pointed
from faithbook.results.labels import label
from faithbook.results.side_by_side import BOOK, ITSELF, LITTLE, RANKS, Known

NOT_WORSE = "not worse after misleading"
QUESTIONS = ["tells", "freed of amounts", "is right", NOT_WORSE]
DECIDING = QUESTIONS[:3]
"""What a recommendation needs no *no* to. The last question is about a change, so that it would count against a metric
that tracks the truth best and loses a little, and for one that tracks it badly and gains: the level after misleading
counts instead (`WORSE`)."""
TRACKS, MISLED, WORSE = "tracks the truth", "after misleading", "worse of the two"
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
    """One row per modality and metric: the answer to each of `QUESTIONS`, or that nobody asked; n (of the answer with
    fewest inputs); rank correlation with how true explanations are, on the model trained as usual, on the misled one,
    and the worse of the two; inputs needed, rows an input. The best first: by the answers that decide, then by the
    worse.

    - `telling`: modality, metric, above chance, n, inputs needed, rows an input;
    - `amounts`: modality, metric, against, answer, n (of metrics with controls, the soft ones);
    - `right`: modality, model, metric, answer, n; `lost`: modality, metric, answer, n;
    - `follows`: modality, model, metric, estimate.
    """
    usual = right[right.model == "trained"].set_index(["modality", "metric"])
    tracked = follows.set_index(["model", "modality", "metric"]).estimate
    fooled = lost.set_index(["modality", "metric"])
    rows = []
    for row in telling[telling.metric.isin(known.asking)].to_dict("records"):
        key = (row["modality"], row["metric"])
        freed, n_freed = _freed(amounts, *key, known)
        sizes = [row["n"], n_freed, *(part.n[key] for part in (usual, fooled) if key in part.index)]
        answers = [row["above chance"], freed, _of(usual, key), _of(fooled, key)]
        rows.append(
            {"modality": key[0], "metric": key[1], **dict(zip(QUESTIONS, answers, strict=True))}
            | {"n": min(size for size in sizes if size is not None)}
            | {TRACKS: tracked.get(("trained", *key)), MISLED: tracked.get(("misled by erasure", *key)), WORSE: None}
            | {"inputs needed": row["inputs needed"], "rows an input": row["rows an input"]}
        )
    found = pd.DataFrame(rows).astype({TRACKS: float, MISLED: float})
    found[WORSE] = found[[TRACKS, MISLED]].min(axis=1, skipna=False)
    best = (found[DECIDING] == YES).sum(axis=1) - (found[DECIDING] == NO).sum(axis=1)
    ordered = found.assign(best=best).sort_values(
        ["modality", "best", WORSE], ascending=[True, False, False], ignore_index=True
    )
    return ordered.drop(columns="best")


def _of(frame: pd.DataFrame, key: tuple[str, str]) -> str:
    """An answer; unsure about a metric that was not measured, not asked where nothing was of its modality."""
    if key in frame.index:
        return str(frame.answer[key])
    return UNSURE if key[0] in frame.index.get_level_values("modality") else NOT_ASKED


def _freed(amounts: pd.DataFrame, modality: str, metric: str, known: Known) -> tuple[str, int | None]:
    """Whether a metric tells when amounts are alike, and on how many inputs; one that uses orders alone does."""
    if metric in UNCONTROLLED:
        return UNSURE, None
    if metric not in known.amounts:
        return YES, None
    own = amounts[(amounts.modality == modality) & (amounts.metric == metric) & amounts.against.isin([ITSELF, RANKS])]
    answers = set(own.answer)
    if own.empty:
        return UNSURE, None
    return (YES if answers == {YES} else NO if NO in answers else UNSURE), int(own.n.min())


def in_short(table: pd.DataFrame) -> list[str]:
    """Of each modality, as lines of a list: which metrics are recommended, which are known to fail where, on how many
    inputs that rests.

    Recommended is what no deciding question says *no* to, most say *yes* to, and whose worse rank correlation with the
    truth is at most `LITTLE` below the best one; everywhere, what is of all modalities of which every question was
    asked.
    """
    lines, kept = [], dict[str, set[str]]()
    for modality, part in table.groupby("modality", sort=False):
        asked = [question for question in QUESTIONS if (part[question] != NOT_ASKED).any()]
        deciding = [question for question in asked if question in DECIDING]
        sound = part[~(part[deciding] == NO).any(axis=1)]
        many = (sound[deciding] == YES).sum(axis=1)
        best = sound[many == many.max()] if len(sound) else sound
        best = best[~(best[WORSE] < best[WORSE].max() - LITTLE)]
        if asked == QUESTIONS:
            kept[str(modality)] = set(best.metric)
        failing = "; ".join(
            f"{label(row['metric'])} ({', '.join(q for q in DECIDING if row[q] == NO)})"
            for row in part.to_dict("records")
            if NO in [row[q] for q in DECIDING]
        )
        lines.append(f"- **{modality}**: {_recommended(best, many, len(deciding))} A clear *no*: {failing or 'none'}.")
    if not kept:
        return lines
    everywhere = [label(name) for name in dict.fromkeys(table.metric) if all(name in own for own in kept.values())]
    of = "" if len(kept) == len(lines) else f" asked everything ({' and '.join(kept)})"
    return [*lines, f"- **all of these**{of}: {'; '.join(everywhere) or 'no metric leads everywhere'}."]


def _recommended(best: pd.DataFrame, many: pd.Series, asked: int) -> str:
    if best.empty:
        return "every metric has a *no* somewhere."
    names = ", ".join(f"{label(row['metric'])} ({_level(row)}n = {row['n']})" for row in best.to_dict("records"))
    told = f"no *no*, and *yes* to {many.max()} of the {asked} questions that decide: {names}."
    priced = best.dropna(subset=["rows an input"]).sort_values("rows an input")
    if priced.empty:  # where another run speaks, this one may have priced nothing of the kind
        return told
    cheapest = priced.iloc[0]
    return f"{told} Cheapest of these: {label(cheapest.metric)}, {cheapest['rows an input']:.0f} rows an input."


def _level(row: dict[Any, Any]) -> str:
    """The worse of the two rank correlations, where both were measured."""
    return "" if pd.isna(row[WORSE]) else f"{row[WORSE]:.2f} at worst, "


def answers(table: pd.DataFrame) -> tuple[Any, str]:
    """The answers as a figure, a row a metric, a column what was asked of a modality; and in words."""
    codes = {NO: 0, UNSURE: 1, YES: 2}
    modalities = list(dict.fromkeys(table.modality))
    every = {
        (modality, question): table[table.modality == modality].set_index("metric")[question]
        for modality in modalities
        for question in QUESTIONS
    }
    asked = {key: told for key, told in every.items() if (told != NOT_ASKED).any()}
    wide = pd.DataFrame(asked, index=pd.Index(dict.fromkeys(table.metric), name="metric"))
    columns = [f"{textwrap.fill(question, 9)}\n({modality})" for modality, question in asked]
    names = [label(name) for name in wide.index]
    look = {"cmap": ["#D55E00", "#EEEEEE", "#56B4E9"], "vmin": 0, "vmax": 2, "cbar": False, "linewidths": 1}
    fig, ax = plt.subplots(figsize=(9.5, 6))
    words: dict[str, Any] = {"annot": wide, "fmt": "", "annot_kws": {"size": 8, "color": "black"}}
    sns.heatmap(wide.map(codes.get).astype(float), xticklabels=columns, yticklabels=names, ax=ax, **words, **look)
    pointed.say_cells(ax, wide, names, columns)
    ax.set(xlabel="", ylabel="")
    spoken = "; ".join(f"{label(name)} {', '.join(row)}" for name, *row in wide.itertuples())
    return fig, f"columns {', '.join(columns)}. {spoken}.".replace("\n", " ")
