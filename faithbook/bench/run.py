"""`python -m faithbook bench`: read, check, measure, tabulate, write."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from faithbook.bench import measure, page, tables
from faithbook.bench.checks import check_method, check_metric
from faithbook.bench.user_metric import OwnMetric, find_method, find_metric
from faithbook.results.advice import QUESTIONS
from faithlib.errors import ModelError

_LIMITS = (
    "One model of texts and one of images, and one model per condition with planted explanations: another training run "
    "may differ. Intervals cover the choice of inputs only.",
    "Every yes and no is the answer of the rule `above` of the book at its usual level; anything else is unsure, as is "
    "anything with fewer than ten inputs.",
    "NAOPC is left out: its bounds cost more than all other metrics together.",
)


def bench(
    what: str,
    folder: Path | None = None,
    *,
    method: bool = False,
    profile: str = "laptop",
    modalities: Sequence[str] = measure.MODALITIES,
    tell: Callable[[str], None] = lambda _: None,
) -> page.Benched:
    """Judge a metric, or an attribution `method`, beside the known ones and write its page into a folder (default:
    `bench-` and its name).

    Raises what finding and checking it raise (`user_metric`, `checks`), and UnknownNameError for a profile that does
    not exist.
    """
    sizes, began = measure.sizes_of(profile), time.perf_counter()
    judged = find_method(what) if method else find_metric(what)
    tell(f"{judged.name}: checks")
    notes: list[str] = []
    if isinstance(judged, OwnMetric):
        checked, measuring = check_metric(judged), measure.Bench(judged, None, sizes)
        if not checked.by_amount:
            notes.append(f"{judged.name} uses the order of scores alone: it needs no control of amounts.")
        _measure(measuring, modalities, notes, tell)
        made = tables.of_metric(
            measure.whole(measuring.measured), judged.name, judged.direction, by_amount=checked.by_amount
        )
        verdicts = tables.in_words(made["answers"], judged.name, QUESTIONS)
    else:
        checked, measuring = check_method(judged), measure.Bench(None, judged, sizes)
        _measure(measuring, modalities, notes, tell)
        made = tables.of_method(measure.whole(measuring.measured), judged.name)
        verdicts = tables.in_words(made["answers"], judged.name, tables.METHOD_QUESTIONS)
    notes += [*_LIMITS, f"Made in {time.perf_counter() - began:.0f} seconds with the sizes of the profile {profile}."]
    place, kind = folder or Path(f"bench-{judged.name}"), "method" if method else "metric"
    benched = page.Benched(judged.name, kind, judged.about, checked.faults, verdicts, notes, place)
    page.write_page(benched, made)
    return benched


def _measure(bench: measure.Bench, modalities: Sequence[str], notes: list[str], tell: Callable[[str], None]) -> None:
    """All measurements of each modality; one that this kind of model does not allow is noted, unless none is left."""
    for modality in modalities:
        part = replace(bench, tell=tell, measured=defaultdict(list))
        try:
            part.real(modality)
            part.planted(modality)
        except ModelError as error:
            notes.append(f"{modality} is left out: {error}")
            if sum(" is left out: " in note for note in notes) == len(modalities):
                raise
        else:
            for name, frames in part.measured.items():
                bench.measured[name] += frames
