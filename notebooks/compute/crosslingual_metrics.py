# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: faithfulness across languages, and under erasure, of one classifier
#
# Zaman & Belinkov (2022): a model trained on English alone reads a message and its translations; each reading is
# explained by thirteen attributions of two outputs, the scores of the translation are carried to the English words along
# word alignments, and the two are correlated. Beside it, on English texts, what happens to the prediction when the words
# with the highest scores are deleted, or all but them.

# %% tags=["parameters"]
profile = "laptop"
model = "e5"
seed = 0

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.crosslingual.links import encoder_links
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithbook.papers.zaman_belinkov import PAPER_LANGUAGES
from faithbook.papers.zaman_belinkov_rows import thirteen_rows
from faithbook.papers.zaman_belinkov_twice import EmbeddedTwice
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.sources.words import Pair, copied_words, split_words
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
from faithlib.perturb import Perturber, costs

run = start_run("crosslingual_metrics", profile=profile, model=model, seed=seed)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
classifier = load_model(settings["models"][model].format(seed=seed))
network = classifier.model.to(device)

# %% [markdown]
# ## Thirteen attributions, two outputs, three floors
#
# As text and released code have it: the top prediction is the largest *logit*, on an erased copy the largest of that
# copy; the loss is the cross entropy with the true label (its sign is turned here, so that a positive score supports the
# label); paths and erasures begin at the embedding of `[PAD]`. Scores of a word's pieces are added up, as in the code;
# their mean is kept beside. `guided_backprop` follows its paper, at GELU as at ReLU; what captum makes of it on a model
# without ReLU modules is kept as its own row.
#
# Floors know nothing of the prediction: the same score for every piece (so a word's score is its number of pieces), the
# norm of the embedding (`activation` with L2, one of the paper's thirteen), random scores.

# %%
ROWS = thirteen_rows(
    ig_steps=settings["ig_steps"], lime_samples=settings["lime_samples"], permutations=settings["permutations"]
)
spent = []


def inputs_of(data):
    """A data set's texts, or both texts of a pair, their words as features."""
    return TextInputs.from_texts(
        data.texts,
        classifier.tokenizer,
        pairs=data.pairs,
        words=[split_words(text) for text in data.wholes],
        max_length=data.max_length,
    ).to(device)


def perturbers_of(data):
    """One for each batch of a data set, erasing as the paper does: whatever asks it twice pays once."""
    inputs = inputs_of(data)
    return [
        Perturber(network, inputs[batch], erase="pad") for batch in torch.arange(len(data)).split(settings["batch"])
    ]


def explained(data, perturbers):
    """For each text: scores of all rows on its features, and the text as inputs of one."""
    labels = torch.tensor(classifier.labels_of(data), device=device).split(settings["batch"])
    found = []
    for perturber, gold in zip(perturbers, labels, strict=True):
        inputs = perturber.inputs
        scores, cost = attribute_rows(list(ROWS.values()), network, inputs, targets={"gold": gold}, perturber=perturber)
        spent.extend(cost.items())
        for b, size in enumerate(inputs.n_features.tolist()):
            own = {key: scores[row.name][b, :size].cpu() for key, row in ROWS.items()}
            found.append((own, inputs[[b]].to("cpu")))
    return found


# %% [markdown]
# ## How well the model reads each language
#
# On all messages that exist in every language, whether explained below or not.

# %%
named = {"model": model, "seed": seed}
everyone = load_parallel(settings["dataset"], settings["languages"], settings["split"])
read = []
for language, texts in tqdm(everyone.items(), desc="predictions"):
    predicted = Perturber(network, inputs_of(texts)).predicted.cpu()
    read.append(
        pd.DataFrame({"input": texts.ids, "label": classifier.labels_of(texts), "predicted": predicted}).assign(
            language=language
        )
    )
read = pd.concat(read, ignore_index=True)
run.save(read.assign(**named), "crosslingual_predictions")
run.save_units(
    as_units(
        read.assign(correct=read.label == read.predicted),
        seed=seed,
        clusters=everyone["en"].clusters,
        metrics=["correct"],
        keys=["language"],
    ),
    "predictions",
)

