# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Deviations: text, released code, and what the difference does
#
# The paper {cite:p}`zhao_aletras_2023` and the code released with it (repository SoftFaith, looked at in commit
# cec6883) do not say the same in ten places, D1 to D10. This page states each one neutrally: what the code does, what
# the paper says, and how far our own numbers move when the one choice is exchanged for the other. Whether the published
# tables were made with that state of the code cannot be told from outside, so nothing here says that a published number
# is wrong. Everywhere else in this book the paper's text is followed.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithlib import compare, figures, study
from faithlib.figures import PALETTE, label

run = study.start("soft_deviations", profile=profile)
figures.theme()
scores = study.load("soft_scores", profile)
variants = study.load("soft_variants", profile)
UNIT = ["dataset", "input"]
SAME = ["dataset", "model_seed", "input", "metric"]
METRICS = ("ns", "nc", "soft_ns", "soft_nc")
datasets = [name for name in run.settings["models"] if name in set(scores.dataset)]
variant_sets = [name for name in datasets if name in set(variants.dataset)]
n_variants = len(variants[UNIT].drop_duplicates())
NAMES = {
    "direction=released": "D1 mask direction inverted",
    "normaliser=released": "D2 released normalisers",
    "normaliser=sigmoid": "D2 sigmoid for both",
    "direction=released, normaliser=released": "D1 and D2 together",
    "baseline=pad": "D3 baseline of padding ids",
    "ratios=released": "D5 seven lengths",
    "scaled_attention=released": "D6 attention squared",
    "clip=released": "clipping to [0, 1]",
    "normaliser=rank": "rank normaliser",
    "draws=1": "one draw",
    "dtype=bfloat16": "bfloat16",
}

# %% [markdown]
# ## How the effects are measured
#
# The same inputs, models and attributions are scored under the paper's choice and under the other, on the short-text
# stand-ins. Two differences are reported, always *other choice less paper's choice*: of the mean score over the five
# methods, and of diagnosticity (the share of inputs with the real attribution strictly above the random one). Intervals
# are 95 % bootstrap intervals over inputs, which are drawn once for both sides. "Flips" is the share of
# comparisons between a real and a random attribution that change sides.


# %%
def measured(variant: str) -> pd.DataFrame:
    """Rows of a variant beside the rows it is to be compared with."""
    full_precision = variant == "dtype=bfloat16" and "dtype=float32" in set(variants.variant)
    base = variants[variants.variant == ("dtype=float32" if full_precision else "paper")]
    other = variants[variants.variant == variant]
    if "random" not in set(other.method):  # a variant of one method: random scores are what they were
        other = pd.concat([other, base[(base.method == "random") & base.metric.isin(other.metric)]])
    both = compare.against_random(other, on=SAME).merge(
        compare.against_random(base, on=SAME), on=[*SAME, "method"], suffixes=("", "_base")
    )
    return both.assign(
        variant=variant,
        # Means are over scores limited to [0, 1], or a few inputs with a tiny denominator would be all that they show.
        score=both.value - both.value_base if "clip" in variant else both.value.clip(0, 1) - both.value_base.clip(0, 1),
        power=both.win - both.win_base,
        flips=(both.win != both.win_base).astype(float).where(both.win.notna() & both.win_base.notna()),
    )


asked = [name for name in NAMES if name in set(variants.variant)]
asked += sorted(set(variants.variant) - set(NAMES) - {"paper", "dtype=float32"})
moved = pd.concat([measured(name) for name in asked], ignore_index=True)
parts = {}
for what in ("score", "power", "flips", "win", "win_base"):
    cells = compare.resample_means(moved, value=what, unit=UNIT, cells=["variant", "metric"], stratum="dataset")
    parts[what] = cells.table().set_index(["variant", "metric"])
effects = pd.DataFrame(
    {
        "inputs": moved.groupby(["variant", "metric"]).input.nunique(),
        "score change": parts["score"].estimate,
        "score low": parts["score"].low,
        "score high": parts["score"].high,
        "diagnosticity": parts["win_base"].estimate,
        "other choice": parts["win"].estimate,
        "change": parts["power"].estimate,
        "low": parts["power"].low,
        "high": parts["power"].high,
        "flips": parts["flips"].estimate,
    }
).reset_index()
effects = effects.sort_values(
    ["variant", "metric"],
    key=lambda c: c.map({name: i for i, name in enumerate((*asked, *METRICS))}),
    ignore_index=True,
)


