"""Quantities: expressions over cell means that know their units, their draws and how uncertain they are.

    cells = Conditions.of(units, over=["metric", "method"], unit=["dataset", "id"], stratum="dataset")
    gain = cells.mean(metric="soft_nc") - cells.mean(metric="nc")
    gain.point, gain.interval(), gain.p_above(0.0)

*What is drawn.* A unit is an input with all that was measured on it. Units that share a source (a paper, an
integration, a document) form a cluster and are drawn together, within their stratum (the data set). Every cell sees the
same draw, so that contrasts keep their pairing.

*Intervals.* Percentiles of the draws, each end moved outward by f = t(n - 1) / z * sqrt(n / (n - 1)), n the clusters in
the smallest cell: a plain percentile interval covers 88 to 91 of 100 at n = 10.

*p-values*, one-sided. The larger of two: Student's t of the quantity over its standard error, and the studentised
bootstrap. The first reaches the small values that a claim of many parts asks for, the second sees skew.

*One share* (the mean of a cell that holds nothing but 0 and 1) has Wilson's interval and the exact binomial p-value,
with as many independent values as its clusters are worth.

Shape letters: U units, C cells, K clusters, R draws, M quantities.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.stats.p_values import (
    LEVEL,
    NOTHING,
    Array,
    moved_outward,
    p_discordant,
    p_means,
    p_share,
    pivots,
    skewnesses,
    wilson_ends,
)
from faithlib.errors import InputError

_UNSIGNED = ("standard_error", "draw_errors")

_SETS = 8  # of clusters, whose counts are kept

FEWEST_CLUSTERS = 10
"""Fewer in a cell: no decision from a bootstrap."""


@dataclass(frozen=True)
class Drawn:
    """Which clusters each resample holds: `counts` [R, K], and the stratum [K] that each cluster is drawn within."""

    counts: Array
    stratum: NDArray[np.int64]

    @classmethod
    def of(cls, stratum: NDArray[np.int64], *, n_resamples: int, seed: int) -> Self:
        """Clusters drawn with replacement, from each stratum as many as it has. The one bootstrap of the book; all
        intervals over inputs rest on these counts."""
        return cls(_counts(stratum.tobytes(), n_resamples, seed), stratum)

    def variance(self, influence: Array) -> Array:
        """The variance of sums over clusters, from what each adds to them [K, ...]: strata apart, times n / (n - 1)."""
        total = np.zeros(influence.shape[1:])
        for one in np.unique(self.stratum):
            within = influence[self.stratum == one]
            if len(within) > 1:
                total = total + len(within) / (len(within) - 1) * ((within - within.mean(0)) ** 2).sum(0)
        return total

    def variances(self, influence: Array) -> Array:
        """The same of every draw, [R, ...]."""
        total = np.zeros((len(self.counts), *influence.shape[1:]))
        adding = influence.reshape(len(influence), -1).any(axis=1)
        for one in np.unique(self.stratum):
            members = self.stratum == one
            n, counts, values = members.sum(), self.among(members & adding), influence[members & adding]
            if n > 1:
                spread = counts @ values**2 - (counts @ values) ** 2 / n
                total += n / (n - 1) * np.maximum(spread, 0.0)
        return total

    def among(self, chosen: NDArray[np.bool_]) -> Array:
        """The counts of some clusters, [R, k]. Most cells have values in a few clusters, the same few again and again:
        the sets that were asked last are kept."""
        if chosen.all():
            return self.counts
        key = chosen.tobytes()
        self._kept[key] = self._kept.pop(key) if key in self._kept else self.counts[:, chosen]
        if len(self._kept) > _SETS:
            del self._kept[next(iter(self._kept))]
        return self._kept[key]

    @functools.cached_property
    def _kept(self) -> dict[bytes, Array]:
        return {}


@functools.lru_cache(maxsize=2)
def _counts(strata: bytes, n_resamples: int, seed: int) -> Array:
    """The counts [R, K] of clusters in these strata. A page measures the same inputs several times."""
    stratum = np.frombuffer(strata, dtype=np.int64)
    generator, counts = np.random.default_rng(seed), np.zeros((n_resamples, len(stratum)))
    for one in pd.unique(stratum):
        members = np.flatnonzero(stratum == one)
        equally = np.full(len(members), 1 / len(members))
        counts[:, members] = generator.multinomial(len(members), equally, size=n_resamples)
    counts.flags.writeable = False
    return counts


@dataclass(frozen=True)
class Interval95:
    """A 95 % interval: low <= estimate <= high, in the units of its quantity."""

    estimate: float
    low: float
    high: float

    def inside(self, margin: float) -> bool:
        """Whether all of it lies within `margin` of zero."""
        return -margin <= self.low and self.high <= margin


@dataclass(frozen=True)
class Share:
    """That a quantity is a share of 0/1 values, for `n` independent ones: sign * share + offset, the sign 1 or -1."""

    n: float
    sign: int = 1
    offset: float = 0.0

    def p_above(self, point: float, threshold: float) -> float:
        """The exact binomial p-value of "not above the threshold"."""
        share, limit = self.sign * (point - self.offset), self.sign * (threshold - self.offset)
        share, limit = (share, limit) if self.sign > 0 else (1 - share, 1 - limit)
        return float(p_share(share, limit, self.n))

    def interval(self, point: float) -> Interval95:
        """Wilson's interval."""
        ends = wilson_ends(self.sign * (point - self.offset), self.n)
        low, high = sorted(self.sign * float(end) + self.offset for end in ends)
        return Interval95(point, low, high)


