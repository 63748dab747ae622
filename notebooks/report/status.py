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
from IPython.display import Markdown

from faithbook.engine.profiles import find_profile
from faithbook.engine.run import load_manifests
from faithbook.results import published, ran
from faithbook.results.report import start_page

page = start_page("status", profile, paper=published.OUR_OWN)
manifests = load_manifests(profile)

# %%
Markdown(f"Profile `{profile}`: {find_profile(profile).about}\n\n{ran.in_words(manifests)}")

# %% [markdown]
# ## What the numbers of the book took
#
# The book's numbers are those of the full run, whose values of single inputs are committed. Its runs were made one by one, on
# several machines; on a processor each used one thread. Runs that later ones replaced are not counted.

# %%
caption = "Computations of the full run by device, and their hours of notebook time; trainings are not among them"
page.listing(ran.hours_by_device(ran.reference_runs()), "status_reference_hours", caption=caption, digits=1)

# %% [markdown]
# ## Computations
#
# *Truncated* inputs lost their end at the limit of their task; *undefined* ones have no normalised score, because the
# model was as sure of its answer with everything erased. Rows *asked* are the perturbed texts that methods and metrics
# wanted; rows *run* went through the model, the others had been answered before.

# %%
computed = ran.computations(manifests)
page.run.save(computed, "status_compute", format="csv")
page.findable(computed, "status_compute", caption="Every computation of this profile", data="status_compute.csv")

# %% [markdown]
# ## Pages

# %%
made = ran.pages(manifests)
page.run.save(made, "status_pages", format="csv")
page.findable(made, "status_pages", caption="Every page made from a notebook", data="status_pages.csv")

# %% [markdown]
# ## Environment

# %%
caption = "Machine and versions, over all runs (several values: not all ran on the same)"
page.listing(ran.environment(manifests), "status_environment", caption=caption)

# %%
page.finish()
