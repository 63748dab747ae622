# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metrics tell an explanation from random scores, and with how many pictures?
#
# Wu et al. {cite:p}`wu_2024` test metrics with random scores: a good metric should put them visibly below any
# explanation worth the name. They look at means. But SaCo of random scores is zero only on average; on one picture,
# with ten groups, it scatters with a standard deviation of about a third. So the practical question is another one: how
# many pictures does a metric need before the difference shows?
#
# **The paper has no counterpart to this page.** Nothing here is compared with published numbers but the fact that SaCo
# of random scores has mean zero ({doc}`saco_figures`). Data and models are **stand-ins**: `fashion` for CIFAR-10,
# `mnist` for CIFAR-100, `animals` for ImageNet, three small Vision Transformers of ours.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy.stats
from IPython.display import Markdown

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, quantities, reference, resampling, tables
from faithbook.results.figures import OURS, PALETTE
from faithbook.results.labels import label

run = start_run("saco_random", profile=profile)
figures.theme()
scores = load("saco_scores", profile)
# Which way each metric is better: times its sign, higher is better everywhere.
SIGN = {"saco": 1, "auc": -1, "aopc_morf": 1, "log_odds": -1, "aopc_lerf": -1}
CELL = ["metric", "method"]
datasets = list(dict.fromkeys(scores.dataset))
methods = [name for name in dict.fromkeys(scores.method) if name != "random"]
draws = sorted(scores[scores.method == "random"].draw.unique())
n_pictures = len(scores[["dataset", "input"]].drop_duplicates())
kind = "stand-ins" if {"fashion", "mnist", "animals"} & set(datasets) else "the paper's data sets"

# %% [markdown]
# ## How often, and by how much
#
# On each picture and model the explanation's score is set beside that of every drawing of random scores, all metrics
# turned so that higher is better. *Wins*: the share of strict wins, which is {term}`diagnosticity`. *Gap*: the mean
# difference. A tie is no win; AUC of one picture has only 21 possible values, so it ties often. Intervals are over
# pictures, each with its models and drawings.

# %%
keys = ["dataset", "model", "input"]
real = scores[scores.method != "random"].drop(columns="draw").merge(pd.DataFrame({"draw": draws}), how="cross")
both = pd.concat([real, scores[scores.method == "random"]], ignore_index=True)
long = both.melt(id_vars=[*keys, "method", "draw"], value_vars=list(SIGN), var_name="metric", value_name="value")
long["value"] *= long.metric.map(SIGN)
beside = quantities.against_random(long, on=[*keys, "metric", "draw"])
wins, gaps, ties = (resampling.over_inputs(beside, value=value, cells=CELL) for value in ("win", "gap", "tie"))
in_order = pd.MultiIndex.from_product([SIGN, methods], names=CELL)
shares, gap_table = (found.table().set_index(CELL).reindex(in_order) for found in (wins, gaps))
table = pd.DataFrame(
    {
        "estimate": shares.estimate,
        "low": shares.low,
        "high": shares.high,
        "ties": ties.estimate.reindex(in_order),
        "gap": gap_table.estimate,
        "gap low": gap_table.low,
        "gap high": gap_table.high,
        "n": shares.n,
        "dropped": shares.dropped,
    }
).reset_index()
table["above random"] = [
    claims.verdict(gaps.interval(metric=a, method=b)) for a, b in zip(table.metric, table.method, strict=True)
]
tables.table(
    reference.with_reference(table, "saco_random_wins", on=CELL),
    run,
    "saco_random_wins",
    caption="Every metric and method against random scores on the same picture: share of strict wins (estimate), share "
    "of ties, mean gap (above zero: the method does better), with 95 % bootstrap intervals over n pictures, and "
    "whether the gap is above zero; dropped: pictures on which a score is undefined under every model",
)

