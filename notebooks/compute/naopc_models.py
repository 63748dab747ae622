# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: bounds of AOPC and NAOPC of one classifier on one data set
#
# Edin et al. (2025) on our own models: exact bounds for short texts, beam bounds with error bounds for long ones, AOPC
# and NAOPC of attribution methods, and how well each classifier withstands an attack on its embeddings. Words are the
# features, the mask token takes their place, the target is the predicted class's probability.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
classifier = "l6"
part = 1  # of `parts`: which share of the texts
parts = 1
# Your choices: None is what the profile says.
short_inputs = None  # short texts, of which all orders are searched
long_inputs = None  # long texts, searched by a beam
widths = None  # widths of the beams on short texts, such as [1, 10]
ig_steps = None  # points of the path of integrated gradients
samples = None  # copies of a text for LIME and KernelSHAP
permutations = None  # orders of its words for Shapley values

# %%
import time

import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.adversarial import worst_shift
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.studies.naopc.edin_methods import attin_grad, kernel_shap
from faithlib.attribution import attribute
from faithlib.backends import TextBackend
from faithlib.bounds import beam_bounds, exact_bounds, naopc, naopc_faults
from faithlib.evaluation import PAPER_RATIOS
from faithlib.inputs import TextInputs
from faithlib.masks import top_ratio
from faithlib.metrics.curves import aopc_paths
from faithlib.perturb import Perturber, costs

run = start_run(
    "naopc_models",
    profile=profile,
    dataset=dataset,
    classifier=classifier,
    part=part,
    parts=parts,
    short_inputs=short_inputs,
    long_inputs=long_inputs,
    widths=widths,
    ig_steps=ig_steps,
    samples=samples,
    permutations=permutations,
)
settings = run.settings
for length, wanted in (("short", short_inputs), ("long", long_inputs)):
    settings[length] = settings[length] if wanted is None else settings[length] | {"inputs": wanted}
device = "cuda" if torch.cuda.is_available() else "cpu"
loaded = load_model(settings["model"])
model = loaded.model.to(device)
data = load_dataset(dataset, "test", sample=settings["sample"])

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


def bounds_frame(chosen, inputs, bounds, seconds, **columns):
    names = ("lower", "upper", "certified_lower", "certified_upper", "rows")
    values = {name: getattr(bounds, name) for name in names}
    return frame(chosen, inputs, **values, seconds_an_input=seconds / len(chosen), **columns)


# %% [markdown]
# ## Bounds
#
# The $N$ words go one after the other in an order $o$; with $p_k$ the probability of the predicted class without the first
# $k$ words,
#
# $$\mathrm{AOPC}(o) = \frac{1}{N} \sum_{k=1}^{N} (p_0 - p_k), \qquad
# \mathrm{NAOPC}(o) = \frac{\mathrm{AOPC}(o) - \min_{o'} \mathrm{AOPC}(o')}{\max_{o'} \mathrm{AOPC}(o') - \min_{o'} \mathrm{AOPC}(o')}.$$
#
# Short texts: exact bounds first. The beams that follow run nothing new, since every set is known; their `rows`
# count the sets each of them would need alone.


# %%
def short_bounds(chosen, inputs, score):
    """The exact bounds, and rows of them and of every beam."""
    started = time.perf_counter()
    exact = exact_bounds(score, max_features=settings["short"]["words"][1])
    took = time.perf_counter() - started
    rows = [bounds_frame(chosen, inputs, exact, took, length="short", search="exact")]
    for variant in ("released", "merged"):
        for width in settings["widths"]:
            beam = beam_bounds(score, width=width, variant=variant)
            about = {"length": "short", "search": variant, "width": width}
            rows.append(bounds_frame(chosen, inputs, beam, float("nan"), **about))
    return exact, pd.concat(rows, ignore_index=True)


def long_bounds(chosen, inputs, score):
    """A beam's bounds, and rows of them."""
    started, options = time.perf_counter(), settings["long_search"]
    beam = beam_bounds(score, **options)
    took = time.perf_counter() - started
    return beam, bounds_frame(chosen, inputs, beam, took, length="long", search="merged", **options)


common = {"seed": 0, "clusters": data.clusters}
ENDS = ["lower", "upper", "certified_lower", "certified_upper", "rows"]


def save_bounds(bounds):
    """Add a block's bounds to what the reports read."""
    limits = {name: bounds.get(name, float("nan")) for name in ("width", "candidates", "tolerance")}
    bounds = bounds.assign(**limits).astype(dict.fromkeys(limits, float))
    searched = bounds.assign(method=bounds.search, width=bounds.width.fillna(0).astype(int))  # 0: exact, it has none
    run.add_units(as_units(searched, metrics=ENDS, keys=["length", "width"], **common), "bounds")


# %% [markdown]
# ## Attributions, AOPC, NAOPC
#
# Nine of the paper's ten methods: DecompX needs its own forward pass for every architecture (the authors ship
# their own BERT and RoBERTa for it), and ours are other models. AttInGrad needs attention maps, which an LSTM does not have.
#
# Signed sums over the embedding, so that a word may count against the class. A beam's bounds are widened by the orders
# that the methods themselves have shown to be possible; how many values were outside before is kept.
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


