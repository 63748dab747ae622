# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Language models: which erasure?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from itertools import product

from IPython.display import Markdown, display

from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show import figures
from faithbook.show.figures import PALETTE
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken, written
from faithbook.stats.comparison import mean
from faithbook.studies.together.prompted import WITHOUT_MODEL

METHODS = ("attention", "rollout_dropped", "input_x_gradient", "integrated_gradients", "occlusion")
ERASURES = {"delete": "deleted", "pad": "padding token", "zero": "set to zero", "infill": "other texts' words"}
LENGTHS = {"prompted-sst": "short", "prompted-movie": "short", "prompted-reviews": "long"}
TEXT = ["dataset", "model", "id", "cluster", "seed"]
SIDE = "comprehensiveness"
IDS = ("lm_ice_c01", "lm_ice_c02", "lm_ice_c03", "lm_ice_c04")

page = start_page("language_win_rates", profile, values=values, paper=published.OUR_OWN)
there = page.has("language_erasures")


def by_length(units):
    """Values with the length of their texts."""
    return units.assign(length=units.dataset.map(LENGTHS))


def with_plausibility(units):
    """For every marked text and erasure the rank correlation over methods of win rate and average precision."""
    real = units[units.method.isin(METHODS)]
    marked = real[real.metric == "average_precision"].set_index([*TEXT, "method"]).value.rename("plausible")
    wins = real[real.metric == SIDE].set_index([*TEXT, "erasure", "method"]).value.rename("wins")
    ranks = wins.to_frame().join(marked, how="inner").groupby([*TEXT, "erasure"]).rank()
    rho = ranks.groupby([*TEXT, "erasure"])[["wins", "plausible"]].corr().iloc[::2, 1].droplevel(-1)
    return rho.rename("value").reset_index()


if there:
    measured = page.measure(
        "language_erasures", over=["length", "erasure", "metric", "method"], prepare=by_length, bounds=(0, 1)
    )
    texts = page.measure("language_erasures", parts=["texts"], over=["length", "metric"], prepare=by_length)
    wins = page.quantity("method", "erasure", "length", metric=SIDE)
    lengths = [one for one in ("short", "long") if one in measured.levels("length")]
    every = list(product((*METHODS, "random"), ERASURES, lengths))
    page.quote("lm_wins", {", ".join(key): wins(*key) for key in every})

# %% tags=["remove-cell"]
# Part of the frozen measure; its sentence is said anew in the next cell.
if there:
    table = listed({key: wins(*key) for key in every}, ["method", "erasure", "length"])
    real = table[table.method != "random"]
    gap = real.groupby(["length", "method"], sort=False).estimate.agg(lambda one: one.max() - one.min())
    widest = gap.idxmax()
    right = ", ".join(f"{texts.mean(length=one, metric='right').ours.point:.0%} of the {one} ones" for one in lengths)
    rates = "; ".join(
        f"{length} texts {spoken(mean([wins(name, 'delete', length) for name in METHODS]), '.2f')} under deletion, "
        f"{spoken(mean([wins(name, 'infill', length) for name in METHODS]), '.2f')} under infill"
        for length in lengths
    )
    display(
        Markdown(
            f"**In short.** On a small model, the mean win rate of five methods is: {rates}. The widest gap between two "
            f"erasures of one method is {gap.max():.0%} ({label(widest[1])}, {widest[0]} texts; the widest of {len(gap)}, so that "
            f"noise is part of it). The model answers correctly for {right}."
        )
    )


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    ends = real.groupby(["length", "method"], sort=False).estimate.agg(["min", "max"])
    texts_of, method = (ends["max"] - ends["min"]).idxmax()
    of_method = real[(real.length == texts_of) & (real.method == method)].sort_values("estimate")
    low, high = of_method.iloc[0], of_method.iloc[-1]
    changes = " and ".join(
        f"by {written(mean([wins(one, 'infill', size) for one in METHODS]).ours.point - mean([wins(one, 'delete', size) for one in METHODS]).ours.point, '+.2f')} "
        f"on {size} texts (n = {real[real.length == size].n.min()})"
        for size in lengths
    )
    return (
        "on one small language model, averaged over five methods, the share of random word sets that a method beats (*win rate*; chance is 0.50) "
        f"changes {changes} when words are replaced by others instead of deleted. For one method the erasure can matter more: the win rate of "
        f"{label(method)} on {texts_of} texts is {low.estimate:.2f} with *{ERASURES[low.erasure]}* and {high.estimate:.2f} with "
        f"*{ERASURES[high.erasure]}* (n = {low.n}). That is the largest of the {len(ends)} gaps (one for each method and "
        "length), so part of it is chance."
    )


