"""The course's sheets: solutions have full marks, the blank version none, and what people get wrong costs marks."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from faithbook import course
from faithlib.errors import InputError, UnknownNameError

ROOT = Path(__file__).resolve().parents[1]
SHEETS = list(course.sheets())

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


@pytest.fixture(scope="module", params=SHEETS)
def sheet(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param, course.instructor(request.param)


def points(found: list[course.Mark]) -> dict[str, int]:
    return {one.test: one.points for one in found}


def answered(sheet: Any, name: str, old: str, new: str) -> Any:
    """A sheet with another answer."""
    made = copy.deepcopy(sheet)
    (cell,) = (one for one in made.cells if one.metadata["nbgrader"]["grade_id"] == f"solution-{name}")
    assert cell.source.count(old) == 1, (name, old)
    cell.source = cell.source.replace(old, new)
    return made


def test_there_is_a_sheet_for_every_session_and_it_says_so() -> None:
    sessions = sorted(path.stem for path in (ROOT / "book" / "course").glob("session*.md"))
    assert sessions == SHEETS == list(WRONG)
    for name in SHEETS:
        title = re.search(r"^# # (Sheet .*)$", course.sheets()[name].read_text(), flags=re.MULTILINE)[1]
        of_page = (ROOT / "book" / "course" / f"{name}.md").read_text().partition("# Session ")[2].partition("\n")[0]
        assert title == f"Sheet {of_page}"


def test_solutions_have_full_marks_and_a_session_fits_a_laptop(sheet: tuple[str, Any]) -> None:
    began = time.process_time()
    found = course.marks(sheet[1], sheet[1])
    assert time.process_time() - began < 10
    assert all(one.points == one.of > 0 and not one.said for one in found), found
    assert sum(one.of for one in found) == 8


def test_the_blank_version_has_none(sheet: tuple[str, Any]) -> None:
    blank = course.student(sheet[1])
    text = "\n".join(cell.source for cell in blank.cells)
    assert "BEGIN" not in text and "END " not in text and text.count(course.STUB[1]) == text.count(course.STUB[0])
    found = course.marks(blank, sheet[1])
    assert {one.points for one in found} == {0}
    assert sum(one.of for one in found) == 8
    assert all("NotImplementedError" in one.said for one in found), found


def test_what_students_see_of_the_tests_runs_with_the_solutions(sheet: tuple[str, Any]) -> None:
    shown = {cell.metadata["nbgrader"]["grade_id"]: cell.source for cell in course.student(sheet[1]).cells}
    whole = copy.deepcopy(sheet[1])
    for cell in whole.cells:
        if cell.metadata["nbgrader"]["grade"]:
            cell.source = shown[cell.metadata["nbgrader"]["grade_id"]]
            assert "assert" in cell.source
    assert all(one.points == one.of for one in course.marks(whole, whole))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [(name, wrong) for name in WRONG for wrong in WRONG[name]],
    ids=lambda one: one if isinstance(one, str) else one[0],
)
def test_typical_wrong_answers_lose_marks(name: str, wrong: tuple[str, str, str, set[str]]) -> None:
    own = course.instructor(name)
    found = points(course.marks(answered(own, *wrong[:3]), own))
    lost = {test for test, got in found.items() if got == 0}
    assert lost >= wrong[3] and len(lost) < len(found), lost


def test_tests_cannot_be_changed_or_left_out_by_who_hands_in() -> None:
    own = course.instructor("session4")
    handed_in = course.student(own)
    for cell in handed_in.cells:
        if cell.metadata["nbgrader"]["grade"]:
            cell.source = "pass"
    assert set(points(course.marks(handed_in, own)).values()) == {0}
    handed_in.cells = [cell for cell in handed_in.cells if not cell.metadata["nbgrader"]["grade"]]
    found = course.marks(handed_in, own)
    assert set(points(found).values()) == {0} and sum(one.of for one in found) == 8


def test_cells_of_ones_own_are_run_and_give_no_points(sheet: tuple[str, Any]) -> None:
    own = copy.deepcopy(sheet[1])
    forged = {"nbgrader": {"grade": True, "grade_id": "test-more", "points": 9, "locked": True, "solution": False}}
    own.cells.insert(1, nbformat.v4.new_code_cell("print('a note')", metadata=forged))
    found = course.marks(own, sheet[1])
    assert all(one.points == one.of for one in found) and sum(one.of for one in found) == 8


def test_a_cell_without_a_role_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "notebooks" / "course"
    folder.mkdir(parents=True)
    (folder / "session9.py").write_text(course.sheets()["session1"].read_text() + "\n# %%\n1 + 1\n")
    monkeypatch.setenv("FAITHLIB_HOME", str(tmp_path))
    with pytest.raises(Exception, match="give it given:NAME"):
        course.instructor("session9")
    with pytest.raises(UnknownNameError, match="did you mean 'session9'"):
        course.instructor("session8")


@pytest.mark.long
def test_an_answer_without_an_end_is_ended_and_the_others_have_no_marks(tmp_path: Path) -> None:
    endless = answered(
        course.instructor("session4"), "ask", "return torch.cat", "while True: pass\n    return torch.cat"
    )
    path = tmp_path / "session4.ipynb"
    nbformat.write(endless, path)
    found = course.marked(path, seconds=6)
    assert {one.points for one in found} == {0} and "did not run through" in found[0].said
    nbformat.write(course.instructor("session4"), path)
    assert all(one.points == one.of for one in course.marked(path))
    path.write_text("no notebook")
    with pytest.raises(InputError, match="is no notebook"):
        course.marked(path)


def test_the_folder_is_as_nbgrader_wants_it(tmp_path: Path) -> None:
    made = course.write(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in made[:2]] == [
        "source/session1/session1.ipynb",
        "release/session1/session1.ipynb",
    ]
    for path in made:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        ids = [cell.metadata["nbgrader"]["grade_id"] for cell in notebook.cells]
        assert len(ids) == len(set(ids))
    compile((tmp_path / "nbgrader_config.py").read_text(), "config", "exec")
    before = made[0].read_bytes()
    course.write(tmp_path)
    assert made[0].read_bytes() == before


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_nbgrader_makes_the_same_version_for_students_and_gives_the_same_marks(tmp_path: Path) -> None:
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
    course.write(folder)
    (folder / "release").rename(folder / "ours")

    def nbgrader(*words: str) -> None:
        told = {**os.environ, "PATH": f"{own / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run([own / "bin" / "nbgrader", *words], cwd=folder, env=told, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    name = "session4"
    nbgrader("generate_assignment", name)
    ours, theirs = (nbformat.read(folder / of / name / f"{name}.ipynb", as_version=4) for of in ("ours", "release"))
    assert [cell.source for cell in ours.cells] == [cell.source for cell in theirs.cells]
    for mine, made in zip(ours.cells, theirs.cells, strict=True):
        assert mine.metadata["nbgrader"].items() <= made.metadata["nbgrader"].items()
    for student, of in {"full": "source", "blank": "release"}.items():
        (folder / "submitted" / student / name).mkdir(parents=True)
        path = folder / of / name / f"{name}.ipynb"
        (folder / "submitted" / student / name / path.name).write_bytes(path.read_bytes())
    nbgrader("autograde", name)
    nbgrader("export")
    rows = pd.read_csv(folder / "grades.csv").set_index("student_id")
    assert rows["raw_score"].to_dict() == {"full": 8, "blank": 0} and set(rows["max_score"]) == {8}
