# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How long should a rationale be? Figures 2 and 3

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from functools import partial
from itertools import product

import pandas as pd
from IPython.display import Markdown

from faithbook.engine.studies import settings_of
from faithbook.judge import materials, published
from faithbook.judge.report import start_page
from faithbook.show.figures import PALETTE
from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, listed, spoken
from faithbook.show.plots import Layout, line_plot
from faithbook.stats import comparison
from faithbook.stats.chance import outside_unit
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft.zhao_aletras import of_each, shared
from faithbook.studies.soft.zhao_aletras_diagnosticity import AS_OURS, LIMIT, METHODS, SCORE, TIE, WIN, at_length, slope

page = start_page("soft_figures", profile, values=values, paper="zhao_aletras_2023")
PAIRS = {"ns": "soft_ns", "nc": "soft_nc"}
OUTSIDE = "outside"
LENGTH = "rationale length (share of wordpieces)"
RANDOM = {"random": ("#000000", "X")}
RATIOS = settings_of("soft_metrics", profile)["ratios"]
DRAWS = 1999  # resamples that decide claims of up to 40 parts; the curve judges many


@of_each
def prepared(units):
    """Wins and ties against the random attribution, hard scores at each length, and which of them the limits move."""
    scores = diagnosticity.with_lengths(units[units.method != "none"])
    hard = scores[scores.metric.str.contains(" at ")]
    moved = hard.assign(shows=OUTSIDE, value=outside_unit(hard.value))
    return pd.concat([diagnosticity.counted(scores), diagnosticity.limited(scores), moved], ignore_index=True)


table3 = published.table("soft_table3")
measured = page.measure(
    "soft_metrics",
    parts=["", "lengths"],
    over=["shows", "model", "dataset", "method", "metric"],
    prepare=prepared,
    printed=table3[table3.dataset != "average"].assign(shows=WIN),
    bounds=(0, 1),
    n_resamples=DRAWS,
)
stands = materials.stands_for(page.paper)
order = list(dict.fromkeys(table3.dataset))
tasks = sorted(measured.comparable(), key=lambda name: order.index(stands.get(name, name)))
models = shared(measured.frame, tasks)
of_model = page.quantity("metric", method=METHODS, dataset=tasks, shows=WIN)
power = partial(of_model, model=models[0])


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    first, last = RATIOS[0], RATIOS[-1]
    return (
        f"From the shortest rationales ({first:.0%} of the wordpieces) to the longest ({last:.0%}), the share of texts on which "
        f"comprehensiveness (NC) prefers the real explanation to a random one goes from {spoken(power(at_length('nc', first)), '.2f')} "
        f"to {spoken(power(at_length('nc', last)), '.2f')}, that of sufficiency (NS) from "
        f"{spoken(power(at_length('ns', first)), '.2f')} to {spoken(power(at_length('ns', last)), '.2f')} ({models[0]}, "
        f"n = {power(at_length('nc', first)).ours.n}). Of comprehensiveness the paper reads no growth."
    )


page.in_short(in_short)

# %% [markdown]
# Hard erasure needs a decision that no attribution method makes: how many tokens belong to the rationale.
# {cite:t}`zhao_aletras_2023` score every explanation at five lengths and average. This page shows each length on its own:
# how does it change the scores, and how does it change their power to separate a real explanation from a random one? Longer
# rationales score higher, but random ones do too.

# %% [markdown]
# ## Figure 2: scores by rationale length
#
# **What the paper shows.** One panel per data set; normalised sufficiency (NS) and comprehensiveness (NC) at each
# rationale length, one line per attribution method and one for random scores. The reading given there: both scores rise
# with the length; on Evidence Inference NC reacts less to the length than NS. The figure prints no values, so directions
# are compared and not numbers.
#
# **Our run.** The same two metrics and five lengths, with the larger of our models. A length is a share of the wordpieces,
# rounded up, so that several lengths can mean the same number of tokens. 1 % and 5 % are one token on texts of up to twenty
# wordpieces, 10 % is one too on texts of up to ten.


# %%
def by_length(of, **cells):
    """A metric at each length, as rows of a plot."""
    points = listed({(of, ratio): power(at_length(of, ratio), **cells) for ratio in RATIOS}, ["metric", "ratio"])
    named = {name: level for name, level in cells.items() if name != "shows"}
    return points.assign(**named)[[*named, *points]]


