"""Where the repository is: the only module that knows."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from faithlib.errors import DataError


def root() -> Path:
    """The repository: where `notebooks/`, `data/` and `book/` are (`FAITHLIB_HOME` names another one)."""
    return _resolved(os.environ.get("FAITHLIB_HOME") or __file__.rpartition(f"{os.sep}faithbook{os.sep}")[0])


@functools.cache  # it is asked for thousands of times in one plan
def _resolved(folder: str) -> Path:
    return Path(folder).resolve()


def checked_root() -> Path:
    """The repository; DataError where there is none, as beside a package that was installed without its clone."""
    folder = root()
    if not (folder / "faithbook" / "studies").is_dir():
        raise DataError(
            f"{folder} is no clone of the book's repository (no faithbook/studies): set FAITHLIB_HOME to one"
        )
    return folder


def studies_dir() -> Path:
    """The folder in which each study has a folder of its own."""
    return checked_root() / "faithbook" / "studies"


def results_dir(profile: str) -> Path:
    """Where everything made at a profile lies: `data/results/<profile>`."""
    return root() / "data" / "results" / profile


def reference_dir() -> Path:
    """The committed results of the full profile."""
    return root() / "data" / "reference" / "full"


def confirmatory_dir() -> Path:
    """The committed values of the confirmatory run."""
    return root() / "data" / "reference" / "confirmatory"


def checkpoints_dir() -> Path:
    """The checkpoints that come with the repository, and where `make train` puts them."""
    return checked_root() / "data" / "checkpoints"


def raw_dir() -> Path:
    """The folder of fetched files: `FAITHLIB_DATA`, or `data/raw`."""
    return _resolved(named) if (named := os.environ.get("FAITHLIB_DATA")) else checked_root() / "data" / "raw"
