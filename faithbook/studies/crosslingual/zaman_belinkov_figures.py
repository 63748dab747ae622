"""The figures of Zaman & Belinkov with our values, and further ones of this study; each has its alternative text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from faithbook.show import figures
from faithbook.show.figures import OURS, PALETTE
from faithbook.show.labels import row_label
from faithbook.show.numbers import listed
from faithbook.show.plots import LOOKS, Drawn, Layout, dot_plot, line_plot
from faithbook.show.tables import rounded
from faithbook.stats.comparison import Comparison
from faithbook.studies.crosslingual.zaman_belinkov import AGGREGATED, ERASING, OUTPUT_NAMES, THIRTEEN
from faithbook.studies.crosslingual.zaman_belinkov_rho import LINKS
from faithbook.studies.crosslingual.zaman_belinkov_tables import FLOORS, Row, Rows

_IN_LEGEND = {LINKS["random links"]: "random", LINKS["random links, degrees kept"]: "random, per word"}
"""Short names of kinds of links."""
BY_CHANCE = 0.05
"""The share of pairs that would be separated if all were equal."""


def accuracy_and_rho_figure(
    read: Mapping[str, Comparison], rhos: Mapping[str, Comparison], printed: pd.DataFrame
) -> Drawn:
    """Table 2 as points: accuracy and rho of each language, the best read first, ours and the `printed` ones (accuracy,
    rho)."""
    order = sorted(rhos, key=lambda language: -read[language].ours.point)
    cells = {("accuracy", language): read[language] for language in order}
    cells |= {("rho", language): rhos[language] for language in order}
    ours = listed(cells, ["panel", "row"]).assign(series="ours")
    theirs = printed[["accuracy", "rho"]].rename_axis("row").reset_index()
    theirs = theirs.melt("row", var_name="panel", value_name="estimate").assign(series="published")
    tidy = pd.concat([ours, theirs])
    layout = Layout(panel="panel", series="series", names={"rho": "mean rho"}, shared=False)
    return dot_plot(tidy, "accuracy and mean rho", layout=layout)


def rows_by_output(
    frame: pd.DataFrame,
    rows: Sequence[Row],
    floors: Sequence[Row],
    outputs: Mapping[str, str],
    *,
    x_label: str,
    published: str = "published",
    mark: float | None = None,
) -> Drawn:
    """Rows (method, aggregation) with their published values and floors below them, one panel per output (method,
    aggregation, output, estimate, low, high and the column named by `published`)."""
    names = {row: row_label(*row) for row in rows}
    names |= {row: f"baseline: {row_label(*row)}" for row in floors}
    cells = [(output, *row) for output in outputs for row in names]
    ours = frame.set_index(["output", "method", "aggregation"]).loc[cells].reset_index()
    ours["row"] = [names[row] for row in zip(ours["method"], ours["aggregation"], strict=True)]
    theirs = ours[["output", "row", published]].rename(columns={published: "estimate"}).assign(series=published)
    tidy = pd.concat([ours.assign(series="ours"), theirs.dropna(subset=["estimate"])])
    titles = {output: f"output: {name}" for output, name in outputs.items()}
    looks = {published: LOOKS["published"]}
    layout = Layout(panel="output", series="series", names=titles, looks=looks, mark=mark, width=9.5)
    return dot_plot(tidy, x_label, layout=layout)


def erasure_by_output(rows: Rows, metric: str) -> Drawn:
    """The rows and two floors under an erasure metric beside what is printed as a mean over five lengths (Figures 3 and
    4)."""
    published_as = "published × 6/5"
    frame = rows.frame([*THIRTEEN, *FLOORS]).rename(columns={"published": published_as})
    return rows_by_output(frame, THIRTEEN, FLOORS, OUTPUT_NAMES, x_label=metric, published=published_as)


def by_links(frame: pd.DataFrame, means: Mapping[str, Comparison]) -> Drawn:
    """Figure 7: rho of the thirteen and a floor by how words were linked (links, estimate, low, high; the rows of each
    kind of links in that order); `means`: over the thirteen, by kind."""
    names = [row_label(*row) for row in THIRTEEN] + ["baseline: uniform"]
    kinds, spoken_means = [], []
    for text, mean in means.items():
        of_kind = frame[frame["links"] == text]
        if len(of_kind):
            kinds.append(of_kind.assign(row=names))
        spoken_means.append(f"{_IN_LEGEND.get(text, text)} {rounded(float(mean.ours.point), 2)}")
    rows = pd.concat(kinds).replace({"links": _IN_LEGEND})
    fig, alt = dot_plot(rows, "rho (loss)", layout=Layout(series="links", mark=0.0, width=7.5))
    return fig, f"{alt} Mean over the thirteen: {'; '.join(spoken_means)}."


def faithful_and_plausible(rho: Rows, precision: Rows, marked: float) -> Drawn:
    """MAP against rho, both of the loss, one point per row: published on the left, ours with intervals on the right;
    `marked`: the share of words that people marked, the MAP of equal scores."""
    markers = dict(zip([*AGGREGATED, *ERASING], "osD^vPX*", strict=True))
    colours = {"mean": PALETTE[1], "l2": PALETTE[0], "none": PALETTE[2]}
    words = {"mean": "μ", "l2": "L2", "none": "no aggregation"}
    points = {row: (rho(row, "loss"), precision(row, "loss")) for row in THIRTEEN}
    # One scale for both, so that a place means the same in each.
    fig, (published, ours) = plt.subplots(1, 2, figsize=(9.5, 4.6), sharex=True, sharey=True)
    for (method, how), (x, y) in points.items():
        style: dict[str, Any] = {"marker": markers[method], "color": colours[how], "ms": 8, "ls": ""}
        published.plot(x.published, y.published, **style)
        across, up = x.ours.interval(), y.ours.interval()
        ours.plot([across.low, across.high], [y.ours.point] * 2, color="#BBBBBB", lw=1, zorder=1)
        ours.plot([x.ours.point] * 2, [up.low, up.high], color="#BBBBBB", lw=1, zorder=1)
        ours.plot(x.ours.point, y.ours.point, **style)
    ours.axhline(marked, color="#666666", ls=":", lw=1)
    for ax, title in ((published, "published"), (ours, "ours, 95 % intervals")):
        ax.set_title(title)
        ax.set_xlabel("rho")
    published.set_ylabel("MAP")
    keys = []
    for method, marker in markers.items():
        keys.append(Line2D([], [], marker=marker, color="#555555", ls="", label=row_label(method, "none")))
    for how, colour in colours.items():
        keys.append(Line2D([], [], marker="s", color=colour, ls="", label=words[how]))
    fig.legend(handles=keys, loc="outside lower center", ncols=6, fontsize="small")
    each = "; ".join(f"{row_label(*row)} {x.ours.point:.2f} and {y.ours.point:.2f}" for row, (x, y) in points.items())
    return fig, (
        "Two scatter plots of MAP against rho for the loss, thirteen rows each, published and ours. Ours, rho and MAP: "
        f"{each}."
    )


def above_floors(
    frames: Mapping[str, pd.DataFrame], looking: Sequence[Row], blind: Sequence[Row], titles: Mapping[str, str]
) -> Drawn:
    """Rho for the loss of rows that look at the prediction, and of `blind` ones as upright lines: one panel per setting
    (method, aggregation, output, estimate, low, high), with its title."""
    styles = dict(zip(blind, [(PALETTE[1], "--"), (PALETTE[2], "-"), ("#666666", ":")], strict=True))
    fig, axes = figures.panels(len(frames), 4, height=3.3, width=9.5, sharex=True, sharey=True)
    places, parts = np.arange(len(looking))[::-1], []
    for ax, (setting, frame) in zip(axes, frames.items(), strict=True):
        loss = frame[frame.output == "loss"].set_index(["method", "aggregation"])
        floors = _defined(loss.estimate, blind)
        for row, value in floors.items():
            colour, line = styles[row]
            ax.axvline(value, color=colour, ls=line, lw=1.8, label=f"baseline: {row_label(*row)}")
        figures.dots(ax, loss.loc[list(looking)], places, colour=OURS, width=1.5, ms=4, label="methods, 95 % interval")
        ax.set_title(textwrap.fill(titles[setting], 20), fontsize="small")
        ax.set_yticks(places, [row_label(*row) for row in looking])
        ax.tick_params(labelbottom=True, labelsize="x-small")
        ax.grid(axis="y", visible=False)
        reached = _defined(loss.estimate, looking)
        best = "none"
        if reached:
            first = max(reached, key=reached.__getitem__)
            best = f"{row_label(*first)} {reached[first]:.2f}"
        lowest = ", ".join(f"{row_label(*row)} {value:.2f}" for row, value in floors.items()) or "none"
        parts.append(f"{titles[setting]}: best method {best}, baselines {lowest}")
    figures.legend(fig, 2)
    fig.supxlabel("rho (loss)", fontsize="small")
    return fig, (
        f"Dot plots of rho of {len(looking)} rows, one panel per setting; upright lines: baselines. {'; '.join(parts)}."
    )


def _defined(estimates: pd.Series, rows: Sequence[Row]) -> dict[Row, float]:
    """The estimates of these rows, without undefined ones."""
    values = {row: float(estimates[row]) for row in rows}
    return {row: value for row, value in values.items() if not math.isnan(value)}


def changes_figure(effects: pd.DataFrame, points: Sequence[str]) -> Drawn:
    """What each choice changes of rho: one line per row, which begins with the number of its point, in the order of
    `points` (point, row, estimate, low, high)."""
    in_order = effects.set_index("point").loc[list(points)].reset_index()
    numbers = in_order["point"].str.partition(" ")[0]
    rows = in_order.assign(row=numbers.str.cat(in_order["row"], sep=", "))
    return dot_plot(rows, "change of rho, other choice minus ours", layout=Layout(mark=0.0, width=7.5))


def separated_pairs_figure(counted: pd.DataFrame, few: int) -> Drawn:
    """Share of pairs of explanations that are separated against the number of texts, one line per metric (metric,
    texts, estimate, low, high); `few`: how many inputs the released code reads."""
    layout = Layout(series="metric", mark=BY_CHANCE, width=7.5)
    fig, alt = line_plot(counted, "texts", "share of pairs separated", x="texts", layout=layout, log=True)
    fig.axes[0].axvline(few, color="#666666", ls="--", lw=1)
    fig.axes[0].set_ylim(0, 1)
    return fig, alt
