"""Values of inputs in the cells of a table, averaged and drawn together: where quantities come from.

cells = Conditions.of(units, over=["method", "metric"], unit=["dataset", "id"], cluster="cluster", stratum="dataset")
gain = cells.mean(method="lime", metric="nc") - cells.mean(method="random", metric="nc")
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from faithbook.stats.estimates import Array, Drawn, Estimate, Share
from faithlib.errors import InputError, unknown


def among(column: pd.Categorical, wanted: Iterable[object]) -> NDArray[np.bool_]:
    """Which rows of a column, asked again and again, have one of these labels.

    >>> among(pd.Categorical(["a", "b", "a", "c"]), ["a", "c", "d"]).tolist()
    [True, False, True, True]
    """
    numbers = column.categories.get_indexer(pd.Index([*wanted], dtype=object))
    return np.isin(column.codes, numbers[numbers >= 0])


@dataclass(frozen=True)
class Conditions:
    """Values of units in cells, ready to be averaged and drawn: `values` [U, C] with NaN where undefined or not
    measured, the cluster [U] of each unit, the draws that all quantities share, and the means of cells [S, C] on each
    of several seeds alone."""

    values: pd.DataFrame
    cluster: NDArray[np.int64]
    drawn: Drawn
    bounds: tuple[float, float]
    seeds: Array
    _drawn_counts: dict[int, Array] = field(default_factory=dict, repr=False)
    """By kind of cell, the number of its values on every draw."""

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        *,
        over: Sequence[str],
        unit: str | Sequence[str],
        value: str = "value",
        cluster: str | None = None,
        stratum: str | None = None,
        bounds: tuple[float, float] = (-np.inf, np.inf),
        n_resamples: int = 9999,
    ) -> Conditions:
        """Cells of a long frame: one for every combination of the columns `over` that was measured.

        `unit`: the columns that name an input; `cluster`: the column of what it shares a source by (default: itself);
        `stratum`: the column within which clusters are drawn. `bounds`: the range of a value. Several values of a unit
        in one cell (seeds, say) count by their mean; what each value of a column `seed` gives alone is kept.

        Raises InputError for a missing column or an empty frame.
        """
        units = [unit] if isinstance(unit, str) else list(unit)
        wanted = {value, *units, *over, *(name for name in (cluster, stratum) if name)}
        if missing := sorted(wanted - set(frame.columns)):
            raise InputError(f"the frame lacks the columns {missing}: it has {sorted(frame.columns)}")
        if frame.empty:
            raise InputError("the frame has no rows: there is nothing to average")
        frame = frame.assign(_unit=frame.groupby(units, sort=True, dropna=False).ngroup())
        wide = frame.groupby(["_unit", *over], observed=True, dropna=False)[value].mean().unstack(list(over))
        first = frame.drop_duplicates("_unit").set_index("_unit").reindex(wide.index)
        strata = pd.factorize(first[stratum])[0] if stratum else np.zeros(len(first), dtype=np.int64)
        shared = first[cluster].to_numpy() if cluster else first.index.to_numpy()
        number, keys = pd.factorize(pd.MultiIndex.from_arrays([strata, shared]))
        stratum_of = np.array([key[0] for key in keys], dtype=np.int64)
        seeds = _by_seed(frame, over, value, wide.columns)
        return cls(wide, number, Drawn.of(stratum_of, n_resamples=n_resamples, seed=0), bounds, seeds)

    def mean(self, **labels: object) -> Estimate:
        """The mean over the cells that have these labels (each one or several) of each cell's mean over its units; what
        `having` raises."""
        return self._quantity(self.having(**labels))

    def having(self, **labels: object) -> NDArray[np.bool_]:
        """Which cells [C] have these labels (each one or several).

        Raises UnknownNameError for a level that the cells do not have, InputError where no cell has the labels.
        """
        columns = self.values.columns
        chosen = np.ones(len(columns), dtype=bool)
        for level, wanted in labels.items():
            if level not in self._levels:
                raise unknown("cell label", level, self._levels)
            accepted = [wanted] if isinstance(wanted, str | int | float) else list(wanted)  # type: ignore[call-overload]
            chosen &= among(self._levels[level], accepted)
        if not chosen.any():
            raise InputError(f"no cell has {labels}: there are {columns.to_list()[:5]} …")
        return chosen

    @property
    def undefined(self) -> Estimate:
        """What has no value on any unit: NaN, of no unit, about which no rule decides anything."""
        draws, influence = np.full(len(self.drawn.counts), np.nan), np.zeros(len(self.drawn.stratum))
        return Estimate(np.nan, draws, influence, self.drawn, 0, 0, self.bounds)

    @cached_property
    def _levels(self) -> dict[str, pd.Categorical]:
        """What every cell is called, by label."""
        columns = self.values.columns
        levels = {str(name): columns.get_level_values(place) for place, name in enumerate(columns.names)}
        return {name: pd.Categorical(level) for name, level in levels.items()}

    @cached_property
    def _sums(self) -> tuple[Array, Array]:
        """Of every cluster and cell, the number of values and their sum, [K, C] each."""
        count, total = (np.zeros((len(self.drawn.stratum), self.values.shape[1])) for _ in range(2))
        np.add.at(count, self.cluster, self.values.notna().to_numpy(dtype=float))
        np.add.at(total, self.cluster, self.values.fillna(0.0).to_numpy(dtype=float))
        return count, total

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """The kind [C] of every cell: those of one kind have as many values in the same clusters."""
        columns = np.ascontiguousarray(self._sums[0].T)
        return np.asarray(pd.factorize(np.array([column.tobytes() for column in columns], dtype=object))[0])

    def _draws(self, chosen: NDArray[np.bool_]) -> Array:
        """The mean of cells on every draw, [R]. Cells of one kind have a common denominator: their sums are added
        first, so that the counts are gone through once for all of them."""
        draws = np.zeros(len(self.drawn.counts))
        for kind in np.unique(self._kinds[chosen]):
            same = chosen & (self._kinds == kind)
            count, total = self._sums[0][:, same][:, 0], self._sums[1][:, same].sum(axis=1)
            valued = count > 0
            drawn = self.drawn.among(valued)
            if kind not in self._drawn_counts:
                self._drawn_counts[kind] = drawn @ count[valued]
            with np.errstate(invalid="ignore", divide="ignore"):
                draws += (drawn @ total[valued]) / self._drawn_counts[kind]
        return draws / chosen.sum()

    def _quantity(self, chosen: NDArray[np.bool_]) -> Estimate:
        count, total = (sums[:, chosen] for sums in self._sums)
        n = count.sum(0)
        if not n.all():
            raise InputError("a cell has no defined value: there is no mean of it")
        means = total.sum(0) / n
        influence = ((total - count * means) / n).mean(axis=1)
        width = self.bounds[1] - self.bounds[0]
        return Estimate(
            float(means.mean()),
            self._draws(chosen),
            influence,
            self.drawn,
            clusters=int((count > 0).sum(0).min()),
            n=int(n.min()),
            bounds=self.bounds,
            share=self._share(int(chosen.argmax())) if len(n) == 1 else None,
            seeds=self.seeds[:, chosen].mean(axis=1),
            reach=(count / n).mean(axis=1) * width if np.isfinite(width) else None,
        )

    def _share(self, cell: int) -> Share | None:
        """Where the values of a cell are all 0 or 1, for how many independent ones they count.

        A cell of equal values may as well hold differences that are all zero: it is a share where values lie in [0, 1].
        """
        column = self.values.iloc[:, cell].to_numpy(dtype=float)
        there = ~np.isnan(column)
        values = column[there]
        if not np.isin(values, (0.0, 1.0)).all() or ((values == values[0]).all() and not self._in_unit):
            return None
        return Share(effective_n(values, self.cluster[there]))

    @cached_property
    def _in_unit(self) -> bool:
        """Whether values lie in [0, 1]: by their bounds, or (without bounds) all that there are."""
        if np.isfinite(self.bounds).any():
            return self.bounds == (0, 1)
        values = self.values.to_numpy(dtype=float)
        return bool(np.nanmin(values) >= 0 and np.nanmax(values) <= 1)


def _by_seed(frame: pd.DataFrame, over: Sequence[str], value: str, columns: pd.Index[Any]) -> Array:
    """The mean of each of the cells `columns` on each seed [S, C]; no row where there are not several."""
    if "seed" in over or "seed" not in frame.columns or frame["seed"].nunique() < 2:
        return np.empty((0, len(columns)))
    wide = frame.groupby(["seed", *over], observed=True, dropna=False)[value].mean().unstack(list(over))
    return wide.reindex(columns=columns).to_numpy(dtype=float)


def effective_n(values: ArrayLike, cluster: ArrayLike) -> float:
    """As how many independent values clustered 0/1 values count: p (1 - p) over the variance of their mean; at most
    the number of clusters, and that number where all values are equal.

    >>> effective_n([0, 1, 0, 1], ["a", "a", "b", "b"])
    2.0
    """
    frame = pd.DataFrame({"value": np.asarray(values, dtype=float), "cluster": np.asarray(cluster)})
    share, groups = frame["value"].mean(), frame.groupby("cluster", sort=False)["value"]
    deviations = (groups.sum() - share * groups.size()).to_numpy() / len(frame)
    k = len(deviations)
    variance = float((deviations**2).sum()) * k / (k - 1) if k > 1 else 0.0
    return float(k) if variance == 0 else float(min(k, share * (1 - share) / variance))
