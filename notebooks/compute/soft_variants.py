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

# %%
import pandas as pd
import torch

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.papers.zhao_aletras_soft import Asked, attention_mask_scores, gaussian_scores
from faithlib.evaluation import RELEASED_RATIOS, hard_scores, soft_scores
from faithlib.perturb import Perturber, asked_together, costs

run = start_run(
    "soft_variants", profile=profile, dataset=dataset, classifier=classifier, seed=seed, part=part, parts=parts
)
settings = run.settings
draws = settings["draws"]

# %%
task = Asked(settings, dataset, classifier, seed)
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

    def together(self, ask):
        """What `ask` returns, its rows asked together."""
        return asked_together(ask, *self.perturbers())

    def costs(self):
        """Of all perturbers."""
        return costs(*self.perturbers())

    def perturbers(self):
        """Each once."""
        return {self.perturber, self.padded, self.low, self.high}


# %% [markdown]
# ## One choice changed at a time


# %%
def soft(perturber, score, **choice):
    """Soft scores with the draws of this profile and one choice changed."""
    return soft_scores(perturber, score, draws=draws, seed=seed, **choice)


def variants_of(block, score):
    """Hard and soft values by variant."""
    perturber, released = block.perturber, ("released_ns", "released_nc")
    as_written = soft(perturber, score)
    return {
        "paper": {**hard_scores(perturber, score), **as_written},
        "draws=1": {name: value[:, :1] for name, value in as_written.items()},
        "direction=released": soft(perturber, score, variant="released"),
        "normaliser=rank": soft(perturber, score, normaliser="rank"),
        "normaliser=sigmoid": soft(perturber, score, normaliser="sigmoid"),
        "normaliser=released": soft(perturber, score, normaliser=released),
        "direction=released, normaliser=released": soft(perturber, score, normaliser=released, variant="released"),
        "baseline=pad": {
            **hard_scores(block.padded, score),
            **soft(perturber, score, empty=block.padded.empty),
        },
        "ratios=released": hard_scores(perturber, score, ratios=RELEASED_RATIOS),
        "clip=released": {**hard_scores(perturber, score, clip=True), **soft(perturber, score, clip=True)},
        "dtype=bfloat16": {**hard_scores(block.low, score), **soft(block.low, score)},
        "dtype=float32": {**hard_scores(block.high, score), **soft(block.high, score)},
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

    def ask():
        for method, score in block.scores.items():
            for variant, values in variants_of(block, score).items():
                yield method, variant, values
        for variant, score in others.items():
            values = {**hard_scores(block.perturber, score), **soft(block.perturber, score)}
            yield OTHER_METHODS[variant][0], variant, values

    asked = block.together(lambda: list(ask()))
    return pd.concat([block.frame(values, of, variant=name) for of, name, values in asked], ignore_index=True)


# %% [markdown]
# ## Appendix C: Gaussian noise and a continuous attention mask


# %%
def all_perturbations(block):
    """Rows of every way to perturb, of every method."""

    def ask():
        for method, score in block.scores.items():
            yield method, soft(block.perturber, score), {"perturbation": "dropout"}
            yield method, attention_mask_scores(block.perturber, score), {"perturbation": "attention_mask"}
            for equation in (7, 8):
                for variance in settings["variances"]:
                    noise = {"variance": variance, "equation": equation, "draws": settings["noise_draws"]}
                    noisy = gaussian_scores(block.perturber, score, **noise, seed=seed)
                    yield method, noisy, {"perturbation": f"gaussian_eq{equation}", "variance": variance}

    asked = block.together(lambda: list(ask()))
    return pd.concat([block.frame(values, method, **named) for method, values, named in asked], ignore_index=True)


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
