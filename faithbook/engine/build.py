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
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from faithbook.engine import cluster, devices, machine, warm
from faithbook.engine.left import in_words, seconds_left, sizes_of
from faithbook.engine.parts import put_together
from faithbook.engine.plan import MANIFEST, NOTEBOOK, Job, plan, trainings
from faithbook.engine.profiles import find_profile, table
from faithbook.engine.run import RUN_VARIABLE
from faithbook.engine.trained import checkpoint_of, is_made
from faithbook.paths import results_dir, root
from faithlib.errors import DataError, FaithlibError

# glibc gives the memory of every large tensor back at once, and the system clears it anew for the next one: a tenth of
# the time of a forward pass. Kept in place of that, and in large pages; other systems know nothing of it.
_MALLOC = "GLIBC_TUNABLES"
_KEPT = ":".join(
    f"glibc.malloc.{name}={value}"
    for name, value in {"mmap_threshold": 2**30, "trim_threshold": 2**31, "hugetlb": 1}.items()
)
# What a kernel prints where it is told to end in the middle of something; what a cell raised has bars before its lines.
_OF_A_KERNEL = re.compile(
    r"^(?:Uncaught exception in .*\n)?Traceback \(most recent call last\):\n(?:[ \t].*\n)*\S.*(?:\n|\Z)", re.MULTILINE
)
_SECONDS_TO_END = 3
_STARTS, _NOT_STARTED = 3, "before replying"  # how often a kernel is started that ends before its first answer
_SECONDS_BETWEEN_LOOKS = 1
_SECONDS_BETWEEN_QUESTIONS = 5


class RunError(FaithlibError):
    """A notebook that raised, or a book that would not build."""


def run_job(job: Job) -> bool:
    """Execute a notebook unless its run is whole already; returns whether anything ran.

    A notebook that raises leaves its partial copy at `job.failed`, and nothing at `job.folder`.
    """
    if job.done:
        return False
    for earlier in job.before:
        if not earlier.done:
            reads = "is put together from" if earlier in job.parts else "reads"
            raise DataError(
                f"{job.label} {reads} {earlier.label}, which has not run; make book PROFILE={job.profile} does"
            )
    parent = job.folder.parent
    parent.mkdir(parents=True, exist_ok=True)
    with locked(parent / f".{job.folder.name}.lock"):
        if job.manifest.is_file():  # another process made it while this one waited
            return False
        for left in _unfinished(job):  # by a process that was killed: the lock says it is not alive
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{job.folder.name}.", suffix=".tmp", dir=parent))
        try:
            put_together(job, folder) if job.parts else _execute(job, folder)
            folder.chmod(0o755)
            shutil.rmtree(job.folder, ignore_errors=True)  # without its manifest it is no run: somebody took that away
            folder.rename(job.folder)
        finally:
            _stop_children()  # where this process was told to stop, its kernel may still compute
            shutil.rmtree(folder, ignore_errors=True)
    for left in parent.glob(f"{job.slug}-*.failed.ipynb"):
        left.unlink()
    return True


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
    told = json.dumps(
        {
            "source": str(job.source),
            "folder": str(folder),
            "run_id": job.run_id,
            "upstream": upstream,
            "loads": job.loads,
            "words": job.words,
        }
    )
    executed, began = folder / NOTEBOOK, time.time()
    with _device(job) as seen, _environment({RUN_VARIABLE: told, **kernel_environment(), **seen}):
        try:
            _to_its_end(notebook, executed, job)
        except papermill.PapermillExecutionError as error:
            executed.replace(job.failed)
            raise RunError(
                f"{job.label} raised {error.ename}: {error.evalue}{_answered(error.traceback)}\n"
                f"{_cause(error.traceback)}\n"
                f"its partial notebook is {job.failed}"
            ) from None
        except DeadKernelError:
            executed.replace(job.failed)
            raise RunError(
                f"{job.label}: its kernel was killed, by somebody, or by the system because memory ran out. Run the "
                "same command again; where memory is short, with fewer notebooks at a time (CORES=1)\n"
                f"its partial notebook is {job.failed}"
            ) from None
    if job.kind == "train":  # leaves checkpoints with cards of their own, not results
        (folder / MANIFEST).write_text(json.dumps(_trained(job, time.time() - began), indent=1) + "\n")
    if not (folder / MANIFEST).is_file():
        executed.replace(job.failed)
        raise RunError(
            f"{job.label} came to its end without `run.finish()`, which must be its last cell; see {job.failed}"
        )


