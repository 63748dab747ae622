"""The course keeps its form: ninety minutes, every question with an answer, slides, exercises with a time."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[1] / "book"
SESSIONS = sorted((BOOK / "course").glob("session*.md"))
PARTS = ["Aims", "Minutes", "Read before, run in the session", "Questions with model answers", "Common mistakes"]


def part(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_there_are_four_sessions_in_the_table_of_contents() -> None:
    assert [page.stem for page in SESSIONS] == [f"session{n}" for n in range(1, 5)]
    toc = (BOOK / "_toc.yml").read_text()
    assert all(f"file: course/{page.stem}\n" in toc for page in (BOOK / "course").glob("*.md"))


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_a_session_has_its_parts_and_fits_ninety_minutes(page: Path) -> None:
    text = page.read_text()
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == PARTS
    times = [int(time) for time in re.findall(r"^\| (\d+) \|", part(text, "Minutes"), flags=re.MULTILINE)]
    assert times[0] == 0 and times == sorted(set(times)) and times[-1] == 85
    assert min(b - a for a, b in itertools.pairwise(times)) >= 10
    assert len(re.findall(r"^\d\. ", part(text, "Aims"), flags=re.MULTILINE)) >= 4


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_every_question_has_a_folded_answer(page: Path) -> None:
    told = part(page.read_text(), "Questions with model answers")
    questions = re.split(r"^\*\*\d\. ", told, flags=re.MULTILINE)[1:]
    assert len(questions) == 5
    assert all(one.count(":::{dropdown} Answer\n") == 1 for one in questions)


def test_exercises_that_are_named_by_number_and_title_are_these() -> None:
    titles = dict(re.findall(r"^## (\d+)\. (.*)$", (BOOK / "exercises.md").read_text(), flags=re.MULTILINE))
    named = 0
    for page in SESSIONS:
        for number, title in re.findall(r"[Ee]xercise (\d+) \((.*?)\)", page.read_text()):
            assert titles[number].rstrip("?").casefold().startswith(title.casefold().rstrip("?")), (page.stem, number)
            named += 1
    assert named >= 2


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_a_session_has_slides_with_claims_a_table_a_figure_and_numbers_to_run(page: Path) -> None:
    number = page.stem[-1]
    text = (BOOK / "course" / f"slides{number}.md").read_text()
    assert f"{{doc}}`slides{number}`" in page.read_text()
    claims = re.findall(rf"^## {number}\.(\d) (.+)$", text, flags=re.MULTILINE)
    assert [int(place) for place, _ in claims] == list(range(1, 9))
    assert claims[-1][1] == "Take home"
    assert all(len(claim.split()) >= 4 for _, claim in claims[:-1])  # sentences, not headings
    (figure,) = re.findall(r"^```\{image\} (\S+)\n:alt: (.{60,})$", text, flags=re.MULTILINE)
    assert (BOOK / "course" / figure[0]).resolve().is_file()
    assert re.search(r"^\| --- \|", text, flags=re.MULTILINE)
    assert "```python\n" in text and "assert " in text


def test_every_exercise_says_how_hard_it_is_and_how_long_it_takes() -> None:
    found = 0
    for path in (BOOK / "exercises.md", BOOK / "together" / "exercises.md"):
        text = path.read_text()
        exercises = re.findall(r"^##+ \d+\. .*\n\n(.*)$", text, flags=re.MULTILINE)
        assert all(re.fullmatch(r"\*(Easy|Medium|Hard), \d\d minutes\.\*", line) for line in exercises), exercises
        found += len(exercises)
    assert found == 25


def test_the_rubric_adds_up() -> None:
    text = (BOOK / "course" / "project.md").read_text()
    rows = re.findall(r"^\| \*\*.*\*\* \|", text, flags=re.MULTILINE)
    assert f"{4 * len(rows)} in all" in text
