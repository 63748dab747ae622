"""Prose in the field's words: a short list of phrases that no page, caption or column head uses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]

_THING = r"(?:text|row|cell|paper|condition|input|metric|study|claim|method|feature|page|image|id|file|model|task|seed)"
BANNED = {
    "per, not the distributive a": rf"\b(?:rows?|sentences?|lines?|calls|minutes|hours|scores?) an? {_THING}\b",
    "only people speak": r"\bspeaks?\b",
    "except, not but for": r"\bbut for\b",
    "minus, not less": r"\b(?:Soft-NC|Soft-NS|NC|NS|soft|hard|standard|mean|trained|published|ours|rho) less\b",
    "instead of": r"\bin (?:the )?place of\b",
    "available": r"\bto be (?:had|got)\b",
    "images": r"\bpictures?\b",
    "substitute": r"\bstand-ins?\b",
    "undecided": r"\bnobody can tell\b|\bcannot be told\b",
    "the full run, this build": r"\bthe reference, which\b|\b[Yy]our run\b",
    "depends on": r"\bhangs? on\b",
    "separates": r"\btells? (?:\w+ ){1,3}from\b|\btold from\b|\btold apart\b",
    "is available": r"\blies? (?:there|beside|on (?:the|this|your) machine)\b",
    "is listed": r"\bstands? (?:there|here|beside)\b",
    "negate the verb": r"\b(?:is|are|was|were) no (?:name|wins?|models?|replicates?|faithfulness|images?|experiment)\b",
    "again": r"\banew\b",
    "the field's nouns": r"\b(?:laggards?|rungs?|freed of|planted reasons?)\b",
}
"""By what to write instead, the pattern of what not to write."""

_CODE = re.compile(
    r"^[ ]*(`{3,}|~{3,})(?:(?!\{)|\{(?:math|code|include|bibliography|image)).*?^[ ]*\1`*$", re.MULTILINE | re.DOTALL
)
"""A block of code or of a formula; the blocks of other directives hold prose."""


def of_markdown(text: str) -> str:
    """The prose of a page: without code, addresses, labels and lines of directives."""
    text = _CODE.sub("", text)
    text = re.sub(r"^(?:`{3,}|:{3,})\{.*$|^:\w[\w-]*:.*$|^\([\w-]+\)=$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\{[\w:]+\}`(?:[^`<]*<[^`>]*>|[\w/.-]+)`|`[^`\n]*`|\]\([^)]*\)|https?://\S+|<[^>\n]*>", " ", text)
    return re.sub(r"\s+", " ", text)


def of_code(source: str) -> str:
    """Markdown cells of a notebook or else comments, and texts of at least three words: docstrings, messages, captions.
    Examples in docstrings are not prose."""
    pattern = r"^# %% \[markdown\]\n((?:#.*\n)*)" if "\n# %%" in source else r"#.*$"
    comments = re.findall(pattern, source, flags=re.MULTILINE)
    strings = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    texts = [text for text in strings if isinstance(text, str) and len(text.split()) > 2]
    texts = [re.sub(r"^\s*(?:>>>|\.\.\.).*$", "", text, flags=re.MULTILINE) for text in texts]
    cells = [re.sub(r"^# ?", "", comment, flags=re.MULTILINE) for comment in comments]
    return " | ".join(of_markdown(text) for text in [*cells, *texts])


LOG = "changes.md"


def hits_in(prose: str) -> list[str]:
    """The banned phrases of a text, with what to write instead."""
    return [
        f"{instead}: {prose[max(0, hit.start() - 30) : hit.end() + 20]!r}"
        for instead, pattern in BANNED.items()
        for hit in re.finditer(pattern, prose)
    ]


def test_pages_notebooks_docstrings_comments_and_messages_are_in_plain_words() -> None:
    # What changed in the book is told in the words of its day.
    pages = [path for path in (ROOT / "book").rglob("*.md") if not {"_build", "executed", LOG} & set(path.parts)]
    code = [path for name in ("notebooks", "faithlib", "faithbook", "examples") for path in (ROOT / name).rglob("*.py")]
    found = {}
    for path in [ROOT / "README.md", *pages, *code]:
        text = path.read_text(encoding="utf-8")
        if hits := hits_in(of_code(text) if path.suffix == ".py" else of_markdown(text)):
            found[path] = hits
    assert not found


def test_texts_in_data_are_in_plain_words() -> None:
    printed = {"claim", "plain", "found", "title", "text", "asks", "answer", "need", "label"}
    for path in (ROOT / "data").glob("*.csv"):
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        texts = [text for column in printed & set(rows) for text in rows[column]]
        assert not hits_in(of_markdown(" | ".join(texts))), path.name


def test_what_is_not_prose_is_not_read_and_what_is_banned_is_found() -> None:
    page = "# A\n\n```python\npictures = 1\n```\n\nSee `pictures` and {doc}`x <pictures>`, two\nrows a cell.\n"
    assert "picture" not in of_markdown(page) and re.search(BANNED["per, not the distributive a"], of_markdown(page))
    notebook = '# %% [markdown]\n# It speaks.\n\n# %%\npictures = "one"\ncaption = "where nothing lies there"\n'
    assert [hit.partition(":")[0] for hit in hits_in(of_code(notebook))] == ["only people speak", "is available"]
