"""Sums that padding does not change.

Shape letters: B inputs, F features.
"""

from torch import Tensor


def sum_in_order(values: Tensor, dim: int) -> Tensor:
    """Add up from the first to the last.

    `Tensor.sum` adds in an order that depends on the width: zeros beyond an input's features then change the last digit
    of its sum, and with it whether an input has the same value beside other inputs.

    >>> import torch
    >>> values = torch.rand(50, 19, generator=torch.Generator().manual_seed(0))
    >>> padded = torch.nn.functional.pad(values, (0, 30))
    >>> torch.equal(sum_in_order(values, dim=1), sum_in_order(padded, dim=1))
    True
    """
    return values.cumsum(dim=dim).select(dim, -1)
