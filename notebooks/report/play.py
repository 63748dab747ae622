# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Erase it yourself

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.figures import OURS, PALETTE, PUBLISHED
from faithbook.show.labels import label
from faithbook.studies.together.games import show as games

page = start_page("play", profile, values=values, paper=published.OUR_OWN)
words = load("play_words", profile)
answers, items, orders = (load(f"play_{name}", profile) for name in ("answers", "items", "orders"))

OWN = "movie"


def called(model, item):
    """What the page calls an item, and its words if we may show them."""
    if model == OWN:
        mine = words[words["item"] == item].sort_values("place")
        text = f"“{' '.join(mine.word)}”"
        return {"text": text, "model": "our small one", "says": mine.says.iloc[0], "words": mine.word.tolist()}
    n = items.words[(items.model == model) & (items["item"] == item)].iloc[0]
    network, trained = model.split("_")
    names = {"bert": "BERT", "roberta": "RoBERTa"}[network], {"sst2": "SST-2", "yelp": "Yelp", "imdb": "IMDB"}[trained]
    return {"text": f"SST-2, text {item} ({n} words)", "model": f"{names[0]} trained on {names[1]}", "says": "positive"}


keys = list(items[["model", "item"]].itertuples(index=False, name=None))
named = {key: called(*key) for key in keys}
erased = games.erasing(answers, items, orders, named=named, methods=games.METHODS)
first = erased["items"][0]


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"On the first sentence ({first['n']} words) the best of all orders of erasing has an AOPC of {first['upper']:.2f}, the worst "
        f"{first['lower']:.2f} and a random one {first['chance']:.2f} on average; the orders of five attributions have "
        f"{min(one['aopc'] for one in first['orders'].values()):.2f} to {max(one['aopc'] for one in first['orders'].values()):.2f}."
    )


page.in_short(in_short)

# %% [markdown]
# Five small games about what the four papers and study 5 measure. They need no running program: every model output
# that they use was computed beforehand (`notebooks/compute/play_answers.py`, for images and the prompt
# `faithbook/studies/together/games/`) and is in this page. They work by mouse, by touch and by keyboard; under each is a figure for
# print.

# %% [markdown]
# ## Which word first?
#
# A model has read a sentence and says *positive* or *negative*. Press a word to take it away: the model reads `[MASK]`
# in its place, and the line shows how sure it still is. An explanation claims to know which words matter, so the order
# it gives should make the line fall fast. **AOPC** is how far the answer has fallen, averaged over the steps
# ({doc}`../foundations/metrics`); here the order is yours.
#
# 1. Erase all words, most important first. Watch AOPC: it rises as long as you find words that count.
# 2. After the last word you see where your order is between the worst and the best of *all* orders; the thick tick
#    on the scale is what a random order gets on average. That position, from 0 to 1, is **NAOPC**
#    ({doc}`naopc_toy`).
# 3. Five attribution methods explained the same sentence. Press a name in the table to draw its order as a dashed line.
#
# The first sentences are ours. Those that follow were released by {cite:t}`edin_2025` with the answers of six models;
# we may not show their words, so each word is shown as its position in the sentence. Take one of them and go through
# the models: what is a good order for one is often a poor one for the next. The numbers come from a handful of sentences chosen
# because they are short, and support no claim. In a class, "hide the bounds" hides the
# scale, the table and the image until everybody has chosen an order.

# %%
games.game("erase", erased, label="Game: erase the words of a sentence in an order of yours", picture="play-erase")


# %%
def drawn(ax, item, scale, unit):
    """The answers along five orders, the best and the worst; what this shows, in words."""

    def curve(order):
        gone = np.cumsum([0, *(1 << part for part in order)])
        return games.answers_of(item)[gone] / scale

    for number, (name, order_of) in enumerate(item["orders"].items()):
        curve_label = f"{name}, {order_of['aopc']:.2f}"
        ax.plot(curve(order_of["order"]), "o-", ms=3, lw=1.2, color=PALETTE[number + 2], label=curve_label)
    for end, value, colour in (("best", "upper", OURS), ("worst", "lower", PUBLISHED)):
        along = curve(item[end])
        assert abs((along[0] - along[1:]).mean() - item[value]) < 1e-4
        ax.plot(along, "-", lw=3, color=colour, alpha=0.8, label=f"{end} of all orders, {item[value]:.2f}")
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"{unit}s gone")
    ax.set_ylabel(f"probability of {item['says']}")
    ax.legend(fontsize="small", title="AOPC of the order of", loc="center left", bbox_to_anchor=(1, 0.5))
    each_order = "; ".join(f"{name} {order_of['aopc']:.2f}" for name, order_of in item["orders"].items())
    return (
        f"Probability of {item['says']} for {item['text']} while its {item['n']} {unit}s go one after the other, in the "
        f"best of all orders (AOPC {item['upper']:.2f}), in the worst ({item['lower']:.2f}) and in those of five "
        f"attributions: {each_order}."
    )


