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
from IPython.display import Markdown, display

from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft import zhao_aletras_figures as figures
from faithbook.studies.soft.zhao_aletras_diagnosticity import WIN
from faithbook.studies.soft.zhao_aletras_tables import Compared, listing

page = start_page("soft_figures", profile, values=values, paper="zhao_aletras_2023")
table3 = published.table("soft_table3").query("dataset != 'average'")
measured = page.measure(
    "soft_metrics",
    parts=["", "lengths"],
    over=["shows", "model", "dataset", "method", "metric"],
    prepare=diagnosticity.counted_with_scores,
    printed=table3.assign(shows=WIN),
    bounds=(0, 1),
    n_resamples=1999,  # they decide claims of up to 40 parts; the curve judges many
)
compared = Compared.of(measured, order=table3["dataset"])
tasks, power = compared.tasks, compared.power
ratios = settings_of("soft_metrics", profile)["ratios"]

# %% tags=["remove-input"]
page.in_short(lambda: figures.in_short(compared, ratios))

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
scores = figures.scores_by_length(compared, ratios)
fig, alt = figures.drawn_scores(scores)
page.figure(
    fig,
    "soft_figure2",
    alt=alt,
    caption="Mean scores by rationale length, higher is better. Bands: 95 % intervals; black: random attribution. Scores are cut to 0 to 1, "
    f"as in the released code, which changes {100 * figures.share_outside(compared, ratios):.0f} % of them. n: {figures.texts_by_task_in_words(compared)}",
    data=scores.drop(columns="panel"),
)

# %% [markdown]
# **The trend as a number.** A straight line is fitted to the mean over the five methods against the logarithm of the
# length: the change of the score per doubling. A rising line means little: keeping or removing more tokens changes more,
# *whichever* tokens they are. Random scores rise for the same reason; the last column says how much steeper the real ones rise.

# %%
slopes = figures.slopes(compared, ratios)
page.listing(
    slopes,
    "soft_figure2_slopes",
    caption="Change of the mean score per doubling of the rationale, and the same minus that of random scores",
    wide=figures.slopes_in_words(slopes),
)

# %%
rises = diagnosticity.rises(power, tasks, ratios)
second = page.test({"soft_figure2": rises, "soft_c10": rises})
page.verdicts(second)

# %%
steeper, panels = figures.steeper_than_random(slopes, compared.model)
Markdown(
    f"Real scores rise more steeply than random ones in {steeper} of {panels} panels (MPNet); a rising line alone does not show that."
)

# %%
page.plot(
    second,
    "soft_figure2_slopes_plot",
    only=["soft_c10"],
    caption="Change of the mean score per doubling of the rationale, MPNet, 95 % intervals; "
    f"n: {figures.texts_by_task_in_words(compared)}",
)

# %% [markdown]
# **What differs and why.** The models differ, and long texts are cut at the window of their classifier. NS and NC divide by what
# erasing the whole text costs; inputs for which that is not positive have no score and are left out.

# %% [markdown]
# ## Figure 3: diagnosticity by rationale length
#
# **What the paper shows.** Diagnosticity, the share of inputs on which a metric scores a real attribution strictly
# above a random one, for NS and NC at every length (mean over methods), with Soft-NS and Soft-NC as level lines because
# they have no length. The paper reads from it that diagnosticity does not keep rising with the length and in general falls for long
# rationales; that on SST and AG News it first rises and then falls; and that on Evidence Inference and MultiRC both soft metrics are
# above both hard ones.
#
# **Our run.** Each method's value is compared with that of the random attribution on the same input, training run and length.

# %%
shares = figures.diagnosticity_by_length(power, tasks, ratios)
fig, alt = figures.drawn_diagnosticity(shares, power, tasks)
page.figure(
    fig,
    "soft_figure3",
    alt=alt,
    caption="Share of inputs on which a metric puts the real attribution strictly above the random one, mean over five methods. Dashed: "
    f"the soft metrics. Bands: 95 % intervals. Dotted: one half, chance. n: {figures.texts_by_task_in_words(compared)}",
    data=shares,
)

