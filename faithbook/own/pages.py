"""`evaluate`'s table made readable: what a model predicts, what explaining costs, means, ranks, and who beats chance.

The notebooks own_text_model and own_vision_model show it for what `own_model` has opened.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from textwrap import fill
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from torch import Tensor

from faithbook.models.load import Classifier
from faithbook.own.load import OwnData
from faithbook.show import figures, numbers
from faithbook.show.labels import label
from faithbook.show.numbers import ENDS, spoken
from faithbook.show.ranges import cut_to_range, holds
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import FEWEST_CLUSTERS, Estimate
from faithbook.stats.inference import Student
from faithbook.stats.needed import how_many
from faithbook.stats.verdict import Verdict, direction
from faithlib.attribution import Row, attribute
from faithlib.attribution.dispatch import attributed
from faithlib.catalogue import DIRECTIONS, FAITHFULNESS, FAMILIES, HIGHER
from faithlib.errors import FaithlibError, InputError
from faithlib.evaluation.measures import families_of
from faithlib.inputs import Inputs, TextInputs
from faithlib.names import Erasure, MethodName, MetricName
from faithlib.perturb import Perturber

FLOOR = "random"
RECOMMENDED = "srg"
"""What the book advises where one does not know how a model reads erased inputs (`data/recommendations.csv`)."""


def parsed_names(names: str, default: Sequence[str] | None = None) -> list[str] | None:
    """A notebook's parameter as names: "default", or names with commas between.

    >>> parsed_names("lime, random"), parsed_names("default")
    (['lime', 'random'], None)
    """
    if names.strip() == "default":
        return None if default is None else list(default)
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def metrics_shown(names: str, *, has_gold: bool) -> list[MetricName]:
    """The metrics that a page shows: those named, or with "default" SRG and all that `evaluate` shows by itself."""
    named = parsed_names(names)
    if named is not None:
        return cast(list[MetricName], named)
    families = families_of(None, has_gold=has_gold)
    names_of = [name for family in families for name in FAMILIES[family].directions]
    return cast(list[MetricName], [RECOMMENDED, *names_of])


def predictions(classifier: Classifier, brought: OwnData) -> pd.DataFrame:
    """What the model says of each input: input, text (of texts), predicted, probability, and where labels were given
    label and correct (1 or 0)."""
    perturber = Perturber(classifier.model, brought.inputs)
    predicted, names = perturber.predicted.tolist(), classifier.label_names
    frame = pd.DataFrame({"input": brought.ids})
    if brought.texts:
        frame["text"] = brought.texts
    frame["predicted"] = [names[c] for c in predicted]
    frame["probability"] = perturber.full.double().cpu().numpy()
    if brought.labels is not None:
        frame["label"] = [names[c] for c in brought.labels]
        frame["correct"] = [float(a == b) for a, b in zip(predicted, brought.labels, strict=True)]
    return frame


def accuracy_in_words(predicted: pd.DataFrame) -> str:
    """The share of correct predictions with its interval, in words."""
    share = Conditions.of(
        predicted.assign(of="accuracy"), over=["of"], unit="input", value="correct", bounds=(0, 1)
    ).mean()
    return f"Accuracy {spoken(share, '.2f')} (95 % interval)."


def explain(
    methods: Sequence[MethodName], classifier: Classifier, inputs: Inputs, *, erase: Erasure | None = None
) -> tuple[dict[str, Tensor], pd.DataFrame]:
    """Scores [B, F] of each method, those that `evaluate` computes of these names, and what they cost.

    The costs: method, seconds, and for texts the rows run forward and backward (what methods share is on the account of
    the first of them).
    """
    if isinstance(inputs, TextInputs):
        shared = Perturber(classifier.model, inputs, erase=erase)
        rows: dict[str, Row] = {name: Row(name) for name in methods}
        scores, costs = attributed(rows, classifier.model, inputs, perturber=shared)
        timings = [(name, cost.rows_run, cost.backward_run, cost.seconds) for name, cost in costs.items()]
        return scores, pd.DataFrame(timings, columns=["method", "rows", "backward", "seconds"])
    scores, seconds = {}, {}
    for name in methods:
        began = time.perf_counter()
        scores[name] = attribute(name, classifier.model, inputs)
        seconds[name] = time.perf_counter() - began
    return scores, pd.DataFrame({"method": list(methods), "seconds": list(seconds.values())})


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """`evaluate`'s table as means over inputs: metric, direction, method, estimate, low, high, n, dropped; metrics and
    methods in the table's order, 95 % intervals over inputs, undefined values left out and counted."""
    cells = _cells(table)
    dropped = table["value"].isna().groupby([table["metric"], table["method"]]).sum()
    pairs = product(table["metric"].unique(), table["method"].unique())
    means = {key: _mean(cells, *key) for key in pairs if key in dropped.index}
    frame = numbers.listed(means, ["metric", "method"]).assign(dropped=[int(dropped[key]) for key in means])
    frame.insert(1, "direction", frame["metric"].map(DIRECTIONS))
    return frame