page.in_short(in_short) if there else Markdown(WITHOUT_MODEL)

# %% [markdown]
# {cite:t}`basu_chakraborty_2026` erase, in each text, the words that a method names, and compare the fall of the answer's probability
# with that after erasing random words of the same number (*matched random rationales*). The share of random word sets after which the
# probability falls less is the method's *win rate*. They find that it depends on how words are erased, by up to 44 percentage points.
#
# Our model is SmolLM2-135M-Instruct with 4-bit weights. Its prompts ask for the sentiment of film reviews. *Short* texts are
# sentences of 6 to 16 words (SST-2), *long* ones excerpts of 40 words in which people marked the reason. A method names
# the 20 % of the words with the highest scores; {doc}`../foundations/attribution` describes the methods. *Rollout without the sink* leaves
# out the first token, the *sink*, to which decoders give most attention whatever it is.


# %% tags=["remove-input"]
def answered_right():
    """How many random word sets a win rate rests on, and how often the model's answer is right, in words."""
    matches = settings_of("language_erasures", measured.material.profile)["matches"]
    shares = " and ".join(
        f"{texts.mean(length=size, metric='right').ours.point:.0%} of the {size} texts" for size in lengths
    )
    return Markdown(
        f"A win rate is over {matches} random word sets for each text. The model's answer is right for {shares}. Wrong answers are explained like right ones."
    )


answered_right() if there else None

# %% [markdown]
# ## Four ways to erase
#
# A word is *deleted* (the text closes up), replaced by the *padding token*, *set to zero* (its embedding), or replaced by a random word of
# *another text* (our version of *infill*). The scores of a method are the same in all four. Occlusion gets its scores by setting words to zero
# itself, so it is at home under that erasure.

# %% tags=["remove-cell"]
# Part of the frozen measure, and so is the next cell; both are shown anew below.
if there:
    cells = table.assign(cell=[spoken(one, ".2f") for one in table.itertuples()])
    wide = cells.pivot(index=["length", "method"], columns="erasure", values="cell")
    wide = wide.loc[lengths, list(ERASURES)].reset_index()
    sizes = ", ".join(f"{one} {table[table.length == one].n.min()}" for one in lengths)
    caption = (
        f"Win rates over matched random rationales, with 95 % intervals; .5 is chance. A small model; texts: {sizes}"
    )
    display(page.listing(wide.rename(columns=ERASURES), "language_win_rates", caption=caption))

