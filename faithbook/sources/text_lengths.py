"""Measure sizes, lengths and classes of study 1's data sets, where they lie: `data/text_lengths.csv`.

    FAITHLIB_DATA=FOLDER python -m faithbook.sources.text_lengths

Words are what blanks separate, query included. Numbers only, no texts: pages show them where the data is not.
"""

from __future__ import annotations

import csv

import numpy as np

from faithbook.paths import root
from faithbook.sources import datasets

SETS = ("sst", "ag", "evinf", "multirc", "movie", "bbc", "section", "pair")
COLUMNS = ("dataset", "split", "texts", "words", "classes", "max_length")


def lengths_of_split(name: str, split: str) -> dict[str, object]:
    """The row of one split."""
    data = datasets.load_dataset(name, split, sample="all")
    queries = data.queries or [""] * len(data.texts)
    words = [len(f"{query} {text}".split()) for query, text in zip(queries, data.texts, strict=True)]
    facts: dict[str, object] = {"dataset": name, "split": split, "texts": len(words), "words": f"{np.mean(words):.3f}"}
    return facts | {"classes": len(data.label_names), "max_length": data.max_length}


def main() -> None:
    """Write the table; DataError where a data set is not on this machine."""
    rows = [lengths_of_split(name, split) for name in SETS for split in ("train", "dev", "test")]
    with (root() / "data" / "text_lengths.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
