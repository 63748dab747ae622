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
from itertools import combinations

import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load, load_units
from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.analysis_plan import rule
from faithbook.judge.decide import SameNumber
from faithbook.judge.report import start_page
from faithbook.show.numbers import listed
from faithbook.show.plots import Layout, dot_plot
from faithbook.show.tables import pipe_table
from faithbook.stats.agreement import tau_b
from faithbook.stats.estimate import ALPHA
from faithbook.studies.naopc import edin_claims, edin_figures, edin_outputs, edin_tables
from faithbook.studies.naopc.edin_figures import NAMES, SETS
from faithbook.studies.naopc.edin_released import LONG, MODELS, SHORT, read_packed

page = start_page("naopc_released_outputs", profile, values=values, paper="edin_2025")
KINDS = edin_tables.KINDS
# The tables that this page has in common with the released files: the library's limits, scores and searches.
exact = load("naopc_released_exact", profile)
beams = load_units("naopc_released", profile, part="beams").astype({"id": int})
beams = beams.pivot(index=["dataset", "model", "id", "method", "width"], columns="metric", values="value").reset_index()
beams = beams.rename(columns={"method": "search"})
scores = load_units("naopc_released", profile).query("metric == 'aopc'").astype({"id": int})
limits = edin_tables.released_limits()
cells = edin_tables.cells_with_ours(edin_tables.released_cells(), scores.rename(columns={"value": "aopc"}))

