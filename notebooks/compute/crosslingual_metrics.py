# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: faithfulness across languages, and under erasure, of one classifier
#
# Zaman & Belinkov (2022): a model trained on English alone reads a message and its translations, or a premise with
# its hypothesis (`nli`) if XNLI is available. Each reading is explained by thirteen attributions of two outputs, the
# scores of the translation are carried to the English words along word alignments, and the two are correlated. Next
# to it, on English texts, is what happens to the prediction when the words with the highest scores are deleted, or
# all except them. In pairs both texts have scores.

# %% tags=["parameters"]
profile = "laptop"
dataset = "messages"
model = "e5"
seed = 0
only = ""  # "": all thirteen rows; "one pass": those that one gradient gives, on the texts that follow
part = 1  # of `parts`: which share of the messages
parts = 1
# Your choices: None is what the profile says.
messages = None  # messages that are explained in every language
erased = None  # English texts whose words are deleted
ig_steps = None  # points of the path of integrated gradients
lime_samples = None  # copies of a text for LIME
permutations = None  # orders of its words for Shapley values
links = None  # "softmax" or "mutual argmax": the rule of word links

# %%
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.studies.crosslingual.across_languages import (
    SETTINGS,
    Messages,
    links_shown,
    rho_by_choice,
    rho_by_setting,
    words_shown,
)
from faithbook.studies.crosslingual.links import LINK_RULES
from faithbook.studies.crosslingual.readings import ONE_PASS, Explainer
from faithbook.studies.crosslingual.under_erasure import Erased, FirstBatch, erasure_values
from faithbook.studies.crosslingual.zaman_belinkov import PAPER_LANGUAGES
from faithbook.studies.crosslingual.zaman_belinkov_rows import thirteen_rows
from faithlib.perturb import costs

run = start_run(
    "crosslingual_metrics",
    profile=profile,
    dataset=dataset,
    model=model,
    seed=seed,
    only=only,
    part=part,
    parts=parts,
    messages=messages,
    erased=erased,
    ig_steps=ig_steps,
    lime_samples=lime_samples,
    permutations=permutations,
    links=links,
)

settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
explainer = Explainer(load_model(settings["model"]), device)
named = {"dataset": dataset, "model": model, "seed": seed}

# %% [markdown]
# ## Thirteen attributions, two outputs, three baselines
#
# What is explained is the largest logit, $\max_c f_c(x)$ (on an erased copy the largest of that copy), or
# $\log p_y(x)$, the loss with its sign turned, so that a positive score supports the true label $y$. With $e_i$ the
# embeddings of word $i$, paths and erasures begin at the embedding of `[PAD]`: input × gradient is
# $e_i \odot \partial f / \partial e_i$, integrated gradients average the gradient on the way there.
# Scores of a word's pieces are added up, as in the code; their mean is kept as well. `guided_backprop` follows its
# paper, at GELU as at ReLU; what captum makes of it on a model without ReLU modules is kept as its own row.
#
# The baselines ignore the prediction: the same score for every piece (so a word's score is its number of pieces), the
# norm of the embedding (`activation` with L2, one of the paper's thirteen), random scores.
#
# Nearly all the time goes into methods that erase or follow a path. Methods that need one gradient are computed for
# further texts by a run of their own (`only`): under erasure all of these, across languages `activation`, which
# needs no model.

# %%
rows_of_tables = thirteen_rows(
    ig_steps=settings["ig_steps"],
    ig_steps_of=settings["ig_steps_of"].get(model),
    lime_samples=settings["lime_samples"],
    permutations=settings["permutations"],
)
rows_erased, rows_across = rows_of_tables, rows_of_tables
if only:
    rows_erased = {name: row for name, row in rows_of_tables.items() if name[0] in ONE_PASS}
    rows_across = {name: row for name, row in rows_of_tables.items() if name[0] == "activation"}


def texts_of(sample):
    """First and last place of the texts of a sample that this run explains: with `only` those that follow the others."""
    usual = settings[sample]
    return (usual, max(usual, settings["further"][sample])) if only else (0, usual)


def save_costs(costs_of_methods, table):
    """Add what the methods have cost to what the reports read."""
    run.count(rows_asked=int(costs_of_methods.rows_asked.sum()), rows_run=int(costs_of_methods.rows_run.sum()))
    run.add(costs_of_methods.assign(**named), table)


# %% [markdown]
# ## How well the model reads each language
#
# On all messages that exist in every language (of pairs a sample), whether explained below or not, and in some
# languages for which nothing else is computed (`only_read`).

# %%
read_in = [*settings["languages"], *settings["only_read"]]
everyone = load_parallel(dataset, read_in, settings["split"], n=settings["read"] or None, sample=settings["sample"])
clusters = load_dataset(dataset, settings["split"], sample="all").clusters
about = {"seed": seed, "clusters": clusters}
readers = 0 if only else len(everyone["en"])
for places in tqdm(list(run.blocks(readers, 8 * settings["batch"])), desc="predictions"):
    for language, texts in everyone.items():
        answers = explainer.answers(texts[places]).assign(language=language)
        run.add_units(as_units(answers, metrics=["correct"], keys=["language"], **about), "predictions")

