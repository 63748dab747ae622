# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: how alike a model finds translations
#
# Zaman & Belinkov (2022) assume that a text and its translation are similar inputs, and test it by centred kernel alignment (their
# Appendix C): 8 texts and their translations against 10 batches of 8 translations of other texts. Multilingual encoders, before
# and after learning the task from English, are compared with encoders of one language. On messages `crosslingual_alignment` does it;
# here it is done on pairs of XNLI, read as two segments as the classifiers read them.

# %% tags=["parameters"]
profile = "laptop"
dataset = "nli"
# Your choices: None is what the profile says.
represented = None  # texts whose representations are compared
cka_draws = None  # ways to put the texts into batches

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.sources.datasets import load_parallel
from faithbook.studies.crosslingual.similarity import found_translations, models_of, representations

run = start_run("crosslingual_similar", profile=profile, dataset=dataset, represented=represented, cka_draws=cka_draws)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## Centred kernel alignment
#
# With the representations of a batch and of its translations as rows of $X$ and $Y$, each column centred, linear CKA is
#
# $$\mathrm{CKA}(X, Y) = \frac{\lVert Y^\top X \rVert_F^2}{\lVert X^\top X \rVert_F\,\lVert Y^\top Y \rVert_F}.$$
#
# A batch is found if its own translations have a larger CKA with it than each of ten batches of translations of other texts
# (`faithlib.metrics.cka_accuracy`); by chance that happens in one of eleven.

# %%
languages = settings["languages"]
data = load_parallel(dataset, languages, settings["split"], n=settings["represented"], sample=settings["sample"])
hits = []
for name, network, tokenizer in tqdm(models_of(settings["beside"], settings["models"]), desc="representations"):
    network = network.to(device)
    pairs = {language: list(zip(texts.texts, texts.pairs, strict=True)) for language, texts in data.items()}
    states = {language: representations(network, tokenizer, of_language) for language, of_language in pairs.items()}
    hits.append(found_translations(states, settings["cka_draws"]).assign(model=name))
# A batch is what is drawn; `draw` numbers the ways in which the texts were put into batches.
batches = pd.concat(hits, ignore_index=True)
run.add_units(as_units(batches, seed=0, metrics=["hit"], keys=["model", "language", "draw"], name="batch"))

# %%
run.note(n=len(data["en"]), dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# How often each model finds the translations, by language, beside the full run. The interval here counts every batch once;
# `notebooks/report/crosslingual_deviations.py` counts the batches of one order, since orders share their texts.

# %%
beside_book(run, by=["model", "language"])
