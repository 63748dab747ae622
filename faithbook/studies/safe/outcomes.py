"""How good explanations are, and how well a metric's values order them.

Shape letters: B inputs, G groups of the truth, E explanations, F features, M metrics.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from faithbook.studies.safe.models import Block

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

Quality = Callable[[Floats, Bools, NDArray[np.int64]], Floats]
"""From scores [B, E, F], a solution [B, F] and how many features are left out [B] to qualities [B, E]."""

MAIN = "average precision"
_LEAST_SPREAD = 1e-6
"""Values of a metric that differ by less are the same: they are sums of single precision."""


def qualities(block: Block) -> dict[str, Floats]:
    """How good the explanations of a block are, by each declared reading: [B, E] each, 1 for the best.

    The `main` quality first, then the readings of the sensitivity analysis.
    """
    singles = _singles(block.truth)
    one_group, all_members = block.groups, block.truth[:, None]
    main = one_group if block.kind == "redundant" else all_members
    other = {"or": singles, "redundant": all_members}.get(block.kind, all_members)
    with_trigger = block.truth.copy()
    with_trigger[np.arange(len(block)), block.trigger] = True
    return {
        MAIN: best_of(average_precision, block.scores, main),
        "other reading": best_of(average_precision, block.scores, other),
        "precision at size": best_of(precision_at_size, block.scores, main),
        "area under ROC": best_of(area_under_roc, block.scores, main),
        "with the trigger": best_of(average_precision, block.scores, with_trigger[:, None]),
    }


def _singles(truth: Bools) -> Bools:
    """Each feature of the truth as a group of its own, [B, G, F]."""
    sizes = truth.sum(axis=1)
    groups = np.zeros((len(truth), int(sizes[0]), truth.shape[1]), dtype=bool)
    for b, members in enumerate(truth):
        for g, feature in enumerate(np.flatnonzero(members)):
            groups[b, g, feature] = True
    return groups


def best_of(quality: Quality, scores: Floats, groups: Bools) -> Floats:
    """The best quality over the groups [B, G, F] of explanations [B, E, F]; members of the other groups are left out of
    the ranking."""
    truth = groups.any(axis=1)
    values = []
    for g in range(groups.shape[1]):
        left_out = truth & ~groups[:, g]
        lowest = np.where(left_out[:, None], -np.inf, scores)
        values.append(quality(lowest, groups[:, g], left_out.sum(axis=1)))
    best: Floats = np.max(values, axis=0)
    return best


def _ranks(scores: Floats) -> NDArray[np.int64]:
    """The place of each feature, 0 for the highest score, of equal ones the first as in the library."""
    order = np.argsort(-scores, axis=-1, kind="stable")
    return np.argsort(order, axis=-1, kind="stable")


def average_precision(scores: Floats, group: Bools, left_out: NDArray[np.int64]) -> Floats:
    """Mean over the members of a group of the share of members among the features ranked as high, [B, E].

    >>> average_precision(np.array([[[3.0, 2.0, 1.0]]]), np.array([[True, False, True]]), np.array([0])).round(4)
    array([[0.8333]])
    """
    place = _ranks(scores) + 1
    member = group[:, None]
    before = (place[..., None, :] <= place[..., :, None]) & member[..., None, :]
    precision = before.sum(axis=-1) / place
    value: Floats = np.where(member, precision, 0.0).sum(axis=-1) / group.sum(axis=-1)[:, None]
    return value


def precision_at_size(scores: Floats, group: Bools, left_out: NDArray[np.int64]) -> Floats:
    """Share of members among as many first features as there are members, [B, E]."""
    size = group.sum(axis=-1)[:, None, None]
    top = _ranks(scores) < size
    value: Floats = (top & group[:, None]).sum(axis=-1) / size[..., 0]
    return value


def area_under_roc(scores: Floats, group: Bools, left_out: NDArray[np.int64]) -> Floats:
    """Share of pairs of a member and another feature that are ranked rightly, [B, E]; those left out are no pairs."""
    place = _ranks(scores) + 1
    members = group.sum(axis=-1)[:, None]
    others = group.shape[1] - members - left_out[:, None]
    sums = np.where(group[:, None], place, 0).sum(axis=-1)
    value: Floats = 1 - (sums - members * (members + 1) / 2) / (members * others)
    return value


def rank_correlation(values: Floats, quality: Floats) -> Floats:
    """Spearman's correlation of metrics [B, M, E] with the quality [B, E] over the explanations of one input, [B, M].

    A missing value ranks last. 0 where a metric says the same of all explanations, or nothing; NaN where all are
    equally good.
    """
    values = _with_missing_last(values)
    of_metric = rankdata(values, axis=-1)
    of_quality = rankdata(quality, axis=-1)[:, None]
    x = of_metric - of_metric.mean(axis=-1, keepdims=True)
    y = of_quality - of_quality.mean(axis=-1, keepdims=True)
    size = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    constant = (x**2).sum(axis=-1) == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation: Floats = np.where(constant, 0.0, (x * y).sum(axis=-1) / size)
    nothing_to_order = (y**2).sum(axis=-1) == 0
    correlation[np.broadcast_to(nothing_to_order, correlation.shape)] = np.nan
    return correlation


def wrong_orders(values: Floats, quality: Floats, *, clear: float) -> Floats:
    """The share of pairs of explanations that a metric orders wrongly, of those whose qualities differ by `clear` at
    least, [B, M]; ties count half; NaN where no pair is clear."""
    values = _with_missing_last(values)
    first, second = np.triu_indices(values.shape[-1], 1)
    apart = quality[:, first] - quality[:, second]
    is_clear = np.abs(apart) >= clear - 1e-9  # qualities are sums, and may miss the mark by rounding
    told = np.sign(values[..., first] - values[..., second])
    wrong = (1 - told * np.sign(apart)[:, None]) / 2
    count = is_clear.sum(axis=-1)[:, None]
    with np.errstate(invalid="ignore"):
        share: Floats = np.where(is_clear[:, None], wrong, 0.0).sum(axis=-1) / count
    return share


def untouched(values: Floats, twin: Floats) -> Bools:
    """Where the error adds the same to all values [B, M, E] of an input, so that their order stays: bool [B, M]."""
    with np.errstate(invalid="ignore"):
        added = values - twin
        spread = added.max(axis=-1) - added.min(axis=-1)
        same: Bools = spread < _LEAST_SPREAD
    return same


def _with_missing_last(values: Floats) -> Floats:
    """Values rounded to what single precision can tell apart; missing ones below all others."""
    rounded = np.round(values / _LEAST_SPREAD) * _LEAST_SPREAD
    lowest = np.nanmin(np.where(np.isnan(rounded), np.inf, rounded), axis=-1, keepdims=True)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    return np.where(np.isnan(rounded), lowest - 1, rounded)
