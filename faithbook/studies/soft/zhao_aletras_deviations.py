"""What the released code's choices change of our numbers: the tables of `soft_deviations`.

`power` is the share of inputs on which a metric prefers an attribution to random scores, `power(metric, dataset=...,
method=..., shows=...)`; `exchanged` the same with one choice changed, `exchanged(variant, metric, ...)`, on the same
inputs, `shows` saying on which side of the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, row_of, spoken
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft.zhao_aletras import of_largest
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    AFTER,
    BEFORE,
    EVERYTHING,
    FLIP,
    METHODS,
    SCORE,
    TIE,
    WIN,
    Power,
    Reading,
)

Row = dict[str, object]
METRICS, SOFT = ("ns", "nc", "soft_ns", "soft_nc"), ("soft_ns", "soft_nc")
RANKS, AS_CODED = "normaliser=rank", "scaled_attention=released"
CHOICES = {
    "direction=released": "D1 mask direction inverted",
    "normaliser=released": "D2 released normalisers",
    "normaliser=sigmoid": "D2 sigmoid for both",
    "direction=released, normaliser=released": "D1 and D2 together",
    "baseline=pad": "D3 baseline of padding ids",
    "ratios=released": "D5 seven lengths",
    AS_CODED: "D6 attention squared",
    "deeplift=exact": "D10 DeepLIFT by exact rules",
    "clip=released": "clipping to [0, 1]",
    RANKS: "rank normaliser",
    "draws=1": "one draw",
    "dtype=bfloat16": "bfloat16",
}
"""By variant of `soft_variants`, how the page calls it."""


# ---------------------------------------------------------------------------------------------- values of single inputs
def scored(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties of the study's inputs, those of an attribution of 1 for every token, and what one draw flips."""
    units = of_largest(units)
    real = diagnosticity.with_lengths(units[units["method"] != "none"])
    wins = diagnosticity.counted(pd.concat([real, diagnosticity.everything(units)], ignore_index=True))
    return pd.concat([wins, diagnosticity.one_draw_flips(wins)], ignore_index=True)


def beside_papers_choice(units: pd.DataFrame) -> pd.DataFrame:
    """Each variant next to the paper's choice on the same inputs; ranks also with random scores left as they are."""
    units = of_largest(units)
    variants = pd.concat([units, diagnosticity.real_on_ranks(units)], ignore_index=True)
    bases = None
    # Single precision is a variant only where the paper's choice was computed in half precision: then the two compare.
    if "dtype=float32" in units["variant"].unique():
        bases = {"dtype=bfloat16": "dtype=float32"}
    return diagnosticity.beside_base(diagnosticity.completed(variants), bases=bases)


def wins_of_choices(units: pd.DataFrame) -> pd.DataFrame:
    """`beside_papers_choice` without the scores: shares of inputs."""
    rows = beside_papers_choice(units)
    return rows[rows["shows"] != SCORE]


def scores_of_choices(units: pd.DataFrame) -> pd.DataFrame:
    """How far the scores move in `beside_papers_choice`."""
    rows = beside_papers_choice(units)
    return rows[rows["shows"] == SCORE]


# ----------------------------------------------------------------------------------------------------- tables and words
def everything_beside_the_best(power: Power, metrics: Sequence[str]) -> list[str]:
    """By metric, in words: on which share of the inputs an attribution of 1 for every token beats random scores, and on
    which the best real attribution does."""
    sentences = []
    for metric in metrics:
        shares = {method: power(metric, method=method) for method in METHODS}
        best = max(shares, key=lambda method: shares[method].ours.point)
        sentences.append(
            f"under {label(metric)} on a share of the inputs of {spoken(power(metric, method=EVERYTHING), n=True)}, "
            f"the best real attribution, {label(best)}, on {spoken(shares[best], n=True)}"
        )
    return sentences


def cells_of_ours(
    power: Power, datasets: Sequence[str], metrics: Sequence[str], printed: pd.Series
) -> dict[tuple[str, str, str], float]:
    """Our diagnosticity by data set, metric and method, of the data sets that are printed too."""
    in_print = set(printed.index.get_level_values("dataset"))
    cells = {}
    for dataset, metric, method in product([name for name in datasets if name in in_print], metrics, METHODS):
        cells[dataset, metric, method] = power(metric, dataset=dataset, method=method).ours.point
    return cells


