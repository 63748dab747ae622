"""How often metrics prefer a real attribution to random scores, at which price, and whether the soft ones do so without
the mean importance of the scores.

Shares come as dicts by modality and metric, and by what the attribution is compared with where that varies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import inputs_of, label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.show.tables import rounded
from faithbook.stats.comparison import Comparison
from faithbook.stats.needed import smallest_detectable
from faithbook.studies.together import questions
from faithbook.studies.together.questions import CHANCE, FAMILY_OF, TIES, YES, answer, by_cell
from faithlib.catalogue import FAITHFULNESS, FAMILIES

Means = dict[tuple[str, ...], Comparison]
"""Means over inputs by their labels."""

CELL = ("modality", "metric")
SHOWN = (*FAITHFULNESS, *FAMILIES["simplicity"].directions)
"""The metrics of the page: those of faithfulness, and as baselines those of the scores alone."""
HARD_OF = {"soft_ns": "ns", "soft_nc": "nc"}
"""The hard metric of each soft one."""
BASELINES = ("random", "middle")
"""Of images beside their mirror images: random scores, and closeness to the middle."""
USES_MODEL, SCORES_ALONE = "uses the model", "uses the scores alone"
"""How the figure's legend names the two kinds of metrics."""


# ----------------------------------------------------------------------------------------------------------- quantities
def preferred_to_random(measured: Scores) -> Means:
    """How often each metric prefers a real attribution to random scores."""
    return {key: share for key, share in by_cell(measured, CELL, against=CHANCE).items() if key[1] in SHOWN}


def shares_of_faithfulness(
    preferred: Mapping[tuple[str, ...], Comparison], modalities: Sequence[str]
) -> dict[str, Comparison]:
    """How often each metric of faithfulness prefers a real attribution, as the parts of a claim."""
    return {
        f"{label(metric)}, {modality}": share
        for (modality, metric), share in preferred.items()
        if metric in FAITHFULNESS and modality in modalities
    }


def soft_minus_hard(
    preferred: Mapping[tuple[str, ...], Comparison], modalities: Sequence[str]
) -> dict[str, Comparison]:
    """How much more often a soft metric prefers a real attribution than its hard one."""
    return {
        f"{label(soft)} minus {label(hard)}, {modality}": preferred[modality, soft] - preferred[modality, hard]
        for modality in modalities
        for soft, hard in HARD_OF.items()
    }


def without_importance(
    controlled: Mapping[tuple[str, ...], Comparison], modalities: Sequence[str]
) -> dict[str, Comparison]:
    """How often a soft metric prefers a real attribution to scores of the same mean importance; `controlled`: by
    modality, metric and what it is compared with."""
    return {
        f"{label(metric)} against {other}, {modality}": share
        for (modality, metric, other), share in controlled.items()
        if other != CHANCE and modality in modalities
    }


def against_itself_shuffled(controlled: Mapping[tuple[str, ...], Comparison], modality: str) -> dict[str, Comparison]:
    """How often each soft metric prefers a real attribution to the same scores shuffled, on one modality."""
    return {
        f"{label(metric)} against itself shuffled": share
        for (kind, metric, other), share in controlled.items()
        if (kind, other) == (modality, questions.ITSELF)
    }


