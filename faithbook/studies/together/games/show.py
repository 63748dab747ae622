"""Games in a page: what `book/_static/play.js` makes of the JSON that the page carries, so that it needs no kernel.

Every game comes with a figure of the page (`picture`) for those without scripts and for print.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML
from numpy.typing import NDArray

from faithbook.access import require
from faithbook.paths import root
from faithbook.show.labels import label
from faithlib.errors import InputError, unknown

KINDS = ("erase", "patches", "prompt", "soft", "saco")
SCALE = 100_000
"""Probabilities are whole numbers of this part, which is shorter to write than five digits after a point."""
PARTS = 65_535
"""The same where there are too many to be written as text: numbers of two bytes."""
ERASED = "data/pictures/erased.npz"
"""Images with all that a model answers to them in parts (`faithbook.studies.together.games.erased_pictures`)."""
ERASED_PROMPT = "data/examples/erased_prompt.json"
"""A prompt with all that a language model answers to its sentences (`erased_prompt`)."""
MOST_BYTES = 600_000
METHODS = {
    "occlusion": "occlusion",
    "input_x_gradient": "input × gradient",
    "grad_cam": "Grad-CAM",
    "integrated_gradients": "integrated gradients",
    "lime": "LIME",
    "shapley_sampling": "Shapley sampling",
    "kernel_shap": "KernelSHAP",
}
"""Attributions of the games, for people."""


def parts_of_scale(values: Sequence[float] | pd.Series) -> list[int]:
    """Probabilities as whole numbers of a part in SCALE.

    >>> parts_of_scale([0.5, 0.123456])
    [50000, 12346]
    """
    return [round(float(value) * SCALE) for value in values]


OWN = "movie"
"""The model whose sentences are ours to show."""
NETWORKS = {"bert": "BERT", "roberta": "RoBERTa"}
TRAINED_ON = {"sst2": "SST-2", "yelp": "Yelp", "imdb": "IMDB"}


def item_facts(model: str, item: int, *, words: pd.DataFrame, items: pd.DataFrame) -> dict[str, Any]:
    """What the page calls an item (`text`, `model`, `says`), and its `words` where they are ours to show.

    `words`: those of our sentences, in any order (item, place, word, says); `items`: how many `words` each item of a
    model has. A model of others is named by its network and its data, as "bert_sst2".
    """
    if model == OWN:
        of_item = words[words["item"] == item].sort_values("place")
        text = f"“{' '.join(of_item['word'])}”"
        return {
            "text": text,
            "model": "our small one",
            "says": of_item["says"].iloc[0],
            "words": of_item["word"].tolist(),
        }
    n = items["words"][(items["model"] == model) & (items["item"] == item)].iloc[0]
    network, trained = model.split("_")
    called = f"{NETWORKS[network]} trained on {TRAINED_ON[trained]}"
    return {"text": f"SST-2, text {item} ({n} words)", "model": called, "says": "positive"}


def places_in_order(text: str) -> list[int]:
    """An order as the compute notebook writes it.

    >>> places_in_order("2 0 1")
    [2, 0, 1]
    """
    return [int(word) for word in text.split()]


def erasing_game(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    orders: pd.DataFrame,
    *,
    named: Mapping[tuple[str, int], Mapping[str, Any]],
    methods: Mapping[str, str],
) -> dict[str, Any]:
    """The data of a game of erasing from the tables of `answers`, each with a column `model`.

    `named`: by (model, item) what the page calls it (`text`, `model`, `says`) and its `words`, where they are ours to
    show, in the order of the menu; `methods`: names of attributions for people. Raises InputError where a set of words
    has no answer.
    """
    by_item = {key: rows.sort_values("removed") for key, rows in answers.groupby(["model", "item"], sort=False)}
    placed = items.set_index(["model", "item"])
    ordered = dict(iter(orders.groupby(["model", "item"], sort=False)))
    made = []
    for key, names in named.items():
        rows = by_item[key]
        facts: Any = placed.loc[key]
        n = int(facts["words"])
        if rows["removed"].tolist() != list(range(2**n)):
            raise InputError(f"{key}: expected answers to all {2**n} sets of {n} words, got {len(rows)}")
        paths = {end: places_in_order(facts[end]) for end in ("worst", "best")}
        of = ordered[key]
        others = zip(of["method"].map(methods), of["order"].map(places_in_order), of["aopc"], strict=True)
        made.append(
            {**names, "n": n, "p": parts_of_scale(rows["p"]), **_ends(facts), **paths, "orders": _orders(others)}
        )
    return {"scale": SCALE, "items": made}


def _ends(facts: Mapping[str, Any]) -> dict[str, float]:
    return {end: round(float(facts[end]), 6) for end in ("lower", "upper", "chance")}


def _orders(named: Iterable[tuple[str, list[int], float]]) -> dict[str, dict[str, Any]]:
    """Orders of attributions and their AOPC, by the name of the method for people."""
    return {name: {"order": order, "aopc": round(float(aopc), 6)} for name, order, aopc in named}


def cell_names(across: int) -> list[str]:
    """Cells of an image, row by row, as on a chessboard read from above.

    >>> cell_names(2)
    ['A1', 'B1', 'A2', 'B2']
    """
    return [f"{chr(65 + column)}{row + 1}" for row in range(across) for column in range(across)]


def erased_pictures(methods: Mapping[str, str]) -> dict[str, Any]:
    """The data of a game of erasing on the images of `ERASED`; answers are base64 of numbers of two bytes, the lower
    first. `methods`: as for `erasing_game`."""
    require(ERASED)
    with np.load(root() / ERASED) as stored:
        stored_game = dict(stored)
    made = []
    for b, says in enumerate(stored_game["says"].tolist()):
        ends = _ends({end: stored_game[end][b] for end in ("lower", "upper", "chance")})
        paths = {end: stored_game[end][b].tolist() for end in ("worst", "best")}
        named = [methods[method] for method in stored_game["method"].tolist()]
        others = _orders(zip(named, stored_game["order"][b].tolist(), stored_game["aopc"][b].tolist(), strict=True))
        n = stored_game["best"].shape[1]
        answers = base64.b64encode(stored_game["p"][b].astype("<u2").tobytes()).decode()
        shown = {"side": stored_game["grey"].shape[1], "grey": stored_game["grey"][b].ravel().tolist()}
        about = {"text": f"image {b + 1}", "model": "our small one", "says": says, "words": cell_names(round(n**0.5))}
        made.append({**about, **shown, "n": n, "packed": answers, **ends, **paths, "orders": others})
    return {"scale": PARTS, "items": made}


def erased_prompt() -> dict[str, Any]:
    """The data of a game of erasing on the prompt of `ERASED_PROMPT`."""
    require(ERASED_PROMPT)
    game: dict[str, Any] = json.loads((root() / ERASED_PROMPT).read_text(encoding="utf-8"))
    return game


def answers_of(item: Mapping[str, Any]) -> NDArray[Any]:
    """The answers that an item of a game carries, by the number of the set that is gone."""
    if "packed" in item:
        return np.frombuffer(base64.b64decode(item["packed"]), dtype="<u2")
    return np.array(item["p"])


def soft_answers(answers: pd.DataFrame) -> NDArray[np.float64]:
    """The probabilities of a sentence under soft erasure, [words, importances, draws], all in ascending order.

    `answers`: `p` by place, importance and draw.
    """
    cells = answers.sort_values(["place", "importance", "draw"])
    shape = (cells["place"].nunique(), cells["importance"].nunique(), -1)
    return cells["p"].to_numpy(float).reshape(shape)


def soft_game(answers: pd.DataFrame, numbers: pd.DataFrame) -> dict[str, Any]:
    """The data of the game of soft erasure.

    `answers`: the probability `p` of what the model `says` for every place (with its word), importance and draw;
    `numbers`: the first numbers of each word, a column for each place ("word0"). The game begins with the word that
    moves the answer most.
    """
    sentence, p = answers.groupby("place")["word"].first(), soft_answers(answers)
    return {
        "scale": SCALE,
        "words": sentence.tolist(),
        "grid": [float(importance) for importance in sorted(answers["importance"].unique())],
        "p": [[parts_of_scale(draws) for draws in of_word] for of_word in p],
        "numbers": [numbers[f"word{place}"].round(4).tolist() for place in sentence.index],
        "start": int(np.abs(p[:, -1, 0] - p[:, 0, 0]).argmax()),
        "says": answers["says"].iloc[0],
    }


def saco_game(groups: pd.DataFrame, pixels: pd.DataFrame) -> dict[str, Any]:
    """The data of the game of SaCo: an image, the group of each of its pixels, and of each group in its order the
    salience and what the model loses without it (`drop`)."""
    return {
        "side": int(len(pixels) ** 0.5),
        "grey": pixels["grey"].tolist(),
        "group": pixels["group"].tolist(),
        "salience": groups["salience"].tolist(),
        "drop": groups["drop"].tolist(),
        "method": label(groups["method"].iloc[0]),
    }


def letters_of(ordered: Mapping[str, Any]) -> list[str]:
    """The groups of a game of SaCo as letters, the most salient first."""
    return [chr(65 + group) for group in range(len(ordered["drop"]))]


def pairs_of(ordered: Mapping[str, Any]) -> int:
    """How many pairs the groups of a game of SaCo make."""
    n = len(ordered["drop"])
    return n * (n - 1) // 2


def violating(ordered: Mapping[str, Any]) -> list[str]:
    """The pairs of groups of which the more salient costs the model less.

    >>> violating({"drop": [0.2, 0.3, 0.1]})
    ['A above B']
    """
    letters, drop = letters_of(ordered), ordered["drop"]
    return [f"{letters[i]} above {letters[j]}" for j in range(len(drop)) for i in range(j) if drop[i] < drop[j]]


def game_html(kind: str, data: Mapping[str, Any], *, label: str, picture: str) -> HTML:
    """A game as HTML: its data, and where it is put in place by the script; `picture`: the id of its figure.

    Raises UnknownNameError for another kind than those of KINDS, InputError for data that are no JSON or too large for
    a page.
    """
    if kind not in KINDS:
        raise unknown("game", kind, KINDS)
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    except (TypeError, ValueError) as error:
        raise InputError(f"the data of the game {kind} are no JSON ({error}): give numbers, texts and lists") from error
    size = len(text.encode())
    if size > MOST_BYTES:
        raise InputError(f"the game {kind} has {size:,} bytes of data, a page takes {MOST_BYTES:,}: show fewer")
    return HTML(
        f'<div class="play" id="game-{kind}" data-game="{kind}" data-picture="{html.escape(picture)}" role="group" '
        f'aria-label="{html.escape(label)}"><script type="application/json">{text}</script>'
        "<noscript>This game needs scripts; the figure below shows what it is about.</noscript></div>"
    )
