# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: two attributions that agree on the top two tokens
#
# For Figure 1 of Zhao & Aletras (2023): a sentence, an attribution A of a real model, an attribution B made from it
# by hand, and the scores of both under hard and soft erasure. `soft_examples` explains how the sentence is chosen
# and B is made.

# %% tags=["parameters"]
profile = "laptop"
# Your choices: None is what the profile says.
sentences = None  # of the test split that are looked at for one that fits
draws = None  # masks per soft score

# %%
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithlib.attribution import attribute
from faithlib.inputs import TextInputs
from faithlib.masks import position_in_rank
from faithlib.metrics import erasure
from faithlib.perturb import Perturber, costs

run = start_run("soft_two_attributions", profile=profile, sentences=sentences, draws=draws)
settings = run.settings
DRAWS = settings["draws"]

# %% [markdown]
# ## The sentence
#
# Of the first test sentences, those of 8 to 14 wordpieces on which erasing everything costs at least .2 of
# probability; of these, the one on which erasing the top two tokens costs most.

# %%
data = load_dataset(settings["shown"], "test", n=settings["sentences"], seed=0, sample=settings["sample"])
classifier = load_model(settings["model"])


def encoded(chosen):
    """The model's inputs of some sentences."""
    queries = None if data.queries is None else [data.queries[i] for i in chosen]
    return TextInputs.from_texts(
        [data.texts[i] for i in chosen], classifier.tokenizer, queries=queries, max_length=classifier.window(data)
    )


lengths = encoded(range(len(data))).n_features
short = [i for i in range(len(data)) if 8 <= lengths[i] <= 14] or [int(lengths.argmin())]
candidates = Perturber(classifier.model, encoded(short))
real = attribute("input_x_gradient", classifier.model, candidates.inputs, output="logit", aggregation="abs_sum")
top_two = position_in_rank(real, candidates.inputs.feature_mask) < 2
loss = candidates.full - candidates.keep(~top_two[:, None, :])[:, 0]
# Where erasing everything hardly matters, the scores divide by almost nothing.
room = candidates.full - candidates.empty
chosen = int(torch.where(room > min(0.2, room.max().item() / 2), loss, -torch.inf).argmax())
sentence = encoded([short[chosen]])
perturber = Perturber(classifier.model, sentence)
tokens = sentence.features[0]
n_tokens = len(tokens)

# %% [markdown]
# ## The two attributions
#
# A is the model's input-times-gradient attribution, min-max scaled. In B the two highest scores change places and the
# one that is now second is halved; all others are divided by four.

# %%
raw = real[[chosen], :n_tokens]
a = (raw - raw.min()) / (raw.max() - raw.min())
order = a[0].argsort(descending=True, stable=True)
b = a / 4
b[0, order[0]], b[0, order[1]] = a[0, order[1]] / 2, a[0, order[0]]
# A quarter of any lower score is below half of the second highest, so the top two stay on top in B.
attributions = {"A": a, "B": b}
run.save(pd.DataFrame({"token": tokens} | {name: s[0] for name, s in attributions.items()}), "soft_two_tokens")

# %% [markdown]
# ## Their scores
#
# With $p$ the probability of the predicted class, $x$ the text, $x_\varnothing$ the text with everything erased, $r$ the words of
# the highest scores and $x'$ the text whose embeddings lose elements in proportion to the scores,
#
# $$\mathrm{NC} = \frac{\max(0,\, p(x) - p(x \setminus r))}{p(x) - p(x_\varnothing)}, \qquad
# \text{Soft-NC} = \frac{\max(0,\, p(x) - p(x'))}{p(x) - p(x_\varnothing)},$$
#
# and NS and Soft-NS the same of $r$ alone and of what is kept in proportion, subtracted from 1 (Eq. 1 to 5).
#
# Hard at every rationale length from two tokens on; soft as the mean over draws. The same random numbers serve A and B, so
# the error is that of the paired difference.

# %%
sizes = list(range(2, n_tokens + 1))


def scored(attribution):
    """What will make hard and soft values of scores."""
    hard = erasure.hard.later(perturber, attribution, ratios=[k / n_tokens for k in sizes])
    return hard, erasure.soft.later(perturber, attribution, draws=DRAWS, seed=0, normaliser="none")


queued = {name: scored(attribution) for name, attribution in attributions.items()}
hard = {name: values() for name, (values, _) in queued.items()}
soft = {name: values() for name, (_, values) in queued.items()}
run.save(
    pd.concat(
        pd.DataFrame({"metric": metric, "kept": sizes} | {name: hard[name][metric][0] for name in attributions})
        for metric in ("ns", "nc")
    ),
    "soft_two_hard",
)
means = []
for metric in ("soft_ns", "soft_nc"):
    first, second = (soft[name][metric][0] for name in "AB")
    apart = first - second
    means.append(
        {"metric": metric, "A": first.mean().item(), "B": second.mean().item(), "draws": DRAWS}
        | {"gap": apart.mean().item(), "error": (apart.std() / DRAWS**0.5).item()}
    )
run.save(pd.DataFrame(means), "soft_two_soft")
drawn = pd.concat(
    pd.DataFrame({"method": name, "metric": metric, "draw": range(DRAWS), "value": soft[name][metric][0]})
    for name in attributions
    for metric in soft[name]
)
labels = {"seed": 0, "clusters": data.clusters}
run.save_units(as_units(drawn.assign(input=data.ids[short[chosen]]), keys=["draw"], **labels), "draws")

# %%
run.note(n=1, **costs(candidates, perturber), dtype="float32", device="cpu")
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean soft scores of the two attributions of one text. Hard scores of the top two tokens are equal, since they are the same two.
# *Book*: the full run's mean. `notebooks/report/soft_examples.py` shows the text.

# %%
beside_book(run, part="draws")
