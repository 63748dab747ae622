"""Soft normalised sufficiency and comprehensiveness (Zhao & Aletras 2023, Eq. 4-5).

The formulas are those of the hard metrics; what is new is the perturbed input X', whose embedding elements were dropped
with a probability that follows the attribution (Eq. 3; `faithlib.masks.soft_keep` and `Perturber.soft`).
"""

from __future__ import annotations

from torch import Tensor

from faithlib.metrics.hard import comprehensiveness_nc, sufficiency_ns


def soft_ns(p_full: Tensor, p_soft: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """Soft-NS: Eq. 1 at p(y|X') where X' retains elements in proportion to importance (q = a). Higher is better (Eq.
    4).

    Shapes broadcast; average over draws *after* this function, since max(0, .) is not linear. NaN where p_empty >=
    p_full.
    """
    return sufficiency_ns(p_full, p_soft, p_empty, clip=clip)


def soft_nc(p_full: Tensor, p_soft: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """Soft-NC: Eq. 2 at p(y|X') where X' loses elements in proportion to importance (q = 1 - a). Higher is better (Eq.
    5).

    Shapes broadcast; average over draws *after* this function, since max(0, .) is not linear. NaN where p_empty >=
    p_full.
    """
    return comprehensiveness_nc(p_full, p_soft, p_empty, clip=clip)
