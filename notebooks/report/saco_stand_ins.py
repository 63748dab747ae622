# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Photographs against small images

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown, display

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.figures import OURS, PALETTE
from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, listed, spoken
from faithbook.stats import comparison, evidence_levels
from faithbook.stats.agreement import tau_of
from faithbook.studies.saco import wu, wu_figures
from faithbook.studies.saco.wu import FAMILIES, METHODS, short

page = start_page("saco_stand_ins", profile, values=values, paper="wu_2024")
PHOTOGRAPHS, SMALL = "photographs", "small pictures"
COLOURS = {PHOTOGRAPHS: OURS, SMALL: PALETTE[2]}


table2 = published.table("saco_table2").astype({"k": int})
measured = page.measure(
    "saco_metrics",
    parts=["", "groups"],
    over=["dataset", "model", "method", "k"],
    prepare=wu.by_groups,
    printed=table2.drop(columns="dataset"),  # of ImageNet, for orientation next to either
    bounds=(-1, 1),
)
ON = {
    (SMALL if level == evidence_levels.SUBSTITUTE else PHOTOGRAPHS): datasets
    for level, datasets in measured.by_evidence.items()
}
saco = {name: page.quantity("method", k=10, dataset=datasets) for name, datasets in ON.items()}
missing = [name for name in COLOURS if name not in ON]


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    printed = [float(table2.query("k == 10 and method == @method").value.mean()) for method in METHODS]
    order = {name: tau_of([at(method).ours for method in METHODS], printed) for name, at in saco.items()}
    return (
        "Mean SaCo of ten methods and agreement of their order with the printed one (Kendall's tau): "
        + "; ".join(
            f"{spoken(at(METHODS), '.2f')} and {spoken(order[name], '.2f')} on {name} (n = {order[name].n})"
            for name, at in saco.items()
        )
        + f". The printed mean is {sum(printed) / len(printed):.2f}."
    )


page.in_short(in_short)

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
# {doc}`Data and models <../data-and-models>` has more on each, and {doc}`saco_tables` has the accuracy of every model. The paper prints SaCo on ImageNet alone, so neither column
# has a cell that it could match.

# %%
Markdown(
    f"*There are no {' and no '.join(missing)} among the values used here, so there is one column only.*"
    if missing
    else f"Compared: {'; '.join(f'{name}: ' + ', '.join(datasets) for name, datasets in ON.items())}."
)

# %% [markdown]
# ## SaCo of ten methods
#
# Ten groups, mean over data sets and models, random scores last. Kendall's tau says how far the order of the ten is that
# of the printed values (1: the same), with an interval over images.


# %%
def columns_of(name):
    """The columns of an estimate and the ends of its interval."""
    return name, f"{name}, low", f"{name}, high"


rows = []
for method in (*METHODS, "random"):
    rows.append({"method": method, "published": table2.query("k == 10 and method == @method").value.mean()})
    for name, at in saco.items():
        rows[-1] |= ends_of(at(method), *columns_of(name)) | {f"{name}, n": at(method).ours.n}
    if not missing:
        rows[-1] |= ends_of(saco[PHOTOGRAPHS](method) - saco[SMALL](method), *columns_of("difference"))
both = pd.DataFrame(rows)
caption = (
    "SaCo at K = 10 (higher is better), as printed for ImageNet and on both kinds of images, with 95 % intervals "
    "over images, n of them in the smallest set"
)
page.listing(both, "saco_stand_ins_table2", caption=caption, digits=2)

# %%
fig, alt = wu_figures.by_images(both, {name: COLOURS[name] for name in ON}, columns_of)
caption = "SaCo of ten methods and of random scores, as printed and on both kinds of images; right is better."
page.figure(fig, "saco_stand_ins_plot", alt=alt, caption=caption)

# %%
printed = [float(both.set_index("method").published[method]) for method in METHODS]
taus = []
for name, at in saco.items():
    tau = tau_of([at(method).ours for method in METHODS], printed)
    taus.append(f"{name} {spoken(tau, '.2f')} (n = {tau.n} in the smallest set)")
Markdown(f"Kendall's tau with the printed order: {'; '.join(taus)}.")

# %% [markdown]
# ## The claims, on each kind of image
#
# Each claim is judged by the rule of its id ({doc}`../how-to-read`), on one kind of image alone. The verdicts
# of the {doc}`scoreboard <scoreboard>` use the paper's own data if there are values of it.

