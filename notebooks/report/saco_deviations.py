# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Open points: what the paper does not say, and what it changes
#
# To compute SaCo one has to cut pixels into groups, erase a group, and compare pairs of groups. The paper
# {cite:p}`wu_2024` gives Algorithm 1 for the third step. The code released with it has 45 lines: the loop over pairs is
# there, and where groups are made and pixels erased there is an ellipsis. So both text and code leave open how the
# first two steps are done, and this page lists the open points, S1 to S12. For each: what is said, what we do, and how
# far the numbers move if it is done otherwise. Which choice the printed tables were made with cannot be told from
# outside.

# %% tags=["parameters"]
profile = "laptop"

# %%
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, reference, resampling, tables
from faithbook.results.figures import PALETTE
from faithbook.results.labels import label
from faithbook.results.rank_tests import tau_b

run = start_run("saco_deviations", profile=profile)
figures.theme()
varied = load("saco_settings", profile)
scores = load("saco_scores", profile)
groups = load("saco_group_counts", profile)
METRICS = ["saco", "auc", "aopc_morf", "log_odds", "aopc_lerf"]
METHODS = [
    "integrated_gradients",
    "grad_cam",
    "lrp",
    "partial_lrp",
    "transformer_attribution",
    "conservative_lrp",
    "raw_attention",
    "rollout",
    "transformer_mm",
    "attcat",
]
NAMES = {
    "group sums": "S1 sums of unequal groups",
    "last group larger": "S1 last group takes the rest",
    "rest dropped": "S1 rest left out",
    "nearest": "S2 nearest upsampling",
    "whole patches": "S2 whole patches",
    "random ties": "S3 equal scores shuffled",
    "nearest, random ties": "S2, S3 nearest and shuffled",
    "zero": "S4 the data set's mean colour",
    "blur": "S4 a blurred copy",
    "5 groups": "S5 five groups",
    "20 groups": "S5 twenty groups",
}
first = varied.model.iloc[0]
datasets = list(dict.fromkeys(varied.dataset))
n_pictures = len(varied[["dataset", "input"]].drop_duplicates())

# %% [markdown]
# ## How the effects are measured
#
# Our main setting: pixels as features, maps of patches brought to pixels by bilinear interpolation, ten groups with
# rounded bounds, weighed by the mean score of their pixels, equal scores in reading order, and the picture's own mean in
# the place of erased pixels. One point at a time is then done otherwise, on the same pictures with the same model and the same maps. Two numbers are reported,
# always *other choice less main setting*.
#
# - The **change** of a metric, averaged over the ten methods. The interval draws pictures again, each with both of its
#   values.
# - **Kendall's tau** between the ten methods' ranking in the main setting and in the other, by their means: 1 where
#   no two methods change places. Resamples are ranked anew. Two methods that nearly tie change places easily, so look
#   at the interval.
#
# The other four metrics are those that the paper compares SaCo with: AUC, AOPC, LOdds, and AOPC with the least relevant
# pixels first, which the paper calls comprehensiveness ({doc}`../foundations/metrics`).

# %%
here = varied[["dataset", "input"]].drop_duplicates()
counts = groups[(groups.model == first) & groups.k.ne(10)].merge(here, on=["dataset", "input"])
counts = counts.assign(setting=[f"{k} groups" for k in counts.k], metric="saco", value=counts.saco)
KEYS = ["dataset", "input", "method", "draw", "setting", "metric", "value"]
long = varied.melt(["dataset", "input", "method", "draw", "setting"], METRICS, "metric", "value")
long = pd.concat([long[KEYS], counts[KEYS]], ignore_index=True)
power = resampling.over_inputs(long, value="value", cells=["dataset", "setting", "metric", "method"])
asked = [name for name in NAMES if name in set(long.setting)]


def tau_with_main(setting, metric):
    """Kendall's tau of the methods' ranking in a setting with that in the main one: a function of the cells."""

    def means(frame, of):
        names = frame.columns
        chosen = (names.get_level_values("setting") == of) & (names.get_level_values("metric") == metric)
        columns = [frame.loc[:, chosen & (names.get_level_values("method") == m)].mean(axis=1) for m in METHODS]
        return np.stack([column.to_numpy() for column in columns], axis=1)

    return lambda frame: pd.Series(tau_b(means(frame, setting), means(frame, "main")), index=frame.index)


