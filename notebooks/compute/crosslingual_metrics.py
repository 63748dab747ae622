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
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.sources.splits import stable_hash
from faithbook.sources.tokenise import Pair, split_words
from faithbook.studies.crosslingual.links import LINK_RULES, between_features, copied_features, encoder_links
from faithbook.studies.crosslingual.zaman_belinkov import PAPER_LANGUAGES
from faithbook.studies.crosslingual.zaman_belinkov_rows import EmbeddedTwice, thirteen_rows
from faithlib.attribution import Row, attribute_rows
from faithlib.inputs import TextInputs
from faithlib.metrics import (
    aligned_scores,
    comprehensiveness_eraser,
    crosslingual_rho,
    erasure_rationales,
    first_batch_fault,
    random_links,
    sufficiency_eraser,
)
from faithlib.metrics.erasure import ERASURE_BINS
from faithlib.perturb import Perturber, costs

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
classifier = load_model(settings["model"])
network = classifier.model.to(device)

# %% [markdown]
# ## Thirteen attributions, two outputs, three baselines
#
# As text and released code have it: the top prediction is the largest *logit*, on an erased copy the largest of that
# copy. The loss is the cross entropy with the true label (its sign is turned here, so that a positive score supports the
# label). Paths and erasures begin at the embedding of `[PAD]`. Scores of a word's pieces are added up, as in the code;
# their mean is kept as well. `guided_backprop` follows its paper, at GELU as at ReLU; what captum makes of it on a model
# without ReLU modules is kept as its own row.
#
# The baselines ignore the prediction: the same score for every piece (so a word's score is its number of pieces), the
# norm of the embedding (`activation` with L2, one of the paper's thirteen), random scores.
#
# Nearly all the time goes into methods that erase or follow a path. Methods that need one gradient are computed for
# further texts by a run of their own (`only`): under erasure all of these, across languages `activation`, which
# needs no model.

# %%
THIRTEEN_AND_FLOORS = thirteen_rows(
    ig_steps=settings["ig_steps"],
    ig_steps_of=settings["ig_steps_of"].get(model),
    lime_samples=settings["lime_samples"],
    permutations=settings["permutations"],
)
ONE_PASS = ("input_x_gradient", "saliency", "guided_backprop_released", "guided_backprop", "activation")
ROWS = {key: row for key, row in THIRTEEN_AND_FLOORS.items() if not only or key[0] in ONE_PASS}
ACROSS = {key: row for key, row in ROWS.items() if not only or key[0] == "activation"}
named = {"dataset": dataset, "model": model, "seed": seed}


def places(name):
    """Of a sample of texts, the first that are not this run's, and how many the sample holds: a larger one begins with
    the texts of a smaller one."""
    first = settings[name]
    return (first, max(first, settings["further"][name])) if only else (0, first)


def inputs_of(data):
    """A data set's texts, or both texts of a pair, their words as features."""
    return TextInputs.from_texts(
        data.texts,
        classifier.tokenizer,
        pairs=data.pairs,
        words=[split_words(text) for text in data.wholes],
        max_length=classifier.window(data),
    ).to(device)


def explained(data, eraser, rows, *, counted=True):
    """For each text: scores of the rows on its features, and the text as inputs of one. `eraser` erases as the paper
    does: whatever asks it twice pays once. Its rows are `counted` but where every part does the same again."""
    inputs, gold = eraser.inputs, torch.tensor(classifier.labels_of(data), device=device)
    scores, spent = attribute_rows(list(rows.values()), network, inputs, targets={"gold": gold}, perturber=eraser)
    cost = pd.DataFrame([{"method": method, **vars(one), **named} for method, one in spent.items()])
    if counted:
        run.count(rows_asked=int(cost.rows_asked.sum()), rows_run=int(cost.rows_run.sum()))
        run.add(cost, "crosslingual_costs")
    return [
        ({key: scores[row.name][b, :size].cpu() for key, row in rows.items()}, inputs[[b]].to("cpu"))
        for b, size in enumerate(inputs.n_features.tolist())
    ]


# %% [markdown]
# ## How well the model reads each language
#
# On all messages that exist in every language (of pairs a sample), whether explained below or not, and in some
# languages for which nothing else is computed (`only_read`).

