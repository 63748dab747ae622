"""Values of single inputs as a page uses them: the reference's or the present run's, beside what is published.

    measured = Scores.read(run, "saco_metrics", paper="wu_2024", over=["dataset", "method", "k"], prepare=prepared)
    saco = measured.quantity("method", k=10)
    saco("rollout"), saco("rollout", k=5)

*One voice.* Where `data/reference/full/units` has the values of the compute notebook, ours are those; where it has none
yet, ours are those of the run that built this copy. One page has the two side by side (`faithbook.judge.builds`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from faithbook.artifacts import MODELS
from faithbook.engine import plan
from faithbook.engine.inputs import UNITS_DIR
from faithbook.engine.plan import MANIFEST
from faithbook.engine.run import Run, has_units, load_units
from faithbook.engine.studies import entry_of, settings_of
from faithbook.judge import materials
from faithbook.paths import confirmatory_dir, reference_dir, root
from faithbook.show.ranges import RANGES, cut_to_range, holds
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions, among
from faithbook.stats.estimate import UNLIMITED, Array, Estimate
from faithlib.errors import DataError, InputError

REFERENCE, RUN, CONFIRMED = "the reference", "this run", "the confirmatory run"
CONFIRM = "confirm"  # the profile at which a page shows the confirmatory values alone
SAME = ("dataset", "classifier", "model", "seed", "language")
"""What exploratory values share with confirmatory ones where both are judged alike (`unseen`)."""
UNSEEN, SEEN, POOLED = "unseen", "seen", "pooled"
INPUTS = ContextVar("INPUTS", default=UNSEEN)
"""At the profile `confirm`: whether pages show the confirmatory values, the exploratory values of the same data sets,
models and seeds instead, or both together."""
WITH_LATER = ContextVar("WITH_LATER", default=False)
"""At the profile `confirm`: whether pages also show the runs that were planned later (`engine.study.OnReserve`)."""
PAPERS_SIZE = "paper"  # the profile that has every paper's own models and data
RESAMPLES = 9999

Key = TypeVar("Key")
Prepare = Callable[[pd.DataFrame], pd.DataFrame]
"""What a page makes of the values of single inputs before they are averaged: wins, ratios, other names."""


@dataclass(frozen=True)
class Material:
    """Values of single inputs from one `source` (`REFERENCE` or `RUN`), their data sets and the models behind them."""

    source: str
    profile: str
    units: pd.DataFrame
    datasets: tuple[str, ...]
    models: tuple[str, ...]

    def evidence(self, paper: str, notebook: str, datasets: Iterable[str] | None = None) -> str:
        """The evidence on which values of these data sets (default: all that are there) rest."""
        named = self.datasets if datasets is None else datasets
        return materials.evidence_level_of(paper, notebook=notebook, datasets=named, models=self.models)


@dataclass(frozen=True)
class Scores:
    """What was measured, ready to be averaged.

    `frame`: the values, prepared; `material`: their source; `cells`: their cells; `printed`: the paper's values, whose
    columns other than `value` are labels of our cells. A cell without any defined value is none, but where no cell has
    one they are all there. `book`, `book_frame`: the same cells in the reference, and their
    values, where a run's are shown beside them.
    """

    paper: str
    notebook: str
    frame: pd.DataFrame
    material: Material
    cells: Conditions
    printed: pd.DataFrame
    book: Conditions | None = None
    book_frame: pd.DataFrame | None = None
    _means: dict[str, Comparison] = field(default_factory=dict, repr=False)
    _levels: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    _own: dict[str, bool] = field(default_factory=dict, repr=False)

    @classmethod
    def read(
        cls,
        run: Run,
        notebook: str,
        *,
        paper: str,
        over: Sequence[str],
        parts: Sequence[str] = ("",),
        prepare: Prepare | None = None,
        rows: Prepare | None = None,
        known: dict[Hashable, pd.DataFrame] | None = None,
        unit: Sequence[str] = ("dataset", "id"),
        stratum: str | None = "dataset",
        bounds: tuple[float, float] = (-np.inf, np.inf),
        printed: pd.DataFrame | None = None,
        firmest: bool = False,
        n_resamples: int | None = None,
    ) -> Scores:
        """The values that a compute notebook keeps (its `parts` one below the other), from the reference or the run.

        `over`: the columns whose combinations are cells; the rest as `cells.Conditions.of` takes it. A column `dataset`
        that the values lack is the data set of the notebook's settings. `rows`: which of the prepared values, if not
        all; what was prepared is kept in `known`, for whoever asks for other rows of it. `firmest`: of data sets on
        different evidence only those on the firmest, the paper's own where there are some beside substitutes. Raises
        DataError where there are no values at all.
        """
        material = _shown_material(run, notebook, parts, paper)
        prepared = {} if known is None else known

        def prepared_of(material: Material) -> pd.DataFrame:
            key = (material.source, notebook, tuple(parts), prepare)
            if key not in prepared:
                prepared[key] = material.units if prepare is None else prepare(material.units)
            return prepared[key] if rows is None else rows(prepared[key])

        def cells_of(values: pd.DataFrame) -> Conditions:
            defined = values[values.groupby(list(over), observed=True, dropna=False)["value"].transform("count") > 0]
            design: dict[str, Any] = {"unit": unit, "cluster": "cluster", "stratum": stratum, "bounds": bounds}
            measured = values if defined.empty else defined
            return Conditions.of(measured, over=over, n_resamples=n_resamples or RESAMPLES, **design)

        frame = prepared_of(material)
        if firmest:
            firm = next(iter(_by_evidence(paper, notebook, material, frame["dataset"].unique()).values()), [])
            material, frame = replace(material, datasets=tuple(firm)), frame[frame["dataset"].isin(firm)]
        of_book = _of_book(run, notebook, parts) if run.values == plan.BOTH and material.source == RUN else None
        same = None if of_book is None else _same_cells(prepared_of(of_book), frame, over)
        same = None if same is None or same.empty else same
        book = None if same is None else cells_of(same)
        none = pd.DataFrame({"value": pd.Series(dtype=float)})
        return cls(paper, notebook, frame, material, cells_of(frame), none if printed is None else printed, book, same)

    @property
    def source(self) -> str:
        """Whose values these are: the committed full run's (`REFERENCE`) or a run's of this machine (`RUN`)."""
        return self.material.source

    def levels(self, column: str) -> list[Any]:
        """The different values of a column of the frame, in the order in which they come first."""
        if column not in self._levels:  # asked for with each quantity, of frames of many rows
            self._levels[column] = list(self.frame[column].unique().tolist())
        return list(self._levels[column])

    def comparable(self) -> list[Any]:
        """The data sets whose values are compared with the paper's: those that it prints values of; where it prints
        none of them those on the firmest evidence.

        On the paper's own data its table is compared with that data alone, whatever substitutes there are; substitutes
        are pooled where there is nothing else.
        """
        levels = self.levels("dataset")
        printed = set(self.printed["dataset"]) if "dataset" in self.printed.columns else set()
        with_print = [level for level in levels if level in printed]
        if with_print:
            return with_print
        return next(iter(self.by_evidence.values()), levels)

    @cached_property
    def by_evidence(self) -> dict[str, list[str]]:
        """The data sets that are there by the evidence on which their values rest, the firmest first."""
        return _by_evidence(self.paper, self.notebook, self.material, self.levels("dataset"))

    @cached_property
    def have(self) -> frozenset[str]:
        """The data sets, models and languages that are there, for the rules of claims about named ones."""
        columns = [name for name in ("dataset", "model", "language") if name in self.frame.columns]
        return frozenset(self.material.datasets).union(*(map(str, self.levels(name)) for name in columns))

    def on_its_data(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of a table that the present run saved, on the data sets that are measured here; of a run that has read
        none of these all rows, which are about what it has read."""
        on_these = table[table["dataset"].isin(self.material.datasets)]
        return table if on_these.empty else on_these

    def quantity(self, *names: str, **fixed: object) -> Callable[..., Comparison]:
        """A function of labels: `quantity("method", k=10)("rollout")` is the mean over the cells that have them.

        Labels that a call gives by name take the place of the fixed ones. A label may be a list of several.
        """

        def mean(*labels: object, **more: object) -> Comparison:
            if len(labels) != len(names):
                raise InputError(f"{len(labels)} labels for {', '.join(names) or 'nothing'}: expected one for each")
            return self.mean(**{**fixed, **dict(zip(names, labels, strict=True)), **more})

        return mean

    def mean(self, **labels: object) -> Comparison:
        """The mean over the cells with these labels, beside the mean of the printed values that have them."""
        key = repr(sorted(labels.items()))
        if key not in self._means:
            datasets = _listed(labels["dataset"]) if "dataset" in labels else list(self.material.datasets)
            n = materials.published_n(self.paper, datasets)
            estimate, printed = self.cells.mean(**labels), self.published(**labels)
            seeds, book, metrics = self.cells.by_seed(**labels), self._in_book(labels), self._bounded(labels)
            if metrics:
                estimate, book = cut_to_range(estimate, metrics), None if book is None else cut_to_range(book, metrics)
            self._means[key] = Comparison(estimate, printed, self.evidence(datasets), n, seeds, book=book)
        return self._means[key]

    def _bounded(self, labels: Mapping[str, object]) -> list[str]:
        """The metrics of the cells with these labels, where the page gives no range and each of them has one; none
        where one of them has none, or where the page has made something else of its values (differences, say)."""
        if self.cells.bounds != UNLIMITED or "metric" not in self.frame.columns:
            return []
        metrics = _listed(labels["metric"]) if "metric" in labels else [str(name) for name in self.levels("metric")]
        return metrics if all(self._has_own_values(metric) for metric in metrics) else []

    def _has_own_values(self, metric: str) -> bool:
        """Whether a metric has a range, and the frame its values as the notebook keeps them."""
        if metric not in self._own:
            units = self.material.units
            self._own[metric] = False
            if metric in RANGES and {"metric", "value"} <= set(units.columns):
                values = self.frame.loc[self.frame["metric"] == metric, "value"].dropna()
                measured = units.loc[units["metric"] == metric, "value"]
                self._own[metric] = holds(metric, values) and bool(values.isin(measured).all())
        return self._own[metric]

    def _in_book(self, labels: Mapping[str, object]) -> Estimate | None:
        """The same mean in the reference, where it is beside the run's and has all cells of it."""
        if self.book is None:
            return None
        try:
            as_many = self.book.having(**labels).sum() == self.cells.having(**labels).sum()
            return self.book.mean(**labels) if as_many else None
        except InputError:
            return None

    def each(
        self, function: Callable[[pd.DataFrame], Mapping[Key, Estimate]], printed: Mapping[Key, float] | None = None
    ) -> dict[Key, Comparison]:
        """Quantities that are no means over cells (correlations, say): `function` makes them of a prepared frame, by
        name. `printed`: the paper's value by name."""
        n = materials.published_n(self.paper, self.material.datasets)
        published = printed or {}
        estimates = function(self.frame)
        book = {} if self.book_frame is None else function(self.book_frame)
        return {
            key: Comparison(estimate, published.get(key, math.nan), self.evidence(), n, book=book.get(key))
            for key, estimate in estimates.items()
        }

    def published(self, **labels: object) -> float:
        """The mean of the printed values with these labels, NaN where there is none.

        A substitute has the value of the data set that it stands for. All data sets together have all printed values,
        and so have all that are compared with the paper (`comparable`), unless they are some of the paper's own.
        """
        chosen = np.ones(len(self._values), dtype=bool)
        stands = materials.stands_for(self.paper)
        for name in [label for label in labels if label in self.printed.columns]:
            named = set(_listed(labels[name]))
            of_paper = name != "dataset" or named <= set(self.printed[name])
            if not of_paper and named in (set(self.levels(name)), set(self.comparable())):
                continue
            chosen &= among(self._labels[name], {stands.get(value, value) for value in named})
        values = self._values[chosen]
        return float(values.mean()) if len(values) else math.nan

    @cached_property
    def _labels(self) -> dict[str, Any]:
        """The labels of the printed values as text, by column."""
        rows = self.printed[self.printed["value"].notna()]
        return {str(name): pd.Categorical(rows[name].astype(str)) for name in rows.columns if name != "value"}

    @cached_property
    def _values(self) -> Array:
        """The printed values, without those that are missing."""
        return self.printed["value"].dropna().to_numpy(dtype=float)

    def evidence(self, datasets: Iterable[str] | None = None) -> str:
        """The evidence on which values of these data sets (default: all that are there) rest."""
        return self.material.evidence(self.paper, self.notebook, datasets)


