"""From attribution scores to what is kept: hard rationales, removal paths, groups, and soft keep-probabilities.

One tie rule everywhere: of two equal scores the feature that comes first ranks first, so the same scores give the same
masks on every machine. NaN among the scores of real features is an error; features that an input does not have
(`feature_mask` False) rank last and are never part of a rationale.

Shape letters: B inputs, S steps, F features, K groups.
"""

import hashlib
import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from faithlib import counter_rng
from faithlib.errors import InputError, check_counts, check_known
from faithlib.names import Normaliser

__all__ = [
    "NORMALISERS",
    "checked_mask",
    "group_salience",
    "normalise",
    "position_in_rank",
    "rank",
    "removal_path",
    "salience_groups",
    "soft_keep",
    "top_ratio",
]


def rank(scores: Tensor, feature_mask: Tensor | None = None, *, descending: bool = True) -> Tensor:
    """Feature indices by score, [B, F] long; equal scores keep their place in the text, absent features come last.

    Parameters
    ----------
    scores : Tensor
        Attribution scores, [B, F].
    feature_mask : Tensor | None
        True where an input has a feature, [B, F]; None: everywhere.
    descending : bool
        Whether the highest score comes first.

    Returns
    -------
    Tensor
        Feature indices, [B, F] long, the first in rank first.

    Examples
    --------
    >>> rank(torch.tensor([[0.2, 0.9, 0.2]])).tolist()
    [[1, 0, 2]]
    """
    present = checked_mask(scores, feature_mask)
    keyed = torch.where(present, -scores if descending else scores, torch.inf)
    return keyed.argsort(dim=1, stable=True)


def position_in_rank(scores: Tensor, feature_mask: Tensor | None = None, *, descending: bool = True) -> Tensor:
    """The rank of every feature, [B, F] long, 0 for the first; the inverse permutation of `rank`.

    Parameters
    ----------
    scores : Tensor
        Attribution scores, [B, F].
    feature_mask : Tensor | None
        True where an input has a feature, [B, F]; None: everywhere.
    descending : bool
        Whether the highest score comes first.

    Returns
    -------
    Tensor
        The rank of every feature, [B, F] long.

    Examples
    --------
    >>> position_in_rank(torch.tensor([[0.2, 0.9, 0.2]])).tolist()
    [[1, 0, 2]]
    """
    return rank(scores, feature_mask, descending=descending).argsort(dim=1)


def top_ratio(scores: Tensor, ratios: Sequence[float], feature_mask: Tensor | None = None) -> Tensor:
    """Rationales of several lengths: bool [B, S, F], True for the ceil(ratio * n) highest scores of an input's n
    features.

    Parameters
    ----------
    scores : Tensor
        Attribution scores, [B, F].
    ratios : Sequence[float]
        The lengths, S shares of an input's features.
    feature_mask : Tensor | None
        True where an input has a feature, [B, F]; None: everywhere.

    Returns
    -------
    Tensor
        What is in each rationale, bool [B, S, F].

    Raises
    ------
    InputError
        For a ratio outside [0, 1].

    Examples
    --------
    >>> top_ratio(torch.tensor([[0.1, 0.7, 0.2]]), [0.01, 0.5]).int().tolist()
    [[[0, 1, 0], [0, 1, 1]]]
    """
    if bad := [r for r in ratios if not 0 <= r <= 1]:
        raise InputError(f"ratio {bad[0]}: expected shares between 0 and 1")
    present = checked_mask(scores, feature_mask)
    n = present.sum(dim=1).tolist()
    # The product is rounded before the ceiling: 0.1 * 30 is 3.0000000000000004 in floating point and must give 3, not
    # 4.
    sizes = torch.tensor([[math.ceil(round(r * k, 9)) for r in ratios] for k in n], device=scores.device)
    return position_in_rank(scores, feature_mask)[:, None, :] < sizes[:, :, None]


