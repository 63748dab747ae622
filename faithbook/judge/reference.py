"""The committed reference: values of single inputs of the full profile, manifests of the runs that measured them, and
the verdicts that follow from them.

All computations of a study take hours, and the data of some are on few machines: so a run goes in on its own as soon
as it is whole, from whichever clone made it. So does a part of a computation that shares its inputs out among several
runs: pages show the inputs that are there until all are, or until a run of all of them replaces them. Tables are not
kept: every page makes them from the values.

    python -m faithbook run notebooks/compute/soft_metrics.py --profile full -p dataset sst -p seed 0
    python -m faithbook reference --add data/results/full/runs/soft_metrics/sst_0-...
    python -m faithbook book --profile laptop
    python -m faithbook reference --verdicts --profile laptop
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from faithbook.access import require
from faithbook.engine.machine import is_clean, uncommitted
from faithbook.engine.pages import BOARD, mirror
from faithbook.engine.plan import MANIFEST, plan, slug_of
from faithbook.engine.shares import replaced_by
from faithbook.engine.studies import shareable, study_names
from faithbook.engine.units import UNITS, UNITS_SCHEMA
from faithbook.judge.scoreboard import FIELDS, filled, to_judge
from faithbook.judge.scores import REFERENCE
from faithbook.paths import reference_dir
from faithbook.text import some
from faithlib.errors import DataError, InputError

LARGEST = 20_000_000  # bytes; the repository carries every version of the reference for ever


def add_all(profile: str, study: str | None = None) -> Path:
    """Put the values of all computations of a profile, or of one study, into the reference (see `add`).

    DataError where one has not run.
    """
    study_names(study)
    jobs = [job for job in plan(profile, study) if job.kind == "compute" and shareable(job.notebook)]
    jobs = [job for job in jobs if study in (None, job.study)]
    missing = [job.label for job in jobs if not job.done]
    if missing:
        lacks = f"the profile {profile} lacks {', '.join(missing)}"
        raise DataError(f"{lacks}: run python -m faithbook build --profile {profile}")
    return add([job.folder for job in jobs], profile)


def add(folders: Sequence[Path], profile: str = "full") -> Path:
    """Put the values of single inputs and the manifests of whole runs into the reference, instead of earlier runs
    with the same parameters, or of those on a few inputs of the same data set. What it has of others stays.
    `profile` is that of a reference which does not exist yet.

    Raises DataError for a folder that holds no whole run, a run of another profile than the reference's, of files that
    no commit holds or of values in another schema, a few inputs of a set that the reference has whole, a part of inputs
    that it has whole or shared out among another number of parts, unless all parts are given at once, a notebook whose
    values may not be shared, and above 20 MB.
    """
    files = _all_files()
    manifest = json.loads(files.get(Path(MANIFEST), json.dumps({"profile": profile, "runs": []})))
    runs = list(manifest["runs"])
    new_runs = {folder: _checked(folder, manifest["profile"]) for folder in folders}
    for folder, facts in new_runs.items():
        for old in replaced_by(facts, runs, new_runs.values(), str(folder)):
            runs.remove(old)
            files = {name: content for name, content in files.items() if not _is_of(name, old)}
        before = Path(UNITS, facts["notebook"], slug_of(facts["parameters"]))
        files |= {Path(f"{before}-{path.name}"): path.read_bytes() for path in folder.glob(f"{UNITS}*.parquet")}
        runs.append(facts)
    remaining = {name: files[name] for name in files if name == Path(BOARD) or any(_is_of(name, run) for run in runs)}
    remaining[Path(MANIFEST)] = (json.dumps({"profile": manifest["profile"], "runs": runs}, indent=1) + "\n").encode()
    return _written(remaining)


def keep_verdicts(profile: str, study: str | None = None) -> Path:
    """Keep the verdicts that follow from the reference's values, as the pages of another profile have judged them:
    those of pages whose numbers are all the reference's. Verdicts of other pages stay as they are.

    Raises DataError where a page is missing or files differ from the commit, InputError for the reference's own
    profile, whose pages show the numbers of their runs.
    """
    files = _all_files()
    if profile == json.loads(files[Path(MANIFEST)])["profile"]:
        raise InputError(f"pages of the profile {profile} show their own numbers: give one that shows the reference's")
    changed = uncommitted()
    if changed:
        raise DataError(f"the reference must come from a commit, but these differ from it: {some(changed)}")
    jobs = [job for job in plan(profile, study) if job.kind == "report" and study in (None, job.study)]
    missing = [job.label for job in jobs if not job.done]
    if missing:
        raise DataError(f"there is no {some(missing)}: run python -m faithbook build --profile {profile}")
    sources = [json.loads(job.manifest.read_text(encoding="utf-8"))["notes"].get("source") for job in jobs]
    paths = [job.folder / "verdicts.parquet" for job, source in zip(jobs, sources, strict=True) if source == REFERENCE]
    verdicts = [pd.read_parquet(path) for path in paths if path.is_file()]
    if verdicts:
        files[Path(BOARD)] = judged_again(files.get(Path(BOARD), b"id,paper,kind\n"), pd.concat(verdicts), to_judge())
    return _written(files)


def judged_again(board: bytes, verdicts: pd.DataFrame, places: pd.DataFrame) -> bytes:
    """A scoreboard (csv) with these verdicts in the places of the earlier ones on the same ids, and at its end where
    there was none; the rest stays. `places` has id, paper and kind of what is new.
    """
    rows = pd.read_csv(io.BytesIO(board), keep_default_na=False, dtype=str).set_index("id")
    new = filled(verdicts).set_index("id")[list(FIELDS)]
    new = new.astype(str).fillna("")
    rows = rows.reindex(columns=["paper", "kind", *FIELDS], fill_value="")
    rows.update(new)
    added = places[places["id"].isin(new.index.difference(rows.index))].set_index("id")
    return pd.concat([rows, added.join(new)]).reset_index().to_csv(index=False, lineterminator="\n").encode()


def committed_board() -> pd.DataFrame:
    """The verdicts of the full run, one row per id, as text."""
    require(f"data/reference/full/{BOARD}")
    return pd.read_csv(reference_dir() / BOARD, keep_default_na=False, dtype=str)


def _all_files() -> dict[Path, bytes]:
    place = reference_dir()
    return {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def _written(files: Mapping[Path, bytes]) -> Path:
    """The reference's folder, which holds exactly these files; DataError above what the repository is to carry."""
    total = sum(map(len, files.values()))
    if total > LARGEST:
        sizes = sorted(((len(content), str(name)) for name, content in files.items()), reverse=True)
        largest = some([f"{name} {size / 1e6:.1f} MB" for size, name in sizes])
        raise DataError(f"the reference would take {total / 1e6:.1f} MB, more than {LARGEST / 1e6:.0f} MB: {largest}")
    mirror(files, reference_dir(), keep=("README.md",))
    return reference_dir()


