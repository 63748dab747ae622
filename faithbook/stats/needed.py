"""How many inputs a study needs: to see a difference that is there, and to decide a claim.

The study imagined: n inputs, on each one paired difference, a paired t-test at the level .05, two-sided. Its power, the
chance that it comes out significant on the right side, is about Phi(sqrt(n) * effect - 1.96), effect the mean of the
differences over their standard deviation; a power of .8 takes n = ((1.96 + .84) / effect)^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.stats

from faithbook.stats.comparison import Comparison, combined
from faithbook.stats.estimate import ALPHA, Array, Estimate
from faithbook.stats.inference import Student
from faithbook.stats.verdict import Result, Verdict

POWER = 0.8
_Z = float(scipy.stats.norm.ppf(1 - ALPHA))
_FEWEST, _FEWEST_OF_SIGNS = 2, 6
"""Inputs below which the test cannot come out significant at all."""
_MOST = 1000.0
"""Times the present inputs, beyond which no number is told."""


def z_alpha_plus_power(power: float = POWER) -> float:
    """How many standard errors from a line a value lies that is found there with this power."""
    return _Z + float(scipy.stats.norm.ppf(power))


def smallest_detectable(quantity: Estimate) -> float:
    """The effect that a test of "above zero" finds with a power of .8: (t(.975) + t(.8)) * SE; infinite where nothing
    varies."""
    error, df = quantity.error_and_df
    if np.isnan(df):
        return math.inf
    return float((scipy.stats.t.ppf(1 - ALPHA, df) + scipy.stats.t.ppf(POWER, df)) * error)


def how_many(quantity: Estimate, threshold: float = 0.0) -> float:
    """Inputs with which the estimate, were it as it looks, is separated from the threshold with a power of .8; infinite
    where it lies on it, NaN where nothing varies."""
    error, distance = quantity.standard_error, abs(float(quantity.point) - threshold)
    if not error > 0:
        return math.nan
    if distance == 0:
        return math.inf
    return math.ceil(int(quantity.clusters.sum()) * (z_alpha_plus_power() * error / distance) ** 2)


def inputs_to_decide(rule: Callable[[Student], Result], parts: Student, n: int, power: float = POWER) -> int | None:
    """Inputs with which a claim would be decided with a power of .8 (or another), were its values as they look.

    The rule itself is asked, with standard errors as so many inputs give them, wider by what the power takes. None
    where a thousand times the present n do not decide it, or nothing varies.
    """

    def decided(times: float) -> bool:
        wider = z_alpha_plus_power(power) / _Z / math.sqrt(times)
        asked = Student(parts.point, wider * parts.error, parts.df * times, parts.fewest)
        return rule(asked).verdict is not Verdict.UNDECIDED

    if not decided(_MOST):
        return None
    low, high = -math.log(_MOST), math.log(_MOST)
    # Thirty halvings leave less than a millionth of the answer; it is asked in logarithms, for sizes differ by factors.
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if decided(math.exp(middle)) else (middle, high)
    return math.ceil(n * math.exp(high))


CONFIRMED_WITH, CONFIRMED_AT, FEWEST_CONFIRMED = 0.9, 0.75, 60
"""Power of a confirmatory sample, at which part of the exploratory effect, and its fewest inputs."""


def inputs_to_confirm(
    rule: Callable[[Student], Result], parts: Student, lines: tuple[float, ...], n: int
) -> int | None:
    """Inputs of a confirmatory sample: a power of .9 at three quarters of each part's distance from the line (or the
    nearer of two `lines`) that it was found at, and at least 60; None where no number decides the claim."""
    marks = np.array(lines)
    nearest = marks[np.abs(np.asarray(parts.point)[:, None] - marks).argmin(axis=1)]
    nearer = Student(nearest + CONFIRMED_AT * (parts.point - nearest), parts.error, parts.df, parts.fewest)
    found = inputs_to_decide(rule, nearer, n, CONFIRMED_WITH)
    return None if found is None else max(FEWEST_CONFIRMED, found)


def deviation(mean: Comparison, square: Comparison) -> Comparison:
    """The standard deviation of values from their mean and the mean of their squares."""
    return combined(lambda both: np.sqrt(np.maximum(both[..., 1] - both[..., 0] ** 2, 0.0)), [mean, square])


def effect_size(mean: Comparison, square: Comparison) -> Comparison:
    """The mean of values over their standard deviation; NaN where nothing spreads."""

    def ratio(both: Array) -> Array:
        variance = both[..., 1] - both[..., 0] ** 2
        return np.asarray(both[..., 0] / np.sqrt(np.where(variance > 1e-15, variance, np.nan)))

    return combined(ratio, [mean, square])


def inputs_for_effect(size: float) -> float:
    """Inputs for a power of .8 at an effect of this size; infinite where it is not above zero, NaN where undefined.

    >>> round(inputs_for_effect(0.5), 1), inputs_for_effect(-0.1)
    (31.4, inf)
    """
    if math.isnan(size):
        return math.nan
    return math.inf if size <= 0 else max((z_alpha_plus_power() / size) ** 2, _FEWEST)


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
    noise = _Z * 0.5 + (z_alpha_plus_power() - _Z) * math.sqrt(share * (1 - share))
    return max((noise / (share - 0.5)) ** 2, _FEWEST_OF_SIGNS) / (1 - tie)


def needed_row(pair: Comparison) -> dict[str, float]:
    """Inputs needed with a 95 % interval, from an effect; the upper end is infinite where the effect may be zero."""
    interval = pair.ours.interval()
    ends = {"estimate": interval.estimate, "low": interval.high, "high": interval.low}
    needed = {name: inputs_for_effect(size) for name, size in ends.items()}
    return {name: math.ceil(n) if math.isfinite(n) else n for name, n in needed.items()}
