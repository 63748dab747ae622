# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: do steps, samples and permutations matter for faithfulness across languages?
#
# Zaman & Belinkov (2022) use up to 100 steps of integrated gradients, 50 samples of LIME and 25 permutations of Shapley
# sampling (Appendix B.4 to B.7); `crosslingual_metrics` uses fewer. Here the numbers of both are used on the first of the same texts,
# in the paper's languages, for the rows that have such a number. Everything else is as there: sums over pieces and links, copied words
# stay, English words without a link have 0.

# %% tags=["parameters"]
profile = "laptop"
dataset = "messages"
model = "e5"
# Your choices: None is what the profile says.
texts = None  # texts that are explained with both numbers, in every language
numbers = None  # such as {"mine": {"ig_steps": 20, "lime_samples": 100, "permutations": 10}}

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.sources.tokenise import Pair, split_words
from faithbook.studies.crosslingual.links import LINK_RULES, between_features, encoder_links
from faithbook.studies.crosslingual.zaman_belinkov import PAPER_LANGUAGES
from faithbook.studies.crosslingual.zaman_belinkov_rows import thirteen_rows
from faithlib.attribution import attribute_rows
from faithlib.inputs import TextInputs
from faithlib.metrics import aligned_scores, crosslingual_rho
from faithlib.perturb import Perturber

SEED = 0  # of the trained model; random numbers of the methods have a seed of their own
run = start_run("crosslingual_samples", profile=profile, dataset=dataset, model=model, texts=texts, numbers=numbers)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["model"])
network = classifier.model.to(device)
aligner, aligner_tokenizer = load_encoder(settings["aligner"])
aligner = aligner.to(device)

# %% [markdown]
# ## Rows that have such a number
#
# With more steps, samples or permutations the scores of a text are less noisy. Let $\rho$ be the correlation of what a method says of a
# text and of its translation in the limit, $\tau^2$ the variance of these scores within a text, and $\sigma^2$ that of independent noise
# in both. What is found is (Spearman's attenuation, exact for Pearson's correlation)
#
# $$\rho_{\mathrm{found}} = \frac{\tau^2}{\tau^2 + \sigma^2}\,\rho ,$$
#
# so more samples can only raise these rows on average.

# %%
SAMPLED = ("integrated_gradients", "lime", "shapley_sampling")


def sampled_rows(numbers):
    """The rows whose scores depend on a number of steps, samples or permutations."""
    rows = thirteen_rows(**numbers)
    return {key[:3]: row for key, row in rows.items() if key[0] in SAMPLED and key[3] == "sum"}


ROWS = {whose: sampled_rows(numbers) for whose, numbers in settings["numbers"].items()}


def inputs_of(data):
    """A data set's texts, or both texts of a pair, their words as features."""
    return TextInputs.from_texts(
        data.texts,
        classifier.tokenizer,
        pairs=data.pairs,
        words=[split_words(text) for text in data.wholes],
        max_length=classifier.window(data),
    ).to(device)


def explained(data):
    """For each text: scores [R, F] of the rows with ours and with the paper's numbers, and the text as inputs of one."""
    inputs, gold = inputs_of(data), torch.tensor(classifier.labels_of(data), device=device)
    # One eraser for both, so that copies of a text that both need are run once.
    eraser = Perturber(network, inputs, erase="pad")
    texts = [({}, inputs[[b]].to("cpu")) for b in range(len(data.ids))]
    for numbers, rows in ROWS.items():
        found, spent = attribute_rows(list(rows.values()), network, inputs, targets={"gold": gold}, perturber=eraser)
        run.count(rows_asked=sum(cost.rows_asked for cost in spent.values()))
        padded = torch.stack([found[row.name].cpu() for row in rows.values()], dim=1)
        for (scores, own_inputs), of_text in zip(texts, padded, strict=True):
            scores[numbers] = of_text[:, : int(own_inputs.n_features[0])]
    return texts


def linked_words(english, other):
    """The links between the words of each text and of its translation."""
    pairs = [Pair.from_texts(*both) for both in zip(english.wholes, other.wholes, strict=True)]
    layer, rule = settings["align_layer"], LINK_RULES[settings["links"]]
    return encoder_links(aligner, aligner_tokenizer, pairs, layers=[layer], link=rule)[layer]


def correlated(texts):
    """Rho of every row with ours and with the paper's numbers, for each text and language."""
    readings = {language: explained(of_language) for language, of_language in texts.items()}
    table = []
    for language in texts:
        if language == "en":
            continue
        for number, links in enumerate(linked_words(texts["en"], texts[language])):
            (ours, source), (theirs, target) = readings["en"][number], readings[language][number]
            between = between_features(links, source.feature_of_word[0], target.feature_of_word[0])
            for numbers, rows in ROWS.items():
                carried = aligned_scores(theirs[numbers], between, int(source.n_features[0]))
                rho = crosslingual_rho(ours[numbers], carried).tolist()
                about = {"language": language, "input": texts["en"].ids[number], "numbers": numbers}
                for (method, how, output), value in zip(rows, rho, strict=True):
                    table.append(about | {"method": method, "aggregation": how, "output": output, "rho": value})
    return pd.DataFrame(table)


# %%
split, sample = settings["split"], settings["sample"]
languages = ["en", *PAPER_LANGUAGES]
parallel = load_parallel(dataset, languages, split, n=settings["texts"], sample=sample)
clusters = load_dataset(dataset, split, sample="all").clusters
for places in tqdm(list(run.blocks(len(parallel["en"]), settings["batch"])), desc="texts"):
    rho = correlated({language: texts[places] for language, texts in parallel.items()})
    keys = ["language", "aggregation", "output", "numbers"]
    run.add_units(as_units(rho, seed=SEED, clusters=clusters, metrics=["rho"], keys=keys))

# %%
run.note(n=len(parallel["en"]), dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Rho of each row with either set of numbers, mean over languages and texts. `notebooks/report/crosslingual_deviations.py` has the
# differences on the same texts with their intervals.

# %%
beside_book(run, by=["numbers", "method", "aggregation"])
