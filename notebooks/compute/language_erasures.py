# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: which erasure?
#
# Study 5, question 2, on a small language model. Basu & Chakraborty (2026) set the words that a method names against random words
# of the same number, and count how often it wins; the answer, they say, depends on how words are erased. Here they are deleted,
# replaced by the padding token, set to zero, or filled in with words of other texts. The rules are in
# `data/claims.csv` (lm_ice_c01 to lm_ice_c04), committed before any value was computed.

# %% tags=["parameters"]
profile = "laptop"
dataset = "prompted-movie"
model = "smollm2"
part = 1  # of `parts`: which share of the inputs
parts = 1

# %%
import pandas as pd
import torch

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.language import filled_in, language_model, prompts
from faithlib.attribution import Row
from faithlib.evaluation import explain, win_rate_scores
from faithlib.metrics import average_precision
from faithlib.perturb import Perturber, asked_together, costs

run = start_run("language_erasures", profile=profile, dataset=dataset, model=model, part=part, parts=parts)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
network, tokenizer = language_model(model)
network.to(device)
task = prompts(dataset, settings["inputs"][dataset], words=tuple(settings["words"][dataset]))

# %% [markdown]
# ## Rationales and their rivals
#
# A rationale is the fifth of a text's words with the highest scores. Attributions are the same for all erasures; occlusion, which
# erases itself, sets words to zero.

# %%
METHODS = {
    "attention": Row("attention"),
    "rollout_dropped": Row("rollout", options={"sink": "drop"}),
    "input_x_gradient": Row("input_x_gradient"),
    "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
    "occlusion": Row("occlusion"),
    "random": Row("random", options={"seed": 1}),
}
GIVEN = {"share": settings["share"], "matches": settings["matches"]}
KEYS = ["erasure"]


def as_rows(values, ids):
    """Win rates [B] by erasure, method and metric as rows."""
    frames = [
        pd.DataFrame({"input": ids, "erasure": erasure, "method": method, "metric": metric, "value": value.cpu()})
        for erasure, by_method in values.items()
        for method, found in by_method.items()
        for metric, value in found.items()
    ]
    return pd.concat(frames)


def together(asked, scores):
    """Win rates of all methods, all rows run together."""
    return asked_together(lambda: {name: win_rate_scores(asked, one, **GIVEN) for name, one in scores.items()}, asked)


# %%
for rows in run.blocks(len(task), settings["block"]):
    block = task[rows]
    ids = list(block.ids)
    lm, inputs = block.asked(network, tokenizer)
    inputs = inputs.to(device)
    scores = explain(lm, inputs, METHODS)
    found = {}
    for erasure in ("delete", "pad", "zero"):
        perturber = Perturber(lm, inputs, erase=erasure)
        found[erasure] = together(perturber, scores)
        run.count(**costs(perturber))
    single = []
    for b, n in enumerate(inputs.n_features.tolist()):
        about = {"target": int(perturber.target[b]), "features": inputs.feature_of_word[b]}
        asked = filled_in(block, b, task, network, tokenizer, **about)
        single.append(together(asked, {name: one[b : b + 1, :n].cpu() for name, one in scores.items()}))
        run.count(**costs(asked))
    found["infill"] = {
        method: {metric: torch.cat([one[method][metric] for one in single]) for metric in single[0][method]}
        for method in single[0]
    }
    run.add_units(as_units(as_rows(found, ids), seed=0, keys=KEYS))
    facts = {"right": block.right(network, tokenizer).double(), "words": inputs.n_features.double()}
    texts = as_rows({"none": {"none": facts}}, ids)
    if block.marked:
        gold = block.gold(inputs.to("cpu")).to(device)
        plausible = {
            name: {"average_precision": average_precision(one, gold, inputs.feature_mask)}
            for name, one in scores.items()
        }
        texts = pd.concat([texts, as_rows({"none": plausible}, ids)])
    run.add_units(as_units(texts, seed=0, keys=KEYS), "texts")
    run.count(n=len(block))

# %%
run.note(dtype="float32", device=device, model="SmolLM2-135M-Instruct, 4-bit dequantised")
run.finish()
