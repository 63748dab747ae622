# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How often verdicts err
#
# Verdict rules make mistakes. We state how often they may, and check it here by simulation on data with a known answer. In
# most of the simulated worlds there is nothing to find: every mean is exactly zero, or exactly at the margin. A
# *yes* or *no* there is an error.
#
# The simulated values are distributed like ours: normal; differences of two shares; shares of .8 and .95; and values
# of single inputs from runs of this book, resampled (*listed* below). Values with strong skew (exponential ones, and what
# our adversarially trained classifier gains in AOPC) are reported separately, because ten or thirty of them do not
# show the tail. Clusters are the independent inputs of a cell. A claim of several comparisons has several
# such means, which may be correlated.

# %% tags=["parameters"]
profile = "laptop"

# %%
import pandas as pd
from IPython.display import Markdown

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.plots import Layout, dot_plot
from faithbook.stats import calibration

page = start_page("calibration", profile, paper=published.OUR_OWN)
table, made = calibration.measured()
rates = calibration.rates(table)
asked = rates.dropna(subset=["promised"])
Markdown(
    f"{len(rates):,} rates, each of {table.worlds.min():,} to {table.worlds.max():,} worlds, were measured on {made['date']} "
    f"at commit `{made['commit'][:12]}` with seed {made['seed']} ({made['seconds'] / 60:.0f} minutes; "
    f"`python data/reference/calibrate.py` measures them again). Something is promised of {len(asked):,}, and {int(asked.kept.sum()):,} of these keep it."
)


# %%
def ends(row):
    """A rate with its Monte Carlo interval, in percent."""
    return f"{100 * row.rate:.1f} [{100 * row.low:.1f}, {100 * row.high:.1f}]"


def world(row):
    """In which world a rate was measured, in words."""
    parts = f", {row.parts} parts correlated {row.correlation:g}" if row.parts > 1 else ""
    return f"{row['values']}{parts}" if isinstance(row, pd.Series) else f"{row.values}{parts}"


# %% [markdown]
# ## Promise and measurement
#
# The table has the worst rate of each kind. Where there is nothing to find, a rule may say *yes* in at most 5 of 100
# worlds, and *no* in at most 5 of 100 from 24 clusters on. With fewer clusters it says *no* only to a claim of one
# part. An interval has to contain the truth in 94 of 100 worlds, with ten clusters in 92. The brackets are 95 %
# Monte Carlo intervals: another seed would give another number, usually within them. A promise counts as broken if
# the whole bracket is beyond it.

# %%
farthest = calibration.worst(rates)
shown = pd.DataFrame(
    {
        "rule": farthest.rule,
        "values": farthest.kind,
        "clusters": farthest.clusters,
        "rate of": farthest.which.replace({calibration.HELD_AS: "truth held"}),
        "promised, %": [f"{'≥' if w == calibration.HELD_AS else '≤'} {100 * p:.0f}" for w, p in zip(farthest.which, farthest.promised, strict=True)],
        "farthest, %": [ends(row) for _, row in farthest.iterrows()],
        "in": [world(row) for _, row in farthest.iterrows()],
        "kept": [f"{keeping} of {number}" for keeping, number in zip(farthest.keeping, farthest.rates, strict=True)],
    }
)  # fmt: skip
page.listing(shown, "calibration_promises", caption="What is promised of each rule, and the farthest rate measured")

# %% [markdown]
# ## Claims of many parts
#
# The more parts a claim has, the more often one of them is on the wrong side by chance. The correction for the
# number of parts has to prevent this without knowing how the parts are correlated.

# %%
many = rates[(rates.rule == calibration.ALL) & (rates.clusters >= 24)]
highest = many.groupby(["kind", "which", "parts"], sort=False).rate.idxmax()
drawn = many.loc[highest].rename(columns={"rate": "estimate"}).assign(rule=lambda rows: "the rule says " + rows.which)
drawn = drawn[drawn.which.isin(["yes", "no"])].sort_values("parts", kind="stable")
layout = Layout(panel="rule", series="kind", mark=0.05)
fig, alt = dot_plot(drawn, "share of worlds in which it errs", row="parts", layout=layout)
caption = (
    "How often a claim that all parts are above zero is answered yes or no where all are exactly zero, by the number of "
    "parts: the highest rate over 24 and 100 clusters and correlations 0, .5 and .9. Dotted: the promise. Bars: 95 % Monte "
    "Carlo intervals."
)
page.figure(fig, "calibration_parts", alt=alt, caption=caption, data=many.drop(columns=["kind", "skewness"]))

# %% [markdown]
# ## Intervals
#
# How often the 95 % interval of one mean, or of one share, contains the truth.

# %%
held = rates[rates.which == calibration.HELD_AS]
wide = held.assign(cell=[ends(row) for _, row in held.iterrows()]).pivot_table(
    index="values", columns="clusters", values="cell", aggfunc="first", sort=False
)
wide.insert(0, "skewness", [f"{x:.1f}" for x in held.groupby("values", sort=False).skewness.first()])
wide = wide.rename(columns={n: f"{n} clusters, %" for n in calibration.COUNTS}).reset_index()
page.listing(
    wide, "calibration_coverage", caption="Share of worlds in which the interval contains the truth, in percent"
)

# %% [markdown]
# ## Inside the margin
#
# *Not worse than* and *as good as* need evidence: with few inputs a rule must not say *yes* only because it found no
# difference. If there is no difference, *yes* is right and must become more frequent with more inputs.

# %%
inside = rates[rates.rule.str.endswith(calibration.INSIDE) & (rates.which == "yes")]
wide = inside.assign(cell=[ends(row) for _, row in inside.iterrows()]).pivot_table(
    index=["rule", "values"], columns="clusters", values="cell", aggfunc="first", sort=False
)
wide = wide.rename(columns={n: f"{n} clusters, %" for n in calibration.COUNTS}).reset_index()
page.listing(
    wide,
    "calibration_inside",
    caption=f"How often the answer is yes where there is no difference: margin {calibration.MARGIN:g}, standard deviation "
    f"{calibration.SPREAD:g} (shares: their own), in percent",
)

# %% [markdown]
# ## Where a promise is not kept

# %%
broken = asked[~asked.kept]
lines = [f"- {row.rule}, {row.clusters} clusters, {world(row)}: {row.which} in {ends(row)} of 100, promised {100 * row.promised:.0f}." for _, row in broken.iterrows()]  # fmt: skip
apart = sorted(set(broken.kind))
Markdown(
    "\n".join(lines) + f"\n\nAll of them are about values that are called {' or '.join(apart)} above."
    if len(broken)
    else "None of the measured rates is beyond its promise."
)

# %% [markdown]
# The book treats skew as follows. If the values of a part have a sample skewness beyond one (for several parts: the
# median of theirs), the rule gives no answer on the side of the missing tail. The verdict is then *undecided*, with
# that reason. This cannot help if a rare tail is missing from the sample altogether.
#
# Worlds with nothing to find are the worst case for errors. They do not show how often a true effect is found. That
# depends on its size: every undecided verdict comes with the smallest effect that the run could have found.

# %%
sizes = ", ".join(f"{name} ({n})" for name, n in made["stored"].items())
page.finish(
    note=f"measured apart from the book by `python data/reference/calibrate.py` with {made['resamples']:,} resamples; stored values: {sizes}, "
    "as a laptop's run of commit 7374a1d had them"
)
