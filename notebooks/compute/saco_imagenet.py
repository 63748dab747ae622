# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: where the encoder of photographs attends in pictures of ImageNet
#
# Of ImageNet twenty pictures can be had here, and no classifier: nothing of study 2 can be measured on them. What can be
# looked at are maps that explain no class: attention itself, of the encoder as its package has it, at 224 pixels.

# %% tags=["parameters"]
profile = "laptop"
dataset = "imagenet-few"

# %%
import pandas as pd
import timm.data
import torch
from scipy.stats import spearmanr

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models import vit_s14
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.attribution import attribute
from faithlib.masks import salience_groups

run = start_run("saco_imagenet", profile=profile, dataset=dataset)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
SIDE, GROUPS = 224, 10
METHODS = ("raw_attention", "rollout")
network = vit_s14.vit_s14(side=SIDE).to(device)
data = load_pictures(dataset, "test", n=settings["pictures"])
look = timm.data.resolve_model_data_config(network)
mean, std = (torch.tensor(look[key]).view(3, 1, 1) for key in ("mean", "std"))

# %% [markdown]
# ## Pictures as the encoder sees them, and their maps in ten groups
#
# Group 0 has the tenth of the pixels with the highest scores. How alike the two maps are: Spearman's rank correlation of
# their pixels' scores.

# %%
for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    inputs = as_inputs(block, network).to(device)
    seen = inputs.pixels.cpu().mul(std).add(mean).clamp(0, 1).mul(255).round().byte()
    for picture, label, pixels in zip(block.ids, block.labels, seen, strict=True):
        channels = {f"channel{c}": values.flatten().numpy() for c, values in enumerate(pixels)}
        about = {"input": picture, "label": data.label_names[label], "side": SIDE}
        run.add(pd.DataFrame(channels).rename_axis("pixel").reset_index().assign(**about), "imagenet_pictures")
    scores = {method: attribute(method, network, inputs, upsample="bilinear").cpu() for method in METHODS}
    alike = [spearmanr(*both).statistic for both in zip(*scores.values(), strict=True)]
    alike = pd.DataFrame({"input": block.ids, "method": " and ".join(METHODS), "rank_correlation": alike})
    run.add(alike, "imagenet_alike")
    run.add_units(as_units(alike, seed=0, metrics=["rank_correlation"]))
    for method in METHODS:
        for picture, found in zip(block.ids, salience_groups(scores[method], GROUPS), strict=True):
            table = pd.DataFrame({"group": found.numpy().astype("uint8")}).rename_axis("pixel").reset_index()
            run.add(table.assign(input=picture, method=method), "imagenet_maps")
    run.count(n=len(block))

# %%
run.note(dtype="float32", device=device)
run.finish()
