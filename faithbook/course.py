"""The course's sheets: a version for the teacher, one for students, and marks; and the folder that nbgrader takes.

A sheet is a notebook of `notebooks/course`, as text. Its cells say by a tag what they are: `given:NAME` is code that
stands as it is, `solution:NAME` has an answer between `### BEGIN SOLUTION` and `### END SOLUTION`, and
`test:NAME:POINTS` gives points where it runs through; what stands between `### BEGIN HIDDEN TESTS` and `### END HIDDEN
TESTS` only the teacher sees. The cells get the metadata of nbgrader, whose rules for these marks are followed here, so
that its users can collect and mark the sheets with it; without it `python -m faithbook grade` does.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from faithbook.paths import root
from faithlib.errors import DataError, InputError, unknown

STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
SECONDS = 120
"""A sheet that has not run through by then is ended: an answer may never come to an end."""
_TAG = re.compile(r"(given|solution|test):([\w-]+)(?::(\d+))?")
_SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n.*?^[ \t]*### END SOLUTION$", re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS(\n|\Z)", re.MULTILINE | re.DOTALL)

Notebook = Any
"""A notebook as nbformat has it."""


@dataclass(frozen=True)
class Mark:
    """The points that one test gave, of how many, and what it said where it gave none."""

    test: str
    points: int
    of: int
    said: str = ""


def sheets() -> dict[str, Path]:
    """The sheets by name."""
    return {path.stem: path for path in sorted((root() / "notebooks" / "course").glob("session*.py"))}


def instructor(name: str) -> Notebook:
    """The teacher's version of a sheet, with solutions and all tests, in the format of nbgrader.

    Raises UnknownNameError for another sheet, DataError for a code cell without a role.
    """
    known = sheets()
    if name not in known:
        raise unknown("sheet of the course", name, known)
    read = jupytext.read(known[name])
    made = nbformat.v4.new_notebook(metadata={"kernelspec": read.metadata["kernelspec"]})
    for number, cell in enumerate(read.cells):
        told = {"nbgrader": _role(name, number, cell)}
        new = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
        made.cells.append(new(cell.source, id=f"{name}-{number}", metadata=told))
    return made


def _role(name: str, number: int, cell: Any) -> dict[str, Any]:
    """What nbgrader is told of a cell."""
    role = {"schema_version": 3, "task": False, "grade": False, "locked": True, "solution": False}
    if cell.cell_type != "code":
        return role | {"grade_id": f"text-{number}"}
    tags = cell.metadata.get("tags", [])
    found = _TAG.fullmatch(tags[0]) if len(tags) == 1 else None
    if found is None or (found[1] == "test") != (found[3] is not None):
        raise DataError(
            f"cell {number} of {name} has the tags {tags}: give it given:NAME, solution:NAME or test:NAME:N"
        )
    kind, what, points = found.groups()
    if kind == "test":
        return role | {"grade_id": f"test-{what}", "grade": True, "points": int(points)}
    return role | {"grade_id": f"{kind}-{what}", "solution": kind == "solution", "locked": kind == "given"}


def student(sheet: Notebook) -> Notebook:
    """A sheet without its solutions and without its hidden tests."""
    made = copy.deepcopy(sheet)
    for cell in made.cells:
        without = _SOLUTION.sub(lambda found: "\n".join(found[1] + line for line in STUB), cell.source)
        cell.source = _HIDDEN.sub("", without).rstrip("\n")
    return made


# ----------------------------------------------------------------------------------------------------------- marking
def marks(handed_in: Notebook, sheet: Notebook) -> list[Mark]:
    """Run what was handed in and mark it, in this process: see `marked` for work of others.

    Cells that are not for answers are taken from the sheet, whatever became of them.
    """
    own = {cell.metadata["nbgrader"]["grade_id"]: cell for cell in sheet.cells}
    names: dict[str, Any] = {"__name__": "__main__"}
    found: dict[str, Mark] = {}
    for cell in _with_tests(handed_in, own):
        told = cell.metadata.get("nbgrader", {})
        name = told.get("grade_id", "")
        role = own[name].metadata["nbgrader"] if name in own else {}
        said = _run(own[name].source if role.get("locked") else cell.source, names)
        if role.get("grade"):
            of = int(role["points"])
            found[name] = Mark(name.removeprefix("test-"), 0 if said else of, of, said)
    return list(found.values())


def _with_tests(handed_in: Notebook, own: dict[str, Any]) -> list[Any]:
    """The code cells that were handed in, and behind them those locked ones of the sheet that are missing."""
    cells = [cell for cell in handed_in.cells if cell.cell_type == "code"]
    there = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells}
    lost = [cell for name, cell in own.items() if name not in there and cell.cell_type == "code"]
    return cells + [cell for cell in lost if cell.metadata["nbgrader"]["locked"]]


def _run(code: str, names: dict[str, Any]) -> str:
    """Run a cell; what went wrong in a line, "" where nothing did."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(code, "cell", "exec"), names)
    except (Exception, SystemExit) as error:
        return traceback.format_exception_only(error)[-1].strip()
    return ""


