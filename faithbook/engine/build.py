"""Running notebooks: one into a folder of its own, or through Snakemake all of a profile that are not there yet.

Everything can be killed at any moment and started again: a lock that dies with its process, and one atomic rename a
run, are all the state there is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from faithbook.engine import devices, machine, warm
from faithbook.engine.digests import digest
from faithbook.engine.plan import (
    MANIFEST,
    NOTEBOOK,
    REFERENCE,
    RULES,
    Job,
    from_specification,
    make_job,
    plan,
    specification,
    trainings,
    with_upstream,
)
from faithbook.engine.trained import checkpoint_of, is_made, waits_for
from faithbook.paths import results_dir, root
from faithlib import errors
from faithlib.errors import DataError, FaithlibError, InputError

# glibc gives the memory of every large tensor back at once, and the system clears it again for the next one: a tenth of
# the time of a forward pass. Kept instead of that, and in large pages; other systems know nothing of it.
_MALLOC = "GLIBC_TUNABLES"
_KEPT = ":".join(
    f"glibc.malloc.{name}={value}"
    for name, value in {"mmap_threshold": 2**30, "trim_threshold": 2**31, "hugetlb": 1}.items()
)
_SECONDS_TO_END = 3
_SECONDS_BETWEEN_LOOKS = 1
# A run that is there is whole and belongs to exactly these inputs: Snakemake need remember nothing of its own, and must
# take none away, as it would where a job is lost after its end.
_FORGETTING = ("--nolock", "--ignore-incomplete", "--keep-incomplete", "--drop-metadata", "--rerun-triggers", "mtime")
_ELSEWHERE = ("--workflow-profile", "--profile", "--executor", "-e")
"""The options for Snakemake that say where jobs run; without them they run here."""


class RunError(FaithlibError):
    """A notebook that raised, or a book that would not build."""


def run_job(job: Job) -> bool:
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
    with locked(parent / f".{job.folder.name}.lock"):
        if job.manifest.is_file():  # another process made it while this one waited
            return False
        for unfinished in _unfinished(job):  # by a process that was killed: the lock says it is not alive
            shutil.rmtree(unfinished, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{job.folder.name}.", suffix=".tmp", dir=parent))
        try:
            _execute(job, folder)
            folder.chmod(0o755)  # a temporary folder is made for its owner alone, and runs are read by others too
            shutil.rmtree(job.folder, ignore_errors=True)  # without its manifest it is no run: somebody took that away
            folder.rename(job.folder)
        except (FaithlibError, OSError) as error:
            _write_error(job, error)
            raise
        finally:
            _stop_children()  # where this process was told to stop, its kernel may still compute
            shutil.rmtree(folder, ignore_errors=True)
    for earlier_failure in parent.glob(f"{job.slug}-*.failed.*"):
        earlier_failure.unlink(missing_ok=True)  # another process may take it away too
    return True


def _write_error(job: Job, error: Exception) -> None:
    """Write down why a run failed, for the build that waits for it."""
    with contextlib.suppress(OSError):
        job.error_file.parent.mkdir(parents=True, exist_ok=True)
        job.error_file.write_text(f"faithlib: {error}\n", encoding="utf-8")


def end_kernels() -> None:
    """Kill the kernels that this process has started: one that is asked to end prints where it was."""
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if any("ipykernel" in word for word in process.cmdline()):
                process.kill()


def _stop_children(*, first: int | None = None) -> None:
    """End all processes below this one, the one that starts others first; they have three seconds to end by themselves.

    Nothing is lost by it: a run that has not come to its end was none.
    """
    if first is not None and psutil.pid_exists(first):
        psutil.Process(first).suspend()  # so that the list below is whole
    below = psutil.Process().children(recursive=True)
    for process in below:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill() if process.pid == first else process.terminate()
    for process in psutil.wait_procs(below, timeout=_SECONDS_TO_END)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _unfinished(job: Job) -> list[Path]:
    return list(job.folder.parent.glob(f".{job.folder.name}.*.tmp"))


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that the operating system gives up with the process, however that ends."""
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _execute(job: Job, folder: Path) -> None:
    import jupytext
    import papermill
    from nbclient.exceptions import DeadKernelError

    notebook = jupytext.read(job.source)
    notebook["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    upstream = [str(earlier.folder) for earlier in job.upstream]
    its_run = {"job": specification(job), "folder": str(folder), "upstream": upstream}
    run_as_json = json.dumps({**machine.build_context(), **its_run})
    executed, began = folder / NOTEBOOK, time.time()
    with devices.held(wanted=job.kind != "report") as seen, tempfile.TemporaryDirectory() as sockets:
        environment = {**os.environ, machine.RUN: run_as_json, **kernel_environment(), **seen}
        try:
            papermill.execute_notebook(
                notebook,
                executed,
                dict(job.parameters),
                kernel_name="python3",
                progress_bar=sys.stderr.isatty(),  # of cells; in a build the lines of notebooks tell
                cwd=str(root()),
                kernel_manager_class=_kernels(sockets, environment),
            )
        except (papermill.PapermillExecutionError, DeadKernelError) as error:
            executed.replace(job.failed)
            raise RunError(f"{job.label}{_what_happened(error)}\nits partial notebook is {job.failed}") from None
    if job.kind == "train":  # leaves checkpoints with cards of their own, not results
        about = {name: getattr(job, name) for name in ("notebook", "kind", "profile", "parameters", "run_id")}
        about["seconds"] = round(time.time() - began, 2)
        (folder / MANIFEST).write_text(json.dumps(about, indent=1) + "\n")
    if not (folder / MANIFEST).is_file():
        executed.replace(job.failed)
        raise RunError(
            f"{job.label} came to its end without `run.finish()`, which must be its last cell; see {job.failed}"
        )


def _kernels(folder: str, environment: Mapping[str, str]) -> Any:
    """How papermill gets a kernel in this environment: reached through files of a folder, for ports of this machine
    another process may take meanwhile; during a build as a copy of the warm process."""
    from jupyter_client.manager import AsyncKernelManager

    class Kernels(AsyncKernelManager):
        def __init__(self, **options: Any) -> None:
            super().__init__(transport="ipc", ip=f"{folder}/kernel", **options)

        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]  # it is decorated there
            await super().start_kernel(env=dict(environment), **options)

        def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
            command = super().format_kernel_cmd(extra_arguments)
            if warm.WARM not in machine.build_context():
                return command
            place = command.index("-m")  # a kernel may be started with options of Python before it
            return [*command[:place], "-m", warm.__name__, *command[place + 1 :]]

    return Kernels


