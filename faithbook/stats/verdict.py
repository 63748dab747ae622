"""The rules: pure functions from tested parts to a verdict, of one claim or of many at once.

    direction(Student.of(parts), k=2)            # are at least two of the parts above zero?
    direction(Student.of(parts), k=2).verdict

| rule | yes | else no | else equivalent | else |
| --- | --- | --- | --- | --- |
| `direction` | k of m parts above d | m - k + 1 parts below d | so many inside the margin that k are not above | open |
| `within` (a size, equality) | k of m intervals inside | m - k + 1 outside | | open |
| `order` | permutation p <= .025, lower end of tau > 0 | our order reliable, tau far below the paper's own | | open |
| `trend` | permutation p <= .025 | upper end of r below half of the printed r | | open |
| `same_number` | within half of the last printed digit, or a cause is named | otherwise | | |

Several parts are judged by *partial conjunction* (Benjamini & Heller 2008): at least k of m are so if
(m - k + 1) * p_(k) <= .025, the p-values sorted upward. The margin never turns a clear lead into a no. A part with
fewer than ten clusters in a stratum says nothing on either side. `faithbook.stats.calibrate` calls these functions to
measure how often they err: at d each of "yes" and "no" in at most 2.5 of 100, "equivalent" in as few at either edge of
the margin.

Shape letters: M parts of a claim, I items of an order, U units, R resamples, S splits, P permutations, "..." claims.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from faithbook.stats.estimate import ALPHA, FEWEST_CLUSTERS, Array
from faithbook.stats.inference import Inference
from faithlib.errors import InputError

FEWEST_PERMUTATIONS = 40
FEWEST_UNITS = 5
ENUMERATED = 10_000
"""Up to so many permutations all are looked at, beyond as many random ones."""
RELIABLE = 0.8
"""How well our own order has to agree with itself before it can contradict the paper's."""
PART_OF_AGREEMENT = 0.5
"""An order disagrees with the paper's where tau is surely below this part of the paper's own agreement."""
WITHOUT_REPEATS = 0.3
"""The line for tau where the paper prints its order once."""


class Verdict(enum.Enum):
    """What is decided about a claim."""

    YES = "reproduced"
    MIXED = "mixed"
    NO = "not reproduced"
    EQUIVALENT = "not reproduced (no difference above the margin)"
    UNDECIDED = "undecided"
    NOT_TESTED = "not tested"
    NOTHING = "nothing to test"

    @property
    def decision(self) -> str:
        """The word under which it is counted: equivalent counts as not reproduced."""
        return Verdict.NO.value if self is Verdict.EQUIVALENT else self.value

    def __str__(self) -> str:
        return self.value


Verdicts = NDArray[np.object_]
"""Verdicts [...] of many claims."""