# %% [markdown]
# ## Across languages
#
# The measure is Spearman's rank correlation over the English words $k$ between their own scores $a_k$ and those that
# links $A$ carry over from the scores $b_j$ of the translation (Eq. 3 and 4 of the paper):
#
# $$\rho = \mathrm{corr}\bigl(\mathrm{rank}(a_k),\ \mathrm{rank}(\tilde a_k)\bigr), \qquad
# \tilde a_k = \textstyle\sum_{(k,j) \in A} b_j.$$
#
# Links come from the frozen encoder's own hidden states, from the layer that agrees best with alignments made by
# people (`crosslingual_alignment` measures it), and are the same for every model. Links are made by the rule that the
# profile names, and by the other of the two: both softmaxes above a threshold (awesome-align, as the paper), or each
# word the other's nearest. A link between two words becomes a link between the features they belong to: where the
# tokenizer writes two words as one piece they are one feature.
#
# The main setting is the paper's: sums over pieces and over links, English words without a link keep 0. Every other
# setting changes one thing:

# %%
measured = {"main": SETTINGS["main"]} if only else SETTINGS
for name, options in measured.items():
    description = options or "links alone"
    if name == "main":
        description = "as the paper"
    print(f"{name}: {description}")

# %% [markdown]
# A few rows are computed once more with one change at a time, where text and code differ: what is explained (the logit of
# the class predicted for the whole message, or its probability, instead of the largest logit of each copy), what is
# erased at a time (a piece instead of a word), LIME's surrogate (captum's lasso instead of the ridge of LIME's authors),
# and the function itself. The released code sends the embedding output through the embedding module once more for
# saliency, guided backprop and all methods that erase. It does not do so for input × gradient, whose row is a what-if.
# In the languages that the paper averages over. Erased copies that the readings have run are not run again.
#
# The first few messages are kept in all languages with their words, scores and links, for a report that shows the
# measure at work.

# %%
EXAMPLES = 8
aligner, aligner_tokenizer = load_encoder(settings["aligner"])
aligner = aligner.to(device)
languages = [language for language in settings["languages"] if not only or language in ("en", *PAPER_LANGUAGES)]
start, stop = texts_of("messages")
parallel = load_parallel(dataset, languages, settings["split"], n=stop, sample=settings["sample"])
data = {language: texts[start:] for language, texts in parallel.items()}
keys = ["language", "aggregation", "output", "setting"]

for places in tqdm(list(run.blocks(len(data["en"]), settings["batch"])), desc="messages"):
    messages = Messages(explainer, {language: texts[places] for language, texts in data.items()}, rows_across)
    for cost in messages.costs:
        save_costs(cost, "crosslingual_costs")
    for name, rule in LINK_RULES.items():
        way = "main" if name == settings["links"] else "other links"
        if way in measured:
            messages.link(way, aligner, aligner_tokenizer, layer=settings["align_layer"], rule=rule)

    rho = rho_by_setting(messages, measured, seed=seed)
    run.add(rho.assign(**named), "crosslingual_rho")
    run.add_units(as_units(rho, metrics=["rho"], keys=keys, **about))
    if only:
        continue
    by_choice = rho_by_choice(messages, lime_samples=settings["lime_samples"])
    run.add_units(as_units(by_choice, metrics=["rho"], keys=["language", "aggregation", "choice"], **about), "choices")
    if places.start < EXAMPLES:
        wanted = EXAMPLES - places.start
        run.add(links_shown(messages, wanted).assign(**named), "crosslingual_word_links")
        run.add(words_shown(messages, wanted).assign(**named), "crosslingual_examples")

# %% [markdown]
# ## Under erasure, in English
#
# With $p$ the probability of the predicted class and $r_j$ the words of the highest scores that make up a share of the
# text (Eq. 5 and 6),
#
# $$\text{comprehensiveness} = \tfrac15 \sum_j \bigl[p(x) - p(x \setminus r_j)\bigr], \qquad
# \text{sufficiency} = \tfrac15 \sum_j \bigl[p(x) - p(r_j)\bigr].$$
#
# Words are deleted, so that the text becomes shorter; the top 1, 5, 10, 20 and 50 % of the words, at least one. Next
# to the right numbers are those of the released code on the same inputs, whose loop gives every batch the
# predictions of the first one. So every part goes through the texts of that batch, its own or not.

# %%
start, stop = texts_of("erased")
texts = load_dataset(dataset, settings["split"], n=stop, sample=settings["sample"])[start:]
summed = {name: row for name, row in rows_erased.items() if name[3] == "sum"}
metrics = ["comprehensiveness", "sufficiency"]
blocks = list(run.blocks(len(texts), settings["batch"]))
first_batch = None
if blocks and not only:
    first_batch = FirstBatch(explainer, texts, rows_erased, deleting=summed, batch=settings["batch"])
    metrics += [f"{metric}_first_batch" for metric in metrics]

for places in tqdm(blocks, desc="erasure"):
    erased = Erased(explainer, texts[places], rows_erased)
    save_costs(erased.costs, "crosslingual_costs")
    released = {name: first_batch.windows(name, places) for name in summed} if first_batch else {}
    values = erasure_values(erased, list(summed), released=released)
    run.add(values.assign(**named), "crosslingual_erasure")
    run.add_units(as_units(values, metrics=metrics, keys=["aggregation", "output"], **about), "erasure")
    run.count(n=len(erased.words), **costs(erased.perturber))

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Means over messages and languages in the main setting, for the top prediction and sums over word pieces; below them
# comprehensiveness and sufficiency of English texts. `uniform` and `random` ignore the model. *Book*: the full run's mean of
# the same model and seed. `notebooks/report/crosslingual_tables.py` with `values = "run"` makes the paper's tables of this.

# %%
beside_book(run, by=["metric", "method", "aggregation"], where={"setting": "main", "output": "top_prediction"})

# %%
beside_book(
    run,
    part="erasure",
    by=["metric", "method", "aggregation"],
    metrics=["comprehensiveness", "sufficiency"],
    where={"output": "top_prediction"},
)