fig, ax = plt.subplots(figsize=(7, 4))
caption = (
    f"The first sentence, {first['text']}: what is left of the answer in the best and the worst order of its "
    f"words and in the orders of five attributions. A random order gets {first['chance']:.2f} on average."
)
page.figure(fig, "play_erase", alt=drawn(ax, first, erased["scale"], "word"), caption=caption)

# %% [markdown]
# ## Which part of an image first?
#
# The same game on images of clothes (Fashion-MNIST {cite:p}`xiao_2017`), cut into 4 × 4 cells with names as on a
# chessboard. An erased cell has the mean of the image, for the model and for you. All $2^{16}$ answers are in the
# page. Two things differ from the sentences: neighbouring cells can replace one another, and there are many more
# orders, so compare how near to the best order an attribution comes, and how far above a random order.

# %%
pictured = games.erased_pictures(games.METHODS)
games.game("patches", pictured, label="Game: erase the cells of an image in an order of yours", picture="play-patches")

# %%
shown = pictured["items"][0]
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), width_ratios=[1, 1.5])
left.imshow(np.reshape(shown["grey"], (shown["side"], -1)), cmap="gray", extent=(0, 4, 4, 0))
left.grid(visible=False)
for border in range(1, 4):
    left.axhline(border, color="#888888", lw=1)
    left.axvline(border, color="#888888", lw=1)
left.set_xticks(np.arange(4) + 0.5, "ABCD")
left.set_yticks(np.arange(4) + 0.5, range(1, 5))
page.figure(
    fig,
    "play_patches",
    alt=f"An image of a {shown['says']} in 4 by 4 cells. " + drawn(right, shown, pictured["scale"], "cell"),
    caption=f"The first image, which the model calls {shown['says']}: what is left of that answer in the best and the worst "
    f"order of its cells and in the orders of five attributions. A random order gets {shown['chance']:.2f} on average.",
)

# %% [markdown]
# ## Which sentence of a prompt first?
#
# The same game on a prompt. A small language model has read six sentences about three people and goes on after "So
# Anna lives in". An erased sentence is deleted, as if the context never had it. One sentence has the answer. Is it
# the one that matters most to this model, and do the others matter at all?

# %%
prompted = games.erased_prompt()
games.game(
    "prompt", prompted, label="Game: erase the sentences of a prompt in an order of yours", picture="play-prompt"
)

# %%
asked = prompted["items"][0]
fig, ax = plt.subplots(figsize=(7, 4))
caption = (
    f"The prompt: what is left of the probability of {asked['says']} in the best and the worst order of its sentences "
    f"and in the orders of five attributions. A random order gets {asked['chance']:.2f} on average."
)
page.figure(fig, "play_prompt", alt=drawn(ax, asked, prompted["scale"], "sentence"), caption=caption)

# %% [markdown]
# ## Soft against hard
#
# Under hard erasure a word is present or erased. {cite:t}`zhao_aletras_2023` erase *softly*: a
# word is a list of numbers (its embedding), and each number is kept with a probability equal to the word's importance.
# Move the slider: the small squares are the first numbers of the chosen word in one random draw, filled where a
# number is kept. The drawing shows the model's outputs over all draws, for each importance; all other words stay whole.
#
# Look for two things. The two ends are hard erasure; everything between is new. And between them the output is no
# longer one number: at the same importance draws differ, so a soft score has to be averaged over several.

# %%
drawn, numbers = load("play_soft", profile), load("play_soft_numbers", profile)
grid = sorted(drawn.importance.unique())
cells = drawn.sort_values(["place", "importance", "draw"])
sentence = cells.groupby("place").word.first()
draws = int(drawn.draw.max()) + 1
p = cells.p.to_numpy().reshape(len(sentence), len(grid), draws)
start = int(np.abs(p[:, -1, 0] - p[:, 0, 0]).argmax())
says = drawn.says.iloc[0]
kept = {
    "scale": games.SCALE,
    "words": sentence.tolist(),
    "grid": [float(each) for each in grid],
    "p": [[games.parts(row) for row in one] for one in p],
    "numbers": [numbers[f"word{place}"].round(4).tolist() for place in sentence.index],
    "start": start,
    "says": says,
}
games.game("soft", kept, label="Game: keep a part of a word", picture="play-soft")

