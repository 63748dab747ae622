"""Pack the result files that Edin et al. released (MIT) into this folder, and hold the two against each other.

    python data/released/edin_2025/pack.py pack <folder with their results/ and data/>
    python data/released/edin_2025/pack.py verify <folder with their results/ and data/>

Numbers and ids of rows only, no texts. Every table is parquet (zstd), one file per model (one file for what no model
said), sorted by its first columns; floats are kept in the precision in which they were released, single where all
released values are single, so that nothing is lost.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

from faithbook.studies.naopc.edin_released import LONG, METHODS, MODELS, SHORT, files_of, packed_folder, read_packed
from faithlib.errors import DataError

COMMIT = "0976aa3"
WIDTHS = (1, 5, 10, 20, 50)
LONG_WIDTHS = (1, 2, 5, 10, 15, 50)
STARTS = {  # what the search is given to start from: part of the file's name
    "none": "no_preprocessing",
    "decompx": "feature_attributions_decompx",
    "deeplift": "feature_attributions_deeplift",
    "gradient_x_input": "feature_attributions_gradient_x_input",
}


# --- the released files ---
def _read(folder: Path, name: str) -> pd.DataFrame:
    path = folder / name
    try:
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); get the authors' files at commit {COMMIT} again") from error


def _named(table: pd.DataFrame, **names: Any) -> pd.DataFrame:
    """The table with constant columns in front."""
    for place, (column, value) in enumerate(names.items()):
        table.insert(place, column, value)
    return table


def removed_bits(words: str) -> int:
    """The released key of a set of removed words, counted from 1, as a number: bit i - 1 stands for word i.

    >>> removed_bits("[1, 3]")
    5
    """
    return sum(1 << (word - 1) for word in json.loads(words))


def answers(folder: Path) -> Iterator[pd.DataFrame]:
    """Logits for every set of removed words: dataset, model, id, removed, negative_logit, positive_logit."""
    for dataset, (model, file) in product(SHORT, MODELS.items()):
        table = _read(folder, f"results/permutation_outputs/{dataset}_{file}.parquet")
        removed = table.word_key.map({key: removed_bits(key) for key in table.word_key.unique()}).astype(np.uint16)
        found = pd.DataFrame({"id": table.id, "removed": removed})
        for column in ("negative_logit", "positive_logit"):
            found[column] = table[column].astype(np.float32)
        yield _named(found, dataset=dataset, model=model)


def attributions(folder: Path) -> Iterator[pd.DataFrame]:
    """Scores of words, special tokens first and last: dataset, length, model, method, id, scores."""
    for (dataset, length), (model, file) in product(
        (("sst2", "short"), ("yelp", "short"), ("sst2", "long")), MODELS.items()
    ):
        table = _read(folder, f"results/feature_attribution_scores/{dataset}_{length}_{file}.parquet")
        scores = [np.asarray(row, dtype=np.float32) for row in table.word_attributions]
        found = pd.DataFrame({"method": table.explanation_method.replace(METHODS), "id": table.id, "scores": scores})
        yield _named(found, dataset=dataset, length=length, model=model)


def scores(folder: Path) -> Iterator[pd.DataFrame]:
    """AOPC of each method's order: dataset, length, model, method, id, comprehensiveness, sufficiency, p_full."""
    cells = [*((dataset, "short") for dataset in SHORT), *((dataset, "long") for dataset in LONG)]
    for (dataset, length), (model, file) in product(cells, MODELS.items()):
        table = _read(folder, f"results/aopc_scores_{length}/{dataset}_{file}.csv")
        found = pd.DataFrame(
            {
                "method": table.explanation_method.replace(METHODS),
                "id": table.id,
                "comprehensiveness": table.comprehensiveness,
                "sufficiency": table.sufficiency,
                "p_full": table.prob.astype(np.float32),
            }
        )
        yield _named(found, dataset=dataset, length=length, model=model)


