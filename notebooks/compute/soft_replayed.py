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
# Your choices: None is what the profile says.
inputs = None  # texts, such as 20
draws = None  # masks per soft score
ig_steps = None  # points of the path of integrated gradients

# %%
import pandas as pd

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.soft.zhao_aletras import SOFT_CHOICES, SQUARED, replay_name
from faithbook.studies.soft.zhao_aletras_soft import Task, replayed_hard, replayed_soft
from faithlib.perturb import Perturber, costs

run = start_run(
    "soft_replayed",
    profile=profile,
    dataset=dataset,
    classifier=classifier,
    seed=seed,
    part=part,
    parts=parts,
    inputs=inputs,
    draws=draws,
    ig_steps=ig_steps,
)
settings = run.settings

# %%
task = Task.of_settings(settings, dataset, seed)
data = task.data

# %% [markdown]
# ## Every subset of choices
#
# With $p$ the probability of the predicted class, $x$ the text, $x_\varnothing$ the text with everything erased, $r$ the words of
# the highest scores and $x'$ the text whose embeddings lose elements in proportion to the scores,
#
# $$\mathrm{NC} = \frac{\max(0,\, p(x) - p(x \setminus r))}{p(x) - p(x_\varnothing)}, \qquad
# \text{Soft-NC} = \frac{\max(0,\, p(x) - p(x'))}{p(x) - p(x_\varnothing)},$$
#
# and NS and Soft-NS the same of $r$ alone and of what is kept in proportion, subtracted from 1 (Eq. 1 to 5).
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

# %% [markdown]
# ## What was computed
#
# Mean soft scores of each method, with every choice as the paper's text has it and with every choice as the released code has
# it. *Book*: the full run's mean. `notebooks/report/soft_pipeline.py` with `values = "run"` puts the choices together one by one.

# %%
ends = [replay_name("soft_ns", made) for made in ((), SOFT_CHOICES)]
beside_book(
    run, part="replayed", by=["variant", "metric", "method"], metrics=["soft_ns", "soft_nc"], where={"variant": ends}
)
