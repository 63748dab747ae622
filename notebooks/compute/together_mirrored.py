# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: cross-lingual faithfulness, on images
#
# Study 3 compares the explanation of a sentence with that of its translation. The counterpart of a translation is
# the mirror image: it shows the same, and the place of every cell is known.

# %% tags=["parameters"]
profile = "laptop"
dataset = "fashion"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # images, such as 40
ig_steps = None  # points of the path of integrated gradients

# %%
from dataclasses import replace

import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.attribution import Row, methods
from faithlib.evaluation import explain
from faithlib.metrics import crosslingual_rho
from faithlib.perturb import Perturber

run = start_run(
    "together_mirrored", profile=profile, dataset=dataset, part=part, parts=parts, inputs=inputs, ig_steps=ig_steps
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
# Attention methods need attention maps.
network = load_model(settings["model"], attention="eager").model.to(device)
data = load_pictures(dataset, "test", n=settings["inputs"], sample=settings["sample"])
# A few test pictures of a set are pictures of that set.
named = dataset.removesuffix("-few")

# %% [markdown]
# ## Scores of both, cell by cell
#
# With $a_k$ the score of cell $k$ of an image, $b_j$ that of cell $j$ of its mirror image and $m(k)$ the cell at the mirrored place,
#
# $$\rho = \mathrm{corr}\bigl(\mathrm{rank}(a_k),\ \mathrm{rank}(b_{m(k)})\bigr),$$
#
# study 3's measure with one link for every cell.
#
# Each image is explained for the class that the model predicts for it, which may differ from its mirror image's. Random
# scores are drawn for each of the two. *Closeness to the middle* is a baseline that uses neither model nor image:
# its map is its own mirror image.

# %%
PREPARED = {"integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]})}
names = [name for name in methods("image") if name not in ("lime", "occlusion", "shapley_sampling", "uniform")]
asked = {name: PREPARED.get(name, name) for name in names}


def shape_of(inputs):
    """Rows and columns of a map."""
    return tuple(size + 1 for size in divmod(int(inputs.feature_of.max()), int(inputs.feature_of[0].max()) + 1))


def closeness(rows, columns):
    """How close each cell is to the middle, [rows, columns]."""
    return -torch.hypot(torch.arange(rows)[:, None] - (rows - 1) / 2, torch.arange(columns) - (columns - 1) / 2)


def maps(inputs, shape):
    """Scores as maps [B, rows, columns], by method."""
    by_method = {
        name: scores.view(len(inputs), *shape).cpu() for name, scores in explain(network, inputs, asked).items()
    }
    return by_method | {"middle": closeness(*shape).expand(len(inputs), *shape)}


for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    inputs = as_inputs(block, network, patch=network.patch_embed.patch_size[0]).to(device)
    mirrored = replace(inputs, pixels=inputs.pixels.flip(-1))
    shape = shape_of(inputs)
    straight, turned = maps(inputs, shape), maps(mirrored, shape)
    same = (Perturber(network, inputs).predicted == Perturber(network, mirrored).predicted).cpu().float()
    agreement = [
        pd.DataFrame(
            {
                "input": block.ids,
                "method": name,
                "rho": crosslingual_rho(scores.flatten(1), turned[name].flip(-1).flatten(1)),
                "same_class": same,
            }
        )
        for name, scores in straight.items()
    ]
    agreement = pd.concat(agreement, ignore_index=True).assign(dataset=named)
    run.add(agreement, "together_mirrored")
    run.add_units(as_units(agreement, seed=0, metrics=["rho", "same_class"], keys=["dataset"]))
    run.count(n=len(block), features=shape[0] * shape[1])

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Rank correlation of the two maps by method. `middle` uses neither model nor image, `random` is chance. *Book*: the full run's mean.
# `notebooks/report/together_diagnosticity.py` with `values = "run"` shows it beside the other metrics.

# %%
beside_book(run, metrics=["rho"])
