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
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import Markdown, display

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.judge.scores import Scores
from faithbook.show import hover
from faithbook.show.labels import label
from faithbook.show.numbers import listed
from faithbook.studies.together import questions
from faithbook.studies.together.questions import REST, Clusters, agreements, by_cell, correlations
from faithlib.catalogue import FAITHFULNESS, FAMILIES, METRICS

page = start_page("together_agreement", profile, values=values, paper=published.OUR_OWN)
PAIR = ["modality", "first", "second"]
measured = page.measure("together_matrix", over=PAIR, prepare=agreements, rows=correlations, bounds=(-1, 1))
contrasts = page.measure(
    "together_matrix", over=PAIR[:2], prepare=agreements, rows=questions.pair_contrasts, bounds=(-2, 2)
)
modalities = measured.levels("modality")
asking = [name for name in FAITHFULNESS if name in set(measured.levels("first"))]
every = by_cell(measured, PAIR)
pairs = {key: pair for key, pair in every.items() if key[2] != REST}
table = listed(pairs, PAIR)
agreeing = table[table["first"].isin(FAITHFULNESS) & table["second"].isin(FAITHFULNESS)]


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    table_of = {modality: agreeing.query("modality == @modality") for modality in modalities}
    return (
        "Two metrics rank the explanations of one input with a mean rank correlation of "
        + "; ".join(
            f"{part.estimate.mean():.2f} on {modality} ({len(part)} pairs of metrics, from {part.estimate.min():.2f} to "
            f"{part.estimate.max():.2f}; n = {part.n.min():.0f} inputs at least)"
            for modality, part in table_of.items()
        )
        + "."
    )


page.in_short(in_short)

# %% [markdown]
# Each paper proposes a metric and shows it on some attributions. We compute all metrics on the same attributions of the same
# inputs, both texts and images ({doc}`what was run <../together/overview>`). Two metrics agree if they rank the methods in the
# same order.
#
# **How it is counted.** On each input, Spearman's rank correlation over the methods (without the random one) between two
# metrics, both sign-flipped where needed so that higher is better. Then the mean over inputs, with an interval that resamples inputs within their data set. 1: the same ranking on every input; 0: unrelated ones. Most metrics were made for one modality;
# {doc}`the overview <../together/overview>` says how they are computed in the other.

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
matrix = listed(by_cell(scores, LABELS), LABELS)
# Turned back: what is shown is the metric as it is defined.
lower = matrix.metric.map(METRICS) == "lower"
ends = -matrix.loc[lower, ["estimate", "high", "low"]].to_numpy()
matrix.loc[lower, ["estimate", "low", "high"]] = ends
matrix.to_csv(page.run.path("together_matrix.csv"), index=False)


# %%
def means_of(modality):
    """Means over the data sets of a modality, one row per method, one column per metric."""
    part = matrix[matrix.modality == modality]
    wide = part.pivot_table(index="method", columns="metric", values="estimate", sort=False)
    order = [name for name in questions.FAMILY_OF if name in wide.columns]
    arrows = {name: f"{label(name)} {'↓' if METRICS[name] == 'lower' else '↑'}" for name in order}
    n = part.groupby(["metric", "dataset"]).n.max().groupby("metric").sum()
    fewest = ", ".join(label(name) for name in n.index[n == n.min()]) if n.min() < n.max() else ""
    caption = f"{modality}: mean of every metric over data sets ({n.max()} inputs in all"
    caption += f", {n.min()} for {fewest})" if fewest else ")"
    wide = wide[order].rename(columns=arrows).reset_index()
    return page.listing(wide, f"together_means_{modality}", digits=2, caption=caption)


for modality in modalities:
    display(means_of(modality))

# %% [markdown]
# ## Who agrees with whom
#
# If one of two metrics gives all methods of an input the same value, the pair leaves this input out. `together_agreement.csv` has every pair with its interval and n.

# %%
table.to_csv(page.run.path("together_agreement.csv"), index=False)

# %%
COLUMNS = ("estimate", "low", "high", "n")
CLOSE, CLOSER = 0.5, 0.7  # mean correlations above which metrics form a cluster
both = table[~table["first"].isin(FAMILIES["plausibility"].directions)]
both = both[~both["second"].isin(FAMILIES["plausibility"].directions)]
clusters = Clusters.of(both.groupby(["first", "second"]).estimate.mean().unstack())


def in_words(above):
    """Clusters, and who is in none."""
    groups = [[label(name) for name in group] for group in clusters.above(above)]
    alone = ", ".join(group[0] for group in groups if len(group) == 1)
    return f"{'; '.join(', '.join(group) for group in groups if len(group) > 1) or 'none'}; alone: {alone or 'none'}"


