# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Two explanations, word by word (Figure 1, Table 4)

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.judge import materials, published
from faithbook.judge.report import start_page
from faithbook.show.tables import in_names
from faithbook.studies.soft import zhao_aletras_examples as examples
from faithbook.studies.soft.zhao_aletras_diagnosticity import WIN

page = start_page("soft_examples", profile, values=values, paper="zhao_aletras_2023")
measured = page.measure(
    "soft_metrics",
    parts=["", "lengths"],
    prepare=examples.disagreements,
    over=["shows", "dataset", "metric", "method"],
    printed=published.table("soft_table6").drop(columns=["spread", "starred"]).assign(shows=WIN),
    bounds=(0, 1),
)
# over the data sets of claim c01, with which Table 4 is judged
share = page.quantity("metric", dataset=measured.comparable(), shows=WIN)

# %% tags=["remove-input"]
page.in_short(lambda: examples.in_short(share))

# %% [markdown]
# Soft erasure sees differences between explanations that hard erasure does not, first on one sentence with two constructed
# attributions, then on real attributions. Single examples prove nothing, so the second section ends with a count over all
# inputs.

# %% [markdown]
# ## Figure 1: same top two tokens, other sizes
#
# **What the paper shows.** A toy: two attributions A and B agree on the two most important words of a sentence and
# disagree about how important each is. Hard sufficiency and comprehensiveness, computed with those two words as the
# rationale, cannot separate A from B; the soft versions can.
#
# **Our run.** The same with a real sentence, a real model (MiniLM, trained on film reviews) and measured scores. A is the
# input-times-gradient attribution of the model, min-max scaled. Of the first eighty test sentences we consider those of 8 to 14 wordpieces on which
# erasing everything costs at least 0.2 of probability. We take the one on which erasing A's top two tokens costs most, so
# that scores can differ. B is made from A: the two highest scores change places, the one that is now second is halved, and
# all others are divided by four. The order below the second place is the same, so A and B give the same rationale at each
# length from two tokens on. A score can lie outside 0 to 1: erasing two words may cost more probability than erasing all.

# %%
words = load("soft_two_tokens", profile)
hard, soft = load("soft_two_hard", profile), load("soft_two_soft", profile)
toy = examples.scores_of_two(hard, soft)
fig, alt = examples.drawn_toy(words, toy)
page.figure(
    fig,
    "soft_figure1",
    alt=alt,
    caption="Two attributions with the same top two tokens (bold) on a real sentence, and what the metrics say of them.",
)

# %%
page.listing(
    toy,
    "soft_figure1_scores",
    caption=f"Scores of the two attributions (hard: top two tokens; soft: {soft.draws.iloc[0]} draws, difference with its 95 % "
    "Monte-Carlo interval). The paper's drawing prints no scores",
)

# %%
page.verdicts(page.test({"soft_figure1": None}))

# %% [markdown]
# **What differs and why.** The paper's drawing is a sketch without a model. The soft scores of B differ for two reasons that
# this comparison does not separate: the order of the top two, and the size of all scores except one. The second changes the
# *amount* of text that soft erasure keeps, which raises or lowers the score whatever the order of the tokens. So it is no
# surprise that soft metrics separate A from B, and it does not follow that they do so for the right reason.

# %% [markdown]
# ## Table 4: three inputs under the metrics
#
# **What the paper shows.** One input each from Evidence Inference, SST and AG News with the tokens that an attribution
# (DeepLIFT, input times gradient, integrated gradients) and a random one pick as their top fifth, tinted by score, and
# next to them the values of NC, Soft-NC, NS and Soft-NS. The paper's point is that hard scores of real and random attributions
# are close or in the wrong order where the soft scores differ clearly.
#
# **Our run.** For each of the three data sets, or the substitute for it that this build has explained, the first test input, not chosen,
# with the paper's attribution for that data set. The tint is the min-max scaled score, which is what soft erasure sees; the outline marks the top fifth,
# which is all that hard erasure sees. Long texts are cut after sixty wordpieces for display only. Higher is better for all
# four metrics; a dash means that erasing everything costs the model nothing, so that no score is defined.

# %%
printed = published.table("soft_table4_examples")
shown = examples.examples_of_table4(
    load("soft_examples", profile),
    load("soft_scores", profile),
    printed,
    materials.stands_for("zhao_aletras_2023"),
)
for example in shown:
    display(Markdown(example.drawn()))

# %%
page.listing(
    pd.DataFrame([example.row() for example in shown]),
    "soft_table4_ours",
    caption="Our scores of the inputs above, with MiniLM (hard: mean over rationale lengths)",
)

# %% [markdown]
# The published values belong to other texts and models, so compare the pattern and not the cells. The columns *row label* and *metric
# label* are as printed ("Soff-NS", "Suff-NS"); *source* says which value is from the prose. *Method* is our reading: in each example
# we take the first four values as those of the real attribution, although the last two of them come after the label Rand. If the paper
# meant the label, these two are of the random attribution.

# %%
renamed = {"example_id": "example", "method_label_in_row": "row label", "metric_label": "metric label"}
columns = ["example", "dataset", "method", "row label", "metric label", "value", "source"]
caption = "Scores printed in the paper's Table 4 and in the text next to it"
page.listing(printed.rename(columns=renamed)[columns], "soft_table4_published", caption=caption)

# %% [markdown]
# **All inputs instead of three.** On some inputs one kind of metric prefers the real attribution and the other does not.
# In the paper's examples only soft erasure does. How often is that so, and how often does only hard erasure? Soft only minus
# hard only is soft minus hard in diagnosticity, the paper's main claim (`soft_c01` on {doc}`soft_tables`), so the table is judged with that:
# the two comparisons below are those of `soft_c01`.

# %%
page.verdicts(page.test({"soft_table4_examples": examples.gains(share)}))

# %%
counted = examples.shares_of_disagreement(share, measured.levels("dataset"))
page.listing(
    counted,
    "soft_table4_shares",
    caption="How often one kind of metric alone sets the real attribution above the random one (share of inputs and "
    "methods, with 95 % interval), and how often the gap between the two is larger under soft erasure. *NC*: Soft-NC against NC; *NS*: "
    "Soft-NS against NS. *Compared*: the mean over SST and AG News, which are compared with the paper; the others are substitutes",
    wide=in_names(counted.assign(question=counted["question"].map(examples.QUESTIONS)), 3),
)

# %%
fig, alt = examples.drawn_shares(counted)
caption = (
    "Shares of texts and methods on which one kind of metric alone prefers the real explanation, and on which the gap between real and "
    "random is larger under the soft metric, mean over SST and AG News, with 95 % intervals (the rows *compared* of the table)"
)
page.figure(fig, "soft_table4_plot", alt=alt, caption=caption)

# %% [markdown]
# **What differs and why.** We took the first inputs of the sample, while the paper chose striking ones, and substitute data has
# other texts for a task of the same kind. A case that hard erasure loses can be a tie or a near tie, which noise decides.
# Soft erasure wins about half of those by chance, so we count the cases that only hard erasure wins against them. A larger
# gap is not better in itself: the two kinds of score have different spreads.

# %%
page.finish(note="Figure 1: one sentence, intervals over random draws and not over inputs")
