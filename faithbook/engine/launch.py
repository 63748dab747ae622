"""A published notebook that runs where the book is not: what Colab and Binder need beside it.

A page's notebook lies executed on the branch that the web serves. `prepare` puts a first cell into that copy, and
there alone, which installs the released wheel with what the book needs and gets the two things that a notebook of the
book asks for: the repository as it was (for `faithbook`, the tables of profiles and the committed reference), and the
results that it reads. These lie beside the pages, without tables that would quote what is not free to be shown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from faithbook.engine import terms
from faithbook.engine.plan import MANIFEST, Job
from faithbook.engine.publish import Place, citation
from faithbook.paths import root
from faithlib.errors import DataError

FOLDER = "launch"
QUOTING = frozenset({"text", "token", "word", "read", "query", "says", "channel0"})
"""Columns whose cells may be somebody's words or picture: tables that have one stay behind where that is not free."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_CELL = """# In this published copy alone: what the notebook needs where the book is not installed (Colab, Binder).
import os, pathlib, subprocess, sys, urllib.request, zipfile

WHEEL = "{wheel}"
REPOSITORY = "{archive}"
RESULTS = "{results}"
home = pathlib.Path("{name}").resolve()
if not home.is_dir():
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "faithlib[book] @ " + WHEEL], check=True)
    part = home.with_name(home.name + ".part")
    zipfile.ZipFile(urllib.request.urlretrieve(REPOSITORY)[0]).extractall(part)
    (whole,) = part.iterdir()  # such an archive holds one folder
    whole.rename(home)
zipfile.ZipFile(urllib.request.urlretrieve(RESULTS)[0]).extractall(home)
os.environ["FAITHLIB_HOME"] = str(home)
sys.path.append(str(home))  # behind the installed library, for the book's own package"""


def first_cell(where: Place, job: Job, wheel: str) -> str:
    """The code that makes a published notebook run in an empty environment; `wheel`: the file's name."""
    addresses = {
        "wheel": f"{where.base}{FOLDER}/{wheel}",
        "archive": f"{where.url}/archive/{where.commit or where.ref}.zip",
        "results": f"{where.base}{FOLDER}/{job.notebook}.zip",
    }
    return _CELL.format(name=where.name, **addresses)


def prepare(target: Path, jobs: Iterable[Job], where: Place) -> list[Path]:
    """Make the notebooks of a laid out book launchable; returns those that are.

    A page that is withheld has no notebook to launch. Raises DataError where the wheel cannot be built.
    """
    folder = target / FOLDER
    folder.mkdir(exist_ok=True)
    wheel = build_wheel(folder)
    made = []
    for job in jobs:
        notebook = target / "_sources" / "executed" / f"{job.notebook}.ipynb"
        if not notebook.is_file() or terms.withheld(job):
            continue
        pack(job, folder / f"{job.notebook}.zip")
        notebook.write_text(with_first_cell(notebook.read_text(encoding="utf-8"), first_cell(where, job, wheel.name)))
        made.append(notebook)
    return made


def with_first_cell(notebook: str, code: str) -> str:
    """A notebook, as text, with one more code cell before all others."""
    import nbformat

    made = nbformat.reads(notebook, as_version=4)
    made.cells.insert(0, nbformat.v4.new_code_cell(code, id="launch"))
    return f"{nbformat.writes(made)}\n"


def build_wheel(folder: Path) -> Path:
    """The library's wheel, as it would be released."""
    line = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(line, cwd=root(), capture_output=True, text=True, check=False)
    found = sorted(folder.glob(f"faithlib-{citation()['version']}-*.whl"))
    if done.returncode or not found:
        raise DataError(f"the wheel could not be built: {done.stderr.strip()[-500:]}")
    return found[-1]


def pack(job: Job, to: Path) -> list[str]:
    """The results that a notebook reads as an archive, by their places in the repository; returns these."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bag:
        for path in (path for one in job.upstream for path in readable(one)):
            info = zipfile.ZipInfo(path.relative_to(root()).as_posix(), _EPOCH)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            bag.writestr(info, path.read_bytes())
        return bag.namelist()


def readable(job: Job) -> Iterator[Path]:
    """The files of a run that may go out: its manifest and its tables, those that quote only where that is free."""
    if not job.done:
        raise DataError(f"{job.label} has not been run at the profile {job.profile}: build the book first")
    free = is_free(job)
    for path in sorted(job.folder.iterdir()):
        if path.name == MANIFEST or (
            path.suffix in (".parquet", ".csv") and (free or not QUOTING & set(_columns(path)))
        ):
            yield path


def is_free(job: Job) -> bool:
    """Whether everything from outside that a run has read may be shown to the world."""
    listed = terms.sources()
    read = json.loads(job.manifest.read_text(encoding="utf-8")).get("declared", [])
    return not terms.withheld(job) and all(terms.free(str(listed[one]["licence"])) for one in read if one in listed)


def _columns(path: Path) -> list[str]:
    if path.suffix == ".csv":
        return path.read_text(encoding="utf-8").partition("\n")[0].split(",")
    import pyarrow.parquet

    return list(pyarrow.parquet.read_schema(path).names)
