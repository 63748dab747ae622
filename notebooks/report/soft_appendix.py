# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Other soft perturbations: Appendix C
#
# Dropping embedding elements at random is one way to disturb a token in proportion to a score. The paper tried two more
# and set them aside. Here all of them are scored on the same inputs, and the choice is put to the test.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, page, quantities, reference, resampling, tables
from faithbook.results.figures import PALETTE
from faithbook.results.labels import label

run = start_run("soft_appendix", profile=profile)
figures.theme()
table = load("soft_appendix", profile)
# One name per setting: perturbation and, where it has one, variance.
table["setting"] = [
    name if pd.isna(variance) else f"{name} {variance:g}"
    for name, variance in zip(table.perturbation, table.variance, strict=True)
]
UNIT = ["dataset", "input"]
METRICS = ("soft_ns", "soft_nc")
datasets = [name for name in run.settings["models"] if name in set(table.dataset)]
settings = table.drop_duplicates("setting").set_index("setting")[["perturbation", "variance"]]
variances = sorted(table.variance.dropna().unique())
n_inputs = len(table[UNIT].drop_duplicates())
NAMES = {
    "dropout": "dropout (Eq. 3)",
    "gaussian_eq7": "Gaussian noise, Eq. 7",
    "gaussian_eq8": "Gaussian noise, Eq. 8",
    "attention_mask": "continuous attention mask",
}

# %% [markdown]
# ## Gaussian noise and a continuous attention mask
#
# **What the paper shows.** Appendix C describes three alternatives to dropout. Two multiply Gaussian noise $\gamma$
# with the embedding and add the product to it: Eq. 7 scales the noise by the importance score, Eq. 8 puts the score
# into its spread. The third leaves the embeddings alone and lets the attention mask take values between 0 and 1. Seven
# values are tried for $\sigma^2$. Results are not printed; the main text says that dropout did better than both kinds
# of alternative, and that tuning may be the reason. The same symbol is called standard deviation there; it is taken as
# a variance here, so the two readings differ by a square root along the axis below.
#
# **Our run.** Soft-NS and Soft-NC of the five methods and of random scores, under dropout, both kinds of noise at all
# seven variances, and the attention mask. What "better" means is not stated; the paper's own yardstick for metrics is
# diagnosticity, so that is judged, and the mean score is shown beside it.

# %%
wins = quantities.against_random(table, on=["dataset", "model_seed", "input", "metric", "setting"])
power = resampling.over_inputs(wins, value="win", cells=["metric", "setting"])
# Limited to [0, 1]: a few inputs with a tiny denominator would be all that a mean shows.
real = table[table.method != "random"].assign(
    limited=lambda rows: rows.value.clip(0, 1), outside=lambda rows: quantities.outside_unit(rows.value)
)
means = resampling.over_inputs(real, value="limited", cells=["metric", "setting"])
outside = real.groupby(["metric", "setting"]).outside.mean()
both = pd.concat(
    [
        power.table().assign(shows="diagnosticity"),
        means.table().assign(shows="mean score").merge(outside.reset_index(), on=["metric", "setting"]),
    ],
    ignore_index=True,
).merge(settings.reset_index(), on="setting")

fig, axes = plt.subplots(2, 2, figsize=(8, 6.8), sharex=True)
for row, shows in zip(axes, ("diagnosticity", "mean score"), strict=True):
    for ax, metric in zip(row, METRICS, strict=True):
        part = both[(both.shows == shows) & (both.metric == metric)]
        for name, colour, marker in (("gaussian_eq7", PALETTE[1], "o"), ("gaussian_eq8", PALETTE[2], "D")):
            line = part[part.perturbation == name].sort_values("variance")
            ax.plot(line.variance, line.estimate, color=colour, marker=marker, ms=5, label=NAMES[name])
            ax.fill_between(line.variance, line.low, line.high, color=colour, alpha=0.15, lw=0)
        for name, colour, style in (("dropout", PALETTE[0], "-"), ("attention_mask", PALETTE[3], "--")):
            level = part[part.perturbation == name].iloc[0]
            ax.axhline(level.estimate, color=colour, ls=style, lw=2, label=NAMES[name])
            ax.axhspan(level.low, level.high, color=colour, alpha=0.12, lw=0)
        if shows == "diagnosticity":
            ax.axhline(0.5, color="#666666", ls=":", lw=1)
        ax.set_xscale("log")
        ax.set_xticks(variances, [f"{variance:g}" for variance in variances], fontsize="small")
        ax.minorticks_off()
        ax.set_title(f"{label(metric)}: {shows}")
for ax in axes[-1]:
    ax.set_xlabel("variance of the noise")
handles, names = axes[0][0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=2, fontsize="small")
level = power.estimate
spoken = "; ".join(
    f"{label(metric)}: dropout {level[metric, 'dropout']:.2f}, attention mask "
    f"{level[metric, 'attention_mask']:.2f}, best "
    f"Gaussian {max(level[metric, s] for s in settings.index if s.startswith('gaussian')):.2f}"
    for metric in METRICS
)
figures.save(
    fig,
    run,
    "soft_appendix_figure",
    alt="Line charts, Soft-NS on the left and Soft-NC on the right, diagnosticity above and mean score below, "
    "against the "
    f"variance of the noise, with level lines for dropout and the attention mask. Diagnosticity: {spoken}.",
    caption=f"Four ways to disturb tokens in proportion to a score ({n_inputs} inputs of "
    f"{' and '.join(datasets)}, mean "
    "over five methods; bands: 95 % bootstrap interval over inputs; dotted: one half). Mean scores are over scores "
    f"limited to [0, 1], which moves {outside.min():.0%} to {outside.max():.0%} of them (table below). The paper prints "
    "no values.",
)

