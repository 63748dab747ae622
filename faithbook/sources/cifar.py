"""CIFAR-10 and CIFAR-100 as they are handed round: official archives, folders of images, twenty in a package, which
has twenty of ImageNet, too.

Whatever form they come in, classes are counted as the official archives count them, and pixels are the same bytes.

Shape letters: N images of 32 x 32 pixels.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from faithbook.sources.files import fetch, read_member, sources
from faithbook.text import some
from faithlib.errors import DataError

SIDE = 32
FEW = "cifar-few"

Pixels = NDArray[np.uint8]
Labels = NDArray[np.integer[Any]]

NAMES: dict[str, tuple[str, ...]] = {
    "cifar10": tuple("airplane automobile bird cat deer dog frog horse ship truck".split()),
    "cifar100": tuple(
        """
        apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can
        castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin
        elephant
        flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man
        maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree
        plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper
        snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train
        trout tulip turtle wardrobe whale willow_tree wolf woman worm
        """.split()
    ),
}
"""The classes in the order of their numbers."""
PHOTOGRAPHS = (*NAMES, "stamps", "stamps-two")
"""The sets of photographs that the larger substitute sees: pages keep them apart from small grey images."""

# By set: bytes of labels before an image, the archive's folder, its files of training and test images and of names.
_BATCHES = [f"data_batch_{i}.bin" for i in range(1, 6)]
_ARCHIVES = {
    "cifar10": (1, "cifar-10-batches-bin", _BATCHES, "test_batch.bin", "batches.meta.txt"),
    "cifar100": (2, "cifar-100-binary", ["train.bin"], "test.bin", "fine_label_names.txt"),
}


def read_archive(name: str, part: str) -> tuple[Pixels, Labels]:
    """Images [N, 32, 32, 3] and labels [N] of a part ("train", "test") of an official archive in binary form.

    Raises DataError for an archive that is damaged or cut short, that names other classes, or in which a label is none.
    """
    archive = fetch(name)
    label_bytes, folder, train, test, named = _ARCHIVES[name]
    names = tuple(read_member(archive, f"{folder}/{named}").decode(errors="replace").split())
    if names != NAMES[name]:
        order = f"expected the {len(NAMES[name])} of {name} in their order: {some(NAMES[name])}"
        raise DataError(f"{archive}: its classes are {some(names) or 'none'}; {order}")
    record = label_bytes + 3 * SIDE * SIDE
    raw = b"".join(read_member(archive, f"{folder}/{file}") for file in (train if part == "train" else [test]))
    if not raw or len(raw) % record:
        raise DataError(
            f"{archive}: {len(raw)} bytes are no whole number of {record}-byte records; delete it and fetch it again"
        )
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(-1, record)
    pixels = np.ascontiguousarray(rows[:, label_bytes:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1))
    labels = rows[:, label_bytes - 1].astype(np.int64)
    highest = int(labels.max())
    if highest >= len(NAMES[name]):
        raise DataError(f"{archive}: label {highest} in {name}, whose {len(NAMES[name])} classes are counted from 0")
    return pixels, labels


def read_folder(name: str, part: str) -> tuple[Pixels, Labels]:
    """Images [N, 32, 32, 3] and labels [N] of the files in `<part>/<class>/` of the set's folder, in no order.

    Raises DataError for a part without images, a folder that is named as no class, a file that is not an image or none
    of 32 x 32 pixels.
    """
    place = folder_of_archive(name) / part
    classes = sorted(folder for folder in place.iterdir() if folder.is_dir()) if place.is_dir() else []
    files = [
        (file, folder.name) for folder in classes for file in sorted(folder.iterdir()) if not file.name.startswith(".")
    ]
    if not files:
        raise DataError(f"{place}: no images; expected a folder of PNG files for each class of {name}, by its name")
    strange = [folder.name for folder in classes if folder.name not in NAMES[name]]
    if strange:
        raise DataError(f"{place}: {some(strange)} is no class of {name}; its classes are {some(NAMES[name])}")
    pixels = np.stack([_of_cifar(file.read_bytes(), file) for file, _ in files])
    return pixels, np.array([NAMES[name].index(label) for _, label in files])


def read_few(name: str) -> tuple[tuple[Pixels, ...], tuple[int, ...]]:
    """Twenty images and their labels, out of a package whose file names hold both: the first test images of a set
    [32, 32, 3], or images of "imagenet" [height, width, 3], each of its own size, of a thousand classes."""
    form = re.compile(rf"foolbox/data/{name}_(\d+)_(\d+)\.(png|jpg)")
    with zipfile.ZipFile(fetch(FEW)) as opened:
        matches = [match for match in map(form.fullmatch, sorted(opened.namelist())) if match]
        read = _picture if name == "imagenet" else _of_cifar
        pixels = tuple(read(opened.read(match.group()), Path(match.group())) for match in matches)
    return pixels, tuple(int(match.group(2)) for match in matches)


def folder_of_archive(name: str) -> Path:
    """Where the set's images lie as files, if they do."""
    return sources()[f"{name}-folder"].path.parent


def _picture(content: bytes, file: Path) -> Pixels:
    try:
        pixels = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
    except (OSError, UnidentifiedImageError, SyntaxError) as error:
        raise DataError(f"{file} cannot be read as an image: {error}; get it again, or take it out") from error
    return pixels


def _of_cifar(content: bytes, file: Path) -> Pixels:
    pixels = _picture(content, file)
    if pixels.shape != (SIDE, SIDE, 3):
        high, wide = pixels.shape[:2]
        raise DataError(f"{file} has {wide} x {high} pixels: expected the {SIDE} x {SIDE} of CIFAR")
    return pixels
