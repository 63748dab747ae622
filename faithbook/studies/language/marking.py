"""How much of a text methods mark, what soft metrics make of it, and what falls on the first token: what
`language_measures` measures, tests and shows.

`score` is the mean of a metric of a method, `score("soft_ns", "attention")`; `first_token` that of what is known of the
first token, `first_token("share", "share", "attention")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Drawn, Layout, dot_plot, line_plot
from faithbook.stats.comparison import Comparison

METHODS = (
    "attention",
    "rollout",
    "rollout_dropped",
    "saliency",
    "input_x_gradient",
    "integrated_gradients",
    "occlusion",
    "random",
)
OTHERS = tuple(name for name in METHODS if name not in ("occlusion", "random"))
"""The methods that are held against occlusion, and those whose first token is looked at."""
SOFT = {"soft_ns": "pi_soft_ns", "soft_nc": "pi_soft_nc"}
"""The soft metrics, and the same at equal retention."""
SOFT_METRICS = (*SOFT, *SOFT.values())
HARD_AND_SOFT = ("ns", "nc", "soft_ns", "soft_nc")
PROTECTED = ("attention", "rollout", "input_x_gradient", "occlusion")
TEXT = ["dataset", "model", "id", "cluster", "seed"]

Score = Callable[[str, str], Comparison]
FirstToken = Callable[[str, str, str], Comparison]


# ------------------------------------------------------------------------------------------------------------- measured
def with_correlations(units: pd.DataFrame) -> pd.DataFrame:
    """Values of every method, and for every text the rank correlation over methods of each metric with the amount."""
    real = units[units.method.isin(METHODS)]
    by_method = real.pivot(index=[*TEXT, "method"], columns="metric", values="value")
    ranks = by_method.groupby(TEXT).rank()
    correlations = {}
    for pair in SOFT.items():
        for metric in pair:
            correlations[metric] = ranks.groupby(TEXT)[["amount", metric]].corr().iloc[::2, 1].droplevel(-1)
    stacked = pd.DataFrame(correlations).rename_axis(columns="metric").stack()
    rho = pd.Series(stacked, name="value").reset_index().assign(method="rho")
    return pd.concat([units[[*TEXT, "method", "metric", "value"]], rho])


def above_its_share(units: pd.DataFrame) -> pd.DataFrame:
    """The first token's share of a prompt's scores and what it has above an even share; other values as they are."""
    share = units[units["first"] == "share"].pivot(index=[*TEXT, "method"], columns="metric", values="value")
    share = (
        share.assign(above=share.share - share.even_share).melt(ignore_index=False, value_name="value").reset_index()
    )
    return pd.concat([share.assign(first="share"), units[units["first"] != "share"]])


def correlations_with_amount(score: Score) -> dict[str, Comparison]:
    """The mean rank correlation over methods between the amount and each soft metric, by metric."""
    return {metric: score(metric, "rho") for pair in SOFT.items() for metric in pair}


def correlations_to_quote(score: Score) -> dict[str, Comparison]:
    """The correlations at equal retention, by the name under which other pages quote them."""
    return {f"amount and {label(metric)}": score(metric, "rho") for metric in SOFT.values()}


# --------------------------------------------------------------------------------------------------------------- claims
def rewards_for_amount(score: Score) -> dict[str, Comparison]:
    """lm_huang_c01: the correlation of the amount with each soft metric; and what occlusion with the larger amount gets
    above itself with the smaller one, in the same order."""
    parts = {f"amount and {label(metric)}, rank correlation": score(metric, "rho") for metric in SOFT}
    for metric in SOFT:
        gain = score(metric, "occlusion_more") - score(metric, "occlusion_less")
        parts[f"occlusion to the power 1/3 minus to the power 3, {label(metric)}"] = gain
    return parts


def falls_of_correlation(score: Score) -> dict[str, Comparison]:
    """lm_q1: the correlation of the amount with each soft metric minus that with the same at equal retention."""
    return {
        f"correlation with {label(metric)} minus with {label(equal)}": score(metric, "rho") - score(equal, "rho")
        for metric, equal in SOFT.items()
    }


def ahead_of_occlusion(score: Score) -> dict[str, Comparison]:
    """lm_huang_c02: pi-Soft-NS of each other method minus that of occlusion."""
    return {
        f"{label(method)} minus occlusion": score("pi_soft_ns", method) - score("pi_soft_ns", "occlusion")
        for method in OTHERS
    }


def above_even_share(first_token: FirstToken) -> dict[str, Comparison]:
    """lm_q5: the first token's share of the scores minus an even share, of the methods that do not leave it out."""
    return {
        f"{label(method)}, share minus an even share": first_token("share", "above", method)
        for method in OTHERS
        if method != "rollout_dropped"
    }


