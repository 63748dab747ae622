"""What has to be said about results that stand: collected by whoever gathers it, a warning where nobody does."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_GATHERED: ContextVar[dict[str, str] | None] = ContextVar("notes that are collected", default=None)


def note(about: str, what: str) -> None:
    """Say something about a method or a model; the last word counts.

    >>> with collect_warnings() as notes:
    ...     note("saliency", "many gradients are 0")
    >>> notes
    {'saliency': 'many gradients are 0'}
    """
    notes = _GATHERED.get()
    if notes is None:
        warnings.warn(f"{about}: {what}", stacklevel=2)
    else:
        notes[about] = what


@contextmanager
def collect_warnings(notes: dict[str, str] | None = None) -> Iterator[dict[str, str]]:
    """What is noted inside, by what it is about, added to the `notes` that there are.

    >>> with collect_warnings({"lime": "few samples"}) as notes:
    ...     note("saliency", "many gradients are 0")
    >>> sorted(notes)
    ['lime', 'saliency']
    """
    notes = {} if notes is None else notes
    before = _GATHERED.set(notes)
    try:
        yield notes
    finally:
        _GATHERED.reset(before)
