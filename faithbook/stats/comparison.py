"""A quantity of ours beside what the paper prints for it: what claims are written in.

    gain = saco("rollout") - saco("raw_attention")
    gain.ours.point, gain.published

Sums, differences, products, ratios and absolute values act on both: ours (the reference's, where it has the values of
single inputs) and the published number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithbook.stats import estimates, grounds
from faithbook.stats.estimates import Array, Estimate, Interval95
from faithlib.errors import InputError


@dataclass(frozen=True)
class Comparison:
    """Ours and the published value (NaN: not printed).

    - `evidence`: the ground that it rests on, the weaker of two where two are combined;
    - `published_n`: how many inputs the published value is of, where the paper says so.
    """

    ours: Estimate
    published: float = math.nan
    evidence: str = grounds.STAND_INS
    published_n: int | None = None

    def _with(self, other: Comparison | float, do: Callable[[Any, Any], Any]) -> Comparison:
        if not isinstance(other, Comparison):
            return replace(self, ours=do(self.ours, other), published=do(self.published, other))
        try:
            published = float(do(self.published, other.published))
        except ZeroDivisionError:
            published = math.nan
        return _folded(lambda both: do(*both), [self, other], published)

    def __add__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a / b)

    def __rsub__(self, other: float) -> Comparison:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Comparison:
        return replace(self, ours=-self.ours, published=-self.published)

    def __abs__(self) -> Comparison:
        return replace(self, ours=abs(self.ours), published=abs(self.published))

    @property
    def prediction(self) -> Interval95 | None:
        """Where a replication of the published value falls in 95 of 100, were it made on as many inputs as ours.

        Both sides are taken to spread as ours do: (half of our interval) * sqrt(1 + n / n published) on either side.
        None where the population is not the paper's own, or it prints no value or no n.
        """
        if self.evidence != grounds.PAPER or not self.published_n or math.isnan(self.published):
            return None
        ours = self.ours.interval()
        wider = math.sqrt(1 + self.ours.n / self.published_n)
        low, high = (wider * abs(end - ours.estimate) for end in (ours.low, ours.high))
        return Interval95(self.published, self.published - high, self.published + low)

    @property
    def away(self) -> float:
        """Ours minus the published value, in standard errors of ours with the spread between seeds in it; NaN where
        none is printed or nothing spreads."""
        error = self.ours.error_with_seeds
        return (self.ours.point - self.published) / error if error > 0 else math.nan


def combined(
    function: Callable[[Array], Array], of: Sequence[Comparison], *, published: float | None = None
) -> Comparison:
    """A smooth function of several quantities (a spread, a mean, the least): `function` maps [..., P] to [...].

    `published`: what the paper prints for it, where that is not the function of its printed values.

    Raises InputError for no quantities.
    """
    printed = float(function(np.array([one.published for one in of]))) if of and published is None else published
    return _folded(lambda side: estimates.combined(function, side), of, printed)


def variance_between(of: Sequence[Comparison]) -> Comparison:
    """The variance between several quantities, ours minus what noise alone would give (`estimates.variance_between`);
    the published one is that of the printed values, of whose noise nothing is known."""
    printed = float(np.var([one.published for one in of])) if of else math.nan
    return _folded(estimates.variance_between, of, printed)


def _folded(
    function: Callable[[Sequence[Estimate]], Estimate], of: Sequence[Comparison], published: float | None
) -> Comparison:
    if not of:
        raise InputError("no quantities to combine")
    sizes = [one.published_n for one in of if one.published_n is not None]
    return Comparison(
        function([one.ours for one in of]),
        math.nan if published is None else published,
        grounds.weakest(one.evidence for one in of),
        min(sizes) if len(sizes) == len(of) else None,
    )


def mean(of: Sequence[Comparison]) -> Comparison:
    """The mean of several quantities, each counted once. Raises InputError for none."""
    if not of:
        raise InputError("no quantities to average")
    return sum(of[1:], start=of[0]) / len(of)
