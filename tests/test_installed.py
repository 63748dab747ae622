"""What a person gets who has no clone: requirements that come as wheels, a package of the library alone, its own tests.

These install packages and take minutes, so `make test-long` runs them and `make test` does not. Without a package index
they are skipped and say so.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from email.parser import Parser
from pathlib import Path

import pytest
import readme_models

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PYTHON = os.environ.get("INSTALLED_PYTHON", sys.executable)
"""Of the environments that are made here: INSTALLED_PYTHON=python3.13 tries another than the one that runs."""
EXTRAS = ("--extra", "text", "--extra", "vision", "--extra", "captum")
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


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_one_lock_serves_every_python(version: str, tmp_path: Path) -> None:
    """Resolved with its digests, not installed: the Python that is there runs all other tests."""
    into = ("--dry-run", "--require-hashes", "--python-version", version, "--target", str(tmp_path))
    done = uv("pip", "install", "--quiet", *into, "-r", "requirements.lock")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("platform", ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"])
def test_every_requirement_comes_as_a_wheel(version: str, platform: str) -> None:
    where = ("--python-version", version, "--python-platform", platform)
    book = ("--group", "book") if "linux" in platform else ()
    done = uv("pip", "compile", "--quiet", "--only-binary", ":all:", *where, *EXTRAS, *book, "pyproject.toml")
    assert done.returncode == 0, done.stderr
    assert {"torch", "numpy", "captum", "timm"} <= set(re.findall(r"^([\w.-]+)==", done.stdout, flags=re.MULTILINE))


# --- the wheel in an empty environment -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    done = uv("build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(folder), ".")
    assert done.returncode == 0, done.stderr
    return folder


def test_what_is_packed_is_the_library_alone(packed: Path) -> None:
    (wheel,), (source,) = packed.glob("*.whl"), packed.glob("*.tar.gz")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    library = {str(path.relative_to(ROOT)) for path in (ROOT / "faithlib").rglob("*.py")}
    data = {"py.typed", "evaluation/report.html", "evaluation/report.css"}
    assert names == library | {f"faithlib/{name}" for name in data}
    with tarfile.open(source) as opened:
        top = {name.split("/")[1] for name in opened.getnames()}
    texts = {"CITATION.cff", "LICENSE"}
    assert top <= {"faithlib", *texts, "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert max(wheel.stat().st_size, source.stat().st_size) < 500_000


def test_the_metadata_of_the_wheel_is_the_librarys(packed: Path) -> None:
    """What a registry shows: the requirements of the library and of its extras, and nothing of the book."""
    (wheel,) = packed.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(opened.read(name).decode())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {*project["dependencies"]}
    for extra, lines in project["optional-dependencies"].items():
        wanted |= {f"{line}; extra == '{extra}'" for line in lines}
    assert {*metadata.get_all("Requires-Dist")} == wanted
    assert {*metadata.get_all("Provides-Extra")} == {*project["optional-dependencies"]}
    assert metadata.get_payload() == (ROOT / "faithlib" / "README.md").read_text(encoding="utf-8")
    assert "faithbook" not in str(metadata)


def test_the_source_makes_the_same_wheel(packed: Path, tmp_path: Path) -> None:
    (wheel,), (source,) = packed.glob("*.whl"), packed.glob("*.tar.gz")
    into = ("--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(tmp_path))
    done = uv("build", "--quiet", *into, str(source))
    assert done.returncode == 0, done.stderr
    (again,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(again) as other:
        assert {name: first.read(name) for name in first.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }


@pytest.mark.usefixtures("registry")
def test_a_registry_would_take_both(packed: Path) -> None:
    done = uv("tool", "run", "--quiet", "twine", "check", "--strict", *map(str, packed.glob("faithlib-*")))
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout + done.stderr


def library_tests() -> list[Path]:
    """The test modules that need the library alone, and the modules beside them that they import; no conftest.py."""
    chosen = {path for path in TESTS.glob("test_*.py") if all(map(_alone, _closure(path)))}
    return sorted({*(each for path in chosen for each in _closure(path))})


def _closure(path: Path) -> set[Path]:
    """The file and the files of the same folder that it imports, directly or not."""
    seen, waiting = set[Path](), {path}
    while waiting:
        seen |= waiting
        named = {TESTS / f"{name}.py" for each in waiting for name in _imports(each)}
        waiting = {each for each in named if each.is_file()} - seen
    return seen


def _imports(path: Path) -> set[str]:
    """The first names of what a file imports."""
    pattern = r"^\s*(?:import|from) ([a-zA-Z_]\w*)"
    return set(re.findall(pattern, path.read_text(encoding="utf-8"), flags=re.MULTILINE))


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
    tools = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis")
    constraint = ("--constraint", "requirements.lock")  # what the cache holds already
    for line in (
        ("venv", "--quiet", "--python", PYTHON, str(folder / "venv")),
        ("pip", "install", "--quiet", "--python", str(python), *constraint, f"{wheel}[text,vision,captum]", *tools),
    ):
        done = uv(*line)
        assert done.returncode == 0, done.stderr
    return folder


# conftest.py has the same, beside what needs the book.
NO_CLOCK = """
from hypothesis import settings

settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The empty environment's Python in `folder`, which knows nothing of this repository."""
    without = ("PYTHON", "PYTEST", "FAITHLIB")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(without)}
    environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}  # as conftest.py says
    line = [str(folder / "venv" / "bin" / "python"), *arguments]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_there_is_no_book_in_an_installation(empty: Path) -> None:
    done = _run(empty, "-c", "import faithlib; print(faithlib.__file__); import faithbook")
    assert done.stdout.startswith(str(empty / "venv")) and "No module named 'faithbook'" in done.stderr


