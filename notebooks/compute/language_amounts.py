# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: amounts and sinks
#
# Study 5, questions 1 and 5, on a small language model. Soft metrics drop elements of a word's embedding with a
# probability that follows its score. According to Huang & Chan (2026) they reward large scores, whatever their order;
# the authors compare methods at the same expected retention instead (pi-Soft). Decoders give most attention to their
# first token, whatever it is: does that count as an explanation? The rules are in `data/claims.csv` (lm_huang_c01,
# lm_q1, lm_huang_c02, lm_q5, lm_q6), committed before any value was computed.

# %% tags=["parameters"]
profile = "laptop"
dataset = "prompted-movie"
model = "smollm2"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # texts, such as 20
draws = None  # masks per soft score
shares = None  # shares kept, such as [0.25, 0.75]
ig_steps = None  # points of the path of integrated gradients

# %%
from functools import partial

import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.language.amounts import amounts, at_equal_retention, faithfulness, first_token, same_order
from faithbook.studies.language.language import language_model, long_table, of_each_method, prompts
from faithlib.attribution import Row
from faithlib.evaluation import explain
from faithlib.perturb import Perturber, costs

run = start_run(
    "language_amounts",
    profile=profile,
    dataset=dataset,
    model=model,
    part=part,
    parts=parts,
    inputs=inputs,
    draws=draws,
    shares=shares,
    ig_steps=ig_steps,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
network, tokenizer = language_model(model)
network.to(device)
task = prompts(dataset, settings["inputs"], words=tuple(settings["words"]))
SEED, DRAWS, SHARES = 0, settings["draws"], settings["shares"]

# %%
METHODS = {
    "attention": Row("attention"),
    "rollout": Row("rollout"),
    "rollout_dropped": Row("rollout", options={"sink": "drop"}),
    "saliency": Row("saliency"),
    "input_x_gradient": Row("input_x_gradient"),
    "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
    "occlusion": Row("occlusion"),
    "random": Row("random"),
}
SINKING = ("attention", "rollout", "rollout_dropped", "saliency", "input_x_gradient", "integrated_gradients")
PROTECTED = ("attention", "rollout", "input_x_gradient", "occlusion")

# %% [markdown]
# ## Amounts
#
# *Amount*: the mean importance $\tfrac1n \sum_i a_i$ of a text's $n$ words, scores stretched to [0, 1]. With $p$ the
# output for the text, $p_\varnothing$ that without any word and $p'$ that of embeddings whose elements stay with probability
# $q_i$,
#
# $$\text{Soft-NS} = 1 - \frac{\max(0,\, p - p')}{p - p_\varnothing} \ (q_i = a_i), \qquad
# \text{Soft-NC} = \frac{\max(0,\, p - p')}{p - p_\varnothing} \ (q_i = 1 - a_i).$$
#
# At equal retention all methods keep the same share $\pi$, by a shift $b$ of their scores,
#
# $$q_i = \min(1, \max(0, a_i + b)), \qquad b \text{ such that } \tfrac1n \textstyle\sum_i q_i = \pi,$$
#
# and pi-Soft-NS and pi-Soft-NC are the areas over the shares. Two controls have the order of
# occlusion and another amount: its importance to the power 1/3 and to the power 3. At equal retention each share
# has one draw.

# %%
MEASURES = {
    "amounts": partial(amounts, draws=DRAWS, seed=SEED),
    "at equal retention": partial(at_equal_retention, shares=SHARES, seed=SEED),
    "sinks": partial(faithfulness, draws=DRAWS, seed=SEED),
}

# %% [markdown]
# ## Sinks
#
# *Share*: what part of a prompt's absolute scores falls on its first token, $|a_1| / \sum_i |a_i|$, the words of the template
# being features too.
# *Protected*: the text comes first, and its first word is no feature; *open*: it is one.

# %%
looked_at = settings["protected"]
for rows in run.blocks(len(task), settings["block"]):
    block = task[rows]
    ids = list(block.ids)
    lm, inputs = block.asked(network, tokenizer)
    inputs = inputs.to(device)
    scores = explain(lm, inputs, METHODS)
    perturber = Perturber(lm, inputs)
    with_controls = scores | same_order(scores["occlusion"], inputs.feature_mask)
    for by_method, measure in ((with_controls, "amounts"), (scores, "at equal retention")):
        values = of_each_method(perturber, by_method, MEASURES[measure])
        run.add_units(as_units(long_table(values, ids), seed=SEED))
    facts = {"right": block.right(network, tokenizer).double(), "output": perturber.full, "empty": perturber.soft_empty}
    run.add_units(as_units(long_table({"none": facts}, ids), seed=SEED), "texts")
    run.count(n=len(block), **costs(perturber))

    lm, inputs = block.whole().asked(network, tokenizer)
    inputs = inputs.by_piece().to(device)
    scores = explain(lm, inputs, {name: METHODS[name] for name in SINKING})
    values = long_table(first_token(scores, inputs.n_features), ids, first="share")
    run.add_units(as_units(values, seed=SEED, keys=["first"]), "sinks")
    few = block[: max(0, looked_at - rows.start)]
    for first, texts in (("open", few.text_first()), ("protected", few.text_first().without_first())):
        if len(texts):
            lm, inputs = texts.asked(network, tokenizer)
            inputs = inputs.to(device)
            scores = explain(lm, inputs, {name: METHODS[name] for name in PROTECTED})
            perturber = Perturber(lm, inputs, check=False)
            values = long_table(of_each_method(perturber, scores, MEASURES["sinks"]), texts.ids, first=first)
            run.add_units(as_units(values, seed=SEED, keys=["first"]), "sinks")
            run.count(**costs(perturber))

# %%
run.note(dtype="float32", device=device, model="SmolLM2-135M-Instruct, 4-bit dequantised")
run.finish()

# %% [markdown]
# ## What was computed
#
# Soft metrics, the same at equal retention (pi-Soft), and the amount that each method marks. *Book*: the full run's mean.
# `notebooks/report/language_measures.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, metrics=["soft_ns", "soft_nc", "pi_soft_ns", "pi_soft_nc", "amount"])
