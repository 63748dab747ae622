# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: SaCo and four other metrics of eleven explanations of Vision Transformers
#
# Wu et al. (2024): pixels are grouped by salience, each group is erased alone (SaCo) and one group after the other (AUC,
# AOPC, LOdds, least relevant first), for the models of one data set. One perturber per model serves all metrics,
# methods and settings, so that an erased image that two of them need is run once.
#
# The models are those of the data set where it has some of its own: trainings of one pretrained encoder for
# photographs of CIFAR, three small transformers for each substitute data set. Where a model takes an hour, each has
# a run of its own.

# %% tags=["parameters"]
profile = "laptop"
dataset = "fashion"
model = ""  # one of the models of the data set alone; "": all of them
part = 1  # of `parts`: which share of the pictures
parts = 1
# Your choices: None is what the profile says.
pictures = None  # images, such as 20
erase = None  # "mean", "zero" or "blur": what takes the place of an erased group
upsample = None  # "bilinear" or "nearest": how a map of patches becomes one of pixels
ties = None  # "position" or "random": equal scores
ig_steps = None  # points of the path of integrated gradients
random_draws = None  # random explanations of each image

# %%
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import load_pictures
from faithbook.studies.saco.wu_metrics import (
    METRICS,
    ExplainedPictures,
    Setting,
    batches,
    maps_shown,
    metrics_by_setting,
    metrics_of,
    pixels_shown,
    saco_by_groups,
    steps_shown,
)
from faithlib.perturb import costs

