# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What the released code changes

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.models.cards import cards
from faithbook.show.labels import label, labels
from faithbook.show.numbers import ENDS, listed, spoken, written
from faithbook.stats.chance import kept_shares
from faithbook.stats.estimate import FEWEST_CLUSTERS
from faithbook.stats.evidence_levels import OUR_QUESTION, display_label
from faithbook.stats.inference import Student
from faithbook.stats.verdict import direction
from faithbook.studies.soft import zhao_aletras_deviations as deviations
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft import zhao_aletras_pipeline as pipeline
from faithbook.studies.soft.zhao_aletras_deviations import AS_CODED, CHOICES, METRICS, RANKS, SOFT
from faithbook.studies.soft.zhao_aletras_diagnosticity import AFTER, BEFORE, METHODS, WIN
from faithbook.studies.soft.zhao_aletras_tables import precision_of

page = start_page("soft_deviations", profile, values=values, paper="zhao_aletras_2023")
over = ["shows", "dataset", "method", "metric"]
measured = page.measure(
    "soft_metrics", parts=["", "lengths"], over=over, prepare=deviations.scored, bounds=(0, 1), firmest=True
)
among = {"parts": ["variants"], "over": ["shows", "variant", "dataset", "method", "metric"], "firmest": True}
tried = page.measure("soft_variants", prepare=deviations.wins_of_choices, bounds=(0, 1), **among)
tasks = [name for name in labels() if name in measured.levels("dataset")]
power = page.quantity("metric", method=METHODS, shows=WIN)
REFERENCE_PROFILE = "full"  # whose numbers the pages show
exchanged = tried.quantity("variant", "metric", method=METHODS, shows=AFTER)
short_texts = " and ".join(label(name) for name in labels() if name in tried.levels("dataset"))


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        "Soft metrics reward how much an explanation marks. A score of 1 for every token beats random scores on a share of "
        f"{spoken(power('soft_ns', method=diagnosticity.EVERYTHING), '.2f')} of the texts under Soft-NS and "
        f"{spoken(power('soft_nc', method=diagnosticity.EVERYTHING), '.2f')} under Soft-NC; the paper's methods do on "
        f"{spoken(power('soft_ns'), '.2f')} and {spoken(power('soft_nc'), '.2f')} (n = {power('soft_ns').ours.n})."
    )


page.in_short(in_short)

# %% [markdown]
# The paper {cite:p}`zhao_aletras_2023` and the code released with it (repository SoftFaith, commit cec6883) differ in
# ten places, D1 to D10. For each, this page states what the code does and what the paper says, and for those that could be
# replayed how far our own numbers move when one choice replaces the other. Of most we do not know whether the published tables were
# made with that state of the code; of one, scaled attention (D6), the printed digits point to it. Everywhere else in this book the
# paper's text is followed, except for the rules of DeepLIFT, which the text leaves open (below D10).
#
# One property of the metrics comes first, because the rest depends on it: soft metrics reward amounts.

# %% [markdown]
# ## Amounts, not orders
#
# A soft metric reads an attribution as an *amount* for every token. A token of importance $a$ keeps, on average, the
# share $a$ of its embedding elements under Soft-NS and loses that share under Soft-NC. The score therefore depends on
# two things: *which* tokens have high scores, and *how much* of the text is kept or removed in all.
#
# The extreme case shows it. Give every token $a = 1$. That says nothing about the text: no token is above any other.
# Soft-NS now drops nothing, so the prediction stays where it was; Soft-NC drops everything, so the probability falls as
# far as it does for the empty text. Both scores are 1, the value of a perfect explanation, whatever the text and
# whatever the model (where they are defined at all). How often is such an "attribution" put strictly above the random
# one? The 1 is set by hand, as the normaliser `none` would leave it (min-max scaling makes equal scores one half);
# the random scores are min-max scaled.

# %%
marks_everything = deviations.everything_beside_the_best(power, SOFT)
Markdown(
    f"An attribution of 1 for every token beats random scores (mean over data sets): {'; '.join(marks_everything)}."
)

# %% [markdown]
# Real attributions also differ in amount, but less. Min-max scaling sends the lowest score of a text to 0 and the
# highest to 1 and leaves the mean where it falls. Random scores have a mean near one half. A peaked attribution, one with
# few high scores and many low ones, has a mean near zero. It keeps and removes less than random scores do, and both
# metrics count that against it, whichever tokens it chose.

