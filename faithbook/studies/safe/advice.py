"""What to use for which need: sentences that people wrote, each held by what the grid chose and measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from faithbook.show.labels import label
from faithbook.show.tables import rounded
from faithbook.studies.safe import design
from faithlib.errors import unknown

COMPARABLE, CAUTION = "comparable", "caution"
SCORE_OF = {
    "aopc_morf": "aopc",
    "naopc_morf": "naopc",
    "adjusted_naopc_morf": "chance-adjusted naopc",
    "srg": "srg",
    "nsrg": "srg over the range",
}
"""The name that the comparison of models has for a metric's score."""


def case_of_choice_in_words(erasure: str, reasons: str, price: float) -> str:
    """A case of the choice as sentences name it.

    >>> case_of_choice_in_words("unknown", "any", 12), case_of_choice_in_words("known", "any", 10000)
    ('unknown, any, 12 calls', 'known, any, any price')
    """
    limit = "any price" if price >= max(design.declared_plan()["choice"]["prices"]) else f"{price:.0f} calls"
    return f"{erasure}, {reasons}, {limit}"


def what_to_use(
    needs: pd.DataFrame, chosen: pd.DataFrame, lowest: pd.DataFrame, comparable: pd.DataFrame
) -> pd.DataFrame:
    """What to use for which need, with what it rests on; a need whose metric is no longer chosen says so.

    - `needs`: need, metric, rests_on (a case of the choice, "comparable", "caution"), why (`data/recommendations.csv`);
    - `chosen`: the choice by case (`choice.choices`); `lowest`: metric, estimate, low, high, rows, over all errors;
    - `comparable`: metric, answer: whether a score may be compared, for each family of models and explainer.
    """
    cases = {
        case_of_choice_in_words(str(row["erasure"]), str(row["reasons"]), float(row["price"])): row
        for row in chosen.to_dict("records")
    }
    of_metric = lowest.set_index("metric")
    safe_from = design.declared_plan()["choice"]["safe_from"]
    rows = []
    for need in needs.to_dict("records"):
        metric, rests_on = str(need["metric"]), str(need["rests_on"])
        row: dict[str, object] = {"you want": need["need"], "use": label(metric), "why": need["why"]}
        if rests_on == COMPARABLE:
            answers = comparable[comparable.metric == SCORE_OF[metric]].answer
            holds = bool(len(answers)) and not (answers == "no").any()
        elif rests_on == CAUTION:
            holds = bool(of_metric.low[metric] < safe_from)
            row |= _measured(of_metric.loc[metric].to_dict(), "estimate")
        elif rests_on in cases:
            holds = cases[rests_on]["metric"] == metric
            row |= _measured(cases[rests_on], "reported") | {"safe": _yes(bool(cases[rests_on]["is safe"]))}
        else:
            raise unknown("case of the choice", rests_on, [*cases, COMPARABLE, CAUTION])
        if not holds:
            row = {"you want": need["need"], "use": "–", "why": f"{label(metric)} is no longer chosen for this"}
        rows.append(row)
    columns = ["you want", "use", "rank correlation", "safe", "model calls", "why"]
    return pd.DataFrame(rows).reindex(columns=columns).fillna("")


def _measured(row: Mapping[Any, Any], name: str) -> dict[str, str]:
    """The lowest rank correlation of a row with its interval, and what the metric costs."""
    estimate, low, high = (float(row[key]) for key in (name, "low", "high"))
    return {
        "rank correlation": f"{rounded(estimate, 2)} [{rounded(low, 2)}, {rounded(high, 2)}]",
        "model calls": f"{float(row['rows']):.0f}",
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"