# %%
read_in = [*settings["languages"], *settings["only_read"]]
everyone = load_parallel(dataset, read_in, settings["split"], n=settings["read"] or None, sample=settings["sample"])
clusters = load_dataset(dataset, settings["split"], sample="all").clusters
readers = 0 if only else len(everyone["en"])
for rows in tqdm(list(run.blocks(readers, 8 * settings["batch"])), desc="predictions"):
    for language, texts in everyone.items():
        block = texts[rows]
        predicted = Perturber(network, inputs_of(block)).predicted.cpu()
        read = pd.DataFrame({"input": block.ids, "label": classifier.labels_of(block), "predicted": predicted})
        read_answers = read.assign(language=language, correct=read.label == read.predicted)
        run.add_units(
            as_units(read_answers, seed=seed, clusters=clusters, metrics=["correct"], keys=["language"]), "predictions"
        )

# %% [markdown]
# ## Across languages
#
# The measure is Spearman's rank correlation over the English words $i$ between their own scores and those that links
# $A$ carry over from the translation:
#
# $$\rho = \mathrm{corr}\Bigl(\mathrm{rank}(s_i),\ \mathrm{rank}\bigl(\textstyle\sum_{j:(i,j) \in A} t_j\bigr)\Bigr).$$
#
# Links come from the frozen encoder's own hidden states, from the layer that agrees best with alignments made by
# people (`crosslingual_alignment` measures it), and are the same for every model. Links are made by the rule that the
# profile names, and by the other of the two: both softmaxes above a threshold (awesome-align, as the paper), or each
# word the other's nearest. A link between two words becomes a link between the features they belong to: where the
# tokenizer writes two words as one piece they are one feature.

# %%
languages = [one for one in settings["languages"] if not only or one in ("en", *PAPER_LANGUAGES)]
others = [language for language in languages if language != "en"]
aligner, aligner_tokenizer = load_encoder(settings["aligner"])
aligner = aligner.to(device)
WAYS = {
    way: link for name, link in LINK_RULES.items() for way in ["main" if name == settings["links"] else "other links"]
}
if only:
    WAYS = {"main": WAYS["main"]}


class Messages:
    """Some messages, read and explained in every language."""

    def __init__(self, texts):
        self.texts, self.ids = texts, texts["en"].ids
        self.erasers = {
            language: Perturber(network, inputs_of(of_language), erase="pad") for language, of_language in texts.items()
        }
        self.readings = {
            language: explained(of_language, self.erasers[language], ACROSS) for language, of_language in texts.items()
        }
        self.links = {way: self.linked(link) for way, link in WAYS.items()}

    def pairs(self, language):
        """The messages beside their translations."""
        both = zip(self.texts["en"].wholes, self.texts[language].wholes, strict=True)
        return [Pair.from_texts(*texts) for texts in both]

    def linked(self, link):
        """Links between features, for each language and message."""
        by_pair, layer = {}, settings["align_layer"]
        for language in others:
            pairs = self.pairs(language)
            for number, links in enumerate(
                encoder_links(aligner, aligner_tokenizer, pairs, layers=[layer], link=link)[layer]
            ):
                source, target = self.readings["en"][number][1], self.readings[language][number][1]
                features = source.feature_of_word[0], target.feature_of_word[0]
                by_pair[language, number] = between_features(links, *features)
        return by_pair


# %% [markdown]
# The main setting is the paper's: sums over pieces and over links, English words without a link keep 0. Every other
# setting changes one thing.

# %%
SETTINGS = {
    "main": {},
    "mean of pieces": {"pool": "mean"},
    "mean of links": {"links_by": "mean"},
    "means of both": {"pool": "mean", "links_by": "mean"},
    "unaligned left out": {"unaligned": "nan"},
    "no copied words": {"leave_out": True},
    "means, aligned, no copied words": {"pool": "mean", "links_by": "mean", "unaligned": "nan", "leave_out": True},
    "other links": {},
    "random links": {"drawn": "number"},
    "random links, degrees kept": {"drawn": "degrees"},
}
if only:
    SETTINGS = {"main": {}}


def stacked(scores, pool):
    """Scores [R, F] of the rows with this pooling, and what these rows are called; one that erases words pools none."""
    keys = [key for key in scores if key[3] == pool or (*key[:3], pool) not in scores]
    return torch.stack([scores[key] for key in keys]), [key[:3] for key in keys]


