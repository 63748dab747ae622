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
from faithbook.show.labels import label, short
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


# %%
def inside(title, shown):
    """An exhibit in a box that opens."""
    return Markdown(f":::::{{admonition}} {title}\n:class: dropdown note\n\n{shown.data}\n:::::")


def shortly(table):
    """A table for readers with the bare names of data sets: what they stand for differs between studies."""
    return table.assign(dataset=[name.partition(" (")[0] for name in table.dataset])


def counts(table):
    """The least and the largest number of texts of a table's cells, in words."""
    least, most = int(table.n.min()), int(table.n.max())
    return f"n = {least} texts" if least == most else f"n = {least} to {most} texts"


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    agreement = ranks.groupby("ranking").agg(ours=("estimate", "mean"), published=("published", "mean"))
    of_models = ranks[ranks.ranking == "models"].estimate.dropna()
    models_at, methods_at = (agreement.loc[ranked] for ranked in ("models", "methods"))
    changes = (
        "normalising AOPC reorders models more than it reorders methods. " if models_at.ours < methods_at.ours else ""
    )
    return (
        f"{changes}Kendall's tau between a ranking by AOPC and the same ranking by NAOPC (1: nothing changes) is {models_at.ours:.2f} on "
        f"average for models ({rounded(of_models.min(), 2)} to {rounded(of_models.max(), 2)} by data set, length and order of removal; in the authors' released files {models_at.published:.2f}) and {methods_at.ours:.2f} for attribution methods "
        f"({methods_at.published:.2f}); {counts(ranks[ranks.n > 0])} per ranking."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`edin_2025` say that AOPC scores of two models cannot be compared. The largest AOPC that any order of removals reaches, the *upper
# bound*, differs between models, and so does the smallest, the *lower bound*. NAOPC rescales AOPC so that the lower bound
# becomes 0 and the upper bound 1 ({ref}`formulas <bounds>`). The paper's claims are judged on the authors' own files
# ({doc}`naopc_released_outputs`). This page repeats the measurements on models of ours, and judges one claim about adversarial
# training.
#
# - **Models.** `l3`, `l6` and `mpnet` are encoders of three, six and twelve layers, `lstm` is an LSTM, and `robust` is `l6` after adversarial
#   training. Only models that classified the same texts are compared; `mpnet` alone classified those of SST.
# - **Removal.** Words are the features, a removed word becomes the mask token, and the score is the probability of the predicted class.
#   MoRF removes the most relevant word first (the paper's *comprehensiveness*; higher is better), LeRF the least relevant first (its
#   *sufficiency*; AOPC and NAOPC are better when lower).
# - **Texts.** The bounds of *short* texts, of at most twelve words, are exact. Those of *long* texts come from {term}`beam search`, so the
#   true range can only be wider. An article may give a short and a long text.
# - **Data sets.** `bbc` stands for the paper's IMDB here and `movie` for its SST-2. Where a figure says *bbc (for AG)*, it means `bbc`:
#   that label is from study 1.

# %% [markdown]
# ## Bounds of each model
#
# The paper's abstract says that AOPC depends on the model. Each line of the figure is the range of AOPC of one model; NAOPC rescales
# it to 0 to 1.

# %%
cells = [(dataset, length, model) for dataset in datasets for length in LENGTHS for model in models_of_dataset[dataset]]
bounds = {
    (dataset, length, model, bound): mean(bound, dataset=dataset, length=length, model=model)
    for dataset, length, model in cells
    for bound in ("lower", "upper", "range")
}
table = listed(bounds, ["dataset", "length", "classifier", "bound"])

# %%
fig, alt = edin_figures.ranges(table)
uppers = ", ".join(f"{m} {mean('upper', model=m).ours.point:.2f}" for m in models)
caption = f"The range that AOPC can have, from the mean lower to the mean upper bound (mark), on short and long texts; {counts(table)}."
page.figure(fig, "naopc_bounds_plot", alt=f"{alt} Mean upper bounds: {uppers}.", caption=caption, data=table)

# %%
inside(
    "The bounds in numbers",
    page.listing(
        table,
        "naopc_bounds_models",
        caption=f"Mean bounds of AOPC, and the range between them, with 95 % intervals; {counts(table)}",
        wide=shortly(in_words(table, ["dataset", "length", "classifier"], "bound", ".2f")),
    ),
)

# %% tags=["remove-cell"]
# Part of the frozen measure; the next cell says what it found.
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


# %%
def spread_of_bounds():
    """How far the models' upper bounds are apart, for each group that read the same texts."""
    said = []
    for names_of, sets in together:
        if len(names_of) == 1:  # nothing to compare with
            continue
        on = " and ".join(short(one) for one in sets)
        of_lengths = [
            f"{spoken(deviations[(f'{length} texts',)][f'deviation of upper bounds over {len(names_of)} models'], '.2f', n=True)} on {length} texts"
            for length in LENGTHS
        ]
        said.append(f"over the {len(names_of)} models on {on} it is {' and '.join(of_lengths)}")
    return (
        "The standard deviation of the mean upper bounds says how far models are apart. The bounds of a model are averaged over the data "
        f"sets first; {'; '.join(said)}."
        if said
        else ""
    )


Markdown(spread_of_bounds())

# %% [markdown]
# ## Rankings before and after normalising
#
# The abstract says that normalising can change results radically. The mean AOPC of each method on each model ranks the models within
# a method, and the methods within a model. The table compares these rankings with those by NAOPC: Kendall's tau is 1 if nothing changes
# and −1 if the ranking is reversed. Models are ranked by the methods that work on all of them; an LSTM has no attention maps.

# %%
page.listing(
    ranks,
    "naopc_rankings",
    caption="Kendall's tau between the rankings by AOPC and by NAOPC, mean over methods (models) with 95 % intervals; "
    f"{counts(ranks[ranks.n > 0])}. *Released*: the authors' files, mean over their data sets",
    wide=edin_bounds.rankings_in_words(ranks),
)


# %% tags=["remove-cell"]
# Part of the frozen measure: the same question by another statistic, undefined for a model without another one beside it.
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
# A review page of the paper (a public summary, written by others) says that an adversarially trained model looks more faithful than the
# standard one under AOPC and less faithful under NAOPC. The released files have no such model. We trained one per data set, `robust`, on
# texts whose embeddings were shifted so as to raise the loss. The figure checks that the training worked: under the same shift `robust`
# should keep more of its accuracy than `l6`.

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
    "Accuracy when every embedding is shifted to raise the loss; *radius*: length of the shift as a share of the mean length of an "
    f"embedding. Bands: 95 % intervals, n = {robustness.n.min()} texts per data set."
)
page.figure(fig, "naopc_robustness", alt=alt, caption=caption, data=robustness)

