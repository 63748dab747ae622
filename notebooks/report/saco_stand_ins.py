# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Does the kind of image change the result? Photographs against small images

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown, display

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.figures import OURS, PALETTE
from faithbook.studies.saco import wu, wu_figures, wu_images
from faithbook.studies.saco.wu_images import PHOTOGRAPHS, SMALL

page = start_page("saco_stand_ins", profile, values=values, paper="wu_2024")
table2 = published.table("saco_table2").astype({"k": int})
measured = page.measure(
    "saco_metrics",
    parts=["", "groups"],
    over=["dataset", "model", "method", "k"],
    prepare=wu.by_groups,
    printed=table2.drop(columns="dataset"),  # of ImageNet, for orientation next to either
    bounds=(-1, 1),
)
kinds = wu_images.Kinds.of(measured)
printed = wu_images.printed_by_method(table2)

# %% tags=["remove-input"]
page.in_short(lambda: wu_images.in_short(kinds, printed))

# %% [markdown]
# The choice of substitute data can change the result. This book tries the claims of {cite:t}`wu_2024` on two
# kinds of material. This page compares both with the paper's printed values.
#
# | | the paper | photographs | small images |
# | --- | --- | --- | --- |
# | images | ImageNet, CIFAR-10, CIFAR-100 | CIFAR-10, CIFAR-100: two of the paper's data sets, in colour, with backgrounds of all kinds | clothes, digits, silhouettes: one grey object on a black background |
# | pixels, patches | 224 × 224, 196 | 112 × 112 (made larger from 32 × 32), 64 | 28 × 28, 49 |
# | blocks, width | 12 of 768, 24 of 1,024 | 12 of 384 | 6 of 96, 8 of 120 |
# | parameters | 86 and 304 million | 22 million | about 0.7 and 1.4 million |
# | trained on | ImageNet-21k or ImageNet, then the data set | not known (by its architecture, DINOv2's data and more); then 10,000 of the data set | the data set, or clothes and then the data set |
#
# {doc}`Data and models <../data-and-models>` has more on each, and {doc}`saco_tables` has the accuracy of every model. The paper prints
# SaCo of ImageNet alone, so no value of ours need match.

# %%
Markdown(kinds.in_words())

# %% [markdown]
# ## SaCo of ten methods
#
# Ten groups, mean over data sets and models, random scores last. Kendall's tau compares the order of the ten with that of the printed
# values (1: the same order, 0: unrelated), with an interval over images.


# %%
both = wu_images.beside_printed(kinds, printed)
caption = (
    "SaCo with ten groups (higher is better), as printed for ImageNet and on both kinds of images, with 95 % intervals "
    "over images; *difference*: photographs minus small images; n: images with a SaCo in the smallest data set"
)
page.listing(both, "saco_stand_ins_table2", caption=caption, digits=2)

# %%
colours = {PHOTOGRAPHS: OURS, SMALL: PALETTE[2]}
fig, alt = wu_figures.by_images(both, {kind: colours[kind] for kind in kinds.datasets}, wu_images.columns_of)
caption = "SaCo of ten methods and of random scores, as printed and on both kinds of images; right is better."
page.figure(fig, "saco_stand_ins_plot", alt=alt, caption=caption)

# %%
Markdown(wu_images.taus_by_kind_in_words(kinds, printed))

# %% [markdown]
# ## The claims, on each kind of image
#
# Each claim is judged by its usual rule ({doc}`../how-verdicts-are-made`), on one kind of image alone and with this book's own choices
# where the paper reports none. The verdicts of the {doc}`scoreboard <scoreboard>` are those on photographs, with one difference: that
# existing metrics agree with one another much more than with SaCo is *mixed* there, because a choice that the paper does not report
# changes the answer ({doc}`saco_figures`). That SaCo does not depend on the scale of scores follows from the formula, on any images, and is
# left out.

# %%
over = ["dataset", "model", "metric", "method"]
every = page.measure("saco_metrics", over=over, prepare=wu.turned)
ahead = page.measure("saco_metrics", over=[*over, "ties"], prepare=wu.random_ahead)
pairs = wu_images.correlations_by_kind(kinds, every)
claims = wu_images.claims_by_kind(kinds, every, ahead, pairs)
curves = {name: page.multiverse(name, ["images"], by_kind) for name, by_kind in claims.items()}
judged = wu_images.variants_of_claims(curves, page.worded)
page.listing(
    judged[["claim", "images", "decision", "the part that decides", "estimate", "low", "high", "n"]],
    "saco_stand_ins_claims",
    caption="The claims of the paper, judged on each kind of images alone: the decision, and the part that decides (of a claim that makes "
    "several statements: its first comparison), with its 95 % interval",
    digits=2,
)

# %%
compared = (
    "With one kind of images there is nothing to compare." if kinds.missing else wu_images.differing_in_words(judged)
)
Markdown(compared if page.judges else "This page has numbers alone.")

# %% [markdown]
# ## ImageNet, with a convolutional network
#
# The paper's third data set is ImageNet; the weights of its transformers are not available. EfficientNet-Lite0, a
# convolutional network with the same thousand classes, is. Of the 70 sample images of ImageNet that we have
# ({doc}`../data-and-models`) those that it classifies correctly are explained by methods that need no transformer, in patches of
# 32 pixels, and scored like everything else. Claims about transformers, about methods that only they have, or about most
# methods are not tested with it. The other claims are tested by their usual rules.