def shown(name: str, caption: str, *chosen: str) -> None:
    """The effects of some variants as a table, and in a sentence which of them are beyond doubt."""
    part = effects[effects.variant.isin(chosen)]
    if part.empty:
        display(Markdown("*Not measured in this profile.*"))
        return
    display(figures.table(part, run, name, caption=caption))
    clear = part[(part.low > 0) | (part.high < 0)]
    lines = [f"{label(r.metric)} ({NAMES.get(r.variant, r.variant)}) {r.change:+.3f}" for r in clear.itertuples()]
    said = "; ".join(lines) if lines else "none"
    display(Markdown(f"Changes of diagnosticity whose interval excludes zero (n = {n_variants} inputs): {said}."))


# %% [markdown]
# ## All effects at a glance

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 0.72 * len(asked) + 1.6), sharey=True)
place = {name: -i for i, name in enumerate(asked)}
for ax, (middle, low, high) in zip(
    axes, (("score change", "score low", "score high"), ("change", "low", "high")), strict=True
):
    for shift, metric, colour, marker in zip((0.27, 0.09, -0.09, -0.27), METRICS, PALETTE, "oDs^", strict=False):
        part = effects[effects.metric == metric]
        spots = part.variant.map(place) + shift
        ax.hlines(spots, part[low], part[high], color=colour, lw=1.8)
        ax.plot(part[middle], spots, marker, color=colour, ms=5, label=label(metric))
    ax.axvline(0, color="#666666", ls=":", lw=1)
    for spot in place.values():
        ax.axhline(spot - 0.5, color="#dddddd", lw=0.8)
    ax.grid(axis="y", visible=False)
axes[0].set_yticks(list(place.values()), [NAMES.get(name, name) for name in asked])
axes[0].set_xlabel("change of the mean score")
axes[1].set_xlabel("change of diagnosticity")
handles, names = axes[0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=4, fontsize="small")
largest = effects.loc[effects.change.abs().sort_values(ascending=False).index[:3]]
spoken = "; ".join(
    f"{NAMES.get(r.variant, r.variant)}, {label(r.metric)} {r.change:+.2f}" for r in largest.itertuples()
)
figures.save(
    fig,
    run,
    "soft_deviations_effects_plot",
    alt=f"Dot plot with intervals, one row for each of {len(asked)} exchanged choices, four metrics each: "
    "change of the "
    f"mean score on the left, of diagnosticity on the right. Largest changes of diagnosticity: {spoken}.",
    caption=f"What each choice changes, other choice less the paper's ({n_variants} inputs of "
    f"{' and '.join(variant_sets)}; "
    "95 % bootstrap intervals over inputs). Dotted: no change.",
)

# %%
figures.table(
    effects, run, "soft_deviations_effects", caption="Every effect, with all columns of the tables below", shown=False
)

# %% [markdown]
# ## D1: direction of the mask
#
# - *Code:* the wrapper that the released scripts use hands the Bernoulli mask the other probability: under soft
#   sufficiency a token with importance .9 keeps a tenth of its elements, under soft comprehensiveness nine tenths. A
#   second class in the same file, which nothing calls, has the direction of the paper. Established by running it.
# - *Paper:* Eq. 3 with $q = a$ for sufficiency and $q = 1 - a$ for comprehensiveness.
# - *Here:* `variant="released"` of `faithlib.masks.soft_keep`.
#
# With the direction inverted, each metric keeps what it should remove. A higher value then belongs to an attribution
# that marks the *wrong* tokens, and diagnosticity is mirrored about one half, as far as ties and the random draws
# allow.

# %%
shown("soft_d1", "D1, mask direction: effect on the soft metrics", "direction=released")

# %% [markdown]
# ## D2: normaliser of the scores
#
# - *Code:* Soft-NS passes raw scores through a sigmoid; Soft-NC sets protected positions to -1 and scales each row from
#   its minimum to its maximum, so that non-negative scores end up between $1/(1+\max)$ and 1. Established by running
#   it.
# - *Paper:* $q = a$ with a score $a$ in the unit interval; how raw scores get there is not said.
# - *Here:* an explicit argument; `minmax` over an input's own tokens is the default, `sigmoid`, `released_ns` and
#   `released_nc` are the others.
#
# Scores that all lie near zero become .5 under the sigmoid: half of every embedding is dropped whatever the attribution
# says, and two attributions differ only a little.

