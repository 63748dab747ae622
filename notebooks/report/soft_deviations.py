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
#
# One thing comes first, because it belongs to the metrics themselves and decides how the rest is to be read: soft
# metrics reward amounts.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.profiles import settings_of
from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, page, published, quantities, reference, resampling, tables
from faithbook.results.figures import OURS, PALETTE, PUBLISHED
from faithbook.results.labels import label

run = start_run("soft_deviations", profile=profile)
figures.theme()
scores = load("soft_scores", profile)
variants = load("soft_variants", profile)
UNIT = ["dataset", "input"]
SAME = ["dataset", "model_seed", "input", "metric"]
METRICS = ("ns", "nc", "soft_ns", "soft_nc")
SOFT = ("soft_ns", "soft_nc")
datasets = [name for name in run.settings["models"] if name in set(scores.dataset)]
variant_sets = [name for name in datasets if name in set(variants.dataset)]
n_variants = len(variants[UNIT].drop_duplicates())
n_inputs = len(scores[UNIT].drop_duplicates())
NAMES = {
    "direction=released": "D1 mask direction inverted",
    "normaliser=released": "D2 released normalisers",
    "normaliser=sigmoid": "D2 sigmoid for both",
    "direction=released, normaliser=released": "D1 and D2 together",
    "baseline=pad": "D3 baseline of padding ids",
    "ratios=released": "D5 seven lengths",
    "scaled_attention=released": "D6 attention squared",
    "deeplift=exact": "D10 DeepLIFT by exact rules",
    "clip=released": "clipping to [0, 1]",
    "normaliser=rank": "rank normaliser",
    "draws=1": "one draw",
    "dtype=bfloat16": "bfloat16",
}

# %% [markdown]
# ## Amounts, not orders
#
# A soft metric reads an attribution as an *amount* for every token. A token of importance $a$ keeps, on average, the
# share $a$ of its embedding elements under Soft-NS and loses that share under Soft-NC. The score therefore depends on
# two things: *which* tokens stand high, and *how much* of the text is kept or removed in all.
#
# The extreme case shows it. Give every token $a = 1$. That says nothing about the text: no token is above any other.
# Soft-NS now drops nothing, so the prediction stays where it was; Soft-NC drops everything, so the probability falls as
# far as it does for the empty text. Both scores are 1, the value of a perfect explanation, whatever the text and
# whatever the model (where they are defined at all). The table has these scores for all inputs of the study, and how
# often such an "attribution" is put strictly above the random one.

# %%
# Of the two probabilities that the scores need, one run has both: nothing dropped is the text, all dropped is the empty
# one.
everything = scores.drop_duplicates(["dataset", "model_seed", "input"])
room = (everything.p_full - everything.p_empty).where(everything.p_full > everything.p_empty)  # else undefined
lost = {"soft_ns": 0 * room, "soft_nc": room}  # of probability: of the text as it is, and of the empty one
everything = pd.concat(
    [
        everything.assign(method="everything", metric="soft_ns", value=(room - lost["soft_ns"]) / room),
        everything.assign(method="everything", metric="soft_nc", value=lost["soft_nc"] / room),
    ]
)
soft = scores[scores.metric.isin(SOFT)]
beside = quantities.against_random(pd.concat([everything, soft]))
share = resampling.over_inputs(beside, value="win", cells=["dataset", "metric", "method"])
rows = []
for metric in SOFT:
    mine = beside[(beside.metric == metric) & (beside.method == "everything")]
    found = share.interval(metric=metric, method="everything")
    rows.append(
        {"metric": metric, "lowest score": mine.value.min(), "highest score": mine.value.max(), "n": found.n}
        | {"estimate": found.estimate, "low": found.low, "high": found.high, "ties": mine.tie.mean()}
    )
tables.table(
    reference.with_reference(pd.DataFrame(rows), "soft_amounts_everything", on=["metric"]),
    run,
    "soft_amounts_everything",
    caption="An attribution of 1 for every token: its scores over all inputs, and its diagnosticity (share of strict "
    "wins against random, mean over data sets, 95 % interval; ties: share of equal scores)",
)

# %%
said = []
for metric in SOFT:
    found = {name: share.interval(metric=metric, method=name) for name in sorted(set(beside.method))}
    best = max(set(found) - {"everything"}, key=lambda name, found=found: found[name].estimate)
    said.append(
        f"under {label(metric)} it beats random scores on a share of {found['everything']} of the inputs; the best "
        f"real attribution, {label(best)}, does so on {found[best]}"
    )
