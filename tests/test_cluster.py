"""What jobs ask of a cluster, how they are named, and why they did not end; Slurm itself is in test_slurm.py."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from faithbook import hours
from faithbook.asked import asked
from faithbook.engine import build, cluster
from faithbook.engine.cluster import Cluster
from faithbook.engine.plan import Job, plan, trainings
from faithbook.engine.trained import waits_for
from faithlib.errors import DataError, InputError

GPU = Cluster("slurm", partition="gpu", cpu_partition="cpu", account="us")
LOG = """\
Error in rule {movie}:
    message: SLURM-job '12' failed, SLURM status is: '{state}'. Detailed failure reason unavailable (status command is not 'sacct').
    jobid: 1
    log: /somewhere/slurm/rule_{movie}/12.log (check log file(s) for error details)
"""  # noqa: E501


def a_command(folder: Path, name: str, says: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
    path.chmod(0o755)


def cut(home: Path, parts: int) -> None:
    """Let the smoke profile share the inputs of the computation out."""
    path = home / "notebooks" / "profiles.yaml"
    path.write_text(path.read_text().replace("  smoke:\n", f"  smoke:\n    parts: {{count: {parts}}}\n"))
    source = home / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text().replace("seed = 0\n", "seed = 0\npart = 1\nparts = 1\n", 1))


def finish(job: Job, *, seconds: float, bytes: int | None = None) -> None:
    """A whole run that says what it took."""
    tiny.finish(job)
    found = json.loads(job.manifest.read_text())
    found |= {"seconds": seconds, "profile": job.profile, "settings": {"inputs": 3}}
    job.manifest.write_text(json.dumps(found | ({"memory_bytes": bytes} if bytes else {})))


# --- where to --------------------------------------------------------------------------------------------------------


def test_notebooks_run_here_unless_a_cluster_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cluster.chosen({}) is None
    assert cluster.chosen({"FAITHLIB_EXECUTOR": "local", "FAITHLIB_QUEUE": "no number"}) is None
    a_command(tmp_path / "bin", "sbatch", "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    named = {"FAITHLIB_EXECUTOR": "slurm", "FAITHLIB_PARTITION": "gpu", "FAITHLIB_QUEUE": "8", "FAITHLIB_GPUS": "0"}
    assert cluster.chosen(named) == Cluster("slurm", partition="gpu", cpu_partition="gpu", queue=8, gpus=0)


@pytest.mark.parametrize("name", ["QUEUE", "GPUS", "HOURS", "MEMORY"])
@pytest.mark.parametrize("value", ["many", "-1", "nan"])
def test_a_number_that_is_none_is_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"FAITHLIB_{name} is '{value}': give a number"):
        cluster.chosen({"FAITHLIB_EXECUTOR": "slurm", f"FAITHLIB_{name}": value})


def test_what_is_not_installed_is_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="pip install snakemake-executor-plugin-kubernetes"):
        cluster.chosen({"FAITHLIB_EXECUTOR": "kubernetes"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match="needs Slurm's commands"):
        cluster.chosen({"FAITHLIB_EXECUTOR": "slurm"})


@pytest.mark.parametrize(("kept", "asks"), [("(null)", True), ("accounting_storage/none", True), ("slurmdbd", False)])
def test_without_accounts_the_queue_is_asked(
    kept: str, asks: bool, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_command(tmp_path / "bin", "scontrol", f"AccountingStorageType   = {kept}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    told = cluster.options(GPU, "smoke")
    assert ("--slurm-status-command" in told) == asks
    assert told[:4] == ["--executor", "slurm", "--jobs", "32"]


def test_only_jobs_of_this_profile_of_this_clone_are_waited_for(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = cluster.name_of("smoke"), cluster.name_of("laptop")
    a_command(tmp_path / "bin", "squeue", f"7|{own}_ab-12\n8|{other}_ab-13\n9_1|{own}_ab-14\n10|somebody")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    assert cluster.queued(GPU, "smoke") == ["7", "9_1"]
    assert cluster.queued(Cluster("kubernetes"), "smoke") == []
    monkeypatch.setenv("FAITHLIB_HOME", str(tmp_path / "another"))
    assert cluster.queued(GPU, "smoke") == []


# --- what is asked ---------------------------------------------------------------------------------------------------


def test_where_nothing_has_run_the_stated_default_is_asked(home: Path) -> None:
    movie, _, report = plan("smoke")
    asks = {"slurm_partition": "gpu", "slurm_account": "us", "gpu": 1}
    assert asked(movie, GPU) == {"runtime": 240, "mem_mb": 16000, **asks}
    assert asked(report, GPU) == {"runtime": 30, "mem_mb": 8000, "slurm_partition": "cpu", "slurm_account": "us"}
    assert asked(movie, Cluster("slurm", gpus=0)) == {"runtime": 240, "mem_mb": 16000}
    assert asked(movie, None) == {"gpu": 1}
    assert asked(report, None) == {}


def test_time_and_memory_are_asked_from_runs(home: Path) -> None:
    path = home / "notebooks" / "profiles.yaml"
    path.write_text(path.read_text().replace("seed: seeds}}", "seed: seeds}, inputs: [inputs]}"))
    movie, bbc, _ = plan("smoke")
    finish(movie, seconds=3600, bytes=8_000_000_000)
    finish(bbc, seconds=7200, bytes=1_000_000_000)
    assert [asked(job, GPU)["runtime"] for job in (movie, bbc)] == [180, 360]
    assert [asked(job, GPU)["mem_mb"] for job in (movie, bbc)] == [12000, 4000]
    cut(home, 6)
    jobs = plan("smoke")
    assert jobs[0].label == "count movie 0 1 6"
    assert asked(jobs[0], GPU)["runtime"] == 30  # a sixth of what the whole took, as other code has run it
    whole = next(job for job in jobs if job.label == "count movie 0")
    assert whole.parts and "gpu" not in asked(whole, GPU)


def test_the_same_data_set_tells_more_than_another_and_this_machine_more_than_the_reference(home: Path) -> None:
    movie, bbc, _ = plan("smoke")
    assert hours.taken(movie) == hours.Taken()
    reference = {"notebook": "count", "kind": "compute", "profile": "smoke", "settings": {"inputs": 3}, "notes": {}}
    told = home / "data" / "reference" / "full" / "manifest.json"
    told.parent.mkdir(parents=True)
    ran = {**reference, "parameters": dict(movie.parameters), "seconds": 50.0}
    told.write_text(json.dumps({"runs": [{**ran, "device": "H100"}]}))
    assert hours.taken(movie) == hours.Taken()  # of a GPU elsewhere, which says nothing of a processor
    told.write_text(json.dumps({"runs": [ran]}))
    assert hours.taken(movie).seconds == 50
    assert hours.taken(bbc).seconds == 50
    finish(bbc, seconds=7)
    assert hours.taken(bbc).seconds == 7
    finish(movie, seconds=9)
    assert hours.taken(movie).seconds == 9
    # What a limit is about goes on while a run waits, computes nothing, or has half a processor.
    found = json.loads(movie.manifest.read_text())
    movie.manifest.write_text(json.dumps(found | {"device": "cpu", "threads": 1, "processor_seconds": 2.0}))
    assert hours.taken(movie).seconds == 9


def test_a_training_is_told_by_the_one_before(home: Path) -> None:
    movie, bbc, _ = (replace(job, kind="train") for job in plan("smoke"))
    assert hours.taken(movie) == hours.Taken()
    bbc.manifest.parent.mkdir(parents=True, exist_ok=True)
    bbc.manifest.write_text(json.dumps(build._trained(bbc, 600.0)))
    assert hours.taken(movie).seconds == 600
    assert (hours.taken(movie).bytes or 0) > 0
    assert asked(movie, GPU)["runtime"] == 30


# --- why a job did not end -------------------------------------------------------------------------------------------


def test_a_job_that_asked_for_too_little_asks_for_more(home: Path) -> None:
    movie, *_ = jobs = plan("smoke")
    log = LOG.format(movie=cluster.rule_of(movie), state="TIMEOUT")
    cluster.results_dir("smoke").mkdir(parents=True)
    for times in (2, 4):
        (said,) = cluster.why(log, jobs)
        assert said == (f"count movie 0: job 12 reached its time limit; the next call asks for {times} times the time")
        assert asked(movie, GPU)["runtime"] == 240 * times
    (said,) = cluster.why(log.replace("TIMEOUT", "OUT_OF_MEMORY"), jobs)
    assert said.endswith("ran out of memory; the next call asks for 2 times the memory")
    assert asked(movie, GPU)["mem_mb"] == 32000
    tiny.finish(movie)
    assert cluster.why(log, jobs) == []  # it has ended all the same


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("CANCELLED", "job 12 was cancelled"),
        ("NODE_FAIL", "job 12 ended as NODE_FAIL"),
        ("FAILED", "job 12 failed\n  | it left no log"),
    ],
)
def test_a_job_that_ended_badly_is_told_in_a_sentence(home: Path, state: str, says: str) -> None:
    movie, *_ = jobs = plan("smoke")
    assert cluster.why(LOG.format(movie=cluster.rule_of(movie), state=state), jobs) == [f"count movie 0: {says}"]


def test_what_a_notebook_raised_on_a_node_is_told(home: Path) -> None:
    movie, *_ = jobs = plan("smoke")
    log = cluster.results_dir("smoke") / "slurm" / f"rule_{cluster.rule_of(movie)}" / "12.log"
    log.parent.mkdir(parents=True)
    said = "faithlib: count movie 0 raised ValueError: no\n  | x = 1"
    log.write_text(f"Building DAG\n{said}\nError in rule x\nsrun: error\n")
    assert cluster.why(LOG.format(movie=cluster.rule_of(movie), state="FAILED"), jobs) == [said]


def test_a_job_that_is_refused_is_told_with_slurms_reason(home: Path) -> None:
    movie, *_ = jobs = plan("smoke")
    reason = "sbatch: error: invalid partition specified: gpus"
    log = f"""\