def explained(chosen, inputs, score, limits, length):
    """Rows of AOPC and NAOPC, and of both ways to sum, of every method."""
    scored = {
        method: attribute(method, model, inputs, output="probability", **options) for method, options in methods.items()
    }
    scored["kernel_shap"] = kernel_shap(score, n_samples=settings["samples"])
    if classifier != "lstm":
        scored |= {name: attribute(name, model, inputs, output="probability") for name in ("attention", "deeplift")}
        scored["attin_grad"] = attin_grad(model, inputs)
    # The rows of all methods are queued before the first value is made, so that they share forward passes.
    paths = {method: aopc_paths.later(score, scores) for method, scores in scored.items()}
    rationales = {
        method: score.later(top_ratio(scores, PAPER_RATIOS, inputs.feature_mask)) for method, scores in scored.items()
    }
    values = {method: finish() for method, finish in paths.items()}
    at_lengths = {method: score.full - kept.result().mean(dim=1) for method, kept in rationales.items()}
    rows, conventions = [], []
    for method, eraser in at_lengths.items():
        ascending = values[method]["aopc_lerf"]
        conventions.append(frame(chosen, inputs, length=length, method=method, eraser=eraser, ascending=ascending))
    everything = torch.stack([value for both in values.values() for value in both.values()], dim=1).double()
    widened = limits.widened(everything)
    for method, both in values.items():
        for metric, value in both.items():
            faults = naopc_faults(value, limits.lower, limits.upper)
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
    return pd.concat(rows, ignore_index=True), pd.concat(conventions, ignore_index=True)


def save_scores(scores, conventions):
    """Add a block's scores to what the reports read."""
    run.add(scores, "naopc_model_scores")
    run.add(conventions, "naopc_conventions")
    scaled = scores.assign(metric=scores.metric.str.replace("aopc", "naopc"), value=scores.naopc)
    sums = conventions.rename(columns={"eraser": "sufficiency_eraser"})
    run.add_units(as_units(scores.assign(value=scores.aopc), keys=["length"], **common))
    run.add_units(as_units(scaled, keys=["length"], **common))
    run.add_units(as_units(sums, metrics=["sufficiency_eraser"], keys=["length"], **common))


# %%
BOUNDED = {"short": short_bounds, "long": long_bounds}
texts = {length: texts_of(*settings[length]["words"], settings[length]["inputs"]) for length in BOUNDED}
# One list, so that parts follow one another in every table.
blocks = [
    (length, chosen.iloc[start : start + settings["block"]].reset_index(drop=True))
    for length, chosen in texts.items()
    for start in range(0, len(chosen), settings["block"])
]
for length, block in run.shared(blocks):
    inputs, score = perturbed(block)
    orders, bounds = BOUNDED[length](block, inputs, score)
    save_bounds(bounds)
    save_scores(*explained(block, inputs, score, orders, length))
    run.count(n=len(block), **costs(score))

# %% [markdown]
# ## How well the classifier withstands an attack
#
# Accuracy when every token's embedding may move by a radius (L2) in the worst direction that projected gradient descent
# finds. Radii are shares of the mean length of a token's embedding, because classifiers embed differently.

# %%
attacked = load_dataset(dataset, "test", n=settings["attacked"], seed=0, sample=settings["sample"])
for parameter in model.parameters():
    parameter.requires_grad_(False)


def read(block):
    """The texts of a block as the model reads them, and their embeddings."""
    inputs = TextInputs.from_texts(block.texts, loaded.tokenizer, max_length=block.max_length)
    backend = TextBackend(model, inputs)
    return backend, backend.embeddings()


def mean_length():
    """Of a token's embedding, over all texts, whichever part this is."""
    total, tokens = 0.0, 0
    for start in range(0, len(attacked), settings["block"]):
        backend, embedded = read(attacked[start : start + settings["block"]])
        lengths = embedded.norm(dim=-1)[backend.inputs.attention_mask]
        total, tokens = total + lengths.double().sum().item(), tokens + len(lengths)
    return total / tokens


def survive(block, radius):
    """Which texts of a block are still classified rightly after an attack."""
    backend, embedded = read(block)
    labels, everyone = torch.tensor(block.labels, device=device), torch.arange(len(block), device=device)

    def logits(shift):
        return backend.logits(embedded + shift, everyone)

    def loss(shift):
        return torch.nn.functional.cross_entropy(logits(shift), labels, reduction="none")

    present = backend.inputs.attention_mask
    shift = worst_shift(loss, present, embedded.shape[-1], radius=radius, steps=settings["attack_steps"])
    with torch.no_grad():
        return (logits(shift).argmax(dim=1) == labels).cpu().numpy()


# %%
unit = mean_length()
for rows in run.blocks(len(attacked), settings["block"]):
    block = attacked[rows]
    about = {"dataset": dataset, "classifier": classifier, "input": block.ids}
    robustness = pd.concat(
        [
            pd.DataFrame({**about, "radius": share, "right": survive(block, share * unit)})
            for share in settings["radii"]
        ],
        ignore_index=True,
    )
    run.add(robustness, "naopc_robustness")
    clusters = attacked.clusters
    run.add_units(as_units(robustness, seed=0, clusters=clusters, metrics=["right"], keys=["radius"]), "robustness")

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# AOPC and NAOPC of each method on the short texts, most relevant word first. Of random scores NAOPC should be the same for
# every model; the page asks whether it is. *Book*: the full run's mean for this data set and model.
# `notebooks/report/naopc_bounds.py` with `values = "run"` makes its tables of what was computed here.

# %%
beside_book(run, metrics=["aopc_morf", "naopc_morf"], where={"length": "short"})
