"""What a notebook talks to: its own run, and the results of others.

Every notebook is a jupytext py:percent file with one cell tagged `parameters` that assigns plain literals:

    # %% tags=["parameters"]
    profile = "laptop"
    dataset = "movie"
    seed = 0

    # %%
    from faithbook.engine.run import start_run
    run = start_run("soft_metrics", profile=profile, dataset=dataset, seed=seed)     # its name, then every parameter
    run.settings["inputs"]                       # at this profile and these parameters; an unknown key is an error
    run.save(frame, "soft_scores")               # soft_scores.parquet in the run's folder
    run.save(table, "soft_table2", format="csv") # a file that the page offers for download
    run.save_units(values)                       # one value per input, in the schema of faithbook.engine.units
    run.note(n=120, rows_run=5_310)              # facts for the manifest and the status page
    for rows in run.blocks(len(data), 64): ...   # this part's share of the inputs, a block at a time
    run.add(frame, "soft_scores"), run.add_units(values), run.count(n=64)   # the same, block by block
    run.path("figure.svg"), run.link("figure.svg")   # where to write a public file; how its page refers to it
    run.provenance(n=120)                        # what ran where, and the line that runs it again, as MyST
    # %%
    run.finish()                                 # a report ends so; a computation with `beside_book(run)`

Reports read with `load("soft_scores", profile)`: all whole runs that the plan names, one below the other.

`python -m faithbook` runs notebooks (`faithbook.engine.build`). A notebook opened in Jupyter or run by plain papermill
works too: its results then go to `data/results/<profile>/by-hand/`, and the book's stay untouched.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from faithbook.access import declare, opened, require
from faithbook.engine.inputs import CONFIRMED_DIR, UNITS_DIR
from faithbook.engine.machine import build_context, commit, device, most_memory, processor, versions
from faithbook.engine.plan import (
    MANIFEST,
    NOTEBOOK,
    PART,
    PARTS,
    REFERENCE,
    RUN,
    VALUES,
    Job,
    changes_of,
    find_notebook,
    from_specification,
    make_job,
    notebook_parameters,
    plan,
    share_of,
)
from faithbook.engine.shares import added_to, point_of
from faithbook.engine.studies import entry_of, reads_of
from faithbook.engine.study import Settings
from faithbook.engine.units import UNITS, UNITS_SCHEMA, read_units, write_units
from faithbook.paths import results_dir, root
from faithlib.errors import DataError, InputError, unknown

if TYPE_CHECKING:
    import pandas as pd  # a second to import, which the many short processes of a build do not need
    from IPython.display import Markdown

T = TypeVar("T")
_LARGEST = ("peak_bytes", "features")
_any_settings = False
"""Whether by hand the newest runs are read whatever was changed in them, as in a report of what was computed here."""


@dataclass
class Run:
    """What a notebook holds of its own run (see the module's text for its use)."""

    job: Job
    folder: Path
    settings: Settings
    inside_runner: bool
    upstream: tuple[Path, ...]
    share: tuple[int, int] = (1, 1)  # which part of how many
    notes: dict[str, Any] = field(default_factory=dict)
    files: dict[str, int | None] = field(default_factory=dict)
    _blocks: dict[str, list[pd.DataFrame]] = field(default_factory=dict)
    _clock: float = field(default_factory=time.perf_counter)
    _processor_clock: float = field(default_factory=time.process_time)
    _started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def values(self) -> str:
        """Whose values a report shows (`plan.WHOSE`)."""
        return str(self.job.parameters.get(VALUES, REFERENCE))

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

    def save_units(self, frame: pd.DataFrame, part: str = "") -> Path:
        """Write the values of single inputs (`faithbook.engine.units` has the schema); `load_units` reads them.

        `part` tells apart tables of one run that have other keys. Raises InputError for a table that breaks the schema.
        """
        path = self.path(_units_file(part))
        choices = changes_of(self.job.source, self.job.parameters)
        parameters = {name: value for name, value in self.job.parameters.items() if name not in choices}
        write_units(frame, path, notebook=self.job.notebook, parameters=parameters)
        self.files[path.name] = len(frame)
        return path

    # ------------------------------------------------------------------------------------------------ block by block
    def shared(self, everything: Sequence[T]) -> Sequence[T]:
        """This part's share of things in order: parts follow one another, and none has more than one above another.

        What a notebook shares out must be computed thing by thing, the same whatever else is computed; and what goes
        into one table must be shared out at once, or parts would not follow one another in it.
        """
        part, parts = self.share
        first, last = (len(everything) * number // parts for number in (part - 1, part))
        return everything[first:last]

    def blocks(self, inputs: int, size: int) -> Iterator[slice]:
        """The places of this part's inputs, `size` at a time. Blocks are the same in every number of parts, and so is
        what a model answers about them to the last bit; and what a block takes of memory is free after it."""
        yield from self.shared([slice(first, min(first + size, inputs)) for first in range(0, inputs, size)])

    @property
    def is_last(self) -> bool:
        """Whether this is the part with the last inputs, which saves what is saved once; it has inputs if any has."""
        return self.share[0] == self.share[1]

    def add(self, frame: pd.DataFrame, name: str) -> None:
        """The rows of one block for a table that `finish` saves; parts and blocks follow one another in it."""
        self._blocks.setdefault(name, []).append(frame)

    def add_units(self, frame: pd.DataFrame, part: str = "") -> None:
        """The values of one block's inputs, for `save_units`."""
        self.add(frame, _units_file(part).removesuffix(".parquet"))

    def count(self, **facts: float) -> None:
        """Facts of one block, for the manifest: numbers add up, of `peak_bytes` and `features` the largest stays."""
        for name, value in facts.items():
            before = self.notes.get(name, 0)
            joined = max(before, value) if name in _LARGEST else before + value
            self.notes[name] = joined if isinstance(joined, int) else round(joined, 6)

    def _save_blocks(self) -> None:
        import pandas as pd

        for name, frames in self._blocks.items():
            whole = pd.concat(frames, ignore_index=True)
            if name.startswith(UNITS):
                self.save_units(whole, name.removeprefix(UNITS).removeprefix("_"))
            else:
                self.save(whole, name)

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
            "declared": list(self.job.loads),
            "opened": opened(),
            "commits": {name: known.rpartition("@")[2] for name, known in self.job.loads.items() if "@" in known},
            "commit": commit(),
            "code": self.job.code,
            "versions": versions(),
            "device": device(),
            "processor": processor(),
            "cores": os.cpu_count(),
            "threads": int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1),
            "started": self._started,
            "seconds": round(time.perf_counter() - self._clock, 2),
            "processor_seconds": round(time.process_time() - self._processor_clock, 2),
            "memory_bytes": most_memory(),
            "files": dict(sorted(self.files.items())),
            "units_schema": UNITS_SCHEMA,
            "notes": self.notes,
        }

    def provenance(self, *, n: int | str | None = None, note: str = "", name: str = "", numbers: str = "") -> Markdown:
        """What ran, where, how long, how to run it again and change something, the downloads; `numbers`: whose they are
        and where they were computed; `name`: what links of the page lead to."""
        from IPython.display import Markdown  # as pandas

        return Markdown(_provenance(self, n, note, name, numbers))

    def finish(self) -> None:
        """Save what blocks have added and write the manifest; without it a run does not count as whole."""
        self._save_blocks()
        for name in self.files:
            if not (self.folder / name).is_file():
                raise DataError(f"{self.job.label}: {name} was announced by run.path() and never written")
        (self.folder / MANIFEST).write_text(json.dumps(self.facts(), indent=1, default=str) + "\n", encoding="utf-8")
        if not self.inside_runner:
            final = results_dir(self.job.profile) / "by-hand" / self.job.notebook / self.job.slug
            shutil.rmtree(final, ignore_errors=True)
            self.folder = self.folder.rename(final)
            print(f"results are in {final}")
        declare(None)


