"""Quantities as numbers: in the rows of tables, and in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Estimate
from faithbook.text import MINUS

ENDS = ("estimate", "low", "high")


def ends_of(of: Comparison | Estimate, *names: str) -> dict[str, float]:
    """A quantity (of a pair: ours) and the ends of its 95 % interval under three names, `ENDS` by default; a single
    name stands for itself, itself low and itself high. Of a run beside the book also the book's value, and how many
    standard errors it is away."""
    if len(names) == 1:
        names = (names[0], f"{names[0]} low", f"{names[0]} high")
    interval = _ours(of).interval()
    ends = dict(zip(names or ENDS, (interval.estimate, interval.low, interval.high), strict=True))
    if isinstance(of, Comparison) and of.book is not None:
        first = (names or ENDS)[0]
        ends |= {f"{first}, book": float(of.book.point), f"{first}, apart (SE)": of.from_book}
    return ends


def published_ends(pair: Comparison) -> dict[str, float]:
    """The published value of a pair under the same names, without an interval."""
    return dict(zip(ENDS, (pair.published, math.nan, math.nan), strict=True))


def row_of(of: Comparison | Estimate, *names: str) -> dict[str, float]:
    """The same, and `n`: how many units it is of."""
    return ends_of(of, *names) | {"n": _ours(of).n}


def listed(cells: Mapping[Any, Comparison | Estimate], columns: Sequence[str]) -> pd.DataFrame:
    """Quantities by their labels as a frame: the labels, estimate, low, high, n."""
    rows = [dict(zip(columns, labels, strict=True)) | row_of(cell) for labels, cell in cells.items()]
    named = [*columns, *ENDS, "n"]
    beside_book = [name for row in rows for name in row if name not in named]
    return pd.DataFrame(rows, columns=[*named, *dict.fromkeys(beside_book)])


def written(x: float, form: str) -> str:
    """A number in this format as the book writes it: with a zero before the point, a minus sign that is no hyphen, and
    no minus before a zero.

    >>> written(-0.004, ".2f"), written(-0.04, ".2f"), written(-0.001, "+.0%")
    ('0.00', '−0.04', '0%')
    """
    text = f"{x:{form}}".replace("-", MINUS)
    return text if re.search("[1-9a-z]", text) else text.lstrip(MINUS)


def spoken(of: Any, form: str = ".3f", *, n: bool = False) -> str:
    """A quantity, or what else has an estimate, low and high (an interval, a row of a frame), in words; `form`: the
    format of each number; `n`: whether to say how many units a quantity is of.

    >>> from faithbook.stats.estimate import Interval95
    >>> spoken(Interval95(0.5, 0.25, 0.75), ".2f"), spoken(Interval95(0.5, 0.25, 0.75), "+.0%")
    ('0.50 [0.25, 0.75]', '+50% [+25%, +75%]')
    """
    interval = _ours(of).interval() if isinstance(of, Comparison | Estimate) else of
    estimate, low, high = (written(x, form) for x in (interval.estimate, interval.low, interval.high))
    text = estimate
    if not math.isnan(interval.low):  # what is the same for every input has none
        text += f" [{low}, {high}]"
    return f"{text} (n = {_ours(of).n:,})" if n else text


def beside(pair: Comparison, form: str = ".2f") -> str:
    """Ours with its interval, and the published value where one is printed, for a sentence: `0.70 [0.69, 0.71]
    (published 0.41)`."""
    text = spoken(pair, form)
    return text if math.isnan(pair.published) else f"{text} (published {written(pair.published, form)})"


def _ours(of: Comparison | Estimate) -> Estimate:
    return of.ours if isinstance(of, Comparison) else of