# %%
examples = load("soft_examples", profile)
importance = listed(kept_shares(examples), ["method"]).sort_values("estimate", ignore_index=True)
page.listing(
    importance[
        ["method", "n", *(ENDS if importance.n.min() >= FEWEST_CLUSTERS else ENDS[:1])]
    ],  # of so few no interval
    "soft_amount",
    caption="Mean min-max scaled importance, the share of embedding elements that Soft-NS keeps, on the n inputs of this run "
    f"whose token scores are stored ({', '.join(map(label, dict.fromkeys(examples.dataset)))})",
)

# %% [markdown]
# **The test.** Take the amounts away and see what is left. The normaliser `rank` gives a token the share of the other
# tokens of its text that score lower. The mean is then exactly one half for every attribution, real or random, and
# without ties the amounts are the same numbers in another order. Inputs, models, attributions and the
# random numbers of the draws stay as they were. If a soft metric rewarded order alone, diagnosticity would be nearly
# the same on both scales.

# %%
methods = [name for name in importance.method if name in METHODS]  # from the most peaked attribution to the flattest
orders = deviations.with_equal_amounts(exchanged, RANKS, SOFT, methods)
page.listing(
    orders[["metric", "method", "n", "min-max", "ranks", *ENDS]],
    "soft_amounts_orders",
    caption="Diagnosticity against random with amounts as min-max scaling gives them and with equal amounts (ranks); "
    f"*estimate*: ranks minus min-max on the same n inputs, with its 95 % interval; mean over {short_texts}, one training run",
)

# %%
fig, alt = pipeline.with_and_without_amounts(orders, SOFT, methods)
caption = (
    f"The same attributions with and without their amounts ({short_texts}; 95 % intervals over inputs). Methods run from "
    "the one with the lowest mean importance to that with the highest (first table). Dotted: one half."
)
page.figure(fig, "soft_amounts_orders_plot", alt=alt, caption=caption)

# %%
gains = {metric: exchanged(RANKS, metric) - exchanged(RANKS, metric, shows=BEFORE) for metric in SOFT}
alone = {
    metric: exchanged(diagnosticity.REAL_ALONE, metric) - exchanged(diagnosticity.REAL_ALONE, metric, shows=BEFORE)
    for metric in SOFT
}
decision = direction(Student.of([gain.ours for gain in gains.values()])).verdict.decision
Markdown(
    f"{page.badge(display_label(decision, OUR_QUESTION))} ({OUR_QUESTION}; {tried.evidence()}) Amounts count: with equal amounts, "
    "soft metrics prefer real attributions to random ones more often than with min-max amounts. Change of diagnosticity, "
    f"mean over methods: {'; '.join(f'{label(m)} {spoken(gain, n=True)}' for m, gain in gains.items())}. Random scores change "
    "scale as well; with those left at min-max and only the real attributions on ranks: "
    f"{'; '.join(f'{label(m)} {spoken(gain, n=True)}' for m, gain in alone.items())}."
)

# %% [markdown]
# **What follows.** A soft metric scores an attribution *together with* a normaliser. Where amounts count, a low score
# alone does not show that the wrong tokens were chosen. Order counts as well: with equal amounts, whatever separates
# real from random scores is their order. Wherever soft scores are compared, the normaliser has to be named. The paper
# asks for scores in the unit interval and does not say how they get there.
#
# Three limits. Ranks take away the sizes altogether, not only their mean. A metric made to use sizes then also loses
# what was meaningful in them, so the test shows that amounts count and not that ranks are the right scale. It cannot
# separate the mean of the amounts from their shape, since both are made equal. And only the short texts were scored
# on both scales.

# %% [markdown]
# ## How the effects are measured
#
# The same inputs, models and attributions are scored under the paper's choice and under the other, on the short texts.
# Two differences are reported, always *other choice minus paper's choice*: of diagnosticity, and of the mean score, each
# over the methods that the choice touches and over data sets. Where a choice moves which scores are defined, only inputs
# that are defined under both are compared, so that a change is the difference of the two values next to it. *One side only* is the share of
# comparisons that only one of the two defines. *Flips* is the share of comparisons between a real
# and a random attribution that change sides. In the tables *diagnosticity* is that with the paper's choice, *change* how much it changes, and
# *score* how much the mean score does, each change with its 95 % interval.
#
# Where the empty text costs hardly any probability, the scores divide by almost nothing. Mean scores are therefore over
# scores limited to [0, 1] (except in the row on clipping); *outside* is the share of scores that lay outside before.
# Diagnosticity compares scores as they are.


