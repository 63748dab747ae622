# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: do heat maps cover the object that is shown?
#
# Plausibility of image attributions: objects that people cut out of photographs, in scenes of one object and of two
# (`faithbook.sources.stamps`), and how well each map covers the object of the class that it explains.

# %% tags=["parameters"]
profile = "full"
dataset = "stamps"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # scenes, such as 40
ig_steps = None  # points of the path of integrated gradients

# %%
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.sources.object_scenes import mask_of, where_it_points
from faithlib.attribution import Row, methods
from faithlib.evaluation import explain
from faithlib.perturb import Perturber

run = start_run(
    "together_objects", profile=profile, dataset=dataset, part=part, parts=parts, inputs=inputs, ig_steps=ig_steps
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
network = load_model(settings["model"]).model.to(device)
data = load_pictures(dataset, "test", n=settings["inputs"], sample=settings["sample"])

# %% [markdown]
# ## Scenes that the model classifies correctly
#
# With $O$ the object's cells, $T$ the $|O|$ cells of the highest scores and $k^*$ the one with the highest,
#
# $$\text{pointing game} = [k^* \in O], \qquad \text{IoU} = \frac{|O \cap T|}{|O \cup T|},$$
#
# and *astray* is 1 where $k^*$ lies on the other object.
#
# A scene of two objects is run once for each: it is kept with the object, if any, whose class the model predicts. A
# map that explains a wrong prediction has no object to cover.

# %%
SETTLED = {"integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]})}
names = [name for name in methods("image") if name not in ("lime", "shapley_sampling", "uniform")]
asked = {name: SETTLED.get(name, name) for name in names}
for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    inputs = as_inputs(block, network, patch=network.patch_embed.patch_size[0]).to(device)
    right = (Perturber(network, inputs).predicted.cpu() == torch.tensor(block.labels)).tolist()
    n_cells = inputs.feature_mask.shape[1]
    looked = {"input": block.ids, "right": right, "cells": [len(cells) for cells in block.cells], "of": n_cells}
    run.add(pd.DataFrame(looked).assign(dataset=dataset, model=settings["model"]), "objects_looked_at")
    usable_rows = [row for row, fits in enumerate(right) if fits]
    if not usable_rows:
        continue
    block, inputs = block.at(usable_rows), inputs[usable_rows]
    of_class, other = (mask_of(cells, n_cells).to(device) for cells in (block.cells, block.others or [()] * len(block)))
    frames = []
    for name, scores in explain(network, inputs, asked).items():
        values = {metric: value.cpu() for metric, value in where_it_points(scores, of_class, other).items()}
        if not any(block.others or ()):
            del values["astray"]  # there is nothing else to point at
        frames.append(pd.DataFrame({"input": block.ids, "method": name} | values))
    values = pd.concat(frames, ignore_index=True).melt(["input", "method"], var_name="metric")
    clusters = dict(zip(block.ids, (name.partition("+")[0] for name in block.ids), strict=True))
    run.add_units(as_units(values, seed=0, clusters=clusters))
    run.count(n=len(block), features=n_cells)

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# How well each method's maps lie on the object. `random` is chance. *Book*: the full run's mean.
# `notebooks/report/together_pointing.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run)
