# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: SaCo from stored groups
#
# Wu et al. (2024), Eq. 1-3, on stored numbers: what equal drops are worth (S6 of the open points), what negative
# scores do (S8), and all orders in which the drops of five groups can come. Groups and maps are those that
# `saco_metrics` saved for the images of this book; no model is run.

# %% tags=["parameters"]
profile = "laptop"

# %%
from itertools import permutations

import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import load, start_run
from faithbook.engine.units import as_units
from faithlib.metrics import saco

run = start_run("saco_replayed", profile=profile)
KEY = ["dataset", "input", "method"]


def by_groups(frame, column):
    """A column as a tensor [maps, K], one row per image and method, with the rows' names."""
    wide = frame.pivot_table(index=KEY, columns="group", values=column)  # pivoting takes means
    return torch.tensor(wide.to_numpy()), wide.index


# %% [markdown]
# ## Equal drops
#
# With $s_i$ the mean score of the pixels in group $i$ and $d_i$ the drop of the predicted class's probability when that group is
# erased (Eq. 1 and 2; the paper has sums, which differ by a factor where groups are of one size),
#
# $$\text{SaCo} = \frac{\sum_{i<j} \pm (s_i - s_j)}{\sum_{i<j} |s_i - s_j|}, \quad \text{with } + \text{ where } d_i \geq d_j
# \text{ and } - \text{ elsewhere (Eq. 3).}$$
#
# The share of pairs of groups whose drops are equal to the last bit, SaCo as published and with nothing for equal pairs.

# %%
steps = load("saco_steps", profile)
salience, names = by_groups(steps, "salience")
alone, _ = by_groups(steps, "alone")
left, right = torch.triu_indices(salience.shape[1], salience.shape[1], offset=1)
tied = pd.DataFrame(
    {
        "ties": (alone[:, left] == alone[:, right]).double().mean(dim=1).numpy(),
        "satisfied": saco(salience, alone).numpy(),
        "half": saco(salience, alone, ties="half").numpy(),
    },
    index=names,
).reset_index()
run.save_units(as_units(tied, seed=0, metrics=["ties", "satisfied", "half"], keys=["dataset"]), "ties")

# %% [markdown]
# ## Signs
#
# SaCo of a map as it is, and with negative scores set to zero while the groups stay as they are.

# %%
maps = load("saco_maps", profile)
in_groups = maps[maps.group >= 0].assign(group=maps.group + 1, clamped=maps.score.clip(lower=0))
by_score, order = by_groups(in_groups, "score")
clamped, _ = by_groups(in_groups, "clamped")
signed = pd.DataFrame(
    {"saco": saco(by_score, alone).numpy(), "saco_clamped": saco(clamped, alone).numpy()}, index=order
)
signed = signed.reset_index()
run.save(signed, "saco_clamped")
run.save_units(as_units(signed, seed=0, metrics=["saco", "saco_clamped"], keys=["dataset"]), "signs")

# %% [markdown]
# ## All orders of five drops
#
# With saliences as uniform scores would have them, in equal steps: SaCo, and the share of pairs that obey.

# %%
orders = torch.tensor(list(permutations(range(5))), dtype=torch.double)
evenly = torch.arange(5, 0, -1, dtype=torch.double).expand(len(orders), -1)
upper, lower = torch.triu_indices(5, 5, offset=1)
obeyed = (orders[:, upper] > orders[:, lower]).double().mean().item()
values = saco(evenly, orders)
ends = {"lowest": values.min().item(), "highest": values.max().item()}
run.save(pd.DataFrame([{"orders": len(orders), "mean": values.mean().item(), "obeyed": obeyed} | ends]), "saco_orders")

# %%
run.note(n=len(names), dtype="float64", device="cpu")
run.finish()

# %% [markdown]
# ## What was computed
#
# The share of pairs with equal drops, and SaCo where such a pair counts as satisfied (as published) and where it counts half.
# *Book*: the full run's mean. What may be changed is what `saco_metrics` saved: run that first with a choice of yours.

# %%
beside_book(run, part="ties", by=["metric", "method"])
