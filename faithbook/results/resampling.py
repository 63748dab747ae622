"""Intervals by resampling: inputs are drawn again, with everything that was measured on them.

Uncertainty is over inputs. `resample_means` draws inputs with replacement, the same draw for every method, metric and
model seed that scored them, so that contrasts between cells keep their pairing. Model seeds are never resampled: three
are too few to estimate a spread from, so reports show them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from faithlib.errors import InputError, unknown


def ends(draws: ArrayLike, *, axis: int = 0) -> NDArray[np.float64]:
    """The 2.5 and 97.5 % percentiles of values in resamples, along `axis`: [2, the other axes], NaN left out, NaN where
    nothing is left."""
    values = np.asarray(draws, dtype=float)
    if np.isnan(values).all():
        return np.full((2, *np.delete(values.shape, axis)), np.nan)
    return np.asarray(np.nanquantile(values, [0.025, 0.975], axis=axis))


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval and the number of values under it.

    `units`: inputs in the smallest cell that the estimate rests on, where that is known.
    """

    estimate: float
    low: float
    high: float
    n: int
    units: int | None = None

    @classmethod
    def of(cls, estimate: float, draws: ArrayLike, n: int, units: int | None = None) -> Self:
        """The estimate with the 95 % percentile interval of its values in resamples; undefined ones are left out.

        >>> str(Interval.of(0.5, [0.4, 0.5, 0.6, float("nan")], 3))
        '0.500 [0.405, 0.595]'
        """
        low, high = ends(draws)
        return cls(float(estimate), float(low), float(high), n, units)

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def ends(self) -> dict[str, float]:
        """Estimate, low and high by these names, as the columns of a table."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}

    def contains(self, value: float) -> bool:
        """Whether `value` lies within the interval."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Resampled:
    """Cell means and what they become when inputs are drawn again.

    `estimate`: one mean a cell (Series, indexed by the cell's labels); `draws`: one row a resample, one column a cell;
    `n`: inputs in each cell; `dropped`: undefined values in each cell.
    """

    estimate: pd.Series
    draws: pd.DataFrame
    n: pd.Series
    dropped: pd.Series

    def interval(self, function: Callable[[pd.DataFrame], pd.Series] | None = None, **cells: object) -> Interval:
        """The 95 % percentile interval of a function of the cell means, or of the mean over the chosen `cells`.

        `function` maps a frame with one row a resample and one column a cell to one number a row.

        >>> frame = pd.DataFrame({"m": ["a"] * 4, "i": list("wxyz"), "v": [0.0, 0.0, 1.0, 1.0]})
        >>> resample_means(frame, value="v", unit="i", cells=["m"]).interval(m="a").estimate
        0.5
        """
        chosen = self._columns(cells)
        apply = function or (lambda frame: frame.mean(axis=1))
        estimate = apply(self.estimate[chosen].to_frame().T)
        draws = apply(self.draws.loc[:, chosen])
        n = self.n[chosen]
        return Interval.of(estimate.iloc[0], draws, int(n.sum()), int(n.min()))

    def difference(self, plus: dict[str, object], minus: dict[str, object]) -> Interval:
        """The interval of the mean over the cells `plus` minus the mean over the cells `minus`, drawn together.

        `n` is the smaller number of values on either side.

        >>> frame = pd.DataFrame({"m": list("aabb"), "i": list("xyxy"), "v": [1.0, 3.0, 0.0, 2.0]})
        >>> str(resample_means(frame, value="v", unit="i", cells=["m"]).difference({"m": "a"}, {"m": "b"}))
        '1.000 [1.000, 1.000]'
        """
        a, b = self._columns(plus), self._columns(minus)
        draws = self.draws.loc[:, a].mean(axis=1) - self.draws.loc[:, b].mean(axis=1)
        estimate = self.estimate[a].mean() - self.estimate[b].mean()
        n = min(self.n[a].sum(), self.n[b].sum())
        return Interval.of(estimate, draws, int(n), int(self.n[a | b].min()))

    def table(self) -> pd.DataFrame:
        """Every cell with estimate, low, high, n and dropped."""
        low, high = self.draws.quantile(0.025), self.draws.quantile(0.975)
        parts = {"estimate": self.estimate, "low": low, "high": high, "n": self.n, "dropped": self.dropped}
        return pd.DataFrame(parts).reset_index()

    def _columns(self, cells: dict[str, object]) -> NDArray[np.bool_]:
        chosen = np.ones(len(self.estimate), dtype=bool)
        for level, wanted in cells.items():
            if level not in self.estimate.index.names:
                raise unknown("cell label", level, [str(name) for name in self.estimate.index.names])
            values = [wanted] if isinstance(wanted, str | int | float) else list(wanted)  # type: ignore[call-overload]
            chosen &= self.estimate.index.get_level_values(level).isin(values)
        if not chosen.any():
            raise InputError(f"no cell has {cells}: there are {self.estimate.index.to_list()[:5]} …")
        return chosen


