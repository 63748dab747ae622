# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The authors' own outputs, recomputed

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.engine.run import load, load_units
from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.analysis_plan import rule
from faithbook.judge.report import start_page
from faithbook.show.plots import Layout, dot_plot
from faithbook.stats.estimate import ALPHA
from faithbook.studies.naopc import edin_claims, edin_figures, edin_outputs, edin_tables
from faithbook.studies.naopc.edin_released import MODELS, read_packed

page = start_page("naopc_released_outputs", profile, values=values, paper="edin_2025")
released = edin_outputs.Recomputed.of(
    exact=load("naopc_released_exact", profile),
    beams=load_units("naopc_released", profile, part="beams"),
    scores=load_units("naopc_released", profile),
)
measured = page.measure(
    "naopc_released",
    parts=["", "exact"],
    prepare=edin_claims.claim_values,
    over=["dataset", "model", "method", "metric"],
    printed=edin_claims.published_values(),
    bounds=(-1, 1),
    n_resamples=1999,
)
beyond = page.measure(
    "naopc_released",
    parts=["exact"],
    prepare=edin_claims.outside_values,
    over=["dataset", "model"],
    bounds=(0, 1),
    n_resamples=1999,
)
mean, outside = page.quantity("metric"), beyond.quantity("model")
models = [name for name in MODELS if name in measured.levels("model")]
methods = [name for name in measured.levels("method") if name != "none"]
page.in_short(lambda: edin_outputs.in_short(released))

# %% [markdown]
# {cite:t}`edin_2025` published something rare: not only scores, but the outputs of six models for *every* subset
# of the words of short texts. With these outputs AOPC, its bounds and NAOPC can be computed without a model
# ({doc}`explained here <naopc_toy>`).
#
# **What is compared.** The authors print few numbers of these files, so we worked out each mean twice. *Files* is their procedure: another
# program of ours took the means of the values that they released. Such a number is *recomputed from the released files*, and not
# published. *Ours* is, for short texts, based on bounds and scores of our own, made from the released outputs. For long texts the outputs
# were not released, and both columns are means of the same released values, which can only confirm the sums
# ({ref}`how many are of which kind <naopc-shares>`). The numbers of one notebook of the authors are printed in its source;
# {ref}`another table <naopc-before-after>` has them next to ours.
#
# **Why numbers differ.** For each number that differs we looked for the change that gives the other one. The tables call these causes:
#
# - *search from 0*: the released search for upper bounds starts at 0, above what any order reaches for some texts;
# - *texts of one word*: such a text has no range between its bounds; its NAOPC was counted as 0, ours leaves it out;
# - *rounding*: released scores are rounded (single precision), which lifts some that are equal to a bound over it;
# - *scores not released*: some scores of the mean are not in the files; ours, which are not rounded, take their place;
# - *unknown sample*: which inputs were counted was not recorded;
# - *width not searched*: a width of the beam that this build did not search;
# - *unknown*: we found no cause.
#
# **Words.** *Sufficiency* on this page is the paper's: AOPC with the least important word first, where a low value is good. It is not
# ERASER's sufficiency {cite:p}`deyoung_2020`, which keeps the rationale and removes the rest. *Comprehensiveness* is AOPC with the
# most important word first. Both have the same two bounds, the lowest and the highest AOPC of any order. On pages about our own
# models they are called LeRF and MoRF (least, and most, relevant first).


# %% [markdown]
# ## What was released
#
# Six sentiment models: BERT {cite:p}`devlin_2019` and RoBERTa {cite:p}`liu_2019`, each fine-tuned on SST-2, on Yelp and
# on IMDB. All of them read the same texts of class *positive*; a feature is a word, and removing it means `[MASK]`. For
# each of the $2^N$ subsets of the $N$ words of a short text the files hold two logits; $p$ is the softmax probability of
# the positive class, whatever the model predicts. The release also has the attributions of ten methods, the authors' bounds
# and their scores, including those of long texts. A model has the name of its encoder and of the data that it was fine-tuned on:
# *BERT, Yelp* in a row of SST-2 is BERT, fine-tuned on Yelp, on texts of SST-2.

