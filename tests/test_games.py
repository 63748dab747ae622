"""The games of the page `play`: what is worked out for them beforehand, the page that carries it, and the games
themselves in a browser (`book/_static/play.js`)."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sphinx_book_theme
import torch
from browser import Browser
from families import opened, saved
from store import Store
from test_book import ASK
from toy_models import one_row, text_inputs, text_model

from faithbook.sources.facts import TEMPLATES, sentence_prompts
from faithbook.studies.naopc.edin import AnswerTable
from faithbook.studies.together.games import answers as games
from faithbook.studies.together.games import erased_prompt
from faithbook.studies.together.games import show as shown
from faithlib import metrics
from faithlib.backends import Continuation, TextBackend
from faithlib.perturb import Perturber

STATIC = Path(__file__).resolve().parents[1] / "book" / "_static"
PACKAGES = Path(sphinx_book_theme.__file__).parents[1]  # the theme that it builds on lies beside it
THEME = PACKAGES / "pydata_sphinx_theme/theme/pydata_sphinx_theme/static/styles"
BOOK_THEME = PACKAGES / "sphinx_book_theme/theme/sphinx_book_theme/static/styles/sphinx-book-theme.css"
WORDS = ["not", "a", "<dull>", "film", "friend"]
N = len(WORDS)
MODEL = text_model("bert")


def table() -> AnswerTable:
    """Two texts of five and four words with answers of no order at all."""
    generator = torch.Generator().manual_seed(3)
    return AnswerTable([4, 7], [torch.rand(2**n, generator=generator, dtype=torch.float64) for n in (N, 4)])


def scores() -> dict[str, torch.Tensor]:
    drawn = torch.rand(2, 2, N, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    return {"occlusion": drawn[0], "lime": drawn[1]}


def aopc(answers: np.ndarray, order: tuple[int, ...] | list[int]) -> float:
    """Step by step: how far the answer has fallen, mean over the removals."""
    falls, gone = [], 0
    for word in order:
        gone |= 1 << word
        falls.append(answers[0] - answers[gone])
    return float(np.mean(falls))


# ------------------------------------------------------------------------------------------------ worked out beforehand
def test_every_answer_is_that_of_one_row_at_a_time() -> None:
    inputs = text_inputs(MODEL, (6, 5))
    perturber = Perturber(MODEL, inputs, erase="mask")
    found = games.every_answer(perturber)
    assert [len(each) for each in found] == [16, 8]
    for b, values in enumerate(found):
        for removed, value in enumerate(values.tolist()):
            keep = torch.tensor([not removed >> f & 1 for f in range(4)])
            alone = one_row(MODEL, inputs, b, keep, "mask").softmax(dim=0)[perturber.target[b]]
            assert value == pytest.approx(alone.item(), abs=1e-5)


def test_bounds_and_chance_are_those_of_all_orders() -> None:
    found = games.erasing(table(), scores())
    for name, n in ((4, N), (7, 4)):
        answers = found.answers[found.answers["item"] == name].p.to_numpy()
        every = {order: aopc(answers, order) for order in permutations(range(n))}
        item = found.items.set_index("item").loc[name]
        assert item.lower == pytest.approx(min(every.values()), abs=1e-12)
        assert item.upper == pytest.approx(max(every.values()), abs=1e-12)
        assert item.chance == pytest.approx(np.mean(list(every.values())), abs=1e-12)
        assert every[tuple(shown.places_in_order(item.worst))] == pytest.approx(item.lower, abs=1e-12)
        assert every[tuple(shown.places_in_order(item.best))] == pytest.approx(item.upper, abs=1e-12)
        for row in found.orders[found.orders["item"] == name].itertuples():
            given = scores()[row.method][0 if name == 4 else 1, :n].numpy()
            assert shown.places_in_order(row.order) == np.argsort(-given, kind="stable").tolist()
            assert row.aopc == pytest.approx(every[tuple(shown.places_in_order(row.order))], abs=1e-6)
            assert row.naopc == pytest.approx((row.aopc - item.lower) / (item.upper - item.lower), abs=1e-6)


def test_soft_answers_keep_the_numbers_that_are_shown() -> None:
    """By hand: the embedding's numbers below the importance stay, all else of the word is 0."""
    inputs, grid, size = text_inputs(MODEL, (6,)), [0.0, 0.3, 0.8, 1.0], MODEL.config.hidden_size
    found = games.soft_grid(MODEL, inputs, grid, draws=3)
    drawn = games.drawn_numbers(inputs, size, shown=size)
    assert found.shape == (4, 4, 3) and drawn.shape == (4, size)
    backend, target = TextBackend(MODEL, inputs), Perturber(MODEL, inputs).target[0]
    for word in range(4):
        assert (found[word, [0, 3]] == found[word, [0, 3], :1]).all()  # no chance at the ends
        for g, importance in enumerate(grid):
            embedded = backend.embeddings().clone()
            embedded[0, word + 1] *= drawn[word] < importance
            with torch.inference_mode():
                alone = backend.logits(embedded, torch.tensor([0])).softmax(dim=1)[0, target]
            assert found[word, g, 0].item() == pytest.approx(alone.item(), abs=1e-5)