def _trained(job: Job, seconds: float) -> dict[str, Any]:
    """The manifest of a training: what the next one of its kind can be told by. Memory is that of the largest process
    below this one, which a kernel is where no warm process stands between."""
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    told = {"notebook": job.notebook, "kind": job.kind, "profile": job.profile, "parameters": dict(job.parameters)}
    return told | {"run_id": job.run_id, "seconds": round(seconds, 2), "memory_bytes": largest}


def _to_its_end(notebook: Any, executed: Path, job: Job) -> None:
    """Let papermill run a notebook. Ports of a kernel are chosen before it starts, and another process may take one
    meanwhile: a kernel that ends before its first answer has run nothing, and is started again."""
    import papermill

    for left in reversed(range(_STARTS)):
        try:
            papermill.execute_notebook(
                notebook,
                executed,
                dict(job.parameters),
                kernel_name="python3",
                progress_bar=sys.stderr.isatty(),  # of cells; in a build the lines of notebooks tell
                cwd=str(root()),
                **_kernels(),
            )
            return
        except RuntimeError as error:
            if not left or _NOT_STARTED not in str(error):
                raise


def _device(job: Job) -> contextlib.AbstractContextManager[dict[str, str]]:
    """A place at a GPU of this machine for a notebook that uses one."""
    return devices.held() if job.uses_device else contextlib.nullcontext({})


def _kernels() -> dict[str, Any]:
    """How papermill gets a kernel: during a build as a copy of the warm process, else as ever."""
    if warm.SOCKET not in os.environ:
        return {}
    from jupyter_client.manager import AsyncKernelManager

    class CopiedKernels(AsyncKernelManager):
        def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
            command = super().format_kernel_cmd(extra_arguments)
            place = command.index("-m")  # a kernel may be started with options of Python before it
            return [*command[:place], "-m", warm.__name__, *command[place + 1 :]]

    return {"kernel_manager_class": CopiedKernels}


def _cause(traceback: Sequence[str]) -> str:
    return "\n".join(f"  | {line}" for line in _plain(traceback).splitlines()[-12:])


def _answered(traceback: Sequence[str]) -> str:
    """The hub's own answer where one is behind an error: its client makes "no connection" of most of them."""
    said = re.findall(r"^HfHubHTTPError: (\d{3} .+)$", _plain(traceback), flags=re.MULTILINE)
    return f" (the hub's answer: {said[-1]})" if said else ""


def _plain(traceback: Sequence[str]) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))


def kernel_environment() -> dict[str, str]:
    """What a kernel reads when it starts: how many threads, and how it is given memory.

    Two notebooks at one thread each are faster on two cores than one after the other at two threads.
    """
    number = str(machine.threads())
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    memory = {_MALLOC: os.environ.get(_MALLOC, _KEPT)}
    return {**dict.fromkeys(names, number), **memory, "TOKENIZERS_PARALLELISM": "false"}


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def build(
    profile: str, *, study: str | None = None, cores: int | None = None, extra: Sequence[str] = ()
) -> tuple[Job, ...]:
    """Run every notebook of the plan (of one `study` alone) that is not there yet, showing a line for each; returns the
    plan.

    A second build of the profile waits for the first: Snakemake plans once, and would do again what the other has done
    since.
    """
    folder = results_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    place = cluster.chosen()
    with locked(folder / "build.lock"):
        _wait_for_queue(profile, place)
        return _Build(profile, study, place).go(lambda: plan(profile, study), cores, extra)


