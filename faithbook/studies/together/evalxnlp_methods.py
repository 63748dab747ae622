"""The one of EvalxNLP's methods that the library has no name for: PartitionSHAP, by the package shap.

It scores the features of a batch, float32 [B, F], 0 at places beyond an input's features; higher = matters more.

Shape letters: B inputs, F features, S erased copies, N features of one input.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithbook.studies.naopc.edin_methods import Answers, one_by_one
from faithlib.errors import InputError, require
from faithlib.perturb import Perturber

_TOGETHER = 10  # copies that shap asks about at a time, its own default


def partition_shap(perturber: Perturber, *, max_evals: int = 500) -> Tensor:
    """Owen values of p(target) over a balanced tree of the features in their order (Owen 1977), by shap's
    PartitionExplainer (Lundberg & Lee 2017): signed, in units of probability.

    The tree halves the features by position, again and again, the first half larger by one where their number is odd.
    With o an order of the features in which those of every branch follow one another,

        a_f = mean over all such o of p(those before f in o, and f) - p(those before f in o),

    where a Shapley value has all orders. The values of an input always add up to p(whole text) - p(empty text). Where
    it takes more than `max_evals` copies (24 words take 428), the branches that change most are split first, and what
    a branch changes that is left whole is shared out evenly among its features. 500 copies are shap's default, and so
    the toolkit's, whose tree groups wordpieces by punctuation instead.
    Cost: at most `max_evals` rows per input, up to the last ten that are asked together, and nine seconds of a
    process's first call, in which the package is imported and compiled.

    Raises InputError for fewer than 2 copies, MissingPackageError where shap is not installed.
    """
    if max_evals < 2:
        raise InputError(f"max_evals {max_evals}: expected at least 2, the input itself and nothing of it")
    shap = require("shap", extra="book")

    def explain(answers: Answers, key: int, n: int) -> Tensor:
        def in_arrays(copies: NDArray[np.float64]) -> NDArray[np.float64]:
            return answers(torch.from_numpy(copies)).double().numpy()

        masker = shap.maskers.Partition(np.zeros((1, n)), clustering=halves(n))
        asked = {"max_evals": max_evals, "batch_size": _TOGETHER, "silent": True}
        with _own_draws(key):
            explained = shap.PartitionExplainer(in_arrays, masker)(np.ones((1, n)), **asked)
        return torch.from_numpy(explained.values[0])

    return one_by_one(perturber, explain, "PartitionSHAP")


def halves(n: int) -> NDArray[np.float64]:
    """A balanced tree of n features in their order, [N - 1, 4] as scipy has clusterings: two branches (features are the
    numbers below n), how far these lie apart, and how many features they hold; the root last.

    >>> halves(3)
    array([[0., 1., 2., 2.],
           [3., 2., 3., 3.]])
    """
    rows: list[tuple[int, int, int, int]] = []

    def joined(first: int, end: int) -> int:
        size = end - first
        if size == 1:
            return first
        middle = first + (size + 1) // 2
        rows.append((joined(first, middle), joined(middle, end), size, size))
        return n + len(rows) - 1

    joined(0, n)
    return np.array(rows, dtype=float).reshape(-1, 4)


@contextmanager
def _own_draws(key: int) -> Iterator[None]:
    """shap breaks ties between branches by NumPy's shared random numbers: they depend on the input's content alone, and
    nobody else's draws move."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(key % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
