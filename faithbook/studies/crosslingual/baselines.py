"""What is left of rho above the baselines (attributions that ignore the prediction) when a reason other than the model
is taken out."""

from __future__ import annotations

from typing import Any

import pandas as pd

from faithbook.show.labels import row_label
from faithbook.show.numbers import ends_of, spoken
from faithbook.stats.agreement import tau_of
from faithbook.studies.crosslingual.zaman_belinkov_tables import LOOKING, Row, Rows


def left_above(rows: Rows, leads: pd.DataFrame, published: Rows, output: str) -> dict[str, object]:
    """How many methods of a setting are above all baselines and how many below one, which has the largest lead, and
    Kendall's tau of their order with that in the published setting, with its interval.

    `rows`: the setting; `leads`: its `over_floors(output)`, where no row means that nothing can be counted;
    `published`: the published setting, for which there is no tau; n is the fewest sentence pairs of a lead.
    """
    if leads.empty:
        return {"methods": 0}
    best: Any = leads.iloc[int(leads["estimate"].argmax())]
    counts: dict[str, object] = {"above all baselines": leads["above"].sum(), "below one": leads["below"].sum()}
    counts |= {"methods": len(leads), "best": row_label(best["method"], best["aggregation"]), "over": best["over"]}
    counts |= {"lead": best["estimate"], "lead low": best["low"], "lead high": best["high"]}
    return counts | _tau(rows, published, output) | {"n": leads["n"].min()}


def _tau(rows: Rows, published: Rows, output: str) -> dict[str, float]:
    """Tau of the methods that have a value in both settings; nothing for fewer than two, or for one setting alone."""
    if rows is published:
        return {}
    pairs = [(rows.if_defined(row, output), published.if_defined(row, output)) for row in LOOKING]
    both = [(here.ours, there.ours) for here, there in pairs if here and there]
    return ends_of(tau_of(*zip(*both, strict=True)), "tau") if len(both) > 1 else {}


def remaining(leads: pd.DataFrame) -> str:
    """The names of the methods above all baselines.

    >>> remaining(pd.DataFrame({"method": ["lime"], "aggregation": ["none"], "above": [False]}))
    'none'
    """
    above = leads[leads["above"].astype(bool)]
    return ", ".join(map(row_label, above["method"], above["aggregation"])) or "none"


def in_words(rows: Rows, row: Row, output: str = "loss") -> str:
    """The rho of a row in words, with its interval; a dash where it is defined on no text."""
    pair = rows.if_defined(row, output)
    return spoken(pair, ".2f") if pair else "–"
