"""What Edin et al. (2025) released, out of the tables that come with this repository (`data/released/edin_2025`).

The values are those released, to the last digit (`faithbook.papers.edin_pack`). Nothing here needs torch: report pages
read it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from faithbook.papers.edin_pack import LONG, SHORT, STARTS, WIDTHS, read_packed
from faithlib.errors import DataError, InputError, unknown


def attributions(model: str, dataset: str = "sst2", length: str = "short") -> pd.DataFrame:
    """Columns id, method, scores (one a word, special tokens left out); of long texts only those of "sst2" are here."""
    table = rows_of("attributions", model, dataset, length)
    scores = pd.Series([np.asarray(row, dtype=float)[1:-1] for row in table.scores], index=table.index, dtype=object)
    return table[["id", "method"]].assign(scores=scores)


def released_bounds(model: str, dataset: str = "sst2") -> pd.DataFrame:
    """Columns id, search ("exact" or "beam" of width 5), length ("short" or "long"), lower, upper, seconds,
    n_features."""
    parts = []
    if dataset in SHORT:
        exact = rows_of("limits_exact", model, dataset, "short").assign(search="exact", length="short", seconds=np.nan)
        parts.append(exact)
    beam = rows_of("limits_beam", model, dataset, None)
    parts.append(beam[(beam.start == "none") & (beam.width == 5)].assign(search="beam"))
    columns = ["id", "search", "length", "lower", "upper", "seconds", "words"]
    found = pd.concat([part[columns] for part in parts], ignore_index=True)
    return found.rename(columns={"words": "n_features"})


def released_deltas(model: str, dataset: str = "sst2", *, start: str = "none", width: int = 5) -> pd.DataFrame:
    """How far beam searches of short texts ended from the exact limits, as released: columns id, lower_delta,
    upper_delta, seconds, and the ranks of words that they found (lower_ranks, upper_ranks).

    `start`: the attribution that the search began with, "none" for none; `width`: 1, 5, 10, 20 or 50.
    """
    if start not in STARTS:
        raise unknown("start", start, STARTS)
    if width not in WIDTHS:
        raise InputError(f"width {width}: released are {', '.join(map(str, WIDTHS))}")
    table = rows_of("limits_beam", model, dataset, "short")
    chosen = table[(table.start == start) & (table.width == width)]
    return chosen[["id", "lower_delta", "upper_delta", "seconds", "lower_ranks", "upper_ranks"]].reset_index(drop=True)


def released_scores(model: str, length: str, dataset: str = "sst2") -> pd.DataFrame:
    """Columns id, method, comprehensiveness (AOPC, most relevant first), sufficiency (least relevant first), p_full;
    long ones of "imdb" too."""
    table = rows_of("scores", model, dataset, length)
    return table[["id", "method", "comprehensiveness", "sufficiency", "p_full"]]


def rows_of(name: str, model: str, dataset: str, length: str | None) -> pd.DataFrame:
    """The rows of a packed table about a data set and, where the table has both, a length.

    Raises UnknownNameError for another data set or length, DataError for a cell that was not released.
    """
    if length not in (None, "short", "long"):
        raise unknown("length", length, ("short", "long"))
    known = SHORT if length == "short" else LONG
    if dataset not in known:
        raise unknown("data set with released values", dataset, known)
    table = read_packed(name, model)
    kept = table.dataset == dataset
    if length is not None and "length" in table:
        kept &= table.length == length
    if not kept.any():
        raise DataError(f"{name} of {dataset}, {length}: not among what was released and packed")
    return table[kept].reset_index(drop=True)
