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
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Layout, dot_plot
from faithbook.stats.needed import smallest_detectable
from faithbook.studies.saco import wu
from faithbook.studies.together import questions
from faithbook.studies.together.advice import without_whole
from faithbook.studies.together.questions import CHANCE, FAMILY_OF, ITSELF, PHOTOGRAPHS, SOFT, YES, answer, by_cell
from faithlib.catalogue import FAITHFULNESS, FAMILIES

page = start_page("together_diagnosticity", profile, values=values, paper=published.OUR_OWN)
over = ["modality", "against", "method", "metric"]
measured = page.measure(
    "together_matrix", parts=["", "controls"], over=over, prepare=questions.preferred_to_chance, bounds=(0, 1)
)
mirrored = page.measure(
    "together_mirrored", over=["method"], prepare=lambda units: units[units.metric == "rho"], bounds=(-1, 1)
)
modalities = measured.levels("modality")
BOTH = ["modality", "metric"]
EVERYWHERE = [*FAITHFULNESS, *FAMILIES["simplicity"].directions]
preferred = {key: pair for key, pair in by_cell(measured, BOTH, against=CHANCE).items() if key[1] in EVERYWHERE}


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    asking = listed({key: pair for key, pair in preferred.items() if key[1] in FAITHFULNESS}, BOTH)
    return (
        "The metrics prefer a real attribution to a random one on this share of inputs and methods, the best and the worst metric: "
        + "; ".join(
            f"{label(part.metric.iloc[0])} {spoken(part.iloc[0], '.2f')} and {label(part.metric.iloc[-1])} {spoken(part.iloc[-1], '.2f')} on "
            f"{modality} (n = {part.n.min():.0f} inputs at least)"
            for modality, part in asking.sort_values("estimate", ascending=False).groupby("modality", sort=False)
        )
        + ". One half is chance."
    )


page.in_short(in_short)

# %% [markdown]
# {term}`Diagnosticity` {cite:p}`chan_2022` is how often a metric prefers the scores of an attribution method to random scores
# of the same input. {cite:t}`zhao_aletras_2023` report it for four metrics on texts. We compute it for every metric, on texts
# and images, with its price: how many inputs it takes to be sure, and how many forward passes each attribution costs.
#
# A metric that prefers real attributions need not know which of them is faithful, but one that does not even prefer them is
# of little use. Metrics that do not use the model (complexity, sparseness) are shown as baselines: the scores alone can show
# that an attribution is not noise.

# %% [markdown]
# ## How often
#
# The table has the share of pairs of input and method in which the method's value is better than that of random scores. A tie
# counts half (the paper counts it as lost; the share of ties is shown). Chance is one half. Each input has one random
# attribution; intervals come from resampling inputs with all their methods. We give the number of inputs that would separate
# a metric from chance only for metrics that these inputs separate, because for the others the effect may be zero. For those,
# *gain it would find* is the smallest gain over one half that the run would have found with a power of 80 %. Model calls are
# for *one* attribution of one input by one family of metrics, without the one on the whole input; several families share calls.

# %%
of_what = ["what", "methods", "dataset", "modality"]
prices = load("together_costs", profile).groupby(of_what, sort=False).sum(min_count=1, numeric_only=True).reset_index()
rows_of = questions.prices_of(measured, prices)
table = listed(preferred, BOTH)
table["family"] = table.metric.map(FAMILY_OF)
table["ties"] = [measured.mean(modality=a, metric=b, against=questions.TIES).ours.point for a, b in preferred]
table["above chance"] = [answer(pair.ours, 0.5) for pair in preferred.values()]
table["inputs needed"] = [questions.inputs_needed(pair.ours, 0.5) for pair in preferred.values()]
table["gain it would find"] = [smallest_detectable(pair.ours) for pair in preferred.values()]
table["model calls per input"] = [rows_of.get((modality, FAMILY_OF[metric]), np.nan) for modality, metric in preferred]
table = table.sort_values(["modality", "estimate"], ascending=[True, False], ignore_index=True)
page.run.save(table, "diagnosticity_of_metrics")
caption = "Diagnosticity of every metric, mean over methods and data sets, with 95 % interval over n inputs; rows are of " \
    "the same run as the answers"  # fmt: skip
page.listing(without_whole(table), "together_diagnosticity", digits=2, caption=caption)

