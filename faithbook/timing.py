"""What computations take, from the manifests of runs: seconds and rows of the model per input.

For the page of costs. The inputs of a run are the settings that its
notebook names under `inputs` in notebooks/profiles.yaml. Other settings (draws, methods, steps) change what an input
takes, so runs of another profile give an estimate only.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from faithbook.access import require
from faithbook.engine.plan import MANIFEST, part_of
from faithbook.engine.profiles import NotebookEntry, settings_of, table
from faithbook.paths import reference_dir, root

if TYPE_CHECKING:
    import pandas as pd  # a second to import, which not everybody needs who imports this

Manifest = dict[str, Any]
_STANDS_FOR = "data/materials.csv"
_NOT_IN_GRID = ("profile", "seed", "part", "parts")


def of_reference() -> list[Manifest]:
    """The manifests of the computations of the committed reference."""
    path = reference_dir() / MANIFEST
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.is_file() else []
    return [one for one in runs if one.get("kind") == "compute"]


def estimate(profile: str, runs: Sequence[Manifest], *, related_only: bool = False) -> pd.DataFrame:
    """What the computations of a profile take by these runs.

    One row per computation that the profile runs: `study`, `notebook`, `runs` (jobs of the profile), `inputs`, `rows`
    of the model, `hours`; NaN where nothing is known. A job takes the mean per input of the runs that are most like it:

    - those that differ in a seed at most;
    - else those on the same data set, or on one of which either is a substitute for the other (data/materials.csv);
    - else all of the notebook, or none with `related_only`.
    """
    import pandas as pd

    related = _related()
    made = []
    for of, kind, name, entry in table().entries():
        if kind != "compute":
            continue
        of_notebook, block = [one for one in runs if one["notebook"] == name], settings_of(name, profile)
        counted = [one for one in of_notebook if one["notes"].get("rows_run")]
        if not (points := entry.points(block)):
            continue  # the profile does not run it
        sums = {"inputs": 0.0, "rows": 0.0, "hours": 0.0}
        for point in points:
            alike = partial(_most_like, point, related=related, related_only=related_only)
            inputs = _inputs(entry, block, point)
            sums["inputs"] += inputs
            sums["rows"] += inputs * _mean(entry, alike(counted), _rows)
            sums["hours"] += inputs * _mean(entry, alike(of_notebook), seconds) / 3600
        made.append({"study": of, "notebook": name, "runs": len(points), **sums})
    return pd.DataFrame(made, columns=["study", "notebook", "runs", "inputs", "rows", "hours"])


def seconds(run: Mapping[str, Any]) -> float:
    """The seconds that a run takes where nothing else keeps its processor busy.

    Of one thread on a processor these are its processor seconds: on the clock, the same work takes up to twice as long
    beside other work. Runs on a GPU or of several threads, and those from before this was noted, have the clock alone.
    """
    alone = (run.get("device"), run.get("threads")) == ("cpu", 1)
    return float(run["processor_seconds"] if alone and "processor_seconds" in run else run["seconds"])


def _rows(run: Mapping[str, Any]) -> float:
    return float(run["notes"]["rows_run"])


def _mean(entry: NotebookEntry, runs: Sequence[Manifest], spent: Callable[[Manifest], float]) -> float:
    size = sum(_inputs(entry, one["settings"], one["parameters"]) for one in runs)
    return sum(map(spent, runs)) / size if runs and size else math.nan


def _inputs(entry: NotebookEntry, block: Mapping[str, Any], point: Mapping[str, Any]) -> float:
    """The numbers of inputs that the settings of a notebook name, added up; NaN where there are none. A number instead
    of a table holds for every point, as older runs have it.

    >>> entry = NotebookEntry(inputs=("inputs.{dataset}.{seed}",))
    >>> settings = {"inputs": {"movie": 8, "nli": {"0": 60, "1": 20}}}
    >>> [_inputs(entry, settings, {"dataset": name, "seed": 1}) for name in ("movie", "nli", "bbc")]
    [8.0, 20.0, nan]
    >>> _inputs(entry, {"inputs": 9}, {"part": 1, "parts": 2})
    4.5
    """
    total = 0.0 if entry.inputs else math.nan
    for template in entry.inputs:
        value: Any = block
        for name in template.format_map({"dataset": "", "classifier": "", "seed": 0, **point}).split("."):
            value = value.get(name) if isinstance(value, Mapping) else value
        total += value if isinstance(value, int) else math.nan
    return total / part_of(point)[1]


def _most_like(
    point: Mapping[str, Any], runs: Sequence[Manifest], *, related: Mapping[str, set[str]], related_only: bool
) -> list[Manifest]:
    def grid(parameters: Mapping[str, Any]) -> dict[str, Any]:
        # An empty value means what was done before the notebook had the parameter.
        return {name: value for name, value in parameters.items() if name not in _NOT_IN_GRID and value != ""}

    def originals(parameters: Mapping[str, Any]) -> set[str]:
        name = parameters.get("dataset", "")
        return {name, name.removesuffix("-few"), *related.get(name, ())} - {""}

    known, any_data = [(run, grid(run["parameters"])) for run in runs], {"dataset": ""}
    on_such_data = [(run, other) for run, other in known if originals(point) & originals(other)]
    nearest_first = (
        [run for run, other in known if other == grid(point)],
        [run for run, other in on_such_data if other | any_data == grid(point) | any_data],
        [run for run, _ in on_such_data],
        [] if related_only else list(runs),
    )
    return next(filter(None, nearest_first), [])


def _related() -> dict[str, set[str]]:
    """By data set, those for which it is a substitute."""
    require(_STANDS_FOR)
    originals_of: dict[str, set[str]] = {}
    if (path := root() / _STANDS_FOR).is_file():
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["kind"] == "data" and row["stands_for"]:
                    originals_of.setdefault(row["name"], set()).add(row["stands_for"])
    return originals_of
