"""Running notebooks and building the book: `python -m faithbook run|build|book|plan|train|reference`.

`run` executes one notebook into a hidden folder and renames it when whole; `build` lets Snakemake run all notebooks
of a profile that are not there yet; `book` puts the executed reports beside the prose and makes the pages. Every one
of them can be killed at any moment and started again: a lock that dies with its process, and one atomic rename a run,
are all the state there is.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from rich.console import Console

from faithbook.engine import study
from faithbook.engine.study import MANIFEST, NOTEBOOK, RUN_VARIABLE, Job
from faithlib.errors import DataError, FaithlibError, InputError, unknown

_READER_PROFILE = "laptop"  # its book is built in place, in book/; the books of other profiles under their results
_TABLES = "tables"
_BOARD = Path("scoreboard.csv")
_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"  # its command need not be on the PATH


class RunError(FaithlibError):
    """A notebook that raised, or a book that would not build."""


# --- one notebook -------------------------------------------------------------


def run(job: Job) -> bool:
    """Execute a notebook unless its run is whole already; returns whether anything ran.

    A notebook that raises leaves its partial copy at `job.failed`, and nothing at `job.folder`.
    """
    if job.done:
        return False
    for earlier in job.upstream:
        if not earlier.done:
            raise DataError(
                f"{job.label} reads {earlier.label}, which has not run; make book PROFILE={job.profile} does"
            )
    parent = job.folder.parent
    parent.mkdir(parents=True, exist_ok=True)
    with _locked(parent / f".{job.folder.name}.lock"):
        if job.manifest.is_file():  # another process made it while this one waited
            return False
        for left in _unfinished(job):  # by a process that was killed: the lock says it is not alive
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{job.folder.name}.", suffix=".tmp", dir=parent))
        try:
            _execute(job, folder)
            folder.chmod(0o755)
            shutil.rmtree(job.folder, ignore_errors=True)  # without its manifest it is no run: somebody took that away
            folder.rename(job.folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    for left in parent.glob(f"{job.slug}-*.failed.ipynb"):
        left.unlink()
    return True


def _unfinished(job: Job) -> list[Path]:
    return list(job.folder.parent.glob(f".{job.folder.name}.*.tmp"))


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that the operating system gives up with the process, however that ends."""
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _execute(job: Job, folder: Path) -> None:
    import jupytext
    import papermill

    notebook = jupytext.read(job.source)
    notebook["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    upstream = [str(earlier.folder) for earlier in job.upstream]
    told = json.dumps({"source": str(job.source), "folder": str(folder), "run_id": job.run_id, "upstream": upstream})
    executed = folder / NOTEBOOK
    with _environment({RUN_VARIABLE: told, **_threads()}):
        try:
            papermill.execute_notebook(
                notebook,
                executed,
                dict(job.parameters),
                kernel_name="python3",
                progress_bar=False,
                cwd=str(study.root()),
            )
        except papermill.PapermillExecutionError as error:
            executed.replace(job.failed)
            raise RunError(
                f"{job.label} raised {error.ename}: {error.evalue}\n{_cause(error.traceback)}\n"
                f"its partial notebook is {job.failed}"
            ) from None
    if job.kind == "train":  # leaves checkpoints with cards of their own, not results
        (folder / MANIFEST).write_text(json.dumps({"run_id": job.run_id, "parameters": dict(job.parameters)}) + "\n")
    if not (folder / MANIFEST).is_file():
        executed.replace(job.failed)
        raise RunError(
            f"{job.label} came to its end without `run.finish()`, which must be its last cell; see {job.failed}"
        )


def _cause(traceback: Sequence[str]) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))
    return "\n".join(f"  | {line}" for line in plain.splitlines()[-12:])


def _threads() -> dict[str, str]:
    """Two notebooks at one thread each are faster on two cores than one after the other at two threads."""
    number = os.environ.get("FAITHLIB_THREADS", "1")
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {**dict.fromkeys(names, number), "TOKENIZERS_PARALLELISM": "false"}


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# --- all notebooks of a profile -----------------------------------------------


def build(profile: str, *, cores: int | None = None, extra: Sequence[str] = ()) -> tuple[Job, ...]:
    """Run every notebook of the plan that is not there yet, showing a line for each; returns the plan.

    A second build of the profile waits for the first: Snakemake plans once, and would do again what the other has done
    since.
    """
    folder = study.results_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "build.lock"):
        return _build(profile, cores, extra)


