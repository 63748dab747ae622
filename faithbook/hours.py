"""Inputs, rows and hours of a profile before it runs, from rows that runs have counted and times measured here.

A run's manifest says how many rows its perturbers ran and the settings it ran with; a notebook's `inputs` in
notebooks/profiles.yaml says which of these settings are numbers of inputs. Rows of another profile are those of the
run times its inputs over the run's: other settings (draws, methods, steps) change rows an input, so they are an
estimate, and named as one. Inputs of a data set are told by runs on it where there are any, else by runs on what stands
in for it (`data/materials.csv`), else by all of the notebook: texts differ much in length. Hours rest on a time that
was measured at the same profile on this machine; before one has run, on that of a row alone, of a model of the papers'
size, where a profile's models have it (`faithbook.row_times`).
"""

from __future__ import annotations

import csv
import functools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithbook.declared import ask
from faithbook.engine.plan import MANIFEST, PART, PARTS, Job, part_of
from faithbook.engine.profiles import place_of, settings_of, table
from faithbook.paths import reference_dir, root

HEADINGS = ("study", "notebook", "runs", "inputs", "rows, about", "counted at", "hours on this device", "told by")
RUNS, ROW = "runs here", "a row's time"
EXPLAINED = (
    "rows: those that perturbers ran an input in the run named, times the inputs here; explaining takes passes of its "
    "own beside them. Hours: seconds a row of runs of this profile on this machine; before one has run, of a row "
    "alone, where its time was measured just now: without what a notebook does beside, and as if all texts were as long"
)

Spent = Callable[[Mapping[str, Any]], float]
"""The seconds that a run, by its manifest, is taken to have cost."""
RowSeconds = Callable[[str], float | None]
"""The seconds a row of a study; None where nothing measures them."""


@dataclass(frozen=True)
class Hours:
    """A notebook's share of a profile; None where nothing tells."""

    study: str
    notebook: str
    runs: int
    inputs: int | None
    rows: int | None
    counted_at: str
    hours: float | None
    told_by: str = ""

    def cells(self) -> tuple[str, ...]:
        """The values in words, in the order of `HEADINGS`."""
        return (
            self.study,
            self.notebook,
            str(self.runs),
            "–" if self.inputs is None else f"{self.inputs:,}",
            "unknown" if self.rows is None else f"{self.rows:,}",
            self.counted_at or "no run yet",
            "unknown" if self.hours is None else f"{self.hours:.2f}",
            self.told_by,
        )


def by_study(
    profile: str,
    study: str | None = None,
    *,
    ran: Sequence[dict[str, Any]] | None = None,
    row_seconds: RowSeconds = lambda study: None,
) -> Iterator[Hours]:
    """The computations of a profile, or of one study, in the order of the table; `ran`: the manifests that tell of it,
    in place of all that lie on this machine and of the committed reference; `row_seconds`: what measures a row of a
    study, asked where no run tells hours."""
    manifests = list(_manifests() if ran is None else ran)
    for of, kind, name, _ in table().entries():
        if kind == "compute" and study in (None, of):
            yield _of_notebook(of, name, profile, manifests, row_seconds)


@dataclass(frozen=True)
class Taken:
    """What a run takes, as far as others have told: seconds, and the most memory that one of them held."""

    seconds: float | None = None
    bytes: int | None = None


def taken(job: Job) -> Taken:
    """What runs of a job's notebook at its profile tell of it: seconds an input, times its share of the inputs.

    Of those that are most like it (`_alike`); of those on this machine if there are any, else of those of the committed
    reference that ran on a processor. A notebook without `inputs`, as a training is, takes as long as it took.
    """
    every = _of_this_machine("train") if job.kind == "train" else _manifests()
    own = [one for one in every if one["notebook"] == job.notebook and one["profile"] == job.profile]
    alike = _alike(job.parameters, own)
    return _told(alike, settings_of(job.notebook, job.profile), job.notebook, job.parameters, _on_the_clock)


def _told(
    alike: Sequence[dict[str, Any]],
    block: Mapping[str, Any],
    notebook: str,
    parameters: Mapping[str, Any],
    spent: Spent,
) -> Taken:
    # What a GPU elsewhere took says nothing of a processor; what a processor took is enough for a GPU.
    found = [one for one in alike if one["here"]] or [one for one in alike if one.get("device", "cpu") == "cpu"]
    if not found:
        return Taken()
    size = _shared(place_of(notebook)[1].inputs, block, parameters)
    pace = seconds_an_input(found, spent) if size else None
    memory = [int(one["memory_bytes"]) for one in found if "memory_bytes" in one]
    told = pace * size if size and pace else max(map(spent, found))
    return Taken(told, max(memory, default=None))


