"""How long the sentences of each page are: `python tests/sentence_lengths.py` prints a table, worst pages first.

Prose is README, the book's pages, markdown cells and texts in code of notebooks, and docstrings. Code blocks, tables,
headings and lines of directives are not prose; a formula, a name in backticks and a role count as one word each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
LONG = 35
"""Words above which a sentence is long."""

_DROPPED = (
    re.compile(r"<!--.*?-->|\$\$.*?\$\$", re.DOTALL),
    re.compile(r"^\s*(?:`{3,}|:{3,}).*$|^:\w[\w-]*:.*$|^\([\w-]+\)=$|^\s*\|.*$|^#+ .*$|^<[^>]*>.*$", re.MULTILINE),
)
_ONE_WORD = re.compile(r"\$[^$\n]*\$|(?:\{[\w:]+\})?`[^`]*`")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.|:)\s+", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])[\"”’)*]*\s+(?=[\"“(*\[]*[A-Z0-9x]|\([a-z]\))")
_CODE_IN_DOCSTRING = re.compile(r"^\s*(?:>>>|\.\.\.).*(?:\n\s*(?!>>>)\S.*)*", re.MULTILINE)


class Lengths(NamedTuple):
    """Of one page: its sentences, and those that are long."""

    sentences: int
    long: tuple[str, ...]

    @property
    def share(self) -> float:
        """Long sentences among all."""
        return len(self.long) / self.sentences if self.sentences else 0.0


def without_code(text: str) -> str:
    """A page without blocks of code and formulas, and without the fences of directives, whose text stays."""
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    for token in reversed(MarkdownIt().parse(text)):
        if token.type == "fence" and token.map:
            directive = re.match(r"\{(?!math|code|include|bibliography|image)", token.info)
            lines[slice(*token.map)] = ["", without_code(token.content) if directive else "", ""]
    return "\n".join(lines)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text in markdown that have at least three words."""
    text = without_code(text)
    for pattern in _DROPPED:
        text = pattern.sub("\n\n", text)
    for block in re.split(r"\n\s*\n", _ITEM.sub("\n\n", text)):
        block = re.sub(r"\]\([^)]*\)", "]", _ONE_WORD.sub(" x ", block))
        for sentence in _END.split(" ".join(block.split())):
            if len(words(sentence)) > 2:
                yield sentence


def words(sentence: str) -> list[str]:
    """Its words; a dash or a sign on its own is none."""
    return [word for word in sentence.split() if re.search(r"\w", word)]


def _texts_in_code(node: ast.AST) -> Iterator[str]:
    """Strings and f-strings, a value in them as one word."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts_in_code(child)


def _prose(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield source
    elif "notebooks" in path.parts:
        for cell in re.findall(r"^# %% \[markdown\][^\n]*\n((?:#.*\n)*)", source, flags=re.MULTILINE):
            yield re.sub(r"^# ?", "", cell, flags=re.MULTILINE)
        yield from (text for text in _texts_in_code(ast.parse(source)) if len(text.split()) > 5)
    else:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (said := ast.get_docstring(node)):
                yield _CODE_IN_DOCSTRING.sub("", said)


def lengths(path: Path) -> Lengths:
    """The sentences of one file."""
    found = [sentence for text in _prose(path) for sentence in sentences(text)]
    return Lengths(len(found), tuple(one for one in found if len(words(one)) > LONG))


def pages() -> dict[str, dict[str, Lengths]]:
    """By kind of prose and path."""
    book = [path for path in (ROOT / "book").rglob("*.md") if not {"_build", "executed"} & set(path.parts)]
    kinds = {
        "pages": [ROOT / "README.md", *sorted(book)],
        "notebooks": sorted((ROOT / "notebooks").rglob("*.py")),
        "docstrings": [
            path for package in ("faithlib", "faithbook") for path in sorted((ROOT / package).rglob("*.py"))
        ],
    }
    return {kind: {str(path.relative_to(ROOT)): lengths(path) for path in paths} for kind, paths in kinds.items()}


def of_kind(by_page: dict[str, Lengths]) -> Lengths:
    """All pages of a kind as one."""
    return Lengths(
        sum(one.sentences for one in by_page.values()), tuple(text for one in by_page.values() for text in one.long)
    )


if __name__ == "__main__":
    print("| page | sentences | over 35 words | share |\n| --- | --- | --- | --- |")
    for kind, by_page in pages().items():
        rows = {f"**{kind}**": of_kind(by_page)} | dict(sorted(by_page.items(), key=lambda row: -len(row[1].long)))
        for name, found in rows.items():
            if found.long:
                print(f"| {name} | {found.sentences} | {len(found.long)} | {found.share:.1%} |")
