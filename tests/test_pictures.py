"""Picture data sets: fixed splits without overlap, files of other people read with care, models told apart by name."""

from __future__ import annotations

import csv
import io
import json
import pickle
import tarfile

import jupytext
import numpy as np
import papermill
import pytest
import timm
import torch
from PIL import Image

from faithbook.models.cards import cards, local_checkpoints
from faithbook.models.load import load_model
from faithbook.paths import root
from faithbook.sources import cifar, files, images
from faithbook.sources.images import as_inputs, load_pictures, shipped_pictures
from faithlib.attribution import attribute
from faithlib.attribution.registry import IMAGE_METHODS
from faithlib.errors import DataError, UnknownNameError
from faithlib.inputs import ImageInputs

VISION = [name for name in local_checkpoints() if name.startswith("vision/")]


def test_the_shipped_fashion_pictures_are_balanced_and_fixed():
    test = load_pictures("fashion", "test")
    assert len(test) == 1000
    assert np.bincount(test.labels).tolist() == [100] * 10
    assert test.digest == "c8b7ff2206c2a3fe"
    assert shipped_pictures().with_name("LICENSE-fashion-mnist").exists()


@pytest.mark.parametrize(("name", "sizes"), [("mnist", (3600, 400, 1000)), ("animals", (8016, 700, 1000))])
def test_splits_share_no_picture(name, sizes):
    with pytest.raises(UnknownNameError, match="known:"):
        load_pictures(name, "all")
    parts = [load_pictures(name, split) for split in ("train", "dev", "test")]
    assert tuple(map(len, parts)) == sizes
    ids = [set(part.ids) for part in parts]
    assert [len(one) for one in ids] == list(sizes)
    assert not ids[0] & ids[1]
    assert not ids[0] & ids[2]
    assert not ids[1] & ids[2]


class _Harmful:
    def __reduce__(self):
        return eval, ("1 + 1",)


@pytest.mark.parametrize("made", [_Harmful(), [1, 2], np.array(["a", None], dtype=object)])
def test_pickles_that_are_not_plain_arrays_are_refused(made):
    with pytest.raises(DataError, match="NumPy array"):
        images._numpy_pickle(pickle.dumps(made))


def test_debian_package_without_apt_says_where_to_put_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match=r"dataset-fashion-mnist.*copy"):
        files.fetch("fashion")


def _tar(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def _cifar_pictures():
    generator = np.random.default_rng(0)
    return generator.integers(0, 256, (40, 32, 32, 3), dtype=np.uint8), generator.integers(0, 10, 40, dtype=np.uint8)


@pytest.mark.parametrize(("name", "extra"), [("cifar10", 0), ("cifar100", 1)])
def test_cifar_in_its_binary_form(name, extra, tmp_path, monkeypatch):
    pixels, labels = _cifar_pictures()
    records = b"".join(
        bytes([7] * extra) + bytes([label]) + image.transpose(2, 0, 1).tobytes()
        for image, label in zip(pixels, labels, strict=True)
    )
    folder = "cifar-10-batches-bin" if name == "cifar10" else "cifar-100-binary"
    test, named = ("test_batch.bin", "batches.meta.txt") if name == "cifar10" else ("test.bin", "fine_label_names.txt")
    names = "\n".join(cifar.NAMES[name]).encode()
    archive = _tar(tmp_path / "a.tar.gz", {f"{folder}/{test}": records, f"{folder}/{named}": names})
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))  # where no folder of pictures goes before the archive
    monkeypatch.setattr(cifar, "fetch", lambda source: archive)
    loaded = images._SETS[name].__wrapped__("test")
    assert np.array_equal(np.stack(loaded.images), pixels)
    assert loaded.labels == tuple(labels.tolist())


