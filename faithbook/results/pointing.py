"""How well attributions find what people marked, method by method, beside random scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from faithbook.results import figures
from faithbook.results.figures import PALETTE
from faithbook.results.labels import label
from faithbook.results.measured import Measured
from faithbook.results.numbers import listed, spoken

FLOOR = "random"
OBJECTS = {"pointing_game": "higher", "iou": "higher", "auprc": "higher", "astray": "lower"}
"""The metrics of maps on objects, and which way each is better."""


def by_method(found: Measured, metrics: Mapping[str, str]) -> pd.DataFrame:
    """A row for every dataset, method and metric: mean, interval, n, and whether it is clearly better or worse than
    random scores (`beside_random`: better, worse or open); `metrics`: which way each is better."""
    names = ["dataset", "method", "metric"]
    keys = found.frame[names].drop_duplicates().itertuples(index=False, name=None)
    cells = {key: found.cells.mean(**dict(zip(names, key, strict=True))) for key in keys}
    words = []
    for data, one, metric in cells:
        ends = (cells[data, one, metric] - cells[data, FLOOR, metric]).interval()
        low, high = (-ends.high, -ends.low) if metrics[metric] == "lower" else (ends.low, ends.high)
        words.append("" if one == FLOOR else "better" if low > 0 else "worse" if high < 0 else "open")
    return listed(cells, names).assign(beside_random=words)


def wide(table: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
    """Rows of one data set for people: a row a method, best first by the first metric it has, random scores last."""
    rows: list[Any] = list(table.itertuples())
    part = table.assign(cell=[f"{spoken(one)}, {one.n}, {one.beside_random or '–'}" for one in rows])
    cells = part.pivot(index="method", columns="metric", values="cell").reindex(columns=list(metrics))
    by = next(name for name in metrics if name in set(part.metric))
    first = part[part.metric == by].set_index("method").estimate.sort_values(ascending=False)
    cells = cells.loc[[*first.index.drop(FLOOR), FLOOR]].dropna(axis=1, how="all")
    arrows = {metric: f"{label(metric)} {'↓' if better == 'lower' else '↑'}" for metric, better in metrics.items()}
    return cells.rename(columns=arrows).reset_index()


def game(table: pd.DataFrame) -> tuple[Any, str]:
    """The pointing game as a figure, on scenes of one object and of two, a line a method; and in words who is best."""
    shares = table[table.metric.isin(["pointing_game", "astray"])]
    panels = sorted(set(zip(shares.dataset, shares.metric, strict=True)), key=lambda one: (one[0], one[1] == "astray"))
    order = table[table.metric == "pointing_game"].groupby("method").estimate.mean().sort_values().index
    fig, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 4.2), sharey=True, squeeze=False)
    for ax, (name, metric) in zip(axes[0], panels, strict=True):
        part = table[(table.dataset == name) & (table.metric == metric)].set_index("method").reindex(order)
        figures.dots(ax, part.reset_index(), range(len(order)), label=label(metric), colour=PALETTE[metric == "astray"])
        ax.axvline(part.estimate[FLOOR], ls=":", color="0.5")
        ax.set_title(f"{label(name)}: {label(metric)}\n({OBJECTS[metric]} is better)", fontsize="small")
        ax.set_xlim(-0.03, 1.03)
        ax.set_yticks(range(len(order)), [label(one) for one in order])
    real = table[(table.metric == "pointing_game") & (table.method != FLOOR)].sort_values("estimate")
    best: list[Any] = list(real.groupby("dataset").tail(1).itertuples())
    return fig, "; ".join(f"{label(one.dataset)}: {label(one.method)} {one.estimate:.2f}" for one in best)
