"""Picture data sets: fixed splits without overlap, files of other people read with care, models told apart by name."""

from __future__ import annotations

import json
import pickle

import jupytext
import numpy as np
import papermill
import pytest
import replica_data
import timm
import torch
from refusals import refused

from faithbook.models.cards import cards, local_checkpoints
from faithbook.models.load import load_model
from faithbook.paths import root
from faithbook.sources import cifar, images
from faithbook.sources.images import as_inputs, load_pictures, shipped_pictures
from faithlib.errors import DataError

MODELS = ("base", "large", "deit")
VISION = [name for name in local_checkpoints() if name.startswith("vision/")]


def test_the_shipped_fashion_pictures_are_balanced_and_fixed():
    test = load_pictures("fashion", "test", sample="all")
    assert len(test) == 1000
    assert np.bincount(test.labels).tolist() == [100] * 10
    assert test.digest == "c8b7ff2206c2a3fe"
    assert shipped_pictures().with_name("LICENSE-fashion-mnist").exists()


@pytest.mark.parametrize(("name", "sizes"), [("mnist", (3600, 400, 1000)), ("animals", (8016, 700, 1000))])
def test_splits_share_no_picture(name, sizes):
    parts = [load_pictures(name, split, sample="all") for split in ("train", "dev", "test")]
    assert tuple(map(len, parts)) == sizes
    ids = [set(part.ids) for part in parts]
    assert [len(ids_of_split) for ids_of_split in ids] == list(sizes)
    assert len(set.union(*ids)) == sum(sizes)


class _Harmful:
    def __reduce__(self):
        return eval, ("1 + 1",)


@pytest.mark.parametrize("made", [_Harmful(), [1, 2], np.array(["a", None], dtype=object)])
def test_pickles_that_are_not_plain_arrays_are_refused(made):
    refused(DataError, "NumPy array", images._numpy_pickle, pickle.dumps(made))


def test_imagenet_folder_and_the_models_own_preparation(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    load = images._SETS["imagenet"].__wrapped__
    refused(DataError, r"labels\.csv .*is missing", load, "test")
    replica_data.imagenet(tmp_path / "imagenet", 2)
    loaded = load("test")
    model = timm.create_model("vit_tiny_patch16_224", pretrained=False).eval()
    inputs = as_inputs(loaded, model, patch=16)
    assert tuple(inputs.pixels.shape) == (2, 3, 224, 224)
    assert inputs.feature_mask.shape[1] == 196
    assert len(loaded.label_names) >= 1000
    loaded.images[0].write_bytes(b"not a picture")
    with pytest.raises(DataError, match="cannot be read as an image"):
        load("test").opened()
    loaded.images[1].unlink()
    refused(DataError, "1 of 2 images are missing", load, "test")


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
    expected = {f"vision/{name}-{model}-seed0" for name in ("fashion", "mnist", "animals") for model in MODELS}
    expected |= {f"vision/planted{how}-base-seed0" for how in ("", "-erased", "-misled", "-light", "-heavy")}
    expected |= {f"photo/{name}-{how}-seed0" for name in cifar.NAMES for how in ("head", "lora", "lora-deit")}
    # The convolutional network is fetched as it is: nothing was trained here, so it has no seed.
    expected |= {"photo/stamps-lora-seed0", "photo/imagenet-lite0"}
    table = cards("vision").set_index("checkpoint")
    assert {*table.index} == expected
    assert {f"{row.dataset}-{row.classifier}" for row in table.itertuples()} == {
        name.partition("/")[2].removesuffix("-seed0") for name in expected
    }
    floors = {"stamps": 0.5, "cifar100": 0.6}  # a hundred photographs to learn from; a hundred classes to tell apart
    assert (table.accuracy > table.dataset.map(lambda name: floors.get(name, 0.7))).all()
    assert (table[table.dataset == "fashion"].test_size == 10000).all()
    assert table.accuracy["vision/fashion-base-seed0"] >= 0.88


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
