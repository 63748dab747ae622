"""Harder planted tasks: no feature is the reason alone, so that a model may be right and its explanation wrong.

- "meeting": two words must meet. The label is 1 where a metal *and* a fruit stand in the text, else 0.
- "negation": a word with a negation. A metal says 1, a fruit says 2; with a negation in the text, each says the other.
- "beside": a cell that counts only beside another. The label is 1 where a cell of horizontal stripes touches one of
  vertical stripes by a side, else 0.

Where the label is 0 something may be planted all the same (a metal alone, two cells apart), so that its presence alone
tells nothing. The label stays defined when features are erased: what is left decides. A label of 0 has no reason.

Made of the same film reviews and pictures of clothes as the easier tasks (`faithbook.sources.planted`), in the splits
that these have. Shape letters: H and W pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from faithbook.declared import remembered
from faithbook.sources import planted
from faithbook.sources.datasets import Dataset, load_dataset
from faithbook.sources.images import Pictures, load_pictures
from faithbook.sources.splits import seeded
from faithlib.errors import InputError, unknown

METAL, FRUIT, NEGATION = range(3)
WORDS: tuple[tuple[str, ...], ...] = (*planted.TRIGGERS, ("never", "hardly", "without"))
_FEWEST, _MOST = 4, 10  # words of a review

Kinds = frozenset[int]


@dataclass(frozen=True)
class WordTask:
    """A task on words: its classes, the label that the kinds of planted words give, and which kinds are planted
    together (each as often as it stands here)."""

    labels: tuple[str, ...]
    label: Callable[[Kinds], int]
    planted: tuple[tuple[int, ...], ...]


def _meeting(kinds: Kinds) -> int:
    return int({METAL, FRUIT} <= kinds)


def _negation(kinds: Kinds) -> int:
    named = [kind for kind in (METAL, FRUIT) if kind in kinds]
    if len(named) != 1:
        return 0
    return 1 + (named[0] ^ int(NEGATION in kinds))


WORD_TASKS = {
    "meeting": WordTask(
        ("apart", "together"), _meeting, ((METAL, FRUIT), (METAL, FRUIT), (METAL, FRUIT), (METAL,), (FRUIT,), ())
    ),
    "negation": WordTask(
        ("neither", "metal", "fruit"),
        _negation,
        ((METAL,), (METAL, NEGATION), (FRUIT,), (FRUIT, NEGATION), (NEGATION,), ()),
    ),
}
BESIDE = "beside"
BESIDE_LABELS = ("apart", "beside")
TASKS = (*WORD_TASKS, BESIDE)
HORIZONTAL, VERTICAL = range(2)


def kind_of(word: str) -> int | None:
    """Which kind of planted word it is, None for any other.

    >>> kind_of("lemon"), kind_of("film")
    (1, None)
    """
    return next((kind for kind, words in enumerate(WORDS) if word in words), None)


def told(task: str, words: Sequence[str]) -> tuple[int, list[int]]:
    """The label of words, and the places of its reason: every planted word that is left, none where the label is 0.

    >>> told("meeting", ["a", "copper", "lemon"]), told("meeting", ["a", "copper", "film"])
    ((1, [1, 2]), (0, []))
    >>> told("negation", ["never", "copper"]), told("negation", ["copper"])
    ((2, [0, 1]), (1, [0]))
    """
    kinds = [kind_of(word) for word in words]
    label = WORD_TASKS[task].label(frozenset(kind for kind in kinds if kind is not None))
    return label, [place for place, kind in enumerate(kinds) if kind is not None] if label else []


def plant(task: str, words: Sequence[str], generator: np.random.Generator) -> tuple[list[str], int, list[int]]:
    """The words with the task's among them at random places; the label; the places of its reason.

    Raises UnknownNameError for no such task of words, InputError where one of the words is among those to be planted.
    """
    if task not in WORD_TASKS:
        raise unknown("task of planted words", task, WORD_TASKS)
    if strange := [word for word in words if kind_of(word) is not None]:
        raise InputError(f"{strange[0]!r} is one of the words that are planted: leave such texts out")
    choices = WORD_TASKS[task].planted
    chosen = [str(generator.choice(WORDS[kind])) for kind in choices[int(generator.integers(len(choices)))]]
    places = sorted(generator.choice(len(words) + len(chosen), len(chosen), replace=False).tolist())
    generator.shuffle(chosen)
    rest, new = iter(words), dict(zip(places, chosen, strict=True))
    found = [new.get(i) or next(rest) for i in range(len(words) + len(chosen))]
    return found, *told(task, found)


def erase(
    task: str, words: Sequence[str], kept: NDArray[np.bool_], *, mask: str | None
) -> tuple[list[str], int, list[int]]:
    """A copy with the words that are not `kept` replaced by `mask`, or deleted (None); its label; its reason's places.

    >>> erase("negation", ["never", "copper"], np.array([False, True]), mask="[MASK]")
    (['[MASK]', 'copper'], 1, [1])
    """
    pairs = zip(words, kept, strict=True)
    found = [word if stays else str(mask) for word, stays in pairs if stays or mask is not None]
    return found, *told(task, found)


def load_words(task: str, split: str = "test", *, n: int | None = None) -> Dataset:
    """Beginnings of film reviews with the task's words among them; `rationales`: the characters of the reason.

    A larger `n` keeps the texts of a smaller one. Errors as `plant` and `load_dataset`.
    """
    if task not in WORD_TASKS:
        raise unknown("task of planted words", task, WORD_TASKS)
    return _words(task, split) if n is None else _first(_words(task, split), n)


@remembered
def _words(task: str, split: str) -> Dataset:
    reviews = load_dataset("movie", split)
    rows = []
    for name, text in zip(reviews.ids, reviews.texts, strict=True):
        words = text.split()[:_MOST]
        taken = any(one in word.lower() for word in words for kind in WORDS for one in kind)
        if len(words) >= _FEWEST and not taken:
            found, label, places = plant(task, words, seeded(task, name))
            rows.append((f"{task}-{name}", " ".join(found), label, _spans(found, places)))
    ids, texts, labels, spans = zip(*rows, strict=True)
    names = WORD_TASKS[task].labels
    return Dataset(f"planted-{task}", split, texts, labels, ids, names, 32, reviews.digest, rationales=spans)


def _spans(words: Sequence[str], places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    starts = [sum(len(word) + 1 for word in words[:place]) for place in places]
    return tuple((start, start + len(words[place])) for start, place in zip(starts, places, strict=True))


def _first(data: Dataset, n: int) -> Dataset:
    if n < 1:
        raise InputError(f"n {n}: expected at least one text")
    assert data.rationales is not None
    cut = {name: getattr(data, name)[:n] for name in ("texts", "labels", "ids", "rationales")}
    return replace(data, **cut)


# ------------------------------------------------------------------------------------------------------------ pictures
def neighbours(cell: int, across: int, down: int) -> list[int]:
    """The cells that share a side with one, counted row by row.

    >>> neighbours(0, 7, 7), neighbours(8, 7, 7)
    ([1, 7], [7, 9, 1, 15])
    """
    row, column = divmod(cell, across)
    found = [(row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)]
    return [r * across + c for r, c in found if 0 <= r < down and 0 <= c < across]


def touching(striped: dict[int, int], across: int, down: int) -> list[int]:
    """The cells, of {cell: direction of stripes}, that touch one of the other direction: the reason, none for label 0.

    >>> touching({0: HORIZONTAL, 1: VERTICAL, 30: VERTICAL}, 7, 7)
    [0, 1]
    """
    return sorted(
        cell
        for cell, direction in striped.items()
        if any(striped.get(other, direction) != direction for other in neighbours(cell, across, down))
    )


def plant_beside(
    pixels: NDArray[np.uint8], generator: np.random.Generator
) -> tuple[NDArray[np.uint8], int, dict[int, int]]:
    """The picture [H, W] with striped cells; its label; the cells with their direction of stripes.

    Half of the pictures have one of each direction side by side; the others have these two apart, or one alone.
    """
    across, down = pixels.shape[1] // planted.CELL, pixels.shape[0] // planted.CELL
    label = int(generator.integers(2))
    first = int(generator.integers(across * down))
    near = neighbours(first, across, down)
    far = [cell for cell in range(across * down) if cell != first and cell not in near]
    directions = generator.permutation([HORIZONTAL, VERTICAL]).tolist()
    striped = {first: int(directions[0])}
    if label or generator.random() < 2 / 3:
        striped[int(generator.choice(near if label else far))] = int(directions[1])
    drawn = pixels.copy()
    for cell, direction in striped.items():
        drawn[planted.cell_slices(cell, pixels.shape[1])] = planted.STRIPES[direction]
    return drawn, label, striped


def erase_beside(
    pixels: NDArray[np.uint8], striped: dict[int, int], kept: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], int, dict[int, int]]:
    """A copy with the cells that are not `kept` at the picture's mean; its label; what is left of the striped cells."""
    erased, _, _ = planted.erase_cells(pixels, 0, [], kept)
    left = {cell: direction for cell, direction in striped.items() if kept[cell]}
    across, down = pixels.shape[1] // planted.CELL, pixels.shape[0] // planted.CELL
    return erased, int(bool(touching(left, across, down))), left


def load_cells(split: str = "test", *, n: int | None = None) -> Pictures:
    """Pictures of clothes with striped cells; `cells`: those of the reason, none where the label is 0."""
    source = load_pictures("fashion", split, n=n)
    rows = []
    for name, image in zip(source.ids, source.images, strict=True):
        drawn, label, striped = plant_beside(np.asarray(image), seeded(BESIDE, name))
        across, down = drawn.shape[1] // planted.CELL, drawn.shape[0] // planted.CELL
        rows.append((drawn, label, tuple(touching(striped, across, down)), f"{BESIDE}-{name}"))
    images, labels, cells, ids = zip(*rows, strict=True)
    return Pictures(f"planted-{BESIDE}", split, images, labels, ids, BESIDE_LABELS, source.digest, cells)
