# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How much of the best possible drop does an attribution reach?
#
# The figure shows how close each method comes to the best order of removal, where 1 is the best order and 0 the worst.
#
# A prompt of eight sentences has 256 subsets, so the best and the worst order are known exactly, and so is NAOPC
# {cite:p}`edin_2025`. Two measures of context attribution, LDS and the top-k drop {cite:p}`cohen_wang_2024`, are computed
# from the same 256 outputs. The model is small: SmolLM2-135M {cite:p}`allal_2025`.

# %% tags=["parameters"]
profile = "laptop"

# %%
from IPython.display import Markdown, display

from faithbook.results import published
from faithbook.results.labels import label
from faithbook.results.numbers import listed
from faithbook.results.prompted import FLOOR, ORDERING, WITHOUT_MODEL, bounded, ordered_alike, two_by_method
from faithbook.results.report import start_page

page = start_page("language_bounds", profile, paper=published.OUR_OWN)
there = page.has("language_sentences")
if there:
    measured = page.measure("language_sentences", over=["dataset", "method", "metric"], prepare=bounded)
    among = ["dataset", "first", "second"]
    pairs = page.measure("language_sentences", over=among, prepare=ordered_alike, bounds=(-1, 1))
    ends = page.measure("language_sentences", parts=["ends"], over=["dataset", "metric"], prepare=bounded)
    display(page.speaks())
else:
    display(Markdown(WITHOUT_MODEL))

# %% [markdown]
# ## The prompts
#
# *facts*: where four people live and what they work as, in eight sentences in random order, then "So Anna lives in". We explain
# the log-probability of the right city, which one sentence decides. *news*: the first eight sentences of a BBC story
# {cite:p}`greene_cunningham_2006`, then "Summary:". We explain the log-probability of the model's own answer (eight tokens at
# most). Removed sentences are deleted from the prompt.

# %%
if there:
    datasets = measured.levels("dataset")
    NAMES = {"full": "whole prompt", "empty": "no sentence", "upper": "best AOPC", "lower": "worst AOPC"}
    rows = {
        (name, words): ends.mean(dataset=name, metric=metric) for name in datasets for metric, words in NAMES.items()
    }
    display(
        page.listing(
            listed(rows, ["data", "what"]),
            "language_bounds_ends",
            digits=2,
            caption="Mean log-probability of the answer, and the mean of the best and the worst AOPC, with 95 % intervals",
        )
    )

# %% [markdown]
# ## How close to the best order
#
# NAOPC is the place of AOPC, most relevant sentence first, between its exact bounds. Methods that erase use the same 256
# outputs.


# %%
def mean(dataset, method, metric):
    """The mean of a metric of a method on a data set."""
    return measured.mean(dataset=dataset, method=method, metric=metric)


if there:
    methods = measured.levels("method")
    reached = {name: {method: mean(name, method, "naopc_morf") for method in methods} for name in datasets}
    first, second = reached[datasets[0]], reached.get(datasets[-1]) if len(datasets) > 1 else {}
    fig, alt = two_by_method(
        first, second, (datasets[0], datasets[-1] if second else ""), xlabel="NAOPC, most relevant sentence first"
    )
    display(
        page.figure(
            fig,
            "language_bounds_reached",
            alt=alt,
            caption="NAOPC of each method with 95 % intervals, on a small model: 1 is the best order of removal, 0 the worst.",
        )
    )
    page.quote("lm_reached", {f"{method}, {name}": pair for name, of in reached.items() for method, pair in of.items()})

# %%
METRICS = {
    "aopc_morf": "AOPC",
    "naopc_morf": "NAOPC",
    "lds": "LDS",
    "top_1_drop": "top-1 drop",
    "top_3_drop": "top-3 drop",
    "decides_first": "deciding sentence first",
}
if there:
    defined = set(measured.frame[["dataset", "method", "metric"]].itertuples(index=False, name=None))
    rows = {
        (name, label(method), words): mean(name, method, metric)
        for name in datasets
        for method in methods
        for metric, words in METRICS.items()
        if (name, method, metric) in defined
    }
    display(
        page.listing(
            listed(rows, ["data", "method", "measure"]),
            "language_bounds_measures",
            digits=2,
            caption="Mean of each measure for each method, with 95 % intervals; higher is better",
        )
    )

# %% [markdown]
# ## Do the measures order methods alike?
#
# On each prompt, Spearman's rank correlation over the methods, random scores left out, between two measures; then the mean.

# %%
if there:
    alike = {
        (name, METRICS[a], METRICS[b]): pairs.mean(dataset=name, first=a, second=b)
        for name in datasets
        for i, a in enumerate(ORDERING)
        for b in ORDERING[i + 1 :]
    }
    display(
        page.listing(
            listed(alike, ["data", "first", "second"]),
            "language_bounds_alike",
            digits=2,
            caption="Mean rank correlation over methods between two measures, with 95 % intervals",
        )
    )

# %% [markdown]
# ## The answers
#
# *lm_q4*: each method's NAOPC minus that of random scores, by more than .05. *lm_q7*: each rank correlation above one half.
# Whether two *models* differ in their bounds, as study 4 says of classifiers, was not tested: there is one model here.

# %%
q4 = {
    f"{label(method)}, {name}": pair - reached[name][FLOOR]
    for name in (datasets if there else ())
    for method, pair in reached[name].items()
    if method != FLOOR
}
q7 = {f"{a} and {b}, {name}": pair for (name, a, b), pair in alike.items()} if there else {}
tested = page.test({"lm_q4": q4, "lm_q7": q7})
display(page.verdicts(tested))
if there:
    display(page.parts(tested, "language_bounds_parts", caption="Every part of the answers"))

# %%
page.finish(note="" if there else "the model is not on this machine")
