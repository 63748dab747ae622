"""The answers of Edin et al.'s six models to every set of words of short texts, for the library's own searches and
scores; what else they released is in `faithbook.studies.naopc.edin_released`.

Bit i of a set's number stands for word i of the text. In a few inputs the attribution's numbering does not match that
of the answers: `scores_of` leaves them out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithbook.studies.naopc.edin_released import attributions, rows_of
from faithlib.errors import DataError
from faithlib.perturb import SetFunction


class AnswerTable(SetFunction):
    """What a model answers to every set of words of several texts, as one batch for searches and scores.

    `ids`: the texts'; `values`: of each text 2^N answers by the number of the set *removed*. No set asked twice is
    looked up twice by a search, so there is nothing to remember and nothing to count.

    >>> two = AnswerTable([7, 9], [torch.tensor([0.75, 0.5]), torch.tensor([0.875, 0.5, 0.25, 0.0])])
    >>> two.full.tolist(), two.feature_mask.tolist()
    ([0.75, 0.875], [[True, False], [True, True]])
    """

    def __init__(self, ids: Sequence[int], values: Sequence[Tensor]) -> None:
        sizes = torch.tensor([len(each).bit_length() - 1 for each in values])
        super().__init__(self.keep, int(sizes.max()))  # which is never asked for: this class looks answers up
        self.ids = list(ids)
        self._values = torch.cat(list(values))
        self._starts = torch.cat([sizes.new_zeros(1), (2**sizes).cumsum(0)])[:-1]
        self.feature_mask = torch.arange(self.n_features) < sizes[:, None]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def full(self) -> Tensor:
        """The answers to the whole texts, [B]."""
        return self._values[self._starts]

    @property
    def empty(self) -> Tensor:
        """The answers without any word, [B]."""
        return self.keep(torch.zeros(len(self), 1, self.n_features, dtype=torch.bool))[:, 0]

    def keep_rows(self, index: Tensor, keep: Tensor) -> Tensor:
        """Answers [R] of texts `index` [R] with the words of `keep` [R, F] left in place."""
        removed = (~keep & self.feature_mask[index]) * 2 ** torch.arange(self.n_features)
        return self._values[self._starts[index] + removed.sum(dim=1)]

    def keep(self, keep: Tensor) -> Tensor:
        """Answers [B, S] for bool masks [B, S, F]."""
        index = torch.arange(len(self)).repeat_interleave(keep.shape[1])
        return self.keep_rows(index, keep.flatten(0, 1)).unflatten(0, keep.shape[:2])


def answers(model: str, dataset: str = "sst2", *, most: int | None = None) -> AnswerTable:
    """The probability of the positive class for every set of words of the short texts of "sst2" or "yelp", by id;
    of the first `most` texts."""
    table = rows_of("answers", model, dataset, "short")
    ids, starts = np.unique(table.id.to_numpy(), return_index=True)
    probability = torch.tensor(table[["negative_logit", "positive_logit"]].to_numpy(dtype=np.float64)).softmax(dim=1)
    removed = np.split(table.removed.to_numpy(), starts[1:])
    for name, sets in zip(ids.tolist(), removed, strict=True):
        n = len(sets).bit_length() - 1
        if not np.array_equal(sets, np.arange(2**n)):
            raise DataError(f"text {name} of {model}: not every set of its {n} words has an answer")
    values = probability[:, 1].tensor_split(starts[1:].tolist())
    return AnswerTable(ids.tolist()[:most], values[:most])


def scores_of(model: str, dataset: str, table: AnswerTable) -> dict[str, Tensor]:
    """Released attributions of every method for the texts of a table, float64 [B, F] in their order.

    NaN in every place where the attribution counts other words than the answers do, or was not released. A word whose
    released score is itself NaN comes last, as in the released order.
    """
    given = attributions(model, dataset)
    sizes = table.feature_mask.sum(dim=1).tolist()
    place = {name: b for b, name in enumerate(table.ids)}
    by_method: dict[str, Tensor] = {}
    given = given[given.id.isin(place)]
    for name, method, row in zip(given.id.tolist(), given.method.tolist(), given.scores.tolist(), strict=True):
        scores = by_method.setdefault(method, torch.full(table.feature_mask.shape, torch.nan, dtype=torch.float64))
        b = place[name]
        if len(row) == sizes[b]:
            last = np.nanmin(np.append(row, 0.0)) - 1.0
            scores[b, : sizes[b]] = torch.from_numpy(np.where(np.isnan(row), last, row))
            scores[b, sizes[b] :] = 0.0
    return by_method


def aopc(score: SetFunction, order: NDArray[np.int64]) -> float:
    """AOPC of one order of one text's words, k = 1 to N, step by step."""
    position = np.argsort(order)
    keep = torch.from_numpy(position[None, :] > np.arange(len(order))[:, None])
    return float(score.full) - float(score.keep(keep[None]).mean())


def deduplicated(table: AnswerTable, width: int) -> tuple[Tensor, Tensor]:
    """Lower and upper bound of AOPC of every text, float64 [B], by a search that neither Edin et al. nor the library
    makes, for the published numbers about it: a beam that holds each set once (of each size the `width` cheapest) and
    counts only the paths that it ends with.

    The library's merged search asks for the same sets; it goes on to the best path through all of them.

    >>> lower, upper = deduplicated(AnswerTable([7], [torch.tensor([0.75, 0.5, 0.25, 0.0]).double()]), 1)
    >>> lower.item(), upper.item()  # drops of .25 and .75, of .5 and .75
    (0.5, 0.625)
    """
    sizes = table.feature_mask.sum(dim=1)
    lower, upper = torch.empty(2, len(table), dtype=torch.float64)
    for n in sizes.unique().tolist():
        of_size = (sizes == n).nonzero()[:, 0]
        removed = torch.arange(2**n)
        keep = (removed[:, None] >> torch.arange(table.n_features)) & 1 == 0
        asked = table.keep_rows(of_size.repeat_interleave(2**n), keep.repeat(len(of_size), 1)).double()
        answers = asked.unflatten(0, (len(of_size), 2**n))
        lower[of_size] = answers[:, 0] + _cheapest(-answers, n, width) / n
        upper[of_size] = answers[:, 0] - _cheapest(answers, n, width) / n
    return lower, upper


def _cheapest(cost: Tensor, n: int, width: int) -> Tensor:
    """The smallest sum of costs [B, 2^n] along a path from the empty to the full set through the sets kept, [B]."""
    word = 1 << torch.arange(n)
    members = (torch.arange(2**n)[:, None] & word).ne(0).sum(dim=1)
    total = torch.full_like(cost, torch.inf)
    total[:, 0] = 0.0
    for size in range(1, n + 1):
        sets = (members == size).nonzero()[:, 0]
        # A set without a word names itself here, and is still infinite.
        reached = total[:, sets[:, None] & ~word].amin(dim=2) + cost[:, sets]
        place = reached.argsort(dim=1, stable=True).argsort(dim=1)
        total[:, sets] = reached.where(place < width, torch.inf)
    return total[:, -1]
