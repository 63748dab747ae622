# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metric tells a real attribution from a random one?
#
# {term}`Diagnosticity` {cite:p}`chan_2022`: how often a metric prefers what an attribution method says to random scores
# of the same input. Zhao & Aletras {cite:p}`zhao_aletras_2023` report it for four metrics on texts; here it is asked of
# every metric, on texts and pictures, together with its price: how many inputs it takes to be sure, and how many rows of
# the model each attribution costs.
#
# A metric that prefers real attributions need not be right about which of them is faithful, and one that cannot even do
# that is of little use. Metrics that never ask the model (complexity, sparseness) stand beside as floors: an attribution
# can be told from noise by its looks.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithlib import compare, figures, study
from faithlib.evaluation import FAITHFULNESS, FAMILIES
from faithlib.figures import PALETTE, label

run = study.start("together_diagnosticity", profile=profile)
figures.theme()
values = study.load("together_values", profile)
values["good"] = values.value.where(values.direction == "higher", -values.value)
modalities = list(dict.fromkeys(values.modality))
n_inputs = values.groupby("modality").apply(lambda part: len(part[["dataset", "input"]].drop_duplicates()))
OF = {name: family for family, one in FAMILIES.items() for name in one.directions}
EVERYWHERE = [*FAITHFULNESS, *FAMILIES["simplicity"].directions]

# %% [markdown]
# ## How often
#
# The share of (input, method) in which the method's value is better than that of random scores; a tie counts half, as it
# tells nothing (the paper counts it as lost; the share of ties is beside). Chance is one half. One random attribution an
# input; intervals draw inputs again, with all their methods.

# %%
wins = compare.against_random(values, on=["modality", "dataset", "input", "metric"], value="good")
wins["prefers"] = wins.win + wins.tie / 2
power = compare.over_inputs(wins, value="prefers", cells=["modality", "method", "metric"])
ties = compare.over_inputs(wins, value="tie", cells=["modality", "method", "metric"])
of_input = wins.groupby(["modality", "metric", "dataset", "input"]).prefers.mean()
POWERED = 1.96 + 0.84  # standard errors from chance that a 95 % interval leaves out four times in five


def inputs_needed(modality, metric):
    """How many inputs (with all methods) tell the metric from chance four times in five; NaN where it is no better."""
    shares = of_input[modality, metric].dropna()
    gain = shares.mean() - 0.5
    return np.ceil((POWERED * shares.std() / gain) ** 2) if gain > 0 and len(shares) > 1 else np.nan


prices = study.load("together_costs", profile)
WHOLE = ["every metric", "all but NAOPC"]
alone = prices[prices.what.isin(FAMILIES)]
rows_of = (alone.rows_run / alone.inputs).groupby([alone.modality, alone.what]).mean()
table = pd.DataFrame(
    [
        {"modality": modality, "metric": metric, "family": OF[metric]}
        | power.interval(modality=modality, metric=metric).ends
        | {"ties": ties.interval(modality=modality, metric=metric).estimate}
        | {"inputs needed": inputs_needed(modality, metric), "rows an input": rows_of[modality, OF[metric]]}
        | {"n": int(n_inputs[modality])}
        for modality in modalities
        for metric in EVERYWHERE
    ]
).sort_values(["modality", "estimate"], ascending=[True, False], ignore_index=True)
run.save(table, "diagnosticity_of_metrics")
table = compare.with_reference(table, "together_diagnosticity", on=["modality", "metric"])
figures.table(
    table,
    run,
    "together_diagnosticity",
    digits=2,
    caption="Diagnosticity of every metric, mean over methods and data sets, with 95 % interval over n inputs; ties; the "
    "inputs needed to tell it from chance; rows of the model for one attribution of one input, by the metric's family",
)

# %%
fig, axes = plt.subplots(1, len(modalities), figsize=(9.5, 6), sharey=True, sharex=True, squeeze=False)
order = table.groupby("metric").estimate.mean().sort_values().index
places = np.arange(len(order))
for ax, modality in zip(axes[0], modalities, strict=True):
    part = table[table.modality == modality].set_index("metric").loc[order]
    asking = np.isin(order, FAITHFULNESS)
    figures.dots(ax, part[asking], places[asking], colour=PALETTE[0], label="asks the model")
    figures.dots(ax, part[~asking], places[~asking], colour=PALETTE[1], marker="s", label="never asks the model")
    ax.axvline(0.5, color="#666666", ls=":", lw=1)
    ax.set_title(f"{modality}, n = {n_inputs[modality]}")
    ax.set_xlabel("diagnosticity (ties count half)")
