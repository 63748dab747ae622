# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metric survives which error?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %% tags=["remove-input"]
from IPython.display import Markdown

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.tables import rounded
from faithbook.studies.safe import choice, design, map_tables, show
from faithbook.studies.safe.choice import ADVERSARIAL, ANY, CHOOSE, REPORT, UNKNOWN, Means

page = start_page("safe_map", profile, values=values, paper=published.OUR_OWN)
measured = page.measure("safe_grid", over=["metric"], n_resamples=1)
beside = page.measure("safe_grid", over=["metric"], parts=["beside"], n_resamples=1)
priced = page.measure("safe_grid", over=["metric"], parts=["prices"], n_resamples=1)
plan = design.declared_plan()
rank, wrong = (Means.of(measured.frame, outcome) for outcome in ("rank correlation", "wrong orders"))
untouched = Means.of(beside.frame, "untouched")
prices = priced.frame.set_index("method").value.to_dict()
report = rank.half(REPORT)

# %% tags=["remove-input"]
chosen = choice.choices(rank, untouched, prices)
main, free = (choice.of_case(chosen, erasure, ANY).metric for erasure in (ADVERSARIAL, UNKNOWN))
table = choice.by_kind(report, design.kinds_of_error())
wide = show.map_rows(table, rank.metrics)
wide = wide.loc[wide[show.LOWEST].sort_values(ascending=False).index]
before = choice.grid_safety(rank.half(CHOOSE), ADVERSARIAL, ANY, replicates=0)
after = choice.grid_safety(report, ADVERSARIAL, ANY)
lowest = map_tables.lowest_of(after)
sizes = {"conditions": len(rank.conditions), "seeds": len(report.seeds)}
page.in_short(lambda: map_tables.in_short(table, lowest, chosen, **sizes))

# %% [markdown]
# The metrics of the catalogue score explanations whose quality is known, on models in closed form whose truth is known. A model
# errs on some erased copies; the map says how well each metric still orders ten explanations of one input by how true they are.
# Conditions, outcomes and the rule of choice were declared before anything ran (`data/safe_plan.toml`,
# `data/safe_conditions.csv`). A feature that a model errs on may be seen as a part of the truth; this is looked at below.
# {doc}`../foundations/metrics` defines the metrics, and {doc}`the library's reference <../api/metrics>` two areas under the falling output,
# RISE (deletion) and MAS. A condition is one choice of each of these:
#
# - **When the model errs** (the columns of the map): *never*; on copies with *up to 20 %*, *20 to 50 %*, *over 50 %* or *over 33 %* of the
#   features erased; where one certain feature outside the truth is erased (*one other feature gone*); on a fixed random *10 %* or *33 %* of
#   all erased copies.
# - **What it then answers**: the class (an error *toward* it), another class (*away* from it), or a third class.
# - **The truth**: one feature (*single*), or two, four or six that add up (*additive*), that are all needed (*and*), of which any one is
#   enough (*or*), or that make two groups either of which is enough (*redundant*).
# - **Erasing** a feature: *clean* leaves nothing of it; *leaky* leaves four tenths of its evidence; when it *drifts away* or *drifts toward*,
#   what takes its place is evidence against or for the class.
# - **The length**: 6, 12, 20 or 40 features.
#
# A *block* is one truth at one length under one way of erasing; its conditions share inputs and explanations. Of the model seeds one half
# chooses a metric, and the other half reports how it does.
#
# ## The map

# %%
fig, alt = show.drawn_map(wide, prices)
caption = (
    "Rank correlation of each metric with how true explanations are (1: every order right, 0: as by chance, −1: reversed), by when the model errs; "
    "mean over truths, lengths, erasures and what the model answers instead. In brackets: model calls per explanation of "
    f"{plan['outcomes']['price_at']} features. The last column is the lowest of the row, by which metrics are sorted."
)
page.overview(show.drawn_map(wide, prices), "safe_overview", caption=caption)
page.figure(fig, "safe_map", alt=alt, caption=caption, data=table)

# %% [markdown]
# ## What to use, for a price and what you know

# %%
caption = (
    "The metric chosen on one half of the model seeds, and how it does on the other half: its lowest mean rank correlation over "
    f"the kinds of error that may happen, with 95 % interval; safe: the interval lies above {rounded(plan['choice']['safe_from'], 2)}; "
    f"against the next: holds where it is clearly not more than {rounded(plan['choice']['level'], 2)} below the best other metric at that price"
)
page.listing(chosen, "safe_choice", caption=caption, wide=map_tables.choices_in_words(chosen))

# %%
Markdown(map_tables.advice_in_words(chosen))

# %% [markdown]
# ## What no metric survives, and what wins by design

# %%
Markdown(map_tables.survived_by_none(table, lowest, report))

# %% [markdown]
# **By the design of the grid alone.** An error that depends on the *amount* erased strikes every explanation alike, so that
# it hides a part of a curve and favours no explanation. A metric that reads the other part as well (SRG reads both ends)
# then keeps its order without being any wiser about the model. The rule names chosen metrics that are ahead on such errors
# only, or whose order an error cannot reach:

