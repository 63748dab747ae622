"""The toolkit's methods under its nine metrics on data of its tasks: tables, figure and sentences of the page.

Means come as dicts by data set, method and metric (`CELL`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import spoken
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.stats.estimate import Estimate
from faithbook.studies.together import questions
from faithlib.catalogue import METRICS

Means = dict[tuple[str, ...], Estimate]
"""Means over inputs by data set, method and metric."""

CELL = ("dataset", "method", "metric")
RANDOM = "random"
GROUPS = {
    "faithfulness": ("soft_ns", "soft_nc", "n_auc", "autpc"),
    "plausibility": ("token_f1", "iou_f1", "auprc"),
    "complexity": ("complexity", "sparseness"),
}
UNLIMITED = ("soft_ns", "soft_nc", "complexity")
"""Metrics whose values have no range, so that their intervals have no end to stop at; those of the others stop at 0 and
1."""
BOUNDS = (
    ((0, 1), tuple(name for names in GROUPS.values() for name in names if name not in UNLIMITED)),
    ((-math.inf, math.inf), UNLIMITED),
)
NAMES = {"nli": "XNLI", "xnli": "XNLI"}
"""Data sets whose name for people is not that of other pages: the sentence pairs of XNLI in English."""
WITHOUT_TEXTS = (
    "there are no numbers here. Neither the reviews (`movies`) nor the pairs (`snli`, `xnli`) of the toolkit's tasks "
    "are on the machine that built this page, and the reference has none of them. What follows says only how it would "
    "be."
)


def data_name(dataset: str) -> str:
    """The name of a data set for people.

    >>> data_name("nli"), data_name("reviews")
    ('XNLI', 'MovieReviews')
    """
    return NAMES.get(dataset, label(dataset))


def of_metrics(metrics: Sequence[str]) -> Any:
    """A function that takes from values of single inputs those of these metrics."""
    return lambda units: units[units.metric.isin(metrics)]


def means_by_cell(sources: Sequence[Scores]) -> Means:
    """The mean of every data set, method and metric; each metric is measured by one of the sources."""
    means: Means = {}
    for source in sources:
        cells = source.frame.dropna(subset="value")[list(CELL)].drop_duplicates()
        for cell in cells.itertuples(index=False, name=None):
            means[cell] = source.cells.mean(**dict(zip(CELL, cell, strict=True)))
    return means


def methods_in_order(means: Mapping[tuple[str, ...], Estimate]) -> list[str]:
    """The methods, random scores last."""
    methods = dict.fromkeys(method for _, method, _ in means)
    return [*(method for method in methods if method != RANDOM), RANDOM]


def means_by_family(table: pd.DataFrame, methods: Sequence[str]) -> dict[tuple[str, str], pd.DataFrame]:
    """One table per data set and family of metrics, one row per method, for people; those without values left out.

    `table`: means with their intervals in rows.
    """
    tables = {}
    for dataset in table.dataset.unique():
        for group, metrics in GROUPS.items():
            part = table[(table.dataset == dataset) & table.metric.isin(metrics)]
            if part.empty:
                continue
            part = part.assign(cell=[f"{spoken(row)}, {row.n}" for row in part.itertuples()])
            wide = part.pivot(index="method", columns="metric", values="cell")
            wide = wide.reindex(index=list(methods), columns=list(metrics)).fillna("–")
            tables[str(dataset), group] = wide.rename(columns=questions.with_arrow).reset_index()
    return tables


def toolkit_figure(table: pd.DataFrame, methods: Sequence[str]) -> Drawn:
    """Every method under every metric, one panel per metric."""
    metrics = [name for names in GROUPS.values() for name in names]
    order = [*metrics, *methods]
    tidy = table[table.metric.isin(metrics)]
    tidy = tidy.sort_values(["metric", "method"], key=lambda names: names.map(order.index), kind="stable")
    names = {method: label(method) for method in methods}
    names |= {str(name): data_name(str(name)) for name in table.dataset.unique()}
    names |= {metric: f"{label(metric)} ({METRICS[metric]} is better)" for metric in metrics}
    layout = Layout(panel="metric", series="dataset", columns=3, names=names, shared=False, width=9.5)
    return dot_plot(tidy, "mean", row="method", layout=layout)


def methods_beside_random(means: Mapping[tuple[str, ...], Estimate]) -> pd.DataFrame:
    """Which methods are clearly better than random scores, which clearly worse, and of which it is open, by data set
    and metric, metrics of a family together."""
    datasets = dict.fromkeys(dataset for dataset, _, _ in means)
    metrics = [metric for names in GROUPS.values() for metric in names]
    rows = []
    for dataset, metric in itertools.product(datasets, metrics):
        if (dataset, RANDOM, metric) not in means:
            continue
        names: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
        methods = [method for data, method, name in means if (data, name) == (dataset, metric) and method != RANDOM]
        for method in methods:
            lead = means[dataset, method, metric] - means[dataset, RANDOM, metric]
            names[questions.better_or_worse(lead, METRICS[metric])].append(label(method))
        words = {word: ", ".join(of_word) or "–" for word, of_word in names.items()}
        rows.append({"dataset": dataset, "metric": metric, **words})
    return pd.DataFrame(rows)


def beside_random_in_words(beside: pd.DataFrame) -> pd.DataFrame:
    """The table of `methods_beside_random` with names for people."""
    return beside.assign(dataset=beside.dataset.map(data_name), metric=beside.metric.map(label)).rename(
        columns={"dataset": "data"}
    )


def data_in_words(dataset: str, texts: Scores, settings: Mapping[str, Any]) -> str:
    """What the texts of a data set are, and how often the model is right about them; `settings`: those of the run."""
    words, cut, right = (texts.mean(dataset=dataset, metric=name).ours for name in ("words", "cut", "right"))
    marked = texts.frame[(texts.frame.dataset == dataset) & (texts.frame.metric == "marked")].value
    marks = "Nobody marked words." if marked.empty else f"People marked {marked.mean():.0%} of a text's words."
    model = settings["model"]
    whose = ", a small one of ours" if model.startswith("local:") else ""
    return (
        f"- **{data_name(dataset)}**: {words.n} inputs of {words.point:.0f} words on average, cut at "
        f"{settings['longest']} wordpieces ({cut.point:.0%} of the inputs lose their end). {marks} Model: "
        f"`{model}`{whose}. It classified {right.n} texts, {right.point:.0%} of them correctly; the inputs "
        "are from these."
    )


def in_short(means: Mapping[tuple[str, ...], Estimate]) -> str:
    """The result of the page: the method with the lowest N-AUC on each data set, beside random scores."""
    if not means:
        return WITHOUT_TEXTS
    sentences = []
    for dataset in dict.fromkeys(dataset for dataset, _, _ in means):
        curves = {method: mean for (data, method, name), mean in means.items() if (data, name) == (dataset, "n_auc")}
        lowest = min(curves, key=lambda method: curves[method].point)
        sentences.append(
            f"{spoken(curves[lowest], '.2f')} ({label(lowest)}) and {spoken(curves[RANDOM], '.2f')} on "
            f"{data_name(dataset)} (n = {curves[RANDOM].n})"
        )
    return "The lowest N-AUC (lower is better), and that of random scores, are " + "; ".join(sentences) + "."