def correlated(
    source, target, links, copied, name, *, pool="sum", links_by="sum", unaligned="zero", leave_out=False, drawn=None
):
    """rho of every row for one message and its translation; `leave_out` copied words, links `drawn` at random, by the
    message's name."""
    (ours, inputs), (theirs, other) = source, target
    n_source, n_target = int(inputs.n_features[0]), int(other.n_features[0])
    if drawn:
        links = random_links(
            links, n_source, n_target, keep=drawn, seed=(seed, int(stable_hash("links", name)[:16], 16))
        )
    scores_en, keys = stacked(ours, pool)
    there, _ = stacked(theirs, pool)
    carried = aligned_scores(there, links, n_source, links_by=links_by, unaligned=unaligned)
    rho = crosslingual_rho(scores_en, carried, keep=~copied if leave_out else None)
    return zip(keys, rho.tolist(), strict=True)


def correlate(messages):
    """Add rho of every message and language to what the reports read."""
    rows = []
    for language in others:
        pairs, english = messages.pairs(language), messages.readings["en"]
        for number, (source, target) in enumerate(zip(english, messages.readings[language], strict=True)):
            copied = copied_features(pairs[number], source[1].feature_of_word[0], int(source[1].n_features[0]))
            about = {"language": language, "input": messages.ids[number]}
            for setting, change in SETTINGS.items():
                used = messages.links[setting if setting in WAYS else "main"][language, number]
                for (method, how, output), rho in correlated(
                    source, target, used, copied, messages.ids[number], **change
                ):
                    row = {"setting": setting, "method": method, "aggregation": how, "output": output, "rho": rho}
                    rows.append(about | row)
    rho = pd.DataFrame(rows)
    run.add(rho.assign(**named), "crosslingual_rho")
    keys = ["language", "aggregation", "output", "setting"]
    run.add_units(as_units(rho, seed=seed, clusters=clusters, metrics=["rho"], keys=keys))


# %% [markdown]
# ## Where text and code differ
#
# A few rows once more, with one change at a time: what is explained (the logit of the class predicted for the
# whole message, or its probability, instead of the largest logit of each copy), what is erased at a time (a piece instead
# of a word), LIME's surrogate (captum's lasso instead of the ridge of LIME's authors), and the function itself.
# The released code sends the embedding output through the embedding module once more for saliency, guided backprop and
# all methods that erase. It does not do so for input × gradient, whose row is a what-if. In the languages that
# the paper averages over. Erased copies that the readings above have run are not run again.

# %%
CHOICES = {
    "logit of the predicted class": {"output": "logit"},
    "probability": {"output": "probability"},
    "single pieces": {"unit": "wordpiece"},
    "lasso": {"surrogate": "lasso"},
}
ONLY = {"single pieces": ("occlusion", "lime"), "lasso": ("lime",)}  # the methods that a choice concerns
LOOKED_AT = [("input_x_gradient", "l2"), ("saliency", "l2"), ("saliency", "mean"), ("occlusion", None), ("lime", None)]
OPTIONS = {"occlusion": {"erase": "pad"}, "lime": {"erase": "pad", "n_samples": settings["lime_samples"]}}


def row_of(method, aggregation, *, output="top_logit", **options):
    """A row of the top prediction, with one thing done otherwise."""
    return Row(method, aggregation, output, options=OPTIONS.get(method, {}) | options)


def explained_by(function, rows, eraser):
    """Scores [R, F] of rows on each text."""
    scores, _ = attribute_rows(rows, function, eraser.inputs, perturber=eraser if function is network else None)
    sizes = eraser.inputs.n_features.tolist()
    return [torch.stack([scores[row.name][b, :size].cpu() for row in rows]) for b, size in enumerate(sizes)]


def as_read(readings):
    """Scores [R, F] on each text of the rows looked at, as the readings have them."""
    keys = [(method, how or "none", "top_prediction", "sum") for method, how in LOOKED_AT]
    return [torch.stack([scores[key] for key in keys]) for scores, _ in readings]


