"""Profiles, the plan of notebooks, and the store that their results live in.

**What a notebook writes.** Every notebook is a jupytext py:percent file with one cell tagged `parameters` that
assigns plain literals, and talks to the store through one object:

    # %% tags=["parameters"]
    profile = "laptop"
    dataset = "movie"
    seed = 0

    # %%
    from faithbook.engine import study
    run = study.start("soft_metrics", profile=profile, dataset=dataset, seed=seed)   # its name, then every parameter
    run.settings["inputs"]                       # this notebook's block of the profile; an unknown key is an error
    run.save(frame, "soft_scores")               # soft_scores.parquet in the run's folder
    run.save(table, "soft_table2", format="csv") # a file that the page offers for download
    run.note(n=120, rows_run=5_310)              # facts for the manifest and the status page
    run.path("figure.svg"), run.link("figure.svg")   # where to write a public file; how its page refers to it
    run.provenance(n=120)                        # what ran where, and the line that runs it again, as MyST
    # %%
    run.finish()                                 # always the last cell

Reports read with `load("soft_scores", profile)`: all whole runs that the plan names, one below the other.

**How a run is named.** `run_id` is a digest of everything the result depends on: the notebook, its parameters, the
settings of its profile, the modules of faithlib it imports, the pins, the sources and checkpoints, and the ids of the
runs it reads. A run lives in `data/results/<profile>/runs/<notebook>/<parameters>-<run_id>/`; it is made under
another name and renamed when whole, so that a folder of that name is always a finished run, whatever was killed and
when.

**Who runs them.** `python -m faithbook run|build|book|plan|train|reference`, see `faithbook.engine.runner`. A notebook
opened in Jupyter or run by plain papermill works too: its results then go to `data/results/<profile>/by-hand/`, and
the book's stay untouched.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from faithbook.paths import root
from faithlib.errors import DataError, InputError, unknown

if TYPE_CHECKING:
    import pandas as pd  # a second to import, which the runner's many short processes do not need

RUN_VARIABLE = "FAITHLIB_RUN"  # how the runner tells the kernel which run it is
MANIFEST = "manifest.json"
NOTEBOOK = "notebook.ipynb"
_PACKAGES = Path(__file__).resolve().parents[2]  # the folder that holds both packages
# Scheduling and bookkeeping cannot change a number, so changing them must not cost an hour of computing again.
_NOT_IN_DIGEST = {"faithbook.engine.study", "faithbook.engine.runner"}
_SHOWN_VERSIONS = ("faithlib", "torch", "transformers", "peft", "captum", "numpy", "scipy", "pandas")


def results_dir(profile: str) -> Path:
    """Where everything made at a profile lies: `data/results/<profile>`."""
    return root() / "data" / "results" / profile


# --- profiles.yaml ------------------------------------------------------------


class Settings(dict[str, Any]):
    """A block of settings in which a missing key is an error that names the known ones.

    >>> Settings(inputs=8)["inptus"]
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown setting 'inptus': did you mean 'inputs'? known: inputs
    """

    def __missing__(self, key: str) -> Any:
        raise unknown("setting", key, self)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Profile(_Strict):
    """How large a run is: blocks of settings, each for a study or one notebook; the same keys in every profile."""

    about: str
    settings: dict[str, dict[str, Any]]


class NotebookEntry(_Strict):
    """One notebook of a study: the grid it runs over (parameter: setting that lists its values) and what it reads.

    `needs` names optional sources it uses where they are there: fetched later, it runs again. `shareable: false` keeps
    its tables out of the committed reference: they quote texts that are not ours, or are about what a reader brings.
    """

    over: dict[str, str] = {}
    reads: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    shareable: bool = True


class StudyEntry(_Strict):
    """The notebooks of one paper."""

    train: dict[str, list[dict[str, Any]]] = {}  # notebook: parameters of each checkpoint it makes
    compute: dict[str, NotebookEntry] = {}
    report: dict[str, NotebookEntry] = {}


class Table(_Strict):
    """The whole of `notebooks/profiles.yaml`."""

    profiles: dict[str, Profile]
    studies: dict[str, StudyEntry]

    def entries(self) -> Iterator[tuple[str, str, str, NotebookEntry]]:
        """(study, kind, notebook, entry) of every notebook, computations first."""
        for kind in ("compute", "report"):
            for study, block in self.studies.items():
                for name, entry in getattr(block, kind).items():
                    yield study, kind, name, entry


def table() -> Table:
    """`notebooks/profiles.yaml`, checked; InputError says what is wrong in it and where."""
    path = root() / "notebooks" / "profiles.yaml"
    if not path.is_file():
        raise DataError(f"there is no {path}: FAITHLIB_HOME must name a folder with notebooks/profiles.yaml in it")
    return _table(path, path.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=4)
def _table(path: Path, text: str) -> Table:
    try:
        made = Table.model_validate(yaml.safe_load(text))
    except ValidationError as error:
        raise InputError(f"{path} cannot be used:\n{error}") from error
    _check_same_settings(made, path)
    names = [name for _, _, name, _ in made.entries()]
    for study, _, name, entry in made.entries():
        for read in entry.reads:
            if read != "*" and read not in names:
                raise unknown(f"notebook that {name} reads", read, names)
        for profile_name, profile_entry in made.profiles.items():
            for setting in entry.over.values():
                values = _block(profile_entry, study, name)[setting]
                if not isinstance(values, list) or not values:
                    raise InputError(
                        f"{path}: {name} runs over {setting}, which must be a non-empty list, "
                        f"but the profile {profile_name} has {values!r}"
                    )
    return made


def _check_same_settings(made: Table, path: Path) -> None:
    """A setting that one profile lacks would fail in the middle of a long run: refuse it at once."""
    keys = {
        name: {(of, key) for of, block in profile.settings.items() for key in block}
        for name, profile in made.profiles.items()
    }
    training = {name for study in made.studies.values() for name in study.train}
    owners = {*made.studies, *training, *(name for _, _, name, _ in made.entries())}
    for of in sorted({of for have in keys.values() for of, _ in have} - owners):
        raise unknown(f"study or notebook with settings in {path.name},", of, owners)
    every = set().union(*keys.values())
    for name, have in keys.items():
        if missing := sorted(".".join(pair) for pair in every - have):
            raise InputError(f"{path}: the profile {name} lacks the settings {', '.join(missing)}, which others have")


def profile(name: str) -> Profile:
    """The profile of that name (UnknownNameError names the known ones)."""
    profiles = table().profiles
    if name not in profiles:
        raise unknown("profile", name, profiles)
    return profiles[name]


def settings(notebook: str, profile_name: str) -> Settings:
    """The settings of one notebook: its study's block of the profile, then its own."""
    return _block(profile(profile_name), _place(notebook)[0] or "", notebook)