@dataclass(frozen=True)
class Estimate:
    """A number made of cell means, with what is needed to say how uncertain it is.

    - `point`: its value on the units that were measured; `draws` [R]: on every resample.
    - `influence` [K]: what each cluster adds to its deviation, to first order; they sum to about zero.
    - `clusters`, `n`: clusters and units in the smallest cell it rests on; `bounds`: the range it cannot leave.
    - `share`: set where it is one share of 0/1 values.
    - `seeds` [S]: its value on each of several trained models alone; empty where there is one or none is told.
    - `reach` [K]: how far each cluster can move it at most, where values have a range and it is a sum of means.
    - `discordant`: set where it is one such share minus another over the same single inputs: on how many only the first
      has a 1, and on how many only the second.

    Sums, differences, products, ratios and absolute values of quantities of the same `Conditions` are quantities.
    """

    point: float
    draws: Array
    influence: Array
    drawn: Drawn
    clusters: int
    n: int
    bounds: tuple[float, float] = (-np.inf, np.inf)
    share: Share | None = None
    seeds: Array = field(default_factory=lambda: np.empty(0))
    reach: Array | None = None
    discordant: tuple[int, int] | None = None

    # ------------------------------------------------------------------------------------------------- arithmetic
    def _with(self, other: Estimate | float, do: Callable[[Any, Any], Any], slopes: tuple[float, float]) -> Estimate:
        """`do` of both, whose derivatives with respect to either are `slopes`."""
        if not isinstance(other, Estimate):
            return replace(
                self,
                point=do(self.point, other),
                draws=do(self.draws, other),
                influence=slopes[0] * self.influence,
                bounds=_range(do, self.bounds, (other, other)),
                share=None,
                seeds=do(self.seeds, other),
                reach=None if self.reach is None else abs(slopes[0]) * self.reach,
                discordant=None,
            )
        if other.drawn is not self.drawn:
            raise InputError("quantities of different cells have no common draws: make both from the same Conditions")
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = do(self.draws, other.draws)
            seeds = do(*_seeds([self, other]))
        known = self.reach is not None and other.reach is not None and set(slopes) <= {1.0, -1.0}
        return Estimate(
            do(self.point, other.point),
            draws,
            slopes[0] * self.influence + slopes[1] * other.influence,
            self.drawn,
            min(self.clusters, other.clusters),
            min(self.n, other.n),
            _range(do, self.bounds, other.bounds),
            seeds=seeds,
            reach=self.reach + other.reach if known else None,  # type: ignore[operator]
        )

    def __add__(self, other: Estimate | float) -> Estimate:
        moved = self._with(other, lambda a, b: a + b, (1.0, 1.0))
        if self.share is None or isinstance(other, Estimate):
            return moved
        return replace(moved, share=replace(self.share, offset=self.share.offset + other))

    def __sub__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            return self + -other
        return replace(self._with(other, lambda a, b: a - b, (1.0, -1.0)), discordant=_discordant(self, other))

    def __mul__(self, other: Estimate | float) -> Estimate:
        by = other.point if isinstance(other, Estimate) else other
        return self._with(other, lambda a, b: a * b, (by, self.point))

    def __truediv__(self, other: Estimate | float) -> Estimate:
        by = other.point if isinstance(other, Estimate) else float(other)
        if by == 0:
            raise InputError("a ratio to a quantity that is zero: there is no such number")
        ratio = self._with(other, lambda a, b: a / b, (1 / by, -self.point / by**2))
        return replace(ratio, bounds=(-np.inf, np.inf)) if isinstance(other, Estimate) else ratio

    def __abs__(self) -> Estimate:
        size = self._with(0.0, lambda a, _: abs(a), (float(np.sign(self.point)), 0.0))
        return replace(size, bounds=(0.0, max(map(abs, self.bounds))), reach=None)

    def __neg__(self) -> Estimate:
        low, high = self.bounds
        share = self.share and replace(self.share, sign=-self.share.sign, offset=-self.share.offset)
        turned = replace(
            self,
            point=-self.point,
            draws=-self.draws,
            influence=-self.influence,
            bounds=(-high, -low),
            share=share,
            seeds=-self.seeds,
            discordant=self.discordant and self.discordant[::-1],
        )
        # What has no sign is worked out once: both sides of a part are tested.
        turned.__dict__.update({name: value for name, value in self.__dict__.items() if name in _UNSIGNED})
        return turned

    # ------------------------------------------------------------------------------------------------ uncertainty
    @functools.cached_property
    def standard_error(self) -> float:
        """Of the quantity, from the clusters' influences."""
        return float(np.sqrt(self.drawn.variance(self.influence)))

    @property
    def error_with_seeds(self) -> float:
        """The standard error that the choice of seeds adds to: sqrt(that of the inputs^2 + variance of seeds / S)."""
        defined = self.seeds[~np.isnan(self.seeds)]
        between = float(defined.var(ddof=1)) / len(defined) if len(defined) > 1 else 0.0
        return float(np.sqrt(self.standard_error**2 + between))

    @functools.cached_property
    def draw_errors(self) -> Array:
        """The standard error of every draw, [R]."""
        return np.sqrt(self.drawn.variances(self.influence[:, None])[:, 0])

    @property
    def skewness(self) -> float:
        """Of what the clusters add to it: 0 for one share, whose test knows its shape, and where nothing spreads."""
        return 0.0 if self.share is not None or self._still else float(skewnesses(self.influence[:, None])[0])

    @property
    def _still(self) -> bool:
        """Whether every cluster says the same, except for rounding."""
        return self.standard_error <= NOTHING * max(1.0, abs(self.point))

    def interval(self) -> Interval95:
        """The 95 % percentile interval, its ends moved outward and cut to the range; of one share, Wilson's.

        A quantity that lies at an end of its range on every cluster has the width that Wilson gives such a share; NaN
        has no ends.
        """
        if self.share is not None:
            return self.share.interval(self.point)
        if np.isnan(self.point):
            return Interval95(self.point, np.nan, np.nan)
        least, most = self.bounds
        if self._still and np.isfinite(least + most) and (self.point <= least or self.point >= most):
            reach = (most - least) * (1 - float(wilson_ends(1.0, self.clusters)[0]))
            return Interval95(self.point, max(least, self.point - reach), min(most, self.point + reach))
        low, high = np.nanquantile(self.draws, [1 - LEVEL, LEVEL])
        low, high = moved_outward(np.array(self.point), low, high, self.clusters)
        return Interval95(self.point, max(least, float(low)), min(most, float(high)))

    def p_above(self, threshold: float = 0.0) -> float:
        """One-sided p-value of "not above the threshold": small where the quantity is clearly above it, in (0, 1].

        Where every cluster says the same there is no spread to test with. Then the p-value is the binomial one of so
        many on one side: s^-n, s the largest share that a quantity within its range, and not above the threshold, can
        have there, at least one half. Two paired shares have the exact test on the pairs in which they differ.
        """
        if self.share is not None:
            return self.share.p_above(self.point, threshold)
        if self.discordant is not None and threshold == 0:
            return p_discordant(*self.discordant)
        drawn = pivots(self.draws[:, None] - self.point, self.draw_errors[:, None])
        points, errors = np.array([self.point]), np.array([self.standard_error])
        return float(p_means(points, errors, drawn, self.clusters, threshold, self.bounds[0])[0])

    def p_below(self, threshold: float = 0.0) -> float:
        """One-sided p-value of "not below the threshold", in (0, 1]."""
        return (-self).p_above(-threshold)

    def p_bounded(self, threshold: float = 0.0) -> float:
        """`p_above` for any values in their range, however skewed (Hoeffding): exp(-2 distance^2 / sum of reach^2); 1
        where they have no range."""
        distance = self.point - threshold
        if self.reach is None or distance <= 0:
            return 1.0
        return float(np.exp(-2 * distance**2 / (self.reach**2).sum()))


