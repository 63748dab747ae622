"""Photographs that people cut out of their grounds, set into scenes: where the object lies is known cell by cell.

The stamps of Tux Paint, a paint program for children, are photographs whose transparency (alpha) somebody drew by hand,
so that nothing but the object is left. Eight of its folders are classes here. Each photograph belongs to one split, by
a hash of its name, and is set into scenes of 112 x 112 pixels on a ground of soft colours, each object small enough for
half of the scene. Scenes of one object ("stamps") ask whether an explanation finds the object; scenes of two objects of
unlike classes ("stamps-two") whether it finds the one whose class it explains (`where_it_points`). Nobody has to ask a
model for what people cut out, and agreement with it is plausibility, no faithfulness.

Shape letters: H and W pixels, B images, F cells.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from faithbook.sources.files import fetch, package_member, package_names
from faithbook.sources.splits import seeded, stable_hash
from faithlib.errors import DataError, InputError
from faithlib.metrics import auprc, iou, pointing_game

SIDE, CELL = 112, 14
"""Of a scene, and of one of its cells, which is a patch of ViT-S/14; pixels."""
CLASSES: dict[str, str] = {
    "bird": "animals/birds",
    "fish": "animals/fish",
    "flower": "plants/flowers",
    "fruit": "food/fruit",
    "insect": "animals/insects",
    "mammal": "animals/mammals",
    "vegetable": "food/vegetables",
    "vehicle": "vehicles",
}
"""The folder of each class; what lies in a folder `cartoon` is drawn, and left out."""
COPIES = {"train": 8, "dev": 2, "test": 1}
"""Scenes that are made of a photograph, each with another place and ground."""

_ROOT = PurePosixPath("./usr/share/tuxpaint/stamps")
_LEFT_OUT = ("animals/mammals/hedgehog.png", "animals/mammals/bears/toys/edward_bear.png")  # a drawing; a toy
_LARGEST = 54  # pixels across an object: it fits into half of a scene
_SHARE = 0.5  # of a cell, that an object covers where the cell is marked
_TEST, _DEV = 80, 24  # photographs

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Stamp:
    """A photograph of one object, cut out: `name` is its place in the package, `label` the number of its class, `image`
    has transparency."""

    name: str
    label: int
    image: Image.Image


@dataclass(frozen=True)
class Scene:
    """An image [112, 112, 3]; the stamps in it; and of each the cells of the 8 x 8 of which it covers at least half,
    counted row by row. `copy` numbers the scenes of the same stamps."""

    pixels: Pixels
    stamps: tuple[Stamp, ...]
    cells: tuple[tuple[int, ...], ...]
    copy: int

    def id_of(self, i: int) -> str:
        """The scene as one that shows its i-th object: that object's name, then the other's if any."""
        names = [self.stamps[i].name, *(stamp.name for stamp in self.stamps if stamp is not self.stamps[i])]
        return "+".join(names) + (f"@{self.copy}" if self.copy else "")


def scenes(split: str, objects: int) -> list[Scene]:
    """The scenes of a split ("train", "dev", "test") with one object or with two of unlike classes, always the same.

    Of two, every photograph of the split meets the next one of another class, in an order made of names. A scene in
    which an object covers no cell is left out. Raises DataError for a package that cannot be had or read.
    """
    photographs = stamps(split)
    groups = (
        [(photograph,) for photograph in photographs]
        if objects == 1
        else [(photograph, _next_unlike(photographs, i)) for i, photograph in enumerate(photographs)]
    )
    made = [_scene(group, copy) for group in groups for copy in range(COPIES[split])]
    return [scene for scene in made if all(scene.cells)]


def stamps(split: str) -> list[Stamp]:
    """The photographs of a split, in an order made of their names."""
    photographs = sorted(_every_stamp(fetch("stamps")), key=lambda stamp: stable_hash("stamps", stamp.name))
    cut = {"test": photographs[:_TEST], "dev": photographs[_TEST : _TEST + _DEV], "train": photographs[_TEST + _DEV :]}
    return cut[split]


@cache
def _every_stamp(archive: Path) -> tuple[Stamp, ...]:
    photographs = []
    for name in package_names(archive):
        place = PurePosixPath(name)
        inside = str(place.relative_to(_ROOT)) if place.is_relative_to(_ROOT) else ""
        label = next((i for i, folder in enumerate(CLASSES.values()) if inside.startswith(f"{folder}/")), None)
        if label is None or place.suffix != ".png" or "cartoon" in place.parts or inside in _LEFT_OUT:
            continue
        image = Image.open(io.BytesIO(package_member(archive, name))).convert("RGBA")
        photographs.append(Stamp(inside.removesuffix(".png"), label, image.crop(image.getchannel("A").getbbox())))
    if len({stamp.label for stamp in photographs}) < len(CLASSES):
        raise DataError(f"{archive} lacks photographs of some classes: expected all of {', '.join(CLASSES)}")
    return tuple(photographs)


def _next_unlike(photographs: list[Stamp], i: int) -> Stamp:
    return next(
        photograph
        for photograph in [*photographs[i + 1 :], *photographs[:i]]
        if photograph.label != photographs[i].label
    )


def _scene(group: tuple[Stamp, ...], copy: int) -> Scene:
    """The objects side by side in an order that is drawn, each at a place of its half that is drawn."""
    generator = seeded("scene", *(stamp.name for stamp in group), str(copy))
    canvas = _ground(generator)
    halves = generator.permutation(2)
    cells = []
    for stamp, half in zip(group, halves, strict=False):
        small = stamp.image.copy()
        small.thumbnail((_LARGEST, _LARGEST))
        left = int(half) * SIDE // 2 + int(generator.integers(SIDE // 2 - small.width + 1))
        top = int(generator.integers(SIDE - small.height + 1))
        canvas.paste(small, (left, top), small)
        covered = np.zeros((SIDE, SIDE))
        covered[top : top + small.height, left : left + small.width] = np.asarray(small.getchannel("A")) / 255
        shares = covered.reshape(SIDE // CELL, CELL, SIDE // CELL, CELL).mean(axis=(1, 3)).flatten()
        cells.append(tuple(np.flatnonzero(shares >= _SHARE).tolist()))
    return Scene(np.asarray(canvas), group, tuple(cells), copy)


def _ground(generator: np.random.Generator) -> Image.Image:
    """Colours that flow into one another: not the one colour that an erased cell has."""
    few = generator.integers(80, 176, size=(4, 4, 3), dtype=np.uint8)
    return Image.fromarray(few).resize((SIDE, SIDE), Image.Resampling.BICUBIC)


# ------------------------------------------------------------------------------------------------ where a map points
def mask_of(cells: Sequence[Sequence[int]], n_cells: int) -> Tensor:
    """Cells as a mask, bool [B, F].

    >>> mask_of([(0, 2), ()], 3).tolist()
    [[True, False, True], [False, False, False]]
    """
    mask = torch.zeros(len(cells), n_cells, dtype=torch.bool)
    for row, marked in enumerate(cells):
        mask[row, list(marked)] = True
    return mask


def where_it_points(scores: Tensor, cells: Tensor, others: Tensor) -> dict[str, Tensor]:
    """Values [B] of maps [B, F]: how well they lie on the object of the explained class, whose cells are `cells`.

    - `pointing_game`, `iou`, `auprc`: as in `faithlib.metrics`, with the object's cells as what people marked.
    - `astray`: 1 where the cell with the highest score is one of the `others` object in the image. Lower is better;
      the share of its cells by chance, 0 where there is no other.

    Raises InputError where an image has no cell of its object or one cell is both objects', and what `auprc` raises.

    >>> own, other = torch.tensor([[True, True, False, False]]), torch.tensor([[False, False, True, False]])
    >>> found = where_it_points(torch.tensor([[0.5, 0.1, 0.9, 0.0]]), own, other)
    >>> [round(found[name].item(), 3) for name in ("pointing_game", "astray", "iou")]
    [0.0, 1.0, 0.333]
    """
    if not bool(cells.any(dim=1).all()):
        raise InputError(
            f"image {int((~cells.any(dim=1)).nonzero()[0])} has no cell of its object: expected one or more"
        )
    if bool((cells & others).any()):
        raise InputError("a cell is said to be of both objects: expected it in one of the masks")
    values = {
        "pointing_game": pointing_game(scores, cells),
        "astray": pointing_game(scores, others).nan_to_num(),
        "iou": iou(scores, cells),
        "auprc": auprc(scores, cells),
    }
    return {name: value.double() for name, value in values.items()}
