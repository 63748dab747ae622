"""What a profile needs, told before it starts: all that is missing at once, and rows and hours as runs have counted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
from studies import copy_studies

from faithbook import hub
from faithbook.__main__ import main
from faithbook.artifacts import is_here, registry, resolve
from faithbook.engine import build, trained
from faithbook.engine import plan as plans
from faithbook.engine.plan import Job, trainings
from faithbook.engine.studies import studies
from faithbook.engine.study import PAPER
from faithbook.engine.trained import checkpoint_of, has_weights, waits_for
from faithbook.paths import checkpoints_dir
from faithbook.preflight import (
    DOWNLOADABLE,
    HERE,
    MISSING,
    OPTIONAL,
    TRAINED,
    Requirement,
    _checkpoint_folder,
    _room,
    _wanted,
    check,
    requirements_of,
)
from faithbook.sources.files import sources
from faithlib.errors import UnknownNameError

NAMED = ("hf:", "timm:")


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing has been fetched, and no network."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path / "raw"))
    monkeypatch.setattr(hub, "_cached", lambda *_: None)
    return tmp_path / "raw"


@pytest.mark.usefixtures("nothing")
def test_everything_that_is_missing_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preflight", "--profile", "paper"]) == 1
    said = capsys.readouterr()
    assert "things are missing, so nothing was started:" in said.err
    missing = [need for need in requirements_of("paper") if need.state == MISSING]
    assert {need.name for need in missing} >= {
        "ag", "evinf", "multirc", "mnli", "xnli", "esnli", "imagenet", "hf:roberta-base",
        "hf:bert-base-multilingual-cased",
    }  # fmt: skip
    for need in missing:
        assert f"\n  {need.name}: {need.note}" in said.err
    by_hand = next(need for need in missing if need.name == "ag")
    assert "by hand" in by_hand.note
    assert str(sources()["ag"].path) in by_hand.note
    assert by_hand.licence == "non-commercial use"


@pytest.mark.usefixtures("nothing")
def test_what_is_trained_is_not_missing_but_what_it_starts_from_is() -> None:
    states = {need.name: need.state for need in requirements_of("paper")}
    texts = [f"{dataset}-seed{seed}" for dataset in ("sst", "ag", "evinf", "multirc") for seed in range(5)]
    pairs = [f"{name}-seed{seed}" for name in ("mnli", "mnli-xlmr", "esnli") for seed in range(3)]
    pictures = [f"cifar{n}-{model}-seed0" for n in (10, 100) for model in ("base", "large", "deit")]
    pairs.append("mnli-bert-seed0")  # the English model of study 3's Figure 6
    wanted = {f"hf:data/checkpoints/paper/{name}" for name in [*texts, "sst-robust-seed0", *pairs]}
    assert {name for name, state in states.items() if state == TRAINED} == {
        *wanted,
        *(f"local:paper/{name}" for name in pictures),
    }
    for start in ("hf:bert-base-uncased", "hf:allenai/scibert_scivocab_uncased", "mnli"):
        assert states[start] == MISSING
    # The models that the paper names, each fine-tuned on one of its three data sets.
    six = {name for name in states if name.startswith(("hf:textattack/", "hf:VictorSanh/")) and "snli" not in name}
    assert len(six) == 6
    assert {checkpoint_of(job).name for job in trainings("paper", "naopc")} == {"sst-seed0", "sst-robust-seed0"}


def test_what_trainings_make_is_what_is_shipped() -> None:
    shipped = {path.parent for path in checkpoints_dir().glob("*/*/*.safetensors")}
    photographs = {folder for folder in shipped if folder.parent.name == "photo"}  # learnt where the archive lies
    papers = {"sst", "ag", "nli", "esnli", "evinf"}  # learnt where these texts lie
    texts = {folder for folder in shipped if folder.name.partition("-")[0] in papers}
    assert {checkpoint_of(job) for job in trainings("laptop")} == shipped - photographs - texts
    assert {checkpoint_of(job) for job in trainings("full")} >= shipped - photographs - texts
    of_one = trainings("laptop", "naopc")
    assert {job.parameters["classifier"] for job in of_one} == {"l3", "lstm", "robust"}
    assert len(of_one) == 6


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checkpoints that calls of `train` begin to make, in a folder of their own; none is ever made."""
    asked: list[str] = []

    def schedule(profile: str, study: str | None, jobs: Sequence[Job], *_: object) -> None:
        asked.extend(checkpoint_of(job).name for job in jobs if not job.done)

    monkeypatch.setattr(build, "_schedule", schedule)
    monkeypatch.setattr(build, "results_dir", lambda profile: tmp_path)
    monkeypatch.setattr(trained, "checkpoints_dir", lambda: tmp_path)
    return asked