# %% tags=["remove-cell"]
if there:
    fig, axes = figures.panels(len(lengths), 2, height=4.2, sharey=True, sharex=True)
    order = (*METHODS, "random")
    for ax, length in zip(axes, lengths, strict=True):
        for i, (erasure, name) in enumerate(ERASURES.items()):
            part = table[(table.length == length) & (table.erasure == erasure)]
            part = part.set_index("method").loc[list(order)].reset_index()
            places = [len(order) - 1 - j + 0.18 * (1.5 - i) for j in range(len(order))]
            figures.dots(ax, part, places, colour=PALETTE[i], width=1.5, label=name, marker="osD^"[i], ms=5)
        ax.axvline(0.5, color=PALETTE[6], ls=":", lw=1)
        ax.set_title(f"{length} texts", fontsize="small")
        ax.set_xlabel("win rate over random words", fontsize="small")
    axes[0].set_yticks(range(len(order))[::-1], [label(name) for name in order], fontsize="small")
    figures.legend(fig)
    each_cell = "; ".join(
        f"{label(one.method)}, {ERASURES[one.erasure]}, {one.length} {one.estimate:.2f}" for one in real.itertuples()
    )
    alt = f"Dots with intervals, one row per method, one colour per erasure: win rate over random words, one half dotted. {each_cell}."
    caption = "How often the words that a method names beat random words, by what takes the place of an erased word. SmolLM2-135M."
    display(page.figure(fig, "language_win_rates_plot", alt=alt, caption=caption, data=table))


# %%
def texts_of_each():
    """How many texts of each length were measured."""
    return " and ".join(f"{table[table.length == one].n.min()} {one}" for one in lengths)


page.figure(
    fig,
    "language_win_rates_plot",
    alt=alt,
    caption="Win rates with 95 % intervals, by what replaces an erased word; dotted: chance. *random*: random scores, which name random words. "
    f"n = {texts_of_each()} texts.",
    data=table,
) if there else None


# %%
def in_numbers():
    """The figure's numbers, in a box that opens."""
    about = f"Win rates by erasure, with 95 % intervals (chance: 0.50); n = {texts_of_each()} texts"
    listing = page.listing(wide.rename(columns=ERASURES), "language_win_rates", caption=about)
    return Markdown(f":::::{{admonition}} The win rates in numbers\n:class: dropdown note\n\n{listing.data}\n:::::")


in_numbers() if there else None

# %% [markdown]
# ## The claims
#
# The claims are about seven language models; we test them on one small model, so *holds* means: here. A *configuration* is a method with
# an erasure and a length. *Plausibility* is how highly a method scores the words that people marked (average precision,
# {ref}`defined here <map>`). It is known for the long texts, and its rank correlation with the win rate is over the five methods of one text.

# %%
CLAIMS = {name: {} for name in IDS}  # without values they are not testable here
if there:
    CLAIMS["lm_ice_c01"] = {
        f"{label(name)}: {ERASURES[one]} minus {ERASURES[two]}": wins(name, one, "short") - wins(name, two, "short")
        for name in METHODS
        for other in list(ERASURES)[1:]
        for one, two in (("delete", other), (other, "delete"))
    }
if there and "long" in lengths:
    over_methods = {
        (one, length): mean([wins(name, one, length) for name in METHODS]) for one in ERASURES for length in lengths
    }
    plausible = page.measure("language_erasures", parts=["", "texts"], over=["erasure"], prepare=with_plausibility)
    CLAIMS["lm_ice_c02"] = {
        "short texts: deletion minus infill": over_methods["delete", "short"] - over_methods["infill", "short"],
        "long texts: infill minus deletion": over_methods["infill", "long"] - over_methods["delete", "long"],
    }
    CLAIMS["lm_ice_c03"] = {
        f"{label(name)}, {ERASURES[erasure]}, {length}: one half minus win rate": 0.5 - wins(name, erasure, length)
        for name, erasure, length in product(METHODS, ERASURES, lengths)
    }
    CLAIMS["lm_ice_c04"] = {
        f"win rate and plausibility, {name}": plausible.mean(erasure=one) for one, name in ERASURES.items()
    }
tested = page.test(CLAIMS)
page.verdicts(tested)

# %%
page.parts(tested, "language_win_rates_parts", caption="Every comparison of these claims") if there else None

# %% [markdown]
# **How to read this.** One clear comparison is enough for the first claim, and occlusion under *set to zero* has an advantage by construction
# (see above). No table says which erasure is right: none of the four leaves a text that somebody would write.

# %%
page.finish(note="" if there else "no language model on this machine")
