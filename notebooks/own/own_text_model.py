# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own text model
#
# This page takes any text classifier and a file of texts, explains its predictions by several methods, and measures
# how faithful the explanations are. As published it shows a small model of this book on ten sentences written for the purpose. For your
# own model and texts change the parameters `model` and `data`, and run the page (the command is at its end).
#
# - `model`: a folder that `save_pretrained` has written, `hf:` and the name of a model on the hub, or a `local:` name
#   of this book. A fine-tuned classifier with safetensors weights and a fast tokenizer; no code that comes with it is
#   run.
# - `data`: a CSV file with the column `text`; if you have them, `label` (the model's own class names) and `gold`, the
#   characters that people marked, as `start:end`, counted from 0, the end not included: `2:6 11:16`.
# - `methods`, `metrics`: `default`, or names with commas between. Random scores are always added, as a baseline. The default
#   metrics begin with *SRG*, which {doc}`../executed/together_advice` recommends: AOPC with the most relevant words
#   first minus AOPC with the least relevant words first.
# - `n`, `seed`: how many texts, and which sample of them. `erase`: what replaces an erased word (`zero`, which is
#   the default, `pad`, `mask`, or `delete`). `draws`: random draws of soft metrics. `groups`: groups of words of SaCo.
#   `attention`: `eager` for methods that need attention maps.

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
from faithbook.own.pages import FLOOR, parsed_names
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
# ## What the model predicts
#
# Each prediction is explained, right or wrong.

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
    caption=f"Predictions of {model} and their probabilities",
)

# %%
summary = f"{len(brought)} of {brought.total} texts, classes {', '.join(classifier.label_names)}."
if brought.labels is not None:
    summary += f" {pages.accuracy_in_words(predicted)}"
if brought.unused:
    summary += f" Columns that are not used: {', '.join(brought.unused)}."
Markdown(summary)

# %% [markdown]
# ## Before anything runs
#
# Every method is tried on the shortest text, and those that cannot explain this kind of model are left out. Time and memory are
# estimated from the lengths of the texts and a few forward passes; what would not fit in memory is refused here.

# %%
asked = parsed_names(methods, DEFAULT_METHODS["text"])
names, left_out = fitting_methods(list(dict.fromkeys([*asked, FLOOR])), classifier, brought.inputs)
wanted = pages.metrics_shown(metrics, has_gold=brought.gold is not None)
options = {"draws": draws, "groups": groups}
erased = None if erase == "default" else erase
ahead = estimate(classifier, brought, names, wanted, erase=erased, **options)
Markdown(
    f"Methods: {', '.join(label(name) for name in names)}. The metrics take about "
    f"{ahead.rows:,} forward passes of one input and about {ahead.seconds:.0f} seconds. They need {amount(ahead.bytes)} of the "
    f"{amount(ahead.free)} of free memory, in addition to the model's passes."
    + "".join(f"\n- Left out: {label(name)}. {reason}" for name, reason in left_out.items())
)

# %% [markdown]
# ## Two texts, every method
#
# The darker a word, the higher its score. Scores are min-max scaled in each text and method, so compare patterns, not shades.

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


def with_heading(b):
    """The same below what the model predicts for the text."""
    heading = (
        f"**{brought.ids[b].capitalize()}**, predicted {predicted.predicted[b]} with {predicted.probability[b]:.2f}"
    )
    if brought.labels is not None:
        heading += f", labelled {predicted.label[b]}"
    heading += "."
    if brought.gold is not None:
        heading += " Outlined: the words that people marked."
    return f"{heading}\n\n{side_by_side(b)}"


Markdown("\n\n".join(with_heading(b) for b in range(min(2, len(brought)))))

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
Markdown(pages.above_floor(means))

# %%
tables.table(
    pages.side_by_side(means),
    run,
    "own_text_metrics",
    caption=f"Mean of each metric over {len(brought)} texts, with 95 % intervals; *better* says whether higher or lower is better",
    opened=True,
)

