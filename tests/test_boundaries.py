"""Who may import whom: what import-linter checks has no exception, notebooks stay on their side, importing is light."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


# --- imports ---------------------------------------------------------------------------------------------------------


def test_the_contracts_are_run_and_know_no_exception() -> None:
    assert "$(BIN)/lint-imports" in (ROOT / "Makefile").read_text()
    assert not any({"ignore_imports", "unmatched_ignore_imports_alerting"} & set(each) for each in LINTER["contracts"])
    contracts = {each["name"]: each for each in LINTER["contracts"]}
    alone = contracts["the library stands alone"]
    assert {"faithbook", "yaml", "matplotlib", "IPython", "papermill", "snakemake"} <= set(alone["forbidden_modules"])


@functools.cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        "faithlib", "faithbook", include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )


SHOWN_AT_THE_END = "faithbook.engine.computed"


def named(source: str) -> set[str]:
    """The modules that a file names in its imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {node.module, *(whole & graph().modules)}
    return found


def reached(source: str) -> set[str]:
    """The modules that a file imports, directly or through what it imports; without what a computation shows after its
    end, which no result depends on."""
    here = named(source) - {SHOWN_AT_THE_END}
    return here.union(*(graph().find_upstream_modules(module) for module in here & graph().modules))


NOTEBOOKS = {folder: sorted((ROOT / "notebooks" / folder).glob("*.py")) for folder in ("compute", "report")}
FORBIDDEN = {
    "compute": ("faithbook.judge", "faithbook.show", "faithbook.stats", "matplotlib"),
    "report": ("torch", "transformers", "timm", "captum"),
}


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_notebooks_stay_on_their_side(folder: str) -> None:
    assert len(NOTEBOOKS[folder]) > 10
    over = {
        path.stem: beyond
        for path in NOTEBOOKS[folder]
        if (beyond := [m for m in reached(path.read_text()) for f in FORBIDDEN[folder] if f"{m}.".startswith(f"{f}.")])
    }
    assert not over


def test_what_a_notebook_reaches_is_seen() -> None:
    assert "torch" in reached("from faithlib.perturb import Perturber")
    assert "torch" not in reached("import faithbook.paths")


def given_names(path: Path) -> set[str]:
    """The names that a module gives something to, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found


@functools.cache
def names_of_book() -> dict[str, set[str]]:
    """By module of the book its names."""
    files = sorted((ROOT / "faithbook").rglob("*.py"))
    modules = {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}
    return {module: given_names(file) for module, file in modules.items()}


def missing_in_book(source: str) -> set[str]:
    """What a file takes from modules of the book and is not there."""
    known, missing = names_of_book(), set()
    modules: dict[str, str] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in known:
                    modules[alias.asname or alias.name] = whole
                elif alias.name not in known.get(node.module, {alias.name}):
                    missing.add(whole)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            whole = f"{modules[node.value.id]}.{node.attr}"
            if node.attr not in known[modules[node.value.id]] and whole not in known:
                missing.add(whole)
    return missing


@pytest.mark.parametrize("folder", ["compute", "report", "own", "course", "train"])
def test_what_notebooks_take_from_the_book_is_there(folder: str) -> None:
    """No type checker reads notebooks, and to run them takes long: a function that was renamed is found here."""
    paths = sorted((ROOT / "notebooks" / folder).glob("*.py"))
    assert paths and not {path.stem: found for path in paths if (found := missing_in_book(path.read_text()))}


def test_what_is_not_in_the_book_is_seen() -> None:
    source = "from faithbook.show import tables\nfrom faithbook.text import nothing\ntables.table, tables.nowhere"
    assert missing_in_book(source) == {"faithbook.text.nothing", "faithbook.show.tables.nowhere"}


# --- the face --------------------------------------------------------------------------------------------------------


def test_no_module_of_the_library_is_in_a_circle() -> None:
    """Nor for types alone: what two modules need of each other stands in a third."""
    imports = grimp.build_graph("faithlib", exclude_type_checking_imports=False, cache_dir=None)
    for module in imports.modules:
        for imported in imports.find_modules_directly_imported_by(module):
            assert module not in imports.find_upstream_modules(imported), f"{module} and {imported} import each other"


def test_importing_the_library_loads_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "pandas", "numpy", "scipy", "sklearn", "timm", "torchvision", "captum", "PIL")
    code = f"import sys, faithlib; print(*[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
