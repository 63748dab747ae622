"""The book on paper: a headless Chromium prints each chapter, and pypdf joins them into one file with an outline.

Left out are pages that are of use on a screen alone (`ON_SCREEN`) and tables in boxes that are closed on the screen:
the pages have them, and their files.
"""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

import yaml
from tqdm.auto import tqdm

from faithbook.engine.pages import contents
from faithlib.errors import DataError

if TYPE_CHECKING:
    from playwright.sync_api import Page, PdfMargins
    from pypdf import PdfReader, PdfWriter

NAME = "faithfulness-book.pdf"
ON_SCREEN = ("api/", "executed/play", "executed/status", "executed/own_")
"""How the documents begin that are not printed."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_NO_NETWORK = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND")
_FIRST_WITH_NUMBERS = 131  # the version of Chromium that first prints what `@page` has at the foot

# What a screen scrolls sideways must fit a sheet: small type, and words that break where they have to. Figures and rows
# stay whole. Answers that are folded on the screen are opened.
_ON_PAPER = """(pages => {
  const style = document.createElement("style");
  style.textContent = `
    @page { @bottom-center { content: counter(page); font: 9px sans-serif; color: #555; } }
    html { counter-reset: page ${pages}; }
    .bd-header, .bd-sidebar, .bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer,
    .bd-footer-content, .find, button.toggle-button, button.copybtn, .headerlink, #jb-print-toc, .exhibit-line,
    .cell_input, details.above-input, .dropdown:has(table) { display: none !important; }
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
})"""  # given the number of pages before the first
# Mathematics is set after loading; a page without any has no MathJax.
_WHEN_SET = """Promise.all([document.fonts.ready, window.MathJax && MathJax.startup ? MathJax.startup.promise : true])
  .then(() => true)"""


def chromium() -> str | None:
    """The path of an installed Chromium, if there is one."""
    for name in _NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


@contextlib.contextmanager
def window() -> Iterator[Page]:
    """A page of a headless Chromium of its own, which reaches no network; DataError where none is installed."""
    from playwright.sync_api import sync_playwright

    program = chromium()
    if program is None:
        raise DataError(f"no Chromium on this machine (looked for {', '.join(_NAMES)}): apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_NO_NETWORK)
        try:
            yield browser.new_page()
        finally:
            browser.close()


def show(page: Page, address: str) -> None:
    """Load an address and wait until its mathematics and fonts are set."""
    page.goto(address)
    page.evaluate(_WHEN_SET)


def pdf(source: Path, html: Path, to: Path) -> int:
    """Write a built book as one PDF; returns its number of pages.

    `source`: the folder with `_toc.yml` and the executed pages; `html`: the built pages. DataError without Chromium or
    with an old one, and for a page that is not there.
    """
    from pypdf import PdfReader, PdfWriter

    writer, part, above, starts = PdfWriter(), "", None, {}
    margin: PdfMargins = {"top": "0.6in", "bottom": "0.75in", "left": "0.6in", "right": "0.6in"}
    with window() as page:
        version = page.context.browser.version if page.context.browser else ""
        if int(version.partition(".")[0]) < _FIRST_WITH_NUMBERS:
            raise DataError(f"Chromium {version} prints no page numbers: install {_FIRST_WITH_NUMBERS} or newer")
        page.set_viewport_size({"width": 1000, "height": 900})
        for caption, document in tqdm(chapters(source), unit="page", delay=3, leave=False, disable=None):
            file = html / f"{document}.html"
            if not file.is_file():
                raise DataError(f"{file} is in the table of contents and not in the book: build it again, `make book`")
            show(page, file.resolve().as_uri())
            start = len(writer.pages)
            page.evaluate(_ON_PAPER, start)
            sheets = page.pdf(format="A4", scale=0.8, print_background=True, margin=margin)
            printed = PdfReader(io.BytesIO(sheets))
            starts[file.resolve().as_uri()] = start
            _name_places(printed)
            writer.append(printed, import_outline=False)
            if caption != part:
                part = caption
                above = writer.add_outline_item(title=caption, page_number=start, bold=True, is_open=False)
            title = page.title().partition(" \N{EM DASH} ")[0].strip()
            writer.add_outline_item(title=title, page_number=start, parent=above)
    _link_chapters(writer, starts)
    writer.compress_identical_objects()
    part_file = to.with_name(f"{to.name}.part")
    writer.write(part_file)
    part_file.replace(to)
    return len(writer.pages)


def chapters(source: Path) -> list[tuple[str, str]]:
    """The documents that are printed, in the order of the table of contents, each with the caption of its part."""
    toc = yaml.safe_load(contents(source))
    listed = [("", toc["root"])]
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            listed += [(part["caption"], page["file"]) for page in (chapter, *chapter.get("sections", ()))]
    return [(caption, document) for caption, document in listed if not document.startswith(ON_SCREEN)]


def _name_places(printed: PdfReader) -> None:
    """Links inside a chapter lead to its places and no longer to names, which another chapter may have as well."""
    from pypdf.generic import NameObject

    places = printed.named_destinations
    for page in printed.pages:
        for reference in page.get("/Annots", ()):
            link = reference.get_object()
            place = places.get(str(link.get("/Dest")))
            if place is not None:
                link[NameObject("/Dest")] = place.dest_array


def _link_chapters(writer: PdfWriter, starts: dict[str, int]) -> None:
    """Links to another printed chapter lead to its first page; those to other files of the book go."""
    from pypdf.generic import ArrayObject, NameObject

    for page in writer.pages:
        links = ArrayObject()
        for reference in page.get("/Annots", ()):
            link = reference.get_object()
            address = urldefrag(str(link.get("/A", {}).get("/URI", ""))).url
            if address in starts:
                del link["/A"]
                target = writer.pages[starts[address]].indirect_reference
                link[NameObject("/Dest")] = ArrayObject([target, NameObject("/Fit")])
            if address in starts or not address.startswith("file:"):
                links.append(reference)
        page[NameObject("/Annots")] = links
