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
# embeddings (`faithbook.studies.together.by_hand`). Sizes are the same in every profile.

# %% tags=["parameters"]
profile = "laptop"
# Your choices: None is what the profile says.
excerpts = None  # texts beside the example, at most those that the model answers with yes
words = None  # of an excerpt
draws = None  # masks per soft score, on every text
replay_draws = None  # masks of the released code's soft scores, on the example

# %%
import numpy as np
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.studies.together.by_hand import (
    METRICS,
    PlainModel,
    accuracy_curves,
    excerpts_with_answer,
    inputs_with_query,
    marks_of,
    softly_erased,
    token_row,
    values_at_the_ends,
    without_each,
    without_first,
)
from faithbook.studies.together.by_hand_released import ReleasedSoft, curve_table, scores_of_ends, with_ends
from faithlib import MetricSettings, evaluate
from faithlib.attribution import attribute
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, costs

run = start_run(
    "together_by_hand", profile=profile, excerpts=excerpts, words=words, draws=draws, replay_draws=replay_draws
)
settings = run.settings
EXAMPLE = "pair-D10-1038-approach-abstract-yes"

# %% [markdown]
# ## The texts
#
# The example, then the first excerpts with marked and unmarked words for which the model predicts *yes*. Scores are
# those of occlusion, $a_i = p(x) - p(x \setminus i)$ with $[\mathrm{MASK}]$ for word $i$, and random ones.

# %%
data = load_dataset("pair", "test")
classifier = load_model("local:text/pair-seed0")
network, tokenizer = classifier.model, classifier.tokenizer
yes = classifier.label_names.index("yes")
taken, looked_at = excerpts_with_answer(
    data, classifier, answer=yes, example=EXAMPLE, n=settings["excerpts"], words=settings["words"]
)
ids = [data.ids[excerpt.row] for excerpt in taken]
inputs = inputs_with_query(data, taken, tokenizer)
gold = marks_of(inputs, taken)
present, sizes = inputs.feature_mask, inputs.n_features.tolist()
masked = Perturber(network, inputs, erase="mask")
scores = {
    "occlusion": attribute("occlusion", network, inputs, erase="mask", perturber=masked),
    "random": attribute("random", network, inputs, seed=0),
}

# %% [markdown]
# ## The model, called as it is
#
# The example without each word, and without the first $k$ in the order of occlusion's scores.

# %%
model = PlainModel(network, yes)
example, first = inputs[[0]], token_row(inputs, 0)
example_words = inputs.features[0]
example_scores = scores["occlusion"][0, : sizes[0]].numpy().astype(float)
p_full = model.ask([(first.ids, first.types)])[0]
p_without = without_each(model, first, inputs.mask_id)
p_after = without_first(model, first, example_scores, inputs.mask_id)
run.save(pd.DataFrame({"word": example_words, "p_without": p_without}), "by_hand_words")
run.save(pd.DataFrame({"gone": range(len(p_after)), "p": p_after}), "by_hand_removed")

# %% [markdown]
# Embeddings whose elements are dropped by chance, with the random numbers that `faithlib` uses: an element of word $i$ stays
# with probability $q_i = a_i$ for Soft-NS and $1 - a_i$ for Soft-NC, $a$ scaled to between 0 and 1. With $p'$ the
# probability of *yes* then and $p_\varnothing$ that without any word,
#
# $$\text{Soft-NS} = 1 - \frac{\max(0,\, p - p')}{p - p_\varnothing}, \qquad
# \text{Soft-NC} = \frac{\max(0,\, p - p')}{p - p_\varnothing}.$$

# %%
importance = (example_scores - example_scores.min()) / (example_scores.max() - example_scores.min())
p_empty, drawn = softly_erased(network, example, importance, answer=yes, draws=settings["draws"])
run.save(drawn, "by_hand_draws")

# %% [markdown]
# ## The same by faithlib
#
# N-AUC and AUTPC read the share $y_k$ of texts that keep their class while a growing share of the words, those of the
# highest scores first, becomes `[MASK]`: up to 20 % in steps of 5 for N-AUC, to 100 % in steps of 10 for AUTPC. With the
# trapezia between the steps,
#
# $$\text{AUTPC} = \tfrac{1}{10} \sum_{k=1}^{10} \frac{y_{k-1} + y_k}{2}, \qquad
# \text{N-AUC} = \frac{1}{4 \max_k y_k} \sum_{k=1}^{4} \frac{y_{k-1} + y_k}{2}.$$

# %%
on_texts = evaluate(
    network,
    inputs,
    methods=scores,
    metrics=["soft_ns", "soft_nc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness"],
    gold=gold,
    settings=MetricSettings(draws=settings["draws"], seed=0),
)
on_example = evaluate(
    network,
    example,
    methods={"occlusion": scores["occlusion"][[0], : sizes[0]]},
    metrics=["n_auc", "autpc"],
    settings=MetricSettings(erase="mask"),
)
curve_points, curve_values = accuracy_curves(masked, scores)
run.save(curve_points, "by_hand_accuracy")