def effect(setting, metric, methods):
    """Change of a metric, other choice less main setting, averaged over methods."""
    cells = {"metric": metric, "method": methods}
    return power.difference(cells | {"setting": setting}, cells | {"setting": "main"})


rows, by_method = [], []
for setting in asked:
    for metric in METRICS if "groups" not in setting else ["saco"]:
        change = effect(setting, metric, METHODS)
        tau = power.interval(tau_with_main(setting, metric), metric=metric, method=METHODS, setting=[setting, "main"])
        single = {m: effect(setting, metric, [m]) for m in [*METHODS, "random"]}
        by_method += [
            {"setting": setting, "metric": metric, "method": m, "n": e.n}
            | {"estimate": e.estimate, "low": e.low, "high": e.high}
            for m, e in single.items()
        ]
        rows.append(
            {"setting": setting, "metric": metric, "n": n_pictures}
            | {"main": power.interval(setting="main", metric=metric, method=METHODS).estimate}
            | {"estimate": change.estimate, "low": change.low, "high": change.high}
            | {"tau": tau.estimate, "tau low": tau.low, "tau high": tau.high}
        )
effects, by_method = pd.DataFrame(rows), pd.DataFrame(by_method)

# %% [markdown]
# ## All effects at a glance

# %%
mine = effects[effects.metric == "saco"].set_index("setting").reindex(asked).reset_index()
alone = by_method[(by_method.metric == "saco") & (by_method.method != "random")]
fig, axes = plt.subplots(1, 2, figsize=(9, 0.42 * len(asked) + 1.5), sharey=True, width_ratios=[3, 2])
places = np.arange(len(asked))[::-1]
for place, setting in zip(places, asked, strict=True):
    values = alone[alone.setting == setting].estimate
    axes[0].plot(values, np.full(len(values), place), "|", color="#888888", ms=9, mew=1.2, zorder=1)
axes[0].plot([], [], "|", color="#888888", ms=9, label="single methods")
figures.dots(axes[0], mine, places, label="mean of ten methods")
figures.dots(axes[1], mine, places, columns=("tau", "tau low", "tau high"), colour=PALETTE[1], marker="D", ms=5)
axes[0].axvline(0, color="#666666", ls=":", lw=1)
axes[1].axvline(1, color="#666666", ls=":", lw=1)
axes[0].set_yticks(places, [NAMES[name] for name in asked])
axes[0].set_xlabel("change of SaCo")
axes[1].set_xlabel("tau with the main ranking")
axes[1].set_xlim(right=1.04)
for ax in axes:
    ax.grid(axis="y", visible=False)
axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize="small")
spoken = "; ".join(f"{NAMES[r.setting]}: {r.estimate:+.2f}, tau {r.tau:.2f}" for r in mine.itertuples())
figures.save(
    fig,
    run,
    "saco_deviations_plot",
    alt=f"Two dot plots, a row for each of {len(asked)} other choices. Left the change of SaCo averaged over ten methods, "
    f"with each method as a tick; right Kendall's tau with the main ranking of methods. {spoken}.",
    caption=f"What each choice changes in SaCo: its level (left; ticks are single methods) and the ranking of the methods "
    f"(right). {n_pictures} pictures of {', '.join(datasets)}, model `{first}`; 95 % bootstrap intervals over pictures.",
)

# %%
swayed = mine.loc[mine.tau.idxmin()]
shifted = mine.loc[mine.estimate.abs().idxmax()]
calm = mine[(mine.low <= 0) & (mine.high >= 0)]
Markdown(
    f"The ranking of the methods depends most on *{NAMES[swayed.setting]}* (tau {swayed.tau:.2f} "
    f"[{swayed['tau low']:.2f}, {swayed['tau high']:.2f}]), the level of SaCo most on *{NAMES[shifted.setting]}* "
    f"({shifted.estimate:+.3f} [{shifted.low:+.3f}, {shifted.high:+.3f}], from {shifted.main:.3f}). No shift of the level "
    f"can be told from zero for: {', '.join(NAMES[name] for name in calm.setting) or 'none'}."
)

