"""The course's assignments: solutions have full marks, the blank version none, and what people get wrong costs marks.
A folder needs nothing beside it, and nbgrader takes it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import jupytext
import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
from refusals import refused

from faithbook import course
from faithbook.engine.inputs import UNITS_DIR
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft.zhao_aletras_diagnosticity import with_lengths
from faithlib.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
SHEETS = course.assignments()
_SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n.*?^[ \t]*### END SOLUTION$", re.MULTILINE | re.DOTALL)

ONE_ORDER = "torch.randperm(scores.shape[1], generator=generator).expand_as(scores)"
# What people get wrong, by sheet and answer: what stands in the place of what, and which test must notice.
WRONG = [
    ("session1", "sufficiency", "- max(0, full - kept)) /", "- (full - kept)) /", "sufficiency"),  # above the whole
    ("session1", "comprehensiveness", "max(0, full - removed)", "max(0, removed - empty)", "comprehensiveness"),
    ("session1", "rationales", "model(rest)", "model(chosen)", "rationales"),  # in place of what is left
    ("session1", "model", "set(kept) == {0, 1, 2}", "len(kept) >= 1", "model"),  # enough, not needed
    ("session1", "bug", "-scores[place]", "scores[place]", "bug"),  # as it was
    ("session2", "top", "math.ceil(", "math.floor(", "top"),
    ("session2", "keep", 'stretched if verb == "sufficiency" else 1 - stretched', "stretched", "keep"),
    ("session2", "bounds", "max(most[chosen - {word}] for word in chosen)", "most[chosen - {max(chosen)}]", "bounds"),
    ("session2", "bug", "not in order[:step]", "not in order[step - 1 : step]", "bug"),
    ("session3", "diagnosticity", "real > random", "real >= random", "wins"),
    ("session3", "shuffled", "torch.rand(scores.shape, generator=generator).argsort(dim=1)", ONE_ORDER, "shuffled"),
    ("session3", "bug", "real < random", "real <= random", "bug"),
    ("session4", "paired", "math.sqrt(len(difference))", "1", "paired"),
    ("session4", "verdict", 'len(intervals) - no < k else "undecided"', 'yes < k else "undecided"', "open"),
    ("session4", "ask", "rows[first : first + size]", "rows[:size]", "ask"),  # the released fault
    ("session4", "bug", "values.mean(dim=0)", "values.flatten()", "bug"),
    ("session5", "integrated", "(x - baseline) * gradients.mean", "x * gradients.mean", "integrated"),
    ("session5", "shapley", "share * (value", "(1 / 2 ** (n - 1)) * (value", "shapley"),  # Banzhaf's index
    ("session5", "lime", "weights.sqrt()", "weights.sqrt().sign()", "lime"),
    ("session5", "bug", "value(before))", "value(frozenset()))", "bug"),
    ("session6", "output", "logits[word] - logits[against]", "logits[against] - logits[word]", "output"),
    ("session6", "answer", "[*prompt, *answer[:place]]", "prompt", "answer"),  # each word as if it were the first
    ("session6", "win", "0.5 if value == random_value", "0.0 if value == random_value", "win"),
    ("session6", "bug", "answer = model(places).argmax()", "answer = model(places).argmin()", "bug"),
    ("values", "wins", 'pairs["value"] > pairs', 'pairs["value"] >= pairs', "wins"),
    ("values", "table", "shares.mean()", 'counted.groupby("metric")["win"].mean()', "table"),  # rows of unequal weight
    (
        "values",
        "interval",
        "rows = generator.integers(0, len(wide), len(wide))",
        "rows = np.arange(len(wide))",
        "interval",
    ),
    ("values", "bug", "random.reindex(real.index)", "random.to_numpy()", "bug"),
]
RUNS_THE_CLASSIFIER = {"given-plot", "given-random", "given-truth"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classifier, the images and the values, as an assignment finds them in its folder."""
    made = tmp_path_factory.mktemp("assignment")
    course.add_images(made)
    course.add_values(made)
    return made


