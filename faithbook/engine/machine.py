"""Facts about the machine and the code, for manifests and the status page."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from faithbook.paths import root
from faithlib.errors import DataError

PRECISION = "FAITHLIB_PRECISION"
RUN = "FAITHLIB_RUN"
"""The environment's name for what a build hands on, as JSON: to its jobs the GPUs that they share and where the warm
process listens, to a kernel its run as well."""
_MULTIPLY_BFLOAT16 = {"amx_bf16", "bf16"}
_MULTIPLY_BFLOAT16_OF_AMD = {"avx512_bf16"}  # Intel's, where AMX is hidden, take twice the time of float32
_AMD = "AuthenticAMD"
_SHOWN_VERSIONS = ("faithlib", "torch", "transformers", "peft", "captum", "numpy", "scipy", "pandas")


def build_context() -> dict[str, Any]:
    """What a build has told this process; nothing outside one."""
    context: dict[str, Any] = json.loads(os.environ.get(RUN, "{}"))
    return context


_WITH_CHANGES, _NO_COMMIT = " with changes", "unknown"


@functools.cache
def commit() -> str:
    """The commit the repository stands at, with a mark where files differ from it; "unknown" outside git."""
    try:
        changed = _git("status", "--porcelain", "--untracked-files=no").strip()
        name = _git("rev-parse", "--short=12", "HEAD").strip()
    except (OSError, subprocess.SubprocessError):
        return _NO_COMMIT
    return f"{name}{_WITH_CHANGES}" if changed else name


def is_clean(known: str) -> bool:
    """Whether a commit, as `commit` names it, says exactly which code ran."""
    return known != _NO_COMMIT and not known.endswith(_WITH_CHANGES)


def uncommitted() -> list[str]:
    """Files of code, notebooks and data that differ from the commit, or that it lacks; the reference itself apart.

    DataError outside git, where nothing can tell.
    """
    places = ("faithlib", "faithbook", "notebooks", "data", "requirements.lock", "pyproject.toml")
    try:
        status = _git("status", "--porcelain", "--", *places, ":(exclude)data/reference")
    except (OSError, subprocess.SubprocessError) as error:
        raise DataError(f"{root()} is no git repository, so nothing tells whether its files are committed") from error
    return [line[3:] for line in status.splitlines()]


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root()), *words], capture_output=True, text=True, check=True, timeout=20
    ).stdout


def versions() -> dict[str, str]:
    """Versions of Python and of the packages whose numbers the results depend on."""
    numbers = {"python": platform.python_version()}
    for name in _SHOWN_VERSIONS:
        try:
            numbers[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return numbers


def device() -> str:
    """The name of the accelerator a notebook could use, or "cpu"; does not import torch for the sake of the answer."""
    torch = sys.modules.get("torch")
    return str(torch.cuda.get_device_name(0)) if torch is not None and torch.cuda.is_available() else "cpu"


def threads() -> int:
    """How many threads a notebook gets: `FAITHLIB_THREADS`, or one."""
    return int(os.environ.get("FAITHLIB_THREADS", "1"))


@functools.cache
def processor() -> str:
    """The name of the processor, as the operating system gives it."""
    return _of_processor("model name") or platform.processor() or platform.machine()


def most_memory() -> int:
    """The most bytes of memory that this process has held at a time."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def precision() -> str:
    """What `dtype: auto` of a profile means here: "bfloat16" where the processor multiplies in it faster (twice the
    rows a second), "float32" elsewhere, where bfloat16 would take two or three times as long.

    The variable FAITHLIB_PRECISION, which a build sets for its jobs, goes before: all nodes of a cluster do the same.
    """
    known = {*_of_processor("flags").split(), *_of_processor("Features").split()}  # of x86, of ARM
    fast = _MULTIPLY_BFLOAT16 | (_MULTIPLY_BFLOAT16_OF_AMD if _of_processor("vendor_id") == _AMD else set())
    return os.environ.get(PRECISION) or ("bfloat16" if known & fast else "float32")


def _of_processor(name: str) -> str:
    """A line of what Linux says of the first processor; empty where it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
