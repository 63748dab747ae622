# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do metrics agree?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown, display

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.judge.scores import Scores
from faithbook.show.numbers import listed
from faithbook.studies.together import agreement, questions
from faithbook.studies.together.agreement import PAIR
from faithbook.studies.together.questions import agreements, by_cell
from faithlib.catalogue import FAITHFULNESS

page = start_page("together_agreement", profile, values=values, paper=published.OUR_OWN)
agreeing = {"prepare": agreements, "rows": questions.correlations, "bounds": (-1, 1)}
measured = page.measure("together_matrix", over=PAIR, **agreeing)
differing = {"prepare": agreements, "rows": questions.pair_contrasts, "bounds": (-2, 2)}
contrasts = page.measure("together_matrix", over=PAIR[:2], **differing)
modalities = measured.levels("modality")
agreed = by_cell(measured, PAIR)
table = agreement.pairs(agreed)

# %% tags=["remove-input"]
page.in_short(lambda: agreement.in_short(table, modalities))

# %% [markdown]
# Each paper proposes a metric and shows it on some attributions. We compute all metrics on the same attributions of the same
# inputs, both texts and images ({doc}`what was run <../together/overview>`). Two metrics agree if they rank the methods in the
# same order.
#
# **How it is counted.** On each input, Spearman's rank correlation over the methods (without the random one) between two
# metrics, both sign-flipped where needed so that higher is better. Then the mean over inputs, with an interval that resamples inputs
# within their data set. 1: the same ranking on every input; 0: unrelated ones. Most metrics were made for one kind of input;
# {doc}`the overview <../together/overview>` says how they are computed on the other.

# %% [markdown]
# ## The matrix
#
# Means of every metric for every method over the inputs of a modality; `together_matrix.csv`, among the downloads of this
# page, has each data set with its intervals and n. Arrows say which way is better. NS, NC and the soft metrics divide by
# what the empty input loses: if that is little, values are far outside 0 to 1, and a few such inputs move a mean. Ranks,
# which the rest of the page uses, do not move.

# %%
LABELS = ["modality", "dataset", "method", "metric"]
scores = page.measure(
    "together_matrix", over=LABELS, prepare=lambda units: questions.turned(units).dropna(subset=["value"])
)
matrix = agreement.as_defined(listed(by_cell(scores, LABELS), LABELS))
matrix.to_csv(page.run.path("together_matrix.csv"), index=False)

# %%
for modality in modalities:
    means, caption = agreement.means_by_method(matrix, modality)
    display(page.listing(means, f"together_means_{modality}", digits=2, caption=caption))

# %% [markdown]
# ## Who agrees with whom
#
# If one of two metrics gives all methods of an input the same value, the pair leaves this input out. `together_agreement.csv` has every
# pair with its interval and n.

# %%
table.to_csv(page.run.path("together_agreement.csv"), index=False)

# %%
clusters = agreement.clusters_of(table)
for modality in modalities:
    fig, alt = agreement.agreement_map(table, modality, clusters)
    caption = (
        f"{questions.MODALITIES[modality]}: mean rank correlation of two metrics over methods. "
        f"{agreement.frames_in_words(clusters)}."
    )
    display(page.figure(fig, f"together_map_{modality}", alt=alt, caption=caption))

# %%
Markdown(agreement.both_clusters(clusters))

# %% [markdown]
# ## Does SaCo differ from the others?
#
# {cite:t}`wu_2024` find that SaCo ranks images differently from four older metrics, which agree with one another, and
# take that as a merit: {doc}`saco_figures` has their question. Here the question is about methods, because metrics are for choosing among
# methods. With all metrics of faithfulness on the same inputs, how much does each agree with the
# rest on the ranking of methods, on average?

# %%
rest = agreement.with_the_rest(agreed)
caption = "Mean agreement of each metric of faithfulness with all others, with 95 % intervals over n inputs"
page.listing(listed(rest, ["modality", "metric"]), "together_rest", digits=2, caption=caption)

# %% [markdown]
# **SRG**, AOPC with the most relevant features first minus AOPC with the least relevant first ({doc}`safe_map`), follows from these two
# on each input. No question of this page is about it.

# %%
asking = [name for name in FAITHFULNESS if name in measured.levels("first")]
beside_others = pd.DataFrame()
if {"aopc_morf", "aopc_lerf"} <= set(asking):  # no claim rests on SRG: it is not among what the page measures
    read = {"over": PAIR, "prepare": questions.srg_agreements, "bounds": (-1, 1)}
    srg = Scores.read(page.run, "together_matrix", paper=published.OUR_OWN, **read)
    beside_others = agreement.srg_with_others(srg, asking)
page.listing(
    beside_others,
    "together_srg_agreement",
    digits=2,
    caption="Mean rank correlation over methods of SRG with each metric of faithfulness and with all others, with 95 % intervals over n inputs",
    empty="The two AOPC are not here.",
)

# %% [markdown]
# ## Answers
#
# NC, comprehensiveness, AOPC and NAOPC from the top (MoRF), AUC, LOdds, N-AUC and AUTPC erase the highest scores first;
# NS, sufficiency, AOPC and NAOPC from the bottom (LeRF) erase the lowest first. SaCo and soft metrics do neither.
# An effect that is clearly not zero may still be too small to matter: a comparison whose whole interval is within 0.05 of zero is
# *near the threshold* and does not support its claim. A comparison is *not tested* if fewer than ten inputs of one of its data sets have a
# value. The questions were written before photographs were measured, so they are about texts and small images. Photographs are in the
# tables and have a heat map of their own, but are in none of the answers.

# %% tags=["remove-input"]
Markdown(agreement.families_in_words(asking))

# %%
asked = [kind for kind in modalities if kind != questions.PHOTOGRAPHS]
tested = page.test(
    {
        "together_q1": agreement.within_minus_between(contrasts, "families", questions.INSIDE, asked),
        "together_q2": agreement.minus_saco(rest, asked),
        "together_q10": agreement.within_minus_between(contrasts, "directions", questions.ALIKE, asked),
    }
)
page.verdicts(tested)

# %%
page.plot(
    tested,
    "together_rest_plot",
    caption="Every comparison behind the answers with its 95 % interval. It supports the claim right of the dotted line.",
)

# %%
page.parts(tested, "together_agreement_parts", caption="Every comparison behind the answers with its 95 % interval")

# %% [markdown]
# **What differs and why.** Wu et al. keep the method and rank images: does an image on which one metric is high have a
# high value of the other? Here the image or text is kept and methods are ranked, so that an input that is easy under
# every explanation adds nothing; the correlations of all inputs are averaged. Values of one input are
# noisy, which pulls all correlations towards zero, those of coarse metrics (N-AUC and AUTPC count classes that stay) most
# of all. Random attributions are left out, because with them all metrics would agree a little. Metrics of one family share
# forward passes, which may add to their agreement. On one input NAOPC is a linear function of AOPC, so the two rank methods
# equally by construction. They are families of their own here, and count as agreement
# between families in the first question and as one direction in the last.
#
# Intervals cover the choice of inputs, not that of data sets, models or methods.

# %%
page.finish()