run = start_run(
    "saco_metrics",
    profile=profile,
    dataset=dataset,
    model=model,
    part=part,
    parts=parts,
    pictures=pictures,
    erase=erase,
    upsample=upsample,
    ties=ties,
    ig_steps=ig_steps,
    random_draws=random_draws,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
pictures = load_pictures(dataset, "test", n=settings["pictures"], sample=settings["sample"])
specs = settings["models"]
# A few test pictures of a set are pictures of that set, whatever they came in: its name goes with their values.
named = dataset.removesuffix("-few")

# %% [markdown]
# ## Explanations
#
# The paper's ten, one more for its ablation (the gradient-weighted attention of the last block alone) and random scores,
# drawn a few times: `draw` numbers the drawings, everything else has draw 0. Integrated gradients explain the
# probability, the others the logit, as their papers do.

# %%
made = {"ig_steps": settings["ig_steps"], "random_draws": settings["random_draws"], "device": device}

# %% [markdown]
# ## Settings
#
# Pixels are cut into $K$ groups $G_1, …, G_K$ by falling salience. With $s_i$ the salience of a group (Eq. 1) and
# $\Delta_i = p(x) - p(x \setminus G_i)$ what the model loses when it alone is erased (Eq. 2; Eq. 3 is the coefficient),
#
# $$\mathrm{SaCo} = \frac{\sum_{i<j} \pm (s_i - s_j)}{\sum_{i<j} |s_i - s_j|},$$
#
# with $+$ where $\Delta_i \ge \Delta_j$ and $-$ elsewhere: 1 where every more salient group costs more, -1 where none does.
#
# The main setting follows the paper where it states one: ten groups, the mean of the image as replacement. Where it
# states none we name our choice (bilinear upsampling, group bounds rounded, equal scores in reading order) and change
# one at a time on a part of the images, with the first model. A group's salience is the mean of its pixels. 784
# pixels, as small images have, make ten groups of 78 or 79, and if a map is nearly flat their sums would only show
# which group is larger. For equal groups, which the 12,544 pixels of our photographs and 224 x 224 almost make, the
# mean agrees with the paper's sum.
#
# Scores replaced by their ranks make the same groups, so the model is not run again. Lost are the distances between
# scores, and with them their density: all maps look alike except for their order. The last two settings run the same
# rows in single precision and in bfloat16, with eight bits per number: is that precise enough for SaCo?
# One of the two is what the profile computes in, and costs nothing; maps are made in single precision in any case.

# %%
MAIN = Setting(
    upsample=upsample or "bilinear",
    erase=erase or "mean",
    ties=ties or "position",
    dtype=getattr(torch, settings["dtype"]),
)
VARIANTS = {
    "main": {},
    "group sums": {"reduce": "sum"},
    "nearest": {"upsample": "nearest"},
    "nearest, random ties": {"upsample": "nearest", "ties": "random"},
    "random ties": {"ties": "random"},
    "zero": {"erase": "zero"},
    "blur": {"erase": "blur"},
    "last group larger": {"remainder": "last"},
    "rest dropped": {"remainder": "drop"},
    "whole patches": {"unit": "patch"},
    "ranks": {"scores": "ranks"},
    "float32": {"dtype": torch.float32},
    "bfloat16": {"dtype": torch.bfloat16},
}

# %% [markdown]
# ## Batch by batch, every model: the main setting
#
# The first images also go through other numbers of groups, for SaCo alone, and the first ones with the first model
# through the other settings, in the same batches. Rows that the main setting has run are known already. The memory
# of a batch is free after it.


# %%
KEYS = ["dataset", "model", "draw"]


def save_main(batch, about):
    """The main setting of a batch."""
    main = metrics_of(batch, MAIN).assign(**about)
    run.add(main.assign(output="probability", k=MAIN.k), "saco_scores")
    run.add_units(as_units(main, seed=0, metrics=METRICS, keys=KEYS))


def save_groups(batch, about):
    """SaCo alone for each other number of groups."""
    groups = saco_by_groups(batch, MAIN, settings["group_counts"]).assign(**about)
    run.add_units(as_units(groups, seed=0, metrics=["saco"], keys=[*KEYS, "k"]), "groups")


def save_varied(batch, about):
    """Every setting that differs from the main one in one thing."""
    varied = metrics_by_setting(batch, MAIN, VARIANTS).assign(**about)
    run.add_units(as_units(varied, seed=0, metrics=METRICS, keys=[*KEYS, "setting"]), "settings")


def save_shown(batch, about, wanted):
    """A few images to look at: their pixels, the maps of all explanations and the model's outputs, group by group."""
    run.add(maps_shown(batch, MAIN, wanted).assign(dataset=named), "saco_maps")
    run.add(steps_shown(batch, MAIN, wanted).assign(**about), "saco_steps")
    run.add(pixels_shown(batch, MAIN, wanted).assign(**about), "saco_pictures")


# %%
first = next(iter(specs))
chosen = {name: spec for name, spec in specs.items() if model in ("", name)}
classifiers = {name: load_model(spec) for name, spec in chosen.items()}
for classifier in classifiers.values():
    classifier.check_classes(pictures)
    classifier.model.to(device)
varied, grouped, shown = (settings[name] for name in ("varied_pictures", "grouped_pictures", "examples"))
places = batches(len(pictures), settings["batch"], special=[varied, grouped])
for rows in tqdm(run.shared(places), desc="batches"):
    for name, classifier in classifiers.items():
        batch = ExplainedPictures(classifier.model, pictures[rows], **made)
        about = {"dataset": named, "model": name}
        save_main(batch, about)
        if rows.start < grouped:
            save_groups(batch, about)
        if rows.start < varied and name == first:
            save_varied(batch, about)
        if rows.start < shown and name == first:
            save_shown(batch, about, shown - rows.start)
        run.count(**costs(*batch.perturbers.values()))
    run.count(n=len(batch.pictures))

# %%
run.note(dtype=settings["dtype"], device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean of each metric over images, by explanation. Random explanations have SaCo 0 on average. *Book*: the full run's mean on
# this data set. Change a choice in the second cell and run the notebook again; `notebooks/report/saco_tables.py` with
# `values = "run"` then makes the paper's tables of what was computed here.

# %%
beside_book(run, metrics=["saco", "auc", "aopc_lerf"])
