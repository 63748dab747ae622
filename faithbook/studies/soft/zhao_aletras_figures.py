"""Figures 2 and 3 of Zhao & Aletras (2023) of ours: scores and diagnosticity by rationale length, what `soft_figures`
shows.

    compared = Compared.of(page.measure("soft_metrics", prepare=counted_with_scores, ...), order=["sst", "ag"])
    fig, alt = drawn_scores(scores_by_length(compared, [0.01, 0.5]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd

from faithbook.judge.decide import Parts
from faithbook.show.figures import PALETTE
from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, listed, spoken
from faithbook.show.plots import Drawn, Layout, line_plot
from faithbook.show.tables import in_names
from faithbook.stats import comparison
from faithbook.stats.comparison import Comparison
from faithbook.studies.soft.zhao_aletras import shared
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    AS_OURS,
    HARD,
    LIMIT,
    METHODS,
    OUTSIDE,
    PAIRS,
    SCORE,
    TIE,
    Power,
    Reading,
    at_length,
    readings,
    slope,
)
from faithbook.studies.soft.zhao_aletras_tables import Compared
from faithbook.text import joined

LENGTH = "rationale length (share of wordpieces)"
RANDOM = "random"
LONG = ("evinf", "multirc")
"""The paper's long tasks."""
SINGLE_PRECISION = 1e-6
"""Values are kept in single precision: a difference below this is none."""


def in_short(compared: Compared, ratios: Sequence[float]) -> str:
    """The result of the page: at which length rationales separate best, and how the share changes from the shortest to
    the longest."""
    first, last = ratios[0], ratios[-1]
    best, ends = {}, {}
    for metric in HARD:
        by_ratio = {ratio: compared.power(at_length(metric, ratio)) for ratio in ratios}
        best[metric] = max(ratios, key=lambda ratio: by_ratio[ratio].ours.point)
        ends[metric] = f"{spoken(by_ratio[first], '.2f')} to {spoken(by_ratio[last], '.2f')}"
    n = compared.power(at_length("nc", first)).ours.n
    return (
        "Real explanations are best separated from random ones by rationales of "
        f"{100 * best['nc']:.0f} % of the wordpieces under comprehensiveness (NC) and of {100 * best['ns']:.0f} % "
        "under sufficiency (NS). Share of texts on which the real one is preferred, from rationales of "
        f"{100 * first:.0f} % to {100 * last:.0f} %: NC {ends['nc']}, NS {ends['ns']} ({compared.model}, n = {n:,} "
        "texts in the smaller data set). The paper reads off its figure that this share does not keep rising with the "
        "length."
    )


def points_by_length(power: Power, metric: str, ratios: Sequence[float], **cells: str) -> pd.DataFrame:
    """A hard metric at each length as rows of a plot, with the labels of its cells."""
    values = {(metric, ratio): power(at_length(metric, ratio), **cells) for ratio in ratios}
    points = listed(values, ["metric", "ratio"])
    labels = {name: level for name, level in cells.items() if name != "shows"}
    return points.assign(**labels)[[*labels, *points]]


# ------------------------------------------------------------------------------------------------------------ Figure 2
def scores_by_length(compared: Compared, ratios: Sequence[float]) -> pd.DataFrame:
    """Figure 2: mean scores of every method and of random scores, by data set, metric and length, with the panel that
    each is in."""
    cells = product(compared.tasks, HARD, [*METHODS, RANDOM])
    rows = pd.concat(
        points_by_length(compared.power, metric, ratios, dataset=dataset, method=method, shows=SCORE)
        for dataset, metric, method in cells
    )
    rows["panel"] = [
        f"{label(dataset)}: {label(metric)}" for dataset, metric in zip(rows["dataset"], rows["metric"], strict=True)
    ]
    return rows


def drawn_scores(rows: pd.DataFrame) -> Drawn:
    """`scores_by_length`, random scores in black."""
    names = {name: label(name) for name in METHODS}
    layout = Layout(panel="panel", series="method", names=names, looks={RANDOM: ("#000000", "X")})
    return line_plot(rows, LENGTH, "mean score", x="ratio", layout=layout, log=True)


def share_outside(compared: Compared, ratios: Sequence[float]) -> float:
    """The share of hard scores that limits of 0 and 1 change."""
    lengths = [compared.power(at_length(metric, ratio), shows=OUTSIDE) for metric, ratio in product(HARD, ratios)]
    return float(comparison.mean(lengths).ours.point)


def slopes(compared: Compared, ratios: Sequence[float]) -> pd.DataFrame:
    """The change of the mean score per doubling of the rationale, and the same minus that of random scores, by data
    set, metric and model."""
    rows = []
    for dataset, metric, model in product(compared.tasks, HARD, compared.models):
        cells = {"dataset": dataset, "model": model, "shows": SCORE}
        real = slope(compared.of_model, metric, ratios, **cells)
        extra = real - slope(compared.of_model, metric, ratios, **cells, method=RANDOM)
        row = {"dataset": dataset, "metric": metric, "model": model, "n": real.ours.n, **ends_of(real)}
        rows.append(row | ends_of(extra, "minus that of random", "its low", "its high"))
    return pd.DataFrame(rows)