def _block(profile: Profile, study: str, notebook: str) -> Settings:
    return Settings({**profile.settings.get(study, {}), **profile.settings.get(notebook, {})})


def _place(notebook: str) -> tuple[str | None, NotebookEntry]:
    """(study, entry) of a notebook; (None, an empty entry) for one that no study names, such as a training notebook."""
    return next(
        ((study, entry) for study, _, name, entry in table().entries() if name == notebook), (None, NotebookEntry())
    )


# --- digests ------------------------------------------------------------------


def digest(value: Any) -> str:
    """Sha256 of the canonical JSON of a value, 12 hexadecimal digits of it.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def tree_digest(path: Path) -> str:
    """Digest of a file, or of the names and contents of all files below a folder; "-" where there is none."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    if not files:
        return "-"
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(path)}\0".encode())
        size, changed = file.stat().st_size, file.stat().st_mtime_ns
        # Only large files are worth remembering: two edits of a small one may fall within one tick of the file system.
        total.update(
            _file_digest(file, size, changed) if size > 1 << 20 else hashlib.sha256(file.read_bytes()).digest()
        )
    return total.hexdigest()[:12]


@functools.lru_cache(maxsize=4096)
def _file_digest(path: Path, _size: int, _changed: int) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


@functools.lru_cache(maxsize=1024)
def _parse(code: str) -> tuple[str, frozenset[str]]:
    """(digest of a piece of code, our modules that its import statements name)."""
    found: set[str] = set()
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]  # words about the code are not the code
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return digest(ast.dump(tree)), frozenset(name for name in found if name.split(".")[0] in ("faithlib", "faithbook"))


