"""The course's assignments: solutions have full marks, the blank version none, and what people get wrong costs marks.
Each has code, a plot to read, a bug to find and a question, in a folder that needs nothing else."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import jupytext
import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest

from faithbook import course

ROOT = Path(__file__).resolve().parents[1]
SHEETS = course.assignments()
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
        ("plot", '{"A", "B"}, {"B"}', '{"A", "B"}, {"A", "B"}', {"plot"}),  # one of two reasons is not needed
        ("bug", "-scores[place]", "scores[place]", {"bug"}),  # as it was
    ],
    "session2": [
        ("top", "math.ceil(", "math.floor(", {"top"}),
        ("top", "-scores[place]", "scores[place]", {"top"}),
        ("keep", 'stretched if verb == "sufficiency" else 1 - stretched', "stretched", {"keep"}),
        ("erase", "torch.where(drawn < keep[:, None], embeddings, torch.zeros(()))", FAINTER, {"erase"}),
        ("bounds", "max(most[chosen - {word}] for word in chosen)", "most[chosen - {max(chosen)}]", {"bounds"}),
        ("plot", "2, 49, 0.98", "1, 25, 0.98", {"plot"}),
        ("plot", "2, 49, 0.98", "2, 49, 0.02", {"plot"}),  # the area below the curve
        ("bug", "not in order[:step]", "not in order[step - 1 : step]", {"bug"}),  # as it was
    ],
    "session3": [
        ("diagnosticity", "real > random", "real >= random", {"wins"}),
        ("diagnosticity", "real, random = real[defined], random[defined]", "pass", {"undefined"}),
        ("shuffled", "torch.rand(scores.shape, generator=generator).argsort(dim=1)", ONE_ORDER, {"shuffled"}),
        ("shuffled", "scores.gather(1, order)", "torch.rand(scores.shape, generator=generator)", {"shuffled"}),
        ("interval", "torch.randint(0, len(wins), (draws, len(wins)), generator=generator)", NO_DRAW, {"interval"}),
        ("plot", '("rollout", "sparseness")', '("attcat", "sparseness")', {"plot"}),
        ("bug", "real < random", "real <= random", {"bug"}),  # as it was, from the other side
    ],
    "session4": [
        ("paired", "(difference.std(unbiased=True) / math.sqrt(len(difference))).item()", APART, {"paired"}),
        ("paired", "math.sqrt(len(difference))", "1", {"paired"}),
        ("verdict", 'len(intervals) - no < k else "undecided"', 'yes < k else "undecided"', {"open"}),
        ("verdict", "if yes >= k:", "if yes == len(intervals):", {"clear"}),
        ("ask", "rows[first : first + size]", "rows[:size]", {"ask"}),  # the released fault
        ("plot", '"C": "undecided"', '"C": "level"', {"plot"}),  # no evidence of a difference is not evidence of none
        ("bug", "values.mean(dim=0)", "values.flatten()", {"bug"}),  # as it was
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classifier and the images, as every assignment finds them in its folder."""
    made = tmp_path_factory.mktemp("assignment")
    course.add_material(made)
    return made


@pytest.fixture
def in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks run where their material is."""
    monkeypatch.chdir(folder)


def role(cell: Any) -> dict[str, Any]:
    """What nbgrader is told of a cell."""
    return dict(cell.metadata.get("nbgrader", {}))


RUNS_THE_CLASSIFIER = {"given-plot", "given-random", "given-truth"}


def points(sheet: Any, skip: Collection[str] = ()) -> dict[str, int]:
    """Points by test, as nbgrader gives them by itself: those of a cell that runs through. `skip`: cells to leave out,
    because they take seconds and the tests that matter do not need them."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = {}
    for cell in (one for one in sheet.cells if one.cell_type == "code" and role(one)["grade_id"] not in skip):
        passed = False
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell.source, "cell", "exec"), names)
            passed = True
        if role(cell).get("grade"):
            found[role(cell)["grade_id"].removeprefix("test-")] = role(cell)["points"] if passed else 0
    plt.close("all")
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
        title = re.search(r"^# # (Assignment .*)$", path.read_text(), flags=re.MULTILINE)[1]
        of_page = (ROOT / "book" / "course" / f"{name}.md").read_text().partition("# Session ")[2].partition("\n")[0]
        assert title == f"Assignment {of_page}"


@pytest.mark.parametrize("name", SHEETS)
def test_beside_code_there_is_a_plot_a_bug_and_a_question(name: str) -> None:
    cells = jupytext.read(SHEETS[name]).cells
    ids = [role(cell).get("grade_id") for cell in cells]
    for part in ("plot", "bug"):
        assert [ids.index(f"{kind}-{part}") for kind in ("given", "solution", "test")] == sorted(
            ids.index(f"{kind}-{part}") for kind in ("given", "solution", "test")
        )
    (written,) = (cell for cell in cells if cell.cell_type == "markdown" and role(cell))
    assert (role(written)["points"], role(written)["grade"], role(written)["solution"]) == (2, True, True)
    assert 40 < len(written.source.split()) < 130  # the teacher's copy has a model answer
    headings = [cell.source.partition("\n")[0] for cell in cells if cell.source.startswith("## ")]
    assert len(headings) == 6
    assert sum(int(re.search(r"\((\d) points\)", heading)[1]) for heading in headings) == 14


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize("name", SHEETS)
def test_solutions_have_full_marks_within_seconds_and_a_blank_sheet_has_none(name: str) -> None:
    sheet = jupytext.read(SHEETS[name])
    code = [role(cell) for cell in sheet.cells if cell.cell_type == "code"]
    ids = [one["grade_id"] for one in code]
    assert len(ids) == len(set(ids)) and all(one["locked"] != one["solution"] for one in code)
    began = time.process_time()
    found = points(sheet)
    assert time.process_time() - began < 20
    assert found == {one["grade_id"].removeprefix("test-"): one["points"] for one in code if one["grade"]}
    assert sum(found.values()) == 12
    for cell in sheet.cells:
        cell.source = _SOLUTION.sub(r"\1raise NotImplementedError()", cell.source)
    assert set(points(sheet, RUNS_THE_CLASSIFIER).values()) == {0}


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [(name, wrong) for name in WRONG for wrong in WRONG[name]],
    ids=lambda one: one if isinstance(one, str) else one[0],
)
def test_typical_wrong_answers_lose_marks(name: str, wrong: tuple[str, str, str, set[str]]) -> None:
    skip = () if wrong[0] == "plot" else RUNS_THE_CLASSIFIER
    found = points(answered(jupytext.read(SHEETS[name]), *wrong[:3]), skip)
    lost = {test for test, got in found.items() if got == 0}
    assert lost >= wrong[3] and len(lost) < len(found), lost


