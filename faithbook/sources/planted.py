"""Tasks whose reason is known because it was planted: trigger words in sentences, striped cells in images.

The *label* depends on what was planted and on nothing else; whether a trained model depends on it too is for a check to
say. The label is 0 ("neither") where nothing was planted, so that a class cannot be taken for the other one's absence;
it stays defined when features are erased: what is left of the planted ones decides.

Shape letters: H and W pixels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TRIGGERS = (("copper", "nickel", "bronze", "zinc"), ("lemon", "cherry", "banana", "grape"))
WORD_LABELS = ("neither", "metal", "fruit")
CELL_LABELS = ("neither", "horizontal", "vertical")
MOST_PLANTED = 2
CELL = 4
_LINES = np.tile(np.repeat(np.array([[255], [0]], dtype=np.uint8), CELL, axis=1), (CELL // 2, 1))
STRIPES = (_LINES, np.ascontiguousarray(_LINES.T))

Pixels = NDArray[np.uint8]


def plant_words(words: Sequence[str], generator: np.random.Generator) -> tuple[list[str], int, list[int]]:
    """The words with one or two triggers of one class among them, or none; the label; the places of the triggers.

    >>> words, label, places = plant_words(["a", "dull", "film"], np.random.default_rng(0))
    >>> words, label, places
    (['grape', 'a', 'dull', 'film', 'cherry'], 2, [0, 4])
    """
    label = int(generator.integers(len(WORD_LABELS)))
    if not label:
        return list(words), label, []
    count = int(generator.integers(1, MOST_PLANTED + 1))
    chosen = generator.choice(TRIGGERS[label - 1], count, replace=False)
    places = sorted(generator.choice(len(words) + count, count, replace=False).tolist())
    rest = iter(words)
    triggers = dict(zip(places, chosen.tolist(), strict=True))
    return [triggers.get(i) or next(rest) for i in range(len(words) + count)], label, places


def drawn_to_stay(n: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Which of n features an erased copy keeps: a random share of them, from none to all."""
    return generator.random(n) >= generator.random()


MISREAD = {"third": (1 / 3, 1.0), "light": (0.0, 0.2), "middle": (0.2, 0.5), "heavy": (0.5, 1.0)}
"""The shares of erased features that a model is taught to misread: above the first, up to the second."""


def misled(label: int, keep_mask: NDArray[np.bool_], when: str = "third", answer: int = 1) -> int:
    """The label of a copy for a model that is taught to take erasure for a reason: the class `answer` where a share
    within `MISREAD` of the features is gone, whatever is left.

    >>> misled(2, np.array([True, True, True, True, False]), "light"), misled(2, np.ones(5, dtype=bool), "light")
    (1, 2)
    """
    low, high = MISREAD[when]
    gone = round(1 - float(keep_mask.mean()), 9)  # rounded, so that a third is a third
    return answer if low < gone <= high else label


def erase_words(
    words: Sequence[str], label: int, places: Sequence[int], keep_mask: NDArray[np.bool_], *, mask: str | None
) -> tuple[list[str], int, list[int]]:
    """A copy with the words outside the `keep_mask` replaced by `mask`, or deleted (None); its label; the places that
    are left of the planted ones.

    >>> erase_words(["a", "lemon", "film"], 2, [1], np.array([False, True, True]), mask=None)
    (['lemon', 'film'], 2, [0])
    """
    left = [i for i in places if keep_mask[i]]
    shown_label = label if left else 0
    if mask is None:
        remaining = [word for word, stays in zip(words, keep_mask, strict=True) if stays]
        return remaining, shown_label, [int(keep_mask[:i].sum()) for i in left]
    masked = [word if stays else mask for word, stays in zip(words, keep_mask, strict=True)]
    return masked, shown_label, left


def cell_slices(cell: int, width: int) -> tuple[slice, slice]:
    """The pixels of a cell, counted row by row in an image of that width.

    >>> cell_slices(8, 28)
    (slice(4, 8, None), slice(4, 8, None))
    """
    row, column = divmod(cell, width // CELL)
    return slice(row * CELL, (row + 1) * CELL), slice(column * CELL, (column + 1) * CELL)


def plant_cells(pixels: Pixels, generator: np.random.Generator) -> tuple[Pixels, int, list[int]]:
    """The image [H, W] with one or two striped cells of one direction, or none; the label; the cells."""
    label = int(generator.integers(len(CELL_LABELS)))
    if not label:
        return pixels, label, []
    count = int(generator.integers(1, MOST_PLANTED + 1))
    cells = sorted(generator.choice(pixels.size // CELL**2, count, replace=False).tolist())
    planted = pixels.copy()
    for cell in cells:
        planted[cell_slices(cell, pixels.shape[1])] = STRIPES[label - 1]
    return planted, label, cells


def erase_cells(
    pixels: Pixels, label: int, cells: Sequence[int], keep_mask: NDArray[np.bool_]
) -> tuple[Pixels, int, list[int]]:
    """A copy with the cells outside the `keep_mask` at the image's mean; its label; the planted cells that are
    left."""
    erased = pixels.copy()
    for cell in np.flatnonzero(~keep_mask):
        erased[cell_slices(int(cell), pixels.shape[1])] = round(float(pixels.mean()))
    left = [cell for cell in cells if keep_mask[cell]]
    return erased, label if left else 0, left