# %%
shown(
    "soft_d2",
    "D2, normaliser: effect on the soft metrics, alone and with the inverted direction",
    "normaliser=sigmoid",
    "normaliser=released",
    "direction=released, normaliser=released",
)

# %% [markdown]
# ## D3: what an empty text is
#
# - *Code:* the baseline $S(X, y, 0)$ and hard erasure set token ids to 0, which is the padding token for BERT and the
#   start token for RoBERTa; the attention mask stays as it was, and so do separators and the query.
# - *Paper:* an all-zero sequence.
# - *Here:* embedding output of zero by default; `erase="pad"` puts the padding id in its place. In the row below the
#   hard metrics erase by padding throughout, the soft metrics take only the baseline from it.

# %%
shown("soft_d3", "D3, baseline: padding ids in place of zero embeddings", "baseline=pad")

# %% [markdown]
# ## D4: a baseline that moves
#
# - *Code:* the stored baseline value is changed in place, a little at every call: .7 has become .6958 after 42 calls.
#   Established by running it.
# - *Paper:* one value for each input.
# - *Here:* not replayed: the size of the effect depends on the order and number of earlier calls and so belongs to a
#   session rather than to a method. Our metric functions leave their arguments untouched.
#
# ## D5: rationale lengths
#
# - *Code:* seven lengths, among them 2 % and 100 %.
# - *Paper:* five, from 1 % to 50 %.
# - *Here:* `RELEASED_RATIOS` of `faithlib.scoring`. At 100 % every attribution gives the same rationale, so that length
#   adds a constant to a score and nothing to a comparison.

# %%
shown("soft_d5", "D5, rationale lengths: effect on the hard metrics", "ratios=released")

# %% [markdown]
# ## D6: scaled attention
#
# - *Code:* the attention weight times itself.
# - *Paper:* the attention weight times its gradient ($\alpha \nabla \alpha$).
# - *Here:* the attribution `scaled_attention` with `variant="released"`; only this method changes. The square of a
#   non-negative weight has the order of the weight, so the hard scores become those of plain attention.

# %%
shown("soft_d6", "D6, scaled attention: effect on that method alone", "scaled_attention=released")

# %% [markdown]
# ## D7: gradients that leak across a batch
#
# - *Code:* gradients are collected per entry of the vocabulary and summed over a batch, so that two occurrences of a
#   word share one gradient, across inputs as well.
# - *Paper:* the gradient of the prediction of one input with respect to its own tokens.
# - *Here:* not replayed, since the result would depend on the composition of batches. Our attributions differentiate
#   with respect to embeddings, one row an input; a test compares batches with single inputs.
#
# ## D8: ties
#
# - *Code:* in most scripts a tie between the real and the random attribution counts as a win.
# - *Paper:* strictly greater (Eq. 6).
# - *Here:* strict, with the share of ties beside it. The table has all data sets of the study; the last columns count a
#   tie as half a win and as a whole one.

# %%
averaged = (
    scores.groupby(["dataset", "model_seed", "input", "method", "metric"], observed=True)
    .value.agg(lambda values: values.mean(skipna=False))
    .reset_index()
)
wins = compare.against_random(averaged, on=SAME)
strict = compare.resample_means(wins, value="win", unit=UNIT, cells=["dataset", "metric"], stratum="dataset").table()
tied = wins.groupby(["dataset", "metric"]).tie.mean()
strict["ties"] = [tied[d, m] for d, m in zip(strict.dataset, strict.metric, strict=True)]
strict["half"] = strict.estimate + strict.ties / 2
strict["released"] = strict.estimate + strict.ties
rank = {name: i for i, name in enumerate((*datasets, *METRICS))}
strict = strict.sort_values(["dataset", "metric"], key=lambda c: c.map(rank), ignore_index=True)
n_inputs = len(scores[UNIT].drop_duplicates())
figures.table(
    compare.with_reference(
        strict[["dataset", "metric", "n", "estimate", "low", "high", "ties", "half", "released"]],
        "soft_d8",
        on=["dataset", "metric"],
    ),
    run,
    "soft_d8",
    caption="D8, ties: diagnosticity strictly (estimate with 95 % interval), share of ties, and with ties as "
    "half and as "
    "whole wins (released)",
)

# %%
widest = strict.loc[strict.ties.idxmax()]
Markdown(
    f"Ties are most frequent for {label(widest.metric)} on {label(widest.dataset)} ({widest.ties:.1%} of the "
    "comparisons): "
    f"there the released rule gives {widest.released:.3f} where the strict rule gives {widest.estimate:.3f}. "
    "The largest "
    f"share of ties of a soft metric is {strict[strict.metric.isin(['soft_ns', 'soft_nc'])].ties.max():.1%}."
)

