"""Slides of the sessions: of the same sources, without a network, in light and dark, by keyboard and on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import Browser

from faithbook import slides
from faithbook.sources import files
from faithlib.errors import DataError

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
NAMES = [path.stem for path in slides.sessions(BOOK)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slides") / "html" / "_static" / "slides"
    assert [path.stem for path in slides.write(BOOK, folder, "../..")] == NAMES
    return folder


def sections(text: str) -> list[str]:
    """The slides that have no slide inside."""
    return re.findall(r"<section[^>]*>\n(?!<section)(.*?)</section>", text, flags=re.DOTALL)


def test_there_are_slides_for_four_sessions() -> None:
    assert [f"session{number}" for number in range(1, 5)] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_step_question_answer_and_mistake_of_a_session_is_on_a_slide(made: Path, name: str) -> None:
    source, text = (BOOK / "course" / f"{name}.md").read_text(), (made / f"{name}.html").read_text()
    times = [int(one) for one in re.findall(r"^\| (\d+) \|", source, flags=re.MULTILINE)]
    assert re.findall(r"minutes (\d+) to (\d+)", text) == [
        (str(a), str(b)) for a, b in zip(times, [*times[1:], 90], strict=True)
    ]
    asked = re.findall(r"^\*\*(\d)\. ", source, flags=re.MULTILINE)
    assert text.count("<h2>Question</h2>") == text.count("<h2>Answer</h2>") == len(asked) == 5
    mistakes = source.partition("## Common mistakes")[2].count("\n- ")
    assert text.count('<p class="when">Common mistakes</p>') == mistakes >= 3
    assert len(sections(text)) == 1 + 2 + len(times) + 10 + mistakes
    assert not re.search(r"\{(doc|term|cite)|:::|\]\(\.\.|\*\*", re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL))


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_pages_of_the_book_and_nothing_comes_from_elsewhere(made: Path, name: str) -> None:
    text = (made / f"{name}.html").read_text()
    toc = (BOOK / "_toc.yml").read_text()
    linked = re.findall(r'<a href="([^"]*)"', text)
    assert linked
    for address in linked:
        assert address.startswith("../../") and address.endswith(".html"), address
        assert re.search(rf"(file|root): {address[6:-5]}\n", toc), address
    loaded = re.findall(r'(?:src|rel="stylesheet" href)="([^"]*)"', text)
    assert loaded and all((made / path).is_file() for path in loaded)
    for path in made.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", path.read_text()), path


def test_what_is_shipped_is_the_pinned_package_with_its_licence(made: Path) -> None:
    source = files.sources()[slides.SOURCE]
    assert source.kind == "registry" and source.sha256 and source.version
    assert "MIT" in source.licence and "Hakim El Hattab" in (made / "reveal" / "LICENSE").read_text()
    assert sum(path.stat().st_size for path in made.rglob("*.js")) < 200_000


def test_a_page_or_a_paper_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    (tmp_path / "references.bib").write_text((BOOK / "references.bib").read_text())
    page = tmp_path / "course" / "session1.md"
    for told, message in {
        "{doc}`../nowhere`": "the page nowhere",
        "{cite:t}`nobody_1900`": "cites nobody_1900",
    }.items():
        page.write_text(f"# Session 1\n\n## Aims\n\n{told}\n")
        with pytest.raises(DataError, match=message):
            slides.deck(page, tmp_path, "..")
    page.write_text("# Session 1\n\n## Aims\n\n{cite:t}`deyoung_2020`, {cite:t}`bastings_filippova_2020`\n")
    told = slides.deck(page, tmp_path, "..")
    assert "DeYoung et al. (2020), Bastings &amp; Filippova (2020)" in told


SHOWN = """(() => {
  const here = Reveal.getCurrentSlide();
  const box = here.getBoundingClientRect(), style = getComputedStyle(document.body);
  return {all: Reveal.getTotalSlides(), text: here.textContent, at: Reveal.getIndices(), fore: style.color,
          back: style.backgroundColor, wide: document.documentElement.scrollWidth <= innerWidth,
          inside: box.left >= -1 && box.right <= innerWidth + 1, title: document.title};
})()"""


def press(window: Browser, key: str, code: int) -> None:
    for kind in ("keyDown", "keyUp"):
        window.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


@pytest.mark.browser
def test_a_session_is_shown_by_keyboard(made: Path, window: Browser) -> None:
    text = (made / "session2.html").read_text()
    asked = window.open((made / "session2.html").as_uri())
    assert all(address.startswith("file:") for address in asked)
    first = window.evaluate(SHOWN)
    assert first["all"] == len(sections(text)) and "Session 2: Erasing" in first["text"]
    press(window, "ArrowRight", 39)
    assert "After this session you can" in window.evaluate(SHOWN)["text"]
    window.evaluate("Reveal.slide(Reveal.getHorizontalSlides().findIndex(one => one.matches('.stack')), 0)")
    question = window.evaluate(SHOWN)
    press(window, "ArrowDown", 40)
    answer = window.evaluate(SHOWN)
    assert question["text"].startswith("\nQuestion") and answer["text"].startswith("\nAnswer")
    assert answer["at"]["v"] == 1


@pytest.mark.browser
def test_slides_are_readable_in_light_and_dark_and_fit_a_phone(made: Path, window: Browser) -> None:
    seen = {}
    for dark in (False, True):
        window.open((made / "session1.html").as_uri(), width=390, height=700, dark=dark)
        seen[dark] = window.evaluate(SHOWN)
        assert seen[dark]["wide"] and seen[dark]["inside"]
    light, night = ((seen[dark]["fore"], seen[dark]["back"]) for dark in (False, True))
    assert light == ("rgb(26, 26, 26)", "rgb(255, 255, 255)") and night == ("rgb(236, 239, 243)", "rgb(20, 24, 30)")