# %%
out = both.assign(perturbation=both.perturbation.map(NAMES))[
    ["shows", "metric", "perturbation", "variance", "n", "dropped", "estimate", "low", "high", "outside"]
]
keyed = ["shows", "metric", "perturbation", "variance"]
tables.table(
    reference.with_reference(out, "soft_appendix_values", on=keyed),
    run,
    "soft_appendix_values",
    caption="Every point of the figure",
    shown=False,
)

# %% [markdown]
# Small variances hardly disturb anything: the prediction stays as it was, Soft-NC is close to zero and Soft-NS close to
# one for every attribution. Diagnosticity asks only for a strictly larger value, however small the difference, so it
# can be high where the scores themselves are of no use for comparing methods. The table below therefore has the spread
# of the scores over inputs and methods beside it.

# %%
rows, against = [], {}
alternatives = [name for name in settings.index if name != "dropout"]
for metric in METRICS:
    for setting in alternatives:
        gap = power.difference({"metric": metric, "setting": "dropout"}, {"metric": metric, "setting": setting})
        against[metric, setting] = gap
        mine = real[(real.metric == metric) & (real.setting == setting)]
        rows.append(
            {
                "metric": metric,
                "perturbation": NAMES[settings.perturbation[setting]],
                "variance": settings.variance[setting],
                "n": n_inputs,
                "estimate": gap.estimate,
                "low": gap.low,
                "high": gap.high,
                "spread of scores": mine.limited.std(),
                "outside": outside[metric, setting],
                "dropout ahead": claims.verdict(gap),
            }
        )
gaps = pd.DataFrame(rows)
of_dropout = ", ".join(f"{label(metric)} {outside[metric, 'dropout']:.3f}" for metric in METRICS)
tables.table(
    reference.with_reference(gaps, "soft_appendix_gaps", on=["metric", "perturbation", "variance"]),
    run,
    "soft_appendix_gaps",
    caption="Diagnosticity of dropout less that of each alternative, same inputs (estimate with 95 % "
    "interval), the standard deviation of the alternative's scores limited to [0, 1], and the share of them that lay "
    f"outside that range before (of dropout: {of_dropout})",
)

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 0.3 * len(alternatives) + 1.4), sharey=True)
place = np.arange(len(alternatives))[::-1]
for ax, metric in zip(axes, METRICS, strict=True):
    part = gaps[gaps.metric == metric]
    figures.dots(ax, part, place)
    ax.axvline(0, color="#666666", ls=":", lw=1)
    ax.set_title(label(metric))
    ax.set_xlabel("dropout less alternative")
shown = [
    NAMES[settings.perturbation[s]] + ("" if pd.isna(settings.variance[s]) else f", {settings.variance[s]:g}")
    for s in alternatives
]
axes[0].set_yticks(place, shown, fontsize="small")
ahead = (gaps["dropout ahead"] == claims.HOLDS).sum()
behind = (gaps["dropout ahead"] == claims.FAILS).sum()
figures.save(
    fig,
    run,
    "soft_appendix_gaps_plot",
    alt="Dot plot with intervals, one row per alternative, one panel per metric: difference of diagnosticity. "
    "Dropout is "
    f"ahead beyond doubt in {ahead} and behind in {behind} of {len(gaps)} rows.",
    caption="Dropout against each alternative. Right of the dotted line: dropout is more diagnostic.",
)

# %% [markdown]
# **Verdict.** Dropout "does best" if it beats the best of its rivals. The best is chosen anew in every resample, so the
# interval carries the luck of having many rivals with it (which makes the test a hard one for dropout).

# %%
parts, said = {}, []
for metric in METRICS:
    lead = power.interval(
        lambda frame, metric=metric: (
            frame[(metric, "dropout")] - frame[[(metric, setting) for setting in alternatives]].max(axis=1)
        ),
        metric=metric,
    )
    parts[metric] = claims.verdict(lead)
    best = max(alternatives, key=lambda setting, metric=metric: power.estimate[metric, setting])
    said.append(f"{label(metric)}: {lead}, best alternative {NAMES[settings.perturbation[best]]}")
    if not pd.isna(settings.variance[best]):
        said[-1] += f" with variance {settings.variance[best]:g}"
page.verdict_line(
    claims.every(parts.values()),
    f"Dropout is more diagnostic than every alternative (lead over the best one; n = {n_inputs}): {'; '.join(said)}.",
)

# %% [markdown]
# **What differs and why.** Only the two short-text stand-ins are run here. The paper tuned the variance for each metric
# apart, on which data it does not say; here all values are shown and the best is taken on the same inputs, which
# favours the alternatives. Soft-NS disturbs a token in proportion to $1 - a$ and Soft-NC in proportion to $a$, with $a$
# the min-max scaled score, as with dropout; the appendix writes one equation for both. Dropout is averaged over more
# draws than the noise in the smaller profiles, which helps dropout slightly.

# %%
run.provenance(n=n_inputs)

# %%
run.finish()
