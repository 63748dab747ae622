# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What the paper leaves open, and what it changes

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.engine.studies import settings_of
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import ENDS, ends_of, listed, spoken
from faithbook.stats import comparison
from faithbook.stats.agreement import tau_of
from faithbook.studies.saco import wu, wu_figures
from faithbook.studies.saco.wu import LAST, METHODS

page = start_page("saco_deviations", profile, values=values, paper="wu_2024")
NAMES = {
    "group sums": "S1 sums of unequal groups",
    "last group larger": "S1 last group takes the rest",
    "rest dropped": "S1 rest left out",
    "nearest": "S2 nearest upsampling",
    "whole patches": "S2 whole patches",
    "random ties": "S3 equal scores shuffled",
    "nearest, random ties": "S2, S3 nearest and shuffled",
    "zero": "S4 one fixed colour",
    "blur": "S4 a blurred copy",
    "5 groups": "S5 five groups",
    "20 groups": "S5 twenty groups",
    "bfloat16": "bfloat16",
}


def varied(units):
    """One model and the images that went through all settings; other numbers of groups of the same images."""
    settings = units[units.setting.notna()]
    counts = units[units.k.notna() & units.model.isin(set(settings.model))]
    counts = counts.assign(setting=[f"{k:.0f} groups" for k in counts.k])
    same = counts.merge(settings[["dataset", "id"]].drop_duplicates(), on=["dataset", "id"])
    return pd.concat([settings, same], ignore_index=True)


measured = page.measure(
    "saco_metrics",
    parts=["settings", "groups"],
    over=["dataset", "setting", "metric", "method"],
    prepare=varied,
    firmest=True,  # the paper's own images alone where some went through all settings
)
value = page.quantity("setting", "metric", "method")
asked = [name for name in NAMES if name in measured.levels("setting")]
# What each setting is compared with. A run whose main setting is half precision has single precision next to it.
BASE = dict.fromkeys(asked, "main") | ({"bfloat16": "float32"} if "float32" in measured.levels("setting") else {})


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    moved = {setting: value(setting, "saco", METHODS) - value(BASE[setting], "saco", METHODS) for setting in asked}
    most = max(moved, key=lambda setting: abs(moved[setting].ours.point))
    least = min(moved, key=lambda setting: abs(moved[setting].ours.point))
    return (
        f"Of {len(asked)} choices, which the paper leaves open or which we had to make, *{NAMES[most]}* changes SaCo most, by "
        f"{spoken(moved[most], '+.2f')} (mean over ten methods), and *{NAMES[least]}* least, by {spoken(moved[least], '+.2f')} "
        f"(n = {moved[most].ours.n} images)."
    )


page.in_short(in_short)

# %% [markdown]
# To compute SaCo one has to cut pixels into groups, erase a group, and compare pairs of groups. The paper
# {cite:p}`wu_2024` gives Algorithm 1 for the third step. The code released with it has 45 lines: the loop over pairs is
# included, and there is an ellipsis where groups are made and pixels erased. So both text and code leave open how
# the first two steps are done. This page lists the open points, S1 to S12, each with what the paper states, what we
# do, and how far the numbers move under another choice. We do not know which choice the printed tables were made with.

# %% [markdown]
# ## How the effects are measured
#
# Our main setting has pixels as features, maps of patches brought to pixels by bilinear interpolation, and ten
# groups with rounded bounds, weighted by the mean score of their pixels. Equal scores are in reading order, and the
# image's own mean replaces erased pixels. One point at a time is then changed, on the same images with the same
# model and the same
# maps. Two numbers are reported, always *other choice minus main setting*.
#
# - The **change** of a metric, averaged over the ten methods. The interval resamples images, each with both of its
#   values.
# - **Kendall's tau** between the ten methods' ranking in the main setting and in the other, by their means: 1 where
#   no two methods change places. Resamples are ranked again. Two methods that nearly tie change places easily, so
#   read the interval.
#
# The other four metrics are those that the paper compares SaCo with: AUC, AOPC, LOdds, and AOPC with the least relevant
# pixels first, which the paper calls comprehensiveness ({doc}`../foundations/metrics`).

