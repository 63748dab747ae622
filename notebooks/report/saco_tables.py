# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What do gradients and layers add to SaCo? (Tables 1 and 2)

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import math
import re
from itertools import product

import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.engine.studies import recipes, settings_of
from faithbook.judge import published
from faithbook.judge.decide import Ordered, SameNumber
from faithbook.judge.report import start_page
from faithbook.show.details import details
from faithbook.show.labels import label
from faithbook.show.numbers import beside, listed
from faithbook.show.plots import comparison_plot
from faithbook.show.tables import in_names, in_words
from faithbook.studies.saco import wu, wu_figures
from faithbook.studies.saco.wu import ALL, FAMILIES, KS, LAST, METHODS, MID, RAW, ROLLOUT, STEADY, short

page = start_page("saco_tables", profile, values=values, paper="wu_2024")


table1 = published.table("saco_table1").rename(columns={"method_inferred": "method", "dataset_inferred": "dataset"})
table2 = published.table("saco_table2").astype({"k": int})
GROUPED = {"parts": ["", "groups"], "over": ["dataset", "model", "method", "k"], "bounds": (-1, 1)}
both_tables = pd.concat([table2, table1.assign(k=MID)])
measured = page.measure("saco_metrics", prepare=wu.by_groups, printed=both_tables, **GROUPED)
tested_on = measured.comparable()  # the paper's own pictures alone, those it prints values of first, or all stand-ins
saco = page.quantity("method", k=MID, dataset=tested_on)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"Multiplying attention by its gradients raises SaCo from {beside(saco(RAW))} to {beside(saco(LAST))} in the last layer, and "
        f"from {beside(saco(ROLLOUT))} to {beside(saco(ALL))} through all layers (n = {saco(RAW).ours.n:,} images in the smaller data "
        "set). Published values are of ImageNet."
    )


page.in_short(in_short)

# %% [markdown]
# SaCo cuts the pixels of an image into groups by their score in the explanation, erases each group on its own, and says whether
# groups with higher scores cost the model more: 1 if always, −1 if never, 0 on average for random scores
# ({ref}`formula <saco>`). {cite:t}`wu_2024` print two tables of it. Table 1 shows what gradients, and what all layers, add to
# attention. Table 2 has ten methods ({ref}`what they are <vit-methods>`), with the pixels cut into 5, 10 and 20 groups.
#
# The printed values are of ImageNet and three vision transformers. Ours are means over CIFAR-10 and CIFAR-100 and over three
# fine-tunings of one smaller transformer. So no value need match, and we test statements. Small grey images, our
# {term}`substitute data` for the three data sets, are only in the table of data sets below.

# %% [markdown]
# ## Table 1: what gradients add and what all layers add
#
# **What the paper shows.** SaCo of four explanations made of attention: that of the last layer or that of all layers, each
# without and with gradients. Both together are best, and gradients matter more than layers.
#
# **Our run.** The same four with ten groups of pixels. The paper does not name its methods; three of its four values are also in
# Table 2, which is how we know them. The fourth, that of the last layer with gradients, is in no other table. We take it for the
# rule of Transformer-MM applied to the last layer only.

# %%
page.table(
    "saco_table1",
    lambda row: saco(row["method_inferred"]),
    rows=["method_inferred", "cross_layer_aggregation", "gradient"],
    columns=["metric"],
    words={
        "true": "yes",
        "false": "no",
        "method_inferred": "explanation",
        "cross_layer_aggregation": "all layers",
        "gradient": "with gradients",
    },
    caption="Mean SaCo of four explanations with ten groups, n images in the smaller data set",
)

# %%
page.quote("saco_methods", {short(method): saco(method) for method in METHODS})
page.quote("saco_table1", {short(method): saco(method) for method in (RAW, LAST, ROLLOUT, ALL)})


over = ["dataset", "model", "setting", "method"]
varied = page.measure("saco_metrics", parts=["", "groups", "settings"], over=over, prepare=wu.by_setting)
tried = varied.frame[varied.frame.dataset.isin(tested_on)].setting.unique()  # few pictures go through all settings
settings = sorted(tried, key=lambda name: name != "main, all models")


def by_setting(claim):
    """A claim under each setting that was tried."""
    return {(one,): claim(varied.quantity("method", setting=one, dataset=tested_on)) for one in settings}


