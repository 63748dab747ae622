"""Highlights as Zaman & Belinkov (2022, Section 4.3) make them for other languages: from scores, by a threshold that
agrees best with people, and along word links.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import torch
from torch import Tensor

from faithlib.errors import InputError
from faithlib.metrics.crosslingual import Links, link_matrix
from faithlib.metrics.plausibility import checked_gold


def best_f1_threshold(scores: Tensor, gold: Tensor, feature_mask: Tensor | None = None) -> tuple[float, float]:
    """The threshold t for which "score >= t" agrees best with what was marked, and its F1 (Section 4.3).

    F1 over all features of all inputs together, so scores have to be comparable across inputs: the paper divides each
    input's word scores by their L2 norm, and so must the caller. Only scores that occur are tried; of several best ones
    the lowest is taken, which marks the most. For the paper's data and model: .167. Errors as `average_precision`, and
    where nothing is marked at all.

    >>> scores, gold = torch.tensor([[0.9, 0.1], [0.3, 0.2]]), torch.tensor([[True, False], [True, False]])
    >>> t, f1 = best_f1_threshold(scores, gold)
    >>> round(t, 4), f1
    (0.3, 1.0)
    """
    present, gold = checked_gold(scores, gold, feature_mask)
    if not gold.any():
        raise InputError("gold marks nothing in any input: every threshold has an F1 of 0")
    values, order = scores[present].sort(descending=True, stable=True)
    hits = gold[present][order].cumsum(dim=0)
    taken = torch.arange(1, len(values) + 1, device=values.device)
    f1 = 2 * hits.double() / (taken + hits[-1])
    # A threshold takes all of its equals, so only the last of them stands for it.
    last = values != torch.cat([values[1:], values.new_full((1,), -torch.inf)])
    f1 = torch.where(last, f1, -1.0)
    best = int((f1 == f1.max()).nonzero()[-1])
    return values[best].item(), f1[best].item()


def project_rationale(mask: Tensor, links: Links, n_target: int) -> Tensor:
    """A rationale carried over to a translation: bool [..., n_source] -> [..., n_target] (Section 4.3).

    A word of the translation is marked where a marked English word is linked with it. Raises InputError for a mask that
    is not bool and a link outside the texts.

    >>> project_rationale(torch.tensor([True, False]), [(0, 1), (0, 2), (1, 0)], 3).tolist()
    [False, True, True]
    """
    if mask.dtype != torch.bool:
        raise InputError(f"mask of {mask.dtype}: expected bool; compare scores with a threshold first")
    linked = link_matrix(links, mask.shape[-1], n_target).to(mask.device)
    return (mask[..., :, None] & linked).any(dim=-2)
