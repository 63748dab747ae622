"""What the page on erasure compares (Tables 3, 9 and 10, Figures 3 and 4 of Zaman & Belinkov 2022): the rows under
comprehensiveness and sufficiency, what the fault of the released loop does to them, and how well a metric separates
rows, compared with rho.

The metrics themselves are computed in `under_erasure`, which needs tensors; this reads their values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from operator import attrgetter

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.judge.decide import Ordered, Statements
from faithbook.judge.scores import Scores
from faithbook.show.numbers import ends_of
from faithbook.stats.agreement import tau_b
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Estimate
from faithbook.studies.crosslingual.zaman_belinkov import AGGREGATED, ERASING, OUTPUT_NAMES, PAPER_LANGUAGES, PLAIN
from faithbook.studies.crosslingual.zaman_belinkov_spread import (
    ERASURE_BINS,
    Signal,
    matrix,
    separated_by_size,
    windows_told,
)
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    DIFFERENT_ROWS,
    FLOORS,
    KEYS,
    ONE_VALUE,
    PRINTED_IN,
    PRINTED_ROWS,
    Row,
    Rows,
    defined,
    erasing_ranks,
    for_ours,
    labels_of,
    printed_rank,
    printed_spread,
    printed_table,
    signal_of,
    spread_beside,
)

METRICS = {"comprehensiveness": 1, "sufficiency": -1}
"""1: higher is better."""
OF_ERASURE = ["metric", "model", "language", *KEYS]
TABLE_OF = {"comprehensiveness": "crosslingual_table9", "sufficiency": "crosslingual_table10"}
"""By metric the table of both architectures."""
HARDLY = 0.05
"""Below this spread a metric hardly separates methods (c09, as the analysis plan has it)."""
FAULT = "_first_batch"
OWN, RELEASED = "all, own outputs", "as released"
"""Texts with their own outputs, and with those that the released loop assigns."""
SIX_FIFTHS = (len(ERASURE_BINS) + 1) / len(ERASURE_BINS)
"""From a printed value to the mean over five lengths: the released code divides the sum of five by six."""
PAPER_INPUTS = 5010
"""XNLI's test split."""
LEADERS: Mapping[tuple[str, str], Sequence[Row]] = {
    ("comprehensiveness", "top_prediction"): [("saliency", "l2"), (PLAIN, "l2")],
    ("comprehensiveness", "loss"): [("integrated_gradients", "l2")],
    ("sufficiency", "top_prediction"): [("input_x_gradient", "l2")],
    ("sufficiency", "loss"): [("integrated_gradients", "mean")],
}
"""The rows that the paper finds best, by metric and output (c07)."""
L2_NOT_ABOVE = {("saliency", "loss"), ("input_x_gradient", "loss")}
"""The exceptions of c08."""
SPREAD_CHOICES = ["compared", "rows", "models", "rho in"]
TIMES = {
    **dict.fromkeys([method.removesuffix("_released") for method in AGGREGATED], "5 minutes to 1 hour"),
    **dict.fromkeys(ERASING, "several hours"),
    "shapley_sampling": "a few days",
}
"""What a method takes, in the paper's words; both kinds of guided backprop count as one method."""
COSTS = {
    "rows_asked": "forward, one by one",
    "rows_run": "forward, shared",
    "backward_asked": "backward, one by one",
    "backward_run": "backward, shared",
    "seconds": "milliseconds",
}
"""Columns of costs, for people."""


# ----------------------------------------------------------------------------------------------------- what is measured
def of_paper(units: pd.DataFrame) -> pd.DataFrame:
    """Rho as in the main setting, in the paper's languages, beside erasure in English."""
    units = units.fillna({"setting": "main", "language": "en"})
    return units[(units["setting"] == "main") & units["language"].isin(["en", *PAPER_LANGUAGES])]


def with_ranks(units: pd.DataFrame) -> pd.DataFrame:
    """Values of the texts of which every row was asked, and on each the ranks of the perturbation methods."""
    units = of_paper(units)
    ranks = erasing_ranks(units[units["metric"].isin(["rho", *METRICS])])
    return pd.concat([defined(units, OF_ERASURE), ranks], ignore_index=True)


def on_more(units: pd.DataFrame) -> pd.DataFrame:
    """Erasure in English, also of texts that only have the rows that need at most one gradient."""
    return defined(of_paper(units[units["metric"].isin(METRICS)]), OF_ERASURE, further=True)


