"""Named tests: each gives p-values and an interval by one method, so that the two cannot contradict each other.

    parts = Student.of([gain, other])      # or Score.of, McNemar.of, BootstrapT.of: as the analysis plan declares
    parts.p_above(0.0), parts.p_below(0.0), parts.interval()

A p-value is one-sided. The 95 % interval excludes a value exactly where one of the two p-values for that value is at
most .025. All of them take many parts at once: the last axis is the parts [M] of a claim, axes before it are claims.

| test | of what | where it is used |
| --- | --- | --- |
| `Student` | any estimate | everywhere, unless the plan says otherwise |
| `BootstrapT` | linear combinations of means | skewed values |
| `Score` | one share, with Wilson's interval | shares near 0 or 1 |
| `McNemar` | the difference of two shares of the same inputs | 0/1 values of single inputs |

Where nothing varies, `Student` and `BootstrapT` know nothing: p is .5 and there is no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from faithbook.stats.estimate import (
    ALPHA,
    ROUNDING,
    Array,
    Estimate,
    has_no_variance,
    t_interval,
    t_p_above,
    t_p_below,
)
from faithlib.errors import InputError


class Inference(Protocol):
    """What the rules ask of a test."""

    @property
    def point(self) -> Array:
        """The estimates [..., M]."""

    @property
    def fewest(self) -> NDArray[np.int64]:
        """Clusters of the smallest stratum that each rests on, [..., M] or one number for all."""

    def p_above(self, threshold: float) -> Array:
        """The p-values of "not above the threshold", [..., M]."""

    def p_below(self, threshold: float) -> Array:
        """The p-values of "not below the threshold", [..., M]."""

    def interval(self) -> tuple[Array, Array]:
        """The ends of the 95 % intervals, [..., M] each; NaN where there is none."""


# ------------------------------------------------------------------------------------------------------------ Student
@dataclass(frozen=True, eq=False)
class Student:
    """Student's t with the bootstrap's standard error, the test of this book; `faithbook.stats.estimate` has the
    formulas."""

    point: Array
    error: Array
    df: Array
    fewest: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Estimate]) -> Self:
        """The inference on the parts of a claim, [M]. Raises InputError for none."""
        _require_parts(parts)
        point, error, df = (
            np.array(values, dtype=float)
            for values in zip(*((part.point, *part.error_and_df) for part in parts), strict=True)
        )
        return cls(point, error, df, np.array([part.fewest for part in parts]))

    @classmethod
    def of_many(cls, estimate: Estimate) -> Self:
        """The inference on an estimate that is many at once, [..., M]."""
        return cls(np.asarray(estimate.point), *estimate.error_and_df, np.array(estimate.fewest))

    def p_above(self, threshold: float) -> Array:
        """The p-values of "not above the threshold"."""
        return t_p_above(self.point, self.error, self.df, threshold)

    def p_below(self, threshold: float) -> Array:
        """The p-values of "not below the threshold"."""
        return t_p_below(self.point, self.error, self.df, threshold)

    def interval(self) -> tuple[Array, Array]:
        """The 95 % intervals."""
        return t_interval(self.point, self.error, self.df)


# -------------------------------------------------------------------------------------------------------- bootstrap-t
@dataclass(frozen=True, eq=False)
class BootstrapT:
    """The studentised bootstrap, for skewed values: how far replicates lie from the point in standard errors of their
    own (`pivots` [R, ..., M], sorted upward) takes the place of Student's distribution."""

    point: Array
    error: Array
    pivots: Array
    fewest: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Estimate]) -> Self:
        """The inference on the parts of a claim, [M]. Raises InputError for none, or for one that is no linear
        combination."""
        _require_parts(parts)
        tested = [cls.of_many(part) for part in parts]
        point, error, pivots = (
            np.stack([getattr(part, name) for part in tested], axis=-1) for name in ("point", "error", "pivots")
        )
        return cls(point, error, pivots, np.array([part.fewest for part in parts]))

    @classmethod
    def of_many(cls, estimate: Estimate) -> Self:
        """The inference on an estimate that may be many at once, [...]. Raises InputError for one that is no linear
        combination."""
        if estimate.contributions is None:
            raise InputError("the studentised bootstrap is for linear combinations of means: declare another test")
        contributions, resamples = estimate.contributions, estimate.resamples
        variance = np.zeros_like(np.asarray(estimate.point, dtype=float))
        of_replicate = np.zeros((len(resamples.counts), *variance.shape))
        for h, places in enumerate(resamples.members):
            n = int(estimate.clusters[h])
            if n < 2:
                continue
            # The sum of squared deviations as sum(x^2) - sum(x)^2 / n: clusters without a value add nothing to it.
            values, drawn = contributions[places], resamples.counts[:, places]
            squares = (values**2).sum(axis=0) - values.sum(axis=0) ** 2 / n
            variance = variance + n / (n - 1) * np.maximum(squares, 0.0)
            first, second = np.tensordot(drawn, values, axes=1), np.tensordot(drawn, values**2, axes=1)
            of_replicate = of_replicate + n / (n - 1) * np.maximum(second - first**2 / n, 0.0)
        change = estimate.deviations.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            pivots = change / np.sqrt(of_replicate)
        # A resample of equal values has no spread: it lies infinitely far away on its side, or nowhere.
        pivots = np.where(of_replicate > 0, pivots, np.where(change == 0, 0.0, np.copysign(np.inf, change)))
        pivots = np.where(np.isnan(pivots), 0.0, pivots)
        fewest = np.array(estimate.fewest)
        return cls(np.asarray(estimate.point), np.sqrt(variance), np.sort(pivots, axis=0), fewest)

    @property
    def _has_no_variance(self) -> NDArray[np.bool_]:
        return has_no_variance(self.point, self.error)

    def p_above(self, threshold: float) -> Array:
        """The p-values of "not above the threshold": the share of pivots at least as high, the sample's own among
        them."""
        statistic = self._statistic(threshold)
        return np.where(
            self._has_no_variance, 0.5, (1 + (self.pivots >= statistic).sum(axis=0)) / (1 + len(self.pivots))
        )

    def p_below(self, threshold: float) -> Array:
        """The p-values of "not below the threshold"."""
        statistic = self._statistic(threshold)
        return np.where(
            self._has_no_variance, 0.5, (1 + (self.pivots <= statistic).sum(axis=0)) / (1 + len(self.pivots))
        )

    def _statistic(self, threshold: float) -> Array:
        return np.asarray((self.point - threshold) / np.where(self._has_no_variance, 1.0, self.error))

    def interval(self) -> tuple[Array, Array]:
        """The 95 % intervals: the values that neither p-value excludes."""
        number_out = int(np.floor(ALPHA * (len(self.pivots) + 1) + 1e-9))  # so many pivots may lie as far out
        if number_out == 0:
            undefined = np.full_like(self.point, np.nan)
            return undefined, undefined
        error = np.where(self._has_no_variance, np.nan, self.error)
        return self.point - self.pivots[-number_out] * error, self.point - self.pivots[number_out - 1] * error


