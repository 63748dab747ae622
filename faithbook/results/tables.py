"""Numbered tables with a download: data in full precision, what is shown rounded and with names for people."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.results.labels import label, row_label
from faithbook.results.page import Folder, downloads, write
from faithlib.errors import InputError

NAMED = (
    *("dataset", "gold", "method", "metric", "output", "model", "classifier"),
    *("search", "search_variant", "subset", "statistic", "ranking", "bounds", "comparison"),
)
"""Columns that hold names of ours, shown as those for people."""


def table(
    frame: pd.DataFrame,
    run: Folder,
    name: str,
    *,
    caption: str,
    digits: int = 3,
    shown: bool = True,
    line: str | None = None,
) -> Markdown:
    """Write a table as CSV in full precision and show it rounded and numbered, with a download.

    The data keep the names of data sets, methods and metrics as code has them; what is shown has those for people, a
    method's aggregation with its name. `shown=False` writes the data and shows only the download. `line`: what stands
    under the table, the download where nothing else is said.
    """
    if frame.empty:
        raise InputError(f"table {name} has no rows")
    write(run.path(f"{name}.csv"), frame.to_csv(index=False, lineterminator="\n").encode())
    link = downloads(run, f"{name}.csv") if line is None else line
    if not shown:
        return Markdown(link)
    rounded = frame.copy()
    if {"method", "aggregation"} <= set(frame.columns):
        rounded["method"] = [row_label(*row) for row in frame[["method", "aggregation"]].itertuples(index=False)]
        rounded = rounded.drop(columns="aggregation")
    for column in [known for known in NAMED if known in rounded.columns]:
        rounded[column] = [label(cell).replace("_", " ") if isinstance(cell, str) else cell for cell in rounded[column]]
    for column in rounded.select_dtypes(["float"]).columns.astype(str):
        finite = rounded[column][np.isfinite(rounded[column])]
        counts = finite.abs().max() >= 2 and (finite % 1 == 0).all()
        rounded[column] = [_rounded(x, 0 if counts else digits) for x in rounded[column]]
    rounded.columns = [label(str(column)).replace("_", " ") for column in rounded.columns]
    write(run.path(f"{name}_shown.csv"), rounded.to_csv(index=False, lineterminator="\n").encode())
    # Colons, because a fence of backticks allows none in what follows it, and captions may have code.
    return Markdown(
        f":::{{csv-table}} {caption}\n:file: {run.link(f'{name}_shown.csv')}\n:header-rows: 1\n"
        f":name: {name.replace('_', '-')}\n:::\n\n{link}"
    )


def _rounded(x: float, digits: int) -> str:
    text = "–" if math.isnan(x) else f"{x:.{digits}f}"
    return text.lstrip("-") if text.strip("-0.") == "" else text  # no minus before a zero
