# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: the grid's question on trained models
#
# Models that were trained on planted features: on erased copies as they are, or with another label for copies of which a certain
# amount is erased (`faithbook.sources.planted.MISREAD`): one of the two classes, or *neither*. On inputs with something planted about
# which every model is right, all metrics score ten graded explanations, as in the grid. First it is checked whether a model errs
# where it was taught to.

# %% tags=["parameters"]
profile = "laptop"
modality = "text"
# Your choices: None is what the profile says.
inputs = None  # inputs of either class
draws = None  # masks per soft score

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.studies.safe import trained
from faithbook.studies.safe.trainings import Training
from faithbook.studies.together import reasons
from faithlib.perturb import Perturber

run = start_run("safe_planted", profile=profile, modality=modality, inputs=inputs, draws=draws)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
models = {name: load_model(spec) for name, spec in settings["models"].items()}
trainings = {name: Training.of(name) for name in models}
for classifier in models.values():
    classifier.model.to(device)
ERASE = reasons.ERASURES[modality][0]

# %% [markdown]
# ## Inputs about which every model is right
#
# As many of either class, so that errors toward the class and away from it weigh the same.

# %%
wanted, looked_at = settings["inputs"], 12 * settings["inputs"]
prepared, right = {}, []
for name, classifier in models.items():
    inputs, marks, labels, ids = reasons.planted_inputs(modality, "planted", classifier, looked_at)
    prepared[name] = (inputs.to(device), marks, labels, ids)
    right.append(Perturber(classifier.model, prepared[name][0]).predicted.cpu() == labels)
rows = []
for label in (1, 2):
    known = torch.stack(right).all(dim=0) & (labels == label)
    rows += known.nonzero()[: wanted // 2, 0].tolist()

# %% [markdown]
# ## Does a metric order explanations as they are?
#
# Of ten graded explanations $e$ of an input the quality $q_e$ is known, since the planted features are. A metric gives them the
# values $m_e$, and follows the truth as far as
#
# $$\rho = \mathrm{corr}\bigl(\mathrm{rank}(m_e),\ \mathrm{rank}(q_e)\bigr)$$
#
# is near 1. Beside it the check: how often a model says the taught class when so much is erased.

# %%
tables, checks = [], []
for name, classifier in tqdm(models.items(), desc="models"):
    inputs, marks, labels, ids = prepared[name]
    part = inputs[rows]
    width = part.feature_mask.shape[1]
    training = trainings[name]
    of_rows = {"marks": marks[rows][:, :width], "labels": labels[rows], "ids": [ids[i] for i in rows]}
    scored = trained.measured(classifier, part, **of_rows, training=training, erase=ERASE, draws=settings["draws"])
    tables.append(scored.assign(**training.about))
    misled = [i for i in rows if labels[i] != training.answer]
    seen = inputs[misled]
    planted = marks[misled][:, : seen.feature_mask.shape[1]]
    checked = trained.errs(classifier, seen, planted, answer=training.answer, erase=ERASE)
    named = checked.assign(input=[ids[misled[b]] for b in checked.row], **training.about)
    checks.append(named.drop(columns="row"))
values, checks = pd.concat(tables, ignore_index=True), pd.concat(checks, ignore_index=True)
keys = ["model", "error", "taught", "encoder"]
run.save_units(as_units(values, seed="seed", keys=[*keys, "whither"]))
run.save_units(as_units(checks.assign(metric="taught class", method=checks.amount), seed="seed", keys=keys), "checks")

# %%
run.note(n=len(rows), models=len(models), dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean rank correlation with the planted truth by metric and model: one that never errs on erased inputs, and one that was
# taught to. *Book*: the full run's mean.

# %%
beside_book(run, by=["model", "method"], metrics=["rank correlation"])
