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
from faithbook.show.tables import in_names
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
    ends = {
        of: (spoken(power(at_length(of, RATIOS[0])), ".2f"), spoken(power(at_length(of, RATIOS[-1])), ".2f"))
        for of in PAIRS
    }
    best = {of: max(RATIOS, key=lambda ratio: power(at_length(of, ratio)).ours.point) for of in PAIRS}
    return (
        f"Rationales that separate real from random explanations best have {100 * best['nc']:.0f} % of the wordpieces under "
        f"comprehensiveness (NC) and {100 * best['ns']:.0f} % under sufficiency (NS). Share of texts on which the real one is "
        f"preferred, from rationales of {100 * RATIOS[0]:.0f} % to {100 * RATIOS[-1]:.0f} %: NC {' to '.join(ends['nc'])}, NS "
        f"{' to '.join(ends['ns'])} ({models[0]}, n = {power(at_length('nc', RATIOS[0])).ours.n:,}). The paper reads off its figure "
        "that this share does not grow with the length."
    )


page.in_short(in_short)

# %% [markdown]
# Deleting words needs a decision that no attribution method makes: how many tokens belong to the rationale.
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
# rounded up: 1 % and 5 % are both one token on texts of up to twenty wordpieces.


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
    "Mean scores by rationale length, higher is better. Bands: 95 % intervals; black: random attribution. "
    f"Scores are cut to 0 to 1, as in the released code, which changes {100 * outside:.0f} % of them."
)
page.figure(fig, "soft_figure2", alt=alt, caption=caption, data=rows.drop(columns="panel"))

# %% [markdown]
# **The trend as a number (c10).** A straight line is fitted to the mean over the five methods against the logarithm of the
# length: the change of the score per doubling. A rising line means little: keeping or removing more tokens changes more,
# *whichever* tokens they are. Random scores rise for the same reason; the last column says how much steeper the real ones rise.

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


def slopes_in_words(frame):
    """The slopes with their intervals."""
    cells = in_names(frame, 3)
    return cells.rename(
        columns={"estimate": "change per doubling", "minus that of random": "minus that of random scores"}
    )


caption = "Change of the mean score per doubling of the rationale, and the same minus that of random scores"
page.listing(slopes, "soft_figure2_slopes", caption=caption, wide=slopes_in_words(slopes))

# %%
parts = diagnosticity.rises(power, tasks, RATIOS)
second = page.test({"soft_figure2": parts, "soft_c10": parts})
page.verdicts(second)

# %%
Markdown(f"What would matter: real scores rise more steeply than random ones in {steeper} of {len(of_largest)} panels.")

# %%
page.plot(second, "soft_figure2_slopes_plot", only=["soft_c10"], caption="Change of the score per doubling.")

# %% [markdown]
# **What differs and why.** The models differ, and long texts are cut at the window of their classifier. NS and NC divide by what
# erasing the whole text costs; inputs for which that is not positive have no score and are left out.

# %% [markdown]
# ## Figure 3: diagnosticity by rationale length
#
# **What the paper shows.** Diagnosticity, the share of inputs on which a metric scores a real attribution strictly
# above a random one, for NS and NC at every length (mean over methods), with Soft-NS and Soft-NC as level lines because
# they have no length. The paper reads from it that diagnosticity does not grow with the length and tends to fall for long
# rationales, and that on Evidence Inference and MultiRC both soft metrics are above both hard ones.
#
# **Our run.** Each method's value is compared with that of the random attribution on the same input, training run and length.

# %%
rows = pd.concat(by_length(metric, dataset=dataset) for dataset in tasks for metric in PAIRS)
soft = listed({(d, m): power(m, dataset=d) for d, m in product(tasks, PAIRS.values())}, ["dataset", "metric"])
names = {name: label(name) for name in (*tasks, *PAIRS, *PAIRS.values())}
looks = {name: (colour, "o") for pair, colour in zip(PAIRS.items(), PALETTE, strict=False) for name in pair}
layout = Layout(panel="dataset", series="metric", names=names, looks=looks, mark=0.5)
fig, alt = line_plot(pd.concat([rows, soft]), LENGTH, "diagnosticity", x="ratio", layout=layout, log=True)
caption = (
    "Share of inputs on which a metric puts the real attribution strictly above the random one, mean over five methods. Dashed: "
    "the soft metrics. Bands: 95 % intervals. Dotted: one half, chance."
)
page.figure(fig, "soft_figure3", alt=alt, caption=caption, data=rows)

# %% [markdown]
# **First up, then down (c13).** The paper reads off its figure that on SST and on AG News the diagnosticity of both hard metrics
# first rises and then falls. We compare the middle of the five lengths with the shortest and with the longest.

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
        f"The same for long texts, with MiniLM (n = {texts:,} texts in the smaller set), mean over five methods. Dashed: the soft "
        "metrics. Bands: 95 % intervals."
    )
    return page.figure(fig, "soft_figure3_long", alt=alt, caption=caption, data=rows)


figure_of_long() if long else Markdown("*No long texts were measured.*")

# %%
Markdown(
    f"The claim on soft metrics (c11) is about long texts, so the verdicts on it and on Figure 3 rest on "
    f"{' and '.join(map(label, long)) or 'none here'}, not on {' and '.join(map(label, tasks))}."
)

# %% [markdown]
# **Ties do not count as wins.** With short rationales they are frequent: a real and a random attribution may pick the same
# token, and then their scores are the same number. A probability that rises counts as one that stays, so two attributions
# whose erasures both raise it are equal too; the number after the slash is the share of these ties. Ties alone can make a
# curve start low.

# %%
rows = []
for dataset in tasks:
    for metric in PAIRS:
        row = {"dataset": dataset, "metric": metric, "n": power(metric, dataset=dataset).ours.n}
        for ratio in RATIOS:
            tied = [power(at_length(metric, ratio), dataset=dataset, shows=what).ours.point for what in (TIE, LIMIT)]
            row[f"{ratio:.0%}"] = f"{tied[0]:.2f} / {tied[1]:.2f}"
        rows.append(row)
caption = "Share of ties between real and random by rationale length: all / those in which neither lost probability"
spaced = pd.DataFrame(rows).rename(columns=lambda column: column.replace("%", " %"))
page.listing(spaced, "soft_figure3_ties", caption=caption)

# %% [markdown]
# **Soft against hard on the long texts (c11).** Figure 3 prints no numbers; the published values are those of the paper's Table 3.
# Ties, lengths and the number of draws are open choices; we vary each one separately below. The long texts are substitutes,
# explained with MiniLM.


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
page.curve(
    curve,
    "soft_c11_curve",
    caption="The lowest of the four differences under each choice (above zero: the claim holds).",
) if long else None

# %% [markdown]
# **What differs and why.** As for Figure 2. Our soft scores average several draws where the paper has one; less noise favours
# them ({doc}`soft_deviations` measures by how much).

# %%
page.finish()
