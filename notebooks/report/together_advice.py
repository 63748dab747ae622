# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metric should I use?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %% tags=["remove-input"]
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.studies.safe.advice import what_to_use
from faithbook.studies.together import advice

page = start_page("together_advice", profile, values=values, paper=published.OUR_OWN)
NAMES = ("diagnosticity_of_metrics", "amounts_controlled", "truth_preferred", "truth_lost", "truth_tracked")
table = advice.advice_table(*(load(name, profile) for name in NAMES))
page.run.save(advice.quotable_advice(table), "quotable")
needs, lowest = published.our_table("recommendations"), load("safe_lowest", profile)
use = what_to_use(needs, load("safe_chosen", profile), lowest, load("safe_comparable", profile))
page.in_short(lambda: advice.in_short(use))

# %% tags=["remove-input"]
page.listing(
    use,
    "together_decisions",
    wide=use.replace("", "–"),
    caption="What to use for which need, and, in the last three rows, what not to use on its own",
)

# %% tags=["remove-input"]
Markdown(advice.best_of_all_kinds(lowest))

# %% [markdown]
# - *Rank correlation* with the truth: the lowest over the kinds of misreading that the need allows (last three rows: over all kinds), with
#   its 95 % interval. *Safe*: this interval is above 0.50. *Model calls*: forward passes for one explanation of 20 features,
#   without that of the whole input. Those of SaCo are of SaCo, AUC and LOdds together, which one run computes; SaCo alone needs one
#   for each group ({ref}`all prices <metric-table>`).
# - The numbers are from {doc}`safe_map`: 395 hand-built models, fixed before anything ran. Each misreads erased inputs in one known way,
#   or never. The row on several models is from {doc}`safe_models`, which has no rank correlations. {doc}`../foundations/metrics` defines the
#   metrics.
#
# **Limits.** The models are hand-built, with at most six features that matter; {doc}`safe_trained` has a few trained ones. For *photographs*
# the truth is unknown. For *language models* it is known in two tasks, on one small model: {doc}`language_bounds` and
# {doc}`language_contrast`; more advice is on {doc}`the overview <../language/overview>`.
#
# ## A worked example
#
# You have a sentiment model and want to know whether two methods explain it. Here the model is a function of ten words,
# so that the example runs everywhere. For a Hugging Face model pass the model and `tokenizer=...`.
#
# ```python
# import math
#
# from faithlib import evaluate
#
# WEIGHTS = {"wonderful": 2.0, "great": 1.5, "funny": 1.0, "warm": 0.8, "cast": 0.1}
# WEIGHTS |= {"not": -0.4, "long": -0.7, "slow": -1.0, "boring": -1.6, "dull": -2.0}
# TEXTS = [
#     "A warm, funny film with a wonderful cast.",
#     "Two long, dull and slow hours.",
#     "Great jokes, but a boring and long second half.",
#     "I found it funny and warm from start to end.",
#     "The story is dull, the cast is great.",
#     "A slow start, then a wonderful hour.",
# ]
#
#
# def model(texts):
#     """Probabilities of a negative and of a positive review."""
#     words = [[word.strip(".,").lower() for word in text.split()] for text in texts]
#     scores = [sum(WEIGHTS.get(word, 0) for word in of) for of in words]
#     return [[1 / (1 + math.exp(score)), 1 / (1 + math.exp(-score))] for score in scores]
#
#
# methods, metrics = ["occlusion", "lime", "random"], ["srg", "comprehensiveness_eraser"]
# print(evaluate(model, TEXTS, methods=methods, metrics=metrics).summary())
# ```
#
# ```text
# With these 6 texts both methods are better than random on both metrics.
#
#                             n     occlusion          lime        random
# comprehensiveness_eraser ↑  6  0.34 ± 0.12*  0.34 ± 0.12*  -0.02 ± 0.13
# srg ↑                       6  0.45 ± 0.17*  0.44 ± 0.17*  -0.16 ± 0.22
# ```
#
# **How to read it.** The number after ± is half of the width of the 95 % interval. Erasing what occlusion or LIME mark lowers the model's
# probability by 0.34 on average. Random scores are not clearly different from 0 under either metric. A star says that the 95 % interval of
# the difference from random scores excludes 0. Six texts keep the example short; in the table below anything with fewer than ten inputs is
# *unsure*. The two methods do not differ, so neither metric gives a reason to prefer one.

