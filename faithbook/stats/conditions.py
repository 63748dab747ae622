"""Values of inputs by condition, averaged and resampled together: where estimates come from.

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
from numpy.typing import NDArray

from faithbook.stats.estimate import RESAMPLES, UNLIMITED, Array, Estimate, Range, Resamples
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
    """Values of units by condition, ready to be averaged and resampled.

    - `values` [U, C]: of every unit and condition, NaN where undefined or not measured.
    - `cluster` [U]: the cluster of each unit. `resamples`: of these clusters, shared by all estimates.
    - `bounds`: the range of a value.
    - `seeds` [S, C]: the means of conditions on each of several seeds alone; no row where there are not several.
    """

    values: pd.DataFrame
    cluster: NDArray[np.int64]
    resamples: Resamples
    bounds: Range
    seeds: Array
    _resampled_counts: dict[tuple[int, int], Array] = field(default_factory=dict, repr=False)
    """By kind of condition and stratum, the number of its values on every resample."""

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
        bounds: Range = UNLIMITED,
        n_resamples: int = RESAMPLES,
    ) -> Conditions:
        """Conditions of a long frame: one for every combination of the columns `over` that was measured.

        `unit`: the columns that name an input; `cluster`: the column of what it shares a source by (default: itself);
        `stratum`: the column within which clusters are resampled. `bounds`: the range of a value. Several values of a
        unit in one condition (seeds, say) count by their mean; what each value of a column `seed` gives alone is kept.

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
        return cls(wide, number, Resamples.draw(stratum_of, n_resamples), bounds, seeds)

    def mean(self, **labels: object) -> Estimate:
        """The mean over the conditions that have these labels (each one or several) of each condition's mean over its
        units.

        Raises what `having` raises, and InputError where a condition has no defined value.
        """
        chosen = self.having(**labels)
        counts, totals = (sums[:, chosen] for sums in self._sums)
        n = counts.sum(axis=0)
        if not n.all():
            raise InputError("a condition has no defined value: there is no mean of it")
        means = totals.sum(axis=0) / n
        members = self.resamples.members
        clusters = np.zeros(len(members), dtype=np.int64)
        for h, places in enumerate(members):
            of_condition = (counts[places] > 0).sum(axis=0)
            if of_condition.any():  # the conditions that have nothing in this stratum do not rest on it
                clusters[h] = of_condition[of_condition > 0].min()
        return Estimate(
            means.mean(),
            np.stack([self._deviations(chosen, h) for h in range(len(members))], axis=1),
            clusters,
            self.resamples,
            ((totals - counts * means) / n).mean(axis=1),
            int(n.min()),
            self.bounds,
        )

    def by_seed(self, **labels: object) -> Array:
        """The same mean on each of several seeds alone, [S]; empty where there are not several."""
        return np.asarray(self.seeds[:, self.having(**labels)].mean(axis=1))

    def having(self, **labels: object) -> NDArray[np.bool_]:
        """Which conditions [C] have these labels (each one or several).

        Raises UnknownNameError for a level that the conditions do not have, InputError where none has the labels.
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
        resamples = self.resamples
        nothing = np.zeros((len(resamples.counts), len(resamples.sizes)))
        clusters = np.zeros(len(resamples.sizes), dtype=np.int64)
        return Estimate(np.float64(np.nan), nothing, clusters, resamples, None, 0, self.bounds)

    @cached_property
    def _levels(self) -> dict[str, pd.Categorical]:
        """What every condition is called, by label."""
        columns = self.values.columns
        levels = {str(name): columns.get_level_values(place) for place, name in enumerate(columns.names)}
        return {name: pd.Categorical(level) for name, level in levels.items()}

    @cached_property
    def _sums(self) -> tuple[Array, Array]:
        """The number of values and their sum, of every cluster and condition, [K, C] each."""
        count, total = (np.zeros((len(self.resamples.stratum), self.values.shape[1])) for _ in range(2))
        np.add.at(count, self.cluster, self.values.notna().to_numpy(dtype=float))
        np.add.at(total, self.cluster, self.values.fillna(0.0).to_numpy(dtype=float))
        return count, total

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """The kind [C] of every condition: those of one kind have as many values in the same clusters."""
        columns = np.ascontiguousarray(self._sums[0].T)
        return np.asarray(pd.factorize(np.array([column.tobytes() for column in columns], dtype=object))[0])

    def _deviations(self, chosen: NDArray[np.bool_], h: int) -> Array:
        """The change of the mean of conditions where one stratum is resampled, [R].

        Conditions of one kind have a common denominator: their sums are added first, so that the counts are gone
        through once for all of them.
        """
        places = self.resamples.members[h]
        changes = np.zeros(len(self.resamples.counts))
        for kind in np.unique(self._kinds[chosen]):
            same = chosen & (self._kinds == kind)
            count = self._sums[0][:, same][:, 0]
            if not count[places].any():
                continue  # the conditions have nothing in this stratum
            total = self._sums[1][:, same].sum(axis=1)
            valued = places[count[places] > 0]
            resampled = self.resamples.of_clusters(valued)
            if (kind, h) not in self._resampled_counts:
                self._resampled_counts[kind, h] = count.sum() - count[valued].sum() + resampled @ count[valued]
            new_total = total.sum() - total[valued].sum() + resampled @ total[valued]
            new_count = self._resampled_counts[kind, h]
            # A resample without any value of a condition has no mean; rounding may leave a total that is not quite 0.
            new_mean = np.full(len(changes), np.nan)
            np.divide(new_total, new_count, out=new_mean, where=new_count > 0)
            changes += new_mean - total.sum() / count.sum()
        return changes / chosen.sum()


def _by_seed(frame: pd.DataFrame, over: Sequence[str], value: str, columns: pd.Index[Any]) -> Array:
    """The mean of each of the conditions `columns` on each seed [S, C]; no row where there are not several."""
    if "seed" in over or "seed" not in frame.columns or frame["seed"].nunique() < 2:
        return np.empty((0, len(columns)))
    wide = frame.groupby(["seed", *over], observed=True, dropna=False)[value].mean().unstack(list(over))
    return wide.reindex(columns=columns).to_numpy(dtype=float)