otherwise = {
    (choice, method, how or "none"): row_of(method, how, **change)
    for choice, change in CHOICES.items()
    for method, how in LOOKED_AT
    if method in ONLY.get(choice, [method])
}
twice = {("embedded twice", method, how or "none"): row_of(method, how) for method, how in LOOKED_AT}
embedded_twice = EmbeddedTwice(network)


def choose(messages):
    """Add rho of every choice to what the reports read."""
    in_these = [language for language in settings["languages"] if language in ("en", *PAPER_LANGUAGES)]
    scored = [
        (
            [("main", method, how or "none") for method, how in LOOKED_AT],
            {language: as_read(messages.readings[language]) for language in in_these},
        )
    ]
    for function, rows in ((network, otherwise), (embedded_twice, twice)):
        by = {name: explained_by(function, list(rows.values()), messages.erasers[name]) for name in in_these}
        scored.append((list(rows), by))
    released = []
    for rows, scores in scored:
        for (language, number), links in messages.links["main"].items():
            if language not in in_these:
                continue
            scores_en, scores_other = scores["en"][number], scores[language][number]
            rho = crosslingual_rho(scores_en, aligned_scores(scores_other, links, scores_en.shape[1]))
            about = {"language": language, "input": messages.ids[number]}
            released += [
                about | {"choice": choice, "method": method, "aggregation": how, "rho": value}
                for (choice, method, how), value in zip(rows, rho.tolist(), strict=True)
            ]
    released = pd.DataFrame(released)
    keys = ["language", "aggregation", "choice"]
    run.add_units(as_units(released, seed=seed, clusters=clusters, metrics=["rho"], keys=keys), "choices")


# %% [markdown]
# ## Examples
#
# The first few messages are kept in all languages with their words, scores and links, for a report that shows the measure
# at work.

# %%
EXAMPLES = 8
SHOWN = [("input_x_gradient", "l2", "loss"), ("saliency", "l2", "loss"), ("uniform", "none", "none")]


def show(messages, wanted):
    """Add the first `wanted` messages with their words and links to what a report shows."""
    links = [
        {"language": language, "input": messages.ids[number], "word": i, "word_there": j}
        for (language, number), shown in messages.links["main"].items()
        for i, j in shown
        if number < wanted
    ]
    if links:
        run.add(pd.DataFrame(links).assign(**named), "crosslingual_word_links")
    for language in settings["languages"]:
        reading = messages.readings[language]
        for name, (scores, one) in list(zip(messages.ids, reading, strict=True))[: max(wanted, 0)]:
            strings = one.features[0]
            pieces = torch.bincount(one.feature_of[0][one.feature_of[0] >= 0], minlength=len(strings)).tolist()
            about = {"language": language, "input": name, "word": range(len(strings)), "text": strings}
            for key in SHOWN:
                shown = pd.DataFrame(about | {"pieces": pieces, "score": scores[*key, "sum"]})
                shown = shown.assign(method=key[0], aggregation=key[1], output=key[2])
                run.add(shown.assign(**named), "crosslingual_examples")


# %%
start, stop = places("messages")
parallel = load_parallel(dataset, languages, settings["split"], n=stop, sample=settings["sample"])
data = {language: texts[start:] for language, texts in parallel.items()}
for rows in tqdm(list(run.blocks(len(data["en"]), settings["batch"])), desc="messages"):
    messages = Messages({language: texts[rows] for language, texts in data.items()})
    correlate(messages)
    if not only:
        choose(messages)
        show(messages, EXAMPLES - rows.start)

# %% [markdown]
# ## Under erasure, in English
#
# With $r_j$ the words of the highest scores that make up a share of the text,
#
# $$\text{comprehensiveness} = \tfrac15 \sum_j \bigl[p(x) - p(x \setminus r_j)\bigr], \qquad
# \text{sufficiency} = \tfrac15 \sum_j \bigl[p(x) - p(r_j)\bigr].$$
#
# Words are deleted, so that the text becomes shorter; the top 1, 5, 10, 20 and 50 % of the words, at least one. Next
# to the right numbers are those of the released code on the same inputs, whose loop gives every batch the
# predictions of the first one.

# %%
start, stop = places("erased")
texts = load_dataset(dataset, settings["split"], n=stop, sample=settings["sample"])[start:]
SUMMED = [key for key in ROWS if key[3] == "sum"]


