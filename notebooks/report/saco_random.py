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

from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.details import details
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
    sizes = {
        metric: np.median(
            [
                needed.needed_row(needed.effect(at("gap", metric, method), at("square", metric, method)))["estimate"]
                for method in methods
            ]
        )
        for metric in SIGN
    }
    images = "; ".join(f"{label(metric)} {'∞' if np.isinf(size) else f'{size:,.0f}'}" for metric, size in sizes.items())
    wins_of = "; ".join(f"{label(metric)} {spoken(at('win', metric, METHODS), '.2f')}" for metric in SIGN)
    return (
        f"Images needed to find a typical explanation (median of {len(methods)}) ahead of random scores in 80 % of studies: {images}. "
        f"Share of images on which a metric rates an explanation above random scores, mean over the paper's {len(METHODS)} methods: "
        f"{wins_of} (n = {at('win', 'saco', METHODS).ours.n:,} images; chance is one half, and less for AUC, which has many ties)."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`wu_2024` test metrics with random scores: a good metric should rate them clearly below a useful explanation. They
# compare means over many images. But on one image SaCo of random scores is seldom zero: with ten groups of pixels it has a standard
# deviation of about a third. So the practical question is how many images a metric needs before the difference shows. The paper
# does not ask it.
#
# The five metrics are explained on {doc}`saco_figures`. The explanations are the paper's ten and the *last layer, with gradient*
# from its Table 1 ({ref}`what they are <vit-methods>`). Images of CIFAR-10 and CIFAR-100 are pooled here, so means differ a little
# from those of the other pages, where each data set counts equally.

# %% [markdown]
# ## How often an explanation wins
#
# On each image and model the explanation's score is compared with that of several sets of random scores. All metrics are
# sign-flipped where needed, so that higher is better. A *win* is a strictly higher score; a tie does not count. So AUC, which has many
# ties, can win on fewer than half of the images although its mean is above that of random scores. The share of wins is the metric's
# {term}`diagnosticity`.


# %% tags=["remove-input"]
def how_many():
    """How many models and sets of random scores there are."""
    draws = settings_of("saco_metrics", measured.material.profile)["random_draws"]
    networks = measured.frame.groupby("dataset", observed=True).model.nunique()
    of_sets = " and ".join(f"{count} on {label(dataset)}" for dataset, count in networks.items())
    return f"There are {draws} sets of random scores for each image and model. Models: {of_sets}."


Markdown(how_many())

# %%
rows = []
for metric, method in product(SIGN, methods):
    win, tie, gap = (at(quantity, metric, method) for quantity in ("win", "tie", "gap"))
    rows.append({"metric": metric, "method": method, **ends_of(win), "ties": tie.ours.point})
    rows[-1] |= ends_of(gap, "gap") | {"n": win.ours.n}
wins = pd.DataFrame(rows)
caption = (
    f"Share of images on which an explanation has a strictly higher score than random scores (n = {wins.n.min():,} images), with 95 % "
    "intervals. The file also has ties and mean differences"
)
in_numbers = page.listing(
    wins,
    "saco_random_wins",
    caption=caption,
    wide=in_words(wins, ["method"], "metric", ".2f").rename(columns=label),
)

# %%
page.quote("saco_random", {f"{label(metric)}, wins": at("win", metric, METHODS) for metric in SIGN})
both = pd.concat([wins.assign(series="wins"), wins[["metric", "method"]].assign(estimate=wins.ties, series="ties")])
names = {name: label(name) for name in (*SIGN, *methods)}
looks = {"wins": (OURS, "o"), "ties": ("#888888", "|")}
layout = Layout(panel="metric", series="series", columns=len(SIGN), names=names, looks=looks, mark=0.5)
fig, alt = dot_plot(both, "share of comparisons", row="method", layout=layout)
by_metric = wins.groupby("metric", sort=False)
caption = (
    f"Share of images on which an explanation beats random scores, by metric, with 95 % intervals (n = {wins.n.min():,} images). Grey "
    "ticks: share of ties. Dotted: one half. Some intervals are narrower than their dots."
)
page.figure(fig, "saco_random_wins_plot", alt=alt, caption=caption)

# %%
counts = {m: (int((part["gap low"] > 0).sum()), int((part["gap high"] < 0).sum())) for m, part in by_metric}
counted = "; ".join(f"{label(m)} {up} above and {down} below" for m, (up, down) in counts.items())
details(
    "In numbers",
    in_numbers,
    f"How many of the {len(methods)} explanations are clearly above or below random scores, counting those for which the interval of "
    f"the mean difference of scores does not include zero: {counted}.",
)

# %% [markdown]
# An explanation below random scores does not mean that the metric fails: the explanation may mark the wrong pixels. And one above
# them need not be good. But a metric that needs many images for a difference that another shows with few is less useful.

# %% [markdown]
# ## How many images
#
# We assume a small and common study: each image has one model, one explanation and one random map, and the two scores are compared
# by a two-sided paired *t*-test at the level 0.05. The table has the number of images with which that test finds the explanation
# ahead in 80 % of all studies. It is ∞ for an explanation that is not ahead of random scores on our images, and an interval ends
# with ∞ if it may not be. If ∞ has an interval that begins with a number, the explanation may be ahead after all, but by so little
# that at least this many images are needed.
#
# SaCo can also be tested without a random map, because its mean over random scores is known: zero. That removes the random map's
# noise (last column).

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
caption = (
    f"Images needed to find an explanation ahead of random scores in 80 % of studies, with 95 % intervals, from n = {pictures.n.min():,} "
    "images; fewer is better. The file also has the numbers for a sign test"
)
page.listing(pictures, "saco_random_needed", caption=caption, wide=by_metric_and_method)

# %%
against_zero = pictures[pictures.against == "zero"].estimate.median()
Markdown(
    f"Against zero SaCo needs {'no finite number of' if np.isinf(against_zero) else f'{against_zero:,.0f}'} images for a typical "
    "explanation (median). In a formula: with $\\delta$ the mean difference over its standard deviation, "
    "$n = ((1.96 + 0.84) / \\delta)^2$."
)

# %% [markdown]
# ## The noise of random SaCo
#
# In theory SaCo of random scores has mean 0 and standard deviation $1 / \sqrt{K - 1}$ with $K$ groups, if the scores of the groups
# are equally spaced: it is then Spearman's correlation of two unrelated orders. The table compares that with our models. Its last
# column is the number of images with which a mean SaCo of random scores is within 0.02 of zero in 95 % of samples.


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
    rows[-1] |= {"images needed": np.ceil((1.96 * spread.ours.point / 0.02) ** 2)}
spreads = pd.DataFrame(rows)
caption = "Standard deviation of SaCo of random scores over n images, in theory and with our models (95 % intervals), and its mean"
names = {"k": "groups", "estimate": "ours", "low": "ours low", "high": "ours high", "mean": "mean SaCo"}
page.listing(spreads.rename(columns=names), "saco_random_noise", caption=caption)

# %% [markdown]
# ## Explanations that are noise themselves
#
# Random scores are deliberate noise. An explanation can be noise by accident: if relevance is divided, layer after layer, by
# sums that nearly cancel, rounding errors grow on the way to the pixels. So we explain each image twice: unchanged, and with
# noise of a millionth of the pixels' standard deviation. It is invisible and does not change the prediction, so it should not
# change the map either.
#
# *Rank correlation*: Spearman's, of the two maps' pixels. *Moved*: the difference of SaCo between the two maps of an image.
# For two unrelated maps, such as random scores, it is $2 / \sqrt{\pi (K - 1)} = 0.38$ on average for $K = 10$.

# %%
kept, shift = (scores.quantity("metric", "method") for scores in (alike, moved))
rows = []
for method in (name for name in METHODS if name in moved.levels("method")):
    rows.append({"method": method, **ends_of(kept("rank_correlation", method), "rank correlation")})
    rows[-1] |= ends_of(shift("moved", method), "moved") | {"n": shift("moved", method).ours.n}
nudged = pd.DataFrame(rows).sort_values("moved", ascending=False, ignore_index=True)
caption = (
    "Maps of n images without and with invisible noise: the rank correlation of their pixels, and by how much SaCo moves, with 95 % "
    "intervals"
)
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
    f"({APART:.2f}): {each_method or 'none'}. The predicted probability moves by {1e6 * answer.point:.1f} millionths on average."
)

# %% [markdown]
# If a method is named here, its map of one image depends on how the processor rounds: another processor gives another map. So a single
# map of it says nothing about the model.
#
# **Limits.** The number of images holds for this test and these models. And power says how soon a difference is found, not
# whether the difference is faithfulness: a metric can reward the wrong thing very reliably.

# %%
page.finish()
