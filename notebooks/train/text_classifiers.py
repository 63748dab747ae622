# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Train: one text classifier
#
# Trains the classifier of one data set, measures it on the test split and saves it as a checkpoint, which all computations then
# load. What may be changed is in the second cell: data set, seed, model, encoder, how many texts, and where to save; set `folder`,
# or the checkpoint that the book's numbers come from is replaced.
#
# With the settings for substitute data (`laptop`): a rank-8 LoRA adapter on every linear layer of all-MiniLM-L6-v2 and a new
# classification head, in `data/checkpoints/text/<dataset>-seed<seed>`. With the paper's (`paper`, Table 5): all weights
# of the paper's encoder, two learning rates, in `data/checkpoints/paper/<dataset>-seed<seed>`. With `classifier` set,
# another model of the same data (`training_of` in the profile: a smaller encoder, an LSTM, adversarial training) in
# `data/checkpoints/text/<dataset>-<classifier>-seed<seed>`. `messages` are learnt in English alone, by
# multilingual-e5-small, and read in nine languages; with the paper's settings `mnli` takes their place. The papers' own
# `sst`, `ag`, `evinf` and `multirc` are learnt by the small encoder as well, from the parts that are available, and `nli`
# (English pairs of SNLI and XNLI) by multilingual-e5-small. Texts that nearly repeat one of a later split are left out, and
# counted in the card. `learnt` and `tested` of the settings: a fixed random sample of so many texts. The epoch with the
# lowest loss on the development split is kept (the last one where training is adversarial); the test split is read once,
# at the end.
#
# Training can be stopped and started: the state after every epoch is kept beside the checkpoint until it is whole. With
# `stop_after` only so many epochs of the schedule are made.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
seed = 0
classifier = ""  # l3, lstm, robust, mpnet, mpnet-tuned, six or whole-six; nothing: the data set's own
precision = "auto"  # of the passes; auto: bfloat16 on a GPU and where a processor is faster in it, else float32
encoder = ""  # a folder or hub id in place of the profile's encoder
folder = ""  # where to save, in place of data/checkpoints/...
limit = 0  # at most that many texts of each split; 0: all

# %%
import copy
import json
import math
import os
import platform
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import peft
import safetensors.torch
import torch
import transformers
from sklearn.metrics import balanced_accuracy_score, f1_score
from tqdm.auto import tqdm

from faithbook import hub
from faithbook.artifacts import encoder_called
from faithbook.engine.studies import recipes
from faithbook.engine.trained import checkpoint_folder
from faithbook.models.adversarial import EmbeddingShift, worst_shift
from faithbook.models.encoders import encoder_folder, word_embeddings
from faithbook.models.load import load_model
from faithbook.models.lstm import LstmClassifier
from faithbook.models.resume import TrainingState, precision_on
from faithbook.models.training import Forward, adapted, batches, encode, pretrained
from faithbook.sources import home_assistant, nli_sets
from faithbook.sources.datasets import load_dataset, load_parallel, splits_to_learn
from faithlib.errors import unknown

started = time.time()
torch.manual_seed(seed)
known = recipes("text_classifiers", profile)  # what all studies say
MEASURED_ON = {"mnli": "xnli"}  # the labels of MNLI's own test split are not public
by_dataset, by_classifier = known["training"], {"": {}} | known["training_of"]
if dataset not in by_dataset:
    raise unknown(f"data set of the profile {profile}", dataset, by_dataset)
if classifier not in by_classifier:
    raise unknown(f"classifier of the profile {profile}", classifier, by_classifier)
training = by_dataset[dataset] | by_classifier[classifier]
epochs, batch_size, rank, hidden = (training.get(key, 0) for key in ("epochs", "batch_size", "rank", "hidden"))
target = Path(folder) if folder else checkpoint_folder("text_classifiers", profile, dataset, classifier, seed)
name = target.name
train, dev, left_out = splits_to_learn(dataset, n=limit or training.get("learnt"))
splits = ("train", "dev", "test") if left_out else ()
whole_sizes = {split: len(load_dataset(dataset, split, sample="all")) for split in splits}
tested = limit or training.get("tested")
test = load_dataset(MEASURED_ON.get(dataset, dataset), "test", n=tested, sample="all")
if "max_length" in training:  # a shorter window than the paper's, for a model that is to be run often
    train, dev, test = (replace(data, max_length=training["max_length"]) for data in (train, dev, test))
