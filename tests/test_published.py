"""The papers' numbers: complete, consistent with each other, and guarded against a slip of a digit."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faithlib import compare
from faithlib.errors import UnknownNameError
from faithlib.study import root

PUBLISHED = root() / "data" / "published"


def check(folder: Path) -> int:
    line = [sys.executable, str(folder / "check.py"), "--no-seeds"]
    return subprocess.run(line, capture_output=True, check=False).returncode


def test_the_checker_accepts_the_tables_and_notices_a_changed_digit(tmp_path):
    copy = tmp_path / "published"
    shutil.copytree(PUBLISHED, copy)
    assert check(copy) == 0
    table = copy / "soft_table6.csv"
    table.write_text(table.read_text().replace("sst,attention,ns,0.406", "sst,attention,ns,0.306"))
    assert check(copy) != 0


def test_every_listed_table_is_there_with_its_rows():
    for row in compare.index("tables").itertuples():
        with (PUBLISHED / row.file).open(newline="") as stream:
            assert len(list(csv.reader(stream))) - 1 == int(row.rows), row.id


def test_numbers_are_numbers_and_the_rest_is_as_printed():
    table = compare.published("soft_table1")
    size = table[(table.dataset == "sst") & (table.split == "train")]
    assert size.value.item() == 6920
    assert table.starred.isin(["true", "false"]).all()
    assert set(compare.index("claims").paper) == set(compare.PAPERS)
    assert len(compare.index("claims", "zhao_aletras_2023")) == 11
    with pytest.raises(UnknownNameError, match="soft_table1"):
        compare.published("soft_table")
    with pytest.raises(UnknownNameError, match="did you mean 'claims'"):
        compare.index("claim")