# %%
moved = page.measure("soft_variants", prepare=deviations.scores_of_choices, **among)
effects = deviations.effects_of_variants(exchanged, moved, CHOICES, METRICS, tried.material.units)


def effects_of(name, caption, *chosen):
    """The effects of some variants as a table; a sentence where they were not measured."""
    part = effects[effects.variant.isin(chosen)].drop(columns="variant")
    return page.listing(part, name, caption=caption, empty="*Not measured in this profile.*")


# %% [markdown]
# ## All effects at a glance

# %%
fig, alt = pipeline.variants_figure(effects, METRICS, {name: CHOICES[name] for name in effects.variant.unique()})
caption = (
    f"What each choice changes, other choice minus the paper's ({short_texts}; 95 % intervals over inputs). Dotted: no "
    "change."
)
page.figure(fig, "soft_deviations_effects_plot", alt=alt, caption=caption, data=effects)

# %% [markdown]
# ## D1: direction of the mask
#
# - *Code:* the wrapper in the released scripts passes the complementary probability to the Bernoulli mask: under soft
#   sufficiency a token with importance 0.9 keeps a tenth of its elements, under soft comprehensiveness nine tenths. A
#   second class in the same file, which nothing calls, has the direction of the paper. Established by running it.
# - *Paper:* Eq. 3 with $q = a$ for sufficiency and $q = 1 - a$ for comprehensiveness.
# - *Here:* `variant="released"` of `faithlib.masks.soft_keep`.
#
# With the direction inverted, each metric keeps what it should remove, and a higher value belongs to an attribution that
# marks the *wrong* tokens. With `minmax` it is the same as turning real and random scores upside down (exercise 8 of
# {doc}`../exercises`). If every comparison changed sides, diagnosticity would be mirrored about one half; amounts change
# as well, so that not all do, as the column of flips says.

# %%
effects_of("soft_d1", "D1, mask direction: effect on the soft metrics", "direction=released")

# %% [markdown]
# ## D2: normaliser of the scores
#
# - *Code:* Soft-NS passes raw scores through a sigmoid; Soft-NC sets protected positions to -1 and scales each row from
#   its minimum to its maximum, so that non-negative scores end up between $1/(1+\max)$ and 1. Established by running
#   it.
# - *Paper:* $q = a$ with a score $a$ in the unit interval; it does not state how raw scores get there.
# - *Here:* an explicit argument; `minmax` over an input's own tokens is the default, `sigmoid`, `released_ns` and
#   `released_nc` are the others.
#
# Scores that all lie near zero become 0.5 under the sigmoid: half of every embedding is dropped whatever the
# attribution is, and two attributions differ only a little.

