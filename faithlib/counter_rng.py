"""Random numbers that depend on what is perturbed and on nothing else.

Each element of a perturbed embedding gets its number from a counter-based hash of (seed, input, step, draw, position,
dimension): no generator state, so chunk size, order, padding and device cannot change a result. The hash is two rounds
of a 32-bit multiply-xorshift mixer with a 64-bit key a row; numbers have 23 bits.

Shape letters: R rows, L tokens, D embedding size.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["below", "normal", "row_keys", "uniform"]

_GOLDEN = 0x9E3779B97F4A7C15
_STRIDE = 0x9E3779B1 - (1 << 32)
_MIX_1, _MIX_2 = 0x7FEB352D, 0x846CA68B - (1 << 32)


def row_keys(
    seed: int, inputs: NDArray[np.uint64], steps: NDArray[np.int64], draws: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Two 32-bit key words a row, [R, 2], from seed, input content, step and draw [R].

    >>> row_keys(0, np.array([7, 7], dtype=np.uint64), np.array([0, 0]), np.array([0, 1])).shape
    (2, 2)
    """
    key = _splitmix(np.full(len(inputs), seed % (1 << 64), dtype=np.uint64))
    for part in (inputs, steps, draws):
        key = _splitmix(key ^ part.astype(np.uint64))
    return key.view(np.int32).reshape(-1, 2)


def uniform(keys: Tensor, length: int, size: int) -> Tensor:
    """Numbers in (0, 1), float32 [R, L, D], for key words [R, 2] (int32), the same on every device.

    >>> keys = torch.tensor([[1, 2]], dtype=torch.int32)
    >>> torch.equal(uniform(keys, 2, 3), uniform(keys, 9, 3)[:, :2])  # a longer row changes nothing
    True
    """
    # 23 bits and a half: exact in float32, never 0 and never 1.
    return (_bits(keys, length, size).to(torch.float32) + 0.5).mul_(2.0**-23)


def below(keys: Tensor, prob: Tensor, size: int) -> Tensor:
    """Where `uniform` is below `prob` [R, L], bool [R, L, D]; compared as whole numbers, in half the passes.

    >>> keys, prob = torch.tensor([[1, 2]], dtype=torch.int32), torch.tensor([[0.0, 0.5, 1.0]])
    >>> torch.equal(below(keys, prob, 99), uniform(keys, 3, 99) < prob[..., None])
    True
    """
    # (bits + 1/2) / 2^23 < p; multiplied by a power of two, and less a half, p stays exact.
    bound = (prob.float() * 2.0**23 - 0.5).ceil_().to(torch.int32)
    return _bits(keys, prob.shape[1], size) < bound[..., None]


def _bits(keys: Tensor, length: int, size: int) -> Tensor:
    """Whole numbers of 23 bits, int32 [R, L, D]."""
    x = torch.arange(length * size, dtype=torch.int32, device=keys.device).mul_(_STRIDE)[None, :] ^ keys[:, :1]
    shifted = torch.empty_like(x)
    x ^= _shifted(x, 16, shifted)
    x *= _MIX_1
    x += keys[:, 1:]
    x ^= _shifted(x, 15, shifted)
    x *= _MIX_2
    x ^= _shifted(x, 16, shifted)
    return _shifted(x, 9, shifted).view(len(keys), length, size)


def normal(keys: Tensor, length: int, size: int) -> Tensor:
    """Standard normal numbers [R, L, D] by the inverse distribution function of `uniform`.

    >>> normal(torch.tensor([[1, 2]], dtype=torch.int32), 1000, 10).std().round(decimals=1)
    tensor(1.)
    """
    return torch.erfinv(uniform(keys, length, size).mul_(2).sub_(1)).mul_(math.sqrt(2))


def _shifted(x: Tensor, bits: int, out: Tensor) -> Tensor:
    # int32 shifts copy the sign bit; the mask makes the shift logical.
    return torch.bitwise_right_shift(x, bits, out=out).bitwise_and_((1 << (32 - bits)) - 1)


def _splitmix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        x = x + np.uint64(_GOLDEN)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
