# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Status: what ran, where, and how long it took

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd

from faithbook.access import require
from faithbook.engine.run import load_manifests
from faithbook.engine.study import find_profile
from faithbook.judge import costs, published
from faithbook.judge.report import start_page

page = start_page("status", profile, values=values, paper=published.OUR_OWN)
require(costs.DECLARED)
NOTED = ["dataset", "seed", "n", "truncated", "undefined", "rows_asked", "rows_run", "dtype", "peak_bytes"]
runs = load_manifests(profile)
runs = runs.reindex(columns=list(dict.fromkeys([*runs.columns, *NOTED])))  # what no run noted is missing
computed = runs[runs["kind"] == "compute"]

# %% tags=["remove-input"]
asked, run = (pd.to_numeric(computed[name], errors="coerce").sum() for name in ("rows_asked", "rows_run"))


def in_short():
    """The result of this page in a sentence."""
    hours, minutes = divmod(round(runs["seconds"].sum() / 60), 60)
    return (
        f"{len(runs)} runs ({len(computed)} of them computations) took {hours} h {minutes} min of notebook time in all (several may "
        f"run at once); methods and metrics requested {asked:,.0f} forward passes, of which {run:,.0f} were computed. Profile `{profile}`: "
        f"{find_profile(profile).about}"
    )


page.in_short(in_short)

# %% [markdown]
# One row per run behind this copy of the book, read from the manifests of the runs.

# %% [markdown]
# ## What the numbers of the book took
#
# The book's numbers are those of the full run, whose values per input are in the repository. It was computed on several
# machines, with one thread per run on processors, whose hours are of the processor where a run has noted them: the clock
# also counts other programs. *Computed* forward passes, in thousands, are of the runs that count them. Runs that were
# replaced by later ones and trainings are not counted. The papers' own models are larger than most of ours.

# %%
took = costs.measured_costs(costs.reference_runs())
caption = "What each computation of the full run took, by device; at the end all of a device together"
page.listing(
    took.rename(columns={"notebook": "computation", "rows": "1000 passes computed"}),
    "status_reference_costs",
    caption=caption,
    digits=2,
)

# %% [markdown]
# ## Computations
#
# *Truncated* inputs were cut at the length limit of their task. *Undefined* ones have no normalised score, because the model
# was as sure with everything erased. *Requested* forward passes are the perturbed inputs that methods and metrics needed;
# *computed* ones went through the model, and the others were in the cache.

# %%
WHOLE = ["seed", "n", "truncated", "undefined", "rows_asked", "rows_run", "peak MiB"]
NAMES = {"rows_asked": "passes requested", "rows_run": "passes computed", "dtype": "precision"}
COLUMNS = ["notebook", "dataset", "models", *WHOLE[:-1], "dtype", "device", "seconds", "peak MiB"]


def models_of(declared):
    """The models among what a run declares to load, as people call them; a folder by its name."""
    hubs = [name.partition(":")[2] for name in declared if name.startswith(("local:", "hf:", "timm:"))]
    return ", ".join(dict.fromkeys([*hubs, *(name.rpartition("/")[2] for name in declared if name.startswith("/"))]))


shown = computed.assign(models=computed["declared"].map(models_of), seconds=computed["seconds"].round(1))
shown["peak MiB"] = (pd.to_numeric(shown["peak_bytes"], errors="coerce") / 2**20).round()
shown[WHOLE] = shown[WHOLE].apply(pd.to_numeric, errors="coerce").astype("Int64")
shown = shown[COLUMNS].rename(columns=NAMES)
page.run.save(shown, "status_compute", format="csv")
page.findable(shown, "status_compute", caption="Every computation of this profile", data="status_compute.csv")

# %% [markdown]
# ## Environment

# %%
facts = runs[["commit", "device", "processor", "cores", "threads", "dtype"]]
facts = facts.rename(columns={"threads": "threads of a notebook", "dtype": "precision"})
facts = facts.join(pd.DataFrame(list(runs["versions"]), index=runs.index))
noted = [", ".join(dict.fromkeys(facts[name].dropna().map(str))) or "not noted" for name in facts]
caption = "Machine and versions of all runs (several values: runs differ)"
page.listing(pd.DataFrame({"what": list(facts), "value": noted}), "status_environment", caption=caption)

# %%
page.finish()
