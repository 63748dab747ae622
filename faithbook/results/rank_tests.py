"""Kendall's tau-b, and rank correlations in many samples at once."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faithlib.errors import InputError


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
