"""The one figure of each study's overview, with its words for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.results import figures
from faithbook.results.figures import OURS, PALETTE, PUBLISHED
from faithbook.results.numbers import ends_of
from faithbook.results.paired import Paired

Drawn = tuple[Any, str]
"""A figure and its alternative text."""


def dots(rows: Mapping[str, Paired], *, xlabel: str, bands: Mapping[str, Paired] | None = None) -> Drawn:
    """Published against ours, one line per row, ours with its interval; `bands`: intervals of baselines, as
    upright bands with their names."""
    fig, ax = plt.subplots(figsize=(7.5, 0.36 * len(rows) + 1.4))
    places = np.arange(len(rows))[::-1]
    frame = pd.DataFrame([{"published": one.published, **ends_of(one)} for one in rows.values()])
    for (name, band), colour in zip((bands or {}).items(), PALETTE[2:], strict=False):
        ends = band.ours.interval()
        ax.axvspan(ends.low, ends.high, color=colour, alpha=0.3, lw=0, label=f"{name}, {ends.estimate:.2f}")
    ax.hlines(places, frame[["published", "estimate"]].min(axis=1), frame[["published", "estimate"]].max(axis=1),
              color="#bbbbbb", lw=1, zorder=1)  # fmt: skip
    ax.plot(frame["published"], places, ls="", marker="D", color=PUBLISHED, label="published")
    figures.dots(ax, frame, places, colour=OURS, label="ours, 95 % interval")
    ax.axvline(0, color="#666666", ls=":", lw=1)
    ax.set_yticks(places, list(rows))
    ax.set_xlabel(xlabel)
    figures.legend(fig)
    each = "; ".join(f"{name}: {one.published:.2f}, {one.ours.point:.2f}" for name, one in rows.items())
    of_bands = "; ".join(f"{name} {band.ours.point:.2f}" for name, band in (bands or {}).items())
    text = f"Dot plot of {xlabel}, one row per method: published, ours. {each}."
    return fig, f"{text} Bands: {of_bands}." if of_bands else text


def ranges(limits: Mapping[str, tuple[float, float]], within: Mapping[str, Sequence[float]], *, ylabel: str) -> Drawn:
    """What is possible as an upright bar per model, and what methods reach as dots on it."""
    fig, ax = plt.subplots(figsize=(7.5, 3.6))
    for place, (name, (low, high)) in enumerate(limits.items()):
        ax.bar(
            place, high - low, 0.55, bottom=low, color=PUBLISHED, alpha=0.45, label=None if place else "possible AOPC"
        )
        spread = place + np.linspace(-0.2, 0.2, len(within[name]))
        ax.plot(spread, within[name], ls="", marker="o", ms=4, color=OURS, label=None if place else "ten methods")
    ax.axhline(0, color="#666666", ls=":", lw=1)
    ax.set_xticks(range(len(limits)), [name.replace(" ", "\n", 1) for name in limits])
    ax.set(ylabel=ylabel, ylim=(min(low for low, _ in limits.values()) - 0.03, None))
    ax.grid(axis="x", visible=False)
    figures.legend(fig)
    each = "; ".join(
        f"{name}: possible {low:.2f} to {high:.2f}, methods {min(within[name]):.2f} to {max(within[name]):.2f}"
        for name, (low, high) in limits.items()
    )
    return fig, f"Upright bars of the possible {ylabel} per model with ten methods as dots. {each}."


def slopes(
    panels: Mapping[str, Mapping[str, tuple[float, float]]], colours: Mapping[str, str], *, ylabel: str
) -> Drawn:
    """Before and after, one line per metric and one panel per kind of input; `colours`: the kind of each metric."""
    kinds = dict(zip(dict.fromkeys(colours.values()), ((OURS, "o"), (PUBLISHED, "s"), ("#888888", "^")), strict=False))
    fig, axes = plt.subplots(1, len(panels), figsize=(8.5, 5), sharey=True, squeeze=False)
    by_panel = []
    for ax, (panel, metrics) in zip(axes.flat, panels.items(), strict=True):
        for name, ends in metrics.items():
            colour, marker = kinds[colours[name]]
            ax.plot((0, 1), ends, color=colour, marker=marker, lw=1.3, ms=4, alpha=0.8)
        ax.set_xticks((0, 1), ("trained\nas usual", "misled\nby erasure"))
        ax.set(title=panel, xlim=(-0.2, 1.2))
        by_panel.append(f"{panel}: " + "; ".join(f"{name} {a:.2f} to {b:.2f}" for name, (a, b) in metrics.items()))
    axes.flat[0].set_ylabel(ylabel)
    for kind, (colour, marker) in kinds.items():
        axes.flat[0].plot([], [], color=colour, marker=marker, label=kind)
    figures.legend(fig)
    return (
        fig,
        f"Slope charts of the {ylabel}, one line per metric, before and after misleading. {'. '.join(by_panel)}.",
    )
