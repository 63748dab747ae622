"""The paper profile in small, as a machine runs it that has all models of the hub in its cache.

A clone of the repository in a temporary folder, whose profile `paper` has few inputs, steps and draws and one epoch
(`SMALL`): sizes alone, never which data sets, models, methods or tables. Its models are tiny ones that are written into
the layout of the hub's cache (`replica_models`), its data what is in FAITHLIB_DATA or else rows of ours in the owners'
forms (`replica_data`). All that runs is `python -m faithbook …`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import replica_data
import replica_models
import yaml

from faithbook.engine.plan import MANIFEST
from faithbook.engine.profiles import inherited, listed_source, source_lies
from faithbook.paths import raw_dir

REPOSITORY = Path(__file__).resolve().parents[1]
PROFILE = "paper"
LEFT_OUT = ("data/raw", "data/results", "book/_build", "book/executed")

SMALL: dict[str, int] = {
    "epochs": 1,
    "ig_steps": 3,
    "ig_steps_of": 3,
    "attack_steps": 1,
    "draws": 2,
    "noise_draws": 1,
    "random_draws": 2,
    "cka_draws": 1,
    "lime_samples": 6,
    "samples": 6,
    "permutations": 1,
    "inputs": 4,
    "controlled": 2,
    "searched": 1,
    "priced": 1,
    "checked": 12,
    "attacked": 4,
    "texts": 6,
    "pictures": 4,
    "varied_pictures": 1,
    "grouped_pictures": 1,
    "examples": 2,
    "messages": 6,
    "erased": 6,
    "gold_sentences": 8,
    "learnt_from": 60,
    "compared_messages": 12,
    "represented": 24,
    "excerpts": 6,
    "articles": 30,
    "lengths": 1,
    "read": 24,
}
"""What the sizes of a profile are in a rehearsal, by the name of the setting, however deep they lie below it."""
ZERO_IS_ALL = ("read",)
"""Sizes of which zero says that everything is taken."""
LENGTH = 10
"""Words of the longest texts of those that are cut to several `lengths`."""
LONGEST, SPAN = 8, 2
"""Words of the shortest texts of a kind (`words`) at most; how many more than these the longest have."""
LIMIT = 24
"""Texts or pictures of each split that a training learns from."""
ALWAYS = ("cifar100-folder",)
"""What is brought without being asked for: in another form the same would be downloaded from its owners."""
PARTS, WHOLE = 2, ("naopc_models", "naopc_six")
"""In how many parts a computation is cut that the profile cuts at all; which stay whole, as they are many already."""


def small(profile: dict[str, Any]) -> dict[str, Any]:
    """A profile with the sizes of a rehearsal and everything else as it is."""
    made = {**profile, "settings": {name: _reduced(block) for name, block in profile["settings"].items()}}
    made["parts"] = {name: min(PARTS, number) for name, number in profile.get("parts", {}).items() if name not in WHOLE}
    made["trains"] = {
        study: {notebook: [{**point, "limit": LIMIT} for point in points] for notebook, points in grids.items()}
        for study, grids in profile["trains"].items()
    }
    return made


def _reduced(value: Any, to: int | None = None) -> Any:
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if not isinstance(name, int) or name <= LENGTH}
        return {
            name: [min(one[0], LONGEST), min(one[0], LONGEST) + SPAN]
            if name == "words" and isinstance(one, list)
            else _reduced(SMALL[name] if name in ZERO_IS_ALL and one == 0 else one, SMALL.get(name, to))
            for name, one in kept.items()
        }
    if to is not None and isinstance(value, int) and not isinstance(value, bool):
        return min(value, to)
    return value


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
        told["PYTHONPATH"] = os.pathsep.join((str(self.home), str(self.home / "tests" / "narrow")))
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


@contextlib.contextmanager
def prepared(folder: Path) -> Iterator[Rehearsal]:
    """Clone the repository, shrink its profile, put every model that the table of profiles names into a cache, and
    serve the files that have an address."""
    home, data, hub = folder / "home", folder / "data", folder / "hub"
    shutil.copytree(REPOSITORY, home, ignore=_made_here, symlinks=True)
    path = home / "notebooks" / "profiles.yaml"
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    table["profiles"] = inherited(table["profiles"])
    table["profiles"][PROFILE] = small(table["profiles"][PROFILE])
    path.write_text(yaml.safe_dump(table, allow_unicode=True, sort_keys=False), encoding="utf-8")
    data.mkdir()
    if raw_dir().is_dir():
        for there in raw_dir().iterdir():
            (data / there.name).symlink_to(there.resolve())
    for source in ALWAYS:
        if not source_lies(source):
            replica_data.BY_HAND[source](data / source)
    _cache_models(table["hub"], folder / "models", hub / "hub")
    served = folder / "served"
    served.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=served)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        _list_served(home / "data" / "sources.toml", served, f"http://127.0.0.1:{server.server_port}")
        yield Rehearsal(home, data, hub)
        server.shutdown()


def _made_here(folder: str, names: list[str]) -> set[str]:
    """Of the names in a folder those that a fresh clone has not."""
    place = Path(folder).relative_to(REPOSITORY)
    hidden = {name for name in names if name.startswith(".") and name != ".gitignore"}
    return hidden | {name for name in names if name == "__pycache__" or str(place / name) in LEFT_OUT}


def _list_served(listed: Path, folder: Path, address: str) -> None:
    """What has an address comes from the folder, unless the real file lies on this machine; its digest is its own."""
    text = listed.read_text(encoding="utf-8")
    for source, make in replica_data.BY_ADDRESS.items():
        if source_lies(source):
            continue
        entry = re.search(rf"^\[{source}\]\n(?:.+\n)+", text, flags=re.MULTILINE)
        assert entry is not None, source
        asked = listed_source(source)
        ours = entry[0].replace(asked["url"], f"{address}/{source}{'-{file}' if 'files' in asked else ''}")
        for file, digest in asked.get("files", {"": asked.get("sha256")}).items():
            place = folder / (f"{source}-{file}" if file else source)
            make(place)
            ours = ours.replace(digest, _sha256(place))
        text = text.replace(entry[0], ours)
    listed.write_text(text, encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _cache_models(named: Mapping[str, Mapping[str, str]], folder: Path, cache: Path) -> None:
    """Make all models; one that the table pins lies at that commit alone, so that whoever asks for the newest fails."""
    said = [
        *replica_data.languages(),
        *(text for kind in ("sst", "ag") for text in replica_data.texts(60, (5, 15), kind)),
    ]
    for name, about in named.items():
        place, pinned = folder / name.replace("/", "--"), about.get("revision", "")
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
    """The published tables of a study's paper that can be computed again."""
    listed = pd.read_csv(REPOSITORY / "data" / "claims.csv", keep_default_na=False)
    of_study = listed["id"].str.startswith(f"{study}_") & (listed["kind"] == "table")
    return set(listed["id"][of_study & listed["recomputable"].str.startswith("yes")])


def unfilled(rehearsed: Rehearsal, name: str, shown: Shown) -> list[str]:
    """The cells of a published table for which a run has no number, by their labels."""
    theirs, ours = printed(name).replace({"model": CALLED}), saved(rehearsed, shown.file)
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
    table = yaml.safe_load((rehearsed.home / "notebooks" / "profiles.yaml").read_text(encoding="utf-8"))
    asked = table["profiles"][PROFILE]["settings"][notebook]
    named = asked["classifiers"]
    named = named if isinstance(named, dict) else dict.fromkeys(asked["datasets"], named)
    found = saved(rehearsed, file).dropna(subset=["estimate"])
    there = set(found[["dataset", column]].itertuples(index=False, name=None))
    return {(dataset, one) for dataset, own in named.items() for one in own} - there


def saved(rehearsed: Rehearsal, file: str) -> pd.DataFrame:
    """A table that a report has saved, as text; the latest, since those of checkpoints run again after a training."""
    found = (rehearsed.results / "runs").glob(f"*/*/{file}")
    latest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    assert latest is not None, f"no run has saved {file}"
    return pd.read_csv(latest, dtype=str)
