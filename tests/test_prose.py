"""The prose pages keep their word: every code block runs, every source is named, everything cited exists."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

from faithbook import course

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
PAGES = sorted(p for p in BOOK.rglob("*.md") if not {"_build", "executed"} & set(p.relative_to(BOOK).parts))
NEEDS_MODEL = "# needs the trained model\n"


def blocks(path: Path, *, model: bool) -> list[str]:
    """The page's Python blocks, those that need a checkpoint or the others."""
    found = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [code for code in found if code.startswith(NEEDS_MODEL) == model]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, model=False)], ids=lambda page: page.stem)
def test_blocks_run_by_themselves(page: Path) -> None:
    for code in blocks(page, model=False):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, page, "exec"), {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's folder of code blocks: two small models, images and sentences."""
    made = tmp_path_factory.mktemp("blocks")
    course.add_blocks(made)
    return made


def test_blocks_of_prose_need_the_library_alone_and_print_what_they_check(tmp_path: Path) -> None:
    course.block_notebooks(tmp_path)
    for page in PAGES:
        for code in course.blocks_of(page.read_text(encoding="utf-8")):
            assert "faithbook" not in code, page
    for name in ("exercises", "course-session5", "foundations-metrics"):
        assert (tmp_path / f"{name}.ipynb").is_file()
    exercises = [code for name in ("exercises.md", "together/exercises.md") for code in blocks_in(BOOK / name)]
    assert len(exercises) > 20
    for code in exercises:
        assert code.find("print(") != -1 and code.find("print(") < code.rfind("assert"), code


def blocks_in(path: Path) -> list[str]:
    return course.blocks_of(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, model=True)], ids=lambda page: page.stem)
def test_blocks_with_a_model_run_in_order(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder that `make course` gives to readers without the book's environment."""
    monkeypatch.chdir(folder)
    assert not [code for code in blocks(page, model=True) if "faithbook" in code]
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for code in blocks(page, model=True):
            exec(compile(code, page, "exec"), names)


def test_every_source_is_on_the_data_page_and_everything_in_the_bibliography_is_cited() -> None:
    keys = re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(keys) == len(set(keys))
    page = (BOOK / "data-and-models.md").read_text(encoding="utf-8")
    for name, source in tomllib.loads((ROOT / "data" / "sources.toml").read_text(encoding="utf-8")).items():
        assert set(source["cite"]) <= set(keys) and all(key in page for key in (f"`{name}`", *source["cite"])), name
    sources = [*PAGES, *(ROOT / "notebooks").glob("*/*.py"), ROOT / "data" / "sources.toml"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert not [key for key in keys if key not in text]


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
