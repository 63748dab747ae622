# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do the metrics agree?
#
# Each paper proposes a metric and shows what it says of some attributions. Here all of them score the same attributions
# of the same inputs, in text and vision alike: {doc}`what was run <../together/overview>`. Two metrics agree where they
# rank the methods alike.
#
# **How it is counted.** On each input, Spearman's rank correlation over the methods (without the random one) between two
# metrics, both turned so that higher is better; then the mean over inputs, with an interval that draws inputs again
# within their data set. 1: the same ranking on every input; 0: unrelated ones. Most metrics were made for one modality;
# {doc}`the overview <../together/overview>` says what became of them in the other.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import Markdown
from scipy.cluster.hierarchy import average, fcluster, leaves_list
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, page, published, reference, resampling, scoreboard, tables
from faithbook.results.figures import PALETTE
from faithbook.results.labels import label
from faithbook.results.resampling import less, lowest
from faithlib.catalogue import FAITHFULNESS, FAMILIES

run = start_run("together_agreement", profile=profile)
figures.theme()
values = load("together_values", profile)
values["good"] = values.value.where(values.direction == "higher", -values.value)
modalities = list(dict.fromkeys(values.modality))
n_inputs = values.groupby("modality").apply(lambda part: len(part[["dataset", "input"]].drop_duplicates()))
n_of = values.dropna(subset=["value"]).groupby(["modality", "metric"]).input.nunique()
OF = {name: family for family, one in FAMILIES.items() for name in one.directions}
MODEL_ASKING = list(FAITHFULNESS)
EVERYWHERE = [*MODEL_ASKING, *FAMILIES["simplicity"].directions]

# %% [markdown]
# ## The matrix
#
# Means of every metric for every method, over the inputs of each data set; the download has intervals. Arrows say which
# way is better. NS, NC and the soft metrics divide by what the empty input loses: where that is little, values lie far
# outside 0 to 1, and a few such inputs move a mean. Ranks, which the rest of the page uses, do not move.

# %%
power = resampling.over_inputs(values, value="value", cells=["modality", "dataset", "method", "metric"])
matrix = power.table().dropna(subset=["estimate"])
tables.table(
    reference.with_reference(matrix, "together_matrix", on=["modality", "dataset", "method", "metric"]),
    run,
    "together_matrix",
    caption="Every metric of every method on every data set, with 95 % intervals over n inputs",
    shown=False,
)

# %%
ARROWS = {"higher": "↑", "lower": "↓"}
direction = values.drop_duplicates("metric").set_index("metric").direction


def means_of(modality):
    """Means over the data sets of a modality, a row a method, a column a metric."""
    part = matrix[matrix.modality == modality]
    wide = part.pivot_table(index="method", columns="metric", values="estimate", sort=False)
    order = [name for name in OF if name in wide.columns]
    wide = wide[order].rename(columns={name: f"{label(name)} {ARROWS[direction[name]]}" for name in order})
    return wide.reset_index()


tables.table(
    means_of("text"),
    run,
    "together_means_text",
    digits=2,
    caption=f"Texts: mean of every metric over data sets ({n_inputs['text']} inputs in all)",
)

# %%
tables.table(
    means_of("vision"),
    run,
    "together_means_vision",
    digits=2,
    caption=f"Pictures: mean of every metric over data sets ({n_inputs['vision']} inputs in all)",
)

# %% [markdown]
# ## Who agrees with whom
#
# An input says nothing about two metrics where one of them gives all methods the same value; such inputs are left out
# of that pair, and counted in the download.


# %%
def correlations(part):
    """Spearman's rho over methods between all pairs of metrics on one input, in long form."""
    wide = part[part.method != "random"].pivot(index="method", columns="metric", values="good")
    found = wide.reindex(columns=[name for name in OF if name in wide.columns]).corr(method="spearman")
    return found.rename_axis(index="first", columns="second").stack(future_stack=True).rename("rho").reset_index()


