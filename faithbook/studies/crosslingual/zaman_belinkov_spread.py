"""Spread of a metric over explanations, taken apart into what inputs have in common and noise.

Write x_mr for the value of row r (an explanation) on text m, minus the mean of that text over rows, and c_mm' for
the covariance over rows of two texts. Its mean over *different* texts is A, the variance between rows that
texts share; its mean over each text *with itself* is T, the whole variance within a text. With n texts the
spread that is seen has variance A + (T - A) / n; noise alone would make (T - A) / n; A / T is the share of signal, the
intraclass correlation of an analysis of variance. Messages of one cluster count as one where pairs are made: what they
have in common need not be common to all.

Below it is what their erasure metrics count before any model is asked, sizes of bins and the windows of answers that
the released loop reads: whole numbers alone, so that pages which only read results need no tensors;
`faithlib.metrics.erasure_rationales` and `first_batch_fault` do the same to scores and answers, and the tests hold the
two together.

Shape letters: M texts, R rows, K clusters, D draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import NDArray

from faithbook.stats.agreement import defined_mean
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Estimate, Resamples
from faithlib.errors import InputError, unknown

Array = NDArray[np.float64]
_POWER = (scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)) ** 2


@dataclass(frozen=True)
class Signal:
    """Spread over rows, taken apart: `between`, the standard deviation over rows that texts share; `share`, that of
    its variance in the whole of a text; `seen`, the deviation of the rows' means, and by `noise` alone; n texts.
    """

    between: Estimate
    share: Estimate
    seen: float
    noise: float
    n: int

    @property
    def needed(self) -> float:
        """Messages with which two rows as far apart as is typical (root mean square) are separated with a power of
        80 %, by a 95 % interval of their paired difference; endless where no signal is seen."""
        return _POWER * (1 / self.share.point - 1) if self.share.point > 0 else math.inf

    def noise_with(self, n: int) -> float:
        """The spread by noise alone with another number of texts."""
        return self.noise * math.sqrt(self.n / n)


def signal(values: Array, cluster: NDArray[np.int64], resamples: Resamples) -> Signal:
    """Spread of `values` [M, R], the cluster [M] of each text, and the resamples that it shares with other
    quantities.

    Pairs of a cluster with its own copy are left out in every draw; else drawing again would add its own noise to the
    spread. An estimate of a variance below zero counts as none. Raises InputError for fewer than two clusters.
    """
    if len(np.unique(cluster)) < 2:
        raise InputError(f"{len(values)} texts of one cluster: what they share cannot be seen")
    centred = values - values.mean(axis=1, keepdims=True)
    sums, sizes, with_itself = (np.zeros((len(resamples.stratum), *shape)) for shape in ((values.shape[1],), (), ()))
    np.add.at(sums, cluster, centred)
    np.add.at(sizes, cluster, 1.0)
    np.add.at(with_itself, cluster, (centred**2).mean(axis=1))
    itself = (sums**2).mean(axis=1)

    def parts(counts: Array) -> tuple[Array, Array]:
        """A and T of draws [D, K]; A is NaN where a draw is one cluster over and over."""
        n = counts @ sizes
        pairs = n**2 - counts**2 @ sizes**2
        products = ((counts @ sums) ** 2).mean(axis=-1) - counts**2 @ itself
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pairs > 0, products / pairs, np.nan), counts @ with_itself / n

    shared, whole = (float(part[0]) for part in parts(np.ones((1, len(sizes)))))
    n, strata = len(values), range(len(resamples.sizes))
    between = math.sqrt(max(shared, 0.0))
    # What resampling one stratum changes, the others as they are.
    resampled = [parts(resamples.one_stratum(h)) for h in strata]
    deviations = [np.sqrt(np.maximum(drawn, 0.0)) - between for drawn, _ in resampled]
    of_share = [drawn / drawn_whole - shared / whole for drawn, drawn_whole in resampled]
    there = [np.unique(cluster[resamples.stratum[cluster] == h]) for h in strata]
    clusters = np.array([len(of_stratum) for of_stratum in there], dtype=np.int64)
    facts: dict[str, Any] = {"clusters": clusters, "resamples": resamples, "contributions": None, "n": n}
    seen = float(values.mean(axis=0).std())
    return Signal(
        Estimate(np.float64(between), np.nan_to_num(np.stack(deviations, axis=1)), **facts),
        Estimate(np.float64(shared / whole), np.nan_to_num(np.stack(of_share, axis=1)), **facts, bounds=(-1.0, 1.0)),
        seen,
        math.sqrt(max(seen**2 - shared, 0.0)),
        n,
    )


def matrix(cells: Conditions, rows: list[dict[str, Any]]) -> tuple[Array, NDArray[np.int64]]:
    """Values [M, R] of texts that have all rows, and their clusters [M]; a row is the mean over the cells with its
    labels, on each text (over those that are defined).

    Raises what `Conditions.having` raises: InputError where a row has no cell.
    """
    values = cells.values.to_numpy(dtype=float)
    wide = np.stack([defined_mean(values[:, cells.having(**labels)].T) for labels in rows], axis=1)
    whole = ~np.isnan(wide).any(axis=1)
    return wide[whole], cells.cluster[whole]


def differences(values: Array) -> Array:
    """Paired differences [M, R (R - 1) / 2] of all pairs of rows of `values` [M, R]."""
    left, right = np.triu_indices(values.shape[1], 1)
    return values[:, left] - values[:, right]


def share_separated(gaps: Array) -> float:
    """The share of pairs of rows, `gaps` [M, pairs], whose mean difference has a 95 % interval (Student's t) without
    zero."""
    n = len(gaps)
    bound = scipy.stats.t.ppf(0.975, n - 1) * gaps.std(axis=0, ddof=1) / math.sqrt(n)
    return float((np.abs(gaps.mean(axis=0)) > bound).mean())


def separated_by_size(values: Array, *, sizes: int = 12, subsets: int = 100, seed: int = 0) -> pd.DataFrame:
    """`share_separated` of the pairs of rows of `values` [M, R] with fewer and fewer texts: many subsets of each size.

    Columns: texts, estimate (the mean over subsets), low and high (95 % of them).
    """
    gaps, generator = differences(values), np.random.default_rng(seed)
    rows = []
    for size in np.unique(np.geomspace(min(3, len(gaps)), len(gaps), sizes).round().astype(int)):
        shares = [share_separated(gaps[generator.choice(len(gaps), size, replace=False)]) for _ in range(subsets)]
        low, high = np.quantile(shares, [0.025, 0.975])
        rows.append({"texts": int(size), "estimate": float(np.mean(shares)), "low": low, "high": high})
    return pd.DataFrame(rows)


# ------------------------------------------------------------------------------ what is counted before a model is asked
ERASURE_BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""The shares of a text's words that are erased (Section 3.1.2)."""
WINDOW = len(ERASURE_BINS) + 1
"""Rows per input in the released loop: the input itself, and one for each bin."""
BATCH = 64
"""Rows the released loop asks the model at a time."""


def bin_sizes(n: int, rounding: str = "up") -> NDArray[np.int64]:
    """Words in each bin of a text of n words, [S]: ceil(share * n) ("up"), or rounded, halves to even, and at least one
    ("nearest", as released).

    Raises InputError for n below 1, UnknownNameError for another rounding.

    >>> bin_sizes(25).tolist(), bin_sizes(25, "nearest").tolist()
    ([1, 2, 3, 5, 13], [1, 1, 2, 5, 12])
    """
    if rounding not in ("up", "nearest"):
        raise unknown("rounding", rounding, ("up", "nearest"))
    if n < 1:
        raise InputError(f"a text of {n} words: expected at least one")
    exact = np.array(ERASURE_BINS) * n
    if rounding == "nearest":
        return np.maximum(np.round(exact), 1).astype(np.int64)
    # Rounded first: .1 * 30 is a bit above 3, and must not become 4.
    return np.ceil(np.round(exact, 9)).astype(np.int64)


def windows_read(inputs: int, *, batch_size: int = BATCH, window: int = WINDOW) -> NDArray[np.int64]:
    """The different windows that the released loop reads of so many inputs, as numbers of rows, [W, window], sorted.

    Row r is answered with row r mod `batch_size`, then the answers are cut into windows: right where a window is
    window * i, window * i + 1, … of one input i.

    >>> len(windows_read(100)), windows_read(100)[1].tolist()
    (32, [2, 3, 4, 5, 6, 7])
    """
    answered = (np.arange(inputs * window) % batch_size).reshape(-1, window)
    return np.unique(answered, axis=0)


def windows_told(inputs: int, *, batch_size: int = BATCH, window: int = WINDOW) -> dict[str, int]:
    """What is in those windows: "inputs read" by the loop, "different windows", how many "begin on an original" and how
    many are "one input from end to end".

    >>> windows_told(5010)
    {'inputs read': 11, 'different windows': 32, 'begin on an original': 11, 'one input from end to end': 10}
    """
    rows = windows_read(inputs, batch_size=batch_size, window=window)
    starts = rows[:, 0] % window == 0
    whole = starts & (rows // window == rows[:, :1] // window).all(axis=1)
    return {
        "inputs read": len(np.unique(rows // window)),
        "different windows": len(rows),
        "begin on an original": int(starts.sum()),
        "one input from end to end": int(whole.sum()),
    }
