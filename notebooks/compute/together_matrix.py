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
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.cifar import PHOTOGRAPHS
from faithbook.sources.datasets import load_dataset
from faithbook.sources.images import load_pictures
from faithbook.studies.together.matrix import (
    beginnings,
    blocks,
    every_metric,
    excerpts,
    methods_of,
    metrics_of,
    pictures,
    soft_controls,
    with_marks,
)
from faithlib.catalogue import FAMILIES
from faithlib.evaluation import MetricSettings, evaluate

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
if modality == "vision":
    clusters = None
    shown = load_pictures(dataset, "test", sample=settings["sample"])
    if shown.cells is None:
        shown = load_pictures(dataset, "test", n=SIZE, sample=settings["sample"])
    sample = pictures(shown, network, n=SIZE, device=device)
else:
    texts = load_dataset(dataset, "test", sample=settings["sample"])
    clusters = texts.clusters
    if texts.rationales is None:
        texts = load_dataset(dataset, "test", n=SIZE, sample=settings["sample"])
        sample = beginnings(texts, classifier.tokenizer, words=settings["words"])
    else:
        names = settings["classes"].get(dataset)
        sample = excerpts(texts, classifier, n=SIZE, words=settings["words"], names=names, device=device)
sample = sample.to(device)

# %% [markdown]
# ## Attributions
#
# Methods that erase do it as the metrics do, and so share their rows.

# %%
METHODS = methods_of(
    modality,
    ig_steps=settings["ig_steps"],
    lime_samples=settings["lime_samples"],
    permutations=settings["permutations"],
)
METRICS = metrics_of(gold=sample.gold is not None)
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


def save_metrics(rows, what, metrics):
    """Add metrics of some inputs to what the reports read."""
    table, spent = every_metric(network, sample[rows], METHODS, metrics, with_marks(shared, sample.gold))
    save_costs(what, len(sample[rows]), len(METHODS), spent)
    run.add_units(as_units(table.assign(dataset=named), seed=0, clusters=clusters, keys=["dataset"]))
    run.count(n=len(sample[rows]), features=int(sample[rows].inputs.n_features.max()))


# %% [markdown]
# ## Controls of soft metrics: the same scores at other features, and the same order with other scores
#
# Soft metrics keep elements of a feature in proportion to its score scaled to between 0 and 1. So it matters how high
# scores are on average (their *density*), and random scores have a density of their own. Shuffled among the features of
# its input, an attribution keeps its density and loses its places. Replaced by ranks, every attribution, also a
# random one, has the same density and keeps its order.


# %%
def save_controls(rows):
    """Add the controls of some inputs to what the reports read."""
    controls, spent = soft_controls(network, sample[rows], METHODS, draws=settings["draws"])
    save_costs("controls", len(sample[rows]), len(METHODS), spent)
    controls = controls.assign(dataset=named, modality=kind)
    run.add(controls, "together_controls")
    run.add_units(as_units(controls, seed=0, clusters=clusters, keys=["dataset", "control"]), "controls")


# %% [markdown]
# ## Block by block
#
# Which inputs a block holds does not depend on the number of parts. Those whose bounds are searched and the others are in
# blocks of their own.

# %%
n, size = len(sample), settings["block"]
jobs = [
    *((save_metrics, rows, "every metric", METRICS) for rows in blocks(0, min(searched, n), size)),
    *((save_metrics, rows, "all but NAOPC", unbounded) for rows in blocks(searched, n, size)),
    *((save_controls, rows) for rows in blocks(0, min(settings["controlled"], n), size)),
]
for save, rows, *options in run.shared(jobs):
    save(rows, *options)

# %% [markdown]
# ## What each family of metrics would cost alone
#
# Rows for one attribution (a random one, which itself costs none) of a few inputs, one family at a time.

# %%
priced = sample.inputs[list(range(min(settings["priced"], n)))]
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