keys = ["modality", "dataset", "input"]
pairs = pd.concat(
    [correlations(part).assign(**dict(zip(keys, key, strict=True))) for key, part in values.groupby(keys)],
    ignore_index=True,
)
pairs = pairs[pairs["first"] != pairs["second"]]
agreement = resampling.over_inputs(pairs, value="rho", cells=["modality", "first", "second"])
table = agreement.table()
tables.table(
    reference.with_reference(table, "together_agreement", on=["modality", "first", "second"]),
    run,
    "together_agreement",
    caption="Agreement of every pair of metrics, with 95 % intervals over n inputs (dropped: undefined)",
    shown=False,
)

# %%
together = table.groupby(["first", "second"]).estimate.mean().unstack()
common = [name for name in EVERYWHERE if name in together.index]
distance = 1 - together.loc[common, common].fillna(0).to_numpy()
np.fill_diagonal(distance, 0)
tree = average(squareform((distance + distance.T) / 2, checks=False))
order = [common[i] for i in leaves_list(tree)]
CLOSE, CLOSER = 0.5, 0.7  # mean correlations above which metrics form a cluster


def clustered(above):
    """Metrics in clusters with this mean correlation, in the order of the tree."""
    of = pd.Series(fcluster(tree, 1 - above, criterion="distance"), index=common)
    return [[name for name in order if of[name] == k] for k in dict.fromkeys(of[order])]


def frame(ax, above, **line):
    """Frames around clusters of a map."""
    at = 0
    for group in clustered(above):
        if len(group) > 1:
            ax.add_patch(plt.Rectangle((at, at), len(group), len(group), fill=False, ec="black", **line))
        at += len(group)


def in_words(above):
    """Clusters, and who is in none."""
    groups = [[label(name) for name in group] for group in clustered(above)]
    alone = ", ".join(group[0] for group in groups if len(group) == 1)
    return f"{'; '.join(', '.join(group) for group in groups if len(group) > 1) or 'none'}; alone: {alone or 'none'}"


def map_of(modality):
    """The agreement of a modality as a picture, metrics in the order of the tree."""
    shown = table[table.modality == modality].pivot(index="first", columns="second", values="estimate")
    extra = [name for name in FAMILIES["plausibility"].directions if name in shown.index]
    rows = [*order, *extra]
    shown = shown.reindex(index=rows, columns=rows)
    fig, ax = plt.subplots(figsize=(9.5, 8))
    sns.heatmap(
        shown,
        vmin=-1,
        vmax=1,
        cmap="PuOr_r",
        annot=True,
        fmt=".1f",
        annot_kws={"size": 7},
        square=True,
        cbar_kws={"label": "mean rank correlation over methods", "shrink": 0.7},
        xticklabels=[label(name) for name in rows],
        yticklabels=[label(name) for name in rows],
        ax=ax,
    )
    frame(ax, CLOSE, lw=2.5)
    frame(ax, CLOSER, lw=1.2, ls="--")
    ax.set(xlabel="", ylabel="")
    ax.tick_params(labelsize=8)
    return fig


figures.save(
    map_of("text"),
    run,
    "together_map_text",
    alt=f"Heat map of agreement of metrics on texts. Clusters over both modalities, above {CLOSE}: {in_words(CLOSE)}. Above "
    f"{CLOSER}: {in_words(CLOSER)}.",
    caption="Texts: mean rank correlation of two metrics over methods. Frames: metrics whose correlation, averaged over "
    f"the cluster and both modalities, is above {CLOSE}; dashed: above {CLOSER}.",
)

# %%
figures.save(
    map_of("vision"),
    run,
    "together_map_vision",
    alt="Heat map of agreement of metrics on pictures, in the order of the one on texts, with the same frames.",
    caption="Pictures: the same, in the same order.",
)

# %%
Markdown(f"Clusters above {CLOSE}: {in_words(CLOSE)}.\n\nAbove {CLOSER}: {in_words(CLOSER)}.")

# %% [markdown]
# ## Does SaCo stand apart?
#
# Wu et al. {cite:p}`wu_2024` find that the ranking of methods by SaCo correlates little with those by other metrics, and
# take that as a merit. They compare six. With all metrics of faithfulness side by side: how much does each agree with the
# rest, on average? Once as above, input by input, and once as in the paper: one ranking of the methods by their means.


