# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own text model
#
# This page takes any text classifier and a file of texts, explains its predictions by several methods, and measures
# how faithful the explanations are. As published it shows a small model of this book on ten of twelve sentences
# written for the purpose. With a model and texts of yours it is the same page: change the parameters `model` and
# `data`.
#
# - `model`: a folder that `save_pretrained` has written, `hf:` and the name of a model on the hub, or a `local:` name
#   of this book. A fine-tuned classifier with safetensors weights and a fast tokenizer; no code that comes with it is
#   run.
# - `data`: a CSV file with the column `text`; if you have them, `label` (the model's own class names) and `gold`, the
#   characters that people marked, as `start:end`, counted from 0, the end not included: `2:6 11:16`.
# - `methods`, `metrics`: `default`, or names with commas between. Random scores are always added, as a baseline. The default
#   metrics begin with *SRG*, which the page {doc}`../executed/together_advice` recommends: AOPC with the most relevant words
#   first minus AOPC with the least relevant words first.
# - `n`, `seed`: how many texts, drawn by a hash. `erase`: what takes the place of an erased word (`zero`, `pad`,
#   `mask`, `delete`). `draws`, `groups`: of soft metrics and of SaCo. `attention`: `eager` for methods that ask for
#   it.

# %% tags=["parameters"]
profile = "laptop"
model = "local:text/movie-seed0"
data = "data/examples/texts.csv"
methods = "default"
metrics = "default"
n = 10
seed = 0
erase = "default"
draws = 4
groups = 10
attention = "sdpa"

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import torch
from IPython.display import Markdown

from faithbook.engine.run import start_run
from faithbook.own import pages
from faithbook.own.cost import amount, estimate, fitting_methods
from faithbook.own.load import load_texts, open_model
from faithbook.own.pages import FLOOR, listed
from faithbook.show import figures, tables
from faithbook.show.labels import label
from faithlib.evaluation import DEFAULT_METHODS, MetricSettings, count_rows, evaluate
from faithlib.metrics.registry import BUILT_IN

run = start_run(
    "own_text_model",
    profile=profile,
    model=model,
    data=data,
    methods=methods,
    metrics=metrics,
    n=n,
    seed=seed,
    erase=erase,
    draws=draws,
    groups=groups,
    attention=attention,
)
figures.theme()

# %% [markdown]
# ## What the model says
#
# Explanations are of what the model *predicts*, right or wrong.

# %%
classifier = open_model(model, attention=attention)
classifier.model.to("cuda" if torch.cuda.is_available() else "cpu")
brought = load_texts(data, classifier, n=n, seed=seed)
predicted = pages.predictions(classifier, brought)
tables.table(
    predicted.drop(columns="correct", errors="ignore"),
    run,
    "own_text_predictions",
    digits=2,
    caption=f"What {model} predicts, and how sure it is",
)

# %%
summary = f"{len(brought)} of {brought.total} texts, classes {', '.join(classifier.label_names)}."
if brought.labels is not None:
    summary += f" {pages.accuracy(predicted)}"
if brought.unused:
    summary += f" Columns that nobody reads: {', '.join(brought.unused)}."
Markdown(summary)

# %% [markdown]
# ## Before anything runs
#
# Every method is tried on the shortest text; one that cannot explain this kind of model is left out by name. What
# the metrics will take is estimated from the lengths of the texts and a few rows of the longest; what would not fit in
# memory is refused here.

# %%
asked = listed(methods, DEFAULT_METHODS["text"])
names, left_out = fitting_methods(list(dict.fromkeys([*asked, FLOOR])), classifier, brought.inputs)
wanted = pages.metrics_of(metrics, has_gold=brought.gold is not None)
options = {"draws": draws, "groups": groups}
erased = None if erase == "default" else erase
ahead = estimate(classifier, brought, names, wanted, erase=erased, **options)
Markdown(
    f"Methods: {', '.join(label(name) for name in names)}. The metrics take about "
    f"{ahead.rows:,} rows and about {ahead.seconds:.0f} seconds. Of the {amount(ahead.free)} of memory that are free, masks and "
    f"answers take {amount(ahead.bytes)}; the model's passes fit themselves into half of the rest."
    + "".join(f"\n- Left out: {label(name)}. {reason}" for name, reason in left_out.items())
)

# %% [markdown]
# ## Two texts, every method
#
# The tint follows the score, min-max scaled in each text and method: compare patterns, not shades.

# %%
scores, spent = pages.explain(names, classifier, brought.inputs, erase=erased)


def side_by_side(b):
    """One text under every method, as boxes that find their own places."""
    words = brought.inputs.features[b]
    marked = None if brought.gold is None else brought.gold[b, : len(words)].tolist()
    boxes = [
        figures.heatmap(words, scores[name][b, : len(words)].tolist(), rationale=marked, title=label(name))
        for name in names
    ]
    columns = "".join(f"<div>{box}</div>" for box in boxes)
    return (
        f'<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:.3rem">{columns}</div>'
    )


Markdown(
    "\n\n".join(
        f"**{brought.ids[b].capitalize()}**, predicted {predicted.predicted[b]} with {predicted.probability[b]:.2f}"
        + (f", labelled {predicted.label[b]}" if brought.labels is not None else "")
        + (". Outlined: the words that people marked." if brought.gold is not None else ".")
        + f"\n\n{side_by_side(b)}"
        for b in range(min(2, len(brought)))
    )
)

