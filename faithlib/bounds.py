"""How good and how bad can an order of removals be? Exact and beam bounds of AOPC, their certificates, and NAOPC.

AOPC of an order r of the N features is the mean drop p(x) - (1/N) sum_k p(x without the first k features of r), k = 1
to N (`metrics.aopc`). Its largest and smallest value over all N! orders are the bounds; NAOPC puts an attribution's
AOPC between them (Edin et al. 2025). An answer depends on the *set* removed and not on the order within it, so an order
is a path from the empty to the full set in the lattice of subsets, and the best one is found by dynamic programming:
2^N answers and N 2^N additions in place of N! orders.

Bounds belong to one model, one input, one way of erasing and one kind of output. They serve comprehensiveness (most
relevant first) and the same sum in ascending order, the paper's sufficiency (ERASER's: these sets at a few lengths).

Shape letters: B inputs, F features (N of an input), G searches (one an input and end), E open entries, R rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm.auto import tqdm

from faithlib.errors import InputError, unknown
from faithlib.perturb import Perturber, SetFunction

_ROWS_A_CALL = 1 << 16
_FAR = 62  # shifting a set's code by this gives 0: where an input has no feature
_MOST_EXACT = 22

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """Bounds of AOPC, one an input.

    - `lower`, `upper` [B]: smallest and largest AOPC found; float64, in the units of the answers (a probability: [-1,
      1]). Neither is "better": they say what the model makes possible.
    - `lower_order`, `upper_order` [B, F]: features in the order of removal that reaches them, -1 beyond an input's
      features.
    - `rows` [B]: distinct sets answered for the input, the full set among them.
    - `certified_lower`, `certified_upper` [B]: the true bounds lie within [certified_lower, lower] and [upper,
      certified_upper]. Equal to the bounds where the search was exact; NaN where answers have no known limits.

    >>> exact_bounds(SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)).upper_order
    tensor([[0, 1]])
    """

    lower: Tensor
    upper: Tensor
    lower_order: Tensor
    upper_order: Tensor
    rows: Tensor
    certified_lower: Tensor
    certified_upper: Tensor

    def widened(self, aopc: Tensor) -> Bounds:
        """These bounds with values [B] or [B, M] of AOPC taken in that orders are known to reach, for a beam can be
        beaten; the orders stay those of the search."""
        values = aopc.double().reshape(len(self.lower), -1).to(self.lower.device)
        return replace(
            self,
            lower=torch.fmin(self.lower, values.amin(dim=1)),
            upper=torch.fmax(self.upper, values.amax(dim=1)),
        )


def naopc(aopc: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """NAOPC = (AOPC - lower) / (upper - lower), in [0, 1] (Edin et al. 2025); 0 is the worst order, 1 the best.

    Higher is better where AOPC is that of comprehensiveness, lower where it is the ascending sum. Zero is not what a
    random order gets. Values outside the bounds (a beam's bounds can be beaten) are clipped; equal bounds give NaN;
    `naopc_faults` counts both. Shapes broadcast.

    >>> naopc(torch.tensor([0.3, 0.9]), torch.tensor(0.2), torch.tensor(0.4)).float()
    tensor([0.5000, 1.0000])
    """
    spread = (upper - lower).double()
    value = ((aopc - lower).double() / spread).clamp(0, 1)
    return torch.where(spread > 0, value, torch.nan)


def naopc_faults(aopc: Tensor, lower: Tensor, upper: Tensor, *, tolerance: float = 1e-6) -> dict[str, int]:
    """How many values `naopc` had to clip by more than `tolerance` in units of AOPC, and how many are NaN because the
    bounds are equal: {"clipped": …, "undefined": …}.

    >>> naopc_faults(torch.tensor([0.3, 0.9]), torch.tensor(0.2), torch.tensor(0.4))
    {'clipped': 1, 'undefined': 0}
    """
    aopc, lower, upper = torch.broadcast_tensors(aopc.double(), lower.double(), upper.double())
    outside = (upper > lower) & ((aopc < lower - tolerance) | (aopc > upper + tolerance))
    return {"clipped": int(outside.sum()), "undefined": int((~(upper > lower)).sum())}


# ------------------------------------------------------------------------------------------------------------- exact
def exact_bounds(score: Perturber | SetFunction, *, max_features: int = 16) -> Bounds:
    """Both bounds of AOPC over all orders, by dynamic programming over the 2^N sets of removed features.

    One table of answers serves both ends; nothing is floored at 0. Bookkeeping is N 2^N additions; each further feature
    doubles the rows. Inputs may have different numbers of features.

    Raises InputError where an input has no feature, or more than `max_features` (at most 22): `beam_bounds` takes
    those.

    >>> both = SetFunction(lambda keep: keep.all(dim=1).double(), 2)
    >>> bounds = exact_bounds(both)
    >>> bounds.lower.item(), bounds.upper.item()
    (1.0, 1.0)
    """
    present = _present(score)
    sizes = present.sum(dim=1).tolist()
    limit = min(max_features, _MOST_EXACT)
    if max(sizes) > limit:
        b = int(np.argmax(sizes))
        raise InputError(
            f"input {b} has {sizes[b]} features, which is {2 ** sizes[b]:,} rows; exact_bounds takes up to {limit} "
            f"(max_features, at most {_MOST_EXACT}): use beam_bounds"
        )
    answers = _all_subsets(score, present)
    lower, upper = (
        [_shortest_path(sign * values, size) for values, size in zip(answers, sizes, strict=True)] for sign in (-1, 1)
    )
    full = score.full.double().cpu().numpy()
    places = [row.nonzero()[:, 0].cpu().numpy() for row in present]
    found = {
        "lower": _tensor([full[b] + total / sizes[b] for b, (total, _) in enumerate(lower)], present),
        "upper": _tensor([full[b] - total / sizes[b] for b, (total, _) in enumerate(upper)], present),
    }
    orders = {
        "lower_order": _orders([places[b][order] for b, (_, order) in enumerate(lower)], present),
        "upper_order": _orders([places[b][order] for b, (_, order) in enumerate(upper)], present),
    }
    rows = torch.tensor([2**size for size in sizes], device=present.device)
    return Bounds(**found, **orders, rows=rows, certified_lower=found["lower"], certified_upper=found["upper"])


def _all_subsets(score: Perturber | SetFunction, present: Tensor) -> list[Array]:
    """The answers to all sets of removed features of every input: [2^N] each, by the code of the set, whose bit i
    stands for the input's i-th feature."""
    sizes = present.sum(dim=1)
    starts = torch.cat([sizes.new_zeros(1), (2**sizes).cumsum(0)])
    shift = torch.where(present, present.cumsum(dim=1) - 1, _FAR)
    parts = []
    for begin in tqdm(
        range(0, int(starts[-1]), _ROWS_A_CALL), unit_scale=_ROWS_A_CALL, unit="row", delay=3, leave=False
    ):
        number = torch.arange(begin, min(begin + _ROWS_A_CALL, int(starts[-1])), device=present.device)
        owner = torch.searchsorted(starts, number, right=True) - 1
        code = number - starts[owner]
        parts.append(score.keep_rows(owner, (code[:, None] >> shift[owner]) & 1 == 0))
    values = torch.cat(parts).double().cpu().numpy()
    return np.split(values, starts[1:-1].tolist())


@lru_cache(maxsize=4)
def _layers(n: int) -> list[NDArray[np.int64]]:
    """The codes of all subsets of n features, by size."""
    sizes = np.bitwise_count(np.arange(2**n, dtype=np.int64))
    return np.split(np.argsort(sizes, kind="stable"), np.cumsum([comb(n, k) for k in range(n)]))


def _shortest_path(cost: Array, n: int) -> tuple[float, NDArray[np.int64]]:
    """The smallest sum of costs [2^n] along a path from the empty to the full set (the empty set costs nothing), and
    the order in which its features join; among equals the lowest feature joins last."""
    best = np.full(2**n, np.inf)
    best[0] = 0.0
    for sets in _layers(n)[1:]:
        before = np.full(len(sets), np.inf)
        for i in range(n):
            # A set without feature i names itself here, and is still infinite.
            np.minimum(before, best[sets & ~(1 << i)], out=before)
        best[sets] = before + cost[sets]
    order, code = [], 2**n - 1
    while code:
        members = [i for i in range(n) if code >> i & 1]
        last = min(members, key=lambda i: float(best[code ^ (1 << i)]))
        order.append(last)
        code ^= 1 << last
    return float(best[-1]), np.array(order[::-1], dtype=np.int64)


# -------------------------------------------------------------------------------------------------------------- beam
def beam_bounds(
    score: Perturber | SetFunction,
    *,
    width: int = 3,
    candidates: int | None = None,
    tolerance: float = 0.0,
    limits: tuple[float, float] | None = None,
    variant: str = "merged",
) -> Bounds:
    """Bounds of AOPC by beam search for both ends at once, with certified intervals around them.

    Every step removes one more feature: the `width` entries with the smallest sums so far are kept for each end.
    Entries that removed the same set are one entry, both ends and all inputs advance together through one memo, and at
    the end dynamic programming over *all* sets visited finds the best path they contain. Rows of an input: about width
    N^2.

    - `candidates`: look only at so many next features of an entry, those with the largest effect when last looked at
      (in log-odds where answers are probabilities), after a first step that looks at all. Rows of an input: about 2
      width candidates N.
    - `tolerance`: an entry whose answer is that close to its limit looks at two features only: little is left to win.
    - `limits`: the smallest and largest possible answer, known for probabilities; without, no certificate (NaN).
    - `variant="released"`: as the paper's code: equal sets fill the beam many times over, only final paths count.

    The certificate: an order leaves the sets visited at some step; up to there it costs at least the best visited path,
    from there on at least the limit at every step. More rows can only make it tighter.

    Raises InputError for an input without features, a width below 1, candidates below 2, or answers outside `limits`.

    >>> bounds = beam_bounds(SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2))
    >>> bounds.lower.item(), bounds.upper.item()  # drops of 1 and 4, of 3 and 4
    (2.5, 3.5)
    """
    if width < 1 or (candidates is not None and candidates < 2):
        raise InputError(f"width {width}, candidates {candidates}: expected width >= 1 and candidates None or >= 2")
    if variant not in ("merged", "released"):
        raise unknown("variant", variant, ("merged", "released"))
    if limits is None and isinstance(score, Perturber) and score.output == "probability":
        limits = (0.0, 1.0)
    search = _Search(score, width, candidates, tolerance, limits, merge=variant == "merged")
    search.run()
    return search.bounds()


def most_rows(n: int, *, width: int = 3) -> int:
    """How many sets `beam_bounds` answers for an input of n features at most, whatever the answers are.

    Of every size no more than there are, and no more than the entries of both beams have children.

    >>> most_rows(3), most_rows(20, width=1)  # all but the empty set; 20 + 2 * (19 + 18 + ... + 2) + 1
    (7, 399)
    """
    sizes = range(1, n + 1)
    return sum(min(comb(n, k), 2 * min(width, comb(n, k - 1)) * (n - k + 1)) for k in sizes)


class _Layer:
    """The distinct sets of one size that have been visited, for all inputs: packed bits, answers and, for each end, the
    cheapest visited path to each (`best` [2, R]) and the feature it ends with (`last` [2, R])."""

    def __init__(
        self, owner: NDArray[np.int64], key: NDArray[np.uint64], bits: NDArray[np.uint8], values: Array
    ) -> None:
        _, first = np.unique(key, return_index=True)
        self.owner, self.key, self.bits, self.values = owner[first], key[first], bits[first], values[first]
        self.best = np.full((2, len(first)), np.inf)
        self.last = np.zeros((2, len(first)), dtype=np.int64)
        self.children = np.zeros(len(first), dtype=np.int64)

    def find(self, key: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where sets with these keys are, and whether they are there."""
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return place, self.key[place] == key


class _Search:
    """One call of `beam_bounds`. Group g searches the upper end of input g (g < B) or the lower end of input g - B."""

    def __init__(
        self,
        score: Perturber | SetFunction,
        width: int,
        candidates: int | None,
        tolerance: float,
        limits: tuple[float, float] | None,
        *,
        merge: bool,
    ) -> None:
        self.score, self.width, self.candidates, self.merge = score, width, candidates, merge
        self.tolerance, self.limits = tolerance, limits
        self.present = _present(score)
        self.here = self.present.cpu().numpy()
        self.inputs, self.features = self.here.shape
        self.sizes = self.here.sum(axis=1)
        self.full = score.full.double().cpu().numpy()
        # Sets are told apart by 64-bit keys: the exclusive or of one random word a feature and one an input. A million
        # sets collide with a probability of 3e-8.
        words = np.random.default_rng(0).integers(2**63, size=self.features + self.inputs, dtype=np.uint64)
        self.word_of_feature, self.word_of_input = words[: self.features], words[self.features :]
        nothing = np.packbits(np.zeros_like(self.here), axis=1)
        self.layers = [_Layer(np.arange(self.inputs), self.word_of_input, nothing, self.full)]
        self.layers[0].best[:] = 0.0
        self.finished: dict[int, tuple[float, NDArray[np.int64]]] = {}
        # The open entries of all beams.
        self.group = np.arange(2 * self.inputs)
        self.removed = np.zeros((len(self.group), self.features), dtype=bool)
        self.cost = np.zeros(len(self.group))
        self.value = self.full[self._input(self.group)]
        self.order = np.zeros((len(self.group), 0), dtype=np.int64)
        self.effect = np.zeros((len(self.group), self.features))

    def _input(self, group: NDArray[np.int64]) -> NDArray[np.int64]:
        return group % self.inputs

    def _sign(self, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """What costs: the answer itself for the upper end, its negative for the lower."""
        return np.where(group < self.inputs, 1, -1)

    # ---------------------------------------------------------------------------------------------------- the search
    def run(self) -> None:
        for _ in tqdm(range(int(self.sizes.max())), unit="step", delay=3, leave=False):
            self._step()

    def _step(self) -> None:
        """Remove one more feature from every entry, answer all children at once, keep the best."""
        entry, feature = self._children()
        group = self.group[entry]
        removed = self.removed[entry]
        removed[np.arange(len(entry)), feature] = True
        value = self._answers(self._input(group), removed)
        bits = np.packbits(removed, axis=1)
        key = self._keys(self._input(group), removed)
        self.layers.append(_Layer(self._input(group), key, bits, value))
        if self.candidates is not None:
            self._learn(entry, feature, value)
        cost = self.cost[entry] + self._sign(group) * value
        kept = self._best(group, cost, key)
        self.group, self.removed, self.cost, self.value = group[kept], removed[kept], cost[kept], value[kept]
        self.order = np.column_stack([self.order[entry[kept]], feature[kept]])
        self._close()

    def _children(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(entry, feature) of every child to answer."""
        open_ = self.here[self._input(self.group)] & ~self.removed
        if self.candidates is not None and len(self.layers) > 1:
            effect = np.where(open_, self.effect[self.group], -np.inf)
            rank = np.argsort(np.argsort(-effect, axis=1, kind="stable"), axis=1)
            open_ &= rank < self._look(self.candidates)[:, None]
        entry, feature = np.nonzero(open_)
        return entry, feature

    def _look(self, candidates: int) -> NDArray[np.int64]:
        """How many features each entry looks at."""
        if self.limits is None:
            return np.full(len(self.group), candidates)
        low, high = self.limits
        left = np.where(self._sign(self.group) > 0, self.value - low, high - self.value)
        return np.where(left <= self.tolerance, 2, candidates)

    def _learn(self, entry: NDArray[np.int64], feature: NDArray[np.int64], value: Array) -> None:
        """Remember the latest effect of each feature for each end; in log-odds it changes least from step to step."""
        before, after = self.value[entry], value
        if self.limits is not None:
            before, after = self._log_odds(before), self._log_odds(after)
        group = self.group[entry]
        # Later rows overwrite earlier ones: let the best entry of each group speak last.
        for_last = np.argsort(-self.cost[entry], kind="stable")
        self.effect[group[for_last], feature[for_last]] = (self._sign(group) * (before - after))[for_last]

    def _log_odds(self, value: Array) -> Array:
        assert self.limits is not None
        low, high = self.limits
        share = np.clip((value - low) / (high - low), 1e-7, 1 - 1e-7)
        return np.log(share / (1 - share))

    def _answers(self, owner: NDArray[np.int64], removed: NDArray[np.bool_]) -> Array:
        device = self.present.device
        answers = self.score.keep_rows(torch.from_numpy(owner).to(device), ~torch.from_numpy(removed).to(device))
        values = answers.double().cpu().numpy()
        if self.limits is not None and len(values):
            low, high = self.limits
            if values.min() < low - 1e-6 or values.max() > high + 1e-6:
                raise InputError(
                    f"answers from {values.min():.6g} to {values.max():.6g}: outside the limits {self.limits}"
                )
        return values

    def _keys(self, owner: NDArray[np.int64], sets: NDArray[np.bool_]) -> NDArray[np.uint64]:
        words = np.where(sets, self.word_of_feature, np.uint64(0))
        return np.bitwise_xor.reduce(words, axis=1) ^ self.word_of_input[owner]

    def _best(self, group: NDArray[np.int64], cost: Array, key: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The `width` cheapest children of every group, each set once if sets are merged; ties go by row."""
        rows = np.lexsort((cost, group))
        if self.merge:
            same = np.stack([group[rows].astype(np.uint64), key[rows]], axis=1)
            rows = rows[np.sort(np.unique(same, axis=0, return_index=True)[1])]
        starts = np.searchsorted(group[rows], group[rows])  # where each row's group begins
        return rows[np.arange(len(rows)) - starts < self.width]

    def _close(self) -> None:
        """Set aside the entries of groups that have removed every feature."""
        done = self.sizes[self._input(self.group)] == self.order.shape[1]
        for e in np.nonzero(done)[0]:
            g = int(self.group[e])
            if g not in self.finished or self.cost[e] < self.finished[g][0]:
                self.finished[g] = (float(self.cost[e]), self.order[e])
        self.group, self.removed, self.cost = self.group[~done], self.removed[~done], self.cost[~done]
        self.value, self.order = self.value[~done], self.order[~done]

    # ------------------------------------------------------------------------------------- the best of all sets visited
    def bounds(self) -> Bounds:
        self._link()
        total, certified = self._totals(), self._certified()
        if self.merge:
            orders = self._trace()
        else:
            ended = [self.finished[g] for g in range(2 * self.inputs)]
            total = np.array([cost for cost, _ in ended]).reshape(2, -1)
            orders = [order for _, order in ended]
        upper, lower = self.full - total[0] / self.sizes, self.full + total[1] / self.sizes
        rows = sum(np.bincount(layer.owner, minlength=self.inputs) for layer in self.layers)
        return Bounds(
            lower=_tensor(lower, self.present),
            upper=_tensor(upper, self.present),
            lower_order=_orders(orders[self.inputs :], self.present),
            upper_order=_orders(orders[: self.inputs], self.present),
            rows=torch.as_tensor(rows, device=self.present.device),
            certified_lower=_tensor(self.full + certified[1] / self.sizes, self.present),
            certified_upper=_tensor(self.full - certified[0] / self.sizes, self.present),
        )

    def _link(self) -> None:
        """Cheapest visited paths to every visited set, size after size, and how many children of each are visited."""
        for before, layer in zip(self.layers, self.layers[1:], strict=False):
            sets = np.unpackbits(layer.bits, axis=1, count=self.features).astype(bool)
            row, feature = np.nonzero(sets)
            place, there = before.find(layer.key[row] ^ self.word_of_feature[feature])
            np.add.at(before.children, place[there], 1)
            for end, sign in enumerate((1, -1)):
                paths = np.full(sets.shape, np.inf)
                paths[row[there], feature[there]] = before.best[end, place[there]]
                layer.last[end] = paths.argmin(axis=1)
                layer.best[end] = paths.min(axis=1) + sign * layer.values

    def _totals(self) -> Array:
        """The cheapest visited path from the empty to the full set, [2, B]."""
        total = np.full((2, self.inputs), np.inf)
        for size in np.unique(self.sizes):
            layer = self.layers[size]
            whole = self.sizes[layer.owner] == size
            total[:, layer.owner[whole]] = layer.best[:, whole]
        return total

    def _trace(self) -> list[NDArray[np.int64]]:
        """The orders of the cheapest paths: first the upper end of every input, then the lower."""
        end, owner = np.repeat([0, 1], self.inputs), np.tile(np.arange(self.inputs), 2)
        everything = self.here[owner]
        key = self._keys(owner, everything)
        orders = np.full((len(owner), len(self.layers) - 1), -1, dtype=np.int64)
        for size in range(len(self.layers) - 1, 0, -1):
            on = self.sizes[owner] >= size
            place, _ = self.layers[size].find(key[on])
            orders[on, size - 1] = self.layers[size].last[end[on], place]
            key[on] ^= self.word_of_feature[orders[on, size - 1]]
        return [order[order >= 0] for order in orders]

    def _certified(self) -> Array:
        """A sum that no path from the empty to the full set can fall below, [2, B]; NaN without limits.

        A path that is not visited whole has a first set that is not. Up to the set before, it costs at least the
        cheapest visited path to it; from there on every size costs at least its smallest answer where all sets of the
        size are visited, the limit where not.
        """
        if self.limits is None:
            return np.full((2, self.inputs), np.nan)
        bound = self._totals()
        for end, sign in enumerate((1, -1)):
            floor = min(sign * limit for limit in self.limits)
            rest = np.zeros(self.inputs)  # what the sizes above the present one cost at least
            for size in range(len(self.layers) - 1, -1, -1):
                layer = self.layers[size]
                open_ = layer.children < self.sizes[layer.owner] - size
                np.minimum.at(bound[end], layer.owner[open_], layer.best[end, open_] + rest[layer.owner[open_]])
                rest += self._least(layer, size, sign, floor)
        return bound

    def _least(self, layer: _Layer, size: int, sign: int, floor: float) -> Array:
        """What a path pays at this size at least, [B]."""
        least = np.full(self.inputs, np.inf)
        np.minimum.at(least, layer.owner, sign * layer.values)
        visited = np.bincount(layer.owner, minlength=self.inputs)
        whole = np.array([visited[b] == comb(int(n), size) for b, n in enumerate(self.sizes)])
        return np.where(self.sizes < size, 0.0, np.where(whole, least, floor))


def _present(score: Perturber | SetFunction) -> Tensor:
    """Which features each input has, [B, F]; an input without any is an error."""
    present = score.feature_mask
    if not bool(present.any(dim=1).all()):
        raise InputError(f"input {int((~present.any(dim=1)).nonzero()[0])} has no features: nothing can be removed")
    return present


def _tensor(values: Array | list[float], like: Tensor) -> Tensor:
    return torch.as_tensor(np.asarray(values, dtype=np.float64), device=like.device)


def _orders(orders: list[NDArray[np.int64]], present: Tensor) -> Tensor:
    made = torch.full(present.shape, -1, dtype=torch.int64, device=present.device)
    for b, order in enumerate(orders):
        made[b, : len(order)] = torch.from_numpy(np.ascontiguousarray(order)).to(made.device)
    return made