def start_run(notebook: str, *, profile: str, **parameters: Any) -> Run:
    """Begin the run of a notebook, from inside it: its name, then every one of its parameters by name."""
    planned = _planned_run()
    all_parameters = {"profile": profile, **parameters}
    source = Path(planned["job"]["source"]) if planned else find_notebook(notebook)
    expected = notebook_parameters(source)
    if source.stem != notebook or set(all_parameters) != set(expected):
        raise InputError(
            f"start_run({notebook!r}, {', '.join(sorted(all_parameters))}) in {source.name}, "
            f"which must be start_run({source.stem!r}, {', '.join(sorted(expected))})"
        )
    _refuse_injected_strangers(expected)
    share = share_of(all_parameters)
    global _any_settings
    _any_settings = all_parameters.get(VALUES, REFERENCE) != REFERENCE
    if planned:  # the build has planned this run
        job = from_specification(planned["job"])
        folder, upstream = Path(planned["folder"]), tuple(map(Path, planned["upstream"]))
    else:
        job = make_job(source, profile, all_parameters)
        folder, upstream = _new_folder(job), (*_folders_by_hand(job.upstream), *_unplanned_of(job))
    declare(job.loads)
    return Run(job, folder, job.settings, bool(planned), upstream, share)


def _planned_run() -> dict[str, Any]:
    """What a build has told this kernel of its run; nothing in a notebook that is run by hand."""
    planned = build_context()
    return planned if "job" in planned else {}


