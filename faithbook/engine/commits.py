"""The commit at which a model of the hub is read: that of the table `hub`, else the first that this machine was told.

Of some models the table has no commit, since nobody could look it up where it was written. Preflight settles them: it
notes the commit that the cache or the hub gives at first, in `hub/commits.json` of the folder of fetched files, so that
a study that is resumed for weeks, on several machines, reads one model throughout. Who wants a newer one takes the line
out of that file.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

from faithbook.engine.profiles import HubModel, table
from faithbook.paths import raw_dir
from faithlib.errors import DataError


def commits_file() -> Path:
    """Where settled commits are kept."""
    return raw_dir() / "hub" / "commits.json"


def commit_of(repository: str) -> str | None:
    """The commit of a repository of the hub; None: nobody has told one, and the newest is read.

    Raises DataError where the file of settled commits cannot be read.
    """
    return table().hub.get(repository, HubModel()).revision or _settled().get(repository)


def settle(repository: str, commit: str) -> str:
    """Read a repository at this commit from now on, unless another has been told; returns the commit it is read at.

    Threads and processes may settle at once: each waits for the others and adds to what they have told.
    """
    path = commits_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if known := commit_of(repository):
            return known
        told = json.dumps({**_settled(), repository: commit}, indent=1, sort_keys=True) + "\n"
        part = path.with_suffix(".part")
        part.write_text(told, encoding="utf-8")
        os.replace(part, path)
    return commit


def _settled() -> dict[str, str]:
    path = commits_file()
    if not path.is_file():
        return {}
    try:
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return dict(found)
    except (ValueError, TypeError) as error:
        raise DataError(
            f"{path} is damaged ({error}): expected repositories with a commit each; take it away, and "
            "`python -m faithbook preflight` settles them anew"
        ) from error