# -------------------------------------------------------------------------------------------------------------- shares
@dataclass(frozen=True, eq=False)
class Score:
    """The score test of one share, whose interval is Wilson's. It knows how a share spreads from the share that is
    tested, and so decides where all values are equal.

    `size`: for how many independent 0/1 values the share counts.
    """

    point: Array
    size: Array
    fewest: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Estimate]) -> Self:
        """The inference on the parts of a claim, [M]: means of values within [0, 1]. Raises InputError for none, or for
        one that lies outside."""
        _require_parts(parts)
        tested = [cls.of_many(part) for part in parts]
        point, size = (np.stack([getattr(part, name) for part in tested], axis=-1) for name in ("point", "size"))
        return cls(point, size, np.array([part.fewest for part in parts]))

    @classmethod
    def of_many(cls, estimate: Estimate) -> Self:
        """Of an estimate that may be many at once, [...].

        Its size is p (1 - p) over the variance of the mean, at most its clusters: values that are shares themselves
        spread less than 0 and 1 do, and inputs of one cluster count for less than as many clusters.
        """
        point = np.asarray(estimate.point, dtype=float)
        if np.any((point < -ROUNDING) | (point > 1 + ROUNDING)):
            raise InputError("the score test is for shares: expected estimates between 0 and 1")
        point = np.clip(point, 0.0, 1.0)
        error, _ = estimate.error_and_df
        clusters = float(estimate.clusters.sum())
        nothing = has_no_variance(point, error)
        size = np.where(
            nothing, clusters, np.minimum(clusters, point * (1 - point) / np.where(nothing, 1.0, error) ** 2)
        )
        return cls(point, size, np.array(estimate.fewest))

    def _statistic(self, share: float) -> Array:
        """(point - share) over the standard error that the share has, were it true."""
        if not 0 < share < 1:  # no share lies beyond: what differs from it is surely on one side
            away = self.point - share
            return np.where(away == 0, 0.0, np.copysign(np.inf, away))
        return np.asarray((self.point - share) / np.sqrt(share * (1 - share) / self.size))

    def p_above(self, threshold: float) -> Array:
        """The p-values of "not above the threshold"."""
        return np.asarray(scipy.stats.norm.sf(self._statistic(threshold)))

    def p_below(self, threshold: float) -> Array:
        """The p-values of "not below the threshold"."""
        return np.asarray(scipy.stats.norm.cdf(self._statistic(threshold)))

    def interval(self) -> tuple[Array, Array]:
        """Wilson's 95 % intervals."""
        return wilson(self.point, self.size)