@dataclass(frozen=True, eq=False)
class Result:
    """Verdicts [...] of a rule with its p-values of yes and no after the correction for parts (NaN where the rule has
    none), how many parts hold on their own, and why, where the verdict does not say it."""

    verdicts: Verdicts
    p_yes: Array
    p_no: Array
    passed: NDArray[np.int64]
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the one claim that was asked about."""
        return Verdict(self.verdicts.item())


def _decided(shape: tuple[int, ...], *cases: tuple[Verdict, NDArray[np.bool_]]) -> Verdicts:
    """The first verdict whose condition holds, else undecided."""
    verdicts = np.full(shape, Verdict.UNDECIDED, dtype=object)
    for verdict, holds in reversed(cases):
        verdicts[holds] = verdict
    return verdicts


def _few(parts: Inference) -> NDArray[np.bool_]:
    """Which parts [..., M] rest on fewer than ten clusters of a stratum: they say nothing, on either side."""
    return np.broadcast_to(np.asarray(parts.fewest) < FEWEST_CLUSTERS, np.shape(parts.point))


def _without(few: NDArray[np.bool_], p_values: Array) -> Array:
    """The p-values [..., M], 1 where a part says nothing."""
    return np.where(few, 1.0, p_values)


def _untested(few: NDArray[np.bool_], verdicts: Verdicts, needed: int) -> Verdicts:
    """The verdicts, "not tested" where they are open and fewer parts than are needed can be tested."""
    lacking = few.any(axis=-1) & ((~few).sum(axis=-1) < needed)
    verdicts[lacking & (verdicts == Verdict.UNDECIDED)] = Verdict.NOT_TESTED
    return verdicts


def not_tested(why: str, verdict: Verdict = Verdict.NOT_TESTED) -> Result:
    """A result without a test: what is not there, or has nothing to test."""
    nothing = np.array(np.nan)
    return Result(np.array(verdict, dtype=object), nothing, nothing, np.array(0), why)


# ------------------------------------------------------------------------------------------------------------ of parts
def parts_needed(k: int | str, m: int) -> int:
    """How many parts "all" or "most" (more than half) of m are. Raises InputError for a number that is not 1 to m."""
    if m < 1:
        raise InputError("a claim without parts: there is nothing to judge")
    if k == "all":
        return m
    if k == "most":
        return m // 2 + 1
    if not isinstance(k, int) or not 1 <= k <= m:
        raise InputError(f"{k} of {m} parts: expected all, most, or 1 to {m}")
    return k


def conjunction(p_values: ArrayLike, k: int) -> Array:
    """The p-value of "fewer than k of the M parts are so" from theirs [..., M]: (M - k + 1) times the k-th smallest."""
    p = np.sort(np.asarray(p_values, dtype=float), axis=-1)
    return np.asarray(np.minimum(1.0, (p.shape[-1] - k + 1) * p[..., k - 1]))


def direction(parts: Inference, k: int | str = "all", threshold: float = 0.0, margin: float | None = None) -> Result:
    """Are at least k of the M parts above the threshold?

    Yes: so by partial conjunction. No: m - k + 1 parts are below it. Equivalent: m - k + 1 parts are within the margin
    of it, so that k cannot be above by more. Raises InputError for no part, or a k that is not among 1 to M.
    """
    m = np.shape(parts.point)[-1]
    needed = parts_needed(k, m)
    rest = m - needed + 1
    few = _few(parts)
    above, below = _without(few, parts.p_above(threshold)), _without(few, parts.p_below(threshold))
    p_yes, p_no = conjunction(above, needed), conjunction(below, rest)
    equivalent = np.zeros(p_yes.shape, dtype=bool)
    if margin is not None:
        inside = np.maximum(parts.p_above(threshold - margin), parts.p_below(threshold + margin))
        equivalent = conjunction(_without(few, inside), rest) <= ALPHA
    verdicts = _decided(
        p_yes.shape,
        (Verdict.YES, p_yes <= ALPHA),
        (Verdict.NO, p_no <= ALPHA),
        (Verdict.EQUIVALENT, equivalent),
    )
    return Result(_untested(few, verdicts, needed), p_yes, p_no, (above <= ALPHA).sum(axis=-1))


def each(parts: Inference, threshold: float = 0.0, margin: float | None = None) -> Result:
    """Which of the M parts are above the threshold, where each is a statement of its own?

    Yes: all are. No, or equivalent: none is. Mixed: after correction for all parts some clearly are, and some clearly
    are not (below the threshold, or within the margin of it).
    """
    m = np.shape(parts.point)[-1]
    all_above, any_above = direction(parts, "all", threshold, margin), direction(parts, 1, threshold, margin)
    few = _few(parts)
    above, against = _without(few, parts.p_above(threshold)), _without(few, parts.p_below(threshold))
    if margin is not None:
        inside = np.maximum(parts.p_above(threshold - margin), parts.p_below(threshold + margin))
        against = np.minimum(against, _without(few, inside))
    one_is, one_is_not = m * above.min(axis=-1) <= ALPHA, m * against.min(axis=-1) <= ALPHA
    verdicts = _decided(
        all_above.verdicts.shape,
        (Verdict.YES, all_above.p_yes <= ALPHA),
        (Verdict.NO, any_above.p_no <= ALPHA),
        (Verdict.EQUIVALENT, any_above.verdicts == Verdict.EQUIVALENT),
        (Verdict.MIXED, one_is & one_is_not),
    )
    return Result(_untested(few, verdicts, m), all_above.p_yes, any_above.p_no, all_above.passed)


def within(parts: Inference, low: float, high: float, k: int | str = "all") -> Result:
    """Do k of the M parts lie between two values: within the range that words allow, or within a margin of zero?

    Yes: their intervals lie inside, by partial conjunction. No: those of m - k + 1 parts lie outside. Raises InputError
    for no part, a k that is not among 1 to M, or an empty range.
    """
    if not low < high:
        raise InputError(f"from {low} to {high} there is nothing")
    m = np.shape(parts.point)[-1]
    needed = parts_needed(k, m)
    few = _few(parts)
    inside = _without(few, np.maximum(parts.p_above(low), parts.p_below(high)))
    outside = _without(few, np.minimum(parts.p_below(low), parts.p_above(high)))
    p_yes, p_no = conjunction(inside, needed), conjunction(outside, m - needed + 1)
    verdicts = _decided(
        p_yes.shape,
        (Verdict.YES, p_yes <= ALPHA),
        (Verdict.NO, p_no <= ALPHA),
    )
    return Result(_untested(few, verdicts, needed), p_yes, p_no, (inside <= ALPHA).sum(axis=-1))


def whole(halves: Sequence[Verdict]) -> Verdict:
    """A sentence of several statements from the verdict on each of them.

    Reproduced, or not: all of them are. Mixed: some are and some are not. Undecided: neither, and one is open. A
    statement that leaves nothing to test has no say, unless none has.

    >>> str(whole([Verdict.YES, Verdict.EQUIVALENT])), str(whole([Verdict.NO, Verdict.UNDECIDED]))
    ('mixed', 'undecided')
    """
    if not halves:
        raise InputError("a claim without statements: there is nothing to judge")
    halves = [half for half in halves if half is not Verdict.NOTHING]
    if not halves:
        return Verdict.NOTHING
    if all(half is Verdict.NOT_TESTED for half in halves):
        return Verdict.NOT_TESTED
    against = [half for half in halves if half in (Verdict.NO, Verdict.EQUIVALENT)]
    if len(against) == len(halves):
        return Verdict.NO if Verdict.NO in against else Verdict.EQUIVALENT
    if all(half is Verdict.YES for half in halves):
        return Verdict.YES
    if Verdict.MIXED in halves or (against and Verdict.YES in halves):
        return Verdict.MIXED
    return Verdict.UNDECIDED


# ------------------------------------------------------------------------------------------------------------- orders
def order_signs(values: ArrayLike) -> Array:
    """The sign of the difference of every two of I items, [..., I (I - 1) / 2]: all that an order is."""
    items = np.asarray(values, dtype=float)
    first, second = np.triu_indices(items.shape[-1], 1)
    return np.asarray(np.sign(items[..., first] - items[..., second]))


def tau_of_signs(ours: Array, theirs: Array) -> Array:
    """Kendall's tau-b of two orders, given as `order_signs`; NaN where all items of one are the same."""
    untied = (ours != 0).sum(axis=-1) * (theirs != 0).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((ours * theirs).sum(axis=-1) / np.sqrt(untied))