# %% [markdown]
# **First up, then down?** On SST and on AG News the paper sees this for both hard metrics. We compare the middle of the five lengths with the shortest and with the longest. Each of the eight differences is a
# statement of its own, so the verdict is *mixed* if some hold and others are contradicted.

# %%
fourth = page.test({"soft_c13": diagnosticity.rises_and_falls(power, tasks, ratios)})
page.verdicts(fourth)

# %%
page.parts(
    fourth,
    "soft_figure3_rise_parts",
    caption="Diagnosticity at the middle length minus that at either end, MPNet. *On its own*: whether this comparison alone is as the "
    "paper reads it",
)

# %% [markdown]
# **Ties do not count as wins.** With short rationales they are frequent: a real and a random attribution may pick the same
# token, and then their scores are the same number. A probability that rises counts as one that stays, so two attributions
# whose erasures both raise it are equal too; the number after the slash is the share of comparisons that are such ties. A curve can start
# low because of ties alone.

# %%
page.listing(
    figures.ties_by_length(compared, ratios),
    "soft_figure3_ties",
    caption="Share of comparisons that are ties between real and random, by rationale length, MPNet: all ties / those in which erasing lowers "
    "the probability under neither attribution",
)

# %% [markdown]
# ### Long texts
#
# The paper's claim on soft metrics in this figure is about its two long tasks, for which we have substitutes, explained with MiniLM.

# %%
long_tasks = figures.long_tasks(compared)
if long_tasks:
    on_long = figures.diagnosticity_by_length(power, long_tasks, ratios)
    fig, alt = figures.drawn_diagnosticity(on_long, power, long_tasks)
    caption = (
        f"The same for long texts, with MiniLM (n = {figures.fewest_texts(compared, long_tasks, ratios[0]):,} texts in the smaller set), mean "
        "over five methods. Dashed: the soft metrics. Bands: 95 % intervals. Dotted: one half, chance. *pair*, *section*: the substitutes "
        "named under *Data used*"
    )
    display(page.figure(fig, "soft_figure3_long", alt=alt, caption=caption, data=on_long))
else:
    display(Markdown("*No long texts were measured.*"))

# %%
Markdown(
    f"So the verdicts on this claim (c11) and on Figure 3 rest on {listing(long_tasks) or 'no data'}, not on {listing(tasks)}."
)

# %% [markdown]
# **Soft against hard.** Figure 3 prints no numbers; the published values are those of the paper's Table 3. How ties count, which lengths
# are averaged and how many masks are drawn are open choices. The second figure below varies them one at a time, and in one column counts
# ties as wins with a single draw, as the released code does.

# %%
by_reading = figures.gains_by_reading(compared, long_tasks, ratios)
curve = page.multiverse("soft_c11", diagnosticity.READ_AS, by_reading) if long_tasks else None
gains = figures.gains_on_long(compared, long_tasks)
third = page.test({"soft_figure3": gains, "soft_c11": gains})
page.verdicts(third)

# %%
page.plot(
    third,
    "soft_figure3_gains_plot",
    only=["soft_c11"],
    caption="Diagnosticity, soft minus hard, on the substitutes of the two long tasks, MiniLM, 95 % intervals; published: the paper's Table "
    "3, on its own data. At the right edge: the distance in standard errors",
)

# %%
page.curve(
    curve,
    "soft_c11_curve",
    caption="Diagnosticity, soft minus hard, on the long texts: the lowest of the four differences under each choice, with 95 % intervals. "
    "Above zero the claim holds",
    names=diagnosticity.CHOICE_NAMES,
) if long_tasks else None

# %% [markdown]
# **What differs and why.** As for Figure 2. Our soft scores average several draws where the paper has one; less noise favours
# them ({doc}`soft_deviations` measures by how much).

# %%
page.finish()