def texts_of(measured: pd.DataFrame, datasets: Sequence[str]) -> dict[str, int]:
    """How many texts of each data set were measured, by its name for people."""
    texts = measured[measured["dataset"].isin(datasets)].groupby("dataset", observed=True)["id"].nunique()
    return {label(name): int(texts[name]) for name in datasets}


def other_choices_of_texts(
    settings: Mapping[str, object], trained: pd.Series, texts: Mapping[str, int]
) -> pd.DataFrame:
    """Choices of ours that are not of the released code: what differs, theirs, ours, and where its effect is measured.

    `settings`: of the full run; `trained`: on how many texts of AG News each classifier was trained; `texts`: how many
    of each data set were tested.
    """
    rows = [
        (
            "training texts of AG News",
            "102,000",
            f"{trained.min():,.0f}" if len(trained) else "–",
            "F1 beside the printed one: {doc}`soft_tables`",
        ),
        ("steps of integrated gradients", "not stated", str(settings["ig_steps"]), "–"),
        ("draws of the mask for one soft score", "one", str(settings["draws"]), "the next section"),
        ("random scores", "not stated", "normal, one drawing per input", "–"),
        (
            "models",
            "BERT, SciBERT, RoBERTa, all weights, five seeds",
            "sentence encoders with low-rank adapters, up to three seeds",
            "{doc}`soft_pipeline`: one run with all weights",
        ),
        ("precision", "not stated", str(settings["dtype"]), "the section before"),
        ("test texts", "all", ", ".join(f"{name} {n:,}" for name, n in texts.items()), "intervals"),
    ]
    return pd.DataFrame(rows, columns=["what", "paper", "here", "what it changes"])


def random_preferred(readings: pd.DataFrame, metrics: Sequence[str]) -> list[str]:
    """By metric, in words, the data sets on which it prefers random scores (`readings_of_ties`)."""
    preferred = readings[readings["reading"] == "random preferred"]
    sentences = []
    for metric in metrics:
        datasets = preferred.loc[preferred["metric"] == metric, "dataset"]
        if len(datasets):
            sentences.append(f"{label(metric)} on {', '.join(map(label, datasets))}")
    return sentences


def with_equal_amounts(exchanged: Power, ranks: str, metrics: Sequence[str], methods: Sequence[str]) -> pd.DataFrame:
    """Diagnosticity with min-max amounts, with equal ones (the variant `ranks`), and the difference, by metric and
    method; last the average over all methods of the paper."""
    rows = []
    for metric in metrics:
        averaged: dict[str, Any] = {method: method for method in methods} | {"average": METHODS}
        for method, over in averaged.items():
            after = exchanged(ranks, metric, method=over, shows=AFTER)
            before = exchanged(ranks, metric, method=over, shows=BEFORE)
            row: Row = {"metric": metric, "method": method, **ends_of(after - before)}
            rows.append(row | ends_of(before, "min-max") | row_of(after, "ranks"))
    return pd.DataFrame(rows)


def effects_of_variants(
    exchanged: Power, moved: Scores, variants: Mapping[str, str], metrics: Sequence[str], units: pd.DataFrame
) -> pd.DataFrame:
    """What each variant that was measured changes of each metric, over the methods that it touches.

    `variants`: how each is called; `moved`: by how much scores move; `units`: the values of single inputs, which say
    what was measured.
    """
    units = units[units["variant"].isin(variants) & units["method"].isin(METHODS)]
    rows = []
    for variant in [name for name in variants if name in set(units["variant"])]:
        of_variant = units[units["variant"] == variant]
        for metric in metrics:
            measured = set(of_variant.loc[of_variant["metric"] == metric, "method"])
            touched = [name for name in METHODS if name in measured]
            if touched:
                row = effect_of_variant(exchanged, moved, variant, metric, touched)
                rows.append({"variant": variant, "choice": variants[variant], **row})
    return pd.DataFrame(rows)


