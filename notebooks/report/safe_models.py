# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which scores may be compared across models?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %% tags=["remove-input"]
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.tables import rounded
from faithbook.studies.safe import across_models, compared_tables, design

page = start_page("safe_models", profile, values=values, paper=published.OUR_OWN)
closed = page.measure("safe_compared", over=["family", "metric"], parts=["closed"], n_resamples=1)
released = page.measure("safe_compared", over=["dataset", "metric"], parts=["released"], n_resamples=1)
plan = design.declared_plan()
of_scores = closed.frame[closed.frame.metric != "quality"]
spreads = compared_tables.spreads_of(of_scores)
apart = across_models.random_apart(released.frame, replicates=plan["intervals"]["replicates"])

# %% tags=["remove-input"]
page.in_short(lambda: compared_tables.in_short(spreads, apart))

# %% [markdown]
# A score may be compared across models only if it says the same of an explainer that is equally good on each. On closed-form
# models of eight features we know when that is: the truth, the truth with noise, and noise alone get the same features and the
# same noise on every model. The models of a family differ in one thing. *Apart* is the range of the models' means, over the
# distance between the truth and noise alone; a quarter was declared as the limit (`data/safe_plan.toml`). Limits of AOPC and E, the
# mean over all orders, are exact.
#
# - **AOPC**: $p$ of the whole minus mean $p$ while the most relevant features go.
# - **NAOPC**: AOPC between its lowest and highest limit, 0 to 1.
# - **Chance-adjusted NAOPC**: (AOPC − E) / (upper limit − E), 0 for a random order. A text whose upper limit is E has no value.
# - **SRG**: AOPC with the most relevant first minus AOPC with the least relevant first {cite:p}`bluecher_2024`, 0 for a random order.
# - **NSRG**: SRG over the range of the limits.
#
# For the explainer *truth*, a score that is divided by the range of the limits is 1 wherever the truth reaches them. So the first column
# of the table favours such scores by construction, and the other two columns are the test.
#
# ## Closed-form models
#
# The four families: the fall of $p$ when everything is erased; one, two or four true features that add up; two that add up,
# are both needed (*AND*), or stand in for each other (*OR*); a model that never errs, one that errs on copies with at most a fifth erased (*early*),
# and one that errs if more than half is erased (*late*).

# %%
page.listing(
    spreads,
    "safe_models_apart",
    caption="How far apart models are that differ in one thing, over the distance between the truth and noise, with 95 % intervals over "
    f"{of_scores.id.nunique()} inputs; yes: at most {rounded(plan['comparing']['spread'], 2)}, the score may be compared",
    wide=compared_tables.spreads_for_readers(spreads),
)

# %%
fig, alt = compared_tables.dots_by_family(spreads)
caption = (
    "How far apart the same explainer is on different models, over the distance between the truth and noise. Left of the dotted "
    "line the score may be compared."
)
page.figure(fig, "safe_models_plot", alt=alt, caption=caption)

# %% [markdown]
# ## Six released models
#
# {cite:t}`edin_2025` released what six models answer to every set of words of short SST-2 and Yelp sentences, and
# attributions. Of these only *random* is known to be equally good on all six, and a score that may be compared gives it the same
# mean on each.

# %%
page.listing(
    apart,
    "safe_models_random",
    caption="Random explanations on six models: lowest and highest mean of a model, and how far these are apart with 95 % interval over "
    "texts; n of the model with fewest texts that have a value",
    wide=compared_tables.random_table(apart),
)

# %% [markdown]
# The other released attributions may be better on one model than on another, so that their differences say nothing against a
# score. The table has them for comparison.

# %%
caption = "Lowest and highest mean over the six models, by attribution and score"
ranges = compared_tables.lowest_and_highest(released.frame)
ranges["metric"] = ranges["metric"].map(compared_tables.SCORES)
page.listing(ranges, "safe_models_methods", caption=caption)

# %% tags=["remove-input"]
page.run.save(compared_tables.quotable(apart), "quotable")
_ = page.run.save(spreads[["family", "metric", "method", "answer"]], "safe_comparable")

# %% [markdown]
# ## When to use which
#
# - **One model, several explanations of the same inputs**: AOPC or SRG will do; the others are rising functions of these on every
#   single input, and differ only by how inputs are weighted in a mean.
# - **Several models**: not AOPC, whose range is the model's; not NAOPC either where the question is how much better than chance an
#   explanation is. What is compared has to be centred at a random order *and* divided by a range.
# - **No score here corrects for what a model *does* on erased inputs.** A model that errs on them gets other limits, and
#   an explanation is then measured against these.
#
# **Limits.** Eight features, three explainers, one thing changed at a time; limits are exact here and a beam's elsewhere. That
# random explanations agree says that the zero is right, not that the scale between is. Intervals cover inputs, not models.

# %%
page.finish()
