"""The verdict of an interval on "more than this", for models that a reader brings: pages of the book have `rules`."""

from __future__ import annotations

from faithbook.results.resampling import Interval

HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"
FEWEST_UNITS = 10


def verdict(interval: Interval, *, above: float = 0.0) -> str:
    """Verdict on "the quantity is larger than `above`": holds, fails or inconclusive, by which side the interval is on.

    Always inconclusive where a cell has fewer than 10 inputs: a bootstrap cannot see what it did not draw, and three
    inputs that agree give an interval of a single point. Where the number of inputs is not known, an interval without
    width is taken for such a case; where it is, it may be a rank or a count that no resample changes.

    >>> verdict(Interval(0.1, 0.02, 0.2, 50)), verdict(Interval(0.1, -0.02, 0.2, 50)), verdict(Interval(1.0, 1, 1, 4))
    ('holds', 'inconclusive', 'inconclusive')
    """
    few = interval.low == interval.high if interval.units is None else interval.units < FEWEST_UNITS
    if few:
        return INCONCLUSIVE
    if interval.low > above:
        return HOLDS
    return FAILS if interval.high < above else INCONCLUSIVE