# %%
over = ["dataset", "model", "metric", "method"]
every = page.measure("saco_metrics", over=over, prepare=wu.turned)
ahead = page.measure("saco_metrics", over=[*over, "ties"], prepare=wu.random_ahead)
pairs = {which: every.each(wu.agreement(*METHODS, datasets=datasets)) for which, datasets in ON.items()}
parts = {
    which: wu.claims(
        at,
        mean=every.quantity("metric", "method", dataset=ON[which]),
        ahead=ahead.quantity("metric", "method", ties="half", dataset=ON[which]),
        pairs=pairs[which],
    )
    for which, at in saco.items()
}
curves = {
    name: page.multiverse(name, ["pictures"], {(which,): of[name] for which, of in parts.items()})
    for name in sorted(next(iter(parts.values())))
}
claim_of = published.column("claim")


def specified(curves):
    """All analysis variants of some curves, with the claims that they are of."""
    frames = [curve.frame.assign(claim=claim_of[name]) for name, curve in curves.items()]
    every = pd.concat(frames, ignore_index=True).rename(columns={"word": "decision", "part": "the part that decides"})
    return every.assign(decision=[page.worded(word) for word in every["decision"]])


judged = specified(curves)
page.listing(
    judged[["claim", "pictures", "decision", "the part that decides", "estimate", "low", "high", "n"]],
    "saco_stand_ins_claims",
    caption="The claims of the paper, judged on each kind of images alone: the decision and the part that decides, with its "
    "95 % interval; what the paper does not report is as the book has it",
    digits=2,
)

# %%
decisions = judged.pivot_table(index="claim", columns="pictures", values="decision", aggfunc="first")
apart = decisions[decisions.nunique(axis=1) > 1]
Markdown(
    f"The decision is the same on both kinds for {len(decisions) - len(apart)} of {len(decisions)} claims. They differ in: "
    f"{'; '.join(apart.index) or 'none'}."
    if page.judges and not missing
    else "This page has numbers alone."
    if not page.judges
    else "With one kind of images there is nothing to compare."
)

# %% [markdown]
# ## ImageNet, with a convolutional network
#
# The paper's third data set is ImageNet; the weights of its transformers are not available. EfficientNet-Lite0, a
# convolutional network with the same thousand classes, is. Its correct predictions on ImageNet are explained by
# methods that need no transformer, in patches of 32 pixels, and scored like everything else. Claims about
# transformers, about methods that only they have, or about most methods are not tested with it. The other claims are
# tested by their usual rules.

# %%
of_network = None
if page.has("saco_imagenet"):
    over_network = ["dataset", "model", "metric", "method"]
    of_network = page.measure("saco_imagenet", over=over_network, prepare=wu.turned)
    value = of_network.quantity("metric", "method")
    shown = [name for name in (*wu.OF_ANY_NETWORK, "random") if name in of_network.levels("method")]
    table = listed(
        {(metric, name): wu.SIGN[metric] * value(metric, name) for metric in wu.SIGN for name in shown},
        ["metric", "method"],
    )
    caption = (
        "A convolutional network on ImageNet: every metric of every explanation, with 95 % intervals over n images"
    )
    display(page.listing(table, "saco_stand_ins_network", caption=caption, digits=2))
else:
    display(Markdown("*No image of ImageNet was measured.*"))

# %%
if of_network is not None:
    network_claims = wu.claims_of_any_network(
        of_network.quantity("method", metric="saco"), of_network.each(wu.agreement(*wu.OF_ANY_NETWORK))
    )
    curves = {
        name: page.multiverse(name, ["model"], {("a convolutional network",): part})
        for name, part in network_claims.items()
    }
    caption = "The claims that name no transformer, judged with a convolutional network on ImageNet: the decision and the part that decides"
    columns = ["claim", "model", "decision", "the part that decides", "estimate", "low", "high", "n"]
    display(page.listing(specified(curves)[columns], "saco_stand_ins_network_claims", caption=caption, digits=2))

# %% [markdown]
# ## Agreement of metrics (Figure 2)
#
# {doc}`saco_figures` draws the agreement from photographs if these were measured. The table adds that on small images.

# %%
if missing:
    display(Markdown(f"*There is one kind of images, which {{doc}}`saco_figures` draws: {', '.join(ON)}.*"))
