"""The map of metrics by conditions as a figure, and the words of its levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from faithbook.safe import choice, design
from faithbook.show import figures, hover
from faithbook.show.labels import label
from faithbook.show.tables import short

ERRORS = {
    "never": "never",
    "light": "up to 20 %\nerased",
    "middle": "20 to 50 %\nerased",
    "heavy": "over 50 %\nerased",
    "third": "over 33 %\nerased",
    "feature": "one other\nfeature gone",
    "random_tenth": "10 % of\ncopies",
    "random_third": "33 % of\ncopies",
}
"""When a model errs, as the map heads its columns."""
CASES = {
    choice.KNOWN: "yes: the model reads erased inputs rightly",
    choice.UNKNOWN: "no: it may misread them, not on purpose",
    choice.ADVERSARIAL: "it may be made to mislead",
}
REASONS = {choice.SINGLE: "single words, each counting alone", choice.ANY: "unknown, or combinations"}
KINDS = {"text": "texts", "vision": "small images"}
LOWEST = "lowest"
_DARK_BELOW = 0.55
"""Numbers on cells below this are white: the colours run from dark (fails) to light (follows the truth)."""


def error_in_words(kind: str) -> str:
    """When a model errs, on one line."""
    return ERRORS[kind].replace("\n", " ")


def price_in_words(most: float) -> str:
    """A limit of the price, in model calls."""
    return f"up to {most:,.0f}" if most < max(design.plan()["choice"]["prices"]) else "any"


def map_rows(table: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Rank correlations by metric (in this order) and kind of error, and the lowest of each metric."""
    wide = table.pivot(index="metric", columns="error", values="estimate").loc[list(order), list(ERRORS)]
    wide[LOWEST] = wide.min(axis=1)
    return wide


def drawn_map(wide: pd.DataFrame, prices: Mapping[str, float]) -> tuple[Any, str]:
    """The figure and its alternative text: a cell for each metric and kind of error, and the lowest of the row."""
    names = [f"{label(name)}  ({prices[name]:.0f})" for name in wide.index]
    heads = [*ERRORS.values(), "lowest\nof all"]
    fig, (ax,) = figures.panels(1, 1, height=0.31 * len(wide) + 1.2, width=8.5)
    edges = np.append(np.arange(len(ERRORS) + 1, dtype=float), [len(ERRORS) + 0.25, len(ERRORS) + 1.25])
    values = np.insert(wide.to_numpy(dtype=float), len(ERRORS), np.nan, axis=1)
    ax.pcolormesh(edges, np.arange(len(wide) + 1), values, cmap="cividis", vmin=0, vmax=1, edgecolors="white", lw=1)
    centres = [*(i + 0.5 for i in range(len(ERRORS))), len(ERRORS) + 0.75]
    for row, numbers in enumerate(wide.to_numpy(dtype=float)):
        for x, value in zip(centres, numbers, strict=True):
            ink = "white" if value < _DARK_BELOW else "black"
            ax.text(x, row + 0.5, short(value), ha="center", va="center", color=ink, fontsize=8)
        texts = [
            f"{names[row]}, {head.replace(chr(10), ' ')}\n{value:.2f}"
            for head, value in zip(heads, numbers, strict=True)
        ]
        hover.say(ax, centres, row + 0.5, texts)
    ax.set_xticks(centres, heads, fontsize=7.5)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_xlabel("the model errs on: (never; by how much is erased; by what is erased)", fontsize=9)
    ax.set_yticks(np.arange(len(wide)) + 0.5, names, fontsize=8)
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return fig, map_in_words(wide)


def map_in_words(wide: pd.DataFrame) -> str:
    """The map for who cannot see it: best and worst by column, and the metrics at both ends of the last one."""
    columns = []
    for kind in ERRORS:
        best, worst = str(wide[kind].idxmax()), str(wide[kind].idxmin())
        columns.append(
            f"{error_in_words(kind)}: highest {label(best)} {short(wide[kind].max())}, lowest {label(worst)} "
            f"{short(wide[kind].min())}"
        )
    ordered = wide[LOWEST].sort_values(ascending=False)
    ends = [
        f"{label(str(name))} {short(value)}" for name, value in [*ordered.head(3).items(), *ordered.tail(3).items()]
    ]
    return (
        f"A map of {len(wide)} metrics by {len(ERRORS)} kinds of error, rank correlation with the truth in each cell. "
        f"{'; '.join(columns)}. Lowest over all kinds: best three {', '.join(ends[:3])}; worst three "
        f"{', '.join(ends[3:])}."
    )
