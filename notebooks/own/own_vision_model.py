# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own vision model
#
# This page takes any Vision Transformer of timm and a folder of images, explains its predictions by several methods,
# and measures how faithful the explanations are. As published it shows a small model of this book on ten images
# of clothes. With a model and images of yours it is the same page: change the parameters `model` and `data`.
#
# - `model`: a folder with timm's `config.json` and `model.safetensors`, `timm:` and the name of a model, or a `local:`
#   name of this book. A `VisionTransformer`, because soft erasure and most explanations are about its patches and
#   attention.
# - `data`: a folder with one sub-folder of images a class, named as the model names it; or a folder of plain files,
#   with a `labels.csv` (columns file, label) or without labels at all.
# - `patch`: how many pixels a feature is wide after the model's own resizing; 0 takes the model's patches.
# - `methods`, `metrics`: `default`, or names with commas between. Random scores are always added, as a baseline.
# - `n`, `seed`: how many images, drawn by a hash. `erase`: what takes the place of an erased patch (`mean`, `zero`,
#   `blur`). `draws`, `groups`: of soft metrics and of SaCo.

# %% tags=["parameters"]
profile = "laptop"
model = "local:vision/fashion-base-seed0"
data = "data/examples/pictures"
methods = "default"
metrics = "default"
n = 10
seed = 0
patch = 0
erase = "default"
draws = 4
groups = 10

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown
from PIL import Image

from faithbook.engine.run import start_run
from faithbook.own import pages
from faithbook.own.cost import amount, estimate, fitting_methods
from faithbook.own.load import load_folder, open_model
from faithbook.own.pages import FLOOR, listed
from faithbook.show import figures, tables
from faithbook.show.labels import label
from faithlib.evaluation import DEFAULT_METHODS, MetricSettings, count_rows, evaluate
from faithlib.metrics.registry import BUILT_IN

run = start_run(
    "own_vision_model",
    profile=profile,
    model=model,
    data=data,
    methods=methods,
    metrics=metrics,
    n=n,
    seed=seed,
    patch=patch,
    erase=erase,
    draws=draws,
    groups=groups,
)
figures.theme()

# %% [markdown]
# ## What the model says
#
# Explanations are of what the model *predicts*, right or wrong.

# %%
classifier = open_model(model)
classifier.model.to("cuda" if torch.cuda.is_available() else "cpu")
brought = load_folder(data, classifier, n=n, seed=seed, patch=patch)
predicted = pages.predictions(classifier, brought)
tables.table(
    predicted.drop(columns="correct", errors="ignore"),
    run,
    "own_vision_predictions",
    digits=2,
    caption=f"What {model} predicts, and how sure it is",
)

# %%
features = int(brought.inputs.n_features[0])
side = "x".join(map(str, brought.inputs.pixels.shape[2:]))
summary = (
    f"{len(brought)} of {brought.total} images, {side} pixels as the model sees them, cut into {features} features; "
)
summary += f"{len(classifier.label_names)} classes."
if brought.labels is not None:
    summary += f" {pages.accuracy(predicted)}"
Markdown(summary)

# %% [markdown]
# ## Before anything runs
#
# Every method is tried on one image; one that cannot explain this kind of model is left out by name. What the
# metrics will take is estimated from the number of features and a few rows; what would not fit in memory is refused here.

# %%
asked = listed(methods, DEFAULT_METHODS["image"])
names, left_out = fitting_methods(list(dict.fromkeys([*asked, FLOOR])), classifier, brought.inputs)
wanted = pages.metrics_of(metrics, has_gold=False)
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
# ## Three images, every method

# %%
scores, spent = pages.explain(names, classifier, brought.inputs)
feature_of = brought.inputs.feature_of.numpy()
pixels = brought.inputs.pixels.numpy()
low, high = pixels.min(axis=(2, 3), keepdims=True), pixels.max(axis=(2, 3), keepdims=True)
visible = ((pixels - low) / np.maximum(high - low, 1e-9)).transpose(0, 2, 3, 1)
grey = visible.mean(axis=-1)
maps = {name: values.cpu().numpy()[:, feature_of] for name, values in scores.items()}
shown = range(min(3, len(brought)))


def bare(ax, title):
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.set_title(title, fontsize=8)


def overlay(ax, b, name):
    """A heat map over its image in grey, the stronger the further a score is from 0 (or, where none is below, from the
    lowest): red above, blue below."""
    positive = maps[name][b] - max(maps[name][b].min(), 0)
    end = max(np.quantile(np.abs(positive), 0.99), 1e-12)
    ax.imshow(grey[b], cmap="gray", vmin=0, vmax=1)
    ax.imshow(positive, cmap="coolwarm", vmin=-end, vmax=end, alpha=0.85 * np.clip(np.abs(positive) / end, 0, 1))


def highest(name, b):
    """Where a map is highest, in words."""
    down, across = np.argwhere(maps[name][b] == maps[name][b].max()).mean(axis=0) / feature_of.shape
    return f"{('top', 'middle', 'bottom')[int(3 * down)]} {('left', 'centre', 'right')[int(3 * across)]}"


fig, axes = plt.subplots(
    len(shown), len(names) + 1, figsize=(1.45 * (len(names) + 1), 1.75 * len(shown)), squeeze=False
)
for row, b in zip(axes, shown, strict=True):
    row[0].imshow(visible[b] if visible.shape[-1] == 3 else grey[b], cmap="gray", vmin=0, vmax=1)
    bare(row[0], f"{predicted.predicted[b]}, {predicted.probability[b]:.2f}")
    for ax, name in zip(row[1:], names, strict=True):
        overlay(ax, b, name)
        bare(ax, label(name) if b == 0 else "")