def limits_exact(folder: Path) -> Iterator[pd.DataFrame]:
    """Limits over all orders: dataset, model, id, lower, upper, p_full, p_empty, words, lower_order, upper_order."""
    for dataset, (model, file) in product(SHORT, MODELS.items()):
        table = _read(folder, f"results/aopc_limits_exact/{dataset}_{file}.parquet")
        found = pd.DataFrame(
            {
                "id": table.id,
                "lower": table.lower_limit,
                "upper": table.upper_limit,
                "p_full": table.prob,
                "p_empty": table.masked_input,
                "words": table.number_of_elements.astype(np.int16),
                "lower_order": [np.asarray(order, dtype=np.int8) for order in table.lower_limit_order],
                "upper_order": [np.asarray(order, dtype=np.int8) for order in table.upper_limit_order],
            }
        )
        yield _named(found, dataset=dataset, model=model)


def limits_beam(folder: Path) -> Iterator[pd.DataFrame]:
    """Limits that beam searches found: dataset, length, model, start, width, id, lower, upper, lower_delta,
    upper_delta, seconds, words, lower_ranks, upper_ranks.

    Only searches of width 5 without a start have `lower` and `upper`; searches of short texts have deltas and ranks.
    """
    cells = [("short", dataset, start, width) for dataset in SHORT for start in STARTS for width in WIDTHS]
    cells += [("long", dataset, "none", 5) for dataset in LONG]
    for (length, dataset, start, width), (model, file) in product(cells, MODELS.items()):
        name = f"results/aopc_limits_approx/{dataset}_{length}_{STARTS[start]}_beam_size_{width}_{file}.parquet"
        table = _read(folder, name)
        missing = pd.Series(np.nan, index=table.index)
        ranks = {
            bound: list(table[f"{column}_word_attributions"])
            for bound, column in (("lower", "sufficiency_lower"), ("upper", "comprehensiveness_upper"))
        }
        found = pd.DataFrame(
            {
                "id": table.id,
                "lower": table.get("sufficiency", missing),
                "upper": table.get("comprehensiveness", missing),
                "lower_delta": table.sufficiency_lower_delta,
                "upper_delta": table.comprehensiveness_upper_delta,
                "seconds": table.processing_time,
                "words": [len(row) for row in ranks["upper"]],
            }
        ).astype({"words": np.int16})
        for bound, rows in ranks.items():
            kept = [np.asarray(row, dtype=np.int8) if length == "short" else None for row in rows]
            found[f"{bound}_ranks"] = pd.Series(kept, index=found.index, dtype=object)
        yield _named(found, dataset=dataset, length=length, model=model, start=start, width=np.int8(width))


def limits_widths(folder: Path) -> Iterator[pd.DataFrame]:
    """Limits of the first 99 long texts of each data set by the width of the beam: dataset, model, width, id, lower,
    upper, seconds, pieces (word pieces of the model's tokenizer).

    What the figures of growing beams are drawn from.
    """
    for dataset, width, (model, file) in product(LONG, LONG_WIDTHS, MODELS.items()):
        name = f"{dataset}_long_{STARTS['none']}_beam_size_{width}_{file}.parquet"
        table = _read(folder, f"results/aopc_limits_approx_increasing_beams/{name}")
        found = pd.DataFrame(
            {
                "id": table.id,
                "lower": table.sufficiency,
                "upper": table.comprehensiveness,
                "seconds": table.processing_time,
                "pieces": table.word_length.astype(np.int16),
            }
        )
        yield _named(found, dataset=dataset, model=model, width=np.int8(width))


def texts(folder: Path) -> Iterator[pd.DataFrame]:
    """How long each text is: dataset, length, id, place, words.

    `place` counts the rows of the authors' file from 0; `words` are what blanks separate, as their histogram of lengths
    has it.
    """
    for dataset, length in (*product(SHORT, ("short",)), *product(LONG, ("long",))):
        table = _read(folder, f"data/{dataset}_test_{length}.csv")
        counts = {"place": np.arange(len(table)), "words": table.text.str.split().map(len)}
        found = pd.DataFrame({"id": table.id, **counts}).astype({"place": np.int16, "words": np.int16})
        yield _named(found, dataset=dataset, length=length)