def _listed(label: object) -> list[str]:
    return [str(label)] if isinstance(label, str | int | float) else [str(value) for value in label]  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------------------ materials
def _shown_material(run: Run, notebook: str, parts: Sequence[str], paper: str) -> Material:
    """Whose values are ours.

    The reference's, unless the run is of the reference's own profile (it is to become the reference), has the papers'
    size, or rests on firmer evidence (the paper's own models, say); or the page is asked for what this machine
    computed. At the profile `confirm` those of the confirmatory run and no others.
    """
    if run.job.profile == CONFIRM:
        return _confirmed(notebook, parts, inputs=INPUTS.get(), later=WITH_LATER.get())
    known = _reference(run, notebook)
    reference = _material(REFERENCE, notebook, parts, known["profile"], known["runs"]) if known else None
    if reference and not has_run(run, notebook):
        return reference  # of what this machine has no data for
    manifests = [json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in run.upstream]
    computed = _material(RUN, notebook, parts, run.job.profile, manifests)
    if reference is None or run.values != plan.REFERENCE:
        return computed
    level_here, level_of_book = (material.evidence(paper, notebook) for material in (computed, reference))
    firmer = level_here != level_of_book and evidence_levels.weakest([level_here, level_of_book]) == level_of_book
    return computed if firmer else reference