def removal_path(scores: Tensor, feature_mask: Tensor | None = None, *, descending: bool = True) -> Tensor:
    """What is kept after removing the first 1..F features in order of score: bool [B, F, F]; row k keeps all but k + 1.

    Inputs with fewer features than F repeat their last, fully erased step.

    Parameters
    ----------
    scores : Tensor
        Attribution scores, [B, F].
    feature_mask : Tensor | None
        True where an input has a feature, [B, F]; None: everywhere.
    descending : bool
        Whether the highest score comes first.

    Returns
    -------
    Tensor
        What is kept at each step, bool [B, F, F].

    Examples
    --------
    >>> removal_path(torch.tensor([[0.1, 0.9, 0.5]])).int().tolist()
    [[[1, 0, 1], [1, 0, 0], [0, 0, 0]]]
    """
    position = position_in_rank(scores, feature_mask, descending=descending)
    steps = torch.arange(scores.shape[1], device=scores.device)
    return position[:, None, :] > steps[None, :, None]


def salience_groups(
    scores: Tensor,
    k: int,
    feature_mask: Tensor | None = None,
    *,
    remainder: str = "spread",
    ties: str = "position",
    seed: int = 0,
) -> Tensor:
    """K groups of features by descending score (Wu et al. 2024, Section 3): the group 0..K-1 of every feature, long [B,
    F], 0 for the most salient; -1 for absent features.

    The paper's "equally sized" groups hold ranks (i-1) n/K to i n/K of an input's n features. `remainder` says what
    that means where K does not divide n:

    - "spread": the bounds i n/K are rounded, halves up; sizes differ by at most one.
    - "last": floor(n/K) features a group, the last group takes the rest as well.
    - "drop": floor(n/K) features a group; the rest, lowest in rank, belongs to no group (-1). All sizes are equal.

    `ties` says who goes first among equal scores: "position" the first feature, the rule of `rank`. "random" is an
    order drawn again for every input, which depends on `seed` and the input's own scores, not on the batch around it.

    Parameters
    ----------
    scores : Tensor
        Attribution scores, [B, F].
    k : int
        How many groups.
    feature_mask : Tensor | None
        True where an input has a feature, [B, F]; None: everywhere.
    remainder : str
        "spread", "last" or "drop", as above.
    ties : str
        "position" or "random", as above.
    seed : int
        Of the random order of equal scores.

    Returns
    -------
    Tensor
        The group of every feature, long [B, F].

    Raises
    ------
    InputError
        Where k is below 1 or above an input's number of features.

    Examples
    --------
    >>> salience_groups(torch.tensor([[0.1, 0.9, 0.5, 0.2, 0.3]]), 2).tolist()
    [[1, 0, 0, 1, 0]]
    >>> salience_groups(torch.tensor([[0.1, 0.9, 0.5, 0.2, 0.3]]), 2, remainder="drop").tolist()
    [[-1, 0, 0, 1, 1]]
    """
    check_known("remainder", remainder, ("spread", "last", "drop"))
    check_known("ties", ties, ("position", "random"))
    present = checked_mask(scores, feature_mask)
    n = present.sum(dim=1, keepdim=True)
    check_counts(k=k)
    if (n < k).any():
        row = int((n[:, 0] < k).nonzero()[0])
        raise InputError(f"k {k}: input {row} has only {int(n[row])} features; choose at most so many groups")
    place = _shuffled_position(scores, present, seed) if ties == "random" else position_in_rank(scores, present)
    if remainder == "spread":
        steps = torch.arange(1, k + 1, device=scores.device)
        # round(i n / K) in whole numbers, so that no bound depends on floating point.
        group = torch.searchsorted((2 * steps * n + k) // (2 * k), place, right=True)
    else:
        group = place // (n // k)
        group = group.clamp(max=k - 1) if remainder == "last" else torch.where(group < k, group, -1)
    return torch.where(present, group, -1)


def group_salience(scores: Tensor, groups: Tensor, k: int, *, reduce: str = "sum") -> Tensor:
    """s(G_i), the sum of the scores in each group (Wu et al. 2024, Eq. 1), [B, K], for `groups` [B, F] of
    `salience_groups`; features in no group (-1) count nowhere.

    Groups of equal size come out in descending order to the last bit. Groups that differ in size need not: 79 equal
    positive scores sum to more than 78, and of 79 and 78 negative ones the larger group sums to less. That is Eq. 1,
    and right for a model that adds up its features, where the larger group does cost more; `saco` takes such rows as
    they are. Of a nearly uniform map, though, the sums tell the sizes and little else. `reduce` "mean" divides by the
    group's size: descending up to rounding whatever the sizes, proportional to the sum where sizes are equal. Its
    differences stay the same when all scores are shifted by a constant.

    Sums are taken in double precision and returned in the dtype of the scores, at least float32.

    Parameters
    ----------
    scores : Tensor
        Attribution scores, [B, F].
    groups : Tensor
        The group of every feature, [B, F]; -1: of none.
    k : int
        How many groups.
    reduce : str
        "sum" or "mean", as above.

    Returns
    -------
    Tensor
        The salience of every group, [B, K].

    Raises
    ------
    InputError
        For shapes that differ, a group outside -1..K-1, an empty group under "mean", and scores that are not
        finite.

    Examples
    --------
    >>> scores = torch.tensor([[0.1, 0.9, 0.5, 0.2]])
    >>> group_salience(scores, salience_groups(scores, 2), 2).tolist()
    [[1.399999976158142, 0.30000001192092896]]
    """
    check_known("reduce", reduce, ("sum", "mean"))
    present = checked_mask(scores, groups >= 0)
    if (groups < -1).any() or (groups >= k).any():
        raise InputError(f"groups run from {int(groups.min())} to {int(groups.max())}: expected -1 to {k - 1}")
    # One slot more than groups, for the features that are in none.
    slot = torch.where(present, groups, k)
    sums = scores.new_zeros(len(scores), k + 1, dtype=torch.double)
    sums.scatter_add_(1, slot, torch.where(present, scores, 0).double())
    if reduce == "mean":
        sizes = torch.zeros_like(sums).scatter_add_(1, slot, torch.ones_like(slot, dtype=torch.double))
        if (sizes[:, :k] == 0).any():
            row, group = (sizes[:, :k] == 0).nonzero()[0].tolist()
            raise InputError(f"group {group} of input {row} is empty: it has no mean")
        sums /= sizes
    return sums[:, :k].to(torch.promote_types(scores.dtype, torch.float32))


def _shuffled_position(scores: Tensor, present: Tensor, seed: int) -> Tensor:
    """`position_in_rank` with equal scores in random order."""
    rows = zip((scores + 0.0).float().cpu(), present.cpu(), strict=True)  # + 0.0: minus zero equals zero
    content = [hashlib.blake2b(row[there].numpy().tobytes(), digest_size=8).digest() for row, there in rows]
    zeros = np.zeros(len(content), dtype=np.int64)
    keys = counter_rng.row_keys(seed, np.frombuffer(b"".join(content), dtype=np.uint64), zeros, zeros)
    drawn = counter_rng.uniform(torch.from_numpy(keys).to(scores.device), scores.shape[1], 1)[..., 0]
    order = drawn.argsort(dim=1, stable=True)
    place = position_in_rank(scores.gather(1, order), present.gather(1, order))
    return torch.empty_like(place).scatter_(1, order, place)


def _minmax(scores: Tensor, present: Tensor) -> Tensor:
    low = torch.where(present, scores, torch.inf).amin(dim=1, keepdim=True)
    high = torch.where(present, scores, -torch.inf).amax(dim=1, keepdim=True)
    # Equal scores say nothing about order or size: every feature keeps half of its elements.
    return torch.where(high > low, (scores - low) / (high - low), 0.5)


def _released_nc(scores: Tensor, present: Tensor) -> Tensor:
    # The released script sets protected positions to -1 and takes the row's minimum and maximum with them included.
    column, there = torch.full_like(scores[:, :1], -1.0), torch.ones_like(present[:, :1])
    return _minmax(torch.cat([scores, column], dim=1), torch.cat([present, there], dim=1))[:, :-1]


def _rank(scores: Tensor, present: Tensor) -> Tensor:
    # Absent features lie behind all that are there, so that they are never lower; a feature is one of its own ties.
    last_first = torch.where(present, scores, torch.inf)
    ordered = last_first.sort(dim=1).values
    lower, not_higher = (torch.searchsorted(ordered, last_first, right=right) for right in (False, True))
    others = present.sum(dim=1, keepdim=True) - 1
    below = 0.5 * (lower + not_higher - 1).to(torch.promote_types(scores.dtype, torch.float32))
    return torch.where(others > 0, below / others, 0.5)


def _none(scores: Tensor, present: Tensor) -> Tensor:
    outside = present & ((scores < 0) | (scores > 1))
    if outside.any():
        worst = scores[outside][0].item()
        raise InputError(
            f"score {worst:.4g} with normaliser 'none': expected scores in [0, 1]; choose 'minmax' or 'sigmoid'"
        )
    return scores


_NORMALISERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "minmax": _minmax,
    "sigmoid": lambda scores, present: scores.sigmoid(),
    "released_ns": lambda scores, present: scores.sigmoid(),
    "released_nc": _released_nc,
    "rank": _rank,
    "none": _none,
}
NORMALISERS = tuple(_NORMALISERS)


