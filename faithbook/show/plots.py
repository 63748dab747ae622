"""Two plots of tidy frames: dots with intervals, lines with bands; and the plot of claims. Their alternative text comes
from the frame.

A frame has a row for each point: `estimate`, `low` and `high` (NaN or left out where there is no interval, as of a
published value), and columns that say where it belongs: its row or its place along x, its panel, its series.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.show import figures, hover
from faithbook.show.figures import OURS, PUBLISHED
from faithbook.show.numbers import ENDS, ends_of, published_ends
from faithbook.show.tables import apart
from faithbook.stats.comparison import Comparison

Drawn = tuple[Any, str]
"""A figure and its alternative text."""
LOOKS = {"published": (PUBLISHED, "D"), "ours": (OURS, "o")}
"""Colour and marker of series that look the same in every figure."""
_MOST_SPOKEN = 30
"""Points that an alternative text names one by one; of more it names the lowest and the highest of each series."""
_LONGEST_NAME = 46
"""Letters in a line of a comparison's name beside its place."""
_SPANNED = ["ours", "low", "high", "published", "predicted_low", "predicted_high"]
"""What has to be seen whole in a plot of claims."""


@dataclass(frozen=True)
class Layout:
    """How a plot of a tidy frame is laid out.

    - `panel`, `series`: columns that tell panels and series apart ("": there is one); `columns`: panels side by side;
    - `names`: levels of the frame's columns in words; `looks`: colour and marker by series (`LOOKS` and
      `figures.styles` elsewhere);
    - `mark`: where a dotted line is, one for all panels or one by panel; `shared`: whether panels have one scale.
    """

    panel: str = ""
    series: str = ""
    columns: int = 2
    names: Mapping[str, str] | None = None
    looks: Mapping[str, tuple[str, str]] | None = None
    mark: float | Mapping[str, float] | None = None
    shared: bool = True
    width: float = 8.5

    def word(self, level: object) -> str:
        """A level in words."""
        word = f"{level:g}" if isinstance(level, float) else str(level)
        return (self.names or {}).get(word, word)

    def panels(self, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """The rows of each panel, in the order in which they come first."""
        return _split(frame, self.panel)

    def styles(self, frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
        """Colour and marker of each series."""
        names = list(_split(frame, self.series))
        fixed = {**LOOKS, **(self.looks or {})}
        return {name: fixed.get(name, style) for name, style in figures.styles(names).items()}

    def draw_mark(self, ax: Any, panel: str, *, upright: bool) -> None:
        """The dotted line of a panel."""
        at = self.mark.get(panel) if isinstance(self.mark, Mapping) else self.mark
        if at is not None:
            (ax.axvline if upright else ax.axhline)(at, color="#666666", ls=":", lw=1)


def rows_of_pairs(pairs: Mapping[str, Comparison], **labels: str) -> pd.DataFrame:
    """Pairs as rows of a plot: what is published, and ours with its interval, as two series; `labels`: the same for all
    (a panel, say)."""
    rows = [
        {"row": name, "series": series, **labels, **ends}
        for name, pair in pairs.items()
        for series, ends in (("ours", ends_of(pair)), ("published", published_ends(pair)))
    ]
    return pd.DataFrame(rows).dropna(subset=["estimate"])


def stacked(frame: pd.DataFrame, keys: Sequence[str], columns: Mapping[str, Sequence[str]], into: str) -> pd.DataFrame:
    """A wide frame as rows of a plot, below one another: by level of the column `into`, the columns that hold its
    estimate and the ends of its interval, or its estimate alone."""
    parts = []
    for level, held in columns.items():
        ends = dict(zip(held, ENDS, strict=False))
        parts.append(frame[[*keys, *held]].rename(columns=ends).assign(**{into: level}))
    return pd.concat(parts)


def comparison_plot(pairs: Mapping[str, Comparison], x_label: str) -> Drawn:
    """Published values beside ours, one line per pair."""
    return dot_plot(rows_of_pairs(pairs), x_label, layout=Layout(series="series", mark=0.0, width=7.5))


def dot_plot(frame: pd.DataFrame, x_label: str, *, row: str = "row", layout: Layout | None = None) -> Drawn:
    """Estimates with intervals, one line per level of the column `row`; series of one line are set a little apart."""
    look, frame = layout or Layout(), _with_ends(frame)
    panels, styles = look.panels(frame), look.styles(frame)
    place = {name: -i for i, name in enumerate(dict.fromkeys(frame[row]))}
    columns = min(look.columns, len(panels))
    height = (0.22 + 0.1 * min(len(styles), 4)) * len(place) + 0.7
    fig, axes = figures.panels(
        len(panels), columns, height=height, more=0.4, width=look.width, sharex=look.shared, sharey=True
    )
    for ax, (panel, rows) in zip(axes, panels.items(), strict=True):
        look.draw_mark(ax, panel, upright=True)
        of_series = _split(rows, look.series)
        # Points of one line would hide each other; where every line has one point they stay on it.
        alone = len(of_series) == 1 or not rows.duplicated([row]).any()
        for i, (name, part) in enumerate(of_series.items()):
            colour, marker = styles[name]
            apart = 0.0 if alone else 0.7 * ((len(of_series) - 1) / 2 - i) / len(of_series)
            at = part[row].map(place).to_numpy(dtype=float) + apart
            # What has no interval, such as a printed value, looks as if it were not measured here.
            hollow = {"mfc": "white", "mew": 1.6} if part["low"].isna().all() else {}
            label: dict[str, Any] = {"label": look.word(name), **hollow}
            figures.dots(ax, part, at, colour=colour, marker=marker, ms=5, width=1.5, **label)
        ax.set_title(look.word(panel), fontsize="small")
        ax.grid(axis="y", visible=False)
    axes[0].set_yticks(list(place.values()), [look.word(name) for name in place])
    fig.supxlabel(x_label, fontsize="small")
    _legend(fig, axes, styles)
    return fig, _spoken(frame, f"Dot plot of {x_label}", row, look)


def line_plot(
    frame: pd.DataFrame,
    x_label: str,
    y_label: str,
    *,
    x: str = "x",
    layout: Layout | None = None,
    bars: bool = False,
    log: bool = False,
) -> Drawn:
    """Estimates along x, one line per series, with their intervals as bands or upright `bars`; a series whose x is NaN
    is a level line. `log`: of the x axis."""
    look, frame = layout or Layout(), _with_ends(frame)
    panels, styles = look.panels(frame), look.styles(frame)
    columns = min(look.columns, len(panels))
    fig, axes = figures.panels(
        len(panels), columns, height=3.1, more=0.4, width=look.width, sharex=look.shared, sharey=look.shared
    )
    for ax, (panel, rows) in zip(axes, panels.items(), strict=True):
        look.draw_mark(ax, panel, upright=False)
        for name, part in _split(rows, look.series).items():
            colour, marker = styles[name]
            if part[x].isna().all():
                level = part.iloc[0]
                ax.axhspan(level["low"], level["high"], color=colour, alpha=0.1, lw=0)
                ax.axhline(level["estimate"], color=colour, ls="--", lw=2, label=look.word(name))
                continue
            line = part.sort_values(x)
            at = [f"{x_label} {value:,g}" for value in line[x]]
            hollow = {"mfc": "white", "ls": "--"} if part["low"].isna().all() else {}
            label = {"marker": marker, "ms": 5, "lw": 1.2, "label": look.word(name), **hollow}
            figures.curve(ax, line[x].to_numpy(), line, look.word(name), colour=colour, at=at, bars=bars, **label)
        if log:
            ax.set_xscale("log")
            ticks = sorted(set(frame[x].dropna()))
            ticks = ticks[:: -(-len(ticks) // 7)]  # at most seven, or their numbers would overlap
            ax.set_xticks(ticks, labels=[f"{tick:,g}" for tick in ticks], fontsize="small")
            ax.minorticks_off()
        ax.set_title(look.word(panel), fontsize="small")
    for ax in axes[::columns]:
        ax.set_ylabel(y_label)
    fig.supxlabel(x_label, fontsize="small")
    _legend(fig, axes, styles)
    return fig, _spoken(frame, f"Line plot of {y_label} against {x_label}", x, look)


def _with_ends(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the ends of intervals, missing where it has none."""
    return frame if "low" in frame.columns else frame.assign(low=np.nan, high=np.nan)


def _split(frame: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """The rows of each level of a column; all of them under "" without one."""
    if not column:
        return {"": frame}
    return {str(name): part for name, part in frame.groupby(column, sort=False, observed=True)}


def _legend(fig: Any, axes: Sequence[Any], styles: Mapping[str, object]) -> None:
    """The series of all panels, each once."""
    if len(styles) < 2:
        return
    named = {name: handle for ax in axes for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    fig.legend(named.values(), named.keys(), loc="outside upper center", ncols=min(len(named), 4), fontsize="small")


def _spoken(frame: pd.DataFrame, kind: str, place: str, look: Layout) -> str:
    """What a plot shows, from its frame: every point, or of many the ends of each series."""
    by_panel = []
    for panel, rows in look.panels(frame).items():
        of_series = []
        for name, part in _split(rows, look.series).items():
            known = part.dropna(subset=["estimate"])
            if len(frame) > _MOST_SPOKEN and len(known) > 2:
                known = known.sort_values("estimate").iloc[[0, -1]]
            spoken = zip(known[place], hover.values(*(known[end] for end in ENDS), digits=2), strict=True)
            points = ", ".join(f"{look.word(level)} {value}" for level, value in spoken)
            points = points.replace("nan ", "at any place ")
            of_series.append(f"{look.word(name)}: {points}" if name else points)
        by_panel.append(f"{look.word(panel)}. {'; '.join(of_series)}" if panel else "; ".join(of_series))
    many = " Of each series the lowest and the highest." if len(frame) > _MOST_SPOKEN else ""
    intervals = " with 95 % intervals" if frame["low"].notna().any() else ""
    return f"{kind}{intervals}.{many} {'. '.join(by_panel)}."


# --------------------------------------------------------------------------------------------------------------- claims
def claims_plot(rows: pd.DataFrame, titles: Mapping[str, str], *, lines: Mapping[str, Sequence[float]]) -> Any:
    """Published against ours, one panel a claim and one line a part, with intervals.

    `rows` has the columns of `decide.COLUMNS`; `titles`: what is written over a claim's panel; `lines`: where its
    dotted lines are. The pale bar: where a replication of the published value falls in 95 of 100; at the right, how far
    ours lies from it in standard errors.
    """
    panels = [(name, rows[rows["claim"] == name]) for name in dict.fromkeys(rows["claim"])]
    names = {name: [textwrap.fill(compared, _LONGEST_NAME) for compared in part["part"]] for name, part in panels}
    heights = [(len(part) + 1) * _room(names[name]) for name, part in panels]
    fig, axes = plt.subplots(
        len(panels), 1, figsize=(8.5, 0.34 * sum(heights) + 0.9), squeeze=False, height_ratios=heights
    )
    for ax, (name, part) in zip(axes[:, 0], panels, strict=True):
        places = np.arange(len(part))[::-1]
        marks = list(lines.get(name, (0.0,)))
        for line in marks:
            ax.axvline(line, color="#666666", ls=":", lw=1)
        ax.hlines(places, part["predicted_low"], part["predicted_high"], color=PUBLISHED, lw=8, alpha=0.25, zorder=1)
        figures.dots(ax, part, places, columns=("ours", "low", "high"), label="ours, 95 % interval")
        if rows["published"].notna().any():  # questions of our own have none
            ax.plot(part["published"], places, "D", mfc="white", mec=PUBLISHED, mew=1.8, label="published", zorder=4)
            hover.say_rows(ax, part["published"], places, "published")
        for place, away in zip(places, part["away"], strict=True):
            ax.text(1.01, place, apart(away), transform=ax.get_yaxis_transform(), va="center", fontsize="x-small")
        ax.set_yticks(places, names[name])
        ax.set_ylim(-0.6, len(part) - 0.4)
        ends = np.append(part[_SPANNED].to_numpy(float), marks)
        low, high = np.nanmin(ends), np.nanmax(ends)
        left, right = ax.get_xlim()
        if high > low:
            ax.set_xlim(max(left, low - (high - low) / 2), min(right, high + (high - low) / 2))
        ax.locator_params(axis="x", nbins=6)
        ax.set_title(titles.get(name, name), loc="left", fontsize="small")
    figures.legend(fig)
    return fig


def _room(names: Sequence[str]) -> float:
    """The height of a line of a panel, as a multiple of that of a name on one line."""
    return 1 + 0.4 * max(name.count("\n") for name in names)


def claims_in_words(rows: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """What a plot of claims shows, for those who do not see it."""
    tidy = stacked(rows, ["claim", "part"], {"ours": ["ours", "low", "high"], "published": ["published"]}, "series")
    look = Layout(panel="claim", series="series", names=titles)
    return _spoken(tidy.dropna(subset=["estimate"]), "Dot plot, one panel a claim,", "part", look)
