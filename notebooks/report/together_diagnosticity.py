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

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, page, published, quantities, reference, resampling, scoreboard, tables
from faithbook.results.figures import PALETTE
from faithbook.results.labels import label
from faithlib.catalogue import FAITHFULNESS, FAMILIES

run = start_run("together_diagnosticity", profile=profile)
figures.theme()
values = load("together_values", profile)
values["good"] = values.value.where(values.direction == "higher", -values.value)
modalities = list(dict.fromkeys(values.modality))
n_inputs = values.groupby("modality").apply(lambda part: len(part[["dataset", "input"]].drop_duplicates()))
n_of = values.dropna(subset=["value"]).groupby(["modality", "metric"]).input.nunique()
OF = {name: family for family, one in FAMILIES.items() for name in one.directions}
EVERYWHERE = [*FAITHFULNESS, *FAMILIES["simplicity"].directions]

# %% [markdown]
# ## How often
#
# The share of (input, method) in which the method's value is better than that of random scores; a tie counts half, as it
# tells nothing (the paper counts it as lost; the share of ties is beside). Chance is one half. One random attribution an
# input; intervals draw inputs again, with all their methods.

# %%
wins = quantities.against_random(values, on=["modality", "dataset", "input", "metric"], value="good")
wins["prefers"] = wins.win + wins.tie / 2
power = resampling.over_inputs(wins, value="prefers", cells=["modality", "method", "metric"])
ties = resampling.over_inputs(wins, value="tie", cells=["modality", "method", "metric"])
of_input = wins.groupby(["modality", "metric", "dataset", "input"]).prefers.mean()
POWERED = 1.96 + 0.84  # standard errors from chance that a 95 % interval leaves out four times in five


def inputs_needed(modality, metric):
    """How many inputs (with all methods) tell the metric from chance four times in five; NaN where it is no better."""
    shares = of_input[modality, metric].dropna()
    gain = shares.mean() - 0.5
    return np.ceil((POWERED * shares.std() / gain) ** 2) if gain > 0 and len(shares) > 1 else np.nan


prices = load("together_costs", profile)
WHOLE = ["every metric", "all but NAOPC"]
alone = prices[prices.what.isin(FAMILIES)]
rows_of = (alone.rows_run / alone.inputs).groupby([alone.modality, alone.what]).mean()
table = pd.DataFrame(
    [
        {"modality": modality, "metric": metric, "family": OF[metric]}
        | power.interval(modality=modality, metric=metric).ends
        | {"ties": ties.interval(modality=modality, metric=metric).estimate}
        | {"inputs needed": inputs_needed(modality, metric), "rows an input": rows_of[modality, OF[metric]]}
        | {"n": int(n_of[modality, metric])}
        for modality in modalities
        for metric in EVERYWHERE
    ]
).sort_values(["modality", "estimate"], ascending=[True, False], ignore_index=True)
run.save(table, "diagnosticity_of_metrics")
table = reference.with_reference(table, "together_diagnosticity", on=["modality", "metric"])
tables.table(
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
ASKING = [name for name, family in FAMILIES.items() if family.asks_model]
MARKERS, TINTS = dict(zip(ASKING, "osD^vPX", strict=True)), dict(zip(ASKING, PALETTE, strict=True))
for ax, modality in zip(axes[0], modalities, strict=True):
    part = table[(table.modality == modality) & table.metric.isin(FAITHFULNESS)]
    for family, group in part.groupby("family", sort=False):
        ax.plot(group["rows an input"], group.estimate, MARKERS[family], color=TINTS[family], ms=8, label=family)
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
        "seconds": whole.seconds_all,
        "outside the model": 1 - whole.seconds_model / whole.seconds_core,
    }
)
tables.table(
    costs,
    run,
    "together_matrix_costs",
    digits=2,
    caption="The whole matrix: rows that metrics and erasing methods asked for and that the model ran; seconds of the "
    "whole call, gradients included; the share of the perturbation core's time that is not the model's",
)

