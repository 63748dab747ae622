"""How many inputs a small study needs to see a difference that is there.

The study imagined: n inputs, on each one paired difference, a paired t-test at the level .05, two-sided. Its power, the
chance that it comes out significant on the right side, is about Phi(sqrt(n) * effect - 1.96), effect the mean of the
differences over their standard deviation; a power of .8 takes n = ((1.96 + .84) / effect)^2.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.stats

from faithbook.stats import rules
from faithbook.stats.comparison import Comparison, combined
from faithbook.stats.estimates import Array

_Z = float(scipy.stats.norm.ppf(1 - rules.ALPHA))
_FEWEST, _FEWEST_OF_SIGNS = 2, 6
"""Inputs below which the test cannot come out significant at all."""


def deviation(mean: Comparison, square: Comparison) -> Comparison:
    """The standard deviation of values from their mean and the mean of their squares."""
    return combined(lambda both: np.sqrt(np.maximum(both[..., 1] - both[..., 0] ** 2, 0.0)), [mean, square])


def effect(mean: Comparison, square: Comparison) -> Comparison:
    """The mean of values over their standard deviation; NaN where nothing spreads."""

    def ratio(both: Array) -> Array:
        variance = both[..., 1] - both[..., 0] ** 2
        return np.asarray(both[..., 0] / np.sqrt(np.where(variance > 1e-15, variance, np.nan)))

    return combined(ratio, [mean, square])


def inputs_needed(size: float) -> float:
    """Inputs for a power of .8 at an effect of this size; infinite where it is not above zero, NaN where undefined.

    >>> round(inputs_needed(0.5), 1), inputs_needed(-0.1)
    (31.4, inf)
    """
    if math.isnan(size):
        return math.nan
    return math.inf if size <= 0 else max((rules.reach() / size) ** 2, _FEWEST)


def sign_test_needed(win: float, tie: float) -> float:
    """The same for the sign test, which leaves ties out: from the shares of wins and of ties.

    >>> round(sign_test_needed(0.75, 0.0), 1), sign_test_needed(0.4, 0.2), sign_test_needed(0.0, 1.0)
    (28.9, inf, nan)
    >>> round(sign_test_needed(0.1, 0.9), 1)  # all that is not a tie, up to the last bit of 1 - .9
    60.0
    """
    if tie >= 1 or math.isnan(win):
        return math.nan
    share = min(1.0, win / (1 - tie))
    if share <= 0.5:
        return math.inf
    noise = _Z * 0.5 + (rules.reach() - _Z) * math.sqrt(share * (1 - share))
    return max((noise / (share - 0.5)) ** 2, _FEWEST_OF_SIGNS) / (1 - tie)


def needed_row(pair: Comparison) -> dict[str, float]:
    """Inputs needed with a 95 % interval, from an effect; the upper end is infinite where the effect may be zero."""
    interval = pair.ours.interval()
    ends = {"estimate": interval.estimate, "low": interval.high, "high": interval.low}
    return {name: math.ceil(n) if math.isfinite(n := inputs_needed(size)) else n for name, size in ends.items()}
