# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: bounds of AOPC and NAOPC of one classifier on one data set
#
# Edin et al. (2025) on our own models: exact bounds for short texts, beam bounds with certificates for long ones, AOPC
# and NAOPC of attribution methods, and how well each classifier withstands an attack on its embeddings. Words are the
# features, the mask token takes their place, the target is the predicted class's probability.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
classifier = "l6"

# %%
import time

import pandas as pd
import torch

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.adversarial import worst_shift
from faithbook.models.load import load_model
from faithbook.papers.edin_methods import attin_grad, kernel_shap
from faithbook.sources.datasets import load_dataset
from faithlib.attribution import attribute
from faithlib.backends import TextBackend
from faithlib.bounds import beam_bounds, exact_bounds, naopc, naopc_faults
from faithlib.evaluation import PAPER_RATIOS, aopc_scores
from faithlib.inputs import TextInputs
from faithlib.masks import top_ratio
from faithlib.perturb import Perturber, costs

run = start_run("naopc_models", profile=profile, dataset=dataset, classifier=classifier)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
loaded = load_model(settings["models"][classifier].format(dataset=dataset))
model = loaded.model.to(device)
data = load_dataset(dataset, "test")

# %% [markdown]
# ## Texts of a length
#
# Whole texts with the right number of words; where there are too few (news articles), articles cut to their first words.
# Every classifier gets the same texts.


# %%
def texts_of(low, high, n):
    sized = []
    for cut in (None, high):
        texts = [" ".join(text.split()[:cut]) for text in data.texts]
        words = TextInputs.from_texts(texts, loaded.tokenizer, unit="word").n_features
        taken = {name for name, _, _ in sized}
        sized += [
            (name, text, label)
            for name, text, label, size in zip(data.ids, texts, data.labels, words.tolist(), strict=True)
            if low <= size <= high and name not in taken
        ]
        if len(sized) >= n:
            break
    return pd.DataFrame(sized[:n], columns=["input", "text", "label"])


def perturbed(chosen):
    inputs = TextInputs.from_texts(list(chosen.text), loaded.tokenizer, unit="word")
    return inputs, Perturber(model, inputs, erase="mask")


def frame(chosen, inputs, **columns):
    values = {name: value.cpu() if isinstance(value, torch.Tensor) else value for name, value in columns.items()}
    return pd.DataFrame(
        {"dataset": dataset, "classifier": classifier, "input": chosen.input, "n_features": inputs.n_features, **values}
    )


def bounds_frame(chosen, inputs, found, seconds, **columns):
    names = ("lower", "upper", "certified_lower", "certified_upper", "rows")
    values = {name: getattr(found, name) for name in names}
    return frame(chosen, inputs, **values, seconds_an_input=seconds / len(chosen), **columns)


# %% [markdown]
# ## Bounds
#
# Short texts: exact bounds first. The beams that follow ask for nothing new, since every set is answered; their `rows`
# count the sets each of them would need alone.

# %%
short = texts_of(*settings["short"]["words"], settings["short"]["inputs"])
short_inputs, short_score = perturbed(short)
started = time.perf_counter()
exact = exact_bounds(short_score, max_features=settings["short"]["words"][1])
bounds = [bounds_frame(short, short_inputs, exact, time.perf_counter() - started, length="short", search="exact")]
for variant in ("released", "merged"):
    for width in settings["widths"]:
        found = beam_bounds(short_score, width=width, variant=variant)
        bounds.append(
            bounds_frame(short, short_inputs, found, float("nan"), length="short", search=variant, width=width)
        )

# %%
long = texts_of(*settings["long"]["words"], settings["long"]["inputs"])
long_inputs, long_score = perturbed(long)
started = time.perf_counter()
beam = beam_bounds(long_score, **settings["long_search"])
bounds.append(
    bounds_frame(
        long,
        long_inputs,
        beam,
        time.perf_counter() - started,
        length="long",
        search="merged",
        **settings["long_search"],
    )
)
bounds = pd.concat(bounds, ignore_index=True)
run.save(bounds, "naopc_model_bounds")
own = {"seed": 0, "clusters": data.clusters}
ENDS = ["lower", "upper", "certified_lower", "certified_upper", "rows"]
searched = bounds.assign(method=bounds.search, width=bounds.width.fillna(0).astype(int))  # 0: an exact search has none
run.save_units(as_units(searched, metrics=ENDS, keys=["length", "width"], **own), "bounds")

# %% [markdown]
# ## Attributions, AOPC, NAOPC
#
# Nine of the paper's ten methods: DecompX needs a forward pass written anew for every architecture (the authors ship
# their own BERT and RoBERTa for it), and ours are other models. AttInGrad needs attention maps, which an LSTM has not.
#
# Signed sums over the embedding, so that a word may speak against the class. A beam's bounds are widened by the orders
# that the methods themselves have shown to be possible; how many values lay outside before is kept.
#
# ERASER's sufficiency keeps the top 1, 5, 10, 20 and 50 % of the words and averages the drops. What stays when the least
# relevant words have gone is the same set, so the ascending sum reads the same curve, at every length.

