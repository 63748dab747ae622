"""What a page shows of numbers: the paper's tables with ours in the same cells, and plots of claims.

A cell reads `.82 (.40)`: ours, and the published value in brackets. Its sign says how they lie to one another (colour
says it again): `≈` the published value is within the 95 % interval of ours, `↑` ours is above it, `↓` below.
"""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.results import figures, pointed
from faithbook.results.figures import PUBLISHED
from faithbook.results.labels import label
from faithbook.results.numbers import row_of
from faithbook.results.numbers import spoken as with_interval
from faithbook.results.page import Folder, write
from faithbook.results.paired import Paired
from faithbook.results.tables import markdown_table, rounded
from faithlib.errors import InputError

CellOf = Callable[[Mapping[str, str]], Paired | None]
"""From a row of a published table to what we have for it, None where there is nothing."""

_SPANNED = ["ours", "low", "high", "published", "predicted_low", "predicted_high"]
"""What has to be seen whole in a plot of claims."""

_SIGNS = {"agrees": "≈", "higher": "↑", "lower": "↓"}


def short(x: float, digits: int = 2) -> str:
    """A number as the papers print it, without the zero before the point.

    >>> short(0.824), short(-0.3), short(1.5), short(float("nan"))
    ('.82', '-.30', '1.50', '–')
    """
    return re.sub(r"^(-?)0\.", r"\1.", rounded(x, digits))


def apart(away: float) -> str:
    """How far ours lies from the published value, in standard errors; nothing where none is printed.

    >>> apart(-2.345), apart(float("nan"))
    ('-2.3 SE', '')
    """
    return "" if math.isnan(away) else f"{away:+.1f} SE"


def cell(pair: Paired | None, digits: int = 2) -> str:
    """One cell as inline HTML: ours (a dash where nothing is defined), the published value in brackets, the sign; the
    interval on hover."""
    if pair is None or math.isnan(pair.ours.point):
        return "–" if pair is None or math.isnan(pair.published) else f"– ({short(pair.published, digits)})"
    interval = pair.ours.interval()
    hint = f"95 % interval {short(interval.low, digits + 1)} to {short(interval.high, digits + 1)}, n = {pair.ours.n}"
    text = short(interval.estimate, digits)
    if math.isnan(pair.published):
        return f'<span class="pair" title="{html.escape(hint)}">{text}</span>'
    side = "lower" if interval.high < pair.published else "higher" if interval.low > pair.published else "agrees"
    return (
        f'<span class="pair pair-{side}" title="{html.escape(hint)}">{text} '
        f"({short(pair.published, digits)}) {_SIGNS[side]}</span>"
    )


def long_form(rows: Sequence[tuple[Mapping[str, str], Paired]]) -> pd.DataFrame:
    """The cells of a table one below the other: their labels, published, estimate with its interval, n, clusters."""
    return pd.DataFrame(
        [
            {**labels, "published": pair.published, **row_of(pair), "clusters": pair.ours.clusters}
            for labels, pair in rows
        ]
    )


