"""A quantity of ours beside what the paper prints for it: what claims are written in.

    gain = saco("rollout") - saco("raw_attention")
    gain.ours.point, gain.published

Sums, differences and multiples act on both: ours (the reference's, where it has the values of single inputs) and the
published number. Products, ratios and absolute values are for display.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from faithbook.stats import estimate, evidence_levels
from faithbook.stats.estimate import Array, Estimate, Interval95
from faithlib.errors import InputError


@dataclass(frozen=True)
class Comparison:
    """Ours and the published value (NaN: not printed).

    - `evidence`: the evidence level that it rests on, the weaker of two where two are combined.
    - `published_n`: how many inputs the published value is of, where the paper says so.
    - `seeds` [S]: ours on each of several trained models alone; empty where there is one or none is told.
    - `repeats`: what the paper prints for it in its own repeat, one value of each (a second architecture, say).
    - `book`: the committed full run's value of the same quantity, where ours is that of another run.
    """

    ours: Estimate
    published: float = math.nan
    evidence: str = evidence_levels.SUBSTITUTE
    published_n: int | None = None
    seeds: Array = field(default_factory=lambda: np.empty(0), repr=False)
    repeats: tuple[float, ...] = ()
    book: Estimate | None = field(default=None, repr=False)

    def _with(self, other: Comparison | float, do: Callable[[Any, Any], Any]) -> Comparison:
        if not isinstance(other, Comparison):
            return replace(
                self,
                ours=do(self.ours, other),
                published=do(self.published, other),
                seeds=do(self.seeds, other),
                repeats=tuple(do(value, other) for value in self.repeats),
                book=None if self.book is None else do(self.book, other),
            )
        try:
            published = float(do(self.published, other.published))
        except ZeroDivisionError:
            published = math.nan
        result = _folded(do(self.ours, other.ours), lambda values: do(*values), [self, other], published)
        return _with_book(result, [self, other], lambda books: do(*books))

    def __add__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Comparison | float) -> Comparison:
        return self._with(other, lambda a, b: a / b)

    def __rsub__(self, other: float) -> Comparison:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Comparison:
        return self * -1.0

    def __abs__(self) -> Comparison:
        book = None if self.book is None else abs(self.book)
        return replace(self, ours=abs(self.ours), published=abs(self.published), repeats=(), book=book)

    @property
    def prediction(self) -> Interval95 | None:
        """Where a replication of the published value falls in 95 of 100, were it made on as many inputs as ours.

        Both sides are taken to spread as ours do: (half of our interval) * sqrt(1 + n / n published) on either side.
        None where the population is not the paper's own, or it prints no value or no n.
        """
        if self.evidence != evidence_levels.PAPER or not self.published_n or math.isnan(self.published):
            return None
        ours = self.ours.interval()
        wider = math.sqrt(1 + self.ours.n / self.published_n)
        low, high = (wider * abs(end - ours.estimate) for end in (ours.low, ours.high))
        return Interval95(self.published, self.published - high, self.published + low)

    @property
    def from_book(self) -> float:
        """Ours minus the book's value, in standard errors of the difference as if the inputs were different ones; NaN
        where there is none, one of them does not spread, or has fewer than ten clusters."""
        if self.book is None or min(self.ours.fewest, self.book.fewest) < estimate.FEWEST_CLUSTERS:
            return math.nan
        errors = self.ours.standard_error, self.book.standard_error
        return (float(self.ours.point) - float(self.book.point)) / math.hypot(*errors) if min(errors) > 0 else math.nan

    @property
    def z_difference(self) -> float:
        """Ours minus the published value, in standard errors of ours with the spread between seeds in it,
        sqrt(that of the inputs^2 + variance of seeds / S); NaN where none is printed or nothing spreads."""
        seeds = self.seeds[~np.isnan(self.seeds)]
        between = float(seeds.var(ddof=1)) / len(seeds) if len(seeds) > 1 else 0.0
        error = math.sqrt(self.ours.standard_error**2 + between)
        return (float(self.ours.point) - self.published) / error if error > 0 else math.nan


def combined(
    function: Callable[[Array], Array], quantities: Sequence[Comparison], *, published: float | None = None
) -> Comparison:
    """A smooth function of several quantities (a spread, a correlation): `function` maps [..., P] to [...].

    `published`: what the paper prints for it, where that is not the function of its printed values.

    Raises InputError for no quantities.
    """
    _require(quantities)
    if published is None:
        published = float(function(np.array([quantity.published for quantity in quantities])))
    ours = estimate.combined(function, [quantity.ours for quantity in quantities])
    result = _folded(ours, lambda values: function(np.stack(values, axis=-1)), quantities, published)
    return _with_book(result, quantities, lambda books: estimate.combined(function, books))


def log_ratio(numerator: Comparison, denominator: Comparison) -> Comparison:
    """The natural logarithm of a ratio: how ratios are tested. NaN where one of the two is not above zero."""

    def logarithm(pair: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.log(pair[..., 0]) - np.log(pair[..., 1]))

    return combined(logarithm, [numerator, denominator])


def variance_between(quantities: Sequence[Comparison]) -> Comparison:
    """The variance between several quantities, ours minus what noise alone would give; the published one is that of the
    printed values, of whose noise nothing is known.

    Means m_1 .. m_P that do not differ still have a variance: on average the mean over p of Var(m_p - mean of all),
    which is taken out of the point, so that it can lie below zero.
    """
    observed = combined(lambda values: np.asarray(values.var(axis=-1)), quantities)
    noise = _noise_between([quantity.ours for quantity in quantities])
    corrected = replace(observed, ours=observed.ours - noise, seeds=observed.seeds - noise)
    if observed.book is None:
        return corrected
    books = [quantity.book for quantity in quantities if quantity.book is not None]
    return replace(corrected, book=observed.book - _noise_between(books))


def _noise_between(estimates: Sequence[Estimate]) -> float:
    """The variance that means have between them which do not differ."""
    middle = estimate.average(estimates)
    return float(np.mean([(mean - middle).standard_error ** 2 for mean in estimates]))


def _require(quantities: Sequence[Comparison]) -> None:
    if not quantities:
        raise InputError("no quantities to combine")


def _folded(
    ours: Estimate, function: Callable[[list[Any]], Any], quantities: Sequence[Comparison], published: float
) -> Comparison:
    """What several quantities become together; `function` of their seeds, and of the values of the paper's repeats."""
    _require(quantities)
    sizes = [quantity.published_n for quantity in quantities if quantity.published_n is not None]
    numbers_of_seeds = {len(quantity.seeds) for quantity in quantities}
    as_many_seeds = len(numbers_of_seeds) == 1 and numbers_of_seeds != {0}
    as_many_repeats = len({len(quantity.repeats) for quantity in quantities}) == 1
    # Values of one seed, or of one repeat of the paper, belong together; other numbers of them do not pair up.
    repeats = zip(*(quantity.repeats for quantity in quantities), strict=True) if as_many_repeats else ()
    with np.errstate(invalid="ignore", divide="ignore"):
        seeds = np.asarray(function([quantity.seeds for quantity in quantities])) if as_many_seeds else np.empty(0)
        of_repeats = tuple(float(function([np.asarray(value) for value in values])) for values in repeats)
    return Comparison(
        ours,
        published,
        evidence_levels.weakest(quantity.evidence for quantity in quantities),
        min(sizes) if len(sizes) == len(quantities) else None,
        seeds,
        of_repeats,
    )


def _with_book(
    result: Comparison, quantities: Sequence[Comparison], function: Callable[[list[Estimate]], Estimate]
) -> Comparison:
    """What several quantities become together, beside what those of the book become, where it has all of them from the
    same resamples."""
    books = [quantity.book for quantity in quantities if quantity.book is not None]
    if len(books) < len(quantities) or any(book.resamples is not books[0].resamples for book in books):
        return result
    return replace(result, book=function(books))


def mean(quantities: Sequence[Comparison]) -> Comparison:
    """The mean of several quantities, each counted once. Raises InputError for none."""
    _require(quantities)
    total = quantities[0]
    for quantity in quantities[1:]:
        total = total + quantity
    return total / len(quantities)
