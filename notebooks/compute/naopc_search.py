# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: rows against error of searches for the bounds of AOPC
#
# The same texts, cut to several lengths, searched in several ways. All searches of a text share one cache, so a set
# computed for one is free for the next; `rows` counts what each search would have needed alone. The best bounds found
# by any of them (the exact ones where the text is short enough) are what errors are measured against.
#
# Rows of the full searches grow with the square of the length. So the longest texts have only one of them, the
# published search at its full width, which the page is about, and all cheaper searches. The adaptive search can need
# more than the published one; the very longest texts go without it. The longer texts have pruned
# searches of more words, too: sixteen are a fifth of a text of 80, but few of one of 160.
#
# All in single precision, though the paper searched in half: rounded outputs change the path of a beam, on long
# texts by more than the searches differ. The published one then needs up to twice the rows.

# %% tags=["parameters"]
profile = "laptop"
classifier = "lstm"
words = 10  # how many a text keeps
part = 1  # of `parts`: which share of the texts
parts = 1
# Your choices: None is what the profile says.
texts_of_length = None  # texts, such as 4
articles = None  # from which the texts that are long enough are taken
exact_up_to = None  # words up to which exact bounds are computed
thorough_up_to = None  # words up to which all full searches run

# %%
import time

import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithlib.bounds import adaptive_bounds, beam_bounds, exact_bounds
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, costs

run = start_run(
    "naopc_search",
    profile=profile,
    classifier=classifier,
    words=words,
    part=part,
    parts=parts,
    texts_of_length=texts_of_length,
    articles=articles,
    exact_up_to=exact_up_to,
    thorough_up_to=thorough_up_to,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
dataset = settings["dataset"]
loaded = load_model(settings["model"])
model = loaded.model.to(device)
articles = load_dataset(dataset, "test", seed=0, n=settings["articles"], sample=settings["sample"])

# %% [markdown]
# ## Searches
#
# With $r$ an order in which the $N$ words are removed, and *lower* and *upper* the smallest and the largest AOPC of all orders,
#
# $$\text{AOPC}(r) = \frac1N \sum_{k=1}^{N} \bigl[ p(x) - p(x \text{ without the first } k \text{ of } r) \bigr], \qquad
# \text{NAOPC}(r) = \frac{\text{AOPC}(r) - \text{lower}}{\text{upper} - \text{lower}}.$$
#
# A beam keeps the best sets of $k$ removed words, from which those of $k + 1$ are made. Its width says how many, and *candidates*
# how many words each looks at. An exact search runs all $2^N$ sets.

# %%
PUBLISHED = {"variant": "released", "width": 5}


def pruned(*limits):
    """Merged searches of a width whose entries look at so many words."""
    return [
        {"variant": "merged", "width": width, "candidates": candidates, "tolerance": 0.005}
        for width, candidates in limits
    ]


searches = [
    *({"variant": "released", "width": width} for width in (1, 3)),
    PUBLISHED,
    *({"variant": "merged", "width": width} for width in (1, 3, 5)),
    *pruned((1, 2), (1, 4), (1, 8), (3, 4), (3, 8), (3, 16), (5, 16)),
    {"variant": "adaptive", "candidates": 8, "tolerance": 0.005},
]
if words > settings["thorough_up_to"]:
    searches = [PUBLISHED, *(search for search in searches if "candidates" in search), *pruned((3, 32), (5, 32))]
if words > settings["adaptive_up_to"]:
    searches = [search for search in searches if search["variant"] != "adaptive"]
LIMITS = ["width", "candidates", "tolerance"]
ENDS = ["lower", "upper", "certified_lower", "certified_upper", "rows"]


def searched_by(score, *, variant, **options):
    """One search: a beam as the paper's code has it or merged, or one whose width doubles until its bounds stay."""
    if variant == "adaptive":
        return adaptive_bounds(score, **options)
    return beam_bounds(score, variant=variant, **options)


def row_of(search, **columns):
    """The ends of one search, and what it asked."""
    return {name: getattr(search, name).item() for name in ENDS} | columns


def searched(number, text):
    """Every search of one text, a row each."""
    inputs = TextInputs.from_texts([text], loaded.tokenizer, unit="word", max_length=512)
    score, size = Perturber(model, inputs, erase="mask"), int(inputs.n_features)
    about = {"input": number, "n_features": size, "classifier": classifier, "words": words}
    rows = []
    for search in searches:
        before, started = score.stats.seconds_all, time.perf_counter()
        bounds = searched_by(score, **search)
        bookkeeping = time.perf_counter() - started - (score.stats.seconds_all - before)
        rows.append(row_of(bounds, **about, **search, bookkeeping_seconds=bookkeeping))
    if size <= settings["exact_up_to"]:
        bounds = exact_bounds(score, max_features=settings["exact_up_to"])
        rows.append(row_of(bounds, **about, variant="exact"))
    run.count(n=1, **costs(score))
    # What a search does not limit is 0: keys of units have no gaps.
    frame = pd.DataFrame(rows, columns=[*about, "variant", *LIMITS, *ENDS, "bookkeeping_seconds"])
    return frame.fillna(dict.fromkeys(LIMITS, 0))


# %%
long_enough = [text.split()[:words] for text in articles.texts if len(text.split()) >= words]
for number, text in run.shared(list(enumerate(long_enough[: settings["texts_of_length"]]))):
    frame = searched(number, " ".join(text))
    run.add(frame, "naopc_search")
    run.add_units(as_units(frame.assign(method=frame.variant), seed=0, metrics=ENDS, keys=["words", *LIMITS]))

# %%
run.note(dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Rows that a search would need alone, by its kind, width and number of candidates (0: no limit). *Book*: the full run's mean.
# `notebooks/report/naopc_search_cost.py` with `values = "run"` sets them against errors.

# %%
beside_book(run, by=["metric", "method", "width", "candidates"], metrics=["rows"])