# %% [markdown]
# ## What scores say, or how high they are?
#
# Soft metrics scale the scores of an input to between 0 and 1 and keep (Soft-NS) or drop (Soft-NC)
# elements in that proportion. So an attribution is judged by two things at once: *where* its scores are high, and how high
# they are on average, its *density*. Random scores have a density of about one half; a method that points at little has
# hardly any, keeps next to nothing, and loses to noise whatever it points at. Two controls take density out of the
# comparison: against the *same scores shuffled* among the features of the input, and with the *ranks* of the features in
# place of scores, which gives every attribution the same density, random ones too.

# %%
SOFT = list(FAMILIES["soft"].directions)
ON = ["modality", "dataset", "input", "metric"]
controls = load("together_controls", profile)
drawn = values[values.metric.isin(SOFT)].merge(controls[[*ON, "method"]].drop_duplicates(), on=[*ON, "method"])
own = drawn[drawn.method != "random"].assign(of=lambda frame: frame.method)
elsewhere = controls[(controls.control == "shuffled") & (controls.method != "random")]
itself = pd.concat([own, elsewhere.assign(of=elsewhere.method, method="random")])  # the stand-in for random scores
AGAINST = {
    "random scores": quantities.against_random(drawn, on=ON),
    "itself shuffled": quantities.against_random(itself, on=[*ON, "of"]),
    "random scores, both as ranks": quantities.against_random(controls[controls.control == "ranks"], on=ON),
}
freed = pd.concat([frame.assign(against=name) for name, frame in AGAINST.items()], ignore_index=True)
freed["prefers"] = freed.win + freed.tie / 2
n_freed = freed.dropna(subset=["prefers"]).groupby(["modality", "metric", "against"]).input.nunique()
freed_means = resampling.over_inputs(freed, value="prefers", cells=["modality", "method", "metric", "against"])
freed_table = pd.DataFrame(
    [
        {"modality": modality, "metric": metric, "against": against}
        | freed_means.interval(modality=modality, metric=metric, against=against).ends
        | {"n": int(n_freed[modality, metric, against])}
        for modality in modalities
        for metric in SOFT
        for against in AGAINST
    ]
)
tables.table(
    reference.with_reference(freed_table, "together_density", on=["modality", "metric", "against"]),
    run,
    "together_density",
    digits=2,
    caption="How often a soft metric prefers a real attribution, mean over methods and data sets with 95 % interval over n "
    "inputs, by what it is compared with; a tie counts half, chance is one half",
)

# %%
density = resampling.over_inputs(
    controls[(controls.control == "shuffled") & (controls.metric == SOFT[0])],
    value="density",
    cells=["modality", "method"],
)
fig, axes = plt.subplots(1, len(modalities), figsize=(9.5, 4.2), sharey=True, squeeze=False)
told = []
for ax, modality in zip(axes[0], modalities, strict=True):
    names = [name for name in dict.fromkeys(controls[controls.modality == modality].method) if name != "random"]
    where = [density.estimate[modality, name] for name in names]
    for i, against in enumerate(("random scores", "itself shuffled")):
        shares = [freed_means.estimate[modality, name, SOFT[0], against] for name in names]
        ax.plot(where, shares, "os"[i], color=PALETTE[i], ms=7, label=f"against {against}")
    told += [
        f"{modality}, {label(name)}: density {x:.2f}, against random scores "
        f"{freed_means.estimate[modality, name, SOFT[0], 'random scores']:.2f}, against itself shuffled "
        f"{freed_means.estimate[modality, name, SOFT[0], 'itself shuffled']:.2f}"
        for name, x in zip(names, where, strict=True)
    ]
    ax.axvline(density.estimate[modality, "random"], color="#666666", ls="--", lw=1)
    ax.axhline(0.5, color="#666666", ls=":", lw=1)
    ax.set_title(modality)
    ax.set_xlabel("density: mean score, scaled to 0–1")
axes[0, 0].set_ylabel(f"prefers the attribution ({label(SOFT[0])})")
handles, names = axes[0, 0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=2, fontsize="small")
figures.save(
    fig,
    run,
    "together_density_plot",
    alt=f"Scatter plots, a point a method: how often {label(SOFT[0])} prefers it, over its density. {'; '.join(told)}.",
    caption=f"How often {label(SOFT[0])} prefers an attribution to random scores and to itself shuffled, over how dense "
    "the attribution is; dashed: the density of random scores; dotted: chance. A point a method.",
)

