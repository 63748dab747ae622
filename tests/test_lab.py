"""`make lab`: the target itself in a folder of its own, asked over the server's interface what it opens and how."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.long  # installs JupyterLab, and starts it
SECONDS = 300


class Server:
    """A running JupyterLab."""

    def __init__(self, port: int, folder: Path) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.folder = folder

    def answer(self, path: str, content: Any = None) -> Any:
        """What it answers to a request; `content` is what is put there."""
        data = None if content is None else json.dumps(content).encode()
        asked = urllib.request.Request(self.address + path, data=data, method="PUT" if data else "GET")
        asked.add_header("Authorization", "token of-a-test")
        with urllib.request.urlopen(asked, timeout=60) as response:
            return json.load(response)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """What `make lab` starts, with the environment of these tests; skips where no package index answers."""
    line = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-cache", "-"]
    asked = subprocess.run(line, input="jupytext\n", capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"no package index can be reached from here: {asked.stderr.strip()[:200]}")
    folder = tmp_path_factory.mktemp("lab")
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, folder / name)
    shutil.copytree(REPOSITORY / "notebooks", folder / "notebooks")
    (folder / ".venv").mkdir()
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", folder / ".venv")
    for name in ("bin", "lib"):
        (folder / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    pins = subprocess.run(["cksum", "requirements.lock"], cwd=folder, capture_output=True, text=True, check=True).stdout
    stamp = f".venv/.made-from-{'-'.join(pins.split()[:2])}"
    port = free_port()
    options = f"--no-browser --allow-root --port {port} --IdentityProvider.token=of-a-test"
    line = ["make", "--old-file", "fetch", "--old-file", stamp, "lab", f"LAB={options}"]
    (folder / stamp).touch()
    log = folder / "lab.log"
    with log.open("w") as stream:
        process = subprocess.Popen(line, cwd=folder, stdout=stream, stderr=stream, start_new_session=True)
    server, until = Server(port, folder), time.monotonic() + SECONDS
    try:
        while True:
            try:
                server.answer("/api/status")
                break
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(1)
        yield server
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


@pytest.mark.parametrize("name", ["compute/soft_metrics.py", "report/soft_tables.py", "course/session1.py"])
def test_a_click_opens_a_notebook(lab: Server, name: str) -> None:
    opened = lab.answer(f"/api/contents/{name}?content=1")
    assert opened["type"] == "notebook"
    cells = opened["content"]["cells"]
    assert {cell["cell_type"] for cell in cells} == {"code", "markdown"}
    assert name.startswith("course") or cells[1]["metadata"]["tags"] == ["parameters"]
    settings = lab.answer("/lab/api/settings/@jupyterlab/docmanager-extension:plugin")
    assert settings["schema"]["properties"]["defaultViewers"]["default"] == {"python": "Jupytext Notebook"}


def test_markup_is_shown_as_in_the_book(lab: Server) -> None:
    done = subprocess.run(
        [lab.folder / ".venv-lab/bin/jupyter", "labextension", "list"], capture_output=True, text=True, check=True
    )
    extensions = {line.split()[0]: line for line in (done.stdout + done.stderr).splitlines() if " v" in line}
    for name in ("jupyterlab-myst", "jupyterlab-jupytext"):
        assert "enabled" in extensions[name], name


def test_the_kernel_is_the_books(lab: Server) -> None:
    kernels = lab.answer("/api/kernelspecs")
    assert kernels["default"] == "python3"
    spec = kernels["kernelspecs"]["python3"]["spec"]
    assert Path(spec["argv"][0]).resolve() == Path(sys.executable).resolve()
    # The name that the notebooks have: with another one each is changed as soon as it is opened.
    assert spec["display_name"] == "Python 3"


def test_a_saved_choice_is_the_only_change(lab: Server) -> None:
    name = "compute/soft_metrics.py"
    before = (REPOSITORY / "notebooks" / name).read_text()
    opened = lab.answer(f"/api/contents/{name}?content=1")
    cell = opened["content"]["cells"][1]
    cell["source"] = cell["source"].replace("inputs = None", "inputs = 40")
    lab.answer(f"/api/contents/{name}", {key: opened[key] for key in ("type", "format", "content")})
    after = (lab.folder / "notebooks" / name).read_text()

    def body(text: str) -> str:
        return text.split("# ---\n", 2)[2]

    assert body(after) == body(before).replace("inputs = None", "inputs = 40")
