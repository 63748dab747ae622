"""Tokens that follow the inputs: the continuations whose probability a language model is asked for.

`TextInputs.follows` [B, C, T] holds the ids of C continuations of each input, -1 beyond their ends. A row of the model
is an input with all tokens of a continuation but the last after it, wherever the (perturbed) input ends: one forward
answers for every token (teacher forcing). Continuations of one token add nothing to a row, so that one forward answers
for all C of them; longer ones take a forward each.

Shape letters: B inputs, R rows of one forward, L tokens, C continuations, T tokens of the longest.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional


def stacked(continuations: Sequence[Sequence[Sequence[int]]]) -> Tensor:
    """`follows` [B, C, T] of the token ids of C continuations for each input.

    >>> stacked([[[5, 7], [6]]]).tolist()
    [[[5, 7], [6, -1]]]
    """
    longest = max(len(ids) for own in continuations for ids in own)
    return torch.tensor([[[*ids, *[-1] * (longest - len(ids))] for ids in own] for own in continuations])


def forwards(follows: Tensor) -> tuple[Tensor, ...]:
    """Continuations [R, C, T] by the forward that answers for them.

    >>> len(forwards(torch.ones(4, 3, 1))), len(forwards(torch.ones(4, 3, 2)))
    (1, 3)
    """
    return (follows,) if follows.shape[2] == 1 else follows.split(1, dim=1)


def appended(mask: Tensor, follows: Tensor) -> tuple[Tensor, Tensor]:
    """For rows whose tokens are at the True places of `mask` [R, L], each a run of them from the left: the mask
    [R, L + T - 1] with the tokens of one continuation `follows` [R, 1, T] after each, and their ids there, -1
    elsewhere. The last token of a continuation is asked for and never read.

    >>> mask, ids = appended(torch.tensor([[True, True], [True, False]]), torch.tensor([[[7, 8, 9]], [[7, 8, -1]]]))
    >>> mask.int().tolist(), ids.tolist()
    ([[1, 1, 1, 1], [1, 1, 0, 0]], [[-1, -1, 7, 8], [-1, 7, -1, -1]])
    """
    read = torch.where(follows[:, 0, 1:] >= 0, follows[:, 0, :-1], -1)
    longer = functional.pad(mask.bool(), (0, read.shape[1]))
    places = mask.sum(dim=1, keepdim=True) + torch.arange(read.shape[1], device=mask.device)
    ids = torch.full(longer.shape, -1, device=mask.device).scatter(1, places, read)
    return longer | (ids >= 0), ids


def asked_at(ends: Tensor, follows: Tensor) -> Tensor:
    """The positions [R, T] whose predictions say how probable each token of `follows` [R, C, T] is, in rows that end
    before `ends` [R] with what is read of it; beyond a continuation's own end, its last.

    >>> asked_at(torch.tensor([4, 2]), torch.tensor([[[7, 8, 9]], [[7, 8, -1]]])).tolist()
    [[1, 2, 3], [0, 1, 1]]
    """
    count = (follows[:, :1] >= 0).sum(dim=2)
    steps = torch.arange(follows.shape[2], device=ends.device)
    return torch.minimum(ends[:, None] - count + steps, ends[:, None] - 1)