# %% [markdown]
# The claim has two parts, one on AOPC and one on NAOPC (MoRF). Each compares `robust` with `l6` on the same short texts, averaged over
# attribution methods. Both differences are oriented so that a value above zero is what the claim says. Intervals do not include
# differences between training runs.


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
    tested,
    "naopc_adversarial",
    caption="The two parts of the claim, with 95 % intervals; it needs both to be above zero.",
)

# %%
caption = (
    "The lower of the claim's two differences with other texts, single methods, and the other order of removal (*sum*), with 95 % "
    "intervals; the claim needs it to be above zero."
)
page.curve(curve, "naopc_c06_curve", caption=caption) if both else Markdown(
    "*This build has no adversarially trained model.*"
)

# %% [markdown]
# ## Scores by method
#
# The review page says that a NAOPC of 0 means as bad as a random order. It means as bad as the *worst* order: random scores get more, as the
# last row of the figure shows. So compare each method with *random*. DecompX, one of the paper's ten methods, is left out, because it
# needs a forward pass rewritten for each architecture; an LSTM has no attention maps, and DeepLIFT has no rule for its cells.

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
    caption="The same explanations before (AOPC) and after normalising (NAOPC), MoRF, mean over data sets and text lengths, with 95 % "
    f"intervals; {counts(scores)} in the smallest set.",
    data=scores,
)

# %% tags=["remove-cell"]
# Part of the frozen measure; its sentence is said anew in the next cell.
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


# %%
def random_scores():
    """What random scores get, over all models and from the model where it is least to that where it is most."""
    by_model = sorted(mean("naopc_morf", method="random", model=one).ours.point for one in models)
    return (
        f"Random scores get a mean NAOPC of {spoken(chance, '.2f', n=True)}, from {by_model[0]:.2f} to {by_model[-1]:.2f} by model. "
        "So a NAOPC has to be compared with that of random scores on the *same* model."
    )


Markdown(random_scores())


# %% tags=["remove-input"]
def below_random():
    """Methods whose mean NAOPC is below that of random scores on the same model."""
    of_score = scores[scores.score == "naopc"]
    random = of_score[of_score.method == "random"].set_index("classifier").estimate
    below = of_score[of_score.estimate < of_score.classifier.map(random)]
    if below.empty:
        return "No method has a lower mean NAOPC than random scores on the same model."
    each = "; ".join(
        f"{label(method)} on "
        + ", ".join(
            f"`{one.classifier}` ({one.estimate:.2f} against {random[one.classifier]:.2f}, n = {one.n:.0f})"
            for one in rows.itertuples()
        )
        for method, rows in below.groupby("method", sort=False)
    )
    return (
        f"Lower than random scores on the same model is the mean NAOPC of {each}. There the words that a method calls most important lower the "
        "probability less than random words do; why, we do not know."
    )