def resample_means(
    frame: pd.DataFrame,
    *,
    value: str,
    unit: str | Sequence[str],
    cells: Sequence[str],
    stratum: str | None = None,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Resampled:
    """Means of `value` in every combination of the columns `cells`, and their bootstrap over units.

    A unit (one input, named by the columns `unit`) is drawn with everything that was measured on it; with `stratum`
    (say, the data set) the number of units from each stays fixed. NaN values are left out of the means and counted.
    Weights of a resample are multinomial counts, so that no resampled table is ever built.
    """
    units = [unit] if isinstance(unit, str) else list(unit)
    if missing := {value, *units, *cells} - set(frame.columns):
        raise InputError(f"the frame lacks the columns {sorted(missing)}: it has {sorted(frame.columns)}")
    if frame.empty:
        raise InputError("the frame has no rows: nothing to resample")
    # A unit's number stands for its columns, which may be cell labels as well (every cell of one data set, say).
    frame = frame.assign(_n=1, _unit=frame.groupby(units, sort=True, dropna=False).ngroup())
    wide = frame.pivot_table(
        index="_unit", columns=list(cells), values=value, aggfunc="mean", dropna=False, observed=True
    )
    asked = frame.pivot_table(index="_unit", columns=list(cells), values="_n", aggfunc="sum", observed=True)
    # Crossing the levels of several unit or cell columns made rows and columns that nobody measured.
    wide = wide.reindex(index=asked.index, columns=asked.columns)
    strata = frame.drop_duplicates("_unit").set_index("_unit")[stratum].reindex(wide.index) if stratum else None
    weights = drawn_counts(np.zeros(len(wide)) if strata is None else strata.to_numpy(dtype=object), n_resamples, seed)
    values = wide.to_numpy(dtype=float)
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = filled.sum(0) / there.sum(0)
        draws = (weights @ filled) / (weights @ there)
    columns = wide.columns
    return Resampled(
        pd.Series(estimate, index=columns),
        pd.DataFrame(draws, columns=columns),
        pd.Series(there.sum(0), index=columns),
        pd.Series((asked.reindex(wide.index).notna().to_numpy() & ~there).sum(0), index=columns),
    )


def over_inputs(frame: pd.DataFrame, *, value: str, cells: Sequence[str]) -> Resampled:
    """`resample_means` as every report draws: inputs within their data set, and all seeds and methods of an input with
    it.

    >>> frame = pd.DataFrame({"dataset": "d", "input": [1, 2], "method": "m", "value": [0.2, 0.4]})
    >>> round(float(over_inputs(frame, value="value", cells=["method"]).estimate["m"]), 3)
    0.3
    """
    return resample_means(frame, value=value, unit=["dataset", "input"], cells=cells, stratum="dataset")


def drawn_counts(strata: NDArray[Any], n_resamples: int, seed: int, *, size: int | None = None) -> NDArray[np.float64]:
    """How often each unit is drawn in each resample, [R, U]: within its stratum [U], with replacement, so that every
    stratum keeps its number of units, or has `size`. The one bootstrap of the book; all intervals over inputs stand on
    these counts.
    """
    generator = np.random.default_rng(seed)
    counts = np.zeros((n_resamples, len(strata)))
    for stratum in pd.unique(strata):
        members = np.flatnonzero(strata == stratum)
        equally = np.full(len(members), 1 / len(members))
        counts[:, members] = generator.multinomial(size or len(members), equally, size=n_resamples)
    return counts


def mean_interval(values: ArrayLike, *, n_resamples: int = 2000, seed: int = 0) -> Interval:
    """The mean of independent values with its percentile bootstrap interval; NaN are left out."""
    kept = np.asarray(values, dtype=float)
    kept = kept[~np.isnan(kept)]
    if not len(kept):
        raise InputError("all values are NaN or there are none: no mean")
    draws = drawn_counts(np.zeros(len(kept)), n_resamples, seed) @ kept / len(kept)
    return Interval.of(kept.mean(), draws, len(kept), len(kept))


def defined_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the first axis of what is not NaN; NaN where nothing is left.

    >>> defined_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, nan]
    """
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0).sum(0) / there.sum(0))