# ----------------------------------------------------------------------------------------------------- what pages carry
METHODS = {"occlusion": "occlusion", "lime": "LIME"}


def erase_data() -> dict[str, Any]:
    found = games.erasing(table(), scores())
    named = {
        ("m", 4): {"text": "“not a <dull> film, friend”", "model": "ours", "says": "positive", "words": WORDS},
        ("m", 7): {"text": "text 7", "model": "BERT", "says": "positive"},
    }
    frames = [frame.assign(model="m") for frame in (found.answers, found.items, found.orders)]
    return shown.erasing_game(*frames, named=named, methods=METHODS)


def soft_data() -> dict[str, Any]:
    grid = [0.0, 0.5, 1.0]
    p = [[[0.2] * 4, [0.3, 0.4, 0.5, 0.6], [0.9] * 4], [[0.7] * 4, [0.8, 0.85, 0.9, 0.95], [0.9] * 4]]
    numbers = [[0.1, 0.4, 0.6, 0.9], [0.2, 0.3, 0.4, 0.7]]
    whole = [[shown.parts_of_scale(draws) for draws in word] for word in p]
    named = {"words": ["dull", "film"], "start": 0, "says": "negative"}
    return {"scale": shown.SCALE, "grid": grid, "p": whole, "numbers": numbers, **named}


SALIENCE, DROP = [0.9, 0.5, 0.4, 0.1], [0.1, 0.4, -0.2, 0.3]