n_defined = share.n.groupby("dataset").max().sum()
Markdown(f"An attribution of 1 for every token (mean over data sets, n = {n_defined}): {'; '.join(said)}.")

# %% [markdown]
# Real attributions differ in amount as well, only less. Min-max scaling, `paper` on this page, sends the lowest score
# of a text to 0 and the highest to 1 and leaves the mean where it falls. Random scores have a mean near one half. A
# peaked attribution, one with few high scores and many low ones, has a mean near zero: it keeps and removes less than
# random scores do, and both metrics count that against it, whichever tokens it chose.

# %%
examples = load("soft_examples", profile)
kept = quantities.kept_shares(examples).table()
n_examples = len(examples[UNIT].drop_duplicates())
real_kept = kept[kept.method != "random"].sort_values("estimate")
least, most = real_kept.iloc[0], real_kept.iloc[-1]
Markdown(
    f"Mean importance after min-max scaling: random {kept.set_index('method').estimate['random']:.2f}; the real "
    f"attributions from {least.estimate:.2f} ({label(least.method)}) to {most.estimate:.2f} ({label(most.method)}). "
    f"This rests on {n_examples} inputs only, the first of each data set, because token scores are stored for no "
    "others; intervals are in the table near the end of this page."
)

# %% [markdown]
# **The test.** Take the amounts away and see what is left. The normaliser `rank` gives a token the share of the other
# tokens of its text that score lower. The mean is then exactly one half for every attribution, real or random, and
# without ties the amounts are even the same numbers, dealt out in another order. Inputs, models, attributions and the
# random numbers of the draws stay as they were. If a soft metric rewarded order alone, diagnosticity would hardly care
# which of the two scales is used.

# %%
MINMAX, RANKS = "paper", "normaliser=rank"
scales = variants[variants.variant.isin([MINMAX, RANKS]) & variants.metric.isin(SOFT)]
scales = quantities.against_random(scales, on=[*SAME, "variant"])
scales["half"] = scales.win + scales.tie / 2
by_scale = ["variant", "metric", "method"]
power = resampling.over_inputs(scales, value="win", cells=by_scale)
# Which side of one half a value is on is asked with ties as half a win, or few ties would pass for a preference.
fair = resampling.over_inputs(scales, value="half", cells=by_scale).table().set_index(by_scale)
ties = scales.groupby(by_scale).tie.mean()
# From the most peaked attribution to the flattest.
methods = [name for name in real_kept.method if name in set(scales.method)]
rows = []
for metric in SOFT:
    for method in (*methods, "average"):
        cell = {"metric": metric} | ({} if method == "average" else {"method": method})
        shared = ties.xs(metric, level="metric")
        shared = shared if method == "average" else shared.xs(method, level="method")
        before, after = (power.interval(variant=name, **cell) for name in (MINMAX, RANKS))
        gain = power.difference({"variant": RANKS, **cell}, {"variant": MINMAX, **cell})
        rows.append(
            {"metric": metric, "method": method, "n": gain.units}
            | {"min-max": before.estimate, "min-max low": before.low, "min-max high": before.high}
            | {"ranks": after.estimate, "ranks low": after.low, "ranks high": after.high}
            | {"estimate": gain.estimate, "low": gain.low, "high": gain.high}
            | {"min-max ties": shared[MINMAX].mean(), "ranks ties": shared[RANKS].mean()}
            | {"higher with ranks": claims.verdict(gain)}
        )
orders = pd.DataFrame(rows)
brief = ["metric", "method", "n", "min-max", "ranks", "estimate", "low", "high", "higher with ranks"]
tables.table(
    reference.with_reference(orders[brief], "soft_amounts_orders", on=["metric", "method"]),
    run,
    "soft_amounts_orders",
    caption="Diagnosticity against random with amounts as min-max scaling gives them and with equal amounts (ranks), "
    "the same n inputs on both sides; estimate, low, high: ranks less min-max with its 95 % interval",
)

