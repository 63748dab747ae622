# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Other ways to erase softly (Appendix C)

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.judge.report import start_page
from faithbook.show.figures import PALETTE
from faithbook.show.labels import label
from faithbook.show.numbers import row_of, spoken
from faithbook.show.plots import Layout, dot_plot, line_plot
from faithbook.stats.chance import against_random, outside_unit
from faithbook.studies.soft.zhao_aletras import of_largest
from faithbook.studies.soft.zhao_aletras_tables import listing

page = start_page("soft_appendix", profile, values=values, paper="zhao_aletras_2023")
METRICS = ("soft_ns", "soft_nc")
POWER, SCORE, OUTSIDE = "diagnosticity", "mean score", "outside"
NAMES = {
    "dropout": "dropout (Eq. 3)",
    "gaussian_eq7": "Gaussian noise, Eq. 7",
    "gaussian_eq8": "Gaussian noise, Eq. 8",
    "attention_mask": "continuous attention mask",
}


def prepared(units):
    """Of each input: whether the real attribution beats the random one, its score limited to [0, 1], and whether that
    moved it."""
    units = of_largest(units)
    soft = units[units.metric.isin(METRICS)]
    wins = against_random(soft, on=["dataset", "seed", "id", "metric", "perturbation", "variance"])
    real = soft[soft.method != "random"]
    shown = {
        POWER: wins.assign(value=wins.win),
        SCORE: real.assign(value=real.value.clip(0, 1)),
        OUTSIDE: real.assign(value=outside_unit(real.value)),
    }
    return pd.concat([frame.assign(shows=name) for name, frame in shown.items()], ignore_index=True)


over = ["shows", "dataset", "metric", "perturbation", "variance"]
measured = page.measure("soft_variants", parts=["appendix"], prepare=prepared, over=over, bounds=(0, 1), firmest=True)
won = page.quantity("metric", "perturbation", variance=0.0, shows=POWER)
variances = sorted(value for value in measured.levels("variance") if value > 0)
noises = [name for name in NAMES if name.startswith("gaussian")]
alternatives = [("attention_mask", 0.0), *((name, variance) for name in noises for variance in variances)]


# %% tags=["remove-input"]
def in_short():
    """The result of this page in sentences: whether dropout separates best, and by how much."""
    ahead = []
    for metric in METRICS:
        dropout, mask = won(metric, "dropout"), won(metric, "attention_mask")
        gap = dropout - mask
        ends = gap.ours.interval()
        verb = "is not clearly different from"
        if ends.low > 0:
            verb = "separates better than"
        elif ends.high < 0:
            verb = "separates worse than"
        ahead.append(
            f"under {label(metric)} dropout {verb} a continuous attention mask ({spoken(dropout, '.2f')} against "
            f"{spoken(mask, '.2f')})"
        )
    return (
        "The paper says that dropout did better than the alternatives, and prints no values. We compare how well they separate real from "
        f"random explanations: {' and '.join(ahead)}; shares of texts on which the metric prefers the real one, mean over methods "
        f"(n = {won(METRICS[0], 'dropout').ours.n} texts in the smaller data set). Table and figures below have Gaussian noise as well."
    )


page.in_short(in_short)

# %% [markdown]
# Dropping elements of an embedding at random is one way to perturb a token in proportion to a score. The paper tried three
# others, in two kinds, and chose dropout. We compute all of them on the same inputs and test that choice.

# %% [markdown]
# ## Gaussian noise and a continuous attention mask
#
# **What the paper shows.** Appendix C describes three alternatives to dropout. Two multiply Gaussian noise $\gamma$
# with the embedding and add the product to it: Eq. 7 scales the noise by the importance score, Eq. 8 scales its spread by
# the score. The third does not change the embeddings and gives the attention mask values between 0 and 1. The paper tries
# seven values of $\sigma^2$ and prints no results. Its main text says that dropout did better than both kinds of
# alternative, perhaps because of tuning, and calls $\sigma^2$ a standard deviation. We take it as a variance; the other
# reading changes the axis below by a square root.
#
# **Our run.** We compute Soft-NS and Soft-NC of the methods and of random scores under dropout, both kinds of noise at seven
# variances, and the attention mask, with the larger of our models (MPNet, one training). The paper does not say what "better" means. We
# judge by diagnosticity (the share of texts on which a metric prefers the real explanation to the random one), with which the paper
# compares metrics, and also show the mean score.

