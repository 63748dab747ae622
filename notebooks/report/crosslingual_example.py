# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # One sentence and its translation (Figure 1)

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge.report import start_page
from faithbook.show.figures import OURS, PUBLISHED
from faithbook.show.labels import label
from faithbook.studies.crosslingual.zaman_belinkov_alignment import crossings, most_crossed, ranked, rho

page = start_page("crosslingual_example", profile, values=values, paper="zaman_belinkov_2022")
LANGUAGE, NAME = "de", "German"
KEYS = ["method", "aggregation", "output"]
SHOWN = ("input_x_gradient", "l2", "loss")  # the paper's leader
FLOOR = ("uniform", "none", "none")
examples, links, saved = (load(f"crosslingual_{name}", profile) for name in ("examples", "word_links", "rho"))
# XNLI's pairs are not free to be shown.
examples, links, saved = (frame[frame.dataset == page.run.settings["dataset"]] for frame in (examples, links, saved))
MODEL, SEED = examples.model.iloc[0], int(examples.seed.iloc[0])  # everything on this page is about that one
examples, links, saved = (
    frame[(frame.model == MODEL) & (frame.seed == SEED)] for frame in (examples, links, saved)
)  # fmt: skip
saved = saved[saved.setting == "main"].set_index([*KEYS, "language", "input"]).rho


def scores_of(language, message, row=SHOWN):
    """Words, pieces and scores of a message in one language by one row, in order."""
    names = dict(zip(("language", "input", *KEYS), (language, message, *row), strict=True))
    chosen = np.all([examples[name] == value for name, value in names.items()], axis=0)
    return examples[chosen].sort_values("word").reset_index(drop=True)


def links_of(message):
    """Links between words of a message and of its translation."""
    part = links[(links.language == LANGUAGE) & (links.input == message)]
    return sorted(zip(part.word.tolist(), part.word_there.tolist(), strict=True))


message = most_crossed({name: len(scores_of("en", name)) for name in dict.fromkeys(examples.input)}, links_of)
english, other, pairs = scores_of("en", message), scores_of(LANGUAGE, message), links_of(message)
steps = ranked(english, other, pairs)
value = rho(steps)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"the explanations of this message ({len(english)} words) and of its {NAME} translation ({len(other)} words), joined by "
        f"{len(pairs)} links, have a rank correlation of {value:.2f}."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`zaman_belinkov_2022` introduce their measure with a drawing: a sentence, its translation,
# an explanation of each, and how the two are compared. This page goes through the same steps with a real message, a real
# model and measured scores, so that every step of {ref}`rho <crosslingual-rho>` can be followed. One pair shows how
# the measure works and proves nothing about any method; {doc}`the tables <crosslingual_tables>` have the means.

# %% [markdown]
# ## Figure 1: the procedure
#
# **What the paper shows.** (a) A model reads an English sentence and its German translation, and a method explains
# either reading. (b) A word aligner links words. (c) The scores of German words are carried to the English words they
# are linked with, and added up where there are several. (d) Now there are two scores for every English word, and the two
# lists are compared.
#
# **Our run.** The same four steps. The message is chosen by its links and not by its scores: of the first few
# messages with 6 to 16 words, we take the one whose links cross most often, so that the two word orders differ. If
# none has that length, all messages count.


# %% [markdown]
# ### Steps a to c in one figure
#
# Left and middle: the words, tinted by their scores (each text on its own scale: only ranks count later), and
# the links between them. Right: for each English word its own score, and the score carried along the links.


# %%
def tinted(ax, x, words, scores, *, side):
    """A column of words, one per line, on a background whose tint follows the score."""
    top = max(float(scores.max()), 1e-12)
    for i, (word, score) in enumerate(zip(words, scores, strict=True)):
        tint = (0.0, 114 / 255, 178 / 255, 0.75 * max(float(score), 0.0) / top)
        ax.text(
            x, -i, word, ha=side, va="center", fontsize=9, bbox={"facecolor": tint, "edgecolor": "none", "pad": 2.5}
        )


lines = max(len(english), len(other))
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 0.36 * lines + 1.4), width_ratios=(3, 2))
tinted(left, 0.36, english.text, english.score, side="right")
tinted(left, 0.64, other.text, other.score, side="left")
for i, j in pairs:
    left.plot([0.38, 0.62], [-i, -j], color="#444444", lw=1.2)
