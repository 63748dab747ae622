# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What the paper leaves open, and what it changes

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.engine.studies import settings_of
from faithbook.judge.report import start_page
from faithbook.show.numbers import spoken
from faithbook.studies.saco import wu_deviations as deviations
from faithbook.studies.saco import wu_figures
from faithbook.studies.saco.wu_deviations import NAMES, QUANTITIES, effects_of_some, settings_table

page = start_page("saco_deviations", profile, values=values, paper="wu_2024")
measured = page.measure(
    "saco_metrics",
    parts=["settings", "groups"],
    over=["dataset", "setting", "metric", "method"],
    prepare=deviations.varied,
    firmest=True,  # the paper's own images alone if some of them went through all settings
)
value = page.quantity("setting", "metric", "method")
base = deviations.base_of(measured.levels("setting"))
effects = deviations.effects_of_settings(value, base)
on_saco = deviations.on_saco(effects, list(base))
NOT_MEASURED = "*Not measured.*"

# %% tags=["remove-input"]
page.in_short(lambda: deviations.in_short(on_saco))

# %% [markdown]
# To compute SaCo one has to cut pixels into groups, erase a group, and compare pairs of groups. The paper
# {cite:p}`wu_2024` gives Algorithm 1 for the third step. The code released with it has 45 lines: the loop over pairs is
# included, and there is an ellipsis where groups are made and pixels erased. So both text and code leave open how
# the first two steps are done. This page lists the open points, S1 to S12, each with what the paper states, what we
# do, and how far the numbers move under another choice. We do not know which choice the printed tables were made with.

# %% [markdown]
# ## How the effects are measured
#
# Our main setting has pixels as features, maps of patches brought to pixels by bilinear interpolation, and ten
# groups with rounded bounds, weighted by the mean score of their pixels. Equal scores are in reading order, and the
# image's own mean replaces erased pixels. One point at a time is then changed, on the same images with the same
# model and the same
# maps. Two numbers are reported, always *other choice minus main setting*.
#
# - The **change** of a metric, averaged over the ten methods. The interval resamples images, each with both of its
#   values.
# - **Kendall's tau** between the ten methods' ranking in the main setting and in the other, by their means: 1 where
#   no two methods change places. Resamples are ranked again. Two methods that nearly tie change places easily, so
#   read the interval.
#
# Tables have both by metric, after the value in the main setting; other numbers of groups were measured with SaCo alone. *n* counts images.
#
# The other four metrics are those that the paper compares SaCo with: AUC, AOPC, LOdds, and AOPC with the least relevant
# pixels first, which the paper calls comprehensiveness ({doc}`../foundations/metrics`).

# %%
by_method = deviations.effects_by_method(value, base)


def effect_table(name, caption, *settings):
    """What these settings change, as one table of the page."""
    chosen = effects_of_some(effects, *settings)
    return page.listing(chosen, name, caption=caption, empty=NOT_MEASURED, wide=settings_table(chosen))


# %% [markdown]
# ## All effects at a glance

# %%
single_methods = by_method[(by_method.metric == "saco") & (by_method.method != "random")]
fig, alt = wu_figures.settings_figure(on_saco, single_methods, {name: NAMES[name] for name in base})
caption = (
    "What each choice changes in SaCo: its level (left; ticks are single methods) and the ranking of the methods "
    "(right); one model, 95 % intervals over images. S1 to S5: the points below. "
    f"n = {on_saco.n.min()} images"
)
page.figure(fig, "saco_deviations_plot", alt=alt, caption=caption)

# %%
Markdown(deviations.at_a_glance(on_saco))

# %%
caption = "Every effect by method: other choice minus main setting, with 95 % intervals over n images"
page.listing(by_method.assign(setting=by_method.setting.map(NAMES)), "saco_deviations_methods", caption=caption)

