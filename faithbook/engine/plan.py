"""The jobs of a profile: every notebook with every set of its parameters, each after those it reads.

**How a run is named.** `run_id` is a digest of everything the result depends on: the notebook, its parameters, the
settings of its profile, the modules of both packages it imports, the pins, the sources and checkpoints it declares, for
a report the committed tables and the reference's values of what it reads, and the ids of the runs it reads. A run lives
in `data/results/<profile>/runs/<notebook>/<parameters>-<run_id>/`; it is made under another name and renamed when
whole, so that a folder of that name is always a finished run, whatever was killed and when.

**Parts.** Where a profile has a computation share its inputs out (`parts: {soft_metrics: 4}`), each point of its grid
is that many jobs, with `part` and `parts` among their parameters. Who reads a notebook reads all its runs.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from faithbook.engine.digests import Library, digest, tree_digest
from faithbook.engine.inputs import commit_of, committed_tables, digests_of, named, reference_units
from faithbook.engine.profiles import (
    NotebookEntry,
    Settings,
    find_profile,
    own_of,
    place_of,
    settings_of,
    studies_of,
    table,
    text_training,
)
from faithbook.paths import results_dir, root
from faithlib.errors import DataError, InputError, unknown

MANIFEST = "manifest.json"
NOTEBOOK = "notebook.ipynb"
RULES = ("train", "compute", "report")
PART, PARTS = "part", "parts"  # the parameters of a notebook that can share its inputs out among several runs


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

    @property
    def slug(self) -> str:
        """The parameters in a form fit for a file name."""
        return slug_of(self.parameters)

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
    def complaint(self) -> Path:
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


def slug_of(parameters: Mapping[str, Any]) -> str:
    """Parameters in a form fit for a file name.

    >>> slug_of({"profile": "full", "dataset": "cifar10-few", "seed": 0})
    'cifar10_few_0'
    """
    values = [f"{value}" for key, value in parameters.items() if key != "profile"]
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


def part_of(parameters: Mapping[str, Any]) -> tuple[int, int]:
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


def make_job(source: Path, profile_name: str, given: Mapping[str, Any]) -> Job:
    """The job that runs a notebook with parameters; the run id covers all that its results depend on."""
    return _Planner(profile_name).job(source, given)


class _Planner:
    """The jobs of one plan, each made once however many others read it; files are taken as they are now."""

    def __init__(self, profile_name: str) -> None:
        find_profile(profile_name)
        self.profile = profile_name
        self._library = Library()
        self._tables = committed_tables()
        self._pins = tree_digest(root() / "requirements.lock")
        self._jobs: dict[str, Job] = {}
        self._code: dict[Path, str] = {}

    def job(self, source: Path, given: Mapping[str, Any]) -> Job:
        """The job of a notebook with these parameters."""
        key = json.dumps([str(source), dict(given)], sort_keys=True, default=str)
        if key not in self._jobs:
            self._jobs[key] = self._make(source, given)
        return self._jobs[key]

    def grid(self, notebook: str) -> list[Job]:
        """The jobs of a notebook at every point of its grid, in as many parts as the profile says."""
        entry, block = place_of(notebook)[1], settings_of(notebook, self.profile)
        source, parts = find_notebook(notebook), find_profile(self.profile).parts.get(notebook, 1)
        shares = [{PART: part, PARTS: parts} for part in range(1, parts + 1)] if parts > 1 else [{}]
        return [self.job(source, {**point, **share}) for point in entry.points(block) for share in shares]

    def _make(self, source: Path, given: Mapping[str, Any]) -> Job:
        if not source.is_file():
            raise DataError(f"there is no notebook {source}")
        name, kind = source.stem, source.resolve().parent.name
        study, entry = place_of(name)
        block = settings_of(name, self.profile)
        if "profile" in notebook_parameters(source):
            given = {"profile": self.profile, **given}
        parameters = checked_parameters(source, given)
        if part_of(parameters) == (1, 1):
            parameters = {key: value for key, value in parameters.items() if key not in (PART, PARTS)}
        reads = _reads(name, entry)
        upstream = tuple(job for read in reads for job in self.grid(read))
        if source not in self._code:
            self._code[source] = self._library.code(source.read_text(encoding="utf-8")).digest
        loads = digests_of(name, named(name, self.profile, entry.loads, block, parameters))
        if kind == "report":
            loads |= self._tables | reference_units(reads)
        parts: dict[str, Any] = {
            "notebook": tree_digest(source),
            "parameters": parameters,
            "settings": _own_settings(block, entry, parameters),
            "code": self._code[source],
            "pins": self._pins,
            "loads": loads,
            "brought": _brought(parameters),
            "upstream": [job.run_id for job in upstream],
        }
        if kind == "train":
            parts["training"] = _training(name, self.profile, parameters)
        about = (name, kind, study, source, self.profile, parameters, digest(parts))
        return Job(*about, upstream, loads, self._code[source])


def _own_settings(block: Settings, entry: NotebookEntry, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings on which the run at one point of a notebook's grid depends.

    The lists that make up the grid are left out. Of a setting that has a value for each data set, this data set's value
    alone is kept; of numbers of inputs given next to the grid's values, this point's. So a further seed, or another
    size for another data set, does not redo the runs that are there.
    """
    rest = {key: value for key, value in block.items() if key not in entry.over.values()}
    rest = own_of(rest, *(parameters[name] for name in ("dataset", "classifier") if name in parameters))
    return rest | entry.counts(block, parameters)


