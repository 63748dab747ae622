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
from faithbook.show.tables import in_words
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
    return (
        f"Random scores have a SaCo of {beside(mean('saco', 'random'))}. SaCo and the four older metrics rank images with a rank "
        f"correlation of {spoken(comparison.mean(list(with_saco.values())), '.2f')} on average (published: {low:.2f} to {high:.2f}), "
        f"the four among themselves with {spoken(among, '.2f')} (published: {others:.2f}; n = {among.ours.n} images in the smallest "
        "cell)."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`wu_2024` say that metrics which erase pixels cumulatively cannot separate a good explanation of a
# Vision Transformer from random scores, and that theirs, SaCo, can. Their figures carry the argument: how SaCo relates
# to four older metrics, one image in detail, and all methods under all metrics.
#
# Our models are smaller than the paper's. The data sets are listed under *Data used*; {doc}`one page <saco_stand_ins>` compares
# photographs with {term}`substitute data`. Figures 1 and 3 use an image that may be shown to everybody.
#
# The four other metrics are AUC (area under the accuracy while pixels go, most relevant first; lower is better), AOPC,
# MoRF (mean loss of probability on the same path; higher is better), LOdds (mean log ratio of the probability on the
# same path; lower is better), and AOPC, LeRF (mean loss when the *least* relevant pixels go first; lower is better).
# The paper calls the last one "Comprehensiveness". It is the opposite of ERASER's, which removes what is most relevant.

# %% [markdown]
# ## Figure 1: two ways of erasing
#
# **What the paper shows.** One image, erased in two ways. Cumulatively: the most salient pixels, then also the next ones,
# until nothing is left. Group by group: each tenth of the pixels on its own. SaCo does the second, the four other metrics the
# first.
#
# **Our run.** This is an illustration without a published counterpart: the first image of one data set. It has the maps of all
# explanations, and then what the model sees. An erased pixel becomes the mean of its image.

# %%
pictures, maps, steps = (load(f"saco_{name}", profile) for name in ("pictures", "maps", "steps"))
picture = wu_figures.Picture.first(settings_of("saco_metrics", profile)["shown"], pictures, maps, steps)
fig, alt = wu_figures.maps(picture)
caption = (
    f"The explanations of one answer: {picture.described}. Dark to bright: maps without negative scores. Blue to red: "
    "signed maps, white is 0. Colours end where 99 % of the pixels do."
)
page.figure(fig, "saco_figure1_maps", alt=alt, caption=caption)

# %%
fig, alt = wu_figures.two_manners(picture)
caption = (
    f"The two ways of erasing, groups by {label(picture.erased_by)} (group 1 is the most salient; bottom left: "
    "dark is less salient). Numbers: the probability of the class predicted for the whole image."
)
page.figure(fig, "saco_figure1", alt=alt, caption=caption)

# %%
page.verdicts(page.test({"saco_figure1": None}))

# %% [markdown]
# **What differs and why.** The paper's image is a photograph of 224 x 224 pixels with patches of 16 pixels. Ours has 28 x 28
# pixels and patches of 4, so that a map has 49 cells before it is spread over the pixels. On images with a black background
# the mean is a grey that no pixel had: erasing does not only hide a stroke; it also paints grey on the black background.

# %% [markdown]
# **The scale of the scores (c13).** The paper says that SaCo stays as it is where all scores are multiplied by one positive number,
# and leaves the proof to a supplement that we do not have. It is one line: every weight $s(G_i) - s(G_j)$ of the numerator and of
# the denominator has the factor, which cancels, and no pair changes its order. A test on the stored explanations of this run:

# %%
alike = wu.scaled_alike(steps, measured.evidence(sorted(steps.dataset.unique())))
page.verdicts(page.test({"saco_c13": alike}))

# %% [markdown]
# ## Figure 2: how far the metrics agree on images
#
# **What the paper shows.** Every explanation of every image gets a score from each metric, and the metrics rank the
# images. The bars are rank correlations over images, averaged over data sets, methods and models: SaCo with each of
# the four others, and last the mean among those four. In the text: SaCo's range from .18 to .22, the mean among the
# others is .4764. Which bar has which value is not said.
#
# **Our run.** Correlations within each combination of data set, model and method (a *cell*), with all metrics sign-flipped so
# that higher is better, then the mean over cells. The paper does not say which rank correlation it used; we show Spearman's
# and also Kendall's tau-b, which corrects for ties. The ten methods of the paper count, and random scores are shown
# separately. A cell leaves out images whose SaCo is undefined, and a cell is left out if a metric gives all its images the
# same value. Intervals come from resampling images within their data set, each with all its models and methods.
#
# The paper correlates rankings because its metrics have different scales and directions. It does not say whether it
# sign-flipped them first. That matters for a metric which is better when lower: if it is not sign-flipped, its correlations
# with the others change sign. An image whose probability falls easily has a high AOPC in either order, which is good under
# MoRF and bad under LeRF. The analysis variants have every way to flip signs, and both coefficients.

# %%
bar_table = wu.bar_table(correlations)
page.listing(bar_table, "saco_figure2", caption="The bars of Figure 2: Spearman's correlation, and Kendall's tau-b")

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
    caption="Whether existing metrics agree more with one another than with SaCo, by which metrics are turned and which "
    "correlation is taken.",
)

# %%
claims = {
    "saco_c01": wu.differently(correlations),
    "saco_c02": wu.more_among_four(correlations),
    "saco_figure2": wu.more_among_four(correlations),
}
page.verdicts(page.test(claims))

