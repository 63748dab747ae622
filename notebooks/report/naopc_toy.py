# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Why scores of two models cannot be compared, in a minute

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge.report import start_page
from faithbook.studies.naopc import edin_toy
from faithbook.studies.naopc.edin_toy import LINES, PERFECT

page = start_page("naopc_toy", profile, values=values, paper="edin_2025")
small = edin_toy.functions(
    answers=load("naopc_small_answers", profile),
    bounds=load("naopc_small_bounds", profile),
    orders=load("naopc_small_orders", profile),
)
page.in_short(lambda: edin_toy.in_short(small))

# %% [markdown]
# Two models read the same four words. Both are equally sure of their prediction. For both the same explanation is
# perfect: it puts the words in exactly the order in which the model uses them. Yet the usual score of that explanation
# is more than twice as high for one model as for the other. Nothing is wrong with the explanation; the models *are*
# different functions. {cite:t}`edin_2025` show this with a few functions that fit on a page, and so does
# this page, with functions of our own: no data, no training, every number checked against a formula.
# (`notebooks/compute/naopc_small_functions.py` evaluates the functions and searches for their bounds; this page does the sums.)

# %% [markdown]
# ## Two linear models
#
# A model is a function of the set of words that are left. Take $p(\text{words left}) = c + \sum_j w_j$, summed over the
# words left: every word adds its weight, whatever the others do. Model *steep line* has the weights 0.5, 0.2, 0.1 and 0,
# model *flat line* has 0.2, 0.1, 0.05 and 0; the constants are chosen so that both output 0.9 for the whole text.
#
# **AOPC**, the area over the perturbation curve {cite:p}`samek_2017`, removes the words one after another in the order
# $r$ that an explanation gives, most important first, and averages how far the output has fallen:
#
# $$\mathrm{AOPC}(r) = \frac{1}{N} \sum_{k=1}^{N} \bigl[\, p(x) - p(x \text{ without the first } k \text{ words of } r) \,\bigr].$$ (eq-toy-aopc)
#
# For a linear model, the word removed at step $j$ is missing from step $j$ on, $N - j + 1$ times. So with the weights
# in the order of removal, $\mathrm{AOPC}(r) = \frac1N \sum_j w_{r_j} (N - j + 1)$. That is largest when large weights
# come first and smallest when they come last:
#
# $$\begin{aligned}\mathrm{AOPC}_\uparrow &= \frac{1}{N} \sum_{j=1}^{N} (N - j + 1)\, w_{(j)}, \\
# \mathrm{AOPC}_\downarrow &= \frac{1}{N} \sum_{j=1}^{N} j\, w_{(j)}, \qquad
# w_{(1)} \ge w_{(2)} \ge \dots\end{aligned}$$ (eq-toy-linear)

# %%
fig, alt = edin_toy.curves(small, LINES, PERFECT)
caption = (
    "The perturbation curves of the perfect explanation. AOPC is how far the output has fallen below that for the "
    "whole text, mean over the four removals."
)
page.figure(fig, "naopc_toy_curves", alt=alt, caption=caption)

# %% [markdown]
# The same explanation, perfect both times, and two scores. Anyone who reads them as "this model is explained better" is
# wrong. What is missing is the range: which scores are *possible* for each model.

# %%
fig, alt = edin_toy.span_figure(small, LINES, PERFECT)
caption = (
    "The same two explanations of two models, beside the smallest and the largest score over all orders. The "
    "*worst* explanation of the steep line scores as high as the *best* one of the flat line. Normalised, the perfect "
    "explanation has 1 and its reverse 0, for both."
)
page.figure(fig, "naopc_figure_toy", alt=alt, caption=caption)

# %% [markdown]
# **NAOPC** puts a score between the two bounds of its own model and input:
#
# $$\mathrm{NAOPC}(r) = \frac{\mathrm{AOPC}(r) - \mathrm{AOPC}_\downarrow}{\mathrm{AOPC}_\uparrow - \mathrm{AOPC}_\downarrow}.$$ (eq-toy-naopc)
#
# Adding a constant to a model or multiplying it by a positive number moves AOPC and both bounds equally, so NAOPC stays
# what it is. We check this on the steep line, halved and raised by 0.3, for every order of its words:

# %%
Markdown(edin_toy.change_by_scaling(small))

