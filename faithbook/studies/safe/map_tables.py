"""The tables and sentences of `safe_map`: what metrics lose where a model errs, by group of errors, half of the seeds,
factor of the grid and reading of a good explanation. In tables metrics are named as in the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from faithbook.show.labels import label
from faithbook.show.tables import rounded
from faithbook.studies.safe import choice, design, show
from faithbook.studies.safe.advice import case_of_choice_in_words
from faithbook.studies.safe.choice import ADVERSARIAL, ANY, CHOOSE, KNOWN, REPORT, SINGLE, UNKNOWN, Means, Safety
from faithbook.studies.safe.show import with_ends
from faithbook.text import joined

_ANOTHER = {
    choice.HOLDS: "no other metric is better by more than {}",
    choice.OVERTURNED: "another metric is better by more than {}",
    choice.UNDECIDED: "whether another metric is better by more than {} is undecided",
}
"""What the comparison of a chosen metric with the next says."""
FACTORS = {
    "whither: toward": "errs toward the class",
    "whither: away": "errs away from it",
    "whither: other": "errs to a third class",
}
"""The heads of columns by what a model answers instead."""


def choices_in_words(chosen: pd.DataFrame) -> pd.DataFrame:
    """The choice by case (`choice.choices`) in the words that people read."""
    against = zip(chosen.answer, chosen["runner-up"], strict=True)
    return pd.DataFrame(
        {
            "does it read erased inputs rightly?": [show.CASES[erasure] for erasure in chosen.erasure],
            "reasons": [show.REASONS[reasons] for reasons in chosen.reasons],
            "model calls": [show.price_in_words(price) for price in chosen.price],
            "use": [label(metric) for metric in chosen.metric],
            "lowest rank correlation": [show.with_ends(row, "reported") for row in chosen.to_dict("records")],
            "safe": np.where(chosen["is safe"], "yes", "no"),
            "against the next": [f"{answer} ({label(other)})" for answer, other in against],
            "worst where it errs": [show.error_in_words(kind) for kind in chosen.worst],
        }
    )


def of_papers(wide: pd.DataFrame, papers: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The metrics that papers use: where the model never errs, the lowest over kinds of error and where it is, and the
    kind of error on which the metric is nearest to the best of all."""
    gaps = (wide - wide.max()).drop(columns=[show.LOWEST, design.NEVER])
    used = pd.DataFrame([(paper, metric) for paper, metrics in papers.items() for metric in metrics])
    rows = wide.loc[used[1]]
    return pd.DataFrame(
        {
            "used by": used[0],
            "metric": [label(metric) for metric in rows.index],
            "never errs": [rounded(value, 2) for value in rows[design.NEVER]],
            "lowest": [rounded(value, 2) for value in rows[show.LOWEST]],
            "where": [show.error_in_words(str(kind)) for kind in rows[list(show.ERRORS)].idxmin(axis=1)],
            "best where": [show.error_in_words(str(kind)) for kind in gaps.loc[rows.index].idxmax(axis=1)],
        }
    )


def left_out_in_words(without: pd.DataFrame) -> pd.DataFrame:
    """The choice without one kind of error (`choice.left_out`) in the words that people read."""
    rows = without.to_dict("records")
    return pd.DataFrame(
        {
            "left out when choosing": [show.error_in_words(kind) for kind in without["left out"]],
            "chosen": [label(metric) for metric in without.metric],
            "rank correlation there": [show.with_ends(row) for row in rows],
            "best there": [label(metric) for metric in without["best there"]],
            "below the best": [show.with_ends(row, "below", "below low", "below high") for row in rows],
        }
    )


def outcomes_with_prices(summary: pd.DataFrame, prices: Mapping[str, float]) -> pd.DataFrame:
    """What `over_errors` found, each outcome with its interval in one column, and what each metric costs."""
    table: dict[str, Any] = {
        "metric": [label(metric) for metric in summary.metric],
        "model calls": [f"{prices[metric]:.0f}" for metric in summary.metric],
    }
    rows = summary.to_dict("records")
    for outcome in [name for name in summary.columns if f"{name} low" in summary]:
        table[outcome] = [show.with_ends(row, outcome, f"{outcome} low", f"{outcome} high") for row in rows]
    return pd.DataFrame(table)