# %%


def changes(setting, metric):
    """Other choice minus main setting, of every method and of random scores."""
    return {m: value(setting, metric, m) - value(BASE[setting], metric, m) for m in (*METHODS, "random")}


rows, by_method = [], []
for setting in asked:
    for metric in wu.SIGN if "groups" not in setting else ["saco"]:
        single, labels = changes(setting, metric), {"setting": setting, "metric": metric}
        mean = comparison.mean([single[method] for method in METHODS]).ours
        ranked = [[value(way, metric, method).ours for method in METHODS] for way in (setting, BASE[setting])]
        rows.append(labels | {"n": mean.n, "main": float(np.mean([estimate.point for estimate in ranked[1]]))})
        rows[-1] |= ends_of(mean) | ends_of(tau_of(*ranked), "tau")
        by_method += [labels | {"method": name, "n": pair.ours.n, **ends_of(pair)} for name, pair in single.items()]
effects, by_method = pd.DataFrame(rows), pd.DataFrame(by_method)

# %% [markdown]
# ## All effects at a glance

# %%
mine = effects[effects.metric == "saco"].set_index("setting").reindex(asked).reset_index()
alone = by_method[(by_method.metric == "saco") & (by_method.method != "random")]
fig, alt = wu_figures.effects(mine, alone, {name: NAMES[name] for name in asked})
caption = (
    "What each choice changes in SaCo: its level (left; ticks are single methods) and the ranking of the methods "
    "(right); one model, 95 % intervals over images."
)
page.figure(fig, "saco_deviations_plot", alt=alt, caption=caption)

# %%
swayed, shifted = mine.loc[mine.tau.idxmin()], mine.loc[mine.estimate.abs().idxmax()]
calm = mine[(mine.low <= 0) & (mine.high >= 0)]
Markdown(
    f"The ranking of the methods depends most on *{NAMES[swayed.setting]}* (tau {swayed.tau:.2f} "
    f"[{swayed['tau low']:.2f}, {swayed['tau high']:.2f}]), the level of SaCo most on *{NAMES[shifted.setting]}* "
    f"({spoken(shifted, '+.3f')}, from {shifted.main:.3f}; n = {shifted.n} in the "
    f"smallest set). The level does not clearly change for: "
    f"{', '.join(NAMES[name] for name in calm.setting) or 'none'}."
)

# %%
caption = "Every effect by method: other choice minus main setting"
page.listing(by_method.assign(setting=by_method.setting.map(NAMES)), "saco_deviations_methods", caption=caption)


# %%
def shown(name, caption, *settings):
    """Some effects as a table."""
    chosen = effects[effects.setting.isin(settings)].assign(setting=lambda frame: frame.setting.map(NAMES))
    return page.listing(chosen, name, caption=caption, empty="*Not measured.*")


# %% [markdown]
# ## S1: groups of equal size
#
# - *Said:* the pixels are divided into $K$ equally sized groups.
# - *Open:* an image of 224 by 224 has 50,176 pixels, which neither 5, 10 nor 20 divides; nor do they divide the 784 of
#   our small images or the 12,544 of our photographs.
# - *Ours:* group $i$ holds the ranks from $(i-1)\,n/K$ to $i\,n/K$, rounded; sizes differ by one at most
#   (`remainder="spread"`). Measured: all remaining pixels go to the last group (`"last"`), or belongs to none
#   (`"drop"`).
# - *Also ours:* a group's salience is the mean of its scores (`reduce="mean"`), not their sum as in Eq. 1. For groups
#   of one size the two agree. Where sizes differ, one pixel more makes a sum of positive scores larger, and a map
#   that is nearly flat is then weighted by group sizes and not by its scores. Measured: the sums (`"sum"`).

# %%
shown("saco_s1", "S1, group sizes: other minus rounded bounds", "group sums", "last group larger", "rest dropped")

