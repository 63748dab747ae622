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
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.engine.studies import recipes, settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.details import details
from faithbook.show.plots import comparison_plot
from faithbook.show.tables import in_names
from faithbook.studies.saco import wu, wu_figures, wu_tables
from faithbook.studies.saco.wu import ALL, KS, LAST, METHODS, MID, RAW, ROLLOUT, short

page = start_page("saco_tables", profile, values=values, paper="wu_2024")
table1 = published.table("saco_table1").rename(columns={"method_inferred": "method", "dataset_inferred": "dataset"})
table2 = published.table("saco_table2").astype({"k": int})
measured = page.measure(
    "saco_metrics",
    parts=["", "groups"],
    over=["dataset", "model", "method", "k"],
    prepare=wu.by_groups,
    printed=wu_tables.both_tables(table1, table2),
    bounds=(-1, 1),
)
tested_on = measured.comparable()  # the paper's own images alone, those it prints values of first, or all substitutes
saco = page.quantity("method", k=MID, dataset=tested_on)

# %% tags=["remove-input"]
page.in_short(lambda: wu_tables.in_short(saco))

# %% [markdown]
# SaCo cuts the pixels of an image into groups by their score in the explanation, erases each group on its own, and says whether
# groups with higher scores cost the model more: 1 if always, −1 if never, 0 on average for random scores
# ({ref}`formula <saco>`). {cite:t}`wu_2024` print two tables of it. Table 1 shows what gradients, and what all layers, add to
# attention. Table 2 has ten methods ({ref}`what they are <vit-methods>`), with the pixels cut into 5, 10 and 20 groups.
#
# The printed values are of ImageNet and three vision transformers. Ours are means over CIFAR-10 and CIFAR-100 and over three
# fine-tunings of one smaller transformer. So no value need match, and we test statements, on {term}`substitute data`. Small grey
# images, a weaker substitute, are only in the table of data sets below.

# %% [markdown]
# ## Table 1: what gradients add and what all layers add
#
# **What the paper shows.** SaCo of four explanations made of attention: that of the last layer or that of all layers, each
# without and with gradients. Both together are best, and gradients matter more than layers.
#
# **Our run.** The same four with ten groups of pixels. The paper does not name its methods; three of its four values are also in
# Table 2, which is how we know them. The fourth, that of the last layer with gradients, is in no other table. We take it for the
# rule of Transformer-MM applied to the last layer only. The intervals are in the first sentences of this page.

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


# %%
varied = page.measure(
    "saco_metrics",
    parts=["", "groups", "settings"],
    over=["dataset", "model", "setting", "method"],
    prepare=wu.by_setting,
)
curve_c03 = page.multiverse("saco_c03", ["setting"], wu.under_each_setting(wu.about_twice, varied, tested_on))
curve_c04 = page.multiverse("saco_c04", ["setting"], wu.under_each_setting(wu.layers_too, varied, tested_on))
on_table1 = {
    "saco_c03": wu.about_twice(saco),
    "saco_c04": wu.layers_too(saco),
    "saco_table1": wu.about_twice(saco),
}
first = page.test(on_table1)
page.verdicts(first)

# %% [markdown]
# The second claim (c04) makes a statement of each of its three comparisons, so it is *mixed* if some hold and others are contradicted.