def grid(
    printed: pd.DataFrame,
    of: CellOf,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    digits: int = 2,
    words: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A published table in its own rows and columns with ours in its cells; and its cells in long form.

    `printed`: its rows in the order of the paper; `rows`, `columns`: which of its columns are the labels of either;
    `words`: names for labels that `labels` does not have. Raises InputError where two rows are one cell, or where we
    have none of the cells.
    """
    if printed.duplicated([*rows, *columns]).any():
        raise InputError(f"rows {', '.join(rows)} and columns {', '.join(columns)} do not tell all cells apart")

    def named(name: str) -> str:
        return words[name] if words and name in words else label(name).replace("_", " ")

    shown: dict[tuple[str, ...], dict[str, str]] = {}
    smallest: dict[tuple[str, ...], int] = {}
    long: list[tuple[Mapping[str, str], Paired]] = []
    for row in printed.to_dict("records"):
        labels = {str(key): str(value) for key, value in row.items()}
        pair = of(labels)
        across = tuple(named(labels[name]) for name in rows)
        down = ", ".join(named(labels[name]) for name in columns)
        shown.setdefault(across, {})[down] = cell(pair, digits)
        if pair is not None:
            long.append(({name: labels[name] for name in (*rows, *columns)}, pair))
            if pair.ours.n:
                smallest[across] = min(smallest.get(across, pair.ours.n), pair.ours.n)
    if not long:
        raise InputError("we have none of the cells of this table")
    heads = [named(name) for name in rows]
    wide = pd.DataFrame(
        [
            {**dict(zip(heads, across, strict=True)), **cells, "n": str(smallest.get(across, "–"))}
            for across, cells in shown.items()
        ]
    )
    order = [*heads, *dict.fromkeys(down for cells in shown.values() for down in cells), "n"]
    return wide[order].fillna("–"), long_form(long)


def in_words(long: pd.DataFrame, rows: Sequence[str], column: str, form: str) -> pd.DataFrame:
    """A long table of quantities as a wide one, each with its interval in a cell, in the order of the long one."""
    cells = [with_interval(row, form) for row in long.itertuples()]
    wide = long.assign(cell=cells).pivot(index=[*rows], columns=column, values="cell").fillna("–")
    order = long[[*rows]].drop_duplicates().itertuples(index=False, name=None)
    ordered = wide.reindex([*order])[list(dict.fromkeys(long[column]))].reset_index()
    return ordered.assign(**{name: ordered[name].map(label) for name in rows}).rename_axis(columns=None)


def every(**labels: Iterable[object]) -> pd.DataFrame:
    """All combinations of these labels, a row each: the cells of a table that no paper has.

    >>> every(language=["de", "fr"], metric=["rho"]).to_dict("records")
    [{'language': 'de', 'metric': 'rho'}, {'language': 'fr', 'metric': 'rho'}]
    """
    return pd.DataFrame(itertools.product(*labels.values()), columns=[*labels])


def slim_line(run: Folder, notebook: str, *names: str) -> str:
    """The line under an exhibit: code, data, image, provenance."""
    by_ending = {name.rpartition(".")[2]: f"<{run.link(name)}>`" for name in names}
    links = [f"{{download}}`code <{notebook}.ipynb>`"]
    links += [f"{{download}}`data {place}" for ending, place in by_ending.items() if ending == "csv"]
    links += [f"{{download}}`{ending} {place}" for ending, place in by_ending.items() if ending != "csv"]
    links.append(f"{{ref}}`provenance <provenance-{notebook.replace('_', '-')}>`")
    return f'<span class="exhibit-line">{" · ".join(links)}</span>'


def save_table(run: Folder, notebook: str, name: str, wide: pd.DataFrame, long: pd.DataFrame, caption: str) -> Markdown:
    """Write a table's long form in full precision and show the table with its line."""
    write(run.path(f"{name}.csv"), long.to_csv(index=False, lineterminator="\n").encode())
    return Markdown(f"{markdown_table(wide, name, caption)}\n\n{slim_line(run, notebook, f'{name}.csv')}")


# --------------------------------------------------------------------------------------------------------------- plots
def claims_plot(rows: pd.DataFrame, titles: Mapping[str, str], *, lines: Mapping[str, Sequence[float]]) -> Any:
    """Published against ours, one panel a claim and one line a part, with intervals.

    `rows` has the columns of `judged.COLUMNS`; `titles`: what is written over a claim's panel; `lines`: where its
    dotted lines are. The pale bar: where a replication of the published value falls in 95 of 100; at the right, how far
    ours lies from it in standard errors.
    """
    panels = [(name, rows[rows["claim"] == name]) for name in dict.fromkeys(rows["claim"])]
    heights = [len(part) + 1 for _, part in panels]
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
            pointed.say_rows(ax, part["published"], places, "published")
        for place, away in zip(places, part["away"], strict=True):
            ax.text(1.01, place, apart(away), transform=ax.get_yaxis_transform(), va="center", fontsize="x-small")
        ax.set_yticks(places, part["part"])
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


def spoken(rows: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """What a plot of claims shows, for those who do not see it: every part's published value and ours."""
    panels = []
    for name in dict.fromkeys(rows["claim"]):
        parts = [
            f"{row['part']}: "
            + ("" if math.isnan(row["published"]) else f"published {short(row['published'])}, ours ")
            + f"{short(row['ours'])} ({short(row['low'])} to {short(row['high'])})"
            + ("" if math.isnan(row["away"]) else f", {row['away']:+.1f} standard errors apart")
            for row in rows[rows["claim"] == name].to_dict("records")
        ]
        panels.append(f"{titles.get(name, name)}. {'; '.join(parts)}.")
    shown = "published beside ours" if rows["published"].notna().any() else "estimates"
    return f"Dot plot, one panel a claim, {shown} with 95 % intervals. {' '.join(panels)}"
