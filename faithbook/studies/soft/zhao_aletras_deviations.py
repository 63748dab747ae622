"""What the released code's choices change of our numbers: the tables of `soft_deviations`.

`power` is the share of inputs on which a metric prefers an attribution to random scores, `power(metric, dataset=...,
method=..., shows=...)`; `exchanged` the same with one choice changed, `exchanged(variant, metric, ...)`, on the same
inputs, `shows` saying on which side of the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.numbers import ends_of, row_of
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    AFTER,
    BEFORE,
    FLIP,
    METHODS,
    TIE,
    WIN,
    Power,
    Reading,
)

Row = dict[str, object]


def with_equal_amounts(exchanged: Power, ranks: str, metrics: Sequence[str], methods: Sequence[str]) -> pd.DataFrame:
    """Diagnosticity with min-max amounts, with equal ones (the variant `ranks`), and the difference, by metric and
    method; last the average over all methods of the paper."""
    rows = []
    for metric in metrics:
        for method in (*methods, "average"):
            of = METHODS if method == "average" else method
            after = exchanged(ranks, metric, method=of, shows=AFTER)
            before = exchanged(ranks, metric, method=of, shows=BEFORE)
            row: Row = {"metric": metric, "method": method, **ends_of(after - before)}
            rows.append(row | ends_of(before, "min-max") | row_of(after, "ranks"))
    return pd.DataFrame(rows)


def effects(
    exchanged: Power, moved: Scores, variants: Mapping[str, str], metrics: Sequence[str], units: pd.DataFrame
) -> pd.DataFrame:
    """What each variant that was measured changes of each metric, over the methods that it touches.

    `variants`: how each is called; `moved`: by how much scores move; `units`: the values of single inputs, which say
    what was measured.
    """
    units = units[units["variant"].isin(variants) & units["method"].isin(METHODS)]
    rows = []
    for variant in [name for name in variants if name in set(units["variant"])]:
        of_variant = units[units["variant"] == variant]
        for metric in metrics:
            measured = set(of_variant.loc[of_variant["metric"] == metric, "method"])
            touched = [name for name in METHODS if name in measured]
            if touched:
                row = effect(exchanged, moved, variant, metric, touched)
                rows.append({"variant": variant, "choice": variants[variant], **row})
    return pd.DataFrame(rows)


def effect(exchanged: Power, moved: Scores, variant: str, metric: str, methods: Sequence[str]) -> Row:
    """What a variant changes of a metric, over some methods: diagnosticity on both sides and its change, the change of
    the score, and the shares of comparisons that flip, that are outside of [0, 1], and that are defined on one side."""
    before, after, flips, outside, one_sided = (
        exchanged(variant, metric, method=methods, shows=shows)
        for shows in (BEFORE, AFTER, FLIP, diagnosticity.OUTSIDE, diagnosticity.ONE_SIDED)
    )
    score = moved.mean(variant=variant, metric=metric, method=methods)
    return {
        "metric": metric,
        "diagnosticity": before.ours.point,
        "other choice": after.ours.point,
        **ends_of(after - before, "change", "low", "high"),
        **ends_of(score, "score"),
        "flips": flips.ours.point,
        "outside": outside.ours.point,
        "one side only": one_sided.ours.point,
        "n": after.ours.n,
    }


def scaled_attention_as_coded(
    tried: Scores,
    exchanged: Power,
    variant: str,
    printed: pd.Series,
    datasets: Sequence[str],
    metrics: Sequence[str],
) -> pd.DataFrame:
    """Scaled attention by its gradient, as the text has it, and squared, as the code has it (`variant`), with plain
    attention, beside the printed values of both (by data set, metric and method)."""
    rows = []
    for dataset, metric in product(datasets, metrics):
        with_gradient = exchanged(variant, metric, method=["scaled_attention"], shows=BEFORE, dataset=dataset)
        squared = exchanged(variant, metric, method=["scaled_attention"], shows=AFTER, dataset=dataset)
        plain = tried.mean(variant=variant, metric=metric, method="attention", shows=BEFORE, dataset=dataset)
        rows.append(
            {
                "dataset": dataset,
                "metric": metric,
                "attention, printed": printed[dataset, metric, "attention"],
                "scaled, printed": printed[dataset, metric, "scaled_attention"],
                "attention": plain.ours.point,
                "scaled by gradient": with_gradient.ours.point,
                **ends_of(squared, "squared, as coded", "low", "high"),
                "n": squared.ours.n,
            }
        )
    return pd.DataFrame(rows)


def readings_of_ties(power: Power, datasets: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """Diagnosticity with ties as no win (`strict`), as half a win (`half`, with its interval) and as wins (`released`);
    the shares of ties, and of ties at the limit; and whether half a win decides which is preferred (`reading`)."""
    rows = []
    for dataset, metric in product(datasets, metrics):
        won, tied, limit = (
            power(metric, dataset=dataset, shows=shows).ours for shows in (WIN, TIE, diagnosticity.LIMIT)
        )
        half = Reading(tied=0.5).share(power, metric, dataset=dataset)
        row: Row = {"dataset": dataset, "metric": metric, "strict": won.point, "ties": tied.point}
        row |= {"at the limit": limit.point, **ends_of(half, "half", "low", "high")}
        rows.append(row | {"released": won.point + tied.point, "n": half.ours.n})
    table = pd.DataFrame(rows)
    below, above = table["high"] < 0.5, table["low"] > 0.5
    table["reading"] = np.select([below, above], ["random preferred", "attribution preferred"], "undecided")
    return table[[*(name for name in table.columns if name != "n"), "n"]]


def single_draws(power: Power, datasets: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """The share of comparisons that flip with one draw of the mask, and the change of diagnosticity."""
    rows = []
    for dataset, metric in product(datasets, metrics):
        flips = power(metric, dataset=dataset, shows=FLIP)
        change = power(f"{metric}_one_draw", dataset=dataset) - power(metric, dataset=dataset)
        row: Row = {"dataset": dataset, "metric": metric}
        rows.append(row | row_of(flips, "flips") | row_of(change, "change", "low", "high"))
    return pd.DataFrame(rows)