# %%
fig, axes = plt.subplots(1, len(SIGN), figsize=(8, 4.6), sharey=True, sharex=True)
spots = np.arange(len(methods))[::-1]
for ax, metric in zip(axes, SIGN, strict=True):
    part = table[table.metric == metric]
    ax.barh(spots, part.ties, left=part.estimate, height=0.35, color="0.85", label="ties", zorder=1)
    figures.dots(ax, part, spots, colour=OURS, width=1.5, ms=4, label="wins, 95 % interval")
    ax.axvline(0.5, color="#666666", ls=":", lw=1)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    ax.set_title(label(metric), fontsize="small")
    ax.grid(axis="y", visible=False)
axes[0].set_yticks(spots, [label(name) for name in methods], fontsize="small")
fig.supxlabel("share of wins over random scores", fontsize="small")
handles, names = axes[0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=2, fontsize="small")
by_metric = table.groupby("metric", sort=False)
figures.save(
    fig,
    run,
    "saco_random_wins_plot",
    alt="Dots with intervals, one panel a metric, one row a method: share of strict wins over random scores, ties as "
    "grey bars beside them. Mean share of wins: "
    + ", ".join(f"{label(m)} {v:.2f}" for m, v in by_metric.estimate.mean().items())
    + ". Mean share of ties: "
    + ", ".join(f"{label(m)} {v:.2f}" for m, v in by_metric.ties.mean().items())
    + ".",
    caption=f"How often an explanation beats random scores on the same picture ({n_pictures} pictures of "
    f"{len(datasets)} data sets, {scores.model.nunique()} models, {len(draws)} drawings; {kind}). Grey: ties. Dotted: "
    "one half.",
)

# %%
separated = by_metric["above random"].agg(lambda found: (found == claims.HOLDS).sum())
reversed_ = by_metric["above random"].agg(lambda found: (found == claims.FAILS).sum())
Markdown(
    f"Of {len(methods)} methods, by the interval of the gap: "
    + "; ".join(f"{label(m)} puts {separated[m]} above random scores and {reversed_[m]} below" for m in SIGN)
    + "."
)

# %% [markdown]
# A method below random scores is not a failure of the metric: the method may point at the wrong pixels. And a method
# above them is not proof that it is good. What a metric can be blamed for is to need many pictures for what another
# sees in few.

# %% [markdown]
# ## How many pictures
#
# The study imagined here is small and common: $n$ pictures, on each one model, one explanation, one random map, and a
# paired *t*-test at the level .05, two-sided. Its *power* is the chance that it comes out significant
# with the method ahead. Pictures, models and drawings are taken at random from what was run, with replacement, so the
# differences between data sets and models are part of the noise.
#
# Two ways to get it. Up to the number of pictures we have: **resampling**, which takes the differences as they are.
# Beyond: the **normal approximation**, power $= \Phi(\sqrt{n}\,\delta - 1.96)$ with $\delta$ the mean difference over
# its standard deviation. It also gives the number of pictures for a power of .8: $n = ((1.96 + .84) / \delta)^2$. The
# interval of that number is from the bootstrap of $\delta$ over pictures; its upper end is infinite where $\delta$ may
# be zero.

# %%
POWER, LEVEL = 0.8, 0.05
Z = scipy.stats.norm.ppf(1 - LEVEL / 2)
NEEDED = Z + scipy.stats.norm.ppf(POWER)
SIZES = np.array([5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000])
STUDIES = 1000
moments = {
    power: resampling.over_inputs(beside.assign(gap=beside.gap**power), value="gap", cells=CELL) for power in (1, 2)
}


def effect(first, second):
    """The mean over the standard deviation, from the mean and the mean square."""
    spread = np.sqrt((second - first**2).where(lambda v: v > 1e-15))
    return first / spread


def pictures_needed(delta):
    """Pictures for a power of .8 with the method ahead; infinite where it is not ahead, NaN where undefined."""
    with np.errstate(divide="ignore"):
        needed = np.where(delta > 0, (NEEDED / np.where(delta > 0, delta, 1.0)) ** 2, np.inf)
    return np.where(np.isnan(delta), np.nan, np.maximum(needed, 2))