# %% [markdown]
# **SRG**, AOPC with the most relevant features first minus AOPC with the least relevant first ({doc}`safe_map`), follows from these two
# on each input. No question of this page is about it.


# %%
def srg_preferred():
    """How often SRG prefers a real attribution, by modality."""
    asked = {"over": over, "prepare": questions.srg_preferred_to_chance, "bounds": (0, 1)}
    srg = Scores.read(page.run, "together_matrix", paper=published.OUR_OWN, **asked)  # no claim rests on it
    return listed(by_cell(srg, BOTH, against=CHANCE), BOTH)


page.listing(
    srg_preferred() if {"aopc_morf", "aopc_lerf"} <= set(measured.levels("metric")) else pd.DataFrame(),
    "together_srg_diagnosticity",
    digits=2,
    caption="Diagnosticity of SRG, mean over methods and data sets, with 95 % interval over n inputs; a tie counts half",
    empty="The two AOPC are not here.",
)

# %%
order = table.groupby("metric").estimate.mean().sort_values(ascending=False).index
ASKS, NEVER = "asks the model", "never asks the model"
drawn = table.assign(series=np.where(table.metric.isin(FAITHFULNESS), ASKS, NEVER))
drawn = drawn.sort_values("metric", key=lambda names: names.map(order.get_loc), kind="stable")
names = {one: label(one) for one in order} | {
    one: f"{one}, n = {part.n.max():.0f}, fewest {part.n.min():.0f}" for one, part in table.groupby("modality")
}
layout = Layout(panel="modality", series="series", columns=len(modalities), names=names, mark=0.5, width=9.5)
fig, alt = dot_plot(drawn, "diagnosticity (ties count half)", row="metric", layout=layout)
caption = (
    "How often each metric prefers a real attribution to a random one (more is better), 95 % intervals; dotted: chance."
)
page.figure(fig, "together_diagnosticity_plot", alt=alt, caption=caption)

# %%
whole = prices[~prices.what.isin([*FAMILIES, "controls"])]
costs = whole[["dataset", "inputs", "methods"]].assign(metrics=whole.what)
costs = costs.assign(**{"passes requested": whole.rows_asked, "passes computed": whole.rows_run})
costs = costs.assign(saved=1 - whole.rows_run / whole.rows_asked, seconds=whole.seconds_all)
costs["outside the model"] = 1 - whole.seconds_model / whole.seconds_core
caption = (
    "The whole matrix: rows that metrics and erasing methods asked for and that the model ran; seconds of the whole "
    "call, gradients included; the share of the perturbation core's time that is not the model's"
)
page.listing(costs, "together_matrix_costs", digits=2, caption=caption)

# %% [markdown]
# ## A convolutional network, on ImageNet
#
# The vision models above are small transformers. EfficientNet-Lite0 is a convolutional network of 4.7 million parameters with
# ImageNet's thousand classes. We explained its correct predictions by five methods that need no transformer, on patches of 32
# pixels, and computed the metrics of study 2 ({doc}`saco_stand_ins`). The table shows how often each metric prefers the
# method's scores to random ones; the other columns have the same for transformers.

# %%
if page.has("saco_imagenet"):
    network = page.measure(
        "saco_imagenet", over=["method", "metric"], prepare=wu.preferred_to_random, bounds=(0, 1), n_resamples=1999
    )
    of_network = {(metric,): network.mean(metric=metric) for metric in network.levels("metric")}
    net_table = listed(of_network, ["metric"]).drop(columns="published", errors="ignore")
    for modality in (one for one in modalities if one != questions.TEXT):
        there = {metric for kind, metric in preferred if kind == modality}
        net_table[modality] = [
            preferred[modality, one].ours.point if one in there else np.nan for one in net_table.metric
        ]
    caption = (
        "Diagnosticity with a convolutional network on ImageNet, mean over five methods, with 95 % interval over n images that "
        "it classifies correctly; and with transformers on small images and on photographs, over their methods"
    )
    display(page.listing(net_table, "together_diagnosticity_network", caption=caption, digits=2))
else:
    display(Markdown("*No image of ImageNet was measured.*"))

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
freed = by_cell(measured, AGAINST, metric=SOFT, against=[CHANCE, ITSELF, questions.RANKS])
control = listed(freed, AGAINST).assign(answer=[answer(pair.ours, 0.5) for pair in freed.values()])
page.run.save(control, "amounts_controlled")
caption = (
    "How often a soft metric prefers a real attribution, mean over methods and data sets with 95 % interval over n "
    "inputs, by what it is compared with; a tie counts half, chance is one half"
)
page.listing(control, "together_density", digits=2, caption=caption)

