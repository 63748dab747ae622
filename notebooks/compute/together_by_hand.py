# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: a model's outputs for eleven excerpts, by hand and by faithlib
#
# For `together_metrics`, where nine metrics are computed on one short text step by step: the probabilities and
# scores that the page uses, the same metrics as `faithlib` computes them, and the outputs for the rows that the
# released code of EvalxNLP would run. "By hand" means: the model is called as it is, on rows of ids or of
# embeddings. Sizes are the same in every profile.

# %% tags=["parameters"]
profile = "laptop"

# %%
from dataclasses import replace

import numpy as np
import pandas as pd
import torch

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.sources.excerpts import marked_excerpts
from faithlib import MetricSettings, counter_rng, evaluate, metrics
from faithlib.attribution import attribute
from faithlib.backends import TextBackend
from faithlib.evaluation import ALL_SHARES, FAD_SHARES
from faithlib.inputs import TextInputs
from faithlib.masks import top_ratio
from faithlib.perturb import Perturber, costs

run = start_run("together_by_hand", profile=profile)
EXAMPLE = "pair-D10-1038-approach-abstract-yes"
# Words of an excerpt, excerpts, draws of a soft metric (and of its replay on the example).
WORDS, EXCERPTS, DRAWS, REPLAY_DRAWS = 12, 10, 4, 8
METRICS = ("soft_ns", "soft_nc", "n_auc", "autpc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness")

# %% [markdown]
# ## The texts
#
# The example, then the first ten excerpts with marked and unmarked words for which the model predicts *yes*.

# %%
data = load_dataset("pair", "test")
classifier = load_model("local:text/pair-seed0")
network, YES = classifier.model, classifier.label_names.index("yes")


def encoded(chosen):
    """The model's inputs of some excerpts."""
    texts, queries = [one.text for one in chosen], [data.queries[one.row] for one in chosen]
    return TextInputs.from_texts(texts, classifier.tokenizer, queries=queries, max_length=data.max_length)


in_order = marked_excerpts(data, len(data), size=WORDS)
taken, looked_at = [one for one in in_order if data.ids[one.row] == EXAMPLE], 0
while len(taken) < EXCERPTS + 1:
    part = in_order[looked_at : looked_at + 32]
    answered_yes = Perturber(network, encoded(part)).predicted == YES
    right = [n for n, yes in enumerate(answered_yes.tolist()) if yes and part[n] not in taken][
        : EXCERPTS + 1 - len(taken)
    ]
    taken += [part[n] for n in right]
    looked_at += len(part) if len(taken) <= EXCERPTS else right[-1] + 1

inputs = encoded(taken)
present, sizes = inputs.feature_mask, inputs.n_features.tolist()
gold = torch.zeros_like(present)
for b, one in enumerate(taken):
    marked = [word for word, mark in zip(one.words, one.marked, strict=True) if mark]
    for f, (start, end) in enumerate(inputs.spans[b]):
        gold[b, f] = any(a <= start and end <= z for a, z in marked)

# %% [markdown]
# ## The model, called as it is

# %%
masked = Perturber(network, inputs, erase="mask")
scores = {
    "occlusion": attribute("occlusion", network, inputs, erase="mask", perturber=masked),
    "random": attribute("random", network, inputs, seed=0),
}
answered = {}  # no row is run twice


def ask(rows):
    """Probability of yes for rows (token ids, token types) of any lengths, NumPy [R]: the plain model."""
    keys = [(tuple(ids), tuple(types)) for ids, types in rows]
    new = list(dict.fromkeys(key for key in keys if key not in answered))
    longest = max((len(ids) for ids, _ in new), default=0)
    for part in (new[start : start + 64] for start in range(0, len(new), 64)):
        ids, types, there = np.zeros((3, len(part), longest), dtype=np.int64)
        for r, (own_ids, own_types) in enumerate(part):
            ids[r, : len(own_ids)], types[r, : len(own_ids)], there[r, : len(own_ids)] = own_ids, own_types, 1
        given = {"input_ids": ids, "token_type_ids": types, "attention_mask": there}
        with torch.inference_mode():
            logits = network(**{name: torch.from_numpy(value) for name, value in given.items()}).logits
        answered.update(zip(part, logits.softmax(dim=-1)[:, YES].tolist(), strict=True))
    return np.array([answered[key] for key in keys])


