"""A heading is followed by something to read or to see: text, or a cell that shows something."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [*(ROOT / "notebooks").glob("report/*.py"), *(ROOT / "notebooks").glob("own/*.py"), *(ROOT / "book").rglob("*.md")]
)
MADE = ("_build", "executed")


def shows(code: str) -> bool:
    """Whether a cell ends with an expression, which is displayed, or displays something itself."""
    body = ast.parse(code).body
    return bool(body) and (isinstance(body[-1], ast.Expr) or "display(" in code or "plt.show(" in code)


def pieces(path: Path) -> list[str]:
    """The page in order: headings as `# text`, everything that is seen as "seen"."""
    if path.suffix == ".md":
        cells = [("markdown", path.read_text(encoding="utf-8"))]
    else:
        cells = [(cell.cell_type, cell.source) for cell in jupytext.read(path).cells]
    found = []
    for kind, source in cells:
        if kind == "code":
            found += ["seen"] if shows(source) else []
            continue
        fenced = False
        for line in source.splitlines():
            fenced ^= line.startswith(("```", "~~~"))
            heading = re.match(r"#+ ", line) and not fenced
            text = line.strip() and not re.match(r"\(.+\)=$|%", line.strip())
            found += [line] if heading else ["seen"] if text else []
    return found


BY_HAND = [page for page in PAGES if not set(page.parts) & set(MADE)]


@pytest.mark.parametrize("path", BY_HAND, ids=lambda path: path.stem)
def test_something_follows_every_heading(path: Path) -> None:
    found = pieces(path)
    bare = [
        heading
        for heading, then in zip(found, [*found[1:], "# end"], strict=True)
        if heading != "seen" and then != "seen"
    ]
    assert not bare, f"nothing between these headings and the next: {bare}"
