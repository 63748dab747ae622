"""Photographs: an encoder out of a package, CIFAR in all its forms, classifiers that change the encoder a little."""

from __future__ import annotations

import json
import math
import shutil

import numpy as np
import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from PIL import Image
from refusals import refused
from replica_data import tarred
from safetensors.torch import load_file, save_file
from store import Store, run_cells
from studies import change, copy_studies
from timm.layers import resample_abs_pos_embed

from faithbook.artifacts import registry
from faithbook.engine.units import read_units
from faithbook.models import vit_s14
from faithbook.models.load import HEAD, load_model, local_checkpoints
from faithbook.models.vit_s14 import encoder_file
from faithbook.models.vit_s14 import vit_s14 as encoder
from faithbook.paths import checkpoints_dir, root
from faithbook.sources import cifar, files, images
from faithbook.sources.files import fetch, read_member
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.catalogue import METRICS
from faithlib.errors import DataError, InputError
from faithlib.evaluation import explain

TRAINING = root() / "notebooks" / "train" / "photo_classifiers.py"
PHOTO = [name for name in local_checkpoints() if name.startswith("photo/cifar")]


# --- the encoder -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [112, 224])
def test_the_encoder_fills_timms_model_and_positions_are_resampled_as_timm_does(side):
    model, stored = encoder(side=side), load_file(encoder_file())
    own = model.state_dict()
    assert set(own) == set(stored)
    assert tuple(stored["pos_embed"].shape) == (1, 1 + 37 * 37, 384)
    expected = resample_abs_pos_embed(stored["pos_embed"], [side // 14, side // 14], num_prefix_tokens=1)
    torch.testing.assert_close(own.pop("pos_embed"), expected)
    assert all(torch.equal(value, stored[name]) for name, value in own.items())
    assert model.pretrained_cfg["input_size"] == (3, side, side)
    assert not model.training
    assert tuple(encoder(side=side, classes=7)(torch.zeros(1, 3, side, side)).shape) == (1, 7)
    refused(InputError, f"side {side - 1}: expected a multiple of 14", encoder, side=side - 1)
    empty = onnx.helper.make_model(onnx.helper.make_graph([], "nothing", [], []))
    refused(DataError, "it is no export of the encoder", vit_s14.weights_of_onnx, empty.SerializeToString())


def test_the_blocks_answer_as_the_exported_graph_does():
    """From tokens that enter the first block to the last layer norm, by an interpreter of ONNX, at 3 x 3 patches."""
    whole = onnx.load_from_string(read_member(fetch("vit-s14"), vit_s14._MEMBER))
    after = next(node.output[0] for node in whole.graph.node if node.name == "/backbone/layernorm/Add_1")
    # What the first norm reads are the tokens.
    before = next(
        node.input[0] for node in whole.graph.node if node.name == "/backbone/encoder/layer.0/norm1/ReduceMean"
    )
    part = onnx.helper.make_graph(
        _between(whole.graph, before, after),
        "blocks",
        [onnx.helper.make_tensor_value_info(before, onnx.TensorProto.FLOAT, [None, None, 384])],
        [onnx.helper.make_tensor_value_info(after, onnx.TensorProto.FLOAT, [None, None, 384])],
        list(whole.graph.initializer),
    )
    made = onnx.helper.make_model(part, opset_imports=whole.opset_import, ir_version=whole.ir_version)
    tokens = torch.randn(1, 10, 384, generator=torch.Generator().manual_seed(0))
    (expected,) = ReferenceEvaluator(made).run(None, {before: tokens.numpy()})
    model = encoder(side=42)
    with torch.inference_mode():
        torch.testing.assert_close(model.norm(model.blocks(tokens)), torch.tensor(expected), atol=2e-4, rtol=1e-4)


def _between(graph, before, after):
    """The nodes that lead from one tensor to another, in their order."""
    made_by = {output: node for node in graph.node for output in node.output}
    wanted, open_ = set(), [after]
    while open_:
        name = open_.pop()
        if name != before and name in made_by and name not in wanted:
            wanted.add(name)
            open_ += made_by[name].input
    return [node for node in graph.node if wanted & set(node.output)]


# --- CIFAR -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown", "n_classes", "elsewhere"),
    [
        ("cifar10-few", ("cat", "ship", "ship", "airplane"), 10, "test images and nothing else.*train on cifar10"),
        ("cifar100-few", ("mountain", "forest", "seal", "mushroom"), 100, "train on cifar100"),
        ("imagenet-few", ("bull mastiff", "folding chair"), 1000, "test images and nothing else.*to look at"),
    ],
)
def test_twenty_test_pictures_come_with_a_package(name, shown, n_classes, elsewhere):
    few = load_pictures(name)
    assert (few.name, len(few), len(set(few.ids)), len(few.label_names)) == (name, 20, 20, n_classes)
    assert tuple(few.label_names[label].partition(",")[0] for label in few.labels[: len(shown)]) == shown
    assert all(image.shape[2] == 3 and (image.shape[0] == 32) == (n_classes < 1000) for image in few.images)
    assert few.ids[0].startswith(f"{name.removesuffix('-few')}-")  # as the same picture is called in the archive
    refused(DataError, elsewhere, load_pictures, name, "train")


def lay_out(folder, *, train=4, others=2):
    """`cifar10` as files, so many pictures of noise a class: ships are lighter than cats; trucks are to learn from."""
    noise = np.random.default_rng(0)
    for part, n in (("train", train), ("dev", others), ("test", others)):
        for lightness, label in enumerate(("cat", "ship", "truck")[: 3 if part == "train" else 2]):
            (folder / part / label).mkdir(parents=True)
            for i in range(n):
                pixels = noise.integers(80 * lightness, 80 * lightness + 80, (32, 32, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(folder / part / label / f"{i}.png")
    images._SETS["cifar10"].cache_clear()


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of pictures: twelve of train, four each of dev and test."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    lay_out(tmp_path / "cifar10-folder")
    yield tmp_path / "cifar10-folder"
    images._SETS["cifar10"].cache_clear()


def test_a_folder_of_pictures_is_read_by_the_names_of_its_classes(own):
    sizes = {part: len(load_pictures("cifar10", part)) for part in ("train", "dev", "test", "held_out")}
    assert sizes == {"train": 12, "dev": 4, "test": 4, "held_out": 4}
    test = load_pictures("cifar10")
    assert sorted(test.label_names[label] for label in test.labels) == ["cat", "cat", "ship", "ship"]
    first = np.asarray(Image.open(own / "test" / "cat" / "0.png"))
    assert any(np.array_equal(first, image) for image in test.images)
    shutil.rmtree(own / "dev")
    images._SETS["cifar10"].cache_clear()
    assert len(load_pictures("cifar10", "dev")) == 12  # who has all training pictures has them cut: the first 5,000
    assert len(load_pictures("cifar10", "train")) == 0


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda cat: (cat / "1.png").write_bytes(b"PNG"), r"cat/1\.png cannot be read as an image.*get it again"),
        (lambda cat: Image.new("RGB", (28, 30)).save(cat / "1.png"), r"cat/1\.png has 28 x 30 pixels: expected the 32"),
        (lambda cat: cat.rename(cat.with_name("kitten")), "kitten is no class of cifar10; its classes are airplane, a"),
        (
            lambda cat: [shutil.rmtree(path) for path in [*cat.parent.iterdir()]],
            "no images; expected a folder of PNG files for each class of cifar10",
        ),
    ],
)
def test_a_damaged_folder_is_refused_with_a_sentence(damage, told, own):
    damage(own / "test" / "cat")
    refused(DataError, told, load_pictures, "cifar10")


