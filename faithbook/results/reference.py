"""The committed reference: the tables of the full profile, with the manifest of every run they come from."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from faithbook.engine.pages import BOARD, mirror, public_files
from faithbook.engine.plan import MANIFEST, plan
from faithbook.engine.profiles import shareable, table
from faithbook.engine.run import has_reference, load
from faithbook.paths import reference_dir
from faithbook.results.scoreboard import to_judge
from faithlib.errors import DataError, unknown


def reference(profile: str, only: str | None = None) -> Path:
    """Copy the tables of a profile to `data/reference/full/`, with the manifest of every run they come from.

    `only` names one study: what the folder holds of others stays, on the scoreboard too.
    """
    studies = table().studies
    if only is not None and only not in studies:
        raise unknown("study", only, studies)
    jobs = [job for job in plan(profile) if only in (None, job.study)]
    if missing := [job.label for job in jobs if not job.done]:
        raise DataError(
            f"the profile {profile} lacks {', '.join(missing)}: run python -m faithbook build --profile {profile}"
        )
    files: dict[Path, bytes] = {}
    for job in jobs:
        if job.kind == "report" and shareable(job.notebook):
            tables = [path for path in public_files(job) if path.suffix == ".csv" and not path.stem.endswith("_shown")]
            files |= {Path(path.name): path.read_bytes() for path in tables}
    manifests = [json.loads(job.manifest.read_text(encoding="utf-8")) for job in jobs]
    folder = reference_dir()
    if only is not None and (folder / MANIFEST).is_file():
        files = {Path(path.name): path.read_bytes() for path in folder.glob("*.csv")} | files
        before = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["runs"]
        manifests = [run for run in before if run["study"] != only] + manifests
        verdicts = [path for job in jobs if (path := job.folder / "verdicts.parquet").is_file()]
        if BOARD in files and verdicts:
            found = pd.concat(map(pd.read_parquet, verdicts))
            files[BOARD] = judged_again(files[BOARD], found, to_judge())
    files[Path(MANIFEST)] = (json.dumps({"profile": profile, "runs": manifests}, indent=1) + "\n").encode()
    mirror(files, folder, keep=("README.md",))
    return folder


def judged_again(board: bytes, verdicts: pd.DataFrame, places: pd.DataFrame) -> bytes:
    """A scoreboard (csv) with these verdicts in the places of the earlier ones on the same ids, and at its end where
    there was none; the rest stays. `places` has id, paper and kind of what is new.
    """
    rows = pd.read_csv(io.BytesIO(board), keep_default_na=False, dtype=str).set_index("id")
    new = verdicts.set_index("id")[["verdict", "n", "page", "note"]]
    new = new.assign(n=new["n"].astype("Int64").astype(str).replace("<NA>", ""))
    rows.update(new)
    added = places[places["id"].isin(new.index.difference(rows.index))].set_index("id")
    return pd.concat([rows, added.join(new)]).reset_index().to_csv(index=False, lineterminator="\n").encode()


def with_reference(frame: pd.DataFrame, name: str, *, on: Sequence[str]) -> pd.DataFrame:
    """The frame with a column `reference`: the estimate that the committed run of the full profile saved in the table
    `name`, NaN where it has none; the frame as it is where that run has no such table."""
    if not has_reference(name):
        return frame
    earlier = load(name, reference=True)
    if missing := {*on, "estimate"} - set(earlier.columns):
        raise DataError(f"the reference table {name} lacks the columns {sorted(missing)}: make it again, `make full`")
    return frame.merge(earlier[[*on, "estimate"]].rename(columns={"estimate": "reference"}), on=list(on), how="left")