# %%
ON = ["setting", "metric"]
tables.table(
    reference.with_reference(effects, "saco_deviations_effects", on=ON),
    run,
    "saco_deviations_effects",
    caption="Every effect: change of the mean over ten methods, and tau",
    shown=False,
)

# %%
tables.table(
    reference.with_reference(by_method, "saco_deviations_methods", on=[*ON, "method"]),
    run,
    "saco_deviations_methods",
    caption="Every effect by method",
    shown=False,
)


# %%
def shown(name, caption, *settings):
    """Some effects as a table, and in a sentence which methods' SaCo moves beyond doubt."""
    chosen = effects[effects.setting.isin(settings)].assign(setting=lambda f: f.setting.map(NAMES))
    if chosen.empty:
        display(Markdown("*Not measured in this profile.*"))
        return
    display(tables.table(chosen, run, name, caption=caption))
    lines = []
    for setting in settings:
        part = by_method[(by_method.setting == setting) & (by_method.metric == "saco")]
        clear = part[((part.low > 0) | (part.high < 0)) & (n_pictures >= claims.FEWEST_UNITS)]
        said = ", ".join(f"{label(r.method)} {r.estimate:+.3f}" for r in clear.itertuples()) or "none"
        lines.append(f"- {NAMES[setting]}: {said}")
    display(Markdown("Methods whose SaCo moves by an interval without zero:\n\n" + "\n".join(lines)))


# %% [markdown]
# ## S1: groups of equal size
#
# - *Said:* the pixels are divided into $K$ equally sized groups.
# - *Open:* a picture of 224 by 224 has 50,176 pixels, which neither 5, 10 nor 20 divides; nor do they divide the 784 of
#   our pictures.
# - *Here:* group $i$ holds the ranks from $(i-1)\,n/K$ to $i\,n/K$, rounded; sizes differ by one at most
#   (`remainder="spread"`). Measured: all that is left over goes to the last group (`"last"`), or belongs to none
#   (`"drop"`).
# - *Also here:* a group's salience is the mean of its scores (`reduce="mean"`), not their sum as in Eq. 1. For groups of
#   one size the two say the same. Where sizes differ, one pixel more makes a sum of positive scores larger, and a map that
#   is nearly flat is then weighed by the sizes and not by its scores. Measured: the sums (`"sum"`).

# %%
shown("saco_s1", "S1, group sizes: other choice less rounded bounds", "group sums", "last group larger", "rest dropped")

# %% [markdown]
# ## S2: from patches to pixels
#
# - *Said:* scores of patches are interpolated over the pixels.
# - *Open:* how. Bilinear interpolation makes a smooth map, in which a group is a blob with a soft edge through several
#   patches; with nearest neighbours a patch has one score and a group is made of patches, but for the one that is cut.
# - *Here:* bilinear, corners not aligned. Measured: nearest neighbours; and no pixels at all, patches as features.
#   Integrated gradients and LRP score pixels, so only the last of the two concerns them.

# %%
shown("saco_s2", "S2, upsampling: other choice less bilinear", "nearest", "whole patches")

# %% [markdown]
# ## S3: equal scores
#
# - *Said:* nothing.
# - *Open:* which of two pixels with equal scores comes first. After nearest-neighbour upsampling all pixels of a patch
#   are equal, and after clamping at zero all pixels that were below it.
# - *Here:* in reading order, so the same on every machine. Measured: in an order drawn by chance, for either
#   upsampling. Reading order cuts a patch into an upper and a lower part; chance scatters it.

# %%
shown("saco_s3", "S3, equal scores: other choice less main setting", "random ties", "nearest, random ties")

# %%
both = power.difference(
    {"metric": "saco", "method": METHODS, "setting": "nearest, random ties"},
    {"metric": "saco", "method": METHODS, "setting": "nearest"},
)
Markdown(f"Shuffling alone, with nearest-neighbour upsampling on both sides: {both} (n = {n_pictures}).")