# %%
def with_the_rest(name, modality):
    """The mean agreement of a metric with all other metrics of faithfulness: a function of the cells."""

    def function(frame):
        names = frame.columns
        chosen = (names.get_level_values("modality") == modality) & (names.get_level_values("first") == name)
        chosen &= names.get_level_values("second").isin([one for one in MODEL_ASKING if one != name])
        return frame.loc[:, chosen].mean(axis=1)

    return function


rest = pd.DataFrame(
    [
        {"modality": modality, "metric": name}
        | agreement.interval(with_the_rest(name, modality), modality=modality).ends
        | {"n": n_of[modality, name]}
        for modality in modalities
        for name in MODEL_ASKING
    ]
)


TURNED = np.where(direction[MODEL_ASKING] == "higher", 1, -1)


def rankings_agree(frame):
    """The same of one ranking a metric and data set, by means: frame of cells (modality, dataset, method, metric), a row
    a resample -> mean agreement with the rest, a column a metric of faithfulness; mean over data sets."""
    of_sets = []
    for _, part in frame.T.groupby("dataset"):
        part = part[part.index.get_level_values("method") != "random"]
        wide = part.unstack("metric").swaplevel(axis=1)[MODEL_ASKING]  # columns (metric, resample)
        shape = (len(wide), len(MODEL_ASKING), len(frame))
        ranks = rankdata(wide.to_numpy().reshape(shape), axis=0)
        scaled = (ranks - ranks.mean(axis=0)) * TURNED[:, None]
        with np.errstate(invalid="ignore"):  # a metric that gives all methods the same mean has no ranking
            scaled /= np.sqrt((scaled**2).sum(axis=0))
        rho = np.einsum("iar,ibr->rab", scaled, scaled)
        rho[:, np.arange(len(MODEL_ASKING)), np.arange(len(MODEL_ASKING))] = np.nan
        of_sets.append(np.nanmean(rho, axis=2))
    return pd.DataFrame(np.mean(of_sets, axis=0), columns=MODEL_ASKING, index=frame.index)


def of_modality(cells, modality):
    """The columns of a modality."""
    return cells.loc[:, cells.columns.get_level_values("modality") == modality]


of_means = pd.concat(
    [
        pd.DataFrame(
            {"by means": rankings_agree(of_modality(power.estimate.to_frame().T, modality)).iloc[0]}
            | {f"by means, {end}": q for end, q in zip(("low", "high"), resampling.ends(drawn), strict=True)}
        ).assign(modality=modality)
        for modality in modalities
        for drawn in [rankings_agree(of_modality(power.draws, modality))]
    ]
)
rest = rest.merge(of_means.rename_axis("metric").reset_index(), on=["modality", "metric"], validate="one_to_one")
rest = reference.with_reference(rest, "together_rest", on=["modality", "metric"])
tables.table(
    rest,
    run,
    "together_rest",
    digits=2,
    caption="Mean agreement of each metric of faithfulness with all others, with 95 % intervals over n inputs: input by "
    "input, and of rankings of methods by their means",
)

# %%
fig, ax = plt.subplots(figsize=(7.5, 5.6))
by_mean = rest.groupby("metric").estimate.mean().sort_values()
places = np.arange(len(by_mean))
for i, modality in enumerate(modalities):
    part = rest[rest.modality == modality].set_index("metric").loc[by_mean.index]
    figures.dots(ax, part, places + 0.15 * (1 - 2 * i), colour=PALETTE[i], marker="os"[i], label=modality)
ax.set_yticks(places, [label(name) for name in by_mean.index])
ax.axvline(0, color="#666666", ls=":", lw=1)
ax.set_xlabel("mean agreement with all other metrics of faithfulness")
ax.legend(loc="lower right", fontsize="small")
spoken = "; ".join(f"{label(name)} {value:.2f}" for name, value in by_mean.items())
figures.save(
    fig,
    run,
    "together_rest_plot",
    alt=f"Dot plot of the mean agreement of each metric with all others, texts and pictures. Means of both: {spoken}.",
    caption="Who agrees with the rest: mean rank correlation with all other metrics of faithfulness, 95 % intervals.",
)

# %% [markdown]
# ## Answers
#
# NC, comprehensiveness, AOPC and NAOPC from the top (MoRF), AUC, log-odds, N-AUC and AUTPC erase the highest scores first;
# NS, sufficiency, AOPC and NAOPC from the bottom (LeRF) erase the lowest first. SaCo and soft metrics do neither.