def row(b):
    """Ids and types of input b, and the positions of its features."""
    length = int(inputs.lengths[b])
    ids, types = inputs.input_ids[b, :length].tolist(), inputs.token_type_ids[b, :length].tolist()
    return ids, types, [place for place, owner in enumerate(inputs.feature_of[b].tolist()) if owner >= 0]


def without(ids, places):
    """The ids with [MASK] at some places."""
    return [inputs.mask_id if place in places else token for place, token in enumerate(ids)]


# %% [markdown]
# The example without each word, and without the first k in the order of occlusion's scores.

# %%
ids, types, places = row(0)
words, n = inputs.features[0], sizes[0]
p_full = ask([(ids, types)])[0]
p_without = ask([(without(ids, [place]), types) for place in places])
a = scores["occlusion"][0, :n].numpy().astype(float)
order = np.argsort(-a, kind="stable")
p_after = ask([(without(ids, [places[f] for f in order[:k]]), types) for k in range(n + 1)])
run.save(pd.DataFrame({"word": words, "p_without": p_without}), "by_hand_words")
run.save(pd.DataFrame({"gone": range(n + 1), "p": p_after}), "by_hand_removed")

# %% [markdown]
# Embeddings whose elements are dropped by chance, with the random numbers that `faithlib` uses.

# %%
importance = (a - a.min()) / (a.max() - a.min())
example = inputs[[0]]
backend = TextBackend(network, example)
e = backend.embeddings()[0].numpy()  # [L, D]: what enters the first layer
content = np.array(example.keys(), dtype=np.uint64).repeat(DRAWS)
keys = counter_rng.row_keys(0, content, np.zeros(DRAWS, dtype=np.int64), np.arange(DRAWS))
u = counter_rng.uniform(torch.from_numpy(keys), *e.shape).numpy()  # [draws, L, D]


def p_of_embeddings(x):
    """Probability of yes for embeddings [R, L, D]."""
    with torch.inference_mode():
        logits = backend.logits(torch.from_numpy(x), torch.zeros(len(x), dtype=torch.long))
    return logits.softmax(dim=-1)[:, YES].numpy().astype(float)


def softly_erased(q):
    """The embeddings where u < q, else 0; q is 1 outside the excerpt."""
    on_places = np.ones(len(e), dtype=np.float32)
    on_places[places] = q
    return np.where(u < on_places[:, None], e, np.float32(0))


erased = e.copy()
erased[places] = 0
p_empty = p_of_embeddings(erased[None])[0]
p_kept, p_removed = p_of_embeddings(softly_erased(importance)), p_of_embeddings(softly_erased(1 - importance))
run.save(pd.DataFrame({"draw": range(1, DRAWS + 1), "p_kept": p_kept, "p_removed": p_removed}), "by_hand_draws")

# %% [markdown]
# ## The same by faithlib

# %%
table = evaluate(
    network,
    inputs,
    methods=scores,
    metrics=["soft_ns", "soft_nc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness"],
    gold=gold,
    settings=MetricSettings(draws=DRAWS, seed=0),
)
curve_table = evaluate(
    network,
    example,
    methods={"occlusion": scores["occlusion"][[0], :n]},
    metrics=["n_auc", "autpc"],
    settings=MetricSettings(erase="mask"),
)


def still_yes(scored, shares):
    """1 where the class is still yes, [B, K]."""
    kept = ~top_ratio(scored, shares, present)
    return (masked.logits(kept).argmax(dim=-1) == masked.predicted[:, None]).float()


CURVES = {"n_auc": (FAD_SHARES, metrics.n_auc), "autpc": (ALL_SHARES, metrics.auc)}
accuracy, areas = [], []
for method, scored in scores.items():
    for metric, (shares, area) in CURVES.items():
        curve = still_yes(scored, shares)
        accuracy += [
            {"text": b, "method": method, "curve": metric, "share": share, "y": y}
            for b, values in enumerate(curve.tolist())
            for share, y in zip(shares, values, strict=True)
        ]
        areas.append(
            pd.DataFrame(
                {"input": range(len(inputs)), "method": method, "metric": metric, "value": area(curve).double()}
            )
        )