LAID = {
    "cifar10": ("cifar-10-batches-bin", "test_batch.bin", "batches.meta.txt", b""),
    "cifar100": ("cifar-100-binary", "test.bin", "fine_label_names.txt", b"\7"),
}
"""By set the archive's folder, file of test images, file of names, and what stands before an image's label."""
PIXELS = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)


def archive(path, name="cifar10", *, first="", label=3, records=4):
    folder, test, named, coarse = LAID[name]
    rows = [coarse + bytes([label]) + image.transpose(2, 0, 1).tobytes() for image in PIXELS]
    names = [first or cifar.NAMES[name][0], *cifar.NAMES[name][1:]]
    content = {test: b"".join((rows * 100)[:records]), named: "\n".join(names).encode() + b"\n"}
    return tarred(path, {f"{folder}/{file}": one for file, one in content.items()})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"first": "cat"}, r"its classes are cat, automobile.*expected the 10 of cifar10 in their order"),
        ({"label": 10}, "label 10 in cifar10, whose 10 classes are counted from 0"),
        ({"records": 0}, "no whole number of 3073-byte records; delete it and fetch it again"),
        ({"records": 400}, r"cannot read .*fetch it again"),  # cut
    ],
)
def test_an_archive_is_read_or_refused_for_what_is_wrong_in_it(given, message, tmp_path, monkeypatch):
    file = tmp_path / "a.tar.gz"
    monkeypatch.setattr(cifar, "fetch", lambda source: file)
    for name in LAID:
        archive(file, name)
        pixels, labels = cifar.read_archive(name, "test")
        assert np.array_equal(pixels, PIXELS) and labels.tolist() == [3] * 4
    whole = archive(file, **given).read_bytes()
    file.write_bytes(whole if given.get("records") != 400 else whole[: len(whole) // 2])
    refused(DataError, message, cifar.read_archive, "cifar10", "test")


# --- classifiers -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A trial of every training on a few pictures, by name."""
    place = tmp_path_factory.mktemp("trained")
    lay_out(place / "cifar10-folder")
    (place / "vit-s14").symlink_to(encoder_file().parents[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAITHLIB_DATA", str(place))
        for model in ("lora", "head", "lora-deit"):
            train(place, model)
    images._SETS["cifar10"].cache_clear()
    return place


def train(place, model, folder=None, source=TRAINING):
    given = {"dataset": "cifar10", "model": model, "limit": 12, "folder": str(folder or place / model)}
    return run_cells(source, given, [])


@pytest.mark.long
@pytest.mark.parametrize("model", ["lora", "head", "lora-deit"])
def test_training_leaves_a_small_file_and_a_classifier_that_loads(model, trained):
    folder = trained / model
    card = json.loads((folder / "card.json").read_text())
    assert (card["train_size"], card["dev_size"], card["test_size"]) == (12, 4, 4)
    assert 0 <= card["accuracy"] <= 1
    assert card["adapter_of"] == "vit-s14"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 3e6
    assert not list(trained.glob("*.training.*"))
    loaded = load_model(f"local:{folder}")
    assert loaded.label_names == cifar.NAMES["cifar10"]
    assert loaded.card == card
    changed = {
        name
        for name, value in loaded.model.state_dict().items()
        if name in PLAIN and not torch.equal(value, PLAIN[name])
    }
    blocks = {name for name in PLAIN if name.endswith(("qkv.weight", "proj.weight", "fc1.weight", "fc2.weight"))}
    assert changed == (set() if model == "head" else blocks - {"patch_embed.proj.weight"})


PLAIN = load_file(encoder_file()) if files.is_fetched("vit-s14") else {}
PLAIN.pop("pos_embed", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "file"),
    [("lora", "adapter_model.safetensors"), ("head", HEAD), ("lora", "config.json"), ("head", "card.json")],
)
def test_a_damaged_classifier_is_refused_with_its_file(model, file, tmp_path):
    path = tmp_path / "copied" / file
    shutil.copytree(checkpoints_dir() / "photo" / f"cifar10-{model}-seed0", path.parent)
    if path.suffix == ".safetensors":
        weights = load_file(path)
        weights.pop(min(weights))
        save_file(weights, path)
        refused(DataError, "does not hold", load_model, f"local:{path.parent}")
    path.write_bytes(path.read_bytes()[:50])
    told = rf"{file} (is missing, damaged|cannot be read).*get it again"
    refused(DataError, told, load_model, f"local:{path.parent}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "line", "stopped"),
    [
        ("lora-deit", "optimiser.zero_grad()", "optimiser.zero_grad(); keep(step + 1); assert step < 1"),
        ("head", ', features(dev, so_far["dev"])', ", 0; assert 0"),
    ],
)
def test_training_that_was_stopped_ends_as_if_it_had_not_been(model, line, stopped, trained, tmp_path, monkeypatch):
    """It fails after the second of three steps, or between two sets of features, its state just kept."""
    monkeypatch.setenv("FAITHLIB_DATA", str(trained))
    text = TRAINING.read_text()
    assert text.count(line) == 1
    source = tmp_path / "photo_classifiers.py"
    source.write_text(text.replace(line, stopped))
    with pytest.raises(AssertionError):
        train(trained, model, folder=tmp_path / "again", source=source)
    assert (tmp_path / "again.training.pt").exists()
    train(trained, model, folder=tmp_path / "again")
    file = HEAD if model == "head" else "adapter_model.safetensors"
    first, other = (load_file(folder / file) for folder in (trained / model, tmp_path / "again"))
    assert set(first) == set(other)
    for name in first:
        torch.testing.assert_close(first[name], other[name], atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", PHOTO)
def test_shipped_classifiers_of_photographs_are_what_their_cards_say(name):
    loaded = load_model(f"local:{name}")
    assert loaded.label_names == cifar.NAMES[loaded.card["dataset"]]
    assert loaded.card["test_size"] == 2000
    assert sum(file.stat().st_size for file in (checkpoints_dir() / name).iterdir()) < 3e6
    few = load_pictures(f"{loaded.card['dataset']}-few")
    with torch.inference_mode():
        right = (loaded.model(as_inputs(few, loaded.model).pixels).argmax(1) == torch.tensor(few.labels)).sum().item()
    # Five standard deviations of a share of 20.
    share = loaded.card["accuracy"]
    assert abs(right / 20 - share) < 5 * (share * (1 - share) / 20) ** 0.5


# --- SaCo on photographs ------------------------------------------------------------------------------------------


def test_pictures_whose_reason_is_known_are_asked_for_plausibility_where_the_model_is_right(tmp_path, monkeypatch):
    """As scenes of cut-out objects are, whose photographs are not on every machine: pictures with planted cells."""
    theirs = root() / "notebooks"
    home = Store(tmp_path, monkeypatch, profile="smoke").home
    pictures = registry().data["vision:planted"]
    known = home / "data" / "artifacts.toml"
    text = known.read_text()
    known.unlink()
    known.write_text(text.replace("[data]\n", f"[data]\nplanted = {json.dumps(pictures)}\n"))
    copy_studies(home)
    chosen = {"datasets": ["planted"], "model": "local:vision/planted-base-seed0", "inputs": 3, "controlled": 1}
    change(home, "together_matrix", "smoke", **chosen)
    run_cells(theirs / "compute" / "together_matrix.py", {"profile": "smoke", "dataset": "planted"}, [])
    (folder,) = (home / "data" / "results" / "smoke" / "by-hand" / "together_matrix").glob("*")
    values = read_units(folder / "units.parquet").rename(columns={"id": "input"})
    values = values.set_index(["input", "method", "metric"]).value
    assert set(values.index.unique("metric")) == set(METRICS)
    data = load_pictures("planted", "test")
    network = load_model("local:vision/planted-base-seed0").model
    inputs = as_inputs(data.at(range(20)), network, patch=4)
    with torch.inference_mode():
        right = [i for i, found in enumerate(network(inputs.pixels).argmax(1).tolist()) if found == data.labels[i]]
    assert sorted(values.index.unique("input")) == sorted(data.ids[i] for i in right[:3])
    for i in right[:3]:
        (scores,) = explain(network, inputs[[i]], ["grad_cam"]).values()
        marked = float(int(scores.argmax()) in data.cells[i]) if data.cells[i] else math.nan
        assert values[data.ids[i], "grad_cam", "pointing_game"] == pytest.approx(marked, nan_ok=True)
    assert {bool(data.cells[i]) for i in right[:3]} == {True, False}  # of the class "neither" nothing is marked
    assert values.xs("pointing_game", level="metric").nunique() == 2  # not every map points there
