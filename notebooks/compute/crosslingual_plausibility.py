# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: do explanations mark what people marked?
#
# Zaman & Belinkov (2022), Section 4: the thirteen attributions of two outputs against highlights made by people, scored
# by average precision. Their highlights are words of e-SNLI (`esnli`, if its files are available: all of it, or the words of
# 338 pairs). Beside them are phrases of film reviews (`reviews`, likewise) and whole sentences of papers (`pair`): each text
# is an excerpt around marks, and a word is gold if it is in one.

# %% tags=["parameters"]
profile = "laptop"
dataset = "pair"
seed = 0
only = ""  # "": all thirteen rows; "one pass": those that one gradient gives, on the texts that follow
part = 1  # of `parts`: which share of the texts
parts = 1
# Your choices: None is what the profile says.
excerpts = None  # texts, such as 20
excerpt_words = None  # words of an excerpt
ig_steps = None  # points of the path of integrated gradients
lime_samples = None  # copies of a text for LIME
permutations = None  # orders of its words for Shapley values

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.sources.excerpts import excerpt_inputs, gold_of, marked_excerpts
from faithbook.studies.crosslingual.zaman_belinkov_rows import thirteen_rows
from faithlib.attribution import attribute_rows
from faithlib.metrics import average_precision

run = start_run(
    "crosslingual_plausibility",
    profile=profile,
    dataset=dataset,
    seed=seed,
    only=only,
    part=part,
    parts=parts,
    excerpts=excerpts,
    excerpt_words=excerpt_words,
    ig_steps=ig_steps,
    lime_samples=lime_samples,
    permutations=permutations,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["model"])
network = classifier.model.to(device)

# %% [markdown]
# ## Texts and marks
#
# Pairs of e-SNLI are read as they are. Whole reviews and sections of papers would have hundreds of words: there an
# excerpt is taken (`faithbook.sources.excerpts`).
#
# Nearly all the time goes into methods that erase or follow a path. Methods that need one gradient are computed for
# further texts by a run of their own (`only`).

# %%
data = load_dataset(dataset, "test", sample=settings["sample"])
first = settings["excerpts"]
wanted = settings["further"] if only else first
excerpts = marked_excerpts(data, wanted, size=settings["excerpt_words"])
if only:  # the first ones have all methods
    excerpts = excerpts[first:]
inputs = excerpt_inputs(data, excerpts, classifier.tokenizer).to(device)
marks = gold_of(inputs, [excerpt.marked for excerpt in excerpts])
labels = torch.tensor(classifier.labels_of(data))[[excerpt.row for excerpt in excerpts]]
ids = [data.ids[excerpt.row] for excerpt in excerpts]

# %%
ROWS = thirteen_rows(
    ig_steps=settings["ig_steps"],
    ig_steps_of=settings["ig_steps_of"],
    lime_samples=settings["lime_samples"],
    permutations=settings["permutations"],
)


def explained(rows, inputs, labels):
    """Scores [B, F] of rows, by name; the rows that they cost are counted."""
    scores, spent = attribute_rows(list(rows.values()), network, inputs, targets={"gold": labels.to(device)})
    rows_asked = sum(cost.rows_asked for cost in spent.values())
    rows_run = sum(cost.rows_run for cost in spent.values())
    run.count(rows_asked=rows_asked, rows_run=rows_run)
    return {name: scores[row.name].cpu() for name, row in rows.items()}


# %% [markdown]
# ## Average precision
#
# Walk down the words by score, the highest first. With $P_k$ the share of marked words among the first $k$ and $R_k$ the share
# of all marked words that they hold,
#
# $$\mathrm{AP} = \sum_k (R_k - R_{k-1})\, P_k ,$$
#
# and MAP is its mean over texts (Eq. 7). A word the model never saw (cut off at its limit) has no score and is left out. What scores without any information get
# is the share of marked words.

# %%
ONE_PASS = ("input_x_gradient", "saliency", "guided_backprop_released", "guided_backprop", "activation")
SCORED = {name: row for name, row in ROWS.items() if name[3] == "sum" and (not only or name[0] in ONE_PASS)}
for rows in tqdm(list(run.blocks(len(inputs), settings["batch"])), desc="texts"):
    block = inputs[rows]
    scores = explained(SCORED, block, labels[rows])
    present = block.feature_mask.cpu()
    gold = marks[rows, : present.shape[1]]
    counted = {"words": present.sum(dim=1), "marked": gold.sum(dim=1)}
    facts = pd.DataFrame({"input": ids[rows], "label": labels[rows], **counted, "seed": seed})
    precisions = []
    for (method, aggregation, output, _), values in scores.items():
        found = average_precision(values, gold, present)
        precisions.append(facts.assign(method=method, aggregation=aggregation, output=output, average_precision=found))
    precisions = pd.concat(precisions, ignore_index=True)
    run.add(precisions, "crosslingual_plausibility")
    about = {"seed": seed, "clusters": data.clusters, "keys": ["aggregation", "output"]}
    run.add_units(as_units(precisions, metrics=["average_precision"], **about))
    texts = facts.assign(share=facts.marked / facts.words, aggregation="none", output="none")
    run.add_units(as_units(texts, metrics=["share", "words"], **about))
    run.count(n=len(block), truncated=int(block.truncated.sum()))

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# MAP of each row for the top prediction. `uniform` and `random` ignore the model: what they get is about the share of marked
# words. *Book*: the full run's mean. `notebooks/report/crosslingual_highlights.py` with `values = "run"` makes its tables of this.

# %%
beside_book(
    run,
    by=["metric", "method", "aggregation"],
    metrics=["average_precision"],
    where={"output": ["top_prediction", "none"]},
)