left.set_xlim(0, 1)
left.set_ylim(-lines + 0.4, 1.0)
left.text(0.36, 0.75, "English", ha="right", fontweight="bold", fontsize=9)
left.text(0.64, 0.75, NAME, ha="left", fontweight="bold", fontsize=9)
left.axis("off")
brought = steps["carried score"].to_numpy()
place = -np.arange(len(english))
for scores_there, shift, colour, name in (
    (english.score.to_numpy(), 0.2, OURS, "own score"),
    (brought, -0.2, PUBLISHED, f"carried over from {NAME}"),
):
    right.barh(place + shift, scores_there / max(scores_there.max(), 1e-12), height=0.36, color=colour, label=name)
right.set_yticks(place, english.text, fontsize=9)
right.set_ylim(-lines + 0.4, 1.0)
right.set_xlabel("score, as a share of the highest", fontsize="small")
right.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize="x-small")
right.grid(axis="y", visible=False)
linked = {i for i, _ in pairs}
highest = english.score.idxmax(), int(brought.argmax())
page.figure(
    fig,
    "crosslingual_figure1",
    alt=f"Two columns of words, {len(english)} English and {len(other)} {NAME}, tinted by their scores and joined by "
    f"{len(pairs)} lines, {crossings(pairs)} pairs of which cross; {len(english) - len(linked)} English words have no "
    f"line. Beside them two bars for each English word: its own score, highest at '{english.text[highest[0]]}', and the "
    f"score carried over, highest at '{english.text[highest[1]]}'. The two orders correlate at {value:.2f}.",
    caption=f"An English text and its {NAME} translation, explained by {label(SHOWN[0])} with L2 of the loss (model `{MODEL}`, "
    f"seed {SEED}). Lines: links of the word aligner. Orange: what the {NAME} words' scores become on the "
    "English words.",
)


# %% [markdown]
# ### Step d: two lists, ranked
#
# Spearman's correlation replaces scores by ranks, 1 for the lowest; equal scores share their average rank. Words
# without a link have 0 and tie at the bottom.


# %%
def two_lists(steps, name, caption):
    """The two lists of a pair as a table; ranks as they are written, 3, or 3.5 for a tie."""
    ranks = {column: [f"{rank:g}" for rank in steps[column]] for column in ("rank", "rank of carried")}
    return page.listing(steps.assign(**ranks), name, caption=caption)


two_lists(
    steps.assign(pieces=english.pieces), "crosslingual_example_steps", f"The two lists of one pair; rho {value:.3f}"
)

# %%
page.verdicts(page.test({"crosslingual_figure1": None}))

# %%
Markdown(
    f"On our pair, {len(english)} words and {len(pairs)} links, rho is {value:.3f}; as the study saved it "
    f"{saved[(*SHOWN, LANGUAGE, message)]:.3f}."
)

# %% [markdown]
# ## The same pair, with scores that ignore the model
#
# The same steps once more with `uniform` scores, which give every piece of a word the same score: a word's score is
# then its number of pieces, in English as in the translation. The model is not run. The rho of these scores is what
# numbers of pieces and links alone are worth on this pair.

# %%
floor = ranked(scores_of("en", message, FLOOR), scores_of(LANGUAGE, message, FLOOR), pairs)
two_lists(
    floor, "crosslingual_example_floor", f"The two lists of uniform scores on the same pair; rho {rho(floor):.3f}"
)

# %%
rows = list(dict.fromkeys(zip(*(examples[key] for key in KEYS), strict=True)))
languages = list(saved.index.unique("language"))
everywhere = pd.DataFrame(
    [
        dict(zip(KEYS, row, strict=True))
        | {language: saved.get((*row, language, message), np.nan) for language in languages}
        for row in rows
    ]
)
caption = "The same English message against every translation: rho of single pairs"
page.listing(everywhere, "crosslingual_example_languages", digits=2, caption=caption)

# %%
pools = {row: saved.xs((*row, LANGUAGE), level=[*KEYS, "language"]).dropna() for row in rows}
spread = [
    f"{label(row[0])} from {pool.min():.2f} to {pool.max():.2f}, half of them from {pool.quantile(0.25):.2f} to "
    f"{pool.quantile(0.75):.2f}"
    for row, pool in pools.items()
    if len(pool)
]
Markdown(
    f"Over all {len(pools[SHOWN])} pairs of English and {NAME} texts: {'; '.join(spread)}. Single pairs scatter widely, which "
    "is why the paper averages over thousands and this book prints intervals. What such baselines reach on average, "
    "and how much of rho is left above them, has {doc}`its own page <crosslingual_floors>`."
)

# %% [markdown]
# **What differs and why.** The paper's pair is a premise and a hypothesis written for the drawing. Except at the
# `paper` profile, ours is a message of a program and the model a small substitute. Links are made by the rule of the
# paper's aligner: a word may have several, whose scores step (c) adds up.

# %%
page.finish(note=f"one message and its translations; model {MODEL}, seed {SEED}")
