"""A search that neither Edin et al. nor the library makes, for the published numbers about it: a beam that holds each
set once and counts only the paths that it ends with."""

from __future__ import annotations

import torch
from torch import Tensor

from faithbook.papers.edin import AnswerTable


def deduplicated(table: AnswerTable, width: int) -> tuple[Tensor, Tensor]:
    """Lower and upper bound of AOPC of every text, float64 [B]: of the sets of each size the `width` cheapest are kept.

    The library's merged search asks for the same sets; it goes on to the best path through all of them.

    >>> lower, upper = deduplicated(AnswerTable([7], [torch.tensor([0.75, 0.5, 0.25, 0.0]).double()]), 1)
    >>> lower.item(), upper.item()  # drops of .25 and .75, of .5 and .75
    (0.5, 0.625)
    """
    sizes = table.feature_mask.sum(dim=1)
    lower, upper = torch.empty(2, len(table), dtype=torch.float64)
    for n in sizes.unique().tolist():
        of_size = (sizes == n).nonzero()[:, 0]
        removed = torch.arange(2**n)
        keep = (removed[:, None] >> torch.arange(table.n_features)) & 1 == 0
        asked = table.keep_rows(of_size.repeat_interleave(2**n), keep.repeat(len(of_size), 1)).double()
        answers = asked.unflatten(0, (len(of_size), 2**n))
        lower[of_size] = answers[:, 0] + _cheapest(-answers, n, width) / n
        upper[of_size] = answers[:, 0] - _cheapest(answers, n, width) / n
    return lower, upper


def _cheapest(cost: Tensor, n: int, width: int) -> Tensor:
    """The smallest sum of costs [B, 2^n] along a path from the empty to the full set through the sets kept, [B]."""
    word = 1 << torch.arange(n)
    members = (torch.arange(2**n)[:, None] & word).ne(0).sum(dim=1)
    total = torch.full_like(cost, torch.inf)
    total[:, 0] = 0.0
    for size in range(1, n + 1):
        sets = (members == size).nonzero()[:, 0]
        # A set without a word names itself here, and is still infinite.
        reached = total[:, sets[:, None] & ~word].amin(dim=2) + cost[:, sets]
        place = reached.argsort(dim=1, stable=True).argsort(dim=1)
        total[:, sets] = reached.where(place < width, torch.inf)
    return total[:, -1]
