# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: bounds of AOPC and NAOPC of one classifier on one data set
#
# Edin et al. (2025) on our own models: exact bounds for short texts, beam bounds with error bounds for long ones, AOPC
# and NAOPC of attribution methods, and how well each classifier withstands an attack on its embeddings. Words are the
# features, the mask token takes their place, the target is the predicted class's probability.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
classifier = "l6"
part = 1  # of `parts`: which share of the texts
parts = 1
# Your choices: None is what the profile says.
short_inputs = None  # short texts, of which all orders are searched
long_inputs = None  # long texts, searched by a beam
widths = None  # widths of the beams on short texts, such as [1, 10]
ig_steps = None  # points of the path of integrated gradients
samples = None  # copies of a text for LIME and KernelSHAP
permutations = None  # orders of its words for Shapley values

# %%
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.studies.naopc.edin_models import (
    ENDS,
    Attacked,
    Block,
    bounds_of_long,
    bounds_of_short,
    explanations,
    scores_of_explanations,
    texts_of_length,
)
from faithlib.perturb import costs

run = start_run(
    "naopc_models",
    profile=profile,
    dataset=dataset,
    classifier=classifier,
    part=part,
    parts=parts,
    short_inputs=short_inputs,
    long_inputs=long_inputs,
    widths=widths,
    ig_steps=ig_steps,
    samples=samples,
    permutations=permutations,
)
settings = run.settings
for length, wanted in (("short", short_inputs), ("long", long_inputs)):
    settings[length] = settings[length] if wanted is None else settings[length] | {"inputs": wanted}
device = "cuda" if torch.cuda.is_available() else "cpu"
loaded = load_model(settings["model"])
network = loaded.model.to(device)
data = load_dataset(dataset, "test", sample=settings["sample"])
about = {"dataset": dataset, "classifier": classifier}
labels = {"seed": 0, "clusters": data.clusters}

# %% [markdown]
# ## Texts of a length
#
# Whole texts with the right number of words; where there are too few (news articles), articles cut to their first words.
# Every classifier gets the same texts.

# %%
texts = {}
for length in ("short", "long"):
    low, high = settings[length]["words"]
    texts[length] = texts_of_length(data, loaded.tokenizer, low=low, high=high, n=settings[length]["inputs"])

# %% [markdown]
# ## Bounds
#
# The $N$ words go one after the other in an order $o$; with $p_k$ the probability of the predicted class without the first
# $k$ words,
#
# $$\mathrm{AOPC}(o) = \frac{1}{N} \sum_{k=1}^{N} (p_0 - p_k), \qquad
# \mathrm{NAOPC}(o) = \frac{\mathrm{AOPC}(o) - \min_{o'} \mathrm{AOPC}(o')}{\max_{o'} \mathrm{AOPC}(o') - \min_{o'} \mathrm{AOPC}(o')}.$$
#
# Short texts: exact bounds first. The beams that follow run nothing new, since every set is known; their `rows`
# count the sets each of them would need alone.


# %%
def bounds_of(block, length):
    """The bounds of a block, after adding what every search found to what the reports read."""
    if length == "short":
        limits, found = bounds_of_short(block, longest=settings["short"]["words"][1], widths=settings["widths"])
    else:
        limits, found = bounds_of_long(block, settings["long_search"])
    found = found.assign(method=found.search)
    run.add_units(as_units(found, metrics=list(ENDS), keys=["length", "width"], **labels), "bounds")
    return limits


# %% [markdown]
# ## Attributions, AOPC, NAOPC
#
# Nine of the paper's ten methods: DecompX needs its own forward pass for every architecture (the authors ship
# their own BERT and RoBERTa for it), and ours are other models. AttInGrad needs attention maps, which an LSTM does not have.
#
# Signed sums over the embedding, so that a word may count against the class. A beam's bounds are widened by the orders
# that the methods themselves have shown to be possible; how many values were outside before is kept.
#
# ERASER's sufficiency keeps the top 1, 5, 10, 20 and 50 % of the words and averages the drops. What stays when the least
# relevant words have gone is the same set, so the ascending sum reads the same curve, at every length.


# %%
def save_scores(scores, sums):
    """Add a block's scores to what the reports read."""
    run.add(scores, "naopc_model_scores")
    run.add(sums, "naopc_conventions")
    scaled = scores.assign(metric=scores.metric.str.replace("aopc", "naopc"), value=scores.naopc)
    eraser = sums.rename(columns={"eraser": "sufficiency_eraser"})
    run.add_units(as_units(scores.assign(value=scores.aopc), keys=["length"], **labels))
    run.add_units(as_units(scaled, keys=["length"], **labels))
    run.add_units(as_units(eraser, metrics=["sufficiency_eraser"], keys=["length"], **labels))


# %%
# One list of blocks, so that parts follow one another in every table.
blocks = [
    (length, chosen.iloc[start : start + settings["block"]].reset_index(drop=True))
    for length, chosen in texts.items()
    for start in range(0, len(chosen), settings["block"])
]
for length, chosen in run.shared(blocks):
    block = Block(network, loaded.tokenizer, chosen, about)
    limits = bounds_of(block, length)
    scores = explanations(
        block,
        ig_steps=settings["ig_steps"],
        samples=settings["samples"],
        permutations=settings["permutations"],
        has_attention=classifier != "lstm",
    )
    save_scores(*scores_of_explanations(block, scores, limits, length))
    run.count(n=len(chosen), **costs(block.score))

# %% [markdown]
# ## How well the classifier withstands an attack
#
# Accuracy when every token's embedding $e$ may move by a radius $\rho$ in the worst direction that projected gradient descent
# finds,
#
# $$\max_{\lVert \delta \rVert_2 \leq \rho} \; -\log p_y(e + \delta).$$
#
# Radii are shares of the mean length of a token's embedding, because classifiers embed differently.

# %%
attacked = load_dataset(dataset, "test", n=settings["attacked"], seed=0, sample=settings["sample"])
attack = Attacked(loaded, attacked, steps=settings["attack_steps"], batch=settings["block"])
for places in run.blocks(len(attacked), settings["block"]):
    ids = attacked[places].ids
    tables = [
        pd.DataFrame({**about, "input": ids, "radius": share, "right": attack.right(places, share)})
        for share in settings["radii"]
    ]
    robustness = pd.concat(tables, ignore_index=True)
    run.add(robustness, "naopc_robustness")
    of_texts = as_units(robustness, seed=0, clusters=attacked.clusters, metrics=["right"], keys=["radius"])
    run.add_units(of_texts, "robustness")

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# AOPC and NAOPC of each method on the short texts, most relevant word first. Of random scores NAOPC should be the same for
# every model; the page asks whether it is. *Book*: the full run's mean for this data set and model.
# `notebooks/report/naopc_bounds.py` with `values = "run"` makes its tables of what was computed here.

# %%
beside_book(run, metrics=["aopc_morf", "naopc_morf"], where={"length": "short"})
