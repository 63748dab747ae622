"""What a person gets who has no clone: requirements that come as wheels, a package of the library alone, its own tests.

These install packages and take minutes, so `make test-long` runs them and `make test` does not. Without a package index
they are skipped and say so.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

import pytest
import readme_models

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
RUNS_HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
pytestmark = [pytest.mark.long, pytest.mark.timeout(2400)]


def uv(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """uv with its usual cache, which the book's environment has filled: nothing large is fetched or copied twice."""
    line = [sys.executable, "-m", "uv", *arguments]
    return subprocess.run(line, cwd=ROOT, input=given, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def registry() -> None:
    """Skips where no package index answers."""
    asked = uv("pip", "compile", "--quiet", "--no-cache", "-", given="tqdm\n")
    if asked.returncode:
        pytest.skip(f"no package index can be reached from here: {asked.stderr.strip()[:200]}")


# --- resolved from wheels alone --------------------------------------------------------------------------------------

LINUX, MACOS = "x86_64-unknown-linux-gnu", "aarch64-apple-darwin"
WANTED = [
    *((version, LINUX, extras) for version in ("3.11", "3.12", "3.13") for extras in ("text,vision", "book")),
    ("3.11", MACOS, "text,vision"),
    ("3.13", MACOS, "text,vision"),
]


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_one_lock_serves_every_python(version: str, tmp_path: Path) -> None:
    """Resolved with its digests, not installed: the Python that is there runs all other tests."""
    into = ("--dry-run", "--require-hashes", "--python-version", version, "--target", str(tmp_path))
    done = uv("pip", "install", "--quiet", *into, "-r", "requirements.lock")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(("version", "platform", "extras"), WANTED)
def test_every_requirement_comes_as_a_wheel(
    version: str, platform: str, extras: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = uv(
        *("pip", "compile", "--quiet", "--no-header", "--no-annotate", "--only-binary", ":all:", "--no-emit-index-url"),
        *("--python-version", version, "--python-platform", platform),
        *(word for extra in extras.split(",") for word in ("--extra", extra)),
        "pyproject.toml",
    )
    assert done.returncode == 0, done.stderr
    found = dict(re.findall(r"^([\w.-]+)==(\S+)", done.stdout, flags=re.MULTILINE))
    assert {"torch", "numpy", "captum", "timm", "transformers"} <= set(found)
    run = "this Python runs the tests" if (version, platform) == (RUNS_HERE, LINUX) else "resolved, not run"
    with capsys.disabled():
        print(f"\n[{extras}] for Python {version} on {platform}: {len(found)} packages, torch {found['torch']}; {run}")


# --- the wheel in an empty environment -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    done = uv("build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(folder), ".")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_holds_the_library_alone(packed: Path) -> None:
    (wheel,) = packed.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"faithlib"}
    library = {str(path.relative_to(ROOT)) for path in (ROOT / "faithlib").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == library
    others = {name for name in names if name.startswith("faithlib/") and not name.endswith(".py")}
    data = {"py.typed", "meanings.json", "evaluation/report.html", "evaluation/report.css"}
    assert others == {f"faithlib/{name}" for name in data}
    assert wheel.stat().st_size < 500_000


def test_the_source_distribution_holds_no_data_and_no_book(packed: Path) -> None:
    (source,) = packed.glob("*.tar.gz")
    with tarfile.open(source) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    assert {name.partition("/")[0] for name in names} <= {
        *(
            "faithlib",
            "README.md",
            "CHANGELOG.md",
            "CITATION.cff",
            "LICENSE",
            "pyproject.toml",
            "PKG-INFO",
            ".gitignore",
        )
    }
    assert source.stat().st_size < 500_000


def library_tests() -> list[Path]:
    """The test modules that need the library alone, and the modules beside them that they import; no conftest.py."""
    chosen = {path for path in TESTS.glob("test_*.py") if all(map(_alone, _closure(path)))}
    return sorted({*(each for path in chosen for each in _closure(path))})


def _closure(path: Path) -> set[Path]:
    """The file and the files of the same folder that it imports, directly or not."""
    seen, waiting = set[Path](), {path}
    while waiting:
        seen |= waiting
        waiting = {
            TESTS / f"{name}.py" for each in waiting for name in _imports(each) if (TESTS / f"{name}.py").is_file()
        } - seen
    return seen


def _imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in names}


def _alone(path: Path) -> bool:
    """Whether a module reads nothing of the repository and imports nothing of the book's."""
    book = {"faithbook", "yaml", "jupytext", "papermill", "matplotlib", "IPython", "grimp", "onnx", "peft", "pyarrow"}
    return not (_imports(path) & book) and "parents[1]" not in path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def empty(registry: None, packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the repository with an environment that holds the wheel, its extras and pytest; no clone."""
    folder = tmp_path_factory.mktemp("installed")
    (wheel,) = packed.glob("*.whl")
    python = folder / "venv" / "bin" / "python"
    began = time.time()
    made = uv("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    assert made.returncode == 0, made.stderr
    tools = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis")
    constraint = ("--constraint", "requirements.lock")  # what the cache holds already
    into = ("pip", "install", "--quiet", "--python", str(python), *constraint)
    for what in ((str(wheel),), (f"{wheel}[text,vision]",), tools):
        done = uv(*into, *what)
        assert done.returncode == 0, done.stderr
        print(f"{what[0].rpartition('/')[2]}: {_gigabytes(folder / 'venv'):.2f} GB, {time.time() - began:.0f} s")
    return folder


def _gigabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e9


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The empty environment's Python in `folder`, which knows nothing of this repository."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST", "FAITHLIB"))
    }
    environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}  # as conftest.py says
    python = next(place / "venv" / "bin" / "python" for place in (folder, *folder.parents) if (place / "venv").is_dir())
    line = [str(python), *arguments]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_there_is_no_book_in_an_installation(empty: Path) -> None:
    done = _run(empty, "-c", "import faithlib; print(faithlib.__file__)")
    assert done.stdout.startswith(str(empty / "venv")), done.stderr
    for old, told in {
        "faithbook": "No module named 'faithbook'",
        "faithlib.models": "No module named 'faithlib.models'",
    }.items():
        done = _run(empty, "-c", f"import {old}")
        assert done.returncode == 1
        assert told in done.stderr


def test_the_library_passes_its_own_tests_there(empty: Path) -> None:
    files = library_tests()
    assert len([path for path in files if path.name.startswith("test_")]) >= 12
    (empty / "tests").mkdir()
    for path in files:
        shutil.copy(path, empty / "tests")
    (empty / "tests" / "benchmarks").mkdir()
    shutil.copy(ROOT / "tests" / "benchmarks" / "drawn.py", empty / "tests" / "benchmarks")
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    lines = ["[pytest]", f"addopts = {options['addopts']}", f"doctest_optionflags = {options['doctest_optionflags']}"]
    lines += ["pythonpath = tests", "timeout = 900", "markers ="] + [f"    {mark}" for mark in options["markers"]]
    lines += ["filterwarnings ="] + [f"    {line}" for line in options["filterwarnings"]]
    (empty / "pytest.ini").write_text("\n".join(lines) + "\n")
    began = time.time()
    done = _run(
        empty,
        *"-m pytest -q -n 2 --dist loadfile -p no:cacheprovider tests --pyargs faithlib -m".split(),
        "not long and not gpu",
    )
    print(f"{done.stdout.splitlines()[-1]}; {time.time() - began:.0f} s in all")
    assert done.returncode == 0, done.stdout[-6000:]


def test_the_lines_of_the_readme_run_there(empty: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    here = empty / "readme"
    here.mkdir()
    printed = readme_models.run(blocks, here, str(empty / "venv" / "bin" / "python"))
    wanted = (("saco", "lime", "occlusion"), ("rollout", "grad_cam"), ("aopc_morf", "occlusion"))
    for table, names in zip(printed, wanted, strict=True):
        assert all(name in table for name in (*names, "higher is better"))
    assert "<html" in (here / "report.html").read_text(encoding="utf-8")
