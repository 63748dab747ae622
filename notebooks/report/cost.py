# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What the papers' own sizes cost
#
# What `make paper` would compute: rows of models and hours, by paper, by computation and by table. Every number comes from the
# manifests of runs: rows that runs of the full profile have counted, and the seconds that they took. For one thread on a processor,
# these are the seconds that it computed, if a run has noted them, because the clock also counts time of other programs.
#
# - **Rows** are perturbed inputs that go through a model. An input of the papers' size is taken to have as many as one of the full
#   profile on the same data, or on its substitute. Other settings (draws, methods, steps) change that, so a number is
#   "about".
# - **Hours, this processor** are seconds per input of the full profile's runs, times the inputs here. Their models are
#   smaller than the papers': this is what the papers' sizes would take with ours.
# - **Hours on a GPU** are measured: there is a number as soon as runs of the papers' profile have used a GPU on all data sets of a
#   computation. Before that, divide the hours of this processor by how many times faster your GPU is with the papers' models than
#   this processor with ours; we have not measured that. Money is these hours times the price of one. Trainings are not in them.
#
# A dash: no run has measured it, because its rows are not counted or its inputs are not a setting of the profile.

# %% tags=["parameters"]
profile = "laptop"

# %%
import json

import pandas as pd
from IPython.display import Markdown

from faithbook import timing
from faithbook.declared import ask
from faithbook.engine.plan import MANIFEST
from faithbook.engine.profiles import table
from faithbook.results import findings, published
from faithbook.results.report import start_page

page = start_page("cost", profile, paper=published.OUR_OWN)
ask("data/reference/full/manifest.json")
runs = timing.of_reference()
runs += [json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in page.run.upstream]
full = [run for run in runs if run["profile"] == "full" and run["device"] == "cpu"]
on_gpu = [run for run in runs if run["profile"] == "paper" and run["device"] != "cpu"]
costs = timing.estimate("paper", full)
costs["gpu_hours"] = timing.estimate("paper", on_gpu, related_only=True)["hours"]
Markdown(
    f"*This processor*: {', '.join(sorted({run['processor'] for run in full}))}, on which the full profile has run."
)

# %%
SUMS = ["rows", "hours", "gpu_hours"]


def shown(frame, **names):
    """Costs for people: thousands of rows, hours, a dash where nothing is known."""
    rounded = pd.DataFrame(
        {
            "1000 rows, about": (frame["rows"] / 1000).map("{:.0f}".format),
            "hours, this processor": frame["hours"].map("{:.2f}".format),
            "hours on a GPU": frame["gpu_hours"].map("{:.2f}".format),
        }
    )
    return pd.concat([frame[list(names)].rename(columns=names), rounded.replace("nan", "–")], axis=1)


# %% [markdown]
# ## By paper

# %%
studies = costs.groupby("study", sort=False)[SUMS].sum(min_count=1)
studies.loc["all"] = costs[SUMS].sum()
studies["unknown"] = costs["hours"].isna().groupby(costs["study"]).sum()
studies.loc["all", "unknown"] = costs["hours"].isna().sum()
WORDS = {
    "soft": "study 1",
    "saco": "study 2",
    "crosslingual": "study 3",
    "naopc": "study 4",
    "together": "all together",
}
studies = studies.astype({"unknown": int}).rename(index=WORDS).reset_index()
page.run.save(studies, "cost_studies", format="csv")
page.findable(
    shown(studies, study="study", unknown="computations not known"),
    "cost_studies",
    caption="What the papers' profile costs, by study",
    data="cost_studies.csv",
)

# %% [markdown]
# ## By computation

# %%
page.run.save(costs, "cost_notebooks", format="csv")
page.findable(
    shown(costs, study="study", notebook="computation", runs="runs"),
    "cost_notebooks",
    caption="What the papers' profile costs, by computation",
    data="cost_notebooks.csv",
)

# %% [markdown]
# ## By table
#
# The cost of one table or figure on its own: all computations that its page reads. Tables of one page share them, so
# these rows do not add up to the sums above.

# %%
entries = {name: (kind, entry) for _, kind, name, entry in table().entries()}


def computations(report):
    """The computations that a report reads, itself or through other reports."""
    reads = [name for name in entries[report][1].reads if name in entries]
    return set().union(*({name} if entries[name][0] == "compute" else computations(name) for name in reads))


# %%
listed = published.claims()
exhibits = [
    {"exhibit": one.id, "paper": one.paper, "title": one.claim, "page": one.page, "notebook": name}
    for one in listed[listed.kind.isin(["table", "figure"]) & listed.page.isin(list(entries))].itertuples()
    for name in computations(one.page)
]
exhibits = pd.DataFrame(exhibits).merge(costs.drop(columns="study"), on="notebook")
exhibits["unknown"] = exhibits["hours"].isna().astype(int)
about = ["exhibit", "paper", "title", "page"]
exhibits = exhibits.groupby(about, sort=False)[[*SUMS, "unknown"]].sum(min_count=1).reset_index()
page.run.save(exhibits, "cost_exhibits", format="csv")
page.findable(
    shown(
        exhibits.assign(paper=exhibits.paper.map(findings.cited)),
        exhibit="table or figure", paper="paper", title="shows", unknown="computations not known",
    ),
    "cost_exhibits",
    caption="What one table or figure of the papers costs",
    data="cost_exhibits.csv",
)  # fmt: skip

# %%
page.finish()
