"""The texts that Edin et al. (2025) measured on, out of the files in their repository.

All are of the positive class: sentences of SST-2's development split, reviews of the test splits of Yelp and IMDB.
*Short* are those of at most twelve words, the special tokens counted, of which IMDB has none; *long* is a sample of all
lengths. `id` is what their released numbers call a text.
"""

from __future__ import annotations

import pandas as pd

from faithbook.sources.files import fetch
from faithbook.sources.zhao_aletras_sets import read_table
from faithlib.errors import DataError, InputError, unknown

LENGTHS = {"sst2": ("short", "long"), "yelp": ("short", "long"), "imdb": ("long",)}
"""By data set, the lengths in which its texts were measured."""
POSITIVE = 1
"""The class of all of them, as the data sets and the paper's models count."""


def edin_texts(dataset: str, length: str, *, n: int | None = None) -> pd.DataFrame:
    """The columns id and text in the order of their file, which was drawn at random where it is a sample; of a larger
    file the first `n`.

    Raises UnknownNameError for another data set or length, InputError for n below 1, DataError for a file that is
    missing, not the one whose digest is listed, or holds anything but texts of the positive class, each with an id.
    """
    if dataset not in LENGTHS:
        raise unknown("data set of Edin et al.", dataset, LENGTHS)
    if length not in LENGTHS[dataset]:
        raise unknown(f"length of {dataset}'s texts", length, LENGTHS[dataset])
    if n is not None and n < 1:
        raise InputError(f"n {n}: expected at least one text")
    path = fetch(f"edin-texts:{dataset}_test_{length}.csv")
    table = read_table(path.parent, path.name, {"id": (), "label": (str(POSITIVE),), "text": ()})
    for wrong, why in (
        (~table.id.str.fullmatch(r"\d+"), "has an id that is no number"),
        (table.id.duplicated(), "has the id of an earlier one"),
        (table.text.str.strip() == "", "has no text"),
    ):
        if wrong.any():
            raise DataError(f"{path}: row {wrong.argmax() + 1} {why}; get the file again")
    return table[["id", "text"]].astype({"id": int})[:n]
