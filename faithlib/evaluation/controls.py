"""Scores that look like an attribution and say nothing: what a metric gives them is not owed to the explanation."""

from __future__ import annotations

import torch
from torch import Tensor

from faithlib.attribution.floors import generator
from faithlib.errors import InputError
from faithlib.inputs import Inputs


def shuffled(scores: Tensor, inputs: Inputs, *, share: float = 1.0, seed: int = 0) -> Tensor:
    """Scores [B, F] of which this share, at least two an input, has changed places among the features.

    A control that keeps what a method's scores look like (their values, and so their density) and forgets where they
    belong. Drawn from (seed, content of the input); a larger share moves more features, never others.

    Raises InputError for a share that is not above 0 and at most 1.

    >>> from faithlib.inputs import WordInputs

    >>> found = shuffled(torch.tensor([[1.0, 2.0, 3.0]]), WordInputs.from_texts(["a good film"]))
    >>> found.sort().values  # the same scores, elsewhere
    tensor([[1., 2., 3.]])
    """
    if not 0 < share <= 1:
        raise InputError(f"share {share}: expected above 0, at most 1")
    found = scores.clone()
    for b, (key, n) in enumerate(zip(inputs.keys(), inputs.feature_mask.sum(dim=1).tolist(), strict=True)):
        order = generator(seed, key)
        moving = torch.randperm(n, generator=order)[: max(2, round(share * n))]
        found[b, moving] = scores[b, moving[torch.randperm(len(moving), generator=order)]]
    return found