def sign_test_needed(win, tie):
    """The same for the sign test, which leaves ties out: by the share of wins among what is no tie."""
    share = win / (1 - tie) if tie < 1 else np.nan
    if np.isnan(share) or share <= 0.5:
        return np.nan if np.isnan(share) else np.inf
    noise = Z * 0.5 + (NEEDED - Z) * np.sqrt(share * (1 - share))
    return max((noise / (share - 0.5)) ** 2, 6) / (1 - tie)  # below six pictures the test cannot reach .05


estimate = effect(moments[1].estimate, moments[2].estimate).reindex(in_order)
again = pd.DataFrame(
    {cell: effect(moments[1].draws[cell], moments[2].draws[cell]) for cell in in_order if cell in moments[1].draws}
).reindex(columns=in_order)
rows = []
for cell in in_order:
    low, high = again[cell].quantile(0.025), again[cell].quantile(0.975)
    rows.append(
        dict(zip(CELL, cell, strict=True))
        | {"effect": estimate[cell], "effect low": low, "effect high": high}
        | dict(zip(("estimate", "low", "high"), pictures_needed(np.array([estimate[cell], high, low])), strict=True))
        | {"sign test": sign_test_needed(wins.estimate[cell], ties.estimate[cell]), "n": int(wins.n[cell])}
    )
needed = pd.DataFrame(rows)
shown = needed.copy()
for column in ("estimate", "low", "high", "sign test"):  # whole pictures
    shown[column] = np.ceil(shown[column])
tables.table(
    reference.with_reference(shown, "saco_random_needed", on=CELL),
    run,
    "saco_random_needed",
    caption="Pictures needed to tell a method from random scores with power .8 (paired t-test, normal approximation), "
    "with 95 % bootstrap interval over the n pictures we have; inf: the method is not ahead, or may not be. Effect: "
    "mean difference over its standard deviation. Last: the same for the sign test",
)

# %% [markdown]
# SaCo has one advantage that no other metric here has: its mean over random scores is known. A study that uses it needs
# no random map and can test the mean against zero, which takes the noise of the random map away. The other metrics have
# no such known value; for them the random map is part of the price.

# %%
alone = beside[(beside.metric == "saco") & (beside.draw == draws[0])]
alone = {p: resampling.over_inputs(alone.assign(value=alone.value**p), value="value", cells=["method"]) for p in (1, 2)}
own = effect(alone[1].estimate, alone[2].estimate).reindex(methods)
own_draws = effect(alone[1].draws, alone[2].draws).reindex(columns=methods).quantile([0.025, 0.975])
against_zero = pd.DataFrame(
    {
        "method": methods,
        "against a random map": needed[needed.metric == "saco"]
        .set_index("method")
        .estimate.reindex(methods)
        .to_numpy(),
        "estimate": pictures_needed(own.to_numpy()),
        "low": pictures_needed(own_draws.loc[0.975].to_numpy()),
        "high": pictures_needed(own_draws.loc[0.025].to_numpy()),
        "n": alone[1].n.reindex(methods).to_numpy(),
    }
)
rounded = ["against a random map", "estimate", "low", "high"]
against_zero[rounded] = np.ceil(against_zero[rounded])
tables.table(
    reference.with_reference(against_zero, "saco_random_zero", on=["method"]),
    run,
    "saco_random_zero",
    caption="SaCo: pictures needed for power .8 against a random map of the same picture (as above) and against zero "
    "(estimate, with 95 % bootstrap interval over pictures)",
)

# %%
generator = np.random.default_rng(0)
largest = int(beside.groupby("dataset").input.nunique().sum())


