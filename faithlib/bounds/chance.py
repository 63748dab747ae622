"""What a random order of removals gets: the mean of AOPC over all orders, estimated where there are too many sets.

Where every set of features has been answered, `Bounds.random` has the mean exactly. Shape letters: B inputs,
F features, M pairs of orders.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from faithlib import counter_rng
from faithlib.copies import ask, results
from faithlib.errors import InputError, check_counts
from faithlib.masks import removal_path
from faithlib.metrics import aopc
from faithlib.metrics._sums import sum_in_order
from faithlib.perturb import Perturber, SetFunction

__all__ = ["RandomOrders", "random_order_aopc", "random_order_copies"]


@dataclass(frozen=True)
class RandomOrders:
    """AOPC of random orders of removal, from `random_order_aopc`.

    Parameters
    ----------
    mean : Tensor
        The estimate of the mean of AOPC over all orders, [B]; float64, in the units of the answers.
    standard_error : Tensor
        Of that estimate, [B].
    smallest, largest : Tensor
        AOPC of the worst and of the best order that was drawn, [B].

    Examples
    --------
    >>> line = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> random_order_aopc(line).mean.item()  # (2.5 + 3.5) / 2
    3.0
    """

    mean: Tensor
    standard_error: Tensor
    smallest: Tensor
    largest: Tensor


def random_order_aopc(score: Perturber | SetFunction, *, pairs: int = 32, seed: int = 0) -> RandomOrders:
    r"""Estimate the mean of AOPC over all orders of removal from random orders.

    Each order that is drawn is followed by its reverse. For a model that adds up its features the two average to the
    mean over all orders exactly, so the pairs leave only the variance that interactions between features cause.

    Parameters
    ----------
    score : Perturber | SetFunction
        What answers: a `Perturber` of B inputs, or a `SetFunction`.
    pairs : int, default 32
        How many orders are drawn, each with its reverse; at least 2. An input of N features takes at most
        2 pairs (N - 1) + 1 rows, fewer where sets repeat or were answered before.
    seed : int, default 0
        Orders depend on this number and on the content of the input, not on what else is in the batch.

    Returns
    -------
    RandomOrders
        Means with their standard errors (from the spread of the pairs), [B] each.

    Raises
    ------
    InputError
        For fewer than two pairs, from which no standard error can be computed.

    Examples
    --------
    >>> product = SetFunction(lambda keep: keep.all(dim=1).double(), 3)  # the first removal costs all
    >>> random_order_aopc(product).mean.item(), random_order_aopc(product).standard_error.item()
    (1.0, 0.0)
    """
    mask = score.feature_mask
    answers = results(ask(score, random_order_copies(mask, score.keys, pairs=pairs, seed=seed)))
    full, sizes = score.full.double(), mask.sum(dim=1)
    values = torch.stack([aopc(full, path.double(), sizes) for path in answers], dim=1)
    of_pair = values.unflatten(1, (pairs, 2)).mean(dim=2)
    # In order: how many inputs there are decides how `mean` and `std` add up.
    mean = sum_in_order(of_pair, dim=1) / pairs
    variance = sum_in_order((of_pair - mean[:, None]).square(), dim=1) / (pairs - 1)
    return RandomOrders(
        mean=mean,
        standard_error=(variance / pairs).sqrt(),
        smallest=values.amin(dim=1),
        largest=values.amax(dim=1),
    )


def random_order_copies(mask: Tensor, keys: Sequence[int], *, pairs: int, seed: int) -> Iterator[Tensor]:
    """Masks of features that go in random orders, each followed by its reverse: what is asked about.

    Parameters
    ----------
    mask : Tensor
        The features of the inputs, bool [B, F].
    keys : Sequence[int]
        A number for the content of each input, [B].
    pairs : int
        How many orders are drawn, each with its reverse; at least 2.
    seed : int
        Orders depend on this number and on the keys.

    Returns
    -------
    iterator of Tensor
        2 pairs masks of what is kept, bool [B, F, F].

    Raises
    ------
    InputError
        For fewer than two pairs, from which no standard error can be computed.

    Examples
    --------
    >>> len(list(random_order_copies(torch.tensor([[True, True]]), [7], pairs=2, seed=0)))
    4
    """
    check_counts(pairs=pairs)
    if pairs < 2:
        raise InputError(f"pairs {pairs}: expected at least 2, whose spread gives the standard error")
    content = np.array(keys, dtype=np.uint64)
    no_step = np.zeros(len(content), dtype=np.int64)
    for pair in range(pairs):
        draws = np.full(len(content), pair, dtype=np.int64)
        row_keys = torch.from_numpy(counter_rng.row_keys(seed, content, no_step, draws))
        # One number for each feature; sorting them gives each order the same probability.
        numbers = counter_rng.uniform(row_keys, 1, mask.shape[1])[:, 0].to(mask.device)
        yield removal_path(numbers, mask)
        yield removal_path(-numbers, mask)
