# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What the papers' own sizes cost
#
# This page estimates what `make paper` would compute: model calls and hours, by paper, by computation and by table.
# The numbers come from the manifests of the full run, which count model calls and seconds. Seconds are processor
# time of one thread if a run has recorded it, because the clock also counts time of other programs.
#
# - **Rows** are model calls: perturbed inputs that go through a model. We assume as many per input as in the full
#   run on the same data, or on its substitute. Other settings (draws, methods, steps) change that, so numbers are
#   approximate.
# - **Hours, this processor** are seconds per input of the full run, times the number of inputs in the papers. Our
#   models are smaller than the papers', so this is the cost of the papers' sizes with our models.
# - **Hours on a GPU** are measured, for computations whose runs at the papers' sizes have used a GPU on all data
#   sets. For the others, divide the hours of this processor by the speed-up of your GPU with the papers' models over
#   this processor with ours; we have not measured that. The cost in money is the hours times the price per hour.
#   Training is not included.
#
# A dash means that no run has measured it, because its model calls are not counted or its inputs are not a setting
# of the profile.

# %% tags=["parameters"]
profile = "laptop"

# %%
import json

import pandas as pd
from IPython.display import Markdown

from faithbook import timing
from faithbook.access import require
from faithbook.engine.plan import MANIFEST
from faithbook.engine.profiles import table
from faithbook.judge import published, summary
from faithbook.judge.report import start_page

page = start_page("cost", profile, paper=published.OUR_OWN)
require("data/reference/full/manifest.json")
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
# The cost of one table or figure on its own is that of all computations that its page reads. Tables of one page
# share them, so these rows do not add up to the sums above.

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
        exhibits.assign(paper=exhibits.paper.map(summary.cited)),
        exhibit="table or figure", paper="paper", title="shows", unknown="computations not known",
    ),
    "cost_exhibits",
    caption="What one table or figure of the papers costs",
    data="cost_exhibits.csv",
)  # fmt: skip

# %%
page.finish()
