"""The smoke book: it builds without a warning, and its pages hold what a reader may expect of them, in a real browser.

`FAITHLIB_BOOK_HTML=book/_build/html` runs the page checks on a book that is there already instead.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import landing_picture
import pytest
import yaml
from browser import Browser
from PIL import Image

from faithbook.engine.pages import PAGE_KINDS, contents
from faithbook.engine.plan import plan
from faithbook.engine.studies import entry_of
from faithbook.engine.units import UNITS, checked_units, read_units
from faithbook.judge import readme
from faithbook.sources.datasets import load_dataset

ROOT = Path(__file__).resolve().parents[1]
LEFT_TO_WRITE = r"\bTODO\b|\bFIXME\b|\bXXX\b|[Ll]orem ipsum|Traceback \(most recent"
pytestmark = [pytest.mark.book, pytest.mark.slow]


class Page(HTMLParser):
    """What the checks need of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.ids: set[str] = set()
        self.headings, self.article = 0, False
        self.words: list[str] = []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids |= {value for key in ("id", "name") if (value := values.get(key))}
        self.article |= tag == "article"
        self.headings += tag == "h1" and self.article  # the theme repeats the title for printing, outside the article
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        if tag == "link" and values.get("rel") not in ("next", "prev", "index", "search", "canonical"):
            self.loads.append(values.get("href") or "")
        if tag in ("script", "img", "iframe", "source", "video", "audio", "object"):
            self.loads.append(values.get("src") or values.get("data") or "")
        if tag == "img":
            self.images.append(values)


@pytest.fixture(scope="module")
def pages(html: Path) -> dict[str, Page]:
    """Every page of the book by its path, without those that Sphinx adds."""
    skip = {"genindex.html", "search.html", "index.html", "py-modindex.html"}
    found = {str(path.relative_to(html)): path for path in sorted(html.rglob("*.html")) if "_static" not in path.parts}
    return {name: Page(path) for name, path in found.items() if name not in skip}


def test_every_entry_of_the_table_of_contents_is_a_page(html: Path, pages: dict[str, Page]) -> None:
    toc = contents(html.parents[1])
    entries = re.findall(r"(?:root|file): (\S+)", toc)
    assert len(entries) == len(set(entries)) > 10
    # The six models run at the profile `paper` alone: a page without numbers is not published.
    assert "executed/naopc_six_models" not in entries
    assert set(pages) == {f"{entry}.html" for entry in entries}
    assert yaml.safe_load(toc)["root"] in (html / "index.html").read_text(encoding="utf-8")


def test_no_sentence_of_the_first_page_and_of_the_answers_has_lost_its_decision(html: Path) -> None:
    """The committed values of single inputs bear out every sentence that a person wrote about them."""
    names = ("intro.html", "executed/taught.html", "executed/together_advice.html")
    landing, answers, advice = ((html / name).read_text(encoding="utf-8") for name in names)
    for title in ("Soft erasure did not beat plain erasure.", "No metric is safe against every error."):
        assert f"<strong>{title}</strong>" in landing
    assert "A sentence is left out" not in landing + answers and "is no longer" not in advice


def test_findings_in_the_readme_are_what_the_committed_values_say(html: Path) -> None:
    """Number by number, with sign, interval and n. Where not: `make book`, `python -m faithbook.judge.readme`."""
    built = html.parents[1] / "executed" / readme.SECTION
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "A sentence is left out" not in text
    assert readme.with_section(text, built.read_text(encoding="utf-8")) == text