# %% [markdown]
# ## S2: from patches to pixels
#
# - *Said:* scores of patches are interpolated over the pixels.
# - *Open:* how. Bilinear interpolation makes a smooth map, in which a group is a blob with a soft edge through
#   several patches. With nearest neighbours a patch has one score and a group is made of patches, except the one
#   that is cut.
# - *Ours:* bilinear, corners not aligned. Measured: nearest neighbours; and no pixels at all, patches as features.
#   Integrated gradients and LRP score pixels, so only the last of the two concerns them.

# %%
shown("saco_s2", "S2, upsampling: other choice minus bilinear", "nearest", "whole patches")

# %% [markdown]
# ## S3: equal scores
#
# - *Said:* nothing.
# - *Open:* which of two pixels with equal scores comes first. After nearest-neighbour upsampling all pixels of a patch
#   are equal, and after clamping at zero all pixels that were below it.
# - *Ours:* in reading order, so the same on every machine. Measured: in random order, for both ways of
#   upsampling. Reading order cuts a patch into an upper and a lower part; chance scatters it.

# %%
shown("saco_s3", "S3, equal scores: other choice minus main setting", "random ties", "nearest, random ties")

# %%
pairs = [value("nearest, random ties", "saco", m) - value("nearest", "saco", m) for m in METHODS]
shuffled = comparison.mean(pairs).ours
Markdown(
    f"Shuffling alone, with nearest-neighbour upsampling on both sides: {spoken(shuffled, '+.3f')} (n = {shuffled.n} in the "
    "smallest set)."
)

# %% [markdown]
# ## S4: what replaces erased pixels
#
# - *Said:* the mean of the image.
# - *Open:* of each channel or of all; before or after normalisation. Normalisation treats each channel by itself, so the
#   mean of a channel is the same pixel either way; a mean over all channels is not.
# - *Ours:* per image and channel. The grey substitute images have one channel, so the open part cannot matter there.
#   Measured: zero in normalised pixels, which is one colour for all images (the mean of the data set; for photographs
#   that of ImageNet, with which the encoder was made), and a blurred copy of the image.

# %%
shown("saco_s4", "S4, replacement: other choice minus the image's mean", "zero", "blur")

# %% [markdown]
# ## S5: the number of groups
#
# - *Said:* $K = 10$ in the case study; Table 2 has 5, 10 and 20. For the figures and for Table 1 no $K$ is given.
# - *Ours:* 10, because three cells of Table 1 equal cells of Table 2 at $K = 10$.
#
# Fewer groups are larger, so each erases more, and there are fewer pairs. All images that were cut this way, with all
# models, are on the {doc}`page of tables <saco_tables>`; the rows here have the same images and model as the rest of
# this page.

# %%
shown("saco_s5", "S5, number of groups: other number minus ten", "5 groups", "20 groups")

# %% [markdown]
# ## S6: equal drops
#
# - *Said:* a pair is fulfilled where the first group costs at least as much as the second. The released loop has the
#   same sign, so an equal pair counts fully in favour.
# - *Open:* nothing. But if a model's output does not change for any group, every explanation gets 1, the best score.
# - *Ours:* as said. `saco(..., ties="half")` gives equal pairs nothing. Measured on the images whose group values are
#   stored, a few of each data set.

# %%


def with_change(units):
    """SaCo with equal pairs counted and not, and the change."""
    keys = ["dataset", "id", "cluster", "method"]
    wide = units.pivot_table(index=keys, columns="metric", values="value")
    wide["change"] = wide.half - wide.satisfied
    return wide.reset_index().melt(keys, ["ties", "satisfied", "half", "change"], "metric", "value")


