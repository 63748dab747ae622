# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: rows against error of searches for the bounds of AOPC
#
# The same texts, cut to several lengths, searched in several ways. All searches share one memo, so a set answered for one
# is free for the next; `rows` counts what each search would have needed alone. The best bounds found by any of them (the
# exact ones where the text is short enough) are what errors are measured against.

# %% tags=["parameters"]
profile = "laptop"
classifier = "lstm"

# %%
import time

import pandas as pd
import torch

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithlib.bounds import adaptive_bounds, beam_bounds, exact_bounds
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, costs

run = start_run("naopc_search", profile=profile, classifier=classifier)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
dataset = settings["dataset"]
loaded = load_model(settings["models"][classifier].format(dataset=dataset))
model = loaded.model.to(device)
articles = load_dataset(dataset, "test", seed=0, n=settings["articles"])

# %%
searches = [
    *({"variant": "released", "width": width} for width in (1, 3, 5)),
    *({"variant": "merged", "width": width} for width in (1, 3, 5)),
    *(
        {"variant": "merged", "width": width, "candidates": candidates, "tolerance": 0.005}
        for width, candidates in ((1, 2), (1, 4), (1, 8), (3, 4), (3, 8), (3, 16), (5, 16))
    ),
    {"variant": "adaptive", "candidates": 8, "tolerance": 0.005},
]


def searched_by(score, *, variant, **options):
    """One search: a beam as the paper's code has it or merged, or one whose width doubles until its bounds stay."""
    return (
        adaptive_bounds(score, **options) if variant == "adaptive" else beam_bounds(score, variant=variant, **options)
    )


def rows_of(found, inputs, **columns):
    names = ("lower", "upper", "certified_lower", "certified_upper", "rows")
    values = {name: getattr(found, name).cpu() for name in names}
    return pd.DataFrame({"input": range(len(inputs)), "n_features": inputs.n_features, **values, **columns})


# %%
frames, perturbers = [], []
for words, n in settings["lengths"][classifier].items():
    texts = [text for text in articles.texts if len(text.split()) >= words][:n]
    inputs = TextInputs.from_texts(
        [" ".join(text.split()[:words]) for text in texts], loaded.tokenizer, unit="word", max_length=512
    )
    score = Perturber(model, inputs, erase="mask")
    about = {"classifier": classifier, "words": words}
    for search in searches:
        before, started = score.stats.seconds_all, time.perf_counter()
        found = searched_by(score, **search)
        bookkeeping = time.perf_counter() - started - (score.stats.seconds_all - before)
        frames.append(rows_of(found, inputs, **about, **search, bookkeeping_seconds=bookkeeping / len(inputs)))
    if int(inputs.n_features.max()) <= settings["exact_up_to"]:
        found = exact_bounds(score, max_features=settings["exact_up_to"])
        frames.append(rows_of(found, inputs, **about, variant="exact"))
    perturbers.append(score)
searched = pd.concat(frames, ignore_index=True)
run.save(searched, "naopc_search")
# What a search does not limit is 0 here: keys have no gaps.
limits = searched.reindex(columns=["width", "candidates", "tolerance"]).fillna(0)
run.save_units(
    as_units(
        searched.assign(method=searched.variant, **limits),
        seed=0,
        metrics=["lower", "upper", "certified_lower", "certified_upper", "rows"],
        keys=["words", *limits],
    )
)

# %%
run.note(
    n=sum(settings["lengths"][classifier].values()),
    **costs(*perturbers),
    dtype="float32",
    device=device,
)
run.finish()