def _checked(folder: Path, profile: str) -> dict[str, Any]:
    """The manifest of a run that may go into the reference."""
    if not (folder / MANIFEST).is_file():
        raise DataError(f"{folder} holds no whole run: expected {MANIFEST} in it, as a folder below results/*/runs has")
    facts: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    run = f"{facts['notebook']} in {folder}"
    if facts["kind"] != "compute" or not shareable(facts["notebook"]):
        raise DataError(f"{run} is no computation whose values are shared: only such go into the reference")
    if facts["profile"] != profile:
        raise DataError(f"{run} ran at the profile {facts['profile']}, the reference is of {profile}")
    if not is_clean(facts["commit"]):
        run_of = f"{run} ran at the commit {facts['commit']}"
        raise DataError(f"{run_of}: nobody could make its numbers again; run it on one")
    if facts["units_schema"] != UNITS_SCHEMA or not list(folder.glob(f"{UNITS}*.parquet")):
        raise DataError(f"{run} has no values of single inputs in schema {UNITS_SCHEMA}: run it again")
    return facts


def _is_of(name: Path, run: Mapping[str, Any]) -> bool:
    return name.match(f"{UNITS}/{run['notebook']}/*") and name.name.startswith(f"{slug_of(run['parameters'])}-{UNITS}")
