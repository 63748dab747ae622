"""Tables that sort and filter in the page (`book/_static/tables.js`), and are cards on a telephone, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import Browser

STATIC = Path(__file__).resolve().parents[1] / "book" / "_static"
pytestmark = pytest.mark.browser

ROWS = [("Wu", "holds", "12", "w" * 60), ("Edin", "fails", "9", "a"),
        ("Wu", "fails", "", "b"), ("Zhao", "holds", "100", "c"), ("Edin", "holds", "−3", "d")]  # fmt: skip


@pytest.fixture
def page(tmp_path: Path) -> str:
    heads = "".join(f"<th><p>{name}</p></th>" for name in ("paper", "verdict", "n", "found"))
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    table = f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>"
    path = tmp_path / "page.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<link rel="stylesheet" href="{(STATIC / "book.css").as_uri()}">'
        f'<script src="{(STATIC / "tables.js").as_uri()}"></script><article class="bd-article">'
        f'<table class="findable" id="one">{table}</table><table id="plain">{table}</table></article>',
        encoding="utf-8",
    )
    return path.as_uri()


def column(window: Browser, number: int) -> list[str]:
    """What a column of the first table shows, from the top."""
    rows = "[...document.querySelectorAll('#one tbody tr')].filter(row => row.checkVisibility())"
    found: list[str] = window.evaluate(f"{rows}.map(row => row.cells[{number}].textContent)")
    return found


def click(window: Browser, number: int) -> Any:
    return window.evaluate(
        f"(() => {{ const head = document.querySelectorAll('#one th')[{number}]; head.querySelector('button').click();"
        " return head.getAttribute('aria-sort'); })()"
    )


def test_a_head_sorts_up_and_down_and_numbers_are_numbers(window: Browser, page: str) -> None:
    window.open(page)
    assert click(window, 2) == "ascending"
    assert column(window, 2) == ["−3", "9", "12", "100", ""]  # what is missing comes last
    assert click(window, 2) == "descending"
    assert column(window, 2) == ["100", "12", "9", "−3", ""]
    assert click(window, 0) == "ascending"
    assert column(window, 0) == ["Edin", "Edin", "Wu", "Wu", "Zhao"]
    assert window.evaluate("document.querySelectorAll('#one th[aria-sort]').length") == 1


def test_words_and_menus_filter_together_and_say_how_many_are_left(window: Browser, page: str) -> None:
    window.open(page)
    change = "(one => {{ one.value = {1!r}; one.dispatchEvent(new Event({2!r})); }})(document.querySelector({0!r}))"
    told = "document.querySelector('.find [role=status]').textContent"
    assert window.evaluate(told) == "5 of 5 rows"
    window.evaluate(change.format("input[type=search]", "EDIN", "input"))
    assert column(window, 0) == ["Edin", "Edin"]
    window.evaluate(change.format("select[aria-label=verdict]", "fails", "change"))
    assert (column(window, 1), window.evaluate(told)) == (["fails"], "1 of 5 rows")
    window.evaluate(change.format("input[type=search]", "", "input"))
    assert column(window, 0) == ["Edin", "Wu"]
    # A menu for each column of few and short words, none for numbers; a table that is not `findable` is left alone.
    menus = "[...document.querySelectorAll('select')].map(one => one.ariaLabel)"
    assert window.evaluate(menus) == ["paper", "verdict"]
    assert window.evaluate("document.querySelectorAll('#plain button').length") == 0


def test_on_a_telephone_a_wide_table_is_cards_and_the_page_stays_narrow(window: Browser, page: str) -> None:
    asked = window.open(page, width=390)
    assert all(url.startswith("file:") for url in asked)
    assert window.evaluate("document.querySelectorAll('table.cards').length") == 2
    assert window.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    head = "getComputedStyle(document.querySelector('#plain tbody td'), '::before').content"
    assert window.evaluate(head) == '"paper"'
    window.open(page, width=1280)
    assert window.evaluate("document.querySelectorAll('table.cards').length") == 0


def test_the_caption_of_a_table_that_is_cut_off_is_whole_and_stays_while_it_is_scrolled(
    window: Browser, page: str
) -> None:
    window.open(page, width=600)
    window.evaluate("document.querySelectorAll('#plain td').forEach(cell => { cell.style.whiteSpace = 'nowrap'; })")
    window.evaluate("document.querySelector('#plain').createCaption().textContent = 'many words '.repeat(40)")
    box = "document.querySelector('#plain caption').getBoundingClientRect()"
    table = "document.querySelector('#plain')"
    assert window.evaluate(f"{table}.scrollWidth > {table}.clientWidth")
    before = window.evaluate(f"[{box}.left, {box}.right]")
    assert before[1] <= window.evaluate(f"{table}.getBoundingClientRect().right")
    window.evaluate(f"{table}.scrollLeft = 80")
    assert window.evaluate(f"{table}.scrollLeft") == 80
    assert window.evaluate(f"[{box}.left, {box}.right]") == before
