"""Photographs: an encoder out of a package, CIFAR in all its forms, classifiers that change the encoder a little."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
import yaml
from onnx.reference import ReferenceEvaluator
from PIL import Image
from safetensors.torch import load_file, save_file
from store import run_cells
from test_pictures import _tar
from timm.layers import resample_abs_pos_embed

from faithbook.engine.units import read_units
from faithbook.models import adapted, vit_s14
from faithbook.models.adapted import HEAD, load_classifier
from faithbook.models.load import load_model, local_checkpoints
from faithbook.models.vit_s14 import encoder_file
from faithbook.models.vit_s14 import vit_s14 as encoder
from faithbook.paths import checkpoints_dir, root
from faithbook.sources import cifar, files, images
from faithbook.sources.files import fetch, read_member
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.catalogue import METRICS
from faithlib.errors import DataError, InputError
from faithlib.evaluation import explain
from faithlib.masks import salience_groups

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


@pytest.mark.parametrize("side", [0, 100, 13, -14])
def test_a_side_that_is_no_whole_number_of_patches_is_refused(side):
    with pytest.raises(InputError, match=rf"side {side}: expected a multiple of 14"):
        encoder(side=side)


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


def test_something_else_than_the_export_is_refused():
    empty = onnx.helper.make_model(onnx.helper.make_graph([], "nothing", [], []))
    with pytest.raises(DataError, match="it is no export of the encoder"):
        vit_s14.weights_of_onnx(empty.SerializeToString())


# --- CIFAR -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [("cifar10", ("cat", "ship", "ship", "airplane")), ("cifar100", ("mountain", "forest", "seal", "mushroom"))],
)
def test_twenty_test_pictures_come_with_a_package(name, shown):
    few = load_pictures(f"{name}-few")
    assert (few.name, len(few), len(set(few.ids))) == (f"{name}-few", 20, 20)
    assert tuple(few.label_names[label] for label in few.labels[:4]) == shown
    assert all(image.shape == (32, 32, 3) for image in few.images)
    assert few.ids[0].startswith(f"{name}-")  # as the same picture is called in the archive
    with pytest.raises(DataError, match=f"test images and nothing else.*train on {name}"):
        load_pictures(f"{name}-few", "train")


def test_twenty_pictures_of_imagenet_come_in_their_own_sizes():
    few = load_pictures("imagenet-few")
    assert (len(few), len(set(few.ids)), len(few.label_names)) == (20, 20, 1000)
    assert [few.label_names[label].partition(",")[0] for label in few.labels[:2]] == ["bull mastiff", "folding chair"]
    assert all(min(image.shape[:2]) >= 512 and image.shape[2] == 3 for image in few.images)
    with pytest.raises(DataError, match="twenty images to look at and nothing else"):
        load_pictures("imagenet-few", "train")


def test_classes_are_in_the_order_of_their_numbers():
    for name, n in (("cifar10", 10), ("cifar100", 100)):
        assert len(cifar.NAMES[name]) == n
        assert list(cifar.NAMES[name]) == sorted(cifar.NAMES[name])


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


def test_who_has_all_training_pictures_has_them_cut(own):
    shutil.rmtree(own / "dev")
    assert len(load_pictures("cifar10", "dev")) == 12  # the first 5,000 by hash
    assert len(load_pictures("cifar10", "train")) == 0


def _corrupt(folder):
    file = folder / "test" / "cat" / "1.png"
    file.write_bytes(file.read_bytes()[:200])


def _of_another_size(folder):
    Image.new("RGB", (28, 30)).save(folder / "test" / "cat" / "1.png")


def _strange_class(folder):
    (folder / "test" / "cat").rename(folder / "test" / "kitten")


def _empty(folder):
    shutil.rmtree(folder / "test")
    (folder / "test").mkdir()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_corrupt, r"cat/1\.png cannot be read as an image.*get it again"),
        (_of_another_size, r"cat/1\.png has 28 x 30 pixels: expected the 32 x 32 of CIFAR"),
        (_strange_class, "kitten is no class of cifar10; its classes are airplane, automobile"),
        (_empty, "no images; expected a folder of PNG files for each class of cifar10"),
    ],
)
def test_a_damaged_folder_is_refused_with_a_sentence(damage, told, own):
    damage(own)
    with pytest.raises(DataError, match=told):
        load_pictures("cifar10")


def _archive(path, *, names=cifar.NAMES["cifar10"], label=3, records=4):
    one = bytes([label]) + bytes(range(256)) * 12
    members = {"test_batch.bin": one * records, "batches.meta.txt": ("\n".join(names) + "\n").encode()}
    return _tar(path, {f"cifar-10-batches-bin/{name}": content for name, content in members.items()})


def test_an_archive_is_refused_for_what_is_wrong_in_it(tmp_path, monkeypatch):
    archive = tmp_path / "a.tar.gz"
    monkeypatch.setattr(cifar, "fetch", lambda source: archive)
    pixels, labels = cifar.read_archive("cifar10", "test") if _archive(archive) else ((), ())
    assert pixels.shape == (4, 32, 32, 3)
    assert labels.tolist() == [3] * 4
    _archive(archive, names=("cat", *cifar.NAMES["cifar10"][1:]))
    with pytest.raises(DataError, match=r"its classes are cat, automobile.*expected the 10 of cifar10 in their order"):
        cifar.read_archive("cifar10", "test")
    _archive(archive, label=10)
    with pytest.raises(DataError, match="label 10 in cifar10, whose 10 classes are counted from 0"):
        cifar.read_archive("cifar10", "test")
    _archive(archive, records=0)
    with pytest.raises(DataError, match="no whole number of 3073-byte records; delete it and fetch it again"):
        cifar.read_archive("cifar10", "test")
    whole = _archive(archive, records=400).read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot read .*fetch it again"):
        cifar.read_archive("cifar10", "test")


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
    loaded = load_classifier(f"local:{folder}")
    assert loaded.label_names == cifar.NAMES["cifar10"]
    assert loaded.card == card
    changed = {name for name, value in loaded.model.state_dict().items() if name in PLAIN and not same(value, name)}
    blocks = {name for name in PLAIN if name.endswith(("qkv.weight", "proj.weight", "fc1.weight", "fc2.weight"))}
    assert changed == (set() if model == "head" else blocks - {"patch_embed.proj.weight"})


def same(value, name):
    return torch.equal(value, PLAIN[name])


def shipped(model):
    return checkpoints_dir() / "photo" / f"cifar10-{model}-seed0"


PLAIN = load_file(encoder_file()) if files.is_here("vit-s14") else {}
PLAIN.pop("pos_embed", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "file"),
    [("lora", "adapter_model.safetensors"), ("head", HEAD), ("lora", "config.json"), ("head", "card.json")],
)
def test_a_damaged_classifier_is_refused_with_its_file(model, file, tmp_path):
    shutil.copytree(shipped(model), tmp_path / "copied")
    path = tmp_path / "copied" / file
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match=rf"{file} (is missing, damaged|cannot be read).*get it again"):
        load_classifier(f"local:{tmp_path / 'copied'}")


@pytest.mark.slow
@pytest.mark.parametrize(("model", "file"), [("lora", "adapter_model.safetensors"), ("head", HEAD)])
def test_a_classifier_that_lacks_a_weight_is_refused(model, file, tmp_path):
    shutil.copytree(shipped(model), tmp_path / "copied")
    weights = load_file(tmp_path / "copied" / file)
    weights.pop(sorted(weights)[0])
    save_file(weights, tmp_path / "copied" / file)
    with pytest.raises(DataError, match="does not hold"):
        load_classifier(f"local:{tmp_path / 'copied'}")


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
    one, other = (load_file(folder / file) for folder in (trained / model, tmp_path / "again"))
    assert set(one) == set(other)
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=1e-4, rtol=0)


def test_other_names_are_those_of_load_model():
    assert load_classifier("local:vision/mnist-deit-seed0").label_names == tuple("0123456789")
    with pytest.raises(DataError, match="is missing"):
        load_classifier("timm:" + str(Path(adapted.__file__).parent))


@pytest.mark.parametrize("name", PHOTO)
def test_shipped_classifiers_of_photographs_are_what_their_cards_say(name):
    loaded = load_classifier(f"local:{name}")
    assert loaded.label_names == cifar.NAMES[loaded.card["dataset"]]
    assert loaded.card["test_size"] == 2000
    assert sum(file.stat().st_size for file in (checkpoints_dir() / name).iterdir()) < 3e6
    few = load_pictures(f"{loaded.card['dataset']}-few")
    with torch.inference_mode():
        right = (loaded.model(as_inputs(few, loaded.model).pixels).argmax(1) == torch.tensor(few.labels)).sum().item()
    # Five standard deviations of a share of 20.
    share = loaded.card["accuracy"]
    assert abs(right / 20 - share) < 5 * (share * (1 - share) / 20) ** 0.5
    with pytest.raises(DataError, match=r"model\.safetensors is missing"):
        load_model(f"local:{name}")  # says so in a sentence: adapters of pictures have a loader of their own


# --- SaCo on photographs ------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home whose table of profiles a test may write; everything else is this repository's."""
    home = tmp_path / "home"
    for place in ("notebooks", "data"):
        (home / place).mkdir(parents=True)
        for path in (root() / place).iterdir():
            if path.name not in ("profiles.yaml", "results"):
                (home / place / path.name).symlink_to(path)
    for name in ("faithlib", "faithbook", "requirements.lock"):
        (home / name).symlink_to(root() / name)
    shutil.copy(root() / "notebooks" / "profiles.yaml", home / "notebooks")
    monkeypatch.setenv("FAITHLIB_HOME", str(home))
    return home


