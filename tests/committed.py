"""What a report page measures, of the committed full run, with few resamples: points are those of the pages, intervals
are not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from faithbook.engine.plan import REFERENCE
from faithbook.engine.run import Run
from faithbook.judge.scores import Scores

READING = cast(Run, SimpleNamespace(values=REFERENCE, job=SimpleNamespace(profile="laptop"), upstream=()))
"""As much of a run as is asked when the committed values are read."""


def scores(notebook: str, *, paper: str, **more: Any) -> Scores:
    """The committed values of a compute notebook, as `page.measure` takes them."""
    return Scores.read(READING, notebook, paper=paper, **({"n_resamples": 99} | more))
