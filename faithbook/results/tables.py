"""Tables of a page: data in full precision to download, what is shown rounded and with names for people."""

from __future__ import annotations

import math
import re

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
MOST_ROWS = 20
"""A table with more rows is folded."""


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
    """Write a table as CSV in full precision and show it rounded and numbered, with a download; folded where it has
    more than 20 rows.

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
    return Markdown(f"{markdown_table(in_names(frame, digits), name, caption)}\n\n{link}")


def in_names(frame: pd.DataFrame, digits: int) -> pd.DataFrame:
    """A table as it is shown: rounded to so many digits (columns of counts to none), with names for people."""
    shown = frame.copy()
    if {"method", "aggregation"} <= set(frame.columns):
        shown["method"] = [row_label(*row) for row in frame[["method", "aggregation"]].itertuples(index=False)]
        shown = shown.drop(columns="aggregation")
    for column in [known for known in NAMED if known in shown.columns]:
        shown[column] = [label(cell).replace("_", " ") if isinstance(cell, str) else cell for cell in shown[column]]
    for column in shown.select_dtypes(["float"]).columns.astype(str):
        finite = shown[column][np.isfinite(shown[column])]
        counts = finite.abs().max() >= 2 and (finite % 1 == 0).all()
        shown[column] = [rounded(x, 0 if counts else digits) for x in shown[column]]
    shown.columns = [label(str(column)).replace("_", " ") for column in shown.columns]
    return shown


def markdown_table(frame: pd.DataFrame, name: str, caption: str, *, findable: bool = False) -> str:
    """A numbered table of MyST text; folded where it has more than 20 rows, unless it sorts and filters in the page
    (`findable`; `book/_static/tables.js`)."""
    # Colons, because a fence of backticks allows none in what follows it, and captions may have code.
    options = f":name: {name.replace('_', '-')}\n" + (":class: findable\n" if findable else "")
    text = f":::{{table}} {caption}\n{options}\n{pipe_table(frame)}\n:::"
    return text if findable else folded(text, len(frame), caption)


def pipe_table(frame: pd.DataFrame) -> str:
    """A table of MyST text without a number, its cells as they are; what is missing is left empty."""
    head = "| " + " | ".join(map(str, frame.columns)) + " |"
    rule = "| " + " | ".join("---" for _ in frame.columns) + " |"
    rows = [["" if pd.isna(x) else _in_cell(x) for x in row] for row in frame.itertuples(index=False)]
    return "\n".join([head, rule, *("| " + " | ".join(row) + " |" for row in rows)])


def _in_cell(x: object) -> str:
    return str(x).replace("|", "\\|").replace("\n", " ")


def folded(text: str, rows: int, caption: str) -> str:
    """A table's text, in a box that opens where it has more than 20 rows; the box says what its caption says first."""
    if rows <= MOST_ROWS:
        return text
    about = re.split(r"[;:(]|, ", caption, maxsplit=1)[0].strip().rstrip(".")
    return f"::::{{admonition}} {about}: all {rows} rows\n:class: dropdown note\n\n{text}\n::::"


def rounded(x: float, digits: int) -> str:
    """A number with so many digits, a dash where there is none."""
    text = "–" if math.isnan(x) else f"{x:.{digits}f}"
    return text.lstrip("-") if text.strip("-0.") == "" else text  # no minus before a zero