# %%
comparisons = page.parts(
    first,
    "saco_table1_parts",
    caption="The comparisons of both claims: differences of mean SaCo, and natural logarithms of ratios (*log*; the verdict has the ratio "
    "itself); each model was trained once. *On its own*: what the "
    "rule says of this comparison alone",
)
of_c03 = page.curve(
    curve_c03,
    "saco_c03_curve",
    caption="Gain from gradients in the last layer (claim c03) under each choice, with 95 % intervals. Above zero: a gain. A variant can be "
    "undecided although its interval excludes zero, because the claim has a second statement, on the size of the gain.",
)
of_c04 = page.curve(
    curve_c04,
    "saco_c04_curve",
    caption="Smallest of the three differences of claim c04 under each choice, with 95 % intervals. Above zero: the claim holds.",
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
# **Our run.** Every image was cut into ten groups ($K = 10$), and a part of them also into 5 and 20. The heat maps are the same. The figure
# has only the images that were cut in all three ways, with intervals; the table has all.

# %%
page.overview(
    comparison_plot({short(m): saco(m) for m in METHODS}, "SaCo"),
    "saco_overview",
    caption="SaCo of ten methods with ten groups of pixels, in the paper (ImageNet) and on our models (CIFAR), with 95 % intervals; "
    f"n = {wu_tables.fewest(saco, [MID])} images or more in the smaller data set. Dotted: zero, the mean "
    "of random scores.",
)

# %%
cut_in_all_ways = page.measure(
    "saco_metrics",
    parts=["", "groups"],
    over=["dataset", "model", "method", "k"],
    prepare=wu.with_all_groups,
    printed=table2.drop(columns="dataset"),
    bounds=(-1, 1),
)
of_same_images = cut_in_all_ways.quantity("method", dataset=tested_on)
fig, alt = wu_figures.groups_figure({method: [of_same_images(method, k=k) for k in KS] for method in METHODS})
page.figure(
    fig,
    "saco_table2_groups",
    alt=alt,
    caption="Mean SaCo of ten methods by number of groups, published (ImageNet) and ours, with 95 % intervals; "
    f"n = {wu_tables.fewest(of_same_images, KS)} images or more in the smaller data set. Dotted: zero, the mean of "
    "random scores.",
)

# %%
page.table(
    "saco_table2",
    lambda row: saco(row["method"], k=int(row["k"])),
    rows=["k"],
    columns=["method"],
    words={"k": "groups"} | {method: short(method) for method in METHODS},
    caption="Mean SaCo of ten methods by number of groups",
)

# %% tags=["remove-input"]
Markdown(wu_tables.sizes_in_words(saco))

# %% [markdown]
# **What is tested.** For the table Kendall's tau compares our order of the ten methods with the printed one (1: the same order, 0:
# unrelated). A claim about *most* methods asks for more than half of its comparisons, any other claim for all of them. The paper has three
# families: *gradient-based* (IG, Grad-CAM), *attribution-based* (LRP, Partial LRP, Transformer Attribution, Conservative LRP) and
# *attention-based* (Raw Attention, Rollout, Transformer-MM, ATTCAT). The values of Table 2 are of ImageNet, for which CIFAR is a
# substitute. The last claim (c12) is also about the paper's Figure 4, which has CIFAR too, so for it our images count as the paper's data.

# %%
on_table2 = {
    "saco_table2": wu_tables.orders_of_table2(saco),
    "saco_c08": wu.most_fall(saco),
    "saco_c09": wu.winners_fall_most(saco),
    "saco_c10": wu.two_are_steady(saco),
    "saco_c11": wu.attention_leads(saco),
    "saco_c12": wu.most_positive(saco),
}
second = page.test(on_table2)
page.verdicts(second)

# %%
page.parts(
    second,
    "saco_tables_parts",
    caption="All comparisons of the claims on Table 2: differences of mean SaCo; of the table the taus with each number of groups and their mean. "
    "*On its own*: what the rule says of this comparison alone",
)

# %% [markdown]
# ## Each data set on its own
#
# Table 2 with ten groups again, now without averaging over data sets, and with random scores for comparison.
# {doc}`saco_stand_ins` compares the photographs (CIFAR) with the small grey images.

# %%
datasets = list(dict.fromkeys([*tested_on, *measured.levels("dataset")]))
of_each_cell = wu_tables.by_dataset(measured.quantity("dataset", "method", "k"), datasets)
page.listing(
    of_each_cell,
    "saco_table2_datasets",
    caption=f"Mean SaCo with ten groups by data set, with 95 % intervals. Images: {wu_tables.images_of(of_each_cell)}. The file also has 5 and "
    "20 groups",
    wide=wu_tables.with_ten_groups(of_each_cell),
)

# %% [markdown]
# ## Models, and what differs from the paper
#
# All our models of CIFAR are one pretrained transformer, ViT-S/14, with 22 million parameters (the paper's have 86 million and more), adapted in
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
Markdown(
    "- *Images.* Ours have 32 × 32 pixels, enlarged to 112 × 112, and 64 patches instead of 196. One group of ten has 1,254 pixels, "
    "in the paper 5,018.\n"
    "- *Integrated gradients* lead here and not in the paper. Two things may help them; we have tested neither. They explain the "
    "probability, from whose drops SaCo is computed, on a path from the mean colour to the image, which resembles erasing. And gradients "
    "of single pixels are less noisy for a small network than for a large one.\n"
    f"- *Maps without a SaCo*, because every pixel has the same score (all data sets): {wu_tables.maps_left_out(measured.frame)}.\n"
    "- *Intervals* come from resampling images within each data set. They do not cover the choice of models or data sets."
)

# %% [markdown]
# ## The paper's text against its own tables
#
# The paper's running text has further numbers: gains from Table 1, properties of SaCo, facts of the set-up. We compare those that do
# not need the paper's models.

# %%
in_paper = wu_tables.PaperRun(
    datasets=len(settings_of("saco_metrics", "paper")["datasets"]),
    architectures=recipes("vision_classifiers", "paper")["architectures"],
)
orders = load("saco_orders", profile).iloc[0]
again = wu_tables.again(table1.set_index("method").value, orders, in_paper, measured.levels("method"))
text = wu_tables.text_again(again)
page.verdicts(page.test({"saco_text": wu_tables.numbers_of(text)}))

# %% tags=["remove-input"]
Markdown(wu_tables.numbers_of_text_in_words(text))

# %%
recomputed = page.listing(
    text.drop(columns="text"),
    "saco_text",
    caption="Numbers of the paper's text, next to ours. The file also has those that need the paper's models",
    digits=2,
    wide=wu_tables.recomputed_in_words(text),
)
details(
    "The numbers, and three statements about Table 2",
    recomputed,
    wu_tables.statements_on_table2(table2.set_index(["k", "method"]).value),
)

# %%
compared = f"{measured.evidence(tested_on)}; data sets compared with the paper's: {', '.join(tested_on)}"
page.finish(note=f"evidence: {compared}")
