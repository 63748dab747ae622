"""Spread of a metric over explanations, taken apart into what inputs have in common and noise.

Write x_mr for the value of row r (an explanation) on message m, less the mean of that message over rows, and c_mm' for
the covariance over rows of two messages. Its mean over *different* messages is A, the variance between rows that
messages share; its mean over each message *with itself* is T, the whole variance within a message. With n messages the
spread that is seen has variance A + (T - A) / n; noise alone would make (T - A) / n; A / T is the share of signal, the
intraclass correlation of an analysis of variance.

Shape letters: M messages, R rows, D draws (the first of them the sample itself).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from faithbook.results.rank_tests import tau_b
from faithbook.results.resampling import Interval, drawn_counts
from faithlib.errors import InputError

Array = NDArray[np.float64]


def variance_parts(values: Array, counts: Array) -> tuple[Array, Array]:
    """Variance between rows that messages share (A), and the whole variance within a message (T), of `values` [M, R]:
    as measured, and then in every resample that holds each message as often as `counts` [D - 1, M] says. Two [D].

    Pairs of a message with its own copy are left out of A in every resample; else drawing again would add its own
    noise to the spread. A is NaN where a resample is one message over and over.

    Raises InputError for another number of messages than the counts are of.
    """
    if counts.shape[1] != len(values):
        raise InputError(f"{len(values)} messages, counts of {counts.shape[1]}: expected as many")
    n = len(values)
    centred = values - values.mean(axis=1, keepdims=True)
    products = centred @ centred.T / values.shape[1]
    weights = np.vstack([np.ones(n), counts])
    own = np.diag(products)
    different = ((weights @ products) * weights).sum(axis=1) - weights**2 @ own
    pairs = n**2 - (weights**2).sum(axis=1)
    return different / np.where(pairs > 0, pairs, np.nan), weights @ own / n


def deviation(variance: Array) -> Array:
    """A standard deviation; an estimate of a variance below zero counts as none."""
    return np.sqrt(np.maximum(variance, 0))


class Spread:
    """Spread over rows of `values` [M, R], taken apart: `seen`, by `noise` alone, of the `methods`, and the `share` of
    signal, each [D]: as measured, and then in resamples.

    `counts`: how often each message is drawn in each resample; without, 2000 draws of the messages alone, with `seed`.
    """

    def __init__(self, values: Array, counts: Array | None = None, *, n_resamples: int = 2000, seed: int = 0) -> None:
        self.n, self.values = len(values), values
        drawn = drawn_counts(np.zeros(len(values)), n_resamples, seed) if counts is None else counts
        shared, whole = variance_parts(values, drawn)
        noise = whole - shared
        self.seen = deviation(shared + noise / self.n)
        self.noise = deviation(noise / self.n)
        self.methods = deviation(shared)
        self.share = shared / whole

    def noise_with(self, n: int) -> Array:
        """The spread by noise alone with another number of messages."""
        return self.noise * math.sqrt(self.n / n)


def differences(values: Array) -> Array:
    """Paired differences [M, R (R - 1) / 2] of all pairs of rows of `values` [M, R]."""
    left, right = np.triu_indices(values.shape[1], 1)
    return values[:, left] - values[:, right]


def told_apart(gaps: Array) -> float:
    """The share of pairs of rows, `gaps` [M, pairs], whose mean difference has a 95 % interval (Student's t) without
    zero."""
    n = len(gaps)
    bound = scipy.stats.t.ppf(0.975, n - 1) * gaps.std(axis=0, ddof=1) / math.sqrt(n)
    return float((np.abs(gaps.mean(axis=0)) > bound).mean())


def told_apart_by_subsets(gaps: Array, size: int, *, subsets: int = 200, seed: int = 0) -> Array:
    """`told_apart` with each of many subsets of so many messages, [subsets]."""
    generator = np.random.default_rng([seed, size])
    return np.array([told_apart(gaps[generator.choice(len(gaps), size, replace=False)]) for _ in range(subsets)])


def told_apart_together(
    gaps: Mapping[str, Array], units: Mapping[str, Sequence[Any]], size: int, *, subsets: int = 200, seed: int = 0
) -> dict[str, Array]:
    """`told_apart_by_subsets` for several metrics whose messages may overlap, their subsets drawn together.

    All messages are put in one random order, and each metric takes the first `size` that it has (`units`: the message
    of each row of its `gaps`). So a subset of a metric is any of its subsets, equally likely, and metrics that were
    measured on the same messages get the same ones.

    Raises InputError where a metric has fewer messages than `size`, or `units` are not those of the gaps.
    """
    for name, own in gaps.items():
        if len(units[name]) != len(own) or len(own) < size:
            raise InputError(f"{name}: {len(own)} rows, {len(units[name])} messages: expected as many, {size} or more")
    everything = sorted(set().union(*units.values()))
    place = {unit: i for i, unit in enumerate(everything)}
    places = {name: np.array([place[unit] for unit in own]) for name, own in units.items()}
    generator = np.random.default_rng([seed, size])
    found: dict[str, list[float]] = {name: [] for name in gaps}
    for _ in range(subsets):
        order = generator.permutation(len(everything))
        for name, own in gaps.items():
            found[name].append(told_apart(own[np.argsort(order[places[name]])[:size]]))
    return {name: np.array(values) for name, values in found.items()}


def repeated_order(values: Array, size: int, *, subsets: int = 200, seed: int = 0) -> Array:
    """Kendall's tau-b of the rows' means between two sets of `size` messages that share none, drawn many times.

    Raises InputError for fewer messages than two such sets need.
    """
    if len(values) < 2 * size:
        raise InputError(f"{len(values)} messages, two sets of {size}: expected at least {2 * size}")
    generator = np.random.default_rng([seed, size])
    taus = []
    for _ in range(subsets):
        drawn = generator.permutation(len(values))[: 2 * size]
        taus.append(float(tau_b(values[drawn[:size]].mean(axis=0), values[drawn[size:]].mean(axis=0))))
    return np.array(taus)


def as_interval(values: Array, n: int) -> Interval:
    """The interval of a quantity [D] whose first value is the one measured, the others those in resamples; `n`
    messages."""
    return Interval.of(values[0], values[1:], n, n)
