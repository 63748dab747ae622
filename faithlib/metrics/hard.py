"""Normalised sufficiency and comprehensiveness with hard erasure (Carton et al. 2020; Zhao & Aletras 2023, Eq. 1-2).

Both divide by 1 - S(X, y, 0) = max(0, p_full - p_empty): how much probability the model loses when everything is
erased. Where that is 0 the metric is undefined and the answer is NaN; callers count these inputs instead of dropping
them silently.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sufficiency_ns(p_full: Tensor, p_kept: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """NS = (S - S0) / (1 - S0) with S = 1 - max(0, p_full - p_kept) and S0 = 1 - max(0, p_full - p_empty) (Eq. 1).

    p(y|X), p(y|rationale alone), p(y|everything erased): any shapes that broadcast. Higher is better; 1 when the
    rationale alone does as well as the text, 0 when it does no better than nothing, below 0 when worse. `clip` limits
    the value to [0, 1], as the released code does. NaN where p_empty >= p_full.

    >>> round(sufficiency_ns(torch.tensor(0.9), torch.tensor(0.8), torch.tensor(0.5)).item(), 4)
    0.75
    """
    room = _room(p_full, p_empty)
    value = (room - (p_full - p_kept).clamp(min=0)) / room
    return value.clamp(0, 1) if clip else value


def comprehensiveness_nc(p_full: Tensor, p_removed: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """NC = C / (1 - S0) with C = max(0, p_full - p_removed) (Eq. 2).

    p(y|X), p(y|text without the rationale), p(y|everything erased): any shapes that broadcast. Higher is better; 0 when
    removing the rationale changes nothing (or helps), 1 when it costs as much as erasing everything, above 1 when it
    costs more. `clip` limits the value to [0, 1], as the released code does. NaN where p_empty >= p_full.

    >>> round(comprehensiveness_nc(torch.tensor(0.9), torch.tensor(0.8), torch.tensor(0.5)).item(), 4)
    0.25
    """
    value = (p_full - p_removed).clamp(min=0) / _room(p_full, p_empty)
    return value.clamp(0, 1) if clip else value


def _room(p_full: Tensor, p_empty: Tensor) -> Tensor:
    room = p_full - p_empty
    return torch.where(room > 0, room, torch.nan)
