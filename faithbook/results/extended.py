"""Runs put into the committed reference one by one, and its tables drawn anew from the values that it holds then.

All computations of a study take hours, and the data of some lie on few machines: so a run goes in alone as soon as it
is whole, from whichever clone has made it, and pages of a smaller profile, on which the reference speaks, tell its
tables and verdicts. So does a part of a computation that shares its inputs out among several runs: pages speak of the
inputs that are there until all are, or until a run of all of them takes their place.

    python -m faithbook run notebooks/compute/soft_metrics.py --profile full -p dataset sst -p seed 0
    python -m faithbook reference --add data/results/full/runs/soft_metrics/sst_0-...
    python -m faithbook build --profile laptop --study soft
    python -m faithbook reference --redraw --profile laptop --study soft
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from faithbook.engine.machine import uncommitted
from faithbook.engine.pages import BOARD, mirror, public_files
from faithbook.engine.plan import MANIFEST, PART, PARTS, Job, find_notebook, notebook_parameters, part_of, plan, slug_of
from faithbook.engine.profiles import shareable
from faithbook.engine.units import UNITS, UNITS_SCHEMA
from faithbook.paths import reference_dir
from faithbook.results.judged import without_disagreement
from faithbook.results.measured import REFERENCE
from faithbook.results.reference import check_size, judged_again
from faithbook.results.scoreboard import filled, to_judge
from faithbook.words import some
from faithlib.errors import DataError, InputError

HERE = "here"  # begins the columns with the numbers of the run that a page belongs to, where the reference speaks
# Tables that count what a page's own run has read or spent, whoever speaks there; at a smaller profile that is less.
OF_THE_RUN = (
    "crosslingual_erasure_costs.csv",
    "crosslingual_erasure_fault.csv",
    "crosslingual_erasure_windows.csv",
    "crosslingual_thresholds.csv",
    "saco_s11.csv",
    "saco_s8.csv",
    "soft_amount.csv",
    "together_matrix_costs.csv",
    "together_reasons.csv",
)
COLUMNS_OF_THE_RUN = ("model calls per input", "density")  # as well, in tables that are drawn again for the rest
FEW = "-few"  # ends the names of data sets that are a few inputs of another


def add(folders: Sequence[Path]) -> Path:
    """Put the values of single inputs and the manifests of whole runs into the reference, in the place of earlier runs
    with the same parameters, or of those on a few inputs of the same data set. What it has of others stays.

    Raises DataError for a folder that holds no whole run, a run of another profile than the reference's, of files that
    no commit holds or of values in another schema, a few inputs of a set that the reference has whole, a part of inputs
    that it has whole or shared out among another number of parts, unless all parts are given at once, a notebook whose
    values may not be shared, and above 20 MB.
    """
    place = reference_dir()
    told = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    files, runs = _all_of(place), list(told["runs"])
    given = {folder: _checked(folder, told["profile"]) for folder in folders}
    for folder, facts in given.items():
        if reason := _left_out(facts, runs, list(given.values())):
            raise DataError(f"{folder} is {reason}")
        for old in [run for run in runs if _replaced_by(run, facts) or _is_shared_otherwise(facts, run)]:
            runs.remove(old)
            files = {name: content for name, content in files.items() if not _is_of(name, old)}
        units = sorted(folder.glob(f"{UNITS}*.parquet"))
        files |= {_place_of(facts) / f"{slug_of(facts['parameters'])}-{path.name}": path.read_bytes() for path in units}
        runs.append(facts)
    return _written(files, told["profile"], runs)


def redraw(profile: str, study: str | None = None) -> Path:
    """Take the tables and verdicts that the reference's values give on the pages of another profile: those of pages on
    which nothing but the reference speaks, without the columns of that profile's own run. What other pages tell stays
    as it is.

    Raises DataError where a page is missing or files differ from the commit, InputError for the reference's own
    profile, whose pages tell the numbers of their runs.
    """
    place = reference_dir()
    told = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    if profile == told["profile"]:
        raise InputError(f"pages of the profile {profile} tell their own numbers: give one where the reference speaks")
    if changed := uncommitted():
        raise DataError(f"the reference must come from a commit, but these differ from it: {some(changed)}")
    jobs = [job for job in plan(profile, study) if job.kind == "report" and study in (None, job.study)]
    if missing := [job.label for job in jobs if not job.done]:
        raise DataError(f"there is no {some(missing)}: run python -m faithbook build --profile {profile}")
    files, runs = _all_of(place), list(told["runs"])
    spoken = [
        job for job in jobs if json.loads(job.manifest.read_text(encoding="utf-8"))["notes"].get("speaks") == REFERENCE
    ]
    for job in spoken:
        if shareable(job.notebook):
            tables = dict(_tables(job))
            files |= tables
            runs = _drawn_by(job, list(map(str, tables)), runs)
    verdicts = [path for job in spoken if (path := job.folder / "verdicts.parquet").is_file()]
    if verdicts and Path(BOARD) in files:
        found = filled(pd.concat(map(pd.read_parquet, verdicts)).assign(here=""))
        found["note"] = found["note"].map(without_disagreement)
        files[Path(BOARD)] = judged_again(files[Path(BOARD)], found, to_judge())
    return _written(files, told["profile"], runs)


def _all_of(place: Path) -> dict[Path, bytes]:
    return {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def _written(files: Mapping[Path, bytes], profile: str, runs: Sequence[Mapping[str, Any]]) -> Path:
    """The reference's folder, which holds exactly these files and the manifests of these runs."""
    place, manifest = reference_dir(), json.dumps({"profile": profile, "runs": list(runs)}, indent=1) + "\n"
    everything = {**files, Path(MANIFEST): manifest.encode()}
    check_size(everything)
    mirror(everything, place, keep=("README.md",))
    return place


