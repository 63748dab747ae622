"""Values of single inputs, as every computation keeps them: one table of a stated schema, small enough to commit.

    id       the input that was scored, unique within its data set
    cluster  what is drawn as one when inputs are resampled: the paper or integration a text comes from, else the id
    seed     of the model, an integer
    method   the attribution method, or the row of a paper's table
    metric   what was measured, in the names of `faithlib.catalogue`
    value    the number; NaN where the metric is not defined for this input

Further columns (data set, model, language, output ...) are keys too: no two rows may agree in all columns but `value`.
Values are kept as float32. The parameters of the run lie in the file's metadata, and `read_units` gives them back as
columns; but which part of a run the inputs were is nothing that they differ in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithbook.engine.plan import PART, PARTS
from faithlib.errors import DataError, InputError

if TYPE_CHECKING:
    import pandas as pd  # a second to import, which the many short processes of a build do not need

UNITS = "units"  # begins the names of the files, and names the folder that the reference keeps them in
UNITS_SCHEMA = 1  # one more whenever a column changes its name or its meaning
COLUMNS = ("id", "cluster", "seed", "method", "metric", "value")
_METADATA = b"faithbook.units"


def write_units(frame: pd.DataFrame, path: Path, *, notebook: str, parameters: Mapping[str, Any]) -> None:
    """Write a checked table with the version of its schema and the run that it comes from.

    Raises InputError for what `checked_units` refuses.
    """
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(checked_units(frame), preserve_index=False)
    about = {"schema": UNITS_SCHEMA, "notebook": notebook, "parameters": dict(parameters)}
    table = table.replace_schema_metadata({**table.schema.metadata, _METADATA: json.dumps(about).encode()})
    keys = [name for name in table.column_names if name != "value"]
    pyarrow.parquet.write_table(
        table, path, compression="zstd", compression_level=19, use_dictionary=keys, use_byte_stream_split=["value"]
    )


def as_units(
    frame: pd.DataFrame,
    *,
    seed: int | str,
    clusters: Mapping[str, str] | None = None,
    metrics: Sequence[str] = (),
    keys: Sequence[str] = (),
    name: str = "input",
) -> pd.DataFrame:
    """A frame of results in the columns of the schema, for `Run.save_units`.

    `seed`: the model's, or the column that holds it; `clusters`: of each id, where an id is not its own; `metrics`: the
    columns that hold values, each a metric of that name, where the frame has no columns metric and value; `keys`:
    further columns to keep; `name`: the column with the ids. A frame without methods gets the method "none".
    """
    renamed = frame.rename(columns={name: "id"})
    renamed["id"] = renamed["id"].astype(str)
    renamed["seed"] = renamed[seed] if isinstance(seed, str) else seed
    if "method" not in renamed.columns:
        renamed["method"] = "none"
    named = ["id", "seed", "method", *keys]
    if metrics:
        renamed = renamed.melt(named, list(metrics), "metric", "value")
    renamed = renamed[[*named, "metric", "value"]]
    return renamed.assign(cluster=renamed["id"] if clusters is None else renamed["id"].map(dict(clusters)))


def read_units(path: Path) -> pd.DataFrame:
    """The table of a file that `write_units` wrote, with the parameters of its run as columns where it lacks them.

    Raises DataError for a file without a schema, or with another version of it.
    """
    frame, parameters = _read(path)
    texts = {name: frame[name].cat for name in frame.columns if frame[name].dtype == "category"}
    # Each different text is converted once: `astype` would do it for every row, a tenth of a page's time.
    keys = {name: text.categories.astype(str).array.take(text.codes.to_numpy()) for name, text in texts.items()}
    missing = {name: value for name, value in parameters.items() if name not in (*frame.columns, PART, PARTS)}
    return frame.assign(**keys, value=frame["value"].astype("float64"), **missing)


def parameters_of(path: Path) -> dict[str, Any]:
    """The parameters of the run that a file is of, without reading its table."""
    import pyarrow.parquet

    about = json.loads((pyarrow.parquet.read_schema(path).metadata or {}).get(_METADATA, b"{}"))
    return dict(about.get("parameters", {}))


def _read(path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table of a file and the parameters of its run."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    about = json.loads((table.schema.metadata or {}).get(_METADATA, b"{}"))
    schema = about.get("schema")
    if schema != UNITS_SCHEMA:
        raise DataError(f"{path} holds values of schema {schema}, this version reads {UNITS_SCHEMA}: run it again")
    return table.to_pandas(), about["parameters"]


def checked_units(frame: pd.DataFrame) -> pd.DataFrame:
    """The table in its stored form: texts as categories, value as float32, rows in the order of their keys.

    Raises InputError for a missing column, a key that is missing, a seed that is no integer, infinite values, and rows
    that agree in all keys.
    """
    import numpy as np
    import pandas as pd

    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(
            f"values of single inputs need the columns {', '.join(COLUMNS)}; missing: {', '.join(missing)}"
        )
    keys = [name for name in frame.columns if name != "value"]
    empty = [name for name in keys if frame[name].isna().any()]
    if empty:
        raise InputError(f"keys may not be missing, but there are missing values in {', '.join(empty)}: name them")
    if not pd.api.types.is_integer_dtype(frame["seed"]):
        raise InputError(f"seed must be an integer, but the column is {frame['seed'].dtype}")
    if not pd.api.types.is_numeric_dtype(frame["value"]):
        raise InputError(f"value must be a number, but the column is {frame['value'].dtype}")
    with np.errstate(over="ignore"):
        values = frame["value"].to_numpy(dtype=np.float32, na_value=np.nan)
    infinite = frame.loc[np.isinf(values), "metric"].unique().tolist()
    if infinite:
        raise InputError(
            f"values must be finite, or NaN where a metric is not defined; infinite: {', '.join(infinite)}"
        )
    texts = {name for name in keys if not pd.api.types.is_numeric_dtype(frame[name])} | {"id", "cluster"}
    checked = frame[keys].astype(dict.fromkeys(texts, "str")).assign(value=values)
    order = [name for name in keys if name not in ("id", "cluster")]
    checked = checked.sort_values([*order, "cluster", "id"], ignore_index=True, kind="stable")
    same = checked.duplicated([*order, "id"])
    if same.any():
        first = checked.loc[same].iloc[0]
        row = ", ".join(f"{name} = {first[name]}" for name in ["id", *order])
        raise InputError(f"{same.sum()} rows have the keys of another, the first: {row}. Add the column that differs")
    return checked.astype(dict.fromkeys(texts, "category"))