def _build(profile: str, cores: int | None, extra: Sequence[str]) -> tuple[Job, ...]:
    began = time.time()
    jobs = study.plan(profile)
    todo = [job for job in jobs if not job.done]
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"profile {profile}: {len(jobs)} notebooks, {len(jobs) - len(todo)} of them done before")
    if not todo:
        return jobs
    folder = study.results_dir(profile)
    log = folder / "snakemake.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            _snakemake(profile, cores, extra), stdout=stream, stderr=subprocess.STDOUT, cwd=folder
        )
        try:
            _watch(process, todo, began, console)
        finally:
            if process.poll() is None:  # told to stop: Snakemake stops its notebooks and ends
                process.terminate()
                process.wait(timeout=60)
    if process.returncode or not all(job.done for job in todo):
        raise RunError(_why(todo, log))
    console.print(f"{len(todo)} notebooks in {_minutes(time.time() - began)}")
    return jobs


def _snakemake(profile: str, cores: int | None, extra: Sequence[str]) -> list[str]:
    number = cores or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    return [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(study.root() / "notebooks" / "Snakefile")),
        *("--cores", str(number), "--config", f"profile={profile}", "--keep-going", "--quiet", "all"),
        # A run that is there is whole and belongs to exactly these inputs: Snakemake need remember nothing of its own.
        *("--nolock", "--ignore-incomplete", "--drop-metadata", "--rerun-triggers", "mtime"),
        *extra,
    ]


def _watch(process: subprocess.Popen[bytes], todo: Sequence[Job], began: float, console: Console) -> None:
    """A line for each notebook as it ends; on a terminal also what runs now, and for how long."""
    waiting, since = list(todo), dict[str, float]()
    with console.status("starting") as status:
        while True:
            ended = process.poll() is not None
            for job in list(waiting):
                if job.done or _has_failed(job, began):
                    waiting.remove(job)
                    seconds = time.time() - since.get(job.label, began)
                    word = "done  " if job.done else "FAILED"
                    console.print(
                        f"[{len(todo) - len(waiting):>3}/{len(todo)}] {word} {job.label:<36} {seconds:6.1f} s",
                        markup=False,
                    )
                elif _unfinished(job):
                    since.setdefault(job.label, time.time())
            running = [f"{job.label} {time.time() - since[job.label]:.0f} s" for job in waiting if job.label in since]
            status.update(f"{_minutes(time.time() - began)}: {', '.join(running) or 'scheduling'}")
            if ended:
                return
            time.sleep(0.3)


def _has_failed(job: Job, began: float) -> bool:
    return job.failed.is_file() and job.failed.stat().st_mtime >= began


def _why(todo: Sequence[Job], log: Path) -> str:
    missing = [job for job in todo if not job.done]
    study.code_digest.cache_clear()
    if {job.folder for job in missing} - {job.folder for job in study.plan(todo[0].profile)}:
        return "notebooks, library, settings or data changed during the build: run the same command again"
    broken = [job for job in missing if job.failed.is_file()]
    text = log.read_text(encoding="utf-8", errors="replace")
    told = re.findall(r"^faithlib: .*(?:\n(?!faithlib: |Error|\[).*)*", text, flags=re.MULTILINE)
    lines = [f"{len(missing)} of {len(todo)} notebooks did not end ({len(broken)} raised, the others wait for them)"]
    lines += told or [f"the end of {log}:", *text.splitlines()[-25:]]
    lines.append(
        "earlier results are untouched; mend the cause and run the same command again: finished notebooks stay done"
    )
    return "\n".join(lines)


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


# --- the pages ----------------------------------------------------------------


def book(profile: str, *, cores: int | None = None, extra: Sequence[str] = ()) -> Path:
    """Run what is missing and build the book; returns its first page. Nothing changed: nothing is built."""
    began = time.time()
    jobs = build(profile, cores=cores, extra=extra)
    with _locked(study.results_dir(profile) / "book.lock"):  # a second build waits, and then finds the pages there
        source = stage(profile, jobs)
        html = source / "_build" / "html"
        stamp = source / "_build" / "made-from"
        content = _source_digest(source)
        if stamp.is_file() and stamp.read_text() == content and (html / "index.html").is_file():
            return html / "index.html"
        stamp.unlink(missing_ok=True)
        _pages(source)
        stamp.write_text(content)
    print(f"the book took {_minutes(time.time() - began)}")
    return html / "index.html"


