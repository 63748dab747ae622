"""The course's slides as presentations: full screen, keyboard, speaker view and print, by reveal.js and from disk.

A page of slides is written once, in MyST, and is a page of the book too. Each heading begins a slide, and a folded box
"Speaker notes" holds what the teacher says. `write_slides` makes `NAME.html` of each and puts reveal.js beside them. It
comes from a package of the registry (`data/sources.toml`, `reveal`), so that nothing is asked of the network later.
"""

from __future__ import annotations

import html
import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from faithbook.sources.files import fetch
from faithlib.errors import DataError

SOURCE = "reveal"
PLACE = Path("_static", "slides")
"""Where presentations are among the built pages; `_static` is two folders below the root for relative links."""
_IN_WHEEL = "sphinx_revealjs/_static/revealjs/"
_USED = (
    "LICENSE",
    "dist/reset.css",
    "dist/reveal.css",
    "dist/reveal.js",
    "dist/theme/white-contrast.css",
    "plugin/notes/notes.js",
)
_NOTES = re.compile(r"^:::\{dropdown\} Speaker notes\n(.*?)^:::\n?", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"^```\{image\} (\S+)\n:alt: (.+)\n```$", re.MULTILINE)
_LINK = re.compile(r"\{(?:doc|ref)\}`([^`<]+) <([^`>]+)>`")
_SELF = re.compile(r'^<a class="full-screen".*\n?', re.MULTILINE)
_FONTS = re.compile(rb"@import url\([^)]*\);")
_TERM = re.compile(r"\{term\}`([^`<]+?)(?: <[^`>]+>)?`")
_ROLE = re.compile(r"\{[a-z:]+\}`[^`]*`|^(?::::|```)\{[^\n]*", re.MULTILINE)

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="reveal/dist/reset.css">
<link rel="stylesheet" href="reveal/dist/reveal.css">
<link rel="stylesheet" href="reveal/dist/theme/white-contrast.css">
<style>
.reveal {{ font: 26px/1.4 "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
.reveal h1, .reveal h2 {{ font: 600 1.7em/1.2 inherit; text-transform: none; letter-spacing: 0; }}
.reveal h2 {{ font-size: 1.4em; }}
.reveal .slides section {{ text-align: left; }}
.reveal section img {{ display: block; margin: .6em auto; max-width: 100%; max-height: 430px; background: #fff; }}
.reveal pre {{ width: 100%; box-shadow: none; font-size: .62em; line-height: 1.35; }}
.reveal pre code {{ max-height: none; padding: .6em; background: #f4f4f4; }}
.reveal table {{ font-size: .78em; margin: .6em 0; }}
.reveal .keys {{ font-size: .7em; color: #444; }}
</style>
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script src="reveal/dist/reveal.js"></script>
<script src="reveal/plugin/notes/notes.js"></script>
<script>
Reveal.initialize({{
  width: 1120, height: 700, hash: true, slideNumber: "c/t", transition: "none", pdfSeparateFragments: false,
  plugins: [RevealNotes],
}});
</script>
</body>
</html>
"""
_KEYS = (
    '<p class="keys">Arrows or space: next slide. F: full screen. S: speaker view with notes and clock. O: overview. '
    'Print: open <a href="?print-pdf">this address</a> and print it.</p>'
)


class Slide(NamedTuple):
    """One slide: its title, what it shows and what the teacher says, in Markdown."""

    title: str
    body: str
    notes: str


def slides_of(text: str) -> tuple[Slide, list[Slide]]:
    """The title slide of a page of slides, and the others.

    >>> first, others = slides_of("# A talk\\n\\nFor you.\\n\\n## A claim\\n\\nIts reason.\\n")
    >>> first.title, [slide.title for slide in others]
    ('A talk', ['A claim'])
    """
    parts = re.split(r"^#{1,2} (.+)\n", text, flags=re.MULTILINE)
    slides = []
    for title, content in zip(parts[1::2], parts[2::2], strict=True):
        notes = "\n".join(_NOTES.findall(content))
        slides.append(Slide(title.strip(), _NOTES.sub("", content).strip(), notes.strip()))
    if not slides:
        raise DataError("a page of slides begins with its title, a heading")
    return slides[0], slides[1:]


def _plain(text: str, folder: str) -> str:
    """MyST of a page in `folder` as Markdown of a presentation; DataError where a role or directive is left."""
    text = _SELF.sub("", text)
    text = _IMAGE.sub(lambda found: _image(found[1], found[2]), text)
    text = _LINK.sub(lambda found: f'<a href="{_address(found[2], folder)}">{found[1]}</a>', text)
    text = _TERM.sub(r"\1", text)
    left = _ROLE.search(text)
    if left is not None:
        raise DataError(f"slides cannot show {left[0]!r}: write a link as {{doc}}`words <page>`, or leave it out")
    return text


def _image(path: str, alt: str) -> str:
    """An image of the book's `_static` folder, seen from the presentation beside it."""
    return f'<img src="../{path.rpartition("_static/")[2]}" alt="{html.escape(alt)}">'


def _address(document: str, folder: str) -> str:
    """A page of the book, named from a page in `folder`, seen from a presentation."""
    named = document.removeprefix("../") if document.startswith("../") else f"{folder}/{document}"
    return f"../../{named}.html"


def presentation(text: str, folder: str = "course") -> str:
    """A page of slides as one HTML page."""
    from markdown_it import MarkdownIt

    render = MarkdownIt("commonmark", {"html": True}).enable("table").render
    title, slides = slides_of(text)
    sections = []
    for number, slide in enumerate([title, *slides]):
        level = 2 if number else 1
        lines = [f"<h{level}>{html.escape(slide.title)}</h{level}>", render(_plain(slide.body, folder))]
        if not number:
            lines.append(_KEYS)
        if slide.notes:
            lines.append(f'<aside class="notes">{render(_plain(slide.notes, folder))}</aside>')
        sections.append("<section>\n" + "\n".join(lines) + "\n</section>")
    return _PAGE.format(title=html.escape(title.title), slides="\n".join(sections))


def pages_of_slides(source: Path) -> list[Path]:
    """The pages of slides of a book; the archive of reveal.js is fetched where there are any, or a DataError raised."""
    found = sorted((source / "course").glob("slides*.md"))
    if found:
        fetch(SOURCE)
    return found


def write_slides(source: Path, pages: Path) -> list[Path]:
    """Presentations of all pages of slides below `source / "course"`, into the built pages; returns their files."""
    texts = pages_of_slides(source)
    if not texts:
        return []
    folder = pages / PLACE
    with zipfile.ZipFile(fetch(SOURCE)) as archive:
        for name in _USED:
            target = folder / "reveal" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_FONTS.sub(b"", archive.read(_IN_WHEEL + name)))  # the machine's own fonts
    made = []
    for path in texts:
        made.append(folder / f"{path.stem}.html")
        made[-1].write_text(presentation(path.read_text(encoding="utf-8")), encoding="utf-8")
    return made