def as_means(table: pd.DataFrame) -> pd.DataFrame:
    """Printed values as what the paper's text says they are, the mean over the five lengths."""
    return table.assign(value=table["value"] * SIX_FIFTHS)


def printed_means() -> pd.DataFrame:
    """Table 3 as means."""
    return as_means(printed_table("crosslingual_table3"))


def printed_of_each(metric: str, models: Sequence[str]) -> pd.DataFrame:
    """Table 9 or 10 as means, under the names of our models."""
    return for_ours(as_means(printed_table(TABLE_OF[metric])), models)


def both_models(source: Scores, models: Sequence[str]) -> dict[str, Rows]:
    """The rows by metric, each beside Table 3, and beside each model of Table 9 or 10 as the paper's own repeats."""
    found = {}
    for metric, better in METRICS.items():
        own = printed_of_each(metric, models)[["model", *KEYS, "value"]]
        printed = printed_means()[["metric", *KEYS, "value"]]
        found[metric] = Rows(source, printed, own=own, metric=metric, better=better)
    return found


def each_model(source: Scores, models: Sequence[str]) -> dict[str, Rows]:
    """The rows by metric, each beside Table 9 or 10."""
    found = {}
    for metric, better in METRICS.items():
        printed = printed_of_each(metric, models)[["model", *KEYS, "value"]]
        found[metric] = Rows(source, printed, metric=metric, better=better)
    return found


# --------------------------------------------------------------------------------------------------------------- claims
def orders(rows: Mapping[str, Rows], alone: Mapping[str, Rows]) -> list[Ordered]:
    """The order of the thirteen for each metric and output, with that of each of the paper's two models."""
    found = []
    for metric, output in product(METRICS, OUTPUT_NAMES):
        order = rows[metric].order(output)
        found.append(replace(order, repeats=alone[metric].repeats(output)))
    return found


def orders_of_each(alone: Mapping[str, Rows], models: Sequence[str]) -> dict[str, list[Ordered]]:
    """The orders of Tables 9 and 10, for each model and output."""
    found = {}
    for metric, rows in alone.items():
        in_order = [rows.order(output, model=model) for model, output in product(models, OUTPUT_NAMES)]
        found[TABLE_OF[metric]] = in_order
    return found


def leads(rows: Mapping[str, Rows]) -> dict[str, Comparison]:
    """c07: each row that is said to be best minus every other one, for each metric and output."""
    found: dict[str, Comparison] = {}
    for (metric, output), leaders in LEADERS.items():
        found |= rows[metric].leads(leaders, output)
    return found


def rank_gains(measured: Scores) -> dict[str, Comparison]:
    """c10: the mean rank of the perturbation methods under rho minus that under either metric, for each output, beside
    that of the printed means."""
    table1, table3 = printed_table("crosslingual_table1"), printed_means()

    def mean_rank(metric: str, output: str) -> Comparison:
        return Rows(measured, metric=f"rank under {metric}")(("erasing", "none"), output)

    found = {}
    for metric, better in METRICS.items():
        printed_under_metric = table3[table3["metric"] == metric]
        for output, name in OUTPUT_NAMES.items():
            printed = printed_rank(table1, output) - printed_rank(printed_under_metric, output, better=better)
            gain = replace(mean_rank("rho", output) - mean_rank(metric, output), published=printed)
            found[f"rank under rho minus under {metric}, {name}"] = gain
    return found


# ------------------------------------------------------------------------------------------------------------ the fault
def windows(inputs: int) -> pd.DataFrame:
    """How many inputs and windows the released loop reads, of the paper's inputs and of so many."""
    rows = []
    for run, n in (("the paper's", PAPER_INPUTS), ("ours", inputs)):
        rows.append({"run": run, "inputs given": n} | windows_told(n))
    return pd.DataFrame(rows)


def with_the_fault(measured: Scores) -> pd.DataFrame:
    """What the fault does to a run: by metric the mean and the spread over the 24 different rows, of all texts with
    their own outputs, of those few that the loop scores with their own outputs, and of the windows as released; and
    tau-b of their order with the first."""
    found = []
    for metric in METRICS:
        own, released = by_text(measured.frame, metric), by_text(measured.frame, metric + FAULT)
        # Where the loop reads a text whole, the fault changes none of its values.
        whole = np.isclose(own, released, atol=1e-6).all(axis=1)
        kinds = {
            OWN: own,
            "those that the loop reads whole": own[whole],
            RELEASED: np.unique(released, axis=0),  # each window once: many texts share one
        }
        for texts, values in kinds.items():
            if not len(values):  # of very few texts none may be read whole
                continue
            mean = values.mean(axis=0)
            row = {"metric": metric, "texts": texts, "mean": mean.mean(), "spread over 24 rows": mean.std()}
            found.append(row | {"tau with all": float(tau_b(own.mean(axis=0), mean)), "n": len(values)})
    return pd.DataFrame(found)