named = encoder or training["model"]
shipped = encoder_called(named)
# A model of the hub is read at the commit of data/artifacts.toml, or from where it was converted.
place = encoder_folder(shipped) if shipped else hub.folder_of(f"hf:{named}")
weights = str(place or named)
revision = None if place else hub.revision_of(f"hf:{named}")
tokenizer = transformers.AutoTokenizer.from_pretrained(weights, revision=revision)

# %% [markdown]
# ## Model

# %%
transformers.logging.set_verbosity_error()

new_network = {"classes": len(train.label_names), "revision": revision}
if hidden:
    model = LstmClassifier(
        word_embeddings(shipped), hidden=hidden, classes=len(train.label_names), dropout=training["dropout"]
    )
elif rank:
    model = adapted(weights, rank=rank, **new_network)
else:
    model = pretrained(weights, **new_network)
device = "cuda" if torch.cuda.is_available() else "cpu"
if precision == "auto":
    precision = precision_on(device)
model = model.to(device)


def state():
    """What training has changed."""
    return peft.get_peft_model_state_dict(model) if rank else model.state_dict()


# %% [markdown]
# ## Batches of similar length
#
# Shuffled first, then sorted by length within windows of some batches: little padding, still random. Where the length
# tells the class (introductions fill the model's window, abstracts do not) sorting makes batches of one class; there
# the window is one batch, which is plain shuffling.

# %%
forward = Forward(tokenizer.pad_token_id, device, precision)
learnt, held_out = encode(tokenizer, train), encode(tokenizer, dev)
labels = {"train": torch.tensor(train.labels, device=device), "dev": torch.tensor(dev.labels, device=device)}
sorted_batches = partial(batches, learnt.lengths, batch_size, window=training["sorted_batches"])

# %% [markdown]
# ## Adversarial training
#
# Where the settings name an adversary, every batch is first shifted in embedding space as far as the radius allows, in
# the direction that hurts most (`faithbook.models.adversarial`), and the model learns from the shifted batch only. The radius
# grows over the first half of the steps: at full strength from the start, the classifier of `movie` learns nothing.

# %%
adversary = training.get("adversary")
moved = EmbeddingShift(model)


def losses(rows, shift=None):
    """The loss of each of these texts, with its embeddings moved."""
    with moved.by(shift):
        return forward.losses(model, learnt, labels["train"], rows)


def attack(rows, done):
    """The shift that hurts these texts most, after so many steps."""
    sizes = torch.tensor([len(learnt.ids[row]) for row in rows], device=device)
    present = torch.arange(int(sizes.max()), device=device) < sizes[:, None]
    radius = adversary["radius"] * min(1.0, 2 * done / steps)
    size = model.config.hidden_size
    return worst_shift(lambda shift: losses(rows, shift), present, size, radius=radius, steps=adversary["steps"])


# %% [markdown]
# ## Training

# %%
generator = np.random.default_rng(seed)
steps = epochs * math.ceil(len(train) / batch_size)
trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
groups = [
    {"params": [p for name, p in trained if "classifier" not in name], "lr": float(training["learning_rate"])},
    {"params": [p for name, p in trained if "classifier" in name], "lr": float(training["learning_rate_linear"])},
]
changing = {name for name, _ in trained}
optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
# The paper warms up over a tenth of the first epoch; adapters, which start from zero, over a tenth of all steps.
warmup = steps // 10 if rank else steps // epochs // 10
schedule = transformers.get_linear_schedule_with_warmup(optimiser, warmup, steps)
best, history, first, spent = (float("inf"), None), [], 0, 0.0
training_state = TrainingState(target, [training, named, precision, limit, train.digest])
so_far = training_state.state()
if so_far:
    model.load_state_dict(so_far["model"], strict=False)
    optimiser.load_state_dict(so_far["optimiser"])
    schedule.load_state_dict(so_far["schedule"])
    generator.bit_generator.state = so_far["generator"]
    best, history, first, spent = so_far["best"], so_far["history"], so_far["epoch"], so_far["seconds"]
