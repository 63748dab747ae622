"""`python -m faithbook bench`: read, check, measure, tabulate, write."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faithbook.bench import measure, page, tables
from faithbook.bench.checks import check_method, check_metric
from faithbook.bench.subject import OwnMethod, OwnMetric, find_method, find_metric
from faithlib.errors import ModelError

_LIMITS = (
    "One model of texts and one of pictures, and one model a condition where reasons are planted: another training run "
    "may differ. Intervals cover the choice of inputs alone.",
    "Every yes and no is the answer of the rule `above` of the book at its usual level; anything else is unsure, as is "
    "anything with fewer than ten inputs.",
    "NAOPC is left out: its bounds cost more than all other metrics together.",
)


@dataclass(frozen=True)
class Benched:
    """Where the page is, and what it says: what was found wrong, and a sentence a modality."""

    page: Path
    faults: tuple[str, ...]
    verdicts: tuple[str, ...]


def bench_metric(
    what: str,
    folder: Path | None = None,
    *,
    profile: str = "laptop",
    modalities: Sequence[str] = measure.MODALITIES,
    tell: Callable[[str], None] = lambda _: None,
) -> Benched:
    """Judge a metric beside the known ones and write its page into a folder (default: `bench-` and its name).

    Raises what `find_metric` and `check_metric` raise, and UnknownNameError for a profile that does not exist.
    """
    sizes, metric = measure.sizes_of(profile), find_metric(what)
    began = time.perf_counter()
    tell(f"{metric.name}: checks")
    checked = check_metric(metric)
    notes = []
    if not checked.by_amount:
        notes.append(f"{metric.name} uses the order of scores alone: it needs no control of amounts.")
    bench = measure.Bench(metric, None, sizes)
    _measure(bench, modalities, notes, tell)
    found = tables.of_metric(bench.found, metric.name, metric.direction, by_amount=checked.by_amount)
    verdicts = tables.in_words(found["answers"], metric.name, tables.OF_METRIC)
    return _written(metric, "metric", folder, (checked.faults, verdicts, notes), found, profile, began)


def bench_method(
    what: str,
    folder: Path | None = None,
    *,
    profile: str = "laptop",
    modalities: Sequence[str] = measure.MODALITIES,
    tell: Callable[[str], None] = lambda _: None,
) -> Benched:
    """Judge an attribution method beside the known ones; the rest as `bench_metric`."""
    sizes, method = measure.sizes_of(profile), find_method(what)
    began = time.perf_counter()
    tell(f"{method.name}: checks")
    checked = check_method(method)
    notes: list[str] = []
    bench = measure.Bench(None, method, sizes)
    _measure(bench, modalities, notes, tell)
    found = tables.of_method(bench.found, method.name)
    verdicts = tables.in_words(found["answers"], method.name, tables.OF_METHOD)
    return _written(method, "method", folder, (checked.faults, verdicts, notes), found, profile, began)


def _measure(bench: measure.Bench, modalities: Sequence[str], notes: list[str], tell: Callable[[str], None]) -> None:
    """All measurements of each modality; one that this kind of model does not allow is noted, unless none is left."""
    steps = [name for modality in modalities for name in bench.steps(modality)]

    def begin(name: str, line: str) -> None:
        tell(f"[{steps.index(name) + 1:>2}/{len(steps):>2}] {line}")

    for modality in modalities:
        part = replace(bench, begin=begin, found=measure.Measured())
        try:
            part.real(modality)
            part.planted(modality)
        except ModelError as error:
            notes.append(f"{modality} is left out: {error}")
            if len([note for note in notes if " is left out: " in note]) == len(modalities):
                raise
        else:
            bench.found.take(part.found)


def _written(
    subject: OwnMetric | OwnMethod,
    kind: str,
    folder: Path | None,
    said: tuple[Sequence[str], Sequence[str], Sequence[str]],
    found: tables.Tables,
    profile: str,
    began: float,
) -> Benched:
    faults, verdicts, notes = said
    took = f"Made in {time.perf_counter() - began:.0f} seconds with the sizes of the profile {profile}."
    told = page.Told(subject.name, kind, subject.about, faults, verdicts, [*notes, *_LIMITS, took])
    place = page.write_page(folder or Path(f"bench-{subject.name}"), told, found)
    return Benched(place, tuple(faults), tuple(verdicts))