def marked(path: Path, name: str | None = None, *, seconds: float = SECONDS) -> list[Mark]:
    """The marks of a file, run in a process of its own that is ended after so many seconds.

    `name`: of the sheet (default: the file's). An answer that does not come to an end, or takes the process with it,
    gets no points. Raises InputError for a file that is no notebook.
    """
    sheet = instructor(name or path.stem)
    try:
        nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat passes on whatever JSON or its schema raise
        raise InputError(f"{path} is no notebook that can be read: {error}") from error
    line = [sys.executable, "-m", "faithbook.course", str(path), name or path.stem]
    with contextlib.suppress(subprocess.TimeoutExpired, json.JSONDecodeError):
        done = subprocess.run(line, capture_output=True, text=True, timeout=seconds, check=False)
        return [Mark(**one) for one in json.loads(done.stdout)]
    graded = [cell.metadata["nbgrader"] for cell in sheet.cells if cell.metadata["nbgrader"]["grade"]]
    said = f"the sheet did not run through in {seconds:g} s"
    return [Mark(one["grade_id"].removeprefix("test-"), 0, int(one["points"]), said) for one in graded]


def report(found: Sequence[Mark]) -> str:
    """Marks for people: a line a test and the sum."""
    lines = [f"{one.points}/{one.of}  {one.test}{f': {one.said}' if one.said else ''}" for one in found]
    return "\n".join([*lines, f"{sum(one.points for one in found)}/{sum(one.of for one in found)} in all"])


# ------------------------------------------------------------------------------------------------------------- folder
_CONFIG = '''"""nbgrader finds the sheets here: https://nbgrader.readthedocs.io has how to collect and mark."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "faithfulness"
c.CourseDirectory.root = {root!r}
c.ExecutePreprocessor.timeout = {seconds}
c.ClearSolutions.code_stub = {{"python": {stub!r}}}
'''


def write(to: Path) -> list[Path]:
    """Both versions of all sheets as nbgrader lays them out, `source` for the teacher and `release` for students, and
    its configuration; returns the notebooks."""
    made = []
    for name in sheets():
        sheet = instructor(name)
        for folder, notebook in (("source", sheet), ("release", student(sheet))):
            path = to / folder / name / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
            os.replace(part, path)
            made.append(path)
    config = _CONFIG.format(root=str(to.resolve()), seconds=SECONDS, stub="\n".join(STUB))
    (to / "nbgrader_config.py").write_text(config, encoding="utf-8")
    return made


if __name__ == "__main__":
    _path, _name = sys.argv[1:]
    _found = marks(nbformat.read(_path, as_version=4), instructor(_name))
    print(json.dumps([asdict(one) for one in _found]))
