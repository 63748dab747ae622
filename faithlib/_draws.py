"""Random numbers of one input: by the caller's seed and the input's content, by nothing else.

Shape letters: B inputs, M draws, F features.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor


def generator(seed: int, key: int) -> torch.Generator:
    """A random generator for one input: by the caller's seed and the input's content, by nothing else.

    >>> torch.equal(torch.rand(3, generator=generator(0, 7)), torch.rand(3, generator=generator(0, 7)))
    True
    """
    digest = hashlib.blake2b(f"{seed} {key}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)


def drawn(keys: Sequence[int], sizes: Sequence[int], count: int, seed: int) -> Tensor:
    """U(0, 1) numbers [B, M, F] for inputs with these keys and numbers of features, of each its own; 1 beyond them.

    >>> drawn([7, 8], [2, 1], 3, seed=0)[1, :, 1].tolist()
    [1.0, 1.0, 1.0]
    """
    numbers = torch.ones(len(sizes), count, max(sizes), dtype=torch.float32)
    for b, (key, size) in enumerate(zip(keys, sizes, strict=True)):
        numbers[b, :, :size] = torch.rand(count, size, generator=generator(seed, key), dtype=torch.float32)
    return numbers