# %%
def between(modality, *, same):
    """The mean agreement of pairs of metrics of faithfulness in one family, or in two: a function of the cells."""

    def function(frame):
        names = frame.columns
        first, second = names.get_level_values("first"), names.get_level_values("second")
        chosen = (names.get_level_values("modality") == modality) & first.isin(MODEL_ASKING) & second.isin(MODEL_ASKING)
        chosen &= np.array([(OF[a] == OF[b]) == same for a, b in zip(first, second, strict=True)])
        return frame.loc[:, chosen].mean(axis=1)

    return function


def lowest_less_saco(agreements):
    return agreements.drop(columns="saco").min(axis=1) - agreements.saco


TOP_FIRST = ["nc", "comprehensiveness_eraser", "aopc_morf", "naopc_morf", "auc", "log_odds", "n_auc", "autpc"]
BOTTOM_FIRST = ["ns", "sufficiency_eraser", "aopc_lerf", "naopc_lerf"]


def by_direction(modality, *, same):
    """The mean agreement of pairs of metrics of different families that erase in the same direction, or in two."""

    def function(frame):
        names = frame.columns
        pairs = list(zip(names.get_level_values("first"), names.get_level_values("second"), strict=True))
        sides = {name: side for side, group in enumerate((TOP_FIRST, BOTTOM_FIRST)) for name in group}
        chosen = [OF[a] != OF[b] and a in sides and b in sides and (sides[a] == sides[b]) == same for a, b in pairs]
        return frame.loc[:, (names.get_level_values("modality") == modality) & np.array(chosen)].mean(axis=1)

    return function


parts = []
for modality in modalities:
    inside = agreement.interval(
        less(between(modality, same=True), between(modality, same=False)), modality=modality, first=MODEL_ASKING,
        second=MODEL_ASKING,
    )  # fmt: skip
    parts.append(claims.part("together_q1", f"within less between families, {modality}", inside))
    directed = agreement.interval(
        less(by_direction(modality, same=True), by_direction(modality, same=False)), modality=modality,
        first=MODEL_ASKING, second=MODEL_ASKING,
    )  # fmt: skip
    parts.append(claims.part("together_q10", f"within less between directions, {modality}", directed))
    others = [with_the_rest(name, modality) for name in MODEL_ASKING if name != "saco"]
    apart = agreement.interval(
        less(lowest(others), with_the_rest("saco", modality)), modality=modality, first=MODEL_ASKING,
        second=MODEL_ASKING,
    )  # fmt: skip
    parts.append(claims.part("together_q2", f"lowest other metric less SaCo, {modality}", apart))
    of_means = power.interval(lambda frame: lowest_less_saco(rankings_agree(frame)), modality=modality)
    parts.append(claims.part("together_q2", f"the same of rankings by means, {modality}", of_means))
parts = pd.DataFrame(parts)
tables.table(
    reference.with_reference(parts, "together_agreement_parts", on=["claim", "part"]),
    run,
    "together_agreement_parts",
    caption="Parts of the answers with 95 % intervals",
)

# %%
questions = published.index("questions").set_index("id").question
verdicts = {
    name: (claims.every(parts.verdict[parts.claim == name]), int(n_inputs.min()), claims.parts_told(parts, name))
    for name in ("together_q1", "together_q2", "together_q10")
}
Markdown(page.verdict_list(verdicts, questions))

# %% [markdown]
# **What differs and why.** Wu et al. correlate the ranking of methods by their means, over thousands of pictures and one
# ranking a metric; here rankings are first compared on each input and the correlations averaged. Values of one input are
# noisy, which draws all correlations towards zero, those of coarse metrics (N-AUC and AUTPC count classes that stay) most
# of all; rankings by means have no such noise, and only ten methods to rank. Random attributions are left out; with them every metric that sees anything would agree a little with every other.
#
# Intervals cover the choice of inputs, not that of data sets, models or methods.

# %%
scoreboard.save_verdicts(run, *((name, *line) for name, line in verdicts.items()))
run.provenance(n=", ".join(f"{n} {modality}" for modality, n in n_inputs.items()))

# %%
run.finish()
