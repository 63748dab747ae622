"""What the present run has said it reads: whatever opens a source, a checkpoint or a committed table asks here.

The name of a run is a digest of what it declares (`loads` in its study.py). What it opened beside that could
change and the run would still be served as done; so inside a run the undeclared is refused. Outside a run nothing is.

Names are those of `faithbook.artifacts`, a model in a folder by the folder's path; of a data set, what it is read from.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from faithbook.artifacts import resolve
from faithlib.errors import InputError

T = TypeVar("T")
_TABLES = ("data", "data/published")
_declared: frozenset[str] | None = None
_opened: set[str] = set()
_remembered: list[Callable[[], None]] = []  # each forgets what one loader has read


def declare(names: Iterable[str] | None) -> None:
    """Begin a run that may open these, and of folders what lies in them, and nothing else; None: end it, nothing is
    refused."""
    global _declared
    _declared = None if names is None else frozenset(names)
    _opened.clear()
    for forget in _remembered if names is not None else ():
        forget()


def require(*names: str) -> None:
    """Take note that these are opened; InputError inside a run that has not declared one of them."""
    if _declared is None:
        return
    for name in names:
        if not {name, name.rpartition("/")[0]} & _declared:
            raise InputError(
                f"this run opens {name!r}, which its notebook does not declare: name it, or what holds it, under "
                f"`loads` of the notebook in its study.py; declared: {', '.join(_listed()) or 'nothing'}"
            )
    _opened.update(names)


def remembered(load: Callable[..., T]) -> Callable[..., T]:
    """`functools.cache` for what opens something; a run that begins opens it again."""
    cached = functools.cache(load)
    _remembered.append(cached.cache_clear)
    return cached


def opened() -> list[str]:
    """What the present run has opened so far."""
    return sorted(_opened)


def require_model(spec: str) -> None:
    """`require` for a model by the name that `load_model` takes; what a notebook wrote itself needs no declaration."""
    name = resolve(spec).declared
    if not Path(name).is_relative_to(Path(tempfile.gettempdir()).resolve()):
        require(name)


def _listed() -> list[str]:
    """The declared names fit for a message: models and sources, not the tables that every report may open."""
    return sorted(name for name in _declared or () if not name.startswith("data/reference/") and name not in _TABLES)
