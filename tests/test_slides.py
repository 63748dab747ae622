"""The course's slides as presentations: notes for each slide, full screen and speaker view in a browser, from disk."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from refusals import refused

from faithbook.engine import slides
from faithbook.engine.printing import window
from faithlib.errors import DataError

BOOK = Path(__file__).resolve().parents[1] / "book"
MINUTES = {"One": 1, "Two": 2, "Three": 3, "Four": 4, "Five": 5}
DECKS = sorted((BOOK / "course").glob("slides*.md"))


@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.stem)
def test_every_slide_has_a_claim_something_to_show_and_notes_that_say_how_long(path: Path) -> None:
    title, others = slides.slides_of(path.read_text(encoding="utf-8"))
    assert len(others) == 8 and f"slides/{path.stem}.html" in title.body
    number = path.stem.removeprefix("slides")
    for place, slide in enumerate(others, start=1):
        assert slide.title.startswith(f"{number}.{place} ")
        assert slide.body and "Speaker notes" not in slide.body
    minutes = [MINUTES[slide.notes.partition(" minute")[0]] for slide in others]
    stated = {"twenty": 20, "twenty-five": 25}[re.findall(r"for ([\w-]+) minutes", title.body)[0]]
    assert sum(minutes) == stated


@pytest.mark.parametrize("path", sorted((BOOK / "course").glob("session*.md")), ids=lambda path: path.stem)
def test_a_session_fits_ninety_minutes_and_has_a_quiz_with_its_key(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    begins = [
        int(minute) for minute in re.findall(r"^\| (\d+) \|", text.partition("## Minutes")[2], flags=re.MULTILINE)
    ]
    assert begins == sorted(set(begins)) and begins[0] == 0 and begins[-1] == 85
    quiz, _, key = text.partition("## Quiz")[2].partition("{dropdown} Key")
    questions = re.findall(r"^(\d)\. (.*?)(?=^\d\. |\Z|\n\n)", quiz, flags=re.MULTILINE | re.DOTALL)
    answers = re.findall(r"\b(\d) ([a-c])\b", key.partition("\n:::")[0])
    assert [number for number, _ in questions] == [number for number, _ in answers] == list("12345")
    assert all(f"({letter})" in question for _, question in questions for letter in "abc")
    assert f"slides/{path.stem.replace('session', 'slides')}.html" in text


def test_what_slides_cannot_show_is_refused_by_name() -> None:
    text = "# A talk\n\n## A claim\n\nSee {py:func}`name`.\n"
    refused(DataError, "slides cannot show '{py:func}`name`'", slides.presentation, text)
    refused(DataError, "begins with its title", slides.presentation, "Words without a heading.\n")


def test_links_and_images_lead_from_the_presentation_to_the_book() -> None:
    made = slides.presentation(
        "# A talk\n\nFor {doc}`session 1 <session1>` and {doc}`a page <../executed/play>`.\n\n## A claim\n\n"
        "```{image} ../_static/course/saco.svg\n:alt: Groups of pixels.\n```\n"
    )
    for part in ('href="../../course/session1.html"', 'href="../../executed/play.html"', 'src="../course/saco.svg"'):
        assert part in made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the presentations, beside the images of the book."""
    pages = tmp_path_factory.mktemp("pages")
    shutil.copytree(BOOK / "_static", pages / "_static")
    slides.write_slides(BOOK, pages)
    return pages / slides.PLACE


@pytest.mark.browser
def test_presentations_work_from_disk_by_keyboard_with_a_speaker_view_and_on_paper(made: Path) -> None:
    import io

    from pypdf import PdfReader

    with window() as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for path in DECKS:
            page.goto((made / f"{path.stem}.html").as_uri())
            page.wait_for_function("window.Reveal && Reveal.isReady()")
            heights = page.evaluate("Reveal.getSlides().map((one, at) => (Reveal.slide(at), one.scrollHeight))")
            assert len(heights) == 9 and max(heights) <= 700, (path.stem, heights)
            broken = "[...document.images].filter(one => !one.complete || !one.naturalWidth).length"
            assert page.evaluate(broken) == 0, path.stem
        assert all(address.startswith("file:") for address in asked)
        page.evaluate("Reveal.slide(0)")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("Reveal.getIndices().h") == 1
        with page.context.expect_page() as opened:
            page.keyboard.press("s")
        notes = opened.value.locator(".speaker-controls-notes .value")
        _, others = slides.slides_of(DECKS[-1].read_text(encoding="utf-8"))
        opened.value.wait_for_function("document.querySelector('.speaker-controls-notes .value').innerText.length > 9")
        assert " ".join(others[0].notes.split())[:40] in notes.inner_text()
        page.goto((made / "slides1.html").as_uri() + "?print-pdf")
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        page.wait_for_selector(".pdf-page")
        assert len(PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages) == 9