# %%
tables.table(
    orders,
    run,
    "soft_amounts_orders_all",
    caption="The same with the interval of either side and the shares of ties",
    shown=False,
)

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 0.55 * (len(methods) + 1) + 1.5), sharex=True, sharey=True)
spots = np.arange(len(methods) + 1)[::-1]
for ax, metric in zip(axes, SOFT, strict=True):
    part = orders[orders.metric == metric]
    ax.hlines(spots, part["min-max"], part.ranks, color="#bbbbbb", lw=6, zorder=1)
    for side, colour, marker, face, shift in (
        ("min-max", PUBLISHED, "D", "white", 0.14),
        ("ranks", OURS, "o", OURS, -0.14),
    ):
        name = "amounts as they are (min-max)" if side == "min-max" else "equal amounts (ranks)"
        columns = (side, f"{side} low", f"{side} high")
        look = {"colour": colour, "marker": marker, "mfc": face, "mew": 1.8, "ms": 6}
        figures.dots(ax, part, spots + shift, columns=columns, width=1.5, label=name, **look)
    ax.axvline(0.5, color="#666666", ls=":", lw=1)
    ax.set_title(label(metric))
    ax.set_xlabel("diagnosticity")
    ax.set_xlim(0, 1.03)
    ax.grid(axis="y", visible=False)
axes[0].set_yticks(spots, [label(name) for name in part.method])
handles, names = axes[0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=2, fontsize="small")
averages = orders[orders.method == "average"].set_index("metric")
of_methods = orders[orders.method != "average"]
spoken = "; ".join(f"{label(m)} from {averages['min-max'][m]:.2f} to {averages.ranks[m]:.2f}" for m in SOFT)
figures.save(
    fig,
    run,
    "soft_amounts_orders_plot",
    alt="Paired dot plot with intervals, one panel for each soft metric, one row for each attribution method and their "
    "average: diagnosticity with min-max amounts and with equal amounts, joined by a bar. With equal amounts it is "
    f"higher in {int((of_methods.estimate > 0).sum())} of {len(of_methods)} rows. Averages: {spoken}.",
    caption=f"The same attributions with and without their amounts ({n_variants} inputs of "
    f"{' and '.join(variant_sets)}; 95 % bootstrap intervals over inputs). Methods run from the most peaked to the "
    "flattest. Dotted: one half.",
)

# %% [markdown]
# Random scores change scale as well. With those left at min-max and only the real attributions on ranks:

# %%
alone = variants[((variants.variant == RANKS) & (variants.method != "random"))
                 | ((variants.variant == MINMAX) & (variants.method == "random"))]  # fmt: skip
alone = quantities.against_random(alone[alone.metric.isin(SOFT)]).assign(variant="real alone")
held = resampling.over_inputs(pd.concat([alone, scales[scales.variant == MINMAX]]), value="win", cells=by_scale)
said = []
for metric in SOFT:
    gain = held.difference({"variant": "real alone", "metric": metric}, {"variant": MINMAX, "metric": metric})
    said.append(f"{label(metric)} {gain} (n = {gain.units})")
Markdown(f"Change of diagnosticity, mean over methods: {'; '.join(said)}.")

# %%
gains = {metric: power.difference({"variant": RANKS, "metric": metric}, {"variant": MINMAX, "metric": metric})
         for metric in SOFT}  # fmt: skip
lost = fair.loc[MINMAX][fair.loc[MINMAX].high < 0.5].index
turned = fair.loc[RANKS].loc[lost]
clear = of_methods["higher with ranks"].value_counts()
page.verdict_line(
    claims.every(claims.verdict(gain) for gain in gains.values()),
    "Amounts count: with equal amounts, soft metrics prefer real attributions to random ones more often than with "
    "min-max amounts. Change of diagnosticity, mean over methods: "
    + "; ".join(f"{label(m)} {gain} (n = {gain.units})" for m, gain in gains.items())
    + f". By method the interval lies above zero in {clear.get(claims.HOLDS, 0)} and below in "
    f"{clear.get(claims.FAILS, 0)} of {len(of_methods)} rows. Min-max amounts put {len(lost)} rows wholly below one "
    f"half, ties counted as half a win; with equal amounts, of these, still wholly below: "
    f"{int((turned.high < 0.5).sum())}, wholly above: {int((turned.low > 0.5).sum())}.",
)

# %% [markdown]
# **What follows.** A soft metric scores an attribution *together with* a normaliser. Where the verdict is "holds", part
# of what separates a real from a random attribution under min-max scaling is how much each of them keeps, and a low
# score alone does not show that the wrong tokens were chosen. Order counts too: what diagnosticity has left with equal
# amounts can come from nothing else. Wherever soft scores are compared, the normaliser has to be named. The paper asks
# for scores in the unit interval and does not say how they get there.
#
# Three limits. Ranks take away the sizes altogether, not only their mean: a metric made to use sizes loses what was
# meaningful in them too, so the test shows that amounts count and not that ranks are the right scale. Nor can it tell
# the mean of the amounts from their shape, since both are made equal. And only the short texts were scored on both
# scales; nothing is said about long ones.