@functools.lru_cache(maxsize=16)
def permutations_of(blocks: tuple[object, ...]) -> NDArray[np.int64]:
    """Ways [P, I] in which items change places, the identity first: items of one block together, and only with a block
    of the same size. All of them, or 10,000 random ones."""
    places_of: dict[object, list[int]] = {}
    for place, block in enumerate(blocks):
        places_of.setdefault(block, []).append(place)
    by_size: dict[int, list[list[int]]] = {}
    for places in places_of.values():
        by_size.setdefault(len(places), []).append(places)
    number = math.prod(math.factorial(len(group)) for group in by_size.values())
    generator = np.random.default_rng(0)
    ways: list[list[tuple[int, ...]]] = []  # of each size of block, the orders that its blocks take
    if number <= ENUMERATED:
        separate = [itertools.permutations(range(len(group))) for group in by_size.values()]
        ways = [list(way) for way in itertools.product(*separate)]
    else:
        ways = [[tuple(range(len(group))) for group in by_size.values()]]
        for _ in range(ENUMERATED - 1):
            ways.append([tuple(generator.permutation(len(group)).tolist()) for group in by_size.values()])
    permuted = np.tile(np.arange(len(blocks)), (len(ways), 1))
    for row, way in enumerate(ways):
        for group, taken in zip(by_size.values(), way, strict=True):
            for to, come_from in zip(group, taken, strict=True):
                permuted[row, to] = group[come_from]
    permuted.flags.writeable = False
    return permuted