def train(profile: str, *, study: str | None = None, missing: bool = False, cores: int | None = None) -> None:
    """Run the training notebooks of a profile (of one `study` alone), as many at a time as a build would, here or as
    jobs of a cluster; `missing`: only those whose checkpoints are not there, which may be none. `trainings` says what
    it raises."""
    grids = find_profile(profile).trains
    if missing and not (grids.get(study) if study in table().studies else grids):
        print(f"the profile {profile} trains nothing{f' for the study {study}' if study else ''}")
        return
    every = trainings(profile, study)  # raises before anything waits
    place = cluster.chosen()
    folder = results_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "build.lock"):
        _wait_for_queue(profile, place)
        for job in every:
            if is_made(job) and missing:
                print(f"{job.label}: {checkpoint_of(job)} is there")
            elif not is_made(job):  # who takes a checkpoint away wants it made again
                job.manifest.unlink(missing_ok=True)

        def wanted() -> tuple[Job, ...]:
            return tuple(job for job in trainings(profile, study) if not (missing and is_made(job)))

        _Build(profile, study, place, trains="missing" if missing else "all").go(wanted, cores, ())


def _wait_for_queue(profile: str, place: cluster.Cluster | None) -> None:
    """Wait for jobs that an earlier call has left in the cluster's queue: they do what would be submitted again."""
    if place is None:
        return
    said: list[str] = []
    while left := cluster.queued(place, profile):
        if not said:
            ends = f"`scancel {' '.join(left)}` ends them instead"
            print(f"waiting for {_jobs(left)} of an earlier call; {ends}", flush=True)
        said = left
        time.sleep(_SECONDS_BETWEEN_QUESTIONS)


def _jobs(numbers: Sequence[str]) -> str:
    return f"{len(numbers)} job{'s' if len(numbers) > 1 else ''} in the queue"


@dataclass(frozen=True)
class _Build:
    """One call of Snakemake: which jobs, and where they run (None: here)."""

    profile: str
    study: str | None
    place: cluster.Cluster | None
    trains: str = ""  # what Snakefile is told of trainings: "", "all" or "missing"

    def go(self, planned: Callable[[], tuple[Job, ...]], cores: int | None, extra: Sequence[str]) -> tuple[Job, ...]:
        """Run those of the planned jobs that are not done, showing a line for each; returns all. RunError says why some
        did not end."""
        began = time.time()
        jobs = planned()
        todo = [job for job in jobs if not job.done]
        console = Console(highlight=False, soft_wrap=True)
        of = f", study {self.study}" if self.study else ""
        console.print(f"profile {self.profile}{of}: {len(jobs)} notebooks, {len(jobs) - len(todo)} of them done before")
        if not todo:
            return jobs
        if self.place is not None:
            console.print(f"{self.place.executor}: at most {self.place.queue} of them in the queue at a time")
        folder = results_dir(self.profile)
        log = folder / "snakemake.log"
        notebooks = 0 if self.place else len(todo)  # nodes of a cluster have no warm process
        with log.open("wb") as stream, warm.warmed(notebooks, kernel_environment()) as told:
            process = subprocess.Popen(
                self._command(cores, extra),
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **self._told_jobs(), **told},
            )
            try:
                _watch(process, todo, began, console)
            finally:
                if process.poll() is None:  # told to stop; left to itself, Snakemake waits for the notebooks that run
                    _stop_children(first=process.pid)
                    self._say_what_goes_on()
        if process.returncode or not all(job.done for job in todo):
            raise RunError(_why(todo, log, planned))
        console.print(f"{len(todo)} notebooks in {minutes(time.time() - began)}")
        return jobs

    def _command(self, cores: int | None, extra: Sequence[str]) -> list[str]:
        number = cores or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        told = {"profile": self.profile, "study": self.study, "trains": self.trains}
        places = [] if self.place else devices.places()
        return [
            *(sys.executable, "-m", "snakemake", "--snakefile", str(root() / "notebooks" / "Snakefile")),
            *("--config", *(f"{key}={value}" for key, value in told.items() if value)),
            *(cluster.options(self.place, self.profile) if self.place else ("--cores", str(number))),
            *(("--resources", f"gpu={len(places)}") if places else ()),
            *("--keep-going", *(() if self.place else ("--quiet", "all"))),  # of a cluster it says how jobs ended
            # A run that is there is whole and belongs to exactly these inputs: Snakemake need remember nothing of its
            # own, and must take none away, as it would where a job is lost after its end.
            *("--nolock", "--ignore-incomplete", "--keep-incomplete", "--drop-metadata", "--rerun-triggers", "mtime"),
            *extra,
        ]

    def _told_jobs(self) -> dict[str, str]:
        """What all jobs are told, on whichever node: the precision, and here the GPUs that they share."""
        places = [] if self.place else devices.places()
        return {machine.PRECISION: machine.precision(), **({devices.DEVICES: ",".join(places)} if places else {})}

    def _say_what_goes_on(self) -> None:
        if self.place and (left := cluster.queued(self.place, self.profile)):
            print(f"{_jobs(left)} will end by itself; `scancel {' '.join(left)}` ends it now", file=sys.stderr)


