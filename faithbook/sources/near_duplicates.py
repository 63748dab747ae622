"""Texts that are nearly another one, found and left out of what a model learns from.

Two texts are near duplicates where their sets of words (runs of letters and digits, case aside) share at least four
fifths of all their words together (Jaccard similarity). A text with fewer than four different words has near duplicates
only in texts with the very same words.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from faithlib.errors import InputError

THRESHOLD = 0.8
_WORD = re.compile(r"[^\W_]+")
_SHORT = 4  # words; below, one common word more or less is a fifth of all


def near_duplicates(texts: Sequence[str], others: Sequence[str], *, threshold: float = THRESHOLD) -> list[int]:
    """The places of the texts that nearly equal one of `others`.

    Exact: sets with a similarity of at least t share one of their ⌊(1 - t) size⌋ + 1 rarest words, so that only texts
    with such a word in common are compared. Raises InputError for a threshold outside (0, 1].

    >>> near_duplicates(["A fine film.", "a poor film"], ["a fine , fine film"])
    [0]
    """
    if not 0 < threshold <= 1:
        raise InputError(f"threshold {threshold}: expected a similarity above 0, at most 1")
    ours, theirs = list(map(distinct_words, texts)), list(map(distinct_words, others))
    common = Counter(word for words in [*ours, *theirs] for word in words)

    def rarest(words: frozenset[str]) -> list[str]:
        # Rounded up against 1 - 0.8 being a little less than 0.2: one word more is looked up, none is lost.
        prefix = math.floor((1 - threshold) * len(words) + 1e-9) + 1
        return sorted(words, key=lambda word: (common[word], word))[:prefix]

    places: dict[str, list[int]] = defaultdict(list)
    for i, words in enumerate(theirs):
        for word in rarest(words):
            places[word].append(i)
    near = []
    for i, words in enumerate(ours):
        candidates = {j for word in rarest(words) for j in places.get(word, ())}
        if any(_is_near(words, theirs[j], threshold) for j in candidates):
            near.append(i)
    return near


def distinct_words(text: str) -> frozenset[str]:
    """The different words of a text, case aside."""
    return frozenset(_WORD.findall(text.casefold()))


def _is_near(first: frozenset[str], second: frozenset[str], threshold: float) -> bool:
    if min(len(first), len(second)) < _SHORT:
        return first == second
    return len(first & second) >= threshold * len(first | second)