def changes_by_protecting(first_token: FirstToken) -> dict[tuple[str, str], Comparison]:
    """What protecting the first word adds to each metric of each method."""
    return {
        (method, metric): first_token("protected", metric, method) - first_token("open", metric, method)
        for method in PROTECTED
        for metric in HARD_AND_SOFT
    }


def gains_of_attention(first_token: FirstToken) -> dict[str, Comparison]:
    """lm_q6: what protecting the first word adds to attention and to rollout."""
    changes = changes_by_protecting(first_token)
    return {
        f"{label(method)}, {label(metric)}: protected minus open": changes[method, metric]
        for method in ("attention", "rollout")
        for metric in HARD_AND_SOFT
    }


# -------------------------------------------------------------------------------------------------------------- readers
def amounts_by_method(score: Score) -> pd.DataFrame:
    """The amount and the soft metrics of each method: method, metric, estimate with its ends, n."""
    cells = {(method, metric): score(metric, method) for method in METHODS for metric in ("amount", *SOFT_METRICS)}
    return listed(cells, ["method", "metric"])


def correlation_table(table: pd.DataFrame) -> pd.DataFrame:
    """The table for readers: a row for each method, a column for each metric."""
    cells = table.assign(cell=[spoken(row, ".2f") for row in table.itertuples()])
    wide = cells.pivot(index="method", columns="metric", values="cell")
    return wide.loc[list(METHODS), ["amount", *SOFT_METRICS]].reset_index()


def amounts_drawn(table: pd.DataFrame, correlations: Mapping[str, Comparison]) -> Drawn:
    """Each soft metric against the amount, one panel per metric."""
    amount = table[table["metric"] == "amount"].set_index("method")["estimate"]
    points = table[table["metric"] != "amount"]
    points = points.assign(amount=points["method"].map(amount))
    points["panel"] = [
        f"{label(metric)}: rank correlation {correlations[metric].ours.point:.2f}" for metric in points["metric"]
    ]
    points = points.sort_values("metric", key=lambda names: names.map(SOFT_METRICS.index), kind="stable")
    layout = Layout(panel="panel", series="method", names={name: label(name) for name in METHODS}, shared=False)
    return line_plot(points, "amount (mean importance of a word)", "score", x="amount", layout=layout, bars=True)


def first_shares(first_token: FirstToken) -> pd.DataFrame:
    """The first token's share of the scores: method, estimate with its ends, n."""
    return listed({(method,): first_token("share", "share", method) for method in OTHERS}, ["method"])


def first_shares_drawn(shares: pd.DataFrame, even: float) -> Drawn:
    """The shares as dots, an even share dotted."""
    layout = Layout(names={name: label(name) for name in OTHERS}, mark=even)
    return dot_plot(shares, "first token's share of the absolute scores of a prompt", row="method", layout=layout)


def protecting(first_token: FirstToken) -> pd.DataFrame:
    """Metrics with the first word as a feature and protected: method, metric, open, protected, change with its ends,
    n."""
    changes = changes_by_protecting(first_token)
    table = listed(changes, ["method", "metric"]).rename(columns={"estimate": "change"})
    for place, first in enumerate(("open", "protected")):
        means = [first_token(first, metric, method).ours.point for method, metric in changes]
        table.insert(2 + place, first, means)
    return table


def in_short(score: Score, first_token: FirstToken, right: Comparison) -> str:
    """The result of the page in two sentences. `right`: how often the model answers rightly."""
    correlations = correlations_with_amount(score)
    rho = {metric: spoken(correlation, ".2f") for metric, correlation in correlations.items()}
    n = min(correlation.ours.n for correlation in correlations.values())
    shares = {
        method: spoken(first_token("share", "share", method), ".0%") for method in ("attention", "input_x_gradient")
    }
    return (
        "on a small model, the rank correlation over methods between how much of a text a method marks and "
        f"its soft score is {rho['soft_ns']} for Soft-NS and {rho['soft_nc']} for Soft-NC. At equal retention "
        f"it is {rho['pi_soft_ns']} and {rho['pi_soft_nc']} (n = {n} reviews). The first token, a word of the "
        f"template, takes {shares['attention']} of the attention and {shares['input_x_gradient']} of the "
        f"scores of input × gradient. The model answers correctly for {spoken(right, '.0%', n=True)} of the "
        "reviews."
    )