def _module_files(name: str) -> list[Path]:
    base = _PACKAGES.joinpath(*name.split("."))
    if base.is_dir():  # a package may load its parts by name: take them all
        return [base / "__init__.py"] if "." not in name else sorted(base.rglob("*.py"))
    file = base.with_suffix(".py")
    return [file] if file.is_file() else []


@functools.lru_cache(maxsize=256)  # the code a process has loaded does not change under it either
def code_digest(code: str) -> str:
    """Digest of the parts of both packages that a notebook uses, through all imports; words about code do not count."""
    seen: dict[Path, str] = {}
    todo = set(_parse(code)[1])
    while todo:
        name = todo.pop()
        for file in _module_files(name):
            if file not in seen and _module_name(file) not in _NOT_IN_DIGEST:
                seen[file], named = _parse(file.read_text(encoding="utf-8"))
                todo |= named
    return digest({str(file.relative_to(_PACKAGES)): tree for file, tree in seen.items()})


def _module_name(file: Path) -> str:
    return ".".join(file.relative_to(_PACKAGES).with_suffix("").parts)


# --- notebooks and the plan ---------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One notebook with one set of parameters at one profile."""

    notebook: str
    kind: str
    study: str | None
    source: Path
    profile: str
    parameters: Mapping[str, Any]
    run_id: str
    upstream: tuple[Job, ...] = ()

    @property
    def slug(self) -> str:
        """The parameters in a form fit for a file name."""
        values = [f"{value}" for key, value in self.parameters.items() if key != "profile"]
        # The run id behind it tells apart what is cut off here: file names have a limit.
        return re.sub(r"[^\w.]+", "_", "-".join(values))[:80] or "all"

    @property
    def folder(self) -> Path:
        return results_dir(self.profile) / "runs" / self.notebook / f"{self.slug}-{self.run_id}"

    @property
    def manifest(self) -> Path:
        return self.folder / MANIFEST

    @property
    def failed(self) -> Path:
        """Where the partial notebook of a failed run is kept for reading."""
        return self.folder.with_name(f"{self.folder.name}.failed.ipynb")

    @property
    def done(self) -> bool:
        return self.manifest.is_file()

    @property
    def label(self) -> str:
        values = " ".join(f"{value}" for key, value in self.parameters.items() if key != "profile")
        return f"{self.notebook} {values}".strip()


def notebook_parameters(source: Path) -> dict[str, Any]:
    """The parameters of a notebook and their defaults: the assignments in its cell tagged `parameters`."""
    return dict(_parsed(source, source.read_text(encoding="utf-8"))[0])


@functools.lru_cache(maxsize=256)
def _parsed(source: Path, text: str) -> tuple[dict[str, Any], str]:
    """(parameters, code of all code cells) of a notebook."""
    import jupytext

    cells = [cell for cell in jupytext.reads(text, fmt="py:percent")["cells"] if cell["cell_type"] == "code"]
    found: dict[str, Any] = {}
    for cell in cells:
        if "parameters" not in cell["metadata"].get("tags", ()):
            continue
        for node in ast.parse(cell["source"]).body:
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
                raise InputError(
                    f"{source}: the parameters cell may hold only `name = literal` lines, not {ast.unparse(node)!r}"
                )
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError as error:
                raise InputError(f"{source}: the parameter {node.targets[0].id} must be a plain literal") from error
    code = "\n".join(line for cell in cells for line in cell["source"].splitlines() if not line.startswith(("%", "!")))
    return found, code


