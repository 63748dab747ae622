"""The reference in the book has an entry for every public name of the library, and what an entry must say."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import faithlib
from faithlib import attribution, bounds, evaluation, metrics
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.attribution.registry import IMAGE_METHODS, METHODS
from faithlib.evaluation.summary import Table
from faithlib.metrics.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "book" / "api").glob("*.rst"))
EVERY_MODULE = sorted(found.name for found in pkgutil.walk_packages(faithlib.__path__, "faithlib."))
COMMANDS = [name for name in EVERY_MODULE if name.endswith(".__main__")]
MODULES = [name for name in EVERY_MODULE if name not in COMMANDS]
PRIVATE = [name for name in MODULES if "._" in name]


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
    """autodoc takes the entries of a module from the module itself: nobody lists them by hand. Private modules are on a
    page as well, to be read: what each method is stands in them."""
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


def with_headings() -> dict[str, Callable[..., Any]]:
    """The functions and classes that users call, by name, and the second half of every metric and method."""
    found: dict[str, Callable[..., Any]] = {}
    for package in (faithlib, metrics, bounds, evaluation, attribution):
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{package.__name__}.{name}"] = thing
    for name, family in BUILT_IN.items():
        found[f"metric {name}"] = family.value
    for kind, of_kind in (("text", METHODS), ("image", IMAGE_METHODS)):
        for name, method in of_kind.items():
            run = method.run
            found[f"method {name} ({kind})"] = run.value if isinstance(run, ErasingMethod) else run
    for verb in ("keep", "keep_rows", "later", "soft", "gaussian", "attention_mask"):
        found[f"Perturber.{verb}"] = getattr(faithlib.Perturber, verb)
    for verb in ("intervals", "differences", "summary", "to_html"):
        found[f"Table.{verb}"] = getattr(Table, verb)
    return found


DOCUMENTED = with_headings()


def sections_of(docstring: str) -> dict[str, list[str]]:
    """The lines below each numpydoc heading; what comes before the first is under an empty name."""
    lines = docstring.splitlines()
    sections: dict[str, list[str]] = {"": []}
    heading = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and below == "-" * len(line):
            heading = line
            sections[heading] = []
        elif line != "-" * len(heading):
            sections[heading].append(line)
    return sections


def entries_of(lines: list[str]) -> list[str]:
    """The names of a section of parameters, each of which begins a line; types follow a colon."""
    begun = [line.partition(" : ")[0] for line in lines if line and not line[0].isspace()]
    return [name for names in begun for name in names.split(", ")]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_function_has_numpydoc_headings(name: str) -> None:
    thing = DOCUMENTED[name]
    sections = sections_of(inspect.getdoc(thing) or "")
    summary = sections[""][0]
    assert summary
    assert summary.endswith(".")
    parameters = [parameter for parameter in inspect.signature(thing).parameters if parameter != "self"]
    if "DataFrame" not in {base.__name__ for base in getattr(thing, "__mro__", ())}:
        assert sorted(entries_of(sections.get("Parameters", []))) == sorted(parameters)
    returned = inspect.signature(thing).return_annotation
    if not inspect.isclass(thing) and returned not in (None, "None"):
        assert any(line.strip() for line in sections.get("Returns", []))


def test_headings_are_read_as_they_are_written() -> None:
    text = (
        "Say it.\n\nParameters\n----------\na, b : Tensor\n    Both.\nc\n    One.\n\nReturns\n-------\nTensor\n    It."
    )
    sections = sections_of(text)
    assert entries_of(sections["Parameters"]) == ["a", "b", "c"]
    assert sections["Returns"] == ["Tensor", "    It."]
    assert sections[""][0] == "Say it."


def test_pages_of_the_book_link_to_entries() -> None:
    entries = {f"{module}.{name}" for module in MODULES for name in public_names(module)}
    for page in sorted((ROOT / "book" / "foundations").glob("*.md")):
        linked = re.findall(r"\{py:\w+\}`(?:[^`<]*<)?~?(faithlib[\w.]+)>?`", page.read_text())
        assert set(linked) <= entries, page.name


# ------------------------------------------------------------------------------------------------------ what is public
INDEX = (ROOT / "book" / "api" / "index.md").read_text(encoding="utf-8")
PUBLIC = {name: tuple(importlib.import_module(name).__all__) for name in ("faithlib", *MODULES) if name not in PRIVATE}


def test_a_module_lists_its_public_names_or_is_private() -> None:
    """There is no third kind: `__all__`, or an underscore before the name of the module; a package is public."""
    assert {"faithlib._scheduler", "faithlib.backends._model_adapters"} <= set(PRIVATE)
    for name in ("faithlib", *MODULES):
        module = importlib.import_module(name)
        assert hasattr(module, "__all__") != (name in PRIVATE), name
        assert not (name in PRIVATE and hasattr(module, "__path__")), name


def test_public_names_live_in_public_modules() -> None:
    """So that what a signature, a traceback or a pickle names may be imported from there."""
    for module, names in PUBLIC.items():
        loaded = importlib.import_module(module)
        for name in names:
            thing = getattr(loaded, name)
            home = getattr(thing, "__module__", module)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert thing.__name__ in PUBLIC.get(home, ()), f"{module}.{name} is made in {home}"


def test_the_book_uses_public_names_alone() -> None:
    """The library's largest user needs nothing that others are not promised."""
    used: dict[tuple[str, str], str] = {}
    for folder in ("faithbook", "notebooks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "faithlib":
                    used |= {(str(node.module), alias.name): path.name for alias in node.names}
                elif isinstance(node, ast.Import):
                    used |= {(alias.name, ""): path.name for alias in node.names if alias.name in EVERY_MODULE}
    assert len(used) > 100
    private: dict[tuple[str, str], str] = {}
    for (module, name), file in used.items():
        is_module = f"{module}.{name}".strip(".") in PUBLIC
        if not is_module and name not in PUBLIC.get(module, ()):
            private[module, name] = file
    assert private == {}


def test_one_page_lists_what_is_public() -> None:
    """A name that is added or taken away is a decision, which shows as a change of that page."""
    below = INDEX.partition("## All public names")[2]
    written = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", below, flags=re.MULTILINE)
    expected = [(module, ", ".join(f"`{name}`" for name in sorted(names))) for module, names in PUBLIC.items()]
    missing = [f"| `{module}` | {names} |" for module, names in expected if (module, names) not in written]
    assert not missing, "book/api/index.md needs these lines:\n" + "\n".join(missing)
    assert written == expected


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_there_once_and_without_an_underscore(module: str) -> None:
    names = PUBLIC[module]
    assert len(set(names)) == len(names)
    assert [name for name in names if name.startswith("_") and name != "__version__"] == []
    imported: dict[str, Any] = {}
    exec(f"from {module} import *", imported)
    assert set(names) <= set(imported)


def test_what_users_are_told_to_import_is_public() -> None:
    """In the two READMEs, the documents, the examples and the pages of the book."""
    files = [ROOT / "README.md", ROOT / "faithlib" / "README.md"]
    for folder in ("docs", "examples", "book"):
        found = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".md", ".py")]
        files += [path for path in found if "_build" not in path.parts and "executed" not in path.parts]
    told: set[tuple[str, str]] = set()
    for path in files:
        for module, names in re.findall(
            r"^\s*from (faithlib[\w.]*) import (\([^)]*\)|[\w, ]+)", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            told |= {(module, name.partition(" as ")[0].strip()) for name in names.strip("()").split(",")}
    told = {(module, name) for module, name in told if name}
    assert len(told) > 20
    assert {(module, name) for module, name in told if name not in PUBLIC.get(module, ())} == set()


def test_names_in_messages_are_public() -> None:
    """What an error tells a user to call, with its module, may be relied on."""
    said: set[str] = set()
    for path in sorted((ROOT / "faithlib").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""  # a docstring
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                said |= set(re.findall(r"\bfaithlib(?:\.\w+)+", node.value))
    names = {f"{module}.{name}" for module, of_module in PUBLIC.items() for name in of_module}
    assert "faithlib.masks.normalise" in said
    assert {name for name in said if name not in names and name not in PUBLIC} == set()
