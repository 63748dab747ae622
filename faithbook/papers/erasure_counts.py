"""What Zaman & Belinkov's (2022) erasure metrics count before any model is asked: sizes of bins, and the windows of
answers that their released loop reads.

Whole numbers alone, so that pages which only read results need no tensors; `faithlib.metrics.erasure_rationales` and
`first_batch_fault` do the same to scores and answers, and the tests hold the two together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from faithlib.errors import InputError, unknown

ERASURE_BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""The shares of a text's words that are erased (Section 3.1.2)."""
WINDOW = len(ERASURE_BINS) + 1
"""Rows an input has in the released loop: itself, and one a bin."""
BATCH = 64
"""Rows the released loop asks the model at a time."""


def bin_sizes(n: int, rounding: str = "up") -> NDArray[np.int64]:
    """Words in each bin of a text of n words, [S]: ceil(share * n) ("up"), or rounded, halves to even, and at least one
    ("nearest", as released).

    Raises InputError for n below 1, UnknownNameError for another rounding.

    >>> bin_sizes(25).tolist(), bin_sizes(25, "nearest").tolist()
    ([1, 2, 3, 5, 13], [1, 1, 2, 5, 12])
    """
    if rounding not in ("up", "nearest"):
        raise unknown("rounding", rounding, ("up", "nearest"))
    if n < 1:
        raise InputError(f"a text of {n} words: expected at least one")
    exact = np.array(ERASURE_BINS) * n
    if rounding == "nearest":
        return np.maximum(np.round(exact), 1).astype(np.int64)
    # Rounded first: .1 * 30 is a bit above 3, and must not become 4.
    return np.ceil(np.round(exact, 9)).astype(np.int64)


def windows_read(inputs: int, *, batch_size: int = BATCH, window: int = WINDOW) -> NDArray[np.int64]:
    """The different windows that the released loop reads of so many inputs, as numbers of rows, [W, window], sorted.

    Row r is answered with row r mod `batch_size`, then the answers are cut into windows: right where a window is
    window * i, window * i + 1, … of one input i.

    >>> len(windows_read(100)), windows_read(100)[1].tolist()
    (32, [2, 3, 4, 5, 6, 7])
    """
    answered = (np.arange(inputs * window) % batch_size).reshape(-1, window)
    return np.unique(answered, axis=0)


def windows_told(inputs: int, *, batch_size: int = BATCH, window: int = WINDOW) -> dict[str, int]:
    """What is in those windows: "inputs read" by the loop, "different windows", how many "begin on an original" and how
    many are "one input from end to end".

    >>> windows_told(5010)
    {'inputs read': 11, 'different windows': 32, 'begin on an original': 11, 'one input from end to end': 10}
    """
    rows = windows_read(inputs, batch_size=batch_size, window=window)
    starts = rows[:, 0] % window == 0
    whole = starts & (rows // window == rows[:, :1] // window).all(axis=1)
    return {
        "inputs read": len(np.unique(rows // window)),
        "different windows": len(rows),
        "begin on an original": int(starts.sum()),
        "one input from end to end": int(whole.sum()),
    }