def _new_folder(job: Job) -> Path:
    folder = results_dir(job.profile) / "by-hand" / job.notebook / f".{job.slug}.{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


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


def load(name: str, profile: str = "laptop") -> pd.DataFrame:
    """The results saved under `name` by the whole runs of a profile, one below the other, with the column `run_id`.

    Inside the book's build these are the runs that the notebook declares to read; by hand they are the newest of each
    set of parameters in the plan.
    """
    import pandas as pd

    planned = _planned_run()
    if planned:
        groups = [[Path(folder) for folder in planned["upstream"]]]
    else:
        # By hand a report may have made a table of the same name from what was computed.
        jobs = plan(profile)
        groups = []
        for kind in ("compute", "report"):
            of_kind = [job for job in jobs if job.kind == kind]
            groups.append(list(_folders_by_hand(of_kind)))
    frames: list[pd.DataFrame] = []
    for folders in groups:
        frames = frames or _frames(folders, name)
    if not frames:
        folders = [folder for group in groups for folder in group]
        known = sorted({name for folder in folders for name in _tables_in(folder)})
        advice = f"Make them: make book PROFILE={profile}"
        if planned:
            advice = "Name its notebook under `reads` in the study's study.py"
        raise DataError(
            f"no whole run holds {name!r} at the profile {profile}: they hold {', '.join(known) or 'nothing'}. {advice}"
        )
    return pd.concat(frames, ignore_index=True)


def _tables_in(folder: Path) -> list[str]:
    """The names of the tables that a run has saved."""
    return [file.stem for file in folder.iterdir() if file.suffix in (".parquet", ".csv")]


def _frames(folders: Iterable[Path], name: str) -> list[pd.DataFrame]:
    """What these runs saved under a name, each with its run id."""
    frames = []
    for folder in folders:
        file = _result(folder, name)
        if file is not None:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            frames.append(_read(file).assign(run_id=manifest["run_id"]))
    return frames


def _result(folder: Path, name: str) -> Path | None:
    for file in (folder / f"{name}.parquet", folder / f"{name}.csv"):
        if file.is_file():
            return file
    return None


def _read(file: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file)


def load_units(
    notebook: str, profile: str = "laptop", *, part: str = "", reference: bool = False, confirmed: bool = False
) -> pd.DataFrame:
    """The values of single inputs that the whole runs of a notebook saved, one run below the other.

    Columns: those of the schema (`faithbook.engine.units`), the further keys of the notebook, and the parameters of
    each run. `reference=True` reads the committed values of the full profile, `confirmed=True` those of the
    confirmatory run. DataError where there are none.
    """
    import pandas as pd

    place = ""
    if confirmed:
        place = CONFIRMED_DIR
    elif reference:
        place = UNITS_DIR
    if place:
        require(f"{place}/{notebook}")
    folders = [root() / place / notebook] if place else _folders_of(notebook, profile)
    name = f"*-{_units_file(part)}" if place else _units_file(part)
    files = sorted(file for folder in folders for file in folder.glob(name))
    if not files:
        where = f"the committed {place}" if place else f"a whole run at the profile {profile}"
        raise DataError(f"{notebook} has no {_units_file(part)} in {where}: it is made by run.save_units(...)")
    frames = [read_units(file) for file in files]
    columns = {name for frame in frames for name in frame.columns}
    # Choices (of which a parameter is None by default) are not kept with the values.
    defaults = notebook_parameters(find_notebook(notebook))
    parameters = [name for name, default in defaults.items() if default is not None and name in columns]
    return pd.concat([_with_added(frame, notebook, parameters) for frame in frames], ignore_index=True)