axes[0, 0].set_yticks(places, [label(name) for name in order])
handles, names = axes[0, 0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=2, fontsize="small")
spoken = ". ".join(
    f"{modality}: "
    + ", ".join(f"{label(r.metric)} {r.estimate:.2f}" for r in table[table.modality == modality].itertuples())
    for modality in modalities
)
figures.save(
    fig,
    run,
    "together_diagnosticity_plot",
    alt=f"Dot plots of the diagnosticity of every metric on texts and pictures, chance .5. {spoken}.",
    caption="How often each metric prefers a real attribution to a random one, 95 % intervals; dotted: chance.",
)

# %% [markdown]
# ## At what price
#
# Rows that the model runs for *one* attribution of one input, were the metric alone. Many metrics together share rows:
# the whole matrix takes far fewer than the sum.

# %%
fig, axes = plt.subplots(1, len(modalities), figsize=(9.5, 4.8), sharey=True, squeeze=False)
MARKERS = dict(zip([name for name in FAMILIES if name != "plausibility"], "osD^vPX*", strict=True))
for ax, modality in zip(axes[0], modalities, strict=True):
    part = table[(table.modality == modality) & table.metric.isin(FAITHFULNESS)]
    for i, (family, group) in enumerate(part.groupby("family", sort=False)):
        ax.plot(group["rows an input"], group.estimate, MARKERS[family], color=PALETTE[i % 7], ms=8, label=family)
    ax.axhline(0.5, color="#666666", ls=":", lw=1)
    ax.set_xscale("log")
    ax.set_title(modality)
    ax.set_xlabel("rows an input and attribution")
axes[0, 0].set_ylabel("diagnosticity")
handles, names = axes[0, 0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=len(handles), fontsize="small")
spoken = "; ".join(
    f"{modality}, {family}: {rows:.0f} rows" for (modality, family), rows in rows_of.items() if family != "simplicity"
)
figures.save(
    fig,
    run,
    "together_price_plot",
    alt=f"Scatter plots of diagnosticity against rows of the model for one attribution, a point a metric. {spoken}.",
    caption="Diagnosticity and price, a point a metric. Metrics of a family share their rows and stand above one another; "
    "which is which is in the table above.",
)

# %%
whole = prices[prices.what.isin(WHOLE)]
costs = pd.DataFrame(
    {
        "dataset": whole.dataset,
        "metrics": whole.what,
        "inputs": whole.inputs,
        "methods": whole.methods,
        "rows asked": whole.rows_asked,
        "rows run": whole.rows_run,
        "saved": 1 - whole.rows_run / whole.rows_asked,
        "rows an input and method": whole.rows_run / whole.inputs / whole.methods,
        "seconds": whole.seconds_all,
        "of which in the model": whole.seconds_model,
        "outside the model": 1 - whole.seconds_model / whole.seconds_core,
    }
)
figures.table(
    costs,
    run,
    "together_matrix_costs",
    digits=2,
    caption="The whole matrix: rows that metrics and erasing methods asked for and that the model ran; seconds of the "
    "whole call, gradients included; the share of the perturbation core's time that is not the model's",
)

# %% [markdown]
# ## Answers

# %%
HARD_OF = {"soft_ns": "ns", "soft_nc": "nc"}
parts = []
for modality in modalities:
    for metric in FAITHFULNESS:
        found = power.interval(lambda frame: frame.mean(axis=1) - 0.5, modality=modality, metric=metric)
        parts.append(compare.part("together_q3", f"{label(metric)} above chance, {modality}", found))
    for soft, hard in HARD_OF.items():
        found = power.difference({"modality": modality, "metric": soft}, {"modality": modality, "metric": hard})
        parts.append(compare.part("together_q4", f"{label(soft)} less {label(hard)}, {modality}", found))
parts = pd.DataFrame(parts)
figures.table(
    compare.with_reference(parts, "together_diagnosticity_parts", on=["claim", "part"]),
    run,
    "together_diagnosticity_parts",
    caption="Parts of the answers with 95 % intervals",
)

# %%
questions = compare.index("questions").set_index("id").question
verdicts = {
    name: (compare.every(parts.verdict[parts.claim == name]), int(n_inputs.min()), compare.parts_told(parts, name))
    for name in ("together_q3", "together_q4")
}
Markdown(figures.verdict_list(verdicts, questions))

# %% [markdown]
# **What differs and why.** Zhao & Aletras average over five rationale lengths and whole texts; here texts are ten
# words or so, so that bounds can be searched, and short rationales are one word. Their diagnosticity counts ties as lost,
# which punishes metrics with few values. A metric's diagnosticity depends on the methods it is asked about: where half of
# them are no better than noise, a faithful metric *should* be near chance for these.
#
# Intervals cover the choice of inputs, not that of data sets, models, methods or random draws.

# %%
compare.save_verdicts(run, *((name, *line) for name, line in verdicts.items()))
run.provenance(n=", ".join(f"{n} {modality}" for modality, n in n_inputs.items()))

# %%
run.finish()
