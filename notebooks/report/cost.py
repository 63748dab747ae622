# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What the papers' own sizes cost
#
# What `make paper` would compute: rows of models, hours, and money at a price of yours, by paper and by table. Every number
# comes from the manifests of runs: rows that runs of the full profile have counted, and the seconds that they took. Of one thread
# on a processor these are the seconds that it computed, where a run has noted them: the clock runs on while other work has the
# processor.
#
# - **Rows** are perturbed inputs that go through a model. An input of the papers' size is taken to have as many as one of the full
#   profile on the same data, or on what stands in for it there; other settings there (draws, methods, steps) change that, so a number is "about".
# - **Hours, this processor** are seconds an input of the full profile's runs, times the inputs here. Their models are
#   smaller than the papers': this is what the papers' sizes would take with ours.
# - **GPU-hours** are *extrapolated* until a run of the papers' profile has used a GPU: the hours of this processor, divided by how many
#   times faster you take a GPU with the papers' models to be than this processor with ours. We have not measured that, so it begins
#   at one, which is no estimate. Once a run has used a GPU, its own hours stand here as *measured*. Trainings are not in them.

# %% tags=["parameters"]
profile = "laptop"

# %%
import json

from IPython.display import Markdown

from faithbook.engine.plan import MANIFEST
from faithbook.results import costs, findings, published
from faithbook.results.report import start_page

page = start_page("cost", profile, paper=published.OUR_OWN)
reference = costs.reference()
own = [json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in page.run.upstream]
own = [{**one, "here": True} for one in own if one["kind"] == "compute"]
found = costs.by_notebook("paper", [*reference, *own])
processors = dict.fromkeys(one["processor"] for one in reference)
Markdown(f"*This processor*: {', '.join(processors)}, on which the full profile has run.")

# %%
costs.fields()

# %% [markdown]
# ## By paper

# %%
studies = costs.by_study(found)
page.run.save(studies, "cost_studies", format="csv")
names = {"study": "study", "unknown": "computations not told"}
page.findable(
    costs.shown(studies, names),
    "cost_studies",
    caption="What the papers' profile costs, by study; euros at the price above",
    data="cost_studies.csv",
)

# %% [markdown]
# ## By computation
#
# *Counted at* names the profile whose runs have counted the rows. A dash: no run has told, because its rows are not counted or
# its inputs are no setting of the profile.

# %%
page.run.save(found, "cost_notebooks", format="csv")
names = {"study": "study", "notebook": "computation", "runs": "runs", "counted_at": "counted at"}
page.findable(
    costs.shown(found, names),
    "cost_notebooks",
    caption="What the papers' profile costs, by computation",
    data="cost_notebooks.csv",
)

# %% [markdown]
# ## By table
#
# What it takes to make one table or figure alone: all computations that its page reads. Tables of one page share them, so
# these rows do not add up to the sums above.

# %%
exhibits = costs.by_exhibit(found)
page.run.save(exhibits, "cost_exhibits", format="csv")
names = {"exhibit": "table or figure", "paper": "paper", "what": "shows", "unknown": "computations not told"}
page.findable(
    costs.shown(exhibits.assign(paper=exhibits.paper.map(findings.cited)), names),
    "cost_exhibits",
    caption="What one table or figure of the papers costs",
    data="cost_exhibits.csv",
)

# %% [markdown]
# ## How far such hours can be trusted
#
# The hours of the full profile were measured. Here each of its runs is told by the others of its notebook, as the hours
# above are told: seconds an input of runs on the same data set where there are any, else on one that stands in for it or for which it
# stands. Where there is neither, the hours above rest on all runs of the notebook, and lie far off where its data sets or models differ
# much: that is not checked. And this copy's profile, if it is another one, tells all of them from its own few inputs, other
# settings, and perhaps another processor, which is what the papers' hours are told from, too.

# %%
checked = costs.check(reference, own)
page.run.save(checked, "cost_check", format="csv")
Markdown(costs.told_check(checked))

# %%
page.findable(
    costs.shown_check(checked),
    "cost_check",
    caption="Hours of the full profile, measured and told",
    data="cost_check.csv",
)

# %%
page.finish()