# %% tags=["remove-input"]
Markdown(advice.cost_of_srg(table))

# %% [markdown]
# ## The same metrics on trained models
#
# The table above rests on hand-built models. This one has models that were trained on planted features
# ({doc}`together_planted_truth`). One of them, the *misled model*, was trained to err once more than a third of the features are erased.
# Four questions have an answer for each metric. *Clearly* means at the 5 % level; what is neither *yes* nor *no*, or has fewer than ten
# independent inputs, is *unsure*.
#
# 1. **Separates.** Does it prefer explanations of real methods to random scores? *Yes*: clearly more often than in half of the cases;
#    *no*: clearly less often. A tie counts half.
# 2. **Without mean importance.** Does it do so when both explanations have the same mean importance? *Yes* and *no* as before. Metrics
#    that use only the order of features pass by construction. SaCo was not tested.
# 3. **Prefers the truth.** On a model with a planted explanation, does it prefer the truth to a shuffled copy? *Yes* and *no* as before.
# 4. **Not worse after misleading.** Does it follow the truth on the misled model as well as on the model trained as usual? *No*: its rank
#    correlation with the truth is clearly lower there, by however little; else *yes* if it is clearly less than 0.1 lower.
#
# Two columns have the rank correlation with the truth on these two models. *Inputs to separate* is how many inputs separate real
# explanations from random scores with a power of 80 %. *Model calls* are those of these texts and images, which have other numbers of
# features than the models of the first table. Metrics that one run computes each have the price of the whole run: both directions of AOPC
# and of NAOPC, both soft metrics, NS and NC, both of ERASER, SaCo with AUC and LOdds, and N-AUC with AUTPC. {doc}`together_planted_truth`
# has the intervals.

# %%
page.listing(
    table.rename(columns={"inputs needed": "inputs to separate real from random"}),
    "together_advice",
    digits=2,
    caption="Metrics on trained models: four answers, rank correlation with the truth on the usual model (*tracks the truth*) and on the misled "
    "one, inputs needed, and price; n: inputs of the answer with the fewest",
    wide=advice.planted_in_words(table),
)

# %% tags=["remove-input"]
Markdown(advice.on_photographs(table))

# %% [markdown]
# **Why are the numbers higher than in the first table?** These are of one kind of misreading and one training run; the first table has the
# lowest over all kinds. And the trained model misreads fewer erased copies than the hand-built ones, which err on every copy that has lost
# more than a third. Sufficiency keeps at most half of the features, so it uses only such copies: it cannot order explanations on these
# hand-built models (0.00), but it can on the trained one. SRG was not measured in the runs behind this table;
# {doc}`together_planted_truth` has it for the same models.

# %% tags=["remove-input"]
Markdown(advice.why_not_n_auc(load("truth_tracked", profile), lowest))

# %% [markdown]
# ## Before you trust a number
#
# 1. **Add random scores** on the same inputs, and scores by length if features differ in length. A metric that
#    cannot separate your methods from these says nothing about them.
# 2. **Check what erased inputs do to your model.** Erase features at random and look at its predictions. If most go
#    to one class, use another erasure, or train the model on erased copies.
# 3. **Use two directions**: a metric that erases the most important features first and one that erases the least important
#    first. SRG has both. {doc}`together_agreement` shows that metrics of one direction agree more.
# 4. **Count inputs before you rank methods.** Separating two good methods takes many more inputs than separating one from random scores.
# 5. **Name the direction.** *Sufficiency* and *comprehensiveness* mean opposite things in different papers
#    ({doc}`../foundations/metrics`).
# 6. **Shuffle.** If a metric uses how high scores are (soft metrics, SaCo), also compare an explanation with a shuffled copy
#    of itself.
# 7. **Plausible is not faithful.** Agreement with people's highlights answers another question.
#
# {doc}`own_text_model` and {doc}`own_vision_model` run all metrics on your own model.

# %%
page.finish(note=f"n of the answer with fewest inputs: {table.n.min():.0f}")