rows = pd.concat(
    by_length(metric, dataset=dataset, method=method, shows=SCORE)
    for dataset, metric, method in product(tasks, PAIRS, [*METHODS, "random"])
)
rows["panel"] = [f"{label(d)}: {label(m)}" for d, m in zip(rows.dataset, rows.metric, strict=True)]
layout = Layout(panel="panel", series="method", names={name: label(name) for name in METHODS}, looks=RANDOM)
fig, alt = line_plot(rows, LENGTH, "mean score", x="ratio", layout=layout, log=True)
outside = comparison.mean([power(at_length(m, r), shows=OUTSIDE) for m in PAIRS for r in RATIOS]).ours.point
caption = (
    "Mean hard scores by rationale length, higher is better (bands: 95 % intervals over inputs; black: random "
    "attribution). "
    f"Scores are limited to [0, 1], as in the released code; that moves {outside:.1%} of them."
)
page.figure(fig, "soft_figure2", alt=alt, caption=caption, data=rows.drop(columns="panel"))

# %% [markdown]
# **The trend as a number (c10).** A straight line is fitted to the mean over the five methods against the logarithm of the
# length: the change of the score per doubling. A rising line means little: keeping more tokens keeps more of the text, and
# removing more of them removes more, *whichever* tokens they are. Random scores rise for the same reason; the last columns
# say how much steeper the real ones rise.

# %%
rows = []
for dataset, metric, model in product(tasks, PAIRS, models):
    asked = partial(of_model, model=model)
    real = slope(asked, metric, RATIOS, dataset=dataset, shows=SCORE)
    extra = real - slope(asked, metric, RATIOS, dataset=dataset, shows=SCORE, method="random")
    rows.append({"dataset": dataset, "metric": metric, "model": model, "n": real.ours.n, **ends_of(real)})
    rows[-1] |= ends_of(extra, "minus that of random", "its low", "its high")
slopes = pd.DataFrame(rows)
of_largest = slopes[slopes.model == models[0]]
steeper = int((of_largest["its low"] > 1e-6).sum())  # values are kept in single precision
caption = "Change of the mean hard score per doubling of the rationale, and the same minus that of random scores"
page.listing(slopes, "soft_figure2_slopes", caption=caption)

# %%
parts = diagnosticity.rises(power, tasks, RATIOS)
second = page.test({"soft_figure2": parts, "soft_c10": parts})
page.verdicts(second)

# %%
Markdown(f"It rises more than random scores in {steeper} of {len(of_largest)} panels, which is what would matter.")

# %%
page.plot(second, "soft_figure2_slopes_plot", only=["soft_c10"], caption="Change of the score per doubling.")

# %% [markdown]
# **What differs and why.** Other models; texts are cut at the window of their classifier, so the longest can be shorter
# than the paper's. NS and NC divide by $1 - S(x, y, 0)$: inputs for which that is not positive have no score. They are left
# out.

# %% [markdown]
# ## Figure 3: diagnosticity by rationale length
#
# **What the paper shows.** Diagnosticity, the share of inputs on which a metric scores a real attribution strictly
# above a random one, for NS and NC at every length (mean over methods), with Soft-NS and Soft-NC as level lines because
# they have no length. The paper reads from it that diagnosticity does not grow with the length and tends to fall for long
# rationales, and that on Evidence Inference and MultiRC both soft metrics are above both hard ones.
#
# **Our run.** Each method's value is compared with the random attribution's on the same input, model seed and length.

# %%
rows = pd.concat(by_length(metric, dataset=dataset) for dataset in tasks for metric in PAIRS)
soft = listed({(d, m): power(m, dataset=d) for d, m in product(tasks, PAIRS.values())}, ["dataset", "metric"])
names = {name: label(name) for name in (*tasks, *PAIRS, *PAIRS.values())}
looks = {name: (colour, "o") for pair, colour in zip(PAIRS.items(), PALETTE, strict=False) for name in pair}
layout = Layout(panel="dataset", series="metric", names=names, looks=looks, mark=0.5)
fig, alt = line_plot(pd.concat([rows, soft]), LENGTH, "diagnosticity", x="ratio", layout=layout, log=True)
caption = (
    "Share of inputs on which a metric puts the real attribution strictly above the random one (more is better), mean over five "
    "methods. Dashed: the soft metrics. Bands: 95 % intervals over inputs. Dotted grey: one half."
)
page.figure(fig, "soft_figure3", alt=alt, caption=caption, data=rows)

# %% [markdown]
# **First up, then down (c13).** The paper reads off its figure that on SST and on AG News the diagnosticity of both hard metrics
# first rises and then falls. The middle of the five lengths is compared with the shortest and with the longest; each comparison
# has an answer of its own, as the sentence has two halves.

