# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: metrics where the reason is known
#
# Five models of one modality. Two are written down in closed form (`faithbook.models.closed_form`): a linear one, whose every feature
# has its summand, and a detector of what was planted (`faithbook.sources.planted`), which is never surprised by an erased input.
# Three are trained on planted data: one as models usually are, one on erased copies as well, and one that is taught to
# answer differently where much is erased. Their true explanation of a whole input is what was planted, *if* they hang on
# it, which is checked first. Then every metric scores the true explanation, the same with a part of its scores shuffled,
# its opposite, and what attribution methods say.

# %% tags=["parameters"]
profile = "laptop"
modality = "text"

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models import closed_form
from faithbook.models.load import load_model
from faithbook.sources import planted
from faithbook.sources.datasets import load_dataset
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.sources.words import split_words
from faithlib.attribution import Row
from faithlib.catalogue import FAITHFULNESS, FAMILIES
from faithlib.evaluation import average_marked, evaluate, shuffled
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

run = start_run("together_planted", profile=profile, modality=modality)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
trained = {name: load_model(spec) for name, spec in settings["models"][modality].items()}
for one in trained.values():
    one.model.to(device)

# %% [markdown]
# ## Data, models and truth
#
# Words are features of texts, 4 × 4 cells those of pictures.


# %%
def text_inputs(data, tokenizer):
    """Texts with words as features, and the features that were planted."""
    words = [split_words(text) for text in data.texts]
    inputs = TextInputs.from_texts(data.texts, tokenizer, words=words, max_length=data.max_length)
    marks = torch.zeros(inputs.feature_mask.shape, dtype=torch.bool)
    for b, (spans, own) in enumerate(zip(words, data.rationales or [()] * len(data), strict=True)):
        for (start, end), feature in zip(spans, inputs.feature_of_word[b], strict=True):
            if feature >= 0 and any(start <= a and z <= end for a, z in own):
                marks[b, feature] = True
    return inputs.to(device), marks


def picture_inputs(data, model):
    """Pictures with cells as features, and the cells that were planted."""
    inputs = as_inputs(data, model, patch=planted.CELL)
    marks = torch.zeros(inputs.feature_mask.shape, dtype=torch.bool)
    for b, cells in enumerate(data.cells):
        marks[b, list(cells)] = True
    return inputs.to(device), marks


def planted_inputs(name, classifier):
    """Inputs of a sample of a planted data set's test split, what was planted, labels and ids."""
    if modality == "text":
        data = load_dataset(name, "test", n=settings["checked"])
        found = text_inputs(data, classifier.tokenizer)
    else:
        data = load_pictures(name, "test", n=settings["checked"])
        found = picture_inputs(data, classifier.model)
    return *found, torch.tensor(data.labels), data.ids


# %% [markdown]
# ## Do the trained models hang on what was planted?
#
# Accuracy on texts or pictures as they are; where everything planted is erased, which share is answered with *neither*,
# as it should be, and where everything *but* that is erased, which share still gets its class. By each way to erase.

# %%
ERASURES = {"text": ("mask", "delete", "zero", "pad"), "vision": ("mean", "blur", "zero")}[modality]
detector = (
    closed_form.word_detector(next(iter(trained.values())).tokenizer)
    if modality == "text"
    else closed_form.stripe_detector()
)
detector.model.to(device)
checked, right_about, whole = [], [], {}
for name, classifier in {"detector": detector, **trained}.items():
    inputs, marks, labels, ids = whole[name] = planted_inputs("planted", classifier)
    there = (labels > 0).nonzero()[:, 0]
    erased_inputs, _, erased_labels, _ = planted_inputs("planted-erased", classifier)
    on_erased = (Perturber(classifier.model, erased_inputs).predicted.cpu() == erased_labels).float().mean()
    right_about.append(Perturber(classifier.model, inputs).predicted.cpu() == labels)
    for erase in ERASURES:
        perturber = Perturber(classifier.model, inputs[there.tolist()], erase=erase)
        present, reason = perturber.feature_mask, marks[there][:, : perturber.feature_mask.shape[1]].to(device)
        answers = perturber.logits(torch.stack([present, present & ~reason, reason], dim=1)).argmax(dim=-1).cpu()
        checked.append(
            {
                "model": name,
                "erase": erase,
                "n": len(there),
                "accuracy": (answers[:, 0] == labels[there]).float().mean(),
            }
            | {"neither without": (answers[:, 1] == 0).float().mean()}
            | {"class with nothing else": (answers[:, 2] == labels[there]).float().mean()}
            | {"accuracy on erased copies": on_erased, "n erased": len(erased_labels)}
        )
run.save(
    pd.DataFrame(checked).map(lambda x: float(x) if torch.is_tensor(x) else x).assign(modality=modality),
    "together_reasons",
)

# %% [markdown]
# ## Explanations
#
# A part of the scores is shuffled among the features it concerns; of planted reasons, which have few ones and many
# zeros, every feature's score is moved with that probability. Ties are broken as everywhere, by position.

