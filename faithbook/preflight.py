"""What a profile needs, looked at before it starts: in seconds, all that is missing at once.

    python -m faithbook preflight --profile paper [--study soft] [--fetch]

Every file, checkpoint and model of the hub that a notebook of the profile loads, with its revision and licence; disk,
memory and accelerator. Files are held against their digests, and the hub is asked what it would give; nothing is
downloaded unless that is asked for (`--fetch`). What the full run's computations took is on the book's status page.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd
import psutil
from tqdm.auto import tqdm

from faithbook import hub
from faithbook.artifacts import MODELS, Artifact, parts_read_here, resolve
from faithbook.engine import devices
from faithbook.engine.digests import tree_digest
from faithbook.engine.plan import checked_parameters, find_notebook, trainings
from faithbook.engine.studies import notebooks as all_notebooks
from faithbook.engine.studies import reads_of, study_names
from faithbook.engine.study import Notebook, find_profile
from faithbook.engine.trained import checkpoint_of, has_weights, starts_from
from faithbook.paths import checkpoints_dir, raw_dir, root
from faithbook.sources import files
from faithbook.sources.files import Source, files_of, verify
from faithlib.errors import DataError, DigestError

STATES = MISSING, OPTIONAL, TRAINED, DOWNLOADABLE, HERE = (
    "missing",
    "done without",
    "trained first",
    "comes by itself",
    "here",
)
# Notebooks that load these look first whether they are there.
_OPTIONAL = {"rwth": "links of German sentences", "xlwa": "links of Bulgarian sentences"}
_GIGABYTE = 1e9


@dataclass(frozen=True)
class Requirement:
    """Something that notebooks load: whether it is there, and if not what brings it.

    - `notebooks`: those that load it; `revision`: a commit of the hub, a version or a digest;
    - `bytes`: what a model of the hub weighs, as far as that is known;
    - `starts`: the models that a checkpoint is trained from.
    """

    name: str
    kind: str
    state: str
    note: str
    licence: str = ""
    revision: str = ""
    bytes: int = 0
    notebooks: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()


def check(profile: str, study: str | None = None, *, download: bool = False) -> None:
    """Show what a profile needs, and `download` what comes by itself; DataError that lists everything that is missing,
    if something is."""
    needs = requirements_of(profile, study)
    print_requirements(needs)
    print(_machine())
    missing = [need for need in needs if need.state == MISSING]
    if missing:
        listed = "\n".join(f"  {need.name}: {need.note}" for need in missing)
        raise DataError(f"{len(missing)} of {len(needs)} things are missing, so nothing was started:\n{listed}")
    print("\nnothing is missing")
    if download:
        fetch_missing(needs)


def requirements_of(profile: str, study: str | None = None) -> list[Requirement]:
    """Everything that a profile, or one study of it, needs, what is missing first. UnknownNameError for either."""
    made = {checkpoint_of(job): starts_from(job) for job in trainings(profile)}
    wanted = _wanted(profile, study)
    for name, notebooks in list(wanted.items()):  # what has to be trained first starts from something itself
        folder = _checkpoint_folder(resolve(name))
        if folder is not None and not has_weights(folder):
            for start in made.get(folder, ()):
                wanted.setdefault(start, set()).update(notebooks)
    expanded: dict[str, set[str]] = {}
    artifacts: dict[str, Artifact] = {}
    for name, notebooks in wanted.items():
        for artifact in parts_read_here(name):
            artifacts[artifact.name] = artifact
            expanded.setdefault(artifact.name, set()).update(notebooks)
    with ThreadPoolExecutor(8) as pool:  # most of the time is waiting for the hub
        unordered = list(pool.map(lambda artifact: _requirement(artifact, made), artifacts.values()))
    needs = [replace(need, notebooks=tuple(sorted(expanded[need.name]))) for need in unordered]
    return sorted([*needs, *_room(needs)], key=lambda need: (STATES.index(need.state), need.kind, need.name))


def fetch_missing(needs: Iterable[Requirement]) -> None:
    """Bring everything that comes by itself: files that have an address, and models of the hub, into its cache. Raises
    DataError for what does not come; what has come stays."""
    for need in tqdm([need for need in needs if need.state == DOWNLOADABLE], desc="fetching", unit="thing"):
        if need.kind == "hub":
            hub.fetch_model(need.name)
            continue
        for source in files_of(need.name):
            files.fetch(source.id)


def print_requirements(needs: Collection[Requirement]) -> None:
    """Print needs as a table, and below it what is said of those that are neither there nor trained first."""
    columns = ["state", "name", "kind", "revision", "licence"]
    print(pd.DataFrame(map(asdict, needs), columns=columns).to_string(index=False, justify="left"), "\n")
    for need in needs:
        if need.state not in (HERE, TRAINED):
            print(f"{need.state}: {need.name} ({', '.join(need.notebooks)}): {need.note}")


# ---------------------------------------------------------------------------------------------------- what is wanted
def _wanted(profile: str, study: str | None) -> dict[str, set[str]]:
    """Every name under `loads` of the notebooks of a profile, or of one study and what it reads, with who loads it."""
    wanted: dict[str, set[str]] = {}
    size = find_profile(profile)
    for notebook in notebooks_of(study):
        source = find_notebook(notebook.name)
        for point in notebook.points(size):
            parameters = checked_parameters(source, point)
            for name in notebook.names_loaded(notebook.settings_at(size, parameters), parameters):
                wanted.setdefault(name, set()).add(notebook.name)
    return wanted


def notebooks_of(study: str | None) -> list[Notebook]:
    """The notebooks of a study with those they read, computations first; of all studies where none is named."""
    known = {notebook.name: notebook for notebook in all_notebooks()}
    todo = [name for name, notebook in known.items() if notebook.study in study_names(study)]
    chosen: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in chosen:
            chosen.add(name)
            todo += reads_of(known[name])
    return [notebook for name, notebook in known.items() if name in chosen]


# ---------------------------------------------------------------------------------------------------- what is there
def _requirement(artifact: Artifact, made: Mapping[Path, tuple[str, ...]]) -> Requirement:
    name, folder = artifact.name, _checkpoint_folder(artifact)
    if artifact.kind == "cards":
        return Requirement(name, "checkpoint", HERE, "the cards of all checkpoints that are there")
    if folder is not None:
        return _checkpoint(name, folder, made)
    if artifact.kind == "hub":
        return _model_of_hub(artifact)
    if artifact.kind == "source":
        return _source(name)
    return _committed(name)


def _checkpoint_folder(artifact: Artifact) -> Path | None:
    """Where a model lies, or would lie, whose weights were trained here or brought; None for everything else."""
    is_model = artifact.name.startswith(MODELS) and artifact.kind in ("checkpoint", "folder")
    return artifact.path if is_model else None


def _checkpoint(name: str, folder: Path, made: Mapping[Path, tuple[str, ...]]) -> Requirement:
    if has_weights(folder):
        return Requirement(name, "checkpoint", HERE, _shown(folder), licence="ours", revision=tree_digest(folder))
    if folder in made:
        note = "`make train` with this profile makes it, which `make paper` does by itself"
        return Requirement(name, "checkpoint", TRAINED, note, licence="ours", starts=made[folder])
    how = "no training of this profile makes it: put a folder in the hub's layout there, or change the profile"
    return Requirement(name, "checkpoint", MISSING, f"{_shown(folder)} is not there; {how}", licence="ours")


def _model_of_hub(artifact: Artifact) -> Requirement:
    status = hub.look(artifact.name)
    state = MISSING
    if status.is_cached:
        state = HERE
    elif status.can_be_had:
        state = DOWNLOADABLE
    newest = f"newest, {status.revision}" if status.revision else "newest"
    licence = artifact.licence or status.licence or "not stated"
    revision = artifact.revision or newest
    return Requirement(artifact.name, "hub", state, status.note, licence, revision, status.bytes)


def _committed(name: str) -> Requirement:
    if (root() / name).exists():
        return Requirement(name, "file", HERE, "comes with the repository", revision=tree_digest(root() / name))
    return Requirement(name, "file", MISSING, f"{name} is not there: get it again with `git checkout`")


def _source(name: str) -> Requirement:
    listed = files_of(name)
    source = listed[0]
    revision = source.version or (source.sha256 or "")[:12] or "no digest published"

    def need(state: str, note: str) -> Requirement:
        return Requirement(name, source.kind, state, note, source.licence, revision)

    try:
        places = [_found_at(file) for file in listed]
    except DigestError as error:
        return need(MISSING, str(error))
    if all(places):
        return need(HERE, ", ".join(dict.fromkeys(places)))
    if source.kind != "manual":
        return need(DOWNLOADABLE, f"{source.what}: downloaded to {_shown(source.path)}")
    by_hand = f"get {source.file} by hand ({source.where}) and put it at {_shown(source.path)}; {source.what}"
    if name in _OPTIONAL:
        return need(OPTIONAL, f"{_OPTIONAL[name]} will read “not run”: {by_hand}")
    return need(MISSING, by_hand)


def _found_at(source: Source) -> str:
    """Where a source's file is, "" where it is not; DigestError for another file than the one listed.

    What people bring may be gzipped, or be one of several layouts (`data/sources.toml`): any file counts as brought.
    """
    if source.path.exists():
        verify(source, source.path)
        return _shown(source.path)
    folder = source.path.parent
    if source.kind != "manual" or not folder.is_dir():
        return ""
    brought = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    return f"{_shown(folder)} holds {', '.join(brought[:4])}" if brought else ""


def _shown(path: Path) -> str:
    return str(path.relative_to(root())) if path.is_relative_to(root()) else str(path)


# ---------------------------------------------------------------------------------------------------- the machine
def _machine() -> str:
    """Disk, memory and accelerator, in words."""
    gpus = devices.visible()
    free = min(shutil.disk_usage(_existing(place)).free for place in (root(), raw_dir(), hub.cache_folder()))
    memory = psutil.virtual_memory()
    return (
        f"{free / _GIGABYTE:.0f} GB of disk free, {memory.available / _GIGABYTE:.0f} of {memory.total / _GIGABYTE:.0f} "
        f"GB of memory free, {psutil.cpu_count()} cores; "
        + (f"GPUs: {', '.join(gpus)}" if gpus else "no GPU found: everything runs on the processor")
    )


def _to_come(needs: Collection[Requirement]) -> tuple[int, int]:
    """Bytes that are to be downloaded, and bytes that trainings write, as far as they are known. A checkpoint weighs
    what it starts from; the state that is kept while one is trained weighs at least three times as much."""
    weights = {need.name: need.bytes for need in needs}
    trained = []
    for need in needs:
        if need.state == TRAINED:
            trained.append(max((weights.get(start, 0) for start in need.starts), default=0))
    return sum(need.bytes for need in needs if need.state == DOWNLOADABLE), sum(trained) + 3 * max(trained, default=0)


def _room(needs: Collection[Requirement]) -> Iterator[Requirement]:
    """What is missing of the disk: more is to be downloaded or trained than is free where it goes."""
    downloads, checkpoints = _to_come(needs)
    for folder, size, purpose in (
        (hub.cache_folder(), downloads, "downloaded"),
        (checkpoints_dir(), checkpoints, "written by trainings"),
    ):
        free = shutil.disk_usage(_existing(folder)).free
        if size > free:
            sizes = f"{free / _GIGABYTE:.1f} GB are free, but at least {size / _GIGABYTE:.1f} GB are to be {purpose}"
            advice = "make room, or name another folder (HF_HOME for the hub's models)"
            yield Requirement("disk", "machine", MISSING, f"{sizes} ({folder}): {advice}")


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())