def stage(profile: str, jobs: Sequence[Job]) -> Path:
    """Lay executed reports, their files and the downloads beside the prose; returns what the book is built from."""
    prose = study.root() / "book"
    source = prose if profile == _READER_PROFILE else study.results_dir(profile) / "book"
    if source != prose:
        _mirror(
            {path.relative_to(prose): path.read_bytes() for path in _prose(prose)}, source, keep=("_build", "executed")
        )
    files: dict[Path, bytes] = {}
    for job in jobs:
        if job.kind == "report":
            files[Path(f"{job.notebook}.ipynb")] = page(job)
            for path in _public(job):
                files[Path(job.notebook, path.name)] = path.read_bytes()
        else:
            files[Path("compute", f"{job.notebook}-{job.slug}.ipynb")] = (job.folder / NOTEBOOK).read_bytes()
    _mirror(files, source / "executed")
    tables = {
        Path(path.name): path.read_bytes()
        for job in jobs
        if job.kind == "report"
        for path in _public(job)
        if path.suffix == ".csv"
    }
    _mirror(tables, study.results_dir(profile) / _TABLES)
    if (board := tables.get(_BOARD)) is not None:
        _write(study.results_dir(profile) / _BOARD, board)
    return source


def _prose(folder: Path) -> list[Path]:
    skip = ("_build", "executed")
    return [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in skip]


def _public(job: Job) -> list[Path]:
    return sorted(
        path for path in job.folder.iterdir() if path.suffix not in (".parquet", ".ipynb") and path.name != MANIFEST
    )


def _mirror(files: Mapping[Path, bytes], folder: Path, *, keep: Sequence[str] = ()) -> None:
    """Make a folder hold exactly these files; those that are the same already keep their time."""
    for path in folder.rglob("*") if folder.is_dir() else ():
        name = path.relative_to(folder)
        if path.is_file() and name not in files and name.parts[0] not in keep:
            path.unlink()
    for name, content in files.items():
        _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def page(job: Job) -> bytes:
    """The executed notebook as the book takes it: code folded, parameters out of sight, no times and random ids."""
    import nbformat

    notebook = nbformat.read(job.folder / NOTEBOOK, as_version=4)
    notebook.metadata.pop("papermill", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        tags = cell.metadata.get("tags", [])
        cell.metadata = {key: value for key, value in cell.metadata.items() if key not in ("papermill", "execution")}
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        if {"parameters", "injected-parameters"} & set(tags):
            tags = [*tags, "remove-cell"]
        elif not any(tag.startswith(("hide-", "remove-", "show-input")) for tag in tags):
            bare = cell.source.startswith("run.") and "\n" not in cell.source  # bookkeeping, of no use to a reader
            tags = [*tags, ("remove-input" if bare else "hide-input") if cell.outputs else "remove-cell"]
        cell.metadata["tags"] = tags
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = None
    return (nbformat.writes(notebook) + "\n").encode()


def _source_digest(source: Path) -> str:
    total = hashlib.sha256()
    for path in sorted([*_prose(source), *(source / "executed").rglob("*"), study.root() / "_config.yml"]):
        if path.is_file():
            total.update(f"{path.relative_to(study.root())}\0".encode())
            total.update(path.read_bytes())
    return total.hexdigest()


def _pages(source: Path) -> None:
    """Sphinx on everything anew, for an incremental build would not repeat the warnings of pages it leaves alone.

    The pages are made beside the earlier ones and take their place when all are there.
    """
    began = time.time()
    built, html, new = source / "_build", source / "_build" / "html", source / "_build" / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    log = built / "sphinx.log"
    command = [
        *(sys.executable, "-c", _JUPYTER_BOOK, "build", str(source), "--config", str(study.root() / "_config.yml")),
        *("--path-output", str(new), "--all", "-n", "-W", "--keep-going"),
    ]
    with log.open("wb") as stream:
        code = subprocess.run(
            command, stdout=stream, stderr=subprocess.STDOUT, cwd=study.root(), check=False
        ).returncode
    made = new / "_build" / "html"
    if code or not (made / "index.html").is_file():
        text = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(encoding="utf-8", errors="replace"))
        told = [line for line in text.splitlines() if re.search(r"WARNING|ERROR|Error", line)]
        lines = ["the book does not build:", *(told[:40] or text.splitlines()[-30:]), f"all of it is in {log}"]
        raise RunError("\n".join(lines))
    shutil.rmtree(html, ignore_errors=True)
    made.rename(html)
    shutil.rmtree(new)
    print(f"pages in {_minutes(time.time() - began)}")


# --- the committed reference --------------------------------------------------