# %%
SHARES = (0.25, 0.5, 1.0)


def ladder(truth, inputs):
    """The truth, the truth spoilt more and more, and its opposite."""
    rungs = {"truth": truth} | {f"{share:.0%} shuffled": shuffled(truth, inputs, share=share) for share in SHARES}
    return rungs | {"opposite": -truth}


IG = Row("integrated_gradients", options={"n_steps": settings["ig_steps"]})
BLIND_TO_BLOCKS = {"integrated_gradients": IG, "random": "random"}
METHODS = {
    "text": {
        "saliency": "saliency",
        "input_x_gradient": "input_x_gradient",
        **BLIND_TO_BLOCKS,
        "occlusion": "occlusion",
        "lime": Row("lime", options={"n_samples": settings["lime_samples"]}),
    },
    "vision": {
        **BLIND_TO_BLOCKS,
        "grad_cam": "grad_cam",
        "transformer_attribution": "transformer_attribution",
        "raw_attention": "raw_attention",
        "rollout": "rollout",
        "attcat": "attcat",
    },
}[modality]
# Closed-form pictures have no blocks, and so no attention.
CLOSED = ("linear", "detector")
OF_CLOSED = METHODS if modality == "text" else BLIND_TO_BLOCKS

# %% [markdown]
# ## Metrics
#
# On inputs with something planted about which every model is right; the linear models (opinions of film reviews, and
# which direction of stripes a picture has more of) on any. The model that is trained as usual is looked at under a
# second way to erase, too. Bounds of AOPC take most rows, so NAOPC has the main way to erase alone, and of trained models
# fewer inputs where there are many features.

# %%
MAIN = ERASURES[0]
shared = {"draws": settings["draws"], "groups": settings["groups"], "beam": settings["beam"][modality]}
BOUNDED, PLAUSIBLE = FAMILIES["naopc"].directions, FAMILIES["plausibility"].directions
found, costs = [], []


def measured(name, model, inputs, truth, gold, methods, ids, erase):
    """All metrics of the ladder and of methods, one model under one way to erase."""
    everyone = list(range(len(inputs)))
    wanted = len(inputs) if name in CLOSED else settings["searched"][modality]
    searched = wanted if erase == MAIN else 0
    explanations = ladder(truth, inputs)
    unbounded = [m for m in FAITHFULNESS if m not in BOUNDED]
    for rows, metrics in ((everyone[:searched], FAITHFULNESS), (everyone[searched:], unbounded)):
        if not rows:
            continue
        part = inputs[rows]
        width = part.feature_mask.shape[1]  # of the longest among them
        own = {key: what[rows, :width] for key, what in explanations.items()} | methods
        marks = {} if gold is None else {"gold": gold[rows, :width], "gold_size": average_marked(gold)}
        metrics = [*metrics, *(PLAUSIBLE if marks else ())]
        table = evaluate(model, part, methods=own, metrics=metrics, erase=erase, **marks, **shared)
        costs.append({"model": name, "erase": erase, "inputs": len(rows), **table.attrs["costs"]})
        table["input"] = [ids[rows[i]] for i in table["input"]]
        table.attrs.clear()
        found.append(table.assign(model=name, erase=erase))


# %%
if modality == "text":
    texts = load_dataset("planted", "test", n=settings["inputs"])
    bag = closed_form.BagOfWords(load_dataset("movie", "train"), detector.tokenizer)
    linear, ids = bag.classifier, texts.ids
    inputs, _ = text_inputs(texts, linear.tokenizer)
    summands = bag.truth
else:
    shown = load_pictures("planted", "test", n=settings["inputs"])
    linear, ids = closed_form.linear_patches(), shown.ids
    inputs, _ = picture_inputs(shown, linear.model)
    summands = closed_form.patch_truth
linear.model.to(device)
truth = summands(inputs.to("cpu"), Perturber(linear.model, inputs).predicted.cpu()).to(device)
measured("linear", linear.model, inputs, truth, None, OF_CLOSED, ids, MAIN)

# %%
knowing = torch.stack(right_about).all(dim=0)
plan = {"detector": detector, **trained}
for name, classifier in tqdm(plan.items(), desc="models"):
    inputs, marks, labels, ids = whole[name]
    rows = ((labels > 0) & knowing).nonzero()[: settings["inputs"], 0].tolist()
    part = inputs[rows]
    gold = marks[rows][:, : part.feature_mask.shape[1]].to(device)
    methods = OF_CLOSED if name in CLOSED else METHODS
    for erase in ERASURES[: 2 if name == "trained" else 1]:
        measured(name, classifier.model, part, gold.float(), gold, methods, [ids[i] for i in rows], erase)
values = pd.concat(found, ignore_index=True)
run.save(values.assign(modality=modality), "together_planted_values")
run.save_units(as_units(values, seed=0, keys=["model", "erase"]))
run.save(pd.DataFrame(costs).assign(modality=modality), "together_planted_costs")

# %%
run.note(n=len(rows), right=int(knowing.sum()), of=len(knowing), dtype="float32", device=device)
run.finish()
