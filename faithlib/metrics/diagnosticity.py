"""How often a metric prefers a real attribution to a random one (Chan et al. 2022; Zhao & Aletras 2023, Eq. 6)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from faithlib.errors import InputError


@dataclass(frozen=True)
class Diagnosticity:
    """Share of strict `wins` of the method over random with its 95 % bootstrap interval [`low`, `high`], share of
    `ties`, `n` pairs used, and `dropped` pairs in which a value was undefined (NaN).

    .5 with few ties means that the metric cannot tell the method from random; below .5, counting half of the ties as
    wins, means that it prefers random more often than not.
    """

    wins: float
    ties: float
    low: float
    high: float
    n: int
    dropped: int


def diagnosticity(
    method: Tensor,
    random: Tensor,
    *,
    higher_is_better: bool,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Diagnosticity:
    """D = 1/N sum 1[metric(method) better than metric(random)], strictly (Eq. 6). In [0, 1], higher is better.

    `method` and `random` [N]: the metric's value for a real and a random attribution of the same input. Ties are no
    wins and are reported apart. Pairs with NaN on either side are dropped and counted. The interval resamples pairs
    (percentile bootstrap).

    Raises InputError where the two differ in shape or no pair is left.

    >>> d = diagnosticity(torch.tensor([0.9, 0.5, 0.1]), torch.tensor([0.2, 0.5, 0.4]), higher_is_better=True)
    >>> round(d.wins, 3), round(d.ties, 3), d.n
    (0.333, 0.333, 3)
    """
    if method.shape != random.shape or method.ndim != 1:
        raise InputError(
            f"method {tuple(method.shape)} and random {tuple(random.shape)}: expected two vectors [N] of one length"
        )
    usable = ~(method.isnan() | random.isnan())
    n = int(usable.sum())
    if n == 0:
        raise InputError(f"none of the {len(method)} pairs is defined on both sides: nothing to compare")
    better = (method > random) if higher_is_better else (method < random)
    wins = better[usable].double().cpu()
    ties = (method == random)[usable].double().mean()
    generator = torch.Generator().manual_seed(seed)
    # A resample of N pairs holds Binomial(N, wins / N) wins, so no index matrix is needed.
    counts = torch.binomial(
        torch.full((n_resamples,), float(n)), torch.full((n_resamples,), wins.mean().item()), generator
    )
    low, high = torch.quantile(counts.double() / n, torch.tensor([0.025, 0.975], dtype=torch.double)).tolist()
    return Diagnosticity(wins.mean().item(), float(ties), low, high, n, len(method) - n)