equal = page.measure("saco_replayed", parts=["ties"], over=["dataset", "metric"], prepare=with_change)
equal_drops = equal.quantity("dataset", "metric")
cells = product(equal.levels("dataset"), equal.levels("metric"))
ties = listed({cell: equal_drops(*cell) for cell in cells}, ["dataset", "quantity"])
levels = ties.quantity != "change"  # a share and SaCo lie between -1 and 1, on few images an interval may not
ties.loc[levels, ["low", "high"]] = ties.loc[levels, ["low", "high"]].clip(-1, 1)
caption = "S6, equal drops: share of pairs of groups whose drops are equal to the last bit, SaCo as published and with " \
    "nothing for equal pairs, and the change; mean over methods"  # fmt: skip
page.listing(ties[["dataset", "quantity", "n", *ENDS]], "saco_s6", caption=caption)

# %% [markdown]
# ## S7: constant maps
#
# - *Said:* nothing. The released loop divides by the sum of all weights, which is zero where all groups have the same
#   salience: it stops with an error.
# - *Ours:* such a map has no SaCo (NaN); it is left out of means, and how many there are is printed with every mean.
#   The other four metrics have a value even then, which depends on the tie rule alone.

# %%
main = page.measure("saco_metrics", over=["dataset", "model", "metric", "method"])
maps = main.frame[(main.frame.metric == "saco") & (main.frame.method != "random")]
lost = wu.constant_maps(maps, ["dataset", "method"])
worst = lost[lost.constant > 0].sort_values("constant", ascending=False)
flat = "; ".join(f"{label(r.method)} on {label(r.dataset)} {r.constant} of {r.maps}" for r in worst.itertuples())
Markdown(f"Constant maps, all models and images: {flat or 'none'}.")

# %% [markdown]
# ## S8: signed and non-negative maps in one table
#
# - *Said:* nothing.
# - *Open:* some methods give negative scores to pixels that count against the class, others clamp at zero or cannot be
#   negative. Both are put in one table. A signed map orders the unimportant end of the image by how much it argues
#   *against* the class; a clamped one leaves that end to the tie rule.
# - *Ours:* each method as its own paper has it, nothing clamped and nothing scaled afterwards. SaCo does not change when
#   scores are multiplied, nor, with groups weighed by means, when a constant is added to them. It does change when
#   negative scores are set to zero: groups at the lower end then have equal saliences, and their pairs no weight.
#
# The table has the maps that are stored for the images of this book. *Below zero* is the share of pixels with a
# negative score, *negative mass* the share of the sum of absolute scores that comes from them, both means over the stored
# maps. *Clamped* is the change of SaCo when negative scores are set to zero and the groups stay as they are.

# %%


def clamping(units):
    """The change of SaCo when negative scores are set to zero."""
    wide = units.pivot_table(index=["dataset", "id", "cluster", "method"], columns="metric", values="value")
    return (wide.saco_clamped - wide.saco).rename("value").reset_index()


UNIT = ["dataset", "input"]
stored = load("saco_maps", profile)
stored = stored.assign(below=stored.score < 0, negative=stored.score.clip(upper=0).abs(), size=stored.score.abs())
per_map = stored.groupby([*UNIT, "method"], sort=False).agg(
    below=("below", "mean"), negative=("negative", "sum"), size=("size", "sum")
)
signs = (
    per_map.assign(mass=per_map.negative / per_map["size"])
    .groupby("method")
    .agg(maps=("below", "size"), below=("below", "mean"), mass=("mass", "mean"))
)
clamped = page.measure("saco_replayed", parts=["signs"], over=["method"], prepare=clamping)
rows = []
for method in [name for name in (*METHODS, LAST, "random") if name in signs.index]:
    change = clamped.mean(method=method)
    rows.append({"method": method, "maps": signs.maps[method], "below zero": signs.below[method]})
    rows[-1] |= {"negative mass": signs.mass[method], **ends_of(change, "clamped"), "n": change.ours.n}
caption = "S8, signs: share of pixels below zero and share of absolute salience that is negative, of the maps stored by this " \
    "run; the change of SaCo with 95 % interval when negative scores are set to zero, of n images"  # fmt: skip
page.listing(pd.DataFrame(rows), "saco_s8", caption=caption)

