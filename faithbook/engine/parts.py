"""Runs in parts: a notebook's inputs shared out among several runs, and what these have saved put together.

A notebook with the parameters `part` and `parts` asks its run for its share (`Run.blocks`, `Run.shared`) and computes
that block by block. A block holds the same inputs whatever the number of parts, and anything drawn depends on an input
and a seed, never on its place; so the tables of all parts, one below the other, are the bytes that one run would have
saved. Times are not: they are measured.

`parts` of a profile says how many there are (notebooks/profiles.yaml). Each part is a job with a folder of its own, so
that a lost one alone is redone; the job of the whole puts them together, and who reads it sees one run.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithbook.engine.plan import MANIFEST, NOTEBOOK, Job
from faithbook.engine.units import UNITS, stored_units, write_units
from faithlib.errors import DataError, InputError

if TYPE_CHECKING:
    import pandas as pd  # a second to import, which the many short processes of a build do not need

_LARGEST = ("peak_bytes", "features")
_SPENT = ("seconds", "processor_seconds")
_MACHINE = ("commit", "device", "processor", "cores", "threads")


def put_together(job: Job, folder: Path) -> None:
    """Write the tables and the manifest of a whole run from those of its parts; the notebook is that of the first part.

    Raises DataError for a file that is no table, of which nobody can say what it is as a whole.
    """
    manifests = [json.loads(part.manifest.read_text(encoding="utf-8")) for part in job.parts]
    totals = {name: by for one in manifests for name, by in one["totals"].items()}
    held: dict[str, list[Path]] = {}
    for part, one in zip(job.parts, manifests, strict=True):
        for name in one["files"]:
            held.setdefault(name, []).append(part.folder / name)
    files = {name: _join(job, name, paths, folder / name, totals) for name, paths in held.items()}
    shutil.copy(job.parts[0].folder / NOTEBOOK, folder / NOTEBOOK)
    facts = joined_manifest(job, manifests) | {"files": dict(sorted(files.items())), "totals": totals}
    (folder / MANIFEST).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _join(job: Job, name: str, paths: Sequence[Path], path: Path, totals: Mapping[str, Sequence[str]]) -> int:
    """Write one file of a whole run; returns its rows."""
    import pandas as pd

    if path.suffix != ".parquet":
        raise DataError(f"{job.label}: parts have saved {name}, but only tables (parquet) can be put together")
    if name.startswith(UNITS):
        units = pd.concat(map(stored_units, paths), ignore_index=True)
        write_units(units, path, notebook=job.notebook, parameters=job.parameters)
        return len(units)
    frame = pd.concat(map(pd.read_parquet, paths), ignore_index=True)
    if path.stem in totals:
        frame = total(frame, totals[path.stem])
    frame.to_parquet(path, index=False, compression="zstd")
    return len(frame)


def total(frame: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Rows that agree in the columns `by` as one, in the order in which they first came: numbers add up, of
    `peak_bytes` the largest stays; what is missing in all rows stays missing. InputError for columns of no numbers.
    """
    numbers = frame.drop(columns=list(by)).select_dtypes("number").columns
    if lost := set(frame.columns) - {*by, *numbers}:
        raise InputError(f"these columns are no numbers and cannot be added up: {', '.join(sorted(lost))}")
    groups = frame.groupby(list(by), sort=False, dropna=False)
    added = groups[list(numbers)].sum(min_count=1)
    largest = [name for name in numbers if name in _LARGEST]
    added[largest] = groups[largest].max()
    return added.reset_index()[list(frame.columns)]


def joined_manifest(job: Job, manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What parts say of themselves as one: times and counts added up, the most memory, machines where they differ."""
    return {
        **{name: value for name, value in manifests[0].items() if name not in _SPENT},
        "parameters": dict(job.parameters),
        "run_id": job.run_id,
        "opened": sorted({name for one in manifests for name in one["opened"]}),
        **{name: _one_of(one[name] for one in manifests) for name in _MACHINE},
        "started": min(one["started"] for one in manifests),
        **_spent(manifests),
        "memory_bytes": max(one["memory_bytes"] for one in manifests),
        "put_together_from": [one["run_id"] for one in manifests],
        "notes": joined_notes([one["notes"] for one in manifests]),
    }


def _spent(manifests: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Times added up; one that a part does not tell, as it ran before that was noted, nobody knows of the whole."""
    known = [name for name in _SPENT if all(name in one for one in manifests)]
    return {name: round(sum(one[name] for one in manifests), 2) for name in known}


def joined_notes(notes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Facts of several blocks or parts as one: numbers add up, `peak_bytes` and `features` are the largest, words are
    named where they differ.

    >>> joined_notes([{"n": 2, "peak_bytes": 5, "device": "cpu"}, {"n": 3, "peak_bytes": 4, "device": "cpu"}])
    {'n': 5, 'peak_bytes': 5, 'device': 'cpu'}
    """
    found: dict[str, list[Any]] = {}
    for one in notes:
        for name, value in one.items():
            found.setdefault(name, []).append(value)
    return {name: _joined(name, values) for name, values in found.items()}


def _joined(name: str, values: Sequence[Any]) -> Any:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return max(values) if name in _LARGEST else _rounded(sum(values))
    return _one_of(values)


def _rounded(value: float) -> float:
    return value if isinstance(value, int) else round(value, 6)


def _one_of(values: Iterable[Any]) -> Any:
    """The one value that all have, or all that there are, as text."""
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else ", ".join(map(str, different))
