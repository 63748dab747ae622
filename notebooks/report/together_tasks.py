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

import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Layout, dot_plot
from faithlib.catalogue import METRICS

page = start_page("together_tasks", profile, values=values, paper=published.OUR_OWN)
there, ran = page.has("together_toolkit"), bool(page.run.upstream)  # in this run or the reference; in this run


CELL = ["dataset", "method", "metric"]
WITHIN = {  # the range of a value: where it has none, its interval has no end to stop at
    (0, 1): ["n_auc", "autpc", "token_f1", "iou_f1", "auprc", "sparseness"],
    (-math.inf, math.inf): ["soft_ns", "soft_nc", "complexity"],
}


def measured_within(bounds, metrics):
    """The values of these metrics, whose range is the same."""

    def of_these(units):
        return units[units.metric.isin(metrics)]

    return page.measure("together_toolkit", over=CELL, prepare=of_these, bounds=bounds)


if there:
    sources = [measured_within(bounds, names) for bounds, names in WITHIN.items()]
    measured = {metric: source for source, names in zip(sources, WITHIN.values(), strict=True) for metric in names}
    texts = page.measure("together_toolkit", parts=["texts"], over=["dataset", "metric"], bounds=(0, math.inf))
    settings = settings_of("together_toolkit", texts.material.profile)
    datasets = measured["n_auc"].levels("dataset")
else:
    datasets = []
WITHOUT_TEXTS = (
    "there are no numbers here. Neither the reviews (`movies`) nor the pairs (`snli`, `xnli`) of the toolkit's tasks are on "
    "the machine that built this page, and the reference has none of them. What follows says only how it would be."
)


GROUPS = {
    "faithfulness": ["soft_ns", "soft_nc", "n_auc", "autpc"],
    "plausibility": ["token_f1", "iou_f1", "auprc"],
    "complexity": ["complexity", "sparseness"],
}
FLOOR = "random"


def mean(dataset, method, metric):
    """The mean of a cell."""
    return measured[metric].cells.mean(dataset=dataset, method=method, metric=metric)


frames = [source.frame.dropna(subset="value")[CELL].drop_duplicates() for source in sources] if there else []
cells = pd.concat(frames).itertuples(index=False, name=None) if there else []
table = listed({cell: mean(*cell) for cell in cells}, CELL)
methods = [*(name for name in table.method.unique() if name != FLOOR), FLOOR]
if there:
    table.to_csv(page.run.path("together_tasks.csv"), index=False)
lowest = {
    name: min(table[(table.dataset == name) & (table.metric == "n_auc")].itertuples(), key=lambda row: row.estimate)
    for name in datasets
}


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    if not there:
        return WITHOUT_TEXTS
    return (
        "The lowest N-AUC (lower is better), and that of random scores, are "
        + "; ".join(
            f"{spoken(lowest[name], '.2f')} ({label(lowest[name].method)}) and {spoken(mean(name, FLOOR, 'n_auc'), '.2f')} on "
            f"{label(name)} (n = {mean(name, FLOOR, 'n_auc').n})"
            for name in datasets
        )
        + "."
    )


page.in_short(in_short)

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
for name in datasets:
    of = {metric: texts.mean(dataset=name, metric=metric).ours for metric in ("words", "cut", "right")}
    marked = texts.frame[(texts.frame.dataset == name) & (texts.frame.metric == "marked")].value
    marks = "Nobody marked words." if marked.empty else f"People marked {marked.mean():.0%} of a text's words."
    own = settings.at({"dataset": name})
    model = own["model"]
    display(
        Markdown(
            f"- **{label(name)}**: {of['words'].n} inputs of {of['words'].point:.0f} words on average, cut at "
            f"{own['longest']} wordpieces ({of['cut'].point:.0%} of them lose their end). {marks} Model: `{model}`"
            f"{', a small one of ours' if model.startswith('local:') else ''}; of the {of['right'].n} texts that were looked at "
            f"it is right about {of['right'].point:.0%}."
        )
    )

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
for name in datasets:
    for group, metrics in GROUPS.items():
        part = table[(table.dataset == name) & table.metric.isin(metrics)]
        if part.empty:
            continue
        arrows = {metric: f"{label(metric)} {'↓' if METRICS[metric] == 'lower' else '↑'}" for metric in metrics}
        part = part.assign(cell=[f"{spoken(row)}, {row.n}" for row in part.itertuples()])
        wide = part.pivot(index="method", columns="metric", values="cell")
        wide = wide.reindex(index=methods, columns=metrics).fillna("–").rename(columns=arrows).reset_index()
        caption = f"{label(name)}, {group}: mean with 95 % interval, and n"
        display(page.listing(wide, f"together_tasks_{name}_{group}", caption=caption))


# %%
if there:
    shown = [name for names in GROUPS.values() for name in names]
    tidy = table[table.metric.isin(shown)].sort_values(
        ["metric", "method"], key=lambda of: of.map([*shown, *methods].index), kind="stable"
    )
    names = {name: label(name) for name in (*methods, *datasets)}
    names |= {metric: f"{label(metric)} ({METRICS[metric]} is better)" for metric in shown}
    layout = Layout(panel="metric", series="dataset", columns=3, names=names, shared=False, width=9.5)
    fig, alt = dot_plot(tidy, "mean", row="method", layout=layout)
    caption = "Every method under every metric: mean and 95 % interval."
    display(page.figure(fig, "together_tasks_metrics", alt=alt, caption=caption, data=table))

# %% [markdown]
# ## Better than random scores?
#
# The toolkit does not compare with random scores. The table has, on the same inputs, the mean of a method minus that of random
# scores, sign-flipped so that higher is better. Is its 95 % interval above or below zero? Intervals are of one comparison each.


# %%
def against_floor(name, metric):
    """Which methods are clearly better than random scores, which clearly worse."""
    counts_row = {"dataset": name, "metric": metric, "better": [], "worse": [], "open": []}
    floor = mean(name, FLOOR, metric)
    for method in table[(table.dataset == name) & (table.metric == metric) & (table.method != FLOOR)].method:
        ends = (mean(name, method, metric) - floor).interval()
        low, high = (-ends.high, -ends.low) if METRICS[metric] == "lower" else (ends.low, ends.high)
        counts_row["better" if low > 0 else "worse" if high < 0 else "open"].append(label(method))
    return {key: ", ".join(value) or "–" if isinstance(value, list) else value for key, value in counts_row.items()}


if there:
    against = [against_floor(*key) for key in table[["dataset", "metric"]].drop_duplicates().itertuples(index=False)]
    caption = "Methods against random scores, metric by metric"
    display(page.listing(pd.DataFrame(against), "together_tasks_random", caption=caption))

# %% [markdown]
# Complexity and sparseness do not use the model. Random scores have the shape of a normal distribution, and an explanation is
# not better because it is simpler than that. Plausibility compares with people, who say what should matter, and not with the
# model ({doc}`../foundations/faithfulness`).
#
# ## What it costs

# %%
if ran:
    spent = load("toolkit_costs", profile).groupby("dataset", sort=False)[["inputs", "rows_shap", "rows_rest"]].sum()
    caption = (
        "Rows of the model in this build: those of PartitionSHAP "
        f"({settings_of('together_toolkit', profile)['max_evals']} copies of a text at most), and those of all other methods "
        "and the metrics"
    )
    display(page.listing(spent.reset_index(), "together_tasks_costs", digits=0, caption=caption))

# %%
page.finish(note="" if there else "no data of the toolkit's tasks on this machine or in the reference")