def _with_added(units: pd.DataFrame, notebook: str, parameters: Iterable[str]) -> pd.DataFrame:
    """The values of a run from before its notebook had all these parameters, with what the study says that it did.

    DataError where the study does not say it: a default of today may be another than what was done then.
    """
    missing = [name for name in parameters if name not in units.columns]
    if not missing:
        return units
    added = added_to(notebook)
    unsaid = [name for name in missing if name not in added]
    if unsaid:
        raise DataError(
            f"some runs of {notebook} are from before it had the parameter {unsaid[0]}: say in the study's study.py "
            f"what they did, added={{{unsaid[0]!r}: ...}}, or make them again"
        )
    return units.assign(**{name: added[name] for name in missing})


def has_units(notebook: str, part: str = "") -> bool:
    """Whether the confirmatory run has values of a notebook and part."""
    return any((root() / CONFIRMED_DIR / notebook).glob(f"*-{_units_file(part)}"))


def _units_file(part: str) -> str:
    return f"{UNITS}_{part}.parquet" if part else f"{UNITS}.parquet"


def _folders_of(notebook: str, profile: str) -> list[Path]:
    """The whole runs of a notebook that may be read here: those told by the build, or the newest by hand."""
    planned = _planned_run()
    if planned:
        return [folder for folder in map(Path, planned["upstream"]) if folder.parent.name == notebook]
    jobs = [job for job in plan(profile) if job.notebook == notebook]
    return list(_folders_by_hand(jobs)) if jobs else _unplanned(notebook, profile)


def _unplanned_of(job: Job) -> list[Path]:
    """The newest runs by hand of what a report reads and the plan of its profile does not have, such as of optional
    data."""
    entry = entry_of(job.notebook)
    planned = {earlier.notebook for earlier in job.upstream}
    missing = [name for name in reads_of(entry) if name not in planned] if entry else []
    return [folder for name in missing for folder in _unplanned(name, job.profile)]


def _unplanned(notebook: str, profile: str) -> list[Path]:
    """The newest run by hand of each point of a computation that the plan of a profile does not have; none where only
    the profile's own settings are asked for."""
    if not _any_settings:
        return []
    newest: dict[str, Path] = {}
    folders = (results_dir(profile) / "by-hand" / notebook).glob(f"*/{MANIFEST}")
    for manifest in sorted(folders, key=lambda path: path.stat().st_mtime_ns):
        parameters = json.loads(manifest.read_text(encoding="utf-8"))["parameters"]
        newest[json.dumps(point_of(find_notebook(notebook), parameters), sort_keys=True)] = manifest.parent
    return list(newest.values())


def _folders_by_hand(jobs: Iterable[Job]) -> Iterator[Path]:
    """The newest whole run of each job, made by hand or by the book; a job never run is left out.

    In a report that shows what was computed here these are runs with any choices of somebody's instead of the
    profile's; else those of the profile's settings.
    """
    yielded = set()
    for job in jobs:
        by_hand = results_dir(job.profile) / "by-hand" / job.notebook
        whole = [path for path in (by_hand / job.slug, job.folder, *_older(job)) if (path / MANIFEST).is_file()]
        if _any_settings:
            whole += _changed_runs(job)
        if not whole:
            continue
        newest = max(whole, key=lambda path: (path / MANIFEST).stat().st_mtime_ns)
        if newest not in yielded:  # a run of all inputs stands for all parts of the profile's
            yielded.add(newest)
            yield newest


def _older(job: Job) -> list[Path]:
    """The book's runs with the same parameters, of earlier code or data."""
    named = job.folder.parent.glob(f"{job.slug}-*")
    return [path for path in named if re.fullmatch(r"[0-9a-f]{12}", path.name[len(job.slug) + 1 :])]


def _changed_runs(job: Job) -> list[Path]:
    """Whole runs of the same point of a notebook's grid with choices of somebody's, by hand or by the command line."""
    wanted = point_of(job.source, job.parameters)
    folders = [*(results_dir(job.profile) / "by-hand" / job.notebook).glob("*"), *job.folder.parent.glob("*")]
    runs = []
    for folder in folders:
        if folder.name.startswith(".") or not (folder / MANIFEST).is_file():
            continue
        parameters = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["parameters"]
        if changes_of(job.source, parameters) and point_of(job.source, parameters) == wanted:
            runs.append(folder)
    return runs


