"""Notebooks as jobs of a cluster: where to, what Snakemake is told, and why a job did not end.

    make paper EXECUTOR=slurm PARTITION=gpu          or the variables FAITHLIB_EXECUTOR, FAITHLIB_PARTITION and so on

A job runs what it would run here, in the same folders, which lie on a file system that all nodes share; so do
`FAITHLIB_DATA` and `HF_HOME`, where they are set. A job that has been submitted ends by itself, whatever becomes of the
process that submitted it: the next call waits for those that are left in the queue and goes on from there.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from faithbook.engine.digests import digest
from faithbook.engine.plan import Job
from faithbook.paths import results_dir
from faithlib.errors import DataError, InputError

_MORE = "asked-more.json"
_LATENCY_SECONDS = 60  # how long a file that one node has written may be unseen by another
_LOG_LINES = 12
# In the log of Snakemake, what the executor says of a job and, further down, its rule.
_ENDED = re.compile(
    r"SLURM-job '(?P<id>[^']+)' failed(?:[^']|\n)*?'(?P<state>[A-Z_]+)'"
    r"|SLURM sbatch failed\. The error message was '(?P<refused>.*?)'\.\s*\n",
    flags=re.DOTALL,
)
_RULE = re.compile(r"^(?:Error in rule|rule) (?P<rule>\w+)", flags=re.MULTILINE)


@dataclass(frozen=True)
class Cluster:
    """Where jobs run and what they ask where nothing has been measured; `queue`: how many are submitted at a time.

    `gpus` a job that computes; `hours` and `memory` (GB): asked by computations of which no run has told yet.
    """

    executor: str
    partition: str = ""
    cpu_partition: str = ""
    account: str = ""
    queue: int = 32
    gpus: int = 1
    hours: float = 4.0
    memory: float = 16.0


def chosen(environment: Mapping[str, str] = os.environ) -> Cluster | None:
    """The cluster that the environment names, None where notebooks run on this machine.

    Raises InputError for a number that is none, DataError for an executor that is not installed or has no queue here.
    """

    def said(name: str) -> str:
        return environment.get(f"FAITHLIB_{name}", "").strip()

    def number(name: str, least: float, default: float) -> float:
        try:
            found = float(said(name) or default)
        except ValueError:
            found = math.nan
        if not (math.isfinite(found) and found >= least):
            raise InputError(f"FAITHLIB_{name} is {said(name)!r}: give a number that is at least {least:g}")
        return found

    if said("EXECUTOR") in ("", "local"):
        return None
    cluster = Cluster(
        executor=said("EXECUTOR"),
        partition=said("PARTITION"),
        cpu_partition=said("CPU_PARTITION") or said("PARTITION"),
        account=said("ACCOUNT"),
        queue=int(number("QUEUE", 1, Cluster.queue)),
        gpus=int(number("GPUS", 0, Cluster.gpus)),
        hours=number("HOURS", 0, Cluster.hours),
        memory=number("MEMORY", 0.1, Cluster.memory),
    )
    if importlib.util.find_spec(f"snakemake_executor_plugin_{cluster.executor.replace('-', '_')}") is None:
        name = f"snakemake-executor-plugin-{cluster.executor}"
        raise DataError(f"the executor {cluster.executor} is not installed: pip install {name}")
    if cluster.executor == "slurm" and shutil.which("sbatch") is None:
        raise DataError("EXECUTOR=slurm needs Slurm's commands (sbatch, squeue): call it on a node that has them")
    return cluster


def name_of(profile: str) -> str:
    """What the names of all jobs of a profile of this clone begin with."""
    return f"faithbook-{profile}-{digest([str(results_dir(profile))])[:8]}"


def options(cluster: Cluster, profile: str) -> list[str]:
    """What Snakemake is told so that notebooks run as jobs."""
    general = ["--executor", cluster.executor, "--jobs", str(cluster.queue), "--latency-wait", str(_LATENCY_SECONDS)]
    if cluster.executor != "slurm":
        return general
    logs = ["--slurm-jobname-prefix", name_of(profile), "--slurm-logdir", str(results_dir(profile) / "slurm")]
    return [*general, *logs, *([] if _keeps_accounts() else ["--slurm-status-command", "squeue"])]


def _keeps_accounts() -> bool:
    """Whether ended jobs can be asked for with sacct; else squeue knows them for some minutes."""
    kept = re.search(r"^AccountingStorageType\s*=\s*(\S+)", _told("scontrol", "show", "config"), flags=re.MULTILINE)
    return kept is not None and "none" not in kept[1] and "null" not in kept[1]


def queued(cluster: Cluster, profile: str) -> list[str]:
    """The ids of jobs of this profile that are in the queue or run; none can be told of another executor than Slurm."""
    if cluster.executor != "slurm":
        return []
    lines = (line.split("|") for line in _told("squeue", "--me", "--noheader", "--format=%i|%j").splitlines())
    return [number for number, name in lines if name.startswith(f"{name_of(profile)}_")]


def _told(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


# ------------------------------------------------------------------------------------------------------ what went wrong
def rule_of(job: Job) -> str:
    """The name of a job's rule: the same in every process that reads the plan, however much of it is done by then."""
    return f"{job.notebook}_{job.run_id}"