# %% [markdown]
# ## S4: what takes the place of erased pixels
#
# - *Said:* the mean of the picture.
# - *Open:* of each channel or of all; before or after normalisation. Normalisation treats each channel by itself, so the
#   mean of a channel is the same pixel either way; a mean over all channels is not.
# - *Here:* per picture and channel. The stand-ins have one channel, so the open part cannot matter there. Measured:
#   zero in normalised pixels, which is the mean colour of the training data, and a blurred copy of the picture.

# %%
shown("saco_s4", "S4, replacement: other choice less the picture's mean", "zero", "blur")

# %% [markdown]
# ## S5: the number of groups
#
# - *Said:* $K = 10$ in the case study; Table 2 has 5, 10 and 20. For the figures and for Table 1 no $K$ is given.
# - *Here:* 10. That three cells of Table 1 equal cells of Table 2 at $K = 10$ is why.
#
# Fewer groups are larger, so each erases more, and there are fewer pairs. All pictures and models are on the
# {doc}`page of tables <saco_tables>`; the rows here have the same pictures and model as the rest of this page.

# %%
shown("saco_s5", "S5, number of groups: other number less ten", "5 groups", "20 groups")

# %% [markdown]
# ## S6: equal drops
#
# - *Said:* a pair is fulfilled where the first group costs at least as much as the second. The released loop has the
#   same sign, so an equal pair counts in full as a reward.
# - *Open:* nothing. But a model whose answer no group can move gets 1, the best mark, for every explanation.
# - *Here:* as said. `saco(..., ties="half")` gives equal pairs nothing. Measured on the pictures whose group values are
#   stored, a few of each data set.

# %%
UNIT = ["dataset", "input"]
tied = load("saco_ties", profile)
tied["change"] = tied.half - tied.satisfied
rows = []
for what in ("ties", "satisfied", "half", "change"):
    found = resampling.over_inputs(tied, value=what, cells=["dataset"])
    rows += [
        {"dataset": name, "quantity": what, "n": int(found.n[name])}
        | dict(zip(("estimate", "low", "high"), (i.estimate, i.low, i.high), strict=True))
        for name in datasets
        for i in [found.interval(dataset=name)]
    ]
equal = pd.DataFrame(rows)
tables.table(
    reference.with_reference(equal, "saco_s6", on=["dataset", "quantity"]),
    run,
    "saco_s6",
    caption="S6, equal drops: share of pairs of groups whose drops are equal to the last bit, SaCo as published and with "
    f"nothing for equal pairs, and the change; mean over methods, {len(tied[UNIT].drop_duplicates())} pictures",
)

# %% [markdown]
# ## S7: constant maps
#
# - *Said:* nothing. The released loop divides by the sum of all weights, which is zero where all groups have the same
#   salience: it stops with an error.
# - *Here:* such a map has no SaCo (NaN); it is left out of means, and how many there are is printed with every mean. The
#   other four metrics have a value even then, one that the tie rule alone has made.

# %%
lost = (
    scores[scores.method != "random"]
    .groupby(["dataset", "method"])
    .saco.agg(maps="size", constant=lambda v: v.isna().sum())
)
lost = lost.reset_index()
worst = lost[lost.constant > 0].sort_values("constant", ascending=False)
tables.table(lost, run, "saco_s7", caption="S7, constant maps, over all models", shown=len(worst) > 0)

# %%
said = "; ".join(f"{label(r.method)} on {label(r.dataset)} {r.constant} of {r.maps}" for r in worst.itertuples())
Markdown(f"Constant maps, all models and pictures of this run: {said or 'none'}.")

