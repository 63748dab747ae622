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
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.studies.crosslingual import one_pair
from faithbook.studies.crosslingual.one_pair import LANGUAGE, LEADER, NAME, UNIFORM
from faithbook.studies.crosslingual.zaman_belinkov_alignment import rho

page = start_page("crosslingual_example", profile, values=values, paper="zaman_belinkov_2022")
TABLES = ("crosslingual_examples", "crosslingual_word_links", "crosslingual_rho")
words, links, saved = (load(name, profile) for name in TABLES)
# Messages of a program may be reprinted, pairs of XNLI not.
kept = one_pair.Kept.of(words, links, saved, page.run.settings["dataset"])
english, german = (kept.scores_of(language, kept.message) for language in ("en", LANGUAGE))
pairs, steps = kept.links_of(kept.message), kept.steps()
value = rho(steps)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"the scores that {label(LEADER[0])} with L2 gives to the words of one message ({len(english)} words) and of its {NAME} "
        f"translation ({len(german)} words), carried along {len(pairs)} links, have a rank correlation (rho) of {value:.2f}."
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
# **Our run.** The same four steps on a message of a program ({term}`substitute data`), since pairs of XNLI may not be reprinted. The message is
# chosen by its links and not by its scores: of the messages with 6 to 16 words whose scores this build has kept, it is the one whose
# links cross most often.

# %%
Markdown(f"This build has kept the scores of {len(kept.messages)} messages. {one_pair.word_order_in_words(pairs)}")

# %% [markdown]
# ### Steps a to c in one figure
#
# Left and middle: the words, tinted by their scores (each text on its own scale: only ranks count later), and
# the links between them. Right: for each English word its own score, and the score carried along the links.

# %%
fig, alt = one_pair.carried_scores_figure(english, german, pairs, steps, value)
caption = (
    f"An English text and its {NAME} translation, explained by {label(LEADER[0])} with L2 of the loss (model `{kept.model}`, seed {kept.seed}). "
    f"Lines: links of the word aligner. Orange: what the {NAME} words' scores become on the English words."
)
page.figure(fig, "crosslingual_figure1", alt=alt, caption=caption)

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
Markdown(f"On our pair, {len(english)} words and {len(pairs)} links, rho is {value:.3f}.")

# %% [markdown]
# ## The same pair, with scores that ignore the model
#
# The same steps once more with `uniform` scores, which give every piece of a word the same score: a word's score is
# then its number of pieces, in English as in the translation. The model is not run. The rho of these scores is what
# numbers of pieces and links alone are worth on this pair.

# %%
floor = kept.steps(UNIFORM)
two_lists(
    floor, "crosslingual_example_floor", f"The two lists of uniform scores on the same pair; rho {rho(floor):.3f}"
)

# %%
page.listing(
    kept.in_every_language(),
    "crosslingual_example_languages",
    digits=2,
    caption="The same English message with each of its translations: rho of single pairs (output: what is explained)",
)

# %%
Markdown(
    f"{kept.ranges_in_words()} Single pairs scatter widely, which is why the paper averages over thousands and this book prints intervals. "
    "{doc}`A page of its own <crosslingual_floors>` has what baselines like *uniform* reach on average, and how much of rho is left above "
    "them."
)

# %% [markdown]
# **What differs and why.** The paper's pair is a premise and a hypothesis written for the drawing. Ours is a message of a program, and the
# model is small. Links are made by the rule of the paper's aligner: a word may have several, whose scores step (c) adds up.

# %%
page.finish(note=f"one message and its translations; model {kept.model}, seed {kept.seed}")