def _on_the_clock(run: Mapping[str, Any]) -> float:
    """The seconds that somebody waited for a run, which a time limit and the end of a build are about."""
    return float(run["seconds"])


def lasted(run: Mapping[str, Any]) -> float:
    """The seconds that a run takes where nothing else keeps its processor busy.

    Of one thread on a processor these are its processor seconds: on the clock, the same work takes up to twice as long
    beside other work. Runs on a GPU or of several threads, and those from before this was noted, tell the clock alone.
    """
    alone = (run.get("device"), run.get("threads")) == ("cpu", 1)
    return float(run["processor_seconds"]) if alone and "processor_seconds" in run else _on_the_clock(run)


def seconds_an_input(runs: Sequence[dict[str, Any]], spent: Spent = lasted) -> float | None:
    """Seconds that runs of one notebook took for an input, with everything beside; None where one has no inputs."""
    sizes = [_shared(place_of(one["notebook"])[1].inputs, one["settings"], one["parameters"]) for one in runs]
    if not sizes or not all(sizes):
        return None
    return sum(map(spent, runs)) / sum(size for size in sizes if size)


def told_of(one: dict[str, Any], others: Sequence[dict[str, Any]], *, else_all: bool = True) -> float | None:
    """The seconds that other runs of a run's notebook would have told of it beforehand, by the input: those that are
    most like it, else all, or none where that is not wanted. None where there are none, or no numbers of inputs."""
    if not place_of(one["notebook"])[1].inputs:
        return None
    own = [other for other in others if other["notebook"] == one["notebook"]]
    alike = _alike(one["parameters"], own, else_all=else_all)
    return _told(alike, one["settings"], one["notebook"], one["parameters"], lasted).seconds


def told_seconds(notebook: str, profile: str, runs: Sequence[dict[str, Any]], *, else_all: bool = True) -> float | None:
    """The seconds that runs of a notebook tell of all its inputs at a profile; None where one of them has no number of
    inputs, there are none, or, unless all may tell of it (`else_all`), none is like one of those at the profile."""
    entry, block = place_of(notebook)[1], settings_of(notebook, profile)
    if not (runs and entry.inputs):
        return None
    told = 0.0
    for point in entry.points(block):
        alike = _alike(point, runs, else_all=else_all)
        size, pace = _inputs(entry.inputs, block, point), seconds_an_input(alike)
        if size is None or pace is None:
            return None
        told += size * pace
    return told


