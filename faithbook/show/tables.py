"""Tables of a page: data in full precision to download, what is shown rounded and with names for people; and the
papers' own tables, ours with the published value in the same cell.

Such a cell reads `0.82 (0.40)`: ours, and the published value in brackets. Its sign says how they lie to one another
(colour says it again): `≈` the published value is within the 95 % interval of ours, `↑` ours is above it, `↓` below.
Where ours has no interval (it is the same for every input, say) there is no sign.
"""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.show.labels import kinds_in_words, label, row_label
from faithbook.show.numbers import row_of, written
from faithbook.show.numbers import spoken as with_interval
from faithbook.show.page import Folder, downloads, write_whole
from faithbook.stats.comparison import Comparison
from faithlib.errors import InputError

NAMED = (
    *("dataset", "gold", "method", "metric", "output", "model", "classifier"),
    *("search", "search_variant", "subset", "statistic", "ranking", "bounds", "comparison"),
)
"""Columns that hold names of ours, shown as those for people."""
MOST_ROWS = 20
"""A table with more rows is folded."""
MOST_COLUMNS = 16
"""A table with more columns than this, and than rows, is shown on its side."""

CellOf = Callable[[Mapping[str, str]], Comparison | None]
"""From a row of a published table to what we have for it, None where there is nothing."""

_SIGNS = {"agrees": "≈", "higher": "↑", "lower": "↓"}
_SIGNS_IN_WORDS = {
    "↑": "↑ ours is higher",
    "↓": "↓ ours is lower",
    "≈": "≈ the published value is within our 95 % interval",
}


def table(
    frame: pd.DataFrame,
    run: Folder,
    name: str,
    *,
    caption: str,
    digits: int = 3,
    shown: bool = True,
    wide: pd.DataFrame | None = None,
    line: str | None = None,
    opened: bool = False,
) -> Markdown:
    """Write a table as CSV in full precision and show it rounded and numbered, with a download; folded where it has
    more than 20 rows, unless it is `opened`.

    The data keep the names of data sets, methods and metrics as code has them; what is shown has those for people, a
    method's aggregation with its name; one of many columns and few rows lies on its side. `wide`: another table that is
    shown instead, as it is. `shown=False` writes the data and shows only the download. `line`: what stands under the
    table, the download where nothing else is said.
    """
    if frame.empty:
        raise InputError(f"table {name} has no rows")
    write_whole(run.path(f"{name}.csv"), frame.to_csv(index=False, lineterminator="\n").encode())
    link = downloads(run, f"{name}.csv") if line is None else line
    if not shown:
        return Markdown(link)
    cells = on_its_side(in_names(frame, digits)) if wide is None else wide
    return Markdown(f"{markdown_table(cells, name, caption, opened=opened)}\n\n{link}")


def in_names(frame: pd.DataFrame, digits: int) -> pd.DataFrame:
    """A table as it is shown: rounded to so many digits (columns of counts to none), with names for people."""
    shown = frame.copy()
    if {"method", "aggregation"} <= set(frame.columns):
        shown["method"] = [row_label(*row) for row in frame[["method", "aggregation"]].itertuples(index=False)]
        shown = shown.drop(columns="aggregation")
    for column in [known for known in NAMED if known in shown.columns]:
        shown[column] = [label(cell).replace("_", " ") if isinstance(cell, str) else cell for cell in shown[column]]
    if "modality" in shown.columns:
        shown["modality"] = [kinds_in_words(kind) for kind in shown["modality"]]
    for column in shown.select_dtypes(["float"]).columns.astype(str):
        finite = shown[column][np.isfinite(shown[column])]
        of_counts = finite.abs().max() >= 2 and (finite % 1 == 0).all()
        places = 0 if of_counts else digits
        shown[column] = [rounded(x, places) for x in shown[column]]
    for column in [name for name in shown.select_dtypes(["integer"]).columns if name != "seed"]:
        shown[column] = ["–" if pd.isna(x) else f"{x:,}" for x in shown[column]]
    shown = with_their_ends(shown)
    shown.columns = [label(str(column)).replace("_", " ") for column in shown.columns]
    return shown


def on_its_side(shown: pd.DataFrame) -> pd.DataFrame:
    """A table with its columns as rows, where it has too many columns to be read and names its rows in the first one.

    >>> wide = pd.DataFrame([["lime", *"abcdefghijklmnopqr"]], columns=["method", *(f"m{i}" for i in range(18))])
    >>> on_its_side(wide).head(2)
            lime
    0  m0    a
    1  m1    b
    """
    names = shown.iloc[:, 0]
    if shown.shape[1] <= max(MOST_COLUMNS, len(shown)) or not names.is_unique:
        return shown
    turned = shown.set_index(shown.columns[0]).T.rename_axis(columns=None)
    return turned.rename_axis("").reset_index()


