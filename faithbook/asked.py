"""What a notebook asks of a cluster: time, memory, one GPU, from what runs have taken.

Time is that of the runs of the same notebook at the same profile, by the input, times the inputs of the job, times
three; memory the most that one of them held, times one and a half. Where none has run, `FAITHLIB_HOURS` (four) and
`FAITHLIB_MEMORY` (16 GB) are asked. Reports, and runs that are only put together from parts, ask half an hour and no
GPU. A job that reached a limit asks for twice as much the next time (`faithbook.engine.cluster`).
"""

from __future__ import annotations

import math

from faithbook import hours
from faithbook.engine import machine
from faithbook.engine.cluster import Cluster, asked_more
from faithbook.engine.plan import Job

SAFETY = 3.0
MEMORY_SAFETY = 1.5
LEAST_MINUTES = 10
REPORT_MINUTES = 30
LEAST_MEMORY, REPORT_MEMORY = 4.0, 8.0  # GB


def asked(job: Job, cluster: Cluster | None) -> dict[str, int | str]:
    """The resources of a job as Snakemake has them: minutes (`runtime`), MB, GPUs, partition and account.

    On this machine (None): one place at a GPU for a notebook that uses one, however many there are of these.
    """
    if cluster is None:
        return {"gpu": 1} if job.uses_device else {}
    more = asked_more(job.profile).get(job.run_id, {})
    minutes, memory = _measured(job, cluster) if job.uses_device else (REPORT_MINUTES, REPORT_MEMORY)
    found: dict[str, int | str] = {
        "runtime": math.ceil(minutes * more.get("time", 1)),
        "mem_mb": math.ceil(1000 * memory * more.get("memory", 1)),
    }
    on_gpu = job.uses_device and cluster.gpus > 0
    if on_gpu:
        found["gpu"] = cluster.gpus
    if partition := cluster.partition if on_gpu else cluster.cpu_partition:
        found["slurm_partition"] = partition
    if cluster.account:
        found["slurm_account"] = cluster.account
    return found


def _measured(job: Job, cluster: Cluster) -> tuple[float, float]:
    """Minutes and GB of a computation: from runs, else what the cluster's variables say."""
    taken = hours.taken(job)
    minutes = 60 * cluster.hours if taken.seconds is None else max(LEAST_MINUTES, SAFETY * taken.seconds / 60)
    memory = cluster.memory if taken.bytes is None else max(LEAST_MEMORY, MEMORY_SAFETY * taken.bytes / 1e9)
    return minutes, memory


def threads(cluster: Cluster | None) -> int:
    """Processor cores of a job: on a cluster as many as a notebook has threads; here, notebooks are what is counted."""
    return machine.threads() if cluster else 1
