"""Pickled weights of the hub, converted when asked for: tensors only, in a process of its own, at the listed commit."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import torch
from refusals import no_file_above, refused
from tiny import OF_STUDY
from toy_models import text_model, tokenizer

from faithbook import hub
from faithbook.engine.plan import plan
from faithbook.models import convert as converting
from faithbook.models.convert import convert, main
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithlib.errors import DataError

PLACE = "someone/classifier"


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the hub gives of a model: configuration, tokenizer and pickled weights."""
    folder = tmp_path / "snapshot"
    model = text_model("bert")
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path / "raw"))
    monkeypatch.setattr(converting, "_downloaded", lambda place: folder)
    return folder


def test_a_pickle_is_converted_once_and_then_loaded_with_head_and_without(
    given: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([PLACE]) == 0
    folder = hub.converted_folder(PLACE)
    assert str(folder) in capsys.readouterr().out
    assert not list(folder.parent.glob(".incoming-*"))
    loaded = load_model(f"hf:{PLACE}")
    expected = torch.load(given / "pytorch_model.bin", weights_only=True)
    assert all(torch.equal(value, expected[name]) for name, value in loaded.model.state_dict().items())
    network, read = load_encoder(f"hf:{PLACE}")
    own = {name: value for name, value in network.state_dict().items() if f"bert.{name}" in expected}
    assert own and all(torch.equal(value, expected[f"bert.{name}"]) for name, value in own.items())
    assert read("the film")["input_ids"]
    assert json.loads((folder / "converted.json").read_text())["converted from"] == "pytorch_model.bin"
    (given / "pytorch_model.bin").unlink()
    assert convert(PLACE) == folder  # it is there: nothing is read again
    assert hub.look(f"hf:{PLACE}").is_cached
    refused(DataError, r"has no pytorch_model.bin: there is nothing to convert", convert, "someone/else")


def test_a_disk_that_is_full_and_a_pickle_that_takes_too_long_are_told_apart_from_damage(
    given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with no_file_above(20_000):
        refused(DataError, r"do not fit where they go, .*File too large.*make room", convert, PLACE)
    assert not hub.converted_folder(PLACE).exists()
    monkeypatch.setattr(converting, "_SECONDS", 0.001)
    refused(DataError, r"were not read in 0.001 seconds", convert, PLACE)


class _Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, (f"open({str(self.mark)!r}, 'w').write('ran')",))


def test_a_pickle_that_holds_more_than_tensors_is_refused_and_runs_nothing(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "mark"
    with (given / "pytorch_model.bin").open("wb") as stream:
        pickle.dump({"weight": _Evil(mark)}, stream)
    assert main([PLACE]) == 1
    assert "hold something else than tensors" in capsys.readouterr().err
    assert not mark.exists()
    assert not hub.converted_folder(PLACE).exists()
    assert not list(hub.converted_folder(PLACE).parent.glob(".incoming-*"))


def test_a_model_of_the_hub_is_read_at_the_listed_commit(home: Path) -> None:
    path = home / OF_STUDY
    path.write_text(path.read_text().replace("loads=[]", 'loads=["hf:some/model"]'))
    before = plan("smoke")[0].run_id
    assert hub.revision_of("hf:some/model") is None
    revision = "a" * 40
    (home / "data" / "artifacts.toml").write_text(f'[hub]\n"some/model" = {{ revision = "{revision}" }}\n')
    assert hub.revision_of("hf:some/model") == "a" * 40
    assert plan("smoke")[0].run_id != before
    with pytest.raises(DataError, match="cannot load some/model"):
        load_model("hf:some/model")
