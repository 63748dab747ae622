"""The jobs of a profile: every notebook with every set of its parameters, each after those it reads.

**How a run is named.** `run_id` is a digest of everything the result depends on: the notebook, its parameters, the
settings of its profile, the modules of both packages it imports, the pins, the sources and checkpoints it declares, for
a report the committed tables and the reference's values of what it reads, and the ids of the runs it reads. A run lives
in `data/results/<profile>/runs/<notebook>/<parameters>-<run_id>/`; it is made under another name and renamed when
whole, so that a folder of that name is always a finished run, whatever was killed and when.

**Parts.** A computation may share the inputs of each point of its grid out among several runs, which have `part` and
`parts` among their parameters (`faithbook.engine.study`). Who reads a notebook reads all its runs.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faithbook.artifacts import commit_of, registry
from faithbook.engine.digests import Library, digest, tree_digest
from faithbook.engine.inputs import committed_tables, digests_of, reference_units
from faithbook.engine.studies import entry_of, notebooks, reads_of, recipes, studies, study_names, text_training
from faithbook.engine.study import PART, PARTS, Notebook, Settings, find_profile, with_changes
from faithbook.paths import results_dir, root
from faithlib.errors import DataError, InputError, unknown

MANIFEST = "manifest.json"
NOTEBOOK = "notebook.ipynb"
RULES = ("train", "compute", "report")
TEXT_CLASSIFIERS = "text_classifiers"  # the training notebook to which every study may add data sets and classifiers
VALUES = "values"  # the parameter of a report: whose values it shows
REFERENCE, RUN, BOTH = "reference", "run", "both"
WHOSE = (REFERENCE, RUN, BOTH)
"""Whose values a report shows: the committed full run's (the book as it is published), what this machine computed, or
this machine's with the full run's beside them."""


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
    loads: Mapping[str, str] = field(default_factory=dict)  # the models, sources and files it may open, with digests
    code: str = ""  # the digest of what it imports of ours
    settings: Settings = field(default_factory=Settings)  # with their values at its parameters
    choices: tuple[str, ...] = ()  # the parameters that somebody set instead of the profile's settings

    @property
    def slug(self) -> str:
        """The parameters in a form fit for a file name."""
        return slug_of(self.parameters, self.choices)

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
    def error_file(self) -> Path:
        """Where it is written why a run failed."""
        return self.failed.with_suffix(".txt")

    @property
    def name(self) -> str:
        """What distinguishes it from the other jobs of its profile: its folder below `runs`."""
        return f"{self.notebook}/{self.folder.name}"

    @property
    def rule(self) -> str:
        """The rule of notebooks/Snakefile that runs it: reports use no GPU."""
        return self.kind if self.kind in ("train", "report") else "compute"

    @property
    def label(self) -> str:
        values = " ".join(f"{value}" for key, value in self.parameters.items() if key != "profile")
        return f"{self.notebook} {values}".strip()


def slug_of(parameters: Mapping[str, Any], choices: Iterable[str] = ()) -> str:
    """Parameters in a form fit for a file name; `choices`: those that have their name before their value.

    >>> slug_of({"profile": "full", "dataset": "cifar10-few", "seed": 0})
    'cifar10_few_0'
    >>> slug_of({"dataset": "movie", "inputs": 14}, ["inputs"])
    'movie_inputs14'
    """
    values = []
    for key, value in parameters.items():
        if key != "profile":
            values.append(f"{key}{value}" if key in choices else str(value))
    # In a folder's name the run id behind it tells apart what is cut off here: file names have a limit.
    return re.sub(r"[^\w.]+", "_", "-".join(values))[:80] or "all"


def notebook_parameters(source: Path) -> dict[str, Any]:
    """The parameters of a notebook and their defaults: the assignments in its cell tagged `parameters`."""
    return dict(_parameters(source, source.read_text(encoding="utf-8")))


@functools.lru_cache(maxsize=256)
def _parameters(source: Path, text: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        header, _, code = cell.partition("\n")
        if not re.search(r"""tags=\[[^]]*["']parameters["']""", header):
            continue
        for node in ast.parse(code).body:
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
                raise InputError(
                    f"{source}: the parameters cell may hold only `name = literal` lines, not {ast.unparse(node)!r}"
                )
            try:
                parameters[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError as error:
                raise InputError(f"{source}: the parameter {node.targets[0].id} must be a plain literal") from error
    return parameters


def checked_parameters(source: Path, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The notebook's parameters with the given ones put in; an unknown name or another type is an error."""
    merged = notebook_parameters(source)
    for name, value in wanted.items():
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


def _is_usual(name: str, value: Any) -> bool:
    """Whether a parameter says nothing: a choice that the profile makes, or the values that every page shows."""
    return value is None or (name, value) == (VALUES, REFERENCE)


def changes_of(source: Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The choices among a notebook's parameters that somebody made instead of its profile: those whose default is
    None."""
    defaults = notebook_parameters(source)
    return {
        name: value
        for name, value in parameters.items()
        if value is not None and name in defaults and defaults[name] is None
    }


def shows_runs(notebook: str) -> bool:
    """Whether a report can show what this machine computed: it reads computations itself. Pages that gather the
    verdicts of others (the study `book`) are always of the reference."""
    entry = entry_of(notebook)
    if entry is None or entry.kind != "report" or entry.study == "book":
        return False
    computed = {notebook.name for notebook in notebooks("compute")}
    return not computed.isdisjoint(reads_of(entry))


def share_of(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Which part of how many these parameters ask for: (1, 1) is all. InputError for a part that there is not."""
    part, parts = parameters.get(PART, 1), parameters.get(PARTS, 1)
    if not 1 <= part <= parts:
        raise InputError(f"part {part} of {parts}: parts are counted from 1 to their number")
    return part, parts


def find_notebook(notebook: str) -> Path:
    """The source of a notebook, by the name it has in the table."""
    for folder in ("compute", "report", "own", "train"):
        path = root() / "notebooks" / folder / f"{notebook}.py"
        if path.is_file():
            return path
    raise DataError(f"there is no notebooks/*/{notebook}.py in {root()}")


def make_job(source: Path, profile_name: str, parameters: Mapping[str, Any]) -> Job:
    """The job that runs a notebook with parameters; the run id covers all that its results depend on."""
    return _Planner(profile_name).job(source, parameters)


class _Planner:
    """The jobs of one plan, each made once however many others read it; files are taken as they are now."""

    def __init__(self, profile_name: str) -> None:
        self.profile = find_profile(profile_name)
        self._library = Library()
        self._tables = committed_tables()
        self._pins = tree_digest(root() / "requirements.lock")
        self._jobs: dict[str, Job] = {}
        self._code: dict[Path, str] = {}

    def job(self, source: Path, parameters: Mapping[str, Any]) -> Job:
        """The job of a notebook with these parameters."""
        key = json.dumps([str(source), dict(parameters)], sort_keys=True, default=str)
        if key not in self._jobs:
            self._jobs[key] = self._make(source, parameters)
        return self._jobs[key]

    def grid(self, notebook: str, values: str = REFERENCE) -> list[Job]:
        """The jobs of a notebook at every point of its grid; `values`: whose a report shows."""
        more = {VALUES: values} if values != REFERENCE and shows_runs(notebook) else {}
        points = self._entry(notebook).points(self.profile)
        return [self.job(find_notebook(notebook), {**point, **more}) for point in points]

    def _make(self, source: Path, wanted: Mapping[str, Any]) -> Job:
        if not source.is_file():
            raise DataError(f"there is no notebook {source}")
        name, kind = source.stem, source.resolve().parent.name
        if "profile" in notebook_parameters(source):
            wanted = {"profile": self.profile.name, **wanted}
        parameters = checked_parameters(source, wanted)
        # Part 1 of 1 is the whole, and usual values say nothing: what is the same must have the same id.
        if share_of(parameters) == (1, 1):
            parameters = {key: value for key, value in parameters.items() if key not in (PART, PARTS)}
        parameters = {key: value for key, value in parameters.items() if not _is_usual(key, value)}
        entry = entry_of(name)
        reads = reads_of(entry) if entry else []
        upstream = tuple(job for read in reads for job in self.grid(read))
        choices = changes_of(source, parameters)
        point = {key: value for key, value in parameters.items() if key not in choices}
        settings = with_changes(entry.settings_at(self.profile, point), choices) if entry else Settings()
        if source not in self._code:
            self._code[source] = self._library.code(source.read_text(encoding="utf-8")).digest
        loads = digests_of(name, entry.names_loaded(settings, parameters) if entry else ())
        if kind == "report":
            loads |= self._tables | reference_units(reads)
        parts: dict[str, Any] = {
            "notebook": tree_digest(source),
            "parameters": parameters,
            "settings": settings,
            "code": self._code[source],
            "pins": self._pins,
            "loads": loads,
            "brought": _brought(parameters),
            "upstream": [job.run_id for job in upstream],
        }
        if kind == "train":
            parts["training"] = _training(name, self.profile.name, parameters)
        return Job(
            notebook=name,
            kind=kind,
            study=entry.study if entry else None,
            source=source,
            profile=self.profile.name,
            parameters=parameters,
            run_id=digest(parts),
            upstream=upstream,
            loads=loads,
            code=self._code[source],
            settings=settings,
            choices=tuple(choices),
        )

    def _entry(self, name: str) -> Notebook:
        entry = entry_of(name)
        if entry is None:
            raise unknown("notebook of a study", name, [notebook.name for notebook in notebooks()])
        return entry


def _training(notebook: str, profile_name: str, parameters: Mapping[str, Any]) -> list[Any]:
    """What a training depends on: how it trains, the commit of the model of the hub that it starts from, the data."""
    dataset = str(parameters["dataset"])
    how: dict[str, Any] = recipes(notebook, profile_name)
    if notebook == TEXT_CLASSIFIERS:
        how = text_training(profile_name, dataset, str(parameters.get("classifier", "")))
    else:
        how = {**how, "training": how["training"].get(dataset)}
    data = digests_of(notebook, [dataset] if dataset in registry().data else [])
    return [how, commit_of(str(how.get("model", ""))), data]


def _brought(parameters: Mapping[str, Any]) -> list[str]:
    """Digests of the files and folders that parameters name (a table of texts, say, or `hf:` and a folder)."""
    named = [value.rpartition(":")[2] for value in parameters.values() if isinstance(value, str)]
    return [tree_digest(root() / name) for name in named if "/" in name and (root() / name).exists()]


def plan(profile_name: str, study: str | None = None, values: str = REFERENCE) -> tuple[Job, ...]:
    """Every job of a profile, or those of one study and what they read, each after those it reads.

    `values`: whose the reports show (`WHOSE`). Those that other pages read for their verdicts show the reference's, and
    are among the jobs a second time.

    Raises UnknownNameError for another profile, study or name of values.
    """
    if values not in WHOSE:
        raise unknown("values", values, WHOSE)
    planner, chosen = _Planner(profile_name), study_names(study)
    jobs = (job for notebook in notebooks() if notebook.study in chosen for job in planner.grid(notebook.name, values))
    return tuple(with_upstream(jobs).values())


def with_upstream(jobs: Iterable[Job]) -> dict[str, Job]:
    """Jobs and all that they read, by name, each after those it reads."""
    ordered: dict[str, Job] = {}
    for job in jobs:
        if job.name not in ordered:
            ordered |= {name: earlier for name, earlier in with_upstream(job.upstream).items() if name not in ordered}
            ordered[job.name] = job
    return ordered


def trainings(profile_name: str, study: str | None = None) -> tuple[Job, ...]:
    """The jobs that make every checkpoint of a profile, or of one of its studies; they run only when asked for.

    Raises UnknownNameError for another profile or study, or for a data set that nobody says how to train on.
    """
    planner, profile = _Planner(profile_name), find_profile(profile_name)
    jobs: dict[Path, Job] = {}
    for name in study_names(study):
        for notebook, parameters in studies()[name].trained(profile):
            known = recipes(notebook, profile_name)["training"]
            if parameters["dataset"] not in known:
                raise unknown(f"data set with a recipe in the profile {profile_name}", parameters["dataset"], known)
            job = planner.job(find_notebook(notebook), parameters)
            jobs.setdefault(job.folder, job)
    return tuple(jobs.values())


def specification(job: Job) -> dict[str, Any]:
    """One job as JSON has it, for the process that runs it; of those it reads, their names."""
    return {**vars(job), "source": str(job.source), "upstream": [earlier.name for earlier in job.upstream]}


def from_specification(values: Mapping[str, Any], upstream: Iterable[Job] = ()) -> Job:
    """A job from its specification, and those it reads."""
    typed = {"source": Path(values["source"]), "settings": Settings(values["settings"])}
    return Job(**{**values, **typed, "upstream": tuple(upstream)})
