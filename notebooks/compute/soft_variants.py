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
seed = 0

# %%
import pandas as pd
import torch

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.papers.zhao_aletras_soft import attention_mask_scores, gaussian_scores
from faithbook.sources.datasets import load_dataset
from faithlib.attribution import attribute
from faithlib.evaluation import RELEASED_RATIOS, hard_scores, soft_scores
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, costs

run = start_run("soft_variants", profile=profile, dataset=dataset, seed=seed)
settings = run.settings
draws = settings["draws"]

# %%
data = load_dataset(dataset, "test", n=settings["inputs"][dataset], seed=0)
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["models"][dataset].format(seed=seed))
model = classifier.model.to(device)
inputs = TextInputs.from_texts(data.texts, classifier.tokenizer, queries=data.queries, max_length=data.max_length)

# %%
methods = {
    "attention": {},
    "scaled_attention": {},
    "input_x_gradient": {"aggregation": "abs_sum"},
    "integrated_gradients": {"aggregation": "sum", "n_steps": settings["ig_steps"]},
    "deeplift": {"aggregation": "sum", "rules": "captum"},
    "random": {"seed": seed},
}
scores = {name: attribute(name, model, inputs, output="logit", **options) for name, options in methods.items()}

# %%
dtype = getattr(torch, settings["dtype"])
perturber = Perturber(model, inputs, dtype=dtype)
padded = Perturber(model, inputs, erase="pad", dtype=dtype)
low_precision = perturber if dtype == torch.bfloat16 else Perturber(model, inputs, dtype=torch.bfloat16)
high_precision = perturber if dtype == torch.float32 else Perturber(model, inputs)


def frame(values: dict[str, torch.Tensor], method: str, **columns: object) -> pd.DataFrame:
    """Means over lengths or draws, one row an input and metric."""
    parts = [
        pd.DataFrame({"input": data.ids, "metric": metric, "value": value.float().mean(dim=1).cpu()})
        for metric, value in values.items()
    ]
    return pd.concat(parts).assign(dataset=dataset, model_seed=seed, method=method, **columns)


# %% [markdown]
# ## One choice changed at a time

# %%
rows = []
for method, score in scores.items():
    hard, soft = hard_scores(perturber, score), soft_scores(perturber, score, draws=draws, seed=seed)
    variants = {
        "paper": {**hard, **soft},
        "draws=1": {name: value[:, :1] for name, value in soft.items()},
        "direction=released": soft_scores(perturber, score, draws=draws, seed=seed, variant="released"),
        "normaliser=rank": soft_scores(perturber, score, draws=draws, seed=seed, normaliser="rank"),
        "normaliser=sigmoid": soft_scores(perturber, score, draws=draws, seed=seed, normaliser="sigmoid"),
        "normaliser=released": soft_scores(
            perturber, score, draws=draws, seed=seed, normaliser=("released_ns", "released_nc")
        ),
        "direction=released, normaliser=released": soft_scores(
            perturber, score, draws=draws, seed=seed, normaliser=("released_ns", "released_nc"), variant="released"
        ),
        "baseline=pad": {
            **hard_scores(padded, score),
            **soft_scores(perturber, score, draws=draws, seed=seed, empty=padded.empty),
        },
        "ratios=released": hard_scores(perturber, score, ratios=RELEASED_RATIOS),
        "clip=released": {
            **hard_scores(perturber, score, clip=True),
            **soft_scores(perturber, score, draws=draws, seed=seed, clip=True),
        },
        "dtype=bfloat16": {
            **hard_scores(low_precision, score),
            **soft_scores(low_precision, score, draws=draws, seed=seed),
        },
        "dtype=float32": {
            **hard_scores(high_precision, score),
            **soft_scores(high_precision, score, draws=draws, seed=seed),
        },
    }
    rows += [frame(values, method, variant=variant) for variant, values in variants.items()]

# %% [markdown]
# D6: the released script multiplies attention by attention where the paper multiplies it by its gradient.

# %%
squared = attribute("scaled_attention", model, inputs, output="logit", variant="released")
rows.append(
    frame(
        {**hard_scores(perturber, squared), **soft_scores(perturber, squared, draws=draws, seed=seed)},
        "scaled_attention",
        variant="scaled_attention=released",
    )
)
# %% [markdown]
# D10: DeepLIFT by exact rules for every operation, where captum, which the released code calls, takes the gradient of all
# but the pooler's tanh.

# %%
exact = attribute("deeplift", model, inputs, output="logit", aggregation="sum", rules="rescale")
rows.append(
    frame(
        {**hard_scores(perturber, exact), **soft_scores(perturber, exact, draws=draws, seed=seed)},
        "deeplift",
        variant="deeplift=exact",
    )
)
variants = pd.concat(rows, ignore_index=True)
run.save(variants, "soft_variants")
run.save_units(as_units(variants, seed=seed, clusters=data.clusters, keys=["variant"]), "variants")

# %% [markdown]
# ## Appendix C: Gaussian noise and a continuous attention mask

# %%
rows = []
for method, score in scores.items():
    dropout = soft_scores(perturber, score, draws=draws, seed=seed)
    masked = attention_mask_scores(perturber, score)
    rows += [frame(dropout, method, perturbation="dropout"), frame(masked, method, perturbation="attention_mask")]
    for equation in (7, 8):
        for variance in settings["variances"]:
            noisy = gaussian_scores(
                perturber, score, variance=variance, equation=equation, draws=settings["noise_draws"], seed=seed
            )
            rows.append(frame(noisy, method, perturbation=f"gaussian_eq{equation}", variance=variance))
appendix = pd.concat(rows, ignore_index=True)
run.save(appendix, "soft_appendix")
appendix["variance"] = appendix.variance.fillna(0)  # of what adds no noise
run.save_units(as_units(appendix, seed=seed, clusters=data.clusters, keys=["perturbation", "variance"]), "appendix")

# %%
run.note(
    n=len(inputs),
    truncated=int(inputs.truncated.sum()),
    **costs(*{perturber, padded, low_precision, high_precision}),
    dtype=f"{settings['dtype']}, and bfloat16 for its own variant",
    device=device,
)
run.finish()
