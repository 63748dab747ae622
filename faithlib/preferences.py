"""How often a metric prefers a real attribution to a random one: diagnosticity (Chan et al. 2022; Zhao & Aletras 2023,
Eq. 6), and the comparison of two values inside it.

Without torch, so that whoever only reads saved scores counts preferences as the library does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faithlib.errors import InputError

__all__ = [
    "Diagnosticity",
    "diagnosticity",
    "preferences",
]


def preferences(
    method: ArrayLike, random: ArrayLike, *, higher_is_better: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wins 1[metric(method) better than metric(random)] and ties 1[metric(method) = metric(random)], pair by pair.

    Parameters
    ----------
    method : ArrayLike
        The metric's value for a real attribution of each input, [N].
    random : ArrayLike
        The metric's value for a random attribution of the same input, [N].
    higher_is_better : bool, default True
        Which way the metric is better.

    Returns
    -------
    tuple of ndarray
        Wins and ties, float64 [N] each: 1 or 0, NaN where one of the two values is undefined. A tie does not count as a
        win.

    Raises
    ------
    InputError
        Where the two are not vectors of one length.

    Notes
    -----
    The mean of the wins is diagnosticity (Zhao & Aletras 2023, Eq. 6): every table of the book, and `diagnosticity`,
    count with this function.

    Examples
    --------
    >>> wins, ties = preferences([0.9, 0.5, 0.1], [0.2, 0.5, float("nan")])
    >>> wins.tolist(), ties.tolist()
    ([1.0, 0.0, nan], [0.0, 1.0, nan])
    """
    ours, chance = _numbers(method), _numbers(random)
    if ours.shape != chance.shape or ours.ndim != 1:
        raise InputError(f"method {ours.shape} and random {chance.shape}: expected two vectors [N] of one length")
    defined = ~(np.isnan(ours) | np.isnan(chance))
    better = ours > chance if higher_is_better else ours < chance
    return np.where(defined, better, np.nan), np.where(defined, ours == chance, np.nan)


def _numbers(values: Any) -> NDArray[np.float64]:
    # A tensor may be on another device and have a gradient; NumPy takes neither.
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, dtype=float)


@dataclass(frozen=True)
class Diagnosticity:
    """How often a metric prefers a method to random attributions, with its interval; from `diagnosticity`.

    Parameters
    ----------
    wins : float
        Share of strict wins of the method over random, in [0, 1].
    ties : float
        Share of ties.
    low, high : float
        95 % bootstrap interval of `wins`.
    n : int
        Pairs used.
    dropped : int
        Pairs in which a value was undefined (NaN).

    Notes
    -----
    .5 with few ties means that the metric does not separate the method from random; below .5, counting half of the ties
    as wins, means that it prefers random more often than not.

    Examples
    --------
    >>> diagnosticity([0.9, 0.8, 0.7], [0.1, 0.2, float("nan")], higher_is_better=True)
    Diagnosticity(wins=1.0, ties=0.0, low=1.0, high=1.0, n=2, dropped=1)
    """

    wins: float
    ties: float
    low: float
    high: float
    n: int
    dropped: int


def diagnosticity(method: ArrayLike, random: ArrayLike, *, higher_is_better: bool) -> Diagnosticity:
    """Diagnosticity: how often a metric prefers a real attribution to a random one (Zhao & Aletras 2023, Eq. 6).

    D = 1/N sum 1[metric(method) better than metric(random)], strictly.

    Parameters
    ----------
    method : ArrayLike
        The metric's value for a real attribution of each input, a tensor or an array [N].
    random : ArrayLike
        The metric's value for a random attribution of the same input, [N].
    higher_is_better : bool
        Which way the metric is better.

    Returns
    -------
    Diagnosticity
        Its `wins` is D, in [0, 1]; higher is better. Ties do not count as wins and are reported apart. Pairs with NaN
        on either side are dropped and counted.

    Raises
    ------
    InputError
        Where the two differ in shape or no pair is left.

    Notes
    -----
    The interval is the percentile bootstrap over pairs, in the limit of endlessly many resamples: N pairs drawn with
    replacement hold Binomial(N, D) wins.

    Examples
    --------
    >>> d = diagnosticity([0.9, 0.5, 0.1], [0.2, 0.5, 0.4], higher_is_better=True)
    >>> round(d.wins, 3), round(d.ties, 3), d.n
    (0.333, 0.333, 3)
    """
    wins, ties = preferences(method, random, higher_is_better=higher_is_better)
    defined = ~np.isnan(wins)
    n = int(defined.sum())
    if n == 0:
        raise InputError(f"none of the {len(wins)} pairs is defined on both sides: nothing to compare")
    share = float(wins[defined].mean())
    from scipy.stats import binom  # which takes long to import, and nothing else needs it

    low, high = binom.ppf([0.025, 0.975], n, share) / n
    return Diagnosticity(share, float(ties[defined].mean()), float(low), float(high), n, len(wins) - n)