# %% [markdown]
# ## How the effects are measured
#
# The same inputs, models and attributions are scored under the paper's choice and under the other, on the short-text
# stand-ins. Two differences are reported, always *other choice less paper's choice*: of the mean score over the five
# methods, and of diagnosticity (the share of inputs with the real attribution strictly above the random one). Intervals
# are 95 % bootstrap intervals over inputs, which are drawn once for both sides. "Flips" is the share of
# comparisons between a real and a random attribution that change sides.
#
# Where the empty text costs hardly any probability, the scores divide by almost nothing, and a few such inputs would be
# all that a mean shows. Mean scores are therefore over scores limited to [0, 1] (but for the row on clipping, which
# compares scores without and with limits). The columns "outside" say what share of the scores lay outside before, under
# the paper's choice and under the other. Diagnosticity compares scores as they are.


# %%
def measured(variant: str) -> pd.DataFrame:
    """Rows of a variant beside the rows it is to be compared with."""
    full_precision = variant == "dtype=bfloat16" and "dtype=float32" in set(variants.variant)
    base = variants[variants.variant == ("dtype=float32" if full_precision else "paper")]
    other = variants[variants.variant == variant]
    if "random" not in set(other.method):  # a variant of one method: random scores are what they were
        other = pd.concat([other, base[(base.method == "random") & base.metric.isin(other.metric)]])
    both = quantities.against_random(other).merge(
        quantities.against_random(base), on=[*SAME, "method"], suffixes=("", "_base")
    )
    return both.assign(
        variant=variant,
        # Clipping is itself what the one variant changes.
        score=both.value - both.value_base if "clip" in variant else both.value.clip(0, 1) - both.value_base.clip(0, 1),
        outside=quantities.outside_unit(both.value),
        outside_base=quantities.outside_unit(both.value_base),
        power=both.win - both.win_base,
        flips=(both.win != both.win_base).astype(float).where(both.win.notna() & both.win_base.notna()),
    )


asked = [name for name in NAMES if name in set(variants.variant)]
asked += sorted(set(variants.variant) - set(NAMES) - {"paper", "dtype=float32"})
moved = pd.concat([measured(name) for name in asked], ignore_index=True)
parts = {}
for what in ("score", "outside", "outside_base", "power", "flips", "win", "win_base"):
    cells = resampling.over_inputs(moved, value=what, cells=["variant", "metric"])
    parts[what] = cells.table().set_index(["variant", "metric"])
