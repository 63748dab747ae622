# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The paper's six models, run again

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown, display

from faithbook.judge.report import start_page
from faithbook.show.numbers import row_of, spoken
from faithbook.studies.naopc import edin_claims

page = start_page("naopc_six_models", profile, values=values, paper="edin_2025")
ran = bool(page.run.upstream)  # whether this profile asks the six models
CELL = ["dataset", "length", "model"]
if ran:
    over = [*CELL, "method", "metric"]
    unit = ["dataset", "length", "id"]
    measured = page.measure("naopc_six", prepare=edin_claims.of_six, over=over, unit=unit, n_resamples=1999)
    cells = measured.frame[CELL].drop_duplicates()


def with_published(printed):
    """Published means and ours, with the interval over texts."""
    rows = printed.merge(cells, on=CELL).rename(columns={"value": "published"}).to_dict("records")
    return pd.DataFrame(row | row_of(measured.mean(**{name: row[name] for name in over})) for row in rows)


def apart(table):
    """How far our means lie from the published ones, in a sentence."""
    far = (table.estimate - table.published).abs()
    within = ((table.low <= table.published) & (table.published <= table.high)).mean()
    return Markdown(
        f"Of {len(table):,} published means {within:.0%} lie within the 95 % interval of ours; the two are {far.mean():.3f} "
        f"apart on average, {far.max():.3f} at most."
    )


# %% tags=["remove-input"]
scores = with_published(edin_claims.printed_scores().query("method != 'decompx'")) if ran else None


def in_short():
    """The result of this page in a sentence."""
    if not ran:
        return "not run: this profile runs none of the six models, and what follows has no numbers."
    return (
        f"Of {len(scores):,} published means of AOPC and NAOPC "
        f"{((scores.low <= scores.published) & (scores.published <= scores.high)).mean():.0%} lie within the 95 % interval of ours; the "
        f"two are {(scores.estimate - scores.published).abs().mean():.3f} apart on average (n = {scores.n.min()} texts at least)."
    )


page.in_short(in_short)

# %% [markdown]
# {doc}`naopc_released_outputs` goes through what Edin et al. {cite:p}`edin_2025` released without a model. Here their
# experiment is run again from the models on: the six checkpoints that they name, on the very texts of their files (SST-2
# {cite:p}`socher_2013` and Yelp {cite:p}`zhang_2015`, short and long; IMDB {cite:p}`maas_2011`, long), with their
# attributions as their code makes them, $p$ of the positive class, exact bounds for short texts and a beam of width 5 for
# long ones. Texts and checkpoints come from the network, so that this page has numbers at the `paper` profile alone.
#
# Nine of the ten methods: DecompX needs a forward pass written again for every architecture. A beam looks here at the eight
# most promising words of an entry and counts equal sets once, since the published search would take hundreds of GPU-hours
# for IMDB. Everything runs in single precision, where the authors searched in half.

# %% [markdown]
# ## The same models, the same texts?
#
# A checkpoint of the hub may have been replaced, and a tokenizer may cut words otherwise. So first, text by text: $p$ of the
# whole text beside the released one, the number of words that can be removed, and both bounds. `same_p` is the share of texts
# whose two $p$ differ by less than 0.001, `same_words` that of texts with as many words; `p_apart` is the largest difference
# of $p$, the other two are mean differences. The bounds of a long text come from two different searches.

# %%
if ran:
    agreed = edin_claims.agreement(edin_claims.beside_released(measured.frame))
    note = "None of these texts was released."
    caption = "Texts with released values: how near ours are to them"
    display(page.listing(agreed, "naopc_six_agreement", caption=caption, empty=note))

# %% [markdown]
# ## Bounds

# %%
if ran:
    bounds = with_published(edin_claims.printed_bounds())
    caption = "Mean bounds of AOPC and the mean distance of the two, published and ours, with 95 % intervals over texts"
    display(page.listing(bounds, "naopc_six_bounds", caption=caption))
    display(apart(bounds))

# %% [markdown]
# ## Scores
#
# "Sufficiency" is the paper's: AOPC of the ascending order, where a low value is good. A text without a range has no NAOPC
# here and counts as 0 in the published means.

# %%
if ran:
    caption = "Mean AOPC and NAOPC of nine methods, published and ours, with 95 % intervals over texts"
    display(page.listing(scores, "naopc_six_scores", caption=caption))
    display(apart(scores))

# %% [markdown]
# ## A beam of width 5, or one that finds its own width?
#
# Long texts. The adaptive search doubles its width until neither bound moves by more than 0.001; it goes on from all sets that
# the narrower beams have visited. `wider`: by how much the range between the bounds grows over that of the beam of width 5.

# %%
if ran:
    rows = []
    for dataset, length, model in cells[cells.length == "long"].itertuples(index=False):
        labels = {"dataset": dataset, "length": length, "model": model}
        by = {search: {name: measured.mean(**labels, method=search, metric=name) for name in ("range", "rows", "width")}
              for search in ("beam", "adaptive")}  # fmt: skip
        wider = by["adaptive"]["range"] - by["beam"]["range"]
        rows.append({"dataset": dataset, "model": model, "wider": spoken(wider, ".4f"), "n": wider.ours.n})
        rows[-1] |= {f"rows, {search}": of_search["rows"].ours.point for search, of_search in by.items()}
        rows[-1] |= {"width at last": by["adaptive"]["width"].ours.point}
    caption = "The adaptive search beside a beam of width 5: means over long texts, 95 % intervals in brackets"
    display(page.listing(pd.DataFrame(rows), "naopc_six_searches", caption=caption))

# %%
page.finish()
