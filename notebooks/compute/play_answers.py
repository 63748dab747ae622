# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: every model output that the games of `play` can need
#
# A page without a kernel cannot run a model. So everything is computed here: all sets of words of a few short sentences of
# our own and of some that Edin et al. released, one word at every importance of a grid, and the groups of one image.
# Sizes are the same in every profile. Whoever wants other sentences in the games changes `SENTENCES` below and builds the page again;
# each of *n* words takes $2^n$ rows of the model.

# %% tags=["parameters"]
profile = "laptop"

# %%
import numpy as np
import pandas as pd
import torch

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.studies.naopc import edin
from faithbook.studies.naopc.edin_released import MODELS
from faithbook.studies.together.games.answers import attributed, drawn_numbers, erasing, every_answer, soft_grid
from faithlib.attribution import attribute
from faithlib.evaluation import saco_steps
from faithlib.inputs import TextInputs
from faithlib.masks import salience_groups
from faithlib.metrics import saco
from faithlib.perturb import Perturber, costs

run = start_run("play_answers", profile=profile)

# %% [markdown]
# ## Sentences of our own
#
# The probability of the class that the model predicts, with `[MASK]` instead of each removed word: with $f(S)$ that of the
# words $S$, for each of the $2^n$ sets, and for an order of removal that leaves $S_0 \supset S_1 \supset … \supset S_n$
#
# $$\mathrm{AOPC} = \frac{1}{n} \sum_{k=1}^{n} \bigl(f(S_0) - f(S_k)\bigr).$$
#
# Attributions that erase words need sets that are known by then.

# %%
SENTENCES = (
    "I laughed once and then fell fast asleep",
    "This plot is thin but its acting shines",
    "Not a bad word about this truly lovely film",
)
classifier = load_model("local:text/movie-seed0")
inputs = TextInputs.from_texts(list(SENTENCES), classifier.tokenizer, unit="word")
score = Perturber(classifier.model, inputs, erase="mask")
METHODS = {
    "occlusion": {},
    "input_x_gradient": {"aggregation": "sum"},
    "integrated_gradients": {"aggregation": "sum", "n_steps": 16},
    "lime": {"n_samples": 200, "seed": 0},
    "shapley_sampling": {"n_samples": 25, "seed": 0},
}
table = edin.AnswerTable(list(range(len(inputs))), every_answer(score))
games = {"movie": erasing(table, attributed(METHODS, classifier.model, inputs, score, output="probability"))}
predicted = [classifier.label_names[label] for label in score.predicted.tolist()]
run.save(
    pd.DataFrame(
        [
            {"item": b, "place": place, "word": word, "says": predicted[b]}
            for b, words in enumerate(inputs.features)
            for place, word in enumerate(words)
        ]
    ),
    "play_words",
)

# %% [markdown]
# ## Released sentences
#
# The first short text of SST-2 of each size for which all six models lean to the positive class and all scores are
# available. We may not show their words, so a word is a number.

# %%
SIZES, OF_EACH = (8, 9, 10), 2
RELEASED = ("occlusion", "input_x_gradient", "integrated_gradients", "lime", "kernel_shap")
tables = {model: edin.answers(model, "sst2") for model in MODELS}
attributed = {model: edin.scores_of(model, "sst2", table) for model, table in tables.items()}
present = next(iter(tables.values())).feature_mask
usable = torch.ones(len(present), dtype=torch.bool)
for model, table in tables.items():
    usable &= table.full > 0.5
    for method in RELEASED:
        usable &= attributed[model][method].isfinite().all(dim=1)
sizes = present.sum(dim=1)
chosen = torch.cat([((sizes == size) & usable).nonzero()[:OF_EACH, 0] for size in SIZES])
for model, table in tables.items():
    whole = every_answer(table)
    few = edin.AnswerTable([table.ids[b] for b in chosen.tolist()], [whole[b] for b in chosen.tolist()])
    width = few.feature_mask.shape[1]
    games[model] = erasing(few, {method: attributed[model][method][chosen, :width] for method in RELEASED})
for name in ("answers", "items", "orders"):
    parts = [getattr(game, name).assign(model=model) for model, game in games.items()]
    run.save(pd.concat(parts, ignore_index=True), f"play_{name}")

# %% [markdown]
# ## Soft erasure of one word
#
# All other words stay whole. The same draws at every importance.

# %%
GRID, DRAWS, SHOWN = np.linspace(0, 1, 11).round(1).tolist(), 10, 64
SOFT = 1
example = inputs[[SOFT]]
answered = soft_grid(classifier.model, example, GRID, draws=DRAWS)
numbers = drawn_numbers(example, classifier.model.config.hidden_size, shown=SHOWN)
words = example.features[0]
run.save(
    pd.DataFrame(
        [
            {"place": place, "word": word, "importance": importance, "draw": draw, "p": answered[place, g, draw].item()}
            | {"says": predicted[SOFT]}
            for place, word in enumerate(words)
            for g, importance in enumerate(GRID)
            for draw in range(DRAWS)
        ]
    ),
    "play_soft",
)
run.save(pd.DataFrame(numbers.numpy().T, columns=[f"word{place}" for place in range(len(words))]), "play_soft_numbers")

# %% [markdown]
# ## Groups of one image
#
# Among the first test images that the model classifies correctly, the one whose groups matter most unequally and
# whose attribution is neither all right nor all wrong. Its 49 patches form six groups by salience, each erased alone.

# %%
GROUPS, EXPLAINED, CANDIDATES = 6, "rollout", 16
pictures = load_pictures("fashion", "test", n=CANDIDATES)
vit = load_model("local:vision/fashion-base-seed0").model
patches = as_inputs(pictures, vit, patch=vit.patch_embed.patch_size[0])
asked = Perturber(vit, patches, erase="mean")
salience = attribute(EXPLAINED, vit, patches)
grouping = {"remainder": "spread", "ties": "position"}
steps = saco_steps(asked, salience, k=GROUPS, reduce="mean", **grouping)
coefficient = saco(steps.salience, steps.alone)
right = asked.predicted.cpu() == torch.tensor(pictures.labels)
unequal = (steps.alone.max(dim=1).values - steps.alone.min(dim=1).values).cpu()
taken = int(torch.where(right & (coefficient.abs().cpu() < 0.7), unequal, -1.0).argmax())
group = salience_groups(salience, GROUPS, asked.feature_mask, **grouping)[taken]
run.save(
    pd.DataFrame(
        {
            "group": range(GROUPS),
            "salience": steps.salience[taken].double().cpu(),
            "drop": steps.alone[taken].double().cpu(),
            "coefficient": coefficient[taken].item(),
            "method": EXPLAINED,
            "says": pictures.label_names[int(asked.predicted[taken])],
            "full": asked.full[taken].item(),
        }
    ),
    "play_groups",
)
side = patches.pixels.shape[-1]
patch_of = np.arange(side) // vit.patch_embed.patch_size[0]
own_patch = patch_of[:, None] * (patch_of[-1] + 1) + patch_of
grey = np.asarray(pictures.opened()[taken].convert("L").resize((side, side)))
run.save(pd.DataFrame({"grey": grey.ravel(), "group": group.cpu().numpy()[own_patch].ravel()}), "play_picture")

# %%
played = pd.concat([game.orders.assign(model=model) for model, game in games.items()], ignore_index=True)
run.save_units(as_units(played, seed=0, metrics=["aopc", "naopc"], keys=["model"], name="item"))
run.note(n=len(SENTENCES) + len(chosen), draws=DRAWS, **costs(score, asked), dtype="float32", device="cpu")
run.finish()