@pytest.fixture(autouse=True)
def in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks run where their material is."""
    monkeypatch.chdir(folder)


def role(cell: Any) -> dict[str, Any]:
    """What nbgrader is told of a cell."""
    return dict(cell.metadata.get("nbgrader", {}))


def points(sheet: Any, skip: Collection[str] = ()) -> dict[str, int]:
    """Points by test, as nbgrader gives them by itself: those of a cell that runs through. `skip`: cells to leave out,
    because they take seconds and the tests that matter do not need them."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = {}
    for cell in (part for part in sheet.cells if part.cell_type == "code" and role(part)["grade_id"] not in skip):
        passed = False
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell.source, "cell", "exec"), names)
            passed = True
        if role(cell).get("grade"):
            found[role(cell)["grade_id"].removeprefix("test-")] = role(cell)["points"] if passed else 0
    plt.close("all")
    return found


@pytest.mark.parametrize("name", SHEETS)
def test_solutions_have_full_marks_and_a_blank_sheet_has_none(name: str) -> None:
    sheet = jupytext.read(SHEETS[name])
    code = [role(cell) for cell in sheet.cells if cell.cell_type == "code"]
    found = points(sheet)
    assert found == {part["grade_id"].removeprefix("test-"): part["points"] for part in code if part["grade"]}
    assert sum(found.values()) == 12  # two more are a person's to give
    for cell in sheet.cells:
        cell.source = _SOLUTION.sub(r"\1raise NotImplementedError()", cell.source)
    assert set(points(sheet, RUNS_THE_CLASSIFIER).values()) == {0}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_a_variant_has_other_numbers_and_model_answers_that_fit_them(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "first"
    for folder, number in ((first, 1), (tmp_path, seed)):
        course.add_images(folder, seed=number)
        course.add_values(folder, seed=number)
    for file in ("images.npz", "values.csv.gz"):
        assert (first / file).read_bytes() != (tmp_path / file).read_bytes()
    monkeypatch.chdir(tmp_path)
    for name, path in SHEETS.items():
        sheet = course.with_seed(jupytext.read(path), seed)
        assert sum(f"SEED = {seed}  #" in cell.source for cell in sheet.cells) == 1
        assert sum(points(sheet).values()) == 12, name


def test_a_variant_needs_images_of_its_own_and_a_line_to_change(tmp_path: Path) -> None:
    refused(InputError, "seed is 0", course.make, tmp_path, seed=0)
    refused(InputError, "seed 9999 has no 12 images", course.add_images, tmp_path, seed=9999)
    sheet = jupytext.read(SHEETS["session1"])
    refused(InputError, "one line 'SEED = 1  #', found 0", course.with_seed, course.with_seed(sheet, 2), 3)


def test_the_table_of_the_values_is_the_books(folder: Path) -> None:
    """Wins over random scores in the file are those that study 1's page counts."""
    values = pd.read_csv(folder / "values.csv.gz")
    random = values[values["method"] == "random"].drop(columns="method")
    keys = ["text", "training", "metric"]
    pairs = values[values["method"] != "random"].merge(random, on=keys, suffixes=("", "_random")).dropna()
    ours = (pairs["value"] > pairs["value_random"]).groupby([pairs["method"], pairs["metric"]]).mean()
    stored = ROOT / UNITS_DIR / "soft_metrics"
    units = pd.concat(pd.read_parquet(path) for path in sorted(stored.glob("sst_[0-9]-units*.parquet")))
    scores = with_lengths(units[units["method"] != "none"].assign(dataset="sst"))
    counted = diagnosticity.counted(scores[scores["metric"].isin(values["metric"].unique())])
    book = counted[counted["shows"] == diagnosticity.WIN].groupby(["method", "metric"], observed=True)["value"].mean()
    for cell, share in ours.items():
        assert abs(share - book[cell]) < 1e-9, cell


@pytest.mark.parametrize(("name", "answer", "old", "new", "noticed"), WRONG)
def test_typical_wrong_answers_lose_marks(name: str, answer: str, old: str, new: str, noticed: str) -> None:
    sheet = jupytext.read(SHEETS[name])
    (cell,) = (part for part in sheet.cells if role(part).get("grade_id") == f"solution-{answer}")
    assert cell.source.count(old) == 1
    cell.source = cell.source.replace(old, new)
    found = points(sheet, RUNS_THE_CLASSIFIER)
    assert found[noticed] == 0 and any(found.values())


def uv(*words: str, where: Path = ROOT) -> None:
    line = [sys.executable, "-m", "uv", *words, "--quiet"]
    done = subprocess.run(line, cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make course` hands to nbgrader; skips where no package index answers."""
    try:
        uv("pip", "compile", "--group", "course", "pyproject.toml")
    except AssertionError:
        pytest.skip("no package index can be reached from here")
    made = tmp_path_factory.mktemp("course")
    course.make(made)
    return made


@pytest.mark.long
@pytest.mark.timeout(2400)
def test_a_folder_runs_with_its_solutions_in_an_empty_environment(laid_out: Path, tmp_path: Path) -> None:
    """From the requirements in the folder, without the book's package and without a clone."""
    python = str(tmp_path / "environment" / "bin" / "python")
    uv("venv", "--python", sys.executable, str(tmp_path / "environment"))
    shutil.copytree(laid_out / "source", tmp_path / "taken")
    lock = ("--constraint", str(ROOT / "requirements.lock"))
    uv("pip", "install", "--python", python, *lock, "-r", "requirements.txt", where=tmp_path / "taken" / "session1")
    without = ("PYTHON", "PYTEST", "FAITHLIB", "JUPYTER", "MPL")
    variables = {key: value for key, value in os.environ.items() if not key.startswith(without)}
    variables |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "JUPYTER_PLATFORM_DIRS": "1"}
    for name in SHEETS:
        where = tmp_path / "taken" / name

        def run(*words: str, where: Path = where) -> subprocess.CompletedProcess[str]:
            return subprocess.run([python, *words], cwd=where, env=variables, capture_output=True, text=True)

        assert "No module named 'faithbook'" in run("-c", "import faithbook").stderr
        done = run(*f"-m nbconvert --to notebook --execute {name}.ipynb --output done".split())
        assert done.returncode == 0, done.stderr[-3000:]
        cells = nbformat.read(where / "done.ipynb", as_version=4).cells
        shown = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
        assert sum("image/png" in output.get("data", {}) for output in shown) == 1


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("name", "material"), [("session4", {"model", "images.npz"}), ("values", {"values.csv.gz"})])
def test_nbgrader_takes_an_assignment_hides_its_solutions_and_marks_it(
    name: str, material: set[str], laid_out: Path, tmp_path: Path
) -> None:
    """In an environment of its own, whose notebooks run in this one."""
    own, folder = tmp_path / "environment", tmp_path / "course"
    uv("venv", "--python", sys.executable, str(own))
    uv("pip", "install", "--python", str(own / "bin" / "python"), "--group", "course")
    line = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(own), "--name", "python3"]
    subprocess.run(line, check=True, capture_output=True)
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
    assert text.count("YOUR ANSWER HERE") == 1 and "on our model" not in text
    there = {path.name for path in released.parent.iterdir()}
    assert there >= {*material, "requirements.txt", "README.md"} and any("whl" in file for file in there)
    for student, path in {"full": source, "blank": released}.items():
        (folder / "submitted" / student / name).mkdir(parents=True)
        (folder / "submitted" / student / name / path.name).write_bytes(path.read_bytes())
    nbgrader("autograde", name)
    nbgrader("export")
    rows = pd.read_csv(folder / "grades.csv").set_index("student_id")
    assert rows["raw_score"].to_dict() == {"full": 12, "blank": 0} and set(rows["max_score"]) == {14}