def effect_of_variant(exchanged: Power, moved: Scores, variant: str, metric: str, methods: Sequence[str]) -> Row:
    """What a variant changes of a metric, over some methods: diagnosticity on both sides and its change, the change of
    the score, and the shares of comparisons that flip, that are outside of [0, 1], and that are defined on one side."""
    before = exchanged(variant, metric, method=methods, shows=BEFORE)
    after = exchanged(variant, metric, method=methods, shows=AFTER)
    flips = exchanged(variant, metric, method=methods, shows=FLIP)
    outside = exchanged(variant, metric, method=methods, shows=diagnosticity.OUTSIDE)
    one_sided = exchanged(variant, metric, method=methods, shows=diagnosticity.ONE_SIDED)
    score = moved.mean(variant=variant, metric=metric, method=methods)
    return {
        "metric": metric,
        "diagnosticity": before.ours.point,
        "other choice": after.ours.point,
        **ends_of(after - before, "change", "low", "high"),
        **ends_of(score, "score"),
        "flips": flips.ours.point,
        "outside": outside.ours.point,
        "one side only": one_sided.ours.point,
        "n": after.ours.n,
    }


def scaled_attention_as_coded(
    tried: Scores,
    exchanged: Power,
    variant: str,
    printed: pd.Series,
    datasets: Sequence[str],
    metrics: Sequence[str],
) -> pd.DataFrame:
    """Scaled attention by its gradient, as the text has it, and squared, as the code has it (`variant`), with plain
    attention, beside the printed values of both (by data set, metric and method)."""
    rows = []
    for dataset, metric in product(datasets, metrics):
        with_gradient = exchanged(variant, metric, method=["scaled_attention"], shows=BEFORE, dataset=dataset)
        squared = exchanged(variant, metric, method=["scaled_attention"], shows=AFTER, dataset=dataset)
        plain = tried.mean(variant=variant, metric=metric, method="attention", shows=BEFORE, dataset=dataset)
        rows.append(
            {
                "dataset": dataset,
                "metric": metric,
                "attention, printed": printed[dataset, metric, "attention"],
                "scaled, printed": printed[dataset, metric, "scaled_attention"],
                "attention": plain.ours.point,
                "scaled by gradient": with_gradient.ours.point,
                **ends_of(squared, "squared, as coded", "low", "high"),
                "n": squared.ours.n,
            }
        )
    return pd.DataFrame(rows)


def squared_beside_attention(as_coded: pd.DataFrame) -> str:
    """By how much squared attention of ours differs from attention under hard metrics (`scaled_attention_as_coded`), in
    brackets; "" where it was not measured."""
    if as_coded.empty:
        return ""
    hard = as_coded[as_coded["metric"].isin(diagnosticity.HARD)]
    distance = (hard["attention"] - hard["squared, as coded"]).abs().max()
    how = f"differ by at most {distance:.3f}"
    if distance < 0.0005:
        how = "are equal"
    return f" (on our models, with the same random scores, they {how})"


def readings_of_ties(power: Power, datasets: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """Diagnosticity with ties as no win (`strict`), as half a win (`half`, with its interval) and as wins (`released`);
    the shares of ties, and of ties at the limit; and whether half a win decides which is preferred (`reading`)."""
    rows = []
    for dataset, metric in product(datasets, metrics):
        won = power(metric, dataset=dataset, shows=WIN).ours
        tied = power(metric, dataset=dataset, shows=TIE).ours
        limit = power(metric, dataset=dataset, shows=diagnosticity.LIMIT).ours
        half = Reading(tied=0.5).share(power, metric, dataset=dataset)
        row: Row = {"dataset": dataset, "metric": metric, "strict": won.point, "ties": tied.point}
        row |= {"at the limit": limit.point, **ends_of(half, "half", "low", "high")}
        rows.append(row | {"released": won.point + tied.point, "n": half.ours.n})
    table = pd.DataFrame(rows)
    below, above = table["high"] < 0.5, table["low"] > 0.5
    table["reading"] = np.select([below, above], ["random preferred", "attribution preferred"], "undecided")
    return table[[*(name for name in table.columns if name != "n"), "n"]]


def single_draws(power: Power, datasets: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """The share of comparisons that flip with one draw of the mask, and the change of diagnosticity."""
    rows = []
    for dataset, metric in product(datasets, metrics):
        flips = power(metric, dataset=dataset, shows=FLIP)
        change = power(f"{metric}_one_draw", dataset=dataset) - power(metric, dataset=dataset)
        row: Row = {"dataset": dataset, "metric": metric}
        rows.append(row | row_of(flips, "flips") | row_of(change, "change", "low", "high"))
    return pd.DataFrame(rows)
