"""The tables of `safe_map`: what metrics lose where a model errs, by group of errors, half of the seeds, factor of the
grid and reading of a good explanation. Metrics are named as in the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from faithbook.show.labels import label
from faithbook.studies.safe import choice, design, show
from faithbook.studies.safe.choice import ADVERSARIAL, ANY, CHOOSE, REPORT, Means, Safety


def by_group(wide: pd.DataFrame, untouched: Means, groups: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Mean rank correlation of each metric of the map where the model never errs and by group of errors; and the share
    of inputs on which such errors leave the order of the explanations untouched, on the reporting seeds."""
    columns: dict[str, Any] = {"metric": wide.index, "never errs": wide["never"].to_numpy()}
    for name, errors in groups.items():
        columns[name] = wide[list(errors)].mean(axis=1).to_numpy()
    places = [untouched.metrics.index(metric) for metric in wide.index]
    for name, errors in groups.items():
        columns[f"untouched, {name}"] = untouched.half(REPORT).by("error", errors)[:, places].mean(axis=0)
    return pd.DataFrame(columns)


def by_half(before: Safety, after: Safety, prices: Mapping[str, float]) -> pd.DataFrame:
    """The lowest mean rank correlation on the choosing and on the reporting seeds, of these with its interval and the
    kind of error where it is, the best of the choosing seeds first."""
    low, high = choice.interval(after.replicates)
    worst = [show.error_in_words(after.kinds[place]) for place in after.by_kind.argmin(axis=0)]
    table = pd.DataFrame(
        {
            "metric": after.metrics,
            "model calls": [prices[name] for name in after.metrics],
            "choosing seeds": before.estimate,
            "reporting seeds": after.estimate,
            "low": low,
            "high": high,
            "worst where it errs": worst,
        }
    )
    return table.sort_values("choosing seeds", ascending=False)


def over_errors(outcomes: Mapping[str, Means], metrics: Sequence[str], *, replicates: int) -> pd.DataFrame:
    """The mean of each outcome over the kinds of error, with its 95 % interval (`... low`, `... high`)."""
    errors = [kind for kind in design.kinds_of_error() if kind != design.NEVER]
    table = pd.DataFrame({"metric": list(metrics)})
    for name, means in outcomes.items():
        places = [means.metrics.index(metric) for metric in metrics]
        draws = means.drawn("error", errors, replicates=replicates)[:, :, places].mean(axis=1)
        table[name] = means.by("error", errors)[:, places].mean(axis=0)
        table[f"{name} low"], table[f"{name} high"] = choice.interval(draws)
    return table


def by_factor(report: Means, metrics: Sequence[str], levels: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Mean rank correlation over all models that err, by the levels of each factor."""
    wrong = report.only((report.conditions["error"] != design.NEVER).to_numpy())
    places = [report.metrics.index(metric) for metric in metrics]
    table = pd.DataFrame({"metric": list(metrics)})
    for factor, of_factor in levels.items():
        for level, means in zip(of_factor, wrong.by(factor, of_factor), strict=True):
            table[f"{factor}: {level}"] = means[places]
    return table


def by_reading(
    readings: Mapping[str, Means], prices: Mapping[str, float], *, declared: str, unmisled: str
) -> pd.DataFrame:
    """What the rule chooses under each reading of a good explanation where a model may be made to mislead, and how that
    does on the reporting seeds; beside the `declared` choice, and where one feature triggers the error beside the
    choice for models that nobody misled (`unmisled`)."""
    rows = []
    for reading, means in readings.items():
        found, report = (choice.safety(means.half(half), ADVERSARIAL, ANY, replicates=0) for half in (CHOOSE, REPORT))
        first = choice.chosen(found, prices, max(design.plan()["choice"]["prices"]))[0]
        lowest = dict(zip(report.metrics, report.estimate, strict=True))
        at_feature = report.by_kind[report.kinds.index("feature")]
        rows.append(
            {
                "reading": reading,
                "chosen": label(first),
                "its lowest": lowest[first],
                "of the declared choice": lowest[declared],
                "best where one feature triggers the error": label(report.metrics[int(at_feature.argmax())]),
                "its rank correlation there": at_feature.max(),
                f"{label(unmisled)} there": at_feature[report.metrics.index(unmisled)],
            }
        )
    return pd.DataFrame(rows)
