"""What a test says of a call that cannot be: the kind of the error, and what its sentence holds."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def refused(error: type[Exception], sentence: str, call: Callable[..., Any], /, *given: Any, **named: Any) -> None:
    """The call raises this error, in a sentence that `sentence` (a regular expression) is found in."""
    with pytest.raises(error, match=sentence):
        call(*given, **named)


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """As on a full disk: no file grows above so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