def _range(
    do: Callable[[Any, Any], Any], first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float]:
    """The range of a sum, difference or product of two numbers, from theirs; unlimited where one of them is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        corners = [do(np.float64(a), np.float64(b)) for a in first for b in second]
    return (float(min(corners)), float(max(corners))) if np.isfinite(corners).all() else (-np.inf, np.inf)


def combined(function: Callable[[Array], Array], of: Sequence[Estimate]) -> Estimate:
    """A smooth function of several quantities of the same `Conditions`: it maps values [..., P] to [...].

    What each cluster adds follows from the function's slopes at the points, taken by a small step either way. Raises
    InputError for no quantities or for some that have no common draws.

    >>> drawn = Drawn(np.ones((1, 2)), np.zeros(2, dtype=np.int64))
    >>> one, two = (Estimate(p, np.array([p]), np.zeros(2), drawn, 2, 2) for p in (1.0, 3.0))
    >>> combined(lambda values: values.std(axis=-1), [one, two]).point
    1.0
    """
    if not of:
        raise InputError("no quantities to combine")
    if any(one.drawn is not of[0].drawn for one in of):
        raise InputError("quantities of different cells have no common draws: make all from the same Conditions")
    points = np.array([one.point for one in of])
    steps = np.diag(1e-6 * np.maximum(1.0, np.abs(points)))
    slopes = (function(points + steps) - function(points - steps)) / (2 * np.diag(steps))
    seeds = _seeds(of)
    return Estimate(
        float(function(points)),
        np.asarray(function(np.stack([one.draws for one in of], axis=-1))),
        slopes @ np.stack([one.influence for one in of]),
        of[0].drawn,
        min(one.clusters for one in of),
        min(one.n for one in of),
        seeds=np.asarray(function(np.stack(seeds, axis=-1))) if len(seeds[0]) else seeds[0],
    )


def variance_between(of: Sequence[Estimate]) -> Estimate:
    """The variance between several quantities of the same `Conditions`, minus what noise alone would give.

    Means m_1 .. m_P that do not differ still have a variance: on average N = mean over p of Var(m_p - mean of all). It
    is taken out of the point, and out of the draws twice, for each draw adds the noise of drawing to that of the
    sample; so the result can lie below zero. Raises what `combined` raises.
    """
    seen = combined(lambda values: values.var(axis=-1), of)
    middle = combined(lambda values: values.mean(axis=-1), of)
    noise = float(np.mean([(one - middle).standard_error ** 2 for one in of]))
    return replace(seen, point=seen.point - noise, draws=seen.draws - 2 * noise, seeds=seen.seeds - noise)


def _seeds(of: Sequence[Estimate]) -> list[Array]:
    """The values by seed of several quantities; none where they do not all have as many."""
    return [one.seeds if len({len(other.seeds) for other in of}) == 1 else np.empty(0) for one in of]


def _discordant(first: Estimate, second: Estimate) -> tuple[int, int] | None:
    """On how many inputs only the one share has a 1, and only the other; None where these are no shares of single
    inputs that are all in both."""
    values = []
    for one in (first, second):
        if one.share != Share(one.share.n if one.share else 0) or not one.n == one.clusters == len(one.influence):
            return None
        values.append(np.rint(one.n * one.influence + one.point))
    return int((values[0] > values[1]).sum()), int((values[0] < values[1]).sum())
