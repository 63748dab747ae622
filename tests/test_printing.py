"""The book as one PDF."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
import yaml
from browser import browser
from pypdf import PdfReader
from small_book import OTHERS, Built, built

from faithbook.engine import printing
from faithlib.errors import DataError


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def pdf(book: Built) -> PdfReader:
    to = book.source / "_build" / "book.pdf"
    assert printing.pdf(book.source, book.html, to) > 5
    return PdfReader(to)


def outline(items: list, reader: object) -> list:
    """Titles with the page each leads to, nested as they are."""
    return [
        outline(one, reader) if isinstance(one, list) else (one.title, reader.get_destination_page_number(one))
        for one in items
    ]


def text_of(page: object) -> str:
    """The words of a printed page, without ligatures."""
    return unicodedata.normalize("NFKC", page.extract_text())


def page_of(reader: object, words: str) -> int:
    (found,) = [number for number, page in enumerate(reader.pages) if words in text_of(page)]
    return found


@pytest.mark.slow
@pytest.mark.browser
def test_the_printed_book_has_an_outline_by_part_and_chapter(pdf: PdfReader) -> None:
    report, more, below = (page_of(pdf, words) for words in ("A number: 42", "The first words", "Below it all"))
    assert outline(pdf.outline, pdf) == [
        ("A small book", 0),
        ("What was found", report),
        [("1. A report", report)],
        ("For work", more),
        [("2. More", more), ("Below", below)],
    ]
    assert 0 < report < more < below - 1


@pytest.mark.slow
@pytest.mark.browser
def test_every_printed_page_has_its_number_and_every_chapter_its_title_once(pdf: PdfReader) -> None:
    texts = [text_of(page) for page in pdf.pages]
    for number, text in enumerate(texts, 1):
        assert text.split()[0] == str(number), number
    lines = [line.strip() for text in texts for line in text.splitlines()]
    assert [lines.count(title) for title in ("A small book", "A report", "More", "Below")] == [1, 1, 1, 1]
    assert sum(len(page.images) for page in pdf.pages) == 1
    words = "\n".join(texts)
    assert "An answer that was folded" in words  # nobody can open it on paper
    assert "secret_code" not in words and "Show code" not in words


@pytest.mark.slow
@pytest.mark.browser
def test_printed_links_lead_to_places_of_the_document(pdf: PdfReader) -> None:
    number = {page.indirect_reference.idnum: at for at, page in enumerate(pdf.pages)}
    led, far = [], []
    for page in pdf.pages:
        for note in page.get("/Annots", ()):
            note = note.get_object()
            address = note.get("/A", {}).get("/URI")
            (far if address else led).append(address or number[note["/Dest"][0].indirect_reference.idnum])
    assert far == [OTHERS]  # and nothing of this machine's files
    place, chapter = page_of(pdf, "Some more text"), page_of(pdf, "The first words")
    assert place > chapter
    assert led.count(place) == 1 and led.count(chapter) == 2  # from its own chapter, and from the two others


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
    with pytest.raises(DataError, match=r"intro\.html is in the table of contents and not in the book"):
        printing.pdf(book.source, book.source / "nowhere", book.source / "none.pdf")
    monkeypatch.setattr(printing, "_FIRST_WITH_NUMBERS", 10_000)
    with pytest.raises(DataError, match="prints no page numbers: install 10000 or newer"):
        printing.pdf(book.source, book.html, book.source / "none.pdf")