Markdown(below_random())

# %% [markdown]
# ## Sufficiency in two conventions
#
# ERASER's sufficiency keeps a rationale and measures how far the probability falls; the paper's removes the least relevant words first.
# After $N-k$ such removals the top $k$ of $N$ words remain, so both are means over the same curve: ERASER takes five
# short rationales (1 to 50 % of the words), the paper every length. Do both rank methods alike?

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
Markdown(
    f"Nearly: Kendall's tau between the two rankings of methods is between {conventions.tau.min():.2f} and {conventions.tau.max():.2f} "
    f"({counts(conventions)}; 1: the same ranking)."
)

# %%
inside(
    "Sufficiency by model",
    page.listing(
        conventions,
        "naopc_conventions",
        caption="Sufficiency in the two conventions, mean over methods (lower is better), and Kendall's tau between their rankings of methods, "
        "with 95 % interval",
        wide=shortly(both_conventions(conventions)),
    ),
)

# %% [markdown]
# ## How exact is beam search?
#
# On short texts the exact bounds are known, and we compare two searches with them. `released` is the authors'. `merged` is ours: it counts
# equal sets of removed words as one entry and takes the best path over all visited sets. A wider beam tries more orders. The *error* of a
# bound is how far the search falls short of it.

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


n_short = mean("error_upper").ours.n
caption = (
    "Beam search against exact bounds on short texts: mean error with 95 % interval, share of texts with a larger error than 0.02, and "
    f"forward passes per text; n = {n_short} texts in the smallest set"
)
counted = beams.astype(dict.fromkeys(passes, int))
page.listing(counted, "naopc_beams", caption=caption, digits=4, wide=one_line_each(counted))


# %%
def of_published_width():
    """How far the authors' search falls short at the width that the paper uses."""
    of_width = beams[beams.search == edin_bounds.PUBLISHED_SEARCH]
    if of_width.empty:
        return ""
    one = of_width.iloc[0]
    return (
        f"The authors' search ({one.search}) falls short of the upper bound by {one.upper_error:.3f} and of the lower bound by "
        f"{one.lower_error:.3f} on average, where the mean range between the bounds is "
        f"{table[(table.length == 'short') & (table.bound == 'range')].estimate.mean():.2f}."
    )


Markdown(of_published_width())

# %% tags=["remove-cell"]
# Part of the frozen measure. Its rule is of a correlation now, and not of these shares: nothing of it is shown.
first = sorted(beams.search, key=lambda search: search != edin_bounds.PUBLISHED_SEARCH)  # the paper's own
wide = {(search,): {f"{end} bound off by more than .02": share(f"off_{end}", search=search) for end in ("upper", "lower")}
        for search in first}  # fmt: skip
proved = {end: share(f"proved_{end}") for end in ("upper", "lower")}
Markdown(
    f"{asked('naopc_c03', ['search'], wide)} The error bound of the search held for a share of {spoken(proved['upper'], n=True)} of the "
    f"upper and {spoken(proved['lower'], n=True)} of the lower bounds."
)

# %% [markdown]
# On long texts the exact bounds are unknown. An {term}`error bound` limits how far the search can fall short of them.

# %%
widths = {
    (dataset, model, end): mean(f"beyond_{end}", dataset=dataset, model=model)
    for end in ("upper", "lower")
    for dataset in datasets
    for model in models_of_dataset[dataset]
}
certificates = listed(widths, ["dataset", "classifier", "end"])
Markdown(
    f"The largest mean error bound of a model and data set is {certificates.estimate.max():.2f} ({counts(certificates)}), against a range of "
    f"{table[(table.length == 'long') & (table.bound == 'range')].estimate.mean():.2f} between the bounds, mean over models. So the NAOPC of "
    "long texts may be off by much, and the claim above is judged on short texts."
)

# %%
inside(
    "Error bounds by model",
    page.listing(
        certificates,
        "naopc_certificates",
        caption=f"Error bound of the upper and of the lower bound on long texts, mean over texts, with 95 % intervals; {counts(certificates)}",
        wide=shortly(in_words(certificates, ["dataset", "classifier"], "end", ".2f")),
    ),
)

# %%
page.finish()
