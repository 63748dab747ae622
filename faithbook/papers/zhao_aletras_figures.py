"""What choices change in Zhao & Aletras's metrics, drawn; each figure comes with its words for those who do not see
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.results import figures
from faithbook.results.figures import OURS, PALETTE, PUBLISHED
from faithbook.results.labels import label
from faithbook.results.numbers import ENDS
from faithbook.results.plots import Drawn, Layout, dot_plot


def with_and_without_amounts(orders: pd.DataFrame, metrics: Sequence[str], methods: Sequence[str]) -> Drawn:
    """Diagnosticity of each method, and of the average of all, with min-max amounts and with ranks: one panel per
    metric (metric, method, and of either side its value, low and high, under "min-max" and "ranks")."""
    looks = {"min-max": (PUBLISHED, "D"), "ranks": (OURS, "o")}
    keys, kept = ["metric", "method"], orders[orders.method.isin([*methods, "average"])]
    sides = [
        kept[[*keys, side, f"{side} low", f"{side} high"]].set_axis([*keys, *ENDS], axis=1).assign(amounts=side)
        for side in looks
    ]
    tidy = pd.concat([side[side.metric == metric] for metric in metrics for side in sides])
    names = {name: label(name) for name in (*metrics, *kept["method"])}
    layout = Layout(panel="metric", series="amounts", names=names, looks=looks, mark=0.5)
    return dot_plot(tidy, "diagnosticity", row="method", layout=layout)


def from_theirs(path: pd.DataFrame, theirs: Mapping[tuple[str, str], float], order: Sequence[str]) -> Drawn:
    """From the published value of each metric (`theirs`, by data set and metric) to ours, one panel per data set, one
    row per step in this order (dataset, step, metric, and the estimate with its ends)."""
    datasets, metrics = list(dict.fromkeys(path["dataset"])), list(dict.fromkeys(path["metric"]))
    fig, axes = plt.subplots(1, len(datasets), figsize=(8.5, 5), sharey=True, squeeze=False)
    looks = dict(zip(metrics, zip((PUBLISHED, PALETTE[2], OURS, PALETTE[3]), "sDo^", strict=True), strict=False))
    clauses = []
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
            clauses.append(f"{label(name)}, {label(metric)}: published {first:.2f}, {steps}")
        ax.axvline(0.5, color="#666666", ls=":", lw=1)
        ax.set(title=label(name), xlabel="diagnosticity", xlim=(0, 1.02))
    axes.flat[0].set_yticks(np.arange(len(order) + 1)[::-1], ["published", *order])
    figures.legend(fig)
    return fig, f"Line charts, one panel per data set, one row per step, one line per metric. {'; '.join(clauses)}."


def effects(changes: pd.DataFrame, metrics: Sequence[str], names: Mapping[str, str]) -> Drawn:
    """What each variant (of `names`, with its words) changes of the mean score and of diagnosticity, up to four metrics
    a row (variant, choice, metric, score, change, and their ends)."""
    panels = {
        "change of the mean score": ["score", "score low", "score high"],
        "change of diagnosticity": ["change", "low", "high"],
    }
    keys = ["variant", "metric"]
    ordered = pd.concat([changes[(changes.variant == name) & changes.metric.isin(metrics)] for name in names])
    tidy = pd.concat(
        [ordered[[*keys, *of]].set_axis([*keys, *ENDS], axis=1).assign(panel=panel) for panel, of in panels.items()]
    )
    words = {**names, **{metric: label(metric) for metric in metrics}}
    layout = Layout(panel="panel", series="metric", names=words, mark=0.0, shared=False)
    return dot_plot(tidy, "other choice minus ours", row="variant", layout=layout)
