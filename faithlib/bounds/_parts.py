"""What both searches share."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithlib.errors import InputError
from faithlib.perturb import Perturber, SetFunction

Array = NDArray[np.float64]


def present_features(score: Perturber | SetFunction) -> Tensor:
    """Which features each input has, [B, F]; an input without any is an error."""
    present = score.feature_mask
    if not bool(present.any(dim=1).all()):
        raise InputError(f"input {int((~present.any(dim=1)).nonzero()[0])} has no features: nothing can be removed")
    return present


def as_tensor(values: Array | list[float], like: Tensor) -> Tensor:
    return torch.as_tensor(np.asarray(values, dtype=np.float64), device=like.device)


def as_orders(orders: list[NDArray[np.int64]], present: Tensor) -> Tensor:
    made = torch.full(present.shape, -1, dtype=torch.int64, device=present.device)
    for b, order in enumerate(orders):
        made[b, : len(order)] = torch.from_numpy(np.ascontiguousarray(order)).to(made.device)
    return made