# %%
page.listing(
    edin_outputs.material(released.exact),
    "naopc_released_material",
    digits=1,
    caption="Short texts: their number, the words that can be removed, model outputs for all subsets of these, and texts that the model "
    "calls positive (p > 0.5)",
)

# %%
lengths = edin_tables.words_of_texts()
fig, alt = edin_figures.length_histograms(lengths)
caption = "Words of the long texts, as blanks separate them. Dashed: the mean."
page.figure(fig, "naopc_figure_lengths", alt=alt, caption=caption, data=lengths)

# %% [markdown]
# ## Bounds
#
# **What was released.** The largest and smallest AOPC of each text: over all $N!$ orders for short ones, by a beam of
# width 5 for long ones. 156 numbers: means over texts of both bounds, of the range between them, of words and of seconds.
#
# **Our run.** For short texts we compute both bounds by dynamic programming over the $2^N$ subsets (`exact_bounds`). If two
# programs disagree about a maximum, the *smaller* one has missed an order, or the *larger* one is a value that no order
# reaches. For long texts the outputs were not released, and both sides are the mean of the released bounds.

# %%
caption = "Means of bounds, words and seconds, from the files and ours"
page.listing(
    edin_outputs.compared_as_file(released.bounds, edin_outputs.BOUND_LABELS),
    "naopc_released_bounds",
    caption=edin_outputs.short_of_matching(released.bounds, caption),
    wide=edin_outputs.without_match(released.bounds, ["dataset", "model", "subset", "statistic"]),
)

# %%
caption = (
    "Released upper bounds that no order reaches: the AOPC of the best order, the released bound, what the released beam search found, "
    "and how much too high the released bound is"
)
page.listing(
    released.too_high,
    "naopc_released_too_high",
    caption=caption,
    empty="*No released upper bound is too high.*",
    wide=edin_outputs.too_high_shown(released.too_high),
)

# %%
Markdown(f"{edin_outputs.agreement_in_words(released.bounds)}\n\n{edin_outputs.too_high_in_words(released)}")

# %%
fig, alt = edin_figures.limits(released.both_limits)
caption = "Exact bounds of the same short texts, one line per model; dotted: as released. n = 66 texts of SST-2 and 339 of Yelp for each model."
page.figure(fig, "naopc_figure_limits", alt=alt, caption=caption)

# %%
gaps = edin_claims.gaps_between_models(mean, models)
page.quote("naopc_bounds", {"furthest pair": max(gaps.values(), key=lambda gap: gap.ours.point)})
means_of_bounds = edin_tables.numbers(released.bounds, "dataset", "length", "model", "subset", "statistic")
claims = {
    "naopc_released_bounds": means_of_bounds,
    "naopc_figure_upper_limit": means_of_bounds,
    "naopc_figure_lower_limit": released.largest_difference("lower"),
    "naopc_figure_lengths": None,
    "naopc_c01": edin_claims.deviations_of_upper(mean, models),
    "naopc_c07": edin_claims.deviations_of_place(mean, methods, models),
}
page.verdicts(page.test(claims))

# %% [markdown]
# **One AOPC, six meanings (c07).** The paper says that an AOPC is hard to read without the bounds of its model. The table takes one
# score on each data set, the mean over all models and methods. Its *place* between the mean bounds of a model is 0 at the lower and 1
# at the upper bound.

# %%
one_score = edin_outputs.one_score(mean, methods, models)
page.listing(
    one_score,
    "naopc_one_score",
    caption="One AOPC (comprehensiveness) and its place between the bounds of each model, n short texts",
    wide=edin_outputs.one_score_shown(one_score),
)

