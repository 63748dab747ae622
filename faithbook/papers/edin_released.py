"""What Edin et al. (2025) released, out of the tables that come with this repository (`data/released/edin_2025`).

The values are those released, to the last digit (`faithbook.papers.edin_pack`). Nothing here needs torch: report pages
read it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from faithbook.papers.edin_pack import LONG, SHORT, read_packed
from faithlib.errors import DataError, unknown


def attributions(model: str, dataset: str = "sst2", length: str = "short") -> pd.DataFrame:
    """Columns id, method, scores (one a word, special tokens left out); of long texts only those of "sst2" are here."""
    table = rows_of("attributions", model, dataset, length)
    scores = pd.Series([np.asarray(row, dtype=float)[1:-1] for row in table.scores], index=table.index, dtype=object)
    return table[["id", "method"]].assign(scores=scores)


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
