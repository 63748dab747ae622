"""The library's page on a registry: its code runs as printed, its tables are those of the library."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import report_picture
from toy_models import text_model, tokenizer

import faithlib
from faithlib.__main__ import main
from faithlib.attribution import methods
from faithlib.metrics.__main__ import with_table

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "faithlib" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_code_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = []
    for block in BLOCKS:
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(block, "README.md", "exec"), names)
        printed.append(stream.getvalue())
    shown = re.search(r"^```text\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert shown is not None and printed[0].split() == shown[1].split()
    assert (tmp_path / "report.html").is_file() and "top_drop" in printed[-1]


def write_own_files(folder: Path) -> None:
    """The metric and the method of the page, each in a file of the name that the commands have."""
    for decorator, name in (("@metric(", "my_metric.py"), ("@method(", "my_method.py")):
        (block,) = (block for block in BLOCKS if decorator in block)
        (folder / name).write_text(block.partition("\nprint(")[0] + "\n", encoding="utf-8")


def test_commands_run_as_printed(tmp_path: Path) -> None:
    """Those for a shell, with a small classifier and a table of texts in the places that they name."""
    lines = re.findall(r"^```bash\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    commands = [shlex.split(line) for line in "".join(lines).splitlines() if "faithlib evaluate" in line]
    assert len(commands) == 2
    for number, command in enumerate(commands):
        folder = tmp_path / str(number)
        text_model("bert", classes=2).save_pretrained(folder / command[4])
        tokenizer().save_pretrained(folder / command[4])
        (folder / command[5]).write_text("text\na fine film\nnot bad\nwho is it\n", encoding="utf-8")
        write_own_files(folder)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [sys.executable, *command[1:]], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        report = folder / command[command.index("--out") + 1]
        values = pd.read_csv(report.with_suffix(".csv"))
        assert report.is_file() and set(values.method) == set(
            command[command.index("--methods") + 1].replace("my_method.py", "lone_words").split(",")
        )


def test_the_picture_of_a_report_says_what_the_report_says() -> None:
    """Where it does not: `python tests/report_picture.py`, and the sentence on the page."""
    assert f"*{report_picture.table().summary().sentence}*" in " ".join(PAGE.split())
    assert (ROOT / "faithlib" / re.search(r"\((\S+report\.png)\)", PAGE)[1]).is_file()  # type: ignore[index]


def test_tables_are_those_of_the_library() -> None:
    assert with_table(PAGE) == PAGE, "python -m faithlib.metrics writes the table of metrics"
    for inputs, kind in (("texts of a classifier", "text"), ("images", "image"), ("texts of any function", "words")):
        (row,) = re.findall(rf"^\| {inputs} \| (.*) \|$", PAGE, flags=re.MULTILINE)
        assert set(re.findall(r"`(\w+)`", row)) == set(methods(kind)), kind


def test_the_newest_version_stands_first_in_the_change_log() -> None:
    log = (ROOT / "faithlib" / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", log, flags=re.MULTILINE)
    newest = next(heading for heading in headings if heading != "Unreleased")
    assert newest.startswith(f"{faithlib.__version__} (20") and headings.index(newest) <= 1
    assert set(re.findall(r"^### (.*)$", log, flags=re.MULTILINE)) <= {"Added", "Changed", "Fixed", "Removed"}


def test_the_bench_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = re.findall(r"^python -m faithlib (bench .*)$", PAGE, flags=re.MULTILINE)
    write_own_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        assert main([*shlex.split(line), "--inputs", "2"]) == 0
    assert {"srg", "top_drop", "lime", "lone_words"} <= set(stream.getvalue().split())