def _what_happened(error: Any) -> str:
    """What happened to a notebook: what it raised, with the end of the traceback, or that its kernel died."""
    if not hasattr(error, "traceback"):
        return (
            ": its kernel was killed, by somebody, or by the system because memory ran out. Run the same command "
            "again; where memory is short, with fewer notebooks at a time (CORES=1)"
        )
    lines = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback)).splitlines()
    return "\n".join([f" raised {error.ename}: {error.evalue}", *(f"  | {line}" for line in lines[-12:])])


def kernel_environment() -> dict[str, str]:
    """What a kernel reads when it starts: how many threads, and how it is given memory.

    Two notebooks at one thread each are faster on two cores than one after the other at two threads.
    """
    number = str(machine.threads())
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    memory = {_MALLOC: os.environ.get(_MALLOC, _KEPT)}
    return {**dict.fromkeys(names, number), **memory, "TOKENIZERS_PARALLELISM": "false"}


def build(
    profile: str,
    *,
    study: str | None = None,
    values: str = REFERENCE,
    cores: int | None = None,
    extra: Sequence[str] = (),
) -> tuple[Job, ...]:
    """Run every notebook of the plan (of one `study` alone) that is not there yet, showing a line for each; returns the
    plan. `values`: whose the reports show (`plan.WHOSE`); `extra`: options for Snakemake.

    A second build of the profile waits for the first, and then plans.
    """
    with _alone(profile):
        jobs = plan(profile, study, values)
        _schedule(profile, study, jobs, cores, extra)
    return jobs