# %%
Markdown(f"Published: {others:.4f} among the four, {low:.2f} to {high:.2f} with SaCo.")

# %% [markdown]
# **On random scores.** The value of a metric depends on the explanation and on the image: an image whose probability falls
# easily has a high AOPC under any explanation. With random scores only the image matters, so a correlation there is not about
# explanations.

# %%
four, rest = wu.bars(measured.each(wu.agreement("random")))
alone = comparison.mean(list(four.values()))
Markdown(
    f"On random scores the four existing metrics still agree with {rest.ours.point:.2f} on average, SaCo with them "
    f"{alone.ours.point:.2f}; over the paper's ten methods it is {among.ours.point:.2f} and "
    f"{comparison.mean(list(with_saco.values())).ours.point:.2f} (n = {rest.ours.n} images in the smallest set)."
)

# %% [markdown]
# **What differs and why.** AUC of a single image counts the erased copies that are still classified correctly, so it has 21
# possible values and many ties. If all copies of all images in a cell get the same class, the cell is left out. The paper
# does not say how it treated ties or how many images a cell has.

# %% [markdown]
# ## Figure 3: one image in detail
#
# **What the paper shows.** A linnet of ImageNet and ViT-B: Transformer Attribution, Raw Attention and random scores.
# Under all three the loss of probability stays above .9 once the top 30 % of the pixels are gone, so AOPC is high for
# all three. The groups erased one by one separate them: SaCo is high for Transformer Attribution, lower for Raw
# Attention, near zero for random scores.
#
# **Our run.** The image of Figure 1, with the first of its models (`base`, instead of ViT-B). It is the first image and not a
# chosen one, so it need not show the pattern; the verdict uses all photographs.

# %%
fig, alt = wu_figures.case_study(picture)
caption = (
    f"Case study on {picture.described} with probability {picture.facts.p_full:.2f} (model `{picture.facts.model}`). "
    "Dotted: .9, which the paper's cumulative losses stay above from the third group on."
)
page.figure(fig, "saco_figure3", alt=alt, caption=caption)

# %% [markdown]
# **A photograph of ImageNet.** The paper's linnet is not among the fifty sample photographs that we have; the first bird among them, a
# water ouzel, is asked of the transformer of CIFAR-10, which takes it for a bird. The photograph may not be passed on: the figure has its
# maps, a cell a patch, and its curves, from numbers that come with this repository (`data/imagenet_case.py` made them).

# %%
case_maps, case_groups = (published.our_table(f"imagenet_case_{name}") for name in ("maps", "groups"))
case = wu_figures.Case.of(case_maps, case_groups)
fig, alt = wu_figures.imagenet_case(case)
caption = (
    f"The case study on a photograph of ImageNet (water ouzel, not shown), taken for *{case.predicted}* with probability {case.p_full:.2f} "
    f"(model `{case.model}`). Random scores have no patches to draw. Dotted: .9."
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
Markdown(f"SaCo has the paper's order on {often.estimate:.0%} of all images, by chance on 17 %.")

# %% [markdown]
# **What differs and why.** The paper's image was chosen to make a point, ours is the first. A classifier of ten classes can
# keep its prediction on a grey image, because one class has to win; among a thousand classes an erased image seldom keeps its
# probability. Transformer Attribution of a small model need not behave like that of ViT-B, which is wider and has more
# layers.

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
# **Our run.** The same five metrics; random scores are the mean over a few samples. In the radar charts the worst method on an
# axis (random included) is at .1 and the best at 1, which makes small differences look large. The folded table has the values
# themselves, not sign-flipped.

# %%
shown_means = wu.every_mean(mean, datasets)
fig, alt = wu_figures.radar(shown_means, datasets)
caption = f"All methods under all metrics, as the paper draws it: {wu_figures.RADAR}"
page.figure(fig, "saco_figure4_radar", alt=alt, caption=caption)

# %%
page.listing(
    shown_means,
    "saco_figure4",
    caption="Mean score of every method under every metric, over models, with 95 % intervals over "
    f"{shown_means.n.min():,} to {shown_means.n.max():,} images: better is higher for SaCo and AOPC, MoRF, lower for the others",
    wide=in_words(shown_means.assign(metric=shown_means.metric.map(label)), ["dataset", "method"], "metric", ".3f"),
)


# %% [markdown]
# **Other choices.** We varied settings that the paper leaves open ({doc}`saco_deviations`) on a few images with the first
# model, and the number of groups on more images with all models. These are the analysis variants of c05 and c06; many are
# undecided because the images are few.


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
    caption="Random scores minus three methods under four metrics, by means as Figure 4 shows them, or by how often they do "
    "better, minus one half: the part that decides, by setting.",
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
    "Random scores: under SaCo their mean, which should be zero; under the existing metrics their mean minus that of "
    "three methods (metrics turned), which should not be clearly left of the dotted line."
)
page.plot(fourth, "saco_figure4_claims", only=["saco_c05", "saco_c06"], caption=caption)

# %%
page.parts(
    fourth, "saco_figures_parts", caption="Every part of the claims on Figure 4, metrics turned: higher is better"
)

# %% [markdown]
# **What differs and why.** Our models differ, and so do the images of {term}`substitute data`. Grey images of 28 x 28 pixels have
# large even backgrounds. Erasing background to the mean of the image changes the input more than in a photograph, and random
# scores erase background and object equally. Integrated Gradients use fewer steps than usual (the number is in
# the study's `study.py`). The means are over three trainings of one encoder on photographs. Other trainings would differ by
# more than the intervals, which cover the choice of images only.

# %%
page.finish()