def side_by_side(means: pd.DataFrame) -> pd.DataFrame:
    """A summary for readers: one row per metric, the recommended one first, one column per method, "mean [low, high]";
    "–" where none is defined."""
    undefined = means["estimate"].isna()
    cells = ["–" if none else spoken(row, ".2f") for none, row in zip(undefined, means.itertuples(), strict=True)]
    wide = means.assign(cell=cells).pivot(index=["metric", "direction"], columns="method", values="cell")
    metrics = means[["metric", "direction"]].drop_duplicates()
    metrics = metrics.sort_values("metric", key=lambda names: names != RECOMMENDED, kind="stable")
    wide = wide.reindex(pd.MultiIndex.from_frame(metrics))
    methods = list(dict.fromkeys(means["method"]))
    return wide[methods].rename(columns=label).reset_index().rename(columns={"direction": "better"})


def undefined(means: pd.DataFrame) -> pd.DataFrame:
    """How many values of a summary were left out as undefined, for readers: one row per metric that lacks some, one
    column per method."""
    counts = means.pivot(index="metric", columns="method", values="dropped")
    counts = counts.loc[list(dict.fromkeys(means["metric"])), list(dict.fromkeys(means["method"]))]
    counts = counts[counts.sum(axis=1) > 0].astype(int)
    return counts.rename(index=label, columns=label).reset_index().rename_axis(columns=None)


def above_floor(means: pd.DataFrame, metric: str = RECOMMENDED, floor: str = FLOOR) -> str:
    """A metric's best method next to random scores, in a sentence; "" where a summary lacks one of them."""
    of_metric = means[(means["metric"] == metric) & means["estimate"].notna()].set_index("method")
    methods = of_metric.drop(index=floor, errors="ignore")
    if methods.empty or floor not in of_metric.index:
        return ""
    best = str(methods["estimate"].idxmax() if DIRECTIONS[metric] == HIGHER else methods["estimate"].idxmin())
    return (
        f"By {label(metric)} the best method is {label(best)}, {spoken(methods.loc[best], '.2f')}; random scores get "
        f"{spoken(of_metric.loc[floor], '.2f')} (n = {int(methods['n'][best])})."
    )


