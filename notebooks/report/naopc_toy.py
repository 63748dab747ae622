# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The problem in a minute
#
# Two models read the same four words. Both are sure of their answer, and equally so. For both the same explanation is
# perfect: it puts the words in exactly the order in which the model uses them. Yet the usual score of that explanation
# is more than twice as high for one model as for the other. Nothing is wrong with the explanation; the models *are*
# different functions. Edin et al. {cite:p}`edin_2025` show this with a few functions that fit on a page, and so does
# this page, with functions of our own: no data, no training, every number checked against a formula.
# (`notebooks/compute/naopc_small_functions.py` asks the functions and searches for their bounds; sums are done here.)

# %% tags=["parameters"]
profile = "laptop"

# %%
from itertools import combinations, permutations
from math import factorial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, page, scoreboard, tables
from faithbook.results.figures import PALETTE
from faithbook.results.resampling import Interval

run = start_run("naopc_toy", profile=profile)
figures.theme()
N = 4
asked = load("naopc_small_answers", profile)
answers = {name: dict(zip(rows.left, rows.answer, strict=True)) for name, rows in asked.groupby("function", sort=False)}
searched = load("naopc_small_bounds", profile).set_index("function")
every = dict(iter(load("naopc_small_orders", profile).groupby("function", sort=False)))


def left_after(order, k):
    """The words left after the first k of an order: 1 for a word that is there."""
    gone = set(order[:k])
    return "".join("0" if i in gone else "1" for i in range(N))


def curve(name, order):
    """A model's answers while words go: to the whole text, then after each removal."""
    return np.array([answers[name][left_after(order, k)] for k in range(N + 1)])


def aopc(name, order):
    """How far the answer has fallen, mean over the removals."""
    answer = curve(name, order)
    return (answer[0] - answer[1:]).mean()


def numbers(text):
    """An order as it was saved."""
    return [int(word) for word in text.split()]


# %% [markdown]
# ## Two straight lines
#
# A model is a function of the set of words that are left. Take $p(\text{words left}) = c + \sum_j w_j$, summed over the
# words left: every word adds its weight, whatever the others do. Model *steep* has the weights .5, .2, .1 and 0, model
# *flat* has .2, .1, .05 and 0; the constants are chosen so that both answer .9 to the whole text.
#
# **AOPC**, the area over the perturbation curve {cite:p}`samek_2017`, removes the words one after another in the order
# $r$ that an explanation gives, most important first, and averages how far the answer has fallen:
#
# $$\mathrm{AOPC}(r) = \frac{1}{N} \sum_{k=1}^{N} \bigl[\, p(x) - p(x \text{ without the first } k \text{ words of } r) \,\bigr].$$ (eq-toy-aopc)
#
# For a straight line, the word removed at step $j$ is missing from step $j$ on, $N - j + 1$ times. So with the weights
# in the order of removal, $\mathrm{AOPC}(r) = \frac1N \sum_j w_{r_j} (N - j + 1)$. That is largest when large weights
# come first and smallest when they come last:
#
# $$\begin{aligned}\mathrm{AOPC}_\uparrow &= \frac{1}{N} \sum_{j=1}^{N} (N - j + 1)\, w_{(j)}, \\
# \mathrm{AOPC}_\downarrow &= \frac{1}{N} \sum_{j=1}^{N} j\, w_{(j)}, \qquad
# w_{(1)} \ge w_{(2)} \ge \dots\end{aligned}$$ (eq-toy-linear)


# %%
def linear(weights):
    """The bounds of a straight line by the formula: lower, upper."""
    down = sorted(weights, reverse=True)
    upper = sum((N - j) * v for j, v in enumerate(down)) / N
    lower = sum((j + 1) * v for j, v in enumerate(down)) / N
    return lower, upper


toys = {"steep line": linear([0.5, 0.2, 0.1, 0.0]), "flat line": linear([0.2, 0.1, 0.05, 0.0])}
perfect = list(range(N))  # the words in the order of their weights: the same for both
assert aopc("steep line", perfect) > 2 * aopc("flat line", perfect)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
for ax, name, colour in zip(axes, toys, PALETTE, strict=False):
    answer = curve(name, perfect)
    ax.bar(range(1, N + 1), answer[0] - answer[1:], bottom=answer[1:], width=0.9, color=colour, alpha=0.35)
    ax.step(np.arange(N + 1), answer, where="mid", color=colour, lw=2)
    ax.plot(range(N + 1), answer, "o", color=colour)
    ax.axhline(answer[0], color="#666666", ls=":", lw=1)
    ax.set_title(f"{name}: AOPC {aopc(name, perfect):.2f}")
    ax.set_xlabel("words removed")
    ax.set_xticks(range(N + 1))