def uv(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "uv", *words]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make course` hands to nbgrader; skips where no package index answers."""
    if uv("pip", "compile", "--quiet", "--group", "course", "pyproject.toml").returncode:
        pytest.skip("no package index can be reached from here")
    made = tmp_path_factory.mktemp("course")
    course.make(made)
    return made


class Empty(NamedTuple):
    """An environment with what `requirements.txt` of a folder names, nothing else, and copies of all folders."""

    python: str
    folders: Path
    variables: dict[str, str]

    def run(self, name: str, *line: str) -> subprocess.CompletedProcess[str]:
        """A command in a session's folder."""
        where = self.folders / name
        return subprocess.run(line, cwd=where, env=self.variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def empty(laid_out: Path, tmp_path_factory: pytest.TempPathFactory) -> Empty:
    made = tmp_path_factory.mktemp("empty")
    python = made / "environment" / "bin" / "python"
    assert uv("venv", "--quiet", "--python", sys.executable, str(python.parents[1])).returncode == 0
    needed = {(folder / "requirements.txt").read_text() for folder in (laid_out / "source").iterdir()}
    assert len(needed) == 1
    shutil.copytree(laid_out / "source", made / "taken")
    without = ("PYTHON", "PYTEST", "FAITHLIB", "JUPYTER", "MPL")
    variables = {key: value for key, value in os.environ.items() if not key.startswith(without)}
    variables |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "JUPYTER_PLATFORM_DIRS": "1"}
    environment = Empty(str(python), made / "taken", variables)
    line = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
    line += ["--constraint", str(ROOT / "requirements.lock"), "-r", "requirements.txt"]
    done = environment.run("session1", *line)
    assert done.returncode == 0, done.stderr
    return environment


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", SHEETS)
def test_a_folder_runs_with_its_solutions_in_an_empty_environment(empty: Empty, name: str) -> None:
    """From the requirements in the folder, without the book's package and without a clone."""
    assert "No module named 'faithbook'" in empty.run(name, empty.python, "-c", "import faithbook").stderr
    began = time.time()
    done = empty.run(name, empty.python, *f"-m nbconvert --to notebook --execute {name}.ipynb --output done".split())
    assert done.returncode == 0, done.stderr[-3000:]
    cells = nbformat.read(empty.folders / name / "done.ipynb", as_version=4).cells
    shown = [one for cell in cells if cell.cell_type == "code" for one in cell.outputs]
    assert sum("image/png" in one.get("data", {}) for one in shown) == 1
    print(f"{name}: {time.time() - began:.0f} s in an empty environment")


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_nbgrader_takes_an_assignment_hides_its_solutions_and_marks_it(laid_out: Path, tmp_path: Path) -> None:
    """In an environment of its own, whose notebooks run in this one."""
    own, folder = tmp_path / "environment", tmp_path / "course"
    assert uv("venv", "--quiet", "--python", sys.executable, str(own)).returncode == 0
    done = uv("pip", "install", "--quiet", "--python", str(own / "bin" / "python"), "--group", "course")
    assert done.returncode == 0, done.stderr
    line = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(own), "--name", "python3"]
    subprocess.run(line, check=True, capture_output=True)
    name = "session4"
    source = folder / "source" / name / f"{name}.ipynb"
    shutil.copytree(laid_out / "source" / name, source.parent)
    shutil.copy(laid_out / "nbgrader_config.py", folder)

    def nbgrader(*words: str) -> None:
        told = {**os.environ, "PATH": f"{own / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run([own / "bin" / "nbgrader", *words], cwd=folder, env=told, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    nbgrader("generate_assignment", name)
    released = folder / "release" / name / f"{name}.ipynb"
    text = "\n".join(cell.source for cell in nbformat.read(released, as_version=4).cells)
    assert "BEGIN" not in text and text.count("raise NotImplementedError()") == 5
    assert text.count("YOUR ANSWER HERE") == 1 and "replicates on our model" not in text
    there = {path.name for path in released.parent.iterdir()}
    assert there >= {"model", "images.npz", "requirements.txt", "README.md"} and any("whl" in one for one in there)
    for student, path in {"full": source, "blank": released}.items():
        (folder / "submitted" / student / name).mkdir(parents=True)
        (folder / "submitted" / student / name / path.name).write_bytes(path.read_bytes())
    nbgrader("autograde", name)
    nbgrader("export")
    rows = pd.read_csv(folder / "grades.csv").set_index("student_id")
    # Two points are a person's to give.
    assert rows["raw_score"].to_dict() == {"full": 12, "blank": 0} and set(rows["max_score"]) == {14}
