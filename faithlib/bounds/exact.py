"""The exact ends that AOPC lies between: of all orders, by all sets of removed features.

Shape letters: B inputs, F features (N of an input).
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from tqdm.auto import tqdm

from faithlib.bounds.lattice import Bounds, Lattice, Layer
from faithlib.errors import InputError
from faithlib.perturb import Perturber, SetFunction

__all__ = ["all_sets", "exact_bounds"]

_ROWS_A_CALL = 1 << 16
_FAR = 62  # shifting a set's code by this gives 0: where an input has no feature
_MOST_EXACT = 22


def exact_bounds(score: Perturber | SetFunction, *, max_features: int = 16) -> Bounds:
    """Both bounds of AOPC over all orders, by dynamic programming over the 2^N sets of removed features.

    One table of answers serves both ends; nothing is floored at 0.

    Parameters
    ----------
    score : Perturber | SetFunction
        What answers: a `Perturber` of B inputs, or a `SetFunction`. Inputs may have different numbers of features.
    max_features : int, default 16
        The most features that an input may have; above 22 it counts as 22.

    Returns
    -------
    Bounds
        One an input, [B], exact; in the units of the answers.

    Raises
    ------
    InputError
        Where an input has no feature, or more than `max_features` (at most 22): `beam_bounds` takes those.

    Notes
    -----
    Bookkeeping is N 2^N additions; each further feature doubles the rows.

    Examples
    --------
    >>> both = SetFunction(lambda keep: keep.all(dim=1).double(), 2)
    >>> bounds = exact_bounds(both)
    >>> bounds.lower.item(), bounds.upper.item()
    (1.0, 1.0)
    """
    lattice = Lattice(score)
    sizes, limit = lattice.sizes, min(max_features, _MOST_EXACT)
    if sizes.max() > limit:
        b, most = int(sizes.argmax()), int(sizes.max())
        raise InputError(
            f"input {b} has {most} features, which is {2**most:,} rows; exact_bounds takes up to {limit} "
            f"(max_features, at most {_MOST_EXACT}): use beam_bounds"
        )
    lattice.layers[1:] = _all_subsets(lattice)
    lattice.link()
    total = lattice.totals()
    return lattice.bounds(total, lattice.orders(), total, np.zeros_like(sizes))


def all_sets(present: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Every set of features that can be kept, of every input, in parts.

    Parameters
    ----------
    present : Tensor
        The features of the inputs, bool [B, F].

    Returns
    -------
    iterator of tuple of Tensor
        The input of each set, integers [R], and the sets, bool [R, F]. Bit i of a set's number says whether the input's
        i-th feature is removed, so that the first of an input is the whole.

    Examples
    --------
    >>> [(owner.tolist(), kept.int().tolist()) for owner, kept in all_sets(torch.tensor([[True], [True]]))]
    [([0, 0, 1, 1], [[1], [0], [1], [0]])]
    """
    sizes = present.sum(dim=1)
    starts = torch.cat([sizes.new_zeros(1), (2**sizes).cumsum(0)])
    shift = torch.where(present, present.cumsum(dim=1) - 1, _FAR)
    total = int(starts[-1])
    for begin in range(0, total, _ROWS_A_CALL):
        number = torch.arange(begin, min(begin + _ROWS_A_CALL, total), device=present.device)
        owner = torch.searchsorted(starts, number, right=True) - 1
        yield owner, (number - starts[owner])[:, None] >> shift[owner] & 1 == 0


def _all_subsets(lattice: Lattice) -> list[Layer]:
    """All sets of removed features of every input, by size, without the empty ones."""
    parts = []
    total = int((2 ** lattice.present.sum(dim=1)).sum())
    with tqdm(total=total, unit="row", delay=3, leave=False) as bar:
        for owner, kept in all_sets(lattice.present):
            values = lattice.score.keep_rows(owner, kept).double()
            removed, of = ~kept.cpu().numpy(), owner.cpu().numpy()
            bits = np.packbits(removed, axis=1)
            parts.append((of, lattice.keys(of, removed), bits, values.cpu().numpy(), removed.sum(axis=1)))
            bar.update(len(owner))
    *columns, size = (np.concatenate(column) for column in zip(*parts, strict=True))
    return [Layer(*(column[size == k] for column in columns)) for k in range(1, int(size.max()) + 1)]
