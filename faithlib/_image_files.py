"""Images as people hold them (PIL, files, arrays), as the pixels that a model expects.

Shape letters: B images, C channels, H and W pixels.
"""

import os
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from faithlib._warnings_log import note
from faithlib.errors import InputError, ModelError, require
from faithlib.inputs import ImageInputs

_PATCH = 16  # pixels of a feature, of models that are not made of patches


def are_images(items: Sequence[Any], model: Any, *, are_files: bool = False) -> bool:
    """Whether these are images or files of images: PIL images, paths, arrays of uint8, or strings for a model that says
    that it sees, or of which it is known that they `are_files`.

    >>> from pathlib import Path
    >>> are_images([Path("cat.png")], None), are_images(["a good film"], None)
    (True, False)
    """
    first = next((item for item in items if item is not None), None)
    if isinstance(first, str):
        return are_files or sees(model)
    return _is_file(first) or isinstance(first, os.PathLike) or hasattr(first, "getexif")


def sees(model: Any) -> bool:
    """Whether a model says that it reads images: of timm, or of Hugging Face.

    >>> sees(torch.nn.Flatten())
    False
    """
    return hasattr(model, "pretrained_cfg") or getattr(model, "main_input_name", "") == "pixel_values"


def check_pixels(inputs: ImageInputs, model: Any, *, stacklevel: int = 2) -> None:
    """InputError for images with another number of channels than the model says that it takes; a warning for pixels
    that seem not to be normalised.

    >>> from types import SimpleNamespace
    >>> check_pixels(image_inputs_from_pixels(torch.zeros(1, 1, 32, 32), None, None), SimpleNamespace(in_chans=3))
    Traceback (most recent call last):
    faithlib.errors.InputError: images have 1 channel(s), this SimpleNamespace takes 3: repeat the one of grayscale ...
    """
    channels, takes, name = inputs.pixels.shape[1], _channels(model), type(model).__name__
    if takes and channels != takes:
        raise InputError(
            f"images have {channels} channel(s), this {name} takes {takes}: repeat the one of grayscale images, "
            "pixels.expand(-1, 3, -1, -1), or give PIL images"
        )
    mean = (getattr(model, "pretrained_cfg", None) or {}).get("mean", (0,))
    if any(mean) and bool(((inputs.pixels >= 0) & (inputs.pixels <= 1)).all()):
        message = f"all pixels are between 0 and 1, and this {name} was trained on normalised ones (mean {mean})"
        warnings.warn(f"{message}: give PIL images, or normalise as its data config says", stacklevel=stacklevel)


def _channels(model: Any) -> int | None:
    config = getattr(model, "config", None)
    return getattr(model, "in_chans", None) or getattr(
        getattr(config, "vision_config", None) or config, "num_channels", None
    )


def pixels_from_files(images: Sequence[Any], model: Any, processor: Any) -> Tensor:
    """The images with the model's own transform: pixels [B, C, H, W].

    Each is turned as its camera says and brought to the channels that the model has (RGB, or grey for one). Then the
    `processor`: a Hugging Face image processor, or a function from a PIL image to pixels [C, H, W]; by default the
    transform of the model's timm configuration.

    Raises InputError for files that cannot be read as images, named by their row, and ModelError for a model without a
    transform.

    >>> import numpy as np
    >>> grey = lambda image: torch.ones(3, 32, image.height) / 2
    >>> pixels_from_files([np.zeros((32, 32), dtype="uint8")], torch.nn.Flatten(), grey).shape
    torch.Size([1, 3, 32, 32])
    """
    opened = [_opened(image, i, "L" if _channels(model) == 1 else "RGB") for i, image in enumerate(images)]
    return _transformed(opened, model, processor)