# %%
fourth = page.test({"soft_c13": diagnosticity.rises_and_falls(power, tasks, RATIOS)})
page.verdicts(fourth)

# %%
page.parts(fourth, "soft_figure3_rise_parts", caption="Diagnosticity at the middle length minus that at either end")

# %%
LONG = ("evinf", "multirc")
# Where the paper's own data is there, but neither of these two, what stands in for them.
long = [name for name in tasks if stands.get(name, name) in LONG] or [
    name for name in measured.levels("dataset") if stands.get(name) in LONG
]
largest = {name: shared(measured.frame, [name])[0] for name in long}


def figure_of_long():
    """The panels of long texts."""
    rows = pd.concat(by_length(metric, dataset=dataset, model=largest[dataset]) for dataset in long for metric in PAIRS)
    soft = listed(
        {(d, m): power(m, dataset=d, model=largest[d]) for d, m in product(long, PAIRS.values())}, ["dataset", "metric"]
    )
    names = {name: label(name) for name in (*long, *PAIRS, *PAIRS.values())}
    layout = Layout(panel="dataset", series="metric", names=names, looks=looks, mark=0.5)
    fig, alt = line_plot(pd.concat([rows, soft]), LENGTH, "diagnosticity", x="ratio", layout=layout, log=True)
    texts = min(power(at_length("nc", RATIOS[0]), dataset=name, model=largest[name]).ours.n for name in long)
    caption = (
        "The panels on which the verdict rests: long texts, which stand in for those of the paper where these are not here "
        f"(n = {texts} texts in the smallest), mean over five methods. Dashed: the soft metrics. Bands: 95 % intervals over inputs."
    )
    return page.figure(fig, "soft_figure3_long", alt=alt, caption=caption, data=rows)


figure_of_long() if long else Markdown("*No long texts were measured.*")

# %%
Markdown(
    f"The first figure has {', '.join(map(label, tasks))}, two of the paper's four panels. The verdict on Figure 3 and that of c11 "
    f"rest on {', '.join(map(label, long)) or 'none here'}, because the claim is about long texts. The paper prints no number of its figure."
)

# %% [markdown]
# **Ties do not count as wins.** With short rationales they are frequent: a real and a random attribution may pick the same
# token, and then their scores are the same number. A probability that rises counts as one that stays, so two attributions
# whose erasures both raise it are equal too: the number after the slash is the share of comparisons that tie for that
# reason. This alone can make a curve start low.

# %%
rows = []
for dataset in tasks:
    for metric in PAIRS:
        row = {"dataset": dataset, "metric": metric, "n": power(metric, dataset=dataset).ours.n}
        for ratio in RATIOS:
            tied = [power(at_length(metric, ratio), dataset=dataset, shows=what).ours.point for what in (TIE, LIMIT)]
            row[f"{ratio:.0%}"] = f"{tied[0]:.2f} / {tied[1]:.2f}"
        rows.append(row)
caption = "Share of ties between real and random by rationale length, all / because neither lost probability"
page.listing(pd.DataFrame(rows), "soft_figure3_ties", caption=caption)

# %% [markdown]
# **Soft against hard on the long texts (c11).** Figure 3 prints no numbers; Table 3 of the paper gives the level of the
# soft lines and the hard metrics averaged over the lengths. Ties, lengths and the number of draws are open choices; we vary
# each one separately below. The long texts are substitutes, explained with the small model.


# %%
def gains(reading=AS_OURS):
    """Soft minus hard on each long task, as the reading has the metrics and counts ties."""
    by_task = {}
    for dataset, model in largest.items():
        both = reading.gains(of_model, PAIRS, dataset=dataset, model=model)
        by_task |= {f"{name}, {label(dataset)}": gain for name, gain in both.items()}
    return by_task


read = {options: gains(reading) for options, reading in diagnosticity.readings(RATIOS).items()}
curve = page.multiverse("soft_c11", diagnosticity.READ_AS, read) if long else None
third = page.test({"soft_figure3": gains(), "soft_c11": gains()})
page.verdicts(third)

# %%
page.plot(third, "soft_figure3_gains_plot", only=["soft_c11"], caption="Soft − hard on the two long tasks.")

# %%
page.curve(curve, "soft_c11_curve", caption="The lowest of the four differences, under each choice.") if long else None

# %% [markdown]
# **What differs and why.** Data, models and text lengths as for Figure 2. Our soft scores average several draws and the
# paper uses one; this reduces the noise of ours, which favours them ({doc}`soft_deviations` measures by how much).

# %%
page.finish()
