"""Attributions that know nothing of the model: the floors that every other method has to beat.

Each function answers from the inputs alone: for texts [B, L], one number a position, for others [B, F], one a feature.

Shape letters: B inputs, L tokens, F features.
"""

import hashlib

import torch
from torch import Tensor

from faithlib.errors import check_known
from faithlib.inputs import Inputs, TextInputs

DISTRIBUTIONS = ("gaussian", "uniform")


def random(inputs: Inputs, *, seed: int = 0, distribution: str | None = None) -> Tensor:
    """Independent draws: N(0, 1) ("gaussian"), by default for texts, as in the released code of Zhao & Aletras 2023; or
    U(0, 1) ("uniform"), for all others the default, the Random Attribution of Wu et al. 2024 (section 5.2).

    One draw per position of a text, per feature of an image (features of one pixel make the paper's map of pixels) or
    of a function's text. Drawn from (seed, content of the input): the same input gets the same scores in every batch.

    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> torch.equal(random(texts), random(texts)), random(texts).shape
    (True, torch.Size([1, 4]))
    """
    own = DISTRIBUTIONS[not isinstance(inputs, TextInputs)] if distribution is None else distribution
    check_known("distribution", own, DISTRIBUTIONS)
    draw = torch.randn if own == "gaussian" else torch.rand
    scores = torch.zeros_like(uniform(inputs))
    sizes = inputs.lengths.tolist() if isinstance(inputs, TextInputs) else [scores.shape[1]] * len(scores)
    for row, key, size in zip(scores, inputs.keys(), sizes, strict=True):
        row[:size] = draw(size, generator=generator(seed, key))
    return scores


def uniform(inputs: Inputs) -> Tensor:
    """1 for every position of a text, or every feature, whatever its size: each matters alike.

    A word of a text gets the number of its pieces: with pool="sum" this is the length confound of Zaman & Belinkov 2022
    (PAPERS.md, E5) by itself. SaCo has no answer to equal saliences.

    >>> from faithlib.inputs import WordInputs
    >>> uniform(WordInputs.from_texts(["good film"]))
    tensor([[1., 1.]])
    """
    return torch.ones(inputs.input_ids.shape if isinstance(inputs, TextInputs) else inputs.feature_mask.shape)


def generator(seed: int, key: int) -> torch.Generator:
    """A random generator for one input: by the caller's seed and the input's content, by nothing else.

    >>> torch.equal(torch.rand(3, generator=generator(0, 7)), torch.rand(3, generator=generator(0, 7)))
    True
    """
    digest = hashlib.blake2b(f"{seed} {key}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)