def normalise(scores: Tensor, how: Normaliser, feature_mask: Tensor | None = None) -> Tensor:
    """Importance a in [0, 1], [B, F], from raw scores; 0 for absent features.

    - `minmax`: (s - min) / (max - min) over the input's own features; constant scores give 1/2 everywhere.
    - `sigmoid`: 1 / (1 + exp(-s)); alias `released_ns`, what the released Soft-NS script does.
    - `released_nc`: min-max with the protected positions counted as -1, what the released Soft-NC script does;
      non-negative scores end up in [1 / (1 + max), 1].
    - `rank`: the share of the input's other features that score lower, ties counting half. Every attribution then has
      the same mean, 1/2, so that soft metrics compare orders and not amounts.
    - `none`: the scores as they are; InputError where one lies outside [0, 1].

    Parameters
    ----------
    scores : Tensor
        Attribution scores, [B, F].
    how : str
        One of `NORMALISERS`.
    feature_mask : Tensor | None
        True where an input has a feature, [B, F]; None: everywhere.

    Returns
    -------
    Tensor
        Importance, [B, F].

    Examples
    --------
    >>> normalise(torch.tensor([[0.05, 0.40, 0.10, 0.45]]), "released_nc").mul(1000).round().int().tolist()
    [[724, 966, 759, 1000]]
    """
    check_known("normaliser", how, NORMALISERS)
    present = checked_mask(scores, feature_mask)
    return torch.where(present, _NORMALISERS[how](scores, present), 0.0)


