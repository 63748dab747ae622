"""What choices change in Zhao & Aletras's metrics, drawn; each figure comes with its words for those who do not see
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.results import figures
from faithbook.results.figures import OURS, PALETTE, PUBLISHED
from faithbook.results.labels import label

Drawn = tuple[Any, str]
"""A figure and its alternative text."""


def with_and_without_amounts(orders: pd.DataFrame, metrics: Sequence[str], methods: Sequence[str]) -> Drawn:
    """Diagnosticity of each method, and of the average of all, with min-max amounts and with ranks: a panel a metric
    (metric, method, and of either side its value, low and high, under "min-max" and "ranks")."""
    rows = [*methods, "average"]
    fig, axes = plt.subplots(1, 2, figsize=(8, 0.5 * len(rows) + 1.5), sharex=True, sharey=True)
    places = np.arange(len(rows))[::-1]
    sides = {"min-max": (PUBLISHED, "D", 0.14), "ranks": (OURS, "o", -0.14)}
    for ax, metric in zip(axes, metrics, strict=True):
        part = orders[orders.metric == metric]
        for side, (colour, marker, shift) in sides.items():
            columns, name = (side, f"{side} low", f"{side} high"), f"amounts: {side}"
            at = places + shift
            figures.dots(ax, part, at, columns=columns, width=1.5, colour=colour, marker=marker, label=name)
        ax.axvline(0.5, color="#666666", ls=":", lw=1)
        ax.set(title=label(metric), xlabel="diagnosticity", xlim=(0, 1.03))
    axes[0].set_yticks(places, [label(name) for name in rows])
    figures.legend(fig)
    mean = orders[orders.method == "average"].set_index("metric")
    told = "; ".join(f"{label(m)} from {mean['min-max'][m]:.2f} to {mean.ranks[m]:.2f}" for m in metrics)
    return fig, (
        "Paired dot plot with intervals, a panel a soft metric, a row an attribution method and their average: "
        f"diagnosticity with min-max amounts and with equal amounts. Averages: {told}"
    )


def from_theirs(path: pd.DataFrame, theirs: Mapping[tuple[str, str], float], order: Sequence[str]) -> Drawn:
    """From the published value of each metric (`theirs`, by data set and metric) to ours, one panel per data set, one
    row per step in this order (dataset, step, metric, and the estimate with its ends)."""
    datasets, metrics = list(dict.fromkeys(path["dataset"])), list(dict.fromkeys(path["metric"]))
    fig, axes = plt.subplots(1, len(datasets), figsize=(8.5, 5), sharey=True, squeeze=False)
    looks = dict(zip(metrics, zip((PUBLISHED, PALETTE[2], OURS, PALETTE[3]), "sDo^", strict=True), strict=False))
    said = []
    for ax, name in zip(axes.flat, datasets, strict=True):
        for metric, (colour, marker) in looks.items():
            part = (
                path[(path["dataset"] == name) & (path["metric"] == metric)].set_index("step").reindex(order).dropna()
            )
            places = np.array([len(order) - 1 - order.index(step) for step in part.index])
            first, rows = theirs[name, metric], part.reset_index()
            ax.plot([first, *rows["estimate"]], [len(order), *places], color=colour, lw=1, alpha=0.6)
            ax.plot(first, len(order), color=colour, marker=marker, mfc="white", ls="")
            figures.dots(ax, rows, places, colour=colour, marker=marker, label=label(metric))
            steps = ", ".join(f"{step} {value:.2f}" for step, value in part["estimate"].items())
            said.append(f"{label(name)}, {label(metric)}: published {first:.2f}, {steps}")
        ax.axvline(0.5, color="#666666", ls=":", lw=1)
        ax.set(title=label(name), xlabel="diagnosticity", xlim=(0, 1.02))
    axes.flat[0].set_yticks(np.arange(len(order) + 1)[::-1], ["published", *order])
    figures.legend(fig)
    return fig, f"Line charts, one panel per data set, one row per step, one line per metric. {'; '.join(said)}."


def effects(found: pd.DataFrame, metrics: Sequence[str], names: Mapping[str, str]) -> Drawn:
    """What each variant (of `names`, with its words) changes of the mean score and of diagnosticity, up to four metrics
    a row (variant, choice, metric, score, change, and their ends)."""
    fig, axes = plt.subplots(1, 2, figsize=(8, 0.72 * len(names) + 1.6), sharey=True)
    place = {name: -i for i, name in enumerate(names)}
    for ax, columns in zip(axes, (("score", "score low", "score high"), ("change", "low", "high")), strict=True):
        for shift, metric, colour, marker in zip((0.27, 0.09, -0.09, -0.27), metrics, PALETTE, "oDs^", strict=False):
            part = found[found.metric == metric]
            at = part.variant.map(place) + shift
            look: dict[str, Any] = {"colour": colour, "marker": marker, "label": label(metric)}
            figures.dots(ax, part, at, columns=columns, width=1.8, ms=5, **look)
        ax.axvline(0, color="#666666", ls=":", lw=1)
        ax.grid(axis="y", visible=False)
    axes[0].set_yticks(list(place.values()), list(names.values()))
    axes[0].set_xlabel("change of the mean score")
    axes[1].set_xlabel("change of diagnosticity")
    figures.legend(fig)
    largest = found.loc[found.change.abs().sort_values(ascending=False).index[:3]]
    told = "; ".join(f"{r.choice}, {label(str(r.metric))} {r.change:+.2f}" for r in largest.itertuples())
    return fig, (
        f"Dot plot with intervals, one row for each of {len(names)} exchanged choices, four metrics each: change of "
        f"the mean score on the left, of diagnosticity on the right. Largest changes of diagnosticity: {told}."
    )