# %%
methods = {
    "saliency": {"aggregation": "l2"},
    "input_x_gradient": {"aggregation": "sum"},
    "integrated_gradients": {"aggregation": "sum", "n_steps": settings["ig_steps"]},
    "occlusion": {},
    "lime": {"n_samples": settings["samples"], "seed": 0},
    "shapley_sampling": {"n_samples": settings["permutations"], "seed": 0},
    "random": {"seed": 0},
}
rows, conventions = [], []
for length, chosen, inputs, score, found in (
    ("short", short, short_inputs, short_score, exact),
    ("long", long, long_inputs, long_score, beam),
):
    explained = {
        method: attribute(method, model, inputs, output="probability", **options) for method, options in methods.items()
    }
    explained["kernel_shap"] = kernel_shap(score, n_samples=settings["samples"])
    if classifier != "lstm":
        explained |= {name: attribute(name, model, inputs, output="probability") for name in ("attention", "deeplift")}
        explained["attin_grad"] = attin_grad(model, inputs)
    values = {method: aopc_scores(score, scores) for method, scores in explained.items()}
    for method, scores in explained.items():
        kept = score.keep(top_ratio(scores, PAPER_RATIOS, inputs.feature_mask))
        eraser = score.full - kept.mean(dim=1)
        ascending = values[method]["aopc_lerf"]
        conventions.append(frame(chosen, inputs, length=length, method=method, eraser=eraser, ascending=ascending))
    everything = torch.stack([value for both in values.values() for value in both.values()], dim=1).double()
    widened = found.widened(everything)
    for method, both in values.items():
        for metric, value in both.items():
            faults = naopc_faults(value, found.lower, found.upper)
            rows.append(
                frame(
                    chosen,
                    inputs,
                    length=length,
                    method=method,
                    metric=metric,
                    label=chosen.label.to_numpy(),
                    predicted=score.predicted,
                    p_full=score.full,
                    aopc=value,
                    naopc=naopc(value.double(), widened.lower, widened.upper),
                    outside=faults["clipped"],
                )
            )
scores, conventions = pd.concat(rows, ignore_index=True), pd.concat(conventions, ignore_index=True)
run.save(scores, "naopc_model_scores")
run.save(conventions, "naopc_conventions")
run.save_units(
    pd.concat(
        [
            as_units(scores.assign(value=scores.aopc), keys=["length"], **own),
            as_units(
                scores.assign(metric=scores.metric.str.replace("aopc", "naopc"), value=scores.naopc),
                keys=["length"],
                **own,
            ),
            as_units(
                conventions.rename(columns={"eraser": "sufficiency_eraser"}),
                metrics=["sufficiency_eraser"],
                keys=["length"],
                **own,
            ),
        ]
    )
)

# %% [markdown]
# ## How well the classifier withstands an attack
#
# Accuracy when every token's embedding may move by a radius (L2) in the worst direction that projected gradient descent
# finds. Radii are shares of the mean length of a token's embedding, because classifiers embed differently.

# %%
attacked = load_dataset(dataset, "test", n=settings["attacked"], seed=0)
inputs = TextInputs.from_texts(attacked.texts, loaded.tokenizer, max_length=attacked.max_length)
backend = TextBackend(model, inputs)
for parameter in model.parameters():
    parameter.requires_grad_(False)
embedded, labels = backend.embeddings(), torch.tensor(attacked.labels, device=device)
present = backend.inputs.attention_mask
unit = embedded.norm(dim=-1)[present].mean().item()


def survives(part, radius):
    """Which of the texts `part` are still classified rightly after an attack."""

    def logits(shift):
        return backend.logits(embedded[part] + shift, part)

    def loss(shift):
        return torch.nn.functional.cross_entropy(logits(shift), labels[part], reduction="none")

    shift = worst_shift(loss, present[part], embedded.shape[-1], radius=radius, steps=settings["attack_steps"])
    with torch.no_grad():
        return logits(shift).argmax(dim=1) == labels[part]


rows = []
for share in settings["radii"]:
    parts = torch.arange(len(labels), device=device).split(16)
    right = torch.cat([survives(part, share * unit) for part in parts])
    for name, correct in zip(attacked.ids, right.tolist(), strict=True):
        rows.append({"dataset": dataset, "classifier": classifier, "input": name, "radius": share, "right": correct})
robustness = pd.DataFrame(rows)
run.save(robustness, "naopc_robustness")
run.save_units(
    as_units(robustness, seed=0, clusters=attacked.clusters, metrics=["right"], keys=["radius"]), "robustness"
)

# %%
run.note(
    n=len(short) + len(long),
    **costs(short_score, long_score),
    dtype="float32",
    device=device,
)
run.finish()
