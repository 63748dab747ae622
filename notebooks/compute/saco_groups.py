# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: SaCo with other numbers of groups, on images that were kept unseen
#
# `saco_metrics` cut the unseen images into ten groups of pixels. Table 2 of Wu et al. (2024), and three claims on it, have five and
# twenty groups as well. Here the same images, explained by the same methods, are cut in these two ways, for SaCo alone. At other profiles
# `saco_metrics` does this itself, and the book has no run of this notebook.

# %% tags=["parameters"]
profile = "laptop"
dataset = "fashion"
model = "base"  # one of the models of the data set
part = 1  # of `parts`: which share of the pictures
parts = 1

# %%
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.images import load_pictures
from faithbook.studies.saco.wu_metrics import ExplainedPictures, Setting, batches, saco_by_groups
from faithlib.perturb import costs

run = start_run("saco_groups", profile=profile, dataset=dataset, model=model, part=part, parts=parts)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
pictures = load_pictures(dataset, "test", n=settings["pictures"], sample=settings["sample"])
classifier = load_model(settings["models"][model])
classifier.check_classes(pictures)
classifier.model.to(device)

# %% [markdown]
# ## SaCo
#
# Pixels are cut into $K$ groups $G_1, …, G_K$ by falling salience. With $s_i$ the salience of a group and
# $\Delta_i = p(x) - p(x \setminus G_i)$ what the model loses when it alone is erased,
#
# $$\mathrm{SaCo} = \frac{\sum_{i<j} \pm (s_i - s_j)}{\sum_{i<j} |s_i - s_j|},$$
#
# with $+$ where $\Delta_i \ge \Delta_j$ and $-$ elsewhere. Maps, replacement and precision are those of the main setting of `saco_metrics`.

# %%
main = Setting(dtype=getattr(torch, settings["dtype"]))
explained = {"ig_steps": settings["ig_steps"], "random_draws": settings["random_draws"], "device": device}
for rows in tqdm(run.shared(batches(len(pictures), settings["batch"], special=[])), desc="batches"):
    batch = ExplainedPictures(classifier.model, pictures[rows], **explained)
    groups = saco_by_groups(batch, main, settings["group_counts"]).assign(dataset=dataset, model=model)
    run.add_units(as_units(groups, seed=0, metrics=["saco"], keys=["dataset", "model", "draw", "k"]), "groups")
    run.count(**costs(*batch.perturbers.values()), n=len(batch.pictures))

# %%
run.note(dtype=settings["dtype"], device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean of SaCo over images, by explanation and number of groups.

# %%
beside_book(run, by=["method", "k"], part="groups", metrics=["saco"])
