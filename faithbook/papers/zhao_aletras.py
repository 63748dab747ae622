"""Where the released code of Zhao & Aletras (2023) differs from their text.

No tensors here: pages read it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, combinations

RELEASED = {
    "empty text": ("zero embeddings", "padding"),
    "lengths": ("five", "seven"),
    "limits": ("none", "0 to 1"),
    "scaled attention": ("with gradient", "squared"),
    "draws": ("several", "one"),
    "normaliser": ("min-max", "two of its own"),
    "mask": ("as written", "inverted"),
    "ties": ("no win", "wins"),
}
"""The choices in which the released pipeline leaves the text: by choice the text's option (the book's own, where the
text names none) and the code's."""
HARD_CHOICES = ("empty text", "lengths", "limits")
SOFT_CHOICES = ("empty text", "limits", "draws", "normaliser", "mask")
"""Those that change a value of a single input. What is left of `RELEASED` is read from these values: another
attribution, and how ties count."""
SQUARED = "scaled_attention_squared"
"""Attention multiplied by attention, as the released script has it, beside that multiplied by its gradient."""


def choices_of(metric: str) -> tuple[str, ...]:
    """The choices that a metric's values depend on.

    >>> choices_of("nc")
    ('empty text', 'lengths', 'limits')
    """
    return SOFT_CHOICES if metric.startswith("soft_") else HARD_CHOICES


def replay_name(metric: str, released: Collection[str]) -> str:
    """The name of a metric's values where these choices are the released code's and all others the text's.

    >>> replay_name("nc", ["mask", "limits", "empty text"])
    'empty text, limits'
    >>> replay_name("soft_nc", ["lengths", "ties"])
    'as written'
    """
    return ", ".join(name for name in choices_of(metric) if name in released) or "as written"


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every choice of some of the names, from none to all.

    >>> list(subsets("ab"))
    [(), ('a',), ('b',), ('a', 'b')]
    """
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))
