# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: SaCo and four other metrics of a convolutional network on images of ImageNet
#
# Study 2 is about ImageNet. Its transformers are not available from here, but a convolutional network of the same thousand
# classes is: EfficientNet-Lite0. Its correct predictions are explained by methods for any image classifier (Grad-CAM
# was made for such networks), and scored as in `saco_metrics`. Features are patches of 32 pixels, 7 x 7 in an image of
# 224 x 224, as many as the last features of the network have places.

# %% tags=["parameters"]
profile = "laptop"
dataset = "imagenet-few"
# Your choices: None is what the profile says.
pictures = None  # images, such as 10
ig_steps = None  # points of the path of integrated gradients
lime_samples = None  # copies of an image for LIME
permutations = None  # orders of the patches for Shapley values
random_draws = None  # drawings of random scores
group_counts = None  # other numbers of groups, such as [5, 20]

# %%
import pandas as pd
import timm.data
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.attribution import attribute
from faithlib.evaluation import saco_of_groups, saco_scores
from faithlib.masks import salience_groups
from faithlib.perturb import Perturber, costs

run = start_run(
    "saco_imagenet",
    profile=profile,
    dataset=dataset,
    pictures=pictures,
    ig_steps=ig_steps,
    lime_samples=lime_samples,
    permutations=permutations,
    random_draws=random_draws,
    group_counts=group_counts,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
PATCH, GROUPS, MODEL = 32, 10, "lite0"
classifier = load_model(settings["model"])
network = classifier.model.to(device)
data = load_pictures(dataset, "test", n=settings["pictures"], sample=settings["sample"])
look = timm.data.resolve_model_data_config(network)
mean, std = (torch.tensor(look[key]).view(3, 1, 1) for key in ("mean", "std"))

# %% [markdown]
# ## Correct predictions, explained
#
# Integrated gradients and the methods that erase explain the probability of the predicted class, Grad-CAM its logit, as
# in `saco_metrics`. Random scores are drawn a few times: `draw` numbers the drawings, everything else has draw 0.

# %%
METHODS = {
    "integrated_gradients": {"n_steps": settings["ig_steps"]},
    "grad_cam": {},
    "occlusion": {},
    "lime": {"n_samples": settings["lime_samples"], "seed": 0},
    "shapley_sampling": {"n_samples": settings["permutations"], "seed": 0},
}
ERASING = ("occlusion", "lime", "shapley_sampling")  # these ask the perturber of the metrics


def explained(inputs, perturber):
    """Scores [B, F] of every explanation, by (method, draw)."""
    by_draw = {}
    for method, options in METHODS.items():
        asked = {"perturber": perturber} if method in ERASING else {}
        by_draw[method, 0] = attribute(method, network, inputs, **options, **asked)
    for draw in range(settings["random_draws"]):
        by_draw["random", draw] = attribute("random", None, inputs, seed=draw).to(device)
    return by_draw


def frame(block, method, draw, values):
    """One row per image with its values."""
    about = {"input": block.ids, "dataset": "imagenet", "model": MODEL, "method": method, "draw": draw}
    return pd.DataFrame(about | {name: value.cpu().double() for name, value in values.items()})


# %% [markdown]
# ## Block by block
#
# With $s_i$ the mean score of the pixels in group $i$ and $d_i$ the drop of the predicted class's probability when that group is
# erased (Eq. 1 and 2; the paper has sums, which differ by a factor where groups are of one size),
#
# $$\text{SaCo} = \frac{\sum_{i<j} \pm (s_i - s_j)}{\sum_{i<j} |s_i - s_j|}, \quad \text{with } + \text{ where } d_i \geq d_j
# \text{ and } - \text{ elsewhere (Eq. 3).}$$
#
# Ten groups of patches, equal scores in reading order, the mean of the image instead of what is erased; SaCo also
# for other numbers of groups. Whether a prediction is right is kept for all images. Images and maps are for a
# reader's own run: their tables stay in the folder of results.

# %%
METRICS = ["saco", "auc", "aopc_morf", "aopc_lerf", "log_odds"]
GROUPING = {"remainder": "spread", "ties": "position", "reduce": "mean"}
KEYS = ["dataset", "model", "draw"]


def answered(block):
    """The class that the network takes each image for."""
    with torch.no_grad():
        return network(as_inputs(block, network).pixels.to(device)).argmax(dim=1).cpu()


def save_shown(block, inputs, perturber, scores):
    """Tables of a block's images, each with its label and probability, and of the groups of every map."""
    seen = inputs.pixels.cpu().mul(std).add(mean).clamp(0, 1).mul(255).round().byte()
    feature_of = inputs.feature_of.flatten().cpu()
    for place, (picture, pixels) in enumerate(zip(block.ids, seen, strict=True)):
        channels = {f"channel{c}": values.flatten().numpy() for c, values in enumerate(pixels)}
        about = {"input": picture, "label": classifier.label_names[block.labels[place]], "side": pixels.shape[-1]}
        about |= {"p_full": perturber.full[place].item()}
        run.add(pd.DataFrame(channels).rename_axis("pixel").reset_index().assign(**about), "imagenet_pictures")
        for (method, draw), score in scores.items():
            if not draw:
                group = salience_groups(score[place : place + 1], GROUPS)[0].cpu()[feature_of].numpy().astype("uint8")
                table = pd.DataFrame({"group": group}).rename_axis("pixel").reset_index()
                run.add(table.assign(input=picture, method=method), "imagenet_maps")


shown = 0
for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    right = answered(block) == torch.tensor(block.labels)
    run.add_units(
        as_units(
            pd.DataFrame({"input": block.ids, "dataset": "imagenet", "model": MODEL, "right": right.double()}),
            seed=0,
            metrics=["right"],
            keys=["dataset", "model"],
        ),
        "answers",
    )
    block = block.at(right.nonzero()[:, 0].tolist())
    run.count(n=len(block))
    if not len(block):
        continue
    inputs = as_inputs(block, network, patch=PATCH).to(device)
    perturber = Perturber(network, inputs, erase="mean")
    labels = torch.tensor(block.labels, device=device)
    scores = explained(inputs, perturber)
    for (method, draw), score in scores.items():
        values = saco_scores(perturber, score, labels=labels, k=GROUPS, **GROUPING)
        run.add_units(as_units(frame(block, method, draw, values), seed=0, metrics=METRICS, keys=KEYS))
        for k in settings["group_counts"]:
            of_method = {"saco": saco_of_groups(perturber, score, k=k, **GROUPING)}
            counted = frame(block, method, draw, of_method).assign(k=k)
            run.add_units(as_units(counted, seed=0, metrics=["saco"], keys=[*KEYS, "k"]), "groups")
    if shown < settings["examples"]:
        save_shown(block, inputs, perturber, scores)
        shown += len(block)
    run.count(**costs(perturber))

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# SaCo and AOPC (most relevant patches first) by method. `random` is what scores get that know nothing. *Book*: the full run's mean.
# `notebooks/report/saco_photographs.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, metrics=["saco", "aopc_morf"])
