"""The Makefile before anything is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from faithbook.engine.plan import trainings
from faithbook.engine.profiles import find_profile, table

ROOT = Path(__file__).resolve().parents[1]


def make(folder: Path, *words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """`make` in a folder with nothing but what it reads, and without a Python."""
    for name in ("Makefile", "notebooks/profiles.yaml", "requirements.lock", "pyproject.toml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    line = ["make", "PYTHON=/nowhere/python", *words]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("target", ["book", "serve", "train"])
def test_an_unknown_profile_is_told_before_anything_is_made(tmp_path: Path, target: str) -> None:
    done = make(tmp_path, target, "PROFILE=lapto")
    assert done.returncode == 2
    assert f"unknown profile 'lapto'; known: {' '.join(table().profiles)}" in done.stderr
    assert "/nowhere/python" not in done.stderr + done.stdout
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("profile", ["smoke", "laptop", "full", "paper"])
def test_a_known_profile_goes_to_every_command(tmp_path: Path, profile: str) -> None:
    done = make(tmp_path, "--dry-run", "book", "train", f"PROFILE={profile}")
    assert done.returncode == 0, done.stderr
    assert f"faithbook book --profile {profile}" in done.stdout
    assert f"faithbook train --profile {profile}" in done.stdout


@pytest.mark.parametrize("words", [["book", "PROFILE=full"], ["paper"]])
def test_a_study_alone_is_built_without_the_book(tmp_path: Path, words: list[str]) -> None:
    done = make(tmp_path, "--dry-run", *words, "STUDY=soft", "CORES=3")
    assert done.returncode == 0, done.stderr
    profile = words[-1].rpartition("=")[2]
    assert f"faithbook build --study soft --profile {profile} --cores 3" in done.stdout
    assert "faithbook book" not in done.stdout


def test_the_reference_is_computed_copied_and_shown(tmp_path: Path) -> None:
    done = make(tmp_path, "--dry-run", "reference", "STUDY=soft")
    assert done.returncode == 0, done.stderr
    verbs = ("build --profile full --study soft", "reference --profile full --study soft", "book --profile laptop")
    places = [done.stdout.index(f"faithbook {verb}") for verb in verbs]
    assert places == sorted(places)


def test_the_papers_run_looks_at_what_it_needs_first(tmp_path: Path) -> None:
    done = make(tmp_path, "--dry-run", "paper", "STUDY=soft")
    assert done.returncode == 0, done.stderr
    looked = done.stdout.index("faithbook preflight --profile paper --study soft")
    built = done.stdout.index("faithbook build --study soft --profile paper")
    assert looked < built


def test_options_of_snakemake_go_to_every_build(tmp_path: Path) -> None:
    done = make(tmp_path, "--dry-run", "book", "train", "SNAKEMAKE=--workflow-profile notebooks/slurm")
    assert done.stdout.count(" -- --workflow-profile notebooks/slurm") == 2, done.stdout


@pytest.mark.parametrize("profile", ["smoke", "laptop", "full", "paper"])
def test_every_training_of_a_profile_has_its_settings(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    blocks = find_profile(profile).settings
    jobs = trainings(profile)
    for job in jobs:
        own = blocks.get(job.notebook, {}).get("training")
        known = own if own is not None else {name for block in blocks.values() for name in block.get("training", ())}
        assert job.parameters["dataset"] in known, job.label
    made = {str(job.parameters["dataset"]) for job in jobs}
    assert made >= ({"sst", "ag", "evinf", "multirc", "mnli", "cifar10"} if profile == "paper" else {"movie", "mnist"})
    # The papers' own pictures are learnt from where they lie, or where the whole profile is about them.
    assert ("cifar10" in made) == (profile == "paper")
    assert not made & ({"movie", "fashion"} if profile == "paper" else {"sst"})


def test_the_papers_texts_are_learnt_where_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for split in ("train", "dev", "test"):
        (tmp_path / f"sst-{split}").mkdir()
        (tmp_path / f"sst-{split}" / f"{split}.tsv").write_text("a film\t1\n")
    made = [job.parameters for job in trainings("full", "soft")]
    for classifier in ("", "mpnet"):
        seeds = [one["seed"] for one in made if (one["dataset"], one["classifier"]) == ("sst", classifier)]
        assert seeds == [0, 1, 2], classifier
    assert not {one["dataset"] for one in made} & {"ag", "evinf", "multirc"}
    assert "sst" not in {job.parameters["dataset"] for job in trainings("laptop", "soft")}