# %% [markdown]
# ## The metric that needs a second input
#
# Cross-lingual faithfulness {cite:p}`zaman_belinkov_2022` compares what a method says of a sentence and of its translation,
# so it is no column of the table above. {doc}`crosslingual_floors` has it on texts, with its floors. A picture's
# counterpart of a translation is its mirror image, which shows the same, cell by cell. A map of closeness to the middle,
# which has seen neither model nor picture, is its own mirror image: this metric finds it perfect, as it finds word length
# good on texts. Agreement with a second input tells noise from attributions, and does not tell reasons from habits.

# %%
mirrored = load("together_mirrored", profile)
rho = resampling.over_inputs(mirrored, value="rho", cells=["method"])
over_noise = resampling.over_inputs(
    quantities.against_random(mirrored.assign(metric="rho"), on=["dataset", "input"], value="rho"),
    value="win",
    cells=["method"],
)
rho_table = pd.DataFrame(
    [
        {"method": label(name)}
        | rho.interval(method=name).ends
        | {"above random": np.nan if name == "random" else over_noise.estimate[name]}
        | {"n": int(rho.n[name]), "undefined": int(rho.dropped[name])}
        for name in dict.fromkeys(mirrored.method)
    ]
).sort_values("estimate", ascending=False, ignore_index=True)
tables.table(
    reference.with_reference(rho_table, "together_mirrored_rho", on=["method"]),
    run,
    "together_mirrored_rho",
    digits=2,
    caption="Rank correlation of a picture's scores with those of its mirror image, mean with 95 % interval over n "
    "pictures (undefined: constant maps), and how often it is above that of random scores of the same picture. "
    f"The model predicts the same class for both in {mirrored.same_class.mean():.0%}",
)

# %% [markdown]
# ## Answers

# %%
HARD_OF = {"soft_ns": "ns", "soft_nc": "nc"}
parts = []
for modality in modalities:
    for metric in FAITHFULNESS:
        found = power.interval(lambda frame: frame.mean(axis=1) - 0.5, modality=modality, metric=metric)
        parts.append(claims.part("together_q3", f"{label(metric)} above chance, {modality}", found))
    for soft, hard in HARD_OF.items():
        found = power.difference({"modality": modality, "metric": soft}, {"modality": modality, "metric": hard})
        parts.append(claims.part("together_q4", f"{label(soft)} less {label(hard)}, {modality}", found))
for modality in modalities:
    for metric in SOFT:
        for against in [name for name in AGAINST if name != "random scores"]:
            found = freed_means.interval(
                lambda frame: frame.mean(axis=1) - 0.5, modality=modality, metric=metric, against=against
            )
            parts.append(claims.part("together_q8", f"{label(metric)} against {against}, {modality}", found))
for name in dict.fromkeys(mirrored.method):
    if name not in ("random", "middle"):
        found = rho.difference({"method": name}, {"method": "random"})
        parts.append(claims.part("together_q9", f"{label(name)} less random", found))
parts = pd.DataFrame(parts)
tables.table(
    reference.with_reference(parts, "together_diagnosticity_parts", on=["claim", "part"]),
    run,
    "together_diagnosticity_parts",
    caption="Parts of the answers with 95 % intervals",
)

# %%
questions = published.index("questions").set_index("id").question
asked = {"together_q3": n_inputs, "together_q4": n_inputs, "together_q8": n_freed, "together_q9": rho.n}
verdicts = {
    name: (claims.every(parts.verdict[parts.claim == name]), int(n.min()), claims.parts_told(parts, name))
    for name, n in asked.items()
}
Markdown(page.verdict_list(verdicts, questions))

# %% [markdown]
# **What differs and why.** Zhao & Aletras average over five rationale lengths and whole texts; here texts are ten
# words or so, so that bounds can be searched, and short rationales are one word. Their diagnosticity counts ties as lost,
# which punishes metrics with few values. A metric's diagnosticity depends on the methods it is asked about: where half of
# them are no better than noise, a faithful metric *should* be near chance for these.
#
# Intervals cover the choice of inputs, not that of data sets, models, methods or random draws.

# %%
scoreboard.save_verdicts(run, *((name, *line) for name, line in verdicts.items()))
run.provenance(n=", ".join(f"{n} {modality}" for modality, n in n_inputs.items()))

# %%
run.finish()