# %%
effects_of(
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
#   start token for RoBERTa. The attention mask stays as it was, and so do separators and the query.
# - *Paper:* an all-zero sequence.
# - *Here:* embedding output of zero by default; `erase="pad"` uses the padding id instead. In the row below the hard
#   metrics erase by padding throughout; the soft metrics use padding only for the baseline. A baseline decides for
#   which inputs a score is defined at all, and shifts and stretches the scores of an input alike: on inputs that both
#   baselines define, a soft comparison can hardly change sides.

# %%
effects_of("soft_d3", "D3, baseline: padding ids instead of zero embeddings", "baseline=pad")

# %% [markdown]
# ## D4: a baseline that moves
#
# - *Code:* the stored baseline value is changed in place, a little at every call: 0.7 has become 0.6958 after 42 calls.
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
effects_of("soft_d5", "D5, rationale lengths: effect on the hard metrics", "ratios=released")

# %% [markdown]
# ## D6: scaled attention
#
# - *Code:* the attention weight times itself.
# - *Paper:* the attention weight times its gradient ($\alpha \nabla \alpha$).
# - *Here:* the attribution `scaled_attention` with `variant="released"`; only this method changes. The square of a
#   non-negative weight has the order of the weight, so the hard scores become those of plain attention.

# %%
effects_of("soft_d6", "D6, scaled attention: effect on that method alone", "scaled_attention=released")

# %% [markdown]
# **Which of the two was printed.** In the paper's Table 6 attention and scaled attention have nearly the same values. The next table has
# for each pair of methods how far their printed values differ over the cells (data set and metric), and how far ours do on the data sets
# that both have, with scaled attention by its gradient, as the text has it. The table after it has scaled attention squared as well, as
# the code has it.

# %%
printed6 = published.table("soft_table6").set_index(["dataset", "metric", "method"]).value
datasets_of_both = [name for name in tried.levels("dataset") if name in set(published.table("soft_table6").dataset)]
distances = pipeline.rows_apart(dict(printed6), deviations.cells_of_ours(power, tasks, METRICS, printed6))
page.listing(
    distances,
    "soft_d6_rows_apart",
    caption="How far the values of two methods (*one*, *other*) differ in Table 6, mean and largest distance over the cells: as printed "
    f"({len(printed6) // len(METHODS)} cells of each method) and ours (data sets of both; scaled attention by its gradient)",
)

# %%
as_coded = deviations.scaled_attention_as_coded(tried, exchanged, AS_CODED, printed6, datasets_of_both, METRICS)
page.listing(
    as_coded,
    "soft_d6_as_coded",
    caption="Diagnosticity of scaled attention as printed, ours by its gradient as the text has it, and ours squared as the code has it (95 % "
    "interval), on the same n inputs; next to them that of plain attention, printed and ours",
    empty="*Not measured in this profile.*",
) if AS_CODED in set(tried.levels("variant")) else Markdown("*Not measured in this profile.*")

# %%
nearest = distances.iloc[0]
equal = deviations.squared_beside_attention(as_coded)
Markdown(
    f"The two methods with the nearest printed values are {nearest.one} and {nearest.other}: {nearest['printed, mean']:.3f} apart on "
    f"average and {nearest['printed, most']:.3f} at most. Squared weights have the order of attention, so under hard metrics the two can "
    f"differ only by the drawing of the random scores{equal}. The gradient gives another method: on our models its values are "
    f"{nearest['ours, mean']:.3f} apart from those of attention on average. So the printed digits point to the released code. Our tables "
    "follow the text, and what they call scaled attention is probably another method than the printed one. The column *squared, as coded* "
    "has the one that was printed."
)

# %% [markdown]
# ## D7: gradients that leak across a batch
#
# - *Code:* gradients are collected per entry of the vocabulary and summed over a batch, so that two occurrences of a
#   word share one gradient, across inputs as well.
# - *Paper:* the gradient of the prediction of one input with respect to its own tokens.
# - *Here:* not replayed, since the result would depend on the composition of batches. Our attributions differentiate
#   with respect to embeddings, one row per input; a test compares batches with single inputs.
#
# ## D8: ties
#
# - *Code:* in most scripts a tie between the real and the random attribution counts as a win.
# - *Paper:* strictly greater (Eq. 6).
# - *Here:* strict, with the share of ties next to it. A probability that rises counts as one that stays, so two
#   attributions whose erasures both raise it tie "at the limit". The table has the data sets shown on this page and
#   counts a tie as no win, as half a win (with its interval), and as a whole one, as released.

# %%
strict = deviations.readings_of_ties(power, tasks, METRICS)
caption = (
    "Diagnosticity with ties as no win (*strict*), as half a win (*half*, 95 % interval) and as wins (*released*), mean over methods. "
    "*Reading*: which of the two is preferred, by the interval of *half*"
)
page.listing(strict, "soft_d8", caption=caption)

# %%
widest = strict.loc[strict.ties.idxmax()]
Markdown(
    f"Ties are most frequent for {label(widest.metric)} on {label(widest.dataset)} ({100 * widest.ties:.1f} % of the comparisons, "
    f"{100 * widest['at the limit']:.1f} % at the limit, n = {widest.n}): there the released rule gives {widest.released:.3f} where "
    f"the strict rule gives {widest.strict:.3f}."
)

# %% [markdown]
# ## D9 and D10: RoBERTa's positions and DeepLIFT's network
#
# - *Code, D9:* position numbers for RoBERTa start at 0; the model was trained with numbers that start at 2.
#   *Paper:* not stated. *Here:* the models' own code makes the positions, and a test runs a RoBERTa-shaped model. Nothing is
#   measured: a model with other positions than those it was trained with is a different model, and none of ours is a RoBERTa.
# - *Code, D10:* DeepLIFT runs on a copy of the network without attention mask, positions and layer normalisation.
#   *Paper:* DeepLIFT of the model. *Here:* the whole model, from the embedding output on. Not replayed: the copy is
#   another function, whose attributions say nothing about the model under study; the effect would be that of explaining
#   another model.
#
# **Which rules DeepLIFT follows** is a question of its own. Its paper {cite:p}`shrikumar_2017` wants a rule for every
# operation, so that scores add up to the change of the output. The released code calls captum {cite:p}`kokhlikyan_2020`,
# which has rules for modules of a few activation classes; of these models it finds the tanh of the pooler, and takes the
# plain gradient everywhere else. Study 1 does as the code does: captum computes DeepLIFT. Our library's own rules cover
# every operation of these models, and their scores add up. The table has captum's under "diagnosticity" and ours under
# "other choice", on the same inputs, models and random scores, for this one method. Much of what is reported of
# DeepLIFT, and of any mean over methods that includes it, depends on the implementation.

# %%
effects_of("soft_d10", "D10, DeepLIFT by exact rules: effect on that method alone", "deeplift=exact")

# %% [markdown]
# ## Two further choices: clipping and precision
#
# - *Code:* scores are clipped to the unit interval. *Paper:* a loss of probability counts as at least 0, the quotient
#   has no limits: NS can be negative and NC above 1. *Here:* as in the paper; `clip=True` does as the code does.
#   Clipping makes ties of all values beyond the limits.
# - Some runs of this book use half precision (bfloat16) to save time. The row compares it with single precision.

# %%
effects_of("soft_clip", "Clipping and precision: effect on all metrics", "clip=released", "dtype=bfloat16")

# %% [markdown]
# ## What else is not as in the paper
#
# Choices of ours, not of the released code. A dash in the last column: what it changes was not measured.

# %%
table1 = cards()
trained = table1[table1.dataset == "ag"]["train_size"]
computed_with = settings_of("soft_metrics", REFERENCE_PROFILE) | {"dtype": precision_of(page.run, measured)}
differences = deviations.other_choices_of_texts(computed_with, trained, deviations.texts_of(measured.frame, tasks))
page.listing(
    differences,
    "soft_deviations_others",
    caption="Further differences, with the place that measures them",
)

# %% [markdown]
# ## One draw or many
#
# A soft score is random: each embedding element is kept or dropped by chance. The paper draws once per input; this book
# averages over several draws. The table shows how a single draw changes the comparison with random: how many
# comparisons flip, and how diagnosticity moves (first draw minus mean of all). Draws of a real and a random attribution
# share their random numbers, which already makes a single draw steadier than independent draws would be.

# %%
single = deviations.single_draws(power, tasks, SOFT)
caption = "Share of comparisons that flip with one draw, and change of diagnosticity; 95 % intervals over n inputs"
page.listing(single, "soft_one_draw", caption=caption)

# %%
worst, most = single.loc[single.flips.idxmax()], single.loc[single.change.abs().idxmax()]
Markdown(
    f"With a single draw {100 * worst.flips:.1f} % of the comparisons with random change sides in {label(worst.metric)} on "
    f"{label(worst.dataset)} (n = {worst.n}), more than elsewhere. Diagnosticity moves most in {label(most.metric)} on "
    f"{label(most.dataset)}: by {written(most.change, '+.3f')} [{written(most.low, '+.3f')}, {written(most.high, '+.3f')}], n = {most.n}."
)

# %% [markdown]
# ## When diagnosticity is below one half
#
# Where ties are few, a diagnosticity below one half means that the metric puts the random scores above the attribution
# *more often than not*. Several of the paper's averages are below it:

# %%
table3 = published.table("soft_table3")
overall = table3[table3.dataset == "average"].set_index("metric").value
under = [f"{label(metric)} {value:.3f}" for metric, value in overall.items() if value < 0.5]
below_half = deviations.random_preferred(strict, METRICS)
Markdown(
    f"Published averages below one half: {', '.join(under) or 'none'}. Ours of the data sets shown on this page "
    f"({', '.join(map(label, tasks))}), ties as half a win and the whole interval below one half: "
    f"{'; '.join(below_half) or 'none'}."
)

# %% [markdown]
# There are two ways to read such a value, and the number cannot choose between them. Either the attribution is worse
# than chance under this metric, or the metric rewards something that random scores have and real ones lack. What random
# scores have is spread: their rationale is scattered over the text, and under min-max scaling their mean importance is
# near one half, while a peaked attribution keeps or removes far less. A larger *amount* can therefore raise a soft
# score, as the first section of this page shows.

# %%
page.finish(note=f"the exchanged choices are measured on {short_texts}")