run.save(pd.DataFrame(accuracy), "by_hand_accuracy")
kept = ["input", "method", "metric", "value"]
by_faithlib = pd.concat([table[kept], *areas], ignore_index=True)
run.save(by_faithlib, "by_hand_set")
names = [data.ids[one.row] for one in taken]
run.save_units(
    as_units(by_faithlib.assign(input=[names[b] for b in by_faithlib.input]), seed=0, clusters=data.clusters)
)
run.save(
    pd.concat([table[kept][(table.input == 0) & (table.method == "occlusion")], curve_table[kept]]), "by_hand_example"
)

# %% [markdown]
# One word on its way through the model, with the query of the example.

# %%
single = TextInputs.from_texts(
    [words[int(order[0])]], classifier.tokenizer, queries=[data.queries[taken[0].row]], max_length=data.max_length
)
of_one = evaluate(
    network, single, methods={"occlusion": attribute("occlusion", network, single)}, metrics=list(METRICS),
    gold=torch.ones(single.feature_mask.shape, dtype=torch.bool), settings=MetricSettings(draws=DRAWS),
)  # fmt: skip
run.save(of_one[kept], "by_hand_one_word")

# %% [markdown]
# ## The ends
#
# What the definitions fix, whatever the model.

# %%
UNIFORM, HOT, ZERO, ONE = torch.ones(1, 10), torch.eye(10)[:1], torch.zeros(1, 10), torch.ones(1, 1)
HALF = torch.tensor([[True] * 5 + [False] * 5])
NONE, ALONE = torch.zeros(1, 10, dtype=torch.bool), torch.ones(1, 1, dtype=torch.bool)
DOWN = torch.arange(10, 0, -1).float()[None]
P, P0 = torch.tensor([0.9]), torch.tensor([0.4])
NEVER, AT_ONCE = (lambda k: torch.ones(1, k)), (lambda k: torch.eye(k)[:1])
ends = [
    ("Soft-NS", "nothing is lost (everything kept)", metrics.soft_ns(P, P, P0), 1),
    ("Soft-NS", "nothing is kept", metrics.soft_ns(P, P0, P0), 0),
    ("Soft-NS", "no room: the empty text is as good", metrics.soft_ns(P, P, P), np.nan),
    ("Soft-NC", "everything is removed", metrics.soft_nc(P, P0, P0), 1),
    ("Soft-NC", "nothing is lost", metrics.soft_nc(P, P, P0), 0),
    ("Soft-NC", "no room", metrics.soft_nc(P, P, P), np.nan),
    ("N-AUC (FAD)", "the class never changes", metrics.n_auc(NEVER(5)), 1),
    ("N-AUC (FAD)", "it changes at the first step for good", metrics.n_auc(AT_ONCE(5)), 1 / 8),
    ("N-AUC (FAD)", "accuracy 0 from the start", metrics.n_auc(torch.zeros(1, 5)), np.nan),
    ("AUTPC", "the class never changes", metrics.auc(NEVER(11)), 1),
    ("AUTPC", "it changes at the first step for good", metrics.auc(AT_ONCE(11)), 1 / 20),
    ("token-F1", "the K best words are the marked ones", metrics.token_f1(DOWN, HALF, k=5), 1),
    ("token-F1", "no score is positive", metrics.token_f1(-DOWN, HALF, k=5), 0),
    ("token-F1", "equal scores: the first K words, all marked", metrics.token_f1(UNIFORM, HALF, k=5), 1),
    ("token-F1", "the same, the last five marked", metrics.token_f1(UNIFORM, ~HALF, k=5), 0),
    ("token-F1", "nothing is marked", metrics.token_f1(DOWN, NONE, k=5), np.nan),
    ("IOU-F1", "IOU just one half (K = 10, five marked)", metrics.iou_f1(DOWN, HALF, k=10), 1),
    ("IOU-F1", "one word short of it (K = 2)", metrics.iou_f1(DOWN, HALF, k=2), 0),
    ("IOU-F1", "nothing is marked", metrics.iou_f1(DOWN, NONE, k=5), np.nan),
    ("AUPRC", "marked words first", metrics.auprc(DOWN, HALF), 1),
    ("AUPRC", "equal scores, half the words marked", metrics.auprc(UNIFORM, HALF), (1 + 0.5) / 2),
    ("AUPRC", "nothing is marked", metrics.auprc(DOWN, NONE), np.nan),
    ("AUPRC", "one word, marked", metrics.auprc(ONE, ALONE), 1),
    ("complexity", "ten equal scores", metrics.complexity(UNIFORM), np.log(10)),
    ("complexity", "one of ten has all", metrics.complexity(HOT), 0),
    ("complexity", "one word", metrics.complexity(ONE), 0),
    ("complexity", "all scores 0", metrics.complexity(ZERO), np.nan),
    ("sparseness", "ten equal scores", metrics.sparseness(UNIFORM), 0),
    ("sparseness", "one of ten has all", metrics.sparseness(HOT), 9 / 10),
    ("sparseness", "one word", metrics.sparseness(ONE), 0),
    ("sparseness", "all scores 0", metrics.sparseness(ZERO), np.nan),
]
run.save(
    pd.DataFrame(
        [{"metric": m, "case": case, "must be": float(value), "is": scored.item()} for m, case, scored, value in ends]
    ),
    "by_hand_ends",
)