def saco_data() -> dict[str, Any]:
    cells = np.arange(16)
    picture = {"side": 4, "grey": (cells * 16).tolist(), "group": (cells // 4).tolist()}
    return {**picture, "salience": SALIENCE, "drop": DROP, "method": "rollout"}


def test_a_game_is_one_piece_of_html_whatever_its_words_are() -> None:
    made = shown.game_html("erase", erase_data(), label="a & b", picture="fig").data
    assert "\n" not in made and "<dull>" not in made  # neither MyST nor a browser takes a word for markup
    inside = re.search(r'<script type="application/json">(.*?)</script>', made)
    assert inside and json.loads(inside[1]) == erase_data()
    assert (STATIC / "play.js").stat().st_size < 20_000


def test_the_page_takes_its_numbers_from_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = games.erasing(table(), scores())
    models = ("movie", "bert_yelp")
    tables = {
        f"play_{name}": pd.concat([getattr(found, name).assign(model=model) for model in models])
        for name in ("answers", "items", "orders")
    }
    places = [(4, place, word) for place, word in enumerate(WORDS)] + [(7, place, "word") for place in range(4)]
    tables["play_words"] = pd.DataFrame(places, columns=["item", "place", "word"]).assign(says="negative")
    soft = [(w, word, q, d, 0.2 + 0.6 * q + 0.01 * d * w * q * (1 - q))
            for w, word in enumerate(("very", "dull")) for q in (0.0, 0.5, 1.0) for d in range(4)]  # fmt: skip
    columns = ["place", "word", "importance", "draw", "p"]
    tables["play_soft"] = pd.DataFrame(soft, columns=columns).assign(says="negative")
    tables["play_soft_numbers"] = pd.DataFrame(0.5, index=range(8), columns=["word0", "word1"])
    groups = pd.DataFrame({"group": range(4), "salience": SALIENCE, "drop": DROP})
    tables["play_groups"] = groups.assign(coefficient=0.25, method="rollout", says="boot", full=0.9)
    tables["play_picture"] = pd.DataFrame({"grey": range(16), "group": np.arange(16) // 4})
    store = Store(tmp_path, monkeypatch)
    store.add("play_answers", tables=tables)
    made = store.report("play")
    carried = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', made.text)]
    items = carried[0]["items"]
    assert [item["model"] for item in items] == ["our small one"] * 2 + ["BERT trained on Yelp"] * 2
    assert items[0]["words"] == WORDS and not any("words" in item for item in items[2:])  # texts that are not ours
    assert items[0]["upper"] == pytest.approx(tables["play_items"].upper.iloc[0], abs=1e-6)
    assert [item["n"] for item in carried[1]["items"]] == [16] * 3
    assert carried[2] == shown.erased_prompt()
    assert carried[3]["p"][1][1] == shown.parts_of_scale([0.5, 0.5025, 0.505, 0.5075])
    assert carried[4]["drop"] == DROP
    # Each game keeps its picture, with words for it.
    for name in ("play-erase", "play-patches", "play-prompt", "play-soft", "play-saco"):
        assert f":name: {name}" in made.text and f'data-picture="{name}"' in made.text
    assert "3 of 6 pairs violate: A above B, A above D, C above D" in made.text


def test_the_prompt_has_all_answers_of_its_sentences_and_the_best_of_all_orders() -> None:
    (item,) = shown.erased_prompt()["items"]
    (prompt,) = sentence_prompts("facts", 1, sentences=item["n"])
    assert " ".join(item["words"]) == prompt.text and f" {item['says']}" == prompt.answer
    answers = np.array(item["p"]) / shown.SCALE
    assert len(answers) == 2 ** item["n"] == 64
    every = {order: aopc(answers, order) for order in permutations(range(item["n"]))}
    assert item["lower"] == pytest.approx(min(every.values()), abs=2e-5)
    assert item["upper"] == pytest.approx(max(every.values()), abs=2e-5)
    assert aopc(answers, item["best"]) == pytest.approx(item["upper"], abs=2e-5)
    assert len(item["orders"]) == 5
    for other in item["orders"].values():
        assert aopc(answers, other["order"]) == pytest.approx(other["aopc"], abs=2e-5)


def test_a_prompt_is_asked_with_its_sentences_deleted(tmp_path: Path) -> None:
    model, tokenizer = opened(saved("llama", tmp_path, causal=True), causal=True)
    found = erased_prompt.game_of_prompt(model, tokenizer, sentences=4)
    (item,) = found["items"]
    (asked,) = sentence_prompts("facts", 1, sentences=4)
    lm = Continuation(model, tokenizer, TEMPLATES["facts"], asked.answer, reading="probability")
    for gone, value in enumerate(item["p"]):
        left = " ".join(word for place, word in enumerate(item["words"]) if not gone >> place & 1)
        if left:
            alone = Perturber(lm, lm.inputs([left], unit="sentence"), check=False).full
            assert value / found["scale"] == pytest.approx(alone.item(), abs=1e-4)


# --------------------------------------------------------------------------------------------------------- in a browser
def of_cell(made: str) -> str:
    """What a cell shows, as the book has it: the theme lays that on a sheet in dark mode."""
    return f'<div class="cell_output docutils container"><div class="output text_html">{made}</div></div>'


def linked(article: str) -> str:
    """A page with this in it, in the book's own styles and with its scripts."""
    theme = [THEME / name for name in ("theme.css", "bootstrap.css", "pydata-sphinx-theme.css")]
    styles = [path for path in (*theme, BOOK_THEME, STATIC / "book.css") if path.is_file()]
    head = "".join(f'<link rel="stylesheet" href="{path.as_uri()}">' for path in styles)
    scripts = [(STATIC / name).as_uri() for name in ("tables.js", "values.js", "play.js")]
    head += "".join(f'<script src="{address}"></script>' for address in scripts)
    dark = "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<script>document.documentElement.dataset.theme = {dark}</script>{head}"
        f'<body><main class="bd-main bd-content"><article class="bd-article">{article}</article></main>'
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four games, made by the functions that the report calls, in the book's own styles."""
    data = {"erase": erase_data(), "prompt": shown.erased_prompt(), "soft": soft_data(), "saco": saco_data()}
    made = "".join(
        of_cell(shown.game_html(kind, content, label=f"Game: {kind}", picture=f"picture-{kind}").data)
        + f'<figure id="picture-{kind}">picture</figure>'
        for kind, content in data.items()
    )
    path = tmp_path_factory.mktemp("play") / "page.html"
    path.write_text(linked(made), encoding="utf-8")
    return path.as_uri()


TOLD = "document.querySelector('#game-{} .told').textContent"


def press(window: Browser, *words: int) -> str:
    """Click words of the first game; returns what is said then."""
    for word in words:
        window.page.locator("#game-erase .words button").nth(word).click()
    return str(window.evaluate(TOLD.format("erase")))


def number(text: str, before: str) -> float:
    """The number that follows some words."""
    found = re.search(re.escape(before) + r"\s*(−?)(\d*\.\d+)", text)
    assert found, (before, text)
    return float(found[2]) * (-1 if found[1] else 1)


@pytest.mark.browser
def test_an_order_is_clicked_and_its_aopc_is_that_of_numpy(window: Browser, page: str) -> None:
    asked = window.open(page)
    assert all(url.startswith("file:") for url in asked)
    answers, item = games.every_answer(table())[0].numpy(), erase_data()["items"][0]
    order = [2, 0, 4, 1, 3]
    others = window.page.locator("#game-erase .others")
    for step in range(1, N):
        told = press(window, order[step - 1])
        assert f"{step} of {N} words gone" in told
        assert number(told, "so far:") == pytest.approx(aopc(answers, order[:step]), abs=6e-4)
        assert not others.is_visible()
    told = press(window, order[-1])
    assert number(told, "AOPC of your order:") == pytest.approx(aopc(answers, order), abs=6e-4)
    bounds = window.page.text_content("#game-erase .bounds p")
    share = (aopc(answers, order) - item["lower"]) / (item["upper"] - item["lower"])
    assert number(bounds, "(NAOPC") == pytest.approx(share, abs=6e-3)
    assert number(bounds, "the worst has") == pytest.approx(item["lower"], abs=6e-4)
    assert number(bounds, "the best") == pytest.approx(item["upper"], abs=6e-4)
    assert number(bounds, "gets") == pytest.approx(item["chance"], abs=6e-4)
    assert others.is_visible()
    rows = [row.locator("> *").all_text_contents() for row in window.page.locator("#game-erase tbody tr").all()]
    assert {row[0] for row in rows} == {"you", "occlusion", "LIME", "the best", "the worst"}
    values = [number(row[1], "") for row in rows]
    assert values == sorted(values, reverse=True)
    assert next(row[3] for row in rows if row[0] == "you") == ", ".join(WORDS[word] for word in order)
    window.page.locator("#game-erase th button", has_text="LIME").click()
    assert window.page.locator("#game-erase polyline.other").count() == 1
    assert press(window, 4).startswith(f"{N - 1} of {N} words gone")  # pressed again: a word comes back


@pytest.mark.browser
def test_the_game_is_played_by_keyboard(window: Browser, page: str) -> None:
    window.open(page)
    window.page.locator("#game-erase .words button").first.focus()
    for key in ("ArrowRight", "Enter", "ArrowRight", "Space"):
        window.page.keyboard.press(key)
    pressed = "[...document.querySelectorAll('#game-erase .words button')].map(one => one.getAttribute('aria-pressed'))"
    assert window.evaluate(pressed) == ["false", "true", "true", "false", "false"]
    assert window.evaluate("document.activeElement.textContent") == "<dull>2"
    window.page.keyboard.press("Backspace")
    assert window.evaluate(pressed) == ["false", "true", "false", "false", "false"]
    assert window.page.get_attribute("#game-erase .told", "role") == "status"
    # Groups of the picture: up and down by arrows, the focus goes along.
    window.page.locator("#game-saco .groups li").nth(1).locator("button").first.focus()
    window.page.keyboard.press("ArrowUp")
    assert "From the top: B, A, C, D." in window.evaluate(TOLD.format("saco"))
    assert window.evaluate("document.activeElement.getAttribute('aria-label')") == "move group B up"


@pytest.mark.browser
def test_another_text_has_places_a_prompt_sentences_and_bounds_can_be_hidden(window: Browser, page: str) -> None:
    window.open(page)
    window.page.locator("#game-prompt .words button").first.click()
    said = window.evaluate(TOLD.format("prompt"))
    says = shown.erased_prompt()["items"][0]["says"]
    assert said.startswith("1 of 6 sentences gone") and f"Probability of {says}" in said
    window.page.select_option("#game-erase select", index=1)
    words = window.page.locator("#game-erase .words button").all_text_contents()
    assert words == [f"word {place}" for place in range(1, 5)]
    press(window, 0, 1, 2, 3)
    for expected in ([True, True, True], [False, True, False], [True, True, True]):
        parts = ("#game-erase .bounds", "#game-erase .told", "#picture-erase")
        assert [window.page.is_visible(part) for part in parts] == expected
        window.page.locator("#game-erase input[type=checkbox]").click()


@pytest.mark.browser
def test_the_slider_keeps_more_and_says_what_draws_do(window: Browser, page: str) -> None:
    window.open(page)
    slide, kept = window.page.locator("#game-soft input"), window.page.locator("#game-soft .kept")
    assert kept.count() == 2
    told = window.evaluate(TOLD.format("soft"))
    assert "is 0.450 on average, from 0.300 to 0.600" in told and "0.900 with the word, 0.200 without it" in told
    slide.fill("2")
    assert kept.count() == 4
    slide.fill("0")
    assert kept.count() == 0
    assert "is 0.200 on average, from 0.200 to 0.200" in window.evaluate(TOLD.format("soft"))


@pytest.mark.browser
def test_the_coefficient_of_any_order_is_that_of_the_library(window: Browser, page: str) -> None:
    window.open(page)

    def agreed(order: list[int]) -> None:
        told = window.evaluate(TOLD.format("saco"))
        drop = torch.tensor([[DROP[group] for group in order]]).double()
        expected = metrics.saco(torch.tensor([SALIENCE]).double(), drop).item()
        against = sum(DROP[order[i]] < DROP[order[j]] for j in range(4) for i in range(j))
        assert number(told, "SaCo") == pytest.approx(expected, abs=6e-4)
        assert f"{against} of 6 pairs violate" in told
        assert window.page.locator("#game-saco .pairs li").count() == against

    agreed([0, 1, 2, 3])
    groups = window.page.locator("#game-saco .groups li")
    groups.first.locator("button").nth(1).click()
    agreed([1, 0, 2, 3])
    groups.nth(3).drag_to(groups.first)
    agreed([3, 1, 0, 2])
    window.page.locator("#game-saco .bar button").nth(1).click()
    assert "SaCo 1.000: 0 of 6 pairs violate" in window.evaluate(TOLD.format("saco"))


@pytest.mark.browser
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_games_fit_a_telephone_and_are_readable_in_light_and_dark(
    window: Browser, page: str, width: int, dark: bool
) -> None:
    window.open(page, width=width, dark=dark)
    press(window, 0, 1, 2, 3, 4)
    # The checks of the book's pages, of buttons and labels too.
    facts = window.evaluate(ASK.replace('"p, li,', '"button, label, small, b, strong, p, li,'))
    assert facts["theme"] == ("dark" if dark else "light")
    assert (facts["overflow"] <= 0, facts["wide"]) == (True, [])
    assert facts["faint"] == []
