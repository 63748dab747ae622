# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How much of rho is length, links and copied words?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown

from faithbook.judge.report import start_page
from faithbook.show.labels import row_label
from faithbook.show.numbers import spoken
from faithbook.show.plots import comparison_plot
from faithbook.show.tables import combinations_of_labels
from faithbook.studies.crosslingual import baselines, zaman_belinkov_figures
from faithbook.studies.crosslingual.baselines import TREATED
from faithbook.studies.crosslingual.zaman_belinkov_rho import OF_RHO
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    BLIND,
    LOOKING,
    best_first,
    measured_texts,
    shown_rows,
    words,
)

page = start_page("crosslingual_floors", profile, values=values, paper="zaman_belinkov_2022")
prepare = baselines.in_paper_languages
measured = page.measure("crosslingual_metrics", over=OF_RHO, prepare=prepare, bounds=(-1, 1), firmest=True)
languages = measured.levels("language")
SETTINGS = baselines.settings_by(page.run.settings["links"])
rho = baselines.rows_by_setting(measured)
texts = measured_texts(page)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    highest, *_ = best_first(rho["main"], "loss", LOOKING)
    then, *_ = best_first(rho[TREATED], "loss", LOOKING)
    ahead = (
        f" ({row_label(*then)} is the highest then, with {spoken(rho[TREATED](then, 'loss'), '.2f')})"
        if then != highest
        else ""
    )
    return (
        f"Attributions that ignore the prediction reach a rho of {spoken(rho['main'](BLIND[0], 'loss'), '.2f')} (uniform scores) and "
        f"{spoken(rho['main'](BLIND[1], 'loss'), '.2f')} (norm of the embedding); the highest of the methods, "
        f"{row_label(*highest)}, has {spoken(rho['main'](highest, 'loss'), '.2f')}, and "
        f"{spoken(rho[TREATED](highest, 'loss'), '.2f')} with means over word pieces and links and without words that are copied or have "
        f"no link{ahead} (n = {rho['main'](highest, 'loss').ours.n} texts; x∇x is input × gradient, L2 the norm over a word's dimensions)."
    )


page.in_short(in_short)

# %% [markdown]
# {ref}`rho <crosslingual-rho>` is high where a model's explanations of a text and of its translation agree.
# {cite:t}`zaman_belinkov_2022` read it as faithfulness. But two explanations can also agree for reasons that
# have nothing to do with what the model does:
#
# - *Length.* The scores of a word's pieces are added up, and a word that is cut into many pieces in English is often
#   cut into many in the translation, too.
# - *Links.* Scores are also added up along links ({term}`fan-out`), and a word without a link gets 0. Both depend on the
#   {term}`word alignment` alone.
# - *{term}`Copied words <copied word>`.* Numbers, marks, names and placeholders are the same in both texts, so they have
#   the same embedding whatever the model makes of them.
#
# A *baseline* is an attribution that ignores the prediction: its rho shows how much these three reasons explain. There are three
# baselines: `uniform`, the same score for every piece; `activation` with L2, the norm of the embedding, which is one of the
# paper's thirteen rows; and `random` scores. **The paper has no counterpart to this page**, so nothing is compared with
# printed numbers. x∇x is input × gradient, IG integrated gradients; TP, loss, μ and L2 are explained
# {doc}`with Table 1 <crosslingual_tables>`. A *row* is a method with its aggregation (μ or L2). The row that the paper prints as guided
# backprop is with L2 the same explanation as saliency ({doc}`crosslingual_deviations`, E3), so counts of methods below have it twice.

# %% [markdown]
# ## What the texts are like
#
# Pieces per word in English and in each translation; the share of English words that have a link; links beyond the first, as
# a share of linked words; and the share of English words that are copied.

# %%
share = texts.quantity("metric")
COMPARED = ["linked", "more links", "copied"]
others = [language for language in texts.levels("language") if language != "en"]
asked = combinations_of_labels(language=others, quantity=["pieces a word", *COMPARED])
page.table(
    "crosslingual_floors_texts",
    lambda row: share(row["quantity"], language=row["language"]),
    rows=["language"],
    columns=["quantity"],
    printed=pd.concat([combinations_of_labels(language=["en"], quantity=["pieces a word"]), asked]),
    caption="Words, pieces and links: means over n texts",
    words={"pieces a word": "pieces per word"},
)