def _confirmed(notebook: str, parts: Sequence[str], *, inputs: str, later: bool) -> Material:
    """The committed values of the confirmatory run; of `parts` those that it has measured. `inputs`: `SEEN` is those of
    the reference instead, of the same data sets, models, seeds and languages, `POOLED` both, one below the other.
    `later`: with the runs that were planned later."""
    manifest: dict[str, Any] = json.loads((confirmatory_dir() / MANIFEST).read_text(encoding="utf-8"))
    measured = [part for part in parts if has_units(notebook, part)] or parts
    entry, runs = entry_of(notebook), manifest["runs"]
    left_out = entry.reserve if entry and not later else None
    if left_out:
        runs = [run for run in runs if not left_out.is_later(run["parameters"])]
    unseen = _material(CONFIRMED, notebook, measured, CONFIRM, runs)
    if left_out and left_out.later:
        labels = unseen.units[list(left_out.later)]
        unseen = replace(unseen, units=unseen.units[~(labels == pd.Series(left_out.later)).all(axis=1)])
    if inputs == UNSEEN:
        return unseen
    before = _material(CONFIRMED, notebook, measured, CONFIRM, runs, reference=True)
    keys = [name for name in SAME if name in unseen.units.columns and name in before.units.columns]
    units = before.units.merge(unseen.units[keys].drop_duplicates(), on=keys)
    if inputs == POOLED:
        units = pd.concat([units, unseen.units], ignore_index=True)
    return replace(before, units=units, datasets=unseen.datasets)


