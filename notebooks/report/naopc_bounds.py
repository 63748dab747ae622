# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What does normalising change?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from itertools import product

import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import listed, row_of, spoken
from faithbook.show.page import badge
from faithbook.show.tables import in_words, rounded
from faithbook.stats import comparison
from faithbook.stats.agreement import tau_of
from faithbook.studies.naopc import edin_bounds, edin_claims, edin_figures

page = start_page("naopc_bounds", profile, values=values, paper="edin_2025")
over = ["dataset", "length", "model", "method", "search", "metric"]
measured = page.measure("naopc_models", parts=["", "bounds"], prepare=edin_bounds.of_models, over=over)
mean = page.quantity("metric")
methods, datasets = edin_bounds.explained(measured.frame), measured.levels("dataset")
models = [name for name in page.run.settings["models"] if name in methods]
together = edin_bounds.together(measured.frame, models)
models_of_dataset = {dataset: group_models for group_models, sets in together for dataset in sets}
LENGTHS, KINDS = ("short", "long"), ("morf", "lerf")


# %%
def asked(name, over, specifications):
    """What the rule of a claim that {doc}`another page <naopc_released_outputs>` judges says of our models."""
    curve = page.multiverse(name, over, specifications)
    if not page.judges:
        return ""
    same = "{agreeing} of {specifications}".format(**curve.columns)
    return f"The rule of `{name}`, applied to these models: {badge(curve.frame['word'].iloc[0])} ({same} analysis variants)."


def taus(dataset, length, kind, ranked):
    """Kendall's tau of the two rankings of models within a method, or of methods within a model, on average."""
    names_on = models_of_dataset[dataset]
    groups = [[{"model": m, "method": n} for m in names_on] for n in (*edin_bounds.common(methods, names_on), "random")]
    if ranked == "methods":
        groups = [[{"model": m, "method": n} for n in (*methods[m], "random")] for m in names_on]

    def tau(group):
        both = [[mean(f"{score}_{kind}", **one, dataset=dataset, length=length).ours for one in group]
                for score in ("aopc", "naopc")]  # fmt: skip
        return tau_of(*both)

    of_groups = [tau(group) for group in groups]
    return comparison.Comparison(sum(of_groups[1:], of_groups[0]) / len(of_groups))


theirs = published.table("naopc_released_taus")
theirs = theirs[theirs.statistic == "kendall_tau_aopc_vs_naopc_mean"]
theirs = (
    theirs.assign(ranking=theirs.ranking.str.split("_").str[0]).groupby(["length", "ranking", "metric"]).value.mean()
)
NAMES = dict(zip(KINDS, ("comprehensiveness", "sufficiency"), strict=True))
ranks = pd.DataFrame(
    {"dataset": dataset, "length": length, "metric": f"aopc_{kind}", "ranking": ranked}
    | {"published": theirs[length, ranked, NAMES[kind]], **row_of(taus(dataset, length, kind, ranked))}
    for dataset, length, kind, ranked in product(datasets, LENGTHS, KINDS, ("models", "methods"))
)