def _imagenet_files(folder):
    (folder / "imagenet" / "images").mkdir(parents=True)
    noise = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "imagenet" / "images" / "a.png")
    with (folder / "imagenet" / "labels.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["file", "class_index", "name"], ["a.png", 3, "shark"]])


def test_imagenet_folder_and_the_models_own_preparation(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    load = images._SETS["imagenet"].__wrapped__
    with pytest.raises(DataError, match=r"labels\.csv is missing"):
        load("test")
    _imagenet_files(tmp_path)
    loaded = load("test")[:2]
    model = timm.create_model("vit_tiny_patch16_224", pretrained=False).eval()
    inputs = as_inputs(loaded, model, patch=16)
    assert tuple(inputs.pixels.shape[1:]) == (3, 224, 224)
    assert inputs.feature_mask.shape[1] == 196
    assert len(loaded.label_names) >= 1000
    (tmp_path / "imagenet" / "images" / "a.png").write_bytes(b"not a picture")
    with pytest.raises(DataError, match="cannot be read as an image"):
        load("test").opened()


@pytest.mark.parametrize("name", VISION)
def test_shipped_vision_transformers_reach_their_cards_accuracy(name):
    loaded = load_model(f"local:{name}")
    test = load_pictures(loaded.card["dataset"], "test", n=200)
    with torch.inference_mode():
        predicted = loaded.model(as_inputs(test, loaded.model).pixels).argmax(1)
    accuracy = (predicted == torch.tensor(test.labels)).float().mean().item()
    assert loaded.label_names == test.label_names
    # Four standard deviations of a share of 200.
    assert abs(accuracy - loaded.card["accuracy"]) < 4 * (0.25 / 200) ** 0.5
    weights = root() / "data" / "checkpoints" / name / "model.safetensors"
    assert weights.stat().st_size < 3.25e6


def test_vision_checkpoints_are_shipped_under_their_own_names():
    table = cards("vision")
    expected = {(dataset, model) for dataset in ("fashion", "mnist", "animals") for model in ("base", "large", "deit")}
    expected |= {(dataset, "base") for dataset in ("planted", "planted-erased", "planted-misled")}
    photographs = {(dataset, model) for dataset in ("cifar10", "cifar100") for model in ("head", "lora", "lora-deit")}
    photographs |= {("stamps", "lora"), ("imagenet", "lite0")}
    assert {(row.dataset, row.classifier) for row in table.itertuples()} == expected | photographs
    names = [f"vision/{dataset}-{model}-seed0" for dataset, model in expected]
    # The convolutional network is fetched as it is: nothing was trained here, so it has no seed.
    names += [f"photo/{dataset}-{model}" + "-seed0" * (dataset != "imagenet") for dataset, model in photographs]
    assert sorted(table.checkpoint) == sorted(names)
    floors = {"stamps": 0.5, "cifar100": 0.6}  # a hundred photographs to learn from; a hundred classes to tell apart
    floor = table.dataset.map(lambda name: floors.get(name, 0.7))
    assert (table.accuracy > floor).all(), table[["dataset", "classifier", "accuracy"]]
    assert (table[table.dataset == "fashion"].test_size == 10000).all()
    assert table[(table.dataset == "fashion") & (table.classifier == "base")].accuracy.item() >= 0.88


def test_no_two_methods_draw_the_same_map_on_a_shipped_model():
    """Of one method under two names or a silent fallback the maps would be alike; scale and offset aside."""
    model = load_model(f"local:{VISION[0]}").model
    size, patch = model.patch_embed.img_size[0], model.patch_embed.patch_size[0]
    noise = torch.randn(8, model.in_chans, size, size, generator=torch.Generator().manual_seed(0))
    inputs = ImageInputs.from_pixels(noise, patch=patch)
    drawing = [name for name in IMAGE_METHODS if name != "uniform" and IMAGE_METHODS[name].answers != "features"]
    maps = [attribute(name, model, inputs).double() for name in drawing]
    centred = torch.nn.functional.normalize(torch.stack([one - one.mean(dim=1, keepdim=True) for one in maps]), dim=-1)
    alike = torch.einsum("abf,cbf->acb", centred, centred).mean(dim=-1)
    assert alike.triu(1).max() < 0.98, dict(zip(drawing, alike.tolist(), strict=True))


@pytest.mark.long
def test_training_can_be_stopped_and_leaves_a_model_that_loads(tmp_path):
    notebook = tmp_path / "train.ipynb"
    jupytext.write(jupytext.read(root() / "notebooks" / "train" / "vision_classifiers.py"), notebook)
    given = {"dataset": "mnist", "model": "deit", "limit": 40, "folder": str(tmp_path / "made")}
    papermill.execute_notebook(notebook, tmp_path / "done.ipynb", given, progress_bar=False)
    card = json.loads((tmp_path / "made" / "card.json").read_text())
    assert card["train_size"] == 40
    assert 0 <= card["accuracy"] <= 1
    assert not (tmp_path / "made.training.pt").exists()
    loaded = load_model(f"timm:{tmp_path / 'made'}")
    assert loaded.label_names == tuple("0123456789")
