"""Inputs, rows and hours of a profile before it runs, from rows that runs have counted and times measured here.

A run's manifest says how many rows its perturbers ran and the settings it ran with; a notebook's `inputs` in
notebooks/profiles.yaml says which of these settings are numbers of inputs. Rows of another profile are those of the
run times its inputs over the run's: other settings (draws, methods, steps) change rows an input, so they are an
estimate, and named as one. Hours need a time that was measured at the same profile on the same device.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from faithbook.engine.plan import MANIFEST, PARTS
from faithbook.engine.profiles import place_of, settings_of, table
from faithbook.paths import reference_dir, root

HEADINGS = ("study", "notebook", "runs", "inputs", "rows, about", "counted at", "hours on this device")
EXPLAINED = (
    "rows: those that perturbers ran an input in the run named, times the inputs here; explaining takes passes of its "
    "own beside them. Hours: seconds a row of a run of this profile on this machine, else unknown until one has run"
)


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
        )


def by_study(profile: str, study: str | None = None) -> Iterator[Hours]:
    """The computations of a profile, or of one study, in the order of the table."""
    manifests = list(_manifests())
    for of, kind, name, _ in table().entries():
        if kind == "compute" and study in (None, of):
            yield _of_notebook(of, name, profile, manifests)


def _of_notebook(study: str, name: str, profile: str, manifests: list[dict[str, Any]]) -> Hours:
    entry, block = place_of(name)[1], settings_of(name, profile)
    points = [
        dict(zip(entry.over, point, strict=True))
        for point in product(*(block[setting] for setting in entry.over.values()))
    ]
    sizes = [_inputs(entry.inputs, block, point) for point in points]
    if not entry.inputs or None in sizes:
        return Hours(study, name, len(points), None, None, "", None)
    inputs = sum(size for size in sizes if size is not None)
    own = [one for one in manifests if one["notebook"] == name and one["notes"].get("rows_run")]
    # The settings of a part are those of the whole: it tells how long a row takes, but not how many an input has.
    counted = _nearest([one for one in own if PARTS not in one["parameters"]], profile)
    rate = _rate(counted, entry.inputs)
    rows = None if rate is None else round(rate * inputs)
    measured = [one for one in own if one["profile"] == profile and one["here"]]
    pace = _pace(measured)
    hours = None if rows is None or pace is None else rows * pace / 3600
    where = f"{counted[0]['profile']}{'' if counted[0]['here'] else ' (reference)'}" if rows is not None else ""
    return Hours(study, name, len(points), inputs, rows, where, hours)


def _inputs(templates: tuple[str, ...], block: Mapping[str, Any], point: Mapping[str, Any]) -> int | None:
    """The numbers of inputs that settings name, added up; None where a setting is not there. A number in place of a
    table holds for every point: so older runs told it.

    >>> _inputs(("inputs.{dataset}",), {"inputs": {"movie": 8}}, {"dataset": "movie"})
    8
    >>> _inputs(("inputs.{dataset}",), {"inputs": 9}, {"dataset": "movie"})
    9
    """
    total = 0
    for template in templates:
        value: Any = block
        for part in template.format_map(point).split("."):
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


def _rate(manifests: list[dict[str, Any]], templates: tuple[str, ...]) -> float | None:
    """Rows an input of runs, over all of them."""
    rows, inputs = 0, 0
    for one in manifests:
        if size := _inputs(templates, one["settings"], one["parameters"]):
            rows, inputs = rows + int(one["notes"]["rows_run"]), inputs + size
    return rows / inputs if inputs else None


def _pace(manifests: list[dict[str, Any]]) -> float | None:
    """Seconds a row, with everything that a notebook does beside: its whole time over its rows."""
    rows = sum(int(one["notes"]["rows_run"]) for one in manifests)
    return sum(float(one["seconds"]) for one in manifests) / rows if rows else None


def _manifests() -> Iterator[dict[str, Any]]:
    """The manifests of computations: of every profile that has run on this machine, and of the committed reference."""
    for path in sorted((root() / "data" / "results").glob(f"*/runs/*/*/{MANIFEST}")):
        if (one := _read(path, path.stat().st_mtime_ns)).get("kind") == "compute":
            yield {**one, "here": True}
    reference = reference_dir() / MANIFEST
    if reference.is_file():
        for one in _read(reference, reference.stat().st_mtime_ns)["runs"]:
            if one.get("kind") == "compute":
                yield {**one, "here": False}


@functools.lru_cache(maxsize=4096)
def _read(path: Path, _changed: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