# %% [markdown]
# ## Every metric of every method

# %%
table = evaluate(
    classifier.model,
    brought.inputs,
    methods=scores,
    metrics=wanted,
    gold=brought.gold,
    settings=MetricSettings(erase=erased, **options),
)
means = pages.summary(table)
tables.table(means, run, "own_text_means", caption="Means over texts", shown=False)

# %%
tables.table(
    pages.side_by_side(means),
    run,
    "own_text_metrics",
    caption=f"Means over {len(brought)} texts with 95 % intervals; “better” says which way it points",
)

# %%
lost = means.loc[means["dropped"] > 0, ["metric", "method", "dropped"]]
tables.table(lost, run, "own_text_undefined", caption="Values left out as undefined") if len(lost) else Markdown(
    "Every value is defined."
)

# %%
places, mean_ranks = pages.ranks(table)
fig, seen = pages.rank_figure(places, mean_ranks)
figures.save(
    fig,
    run,
    "own_text_ranks",
    alt=seen,
    caption="Ranks of the methods under each metric (1 is best), and their mean over the metrics of faithfulness. "
    "The last columns, complexity and what follows it, do not count: a simple explanation, or one that people like, "
    "need not be faithful.",
)

# %%
chance = pages.against_floor(table)
tables.table(
    chance,
    run,
    "own_text_against_random",
    caption="Under how many metrics of faithfulness a method is better or worse than random scores, by the 95 % "
    "interval of the paired difference; with fewer than ten texts nothing is decided. Would decide: the number "
    "with which half of the undecided comparisons would be decided with 80 % power, if the true differences equal the estimates",
)

# %% [markdown]
# ## What it cost

# %%
tables.table(
    spent,
    run,
    "own_text_costs",
    digits=2,
    caption="Explaining: rows run forward and backward, and seconds; what methods share is on the account of the first",
)

# %%
counted = count_rows(
    classifier.model,
    brought.inputs,
    methods=scores,
    metrics=wanted,
    gold=brought.gold,
    settings=MetricSettings(erase=erased, **options),
)
tables.table(
    pd.DataFrame(
        [
            {"metrics": ", ".join(map(label, BUILT_IN[family].directions)), "rows": rows}
            for family, rows in counted.alone.items()
        ]
    ),
    run,
    "own_text_rows",
    caption="Measuring: rows that each line's metrics would run alone, all methods and texts, unerased ones too"
    + ("" if counted.is_exact else "; of NAOPC, whose search goes where the answers lead, at most"),
)

# %%
cost = table.attrs["costs"]
run.note(n=len(brought), **{key: cost[key] for key in ("rows_asked", "rows_run", "seconds_core", "peak_bytes")})
Markdown(
    f"Counting rows again for each metric and method that asks for them, {cost['rows_asked']:,} were asked for; "
    f"{cost['rows_run']:,} had to be run, in {cost['seconds_core']:.1f} seconds; the largest pass took {amount(cost['peak_bytes'])}."
)

# %% [markdown]
# ## How to read this
#
# - **Random scores first.** A method that does not beat them under a metric has not been shown to say anything,
#   however good its number looks.
# - **Intervals are over texts.** They say how the means would move with other texts of the same kind. They know
#   nothing of another model, another way to erase, or other options of a method.
# - **Metrics are not independent voters.** Most erase words and look at the same drop of probability in different
#   ways, so that ten of them can agree on one mistake. A text with holes is one that the model was never trained on.
#   Try another `erase` before you believe an order.
# - **Methods that erase have an advantage.** LIME and occlusion are computed from the same rows as the metrics. Where no
#   text has more words than `groups`, each group of SaCo is one word, and occlusion's score of it is exactly what SaCo
#   compares with.
# - **NS, NC and their soft versions divide** by what erasing everything costs. If that is little, they leave [0, 1]
#   by far, and a single text can decide a mean.
# - **Marked words measure agreement with people,** not faithfulness. For a text that the model gets wrong they are
#   reasons for another answer than the one explained.
#
# {doc}`Metrics <../foundations/metrics>` has the definition of each.

# %% [markdown]
# ## What is refused, and why
#
# Some things cannot be measured, and some would give numbers that mean nothing. They end before anything runs, with
# an error message that names what was given, what was expected, and what to do. Four attempts and what they get:

# %%
sentence = brought.texts[0].replace('"', "'")
bad_files = {
    "no_text": f'review\n"{sentence}"\n',
    "other_label": f'text,label\n"{sentence}",so-so\n',
    "too_long": "text\n" + "word " * 600 + "\n",
}
with TemporaryDirectory() as folder:
    attempts = {}
    for name, content in bad_files.items():
        path = Path(folder, f"{name}.csv")
        path.write_text(content, encoding="utf-8")
        attempts[name] = pages.refusal(lambda path=path: load_texts(path, classifier), hidden=f"{folder}/")
attempts["little_memory"] = pages.refusal(
    lambda: estimate(classifier, brought, names, wanted, erase=erased, **options, free=ahead.bytes)
)
what = {
    "no_text": "A file whose texts stand in another column",
    "other_label": "A label that the model does not have",
    "too_long": "A text longer than the model reads",
    "little_memory": "The same evaluation with just the memory it needs, half of which is for the model's passes",
}
Markdown("\n".join(f"- {what[name]}: ``{message}``" for name, message in attempts.items()))

# %%
run.provenance(n=len(brought), note=f"model {model}, texts {data}")

# %%
run.finish()
