# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How often verdicts err

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown

from faithbook.judge import error_rates, published
from faithbook.judge.reference import committed_board
from faithbook.judge.report import start_page
from faithbook.paths import root
from faithbook.show.plots import Layout, dot_plot
from faithbook.stats.calibrate import COVERED, RATES

page = start_page("calibration", profile, values=values, paper=published.OUR_OWN)
rates = error_rates.with_promise(pd.read_csv(root() / RATES, dtype={"clusters": str}))
errors = rates[rates.answer != COVERED]
of_t = errors[errors.test == "t"]


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"Of {len(errors):,} simulated rates of error {int(errors.kept.sum()):,} keep the promise of 2.5 in 100: their 95 % Monte "
        f"Carlo interval does not lie beyond it. Each rate is of {rates.worlds.min():,} to {rates.worlds.max():,} simulated worlds; "
        f"{len(rates) - len(errors):,} further rates say how often the 95 % interval holds the truth."
    )


page.in_short(in_short)

# %% [markdown]
# Verdict rules make mistakes. {doc}`How verdicts are made <../how-verdicts-are-made>` states how often they may; this page checks it by
# simulation in worlds whose truth is known. In each world the truth is exactly where a verdict would be an error: at the threshold, at an
# edge of the margin, or without any relation. The functions that judge the claims judge these worlds (`make calibrate`).
#
# The simulated values are normal, uniform, skewed (beta and exponential), differences of two shares, shares of 0.8 and 0.95, and values of
# single inputs of this book, resampled. Clusters are the independent inputs of each data set; *200+12* is two data sets of unequal size and
# equal weight. A claim of several parts has several such means, which may be correlated.

# %% [markdown]
# ## Rates of error, before and now
#
# Before 28 November 2026 the rules chose one of five tests by the state of a number, and left answers out where values looked skewed. That
# kept them from erring, at the price of open verdicts. Now one test serves all claims whose plan names no other.

# %%
one_part = of_t[(of_t.rule == "direction, all") & (of_t.parts == 1)]
series = {"now": one_part.rate, "before": one_part.before}
shown = pd.concat(
    [one_part.assign(estimate=of_series, series=name)[["shape", "clusters", "answer", "estimate", "series"]] for name, of_series in series.items()]
)  # fmt: skip
shown = shown.dropna(subset=["estimate"]).assign(answer="wrongly " + shown["answer"])
drawn = shown.groupby(["shape", "answer", "series"], sort=False)["estimate"].max().reset_index()
fig, alt = dot_plot(
    drawn,
    "share of worlds at the threshold",
    row="shape",
    layout=Layout(panel="answer", series="series", mark=0.025),
)
kept_by_side = one_part.groupby("answer", sort=False)["kept"].agg(["sum", "size"])
worst = one_part.loc[one_part.groupby("answer", sort=False)["rate"].idxmax()]
highest = "; ".join(
    f"wrongly {row.answer} {row.rate:.2f} ({row.shape}, {row.clusters} clusters)" for row in worst.itertuples()
)
keeping = "; ".join(f"wrongly {row.Index} {row.sum} of {row.size}" for row in kept_by_side.itertuples(name="Side"))
caption = (
    "How often one mean at the threshold is called above it (wrongly yes) or below it (wrongly no): the highest rate over 10, 24, 60, 200 "
    "and 200+12 clusters (independent inputs; *200+12*: two data sets of unequal size), by the shape of the values. A *world* is one simulated sample whose true mean is known; here it is exactly at the threshold. The last six rows have the shapes of values of this book, resampled. *Now*: the test that "
    "judges; *before*: the rules up to 28 November 2026. *Share of .95*: a mean of zeros and ones that is 0.95; *beta(.5, 3)*: "
    "skewed shares; *paired 0/1*: differences of two shares. Dotted: 2.5 in 100. Each mark is the worst of five, so that chance alone puts "
    f"some beyond the line. Highest now: {highest}. Rates that keep the promise within their Monte Carlo interval: {keeping}."
)
page.overview((fig, alt), "calibration_overview", caption=caption)
fig, alt = dot_plot(
    drawn, "share of worlds at the threshold", row="shape", layout=Layout(panel="answer", series="series", mark=0.025)
)
page.figure(fig, "calibration_errors", alt=alt, caption=caption, data=one_part)

# %%
keys = ["rule", "answer"]
farthest = of_t.loc[of_t.groupby(keys, sort=False)["rate"].idxmax()]
counted = of_t.groupby(keys, sort=False)["kept"].agg(["sum", "size"]).reset_index()
table = farthest.merge(counted, on=keys)
columns = [
    "rule",
    "answer",
    "shape",
    "clusters",
    "parts",
    "correlation",
    "rate",
    "low",
    "high",
    "before",
    "sum",
    "size",
]
page.listing(
    table[columns].rename(columns={"sum": "rates that keep it", "size": "of"}),
    "calibration_promises",
    caption="Of every rule and answer the highest rate of error, with its 95 % Monte Carlo interval and the rate before",
)

# %% [markdown]
# ## Where the promise is not kept, and by which test it is
#
# Strongly skewed values in small samples break the promise of Student's t on the side of the tail that a sample lacks. For such values a
# plan can name another test: the studentised bootstrap, or for shares the score test.

# %%
broken = of_t[~of_t.kept & (of_t.parts == 1) & (of_t.rule == "direction, all")]
where = ["rule", "shape", "clusters", "parts", "correlation", "answer"]
others = errors[errors.test != "t"].pivot_table(index=where, columns="test", values="rate").reset_index()
beside = broken[[*where, "rate", "low", "high", "before"]].merge(others, on=where, how="left")
page.listing(
    beside.drop(columns=["rule", "parts", "correlation"]),
    "calibration_broken",
    caption="One mean at the threshold: rates of error beyond 2.5 in 100 by Student's t, and by the tests that a plan can name",
    empty="No rate of one mean is beyond the promise.",
)

# %% [markdown]
# ## Whose values are of a shape that breaks it

# %% tags=["remove-input"]
claims = error_rates.of_claims(rates, committed_board())
Markdown(error_rates.in_sentences(rates, claims))

# %%
page.listing(
    error_rates.of_shapes(rates),
    "calibration_shapes",
    caption="Highest rates of either wrong decision about one mean by Student's t, by the shape of the values",
)

# %%
page.listing(
    error_rates.claim_rate_table(claims),
    "calibration_claims",
    caption="How often the rule of each claim errs with values of its own shape, number and dependence. Wrongly reproduced: as many "
    "comparisons as may fail lie exactly at the threshold, all others far above; wrongly not reproduced: as many as have to hold lie "
    "exactly at it, all others far below; what *holds* or *replicates on our models* counts as reproduced here. *Clusters*: of the "
    "smallest data set",
)

# %% [markdown]
# ## How often the interval holds the truth

# %%
held = rates[rates.answer == COVERED]
wide = held.pivot_table(index=["shape", "test"], columns="clusters", values="rate", sort=False).reset_index()
page.listing(
    wide, "calibration_coverage", caption="How often the 95 % interval holds the truth, by the number of clusters"
)

# %% [markdown]
# Worlds at the threshold are the worst case for errors. They do not show how often a true effect is found. That depends on its size: every
# undecided verdict comes with the smallest effect that the run could have found.

# %%
page.finish(note="measured apart from the book by `make calibrate`")
