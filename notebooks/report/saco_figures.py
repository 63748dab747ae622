# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do other metrics agree with SaCo? (Figures 1–4)

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%

import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import beside, spoken
from faithbook.show.tables import in_names, in_words
from faithbook.stats import comparison
from faithbook.stats.agreement import KENDALL, SPEARMAN
from faithbook.studies.saco import wu, wu_figures
from faithbook.studies.saco.wu import METHODS, SIGN

page = start_page("saco_figures", profile, values=values, paper="wu_2024")
table2 = published.table("saco_table2").query("k == '10'")
known = pd.DataFrame({"method": ["random"], "metric": ["saco"], "value": [0.0]})  # as the text says
measured = page.measure(
    "saco_metrics",
    over=["dataset", "model", "metric", "method"],
    prepare=wu.turned,
    firmest=True,  # the paper's own pictures alone where there are any
    printed=pd.concat([table2[["dataset", "method", "metric", "value"]], known]),
)
datasets, on = measured.levels("dataset"), measured.comparable()
mean = page.quantity("metric", "method", dataset=on)
(low, high), others = wu.printed_bars()
correlations = measured.each(wu.agreement(*METHODS))
with_saco, among = wu.bars(correlations)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    with_each = comparison.mean(list(with_saco.values()))
    even_less = among.ours.interval().high < with_each.ours.interval().low
    lead = (
        "Oriented so that higher is better, the older metrics agree less with one another than with SaCo. "
        if even_less
        else ""
    )
    return (
        f"{lead}Mean rank correlation over images: of SaCo with each of four older metrics {spoken(with_each, '.2f')} (published "
        f"{low:.2f} to {high:.2f}), of the four among themselves {spoken(among, '.2f')} (published {others:.2f}; n = "
        f"{among.ours.n:,} images or more). Random scores have a SaCo of {beside(mean('saco', 'random'))}."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`wu_2024` say that metrics which erase pixels cumulatively cannot separate a good explanation of a
# Vision Transformer from random scores, and that theirs, SaCo, can. Their figures carry the argument: how SaCo relates
# to four older metrics, one image in detail, and all methods under all metrics.
#
# Our models are smaller than the paper's, and our photographs are of CIFAR; {doc}`one page <saco_stand_ins>` compares them with
# {term}`substitute data`. SaCo erases groups of pixels one at a time. The four other metrics erase pixels cumulatively:
#
# - **AUC**: area under the accuracy while the most relevant pixels go first; lower is better.
# - **AOPC, MoRF**: mean loss of probability on the same path; higher is better.
# - **LOdds**: mean log ratio of the probability on the same path; lower is better.
# - **AOPC, LeRF**: mean loss when the *least* relevant pixels go first; lower is better. The paper calls it
#   "Comprehensiveness", which is the opposite of ERASER's.

# %% [markdown]
# ## Figure 1: two ways of erasing
#
# **What the paper shows.** One image, erased in two ways. Cumulatively: the most salient pixels, then also the next ones,
# until nothing is left. Group by group: each tenth of the pixels on its own. SaCo does the second, the four other metrics the
# first.
#
# **Our run.** An illustration: the first image of a substitute data set, which may be shown to everybody. First the maps of all
# explanations, then what the model sees. An erased pixel becomes the mean of its image.

# %%
pictures, maps, steps = (load(f"saco_{name}", profile) for name in ("pictures", "maps", "steps"))
picture = wu_figures.Picture.first(settings_of("saco_metrics", profile)["shown"], pictures, maps, steps)
fig, alt = wu_figures.maps(picture)
caption = (
    f"The explanations of one prediction: {picture.described}. Dark to bright: maps without negative scores. Blue to red: "
    "signed maps, white is 0."
)
page.figure(fig, "saco_figure1_maps", alt=alt, caption=caption)

# %%
fig, alt = wu_figures.two_manners(picture)
caption = (
    f"The two ways of erasing, groups by {label(picture.erased_by)} (group 1 is the most salient; bottom left: "
    "dark is less salient). Numbers: probability of the predicted class."
)
page.figure(fig, "saco_figure1", alt=alt, caption=caption)

# %%
page.verdicts(page.test({"saco_figure1": None}))

# %% [markdown]
# **What differs and why.** The paper's image is a photograph of 224 × 224 pixels with patches of 16 × 16. Ours has 28 × 28
# pixels and patches of 4 × 4. On images with a black background the mean is a grey that no pixel had: erasing does not only hide
# a stroke; it also paints grey on the black background.

# %% [markdown]
# **The scale of the scores (c13).** The paper says that SaCo stays the same if all scores are multiplied by one positive number,
# and leaves the proof to a supplement that we do not have. It is one line: every weight $s(G_i) - s(G_j)$ of the numerator and of
# the denominator has the factor, which cancels, and no pair changes its order. A test on stored explanations:

# %%
alike = wu.scaled_alike(steps, measured.evidence(sorted(steps.dataset.unique())))
page.verdicts(page.test({"saco_c13": alike}))

# %% [markdown]
# ## Figure 2: how far the metrics agree on images
#
# **What the paper shows.** Every explanation of every image gets a score from each metric, and the metrics rank the
# images. The bars are rank correlations over images, averaged over data sets, methods and models: SaCo with each of
# the four others, and last the mean among those four. In the text: SaCo's range from 0.18 to 0.22, the mean among the
# others is 0.4764. Which bar has which value is not said.
#
# **Our run.** Correlations within each combination of data set, model and method (a *cell*), with all metrics sign-flipped so
# that higher is better, then the mean over cells and over the paper's ten methods. The paper does not say which rank correlation
# it used; we show Spearman's and also Kendall's tau-b, which corrects for ties. Images whose SaCo is undefined are left out, so
# *n* is that of the smallest cell.
#
# The paper does not say whether it sign-flipped its metrics. That matters for a metric which is better when lower: if it is not
# flipped, its correlations with the others change sign. An image whose probability falls easily has a high AOPC in either order,
# which is good under MoRF and bad under LeRF. The figure below the bars shows what each choice gives.

# %%
bar_table = wu.bar_table(correlations)
names = {
    "estimate": "Spearman's correlation",
    "low": "Spearman's correlation low",
    "high": "Spearman's correlation high",
}
in_table = in_names(bar_table.rename(columns=names), 2)
page.listing(bar_table, "saco_figure2", caption="The bars of Figure 2, published and ours", wide=in_table)

# %%
fig, alt = wu_figures.agreements(bar_table, (low, high), others)
caption = "Agreement of metrics on images, mean over data sets, models and methods, with 95 % intervals. Orange lines: the published range."
page.figure(fig, "saco_figure2_plot", alt=alt, caption=caption)

# %%
TURNED = {"all": (), "all but AOPC, LeRF": ("aopc_lerf",), "none": tuple(metric for metric in SIGN if SIGN[metric] < 0)}
specifications = {
    (name, kind): wu.more_among_four(correlations, kind, back)
    for kind in (SPEARMAN, KENDALL)
    for name, back in TURNED.items()
}
curve = page.multiverse("saco_c02", ["turned", "correlation"], specifications)
page.curve(
    curve,
    "saco_c02_curve",
    caption="Agreement of the four among themselves minus that with SaCo, by which metrics are sign-flipped (*turned*) and by the "
    "correlation. Above zero: the claim holds.",
)

# %%
claims = {
    "saco_c01": wu.differently(correlations),
    "saco_c02": wu.more_among_four(correlations),
    "saco_figure2": wu.more_among_four(correlations),
}
page.verdicts(page.test(claims))

# %%
Markdown(
    "The paper does not report whether lower-is-better metrics are sign-flipped; the claim is shown under either choice."
)

# %% [markdown]
# **On random scores** only the image matters, so a correlation there is not about explanations.

# %%
four, rest = wu.bars(measured.each(wu.agreement("random")))
alone = comparison.mean(list(four.values()))
Markdown(
    f"With random scores the mean correlation among the four is {spoken(rest, '.2f')}, and with SaCo {spoken(alone, '.2f')} "
    f"(n = {rest.ours.n:,} images or more); with the paper's ten methods they are {spoken(among, '.2f')} and "
    f"{spoken(comparison.mean(list(with_saco.values())), '.2f')}."
)

# %% [markdown]
# **What differs and why.** AUC of a single image counts the erased copies that are still classified correctly, so it has 21
# possible values and many ties. The paper does not say how it treated ties or how many images a cell has.

# %% [markdown]
# ## Figure 3: one image in detail
#
# **What the paper shows.** A linnet of ImageNet and ViT-B: Transformer Attribution, Raw Attention and random scores.
# Under all three the loss of probability stays above 0.9 once the top 30 % of the pixels are gone, so AOPC is high for
# all three. The groups erased one by one separate them: SaCo is high for Transformer Attribution, lower for Raw
# Attention, near zero for random scores.
#
# **Our run.** The image of Figure 1. It is the first image and not a chosen one, so it need not show the pattern; the verdict uses
# all photographs.

# %%
fig, alt = wu_figures.case_study(picture)
caption = (
    f"Case study on {picture.described} with probability {picture.facts.p_full:.2f}. Dotted: 0.9, which the paper's cumulative "
    "losses stay above from the third group on."
)
page.figure(fig, "saco_figure3", alt=alt, caption=caption)

# %% [markdown]
# **A photograph of ImageNet.** The paper's linnet is not among the fifty sample photographs that we have. The first bird among them
# is a water ouzel, which our CIFAR-10 transformer takes for a bird. The photograph may not be passed on, so the figure has its maps,
# one cell per patch, and its curves (`data/imagenet_case.py` made them).

# %%
case_maps, case_groups = (published.our_table(f"imagenet_case_{name}") for name in ("maps", "groups"))
case = wu_figures.Case.of(case_maps, case_groups)
fig, alt = wu_figures.imagenet_case(case)
caption = (
    f"The case study on a photograph of ImageNet (water ouzel, not shown), taken for *{case.predicted}* with probability "
    f"{case.p_full:.2f}. Random scores have no patches to draw. Dotted: 0.9."
)
page.figure(fig, "saco_figure3_imagenet", alt=alt, caption=caption, data=case.groups)

# %%
Markdown(
    f"SaCo of this photograph: {', '.join(f'{label(name)} {value:+.2f}' for name, value in case.saco.items())}. One photograph "
    "decides nothing; it shows what the figure shows of the paper's."
)

# %%
of_all = page.measure("saco_metrics", over=["dataset", "model", "quantity"], prepare=wu.case_study, firmest=True)
asked = of_all.quantity("quantity", dataset=on)
*parts, share = of_all.levels("quantity")
often = asked(share).ours.interval()
page.verdicts(page.test({"saco_figure3": {name: asked(name) for name in parts}}))

# %%
Markdown(
    "SaCo has the paper's order (Transformer Attribution, then Raw Attention, then random) on "
    f"{100 * often.estimate:.0f} % [{100 * often.low:.0f}, {100 * often.high:.0f}] of all images; of six possible orders one is "
    "right by chance on 17 %."
)

# %% [markdown]
# **What differs and why.** The paper's image was chosen to make a point, ours is the first. A classifier of ten classes can
# keep its prediction on a grey image, because one class has to win; among a thousand classes an erased image seldom keeps its
# probability.

# %% [markdown]
# ## Figure 4: all methods under all metrics
#
# **What the paper shows.** A radar chart for each data set: an axis for each metric, rescaled so that outward is
# better, a polygon for each method, random scores in red; each value is the mean over three models. Three readings:
# SaCo puts random scores near zero (c05); under the existing metrics random scores compete with Partial LRP, Transformer
# Attribution and ATTCAT (c06); Integrated Gradients lead wherever the most salient pixels go first and come last where
# the least salient do (c07). The figure prints no values. SaCo of its third chart is the row $K = 10$ of Table 2
# ({doc}`saco_tables`).
#
# **Our run.** The same five metrics; random scores are the mean over a few samples. On each axis the worst method (random
# included) is at 0.1 and the best at 1, which makes small differences look large. The folded table has the values themselves.

# %%
shown_means = wu.every_mean(mean, datasets)
fig, alt = wu_figures.radar(shown_means, datasets)
caption = (
    "All methods under all metrics, as the paper draws it. Red: random scores. Green: gradient-based, orange: attribution-based, "
    "blue: attention-based methods."
)
page.figure(fig, "saco_figure4_radar", alt=alt, caption=caption)

# %%
wide_means = in_words(shown_means, ["dataset", "method"], "metric", ".2f").rename(columns=label)
wide_means["n"] = [f"{n:,}" for n in shown_means.groupby(["dataset", "method"], sort=False).n.min()]
page.listing(
    shown_means,
    "saco_figure4",
    caption="Mean score of every method under every metric (higher is better for SaCo and AOPC, MoRF, lower for the others)",
    wide=wide_means,
)


# %% [markdown]
# **Other choices.** We varied settings that the paper leaves open ({doc}`saco_deviations`) on a few images with one model, and
# the number of groups with all models. Many of these analysis variants are undecided, because the images are few.


# %%
zero = page.measure(
    "saco_metrics",
    parts=["", "groups", "settings"],
    over=["dataset", "model", "setting", "method"],
    prepare=lambda units: wu.by_setting(units[units.method == "random"]),
    firmest=True,
)
settings = sorted(zero.levels("setting"), key=lambda name: name != "main, all models")
tried = {(name,): wu.random_is_zero(zero.quantity("method", setting=name, dataset=on)) for name in settings}
c05 = page.multiverse("saco_c05", ["setting"], tried)
page.curve(c05, "saco_c05_curve", caption="Mean SaCo of random scores by setting; it should lie near zero.")

# %%
over = ["dataset", "model", "metric", "method", "ties"]
wins = page.measure("saco_metrics", over=over, prepare=wu.random_ahead, firmest=True)
over = ["dataset", "setting", "metric", "method", "ties"]
others_ = page.measure("saco_metrics", parts=["settings"], over=over, prepare=wu.random_ahead)
ahead = wins.quantity("metric", "method", ties="half", dataset=on)
specifications = {("main, all models", "means"): wu.competes_on_average(mean)}
specifications |= {
    ("main, all models", f"wins, ties count {kind}"): wu.competes(ahead, ties=kind) for kind in ("half", "none")
}
share = others_.quantity("metric", "method", ties="half", dataset=on)
tried = others_.frame[others_.frame.dataset.isin(on)].setting.unique()
specifications |= {
    (name, "wins, ties count half"): wu.competes(share, setting=name) for name in tried if name != "ranks"
}
c06 = page.multiverse("saco_c06", ["setting", "compared"], specifications)
page.curve(
    c06,
    "saco_c06_curve",
    caption="Random scores minus three methods under four metrics, by mean or by share of wins minus one half: the comparison that "
    "decides, by setting. Below zero: random scores do not compete.",
)

# %%
claims = {
    "saco_c05": wu.random_is_zero(lambda method: mean("saco", method)),
    "saco_c06": wu.competes_on_average(mean),
    "saco_c07": wu.integrated_gradients_lead(mean),
    "saco_figure4": wu.competes_on_average(mean),
}
fourth = page.test(claims)
page.verdicts(fourth)

# %%
caption = (
    "Random scores: their mean SaCo (c05 holds near zero), and their mean minus that of three methods under the other metrics, "
    "higher is better (c06 fails left of the dotted line)."
)
page.plot(fourth, "saco_figure4_claims", only=["saco_c05", "saco_c06"], caption=caption)

# %%
page.parts(
    fourth,
    "saco_figures_parts",
    caption="All comparisons of the claims on Figure 4, metrics oriented so that higher is better",
)

# %% [markdown]
# **What differs and why.** Our models and images differ, and Integrated Gradients use fewer steps than usual. The means are over
# three trainings of one encoder. Other trainings would differ by more than the intervals, which cover the choice of images only.

# %%
page.finish()
