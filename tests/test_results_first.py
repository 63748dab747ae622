"""A report page starts with its result: below the title a sentence with numbers, and nothing before it."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[1]
REPORTS = sorted((ROOT / "notebooks" / "report").glob("*.py"))


SAID = ("**In short.**", "**What one sees.**")
"""How a sentence begins that a cell displays by itself: pages whose frozen measure includes that cell have one."""


def has_numbers(node: ast.AST) -> bool:
    """Whether code fills something into a text."""
    return any(isinstance(inner, ast.FormattedValue) for inner in ast.walk(node))


def modules_of(page: str) -> dict[str, str]:
    """The modules of ours that a page imports, by the name that it has for them."""
    imports = [node for node in ast.walk(ast.parse(page)) if isinstance(node, ast.ImportFrom) and node.module]
    named = {name.asname or name.name: f"{node.module}.{name.name}" for node in imports for name in node.names}
    return {name: module for name, module in named.items() if (ROOT / f"{module.replace('.', '/')}.py").is_file()}


def made_by_a_module(call: ast.AST, modules: dict[str, str]) -> bool:
    """Whether a function of a study's module, which fills numbers into a sentence, is called."""
    for node in ast.walk(call):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            function = getattr(importlib.import_module(modules[node.value.id]), node.attr)
            if inspect.isfunction(function) and has_numbers(ast.parse(textwrap.dedent(inspect.getsource(function)))):
                return True
    return False


def is_result(source: str, modules: dict[str, str]) -> bool:
    """Whether a cell ends with `page.in_short(...)` of a sentence with numbers that the cell or a module makes, or
    displays one."""
    body = ast.parse(source).body
    last = body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        call = last.value
        if ast.unparse(call.func) == "page.in_short":
            named = {node.id for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name)}
            made = [
                statement for statement in body if isinstance(statement, ast.FunctionDef) and statement.name in named
            ]
            return any(has_numbers(node) or made_by_a_module(node, modules) for node in [*call.args, *made])
    texts = [node for node in ast.walk(last) if isinstance(node, ast.JoinedStr) and has_numbers(node)]
    return "display(" in source and any(ast.unparse(text)[2:].startswith(SAID) for text in texts)


def shows(source: str) -> bool:
    """Whether a cell displays something."""
    body = ast.parse(source).body
    if body and isinstance(body[-1], ast.Expr):
        return True
    outside = [statement for statement in body if not isinstance(statement, ast.FunctionDef)]
    return any("display(" in ast.unparse(statement) for statement in outside)


def before_the_result(path: Path) -> list[str]:
    """What a reader sees between the title and the result; where there is no result, that as well."""
    seen: list[str] = []
    modules = modules_of("\n".join(cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"))
    for cell in jupytext.read(path).cells:
        if cell.cell_type == "markdown":
            seen += [line for line in cell.source.splitlines() if line.strip() and not re.match(r"\(.+\)=$", line)]
        elif shows(cell.source):
            return seen[1:] if is_result(cell.source, modules) else [*seen[1:], cell.source]
    return [*seen[1:], "no result"]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_page_starts_with_its_result(path: Path) -> None:
    assert before_the_result(path) == []


TITLE = "# %% [markdown]\n# # Title\n\n"
MODULE = "# %%\nfrom faithbook.studies.naopc import edin_toy as tables\n\n# %%\n"
RESULT = "# %%\npage.in_short(lambda: f'of {n}')\n"


@pytest.mark.parametrize(
    ("cells", "before"),
    [
        (f"# %%\nn = 1\n\n{RESULT}", []),
        ("# %%\ndef said():\n    return f'of {n}'\n\n\npage.in_short(said)\n", []),
        (f"{MODULE}page.in_short(lambda: tables.in_short(of))\n", []),
        (f"{MODULE}page.in_short(lambda: tables.N)\n", ["page.in_short(lambda: tables.N)"]),
        ("# %%\nif n:\n    display(Markdown(f'**In short.** Of {n}'))\n", []),
        ("# %%\npage.in_short(lambda: 'some of them')\n", ["page.in_short(lambda: 'some of them')"]),
        (f"# %% [markdown]\n# Words.\n\n{RESULT}", ["Words."]),
        (f"# %%\ndisplay(table)\nn = 1\n\n{RESULT}", ["display(table)\nn = 1"]),
        ("# %%\nn = 1\n", ["no result"]),
    ],
)
def test_what_comes_before_a_result_is_found(tmp_path: Path, cells: str, before: list[str]) -> None:
    path = tmp_path / "page.py"
    path.write_text(f"{TITLE}{cells}")
    assert before_the_result(path) == before