Table = tuple[Callable[[Path], Iterator[pd.DataFrame]], tuple[str, ...]]
TABLES: dict[str, Table] = {  # with the columns of their keys
    "answers": (answers, ("dataset", "model", "id", "removed")),
    "attributions": (attributions, ("dataset", "length", "model", "method", "id")),
    "scores": (scores, ("dataset", "length", "model", "method", "id")),
    "limits_exact": (limits_exact, ("dataset", "model", "id")),
    "limits_beam": (limits_beam, ("dataset", "length", "model", "start", "width", "id")),
    "limits_widths": (limits_widths, ("dataset", "model", "width", "id")),
    "texts": (texts, ("dataset", "length", "id")),
}


def gathered(name: str, folder: Path) -> pd.DataFrame:
    """A table of TABLES out of the released files; DataError where a row is there twice."""
    make, key = TABLES[name]
    table = pd.concat(list(make(folder)), ignore_index=True).sort_values(list(key), ignore_index=True)
    if (again := table[list(key)].duplicated()).any():
        raise DataError(f"{folder}: {name} has rows twice, first {table[list(key)][again].iloc[0].to_dict()}")
    return table



# --- packed tables ---
def pack(folder: Path, target: Path) -> None:
    """Write all tables."""
    target.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        table = gathered(name, folder)
        for file, model in files_of(name).items():
            part = table if model is None else table[table.model == model].drop(columns="model")
            _write(pyarrow.Table.from_pandas(part, preserve_index=False), target / file)


def _write(table: pyarrow.Table, path: Path) -> None:
    floats = [
        f"{field.name}.list.element" if pyarrow.types.is_list(field.type) else field.name
        for field in table.schema
        if pyarrow.types.is_floating(getattr(field.type, "value_type", field.type))
    ]
    names = [field.name for field in table.schema if field.type in (pyarrow.string(), pyarrow.large_string())]
    pyarrow.parquet.write_table(
        table.replace_schema_metadata(None),
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=names,
        use_byte_stream_split=floats,
        row_group_size=len(table),
    )


def verify(folder: Path, target: Path) -> dict[str, int]:
    """Rows of each table, every one of them in the released files and in the packed table, with equal values.

    Raises DataError for a row that only one side has and for a value that differs.
    """
    counts = {}
    for name, (_, key) in TABLES.items():
        theirs = gathered(name, folder)
        ours = read_packed(name, folder=target)[list(theirs.columns)].sort_values(list(key), ignore_index=True)
        if len(theirs) != len(ours):
            raise DataError(f"{name}: {len(theirs)} rows released, {len(ours)} packed")
        for column in theirs.columns:
            same = _same(theirs[column], ours[column])
            if not same.all():
                row = theirs[list(key)].iloc[int(np.argmin(same))].to_dict()
                raise DataError(f"{name}: {column} differs at {row} and at {int((~same).sum())} rows in all")
        counts[name] = len(ours)
    return counts


def _same(theirs: pd.Series, ours: pd.Series) -> np.ndarray[Any, Any]:
    """Where two columns have equal values, rows of numbers as a whole; missing ones are equal."""
    if theirs.dtype == object:
        return np.array(
            [
                (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b, equal_nan=True))
                for a, b in zip(theirs, ours, strict=True)
            ]
        )
    return ((theirs == ours) | (theirs.isna() & ours.isna())).to_numpy(dtype=bool)


def main(arguments: Sequence[str] | None = None) -> None:
    """Pack the released files, or verify what is packed against them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("verb", choices=("pack", "verify"))
    parser.add_argument("folder", type=Path, help="a folder with the authors' results/")
    options = parser.parse_args(arguments)
    if options.verb == "pack":
        pack(options.folder, packed_folder())
    for name, rows in verify(options.folder, packed_folder()).items():
        print(f"{name}: {rows} rows, equal on both sides")


if __name__ == "__main__":
    main()
