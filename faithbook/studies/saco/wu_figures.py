"""Wu et al.'s figures, drawn of ours; each comes with its words for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.judge import analysis_plan
from faithbook.show import figures
from faithbook.show.figures import OURS, PALETTE, PUBLISHED
from faithbook.show.labels import inputs_of, label, short
from faithbook.show.numbers import ENDS, beside, ends_of, listed, published_ends, spoken, written
from faithbook.show.plots import Drawn, Layout, dot_plot, line_plot, stacked
from faithbook.show.tables import in_names, wide_with_intervals
from faithbook.stats import comparison
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Interval95
from faithbook.studies.saco.wu import (
    ALL_STEEP,
    CHANCE,
    FAMILIES,
    FLIPPED,
    IMPLIED,
    KS,
    LOSS,
    LOWER_IS_BETTER,
    METHODS,
    RAW,
    SCALES,
    SIGN,
    TA,
    Correlated,
    bars,
    more_among_four,
    printed_bars,
    saco_of,
)
from faithbook.text import joined

RED = "#CC0000"
MARKS = (1, 2, 3, 5, 10)
"""The groups that Figure 1 shows erased."""


def in_short(correlations: Correlated, saco_of_random: Comparison) -> str:
    """The result of `saco_figures`: how far SaCo and the four older metrics agree, and SaCo of random scores.

    Whether the four agree even less with one another is said only where it is clear; that it depends on how metrics are
    oriented, only where the unflipped ones say the opposite.
    """
    (low, high), others = printed_bars()
    with_saco, among = bars(correlations)
    with_each = comparison.mean(list(with_saco.values()))
    of_random = f"Random scores have a mean SaCo of {beside(saco_of_random)}."
    if with_each.ours.interval().low <= among.ours.interval().high:
        return (
            f"Mean rank correlation over images: of SaCo with each of four older metrics {spoken(with_each, '.2f')} "
            f"(published {low:.2f} to {high:.2f}), of the four among themselves {spoken(among, '.2f')} (published "
            f"{others:.2f}; n = {among.ours.n:,} images or more). {of_random}"
        )
    (flipped,) = more_among_four(correlations).values()
    (not_flipped,) = more_among_four(correlations, back=LOWER_IS_BETTER).values()
    depends = (
        f" That is so if every metric is oriented so that higher is better (difference {spoken(flipped, '+.2f')}). If "
        "no metric is sign-flipped, the four agree more with one another than with SaCo (difference "
        f"{spoken(not_flipped, '+.2f')}). The paper does not say which it did."
    )
    if not flipped.ours.interval().high < 0 < not_flipped.ours.interval().low:
        depends = ""
    return (
        f"SaCo ranks images differently from four older metrics: mean rank correlation {spoken(with_each, '.2f')} "
        f"(published {low:.2f} to {high:.2f}). The four agree even less with one another, {spoken(among, '.2f')} "
        f"(published {others:.2f}; n = {among.ours.n:,} images or more).{depends} {of_random}"
    )


WORDS_OF_FLIPPED = {
    "all": "all three (this book)",
    "all but AOPC, LeRF": "AUC and LOdds, not AOPC, LeRF",
    "none": "none",
}
"""Which metrics are sign-flipped (`wu.FLIPPED`), for people."""


def by_orientation(correlations: Correlated) -> pd.DataFrame:
    """Claim c02 by which metrics are sign-flipped (`wu.FLIPPED`): the mean correlation among the four older metrics,
    that of SaCo with them, and their difference."""
    cells: dict[tuple[str, str], Comparison] = {}
    for flipped, turned_back in FLIPPED.items():
        with_saco, among = bars(correlations, back=turned_back)
        mean_with_saco = comparison.mean(list(with_saco.values()))
        words = WORDS_OF_FLIPPED[flipped]
        cells[words, "among the four"] = among
        cells[words, "with SaCo"] = mean_with_saco
        cells[words, "difference"] = among - mean_with_saco
    return listed(cells, ["sign-flipped", "correlation"])


def orientations_in_words(orientations: pd.DataFrame) -> pd.DataFrame:
    """`by_orientation` as a table of text, one column per correlation."""
    return wide_with_intervals(orientations, ["sign-flipped"], "correlation", ".2f")


def photograph_in_words(case: Case) -> str:
    """SaCo of each explanation of the photograph, and how little it orders there."""
    values = ", ".join(f"{label(name)} {written(value, '.2f')}" for name, value in case.saco.items())
    most = case.groups["alone"].abs().max()
    return (
        f"SaCo of this photograph: {values}. Erasing any one group changes the probability by at most {most:.2f}, so "
        "these values order very small differences. One photograph decides nothing; this one illustrates the paper's "
        "figure."
    )


def papers_order_in_words(share: Comparison, ahead_of_aopc: Comparison) -> str:
    """On which share of images SaCo, and AOPC, has the paper's order of three explanations (`ahead_of_aopc`: the share
    under SaCo minus that under AOPC)."""
    saco, aopc = (_percent(part.ours.interval()) for part in (share, share - ahead_of_aopc))
    return (
        "SaCo has the paper's order (Transformer Attribution, then Raw Attention, then random scores) in "
        f"{saco} of the cases, AOPC in {aopc}; a case is an image, a model and a set of random scores (n = "
        f"{share.ours.n:,} images in the smaller data set). Of six possible orders one is right by chance in 17 %."
    )


def _percent(interval: Interval95) -> str:
    return f"{100 * interval.estimate:.0f} % [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


def scaled_in_words(steps: pd.DataFrame) -> str:
    """On which images the scale of scores is tested (c13); `steps`: the stored groups of their explanations."""
    counted = steps.groupby("dataset", sort=False)["input"].nunique()
    images = joined(f"{n} of the {inputs_of(str(name))}" for name, n in counted.items())
    explanations = len(steps[["dataset", "input", "method"]].drop_duplicates())
    factors = joined(f"{scale:,g}" for scale in SCALES)
    return (
        f"SaCo of {explanations} explanations is computed again with their scores multiplied by {factors}. They are "
        f"those that are stored with every group, of {images}."
    )


def near_zero_in_words(random: Comparison) -> str:
    """What the interval of SaCo of random scores says beside the rule of the claim; "" where it includes zero."""
    interval = random.ours.interval()
    if interval.low <= 0 <= interval.high:
        return ""
    margin = analysis_plan.rule("saco_c05").lines[1]
    return (
        f"*On c05.* The interval of SaCo of random scores does not include zero ({spoken(random)}), so on our models "
        f"the mean is probably not exactly zero. The rule asks whether it is within {margin:g} of zero."
    )


def least_certain_lead(rows: pd.DataFrame) -> str:
    """Of the leads of integrated gradients (rows of saco_c07) the one whose interval is nearest to zero in standard
    errors: metrics have different scales, so it need not be the one with the smallest estimate, which decides."""
    leads = rows[rows["part"].str.startswith("IG ahead")]
    half = (leads["high"] - leads["low"]) / 2
    least = leads.iloc[int((leads["ours"] / half).argmin())]
    ends = f"[{written(least['low'], '.4f')}, {written(least['high'], '.4f')}]"
    return (
        "*On c07.* The comparison that decides is the one with the smallest estimate. The metrics have different "
        f"scales, so it need not be the least certain one, which is {least['part']}: {written(least['ours'], '.4f')} "
        f"{ends}."
    )


def cumulative_losses_in_words(quantity: Callable[[str], Comparison]) -> str:
    """What is measured of cumulative erasure under the three explanations of Figure 3, which no rule judges."""
    means = ", ".join(f"{label(name)} {spoken(quantity(name), '.2f')}" for name in (TA, RAW, CHANCE))
    share = quantity(ALL_STEEP)
    often = share.ours.interval()
    percent = f"{100 * often.estimate:.0f} % [{100 * often.low:.0f}, {100 * often.high:.0f}]"
    return (
        f"Erasing that costs more than {LOSS:g} from the third of ten groups on makes AOPC (MoRF) at least "
        f"{IMPLIED:.2f}. Under all three explanations it is that high in {percent} of the cases (n = {share.ours.n:,} "
        f"images in the smaller data set): our models keep their prediction longer. Mean AOPC: {means}."
    )


def agreement_of_random(correlations: Correlated) -> str:
    """How far the metrics agree on random scores, where only the image matters."""
    with_saco, among = bars(correlations)
    alone = comparison.mean(list(with_saco.values()))
    return (
        "With random scores only the image matters and not the explanation. There the mean correlation among the four "
        f"is {spoken(among, '.2f')}, and with SaCo {spoken(alone, '.2f')} (n = {among.ours.n:,} images or more)."
    )


def correlations_in_words(bar_table: pd.DataFrame) -> pd.DataFrame:
    """Figure 2 as a table (`wu.bar_table`) that says whose correlation it has."""
    columns = {name: f"Spearman's correlation {name}".removesuffix(" estimate") for name in ENDS}
    return in_names(bar_table.rename(columns=columns), 2)


def means_in_words(means: pd.DataFrame) -> pd.DataFrame:
    """Figure 4 as a table of text (`wu.every_mean`), one column per metric, with n."""
    wide = wide_with_intervals(means, ["dataset", "method"], "metric", ".2f").rename(columns=label)
    fewest = means.groupby(["dataset", "method"], sort=False)["n"].min()
    return wide.assign(n=[f"{n:,}" for n in fewest])


@dataclass(frozen=True)
class Picture:
    """One image and what was made of it: its `facts`, its `pixels` [side * side, channels], and by method its `maps`
    (score and group of each pixel) and `steps` (salience of each group, what is lost without it `alone` and with all
    before it, `together`)."""

    facts: Any
    pixels: NDArray[np.float64]
    maps: dict[str, pd.DataFrame]
    steps: dict[str, pd.DataFrame]

    @classmethod
    def first(cls, dataset: str, pictures: pd.DataFrame, maps: pd.DataFrame, steps: pd.DataFrame) -> Self:
        """The first image of a data set, from the stored pixels, maps and groups of all."""
        facts = pictures[pictures["dataset"] == dataset].iloc[0]

        def by_method(frame: pd.DataFrame, order: str) -> dict[str, pd.DataFrame]:
            of_picture = frame[(frame["dataset"] == dataset) & (frame["input"] == facts.input)]
            return {str(name): rows.sort_values(order) for name, rows in of_picture.groupby("method", sort=False)}

        rows = pictures[(pictures["dataset"] == dataset) & (pictures["input"] == facts.input)].sort_values("pixel")
        pixels = rows.filter(like="channel").dropna(axis=1).to_numpy()
        return cls(facts, pixels, by_method(maps, "pixel"), by_method(steps, "group"))

    @property
    def described(self) -> str:
        """What it shows and what the model takes it for."""
        facts = self.facts
        return f"an image of {label(facts.dataset)}, label {facts.label}, taken for {facts.predicted}"

    @property
    def methods(self) -> list[str]:
        """The methods that have a map, random scores last."""
        return sorted(self.maps, key=lambda name: name == CHANCE)

    @property
    def erased_by(self) -> str:
        """The method whose groups Figure 1 shows."""
        return TA if TA in self.maps else self.methods[0]

    def draw(self, ax: Any, values: NDArray[np.float64], title: str) -> None:
        """Pixels [side * side, channels] as an image, on the scale of the whole one."""
        low, high = self.pixels.min(), self.pixels.max()
        scaled = self.square((values - low) / max(high - low, 1e-9))
        ax.imshow(scaled[..., 0] if scaled.shape[2] == 1 else scaled, cmap="gray", vmin=0, vmax=1)
        figures.bare(ax, title, size=8)

    def draw_map(self, ax: Any, method: str) -> None:
        """A map without negative scores from dark to bright; a signed one around white. Limits: 99 % of the pixels."""
        score = self.maps[method].score.to_numpy()
        end = max(np.quantile(np.abs(score), 0.99), 1e-12)
        low, colours = (-end, "RdBu_r") if score.min() < 0 else (0, "viridis")
        ax.imshow(self.square(score), cmap=colours, vmin=low, vmax=end)
        figures.bare(ax, label(method), size=8)

    def square(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of pixels in one row, with or without channels, as [side, side] or [side, side, channels]."""
        side = int(self.facts.side)
        return values.reshape(side, side, *values.shape[1:])


