"""What a report notebook makes is displayed: a cell shows its last expression, and nothing of an `if` or a loop."""

from __future__ import annotations

import ast
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[1]
REPORTS = sorted((ROOT / "notebooks" / "report").glob("*.py"))
SHOWN = {"table", "listing", "figure", "findable", "test"}
"""The methods of a page whose result has to be displayed by the cell that calls them."""


def hidden_calls(source: str) -> list[str]:
    """The calls of a cell whose result nobody sees: `page.listing(...)` as a statement that is not the cell's last."""
    body = ast.parse(source).body
    last = body[-1] if body else None
    statements = [node for top in body for node in ast.walk(top) if isinstance(node, ast.Expr)]
    return [ast.unparse(node) for node in statements if node is not last and _makes_an_exhibit(node.value)]


def _makes_an_exhibit(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    owner = value.func.value
    return isinstance(owner, ast.Name) and owner.id == "page" and value.func.attr in SHOWN


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_every_exhibit_of_a_page_is_displayed(path: Path) -> None:
    cells = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
    assert [call for source in cells for call in hidden_calls(source)] == []


def test_a_listing_inside_a_condition_is_found() -> None:
    assert hidden_calls("if rows:\n    page.listing(rows, 'name')")
    assert not hidden_calls("shown = page.listing(rows, 'name') if rows else ''\nshown")
    assert not hidden_calls("page.listing(rows, 'name')")