def why(log: str, jobs: Iterable[Job]) -> list[str]:
    """What the log of Snakemake says of jobs that were killed, ran out of time or memory or were refused, in sentences;
    those that asked for too little ask for twice as much from now on."""
    by_rule, found = {rule_of(job): job for job in jobs}, dict[str, str]()
    for one in _ENDED.finditer(log):
        named = [rule["rule"] for rule in _RULE.finditer(log, 0, one.start())]
        job = by_rule.get(named[-1]) if named else None
        if job is not None and not job.done:
            found[job.run_id] = _sentence(job, one)
    return list(found.values())


def _sentence(job: Job, ended: re.Match[str]) -> str:
    if ended["refused"] is not None:
        return f"{job.label}: Slurm took no job ({ended['refused'].strip()})"
    number, state = ended["id"], ended["state"]
    if state == "TIMEOUT":
        times = _ask_more(job, "time")
        return f"{job.label}: job {number} reached its time limit; the next call asks for {times} times the time"
    if state == "OUT_OF_MEMORY":
        times = _ask_more(job, "memory")
        return f"{job.label}: job {number} ran out of memory; the next call asks for {times} times the memory"
    if state == "CANCELLED":
        return f"{job.label}: job {number} was cancelled"
    if state != "FAILED":
        return f"{job.label}: job {number} ended as {state}"
    logs = _logs(job, number)
    return next(filter(None, map(_raised, logs)), f"{job.label}: job {number} failed\n{_end(logs)}")


def _logs(job: Job, number: str) -> list[str]:
    folder = results_dir(job.profile) / "slurm"
    return [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.rglob(f"{number}.log"))]


def _raised(text: str) -> str:
    """What the runner has said of a notebook that raised."""
    told = re.search(r"^faithlib: .*(?:\n(?!faithlib: |Error|\[|srun|slurmstepd).*)*", text, flags=re.MULTILINE)
    return told[0].rstrip() if told else ""


def _end(texts: Iterable[str]) -> str:
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    return "\n".join(f"  | {line}" for line in lines[-_LOG_LINES:]) or "  | it left no log"


def asked_more(profile: str) -> dict[str, dict[str, int]]:
    """By run id, how many times the time and the memory are asked that would be asked at first."""
    path = _more(profile)
    found: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _ask_more(job: Job, what: str) -> int:
    every = asked_more(job.profile)
    own = every.setdefault(job.run_id, {})
    own[what] = 2 * own.get(what, 1)
    _more(job.profile).write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    return own[what]


def _more(profile: str) -> Path:
    return results_dir(profile) / _MORE