# %% [markdown]
# ## What the released code would run
#
# `[CLS]` and the last `[SEP]` as features, occluded like words.


# %%
def with_ends(inputs):
    """The same inputs with [CLS] and the last [SEP] as features, before and after the others."""
    feature_of = torch.where(inputs.feature_of >= 0, inputs.feature_of + 1, -1)
    feature_of[:, 0] = 0
    feature_of[torch.arange(len(inputs)), inputs.lengths - 1] = (inputs.n_features + 1).to(feature_of)
    return replace(inputs, feature_of=feature_of, n_features=inputs.n_features + 2, features=(), spans=())


wide = with_ends(inputs)
only = torch.ones(len(wide), 2, wide.feature_mask.shape[1], dtype=torch.bool)
for b, size in enumerate(sizes):
    only[b, 0, 0] = only[b, 1, size + 1] = False
wide_perturber = Perturber(network, wide, erase="mask")
of_ends = (wide_perturber.full[:, None] - wide_perturber.keep(only)).numpy().astype(float)
full_each = masked.full.numpy().astype(float)
token_scores = [scores["occlusion"][b, :size].numpy().astype(float) for b, size in enumerate(sizes)]
ended = [np.r_[of_ends[b, 0], part, of_ends[b, 1]] for b, part in enumerate(token_scores)]

# %% [markdown]
# The soft metrics: what the model reads are ids made of its own last hidden state.


# %%
def read_ids(b, scored, verb, seed):
    """The ids the model reads in the released soft metrics, and which tokens the draw kept."""
    ids, _, own_places = row(b)
    spots = [0, *own_places, len(ids) - 1]
    a = (scored - scored.min()) / (scored.max() - scored.min())
    kept = np.random.default_rng([seed, b]).random(len(a)) < (a if verb == "sufficiency" else 1 - a)
    new = list(ids)
    for spot, stays in zip(spots, kept, strict=True):
        new[spot] = int(largest[b][spot]) if stays else 0
    return new, kept


with torch.inference_mode():
    states = network(
        input_ids=inputs.input_ids,
        attention_mask=inputs.attention_mask.long(),
        token_type_ids=inputs.token_type_ids,
        output_hidden_states=True,
    ).hidden_states[-1]
largest = states.argmax(dim=-1).numpy()
D = states.shape[-1]


def released_answers(b, draws):
    """Probabilities of yes in the released soft metrics of one text: with every id at 0, and draw by draw."""
    ids, types, own_places = row(b)
    spots = {0, *own_places, len(ids) - 1}
    blank = [0 if place in spots else token for place, token in enumerate(ids)]
    drawn = [(verb, seed) for verb in ("sufficiency", "comprehensiveness") for seed in range(draws)]
    p = ask([(blank, types), *((read_ids(b, ended[b], verb, seed)[0], types) for verb, seed in drawn)])
    return [
        {"text": b, "what": what, "draw": draw, "p": answer}
        for (what, draw), answer in zip([("blank", 0), *drawn], p, strict=True)
    ]


released = [scored for b in range(len(inputs)) for scored in released_answers(b, DRAWS if b else REPLAY_DRAWS)]
run.save(pd.DataFrame(released), "by_hand_released_soft")
new, kept_tokens = read_ids(0, ended[0], "sufficiency", 0)
spots = [0, *places, len(ids) - 1]
read = [new[spot] for spot in spots]
run.save(
    pd.DataFrame(
        {
            "token": ["[CLS]", *words, "[SEP]"],
            "score": ended[0],
            "kept": kept_tokens,
            "id": read,
            "read": classifier.tokenizer.convert_ids_to_tokens(read),
        }
    ),
    "by_hand_released_ids",
)

