# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: does an explanation stay when its image does?
#
# An image and a copy that differs from it by some roundings of single precision look the same and get the same
# output. So an explanation of what the model used must be the same for both. Each image is explained twice, as it is and
# nudged, by the first model of its data set; both maps are then judged on the image as it is. If the maps cut it
# into the same groups, nothing is run again.

# %% tags=["parameters"]
profile = "laptop"
dataset = "fashion"
part = 1  # of `parts`: which share of the pictures
parts = 1
# Your choices: None is what the profile says.
pictures = None  # images, such as 20
ig_steps = None  # points of the path of integrated gradients
nudge = None  # standard deviation of the noise, as the model reads pixels

# %%
from dataclasses import replace

import pandas as pd
import torch
from scipy.stats import spearmanr

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.sources.splits import seeded
from faithlib.attribution import attribute
from faithlib.metrics.saco import grouped_alone
from faithlib.perturb import Perturber, costs

run = start_run(
    "saco_nudged",
    profile=profile,
    dataset=dataset,
    part=part,
    parts=parts,
    pictures=pictures,
    ig_steps=ig_steps,
    nudge=nudge,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["model"])
network = classifier.model.to(device)
data = load_pictures(dataset, "test", n=settings["pictures"], sample=settings["sample"])
classifier.check_classes(data)
named = dataset.removesuffix("-few")  # a few test pictures of a set are pictures of that set

# %% [markdown]
# ## Images, nudged
#
# Pixels as the model reads them have a standard deviation of about one, and one step of a colour is about .02. Normal noise
# of a millionth, drawn for each image by its name, is less than a thousandth of such a step, and some eight times the
# distance between neighbouring numbers of single precision.

# %%
NUDGE = settings["nudge"]
RELEVANCE = ("lrp", "partial_lrp", "transformer_attribution", "conservative_lrp")
METHODS = ("integrated_gradients", "grad_cam", *RELEVANCE, "raw_attention", "rollout", "transformer_mm", "attcat")
OWN = {"integrated_gradients": {"n_steps": settings["ig_steps"]}, "lrp": {}}  # these have a score a pixel by themselves
GROUPING = {"k": 10, "remainder": "spread", "ties": "position", "reduce": "mean"}


def nudged(inputs, ids):
    """The same images with noise that depends on their names alone."""
    noise = [seeded("nudge", picture).standard_normal(inputs.pixels.shape[1:], dtype="float32") for picture in ids]
    return replace(inputs, pixels=inputs.pixels + NUDGE * torch.stack([*map(torch.from_numpy, noise)]).to(device))


def maps(inputs):
    """Scores [B, F] of the paper's ten explanations, by method."""
    return {name: attribute(name, network, inputs, **OWN.get(name, {"upsample": "bilinear"})) for name in METHODS}


def both_sacos(asked, pairs):
    """SaCo of each method's two maps, [B] each."""
    queued = [[grouped_alone.later(asked, scores, **GROUPING) for scores in pair] for pair in pairs]
    return [[saco() for saco in pair] for pair in queued]


# %% [markdown]
# ## Both maps
#
# With $s_i$ the mean score of the pixels in group $i$ and $d_i$ the drop of the predicted class's probability when that group is
# erased (Eq. 1 and 2; the paper has sums, which differ by a factor where groups are of one size),
#
# $$\text{SaCo} = \frac{\sum_{i<j} \pm (s_i - s_j)}{\sum_{i<j} |s_i - s_j|}, \quad \text{with } + \text{ where } d_i \geq d_j
# \text{ and } - \text{ elsewhere (Eq. 3).}$$
#
# How alike two maps $a$ and $b$ are: Spearman's rank correlation of their pixels' scores,
# $\mathrm{corr}(\mathrm{rank}(a), \mathrm{rank}(b))$. *moved*: the absolute difference of their SaCo,
# and *answer moved* that of the predicted class's probability.

# %%
for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    inputs = as_inputs(block, network).to(device)
    copies = nudged(inputs, block.ids)
    asked, again = (Perturber(network, those, erase="mean") for those in (inputs, copies))
    maps_of = maps(inputs)
    pairs = list(zip(maps_of.values(), maps(copies).values(), strict=True))
    scored = both_sacos(asked, pairs)
    rows_of_block = []
    for name, (still, moved), sacos in zip(maps_of, pairs, scored, strict=True):
        first, second = (values.cpu().double() for values in sacos)
        alike = [spearmanr(*both).statistic for both in zip(still.cpu(), moved.cpu(), strict=True)]
        values = {"rank_correlation": alike, "saco": first, "moved": (second - first).abs()}
        values["answer_moved"] = (again.full - asked.full).abs().cpu().double()
        rows_of_block.append(pd.DataFrame({"input": block.ids, "method": name, **values}))
    rows_of_block = pd.concat(rows_of_block, ignore_index=True).assign(dataset=named)
    run.add(rows_of_block, "saco_nudged")
    metrics = ["rank_correlation", "saco", "moved", "answer_moved"]
    run.add_units(as_units(rows_of_block, seed=0, metrics=metrics, keys=["dataset"]))
    run.count(n=len(block), **costs(asked, again))

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# How alike the maps of an image and of its nudged copy are, and how far SaCo moves, by method: 1 and 0 where an explanation stays as
# the image does. *Book*: the full run's mean.

# %%
beside_book(run, metrics=["rank_correlation", "moved"])
