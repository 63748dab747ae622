# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Train: one Vision Transformer
#
# Trains the classifier of one set of images, measures it on the test split and saves it as a checkpoint, which all computations
# then load. What may be changed is in the second cell: data set, model, seed, how many images, and where to save; set `folder`, or
# the checkpoint that the book's numbers come from is replaced.
#
# With the settings for substitute data (`laptop`): a small timm VisionTransformer, in
# `data/checkpoints/vision/<dataset>-<model>-seed<seed>`, from random weights for Fashion-MNIST and from that model for the
# two smaller data sets, as the paper's CIFAR models start from ImageNet's. The models are `base`, `large` (deeper and wider) and `deit` (base with the
# recipe of Touvron et al. 2021: mixup, cutmix, random erasing, label smoothing, stochastic depth) mirror ViT-B, ViT-L and
# DeiT-B in miniature. With the paper's (`paper`): the paper's pretrained checkpoint, fine-tuned on CIFAR, whose
# fine-tunes the authors did not publish. The last epoch is kept; the test split is read once, at the end.
#
# Training can be stopped and started: the state after every epoch is kept beside the checkpoint until it is whole.

# %% tags=["parameters"]
profile = "laptop"
dataset = "fashion"
model = "base"
seed = 0
folder = ""  # where to save, in place of data/checkpoints/...
limit = 0  # at most that many pictures of each split; 0: all

# %%
import os
import platform
import random
import time
from pathlib import Path

import numpy as np
import safetensors.torch
import timm
import timm.data
import torch
from torch.nn import functional
from tqdm.auto import tqdm

from faithbook.engine.studies import settings_of
from faithbook.engine.trained import checkpoint_folder
from faithbook.models.image_training import (
    Recipe,
    accuracy,
    in_half_precision,
    new_checkpoint,
    schedule_of,
    write_json,
)
from faithbook.models.load import load_model
from faithbook.models.resume import TrainingState, precision_on
from faithbook.sources.images import as_inputs, load_pictures

started = time.time()
torch.manual_seed(seed)
settings = settings_of("vision_classifiers", profile)
architecture = settings["architectures"][model]
training = settings["training"][dataset] | architecture.get("training", {})
epochs = training["epochs"][model] if isinstance(training["epochs"], dict) else training["epochs"]
target = Path(folder) if folder else checkpoint_folder("vision_classifiers", profile, dataset, model, seed)
SPLITS = ("train", "dev", "held_out")
train, dev, held_out = (load_pictures(dataset, split, n=limit or None, sample="all") for split in SPLITS)

# %% [markdown]
# ## Model
#
# What the images must look like (size, mean, deviation) goes into the model's own timm configuration, so that readers
# prepare images by asking the model.

# %%
pretrained = settings["pretrained"]
pixels = np.stack([np.asarray(image) for image in train.images])
channels = 1 if pixels.ndim == 3 else 3
axes = (0, 1, 2)
shape = {"input_size": [channels, *pixels.shape[1:3]]}
look = shape | {
    "mean": [round(float(x), 4) for x in np.atleast_1d(pixels.mean(axes) / 255)],
    "std": [round(float(x), 4) for x in np.atleast_1d(pixels.std(axes) / 255)],
    "crop_pct": 1.0,
    "interpolation": "bicubic",
}
model_args = dict(architecture["arguments"])
if not pretrained:
    model_args |= {"img_size": pixels.shape[1], "in_chans": channels}
network = timm.create_model(
    architecture["name"],
    num_classes=len(train.label_names),
    drop_path_rate=training["drop_path"],
    pretrained_cfg_overlay={} if pretrained else look,
    **model_args,
)
learned = {}
if pretrained:  # at the commit that data/artifacts.toml names; timm by itself takes the newest, pickled or not
    learned = load_model(f"timm:{architecture['name']}").model.state_dict()
elif training["start_from"]:
    earlier = checkpoint_folder("vision_classifiers", profile, training["start_from"], model, seed)
    learned = safetensors.torch.load_file(earlier / "model.safetensors")
# All but the head, which has other classes.
network.load_state_dict({k: v for k, v in learned.items() if not k.startswith("head.")}, strict=False)
device = "cuda" if torch.cuda.is_available() else "cpu"
network = network.to(device)
made_for = timm.data.resolve_model_data_config(network)
size = made_for["input_size"][-1]

# %% [markdown]
# ## Batches
#
# Shifted by up to `shift` pixels and, where a mirror image is still the same thing (not so for digits), flipped.

# %%
mean, std = (torch.tensor(made_for[key], device=device).view(1, -1, 1, 1) for key in ("mean", "std"))
half = precision_on(device) == "bfloat16" if device == "cuda" else training["bfloat16"]
precision = torch.bfloat16 if half else torch.float32
recipe = Recipe(training, classes=len(train.label_names), device=device, precision=precision)
np.random.seed(seed)  # noqa: NPY002 - timm's mixup draws from NumPy's global generator
random.seed(seed)  # and its erasing from Python's


