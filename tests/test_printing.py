"""The book as one PDF."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
import yaml
from browser import browser
from pypdf import PdfReader
from refusals import refused
from small_book import OTHERS, Built, built

from faithbook.engine import printing
from faithlib.errors import DataError


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("book"))


def outline(items: list, reader: object) -> list:
    """Titles with the page each leads to, nested as they are."""
    return [
        outline(item, reader) if isinstance(item, list) else (item.title, reader.get_destination_page_number(item))
        for item in items
    ]


@pytest.mark.slow
@pytest.mark.browser
def test_the_printed_book_has_its_chapters_page_numbers_outline_and_links(book: Built) -> None:
    to = book.source / "_build" / "book.pdf"
    assert printing.pdf(book.source, book.html, to) > 5
    pdf = PdfReader(to)
    texts = [unicodedata.normalize("NFKC", page.extract_text()) for page in pdf.pages]  # without ligatures
    assert [text.split()[0] for text in texts] == [str(number + 1) for number in range(len(texts))]

    def page_of(words: str) -> int:
        (found,) = [number for number, text in enumerate(texts) if words in text]
        return found

    report, more, below = (page_of(words) for words in ("A number: 42", "The first words", "Below it all"))
    assert outline(pdf.outline, pdf) == [
        ("A small book", 0),
        ("What was found", report),
        [("1. A report", report)],
        ("For work", more),
        [("2. More", more), ("Below", below)],
    ]
    assert 0 < report < more < page_of("Some more text") < below
    lines = [line.strip() for text in texts for line in text.splitlines()]
    assert [lines.count(title) for title in ("A small book", "A report", "More", "Below")] == [1, 1, 1, 1]
    assert sum(len(page.images) for page in pdf.pages) == 1
    assert page_of("An answer that was folded")  # nobody can open it on paper
    assert "secret_code" not in "".join(texts) and "Show code" not in "".join(texts)

    number = {page.indirect_reference.idnum: at for at, page in enumerate(pdf.pages)}
    led, far = [], []
    for note in (note.get_object() for page in pdf.pages for note in page.get("/Annots", ())):
        address = note.get("/A", {}).get("/URI")
        (far if address else led).append(address or number[note["/Dest"][0].indirect_reference.idnum])
    assert far == [OTHERS]  # and nothing of this machine's files
    # From its own chapter, and from the two others.
    assert led.count(page_of("Some more text")) == 1 and led.count(more) == 2


@pytest.mark.slow
@pytest.mark.browser
def test_a_row_of_the_scoreboard_has_an_address_and_is_marked_there(book: Built) -> None:
    with browser() as window:
        window.open((book.html / "executed" / "report.html").as_uri() + "#verdict-soft-c02")
        told = window.evaluate(
            """[...document.querySelectorAll("table.findable tbody tr")]
            .map(row => [getComputedStyle(row).outlineStyle, row.querySelector("a").getAttribute("href")])"""
        )
    assert told == [["none", "#verdict-soft-c01"], ["solid", "#verdict-soft-c02"]]


def test_what_is_of_use_on_a_screen_alone_is_not_printed(tmp_path: Path) -> None:
    listed = ["more", "api/index", "executed/status", "executed/own_text_model", "executed/soft", "executed/nowhere"]
    toc = {"root": "intro", "parts": [{"caption": "One", "chapters": [{"file": name} for name in listed]}]}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc))
    for name in listed[2:5]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.ipynb").touch()
    assert printing.chapters(tmp_path) == [("", "intro"), ("One", "more"), ("One", "executed/soft")]


@pytest.mark.browser
def test_a_page_that_is_not_there_and_a_browser_without_page_numbers_are_named(
    book: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = r"intro\.html is in the table of contents and not in the book"
    refused(DataError, told, printing.pdf, book.source, book.source / "nowhere", book.source / "none.pdf")
    monkeypatch.setattr(printing, "_FIRST_WITH_NUMBERS", 10_000)
    told = "prints no page numbers: install 10000 or newer"
    refused(DataError, told, printing.pdf, book.source, book.html, book.source / "none.pdf")
