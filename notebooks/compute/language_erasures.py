# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: which erasure?
#
# Study 5, question 2, on a small language model. Basu & Chakraborty (2026) compare the words that a method names with
# as many random words, and count how often the method wins; they report that the answer depends on how words are
# erased. Here they are deleted, replaced by the padding token, set to zero, or filled in with words of other texts.
# The rules are in `data/claims.csv` (lm_ice_c01 to lm_ice_c04), committed before any value was computed.

# %% tags=["parameters"]
profile = "laptop"
dataset = "prompted-movie"
model = "smollm2"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # texts, such as 20
share = None  # share of a text's words that a rationale has
matches = None  # random rationales that it is compared with
ig_steps = None  # points of the path of integrated gradients

# %%
from functools import partial

import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.language.language import filled_in, language_model, long_table, of_each_method, prompts
from faithlib.attribution import Row
from faithlib.evaluation import explain
from faithlib.metrics import average_precision
from faithlib.metrics import language as measures
from faithlib.perturb import Perturber, costs

run = start_run(
    "language_erasures",
    profile=profile,
    dataset=dataset,
    model=model,
    part=part,
    parts=parts,
    inputs=inputs,
    share=share,
    matches=matches,
    ig_steps=ig_steps,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
network, tokenizer = language_model(model)
network.to(device)
task = prompts(dataset, settings["inputs"], words=tuple(settings["words"]))

# %% [markdown]
# ## Rationales and their rivals
#
# A rationale $r$ is the fifth of a text's words with the highest scores. Of its size $M$ random ones $r_1, \dots, r_M$ are drawn.
# With $v(r) = -f(x \setminus r)$, the output without it (comprehensiveness), or $v(r) = f(r)$, the output when it alone stays
# (sufficiency), the win rate is the share of them that it beats, ties by halves:
#
# $$\text{win rate} = \frac{1}{M} \sum_{m=1}^{M} \bigl( [v(r) > v(r_m)] + \tfrac12 [v(r) = v(r_m)] \bigr).$$
#
# One half is chance. Attributions are the same for all erasures;
# occlusion, which erases itself, sets words to zero.

# %%
METHODS = {
    "attention": Row("attention"),
    "rollout_dropped": Row("rollout", options={"sink": "drop"}),
    "input_x_gradient": Row("input_x_gradient"),
    "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
    "occlusion": Row("occlusion"),
    "random": Row("random", options={"seed": 1}),
}
win_rates = partial(measures.win_rates.later, share=settings["share"], matches=settings["matches"])
KEYS = ["erasure"]

# %%
for rows in run.blocks(len(task), settings["block"]):
    block = task[rows]
    ids = list(block.ids)
    lm, inputs = block.asked(network, tokenizer)
    inputs = inputs.to(device)
    scores = explain(lm, inputs, METHODS)
    by_erasure = {}
    for erasure in ("delete", "pad", "zero"):
        perturber = Perturber(lm, inputs, erase=erasure)
        by_erasure[erasure] = of_each_method(perturber, scores, win_rates)
        run.count(**costs(perturber))
    single = []
    for b, n in enumerate(inputs.n_features.tolist()):
        about = {"target": int(perturber.target[b]), "features": inputs.feature_of_word[b]}
        asked = filled_in(block, b, task, network, tokenizer, **about)
        alone = {name: of_method[b : b + 1, :n].cpu() for name, of_method in scores.items()}
        single.append(of_each_method(asked, alone, win_rates))
        run.count(**costs(asked))
    by_erasure["infill"] = {}
    for method, of_first in single[0].items():
        joined = {metric: torch.cat([values[method][metric] for values in single]) for metric in of_first}
        by_erasure["infill"][method] = joined
    values = [long_table(by_method, ids, erasure=erasure) for erasure, by_method in by_erasure.items()]
    run.add_units(as_units(pd.concat(values), seed=0, keys=KEYS))
    facts = {"right": block.right(network, tokenizer).double(), "words": inputs.n_features.double()}
    texts = {"none": facts}
    if block.marked:
        gold = block.gold(inputs.to("cpu")).to(device)
        for name, of_method in scores.items():
            texts[name] = {"average_precision": average_precision(of_method, gold, inputs.feature_mask)}
    run.add_units(as_units(long_table(texts, ids, erasure="none"), seed=0, keys=KEYS), "texts")
    run.count(n=len(block))

# %%
run.note(dtype="float32", device=device, model="SmolLM2-135M-Instruct, 4-bit dequantised")
run.finish()

# %% [markdown]
# ## What was computed
#
# Win rates: the share of random rationales that a method's beats, by erasure. One half is chance. *Book*: the full run's mean.
# `notebooks/report/language_win_rates.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, by=["metric", "erasure", "method"])
