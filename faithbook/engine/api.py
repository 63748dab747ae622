"""The book's reference of the library: a Sphinx extension, so that nobody keeps a list of names by hand.

`.. library:: faithlib.metrics` on a page stands for every module of that package (or for that one module): what it is
about, a table of its public names, and each of them with signature and docstring. Docstrings are written in Markdown as
the rest of the book is; autodoc wants reStructuredText, and gets it here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def modules(name: str) -> list[str]:
    """The module of that name, or the package and every public module below it."""
    module = importlib.import_module(name)
    below = pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}.")
    return [name, *(each.name for each in below if not each.name.rpartition(".")[2].startswith("_"))]


def public_names(module: str) -> list[tuple[str, str]]:
    """Kind ("function", "class" or "data") and name of what a module itself defines for others, in its order."""
    names = []
    for node in ast.parse(inspect.getsource(importlib.import_module(module))).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(("class" if isinstance(node, ast.ClassDef) else "function", node.name))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [("data", target.id) for target in targets if isinstance(target, ast.Name)]
    return [(kind, name) for kind, name in names if not name.startswith("_")]


# --- pages -----------------------------------------------------------------------------------------------------------


class Library(SphinxDirective):
    """The directive `library`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A section for each module."""
        lines = [line for module in modules(self.arguments[0]) for line in _section(module)]
        node = nodes.section()
        node.document = self.state.document
        self.state.nested_parse(StringList(lines, "library"), self.content_offset, node, match_titles=True)
        return node.children


def _section(module: str) -> list[str]:
    names, loaded = public_names(module), importlib.import_module(module)
    table = [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for _, name in names), ""]
    entries = []
    for kind, name in names:
        shown = repr(getattr(loaded, name)) if kind == "data" else ""
        options = ["   :no-value:"] if len(shown) > 200 or " at 0x" in shown else []
        options = ["   :members:"] if kind == "class" else options
        entries += [f".. auto{kind}:: {module}::{name}", *options, ""]
    return [module, "-" * len(module), "", f".. automodule:: {module}", "", *(table if names else []), *entries]


# --- docstrings ------------------------------------------------------------------------------------------------------


def to_rst(lines: Sequence[str]) -> list[str]:
    """The lines of a Markdown docstring as reStructuredText: code, tables, lists; a heading over errors and examples.

    >>> to_rst(["Is `x * y`, or *x*.", "Raises ValueError: never.", "", ">>> 1 + 1", "2"])[:3]
    ['Is ``x * y``, or \\\\*x\\\\*.', '', '.. rubric:: Raises']
    """
    made: list[str] = []
    for kind, group in groupby(_kinds(lines), key=lambda pair: pair[0]):
        block = [line for _, line in group]
        if kind == "table":
            made += _table(block)
        elif kind == "example":
            made += ["", ".. rubric:: Examples", "", *block, ""]
        else:
            made += _prose(block)
    return made


def _kinds(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    example = False
    for line in lines:
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        table = line.lstrip().startswith("|") and line.rstrip().endswith("|") and line.count("|") > 2
        yield "example" if example else "table" if table else "prose", line


def _table(block: Sequence[str]) -> list[str]:
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in block if not re.fullmatch(r"[\s|:-]+", line)]
    made = ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        for number, cell in enumerate(row):
            made.append(f"   {'  ' if number else '* '}- {_inline(cell.strip())}")
    return [*made, ""]


def _prose(block: Sequence[str]) -> list[str]:
    made: list[str] = []
    listed = False
    for line in _inline("\n".join(block)).split("\n"):
        item = re.match(r"\s*(- |\d+\. )", line) is not None
        raises = line.startswith("Raises ")
        if (item and not listed) or (listed and not item and line.strip() and not line.startswith(" ")) or raises:
            made.append("")
        if raises:
            made += [".. rubric:: Raises", ""]
        listed = item or (listed and bool(line.strip()))
        made.append(line.removeprefix("Raises ") if raises else line)
    return made


def _inline(text: str) -> str:
    """Code in double backticks; outside of it nothing that reStructuredText would take for markup."""
    made = ""
    for part in re.split(r"(`+[^`]+`+)", text):
        if part.startswith("`"):
            made += "``" + part.strip("`") + "``"
        else:  # the plural of a name, `Row`s, needs a break that does not show
            made += "\\ " if made and re.match(r"\w", part) else ""
            made += re.sub(r"([\\*|]|(?<=\w)_\b)", r"\\\1", part)
    return made


def _process(app: Sphinx, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    lines[:] = to_rst(_comment(name) if what == "data" else lines)


def _comment(name: str) -> list[str]:
    """The comment above an assignment: what autodoc finds there is the docstring of the value's type."""
    module, _, last = name.rpartition(".")
    above: list[str] = []
    for line in inspect.getsource(importlib.import_module(module)).splitlines():
        if re.match(rf"{last}\b[^=]*=", line):
            return above
        above = [*above, line.removeprefix("#").strip()] if line.startswith("#") else []
    return []


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    for extension in ("sphinx.ext.autodoc", "sphinx.ext.autosummary"):
        app.setup_extension(extension)
    app.add_directive("library", Library)
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
