# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: the authors' released outputs, computed again
#
# Edin et al. (2025) released what six models answer to every subset of the words of 66 short SST-2 and 339 short Yelp
# texts; the answers come with this repository. From them alone, without a model: exact bounds by dynamic programming,
# the scores of ten attribution methods by the library's own functions, and beam search as published, with each set once,
# and as ours at several widths, pruned, and with a width that grows until the bounds stay.

# %% tags=["parameters"]
profile = "laptop"
# Your choices: None is what the profile says.
models_read = None  # how many of the six models
texts = None  # released texts of each data set, at most
widths = None  # of beams, such as [1, 5]

# %%
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.naopc import edin
from faithbook.studies.naopc.edin_released import MODELS, SHORT
from faithlib.bounds import adaptive_bounds, beam_bounds, exact_bounds, naopc
from faithlib.evaluation import aopc_scores

run = start_run("naopc_released", profile=profile, models_read=models_read, texts=texts, widths=widths)
settings = run.settings
models = list(MODELS)[: settings["models_read"]]
KINDS = {"aopc_morf": "comprehensiveness", "aopc_lerf": "sufficiency"}  # the paper's names for both sums
ENDS = ["lower", "upper", "certified_lower", "certified_upper", "rows"]

# %% [markdown]
# ## Bounds, scores, searches
#
# With $r$ an order in which the $N$ words are removed, and *lower* and *upper* the smallest and the largest AOPC of all orders,
#
# $$\text{AOPC}(r) = \frac1N \sum_{k=1}^{N} \bigl[ p(x) - p(x \text{ without the first } k \text{ of } r) \bigr], \qquad
# \text{NAOPC}(r) = \frac{\text{AOPC}(r) - \text{lower}}{\text{upper} - \text{lower}}.$$
#
# Most relevant first it is the paper's comprehensiveness, least relevant first its sufficiency.
# All texts of a data set are one batch. A search's `rows` are the sets that it alone would have to run: the merged
# search and the one that is only *deduplicated* use the same sets differently. Where attributions
# and answers count the words of a text differently, an order cannot be matched with the answers: its score is missing.


# %%
def ends_of(search):
    """What is kept of a search."""
    return {name: getattr(search, name) for name in ENDS}


def searches(table):
    """The ends of every search with what names it; a width of 0: it chooses its own."""
    for width in settings["widths"]:
        yield "released", width, ends_of(beam_bounds(table, width=width, limits=(0, 1), variant="released"))
        merged = ends_of(beam_bounds(table, width=width, limits=(0, 1)))
        yield "merged", width, merged
        # An error bound is about the sets that were visited, which are those of the merged search.
        lower, upper = edin.deduplicated(table, width)
        yield "deduplicated", width, merged | {"lower": lower, "upper": upper}
    for width in settings["pruned"]["widths"]:
        pruned = beam_bounds(table, width=width, limits=(0, 1), candidates=settings["pruned"]["candidates"])
        yield "pruned", width, ends_of(pruned)
    yield "adaptive", 0, ends_of(adaptive_bounds(table, limits=(0, 1), change=settings["adaptive"]["change"]))


bounds, scores, searched = [], [], []
for model in models:
    for dataset in SHORT:
        table = edin.answers(model, dataset, most=settings["texts"])
        about = {"dataset": dataset, "model": model, "id": table.ids}
        exact = exact_bounds(table)
        words = table.feature_mask.sum(dim=1)
        bounds.append(
            pd.DataFrame({**about, "lower": exact.lower, "upper": exact.upper, "words": words, "p": table.full})
        )
        for search, width, ends in searches(table):
            searched.append(pd.DataFrame({**about, "search": search, "width": width, **ends}))
        for method, of_method in edin.scores_of(model, dataset, table).items():
            missing = of_method.isnan().any(dim=1)
            for name, value in aopc_scores(table, of_method.nan_to_num()).items():
                value = torch.where(missing, torch.nan, value)
                scaled = naopc(value, exact.lower, exact.upper)
                columns = {"method": method, "kind": KINDS[name], "aopc": value, "naopc": scaled}
                scores.append(pd.DataFrame({**about, **columns}))
bounds, scores, searched = (pd.concat(parts, ignore_index=True) for parts in (bounds, scores, searched))

# %% [markdown]
# Bounds are also kept in double precision, since they are compared to the last digit.

# %%
run.save(bounds.rename(columns={"p": "p_full"}), "naopc_released_exact")
labels = {"seed": 0, "name": "id"}
by_text = as_units(scores, metrics=["aopc", "naopc"], keys=["dataset", "model", "kind"], **labels)
run.save_units(by_text)
ends = as_units(bounds, metrics=["lower", "upper"], keys=["dataset", "model"], **labels)
run.save_units(ends, "exact")
run.save_units(
    as_units(searched.assign(method=searched.search), metrics=ENDS, keys=["dataset", "model", "width"], **labels),
    "beams",
)

# %%
run.note(n=bounds.groupby("dataset").id.nunique().sum().item(), models=len(models), device="cpu", dtype="float64")
run.finish()

# %% [markdown]
# ## What was computed
#
# Mean comprehensiveness of the released attributions, plain and normalised, by method, over models and data sets. *Book*: the full
# run's mean. `notebooks/report/naopc_released_outputs.py` with `values = "run"` makes the paper's tables of this.

# %%
beside_book(run, by=["metric", "method"], where={"kind": "comprehensiveness"})