axes[0].set_ylabel("answer of the model")
axes[0].set_ylim(0, 1)
scored = {name: aopc(name, perfect) for name in toys}
figures.save(
    fig,
    run,
    "naopc_toy_curves",
    alt="Two perturbation curves. Both models start at the same answer; words are removed in the same, perfect order. "
    f"The steep line falls fast and its shaded area, the AOPC, is {scored['steep line']:.2f}; the flat line falls "
    f"slowly and its area is {scored['flat line']:.2f}.",
    caption="The perturbation curves of the perfect explanation. AOPC is the mean height of the shaded bars, how far "
    "the answer has fallen below that to the whole text (dotted).",
)

# %% [markdown]
# The same explanation, perfect both times, and two scores. Whoever reads them as "this model is explained better" is
# wrong. What is missing is the range: which scores are *possible* for each model.

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharex=True)
spans = {}
for i, name in enumerate(toys):
    lower, upper = spans[name] = searched.lower[name], searched.upper[name]
    values = np.array([aopc(name, perfect), aopc(name, perfect[::-1])])
    normalised = ((values - lower) / (upper - lower)).clip(0, 1)  # rounding must not lead out of the interval
    axes[0].bar(i, upper - lower, bottom=lower, width=0.5, color=PALETTE[i], alpha=0.35)
    axes[1].bar(i, 1, width=0.5, color=PALETTE[i], alpha=0.35)
    for ax, shown in zip(axes, (values, normalised), strict=True):
        ax.plot(i, shown[0], "D", color=PALETTE[i], ms=9, label="perfect explanation" if i == 0 else None)
        ax.plot(i, shown[1], "X", color="black", ms=8, label="the same, reversed" if i == 0 else None)
        for value in shown.tolist():
            ax.annotate(f"{value:.2f}", (i, value), (9, 0), textcoords="offset points", va="center", fontsize="small")
axes[0].set_xticks(range(len(toys)), list(toys))
for ax, title in zip(axes, ("AOPC", "NAOPC"), strict=True):
    ax.set_title(title)
    ax.set_ylim(-0.08, 1.08)
    ax.set_xlim(-0.6, len(toys) - 0.2)
    ax.grid(visible=False, axis="x")
axes[0].legend(loc="upper right", fontsize="small")
figures.save(
    fig,
    run,
    "naopc_figure_toy",
    alt="Two panels with a bar for each model from the worst to the best score that any order of its words can have. "
    f"AOPC: the steep line reaches from {spans['steep line'][0]:.2f} to {spans['steep line'][1]:.2f}, the flat line "
    f"from {spans['flat line'][0]:.2f} to {spans['flat line'][1]:.2f}; the perfect explanation sits at the top of each. "
    "NAOPC: both bars reach from 0 to 1, and the perfect explanation has 1 for both models.",
    caption="The same two explanations of two models. Bars: from the smallest to the largest AOPC over all orders. The "
    "*worst* explanation of the steep line scores as high as the *best* one of the flat line. Normalised, the perfect "
    "explanation has 1 and its reverse 0, for both.",
)

# %% [markdown]
# **NAOPC** puts a score between the two bounds of its own model and input:
#
# $$\mathrm{NAOPC}(r) = \frac{\mathrm{AOPC}(r) - \mathrm{AOPC}_\downarrow}{\mathrm{AOPC}_\uparrow - \mathrm{AOPC}_\downarrow}.$$ (eq-toy-naopc)
#
# Adding a constant to a model or multiplying it by a positive number moves AOPC and both bounds alike, so NAOPC stays
# what it is. That is checked here on the steep line, halved and raised, for every order of its words:

# %%
ORDERS = list(permutations(range(N)))
assert len(ORDERS) == factorial(N)