# %%
chosen = p[start]
spread = chosen.max(axis=1) - chosen.min(axis=1)
fig, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(np.repeat(grid, draws), chosen.ravel(), "o", ms=4, color=PUBLISHED, alpha=0.5, label="one draw")
ax.plot(grid, chosen.mean(axis=1), "-", color=OURS, lw=2, label=f"mean of {draws} draws")
ax.set_ylim(0, 1)
ax.set_xlabel(f"importance of “{sentence[start]}”: how much of it stays")
ax.set_ylabel(f"probability of {says}")
ax.legend()
page.figure(
    fig,
    "play_soft",
    alt=f"Probability of {says} against the importance of the word {sentence[start]}, {draws} draws at each of {len(grid)} "
    f"importances. Without the word {chosen[0].mean():.2f}, with it {chosen[-1].mean():.2f}; draws differ most at "
    f"importance {grid[int(spread.argmax())]:.1f}, by {spread.max():.2f}.",
    caption=f"Soft erasure of one word of “{' '.join(sentence)}”. All draws agree at both ends, which are the two answers "
    "of hard erasure.",
    data=drawn,
)

# %% [markdown]
# ## SaCo: which region ranks above which?
#
# {cite:t}`wu_2024` check an explanation of an image pair by pair: cut the image into groups by salience, erase each
# group alone, and check whether the more salient of two groups costs the model more. A pair that obeys counts for the
# explanation, a pair that violates counts against it, each weighted by the difference of the two saliences. **SaCo**
# is their sum as a share of what it would be if every pair obeyed: from −1 to 1, higher is better.
#
# Each row below is a group, the bright part of the image, with what the model loses when only this group is erased.
# Each place in the list has a salience, the top place the highest. Drag groups to other places, or use the arrows:
# which pairs violate?

# %%
groups, pixels = load("play_groups", profile).sort_values("group"), load("play_picture", profile)
side, about = int(len(pixels) ** 0.5), groups.iloc[0]
salience, drop = groups.salience.to_numpy(), groups["drop"].to_numpy()
ordered = {
    "side": side,
    "grey": pixels.grey.tolist(),
    "group": pixels.group.tolist(),
    "salience": salience.tolist(),
    "drop": drop.tolist(),
    "method": label(about.method),
}
games.game("saco", ordered, label="Game: order the groups of an image", picture="play-saco")

# %%
letters = [chr(65 + group) for group in groups.group]
against = [f"{letters[i]} above {letters[j]}" for j in range(len(drop)) for i in range(j) if drop[i] < drop[j]]
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4))
shown = pixels.group.to_numpy().reshape(side, side)
left.imshow(pixels.grey.to_numpy().reshape(side, side), cmap="gray")
left.imshow(shown, cmap="viridis_r", alpha=0.45)
for group, letter in zip(groups.group, letters, strict=True):
    rows, columns = np.nonzero(shown == group)
    place = int(((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2).argmin())
    left.text(columns[place], rows[place], letter, color="white", weight="bold", ha="center", va="center")
left.set_axis_off()
right.barh(letters[::-1], drop[::-1], color=OURS)
right.axvline(0, color="#666666", lw=1)
right.set_xlabel("what the model loses")
right.set_ylabel("group, most salient on top")
page.figure(
    fig,
    "play_saco",
    alt=f"An image that the model calls {about.says}, cut into {len(groups)} groups by the salience of {label(about.method)}, "
    "and what the model loses when each is erased alone: "
    + "; ".join(f"{letter} {value:.2f}" for letter, value in zip(letters, drop, strict=True))
    + f". SaCo {about.coefficient:.2f}.",
    caption=f"{label(about.method)} on one image (“{about.says}”, {about.full:.2f}): SaCo is {about.coefficient:.2f}, "
    f"{len(against)} of {len(drop) * (len(drop) - 1) // 2} pairs violate: {', '.join(against) or 'none'}.",
    data=pd.DataFrame({"group": letters, "salience": salience, "drop": drop}),
)

# %%
page.finish()
