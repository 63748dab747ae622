"""A copy of the warm process does what a process of its own would do, and ends with whoever asked for it."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from faithbook.engine import build, machine, warm
from faithbook.engine.build import kernel_environment
from faithbook.paths import root

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not warm._is_safe(), reason="copies are made on Linux without a GPU alone"),
]
COMMAND = [sys.executable, "-m", warm.__name__]
TELLS = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "folder": os.getcwd(), "told": os.environ.get("TOLD"), "pid": os.getpid(),
                  "read": sys.stdin.read(), "torch": "torch" in sys.modules,
                  "threads": sys.modules["torch"].get_num_threads() if "torch" in sys.modules else None}))
print("a word aside", file=sys.stderr)
sys.exit(int(os.environ["STATUS"]))
"""
WAITS = "import pathlib, os, time; pathlib.Path('here').write_text(str(os.getpid())); time.sleep(600)"


@pytest.fixture(scope="module")
def warm_process() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def address(warm_process: contextlib.ExitStack) -> dict[str, str]:
    told = warm_process.enter_context(warm.warmed(100, {"OMP_NUM_THREADS": "1"}))
    return build_context(told[warm.WARM])


def build_context(place: str) -> dict[str, str]:
    return {machine.RUN: json.dumps({warm.WARM: place})}


def ask(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "tells.py").write_text(TELLS)
    settings = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "TOLD": "yes",
        "STATUS": "3",
        "OMP_NUM_THREADS": "2",
        **environment,
    }
    line = [*COMMAND, "tells", "one", "two words"]
    return subprocess.run(line, cwd=folder, env=settings, input="given", capture_output=True, text=True, check=False)


@pytest.mark.parametrize("way", ["copy", "nobody listens", "no address"])
def test_a_module_runs_with_its_environment_streams_and_status(
    way: str, address: dict[str, str], tmp_path: Path
) -> None:
    environment = {"copy": address, "nobody listens": build_context(str(tmp_path / "none")), "no address": {}}[way]
    done = ask(tmp_path, environment | {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"})
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("pid")
    assert told == {
        "argv": ["one", "two words"],
        "folder": str(tmp_path),
        "told": "yes",
        "read": "given",
        "torch": way == "copy",
        "threads": 1 if way == "copy" else None,  # though who asked may use more
    }
    assert "a word aside" in done.stderr


def test_who_asked_starts_python_where_the_warm_process_ends_before_it_made_a_copy(tmp_path: Path) -> None:
    place = str(tmp_path / "ends")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        ending = threading.Thread(target=lambda: listener.accept()[0].close())
        ending.start()
        done = ask(tmp_path, {**build_context(place), "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"})
        ending.join()
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["read"] == "given"


def test_what_a_copy_raises_is_told(address: dict[str, str]) -> None:
    environment = {**os.environ, **address}
    done = subprocess.run([*COMMAND, "no_such"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No module named no_such" in done.stderr


def passes_on(process: int) -> bool:
    """Whether a process has its own answer to SIGTERM."""
    (caught,) = re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{process}/status").read_text())
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def begin(folder: Path, address: dict[str, str]) -> tuple[subprocess.Popen[bytes], psutil.Process]:
    """One who asks for a copy that waits, and by now passes signals on, and the copy."""
    (folder / "waits.py").write_text(WAITS)
    asking = subprocess.Popen([*COMMAND, "waits"], cwd=folder, env={**os.environ, **address})
    here, deadline = folder / "here", time.monotonic() + 240
    while not (here.is_file() and here.read_text() and passes_on(asking.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return asking, psutil.Process(int(here.read_text()))


@pytest.mark.parametrize(
    ("number", "told", "statuses"),
    [
        (signal.SIGTERM, "who asked", [128 + 15]),
        (signal.SIGINT, "who asked", [1, 128 + 2]),
        (signal.SIGKILL, "who asked", [-9]),
        (signal.SIGTERM, "who answers", [128 + 15]),  # as where a whole group of processes is told to stop
    ],
)
def test_who_asked_and_the_copy_end_together(
    number: int, told: str, statuses: list[int], address: dict[str, str], tmp_path: Path
) -> None:
    asking, copy = begin(tmp_path, address)
    (asking if told == "who asked" else copy.parent()).send_signal(number)
    gone, alive = psutil.wait_procs([copy], timeout=240)
    assert gone and not alive
    assert asking.wait(240) in statuses


def test_copies_end_with_the_warm_process(
    address: dict[str, str], warm_process: contextlib.ExitStack, tmp_path: Path
) -> None:
    """The last test of the one that all share."""
    asking, copy = begin(tmp_path, address)
    warm_process.close()
    assert asking.wait(240) == 128 + signal.SIGKILL
    assert not psutil.wait_procs([copy], timeout=240)[1]


def test_nothing_is_copied_where_it_is_not_safe_or_not_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(process: int) -> int:
        raise PermissionError(process)

    monkeypatch.setattr(os, "pidfd_open", refused)
    for notebooks in (100, 2):  # nor for few
        with warm.warmed(notebooks, {}) as told:
            assert told == {}
        monkeypatch.undo()


def test_a_kernels_options_of_python_stay_before_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine.RUN, json.dumps({warm.WARM: "somewhere"}))
    command = ["python", "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "file"]
    monkeypatch.setattr("jupyter_client.manager.AsyncKernelManager.format_kernel_cmd", lambda *_: list(command))
    manager = build._kernels("/tmp", {})()
    assert manager.format_kernel_cmd() == [*command[:3], warm.__name__, *command[3:]]


FAULTS = """
import resource, torch
torch.ones(2**24)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(8):
    torch.ones(2**24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver() < ("glibc", "2.26"), reason="the C library is not glibc, or has no tunables")
def test_a_kernel_keeps_the_memory_of_large_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of 64 MB one after another have the memory of the first. The system may move pages meanwhile, and
    that counts as faults too: one quiet run of three is enough."""
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)

    def counted(**more: str) -> int:
        return int(subprocess.check_output([sys.executable, "-c", FAULTS], env={**os.environ, **more}, text=True))

    fresh = counted()
    assert any(counted(**kernel_environment()) < fresh / 10 for _ in range(3))
    makefile = (root() / "Makefile").read_text()
    assert f"export GLIBC_TUNABLES ?= {kernel_environment()['GLIBC_TUNABLES']}\n" in makefile
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=1")
    assert kernel_environment()["GLIBC_TUNABLES"] == "glibc.malloc.check=1"
