"""Where the modules of version 0.1.0 have gone: an import of an old path says so. For one version.

What makes the book lies in `faithbook`, which comes with a clone of the repository (`pip install -e .[book]`) and not
with the wheel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

# Old path: new path; several, the one with the most-used names first, where a module has been split.
MOVED = {
    "faithlib.adversary": "faithbook.models.adversarial",
    "faithlib.align": "faithbook.crosslingual.links, faithbook.crosslingual.gold",
    "faithlib.attribution.explained": "faithlib.attribution.target",
    "faithlib.attribution.rows": "faithlib.attribution.many",
    "faithlib.attribution.thirteen": "faithbook.papers.zaman_belinkov_rows",
    "faithlib.compare": "faithbook.results (resampling, published, quantities, claims, rank_tests, reference)",
    "faithlib.data": "faithbook.sources (datasets, files, splits, words)",
    "faithlib.e5": "faithbook.models.e5",
    "faithlib.encoders": "faithbook.models.encoders",
    "faithlib.excerpts": "faithbook.sources.excerpts",
    "faithlib.families": "faithlib.catalogue",
    "faithlib.figures": "faithbook.results (figures, tables, labels, page)",
    "faithlib.known": "faithbook.models.closed_form",
    "faithlib.lstm": "faithbook.models.lstm",
    "faithlib.messages": "faithbook.sources.home_assistant",
    "faithlib.metrics.hard": "faithlib.metrics.erasure",
    "faithlib.metrics.soft": "faithlib.metrics.erasure",
    "faithlib.models": "faithbook.models.load",
    "faithlib.naopc_release": "faithbook.papers.edin",
    "faithlib.noise": "faithlib.counter_rng",
    "faithlib.own_estimate": "faithbook.own.cost",
    "faithlib.own_model": "faithbook.own.bring",
    "faithlib.own_report": "faithbook.own.pages",
    "faithlib.paper_nli": "faithbook.sources.nli_sets",
    "faithlib.paper_sets": "faithbook.sources.zhao_aletras_sets",
    "faithlib.pictures": "faithbook.sources.images",
    "faithlib.planted": "faithbook.sources.planted",
    "faithlib.runner": "faithbook.engine (build, pages)",
    "faithlib.scoring": "faithlib.evaluation.scores",
    "faithlib.study": "faithbook.engine (run, plan, profiles, digests)",
}


class _Signpost:
    """The last finder: it is asked for what no other has found."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in MOVED:
            return None
        clone = " (a clone of the book's repository)" if MOVED[name].startswith("faithbook") else ""
        # Without `name=`, for Python passes over an error that carries it in `from faithlib import study`.
        raise ModuleNotFoundError(f"{name} has moved: since version 0.2.0 it is {MOVED[name]}{clone}")


def put_up() -> None:
    """Set the signpost at the end of Python's finders, once."""
    if not any(finder is _Signpost for finder in sys.meta_path):
        sys.meta_path.append(_Signpost)