columns = ["input", "method", "metric", "value"]
by_faithlib = pd.concat([on_texts[columns], curve_values], ignore_index=True)
run.save(by_faithlib, "by_hand_set")
named = by_faithlib.assign(input=[ids[b] for b in by_faithlib.input])
run.save_units(as_units(named, seed=0, clusters=data.clusters))
is_example = (on_texts.input == 0) & (on_texts.method == "occlusion")
run.save(pd.concat([on_texts[columns][is_example], on_example[columns]]), "by_hand_example")

# %% [markdown]
# One word on its way through the model, with the query of the example.

# %%
first_word = example_words[int(np.argsort(-example_scores, kind="stable")[0])]
single = TextInputs.from_texts(
    [first_word], tokenizer, queries=[data.queries[taken[0].row]], max_length=data.max_length
)
of_one = evaluate(
    network,
    single,
    methods={"occlusion": attribute("occlusion", network, single)},
    metrics=list(METRICS),
    gold=torch.ones(single.feature_mask.shape, dtype=torch.bool),
    settings=MetricSettings(draws=settings["draws"]),
)
run.save(of_one[columns], "by_hand_one_word")

# %% [markdown]
# ## The ends
#
# What the definitions fix, whatever the model.

# %%
run.save(values_at_the_ends(), "by_hand_ends")

# %% [markdown]
# ## What the released code would run
#
# `[CLS]` and the last `[SEP]` are features there, occluded like words.

# %%
ended = Perturber(network, with_ends(inputs), erase="mask")
of_ends = scores_of_ends(ended)
word_scores = [scores["occlusion"][b, :size].numpy().astype(float) for b, size in enumerate(sizes)]
token_scores = [np.r_[of_ends[b, 0], values, of_ends[b, 1]] for b, values in enumerate(word_scores)]

# %% [markdown]
# The soft metrics: what the model reads are ids made of its own last hidden state.

# %%
released = ReleasedSoft(network, inputs)
answers = [
    released.answers(model, b, token_scores[b], settings["draws"] if b else settings["replay_draws"])
    for b in range(len(inputs))
]
run.save(pd.concat(answers, ignore_index=True), "by_hand_released_soft")

new_ids, stayed = released.ids(0, token_scores[0], "sufficiency", 0)
read = [new_ids[place] for place in (0, *first.places, len(first.ids) - 1)]
run.save(
    pd.DataFrame(
        {
            "token": ["[CLS]", *example_words, "[SEP]"],
            "score": token_scores[0],
            "kept": stayed,
            "id": read,
            "read": tokenizer.convert_ids_to_tokens(read),
        }
    ),
    "by_hand_released_ids",
)

# %% [markdown]
# The accuracy curves: numbers of tokens rounded down, orders by size, ends scored and masked like words, and twice. Each
# step of the released code alone on the example, and all of it on every text.

# %%
run.save(curve_table(model, inputs, word_scores, token_scores, inputs.mask_id), "by_hand_released_curves")

# %% [markdown]
# ## The texts, their words and their scores

# %%
run.save(
    pd.DataFrame(
        {
            "text": np.repeat(np.arange(len(inputs)), sizes),
            "word": [word for words_of_text in inputs.features for word in words_of_text],
            "marked": gold[present].numpy(),
            "occlusion": scores["occlusion"][present].numpy(),
            "random": scores["random"][present].numpy(),
        }
    ),
    "by_hand_tokens",
)
others = np.full(len(inputs) - 1, np.nan)  # by hand is the example alone
vocabulary = tokenizer.convert_ids_to_tokens(list(range(released.hidden_units)))
run.save(
    pd.DataFrame(
        {
            "id": ids,
            "query": [data.queries[excerpt.row] for excerpt in taken],
            "p_full": masked.full.numpy().astype(float),
            "p_empty": Perturber(network, inputs).empty.numpy().astype(float),
            "p_full_by_hand": np.r_[p_full, others],
            "p_empty_by_hand": np.r_[p_empty, others],
            "cls": of_ends[:, 0],
            "sep": of_ends[:, 1],
            "looked_at": looked_at,
            "hidden_units": released.hidden_units,
            "words_below": sum(not (token.startswith("[") and token.endswith("]")) for token in vocabulary),
        }
    ),
    "by_hand_texts",
)

# %%
run.note(
    n=len(inputs) - 1,
    draws=settings["draws"],
    rows_by_hand=len(model.answered),
    **costs(masked, ended),
    dtype="float32",
    device="cpu",
)
run.finish()

# %% [markdown]
# ## What was computed
#
# Means over the example and the excerpts. Random scores show what a metric gives to an explanation that knows nothing.
# *Book*: the full run's mean. Change a choice in the second cell and run the notebook again;
# `notebooks/report/together_metrics.py` then shows every step with it.

# %%
beside_book(run)
