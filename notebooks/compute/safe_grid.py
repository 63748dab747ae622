# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: metrics on models whose truth is known in closed form
#
# The conditions are listed in `data/safe_conditions.csv` and were declared, with outcomes and the rule of choice, in
# `data/safe_plan.toml` before anything ran. A block has inputs, ten graded explanations of each, and models that err in
# different ways; the library's metrics score every explanation of every input on every model. Everything random follows from
# the number of the block, the model seed and the number of the input, so that any condition can be made again alone.

# %% tags=["parameters"]
profile = "laptop"
# Your choices: None is what the profile says.
blocks = None  # blocks of conditions; the first ones and the last
seeds = None  # models of each condition
inputs = None  # inputs of each model
draws = None  # masks per soft score

# %%
import pandas as pd
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.safe import design, grid

run = start_run("safe_grid", profile=profile, blocks=blocks, seeds=seeds, inputs=inputs, draws=draws)
settings = run.settings
metrics = grid.metrics_judged()
listed = design.conditions()
# A small run takes the first blocks and, always, the last: today's condition of study `together`.
chosen = listed[(listed.block < settings["blocks"] - 1) | (listed.block == listed.block.max())]

# %% [markdown]
# ## Every metric on every explanation
#
# Of ten explanations $e$ of an input with known quality $q_e$, a metric gives the values $m_e$. *Tracks the truth* is
# Kendall's or Spearman's correlation of the two,
#
# $$\rho = \mathrm{corr}\bigl(\mathrm{rank}(m_e),\ \mathrm{rank}(q_e)\bigr).$$
#
# One value per input is kept: the rank correlation of a metric's values with how good the explanations are, and the share of
# clear pairs that it orders wrongly. Whatever is looked at only together (other readings of *good*, how often an error
# cannot change an order) is kept as a mean by condition and half of the seeds.

# %%
by_input, together = [], []
parts = grid.blocks_of_grid(chosen, range(settings["seeds"]), settings["inputs"])
for block, part in tqdm(parts, total=chosen.block.nunique(), desc="blocks"):
    found, beside = grid.measured(block, part, metrics, draws=settings["draws"])
    by_input.append(found)
    together.append(beside)
by_input, together = pd.concat(by_input, ignore_index=True), pd.concat(together, ignore_index=True)
run.save_units(as_units(by_input, seed="seed", keys=["condition"]))
run.save_units(as_units(together, seed="seed", keys=["condition"]), "beside")

# %% [markdown]
# ## What a metric costs
#
# Rows of the model that the library runs for one metric alone, per explanation.

# %%
spent = grid.prices(metrics, draws=settings["draws"], features=design.declared_plan()["outcomes"]["price_at"])
prices = pd.DataFrame({"metric": spent.keys(), "rows": spent.values()})
run.save_units(
    as_units(prices.assign(input="one", method=prices.metric).drop(columns="metric"), seed=0, metrics=["rows"]),
    "prices",
)

# %%
run.note(n=by_input.input.nunique() * chosen.block.nunique(), conditions=len(chosen), dtype="float32", device="cpu")
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean rank correlation with the planted truth over all conditions that were run, by metric: 1 where a metric ranks ten
# explanations as they are, 0 where it does so by chance. *Book*: the full run's mean, over all conditions.
# `notebooks/report/safe_map.py` with `values = "run"` makes the map of what was computed here.

# %%
beside_book(run, by=["metric", "method"])