def slopes_in_words(found: pd.DataFrame) -> pd.DataFrame:
    """`slopes` with names for people."""
    columns = {"estimate": "change per doubling", "minus that of random": "minus that of random scores"}
    return in_names(found, 3).rename(columns=columns)


def steeper_than_random(found: pd.DataFrame, model: str) -> tuple[int, int]:
    """In how many panels real scores rise more steeply than random ones with a model, and of how many (`slopes`)."""
    of_model = found[found["model"] == model]
    return int((of_model["its low"] > SINGLE_PRECISION).sum()), len(of_model)


# ------------------------------------------------------------------------------------------------------------ Figure 3
def diagnosticity_by_length(
    power: Power, models: Mapping[str, str] | Sequence[str], ratios: Sequence[float]
) -> pd.DataFrame:
    """Figure 3: diagnosticity of the hard metrics by data set and length, mean over methods; with the data sets in
    `models`, or with the model that each has there."""
    lines = [
        points_by_length(power, metric, ratios, **_cells(dataset, models)) for dataset, metric in product(models, HARD)
    ]
    return pd.concat(lines)


def _cells(dataset: str, models: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """The labels of a data set, with its model where it has one of its own."""
    labels = {"dataset": dataset}
    if isinstance(models, Mapping):
        labels["model"] = models[dataset]
    return labels


def drawn_diagnosticity(rows: pd.DataFrame, power: Power, models: Mapping[str, str] | Sequence[str]) -> Drawn:
    """`diagnosticity_by_length`, with soft metrics as level lines: they have no length."""
    levels: dict[tuple[str, str], Comparison] = {}
    looks: dict[str, tuple[str, str]] = {}
    for hard, colour in zip(HARD, PALETTE, strict=False):
        soft = PAIRS[hard]
        looks |= {hard: (colour, "o"), soft: (colour, "o")}  # a pair has one colour, so that it is compared by eye
        for dataset in models:
            levels[dataset, soft] = power(soft, **_cells(dataset, models))
    names = {name: label(name) for name in (*models, *looks)}
    layout = Layout(panel="dataset", series="metric", names=names, looks=looks, mark=0.5)
    lines = pd.concat([rows, listed(levels, ["dataset", "metric"])])
    return line_plot(lines, LENGTH, "diagnosticity", x="ratio", layout=layout, log=True)


def ties_by_length(compared: Compared, ratios: Sequence[float]) -> pd.DataFrame:
    """The share of ties between real and random by data set, metric and length: all, and those in which neither lost
    probability."""
    rows = []
    for dataset, metric in product(compared.tasks, HARD):
        row = {"dataset": dataset, "metric": metric, "n": compared.power(metric, dataset=dataset).ours.n}
        for ratio in ratios:
            of_length = at_length(metric, ratio)
            every = compared.power(of_length, dataset=dataset, shows=TIE).ours.point
            at_limit = compared.power(of_length, dataset=dataset, shows=LIMIT).ours.point
            row[f"{100 * ratio:.0f} %"] = f"{every:.2f} / {at_limit:.2f}"
        rows.append(row)
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------------------------------------------- long texts
def long_tasks(compared: Compared) -> dict[str, str]:
    """The long tasks that were measured, with the largest model that each has: the paper's own, or what replaces
    them."""
    of_tasks = [name for name in compared.tasks if compared.stands.get(name, name) in LONG]
    levels = compared.measured.levels("dataset")
    found = of_tasks or [name for name in levels if compared.stands.get(name) in LONG]
    return {name: shared(compared.measured.frame, [name])[0] for name in found}


def texts_by_task_in_words(compared: Compared) -> str:
    """On how many texts of each task the hard scores are defined, with the model on which claims are judged."""
    counts = {name: compared.power("nc", dataset=name).ours.n for name in compared.tasks}
    return joined(f"{n:,} texts of {label(name)}" for name, n in counts.items())


def fewest_texts(compared: Compared, models: Mapping[str, str], ratio: float) -> int:
    """On how many texts the smaller of some data sets has a score at a length."""
    return min(
        compared.power(at_length("nc", ratio), dataset=dataset, model=model).ours.n for dataset, model in models.items()
    )


def gains_on_long(compared: Compared, models: Mapping[str, str], reading: Reading = AS_OURS) -> Parts:
    """soft_c11: soft minus hard on each long task, as the reading has the metrics and counts ties."""
    gains: dict[str, Comparison] = {}
    for dataset, model in models.items():
        of_dataset = reading.gains(compared.of_model, HARD, dataset=dataset, model=model)
        gains |= {f"{name}, {label(dataset)}": gain for name, gain in of_dataset.items()}
    return gains


def gains_by_reading(
    compared: Compared, models: Mapping[str, str], ratios: Sequence[float]
) -> dict[tuple[str, ...], Parts]:
    """soft_c11 under each reading of lengths, draws and ties."""
    return {options: gains_on_long(compared, models, reading) for options, reading in readings(ratios).items()}