EXACT = ("short",)  # texts whose bounds are exact
TEXTS = {"all texts": LENGTHS, "short texts": EXACT, "long texts": ("long",)}


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    agreement = ranks.groupby("ranking").agg(ours=("estimate", "mean"), published=("published", "mean"))
    return (
        "The rankings of the *models* by AOPC and by NAOPC agree at a mean Kendall's tau of "
        f"{agreement.ours['models']:.2f} (in the released outputs {agreement.published['models']:.2f}), the rankings of the *methods* "
        f"at {agreement.ours['methods']:.2f} ({agreement.published['methods']:.2f}); 1 means that normalising changes nothing "
        f"(n = {ranks.n.min():.0f} texts at least)."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`edin_2025` say that AOPC scores of two models cannot be compared, because the best and the worst
# order of removals give different scores to different models. We test this on five classifiers: encoders of three (`l3`), six (`l6`)
# and twelve layers (`mpnet`), an LSTM (`lstm`), and the encoder of six layers after adversarial training (`robust`). Only models that
# classified the same texts are compared.
#
# Words are the features, a removed word becomes the mask token, and the score is the probability of the predicted class.
# MoRF removes the most relevant word first (the paper's comprehensiveness), LeRF the least relevant first (its sufficiency).
#
# Two claims of the paper and two of a review page of it are judged on the authors' own files ({doc}`naopc_released_outputs`). This page
# applies their rules to our models as well (in brackets: how many of the analysis variants that decide anything have this answer),
# and judges a fifth claim, on adversarial training.

# %% [markdown]
# ## Bounds of each model
#
# **What is published.** The abstract says that AOPC depends on the model (naopc_c01).
#
# **Our run.** The bounds of short texts are exact; those of long texts come from beam search, so the true range can only be wider.
# NAOPC rescales each line of the figure to 0 to 1.

# %%
cells = [(dataset, length, model) for dataset in datasets for length in LENGTHS for model in models_of_dataset[dataset]]
bounds = {
    (dataset, length, model, bound): mean(bound, dataset=dataset, length=length, model=model)
    for dataset, length, model in cells
    for bound in ("lower", "upper", "range")
}
table = listed(bounds, ["dataset", "length", "classifier", "bound"])
page.listing(
    table,
    "naopc_bounds_models",
    caption=f"Mean bounds of AOPC and their range, with 95 % intervals; n = {table.n.min()} to {table.n.max()} texts",
    wide=in_words(table, ["dataset", "length", "classifier"], "bound", ".2f"),
)

# %%
fig, alt = edin_figures.ranges(table)
uppers = ", ".join(f"{m} {mean('upper', model=m).ours.point:.2f}" for m in models)
caption = "The range that AOPC can have: mean lower to mean upper bound of each model."
page.figure(fig, "naopc_bounds_plot", alt=f"{alt} Mean upper bounds: {uppers}.", caption=caption, data=table)

# %%
deviations = {
    (name,): {
        f"deviation of upper bounds over {len(group_models)} models": edin_claims.between_models(
            [mean("upper", model=m, length=of, dataset=sets) for m in group_models]
        )
        for group_models, sets in together
    }
    for name, of in TEXTS.items()
}
Markdown(asked("naopc_c01", ["texts"], deviations))

# %% [markdown]
# ## Rankings before and after normalising
#
# **What is published.** Normalising can change results radically (naopc_c02).
#
# **Our run.** Each method gives each model a mean AOPC, which ranks the models, and also the methods. Kendall's tau compares the
# ranking by AOPC with the ranking by NAOPC: 1 if nothing changes, −1 if it is reversed. Models are ranked by the methods that work on
# all of them: an LSTM has no attention maps.

# %%
page.listing(
    ranks,
    "naopc_rankings",
    caption="Kendall's tau between the rankings by AOPC and by NAOPC, with 95 % intervals: ours (published, in the authors' files)",
    wide=edin_bounds.rankings_in_words(ranks),
)


# %%
def moved(kind, length):
    """How far normalising moves models, mean over the groups of data sets whose models are the same."""
    of_groups = []
    for names_of, sets in together:
        names = [*edin_bounds.common(methods, names_of), "random"]
        of_groups.append(edin_claims.moved(mean, kind, names, names_of, length=length, dataset=sets))
    return comparison.mean(of_groups)


moves = {(name,): {NAMES[kind]: moved(kind, of) for kind in KINDS} for name, of in TEXTS.items()}
Markdown(asked("naopc_c02", ["texts"], moves))

# %% [markdown]
# ## Does adversarial training improve faithfulness?
#
# A review page of the paper says that an adversarially trained model looks more faithful than the standard one under AOPC and less
# faithful under NAOPC (naopc_c06). The released files have no such model. We trained one per data set on texts whose embeddings were
# shifted in the worst direction. It worked where the accuracy of `robust` falls later than that of `l6`:

# %%
CELL = ["dataset", "classifier", "radius"]
attacked = page.measure("naopc_models", parts=["robustness"], over=CELL, bounds=(0, 1))
accuracy, radii = attacked.quantity(*CELL), sorted(attacked.levels("radius"))
under_attack = [
    (dataset, name, radius) for dataset in datasets for name in models_of_dataset[dataset] for radius in radii
]
robustness = listed({cell: accuracy(*cell) for cell in under_attack}, CELL)
fig, alt = edin_figures.attacked(robustness, together)
caption = (
    "Accuracy when every embedding moves by a radius (share of its mean length) in the worst direction found by gradient descent. "
    f"Bands: 95 % intervals, n = {robustness.n.min()} texts."
)
page.figure(fig, "naopc_robustness", alt=alt, caption=caption, data=robustness)

# %% [markdown]
# Each part of the claim compares `robust` with `l6` on the same texts, averaged over attribution methods without random. We judge it on
# short texts, whose bounds are exact, because bounds from a beam can be off by as much as the claimed effect. The last figure varies
# what the review page leaves open: the texts, the order of removals (under LeRF lower is more faithful) and the method. Intervals do
# not include differences between training runs.


# %%
def turned(kind="morf", **cells):
    """The adversarially trained model minus the standard one under AOPC, the other way round under NAOPC."""
    sign = 1.0 if kind == "morf" else -1.0
    cells = {"method": pair, "dataset": on, "length": EXACT} | cells
    aopc, naopc = (mean(f"{s}_{kind}", **cells, model=hardened) - mean(f"{s}_{kind}", **cells, model=usual)
                   for s in ("aopc", "naopc"))  # fmt: skip
    return {"AOPC, adversarially trained minus standard": aopc * sign, "NAOPC, standard minus it": naopc * -sign}


def with_pair(sets):
    """Those of the data sets on which a standard and an adversarially trained model were both measured."""
    return [name for name in sets if any({*two} <= {*models_of_dataset[name]} for two in edin_bounds.HARDENED)]


both, on = None, with_pair(measured.comparable()) or with_pair(datasets) or datasets
usual, hardened = next((two for two in edin_bounds.HARDENED if {*two} <= {*models_of_dataset[on[0]]}), (None, None))
if hardened:
    pair = edin_bounds.common(methods, [usual, hardened])
    both, every = turned(), "all but random"
    specifications = {("short texts", every, "MoRF"): both}
    specifications |= {(texts, every, "MoRF"): turned(length=of) for texts, of in TEXTS.items() if of != EXACT}
    specifications |= {(f"short texts, {label(d)}", every, "MoRF"): turned(dataset=d) for d in on if len(on) > 1}
    specifications |= {("short texts", label(method), "MoRF"): turned(method=method) for method in pair}
    specifications |= {(texts, every, "LeRF"): turned("lerf", length=of) for texts, of in TEXTS.items()}
    curve = page.multiverse("naopc_c06", ["texts", "method", "sum"], specifications)
tested = page.test({"naopc_c06": both})
page.verdicts(tested)

# %%
page.plot(
    tested, "naopc_adversarial", caption="The two parts of the claim: adversarially trained against standard model."
)

# %%
caption = "The lower of the claim's two differences under each choice; the claim needs both right of zero."
page.curve(curve, "naopc_c06_curve", caption=caption) if both else Markdown(
    "*This build has no adversarially trained model.*"
)

# %% [markdown]
# ## Scores by method
#
# Compare each method with *random*, whose NAOPC is not zero: zero is the worst order and not a random one. A review page says that 0
# means as bad as a random order (naopc_c05). We leave out DecompX, one of the paper's ten methods, because it needs a forward pass
# rewritten for each architecture. An LSTM has no attention maps, and DeepLIFT has no rule for its cells.

# %%
scores = {
    (score, name, method): mean(f"{score}_morf", method=method, model=name)
    for group_models, _ in together
    for score in ("aopc", "naopc")
    for name in group_models
    for method in (*methods[name], "random")
}
scores = listed(scores, ["score", "classifier", "method"])
fig, alt = edin_figures.scores(scores, together)
chance = mean("naopc_morf", method="random")
page.figure(
    fig,
    "naopc_methods_plot",
    alt=f"{alt} Random scores get a mean NAOPC of {chance.ours.point:.2f}.",
    caption="The same explanations before and after normalising, mean over data sets and lengths; 95 % intervals.",
    data=scores,
)

# %%
outside = load("naopc_model_scores", profile).drop_duplicates(["dataset", "classifier", "length", "method", "metric"])
outside, total = outside.groupby("length").outside.sum(), load("naopc_model_scores", profile).groupby("length").size()
outside_by_length = ", ".join(f"{outside[length]} of {total[length]} on {length} texts" for length in LENGTHS)
random_orders = (
    f"Random orders get a NAOPC of {spoken(chance, n=True)}. In this build {outside_by_length} were outside the bounds that the search had found "
    "(none can be outside exact bounds; an explanation can beat a beam). "
)
of = {(name,): {f"random, {m}": mean("naopc_morf", method="random", model=m, length=of) for m in models}
      for name, of in TEXTS.items()}  # fmt: skip
Markdown(random_orders + asked("naopc_c05", ["texts"], of))

# %% [markdown]
# ## Sufficiency in two conventions
#
# ERASER's sufficiency keeps a rationale and measures how far the probability falls; the paper's removes the least relevant words first.
# After $N-k$ removals in ascending order the top $k$ words remain, so both are means over the same curve. ERASER uses five
# short rationales (1 to 50 % of the words), the paper every length. Do they rank methods alike? Kendall's tau would be 1 for the same
# ranking and 0 for unrelated ones.

# %%
CONVENTIONS = {"eraser": "sufficiency_eraser", "ascending": "aopc_lerf"}
rows = []
for dataset, length, model in cells:
    labels = {"dataset": dataset, "length": length, "model": model}
    names = [*methods[model], "random"]
    both_ways = {way: [mean(m, **labels, method=n).ours for n in names] for way, m in CONVENTIONS.items()}
    rows.append(labels | {way: sum(one.point for one in of) / len(of) for way, of in both_ways.items()})
    rows[-1] |= row_of(tau_of(*both_ways.values()), "tau", "low", "high")


def both_conventions(table):
    """The table for readers: both means, and tau with its interval."""
    tau = [f"{one.tau:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in table.itertuples()]
    named = {"eraser": "ERASER", "ascending": "least relevant first"}
    means_of = {head: [f"{value:.2f}" for value in table[column]] for column, head in named.items()}
    where = {column: table[column].map(label) for column in ("dataset", "length", "model")}
    return pd.DataFrame(where | means_of | {"Kendall's tau": tau, "n": table.n.astype(int)})


conventions = pd.DataFrame(rows)
page.listing(
    conventions,
    "naopc_conventions",
    caption="Mean sufficiency in the two conventions (lower is better) and Kendall's tau between their rankings of methods, with 95 % interval",
    wide=both_conventions(conventions),
)

# %%
Markdown(
    f"The rankings agree but are not the same: tau is between {conventions.tau.min():.2f} and {conventions.tau.max():.2f} "
    f"(n = {conventions.n.min():.0f} to {conventions.n.max():.0f} texts)."
)

# %% [markdown]
# ## Beam against exact
#
# On short texts the exact bounds are known, and a review page says that beam search reproduces them (naopc_c03). `released` is the
# authors' search; `merged` counts equal sets of removed words as one entry and takes the best path over all visited sets. Errors cannot
# be negative: an interval that includes 0 says that the mean is not clearly above it.

# %%
over = ["dataset", "model", "search", "metric"]
shares = page.measure("naopc_models", parts=["bounds"], prepare=edin_bounds.of_shares, over=over, bounds=(0, 1))
share = shares.quantity("metric")
rows = []
for search in shares.levels("search"):
    means = {name: mean(name, search=search) for name in ("error_upper", "error_lower", "rows", "rows_exact")}
    rows.append({"search": search} | row_of(means["error_upper"], "upper_error", "upper_low", "upper_high"))
    rows[-1] |= row_of(means["error_lower"], "lower_error", "lower_low", "lower_high")
    rows[-1] |= {f"{end} off": share(f"off_{end}", search=search).ours.point for end in ("upper", "lower")}
    passes = {"forward passes": "rows", "of the exact search": "rows_exact"}
    rows[-1] |= {head: means[name].ours.point for head, name in passes.items()}
beams = pd.DataFrame(rows)


def one_line_each(table):
    """The searches for readers: error with interval and share off by more than 0.02 for each bound, forward passes."""
    shown = {"search": table.search}
    for bound in ("upper", "lower"):
        each = zip(*(table[f"{bound}_{column}"] for column in ("error", "low", "high")), strict=True)
        shown[f"error, {bound} bound"] = [
            f"{rounded(error, 4)} [{rounded(low, 4)}, {rounded(high, 4)}]" for error, low, high in each
        ]
        shown[f"off by more than 0.02, {bound}"] = [f"{off:.0%}" for off in table[f"{bound} off"]]
    return pd.DataFrame(shown | {head: [f"{number:,.0f}" for number in table[head]] for head in passes})


caption = "Beam search against exact bounds on short texts: mean error with 95 % interval, share of texts, forward passes per text"
counted = beams.astype(dict.fromkeys(passes, int))
page.listing(counted, "naopc_beams", caption=caption, digits=4, wide=one_line_each(counted))

# %%
first = sorted(beams.search, key=lambda search: search != edin_bounds.PUBLISHED_SEARCH)  # the paper's own
wide = {(search,): {f"{end} bound off by more than .02": share(f"off_{end}", search=search) for end in ("upper", "lower")}
        for search in first}  # fmt: skip
proved = {end: share(f"proved_{end}") for end in ("upper", "lower")}
Markdown(
    f"{asked('naopc_c03', ['search'], wide)} The error bound of the search held for a share of {spoken(proved['upper'], n=True)} of the "
    f"upper and {spoken(proved['lower'], n=True)} of the lower bounds."
)

# %%
widths = {
    (dataset, model, end): mean(f"beyond_{end}", dataset=dataset, model=model)
    for end in ("upper", "lower")
    for dataset in datasets
    for model in models_of_dataset[dataset]
}
certificates = listed(widths, ["dataset", "classifier", "end"])
page.listing(
    certificates,
    "naopc_certificates",
    caption="Error bound of the beam search on long texts: how far the upper and the lower bound can be off at most, means with 95 % intervals",
    wide=in_words(certificates, ["dataset", "classifier"], "end", ".2f"),
)

# %%
Markdown(
    f"The largest of these means is {certificates.estimate.max():.2f} (n = {certificates.n.min():.0f} texts at least). Where it is as large as the "
    "range between the bounds, in the first table, the NAOPC of long texts cannot be used to compare models."
)

# %%
page.finish()
