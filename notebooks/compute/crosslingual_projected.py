# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: highlights carried over to translations
#
# Zaman & Belinkov (2022), Section 4.3 and Table 5: words of the English text whose score is above a threshold are marked,
# marks are carried over to a translation along word links, and the same attribution of the translation is scored against
# them. Scores and links are those that `crosslingual_metrics` saved, the threshold that of `crosslingual_plausibility`;
# no model is asked.

# %% tags=["parameters"]
profile = "laptop"

# %%
import numpy as np
import pandas as pd
import torch

from faithbook.crosslingual.highlights import project_rationale
from faithbook.engine.run import load, start_run
from faithbook.engine.units import as_units
from faithbook.papers.zaman_belinkov import firmest_marks
from faithlib.metrics import average_precision

run = start_run("crosslingual_projected", profile=profile)
words = load("crosslingual_words", profile)
thresholds = load("crosslingual_threshold", profile).sort_values("seed", ignore_index=True)
firmest = thresholds.dataset == firmest_marks(thresholds.dataset.unique())

# %% [markdown]
# Three ways to mark: with our threshold, which is the paper's rule; with the paper's number; and the words whose score is
# above an even spread over their own text. And where the paper's own marks lie on this machine, these, which need not be
# carried over.

# %%
OWN_THRESHOLD = float(thresholds.threshold[firmest].iloc[0])  # of one classifier, as in the paper
PRINTED_THRESHOLD = 0.167  # Section 4.3, from e-SNLI
HIGHLIGHTS = {
    "our threshold": lambda n: OWN_THRESHOLD,
    "the paper's number": lambda n: PRINTED_THRESHOLD,
    "above an even spread": lambda n: n**-0.5 * (1 - 1e-6),  # rounding must not unmark the only word of a text
}
AS_PUBLISHED = "as published"
KEY = ["dataset", "model", "seed", "input", "language"]
by_text = dict(iter(words.sort_values("word").groupby(KEY)))
scores = {key: torch.tensor(group.score.to_numpy()) for key, group in by_text.items()}
published = {
    key: torch.tensor(group.published.to_numpy(dtype=bool))
    for key, group in by_text.items()
    if group.published.notna().all()
}
links = {
    key: list(zip(group.word, group.word_there, strict=True))
    for key, group in load("crosslingual_word_links", profile).groupby(KEY)
}


def marked_english(values, rule):
    """Words of an English text whose share of the vector's length reaches the threshold, bool [F]."""
    return values / values.norm() >= HIGHLIGHTS[rule](len(values))


def average_precision_by_chance(n, marked):
    """The expected average precision of n scores in random order, `marked` of them gold.

    Place k is gold with probability m/n, and then (k - 1)(m - 1)/(n - 1) gold ones are expected before it.
    """
    harmonic = (1 / np.arange(1, n + 1)).sum()
    return 1.0 if n == 1 else (harmonic + (marked - 1) / (n - 1) * (n - harmonic)) / n


def gold_of(key, rule):
    """The words of a text that count as marked by a rule, bool [F]."""
    if rule == AS_PUBLISHED:
        return published[key]
    *reading, language = key
    english = marked_english(scores[*reading, "en"], rule)
    return english if language == "en" else project_rationale(english, links.get(key, []), len(scores[key]))


def replayed(key, rule):
    """MAP's value for one reading of one message, with what random scores get; NaN where no word is marked."""
    values, gold = scores[key], gold_of(key, rule)
    ours, marked = average_precision(values[None], gold[None]).item(), int(gold.sum())
    chance = average_precision_by_chance(len(values), marked) if marked else np.nan
    return {"map": ours, "chance": chance, "lift": ours - chance, "marked": marked / len(values)}


# %%
measured = pd.DataFrame(
    [
        dict(zip(KEY, key, strict=True)) | {"highlights": rule, "quantity": quantity, "value": value}
        for key in scores
        for rule in [*HIGHLIGHTS, *([AS_PUBLISHED] if key in published else [])]
        for quantity, value in replayed(key, rule).items()
    ]
)
run.save(measured, "crosslingual_projected")
run.save_units(
    as_units(
        measured.rename(columns={"quantity": "metric"}),
        seed="seed",
        keys=["dataset", "model", "language", "highlights"],
    )
)

# %%
run.note(n=words.input.nunique(), dtype="float32", device="cpu")
run.finish()
