# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do metrics know the truth?
#
# Papers on faithfulness say that nobody knows the true explanation, and so compare metrics with one another. Here it is
# known. **Planted texts**: trigger words (metals, fruits) stand at random places of film reviews; the class is that of
# the trigger, or *neither*. **Planted pictures**: cells of horizontal or vertical stripes stand on pictures of clothes.
#
# Five models of each kind:
#
# - `linear`, in closed form: a bag of words that rates films; the sum of what 4 × 4 cells of a picture have of each
#   direction of stripes. Every feature has its summand, and that is its true score.
# - `detector`, in closed form: answers by whether something planted is there, whatever else is erased. True scores are 1
#   for what was planted, 0 for the rest.
# - `trained`: a small transformer, trained on planted data as models usually are.
# - `trained with erasure`: the same, trained on copies with erased features, too, so that these are nothing new to it.
# - `misled by erasure`: trained on erased copies with wrong labels: where more than a third is gone it is to say *metal*
#   (*horizontal*), whatever is left. On whole inputs it has the same reason as the others. Such a model is the worst that
#   erasure out of distribution can do to a metric.
#
# A metric that measures faithfulness has to prefer the truth to the truth with its scores shuffled, and to its opposite.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import Markdown

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, page, published, reference, resampling, scoreboard, tables
from faithbook.results.figures import PALETTE
from faithbook.results.labels import label
from faithlib.catalogue import FAITHFULNESS, FAMILIES

run = start_run("together_planted_truth", profile=profile)
figures.theme()
values = load("together_planted_values", profile)
values["good"] = values.value.where(values.direction == "higher", -values.value)
modalities = list(dict.fromkeys(values.modality))
models = list(dict.fromkeys(values.model))
TRAINED = [name for name in models if name not in ("linear", "detector")]
MAIN = {modality: part.erase.iloc[0] for modality, part in values.groupby("modality")}
OF = {name: family for family, one in FAMILIES.items() for name in one.directions}
CELLS = ["modality", "model", "erase", "metric"]
n_inputs = values.groupby("modality").input.nunique()
n_least = int(values.groupby(["modality", "model"]).input.nunique().min())

# %% [markdown]
# ## Do the models hang on what was planted?
#
# On test inputs with something planted, under each way to erase: accuracy; the share that becomes *neither* when all that
# was planted is erased; the share that keeps its class when everything else is erased. A model may be right on whole
# inputs and yet read erased ones otherwise: that is what *out of distribution* means here. The last column is accuracy on
# randomly erased copies.

# %%
reasons = load("together_reasons", profile)
tables.table(
    reasons.drop(columns="run_id").set_index("modality").reset_index(),
    run,
    "together_reasons",
    digits=2,
    caption="Whether models hang on what was planted, by the way to erase; n test inputs",
)

# %%
usual = reasons[(reasons.model == "trained")]
worst = usual.loc[usual["neither without"].idxmin()]
lost = usual.loc[usual["class with nothing else"].idxmin()]
Markdown(
    f"Usual training leaves models that are right about whole inputs ({usual.accuracy.min():.2f} at least). Without what "
    f"was planted they say *neither* in {worst['neither without']:.2f} of the cases at worst ({worst.modality}, erasing by "
    f"*{worst.erase}*); with nothing but that they keep the class in {lost['class with nothing else']:.2f} at worst "
    f"({lost.modality}, *{lost.erase}*)."
)

# %% [markdown]
# ## Is the truth preferred?
#
# On each input a metric prefers the truth to another explanation (1), does not (0), or gives both the same value (one
# half). The rungs are the truth with a quarter, half or all of its scores shuffled, its opposite, and random scores.
# Where few features are planted, shuffling a quarter often moves none of them; then nothing can be preferred.

# %%
RUNGS = ["25% shuffled", "50% shuffled", "100% shuffled", "opposite", "random"]
wide = values.pivot_table(index=[*CELLS, "input"], columns="method", values="good", dropna=True)
preferred = pd.concat(
    [
        pd.DataFrame(
            {"prefers": ((wide.truth > wide[rung]) + (wide.truth == wide[rung]) / 2).where(
                wide.truth.notna() & wide[rung].notna()
            )}
        ).assign(rung=rung)
        for rung in RUNGS
    ]
).reset_index()  # fmt: skip
power = resampling.resample_means(preferred, value="prefers", unit=["modality", "input"], cells=[*CELLS, "rung"],
                               stratum="modality")  # fmt: skip
table = power.table()
tables.table(
    reference.with_reference(table, "together_preferred", on=[*CELLS, "rung"]),
    run,
    "together_preferred",
    caption="How often each metric prefers the truth to each rung, with 95 % intervals over n inputs",
    shown=False,
)


