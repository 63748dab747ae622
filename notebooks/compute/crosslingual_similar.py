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
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_parallel
from faithlib.metrics import cka_accuracy

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
def representations(network, tokenizer, data, batch=64):
    """The last hidden state of the first position, [N, D]; texts of like length go together, a pair is one text."""
    texts = list(zip(data.texts, data.pairs, strict=True)) if data.pairs else list(data.texts)
    order = sorted(range(len(texts)), key=lambda i: len(data.wholes[i]))
    states = torch.empty(len(texts), network.config.hidden_size)
    for start in range(0, len(texts), batch):
        rows = order[start : start + batch]
        part = tokenizer([texts[i] for i in rows], padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            states[rows] = network(**part.to(device)).last_hidden_state[:, 0].float().cpu()
    return states


def represented():
    """Name, network and tokenizer of every model that is compared."""
    for name, encoder in settings["beside"].items():
        yield name, *load_encoder(encoder)
    for name, checkpoint in settings["models"].items():
        classifier = load_model(checkpoint)
        yield f"{name}, fine-tuned", classifier.model.base_model, classifier.tokenizer


languages = settings["languages"]
data = load_parallel(dataset, languages, settings["split"], n=settings["represented"], sample=settings["sample"])
hits = []
for name, network, tokenizer in tqdm(represented(), desc="representations"):
    states = {language: representations(network.to(device), tokenizer, texts) for language, texts in data.items()}
    for language in [one for one in data if one != "en"]:
        for seed in range(settings["cka_draws"]):
            drawn = cka_accuracy(states["en"], states[language], seed=seed)
            hits += [
                {"model": name, "language": language, "draw": seed, "batch": i, "hit": float(hit)}
                for i, hit in enumerate(drawn)
            ]
# A batch is what is drawn; `draw` numbers the ways in which the texts were put into batches.
units = as_units(pd.DataFrame(hits), seed=0, metrics=["hit"], keys=["model", "language", "draw"], name="batch")
run.add_units(units)

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
