"""The two ends of what AOPC can be for a model and an input, and the exact ones.

They are the best and the worst path through all sets of removed features.

Shape letters: B inputs, F features (N of an input), M values of one input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm.auto import tqdm

from faithlib.errors import InputError
from faithlib.perturb import Perturber, SetFunction


@dataclass(frozen=True)
class Bounds:
    """Bounds of AOPC, one an input.

    - `lower`, `upper` [B]: smallest and largest AOPC found; float64, in the units of the answers (a probability: [-1,
      1]). Neither is "better": they say what the model makes possible.
    - `lower_order`, `upper_order` [B, F]: features in the order of removal that reaches them, -1 beyond an input's
      features.
    - `rows` [B]: distinct sets answered for the input, the full set among them.
    - `width` [B]: how many entries the beam kept at last; 0 where no beam searched.
    - `certified_lower`, `certified_upper` [B]: the true bounds lie within [certified_lower, lower] and [upper,
      certified_upper]. Equal to the bounds where the search was exact; NaN where answers have no known limits.

    >>> from faithlib.bounds import exact_bounds
    >>> from faithlib.perturb import SetFunction
    >>> exact_bounds(SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)).upper_order
    tensor([[0, 1]])
    """

    lower: Tensor
    upper: Tensor
    lower_order: Tensor
    upper_order: Tensor
    rows: Tensor
    width: Tensor
    certified_lower: Tensor
    certified_upper: Tensor

    @classmethod
    def of(cls, present: Tensor, **found: Any) -> Bounds:
        """Bounds of inputs with the features `present` [B, F], from arrays, and from lists of orders."""
        made = {
            name: torch.as_tensor(values, device=present.device)
            for name, values in found.items()
            if "_order" not in name
        }
        for name in found.keys() - made.keys():
            made[name] = torch.full(present.shape, -1, device=present.device)
            for row, order in zip(made[name], found[name], strict=True):
                row[: len(order)] = torch.as_tensor(order)
        return cls(**made)

    def widened(self, aopc: Tensor) -> Bounds:
        """These bounds with values [B] or [B, M] of AOPC taken in that orders are known to reach, for a beam can be
        beaten; the orders stay those of the search."""
        values = aopc.double().reshape(len(self.lower), -1).to(self.lower.device)
        return replace(
            self,
            lower=torch.fmin(self.lower, values.amin(dim=1)),
            upper=torch.fmax(self.upper, values.amax(dim=1)),
        )


def naopc(aopc: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """NAOPC = (AOPC - lower) / (upper - lower), in [0, 1] (Edin et al. 2025); 0 is the worst order, 1 the best.

    Higher is better where AOPC is that of comprehensiveness, lower where it is the ascending sum. Zero is not what a
    random order gets. Values outside the bounds (a beam's bounds can be beaten) are clipped; equal bounds give NaN;
    `naopc_faults` counts both. Shapes broadcast.

    >>> naopc(torch.tensor([0.3, 0.9]), torch.tensor(0.2), torch.tensor(0.4)).float()
    tensor([0.5000, 1.0000])
    """
    spread = (upper - lower).double()
    value = ((aopc - lower).double() / spread).clamp(0, 1)
    return torch.where(spread > 0, value, torch.nan)


def naopc_faults(aopc: Tensor, lower: Tensor, upper: Tensor, *, tolerance: float = 1e-6) -> dict[str, int]:
    """How many values `naopc` had to clip by more than `tolerance` in units of AOPC, and how many are NaN because the
    bounds are equal: {"clipped": …, "undefined": …}.

    >>> naopc_faults(torch.tensor([0.3, 0.9]), torch.tensor(0.2), torch.tensor(0.4))
    {'clipped': 1, 'undefined': 0}
    """
    aopc, lower, upper = torch.broadcast_tensors(aopc.double(), lower.double(), upper.double())
    outside = (upper > lower) & ((aopc < lower - tolerance) | (aopc > upper + tolerance))
    return {"clipped": int(outside.sum()), "undefined": int((~(upper > lower)).sum())}


def present_features(score: Perturber | SetFunction) -> Tensor:
    """Which features each input has, bool [B, F]; InputError for an input without any.

    >>> present_features(SetFunction(lambda keep: keep.double().sum(dim=1), 2))
    tensor([[True, True]])
    """
    present = score.feature_mask
    if not bool(present.any(dim=1).all()):
        raise InputError(f"input {int((~present.any(dim=1)).nonzero()[0])} has no features: nothing can be removed")
    return present


Array = NDArray[np.float64]
_ROWS_A_CALL = 1 << 16
_FAR = 62  # shifting a set's code by this gives 0: where an input has no feature
_MOST_EXACT = 22


def exact_bounds(score: Perturber | SetFunction, *, max_features: int = 16) -> Bounds:
    """Both bounds of AOPC over all orders, by dynamic programming over the 2^N sets of removed features.

    One table of answers serves both ends; nothing is floored at 0. Bookkeeping is N 2^N additions; each further feature
    doubles the rows. Inputs may have different numbers of features.

    Raises InputError where an input has no feature, or more than `max_features` (at most 22): `beam_bounds` takes
    those.

    >>> both = SetFunction(lambda keep: keep.all(dim=1).double(), 2)
    >>> bounds = exact_bounds(both)
    >>> bounds.lower.item(), bounds.upper.item()
    (1.0, 1.0)
    """
    present = present_features(score)
    sizes = present.sum(dim=1).tolist()
    limit = min(max_features, _MOST_EXACT)
    if max(sizes) > limit:
        b = int(np.argmax(sizes))
        raise InputError(
            f"input {b} has {sizes[b]} features, which is {2 ** sizes[b]:,} rows; exact_bounds takes up to {limit} "
            f"(max_features, at most {_MOST_EXACT}): use beam_bounds"
        )
    answers = _all_subsets(score, present)
    full = score.full.double().cpu().numpy()
    places = [row.nonzero()[:, 0].cpu().numpy() for row in present]
    found: dict[str, Any] = {"rows": 2 ** np.array(sizes), "width": np.zeros_like(sizes)}
    for end, sign in (("upper", 1), ("lower", -1)):
        paths = [_shortest_path(sign * values, size) for values, size in zip(answers, sizes, strict=True)]
        found[end] = found[f"certified_{end}"] = full - sign * np.array([total for total, _ in paths]) / sizes
        found[f"{end}_order"] = [own[order] for own, (_, order) in zip(places, paths, strict=True)]
    return Bounds.of(present, **found)


def _all_subsets(score: Perturber | SetFunction, present: Tensor) -> list[Array]:
    """The answers to all sets of removed features of every input: [2^N] each, by the code of the set, whose bit i
    stands for the input's i-th feature."""
    sizes = present.sum(dim=1)
    starts = torch.cat([sizes.new_zeros(1), (2**sizes).cumsum(0)])
    shift = torch.where(present, present.cumsum(dim=1) - 1, _FAR)
    parts = []
    for begin in tqdm(
        range(0, int(starts[-1]), _ROWS_A_CALL), unit_scale=_ROWS_A_CALL, unit="row", delay=3, leave=False
    ):
        number = torch.arange(begin, min(begin + _ROWS_A_CALL, int(starts[-1])), device=present.device)
        owner = torch.searchsorted(starts, number, right=True) - 1
        code = number - starts[owner]
        parts.append(score.keep_rows(owner, (code[:, None] >> shift[owner]) & 1 == 0))
    values = torch.cat(parts).double().cpu().numpy()
    return np.split(values, starts[1:-1].tolist())


@lru_cache(maxsize=4)
def _layers(n: int) -> list[NDArray[np.int64]]:
    """The codes of all subsets of n features, by size."""
    sizes = np.bitwise_count(np.arange(2**n, dtype=np.int64))
    return np.split(np.argsort(sizes, kind="stable"), np.cumsum([comb(n, k) for k in range(n)]))


def _shortest_path(cost: Array, n: int) -> tuple[float, NDArray[np.int64]]:
    """The smallest sum of costs [2^n] along a path from the empty to the full set (the empty set costs nothing), and
    the order in which its features join. Among equals the lowest feature joins last."""
    best = np.full(2**n, np.inf)
    best[0] = 0.0
    for sets in _layers(n)[1:]:
        before = np.full(len(sets), np.inf)
        for i in range(n):
            # A set without feature i names itself here, and is still infinite.
            np.minimum(before, best[sets & ~(1 << i)], out=before)
        best[sets] = before + cost[sets]
    order, code = [], 2**n - 1
    while code:
        members = [i for i in range(n) if code >> i & 1]
        last = min(members, key=lambda i: float(best[code ^ (1 << i)]))
        order.append(last)
        code ^= 1 << last
    return float(best[-1]), np.array(order[::-1], dtype=np.int64)
