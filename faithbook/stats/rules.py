"""The rules by which claims are judged: each takes quantities, and answers yes, no, or why neither.

Every rule promises its errors (measured by `data/reference/calibrate.py`): at equality it says no in at most 5 of 100
on either side, and yes as seldom. A claim of several parts is judged by *partial conjunction* (Benjamini & Heller
2008): at least k of m parts are true if (m - k + 1) * p_(k) <= .025, the p-values sorted upward; that fewer are is said
by the p-values of the other side.

Margins are the smallest effects of interest: .05 on shares, correlations and coefficients, .02 on probabilities, unless
the paper names one.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from faithbook.stats.agreement import tau_b, tau_of
from faithbook.stats.estimates import FEWEST_CLUSTERS, Estimate
from faithbook.stats.p_values import moved_outward
from faithlib.errors import InputError, unknown

YES, NO, INCONCLUSIVE = "yes", "no", "inconclusive"
LEVEL, PARTLY, UNTESTABLE = "level", "partly", "not testable"
EXPLAINED = "explained"
"""Of a number worked out twice: not everywhere the printed one, but most are, and every other has a known cause."""
DEPENDS = "depends"
"""One option of a choice that the paper does not report says yes, another no."""
NO_ORDER = "no order to reproduce"
SET_UP, NOT_RECOMPUTABLE, NOT_RUN = "set up as published", "not recomputable", "not run"

REPRODUCED, MIXED, NOT_REPRODUCED, UNDECIDED = "reproduced", "mixed", "not reproduced", "undecided"
NOT_TESTED, NOTHING = "not tested", "nothing to test"
DECISIONS = (REPRODUCED, MIXED, NOT_REPRODUCED, UNDECIDED, NOT_TESTED, NOTHING)
"""What is decided about a claim, one of six."""
_DECIDES = {
    YES: (REPRODUCED, ""),
    EXPLAINED: (REPRODUCED, "the numbers that differ do so for a known cause"),
    PARTLY: (MIXED, "some comparisons support it, others contradict it"),
    DEPENDS: (MIXED, "depends on a choice that the paper does not report"),
    NO: (NOT_REPRODUCED, ""),
    LEVEL: (NOT_REPRODUCED, "the difference is smaller than the smallest effect of interest"),
    INCONCLUSIVE: (UNDECIDED, ""),
    UNTESTABLE: (NOT_TESTED, "about data, a model or a language that we do not have, or with too few inputs"),
    NOT_RUN: (NOT_TESTED, "not computed at this profile"),
    NO_ORDER: (NOTHING, "the paper's own repeats disagree on the ranking"),
    SET_UP: (NOTHING, "a table of the set-up"),
    NOT_RECOMPUTABLE: (NOTHING, "an illustration, or people's annotations"),
}
"""By answer, what it decides, and the reason where it says more than that."""

ALPHA, POWER = 0.025, 0.8
FEWEST_FOR_SEVERAL_NO = 24
"""Clusters that a "no" from several parts needs."""
STRONG_SKEW = 1.0
"""Of the values of a part (of several: the median): beyond it the tail that a sample lacks makes answers on the other
side of it too frequent, and they are not given. A "yes" from all of several parts needs no such care."""
TOO_SKEWED = "the values are too skewed to test with this few inputs"
BY_RANGE = "of strongly skewed values, by a bound that holds for any values in their range"
FEWEST_TREND_UNITS = 5
FEWEST_PERMUTATIONS = 40
_ENUMERATED = 10_000


@dataclass(frozen=True)
class Decision:
    """What a rule says: its answer, how many of its parts say yes on their own (p <= .025), and the p-values of both
    sides after the correction for parts."""

    answer: str
    passed: int
    parts: int
    p_yes: float = math.nan
    p_no: float = math.nan
    why: str = ""

    @property
    def decision(self) -> str:
        """What it decides about a claim, one of `DECISIONS`. An effect smaller than the smallest of interest (*level*)
        is not reproduced. Tables of the set-up, illustrations, people's marks, and rankings on which the paper's own
        repeats disagree leave nothing to test, so that they are not findings."""
        return _DECIDES[self.answer][0]

    @property
    def reason(self) -> str:
        """Why, where the answer of the rule says more than the decision."""
        return _DECIDES[self.answer][1]

    def __str__(self) -> str:
        text = f"{self.answer} ({self.passed} of {self.parts})" if self.parts > 1 else self.answer
        return f"{text}: {self.why}" if self.why else text


# --------------------------------------------------------------------------------------------------- above a threshold
def above(quantity: Estimate, d: float = 0.0, *, margin: float | None = None) -> Decision:
    """Is the quantity above `d`? Within `margin` of d on its whole interval it is level, even where that excludes d."""
    return k_of([quantity], 1, d, margin=margin)


def k_of(parts: Sequence[Estimate], k: int | str, d: float = 0.0, *, margin: float | None = None) -> Decision:
    """Are at least `k` of the parts above `d`? `k`: a number, "all", or "most" (more than half).

    Yes: (m - k + 1) * p_(k) <= .025. No: k * p'_(m - k + 1) <= .025 with p' of "below d", from 24 clusters on where
    there are several parts. Partly: neither, but after correction for all parts one is above and one below. Where
    strong skew would leave an answer open, that of a bound for any values in their range stands (`Estimate.p_bounded`).

    Raises InputError for no part or a k that is not among 1 to m.
    """
    m = len(parts)
    needed = parts_needed(k, m)
    if few := _too_few(parts):
        return few
    skew, fewest = float(np.median([part.skewness for part in parts])), min(part.clusters for part in parts)

    def decided(p_of: Callable[[Estimate, float], float], skew: float) -> Decision:
        return conjunction([p_of(part, d) for part in parts], [p_of(-part, -d) for part in parts], needed, fewest, skew)

    decision = decided(Estimate.p_above, skew)
    if decision.why == TOO_SKEWED:
        bounded = decided(Estimate.p_bounded, 0.0)
        if bounded.answer != INCONCLUSIVE:
            decision = replace(bounded, passed=decision.passed, why=BY_RANGE)
    if margin is not None and all((part - d).interval().inside(margin) for part in parts):
        return replace(decision, answer=LEVEL, why=f"every interval lies within {margin:g} of {d:g}")
    return decision


def each(parts: Sequence[Estimate], d: float = 0.0, *, margin: float | None = None) -> Decision:
    """Which of the parts are above `d`? Yes: all are; no: none is; partly: some clearly are and some clearly are not.

    For a claim whose parts are claims of their own (two halves of a sentence, one answer per metric), so that one part
    does not decide about the others.
    """
    return of_each(k_of(parts, "all", d, margin=margin), k_of(parts, 1, d, margin=margin))


def of_each(every: Decision, some: Decision) -> Decision:
    """`each` from the decisions on "all of them are" and "one of them is"."""
    if every.answer != NO or some.answer == NO:
        return every
    if some.answer == YES:
        return replace(every, answer=PARTLY, why="some comparisons clearly support it and others clearly contradict it")
    return replace(every, answer=INCONCLUSIVE)


def leader(parts: Sequence[Estimate], *, margin: float | None = None) -> Decision:
    """Is each of the leads above zero? Level where one of them is, but is below `margin`, after correction for all."""
    decision = k_of(parts, "all")
    level = [part for part in parts if margin is not None and len(parts) * part.p_below(margin) <= ALPHA]
    if decision.answer != YES or not level:
        return decision
    return replace(
        decision, answer=LEVEL, why=f"in front, but by less than {margin:g} on {len(level)} of {len(parts)} parts"
    )


def conjunction(
    yes: Sequence[float] | NDArray[np.float64],
    no: Sequence[float] | NDArray[np.float64],
    needed: int,
    clusters: int,
    skew: float = 0.0,
) -> Decision:
    """Partial conjunction of the parts' p-values of either side: whether `needed` of them are so; `skew`: the median
    over parts of their values' skewness."""
    m, up, down = len(yes), np.sort(yes), np.sort(no)
    p_yes = min(1.0, float((m - needed + 1) * up[needed - 1]))
    p_no = min(1.0, float(needed * down[m - needed]))
    passed = int((up <= ALPHA).sum())
    clear = m * up[0] <= ALPHA and m * down[0] <= ALPHA
    if p_yes <= ALPHA:
        if (needed < m or m == 1) and skew < -STRONG_SKEW:
            return Decision(INCONCLUSIVE, passed, m, p_yes, p_no, TOO_SKEWED)
        return Decision(YES, passed, m, p_yes, p_no)
    if p_no <= ALPHA and (m == 1 or clusters >= FEWEST_FOR_SEVERAL_NO):
        if skew > STRONG_SKEW:
            return Decision(INCONCLUSIVE, passed, m, p_yes, p_no, TOO_SKEWED)
        return Decision(NO, passed, m, p_yes, p_no)
    if clear and abs(skew) <= STRONG_SKEW:
        return Decision(PARTLY, passed, m, p_yes, p_no, "some parts are clearly above and others clearly below")
    return Decision(INCONCLUSIVE, passed, m, p_yes, p_no)


