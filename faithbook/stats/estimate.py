"""Estimates: what a claim says a number of, with its bootstrap replicates and the clusters that it rests on.

    resamples = Resamples.draw(stratum)                  # stratum [K]: the data set of each cluster
    gain = mean(soft, resamples) - mean(hard, resamples)  # values [K], one of each cluster
    gain.point, gain.replicates

*Cluster*: an independent input with all that was measured on it (inputs that share a source are one cluster).
*Stratum*: a data set. *Condition*: a metric, a method, a model ... of which a mean is taken. Clusters are resampled
within their stratum, and every condition sees the same resample, so that differences keep their pairing.

An estimate is a linear combination of condition means, or a smooth function of them (`combined`). How an expression is
written makes no difference: `x + 0`, `x * 1`, `2 * (x / 2)` have the point and the replicates of `x`.

*One method gives the interval and the p-value*: Student's t with the bootstrap's standard error, so that the interval
excludes a value exactly where one of the one-sided p-values is at most .025. The variance of each stratum's replicates
is multiplied by n / (n - 1), n its clusters, for a bootstrap of n values is too narrow by that. Degrees of freedom are
Welch and Satterthwaite's over strata: of two strata with the same weight, a large one does not vouch for a small one.
Where nothing varies there is no interval, and p is .5. Other tests, for claims whose plan names one, are in
`faithbook.stats.inference`.

Shape letters: K clusters, H strata, R resamples, "..." any further axes (many estimates at once).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from faithlib.errors import InputError

Array = NDArray[np.float64]
Range = tuple[float, float]

ALPHA = 0.025
"""The level of every one-sided test; 95 % intervals are two of them."""
FEWEST_CLUSTERS = 10
"""With fewer in a stratum nothing is tested."""
ROUNDING = 1e-12
"""A spread that is rounding, relative to what spreads."""
RESAMPLES = 9999
SPLITS = 100
"""Ways to split clusters into halves, for the reliability of an order."""
KEPT_SETS = 16
UNLIMITED: Range = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Resamples:
    """The one bootstrap of the book: `counts` [R, K] says how often each resample holds each cluster, `stratum` [K] of
    which stratum a cluster is (0 to H - 1)."""

    stratum: NDArray[np.int64]
    counts: Array

    @classmethod
    def draw(cls, stratum: ArrayLike, number: int = RESAMPLES, seed: int = 0) -> Resamples:
        """Draw clusters with replacement, from each stratum as many as it has.

        `stratum` [K]: any labels. The same labels, number and seed give the same resamples. Raises InputError without
        clusters.
        """
        labels = np.asarray(stratum)
        if labels.ndim != 1 or not len(labels):
            raise InputError(f"strata of shape {labels.shape}: expected one label for each cluster, at least one")
        _, codes = np.unique(labels, return_inverse=True)
        codes = codes.astype(np.int64)
        return cls(codes, _drawn(codes.tobytes(), number, seed))

    @functools.cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Clusters of each stratum, [H]."""
        return np.bincount(self.stratum)

    @functools.cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The clusters of each stratum, H arrays of their places."""
        return [np.flatnonzero(self.stratum == h) for h in range(len(self.sizes))]

    def of_clusters(self, places: NDArray[np.int64]) -> Array:
        """The counts of some clusters, [R, k]. Conditions are often measured on the same few clusters: the sets that
        were asked last are kept."""
        if len(places) == len(self.stratum):
            return self.counts
        key = places.tobytes()
        # Taken out and put in again: the first of the dictionary is then the one that was asked longest ago.
        self._kept[key] = self._kept.pop(key) if key in self._kept else self.counts[:, places]
        if len(self._kept) > KEPT_SETS:
            del self._kept[next(iter(self._kept))]
        return self._kept[key]

    @functools.cached_property
    def _kept(self) -> dict[bytes, Array]:
        return {}

    def one_stratum(self, h: int) -> Array:
        """The counts [R, K] of resamples of this stratum alone, the others as they are."""
        if len(self.sizes) == 1:
            return self.counts
        return np.where(self.stratum == h, self.counts, 1.0)

    @functools.cached_property
    def halves(self) -> Array:
        """`SPLITS` random splits of each stratum into halves, as weights [S, 2, K]: those of a half sum to the size of
        its stratum, as the counts of a resample do. Of an odd number the second half has one more."""
        generator = np.random.default_rng(0)
        weights = np.zeros((SPLITS, 2, len(self.stratum)))
        for places in self.members:
            middle = len(places) // 2
            if middle == 0:  # a stratum of one cluster has it in both halves
                weights[:, :, places] = 1.0
                continue
            for split in range(SPLITS):
                shuffled = generator.permutation(places)
                weights[split, 0, shuffled[:middle]] = len(places) / middle
                weights[split, 1, shuffled[middle:]] = len(places) / (len(places) - middle)
        return weights


@functools.lru_cache(maxsize=2)
def _drawn(codes: bytes, number: int, seed: int) -> Array:
    """The counts [R, K] of clusters in these strata; kept, as a page measures the same inputs several times."""
    stratum = np.frombuffer(codes, dtype=np.int64)
    generator = np.random.default_rng(seed)
    counts = np.zeros((number, len(stratum)))
    for h in range(int(stratum.max()) + 1):
        places = np.flatnonzero(stratum == h)
        # How often each of n clusters comes in n draws with replacement is multinomial, and all that a mean needs.
        equally = np.full(len(places), 1 / len(places))
        counts[:, places] = generator.multinomial(len(places), equally, size=number)
    counts.flags.writeable = False  # all who ask share them
    return counts


@dataclass(frozen=True)
class Interval95:
    """A 95 % interval as it is shown: low <= estimate <= high; NaN ends where there is none."""

    estimate: float
    low: float
    high: float


def has_no_variance(point: Array, error: Array) -> NDArray[np.bool_]:
    """Where nothing varies, or there is no estimate."""
    return np.asarray(~(error > ROUNDING * np.maximum(1.0, np.abs(point))))


def t_p_above(point: Array, error: Array, df: Array, threshold: float) -> Array:
    """The p-values of "not above the threshold" by Student's t; .5 where nothing varies."""
    nothing = has_no_variance(point, error)
    statistic = (point - threshold) / np.where(nothing, 1.0, error)
    return np.where(nothing, 0.5, scipy.stats.t.sf(statistic, np.where(nothing, 1.0, df)))


