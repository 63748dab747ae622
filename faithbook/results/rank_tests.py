"""Rank tests with their effect sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from faithlib.errors import InputError


@dataclass(frozen=True)
class RankTest:
    """A two-sided rank test with its effect size in [-1, 1]; positive: the first sample is larger."""

    p: float
    effect: float
    n: tuple[int, int]


def rank_sum(first: ArrayLike, second: ArrayLike) -> RankTest:
    """Wilcoxon's rank-sum (Mann-Whitney) test of two independent samples, effect Cliff's delta P(x > y) - P(x < y)."""
    a, b = _finite(first), _finite(second)
    result = scipy.stats.mannwhitneyu(a, b, alternative="two-sided")
    return RankTest(float(result.pvalue), float(2 * result.statistic / (len(a) * len(b)) - 1), (len(a), len(b)))


def signed_rank(first: ArrayLike, second: ArrayLike) -> RankTest:
    """Wilcoxon's signed-rank test of pairs, effect the matched rank-biserial correlation (T+ - T-) / (T+ + T-)."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    difference = difference[~np.isnan(difference)]
    moved = difference[difference != 0]
    if not len(moved):
        return RankTest(1.0, 0.0, (len(difference), len(difference)))
    ranks = scipy.stats.rankdata(np.abs(moved))
    effect = float((ranks * np.sign(moved)).sum() / ranks.sum())
    p = float(scipy.stats.wilcoxon(moved).pvalue)
    return RankTest(p, effect, (len(difference), len(difference)))


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=float)
    array = array[~np.isnan(array)]
    if not len(array):
        raise InputError("a sample without values cannot be tested")
    return array
