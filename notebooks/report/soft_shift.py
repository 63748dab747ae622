# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Are soft metrics more robust when erased inputs are misread?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from itertools import product

from IPython.display import Markdown

from faithbook.judge.report import start_page
from faithbook.show.labels import KINDS, label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Layout, dot_plot
from faithbook.studies.soft.zhao_aletras_diagnosticity import MISLED, PAIRS, USUAL, lost_by
from faithbook.studies.together import questions

page = start_page("soft_shift", profile, values=values, paper="zhao_aletras_2023")
METRICS = [name for pair in PAIRS.items() for name in pair]
measured = page.measure(
    "together_planted",
    over=["asked", "modality", "model", "erase", "metric", "against"],
    prepare=questions.followed_truth,
    rows=lambda values: values[values.metric.isin(METRICS) & values.model.isin([USUAL, MISLED])],
    bounds=(-1, 1),
)
# The way to erase under which every model was asked.
ways = measured.frame.groupby(["modality", "erase"]).model.nunique()
MAIN = {modality: ways[modality].idxmax() for modality in measured.levels("modality")}
KIND = {"text": "texts", "vision": "images"}
cells = measured.frame.loc[measured.frame.asked == questions.FOLLOWS, ["modality", "erase", "model", "metric"]]
cells = set(cells.itertuples(index=False, name=None))
# Pairs with values on both models: of a handful of texts NC and NS may all be undefined.
ASKED = [
    (kind, pair)
    for kind, pair in product(MAIN, PAIRS.items())
    if {(kind, MAIN[kind], model, metric) for model, metric in product((USUAL, MISLED), pair)} <= cells
]
follows = page.quantity("modality", "model", "metric", asked=questions.FOLLOWS)


def asked(modality, model, metric):
    """How well a metric follows the truth: the mean rank correlation."""
    return follows(modality, model, metric, erase=MAIN[modality])


# %% tags=["remove-input"]
def in_short():
    """The result of this page: what each metric loses on the misled model, soft beside hard."""
    lost, sizes = [], []
    for modality, (hard, soft) in product(MAIN, PAIRS.items()):
        of_soft, of_hard = lost_by(asked, modality, soft), lost_by(asked, modality, hard)
        lost.append(
            f"on {KIND.get(modality, modality)} {label(soft)} {spoken(of_soft, '.2f')} and {label(hard)} {spoken(of_hard, '.2f')}"
        )
        sizes += [of_soft.ours.n, of_hard.ours.n]
    return (
        "A robust metric still ranks explanations by how true they are when the model misreads erased inputs. Rank correlation lost "
        f"(negative: gained): {'; '.join(lost)} (n = {min(sizes)} inputs or more). The models are ours; what they rely on was planted."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`zhao_aletras_2023` name robustness as their first contribution: "Our metrics are more robust to distribution shifts by
# avoiding entirely masking whole tokens". An input from which whole words are erased is unlike anything that the model was trained
# on, and what a model outputs for it may have nothing to do with its reasons. The paper does not measure this. We can, with models whose
# reasons are known because they were planted, and with copies of these models that were trained to misread erased inputs
# ({doc}`together_planted_truth`). A metric is robust if it still follows the truth on the copy.

# %% [markdown]
# ## How well each metric follows the truth, before and after
#
# **What is measured.** On each input Spearman's rank correlation, over all explanations of it (attribution methods, the truth, and
# degraded versions of the truth), between the metric's score and how true the explanation is; then the mean over inputs. *Trained* is the
# model as usual, *misled by erasure* the copy that gives one fixed answer as soon as more than a third of an input is gone. On whole
# inputs both use the same features.

# %%
levels = {
    (modality, metric, model): asked(modality, model, metric)
    for modality, pair in ASKED
    for metric, model in product(pair, (USUAL, MISLED))
}
tracked = listed(levels, ["modality", "metric", "model"])
page.listing(
    tracked,
    "soft_shift_levels",
    caption="Rank correlation of each metric with how true explanations are, mean over n inputs with 95 % interval. n is smaller where a "
    "metric is undefined on some inputs",
)

# %%
drawn = tracked.rename(columns={"model": "series"}).assign(row=tracked.metric, panel=tracked.modality.map(KINDS))
layout = Layout(panel="panel", series="series", names={name: label(name) for name in METRICS}, mark=0.0)
fig, alt = dot_plot(drawn, "rank correlation with the truth", layout=layout)
caption = (
    "How well hard and soft metrics follow the truth, on the model as usual and on the one that misreads erased inputs, with 95 % intervals "
    "(n in the table)"
)
page.figure(fig, "soft_shift_figure", alt=alt, caption=caption, data=tracked)

# %%
page.quote(
    "soft_shift",
    {f"{label(metric)}, {modality}, {model}": pair for (modality, metric, model), pair in levels.items()},
)
ahead = []
for modality, (hard, soft) in ASKED:
    gap = asked(modality, MISLED, soft) - asked(modality, MISLED, hard)
    ahead.append(f"{label(soft)} minus {label(hard)} is {spoken(gap, '+.2f')} on {KIND.get(modality, modality)}")
Markdown(f"On the misled models {'; '.join(ahead)}.")

# %% [markdown]
# ## The claim, tested
#
# A metric is robust to a shift if it loses little by it. Each comparison is what the hard metric loses from the model as usual to the
# misled copy, minus what its soft counterpart loses: above zero the soft one is more robust. Each comparison is a statement of its own, so
# the verdict is *mixed* if some hold and others are contradicted.

# %%
parts = {
    f"{label(hard)} loses more than {label(soft)}, {modality}": lost_by(asked, modality, hard)
    - lost_by(asked, modality, soft)
    for modality, (hard, soft) in ASKED
}
tested = page.test({"soft_c12": parts})
page.verdicts(tested)

# %%
page.parts(
    tested,
    "soft_shift_parts",
    caption="Rank correlation with the truth: what the hard metric loses by the shift minus what its soft counterpart loses. Each of the "
    "four means is over the inputs on which its metric is defined; n is the smallest number of them. *On its own*: what the rule says of "
    "this comparison alone",
)

# %%
page.plot(
    tested,
    "soft_shift_plot",
    caption="What a hard metric loses minus what its soft counterpart loses, with 95 % intervals. Right of zero the soft one is more robust",
)

# %% [markdown]
# **How to read it.** Comparisons to the right of zero are evidence *for* the paper's claim, though not from the paper's models or data.
# There is one text model and one image model, small transformers that rely on one or two planted words or cells, each with one misled
# copy; and one kind of shift, a misreading that begins when more than a third of an input is gone. NS and NC are undefined if the model
# gives the predicted class a higher probability on the empty input than on the whole one, so they have fewer inputs on the misled copies.
# We did not study why images and texts differ. Intervals cover the choice of inputs, not of models.

# %%
page.finish()
