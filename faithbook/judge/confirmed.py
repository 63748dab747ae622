"""The confirmatory values: headline claims, and what else was planned, on inputs of the reserve, after the freeze.

`data/reference/confirmatory` has the values of single inputs as the reference has them (`units/<notebook>/...`), and a
manifest with every run and the digest of what was frozen before it: plan, claims, reserve and the code that judges.

    python -m faithbook.judge.confirmed list                 # the parts, and which are committed
    python -m faithbook.judge.confirmed run                  # measure those that are missing, and commit each
    python -m faithbook.judge.confirmed add FOLDER ...       # take over whole runs from elsewhere

What is measured, and on how many inputs, the studies' `study.py` say for the profile `confirm`. A part is measured
once: a value that is committed is never replaced.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from faithbook.engine.build import run_job
from faithbook.engine.machine import is_clean
from faithbook.engine.plan import MANIFEST, Job, find_notebook, make_job, slug_of
from faithbook.engine.studies import entry_of, notebooks
from faithbook.engine.study import CONFIRM, Notebook
from faithbook.engine.units import UNITS, UNITS_SCHEMA
from faithbook.paths import confirmatory_dir, root
from faithbook.sources.reserve import measured_ids
from faithlib.errors import DataError, InputError, unknown

PROFILE = CONFIRM.name
SAMPLE = "confirmatory"


def freeze_digest() -> str:
    """The digest of what is frozen as it is now; DataError where nothing is frozen yet."""
    try:
        digest: Callable[[], str] = importlib.import_module("faithbook.judge.freeze").digest
    except (ImportError, AttributeError) as error:
        raise DataError(
            "nothing is frozen yet (no faithbook.judge.freeze): the reserve must not be measured"
        ) from error
    return digest()


# --------------------------------------------------------------------------------------------------------- what to do
def confirming() -> list[Notebook]:
    """The computations that draw on the reserve."""
    return [notebook for notebook in notebooks("compute") if notebook.settings(CONFIRM).get("sample") == SAMPLE]


def confirmatory_jobs() -> list[Job]:
    """Every part of the confirmatory runs that this machine has the data for, seeds one after the other."""
    jobs = []
    for notebook in confirming():
        source = find_notebook(notebook.name)
        jobs += [make_job(source, PROFILE, point) for point in notebook.points(CONFIRM)]
    # So that a run that is cut short has the first parts of every data set.
    return sorted(jobs, key=lambda job: (int(job.parameters.get("seed", 0)), int(job.parameters.get("part", 1))))


def committed() -> list[dict[str, Any]]:
    """The manifests of the runs that are there."""
    path = confirmatory_dir() / MANIFEST
    if not path.is_file():
        return []
    runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return runs


def _is_there(notebook: str, parameters: Mapping[str, Any], runs: Iterable[Mapping[str, Any]]) -> bool:
    return any(run["notebook"] == notebook and run["parameters"] == dict(parameters) for run in runs)


# ------------------------------------------------------------------------------------------------------------ results
def add(folders: Sequence[Path], freeze: str) -> Path:
    """Put the values and manifests of whole runs of the profile `confirm` with those that are there.

    `freeze`: the digest of what was frozen when they ran, where their manifests do not say it. DataError for a folder
    without a whole run, a run of another profile, of a commit that nobody knows, of a part that is there already, after
    another freeze than the others, or with an input that was measured before.
    """
    runs, place = committed(), confirmatory_dir()
    seen = measured_ids()
    files: dict[Path, bytes] = {}
    for folder in folders:
        facts = {"freeze": freeze, **_checked(folder)}
        if runs and runs[0]["freeze"] != facts["freeze"]:
            after = f"{place} has runs after the freeze {runs[0]['freeze']}"
            raise DataError(f"{after}, and {folder} ran after {facts['freeze']}: one freeze, one run")
        if _is_there(facts["notebook"], facts["parameters"], runs):
            raise DataError(f"{folder}: the values of {_label(facts)} are there, and a part is measured once")
        for path in sorted(folder.glob(f"{UNITS}*.parquet")):
            known = seen & set(pd.read_parquet(path, columns=["id"])["id"].astype(str))
            if known:
                raise DataError(f"{path} has {len(known)} inputs that were measured before, such as {min(known)}")
            name = f"{slug_of(facts['parameters'])}-{path.name}"
            files[Path(UNITS, _folder_of_values(facts["notebook"]), name)] = path.read_bytes()
        runs.append(facts)
    for relative, content in files.items():
        (place / relative).parent.mkdir(parents=True, exist_ok=True)
        (place / relative).write_bytes(content)
    manifest = {"profile": PROFILE, "runs": runs}
    (place / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return place


def _folder_of_values(notebook: str) -> str:
    """Where pages look for what a computation has measured: with the values of another, where it has more of them."""
    entry = entry_of(notebook)
    reserve = entry.reserve if entry else None
    return reserve.values_with or notebook if reserve else notebook


def _checked(folder: Path) -> dict[str, Any]:
    """The manifest of a run that may go in."""
    if not (folder / MANIFEST).is_file():
        raise DataError(f"{folder} holds no whole run: expected {MANIFEST} in it")
    facts: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if facts["profile"] != PROFILE or facts["settings"].get("sample") != SAMPLE:
        raise DataError(f"{folder} ran at the profile {facts['profile']}: expected {PROFILE} and its sample {SAMPLE}")
    if not is_clean(facts["commit"]):
        raise DataError(f"{folder} ran at the commit {facts['commit']}: nobody could make its numbers again")
    if facts["units_schema"] != UNITS_SCHEMA or not list(folder.glob(f"{UNITS}*.parquet")):
        raise DataError(f"{folder} has no values of single inputs in schema {UNITS_SCHEMA}: run it again")
    return facts


def _label(facts: Mapping[str, Any]) -> str:
    return f"{facts['notebook']} {slug_of(facts['parameters'])}"


# --------------------------------------------------------------------------------------------------- the command line
def _run(most: int | None, notebook: str | None) -> None:
    """Measure the parts that are missing (of one notebook), at most so many, and commit each when it is whole."""
    freeze = freeze_digest()
    names = [entry.name for entry in confirming()]
    if notebook is not None and notebook not in names:
        raise unknown("notebook", notebook, names)
    missing = [job for job in confirmatory_jobs() if not _is_there(job.notebook, job.parameters, committed())]
    missing = [job for job in missing if notebook in (None, job.notebook)]
    for job in missing[:most]:
        run_job(job)
        place = add([job.folder], freeze)
        subprocess.run(["git", "-C", str(root()), "add", str(place)], check=True)
        message = f"Confirmatory values: {job.label}"
        subprocess.run(["git", "-C", str(root()), "commit", "-qm", message, "--", str(place)], check=True)
        print(f"{job.label}: committed")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m faithbook.judge.confirmed", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="the parts, and which are committed")
    run = verbs.add_parser("run", help="measure what is missing, and commit each part")
    run.add_argument("--most", type=int, help="at most so many parts")
    run.add_argument("--of", metavar="NOTEBOOK", help="the parts of one notebook alone")
    verbs.add_parser("add", help="take over whole runs").add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.verb == "run":
            _run(options.most, options.of)
        elif options.verb == "add":
            print(f"the confirmatory values are in {add(options.folders, freeze_digest())}")
        else:
            for job in confirmatory_jobs():
                done = _is_there(job.notebook, job.parameters, committed())
                state = "committed" if done else "to do"
                print(f"{state:<9}  {job.label}")
    except (DataError, InputError) as error:
        print(f"faithlib: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