else:
    bars = pd.concat([wu.bar_table(pairs[which]).assign(pictures=which) for which in ON], ignore_index=True)
    columns = ["bar", "pictures", "published", "estimate", "low", "high", "Kendall's tau", "n"]
    caption = "Figure 2 on both kinds of images: Spearman's correlation with its 95 % interval, and Kendall's tau-b"
    display(page.listing(bars[columns], "saco_stand_ins_figure2", caption=caption, digits=2))

# %% [markdown]
# ## What could be behind it
#
# *Background.* On a black background the mean of an image is a grey that no pixel had, so erasing background paints
# something there. If that explains a difference, SaCo of a method should change when an erased pixel takes its value
# in a blurred copy, which leaves empty background as dark as it was. One fixed colour (zero in normalised pixels: the
# mean of the data set for small images, that of ImageNet for photographs) also paints background, but in the same
# colour in every image. *Density.* A map with few high scores separates a few groups and leaves the others equal, so
# that few pairs have any weight in SaCo. Replaced by ranks, all maps have the same density; equal scores, which have
# no order of their own, rank in reading order. The change of SaCo is then due to density, on the maps that have a
# SaCo without ranks. Both were measured on a part of the images with the first model of each data set; ranks need no
# further model call.

# %%
SETTINGS = {"zero": "erased: one fixed colour", "blur": "erased: blurred copy", "ranks": "scores replaced by ranks"}


over = ["dataset", "setting", "method"]
tried = page.measure("saco_metrics", parts=["settings"], over=over, prepare=wu.of_settings(SETTINGS), bounds=(-1, 1))
change = tried.quantity("setting", "method")
rows = []
for name, datasets in ON.items():
    there = tried.frame[tried.frame.dataset.isin(datasets)]
    have = list(there.dataset.unique())
    for setting in [name for name in SETTINGS if name in set(there.setting)]:
        at = {m: change(setting, m, dataset=have) - change("main", m, dataset=have) for m in METHODS}
        for family, members in FAMILIES.items():
            mean_change = comparison.mean([at[method] for method in members]).ours
            labels = {"pictures": name, "data sets": ", ".join(map(label, have)), "change": SETTINGS[setting]}
            labels |= {"family": f"{family}-based", "n": mean_change.n}
            rows.append(labels | ends_of(mean_change))
page.listing(
    pd.DataFrame(rows),
    "saco_stand_ins_changes",
    caption="Change of SaCo, mean over the methods of a family, when one thing is done differently, on the data sets that went "
    "through these settings; 95 % interval over n images",
    empty="*No image went through these settings.*",
)

# %% [markdown]
# *Pretraining and depth.* For photographs there are several trainings of one pretrained encoder: `head` leaves it as it is,
# `lora` and `lora-deit` change all of its blocks a little, the latter by the recipe of DeiT. What they share with
# each other and not with the small transformers comes from the encoder (its depth, its pretraining, or its size) or
# from the images. Where they differ, the reason is the training on the data set, including how much was learnt
# (accuracies are on {doc}`saco_tables`).

# %%
rows = []
for name, datasets in ON.items():
    frame = measured.frame[measured.frame.dataset.isin(datasets)]
    for model in dict.fromkeys(frame.model):
        where = sorted(set(frame[frame.model == model].dataset))
        of_methods = {m: saco[name](m, dataset=where, model=model) for m in METHODS}
        rows.append({"pictures": name, "model": model, "n": min(pair.ours.n for pair in of_methods.values())})
        rows[-1] |= {short(method): value.ours.point for method, value in of_methods.items()}
by_model = pd.DataFrame(rows)
page.listing(
    by_model,
    "saco_stand_ins_by_model",
    caption="SaCo at K = 10 by model, mean over its data sets; n images in the smallest set",
    wide=wu_figures.models_across(by_model),
)

# %% [markdown]
# **What cannot be separated.** The two kinds differ in images (their colour, their size, the number of patches), in
# depth, in width and in pretraining all at once, and none of our models differs in one of these alone. The tables
# above can show whether the way to erase, the density of maps or the training on the data set would be enough; none
# of them can show whether depth or pretraining is the reason. The encoder's makers do not state its training data
# ({doc}`../data-and-models`); these may include images of CIFAR, though not, according to the makers of its
# predecessors, their labels.

# %%
page.finish(note="; ".join(f"{name}: {', '.join(datasets)}" for name, datasets in ON.items()))
