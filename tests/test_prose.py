"""The prose pages keep their word: every code block runs, every source is named, every reference exists."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

from faithbook.stats import grounds, rules

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
PAGES = sorted(p for p in BOOK.rglob("*.md") if not {"_build", "executed"} & set(p.relative_to(BOOK).parts))
NEEDS_MODEL = "# needs the trained model\n"


def blocks(path: Path, *, model: bool) -> list[str]:
    """The page's Python blocks, those that need a checkpoint or the others."""
    found = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [code for code in found if code.startswith(NEEDS_MODEL) == model]


def cases(*, model: bool) -> list[str]:
    return [str(page.relative_to(BOOK)) for page in PAGES if blocks(page, model=model)]


def run(code: str, page: str, names: dict[str, object]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, page, "exec"), names)


@pytest.mark.parametrize("page", cases(model=False))
def test_blocks_run_by_themselves(page: str) -> None:
    for code in blocks(BOOK / page, model=False):
        run(code, page, {})


@pytest.mark.slow
@pytest.mark.parametrize("page", cases(model=True))
def test_blocks_with_a_model_run_in_order(page: str) -> None:
    names: dict[str, object] = {}
    for code in blocks(BOOK / page, model=True):
        run(code, page, names)


def test_what_the_full_run_costs_is_the_same_on_every_page_that_says_it() -> None:
    """The README and the book gave different hours."""
    hours = {}
    for path in (ROOT / "README.md", BOOK / "methods.md"):
        (row,) = re.findall(r"^\| `full` \|.*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        hours[path.name] = re.findall(r"two to four hours|twelve|five minutes|\d+", row)
    assert hours["README.md"] == hours["methods.md"] != []


def test_n_is_defined_and_every_word_of_a_decision_is_explained() -> None:
    text = (BOOK / "how-to-read.md").read_text(encoding="utf-8")
    assert re.search(r"\$n\$ is the number of independent inputs \([^)]*\) in the smallest cell", text)
    listed = text.partition("Five kinds of evidence")[2].partition("What n is")[0]
    assert re.findall(r"^- (?:\*|\{term\}`)(.*?)(?:\*| <)", listed, flags=re.MULTILINE) == list(grounds.GROUNDS)
    decisions = {grounds.worded(one, ground) for one in rules.DECISIONS for ground in grounds.GROUNDS}
    for word in decisions:
        assert f">{word}</span>" in " ".join(text.split()), word
    methods = (BOOK / "methods.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| word of older versions .*?\n\n", methods, flags=re.MULTILINE | re.DOTALL)
    old = re.findall(r"^\| ([^|]*) \| ([^|]*) \|", table, flags=re.MULTILINE)[2:]
    assert len(old) == 16 and {decision for _, decision in old} <= decisions


def test_no_page_asks_who_speaks_or_whose_run_it_is() -> None:
    sources = [*PAGES, *(ROOT / "notebooks" / "report").glob("*.py"), *(ROOT / "faithbook" / "results").glob("*.py")]
    for path in sources:
        assert not re.search(r"[Ww]ho speaks|[Yy]our run\b|nobody can tell", path.read_text(encoding="utf-8")), path


def test_exercises_have_folded_solutions_with_code() -> None:
    text = (BOOK / "exercises.md").read_text(encoding="utf-8")
    parts = re.split(r"^## \d+\. ", text, flags=re.MULTILINE)[1:]
    assert len(parts) >= 5
    for part in parts:
        assert part.count(":::{dropdown} Solution") == 1
        assert "```python\n" in part
        assert "assert " in part


def test_the_data_page_names_every_source_and_its_citation() -> None:
    sources = tomllib.loads((ROOT / "data" / "sources.toml").read_text(encoding="utf-8"))
    page = (BOOK / "data-and-models.md").read_text(encoding="utf-8")
    keys = set(re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for name, source in sources.items():
        assert f"`{name}`" in page, name
        assert set(source["cite"]) <= keys, (name, source["cite"])
        assert all(key in page for key in source["cite"]), (name, source["cite"])


def test_everything_in_the_bibliography_is_cited() -> None:
    keys = re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(keys) == len(set(keys))
    sources = [*PAGES, *(ROOT / "notebooks").glob("*/*.py"), ROOT / "data" / "sources.toml"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert not [key for key in keys if key not in text]


def test_captum_computes_the_first_studys_deeplift_as_its_pages_say() -> None:
    """The page said that captum computes it; our own rules did, which find other words."""
    tree = ast.parse((ROOT / "faithbook" / "papers" / "zhao_aletras_soft.py").read_text(encoding="utf-8"))
    options = [
        ast.literal_eval(value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "deeplift"
    ]
    assert [one.get("rules") for one in options] == ["captum"]
    for notebook in ("soft_metrics", "soft_variants"):
        text = (ROOT / "notebooks" / "compute" / f"{notebook}.py").read_text(encoding="utf-8")
        assert "zhao_aletras_soft import Asked" in text and '"deeplift": {' not in text


def test_the_glossary_names_the_variants_of_two_words_that_papers_share() -> None:
    """And who asks the library for the bare word is told the nearest name."""
    from faithlib import metrics
    from faithlib.catalogue import METRICS
    from faithlib.errors import unknown

    text = (BOOK / "glossary.md").read_text(encoding="utf-8")
    for word in ("comprehensiveness", "sufficiency"):
        entry = re.search(rf"^{word}\n((?:  .*\n)+)", text, flags=re.MULTILINE)
        named = re.findall(r"`(\w+)`", re.sub(r"\{\w+\}`.*?`", "", entry[1])) if entry else []
        assert len(named) == 4
        assert all(name in METRICS or hasattr(metrics, name) for name in named), named
        assert f"did you mean '{word}_eraser'?" in str(unknown("metric", word, METRICS))