# %% [markdown]
# ## D9 and D10: RoBERTa's positions and DeepLIFT's network
#
# - *Code, D9:* position numbers for RoBERTa start at 0; the model was trained with numbers that start at 2.
#   *Paper:* nothing said. *Here:* the models' own code makes the positions, and a test runs a RoBERTa-shaped model. Our
#   stand-ins have BERT's layout, so there is nothing to measure.
# - *Code, D10:* DeepLIFT runs on a copy of the network without attention mask, positions and layer normalisation.
#   *Paper:* DeepLIFT of the model. *Here:* the whole model, from the embedding output on. Not replayed: the copy is
#   another function, whose attributions say nothing about the model under study; the effect would be that of explaining
#   another model.
#
# ## Two further choices: clipping and precision
#
# - *Code:* scores are clipped to the unit interval. *Paper:* a loss of probability counts as at least 0, the quotient
#   has no limits: NS can be negative and NC above 1. *Here:* as in the paper; `clip=True` does as the code does.
#   Clipping makes ties of all values beyond the limits.
# - Some runs of this book use half precision (bfloat16) to save time; the row compares it with single precision.

# %%
shown("soft_clip", "Clipping and precision: effect on all metrics", "clip=released", "dtype=bfloat16")

# %% [markdown]
# ## One draw or many
#
# A soft score is random: each embedding element is kept or dropped by chance. The paper draws once per input; this book
# averages over several draws. The table has the standard deviation of a single draw and the Monte-Carlo error of our
# mean (medians over inputs and methods), the spread of scores over inputs (limited to [0, 1]), and what drawing only
# once does to the comparison with random: how many comparisons flip, and how diagnosticity moves (first draw less mean
# of all). Draws of a real and a random attribution share their random numbers, which already makes the single draw
# steadier than independent ones would be.

# %%
draws = study.settings("soft_metrics", profile)["draws"]
soft = scores[scores.metric.isin(["soft_ns", "soft_nc"])]
many = compare.against_random(soft, on=SAME)
once = compare.against_random(soft.assign(value=soft.value_one_draw), on=SAME)
paired = many.merge(once[[*SAME, "method", "win"]], on=[*SAME, "method"], suffixes=("", "_once"))
paired["change"] = paired.win_once - paired.win
paired["flip"] = paired.change.abs()
change = compare.resample_means(paired, value="change", unit=UNIT, cells=["dataset", "metric"], stratum="dataset")
flips = compare.resample_means(paired, value="flip", unit=UNIT, cells=["dataset", "metric"], stratum="dataset")
noise = (
    soft[soft.method != "random"]
    .groupby(["dataset", "metric"])
    .agg(
        error=("mc_error", "median"),
        spread=("value", lambda v: v.clip(0, 1).std()),
    )
)
rows = []
for (dataset, metric), row in noise.iterrows():
    cell = {"dataset": dataset, "metric": metric}
    flip, shift = flips.interval(**cell), change.interval(**cell)
    rows.append(
        cell
        | {
            "one draw": row.error * draws**0.5,
            f"mean of {draws}": row.error,
            "spread": row.spread,
            "flips": flip.estimate,
            "flips low": flip.low,
            "flips high": flip.high,
            "change": shift.estimate,
            "low": shift.low,
            "high": shift.high,
        }
    )
single = pd.DataFrame(rows).sort_values(["dataset", "metric"], key=lambda c: c.map(rank), ignore_index=True)
figures.table(
    single,
    run,
    "soft_one_draw",
    caption="Noise of the soft metrics: deviation of one draw, error of the mean, spread over inputs; share "
    "of comparisons "
    "that flip with one draw; change of diagnosticity",
)

# %%
worst = single.loc[single.flips.idxmax()]
Markdown(
    f"With a single draw up to {worst.flips:.1%} of the comparisons with random change sides ({label(worst.metric)} on "
    f"{label(worst.dataset)}, n = {scores[scores.dataset == worst.dataset].input.nunique()}). Over many inputs "
    "most of this "
    f"cancels: diagnosticity itself moves by {single.change.abs().max():.3f} at most."
)

# %% [markdown]
# ## When diagnosticity is below one half
#
# Where ties are few, a diagnosticity below one half means that the metric puts the random scores above the attribution
# *more often than not*. Several of the paper's averages lie there:

