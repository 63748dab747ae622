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
from itertools import pairwise

import pandas as pd
import timm.data
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.attribution import attribute
from faithlib.evaluation import saco_steps
from faithlib.masks import salience_groups
from faithlib.metrics.saco import grouped_alone, grouped_five
from faithlib.perturb import Perturber, costs

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
METHODS = {
    "integrated_gradients": {"n_steps": settings["ig_steps"]},
    "grad_cam": {},
    "lrp": {},
    "partial_lrp": {},
    "transformer_attribution": {},
    "conservative_lrp": {},
    "raw_attention": {},
    "rollout": {},
    "transformer_mm": {},
    "attcat": {},
    "last_layer_attention_with_gradient": {"layers": "last"},
}


def explained(model, inputs, upsample):
    """Scores [B, F] of every explanation, by (method, draw)."""
    maps = {}
    for name, options in METHODS.items():
        method = "transformer_mm" if name == "last_layer_attention_with_gradient" else name
        # These two have a score a pixel by themselves.
        spread = {} if name in ("integrated_gradients", "lrp") else {"upsample": upsample}
        maps[name, 0] = attribute(method, model, inputs, **options, **spread)
    for draw in range(settings["random_draws"]):
        maps["random", draw] = attribute("random", None, inputs, seed=draw).to(device)
    return maps


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
PRECISION = getattr(torch, settings["dtype"])
GROUPING = {"remainder": "spread", "ties": ties or "position", "reduce": "mean"}
MAIN = {
    "unit": "pixel",
    "k": 10,
    "upsample": upsample or "bilinear",
    "erase": erase or "mean",
    "scores": "own",
    "dtype": PRECISION,
    **GROUPING,
}
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


class Asked:
    """A model's images under each way to cut them into features, each replacement and each precision; made when first
    asked for."""

    def __init__(self, model, chosen):
        self.model, self.chosen = model, chosen
        self.labels = torch.tensor(chosen.labels, device=device)
        self.inputs, self.perturbers, self.scores = {}, {}, {}

    def cut(self, unit):
        if unit not in self.inputs:
            patch = 1 if unit == "pixel" else self.model.patch_embed.patch_size[0]
            self.inputs[unit] = as_inputs(self.chosen, self.model, patch=patch).to(device)
        return self.inputs[unit]

    def perturber(self, unit, erase, dtype=PRECISION):
        if (unit, erase, dtype) not in self.perturbers:
            self.perturbers[unit, erase, dtype] = Perturber(self.model, self.cut(unit), erase=erase, dtype=dtype)
        return self.perturbers[unit, erase, dtype]

    def explanations(self, unit, upsample):
        key = (unit, upsample if unit == "pixel" else "none")
        if key not in self.scores:
            self.scores[key] = explained(self.model, self.cut(unit), upsample)
        return self.scores[key]


def ranks(scores):
    """Scores [B, F] as F for the highest down to 1, equal ones in reading order."""
    order = scores.argsort(dim=1, descending=True, stable=True)
    falling = torch.arange(scores.shape[1], 0, -1, device=scores.device, dtype=scores.dtype)
    return torch.empty_like(scores).scatter_(1, order, falling.expand_as(scores).contiguous())


def measured(asked, setting):
    """Rows of one setting: every explanation's metrics on every image."""
    perturber = asked.perturber(setting["unit"], setting["erase"], setting["dtype"])
    grouping = {name: setting[name] for name in ("k", *GROUPING)}
    explanations = asked.explanations(setting["unit"], setting["upsample"])
    if setting["scores"] == "ranks":
        explanations = {key: ranks(scores) for key, scores in explanations.items()}
    queued = {
        key: grouped_five.later(perturber, scores, labels=asked.labels, **grouping)
        for key, scores in explanations.items()
    }
    return pd.concat([frame(asked, perturber, *key, values()) for key, values in queued.items()], ignore_index=True)


def frame(asked, perturber, method, draw, values):
    return pd.DataFrame(
        {
            "input": asked.chosen.ids,
            "label": asked.chosen.labels,
            "predicted": perturber.predicted.cpu(),
            "p_full": perturber.full.cpu(),
            "method": method,
            "draw": draw,
        }
        | {name: value.cpu().double() for name, value in values.items()}
    )


# %% [markdown]
# ## A few images to look at
#
# Their pixels from 0 to 1 as the model sees them, the maps of all explanations and the first model's outputs, group
# by group: nothing is run again.