# %% [markdown]
# ## S1: groups of equal size
#
# - *Said:* the pixels are divided into $K$ equally sized groups.
# - *Open:* an image of 224 by 224 has 50,176 pixels, which neither 5, 10 nor 20 divides; nor do they divide the 784 of
#   our small images or the 12,544 of our photographs.
# - *Ours:* group $i$ holds the ranks from $(i-1)\,n/K$ to $i\,n/K$, rounded; sizes differ by one at most
#   (`remainder="spread"`). Measured: all remaining pixels go to the last group (`"last"`), or belong to none
#   (`"drop"`).
# - *Also ours:* a group's salience is the mean of its scores (`reduce="mean"`), not their sum as in Eq. 1. For groups
#   of one size the two agree. Where sizes differ, one pixel more makes a sum of positive scores larger, and a map
#   that is nearly flat is then weighted by group sizes and not by its scores. Measured: the sums (`"sum"`).

# %%
effect_table(
    "saco_s1", "S1, group sizes: other minus rounded bounds", "group sums", "last group larger", "rest dropped"
)

# %% [markdown]
# ## S2: from patches to pixels
#
# - *Said:* scores of patches are interpolated over the pixels.
# - *Open:* how. Bilinear interpolation makes a smooth map, in which a group is a blob with a soft edge through
#   several patches. With nearest neighbours a patch has one score and a group is made of patches, except the one
#   that is cut.
# - *Ours:* bilinear, corners not aligned. Measured: nearest neighbours; and no pixels at all, patches as features.
#   Integrated gradients and LRP score pixels, so only the last of the two concerns them.

# %%
effect_table("saco_s2", "S2, upsampling: other choice minus bilinear", "nearest", "whole patches")

# %% [markdown]
# ## S3: equal scores
#
# - *Said:* nothing.
# - *Open:* which of two pixels with equal scores comes first. After nearest-neighbour upsampling all pixels of a patch
#   are equal, and after clamping at zero all pixels that were below it.
# - *Ours:* in reading order, so the same on every machine. Measured: in random order, for both ways of
#   upsampling. Reading order cuts a patch into an upper and a lower part; chance scatters it.

# %%
effect_table("saco_s3", "S3, equal scores: other choice minus main setting", "random ties", "nearest, random ties")

# %%
shuffled = deviations.shuffled_alone(value).ours
Markdown(
    f"Shuffling alone, compared with nearest-neighbour upsampling instead of the main setting, changes SaCo by {spoken(shuffled, '+.3f')} "
    f"(n = {shuffled.n} images){deviations.clear_beside(shuffled, on_saco)}."
)

# %% [markdown]
# ## S4: what replaces erased pixels
#
# - *Said:* the mean of the image.
# - *Open:* of each channel or of all; before or after normalisation. Normalisation treats each channel by itself, so the
#   mean of a channel is the same pixel either way; a mean over all channels is not.
# - *Ours:* per image and channel. The grey substitute images have one channel, so the open part cannot matter there.
#   Measured: zero in normalised pixels, which is one colour for all images (the mean of the data set; for photographs
#   that of ImageNet, with which the encoder was made), and a blurred copy of the image.

# %%
effect_table("saco_s4", "S4, replacement: other choice minus the image's mean", "zero", "blur")

# %% [markdown]
# ## S5: the number of groups
#
# - *Said:* $K = 10$ in the case study; Table 2 has 5, 10 and 20. For the figures and for Table 1 no $K$ is given.
# - *Ours:* 10, because three cells of Table 1 equal cells of Table 2 at $K = 10$.
#
# Fewer groups are larger, so each erases more, and there are fewer pairs. All images that were cut this way, with all
# models, are on the {doc}`page of tables <saco_tables>`; the rows here have the same images and model as the rest of
# this page.

# %%
effect_table("saco_s5", "S5, number of groups: other number minus ten", "5 groups", "20 groups")

# %% [markdown]
# ## S6: equal drops
#
# - *Said:* a pair is fulfilled where the first group costs at least as much as the second. The released loop has the
#   same sign, so an equal pair counts fully in favour.
# - *Open:* nothing. But if a model's output does not change for any group, every explanation gets 1, the best score.
# - *Ours:* as said. `saco(..., ties="half")` gives equal pairs nothing. Measured on the images whose group values are
#   stored, a few of each data set.