def ranks_of_methods(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Who comes first: the rank of each method under each metric (methods by metrics, 1 is best, ties share), and each
    method's mean rank over the metrics of faithfulness, with its interval, best first: method, estimate, low, high.

    Metrics come in families that agree by construction, so a mean rank is a summary and not a vote.
    """
    cells = _cells(table)
    methods, metrics = table["method"].unique(), table["metric"].unique()
    means = {(metric, method): _mean(cells, metric, method) for metric in metrics for method in methods}
    # Cell means as they are and of each resample, the higher the better; ranks within each metric.
    values_of = {(metric, method): np.append(mean.point, mean.replicates) for (metric, method), mean in means.items()}
    ascending = pd.DataFrame(values_of).rename_axis(columns=["metric", "method"]).T
    ascending = ascending.mul([1 if DIRECTIONS[metric] == HIGHER else -1 for metric, _ in ascending.index], axis=0)
    ranked = ascending.groupby(level="metric", sort=False).rank(ascending=False)
    rank_of = ranked[0].unstack("metric").loc[methods, metrics]
    rows = {}
    faithful = [name for name in metrics if name in (RECOMMENDED, *FAITHFULNESS)]
    for method, mean_ranks in ranked.loc[faithful].groupby(level="method", sort=False).mean().iterrows():
        # A mean rank is no mean of inputs: its spread is that of its replicates.
        changes = (mean_ranks[1:].to_numpy() - mean_ranks[0])[:, None]
        rank = replace(
            cells.undefined,
            point=float(mean_ranks[0]),
            deviations=changes,
            clusters=cells.resamples.sizes,
            bounds=(1.0, float(len(methods))),
        )
        rows[method] = numbers.ends_of(rank)
    means_of_ranks = pd.DataFrame(rows, index=ENDS).T.rename_axis("method").reset_index()
    means_of_ranks = means_of_ranks.sort_values("estimate", ignore_index=True, kind="stable")
    return (rank_of.loc[means_of_ranks["method"]] if rows else rank_of), means_of_ranks


def against_floor(table: pd.DataFrame, floor: str = FLOOR) -> pd.DataFrame:
    """Count under how many metrics of faithfulness each method does better than random scores, worse, or neither, by
    the paired difference (`verdict.direction`): method, better, worse, undecided. Fewer than ten inputs decide nothing.

    `would decide`: as many inputs would decide half of what is undecided, were the differences as they look (median
    over metrics of `to_decide`).
    """
    cells = _cells(table)
    faithful = [name for name in table["metric"].unique() if name in (RECOMMENDED, *FAITHFULNESS)]
    rows = []
    for method in [name for name in table["method"].unique() if name != floor]:
        gains = [_mean(cells, metric, method) - _mean(cells, metric, floor) for metric in faithful]
        up = [gain if DIRECTIONS[metric] == HIGHER else -gain for metric, gain in zip(faithful, gains, strict=True)]
        answers = [_answer(gain) for gain in up]
        decided = (Verdict.YES, Verdict.NO)
        open_ones = [gain for gain, answer in zip(gains, answers, strict=True) if answer not in decided]
        needed = [to_decide(gain) for gain in open_ones if gain.n]
        half = float(np.median(needed)) if needed else math.nan
        row = {"method": method, "better": answers.count(Verdict.YES), "worse": answers.count(Verdict.NO)}
        row |= {"undecided": len(open_ones), "would decide": math.ceil(half) if math.isfinite(half) else math.nan}
        rows.append(row)
    return pd.DataFrame(rows)


def to_decide(difference: Estimate) -> float:
    """Inputs with which a difference as large as this one is distinguished from zero with a power of 80 %
    (`needed.how_many`), ten at least; infinite where it is none, NaN where nothing spreads."""
    if not difference.standard_error > 0:
        return math.nan
    return max(how_many(difference), FEWEST_CLUSTERS)


def _answer(gain: Estimate) -> Verdict:
    """Whether a difference is above zero."""
    return direction(Student.of([gain]), 1).verdict if gain.n else Verdict.NOT_TESTED


def rank_figure(rank_of: pd.DataFrame, means: pd.DataFrame) -> tuple[Any, str]:
    """What `ranks_of_methods` gives as a figure, and in words for its alternative text."""
    # Metrics are the rows, for their names are long and there are more of them than methods.
    fig, (above, below) = plt.subplots(
        2,
        1,
        figsize=(2.6 + 0.95 * max(len(rank_of), 3), 0.3 * rank_of.shape[1] + 0.32 * len(rank_of) + 2.4),
        height_ratios=(rank_of.shape[1] + 1, len(rank_of) + 1),
    )
    cells = rank_of.to_numpy(dtype=float).T
    above.imshow(cells, cmap="Blues_r", vmin=1 - len(rank_of), vmax=len(rank_of), aspect="auto")
    for y, x in np.ndindex(*cells.shape):
        text = "–" if np.isnan(cells[y, x]) else f"{cells[y, x]:g}"
        above.text(x, y, text, ha="center", va="center", fontsize=9, color="black")
    above.set_yticks(range(rank_of.shape[1]), [label(name) for name in rank_of.columns])
    above.set_xticks(range(len(rank_of)), [fill(label(name), 12) for name in rank_of.index])
    above.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
    above.grid(visible=False)
    figures.dots(below, means, range(len(means)))
    below.set_yticks(range(len(means)), [label(name) for name in means["method"]])
    below.set_ylim(len(means) - 0.5, -0.5)
    below.set_xlabel("mean rank, 95 % interval")
    below.set_visible(len(means) > 0)
    ends = zip(means["method"], means["estimate"], means["low"], means["high"], strict=True)
    best = "; ".join(f"{label(name)} {mean:.1f} ({low:.1f} to {high:.1f})" for name, mean, low, high in ends)
    return (
        fig,
        f"A grid of ranks, {rank_of.shape[1]} metrics by {len(rank_of)} methods. Mean ranks with intervals: {best}.",
    )


def refusal(attempt: Callable[[], object], hidden: str = "") -> str:
    """The error that an attempt gets, by name and message, without the path `hidden`; an attempt that succeeds is an
    InputError itself."""
    try:
        attempt()
    except FaithlibError as error:
        return f"{type(error).__name__}: {error}".replace(hidden, "")
    raise InputError("the attempt succeeded: expected it to be refused")


def _cells(table: pd.DataFrame) -> Conditions:
    return Conditions.of(table, over=["method", "metric"], unit="input")


def _mean(cells: Conditions, metric: str, method: str) -> Estimate:
    """The mean of a cell, undefined where it has no value on any input."""
    known = (method, metric) in cells.values and bool(cells.values[method, metric].notna().any())
    if not known:
        return cells.undefined
    mean = cells.mean(method=method, metric=metric)
    return cut_to_range(mean, [metric]) if holds(metric, cells.values[method, metric]) else mean