def _of_book(run: Run, notebook: str, parts: Sequence[str]) -> Material | None:
    """The values that the reference has of these, whatever the profile of the run."""
    if not (root() / UNITS_DIR / notebook).is_dir():
        return None
    manifest = json.loads((reference_dir() / MANIFEST).read_text(encoding="utf-8"))
    try:
        return _material(REFERENCE, notebook, parts, manifest["profile"], manifest["runs"])
    except DataError:  # a table that it does not have
        return None


def _same_cells(values: pd.DataFrame, frame: pd.DataFrame, over: Sequence[str]) -> pd.DataFrame:
    """Those of the values that are of cells which a frame has too."""
    cells = frame[list(over)].drop_duplicates()
    return values.merge(cells, on=list(over), how="inner")


def has_run(run: Run, notebook: str) -> bool:
    """Whether the present run reads one of a compute notebook."""
    return any(folder.parent.name == notebook for folder in run.upstream)


def has_values(run: Run, notebook: str) -> bool:
    """Whether there are values of a compute notebook to show: of the present run's, or of the reference."""
    if run.job.profile == CONFIRM:
        return has_units(notebook)
    return has_run(run, notebook) or _reference(run, notebook) is not None


def _by_evidence(paper: str, notebook: str, material: Material, datasets: Iterable[str]) -> dict[str, list[str]]:
    """Data sets by the evidence on which their values rest, the firmest first."""
    by_level: dict[str, list[str]] = {}
    for name in datasets:
        by_level.setdefault(material.evidence(paper, notebook, [name]), []).append(name)
    return {level: by_level[level] for level in evidence_levels.LEVELS if level in by_level}


def _reference(run: Run, notebook: str) -> dict[str, Any] | None:
    """The manifest of the committed reference, None where it has no values of a compute notebook yet or may not be
    shown beside the run: at its own profile, and at the papers' size."""
    if not (root() / UNITS_DIR / notebook).is_dir():
        return None
    manifest: dict[str, Any] = json.loads((reference_dir() / MANIFEST).read_text(encoding="utf-8"))
    return None if run.job.profile in (manifest["profile"], PAPERS_SIZE) else manifest


def _material(
    source: str,
    notebook: str,
    parts: Sequence[str],
    profile: str,
    manifests: Sequence[Mapping[str, Any]],
    *,
    reference: bool = False,
) -> Material:
    """The values of a compute notebook in the run or the reference, with the models that its manifests declare.

    `reference`: the reference's values, whatever the source is called.
    """
    reference = reference or source == REFERENCE
    committed = {"reference": reference, "confirmed": source == CONFIRMED and not reference}
    frames = [load_units(notebook, profile, part=part, **committed) for part in parts]
    units = pd.concat(frames, ignore_index=True)
    if "dataset" not in units.columns:
        units = units.assign(dataset=settings_of(notebook, profile).get("dataset", notebook))
    declared = {
        name for manifest in manifests if manifest["notebook"] == notebook for name in manifest.get("declared", ())
    }
    models = sorted(name for name in declared if name.startswith(MODELS) or "/" in name)
    return Material(source, profile, units, tuple(units["dataset"].unique()), tuple(models))