def test_the_library_passes_its_own_tests_there(empty: Path) -> None:
    files = library_tests()
    assert len([path for path in files if path.name.startswith("test_")]) >= 12
    (empty / "tests").mkdir()
    for path in files:
        shutil.copy(path, empty / "tests")
    (empty / "tests" / "conftest.py").write_text(NO_CLOCK)
    (empty / "tests" / "benchmarks").mkdir()
    shutil.copy(ROOT / "tests" / "benchmarks" / "drawn.py", empty / "tests" / "benchmarks")
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    lines = ["[pytest]", f"addopts = {options['addopts']}", f"doctest_optionflags = {options['doctest_optionflags']}"]
    lines += ["pythonpath = tests", "timeout = 900", "markers ="] + [f"    {mark}" for mark in options["markers"]]
    lines += ["filterwarnings ="] + [f"    {line}" for line in options["filterwarnings"]]
    (empty / "pytest.ini").write_text("\n".join(lines) + "\n")
    line = "-m pytest -q -n 2 --dist loadfile -p no:cacheprovider tests --pyargs faithlib -m".split()
    done = _run(empty, *line, "not long and not gpu")
    assert done.returncode == 0, done.stdout[-6000:]


# What stands on other packages most: NumPy, SciPy, pandas, and the insides of transformers' and timm's models.
ENDS = "metrics evaluation perturb own bounds relevance attribution_vision".split()


def _check_with(folder: Path, *requirements: Sequence[str]) -> None:
    """The tests of ENDS pass in a new environment in `folder`, made of one install after the other; warnings are no
    errors."""
    python = folder / "venv" / "bin" / "python"
    made = uv("venv", "--quiet", "--python", PYTHON, str(folder / "venv"))
    assert made.returncode == 0, made.stderr
    for line in (*requirements, ("pytest", "pytest-timeout", "hypothesis")):
        done = uv("pip", "install", "--quiet", "--python", str(python), *line)
        assert done.returncode == 0, done.stderr
    print(uv("pip", "freeze", "--python", str(python)).stdout)
    (folder / "tests").mkdir()
    for path in {each for name in ENDS for each in _closure(TESTS / f"test_{name}.py")}:
        shutil.copy(path, folder / "tests")
    (folder / "tests" / "conftest.py").write_text(NO_CLOCK)
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    marks = "\n".join(f"    {mark}" for mark in options["markers"])
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = tests\ntimeout = 900\nmarkers =\n{marks}\n")
    done = _run(folder, *"-m pytest -q -p no:cacheprovider --import-mode=importlib tests -m".split(), "not long")
    print(done.stdout[-2000:])
    assert done.returncode == 0, done.stdout[-6000:]


# The lower bounds of pyproject.toml themselves; where this Python has no wheel of one, its first version that has.
LOWEST = ("--only-binary", ":all:", "--resolution", "lowest-direct", *EXTRAS)


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_lower_bounds_are_versions_that_exist(version: str) -> None:
    done = uv("pip", "compile", "--quiet", "--no-annotate", *LOWEST, "--python-version", version, "pyproject.toml")
    assert done.returncode == 0, done.stderr
    chosen = dict(re.findall(r"^([\w-]+)==([\d.]+)$", done.stdout, flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for line in (*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())):
        name, least = line.split(">=")
        assert name in chosen
        if version == "3.11":
            assert f"{chosen[name]}.".startswith(f"{least}."), line


@pytest.mark.usefixtures("registry")
def test_the_library_works_with_the_lowest_versions(packed: Path, tmp_path: Path) -> None:
    """On the Python that is given, from wheels alone; continuous integration does this on every one."""
    (wheel,) = packed.glob("*.whl")
    _check_with(tmp_path, (*LOWEST, "-r", "pyproject.toml"), (str(wheel),))


@pytest.mark.usefixtures("registry")
def test_the_library_works_with_the_newest_versions(packed: Path, tmp_path: Path) -> None:
    """Those of today, whatever requirements.lock has; continuous integration does this on every Python."""
    (wheel,) = packed.glob("*.whl")
    _check_with(tmp_path, ("--upgrade", f"{wheel}[text,vision,captum]"))


def test_the_lines_of_the_readme_run_there(empty: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    here = empty / "readme"
    here.mkdir()
    printed = readme_models.run(blocks, here, str(empty / "venv" / "bin" / "python"))
    wanted = (("srg", "lime", "occlusion"), ("rollout", "grad_cam"), ("srg", "occlusion"))
    for table, names in zip(printed, wanted, strict=True):
        assert all(name in table for name in (*names, "higher is better"))
    assert "<html" in (here / "report.html").read_text(encoding="utf-8")


def test_the_lines_of_the_librarys_page_run_there(empty: Path) -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "faithlib" / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    here = empty / "page"
    here.mkdir()
    (here / "lines.py").write_text("\n".join(blocks), encoding="utf-8")
    done = _run(empty, "-c", "import os, runpy; os.chdir('page'); runpy.run_path('lines.py')")
    assert done.returncode == 0, done.stderr
    assert "too few to distinguish any method from random" in done.stdout and "top_drop" in done.stdout
    assert "<html" in (here / "report.html").read_text(encoding="utf-8")
