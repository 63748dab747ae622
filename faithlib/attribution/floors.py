"""Attributions that know nothing of the model: the floors that every other method has to beat.

Each function answers from the inputs alone: for texts [B, L], one number a position, for others [B, F], one a feature.

Shape letters: B inputs, L tokens, F features.
"""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

from faithlib.errors import check_known
from faithlib.inputs import Inputs, TextInputs

DISTRIBUTIONS = ("gaussian", "uniform")


def random(inputs: TextInputs, *, seed: int = 0, distribution: str = "gaussian") -> Tensor:
    """Independent N(0, 1) draws, as in the released code of Zhao & Aletras 2023, or U(0, 1) with "uniform".

    Drawn from (seed, content of the input): the same text gets the same scores in every batch.

    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> torch.equal(random(texts), random(texts)), random(texts).shape
    (True, torch.Size([1, 4]))
    """
    check_known("distribution", distribution, DISTRIBUTIONS)
    scores = torch.zeros(inputs.input_ids.shape)
    draw = torch.randn if distribution == "gaussian" else torch.rand
    for b, (key, length) in enumerate(zip(inputs.keys(), inputs.lengths.tolist(), strict=True)):
        scores[b, :length] = draw(length, generator=generator(seed, key))
    return scores


def uniform(inputs: TextInputs) -> Tensor:
    """1 at every position: each wordpiece matters alike. Pooled by sum, a word gets the number of its pieces.

    With pool="sum" this is the length confound of Zaman & Belinkov 2022 (PAPERS.md, E5) by itself.

    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> uniform(texts)
    tensor([[1., 1., 1., 1.]])
    """
    return torch.ones(inputs.input_ids.shape)


def random_features(inputs: Inputs, *, seed: int = 0, distribution: str = "uniform") -> Tensor:
    """Independent U(0, 1) draws, the Random Attribution of Wu et al. 2024 (section 5.2), or N(0, 1) with "gaussian".

    One draw a feature: of an image (features of one pixel make the paper's map of pixels), of a function's text. Drawn
    from (seed, content of the input and its features): the same input gets the same scores in every batch.

    >>> from faithlib.inputs import WordInputs
    >>> words = WordInputs.from_texts(["good film", "fine", "good film"])
    >>> scores = random_features(words)
    >>> scores.shape, torch.equal(scores[0], scores[2])
    (torch.Size([3, 2]), True)
    """
    check_known("distribution", distribution, DISTRIBUTIONS)
    draw = torch.randn if distribution == "gaussian" else torch.rand
    n, keys = inputs.feature_mask.shape[1], inputs.keys()
    return torch.stack([draw(n, generator=generator(seed, key)) for key in keys])


def uniform_features(inputs: Inputs) -> Tensor:
    """1 for every feature, whatever its size: each matters alike. SaCo has no answer to equal saliences.

    >>> from faithlib.inputs import WordInputs
    >>> uniform_features(WordInputs.from_texts(["good film"]))
    tensor([[1., 1.]])
    """
    return torch.ones(inputs.feature_mask.shape)


def generator(seed: int, key: int) -> torch.Generator:
    """A random generator for one input: by the caller's seed and the input's content, by nothing else.

    >>> torch.equal(torch.rand(3, generator=generator(0, 7)), torch.rand(3, generator=generator(0, 7)))
    True
    """
    digest = hashlib.blake2b(f"{seed} {key}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)
