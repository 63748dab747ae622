"""Which of the papers' own data sets lie on this machine, for runs that use them where they do."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from typing import Any

from faithbook.paths import raw_dir, root
from faithlib.errors import unknown


def is_here(whole: Iterable[str], instead: Iterable[str] = ()) -> bool:
    """Whether a data set can be read without fetching anything: `whole`, the sources it is read from, or all of those
    that are read in their place (the tables `data` and `instead` of notebooks/profiles.yaml).

    Digests are checked when the files are read. Raises UnknownNameError for a source that is not listed.
    """
    return any(names and all(map(source_lies, names)) for names in (list(whole), list(instead)))


def source_lies(source: str) -> bool:
    """Whether the files of a source lie on this machine; of what people bring any file counts, as layouts differ."""
    entry, folder = listed_source(source), raw_dir() / source
    if entry.get("kind") == "manual":
        return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())
    files = entry.get("files") or [entry["file"]]
    return all((folder / file).exists() for file in files)


def listed_source(source: str) -> dict[str, Any]:
    """An entry of `data/sources.toml` as it stands there."""
    known = _sources((root() / "data" / "sources.toml").read_text(encoding="utf-8"))
    if source not in known:
        raise unknown("source", source, known)
    return known[source]


@functools.lru_cache(maxsize=4)
def _sources(text: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(text)
