"""The course's sheets: solutions have full marks, the blank version none, and what people get wrong costs marks."""

from __future__ import annotations

import contextlib
import copy
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
SHEETS = {path.stem: path for path in sorted((ROOT / "notebooks" / "course").glob("session*.py"))}
_SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n.*?^[ \t]*### END SOLUTION$", re.MULTILINE | re.DOTALL)

FAINTER = "embeddings * keep[:, None]"  # every element a little, in place of some
ONE_ORDER = "torch.randperm(scores.shape[1], generator=generator).expand_as(scores)"  # the same for all inputs
NO_DRAW = "torch.stack([torch.randperm(len(wins), generator=generator) for _ in range(draws)])"  # without replacement
APART = "math.sqrt((first.var() + second.var()) / len(first))"  # as if the inputs were others
# What people get wrong, by sheet and answer: what stands in the place of what, and which tests must notice.
WRONG: dict[str, list[tuple[str, str, str, set[str]]]] = {
    "session1": [
        ("sufficiency", "- max(0, full - kept)) /", "- (full - kept)) /", {"sufficiency"}),  # above the whole text
        ("sufficiency", "(full - empty) - max(0, full - kept)", "kept - 0", {"sufficiency"}),  # nothing taken off
        (
            "comprehensiveness",
            "max(0, full - removed)",
            "max(0, removed - empty)",
            {"comprehensiveness"},
        ),  # turned round
        ("rationales", "model(rest)", "model(chosen)", {"rationales"}),  # the rationale in place of what is left
        ("model", "set(kept) == {0, 1, 2}", "len(kept) >= 1", {"model"}),  # enough, not needed
    ],
    "session2": [
        ("top", "math.ceil(", "math.floor(", {"top"}),
        ("top", "-scores[place]", "scores[place]", {"top"}),
        ("keep", 'stretched if verb == "sufficiency" else 1 - stretched', "stretched", {"keep"}),
        ("erase", "torch.where(drawn < keep[:, None], embeddings, torch.zeros(()))", FAINTER, {"erase"}),
        ("bounds", "max(most[chosen - {word}] for word in chosen)", "most[chosen - {max(chosen)}]", {"bounds"}),
    ],
    "session3": [
        ("diagnosticity", "real > random", "real >= random", {"wins"}),
        ("diagnosticity", "real, random = real[defined], random[defined]", "pass", {"undefined"}),
        ("shuffled", "torch.rand(scores.shape, generator=generator).argsort(dim=1)", ONE_ORDER, {"shuffled"}),
        ("shuffled", "scores.gather(1, order)", "torch.rand(scores.shape, generator=generator)", {"shuffled"}),
        ("interval", "torch.randint(0, len(wins), (draws, len(wins)), generator=generator)", NO_DRAW, {"interval"}),
    ],
    "session4": [
        ("paired", "(difference.std(unbiased=True) / math.sqrt(len(difference))).item()", APART, {"paired"}),
        ("paired", "math.sqrt(len(difference))", "1", {"paired"}),
        ("verdict", 'len(intervals) - no < k else "inconclusive"', 'yes < k else "inconclusive"', {"open"}),
        ("verdict", "if yes >= k:", "if yes == len(intervals):", {"clear"}),
        ("ask", "rows[first : first + size]", "rows[:size]", {"ask"}),  # the released fault
    ],
}


def role(cell: Any) -> dict[str, Any]:
    """What nbgrader is told of a cell."""
    return dict(cell.metadata.get("nbgrader", {}))