# %%
equal = page.measure("saco_replayed", parts=["ties"], over=["dataset", "metric"], prepare=deviations.with_both_ways)
equal_drops = deviations.equal_drops(
    equal.quantity("dataset", "metric"), equal.levels("dataset"), equal.levels("metric")
)
page.listing(
    equal_drops.assign(quantity=equal_drops["quantity"].map(QUANTITIES)),
    "saco_s6",
    caption="S6, equal drops: share of pairs of groups whose drops are equal to the last bit, and the change of SaCo if equal pairs get "
    "nothing; mean over methods, n images. The file also has SaCo counted both ways, of whose level so few images say nothing",
    wide=deviations.equal_drops_in_words(equal_drops),
)

# %% [markdown]
# ## S7: constant maps
#
# - *Said:* nothing. The released loop divides by the sum of all weights, which is zero where all groups have the same
#   salience: it stops with an error.
# - *Ours:* such a map has no SaCo (NaN); it is left out of means, and n counts the maps that have one.
#   The other four metrics have a value even then, which depends on the tie rule alone.

# %%
main = page.measure("saco_metrics", over=["dataset", "model", "metric", "method"])
Markdown(f"Constant maps among those of all models and images: {deviations.constant_in_words(main.frame)}.")

# %% [markdown]
# ## S8: signed and non-negative maps in one table
#
# - *Said:* nothing.
# - *Open:* some methods give negative scores to pixels that count against the class, others clamp at zero or cannot be
#   negative. Both are put in one table. A signed map orders the unimportant end of the image by how much it argues
#   *against* the class; a clamped one leaves that end to the tie rule.
# - *Ours:* each method as its own paper has it, nothing clamped and nothing scaled afterwards. SaCo does not change when
#   scores are multiplied, nor, with groups weighed by means, when a constant is added to them. It does change when
#   negative scores are set to zero: groups at the lower end then have equal saliences, and their pairs no weight.
#
# The table has the maps that are stored for the images of this book. *Below zero* is the share of pixels with a
# negative score, *negative mass* the share of the sum of absolute scores that comes from them, both means over the stored
# maps. *Clamped* is the change of SaCo when negative scores are set to zero and the groups stay as they are, on n images of the full run;
# *maps* counts the maps that were stored when this page was made.

# %%
stored = load("saco_maps", profile)
clamped = page.measure("saco_replayed", parts=["signs"], over=["method"], prepare=deviations.clamping)
page.listing(
    deviations.signs(deviations.shares_below_zero(stored), clamped.mean),
    "saco_s8",
    caption="S8, signs: share of pixels below zero and share of absolute salience that is negative, of the stored maps; the change of SaCo with "
    "95 % interval when negative scores are set to zero, of n images",
)

# %% [markdown]
# ## S9: how much random scores vary
#
# - *Said:* random scores get zero in expectation.
# - *Open:* how far a single image, or a mean of some, deviates from that. With $K$ groups SaCo of unrelated scores and
#   drops is close to a rank correlation of $K$ pairs, whose standard deviation is $1/\sqrt{K-1}$: 0.50, 0.33 and 0.23 for 5,
#   10 and 20 groups. A mean over $n$ images has $1/\sqrt n$ of that.
# - *Ours:* the mean of five samples per image in the full run (the text mentions only one), and an interval at every
#   mean. The {doc}`page on random scores <saco_random>` has what we measured, and what it does to comparisons.

# %% [markdown]
# ## S10: the other four metrics
#
# - *LOdds.* The paper gives no formula. *Ours:* $\log p(y \mid \tilde x) - \log p(y \mid x)$, averaged over the steps, as
#   the work it cites has it {cite:p}`qiang_2022`; `lodds="odds"` takes the log-odds $\log p/(1-p)$ instead. Not measured.
# - *AUC.* "Accuracy" needs a label. *Ours:* the true one, so that an image that the model misclassifies adds next to
#   nothing, whatever the explanation.
# - *Comprehensiveness.* The paper removes the *least* salient pixels first, and lower is better; ERASER's
#   comprehensiveness {cite:p}`deyoung_2020` removes the *most* important ones, and higher is better. *Ours:* the paper's
#   is called `aopc_lerf` in code and prose, never comprehensiveness.
# - *Steps.* 0 to 100 % in steps of 10 %. AOPC could average over ten drops or eleven. *Ours:* ten; the first is zero for
#   every explanation.

