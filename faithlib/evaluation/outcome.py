"""From what was measured to the table that a caller gets: the caller's rows, and what has to be said about them.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from torch import Tensor

from faithlib.backends.labels import label_names
from faithlib.catalogue import DIRECTIONS, FAMILIES, LANGUAGE
from faithlib.evaluation.opening import Opened
from faithlib.evaluation.shown import shown_of
from faithlib.evaluation.summary import Table
from faithlib.perturb import Perturber, costs
from faithlib.units import some_rows

_FAMILY_OF = {metric: family for family in (*FAMILIES.values(), *LANGUAGE.values()) for metric in family.directions}


class Measured(NamedTuple):
    """What was measured on some inputs: `values` (columns input, counted from 0, method, metric, value), `scores`
    [B, F] by method, the `perturber`; `left_out`: methods and metrics that the model does not allow, and why; `deltas`
    [B]: what integrated gradients miss, by name.

    >>> Measured(pd.DataFrame(), {}, None, {"attention": "a function has no maps"}, {}).left_out
    {'attention': 'a function has no maps'}
    """

    values: pd.DataFrame
    scores: Mapping[str, Tensor]
    perturber: Perturber
    left_out: Mapping[str, str]
    deltas: Mapping[str, Tensor]


def finished(measured: Measured, whole: Opened, notes: Mapping[str, str]) -> Table:
    """The table of values and of what has to be said about them. `whole`: what the caller gave, of which these inputs
    are; `notes`: what was noted on the way.

    >>> from faithlib.evaluation.opening import opened
    >>> whole = opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "bad"])
    >>> values = pd.DataFrame({"input": [0, 1], "method": "mine", "metric": "saco", "value": [1.0, 1.0]})
    >>> table = finished(Measured(values, {}, Perturber(whole.model, whole.inputs), {}, {}), whole, {})
    >>> table.value.tolist(), table.attrs["undefined"][0]["rows"]
    ([1.0, nan], [1])
    """
    values, scores, perturber, left_out, deltas = measured
    skipped = whole.skipped or {}
    rows = [row for row in whole.rows if row not in skipped]
    table = Table(values.assign(direction=values["metric"].map(DIRECTIONS)))
    undefined = _undefined(table, perturber.feature_mask.sum(dim=1).tolist(), rows)
    table["input"] = table["input"].map(dict(enumerate(rows)))
    table.attrs = {
        "costs": costs(perturber),
        "left_out": dict(left_out),
        "undefined": undefined,
        "convergence": {name: dict(zip(rows, delta.tolist(), strict=True)) for name, delta in deltas.items()},
        "notes": dict(notes),
        "truncated": [row for row in whole.truncated if row not in skipped],
        "skipped": [{"row": row, "reason": skipped[row]} for row in sorted(skipped)],
    }
    table.shown = shown_of(rows, scores, perturber, label_names(whole.model))
    table.whole = len(table)
    if notes:
        warnings.warn("; ".join(f"{about}: {what}" for about, what in notes.items()), stacklevel=3)
    if skipped:
        told = f"{len(skipped)} of {whole.total} inputs were skipped (rows {some_rows(sorted(skipped))})"
        warnings.warn(f"{told}; first {skipped[min(skipped)]}. All reasons: table.attrs['skipped']", stacklevel=3)
    return table


def _undefined(table: pd.DataFrame, sizes: Sequence[int], rows: Sequence[int]) -> list[dict[str, Any]]:
    """Makes values NaN where an input has too few features; then all that are NaN, in groups of the same reason."""
    least = table["metric"].map({metric: family.least_features for metric, family in _FAMILY_OF.items()})
    few = table["input"].map(dict(enumerate(sizes))) < least
    table.loc[few, "value"] = float("nan")
    reasons = table["metric"].map({metric: family.undefined for metric, family in _FAMILY_OF.items()})
    reasons = reasons.mask(few, "fewer features than the " + least.astype(str) + " that the metric needs")
    return [
        {
            "reason": reason,
            "metrics": list(dict.fromkeys(group["metric"])),
            "methods": list(dict.fromkeys(group["method"])),
            "rows": [rows[place] for place in sorted(set(group["input"]))],
        }
        for reason, group in table[table["value"].isna()].groupby(reasons, sort=False)
    ]