def test_pages_have_one_title_nothing_left_to_write_and_images_that_say_what_they_show(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        assert page.headings == 1, name
        words = "".join(page.words)
        if name.startswith("api/"):  # examples there show errors of the library's own
            words = re.sub(r"Traceback \(most recent call last\):\s+faithlib\.errors\.", "", words)
        assert not re.search(LEFT_TO_WRITE, words), name
        for image in page.images:
            alt = (image.get("alt") or "").strip()
            assert len(alt) > 15 and not re.search(r"\.(svg|png)$", alt), (name, image)
    assert any(page.images for page in pages.values())


def test_links_lead_somewhere(html: Path, pages: dict[str, Page]) -> None:
    ids: dict[Path, set[str]] = {(html / name).resolve(): page.ids for name, page in pages.items()}
    for name, page in pages.items():
        for link in [*page.links, *page.loads]:
            path, anchor = urldefrag(link)
            if not link or urlsplit(link).scheme:
                continue
            target = ((html / name).parent / unquote(urlsplit(path).path) if path else html / name).resolve()
            assert target.exists(), (name, link)
            assert not anchor or unquote(anchor) in ids.get(target, {unquote(anchor)}), (name, link)


def test_exhibits_are_numbered_by_chapter(html: Path, pages: dict[str, Page]) -> None:
    """Figure 7.3 is the third of the seventh page; the numbers that the papers gave stand in headings."""
    chapters: dict[str, str] = {}
    for name, page in pages.items():
        numbers = re.findall(r'<span class="caption-number">(?:Figure|Table|Listing) ([\d.]+) </span>', page.text)
        if not numbers:
            continue
        assert all(re.fullmatch(r"\d+\.\d+", number) for number in numbers), (name, numbers)
        (chapter,) = {number.partition(".")[0] for number in numbers}
        assert chapters.setdefault(chapter, name) == name
        assert f'<span class="section-number">{chapter}. </span>' in page.text, name
    assert len(chapters) > 20


def test_every_computation_keeps_the_values_of_single_inputs(html: Path) -> None:
    """In the schema that the reference commits."""
    for job in plan("smoke"):
        if job.kind != "compute":
            continue
        files = sorted(job.folder.glob(f"{UNITS}*.parquet"))
        if json.loads(job.manifest.read_text(encoding="utf-8"))["notes"].get("here") is False:
            assert not files, f"{job.label}: nothing was there to compute from"
            continue
        assert files, job.label
        for file in files:
            found = read_units(file)
            assert len(checked_units(found)), file
            assert found["value"].notna().any(), file


def test_reports_say_where_they_come_from(html: Path, pages: dict[str, Page]) -> None:
    reports = {name: page for name, page in pages.items() if name.startswith("executed/")}
    assert reports
    for name, page in reports.items():
        downloads = [link for link in page.links if "_downloads/" in link]
        if "Not shown here" in page.text:  # a published book is looked at, which leaves out what is not free
            assert Path(name).stem in withheld() and not downloads, name
            continue
        assert "Provenance" in page.text, name
        assert "| papermill - " in "".join(page.words), name
        assert any(link.endswith(f"{Path(name).stem}.ipynb") for link in downloads), (name, downloads)


RUN = 8  # so many words in a row are a quotation and no turn of phrase


def withheld() -> set[str]:
    """The notebooks whose pages a published book leaves out."""
    return {job.notebook for job in plan("smoke") if job.kind in PAGE_KINDS and not entry_of(job.notebook).public}


def runs_of_words(text: str) -> set[int]:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return {hash(tuple(words[at : at + RUN])) for at in range(len(words) - RUN + 1)}


def test_only_pages_that_say_so_quote_texts_that_are_not_free(html: Path, pages: dict[str, Page]) -> None:
    """Those are left out of a published book (tests/test_publish.py); prose pages may quote none at all."""
    bound = ("movie", "bbc", "section", "pair")
    every = (load_dataset(name, split, sample="all") for name in bound for split in ("train", "dev", "test"))
    texts = [text for page in every for text in page.texts]
    theirs = set().union(*map(runs_of_words, texts))
    assert len(theirs) > 1_000_000
    declared = withheld()
    quoting = {}
    for name, page in pages.items():
        if found := runs_of_words(" ".join(page.words)) & theirs:
            quoting[name] = len(found)
    quoting.pop("bibliography.html", None)  # titles of papers, which other papers cite
    assert not {name for name in quoting if Path(name).stem not in declared}, quoting
    # Files to download likewise; a name tells of which page they are.
    for path in [*html.rglob("*.csv"), *html.rglob("*.ipynb")]:
        text = path.read_text(encoding="utf-8").replace("\\n", " ")
        if runs_of_words(text) & theirs:
            assert any(name in path.name for name in declared) or path.parent.name in declared, path


# --- in the browser ------------------------------------------------------------

ASK = r"""
(() => {
  const parse = text => { const v = text.match(/[\d.]+/g).map(Number), unit = /^color\(srgb/.test(text) ? 255 : 1;
    return [v[0] * unit, v[1] * unit, v[2] * unit, v[3] ?? 1]; };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat([1]);
  const behind = element => { const layers = [];
    for (let e = element; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] > 0) layers.push(c); if (c[3] === 1) break; }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]); };
  const light = c => { const f = x => { x /= 255; return x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; };
    return .2126 * f(c[0]) + .7152 * f(c[1]) + .0722 * f(c[2]); };
  const contrast = element => { const below = behind(element);
    const a = light(over(parse(getComputedStyle(element).color), below)), b = light(below);
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
  const article = document.querySelector("article");
  const faint = [];
  for (const e of article.querySelectorAll("p, li, td, th, dt, dd, h1, h2, h3, code, span, a, summary, figcaption")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest("mjx-container, .headerlink")) continue;
    const value = contrast(e);
    if (value < 4.5) faint.push([e.tagName, e.className, e.textContent.trim().slice(0, 40), +value.toFixed(2)]);
  }
  const width = document.documentElement.clientWidth;
  const clipped = e => { for (let p = e.parentElement; p; p = p.parentElement)
    if (getComputedStyle(p).overflowX !== "visible") return true; return false; };
  return {
    theme: document.documentElement.dataset.theme,
    background: behind(article),
    faint,
    overflow: document.documentElement.scrollWidth - width,
    wide: [...article.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > width + 1 && !clipped(e))
      .map(e => `${e.tagName}.${e.className}`).slice(0, 5),
    blank: [...document.images].filter(i => i.checkVisibility() && !(i.complete && i.naturalWidth)).map(i => i.src),
    math: document.querySelectorAll(".math").length,
    set: document.querySelectorAll("mjx-container").length,
    mathErrors: [...document.querySelectorAll("mjx-merror")].map(e => e.textContent),
    search: !!document.querySelector(".search-button, .search-button-field, input[type=search]"),
    sheets: [...article.querySelectorAll("img")].filter(i => i.checkVisibility()).map(i => behind(i)),
    drawn: [...article.querySelectorAll('div.cell_output figure img[src$=".svg"]')].map(i => i.clientWidth),
  };
})()
"""


# Two frames: what listens to the size and the colour scheme has been told, and has answered.
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
# Every table and display formula of a page, with the boxes open that fold some: those wider than their column.
TOO_WIDE = """(() => {
  document.querySelectorAll(".dropdown.toggle-hidden > .admonition-title").forEach(title => title.click());
  const tables = [...document.querySelectorAll("article table")];
  const isWide = e => e.scrollWidth > e.clientWidth + 1;
  const formulas = [...document.querySelectorAll("article div.math")];
  return {formulas: formulas.filter(f => isWide(f) || [...f.querySelectorAll("mjx-container")].some(isWide))
            .map(f => f.id || f.textContent.slice(0, 60)),
          tables: tables.length, unseen: tables.filter(table => !table.checkVisibility()).length,
          over: tables.filter(table => table.scrollWidth > table.clientWidth + 1)
            .map(table => `${table.caption?.textContent.slice(0, 60)}: ${table.scrollWidth} in ${table.clientWidth}`)};
})()"""
Seen = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def seen(html: Path, pages: dict[str, Page], window: Browser) -> Seen:
    """What the browser says of every page on a dark telephone, and turned to a light desk."""
    answers: Seen = {}
    for name in pages:
        asked = window.open((html / name).as_uri(), width=390, dark=True)
        answers[name, "phone"] = {"asked": asked, **window.evaluate(ASK)}
        window.turn()
        window.evaluate(SETTLED)
        answers[name, "desk"] = {"asked": asked, **window.evaluate(ASK), "tables": wide_tables(window)}
    return answers


def wide_tables(window: Browser) -> dict[str, Any]:
    """Tables and formulas wider than their column. They are fitted again some frames after the window was turned."""
    for _ in range(20):
        found: dict[str, Any] = window.evaluate(TOO_WIDE)
        if not found["over"] and not found["formulas"]:
            break
        window.evaluate(SETTLED)
    return found


@pytest.mark.browser
def test_pages_ask_the_network_for_nothing_fit_a_telephone_and_can_be_read_in_light_and_dark(seen: Seen) -> None:
    assert sum(facts["math"] for facts in seen.values()) > 0
    for key, facts in seen.items():
        assert not [url for url in facts["asked"] if not re.match(r"(file|data|blob|about):", url)], key
        assert facts["set"] >= facts["math"] and not facts["mathErrors"], key
        assert not facts["overflow"] and not facts["wide"], (key, facts["wide"])
        assert facts["theme"] == {"desk": "light", "phone": "dark"}[key[1]], key
        assert not facts["faint"], (key, facts["faint"])
        assert not facts["blank"], key
        assert all(min(sheet[:3]) > 200 for sheet in facts["sheets"]), key  # figures stand on a light sheet
    # Letters of a figure of 8 inches at 342 pixels were four pixels high.
    drawn = [width for key, facts in seen.items() if key[1] == "phone" for width in facts["drawn"] if width]
    assert len(drawn) > 20 and min(drawn) >= 600


@pytest.mark.browser
def test_every_table_and_formula_fits_its_column_at_1280_pixels(seen: Seen) -> None:
    desk = {page: facts["tables"] for (page, size), facts in seen.items() if size == "desk"}
    assert sum(found["tables"] for found in desk.values()) > 150
    # What scripts make (games, the benchmark's page) may stay covered.
    assert sum(found["unseen"] for found in desk.values()) < 10
    assert not {page: found["over"] for page, found in desk.items() if found["over"]}
    # The third of three formulas on one line could not be seen.
    assert not {page: found["formulas"] for page, found in desk.items() if found["formulas"]}


FOUND = """(() => {
  const body = document.querySelector("table.findable").tBodies[0];
  const rows = () => [...body.rows].filter(row => !row.hidden);
  const bar = document.querySelector(".find"), field = bar.querySelector("input"), all = rows().length;
  field.value = "edin"; field.dispatchEvent(new Event("input"));
  return {all, some: rows().map(row => row.textContent), told: bar.querySelector("[role=status]").textContent,
          menus: bar.querySelectorAll("select").length, cards: document.querySelectorAll("table.cards").length};
})()"""


@pytest.mark.browser
def test_the_scoreboard_is_searched_without_a_kernel_and_set_as_cards_on_a_telephone(
    html: Path, window: Browser
) -> None:
    window.open((html / "executed" / "scoreboard.html").as_uri())
    desk = window.evaluate(FOUND)
    assert len(desk["some"]) < desk["all"] and all("edin" in text.lower() for text in desk["some"])
    assert desk["told"] == f"{len(desk['some'])} of {desk['all']} rows"
    assert (desk["menus"] > 1, desk["cards"]) == (True, 0)
    window.open((html / "executed" / "scoreboard.html").as_uri(), width=390)
    assert window.evaluate(FOUND)["cards"] > 0


FOLDED = """(() => {
  const parts = [...document.querySelectorAll(".bd-sidebar-primary details.part")];
  return [parts.length, parts.filter(part => part.open).map(part => part.querySelector("summary").textContent.trim())];
})()"""


@pytest.mark.browser
def test_parts_of_the_table_of_contents_fold_and_that_of_the_page_is_open(html: Path, window: Browser) -> None:
    window.open((html / "executed" / "soft_tables.html").as_uri())
    parts, opened = window.evaluate(FOLDED)
    assert parts > 10 and opened == ["Study 1: soft erasure"]
    window.open((html / "intro.html").as_uri())
    assert window.evaluate(FOLDED) == [parts, []]


@pytest.mark.browser
def test_search_finds_a_word(seen: Seen, html: Path, window: Browser) -> None:
    assert all(facts["search"] for facts in seen.values())
    window.open((html / "search.html").as_uri() + "?q=faithfulness")
    count = window.evaluate(
        """new Promise(done => { const look = n => {
           const found = document.querySelectorAll('#search-results li').length;
           found || n > 100 ? done(found) : setTimeout(() => look(n + 1), 100); }; look(0); })"""
    )
    assert count > 0


@pytest.mark.browser
def test_the_picture_of_the_landing_page_has_its_numbers(html: Path, window: Browser) -> None:
    # Where it has not: `make book`, then `python tests/landing_picture.py`.
    assert Image.open(landing_picture.PICTURE).info["shows"] == landing_picture.shown(window, html)