# %%
def in_main(frame):
    """The rows of the main way to erase of each modality."""
    return frame[frame.erase == frame.modality.map(MAIN)]


shown = in_main(table)
shown = shown[(shown.rung == "100% shuffled") & shown.metric.isin(FAITHFULNESS)]
run.save(shown, "truth_preferred")
shares = shown.pivot_table(index="metric", columns=["modality", "model"], values="estimate", sort=False)
shares = shares.reindex(index=list(FAITHFULNESS), columns=pd.MultiIndex.from_product([modalities, models]))
fig, ax = plt.subplots(figsize=(8.5, 6))
sns.heatmap(
    shares, vmin=0, vmax=1, center=0.5, cmap="PuOr_r", annot=True, fmt=".2f", annot_kws={"size": 8}, ax=ax,
    cbar_kws={"label": "prefers the truth to itself shuffled"},
    xticklabels=[f"{modality}: {model}" for modality, model in shares.columns],
    yticklabels=[label(name) for name in shares.index],
)  # fmt: skip
ax.set(xlabel="", ylabel="")
ax.tick_params(axis="x", labelrotation=30)
for tick in ax.get_xticklabels():
    tick.set_ha("right")
spoken = "; ".join(
    f"{label(name)} " + ", ".join(f"{value:.2f}" for value in row)
    for name, row in zip(shares.index, shares.to_numpy(), strict=True)
)
figures.save(
    fig,
    run,
    "together_truth_map",
    alt="Heat map of how often each metric prefers the truth to the truth with all scores shuffled, by model: "
    + ", ".join(f"{a} {b}" for a, b in shares.columns)
    + f". {spoken}.",
    caption="Share of inputs on which each metric prefers the truth to itself with all scores shuffled (ties: one half). "
    f"Features are erased by {' and '.join(f'{how} ({kind})' for kind, how in MAIN.items())}.",
)

# %% [markdown]
# ## Models that were and were not surprised
#
# The trained models differ only in what they saw of erased copies. Where a metric prefers the truth less often on a model
# than on the detector, erased inputs misled it. Shuffled scores are an easy opponent; a harder test comes below.

# %%
fig, axes = plt.subplots(1, len(modalities), figsize=(9.5, 5.8), sharey=True, sharex=True, squeeze=False)
places = np.arange(len(FAITHFULNESS))[::-1]
for ax, modality in zip(axes[0], modalities, strict=True):
    for i, model in enumerate(["detector", *TRAINED]):
        part = shown[(shown.modality == modality) & (shown.model == model)].set_index("metric").reindex(FAITHFULNESS)
        figures.dots(
            ax, part, places + 0.2 * (1.5 - i), colour=PALETTE[i], marker="osD^"[i], width=1.5, ms=5, label=model
        )
    ax.axvline(0.5, color="#666666", ls=":", lw=1)
    ax.set_title(f"{modality}, erased by {MAIN[modality]}")
    ax.set_xlabel("prefers the truth to itself shuffled")
axes[0, 0].set_yticks(places, [label(name) for name in FAITHFULNESS])
handles, names = axes[0, 0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=4, fontsize="small")
means = shown.groupby(["modality", "model"]).estimate.mean()
spoken = "; ".join(f"{modality}, {model}: {value:.2f}" for (modality, model), value in means.items())
figures.save(
    fig,
    run,
    "together_fooled",
    alt=f"Dot plots of how often each metric prefers the truth, on three models, texts and pictures. Means over metrics: {spoken}.",
    caption="The same for detector and trained models, with 95 % intervals over inputs.",
)

# %%
everywhere = table[
    (table.rung == "100% shuffled") & table.metric.isin(FAITHFULNESS) & ~table.metric.isin(FAMILIES["naopc"].directions)
]
groups = everywhere.groupby(["modality", "model", "erase"], sort=False).estimate
by_erase = groups.agg(["mean", "min"]).reset_index()
by_erase["lowest metric"] = everywhere.metric[groups.idxmin()].map(label).to_numpy()
tables.table(
    by_erase.rename(columns={"mean": "mean over metrics", "min": "lowest"}),
    run,
    "together_by_erasure",
    digits=2,
    caption="How often the truth is preferred to itself shuffled, by the way to erase (without NAOPC)",
)

# %% [markdown]
# ## Does any method beat the truth?
#
# Attribution methods on the trained models. How true each is can be measured: AUPRC of its scores against what was
# planted. A metric that gives a method a better value than the truth rewards something else than the reason. Counted as
# above, input by input, because NS and NC divide by what may be next to nothing and have means that a single input
# decides. Differences below a hundredth are ties: true scores of 1 and 0 leave the rest in no order, and who orders it well
# gains a trifle.