# %% [markdown]
# ## S8: signed and non-negative maps in one table
#
# - *Said:* nothing.
# - *Open:* some methods give negative scores to pixels that speak against the class, others clamp at zero or cannot be
#   negative. Both are put in one table. A signed map orders the unimportant end of the picture by how much it argues
#   *against* the class; a clamped one leaves that end to the tie rule.
# - *Here:* each method as its own paper has it, nothing clamped and nothing scaled afterwards. SaCo does not change when
#   scores are multiplied, nor, with groups weighed by means, when a constant is added to them. It does change when
#   negative scores are set to zero: groups at the lower end then have no distance left between them, and pairs of them
#   no weight.
#
# The table has the maps that are stored for the pictures of this book. *Below zero* is the share of pixels with a
# negative score, *negative mass* the share of the sum of absolute scores that comes from them. *Clamped* is the change of
# SaCo when negative scores are set to zero and the groups stay as they are.

# %%
maps = load("saco_maps", profile)
maps = maps.assign(below=(maps.score < 0).astype(float), negative=maps.score.clip(upper=0).abs(), size=maps.score.abs())
per_map = maps.groupby([*UNIT, "method"], sort=False).agg(
    below=("below", "mean"), negative=("negative", "sum"), size=("size", "sum")
)
per_map["mass"] = per_map.negative / per_map["size"]
again = load("saco_clamped", profile).set_index([*UNIT, "method"])
per_map["clamped"] = again.saco_clamped - again.saco
signs = []
for what in ("below", "mass", "clamped"):
    found = resampling.over_inputs(per_map.reset_index(), value=what, cells=["method"]).table().set_index("method")
    signs.append(found[["estimate", "low", "high"]].add_prefix(f"{what} "))
signs = pd.concat(signs, axis=1)
signs.insert(0, "n", found.n)
signs = signs.reindex([*METHODS, "last_layer_attention_with_gradient", "random"]).reset_index()
signs.columns = [name.replace(" estimate", "").replace("below", "below zero").replace("mass", "negative mass")
                 for name in signs.columns]  # fmt: skip
brief = ["method", "n", "below zero", "negative mass", "clamped", "clamped low", "clamped high"]
tables.table(
    signs[brief],
    run,
    "saco_s8",
    caption="S8, signs: share of pixels below zero, share of absolute salience that is negative, and the change of SaCo "
    "with 95 % interval when negative scores are set to zero; n maps",
)

# %%
signed = signs[signs["below zero"] > 0]
Markdown(
    f"Negative scores occur in {len(signed)} of {len(signs)} rows: "
    + "; ".join(f"{label(r.method)} {r._3:.0%} of the pixels" for r in signed.itertuples())
    + "."
)

# %% [markdown]
# ## S9: how much random scores vary
#
# - *Said:* random scores get zero in expectation.
# - *Open:* how far a single picture, or a mean of some, strays from that. With $K$ groups SaCo of unrelated scores and
#   drops is close to a rank correlation of $K$ pairs, whose standard deviation is $1/\sqrt{K-1}$: .50, .33 and .23 for 5,
#   10 and 20 groups. A mean over $n$ pictures has $1/\sqrt n$ of that.
# - *Here:* several drawings a picture, and an interval at every mean. The {doc}`page on random scores <saco_random>` asks
#   what this does to comparisons.

# %%
drawn = pd.concat([scores[scores.method == "random"], groups[groups.method == "random"]])
drawn = pd.concat([drawn.assign(value=drawn.saco, moment="mean"), drawn.assign(value=drawn.saco**2, moment="square")])
moments = resampling.over_inputs(drawn, value="value", cells=["k", "dataset", "moment"])


def of_moment(name):
    """The mean over data sets of one moment: a function of the cells."""
    return lambda frame: frame.loc[:, frame.columns.get_level_values("moment") == name].mean(axis=1)


def deviation(frame):
    """Standard deviation of a single picture's SaCo."""
    return (of_moment("square")(frame) - of_moment("mean")(frame) ** 2).clip(lower=0) ** 0.5


HALF_WIDTH = 0.02
rows = []
for k in sorted(set(drawn.k)):
    mean, spread = moments.interval(of_moment("mean"), k=int(k)), moments.interval(deviation, k=int(k))
    n = len(drawn[drawn.k == k][UNIT].drop_duplicates())
    rows.append({"k": k, "n": n, "estimate": mean.estimate, "low": mean.low, "high": mean.high})
    rows[-1] |= {"deviation": spread.estimate, "deviation low": spread.low, "deviation high": spread.high}
    rows[-1] |= {"expected deviation": 1 / math.sqrt(k - 1)}
    rows[-1] |= {"pictures for .02": math.ceil((1.96 * spread.estimate / HALF_WIDTH) ** 2)}