def minus_random(rho: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """How much closer each method's scores are to those of the mirror image than random scores are."""
    return {
        f"{label(method)} minus random": mean - rho["random"] for method, mean in rho.items() if method not in BASELINES
    }


# --------------------------------------------------------------------------------------------------------------- frames
def diagnosticity_with_prices(
    preferred: Mapping[tuple[str, ...], Comparison], measured: Scores, prices: pd.Series
) -> pd.DataFrame:
    """The diagnosticity of every metric with the share of ties, how many inputs it needs, and its price; the highest
    first. `prices`: model calls by modality and family (`questions.prices_of`)."""
    table = listed(preferred, CELL)
    table["family"] = table.metric.map(FAMILY_OF)
    table["ties"] = [
        measured.mean(modality=modality, metric=metric, against=TIES).ours.point for modality, metric in preferred
    ]
    table["above chance"] = [answer(share.ours, 0.5) for share in preferred.values()]
    table["inputs needed"] = [questions.inputs_to_separate(share.ours, 0.5) for share in preferred.values()]
    table["gain it would find"] = [smallest_detectable(share.ours) for share in preferred.values()]
    table["model calls per input"] = [
        prices.get((modality, FAMILY_OF[metric]), np.nan) for modality, metric in preferred
    ]
    return table.sort_values(["modality", "estimate"], ascending=[True, False], ignore_index=True)


def price_table(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `diagnosticity_with_prices` for people: shares with their intervals, whole numbers of inputs and
    model calls."""
    return pd.DataFrame(
        {
            "modality": table.modality.map(questions.MODALITIES),
            "metric": table.metric.map(label),
            "share": [spoken(row, ".2f") for row in table.itertuples()],
            "n": table.n.astype(int).astype(str),
            "ties": [rounded(share, 2) for share in table.ties],
            "above chance": table["above chance"],
            "inputs needed": [rounded(number, 0) for number in table["inputs needed"]],
            "gain it would find": [rounded(gain, 2) for gain in table["gain it would find"]],
            "model calls": [rounded(number, 0) for number in table["model calls per input"]],
        }
    )


def matrix_costs(prices: pd.DataFrame) -> pd.DataFrame:
    """Forward passes and seconds of the whole matrix; `prices`: the sums of the table `together_costs`."""
    whole = prices[~prices.what.isin([*FAMILIES, "controls"])]
    costs = whole[["dataset", "inputs", "methods"]].assign(dataset=whole.dataset.map(inputs_of), metrics=whole.what)
    costs["passes requested"] = whole.rows_asked
    costs["passes computed"] = whole.rows_run
    costs["saved"] = 1 - whole.rows_run / whole.rows_asked
    costs["seconds"] = whole.seconds_all
    costs["outside the model"] = 1 - whole.seconds_model / whole.seconds_core
    return costs


def beside_transformers(
    network: Mapping[tuple[str, ...], Comparison], preferred: Mapping[tuple[str, ...], Comparison]
) -> pd.DataFrame:
    """The diagnosticity of metrics on a convolutional network, beside that on the other models of images."""
    table = listed(network, ["metric"])
    for modality in dict.fromkeys(key[0] for key in preferred if key[0] != questions.TEXT):
        points = {metric: share.ours.point for (kind, metric), share in preferred.items() if kind == modality}
        table[modality] = [points.get(str(metric), np.nan) for metric in table.metric]
    return table


def with_mean_importance(shares: Mapping[tuple[str, ...], Comparison], controls: pd.DataFrame) -> pd.DataFrame:
    """How often a soft metric prefers each method (by modality, method and what it is compared with), with the method's
    mean importance; `controls`: the run's table of one soft metric on shuffled scores."""
    importance = controls.groupby(["modality", "method"], sort=False).density.mean().rename("mean importance")
    table = listed(shares, ["modality", "method", "against"])
    table = table.merge(importance.reset_index(), on=["modality", "method"], how="left")
    return table.sort_values(["modality", "against", "mean importance"], ignore_index=True)


def lead_over_baselines(rho: Mapping[str, Comparison]) -> pd.DataFrame:
    """The rank correlation of each method's scores with those of the mirror image, and its lead over two baselines."""
    table = listed({(method,): mean for method, mean in rho.items()}, ["method"])
    for baseline in BASELINES:
        name = "the middle" if baseline == "middle" else baseline
        table[f"minus {name}"] = [(mean - rho[baseline]).ours.point for mean in rho.values()]
    return table.sort_values("estimate", ascending=False)


# ------------------------------------------------------------------------------------------------- figure and sentences
def diagnosticity_figure(table: pd.DataFrame) -> Drawn:
    """Diagnosticity by metric and modality; which metrics use the model is said by colour."""
    means = table.groupby("metric").estimate.mean().sort_values(ascending=False)
    drawn = table.assign(series=np.where(table.metric.isin(FAITHFULNESS), USES_MODEL, SCORES_ALONE))
    drawn = drawn.sort_values("metric", key=lambda names: names.map(means.index.get_loc), kind="stable")
    names = {str(metric): label(str(metric)) for metric in means.index}
    for modality, part in table.groupby("modality"):
        kind = questions.MODALITIES[str(modality)]
        names[str(modality)] = f"{kind}, n = {part.n.min():.0f} to {part.n.max():.0f}"
    columns = table.modality.nunique()
    layout = Layout(panel="modality", series="series", columns=columns, names=names, mark=0.5, width=9.5)
    return dot_plot(drawn, "diagnosticity (ties count half)", row="metric", layout=layout)


def in_short(preferred: Mapping[tuple[str, ...], Comparison]) -> str:
    """The result of the page: the best and the worst metric of faithfulness of each modality."""
    shares = listed({key: share for key, share in preferred.items() if key[1] in FAITHFULNESS}, CELL)
    sentences = []
    for modality, part in shares.sort_values("estimate", ascending=False).groupby("modality", sort=False):
        best, worst = part.iloc[0], part.iloc[-1]
        sentences.append(
            f"{label(best.metric)} {spoken(best, '.2f')} and {label(worst.metric)} {spoken(worst, '.2f')} "
            f"on {questions.MODALITIES[str(modality)]} (n = {part.n.min():.0f} inputs at least)"
        )
    return (
        "The metrics prefer a real attribution to a random one on this share of inputs and methods, the best and the "
        f"worst metric: {'; '.join(sentences)}. One half is chance."
    )


def lax_baseline(rho: Mapping[str, Comparison]) -> str:
    """How many methods are above a map that knows neither model nor image."""
    methods = [method for method in rho if method not in BASELINES]
    above = [method for method in methods if answer((rho[method] - rho["middle"]).ours) == YES]
    return (
        "Random scores are a lax baseline: a map of closeness to the middle, which knows neither model nor image, has "
        f"{rho['middle'].ours.point:.3f}, and {len(above)} of {len(methods)} methods are clearly above that."
    )