def with_their_ends(shown: pd.DataFrame) -> pd.DataFrame:
    """Rounded columns with the ends of their intervals in the same cell instead of in two columns of their own, so that
    a table is as narrow as it can be: `0.84 [0.83, 0.85]`. Ends are two columns after another one, whose names end in
    "low" and "high".

    >>> with_their_ends(pd.DataFrame({"n": [9], "gap": ["0.2"], "gap low": ["0.1"], "gap high": ["–"]}))
       n  gap
    0  9  0.2
    """
    columns = [str(name) for name in shown.columns]
    whole = shown.copy()
    for value, low, high in zip(columns, columns[1:], columns[2:], strict=False):
        if not (low.endswith("low") and high == f"{low.removesuffix('low')}high"):
            continue
        cells = zip(shown[value], shown[low], shown[high], strict=True)
        whole[value] = [
            estimate if "–" in (first, last) else f"{estimate} [{first}, {last}]" for estimate, first, last in cells
        ]
        whole = whole.drop(columns=[low, high])
    return whole


def markdown_table(
    frame: pd.DataFrame, name: str, caption: str, *, findable: bool = False, opened: bool = False
) -> str:
    """A numbered table of MyST text; folded where it has more than 20 rows, unless it is `opened` or sorts and filters
    in the page (`findable`; `book/_static/tables.js`)."""
    # Colons, because a fence of backticks allows none in what follows it, and captions may have code.
    options = f":name: {name.replace('_', '-')}\n" + (":class: findable\n" if findable else "")
    text = f":::{{table}} {caption}\n{options}\n{pipe_table(frame)}\n:::"
    return text if findable or opened else folded(text, len(frame), caption)