def over_all_orders(name):
    """AOPC and NAOPC of every order of the words, as `faithlib` has them, and AOPC again from the answers."""
    found = every[name]
    assert [tuple(numbers(order)) for order in found.order] == ORDERS
    assert max(abs(aopc(name, order) - value) for order, value in zip(ORDERS, found.aopc, strict=True)) < 1e-12
    return found.aopc.to_numpy(), found.naopc.to_numpy()


moved = np.abs(over_all_orders("steep line, halved and raised")[1] - over_all_orders("steep line")[1]).max()
assert moved < 1e-12
Markdown(f"Largest change of NAOPC over all {len(ORDERS)} orders: {moved:.1g}.")

# %% [markdown]
# ## Words that work together
#
# Models are seldom straight lines. Three more functions of four words, each with its bounds in closed form:
#
# - **OR.** The answer is high as long as *one* of the $m$ words of a group is left, and falls by $h$ with the last of
#   them. It has fallen from step $T$ on, when the last word of the group goes, $N - T + 1$ steps in all. At best the
#   group goes first ($T = m$), at worst one of it stays to the end ($T = N$):
#   $\mathrm{AOPC}_\uparrow = h\,(N - m + 1)/N$ and $\mathrm{AOPC}_\downarrow = h/N$.
# - **AND.** The answer is high as long as *all* $m$ words of the group are left. It falls when the first of them goes,
#   at best at step 1, at worst after all $N - m$ others: $\mathrm{AOPC}_\uparrow = h$ and
#   $\mathrm{AOPC}_\downarrow = h\,m/N$.
# - **Negation.** "not bad, fun, really": *fun* adds $\varphi$; *bad* takes off $\gamma$ on its own, but with *not*
#   before it adds $\beta$; *really* does nothing. Removing *not* makes the answer collapse, so the best order starts
#   with it, goes on with *fun*, and keeps *bad* alone for as long as possible ($\gamma > \varphi$). The worst removes
#   the words that do nothing, then *bad*, then *not*, and *fun* at the end ($\beta \le 2\varphi$). With $c$ for the
#   answer to no words at all,
#
# $$\begin{aligned}\mathrm{AOPC}_\uparrow &= p(x) - c + \frac{(N-1)\gamma - \varphi}{N}, \\
# \mathrm{AOPC}_\downarrow &= p(x) - c - \frac{(N-3)\beta + (N-1)\varphi}{N}.\end{aligned}$$ (eq-toy-negation)
#
# The values: groups of $m = 2$ words with $h = .8$ above an answer of .1; negation with $\varphi = \beta = .2$,
# $\gamma = .4$ and $c = .5$.
#
# Here the upper bound lies *above* $p(x) - c$, which is all that removing every word can bring: on the way down the
# answer falls lower than where it ends. No formula that looks only at $p(x)$ and the empty text can know that.


# %%
def gate(kind, m=2, height=0.8):
    """The bounds of an OR or AND of the first m words: lower, upper."""
    if kind == "OR":
        return height / N, height * (N - m + 1) / N
    return height * m / N, height


def negation(phi=0.2, beta=0.2, gamma=0.4, c=0.5):
    """The bounds of not, bad, fun, really: lower, upper."""
    full = c + phi + beta
    upper = full - c + ((N - 1) * gamma - phi) / N
    lower = full - c - ((N - 3) * beta + (N - 1) * phi) / N
    return lower, upper


toys |= {"OR": gate("OR"), "AND": gate("AND"), "negation": negation()}

# %% [markdown]
# ## Bounds by formula and by search
#
# An order of removals is a path. Draw every set of words that can be left, the whole text at the top and nothing at the
# bottom; each removal is one step down. AOPC adds up the answers along the path, and an answer depends on the *set*
# that is left, not on the way there. So the best of all $N!$ orders need not be looked for order by order: the best path
# to a set is the best path to one of the sets above it, plus one step. `exact_bounds` works this out set by set
# (dynamic programming), with $2^N$ answers where trying all orders asks for $N!$ paths.

# %%
words = ["not", "bad", "fun", "really"]
best, worst = (numbers(searched[end]["negation"]) for end in ("upper_order", "lower_order"))
places = {}
for size in range(N + 1):
    row = list(combinations(range(N), size))
    for i, members in enumerate(row):
        places[frozenset(members)] = ((i - (len(row) - 1) / 2) * (1.6 if size == 2 else 1.9), size)