# %%
def looked_at(asked, model, wanted):
    """Tables, by name, of the first `wanted` images of a batch."""
    perturber, shown = asked.perturber("pixel", MAIN["erase"]), asked.chosen[:wanted]
    side = asked.cut("pixel").pixels.shape[-1]
    maps, steps = [], []
    for (method, draw), scores in asked.explanations("pixel", MAIN["upsample"]).items():
        if draw:
            continue
        group = salience_groups(scores, 10, perturber.feature_mask)
        stepwise = saco_steps(perturber, scores, labels=asked.labels, **GROUPING)
        for i, picture in enumerate(shown.ids):
            maps.append(
                pd.DataFrame({"input": picture, "method": method, "score": scores[i].cpu(), "group": group[i].cpu()})
                .reset_index(names="pixel")
                .assign(side=side)
            )
            steps.append(
                pd.DataFrame(
                    {
                        "input": picture,
                        "method": method,
                        "group": range(1, 11),
                        "salience": stepwise.salience[i].cpu(),
                        "alone": stepwise.alone[i].cpu(),
                        "together": (stepwise.morf[i, :1] - stepwise.morf[i, 1:]).cpu(),
                    }
                )
            )
    look = timm.data.resolve_model_data_config(asked.model)
    mean, std = (torch.tensor(look[key], device=device) for key in ("mean", "std"))
    pixels = asked.cut("pixel").pixels[: len(shown)].permute(0, 2, 3, 1).mul(std).add(mean).clamp(0, 1)
    pixels = pixels.reshape(len(shown), side * side, -1).cpu()
    seen = [
        pd.DataFrame(values.numpy(), columns=[f"channel{c}" for c in range(values.shape[1])])
        .reset_index(names="pixel")
        .assign(
            input=picture,
            label=shown.label_names[label],
            predicted=shown.label_names[predicted],
            p_full=p_full,
        )
        for picture, values, label, predicted, p_full in zip(
            shown.ids,
            pixels,
            shown.labels,
            perturber.predicted[: len(shown)].tolist(),
            perturber.full[: len(shown)].tolist(),
            strict=True,
        )
    ]
    return {
        "saco_maps": pd.concat(maps, ignore_index=True).assign(dataset=named),
        "saco_steps": pd.concat(steps, ignore_index=True).assign(dataset=named, model=model),
        "saco_pictures": pd.concat(seen, ignore_index=True).assign(dataset=named, model=model, side=side),
    }


# %% [markdown]
# ## Batch by batch, every model: the main setting
#
# The first images also go through other numbers of groups, for SaCo alone, and the first ones with the first model
# through the other settings, in the same batches. Rows that the main setting has run are known already. The memory
# of a batch is free after it.


# %%
METRICS = ["saco", "auc", "aopc_morf", "aopc_lerf", "log_odds"]


def batches():
    """The places of each batch of images; none has both images that go through more than the main setting and ones
    that do not."""
    more = [settings[name] for name in ("varied_pictures", "grouped_pictures")]
    for first, last in pairwise(sorted({0, *(min(one, len(pictures)) for one in more), len(pictures)})):
        for start in range(first, last, settings["batch"]):
            yield slice(start, min(start + settings["batch"], last))


def save_main(asked, model):
    """The main setting of a batch."""
    main = measured(asked, MAIN).assign(dataset=named, model=model)
    run.add(main.assign(output="probability", k=10), "saco_scores")
    run.add_units(as_units(main, seed=0, metrics=METRICS, keys=["dataset", "model", "draw"]))


def save_groups(asked, model):
    """SaCo alone for each other number of groups."""
    perturber = asked.perturber("pixel", MAIN["erase"])
    explanations = asked.explanations("pixel", MAIN["upsample"])
    queued = {
        (k, key): grouped_alone.later(perturber, scores, k=k, **GROUPING)
        for k in settings["group_counts"]
        for key, scores in explanations.items()
    }
    frames = [
        frame(asked, perturber, *key, {"saco": values()}).assign(model=model, k=k)
        for (k, key), values in queued.items()
    ]
    groups = pd.concat(frames, ignore_index=True).assign(dataset=named)
    run.add_units(as_units(groups, seed=0, metrics=["saco"], keys=["dataset", "model", "draw", "k"]), "groups")


def save_varied(asked, model):
    """Every setting that differs from the main one in one thing."""
    frames = [
        measured(asked, MAIN | change).assign(setting=setting, model=model) for setting, change in VARIANTS.items()
    ]
    varied = pd.concat(frames, ignore_index=True).assign(dataset=named)
    run.add_units(as_units(varied, seed=0, metrics=METRICS, keys=["dataset", "model", "draw", "setting"]), "settings")


# %%
first = next(iter(specs))
chosen = {name: spec for name, spec in specs.items() if model in ("", name)}
classifiers = {name: load_model(spec) for name, spec in chosen.items()}
for classifier in classifiers.values():
    classifier.check_classes(pictures)
    classifier.model.to(device)
for rows in tqdm(run.shared(list(batches())), desc="batches"):
    for name, classifier in classifiers.items():
        asked = Asked(classifier.model, pictures[rows])
        save_main(asked, name)
        if rows.start < settings["grouped_pictures"]:
            save_groups(asked, name)
        if rows.start < settings["varied_pictures"] and name == first:
            save_varied(asked, name)
        if rows.start < (examples := settings["examples"]) and name == first:
            for table, rows_of_table in looked_at(asked, name, examples - rows.start).items():
                run.add(rows_of_table, table)
        run.count(**costs(*asked.perturbers.values()))
    run.count(n=len(asked.chosen))

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
