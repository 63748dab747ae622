"""The paper profile in small, as a machine runs it that has all models of the hub in its cache.

A clone of the repository in a temporary folder, whose profile `paper` has few inputs, steps and draws and one epoch
(`small_profile`): sizes alone, never which data sets, models, methods or tables. Its models are tiny ones that are
written into the layout of the hub's cache (`replica_models`), its data what is in FAITHLIB_DATA or else rows of ours in
the owners' forms (`replica_data`). All that runs is `python -m faithbook …`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import replica_data
import replica_models

from faithbook.artifacts import HubModel, listed_source, registry, source_is_here
from faithbook.engine.plan import MANIFEST
from faithbook.engine.studies import entry_of
from faithbook.engine.study import PAPER
from faithbook.paths import raw_dir
from faithbook.studies.crosslingual.zaman_belinkov import PRINTED_AS

REPOSITORY = Path(__file__).resolve().parents[1]
PROFILE = PAPER.name
LEFT_OUT = ("data/raw", "data/results", "book/_build", "book/executed")


@dataclass(frozen=True)
class Rehearsal:
    """A clone with its profile in small, its data, and the hub's cache with its models."""

    home: Path
    data: Path
    hub: Path

    @property
    def results(self) -> Path:
        """What the profile's runs have saved, and the book that was made of it."""
        return self.home / "data" / "results" / PROFILE

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("FAITHLIB_", "PYTEST", "HF_"))
        }
        told = {"FAITHLIB_HOME": str(self.home), "FAITHLIB_DATA": str(self.data), "FAITHBOOK_REHEARSAL": "yes"}
        places = (self.home, self.home / "tests", self.home / "tests" / "narrow")
        told["PYTHONPATH"] = os.pathsep.join(map(str, places))
        return kept | told | {"HF_HOME": str(self.hub), "HF_HUB_OFFLINE": "1"}

    def call(self, *words: str, module: str = "faithbook", echo: bool = True) -> tuple[int, str]:
        """Run a command to its end: its status and all that it said, which is shown as it comes."""
        began = time.monotonic()
        print(f"\n$ python -m {module} {' '.join(words)}", flush=True)
        line = [sys.executable, "-m", module, *words]
        with subprocess.Popen(
            line, env=self.environment, cwd=self.home, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            assert process.stdout is not None
            said = []
            for one in process.stdout:
                said.append(one)
                if echo:
                    print(one, end="", flush=True)
        print(f"status {process.returncode} after {time.monotonic() - began:.0f} s", flush=True)
        return process.returncode, "".join(said)

    def bring(self, said: str) -> None:
        """Do what a preflight has asked for: put files where it says, convert what are pickles alone."""
        asked = re.findall(r"^  ([\w:/.-]+): ", said.partition("so nothing was started:")[2], flags=re.MULTILINE)
        for name in asked:
            if name in replica_data.BY_HAND:
                replica_data.BY_HAND[name](self.data / name)
        if pickled := re.findall(r"python -m (faithbook\.models\.convert) (\S+)", said):
            status, told = self.call(*sorted({model for _, model in pickled}), module=pickled[0][0])
            assert status == 0, told


def prepared(folder: Path) -> Rehearsal:
    """Clone the repository, shrink its profile, put every model that data/artifacts.toml names into a cache, and
    files of ours in the place of those that have an address."""
    home, data, hub = folder / "home", folder / "data", folder / "hub"
    shutil.copytree(REPOSITORY, home, ignore=_made_here, symlinks=True)
    for study in (home / "faithbook" / "studies").glob("*/study.py"):
        with study.open("a", encoding="utf-8") as stream:
            stream.write("\nfrom small_profile import shrink  # noqa: E402\n\nshrink(study)\n")
    data.mkdir()
    if raw_dir().is_dir():
        for path in raw_dir().iterdir():
            if path.is_file() or any(path.iterdir()):  # a folder may be left by a download that failed
                (data / path.name).symlink_to(path.resolve())
    if not source_is_here("cifar100-folder"):  # or the same would be downloaded in another form from its owners
        replica_data.BY_HAND["cifar100-folder"](data / "cifar100-folder")
    _cache_models(registry().hub, folder / "models", hub / "hub")
    _put_listed(home / "data" / "sources.toml", data)
    return Rehearsal(home, data, hub)


def _made_here(folder: str, names: list[str]) -> set[str]:
    """Of the names in a folder those that a fresh clone has not."""
    place = Path(folder).relative_to(REPOSITORY)
    hidden = {name for name in names if name.startswith(".") and name != ".gitignore"}
    return hidden | {name for name in names if name == "__pycache__" or str(place / name) in LEFT_OUT}


def _put_listed(listed: Path, data: Path) -> None:
    """What has an address lies there, unless the real file does; its digest is its own."""
    text = listed.read_text(encoding="utf-8")
    for source, make in replica_data.BY_ADDRESS.items():
        if (data / source).exists():
            continue
        asked = listed_source(source)
        for file, digest in (asked.get("files") or {asked["file"]: asked["sha256"]}).items():
            (data / source).mkdir(exist_ok=True)
            make(data / source / file)
            text = text.replace(digest, hashlib.sha256((data / source / file).read_bytes()).hexdigest())
    listed.write_text(text, encoding="utf-8")


def _cache_models(named: Mapping[str, HubModel], folder: Path, cache: Path) -> None:
    """Make all models; one that it pins lies at that commit alone, so that whoever asks for the newest fails."""
    said = [
        *replica_data.languages(),
        *(text for kind in ("sst", "ag") for text in replica_data.texts(60, (5, 15), kind)),
    ]
    for name, about in named.items():
        place, pinned = folder / name.replace("/", "--"), about.revision
        replica_models.make(name, place, said)
        replica_models.put_in_cache(cache, name, place, pinned or "f" * 40, newest=not pinned)


# ----------------------------------------------------------------------------------------------------- tables and pages
@dataclass(frozen=True)
class Shown:
    """Where a run shows a published table: the `file` of a report, and the columns that tell whether a cell is
    `filled` (none of them missing or a dash). `measured`: the computation whose values stand for a row of which the
    report shows none, as it does of languages that a model does not read; one of random weights reads none."""

    file: str
    filled: tuple[str, ...] = ("estimate",)
    measured: str = ""


CALLED = {"xlm_r_base": "xlmr"}
"""What our profile calls models that the printed tables call otherwise."""
_NOT_LABELS = {"value", "spread", "starred", "n", "printed", "where", "unit", "source", "note", "kind", "commit"}


def printed(name: str) -> pd.DataFrame:
    """A published table."""
    return pd.read_csv(REPOSITORY / "data" / "published" / f"{name}.csv", dtype=str)


def can_be_computed(study: str) -> set[str]:
    """The published tables of a study's paper that can be computed again: the plan has no fixed verdict for them."""
    claims, plan = (
        pd.read_csv(REPOSITORY / "data" / f"{name}.csv", keep_default_na=False, index_col="id")
        for name in ("claims", "analysis_plan")
    )
    of_study = claims.index[claims.index.str.startswith(f"{study}_") & (claims["kind"] == "table")]
    return {name for name in of_study if not plan.loc[name, "fixed_verdict"]}


def unfilled(rehearsed: Rehearsal, name: str, shown: Shown) -> list[str]:
    """The cells of a published table for which a run has no number, by their labels."""
    theirs, ours = printed(name).replace({"model": CALLED}), saved(rehearsed, shown.file)
    if name.startswith("crosslingual_") and "method" in theirs.columns:
        theirs = theirs.replace({"method": PRINTED_AS})  # the row that the paper printed under this name
    labels = [column for column in theirs.columns if column in ours.columns and column not in _NOT_LABELS]
    assert labels, f"{shown.file} has none of the labels of {name}: {', '.join(ours.columns)}"
    has = ours[list(shown.filled)].notna().all(axis=1) & (ours[list(shown.filled)] != "–").all(axis=1)
    there = set(ours.loc[has, labels].itertuples(index=False, name=None))
    if shown.measured:
        found = measured(rehearsed, shown.measured)
        told = found[[label for label in labels if label in found.columns]].drop_duplicates()
        there |= set(ours[labels].merge(told).itertuples(index=False, name=None))
    wanted = theirs[labels].drop_duplicates().itertuples(index=False, name=None)
    return [" ".join(map(str, cell)) for cell in wanted if cell not in there]


def measured(rehearsed: Rehearsal, notebook: str) -> pd.DataFrame:
    """The labels of all values that a computation has measured, as text; of variants its main one's."""
    frames = []
    for units in sorted((rehearsed.results / "runs" / notebook).glob("*/units.parquet")):
        told = json.loads((units.parent / MANIFEST).read_text(encoding="utf-8"))["parameters"]
        values = pd.read_parquet(units).query("value == value and setting == 'main'")
        labels = values.drop(columns=["id", "seed", "cluster", "value"]).astype(str).drop_duplicates()
        both = [output for output in labels["output"].unique() if output != "none"]
        frames += [labels.assign(**told)]
        frames += [labels[labels["output"] == "none"].assign(**told, output=output) for output in both]
    return pd.concat(frames).drop_duplicates()


def unasked(rehearsed: Rehearsal, file: str, notebook: str, column: str) -> set[tuple[str, str]]:
    """The data sets and classifiers that the profile names for a computation, and of which a report has no number."""
    entry = entry_of(notebook)
    assert entry is not None
    asked = {(point["dataset"], point["classifier"]) for point in entry.points(PAPER)}
    found = saved(rehearsed, file).dropna(subset=["estimate"])
    there = set(found[["dataset", column]].itertuples(index=False, name=None))
    return asked - there


def saved(rehearsed: Rehearsal, file: str) -> pd.DataFrame:
    """A table that a report has saved, as text; the latest, since those of checkpoints run again after a training."""
    found = (rehearsed.results / "runs").glob(f"*/*/{file}")
    latest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    assert latest is not None, f"no run has saved {file}"
    return pd.read_csv(latest, dtype=str)