def train(
    profile: str,
    *,
    study: str | None = None,
    missing: bool = False,
    cores: int | None = None,
    extra: Sequence[str] = (),
) -> None:
    """Run the training notebooks of a profile (of one `study` alone) as a build runs others; `missing`: only those
    whose checkpoints are not there, which may be none; else InputError where nothing is trained."""
    with _alone(profile):
        jobs = trainings(profile, study)
        if not jobs:
            nothing = f"the profile {profile} trains nothing"
            if study:
                nothing += f" for the study {study}"
            if not missing:
                raise InputError(nothing)
            print(nothing)
            return
        for job in jobs:
            if is_made(job) and missing:
                print(f"{job.label}: {checkpoint_of(job)} is there")
            elif not is_made(job):  # who takes a checkpoint away wants it made again
                job.manifest.unlink(missing_ok=True)
        _schedule(profile, study, [job for job in jobs if not (missing and is_made(job))], cores, extra)


@contextlib.contextmanager
def _alone(profile: str) -> Iterator[None]:
    folder = results_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "build.lock"):
        yield


def _schedule(profile: str, study: str | None, jobs: Sequence[Job], cores: int | None, extra: Sequence[str]) -> None:
    """Let Snakemake run those of the jobs that are not done, showing a line for each; RunError says why some did not
    end."""
    began, todo = time.time(), [job for job in jobs if not job.done]
    console = Console(highlight=False, soft_wrap=True)
    of = f", study {study}" if study else ""
    console.print(f"profile {profile}{of}: {len(jobs)} notebooks, {len(jobs) - len(todo)} of them done before")
    if not todo:
        return
    for job in todo:
        job.error_file.unlink(missing_ok=True)  # of an earlier build
    folder, planned = results_dir(profile), _written_plan(todo)
    log = folder / "snakemake.log"
    is_local = not any(word.partition("=")[0] in _ELSEWHERE for word in extra)
    cores = cores or len(os.sched_getaffinity(0))
    # All jobs have one precision, on whichever machine, and of the hub what its cache holds: one commit of a model.
    of_all_jobs = {machine.PRECISION: machine.precision(), "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as stream, warm.warmed(len(todo) if is_local else 0, kernel_environment()) as started:
        process = subprocess.Popen(
            [*_snakemake(folder, planned), *(_on_this_machine(cores) if is_local else ()), *extra],
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=root(),
            env={
                **os.environ,
                **of_all_jobs,
                machine.RUN: json.dumps({**devices.shared_gpus(), **started} if is_local else {}),
            },
        )
        try:
            _watch(process, todo, began, console)
        finally:
            if process.poll() is None:  # told to stop; left to itself, Snakemake waits for the notebooks that run
                _stop_children(first=process.pid)
    if process.returncode or not all(job.done for job in todo):
        raise RunError(_why(todo, log))
    planned.unlink()
    console.print(f"{len(todo)} notebooks in {minutes(time.time() - began)}")


def _written_plan(todo: Sequence[Job]) -> Path:
    """Write down what is to be done, for Snakemake and for the processes that run it, on whichever machine. The file is
    named by its content, so that jobs of an earlier call that wait in the queue of a cluster find their own."""
    names = {job.name for job in todo}
    after: dict[str, list[str]] = {}
    for job in todo:
        before = (*job.upstream, *waits_for(job, todo))
        after[job.name] = [earlier.name for earlier in before if earlier.name in names]
    content = {
        "after": after,
        "rules": {rule: sorted({job.notebook for job in todo if job.rule == rule}) for rule in RULES},
        # Those that are done as well: the others are read from what they read.
        "jobs": {name: specification(job) for name, job in with_upstream(todo).items()},
    }
    path = results_dir(todo[0].profile) / "plans" / f"{digest(content)}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def planned_job(path: Path, name: str) -> Job:
    """One of the jobs that a build has written down.

    Raises DataError where code, settings or pins were edited since, so that it would compute something else.
    """
    jobs: dict[str, Job] = {}
    for planned, values in json.loads(path.read_text(encoding="utf-8"))["jobs"].items():  # each after those it reads
        jobs[planned] = from_specification(values, (jobs[earlier] for earlier in values["upstream"]))
    job = jobs[name]
    # Times are looked at first, for to plan a job again is to read all code that it reaches; and what was edited may
    # have been words, which leave its id as it is.
    if _edited_since(path) and make_job(job.source, job.profile, job.parameters).run_id != job.run_id:
        error = DataError(
            f"{job.label}: notebooks, library or settings changed during the build: run the same command again"
        )
        _write_error(job, error)
        raise error
    return job


def _edited_since(plan_file: Path) -> bool:
    written = plan_file.stat().st_mtime_ns
    # By a module of each package: to import `faithlib` itself would be to reach all of it.
    folders = (Path(errors.__file__).parent, Path(__file__).parents[1], root() / "notebooks")
    files = [root() / "requirements.lock"]
    for folder in folders:
        files += [*folder.rglob("*.py"), *folder.rglob("*.yaml")]
    return any(path.stat().st_mtime_ns > written for path in files)


def _snakemake(folder: Path, planned: Path) -> list[str]:
    line = [sys.executable, "-m", "snakemake", "--snakefile", str(root() / "notebooks" / "Snakefile")]
    return [*line, "--directory", str(folder), "--config", f"plan={planned}", "--keep-going", *_FORGETTING]


def _on_this_machine(cores: int) -> list[str]:
    gpus = devices.visible()
    return ["--cores", str(cores), "--quiet", "all", *(["--resources", f"gpu={len(gpus)}"] if gpus else [])]


def _watch(process: subprocess.Popen[bytes], todo: Sequence[Job], began: float, console: Console) -> None:
    """A line for each notebook as it ends; on a terminal also what runs now."""
    waiting = list(todo)
    with console.status("starting") as status:
        while True:
            ended = process.poll() is not None  # before the look, so that the last look sees everything
            for job in [job for job in waiting if job.done or job.error_file.is_file()]:
                waiting.remove(job)
                word = f"done   {job.label:<36} {_seconds(job):6.1f} s" if job.done else f"FAILED {job.label}"
                console.print(f"[{len(todo) - len(waiting):>3}/{len(todo)}] {word}", markup=False)
            running = ", ".join(job.label for job in waiting if _unfinished(job)) or "scheduling"
            status.update(f"{minutes(time.time() - began)}: {running}")
            if ended:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_BETWEEN_LOOKS)


def _seconds(job: Job) -> float:
    return float(json.loads(job.manifest.read_text(encoding="utf-8"))["seconds"])


def _why(todo: Sequence[Job], log: Path) -> str:
    missing = [job for job in todo if not job.done]
    error_texts = [job.error_file.read_text(encoding="utf-8").rstrip() for job in missing if job.error_file.is_file()]
    share = f" ({len(error_texts)} failed, the others wait for them)" if error_texts else ""
    lines = [f"{len(missing)} of {len(todo)} notebooks did not end{share}"]
    lines += dict.fromkeys(error_texts)
    if not error_texts:
        lines += [f"the end of {log}:", *log.read_text(encoding="utf-8", errors="replace").splitlines()[-25:]]
    lines.append(
        "earlier results are untouched; mend the cause and run the same command again: finished notebooks stay done"
    )
    return "\n".join(lines)


def minutes(seconds: float) -> str:
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
