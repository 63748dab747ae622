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

# %% tags=["parameters"]
profile = "laptop"

# %%
from itertools import combinations, permutations
from math import factorial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown

from faithbook.engine.run import start_run
from faithbook.papers.edin import aopc
from faithbook.results import claims, figures, page, scoreboard, tables
from faithbook.results.figures import PALETTE
from faithbook.results.resampling import Interval
from faithlib.bounds import exact_bounds, naopc
from faithlib.perturb import SetFunction

run = start_run("naopc_toy", profile=profile)
figures.theme()
N = 4

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
def linear(weights, full=0.9):
    """A straight line that answers `full` to the whole text, with its bounds by the formula."""
    w = torch.tensor(weights, dtype=torch.float64)
    down = sorted(weights, reverse=True)
    upper = sum((N - j) * v for j, v in enumerate(down)) / N
    lower = sum((j + 1) * v for j, v in enumerate(down)) / N
    return SetFunction(lambda keep: full - w.sum() + keep.double() @ w, N), lower, upper


steep, flat = linear([0.5, 0.2, 0.1, 0.0]), linear([0.2, 0.1, 0.05, 0.0])
toys = {"steep line": steep, "flat line": flat}
perfect = np.arange(N)  # the words in the order of their weights: the same for both
assert aopc(steep[0], perfect) > 2 * aopc(flat[0], perfect)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
for ax, (name, (score, _, _)), colour in zip(axes, toys.items(), PALETTE, strict=False):
    left = torch.tensor([[i >= k for i in range(N)] for k in range(N + 1)])
    curve = score.keep(left[None])[0].numpy()
    ax.bar(range(1, N + 1), curve[0] - curve[1:], bottom=curve[1:], width=0.9, color=colour, alpha=0.35)
    ax.step(np.arange(N + 1), curve, where="mid", color=colour, lw=2)
    ax.plot(range(N + 1), curve, "o", color=colour)
    ax.axhline(curve[0], color="#666666", ls=":", lw=1)
    ax.set_title(f"{name}: AOPC {aopc(score, perfect):.2f}")
    ax.set_xlabel("words removed")
    ax.set_xticks(range(N + 1))
axes[0].set_ylabel("answer of the model")
axes[0].set_ylim(0, 1)
scored = {name: aopc(score, perfect) for name, (score, _, _) in toys.items()}
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
for i, (name, (score, _, _)) in enumerate(toys.items()):
    bounds = exact_bounds(score)
    lower, upper = bounds.lower.item(), bounds.upper.item()
    spans[name] = (lower, upper)
    values = torch.tensor([aopc(score, perfect), aopc(score, perfect[::-1].copy())], dtype=torch.float64)
    axes[0].bar(i, upper - lower, bottom=lower, width=0.5, color=PALETTE[i], alpha=0.35)
    axes[1].bar(i, 1, width=0.5, color=PALETTE[i], alpha=0.35)
    for ax, shown in zip(axes, (values, naopc(values, bounds.lower, bounds.upper)), strict=True):
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
ORDERS = [np.array(order) for order in permutations(range(N))]
assert len(ORDERS) == factorial(N)


def over_all_orders(score):
    """AOPC and NAOPC of every order of the words, and the bounds by dynamic programming."""
    bounds = exact_bounds(score)
    values = torch.tensor([aopc(score, order) for order in ORDERS], dtype=torch.float64)
    return values.numpy(), naopc(values, bounds.lower, bounds.upper).numpy(), bounds


halved = SetFunction(lambda keep: 0.3 + steep[0].fn(keep) / 2, N)
moved = np.abs(over_all_orders(halved)[1] - over_all_orders(steep[0])[1]).max()
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
# Here the upper bound lies *above* $p(x) - c$, which is all that removing every word can bring: on the way down the
# answer falls lower than where it ends. No formula that looks only at $p(x)$ and the empty text can know that.


# %%
def gate(kind, m=2, height=0.8, base=0.1):
    """OR or AND of the first m words."""
    joined = torch.any if kind == "OR" else torch.all
    score = SetFunction(lambda keep: base + height * joined(keep[:, :m], dim=1).double(), N)
    if kind == "OR":
        return score, height / N, height * (N - m + 1) / N
    return score, height * m / N, height


def negation(phi=0.2, beta=0.2, gamma=0.4, c=0.5):
    """not, bad, fun, really."""

    def fn(keep):
        no, bad, fun, _ = keep.double().T
        return c + phi * fun + bad * (no * beta - (1 - no) * gamma)

    full = c + phi + beta
    upper = full - c + ((N - 1) * gamma - phi) / N
    lower = full - c - ((N - 3) * beta + (N - 1) * phi) / N
    return SetFunction(fn, N), lower, upper


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
score = toys["negation"][0]
bounds = exact_bounds(score)
places = {}
for size in range(N + 1):
    row = list(combinations(range(N), size))
    for i, members in enumerate(row):
        places[frozenset(members)] = ((i - (len(row) - 1) / 2) * (1.6 if size == 2 else 1.9), size)
answer = {s: float(score.keep(torch.tensor([[[i in s for i in range(N)]]]))) for s in places}

fig, ax = plt.subplots(figsize=(8, 6))
paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
for members, (x, y) in places.items():
    for i in members:
        ax.plot(*zip((x, y), places[members - {i}], strict=True), color="#DDDDDD", lw=1, zorder=1)
for order, colour, shift, name in (
    (bounds.upper_order[0].tolist(), PALETTE[1], -0.06, "best order (upper bound)"),
    (bounds.lower_order[0].tolist(), PALETTE[0], 0.06, "worst order (lower bound)"),
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
up = " → ".join(words[i] for i in bounds.upper_order[0].tolist())
down = " → ".join(words[i] for i in bounds.lower_order[0].tolist())
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
for name, (score, lower, upper) in toys.items():
    values, normalised, bounds = over_all_orders(score)
    every_order[name] = normalised
    assert abs(bounds.lower.item() - lower) < 1e-12
    assert abs(bounds.upper.item() - upper) < 1e-12
    assert abs(values.min() - lower) < 1e-12
    assert abs(values.max() - upper) < 1e-12
    rows.append(
        {
            "model": name,
            "n (orders)": len(values),
            "whole text": score.full.item(),
            "no words": score.empty.item(),
            "lower, formula": lower,
            "lower, exact_bounds": bounds.lower.item(),
            "upper, formula": upper,
            "upper, exact_bounds": bounds.upper.item(),
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
            {"model": name, "order": " ".join(map(str, order + 1)), "naopc": value}
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
nothing = SetFunction(lambda keep: 0.1 + 0.8 * keep.any(dim=1).double(), N)
values, normalised, bounds = over_all_orders(nothing)
assert bounds.lower.item() == bounds.upper.item()
assert np.isnan(normalised).all()
Markdown(
    f"OR of all {N} words: lower bound {bounds.lower.item():.2f}, upper bound {bounds.upper.item():.2f}, and "
    f"{int(np.isnan(normalised).sum())} of {len(ORDERS)} orders without a NAOPC."
)

# %%
scoreboard.save_verdicts(run, ("naopc_figure_toy", figure_toy, len(ORDERS), figure_note))
run.provenance(n=len(ORDERS))

# %%
run.finish()
