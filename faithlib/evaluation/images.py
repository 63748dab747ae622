"""Images as people hold them (PIL, files, arrays), as the pixels that a model expects.

Shape letters: B images, C channels, H and W pixels.
"""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from faithlib.errors import InputError, ModelError, require
from faithlib.inputs import ImageInputs

_PATCH = 16  # pixels of a feature, of models that are not made of patches


def are_images(items: Sequence[Any], model: Any) -> bool:
    """Whether these are images or files of images: PIL images, paths, arrays of uint8, or strings for a model that does
    not read texts.

    >>> from pathlib import Path
    >>> are_images([Path("cat.png")], None), are_images(["a good film"], None)
    (True, False)
    """
    first = next((item for item in items if item is not None), None)
    if isinstance(first, str):
        return hasattr(model, "pretrained_cfg") or getattr(model, "main_input_name", "") == "pixel_values"
    is_array = str(getattr(first, "dtype", "")) == "uint8" and not isinstance(first, Tensor)
    return is_array or isinstance(first, os.PathLike) or hasattr(first, "getexif")


def check_pixels(inputs: ImageInputs, model: Any) -> None:
    """InputError for images with another number of channels than the model says that it takes; a warning for pixels
    that seem not to be normalised.

    >>> from types import SimpleNamespace
    >>> check_pixels(inputs_of_pixels(torch.zeros(1, 1, 32, 32), None, None), SimpleNamespace(in_chans=3))
    Traceback (most recent call last):
    faithlib.errors.InputError: images have 1 channel(s), this SimpleNamespace takes 3: repeat the one of grayscale ...
    """
    channels, own, name = inputs.pixels.shape[1], _channels(model), type(model).__name__
    if own and channels != own:
        raise InputError(
            f"images have {channels} channel(s), this {name} takes {own}: repeat the one of grayscale images, "
            "pixels.expand(-1, 3, -1, -1), or give PIL images"
        )
    mean = (getattr(model, "pretrained_cfg", None) or {}).get("mean", (0,))
    if any(mean) and bool(((inputs.pixels >= 0) & (inputs.pixels <= 1)).all()):
        told = f"all pixels are between 0 and 1, and this {name} was trained on normalised ones (mean {mean})"
        warnings.warn(f"{told}: give PIL images, or normalise as its data config says", stacklevel=4)


def _channels(model: Any) -> int | None:
    return getattr(model, "in_chans", None) or getattr(getattr(model, "config", None), "num_channels", None)


def inputs_of_images(
    images: Sequence[Any], model: Any, processor: Any, patch: Any, rows: Sequence[int] | None = None
) -> ImageInputs:
    """The images, or those in some rows, with the model's own transform, cut into patches of `patch` pixels.

    Each is turned as its camera says and brought to the channels that the model has (RGB, or grey for one). Then the
    `processor`: a Hugging Face image processor, or a function from a PIL image to pixels [C, H, W]; by default the
    transform of the model's timm configuration. Patches are the model's own, or 16 pixels.

    Raises InputError for files that cannot be read as images, named by their row, for a model without a transform, and
    for pixels or patches that do not fit.

    >>> import numpy as np
    >>> grey = lambda image: torch.ones(3, 32, image.height) / 2
    >>> inputs_of_images([np.zeros((32, 32), dtype="uint8")], torch.nn.Flatten(), grey, None).n_features
    tensor([4])
    """
    chosen = images if rows is None else [images[row] for row in rows]
    opened = [_opened(image, i, "L" if _channels(model) == 1 else "RGB") for i, image in enumerate(chosen)]
    return inputs_of_pixels(_transformed(opened, model, processor), model, patch)


def inputs_of_pixels(pixels: Any, model: Any, patch: Any) -> ImageInputs:
    """Pixels [B, C, H, W] in patches of `patch` pixels, by default the model's own, or 16.

    >>> inputs_of_pixels(torch.zeros(1, 3, 32, 32), torch.nn.Flatten(), None).n_features
    tensor([4])
    """
    if not isinstance(patch, int | None):
        raise InputError(f"unit {patch!r}: of images expected the side of a square patch in pixels")
    cut_by = getattr(model, "patch_embed", None) or getattr(model, "config", None)
    own = getattr(cut_by, "patch_size", None) or _PATCH
    side: int = own if isinstance(own, int) else max(own)
    return ImageInputs.from_pixels(pixels, patch=patch or side)


def _opened(image: Any, i: int, mode: str) -> Any:
    pil = require("PIL.Image", extra="vision")
    ops = require("PIL.ImageOps", extra="vision")
    try:
        if isinstance(image, str | os.PathLike):
            with pil.open(image) as file:
                return ops.exif_transpose(file).convert(mode)
        given = image if hasattr(image, "getexif") else pil.fromarray(image)
        return ops.exif_transpose(given).convert(mode)
    except (OSError, SyntaxError, ValueError, TypeError, AttributeError, pil.DecompressionBombError) as error:
        what = image if isinstance(image, str | os.PathLike) else f"a {type(image).__name__}"
        raise InputError(f"image {i} ({what}) cannot be read as an image: {error}") from error


def _transformed(images: Sequence[Any], model: Any, processor: Any) -> Tensor:
    processor = getattr(processor, "image_processor", processor)
    if hasattr(processor, "preprocess"):  # of Hugging Face: all at once
        return processor(images=list(images), return_tensors="pt")["pixel_values"]
    if processor is None:
        if not getattr(model, "pretrained_cfg", None):
            raise ModelError(
                f"this {type(model).__name__} comes without a transform of images: give its image processor as "
                "processor=, or a function from a PIL image to pixels [C, H, W]"
            )
        data = require("timm.data", extra="vision")
        config = data.resolve_model_data_config(model)
        if side := getattr(getattr(model, "patch_embed", None), "img_size", None):  # as built, not as first trained
            config["input_size"] = (config["input_size"][0], *side)
        processor = data.create_transform(**config, is_training=False)
    found = [torch.as_tensor(processor(image)) for image in images]
    if len({one.shape for one in found}) > 1:
        raise InputError(
            f"the transform gives images of several sizes, {list(found[0].shape)} and others: expected one size [C, "
            "H, W]; resize and crop in it"
        )
    return torch.stack(found)