# %%
rows = [
    {"shows": shows, "metric": metric, "perturbation": NAMES[name], "variance": variance or np.nan}
    | row_of(won(metric, name, variance=variance, shows=shows))
    for shows, metric, (name, variance) in product((POWER, SCORE), METRICS, [("dropout", 0.0), *alternatives])
]
drawn = pd.DataFrame(rows)
drawn["panel"] = [f"{label(row['metric'])}: {row['shows']}" for row in rows]
looks = {NAMES[name]: (PALETTE[i], "ooDs"[i]) for i, name in enumerate(("dropout", *noises, "attention_mask"))}
layout = Layout(panel="panel", series="perturbation", looks=looks)
fig, alt = line_plot(drawn, "variance of the noise", "share or mean score", x="variance", layout=layout, log=True)
caption = (
    f"Four ways to perturb tokens in proportion to a score: diagnosticity (above) and the mean score (below; scores limited to [0, 1]), mean "
    f"over five methods and over {listing(measured.levels('dataset'))}; n = {won(METRICS[0], 'dropout').ours.n} texts in the smaller set. Bands: "
    "95 % intervals over texts. Higher diagnosticity is better"
)
page.figure(fig, "soft_appendix_figure", alt=alt, caption=caption, data=pd.DataFrame(rows))

# %% [markdown]
# Small variances hardly change anything: the prediction stays the same, and for every attribution Soft-NC is close to zero
# and Soft-NS close to one. Diagnosticity counts any larger value, however small the difference, so it can be high where
# the scores themselves are useless for comparing methods. The table below therefore also has the spread of the scores
# over inputs and methods, and the share of scores outside [0, 1].

# %%
leads, rows = {}, []
for metric in METRICS:
    for name, variance in alternatives:
        lead = won(metric, "dropout") - won(metric, name, variance=variance)
        says = NAMES[name] + (f", variance {variance:g}" if variance else "")
        leads[f"{label(metric)}: dropout minus {says}"] = lead
        there = (measured.frame[["metric", "perturbation", "variance"]] == [metric, name, variance]).all(axis=1)
        scores = measured.frame[there & (measured.frame.shows == SCORE)].value
        rows.append({"metric": metric, "perturbation": NAMES[name], "variance": variance or np.nan, **row_of(lead)})
        outside = won(metric, name, variance=variance, shows=OUTSIDE).ours.point
        rows[-1] |= {"spread of scores": scores.std(), "outside": outside}
gaps = pd.DataFrame(rows)
page.listing(
    gaps,
    "soft_appendix_gaps",
    caption="Diagnosticity of dropout minus that of each alternative on the same texts (*estimate*), the standard deviation of the "
    "alternative's scores after limiting them to [0, 1] (*spread of scores*), and the share of scores outside these limits (*outside*)",
)

# %%
alternatives_named = [NAMES[name] + (f", {variance:g}" if variance else "") for name, variance in alternatives]
layout = Layout(panel="metric", names={metric: label(metric) for metric in METRICS}, mark=0.0)
fig, alt = dot_plot(gaps.assign(row=alternatives_named * len(METRICS)), "dropout minus alternative", layout=layout)
caption = (
    "Diagnosticity of dropout minus that of each alternative, with 95 % intervals; the last number of a label is the variance of the noise. "
    "Right of the dotted line dropout is more diagnostic"
)
page.figure(fig, "soft_appendix_gaps_plot", alt=alt, caption=caption)

# %% [markdown]
# **Does dropout do best?** It has to be ahead of each alternative under both metrics. The paper states this without a number.

# %%
tested = page.test({"soft_c14": leads})
page.verdicts(tested)


# %%
def clearly_ahead():
    """How many alternatives dropout is clearly ahead of, by metric."""
    counts = []
    for soft_metric in METRICS:
        intervals = [
            lead.ours.interval() for comparison, lead in leads.items() if comparison.startswith(label(soft_metric))
        ]
        counts.append(
            f"{sum(interval.low > 0 for interval in intervals)} of {len(intervals)} under {label(soft_metric)}"
        )
    return f"Alternatives that dropout is clearly ahead of (95 % interval above zero): {', '.join(counts)}."


Markdown(clearly_ahead())

# %% [markdown]
# **What differs and why.** We use short texts only. The paper tuned the variance for each metric separately and does not say
# on which data; we show all values. As with dropout, Soft-NS perturbs a token in proportion to $1 - a$ and Soft-NC in
# proportion to $a$, where $a$ is the min-max scaled score; the appendix has one equation for both. Dropout is averaged over
# more samples of its mask than the noise. Fewer samples leave more ties, which do not count as wins. This lowers the diagnosticity of
# Soft-NS under noise and may explain part of dropout's lead there.

# %%
page.finish()