def points(sheet: Any) -> dict[str, int]:
    """Points by test, as nbgrader gives them: those of a cell that runs through."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = {}
    for cell in sheet.cells:
        passed = cell.cell_type != "code"
        with contextlib.suppress(Exception):
            exec(compile(cell.source, "cell", "exec") if not passed else "", names)
            passed = True
        if role(cell).get("grade"):
            found[role(cell)["grade_id"].removeprefix("test-")] = role(cell)["points"] if passed else 0
    return found


def answered(sheet: Any, name: str, old: str, new: str) -> Any:
    """A sheet with another answer."""
    made = copy.deepcopy(sheet)
    (cell,) = (one for one in made.cells if role(one).get("grade_id") == f"solution-{name}")
    assert cell.source.count(old) == 1, (name, old)
    cell.source = cell.source.replace(old, new)
    return made


def test_there_is_a_sheet_for_every_session_and_it_says_so() -> None:
    sessions = sorted(path.stem for path in (ROOT / "book" / "course").glob("session*.md"))
    assert sessions == list(SHEETS) == list(WRONG)
    for name, path in SHEETS.items():
        title = re.search(r"^# # (Sheet .*)$", path.read_text(), flags=re.MULTILINE)[1]
        of_page = (ROOT / "book" / "course" / f"{name}.md").read_text().partition("# Session ")[2].partition("\n")[0]
        assert title == f"Sheet {of_page}"


@pytest.mark.parametrize("name", SHEETS)
def test_solutions_have_full_marks_within_seconds_and_a_blank_sheet_has_none(name: str) -> None:
    sheet = jupytext.read(SHEETS[name])
    code = [role(cell) for cell in sheet.cells if cell.cell_type == "code"]
    ids = [one["grade_id"] for one in code]
    assert len(ids) == len(set(ids)) and all(one["locked"] != one["solution"] for one in code)
    began = time.process_time()
    found = points(sheet)
    assert time.process_time() - began < 10
    assert found == {one["grade_id"].removeprefix("test-"): one["points"] for one in code if one["grade"]}
    assert sum(found.values()) == 8
    for cell in sheet.cells:
        cell.source = _SOLUTION.sub(r"\1raise NotImplementedError()", cell.source)
    assert set(points(sheet).values()) == {0}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [(name, wrong) for name in WRONG for wrong in WRONG[name]],
    ids=lambda one: one if isinstance(one, str) else one[0],
)
def test_typical_wrong_answers_lose_marks(name: str, wrong: tuple[str, str, str, set[str]]) -> None:
    found = points(answered(jupytext.read(SHEETS[name]), *wrong[:3]))
    lost = {test for test, got in found.items() if got == 0}
    assert lost >= wrong[3] and len(lost) < len(found), lost


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_nbgrader_takes_a_sheet_hides_its_solutions_and_marks_it(tmp_path: Path) -> None:
    """In an environment of its own, whose notebooks run in this one."""

    def uv(*words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "uv", *words]
        return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)

    if uv("pip", "compile", "--quiet", "--group", "course", "pyproject.toml").returncode:
        pytest.skip("no package index can be reached from here")
    own, folder = tmp_path / "environment", tmp_path / "course"
    assert uv("venv", "--quiet", "--python", sys.executable, str(own)).returncode == 0
    done = uv("pip", "install", "--quiet", "--python", str(own / "bin" / "python"), "--group", "course")
    assert done.returncode == 0, done.stderr
    line = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(own), "--name", "python3"]
    subprocess.run(line, check=True, capture_output=True)
    name = "session4"
    source = folder / "source" / name / f"{name}.ipynb"
    source.parent.mkdir(parents=True)
    jupytext.write(jupytext.read(SHEETS[name]), source)

    def nbgrader(*words: str) -> None:
        told = {**os.environ, "PATH": f"{own / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run([own / "bin" / "nbgrader", *words], cwd=folder, env=told, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    nbgrader("generate_assignment", name)
    released = folder / "release" / name / f"{name}.ipynb"
    text = "\n".join(cell.source for cell in nbformat.read(released, as_version=4).cells)
    assert "BEGIN" not in text and text.count("raise NotImplementedError()") == 3
    for student, path in {"full": source, "blank": released}.items():
        (folder / "submitted" / student / name).mkdir(parents=True)
        (folder / "submitted" / student / name / path.name).write_bytes(path.read_bytes())
    nbgrader("autograde", name)
    nbgrader("export")
    rows = pd.read_csv(folder / "grades.csv").set_index("student_id")
    assert rows["raw_score"].to_dict() == {"full": 8, "blank": 0} and set(rows["max_score"]) == {8}