# %% [markdown]
# ## Words that work together
#
# Models are seldom linear. Three more functions of four words, each with its bounds in closed form:
#
# - **OR.** The output is high as long as *one* of the $m$ words of a group is left, and falls by $h$ with the last of
#   them. It has fallen from step $T$ on, when the last word of the group goes, $N - T + 1$ steps in all. At best the
#   group goes first ($T = m$), at worst one of it stays to the end ($T = N$):
#   $\mathrm{AOPC}_\uparrow = h\,(N - m + 1)/N$ and $\mathrm{AOPC}_\downarrow = h/N$.
# - **AND.** The output is high as long as *all* $m$ words of the group are left. It falls when the first of them goes,
#   at best at step 1, at worst after all $N - m$ others: $\mathrm{AOPC}_\uparrow = h$ and
#   $\mathrm{AOPC}_\downarrow = h\,m/N$.
# - **Negation.** "not bad, fun, really": *fun* adds $\varphi$; *bad* takes off $\gamma$ on its own, but with *not*
#   before it adds $\beta$; *really* does nothing. Removing *not* makes the output collapse, so the best order starts
#   with it, goes on with *fun*, and keeps *bad* alone for as long as possible ($\gamma > \varphi$). The worst removes
#   the words that do nothing, then *bad*, then *not*, and *fun* at the end ($\beta \le 2\varphi$). With $c$ for the
#   output without any word,
#
# $$\begin{aligned}\mathrm{AOPC}_\uparrow &= p(x) - c + \frac{(N-1)\gamma - \varphi}{N}, \\
# \mathrm{AOPC}_\downarrow &= p(x) - c - \frac{(N-3)\beta + (N-1)\varphi}{N}.\end{aligned}$$ (eq-toy-negation)
#
# The values: groups of $m = 2$ words with $h = 0.8$ above an output of 0.1; negation with $\varphi = \beta = 0.2$,
# $\gamma = 0.4$ and $c = 0.5$.
#
# Here the upper bound lies *above* $p(x) - c$, which is all that removing every word can bring: on the way down the
# output falls lower than where it ends. No formula that looks only at $p(x)$ and the empty text can know that.

# %% [markdown]
# ## Bounds by formula and by search
#
# An order of removals is a path. Picture every set of words that can be left, the whole text at the top and nothing at
# the bottom; each removal is one step down. AOPC adds up the outputs along the path, and an output depends on the *set*
# that is left, not on the way there. So the best of all $N!$ orders need not be looked for order by order: the best path
# to a set is the best path to one of the sets above it, plus one step. `exact_bounds` works this out set by set
# (dynamic programming), with $2^N$ outputs while trying all orders needs $N!$ paths.

# %% [markdown]
# Formula, dynamic programming and the plain search through all orders have to agree; the cell stops if any two differ
# by more than $10^{-12}$.

# %%
page.listing(
    edin_toy.bounds_in_three_ways(small),
    "naopc_toy_bounds",
    caption="Bounds of AOPC of the five models by formula and by search (`exact_bounds`), mean AOPC and NAOPC over all orders, and the "
    "models' outputs for the whole text and for no words. Every order was tried, so there is nothing to estimate and no interval",
)

# %%
page.verdicts(page.test({"naopc_figure_toy": None}))

# %% [markdown]
# ## Zero is the worst order, not a random one
#
# NAOPC looks like a scale from useless to perfect. It is not: 0 is what the *worst* of all orders gets, an explanation
# that is wrong on purpose. A random explanation does better, and how much better depends on the model:
#
# - for a linear model (*line*), an order and its reverse average to the middle of the bounds, so random orders have a mean NAOPC
#   of exactly $1/2$;
# - for an OR of $m$ words, $T$ is the last of $m$ random places, $\mathbb{E}\,T = m(N+1)/(m+1)$, and the mean NAOPC is
#   $1/(m+1)$;
# - for an AND, $T$ is the first of them, $\mathbb{E}\,T = (N+1)/(m+1)$, and the mean NAOPC is $m/(m+1)$.
#
# None of this depends on $N$. Two consequences: a claim such as "this method is better than chance" cannot be read off
# NAOPC, a random explanation has to be scored next to it; and means of NAOPC over models with different interactions
# still mix different levels of chance.

# %%
orders = edin_toy.naopc_of_orders(small)
n = len(small["steep line"].orders)
fig, alt = edin_toy.every_order(small)
caption = f"NAOPC of the {n} orders (many of them coincide), and what a random order gets on average."
page.figure(fig, "naopc_toy_orders", alt=alt, caption=caption, data=orders)

# %% [markdown]
# ## What NAOPC does not do
#
# It makes the scores of two models comparable in one respect: the best and the worst that is possible becomes the same
# number. It does not say whether a model is worth explaining, and where all orders are nearly equal it divides by nearly
# nothing. An OR of *all* words is the extreme case: every order has the same AOPC, the bounds coincide and NAOPC is
# undefined (the library returns NaN and counts such texts). And the bounds have to be known. For four words they
# cost sixteen outputs; what they cost for real sentences, and what happens when they are only approximated, is the
# subject of {doc}`the next page <naopc_released_outputs>`.

# %%
Markdown(edin_toy.level_function(small))

# %%
page.finish(note=f"every one of the {n} orders of four words; none was sampled")
