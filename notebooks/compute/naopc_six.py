# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: the paper's six models on the paper's texts
#
# Edin et al. (2025) again, starting from the models: the texts of their files, the checkpoints that they name, their
# attributions as their code makes them, and p of the positive class. Exact bounds for short texts; for long ones a beam of
# their width, and one whose width doubles until the bounds stay.

# %% tags=["parameters"]
profile = "paper"
dataset = "sst2"
classifier = "bert_sst2"
part = 1  # of `parts`: which share of the texts
parts = 1
# Your choices: None is what the profile says.
ig_steps = None  # points of the path of integrated gradients
samples_a_piece = None  # copies of a text for LIME and SHAP, for each of its wordpieces
beam = None  # of long texts, such as {"width": 5, "candidates": 8, "tolerance": 0.005}

# %%
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.edin_texts import LENGTHS, POSITIVE, edin_texts
from faithbook.studies.naopc.edin_methods import as_coded
from faithlib.bounds import adaptive_bounds, beam_bounds, exact_bounds, naopc
from faithlib.inputs import TextInputs
from faithlib.metrics.curves import aopc_paths
from faithlib.perturb import Perturber, costs

run = start_run(
    "naopc_six",
    profile=profile,
    dataset=dataset,
    classifier=classifier,
    part=part,
    parts=parts,
    ig_steps=ig_steps,
    samples_a_piece=samples_a_piece,
    beam=beam,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
loaded = load_model(settings["model"])
model = loaded.model.to(device)
KINDS = {"aopc_morf": "comprehensiveness", "aopc_lerf": "sufficiency"}  # the paper's names for both sums
ENDS = ["lower", "upper", "certified_lower", "certified_upper", "rows", "width"]
labels = {"seed": 0, "keys": ["length"], "name": "id"}

# %% [markdown]
# ## Bounds
#
# With $r$ an order in which the $N$ words are removed, and *lower* and *upper* the smallest and the largest AOPC of all orders,
#
# $$\text{AOPC}(r) = \frac1N \sum_{k=1}^{N} \bigl[ p(x) - p(x \text{ without the first } k \text{ of } r) \bigr], \qquad
# \text{NAOPC}(r) = \frac{\text{AOPC}(r) - \text{lower}}{\text{upper} - \text{lower}}.$$
#
# NAOPC uses the first search of a length. Outputs of one search are cached for the next: its `rows` are those that
# it alone would run.


# %%
def searches(score, length):
    """Every search of a length by name."""
    if length == "short":
        yield "exact", exact_bounds(score)
        yield "beam", beam_bounds(score, width=settings["beam"]["width"], variant="released")
    else:
        yield "beam", beam_bounds(score, **settings["beam"])
        yield "adaptive", adaptive_bounds(score, **settings["adaptive"])


# %% [markdown]
# ## Scores
#
# A beam's bounds are widened by the orders that the methods themselves have shown to be possible.


# %%
def scored(inputs, score, bounds):
    """AOPC and NAOPC of every method, both sums."""
    asked = {name: settings[name] for name in ("ig_steps", "samples_a_piece")}
    explained = as_coded(model, inputs, target=POSITIVE, **asked)
    queued = {name: aopc_paths.later(score, scores) for name, scores in explained.items()}
    values = {name: finish() for name, finish in queued.items()}
    everything = torch.stack([value for both in values.values() for value in both.values()], dim=1).double()
    widened = bounds.widened(everything)
    for method, both in values.items():
        for metric, value in both.items():
            yield method, f"aopc_{KINDS[metric]}", value
            yield method, f"naopc_{KINDS[metric]}", naopc(value.double(), widened.lower, widened.upper)


# %%
def block_units(block, length):
    """Everything that is kept of a block of texts: facts of a text, ends of a search, scores of a method."""
    inputs = TextInputs.from_texts(list(block.text), loaded.tokenizer, unit="word")
    score = Perturber(model, inputs, target=POSITIVE, erase="mask")
    searched = dict(searches(score, length))
    facts = pd.DataFrame({"id": block.id, "p_full": score.full.cpu(), "p_empty": score.empty.cpu()})
    facts = facts.assign(length=length, words=inputs.n_features.tolist())
    rows = [as_units(facts, metrics=["p_full", "p_empty", "words"], **labels)]
    for name, bounds in searched.items():
        ends = pd.DataFrame({"id": block.id, **{end: getattr(bounds, end).cpu() for end in ENDS}})
        rows.append(as_units(ends.assign(length=length, method=name), metrics=ENDS, **labels))
    for method, metric, value in scored(inputs, score, next(iter(searched.values()))):
        columns = {"id": block.id, "length": length, "method": method, "metric": metric, "value": value.cpu()}
        rows.append(as_units(pd.DataFrame(columns), **labels))
    run.count(n=len(block), **costs(score))
    return pd.concat(rows, ignore_index=True)


# %%
# One list, so that parts follow one another.
texts = {length: edin_texts(dataset, length, n=settings["texts"][length]) for length in LENGTHS[dataset]}
blocks = [
    (length, chosen.iloc[start : start + settings["block"]].reset_index(drop=True))
    for length, chosen in texts.items()
    for start in range(0, len(chosen), settings["block"])
]
for length, block in run.shared(blocks):
    run.add_units(block_units(block, length))

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean AOPC and NAOPC by method, most relevant words first. *Book*: the full run's mean, where it has one: these are the paper's own
# models. `notebooks/report/naopc_six_models.py` with `values = "run"` makes the paper's tables of this.

# %%
beside_book(run, by=["metric", "length", "method"], metrics=["aopc_comprehensiveness", "naopc_comprehensiveness"])
