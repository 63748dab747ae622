"""Tables of texts in files."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from faithlib.errors import DataError


def read_table(path: Path, columns: Sequence[str] = ("text",), first: int | None = None) -> pd.DataFrame:
    """A CSV file that has these columns, every cell a string ("" where a row ends early); DataError for any other file.

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