# %%
table3 = compare.published("soft_table3")
overall = table3[table3.dataset == "average"].set_index("metric").value
under = [f"{label(metric)} {value:.3f}" for metric, value in overall.items() if value < 0.5]
Markdown(f"Published averages below one half: {', '.join(under) if under else 'none'}.")

# %% [markdown]
# There are two ways to read such a value, and the number cannot choose between them: the attribution is worse than
# chance by this yardstick, or the yardstick rewards something that random scores have and real ones lack. What random
# scores have is spread: their rationale is scattered over the text, and under min-max scaling their mean importance is
# near one half, while a peaked attribution keeps or removes far less. A higher soft score can therefore be bought with
# *amount*. An attribution of 1 for every token keeps everything under Soft-NS and removes everything under Soft-NC, and
# is ideal by both.

# %%
below = strict.assign(
    half_low=strict.low + strict.ties / 2,
    half_high=strict.high + strict.ties / 2,
)
below["reading"] = np.select(
    [below.half_high < 0.5, below.half_low > 0.5], ["random preferred", "attribution preferred"], "cannot be told"
)
figures.table(
    below[["dataset", "metric", "n", "estimate", "ties", "half", "half_low", "half_high", "reading"]],
    run,
    "soft_below_half",
    caption="Diagnosticity against one half, ties counted as half a win (95 % interval over inputs)",
)

# %%
lines = []
for metric in METRICS:
    cells = below[below.metric == metric]
    lost = [label(d) for d in cells[cells.reading == "random preferred"].dataset]
    theirs = f"published average {overall[metric]:.3f}" if metric in overall else "no published average"
    lines.append(f"- {label(metric)} ({theirs}): random preferred on {', '.join(lost) if lost else 'no data set'}")
Markdown("Our stand-ins, beyond doubt at this sample size:\n\n" + "\n".join(lines))

# %%
fig, ax = plt.subplots(figsize=(7, 0.32 * len(below) + 1.2))
spots = np.arange(len(below))[::-1]
for metric, colour, marker in zip(METRICS, PALETTE, "oDs^", strict=False):
    chosen = (below.metric == metric).to_numpy()
    part = below[chosen]
    ax.hlines(spots[chosen], part.half_low, part.half_high, color=colour, lw=2)
    ax.plot(part.half, spots[chosen], marker, color=colour, label=label(metric))
ax.axvline(0.5, color="#666666", ls=":", lw=1)
ax.set_yticks(
    spots, [f"{label(d)}: {label(m)}" for d, m in zip(below.dataset, below.metric, strict=True)], fontsize="small"
)
ax.set_xlim(0, 1)
ax.set_xlabel("diagnosticity, ties as half a win")
counts = below.reading.value_counts()
figures.save(
    fig,
    run,
    "soft_below_half_plot",
    alt=f"Dot plot with intervals: diagnosticity of four metrics on {len(datasets)} data sets against one half. Random "
    f"preferred in {counts.get('random preferred', 0)}, attribution preferred in "
    f"{counts.get('attribution preferred', 0)}, "
    f"undecided in {counts.get('cannot be told', 0)} of {len(below)} cases.",
    caption="Left of the dotted line a metric prefers random scores to real attributions.",
)

# %% [markdown]
# **Amount or order?** How much the scores of each method keep can be seen on the inputs stored for the heat maps;
# random scores stand at about one half by construction. The second table takes the amounts away: with scores replaced
# by their rank among the tokens of a text, every attribution keeps the same share, and only the order is left to
# compare.

# %%
examples = study.load("soft_examples", profile)
per_text = examples.groupby(["dataset", "model_seed", "input", "method"]).score
scaled = (examples.score - per_text.transform("min")) / (per_text.transform("max") - per_text.transform("min"))
amount = compare.resample_means(examples.assign(a=scaled), value="a", unit=UNIT, cells=["method"], stratum="dataset")
kept = amount.table()
kept["n"] = len(examples[UNIT].drop_duplicates())
kept["method"] = kept.method.map(label)
figures.table(
    kept[["method", "n", "estimate", "low", "high"]],
    run,
    "soft_amount",
    caption="Mean min-max scaled importance by method: the share of embedding elements that Soft-NS keeps",
)

# %%
shown("soft_rank", "Rank normaliser: every attribution keeps and removes the same amount", "normaliser=rank")

# %%
run.provenance(n=n_inputs, note=f"the exchanged choices are measured on {n_variants} inputs")

# %%
run.finish()