# %%
clear = sum(gap.ours.p_above(edin_claims.APART) <= ALPHA for gap in gaps.values())
furthest = max(gap.ours.point for gap in gaps.values())
Markdown(
    f"{edin_outputs.places_in_words(one_score)} Of the {len(gaps)} pairs of models on a data set, {clear} have mean upper bounds that "
    f"are clearly more than {edin_claims.APART:g} apart, the furthest by {furthest:.2f}."
)

# %% [markdown]
# ## Scores of ten methods
#
# **What was released.** AOPC and NAOPC of ten attribution methods as means over texts for each model, by exact bounds
# (short) and by beam 5 (long), and the share of values outside [0, 1].
#
# **Our run.** For short texts we order words by the released attributions, take the released outputs, and compute AOPC with the
# library and NAOPC with our bounds. A text of one word has no range and no NAOPC, so we leave it out. If the released
# attributions and outputs count the words of a text differently, we keep the released AOPC.

# %%
page.listing(
    edin_outputs.texts_left_out(released.exact, released.scores),
    "naopc_texts_left_out",
    caption="Short texts without a NAOPC of ours: those of one word, and those whose words the attributions and the outputs count "
    "differently",
)

# %%
page.listing(
    edin_outputs.compared_as_file(released.means, edin_outputs.SCORE_LABELS),
    "naopc_released_scores",
    caption="Mean scores that differ between the files and ours: how many of all means of a data set and score, why, and the largest "
    "difference. The download has every mean",
    wide=edin_outputs.where_scores_differ(released.means),
)

# %% [markdown]
# **Methods with nearly the same scores.** Two methods whose means are nearly the same may be one method under two names. The released
# DeepLIFT is nearly input × gradient: on a transformer the rules of the package that computes it concern few modules, and elsewhere it
# takes the plain gradient ({doc}`soft_deviations`, D10).

# %%
nearest = edin_outputs.nearest_methods_table(released.means)
page.listing(
    nearest,
    "naopc_rows_apart",
    caption="The methods whose mean AOPC are nearest to each other, from the files: mean and largest distance over n combinations of a "
    "model, a set of texts and a score (comprehensiveness or sufficiency)",
    wide=edin_outputs.nearest_shown(nearest),
)

# %%
panels = {kind: {method: mean(f"naopc_{kind}", method=method) for method in methods} for kind in edin_tables.KINDS}
fig, alt = edin_figures.methods_figure(panels)
caption = (
    "Mean NAOPC over both data sets and all models, short texts, with 95 % intervals of ours. Comprehensiveness: higher is better; "
    "sufficiency: lower is better."
)
page.figure(fig, "naopc_released_methods", alt=alt, caption=caption)

# %%
spread = edin_outputs.possible_and_reached(mean, methods, models)
caption = (
    "AOPC with the most important words first (the paper's comprehensiveness) that is possible on the short Yelp texts, and what ten "
    f"methods reach (random scores are one of them), by model (n = {spread.n.min()} texts). A model has the "
    "name of its encoder and of the data that it was trained on; all of them read the same Yelp texts."
)
page.overview(
    dot_plot(spread, "AOPC", layout=Layout(series="series", mark=0.0, width=7.5)), "naopc_overview", caption=caption
)

# %% [markdown]
# **NAOPC lies between 0 and 1**, by its definition. Released values are outside if a beam missed the best order, if single
# precision rounded, or if words were counted differently from the bounds. **A value of 0 means as bad as a random order**: this
# is from a review page and not from the paper. The bound is a minimum over orders, so 0 is the *worst* order. A random order
# does better, and how much better depends on the model's interactions ({doc}`naopc_toy` has simple functions).


# %%
curve = page.multiverse("naopc_c05", ["texts", "score", "bounds"], edin_claims.random_variants(mean, models))
claims = {
    "naopc_released_scores": edin_tables.numbers(released.means, "dataset", "length", "model", "method", "metric"),
    "naopc_c04": edin_claims.shares_outside(outside, models),
    "naopc_c05": edin_claims.random_by_model(mean, models),
}
second = page.test(claims)
page.verdicts(second)