def load_manifests(profile: str) -> pd.DataFrame:
    """One row per whole run that `load` would read: the manifest, with parameters and notes as columns of their own."""
    import pandas as pd

    planned = _planned_run()
    folders = [Path(folder) for folder in planned["upstream"]] if planned else list(_folders_by_hand(plan(profile)))
    rows = []
    for folder in folders:
        facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        notes, parameters = facts.pop("notes"), facts.pop("parameters")
        rows.append({**facts, **{key: value for key, value in parameters.items() if key != "profile"}, **notes})
    return pd.DataFrame(rows)


def papermill_line(job: Job) -> str:
    """The command that runs one notebook alone, without anything of ours around it."""
    values = " ".join(f"-p {key} {shlex.quote(str(value))}" for key, value in job.parameters.items())
    source = job.source.relative_to(root()) if job.source.is_relative_to(root()) else job.source
    return f"jupytext --to ipynb -o - {source} | papermill - {job.notebook}.ipynb -k python3 {values}".strip()


def _provenance(run: Run, n: int | str | None, note: str, name: str, numbers: str) -> str:
    facts, job = run.facts(), run.job
    ran = [json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in run.upstream]
    computed = [row for row in ran if row["kind"] == "compute"]
    devices = ", ".join(sorted({row["device"] for row in computed} or {facts["device"]}))
    machine = f"{devices}; {facts['processor']}, {facts['cores']} cores, threads: {facts['threads']}"
    took = f"{facts['seconds']:.0f} s"
    if computed:
        seconds, number = sum(row["seconds"] for row in computed), len(computed)
        took += f", {seconds:.0f} s for {number} computation{'s' * (number != 1)} it reads"
    files = [f"{job.notebook}.ipynb <{job.notebook}.ipynb>"]
    files += [f"{file} <{run.link(file)}>" for file in sorted(run.files) if file.endswith(".csv")]
    rows = {
        "Numbers": numbers,
        "This page": f"profile {job.profile}; {machine}; {took}",
        "Notebook": f"`notebooks/{job.kind}/{job.notebook}.py` (run `{job.run_id}`)",
        "Parameters": ", ".join(f"{key} = {value}" for key, value in job.parameters.items()),
        "Inputs": "" if n is None else f"{n}",
        "Commit": facts["commit"],
        "Versions": ", ".join(f"{package} {version}" for package, version in facts["versions"].items()),
        "Note": note,
        "Downloads": ", ".join(f"{{download}}`{file}`" for file in files),
    }
    lines = [f"- **{key}:** {value}" for key, value in rows.items() if value]
    again = ["Run this page again, alone:", "", "```bash", papermill_line(job), "```"]
    if computed:
        names = sorted({f"`notebooks/compute/{row['notebook']}.py`" for row in computed})
        alone = "which runs" if len(names) == 1 else "each of which runs"
        again += ["", f"It reads {', '.join(names)}, {alone} alone in the same way."]
    head = [":::{admonition} Provenance", ":class: dropdown note"]
    if name:  # what links of the page lead to
        head.append(f":name: {name}")
    return "\n".join([*head, "", *lines, "", *again, *_change_something(job, computed), ":::", ""])


def _change_something(job: Job, computed: Iterable[Mapping[str, Any]]) -> list[str]:
    """How to change a choice of a computation that a report reads and see what it does to the page; nothing where none
    of them has choices."""
    for facts in computed:
        source = find_notebook(facts["notebook"])
        choices = [name for name, value in notebook_parameters(source).items() if value is None]
        if not choices or VALUES not in notebook_parameters(job.source):
            continue
        usual = {name: value for name, value in facts["parameters"].items() if name not in (*choices, PART, PARTS)}
        first = replace(job, notebook=facts["notebook"], source=source, parameters={**usual, choices[0]: 20})
        then = replace(job, parameters={**job.parameters, VALUES: RUN})
        named = ", ".join(f"`{name}`" for name in choices)
        return [
            "",
            "**Change something and see:**",
            "",
            f"1. `make lab` opens all notebooks. In `compute/{source.name}` give a choice in the second cell",
            f"   another value ({named}) and run all cells. Or as a command:",
            f"2. `{papermill_line(first)}`",
            "3. It ends with a table and a figure of what it computed, beside the book's means.",
            f"4. Run this page on it: `{papermill_line(then)}`",
            "5. A box at its top says what was changed, and n of both. "
            '`values = "both"` puts the book\'s numbers in brackets.',
        ]
    return []