def printed_spread_of_different_rows(metric: str) -> float:
    """The spread over the 24 different rows of the printed Table 3, as that of means over five lengths."""
    table3 = printed_table("crosslingual_table3")
    printed = table3[table3["metric"] == metric].set_index(KEYS)["value"]
    return SIX_FIFTHS * float(np.std([printed[(*row, output)] for row, output in DIFFERENT_ROWS]))


def fault_in_words(found: pd.DataFrame) -> str:
    """By metric the spread over the rows with each text's own outputs, with the fault, and as published; `found`: the
    table of `with_the_fault`."""
    spreads = found.set_index(["metric", "texts"])["spread over 24 rows"]
    return " and ".join(
        f"from {spreads[metric, OWN]:.3f} to {spreads[metric, RELEASED]:.3f} under {metric} (printed × 6/5, of the "
        f"same rows: {printed_spread_of_different_rows(metric):.3f})"
        for metric in METRICS
    )


def by_text(units: pd.DataFrame, metric: str) -> NDArray[np.float64]:
    """Values [texts, 24] of the different rows under a metric, means over models and seeds, of the texts that have all
    of them."""
    of_metric = units[units["metric"] == metric]
    wide = of_metric.pivot_table(index="id", columns=KEYS, values="value", observed=True)
    columns = [(*row, "none" if row[0] in ONE_VALUE else output) for row, output in DIFFERENT_ROWS]
    return wide[columns].dropna().to_numpy(dtype=float)


# ----------------------------------------------------------------------------------------------------------- the spread
def series(language: str) -> dict[str, dict[str, str]]:
    """The metrics whose spread is compared, by name, with the labels of their cells; rho also in one language."""
    of_rho = {"rho": {"metric": "rho"}, f"rho, {language} alone": {"metric": "rho", "language": language}}
    return of_rho | {metric: {"metric": metric} for metric in METRICS}


def signals(measured: Scores, compared: Mapping[str, Mapping[str, str]]) -> dict[str, Signal]:
    """The spread of the 26 rows under each metric, taken apart."""
    return {name: signal_of(measured.cells, PRINTED_ROWS, **labels) for name, labels in compared.items()}


def published_spread(name: str) -> float:
    """The printed spread of a metric, of erasure as that of means over five lengths; NaN where none is printed."""
    if name not in PRINTED_IN:
        return math.nan
    if name in METRICS:
        return SIX_FIFTHS * printed_spread(name)
    return printed_spread(name)


def spread_table(of_metrics: Mapping[str, Signal], few: int) -> pd.DataFrame:
    """The spread of each metric, published and seen, by noise alone and between methods; `few`: with how many texts the
    noise is shown as well."""
    rows = []
    for name, signal in of_metrics.items():
        row = {"metric": name, "printed": math.nan, "printed × 6/5": math.nan}
        if name in PRINTED_IN:
            row["printed"] = printed_spread(name)
        if name in METRICS:
            row["printed × 6/5"] = published_spread(name)
        row |= {"seen": signal.seen, "by noise alone": signal.noise}
        row |= ends_of(signal.between, "between methods", "between low", "between high")
        row |= ends_of(signal.share, "share of signal", "share low", "share high")
        rows.append(
            row | {"needed": np.ceil(signal.needed), f"noise with {few}": signal.noise_with(few), "n": signal.n}
        )
    return pd.DataFrame(rows)


def mean_spreads_in_words(of_metrics: Mapping[str, Signal]) -> str:
    """The spread of the means of Table 3, ours and the printed one, and whether ours is the larger one throughout."""
    texts = [
        f"{metric} {of_metrics[metric].seen:.3f} (n = {of_metrics[metric].n}), printed {printed_spread(metric):.3f}, "
        f"times 6/5 {published_spread(metric):.3f}"
        for metric in METRICS
    ]
    larger = all(of_metrics[metric].seen > published_spread(metric) for metric in METRICS)
    rest = " So with our models erasure separates the rows more than in print." if larger else ""
    return f"Standard deviation of the 26 means of Table 3: {'; '.join(texts)}.{rest}"