# %%
Markdown(
    f"That NAOPC lies between 0 and 1 (c04) is judged to the letter: one value outside refutes it.\n\n{edin_outputs.agreement_in_words(released.means)}"
)

# %%
caption = (
    "Mean NAOPC of random attributions by model (comprehensiveness, short texts), which the claim says is zero; dotted: what still counts "
    "as zero. *Published*: recomputed from the released files."
)
page.plot(second, "naopc_released_claims_scores", only=["naopc_c05"], caption=caption)

# %%
caption = "Mean NAOPC of random attributions of the model where it is furthest from zero, by texts, score and bounds, with 95 % intervals."
page.curve(curve, "naopc_c05_curve", caption=caption)

# %% [markdown]
# ## Beam search
#
# **What was released.** How far the bounds of beams of width 1 to 50 are from the exact bounds of short texts, and how bounds
# of 99 long texts grow with the width. Results for widths other than 5 come from an older script; of these only the distance to the
# exact bounds was released.
# The table of 192 numbers also has an analysis of variants of the search that was made for this book; the verdict does not use it.
#
# **Our run.** The first two are from the released searches (of long texts: the first 99 of each data set in the authors' file, six
# widths). The third is from our own searches. *Released* is as in the paper's code, where entries
# that removed the same *set* in another order count as different. *Deduplicated* makes them one entry, *merged* also finds the
# best path through all visited sets, *pruned* is merged and tries four words per entry, and *adaptive* is merged and doubles
# the width until neither bound changes by more than 0.001.

# %%
Markdown(edin_outputs.widths_in_words(released))

# %%
caption = (
    "Errors of bounds and shares of bounds found exactly on short texts, by variant of the search: on a sample of 600 inputs (*files*) and "
    "on all (*ours*). A number counts as the same if it is within two standard errors"
)
page.listing(
    edin_outputs.compared_as_file(released.widths, edin_outputs.BEAM_LABELS),
    "naopc_released_beam",
    caption=edin_outputs.short_of_matching(released.widths, caption),
    wide=edin_outputs.without_match(released.widths, ["search_variant", "beam_size", "bound", "statistic"], digits=5),
)

# %%
cost = edin_outputs.search_costs(released.beams, released.exact)
n = len(released.exact)
fig, alt = edin_figures.search_cost_figure(cost)
caption = f"Mean error of either bound against the model outputs that a search needs, on n = {n:,} pairs of a model and a short text."
page.figure(fig, "naopc_released_beam_plot", alt=alt, caption=caption, data=cost.assign(n=n))

# %% [markdown]
# **Bounds of long texts as the beam grows.** The authors draw them as box plots, all together and each model and data set alone.
# Both sides are released values here. Their plotting script (`reports/compare_increasing_beam_sizes.py`) gives the models of
# SST-2 the names of those of IMDB and the other way round, so the rows of the released figures that say *SST2* show the models of
# IMDB and the reverse; ours have each model under its own name ({doc}`../errata`).

# %%
fig, alt = edin_figures.widths(read_packed("limits_widths"))
caption = (
    f"Upper and lower bounds of AOPC on {edin_outputs.fewest_long_texts()} long texts of each data set, by the width of the beam, as "
    "released (blue: upper bounds, orange: lower ones; boxes: quartiles; whiskers: 1.5 times their distance; single texts beyond are not drawn)."
)
page.figure(fig, "naopc_figure_beam_widths", alt=alt, caption=caption, data=edin_outputs.growing_limits())

# %%
growing = edin_tables.numbers(released.growing_widths, "dataset", "beam_size", "bound", "statistic")
claims = {
    "naopc_released_beam": edin_tables.numbers(released.released_widths, *edin_outputs.BEAM_LABELS),
    "naopc_figure_beam_all": growing,
    "naopc_figure_beam_single": growing,
    "naopc_c03": edin_claims.correlations_with_beam(mean, published.table("naopc_review")),
}
page.verdicts(page.test(claims))

