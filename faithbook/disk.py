"""A disk on which no room is left, whoever met it."""

from __future__ import annotations

import errno
import os

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
WHAT_TO_DO = "make room and call it again: what is done stays done"


def is_full(error: BaseException) -> bool:
    """Whether an error, or one that it was raised from, says that a disk, a quota or a file is full.

    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(OSError(errno.ENOENT, "No such file"))
    (True, False)
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in _FULL:
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def says_full(text: str) -> bool:
    """Whether what a process has printed says so.

    >>> says_full("RuntimeError: I/O error: No space left on device (os error 28)")
    True
    """
    return any(os.strerror(number) in text for number in _FULL)
