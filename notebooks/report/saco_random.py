# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metrics separate an explanation from random scores, and with how many images?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.figures import OURS
from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, spoken
from faithbook.show.plots import Layout, dot_plot
from faithbook.show.tables import in_words
from faithbook.stats import needed
from faithbook.studies.saco import wu
from faithbook.studies.saco.wu import METHODS, PICTURE, SIGN

page = start_page("saco_random", profile, values=values, paper="wu_2024")


def with_random(units):
    """Every explanation beside each draw of random scores on the same image: win, tie, gap and its square."""
    both = wu.beside_random(units)
    # SaCo itself has a known mean over random scores, so that it can be tested against zero with no random map.
    zero = both.value.where((both.metric == "saco") & (both.draw == both.draw.min()))
    values = both.assign(square=both.gap**2, value=zero, value_square=zero**2)
    columns = ["win", "tie", "gap", "square", "value", "value_square"]
    return values.melt([*PICTURE, "metric", "method"], columns, "quantity", "number").rename(
        columns={"number": "value"}
    )


measured = page.measure("saco_metrics", over=["quantity", "metric", "method"], prepare=with_random, firmest=True)
alike, moved = (
    page.measure("saco_nudged", over=["metric", "method"], firmest=True, bounds=ends) for ends in ((-1, 1), (0, 2))
)
methods = measured.levels("method")
at = page.quantity("quantity", "metric", "method")


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        "Share of images on which a metric prefers an explanation to random scores of the same image, mean over the paper's "
        f"{len(METHODS)} methods: "
        + ", ".join(f"{label(metric)} {spoken(at('win', metric, METHODS), '.2f')}" for metric in SIGN)
        + f" (n = {at('win', 'saco', METHODS).ours.n:,}; one half is chance, except for AUC, which has many ties)."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`wu_2024` test metrics with random scores: a good metric should rate them clearly below any useful explanation. They
# compare means. But SaCo of random scores is zero only on average; on one image, with ten groups, it has a standard
# deviation of about a third. So the practical question is how many images a metric needs before the difference shows.
#
# The paper has no counterpart to this page. The images of both data sets are pooled here; on the pages of tables and figures
# data sets count equally. Next to the paper's ten methods stands an eleventh from its Table 1: the attention of the last layer
# with its gradient. The metrics are explained on {doc}`saco_figures`.

# %% [markdown]
# ## How often, and by how much
#
# On each image and model the explanation's score is compared with that of several sets of random scores, all metrics
# sign-flipped so that higher is better. *Wins*: the share of strict wins, which is {term}`diagnosticity`. *Gap*: the mean
# difference. A tie does not count as a win; AUC of one image has only 21 possible values, so it ties often.

# %%
rows = []
for metric, method in product(SIGN, methods):
    win, tie, gap = (at(quantity, metric, method) for quantity in ("win", "tie", "gap"))
    rows.append({"metric": metric, "method": method, **ends_of(win), "ties": tie.ours.point})
    rows[-1] |= ends_of(gap, "gap") | {"n": win.ours.n}
wins = pd.DataFrame(rows)
caption = (
    f"Share of strict wins against random scores of the same image (n = {wins.n.min():,} images). The file also has ties and "
    "mean gaps"
)
page.listing(
    wins,
    "saco_random_wins",
    caption=caption,
    wide=in_words(wins, ["method"], "metric", ".2f").rename(columns=label),
)

# %%
both = pd.concat([wins.assign(series="wins"), wins[["metric", "method"]].assign(estimate=wins.ties, series="ties")])
names = {name: label(name) for name in (*SIGN, *methods)}
looks = {"wins": (OURS, "o"), "ties": ("#888888", "|")}
layout = Layout(panel="metric", series="series", columns=len(SIGN), names=names, looks=looks, mark=0.5)
fig, alt = dot_plot(both, "share of comparisons", row="method", layout=layout)
by_metric = wins.groupby("metric", sort=False)
caption = "How often an explanation beats random scores on the same image. Grey ticks: share of ties. Dotted: one half."
page.figure(fig, "saco_random_wins_plot", alt=alt, caption=caption)

# %%
counts = {m: (int((part["gap low"] > 0).sum()), int((part["gap high"] < 0).sum())) for m, part in by_metric}
counted = "; ".join(f"{label(m)} puts {up} above random scores and {down} below" for m, (up, down) in counts.items())
Markdown(f"Of the {len(methods)} methods, counting those whose gap has an interval on one side of zero: {counted}.")

# %% [markdown]
# A method below random scores does not mean that the metric fails: the method may mark the wrong pixels. And a method above them
# need not be good. But a metric that needs many images for a difference that another shows with few is less useful.

# %% [markdown]
# ## How many images
#
# We assume a small and common study: $n$ images, each with one model, one explanation and one random map, and a two-sided
# paired *t*-test at the level 0.05. Its *power* is the chance that it comes out significant with the method
# ahead, about $\Phi(\sqrt{n}\,\delta - 1.96)$ with $\delta$ the mean difference over its standard deviation. A power of
# 0.8 takes $n = ((1.96 + 0.84) / \delta)^2$ images. That number is infinite (∞) where the method is not ahead, and the upper end
# of its interval where it may not be.
#
# SaCo has an advantage: its mean over random scores is zero in theory, and near zero on our models ({doc}`saco_figures`, c05). A study
# that uses it can test the mean against zero without a random map, which removes that map's noise (last column).

