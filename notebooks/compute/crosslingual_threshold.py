# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: a threshold for highlights
#
# Zaman & Belinkov (2022), Section 4.3: scores become highlights where they reach a threshold. Each text's scores are
# divided by their length as a vector, and the threshold is the one that agrees best (F1) with what people marked, on texts
# of the development split. It is one number for all texts.

# %% tags=["parameters"]
profile = "laptop"
dataset = "pair"
seed = 0
# Your choices: None is what the profile says.
excerpts = None  # texts, such as 20
excerpt_words = None  # words of an excerpt

# %%
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.sources.excerpts import excerpt_inputs, gold_of, marked_excerpts
from faithbook.studies.crosslingual.highlights import best_f1_threshold
from faithlib.attribution import Row, attribute_rows

run = start_run(
    "crosslingual_threshold",
    profile=profile,
    dataset=dataset,
    seed=seed,
    excerpts=excerpts,
    excerpt_words=excerpt_words,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["model"])
network = classifier.model.to(device)

# %%
data = load_dataset(dataset, "dev")
excerpts = marked_excerpts(data, settings["excerpts"], size=settings["excerpt_words"])
inputs = excerpt_inputs(data, excerpts, classifier.tokenizer)
labels = torch.tensor(classifier.labels_of(data))[[excerpt.row for excerpt in excerpts]]

# %% [markdown]
# ## The threshold
#
# A word $k$ with score $a_k$ is marked where $a_k / \lVert a \rVert_2 \geq t$. Over all words of all texts, with $TP$ marked words that
# people marked too, $FP$ that they did not and $FN$ that were missed, the threshold is
#
# $$t^* = \arg\max_t F_1(t), \qquad F_1 = \frac{2\, TP}{2\, TP + FP + FN}.$$

# %%
HIGHLIGHTER = Row("saliency", "l2", "loss", "gold")
scores = torch.zeros(inputs.feature_mask.shape)
for batch in torch.arange(len(inputs)).split(settings["batch"]):
    block, targets = inputs[batch].to(device), {"gold": labels[batch].to(device)}
    scored, _ = attribute_rows([HIGHLIGHTER], network, block, targets=targets)
    values = scored[HIGHLIGHTER.name].cpu()
    scores[batch, : values.shape[1]] = values
shares, gold = torch.nn.functional.normalize(scores, dim=1), gold_of(inputs, [excerpt.marked for excerpt in excerpts])
threshold, f1 = best_f1_threshold(shares, gold, inputs.feature_mask)
facts = {"dataset": dataset, "seed": seed, "threshold": threshold, "f1": f1, "n": len(inputs)}
run.save(pd.DataFrame([facts]), "crosslingual_threshold")

# %% [markdown]
# How well it agrees with people on each text alone.

# %%
marked = (shares >= threshold) & inputs.feature_mask
alone = 2 * (marked & gold).sum(dim=1) / (marked.sum(dim=1) + gold.sum(dim=1))
texts = pd.DataFrame({"input": [data.ids[excerpt.row] for excerpt in excerpts], "f1": alone})
run.save_units(as_units(texts, seed=seed, clusters=data.clusters, metrics=["f1"]))

# %%
run.note(n=len(inputs), dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# The threshold, and the mean agreement with people on each text alone. *Book*: the full run's mean of the same model.

# %%
print(f"threshold {threshold:.3f}, F1 {f1:.2f} over all words of {len(inputs)} texts")
beside_book(run, by=["metric"])
