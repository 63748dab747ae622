# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: do explanations mark what people marked?
#
# Zaman & Belinkov (2022), Section 4: the thirteen attributions of two outputs against highlights made by people, scored
# by average precision. Their highlights are words of e-SNLI, which the `paper` profile reads. Ours mark whole sentences
# of papers (ACLSum): each text is an excerpt around marked sentences, and a word is gold where it stands in one.

# %% tags=["parameters"]
profile = "laptop"
seed = 0

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.papers.zaman_belinkov_rows import thirteen_rows
from faithbook.sources.datasets import load_dataset
from faithbook.sources.excerpts import gold_of, marked_excerpts
from faithlib.attribution import attribute_rows
from faithlib.inputs import TextInputs
from faithlib.metrics import average_precision, best_f1_threshold

run = start_run("crosslingual_plausibility", profile=profile, seed=seed)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["highlighted"].format(seed=seed))
network = classifier.model.to(device)

# %% [markdown]
# ## Texts and marks
#
# Pairs of e-SNLI are read as they are. Whole sections of papers would have hundreds of words and a query that names what
# to look for: there an excerpt is taken (`faithbook.sources.excerpts`).


# %%
def highlighted(split, n):
    """Inputs, labels, gold [B, F] and ids of `n` texts that hold marked and unmarked words."""
    data = load_dataset(settings["highlights"], split)
    found = marked_excerpts(data, n, size=settings["excerpt_words"])
    rows = [one.row for one in found]
    inputs = TextInputs.from_texts(
        [one.text for one in found],
        classifier.tokenizer,
        queries=data.queries and [data.queries[i] for i in rows],
        pairs=data.pairs and [data.pairs[i] for i in rows],
        words=[one.words for one in found],
        max_length=data.max_length,
    )
    labels = torch.tensor(classifier.labels_of(data, names=settings["highlighted_classes"]))
    marks = gold_of(inputs, [one.marked for one in found])
    return inputs.to(device), labels[rows], marks, [data.ids[i] for i in rows]


# %%
ROWS = thirteen_rows(
    ig_steps=settings["ig_steps"], lime_samples=settings["lime_samples"], permutations=settings["permutations"]
)
spent = []


def explained(rows, inputs, labels):
    """Scores [B, F] of rows, by name, for all inputs."""
    found = {name: torch.zeros(inputs.feature_mask.shape) for name in rows}
    for batch in tqdm(torch.arange(len(inputs)).split(settings["batch"]), desc="texts"):
        part = inputs[batch]
        scores, cost = attribute_rows(list(rows.values()), network, part, targets={"gold": labels[batch].to(device)})
        spent.extend(cost.items())
        for name, row in rows.items():
            found[name][batch, : scores[row.name].shape[1]] = scores[row.name].cpu()
    return found


inputs, labels, marks, ids = highlighted("test", settings["excerpts"])
scores = explained({name: row for name, row in ROWS.items() if name[3] == "sum"}, inputs, labels)

# %% [markdown]
# ## Average precision
#
# A word the model never saw (cut off at its limit) has no score and is left out. What scores without any information get
# is the share of marked words.

# %%
present = inputs.feature_mask.cpu()
facts = pd.DataFrame(
    {"input": ids, "label": labels, "words": present.sum(dim=1), "marked": marks.sum(dim=1), "seed": seed}
)
found = [
    facts.assign(
        method=name[0], aggregation=name[1], output=name[2], average_precision=average_precision(values, marks, present)
    )
    for name, values in scores.items()
]
found = pd.concat(found, ignore_index=True)
run.save(found, "crosslingual_plausibility")
clusters = load_dataset(settings["highlights"], "test").clusters
run.save_units(
    as_units(found, seed=seed, clusters=clusters, metrics=["average_precision"], keys=["aggregation", "output"])
)

# %% [markdown]
# ## A threshold for highlights
#
# Section 4.3 turns scores into highlights: word vectors of length one, and the threshold that agrees best (F1) with
# highlights people made, on other texts: those of the development split.

# %%
HIGHLIGHTER = ("saliency", "l2", "loss", "sum")
dev_inputs, dev_labels, dev_marks, _ = highlighted("dev", settings["threshold_excerpts"])
dev_scores = explained({HIGHLIGHTER: ROWS[HIGHLIGHTER]}, dev_inputs, dev_labels)[HIGHLIGHTER]
unit = torch.nn.functional.normalize(dev_scores, dim=1)
threshold, f1 = best_f1_threshold(unit, dev_marks, dev_inputs.feature_mask.cpu())
run.save(
    pd.DataFrame([{"seed": seed, "threshold": threshold, "f1": f1, "n": len(dev_inputs)}]), "crosslingual_threshold"
)

# %%
cost = pd.DataFrame([{"method": method, **vars(one)} for method, one in spent])
cost = cost.groupby("method", sort=False).sum().reset_index()
run.save(cost.assign(seed=seed), "crosslingual_plausibility_costs")
run.note(n=len(ids), truncated=int(inputs.truncated.sum()), dtype="float32", device=device)
run.finish()