def resampled_power(gap, n):
    """Share of imagined studies of n pictures that a paired t-test finds significant with the method ahead."""
    share = []
    for part in np.array_split(np.arange(STUDIES), max(1, STUDIES * n // 2_000_000)):  # bounded memory
        sample = gap[generator.integers(len(gap), size=(len(part), n))]
        spread = sample.std(axis=1, ddof=1)
        middle = sample.mean(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(spread > 0, middle / (spread / np.sqrt(n)), np.inf * np.sign(middle))
        share.append(t > scipy.stats.t.ppf(1 - LEVEL / 2, n - 1))
    return float(np.concatenate(share).mean())


rows = []
for cell in in_order:
    chosen = beside[(beside.metric == cell[0]) & (beside.method == cell[1])].gap.dropna().to_numpy()
    for n in SIZES:
        normal = scipy.stats.norm.cdf(np.sqrt(n) * estimate[cell] - Z)
        measured = resampled_power(chosen, int(n)) if len(chosen) and n <= largest else np.nan
        rows.append(dict(zip(CELL, cell, strict=True)) | {"pictures": int(n), "resampled": measured, "normal": normal})
power = pd.DataFrame(rows)
tables.table(
    power,
    run,
    "saco_random_power",
    caption="Power by number of pictures: resampled up to what we have, normal approximation everywhere",
    shown=False,
)

# %%
COLOURS = dict(zip(SIGN, (OURS, PALETTE[4], PALETTE[1], PALETTE[2], PALETTE[3]), strict=True))
MARKERS = dict(zip(SIGN, "osD^v", strict=True))
across = 3
fig, axes = plt.subplots(-(-len(methods) // across), across, figsize=(8, 2.1 * -(-len(methods) // across) + 0.8),
                         sharex=True, sharey=True, squeeze=False)  # fmt: skip
panels = axes.ravel()
for ax in panels[len(methods) :]:
    ax.set_visible(False)
for ax, method in zip(panels, methods, strict=False):
    for metric, colour in COLOURS.items():
        line = power[(power.metric == metric) & (power.method == method)]
        ax.plot(line.pictures, line.normal, "--", color=colour, lw=1.1, zorder=2)
        ax.plot(
            line.pictures, line.resampled, f"{MARKERS[metric]}-", color=colour, ms=3.5, label=label(metric), zorder=3
        )
    ax.axhline(POWER, color="#666666", ls=":", lw=1)
    ax.set_xscale("log")
    ax.set_ylim(-0.03, 1.03)
    ax.set_xticks([5, 50, 500, 5000], ["5", "50", "500", "5000"])
    ax.minorticks_off()
    ax.tick_params(labelsize=8)
    ax.set_title(label(method), fontsize="small")
fig.supxlabel("pictures", fontsize="small")
fig.supylabel("power", fontsize="small")
handles, names = panels[0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=5, fontsize="small")
median = needed.groupby("metric", sort=False).estimate.median()


def in_words(number):
    """A number of pictures for people; infinite: never."""
    if np.isnan(number):
        return "undefined"
    return "none" if np.isinf(number) else f"{np.ceil(number):.0f}"


figures.save(
    fig,
    run,
    "saco_random_power_plot",
    alt="Lines of power against the number of pictures, one panel a method, one colour a metric. Median over methods "
    "of the pictures needed for power .8: " + ", ".join(f"{label(m)} {in_words(v)}" for m, v in median.items()) + ".",
    caption="Chance that a study finds a method better than random scores. Marked lines: resampling, up to the "
    f"{largest} pictures we have. Dashed: normal approximation. Dotted: .8. A line that falls to zero: the metric "
    "prefers random scores.",
)

# %%
fig, ax = plt.subplots(figsize=(7.5, 0.5 * len(methods) + 1.4))
spots = np.arange(len(methods))[::-1]
CAP = 20_000
for i, (metric, colour) in enumerate(COLOURS.items()):
    part = needed[needed.metric == metric]
    place = spots + 0.15 * (2 - i)
    inside = part.estimate.clip(upper=CAP)
    ax.hlines(place, part.low.clip(upper=CAP), part.high.clip(upper=CAP), color=colour, lw=1.2, zorder=2)
    seen = part.estimate.le(CAP).to_numpy()
    ax.plot(inside[seen], place[seen], MARKERS[metric], color=colour, ms=5, label=label(metric), zorder=3)
    ax.plot(inside[~seen], place[~seen], ">", color=colour, mfc="white", ms=6, zorder=3)
ax.set_xscale("log")
ax.set_xlim(1.7, CAP * 1.3)
ax.axvline(largest, color="#666666", ls=":", lw=1)
ax.set_yticks(spots, [label(name) for name in methods], fontsize="small")
ax.set_xlabel("pictures for power .8 (log scale)")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, fontsize="small")
figures.save(
    fig,
    run,
    "saco_random_needed_plot",
    alt="Dots with intervals on a log scale: pictures needed for power .8, one row a method, one colour a metric; an "
    "arrow at the right edge where no number is enough. Methods that some number of pictures separates: "
    + ", ".join(
        f"{label(m)} {int(np.isfinite(g).sum())} of {len(g)}" for m, g in needed.groupby("metric", sort=False).estimate
    )
    + ".",
    caption="Pictures needed to tell a method from random scores. Arrows: never, because random scores are ahead (or "
    f"more than {CAP:,}). Dotted: the {largest} pictures we have; right of it, numbers are extrapolated.",
)

# %% [markdown]
# By data set the numbers differ, since one metric can be easily moved on one kind of picture and not on another. The
# same table for each data set:

# %%
rows = []
for dataset, part in beside.groupby("dataset", sort=False):
    for cell, group in part.groupby(CELL, sort=False):
        gap = group.gap.dropna()
        delta = gap.mean() / gap.std(ddof=0) if len(gap) and gap.std(ddof=0) > 1e-9 else np.nan
        rows.append({"dataset": dataset} | dict(zip(CELL, cell, strict=True))
                    | {"effect": delta, "estimate": float(pictures_needed(np.array([delta]))[0])}
                    | {"n": group.input.nunique()})  # fmt: skip
by_set = pd.DataFrame(rows)
tables.table(by_set, run, "saco_random_needed_datasets", caption="By data set", shown=False)

# %%
summary = by_set.groupby(["dataset", "metric"], sort=False).estimate.median().unstack("metric")[list(SIGN)]
summary.columns = [label(name) for name in summary.columns]
tables.table(
    np.ceil(summary).reset_index(),
    run,
    "saco_random_needed_summary",
    caption="Median over methods of the pictures needed for power .8, by data set; inf: at least half of the methods "
    "are not ahead of random scores",
)

# %% [markdown]
# ## The noise of random SaCo
#
# Where the saliences are equally spaced, SaCo is Spearman's rank correlation of ten numbers with ten others. If the
# drops come in random order it has mean 0 and standard deviation $1 / \sqrt{K - 1}$: .50, .33 and .23 for $K$ of 5, 10
# and 20 groups. Here is what random scores get from our models. The last column is the number of pictures that brings
# the mean to within .02 of zero (95 %), with one random map and one model to a picture.

# %%
groups = load("saco_group_counts", profile)
columns = ["dataset", "model", "k", "input", "draw", "saco"]
at_random = pd.concat([frame.loc[frame.method == "random", columns] for frame in (scores, groups)], ignore_index=True)
parts = {
    p: resampling.over_inputs(at_random.assign(power=at_random.saco**p), value="power", cells=["k"]) for p in (1, 2)
}
rows = []
for k in sorted(at_random.k.unique()):
    spread = np.sqrt((parts[2].draws[k] - parts[1].draws[k] ** 2).clip(lower=0))
    own = float(np.sqrt(max(parts[2].estimate[k] - parts[1].estimate[k] ** 2, 0)))
    rows.append({"k": int(k), "theory": 1 / np.sqrt(k - 1), "estimate": own, "low": spread.quantile(0.025)}
                | {"high": spread.quantile(0.975), "n": int(parts[1].n[k])}
                | {"values": int(at_random[at_random.k == k].saco.notna().sum()), "mean": parts[1].estimate[k]}
                | {"pictures for .02": np.ceil((Z * own / 0.02) ** 2)})  # fmt: skip
noise = pd.DataFrame(rows)
tables.table(
    reference.with_reference(noise, "saco_random_noise", on=["k"]),
    run,
    "saco_random_noise",
    caption="Standard deviation of SaCo of random scores over pictures, models and drawings, with 95 % bootstrap "
    "interval over pictures, beside the theory; pictures that bring the mean to within .02",
)

# %%
fig, ax = plt.subplots(figsize=(6.5, 3.2))
curve = np.arange(4, 25)
ax.plot(curve, 1 / np.sqrt(curve - 1), color="0.5", lw=1.5, label=r"theory, $1/\sqrt{K-1}$")
ax.vlines(noise.k, noise.low, noise.high, color=OURS, lw=2, zorder=3)
ax.plot(noise.k, noise.estimate, "o", color=OURS, label="random scores, 95 % interval", zorder=4)
ax.set_xticks(noise.k)
ax.set_ylim(0, None)
ax.set_xlabel("number of groups K")
ax.set_ylabel("standard deviation")
ax.legend(fontsize="small")
figures.save(
    fig,
    run,
    "saco_random_noise_plot",
    alt="Standard deviation of SaCo of random scores against the number of groups, dots on a falling curve: "
    + ", ".join(f"K = {r.k}: {r.estimate:.2f} (theory {r.theory:.2f})" for r in noise.itertuples())
    + ".",
    caption="How much SaCo of random scores scatters from picture to picture, beside the theory: more groups, less "
    "scatter.",
)

# %%
inside = [row.k for row in noise.itertuples() if row.low <= row.theory <= row.high]
Markdown(
    "Theory lies within the interval at "
    + (", ".join(f"K = {k}" for k in inside) if inside else "no number of groups")
    + f" (of {', '.join(f'K = {k}' for k in noise.k)}). "
    + " ".join(
        f"At K = {row.k} the standard deviation is {row.estimate:.2f} [{row.low:.2f}, {row.high:.2f}], so a mean "
        f"within .02 of zero takes about {in_words((Z * row.estimate / 0.02) ** 2)} pictures."
        for row in noise.itertuples()
    )
)

# %% [markdown]
# ## What follows

# %%
ranked = median.sort_values()
reached = needed.groupby("metric", sort=False).estimate.agg(lambda v: (v <= largest).sum())
few, many = ranked.index[0], ranked.index[-1]
saco_alone = [
    label(method)
    for method in methods
    if (found := needed[needed.method == method].set_index("metric")["effect low"])["saco"] > 0
    and not (found.drop("saco") > 0).any()
]
others_only = [
    label(method)
    for method in methods
    if not (found := needed[needed.method == method].set_index("metric")["effect low"])["saco"] > 0
    and (found.drop("saco") > 0).any()
]
Markdown(
    f"On {n_pictures} pictures ({kind}), the metric that needs the fewest pictures to tell a typical method from "
    f"random scores is {label(few)} (median over methods {in_words(ranked[few])}), the one that needs the most "
    f"{label(many)} ({in_words(ranked[many])}); SaCo needs {in_words(median['saco'])}. With the {largest} pictures at "
    "hand, power .8 is reached for "
    + ", ".join(f"{reached[m]} of {len(methods)} methods by {label(m)}" for m in SIGN)
    + f". Seen by SaCo only: {', '.join(saco_alone) or 'none'}. Seen by others but not by SaCo: "
    f"{', '.join(others_only) or 'none'} (by the interval of the effect)."
    + (" At this size the numbers mean nothing." if n_pictures < claims.FEWEST_UNITS * len(datasets) else "")
)

# %% [markdown]
# Two limits. A number of pictures is about this test and these models; another model moves it. And power says how fast
# a difference is seen, not whether what is seen is faithfulness: a metric that rewards the wrong thing can do so very
# reliably.

# %%
run.provenance(n=n_pictures)

# %%
run.finish()
