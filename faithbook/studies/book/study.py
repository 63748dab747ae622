"""The pages of the book as a whole. What they read is found: a new study is on them without a word here."""

from __future__ import annotations

from collections.abc import Iterable

from faithbook.engine.study import Notebook, Study

study = Study("book", number=99)


def pages(notebooks: Iterable[Notebook]) -> list[str]:
    """The pages of all studies, whose verdicts make the scoreboard."""
    return [notebook.name for notebook in notebooks if notebook.kind == "report" and notebook.study != study.name]


def computations(notebooks: Iterable[Notebook]) -> list[str]:
    """All computations whose values may be shared."""
    return [notebook.name for notebook in notebooks if notebook.kind == "compute" and notebook.shareable]


def all_others(notebooks: Iterable[Notebook]) -> list[str]:
    """Every notebook but the page that says how each fared."""
    return [notebook.name for notebook in notebooks if notebook.name != "status"]


study.report("scoreboard", reads=pages, contents="elsewhere")
study.report("taught", reads=lambda notebooks: [*pages(notebooks), "soft_metrics"], contents="elsewhere")
study.report("calibration", loads=["calibration", "board"], shareable=False, contents="elsewhere")
study.report(
    "this_build",
    reads=lambda notebooks: ["scoreboard", *computations(notebooks)],
    loads=["board"],
    contents="elsewhere",
)
study.report("status", reads=all_others, loads=["costs"], contents="elsewhere")
