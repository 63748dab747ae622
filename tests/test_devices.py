"""One notebook per GPU: a driver that is not there names the GPUs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import tiny

from faithbook.engine import devices, machine

# Notes which GPU it sees, and goes on when another has begun as well, or after some seconds.
SEES = """
# %%
(root() / f"seen-{dataset}").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "none"))
for _ in range(TURNS):
    if len(list(root().glob("seen-*"))) == 2:
        (root() / f"together-{dataset}").touch()
        break
    time.sleep(0.05)

# %%
run.finish()
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command of a driver that knows two GPUs."""
    path = tmp_path / "bin" / "nvidia-smi"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\nprintf '0\\n1\\n'\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where the locks are
    for name in (devices.VISIBLE, machine.RUN):
        monkeypatch.delenv(name, raising=False)
    return path


def test_the_environment_goes_before_the_driver(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert devices.visible({}) == ["0", "1"]
    assert devices.visible({"CUDA_VISIBLE_DEVICES": "1,GPU-5f"}) == ["1", "GPU-5f"]
    assert devices.visible({"CUDA_VISIBLE_DEVICES": ""}) == []
    assert devices.shared_gpus() == {devices.DEVICES: ["0", "1"]}  # what jobs of a build are told
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices.shared_gpus() == {devices.DEVICES: []}
    driver.write_text("#!/bin/sh\nexit 9\n")
    assert devices.visible({}) == []


def test_a_place_is_held_by_one_and_free_again(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with devices.held() as outside:
        assert outside == {}
    monkeypatch.setenv(machine.RUN, json.dumps(devices.shared_gpus()))
    with devices.held() as first, devices.held() as two:
        assert [found["CUDA_VISIBLE_DEVICES"] for found in (first, two)] == ["0", "1"]
    with devices.held() as again:
        assert again == {"CUDA_VISIBLE_DEVICES": "0"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("said", "seen", "together"),
    [
        ({}, ["0", "1"], True),
        ({"CUDA_VISIBLE_DEVICES": "1"}, ["1", "1"], False),
    ],
    ids=["two GPUs", "one GPU"],
)
def test_a_build_gives_each_notebook_a_gpu_of_its_own(
    said: dict[str, str], seen: list[str], together: bool, driver: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = home / "notebooks" / "compute" / "count.py"
    sees = SEES.replace("TURNS", "4800" if together else "80")  # a busy machine takes seconds to start a kernel
    source.write_text(source.read_text().removesuffix("run.finish()\n") + sees)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    done = tiny.call(home, "build", "--profile", "smoke", "--cores", "4")
    assert done.returncode == 0, done.stderr
    assert sorted((home / f"seen-{name}").read_text() for name in ("movie", "bbc")) == seen
    assert (home / "together-movie").exists() or (home / "together-bbc").exists()
    assert ((home / "together-movie").exists() and (home / "together-bbc").exists()) == together
