# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: highlights projected to translations
#
# Zaman & Belinkov (2022), Section 4.3 and Table 5: words of the English text whose score is above a threshold are marked.
# Marks are projected to a translation along word links, and the same attribution of the translation, saliency with L2
# of the loss, is scored against them. The threshold is that of `crosslingual_threshold`. It needs only one
# attribution, so it also reads languages in which `crosslingual_metrics` explains nothing.
#
# It also describes the texts: their words, pieces, links and copied words, and how many pieces the tokenizer does
# not know, since a model that reads `<unk>` explains nothing of the original word.

# %% tags=["parameters"]
profile = "laptop"
dataset = "messages"
model = "e5"
seed = 0
part = 1  # of `parts`: which share of the messages
parts = 1
# Your choices: None is what the profile says.
messages = None  # texts that are read in every language
languages = None  # such as ["en", "de"]; "en" belongs to them
align_layer = None  # of the aligner, whose hidden states link words
links = None  # "softmax" or "mutual argmax": the rule of word links

# %%
from itertools import chain

import numpy as np
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import load, start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder, unknown_pieces
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.sources.tokenise import Pair, marked_words, split_words, without_blanks
from faithbook.studies.crosslingual.highlights import project_rationale
from faithbook.studies.crosslingual.links import LINK_RULES, between_features, copied_features, encoder_links
from faithbook.studies.crosslingual.zaman_belinkov import firmest_marks
from faithlib.attribution import Row, attribute_rows
from faithlib.inputs import TextInputs
from faithlib.metrics import average_precision
from faithlib.perturb import Perturber, costs

run = start_run(
    "crosslingual_projected",
    profile=profile,
    dataset=dataset,
    model=model,
    seed=seed,
    part=part,
    parts=parts,
    messages=messages,
    languages=languages,
    align_layer=align_layer,
    links=links,
)

settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["model"])
network = classifier.model.to(device)
aligner, aligner_tokenizer = load_encoder(settings["aligner"])
aligner, link = aligner.to(device), LINK_RULES[settings["links"]]

# %% [markdown]
# ## Words and their scores
#
# The loss is the cross entropy with the true label, its sign turned; the scores of a word's pieces are added up, as in the
# code.

# %%
HIGHLIGHTER = Row("saliency", "l2", "loss", "gold")


class Reading:
    """Texts in one language: their words, as features, and the score of each."""

    def __init__(self, texts):
        self.texts, self.words = texts.wholes, [split_words(text) for text in texts.wholes]
        inputs = TextInputs.from_texts(
            texts.texts, classifier.tokenizer, pairs=texts.pairs, words=self.words, max_length=classifier.window(texts)
        ).to(device)
        perturber = Perturber(network, inputs)
        gold = torch.tensor(classifier.labels_of(texts), device=device)
        scores, _ = attribute_rows([HIGHLIGHTER], network, inputs, targets={"gold": gold}, perturber=perturber)
        run.count(**costs(perturber))
        self.feature_of_word = inputs.feature_of_word
        self.pieces = (inputs.feature_of >= 0).sum(dim=1).tolist()
        highlighted = scores[HIGHLIGHTER.name].cpu()
        self.scores = [highlighted[b, :size] for b, size in enumerate(inputs.n_features.tolist())]


# %% [markdown]
# ## Marks
#
# An English word $k$ with score $a_k$ is marked where $a_k / \lVert a \rVert_2 \geq t$; a word $j$ of the translation where a link
# $(k, j) \in A$ leads to a marked word. With $P_i$ the share of marked words among the $i$ words of the highest scores and $R_i$
# the share of all marked words that they hold,
#
# $$\mathrm{AP} = \sum_i (R_i - R_{i-1})\, P_i ,$$
#
# whose mean over texts is MAP (Eq. 7). *Lift* is AP minus what random scores get.
#
# Three ways to mark: with our threshold, which is the paper's rule; with the paper's number; and the words whose score is
# above an even spread over their own text. If the profile names the published highlights (`published_marks`), these
# are a fourth way and need no projection. Their words are cut differently: one of ours is marked if it contains a
# marked one of theirs. A text that they lack, or spell differently, has none.

# %%
thresholds = load("crosslingual_threshold", profile).sort_values("seed", ignore_index=True)
firmest = thresholds.dataset == firmest_marks(thresholds.dataset.unique())
OWN_THRESHOLD = float(thresholds.threshold[firmest].iloc[0])  # of one classifier, as in the paper
PRINTED_THRESHOLD = 0.167  # Section 4.3, from e-SNLI
HIGHLIGHTS = {
    "our threshold": lambda n: OWN_THRESHOLD,
    "the paper's number": lambda n: PRINTED_THRESHOLD,
    "above an even spread": lambda n: n**-0.5 * (1 - 1e-6),  # rounding must not unmark the only word of a text
}

AS_PUBLISHED = "as published"
QUANTITIES = ["map", "chance", "lift", "marked"]


def published_in(language):
    """By a text without blanks the text and the spans that are marked in it; of published highlights in one language,
    which need not have the rows of another."""
    data = load_parallel(settings["published_marks"], [language], settings["split"], sample="all")[language]
    return {without_blanks(text): (text, spans) for text, spans in zip(data.wholes, data.rationales, strict=True)}


