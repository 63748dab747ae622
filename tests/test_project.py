"""The files around the code agree with each other and with what the README promises."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import faithlib
from faithbook.artifacts import registry
from faithbook.engine.plan import checked_parameters, find_notebook, notebook_parameters
from faithbook.engine.studies import entry_of, notebooks
from faithbook.engine.study import PROFILES

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_versions_authors_and_titles_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    meta, zenodo = (json.loads((ROOT / name).read_text()) for name in ("codemeta.json", ".zenodo.json"))
    for log in ("CHANGELOG.md", "book/changes.md"):  # the library's, and the book's
        assert f"## {faithlib.__version__}" in (ROOT / log).read_text()
    assert "Book and repository" not in (ROOT / "CHANGELOG.md").read_text()
    assert {citation["version"], meta["version"], zenodo["version"]} == {faithlib.__version__}
    assert citation["title"] == meta["name"] == zenodo["title"]
    assert citation["keywords"] == meta["keywords"] == zenodo["keywords"]
    names = [author["name"] for author in citation["authors"]]
    assert names == [author["name"] for author in meta["author"]] == [author["name"] for author in zenodo["creators"]]
    assert meta["softwareRequirements"] == PROJECT["dependencies"]
    titles = [paper["title"] for paper in citation["references"]]
    assert [paper["name"] for paper in meta["referencePublication"]] == titles


def free(licence: str) -> bool:
    """Whether a licence lets everybody show and hand on what is under it."""
    kept = re.search(r"research|non-commercial|\bNC\b|-NC\b|-ND\b|\(c\)|©|mixed", licence, re.IGNORECASE)
    known = re.search(r"\b(MIT|Apache-2\.0|BSD-[23]-Clause|CC0|CC BY(-SA)?|public domain)\b", licence)
    return bool(known) and not kept


def test_weights_trained_on_what_is_not_free_have_a_licence_of_their_own() -> None:
    """A row for every data set of a card, with the terms as data/sources.toml has them; no other rows."""
    text = (ROOT / "data" / "checkpoints" / "LICENSE.md").read_text()
    rows: dict[str, tuple[list[str], str, str]] = {}
    for line in re.findall(r"^\| (`.*) \|$", text, flags=re.MULTILINE):
        names, trained_on, of_sources, licence = line.split(" | ")
        kind = re.search(r"\((texts|pictures)\)", names)
        for name in re.findall(r"`([\w-]+)`", names):
            rows[f"{kind[1]}:{name}" if kind else name] = (re.findall(r"`([\w-]+)`", trained_on), of_sources, licence)
    of_cards = set()
    for card in (ROOT / "data" / "checkpoints").rglob("card.json"):
        told = json.loads(card.read_text())
        kind = "texts" if "encoder" in told else "pictures"
        name = told["dataset"]
        of_cards.add(f"{kind}:{name}" if name.startswith("planted") else name)
    assert set(rows) == of_cards
    listed = tomllib.loads((ROOT / "data" / "sources.toml").read_text())
    for name, (trained_on, of_sources, licence) in rows.items():
        assert "; ".join(listed[dataset]["licence"] for dataset in trained_on) == of_sources, name
        open_to_all = all(free(listed[dataset]["licence"]) for dataset in trained_on)
        bound = "GPL-2" if of_sources == "GPL-2" else "CC BY-NC 4.0"
        assert licence == ("MIT" if open_to_all else bound), name
        kind, _, data = name.rpartition(":")
        known = {"texts": "text:planted", "pictures": "vision:planted"}.get(kind, data)
        read = list(registry().fallback.get(known, registry().data[known]))
        shipped = [file for file in read if "/" not in file]
        # A training may learn from more, where it lies on the machine (the second release of Evidence Inference).
        assert shipped == trained_on[: len(shipped)], name


@pytest.mark.parametrize("notebook", [notebook.name for notebook in notebooks("compute")])
def test_every_setting_that_a_computation_reads_is_there_at_every_profile(notebook: str) -> None:
    entry = entry_of(notebook)
    assert entry is not None
    source = find_notebook(notebook)
    read = set(re.findall(r"""settings\[["'](\w+)["']\]""", source.read_text(encoding="utf-8")))
    for profile in PROFILES.values():
        for point in entry.points(profile):
            settings = entry.settings_at(profile, checked_parameters(source, point))
            assert read <= set(settings), f"{notebook} at {profile.name}"


OWN_CHOICES = {
    "naopc_models": {"short_inputs", "long_inputs"},  # go into its settings `short` and `long`
    "saco_metrics": {"erase", "upsample", "ties"},  # of its main setting
}
"""Choices by notebook that are no setting of its study but its own matter."""


@pytest.mark.parametrize("notebook", [notebook.name for notebook in notebooks("compute")])
def test_every_choice_of_a_computation_is_a_setting_of_its_study(notebook: str) -> None:
    """So that a banner can say what the profile has in its place, and a value of another kind is refused."""
    entry, source = entry_of(notebook), find_notebook(notebook)
    assert entry is not None
    choices = {name for name, value in notebook_parameters(source).items() if value is None}
    choices -= OWN_CHOICES.get(notebook, set())
    for profile in PROFILES.values():
        for point in entry.points(profile):
            settings = entry.settings_at(profile, checked_parameters(source, point))
            assert choices <= set(settings), f"{notebook} at {profile.name}"


@pytest.mark.parametrize("notebook", [notebook.name for notebook in notebooks("compute")])
def test_a_computation_is_a_lecture(notebook: str) -> None:
    """It has the formula of what it computes, and shows what it has computed; that of the games measures nothing."""
    source = find_notebook(notebook).read_text(encoding="utf-8")
    cells = source.split("# %%")
    if notebook != "play_answers":
        assert any("$$" in cell for cell in cells if cell.startswith(" [markdown]"))
        assert "beside_book(" in cells[-1]


# --- house rules -----------------------------------------------------------------------------------------------------


def test_no_outputs_and_nothing_large_in_git() -> None:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    for path in (ROOT / name for name in done.stdout.split("\0")):
        assert path.suffix != ".ipynb" and (not path.is_file() or path.stat().st_size < 4_000_000), path
