"""The two ends of what AOPC can be for a model and an input, and where a value lies between them.

Shape letters: B inputs, F features, M values of one input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

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
