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
threshold = rounded(plan["comparing"]["spread"], 2)
spreads = compared_tables.spreads_of(of_scores)
apart = across_models.random_apart(released.frame, replicates=plan["intervals"]["replicates"])

# %% tags=["remove-input"]
page.in_short(lambda: compared_tables.in_short(spreads, apart))

# %% [markdown]
# A score may be compared across models only if it says the same of an explainer that is equally good on each. On closed-form
# models of eight features we know when that is: the truth, the truth with noise, and noise alone (*random* in tables). Inputs and noise are
# the same on every model of a family, and the truth is that model's own. The models of a family differ in one thing. *Apart* is the range of the models' means, over the
# distance between the truth and noise alone (its mean over the models of the family); a quarter was declared as the threshold
# (`data/safe_plan.toml`). The lower and the upper bound of AOPC, and E, its mean over all orders, are exact.
#
# - **AOPC**: $p$, the probability of the explained class, for the whole input, minus its mean while the most relevant features go.
# - **NAOPC**: the place of AOPC between its lower and its upper bound, 0 to 1.
# - **Chance-adjusted NAOPC**: (AOPC − E) / (upper bound − E), 0 for a random order. A text whose upper bound is E has no value.
# - **SRG**: AOPC with the most relevant first minus AOPC with the least relevant first {cite:p}`bluecher_2024`, 0 for a random order.
# - **NSRG**: SRG over the range between the bounds, 0 for a random order.
#
# For the explainer *truth*, a score that is divided by a range that ends at the upper bound is 1 wherever the truth reaches that bound. So the first
# column of the table favours such scores by construction, and the other two columns are the test.
#
# ## Closed-form models
#
# The four families: the fall of $p$ when everything is erased; one, two or four true features that add up; two that add up,
# are both needed (*AND*), or stand in for each other (*OR*); a model that never errs, one that errs on copies with at most a fifth
# erased (*early*), and one that errs if more than half is erased (*late*).

# %%
page.listing(
    spreads,
    "safe_models_apart",
    caption="How far apart models are that differ in one thing, over the distance between the truth and noise, with 95 % intervals over "
    f"{of_scores.id.nunique()} inputs. Whether the score may be compared: yes where the upper end is at most {threshold}, no where the "
    "lower end is above it, else undecided",
    wide=compared_tables.spreads_for_readers(spreads),
)

# %%
fig, alt = compared_tables.dots_by_family(spreads)
caption = (
    "How far apart the same explainer is on different models, over the distance between the truth and noise. A score may be compared where "
    "its whole interval is left of the dotted line."
)
page.figure(fig, "safe_models_plot", alt=alt, caption=caption)

# %% [markdown]
# ## Six released models
#
# {cite:t}`edin_2025` released what six models answer to every set of words of short sentences of SST-2 and reviews of Yelp,
# and attributions. Of these only *random* is known to be equally good on all six, and a score that may be compared gives it the same
# mean on each. For RoBERTa three texts of SST-2 are left out, because the released attributions count their words differently from the
# released answers. Where all orders give the same AOPC, scores that divide by a range have no value.

# %%
page.listing(
    apart,
    "safe_models_random",
    caption="Random explanations on six models: lowest and highest mean of a model, and highest minus lowest with 95 % interval over "
    f"texts; n of the model with fewest texts that have a value. The threshold of {threshold} does not apply to this difference",
    wide=compared_tables.random_table(apart),
)

# %% [markdown]
# No verdict is given for these models. The threshold is for a range over the distance between the truth and noise alone, and the
# truth of these models is not known. Of six means the highest is above the lowest by chance alone, so that the interval of their
# difference never contains 0. The difference says how far means of two models can differ though the explanations are equally good.
#
# The other released attributions may be better on one model than on another, so that their differences say nothing against a
# score. The table has them for comparison.

# %%
caption = "Lowest and highest mean over the six models, by attribution and score"
ranges = compared_tables.lowest_and_highest(released.frame)
page.listing(ranges, "safe_models_methods", caption=caption, wide=compared_tables.ranges_for_readers(ranges))

# %% tags=["remove-input"]
page.run.save(compared_tables.quotable(apart), "quotable")
_ = page.run.save(spreads[["family", "metric", "method", "answer"]], "safe_comparable")

# %% [markdown]
# ## When to use which
#
# - **One model, several explanations of the same inputs**: AOPC or SRG will do; the others are rising functions of these on every
#   single input, and differ only by how inputs are weighted in a mean.
# - **Several models**: chance-adjusted NAOPC or NSRG. Not AOPC or SRG, which are not divided by a range; not NAOPC, which is not centred
#   at a random order.
# - **No score here corrects for what a model *does* on erased inputs.** A model that errs on them gets other bounds, and
#   an explanation is then measured against these.
#
# **Limitations.** Eight features, three explainers, one thing changed at a time. Bounds are exact here; for longer texts a search
# finds them. On closed-form models random explanations agree under the two scores of the advice: this says that the zero is right.
# Of the scale between zero and one a single point is tested, the truth with noise. On the released models they agree only as far as the table of random explanations says. Intervals cover
# inputs, not models.

# %%
page.finish()
