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
from IPython.display import Markdown

from faithbook.engine.studies import settings_of
from faithbook.judge.report import start_page
from faithbook.show.details import details
from faithbook.show.labels import label
from faithbook.show.tables import wide_with_intervals
from faithbook.studies.saco import wu_random
from faithbook.studies.saco.wu import METHODS, SIGN

page = start_page("saco_random", profile, values=values, paper="wu_2024")
measured = page.measure(
    "saco_metrics", over=["quantity", "metric", "method"], prepare=wu_random.with_random, firmest=True
)
alike = page.measure("saco_nudged", over=["metric", "method"], firmest=True, bounds=(-1, 1))
moved = page.measure("saco_nudged", over=["metric", "method"], firmest=True, bounds=(0, 2))
methods = measured.levels("method")
at = page.quantity("quantity", "metric", "method")

# %% tags=["remove-input"]
page.in_short(lambda: wu_random.in_short(at, methods))

# %% [markdown]
# {cite:t}`wu_2024` test metrics with random scores: a good metric should rate them clearly below a useful explanation. They
# compare means over many images. But on one image SaCo of random scores is seldom zero: with ten groups of pixels it has a standard
# deviation of about a third. So the practical question, which the paper leaves open, is how many images a metric needs before the
# difference shows.
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
draws = settings_of("saco_metrics", measured.material.profile)["random_draws"]
Markdown(wu_random.models_in_words(measured.frame, draws))

# %%
wins = wu_random.wins_by_method(at, methods)
in_numbers = page.listing(
    wins,
    "saco_random_wins",
    caption=f"Share of comparisons in which an explanation has a strictly higher score than random scores (n = {wins.n.min():,} images), with "
    "95 % intervals. The file also has ties and mean differences",
    wide=wide_with_intervals(wins, ["method"], "metric", ".2f").rename(columns=label),
)
page.quote("saco_random", {f"{label(metric)}, wins": at("win", metric, METHODS) for metric in SIGN})

# %%
fig, alt = wu_random.drawn_wins(wins)
page.figure(
    fig,
    "saco_random_wins_plot",
    alt=alt,
    caption=f"Share of comparisons in which an explanation beats random scores, by metric, with 95 % intervals (n = {wins.n.min():,} images). "
    "Grey ticks: share of ties. Dotted: one half. Some intervals are narrower than their dots.",
)

# %%
details(
    "In numbers",
    in_numbers,
    f"How many of the {len(methods)} explanations are clearly above or below random scores, counting those for which the interval of "
    f"the mean difference of scores does not include zero: {wu_random.ahead_and_behind(wins)}.",
)

# %% [markdown]
# An explanation below random scores does not mean that the metric fails: the explanation may mark the wrong pixels. And one above
# them need not be good. But a metric that needs many images for a difference that another shows with few is less useful.

# %% [markdown]
# ## How many images
#
# We assume a small and common study: each image has one model, one explanation and one random map, and the two scores are compared
# by a two-sided paired *t*-test at the level 0.05. The table has the number of images with which that test finds the explanation
# ahead in 80 % of all studies. No number of images is enough (∞) for an explanation that is not ahead of random scores on our images. An
# interval that ends with ∞ includes this case. An interval from a number to ∞ next to an estimate of ∞ says: if the explanation is ahead
# after all, then by so little that at least this many images are needed.
#
# SaCo can also be tested without a random map, because its mean over random scores is known: zero. That removes the random map's
# noise (last column).

# %%
images = wu_random.needed_by_method(at, methods)
page.listing(
    images,
    "saco_random_needed",
    caption=f"Images needed to find an explanation ahead of random scores in 80 % of studies, with 95 % intervals, from n = {images.n.min():,} "
    "images; fewer is better. The file also has the numbers for a sign test",
    wide=wu_random.needed_in_words(images),
)

# %%
typical = images.estimate[images.against == "zero"].median()
Markdown(
    f"Against zero SaCo needs {wu_random.size_in_words(typical)} images for a typical explanation (median). In a formula: with $\\delta$ the "
    "mean difference over its standard deviation, $n = ((1.96 + 0.84) / \\delta)^2$."
)

# %% [markdown]
# ## The noise of random SaCo
#
# In theory SaCo of random scores has mean 0 and standard deviation $1 / \sqrt{K - 1}$ with $K$ groups, if the scores of the groups
# are equally spaced: it is then Spearman's correlation of two unrelated orders. The table compares that with our models. Its last
# column is the number of images with which a mean SaCo of random scores is within 0.02 of zero in 95 % of samples.

# %%
noise = page.measure("saco_metrics", parts=["", "groups"], over=["k", "power"], prepare=wu_random.moments, firmest=True)
page.listing(
    wu_random.spreads(noise.quantity("power", "k"), noise.levels("k")),
    "saco_random_noise",
    caption="Standard deviation of SaCo of random scores over n images, in theory and with our models, the mean SaCo of random scores, and the "
    "images needed for a mean within 0.02 of zero; with 95 % intervals",
)

# %% [markdown]
# ## Explanations that are noise themselves
#
# Random scores are deliberate noise. An explanation can be noise by accident: if relevance is divided, layer after layer, by
# sums that nearly cancel, rounding errors grow on the way to the pixels. So we explain a part of the images twice, with the first
# model of each data set: unchanged, and with noise of a millionth of the pixels' standard deviation. It is invisible and does not change
# the prediction, so it should not change the map either.
#
# *Rank correlation*: Spearman's, of the two maps' pixels. *Moved*: the difference of SaCo between the two maps of an image.
# For two unrelated maps, such as random scores, it is $2 / \sqrt{\pi (K - 1)} = 0.38$ on average for $K = 10$.

# %%
nudged = wu_random.nudged(
    alike.quantity("metric", "method"),
    moved.quantity("metric", "method"),
    [name for name in METHODS if name in moved.levels("method")],
)
page.listing(
    nudged,
    "saco_random_nudged",
    caption="Maps of n images without and with invisible noise: the rank correlation of their pixels, and by how much SaCo moves, with 95 % "
    "intervals where they show in three digits",
    wide=wu_random.nudged_in_words(nudged),
)

# %%
probability = moved.mean(metric="answer_moved", method=nudged.method[0]).ours.point
Markdown(
    "**Noise by accident.** We say so if SaCo moves clearly by more than half of what two unrelated maps differ by "
    f"({wu_random.UNRELATED:.2f}). That is so for: {wu_random.noisy_methods(nudged, wu_random.printed_with_ten_groups())}. The predicted probability moves by "
    f"{1e6 * probability:.1f} millionths on average. Such a map of one image depends on how the processor rounds, another processor gives "
    "another map, and so a single one says nothing about the model."
)

# %% [markdown]
# **Limits.** The number of images holds for this test and these models. It says how soon a difference is found, not whether the
# difference is faithfulness: a metric can reward the wrong thing very reliably.

# %%
page.finish()