# %%
rows = []
for metric, mean, square in (*((name, "gap", "square") for name in SIGN), ("saco", "value", "value_square")):
    for method in methods:
        effect_size = needed.effect(at(mean, metric, method), at(square, metric, method))
        against = "a random map" if mean == "gap" else "zero"
        rows.append({"metric": metric, "against": against, "method": method, "effect": effect_size.ours.point})
        sign_test = needed.sign_test_needed(at("win", metric, method).ours.point, at("tie", metric, method).ours.point)
        rows[-1] |= needed.needed_row(effect_size) | {"sign test": np.ceil(sign_test) if mean == "gap" else np.nan}
        rows[-1] |= {"n": effect_size.ours.n}
pictures = pd.DataFrame(rows)
of_pair = pictures.metric.map(label) + pictures.against.map({"zero": " against zero", "a random map": ""})
by_metric_and_method = in_words(pictures.assign(metric=of_pair), ["method"], "metric", ",.0f").replace(
    {r"inf \[inf, inf\]": "∞", "inf": "∞"}, regex=True
)
caption = f"Images needed to separate a method from random scores with power 0.8 (paired t-test), from n = {pictures.n.min():,} " \
    "images. The file also has effects and the sign test"  # fmt: skip
page.listing(pictures, "saco_random_needed", caption=caption, wide=by_metric_and_method)

# %%
median = pictures.groupby(["metric", "against"], sort=False).estimate.median()
medians = "; ".join(
    f"{label(metric)} against {against} {'no number' if np.isinf(n) else f'{n:.0f}'}"
    for (metric, against), n in median.items()
)
Markdown(f"**Images that a typical method needs** (median over the {len(methods)} methods): {medians}.")

# %% [markdown]
# ## The noise of random SaCo
#
# Where the saliences are equally spaced, SaCo is Spearman's rank correlation between the saliences of $K$ groups and their costs
# to the model. If the costs come in random order it has mean 0 and standard deviation $1 / \sqrt{K - 1}$ (*theory*). The last
# column is the number of images that brings the mean to within 0.02 of zero in 95 % of samples, with one random map and one
# model per image.


# %%
def moments(units):
    """SaCo of random scores and its square, by the number of groups."""
    saco = wu.by_groups(units[units.method == "random"])
    return pd.concat([saco.assign(power=power, value=saco.value**power) for power in (1, 2)])


noise = page.measure("saco_metrics", parts=["", "groups"], over=["k", "power"], prepare=moments, firmest=True)
moment = noise.quantity("power", "k")
rows = []
for k in sorted(noise.levels("k")):
    mean, spread = moment(1, k).ours, needed.deviation(moment(1, k), moment(2, k))
    rows.append({"k": k, "theory": 1 / np.sqrt(k - 1), **ends_of(spread), "n": mean.n, "mean": mean.point})
    rows[-1] |= {"images for 0.02": np.ceil((1.96 * spread.ours.point / 0.02) ** 2)}
spreads = pd.DataFrame(rows)
caption = "Standard deviation of SaCo of random scores, in theory and with our models, and its mean"
names = {"k": "groups", "estimate": "ours", "low": "ours low", "high": "ours high"}
page.listing(spreads.rename(columns=names), "saco_random_noise", caption=caption)

# %% [markdown]
# ## Explanations that are noise themselves
#
# Random scores are deliberate noise. An explanation can be noise by accident: if relevance is divided, layer after layer, by
# sums that nearly cancel, rounding errors grow on the way to the pixels. So we explain each image twice: unchanged, and with
# noise that is a millionth of the pixels' standard deviation. It is invisible and does not change the prediction, so it should
# not change the map either.
#
# *Rank correlation*: Spearman's, of the two maps' pixels. *Moved*: the difference of SaCo between the two maps of an image.
# For two unrelated maps, such as random scores, it is $2 / \sqrt{\pi (K - 1)} = 0.38$ on average for $K = 10$.

# %%
kept, shift = (one.quantity("metric", "method") for one in (alike, moved))
rows = []
for method in (name for name in METHODS if name in moved.levels("method")):
    rows.append({"method": method, **ends_of(kept("rank_correlation", method), "rank correlation")})
    rows[-1] |= ends_of(shift("moved", method), "moved") | {"n": shift("moved", method).ours.n}
nudged = pd.DataFrame(rows).sort_values("moved", ascending=False, ignore_index=True)
caption = "Maps of an image without and with invisible noise: their rank correlation, and by how much SaCo moves"
page.listing(nudged, "saco_random_nudged", caption=caption)

# %%
APART = 2 / np.sqrt(np.pi * (wu.MID - 1))
loose = nudged[nudged["moved low"] > APART / 2]
printed = published.table("saco_table2").astype({"k": int}).query("k == @wu.MID").set_index("method").value
each_method = ", ".join(
    f"{label(row.method)} ({row.moved:.2f}, n = {row.n:,}; the paper prints a mean SaCo of {printed[row.method]:.2f})"
    for row in loose.itertuples()
)
answer = shift("answer_moved", nudged.method[0]).ours
Markdown(
    f"**Methods that are noise themselves**, because their SaCo moves clearly by more than half of what two unrelated maps differ by "
    f"({APART:.2f}): {each_method or 'none'}. The predicted probability moves by {answer.point:.0e}."
)

# %% [markdown]
# If a method is named here, another processor, which rounds differently, finds another map. The mean over many images is what a
# user can expect of such a method, but it says nothing about the model.
#
# **Limits.** The number of images holds for this test and these models. And power says how soon a difference is found, not
# whether the difference is faithfulness: a metric can reward the wrong thing very reliably.

# %%
page.finish()
