# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: what each deviation and each alternative perturbation changes
#
# The same inputs and attributions, scored again with one choice changed at a time: as the released code does it instead
# of the paper's text (deviations D1-D8), in bf16, and with the alternatives of the paper's Appendix C. Every variant is
# compared with the variant `paper` on the same inputs.

# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
classifier = ""  # mpnet, mpnet-tuned; nothing: the data set's own
seed = 0
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
inputs = None  # texts, such as 20
draws = None  # masks per soft score
ig_steps = None  # points of the path of integrated gradients
noise_draws = None  # draws of Gaussian noise
variances = None  # of Gaussian noise, such as [0.1, 1]

# %%
from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.soft.zhao_aletras_soft import Task
from faithbook.studies.soft.zhao_aletras_variants import Block, values_by_perturbation, values_by_variant
from faithlib.perturb import costs

run = start_run(
    "soft_variants",
    profile=profile,
    dataset=dataset,
    classifier=classifier,
    seed=seed,
    part=part,
    parts=parts,
    inputs=inputs,
    draws=draws,
    ig_steps=ig_steps,
    noise_draws=noise_draws,
    variances=variances,
)
settings = run.settings
task = Task.of_settings(settings, dataset, seed)
data = task.data

# %% [markdown]
# ## One choice changed at a time
#
# With $p$ the probability of the predicted class, $x$ the text, $x_\varnothing$ the text with everything erased, $r$ the words of
# the highest scores and $x'$ the text whose embeddings lose elements in proportion to the scores,
#
# $$\mathrm{NC} = \frac{\max(0,\, p(x) - p(x \setminus r))}{p(x) - p(x_\varnothing)}, \qquad
# \text{Soft-NC} = \frac{\max(0,\, p(x) - p(x'))}{p(x) - p(x_\varnothing)},$$
#
# and NS and Soft-NS the same of $r$ alone and of what is kept in proportion, subtracted from 1 (Eq. 1 to 5).
# Each variant changes one part of these: the divisor, the lengths of $r$, the scaling of the scores or the direction of the
# mask, limits, or the precision.
#
# D6: the released script multiplies attention by attention where the paper multiplies it by its gradient. D10: DeepLIFT by
# exact rules for every operation, where captum, which the released code calls, takes the gradient of all but the pooler's
# tanh.

# %% [markdown]
# ## Appendix C: Gaussian noise and a continuous attention mask
#
# Instead of losing elements, the embedding $x_i$ of a word gets noise in proportion to how little (sufficiency) or how much
# (comprehensiveness) it matters, with $g \sim N(0, \sigma^2)$ for every element and $\lambda_i$ that proportion:
#
# $$x'_i = x_i + \lambda_i\, g\, x_i \quad \text{(Eq. 7)}, \qquad x'_i = x_i + g'\, x_i, \;
# g' \sim N(0, \lambda_i \sigma^2) \quad \text{(Eq. 8)}.$$

# %% [markdown]
# ## Block by block

# %%
labels = {"seed": seed, "clusters": data.clusters}
for rows in run.blocks(len(data), settings["block"]):
    block = Block(task, data[rows])
    variants = values_by_variant(block, draws=settings["draws"])
    appendix = values_by_perturbation(
        block, draws=settings["draws"], noise_draws=settings["noise_draws"], variances=settings["variances"]
    )
    run.add(variants, "soft_variants")
    run.add_units(as_units(variants, keys=["variant"], **labels), "variants")
    run.add(appendix, "soft_appendix")
    filled = appendix.assign(variance=appendix.variance.fillna(0))  # of what adds no noise
    run.add_units(as_units(filled, keys=["perturbation", "variance"], **labels), "appendix")
    run.count(n=len(block.ids), truncated=int(block.inputs.truncated.sum()), **costs(*block.perturbers()))

# %%
run.note(dtype=f"{settings['dtype']}, and bfloat16 for its own variant", device=task.device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean soft scores of each variant, over the attribution methods. `paper` is the text's own way; the others change one choice.
# *Book*: the full run's mean. `notebooks/report/soft_deviations.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, part="variants", by=["metric", "variant"], metrics=["soft_ns", "soft_nc"])