def _checked(folder: Path, profile: str) -> dict[str, Any]:
    """The manifest of a run that may go into the reference."""
    if not (folder / MANIFEST).is_file():
        raise DataError(f"{folder} holds no whole run: expected {MANIFEST} in it, as a folder below results/*/runs has")
    facts: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    what = f"{facts['notebook']} in {folder}"
    if facts["kind"] != "compute" or not shareable(facts["notebook"]):
        raise DataError(f"{what} is no computation whose values are shared: only such go into the reference")
    if facts["profile"] != profile:
        raise DataError(f"{what} ran at the profile {facts['profile']}, the reference is of {profile}")
    if facts["commit"] == "unknown" or "changes" in facts["commit"]:
        raise DataError(
            f"{what} ran at the commit {facts['commit']}: nobody could make its numbers again; run it on one"
        )
    if facts["units_schema"] != UNITS_SCHEMA or not list(folder.glob(f"{UNITS}*.parquet")):
        raise DataError(f"{what} has no values of single inputs in schema {UNITS_SCHEMA}: run it again")
    return facts


def _left_out(new: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], given: Sequence[Mapping[str, Any]]) -> str:
    """Why a run cannot stand beside those of the reference; empty where it can."""
    if any(_is_few_of(new, run) for run in runs):
        return "of a few inputs of a data set of which the reference has more: leave it out"
    parts = [_parts(run) for run in runs if _is_shared_otherwise(new, run)]
    if parts and sum(_is_part_beside(new, run) for run in given) < _parts(new):
        known = "whole" if parts[0] == 1 else f"in {parts[0]} parts"
        return f"one of {_parts(new)} parts, but the reference has these inputs {known}: add all parts at once"
    return ""


def _replaced_by(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a run takes the place of another: of the same parameters, as far as its notebook still has them, or of a
    few inputs of the same set."""
    if old["notebook"] != new["notebook"]:
        return False
    before, now = _parameters(old), new["parameters"]
    return _is_few_of(old, new) or all(now[name] == value for name, value in before.items() if name in now)


def _parameters(run: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a run; of one from before its notebook had a parameter with the default, which is what it has done."""
    defaults = notebook_parameters(find_notebook(run["notebook"]))
    return {name: value for name, value in defaults.items() if name not in (PART, PARTS)} | dict(run["parameters"])


def _is_few_of(one: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    """Whether a run is of a few inputs of the data set of another."""
    few = f"{whole['parameters'].get('dataset')}{FEW}"
    return (one["notebook"], one["parameters"].get("dataset")) == (whole["notebook"], few)


def _parts(run: Mapping[str, Any]) -> int:
    """Among how many runs the inputs of this one are shared out."""
    return part_of(run["parameters"])[1]


def _is_shared_otherwise(part: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether a run has inputs of a part, but not as one of the same number of parts."""
    return _has_inputs_of(part, run) and _parts(part) not in (1, _parts(run))


def _is_part_beside(part: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether a run is a part, or one of the others, of the same inputs in the same number of parts."""
    return _has_inputs_of(part, run) and _parts(part) == _parts(run)


def _has_inputs_of(part: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    if part["notebook"] != run["notebook"]:
        return False
    own, other = ({**_parameters(one), PART: 1, PARTS: 1} for one in (part, run))
    return own == other


def _place_of(facts: Mapping[str, Any]) -> Path:
    return Path(UNITS, facts["notebook"])


def _is_of(name: Path, run: Mapping[str, Any]) -> bool:
    return name.parent == _place_of(run) and name.name.startswith(f"{slug_of(run['parameters'])}-{UNITS}")


def _tables(job: Job) -> Iterator[tuple[Path, bytes]]:
    """The tables of a page that the reference's values make, without the run's own columns; digits stay as they are."""
    for path in public_files(job):
        if path.suffix == ".csv" and not path.stem.endswith("_shown") and path.name not in OF_THE_RUN:
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
            own = [name for name in frame.columns if name == HERE or name.startswith(f"{HERE}_")]
            own += [name for name in COLUMNS_OF_THE_RUN if name in frame.columns]
            yield Path(path.name), frame.drop(columns=own).to_csv(index=False, lineterminator="\n").encode()


def _drawn_by(job: Job, tables: Sequence[str], runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The manifests with that of a page which has drawn these tables: the earlier one's, and what drew them now."""
    facts = json.loads(job.manifest.read_text(encoding="utf-8"))
    before = next((run for run in runs if run["notebook"] == job.notebook), facts)
    drawn = {name: facts[name] for name in ("profile", "run_id", "commit", "started")}
    now = before | {"files": before["files"] | {name: facts["files"].get(name) for name in tables}, "redrawn": drawn}
    return [run for run in runs if run["notebook"] != job.notebook] + [now]
