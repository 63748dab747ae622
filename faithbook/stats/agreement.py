"""Rank correlations: Kendall's tau-b, Spearman's rho, and how far metrics agree on inputs.

Agreement is a rank correlation over the inputs of a cell, averaged over cells, with joint draws. Every pair of metrics
is a quantity, so that means over pairs and differences between them are too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from faithbook.stats.estimates import Array, Drawn, Estimate
from faithbook.stats.p_values import defined_mean
from faithlib.errors import InputError

SPEARMAN, KENDALL = "Spearman", "Kendall"

Pairs = dict[tuple[str, str, str], Estimate]
"""By (Spearman or Kendall, first metric, second metric)."""


def tau_b(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Kendall's tau-b of two sets of values, the only tau of this book: the last axis is ranked, the others broadcast.

    (concordant - discordant pairs) / sqrt(pairs not tied in the first * pairs not tied in the second), in [-1, 1]; 1:
    the same order. Without ties this is tau-a. Ties on one side alone, as values printed to two digits have them, keep
    it below 1. Items that are NaN on either side are left out; NaN where one side has no two different values.
    `scipy.stats.kendalltau` gives the same number, one pair of vectors at a time.

    Raises InputError where the two differ in the number of items.

    >>> tau_b([[1, 2, 3], [3, 2, 1]], [10, 20, 20]).round(3).tolist()
    [0.816, -0.816]
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not one.ndim or not other.ndim or one.shape[-1] != other.shape[-1]:
        raise InputError(f"first {one.shape} and second {other.shape}: expected as many items on the last axis")
    i, j = np.triu_indices(one.shape[-1], 1)
    signs, others = (np.sign(values[..., i] - values[..., j]) for values in (one, other))
    defined = ~(np.isnan(signs) | np.isnan(others))
    signs, others = np.where(defined, signs, 0), np.where(defined, others, 0)
    untied = (signs != 0).sum(axis=-1) * (others != 0).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return (signs * others).sum(axis=-1) / np.sqrt(untied)


def drawn_correlations(values: NDArray[Any], weights: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Spearman's rho and Kendall's tau-b of every two columns of `values` [N, C], in every sample that holds item i as
    often as `weights` [S, N] says: two arrays [C (C - 1) / 2, S], pairs of columns in the order of
    `itertools.combinations`. NaN where one of the two is constant in the sample.

    Copies of an item tie with one another, as they do in a sample written out. In single precision, so that hundreds of
    samples of hundreds of items fit.
    """
    # sign(x_i - x_j) for every two items is all that a rank correlation knows of a column.
    orders = [np.sign(column[:, None] - column[None, :]).astype(np.float32) for column in values.T]
    weights = np.asarray(weights, dtype=np.float32)
    ranks = [weights @ order.T for order in orders]  # twice the midrank in the sample drawn, minus its mean
    norms = [
        ((weights * rank**2).sum(1), (weights * (weights @ np.abs(order))).sum(1))
        for rank, order in zip(ranks, orders, strict=True)
    ]
    rho, tau = [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        for i, j in combinations(range(len(orders)), 2):
            rho.append((weights * ranks[i] * ranks[j]).sum(1) / np.sqrt(norms[i][0] * norms[j][0]))
            concordant = (weights * (weights @ (orders[i] * orders[j]))).sum(1)
            tau.append(concordant / np.sqrt(norms[i][1] * norms[j][1]))
    return np.array(rho, dtype=float), np.array(tau, dtype=float)


def tau_of(ours: Sequence[Estimate], other: Sequence[Estimate] | Sequence[float]) -> Estimate:
    """Kendall's tau-b of the order of some quantities with that of as many others, or with given values.

    Its draws are ranked again; it has no slopes, so it has an interval and no p-value of its own (`rules.order` has).
    """
    first, theirs = ours[0], [one for one in other if isinstance(one, Estimate)]
    draws = np.stack([one.draws for one in ours], axis=1)
    if theirs:
        drawn = tau_b(draws, np.stack([one.draws for one in theirs], axis=1))
        point = float(tau_b([one.point for one in ours], [one.point for one in theirs]))
    else:
        values = np.asarray(other, dtype=float)
        drawn, point = tau_b(draws, values), float(tau_b([one.point for one in ours], values))
    clusters, n = min(one.clusters for one in (*ours, *theirs)), min(one.n for one in (*ours, *theirs))
    return Estimate(point, drawn, np.zeros_like(first.influence), first.drawn, clusters, n, (-1.0, 1.0))


def rank_agreement(
    frame: pd.DataFrame,
    metrics: Sequence[str],
    *,
    inside: Sequence[str],
    n_resamples: int = 999,
) -> Pairs:
    """Spearman's rho and Kendall's tau-b of every two metrics over inputs, the mean over cells.

    `frame`: one row per input, cell and metric, with the columns dataset, id, cluster, metric, value; `inside`: the
    columns of a cell (model, method). Clusters are drawn within their data set, the same draw for all cells. An input
    is left out of a cell where one metric is undefined, a cell where a metric is constant. What each cluster adds is
    its jackknife influence, (K - 1) / K of what leaving it out takes away, K the clusters of its data set.

    A pair without a cell left is NaN, of no inputs: not testable. Raises InputError where no input has all metrics.
    """
    cells = ["dataset", *[name for name in inside if name != "dataset"]]
    asked = frame[frame["metric"].isin(list(metrics))]
    wide = asked.pivot_table(index=[*cells, "cluster", "id"], columns="metric", values="value", observed=True)
    wide = wide.reindex(columns=list(metrics)).dropna()
    if wide.empty:
        raise InputError(f"no input has all of {', '.join(metrics)}: nothing to correlate")
    shared = pd.MultiIndex.from_frame(
        asked[["dataset", "cluster"]].drop_duplicates().sort_values(["dataset", "cluster"])
    )
    stratum = pd.factorize(shared.get_level_values("dataset"))[0].astype(np.int64)
    drawn = Drawn.of(stratum, n_resamples=n_resamples, seed=0)
    all_once, left_out = np.ones((1, len(shared))), 1 - np.eye(len(shared))
    weights = np.vstack([all_once, drawn.counts, left_out])

    values: dict[str, list[Array]] = {SPEARMAN: [], KENDALL: []}
    sizes = []
    for _, cell in wide.groupby(level=cells, sort=False):
        keys = pd.MultiIndex.from_arrays([cell.index.get_level_values(name) for name in ("dataset", "cluster")])
        place = shared.get_indexer(keys)
        both = drawn_correlations(cell.to_numpy(), weights[:, place])
        values[SPEARMAN].append(both[0])
        values[KENDALL].append(both[1])
        sizes.append((len(set(place)), len(cell)))
    counts = np.bincount(stratum)[stratum]
    made: Pairs = {}
    for kind, of_cells in values.items():
        stacked = np.array(of_cells)  # [cells, pairs, 1 + draws + clusters]
        # A cell in which a metric is constant has no correlation, in no draw either.
        stacked[np.isnan(stacked[:, :, 0])] = np.nan
        means = defined_mean(stacked)
        for (one, other), row in zip(combinations(metrics, 2), means, strict=True):
            draws, without = row[1 : 1 + n_resamples], row[1 + n_resamples :]
            influence = (counts - 1) / counts * (row[0] - without)
            # Without one of two different inputs a cell may be constant; then leaving it out tells nothing.
            influence = np.nan_to_num(influence)
            clusters, n = (0 if np.isnan(row[0]) else min(size[i] for size in sizes) for i in (0, 1))
            made[kind, one, other] = Estimate(float(row[0]), draws, influence, drawn, clusters, n, (-1.0, 1.0))
    return made