answer = {s: answers["negation"]["".join(str(int(i in s)) for i in range(N))] for s in places}

fig, ax = plt.subplots(figsize=(8, 6))
paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
for members, (x, y) in places.items():
    for i in members:
        ax.plot(*zip((x, y), places[members - {i}], strict=True), color="#DDDDDD", lw=1, zorder=1)
for order, colour, shift, name in (
    (best, PALETTE[1], -0.06, "best order (upper bound)"),
    (worst, PALETTE[0], 0.06, "worst order (lower bound)"),
):
    path = [places[frozenset(range(N)) - set(order[:k])] for k in range(N + 1)]
    ax.plot(
        [x + shift for x, _ in path],
        [y for _, y in path],
        color=colour,
        lw=3.5,
        ls="-" if colour == PALETTE[1] else (0, (3, 1)),
        label=f"{name}: {', '.join(words[i] for i in order)}",
        zorder=2,
    )
drawn = ax.scatter(
    *zip(*places.values(), strict=True), c=list(answer.values()), cmap="cividis", s=1250, edgecolor="#666666", zorder=3
)
for members, (x, y) in places.items():
    text = " ".join(words[i] for i in sorted(members)) or "nothing"
    ink = "black" if answer[members] > 0.5 else "white"
    ax.text(x, y, f"{answer[members]:.1f}", ha="center", va="center", color=ink, fontweight="bold", zorder=4)
    ax.annotate(text, (x, y), (0, 22), textcoords="offset points", ha="center", fontsize="x-small", bbox=paper)
ax.set_axis_off()
ax.set_ylim(-0.3, N + 0.45)
ax.legend(loc="lower center", bbox_to_anchor=(0.5, -0.14), fontsize="small")
fig.colorbar(drawn, ax=ax, label="answer of the model", shrink=0.6)
up = " → ".join(words[i] for i in best)
down = " → ".join(words[i] for i in worst)
figures.save(
    fig,
    run,
    "naopc_toy_lattice",
    alt=f"A lattice of all {2**N} sets of four words, from the whole text at the top to nothing at the bottom, each with "
    f"the model's answer. Two paths lead down. The best order removes {up} and passes through the lowest answers; the "
    f"worst removes {down} and stays on the highest ones.",
    caption="The negation model as a lattice of sets. Every order of the four words is a path from top to bottom; AOPC "
    "is the answer at the top less the mean of the four answers below it on the path.",
)

# %% [markdown]
# Formula, dynamic programming and the plain search through all orders have to agree; the cell stops if any two differ
# by more than $10^{-12}$.

# %%
rows, every_order = [], {}
for name, (lower, upper) in toys.items():
    values, normalised = over_all_orders(name)
    found = searched.loc[name]
    every_order[name] = normalised
    assert abs(found.lower - lower) < 1e-12
    assert abs(found.upper - upper) < 1e-12
    assert abs(values.min() - lower) < 1e-12
    assert abs(values.max() - upper) < 1e-12
    rows.append(
        {
            "model": name,
            "n (orders)": len(values),
            "whole text": found.full,
            "no words": found["empty"],
            "lower, formula": lower,
            "lower, exact_bounds": found.lower,
            "upper, formula": upper,
            "upper, exact_bounds": found.upper,
            "mean AOPC of all orders": values.mean(),
            "mean NAOPC of all orders": normalised.mean(),
        }
    )
table = pd.DataFrame(rows)
tables.table(
    table,
    run,
    "naopc_toy_bounds",
    caption="Bounds of the five models by formula and by search. Every order was tried, so there is nothing to "
    "estimate and no interval",
)

# %%
described = table[table.model != "negation"].rename(columns={"lower, exact_bounds": "low", "upper, exact_bounds": "up"})
gaps = {
    (a.model, b.model): max(abs(a.low - b.low), abs(a.up - b.up)) for a, b in combinations(described.itertuples(), 2)
}
closest, gap = min(gaps.items(), key=lambda item: item[1])
figure_toy = claims.verdict(Interval(gap, gap, gap, len(ORDERS), units=len(ORDERS)))
figure_note = (
    f"two lines and two gates of our own, all {len(ORDERS)} orders tried: bounds of any two models differ, by "
    f"{gap:.2f} or more (exact, nothing sampled)"
)
page.verdict_line(
    figure_toy,
    f"*The bounds of AOPC differ between simple functions:* {figure_note}. The closest two are {closest[0]} and "
    f"{closest[1]}. Our source describes the figure (two linear functions, two logic gates) and gives no values, so "
    "there is nothing to match.",
)

