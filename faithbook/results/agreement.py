"""How far metrics agree on inputs: rank correlations over the inputs of a cell, averaged over cells, with joint draws.

Every pair of metrics is a quantity, so that means over pairs and differences between them are too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from faithbook.results.estimates import Array, Drawn, Quantity
from faithbook.results.p_values import defined_mean
from faithbook.results.rank_tests import drawn_correlations, tau_b
from faithlib.errors import InputError

SPEARMAN, KENDALL = "Spearman", "Kendall"

Pairs = dict[tuple[str, str, str], Quantity]
"""By (Spearman or Kendall, first metric, second metric)."""


def tau_of(ours: Sequence[Quantity], other: Sequence[Quantity] | Sequence[float]) -> Quantity:
    """Kendall's tau-b of the order of some quantities with that of as many others, or with given values.

    Its draws are ranked again; it has no slopes, so it has an interval and no p-value of its own (`rules.order` has).
    """
    first, theirs = ours[0], [one for one in other if isinstance(one, Quantity)]
    draws = np.stack([one.draws for one in ours], axis=1)
    if theirs:
        drawn = tau_b(draws, np.stack([one.draws for one in theirs], axis=1))
        point = float(tau_b([one.point for one in ours], [one.point for one in theirs]))
    else:
        values = np.asarray(other, dtype=float)
        drawn, point = tau_b(draws, values), float(tau_b([one.point for one in ours], values))
    clusters, n = min(one.clusters for one in (*ours, *theirs)), min(one.n for one in (*ours, *theirs))
    return Quantity(point, drawn, np.zeros_like(first.influence), first.drawn, clusters, n, (-1.0, 1.0))


def rank_agreement(
    frame: pd.DataFrame,
    metrics: Sequence[str],
    *,
    inside: Sequence[str],
    n_resamples: int = 999,
    seed: int = 0,
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
    drawn = Drawn.of(stratum, n_resamples=n_resamples, seed=seed)
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
            made[kind, one, other] = Quantity(float(row[0]), draws, influence, drawn, clusters, n, (-1.0, 1.0))
    return made
