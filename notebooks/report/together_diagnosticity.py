# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metrics separate a real attribution from a random one?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import listed
from faithbook.studies.saco import wu
from faithbook.studies.together import diagnosticity, questions
from faithbook.studies.together.advice import without_whole
from faithbook.studies.together.questions import CHANCE, ITSELF, PHOTOGRAPHS, RANKS, SOFT, answer, by_cell

page = start_page("together_diagnosticity", profile, values=values, paper=published.OUR_OWN)
over = ["modality", "against", "method", "metric"]
measured = page.measure(
    "together_matrix", parts=["", "controls"], over=over, prepare=questions.preferred_to_chance, bounds=(0, 1)
)
mirrored = page.measure(
    "together_mirrored", over=["method"], prepare=lambda units: units[units.metric == "rho"], bounds=(-1, 1)
)
preferred = diagnosticity.preferred_to_random(measured)

# %% tags=["remove-input"]
page.in_short(lambda: diagnosticity.in_short(preferred))

# %% [markdown]
# {term}`Diagnosticity` {cite:p}`chan_2022` is how often a metric prefers the scores of an attribution method to random scores
# of the same input. {cite:t}`zhao_aletras_2023` report it for four metrics on texts. We compute it for every metric, on texts,
# small images and photographs, with its price: how many inputs it takes to be sure, and how many forward
# passes each attribution costs.
#
# A metric that prefers real attributions need not know which of them is faithful, but one that does not even prefer them is
# of little use. Metrics that do not use the model (complexity, sparseness) are shown as baselines: the scores alone can show
# that an attribution is not noise.

# %% [markdown]
# ## How often
#
# The table has the share of pairs of input and method in which the method's value is better than that of random scores. A tie
# counts half (the paper counts it as lost; the share of ties is shown). Chance is one half. Each input has one random
# attribution; intervals come from resampling inputs with all their methods.
#
# - *Inputs needed*: how many inputs separate the metric from chance with a power of 80 %. A metric that these inputs do not separate has
#   none, because its effect may be zero.
# - *Gain it would find*: the smallest gain over one half that these inputs would find with a power of 80 %.
# - *Model calls*: forward passes for *one* attribution of one input, mean over inputs, without the one on the whole input. Metrics of one
#   family (AOPC with MoRF and with LeRF; SaCo, AUC and LOdds, for example) share their calls, and each has those of the whole family.
#   On photographs the calls were not counted.

# %%
of_what = ["what", "methods", "dataset", "modality"]
prices = load("together_costs", profile).groupby(of_what, sort=False).sum(min_count=1, numeric_only=True).reset_index()
table = diagnosticity.diagnosticity_with_prices(preferred, measured, questions.prices_of(measured, prices))
page.run.save(table, "diagnosticity_of_metrics")
page.listing(
    without_whole(table),
    "together_diagnosticity",
    digits=2,
    caption="Diagnosticity of every metric: share of real attributions that are preferred, mean over methods and over the inputs of all data sets, with 95 % "
    "interval over n inputs",
    wide=diagnosticity.price_table(without_whole(table)),
)

# %% [markdown]
# **SRG**, AOPC with the most relevant features first minus AOPC with the least relevant first ({doc}`safe_map`), follows from these two
# on each input. No question of this page is about it.

# %%
srg_preferred = pd.DataFrame()
if {"aopc_morf", "aopc_lerf"} <= set(measured.levels("metric")):
    # No claim rests on SRG: it is not among what the page measures.
    read = {"over": over, "prepare": questions.srg_preferred_to_chance, "bounds": (0, 1)}
    srg = Scores.read(page.run, "together_matrix", paper=published.OUR_OWN, **read)
    srg_preferred = listed(by_cell(srg, diagnosticity.CELL, against=CHANCE), diagnosticity.CELL)
page.listing(
    srg_preferred,
    "together_srg_diagnosticity",
    digits=2,
    caption="Diagnosticity of SRG, mean over methods and over the inputs of all data sets, with 95 % interval over n inputs; a tie counts half",
    empty="The two AOPC are not here.",
)

# %%
fig, alt = diagnosticity.diagnosticity_figure(table)
caption = (
    "How often each metric prefers a real attribution to a random one (more is better), 95 % intervals; dotted: chance."
)
page.figure(fig, "together_diagnosticity_plot", alt=alt, caption=caption)

# %%
page.listing(
    diagnosticity.matrix_costs(prices),
    "together_matrix_costs",
    digits=2,
    caption="What this build's own run of all metrics and methods cost: forward passes that metrics and erasing methods requested and that "
    "were computed (equal ones once), and the share saved; seconds with gradients; the share of the time for erasing that is not the model's",
)

# %% [markdown]
# ## A convolutional network, on ImageNet
#
# The models of images above are small transformers. EfficientNet-Lite0 is a convolutional network of 4.7 million parameters with
# ImageNet's thousand classes. We explained its correct predictions by five methods that need no transformer, on patches of 32
# pixels, and computed the metrics of study 2 ({doc}`saco_stand_ins`). The table shows how often each metric prefers the
# method's scores to random ones; the other columns have the same for transformers.