def pipe_table(frame: pd.DataFrame) -> str:
    """A table of MyST text without a number, its cells as they are; what is missing is left empty."""
    lines = [list(map(str, frame.columns)), ["---"] * len(frame.columns)]
    for row in frame.itertuples(index=False):
        lines.append([_in_cell(value) for value in row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _in_cell(value: Any) -> str:
    # A bar would end the cell, and a line the row.
    return "" if pd.isna(value) else str(value).replace("|", "\\|").replace("\n", " ")


def folded(text: str, rows: int, caption: str) -> str:
    """A table's text, in a box that opens where it has more than 20 rows; the box says what its caption says first."""
    if rows <= MOST_ROWS:
        return text
    about = re.split(r"[;:(]|, |\. ", caption, maxsplit=1)[0].strip().rstrip(".")
    return f"::::{{admonition}} {about}: all {rows} rows\n:class: dropdown note\n\n{text}\n::::"


def rounded(x: float, digits: int) -> str:
    """A number with so many digits and with commas between thousands, a dash where there is none.

    >>> rounded(0.25, 2), rounded(-0.12, 2), rounded(-0.001, 2), rounded(21558922, 0), rounded(float("inf"), 0)
    ('0.25', '−0.12', '0.00', '21,558,922', '∞')
    """
    return "–" if math.isnan(x) else written(x, f",.{digits}f").replace("inf", "∞")


def of_size(x: float) -> str:
    """A number with fewer digits the larger it is.

    >>> of_size(0.8241), of_size(-389.482), of_size(12.53)
    ('0.824', '−389', '12.5')
    """
    digits = 3
    if abs(x) >= 100:
        digits = 0
    elif abs(x) >= 10:
        digits = 1
    return rounded(x, digits)


# ----------------------------------------------------------------------------------------------- the papers' own tables
def apart(away: float) -> str:
    """How far ours lies from the published value, in standard errors; nothing where none is printed.

    >>> apart(-2.345), apart(float("nan"))
    ('−2.3 SE', '')
    """
    return "" if math.isnan(away) else f"{written(away, '+.1f')} SE"


def cell(pair: Comparison | None, digits: int = 2, *, signs: bool = True) -> str:
    """One cell as inline HTML: ours (a dash where nothing is defined), the published value in brackets, the sign; the
    interval on hover. Of a run beside the book: ours, the book's in brackets, the difference in standard errors.
    `signs=False`: without signs, because the published value is of other data."""
    if pair is None or math.isnan(pair.ours.point):
        return "–" if pair is None or math.isnan(pair.published) else f"– ({rounded(pair.published, digits)})"
    interval = pair.ours.interval()
    low, high = (rounded(end, digits + 1) for end in (interval.low, interval.high))
    without = math.isnan(interval.low)
    hint = f"{'no interval' if without else f'95 % interval {low} to {high}'}, n = {pair.ours.n:,}"
    kind, printed = "", ""
    if not math.isnan(pair.published):
        side = "agrees"
        if interval.high < pair.published:
            side = "lower"
        elif interval.low > pair.published:
            side = "higher"
        signed = signs and not without
        kind = f" pair-{side}" if signed else ""
        printed = f" ({rounded(pair.published, digits)})" + (f" {_SIGNS[side]}" if signed else "")
    if pair.book is not None:
        kind, printed = "", f" ({rounded(float(pair.book.point), digits)}) {apart(pair.from_book)}".rstrip()
        hint += f"; the book's n = {pair.book.n:,}"
    text = rounded(interval.estimate, digits) + printed
    return f'<span class="pair{kind}" title="{html.escape(hint)}">{text}</span>'


def long_form(rows: Sequence[tuple[Mapping[Any, str], Comparison]]) -> pd.DataFrame:
    """The cells of a table one below the other: their labels, published, estimate with its interval, n, clusters."""
    values = [
        {"published": comparison.published, **row_of(comparison), "clusters": comparison.ours.fewest}
        for _, comparison in rows
    ]
    return pd.DataFrame([{**labels, **values_of_row} for (labels, _), values_of_row in zip(rows, values, strict=True)])


def signs_in_words(wide: pd.DataFrame) -> list[str]:
    """What the signs of a table of cells mean, of those that it has.

    >>> signs_in_words(pd.DataFrame({"NC": ["0.60 (0.42) ↑", "0.50"]}))
    ['↑ ours is higher']
    """
    cells = " ".join(map(str, wide.to_numpy().ravel()))
    return [words for sign, words in _SIGNS_IN_WORDS.items() if sign in cells]


def grid(
    printed: pd.DataFrame,
    of: CellOf,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    digits: int = 2,
    words: Mapping[str, str] | None = None,
    signs: bool = True,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A published table in its own rows and columns with ours in its cells; and its cells in long form.

    `printed`: its rows in the order of the paper; `rows`, `columns`: which of its columns are the labels of either;
    `words`: names for labels that `labels` does not have; `signs`: whether cells say how the two lie. Raises InputError
    where two rows are one cell, or where we have none of the cells.
    """
    keys = printed[[*rows, *columns]].astype(str)
    if keys.duplicated().any():
        raise InputError(f"rows {', '.join(rows)} and columns {', '.join(columns)} do not tell all cells apart")

    def named(name: str) -> str:
        return words[name] if words and name in words else label(name).replace("_", " ")

    pairs = [of({str(key): str(value) for key, value in row.items()}) for row in printed.to_dict("records")]
    long = [(key, pair) for key, pair in zip(keys.to_dict("records"), pairs, strict=True) if pair is not None]
    if not long:
        raise InputError("we have none of the cells of this table")
    shown = keys.map(named)
    shown["column"] = shown[[*columns]].agg(", ".join, axis=1)
    shown["cell"] = [cell(pair, digits, signs=signs) for pair in pairs]
    shown["n"] = [pair.ours.n or np.nan if pair else np.nan for pair in pairs]
    wide = shown.pivot(index=[*rows], columns="column", values="cell")[list(dict.fromkeys(shown["column"]))]
    wide["n"] = [f"{n:,.0f}" if n > 0 else "–" for n in shown.groupby([*rows])["n"].min()]
    ordered = shown[[*rows]].drop_duplicates().merge(wide.fillna("–").reset_index(), on=[*rows])
    return ordered.rename(columns={name: named(name) for name in rows}), long_form(long)


def wide_with_intervals(long: pd.DataFrame, rows: Sequence[str], column: str, form: str) -> pd.DataFrame:
    """A long table of quantities as a wide one, each with its interval in a cell, in the order of the long one.

    >>> long = pd.DataFrame({"method": ["lime"], "metric": ["n"], "estimate": [0.5], "low": [0.4], "high": [0.6]})
    >>> wide_with_intervals(long, ["method"], "metric", ".1f").to_dict("records")
    [{'method': 'LIME', 'n': '0.5 [0.4, 0.6]'}]
    """
    cells = [with_interval(row, form) for row in long.itertuples()]
    wide = long.assign(cell=cells).pivot(index=[*rows], columns=column, values="cell").fillna("–")
    labels = long[[*rows]].drop_duplicates()
    # An index of one level has its labels bare, not in tuples of one.
    order = pd.Index(labels[rows[0]]) if len(rows) == 1 else pd.MultiIndex.from_frame(labels)
    ordered = wide.reindex(order)[list(dict.fromkeys(long[column]))].reset_index()
    return ordered.assign(**{name: ordered[name].map(label) for name in rows}).rename_axis(columns=None)


def combinations_of_labels(**labels: Iterable[object]) -> pd.DataFrame:
    """All combinations of these labels, a row each: the cells of a table that no paper has.

    >>> combinations_of_labels(language=["de", "fr"], metric=["rho"]).to_dict("records")
    [{'language': 'de', 'metric': 'rho'}, {'language': 'fr', 'metric': 'rho'}]
    """
    return pd.DataFrame(itertools.product(*labels.values()), columns=[*labels])


def download_links(run: Folder, notebook: str, *names: str) -> str:
    """The line under an exhibit: code, data, image, provenance."""
    by_ending = {name.rpartition(".")[2]: f"<{run.link(name)}>`" for name in names}
    links = [f"{{download}}`code <{notebook}.ipynb>`"]
    links += [f"{{download}}`data {place}" for ending, place in by_ending.items() if ending == "csv"]
    links += [f"{{download}}`{ending} {place}" for ending, place in by_ending.items() if ending != "csv"]
    links.append(f"{{ref}}`provenance <provenance-{notebook.replace('_', '-')}>`")
    return f'<span class="exhibit-line">{" · ".join(links)}</span>'
