"""Which of two values a metric prefers: the comparison inside diagnosticity (Zhao & Aletras 2023, Eq. 6).

Without torch, so that whoever only reads saved scores counts preferences as the library does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faithlib.errors import InputError


def preferences(
    method: ArrayLike, random: ArrayLike, *, higher_is_better: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wins 1[metric(method) better than metric(random)] and ties 1[metric(method) = metric(random)], pair by pair.

    `method` and `random` [N]: the metric's value for a real and a random attribution of the same input. Returns wins
    and ties [N], each 1 or 0, NaN where one of the two values is undefined. A tie is no win. The mean of the wins is
    diagnosticity (Eq. 6): every table of the book, and `diagnosticity`, count with this function.

    Raises InputError where the two are not vectors of one length.

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