def wilson(share: ArrayLike, size: ArrayLike) -> tuple[Array, Array]:
    """Wilson's 95 % intervals of shares of so many independent values."""
    z = float(scipy.stats.norm.ppf(1 - ALPHA))
    p, n = np.asarray(share, dtype=float), np.asarray(size, dtype=float)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return np.maximum(0.0, middle - half), np.minimum(1.0, middle + half)


@dataclass(frozen=True, eq=False)
class McNemar:
    """McNemar's exact test of the difference of two shares over the same inputs, by the inputs on which only the first
    (`wins`) and only the second (`losses`) has a 1; `size`: all inputs. Its interval is that of Clopper and Pearson for
    the share of wins, given how many inputs differ."""

    wins: Array
    losses: Array
    size: Array
    fewest: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Estimate]) -> Self:
        """The inference on the parts of a claim, [M]: differences of two shares of single inputs, all in both.

        Raises InputError for none, or for one that is no such difference.
        """
        _require_parts(parts)
        wins, losses, sizes = [], [], []
        for part in parts:
            if part.contributions is None or part.n != part.clusters.sum() or part.n != len(part.contributions):
                raise InputError("McNemar's test is for two shares of the same single inputs")
            # Of each input, the difference of its two values: -1, 0 or 1.
            values = part.contributions * part.n + part.point
            if not np.allclose(values, np.rint(values), atol=1e-6) or np.abs(np.rint(values)).max() > 1:
                raise InputError("McNemar's test is for differences of 0/1 values")
            wins.append((np.rint(values) > 0).sum())
            losses.append((np.rint(values) < 0).sum())
            sizes.append(part.n)
        only_first, only_second, size = (np.array(numbers, dtype=float) for numbers in (wins, losses, sizes))
        return cls(only_first, only_second, size, np.array([part.fewest for part in parts]))

    @property
    def point(self) -> Array:
        """The differences of shares."""
        return np.asarray((self.wins - self.losses) / self.size)

    def _share(self, difference: float) -> Array:
        """Which share of wins among the inputs that differ gives such a difference of shares; beyond 0 to 1: none."""
        # With w wins and l losses the difference is (w - l) / size, and w + l is given: solved for w / (w + l).
        differing = np.maximum(self.wins + self.losses, 1.0)
        return np.asarray((difference * self.size / differing + 1) / 2)

    def p_above(self, threshold: float) -> Array:
        """The p-values of "not above the threshold"; 1 where no input differs, 0 where no share of wins gives it."""
        share, differing = self._share(threshold), self.wins + self.losses
        # `sf` is the probability of more than that: as many wins as there are count too.
        p = scipy.stats.binom.sf(self.wins - 1, differing, np.clip(share, 0.0, 1.0))
        return np.where((share < -ROUNDING) & (differing > 0), 0.0, p)

    def p_below(self, threshold: float) -> Array:
        """The p-values of "not below the threshold"."""
        share, differing = self._share(threshold), self.wins + self.losses
        p = scipy.stats.binom.cdf(self.wins, differing, np.clip(share, 0.0, 1.0))
        return np.where((share > 1 + ROUNDING) & (differing > 0), 0.0, p)

    def interval(self) -> tuple[Array, Array]:
        """The 95 % intervals, in differences of shares; none where no input differs."""
        differing = self.wins + self.losses
        with np.errstate(invalid="ignore"):
            low = scipy.stats.beta.ppf(ALPHA, self.wins, self.losses + 1)
            high = scipy.stats.beta.ppf(1 - ALPHA, self.wins + 1, self.losses)
        low, high = np.where(self.wins == 0, 0.0, low), np.where(self.losses == 0, 1.0, high)
        ends = [np.where(differing > 0, (2 * end - 1) * differing / self.size, np.nan) for end in (low, high)]
        return ends[0], ends[1]


TESTS: Mapping[str, Callable[[Sequence[Estimate]], Inference]] = {
    "t": Student.of,
    "bootstrap-t": BootstrapT.of,
    "score": Score.of,
    "mcnemar": McNemar.of,
}
"""By the name that the analysis plan has for it."""


def _require_parts(parts: Sequence[Estimate]) -> None:
    if not parts:
        raise InputError("a claim without parts: there is nothing to test")


# -------------------------------------------------------------------------------------------------------- multiplicity
def holm(p_values: ArrayLike, alpha: float = ALPHA) -> NDArray[np.bool_]:
    """Which of several claims stay below `alpha` after Holm's correction, [C].

    The smallest p-value has to be at most alpha / C, the next alpha / (C - 1), and so on up to the first that is not.

    >>> holm([0.001, 0.02, 0.011]).tolist()
    [True, True, True]
    >>> holm([0.001, 0.02, 0.015]).tolist()
    [True, False, False]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    passes = p[order] <= alpha / np.arange(len(p), 0, -1)
    significant = np.empty(len(p), dtype=bool)
    significant[order] = np.logical_and.accumulate(passes)
    return significant
