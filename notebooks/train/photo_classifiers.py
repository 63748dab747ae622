# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Train: one classifier of photographs
#
# Trains the classifier of one set of photographs, measures it on the test split and saves it as a checkpoint, which all
# computations then load. What may be changed is in the second cell: data set, model, seed, how many images, and where to save; set
# `folder`, or the checkpoint that the book's numbers come from is replaced.
#
# A head and, except for `head`, a rank-8 LoRA adapter on every linear layer of the blocks of ViT-S/14, in
# `data/checkpoints/photo/<dataset>-<model>-seed<seed>`. Three trainings of one encoder, neither replicates nor three
# independent models: `lora`; `head`, a logistic regression on the class token of the encoder as it is; `lora-deit`, the adapter with the recipe
# of Touvron et al. (2021): mixup, cutmix, random erasing, label smoothing, stochastic depth.
#
# Training can be stopped at any moment and started again with the same outcome. What is drawn in a step depends on the
# seed and the step alone, and the state is kept beside the checkpoint until it is whole. The last step is kept; the test
# split is read once, at the end.

# %% tags=["parameters"]
profile = "full"
dataset = "cifar10"
model = "lora"
seed = 0
folder = ""  # where to save, in place of data/checkpoints/...
limit = 0  # at most that many pictures of each split; 0: as many as the profile says

# %%
import json
import os
import platform
import random
import time
from pathlib import Path

import numpy as np
import peft
import safetensors.torch
import timm
import timm.data
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn import functional
from tqdm.auto import tqdm

from faithbook.engine.studies import settings_of
from faithbook.engine.trained import checkpoint_folder
from faithbook.models import vit_s14
from faithbook.models.image_training import (
    Recipe,
    accuracy,
    in_half_precision,
    new_checkpoint,
    schedule_of,
    write_json,
)
from faithbook.models.load import HEAD, load_model
from faithbook.models.resume import TrainingState, precision_on
from faithbook.sources.images import as_inputs, digest_of_ids, load_pictures

started = time.time()
settings = settings_of("photo_classifiers", profile)
training = settings["training"][dataset]
how = settings["models"][model] | training.get("otherwise", {})
epochs, rank = training["epochs"][model], how["rank"]
target = Path(folder) if folder else checkpoint_folder("photo_classifiers", profile, dataset, model, seed)
sizes = {split: min(limit, size) if limit else size for split, size in training["pictures"].items()}
# The first ones of the cut, so that a machine that holds these alone has the same.
train, dev = (load_pictures(dataset, split)[: sizes[split]] for split in ("train", "dev"))
test = load_pictures(dataset, "test", n=sizes["test"], sample="all")

# %% [markdown]
# ## Model

# %%
torch.manual_seed(seed)
device = "cuda" if torch.cuda.is_available() else "cpu"
precision = getattr(torch, precision_on(device))
network = vit_s14.vit_s14(side=settings["side"], classes=len(train.label_names), drop_path=how["drop_path"])
look = timm.data.resolve_model_data_config(network)
if rank:
    lora = peft.LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        target_modules=r"blocks\.\d+\.(attn\.(qkv|proj)|mlp\.(fc1|fc2))",
        modules_to_save=["head"],
    )
    network = peft.get_peft_model(network, lora)
network = network.to(device)

# %% [markdown]
# ## Batches
#
# Made as large as the encoder sees them, flipped and shifted at random; what a shift leaves empty is mirrored.

# %%
mean, std = (torch.tensor(look[key], device=device).view(1, -1, 1, 1) for key in ("mean", "std"))
pixels = torch.from_numpy(np.stack(train.images)).permute(0, 3, 1, 2)
labels = torch.tensor(train.labels)
recipe = Recipe(how, classes=len(train.label_names), device=device, precision=precision)


def seen(rows, flipped, corners):
    batch, side = pixels[rows].to(device).float() / 255, settings["side"]
    batch = functional.interpolate(batch, side, mode="bicubic", antialias=True).clamp(0, 1)
    batch = torch.where(flipped.to(device)[:, None, None, None], batch.flip(-1), batch).sub(mean).div(std)
    around = functional.pad(batch, (how["shift"],) * 4, mode="reflect")
    cut = [picture[:, y : y + side, x : x + side] for picture, (y, x) in zip(around, corners.tolist(), strict=True)]
    return torch.stack(cut)


def loss_of(rows):
    corners = torch.randint(2 * how["shift"] + 1, (len(rows), 2))
    batch = seen(rows, torch.rand(len(rows)) < 0.5, corners)
    return recipe.loss(network, batch, labels[rows].to(device))


def inputs_of(part):
    return as_inputs(part, bare).pixels.to(device)


bare = vit_s14.vit_s14(side=settings["side"])  # tells how pictures are prepared

# %% [markdown]
# ## Training the adapter