# %%
lost = means.loc[means["dropped"] > 0, ["metric", "method", "dropped"]]
caption = (
    "Number of texts on which a metric is undefined and which are left out of its mean; metrics without a row are defined on all. NS, NC and their soft versions are undefined where "
    "erasing everything costs nothing; SaCo, complexity and sparseness where all scores are the same"
)
tables.table(lost, run, "own_text_undefined", caption=caption, wide=pages.undefined(means)) if len(lost) else Markdown(
    "Every value is defined."
)

# %%
places, mean_ranks = pages.ranks_of_methods(table)
fig, seen = pages.rank_figure(places, mean_ranks)
figures.save(
    fig,
    run,
    "own_text_ranks",
    alt=seen,
    caption="Ranks of the methods under each metric (1 is best), and their mean over the metrics of faithfulness, with its 95 % interval: an overview, not a "
    "vote, because these metrics are not independent. Complexity, sparseness and agreement with people do not count.",
)

# %%
chance = pages.against_floor(table)
tables.table(
    chance,
    run,
    "own_text_against_random",
    caption="Number of metrics of faithfulness under which a method is better or worse than random scores, by the 95 % interval of the "
    "paired difference",
)

# %% [markdown]
# *Would decide* is the median, over the undecided comparisons, of the number of texts that each needs for a power of 80 %, if the true
# differences equal the estimates. Fewer than ten texts on which a metric is
# defined decide nothing, so the number is never below ten.

# %% [markdown]
# ## What it cost

# %%
tables.table(
    spent.rename(columns={"rows": "forward"}),
    run,
    "own_text_costs",
    digits=2,
    caption="Explaining: forward and backward passes (one text in one pass counts as one) and seconds, for all texts. Passes that methods "
    "share count for the first of them",
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
            {"metrics": "; ".join(map(label, BUILT_IN[family].directions)), "forward passes": f"{rows:,}"}
            for family, rows in counted.alone.items()
        ]
    ),
    run,
    "own_text_rows",
    caption="Measuring: forward passes that the metrics of a line need without the others, for all methods and texts; each line includes one for "
    "every whole text" + ("" if counted.is_exact else " (NAOPC: at most)"),
)

# %%
cost = table.attrs["costs"]
run.note(n=len(brought), **{key: cost[key] for key in ("rows_asked", "rows_run", "seconds_core", "peak_bytes")})
Markdown(
    f"If neither metrics nor methods shared forward passes, {cost['rows_asked']:,} would have been needed; {cost['rows_run']:,} were "
    f"run, in {cost['seconds_core']:.1f} seconds. The largest batch took {amount(cost['peak_bytes'])}."
)

# %% [markdown]
# ## How to read this
#
# - **Random scores first.** A method that is not better than random scores under a metric has not been shown to say anything,
#   however good its number looks.
# - **Intervals are over texts.** They do not cover another model, another way to erase, or other options of a method.
# - **Metrics are not independent.** Most erase words and use the same drop of probability, so that ten of them can share one
#   mistake: the model was never trained on texts with erased words. Try another `erase` before you believe an order.
# - **Methods that erase have an advantage.** LIME and occlusion use the same erased texts as the metrics. If a text
#   has no more features (words and punctuation marks) than `groups`, each group of SaCo is a single one, and occlusion has a SaCo of 1
#   by construction.
# - **NS, NC and their soft versions** divide by what erasing everything costs. If that is little, they are far outside [0, 1],
#   and a single text can dominate a mean.
# - **Marked words measure agreement with people,** not faithfulness. For a wrong prediction they are
#   reasons for another class than the one explained.
#
# {doc}`../foundations/metrics` has the definition of each metric.

# %% [markdown]
# ## What is refused, and why
#
# What cannot be measured, or would give meaningless numbers, is refused before anything runs. The error message says what was
# given, what was expected, and what to do. Four examples:

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
attempt_in_words = {
    "no_text": "A file whose texts are in another column",
    "other_label": "A label that the model does not have",
    "too_long": "A text that is too long for the model",
    "little_memory": "This evaluation with too little memory",
}
Markdown("\n".join(f"- {attempt_in_words[name]}: ``{message}``" for name, message in attempts.items()))

# %%
run.provenance(n=len(brought), note=f"model {model}, texts {data}")

# %%
run.finish()