def reference(profile: str, only: str | None = None) -> Path:
    """Copy the tables of a profile to `data/reference/full/`, with the manifest of every run they come from.

    `only` names one study: what the folder holds of others stays, on the scoreboard too.
    """
    studies = study.table().studies
    if only is not None and only not in studies:
        raise unknown("study", only, studies)
    jobs = [job for job in study.plan(profile) if only in (None, job.study)]
    if missing := [job.label for job in jobs if not job.done]:
        raise DataError(
            f"the profile {profile} lacks {', '.join(missing)}: run python -m faithbook build --profile {profile}"
        )
    files: dict[Path, bytes] = {}
    for job in jobs:
        if job.kind == "report" and study.shareable(job.notebook):
            tables = [path for path in _public(job) if path.suffix == ".csv" and not path.stem.endswith("_shown")]
            files |= {Path(path.name): path.read_bytes() for path in tables}
    manifests = [json.loads(job.manifest.read_text(encoding="utf-8")) for job in jobs]
    folder = study.root() / "data" / "reference" / "full"
    if only is not None and (folder / MANIFEST).is_file():
        files = {Path(path.name): path.read_bytes() for path in folder.glob("*.csv")} | files
        before = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["runs"]
        manifests = [run for run in before if run["study"] != only] + manifests
        verdicts = [path for job in jobs if (path := job.folder / "verdicts.parquet").is_file()]
        if _BOARD in files and verdicts:
            from faithlib import compare  # slow to import, and no other verb needs it

            found = pd.concat(map(pd.read_parquet, verdicts))
            files[_BOARD] = judged_again(files[_BOARD], found, compare.to_judge())
    files[Path(MANIFEST)] = (json.dumps({"profile": profile, "runs": manifests}, indent=1) + "\n").encode()
    _mirror(files, folder, keep=("README.md",))
    return folder


def judged_again(board: bytes, verdicts: pd.DataFrame, to_judge: pd.DataFrame) -> bytes:
    """A scoreboard (csv) with these verdicts in the places of the earlier ones on the same ids, and at its end where
    there was none; the rest stays. `to_judge` has id, paper and kind of what is new.
    """
    rows = pd.read_csv(io.BytesIO(board), keep_default_na=False, dtype=str).set_index("id")
    new = verdicts.set_index("id")[["verdict", "n", "page", "note"]]
    new = new.assign(n=new["n"].astype("Int64").astype(str).replace("<NA>", ""))
    rows.update(new)
    places = to_judge[to_judge["id"].isin(new.index.difference(rows.index))].set_index("id")
    return pd.concat([rows, places.join(new)]).reset_index().to_csv(index=False, lineterminator="\n").encode()


# --- command line -------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m faithbook", description="Run the notebooks and build the book.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, text in {
        "run": "execute one notebook",
        "build": "execute every notebook of a profile that is not done",
        "book": "build, then make the pages",
        "plan": "list the notebooks of a profile and which are done",
        "train": "execute every training notebook, which replaces the checkpoints",
        "reference": "copy a profile's tables to data/reference/full",
    }.items():
        sub = verbs.add_parser(verb, help=text, description=text)
        sub.add_argument("--profile", default=_READER_PROFILE)
        if verb == "run":
            sub.add_argument("notebook", type=Path)
            sub.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
            sub.add_argument("--quiet", action="store_true", help="say nothing but errors")
        if verb == "reference":
            sub.add_argument("--study", help="only this study; what the folder holds of others stays")
        if verb in ("build", "book"):
            sub.add_argument("--cores", type=int, help="notebooks at a time (default: the cores of this machine)")
            sub.add_argument("extra", nargs="*", help="after `--`: options for Snakemake, such as --executor slurm")
    return parser


def _run_command(options: argparse.Namespace) -> None:
    given: dict[str, Any] = {name: yaml.safe_load(value) for name, value in options.parameters}
    if "profile" in given:
        raise InputError("give the profile as --profile NAME, not as -p profile NAME")
    job = study.make_job(options.notebook.resolve(), options.profile, given)
    if options.quiet:
        run(job)
    else:
        _report(job)


def _report(job: Job) -> None:
    began = time.time()
    print(f"{job.label}: {f'{time.time() - began:.1f} s' if run(job) else 'was done before'}, {job.folder}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; errors of faithlib end it with their message and status 1."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as an exception, so that children are told to stop too
    try:
        study.profile(options.profile)
        if options.verb == "run":
            _run_command(options)
        elif options.verb == "build":
            build(options.profile, cores=options.cores, extra=options.extra)
        elif options.verb == "book":
            print(f"open {book(options.profile, cores=options.cores, extra=options.extra)}")
        elif options.verb == "train":
            for job in study.trainings(options.profile):
                _report(job)
        elif options.verb == "plan":
            for job in study.plan(options.profile):
                print(f"{'done' if job.done else 'to do'}  {job.run_id}  {job.label}")
        else:
            print(f"reference results are in {reference(options.profile, options.study)}")
    except FaithlibError as error:
        print(f"faithlib: {error}", file=sys.stderr)
        return 1
    return 0