def permutation_p(ours: ArrayLike, published: ArrayLike, blocks: Sequence[object] | None = None) -> Array:
    """The p-value of "the order of ours has nothing to do with the published one", of M orders together [..., M, I].

    The published items of every order change places alike; counted is how often the mean of tau-b is as high.
    """
    mine, theirs = np.asarray(ours, dtype=float), np.asarray(published, dtype=float)
    places = permutations_of(tuple(range(theirs.shape[-1]) if blocks is None else blocks))
    signs = order_signs(mine)  # [..., M, pairs]
    total: Array = np.zeros((*mine.shape[:-2], len(places)))
    for m in range(theirs.shape[-2]):
        moved = order_signs(theirs[m][places])  # [P, pairs]
        own = signs[..., m, :]
        untied = (own != 0).sum(axis=-1)[..., None] * (moved != 0).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = total + np.nan_to_num(own @ moved.T / np.sqrt(untied))
    return np.asarray((total >= total[..., :1] - 1e-9).mean(axis=-1))


@dataclass(frozen=True, eq=False)
class Agreement:
    """Kendall's tau-b of our orders with the published ones, their mean [...]: with its 95 % interval over inputs, the
    same with the bias of noise taken out (noise in our means makes every tau smaller), and the reliability of our
    orders, how well two halves of the inputs agree, by Spearman's rank correlation stepped up to all inputs."""

    tau: Array
    low: Array
    high: Array
    corrected: Array
    corrected_high: Array
    reliability: Array


def agreement_of(
    points: ArrayLike, published: ArrayLike, replicates: ArrayLike, halves: ArrayLike, fewest: int
) -> Agreement:
    """points: [..., M, I]; published: [M, I]; replicates: [R, ..., M, I]; halves: [S, 2, ..., M, I]."""
    theirs = order_signs(published)
    tau = tau_of_signs(order_signs(points), theirs).mean(axis=-1)
    drawn = tau_of_signs(order_signs(replicates), theirs).mean(axis=-1)  # [R, ...]
    corrected = 2 * tau - np.nanmean(drawn, axis=0)
    factor = fewest / (fewest - 1) if fewest > 1 else np.nan
    half = scipy.stats.t.ppf(1 - ALPHA, max(fewest - 1, 1)) * np.sqrt(np.nanvar(drawn, axis=0) * factor)
    first, second = np.moveaxis(np.asarray(halves, dtype=float), 1, 0)
    agreeing = _spearman(first, second).mean(axis=(0, -1))
    reliability = 2 * agreeing / (1 + np.maximum(agreeing, 0.0))
    return Agreement(tau, tau - half, tau + half, corrected, corrected + half, reliability)


def _spearman(first: Array, second: Array) -> Array:
    """Spearman's rank correlation over the last axis; 0 where one side is the same for all."""
    x, y = scipy.stats.rankdata(first, axis=-1), scipy.stats.rankdata(second, axis=-1)
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    norm = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    return np.asarray(np.where(norm > 0, (x * y).sum(axis=-1) / np.where(norm > 0, norm, 1.0), 0.0))


def order(
    points: ArrayLike,
    published: ArrayLike,
    replicates: ArrayLike,
    halves: ArrayLike,
    fewest: int,
    *,
    blocks: Sequence[object] | None = None,
    own_agreement: float | None = None,
) -> Result:
    """Are M orders of the same I items the published ones, taken together?

    points, published, replicates, halves, fewest: as `agreement_of` takes them. blocks: [I], items that change places
    together. own_agreement: tau between the paper's own repeats of the order, where it prints it twice.

    Raises InputError for no orders, or for orders that do not have the same items.
    """
    mine, theirs = np.asarray(points, dtype=float), np.asarray(published, dtype=float)
    if not mine.size or mine.shape[-2:] != theirs.shape:
        raise InputError(f"orders {mine.shape} and published ones {theirs.shape}: expected as many of as many items")
    number = len(permutations_of(tuple(range(theirs.shape[-1]) if blocks is None else blocks)))
    if number < FEWEST_PERMUTATIONS:
        return not_tested(f"{number} permutations, fewer than {FEWEST_PERMUTATIONS}")
    if fewest < FEWEST_CLUSTERS:
        return not_tested(f"{fewest} independent inputs, fewer than {FEWEST_CLUSTERS}")
    p = permutation_p(mine, theirs, blocks)
    found = agreement_of(mine, theirs, replicates, halves, fewest)
    line = WITHOUT_REPEATS if own_agreement is None else PART_OF_AGREEMENT * own_agreement
    verdicts = _decided(
        p.shape,
        (Verdict.YES, (p <= ALPHA) & (found.low > 0)),
        (Verdict.NO, (found.reliability >= RELIABLE) & (found.corrected_high < line)),
    )
    each_p = np.stack([permutation_p(mine[..., [m], :], theirs[[m]], blocks) for m in range(len(theirs))], axis=-1)
    return Result(verdicts, p, np.full(p.shape, np.nan), (each_p <= ALPHA).sum(axis=-1))


