"""Builds on a real Slurm of one node: whole, with jobs cancelled or out of time, and without their coordinator."""

from __future__ import annotations

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
# What a job finds around it, for the test to see.
SEES = """
# %%
import json

names = ("FAITHLIB_PRECISION", "FAITHLIB_DATA", "HF_HOME", "SLURM_JOB_ID")
handed = sorted(set(json.loads(os.environ["FAITHLIB_RUN"])) - {"job", "folder", "upstream"})
(root() / f"seen-{dataset}").write_text(" ".join([*(os.environ[name] for name in names), *handed]))

# %%
run.finish()
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a build on the cluster."""
    with one_node.running(tmp_path_factory.mktemp("slurm")) as told:
        yield {**told, "FAITHLIB_DATA": "/shared/data", "HF_HOME": "/shared/hub"}


def a_home(folder: Path) -> Path:
    home = tiny.make_home(folder)
    source = home / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text().removesuffix("run.finish()\n") + SEES)
    return home


def start(home: Path, slurm: dict[str, str], *more: str, **asked: str | int) -> subprocess.Popen[str]:
    """A build with our workflow profile, whose jobs are asked after often; `asked`: of computations, in place of it."""
    words = ["build", "--profile", "smoke", "--", "--workflow-profile", str(tiny.REPOSITORY / "notebooks" / "slurm")]
    words += ["--slurm-init-seconds-before-status-checks", "2", *more]
    asked = {"gpu": 1, "runtime": "240 * attempt", "mem_mb": "1000 * attempt", **asked}
    words += ["--set-resources", *(f"compute:{name}={value}" for name, value in asked.items())]
    line, environment = tiny.command(home, *words)
    environment.pop(machine.PRECISION, None)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(line, env={**environment, **slurm}, text=True, start_new_session=True, **streams)


def until(condition: Callable[[], object], what: str, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.2)


def jobs_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Job, Job, Job]:
    monkeypatch.setenv("FAITHLIB_HOME", str(home))
    movie, bbc, report = plan("smoke")
    return movie, bbc, report


def asked_of(slurm: dict[str, str], job: Job) -> list[str]:
    """What Slurm knows of the jobs of a run; the same runs in another home have logs in another folder."""
    log = rf"StdOut={job.folder.parents[2]}/slurm/rule_{job.rule}/{job.notebook}_{job.folder.name}/"
    every = one_node.ask(slurm, "scontrol", "show", "job").split("\n\n")
    return [line for line in every if log in line]


def number_of(asked: str) -> str:
    return re.search(r"JobId=(\d+)", asked)[1]


def begun(home: Path, dataset: str) -> int:
    path = home / "calls"
    return path.read_text().splitlines().count(f"begin {dataset}") if path.is_file() else 0


def is_running(slurm: dict[str, str], job: Job) -> bool:
    return any("JobState=RUNNING" in line for line in asked_of(slurm, job))


@pytest.fixture(scope="module")
def cut(slurm: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
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
        until(lambda: len(asked_of(slurm, bbc)) == 2, "the job to be submitted again, beside the one that goes on")
        (home / "wait-bbc").unlink()
        said, wrong = again.communicate(timeout=240)
        assert again.returncode == 0, wrong
        assert "3 notebooks, 1 of them done before" in said
    return home


def test_jobs_ask_for_a_gpu_time_and_memory_and_find_what_all_share(
    slurm: dict[str, str], cut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    movie, bbc, report = jobs_of(cut, monkeypatch)
    (computed,), (reported,) = asked_of(slurm, movie), asked_of(slurm, report)
    assert "TresPerJob=gres:gpu:1" in computed
    assert "TimeLimit=04:00:00" in computed
    assert "MinMemoryNode=1000M" in computed
    assert "gres:gpu" not in reported
    assert "TimeLimit=00:30:00" in reported
    assert begun(cut, "movie") == begun(cut, "bbc") == 1  # whoever came second found it done
    for name, job in (("movie", movie), ("bbc", bbc)):
        expected = [machine.precision(), "/shared/data", "/shared/hub", number_of(asked_of(slurm, job)[0])]
        assert (cut / f"seen-{name}").read_text().split() == expected


def test_jobs_that_are_cancelled_or_out_of_time_are_tried_again_with_more_and_make_the_same(
    slurm: dict[str, str], cut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = a_home(tmp_path / "home")
    for name in ("movie", "bbc"):
        (home / f"wait-{name}").touch()
    process = start(home, slurm, runtime="1 * attempt")
    movie, bbc, report = jobs_of(home, monkeypatch)
    until(lambda: is_running(slurm, movie), "a job to cancel")
    one_node.ask(slurm, "scancel", number_of(asked_of(slurm, movie)[0]))
    for job in (movie, bbc):
        until(lambda job=job: len(asked_of(slurm, job)) == 2, f"{job.label} to be tried again")
    for name in ("movie", "bbc"):
        (home / f"wait-{name}").unlink()
    said, wrong = process.communicate(timeout=240)
    assert process.returncode == 0, wrong
    assert "3 notebooks, 0 of them done before" in said
    for job, ended in ((movie, "CANCELLED"), (bbc, "TIMEOUT")):
        first, second = asked_of(slurm, job)
        assert f"JobState={ended}" in first and "TimeLimit=00:01:00" in first
        assert "JobState=COMPLETED" in second and "TimeLimit=00:02:00" in second
    made = [tables(job) for job in (movie, bbc, report)]
    assert all(made)
    assert made == [tables(job) for job in jobs_of(cut, monkeypatch)]


def test_a_job_that_fails_says_why(slurm: dict[str, str], tmp_path: Path) -> None:
    home = tiny.make_home(tmp_path / "home")
    source = home / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text().replace("run.note(n=2)", "raise ValueError('no such luck')"))
    process = start(home, slurm, "--retries", "0")
    _, wrong = process.communicate(timeout=240)
    assert process.returncode == 1
    assert "count movie 0 raised ValueError: no such luck" in wrong
    assert "3 of 3 notebooks did not end (2 failed, the others wait for them)" in wrong


def tables(job: Job) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for end in ("*.parquet", "*.csv") for path in sorted(job.folder.glob(end))}
