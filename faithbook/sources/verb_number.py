"""Beginnings of sentences after which the verb's number is known: the subject decides it, another noun stands between.

Templates and words are our own. "The keys to the old cabinet" goes on with "are": the word that decides this is the
second, whatever the nearer noun says.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

SUBJECTS = (
    "key", "letter", "picture", "door", "song", "report", "box", "road", "wall", "chair", "book", "window", "gift",
    "sign", "coin", "garden", "boat", "lamp", "ticket", "bridge",
)  # fmt: skip
OTHERS = (
    "cabinet", "teacher", "tower", "farmer", "house", "doctor", "station", "singer", "school", "lawyer", "market",
    "pilot", "castle", "writer", "museum", "soldier", "hotel", "painter", "temple", "sailor",
)  # fmt: skip
PREPOSITIONS = ("near", "behind", "for", "beside", "from")
IS, ARE = " is", " are"
SUBJECT = 1  # the place of the word that decides


class Beginning(NamedTuple):
    """A text, the verb that goes on, the verb that would be wrong, and whether the nearer noun has the other number.

    >>> beginnings(1)[0].verb in (IS, ARE)
    True
    """

    text: str
    verb: str
    wrong: str
    misleads: bool


def beginnings(n: int, *, seed: int = 0) -> list[Beginning]:
    """`n` different beginnings, drawn at random, as many of each number of both nouns as of the others.

    >>> beginnings(4)[0].text.split()[0]
    'The'
    """
    generator = np.random.default_rng(seed)
    whole = list(product(SUBJECTS, PREPOSITIONS, OTHERS))
    drawn = []
    for which in generator.permutation(len(whole))[: -(-n // 4)]:
        subject, preposition, other = whole[which]
        for is_plural, other_is_plural in product((False, True), repeat=2):
            text = f"The {_of(subject, is_plural)} {preposition} the {_of(other, other_is_plural)}"
            verbs = (ARE, IS) if is_plural else (IS, ARE)
            drawn.append(Beginning(text, *verbs, is_plural != other_is_plural))
    return drawn[:n]


def _of(noun: str, is_plural: bool) -> str:
    if not is_plural:
        return noun
    return f"{noun}es" if noun.endswith("x") else f"{noun}s"
