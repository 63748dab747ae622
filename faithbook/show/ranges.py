"""Between which numbers the values of a metric lie, where they lie between any; so does the interval of their mean.

A 95 % interval by Student's t may end beyond what a metric can be (of ten texts, say). What is shown is cut to the
metric's range; nothing that is tested is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from faithbook.stats.estimate import UNLIMITED, Estimate, Range

SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)
RANGES: Mapping[str, Range] = {
    **dict.fromkeys(("sparseness", "n_auc", "autpc", "naopc_morf", "naopc_lerf"), SHARE),
    **dict.fromkeys(("iou_f1", "token_f1", "iou", "pointing_game", "auprc", "average_precision"), SHARE),
    **dict.fromkeys(("win_rate_comprehensiveness", "win_rate_sufficiency"), SHARE),
    **dict.fromkeys(("decides_first", "subject_first"), SHARE),
    **dict.fromkeys(("saco", "saco_mean", "srg", "aopc_morf", "aopc_lerf", "lds"), CORRELATION),
    **dict.fromkeys(("ns", "soft_ns"), (-math.inf, 1.0)),
    **dict.fromkeys(("nc", "soft_nc", "complexity"), (0.0, math.inf)),
}
ROUNDING = 1e-6
"""By how much a value of single precision may lie outside."""


def range_of(metrics: Iterable[object]) -> Range:
    """Between which numbers a mean of values of these metrics lies; any number where one of them has no range.

    >>> range_of(["saco"]), range_of(["ns", "iou"]), range_of(["iou", "log_odds"])
    ((-1.0, 1.0), (-inf, 1.0), (-inf, inf))
    """
    known = [RANGES.get(str(name), UNLIMITED) for name in metrics] or [UNLIMITED]
    return min(low for low, _ in known), max(high for _, high in known)


def holds(metric: object, values: ArrayLike) -> bool:
    """Whether a metric has a range that all defined values respect."""
    low, high = range_of([metric])
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    inside = bool(len(known)) and known.min() >= low - ROUNDING and known.max() <= high + ROUNDING
    return (low, high) != UNLIMITED and inside


def cut_to_range(mean: Estimate, metrics: Iterable[object]) -> Estimate:
    """A mean of these metrics' own values, whose interval is shown cut to their range."""
    return replace(mean, bounds=range_of(metrics))
