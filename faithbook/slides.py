"""Slides of the course's sessions, from the pages of the sessions: one file each that needs no network.

A session's page (`book/course/session1.md`) has a table of minutes, questions with folded answers and a list of
mistakes; each row, question and mistake becomes a slide, an answer the slide below its question. reveal.js shows them,
read out of the package that `data/sources.toml` pins; without JavaScript the file is a page to read from top to bottom.
"""

from __future__ import annotations

import html as markup
import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from faithbook.paths import root
from faithbook.sources.files import fetch
from faithlib.errors import DataError

SOURCE = "reveal"
_PLACE = "sphinx_revealjs/_static/revealjs/"
_SHIPPED = ("dist/reveal.js", "dist/reveal.css", "dist/reset.css", "LICENSE")
_CSS = """:root { --back: #fff; --fore: #1a1a1a; --link: #0a5ca8; --soft: #f0f2f4; }
@media (prefers-color-scheme: dark) { :root { --back: #14181e; --fore: #eceff3; --link: #8cc4ff; --soft: #252b34; } }
body, body.reveal-viewport { background: var(--back); color: var(--fore); font: 34px/1.35 system-ui, sans-serif; }
.reveal .slides { text-align: left; }
.reveal .slides section { box-sizing: border-box; max-height: 100%; overflow-y: auto; padding: 0 .5em; }
h1, h2 { line-height: 1.15; margin: 0 0 .6em; } h1 { font-size: 1.9em; } h2 { font-size: 1.25em; }
p, ul, ol, table, pre { margin: 0 0 .7em; } ul, ol { padding-left: 1.2em; } li { margin-bottom: .35em; }
ol { list-style: decimal; } ul { list-style: disc; } em { font-style: italic; } strong { font-weight: 700; }
a { color: var(--link); text-decoration: underline; } a:focus-visible { outline: 3px solid var(--link); }
.when { font-size: .7em; opacity: .8; } .how { font-size: .8em; } .answer { font-size: .82em; }
code { font-family: ui-monospace, monospace; font-size: .88em; background: var(--soft); padding: 0 .2em; }
pre { background: var(--soft); padding: .6em; font-size: .5em; line-height: 1.4; overflow-x: auto; }
pre code { font-size: 1em; background: none; padding: 0; }
.reveal .controls { color: var(--link); } .reveal .progress { color: var(--link); }
.plain .slides section { display: block; margin: 2em auto; max-width: 40em; }"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="reveal/reset.css">
<link rel="stylesheet" href="reveal/reveal.css">
<link rel="stylesheet" href="slides.css">
</head>
<body>
<div class="reveal plain"><div class="slides">
{slides}
</div></div>
<script src="reveal/reveal.js"></script>
<script>
document.querySelector(".reveal").classList.remove("plain");
Reveal.initialize({{hash: true, slideNumber: "c/t", center: false, transition: "none", width: 1200, height: 760}});
</script>
</body>
</html>
"""


def sessions(book: Path) -> list[Path]:
    """The pages of the sessions below the folder of a book's sources."""
    return sorted((book / "course").glob("session*.md"))


def write(book: Path, to: Path, pages: str) -> list[Path]:
    """Slides of every session into a folder, with what shows them; returns the files.

    `pages`: where the book's pages are, as seen from that folder ("../..": two folders up). Raises DataError where
    reveal.js cannot be had.
    """
    found = sessions(book)
    if not found:
        return []
    (to / "reveal").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(fetch(SOURCE)) as package:
        for name in _SHIPPED:
            (to / "reveal" / Path(name).name).write_bytes(package.read(_PLACE + name))
    (to / "slides.css").write_text(f"{_CSS}\n", encoding="utf-8")
    made = []
    for source in found:
        path = to / f"{source.stem}.html"
        path.write_text(deck(source, book, pages), encoding="utf-8")
        made.append(path)
    return made


def deck(source: Path, book: Path, pages: str) -> str:
    """The slides of one session as a page."""
    text = source.read_text(encoding="utf-8")
    title = _title(text, source)
    told = [f"<section>\n<h1>{markup.escape(title)}</h1>\n{_keys(source.stem, pages)}</section>"]
    told += [_Slides(book, pages).section(name, body) for name, body in _parts(text)]
    return _PAGE.format(title=markup.escape(title), slides="\n".join(told))


def _keys(name: str, pages: str) -> str:
    page = f"{pages}/course/{name}.html"
    return f'<p class="how">Space or arrows: on. Esc: all slides. The <a href="{page}">page of this session</a>.</p>\n'


def _title(text: str, source: Path) -> str:
    found = re.search(r"^# (.*)$", text, flags=re.MULTILINE)
    if found is None:
        raise DataError(f"{source} has no title: its first heading names the session")
    return found[1]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a page by their headings."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        yield name.strip(), body.strip()


