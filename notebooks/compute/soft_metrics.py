# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: hard and soft scores, one task and one model seed
#
# Zhao & Aletras (2023), sections 3 and 4: the five attribution methods of the paper and a random one, scored for every
# input by normalised sufficiency and comprehensiveness with hard erasure (Eq. 1-2, five rationale lengths) and with
# soft erasure (Eq. 3-5). Each value is one row of `soft_scores.parquet`; the reports average, compare and plot.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
classifier = ""  # mpnet, mpnet-tuned; nothing: the data set's own
seed = 0
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # texts, such as 40
draws = None  # masks per soft score; the paper draws one
ratios = None  # lengths of a rationale, such as [0.1, 0.5]
ig_steps = None  # points of the path of integrated gradients

# %%

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.soft.zhao_aletras_metrics import facts_of, hard_and_soft, tokens_shown
from faithbook.studies.soft.zhao_aletras_soft import Task
from faithlib.perturb import Perturber, costs

run = start_run(
    "soft_metrics",
    profile=profile,
    dataset=dataset,
    classifier=classifier,
    seed=seed,
    part=part,
    parts=parts,
    inputs=inputs,
    draws=draws,
    ratios=ratios,
    ig_steps=ig_steps,
)
settings = run.settings

# %% [markdown]
# ## The model and its inputs
#
# The inputs are a fixed sample of the test split: the same for every model seed, so that seeds can be compared input by
# input. Texts over the task's limit lose their end; how many did is counted and shown on the status page. They are
# processed in blocks: the memory of a block is free after it.

# %%
task = Task.of_settings(settings, dataset, seed)
data = task.data

# %% [markdown]
# ## Attributions
#
# All explain the logit of the predicted class. Reductions over embedding dimensions follow the paper's released code:
# the absolute sum for x∇x, the signed sum for integrated gradients and DeepLIFT. As in that code captum computes DeepLIFT;
# what exact rules change is in `soft_variants`. Random scores are standard normal, one explanation per input
# (`faithbook.studies.soft.zhao_aletras_soft`).

# %% [markdown]
# ## Scores
#
# With $p$ the probability of the predicted class, $x$ the text, $x_\varnothing$ the text with everything erased and $r$ the words of
# the highest scores,
#
# $$\mathrm{NC} = \frac{\max(0,\, p(x) - p(x \setminus r))}{p(x) - p(x_\varnothing)}, \qquad
# \mathrm{NS} = 1 - \frac{\max(0,\, p(x) - p(r))}{p(x) - p(x_\varnothing)}.$$
#
# With soft erasure single elements of a word's embedding go instead of whole words. Let $a_i \in [0, 1]$ be the scaled score of
# word $i$, $e_i$ its embedding, and $x^q$ the text with $e_i \odot m_i$ for each $e_i$, the elements of $m_i$ drawn from
# $\mathrm{Bernoulli}(q_i)$. Then
#
# $$\mathrm{Soft\text{-}NC} = \frac{\max(0,\, p(x) - p(x^{1 - a}))}{p(x) - p(x_\varnothing)}, \qquad
# \mathrm{Soft\text{-}NS} = 1 - \frac{\max(0,\, p(x) - p(x^{a}))}{p(x) - p(x_\varnothing)}.$$
#
# One `Perturber` serves everything, so a perturbed text that several methods, lengths or metrics need runs once, in
# shared forward passes. Soft values are averaged over several draws; the first draw alone is the paper's protocol.


# %%
def save(values, facts):
    """Add a block's values to what the reports read."""
    run.add(values, "soft_scores")
    labels = {"seed": seed, "clusters": data.clusters}
    at_lengths = values.metric.isin(["ns", "nc"])
    soft = values[~at_lengths]
    run.add_units(as_units(soft, **labels))
    run.add_units(as_units(soft.assign(metric=soft.metric + "_one_draw", value=soft.value_one_draw), **labels))
    run.add_units(as_units(facts, metrics=["p_full", "p_empty", "n_features"], **labels))
    run.add_units(as_units(values[at_lengths], keys=["ratio"], **labels), "lengths")


# %% [markdown]
# ## Heat maps for the report
#
# Tokens and scores of the first inputs, for the qualitative table. They hold text of third parties: they stay in the
# results folder and are never committed.

# %% [markdown]
# ## Block by block

# %%
for rows in run.blocks(len(data), settings["block"]):
    block = data[rows]
    inputs = task.inputs_of(block)
    scores = task.explained(inputs)
    perturber = Perturber(task.model, inputs, dtype=task.dtype)
    facts = facts_of(task, block, perturber)
    values = hard_and_soft(perturber, scores, facts, ratios=settings["ratios"], draws=settings["draws"], seed=seed)
    save(values, facts)
    if rows.start < settings["examples"]:
        run.add(tokens_shown(task, block, inputs, scores, settings["examples"] - rows.start), "soft_examples")
    undefined = int((facts.p_full <= facts.p_empty).sum())
    run.count(n=len(inputs), truncated=int(inputs.truncated.sum()), undefined=undefined, **costs(perturber))

# %%
run.note(dtype=settings["dtype"], device=task.device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean scores of each method, with hard erasure over all lengths. `random` is what an explanation gets that knows nothing.
# *Book*: the full run's mean on this data set, model and seed. Change a choice in the second cell and run the notebook
# again; `notebooks/report/soft_tables.py` with `values = "run"` then makes the paper's tables of what was computed here.

# %%
beside_book(run, metrics=["soft_ns", "soft_nc"])

# %%
beside_book(run, part="lengths")