# %% [markdown]
# The accuracy curves: numbers of tokens rounded down, orders by size, ends scored and masked like words, and twice. Each
# step of the released code alone on the example, and all of it on every text.


# %%
def masked_answers(b, scored, percents, *, ends=False, doubled=False, size=np.abs, down=True):
    """Probability of yes after some per cent of the tokens went; options: what the released code does."""
    ids, types, own_places = row(b)
    spots = [0, *own_places, len(ids) - 1] if ends else own_places
    ranking = np.argsort(-size(scored), kind="stable")
    asked = []
    for percent in percents:
        share = round(percent / 100 * len(spots), 9)  # for .1 * 30 is a bit above 3
        many = len(spots) * percent // 100 if down else int(np.ceil(share))
        left = without(ids, [spots[f] for f in ranking[:many]])
        if doubled:
            left, kinds = [ids[0], *left, ids[-1]], [types[0], *types, types[-1]]
        asked.append((left, kinds if doubled else types))
    return ask(asked)


def signed(values):
    """The scores as they are, for a ranking that heeds signs."""
    return values


FIFTH, TENTHS, ALL = range(0, 21, 5), range(0, 21, 10), range(0, 101, 10)
AS_HERE = {"size": signed, "down": False}
EVERY = {"ends": True, "doubled": True}
TOGETHER = "all of it"
CHANGES = {  # whose scores, percents, options
    ("n_auc", "steps of 10 %, rounded down"): (token_scores, TENTHS, {"size": signed}),
    ("n_auc", "order by size, signs ignored"): (token_scores, FIFTH, {"down": False}),
    ("n_auc", "[CLS] and [SEP] masked too"): (ended, FIFTH, {"ends": True, **AS_HERE}),
    ("n_auc", "[CLS] and [SEP] twice"): (token_scores, FIFTH, {"doubled": True, **AS_HERE}),
    ("n_auc", TOGETHER): (ended, TENTHS, EVERY),
    ("autpc", "rounded down"): (token_scores, ALL, {"size": signed}),
    ("autpc", "[CLS] and [SEP] masked too"): (ended, ALL, {"ends": True, **AS_HERE}),
    ("autpc", "[CLS] and [SEP] twice"): (token_scores, ALL, {"doubled": True, **AS_HERE}),
    ("autpc", TOGETHER): (ended, ALL, {"size": signed, **EVERY}),
}
curved = [
    {"metric": metric, "change": change, "text": b, "percent": percent, "p": p}
    for (metric, change), (scored, percents, how) in CHANGES.items()
    for b in range(len(inputs) if change == TOGETHER else 1)
    for percent, p in zip(percents, masked_answers(b, scored[b], percents, **how), strict=True)
]
run.save(pd.DataFrame(curved), "by_hand_released_curves")

# %% [markdown]
# ## The texts, their words and their scores

# %%
run.save(
    pd.DataFrame(
        {
            "text": np.repeat(np.arange(len(inputs)), sizes),
            "word": [word for part in inputs.features for word in part],
            "marked": gold[present].numpy(),
            "occlusion": scores["occlusion"][present].numpy(),
            "random": scores["random"][present].numpy(),
        }
    ),
    "by_hand_tokens",
)
below = classifier.tokenizer.convert_ids_to_tokens(list(range(D)))
run.save(
    pd.DataFrame(
        {
            "id": [data.ids[one.row] for one in taken],
            "query": [data.queries[one.row] for one in taken],
            "p_full": full_each,
            "p_empty": Perturber(network, inputs).empty.numpy().astype(float),
            "p_full_by_hand": np.r_[p_full, np.full(EXCERPTS, np.nan)],
            "p_empty_by_hand": np.r_[p_empty, np.full(EXCERPTS, np.nan)],
            "cls": of_ends[:, 0],
            "sep": of_ends[:, 1],
            "looked_at": looked_at,
            "hidden_units": D,
            "words_below": sum(not (token.startswith("[") and token.endswith("]")) for token in below),
        }
    ),
    "by_hand_texts",
)

# %%
run.note(
    n=EXCERPTS, draws=DRAWS, rows_by_hand=len(answered), **costs(masked, wide_perturber), dtype="float32", device="cpu"
)
run.finish()
