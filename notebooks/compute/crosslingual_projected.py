# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: highlights projected to translations
#
# Zaman & Belinkov (2022), Section 4.3 and Table 5: words of the English text whose score is above a threshold are marked.
# Marks are projected to a translation along word links, and the same attribution of the translation, saliency with L2
# of the loss, is scored against them. The threshold is that of `crosslingual_threshold`. It needs only one
# attribution, so it also reads languages in which `crosslingual_metrics` explains nothing.
#
# It also describes the texts: their words, pieces, links and copied words, and how many pieces the tokenizer does
# not know, since a model that reads `<unk>` explains nothing of the original word.

# %% tags=["parameters"]
profile = "laptop"
dataset = "messages"
model = "e5"
seed = 0
part = 1  # of `parts`: which share of the messages
parts = 1
# Your choices: None is what the profile says.
messages = None  # texts that are read in every language
languages = None  # such as ["en", "de"]; "en" belongs to them
align_layer = None  # of the aligner, whose hidden states link words
links = None  # "softmax" or "mutual argmax": the rule of word links

# %%
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import load, start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.studies.crosslingual.links import LINK_RULES
from faithbook.studies.crosslingual.projected import (
    OF_MARKS,
    OF_TEXTS,
    Aligner,
    Projection,
    PublishedMarks,
    threshold_of_marks,
)
from faithbook.studies.crosslingual.readings import Explainer

run = start_run(
    "crosslingual_projected",
    profile=profile,
    dataset=dataset,
    model=model,
    seed=seed,
    part=part,
    parts=parts,
    messages=messages,
    languages=languages,
    align_layer=align_layer,
    links=links,
)

settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
explainer = Explainer(load_model(settings["model"]), device)
encoder, encoder_tokenizer = load_encoder(settings["aligner"])

# %% [markdown]
# ## Words and their scores, and marks
#
# The loss is the cross entropy with the true label, its sign turned; the scores of a word's pieces are added up, as in the
# code.
#
# An English word $k$ with score $a_k$ is marked where $a_k / \lVert a \rVert_2 \geq t$; a word $j$ of the translation where a link
# $(k, j) \in A$ leads to a marked word. With $P_i$ the share of marked words among the $i$ words of the highest scores and $R_i$
# the share of all marked words that they hold,
#
# $$\mathrm{AP} = \sum_i (R_i - R_{i-1})\, P_i ,$$
#
# whose mean over texts is MAP (Eq. 7). *Lift* is AP minus what random scores get.
#
# Three ways to mark: with our threshold, which is the paper's rule; with the paper's number; and the words whose score is
# above an even spread over their own text. If the profile names the published highlights (`published_marks`), these
# are a fourth way and need no projection. Their words are cut differently: one of ours is marked if it contains a
# marked one of theirs. A text that they lack, or spell differently, has none.

# %%
published = {}
if settings["published_marks"]:
    for language in settings["languages"]:
        # Each language alone: one need not have the rows of another.
        marked = load_parallel(settings["published_marks"], [language], settings["split"], sample="all")[language]
        published[language] = PublishedMarks(marked)
own_threshold = threshold_of_marks(load("crosslingual_threshold", profile))

# %% [markdown]
# ## Texts, links and marks together
#
# Links come from the frozen encoder's hidden states, as in `crosslingual_metrics`. In English, marks stay where they are.

# %%
aligner = Aligner(encoder.to(device), encoder_tokenizer, settings["align_layer"], LINK_RULES[settings["links"]])
projection = Projection(explainer, aligner, own_threshold, published)
data = load_parallel(
    dataset, settings["languages"], settings["split"], n=settings["messages"], sample=settings["sample"]
)
saved = {"seed": seed, "clusters": load_dataset(dataset, settings["split"], sample="all").clusters}
for rows in tqdm(list(run.blocks(len(data["en"]), settings["batch"])), desc="messages"):
    found, about, read = projection.tables({language: texts[rows] for language, texts in data.items()})
    for scores in read:
        run.count(**scores.costs)
    run.count(n=len(read[0]))
    run.add_units(as_units(found, metrics=OF_MARKS, keys=["language", "highlights"], **saved))
    run.add_units(as_units(about, metrics=OF_TEXTS, keys=["language"], **saved).dropna(subset="value"), "texts")

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# MAP with our threshold by language: how well the same method finds in a translation what it marks in English. *Book*: the full
# run's mean. `notebooks/report/crosslingual_highlights.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, by=["metric", "language"], metrics=["map", "lift"], where={"highlights": "our threshold"})
