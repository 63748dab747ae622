"""Points of a figure that say their values where a reader points at them.

The image and its alternative text stay as they are; `book/_static/values.js` lays what is said over the image, for
mouse, finger and keyboard. A text's first line names the point, the others are its values.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from faithbook.show.numbers import written
from faithbook.text import with_minus_signs
from faithlib.errors import InputError

MOST_BYTES = 150_000
"""Of what one figure says."""


_SAID: WeakKeyDictionary[Any, list[tuple[Any, float, float, str, bool]]] = WeakKeyDictionary()
"""By figure its points: their axes, two coordinates in these, the text, and whether the point stands on a level line,
whose name goes before the text."""


def say(ax: Any, x: ArrayLike, y: ArrayLike, texts: Sequence[str], *, of_row: bool = False) -> None:
    """What is said at points of a figure, in the order of arrow keys; `of_row`: after the name that the y axis has for
    them. Points that are not finite are left out. Raises InputError where points and texts differ in number."""
    across, up = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    if len(texts) != across.size:
        raise InputError(f"{across.size} points and {len(texts)} texts: expected a text for each point")
    points = zip(across.ravel().tolist(), up.ravel().tolist(), texts, strict=True)
    _SAID.setdefault(ax.figure, []).extend(
        (ax, across, other, text, of_row) for across, other, text in points if np.isfinite([across, other]).all()
    )


def say_rows(ax: Any, estimate: ArrayLike, places: ArrayLike, name: str, *ends: ArrayLike) -> None:
    """Estimates on level lines, with the two `ends` of their intervals where there are any; `name`: what they are."""
    say(ax, estimate, places, [f"{name}: {text}" if name else text for text in values(estimate, *ends)], of_row=True)


def say_curve(
    ax: Any, x: ArrayLike, estimate: ArrayLike, name: str, *ends: ArrayLike, at: Sequence[str] | None = None
) -> None:
    """Estimates along a curve; `name`: of the curve; `at`: of its places, where they are not plain numbers."""
    places = at or [f"{value:g}" for value in np.asarray(x, dtype=float).tolist()]
    texts = [f"{name}\n{place}: {value}" for place, value in zip(places, values(estimate, *ends), strict=True)]
    say(ax, x, estimate, texts)


def say_cells(ax: Any, values: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]) -> None:
    """The cells of a map, row by row as seaborn lays them; what is missing says nothing."""
    for down, (row, cells) in enumerate(zip(rows, values.to_numpy().tolist(), strict=True)):
        places, texts = [], []
        for i, cell in enumerate(cells):
            if pd.isna(cell):
                continue
            shown = cell if isinstance(cell, str) else written(cell, ".3f")
            places.append(i)
            texts.append(f"{row}, {' '.join(columns[i].split())}\n{shown}")
        say(ax, [i + 0.5 for i in places], down + 0.5, texts)


def values(estimate: ArrayLike, *ends: ArrayLike, digits: int = 3) -> list[str]:
    """Estimates in words, with the two `ends` of their intervals where there are any."""
    numbers = np.asarray(estimate, dtype=float).ravel()
    low, high = (np.asarray(end, dtype=float).ravel() for end in ends or (np.full(len(numbers), np.nan),) * 2)
    form = f".{digits}f"
    texts = []
    for number, first, last in zip(numbers, low, high, strict=True):
        text = written(number, form)
        if not np.isnan([first, last]).any():
            text += f" ({written(first, form)} to {written(last, form)})"
        texts.append(text)
    return texts


def points_in_words(fig: Any) -> list[tuple[float, float, str]]:
    """The points of a figure that is laid out: from its left and its top, as shares of its size, and their texts."""
    points, names = [], dict[Any, dict[float, str]]()
    several = len({ax for ax, *_ in _SAID.get(fig, ())}) > 1
    for ax, x, y, text, of_row in _SAID.get(fig, ()):
        place = fig.transFigure.inverted().transform(ax.transData.transform((x, y)))
        if not (0 <= place[0] <= 1 and 0 <= place[1] <= 1):
            continue
        panel = (ax.get_title() or ax.get_title(loc="left")) if several else ""
        rows = names.setdefault(ax, _rows(ax)) if of_row else {}
        row = rows[min(rows, key=lambda height: abs(height - y))] if rows else ""
        head = ", ".join(filter(None, [panel, row]))
        if of_row and head:
            text = f"{head}\n{text}"
        elif panel:
            text = f"{panel}, {text}"
        points.append((round(float(place[0]), 4), round(1 - float(place[1]), 4), text))
    return points


def _rows(ax: Any) -> dict[float, str]:
    """The names that a y axis has for places."""
    places = ax.get_yticks()
    return dict(zip(places, ax.yaxis.get_major_formatter().format_ticks(places), strict=True))


def script(fig: Any, name: str) -> str:
    """What a figure says as the page carries it, as HTML; "" where it says nothing. Raises InputError for more than a
    page takes."""
    points = points_in_words(fig)
    if not points:
        return ""
    points = [(x, y, with_minus_signs(text)) for x, y, text in points]
    text = json.dumps(points, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    size = len(text.encode())
    if size > MOST_BYTES:
        raise InputError(f"figure {name} says {size:,} bytes, a page takes {MOST_BYTES:,}: say fewer points")
    return f'<script type="application/json" class="said" data-figure="{name}">{text}</script>'
