# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: the same explainer on several models
#
# A score that is to be compared across models must give an explainer the same value on all models on which it is equally
# good. On closed-form models the truth, the truth with noise and random scores are equally good by construction. Of the six
# models whose answers Edin et al. (2025) released, only random scores are known to be. Limits of AOPC and the mean over all
# orders are exact: every set of features has an answer.

# %% tags=["parameters"]
profile = "laptop"
# Your choices: None is what the profile says.
inputs = None  # inputs of each closed-form model
texts = None  # released texts of each data set

# %%
import pandas as pd

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.naopc.edin_released import MODELS, SHORT
from faithbook.studies.safe import across_models, comparing

run = start_run("safe_compared", profile=profile, inputs=inputs, texts=texts)
settings = run.settings

# %% [markdown]
# ## Five scores that are to be compared
#
# With $r$ an explanation's order of removal, AOPC is the mean drop along the way, *upper* and *lower* are its largest and
# smallest values over all orders, and $E$ is its mean over all orders:
#
# $$\text{AOPC}(r) = \frac1N \sum_{k=1}^{N} \bigl[ p(x) - p(x \text{ without the first } k \text{ of } r) \bigr], \qquad
# \text{NAOPC} = \frac{\text{AOPC} - \text{lower}}{\text{upper} - \text{lower}},$$
#
# $$\text{chance-adjusted} = \frac{\text{AOPC} - E}{\text{upper} - E}, \qquad
# \text{SRG} = \text{AOPC}_\text{MoRF} - \text{AOPC}_\text{LeRF}, \qquad
# \text{SRG over the range} = \frac{\text{SRG}}{\text{upper} - \text{lower}}.$$
#
# First on models whose truth is known in closed form:

# %%
found = comparing.closed_form(settings["inputs"])
scores = [*across_models.SCORES, "quality"]
run.save_units(as_units(found, seed=0, metrics=scores, keys=["family", "model"], name="id"), "closed")

# %% [markdown]
# Then on the answers of the six released models:

# %%
tables = [comparing.released(model, dataset, most=settings["texts"]) for model in MODELS for dataset in SHORT]
released = pd.concat(tables, ignore_index=True)
run.save_units(
    as_units(released, seed=0, metrics=list(across_models.SCORES), keys=["dataset", "model"], name="id"), "released"
)

# %%
run.note(n=int(found.id.nunique()), texts=int(released.groupby("dataset").id.nunique().sum()), device="cpu")
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean score of random explanations on each of six models whose answers were released. A score that can be compared between
# models gives them the same on all. *Book*: the full run's mean.

# %%
beside_book(run, part="released", by=["metric", "model"], where={"method": "random"})
