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

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.soft.zhao_aletras import SQUARED
from faithbook.studies.soft.zhao_aletras_soft import Asked, replayed_hard, replayed_soft
from faithlib.perturb import Perturber, costs

run = start_run(
    "soft_replayed", profile=profile, dataset=dataset, classifier=classifier, seed=seed, part=part, parts=parts
)
settings = run.settings

# %%
task = Asked(settings, dataset, seed)
data = task.data

# %% [markdown]
# ## Every subset of choices
#
# The paper's score of an input is the mean over lengths or draws.


# %%
def replayed(block, zeroed, padded):
    """One row per input, method, metric and subset of choices."""
    scores = task.explained(zeroed.inputs)
    scores[SQUARED] = task.attribute("scaled_attention", zeroed.inputs, variant="released")
    queued = []
    for method, score in scores.items():
        for variant, values in replayed_hard(zeroed, padded, score):
            queued.append((method, variant, values))
        for variant, values in replayed_soft(zeroed, padded, score, draws=settings["draws"], seed=seed):
            queued.append((method, variant, values))
    frames = []
    for method, variant, values in queued:
        for metric, value in values().items():
            rows = pd.DataFrame({"input": block.ids, "value": value.float().mean(dim=1).cpu()})
            frames.append(rows.assign(method=method, metric=metric, variant=variant))
    return pd.concat(frames, ignore_index=True).assign(dataset=dataset, model_seed=seed)


# %%
labels = {"seed": seed, "clusters": data.clusters}
for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    inputs = task.inputs_of(block)
    zeroed = Perturber(task.model, inputs, dtype=task.dtype)
    padded = Perturber(task.model, inputs, erase="pad", dtype=task.dtype)
    run.add_units(as_units(replayed(block, zeroed, padded), keys=["variant"], **labels), "replayed")
    run.count(n=len(block.ids), truncated=int(inputs.truncated.sum()), **costs(zeroed, padded))

# %%
run.note(dtype=settings["dtype"], device=task.device)
run.finish()