# %% [markdown]
# ## Rankings under AOPC and NAOPC
#
# **What was released.** Kendall's $\tau$ between the ranking by mean AOPC and the ranking by mean NAOPC: of the six
# models, within a method, and of the ten methods, within a model. $\tau$ is 1 if normalising changes nothing. Also:
# the share of pairs of models that change their order. **Our run.** The same, with our scores, and with our exact bounds where the numbers
# from the files use exact ones.

# %%
page.listing(
    edin_outputs.compared_as_file(released.taus, edin_outputs.TAU_LABELS),
    "naopc_released_taus",
    caption=edin_outputs.short_of_matching(
        released.taus, "Agreements of rankings, from the files and ours (n methods, or pairs of models)"
    ),
    wide=edin_outputs.without_match(released.taus, edin_outputs.TAU_LABELS),
)

# %%
panels = released.panels()
fig, alt = edin_figures.rankings(panels)
caption = (
    "Ranks of pairs of a model and one of four methods, texts with p > 0.5, 1 the best. As in the released scripts, except that "
    "each panel has one data set: theirs of SST-2 also holds the texts of Yelp, and theirs of long texts those of the panels before."
)
page.figure(fig, "naopc_figure_rankings", alt=alt, caption=caption, data=edin_outputs.in_one_table(panels))

# %%
variants = edin_claims.moved_variants(mean, methods, models)
flips = page.multiverse("naopc_c02", ["texts", "bounds"], variants)
claims = {
    "naopc_released_taus": edin_tables.numbers(released.taus, "dataset", "length", "ranking", "metric", "bounds"),
    "naopc_c02": variants["both data sets", "exact"],
    "naopc_figure_ranking_short_comprehensiveness": released.ranks_again("sst2", "comprehensiveness"),
    "naopc_figure_ranking_short_sufficiency": released.ranks_again("sst2", "sufficiency"),
    "naopc_figure_ranking_yelp_comprehensiveness": released.ranks_again("yelp", "comprehensiveness"),
    "naopc_figure_ranking_yelp_sufficiency": released.ranks_again("yelp", "sufficiency"),
    "naopc_figure_ranking_long": released.numbers_ranked(),
    "naopc_figure_ranking_comprehensiveness_older": released.numbers_ranked("comprehensiveness"),
    "naopc_figure_ranking_sufficiency_older": released.numbers_ranked("sufficiency"),
}
page.verdicts(page.test(claims))

# %%
allowed = rule("naopc_figure_ranking_long").margin
Markdown(
    f"Of Kendall's $\\tau$: {edin_outputs.agreement_in_words(released.taus)}\n\n"
    f"The panels of long texts are judged with a tolerance of {allowed:g}: "
    f"{edin_outputs.agreement_in_words(released.ranked_means, within=allowed)}"
)

# %%
caption = (
    "How far normalising moves models, by texts and bounds: one minus the correlation over models of mean AOPC and mean NAOPC (0: "
    "nothing changes), the highest value of a score and a data set, with 95 % intervals."
)
page.curve(flips, "naopc_c02_curve", caption=caption)

# %% [markdown]
# The repository has two older ranking plots of long texts (`ranking_plot_comprehensiveness.pdf` and its twin). An earlier version of
# `reports/ranking_plot_long.py` saved one file for each data set and score; the commit that adds these two removes the others.
# We do not know which data set they show. The panels above have all three.
#
# ## Before and after normalising
#
# **What was released.** A script prints a table of explanations by model: means of AOPC and NAOPC over the short texts that a model
# calls positive, on Yelp and on SST-2. A notebook (`notebooks/normalization_before_after.ipynb`) draws 160 such means of four
# models as heat maps, bars and arrows. They are printed in its source, with two digits, and are of an earlier state of the results,
# whose files are no longer in the repository. So the numbers need not be the same.
#
# **Our run.** The same table with our scores and bounds, on the files as they are now.

