"""The reference as a data set of its own: whole, its metadata those of the repository, the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

from faithbook import deposit
from faithlib.errors import DataError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(deposit.write(tmp_path_factory.mktemp("deposit")))


def test_it_has_the_committed_reference_and_nothing_that_is_not_committed(archive: zipfile.ZipFile) -> None:
    top = Path(archive.filename or "").stem
    assert top == f"faithfulness-reference-{yaml.safe_load((ROOT / 'CITATION.cff').read_text())['version']}"
    names = {name.removeprefix(f"{top}/") for name in archive.namelist()}
    listed = subprocess.run(["git", "ls-files", *deposit.PLACES], cwd=ROOT, capture_output=True, text=True, check=True)
    committed = {name for name in listed.stdout.split() if not name.endswith(".py")}
    made = {"CITATION.cff", "codemeta.json", "README.txt", "SHA256SUMS"}
    assert committed | made <= names
    assert {name for name in names - committed - made if not (name.count("/") == 1 and name.endswith(".csv"))} == set()


def test_its_metadata_agree_with_the_repositorys(archive: zipfile.ZipFile) -> None:
    top, ours = Path(archive.filename or "").stem, yaml.safe_load((ROOT / "CITATION.cff").read_text())
    told = yaml.safe_load(archive.read(f"{top}/CITATION.cff"))
    meta = json.loads(archive.read(f"{top}/codemeta.json"))
    assert told["type"] == "dataset" and meta["@type"] == "Dataset"
    assert told["version"] == meta["version"] == ours["version"] == meta["wasGeneratedBy"]["version"]
    assert told["authors"] == ours["authors"] and meta["datePublished"] == str(ours["date-released"])
    assert told["title"] == meta["name"] != ours["title"]
    assert meta["license"].endswith(told["license"]) and told["license"] in (ROOT / "LICENSE-prose").read_text()


def test_its_digests_are_right_and_the_same_commit_gives_the_same_bytes(
    archive: zipfile.ZipFile, tmp_path: Path
) -> None:
    top = Path(archive.filename or "").stem
    sums = dict(line.split("  ")[::-1] for line in archive.read(f"{top}/SHA256SUMS").decode().splitlines())
    assert len(sums) == len(archive.namelist()) - 1
    assert all(hashlib.sha256(archive.read(f"{top}/{name}")).hexdigest() == digest for name, digest in sums.items())
    assert deposit.write(tmp_path).read_bytes() == Path(archive.filename or "").read_bytes()


def test_without_values_of_inputs_there_is_nothing_to_deposit(home: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no values of single inputs"):
        deposit.write(tmp_path)


def test_what_zenodo_is_told_is_what_the_other_files_say() -> None:
    told, ours = json.loads((ROOT / ".zenodo.json").read_text()), yaml.safe_load((ROOT / "CITATION.cff").read_text())
    meta = json.loads((ROOT / "codemeta.json").read_text())
    assert (told["title"], told["version"], told["license"]) == (ours["title"], ours["version"], ours["license"])
    assert told["keywords"] == ours["keywords"] and told["description"] == meta["description"]
    assert [one["name"] for one in told["creators"]] == [one["name"] for one in ours["authors"]]
    assert told["upload_type"] == ours["type"] == "software"
    for reference, text in zip(ours["references"], told["references"], strict=True):
        assert reference["title"] in text and str(reference["year"]) in text
        assert all(f"{one['family-names']}, {one['given-names']}" in text for one in reference["authors"])
