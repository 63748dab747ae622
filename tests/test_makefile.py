"""The Makefile before anything is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from faithbook.engine.plan import trainings
from faithbook.engine.studies import recipes
from faithbook.engine.study import PROFILES

ROOT = Path(__file__).resolve().parents[1]


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`make` in a folder with nothing but what it reads, and without a Python."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    line = ["make", "PYTHON=/nowhere/python", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


def test_an_unknown_profile_is_told_before_anything_is_made(tmp_path: Path) -> None:
    done = make(tmp_path, "book", "PROFILE=lapto")
    assert done.returncode == 2
    assert f"unknown profile 'lapto'; known: {' '.join(PROFILES)}" in done.stderr
    assert "/nowhere/python" not in done.stderr + done.stdout and not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("profile", ["smoke", "laptop", "full", "paper"])
def test_every_training_of_a_profile_has_its_settings(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    jobs = trainings(profile)
    for job in jobs:
        assert job.parameters["dataset"] in recipes(job.notebook, profile)["training"], job.label
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
        seeds = [point["seed"] for point in made if (point["dataset"], point["classifier"]) == ("sst", classifier)]
        assert seeds == [0, 1, 2], classifier
    assert not {point["dataset"] for point in made} & {"ag", "evinf", "multirc"}
    assert "sst" not in {job.parameters["dataset"] for job in trainings("laptop", "soft")}