OF_ID = {"saco_c03": wu.about_twice, "saco_c04": wu.layers_too}
curves = {name: page.multiverse(name, ["setting"], by_setting(claim)) for name, claim in OF_ID.items()}
first = page.test({name: claim(saco) for name, claim in (OF_ID | {"saco_table1": wu.about_twice}).items()})
page.verdicts(first)

# %% [markdown]
# c04 makes a statement of each comparison, so one that is contradicted beside others that hold makes it mixed.

# %%
comparisons = page.parts(
    first,
    "saco_table1_parts",
    caption="The comparisons of both claims: differences and logarithms of ratios of mean SaCo. *Difference (SE)*: ours minus published, "
    "in standard errors with the variation between training runs. *On its own*: what the rule says of this comparison alone",
)
of_c03 = page.curve(
    curves["saco_c03"],
    "saco_c03_curve",
    caption="Gain from gradients in the last layer (claim c03) under each choice, with 95 % intervals. Above zero: a gain.",
)
of_c04 = page.curve(
    curves["saco_c04"],
    "saco_c04_curve",
    caption="Smallest difference of claim c04 under each choice, with 95 % intervals. All above zero: the claim holds.",
)
details(
    "Every comparison, and the claims under other choices",
    comparisons,
    "The paper leaves choices open, such as what an erased pixel becomes ({doc}`saco_deviations` explains their names). We tried each "
    "on a few images with one model, and other numbers of groups with all models. Most variants have too few images to decide.",
    of_c03,
    of_c04,
)

# %% [markdown]
# ## Table 2: ten methods, three numbers of groups
#
# **What the paper shows.** Transformer-MM leads at every number of groups (with ATTCAT close behind at 20), LRP and conservative
# LRP are near zero, and most values fall as groups get more and smaller.
#
# **Our run.** Every image was cut into ten groups ($K = 10$), and a part of them also into 5 and 20. The heat maps are the same. A map that
# gives every pixel one score has no SaCo and is left out, so n, that of the smallest cell, is smaller than in Table 1. The figure
# has only the images that were cut in all three ways; the table has all.

# %%
caption = (
    "SaCo of ten methods with ten groups of pixels, in the paper (ImageNet) and on our models. Dotted: random scores."
)
page.overview(comparison_plot({short(m): saco(m) for m in METHODS}, "SaCo"), "saco_overview", caption=caption)

# %%
same = page.measure("saco_metrics", prepare=wu.with_all_groups, printed=table2.drop(columns="dataset"), **GROUPED)
cut = same.quantity("method", dataset=tested_on)
fig, alt = wu_figures.by_groups({method: [cut(method, k=k) for k in KS] for method in METHODS})
caption = "Mean SaCo of ten methods by number of groups, published (ImageNet) and ours, with 95 % intervals. Dotted: zero, the mean of random scores."
page.figure(fig, "saco_table2_groups", alt=alt, caption=caption)

# %%
page.table(
    "saco_table2",
    lambda row: saco(row["method"], k=int(row["k"])),
    rows=["k"],
    columns=["method"],
    words={"k": "groups"} | {method: short(method) for method in METHODS},
)

# %% [markdown]
# **What is tested.** Kendall's tau compares our order of the ten methods with the printed one (1: the same order, 0: unrelated).
# The other claims are in words below. c08 and c12 ask that most comparisons hold, c09 to c11 that all do. The paper has three families: *gradient-based* (IG, Grad-CAM), *attribution-based* (LRP,
# Partial LRP, Transformer Attribution, Conservative LRP) and *attention-based* (Raw Attention, Rollout, Transformer-MM, ATTCAT).

# %%
claims = {
    "saco_table2": [
        Ordered({method: saco(method, k=k) for method in METHODS}, name=f"tau with the printed order, {k} groups")
        for k in KS
    ],
    "saco_c08": wu.most_fall(saco),
    "saco_c09": wu.winners_fall_most(saco),
    "saco_c10": wu.two_are_steady(saco),
    "saco_c11": wu.attention_leads(saco),
    "saco_c12": wu.most_positive(saco),
}
second = page.test(claims)
page.verdicts(second)

