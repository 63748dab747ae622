"""Pictures in the game of erasing: the committed answers are the shipped model's, and the game is played on them in a
browser."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
import torch
from browser import Browser
from test_games import TOLD, linked, number, of_cell

from faithbook.paths import root
from faithbook.studies.together.games import erased_pictures as images
from faithbook.studies.together.games import show as games
from faithlib.perturb import Perturber

METHODS = {name: name for name in images.METHODS}
N = 16


@pytest.fixture(scope="module")
def kept() -> dict[str, np.ndarray]:
    with np.load(root() / games.ERASED) as stored:
        return dict(stored)


def aopc(answers: np.ndarray, order: list[int]) -> float:
    """Step by step: how far the answer has fallen, mean over the removals."""
    gone = np.cumsum([1 << cell for cell in order])
    return float(np.mean(answers[0] / games.PARTS - answers[gone] / games.PARTS))


# ------------------------------------------------------------------------------------------------------- what is kept
def test_the_answers_are_those_of_the_shipped_model(kept: dict[str, np.ndarray]) -> None:
    """Sets of cells by chance, none and all, asked again; and the pictures are those that the rule chooses."""
    model, pictures, inputs = images.model_and_images()
    assert [picture.ids[0] for picture in pictures] == kept["id"].tolist()
    assert [picture.label_names[picture.labels[0]] for picture in pictures] == kept["says"].tolist()
    assert len(set(kept["says"].tolist())) == images.PICTURES == len(kept["p"])
    gone = np.r_[0, 2**N - 1, np.random.default_rng(0).integers(2**N, size=30)]
    keep = torch.tensor(gone[:, None] >> np.arange(N) & 1 == 0)
    asked = Perturber(model, inputs, erase="mean").keep(keep.expand(len(inputs), -1, -1))
    assert np.abs(asked.numpy() - kept["p"][:, gone] / games.PARTS).max() < 1e-3


def test_no_order_leaves_the_bounds_and_ends_have_them(kept: dict[str, np.ndarray]) -> None:
    random = np.random.default_rng(1)
    for b, answers in enumerate(kept["p"]):
        low, high, chance = (float(kept[end][b]) for end in ("lower", "upper", "chance"))
        assert aopc(answers, kept["worst"][b].tolist()) == pytest.approx(low, abs=1e-9)
        assert aopc(answers, kept["best"][b].tolist()) == pytest.approx(high, abs=1e-9)
        drawn = [aopc(answers, random.permutation(N).tolist()) for _ in range(2000)]
        assert low <= min(drawn) and max(drawn) <= high
        assert np.mean(drawn) == pytest.approx(chance, abs=4 * np.std(drawn) / 2000**0.5)
        for order, value in zip(kept["order"][b], kept["aopc"][b], strict=True):
            assert sorted(order.tolist()) == list(range(N))
            assert aopc(answers, order.tolist()) == pytest.approx(value, abs=1e-6)


def test_the_page_carries_the_answers_as_they_are_kept(kept: dict[str, np.ndarray]) -> None:
    data = games.erased_pictures(METHODS)
    assert data["scale"] == games.PARTS and len(json.dumps(data)) < games.MOST_BYTES
    for b, item in enumerate(data["items"]):
        assert (games.answers_of(item) == kept["p"][b]).all()
        assert len(item["orders"]) == 5 and item["n"] == N
        assert item["words"][:5] == ["A1", "B1", "C1", "D1", "A2"]
        assert np.array_equal(np.reshape(item["grey"], (28, 28)), kept["grey"][b])


# --------------------------------------------------------------------------------------------------------- in a browser
def small() -> dict[str, Any]:
    """Two pictures of 2 x 2 cells, with answers of two bytes."""
    drawn = np.random.default_rng(2).integers(games.PARTS, size=(2, 16)).astype("<u2")
    ends = {"lower": 0.1, "upper": 0.6, "chance": 0.3, "worst": [3, 2, 1, 0], "best": [0, 1, 2, 3]}
    other = {"occlusion": {"order": [1, 0, 2, 3], "aopc": 0.4}}
    shown = {"n": 4, "side": 4, "grey": list(range(0, 160, 10)), "words": games.cell_names(2), "model": "ours"}
    items = [
        {"text": f"picture {b + 1}", "says": "boot", "packed": base64.b64encode(p.tobytes()).decode(), **shown, **ends}
        | {"orders": other}
        for b, p in enumerate(drawn)
    ]
    return {"scale": games.PARTS, "items": items}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = games.game_html("patches", small(), label="Game: patches", picture="picture").data
    path = tmp_path_factory.mktemp("erased") / "page.html"
    path.write_text(linked(f'{of_cell(made)}<figure id="picture">picture</figure>'), encoding="utf-8")
    return path.as_uri()


CELLS = "[...document.querySelectorAll('#game-patches .patches button')]"


@pytest.mark.browser
def test_cells_are_pressed_and_the_aopc_is_that_of_numpy(window: Browser, page: str) -> None:
    asked = window.open(page)
    assert all(url.startswith(("file:", "data:image/png")) for url in asked)
    order, answers = [2, 0, 3, 1], games.answers_of(small()["items"][0])
    before = window.evaluate(f"getComputedStyle({CELLS}[2]).backgroundColor")
    for cell in order[:-1]:
        window.evaluate(f"{CELLS}[{cell}].click()")
    told = window.evaluate(TOLD.format("patches"))
    assert "3 of 4 cells gone" in told and number(told, "so far:") == pytest.approx(aopc(answers, order[:-1]), abs=6e-4)
    # What is gone has the mean of the picture, 75.
    assert window.evaluate(f"getComputedStyle({CELLS}[2]).backgroundColor") == "rgb(75, 75, 75)" != before
    window.evaluate(f"{CELLS}[1].click()")
    told = window.evaluate(TOLD.format("patches"))
    assert number(told, "AOPC of your order:") == pytest.approx(aopc(answers, order), abs=6e-4)
    rows = window.evaluate("[...document.querySelectorAll('#game-patches tbody tr')].map(row => row.innerText)")
    assert len(rows) == 4 and any("A2, A1, B2, B1" in row for row in rows)


@pytest.mark.browser
def test_cells_are_reached_by_arrows(window: Browser, page: str) -> None:
    window.open(page)
    window.evaluate(f"{CELLS}[3].focus()")
    window.page.keyboard.press("ArrowUp")
    assert window.evaluate("document.activeElement.textContent") == "B1"
    window.page.keyboard.press("Space")
    assert window.evaluate(f"{CELLS}.map(one => one.getAttribute('aria-pressed'))") == "false true false false".split()
    assert window.evaluate("document.querySelector('#game-patches label').textContent").startswith("Image")
