"""Where the modules of version 0.1.0 have gone: an import of an old path says so. For one version.

What makes the book lies in `faithbook`, which comes with a clone of the repository (`pip install -e .[book]`) and not
with the wheel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

# Old path: new path; several, the one with the most-used names first, where a module has been split.
MOVED: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


class _Signpost:
    """The last finder: it is asked for what no other has found."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in MOVED:
            return None
        clone = " (a clone of the book's repository)" if MOVED[name].startswith("faithbook") else ""
        # Without `name=`, for Python passes over an error that carries it in `from faithlib import study`.
        raise ModuleNotFoundError(f"{name} has moved: since version 0.2.0 it is {MOVED[name]}{clone}")


def put_up() -> None:
    """Set the signpost at the end of Python's finders, once."""
    if not any(finder is _Signpost for finder in sys.meta_path):
        sys.meta_path.append(_Signpost)