def _watch(process: subprocess.Popen[bytes], todo: Sequence[Job], began: float, console: Console) -> None:
    """A line for each notebook as it ends, with the time left; on a terminal also what runs now, and for how long."""
    waiting, since = {job.folder: job for job in todo}, dict[str, float]()
    sizes, took, looked = sizes_of(todo), dict[str, float](), began

    def time_left() -> str:
        now = time.time()
        running = {job.label: now - since[job.label] for job in waiting.values() if job.label in since}
        return in_words(seconds_left(sizes, took, running, now - began, pace=1)) if waiting else ""

    with console.status("starting") as status:
        while True:
            ended = process.poll() is not None  # before the look, so that the last look sees everything
            for folder, job in list(waiting.items()):
                whole = (folder / MANIFEST).is_file()
                if whole or _has_failed(job, began):
                    del waiting[folder]
                    took[job.label] = time.time() - since.get(job.label, looked)
                    word = "done  " if whole else "FAILED"
                    line = f"[{len(took):>3}/{len(todo)}] {word} {job.label:<36} {took[job.label]:6.1f} s"
                    console.print(", ".join(filter(None, [line, time_left()])), markup=False)
                elif job.label not in since and _unfinished(job):
                    since[job.label] = time.time()
            looked = time.time()
            running = [
                f"{job.label} {looked - since[job.label]:.0f} s" for job in waiting.values() if job.label in since
            ]
            told = [f"{minutes(looked - began)}: {', '.join(running) or 'scheduling'}", time_left()]
            status.update("; ".join(filter(None, told)))
            if ended:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_BETWEEN_LOOKS)


def _has_failed(job: Job, began: float) -> bool:
    return job.failed.is_file() and job.failed.stat().st_mtime >= began


def _why(todo: Sequence[Job], log: Path, planned: Callable[[], tuple[Job, ...]]) -> str:
    missing = [job for job in todo if not job.done]
    if {job.folder for job in missing} - {job.folder for job in planned()}:
        return "notebooks, library, settings or data changed during the build: run the same command again"
    broken = [job for job in missing if job.failed.is_file()]
    text = log.read_text(encoding="utf-8", errors="replace")
    told = [*_messages(text), *cluster.why(text, missing)]
    share = f" ({len(broken)} failed, the others wait for them)" if broken else ""
    lines = [f"{len(missing)} of {len(todo)} notebooks did not end{share}"]
    lines += told or [f"the end of {log}:", *text.splitlines()[-25:]]
    lines.append(
        "earlier results are untouched; mend the cause and run the same command again: finished notebooks stay done"
    )
    return "\n".join(lines)


def _messages(log: str) -> list[str]:
    """What notebooks that raised have said in a log of Snakemake, each message once."""
    said = _OF_A_KERNEL.sub("", log)
    found = re.findall(r"^faithlib: .*(?:\n(?!faithlib: |Error|\[).*)*", said, flags=re.MULTILINE)
    return list(dict.fromkeys(message.rstrip() for message in found))


def minutes(seconds: float) -> str:
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
