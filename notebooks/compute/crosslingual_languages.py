# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: faithfulness across languages, in the other languages of XNLI
#
# Zaman & Belinkov (2022) find that languages which a model reads better have a higher rho, over the seven languages of
# their Table 2 (`crosslingual_metrics`). More texts do not decide such a trend, more languages do: here the same
# pairs are explained in the seven languages of XNLI that they left out.

# %% tags=["parameters"]
profile = "laptop"
dataset = "nli"
model = "e5"
seed = 0
part = 1  # of `parts`: which share of the texts
parts = 1
# Your choices: None is what the profile says.
texts = None  # texts that are explained in every language
languages = None  # such as ["ar", "vi"]; English is always read

# %%
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.studies.crosslingual.across_languages import Messages, rho_by_setting
from faithbook.studies.crosslingual.links import LINK_RULES
from faithbook.studies.crosslingual.readings import Explainer
from faithbook.studies.crosslingual.zaman_belinkov import THIRTEEN
from faithbook.studies.crosslingual.zaman_belinkov_rows import thirteen_rows

run = start_run(
    "crosslingual_languages",
    profile=profile,
    dataset=dataset,
    model=model,
    seed=seed,
    part=part,
    parts=parts,
    texts=texts,
    languages=languages,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
explainer = Explainer(load_model(settings["model"]), device)
aligner, aligner_tokenizer = load_encoder(settings["aligner"])
aligner = aligner.to(device)

# %% [markdown]
# ## One number per text and language
#
# With $a_k$ the scores of the English words, $b_j$ those of the translation and $A$ the links between them, the paper's
# measure (Eq. 3 and 4) is
#
# $$\rho = \mathrm{corr}\bigl(\mathrm{rank}(a_k),\ \mathrm{rank}(\tilde a_k)\bigr), \qquad
# \tilde a_k = \textstyle\sum_{(k,j) \in A} b_j ,$$
#
# computed for each of the thirteen attributions and both outputs, all with the settings of `crosslingual_metrics`. The
# mean over these rows is the rho of a language. Beside them stands *uniform*, the same score for every piece, which
# does not ask the model: what it gets comes from the number of pieces and from the links.

# %%
FLOOR = ("uniform", "none")
rows = {
    name: row
    for name, row in thirteen_rows(
        ig_steps=settings["ig_steps"], lime_samples=settings["lime_samples"], permutations=settings["permutations"]
    ).items()
    if name[:2] in (*THIRTEEN, FLOOR) and name[3] == "sum"
}
data = load_parallel(
    dataset, ["en", *settings["languages"]], settings["split"], n=settings["texts"], sample=settings["sample"]
)
clusters = load_dataset(dataset, settings["split"], sample="all").clusters
for places in tqdm(list(run.blocks(len(data["en"]), settings["batch"])), desc="texts"):
    messages = Messages(explainer, {language: of_language[places] for language, of_language in data.items()}, rows)
    for cost in messages.costs:
        run.count(rows_asked=int(cost.rows_asked.sum()), rows_run=int(cost.rows_run.sum()))
    messages.link("main", aligner, aligner_tokenizer, layer=settings["align_layer"], rule=LINK_RULES[settings["links"]])
    rho = rho_by_setting(messages, {"main": {}}, seed=seed)
    keys = ["language", "aggregation", "output", "setting"]
    run.add_units(as_units(rho, seed=seed, clusters=clusters, metrics=["rho"], keys=keys))
    run.count(n=len(messages.ids))

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Rho by language and method, mean over texts, outputs and aggregations, beside the full run.
# `notebooks/report/crosslingual_deviations.py` puts these languages beside those of the paper.

# %%
beside_book(run, by=["language", "method"])
