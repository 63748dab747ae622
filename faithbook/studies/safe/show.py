"""The map of metrics by conditions as a figure, and the words of its levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from faithbook.show import figures, hover
from faithbook.show.labels import label
from faithbook.show.tables import rounded
from faithbook.studies.safe import choice, design
from faithbook.text import joined

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
LOWEST = "lowest"
_GAP = 0.15
_DARK_BELOW = 0.55
"""Numbers on cells below this are white: the colours run from dark (fails) to light (follows the truth)."""


def error_in_words(kind: str) -> str:
    """When a model errs, on one line."""
    return ERRORS[kind].replace("\n", " ")


def price_in_words(most: float) -> str:
    """A limit of the price, in model calls."""
    return f"up to {most:,.0f}" if most < max(design.declared_plan()["choice"]["prices"]) else "any"


def with_ends(
    row: Mapping[Any, Any] | pd.Series, estimate: str = "estimate", low: str = "low", high: str = "high"
) -> str:
    """A number of a table with the ends of its interval, by the names of its columns.

    >>> with_ends({"estimate": 0.712, "low": 0.7, "high": 0.73})
    '0.71 [0.70, 0.73]'
    """
    return f"{rounded(row[estimate], 2)} [{rounded(row[low], 2)}, {rounded(row[high], 2)}]"


def design_in_words(named: str) -> str:
    """What `choice.by_design` names of a chosen metric, with the kinds of error as the map calls them."""
    parts = []
    for part in named.split("; "):
        head, _, kinds = part.partition(": ")
        words = joined(f"*{error_in_words(kind)}*" for kind in kinds.split(", ") if kind)
        parts.append(head if words == "none" else f"{head}: {words}")
    return "; ".join(parts)


def map_rows(table: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Rank correlations by metric (in this order) and kind of error, and the lowest of each metric."""
    wide = table.pivot(index="metric", columns="error", values="estimate").loc[list(order), list(ERRORS)]
    wide[LOWEST] = wide.min(axis=1)
    return wide


def drawn_map(wide: pd.DataFrame, prices: Mapping[str, float]) -> tuple[Any, str]:
    """The figure and its alternative text: a cell for each metric and kind of error, and the lowest of the row."""
    names = [f"{label(str(name))}  ({prices[str(name)]:.0f})" for name in wide.index]
    heads = [*ERRORS.values(), "lowest\nof all"]
    groups = [kind in design.declared_plan()["errors"]["by_content"] for kind in ERRORS]
    fig, (ax,) = figures.panels(1, 1, height=0.31 * len(wide) + 1.4, width=8.5)
    # A gap after "never", between the two groups of errors, and before the lowest.
    starts = np.array([i + _GAP * (i > 0) + _GAP * groups[i] for i in range(len(ERRORS))])
    starts = np.append(starts, starts[-1] + 1 + _GAP)
    values = wide.to_numpy(dtype=float)
    for column, start in enumerate(starts):
        of_column = values[:, [column]]
        rows = np.arange(len(wide) + 1)
        ax.pcolormesh([start, start + 1], rows, of_column, cmap="cividis", vmin=0, vmax=1, edgecolors="white", lw=1)
    centres = starts + 0.5
    for row, numbers in enumerate(values):
        for x, value in zip(centres, numbers, strict=True):
            ink = "white" if value < _DARK_BELOW else "black"
            ax.text(x, row + 0.5, rounded(value, 2), ha="center", va="center", color=ink, fontsize=8)
        texts = [
            f"{names[row]}, {head.replace(chr(10), ' ')}\n{value:.2f}"
            for head, value in zip(heads, numbers, strict=True)
        ]
        hover.say(ax, centres, row + 0.5, texts)
    amount = [x for x, by_content in zip(centres[1:], groups[1:], strict=False) if not by_content]
    content = [x for x, by_content in zip(centres, groups, strict=False) if by_content]
    for members, words in ((amount, "errs by how much is erased"), (content, "errs by what is erased")):
        ax.text(np.mean(members), -1.45, words, ha="center", va="bottom", fontsize=9, weight="bold")
        ax.plot([members[0] - 0.5, members[-1] + 0.5], [-1.35, -1.35], color="black", lw=1, clip_on=False)
    ax.set_xticks(centres, heads, fontsize=7.5)
    ax.xaxis.tick_top()
    ax.set_yticks(np.arange(len(wide)) + 0.5, names, fontsize=8)
    ax.set_ylim(len(wide), 0)
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
            f"{error_in_words(kind)}: highest {label(best)} {rounded(wide[kind].max(), 2)}, lowest {label(worst)} "
            f"{rounded(wide[kind].min(), 2)}"
        )
    ordered = wide[LOWEST].sort_values(ascending=False)
    ends = [
        f"{label(str(name))} {rounded(value, 2)}"
        for name, value in [*ordered.head(3).items(), *ordered.tail(3).items()]
    ]
    return (
        f"A map of {len(wide)} metrics by {len(ERRORS)} kinds of error, rank correlation with the truth in each cell. "
        f"{'; '.join(columns)}. Lowest over all kinds: best three {', '.join(ends[:3])}; worst three "
        f"{', '.join(ends[3:])}."
    )
