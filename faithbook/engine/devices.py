"""GPUs of this machine shared out among the notebooks of a build: one notebook a GPU, unless more are asked for.

A build names the GPUs to its jobs; a job holds one by a lock that ends with its process, and its kernel sees that one
alone (`CUDA_VISIBLE_DEVICES`). On a cluster it is the scheduler that gives a job its GPUs.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from faithlib.errors import InputError

DEVICES, PER_GPU, VISIBLE = "FAITHLIB_DEVICES", "FAITHLIB_PER_GPU", "CUDA_VISIBLE_DEVICES"
_SECONDS_BETWEEN_LOOKS = 0.5


def visible(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The GPUs that notebooks may use, as CUDA names them: those that the environment allows, else all that the driver
    knows. Importing torch for it would take seconds."""
    if VISIBLE in environment:
        return [name for name in environment[VISIBLE].split(",") if name not in ("", "-1", "NoDevFiles")]
    try:
        told = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in told.stdout.splitlines() if line.strip()]


def places(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Every GPU as often as notebooks may use it at a time (`FAITHLIB_PER_GPU`, once where nothing is said)."""
    said = environment.get(PER_GPU) or "1"
    if not said.isdigit() or not int(said):
        raise InputError(f"{PER_GPU} is {said!r}: give the number of notebooks that may share a GPU, such as 2")
    return visible(environment) * int(said)


@contextlib.contextmanager
def held() -> Iterator[dict[str, str]]:
    """The environment of a kernel that has a place at one of the build's GPUs, waited for where all are taken; empty
    outside a build, or without GPUs."""
    names = [name for name in os.environ.get(DEVICES, "").split(",") if name]
    if not names:
        yield {}
        return
    folder = Path(tempfile.gettempdir(), f"faithbook-devices-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as stack:
        while True:
            for place, name in enumerate(names):
                stream = (folder / f"{names[:place].count(name)}-of-{name}").open("w")
                try:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    stream.close()
                    continue
                stack.enter_context(stream)
                yield {VISIBLE: name}
                return
            time.sleep(_SECONDS_BETWEEN_LOOKS)
