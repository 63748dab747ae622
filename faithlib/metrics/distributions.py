"""How far two distributions over the vocabulary are apart (Zhao & Shan 2024, ReAGent).

Shape letters: V words.
"""

from __future__ import annotations

from torch import Tensor


def hellinger(p: Tensor, q: Tensor) -> Tensor:
    """H(p, q) = || sqrt(p) - sqrt(q) ||_2 / sqrt(2), [...] for distributions [..., V].

    In [0, 1]: 0 for equal distributions, 1 for two without a word in common.

    >>> import torch
    >>> round(hellinger(torch.tensor([0.25, 0.75]), torch.tensor([1.0, 0.0])).item(), 4)
    0.7071
    """
    return (p.sqrt() - q.sqrt()).square().sum(dim=-1).sqrt() / 2**0.5