def map_of(modality):
    """The agreement of a modality as an image, metrics in the order of the tree."""
    part = table[table.modality == modality]
    shown = part.pivot(index="first", columns="second", values="estimate")
    texts = [
        f"{x:.3f} ({a:.3f} to {z:.3f}), n = {n}" for x, a, z, n in zip(*(part[name] for name in COLUMNS), strict=True)
    ]
    spoken = part.assign(said=texts).pivot(index="first", columns="second", values="said")
    rows = [*clusters.order, *(name for name in FAMILIES["plausibility"].directions if name in shown.index)]
    names = [label(name) for name in rows]
    fig, ax = plt.subplots(figsize=(9.5, 8))
    bar = {"label": "mean rank correlation over methods", "shrink": 0.7}
    style = {"vmin": -1, "vmax": 1, "cmap": "PuOr_r", "annot": True, "fmt": ".1f", "annot_kws": {"size": 7}}
    shown = shown.reindex(index=rows, columns=rows)
    sns.heatmap(shown, ax=ax, square=True, cbar_kws=bar, xticklabels=names, yticklabels=names, **style)
    hover.say_cells(ax, spoken.reindex(index=rows, columns=rows), names, names)
    for above, line in ((CLOSE, {"lw": 2.5}), (CLOSER, {"lw": 1.2, "ls": "--"})):
        ends = np.cumsum([0, *(len(group) for group in clusters.above(above))])
        for start, size in zip(ends, np.diff(ends), strict=False):
            if size > 1:
                ax.add_patch(plt.Rectangle((start, start), size, size, fill=False, ec="black", **line))
    ax.set(xlabel="", ylabel="")
    ax.tick_params(labelsize=8)
    named = f"Clusters over all modalities, above {CLOSE}: {in_words(CLOSE)}. Above {CLOSER}: {in_words(CLOSER)}."
    return page.figure(
        fig,
        f"together_map_{modality}",
        alt=f"Heat map of agreement of {len(rows)} metrics, {modality}. {named}",
        caption=f"{modality}: mean rank correlation of two metrics over methods. Frames: metrics whose correlation, "
        f"averaged over the cluster and all modalities, is above {CLOSE}; dashed: above {CLOSER}.",
    )


for modality in modalities:
    display(map_of(modality))

# %%
Markdown(f"Clusters above {CLOSE}: {in_words(CLOSE)}.\n\nAbove {CLOSER}: {in_words(CLOSER)}.")

# %% [markdown]
# ## Does SaCo differ from the others?
#
# {cite:t}`wu_2024` find that SaCo ranks images differently from four older metrics, which agree with one another, and
# take that as a merit: {doc}`saco_figures` has their question. Here the question is about methods, because metrics are for choosing among
# methods. With all metrics of faithfulness on the same inputs, how much does each agree with the
# rest on the ranking of methods, on average?

# %%
rest = {key[:2]: pair for key, pair in every.items() if key[2] == REST and key[1] in asking}
caption = "Mean agreement of each metric of faithfulness with all others, with 95 % intervals over n inputs"
page.listing(listed(rest, ["modality", "metric"]), "together_rest", digits=2, caption=caption)

# %% [markdown]
# **SRG**, AOPC with the most relevant features first minus AOPC with the least relevant first ({doc}`safe_map`), follows from these two
# on each input. No question of this page is about it.


# %%
def srg_with_others():
    """The agreement of SRG with every metric of faithfulness and with all of them."""
    asked = {"over": PAIR, "prepare": questions.srg_agreements, "bounds": (-1, 1)}
    srg = Scores.read(page.run, "together_matrix", paper=published.OUR_OWN, **asked)  # no claim rests on it
    pairs_of_srg = {(modality, second): pair for (modality, _, second), pair in by_cell(srg, PAIR).items()}
    faithful = {key: pair for key, pair in pairs_of_srg.items() if key[1] in (REST, *asking)}
    return listed(faithful, ["modality", "metric"])


page.listing(
    srg_with_others() if {"aopc_morf", "aopc_lerf"} <= set(asking) else pd.DataFrame(),
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
# An effect that is clearly not zero may still be too small to matter: if the whole interval is within 0.05 of zero
# the answer is *level*. The questions were written before photographs were measured, so they are about texts and small images.
# Photographs are in the tables only.

# %%
asked_modalities = [modality for modality in modalities if modality != questions.PHOTOGRAPHS]


def within_minus_between(groups, first):
    """The contrast of a kind of groups, by modality."""
    return {
        f"within minus between {groups}, {one}": contrasts.mean(modality=one, first=first) for one in asked_modalities
    }


q1 = within_minus_between("families", questions.INSIDE)
q2 = {
    f"{label(name)} minus SaCo, {modality}": pair - rest[modality, "saco"]
    for (modality, name), pair in rest.items()
    if name != "saco" and modality in asked_modalities and (modality, "saco") in rest
}
q10 = within_minus_between("directions", questions.ALIKE)
tested = page.test({"together_q1": q1, "together_q2": q2, "together_q10": q10})
page.verdicts(tested)

# %%
page.plot(
    tested, "together_rest_plot", caption="Every comparison behind the answers; each must be right of the dotted line."
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