def checked_parameters(source: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The notebook's parameters with the given ones put in; an unknown name or another type is an error."""
    merged = notebook_parameters(source)
    for name, value in given.items():
        if name not in merged:
            raise unknown(f"parameter of {source.name}", name, merged)
        default = merged[name]
        if default is not None and not isinstance(value, type(default)):
            raise InputError(
                f"{source.name}: the parameter {name} is a {type(default).__name__} (default {default!r}), "
                f"but {value!r} is a {type(value).__name__}"
            )
        merged[name] = value
    return merged


def find(notebook: str) -> Path:
    """The source of a notebook, by the name it has in the table."""
    for folder in ("compute", "report", "train"):
        path = root() / "notebooks" / folder / f"{notebook}.py"
        if path.is_file():
            return path
    raise DataError(f"there is no notebooks/*/{notebook}.py in {root()}")


def make_job(source: Path, profile_name: str, given: Mapping[str, Any]) -> Job:
    """The job that runs a notebook with parameters; the run id covers all that its results depend on."""
    if not source.is_file():
        raise DataError(f"there is no notebook {source}")
    kind = source.resolve().parent.name
    study, entry = _place(source.stem)
    block = settings(source.stem, profile_name)
    if "profile" in notebook_parameters(source):
        given = {"profile": profile_name, **given}
    parameters = checked_parameters(source, given)
    upstream = tuple(job for name in _reads(source.stem, entry) for job in _grid(name, profile_name))
    data = root() / "data"
    parts: dict[str, Any] = {
        "notebook": tree_digest(source),
        "parameters": parameters,
        "settings": _own_settings(block, entry, parameters),
        "code": code_digest(_parsed(source, source.read_text(encoding="utf-8"))[1]),
        "pins": tree_digest(root() / "requirements.lock"),
        "sources": tree_digest(data / "sources.toml"),
        "upstream": [job.run_id for job in upstream],
    }
    if entry.needs:
        from faithbook.sources.data import is_here  # slow to import, and few notebooks need it

        parts["here"] = [name for name in entry.needs if is_here(name)]
    if kind != "train":
        parts["checkpoints"] = [tree_digest(path) for path in _checkpoints(block, parameters)]
    if brought := _brought(parameters):
        parts["brought"] = brought
    if kind == "report":
        parts["published"] = tree_digest(data / "published")
        parts["reference"] = tree_digest(data / "reference")
    return Job(source.stem, kind, study, source, profile_name, parameters, digest(parts), upstream)


def _own_settings(block: Settings, entry: NotebookEntry, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that one point of a grid depends on: not the grid's lists, and of values per data set its own.

    So a further seed, or another size for another data set, does not redo the runs that are there.
    """
    own = parameters.get("dataset")
    rest = {key: value for key, value in block.items() if key not in entry.over.values()}
    return {key: value[own] if isinstance(value, dict) and own in value else value for key, value in rest.items()}


def _checkpoints(block: Settings, parameters: Mapping[str, Any]) -> list[Path]:
    """The checkpoints a computation loads: the one that its settings name for a parameter's value, or all that they
    name; the folder of all where they name none.

    A checkpoint of another seed or task, made later, must not make a run that never looks at it out of date.
    """
    folder = root() / "data" / "checkpoints"
    models = block.get("models", {})
    named = next((models[value] for value in map(str, parameters.values()) if value in models), models)
    specs = [spec.format_map(defaultdict(str, parameters)).partition(":") for spec in _leaves(named)]
    return [folder / name if kind == "local" else folder for kind, _, name in specs] or [folder]


def _leaves(value: Any) -> list[str]:
    """The strings in a mapping of mappings."""
    return [leaf for part in value.values() for leaf in _leaves(part)] if isinstance(value, dict) else [value]


def _brought(parameters: Mapping[str, Any]) -> list[str]:
    """Digests of the files and folders that parameters name (a table of texts, say, or `hf:` and a folder)."""
    named = [value.rpartition(":")[2] for value in parameters.values() if isinstance(value, str)]
    return [tree_digest(root() / name) for name in named if "/" in name and (root() / name).exists()]


def _reads(notebook: str, entry: NotebookEntry) -> list[str]:
    if "*" not in entry.reads:
        return list(entry.reads)
    return [name for _, _, name, other in table().entries() if name != notebook and "*" not in other.reads]


def _grid(notebook: str, profile_name: str) -> list[Job]:
    entry, block = _place(notebook)[1], settings(notebook, profile_name)
    points = product(*(block[setting] for setting in entry.over.values()))
    return [make_job(find(notebook), profile_name, dict(zip(entry.over, point, strict=True))) for point in points]


def plan(profile_name: str) -> tuple[Job, ...]:
    """Every job of a profile, each after those it reads."""
    profile(profile_name)
    jobs: dict[Path, Job] = {}

    def add(job: Job) -> None:
        for earlier in job.upstream:
            add(earlier)
        jobs.setdefault(job.folder, job)

    for _, _, name, _ in table().entries():
        for job in _grid(name, profile_name):
            add(job)
    return tuple(jobs.values())


def shareable(notebook: str) -> bool:
    """Whether the tables of a notebook may be committed."""
    return _place(notebook)[1].shareable


def trainings(profile_name: str) -> tuple[Job, ...]:
    """The jobs that make every shipped checkpoint again; they belong to no book and run only when asked for."""
    studies = table().studies.values()
    points = [(name, point) for entry in studies for name, grid in entry.train.items() for point in grid]
    return tuple(make_job(find(name), profile_name, point) for name, point in points)


# --- one run, seen from inside its notebook -----------------------------------


@dataclass
class Run:
    """What a notebook holds of its own run (see the module's text for its use)."""

    job: Job
    folder: Path
    settings: Settings
    inside_runner: bool
    upstream: tuple[Path, ...]
    notes: dict[str, Any] = field(default_factory=dict)
    files: dict[str, int | None] = field(default_factory=dict)
    _clock: float = field(default_factory=time.perf_counter)
    _started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def path(self, name: str) -> Path:
        """Where to write a public file of this run (svg, png, csv …)."""
        if "/" in name or name in (MANIFEST, NOTEBOOK):
            raise InputError(
                f"{name!r} cannot be the name of a result: give a plain file name other than {MANIFEST}, {NOTEBOOK}"
            )
        self.files.setdefault(name, None)
        return self.folder / name

    def link(self, name: str) -> str:
        """How this notebook's page refers to a public file of the run."""
        return f"{self.job.notebook}/{name}"

    def save(self, frame: pd.DataFrame, name: str, *, format: Literal["parquet", "csv"] = "parquet") -> Path:
        """Write a table of results; `load(name, profile)` finds it once the run is whole."""
        if format not in ("parquet", "csv"):
            raise unknown("format", format, ("parquet", "csv"))
        path = self.path(f"{name}.{format}")
        if format == "parquet":
            frame.to_parquet(path, index=False, compression="zstd")
        else:
            frame.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
        self.files[path.name] = len(frame)
        return path

    def note(self, **facts: str | float | bool | None) -> None:
        """Put facts (numbers of inputs and rows, device, precision …) into the manifest and onto the status page."""
        self.notes.update(facts)

    def facts(self) -> dict[str, Any]:
        """The manifest: what ran, on what, with what, and how long it has taken so far."""
        return {
            "notebook": self.job.notebook,
            "kind": self.job.kind,
            "study": self.job.study,
            "profile": self.job.profile,
            "parameters": dict(self.job.parameters),
            "settings": dict(self.settings),
            "run_id": self.job.run_id,
            "upstream": [folder.name for folder in self.upstream],
            "commit": commit(),
            "code": code_digest(_parsed(self.job.source, self.job.source.read_text(encoding="utf-8"))[1]),
            "versions": versions(),
            "device": device(),
            "processor": processor(),
            "cores": os.cpu_count(),
            "threads": int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1),
            "started": self._started,
            "seconds": round(time.perf_counter() - self._clock, 2),
            "files": dict(sorted(self.files.items())),
            "notes": self.notes,
        }

    def provenance(self, *, n: int | str | None = None, note: str = "") -> Markdown:
        """What stands under a table or figure: what ran, where, how long, how to run it again, the downloads."""
        return Markdown(_provenance(self, n, note))

    def finish(self) -> None:
        """Write the manifest; without it a run does not count as whole."""
        for name in self.files:
            if not (self.folder / name).is_file():
                raise DataError(f"{self.job.label}: {name} was announced by run.path() and never written")
        (self.folder / MANIFEST).write_text(json.dumps(self.facts(), indent=1, default=str) + "\n", encoding="utf-8")
        if not self.inside_runner:
            final = results_dir(self.job.profile) / "by-hand" / self.job.notebook / self.job.slug
            shutil.rmtree(final, ignore_errors=True)
            self.folder = self.folder.rename(final)
            print(f"results are in {final}")


@dataclass(frozen=True)
class Markdown:
    """Text that Jupyter shows as Markdown and the book reads as MyST."""

    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


def start(notebook: str, *, profile: str, **parameters: Any) -> Run:
    """Begin the run of a notebook, from inside it: its name, then every one of its parameters by name."""
    told = json.loads(os.environ.get(RUN_VARIABLE, "{}"))
    given = {"profile": profile, **parameters}
    source = Path(told["source"]) if told else find(notebook)
    expected = notebook_parameters(source)
    if source.stem != notebook or set(given) != set(expected):
        raise InputError(
            f"study.start({notebook!r}, {', '.join(sorted(given))}) in {source.name}, "
            f"which must be study.start({source.stem!r}, {', '.join(sorted(expected))})"
        )
    _refuse_injected_strangers(expected)
    block = settings(notebook, profile)
    if told:  # the runner has worked out what this run depends on
        study = _place(notebook)[0]
        job = Job(notebook, source.resolve().parent.name, study, source, profile, given, told["run_id"])
        return Run(job, Path(told["folder"]), block, True, tuple(Path(folder) for folder in told["upstream"]))
    job = make_job(source, profile, given)
    folder = results_dir(profile) / "by-hand" / notebook / f".{job.slug}.{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return Run(job, folder, block, False, tuple(_folders_by_hand(job.upstream)))


def _refuse_injected_strangers(expected: Iterable[str]) -> None:
    """Papermill only warns of a parameter that the notebook does not know, and a slip would run the default."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    for cell in shell.user_ns.get("In", ()) if shell else ():
        if cell.startswith("# Parameters\n"):
            for node in ast.parse(cell).body:
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    name = node.targets[0].id
                    if name not in expected:
                        raise unknown("parameter", name, expected)


# --- reading results ----------------------------------------------------------


def load(name: str, profile: str = "laptop", *, reference: bool = False) -> pd.DataFrame:
    """The results saved under `name` by the whole runs of a profile, one below the other, with the column `run_id`.

    Inside the book's build these are the runs that the notebook declares to read; by hand they are the newest of each
    set of parameters in the plan. `reference=True` reads the committed results of the full profile instead.
    """
    import pandas as pd

    if reference:
        return _read_reference(name)
    told = json.loads(os.environ.get(RUN_VARIABLE, "{}"))
    # By hand a report may have made a table of the same name from what was computed.
    groups = (
        [[Path(folder) for folder in told["upstream"]]]
        if told
        else [list(_folders_by_hand(j for j in plan(profile) if j.kind == kind)) for kind in ("compute", "report")]
    )
    frames = next((found for folders in groups if (found := _frames(folders, name))), [])
    if not frames:
        folders = [folder for group in groups for folder in group]
        known = sorted(
            {file.stem for folder in folders for file in folder.glob("*.*") if file.suffix in (".parquet", ".csv")}
        )
        raise DataError(
            f"no whole run holds {name!r} at the profile {profile}: they hold {', '.join(known) or 'nothing'}. "
            + (
                "Name its notebook under `reads` in notebooks/profiles.yaml"
                if told
                else f"Make them: make book PROFILE={profile}"
            )
        )
    return pd.concat(frames, ignore_index=True)


def _frames(folders: Iterable[Path], name: str) -> list[pd.DataFrame]:
    """What these runs saved under a name, each with its run id."""
    files = {folder: file for folder in folders if (file := _result(folder, name)) is not None}
    ids = {folder: json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["run_id"] for folder in files}
    return [_read(file).assign(run_id=ids[folder]) for folder, file in files.items()]


def _result(folder: Path, name: str) -> Path | None:
    return next((folder / f"{name}{end}" for end in (".parquet", ".csv") if (folder / f"{name}{end}").is_file()), None)


def _read(file: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file)


def has_reference(name: str) -> bool:
    """Whether `data/reference/full/` holds results of that name."""
    return _result(root() / "data" / "reference" / "full", name) is not None


def _read_reference(name: str) -> pd.DataFrame:
    folder = root() / "data" / "reference" / "full"
    file = _result(folder, name)
    if file is None:
        known = sorted(path.stem for path in folder.glob("*.*") if path.suffix in (".parquet", ".csv"))
        raise DataError(
            f"no reference results {name!r} in {folder}: there are {', '.join(known) or 'none'}; `make full` makes them"
        )
    return _read(file)


def _folders_by_hand(jobs: Iterable[Job]) -> Iterator[Path]:
    """The newest whole run of each job, made by hand or by the book; a job never run is left out."""
    for job in jobs:
        by_hand = results_dir(job.profile) / "by-hand" / job.notebook / job.slug
        older = [
            path
            for path in job.folder.parent.glob(f"{job.slug}-*")
            if re.fullmatch(r"[0-9a-f]{12}", path.name[len(job.slug) + 1 :])
        ]
        found = [path for path in (by_hand, job.folder, *older) if (path / MANIFEST).is_file()]
        if found:
            yield max(found, key=lambda path: (path / MANIFEST).stat().st_mtime_ns)


def manifests(profile: str) -> pd.DataFrame:
    """One row per whole run that `load` would read: the manifest, with parameters and notes as columns of their own."""
    import pandas as pd

    told = json.loads(os.environ.get(RUN_VARIABLE, "{}"))
    folders = [Path(folder) for folder in told["upstream"]] if told else list(_folders_by_hand(plan(profile)))
    rows = []
    for folder in folders:
        facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        notes, parameters = facts.pop("notes"), facts.pop("parameters")
        rows.append({**facts, **{key: value for key, value in parameters.items() if key != "profile"}, **notes})
    return pd.DataFrame(rows)


# --- facts about the machine and the code -------------------------------------


@functools.cache
def commit() -> str:
    """The commit the repository stands at, with a mark where files differ from it; "unknown" outside git."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root()), *words], capture_output=True, text=True, check=True, timeout=20
        ).stdout

    try:
        changed = " with changes" if git("status", "--porcelain", "--untracked-files=no").strip() else ""
        return git("rev-parse", "--short=12", "HEAD").strip() + changed
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def versions() -> dict[str, str]:
    """Versions of Python and of the packages whose numbers the results depend on."""
    found = {"python": platform.python_version()}
    for name in _SHOWN_VERSIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def device() -> str:
    """The name of the accelerator a notebook could use, or "cpu"; does not import torch for the sake of the answer."""
    torch = sys.modules.get("torch")
    return str(torch.cuda.get_device_name(0)) if torch is not None and torch.cuda.is_available() else "cpu"


@functools.cache
def processor() -> str:
    """The name of the processor, as the operating system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def papermill_line(job: Job) -> str:
    """The command that runs one notebook alone, without anything of ours around it."""
    values = " ".join(f"-p {key} {shlex.quote(str(value))}" for key, value in job.parameters.items())
    source = job.source.relative_to(root()) if job.source.is_relative_to(root()) else job.source
    return f"jupytext --to ipynb -o - {source} | papermill - {job.notebook}.ipynb -k python3 {values}".strip()


def _provenance(run: Run, n: int | str | None, note: str) -> str:
    facts = run.facts()
    ran = [json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in run.upstream]
    computed = [row for row in ran if row["kind"] == "compute"]
    devices = sorted({row["device"] for row in computed} or {facts["device"]})
    rows = {
        "Notebook": f"`notebooks/{run.job.kind}/{run.job.notebook}.py` (run `{run.job.run_id}`)",
        "Parameters": ", ".join(f"{key} = {value}" for key, value in run.job.parameters.items()),
        "Inputs": "" if n is None else f"{n}",
        "Commit": facts["commit"],
        "Machine": f"{', '.join(devices)}; {facts['processor']}, {facts['cores']} cores, threads: {facts['threads']}",
        "Versions": ", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
        "Time": f"{facts['seconds']:.0f} s for this page"
        + (
            f", {sum(row['seconds'] for row in computed):.0f} s for {_count(len(computed), 'computation')} it reads"
            if computed
            else ""
        ),
        "Note": note,
        "Downloads": ", ".join(
            [f"{{download}}`{run.job.notebook}.ipynb <{run.job.notebook}.ipynb>`"]
            + [
                f"{{download}}`{name} <{run.link(name)}>`"
                for name in sorted(run.files)
                if name.endswith(".csv") and not name.endswith("_shown.csv")
            ]
        ),
    }
    lines = [f"- **{key}:** {value}" for key, value in rows.items() if value]
    again = ["Run this page again, alone:", "", "```bash", papermill_line(run.job), "```"]
    names = sorted({f"`notebooks/compute/{row['notebook']}.py`" for row in computed})
    below = ["", f"It reads {', '.join(names)}; each of them runs alone in the same way."] if names else []
    return "\n".join([":::{admonition} Provenance", ":class: dropdown note", "", *lines, "", *again, *below, ":::", ""])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


if __name__ == "__main__":
    from faithbook.engine.runner import main

    sys.exit(main())
