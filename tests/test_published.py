"""The papers' numbers: complete, consistent with each other, and guarded against a slip of a digit."""

from __future__ import annotations

import csv
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from faithbook.judge import published
from faithbook.papers.zaman_belinkov import LANGUAGE_TABLES
from faithbook.paths import root
from faithlib.errors import UnknownNameError

PUBLISHED = root() / "data" / "published"
# Of all CSV files as they were when `check.py` found every number of theirs in the papers' texts, which are not in this
# repository. Without the texts it misses most slips of a single digit. After a deliberate correction: run
# `check.py FOLDER` with the texts, then put the new digest here.
CHECKED = "03629e35f6d15c21612806e1f0a55d072f6bbdfde78ce118986f309b7b75cc5f"


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.glob("*.csv")):
        # Git on Windows may have changed the line ends.
        found.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    with (folder.parent / "claims.csv").open(newline="", encoding="utf-8") as stream:
        found.update(
            "\n".join(row["published_value"] for row in csv.DictReader(stream) if row["kind"] == "claim").encode()
        )
    return found.hexdigest()


def check(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(folder / "check.py"), *more]
    return subprocess.run(line, capture_output=True, check=False, text=True)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(PUBLISHED.parent / "claims.csv", tmp_path)
    return Path(shutil.copytree(PUBLISHED, tmp_path / "published"))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_numbers_are_those_that_were_found_in_the_papers():
    assert digest(PUBLISHED) == CHECKED


def test_the_digest_notices_what_the_arithmetic_cannot(copy):
    change(copy / "soft_table1.csv", "sst,size,train,6920", "sst,size,train,6921")
    assert check(copy).returncode == 0
    assert digest(copy) != CHECKED


@pytest.mark.parametrize("option", [(), ("--no-seeds",), ("--no-seeds", "nowhere")])
def test_the_checker_needs_no_texts(option):
    done = check(PUBLISHED, *option)
    assert done.returncode == 0, done.stdout
    assert "seed texts: skipped" in done.stdout


def test_the_checker_says_that_a_folder_of_texts_is_missing(tmp_path):
    done = check(PUBLISHED, str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert "nowhere is not a folder" in done.stdout


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("soft_table6.csv", "sst,attention,ns,0.406", "sst,attention,ns,0.306"),
        ("soft_table2.csv", "nc,attention,0.404", "nc,atention,0.404"),
        ("soft_table3.csv", "nc,sst,0.409,,false\n", ""),
        ("../claims.csv", ",16; 18,holds,", ",16; 18,fails,"),
    ],
    ids=["value", "name", "row", "status"],
)
def test_the_checker_notices_a_change(copy, file, old, new):
    change(copy / file, old, new)
    assert check(copy).returncode == 1


def test_every_listed_table_is_there_with_its_rows():
    for row in published.claims("table").itertuples():
        with (PUBLISHED / f"{row.id}.csv").open(newline="", encoding="utf-8") as stream:
            assert len(list(csv.reader(stream))) - 1 == int(row.rows), row.id


def test_every_table_keeps_its_numbers() -> None:
    for name in published.claims("table").id:
        found = published.table(name)
        with (PUBLISHED / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
            printed = list(csv.DictReader(stream))
        for column in ("value", "spread"):
            wanted = [float(row[column] or "nan") for row in printed]
            assert np.array_equal(found[column], wanted, equal_nan=True), (name, column)


def test_ids_are_unique_over_tables_figures_and_claims():
    found = published.claims()
    assert found.id.is_unique and list(dict.fromkeys(found.kind)) == list(published.KINDS)


def test_numbers_are_numbers_and_the_rest_is_as_printed():
    table = published.table("soft_table1")
    size = table[(table.dataset == "sst") & (table.split == "train")]
    assert size.value.item() == 6920
    assert table.starred.isin(["true", "false"]).all()
    assert set(published.claims("claim").paper) == set(published.PAPERS)
    assert len(published.claims("claim", "zhao_aletras_2023")) == 11
    with pytest.raises(UnknownNameError, match="soft_table1"):
        published.table("soft_table")
    with pytest.raises(UnknownNameError, match="did you mean 'claim'"):
        published.claims("claims")


@pytest.mark.parametrize(("number", "language"), LANGUAGE_TABLES.items())
def test_a_table_of_one_language_is_set_beside_that_language_alone(number: int, language: str) -> None:
    """They were dealt out by how well our models read a language: Thai's table could hold Swahili."""
    assert set(published.table(f"crosslingual_table{number}").language) == {language}