# %% [markdown]
# ## S9: how much random scores vary
#
# - *Said:* random scores get zero in expectation.
# - *Open:* how far a single image, or a mean of some, deviates from that. With $K$ groups SaCo of unrelated scores and
#   drops is close to a rank correlation of $K$ pairs, whose standard deviation is $1/\sqrt{K-1}$: 0.50, 0.33 and 0.23 for 5,
#   10 and 20 groups. A mean over $n$ images has $1/\sqrt n$ of that.
# - *Ours:* several samples per image, and an interval at every mean. The {doc}`page on random scores <saco_random>` has
#   what we measured, and what it does to comparisons.

# %% [markdown]
# ## S10: the other four metrics
#
# - *LOdds.* The paper gives no formula. *Ours:* $\log p(y \mid \tilde x) - \log p(y \mid x)$, averaged over the steps, as
#   the work it cites has it {cite:p}`qiang_2022`; `lodds="odds"` takes the log-odds $\log p/(1-p)$ instead. Not measured.
# - *AUC.* "Accuracy" needs a label. *Ours:* the true one, so that an image that the model misclassifies adds next to
#   nothing, whatever the explanation.
# - *Comprehensiveness.* The paper removes the *least* salient pixels first, and lower is better; ERASER's
#   comprehensiveness {cite:p}`deyoung_2020` removes the *most* important ones, and higher is better. *Ours:* the paper's
#   is called `aopc_lerf` in code and prose, never comprehensiveness.
# - *Steps.* 0 to 100 % in steps of 10 %. AOPC could average over ten drops or eleven. *Ours:* ten; the first is zero for
#   every explanation.

# %% [markdown]
# ## S11: the ten methods
#
# - *Said:* their names and papers; details are in a supplement.
# - *Open:* options of every one of them. *Ours:* each as its own paper has it: integrated gradients explain the
#   probability, from the mean colour; relevance propagation starts at the logit; rollout and transformer attribution
#   take all layers. The docstrings of `faithlib.attribution.vit` have details, and name the options that released
#   code sets differently.
# - *A known trap:* in the released visualization code of {cite:t}`chefer_2021` "LRP" gave the same map as transformer
#   attribution, as [pull request 53](https://github.com/hila-chefer/Transformer-Explainability/pull/53) of that repository
#   reports. A test checks that no two of ours are the same. The table shows which are closest on the stored images.
# - *A limit of LRP:* the map of an image is decided by rounding. Its rule for products of two activations divides by sums that
#   nearly cancel, so that pixels changed by a millionth, or another processor, give another map and another SaCo, also in
#   double precision. Transformer attribution, which reads LRP's relevance of attention, moves by a tenth on some images; maps of
#   attention and gradients stay. SaCo of LRP on *one* image says nothing therefore; its mean over images is what pages show.

# %%
wide = stored.pivot_table(index=[*UNIT, "pixel"], columns="method", values="score")
wide = wide[[name for name in (*METHODS, LAST) if name in wide]]
alike = wide.groupby(level=UNIT).rank().groupby(level=UNIT).corr()
alike.index.names, alike.columns.name = [*UNIT, "one"], "other"
pairs = alike.stack().rename("value").reset_index()
order = {name: i for i, name in enumerate(wide.columns)}
pairs = pairs[pairs.one.map(order) < pairs.other.map(order)]
closest = pairs.groupby(["one", "other"]).value.agg(correlation="mean", n="count").reset_index()
closest = closest.sort_values("correlation", ascending=False, ignore_index=True)
trap = closest[(closest.one == "lrp") & (closest.other == "transformer_attribution")]
picked = pd.concat([closest.head(5), trap]).drop_duplicates()
caption = "S11: the five pairs of methods whose maps are most alike, and LRP with transformer attribution: Spearman's " \
    "correlation over pixels, mean over the n stored images"  # fmt: skip
page.listing(picked.assign(one=picked.one.map(label), other=picked.other.map(label)), "saco_s11", caption=caption)