# %%
batch_size = min(how["batch_size"], len(train) // 2 * 2)
steps_an_epoch = len(train) // batch_size
steps = epochs * steps_an_epoch
training_state = TrainingState(target, [how, epochs, settings["side"], limit, train.digest])
history, first, spent = [], 0, 0.0


def learnt():
    """What training has changed."""
    return peft.get_peft_model_state_dict(network)


def keep(step):
    training_state.save(
        network=learnt(),
        optimiser=optimiser.state_dict(),
        schedule=schedule.state_dict(),
        history=history,
        step=step,
        seconds=spent + time.time() - started,
    )


if rank:
    trained = [p for p in network.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=float(how["learning_rate"]), weight_decay=how["weight_decay"])
    schedule = schedule_of(optimiser, steps)
    state = training_state.state()
    if state:
        peft.set_peft_model_state_dict(network, state["network"])
        optimiser.load_state_dict(state["optimiser"])
        schedule.load_state_dict(state["schedule"])
        history, first, spent = state["history"], state["step"], state["seconds"]
    for step in tqdm(range(first, steps), initial=first, total=steps, desc=target.name, unit="step", mininterval=30):
        epoch, place = divmod(step, steps_an_epoch)
        order = torch.randperm(len(train), generator=torch.Generator().manual_seed(1000 * seed + epoch))
        drawn = 1_000_000 * seed + step
        torch.manual_seed(drawn)
        np.random.seed(drawn)  # noqa: NPY002 - timm's mixup draws from NumPy's global generator
        random.seed(drawn)  # and its erasing from Python's
        network.train()
        loss_of(order[place * batch_size : (place + 1) * batch_size]).backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        if place == steps_an_epoch - 1:
            history.append(accuracy(network, dev, inputs_of, batch=100))
            print(f"{target.name} epoch {epoch + 1}: dev accuracy {history[-1]:.4f}", flush=True)
        if place == steps_an_epoch - 1 or (step + 1) % settings["keep_every"] == 0:
            keep(step + 1)

# %% [markdown]
# ## Training the head alone
#
# The encoder stays as it is, so what it says of each image is worked out once. How strongly the head is held small is
# chosen on the development split.


# %%
@torch.inference_mode()
def features(data, batches):
    """What the encoder says of images; `batches`, of the first ones, is filled up and kept."""
    network.eval()
    for start in tqdm(range(100 * len(batches), len(data), 100), desc=f"features of {data.split}", mininterval=30):
        tokens = network.forward_features(inputs_of(data[start : start + 100]))
        batches.append(network.forward_head(tokens, pre_logits=True).cpu().clone())  # no view of all tokens
        training_state.save(**so_far | {"seconds": spent + time.time() - started})
    return torch.cat(batches).numpy()


if not rank:
    so_far = training_state.state() or {"train": [], "dev": [], "seconds": 0.0}
    spent = so_far["seconds"]
    known, asked = features(train, so_far["train"]), features(dev, so_far["dev"])
    scale = known.std()  # one number, so that the regression converges and the head stays a plain linear layer
    heads = {}
    for strength in how["strengths"]:
        fitted = LogisticRegression(C=strength, max_iter=500).fit(known / scale, train.labels)
        heads[strength] = fitted, float((fitted.predict(asked / scale) == np.array(dev.labels)).mean())
        print(f"{target.name} C {strength}: dev accuracy {heads[strength][1]:.4f}", flush=True)
    strength = max(heads, key=lambda value: heads[value][1])
    chosen, reached = heads[strength]
    history = [reached]
    fit = torch.zeros(len(train.label_names), known.shape[1]), torch.full((len(train.label_names),), -30.0)
    for row, label in enumerate(chosen.classes_):  # a class without a picture, in a trial with few, is never answered
        fit[0][label], fit[1][label] = torch.tensor(chosen.coef_[row] / scale), float(chosen.intercept_[row])

# %% [markdown]
# ## Save in half precision, then measure what was saved
#
# Accuracy is that of the saved weights, loaded as every reader loads them, in float32.

# %%
with new_checkpoint(target) as part:
    if rank:
        halves = in_half_precision(learnt())
        safetensors.torch.save_file(halves, part / "adapter_model.safetensors")
        adapter_config = network.peft_config["default"].to_dict() | {
            "base_model_name_or_path": vit_s14.NAME,
            "inference_mode": True,
        }
        adapter_config = {k: sorted(v) if isinstance(v, set) else v for k, v in adapter_config.items()}
        (part / "adapter_config.json").write_text(
            json.dumps(adapter_config, indent=1, sort_keys=True, default=str) + "\n"
        )
    else:
        halves = in_half_precision({"weight": fit[0], "bias": fit[1]})
        safetensors.torch.save_file(halves, part / HEAD)
    config = {
        "architecture": vit_s14.ARCHITECTURE,
        "adapter_of": settings["encoder"],
        "side": settings["side"],
        "num_classes": len(train.label_names),
        "label_names": list(train.label_names),
    }
    write_json(part / "config.json", config)
    card = {
        "dataset": dataset,
        "classifier": model,
        "seed": seed,
        "adapter_of": settings["encoder"],
        "parameters": sum(p.numel() for p in bare.parameters()) + len(train.label_names) * (bare.embed_dim + 1),
        "trained_parameters": sum(value.numel() for value in halves.values()),
        "data_digest": digest_of_ids(train.ids),
        "train_size": len(train),
        "dev_size": len(dev),
        "test_size": len(test),
        "hyperparameters": {**how, "epochs": epochs, "precision": str(precision), "optimiser": "AdamW"}
        if rank
        else {"strength": strength, "optimiser": "L-BFGS (logistic regression)"},
        "dev_accuracy": history,
    }
    write_json(part / "card.json", card)
    saved = load_model(f"local:{part.resolve()}").model.to(device)
    card |= {
        "accuracy": accuracy(saved, test, inputs_of, batch=100),
        "wall_seconds": round(spent + time.time() - started),
        "versions": {"torch": torch.__version__, "timm": timm.__version__, "peft": peft.__version__},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {device}",
    }
    write_json(part / "card.json", card)
training_state.drop()
print(f"{target.name}: accuracy {card['accuracy']:.4f}, {card['wall_seconds']} s")