def image_inputs_from_pixels(pixels: Any, model: Any, patch: Any) -> ImageInputs:
    """Pixels [B, C, H, W] in patches of `patch` pixels, by default the model's own, or 16; by default also patches of
    nearly that size, where images are no whole number of them.

    >>> image_inputs_from_pixels(torch.zeros(1, 3, 32, 32), torch.nn.Flatten(), None).n_features
    tensor([4])
    """
    if not isinstance(patch, int | None):
        raise InputError(f"unit {patch!r}: of images expected the side of a square patch in pixels")
    config = getattr(model, "config", None)
    # A model of two towers has the patches of the one that sees.
    cut_by = getattr(model, "patch_embed", None) or getattr(config, "vision_config", None) or config
    patch_size = getattr(cut_by, "patch_size", None) or _PATCH
    side: int = patch_size if isinstance(patch_size, int) else max(patch_size)
    shape = tuple(getattr(pixels, "shape", ()))
    if patch is None and len(shape) == 4 and any(size % side for size in shape[-2:]):
        high, wide = (max(1, round(size / side)) for size in shape[-2:])
        note(
            "patches",
            f"images of {shape[-2]} x {shape[-1]} pixels are no whole number of {side}-pixel patches: they are cut "
            f"into {high} x {wide} of nearly that size; unit= names another, and images may be resized before",
        )
        down, across = torch.arange(shape[-2]) * high // shape[-2], torch.arange(shape[-1]) * wide // shape[-1]
        return ImageInputs.from_pixels(pixels, segments=down[:, None] * wide + across)
    return ImageInputs.from_pixels(pixels, patch=side if patch is None else patch)


def _opened(image: Any, i: int, mode: str) -> Any:
    pil = require("PIL.Image", extra="vision")
    ops = require("PIL.ImageOps", extra="vision")
    try:
        if isinstance(image, str | os.PathLike):
            held = pil.open(image)
        else:
            held = nullcontext(image if hasattr(image, "getexif") else pil.fromarray(image))
        with held as given:
            if given.mode[0] in "IF":  # which PIL would cut off at 255
                raise ValueError(f"mode {given.mode} has more than 8 bits a channel: scale it to 0 to 255, mode L")
            return ops.exif_transpose(given).convert(mode)
    except (OSError, SyntaxError, ValueError, TypeError, AttributeError, pil.DecompressionBombError) as error:
        what = image if isinstance(image, str | os.PathLike) else f"a {type(image).__name__}"
        raise InputError(f"image {i} ({what}) cannot be read as an image: {error}") from error


def _transformed(images: Sequence[Any], model: Any, processor: Any) -> Tensor:
    processor = getattr(processor, "image_processor", processor)
    if hasattr(processor, "preprocess"):  # of Hugging Face: all at once
        pixels: Tensor = processor(images=list(images), return_tensors="pt")["pixel_values"]
        return pixels
    if processor is None:
        if not getattr(model, "pretrained_cfg", None):
            raise ModelError(
                f"this {type(model).__name__} comes without a transform of images: give its image processor, or a "
                "function from a PIL image to pixels [C, H, W]: processor= of evaluate, transform= of images"
            )
        data = require("timm.data", extra="vision")
        config = data.resolve_model_data_config(model)
        if side := getattr(getattr(model, "patch_embed", None), "img_size", None):  # as built, not as first trained
            config["input_size"] = (config["input_size"][0], *side)
        processor = data.create_transform(**config, is_training=False)
    return _stacked([processor(image) for image in images], "the transform gives images")


def pixels_in(images: Any) -> Any:
    """Pixels that need no transform: an array or tensor of more than two dimensions, or a sequence of some with three;
    None where these are something else.

    >>> pixels_in([torch.zeros(3, 8, 8), torch.zeros(3, 8, 8)]).shape, pixels_in(["a good film"])
    (torch.Size([2, 3, 8, 8]), None)
    """
    if isinstance(images, list | tuple) and images and getattr(images[0], "ndim", 0) == 3 and not _is_file(images[0]):
        return _stacked(images, "these are images")
    return images if getattr(images, "ndim", 0) > 2 and not _is_file(images) else None


def _is_file(image: Any) -> bool:
    """Whether an array holds what files of images do: bytes."""
    return not isinstance(image, Tensor) and str(getattr(image, "dtype", "")) == "uint8"


def _stacked(images: Sequence[Any], what: str) -> Tensor:
    tensors = [torch.as_tensor(image) for image in images]
    if len({tensor.shape for tensor in tensors}) > 1:
        raise InputError(
            f"{what} of several sizes, {list(tensors[0].shape)} and others: expected one size [C, H, W]; resize and "
            "crop before"
        )
    return torch.stack(tensors)