# %% [markdown]
# ## S12: models and images
#
# - *Said:* ViT-B, ViT-L, DeiT-B on ImageNet, CIFAR-10 and CIFAR-100; sizes are in a supplement.
# - *Open:* which weights, and how they were fine-tuned for CIFAR; those weights are not published. How many images.
# - *Ours*, except at the profile `paper`: three trainings of one small pretrained transformer on CIFAR; small
#   transformers of the paper's three kinds on substitute data. The `paper` profile names public ImageNet weights that
#   fit the description and fine-tunes them for CIFAR; the {doc}`overview <../paper2/overview>` has its requirements.
#   Not measured: other models are other functions.

# %% [markdown]
# ## What else is not as in the paper
#
# Choices of ours that the points above do not name.

# %%
here = settings_of("saco_metrics", "full")  # whose numbers the pages show
one_model = measured.frame[~measured.frame.setting.str.contains("groups")]
images = one_model.groupby("dataset", observed=True).id.nunique()
models_of = one_model.groupby("dataset", observed=True).model.nunique()
tried_on = ", ".join(f"{label(name)}: {images[name]} images, {models_of[name]} model" for name in images.index)
differs = [
    ("random scores", "one drawing", f"mean of {here['random_draws']} drawings per image", "{doc}`saco_random`"),
    (
        "other choices S1 to S4, and the curves that use them",
        "–",
        tried_on,
        "intervals; many variants are undecided for that reason",
    ),
    (
        "numbers of groups 5 and 20",
        "all images",
        ", ".join(
            f"{label(name)} {here.at({'dataset': name})['grouped_pictures']}" for name in ("cifar10", "cifar100")
        ),
        "n in the cells of {doc}`saco_tables`",
    ),
    ("number of groups in the figures and in Table 1", "not stated", "10", "S5"),
    ("steps of integrated gradients", "not stated", str(here["ig_steps"]), "–"),
    ("data set of the printed values", "ImageNet", "CIFAR-10 and CIFAR-100", "{doc}`saco_stand_ins`"),
]
columns = ["what", "paper", "here", "what it changes"]
page.listing(
    pd.DataFrame(differs, columns=columns),
    "saco_deviations_others",
    caption="Further differences, with the place that measures them",
)

# %% [markdown]
# **What is missing.** The ImageNet chart of Figure 4, all values of Tables 1 and 2 on ImageNet, and the supplement: its table of data sets,
# the enlarged Figure 4 and the proof of scale invariance (one line; {doc}`saco_figures`). ImageNet is not redistributable and was not at
# hand beyond the sample images of {doc}`saco_photographs`; the supplement is not among the texts that this book was made from.

# %% [markdown]
# ## A further choice: precision
#
# Study 1 runs its models in half precision (bfloat16) if the processor multiplies in it, which takes half the time;
# {doc}`its deviations <soft_deviations>` show what that changes. The rule is that half precision may move a quantity
# by no more than a twentieth of its interval. SaCo compares which of two drops is larger, and drops may be nearly
# equal. The row shows what half precision does to this study, the table how each method fares under the rule.

# %%
shown("saco_precision", "Precision: bfloat16 minus float32", "bfloat16")

# %%
in_bfloat16 = alone[alone.setting == "bfloat16"].set_index("method").estimate
if len(in_bfloat16):
    judged = pd.DataFrame(
        {"method": method, "n": in_float32.n, **ends_of(in_float32), "effect": in_bfloat16[method]}
        for method in METHODS
        for in_float32 in [value(BASE["bfloat16"], "saco", method).ours]
    )
    judged["of the interval"] = judged.effect.abs() / (judged.high - judged.low)
    caption = "SaCo of each method in float32, what bfloat16 adds to it, and how large a part of the interval that is"
    display(page.listing(judged, "saco_precision_rule", caption=caption))
    within = int((judged["of the interval"] < 1 / 20).sum())
    display(Markdown(f"Moved by less than a twentieth of the interval: {within} of {len(judged)} methods."))

# %%
page.finish(note="effects: the first model of each data set; S7: all models and images")
