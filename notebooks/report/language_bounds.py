# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How far from the worst to the best order of removal does an attribution get?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.numbers import listed
from faithbook.studies.language import prompted

page = start_page("language_bounds", profile, values=values, paper=published.OUR_OWN)
available = page.has("language_sentences")
if available:
    measured = page.measure("language_sentences", over=["dataset", "method", "metric"], prepare=prompted.bounded)
    pairs = page.measure(
        "language_sentences", over=["dataset", "first", "second"], prepare=prompted.ordered_alike, bounds=(-1, 1)
    )
    ends = page.measure("language_sentences", parts=["ends"], over=["dataset", "metric"], prepare=prompted.bounded)
    mean = page.quantity("dataset", "method", "metric")
    datasets, methods = measured.levels("dataset"), measured.levels("method")

page.in_short(lambda: prompted.bounds_in_short(mean, datasets, methods) if available else prompted.WITHOUT_MODEL)

# %% [markdown]
# A prompt of eight sentences has 256 subsets, so the best and the worst order are known exactly, and so is NAOPC
# {cite:p}`edin_2025`. Two measures of context attribution, LDS and the top-k drop {cite:p}`cohen_wang_2024`, are computed
# from the same outputs of all subsets (256, or 4,096 for *facts-12*); {ref}`language-measures` has their formulas. Comparisons use k = 3,
# which the rules fixed before any value was computed. The model is small: SmolLM2-135M-Instruct {cite:p}`allal_2025`.

# %% [markdown]
# ## The prompts
#
# *facts*: where four people live and what they work as, in eight sentences in random order, then "So Anna lives in". We explain
# the log-probability of the right city, which one sentence decides. *facts-12*: the same with six people in twelve sentences,
# and so 4,096 subsets. These prompts were added on 2026-11-27, after the comparisons below had been fixed on the same day, and no answer
# counts them. Removed sentences are deleted from the prompt. A third set was planned and has no values in this book: the first eight
# sentences of BBC news articles {cite:p}`greene_cunningham_2006`, with the model's own summary as the answer.

# %%
if available:
    table = prompted.ends_of_prompts(ends.mean, datasets)
    listing = page.listing(
        table,
        "language_bounds_ends",
        caption="Mean log-probability of the answer after the whole prompt and after no sentence, and the mean of the best and of the worst "
        "AOPC, with 95 % intervals; n prompts",
        wide=prompted.by_row(table, ["data"], "what"),
    )
listing if available else None

# %% [markdown]
# ## How close to the best order
#
# NAOPC is the place of AOPC, most relevant sentence first, between its exact bounds: 0 is the worst order of removal, 1 the best.
# Methods that erase use the same outputs of all subsets.

# %%
if available:
    reached = prompted.reached(mean, datasets, methods)
    page.quote("lm_reached", prompted.reached_quoted(reached))
    n = min(pair.ours.n for by_method in reached.values() for pair in by_method.values())
    fig, alt = prompted.by_method(reached, xlabel="NAOPC, most relevant sentence first")
    caption = (
        "NAOPC of each method with 95 % intervals, on a small model: 1 is the best order of removal, 0 the worst; "
        f"n = {n} prompts in the smallest set."
    )
page.figure(fig, "language_bounds_reached", alt=alt, caption=caption) if available else None

# %%
if available:
    table = prompted.measures(measured.frame, mean, methods)
    listing = page.listing(
        table,
        "language_bounds_measures",
        caption="Mean of each measure for each method, with 95 % intervals; higher is better; n prompts",
        wide=prompted.by_row(table, ["data", "method"], "measure"),
    )
listing if available else None

# %% [markdown]
# ## Do the measures prefer the truth?
#
# Of a *facts* prompt the true explanation is known: one sentence has the answer. We compare each method that puts it first with
# each method that does not. The table has the share of pairs in which a measure gives the first one the higher value; one half
# is chance. {doc}`together_planted_truth` has the same comparison for all metrics, on classifiers.

# %%
if available:
    prefers = page.measure(
        "language_sentences", over=["dataset", "metric"], prepare=prompted.truth_preferred, bounds=(0, 1)
    )
    caption = "How often a measure prefers a method that puts the deciding sentence first, with 95 % intervals, on a small model; n prompts"
    empty = "*All methods put the deciding sentence first, or none does: there is no pair to compare.*"
page.listing(
    prompted.truth(prefers.frame, prefers.mean), "language_bounds_truth", digits=2, caption=caption, empty=empty
) if available else None

# %% [markdown]
# ## Do the measures order methods alike?
#
# On each prompt, Spearman's rank correlation over the methods, random scores left out, between two measures; then the mean.

# %%
if available:
    alike = prompted.agreements(pairs.mean, datasets)
    table = listed(alike, ["data", "first", "second"])
    caption = "Mean rank correlation over methods between two measures, with 95 % intervals; n prompts"
page.listing(table, "language_bounds_alike", digits=2, caption=caption) if available else None

# %% [markdown]
# ## The answers
#
# *lm_q4*: each method's NAOPC minus that of random scores, above zero (a difference that is clearly within ±0.05 counts as none).
# *lm_q7*: each rank correlation above one half. Comparisons and thresholds were fixed on 2026-11-27, before any value was computed. The
# statistical test was replaced on 2026-11-28, when all values were known.
# Whether two *models* differ in their bounds, as study 4 says of classifiers, was not tested: there is one model here.

# %%
claims = {"lm_q4": {}, "lm_q7": {}}  # without values they are not testable here
if available:
    claims = {"lm_q4": prompted.above_random(reached), "lm_q7": prompted.agreements_judged(alike)}
tested = page.test(claims)
page.verdicts(tested)

# %%
page.parts(tested, "language_bounds_parts", caption="Every part of the answers") if available else None

# %%
page.finish(note="" if available else "the model is not on this machine")
