"""The model cards of the checkpoints here: what each reached, without loading any of them.

Json alone, so that pages which only read results need no tensors.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from faithbook.access import require
from faithbook.artifacts import CARDS
from faithbook.paths import checkpoints_dir
from faithlib.errors import DataError, unknown

WHAT_TO_DO = (
    "get it again from where it came: `git checkout` for what is shipped, `make train` for what was trained here, the "
    "original for a copy"
)


def local_checkpoints() -> list[str]:
    """Names that `local:` knows: every folder of data/checkpoints with a card, at any depth."""
    folder = checkpoints_dir()
    names = sorted(card.parent.relative_to(folder).as_posix() for card in folder.rglob("card.json"))
    return [name for name in names if not name.endswith(".part")]  # those are still being written


def cards(kind: str = "text") -> pd.DataFrame:
    """What every checkpoint of a kind ("text", "vision") reached on its test split, a row each, wherever it lies below
    data/checkpoints; `checkpoint` is the name that `local:` knows, a text `classifier` is "" for the task's own.

    Raises UnknownNameError for another kind, DataError for a card that cannot be read.
    """
    if kind not in ("text", "vision"):
        raise unknown("kind of checkpoint", kind, ("text", "vision"))
    require(CARDS)
    rows = [
        {"checkpoint": name, "classifier": "", **read_json(checkpoints_dir() / name / "card.json")}
        for name in local_checkpoints()
    ]
    # Classifiers of texts stand on an encoder.
    return pd.DataFrame([row for row in rows if ("encoder" in row) == (kind == "text")])


def read_json(file: Path) -> dict[str, Any]:
    """A JSON file of a checkpoint; DataError where it is missing, damaged or holds something else than names."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read ({error}): {WHAT_TO_DO}") from error
    if not isinstance(content, dict):
        raise DataError(f"{file} holds {type(content).__name__}, expected names and values: {WHAT_TO_DO}")
    return content
