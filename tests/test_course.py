"""The course's pages are in the table of contents, and name exercises that there are."""

from __future__ import annotations

import re
from pathlib import Path

BOOK = Path(__file__).resolve().parents[1] / "book"
SESSIONS = sorted((BOOK / "course").glob("session*.md"))


def test_there_are_four_sessions_in_the_table_of_contents() -> None:
    assert [page.stem for page in SESSIONS] == [f"session{n}" for n in range(1, 5)]
    toc = (BOOK / "_toc.yml").read_text()
    assert all(f"file: course/{page.stem}\n" in toc for page in (BOOK / "course").glob("*.md"))


def test_exercises_that_are_named_by_number_and_title_are_these() -> None:
    titles = dict(re.findall(r"^## (\d+)\. (.*)$", (BOOK / "exercises.md").read_text(), flags=re.MULTILINE))
    named = 0
    for page in SESSIONS:
        for number, title in re.findall(r"[Ee]xercise (\d+) \((.*?)\)", page.read_text()):
            assert titles[number].rstrip("?").casefold().startswith(title.casefold().rstrip("?")), (page.stem, number)
            named += 1
    assert named >= 2
