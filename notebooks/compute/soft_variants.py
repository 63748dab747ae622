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
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.soft.zhao_aletras_soft import Asked, attention_mask_scores, gaussian_scores
from faithlib.evaluation import RELEASED_RATIOS, soft_scores
from faithlib.metrics import erasure
from faithlib.perturb import Perturber, costs

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
draws = settings["draws"]

# %%
task = Asked(settings, dataset, seed)
data = task.data


class Block:
    """Some of the texts, read by the model: their scores, and a perturber for each precision and each erasure."""

    def __init__(self, texts):
        self.ids = texts.ids
        self.inputs = task.inputs_of(texts)
        self.perturber = Perturber(task.model, self.inputs, dtype=task.dtype)
        self.padded = Perturber(task.model, self.inputs, erase="pad", dtype=task.dtype)
        self.low, self.high = (
            self.perturber if task.dtype == other else Perturber(task.model, self.inputs, dtype=other)
            for other in (torch.bfloat16, torch.float32)
        )
        self.scores = task.explained(self.inputs)

    def frame(self, values, method, **columns):
        """Means over lengths or draws, one row per input and metric."""
        parts = [
            pd.DataFrame({"input": self.ids, "metric": metric, "value": value.float().mean(dim=1).cpu()})
            for metric, value in values.items()
        ]
        return pd.concat(parts).assign(dataset=dataset, model_seed=seed, method=method, **columns)

    def costs(self):
        """Of all perturbers."""
        return costs(*self.perturbers())

    def perturbers(self):
        """Each once."""
        return {self.perturber, self.padded, self.low, self.high}


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


# %%
# Each function queues rows and returns what will make the values, so that the rows of all variants of all methods share
# forward passes.
def hard(perturber, score, **choice):
    """Hard values, with one choice changed."""
    return erasure.hard.later(perturber, score, **choice)


def soft(perturber, score, **choice):
    """Soft values with the draws of this profile, with one choice changed."""
    return erasure.soft.later(perturber, score, draws=draws, seed=seed, **choice)


def variants_of(block, score):
    """What makes the hard and soft values of each variant."""
    perturber, released = block.perturber, ("released_ns", "released_nc")
    as_written = soft(perturber, score)

    def first_draw():
        return {name: value[:, :1] for name, value in as_written().items()}

    return {
        "paper": [hard(perturber, score), as_written],
        "draws=1": [first_draw],
        "direction=released": [soft(perturber, score, variant="released")],
        "normaliser=rank": [soft(perturber, score, normaliser="rank")],
        "normaliser=sigmoid": [soft(perturber, score, normaliser="sigmoid")],
        "normaliser=released": [soft(perturber, score, normaliser=released)],
        "direction=released, normaliser=released": [soft(perturber, score, normaliser=released, variant="released")],
        "baseline=pad": [hard(block.padded, score), soft(perturber, score, empty=block.padded.empty)],
        "ratios=released": [hard(perturber, score, ratios=RELEASED_RATIOS)],
        "clip=released": [hard(perturber, score, clip=True), soft(perturber, score, clip=True)],
        "dtype=bfloat16": [hard(block.low, score), soft(block.low, score)],
        "dtype=float32": [hard(block.high, score), soft(block.high, score)],
    }


# %% [markdown]
# D6: the released script multiplies attention by attention where the paper multiplies it by its gradient. D10: DeepLIFT by
# exact rules for every operation, where captum, which the released code calls, takes the gradient of all but the pooler's
# tanh.


# %%
OTHER_METHODS = {
    "scaled_attention=released": ("scaled_attention", {"variant": "released"}),
    "deeplift=exact": ("deeplift", {"aggregation": "sum", "rules": "rescale"}),
}


def all_variants(block):
    """Rows of every variant of every method."""
    others = {
        variant: task.attribute(method, block.inputs, **options) for variant, (method, options) in OTHER_METHODS.items()
    }
    queued = []
    for method, score in block.scores.items():
        for variant, parts in variants_of(block, score).items():
            queued.append((method, variant, parts))
    for variant, score in others.items():
        queued.append(
            (OTHER_METHODS[variant][0], variant, [hard(block.perturber, score), soft(block.perturber, score)])
        )
    frames = []
    for method, variant, parts in queued:
        frames += [block.frame(values(), method, variant=variant) for values in parts]
    return pd.concat(frames, ignore_index=True)


# %% [markdown]
# ## Appendix C: Gaussian noise and a continuous attention mask
#
# Instead of losing elements, the embedding $x_i$ of a word gets noise in proportion to how little (sufficiency) or how much
# (comprehensiveness) it matters, with $g \sim N(0, \sigma^2)$ for every element and $\lambda_i$ that proportion:
#
# $$x'_i = x_i + \lambda_i\, g\, x_i \quad \text{(Eq. 7)}, \qquad x'_i = x_i + g'\, x_i, \;
# g' \sim N(0, \lambda_i \sigma^2) \quad \text{(Eq. 8)}.$$


# %%
def all_perturbations(block):
    """Rows of every way to perturb, of every method."""
    perturber = block.perturber
    frames = []
    for method, score in block.scores.items():
        dropout = soft_scores(perturber, score, draws=draws, seed=seed)
        frames.append(block.frame(dropout, method, perturbation="dropout"))
        masked = attention_mask_scores(perturber, score)
        frames.append(block.frame(masked, method, perturbation="attention_mask"))
        for equation in (7, 8):
            for variance in settings["variances"]:
                noise = {"variance": variance, "equation": equation, "draws": settings["noise_draws"]}
                noisy = gaussian_scores(perturber, score, **noise, seed=seed)
                frames.append(block.frame(noisy, method, perturbation=f"gaussian_eq{equation}", variance=variance))
    return pd.concat(frames, ignore_index=True)


# %% [markdown]
# ## Block by block

# %%
labels = {"seed": seed, "clusters": data.clusters}
for rows in run.blocks(len(data), settings["block"]):
    block = Block(data[rows])
    variants, appendix = all_variants(block), all_perturbations(block)
    run.add(variants, "soft_variants")
    run.add_units(as_units(variants, keys=["variant"], **labels), "variants")
    run.add(appendix, "soft_appendix")
    filled = appendix.assign(variance=appendix.variance.fillna(0))  # of what adds no noise
    run.add_units(as_units(filled, keys=["perturbation", "variance"], **labels), "appendix")
    run.count(n=len(block.ids), truncated=int(block.inputs.truncated.sum()), **block.costs())

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