def spreads_between(measured: Scores) -> dict[str, Comparison]:
    """The spread between methods, noise taken out, of rho and of either metric."""
    return {
        metric: spread_beside(
            measured, attrgetter("between"), PRINTED_ROWS, metric=metric, printed=printed_spread(metric)
        )
        for metric in ("rho", *METRICS)
    }


def less_spread(
    measured: Scores,
    take: Callable[[Signal], Estimate],
    *,
    rows: Sequence[tuple[Row, str]] = PRINTED_ROWS,
    of_rho: Mapping[str, object] | None = None,
    **labels: object,
) -> Statements:
    """The two statements of c09: the spread of rho minus that of either metric, and the spread of either.

    `take`: which quantity of a spread; `of_rho`: further labels of rho alone; `labels`: of all.
    """

    def spread(metric: str, **more: object) -> Comparison:
        at = {"metric": metric, **labels, **more}
        return spread_beside(measured, take, rows, printed=printed_spread(metric), **at)

    rho = spread("rho", **(of_rho or {}))
    either = {metric: spread(metric) for metric in METRICS}
    return Statements(
        {
            "rho separates": {f"rho minus {metric}": rho - of_metric for metric, of_metric in either.items()},
            "erasure does not": {f"spread of {metric}": of_metric for metric, of_metric in either.items()},
        }
    )


def spread_variants(measured: Scores, models: Sequence[str], language: str) -> dict[tuple[str, ...], Statements]:
    """c09 under every choice that the paper leaves open, the first as the paper compares: standard deviations or shares
    of signal, 26 rows or the 24 that differ, all models or one, rho in all languages or in one."""
    together, alone = "all languages", f"{language} alone"
    between, share = attrgetter("between"), attrgetter("share")
    found: dict[tuple[str, ...], Statements] = {}
    for name, take in (("deviation", between), ("share of signal", share)):
        found[name, "26 rows", "all models", together] = less_spread(measured, take)
        if take is between:
            found[name, "24 rows", "all models", together] = less_spread(measured, take, rows=DIFFERENT_ROWS)
        found[name, "26 rows", "all models", alone] = less_spread(measured, take, of_rho={"language": language})
        if len(models) > 1:  # one model alone is all of them, and would count twice
            for model in models:
                found[name, "26 rows", model, together] = less_spread(measured, take, model=model)
    return found


def separated_pairs(
    measured: Scores, compared: Mapping[str, Mapping[str, str]], of_metrics: Mapping[str, Signal]
) -> pd.DataFrame:
    """The share of pairs of the 24 different rows that each metric separates, by number of texts."""
    counted = []
    for name, labels in compared.items():
        if of_metrics[name].n:
            values, _ = matrix(measured.cells, labels_of(DIFFERENT_ROWS, **labels))
            counted.append(separated_by_size(values).assign(metric=name))
    return pd.concat(counted)


def against_baselines(measured: Scores) -> pd.DataFrame:
    """By metric and baseline, how many of the 24 different rows are clearly better and how many clearly worse."""
    counts = []
    for metric, better in {"rho": 1, **METRICS}.items():
        rows = Rows(measured, metric=metric, better=better)
        counts += [{"metric": metric} | rows.against(floor) for floor in FLOORS]
    return pd.DataFrame(counts).rename(columns={"floor": "baseline"})


# ------------------------------------------------------------------------------------------------------------ the costs
def cost_table(costs: pd.DataFrame, texts: int) -> pd.DataFrame:
    """Forward and backward passes and milliseconds of each method for one text and model, the hours that these are for
    XNLI's test split in five languages, and what the paper says; `costs`: of whole runs on so many texts."""
    models = number_of_trained_models(costs)
    total = costs.drop(columns=["model", "seed"]).groupby("method", sort=False).sum(numeric_only=True)
    methods = [method for method in TIMES if method in total.index]
    spent = (total.loc[methods] / (texts * models)).reset_index()
    hours = spent["seconds"] * PAPER_INPUTS * (1 + len(PAPER_LANGUAGES)) / 3600
    spent = spent.assign(seconds=1000 * spent["seconds"]).rename(columns=COSTS)
    return spent.assign(**{"hours, paper's texts": hours}, paper=spent["method"].map(TIMES), n=texts)


def number_of_trained_models(costs: pd.DataFrame) -> int:
    """How many trained models the costs are of."""
    return len(costs[["model", "seed"]].drop_duplicates())


def texts_read(erased: pd.DataFrame, across: pd.DataFrame) -> int:
    """Texts that were explained: those under erasure, and those of rho in English and in every translation."""
    return int(erased["input"].nunique() + across["input"].nunique() * (1 + across["language"].nunique()))
