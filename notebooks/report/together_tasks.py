# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A toolkit's own tasks, through one call

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import math

from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.numbers import listed
from faithbook.studies.together import toolkit_tasks
from faithbook.studies.together.toolkit_tasks import BOUNDS, CELL, data_name, of_metrics

page = start_page("together_tasks", profile, values=values, paper=published.OUR_OWN)
measured, ran = page.has("together_toolkit"), bool(page.run.upstream)  # in this run or the reference; in this run
sources = []
if measured:
    sources = [
        page.measure("together_toolkit", over=CELL, prepare=of_metrics(metrics), bounds=bounds)
        for bounds, metrics in BOUNDS
    ]
    texts = page.measure("together_toolkit", parts=["texts"], over=["dataset", "metric"], bounds=(0, math.inf))
means = toolkit_tasks.means_by_cell(sources)
methods = toolkit_tasks.methods_in_order(means)
table = listed(means, CELL)
if measured:
    table.to_csv(page.run.path("together_tasks.csv"), index=False)

# %% tags=["remove-input"]
page.in_short(lambda: toolkit_tasks.in_short(means))

# %% [markdown]
# {doc}`together_metrics` computes the nine metrics of EvalxNLP {cite:p}`dhaini_2025` by hand on ten excerpts and an example. This
# page uses them as intended: for the toolkit's methods, on data of its tasks, through `faithlib.evaluate`. The data are free for
# research only and not part of this book, so the values are of the full run ({doc}`../data-and-models` says where the files
# come from).

# %% [markdown]
# ## What the toolkit has, and what is here
#
# Read in the toolkit's documentation and code at commit `a372815`.
#
# | | EvalxNLP | here |
# | --- | --- | --- |
# | tasks | sentiment, hate speech, inference between sentences, each as classification | any classification of texts, pairs of texts or images |
# | data with what people marked | MovieReviews {cite:p}`pang_lee_2004,zaidan_2007,deyoung_2020`, HateXplain, e-SNLI {cite:p}`camburu_2018` | `reviews` (MovieReviews) and `esnli` from their files; `pair`, planted words; no HateXplain |
# | other data | any data set of the hub; CSV and Excel files | texts, pairs and images of one's own, as tables or in Python |
# | models | encoders of the hub with a classifier on top | nineteen families of text models, causal models by prompt, vision transformers, black-box functions |
# | saliency, gradient × input, integrated gradients, DeepLIFT, guided backpropagation | by captum | by name; the rules checked against equations |
# | LIME | by its package | by name, through the rows that metrics share |
# | SHAP | PartitionSHAP of the package shap, its tree made of wordpieces and punctuation | PartitionSHAP of the same package, its tree the halves of the text; Shapley values by sampled orders; KernelSHAP |
# | SHAP-I | interactions of sets of words, by the package shapiq | not here: its scores are of sets, not of words |
# | attention, occlusion, relevance, random scores | – | by name |
# | metrics of faithfulness | four | fifteen, the four among them |
# | of plausibility, of complexity | three and two | six and two |
# | random scores as a baseline, intervals, n in a cell | – | yes |
# | explanations of explanations | a language model puts scores and metrics into sentences | no model: numbers, with a page that says what each means |
# | costs | – | forward passes requested and computed, and seconds |
#
# The library has no method called PartitionSHAP: `faithbook.studies.together.evalxnlp_methods` makes its scores, which `evaluate` takes as
# it takes scores from anywhere.

# %% [markdown]
# ## The data

# %%
if measured:
    settings = settings_of("together_toolkit", texts.material.profile)
    for name in table.dataset.unique():
        display(Markdown(toolkit_tasks.data_in_words(name, texts, settings.at({"dataset": name}))))

# %% [markdown]
# - A review is cut at a limit, as in the toolkit, where the limit is the model's own 512
#   wordpieces; marks beyond it do not count. We keep reviews that the model classifies correctly, with marked and unmarked
#   words before the cut.
# - Pairs are those of XNLI's test split in English {cite:p}`conneau_2018`, with a model trained on SNLI and XNLI. Nobody marked
#   their words, so they have no plausibility.
# - Methods explain the predicted class, which is the correct one. A word is a feature; an erased one becomes `[MASK]`, for LIME
#   and PartitionSHAP as for the accuracy curves.
#
# The page of the toolkit's metrics prints no values, so there is nothing published to compare with, and no verdict.
#
# ## Every method under every metric

# %%
for (name, group), wide in toolkit_tasks.means_by_family(table, methods).items():
    caption = f"{data_name(name)}, {group}: mean with 95 % interval (none if all inputs have the same value), and n"
    display(page.listing(wide, f"together_tasks_{name}_{group}", caption=caption))

# %%
if measured:
    fig, alt = toolkit_tasks.toolkit_figure(table, methods)
    caption = "Every method under every metric: mean and 95 % interval."
    display(page.figure(fig, "together_tasks_metrics", alt=alt, caption=caption, data=table))

# %% [markdown]
# ## Better than random scores?
#
# The toolkit does not compare with random scores. The table has, on the same inputs, the mean of a method minus that of random
# scores, sign-flipped so that higher is better. Is its 95 % interval above or below zero? Intervals are of one comparison each.

# %%
if measured:
    beside = toolkit_tasks.methods_beside_random(means)
    wide = toolkit_tasks.beside_random_in_words(beside)
    caption = "Methods against random scores, metric by metric; *open*: the interval includes zero"
    display(page.listing(beside, "together_tasks_random", caption=caption, wide=wide))

# %% [markdown]
# Complexity and sparseness do not use the model. Random scores have the shape of a normal distribution, and an explanation is
# not better because it is simpler than that. Plausibility compares with people, who say what should matter, and not with the
# model ({doc}`../foundations/faithfulness`).

# %%
if ran:
    spent = load("toolkit_costs", profile).groupby("dataset", sort=False)[["inputs", "rows_shap", "rows_rest"]].sum()
    caption = (
        "Forward passes in this build: those of PartitionSHAP "
        f"({settings_of('together_toolkit', profile)['max_evals']} copies of a text at most), and those of all other methods "
        "and the metrics"
    )
    spent_here = page.listing(spent.reset_index(), "together_tasks_costs", digits=0, caption=caption)
spent_here if ran else None

# %%
page.finish(note="" if measured else "no data of the toolkit's tasks on this machine or in the reference")
