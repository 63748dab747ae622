"""Scenes of cut-out photographs, and where maps of them point: on packages made here and on the real one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from refusals import refused

from faithbook.models.load import load_model
from faithbook.sources import files, images, object_scenes
from faithbook.sources.object_scenes import where_it_points
from faithlib.errors import DataError, InputError

HERE = files.is_fetched("stamps")
PER_CLASS = 4
GREY = (200, 40, 40)


def packed_stamps(folder: Path, *, classes: int = len(object_scenes.CLASSES)) -> Path:
    """A Debian package of squares and discs that are cut out, in the real layout, with drawings and sounds beside."""
    tree = folder / "tree"
    for label, place in list(enumerate(object_scenes.CLASSES.values()))[:classes]:
        for number in range(PER_CLASS):
            path = tree / "usr/share/tuxpaint/stamps" / place / ("deep" if number else "") / f"thing{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            mask = np.zeros((60, 80), dtype=np.uint8)
            mask[10:50, 20 : 30 + 10 * number + label] = 255
            image = Image.new("RGBA", (80, 60), (*GREY, 0))
            image.putalpha(Image.fromarray(mask))
            image.save(path)
    for name in ("animals/birds/cartoon/drawn.png", "town/house.png"):
        (tree / "usr/share/tuxpaint/stamps" / name).parent.mkdir(parents=True, exist_ok=True)
        image.save(tree / "usr/share/tuxpaint/stamps" / name)
    (tree / "usr/share/tuxpaint/stamps/animals/birds/thing0.ogg").write_bytes(b"sound")
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text(
        "Package: made\nVersion: 1\nArchitecture: all\nMaintainer: us\nDescription: x\n"
    )
    subprocess.run(["dpkg-deb", "-b", str(tree), str(folder / "made.deb")], check=True, capture_output=True)
    return folder / "made.deb"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The made package in the real one's place, its 32 photographs cut into 12, 8 and 12."""
    archive = packed_stamps(tmp_path)
    monkeypatch.setattr(object_scenes, "fetch", lambda _: archive)
    monkeypatch.setattr(object_scenes, "_TEST", 12)
    monkeypatch.setattr(object_scenes, "_DEV", 8)
    return archive


def test_a_photograph_is_in_one_split_drawings_are_in_none_and_scenes_are_the_same_every_time(made: Path) -> None:
    names = {split: {stamp.name for stamp in object_scenes.stamps(split)} for split in ("train", "dev", "test")}
    assert [len(names[split]) for split in ("test", "dev", "train")] == [12, 8, 12]
    everything = set.union(*names.values())
    assert len(everything) == 32
    assert not any("cartoon" in name or "house" in name for name in everything)
    once, again = object_scenes.scenes("train", 1), object_scenes.scenes("train", 1)
    assert all(np.array_equal(a.pixels, b.pixels) and a.cells == b.cells for a, b in zip(once, again, strict=True))
    assert len({scene.pixels.tobytes() for scene in once}) == len(once) == 12 * object_scenes.COPIES["train"]
    assert len({scene.id_of(0) for scene in once}) == len(once)


@pytest.mark.parametrize("objects", [1, 2])
def test_marked_cells_are_those_that_the_object_covers(made: Path, objects: int) -> None:
    for scene in object_scenes.scenes("test", objects):
        assert scene.pixels.shape == (object_scenes.SIDE, object_scenes.SIDE, 3) and len(scene.cells) == objects
        # The objects alone have exactly this colour; the ground has none as red.
        red = (
            (np.abs(scene.pixels.astype(int) - GREY).max(axis=2) <= 2).reshape(8, 14, 8, 14).mean(axis=(1, 3)).flatten()
        )
        marked = sorted(cell for cells in scene.cells for cell in cells)
        assert marked == sorted(set(marked))  # no cell is of two objects
        assert (red[marked] > 0.4).all() and (np.delete(red, marked) < 0.6).all()
        assert len({stamp.label for stamp in scene.stamps}) == objects


def test_a_scene_of_two_is_there_once_for_each(made: Path) -> None:
    data = images._stamps("test", objects=2)
    assert data.others is not None and len(set(data.ids)) == len(data) == 24
    for i in range(0, len(data), 2):
        assert np.array_equal(data.images[i], data.images[i + 1])
        assert (data.cells[i], data.others[i]) == (data.others[i + 1], data.cells[i + 1])
        assert data.labels[i] != data.labels[i + 1]
        assert data.ids[i].split("+") == data.ids[i + 1].split("+")[::-1]
    part = data.at([5, 2])
    assert part.ids == (data.ids[5], data.ids[2]) and part.others == (data.others[5], data.others[2])
    assert data[2:4].cells == data.cells[2:4]


def test_what_is_no_package_of_stamps_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, cut = packed_stamps(tmp_path, classes=5), tmp_path / "cut.deb"
    cut.write_bytes(few.read_bytes()[:2000])
    for archive, told in ((few, "lacks photographs of some classes"), (cut, "dpkg-deb cannot read")):
        monkeypatch.setattr(object_scenes, "fetch", lambda _, archive=archive: archive)
        refused(DataError, told, object_scenes.stamps, "test")
    refused(DataError, "has no file", files.package_member, few, "./nowhere")


@pytest.mark.skipif(not HERE, reason="optional: python -m faithbook.sources.files fetch stamps")
def test_the_real_package_has_eight_classes_in_every_split() -> None:
    for split in ("train", "test"):
        assert {stamp.label for stamp in object_scenes.stamps(split)} == set(range(8))
    data = images.load_pictures("stamps-two", "test")
    share = np.mean([len(cells) for cells in data.cells]) / 64
    assert len(data) > 140 and 0.03 < share < 0.2


@pytest.mark.skipif(not HERE, reason="optional: python -m faithbook.sources.files fetch stamps")
def test_the_shipped_model_is_what_its_card_says() -> None:
    loaded, data = load_model("local:photo/stamps-lora-seed0"), images.load_pictures("stamps", "test")
    assert loaded.label_names == data.label_names and loaded.card["test_size"] == len(data)
    assert loaded.card["data_digest"] == images.digest_of_ids(images.load_pictures("stamps", "train").ids)
    with torch.inference_mode():
        answers = loaded.model(images.as_inputs(data, loaded.model).pixels).argmax(1)
    assert (answers == torch.tensor(data.labels)).double().mean().item() == pytest.approx(loaded.card["accuracy"])


# ----------------------------------------------------------------------------------------------------- where maps point
def test_values_are_those_of_a_loop() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(30, 16, generator=generator).round(decimals=1)  # with ties
    own = torch.rand(30, 16, generator=generator) < 0.3
    own[:, 0] |= ~own.any(dim=1)
    other = ~own & (torch.rand(30, 16, generator=generator) < 0.3)
    found = where_it_points(scores, own, other)
    for b in range(30):
        order = sorted(range(16), key=lambda f: (-scores[b, f].item(), f))
        first, marked = order[0], set(own[b].nonzero()[:, 0].tolist())
        best = set(order[: len(marked)])
        assert found["pointing_game"][b] == (first in marked)
        assert found["astray"][b] == bool(other[b, first])
        assert found["iou"][b].item() == pytest.approx(len(best & marked) / len(best | marked))
    own[:2], own[1, 0] = False, True
    refused(InputError, "image 0 has no cell", where_it_points, scores, own, other)
    refused(InputError, "of both objects", where_it_points, scores[1:], own[1:], own[1:])
