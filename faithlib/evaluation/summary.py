"""The table of `evaluate`: a pandas DataFrame that also sums itself up for a reader.

Intervals are 95 % t intervals of the mean over inputs, mean +- t(.975, n - 1) s / sqrt(n); NaN values are left out, and
n says how many inputs remain. They hold for inputs that are drawn independently.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from faithlib.catalogue import DIRECTIONS, HIGHER
from faithlib.errors import InputError
from faithlib.evaluation.report import Shown, fragment, page, summary_table
from faithlib.units import some_rows

COLUMNS = ("input", "method", "metric", "value", "direction")
RANDOM = "random"
ARROWS = {HIGHER: "↑", "lower": "↓"}
LEGEND = (
    "Means ± half of the 95 % t interval over n inputs (the fewest of a line); ↑ higher is better, ↓ lower is better.\n"
    "* better than random, ! worse: the 95 % t interval of the differences on the same inputs leaves out 0."
)


class Table(pd.DataFrame):
    """What `evaluate` returns: a DataFrame of COLUMNS, one value per input, method and metric.

    Selections and copies are Tables as well; without these columns they are like any other DataFrame. `shown`: the
    first inputs with their scores, for heat maps; it travels with selections and pickles, not with files of pandas.

    >>> table = Table({"input": [0, 1], "method": "lime", "metric": "saco", "value": [0.2, 0.4], "direction": "higher"})
    >>> print(round(table.intervals().high[0], 2))
    1.57
    """

    _metadata = ["shown", "whole"]  # noqa: RUF012 - pandas reads a list
    shown: tuple[Shown, ...] = ()
    whole: int = -1  # rows of the table that evaluate made

    @property
    def _constructor(self) -> Any:
        return Table

    def intervals(self) -> pd.DataFrame:
        """One row per metric and method: mean, low, high, n, undefined (NaN values), and `against_random` "better" or
        "worse" where the interval of the differences from random, on the same inputs, leaves out 0.

        Raises InputError for a selection without the COLUMNS, and for several values of one input.
        """
        if missing := [name for name in COLUMNS if name not in self.columns]:
            raise InputError(f"no column {', '.join(missing)}: expected a table of evaluate, or some of its rows")
        if self.duplicated(["input", "method", "metric"]).any():
            raise InputError("some values are there twice: number the inputs of tables that are put together")
        rows = []
        for metric in (name for name in DIRECTIONS if name in set(self["metric"])):
            wide = pd.DataFrame(self)[self["metric"] == metric].pivot(index="input", columns="method", values="value")
            for method in (name for name in dict.fromkeys(self["method"]) if name in wide):
                mean, half, n = _interval(wide[method])
                row = {"metric": metric, "direction": DIRECTIONS[metric], "method": method, "mean": mean}
                row |= {"low": mean - half, "high": mean + half, "n": n, "undefined": len(wide) - n}
                rows.append(row | {"against_random": _against_random(wide, method, DIRECTIONS[metric])})
        return pd.DataFrame(rows)

    def summary(self) -> Summary:
        """Metrics by methods as a person reads them, random last: means with intervals, arrows, n, and notes."""
        intervals = self.intervals()
        methods = sorted(dict.fromkeys(intervals["method"]), key=lambda name: name == RANDOM)
        lines = []
        for metric, own in intervals.groupby("metric", sort=False):
            cells = own.set_index("method")
            halves = (cells["high"] - cells["mean"]).dropna()
            digits = _digits(float(halves.median()) if len(halves) else np.nan)
            line = {"metric": f"{metric} {ARROWS[DIRECTIONS[str(metric)]]}", "n": int(cells["n"].min())}
            lines.append(
                line | {name: _cell(cells.loc[name], digits) if name in cells.index else "" for name in methods}
            )
        made = Summary(pd.DataFrame(lines).set_index("metric"))
        made.notes = (*LEGEND.split("\n"), *notes_of(self))
        return made

    def to_html(self, buf: Any = None, *args: Any, **options: Any) -> Any:
        """A page with the summary, what its metrics mean, and heat maps of the first inputs; nothing in it is loaded
        from outside. Written to `buf` (a path or an open file), or returned where that is None.

        Given any other argument, or without the COLUMNS, it is the `to_html` of pandas.
        """
        if args or options or not self._is_whole():
            return super().to_html(buf, *args, **options)
        summary = self.summary()
        html = page(summary, summary.notes, self.shown)
        if buf is None:
            return html
        return buf.write(html) if hasattr(buf, "write") else Path(buf).write_text(html, encoding="utf-8")

    def _repr_html_(self) -> str | None:
        if not self._is_whole() or len(self) != self.whole:
            return pd.DataFrame(self)._repr_html_()  # type: ignore[operator]
        summary = self.summary()
        return fragment(summary, summary.notes, self.shown)

    def _is_whole(self) -> bool:
        return len(self) > 0 and all(name in self.columns for name in COLUMNS)


class Summary(pd.DataFrame):
    """Metrics by methods, as strings; printed with the notes that it needs.

    >>> table = Table({"input": [0, 1], "method": "lime", "metric": "saco", "value": [0.2, 0.4], "direction": "higher"})
    >>> print(table.summary().iloc[:, :2].to_string(index_names=False))
            n       lime
    saco ↑  2  0.3 ± 1.3
    """

    _metadata = ["notes"]  # noqa: RUF012 - pandas reads a list
    notes: tuple[str, ...] = ()

    @property
    def _constructor(self) -> Any:
        return Summary

    def __repr__(self) -> str:
        width = shutil.get_terminal_size((120, 24)).columns
        return "\n".join((self.to_string(line_width=max(width, 80), index_names=False), "", *self.notes))

    def _repr_html_(self) -> str | None:
        return summary_table(self, self.notes)


def notes_of(table: pd.DataFrame) -> list[str]:
    """What a reader of the numbers has to know, in sentences: what was skipped, cut off, left out, undefined.

    >>> table = Table({"value": [0.1]})
    >>> table.attrs["truncated"] = [3]
    >>> notes_of(table)
    ['Cut off at their end: 1 texts (rows 3).']
    """
    attrs, notes = table.attrs, []
    if skipped := attrs.get("skipped"):
        notes.append(f"Skipped: {len(skipped)} inputs (rows {some_rows([one['row'] for one in skipped])}).")
    if cut := attrs.get("truncated"):
        notes.append(f"Cut off at their end: {len(cut)} texts (rows {some_rows(cut)}).")
    notes += [f"Left out: {name}. {why}" for name, why in attrs.get("left_out", {}).items()]
    for one in attrs.get("undefined", ()):
        notes.append(f"Undefined for rows {some_rows(one['rows'])} ({', '.join(one['metrics'])}): {one['reason']}.")
    if "method" in table and RANDOM not in set(table["method"]):
        notes.append("No random baseline: add 'random' to the methods.")
    return notes


def _interval(values: pd.Series[Any]) -> tuple[float, float, int]:
    """Mean, half of its interval (NaN for fewer than two values) and number of the defined values."""
    values = values.dropna()
    n = len(values)
    if n < 2:
        return float(values.mean()), np.nan, n
    from scipy import stats  # which takes long to import, and no table needs it before it is summed up

    return float(values.mean()), float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)), n


def _against_random(wide: pd.DataFrame, method: str, direction: str) -> str:
    if RANDOM not in wide or method == RANDOM:
        return ""
    mean, half, _ = _interval(wide[method] - wide[RANDOM])
    if not abs(mean) > half:  # NaN as well
        return ""
    return "better" if (mean > 0) == (direction == HIGHER) else "worse"


def _digits(half: float) -> int:
    """Decimals that show two digits of half an interval."""
    return 3 if not half > 0 else int(np.clip(1 - np.floor(np.log10(half)), 1, 4))


def _cell(one: pd.Series[Any], digits: int) -> str:
    if np.isnan(one["mean"]):
        return "undefined"
    half = one["high"] - one["mean"]
    mark = {"better": "*", "worse": "!"}.get(one["against_random"], "")
    return f"{one['mean']:.{digits}f}" + ("" if np.isnan(half) else f" ± {half:.{digits}f}") + mark