def _training(notebook: str, profile_name: str, parameters: Mapping[str, Any]) -> list[Any]:
    """What a training depends on beside its own settings: how a text is trained, the commit of the model that this
    starts from, and the data."""
    dataset = str(parameters["dataset"])
    how = text_training(profile_name, dataset, str(parameters.get("classifier", "")))
    data = digests_of(notebook, [dataset] if dataset in table().data else [])
    return [how, commit_of(str(how.get("model", ""))), data]


def _brought(parameters: Mapping[str, Any]) -> list[str]:
    """Digests of the files and folders that parameters name (a table of texts, say, or `hf:` and a folder)."""
    named = [value.rpartition(":")[2] for value in parameters.values() if isinstance(value, str)]
    return [tree_digest(root() / name) for name in named if "/" in name and (root() / name).exists()]


def _reads(notebook: str, entry: NotebookEntry) -> list[str]:
    if "*" not in entry.reads:
        return list(entry.reads)
    return [name for _, _, name, other in table().entries() if name != notebook and "*" not in other.reads]


def plan(profile_name: str, study: str | None = None) -> tuple[Job, ...]:
    """Every job of a profile, or those of one study and what they read, each after those it reads.

    Raises UnknownNameError for another profile or study.
    """
    planner, studies = _Planner(profile_name), studies_of(study)
    chosen = (name for of, _, name, _ in table().entries() if of in studies)
    return tuple(with_upstream(job for name in chosen for job in planner.grid(name)).values())


def with_upstream(jobs: Iterable[Job]) -> dict[str, Job]:
    """Jobs and all that they read, by name, each after those it reads."""
    ordered: dict[str, Job] = {}
    for job in jobs:
        if job.name not in ordered:
            ordered |= {name: one for name, one in with_upstream(job.upstream).items() if name not in ordered}
            ordered[job.name] = job
    return ordered


def trainings(profile_name: str, study: str | None = None) -> tuple[Job, ...]:
    """The jobs that make every checkpoint of a profile, or of one of its studies; they run only when asked for.

    What is used only if it is on this machine (`where_here`) is learnt only there. Raises UnknownNameError for
    another profile or study, or for a data set without a `training`.
    """
    entry, planner, studies = find_profile(profile_name), _Planner(profile_name), studies_of(study)
    jobs: dict[Path, Job] = {}
    absent = [data for block in entry.settings.values() for data in block.get("where_here", ())]
    absent = [data for data in absent if not table().is_here(data)]
    for of, grids in entry.trains.items():
        for name, points in grids.items() if of in studies else ():
            known = _trainable(name, profile_name)
            for point in (one for one in _combinations(points) if one["dataset"] not in absent):
                if point["dataset"] not in known:
                    raise unknown(f"data set with a `training` in the profile {profile_name}", point["dataset"], known)
                job = planner.job(find_notebook(name), point)
                jobs.setdefault(job.folder, job)
    return tuple(jobs.values())


def specification(job: Job) -> dict[str, Any]:
    """One job as JSON has it, for the process that runs it; of those it reads, their names."""
    return {**vars(job), "source": str(job.source), "upstream": [earlier.name for earlier in job.upstream]}


def from_specification(values: Mapping[str, Any], upstream: Iterable[Job] = ()) -> Job:
    """A job from its specification, and those it reads."""
    return Job(**{**values, "source": Path(values["source"]), "upstream": tuple(upstream)})


def _combinations(points: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of the parameters of which lists are given.

    >>> list(_combinations([{"dataset": ["movie", "bbc"], "seed": 0}]))
    [{'dataset': 'movie', 'seed': 0}, {'dataset': 'bbc', 'seed': 0}]
    """
    for point in points:
        every = [value if isinstance(value, list) else [value] for value in point.values()]
        yield from (dict(zip(point, one, strict=True)) for one in product(*every))


def _trainable(notebook: str, profile_name: str) -> set[str]:
    """The data sets that a training notebook finds at a profile: in its own settings, or else in those of any study."""
    blocks = find_profile(profile_name).settings
    block = settings_of(notebook, profile_name)
    asked = [block] if "training" in block else blocks.values()
    return {name for of in asked for name in of.get("training", ())}
