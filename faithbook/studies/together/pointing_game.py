"""How well attributions find what people marked, method by method, beside random scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.studies.together.questions import by_cell

FLOOR = "random"
OBJECTS = {"pointing_game": "higher", "iou": "higher", "auprc": "higher", "astray": "lower"}
"""The metrics of maps on objects, and which way each is better."""


def by_method(measured: Scores, metrics: Mapping[str, str]) -> pd.DataFrame:
    """A row for every dataset, method and metric: mean, interval, n, and whether it is clearly better or worse than
    random scores (`beside_random`: better, worse or open); `metrics`: which way each is better."""
    names = ["dataset", "method", "metric"]
    cells, words = by_cell(measured, names), []
    for data, method, metric in cells:
        ends = (cells[data, method, metric] - cells[data, FLOOR, metric]).ours.interval()
        low, high = (-ends.high, -ends.low) if metrics[metric] == "lower" else (ends.low, ends.high)
        word = "open"
        if method == FLOOR:
            word = ""
        elif low > 0:
            word = "better"
        elif high < 0:
            word = "worse"
        words.append(word)
    return listed(cells, names).assign(beside_random=words)


def wide(table: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
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


def game(table: pd.DataFrame) -> Drawn:
    """The pointing game as a figure, on scenes of one object and of two, one line per method; dotted: random scores."""
    shares = table[table.metric.isin(["pointing_game", "astray"])]
    shares = shares.sort_values(["dataset", "metric"], ascending=[True, False])
    better = [OBJECTS[str(metric)] for metric in shares.metric]
    shares["panel"] = [
        f"{label(name)}: {label(metric)}\n({side} is better)"
        for name, metric, side in zip(shares.dataset, shares.metric, better, strict=True)
    ]
    order = table[table.metric == "pointing_game"].groupby("method").estimate.mean().sort_values(ascending=False).index
    shares = pd.concat([shares[shares.method == method] for method in order])
    floors = shares[shares.method == FLOOR].set_index("panel").estimate.to_dict()
    names = {str(method): label(str(method)) for method in order}
    layout = Layout(panel="panel", columns=4, names=names, mark={str(k): v for k, v in floors.items()}, width=9.5)
    return dot_plot(shares, "share of scenes", row="method", layout=layout)
