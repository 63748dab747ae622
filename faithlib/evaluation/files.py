"""Tables of texts, and of what other tools explain, in files."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from faithlib.errors import DataError

__all__ = [
    "is_table_file",
    "read_attributions",
    "read_table",
]


def read_table(path: Path, columns: Sequence[str] = ("text",), first: int | None = None) -> pd.DataFrame:
    """A CSV file that has these columns, every cell a string ("" where a row ends early).

    Parameters
    ----------
    path : Path
        The file.
    columns : Sequence[str]
        Those that it must have.
    first : int | None
        Only so many rows; None: all.

    Returns
    -------
    pd.DataFrame
        The table, every cell a string.

    Raises
    ------
    DataError
        For a file that is no such table.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "texts.csv"
    >>> _ = path.write_text("text,label\\na fine film,1\\n")
    >>> read_table(path).to_dict("records")
    [{'text': 'a fine film', 'label': '1'}]
    """
    try:
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):  # of a first row too long
            rows = pd.read_csv(
                path, dtype=str, keep_default_na=False, encoding="utf-8-sig", index_col=False, nrows=first
            )
    except (OSError, UnicodeError, ValueError, pd.errors.ParserWarning) as error:  # of a broken file: a ValueError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).strip()
        raise DataError(
            f"{path} cannot be read as a table ({reason}): expected a CSV file in UTF-8 with {', '.join(columns)} at "
            "its head; a text with commas needs quotes"
        ) from error
    if missing := [name for name in columns if name not in rows]:
        raise DataError(f"{path} has no column {missing[0]}: it has {', '.join(rows.columns)} (commas part the cells)")
    if twice := [name for name in columns if f"{name}.1" in rows]:  # as pandas calls the second
        raise DataError(f"{path} has two columns {twice[0]}: expected one")
    if rows.empty:
        raise DataError(f"{path} has a header and no rows: expected at least one")
    return rows.fillna("")


def is_table_file(thing: Any) -> bool:
    """Whether this names a file, as a string or a path.

    Parameters
    ----------
    thing : Any
        What was given.

    Returns
    -------
    bool
        True for a string or a path.

    Examples
    --------
    >>> is_table_file("mine.csv"), is_table_file([0.2, 0.8])
    (True, False)
    """
    return isinstance(thing, str | Path)


def read_attributions(path: str | Path, first: int | None = None) -> dict[str, pd.DataFrame]:
    """What other tools explain, from a file: a table by the name of each method.

    Parameters
    ----------
    path
        A table in CSV (UTF-8) or parquet, one token in a row, tokens in the order of their text. Columns: `text_id`,
        the number of the text, from 0; `token`; `score`; where known, `start` and `end`, the characters that the token
        covers; where the file holds several methods, `method`.
    first
        Only the first texts.

    Returns
    -------
    dict of str to DataFrame
        For `attributions` of `evaluate`. Where there is no column `method`, one table by the name of the file.

    Raises
    ------
    DataError
        For a file that cannot be read as such a table.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "mine.csv"
    >>> _ = path.write_text("text_id,token,score\\n0,good,0.2\\n0,film,0.8\\n")
    >>> read_attributions(path)["mine"].to_dict("records")
    [{'text_id': '0', 'token': 'good', 'score': '0.2'}, {'text_id': '0', 'token': 'film', 'score': '0.8'}]
    """
    path, columns = Path(path), ("text_id", "token", "score")
    if path.suffix not in (".csv", ".parquet"):
        raise DataError(f"{path} holds attributions in a file of another kind: expected .csv or .parquet")
    if path.suffix == ".csv":
        table = read_table(path, columns)
    else:
        try:
            table = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read as parquet ({str(error).strip()})") from error
        if missing := [name for name in columns if name not in table]:
            raise DataError(f"{path} has no column {missing[0]}: it has {', '.join(map(str, table.columns))}")
    if first is not None:
        table = table[pd.to_numeric(table["text_id"], errors="coerce").fillna(-1) < first]
    if "method" not in table:
        return {path.stem: table}
    return {str(name): part.drop(columns="method") for name, part in table.groupby("method", sort=False)}
