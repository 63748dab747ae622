"""GPUs of this machine shared out among the notebooks of a build: one notebook per GPU.

A build names the GPUs to its jobs; a job holds one by a lock that ends with its process, and its kernel sees that one
alone (`CUDA_VISIBLE_DEVICES`). On a cluster it is the scheduler that gives a job its GPUs.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from faithbook.engine.machine import build_context

DEVICES, VISIBLE = "gpus", "CUDA_VISIBLE_DEVICES"
_SECONDS_BETWEEN_LOOKS = 0.5


def visible(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The GPUs that notebooks may use, as CUDA names them: those that the environment allows, else all that the driver
    knows. Importing torch for it would take seconds."""
    if VISIBLE in environment:
        return [name for name in environment[VISIBLE].split(",") if name not in ("", "-1", "NoDevFiles")]
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in listed.stdout.splitlines() if line.strip()]


def shared_gpus() -> dict[str, list[str]]:
    """What a build hands on to its jobs of the GPUs that they share."""
    return {DEVICES: visible()}


@contextlib.contextmanager
def held(*, wanted: bool = True) -> Iterator[dict[str, str]]:
    """The environment of a kernel that has a place at one of the build's GPUs, waited for where all are taken; empty
    where none is wanted, outside a build, or without GPUs."""
    names = build_context().get(DEVICES, [])
    if not (wanted and names):
        yield {}
        return
    folder = Path(tempfile.gettempdir(), f"faithbook-devices-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in itertools.cycle(names):
        with (folder / name).open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_SECONDS_BETWEEN_LOOKS / len(names))
                continue
            yield {VISIBLE: name}
            return
