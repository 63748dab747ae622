"""`python -m faithbook bench`: the notebook own_metric or own_method on what is named, and its page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from faithbook.bench.checks import check_method, check_metric
from faithbook.bench.user_metric import find_method, find_metric
from faithbook.engine.build import run_job
from faithbook.engine.pages import single_page
from faithbook.engine.plan import find_notebook, make_job

MODALITIES = "text, vision"


def bench(
    what: str, *, method: bool = False, profile: str = "laptop", modalities: str = MODALITIES
) -> tuple[dict[str, Any], Path]:
    """Judge a metric, or an attribution `method`, beside the known ones: what the notebook notes (`faults`, a sentence
    each, and `answers`, one row per modality) and the page that it is.

    Raises what finding and checking it raise (`user_metric`, `checks`), before anything is measured.
    """
    what = str(Path(what).resolve())  # with what may follow a colon in it
    if method:
        check_method(find_method(what))
    else:
        check_metric(find_metric(what))
    notebook = find_notebook("own_method" if method else "own_metric")
    job = make_job(notebook, profile, {"what": what, "modalities": modalities})
    shutil.rmtree(job.folder, ignore_errors=True)  # nobody knows which other files it reads: it is measured anew
    run_job(job)
    return json.loads(job.manifest.read_text(encoding="utf-8"))["notes"], single_page(job)