def test_only_what_is_not_there_is_trained(
    tmp_path: Path, begun: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plans, "results_dir", lambda profile: tmp_path / "results")
    weights = tmp_path / "text" / "movie-l3-seed0" / "adapter_model.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"")
    taken_away = next(job for job in trainings("laptop", "naopc") if checkpoint_of(job) != weights.parent)
    taken_away.folder.mkdir(parents=True)
    taken_away.manifest.write_text("{}")  # it was trained once
    line = ["train", "--profile", "laptop", "--study", "naopc"]
    assert main([*line, "--missing"]) == 0
    assert "movie-l3-seed0 is there" in capsys.readouterr().out
    missing = [*begun]
    assert len(missing) == 5 and checkpoint_of(taken_away).name in missing
    assert main(line) == 0
    assert begun[len(missing) :] == ["movie-l3-seed0", *missing]


def test_a_training_is_named_by_how_it_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `make train` makes anew what is to be trained otherwise, and nothing else."""
    for path in tiny.REPOSITORY.iterdir():
        if path.name not in ("data", "faithbook"):
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "data").mkdir()
    for path in (tiny.REPOSITORY / "data").iterdir():
        if path.name not in ("raw", "artifacts.toml"):
            (tmp_path / "data" / path.name).symlink_to(path)
    shutil.copy(tiny.REPOSITORY / "data" / "artifacts.toml", tmp_path / "data")
    copy_studies(tmp_path)
    monkeypatch.setenv("FAITHLIB_HOME", str(tmp_path))
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path / "raw"))

    def ids() -> dict[str, str]:
        return {job.label: job.run_id for job in trainings("paper")}

    before = ids()
    of_soft, artifacts = tmp_path / "faithbook/studies/soft/study.py", tmp_path / "data" / "artifacts.toml"
    for path, old, new, dataset in (
        (of_soft, 'scibert_scivocab_uncased", batch_size=4', 'scibert_scivocab_uncased", batch_size=8', "evinf"),
        (artifacts, '"roberta-base" = { revision = "e2da8e2f', '"roberta-base" = { revision = "f2da8e2f', "multirc"),
    ):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        assert {label.split()[1] for label, run in ids().items() if run != before[label]} == {dataset}
        path.write_text(text)


def test_a_training_waits_for_the_one_that_it_starts_from() -> None:
    jobs = trainings("laptop", "saco")
    before = {job.label: [earlier.label for earlier in waits_for(job, jobs)] for job in jobs}
    assert before["vision_classifiers mnist base 0  0"] == ["vision_classifiers fashion base 0  0"]
    assert before["vision_classifiers fashion base 0  0"] == []
    papers = trainings("paper")
    assert not any(waits_for(job, papers) for job in papers if job.notebook == "text_classifiers")


def test_what_cannot_be_trained_is_said(home: Path, begun: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--profile", "smoke", "--study", "tiny", "--missing"]) == 0  # as `make paper STUDY=book` asks
    assert "the profile smoke trains nothing for the study tiny" in capsys.readouterr().out
    assert main(["train", "--profile", "smoke"]) == 1
    assert "trains nothing" in capsys.readouterr().err
    path = home / tiny.OF_STUDY
    recipe = "study.recipe('text_classifiers')(lambda profile: Settings(training={'movie': {'rank': 8}}))"
    training = "study.trainings(lambda profile: [('text_classifiers', {'dataset': 'movei', 'seed': 0})])"
    path.write_text(f"{path.read_text()}\n{recipe}\n{training}\n")
    assert main(["train", "--profile", "smoke"]) == 1
    assert "data set with a recipe in the profile smoke 'movei': did you mean 'movie'" in capsys.readouterr().err


@pytest.mark.usefixtures("nothing")
def test_pictures_as_files_stand_for_the_archive() -> None:
    assert not is_here("cifar10") and not is_here("cifar100")
    names = {need.name: need.state for need in requirements_of("paper", "saco")}
    assert names["cifar10"] == names["cifar100"] == DOWNLOADABLE
    assert not [name for name in names if name.endswith("-folder")]
    sources()["cifar10-folder"].path.mkdir(parents=True)
    names = {need.name: need.state for need in requirements_of("paper", "saco")}
    assert (names["cifar10-folder"], names["cifar100"]) == (HERE, DOWNLOADABLE)
    assert "cifar10" not in names
    assert is_here("cifar10")
    archive = sources()["cifar100"].path
    archive.parent.mkdir()
    archive.touch()
    assert is_here("cifar100")


@pytest.mark.usefixtures("nothing")
def test_one_study_asks_for_its_own_things_only() -> None:
    names = {need.name for need in requirements_of("paper", "soft")}
    assert names >= {"ag", "sst-test", "hf:bert-base-uncased", "hf:allenai/scibert_scivocab_uncased"}
    assert not names & {"imagenet", "xnli", "local:paper/cifar10-base-seed0"}
    with pytest.raises(UnknownNameError, match="did you mean 'soft'"):
        requirements_of("paper", "sotf")


def test_what_is_there_is_held_against_its_digest(nothing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ag", "sst-test"):
        sources()[name].path.parent.mkdir(parents=True)
    (nothing / "ag" / "train.csv.gz").write_text("whatever people bring")
    sources()["sst-test"].path.write_text("another file")
    found = {need.name: need for need in requirements_of("paper", "soft")}
    assert found["ag"].state == HERE
    assert "holds train.csv.gz" in found["ag"].note
    assert found["sst-train"].state == DOWNLOADABLE
    assert found["sst-test"].state == MISSING
    assert "is not the file expected" in found["sst-test"].note


@pytest.mark.usefixtures("nothing")
def test_a_profile_whose_files_can_all_be_had_passes(capsys: pytest.CaptureFixture[str]) -> None:
    check("laptop")
    states = {need.name: need.state for need in requirements_of("laptop", "crosslingual")}
    assert (states["rwth"], states["xlwa"]) == (OPTIONAL, OPTIONAL)  # without which a notebook goes on
    said = capsys.readouterr().out
    assert "nothing is missing" in said
    assert "GB of disk free" in said


def test_every_model_of_the_hub_is_in_the_table() -> None:
    for need in requirements_of("paper"):
        if need.name.startswith(NAMED) and "/checkpoints/" not in need.name:
            assert resolve(need.name).repository in registry().hub, need.name
    for model in registry().hub.values():
        assert len(model.revision) in (0, 40)


def test_a_relative_folder_is_the_same_one_for_all_that_is_started(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build starts Snakemake and kernels in other folders than its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAITHLIB_DATA", "elsewhere/raw")
    assert main(["build", "--list", "--profile", "smoke"]) == 0
    assert os.environ["FAITHLIB_DATA"] == str(tmp_path / "elsewhere" / "raw")
    assert Path(os.environ["FAITHLIB_HOME"]) == home


def test_a_disk_that_is_too_full_for_what_is_to_come_is_missing_room() -> None:
    need = Requirement("hf:lab/huge", "hub", DOWNLOADABLE, "the hub gives it", bytes=10**18)
    (short,) = _room([need, need])
    assert (short.state, short.kind) == (MISSING, "machine")
    assert "but at least 2000000000.0 GB are to be downloaded (" in short.note
    assert "make room" in short.note
    assert not list(_room([replace(need, bytes=10)]))
    assert not list(_room([replace(need, state=HERE)]))
    start = replace(need, state=HERE, bytes=10**17)
    made = [
        Requirement(f"hf:{name}", "checkpoint", TRAINED, "is not there", starts=(start.name, "sst")) for name in "ab"
    ]
    (short,) = _room([start, *made])
    assert "500000000.0 GB are to be written by trainings" in short.note  # two, and the state beside one


@pytest.mark.parametrize("study", [None, *(name for name, study in studies().items() if list(study.trained(PAPER)))])
def test_what_a_study_loads_of_ours_is_shipped_or_trained_with_it(study: str | None) -> None:
    """So that `make paper STUDY=...` makes it."""
    made = {checkpoint_of(job) for job in trainings("paper", study)}
    names = {name for name in _wanted("paper", study) if name.startswith(("local:", "hf:data/"))}
    folders = {name: _checkpoint_folder(resolve(name)) for name in names}
    assert not [name for name, folder in folders.items() if folder not in made and not has_weights(folder)]
