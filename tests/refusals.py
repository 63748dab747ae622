"""What a test says of a call that cannot be: the kind of the error, and what its sentence holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refused(error: type[Exception], sentence: str, call: Callable[..., Any], /, *given: Any, **named: Any) -> None:
    """The call raises this error, in a sentence that `sentence` (a regular expression) is found in."""
    with pytest.raises(error, match=sentence):
        call(*given, **named)