# %%
page.parts(second, "saco_tables_parts", caption="All comparisons of the claims on Table 2 (columns as above)")

# %% [markdown]
# ## Each data set on its own
#
# Table 2 with ten groups again, now without averaging over data sets, and with random scores for comparison.
# {doc}`saco_stand_ins` compares the photographs (CIFAR) with the small grey images.

# %%
datasets = [*tested_on, *(one for one in measured.levels("dataset") if one not in tested_on)]
of_cell = measured.quantity("dataset", "method", "k")
cells = product(datasets, (*METHODS, LAST, "random"), KS)
of_each_cell = listed({cell: of_cell(*cell) for cell in cells}, ["dataset", "method", "k"])
with_ten = of_each_cell[of_each_cell.k == MID]
by_dataset = in_words(with_ten, ["method"], "dataset", ".2f").rename(columns=label)
of_set = with_ten.groupby("dataset", sort=False).n.max()
sizes = ", ".join(f"{many:,} of {short(one_set)}" for one_set, many in of_set.items())
page.listing(
    of_each_cell,
    "saco_table2_datasets",
    caption=f"Mean SaCo with ten groups by data set, with 95 % intervals. Images: {sizes}. The file also has 5 and 20 groups",
    wide=by_dataset,
)

# %% [markdown]
# ## Models, and what differs from the paper
#
# All our models of CIFAR are one pretrained transformer with 22 million parameters (the paper's have 86 million and more), adapted in
# three ways: `head` has a newly trained last layer, `lora` low-rank changes of every block, `lora-deit` the same by the training
# recipe of DeiT. Explanations of a model that has learnt little have little to be faithful to, so we show its accuracy; the paper
# prints none.

# %%
models = wu.transformers(measured.levels("dataset"))
page.listing(
    models,
    "saco_models",
    caption="Share of n held-out images that our models classify correctly, with 95 % intervals. The file also has the models of the "
    "small grey images",
    empty="No model of these images has a model card on this machine.",
    wide=in_names(models[models.dataset.isin(tested_on)], 3) if len(models) else None,
)

# %%
maps = measured.frame[(measured.frame.k == MID) & measured.frame.method.isin([*METHODS, LAST])]
lost = wu.constant_maps(maps, ["method"])
flat = "; ".join(f"{short(r.method)} {r.constant} of {r.maps}" for r in lost.itertuples() if r.constant) or "none"
left_out = re.sub(r"(\d)(\d{3})\b", r"\1,\2", flat)
Markdown(
    "- *Images.* Ours have 32 × 32 pixels, enlarged to 112 × 112, and 64 patches instead of 196. One group of ten has 1,254 pixels, "
    "in the paper 5,018.\n"
    "- *Integrated gradients* lead here and not in the paper. Two things may help them; we have tested neither. They explain the "
    "probability, from whose drops SaCo is computed, on a path from the mean colour to the image, which resembles erasing. And gradients "
    "of single pixels are less noisy for a small network than for a large one.\n"
    f"- *Maps without a SaCo*, because every pixel has the same score (all data sets): {left_out}.\n"
    "- *Intervals* come from resampling images within each data set. They do not cover the choice of models or data sets."
)

# %% [markdown]
# ## The paper's text against its own tables
#
# The paper's running text has further numbers: gains worked out from Table 1, properties of SaCo, facts of the set-up. We
# recomputed those that do not need the paper's models.