def t_p_below(point: Array, error: Array, df: Array, threshold: float) -> Array:
    """The p-values of "not below the threshold" by Student's t; .5 where nothing varies."""
    nothing = has_no_variance(point, error)
    statistic = (point - threshold) / np.where(nothing, 1.0, error)
    return np.where(nothing, 0.5, scipy.stats.t.cdf(statistic, np.where(nothing, 1.0, df)))


def t_interval(point: Array, error: Array, df: Array) -> tuple[Array, Array]:
    """The 95 % intervals by Student's t; NaN where nothing varies."""
    nothing = has_no_variance(point, error)
    quantile = scipy.stats.t.ppf(1 - ALPHA, np.where(nothing, 1.0, df))
    half = np.where(nothing, np.nan, quantile * error)
    return np.asarray(point - half), np.asarray(point + half)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number made of condition means, or many of them at once [...].

    - `point` [...]: its value on the clusters that were measured.
    - `deviations` [R, H, ...]: by how much it changes where the clusters of one stratum alone are resampled. Their sum
      over strata is what a resample of all strata changes (to first order where it is no linear combination).
    - `clusters` [H]: independent inputs of each stratum in the smallest condition that it rests on; 0 for a stratum
      on which it does not rest.
    - `resamples`: those that the deviations are of.
    - `contributions` [K, ...]: what each cluster adds to the point's deviation from the truth, to first order; None
      for what is no linear combination of means.
    - `n`: inputs in the smallest condition. `bounds`: the range that its values cannot leave, for display alone.
    """

    point: Any  # a number, or an array of many
    deviations: Array
    clusters: NDArray[np.int64]
    resamples: Resamples
    contributions: Array | None = None
    n: int = 0
    bounds: Range = UNLIMITED

    @property
    def replicates(self) -> Array:
        """Its bootstrap replicates, [R, ...]."""
        return np.asarray(self.point + self.deviations.sum(axis=1))

    @property
    def fewest(self) -> int:
        """Clusters of the smallest stratum that it rests on; 0 where it rests on none."""
        resting = self.clusters[self.clusters > 0]
        return int(resting.min()) if len(resting) else 0

    # --------------------------------------------------------------------------------------------- uncertainty
    @functools.cached_property
    def error_and_df(self) -> tuple[Array, Array]:
        """The standard error [...] and its degrees of freedom [...] (NaN where nothing varies)."""
        # A stratum of one cluster says nothing of its spread: it counts with a factor of 0, whatever its size.
        resting = self.clusters > 1
        size = np.where(resting, self.clusters, 2).astype(float)
        shape = (-1, *(1 for _ in np.shape(self.point)))  # strata first, then as the estimates have it
        factor = np.where(resting, size / (size - 1), 0.0).reshape(shape)
        spread = self.deviations.var(axis=0)
        if np.isnan(spread).any() and len(self.deviations):  # a resample without any cluster of a rare condition
            defined = (~np.isnan(self.deviations)).any(axis=0)
            spread = np.where(defined, np.nanvar(np.where(defined, self.deviations, 0.0), axis=0), 0)
        variance = spread * factor
        total = variance.sum(axis=0)
        squares = (variance**2 / (size - 1).reshape(shape)).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            df = np.where(squares > 0, total**2 / squares, np.nan)
        return np.sqrt(total), df

    @property
    def standard_error(self) -> float:
        """The standard error of one estimate, from its replicates."""
        return float(self.error_and_df[0])

    def p_above(self, threshold: float = 0.0) -> float:
        """The p-value of "not above the threshold", of one estimate."""
        return float(t_p_above(np.asarray(self.point), *self.error_and_df, threshold))

    def p_below(self, threshold: float = 0.0) -> float:
        """The p-value of "not below the threshold", of one estimate."""
        return float(t_p_below(np.asarray(self.point), *self.error_and_df, threshold))

    def interval(self) -> Interval95:
        """The 95 % interval of one estimate as it is shown: cut to the range that its values cannot leave."""
        low, high = t_interval(np.asarray(self.point), *self.error_and_df)
        least, most = self.bounds
        return Interval95(float(self.point), float(np.maximum(least, low)), float(np.minimum(most, high)))

    # ---------------------------------------------------------------------------------------- plain arithmetic
    def __add__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            low, high = self.bounds
            return replace(self, point=self.point + other, bounds=(low + other, high + other))
        require_same_resamples([self, other])
        contributions = None
        if self.contributions is not None and other.contributions is not None:
            contributions = self.contributions + other.contributions
        low, high = np.add(self.bounds, other.bounds)
        return Estimate(
            self.point + other.point,
            self.deviations + other.deviations,
            smallest_strata([self, other]),
            self.resamples,
            contributions,
            min(self.n, other.n),
            (float(low), float(high)),
        )

    def __mul__(self, factor: Estimate | float) -> Estimate:
        """Multiply by a number; a product of two estimates is for display."""
        if isinstance(factor, Estimate):
            return combined(lambda both: both[..., 0] * both[..., 1], [self, factor])
        contributions = self.contributions if self.contributions is None else factor * self.contributions
        ends = sorted(factor * end if factor else 0.0 for end in self.bounds)
        return replace(
            self,
            point=factor * self.point,
            deviations=factor * self.deviations,
            contributions=contributions,
            bounds=(ends[0], ends[1]),
        )

    def __neg__(self) -> Estimate:
        return self * -1.0

    def __sub__(self, other: Estimate | float) -> Estimate:
        return self + -other

    def __rsub__(self, other: float) -> Estimate:
        return -self + other

    def __truediv__(self, divisor: Estimate | float) -> Estimate:
        """Divide by a number; a ratio of two estimates is for display, and tested by its logarithm (`log_ratio`)."""
        if not isinstance(divisor, Estimate):
            return self * (1 / divisor)
        if np.any(np.asarray(divisor.point) == 0):
            raise InputError("a ratio to an estimate that is zero: there is no such number")
        return combined(lambda both: both[..., 0] / both[..., 1], [self, divisor])

    def __abs__(self) -> Estimate:
        """The absolute value, for display: it is not tested."""
        return replace(self * float(np.sign(self.point) or 1.0), bounds=(0.0, max(map(abs, self.bounds))))

    __radd__, __rmul__ = __add__, __mul__


def require_same_resamples(estimates: Sequence[Estimate]) -> None:
    """Raise InputError where there are no estimates, or some whose replicates are of other resamples."""
    if not estimates:
        raise InputError("no estimates to combine")
    if any(estimate.resamples is not estimates[0].resamples for estimate in estimates):
        raise InputError("estimates of different resamples cannot be combined: make them from the same conditions")


def smallest_strata(estimates: Sequence[Estimate]) -> NDArray[np.int64]:
    """The fewest clusters of each stratum that one of them rests on, [H]; 0 where none rests on the stratum."""
    clusters = np.stack([estimate.clusters for estimate in estimates])
    most = np.iinfo(np.int64).max
    fewest = np.where(clusters > 0, clusters, most).min(axis=0)
    return np.where(fewest == most, 0, fewest)


def mean(
    values: ArrayLike, resamples: Resamples, counts: ArrayLike | None = None, bounds: Range = UNLIMITED
) -> Estimate:
    """The mean of a condition over all its inputs (or of many conditions at once).

    values: [K, ...], of each cluster the sum over its inputs; NaN for a cluster that the condition does not have.
    counts: [K, ...], of each cluster its inputs (default: one each). bounds: the range of a value.

    Raises InputError for another number of clusters, or for a condition that has none.
    """
    sums = np.asarray(values, dtype=float)
    if len(sums) != len(resamples.stratum):
        raise InputError(f"values of {len(sums)} clusters: expected {len(resamples.stratum)}, as many as are resampled")
    sizes = np.ones_like(sums) if counts is None else np.asarray(counts, dtype=float)
    sizes = np.where(np.isnan(sums), 0.0, sizes)
    sums = np.where(sizes > 0, sums, 0.0)
    total, number = sums.sum(axis=0), sizes.sum(axis=0)
    if not np.all(number > 0):
        raise InputError("a condition without any value: there is no mean of it")
    point = total / number
    deviations, clusters = [], []
    for places in resamples.members:
        # This stratum resampled, the others as they are.
        drawn = resamples.counts[:, places]
        in_stratum, of_stratum = sums[places], sizes[places]
        new_total = total - in_stratum.sum(axis=0) + np.tensordot(drawn, in_stratum, axes=1)
        new_number = number - of_stratum.sum(axis=0) + np.tensordot(drawn, of_stratum, axes=1)
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may hold no cluster of a rare condition
            deviations.append(new_total / new_number - point)
        clusters.append(int((of_stratum > 0).sum(axis=0).min()))
    # A mean is a ratio of two sums, both of which a cluster moves: to first order by this.
    contributions = (sums - sizes * point) / number
    n = int(number.min())
    at_strata = np.stack(deviations, axis=1)
    return Estimate(point, at_strata, np.array(clusters, dtype=np.int64), resamples, contributions, n, bounds)


def combined(function: Callable[[Array], Array], estimates: Sequence[Estimate]) -> Estimate:
    """A smooth function of several estimates: a standard deviation, a correlation, the logarithm of a ratio.

    function: maps values [..., P] to [...]. Each stratum is resampled with the others as they are, so that strata stay
    apart here too.

    Raises InputError for no estimates, or for some of different resamples.
    """
    require_same_resamples(estimates)
    points = np.stack([estimate.point for estimate in estimates], axis=-1)
    changes = np.stack([estimate.deviations for estimate in estimates], axis=-1)
    point = np.asarray(function(points))[()]  # a number where there is one
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations = np.asarray(function(points + changes)) - point
    n = min(estimate.n for estimate in estimates)
    return Estimate(point, deviations, smallest_strata(estimates), estimates[0].resamples, None, n)


def log_ratio(numerator: Estimate, denominator: Estimate) -> Estimate:
    """The natural logarithm of numerator / denominator: how ratios are tested. NaN where one of them is not above
    zero."""

    def logarithm(both: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.log(both[..., 0]) - np.log(both[..., 1]))

    return combined(logarithm, [numerator, denominator])


def average(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of several estimates, each counted once. Raises InputError for none."""
    require_same_resamples(estimates)
    total = estimates[0]
    for estimate in estimates[1:]:
        total = total + estimate
    return total * (1 / len(estimates))
