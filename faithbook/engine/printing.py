"""The book on paper and in a bag: one PDF of all pages, and an archive of them for a room without a network.

The PDF is printed by a headless Chromium, page by page in the order of the table of contents; pypdf joins what came,
adds the outline by part and chapter and turns links between pages of the book into links inside the document. A sheet
with nothing but the page number, printed likewise, is laid over every page.
"""

from __future__ import annotations

import html as markup
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import yaml
from tqdm.auto import tqdm

from faithbook.engine.chromium import browser
from faithbook.engine.links import broken
from faithlib.errors import DataError

if TYPE_CHECKING:
    from pypdf import PdfReader, PdfWriter

NAME = "faithfulness-book"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time an archive can say: the same pages make the same archive

# What a screen scrolls sideways must fit a sheet: small type, and words that break where they have to. Figures and rows
# stay whole. Answers and tables that are folded on the screen are opened by the page itself (`beforeprint`); code that
# is folded there, and what there is to download, stays with the pages.
_ON_PAPER = """(() => {
  const style = document.createElement("style");
  style.textContent = `
    .bd-header, .bd-sidebar, .bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer,
    .bd-footer-content, .find, button.toggle-button, button.copybtn, .headerlink, #jb-print-toc, .exhibit-line,
    .cell_input, details.above-input { display: none !important; }
    .bd-main, .bd-content, .bd-article-container, .bd-article { max-width: none !important; padding: 0 !important; }
    .pst-scrollable-table-container, .cell_output, .output {
      overflow: visible !important; max-height: none !important; }
    table { font-size: 8pt !important; } td, th { overflow-wrap: anywhere; padding: 2px 4px !important; }
    table.findable { font-size: 6.5pt !important; }
    img { max-width: 100% !important; height: auto !important; } pre { white-space: pre-wrap !important; }
    figure, img, tr { break-inside: avoid; } h1, h2, h3, h4 { break-after: avoid; }`;
  document.head.append(style);
  document.querySelectorAll("details:not(.above-input)").forEach(one => { one.open = true; });
  document.querySelectorAll("img").forEach(image => { image.loading = "eager"; });
  return Promise.all([...document.images].map(image => image.decode().catch(() => {}))).then(() => true);
})()"""


@dataclass(frozen=True)
class Chapter:
    """A page of the book: its part ("" before the first), its document, its title, and whether it is below another."""

    part: str
    document: str
    title: str
    below: bool = False


def chapters(source: Path, html: Path) -> list[Chapter]:
    """The pages of a book in the order of its table of contents, by the titles that the built pages have."""
    toc = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))
    return [
        Chapter(part, document, _title(html / f"{document}.html"), below) for part, document, below in _entries(toc)
    ]