# %%
explanations = released.explanations()
page.listing(
    explanations,
    "naopc_explanations",
    digits=2,
    caption="Mean AOPC and NAOPC by explanation and model, short texts with p > 0.5, by our scores and bounds (AttInGrad, which "
    "the authors' table leaves out, included)",
)

# %%
of_yelp = explanations[explanations.dataset == "yelp"].drop(columns="dataset")
fig, alt = edin_figures.before_after_maps(of_yelp)
caption = (
    "The short texts of Yelp before and after normalising: mean AOPC (left) and NAOPC (right) by method and model."
)
page.figure(fig, "naopc_figure_before_after", alt=alt, caption=caption, data=of_yelp)

# %%
earlier = edin_tables.beside_before_after(of_yelp)
page.listing(
    earlier.rename(columns={"value": "printed"}),
    "naopc_before_after",
    digits=2,
    caption="The 160 means in the source of the authors' notebook, of an earlier state of their results, and ours on the files of now",
)

# %%
Markdown(edin_outputs.before_after_in_words(earlier))

# %% [markdown]
# **What normalising does not make equal.** Random attributions do not look at the model, so a score that compares models should be about the
# same for all of them. NAOPC is not: 0 is the worst order and 1 the best, and where a random order is between them depends on the
# model.

# %%
random = edin_outputs.random_scores_by_model(mean, models)
page.listing(
    random,
    "naopc_random_by_model",
    caption="Random attributions: mean AOPC and NAOPC (comprehensiveness) by model, with 95 % intervals over n short texts",
    wide=edin_outputs.random_shown(random),
)

# %%
Markdown(edin_outputs.random_range_in_words(random, released.means))

# %% [markdown]
# ## What the review page says of the bounds
#
# The review page has a table of nine bounds, a reviewer's approximations. Ours are of the released short texts of SST-2 and of the
# two models fine-tuned on SST-2; it does not say which texts or models it means. Nothing was released of an LSTM.

# %%
review = edin_tables.review_bounds(released.limits, released.exact)
page.listing(
    review,
    "naopc_review_bounds",
    caption="Bounds that the review page states, and ours (mean over n short texts of SST-2)",
    wide=edin_outputs.review_shown(review),
)

# %%
page.verdicts(page.test({"naopc_review": None, "naopc_figure_before_after": None}))

# %% [markdown]
# ## How much of this is a check of ours
#
# Where both numbers are means of the same released values, that they are the same says that the sums are right, and no more.

# %%
counted_sides = released.shared_out()
page.quote("naopc_shares", counted_sides.iloc[-1].drop("table").astype(int).to_dict())
page.listing(
    counted_sides,
    "naopc_shares",
    caption="Numbers that were worked out twice, how many are the same to the last digit, and how many of them are based on bounds or "
    "scores of our own",
    wide=edin_outputs.shares_shown(counted_sides),
)

# %% [markdown]
# **What is not here.** The repository's later state, of the ACL version, has two more data sets: AG News (models
# `bert-base-uncased-ag-news`, `distilbert-base-uncased-ag-news` and `roberta-base-ag-news`) and SNLI (`bert-base-uncased-snli`,
# `distilbert-base-cased-snli` and `gpt2-snli-model1`), with bounds, scores, rankings, correlation tables and growing beams of each, and
# violin plots where box plots were before. None of these files is among those that we have: of five data sets this page has three.
# The attributions of long texts of Yelp and IMDB are not here either, and of the paper's own tables, which are not among the texts
# that this book was made from, we know only what the scripts compute.

# %%
fewer = settings_of("naopc_released", profile) != settings_of("naopc_released", "full")  # released texts than there are
page.finish(note="the authors' released values, commit 0976aa3; no model was run", of_its_run=fewer)
