"""Prompts of several sentences of which one has the answer, and news stories with what a model says of them.

Sentences, names and words of "facts" are our own: "Anna lives in Paris. Peter works as a farmer. ... So Anna lives in"
goes on with " Paris", and one sentence decides that; "facts-12" are longer ones. Of "news" (BBC) the model's own
answer is followed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from faithbook.sources.datasets import load_dataset
from faithbook.sources.splits import stable_hash
from faithlib.errors import InputError, unknown
from faithlib.segmentation import cut

ASKED = "Anna"
OTHERS = ("Peter", "Maria", "David", "Sarah", "Thomas", "Laura", "Daniel", "Julia")
CITIES = ("Paris", "London", "Berlin", "Madrid", "Rome", "Vienna", "Oslo", "Dublin", "Athens", "Lisbon")
TRADES = ("teacher", "farmer", "singer", "lawyer", "painter", "doctor", "pilot", "baker", "nurse", "writer")
_LIVES = f"{{text}} So {ASKED} lives in"
TEMPLATES = {"facts": _LIVES, "facts-12": _LIVES, "news": "Article: {text}\nSummary:"}
LONGEST = 24  # words of a sentence of news


class SentencePrompt(NamedTuple):
    """A text of sentences, what follows the prompt (None: what the model says), and which sentence has the answer."""

    id: str
    text: str
    answer: str | None
    decides: int | None


def sentence_prompts(name: str, n: int, *, sentences: int) -> list[SentencePrompt]:
    """`n` texts of so many sentences of "facts", "facts-12" or "news"; more texts keep the first ones. Fewer of news
    where there are no more.

    Raises UnknownNameError for another name, InputError for an odd number of sentences of facts or more than 18.

    >>> one = sentence_prompts("facts", 1, sentences=4)[0]
    >>> one.text.split(". ")[one.decides].rstrip(".") == f"Anna lives in{one.answer}"
    True
    """
    if name not in TEMPLATES:
        raise unknown("texts of sentences", name, TEMPLATES)
    return _news(n, sentences) if name == "news" else _facts(n, sentences)


def _facts(n: int, sentences: int) -> list[SentencePrompt]:
    """Half as many people as sentences: where each of them lives, and what each works as, in any order."""
    people = sentences // 2
    if sentences % 2 or not 1 <= people <= len(OTHERS) + 1:
        raise InputError(f"{sentences} sentences: expected an even number up to {2 * (len(OTHERS) + 1)}")
    prompts = []
    for i in range(n):
        draws = np.random.default_rng([sentences, i])
        names = [ASKED, *(OTHERS[k] for k in draws.permutation(len(OTHERS))[: people - 1])]
        cities, trades = ([names[k] for k in draws.permutation(len(names))[:people]] for names in (CITIES, TRADES))
        facts = [f"{name} lives in {city}." for name, city in zip(names, cities, strict=True)]
        facts += [f"{name} works as a {trade}." for name, trade in zip(names, trades, strict=True)]
        order = draws.permutation(sentences).tolist()
        text = " ".join(facts[k] for k in order)
        prompts.append(SentencePrompt(f"facts-{sentences}-{i}", text, f" {cities[0]}", order.index(0)))
    return prompts


def _news(n: int, sentences: int) -> list[SentencePrompt]:
    """The first sentences of stories in which none of them is long, one line each."""
    data = load_dataset("bbc", "test")
    prompts = []
    for i in sorted(range(len(data)), key=lambda row: stable_hash("told", data.ids[row])):
        text = " ".join(data.texts[i].split())
        spans = cut(text, "sentence")
        first = [text[start:end] for start, end in spans[:sentences]]
        if len(spans) > sentences and all(len(sentence.split()) <= LONGEST for sentence in first):
            prompts.append(SentencePrompt(data.ids[i], " ".join(first), None, None))
        if len(prompts) == n:
            break
    return prompts