effects = pd.DataFrame(
    {
        "inputs": moved.groupby(["variant", "metric"]).input.nunique(),
        "score change": parts["score"].estimate,
        "score low": parts["score"].low,
        "score high": parts["score"].high,
        "outside": parts["outside_base"].estimate,
        "outside, other": parts["outside"].estimate,
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
    display(tables.table(part, run, name, caption=caption))
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
        columns, look = (middle, low, high), {"colour": colour, "marker": marker, "width": 1.8, "ms": 5}
        figures.dots(ax, part, spots, columns=columns, label=label(metric), **look)
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
    "95 % bootstrap intervals over inputs). Dotted: no change. Mean scores are limited to [0, 1], which moves up to "
    f"{effects.outside.max():.0%} of a metric's scores under the paper's choice (columns 'outside' of the tables).",
)

# %%
tables.table(
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
# - *Here:* `RELEASED_RATIOS` of `faithlib.evaluation`. At 100 % every attribution gives the same rationale, so that length
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
wins = quantities.against_random(quantities.over_lengths(scores))
strict = resampling.over_inputs(wins, value="win", cells=["dataset", "metric"]).table()
tied = wins.groupby(["dataset", "metric"]).tie.mean()
strict["ties"] = [tied[d, m] for d, m in zip(strict.dataset, strict.metric, strict=True)]
strict["half"] = strict.estimate + strict.ties / 2
strict["released"] = strict.estimate + strict.ties
rank = {name: i for i, name in enumerate((*datasets, *METRICS))}
strict = strict.sort_values(["dataset", "metric"], key=lambda c: c.map(rank), ignore_index=True)
tables.table(
    reference.with_reference(
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
# **Which rules DeepLIFT follows** is a question of its own. Its paper {cite:p}`shrikumar_2017` wants a rule for every
# operation, so that scores add up to the change of the output. The released code calls captum {cite:p}`kokhlikyan_2020`,
# which has rules for modules of a few activation classes; of these models it finds the tanh of the pooler, and takes the
# plain gradient everywhere else. Study 1 does as the code does: captum computes DeepLIFT. Our library's own rules cover
# every operation of these models, and their scores add up; the table has both on the same inputs, models and random
# scores, for this one method. Much of what is said of DeepLIFT, and of any mean over methods that it is part of, depends
# on who computes it.

# %%
BY_RULES = "deeplift=exact"
if BY_RULES in asked:
    both_rules = pd.DataFrame(
        [
            {
                "metric": metric,
                "n": int(effects.inputs[(effects.variant == BY_RULES) & (effects.metric == metric)].iloc[0]),
            }
            | {
                f"{rules}{end}": parts[side].loc[(BY_RULES, metric), column]
                for rules, side in (("captum", "win_base"), ("exact", "win"))
                for end, column in (("", "estimate"), (" low", "low"), (" high", "high"))
            }
            | {end: parts["power"].loc[(BY_RULES, metric), end] for end in ("estimate", "low", "high")}
            for metric in METRICS
        ]
    )
    display(
        tables.table(
            reference.with_reference(both_rules, "soft_deeplift_rules", on=["metric"]),
            run,
            "soft_deeplift_rules",
            caption="Diagnosticity of DeepLIFT against random by captum's rules and by exact ones; estimate, low, high: "
            "exact less captum; 95 % intervals over n inputs",
        )
    )
shown("soft_d10", "D10, DeepLIFT by exact rules: effect on that method alone", BY_RULES)

# %% [markdown]
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
# mean (medians over inputs and methods), the spread of scores over inputs (all three of scores limited to [0, 1]; the
# share of scores outside that range stands beside them), and what drawing only once does to the comparison with random:
# how many comparisons flip, and how diagnosticity moves (first draw less mean of all). Draws of a real and a random
# attribution share their random numbers, which already makes the single draw steadier than independent ones would be.

# %%
draws = settings_of("soft_metrics", profile)["draws"]
many = quantities.against_random(soft)
once = quantities.against_random(soft.assign(value=soft.value_one_draw))
paired = many.merge(once[[*SAME, "method", "win"]], on=[*SAME, "method"], suffixes=("", "_once"))
paired["change"] = paired.win_once - paired.win
paired["flip"] = paired.change.abs()
change = resampling.over_inputs(paired, value="change", cells=["dataset", "metric"])
flips = resampling.over_inputs(paired, value="flip", cells=["dataset", "metric"])
noise = (
    soft[soft.method != "random"]
    .groupby(["dataset", "metric"])
    .agg(
        error=("mc_error", "median"),
        spread=("value", lambda v: v.clip(0, 1).std()),
        outside=("value", lambda v: quantities.outside_unit(v).mean()),
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
            "outside": row.outside,
            "flips": flip.estimate,
            "flips low": flip.low,
            "flips high": flip.high,
            "change": shift.estimate,
            "low": shift.low,
            "high": shift.high,
        }
    )
single = pd.DataFrame(rows).sort_values(["dataset", "metric"], key=lambda c: c.map(rank), ignore_index=True)
tables.table(
    single,
    run,
    "soft_one_draw",
    caption="Noise of the soft metrics: deviation of one draw, error of the mean, spread over inputs, share of "
    "scores outside [0, 1]; share of comparisons that flip with one draw; change of diagnosticity",
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
table3 = published.table("soft_table3")
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
tables.table(
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
    look = {"colour": colour, "marker": marker, "label": label(metric)}
    figures.dots(ax, part, spots[chosen], columns=("half", "half_low", "half_high"), **look)
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
# **Amount or order?** The first section of this page puts this to the test; here are the numbers behind it. How much
# the scores of each method keep can be seen only on the inputs whose token scores are stored for the heat maps, a few
# of each data set; random scores stand at about one half by construction. The second table takes the amounts away on
# all inputs of the comparison: with scores replaced by their rank among the tokens of a text, every attribution keeps
# the same share, and only the order is left to compare.

# %%
kept["method"] = kept.method.map(label)
tables.table(
    kept[["method", "n", "estimate", "low", "high"]],
    run,
    "soft_amount",
    caption="Mean min-max scaled importance by method: the share of embedding elements that Soft-NS keeps "
    f"({n_examples} inputs with stored token scores, not all {n_inputs})",
)

# %%
shown("soft_rank", "Rank normaliser: every attribution keeps and removes the same amount", "normaliser=rank")

# %%
run.provenance(n=n_inputs, note=f"the exchanged choices are measured on {n_variants} inputs")

# %%
run.finish()