# %%
orders = load("saco_orders", profile).iloc[0]
architectures = recipes("vision_classifiers", "paper")["architectures"]
patch = {int(re.search(r"patch(\d+)", architecture["name"])[1]) for architecture in architectures.values()}
theirs = table1.set_index("method").value
ARITHMETIC, ORDERS, SET_UP = "from Table 1", "all orders of five drops", "paper profile"
known = set(measured.levels("method"))
again = {
    "gain_from_gradient_single_layer": (100 * (theirs[LAST] / theirs[RAW] - 1), ARITHMETIC),
    "gain_from_gradient_cross_layer": (100 * (theirs[ALL] / theirs[ROLLOUT] - 1), ARITHMETIC),
    "saco_of_random_attribution": (orders["mean"], ORDERS),
    "probability_that_the_inequality_holds_for_random_attribution": (orders.obeyed, ORDERS),
    ("coefficient_range", "minimum"): (orders.lowest, ORDERS),
    ("coefficient_range", "maximum"): (orders.highest, ORDERS),
    "number_of_pixel_subsets_case_study": (float(MID), SET_UP),
    "removal_step_of_existing_metrics": (100 / MID, SET_UP),
    "patch_size": (float(patch.pop()) if len(patch) == 1 else math.nan, SET_UP),
    "explanation_methods_compared": (float(len(set(METHODS) & known)), "our run"),
    "datasets_compared": (float(len(settings_of("saco_metrics", "paper")["datasets"])), SET_UP),
    "models_compared": (float(len(architectures)), SET_UP),
    "attention_variants_in_ablation": (float(len({RAW, ROLLOUT, LAST, ALL} & known)), "our run"),
}
rows, numbers = [], {}
for r in published.table("saco_text", text=True).itertuples():
    unknown = (math.nan, "measured on the paper's models")
    estimate, how = again.get((r.item, r.statistic)) or again.get(r.item) or unknown
    close = abs(estimate - r.value) <= (0.5 if how == ARITHMETIC else 1e-9)
    rows.append({"number": r.item.replace("_", " "), "which": r.statistic.replace("_", " "), "unit": r.unit})
    rows[-1] |= {"published": r.value, "estimate": estimate, "how": how}
    rows[-1] |= {"agrees": "–" if math.isnan(estimate) else "yes" if close else "no"}
    if not math.isnan(estimate):
        words = f"{r.item.replace('_', ' ')} {r.statistic.replace('_', ' ')}".strip()
        numbers[words] = SameNumber(float(estimate), r.text)
page.verdicts(page.test({"saco_text": numbers}))

# %%
REWORDED = {SET_UP: "set-up of the paper as we would run it", ORDERS: "all 120 orders of the drops of five groups"}
prose = pd.DataFrame(rows)
again_shown = prose[prose.agrees != "–"]
UNITS = {"percent": " %", "pixels": " pixels"}
in_words_of_paper = again_shown.number.str.replace("saco", "SaCo")
as_they_are = {
    "number": in_words_of_paper + [f", {which}" if which not in ("count", "") else "" for which in again_shown.which],
    "published": [
        f"{value:g}{UNITS.get(unit, '')}" for value, unit in zip(again_shown.published, again_shown.unit, strict=True)
    ],
    "recomputed": [f"{round(value, 4):.4g}" for value in again_shown.estimate],
    "from": again_shown.how.replace(REWORDED),
}
recomputed = page.listing(
    prose,
    "saco_text",
    caption="Numbers of the paper's text, and recomputed. The file also has those that need the paper's models",
    digits=2,
    wide=again_shown[["agrees"]].assign(**as_they_are)[[*as_they_are, "agrees"]],
)
printed = table2.set_index(["k", "method"]).value
lost_in_print = {method: printed[KS[0], method] - printed[KS[-1], method] for method in METHODS}
shares = [lost_in_print[m] / abs(printed[KS[0], m]) for m in METHODS if lost_in_print[m] > 0]
steady = max(abs(lost_in_print[m]) for m in STEADY)
as_small = [short(m) for m in METHODS if m not in STEADY and abs(lost_in_print[m]) < steady]
below_raw = [short(m) for m in FAMILIES["attention"] if printed[KS[0], m] < printed[KS[0], RAW]]
details(
    "The numbers, and three statements about Table 2",
    recomputed,
    f"- *The fall with more groups is slight*, says the paper. In its Table 2 {len(shares)} of the ten methods fall from {KS[0]} to {KS[-1]} groups, by "
    f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % of their value at {KS[0]} groups.\n"
    f"- *Two methods hardly depend on the number of groups*, {' and '.join(map(short, STEADY))}. They change by up to "
    f"{steady:.3f}. So little, or less, does {' and '.join(as_small) or 'no other method'}, which the paper does not name.\n"
    f"- *Raw attention is the weakest of its family.* It is at {MID} groups; at {KS[0]} groups "
    f"{' and '.join(below_raw) or 'no method'} is below it.",
)

# %%
compared = f"{measured.evidence(tested_on)}; data sets compared with the paper's: {', '.join(tested_on)}"
page.finish(note=f"evidence: {compared}")
