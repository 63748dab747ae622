# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The paper's six models, run again

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.judge.report import start_page
from faithbook.studies.naopc import edin_claims, edin_six

NOT_RUN = "not run: this profile runs none of the six models, and what follows has no numbers."
page = start_page("naopc_six_models", profile, values=values, paper="edin_2025")
ran = bool(page.run.upstream)  # whether this profile runs the six models
if ran:
    measured = page.measure(
        "naopc_six", prepare=edin_six.of_six, over=edin_six.OVER, unit=["dataset", "length", "id"], n_resamples=1999
    )
    scores = edin_six.with_ours(edin_claims.printed_scores().query("method != 'decompx'"), measured)

page.in_short(lambda: edin_six.in_short(scores) if ran else NOT_RUN)

# %% [markdown]
# {doc}`naopc_released_outputs` works with what {cite:t}`edin_2025` released, without a model. This page runs their
# experiment again, starting from the models: the six checkpoints that they name, on the texts of their files (SST-2
# {cite:p}`socher_2013` and Yelp {cite:p}`zhang_2015`, short and long; IMDB {cite:p}`maas_2011`, long), with
# attributions as their code makes them, $p$ of the positive class, exact bounds for short texts and a beam of width 5 for
# long ones. Texts and checkpoints come from the network, so only the `paper` profile has numbers here.
#
# There are nine of the ten methods: DecompX needs a forward pass rewritten for every architecture. Our beam tries the eight
# most promising words of an entry and counts equal sets once, because the published search would take hundreds of GPU-hours
# for IMDB. Everything runs in single precision; the authors searched in half precision.

# %% [markdown]
# ## The same models, the same texts?
#
# A checkpoint on the hub may have been replaced, and another version of a tokenizer may split words differently. So we first compare,
# text by text, $p$ of the whole text, the number of words that can be removed, and both bounds. `same_p` is the share of texts
# whose two $p$ differ by less than 0.001, `same_words` that of texts with the same number of words; `p_apart` is the largest difference
# of $p$, and `lower_apart` and `upper_apart` are mean differences of the bounds. The bounds of a long text come from two different searches.

# %%
if ran:
    agreed = edin_six.agreement_of_runs(edin_six.beside_released(measured.frame))
caption = "Texts with released values: how near ours are to these"
page.listing(agreed, "naopc_six_agreement", caption=caption, empty="None of these texts was released.") if ran else None

# %% [markdown]
# ## Bounds

# %%
if ran:
    bounds = edin_six.with_ours(edin_claims.printed_bounds(), measured)
caption = "Mean bounds of AOPC and the mean range between them, released and ours, with 95 % intervals over texts"
page.listing(bounds, "naopc_six_bounds", caption=caption) if ran else None

# %%
Markdown(edin_six.distances(bounds)) if ran else None

# %% [markdown]
# ## Scores
#
# *Sufficiency* is the paper's: AOPC with the least important word first, where a low value is good. A text whose two bounds are equal has
# no NAOPC here and counts as 0 in the released means.

# %%
caption = "Mean AOPC and NAOPC of nine methods, released and ours, with 95 % intervals over texts"
page.listing(scores, "naopc_six_scores", caption=caption) if ran else None

# %%
Markdown(edin_six.distances(scores)) if ran else None

# %% [markdown]
# ## A beam of width 5, or one that finds its own width?
#
# On long texts the adaptive search doubles its width until neither bound changes by more than 0.001; it continues from all sets that
# the narrower beams have visited. `wider` is how much wider its range between the bounds is than that of the beam of width 5.

# %%
caption = "The adaptive search next to a beam of width 5: means over long texts, 95 % intervals in brackets"
page.listing(edin_six.wider_searches(measured), "naopc_six_searches", caption=caption) if ran else None

# %%
page.finish()
