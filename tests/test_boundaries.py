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
