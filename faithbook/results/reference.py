"""The committed reference: the tables of the full profile, with the manifest of every run they come from."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from faithbook.engine.machine import uncommitted
from faithbook.engine.pages import BOARD, mirror, public_files
from faithbook.engine.plan import MANIFEST, Job, plan
from faithbook.engine.profiles import shareable, table
from faithbook.engine.units import UNITS
from faithbook.paths import reference_dir
from faithbook.results.scoreboard import FIELDS, filled, to_judge
from faithbook.words import some
from faithlib.errors import DataError, unknown

LARGEST = 20_000_000  # bytes; the repository carries every version of the reference for ever


def reference(profile: str, only: str | None = None) -> Path:
    """Copy the tables of a profile to `data/reference/full/`, with the values of single inputs and the manifest of
    every run they come from.

    `only` names one study: what the folder holds of others stays, on the scoreboard too. DataError where a run is
    missing, where files differ from the commit (nobody could make the numbers again), and above 20 MB.
    """
    studies = table().studies
    if only is not None and only not in studies:
        raise unknown("study", only, studies)
    if changed := uncommitted():
        raise DataError(
            f"the reference must come from a commit, but these differ from it: {some(changed)}; commit them and run "
            "python -m faithbook build again (what did not change stays done)"
        )
    jobs = [job for job in plan(profile) if only in (None, job.study)]
    if missing := [job.label for job in jobs if not job.done]:
        raise DataError(
            f"the profile {profile} lacks {', '.join(missing)}: run python -m faithbook build --profile {profile}"
        )
    files = {name: content for job in jobs if shareable(job.notebook) for name, content in _shared_by(job).items()}
    manifests = [json.loads(job.manifest.read_text(encoding="utf-8")) for job in jobs]
    folder = reference_dir()
    if only is not None and (folder / MANIFEST).is_file():
        before = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["runs"]
        others = [run for run in before if run["study"] != only]
        files, manifests = _given_by(others, folder) | files, others + manifests
        verdicts = [path for job in jobs if (path := job.folder / "verdicts.parquet").is_file()]
        if BOARD in files and verdicts:
            found = pd.concat(map(pd.read_parquet, verdicts))
            files[BOARD] = judged_again(files[BOARD], found, to_judge())
    files[Path(MANIFEST)] = (json.dumps({"profile": profile, "runs": manifests}, indent=1) + "\n").encode()
    check_size(files)
    mirror(files, folder, keep=("README.md",))
    return folder


def _shared_by(job: Job) -> dict[Path, bytes]:
    """What a run gives to the reference: the tables of a report, the values of single inputs of a computation."""
    if job.kind == "report":
        tables = [path for path in public_files(job) if path.suffix == ".csv" and not path.stem.endswith("_shown")]
        return {Path(path.name): path.read_bytes() for path in tables}
    units = sorted(job.folder.glob(f"{UNITS}*.parquet"))
    return {Path(UNITS, job.notebook, f"{job.slug}-{path.name}"): path.read_bytes() for path in units}


def _given_by(runs: Sequence[dict[str, Any]], folder: Path) -> dict[Path, bytes]:
    """What runs have given to the reference, by their manifests: nothing stays of a page that has another name now."""
    tables = {name for run in runs for name in run["files"] if name.endswith(".csv")}
    computed = {run["notebook"] for run in runs}
    kept = [path for path in (folder / UNITS).glob("*/*.parquet") if path.parent.name in computed]
    kept += [path for path in folder.glob("*.csv") if path.name in tables]
    return {path.relative_to(folder): path.read_bytes() for path in kept}


def check_size(files: Mapping[Path, bytes]) -> None:
    """DataError, with the largest files, above what the repository is to carry."""
    total = sum(map(len, files.values()))
    if total > LARGEST:
        sizes = sorted(((len(content), str(name)) for name, content in files.items()), reverse=True)
        told = some([f"{name} {size / 1e6:.1f} MB" for size, name in sizes])
        raise DataError(f"the reference would take {total / 1e6:.1f} MB, more than {LARGEST / 1e6:.0f} MB: {told}")


def judged_again(board: bytes, verdicts: pd.DataFrame, places: pd.DataFrame) -> bytes:
    """A scoreboard (csv) with these verdicts in the places of the earlier ones on the same ids, and at its end where
    there was none; the rest stays. `places` has id, paper and kind of what is new.
    """
    rows = pd.read_csv(io.BytesIO(board), keep_default_na=False, dtype=str).set_index("id")
    new = filled(verdicts).set_index("id")[list(FIELDS)]
    new = new.astype(str).replace("<NA>", "")
    rows = rows.reindex(columns=[*rows.columns, *(name for name in FIELDS if name not in rows.columns)], fill_value="")
    rows.update(new)
    added = places[places["id"].isin(new.index.difference(rows.index))].set_index("id")
    return pd.concat([rows, added.join(new)]).reset_index().to_csv(index=False, lineterminator="\n").encode()
