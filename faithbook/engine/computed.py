"""What a computation has computed, at the end of its notebook: a table and a figure of its means, beside those that the
committed full run has of the same data set, model and seed.

    run.finish()
    beside_book(run, metrics=["soft_ns", "soft_nc"])

It reads what is saved, so it comes after the run: nothing that it shows is a result that another notebook reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from faithbook.engine.inputs import UNITS_DIR
from faithbook.engine.run import Run
from faithbook.engine.shares import point_of
from faithbook.engine.units import UNITS, parameters_of, read_units
from faithbook.paths import root
from faithlib.errors import DataError, InputError, unknown

if TYPE_CHECKING:
    import pandas as pd  # a second to import, which the many short processes of a build do not need

_FEWEST = 2  # clusters of a standard error
_ENOUGH = 10  # clusters on either side of a difference
_COLUMNS = 3  # panels beside one another
_STATISTICS = ("mean", "low", "high", "n", "book", "book_n", "apart")


def beside_book(
    run: Run,
    *,
    part: str = "",
    by: Sequence[str] = ("metric", "method"),
    metrics: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
) -> None:
    """Show the means of a run's values of single inputs: a table, and a figure with a panel for each level of the first
    column of `by`.

    `part`: which table of values; `by`: the columns whose combinations are rows; `metrics`: only these; `where`: only
    rows with these levels. Each mean is over inputs, with a 95 % interval (Student's t over clusters) and n inputs;
    *book*: the full run's mean of the same data set, model and seed, where it has one; *apart*: the difference in
    standard errors, as if the inputs were different ones, where both have ten clusters.

    Says so where a share of the inputs, or a choice of them, has none of these values. Raises DataError where a whole
    run saved no table of values, UnknownNameError for a metric that it has not, InputError where a column is missing.
    """
    from IPython.display import Markdown, display

    table = means_beside_book(run, part=part, by=by, metrics=metrics, where=where)
    if table.empty:  # there may be more shares than inputs, and a choice of inputs may leave these out
        display(Markdown("*This run has no such values.*"))
        return
    display(_shown(table, by))
    _drawn(table, by)


def means_beside_book(
    run: Run,
    *,
    part: str = "",
    by: Sequence[str] = ("metric", "method"),
    metrics: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """The table of `beside_book` as numbers (`by`, mean, low, high, n, book, book_n, apart); it may have no row."""
    import numpy as np
    import pandas as pd
    import scipy.stats

    path = run.folder / (f"{UNITS}_{part}.parquet" if part else f"{UNITS}.parquet")
    is_share = run.share[1] > 1
    if not path.is_file():
        if is_share:  # no input falls to it
            return pd.DataFrame(columns=[*by, *_STATISTICS])
        raise DataError(f"{run.job.label} has saved no {path.name}: call run.finish() first")
    units = read_units(path)
    if not is_share and (absent := sorted(set(metrics) - set(units["metric"]))):
        raise unknown("metric", absent[0], units["metric"].unique())
    ours = means_by(_chosen(units, by, metrics, where), by).reset_index()
    half = scipy.stats.t.ppf(0.975, (ours["clusters"] - 1).clip(lower=1)) * ours["standard_error"]
    table = ours[[*by, "mean"]].assign(low=ours["mean"] - half, high=ours["mean"] + half, n=ours["n"])
    book = _values_of_book(run, part)
    if book is None:
        return table.assign(book=np.nan, book_n=0, apart=np.nan)
    theirs = means_by(_chosen(book, by, metrics, where), by).reset_index()
    both = ours.merge(theirs, on=list(by), how="left", suffixes=("", "_book"))
    error = (both["standard_error"] ** 2 + both["standard_error_book"] ** 2) ** 0.5
    enough = both[["clusters", "clusters_book"]].min(axis=1, skipna=False) >= _ENOUGH
    spread = (both["standard_error"] > 0) & (both["standard_error_book"] > 0)
    apart = (both["mean"] - both["mean_book"]) / error.where(enough & spread)
    return table.assign(book=both["mean_book"], book_n=both["n_book"].fillna(0).astype(int), apart=apart)


def means_by(units: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Mean, standard error over clusters (NaN for one alone), number of inputs and of clusters by labels. Several
    values of an input count by their mean."""
    import numpy as np
    import pandas as pd

    inputs = units.groupby([*labels, "cluster", "id"], observed=True)["value"].mean().dropna()
    clusters = inputs.groupby([*labels, "cluster"], observed=True).agg(["sum", "size"])
    total, size = (clusters[name].groupby(list(labels), observed=True) for name in ("sum", "size"))
    squares = (clusters["sum"] - clusters["size"] * total.transform("sum") / size.transform("sum")) ** 2
    k, n = size.count(), size.sum()
    error = np.sqrt(squares.groupby(list(labels), observed=True).sum() * k / (k - 1).where(k >= _FEWEST)) / n
    return pd.DataFrame({"mean": total.sum() / n, "standard_error": error, "n": n, "clusters": k})


def _chosen(
    units: pd.DataFrame,
    by: Sequence[str],
    metrics: Sequence[str],
    where: Mapping[str, Any] | None,
) -> pd.DataFrame:
    """The values with these metrics and levels; maybe none."""
    missing = [name for name in (*by, *(where or {})) if name not in units.columns]
    if missing:
        raise InputError(f"the values have no column {', '.join(missing)}: they have {', '.join(units.columns)}")
    chosen = units[units["metric"].isin(list(metrics))] if metrics else units
    for name, level in (where or {}).items():
        chosen = chosen[chosen[name].isin(level if isinstance(level, list | tuple) else [level])]
    return chosen


def _values_of_book(run: Run, part: str) -> pd.DataFrame | None:
    """The values that the full run has of the same point of the notebook's grid."""
    import pandas as pd

    name, source = run.job.notebook, run.job.source
    wanted = _without_profile(point_of(source, run.job.parameters))
    ending = f"-{UNITS}_{part}.parquet" if part else f"-{UNITS}.parquet"
    frames = []
    for path in sorted((root() / UNITS_DIR / name).glob(f"*{ending}")):
        if _without_profile(point_of(source, parameters_of(path))) == wanted:
            frames.append(read_units(path))
    return pd.concat(frames, ignore_index=True) if frames else None


def _without_profile(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in point.items() if name != "profile"}


def _shown(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The table with three digits, an interval in one column, a dash for what is not there."""
    import pandas as pd

    def text(value: float, form: str) -> str:
        return "–" if math.isnan(value) else format(value, form)

    rows = []
    for row in table.to_dict("records"):
        cells = {name: row[name] for name in by}
        cells |= {
            "mean": text(row["mean"], ".3f"),
            "95 % interval": "–",
            "n": row["n"],
            "book": text(row["book"], ".3f"),
        }
        if not math.isnan(row["low"]):
            cells["95 % interval"] = f"{row['low']:.3f} to {row['high']:.3f}"
        rows.append(cells | {"book's n": row["book_n"] or "–", "apart (SE)": text(row["apart"], "+.1f")})
    return pd.DataFrame(rows)


def _drawn(table: pd.DataFrame, by: Sequence[str]) -> None:
    import matplotlib.pyplot as plt
    import numpy as np
    from IPython.display import display

    table = table.assign(panel=table[by[0]].astype(str) if len(by) > 1 else "")
    panels = list(dict.fromkeys(table["panel"]))
    columns = min(_COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    most = int(table.groupby("panel").size().max())
    fig, axes = plt.subplots(
        lines, columns, figsize=(3.4 * columns, (0.28 * most + 1) * lines), squeeze=False, layout="constrained"
    )
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, panel in zip(axes.flat, panels, strict=False):
        rows = table[table["panel"] == panel]
        places = -np.arange(len(rows))
        names = rows[[*by[1:]]].astype(str).agg(", ".join, axis=1) if len(by) > 1 else rows[by[0]].astype(str)
        ax.hlines(places, rows["low"], rows["high"], color="#0072B2")
        ax.plot(rows["mean"], places, "o", color="#0072B2", label="this run")
        ax.plot(rows["book"], places, "D", mfc="white", mec="#D55E00", label="the book")
        ax.set_yticks(places, names)
        ax.set_title(panel, fontsize="medium")
    axes.flat[0].legend(fontsize="small")
    display(fig)
    plt.close(fig)  # it has been shown, and many of them would stay in memory