# %%
shares = {}
if page.has("saco_imagenet"):
    network = page.measure(
        "saco_imagenet", over=["method", "metric"], prepare=wu.preferred_to_random, bounds=(0, 1), n_resamples=1999
    )
    shares = by_cell(network, ["metric"])

# %%
page.listing(
    diagnosticity.beside_transformers(shares, preferred).rename(columns={"vision": "small images"}),
    "together_diagnosticity_network",
    digits=2,
    caption="Diagnosticity with a convolutional network on ImageNet, mean over five methods, with 95 % interval over n images that "
    "it classifies correctly; and with transformers on small images and on photographs, over their methods",
    empty="*No image of ImageNet was measured.*",
)

# %% [markdown]
# ## Where scores are high, or how high they are?
#
# Soft metrics scale the scores of an input to between 0 and 1 and keep (Soft-NS) or drop (Soft-NC) elements in that proportion.
# So they judge two things at once: *where* scores are high, and how high they are on average, the *mean importance*. Random
# scores have a mean importance of about one half. A method that marks few features has a low one, keeps almost nothing, and
# loses to noise whatever it marks. Two controls remove this: comparison with the *same scores shuffled* among the features of
# the input, and *ranks* of the features instead of scores, which give every attribution the same mean importance.

# %%
AGAINST = ["modality", "metric", "against"]
controlled = by_cell(measured, AGAINST, metric=SOFT, against=[CHANCE, ITSELF, RANKS])
control = listed(controlled, AGAINST).assign(answer=[answer(share.ours, 0.5) for share in controlled.values()])
page.run.save(control, "amounts_controlled")
caption = (
    "How often a soft metric prefers a real attribution, mean over methods and over the inputs of all data sets, with 95 % interval over n "
    "inputs, by what it is compared with; a tie counts half. *Answer*: is the share clearly above one half (*no*: clearly below)?"
)
page.listing(control, "together_density", digits=2, caption=caption)

# %%
controls = load("together_controls", profile)
shuffled = controls[(controls.control == "shuffled") & (controls.metric == SOFT[0])]
by_method = by_cell(measured, ["modality", "method", "against"], metric=SOFT[0], against=[CHANCE, ITSELF])
page.listing(
    diagnosticity.with_mean_importance(by_method, shuffled),
    "together_density_methods",
    digits=2,
    caption=f"How often {label(SOFT[0])} prefers a method to random scores and to the same scores shuffled, with 95 % interval over n "
    "inputs; *mean importance*: the method's mean score, scaled to 0 to 1, in this build's own run (– where it has none)",
)

# %% [markdown]
# ## The metric that needs a second input
#
# Cross-lingual faithfulness {cite:p}`zaman_belinkov_2022` compares the explanations of a sentence and of its translation, so it
# is not in the table above. {doc}`crosslingual_floors` has it on texts, with baselines. For an image we use its mirror image
# instead of a translation, cell by cell. A map of closeness to the middle, which depends on neither model nor image, is its
# own mirror image: this metric rates it as perfect, as it rates the number of word pieces as good on texts. Agreement with a second input
# separates attributions from noise, but not from scores that ignore the model. This measurement has more images than the others of the
# page.

# %%
rho = {name: mirrored.mean(method=name) for name in mirrored.levels("method")}
caption = (
    "Rank correlation of an image's scores with those of its mirror image, mean with 95 % interval over n images "
    "(constant maps have none), and its lead over two baselines: random scores, and closeness to the middle"
)
page.listing(diagnosticity.lead_over_baselines(rho), "together_mirrored_rho", digits=2, caption=caption)

# %% [markdown]
# ## Answers
#
# The questions are about texts and small images, because they were fixed before photographs were measured. Photographs are
# in the tables only.

# %%
asked = [modality for modality in measured.levels("modality") if modality != PHOTOGRAPHS]
page.quote("together_photographs", diagnosticity.against_itself_shuffled(controlled, PHOTOGRAPHS))
page.quote("together_mirrored", {"middle": rho["middle"]})
tested = page.test(
    {
        "together_q3": diagnosticity.shares_of_faithfulness(preferred, asked),
        "together_q4": diagnosticity.soft_minus_hard(preferred, asked),
        "together_q8": diagnosticity.without_importance(controlled, asked),
        "together_q9": diagnosticity.minus_random(rho),
    }
)
page.verdicts(tested)

# %%
Markdown(diagnosticity.lax_baseline(rho))

# %%
caption = (
    "Every comparison behind three answers with its 95 % interval. It supports the claim right of the dotted line."
)
page.plot(tested, "together_diagnosticity_claims", only=["together_q4", "together_q8", "together_q9"], caption=caption)

# %%
page.parts(tested, "together_diagnosticity_parts", caption="Every comparison behind the answers with its 95 % interval")

# %% [markdown]
# **What differs and why.** Zhao & Aletras average over five rationale lengths and use whole texts. Our texts have about ten
# words, so that bounds can be searched, and short rationales are one word. Their diagnosticity counts ties as lost, which
# lowers it for metrics with few values. A metric's diagnosticity depends on the methods that are compared: if half of them
# are no better than noise, a faithful metric *should* be near chance for these.
#
# Intervals cover the choice of inputs, not of data sets, models, methods or random draws.

# %%
page.finish()