# %%
if page.has("saco_imagenet"):
    of_network = page.measure("saco_imagenet", over=["dataset", "model", "metric", "method"], prepare=wu.turned)
    table = wu_images.of_network(of_network.quantity("metric", "method"), of_network.levels("method"))
    caption = (
        "A convolutional network on ImageNet: every metric of every explanation, with 95 % intervals over n images; higher is better for SaCo "
        "and AOPC, MoRF, lower for the others"
    )
    display(page.listing(table, "saco_stand_ins_network", caption=caption, digits=2))
else:
    display(Markdown("*No image of ImageNet was measured.*"))

# %%
if page.has("saco_imagenet"):
    network_claims = wu.claims_of_any_network(
        of_network.quantity("method", metric="saco"), of_network.each(wu.agreement(*wu.OF_ANY_NETWORK))
    )
    curves = {
        name: page.multiverse(name, ["model"], {("a convolutional network",): claim})
        for name, claim in network_claims.items()
    }
    caption = "The claims that name no transformer, judged with a convolutional network on ImageNet: the decision and the part that decides"
    columns = ["claim", "model", "decision", "the part that decides", "estimate", "low", "high", "n"]
    variants = wu_images.variants_of_claims(curves, page.worded)[columns]
    display(page.listing(variants, "saco_stand_ins_network_claims", caption=caption, digits=2))

# %% [markdown]
# ## Agreement of metrics (Figure 2)
#
# {doc}`saco_figures` draws the agreement on photographs. The table adds that on small images. AUC, LOdds and AOPC, LeRF are multiplied by
# −1 here, so that higher is better under every metric.

# %%
if kinds.missing:
    display(Markdown(f"*There is one kind of images, which {{doc}}`saco_figures` draws: {', '.join(kinds.datasets)}.*"))
else:
    caption = "Figure 2 on both kinds of images: Spearman's correlation with its 95 % interval, and Kendall's tau-b"
    display(page.listing(wu_images.bars_by_kind(pairs), "saco_stand_ins_figure2", caption=caption, digits=2))

# %% [markdown]
# ## What could be behind it
#
# *Background.* On a black background the mean of an image is a grey that no pixel had, so erasing background paints
# something there. If that explains a difference, SaCo of a method should change when an erased pixel takes its value
# in a blurred copy, which leaves empty background as dark as it was. One fixed colour (zero in normalised pixels: the
# mean of the data set for small images, that of ImageNet for photographs) also paints background, but in the same
# colour in every image.
#
# *Few high scores.* A map with few high scores separates a few groups and leaves the others equal, so that few pairs have any weight in
# SaCo. After replacing scores by ranks all maps have the same scores in another order; equal scores, which have no order of their own,
# rank in reading order. The change of SaCo is then due to how the scores were distributed, on the maps that have a SaCo without ranks.
#
# Both were measured on a part of the images with the first model of each data set; ranks need no further model call.

# %%
tried = page.measure(
    "saco_metrics",
    parts=["settings"],
    over=["dataset", "setting", "method"],
    prepare=wu_images.of_changed_settings,
    bounds=(-1, 1),
)
changes = wu_images.changes_by_family(kinds, tried)
page.listing(
    changes,
    "saco_stand_ins_changes",
    caption="Change of SaCo, mean over the methods of a family, when one thing is done differently, on the data sets that went "
    "through these settings; 95 % interval over n images",
    empty="*No image went through these settings.*",
)

# %% tags=["remove-input"]
Markdown(wu_images.clear_changes(changes) if len(changes) else "")

# %% [markdown]
# *Pretraining and depth.* For photographs there are several trainings of one pretrained encoder: `head` leaves it as it is,
# `lora` and `lora-deit` change all of its blocks a little, the latter by the recipe of DeiT. The models of the small images are `base`
# (6 blocks), `deit` (the same, by that recipe) and `large` (8 blocks). What trainings of one encoder share with
# each other and not with the small transformers comes from the encoder (its depth, its pretraining, or its size) or
# from the images. Where they differ, the reason is the training on the data set, including how much was learnt
# (accuracies are on {doc}`saco_tables`).

# %%
by_model = wu_images.saco_by_model(kinds)
page.listing(
    by_model,
    "saco_stand_ins_by_model",
    caption="SaCo with ten groups by model, mean over its data sets (without intervals); last row: n, images in the smallest set",
    wide=wu_figures.models_across(by_model),
)

# %% [markdown]
# **What cannot be separated.** The two kinds differ in images (their colour, their size, the number of patches), in
# depth, in width and in pretraining all at once, and none of our models differs in one of these alone. The tables
# above can show whether the way to erase, the distribution of scores or the training on the data set would be enough; none
# of them can show whether depth or pretraining is the reason. The encoder's makers do not state its training data
# ({doc}`../data-and-models`); these may include images of CIFAR, though not, according to the makers of its
# predecessors, their labels.

# %%
page.finish(note=kinds.note)
