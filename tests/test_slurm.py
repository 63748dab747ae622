"""Builds on a real Slurm of one node: whole, with jobs killed and out of time, and without their coordinator."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import one_node
import pytest
import tiny

from faithbook.engine import machine
from faithbook.engine.plan import Job, plan

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("slurm"),  # one worker: there is one Slurm on a machine
    pytest.mark.skipif(bool(one_node.missing()), reason=one_node.missing() or "Slurm can be started"),
]
Stopped = tuple[Path, subprocess.Popen[str], str]
# What a job finds around it, for the test to see.
SEES = """
# %%
names = ("FAITHLIB_PRECISION", "FAITHLIB_DATA", "HF_HOME", "FAITHLIB_WARM", "SLURM_JOB_ID")
(root() / f"seen-{dataset}").write_text(" ".join(os.environ.get(name, "-") for name in names))

# %%
run.finish()
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a build on the cluster."""
    with one_node.running(tmp_path_factory.mktemp("slurm")) as told:
        asked = {"FAITHLIB_EXECUTOR": "slurm", "FAITHLIB_PARTITION": "gpu", "FAITHLIB_MEMORY": "1"}
        yield {**told, **asked, "FAITHLIB_QUEUE": "2", "FAITHLIB_DATA": "/shared/data", "HF_HOME": "/shared/hub"}


def a_home(folder: Path) -> Path:
    home = tiny.make_home(folder)
    source = home / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text().removesuffix("run.finish()\n") + SEES)
    return home


def start(home: Path, slurm: dict[str, str], **more: str) -> subprocess.Popen[str]:
    """A build whose jobs are asked after often."""
    words = ("build", "--profile", "smoke", "--", "--slurm-init-seconds-before-status-checks", "2")
    line, environment = tiny.command(home, *words)
    for name in (machine.PRECISION, "FAITHLIB_WARM"):
        environment.pop(name, None)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(line, env={**environment, **slurm, **more}, text=True, start_new_session=True, **streams)


def until(condition: Callable[[], object], what: str, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.2)


def jobs_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Job, Job, Job]:
    monkeypatch.setenv("FAITHLIB_HOME", str(home))
    movie, bbc, report = plan("smoke")
    return movie, bbc, report


def asked_of(slurm: dict[str, str], job: Job) -> str:
    """What Slurm knows of the newest job of a run; the same runs in another home have logs in another folder."""
    log = rf"StdOut={job.folder.parents[2]}/slurm/rule_{job.notebook}_{job.run_id}/"
    every = one_node.ask(slurm, "scontrol", "show", "job").split("\n\n")
    return next((one for one in reversed(every) if log in one), "JobId=0")


def number_of(slurm: dict[str, str], job: Job) -> str:
    return re.search(r"JobId=(\d+)", asked_of(slurm, job))[1]


def begun(home: Path, dataset: str) -> int:
    path = home / "calls"
    return path.read_text().splitlines().count(f"begin {dataset}") if path.is_file() else 0


@pytest.fixture(scope="module")
def stopped(slurm: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    """A home whose two computations have a minute and do not end by themselves, its build, and the job of one of them,
    which was cancelled; the build goes on beside the others, until the minute is over."""
    home = a_home(tmp_path_factory.mktemp("stopped"))
    for name in ("movie", "bbc"):
        (home / f"wait-{name}").touch()
    process = start(home, slurm, FAITHLIB_HOURS="0.01")
    with pytest.MonkeyPatch.context() as patch:
        movie, *_ = jobs_of(home, patch)
        until(lambda: "JobState=RUNNING" in asked_of(slurm, movie), "a job to cancel")
        cancelled = number_of(slurm, movie)
        one_node.ask(slurm, "scancel", cancelled)
    yield home, process, cancelled
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.fixture(scope="module")
def cut(slurm: dict[str, str], stopped: Stopped, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose coordinator was killed while one job was done and the other in the middle, and started again."""
    home = a_home(tmp_path_factory.mktemp("cut"))
    (home / "wait-bbc").touch()
    killed = start(home, slurm)
    with pytest.MonkeyPatch.context() as patch:
        movie, bbc, _ = jobs_of(home, patch)
        until(lambda: movie.done and begun(home, "bbc"), "one job done and one in the middle")
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        again = start(home, slurm)
        assert again.stdout is not None
        waits = re.fullmatch(
            r"waiting for \d jobs? in the queue of an earlier call; `scancel (.*)` ends them instead\n",
            again.stdout.readline(),
        )
        assert waits is not None and number_of(slurm, bbc) in waits[1].split()
        (home / "wait-bbc").unlink()
        said, wrong = again.communicate(timeout=240)
        assert again.returncode == 0, wrong
        assert "3 notebooks, 2 of them done before" in said  # the job has ended by itself
    return home


def test_jobs_ask_for_a_gpu_time_and_memory_and_find_what_all_share(
    slurm: dict[str, str], cut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    movie, bbc, report = jobs_of(cut, monkeypatch)
    computed, reported = asked_of(slurm, movie), asked_of(slurm, report)
    assert "TresPerJob=gres:gpu:1" in computed
    assert "TimeLimit=04:00:00" in computed
    assert "MinMemoryNode=1000M" in computed
    assert "gres:gpu" not in reported
    assert "TimeLimit=00:30:00" in reported
    for name, job in (("movie", movie), ("bbc", bbc)):
        expected = [machine.precision(), "/shared/data", "/shared/hub", "-", number_of(slurm, job)]
        assert (cut / f"seen-{name}").read_text().split() == expected


def test_jobs_killed_or_out_of_time_say_so_and_a_build_without_its_coordinator_makes_what_the_next_one_makes(
    slurm: dict[str, str], stopped: Stopped, cut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, first, killed = stopped
    movie, bbc, report = jobs_of(home, monkeypatch)
    late = number_of(slurm, bbc)
    _, wrong = first.communicate(timeout=240)
    assert first.returncode == 1
    assert "3 of 3 notebooks did not end\n" in wrong
    assert f"count movie 0: job {killed} was cancelled" in wrong
    told = f"count bbc 0: job {late} reached its time limit; the next call asks for 2 times the time"
    assert told in wrong
    assert not movie.done and not bbc.done

    for name in ("movie", "bbc"):
        (home / f"wait-{name}").unlink()
    again = start(home, slurm, FAITHLIB_HOURS="0.1")
    said, wrong = again.communicate(timeout=240)
    assert again.returncode == 0, wrong
    assert "slurm: at most 2 of them in the queue at a time" in said
    assert "TimeLimit=00:12:00" in asked_of(slurm, bbc)
    assert "TimeLimit=00:06:00" in asked_of(slurm, movie)

    made = [tables(job) for job in (movie, bbc, report)]
    assert all(made)
    assert made == [tables(job) for job in jobs_of(cut, monkeypatch)]
    assert begun(cut, "movie") == begun(cut, "bbc") == 1


def tables(job: Job) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for end in ("*.parquet", "*.csv") for path in sorted(job.folder.glob(end))}