def _entries(toc: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    yield "", toc["root"], False
    for part in toc.get("parts", [toc]):
        for chapter in part.get("chapters", []):
            yield part.get("caption", ""), chapter["file"], False
            for section in chapter.get("sections", []):
                yield part.get("caption", ""), section["file"], True


def _title(page: Path) -> str:
    if not page.is_file():
        raise DataError(f"{page} is in the table of contents and not in the book: build it again, `make book`")
    text = page.read_text(encoding="utf-8")
    head = text.partition("<title>")[2].partition("</title>")[0]
    return markup.unescape(head).partition(" \N{EM DASH} ")[0].strip()


# --- the PDF ---------------------------------------------------------------------------------------------------------


def pdf(source: Path, html: Path, to: Path) -> int:
    """Write a built book as one PDF; returns its number of pages.

    `source`: the folder with `_toc.yml`; `html`: the built pages. DataError without Chromium, or for a page that is
    not there.
    """
    from pypdf import PdfReader, PdfWriter

    book = chapters(source, html)
    writer, starts, anchors = PdfWriter(), [], []
    with browser() as window:
        for chapter in tqdm(book, unit="page", delay=3, leave=False, disable=None):
            window.open((html / f"{chapter.document}.html").resolve().as_uri(), width=1000)
            window.evaluate(_ON_PAPER)
            reader = PdfReader(io.BytesIO(window.print()))
            starts.append(len(writer.pages))
            anchors.append(_anchors(reader))
            for page in reader.pages:
                writer.add_page(page)
        window.open("about:blank")
        window.evaluate(f"document.documentElement.innerHTML = {_sheets(len(writer.pages))!r}, true")
        sheets = PdfReader(io.BytesIO(window.print()))
    if len(sheets.pages) != len(writer.pages):
        raise DataError(
            f"{len(writer.pages)} pages, but numbers for {len(sheets.pages)}: Chromium broke a sheet in two"
        )
    for page, sheet in zip(writer.pages, sheets.pages, strict=True):
        page.merge_page(sheet)
        page.compress_content_streams()  # laying one over the other has unpacked both: a quarter of the size
    _link(writer, html, book, starts, anchors)
    _outline(writer, book, starts)
    writer.add_metadata({"/Title": book[0].title})
    writer.compress_identical_objects()
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(f"{to.name}.part")
    writer.write(part)
    part.replace(to)
    return len(writer.pages)


def _sheets(number: int) -> str:
    """Sheets with nothing but their number, for A4 at the margins and the scale of `Browser.print`."""
    foot = "position: absolute; bottom: 0; width: 100%; text-align: center; font: 13px sans-serif; color: #555"
    sheet = "position: relative; height: 1200px; break-after: page; break-inside: avoid"
    pages = "".join(f'<div style="{sheet}"><div style="{foot}">{one}</div></div>' for one in range(1, number + 1))
    return f'<body style="margin: 0">{pages}</body>'


Place = tuple[int, float, float]  # page, left, top


def _anchors(reader: PdfReader) -> dict[str, Place]:
    """Where the named places of one printed page are; only those that the page itself links to have names."""
    found = {}
    for name, place in reader.named_destinations.items():
        page = reader.get_destination_page_number(place)
        if page is not None:
            found[name.lstrip("/")] = (page, float(place.left or 0), float(place.top or 0))
    return found


def _link(
    writer: PdfWriter, html: Path, book: Sequence[Chapter], starts: Sequence[int], anchors: Sequence[dict[str, Place]]
) -> None:
    """Links inside a page and between pages lead to places of the document; those to other files of the book go."""
    chapter_of = {(html / f"{one.document}.html").resolve(): number for number, one in enumerate(book)}
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(writer.pages)
        for page in list(writer.pages)[start:end]:
            kept = []
            for reference in page.get("/Annots", ()):
                note = reference.get_object()
                place = _target(note, number, chapter_of, starts, anchors)
                if place == "outside":
                    kept.append(reference)
                elif isinstance(place, tuple):
                    _point(writer, note, place)
                    kept.append(reference)
            _put(page, kept)


def _target(
    note: Any,
    number: int,
    chapter_of: Mapping[Path, int],
    starts: Sequence[int],
    anchors: Sequence[Mapping[str, Place]],
) -> Place | str | None:
    """Where a link of chapter `number` leads: a place, "outside" of the book, or None, nowhere in the document."""
    name = note.get("/Dest")
    if name is not None:
        anchor, where = str(name).lstrip("/"), number
    else:
        address = str(note.get("/A", {}).get("/URI", ""))
        parts = urlsplit(address)
        if parts.scheme != "file":
            return "outside"
        path = Path(unquote(parts.path)).resolve()
        if path not in chapter_of:
            return None
        anchor, where = unquote(parts.fragment), chapter_of[path]
    page, left, top = anchors[where].get(anchor, (0, 0.0, 842.0))
    return starts[where] + page, left, top


def _point(writer: PdfWriter, note: Any, place: Place) -> None:
    from pypdf.generic import ArrayObject, FloatObject, NameObject, NullObject

    page, left, top = place
    target = writer.pages[page].indirect_reference
    note.pop("/A", None)
    note[NameObject("/Dest")] = ArrayObject(
        [target, NameObject("/XYZ"), FloatObject(left), FloatObject(top), NullObject()]
    )


def _put(page: Any, notes: Sequence[Any]) -> None:
    from pypdf.generic import ArrayObject, NameObject

    if notes:
        page[NameObject("/Annots")] = ArrayObject(notes)
    else:
        page.pop("/Annots", None)


def _outline(writer: PdfWriter, book: Sequence[Chapter], starts: Sequence[int]) -> None:
    """Parts, in them chapters, in these the pages below them."""
    part, above, chapter = "", None, None
    for one, start in zip(book, starts, strict=True):
        if one.part != part:
            part, above = one.part, writer.add_outline_item(title=one.part, page_number=start, bold=True, is_open=False)
        added = writer.add_outline_item(
            title=one.title, page_number=start, parent=chapter if one.below else above, is_open=False
        )
        chapter = chapter if one.below else added


# --- the archive -----------------------------------------------------------------------------------------------------


def archive(html: Path, to: Path) -> int:
    """Write the built pages as a zip to open from disk; returns its number of files.

    DataError where a page of it would lead to a file that is not in it.
    """
    if lost := broken(html):
        told = "; ".join(f"{page}: {link}" for page, link in lost[:8])
        raise DataError(f"{len(lost)} links of the book lead nowhere: {told}")
    files = sorted(
        path for path in html.rglob("*") if path.is_file() and path.name not in (".buildinfo", "objects.inv")
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(f"{to.name}.part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bag:
        for path in files:
            info = zipfile.ZipInfo(f"{NAME}/{path.relative_to(html).as_posix()}", _EPOCH)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            bag.writestr(info, path.read_bytes())
    part.replace(to)
    return len(files)
