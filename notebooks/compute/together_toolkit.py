# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: the tasks of EvalxNLP, through one call
#
# Film reviews in which people marked phrases, and pairs of a premise and a hypothesis: the toolkit's methods under its
# nine metrics. Runs only if the files of a data set are available.

# %% tags=["parameters"]
profile = "laptop"
dataset = "reviews"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # texts, such as 20
longest = None  # wordpieces of a text that are read
draws = None  # masks per soft score
ig_steps = None  # points of the path of integrated gradients
lime_samples = None  # copies of a text for LIME
max_evals = None  # rows for partition SHAP

# %%
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.sources.excerpts import gold_of, words_within
from faithbook.sources.splits import stable_hash
from faithbook.sources.tokenise import split_words
from faithbook.studies.together.evalxnlp_methods import partition_shap
from faithlib.attribution import Row
from faithlib.catalogue import FAMILIES
from faithlib.errors import InputError
from faithlib.evaluation import MetricSettings, average_marked, evaluate
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

run = start_run(
    "together_toolkit",
    profile=profile,
    dataset=dataset,
    part=part,
    parts=parts,
    inputs=inputs,
    longest=longest,
    draws=draws,
    ig_steps=ig_steps,
    lime_samples=lime_samples,
    max_evals=max_evals,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["model"])
network = classifier.model.to(device)
SIZE, ERASE = settings["inputs"], "mask"

# %% [markdown]
# ## Inputs
#
# A text loses what comes after so many wordpieces, as in the toolkit, whose limit is the model's own. Features are words.
# Texts are taken in an order made of their names. Kept are those that the model classifies correctly and, if people
# marked words, that still contain marked and unmarked ones.

# %%
data = load_dataset(dataset, "test", sample=settings["sample"])
order = sorted(range(len(data)), key=lambda i: stable_hash("toolkit", data.ids[i]))[: settings["looked_at"] * SIZE]
inputs = TextInputs.from_texts(
    [data.texts[i] for i in order],
    classifier.tokenizer,
    pairs=data.pairs and [data.pairs[i] for i in order],
    words=[split_words(data.wholes[i]) for i in order],
    max_length=settings["longest"],
).to(device)
labels = torch.tensor(classifier.labels_of(data, names=settings["classes"].get(dataset)))[order]
right = Perturber(network, inputs).predicted.cpu() == labels
gold = None if data.rationales is None else gold_of(inputs, [words_within(data, i) for i in order])
usable = right.clone()
if gold is not None:
    usable &= gold.any(dim=1) & (inputs.feature_mask.cpu() & ~gold).any(dim=1)
usable_rows = usable.nonzero()[:SIZE, 0].tolist()
if not usable_rows:
    raise InputError(
        f"{dataset}: none of {len(order)} inputs is classified as it should be, with marked and unmarked words: "
        f"let `looked_at` of profile {profile!r} be larger, or name another model"
    )
inputs, ids = inputs[usable_rows], [data.ids[order[i]] for i in usable_rows]
if gold is not None:
    gold = gold[usable_rows, : inputs.feature_mask.shape[1]].to(device)

# %% [markdown]
# ## Methods and metrics
#
# Nine metrics, which *The metrics* defines. The two that are shown at the end: with $p'$ the probability when elements of the
# embeddings are dropped in proportion to the scores and $p_\varnothing$ that of nothing, and with $y_k$ whether the class is still the
# same after $k$ tenths of the words have become `[MASK]`,
#
# $$\text{Soft-NC} = \frac{\max(0,\, p(x) - p')}{p(x) - p_\varnothing}, \qquad
# \text{AUTPC} = \frac1{10} \sum_{k=1}^{10} \frac{y_{k-1} + y_k}{2}.$$
#
# What is erased becomes `[MASK]`; soft metrics drop elements of embeddings. SHAP-I, the toolkit's eighth method, scores
# sets of words and has no place in a table of words.

# %%
METHODS = {
    "saliency": "saliency",
    "input_x_gradient": "input_x_gradient",
    "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
    "deeplift": "deeplift",
    "guided_backprop": "guided_backprop",
    "lime": Row("lime", options={"n_samples": settings["lime_samples"]}),
    "random": "random",
}
METRICS = ["soft_ns", "soft_nc", "n_auc", "autpc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness"]
if gold is None:
    METRICS = [name for name in METRICS if name not in FAMILIES["plausibility"].directions]

for rows in run.blocks(len(inputs), settings["block"]):
    block = inputs[rows]
    perturber = Perturber(network, block, erase=ERASE)
    methods = METHODS | {"partition_shap": partition_shap(perturber, max_evals=settings["max_evals"])}
    marks, size = None, None
    if gold is not None:
        marks, size = gold[rows, : block.feature_mask.shape[1]], average_marked(gold)
    table = evaluate(
        network,
        block,
        methods=methods,
        metrics=METRICS,
        gold=marks,
        settings=MetricSettings(erase=ERASE, draws=settings["draws"], gold_size=size),
    )
    spent = {
        "inputs": len(block),
        "rows_shap": perturber.stats.rows_run,
        "rows_rest": table.attrs["costs"]["rows_run"],
    }
    run.add(pd.DataFrame([{"dataset": dataset, **spent}]), "toolkit_costs")
    table["input"] = [ids[rows][i] for i in table["input"]]
    table.attrs.clear()
    run.add_units(as_units(table, seed=0, clusters=data.clusters))
    texts = pd.DataFrame(
        {"input": ids[rows], "words": block.n_features.tolist(), "cut": block.truncated.float().tolist()}
    )
    if gold is not None:
        texts["marked"] = gold[rows].sum(dim=1).tolist() / texts.words
    run.add_units(as_units(texts, seed=0, clusters=data.clusters, metrics=list(texts.columns[1:])), "texts")
    run.count(n=len(block), truncated=int(block.truncated.sum()))

# %%
if run.is_last:
    looked_at = pd.DataFrame({"input": [data.ids[i] for i in order], "right": right.float().tolist()})
    run.add_units(as_units(looked_at, seed=0, clusters=data.clusters, metrics=["right"]), "texts")
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Two of the metrics by method. `random` is what scores get that know nothing; lower AUTPC is better. *Book*: the full run's mean.
# `notebooks/report/together_tasks.py` with `values = "run"` makes the toolkit's table of this.

# %%
beside_book(run, metrics=["soft_nc", "autpc"])