model.train()
with tqdm(total=steps, initial=first * (steps // epochs), desc=name, unit="step", mininterval=10) as bar:
    for epoch in range(first, training.get("stop_after", epochs)):
        for rows in sorted_batches(generator=generator):
            losses(rows, attack(rows, bar.n) if adversary else None).mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            bar.update()
        history.append(forward.mean_loss(model, held_out, labels["dev"]))
        # The development texts are not attacked, so their loss cannot choose a robust epoch: there the last one counts.
        if adversary or history[-1] < best[0]:
            best = (history[-1], copy.deepcopy(state()))
        print(f"epoch {epoch + 1}: dev loss {history[-1]:.4f}", flush=True)
        training_state.save(
            model={name: values for name, values in model.state_dict().items() if name in changing},
            optimiser=optimiser.state_dict(),
            schedule=schedule.state_dict(),
            generator=generator.bit_generator.state,
            best=best,
            history=history,
            epoch=epoch + 1,
            seconds=spent + time.time() - started,
        )

# %% [markdown]
# ## Save in half precision, then measure what was saved
#
# Everything is written beside its place and moved when whole, so a checkpoint that exists is a finished one. Accuracy
# and F1 are those of the saved weights, loaded as every reader loads them, in float32. What `messages` reach in a
# language is measured on the test messages that exist in all nine; types are not equally frequent there, so the mean over
# types is given next to it (chance: 1/5). What `nli` reaches, on the same test pairs in each of XNLI's fifteen (chance: 1/3).

# %%
part = target.with_name(target.name + ".part")
shutil.rmtree(part, ignore_errors=True)
part.mkdir(parents=True)
if rank:
    halves = {k: v.half().cpu().contiguous() for k, v in best[1].items()}
    safetensors.torch.save_file(halves, part / "adapter_model.safetensors")
    config = model.peft_config["default"].to_dict() | {"base_model_name_or_path": shipped, "inference_mode": True}
    config = {k: sorted(v) if isinstance(v, set) else v for k, v in config.items()}
    (part / "adapter_config.json").write_text(json.dumps(config, indent=1, sort_keys=True, default=str) + "\n")
elif hidden:
    safetensors.torch.save_file(
        {k: v.half().cpu().contiguous() for k, v in best[1].items()}, part / "model.safetensors"
    )
else:
    model.load_state_dict(best[1])
    model.config.id2label = dict(enumerate(train.label_names))
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
majority = max(sorted(set(test.labels)), key=test.labels.count)
made_with = {"optimiser": "AdamW", "weight_decay": 0.01, "gradient_norm": 1.0, "precision": precision}
card = {
    "dataset": dataset,
    "classifier": classifier,
    "seed": seed,
    "encoder": shipped or named,
    **({"hidden": hidden} if hidden else {}),
    "label_names": list(train.label_names),
    "data_digest": train.digest,
    "train_size": len(train),
    "dev_size": len(dev),
    "test_size": len(test),
    "max_length": train.max_length,
    **({"split_sizes": whole_sizes, "left_out": left_out} if left_out else {}),
    "hyperparameters": training | ({"lora_alpha": 2 * rank} if rank else {}) | made_with,
    "dev_loss": history,
    "majority_accuracy": test.labels.count(majority) / len(test),
    "majority_macro_f1": f1_score(test.labels, [majority] * len(test), average="macro"),
}
(part / "card.json").write_text(json.dumps(card, indent=1) + "\n")

# %%
loaded = load_model(f"local:{part.resolve()}" if rank or hidden else f"hf:{part}").model.to(device)
exact = Forward(tokenizer.pad_token_id, device)
predictions = exact.predicted(loaded, encode(tokenizer, test))
LANGUAGES = {"messages": home_assistant.LANGUAGES, "nli": nli_sets.LANGUAGES}
if dataset in LANGUAGES:
    card["accuracy_by_language"] = {}
    for language, data in load_parallel(dataset, list(LANGUAGES[dataset]), "test", n=tested, sample="all").items():
        answered = exact.predicted(loaded, encode(tokenizer, data))
        card["accuracy_by_language"][language] = {
            "accuracy": float(np.mean(answered == np.array(data.labels))),
            "balanced_accuracy": float(balanced_accuracy_score(data.labels, answered)),
            "n": len(data),
        }
card |= {
    "accuracy": float((predictions == np.array(test.labels)).mean()),
    "macro_f1": float(f1_score(test.labels, predictions, average="macro")),
    "wall_seconds": round(spent + time.time() - started),
    "versions": {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__},
    "machine": f"{platform.machine()}, {os.cpu_count()} cores, {device}",
}
(part / "card.json").write_text(json.dumps(card, indent=1) + "\n")
shutil.rmtree(target, ignore_errors=True)
os.replace(part, target)
training_state.drop()
print(f"{name}: accuracy {card['accuracy']:.4f}, macro F1 {card['macro_f1']:.4f}, {card['wall_seconds']} s")
