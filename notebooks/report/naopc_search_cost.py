# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How to search for the bounds, and at what price

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import numpy as np
from IPython.display import Markdown

from faithbook.engine.studies import settings_of
from faithbook.judge.report import start_page
from faithbook.studies.naopc import edin_bounds, edin_figures, edin_searches

page = start_page("naopc_search_cost", profile, values=values, paper="edin_2025")
CELL = ["model", "words", "search", "metric"]
measured = page.measure("naopc_search", prepare=edin_bounds.of_searches, over=CELL, stratum="words", bounds=(0, np.inf))
# Of all that is measured only `short` may be below zero; the ends of other intervals may not.
signed = page.measure("naopc_search", prepare=edin_bounds.of_searches, over=CELL, stratum="words")
mean, difference = measured.quantity(*CELL), signed.quantity(*CELL)
table = edin_searches.costs(measured.frame, mean)
page.in_short(lambda: edin_searches.in_short(table))

# %% [markdown]
# The *bounds* are the smallest and the largest AOPC that any order of removing a text's $N$ words reaches ({ref}`formulas <bounds>`).
# Exact ones need the model's output for all $2^N$ sets of words, so a text of 30 words is out of reach. The paper
# {cite:p}`edin_2025` searches with a beam: it builds orders word by word and at each step keeps the best few; their number is its
# *width*. The authors report about 210 GPU-hours for one of their data sets. A beam of width $B$ needs about $B N^2$ forward passes for
# both bounds, which are the whole cost. We compare four searches:
#
# - **released**: the beam as published. Entries that removed the same words in another order take up several of its places.
# - **merged**: each set of removed words has one place, and at the end the search takes the best path through *all* visited sets. Its
#   places hold more different sets, so at the same width it needs more forward passes than the published search.
# - **pruned**: merged, but an entry tries only the few words with the largest last known effect, in log-odds, and only two
#   words once its probability is within 0.005 of 0 or 1.
# - **adaptive**: pruned, with a width that doubles until neither bound changes by more than 0.001.
#
# A search is named with its width, and a pruned one with the number of words that an entry tries. The texts are news articles, cut to a
# number of words. On texts of 80 words and more only the LSTM has all searches; MiniLM-6, with six layers, has the published search at
# width 5, the pruned ones and, except on the longest texts, the adaptive one. MiniLM-3, with three layers, has texts of at most
# 25 words.
#
# Errors are measured against the exact bounds if these are known. Otherwise they are measured against the best bound that
# *any* search found, which may itself be too narrow. The **error bound** needs no such reference: it is how far a bound can
# be off at most.
#
# The paper searched in half precision, we in single precision. Among many rounded values the best is partly the one that
# rounding favours, and the next step starts from it.

# %%
fig, alt = edin_figures.trade_off(table)
caption = (
    "Mean error of the two bounds and forward passes, a dot per search (bars: 95 % intervals over the n texts of a panel, "
    f"{table.n.min()} to {table.n.max()}; hollow: a single text; dotted: an error of 0.005). Exact searches are left out."
)
page.figure(fig, "naopc_tradeoff", alt=alt, caption=caption, data=table)

# %%
page.listing(
    table.drop(columns="kind").rename(columns={"rows": "passes"}),
    "naopc_search_cost",
    caption="Each search on each length: mean distinct forward passes per text, how many times fewer than the published search at "
    "width 5 (mean of the texts' own ratios), mean error of the two bounds with 95 % interval over n texts (none of a single one), mean error bound",
    wide=edin_searches.costs_in_words(table),
)

# %%
most = settings_of("naopc_search", measured.material.profile)["exact_up_to"]
Markdown(edin_searches.searched_exactly(table, most=most))

# %%
Markdown(edin_searches.adaptive_outdone(table, difference))

# %% [markdown]
# ## Five times fewer forward passes?
#
# We set this aim before the search: on texts of 80 words and more, find bounds within 0.005 of those of the published search at
# width 5, with five times fewer forward passes.

# %%
aim = edin_searches.aim(table, mean, difference, page.worded)
caption = (
    "Pruned searches compared with the published one at width 5 on long texts: how many times fewer forward passes, and how far the "
    "bounds fall short of the published search's (negative: they are better), with 95 % intervals over n texts (none of a single one); "
    "*aim reached*: each line on its own, *not tested* with too few texts"
)
page.listing(
    aim.table, "naopc_aim", caption=caption, empty="*None in this run.*", wide=edin_searches.aims_in_words(aim.table)
)

# %%
verdict = page.badge(aim.word)
answered = f"{verdict}. {aim.note}" if verdict else aim.note
Markdown(f"Does at least one search reach the aim, after a correction for the number of searches? {answered}")

# %% [markdown]
# ## What the error bound can and cannot do
#
# The probability of an unvisited set can have any value between 0 and 1, so the error bound is small only if the
# *found* path is already near 0 or 1. If removing a few words brings the probability close to 0 and it stays there, the rest of
# any order can add almost nothing. If the probabilities stay in the middle, no search with fewer than about $2^N$ forward
# passes can guarantee much: one chain of unvisited sets with extreme probabilities would be enough to move the bound. The
# column *error bound* of the table shows how much remains unknown.

# %%
page.finish()