# %%
Markdown(map_tables.won_by_design(chosen))

# %%
groups = map_tables.means_by_error(
    wide, untouched, {"by amount": plan["errors"]["by_amount"], "by content": plan["errors"]["by_content"]}
)
caption = (
    "Mean rank correlation by group of errors, and the share of inputs on which the error adds the same to all ten values of a "
    "metric, so that it cannot change their order"
)
page.listing(groups, "safe_groups", digits=2, caption=caption)

# %% [markdown]
# ## What it means for each paper's metrics

# %%
PAPERS = {
    "{cite:t}`zhao_aletras_2023`": ["ns", "nc", "soft_ns", "soft_nc"],
    "{cite:t}`wu_2024`": ["saco", "auc", "log_odds"],
    "{cite:t}`zaman_belinkov_2022`": ["comprehensiveness_eraser", "sufficiency_eraser"],
    "{cite:t}`edin_2025`": ["aopc_morf", "aopc_lerf"],
}
of_papers = map_tables.of_papers(wide, PAPERS)
caption = (
    "The metrics of the four papers: mean rank correlation where the model never errs, the lowest over kinds of error and where it is, "
    "and the kind of error on which a metric is nearest to the best of all"
)
page.listing(of_papers, "safe_papers", caption=caption, wide=of_papers)

# %% [markdown]
# ## Chosen and reported halves, and one kind of error left out

# %%
halves = map_tables.by_half(before, after, prices)
caption = (
    "Lowest mean rank correlation over the eight kinds of error, on both halves of the model seeds, with 95 % interval over "
    "blocks and seeds of the second (a lowest mean is pulled down by noise, so that its interval lies rather low)"
)
page.listing(halves, "safe_halves", digits=2, caption=caption)

# %%
without = choice.left_out(rank, prices)
caption = (
    "The choice (any price, any truth) without one kind of error, and how it does on that kind, on the reporting seeds"
)
page.listing(without, "safe_left_out", caption=caption, wide=map_tables.left_out_in_words(without))

# %%
Markdown(map_tables.choices_without(without, main))

# %% [markdown]
# ## Wrong orders, and what an error costs

# %%
summary = map_tables.over_errors(
    {"wrong orders": wrong.half(REPORT), "loss": rank.loss().half(REPORT)},
    wide.index,
    replicates=plan["intervals"]["replicates"],
)
caption = (
    f"Mean over the seven kinds of error: share of clear pairs (quality apart by {rounded(plan['outcomes']['clear_pair'], 2)} or more) "
    "that a metric orders wrongly, ties half; and by how much its rank correlation is lower than on the model that never errs"
)
page.listing(summary, "safe_summary", caption=caption, wide=map_tables.outcomes_with_prices(summary, prices))

# %% [markdown]
# ## The misled model of *All together* is one case of the grid
#
# {doc}`together_planted_truth` has a model that errs once more than a third of the features are erased, with one or two trigger words, any
# of which is enough. Here this is a block of its own: two trigger words among twelve, clean erasure.

# %%
one_row = map_tables.in_last_block(report, wide, table)
caption = (
    "Rank correlation in this case, for a model that never errs and for one that errs beyond a third, by what it answers instead; beside the "
    "mean of that error over all truths, and the lowest of all errors"
)
page.listing(one_row, "safe_today", digits=2, caption=caption)

# %% [markdown]
# ## By truth, erasure, length and what the model answers instead

# %%
levels = {
    "truth": ["single", "additive", "and", "or", "redundant"],
    "erasure": plan["erasures"]["levels"],
    "length": plan["lengths"]["features"],
    "whither": list(plan["whither"]),
}
factors = map_tables.by_factor(report, wide.index, levels)
caption = "Mean rank correlation over all models that err, by each other factor of the grid"
page.listing(factors, "safe_factors", digits=2, caption=caption)

# %% [markdown]
# ## Does the answer depend on what counts as a good explanation?
#
# An OR has as many solutions as members: the plan asks for all of them, the other reading for any one. A redundant truth is the
# other way round. Where the absence of a feature triggers the error, one may hold that this feature is a reason too.

# %%
readings = {"average precision (declared)": rank}
for reading in plan["quality"]["sensitivity"]:
    readings[reading] = Means.of(beside.frame, reading)
by_reading = map_tables.by_reading(readings, prices, declared=main, unmisled=free)
caption = "The choice where a model may be made to mislead, under each declared reading of a good explanation, on the reporting seeds"
page.listing(by_reading, "safe_readings", digits=2, caption=caption)

# %%
quotable = map_tables.quotable_safety(table, after, prices, chosen, conditions=len(rank.conditions))
page.run.save(quotable, "quotable")
page.run.save(chosen, "safe_chosen")
page.run.save(lowest.assign(rows=lowest.metric.map(prices)), "safe_lowest")
page.finish(note=f"{len(rank.conditions)} conditions, {len(rank.seeds)} model seeds")