class _Slides:
    """Sections of a session's page as slides, their links leading to the book's pages."""

    def __init__(self, book: Path, pages: str) -> None:
        self._book, self._pages = book, pages
        self._markdown = MarkdownIt("commonmark").enable("table")

    def section(self, name: str, body: str) -> str:
        """A section as slides: by its own form where it has one, else as one."""
        form = {
            "Minutes": self._minutes,
            "Questions with model answers": self._questions,
            "Common mistakes": self._each,
        }
        return form.get(name, self._whole)(name, body)

    def _whole(self, name: str, body: str) -> str:
        return f"<section>\n<h2>{name}</h2>\n{self._html(body)}</section>"

    def _minutes(self, name: str, body: str) -> str:
        """A slide for each row of the table: when, what, how."""
        rows = [
            [cell.strip() for cell in row.strip("|").split(" | ")] for row in re.findall(r"^\| ?\d+ \|.*$", body, re.M)
        ]
        ends = [int(row[0]) for row in rows[1:]] + [90]
        slides = [
            f'<section>\n<p class="when">minutes {row[0]} to {end}</p>\n<div>{self._html(row[1])}</div>\n'
            f'<div class="how">{self._html(row[2].rstrip("| "))}</div>\n</section>'
            for row, end in zip(rows, ends, strict=True)
        ]
        return "\n".join(slides)

    def _questions(self, name: str, body: str) -> str:
        """A slide for each question, the answer on the slide below."""
        asked = re.findall(r"^(\*\*\d\. .*?)\n+:::\{dropdown\} Answer\n(.*?)^:::$", body, re.MULTILINE | re.DOTALL)
        return "\n".join(
            f"<section>\n<section>\n<h2>Question</h2>\n{self._html(question)}</section>\n"
            f'<section class="answer">\n<h2>Answer</h2>\n{self._html(answer)}</section>\n</section>'
            for question, answer in asked
        )

    def _each(self, name: str, body: str) -> str:
        """A slide for each item of a list."""
        items = re.split(r"^- ", body, flags=re.MULTILINE)[1:]
        return "\n".join(
            f'<section>\n<p class="when">{name}</p>\n<div>{self._html(item)}</div>\n</section>' for item in items
        )

    def _html(self, text: str) -> str:
        """Markdown with the book's roles as HTML; what is folded on the page is open here."""
        text = re.sub(r"^:::\{dropdown\} (.*)\n", r"**\1.** ", text, flags=re.MULTILINE)
        text = re.sub(r"^:::$", "", text, flags=re.MULTILINE)
        text = re.sub(r"\{(doc|term|cite:t|cite:p)\}`([^`]*)`", self._role, text)
        return str(self._markdown.render(re.sub(r"^\(.*\)=$", "", text, flags=re.MULTILINE)))

    def _role(self, found: re.Match[str]) -> str:
        kind, told = found[1], " ".join(found[2].split())
        named = re.fullmatch(r"(.*?) *<(.*)>", told)
        text, target = (named[1], named[2]) if named else ("", told)
        if kind == "term":
            return f"*{text or target}*"
        if kind.startswith("cite"):
            return ", ".join(self._cited(key) for key in target.split(","))
        page = posixpath.normpath(posixpath.join("course", target))
        return f"[{text or self._named(page)}]({self._pages}/{page}.html)"

    def _named(self, page: str) -> str:
        """The title of a page of the book."""
        prose = self._book / f"{page}.md"
        places = (root() / "notebooks" / kind / f"{Path(page).name}.py" for kind in ("report", "own"))
        source = prose if prose.is_file() else next((place for place in places if place.is_file()), None)
        if source is None:
            raise DataError(f"a session names the page {page}, which the book does not have")
        title = re.search(r"^(?:# )?# (.*)$", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
        return title[1] if title else page

    def _cited(self, key: str) -> str:
        """Authors and year of an entry of the bibliography: "DeYoung et al. (2020)"."""
        text = (self._book / "references.bib").read_text(encoding="utf-8")
        entry = re.search(rf"^@\w+\{{{re.escape(key)},(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
        if entry is None:
            raise DataError(f"a session cites {key}, which references.bib does not have")
        names, year = (re.search(rf"\b{field} = \{{(.*?)\}},\n", entry[1], re.DOTALL) for field in ("author", "year"))
        authors = [name.partition(",")[0] for name in re.split(r"\s+and\s+", names[1])] if names else [key]
        told = authors[0] if len(authors) == 1 else " & ".join(authors) if len(authors) == 2 else f"{authors[0]} et al."
        return f"{told} ({year[1]})" if year else told