# %% [markdown]
# ## Zero is the worst order, not a random one
#
# NAOPC looks like a scale from useless to perfect. It is not: 0 is what the *worst* of all orders gets, an explanation
# that is wrong on purpose. A random explanation does better, and how much better depends on the model:
#
# - on a straight line, an order and its reverse average to the middle of the bounds, so random orders have a mean NAOPC
#   of exactly $1/2$;
# - on an OR of $m$ words, $T$ is the last of $m$ random places, $\mathbb{E}\,T = m(N+1)/(m+1)$, and the mean NAOPC is
#   $1/(m+1)$;
# - on an AND, $T$ is the first of them, $\mathbb{E}\,T = (N+1)/(m+1)$, and the mean NAOPC is $m/(m+1)$.
#
# None of this depends on $N$. Two consequences: a claim such as "this method is better than chance" cannot be read off
# NAOPC, a random explanation has to be scored beside it; and means of NAOPC over models with different interactions
# still mix different levels of chance.

# %%
expected = {"steep line": 1 / 2, "flat line": 1 / 2, "OR": 1 / 3, "AND": 2 / 3}
for name, value in expected.items():
    assert abs(every_order[name].mean() - value) < 1e-12

fig, ax = plt.subplots(figsize=(8, 3.6))
for y, values in zip(range(len(toys))[::-1], every_order.values(), strict=True):
    level, count = np.unique(values.round(9), return_counts=True)
    ax.scatter(level, [y] * len(level), s=30 * count, color=PALETTE[0], alpha=0.45, lw=0)
    ax.plot(values.mean(), y, "D", color=PALETTE[1], ms=9, label="mean: a random order" if y == 0 else None)
    ax.annotate(f"{values.mean():.2f}", (values.mean(), y), (0, 10), textcoords="offset points", ha="center")
ax.set_yticks(range(len(toys))[::-1], list(every_order))
ax.set_ylim(-0.6, len(toys) - 0.3)
ax.set_xlabel("NAOPC")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize="small")
figures.save(
    fig,
    run,
    "naopc_toy_orders",
    alt=f"NAOPC of all {len(ORDERS)} orders for five models, from 0 to 1, with the mean marked. The mean over all orders "
    + ", ".join(f"is {values.mean():.2f} for {name}" for name, values in every_order.items())
    + ".",
    caption=f"NAOPC of every one of the {len(ORDERS)} orders (area: how many orders have that value). The diamond is "
    "what a random order gets on average.",
)

# %%
tables.table(
    pd.DataFrame(
        [
            {"model": name, "order": " ".join(str(word + 1) for word in order), "naopc": value}
            for name, values in every_order.items()
            for order, value in zip(ORDERS, values, strict=True)
        ]
    ),
    run,
    "naopc_toy_orders",
    caption="Every order of every model",
    shown=False,
)

# %% [markdown]
# ## What NAOPC does not do
#
# It makes the scores of two models comparable in one respect: the best and the worst that is possible becomes the same
# number. It does not say whether a model is worth explaining, and where all orders are nearly equal it divides by nearly
# nothing. An OR of *all* words is the extreme case: every order has the same AOPC, the bounds coincide and NAOPC is
# undefined (`naopc` returns NaN and `naopc_faults` counts it). And the bounds have to be known. For four words they
# cost sixteen answers; what they cost for real sentences, and what happens when they are only approximated, is the
# subject of {doc}`the next page <naopc_released_outputs>`.

# %%
_, normalised = over_all_orders("OR of all words")
found = searched.loc["OR of all words"]
assert found.lower == found.upper
assert np.isnan(normalised).all()
Markdown(
    f"OR of all {N} words: lower bound {found.lower:.2f}, upper bound {found.upper:.2f}, and "
    f"{int(np.isnan(normalised).sum())} of {len(ORDERS)} orders without a NAOPC."
)

# %%
scoreboard.save_verdicts(run, ("naopc_figure_toy", figure_toy, len(ORDERS), figure_note))
run.provenance(n=len(ORDERS))

# %%
run.finish()
