"""Models of the hub: what is said of those that cannot be had, what is downloaded, and that a build reads the cache."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import replica_models
from hub_replica import COMMIT, Replica
from refusals import no_file_above, refused
from tiny import OF_STUDY

from faithbook import hub
from faithbook.artifacts import commit_of, resolve
from faithbook.engine.plan import plan
from faithbook.engine.run import start_run
from faithbook.models.load import load_model
from faithbook.preflight import DOWNLOADABLE, HERE, MISSING, _requirement
from faithlib.errors import DataError

WEIGHTS = "model.safetensors"
NOT_GIVEN = r"the hub does not give hf:lab/one: .*the same command goes on from here"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier as the hub has it, with pickled weights beside the others."""
    folder = tmp_path_factory.mktemp("files") / "one"
    replica_models.make("lab/roberta-base-snli", folder, ["who is it", "a fine film"])
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, on a machine on which nothing has been converted."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path / "raw"))
    for module in ("constants", "_snapshot_download", "file_download"):
        monkeypatch.setattr(f"huggingface_hub.{module}.HF_HUB_CACHE", str(tmp_path / "cache"), raising=False)
    return tmp_path / "cache"


@pytest.fixture
def replica(cache: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Replica]:
    """A hub that is asked, with one model."""
    with Replica() as replica:
        replica.models["lab/one"] = files
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", replica.address)
        files_at = replica.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", files_at)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        yield replica


def read_by_the_tiny_study(home: Path, *models: str) -> None:
    path = home / OF_STUDY
    path.write_text(path.read_text().replace("loads=[]", f"loads={list(models)}"))


# --------------------------------------------------------------------------------------------- what the hub would give
def test_the_hub_says_what_it_would_give_and_what_not_in_a_sentence_each(
    replica: Replica, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(files, tmp_path / "old")
    (tmp_path / "old" / WEIGHTS).unlink()
    replica.models |= {"lab/old": tmp_path / "old", "lab/gated": files}
    replica.gated.add("lab/gated")
    asked = {name: _requirement(resolve(f"hf:lab/{name}"), {}) for name in ("one", "old", "gated", "unknown")}
    whole, old, gated, unknown = asked.values()
    assert (whole.state, whole.licence, whole.revision) == (DOWNLOADABLE, "mit", f"newest, {COMMIT}")
    assert whole.bytes == (files / WEIGHTS).stat().st_size
    assert old.state == gated.state == unknown.state == MISSING
    assert "no safetensors weights" in old.note and "but pytorch_model.bin" in old.note
    assert old.note.endswith("python -m faithbook.models.convert lab/old")
    assert "does not give lab/gated to everybody" in gated.note and "hf auth login" in gated.note
    assert "not in the cache, and the hub does not give it: RepositoryNotFoundError" in unknown.note
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert "the hub does not give it: ConnectError" in _requirement(resolve("hf:lab/one"), {}).note
    refused(DataError, NOT_GIVEN, hub.fetch_model, "hf:lab/one")


# -------------------------------------------------------------------------------------------------- what is downloaded
def test_a_model_is_brought_without_its_pickles_and_stays_at_its_commit(
    replica: Replica, cache: Path, home: Path, files: Path
) -> None:
    read_by_the_tiny_study(home, "hf:lab/one")
    before = [job.run_id for job in plan("smoke")]
    hub.fetch_model("hf:lab/one")
    folder = cache / "models--lab--one" / "snapshots" / COMMIT
    assert {WEIGHTS, "config.json", "tokenizer.json"} <= {path.name for path in folder.iterdir()}
    assert not (folder / "pytorch_model.bin").exists() and (files / "pytorch_model.bin").exists()
    assert _requirement(resolve("hf:lab/one"), {}).state == HERE
    assert commit_of("lab/one") == COMMIT
    assert [job.run_id for job in plan("smoke")] != before  # the name of a run has the commit of what it loads


def test_a_transfer_that_is_cut_off_is_told_and_gone_on_with(
    replica: Replica, cache: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # the client waits a second before it tries again
    replica.cut_after = 100
    refused(DataError, NOT_GIVEN, hub.fetch_model, "hf:lab/one")
    assert _requirement(resolve("hf:lab/one"), {}).state == DOWNLOADABLE  # what has come is not taken for the whole
    replica.cut_after = None
    hub.fetch_model("hf:lab/one")
    folder = cache / "models--lab--one" / "snapshots" / COMMIT
    assert (folder / WEIGHTS).read_bytes() == (files / WEIGHTS).read_bytes()


def test_a_full_disk_is_told_and_gone_on_with(replica: Replica, cache: Path, files: Path) -> None:
    with no_file_above((files / WEIGHTS).stat().st_size - 1):
        refused(
            DataError, rf"one does not fit into {cache}: .*make room and call it again", hub.fetch_model, "hf:lab/one"
        )
    hub.fetch_model("hf:lab/one")
    assert _requirement(resolve("hf:lab/one"), {}).state == HERE


# ------------------------------------------------------------------------------------------------- what a build reads
def test_a_run_reads_the_cache_alone_and_notes_the_commit(cache: Path, home: Path, files: Path) -> None:
    replica_models.put_in_cache(cache, "lab/one", files, "a" * 40)
    assert _requirement(resolve("hf:lab/one"), {}).state == HERE
    read_by_the_tiny_study(home, "hf:lab/one", "hf:lab/other")
    run = start_run("count", profile="smoke", dataset="movie", seed=0)
    assert load_model("hf:lab/one").label_names
    refused(DataError, r"(?s)cannot load lab/other: .* come by `make preflight", load_model, "hf:lab/other")
    run.finish()
    assert json.loads((run.folder / "manifest.json").read_text())["commits"] == {"hf:lab/one": "a" * 40}