Error in rule {cluster.rule_of(movie)}:
    message: SLURM sbatch failed. The error message was '{reason}'.
    sbatch call:
        sbatch --parsable
"""
    assert cluster.why(log, jobs) == [f"count movie 0: Slurm took no job ({reason})"]


# --- the same names on every node ------------------------------------------------------------------------------------


def test_rules_keep_their_names_as_a_build_goes_on(home: Path) -> None:
    cut(home, 2)
    before = plan("smoke")
    names = {job.folder: cluster.rule_of(job) for job in before}
    assert len(set(names.values())) == len(names) == 7
    tiny.finish(next(job for job in before if job.label == "count movie 0"))
    after = plan("smoke")
    assert len(after) == 5  # the parts of what is whole are gone
    assert {job.folder: cluster.rule_of(job) for job in after}.items() <= names.items()


def test_a_training_waits_for_the_one_that_it_starts_from() -> None:
    jobs = trainings("laptop", "saco")
    before = {job.label: [one.label for one in waits_for(job, jobs)] for job in jobs}
    assert before["vision_classifiers mnist base 0  0"] == ["vision_classifiers fashion base 0  0"]
    assert before["vision_classifiers fashion base 0  0"] == []
    assert not any(waits_for(job, trainings("paper")) for job in trainings("paper", "soft"))


@pytest.mark.slow
def test_trainings_are_scheduled_like_notebooks(tmp_path: Path) -> None:
    """The plan of Snakemake, of which nothing runs: trainings of pictures start from a model of clothes."""
    line = [sys.executable, "-m", "snakemake", "--snakefile", str(tiny.REPOSITORY / "notebooks" / "Snakefile")]
    line += ["--config", "profile=laptop", "study=saco", "trains=all", "--dry-run", "--cores", "1"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rules = dict(
        re.findall(r"^rule (vision_classifiers_\w+):\n(?:    input: (.*)\n)?", done.stdout, flags=re.MULTILINE)
    )
    starts = [Path(found).parent.name.partition("-")[0] for found in rules.values() if found]
    assert len(rules) == 9
    assert sorted(starts) == sorted(f"fashion_{model}_0_0" for model in ("base", "large", "deit") for _ in range(2))
