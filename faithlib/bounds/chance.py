"""What a random order of removals gets: the mean of AOPC over all orders, estimated where there are too many sets.

Where every set of features has been answered, `Bounds.random` has the mean exactly. Shape letters: B inputs,
F features, M pairs of orders.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from faithlib import counter_rng
from faithlib.errors import InputError, check_counts
from faithlib.masks import removal_path
from faithlib.metrics import aopc
from faithlib.perturb import Perturber, SetFunction


@dataclass(frozen=True)
class RandomOrders:
    """AOPC of random orders of removal, from `random_order_aopc`.

    - `mean` [B]: the estimate of the mean of AOPC over all orders; float64, in the units of the answers.
    - `standard_error` [B]: of that estimate.
    - `smallest`, `largest` [B]: AOPC of the worst and of the best order that was drawn.

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
    score
        What answers: a `Perturber` of B inputs, or a `SetFunction`.
    pairs
        How many orders are drawn, each with its reverse; at least 2. An input of N features takes at most
        2 pairs (N - 1) + 1 rows, fewer where sets repeat or were answered before.
    seed
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
    check_counts(pairs=pairs)
    if pairs < 2:
        raise InputError(f"pairs {pairs}: expected at least 2, whose spread gives the standard error")
    mask = score.feature_mask
    sizes = mask.sum(dim=1)
    content = score.inputs.keys() if isinstance(score, Perturber) else range(len(mask))
    keys = np.array(content, dtype=np.uint64)
    no_step = np.zeros(len(keys), dtype=np.int64)
    values = torch.empty(len(keys), pairs, 2, dtype=torch.float64, device=mask.device)
    for pair in range(pairs):
        draws = np.full(len(keys), pair, dtype=np.int64)
        row_keys = torch.from_numpy(counter_rng.row_keys(seed, keys, no_step, draws))
        # One number for each feature; sorting them gives each order the same probability.
        numbers = counter_rng.uniform(row_keys, 1, mask.shape[1])[:, 0].to(mask.device)
        for place, order in enumerate((numbers, -numbers)):
            path = score.keep(removal_path(order, mask))
            values[:, pair, place] = aopc(score.full.double(), path.double(), sizes)
    of_pair = values.mean(dim=2)
    return RandomOrders(
        mean=of_pair.mean(dim=1),
        standard_error=of_pair.std(dim=1) / pairs**0.5,
        smallest=values.amin(dim=(1, 2)),
        largest=values.amax(dim=(1, 2)),
    )