spreads = pd.DataFrame(rows)
tables.table(
    reference.with_reference(spreads, "saco_s9", on=["k"]),
    run,
    "saco_s9",
    caption="S9, random scores: mean SaCo, standard deviation of a single picture (all models and drawings) with 95 % "
    f"intervals, what is expected, and the pictures that an interval of ± {HALF_WIDTH} takes",
)

# %% [markdown]
# ## S10: the other four metrics
#
# - *LOdds.* The paper gives no formula. *Here:* $\log p(y \mid \tilde x) - \log p(y \mid x)$, averaged over the steps, as
#   the work it cites has it {cite:p}`qiang_2022`; `lodds="odds"` takes the log-odds $\log p/(1-p)$ instead. Not measured.
# - *AUC.* "Accuracy" needs a label. *Here:* the true one, so that a picture that the model gets wrong adds next to
#   nothing, whatever the explanation.
# - *Comprehensiveness.* The paper removes the *least* salient pixels first, and lower is better; ERASER's
#   comprehensiveness {cite:p}`deyoung_2020` removes the *most* important ones, and higher is better. *Here:* the paper's
#   is called `aopc_lerf` in code and prose, never comprehensiveness.
# - *Steps.* 0 to 100 % in steps of 10 %. AOPC could average over ten drops or eleven. *Here:* ten; the first is zero for
#   every explanation.

# %% [markdown]
# ## S11: the ten methods
#
# - *Said:* their names and papers; details are in a supplement.
# - *Open:* options of every one of them. *Here:* each as its own paper has it: integrated gradients explain the
#   probability, from the mean colour; relevance starts at the logit; rollout and transformer attribution take all layers.
#   The docstrings of `faithlib.attribution.vit` say more, and name the options that released code sets otherwise.
# - *A known trap:* in a widely used public implementation, "LRP" once gave the same map as transformer attribution. A
#   test makes sure that no two of ours are the same. The table shows which are closest on the stored pictures.

# %%
wide = maps.pivot_table(index=[*UNIT, "pixel"], columns="method", values="score")[
    [*METHODS, "last_layer_attention_with_gradient"]
]
alike = wide.groupby(level=UNIT).rank().groupby(level=UNIT).corr()
alike.index.names = [*UNIT, "one"]
alike.columns.name = "other"
pairs = alike.stack().rename("value").reset_index()
at = {name: i for i, name in enumerate(wide.columns)}
pairs = pairs[pairs.one.map(at) < pairs.other.map(at)]
closest = resampling.over_inputs(pairs, value="value", cells=["one", "other"]).table()
closest = closest.sort_values("estimate", ascending=False, ignore_index=True)
trap = closest[(closest.one == "lrp") & (closest.other == "transformer_attribution")]
picked = pd.concat([closest.head(5), trap]).drop_duplicates()
picked = picked.assign(one=picked.one.map(label), other=picked.other.map(label))
tables.table(
    picked[["one", "other", "estimate", "low", "high", "n"]],
    run,
    "saco_s11",
    caption="S11: the five pairs of methods whose maps are most alike, and LRP with transformer attribution: Spearman's "
    "correlation over pixels, mean over n pictures",
)

# %% [markdown]
# ## S12: models and pictures
#
# - *Said:* ViT-B, ViT-L, DeiT-B on ImageNet, CIFAR-10 and CIFAR-100; sizes are in a supplement.
# - *Open:* which weights, and how they were fine-tuned for CIFAR; those weights are not published. How many pictures.
# - *Here:* small transformers of the same three kinds on stand-ins. The `paper` profile names public ImageNet weights
#   that fit the description and fine-tunes them for CIFAR; what it takes is on the {doc}`overview <../paper2/overview>`.
#   Not measured: other models are other functions.

# %%
run.provenance(n=n_pictures, note=f"effects: model {first}; S7 and S9: all models and pictures of the run")

# %%
run.finish()
