# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: every metric of every attribution, on one data set
#
# Calls of `faithlib.evaluate`: all methods that a model allows and all metrics, for texts and images, each perturbed
# row run once. If people marked what matters (words of a text, or the object of a photograph), plausibility is added.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # texts or images, such as 20
words = None  # words that texts are cut to
draws = None  # masks per soft score
ig_steps = None  # points of the path of integrated gradients
lime_samples = None  # copies of an input for LIME
permutations = None  # orders of the features for Shapley values

# %%
import time
from dataclasses import replace

import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.cifar import PHOTOGRAPHS
from faithbook.sources.datasets import load_dataset
from faithbook.sources.excerpts import gold_of, marked_excerpts
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.sources.object_scenes import mask_of
from faithbook.sources.tokenise import split_words
from faithlib.attribution import Row
from faithlib.catalogue import FAMILIES
from faithlib.evaluation import MetricSettings, average_marked, evaluate, explain, shuffled
from faithlib.inputs import TextInputs
from faithlib.masks import normalise
from faithlib.metrics.erasure import soft
from faithlib.perturb import Perturber
from faithlib.perturb import costs as costs_of

run = start_run(
    "together_matrix",
    profile=profile,
    dataset=dataset,
    part=part,
    parts=parts,
    inputs=inputs,
    words=words,
    draws=draws,
    ig_steps=ig_steps,
    lime_samples=lime_samples,
    permutations=permutations,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
# Attention methods need attention maps.
classifier = load_model(settings["model"], attention="eager")
network = classifier.model.to(device)
modality = "vision" if classifier.tokenizer is None else "text"
# A few test pictures of a set are pictures of that set, whatever they came in: its name goes with their values.
named = dataset.removesuffix("-few")
kind = "photographs" if named in PHOTOGRAPHS else modality
SIZE = settings["inputs"]

# %% [markdown]
# ## Inputs
#
# Texts are cut to a few words, so that the bounds of AOPC can be searched: the beginning of a review; of texts that
# people marked an excerpt (`faithbook.sources.excerpts`). A feature is a word. Images have one feature per cell,
# which is the model's own patch: 4 × 4 pixels of small images, 14 × 14 of photographs made larger.


# %%
CANDIDATES = 12  # excerpts looked at for each that is wanted


def beginning(text):
    """The first words of a text."""
    spans = split_words(text)[: settings["words"]]
    return text[: spans[-1][1]], spans


def marked(data):
    """Excerpts that hold marked and unmarked words and that the model classifies as it should, the whole or not: most
    excerpts say too little of their text for that."""
    excerpts = marked_excerpts(data, CANDIDATES * SIZE, size=settings["words"])
    labels = torch.tensor(classifier.labels_of(data, names=settings["classes"].get(dataset)))
    inputs = encoded(data, [one.row for one in excerpts], [(one.text, one.words) for one in excerpts])
    right = Perturber(network, inputs.to(device)).predicted.cpu() == labels[[one.row for one in excerpts]]
    kept = right.nonzero()[:SIZE, 0].tolist()
    return (
        inputs[kept],
        gold_of(inputs, [one.marked for one in excerpts])[kept],
        [data.ids[excerpts[i].row] for i in kept],
    )


def reviews():
    """The beginnings of texts; nobody marked anything."""
    data = load_dataset(dataset, "test", n=SIZE, sample=settings["sample"])
    return encoded(data, range(len(data)), [beginning(text) for text in data.texts]), None, list(data.ids)


def encoded(data, rows, cut):
    """The model's inputs of texts that are cut to (text, words)."""
    return TextInputs.from_texts(
        [text for text, _ in cut],
        classifier.tokenizer,
        queries=data.queries and [data.queries[i] for i in rows],
        pairs=data.pairs and [data.pairs[i] for i in rows],
        words=[words for _, words in cut],
        max_length=data.max_length,
    )


def pictures():
    """Images; of those in which people cut out the object, such as the model classifies as it should."""
    whole = load_pictures(dataset, "test", sample=settings["sample"])
    data = load_pictures(dataset, "test", n=SIZE, sample=settings["sample"]) if whole.cells is None else whole
    inputs = as_inputs(data, network, patch=network.patch_embed.patch_size[0])
    if data.cells is None:
        return inputs, None, list(data.ids)
    right = Perturber(network, inputs.to(device)).predicted.cpu() == torch.tensor(data.labels)
    kept = right.nonzero()[:SIZE, 0].tolist()
    gold = mask_of(data.cells, inputs.feature_mask.shape[1])
    return inputs[kept], gold[kept], [data.ids[i] for i in kept]


if modality == "vision":
    inputs, gold, ids = pictures()
else:
    everything = load_dataset(dataset, "test", sample=settings["sample"])
    inputs, gold, ids = reviews() if everything.rationales is None else marked(everything)
inputs = inputs.to(device)
if gold is not None:
    gold = gold[:, : inputs.feature_mask.shape[1]]
clusters = everything.clusters if modality == "text" else None

# %% [markdown]
# ## Attributions
#
# Methods that erase do it as the metrics do, and so share their rows.

# %%
METHODS = {
    "text": {
        "attention": "attention",
        "scaled_attention": "scaled_attention",
        "saliency": "saliency",
        "input_x_gradient": "input_x_gradient",
        "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
        "deeplift": "deeplift",
        "occlusion": "occlusion",
        "lime": Row("lime", options={"n_samples": settings["lime_samples"]}),
        "shapley_sampling": Row("shapley_sampling", options={"n_samples": settings["permutations"]}),
        "random": "random",
    },
    "vision": {
        "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
        "grad_cam": "grad_cam",
        "lrp": "lrp",
        "partial_lrp": "partial_lrp",
        "transformer_attribution": "transformer_attribution",
        "conservative_lrp": "conservative_lrp",
        "raw_attention": "raw_attention",
        "rollout": "rollout",
        "transformer_mm": "transformer_mm",
        "attcat": "attcat",
        "random": "random",
    },
}
METRICS = [
    name for family in FAMILIES.values() if gold is not None or not family.needs_gold for name in family.directions
]
shared = MetricSettings(draws=settings["draws"], groups=settings["groups"], beam=settings["beam"][kind])

# %% [markdown]
# ## Metrics
#
# All that `faithlib.evaluate` has; *The metrics* defines each. The four that this notebook shows at its end: with $r$ an order
# of removal, the most relevant of $N$ features first; $r_1, \dots, r_5$ the top 1, 5, 10, 20 and 50 % of the features; $p'$ the
# probability when elements of the embeddings are dropped in proportion to the scores, $p_\varnothing$ that of nothing; $s_i$ the
# sum of the scores of the features in group $i$ and $d_i$ the drop when it is erased,
#
# $$\text{AOPC} = \frac1N \sum_{k=1}^{N} \bigl[ p(x) - p(x \text{ without the first } k \text{ of } r) \bigr], \qquad
# \text{comprehensiveness} = \tfrac15 \sum_j \bigl[ p(x) - p(x \setminus r_j) \bigr],$$
#
# $$\text{Soft-NC} = \frac{\max(0,\, p(x) - p')}{p(x) - p_\varnothing}, \qquad
# \text{SaCo} = \frac{\sum_{i<j} \pm (s_i - s_j)}{\sum_{i<j} |s_i - s_j|}, \text{ with } +
# \text{ where } d_i \geq d_j .$$
#
# Bounds of AOPC take most rows, so NAOPC has fewer inputs where there are many features.

# %%
searched = settings["searched"][kind]
unbounded = [name for name in METRICS if name not in FAMILIES["naopc"].directions]


def save_costs(what, rows, methods, spent):
    """What something cost, block by block."""
    about = {"what": what, "inputs": rows, "methods": methods, **spent, "dataset": named, "modality": kind}
    run.add(pd.DataFrame([about]), "together_costs")
    run.count(rows_asked=spent["rows_asked"], rows_run=spent["rows_run"])


def evaluated(rows, what, metrics):
    """Add metrics of some inputs to what the reports read."""
    began, block = time.perf_counter(), inputs[rows]
    width = block.feature_mask.shape[1]  # of the longest among them
    marks, of_block = None, shared
    if gold is not None:
        marks, of_block = gold[rows, :width].to(device), replace(shared, gold_size=average_marked(gold))
    table = evaluate(network, block, methods=METHODS[modality], metrics=metrics, gold=marks, settings=of_block)
    spent = table.attrs["costs"] | {"seconds_all": time.perf_counter() - began}
    save_costs(what, len(block), len(METHODS[modality]), spent)
    table["input"] = [ids[rows][i] for i in table["input"]]
    table.attrs.clear()
    table = table.assign(dataset=named)
    run.add_units(as_units(table, seed=0, clusters=clusters, keys=["dataset"]))


# %% [markdown]
# ## Controls of soft metrics: the same scores at other features, and the same order with other scores
#
# Soft metrics keep elements of a feature in proportion to its score scaled to between 0 and 1. So it matters how high
# scores are on average (their *density*), and random scores have a density of their own. Shuffled among the features of
# its input, an attribution keeps its density and loses its places. Replaced by ranks, every attribution, also a
# random one, has the same density and keeps its order.


# %%
def controlled(rows):
    """Add the controls of some inputs to what the reports read."""
    block = inputs[rows]
    perturber = Perturber(network, block)
    explained = explain(network, block, METHODS[modality])
    queued = []
    for method, scores in explained.items():
        for control, given, normaliser in (
            ("shuffled", shuffled(scores, block), "minmax"),
            ("ranks", scores, "rank"),
        ):
            drawn = soft.later(perturber, given, normaliser=normaliser, draws=settings["draws"])
            queued.append((method, control, drawn))
    controls = []
    for method, control, drawn in queued:
        density = normalise(explained[method], "minmax", block.feature_mask).sum(dim=1) / block.feature_mask.sum(dim=1)
        about = {"input": ids[rows], "method": method, "control": control, "density": density.cpu()}
        controls += [
            pd.DataFrame(about | {"metric": name, "value": v.mean(dim=1).cpu()}) for name, v in drawn().items()
        ]
    save_costs("controls", len(block), len(METHODS[modality]), costs_of(perturber))
    controls = pd.concat(controls, ignore_index=True).assign(dataset=named, modality=kind)
    run.add(controls, "together_controls")
    run.add_units(as_units(controls, seed=0, clusters=clusters, keys=["dataset", "control"]), "controls")


# %% [markdown]
# ## Block by block
#
# Which inputs a block holds does not depend on the number of parts. Those whose bounds are searched and the others are in
# blocks of their own.


# %%
def blocks_of(first, last):
    """The places of inputs from one to another, a block at a time."""
    size = settings["block"]
    return [slice(start, min(start + size, last)) for start in range(first, last, size)]


n = len(inputs)
jobs = [
    *((evaluated, rows, "every metric", METRICS) for rows in blocks_of(0, min(searched, n))),
    *((evaluated, rows, "all but NAOPC", unbounded) for rows in blocks_of(searched, n)),
    *((controlled, rows) for rows in blocks_of(0, min(settings["controlled"], n))),
]
for what, rows, *options in run.shared(jobs):
    what(rows, *options)
    if what is evaluated:
        run.count(n=rows.stop - rows.start, features=int(inputs[rows].n_features.max()))

# %% [markdown]
# ## What each family of metrics would cost alone
#
# Rows for one attribution (a random one, which itself costs none) of a few inputs, one family at a time.

# %%
priced = inputs[list(range(min(settings["priced"], len(inputs))))]
for name, family in FAMILIES.items():
    if run.is_last and not family.needs_gold:
        alone = evaluate(network, priced, methods=["random"], metrics=list(family.directions), settings=shared)
        save_costs(name, len(priced), 1, alone.attrs["costs"])

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Four of the metrics by method. *Book*: the full run's mean on this data set. `notebooks/report/together_agreement.py` and
# `together_diagnosticity.py` with `values = "run"` compare all metrics on what was computed here.

# %%
beside_book(run, metrics=["aopc_morf", "comprehensiveness_eraser", "soft_nc", "saco"])