# %% [markdown]
# ## Across languages
#
# Links come from the frozen encoder's own hidden states, from the layer that agrees best with alignments made by people
# (`crosslingual_alignment` measures it), and are the same for every model. A link between two words becomes a link
# between the features they belong to: where the tokenizer writes two words as one piece they are one feature.

# %%
data = load_parallel(settings["dataset"], settings["languages"], settings["split"], n=settings["messages"])
erasers = {language: perturbers_of(texts) for language, texts in data.items()}
readings = {language: explained(texts, erasers[language]) for language, texts in tqdm(data.items(), desc="readings")}
others = [language for language in settings["languages"] if language != "en"]
english = readings["en"]


# %%
def links_of(language):
    """Links between words, message by message."""
    pairs = [Pair.from_texts(*texts) for texts in zip(data["en"].wholes, data[language].wholes, strict=True)]
    layer = settings["align_layer"]
    return encoder_links(aligner, aligner_tokenizer, pairs, layers=[layer])[layer], pairs


def between_features(links, source, target):
    """Links between words as links between the features that these words belong to."""
    first, second = source.feature_of_word[0], target.feature_of_word[0]
    return sorted({(first[i], second[j]) for i, j in links if first[i] >= 0 and second[j] >= 0})


aligner, aligner_tokenizer = load_encoder(settings["aligner"])
aligner = aligner.to(device)

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
    "random links": {"drawn": "number"},
    "random links, degrees kept": {"drawn": "degrees"},
}


def stacked(scores, pool):
    """Scores [R, F] of the rows with this pooling, and what these rows are called; one that erases words pools none."""
    keys = [key for key in scores if key[3] == pool or (*key[:3], pool) not in scores]
    return torch.stack([scores[key] for key in keys]), [key[:3] for key in keys]


def correlated(
    source, target, links, copied, number, *, pool="sum", links_by="sum", unaligned="zero", leave_out=False, drawn=None
):
    """rho of every row for one message and its translation; `leave_out` copied words, links `drawn` at random."""
    (ours, inputs), (theirs, other) = source, target
    n_source, n_target = int(inputs.n_features[0]), int(other.n_features[0])
    if drawn:
        links = random_links(links, n_source, n_target, keep=drawn, seed=(seed, number))
    here, keys = stacked(ours, pool)
    there, _ = stacked(theirs, pool)
    carried = aligned_scores(there, links, n_source, links_by=links_by, unaligned=unaligned)
    rho = crosslingual_rho(here, carried, keep=~copied if leave_out else None)
    return zip(keys, rho.tolist(), strict=True)


def copied_features(inputs, pair):
    """Whether all words of a feature are copied, for each English feature."""
    copied = torch.ones(int(inputs.n_features[0]), dtype=torch.bool)
    for feature, one in zip(inputs.feature_of_word[0], copied_words(*pair.strings), strict=True):
        if feature >= 0 and not one:
            copied[feature] = False
    return copied


# %%
found, linked, all_links, links_between = [], [], [], {}
for language in tqdm(others, desc="languages"):
    word_links, pairs = links_of(language)
    for number, (source, target) in enumerate(zip(english, readings[language], strict=True)):
        links = links_between[language, number] = between_features(word_links[number], source[1], target[1])
        copied = copied_features(source[1], pairs[number])
        all_links += [
            {"language": language, "input": data["en"].ids[number], "word": i, "word_there": j} for i, j in links
        ]
        about = {"language": language, "input": data["en"].ids[number]}
        linked.append(
            about
            | {
                "words": len(copied),
                "words_there": int(target[1].n_features[0]),
                "pieces": int((source[1].feature_of >= 0).sum()),
                "pieces_there": int((target[1].feature_of >= 0).sum()),
                "links": len(links),
                "linked_words": len({i for i, _ in links}),
                "copied_words": int(copied.sum()),
            }
        )
        for setting, change in SETTINGS.items():
            for (method, aggregation, output), rho in correlated(source, target, links, copied, number, **change):
                found.append(
                    about
                    | {"setting": setting, "method": method, "aggregation": aggregation, "output": output, "rho": rho}
                )
