"""Files of checkpoints, read or refused by name: weights are safetensors, all else is JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor, nn

from faithlib.errors import DataError

WHAT_TO_DO = (
    "get it again from where it came: `git checkout` for what is shipped, `make train` for what was trained here, the "
    "original for a copy"
)


def check_weights(folder: Path) -> None:
    """DataError naming the first *.safetensors of a folder that is damaged or cut short. Headers are read, and held
    against the files' sizes; values are not."""
    for file in sorted(folder.glob("*.safetensors")):
        with _damage_named(file), safetensors.safe_open(file, "pt"):
            pass


def read_weights(file: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file; DataError where it is missing, damaged or cut short."""
    with _damage_named(file):
        return safetensors.torch.load_file(file)


def fill(model: nn.Module, file: Path) -> None:
    """Put a file's tensors into a model, all of them and no others; DataError where names or shapes differ."""
    weights = read_weights(file)
    try:
        # Checkpoints are saved in half precision; loading copies them into the model's float32.
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise DataError(f"{file} does not hold the weights of this model ({error}): {WHAT_TO_DO}") from error


def read_json(file: Path) -> dict[str, Any]:
    """A JSON file of a checkpoint; DataError where it is missing, damaged or holds something else than names."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read ({error}): {WHAT_TO_DO}") from error
    if not isinstance(found, dict):
        raise DataError(f"{file} holds {type(found).__name__}, expected names and values: {WHAT_TO_DO}")
    return found


@contextmanager
def _damage_named(file: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError) as error:
        raise DataError(f"{file} is missing, damaged or cut short ({error}): {WHAT_TO_DO}") from error
