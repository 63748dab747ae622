"""What Edin et al. (2025) released, out of the tables that come with this repository (`data/released/edin_2025`).

The values are those released, to the last digit (`pack.py` beside the tables made them). Nothing here needs torch:
report pages read it.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pandas as pd

from faithbook.access import require
from faithbook.paths import checked_root
from faithlib.errors import DataError, unknown

PLACE = "data/released/edin_2025"
"""In this repository."""
MODELS = {  # the published tables' name: the files' name
    "bert_sst2": "bert-base-uncased-SST-2",
    "roberta_sst2": "roberta-base-SST-2",
    "bert_yelp": "bert-base-uncased-yelp-polarity",
    "roberta_yelp": "roberta-base-finetuned-yelp-polarity",
    "bert_imdb": "bert-base-uncased-imdb",
    "roberta_imdb": "roberta-base-imdb",
}
METHODS = {  # the files' name: the published tables' name
    "gradient_x_input": "input_x_gradient",
    "integrated_gradient": "integrated_gradients",
    "kernelshap": "kernel_shap",
    "occlusion_1": "occlusion",
    "random_baseline": "random",
}
SHORT = ("sst2", "yelp")
LONG = ("sst2", "yelp", "imdb")
SETS = {"sst2": "SST-2", "yelp": "Yelp", "imdb": "IMDB"}
"""Names for people."""
TABLES = ("answers", "attributions", "scores", "limits_exact", "limits_beam", "limits_widths", "texts")
"""Each has a file per model, except `texts`, which are the same for all."""


def packed_folder() -> Path:
    """The folder of the packed tables."""
    return checked_root() / PLACE


def files_of(name: str) -> dict[str, str | None]:
    """The files of a table, with the model of each."""
    if name == "texts":
        return {"texts.parquet": None}
    return {f"{name}_{model}.parquet": model for model in MODELS}


def read_packed(name: str, model: str | None = None, folder: Path | None = None) -> pd.DataFrame:
    """A packed table of TABLES for one model of MODELS, or for all, with a column that says which.

    Raises UnknownNameError for another table or model, DataError for a file that is missing or damaged.
    """
    if name not in TABLES:
        raise unknown("table", name, TABLES)
    if model is not None and model not in MODELS:
        raise unknown("model", model, MODELS)
    if folder is None:
        require(PLACE)
        folder = packed_folder()
    tables = []
    for file, of in files_of(name).items():
        if model not in (None, of) and of is not None:
            continue
        table = _read_file(folder / file)
        if model is None and of is not None:
            table.insert(0, "model", of)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _read_file(path: Path) -> pd.DataFrame:
    """The table of a file, read once while the file stays the same."""
    place = path.resolve()
    changed = 0
    if place.is_file():
        changed = place.stat().st_mtime_ns
    return _read_once(place, changed).copy(deep=False)


@functools.lru_cache(maxsize=32)
def _read_once(path: Path, changed: int) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}): `git checkout` it, or pack it again") from error


def attributions(model: str, dataset: str = "sst2", length: str = "short") -> pd.DataFrame:
    """Columns id, method, scores (one a word, special tokens left out); of long texts only those of "sst2" are here."""
    table = rows_of("attributions", model, dataset, length)
    scores = pd.Series([np.asarray(row, dtype=float)[1:-1] for row in table.scores], index=table.index, dtype=object)
    return table[["id", "method"]].assign(scores=scores)


def rows_of(name: str, model: str, dataset: str, length: str | None) -> pd.DataFrame:
    """The rows of a packed table about a data set and, where the table has both, a length.

    Raises DataError for a cell that was not released.
    """
    table = read_packed(name, model)
    kept = table.dataset == dataset
    if length is not None and "length" in table:
        kept &= table.length == length
    if not kept.any():
        raise DataError(f"{name} of {dataset}, {length}: not among what was released and packed")
    return table[kept].reset_index(drop=True)