def test_pictures_whose_reason_is_known_are_asked_for_plausibility_where_the_model_is_right(home):
    """As scenes of cut-out objects are, whose photographs are not on every machine: pictures with planted cells."""
    told = yaml.safe_load((root() / "notebooks" / "profiles.yaml").read_text())
    told["data"]["planted"] = told["data"]["vision:planted"]
    block = told["profiles"]["smoke"]["settings"]["together_matrix"]
    block |= {"datasets": ["planted"], "models": {"planted": "local:vision/planted-base-seed0"}}
    block |= {"inputs": {"planted": 3}, "controlled": {"planted": 1}}
    (home / "notebooks" / "profiles.yaml").write_text(yaml.safe_dump(told, sort_keys=False))
    source = root() / "notebooks" / "compute" / "together_matrix.py"
    run_cells(source, {"profile": "smoke", "dataset": "planted"}, [])
    (folder,) = (home / "data" / "results" / "smoke" / "by-hand" / "together_matrix").glob("*")
    values = read_units(folder / "units.parquet").rename(columns={"id": "input"})
    values = values.set_index(["input", "method", "metric"]).value
    assert set(values.index.unique("metric")) == set(METRICS)
    data = load_pictures("planted", "test")
    network = load_classifier("local:vision/planted-base-seed0").model
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


def test_ranks_keep_the_groups_and_forget_how_far_apart_scores_are():
    source = (root() / "notebooks" / "compute" / "saco_metrics.py").read_text()
    (body,) = re.findall(r"^def ranks\(scores\):\n(?:.+\n)+", source, flags=re.MULTILINE)
    names = {"torch": torch}
    exec(body, names)
    scores = torch.tensor([[0.5, 9.0, 0.5, -3.0], [0.0, 0.0, 0.0, 1.0]])
    assert names["ranks"](scores).tolist() == [[3, 4, 2, 1], [3, 2, 1, 4]]
    many = torch.randn(3, 784, generator=torch.Generator().manual_seed(0)).round(decimals=1)  # with many ties
    assert torch.equal(salience_groups(many, 10), salience_groups(names["ranks"](many), 10))
