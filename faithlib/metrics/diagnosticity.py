"""How often a metric prefers a real attribution to a random one (Chan et al. 2022; Zhao & Aletras 2023, Eq. 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from faithlib.errors import InputError
from faithlib.preferences import preferences


@dataclass(frozen=True)
class Diagnosticity:
    """Share of strict `wins` of the method over random with its 95 % bootstrap interval [`low`, `high`], share of
    `ties`, `n` pairs used, and `dropped` pairs in which a value was undefined (NaN).

    .5 with few ties means that the metric cannot tell the method from random; below .5, counting half of the ties as
    wins, means that it prefers random more often than not.

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
    """D = 1/N sum 1[metric(method) better than metric(random)], strictly (Eq. 6). In [0, 1], higher is better.

    `method` and `random` [N], tensors or arrays: the metric's value for a real and a random attribution of the same
    input. Ties are no wins and are reported apart. Pairs with NaN on either side are dropped and counted. The interval
    is the percentile bootstrap over pairs, in the limit of endlessly many resamples: N pairs drawn with replacement
    hold Binomial(N, D) wins.

    Raises InputError where the two differ in shape or no pair is left.

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