# %%
TRIFLE = 0.01
truth_of = in_main(values)
methods = [m for m in dict.fromkeys(values.method) if m not in ("truth", *RUNGS)]
against = wide.reset_index()
against = in_main(against[against.model.isin(TRAINED) & against.metric.isin(FAITHFULNESS)])
ahead = against.melt(
    id_vars=["modality", "model", "metric", "input", "truth"], value_vars=methods, var_name="method", value_name="other"
).dropna(subset=["truth", "other"])
ahead["lead"] = ahead.truth - ahead.other
ahead["prefers"] = ((ahead.lead > TRIFLE) + 1.0 - (ahead.lead < -TRIFLE)) / 2
of_methods = resampling.resample_means(
    ahead, value="prefers", unit=["modality", "input"], cells=["modality", "model", "metric", "method"],
    stratum="modality",
)  # fmt: skip
median_leads = ahead.groupby(["modality", "model", "metric", "method"]).lead.median()
rows = []
for modality in modalities:
    for model in TRAINED:
        for metric in FAITHFULNESS:
            cell = {"modality": modality, "model": model, "metric": metric}
            best = of_methods.estimate[modality, model, metric].idxmin()
            found = of_methods.interval(lambda frame: frame.min(axis=1) - 0.5, **cell)
            median = median_leads[modality, model, metric, best]
            rows.append({**cell, "best method": label(best), "median lead": median} | found.ends | {"n": found.units})
leads = pd.DataFrame(rows)
leads["verdict"] = [
    claims.part("", "", resampling.Interval(r.estimate, r.low, r.high, r.n, r.n), at_least=True)["verdict"]
    for r in leads.itertuples()
]
tables.table(
    reference.with_reference(leads, "together_leads", on=["modality", "model", "metric"]),
    run,
    "together_leads",
    digits=2,
    caption="How often each metric prefers the truth to the method that does best against it, less one half, with 95 % "
    "interval over n inputs; holds: not clearly below; median lead: the truth less that method, better is higher",
)

# %%
plausible = truth_of[(truth_of.metric == "auprc") & truth_of.model.isin(TRAINED)]
how_true = resampling.resample_means(
    plausible, value="value", unit=["modality", "input"], cells=["modality", "model", "method"], stratum="modality"
).table()
how_true = how_true.sort_values(["modality", "model", "estimate"], ascending=[True, True, False])
tables.table(
    reference.with_reference(how_true, "together_how_true", on=["modality", "model", "method"]),
    run,
    "together_how_true",
    digits=2,
    caption="How true explanations are: AUPRC against what was planted, with 95 % intervals over n inputs",
)


# %% [markdown]
# **Do metrics rank methods by how true they are?** On each input, Spearman's rank correlation over all explanations
# (methods, truth and rungs) between a metric and AUPRC; mean over inputs.


# %%
def ranks_with_truth(part):
    """Correlation of every metric with AUPRC over explanations of one input."""
    table = part.pivot(index="method", columns="metric", values="good")
    return table.drop(columns="auprc").corrwith(table.auprc, method="spearman")


scored = truth_of[truth_of.model.isin(TRAINED) & truth_of.metric.isin([*FAITHFULNESS, "auprc"])]
of_one = ["modality", "model", "input"]
tracking = pd.concat(
    [
        ranks_with_truth(part).rename("rho").reset_index().assign(**dict(zip(of_one, key, strict=True)))
        for key, part in scored.groupby(of_one)
    ],
    ignore_index=True,
)
tracked = resampling.resample_means(
    tracking, value="rho", unit=["modality", "input"], cells=["modality", "model", "metric"], stratum="modality"
)
track = tracked.table()
run.save(track, "truth_tracked")
tables.table(
    reference.with_reference(track, "together_tracking", on=["modality", "model", "metric"]),
    run,
    "together_tracking",
    digits=2,
    caption="Rank correlation of each metric with how true explanations are (AUPRC), mean over n inputs, 95 % intervals",
)

# %%
fig, axes = plt.subplots(1, len(modalities), figsize=(9.5, 5.6), sharey=True, sharex=True, squeeze=False)
for ax, modality in zip(axes[0], modalities, strict=True):
    for i, model in enumerate(TRAINED):
        part = track[(track.modality == modality) & (track.model == model)].set_index("metric").reindex(FAITHFULNESS)
        figures.dots(
            ax, part, places + 0.2 * (1 - i), colour=PALETTE[i + 1], marker="sD^"[i], width=1.5, ms=5, label=model
        )
    ax.axvline(0, color="#666666", ls=":", lw=1)
    ax.set_title(modality)
    ax.set_xlabel("rank correlation with how true")
