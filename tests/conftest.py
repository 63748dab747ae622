"""What all tests share: one thread each, nothing from the network, marks that skip what the machine lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

# Before torch is imported anywhere: tests run side by side at one thread each, and nothing may look outside.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # shap compiles for nine seconds what takes our few words none
os.environ["REPOSITORY"] = ""  # books that tests build are of nobody, in GitHub's Actions too

import pytest
import torch
from browser import Browser, browser, chromium
from hypothesis import settings
from store import Store

from faithbook.access import declare

torch.set_num_threads(1)
# No test has a clock: by default an example that takes longer than a fifth of a second fails.
settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")
ROOT = Path(__file__).resolve().parents[1]
WITH_BOOK = 3


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty result store, on which reports run."""
    return Store(tmp_path, monkeypatch)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips for what the machine lacks; long tests first, so that no worker ends with one.

    One worker builds the small book at once, and the other does not wait for it: what else needs it comes last.
    """
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="no CUDA device on this machine"))
        if "partition_shap" in item.nodeid and find_spec("shap") is None:
            item.add_marker(pytest.mark.skip(reason="shap is not installed: `make` renews the environment"))
        if item.get_closest_marker("browser") and chromium() is None:
            item.add_marker(pytest.mark.skip(reason="no Chromium on this machine: pages are not checked in a browser"))
        if "html" in getattr(item, "fixturenames", ()):  # the first of them builds the book in small
            item.add_marker(pytest.mark.timeout(2400))
    turns: dict[Path, set[int]] = defaultdict(set)
    for item in items:
        turns[item.path].add(_turn(item))
    # Workers take whole files, in the order of their first tests: one with a test that needs the book waits for it.
    order = {path: WITH_BOOK if WITH_BOOK in found else min(found) for path, found in turns.items()}
    items.sort(key=lambda item: (order[item.path], item.path, _turn(item)))


def _turn(item: pytest.Item) -> int:
    """The book's own file first, then what is slow, and what needs the book last."""
    if item.path.name == "test_book.py":
        return 0
    if item.get_closest_marker("book"):
        return WITH_BOOK
    return 1 if item.get_closest_marker("slow") else 2


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built pages; builds the smoke book where none is named."""
    if folder := os.environ.get("FAITHLIB_BOOK_HTML"):
        return Path(folder).resolve()
    line = [sys.executable, "-m", "faithbook", "book", "--profile", "smoke"]
    # The book's notebooks set their own threads, and find nothing of this test run in their environment.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("FAITHLIB_RUN", "PYTEST"))}
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the smoke book did not build:\n{done.stdout}\n{done.stderr}"
    return ROOT / "data" / "results" / "smoke" / "book" / "_build" / "html"


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """One Chromium for the tests of a file."""
    with browser() as opened:
        yield opened


@pytest.fixture(autouse=True)
def outside_a_run() -> Iterator[None]:
    """No test finds itself in a run that another began and did not end."""
    declare(None)
    yield
    declare(None)  # before fixtures of a whole module, which come ahead of this one


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small study of its own, which the engine takes for the repository."""
    from tiny import make_home

    monkeypatch.setenv("FAITHLIB_HOME", str(tmp_path))
    monkeypatch.delenv("FAITHLIB_RUN", raising=False)
    return make_home(tmp_path)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Where a family's tiny model lies, saved as on the hub; written once."""
    from families import models_in

    return models_in(tmp_path_factory.mktemp("hub"))


@pytest.fixture
def shared_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    from families import share_to_the_last

    share_to_the_last(monkeypatch)