class Erased:
    """Some texts, explained, and what the model answers when their words are deleted."""

    def __init__(self, texts, *, counted=True):
        inputs = inputs_of(texts)
        self.texts, self.words = texts, inputs.n_features.cpu()
        self.explanations = explained(texts, Perturber(network, inputs, erase="pad"), ROWS, counted=counted)
        self.perturber = Perturber(network, inputs, erase="delete")
        self.present = inputs.feature_mask
        self.everything = self.perturber.logits(self.present[:, None, :])

    def padded(self, key):
        """Scores [B, F] of one row for all texts."""
        scores_of_texts = [scores[key] for scores, _ in self.explanations]
        return torch.nn.utils.rnn.pad_sequence(scores_of_texts, batch_first=True).to(device)

    def windows(self, key):
        """Probabilities of all classes [B, 1 + S, C]: of the whole text and without each rationale; whole and that
        alone."""
        rationales = erasure_rationales(self.padded(key), self.present)
        parts = self.perturber.logits(self.present[:, None, :] & ~rationales), self.perturber.logits(rationales)
        return [torch.cat([self.everything, part], dim=1).softmax(dim=-1).cpu() for part in parts]


def at_predicted(probabilities):
    """The probabilities [B, 1 + S] of the class that is the likeliest in the first place of each window."""
    predicted = probabilities[:, :1].argmax(dim=-1, keepdim=True)
    return probabilities.gather(2, predicted.expand(-1, probabilities.shape[1], 1))[..., 0]


def both_metrics(without, alone):
    """Comprehensiveness and sufficiency [B] of windows."""
    without, alone = at_predicted(without), at_predicted(alone)
    return (
        comprehensiveness_eraser(without[:, 0], without[:, 1:]),
        sufficiency_eraser(alone[:, 0], alone[:, 1:]),
    )


# %% [markdown]
# The released code always reads the first batch of all texts. So every part goes through the texts of that batch,
# its own or not.

# %%
ANSWERED = 64  # rows of a batch of the released code
WINDOW = 1 + len(ERASURE_BINS)
# Of each text, which rows of the whole list the released code takes for its answers.
READ = first_batch_fault(torch.arange(len(texts) * WINDOW), ANSWERED, WINDOW)


def first_batch():
    """The answers [64, C] to the first rows of the list, without rationales and with them alone, by row of the paper."""
    answers = {key: ([], []) for key in SUMMED}
    for start in range(0, min(len(texts), -(-ANSWERED // WINDOW)), settings["batch"]):
        erased = Erased(texts[start : start + settings["batch"]], counted=False)
        for key, parts in answers.items():
            for part, probabilities in zip(parts, erased.windows(key), strict=True):
                part.append(probabilities.flatten(0, 1))
    return {key: [torch.cat(part) for part in parts] for key, parts in answers.items()}


def faulty(answers, rows):
    """The windows [B, 1 + S, C] that the released code reads for some texts."""
    return answers[READ[rows]]


# %%
BOTH = ("comprehensiveness", "sufficiency")
METRICS = BOTH if only else (*BOTH, *(f"{name}_first_batch" for name in BOTH))
mine = list(run.blocks(len(texts), settings["batch"]))
first = first_batch() if mine and not only else {}
for rows in tqdm(mine, desc="erasure"):
    block = texts[rows]
    erased = Erased(block)
    correct = erased.everything[:, 0].argmax(dim=-1).cpu() == torch.tensor(classifier.labels_of(block))
    erasures = []
    for key in SUMMED:
        measured = both_metrics(*erased.windows(key))
        if not only:
            measured += both_metrics(*(faulty(answers, rows) for answers in first[key]))
        values = {"input": block.ids, "words": erased.words, "correct": correct}
        values |= dict(zip(METRICS, measured, strict=True))
        erasures.append(pd.DataFrame(values).assign(method=key[0], aggregation=key[1], output=key[2]))
    erasures = pd.concat(erasures, ignore_index=True)
    run.add(erasures.assign(**named), "crosslingual_erasure")
    values = as_units(erasures, seed=seed, clusters=clusters, metrics=list(METRICS), keys=["aggregation", "output"])
    run.add_units(values, "erasure")
    run.count(n=len(block), **costs(erased.perturber))

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