PUBLISHED = {language: published_in(language) for language in settings["languages"] if settings["published_marks"]}


def published_marks(language, reading, number):
    """The published mark of every feature, bool [F], or None for a text without."""
    text = reading.texts[number]
    if (published := PUBLISHED.get(language, {}).get(without_blanks(text))) is None:
        return None
    theirs, spans = published
    gold = torch.zeros(len(reading.scores[number]), dtype=torch.bool)
    marked = marked_words(spans, theirs, text, reading.words[number])
    gold[[f for f, mark in zip(reading.feature_of_word[number], marked, strict=True) if mark and f >= 0]] = True
    return gold


def average_precision_by_chance(n, marked):
    """The expected average precision of n scores in random order, `marked` of them gold.

    Place k is gold with probability m/n, and then (k - 1)(m - 1)/(n - 1) gold ones are expected before it.
    """
    harmonic = (1 / np.arange(1, n + 1)).sum()
    return 1.0 if n == 1 else (harmonic + (marked - 1) / (n - 1) * (n - harmonic)) / n


def judged(values, gold):
    """MAP's value for one reading of one message, with what random scores get; NaN where no word is marked."""
    ours, marked = average_precision(values[None], gold[None]).item(), int(gold.sum())
    chance = average_precision_by_chance(len(values), marked) if marked else np.nan
    return dict(zip(QUANTITIES, (ours, chance, ours - chance, marked / len(values)), strict=True))


# %% [markdown]
# ## Texts, links and marks together
#
# Links come from the frozen encoder's hidden states, as in `crosslingual_metrics`. In English, marks stay where they are.


# %%
def linked(english, reading):
    """The messages as pairs with their translations, and the links between the features of each."""
    pairs = [Pair.from_texts(*texts) for texts in zip(english.texts, reading.texts, strict=True)]
    layer = settings["align_layer"]
    links = encoder_links(aligner, aligner_tokenizer, pairs, layers=[layer], link=link)[layer]
    features = zip(links, english.feature_of_word, reading.feature_of_word, strict=True)
    return pairs, [between_features(*one) for one in features]


def described(reading, number):
    """How many words one text has, how many pieces each of these, the share of pieces that are unknown, and our
    threshold as a part of what each word gets where a text's score is spread evenly."""
    words, unknown = len(reading.scores[number]), unknown_pieces(classifier.tokenizer, [reading.texts[number]])
    facts = {"words": words, "pieces a word": reading.pieces[number] / words, "unknown": unknown.share}
    return facts | {"threshold": OWN_THRESHOLD * words**0.5}


def compared(english, number, pair, links):
    """Shares of the English words of one message that have a link and that are copied, and links beyond a word's first
    as a share of the linked words."""
    words, together = len(english.scores[number]), len({i for i, _ in links})
    copied = copied_features(pair, english.feature_of_word[number], words)
    more = (len(links) - together) / together if together else np.nan
    return {"linked": together / words, "more links": more, "copied": copied.float().mean().item()}


def carried(english, reading, number, links, language):
    """One message's values for every way to mark."""
    scores, there = english.scores[number], reading.scores[number]
    for rule, threshold in HIGHLIGHTS.items():
        gold = scores / scores.norm() >= threshold(len(scores))
        if language != "en":
            gold = project_rationale(gold, links, len(there))
        yield {"highlights": rule} | judged(there, gold)
    if (gold := published_marks(language, reading, number)) is not None:
        yield {"highlights": AS_PUBLISHED} | judged(there, gold)


def rows_of(english, language, texts):
    """What the texts in one language are like, and their values for every way to mark, a row each."""
    about, values_of = [], []
    reading, pairs, links = english, [None] * len(texts), [()] * len(texts)
    if language != "en":
        reading = Reading(texts)
        pairs, links = linked(english, reading)
    for number, name in enumerate(texts.ids):
        key = {"language": language, "input": name}
        facts = described(reading, number)
        if language != "en":
            facts |= compared(english, number, pairs[number], links[number])
        about.append(key | facts)
        values_of += [key | values for values in carried(english, reading, number, links[number], language)]
    return about, values_of


data = load_parallel(
    dataset, settings["languages"], settings["split"], n=settings["messages"], sample=settings["sample"]
)
clusters = load_dataset(dataset, settings["split"], sample="all").clusters
OF_TEXTS = ["words", "pieces a word", "unknown", "threshold", "linked", "more links", "copied"]
for rows in tqdm(list(run.blocks(len(data["en"]), settings["batch"])), desc="messages"):
    english = Reading(data["en"][rows])
    each = [rows_of(english, language, texts[rows]) for language, texts in data.items()]
    about, highlight_values = (pd.DataFrame(list(chain.from_iterable(parts))) for parts in zip(*each, strict=True))
    run.count(n=len(english.scores))
    saved = {"seed": seed, "clusters": clusters}
    run.add_units(as_units(highlight_values, metrics=list(QUANTITIES), keys=["language", "highlights"], **saved))
    run.add_units(as_units(about, metrics=OF_TEXTS, keys=["language"], **saved).dropna(subset="value"), "texts")

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# MAP with our threshold by language: how well the same method finds in a translation what it marks in English. *Book*: the full
# run's mean. `notebooks/report/crosslingual_highlights.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, by=["metric", "language"], metrics=["map", "lift"], where={"highlights": "our threshold"})
