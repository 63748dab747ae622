"""Weights of checkpoints, read or refused by name: safetensors alone (all else is JSON, `faithbook.models.cards`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from faithbook.models.cards import WHAT_TO_DO
from faithlib.errors import DataError


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


def fill(model: nn.Module, file: Path, adapted: Callable[[Any, nn.Module], Any] = lambda weights, _: weights) -> None:
    """Put a file's tensors, `adapted` to a model, into it, all of them and no others; DataError where names or shapes
    differ."""
    weights = adapted(read_weights(file), model)
    try:
        # Checkpoints are saved in half precision; loading copies them into the model's float32.
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise DataError(f"{file} does not hold the weights of this model ({error}): {WHAT_TO_DO}") from error


def onnx_state(exported: bytes, root: str) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The state of the module `root` out of an ONNX export of a model that holds it, and all tensors of the file.

    Weights of linear layers lost their names in the export and are stored transposed; the node that multiplies by one
    still carries the module's path.
    """
    import onnx  # only ever needed once on a machine
    from onnx import numpy_helper

    graph = onnx.load_from_string(exported).graph
    tensors = {tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy()) for tensor in graph.initializer}
    named = (name for name in tensors if f"{root}." in name)
    state = {name.rpartition(f"{root}.")[2]: tensors[name] for name in named}
    for node in graph.node:
        path = re.fullmatch(rf".*/{root}/(.+)/MatMul", node.name)
        if node.op_type == "MatMul" and path and node.input[1] in tensors:
            state[path[1].replace("/", ".") + ".weight"] = tensors[node.input[1]].T.contiguous()
    return state, tensors


@contextmanager
def _damage_named(file: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError) as error:
        raise DataError(f"{file} is missing, damaged or cut short ({error}): {WHAT_TO_DO}") from error