def _too_few(parts: Sequence[Estimate]) -> Decision | None:
    fewest = min(part.clusters for part in parts)
    why = f"{fewest} independent inputs, fewer than {FEWEST_CLUSTERS}"
    return Decision(UNTESTABLE, 0, len(parts), why=why) if fewest < FEWEST_CLUSTERS else None


def parts_needed(k: int | str, m: int) -> int:
    """How many parts "all" or "most" of m are. Raises InputError for a number that is not among 1 to m."""
    if isinstance(k, str):
        named = {"all": m, "most": m // 2 + 1}
        if k not in named:
            raise unknown("number of parts", k, [*named, "a number"])
        return named[k]
    if not 1 <= k <= m:
        raise InputError(f"{k} of {m} parts: expected 1 to {m}")
    return k


def equal(parts: Sequence[Estimate], margin: float, *, k: int | str = "all") -> Decision:
    """Are `k` of the parts within `margin` of zero (two one-sided tests each)?

    No where the interval of the one part lies outside; of several parts by their p-values of lying outside.
    """
    needed = parts_needed(k, len(parts))
    if few := _too_few(parts):
        return few
    inside = [max(part.p_above(-margin), part.p_below(margin)) for part in parts]
    outside = [min(part.p_above(margin), part.p_below(-margin)) for part in parts]
    if len(parts) == 1:
        interval = parts[0].interval()
        outside = outside if interval.low > margin or interval.high < -margin else [1.0]
    return conjunction(inside, outside, needed, min(part.clusters for part in parts))


# --------------------------------------------------------------------------------------------------- orders and trends
@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b of several orders of the same items with the published ones, one each and their mean, and how
    rare they are where all change places alike: the share of permutations with a tau as high, or as low."""

    taus: NDArray[np.float64]
    each_above: NDArray[np.float64]
    mean: float
    above: float
    below: float
    permutations: int

    @classmethod
    def of(cls, ours: ArrayLike, published: ArrayLike, blocks: Sequence[object] | None) -> Agreement:
        """Of values [M, I] of M orders of I items; `blocks` as `orders` takes them."""
        mine, theirs = np.asarray(ours, dtype=float), np.asarray(published, dtype=float)
        places = _permutations(tuple(range(mine.shape[1]) if blocks is None else blocks))
        moved = np.nan_to_num([tau_b(one[places], other) for one, other in zip(mine, theirs, strict=True)])  # [M, P]
        together, seen = moved.mean(0), moved[:, :1] - 1e-9
        above, below = (together >= together[0] - 1e-9).mean(), (together <= together[0] + 1e-9).mean()
        return cls(
            moved[:, 0], (moved >= seen).mean(1), float(together[0]), float(above), float(below), places.shape[0]
        )

    @property
    def answer(self) -> str:
        """Whether orders without a spread of their own, as those that a paper prints twice, are the same."""
        return YES if self.above <= ALPHA else NO if self.below <= ALPHA else INCONCLUSIVE


def orders(
    several: Sequence[tuple[Sequence[Estimate], Sequence[float]]],
    blocks: Sequence[object] | None = None,
    *,
    repeats_agree: bool | None = None,
) -> Decision:
    """Are several orders of the same items (two outputs, two models) the published ones, taken together? By the mean of
    Kendall's tau-b with the published values, one p-value for all: the items of every order change places alike.

    Yes: the permutation p-value is at most .025 and the lower end of the mean's interval is above zero; no: the same
    the other way round. `blocks` [I]: items of one name change places together, and only with blocks of the same size
    (aggregations of one method); at least 40 distinct permutations are needed. `repeats_agree`: whether the paper's own
    repeats of the order agree with one another; where they do not, there is no order to reproduce.

    Raises InputError where orders differ in their number of items.
    """
    m, everything = len(several), [item for items, _ in several for item in items]
    sizes = {size for items, published in several for size in (len(items), np.size(published))}
    if len(sizes) > 1:
        raise InputError(f"orders and published values of {', '.join(map(str, sorted(sizes)))} items: expected as many")
    if repeats_agree is False:
        return Decision(NO_ORDER, 0, m)
    if few := _too_few(everything):
        return replace(few, parts=m)
    theirs = np.array([published for _, published in several], dtype=float)
    agreement = Agreement.of([[item.point for item in items] for items, _ in several], theirs, blocks)
    passed = int((agreement.each_above <= ALPHA).sum())
    if agreement.permutations < FEWEST_PERMUTATIONS:
        why = f"{agreement.permutations} permutations, fewer than {FEWEST_PERMUTATIONS}"
        return Decision(UNTESTABLE, 0, m, why=why)
    # The 95 % interval over inputs of the mean of several taus.
    drawn = np.mean([tau_of(items, published).draws for items, published in several], axis=0)
    low, high = np.nanquantile(drawn, [ALPHA, 1 - ALPHA])
    low, high = moved_outward(np.array(agreement.mean), low, high, min(item.clusters for item in everything))
    yes, no = agreement.above <= ALPHA and low > 0, agreement.below <= ALPHA and high < 0
    return Decision(YES if yes else NO if no else INCONCLUSIVE, passed, m, agreement.above, agreement.below)


@functools.lru_cache(maxsize=16)
def _permutations(blocks: tuple[object, ...]) -> NDArray[np.int64]:
    """Ways [P, I] in which blocks of equal size change places, the identity first: all, or a random 10,000."""
    sizes: dict[int, list[list[int]]] = {}
    for block in dict.fromkeys(blocks):
        held = [place for place, one in enumerate(blocks) if one == block]
        sizes.setdefault(len(held), []).append(held)
    groups = [np.array(group) for group in sizes.values()]  # of each size, places [blocks, size]
    number = math.prod(math.factorial(len(group)) for group in groups)
    if number <= _ENUMERATED:
        every = itertools.product(*(itertools.permutations(range(len(group))) for group in groups))
        ways = [np.array(way) for way in zip(*every, strict=True)]
    else:
        generator = np.random.default_rng(0)
        ways = [generator.permuted(np.tile(range(len(group)), (_ENUMERATED, 1)), axis=1) for group in groups]
        for way in ways:
            way[0] = range(way.shape[1])
    places = np.tile(np.arange(len(blocks)), (min(number, _ENUMERATED), 1))
    for group, way in zip(groups, ways, strict=True):
        places[:, group] = group[way]
    return places


def trend(x: ArrayLike, y: ArrayLike) -> Decision:
    """Does y rise with x over the units that the claim names? By Pearson's r and a permutation test, exact where
    there are at most 10,000 permutations; not testable with fewer than five units."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(f"x has shape {a.shape} and y {b.shape}: expected one value of each a unit")
    if np.isnan([a, b]).any():
        return Decision(UNTESTABLE, 0, 1, why="a unit without a value")
    if len(a) < FEWEST_TREND_UNITS:
        return Decision(UNTESTABLE, 0, 1, why=f"{len(a)} units, fewer than {FEWEST_TREND_UNITS}")
    a, b = a - a.mean(), b - b.mean()
    if not a.any() or not b.any():
        return Decision(UNTESTABLE, 0, 1, why="one side is the same for all units")
    along, seen = b[_permutations(tuple(range(len(b))))] @ a, float(b @ a)
    tolerance = 1e-12 * float(np.abs(along).max())
    p_yes, p_no = float((along >= seen - tolerance).mean()), float((along <= seen + tolerance).mean())
    answer = YES if p_yes <= ALPHA else NO if p_no <= ALPHA else INCONCLUSIVE
    return Decision(answer, int(answer == YES), 1, p_yes, p_no)


# ----------------------------------------------------------------------------------------------------- the same number
def same(
    ours: ArrayLike,
    published: Sequence[str],
    *,
    tolerance: float | None = None,
    causes: Sequence[str] | None = None,
) -> Decision:
    """Is every cell the published one? Within half a unit of its last printed digit, or within `tolerance`.

    `causes`: why a cell is another one, "" where nobody knows. Where more than half of the cells are the published ones
    and every other has a cause, the differences are explained.

    >>> str(same([0.8249, 0.31], ["0.82", "0.30"])), str(same([1, 2, 4], ["1", "2", "3"], causes=["", "", "a slip"]))
    ('no (1 of 2)', 'explained (2 of 3)')
    """
    values = np.asarray(ours, dtype=float)
    if len(values) != len(published) or not len(values):
        raise InputError(f"{len(values)} values and {len(published)} published ones: expected as many, at least one")
    allowed = [half_digit(text) if tolerance is None else tolerance for text in published]
    close = np.abs(values - [float(text) for text in published]) <= np.array(allowed) * (1 + 1e-9)
    known = close | np.array(causes or [""] * len(close), dtype=bool)
    explained = 2 * close.sum() > len(close) and known.all()
    return Decision(YES if close.all() else EXPLAINED if explained else NO, int(close.sum()), len(close))


def half_digit(text: str) -> float:
    """Half a unit of the last printed digit.

    >>> half_digit("0.82"), half_digit("12")
    (0.005, 0.5)
    """
    digits = text.strip().partition(".")[2]
    return 0.5 * 10.0 ** -len(digits)


# ----------------------------------------------------------------------------------------------- what would decide it
def smallest_detectable(quantity: Estimate) -> float:
    """The effect that an above-zero test on as many clusters finds with a power of .8: (t(.975) + t(.8)) * SE."""
    freedom = quantity.clusters - 1
    if freedom < 1:
        return math.inf
    quantiles = scipy.stats.t.ppf(1 - ALPHA, freedom) + scipy.stats.t.ppf(POWER, freedom)
    return float(quantiles * quantity.standard_error)


def reach(alpha: float = ALPHA) -> float:
    """How many standard errors from a line a value lies that is found there at this level with a power of .8."""
    return float(scipy.stats.norm.ppf(1 - alpha) + scipy.stats.norm.ppf(POWER))


def how_many(quantity: Estimate, effect: float | None = None) -> int:
    """Clusters that would decide whether the quantity is above zero, were its true value `effect` (default: its point).

    By the normal approximation from the present spread, with a power of .8; 0 where nothing spreads. Raises InputError
    for no effect.
    """
    size = abs(quantity.point if effect is None else effect)
    if not size > 0:
        raise InputError("an effect of zero: no number of inputs shows it")
    spread = quantity.standard_error * math.sqrt(quantity.clusters)
    return math.ceil((reach() * spread / size) ** 2)