def own_repeat_agrees(first: ArrayLike, second: ArrayLike, blocks: Sequence[object] | None = None) -> bool:
    """Whether the paper's own repeats [M, I] of its orders pass the rule for orders, by their points."""
    return bool(permutation_p(np.asarray(first, dtype=float), np.asarray(second, dtype=float), blocks) <= ALPHA)


def trend(x: ArrayLike, y: ArrayLike, printed_r: float | None = None) -> Result:
    """Does y rise with x over the U units that the claim names? By Pearson's r.

    x, y: [..., U]. printed_r: the paper's r. Not tested with fewer than five units or where a unit has no value.
    """
    first, second = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    units = first.shape[-1] if first.ndim else 0
    if units < FEWEST_UNITS:
        return not_tested(f"{units} units, fewer than {FEWEST_UNITS}")
    if np.isnan([first, second]).any():
        return not_tested("a unit without a value")
    first, second = first - first.mean(axis=-1, keepdims=True), second - second.mean(axis=-1, keepdims=True)
    norm = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    moved = np.moveaxis(second[..., permutations_of(tuple(range(units)))], -2, 0)  # [P, ..., U]
    along = (moved * first).sum(axis=-1)
    p = (along >= along[0] - 1e-12 * np.abs(along).max(axis=0)).mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = along[0] / norm
        z = np.arctanh(np.clip(r, -1.0, 1.0)) + scipy.stats.norm.ppf(1 - ALPHA) / math.sqrt(units - 3)
    line = -np.inf if printed_r is None else PART_OF_AGREEMENT * printed_r
    verdicts = _decided(
        p.shape,
        (Verdict.NOT_TESTED, ~(norm > 0)),  # one side is the same for all units
        (Verdict.YES, p <= ALPHA),
        (Verdict.NO, np.tanh(z) < line),
    )
    return Result(verdicts, p, np.full(p.shape, np.nan), (p <= ALPHA).astype(int))


# ----------------------------------------------------------------------------------------------------- the same number
def half_digit(text: str) -> float:
    """Half a unit of the last printed digit.

    >>> half_digit("0.82"), half_digit("12")
    (0.005, 0.5)
    """
    digits = text.strip().partition(".")[2]
    return 0.5 * 10.0 ** -len(digits)


def same_number(
    ours: ArrayLike, published: Sequence[str], *, tolerance: float | None = None, causes: Sequence[str] | None = None
) -> Result:
    """Is every number the printed one, within half a unit of its last digit (or `tolerance`), or is its cause named?

    causes: of each number why it is another one, "" where nobody knows. Raises InputError for no numbers, or other
    numbers of ours, printed ones and causes.
    """
    values = np.asarray(ours, dtype=float)
    known = np.array([bool(cause) for cause in causes or [""] * len(published)])
    if not len(published) or not len(values) == len(published) == len(known):
        raise InputError(f"{len(values)} numbers, {len(published)} printed ones, {len(known)} causes: expected as many")
    allowed = np.array([half_digit(text) if tolerance is None else tolerance for text in published])
    close = np.abs(values - [float(text) for text in published]) <= allowed * (1 + 1e-9)
    yes, nothing = bool((close | known).all()), np.array(np.nan)
    why = "the numbers that differ do so for a known cause" if yes and not close.all() else ""
    verdict = Verdict.YES if yes else Verdict.NO
    return Result(np.array(verdict, dtype=object), nothing, nothing, np.array(close.sum()), why)
