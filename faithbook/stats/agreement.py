"""Rank correlations: Kendall's tau-b, Spearman's rho, and how far metrics agree on inputs.

Agreement is a rank correlation over the inputs of a cell, averaged over cells, with joint draws. Every pair of metrics
is a quantity, so that means over pairs and differences between them are too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from faithbook.stats.estimate import Array, Estimate, Resamples, combined
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
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[-1]:
        raise InputError(f"first {x.shape} and second {y.shape}: expected as many items on the last axis")
    i, j = np.triu_indices(x.shape[-1], 1)
    signs_x, signs_y = np.sign(x[..., i] - x[..., j]), np.sign(y[..., i] - y[..., j])
    defined = ~(np.isnan(signs_x) | np.isnan(signs_y))
    signs_x, signs_y = np.where(defined, signs_x, 0), np.where(defined, signs_y, 0)
    untied = (signs_x != 0).sum(axis=-1) * (signs_y != 0).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return (signs_x * signs_y).sum(axis=-1) / np.sqrt(untied)


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


def defined_mean(values: Array) -> Array:
    """The mean over the first axis of what is not NaN; NaN where nothing is left.

    >>> defined_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, nan]
    """
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, values, 0).sum(0) / defined.sum(0))


def tau_of(ours: Sequence[Estimate], other: Sequence[Estimate] | Sequence[float]) -> Estimate:
    """Kendall's tau-b of the order of some estimates with that of as many others, or with given values.

    Its replicates are ranked again. It is shown with an interval; whether an order is the published one is tested by
    permutation (`verdict.order`).
    """
    estimates = [value for value in other if isinstance(value, Estimate)]
    if estimates:
        number = len(ours)
        tau = combined(lambda values: tau_b(values[..., :number], values[..., number:]), [*ours, *estimates])
    else:
        values = np.asarray(other, dtype=float)
        tau = combined(lambda drawn: tau_b(drawn, values), list(ours))
    return replace(tau, bounds=(-1.0, 1.0))


def tau_of_independent(ours: Sequence[Estimate], other: Sequence[Estimate]) -> Estimate:
    """The same of estimates that are measured on other inputs: what resampling either side changes, with the other as
    it is, stands side by side as strata do."""
    first = tau_of(ours, [float(estimate.point) for estimate in other])
    second = tau_of(other, [float(estimate.point) for estimate in ours])
    deviations = np.concatenate([first.deviations, second.deviations], axis=1)
    clusters = np.concatenate([first.clusters, second.clusters])
    return replace(first, deviations=deviations, clusters=clusters, n=min(first.n, second.n))


def rank_agreement(
    frame: pd.DataFrame,
    metrics: Sequence[str],
    *,
    inside: Sequence[str],
    n_resamples: int = 999,
) -> Pairs:
    """Spearman's rho and Kendall's tau-b of every two metrics over inputs, the mean over cells.

    `frame`: one row per input, cell and metric, with the columns dataset, id, cluster, metric, value; `inside`: the
    columns of a cell (model, method). Clusters are resampled within their data set, the same resample for all cells. An
    input is left out of a cell where one metric is undefined, a cell where a metric is constant.

    A pair without a cell left is NaN, of no inputs: not testable. Raises InputError where no input has all metrics.
    """
    cells = ["dataset", *[name for name in inside if name != "dataset"]]
    of_metrics = frame[frame["metric"].isin(list(metrics))]
    wide = of_metrics.pivot_table(index=[*cells, "cluster", "id"], columns="metric", values="value", observed=True)
    wide = wide.reindex(columns=list(metrics)).dropna()
    if wide.empty:
        raise InputError(f"no input has all of {', '.join(metrics)}: nothing to correlate")
    shared = pd.MultiIndex.from_frame(
        of_metrics[["dataset", "cluster"]].drop_duplicates().sort_values(["dataset", "cluster"])
    )
    stratum = pd.factorize(shared.get_level_values("dataset"))[0].astype(np.int64)
    resamples = Resamples.draw(stratum, n_resamples)
    weights = np.vstack([np.ones((1, len(shared))), resamples.counts])  # as it is, then every resample

    values: dict[str, list[Array]] = {SPEARMAN: [], KENDALL: []}
    sizes, stratum_of_cell = [], []
    for _, cell in wide.groupby(level=cells, sort=False):
        keys = pd.MultiIndex.from_arrays([cell.index.get_level_values(name) for name in ("dataset", "cluster")])
        positions = shared.get_indexer(keys)
        rho, tau = drawn_correlations(cell.to_numpy(), weights[:, positions])
        values[SPEARMAN].append(rho)
        values[KENDALL].append(tau)
        sizes.append((len(set(positions)), len(cell)))
        stratum_of_cell.append(int(stratum[positions[0]]))  # a cell is of one data set, and so of one stratum
    pairs: Pairs = {}
    for kind, of_cells in values.items():
        for index, (first, second) in enumerate(combinations(metrics, 2)):
            of_pair = np.array([cell[index] for cell in of_cells])  # [cells, 1 + resamples]
            pairs[kind, first, second] = _mean_over_cells(of_pair, sizes, stratum_of_cell, resamples)
    return pairs


def _mean_over_cells(
    of_pair: Array, sizes: Sequence[tuple[int, int]], stratum_of_cell: Sequence[int], resamples: Resamples
) -> Estimate:
    """The mean over cells [cells, 1 + R] that have a correlation; a resample in which a cell has none leaves that cell
    as it is."""
    strata = len(resamples.sizes)
    deviations, clusters = np.zeros((len(resamples.counts), strata)), np.zeros(strata, dtype=np.int64)
    defined = np.flatnonzero(~np.isnan(of_pair[:, 0]))
    if not len(defined):
        return Estimate(np.float64(np.nan), deviations, clusters, resamples, None, 0, (-1.0, 1.0))
    for cell in defined.tolist():
        h, of_cell = stratum_of_cell[cell], sizes[cell][0]
        deviations[:, h] += np.nan_to_num(of_pair[cell, 1:] - of_pair[cell, 0]) / len(defined)
        clusters[h] = of_cell if clusters[h] == 0 else min(clusters[h], of_cell)
    n = min(sizes[cell][1] for cell in defined.tolist())
    point = of_pair[defined, 0].mean()
    return Estimate(point, deviations, clusters, resamples, None, n, (-1.0, 1.0))