figures.save(
    fig,
    run,
    "own_vision_maps",
    alt="Small images, one per row, and next to each the heat maps of the methods. Where a heat map is highest: "
    + "; ".join(
        f"{brought.ids[b]}, taken for {predicted.predicted[b]}: "
        + ", ".join(f"{label(name)} {highest(name, b)}" for name in names)
        for b in shown
    )
    + ".",
    caption="The first images as the model sees them, with its prediction, and the explanations of that "
    "prediction. Red supports it, blue contradicts it; no colour means 0, or the lowest score in a map without negative "
    "scores. Each map is on its own scale, which ends where 99 % of its pixels do.",
)

# %% [markdown]
# ## Every metric of every method

# %%
table = evaluate(
    classifier.model, brought.inputs, methods=scores, metrics=wanted, settings=MetricSettings(erase=erased, **options)
)
means = pages.summary(table)
tables.table(means, run, "own_vision_means", caption="Means over images", shown=False)

# %%
tables.table(
    pages.side_by_side(means),
    run,
    "own_vision_metrics",
    caption=f"Means over {len(brought)} images with 95 % intervals; “better” says which way it points",
)

# %%
lost = means.loc[means["dropped"] > 0, ["metric", "method", "dropped"]]
tables.table(lost, run, "own_vision_undefined", caption="Values left out as undefined") if len(lost) else Markdown(
    "Every value is defined."
)

# %%
places, mean_ranks = pages.ranks(table)
fig, seen = pages.rank_figure(places, mean_ranks)
figures.save(
    fig,
    run,
    "own_vision_ranks",
    alt=seen,
    caption="Ranks of the methods under each metric (1 is best), and their mean over the metrics of faithfulness. "
    "Complexity and sparseness do not count: a simple explanation need not be a faithful one.",
)

# %%
chance = pages.against_floor(table)
tables.table(
    chance,
    run,
    "own_vision_against_random",
    caption="Under how many metrics of faithfulness a method is better or worse than random scores, by the 95 % "
    "interval of the paired difference; with fewer than ten images nothing is decided. Would decide: the number "
    "with which half of the undecided comparisons would be decided with 80 % power, if the true differences equal the estimates",
)

# %% [markdown]
# ## What it cost

# %%
tables.table(spent, run, "own_vision_costs", digits=2, caption="Explaining: seconds for all images")

# %%
counted = count_rows(
    classifier.model, brought.inputs, methods=scores, metrics=wanted, settings=MetricSettings(erase=erased, **options)
)
tables.table(
    pd.DataFrame(
        [
            {"metrics": ", ".join(map(label, BUILT_IN[family].directions)), "rows": rows}
            for family, rows in counted.alone.items()
        ]
    ),
    run,
    "own_vision_rows",
    caption="Measuring: rows that each line's metrics would run alone, all methods and images, unerased ones too"
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
#   however good its number and its map look.
# - **Intervals are over images.** They say how the means would move with other images of the same kind. They know
#   nothing of another model, another way to erase, or other options of a method.
# - **Metrics are not independent voters.** Most erase patches and look at the same drop of probability in different
#   ways, so that ten of them can agree on one mistake. An image with grey squares is one that the model was never
#   trained on. Try another `erase` before you believe an order. Soft metrics drop elements of the patches' embeddings
#   instead.
# - **A map is read patch by patch.** Scores within a feature are added up before anything is erased. A coarser `patch`
#   makes another question, not a rougher answer to the same one.
# - **NS, NC and their soft versions divide** by what erasing everything costs. Where that is little, they leave [0, 1]
#   by far, and a single image can carry a mean.
#
# What each metric is has {doc}`its own page <../foundations/metrics>`; SaCo and its neighbours are {doc}`those of the
# second study <../paper2/overview>`.

# %% [markdown]
# ## What is refused, and why
#
# Some things cannot be measured, and some would give numbers that mean nothing. They end before anything runs, with an
# error that says what came, what was expected, and what to do. Four attempts and what they get:

# %%
picture = Image.fromarray((255 * grey[0]).astype(np.uint8))
with TemporaryDirectory() as folder:
    strange, damaged = Path(folder, "strange"), Path(folder, "damaged")
    for path in (strange / "unheard of", damaged):
        path.mkdir(parents=True)
        picture.save(path / "one.png")
    (damaged / "two.png").write_text("not an image")
    hidden = f"{folder}/"
    attempts = {
        "A file that is not an image": pages.refusal(lambda: load_folder(damaged, classifier), hidden),
        "A folder named as no class of the model": pages.refusal(lambda: load_folder(strange, classifier), hidden),
    }
attempts["Patches that cut the image unevenly"] = pages.refusal(
    lambda: load_folder(data, classifier, n=1, patch=min(brought.inputs.pixels.shape[2:]) - 1)
)
attempts["The same evaluation with just the memory it needs, half of which is for the model's passes"] = pages.refusal(
    lambda: estimate(classifier, brought, names, wanted, erase=erased, **options, free=ahead.bytes)
)
Markdown("\n".join(f"- {what}: ``{message}``" for what, message in attempts.items()))

# %%
run.provenance(n=len(brought), note=f"model {model}, pictures {data}")

# %%
run.finish()
