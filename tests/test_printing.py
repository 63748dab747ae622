"""The book as one PDF and as an archive, and where its links lead."""

from __future__ import annotations

import http.server
import threading
import unicodedata
import zipfile
from pathlib import Path

import pytest
from small_book import OTHERS, Built, built

from faithbook import __main__
from faithbook.engine import links, printing
from faithbook.engine.chromium import browser
from faithlib.errors import DataError


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def pdf(book: Built) -> Path:
    to = book.source / "_build" / "book.pdf"
    assert printing.pdf(book.source, book.html, to) > 5
    return to


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
def test_the_printed_book_has_an_outline_by_part_and_chapter(pdf: Path) -> None:
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    report, more, below = (page_of(reader, words) for words in ("A number: 42", "The first words", "Below it all"))
    assert outline(reader.outline, reader) == [
        ("A small book", 0),
        ("What was found", report),
        [("1. A report", report)],
        ("For work", more),
        [("2. More", more), [("Below", below)]],
    ]
    assert 0 < report < more < below - 1
    assert reader.metadata.title == "A small book"


@pytest.mark.slow
@pytest.mark.browser
def test_every_printed_page_has_its_number_and_every_chapter_its_title_once(pdf: Path) -> None:
    from pypdf import PdfReader

    texts = [text_of(page) for page in PdfReader(pdf).pages]
    for number, text in enumerate(texts, 1):
        assert text.split()[-1] == str(number), number
    lines = [line.strip() for text in texts for line in text.splitlines()]
    assert [lines.count(title) for title in ("A small book", "A report", "More", "Below")] == [1, 1, 1, 1]
    words = "\n".join(texts)
    assert "An answer that was folded" in words  # nobody can open it on paper
    assert "secret_code" not in words and "Show code" not in words


@pytest.mark.slow
@pytest.mark.browser
def test_printed_figures_are_there(pdf: Path) -> None:
    from pypdf import PdfReader

    printed = PdfReader(pdf).pages
    assert sum(len(page.images) for page in printed) == 1
    assert all(page["/Contents"].get_object()["/Filter"] == "/FlateDecode" for page in printed)


@pytest.mark.slow
@pytest.mark.browser
def test_printed_links_lead_to_places_of_the_document(pdf: Path) -> None:
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    number = {page.indirect_reference.idnum: at for at, page in enumerate(reader.pages)}
    led, far = [], []
    for page in reader.pages:
        for note in page.get("/Annots", ()):
            note = note.get_object()
            address = note.get("/A", {}).get("/URI")
            (far if address else led).append(address or number[note["/Dest"][0].idnum])
    assert far == [OTHERS]  # and nothing of this machine's files
    place = page_of(reader, "Some more text")
    assert place > page_of(reader, "The first words")
    assert led.count(place) == 2  # from its own chapter and from another


@pytest.mark.slow
def test_the_archive_opens_from_disk_alone(book: Built, tmp_path: Path) -> None:
    """Every link and everything that a page loads is inside, and nothing comes from elsewhere."""
    files = printing.archive(book.html, tmp_path / "a.zip")
    printing.archive(book.html, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as bag:
        assert len(bag.namelist()) == files > 20
        bag.extractall(tmp_path / "room")
    (folder,) = (tmp_path / "room").iterdir()
    assert (folder / "index.html").is_file()
    assert not links.broken(folder)
    loads = [link for read in links.pages(folder).values() for link in read.loads]
    assert loads and not [link for link in loads if link.startswith(("http:", "https:", "//"))]


@pytest.mark.slow
def test_an_archive_with_a_link_to_nowhere_is_refused(book: Built, tmp_path: Path) -> None:
    printing.archive(book.html, tmp_path / "whole.zip")
    with zipfile.ZipFile(tmp_path / "whole.zip") as bag:
        bag.extractall(tmp_path)
    (tmp_path / printing.NAME / "below.html").unlink()
    with pytest.raises(DataError, match=r"links of the book lead nowhere: .*below\.html"):
        printing.archive(tmp_path / printing.NAME, tmp_path / "less.zip")
    assert not (tmp_path / "less.zip").exists()


def pages(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(f"<html><body>{text}</body></html>")
    return folder


def test_a_link_to_a_missing_file_or_place_is_found(tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.txt"
    outside.write_text("beside the book")
    folder = pages(
        tmp_path,
        a='<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a><a href="#me" id="me">4</a>',
        b='<p id="here"><img src="picture.png"><a href="../outside.txt">5</a><a href="mailto:a@b.example">6</a></p>',
    )
    assert links.broken(folder) == [
        ("a.html", "b.html#gone"),
        ("a.html", "c.html"),
        ("b.html", "picture.png"),
        ("b.html", "../outside.txt"),
    ]


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response({"/there": 200, "/shy": 403}.get(self.path, 404))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def test_addresses_that_do_not_answer_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{server.server_port}"
    try:
        told = "".join(f'<a href="{at}/{name}">{name}</a>' for name in ("there", "shy", "gone", "gone#place"))
        folder = pages(tmp_path, a=told, b=f'<a href="{at}/gone">again</a><a href="http://127.0.0.1:1/">nobody</a>')
        assert __main__._check_links(folder) == 1
    finally:
        server.shutdown()
        server.server_close()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert f"{at}/gone: status 404 (on a.html, b.html)" in lines
    assert any(line.startswith("http://127.0.0.1:1/: ") and line.endswith("(on b.html)") for line in lines)
    assert lines[-1] == "4 addresses, 2 of them do not answer"


@pytest.mark.slow
@pytest.mark.browser
def test_a_row_of_the_scoreboard_has_an_address_and_is_marked_there(book: Built) -> None:
    (report,) = (read for page, read in links.pages(book.html).items() if page.name == "report.html")
    assert {"verdict-soft-c01", "verdict-soft-c02"} <= report.places
    with browser() as window:
        window.open((book.html / "executed" / "report.html").as_uri() + "#verdict-soft-c02")
        told = window.evaluate(
            """[...document.querySelectorAll("table.findable tbody tr")]
            .map(row => [getComputedStyle(row).outlineStyle, row.querySelector("a").getAttribute("href")])"""
        )
    assert told == [["none", "#verdict-soft-c01"], ["solid", "#verdict-soft-c02"]]
