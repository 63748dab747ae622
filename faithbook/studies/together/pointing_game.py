"""How well attributions find what people marked, method by method, beside random scores: the page
`together_pointing`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.studies.together.questions import better_or_worse, by_cell
from faithlib.catalogue import FAMILIES

FLOOR = "random"
OBJECTS = {"pointing_game": "higher", "iou": "higher", "auprc": "higher", "astray": "lower"}
"""The metrics of maps on objects, and which way each is better."""
MARKED = {name: better for name, better in FAMILIES["plausibility"].directions.items() if name != "average_precision"}
"""The metrics of plausibility for texts and images, and which way each is better."""
CELL = ("dataset", "method", "metric")
WITHOUT_PICTURES = (
    "there are no numbers for images in this copy. The photographs are not on the machine that built this page, or no "
    "model was trained on them. `python -m faithbook.sources.files fetch stamps` brings them (161 MB)."
)


def of_metrics(metrics: Iterable[str]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """A function that takes from values of single inputs those of these metrics."""
    return lambda units: units[units.metric.isin(list(metrics))]


def hits_by_method(measured: Scores, metrics: Mapping[str, str]) -> pd.DataFrame:
    """A row for every dataset, method and metric: mean, interval, n, and whether it is clearly better or worse than
    random scores (`beside_random`: better, worse or open); `metrics`: which way each is better."""
    cells, words = by_cell(measured, CELL), []
    for data, method, metric in cells:
        lead = cells[data, method, metric] - cells[data, FLOOR, metric]
        words.append("" if method == FLOOR else better_or_worse(lead.ours, metrics[metric]))
    return listed(cells, CELL).assign(beside_random=words)


def table_by_method(table: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
    """Rows of one data set for people: one row per method, best first by the first metric it has, random scores
    last."""
    rows: list[Any] = list(table.itertuples())
    part = table.assign(cell=[f"{spoken(row)}, {row.n}, {row.beside_random or '–'}" for row in rows])
    cells = part.pivot(index="method", columns="metric", values="cell").reindex(columns=list(metrics))
    by = next(name for name in metrics if name in part.metric.unique())
    first = part[part.metric == by].set_index("method").estimate.sort_values(ascending=False)
    cells = cells.loc[[*first.index.drop(FLOOR), FLOOR]].dropna(axis=1, how="all")
    arrow = {"lower": "↓", "higher": "↑"}
    heads = {metric: f"{label(metric)} {arrow[better]}" for metric, better in metrics.items()}
    return cells.rename(columns=heads).reset_index()


def pointing_game_figure(table: pd.DataFrame) -> Drawn:
    """The pointing game as a figure, on scenes of one object and of two, one line per method; dotted: random scores."""
    shares = table[table.metric.isin(["pointing_game", "astray"])]
    shares = shares.sort_values(["dataset", "metric"], ascending=[True, False])
    better = [OBJECTS[str(metric)] for metric in shares.metric]
    shares["panel"] = [
        f"{label(name)}:\n{label(metric)}\n({side} is better)"
        for name, metric, side in zip(shares.dataset, shares.metric, better, strict=True)
    ]
    order = table[table.metric == "pointing_game"].groupby("method").estimate.mean().sort_values(ascending=False).index
    shares = pd.concat([shares[shares.method == method] for method in order])
    floors = shares[shares.method == FLOOR].set_index("panel").estimate.to_dict()
    names = {str(method): label(str(method)) for method in order}
    layout = Layout(panel="panel", columns=4, names=names, mark={str(k): v for k, v in floors.items()}, width=9.5)
    return dot_plot(shares, "share of scenes", row="method", layout=layout)


def scenes_in_words(scenes: pd.DataFrame) -> str:
    """What a run looked at, of one data set: scenes, photographs, how often the model is right, and what pointing gets
    by chance; `scenes`: rows of the table `objects_looked_at`."""
    dataset = str(scenes.dataset.iloc[0])
    right, photographs = scenes[scenes.right], scenes.input.str.partition("+")[0].nunique()
    each = ""
    if dataset != "stamps":  # its scenes have one object
        each = " (each is run once for each of its objects, of which at most one can be predicted)"
    return (
        f"- **{label(dataset)}**: this run looked at {len(scenes)} scenes of {photographs} photographs"
        f"{each}; the model answers the class in {len(right)}. The object has "
        f"{right.cells.mean() / right.of.mean():.0%} of the cells on average: what pointing gets by chance."
    )


def in_short(table: pd.DataFrame | None) -> str:
    """The result of the page: how often the best method, and random scores, point to the object."""
    if table is None:
        return WITHOUT_PICTURES
    sentences = []
    for dataset, part in table[table.metric == "pointing_game"].groupby("dataset", sort=False):
        methods, random = part[part.method != FLOOR].sort_values("estimate"), part[part.method == FLOOR].iloc[0]
        best = methods.iloc[-1]
        sentences.append(
            f"on {label(str(dataset))} (n = {part.n.min():.0f}) in a share of {spoken(best, '.2f')} for the best of "
            f"{len(methods)} methods ({label(best.method)}) and of {spoken(random, '.2f')} for random scores"
        )
    return f"How often the highest cell of a map is on the object that it explains: {'; '.join(sentences)}."