def in_last_block(report: Means, wide: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Rank correlation in the condition of study *together*, the last block of the grid, by what the model answers
    instead; beside the mean of the same error over all truths (`table`: `choice.by_kind`) and the lowest of all."""
    last = report.conditions.block == report.conditions.block.max()
    part = report.only(last.to_numpy())
    errs = part.conditions.error != design.NEVER
    condition = part.conditions.whither.where(errs, design.NEVER)
    means = pd.DataFrame(np.nanmean(part.values, axis=1), index=list(condition), columns=part.metrics)[list(wide.index)]
    third = table[table.error == "third"].set_index("metric").estimate
    columns: dict[str, Any] = {"metric": wide.index, "never errs": means.loc[design.NEVER].to_numpy()}
    for way in design.declared_plan()["whither"]:
        columns[FACTORS[f"whither: {way}"]] = means.loc[way].to_numpy()
    columns["the same error, all truths"] = third[wide.index].to_numpy()
    columns["lowest of all errors"] = wide[show.LOWEST].to_numpy()
    return pd.DataFrame(columns)


def lowest_of(after: Safety) -> pd.DataFrame:
    """The lowest mean of each metric over the kinds of error, with its interval."""
    low, high = choice.interval(after.replicates)
    return pd.DataFrame({"metric": after.metrics, "estimate": after.estimate, "low": low, "high": high})


def quotable_safety(
    table: pd.DataFrame, after: Safety, prices: Mapping[str, float], chosen: pd.DataFrame, *, conditions: int
) -> pd.DataFrame:
    """The numbers of the map that other pages quote, by the name of each (`part`)."""
    quotes: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        part = f"{label(row['metric'])}: {row['error']}"
        quotes.append({"part": part, "ours": row["estimate"], "low": row["low"], "high": row["high"]})
    for row in lowest_of(after).to_dict("records"):
        part = f"{label(row['metric'])}: lowest"
        quotes.append({"part": part, "ours": row["estimate"], "low": row["low"], "high": row["high"]})
        quotes.append({"part": f"{label(row['metric'])}: calls", "ours": prices[row["metric"]]})
    quotes.append({"part": "conditions", "ours": conditions})
    quotes.append({"part": "metrics", "ours": len(after.metrics)})
    for row in chosen.to_dict("records"):
        part = f"{case_of_choice_in_words(row['erasure'], row['reasons'], row['price'])}: {label(row['metric'])}"
        quotes.append({"part": part, "ours": row["reported"], "low": row["low"], "high": row["high"]})
    frame = pd.DataFrame(quotes).assign(claim="safe", published=np.nan, n=conditions)
    return frame[["claim", "part", "published", "ours", "low", "high", "n"]]


def means_by_error(wide: pd.DataFrame, untouched: Means, groups: Mapping[str, Sequence[str]]) -> pd.DataFrame:
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
        on_replicates = means.replicated("error", errors, replicates=replicates)[:, :, places].mean(axis=1)
        table[name] = means.by("error", errors)[:, places].mean(axis=0)
        table[f"{name} low"], table[f"{name} high"] = choice.interval(on_replicates)
    return table


def by_factor(report: Means, metrics: Sequence[str], levels: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Mean rank correlation over all models that err, by the levels of each factor."""
    wrong = report.only((report.conditions["error"] != design.NEVER).to_numpy())
    places = [report.metrics.index(metric) for metric in metrics]
    table = pd.DataFrame({"metric": list(metrics)})
    for factor, of_factor in levels.items():
        for level, means in zip(of_factor, wrong.by(factor, of_factor), strict=True):
            name = f"{factor}: {level}"
            table[FACTORS.get(name, name)] = means[places]
    return table


def by_reading(
    readings: Mapping[str, Means], prices: Mapping[str, float], *, declared: str, unmisled: str
) -> pd.DataFrame:
    """What the rule chooses under each reading of a good explanation where a model may be made to mislead, and how that
    does on the reporting seeds; beside the `declared` choice, and where one feature triggers the error beside the
    choice for models that nobody misled (`unmisled`)."""
    rows = []
    for reading, means in readings.items():
        found = choice.grid_safety(means.half(CHOOSE), ADVERSARIAL, ANY, replicates=0)
        report = choice.grid_safety(means.half(REPORT), ADVERSARIAL, ANY, replicates=0)
        first = choice.chosen(found, prices, max(design.declared_plan()["choice"]["prices"]))[0]
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


# ------------------------------------------------------------------------------------------------------------ sentences
def in_short(table: pd.DataFrame, lowest: pd.DataFrame, chosen: pd.DataFrame, *, conditions: int, seeds: int) -> str:
    """The result of the page: which metrics are safe, and what the declared rule chooses; `table`: the map
    (`choice.by_kind`), `lowest`: of each metric over all kinds of error."""
    free, main = (choice.of_case(chosen, erasure, ANY) for erasure in (UNKNOWN, ADVERSARIAL))
    worst = table[table.metric == free.metric].sort_values("estimate").iloc[0]
    safe = safe_metrics(lowest)
    first = (
        f"Safe against every error that we tried: {joined(safe)}."
        if safe
        else "No metric is safe against every error that we tried."
    )
    another = _ANOTHER[main.answer].format(rounded(design.declared_plan()["choice"]["level"], 2))
    how_safe = "safe" if free["is safe"] else "the least bad"
    return (
        f"**{first}** As long as errors are not made on purpose, **{label(free.metric)}** is {how_safe}: its lowest "
        "rank correlation with the truth over the kinds of error that may then happen is "
        f"{with_ends(free, 'reported')}. Over all kinds its weak point is *{show.error_in_words(worst.error)}*, "
        f"{with_ends(worst)}. Where a model may have been made to mislead, the declared rule chooses "
        f"**{label(main.metric)}** ({with_ends(main, 'reported')}; {_safe_or_not(main)}; {another}). "
        f"{conditions} conditions; the {seeds} model seeds behind these numbers had no part in the choice."
    )


def safe_metrics(lowest: pd.DataFrame) -> list[str]:
    """The metrics whose interval lies above the declared value on all kinds of error."""
    return [label(metric) for metric in lowest.metric[lowest.low >= design.declared_plan()["choice"]["safe_from"]]]


def advice_in_words(chosen: pd.DataFrame) -> str:
    """What to use in each case, and what this rests on."""
    limit = design.declared_plan()["choice"]["prices"][0]
    known, free, main = (choice.of_case(chosen, erasure, ANY) for erasure in (KNOWN, UNKNOWN, ADVERSARIAL))
    cheap, single = choice.of_case(chosen, UNKNOWN, ANY, price=limit), choice.of_case(chosen, ADVERSARIAL, SINGLE)
    return (
        "**Advice.** "
        f"(1) If you trained the model on erased copies, so that it reads them rightly, use {label(known.metric)}: "
        f"{with_ends(known, 'reported')}. "
        f"(2) If you did not, use {label(free.metric)} ({with_ends(free, 'reported')}, {_safe_or_not(free)}); for at "
        f"most {limit} model calls {label(cheap.metric)} ({with_ends(cheap, 'reported')}, {_safe_or_not(cheap)}). "
        "(3) If someone may have trained the model to mislead you, the rule chooses "
        f"{label(main.metric)} ({with_ends(main, 'reported')}, {_safe_or_not(main)}; if reasons are single words "
        f"{label(single.metric)}, {with_ends(single, 'reported')}), and erased copies should be looked at before any "
        "metric is believed. "
        "**Limits.** Models in closed form with at most forty features; reasons of at most six; errors of the declared "
        "kinds; an order of ten explanations of one input, not a difference between methods over a data set."
    )


def _safe_or_not(row: pd.Series) -> str:
    return "safe" if row["is safe"] else "not safe"


def survived_by_none(table: pd.DataFrame, lowest: pd.DataFrame, report: Means) -> str:
    """The kinds of error that no metric survives, one by one and together."""
    safe_from = rounded(design.declared_plan()["choice"]["safe_from"], 2)
    best = table.sort_values("estimate", ascending=False).drop_duplicates("error")
    best_on = {row["error"]: row for row in best.to_dict("records")}
    alone = joined(
        f"{show.error_in_words(kind)} (best: {label(best_on[kind]['metric'])}, {with_ends(best_on[kind])})"
        for kind in design.kinds_of_error()
    )
    lost = joined(show.error_in_words(kind) for kind in choice.not_survived(report))
    highest = lowest.nlargest(1, "estimate").iloc[0]
    return (
        f"Kinds of error that no metric survives (the rule: no interval reaches {safe_from}): **{lost}**. Taken one by "
        f"one: {alone}. Taken together: the metric with the highest lowest value is {label(highest.metric)}, "
        f"{with_ends(highest)}; metrics whose interval lies above {safe_from} on all eight: "
        f"**{joined(safe_metrics(lowest))}**."
    )


def won_by_design(chosen: pd.DataFrame) -> str:
    """The chosen metrics that are ahead by the design of the grid alone, a line each."""
    named = chosen[chosen.design != ""].drop_duplicates(["metric", "design"])
    lines = [
        f"- {label(row['metric'])} ({show.CASES[row['erasure']]}; reasons {show.REASONS[row['reasons']]}; model calls "
        f"{show.price_in_words(row['price'])}): {show.design_in_words(row['design'])}."
        for row in named.to_dict("records")
    ]
    return "\n".join(lines) or "- none of those chosen."


def choices_without(without: pd.DataFrame, main: str) -> str:
    """What the rule chooses without one kind of error, where that is not the `main` metric, and how far it is then
    below the best."""
    ends = ("below", "below low", "below high")
    worst = without.sort_values("below", ascending=False).iloc[0]
    others = joined(
        f"without *{show.error_in_words(row['left out'])}* the rule chooses {label(row['metric'])}, which is then "
        f"{with_ends(row, *ends)} below the best there"
        for row in without[without.metric != main].to_dict("records")
    )
    return (
        "The two halves agree closely because they share truths, lengths and erasures and differ in weights and places "
        f"alone. A kind of error that the choice has not seen is the harder test: {others}. The largest distance to "
        f"the best is {with_ends(worst, *ends)}, on *{show.error_in_words(worst['left out'])}*. So the answer depends "
        "on which errors somebody thought of."
    )
