"""The figures below the games, for print and for those without scripts; each comes with its words for those who do not
see it.

What is drawn is the data of a game (`faithbook.studies.together.games.show`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.show.figures import OURS, PALETTE, PUBLISHED
from faithbook.show.plots import Drawn
from faithbook.studies.together.games.show import answers_of, letters_of, soft_answers

ACROSS = 4
"""Cells of an image, a side."""


def along(item: Mapping[str, Any], order: Sequence[int], scale: int) -> NDArray[np.float64]:
    """The probability after each step of an order of erasing, from the whole input on; `scale`: what one is.

    >>> along({"p": [10, 8, 5, 1]}, [1, 0], 10).tolist()
    [1.0, 0.5, 0.1]
    """
    gone = np.cumsum([0, *(1 << part for part in order)])
    values: NDArray[np.float64] = answers_of(item)[gone] / scale
    return values


def erased(item: Mapping[str, Any], scale: int, unit: str) -> Drawn:
    """The answers to an item along the orders of its attributions, the best order and the worst; `unit`: what is
    erased."""
    fig, ax = plt.subplots(figsize=(7, 4))
    return fig, _draw_orders(ax, item, scale, unit)


def erased_cells(item: Mapping[str, Any], scale: int) -> Drawn:
    """The same for an image, with its cells at its left."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), width_ratios=[1, 1.5])
    left.imshow(np.reshape(item["grey"], (item["side"], -1)), cmap="gray", extent=(0, ACROSS, ACROSS, 0))
    left.grid(visible=False)
    for border in range(1, ACROSS):
        left.axhline(border, color="#888888", lw=1)
        left.axvline(border, color="#888888", lw=1)
    left.set_xticks(np.arange(ACROSS) + 0.5, "ABCD")
    left.set_yticks(np.arange(ACROSS) + 0.5, range(1, ACROSS + 1))
    return fig, f"An image of a {item['says']} in 4 by 4 cells. " + _draw_orders(right, item, scale, "cell")


def _draw_orders(ax: Any, item: Mapping[str, Any], scale: int, unit: str) -> str:
    """Draw the answers along every order; what this shows, in words."""
    for number, (name, of_method) in enumerate(item["orders"].items()):
        curve_label = f"{name}, {of_method['aopc']:.2f}"
        line = along(item, of_method["order"], scale)
        ax.plot(line, "o-", ms=3, lw=1.2, color=PALETTE[number + 2], label=curve_label)
    for end, value, colour in (("best", "upper", OURS), ("worst", "lower", PUBLISHED)):
        line = along(item, item[end], scale)
        assert abs((line[0] - line[1:]).mean() - item[value]) < 1e-4
        ax.plot(line, "-", lw=3, color=colour, alpha=0.8, label=f"{end} of all orders, {item[value]:.2f}")
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"{unit}s gone")
    ax.set_ylabel(f"probability of {item['says']}")
    ax.legend(fontsize="small", title="AOPC of the order of", loc="center left", bbox_to_anchor=(1, 0.5))
    each_order = "; ".join(f"{name} {of_method['aopc']:.2f}" for name, of_method in item["orders"].items())
    return (
        f"Probability of {item['says']} for {item['text']} while its {item['n']} {unit}s go one after the other, in "
        f"the best of all orders (AOPC {item['upper']:.2f}), in the worst ({item['lower']:.2f}) and in those of five "
        f"attributions: {each_order}."
    )


def soft_game_figure(data: Mapping[str, Any], answers: pd.DataFrame) -> Drawn:
    """The probability against the importance of the word that the game of soft erasure begins with, draw by draw.

    `answers`: what the game was made of, with all digits.
    """
    grid, word = data["grid"], data["words"][data["start"]]
    chosen = soft_answers(answers)[data["start"]]
    draws = chosen.shape[1]
    spread = chosen.max(axis=1) - chosen.min(axis=1)
    fig, ax = plt.subplots(figsize=(7, 3.6))
    ax.plot(np.repeat(grid, draws), chosen.ravel(), "o", ms=4, color=PUBLISHED, alpha=0.5, label="one draw")
    ax.plot(grid, chosen.mean(axis=1), "-", color=OURS, lw=2, label=f"mean of {draws} draws")
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"importance of “{word}”: how much of it stays")
    ax.set_ylabel(f"probability of {data['says']}")
    ax.legend()
    return fig, (
        f"Probability of {data['says']} against the importance of the word {word}, {draws} draws at each of "
        f"{len(grid)} importances. Without the word {chosen[0].mean():.2f}, with it {chosen[-1].mean():.2f}; draws "
        f"differ most at importance {grid[int(spread.argmax())]:.1f}, by {spread.max():.2f}."
    )


def saco_game_figure(data: Mapping[str, Any], *, says: str, coefficient: float) -> Drawn:
    """The image of the game of SaCo in groups, each with its letter, and what the model loses without each."""
    letters, drop = letters_of(data), np.array(data["drop"])
    fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4))
    group_of = np.reshape(data["group"], (data["side"], data["side"]))
    left.imshow(np.reshape(data["grey"], (data["side"], data["side"])), cmap="gray")
    left.imshow(group_of, cmap="viridis_r", alpha=0.45)
    for group, letter in enumerate(letters):
        rows, columns = np.nonzero(group_of == group)
        place = int(((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2).argmin())
        left.text(columns[place], rows[place], letter, color="white", weight="bold", ha="center", va="center")
    left.set_axis_off()
    right.barh(letters[::-1], drop[::-1], color=OURS)
    right.axvline(0, color="#666666", lw=1)
    right.set_xlabel("what the model loses")
    right.set_ylabel("group, most salient on top")
    losses = "; ".join(f"{letter} {value:.2f}" for letter, value in zip(letters, drop, strict=True))
    return fig, (
        f"An image that the model calls {says}, cut into {len(letters)} groups by the salience of {data['method']}, "
        f"and what the model loses when each is erased alone: {losses}. SaCo {coefficient:.2f}."
    )
