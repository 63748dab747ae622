"""How often each input is drawn in each resample, and means of what is defined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def drawn_counts(strata: NDArray[Any], n_resamples: int, seed: int, *, size: int | None = None) -> NDArray[np.float64]:
    """How often each unit is drawn in each resample, [R, U]: within its stratum [U], with replacement, so that every
    stratum keeps its number of units, or has `size`. The one bootstrap of the book; all intervals over inputs stand on
    these counts.
    """
    generator = np.random.default_rng(seed)
    counts = np.zeros((n_resamples, len(strata)))
    for stratum in pd.unique(strata):
        members = np.flatnonzero(strata == stratum)
        equally = np.full(len(members), 1 / len(members))
        counts[:, members] = generator.multinomial(size or len(members), equally, size=n_resamples)
    return counts


def defined_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the first axis of what is not NaN; NaN where nothing is left.

    >>> defined_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, nan]
    """
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0).sum(0) / there.sum(0))