def soft_keep(
    scores: Tensor,
    *,
    verb: str,
    normaliser: Normaliser = "minmax",
    variant: str = "paper",
    feature_mask: Tensor | None = None,
) -> Tensor:
    """The keep-probability q of every embedding element (Zhao & Aletras 2023, Eq. 3), [B, F].

    `verb` "sufficiency" retains in proportion to importance (q = a), "comprehensiveness" removes in proportion (q = 1 -
    a). `variant` "released" swaps the two, as the released wrapper does.

    >>> soft_keep(torch.tensor([[1.0, 3.0, 2.0]]), verb="sufficiency")
    tensor([[0.0000, 1.0000, 0.5000]])
    >>> soft_keep(torch.tensor([[1.0, 3.0, 2.0]]), verb="comprehensiveness")
    tensor([[1.0000, 0.0000, 0.5000]])
    """
    check_known("verb", verb, ("sufficiency", "comprehensiveness"))
    check_known("variant", variant, ("paper", "released"))
    importance = normalise(scores, normaliser, feature_mask)
    retain = (verb == "sufficiency") == (variant == "paper")
    return importance if retain else 1 - importance


def checked_mask(scores: Tensor, feature_mask: Tensor | None) -> Tensor:
    """`feature_mask`, or all True; InputError where shapes disagree or a real feature's score is NaN or infinite.

    >>> checked_mask(torch.tensor([[0.2, 0.9]]), None).tolist()
    [[True, True]]
    """
    if scores.ndim != 2:
        raise InputError(f"scores have shape {tuple(scores.shape)}: expected [B, F]")
    present = torch.ones_like(scores, dtype=torch.bool) if feature_mask is None else feature_mask.to(scores.device)
    if present.shape != scores.shape:
        raise InputError(
            f"scores have shape {tuple(scores.shape)} and feature_mask {tuple(present.shape)}: expected the same"
        )
    broken = present & ~torch.isfinite(scores)
    if broken.any():
        row, feature = broken.nonzero()[0].tolist()
        raise InputError(
            f"scores of input {row} hold {scores[row, feature].item()} at feature {feature}: expected finite numbers; "
            "look at the attribution method that made them, or leave the input out"
        )
    return present
