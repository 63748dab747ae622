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
import pandas as pd

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.studies.together.games import figures as games_figures
from faithbook.studies.together.games import show as games

page = start_page("play", profile, values=values, paper=published.OUR_OWN)
words = load("play_words", profile)
answers, items, orders = (load(f"play_{name}", profile) for name in ("answers", "items", "orders"))

keys = list(items[["model", "item"]].itertuples(index=False, name=None))
named = {key: games.item_facts(*key, words=words, items=items) for key in keys}
erased = games.erasing_game(answers, items, orders, named=named, methods=games.METHODS)
first = erased["items"][0]


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"On the first sentence ({first['n']} words) the best of all orders of erasing has an AOPC of {first['upper']:.2f}, the worst "
        f"{first['lower']:.2f} and a random one {first['chance']:.2f} on average; the orders of five attributions have "
        f"{min(order['aopc'] for order in first['orders'].values()):.2f} to {max(order['aopc'] for order in first['orders'].values()):.2f}."
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
games.game_html("erase", erased, label="Game: erase the words of a sentence in an order of yours", picture="play-erase")


# %%
fig, alt = games_figures.erased(first, erased["scale"], "word")
caption = (
    f"The first sentence, {first['text']}: what is left of the answer in the best and the worst order of its "
    f"words and in the orders of five attributions. A random order gets {first['chance']:.2f} on average."
)
page.figure(fig, "play_erase", alt=alt, caption=caption)

# %% [markdown]
# ## Which part of an image first?
#
# The same game on images of clothes (Fashion-MNIST {cite:p}`xiao_2017`), cut into 4 × 4 cells with names as on a
# chessboard. An erased cell has the mean of the image, for the model and for you. All $2^{16}$ answers are in the
# page. Two things differ from the sentences: neighbouring cells can replace one another, and there are many more
# orders, so compare how near to the best order an attribution comes, and how far above a random order.

# %%
pictured = games.erased_pictures(games.METHODS)
games.game_html(
    "patches", pictured, label="Game: erase the cells of an image in an order of yours", picture="play-patches"
)

# %%
shown = pictured["items"][0]
fig, alt = games_figures.erased_cells(shown, pictured["scale"])
caption = (
    f"The first image, which the model calls {shown['says']}: what is left of that answer in the best and the worst "
    f"order of its cells and in the orders of five attributions. A random order gets {shown['chance']:.2f} on average."
)
page.figure(fig, "play_patches", alt=alt, caption=caption)

# %% [markdown]
# ## Which sentence of a prompt first?
#
# The same game on a prompt. A small language model has read six sentences about three people and goes on after "So
# Anna lives in". An erased sentence is deleted, as if the context never had it. One sentence has the answer. Is it
# the one that matters most to this model, and do the others matter at all?

# %%
prompted = games.erased_prompt()
games.game_html(
    "prompt", prompted, label="Game: erase the sentences of a prompt in an order of yours", picture="play-prompt"
)

# %%
asked = prompted["items"][0]
fig, alt = games_figures.erased(asked, prompted["scale"], "sentence")
caption = (
    f"The prompt: what is left of the probability of {asked['says']} in the best and the worst order of its sentences "
    f"and in the orders of five attributions. A random order gets {asked['chance']:.2f} on average."
)
page.figure(fig, "play_prompt", alt=alt, caption=caption)

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
drawn = load("play_soft", profile)
softly = games.soft_game(drawn, load("play_soft_numbers", profile))
games.game_html("soft", softly, label="Game: keep a part of a word", picture="play-soft")

# %%
fig, alt = games_figures.soft_game_figure(softly, drawn)
caption = (
    f"Soft erasure of one word of “{' '.join(softly['words'])}”. All draws agree at both ends, which are the two answers "
    "of hard erasure."
)
page.figure(fig, "play_soft", alt=alt, caption=caption, data=drawn)

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
ordered = games.saco_game(groups, pixels)
games.game_html("saco", ordered, label="Game: order the groups of an image", picture="play-saco")

# %%
about = groups.iloc[0]
letters, against = games.letters_of(ordered), games.violating(ordered)
fig, alt = games_figures.saco_game_figure(ordered, says=about.says, coefficient=about.coefficient)
caption = (
    f"{ordered['method']} on one image (“{about.says}”, {about.full:.2f}): SaCo is {about.coefficient:.2f}, "
    f"{len(against)} of {games.pairs_of(ordered)} pairs violate: {', '.join(against) or 'none'}."
)
values = pd.DataFrame({"group": letters, "salience": ordered["salience"], "drop": ordered["drop"]})
page.figure(fig, "play_saco", alt=alt, caption=caption, data=values)

# %%
page.finish()
