"""The reference in the book has an entry for every public name of the library, and what an entry must say."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import faithlib

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "book" / "api").glob("*.rst"))
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(faithlib.__path__, "faithlib.")
    if not found.name.rpartition(".")[2].startswith("_")
)


def public_names(module: str) -> set[str]:
    """The functions, classes and values that a module itself defines for others."""
    names: set[str] = set()
    for node in ast.parse(inspect.getsource(importlib.import_module(module))).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_every_module_is_on_one_page() -> None:
    """autodoc takes the public names of a module from the module itself: nobody lists them by hand."""
    written = [name for page in PAGES for name in re.findall(r"^\.\. automodule:: (\S+)$", page.read_text(), re.M)]
    assert sorted(written) == MODULES
    toc = (ROOT / "book" / "_toc.yml").read_text()
    assert all(f"file: api/{page.stem}\n" in toc for page in PAGES)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_docstring_and_an_example(module: str) -> None:
    """Errors are raised and not called; what is abstract cannot be made, and the classes below it have examples."""
    loaded = importlib.import_module(module)
    for name in {*getattr(loaded, "__all__", ()), *public_names(module)}:
        thing = getattr(loaded, name)
        home = getattr(thing, "__module__", None)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        assert home in MODULES and name in public_names(home), f"{module}.{name} is on no page"
        assert inspect.getdoc(thing), f"{module}.{name} has no docstring"
        is_made = not inspect.isabstract(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception))
        if home == module and is_made:  # an alias is shown where it is defined
            assert ">>> " in thing.__doc__, f"{module}.{name} has no example"


def test_pages_of_the_book_link_to_entries() -> None:
    entries = {f"{module}.{name}" for module in MODULES for name in public_names(module)}
    for page in sorted((ROOT / "book" / "foundations").glob("*.md")):
        linked = re.findall(r"\{py:\w+\}`(?:[^`<]*<)?~?(faithlib[\w.]+)>?`", page.read_text())
        assert set(linked) <= entries, page.name
