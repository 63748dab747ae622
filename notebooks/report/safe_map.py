# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metric is safe?

# %% tags=["parameters"]
profile = "laptop"

# %% tags=["remove-input"]
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.safe import choice, design, show
from faithbook.safe.choice import ADVERSARIAL, ANY, REPORT, Means
from faithbook.show.labels import label
from faithbook.show.tables import short

RANK, WRONG, UNTOUCHED = "rank correlation", "wrong orders", "untouched"
page = start_page("safe_map", profile, paper=published.OUR_OWN)
measured = page.measure("safe_grid", over=["metric"], n_resamples=1)
beside = page.measure("safe_grid", over=["metric"], parts=["beside"], n_resamples=1)
priced = page.measure("safe_grid", over=["metric"], parts=["prices"], n_resamples=1)
plan = design.plan()
rank, wrong = (Means.of(measured.frame, outcome) for outcome in (RANK, WRONG))
untouched = Means.of(beside.frame, UNTOUCHED)
prices = priced.frame.set_index("method").value.to_dict()
report = rank.half(REPORT)
chosen = choice.choices(rank, untouched, prices)
table = choice.by_kind(report, design.kinds_of_error())
wide = show.map_rows(table, rank.metrics)
wide = wide.loc[wide[show.LOWEST].sort_values(ascending=False).index]
main = chosen[(chosen.erasure == ADVERSARIAL) & (chosen.reasons == ANY)].iloc[-1]
free = chosen[(chosen.erasure == choice.UNKNOWN) & (chosen.reasons == ANY)].iloc[-1]
gone = choice.not_survived(report)
inputs = measured.frame.groupby("condition").id.nunique().min()


def with_ends(row, *names):
    """A number of a table with its interval."""
    return f"{short(row[names[0]])} [{short(row[names[1]])}, {short(row[names[2]])}]"


REPORTED = ("reported", "low", "high")
verdict = "is safe" if main["is safe"] else "is not safe, and no other is safer"
Markdown(
    f"**{label(main.metric)}** is chosen where a model may be made to mislead, and it {verdict}: its lowest rank correlation "
    f"with the truth over eight kinds of error is {with_ends(main, *REPORTED)}. Where a model may misread erased inputs but is not "
    f"made to, the rule chooses **{label(free.metric)}**, {with_ends(free, *REPORTED)} "
    f"({len(rank.conditions)} conditions, {len(report.seeds)} model seeds that had no part in the choice)."
)

# %% [markdown]
# The metrics of the catalogue score explanations whose quality is known, on models in closed form whose truth is known. A model
# errs on some erased copies: the rows of the map say how well each metric still orders explanations by how true they are.
# Everything was declared before anything ran: conditions, outcomes and the rule of choice are in `data/safe_plan.toml` and
# `data/safe_conditions.csv`.
#
# ## The map

# %%
fig, alt = show.drawn_map(wide, prices)
caption = (
    "Rank correlation of each metric with how true explanations are (1: every order right, 0: none), by when the model errs; "
    "mean over truths, lengths, erasures and what the model answers instead. In brackets: model calls per explanation of "
    f"{plan['outcomes']['price_at']} features. The last column is the lowest of the row, by which metrics are sorted."
)
page.figure(fig, "safe_map", alt=alt, caption=caption, data=table)

# %% [markdown]
# ## What to use, for a price and what you know

# %%
advice = pd.DataFrame(
    {
        "may the model err on erased inputs?": [show.CASES[one] for one in chosen.erasure],
        "reasons": [show.REASONS[one] for one in chosen.reasons],
        "model calls": [show.price_in_words(one) for one in chosen.price],
        "use": [label(one) for one in chosen.metric],
        "lowest rank correlation": [with_ends(row, *REPORTED) for row in chosen.to_dict("records")],
        "safe": np.where(chosen["is safe"], "yes", "no"),
        "against the next": [
            f"{answer} ({label(other)})" for answer, other in zip(chosen.answer, chosen["runner-up"], strict=True)
        ],
        "worst where it errs": [show.error_in_words(one) for one in chosen.worst],
    }
)
caption = (
    "The metric chosen on one half of the model seeds, and how it does on the other half: its lowest mean rank correlation over "
    f"the kinds of error that may happen, with 95 % interval; safe: the interval lies above {short(plan['choice']['safe_from'])}; "
    f"against the next: whether it is clearly not more than {short(plan['choice']['level'])} below the best other metric"
)
page.listing(chosen, "safe_choice", caption=caption, wide=advice)

# %%
page.finish()