# %%
controls = load("together_controls", profile)
scored = controls[(controls.control == "shuffled") & (controls.metric == SOFT[0])]
density = scored.groupby(["modality", "method"], sort=False).density.agg(density="mean", texts="size").reset_index()
methods = by_cell(measured, ["modality", "method", "against"], metric=SOFT[0], against=[CHANCE, ITSELF])
with_density = listed(methods, ["modality", "method", "against"]).merge(density, on=["modality", "method"], how="left")
with_density = with_density.drop(columns="texts").sort_values(["modality", "against", "density"], ignore_index=True)
page.listing(
    with_density.rename(columns={"density": "mean importance"}),
    "together_density_methods",
    digits=2,
    caption=f"How often {label(SOFT[0])} prefers a method to random scores and to itself shuffled, with 95 % interval over n "
    "inputs, with its mean importance in this run, the mean score scaled to 0 to 1",
)

# %% [markdown]
# ## The metric that needs a second input
#
# Cross-lingual faithfulness {cite:p}`zaman_belinkov_2022` compares the explanations of a sentence and of its translation, so it
# is not in the table above. {doc}`crosslingual_floors` has it on texts, with baselines. For an image we use its mirror image
# instead of a translation, cell by cell. A map of closeness to the middle, which depends on neither model nor image, is its
# own mirror image: this metric rates it as perfect, as it rates the number of word pieces as good on texts. Agreement with a second input
# separates attributions from noise, but not from scores that ignore the model.

# %%
rho = {name: mirrored.mean(method=name) for name in mirrored.levels("method")}
cells = listed({(name,): pair for name, pair in rho.items()}, ["method"])
cells["less random"] = [(pair - rho["random"]).ours.point for pair in rho.values()]
cells["less the middle"] = [(pair - rho["middle"]).ours.point for pair in rho.values()]
caption = (
    "Rank correlation of an image's scores with those of its mirror image, mean with 95 % interval over n images "
    "(constant maps have none), and its lead over two baselines: random scores, and closeness to the middle"
)
page.listing(cells.sort_values("estimate", ascending=False), "together_mirrored_rho", digits=2, caption=caption)

# %% [markdown]
# ## Answers
#
# The questions are about texts and small images, because they were fixed before photographs were measured. Photographs are
# in the tables only.

# %%
HARD_OF = {"soft_ns": "ns", "soft_nc": "nc"}
asked_modalities = [modality for modality in modalities if modality != PHOTOGRAPHS]
q3 = {
    f"{label(metric)}, {modality}": pair
    for (modality, metric), pair in preferred.items()
    if metric in FAITHFULNESS and modality in asked_modalities
}
q4 = {
    f"{label(soft)} minus {label(hard)}, {modality}": preferred[modality, soft] - preferred[modality, hard]
    for modality in asked_modalities
    for soft, hard in HARD_OF.items()
}
q8 = {
    f"{label(m)} against {what}, {kind}": pair
    for (kind, m, what), pair in freed.items()
    if what != CHANCE and kind in asked_modalities
}
shuffled = {
    f"{label(metric)} against itself shuffled": pair
    for (kind, metric, what), pair in freed.items()
    if (kind, what) == (PHOTOGRAPHS, ITSELF)
}
page.quote("together_photographs", shuffled)
page.quote("together_mirrored", {"middle": rho["middle"]})
real = [name for name in rho if name not in ("random", "middle")]
q9 = {f"{label(name)} minus random": rho[name] - rho["random"] for name in real}
beaten = [name for name in real if answer((rho[name] - rho["middle"]).ours) == YES]
floor = (
    "Random scores are a lax baseline: a map of closeness to the middle, which knows neither model nor image, has "
    f"{rho['middle'].ours.point:.3f}, and {len(beaten)} of {len(real)} methods are clearly above that."
)
tested = page.test({"together_q3": q3, "together_q4": q4, "together_q8": q8, "together_q9": q9})
page.verdicts(tested)

# %%
Markdown(floor)

# %%
caption = "The parts of three answers; each needs its own right of the dotted line."
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
