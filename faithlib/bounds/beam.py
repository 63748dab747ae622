"""Bounds of AOPC by beam search for texts and images with too many features for all sets, certified.

Shape letters: B inputs, F features (N of an input), G searches (one an input and end), E open entries, R rows.
"""

from __future__ import annotations

from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm.auto import tqdm

from faithlib.bounds.lattice import Array, Bounds, Keys, Lattice, Layer, Numbers
from faithlib.errors import InputError, check_known
from faithlib.perturb import Perturber, SetFunction

__all__ = ["adaptive_bounds", "beam_bounds", "most_rows"]


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
    the end dynamic programming over *all* sets visited finds the best path they contain.

    Parameters
    ----------
    score : Perturber | SetFunction
        What answers: a `Perturber` of B inputs, or a `SetFunction`.
    width : int, default 3
        Entries that are kept for each end, at least 1. Rows of an input of N features: about width N^2.
    candidates : int, optional
        Look only at so many next features of an entry, at least 2: those with the largest effect when last looked at
        (in log-odds where answers are probabilities), after a first step that looks at all. Rows of an input: about 2
        width candidates N. Default: all.
    tolerance : float, default 0.0
        An entry whose answer is that close to its limit looks at two features only: little is left to win.
    limits : tuple[float, float], optional
        The smallest and largest possible answer, known for probabilities; without, no certificate (NaN).
    variant : {"merged", "released"}, default "merged"
        "released": as the paper's code: equal sets fill the beam many times over, only final paths count.

    Returns
    -------
    Bounds
        One an input, [B], in the units of the answers.

    Raises
    ------
    InputError
        For an input without features, a width below 1, candidates below 2, or answers outside `limits`.
    UnknownNameError
        For another `variant`.

    Notes
    -----
    The certificate: an order leaves the sets visited at some step; up to there it costs at least the best visited path,
    from there on at least the limit at every step. More rows can only make it tighter.

    Examples
    --------
    >>> bounds = beam_bounds(SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2))
    >>> bounds.lower.item(), bounds.upper.item()  # drops of 1 and 4, of 3 and 4
    (2.5, 3.5)
    """
    check_known("variant", variant, ("merged", "released"))
    return _Search(score, width, candidates, tolerance, limits, merge=variant == "merged").run()


def adaptive_bounds(
    score: Perturber | SetFunction,
    *,
    first: int = 1,
    most: int = 64,
    change: float = 1e-3,
    candidates: int | None = None,
    tolerance: float = 0.0,
    limits: tuple[float, float] | None = None,
) -> Bounds:
    """Bounds of AOPC by merged beam searches of growing width, until the bounds of an input stay.

    Searches of width `first`, twice that, and so on up to `most`, until both bounds of an input move by `change` at
    most.

    Parameters
    ----------
    score : Perturber | SetFunction
        What answers: a `Perturber` of B inputs, or a `SetFunction`.
    first : int, default 1
        Width of the first search, at least 1.
    most : int, default 64
        The largest width, at least `first`.
    change : float, default 0.001
        By how much bounds may move and count as the same, at least 0, in the units of the answers.
    candidates, tolerance, limits
        As in `beam_bounds`.

    Returns
    -------
    Bounds
        One an input, [B]; `rows` counts every set once, `width` is the last one searched.

    Raises
    ------
    InputError
        For a negative `change`, a `most` below `first`, and as `beam_bounds` does.

    Notes
    -----
    A search goes on from all sets that the narrower ones have visited, so bounds never get worse and certificates never
    looser. An input whose bounds stay is left alone while the others go on. That bounds stay does not prove them: a
    wider beam may find what twice the width did not.

    Examples
    --------
    >>> line = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0, 0.0]).double(), 3)
    >>> bounds = adaptive_bounds(line)
    >>> bounds.upper.item() == beam_bounds(line).upper.item(), bounds.width.item()  # a width of 2 changes nothing
    (True, 2)
    """
    if change < 0 or most < first:
        raise InputError(f"change {change}, first {first}, most {most}: expected change >= 0 and first <= most")
    search = _Search(score, first, candidates, tolerance, limits)
    bounds = search.run()
    while 2 * search.width <= most and len(search.searched):
        search = _Search(score, 2 * search.width, candidates, tolerance, limits, narrower=search)
        wider = search.run()
        moved = torch.maximum(bounds.lower - wider.lower, wider.upper - bounds.upper).cpu().numpy() > change
        search.searched = search.searched[moved[search.searched]]
        bounds = wider
    return bounds


def most_rows(n: int, *, width: int = 3) -> int:
    """How many sets `beam_bounds` answers for an input at most, whatever the answers are.

    Of every size no more than there are, and no more than the entries of both beams have children.

    Parameters
    ----------
    n : int
        Features of the input.
    width : int, default 3
        Entries that are kept for each end.

    Returns
    -------
    int
        Rows, the full set removed among them and the empty set not.

    Examples
    --------
    >>> most_rows(3), most_rows(20, width=1)  # all but the empty set; 20 + 2 * (19 + 18 + ... + 2) + 1
    (7, 399)
    """
    sizes = range(1, n + 1)
    return sum(min(comb(n, k), 2 * min(width, comb(n, k - 1)) * (n - k + 1)) for k in sizes)


class _Search(Lattice):
    """One beam search. Group g searches the upper end of input g (g < B) or the lower end of input g - B.

    `narrower`: an earlier search, whose sets count as visited, and whose inputs `searched` are searched again.
    """

    def __init__(
        self,
        score: Perturber | SetFunction,
        width: int,
        candidates: int | None,
        tolerance: float,
        limits: tuple[float, float] | None,
        *,
        merge: bool = True,
        narrower: _Search | None = None,
    ) -> None:
        if width < 1 or (candidates is not None and candidates < 2):
            raise InputError(f"width {width}, candidates {candidates}: expected width >= 1 and candidates None or >= 2")
        if limits is None and isinstance(score, Perturber) and score.output == "probability":
            limits = (0.0, 1.0)
        super().__init__(score)
        self.width, self.candidates, self.merge = width, candidates, merge
        self.tolerance, self.limits = tolerance, limits
        self.finished: dict[int, tuple[float, Numbers]] = {}
        # The open entries of all beams.
        self.searched: Numbers = np.arange(self.inputs) if narrower is None else narrower.searched
        self.visited: list[Layer] = [] if narrower is None else narrower.layers
        self.widths: Numbers = np.zeros_like(self.sizes) if narrower is None else narrower.widths
        self.widths[self.searched] = width
        self.group = np.concatenate([self.searched, self.searched + self.inputs])
        self.removed = np.zeros((len(self.group), self.features), dtype=bool)
        self.cost = np.zeros(len(self.group))
        self.value = self.full[self._input(self.group)]
        self.order = np.zeros((len(self.group), 0), dtype=np.int64)
        self.effect = np.zeros((2 * self.inputs, self.features))  # by group, searched or not

    def _input(self, group: Numbers) -> Numbers:
        places: NDArray[np.int64] = group % self.inputs
        return places

    def _sign(self, group: Numbers) -> Numbers:
        """What costs: the answer itself for the upper end, its negative for the lower."""
        return np.where(group < self.inputs, 1, -1)

    # ---------------------------------------------------------------------------------------------------- the search
    def run(self) -> Bounds:
        for _ in tqdm(range(int(self.sizes.max())), unit="step", delay=3, leave=False):
            self._step()
        return self._bounds()

    def _step(self) -> None:
        """Remove one more feature from every entry, answer all children at once, keep the best."""
        entry, feature = self._children()
        group = self.group[entry]
        removed = self.removed[entry]
        removed[np.arange(len(entry)), feature] = True
        value = self._answers(self._input(group), removed)
        bits = np.packbits(removed, axis=1)
        key = self.keys(self._input(group), removed)
        # Sets of this size that a narrower search has visited: paths through them count as well.
        known = self.visited[len(self.layers)] if self.visited else None
        self.layers.append(Layer(self._input(group), key, bits, value, known))
        if self.candidates is not None:
            self._learn(entry, feature, value)
        cost = self.cost[entry] + self._sign(group) * value
        kept = self._best(group, cost, key)
        self.group, self.removed, self.cost, self.value = group[kept], removed[kept], cost[kept], value[kept]
        self.order = np.column_stack([self.order[entry[kept]], feature[kept]])
        self._close()

    def _children(self) -> tuple[Numbers, Numbers]:
        """(entry, feature) of every child to answer."""
        open_ = self.is_present[self._input(self.group)] & ~self.removed
        if self.candidates is not None and len(self.layers) > 1:
            effect = np.where(open_, self.effect[self.group], -np.inf)
            # The place of each feature by its effect, the largest first; what is removed comes last.
            rank = np.argsort(np.argsort(-effect, axis=1, kind="stable"), axis=1)
            open_ &= rank < self._look(self.candidates)[:, None]
        entry, feature = np.nonzero(open_)
        return entry, feature

    def _look(self, candidates: int) -> Numbers:
        """How many features each entry looks at."""
        if self.limits is None:
            return np.full(len(self.group), candidates)
        low, high = self.limits
        left = np.where(self._sign(self.group) > 0, self.value - low, high - self.value)
        return np.where(left <= self.tolerance, 2, candidates)

    def _learn(self, entry: Numbers, feature: Numbers, value: Array) -> None:
        """Remember the latest effect of each feature for each end; in log-odds it changes least from step to step."""
        before, after = self.value[entry], value
        if self.limits is not None:
            before, after = self._log_odds(before), self._log_odds(after)
        group = self.group[entry]
        # Later rows overwrite earlier ones: so the best entry of each group comes last.
        for_last = np.argsort(-self.cost[entry], kind="stable")
        self.effect[group[for_last], feature[for_last]] = (self._sign(group) * (before - after))[for_last]

    def _log_odds(self, value: Array) -> Array:
        assert self.limits is not None
        low, high = self.limits
        share = np.clip((value - low) / (high - low), 1e-7, 1 - 1e-7)
        return np.log(share / (1 - share))

    def _answers(self, owner: Numbers, removed: NDArray[np.bool_]) -> Array:
        if not len(owner):  # all inputs that are searched have removed every feature, longer ones are not
            return np.zeros(0)
        device = self.present.device
        answers = self.score.keep_rows(torch.from_numpy(owner).to(device), ~torch.from_numpy(removed).to(device))
        values = answers.double().cpu().numpy()
        if self.limits is not None:
            low, high = self.limits
            if values.min() < low - 1e-6 or values.max() > high + 1e-6:
                raise InputError(
                    f"answers from {values.min():.6g} to {values.max():.6g}: outside the limits {self.limits}"
                )
        return values

    def _best(self, group: Numbers, cost: Array, key: Keys) -> Numbers:
        """The `width` cheapest children of every group, each set once if sets are merged; ties go by row."""
        rows = np.lexsort((cost, group))
        if self.merge:
            same = np.stack([group[rows].astype(np.uint64), key[rows]], axis=1)
            # Rows go up in cost, so that the first of each set is the cheapest; sorting puts them back in that order.
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
    def _bounds(self) -> Bounds:
        self.link()
        total, orders = self.totals(), self.orders()
        if not self.merge:  # the released code has no more than the paths that its beams end with
            for g, (cost, order) in self.finished.items():
                total[divmod(g, self.inputs)], orders[g, : len(order)] = cost, order
        return self.bounds(total, orders, self._certified(), self.widths.copy())

    def _certified(self) -> Array:
        """A sum that no path from the empty to the full set can fall below, [2, B]; NaN without limits.

        A path that is not visited whole has a first set that is not. Up to the set before, it costs at least the
        cheapest visited path to it. From there on every size costs at least its smallest answer where all sets of the
        size are visited, the limit where not.
        """
        if self.limits is None:
            return np.full((2, self.inputs), np.nan)
        bound = self.totals()
        for end, sign in enumerate((1, -1)):
            floor = min(sign * limit for limit in self.limits)
            rest = np.zeros(self.inputs)  # what the sizes above the present one cost at least
            for size in range(len(self.layers) - 1, -1, -1):
                layer = self.layers[size]
                open_ = layer.children < self.sizes[layer.owner] - size
                np.minimum.at(bound[end], layer.owner[open_], layer.best[end, open_] + rest[layer.owner[open_]])
                rest += self._least(layer, size, sign, floor)
        return bound

    def _least(self, layer: Layer, size: int, sign: int, floor: float) -> Array:
        """What a path pays at this size at least, [B]."""
        least = np.full(self.inputs, np.inf)
        np.minimum.at(least, layer.owner, sign * layer.values)
        visited = np.bincount(layer.owner, minlength=self.inputs)
        whole = np.array([visited[b] == comb(int(n), size) for b, n in enumerate(self.sizes)])
        return np.where(self.sizes < size, 0.0, np.where(whole, least, floor))
