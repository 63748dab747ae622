"""Whose texts and pictures may be shown to the world: the licence fields of `data/sources.toml`, and what a notebook
quotes by `quotes` in `notebooks/profiles.yaml`.

A licence lets its texts be shown where it is free: a known free licence, with no word that keeps it to research, to
non-commercial use or to its owner. The published book leaves out what pages quote of anything else; the book that a
reader builds on disk has all.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from faithbook.engine.loads import named
from faithbook.engine.plan import Job
from faithbook.engine.profiles import place_of, settings_of, table
from faithbook.paths import root
from faithlib.errors import unknown

_FREE = re.compile(r"\b(MIT|Apache-2\.0|BSD-[23]-Clause|CC0|CC BY(-SA)?|public domain)\b")
_BOUND = re.compile(r"research|non-commercial|\bNC\b|-NC\b|-ND\b|\(c\)|©|mixed", re.IGNORECASE)


def free(licence: str) -> bool:
    """Whether a licence lets everybody show what is under it.

    >>> free("CC BY 4.0 (links and Greek text); public domain (English text)")
    True
    >>> free("MIT (package); papers CC BY 4.0 or CC BY-NC-SA 3.0"), free("(c) BBC, research use"), free("unknown")
    (False, False, False)
    """
    return bool(_FREE.search(licence)) and not _BOUND.search(licence)


def sources() -> dict[str, dict[str, Any]]:
    """`data/sources.toml`."""
    return tomllib.loads((root() / "data" / "sources.toml").read_text(encoding="utf-8"))


def licences(data: str) -> dict[str, str]:
    """Licence by source of everything from outside that a data set is read from; files of the repository are its own.

    Raises UnknownNameError for a data set that the table `data` of the profiles does not have.
    """
    known, listed = table().data, sources()
    if data not in known:
        raise unknown("data set", data, known)
    return {one: str(listed[one]["licence"]) for one in known[data] if "/" not in one}


def bound(data: str) -> dict[str, str]:
    """Those of the `licences` of a data set that do not let its texts be shown; empty where all do."""
    return {source: licence for source, licence in licences(data).items() if not free(licence)}


def quoted(job: Job) -> list[str]:
    """The data sets whose texts or pictures a page shows, as the profiles declare it."""
    entry = place_of(job.notebook)[1]
    return named(job.notebook, job.profile, entry.quotes, settings_of(job.notebook, job.profile), job.parameters)


def withheld(job: Job) -> list[str]:
    """Those of the quoted data sets that a published page may not show."""
    return [data for data in quoted(job) if bound(data)]
