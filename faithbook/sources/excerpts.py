"""Short pieces of long texts around what people marked in them, word by word.

Whole sections of papers have hundreds of words. An excerpt has a fixed number of them, holds the first marked word, and
begins a number of words before it that depends on the text's name alone, so that marks stand anywhere in it.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from faithbook.sources.datasets import Dataset
from faithbook.sources.splits import Span, stable_hash
from faithbook.sources.tokenise import split_words
from faithlib.errors import InputError
from faithlib.inputs import TextInputs


@dataclass(frozen=True)
class Excerpt:
    """Words of the text in row `row` of a data set: what is left of the text (whole where it has a pair), its words as
    spans of that (of text and pair together), and which of them people marked."""

    row: int
    text: str
    words: tuple[Span, ...]
    marked: tuple[bool, ...]


def marked_excerpts(data: Dataset, n: int, *, size: int) -> list[Excerpt]:
    """The first `n` excerpts of `size` words (pairs: whole) with marked and unmarked words, in an order that depends on
    the texts' names alone; fewer where there are no more.

    Raises InputError for a data set that nobody marked.
    """
    excerpts: list[Excerpt] = []
    for row in sorted(range(len(data)), key=lambda i: stable_hash("excerpts", data.ids[i])):
        if len(excerpts) == n:
            break
        excerpts += [
            excerpt for excerpt in _excerpt(data, row, size) if any(excerpt.marked) and not all(excerpt.marked)
        ]
    return excerpts


def words_within(data: Dataset, row: int) -> list[bool]:
    """Which words of a text, or of text and pair together, people marked: those inside a marked span."""
    if data.rationales is None:
        raise InputError(f"{data.name} has no highlights: use 'pair', 'reviews', 'esnli' or a planted data set")
    spans, marks = split_words(data.wholes[row]), data.rationales[row]
    return [any(a <= start and end <= b for a, b in marks) for start, end in spans]


def _excerpt(data: Dataset, row: int, size: int) -> Iterator[Excerpt]:
    spans, marked = split_words(data.wholes[row]), words_within(data, row)
    if not any(marked):
        return
    if data.pairs is not None:
        yield Excerpt(row, data.texts[row], tuple(spans), tuple(marked))
        return
    before = int(stable_hash("excerpt", data.ids[row]), 16) % size
    begin = max(0, min(marked.index(True) - before, len(spans) - size))
    spans, marked = spans[begin : begin + size], marked[begin : begin + size]
    start, end = spans[0][0], spans[-1][1]
    yield Excerpt(row, data.texts[row][start:end], tuple((a - start, b - start) for a, b in spans), tuple(marked))


def excerpt_inputs(data: Dataset, excerpts: Sequence[Excerpt], tokenizer: Any) -> TextInputs:
    """Excerpts of a data set as inputs whose features are their words, each with its query or pair."""
    rows = [excerpt.row for excerpt in excerpts]
    return TextInputs.from_texts(
        [excerpt.text for excerpt in excerpts],
        tokenizer,
        queries=data.queries and [data.queries[i] for i in rows],
        pairs=data.pairs and [data.pairs[i] for i in rows],
        words=[excerpt.words for excerpt in excerpts],
        max_length=data.max_length,
    )


def gold_of(inputs: TextInputs, marked: Sequence[Sequence[bool]]) -> Tensor:
    """What people marked as features, bool [B, F], for inputs made with `words`: a feature is marked where one of its
    words is. A word that the model never sees (cut off at its limit) marks nothing."""
    gold = torch.zeros(inputs.feature_mask.shape, dtype=torch.bool)
    for b, (marks, features) in enumerate(zip(marked, inputs.feature_of_word, strict=True)):
        for mark, feature in zip(marks, features, strict=True):
            if mark and feature >= 0:
                gold[b, feature] = True
    return gold
