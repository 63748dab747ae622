# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: the released pipeline, each of its choices made or not
#
# The same inputs and attributions, scored under every subset of the choices in which the released code of Zhao & Aletras
# (2023) leaves the paper's text. The choices are what the empty text is, which rationale lengths, limits, draws, normalisers and
# direction of the mask. Attention is multiplied by its gradient, as the text says, and by itself, as the code has it.
# `soft_variants` changes one choice at a time; here they can be put together until all are the code's.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
classifier = ""  # mpnet, mpnet-tuned; nothing: the data set's own
seed = 0
part = 1  # of `parts`: which share of the inputs
parts = 1

# %%
import pandas as pd
import torch

from faithbook.engine.profiles import own_of
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.papers.zhao_aletras import SQUARED
from faithbook.papers.zhao_aletras_soft import replayed_hard, replayed_soft
from faithbook.sources.datasets import load_dataset
from faithlib.attribution import attribute
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, asked_together, costs

run = start_run(
    "soft_replayed", profile=profile, dataset=dataset, classifier=classifier, seed=seed, part=part, parts=parts
)
settings = run.settings

# %%
data = load_dataset(dataset, "test", n=own_of(settings, dataset, classifier)["inputs"], seed=0)
device = "cuda" if torch.cuda.is_available() else "cpu"
loaded = load_model(settings["models_of"].get(classifier, settings["models"])[dataset].format(seed=seed))
model = loaded.model.to(device)
dtype = getattr(torch, settings["dtype"])
METHODS = {
    "attention": ("attention", {}),
    "scaled_attention": ("scaled_attention", {}),
    SQUARED: ("scaled_attention", {"variant": "released"}),
    "input_x_gradient": ("input_x_gradient", {"aggregation": "abs_sum"}),
    "integrated_gradients": ("integrated_gradients", {"aggregation": "sum", "n_steps": settings["ig_steps"]}),
    "deeplift": ("deeplift", {"aggregation": "sum", "rules": "captum"}),
    "random": ("random", {"seed": seed}),
}


# %% [markdown]
# ## Every subset of choices
#
# The paper's score of an input is the mean over lengths or draws.


# %%
def replayed(block, zeroed, padded):
    """One row per input, method, metric and subset of choices."""
    scores = {
        method: attribute(name, model, zeroed.inputs, output="logit", **options)
        for method, (name, options) in METHODS.items()
    }

    def ask():
        for method, score in scores.items():
            for variant, values in replayed_hard(zeroed, padded, score):
                yield method, variant, values
            for variant, values in replayed_soft(zeroed, padded, score, draws=settings["draws"], seed=seed):
                yield method, variant, values

    frames = []
    for method, variant, values in asked_together(lambda: list(ask()), zeroed, padded):
        for metric, value in values.items():
            rows = pd.DataFrame({"input": block.ids, "value": value.float().mean(dim=1).cpu()})
            frames.append(rows.assign(method=method, metric=metric, variant=variant))
    return pd.concat(frames, ignore_index=True).assign(dataset=dataset, model_seed=seed)


# %%
own = {"seed": seed, "clusters": data.clusters}
for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    inputs = TextInputs.from_texts(
        block.texts, loaded.tokenizer, queries=block.queries, max_length=loaded.window(block)
    )
    zeroed = Perturber(model, inputs, dtype=dtype)
    padded = Perturber(model, inputs, erase="pad", dtype=dtype)
    run.add_units(as_units(replayed(block, zeroed, padded), keys=["variant"], **own), "replayed")
    run.count(n=len(block.ids), truncated=int(inputs.truncated.sum()), **costs(zeroed, padded))

# %%
run.note(dtype=settings["dtype"], device=device)
run.finish()
