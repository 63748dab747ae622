# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How much of the best possible drop does an attribution reach?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import display

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.studies.together import prompted

page = start_page("language_bounds", profile, values=values, paper=published.OUR_OWN)
there = page.has("language_sentences")
if there:
    measured = page.measure("language_sentences", over=["dataset", "method", "metric"], prepare=prompted.bounded)
    among = ["dataset", "first", "second"]
    pairs = page.measure("language_sentences", over=among, prepare=prompted.ordered_alike, bounds=(-1, 1))
    ends = page.measure("language_sentences", parts=["ends"], over=["dataset", "metric"], prepare=prompted.bounded)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    if not there:
        return prompted.WITHOUT_MODEL
    naopc = page.quantity("dataset", "method", metric="naopc_morf")
    said = []
    for name in measured.levels("dataset"):
        best = max(measured.levels("method"), key=lambda method, name=name: naopc(name, method).ours.point)
        said.append(
            f"{spoken(naopc(name, best), '.2f')} ({label(best)}) and {spoken(naopc(name, 'random'), '.2f')} on *{name}* "
            f"(n = {naopc(name, best).ours.n} prompts)"
        )
    return (
        "Between the worst (0) and the best order of removal (1), the best method, and random scores, reach "
        f"{'; '.join(said)}."
    )


page.in_short(in_short)

# %% [markdown]
# A prompt of eight sentences has 256 subsets, so the best and the worst order are known exactly, and so is NAOPC
# {cite:p}`edin_2025`. Two measures of context attribution, LDS and the top-k drop {cite:p}`cohen_wang_2024`, are computed
# from the same 256 outputs. The model is small: SmolLM2-135M {cite:p}`allal_2025`.

# %% [markdown]
# ## The prompts
#
# *facts*: where four people live and what they work as, in eight sentences in random order, then "So Anna lives in". We explain
# the log-probability of the right city, which one sentence decides. *facts-12*: the same with six people in twelve sentences,
# and so 4,096 subsets; these prompts came after the rules below were fixed, and no answer counts them. *news*: the first eight sentences of a BBC story
# {cite:p}`greene_cunningham_2006`, then "Summary:". We explain the log-probability of the model's own answer (eight tokens at
# most). Removed sentences are deleted from the prompt.

# %%
if there:
    datasets = measured.levels("dataset")
    NAMES = {"full": "whole prompt", "empty": "no sentence", "upper": "best AOPC", "lower": "worst AOPC"}
    rows = {
        (name, words): ends.mean(dataset=name, metric=metric) for name in datasets for metric, words in NAMES.items()
    }
    caption = "Mean log-probability of the answer, and the mean of the best and the worst AOPC, with 95 % intervals"
    display(page.listing(listed(rows, ["data", "what"]), "language_bounds_ends", digits=2, caption=caption))

# %% [markdown]
# ## How close to the best order
#
# NAOPC is the place of AOPC, most relevant sentence first, between its exact bounds. Methods that erase use the same 256
# outputs.

# %%
if there:
    mean = page.quantity("dataset", "method", "metric")
    methods = measured.levels("method")
    reached = {name: {method: mean(name, method, "naopc_morf") for method in methods} for name in datasets}
    fig, alt = prompted.by_method(reached, xlabel="NAOPC, most relevant sentence first")
    n = min(pair.ours.n for by_method in reached.values() for pair in by_method.values())
    caption = (
        "NAOPC of each method with 95 % intervals, on a small model: 1 is the best order of removal, 0 the worst; "
        f"n = {n} prompts in the smallest set."
    )
    display(page.figure(fig, "language_bounds_reached", alt=alt, caption=caption))
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
    caption = "Mean of each measure for each method, with 95 % intervals; higher is better"
    display(
        page.listing(listed(rows, ["data", "method", "measure"]), "language_bounds_measures", digits=2, caption=caption)
    )

# %% [markdown]
# ## Do the measures prefer the truth?
#
# Of a *facts* prompt the true explanation is known: one sentence has the answer. We compare each method that puts it first with
# each method that does not. The table has the share of pairs in which a measure gives the first one the higher value; one half
# is chance. {doc}`together_planted_truth` has the same comparison for all metrics, on classifiers.

# %%
if there:
    prefers = page.measure(
        "language_sentences", over=["dataset", "metric"], prepare=prompted.truth_preferred, bounds=(0, 1)
    )
    defined = prefers.frame.dropna(subset=["value"])[["dataset", "metric"]].drop_duplicates()
    rows = {(name, METRICS[one]): prefers.mean(dataset=name, metric=one) for name, one in defined.to_numpy()}
    caption = "How often a measure prefers a method that puts the deciding sentence first, with 95 % intervals, on a small model"
    empty = "*All methods put the deciding sentence first, or none does: there is no pair to compare.*"
    table = listed(rows, ["data", "measure"])
    display(page.listing(table, "language_bounds_truth", digits=2, caption=caption, empty=empty))

# %% [markdown]
# ## Do the measures order methods alike?
#
# On each prompt, Spearman's rank correlation over the methods, random scores left out, between two measures; then the mean.

# %%
if there:
    alike = {
        (name, METRICS[a], METRICS[b]): pairs.mean(dataset=name, first=a, second=b)
        for name in datasets
        for i, a in enumerate(prompted.ORDERING)
        for b in prompted.ORDERING[i + 1 :]
    }
    caption = "Mean rank correlation over methods between two measures, with 95 % intervals"
    display(
        page.listing(listed(alike, ["data", "first", "second"]), "language_bounds_alike", digits=2, caption=caption)
    )

# %% [markdown]
# ## The answers
#
# *lm_q4*: each method's NAOPC minus that of random scores, by more than 0.05. *lm_q7*: each rank correlation above one half.
# Whether two *models* differ in their bounds, as study 4 says of classifiers, was not tested: there is one model here.

# %%
judged = [name for name in datasets if name != prompted.LONGER] if there else []
q4 = {
    f"{label(method)}, {name}": pair - reached[name][prompted.FLOOR]
    for name in judged
    for method, pair in reached[name].items()
    if method != prompted.FLOOR
}
q7 = {f"{a} and {b}, {name}": pair for (name, a, b), pair in alike.items() if name in judged} if judged else {}
tested = page.test({"lm_q4": q4, "lm_q7": q7})
display(page.verdicts(tested))
if there:
    display(page.parts(tested, "language_bounds_parts", caption="Every part of the answers"))

# %%
page.finish(note="" if there else "the model is not on this machine")
