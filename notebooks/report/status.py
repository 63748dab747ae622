# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Status: what ran, where, and how long it took
#
# One row for each run behind this copy of the book, read from the manifests that the runs left.

# %% tags=["parameters"]
profile = "laptop"

# %%
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.profiles import find_profile
from faithbook.engine.run import load_manifests, start_run
from faithbook.results import tables

run = start_run("status", profile=profile)
manifests = load_manifests(profile)
computed = manifests[manifests.kind == "compute"]


def column(frame, name):
    """A column of the manifests, missing values where no run noted it."""
    return frame[name] if name in frame else pd.Series(pd.NA, index=frame.index)


def several(values):
    """The distinct values of a column, in words."""
    return ", ".join(dict.fromkeys(str(value) for value in values.dropna())) or "not noted"


# %%
hours, minutes = divmod(round(manifests.seconds.sum() / 60), 60)
Markdown(
    f"Profile `{profile}`: {find_profile(profile).about}\n\n"
    f"{len(manifests)} runs ({len(computed)} of them computations) took {hours} h {minutes} min of notebook time "
    f"in all (several may run at once); the core was asked for {column(computed, 'rows_asked').sum():,.0f} model rows and ran "
    f"{column(computed, 'rows_run').sum():,.0f}."
)

# %% [markdown]
# ## Computations
#
# *Truncated* inputs lost their end at the limit of their task; *undefined* ones have no normalised score, because the
# model was as sure of its answer with everything erased. Rows *asked* are the perturbed texts that methods and metrics
# wanted; rows *run* went through the model, the others had been answered before.

# %%
facts = {
    "notebook": "notebook", "dataset": "dataset", "seed": "seed", "n": "n", "truncated": "truncated",
    "undefined": "undefined", "rows_asked": "rows asked", "rows_run": "rows run", "dtype": "precision",
    "device": "device", "seconds": "seconds", "peak_bytes": "peak MiB",
}  # fmt: skip
shown = pd.DataFrame({title: column(computed, name) for name, title in facts.items()})
shown["seed"] = shown["seed"].astype("Int64")
for title in ("n", "truncated", "undefined", "rows asked", "rows run"):
    shown[title] = pd.to_numeric(shown[title], errors="coerce").astype("Int64")
shown["seconds"] = shown.seconds.round(1)
shown["peak MiB"] = (pd.to_numeric(shown["peak MiB"], errors="coerce") / 2**20).round().astype("Int64")
tables.table(shown, run, "status_compute", digits=1, caption="Every computation of this profile")

# %% [markdown]
# ## Pages

# %%
pages = manifests[manifests.kind == "report"]
shown = pd.DataFrame({title: column(pages, name) for name, title in (("notebook", "notebook"), ("seconds", "seconds"))})
shown["started"] = column(pages, "started")
tables.table(shown, run, "status_pages", digits=1, caption="Every page made from a notebook")

# %% [markdown]
# ## Environment

# %%
packages = pd.DataFrame(list(manifests.versions))
environment = [
    ("commit", several(manifests.commit)),
    ("device", several(manifests.device)),
    ("processor", several(manifests.processor)),
    ("cores", several(manifests.cores)),
    ("threads of a notebook", several(manifests.threads)),
    ("precision", several(column(computed, "dtype"))),
    *((name, several(packages[name])) for name in packages),
]
tables.table(
    pd.DataFrame(environment, columns=["what", "value"]),
    run,
    "status_environment",
    caption="Machine and versions, over all runs (several values: not all ran on the same)",
)

# %%
run.provenance()

# %%
run.finish()
