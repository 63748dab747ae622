"""Studies of a home that a test may change: what people would edit in a `study.py`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from tiny import REPOSITORY

OF_REPOSITORY = REPOSITORY / "faithbook" / "studies"


def copy_studies(home: Path) -> None:
    """Give a home that stands on the repository a `study.py` of its own for every study."""
    place = home / "faithbook"
    if place.is_symlink():
        place.unlink()
    for file in OF_REPOSITORY.glob("*/study.py"):
        (place / "studies" / file.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place / "studies" / file.parent.name)


def change(home: Path, notebook: str, profile: str, **settings: Any) -> None:
    """Let a notebook of a home have other settings at a profile, or further ones; plain values."""
    append(home, notebook, f"lambda at, then: at | {settings!r} if {profile!r} == then.name else at")


def cut(home: Path, notebook: str, profile: str, parts: int) -> None:
    """Let a notebook of a home share its inputs out among so many runs."""
    file = study_file(home, notebook)
    entry = f"study.notebooks[{notebook!r}]"
    changed = f"type({entry})(**dict({entry}) | {{'parts': {entry}.parts | {{{profile!r}: {parts}}}}})"
    file.write_text(f"{file.read_text()}\n{entry} = {changed}\n")


def append(home: Path, notebook: str, change: str) -> None:
    """Add code to the study of a notebook that changes its settings: a function of these and of the profile."""
    file = study_file(home, notebook)
    entry = f"study.notebooks[{notebook!r}]"
    changed = f"lambda profile, before={entry}.settings, change=({change}): change(before(profile), profile)"
    file.write_text(f"{file.read_text()}\n{entry} = {entry}.model_copy(update={{'settings': {changed}}})\n")


def study_file(home: Path, notebook: str) -> Path:
    """The `study.py` of a home that has a notebook."""
    for file in sorted((home / "faithbook" / "studies").glob("*/study.py")):
        if re.search(rf'def {notebook}\(|study\.(report|own)\(\s*"{notebook}"', file.read_text()):
            return file
    raise AssertionError(f"no study of {home} has {notebook}")
