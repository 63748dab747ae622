"""Names and numbers in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MINUS = "−"
"""The sign before negative numbers, everywhere in the book; data to download have a hyphen."""
_APART = re.compile(
    r"(<script.*?</script>|```(?!\{(?:figure|table)).*?```|(?<!`)`[^`\n]+`|\$[^$]*\$|<[a-zA-Z/][^>]*>|\]\([^)]*\))",
    re.DOTALL,
)
"""Code, mathematics, tags and links."""
_HYPHEN = re.compile(r"(?<![\w.,/=:#\"'−–-])-(?=\d)")


def some(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many there are beside.

    >>> some(["a", "b", "c"], 2), some(["a", "b"])
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def with_minus_signs(text: str) -> str:
    """MyST text whose negative numbers have a minus sign and not the hyphen that Python writes; code, mathematics, tags
    and links stay.

    >>> with_minus_signs("from -0.12 [-0.20, -0.04] to 0.3 on 2026-11-29, `x = -1`, $-1$, tf-idf")
    'from −0.12 [−0.20, −0.04] to 0.3 on 2026-11-29, `x = -1`, $-1$, tf-idf'
    >>> with_minus_signs("```{figure} a.svg\\n:alt: From -1 to 2.\\n```\\n<script>[-1]</script>")
    '```{figure} a.svg\\n:alt: From −1 to 2.\\n```\\n<script>[-1]</script>'
    """
    pieces = _APART.split(text)
    pieces[::2] = [_HYPHEN.sub(MINUS, piece) for piece in pieces[::2]]
    return "".join(pieces)


def joined(words: Iterable[str]) -> str:
    """Words as a list in a sentence.

    >>> joined(["a"]), joined(["a", "b", "c"]), joined([])
    ('a', 'a, b and c', 'none')
    """
    *first, last = [*words] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last