rho = pd.DataFrame(found)
run.save(rho.assign(**named), "crosslingual_rho")
clusters = everyone["en"].clusters
ROW = ["language", "aggregation", "output"]
run.save_units(as_units(rho, seed=seed, clusters=clusters, metrics=["rho"], keys=[*ROW, "setting"]))
run.save(pd.DataFrame(linked).assign(**named), "crosslingual_links")

# %% [markdown]
# ## Where text and code part
#
# A few rows once more, one thing at a time done otherwise: what is explained (the logit of the class predicted for the
# whole message, or its probability, in place of the largest logit of each copy), what is erased at a time (a piece in
# place of a word), LIME's surrogate (captum's lasso in place of the ridge of LIME's authors), and the function itself:
# the released code sends the embedding output through the embedding module once more for saliency, guided backprop and
# all methods that erase. It does not do so for input × gradient, which stands there as a what-if. In the languages that
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


def explained_by(function, rows, language):
    """Scores [R, F] of rows on each text."""
    found = []
    for eraser in erasers[language]:
        scores, _ = attribute_rows(rows, function, eraser.inputs, perturber=eraser if function is network else None)
        for b, size in enumerate(eraser.inputs.n_features.tolist()):
            found.append(torch.stack([scores[row.name][b, :size].cpu() for row in rows]))
    return found


def as_read(language):
    """Scores [R, F] on each text of the rows looked at, as the readings have them."""
    keys = [(method, how or "none", "top_prediction", "sum") for method, how in LOOKED_AT]
    return [torch.stack([scores[key] for key in keys]) for scores, _ in readings[language]]


otherwise = {
    (choice, method, how or "none"): row_of(method, how, **change)
    for choice, change in CHOICES.items()
    for method, how in LOOKED_AT
    if method in ONLY.get(choice, [method])
}
twice = {("embedded twice", method, how or "none"): row_of(method, how) for method, how in LOOKED_AT}
embedded_twice = EmbeddedTwice(network)
blocks = [
    ([("main", method, how or "none") for method, how in LOOKED_AT], as_read),
    (list(otherwise), lambda language: explained_by(network, list(otherwise.values()), language)),
    (list(twice), lambda language: explained_by(embedded_twice, list(twice.values()), language)),
]
in_these = [language for language in data if language in ("en", *PAPER_LANGUAGES)]
released = []
for rows, scored in blocks:
    scores = {language: scored(language) for language in in_these}
    for (language, number), links in links_between.items():
        if language not in in_these:
            continue
        here, there = scores["en"][number], scores[language][number]
        rho = crosslingual_rho(here, aligned_scores(there, links, here.shape[1]))
        about = {"language": language, "input": data["en"].ids[number]}
        released += [
            about | {"choice": choice, "method": method, "aggregation": how, "rho": value}
            for (choice, method, how), value in zip(rows, rho.tolist(), strict=True)
        ]
released = pd.DataFrame(released)
run.save(released.assign(**named), "crosslingual_released")
run.save_units(
    as_units(released, seed=seed, clusters=clusters, metrics=["rho"], keys=["language", "aggregation", "choice"]),
    "choices",
)

# %% [markdown]
# ## Under erasure, in English
#
# Words are deleted, so that the text becomes shorter; the top 1, 5, 10, 20 and 50 % of the words, at least one. Beside
# the right numbers stand those of the released code on the same inputs, in whose loop every batch is answered with the
# predictions of the first one.

# %%
texts = load_dataset(settings["dataset"], settings["split"], n=settings["erased"])
whole = inputs_of(texts)
explanations = explained(texts, perturbers_of(texts))
perturber = Perturber(network, whole, erase="delete")
present = whole.feature_mask
everything = perturber.logits(present[:, None, :])