def normalised(rows):
    batch = torch.as_tensor(np.stack([train.images[i] for i in rows]), device=device).float() / 255
    batch = batch[:, None] if batch.ndim == 3 else batch.permute(0, 3, 1, 2)
    if batch.shape[-1] != size:
        batch = functional.interpolate(batch, size, mode="bicubic", antialias=True).clamp(0, 1)
    return (batch - mean) / std


def augmented(batch, generator):
    reach = training["shift"]
    edge = batch.amin(dim=(2, 3), keepdim=True)  # the darkest value of a picture continues it beyond its edge
    padded = functional.pad(batch - edge, (reach,) * 4) + edge
    moves = torch.randint(0, 2 * reach + 1, (len(batch), 2), generator=generator).tolist()
    flips = torch.rand(len(batch), generator=generator) < 0.5
    side = batch.shape[-1]
    moved = torch.stack(
        [padded[i, :, down : down + side, across : across + side] for i, (down, across) in enumerate(moves)]
    )
    if training["flip"]:
        moved = torch.where(flips.to(device)[:, None, None, None], moved.flip(-1), moved)
    return moved


# %% [markdown]
# ## Training

# %%
generator = torch.Generator().manual_seed(seed)
labels = torch.tensor(train.labels)
batch_size = min(training["batch_size"], len(train))
steps_an_epoch = len(train) // batch_size
steps = epochs * steps_an_epoch
decayed = [p for p in network.parameters() if p.ndim > 1]
others = [p for p in network.parameters() if p.ndim <= 1]
optimiser = torch.optim.AdamW(
    [{"params": decayed, "weight_decay": training["weight_decay"]}, {"params": others, "weight_decay": 0.0}],
    lr=float(training["learning_rate"]),
)
schedule = schedule_of(optimiser, steps)


def loss_of(rows):
    return recipe.loss(network, augmented(normalised(rows), generator), labels[rows].to(device))


def accuracy_on(data, classifier):
    return accuracy(classifier, data, lambda part: as_inputs(part, classifier).pixels.to(device), batch=250)


# %%
training_state = TrainingState(target, [training, epochs, limit, train.digest])
history, first, spent = [], 0, 0.0
state = training_state.state()
if state:
    network.load_state_dict(state["network"])
    optimiser.load_state_dict(state["optimiser"])
    schedule.load_state_dict(state["schedule"])
    generator.set_state(state["generator"])
    history, first, spent = state["history"], state["epoch"], state["seconds"]
    np.random.seed(seed + first)  # noqa: NPY002
    random.seed(seed + first)
network.train()
with tqdm(total=steps, initial=first * steps_an_epoch, desc=target.name, unit="step", mininterval=10) as bar:
    for epoch in range(first, epochs):
        order = torch.randperm(len(train), generator=generator)
        for rows in order[: steps_an_epoch * batch_size].split(batch_size - batch_size % 2):
            loss_of(rows).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            bar.update()
        history.append(accuracy_on(dev, network))
        print(f"{target.name} epoch {epoch + 1}: dev accuracy {history[-1]:.4f}", flush=True)
        training_state.save(
            network=network.state_dict(),
            optimiser=optimiser.state_dict(),
            schedule=schedule.state_dict(),
            generator=generator.get_state(),
            history=history,
            epoch=epoch + 1,
            seconds=spent + time.time() - started,
        )

# %% [markdown]
# ## Save in half precision, then measure what was saved
#
# In the layout that timm reads: weights as safetensors, `config.json` beside them. Accuracy is that of the saved weights,
# loaded as every reader loads them, in float32.

# %%
with new_checkpoint(target) as part:
    safetensors.torch.save_file(in_half_precision(network.state_dict()), part / "model.safetensors")
    config = {
        "architecture": architecture["name"],
        "num_classes": len(train.label_names),
        "model_args": {k: int(v) for k, v in model_args.items()},
        "pretrained_cfg": {key: value for key, value in made_for.items() if key in look} | {"crop_pct": 1.0},
        "label_names": list(train.label_names),
    }
    write_json(part / "config.json", config)
    loaded = load_model(f"timm:{part.resolve()}").model.to(device)
    whole = accuracy_on(held_out, loaded)
    card = {
        "dataset": dataset,
        "classifier": model,
        "seed": seed,
        "label_names": list(train.label_names),
        "parameters": sum(p.numel() for p in network.parameters()),
        "data_digest": train.digest,
        "train_size": len(train),
        "dev_size": len(dev),
        "test_size": len(held_out),
        "hyperparameters": training | {"epochs": epochs, "optimiser": "AdamW", "precision": str(precision)},
        "dev_accuracy": history,
        "accuracy": whole,
        "shipped_test_accuracy": accuracy_on(load_pictures(dataset, "test", n=limit or None, sample="all"), loaded),
        "wall_seconds": round(spent + time.time() - started),
        "versions": {"torch": torch.__version__, "timm": timm.__version__},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {device}",
    }
    write_json(part / "card.json", card)
training_state.drop()
print(f"{target.name}: accuracy {whole:.4f}, {card['wall_seconds']} s")
