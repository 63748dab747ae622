"""One-sided p-values and interval ends of many quantities at once, as plain functions of arrays.

`faithbook.stats.estimates` calls them for one quantity, `data/reference/calibrate.py` for the quantities of
thousands of worlds whose truth is known: what is calibrated is what judges.

Shape letters: K clusters, R draws, M quantities.
"""

from __future__ import annotations

import numpy as np
import scipy.special
import scipy.stats
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LEVEL = 0.975
_Z = float(scipy.stats.norm.ppf(LEVEL))
NOTHING = 1e-12
"""A spread that is rounding, relative to what spreads."""


def outward(clusters: int) -> float:
    """How much wider than its percentiles an interval of n clusters has to be: t(n - 1) / z * sqrt(n / (n - 1)).

    >>> round(outward(10), 3), round(outward(1000), 3)
    (1.217, 1.002)
    """
    if clusters < 2:
        return np.inf
    return float(scipy.stats.t.ppf(LEVEL, clusters - 1) / _Z * np.sqrt(clusters / (clusters - 1)))


def moved_outward(estimate: Array, low: Array, high: Array, clusters: int) -> tuple[Array, Array]:
    """Percentiles of draws, each moved away from the estimate by the factor of `outward`."""
    widen = outward(clusters)
    with np.errstate(invalid="ignore"):  # of one cluster nothing is known: infinitely often no distance is no number
        return estimate - widen * np.maximum(0.0, estimate - low), estimate + widen * np.maximum(0.0, high - estimate)


def wilson_ends(share: ArrayLike, size: ArrayLike) -> tuple[Array, Array]:
    """Wilson's 95 % ends of shares of so many independent values."""
    shares, n = np.asarray(share, dtype=float), np.asarray(size, dtype=float)
    middle = (shares + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * np.sqrt(np.maximum(0.0, shares * (1 - shares)) / n + _Z**2 / (4 * n**2))
    return np.maximum(0.0, middle - half), np.minimum(1.0, middle + half)


def pivots(away: Array, errors: Array) -> Array:
    """How far draws lie from their quantity (`away` [R, M]), in standard errors of the draw (`errors` [R, M])."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = away / errors
    return np.where((errors == 0) & (away == 0), 0.0, ratio)


def p_means(
    points: Array, errors: Array, drawn: Array | None, clusters: int, threshold: float = 0.0, least: float = -np.inf
) -> Array:
    """One-sided p-values [M] of "not above the threshold", from standard errors [M] and pivots [R, M].

    The larger of Student's t and the share of pivots as large; without pivots, Student's t alone. Where nothing spreads
    it is s^n, s the largest share that values which cannot lie below `least` can have at the point, were their mean
    the threshold; at least one half.
    """
    distance, nothing = points - threshold, NOTHING * np.maximum(1.0, np.abs(points))
    still = errors <= nothing
    statistic = distance / np.where(still, 1.0, errors)
    p = scipy.stats.t.sf(statistic, clusters - 1) if clusters > 1 else np.ones_like(statistic)
    if drawn is not None:  # NaN, where a draw has no value, reaches nothing
        p = np.maximum(p, (1 + (drawn >= statistic).sum(0)) / (1 + (~np.isnan(drawn)).sum(0)))
    there = np.full(len(points), 0.5)
    if np.isfinite(least):
        there = np.maximum(there, (threshold - least) / np.where(points > least, points - least, np.inf))
        there = np.minimum(there, 1.0)  # what lies below the threshold is not asked
    return np.where(still, np.where(distance > nothing, there**clusters, 1.0), p)


def skewnesses(influence: Array) -> Array:
    """Skewness of columns [K, M]; NaN where nothing spreads.

    >>> skewnesses(np.array([[0.0], [0.0], [0.0], [4.0]])).round(3).tolist()
    [1.155]
    """
    away = influence - influence.mean(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((away**3).mean(0) / (away**2).mean(0) ** 1.5)


def p_share(share: ArrayLike, threshold: float, n: ArrayLike) -> Array:
    """Binomial p-values of "the share is not above the threshold", exact for whole n.

    >>> p_share([1.0, 0.5, 0.0], 0.5, 6).round(6).tolist()
    [0.015625, 0.65625, 1.0]
    """
    shares, successes = np.asarray(share, dtype=float), np.asarray(share, dtype=float) * n
    if threshold >= 1:
        return np.ones_like(successes)
    if threshold < 0:  # every share is above it
        return np.full_like(successes, np.finfo(float).tiny)
    failures = np.maximum(np.asarray(n) * (1 - shares), 0.0)
    tails = scipy.special.betainc(np.maximum(successes, NOTHING), failures + 1, threshold)
    return np.where(successes <= NOTHING, 1.0, np.maximum(tails, np.finfo(float).tiny))


def p_discordant(wins: int, losses: int) -> float:
    """One-sided p-value of "the first of two paired shares is not larger", exact (McNemar), from the number of pairs
    in which only the first, and only the second, has a 1.

    >>> p_discordant(6, 0), p_discordant(0, 0)
    (0.015625, 1.0)
    """
    return float(scipy.stats.binom.sf(wins - 1, wins + losses, 0.5))


def defined_mean(values: Array) -> Array:
    """The mean over the first axis of what is not NaN; NaN where nothing is left.

    >>> defined_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, nan]
    """
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0).sum(0) / there.sum(0))