def _grid(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that tell what a run is about."""
    return {key: value for key, value in parameters.items() if key not in (PART, PARTS, "seed", "profile")}


def _alike(
    parameters: Mapping[str, Any], runs: Sequence[dict[str, Any]], *, else_all: bool = True
) -> list[dict[str, Any]]:
    """Of runs of a notebook those that are most like one with these parameters: which differ in nothing but a seed;
    else on the same data set, or one of which either stands in for the other, with the same model and then with any;
    else all (or none, where that is not wanted)."""
    own = _grid(parameters)
    grids = [_grid(run["parameters"]) for run in runs]
    data = [_related(own.get("dataset"), grid.get("dataset")) for grid in grids]
    rest = [grid | {"dataset": None} == own | {"dataset": None} for grid in grids]
    same = [grid == own for grid in grids]
    both = [one and other for one, other in zip(data, rest, strict=True)]
    for chosen in (same, both, data):
        if any(chosen):
            return [run for run, wanted in zip(runs, chosen, strict=True) if wanted]
    return list(runs) if else_all else []


def _related(one: str | None, other: str | None) -> bool:
    """Whether two data sets are one, or either stands in for the other or for what that stands for."""
    return one is not None and other is not None and not _stands_for(one).isdisjoint(_stands_for(other))


def _stands_for(dataset: str) -> set[str]:
    """A data set and what it stands for; a few inputs of one stand for it."""
    ask("data/materials.csv")
    path = root() / "data" / "materials.csv"
    found = {dataset, dataset.removesuffix("-few")}
    return found | _stand_ins(path, path.stat().st_mtime_ns).get(dataset, set()) if path.is_file() else found


@functools.lru_cache(maxsize=4)
def _stand_ins(path: Path, _changed: int) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["kind"] == "data" and row["stands_for"]:
                found.setdefault(row["name"], set()).add(row["stands_for"])
    return found


def _shared(templates: tuple[str, ...], block: Mapping[str, Any], parameters: Mapping[str, Any]) -> float | None:
    """The inputs of a run or of its part."""
    size = _inputs(templates, block, parameters)
    return None if size is None else size / part_of(parameters)[1]


def _of_notebook(
    study: str, name: str, profile: str, manifests: list[dict[str, Any]], row_seconds: RowSeconds
) -> Hours:
    entry, block = place_of(name)[1], settings_of(name, profile)
    points = entry.points(block)
    sizes = [_inputs(entry.inputs, block, point) for point in points]
    if not entry.inputs or None in sizes:
        return Hours(study, name, len(points), None, None, "", None)
    inputs = sum(size for size in sizes if size is not None)
    told = [one for one in manifests if one["notes"].get("rows_run")]
    own = [one for one in told if one["notebook"] == name]
    if not own and entry.rows_like:
        own = [one for one in told if one["notebook"] == entry.rows_like]
    # The settings of a part are those of the whole: it tells how long a row takes, but not how many an input has.
    counted = _nearest([one for one in own if PARTS not in one["parameters"]], profile)
    rates = [_rate(_alike(point, counted)) for point in points]
    if not counted or None in rates:
        return Hours(study, name, len(points), inputs, None, "", None)
    rows = [(size or 0) * (rate or 0.0) for size, rate in zip(sizes, rates, strict=True)]
    measured = [one for one in own if one["profile"] == profile and one["here"]]
    where = f"{counted[0]['profile']}{'' if counted[0]['here'] else ' (reference)'}"
    told_by = RUNS if measured else ROW
    paces = [_pace(_alike(point, measured)) if measured else row_seconds(study) for point in points]
    if None in paces:
        return Hours(study, name, len(points), inputs, round(sum(rows)), where, None)
    hours = sum(number * (pace or 0.0) for number, pace in zip(rows, paces, strict=True)) / 3600
    return Hours(study, name, len(points), inputs, round(sum(rows)), where, hours, told_by)


def _inputs(templates: tuple[str, ...], block: Mapping[str, Any], point: Mapping[str, Any]) -> int | None:
    """The numbers of inputs that settings name, added up; None where a setting is not there. A number in place of a
    table holds for every point: so older runs told it.

    >>> _inputs(("inputs.{dataset}",), {"inputs": {"movie": 8}}, {"dataset": "movie"})
    8
    >>> both = {"inputs": {"movie": 8, "nli": {"0": 60, "1": 20}}}
    >>> [_inputs(("inputs.{dataset}.{seed}",), both, {"dataset": name, "seed": 1}) for name in ("movie", "nli")]
    [8, 20]
    >>> _inputs(("inputs.{dataset}",), {"inputs": 9}, {"dataset": "movie"})
    9
    >>> _inputs(("inputs.{dataset}",), {"inputs": 7}, {})
    7
    """
    total = 0
    for template in templates:
        value: Any = block
        for part in template.format_map(defaultdict(str, point)).split("."):
            value = value.get(part) if isinstance(value, Mapping) else value
        if not isinstance(value, int):
            return None
        total += value
    return total


def _nearest(manifests: list[dict[str, Any]], profile: str) -> list[dict[str, Any]]:
    """The runs of one profile that rows are taken from: the profile itself, else the one with the most inputs."""
    sizes: dict[tuple[str, bool], int] = {}
    for one in manifests:
        key = one["profile"], one["here"]
        sizes[key] = sizes.get(key, 0) + int(one["notes"].get("n", 0))
    if not sizes:
        return []
    best = max(sizes, key=lambda key: (key[0] == profile, sizes[key], key[1]))
    return [one for one in manifests if (one["profile"], one["here"]) == best]


def _rate(manifests: list[dict[str, Any]]) -> float | None:
    """Rows an input of runs, over all of them."""
    rows, inputs = 0, 0
    for one in manifests:
        if size := _inputs(place_of(one["notebook"])[1].inputs, one["settings"], one["parameters"]):
            rows, inputs = rows + int(one["notes"]["rows_run"]), inputs + size
    return rows / inputs if inputs else None


def _pace(manifests: list[dict[str, Any]]) -> float | None:
    """Seconds a row, with everything that a notebook does beside: its whole time over its rows."""
    rows = sum(int(one["notes"]["rows_run"]) for one in manifests)
    return sum(map(lasted, manifests)) / rows if rows else None


def _manifests() -> Iterator[dict[str, Any]]:
    """The manifests of computations: of every profile that has run on this machine, and of the committed reference."""
    yield from _of_this_machine()
    yield from of_reference()


def _of_this_machine(kind: str = "compute") -> Iterator[dict[str, Any]]:
    for path in sorted((root() / "data" / "results").glob(f"*/runs/*/*/{MANIFEST}")):
        if (one := _read(path, path.stat().st_mtime_ns)).get("kind") == kind:
            yield {**one, "here": True}


def of_reference() -> Iterator[dict[str, Any]]:
    """The manifests of the computations of the committed reference."""
    reference = reference_dir() / MANIFEST
    if reference.is_file():
        for one in _read(reference, reference.stat().st_mtime_ns)["runs"]:
            if one.get("kind") == "compute":
                yield {**one, "here": False}


@functools.lru_cache(maxsize=4096)
def _read(path: Path, _changed: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
