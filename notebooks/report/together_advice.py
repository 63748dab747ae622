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
from faithbook.studies.safe.advice import decisions
from faithbook.studies.together.advice import PASSES, advice, quotable

page = start_page("together_advice", profile, values=values, paper=published.OUR_OWN)
NAMES = ("diagnosticity_of_metrics", "amounts_controlled", "truth_preferred", "truth_lost", "truth_tracked")
table = advice(*(load(name, profile) for name in NAMES))
page.run.save(quotable(table), "quotable")
needs = published.our_table("recommendations")
use = decisions(needs, *(load(name, profile) for name in ("safe_chosen", "safe_lowest", "safe_comparable")))
first = use.iloc[0]
no_need = use[use["safe"] == "no"]["you want"]
unsafe = f" Not safe, whatever you take: {'; '.join(no_need)}." if len(no_need) else ""
SPELT_OUT = {
    "SRG": "SRG, symmetric relevance gain: AOPC with the most relevant features first minus AOPC with the least relevant first"
}


def in_short():
    """The result of this page in a sentence."""
    return (
        f"If you have one model and do not know how it reads erased inputs, **use {first['use']}, next to random scores on the same "
        f"inputs** ({SPELT_OUT.get(first['use'], 'defined in *The metrics*')}). Under the worst error that is not made on purpose its "
        f"rank correlation with how true explanations are is {first['rank correlation']}. The table has other needs.{unsafe}"
    )


page.in_short(in_short)

# %% tags=["remove-input"]
page.listing(
    use,
    "together_decisions",
    wide=use,
    caption="What to use. Rank correlation with the truth: the lowest over the kinds of error that may happen (cautions: over all), "
    "with 95 % interval; safe: the interval is above .50; model calls: for one explanation of 20 features",
)

# %% [markdown]
# Table and rule are from {doc}`safe_map`: 395 models in closed form, declared before anything ran. *Comparison of several models* is from
# {doc}`safe_models`. **Limits.** Closed-form models, whose reasons have at most six features; {doc}`safe_trained` has the few trained
# ones. SRG owes its lead on errors that depend on *how much* is erased to the fact that it reads both ends, and it is among those that
# fall where the absence of one certain feature triggers the error. On *photographs* nothing was planted. On *language models* the
# truth is known of two tasks, on one small model: {doc}`language_bounds` shows whether measures prefer the sentence that has the
# answer, {doc}`language_contrast` which methods find the subject; the other advice is on {doc}`the overview <../language/overview>`.
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
# methods, metrics = ["occlusion", "lime", "random"], ["srg", "comprehensiveness_eraser"]
# print(evaluate(model, TEXTS, methods=methods, metrics=metrics).summary())
# ```
#
# ```text
# With these 6 texts both methods are better than random: occlusion on 2 and lime on 2 of 2 metrics.
#
#                             n     occlusion          lime        random
# comprehensiveness_eraser ↑  6  0.34 ± 0.12*  0.34 ± 0.12*  -0.02 ± 0.13
# srg ↑                       6  0.45 ± 0.17*  0.44 ± 0.17*  -0.16 ± 0.22
# ```
#
# **How to read it.** Erasing what occlusion or LIME mark lowers the model's probability by .34 on average; SRG is larger, because
# erasing what they do *not* mark also leaves the probability where it was. Random scores are not clearly different from 0 by
# either. A star says that the 95 % interval of the difference from random scores is on one side of 0, on these six texts. Six keep
# the example short; below, we call anything with fewer than ten inputs *unsure*. The two methods are level, so neither metric
# gives a reason to prefer one.

# %% tags=["remove-input"]
calls = table.set_index(["modality", "metric"])[PASSES]["text", "aopc_morf"]
Markdown(
    f"**What it costs.** SRG needs the model calls of both directions of AOPC: {calls:.0f} forward passes per explanation of our texts. "
    f"200 texts with three methods and random scores take 200 × 4 × {calls:.0f} = {200 * 4 * calls:,.0f} passes, in addition to "
    "those of the methods themselves."
)

# %% [markdown]
# ## How we know
#
# The table above rests on models whose truth is a formula. Before, each metric was tested in four ways on models that were
# trained on planted features, with *one* attack: a model that errs once more than a third of the features is gone. That condition
# is one row of the grid now. Every *yes* and *no* is a decision at the 5 % level, one metric at a time; anything else is
# *unsure*, as is anything with fewer than ten independent inputs.
#
# 1. **Separates.** It prefers explanations of real methods to random scores, clearly more often than not.
# 2. **Without mean importance.** It still does so when both explanations have the same mean importance: against a shuffled
#    copy, and as ranks. Metrics that use only the order of features pass by construction. SaCo was not tested.
# 3. **Prefers the truth.** On a model with a planted explanation it prefers the truth to a shuffled copy.
# 4. **Not worse after misleading.** On a model trained to misread erased inputs it follows the truth as well as before.
#    Whether a metric passes depends on the attack: comprehensiveness is struck in one of its five rationale lengths,
#    sufficiency in all five.

# %%
page.listing(
    table.rename(columns={"inputs needed": "inputs to separate real from random"}),
    "together_advice",
    digits=2,
    caption="Metrics on trained models: the four answers (n: of the answer with fewest inputs), rank correlation with the truth, "
    "inputs needed to separate real from random (– where these do not), model calls for one explanation",
)

# %% [markdown]
# **Why this table is kinder than the first.** Its rank correlations are of one attack and one training for each kind of input;
# those of the first table are the lowest over kinds of error. The attack is also milder than its formula: a trained model misreads
# some erasures and not others ({doc}`together_planted_truth`, first table), while in the formula every copy errs that has lost more
# than a third. Sufficiency, whose copies all have, therefore orders nothing there and something here. SRG was not a row of the runs
# behind this table; {doc}`together_planted_truth` has it for the same models, beside the two AOPC that it is made of.

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
# {doc}`own_text_model` and {doc}`own_vision_model` run all metrics on your own model.

# %%
page.finish(note=f"n of the answer with fewest inputs: {table.n.min():.0f}")