measured = page.measure(
    "naopc_released",
    parts=["", "exact"],
    prepare=edin_claims.claim_values,
    over=["dataset", "model", "method", "metric"],
    printed=edin_claims.published_values(),
    bounds=(-1, 1),
    n_resamples=1999,
)
over = ["dataset", "model"]
beyond = page.measure(
    "naopc_released", parts=["exact"], prepare=edin_claims.outside_values, over=over, bounds=(0, 1), n_resamples=1999
)
mean, outside = page.quantity("metric"), beyond.quantity("model")
models = [name for name in MODELS if name in measured.levels("model")]
bounds = edin_tables.bounds_table(limits, exact)
high = edin_tables.too_high(limits, exact)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    off = edin_tables.differences(bounds)
    recomputed = bounds[bounds.ours.notna()]
    return (
        f"{len(recomputed) - off.numbers.sum()} of {len(recomputed)} means of limits, words and seconds in the authors' files are ours too. "
        f"Of {len(exact):,} upper limits of short texts {len(high)} are higher than any order of removals reaches, by up to "
        f"{high.excess.max():.3f}."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`edin_2025` published something rare: not only scores, but the outputs of six models for *every* subset
# of the words of short texts. With these outputs AOPC, its bounds and NAOPC can be computed without a model
# ({doc}`explained here <naopc_toy>`).
#
# **What is compared.** The authors print few numbers of these files. The means in the columns headed *files* were worked out for
# this book, by another program, from what they released: they are *recomputed from the released files*, and not published. Of
# short texts the column *ours* rests on limits and scores of our own, made from the released answers; of long texts the answers
# were not released, and both columns are means of the same released values, which can only confirm the sums. A
# {ref}`table below <naopc-shares>` has how many are of which kind. For each number that differs, the page says which change gives
# the other one. The numbers of one notebook of the authors are printed in its source; they stand
# {ref}`beside ours <naopc-before-after>`.
#
# "Sufficiency" on this page is the paper's: AOPC of the *ascending* order, least important word first, where a low value is
# good. It is not ERASER's sufficiency {cite:p}`deyoung_2020`, which keeps the rationale and removes the rest.
# Comprehensiveness and sufficiency have the same two bounds. On pages about our own models they are called MoRF and LeRF
# (most, and least, relevant first).


# %%
def compared(table, name, *names, caption, digits=4):
    """The rows that differ, with the cause; the file has all of them."""
    differing = edin_outputs.without_match(table, names, digits=digits)
    full_caption = f"{caption}: the {len(differing)} of {len(table):,} without a match; the file has all"
    return page.listing(edin_outputs.listed(table, names), name, caption=full_caption, wide=differing)


# %% [markdown]
# ## What was released
#
# Six sentiment models: BERT {cite:p}`devlin_2019` and RoBERTa {cite:p}`liu_2019`, each fine-tuned on SST-2, on Yelp and
# on IMDB. All of them read the same texts of class *positive*; a feature is a word, and removing it means `[MASK]`. For
# each of the $2^N$ subsets of the $N$ words of a short text the files hold two logits; $p$ is the softmax probability of
# the positive class, whatever the model predicts. The release also has the attributions of ten methods, the authors' bounds
# and their scores, including those of long texts.

# %%
page.listing(
    edin_outputs.material(exact),
    "naopc_released_material",
    caption="Short texts: how many, words to remove, outputs for subsets, texts that the model calls positive",
)

# %%
lengths = edin_tables.lengths()
fig, alt = edin_figures.lengths(lengths)
caption = "How long the long texts are, words between blanks. Dashed: the mean."
page.figure(fig, "naopc_figure_lengths", alt=alt, caption=caption, data=lengths)

# %% [markdown]
# ## Bounds
#
# **What was released.** The largest and smallest AOPC of each text: over all $N!$ orders for short ones, by a beam of
# width 5 for long ones. 156 numbers: means over texts of both bounds, their distance, the words, the seconds.
#
# **Our run.** For short texts we compute both bounds by dynamic programming over the $2^N$ subsets (`exact_bounds`). If two
# programs disagree about a maximum, the *smaller* one has missed an order, or the *larger* one is a value that no order
# reaches. For long texts the outputs were not released, and both sides are the mean of the released limits.

# %%
caption = "Means of bounds, words and seconds from the files, and ours, with the cause"
compared(
    bounds, "naopc_released_bounds", *["dataset", "length", "model", "search", "subset", "statistic"], caption=caption
)

# %%
caption = (
    "Released upper limits that no order reaches: the answer to the whole text, the highest that an order does reach, "
    "the released one, what the released beam found, and by how much the released one is too high"
)
page.listing(high, "naopc_released_too_high", digits=4, caption=caption, empty="*No released upper limit is too high.*")

# %%
right = edin_outputs.right_by_beam(high)
worst = "no upper limit is too high here" if high.empty else f"by up to {high.excess.max():.3f}"
Markdown(
    f"Of {len(exact):,} upper limits {len(high)} are too high, {worst}; of {right} of those the *beam search* in the same "
    "repository has the right value. All orders end in the empty text, so the last of the $N$ summands is the same for "
    "all of them; the released numbers are what comes out when the running maximum over the *other* $N - 1$ summands "
    "starts at 0 and not at minus infinity. That rule gives every released upper limit (a test checks each). It matters "
    "where a model gives the positive class hardly any probability to begin with, so that most removals raise it."
)

# %%
both = exact.merge(limits[limits.search == "exact"], on=["dataset", "model", "id"], suffixes=("", "_released"))
fig, alt = edin_figures.limits(both)
caption = "Exact bounds of the same short texts, one line per model. Dotted: as released."
page.figure(fig, "naopc_figure_limits", alt=alt, caption=caption)

# %%
upper = {(d, m): mean("upper", dataset=d, model=m) for d in SHORT for m in models}
gaps = {
    f"{SETS[d]}: {NAMES[a]} and {NAMES[b]} apart": abs(upper[d, a] - upper[d, b])
    for d in SHORT
    for a, b in combinations(models, 2)
}


def apart(bound):
    """The largest difference between a released bound and ours, by data set and model."""
    far = (both[bound] - both[f"{bound}_released"]).abs().groupby([both.dataset, both.model]).max()
    return {f"largest difference, {SETS[d]} by {NAMES[m]}": SameNumber(far[d, m], "0.0000") for d, m in far.index}


page.quote("naopc_bounds", {"furthest pair": max(gaps.values(), key=lambda gap: gap.ours.point)})
means_of_bounds = edin_tables.numbers(bounds, "dataset", "length", "model", "subset", "statistic")
claims = {
    "naopc_released_bounds": means_of_bounds,
    "naopc_figure_upper_limit": means_of_bounds,
    "naopc_figure_lower_limit": apart("lower"),
    "naopc_figure_lengths": None,
    "naopc_c01": {
        f"deviation of upper bounds over models, {SETS[d]}": edin_claims.between_models([upper[d, m] for m in models])
        for d in SHORT
    },
    "naopc_c07": {
        f"deviation of the place of one AOPC over models, {SETS[d]}": edin_claims.places(
            mean, [name for name in measured.levels("method") if name != "none"], models, dataset=d
        )
        for d in SHORT
    },
}
page.verdicts(page.test(claims))

# %% [markdown]
# **One AOPC, six meanings (c07).** The paper says that an AOPC is hard to read without the limits of its model. The table takes one
# score on each data set, the mean over all models and methods, and says how far it lies between the mean lower (0) and the mean
# upper limit (1) of each model.

# %%
one_score = {
    d: mean("aopc_comprehensiveness", method=[m for m in measured.levels("method") if m != "none"], dataset=d)
    for d in SHORT
}
placed = [
    {
        "dataset": d,
        "model": m,
        "AOPC": one_score[d].ours.point,
        "lower": mean("lower", dataset=d, model=m).ours.point,
        "upper": mean("upper", dataset=d, model=m).ours.point,
        "n": mean("upper", dataset=d, model=m).ours.n,
    }
    for d in SHORT
    for m in models
]
placed_table = pd.DataFrame(placed)
placed_table["place"] = (placed_table.AOPC - placed_table.lower) / (placed_table.upper - placed_table.lower)
page.listing(
    placed_table,
    "naopc_one_score",
    digits=2,
    caption="One AOPC (comprehensiveness) and its place between the limits of each model, n short texts",
)

# %%
clear = sum(gap.ours.p_above(edin_claims.APART) <= ALPHA for gap in gaps.values())
furthest = max(gap.ours.point for gap in gaps.values())
Markdown(
    f"Taken two by two, {clear} of {len(gaps)} pairs of models have mean upper bounds that are clearly more than "
    f"{edin_claims.APART:g} apart, the furthest by {furthest:.2f}.\n\n{edin_outputs.agreement_in_words(bounds)}"
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
    edin_outputs.texts_left_out(exact, scores),
    "naopc_texts_left_out",
    caption="Short texts without a NAOPC of ours: those of one word, and those whose words the attributions and the outputs count "
    "differently",
)

# %%
means = edin_tables.scores_table(cells, limits, exact)

# %%
caption = "Mean scores from the files and ours, with the cause"
compared(means, "naopc_released_scores", *["dataset", "length", "model", "method", "metric"], caption=caption)

# %% [markdown]
# **Rows that are nearly one.** A row whose digits are those of another method may be that method. The released DeepLIFT is nearly
# input × gradient: on a transformer the rules of the package that computes it concern few modules, and elsewhere it takes the plain
# gradient ({doc}`soft_deviations`, D10).

# %%
alike_rows = edin_tables.nearest_methods(means)
page.listing(
    alike_rows.assign(
        one=alike_rows.one.map(edin_figures.short_name), other=alike_rows.other.map(edin_figures.short_name)
    ),
    "naopc_rows_apart",
    caption="The methods whose mean AOPC lie nearest to each other, mean and largest distance over the cells of the files",
)

# %%
methods = [name for name in measured.levels("method") if name != "none"]
panels = {kind: {method: mean(f"naopc_{kind}", method=method) for method in methods} for kind in KINDS}
fig, alt = edin_figures.methods(panels)
caption = (
    "Mean NAOPC over both data sets and all models. Comprehensiveness: higher is better; sufficiency: lower is better."
)
page.figure(fig, "naopc_released_methods", alt=alt, caption=caption)

# %%
extremes = {("lower", "none"): "lowest possible", ("upper", "none"): "highest possible"}
reached = dict.fromkeys([("aopc_comprehensiveness", method) for method in methods], "ten methods")
spread = {
    (series, NAMES[m], method): mean(metric, dataset="yelp", model=m, method=method)
    for (metric, method), series in (extremes | reached).items()
    for m in models
}
caption = (
    "AOPC with the most important words first (the paper's comprehensiveness) that is possible on the short Yelp texts, and what ten "
    f"methods reach (random scores are one of them), by model (n = {min(one.ours.n for one in spread.values())} texts). A model has the "
    "name of its encoder and of the data that it was trained on; all of them read the same Yelp texts."
)
drawn = dot_plot(
    listed(spread, ["series", "row", "method"]), "AOPC", layout=Layout(series="series", mark=0.0, width=7.5)
)
page.overview(drawn, "naopc_overview", caption=caption)

# %% [markdown]
# **NAOPC lies between 0 and 1**, by its definition. Released values are outside if a beam missed the best order, if single
# precision rounded, or if words were counted differently from the bounds. **A value of 0 means as bad as a random order**: this
# is from a review page and not from the paper. The bound is a minimum over orders, so 0 is the *worst* order. A random order
# does better, and how much better depends on the model's interactions ({doc}`naopc_toy` has simple functions).


# %%
def by_chance(kind, naopc="naopc_{}", **labels):
    """NAOPC of random attributions, by model."""
    return {f"random, {NAMES[m]}": mean(naopc.format(kind), method="random", model=m, **labels) for m in models}


CHOICES = {"both data sets": list(SHORT), "SST-2": ["sst2"], "Yelp": ["yelp"]}
BOUNDS = {"exact": "naopc_{}", "beam 5": "naopc_{}_beam"}
tried = {
    (texts, kind, bounds): by_chance(kind, naopc, dataset=chosen)
    for bounds, naopc in BOUNDS.items()
    for texts, chosen in CHOICES.items()
    for kind in KINDS
}
curve = page.multiverse("naopc_c05", ["texts", "sum", "bounds"], tried)
claims = {
    "naopc_released_scores": edin_tables.numbers(means, "dataset", "length", "model", "method", "metric"),
    "naopc_c04": {f"share outside, {NAMES[m]}": SameNumber(float(outside(m).ours.point), "0") for m in models},
    "naopc_c05": by_chance("comprehensiveness"),
}
second = page.test(claims)
page.verdicts(second)

# %%
Markdown(
    f"`naopc_c04` is judged to the letter: one value outside refutes it.\n\n{edin_outputs.agreement_in_words(means)}"
)

# %%
page.plot(second, "naopc_released_claims_scores", only=["naopc_c05"], caption="What a claim says is zero.")

# %%
page.curve(curve, "naopc_c05_curve", caption="Random attributions by texts, by the sum, and by bounds.")

# %% [markdown]
# ## Beam search
#
# **What was released.** How far the bounds of beams of width 1 to 50 are from the exact bounds of short texts, and how bounds
# of 99 long texts grow with the width. The table of 192 numbers also has our own analysis of variants of the search, which the
# verdict does not use.
#
# **Our run.** The first two are from the released searches (of long texts: the first 99 of each data set in the authors' file, six
# widths). The third is from our own searches. *Released* is as in the paper's code, where entries
# that removed the same *set* in another order count as different. *Deduplicated* makes them one entry, *merged* also finds the
# best path through all visited sets, *pruned* is merged and tries four words per entry, and *adaptive* is merged and doubles
# the width until neither bound changes by more than 0.001.

# %%
widths = edin_tables.beam_table(limits, beams, exact)
compared(
    widths,
    "naopc_released_beam",
    *["comparison", "dataset", "search_variant", "beam_size", "bound", "statistic"],
    caption="Numbers about beams from the files and ours, with the reason (`beam_variants`: a sample; a match is within two "
    "standard errors)",
    digits=5,
)

# %%
cost = edin_outputs.search_costs(beams, exact)
n = len(exact)
fig, alt = edin_figures.search_costs(cost)
caption = f"Error against cost on {n:,} pairs of a model and a short text."
page.figure(fig, "naopc_released_beam_plot", alt=alt, caption=caption, data=cost.assign(n=n))

# %% [markdown]
# **Limits of long texts as the beam grows.** The authors draw them as box plots, all together and each model and data set alone.
# Both sides are released values here. Their plotting script (`reports/compare_increasing_beam_sizes.py`) gives the models of
# SST-2 the names of those of IMDB and the other way round, so the rows of the released figures that say *SST2* show the models of
# IMDB and the reverse; ours have each model under its own name ({doc}`../errata`).

# %%
grown = read_packed("limits_widths")
fig, alt = edin_figures.widths(grown)
texts_a_set = grown.groupby("dataset").id.nunique().min()
caption = (
    f"Upper and lower limits of AOPC on {texts_a_set} long texts of each data set, by the width of the beam, as released (boxes: "
    "quartiles; whiskers: 1.5 times their distance; single texts beyond are not drawn)."
)
widths_means = edin_tables.growing_beams().pivot(
    index=["dataset", "beam_size"], columns=["bound", "statistic"], values="value"
)
page.figure(fig, "naopc_figure_beam_widths", alt=alt, caption=caption, data=widths_means.reset_index())

# %%
review = published.table("naopc_review").query("statistic == 'pearson_beam_vs_exact'").set_index("metric").value
as_reviewed = {"upper": review["comprehensiveness"], "lower": review["sufficiency"]}
agreeing = {
    f"correlation of the {bound} bounds": edin_claims.correlated(mean, bound, printed)
    for bound, printed in as_reviewed.items()
}
released = widths[widths.comparison != "beam_variants"]  # these are a count of ours, beside the released files
growing = edin_tables.numbers(
    widths[widths.comparison == "increasing_beams"], "dataset", "beam_size", "bound", "statistic"
)
claims = {
    "naopc_released_beam": edin_tables.numbers(
        released, "comparison", "dataset", "search_variant", "beam_size", "bound", "statistic"
    ),
    "naopc_figure_beam_all": growing,
    "naopc_figure_beam_single": growing,
    "naopc_c03": agreeing,
}
page.verdicts(page.test(claims))

# %%
sampled = widths[widths.comparison == "beam_variants"]
without = pipe_table(widths.cause[widths.cause != ""].value_counts().rename("numbers").reset_index())
Markdown(
    f"{released.ours.notna().sum()} of the {len(widths)} numbers of the table are compared, each a mean of released values on both "
    f"sides. {len(sampled)} are a count made for this book on a sample of 600 inputs and not the authors': {sampled.match.sum()} "
    f"of them lie within two standard errors of ours. The rest, by the reason:\n\n{without}"
)

# %% [markdown]
# ## Rankings under AOPC and NAOPC
#
# **What was released.** Kendall's $\tau$ between the ranking by mean AOPC and the ranking by mean NAOPC: of the six
# models, within a method, and of the ten methods, within a model. $\tau$ is 1 if normalising changes nothing. Also:
# the share of model pairs whose order flips. **Our run.** The same, with our scores, and with our exact bounds where the numbers
# from the files use exact ones.

# %%
taus = edin_tables.taus_table(cells, limits, exact)
caption = "Agreements of rankings from the files and ours, with the cause"
compared(
    taus, "naopc_released_taus", *["dataset", "length", "ranking", "metric", "statistic", "bounds"], caption=caption
)

# %%
parts = {
    (texts, bounds): {
        f"{kind}, {SETS[name]}": edin_claims.moved(mean, kind, methods, models, naopc, dataset=[name])
        for kind in KINDS
        for name in chosen
    }
    for bounds, naopc in BOUNDS.items()
    for texts, chosen in CHOICES.items()
}
flips = page.multiverse("naopc_c02", ["texts", "bounds"], parts)
ranked = edin_tables.with_p_full(cells, limits)
by = {"beam": limits[limits.search == "beam"], "theirs": edin_tables.scored_by(limits)}
by["ours"] = edin_tables.scored_by(edin_tables.with_ours(limits, exact))
value = {name: edin_tables.normalised(ranked, table, no_range=0.0) for name, table in by.items()}
by_files = {
    name: edin_tables.normalised(ranked, by[table], no_range=0.0, aopc="aopc_files")
    for name, table in {"exact": "theirs", "beam": "beam"}.items()
}
panels, again = {}, {}
for kind in KINDS:
    for dataset in SHORT:
        part = ranked[(ranked.dataset == dataset) & (ranked.length == "short")]
        picked = {name: each.loc[part.index] for name, each in value.items()}
        filed = {name: each.loc[part.index] for name, each in by_files.items()}
        mine = edin_tables.ranks(part, kind, AOPC=part.aopc, exact=picked["ours"], beam=picked["beam"])
        theirs = edin_tables.ranks(part, kind, AOPC=part.aopc_files, **filed)
        panels[f"{SETS[dataset]} short, {kind}"] = mine
        again[dataset, kind] = {
            f"{NAMES[model]}, {method}, {score}": SameNumber(
                mine.loc[(model, method), score],
                f"{theirs.loc[(model, method), score]:.0f}",
                cause=edin_tables.FLOOR if score == "exact" else "",
            )
            for model, method in mine.index
            for score in mine
        }
    for dataset in LONG:
        part = ranked[(ranked.dataset == dataset) & (ranked.length == "long")]
        panels[f"{SETS[dataset]} long, {kind}"] = edin_tables.ranks(
            part, kind, AOPC=part.aopc, beam=value["beam"].loc[part.index]
        )

# %%
fig, alt = edin_figures.rankings(panels)
caption = (
    "Ranks of pairs of a model and one of four methods, texts with p > 0.5, 1 the best. As in the released scripts, except that "
    "each panel has one data set: theirs of SST-2 also holds the texts of Yelp, and theirs of long texts those of the panels before."
)
data = pd.concat([ranks.reset_index().assign(panel=title) for title, ranks in panels.items()])
page.figure(fig, "naopc_figure_rankings", alt=alt, caption=caption, data=data)

# %%
few = means[(means.length == "long") & means.method.isin(edin_tables.RANKED_METHODS)]
few_scores = {
    kind: edin_tables.numbers(few[few.metric.str.endswith(kind)], "dataset", "model", "method", "metric")
    for kind in KINDS
}
claims = {
    "naopc_released_taus": edin_tables.numbers(taus, "dataset", "length", "ranking", "metric", "bounds"),
    "naopc_c02": parts["both data sets", "exact"],
    "naopc_figure_ranking_short_comprehensiveness": again["sst2", "comprehensiveness"],
    "naopc_figure_ranking_short_sufficiency": again["sst2", "sufficiency"],
    "naopc_figure_ranking_yelp_comprehensiveness": again["yelp", "comprehensiveness"],
    "naopc_figure_ranking_yelp_sufficiency": again["yelp", "sufficiency"],
    "naopc_figure_ranking_long": edin_tables.numbers(few, "dataset", "model", "method", "metric"),
    "naopc_figure_ranking_comprehensiveness_older": few_scores["comprehensiveness"],
    "naopc_figure_ranking_sufficiency_older": few_scores["sufficiency"],
}
page.verdicts(page.test(claims))

# %%
allowed = rule("naopc_figure_ranking_long").margin
Markdown(
    f"Of Kendall's $\\tau$: {edin_outputs.agreement_in_words(taus)}\n\n"
    f"The panels of long texts are judged with a tolerance of {allowed:g}: {edin_outputs.agreement_in_words(few, within=allowed)}"
)

# %%
page.curve(flips, "naopc_c02_curve", caption="How far normalising moves models, by texts and bounds.")

# %% [markdown]
# The two older ranking plots (`ranking_plot_comprehensiveness.pdf` and its twin) are panels of long texts: the script that drew
# them, `reports/ranking_plot_long.py` before it joined its panels in one figure, saved one file for each data set and kind, and the
# commit that adds the two files takes those away. Which data set they show the history does not say; the panels above have all
# three.
#
# ## Before and after normalising
#
# **What was released.** A script prints a table of explanations by model: means of AOPC and NAOPC over the short texts that a model
# calls positive, on Yelp and on SST-2. A notebook (`notebooks/normalization_before_after.ipynb`) draws 160 such means of four
# models as heat maps, bars and arrows. They stand in its source, with two digits, and are of an earlier state of the results, whose
# files are no longer in the repository: so no number has to agree.
#
# **Our run.** The same table with our scores and bounds, on the files as they are now.

# %%
held = edin_tables.with_p_full(cells, limits)
own_limits = edin_tables.scored_by(edin_tables.with_ours(limits, exact))
explained = {dataset: edin_tables.explanations(held, own_limits, dataset) for dataset in SHORT}
table = pd.concat([means_of.assign(dataset=dataset) for dataset, means_of in explained.items()], ignore_index=True)
columns = ["dataset", "method", "model", "n"]
page.listing(
    table[[*columns, *(name for name in table.columns if "aopc" in name)]],
    "naopc_explanations",
    digits=2,
    caption="Mean AOPC and NAOPC by explanation and model, short texts with p > .5, by our scores and bounds (AttInGrad, which "
    "the authors' table leaves out, included)",
)

# %%
fig, alt = edin_figures.before_after(explained["yelp"])
caption = (
    "The short texts of Yelp before and after normalising: mean AOPC (left) and NAOPC (right) by method and model."
)
page.figure(fig, "naopc_figure_before_after", alt=alt, caption=caption, data=explained["yelp"])

# %%
earlier = edin_tables.beside_before_after(explained["yelp"])
page.listing(
    earlier.rename(columns={"value": "printed"}),
    "naopc_before_after",
    digits=2,
    caption="The 160 means in the source of the authors' notebook, of an earlier state of their results, and ours on the files of now",
)

# %%
near = int((earlier.gap <= 0.005 + 1e-9).sum())
alike = {metric: tau_b(part.value.to_numpy(), part.ours.to_numpy()) for metric, part in earlier.groupby("metric")}
orders = ", ".join(f"{metric.replace('_', ' ')} {float(tau):.2f}" for metric, tau in alike.items())
Markdown(
    f"{near} of {len(earlier)} are the same to the printed digit; the mean distance is {earlier.gap.mean():.3f} and the largest "
    f"{earlier.gap.max():.3f}. Kendall's tau of the forty pairs of a method and a model: {orders}."
)

# %% [markdown]
# **What normalising leaves apart.** Random attributions do not look at the model, so a score that compares models should give all of
# them about the same. NAOPC does not: its zero is the worst order and its one the best, and where between them a random order
# falls depends on the model.

# %%
by_model = {
    (dataset, model, metric): mean(f"{metric}_{kind}", method="random", model=model, dataset=dataset)
    for dataset in SHORT
    for model in models
    for kind in ["comprehensiveness"]
    for metric in ("aopc", "naopc")
}
page.listing(
    listed(by_model, ["dataset", "model", "score"]),
    "naopc_random_by_model",
    caption="Random attributions: mean AOPC and NAOPC (comprehensiveness) by model, with 95 % intervals over n short texts",
)

# %%
long_random = means[(means.length == "long") & (means.method == "random") & (means.metric == "naopc_comprehensiveness")]
short_random = [pair.ours.point for (_, _, metric), pair in by_model.items() if metric == "naopc"]
Markdown(
    f"On short texts random attributions have a NAOPC between {min(short_random):.2f} and {max(short_random):.2f} by model and data "
    f"set, on long ones between {long_random.ours.min():.2f} and {long_random.ours.max():.2f}."
)

# %% [markdown]
# ## What the review page says of the bounds
#
# The review page has a table of nine bounds, a reviewer's approximations. Ours are of the released short texts of SST-2 and of the
# two models fine-tuned on SST-2; it does not say which texts or models it means. Nothing was released of an LSTM.

# %%
page.listing(
    edin_tables.review_bounds(limits, exact),
    "naopc_review_bounds",
    digits=2,
    caption="Bounds that the review page states, and ours (mean over n short texts of SST-2)",
)

# %%
page.verdicts(page.test({"naopc_review": None, "naopc_figure_before_after": None}))

# %% [markdown]
# ## How much of this is a check of ours
#
# Where both sides are means of the same released values, agreement says that the sums are right, and no more.

# %%
tables = {"bounds": bounds, "scores": means, "agreement of rankings": taus, "beams": released}
shares = edin_tables.shared_out(tables)
page.listing(
    shares,
    "naopc_shares",
    caption="Numbers that are compared, and how many of them rest on our own limits or scores",
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
