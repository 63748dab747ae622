"""From what was measured to the table that a caller gets: the caller's rows, and what has to be said about them.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from torch import Tensor

from faithlib.backends.labels import label_names
from faithlib.catalogue import FAMILIES, METRICS
from faithlib.errors import ModelError, UnknownNameError
from faithlib.evaluation.opening import SKIP, Opened
from faithlib.evaluation.shown import shown_of
from faithlib.evaluation.summary import Table
from faithlib.perturb import Perturber
from faithlib.units import some_rows

# Errors about the model or the call, which are the same for every input.
_OF_THE_CALL = (ModelError, UnknownNameError, ImportError)
_FAMILY_OF = {metric: family for family in FAMILIES.values() for metric in family.directions}


@dataclass(frozen=True)
class Measured:
    """What was measured on some inputs.

    `values`: columns input (counted from 0), method, metric, value. `scores` [B, F] by method; `perturber`, of these
    inputs; `left_out`: methods and metrics that the model does not allow, and why; `deltas` [B]: what integrated
    gradients miss, by name.
    """

    values: pd.DataFrame
    scores: Mapping[str, Tensor]
    perturber: Perturber
    costs: Mapping[str, float]
    left_out: Mapping[str, str]
    deltas: Mapping[str, Tensor]


Part = tuple[list[int], Measured]


def each_that_works(measure: Callable[[list[int]], Measured], whole: Opened) -> list[Part]:
    """What `measure` says of all inputs, given by their places; with `on_error="skip"`, where it fails, of halves and
    their halves, until those that fail are known by themselves. They are noted in `whole.skipped`.

    >>> from faithlib.evaluation.opening import opened
    >>> whole = opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good", "bad"], on_error="skip")
    >>> [places for places, _ in each_that_works(lambda places: 1 // places[0], whole)], whole.skipped
    ([[1]], {0: 'ZeroDivisionError: integer division or modulo by zero'})
    """
    failed: list[Exception] = []

    def parts_of(places: list[int]) -> list[Part]:
        try:
            return [(places, measure(places))]
        except Exception as error:  # of any kind: a function of the caller's may raise what it likes
            if whole.on_error != SKIP or isinstance(error, _OF_THE_CALL):
                raise
            if len(places) == 1:
                failed.append(error)
                whole.skipped[whole.rows[places[0]]] = f"{type(error).__name__}: {error}"
                return []
            half = len(places) // 2
            return parts_of(places[:half]) + parts_of(places[half:])

    parts = parts_of(list(range(len(whole.rows))))
    if not parts:
        raise failed[0]
    if whole.skipped:
        rows = sorted(whole.skipped)
        told = (
            f"{len(rows)} of {whole.total} inputs were skipped (rows {some_rows(rows)}); first {whole.skipped[rows[0]]}"
        )
        warnings.warn(f"{told}. All reasons: table.attrs['skipped']", stacklevel=3)
    return parts


def finished(parts: list[Part], whole: Opened, notes: Mapping[str, str]) -> Table:
    """The table of all parts, with what has to be said about it: the `notes` that were made on the way, and more.

    >>> from faithlib.evaluation.opening import opened
    >>> whole = opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "bad"])
    >>> perturber = Perturber(whole.model, whole.inputs)
    >>> values = pd.DataFrame({"input": [0, 1], "method": "mine", "metric": "saco", "value": [1.0, 1.0]})
    >>> finished([([0, 1], Measured(values, {}, perturber, {}, {}, {}))], whole, {}).attrs["undefined"][0]["rows"]
    [1]
    """
    frames = [one.values.assign(input=[whole.rows[places[i]] for i in one.values["input"]]) for places, one in parts]
    values = pd.concat(frames).sort_values("input", kind="stable", ignore_index=True)
    undefined = _undefined(values, whole)
    table = Table(values.assign(direction=values["metric"].map(METRICS)))
    costs = [one.costs for _, one in parts]
    table.attrs["costs"] = {
        name: (max if name == "peak_bytes" else sum)(one[name] for one in costs) for name in costs[0]
    }
    table.attrs["left_out"] = {name: why for _, one in parts for name, why in one.left_out.items()}
    table.attrs["undefined"] = undefined
    table.attrs["notes"] = dict(notes)
    if notes:
        warnings.warn("; ".join(f"{about}: {what}" for about, what in notes.items()), stacklevel=3)
    table.attrs["convergence"] = _convergence(parts, whole)
    table.attrs["truncated"] = whole.truncated
    table.attrs["skipped"] = [{"row": row, "reason": whole.skipped[row]} for row in sorted(whole.skipped)]
    labels = label_names(whole.model)
    first = [shown_of([whole.rows[b] for b in places], one.scores, one.perturber, labels) for places, one in parts]
    table.shown = sum(first, ())[: len(first[0])]
    table.whole = len(table)
    return table


def _convergence(parts: list[Part], whole: Opened) -> dict[str, dict[int, float]]:
    """What integrated gradients miss, by name and by the caller's row."""
    found: dict[str, dict[int, float]] = {}
    for places, one in parts:
        for name, delta in one.deltas.items():
            own = zip((whole.rows[place] for place in places), delta.tolist(), strict=True)
            found.setdefault(name, {}).update(own)
    return found


def _undefined(values: pd.DataFrame, whole: Opened) -> list[dict[str, Any]]:
    """Makes values NaN where an input has too few features; then all that are NaN, in groups of the same reason."""
    sizes = dict(zip(whole.rows, whole.inputs.feature_mask.sum(dim=1).tolist(), strict=True))
    features = values["input"].map(sizes)
    least = values["metric"].map({metric: family.least_features for metric, family in _FAMILY_OF.items()})
    few = features < least
    values.loc[few, "value"] = float("nan")
    reasons = values["metric"].map({metric: family.undefined for metric, family in _FAMILY_OF.items()})
    reasons = reasons.mask(few, "fewer features than the " + least.astype(str) + " that the metric needs")
    return [
        {
            "reason": reason,
            "metrics": list(dict.fromkeys(group["metric"])),
            "methods": list(dict.fromkeys(group["method"])),
            "rows": sorted(set(group["input"].tolist())),
        }
        for reason, group in values[values["value"].isna()].groupby(reasons, sort=False)
    ]