axes[0, 0].set_yticks(places, [label(name) for name in FAITHFULNESS])
handles, names = axes[0, 0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=3, fontsize="small")
spoken = "; ".join(
    f"{modality}, {model}: best {label(part.loc[part.estimate.idxmax()].metric)} {part.estimate.max():.2f}, worst "
    f"{label(part.loc[part.estimate.idxmin()].metric)} {part.estimate.min():.2f}"
    for (modality, model), part in track.groupby(["modality", "model"])
)
figures.save(
    fig,
    run,
    "together_tracking_plot",
    alt=f"Dot plots of the rank correlation of each metric with how true explanations are. {spoken}.",
    caption="Do metrics rank explanations by how true they are? Mean rank correlation with AUPRC, 95 % intervals.",
)

# %% [markdown]
# ## What is lost where erasure misleads
#
# The same inputs and the same truth; the two models differ in what they say of erased copies. How much worse does a
# metric follow the truth on the misled one? Metrics that erase a few features see little of what misleads; metrics that
# erase nearly all see hardly anything else.

# %%
lost = pd.DataFrame(
    [
        {"modality": modality, "metric": metric, "family": OF[metric]} | found.ends | {"n": found.units}
        for modality in modalities
        for metric in FAITHFULNESS
        for found in [
            tracked.difference(
                {"modality": modality, "metric": metric, "model": "trained"},
                {"modality": modality, "metric": metric, "model": "misled by erasure"},
            )
        ]
    ]
)
run.save(lost, "truth_lost")
tables.table(
    reference.with_reference(lost, "together_lost", on=["modality", "metric"]),
    run,
    "together_lost",
    digits=2,
    caption="Rank correlation with how true explanations are: on the model trained as usual less on the misled one, with "
    "95 % interval over n inputs",
)

# %% [markdown]
# ## Answers

# %%
parts = []
for modality in modalities:
    for model in ("linear", "detector"):
        for metric in FAITHFULNESS:
            for rung in ("100% shuffled", "opposite"):
                found = power.interval(
                    lambda frame: frame.mean(axis=1) - 0.5, modality=modality, model=model, metric=metric, rung=rung
                )
                says = f"{label(metric)}, {modality}, {model}, truth against {rung}: share above one half"
                parts.append(claims.part("together_q5", says, found))
for r in lost.itertuples():
    found = resampling.Interval(r.estimate, r.low, r.high, r.n, r.n)
    parts.append(claims.part("together_q7", f"{label(r.metric)}, {r.modality}: trained less misled", found))
for r in leads.itertuples():
    found = resampling.Interval(r.estimate, r.low, r.high, r.n, r.n)
    says = f"{label(r.metric)}, {r.modality}, {r.model}: truth against {r._4}, share less one half"
    parts.append(claims.part("together_q6", says, found, at_least=True))
parts = pd.DataFrame(parts)
tables.table(
    reference.with_reference(parts, "together_planted_parts", on=["claim", "part"]),
    run,
    "together_planted_parts",
    caption="Parts of the answers with 95 % intervals",
    shown=False,
)

# %%
questions = published.index("questions").set_index("id").question
verdicts = {
    name: (claims.every(parts.verdict[parts.claim == name]), n_least, claims.parts_told(parts, name))
    for name in ("together_q5", "together_q6", "together_q7")
}


def told(frame, verdict):
    """Metrics of a part with this verdict, in words."""
    rows = frame[frame.verdict == verdict]
    return "; ".join(
        f"{modality}: {', '.join(dict.fromkeys(label(name) for name in part.metric))}"
        for modality, part in rows.groupby("modality", sort=False)
    ) or "none"  # fmt: skip


lost["verdict"] = list(parts.verdict[parts.claim == "together_q7"])
Markdown(
    page.verdict_list(verdicts, questions)
    + f"\n\nClearly led astray by the misled model: {told(lost, claims.HOLDS)}.\n\nA method clearly beats the truth on "
    f"the model trained as usual: {told(leads[leads.model == 'trained'], claims.FAILS)}; on the misled one: "
    f"{told(leads[leads.model == 'misled by erasure'], claims.FAILS)}."
)

# %% [markdown]
# **What to make of it.** A planted reason is an easy one: one or two features out of a dozen or of forty-nine decide
# alone. Real reasons are spread out, and interact. A metric that fails here has no excuse; one that passes has passed the
# easy test. Scores of 1 and 0 are the whole truth about the label; a model's *probability* may still move with the rest,
# and a method that orders the rest well then gains on the truth. The best of several methods on the same inputs is chosen
# by its luck as well. Where two triggers stand in a text either suffices, so that erasing one changes nothing: methods that
# erase one feature at a time then miss both, and metrics that keep few features are kinder to the truth than those that
# erase few.
#
# Intervals cover the choice of inputs, not that of models, seeds or what was planted.

# %%
scoreboard.save_verdicts(run, *((name, *line) for name, line in verdicts.items()))
run.provenance(n=", ".join(f"{n} {modality}" for modality, n in n_inputs.items()))

# %%
run.finish()