# %%
overall = {quantity: share(quantity, language=others).ours.interval() for quantity in COMPARED}
Markdown(
    f"Over all languages {overall['linked'].estimate:.0%} of the English words have a link and "
    f"{overall['copied'].estimate:.0%} are copied. For each 100 linked words there are {100 * overall['more links'].estimate:.0f} links "
    "beyond a word's first: the paper's rule links all words above a threshold, and a word with several links gets the sum of their "
    "scores."
)

# %% [markdown]
# ## Baselines and methods in other settings
#
# In the first setting, the published one, scores of pieces and links are added up, and an English word without a link has 0
# and is kept. The next settings replace the sums over pieces, over links, or over both by means, or leave out words
# without a link (*unaligned*) or copied words; *all of these* makes all of these changes at once. One setting links words by another
# rule, *mutual argmax*: each word only with its nearest, if it is the nearest of that word as well. Two settings link words at random: any
# words, or so that each English word keeps its number of links. The figure leaves out two of the ten settings (means of both, random links
# between any words), which look like others.
#
# With means over pieces `uniform` scores are the same for all words, and a constant has no rank correlation (–): this
# setting removes the baseline. A text on which the scores are constant has no rho, so that n is lower in the rows of *uniform*.
# Intervals come from resampling sentence pairs, each with all its languages, models, seeds and methods.

# %%
page.table(
    "crosslingual_floors",
    lambda row: rho[row["setting"]].cell(row),
    rows=["output", "method", "aggregation"],
    columns=["setting"],
    words=words() | SETTINGS,
    printed=shown_rows(setting=SETTINGS).sort_values("output", kind="stable"),
    caption=f"Rho of every row in every setting, mean over models and languages ({', '.join(languages)})",
)

# %%
frames = baselines.drawn_rows(rho)
fig, alt = zaman_belinkov_figures.above_floors(frames, LOOKING, BLIND, SETTINGS)
caption = (
    f"Eleven rows that look at the prediction, and three baselines that do not (upright lines), in {len(frames)} "
    "settings, with 95 % intervals. Attributions of the loss."
)
page.figure(fig, "crosslingual_floors_plot", alt=alt, caption=caption)

# %% [markdown]
# ## What is left above the baselines
#
# A method is *above all baselines* where its lead over each of them has a 95 % interval above zero, and *below one* where
# its lead over some baseline is below zero. With fewer than ten independent sentence pairs nothing is counted. The best
# method of a setting is the one whose smallest lead over a baseline is largest. *Tau* compares the order of the eleven with
# that in the published setting: 1 where no two change places, 0 for unrelated orders.

# %%
leads = baselines.above_baselines(rho)
page.listing(
    baselines.left_by_setting(rho, leads, SETTINGS),
    "crosslingual_floors_above",
    digits=2,
    caption="By output and setting: methods above all baselines, methods below one, and how many there are; the best method, its lead over the "
    "baseline nearest to it (*over*), and Kendall's tau with the published setting, with 95 % intervals; n, the fewest sentence pairs",
)

# %% [markdown]
# ## What to take away

# %%
page.quote("crosslingual_floors", baselines.baselines_to_quote(rho))
rows = baselines.beside_published(rho)
caption = (
    "Agreement across languages (attributions of the loss), published and ours with 95 % intervals. Eleven of the paper's thirteen: the "
    "other two are activation, which ignores the prediction. Its L2 row, the norm of the embedding, is one of the two baselines at the "
    "bottom; the other gives every word piece the same score."
)
if rows:
    page.overview(comparison_plot(rows, "ρ"), "crosslingual_overview", caption=caption)
Markdown(baselines.conclusions(rho, leads))

# %% [markdown]
# Two conclusions follow for anyone who uses rho. A level of rho means nothing by itself: print uniform scores and the
# norm of the embedding next to it, on the same pairs. And if a method leads only while pieces are added up, it leads
# because of length. The agreement that remains with means over pieces and without copied and unlinked words cannot be
# explained by length, links or copies. It may still have other reasons: some words are frequent, and content words matter
# in every language. The baselines show how much of rho is cheap; they do not show how much of the rest is faithfulness.

# %%
page.finish(note=f"models: {', '.join(measured.levels('model'))}; languages: {', '.join(languages)}")