# %% [markdown]
# ## S11: the ten methods
#
# - *Said:* their names and papers; details are in a supplement.
# - *Open:* options of every one of them. *Ours:* each as its own paper has it: integrated gradients explain the
#   probability, from the mean colour; relevance propagation starts at the logit; rollout and transformer attribution
#   take all layers. The docstrings of `faithlib.attribution._vit` have details, and name the options that released
#   code sets differently.
# - *A known trap:* in the released visualization code of {cite:t}`chefer_2021` "LRP" gave the same map as transformer
#   attribution, as [pull request 53](https://github.com/hila-chefer/Transformer-Explainability/pull/53) of that repository
#   reports. A test checks that no two of ours are the same. The table shows which are closest on the stored images.
# - *A limit of LRP:* the map of an image is decided by rounding. Its rule for products of two activations divides by sums that
#   nearly cancel, so that pixels changed by a millionth, or another processor, give another map and another SaCo, also in
#   double precision. Transformer attribution, which reads LRP's relevance of attention, moves by a tenth on some images; maps of
#   attention and gradients stay. SaCo of LRP on *one* image says nothing therefore; its mean over images is what pages show.

# %%
page.listing(
    deviations.most_alike(stored),
    "saco_s11",
    caption="S11: the five pairs of methods whose maps are most alike, and LRP with transformer attribution: Spearman's correlation over "
    "pixels, mean over the n stored images",
)

# %% [markdown]
# ## S12: models and images
#
# - *Said:* ViT-B, ViT-L, DeiT-B on ImageNet, CIFAR-10 and CIFAR-100; sizes are in a supplement.
# - *Open:* which weights, and how they were fine-tuned for CIFAR; those weights are not published. How many images.
# - *Ours*, except at the profile `paper`: three trainings of one small pretrained transformer on CIFAR; small
#   transformers of the paper's three kinds on substitute data. The `paper` profile names public ImageNet weights that
#   fit the description and fine-tunes them for CIFAR; the {doc}`overview <../paper2/overview>` has its requirements.
#   Not measured: other models are other functions.

# %% [markdown]
# ## What else is not as in the paper
#
# Choices of ours that the points above do not name.

# %%
full_run = settings_of("saco_metrics", "full")  # whose numbers the pages show
page.listing(
    deviations.other_choices_for_images(full_run, deviations.tried_on(measured.frame)),
    "saco_deviations_others",
    caption="Further differences, with the place that measures them",
)

# %% [markdown]
# **What is missing.** The ImageNet chart of Figure 4, all values of Tables 1 and 2 on ImageNet, and the supplement: its table of data sets,
# the enlarged Figure 4 and the proof of scale invariance (one line; {doc}`saco_figures`). ImageNet is not redistributable and was not at
# hand beyond the sample images of {doc}`saco_photographs`; the supplement is not among the texts that this book was made from.

# %% [markdown]
# ## A further choice: precision
#
# Study 1 runs its models in half precision (bfloat16) if the processor multiplies in it, which takes half the time;
# {doc}`its deviations <soft_deviations>` show what that changes. The rule is that half precision may move a quantity
# by no more than a twentieth of its interval. SaCo compares which of two drops is larger, and drops may be nearly
# equal. The first table shows what half precision does to each metric, the second how SaCo of each method fares under the rule.

# %%
effect_table("saco_precision", "Precision: bfloat16 minus float32", "bfloat16")

# %%
rule = deviations.precision_rule(value, base.get("bfloat16", "main"), by_method)
page.listing(
    rule,
    "saco_precision_rule",
    caption="SaCo of each method in float32, what bfloat16 adds to it, and how large a part of the interval that is",
    empty=NOT_MEASURED,
)

# %%
within = (rule["of the interval"] < 1 / 20).sum()
Markdown(f"Moved by less than a twentieth of the interval: {within} of {len(rule)} methods." if len(rule) else "")

# %%
page.finish(note="effects: the first model of each data set; S7: all models and images")
