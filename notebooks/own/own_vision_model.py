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
# of clothes. For your own model and images change the parameters `model` and `data`, and run the page (the command is at its end).
#
# - `model`: a folder with timm's `config.json` and `model.safetensors`, `timm:` and the name of a model, or a `local:`
#   name of this book. It must be a `VisionTransformer`, because soft erasure and most explanations use its patches and
#   attention.
# - `data`: a folder with one sub-folder of images per class, named as the model names it; or a folder of image files,
#   with a `labels.csv` (columns file, label) or without labels.
# - `patch`: the width of a feature in pixels after the model's own resizing; 0 takes the model's patches. It divides
#   the image's side; with soft metrics, which are among the default ones, it is a multiple of the model's own patch.
# - `methods`, `metrics`: `default`, or names with commas between. Random scores are always added, as a baseline. The default
#   metrics begin with *SRG*, which {doc}`../executed/together_advice` recommends: AOPC with the most relevant patches
#   first minus AOPC with the least relevant patches first.
# - `n`, `seed`: how many images, and which sample of them. `erase`: what replaces an erased patch (`mean`, the default, `zero`, or
#   `blur`). `draws`: random draws of soft metrics. `groups`: groups of patches of SaCo.

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
from faithbook.own.pages import FLOOR, parsed_names
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
# ## What the model predicts
#
# Each prediction is explained, right or wrong.

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
    caption=f"Predictions of {model} and their probabilities",
)

# %%
features = int(brought.inputs.n_features[0])
side = " × ".join(map(str, brought.inputs.pixels.shape[2:]))
summary = f"{len(brought)} of {brought.total} images of {side} pixels after the model's resizing, cut into {features} features; "
summary += f"{len(classifier.label_names)} classes."
if brought.labels is not None:
    summary += f" {pages.accuracy_in_words(predicted)}"
Markdown(summary)

# %% [markdown]
# ## Before anything runs
#
# Every method is tried on one image, and those that cannot explain this kind of model are left out. Time and memory are estimated
# from the number of features and a few forward passes; what would not fit in memory is refused here.

# %%
asked = parsed_names(methods, DEFAULT_METHODS["image"])
names, left_out = fitting_methods(list(dict.fromkeys([*asked, FLOOR])), classifier, brought.inputs)
wanted = pages.metrics_shown(metrics, has_gold=False)
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
by_image = []
for b in shown:
    places = ", ".join(f"{label(name)} {highest(name, b)}" for name in names)
    by_image.append(f"{brought.ids[b]}, taken for {predicted.predicted[b]}: {places}")
alt = (
    "Small images, one per row, and next to each the heat maps of the methods. Where a heat map is highest: "
    f"{'; '.join(by_image)}."
)
figures.save(
    fig,
    run,
    "own_vision_maps",
    alt=alt,
    caption="The first images with the model's prediction, and the explanations of it. Red: a positive score, which supports "
    "the prediction; blue: a negative one. Rollout has neither class nor sign, and random scores say nothing. Each map has its own scale.",
)

# %% [markdown]
# ## Every metric of every method

# %%
table = evaluate(
    classifier.model, brought.inputs, methods=scores, metrics=wanted, settings=MetricSettings(erase=erased, **options)
)
means = pages.summary(table)
tables.table(means, run, "own_vision_means", caption="Means over images", shown=False)
Markdown(pages.above_floor(means))

# %%
tables.table(
    pages.side_by_side(means),
    run,
    "own_vision_metrics",
    caption=f"Mean of each metric over {len(brought)} images, with 95 % intervals; *better* says whether higher or lower is better",
    opened=True,
)

# %%
lost = means.loc[means["dropped"] > 0, ["metric", "method", "dropped"]]
caption = (
    "Number of images on which a metric is undefined and which are left out of its mean; metrics without a row are defined on all. NS, NC and their soft versions are undefined where "
    "erasing everything costs nothing; SaCo, complexity and sparseness where all scores are the same"
)
tables.table(lost, run, "own_vision_undefined", caption=caption, wide=pages.undefined(means)) if len(
    lost
) else Markdown("Every value is defined.")

# %%
places, mean_ranks = pages.ranks_of_methods(table)
fig, seen = pages.rank_figure(places, mean_ranks)
figures.save(
    fig,
    run,
    "own_vision_ranks",
    alt=seen,
    caption="Ranks of the methods under each metric (1 is best), and their mean over the metrics of faithfulness, with its 95 % interval: an overview, not a "
    "vote, because these metrics are not independent. Complexity and sparseness do not count.",
)

# %%
chance = pages.against_floor(table)
tables.table(
    chance,
    run,
    "own_vision_against_random",
    caption="Number of metrics of faithfulness under which a method is better or worse than random scores, by the 95 % interval of the "
    "paired difference",
)

# %% [markdown]
# *Would decide* is the median, over the undecided comparisons, of the number of images that each needs for a power of 80 %, if the true
# differences equal the estimates. Fewer than ten images on which a metric is
# defined decide nothing, so the number is never below ten.

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
            {"metrics": "; ".join(map(label, BUILT_IN[family].directions)), "forward passes": f"{rows:,}"}
            for family, rows in counted.alone.items()
        ]
    ),
    run,
    "own_vision_rows",
    caption="Measuring: forward passes that the metrics of a line need without the others, for all methods and images; each line includes one for "
    "every whole image" + ("" if counted.is_exact else " (NAOPC: at most)"),
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
#   however good its number and its map look.
# - **Intervals are over images.** They do not cover another model, another way to erase, or other options of a method.
# - **Metrics are not independent.** Most erase patches and use the same drop of probability, so that ten of them can share one
#   mistake: the model was never trained on images with grey squares. Try another `erase` before you believe an order. Soft metrics
#   drop elements of the patches' embeddings instead.
# - **Features are patches.** Scores within a feature are added up before anything is erased. Results with different values of `patch` cannot be
#   compared.
# - **NS, NC and their soft versions** divide by what erasing everything costs. If that is little, they are far outside [0, 1],
#   and a single image can dominate a mean.
#
# {doc}`../foundations/metrics` has the definition of each metric.

# %% [markdown]
# ## What is refused, and why
#
# What cannot be measured, or would give meaningless numbers, is refused before anything runs. The error message says what was
# given, what was expected, and what to do. Four examples:

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
        "A folder whose name is not a class of the model": pages.refusal(
            lambda: load_folder(strange, classifier), hidden
        ),
    }
attempts["Patches that do not divide the image"] = pages.refusal(
    lambda: load_folder(data, classifier, n=1, patch=min(brought.inputs.pixels.shape[2:]) - 1)
)
attempts["This evaluation with too little memory"] = pages.refusal(
    lambda: estimate(classifier, brought, names, wanted, erase=erased, **options, free=ahead.bytes)
)
Markdown("\n".join(f"- {attempt}: ``{message}``" for attempt, message in attempts.items()))

# %%
run.provenance(n=len(brought), note=f"model {model}, images {data}")

# %%
run.finish()
