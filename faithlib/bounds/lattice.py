"""Sets of removed features by size, and the cheapest paths through those that have been visited.

An order of removals is a path from the empty to the full set, and what a model answers depends on the set alone. So the
best order among all sets visited is found by dynamic programming, size after size: of all sets it is the exact bound,
of some it is as near as a search has come.

Shape letters: B inputs, F features (N of an input), R sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithlib.errors import InputError
from faithlib.perturb import Perturber, SetFunction

__all__ = ["Bounds"]

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]
_MORE_THAN_VISITED = 1 << 62  # no search visits so many sets


@dataclass(frozen=True)
class Bounds:
    """Bounds of AOPC over orders of removal, one an input.

    Parameters
    ----------
    lower, upper : Tensor
        Smallest and largest AOPC found, [B]; float64, in the units of the answers (a probability: [-1, 1]). Neither is
        "better": they say what the model makes possible.
    lower_order, upper_order : Tensor
        Features in the order of removal that reaches them, [B, F]; -1 beyond an input's features.
    rows : Tensor
        Distinct sets answered for the input, the full set among them, [B].
    width : Tensor
        How many entries the beam kept at last, [B]; 0 where no beam searched.
    certified_lower, certified_upper : Tensor
        The true bounds lie within [certified_lower, lower] and [upper, certified_upper], [B]. Equal to the bounds where
        the search was exact; NaN where answers have no known limits.
    random : Tensor
        The mean of AOPC over all orders, exact, [B]; NaN where not all sets were answered (a beam leaves most out):
        `random_order_aopc` estimates it.

    Examples
    --------
    >>> from faithlib.bounds import exact_bounds
    >>> from faithlib.perturb import SetFunction
    >>> exact_bounds(SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)).upper_order
    tensor([[0, 1]])
    """

    lower: Tensor
    upper: Tensor
    lower_order: Tensor
    upper_order: Tensor
    rows: Tensor
    width: Tensor
    certified_lower: Tensor
    certified_upper: Tensor
    random: Tensor

    def widened(self, aopc: Tensor) -> Bounds:
        """These bounds with values of AOPC taken in that orders are known to reach, for a beam can be beaten.

        Parameters
        ----------
        aopc : Tensor
            AOPC of orders of each input, [B] or [B, M].

        Returns
        -------
        Bounds
            With `lower` and `upper` that contain the values; the orders stay those of the search.
        """
        values = aopc.double().reshape(len(self.lower), -1).to(self.lower.device)
        lower, upper = torch.fmin(self.lower, values.amin(dim=1)), torch.fmax(self.upper, values.amax(dim=1))
        return replace(self, lower=lower, upper=upper)


class Layer:
    """The distinct sets of one size that have been visited, for all inputs: keys, packed bits, answers and, for each
    end, the cheapest visited path to each (`best` [2, R]) and the feature it ends with (`last` [2, R]). `known`: sets
    of an earlier search, visited too.

    >>> Layer(np.array([0]), np.array([7], dtype=np.uint64), np.zeros((1, 1), dtype=np.uint8), np.ones(1)).best.shape
    (2, 1)
    """

    def __init__(
        self, owner: Numbers, key: Keys, bits: NDArray[np.uint8], values: Array, known: Layer | None = None
    ) -> None:
        if known is not None:
            owner, key = np.append(known.owner, owner), np.append(known.key, key)
            bits, values = np.append(known.bits, bits, axis=0), np.append(known.values, values)
        _, first = np.unique(key, return_index=True)
        self.owner: Numbers = owner[first]
        self.key: Keys = key[first]
        self.bits: NDArray[np.uint8] = bits[first]
        self.values: Array = values[first]
        self.best = np.full((2, len(first)), np.inf)
        self.last = np.zeros((2, len(first)), dtype=np.int64)
        self.children = np.zeros(len(first), dtype=np.int64)

    def find(self, key: Keys) -> tuple[Numbers, NDArray[np.bool_]]:
        """Where sets with these keys are, and whether they are there."""
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return place, self.key[place] == key


class Lattice:
    """The sets visited of all inputs, `layers` by size from the empty one on. Two ends: the upper bound of AOPC is the
    path with the smallest sum of answers, the lower that with the largest.

    Raises InputError for an input without features.

    >>> line = Lattice(SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2))
    >>> line.full, line.sizes
    (array([4.]), array([2]))
    """

    def __init__(self, score: Perturber | SetFunction) -> None:
        self.score, self.present = score, score.feature_mask
        self.is_present = self.present.cpu().numpy()
        self.inputs, self.features = self.is_present.shape
        self.sizes = self.is_present.sum(axis=1)
        if not self.sizes.all():
            raise InputError(f"input {int(self.sizes.argmin())} has no features: nothing can be removed")
        self.full = score.full.double().cpu().numpy()
        # Sets have 64-bit keys: the exclusive or of one random word per feature and one per input. A million
        # sets collide with a probability of 3e-8.
        words = np.random.default_rng(0).integers(2**63, size=self.features + self.inputs, dtype=np.uint64)
        self.word_of_feature, self.word_of_input = words[: self.features], words[self.features :]
        nothing = np.packbits(np.zeros_like(self.is_present), axis=1)
        self.layers = [Layer(np.arange(self.inputs), self.word_of_input, nothing, self.full)]
        self.layers[0].best[:] = 0.0

    def keys(self, owner: Numbers, sets: NDArray[np.bool_]) -> Keys:
        """The keys [R] of sets [R, F] of these inputs."""
        words = np.where(sets, self.word_of_feature, np.uint64(0))
        hashes: NDArray[np.uint64] = np.bitwise_xor.reduce(words, axis=1) ^ self.word_of_input[owner]
        return hashes

    def link(self) -> None:
        """Cheapest visited paths to every visited set, size after size, and how many children of each are visited. Of
        equal paths the one that ends with the first feature."""
        for before, layer in zip(self.layers, self.layers[1:], strict=False):
            sets = np.unpackbits(layer.bits, axis=1, count=self.features).astype(bool)
            # The sets with one feature less: exclusive or takes the feature's word out of the key again.
            row, feature = np.nonzero(sets)
            place, there = before.find(layer.key[row] ^ self.word_of_feature[feature])
            np.add.at(before.children, place[there], 1)
            for end, sign in enumerate((1, -1)):
                paths = np.full(sets.shape, np.inf)
                paths[row[there], feature[there]] = before.best[end, place[there]]
                layer.last[end] = paths.argmin(axis=1)
                layer.best[end] = paths.min(axis=1) + sign * layer.values

    def totals(self) -> Array:
        """The cheapest visited path from the empty to the full set, [2, B]."""
        total = np.full((2, self.inputs), np.inf)
        for size in np.unique(self.sizes):
            layer = self.layers[size]
            whole = self.sizes[layer.owner] == size
            total[:, layer.owner[whole]] = layer.best[:, whole]
        return total

    def orders(self) -> Numbers:
        """The orders [2 B, F] of the cheapest paths, -1 beyond: first the upper end of every input, then the lower."""
        end, owner = np.repeat([0, 1], self.inputs), np.tile(np.arange(self.inputs), 2)
        key = self.keys(owner, self.is_present[owner])
        orders = np.full((len(owner), self.features), -1, dtype=np.int64)
        # Backwards from the full set: the feature that its cheapest path ends with, then the set without that.
        for size in range(len(self.layers) - 1, 0, -1):
            on = self.sizes[owner] >= size
            place, _ = self.layers[size].find(key[on])
            orders[on, size - 1] = self.layers[size].last[end[on], place]
            key[on] ^= self.word_of_feature[orders[on, size - 1]]
        return orders

    def mean_answers(self) -> Array:
        """What the paths of all orders sum to on average, [B]; NaN where not every set of an input was visited.

        Every set of a size stands on the paths of equally many orders, so a size contributes the mean of its answers.
        """
        total = np.zeros(self.inputs)
        for size, layer in enumerate(self.layers[1:], start=1):
            visited = np.bincount(layer.owner, minlength=self.inputs)
            answers = np.bincount(layer.owner, weights=layer.values, minlength=self.inputs)
            sets = np.array([min(comb(int(n), size), _MORE_THAN_VISITED) for n in self.sizes])
            is_whole = (visited == sets) & (sets > 0)
            mean = np.divide(answers, sets, out=np.full(self.inputs, np.nan), where=is_whole)
            total += np.where(sets == 0, 0.0, mean)  # an input with fewer features has no set of this size
        return total

    def bounds(self, total: Array, orders: Numbers, certified: Array, width: Numbers) -> Bounds:
        """What paths through the sets say about AOPC.

        Parameters
        ----------
        total : Array
            The sum of answers along each input's cheapest path, [2, B]: for the upper end, then for the lower, there of
            the answers' negatives.
        orders : Numbers
            Its order of removal, [2 B, F], the upper end of every input first; -1 beyond an input's features.
        certified : Array
            A sum that no path can fall below, [2, B], as `total`; NaN where none is known.
        width : Numbers
            Entries that the beam kept, [B]; 0 without a beam.

        Returns
        -------
        Bounds
            One an input, [B], on the device of the answers.
        """
        columns = {
            "lower": self.full + total[1] / self.sizes,
            "upper": self.full - total[0] / self.sizes,
            "lower_order": orders[self.inputs :],
            "upper_order": orders[: self.inputs],
            "rows": sum(np.bincount(layer.owner, minlength=self.inputs) for layer in self.layers),
            "width": width,
            "certified_lower": self.full + certified[1] / self.sizes,
            "certified_upper": self.full - certified[0] / self.sizes,
            "random": self.full - self.mean_answers() / self.sizes,
        }
        return Bounds(**{name: torch.as_tensor(values, device=self.present.device) for name, values in columns.items()})