def maps(picture: Picture) -> Drawn:
    """The image and the map of every method."""
    fig, (panel, *panels) = figures.panels(len(picture.maps) + 1, 5, height=1.75)
    picture.draw(panel, picture.pixels, f"the image: {picture.facts.label}")
    for ax, method in zip(panels, picture.methods, strict=True):
        picture.draw_map(ax, method)
    signed = sum(pixels.score.min() < 0 for pixels in picture.maps.values())
    return fig, (
        f"Small images: {picture.described} with probability {picture.facts.p_full:.2f}, and the maps of "
        f"{len(picture.maps)} explanations of that answer. {signed} of them have scores below zero."
    )


def two_manners(picture: Picture) -> Drawn:
    """Figure 1: the image with its groups erased cumulatively, and each alone; what is left of the probability."""
    method, whole, pixels = picture.erased_by, picture.facts.p_full, picture.pixels
    lost = picture.steps[method].set_index("group")
    group = picture.maps[method].group.to_numpy() + 1  # 1 is the most salient; 0: in no group
    average = pixels.mean(axis=0, keepdims=True)

    def without(erased: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.where(erased[:, None], average, pixels)

    fig, axes = plt.subplots(2, len(MARKS) + 1, figsize=(8, 3.2))
    picture.draw(axes[0][0], pixels, f"whole: {whole:.2f}")
    axes[1][0].imshow(picture.square(np.where(group > 0, group, np.nan)), cmap="viridis_r")
    figures.bare(axes[1][0], "the ten groups", size=8)
    said = []
    for (above, below), mark in zip(axes.T[1:], MARKS, strict=True):
        left_together, left_alone = whole - lost.together[mark], whole - lost.alone[mark]
        picture.draw(above, without((group >= 1) & (group <= mark)), f"1 to {mark}: {left_together:.2f}")
        picture.draw(below, without(group == mark), f"only {mark}: {left_alone:.2f}")
        said.append(f"group {mark} {left_together:.2f} and {left_alone:.2f}")
    axes[0][0].set_ylabel("cumulative", fontsize=9)
    axes[1][0].set_ylabel("alone", fontsize=9)
    parts = ", ".join(said)
    return fig, (
        f"Two rows of images with groups of pixels erased, by {label(method)}. Probability of the whole image "
        f"{whole:.2f}. What is left of it, cumulatively and with the group alone: {parts}."
    )


def correlations_figure(bars: pd.DataFrame, band: tuple[float, float], others: float) -> Drawn:
    """Figure 2: SaCo's correlation with each existing metric (bar, estimate, low, high), beside the published band, and
    last the mean among those, beside the published mean."""
    names = list(bars["bar"])
    published = pd.DataFrame({"bar": names[:-1], "low": band[0], "high": band[1]})
    mean = pd.DataFrame({"bar": names[-1:], "estimate": others})
    tidy = pd.concat([bars.assign(series="ours"), pd.concat([published, mean]).assign(series="published")])
    fig, alt = dot_plot(tidy, "Spearman's correlation", row="bar", layout=Layout(series="series", mark=0.0, width=7.5))
    return fig, f"{alt} Published for SaCo with each: {band[0]:.2f} to {band[1]:.2f}."


def case_study_figure(picture: Picture) -> Drawn:
    """Figure 3: maps, and below each the salience of its groups and what is lost without them."""
    case = [name for name in (TA, RAW, CHANCE) if name in picture.maps]
    fig, axes = plt.subplots(2, len(case), figsize=(8, 4.8), height_ratios=[1, 1.5], squeeze=False, sharey="row")
    parts = []
    for (above, ax), method in zip(axes.T, case, strict=True):
        step = picture.steps[method]
        picture.draw_map(above, method)
        draw_steps(ax, step)
        smallest = step[step.group >= 3].together.min()
        parts.append(f"{label(method)}: smallest loss from the third group on {smallest:.2f}")
    axes[1][0].set_ylabel("loss of probability")
    fig.legend(*axes[1][0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    return fig, (
        f"Three columns for {picture.described}: the map, and below it bars of the groups' salience with lines of the "
        f"loss of probability, alone and cumulative. {'; '.join(parts)}."
    )


@dataclass(frozen=True)
class Case:
    """One photograph of which the numbers alone may be shown: by method the `scores` of its patches and its `groups`
    (method, group, salience, alone, together)."""

    predicted: str
    p_full: float
    model: str
    scores: dict[str, NDArray[np.float64]]
    groups: pd.DataFrame

    @classmethod
    def of(cls, maps: pd.DataFrame, groups: pd.DataFrame) -> Self:
        """From the tables of `imagenet_case.py`, all columns as text."""
        first = groups.iloc[0]
        scores = {str(name): rows["score"].to_numpy(dtype=float) for name, rows in maps.groupby("method", sort=False)}
        numbers = groups[["salience", "alone", "together"]].astype(float)
        kept = groups[["method"]].assign(group=groups["group"].astype(int)).join(numbers)
        return cls(str(first["predicted"]), float(first["p_full"]), str(first["model"]), scores, kept)

    @property
    def saco(self) -> dict[str, float]:
        """SaCo of each method."""
        return {
            str(name): saco_of(rows["salience"].to_numpy(), rows["alone"].to_numpy())
            for name, rows in self.groups.groupby("method", sort=False)
        }


def imagenet_case(case: Case) -> Drawn:
    """Figure 3 of a photograph that is not shown: maps of patches, and below each what is lost without its groups."""
    names = list(dict.fromkeys(case.groups["method"]))
    fig, axes = plt.subplots(2, len(names), figsize=(8, 4.8), height_ratios=[1, 1.5], squeeze=False, sharey="row")
    said = []
    for (above, ax), method in zip(axes.T, names, strict=True):
        if method in case.scores:
            score = case.scores[method]
            side = round(len(score) ** 0.5)
            above.imshow(score.reshape(side, side), cmap="viridis")
        figures.bare(above, label(method), size=8)
        step = case.groups[case.groups["method"] == method]
        draw_steps(ax, step)
        said.append(
            f"{label(method)}: lost after three groups {written(step.together.iloc[2], '.2f')}, most without one group "
            f"alone {written(step.alone.max(), '.2f')}"
        )
    axes[1][0].set_ylabel("loss of probability")
    fig.legend(*axes[1][0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    return fig, f"Three columns for a photograph that is not shown: maps of patches and curves. {'; '.join(said)}."


def draw_steps(ax: Any, step: pd.DataFrame) -> None:
    """Bars of the groups' salience with lines of the loss of probability, alone and cumulative."""
    share = step.salience / max(step.salience.abs().max(), 1e-12)
    ax.bar(step.group, share, color="0.75", label="salience of the group (largest: 1)", zorder=1)
    ax.plot(step.group, step.alone, "o-", color=OURS, ms=4, label="loss, group alone", zorder=3)
    ax.plot(step.group, step.together, "s--", color=PUBLISHED, ms=4, label="loss, groups so far", zorder=3)
    ax.axhline(0.9, color="0.4", ls=":", lw=1)
    ax.set_xticks([1, 3, 5, 7, 10])
    ax.grid(axis="x", visible=False)
    ax.set_xlabel("group, by salience")


WORST, BEST = 0.1, 1.0
"""Where the worst and the best score lie on an axis of a radar chart."""


def radar(values: pd.DataFrame, datasets: Sequence[str]) -> Drawn:
    """Figure 4, a row of charts per data set, one per family of methods and each with random scores: on the axis of
    each metric the worst of all methods at `WORST`, the best at `BEST`, linear between (dataset, metric, method,
    estimate)."""
    places = _places_on_axes(values)
    charts = list(product(datasets, FAMILIES.items()))
    fig, axes = figures.panels(len(charts), len(FAMILIES), height=3.4, subplot_kw={"projection": "polar"})
    for ax, (dataset, (family, members)) in zip(axes, charts, strict=True):
        _draw_radar(ax, places, dataset, [*members, CHANCE])
        ax.set_title(f"{label(dataset)}: {family}-based", fontsize="small", pad=14)
    of_random = []
    for dataset in datasets:
        on_axes = ", ".join(f"{label(metric)} {places[CHANCE][dataset, metric]:.2f}" for metric in SIGN)
        of_random.append(f"{label(dataset)}: {on_axes}")
    return fig, (
        f"Radar charts, one for each of {len(datasets)} data sets and three families of methods, five axes, outward is "
        "better. Where random scores "
        f"(red) lie between {WORST:g}, the worst method, and {BEST:g}, the best: {'; '.join(of_random)}."
    )


def _places_on_axes(values: pd.DataFrame) -> pd.DataFrame:
    """Where each method lies on the axis of a metric, [dataset and metric, methods]."""
    better = values.assign(estimate=values["estimate"] * values["metric"].map(SIGN))
    scores = better.pivot_table(index=["dataset", "metric"], columns="method", values="estimate")[[*METHODS, CHANCE]]
    lowest, highest = scores.min(axis=1), scores.max(axis=1)
    # Where all methods have one score, each lies in the middle.
    length = (highest - lowest).where(highest > lowest)
    share = scores.sub(lowest, axis=0).div(length, axis=0).fillna(0.5)
    return share * (BEST - WORST) + WORST


def _draw_radar(ax: Any, places: pd.DataFrame, dataset: str, methods: Sequence[str]) -> None:
    """One chart: a polygon for each method, random scores in red (`_places_on_axes`)."""
    angles = np.linspace(0, 2 * np.pi, len(SIGN) + 1)
    corners = [(dataset, metric) for metric in (*SIGN, next(iter(SIGN)))]  # the last is the first: a closed line
    for number, method in enumerate(methods):
        style = {"ls": ("-", "--", ":", "-.")[number % 4], "color": PALETTE[number % 4], "lw": 1.8, "zorder": 3}
        if method == CHANCE:
            style = {"ls": "-", "color": RED, "lw": 2.6, "zorder": 4}
        ax.plot(angles, places[method].loc[corners], label=short(method), **style)
    ax.set_theta_offset(np.pi / 2)
    ax.set_xticks(angles[:-1], [label(metric).replace(", ", ",\n") for metric in SIGN], fontsize=7)
    ax.set_ylim(0, 1.02)
    ax.set_yticks([WORST, (WORST + BEST) / 2, BEST], [])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize=7, ncols=2, frameon=False)


def groups_figure(pairs: Mapping[str, Sequence[Comparison]]) -> Drawn:
    """Table 2 as images: SaCo of each method with 5, 10 and 20 groups, published and ours."""
    rows = []
    for method, of_method in pairs.items():
        for k, pair in zip(KS, of_method, strict=True):
            cell = {"method": method, "groups": k}
            rows.append({**cell, "series": "published", **published_ends(pair)})
            rows.append({**cell, "series": "ours", **ends_of(pair)})
    names = {method: short(method) for method in pairs}
    layout = Layout(panel="method", series="series", columns=5, names=names, mark=0.0, width=9.5)
    fig, alt = line_plot(pd.DataFrame(rows), "groups", "SaCo", x="groups", layout=layout, bars=True)
    for ax in fig.axes:
        ax.set_xticks(KS, labels=[f"{k}" for k in KS])
        ax.set_xlim(KS[0] - 2, KS[-1] + 2)
    return fig, alt


def settings_figure(mine: pd.DataFrame, alone: pd.DataFrame, names: Mapping[str, str]) -> Drawn:
    """What each setting (of `names`, with its words) changes in SaCo: its level over ten methods, with single methods
    as ticks (`alone`: setting, estimate), and the tau of the methods' ranking (setting, and estimate and tau with their
    ends; a row a setting, in order)."""
    level, tau = "change of SaCo", "Kendall's tau with the main ranking of methods"
    of_mine = {"mean of ten methods": ENDS, "tau": ("tau", "tau low", "tau high")}
    tidy = pd.concat([stacked(mine, ["setting"], of_mine, "series"), alone.assign(series="single methods")])
    tidy["panel"] = np.where(tidy["series"] == "tau", tau, level)
    looks = {"mean of ten methods": (OURS, "o"), "single methods": ("#888888", "|"), "tau": (PALETTE[1], "D")}
    mark = {level: 0.0, tau: 1.0}
    layout = Layout(panel="panel", series="series", names=names, looks=looks, mark=mark, shared=False, width=9)
    return dot_plot(tidy, "what each other choice changes", row="setting", layout=layout)


def by_images(
    table: pd.DataFrame, colours: Mapping[str, str], columns_of: Callable[[str], tuple[str, str, str]]
) -> Drawn:
    """SaCo by method as printed and on each kind of images (`colours`); `columns_of`: where the table has a kind's
    estimate and its ends."""
    columns: dict[str, tuple[str, ...]] = {"published": ("published",)}
    looks = {}
    for (name, colour), mark in zip(colours.items(), "os", strict=False):
        columns[name] = columns_of(name)
        looks[name] = (colour, mark)
    names = {method: short(method) for method in table["method"]}
    layout = Layout(series="series", names=names, looks=looks, mark=0.0, width=7.5)
    return dot_plot(stacked(table, ["method"], columns, "series"), "SaCo", row="method", layout=layout)


def models_across(by_model: pd.DataFrame) -> pd.DataFrame:
    """A table with a row per model (which images, its name, n, a column per method) turned: a column per model, of
    numbers with two digits, and n in the last row."""
    heads = [f"{row.images}: {row.model}" for row in by_model.itertuples()]
    values = by_model.drop(columns=["images", "model", "n"])
    turned = values.T.map(lambda value: written(value, ".2f")).set_axis(heads, axis=1)
    turned.loc["n"] = [f"{n:.0f}" for n in by_model["n"]]
    return turned.rename_axis("method").reset_index()
