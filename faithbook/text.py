"""Names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def some(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many there are beside.

    >>> some(["a", "b", "c"], 2), some(["a", "b"])
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