def padded(key):
    """Scores [B, F] of one row for all texts."""
    return torch.nn.utils.rnn.pad_sequence([scores[key] for scores, _ in explanations], batch_first=True).to(device)


def windows(rationales):
    """Probabilities of all classes [B, 1 + S, C]: of the whole text and without each rationale; whole and that alone."""
    parts = perturber.logits(present[:, None, :] & ~rationales), perturber.logits(rationales)
    return [torch.cat([everything, part], dim=1).softmax(dim=-1).cpu() for part in parts]


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


def faulty(probabilities):
    """The windows that the released code reads."""
    return first_batch_fault(probabilities.flatten(0, 1), window=probabilities.shape[1])


# %%
erased = []
for key in tqdm([key for key in ROWS if key[3] == "sum"], desc="erasure"):
    removed, kept = windows(erasure_rationales(padded(key), present))
    comprehensiveness, sufficiency = both_metrics(removed, kept)
    wrong_comprehensiveness, wrong_sufficiency = both_metrics(faulty(removed), faulty(kept))
    erased.append(
        pd.DataFrame(
            {
                "input": texts.ids,
                "words": whole.n_features.cpu(),
                "correct": everything[:, 0].argmax(dim=-1).cpu() == torch.tensor(classifier.labels_of(texts)),
                "comprehensiveness": comprehensiveness,
                "sufficiency": sufficiency,
                "comprehensiveness_first_batch": wrong_comprehensiveness,
                "sufficiency_first_batch": wrong_sufficiency,
            }
        ).assign(method=key[0], aggregation=key[1], output=key[2])
    )
erased = pd.concat(erased, ignore_index=True)
run.save(erased.assign(**named), "crosslingual_erasure")
both = ["comprehensiveness", "sufficiency"]
run.save_units(
    as_units(
        erased,
        seed=seed,
        clusters=texts.clusters,
        metrics=[*both, *(f"{name}_first_batch" for name in both)],
        keys=["aggregation", "output"],
    ),
    "erasure",
)

# %% [markdown]
# ## What highlights are made of
#
# The paper makes highlights for other languages out of one attribution (saliency with L2 of the loss) and the links.
# Scores and links are kept, for the report to do the same.

# %%
HIGHLIGHTER = ("saliency", "l2", "loss", "sum")
words = []
for language, reading in readings.items():
    for input_id, (scores, _) in zip(data["en"].ids, reading, strict=True):
        values = scores[HIGHLIGHTER]
        words.append(
            pd.DataFrame({"language": language, "input": input_id, "word": range(len(values)), "score": values})
        )
run.save(pd.concat(words, ignore_index=True).assign(**named), "crosslingual_words")
run.save(pd.DataFrame(all_links).assign(**named), "crosslingual_word_links")

# %% [markdown]
# The first few messages in all languages with their words, for a report that shows the measure at work.

# %%
EXAMPLES = 8
SHOWN = [("input_x_gradient", "l2", "loss"), ("saliency", "l2", "loss"), ("uniform", "none", "none")]
shown = []
for language, reading in readings.items():
    for input_id, (scores, one) in list(zip(data["en"].ids, reading, strict=True))[:EXAMPLES]:
        strings = one.features[0]
        pieces = torch.bincount(one.feature_of[0][one.feature_of[0] >= 0], minlength=len(strings)).tolist()
        about = {"language": language, "input": input_id, "word": range(len(strings)), "text": strings}
        shown += [
            pd.DataFrame(about | {"pieces": pieces, "score": scores[*key, "sum"]}).assign(
                method=key[0], aggregation=key[1], output=key[2]
            )
            for key in SHOWN
        ]
run.save(pd.concat(shown, ignore_index=True).assign(**named), "crosslingual_examples")

# %%
cost = pd.DataFrame([{"method": method, **vars(one)} for method, one in spent])
cost = cost.groupby("method", sort=False).sum().reset_index()
run.save(cost.assign(**named), "crosslingual_costs")
run.note(n=len(texts), **costs(perturber), dtype="float32", device=device)
run.finish()
