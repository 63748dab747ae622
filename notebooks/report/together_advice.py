# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metric should I use?
#
# **Comprehensiveness (ERASER), next to random scores on the same inputs.** It is the cheapest of the metrics that find
# planted true explanations both on ordinary models and on models that erasure misleads. The table has other needs.

# %% tags=["parameters"]
profile = "laptop"

# %% tags=["remove-input"]
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.together.advice import PASSES, advice, decisions, quotable

page = start_page("together_advice", profile, paper=published.OUR_OWN)
NAMES = ("diagnosticity_of_metrics", "amounts_controlled", "truth_preferred", "truth_lost", "truth_tracked")
table = advice(*(load(name, profile) for name in NAMES))
page.run.save(quotable(table), "quotable")
page.listing(
    decisions(table, published.our_table("recommendations")),
    "together_decisions",
    caption="What to use. Accuracy: Spearman's rank correlation with how true an explanation is, the worse of before and "
    "after the model is misled. Model calls: forward passes for one explanation of one input (texts / small images)",
)

# %% [markdown]
# On *photographs* nothing was planted, so that accuracy is unknown there. On *language models* the truth is known of two tasks,
# on one small model: {doc}`language_bounds` shows whether measures prefer the sentence that has the answer, {doc}`language_contrast`
# which methods find the subject. Up to a dozen sentences, use NAOPC with exact bounds; the other advice is on
# {doc}`the overview <../language/overview>`.
#
# ## A worked example
#
# You have a sentiment model and want to know whether two methods explain it. Here the model is a function of ten words,
# so that the example runs everywhere; a Hugging Face model takes its place together with `tokenizer=...`.
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
# methods, metrics = ["occlusion", "lime", "random"], ["comprehensiveness_eraser"]
# print(evaluate(model, TEXTS, methods=methods, metrics=metrics).summary())
# ```
#
# ```text
#                             n     occlusion          lime        random
# comprehensiveness_eraser ↑  6  0.34 ± 0.12*  0.34 ± 0.12*  -0.02 ± 0.13
# ```
#
# **How to read it.** Erasing what occlusion or LIME mark lowers the model's probability by about a third; erasing what random
# scores mark changes nothing. The star says that the difference from random scores is clear on these six texts. The two
# methods are level, so this metric gives no reason to prefer one.

# %% tags=["remove-input"]
calls = table.set_index(["modality", "metric"])[PASSES]["text", "comprehensiveness_eraser"]
Markdown(
    f"**What it costs.** {calls:.0f} forward passes per explanation: 200 texts with three methods and random scores take "
    f"200 × 4 × {calls:.0f} = {200 * 4 * calls:,.0f} passes, in addition to those of the methods themselves."
)

# %% [markdown]
# ## How we know
#
# Each metric was tested in four ways. Every *yes* and *no* is the answer of the rule `above` at its usual level, one
# metric at a time; anything else is *unsure*, as is anything with fewer than ten independent inputs.
#
# 1. **Separates.** It prefers explanations of real methods to random scores, clearly more often than not.
# 2. **Without mean importance.** It still does so when both explanations have the same mean importance: against a shuffled
#    copy, and as ranks. Metrics that use only the order of features pass by construction. SaCo was not tested.
# 3. **Prefers the truth.** On a model with a planted explanation it prefers the truth to a shuffled copy.
# 4. **Not worse after misleading.** On a model trained to misread erased inputs it follows the truth as well as before.
#    This question is about a change, so it does not decide: a metric that follows the truth very well may lose a little
#    and still be ahead. The recommendation needs no *no* to the first three questions, and an accuracy (the worse of
#    before and after) at most .1 below the best.

# %%
page.listing(
    table.rename(columns={"inputs needed": "inputs to separate real from random"}),
    "together_advice",
    digits=2,
    caption="Every metric: the four answers; n, the inputs under the answer that has fewest; rank correlation with how true "
    "explanations are, on the model trained as usual, on the misled one, and the worse of the two; inputs needed to "
    "separate real from random (– where these inputs do not); model calls for one explanation of one input",
)

# %% [markdown]
# ## Before you trust a number
#
# 1. **Add random scores** on the same inputs, always, and scores by length where features differ in length. A metric that
#    cannot separate your methods from these says nothing about them.
# 2. **Check what erased inputs do to your model.** Erase features at random and look at its predictions. If they drift
#    towards one class, use an erasure that the model knows, or train it on erased copies.
# 3. **Use two directions**, a metric that erases the most important features first and one that erases the least important
#    first. {doc}`together_agreement` shows how much more metrics of one direction agree.
# 4. **Count inputs before you rank methods.** Separating a method from noise takes the number in the table; separating two
#    good methods takes many more.
# 5. **Name the direction.** *Sufficiency* and *comprehensiveness* mean opposite things in different papers
#    ({doc}`../foundations/metrics`).
# 6. **Shuffle.** Where a metric uses how high scores are (soft metrics, SaCo), compare an explanation with a shuffled copy
#    of itself as well.
# 7. **Plausible is not faithful.** Agreement with people's highlights answers another question.
#
# A metric can find planted explanations and miss yours: planted ones are single words and cells, and yours may be
# combinations. {doc}`own_text_model` and {doc}`own_vision_model` run all metrics on your own model.

# %%
page.finish(note=f"n of the answer with fewest inputs: {table.n.min():.0f}")
