"""Models of ours on the measurements of Edin et al.: what `naopc_bounds` compares, and how it is put for readers.

    models = OwnModels.of(measured.frame, page.quantity("metric"), listed=["l6", "lstm"])
    models.of_dataset("movie")            # the models that classified these texts
    bounds(models)                        # a table: the bounds of each model
    ranking_agreements(models)            # a table: Kendall's tau of rankings by AOPC and by NAOPC

Tables have the names that code uses; `in_words` functions and captions have those for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import pandas as pd

from faithbook.judge import published
from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import listed, row_of, spoken
from faithbook.show.tables import rounded, wide_with_intervals
from faithbook.stats.agreement import tau_of
from faithbook.stats.comparison import Comparison
from faithbook.studies.naopc import edin_bounds, edin_claims
from faithbook.studies.naopc.edin_claims import Mean
from faithbook.text import joined

LENGTHS = ("short", "long")
EXACT = ("short",)
"""Texts whose bounds are exact."""
TEXTS = {"all texts": LENGTHS, "short texts": EXACT, "long texts": ("long",)}
ORDERS = {"morf": "comprehensiveness", "lerf": "sufficiency"}
"""The two orders of removal, and the paper's words for AOPC by them."""
RANKINGS = ("models", "methods")
RANDOM = "random"


@dataclass(frozen=True)
class OwnModels:
    """The models that were measured.

    - `mean`: the mean of a metric over all cells with some labels, `mean("upper", model="l6")`.
    - `names`: the models; `datasets`: the data sets.
    - `methods`: the attribution methods of each model, random scores left out.
    - `groups`: models that classified the same texts, with the data sets of these; only they are compared.
    """

    mean: Mean
    names: list[str]
    datasets: list[str]
    methods: dict[str, list[str]]
    groups: list[tuple[list[str], list[str]]]

    @classmethod
    def of(cls, values: pd.DataFrame, mean: Mean, listed: Sequence[str]) -> Self:
        """The models with scores among those `listed`, in this order. `values`: as `edin_bounds.of_models` has them."""
        methods = edin_bounds.explained(values)
        names = [name for name in listed if name in methods]
        datasets = values["dataset"].unique().tolist()
        return cls(mean, names, datasets, methods, edin_bounds.together(values, names))

    def of_dataset(self, dataset: str) -> list[str]:
        """The models that classified the texts of a data set."""
        return next(models for models, datasets in self.groups if dataset in datasets)

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """Data set, length of the texts and model, wherever a model was measured."""
        cells: list[tuple[str, str, str]] = []
        for dataset, length in product(self.datasets, LENGTHS):
            cells += [(dataset, length, model) for model in self.of_dataset(dataset)]
        return cells


def n_texts(table: pd.DataFrame) -> str:
    """The least and the largest number of texts of a table's cells, in words.

    >>> n_texts(pd.DataFrame({"n": [60, 100]})), n_texts(pd.DataFrame({"n": [60, 60]}))
    ('n = 60 to 100 texts', 'n = 60 texts')
    """
    return f"n = {_least_to_most(table)} texts"


def n_by_length(table: pd.DataFrame) -> str:
    """The same for short and for long texts apart, from a table with the column `length`.

    >>> n_by_length(pd.DataFrame({"length": ["short", "short", "long"], "n": [60, 100, 16]}))
    'n = 60 to 100 short and 16 long texts'
    """
    of_lengths = []
    for length in LENGTHS:
        part = table[table["length"] == length]
        of_lengths.append(f"{_least_to_most(part)} {length}")
    return f"n = {' and '.join(of_lengths)} texts"


def _least_to_most(table: pd.DataFrame) -> str:
    least, most = int(table["n"].min()), int(table["n"].max())
    if least == most:
        return str(least)
    return f"{least} to {most}"


def mean_of(comparisons: Sequence[Comparison]) -> Comparison:
    """The mean of quantities of ours, with its interval; of what is published it knows nothing."""
    total = comparisons[0].ours
    for comparison in comparisons[1:]:
        total = total + comparison.ours
    return Comparison(total / len(comparisons))


# -------------------------------------------------------------------------------------------------------------- bounds
def bounds(models: OwnModels) -> pd.DataFrame:
    """The mean bounds of AOPC and the range between them: dataset, length, classifier, bound, estimate with its ends,
    n."""
    cells: dict[tuple[str, ...], Comparison] = {}
    for dataset, length, model in models.cells:
        for bound in (*edin_bounds.ENDS, "range"):
            cells[dataset, length, model, bound] = models.mean(bound, dataset=dataset, length=length, model=model)
    return listed(cells, ["dataset", "length", "classifier", "bound"])


def mean_range(table: pd.DataFrame, length: str) -> float:
    """The mean range between the bounds over data sets and models, from a table of `bounds`."""
    return float(table[(table["length"] == length) & (table["bound"] == "range")]["estimate"].mean())


def spread_of_bounds(models: OwnModels) -> str:
    """How far the upper bounds of models are apart, for each group of models that classified the same texts."""
    clauses = []
    for names, datasets in models.groups:
        if len(names) == 1:  # nothing to compare with
            continue
        of_lengths = []
        for length in LENGTHS:
            uppers = [models.mean("upper", model=name, length=(length,), dataset=datasets) for name in names]
            deviation = spoken(edin_claims.between_models(uppers), ".2f", n=True)
            of_lengths.append(f"{deviation} on {length} texts")
        on = joined(edin_bounds.dataset_name(dataset) for dataset in datasets)
        clauses.append(f"over the {len(names)} models on {on} it is {' and '.join(of_lengths)}")
    if not clauses:
        return ""
    return (
        "How far models are apart is the standard deviation of their mean upper bounds. With each model's bounds "
        f"averaged over the data sets first, {'; '.join(clauses)}."
    )


# ------------------------------------------------------------------------------------------------------------ rankings
def ranking_agreement(models: OwnModels, *, dataset: str, length: str, kind: str, ranking: str) -> Comparison:
    """Kendall's tau between a ranking by mean AOPC and the same ranking by mean NAOPC.

    `ranking`: "models" within a method, the mean over the methods that all models of the data set have; or "methods"
    within a model, the mean over models. Random scores are one of the methods.
    """
    names = models.of_dataset(dataset)
    if ranking == "models":
        shared = [*edin_bounds.common(models.methods, names), RANDOM]
        groups = [[{"model": name, "method": method} for name in names] for method in shared]
    else:
        groups = [[{"model": name, "method": method} for method in (*models.methods[name], RANDOM)] for name in names]
    taus = []
    for group in groups:
        by_score = []
        for score in ("aopc", "naopc"):
            means = [models.mean(f"{score}_{kind}", **item, dataset=dataset, length=length).ours for item in group]
            by_score.append(means)
        taus.append(Comparison(tau_of(*by_score)))
    return mean_of(taus)


def ranking_agreements(models: OwnModels) -> pd.DataFrame:
    """Kendall's tau of all rankings: dataset, length, metric, ranking, published (of the released files, the mean over
    their data sets), estimate with its ends, n."""
    released = released_agreements()
    rows = []
    for dataset, length, kind, ranking in product(models.datasets, LENGTHS, ORDERS, RANKINGS):
        tau = ranking_agreement(models, dataset=dataset, length=length, kind=kind, ranking=ranking)
        labels = {"dataset": dataset, "length": length, "metric": f"aopc_{kind}", "ranking": ranking}
        rows.append({**labels, "published": released[length, ranking, ORDERS[kind]], **row_of(tau)})
    return pd.DataFrame(rows)


def released_agreements() -> pd.Series:
    """The same from the authors' files, the mean over their data sets, by length, ranking and metric."""
    table = published.table("naopc_released_taus")
    table = table[table["statistic"] == "kendall_tau_aopc_vs_naopc_mean"]
    table = table.assign(ranking=table["ranking"].str.split("_").str[0])
    return table.groupby(["length", "ranking", "metric"])["value"].mean()


def mean_agreement(models: OwnModels, length: str, ranking: str, kinds: Sequence[str] = tuple(ORDERS)) -> Comparison:
    """Kendall's tau of `ranking_agreement` on texts of one length, the mean over data sets and orders of removal.

    A data set that one model alone classified has no ranking of models.
    """
    taus = []
    for dataset, kind in product(models.datasets, kinds):
        if ranking == "models" and len(models.of_dataset(dataset)) == 1:
            continue
        taus.append(ranking_agreement(models, dataset=dataset, length=length, kind=kind, ranking=ranking))
    return mean_of(taus)


def rankings_in_short(models: OwnModels) -> str:
    """The result of the page: how far rankings of models and of methods agree, first where the bounds are exact."""
    of_models, of_methods = (mean_agreement(models, "short", ranking) for ranking in RANKINGS)
    long_models, long_methods = (mean_agreement(models, "long", ranking) for ranking in RANKINGS)
    released = released_agreements().groupby(["length", "ranking"]).mean()["short"]
    order = ""
    if of_models.ours.point < of_methods.ours.point:
        order = "normalising AOPC reorders models more than it reorders attribution methods. "
    return (
        f"{order}On short texts, whose bounds are exact, Kendall's tau between a ranking by AOPC and the same "
        f"ranking by NAOPC (1: nothing changes) is {spoken(of_models, '.2f')} on average for our models and "
        f"{spoken(of_methods, '.2f')} for methods (n = {of_models.ours.n} texts in the smallest set; in the authors' "
        f"released files {released['models']:.2f} and {released['methods']:.2f}). Long texts give "
        f"{spoken(long_models, '.2f')} and {spoken(long_methods, '.2f')} (n = {long_models.ours.n}), but their "
        "bounds come from a beam search and may be too narrow."
    )


def rankings_in_words(agreements: pd.DataFrame) -> pd.DataFrame:
    """A table of `ranking_agreements` for readers: a row for each length and order of removal; columns for the rankings
    of models and of methods on each data set and, after these, in the released files."""
    known = agreements[agreements["estimate"].notna()]  # one model alone has no ranking of models
    rows = []
    for length, metric in product(known["length"].unique(), known["metric"].unique()):
        row = {"texts": length, "order": label(metric).rpartition(", ")[2]}
        for ranking in RANKINGS:
            of_row = (known["length"] == length) & (known["metric"] == metric) & (known["ranking"] == ranking)
            cells = known[of_row]
            for cell in cells.itertuples():
                row[f"{ranking}: {edin_bounds.dataset_name(str(cell.dataset))}"] = spoken(cell, ".2f")
            if len(cells):  # the released value is the same beside every data set
                row[f"{ranking}: released"] = f"{cells['published'].iloc[0]:.2f}"
        rows.append(row)
    return pd.DataFrame(rows)


def removal_orders_in_words(models: OwnModels) -> str:
    """Kendall's tau of the rankings of models on short texts by order of removal, ours and the released one; without a
    data set that several models classified there is none to tell."""
    if all(len(models.of_dataset(dataset)) == 1 for dataset in models.datasets):
        return ""
    released = released_agreements()["short", "models"]
    taus = {kind: mean_agreement(models, "short", "models", [kind]) for kind in ORDERS}
    clauses = []
    for kind, tau in taus.items():
        order = label(f"aopc_{kind}").rpartition(", ")[2]
        clauses.append(f"{spoken(tau, '.2f')} by {order} (released {released[ORDERS[kind]]:.2f})")
    text = (
        f"For the ranking of models on short texts, mean over data sets, tau is {' and '.join(clauses)}. Few models "
        "make a ranking, so the intervals are wide."
    )
    ours_by_morf = taus["morf"].ours.point < taus["lerf"].ours.point
    theirs_by_lerf = released[ORDERS["lerf"]] < released[ORDERS["morf"]]
    if not (ours_by_morf and theirs_by_lerf):
        return text
    return (
        f"{text} Normalising reorders our models most by MoRF, and the authors' models most by LeRF. Why, we do not "
        "know."
    )


# ------------------------------------------------------------------------------------------------- adversarial training
@dataclass(frozen=True)
class AdversarialPair:
    """A standard model and the same after adversarial training, on the data sets for which both were measured, with
    the methods that both have."""

    models: OwnModels
    standard: str
    hardened: str
    datasets: list[str]
    methods: list[str]

    def differences(self, kind: str = "morf", **labels: object) -> dict[str, Comparison]:
        """The two parts of the claim: the adversarially trained model minus the standard one under AOPC, and the other
        way round under NAOPC. Where lower is better (LeRF) both have the opposite sign."""
        sign = 1.0 if kind == "morf" else -1.0
        cells = {"method": self.methods, "dataset": self.datasets, "length": EXACT} | labels
        gains = []
        for score in ("aopc", "naopc"):
            of_hardened = self.models.mean(f"{score}_{kind}", **cells, model=self.hardened)
            gains.append(of_hardened - self.models.mean(f"{score}_{kind}", **cells, model=self.standard))
        aopc, naopc = gains
        return {"AOPC, adversarially trained minus standard": aopc * sign, "NAOPC, standard minus it": naopc * -sign}

    def variants(self) -> dict[tuple[str, str, str], dict[str, Comparison]]:
        """The same by texts, method and order of removal, each of them changed alone; the claim itself is the first."""
        methods = "all but random"
        variants = {("short texts", methods, "MoRF"): self.differences()}
        for texts, lengths in TEXTS.items():
            if lengths != EXACT:
                variants[texts, methods, "MoRF"] = self.differences(length=lengths)
        if len(self.datasets) > 1:
            for dataset in self.datasets:
                texts = f"short texts, {edin_bounds.dataset_name(dataset)}"
                variants[texts, methods, "MoRF"] = self.differences(dataset=dataset)
        for method in self.methods:
            variants["short texts", label(method), "MoRF"] = self.differences(method=method)
        for texts, lengths in TEXTS.items():
            variants[texts, methods, "LeRF"] = self.differences("lerf", length=lengths)
        return variants


NO_PAIR = "*This build has no adversarially trained model.*"


def adversarial_in_words(pair: AdversarialPair | None) -> str:
    """How the adversarially trained model differs from the standard one under either score."""
    if pair is None:
        return NO_PAIR
    by_score = pair.differences()
    aopc = by_score["AOPC, adversarially trained minus standard"]
    naopc = -by_score["NAOPC, standard minus it"]
    return (
        f"Our model {_compared(aopc)} under AOPC and {_compared(naopc)} under NAOPC: {label(pair.hardened)} minus "
        f"{label(pair.standard)} is {spoken(aopc, '+.2f')} and {spoken(naopc, '+.2f')} (MoRF, short texts, mean over "
        f"methods; n = {aopc.ours.n} texts per data set)."
    )


def _compared(difference: Comparison) -> str:
    """What a difference between two models says of the first, in words that its interval allows."""
    interval = difference.ours.interval()
    if interval.low > 0:
        return "looks more faithful"
    if interval.high < 0:
        return "looks less faithful"
    return "does not clearly look more or less faithful"


def adversarial_pair(models: OwnModels, preferred: Sequence[str]) -> AdversarialPair | None:
    """The standard and the adversarially trained model, on the `preferred` data sets if both were measured on one of
    them, else on all where they were; None where there are no such two models."""

    def with_pair(datasets: Sequence[str]) -> list[str]:
        return [name for name in datasets if _pair_among(models.of_dataset(name))]

    datasets = with_pair(preferred) or with_pair(models.datasets)
    if not datasets:
        return None
    standard, hardened = _pair_among(models.of_dataset(datasets[0]))
    methods = edin_bounds.common(models.methods, [standard, hardened])
    return AdversarialPair(models, standard, hardened, datasets, methods)


def _pair_among(names: Sequence[str]) -> tuple[str, ...]:
    """A standard and an adversarially trained model of these; empty where there are no two."""
    for pair in edin_bounds.HARDENED:
        if {*pair} <= {*names}:
            return pair
    return ()


def accuracy_under_attack(models: OwnModels, attacked: Scores) -> pd.DataFrame:
    """Accuracy of each model by the length of the attack: dataset, classifier, radius, estimate with its ends, n."""
    columns = ["dataset", "classifier", "radius"]
    accuracy = attacked.quantity(*columns)
    radii = sorted(attacked.levels("radius"))
    cells: dict[tuple[str, ...], Comparison] = {}
    for dataset in models.datasets:
        for name, radius in product(models.of_dataset(dataset), radii):
            cells[dataset, name, radius] = accuracy(dataset, name, radius)
    return listed(cells, columns)


def attack_in_words(accuracy: pd.DataFrame, pair: AdversarialPair | None) -> str:
    """How much accuracy both models of the pair keep under the second-largest shift, by data set, from
    `accuracy_under_attack`. The largest leaves the standard model hardly any."""
    if pair is None:
        return NO_PAIR
    radius = sorted(accuracy["radius"].unique(), key=float)[-2]
    rows = accuracy[accuracy["radius"] == radius].set_index(["dataset", "classifier"])
    of_hardened, of_standard = [], []
    for dataset in pair.datasets:
        of_hardened.append(
            f"{spoken(rows.loc[(dataset, pair.hardened)], '.0%')} of {edin_bounds.dataset_name(dataset)}"
        )
        of_standard.append(spoken(rows.loc[(dataset, pair.standard)], ".0%"))
    return (
        f"At a radius of {radius} {label(pair.hardened)} still classifies {joined(of_hardened)} correctly, "
        f"{label(pair.standard)} {joined(of_standard)}."
    )


# -------------------------------------------------------------------------------------------------------------- scores
def scores_of_methods(models: OwnModels) -> pd.DataFrame:
    """Mean AOPC and NAOPC of each method on each model, most relevant word first: score, classifier, method, estimate
    with its ends, n; random scores are one of the methods."""
    cells: dict[tuple[str, ...], Comparison] = {}
    for names, _ in models.groups:
        for score, name in product(("aopc", "naopc"), names):
            for method in (*models.methods[name], RANDOM):
                cells[score, name, method] = models.mean(f"{score}_morf", method=method, model=name)
    return listed(cells, ["score", "classifier", "method"])


def random_scores(models: OwnModels) -> str:
    """What random scores get, over all models and from the model where it is least to that where it is most."""
    means = sorted(models.mean("naopc_morf", method=RANDOM, model=name).ours.point for name in models.names)
    overall = spoken(models.mean("naopc_morf", method=RANDOM), ".2f", n=True)
    exact = spoken(models.mean("naopc_morf", method=RANDOM, length=EXACT), ".2f", n=True)
    return (
        f"Random scores get a mean NAOPC of {overall}, from {means[0]:.2f} to {means[-1]:.2f} by model; on short "
        f"texts alone, whose bounds are exact, {exact}. So a NAOPC has to be compared with that of random scores on "
        "the *same* model."
    )


def below_random(scores: pd.DataFrame) -> str:
    """Methods whose mean NAOPC is below that of random scores on the same model, from `scores_of_methods`."""
    naopc = scores[scores["score"] == "naopc"]
    random = naopc[naopc["method"] == RANDOM].set_index("classifier")["estimate"]
    below = naopc[naopc["estimate"] < naopc["classifier"].map(random)]
    if below.empty:
        return "No method has a lower mean NAOPC than random scores on the same model."
    clauses = []
    for row in below.to_dict("records"):
        model, method = row["classifier"], row["method"]
        clauses.append(
            f"{label(method)} on {label(model)} ({row['estimate']:.2f} against {random[model]:.2f}, n = {row['n']})"
        )
    lower = "This method has" if len(below) == 1 else "These methods have"
    return (
        f"{lower} a lower mean NAOPC than random scores on the same model: {'; '.join(clauses)}. The words that "
        "such a method calls most important lower the probability less than random words do. Why, we do not know."
    )


# --------------------------------------------------------------------------------------------------------- sufficiency
CONVENTIONS = {"eraser": "sufficiency_eraser", "ascending": "aopc_lerf"}
"""The columns of `sufficiency_conventions` and the metrics whose means they are."""


def sufficiency_conventions(models: OwnModels) -> pd.DataFrame:
    """Sufficiency of each model in the two conventions, mean over its methods, and Kendall's tau between their rankings
    of methods: dataset, length, model, eraser, ascending, tau, low, high, n."""
    rows: list[dict[str, Any]] = []
    for dataset, length, model in models.cells:
        labels = {"dataset": dataset, "length": length, "model": model}
        methods = [*models.methods[model], RANDOM]
        row: dict[str, Any] = dict(labels)
        by_convention = []
        for column, metric in CONVENTIONS.items():
            of_methods = [models.mean(metric, **labels, method=method).ours for method in methods]
            row[column] = sum(estimate.point for estimate in of_methods) / len(of_methods)
            by_convention.append(of_methods)
        rows.append(row | row_of(tau_of(*by_convention), "tau", "low", "high"))
    return pd.DataFrame(rows)


def conventions_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """A table of `sufficiency_conventions` for readers: tau with its interval in a cell."""
    return pd.DataFrame(
        {
            "dataset": table["dataset"].map(edin_bounds.dataset_name),
            "texts": table["length"],
            "model": table["model"].map(label),
            "ERASER": [f"{mean:.2f}" for mean in table["eraser"]],
            "least relevant first": [f"{mean:.2f}" for mean in table["ascending"]],
            "Kendall's tau": [f"{row.tau:.2f} [{row.low:.2f}, {row.high:.2f}]" for row in table.itertuples()],
            "n": table["n"].astype(int),
        }
    )


def conventions_in_short(table: pd.DataFrame) -> str:
    """How far both conventions rank methods alike, from a table of `sufficiency_conventions`."""
    nearly = "Nearly: " if table["tau"].mean() > 0.8 else ""
    return (
        f"{nearly}Kendall's tau between the two rankings of methods (1: the same) is {table['tau'].mean():.2f} on "
        f"average over data sets, lengths and models, from {table['tau'].min():.2f} to {table['tau'].max():.2f} "
        f"({n_by_length(table)})."
    )


# ------------------------------------------------------------------------------------------------------------ searches
PASSES = {"forward passes": "rows", "forward passes, exact search": "rows_exact"}


def search_errors(models: OwnModels, shares: Scores) -> pd.DataFrame:
    """Beam searches against exact bounds on short texts, one row per search: mean error of either bound with its ends,
    the share of texts whose bound is off by more than 0.02, forward passes, n. `shares`: of `edin_bounds.of_shares`."""
    share = shares.quantity("metric")
    rows = []
    for search in shares.levels("search"):
        row: dict[str, Any] = {"search": search}
        for end in ("upper", "lower"):
            row |= row_of(models.mean(f"error_{end}", search=search), f"{end}_error", f"{end}_low", f"{end}_high")
        for end in ("upper", "lower"):
            row[f"{end} off"] = share(f"off_{end}", search=search).ours.point
        for head, metric in PASSES.items():
            row[head] = models.mean(metric, search=search).ours.point
        rows.append(row)
    return pd.DataFrame(rows)


def searches_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """A table of `search_errors` for readers: each error with its interval in a cell."""
    shown: dict[str, Any] = {"search": table["search"]}
    for bound in ("upper", "lower"):
        cells = []
        for _, row in table.iterrows():
            error, low, high = (rounded(row[f"{bound}_{end}"], 4) for end in ("error", "low", "high"))
            cells.append(f"{error} [{low}, {high}]")
        shown[f"{bound} bound: error"] = cells
        shown[f"{bound} bound: texts off by more than 0.02"] = [f"{share:.0%}" for share in table[f"{bound} off"]]
    shown["forward passes"] = [f"{number:,.0f}" for number in table["forward passes"]]
    return pd.DataFrame(shown)


def published_width(table: pd.DataFrame, range_of_bounds: float) -> str:
    """How far the authors' search falls short at the width that the paper uses, from `search_errors`, beside the mean
    range between the bounds; "" where it was not run."""
    of_width = table[table["search"] == edin_bounds.PUBLISHED_SEARCH]
    if of_width.empty:
        return ""
    row = of_width.iloc[0]
    return (
        f"The authors' search at the width that they use (*{row.search}* in the table) misses the upper bound by "
        f"{row.upper_error:.4f} and the lower bound by {row.lower_error:.4f} on average. The mean range between the "
        f"bounds is {range_of_bounds:.2f}."
    )


def bounds_held(shares: Scores) -> str:
    """How often the exact bound of a short text is within the error bound of the search, over all searches."""
    upper, lower = (shares.mean(metric=f"proved_{end}").ours for end in ("upper", "lower"))
    return (
        f"On short texts the exact bound was within the error bound in {upper.point:.0%} of the searches for the upper "
        f"bound and {lower.point:.0%} of those for the lower bound (n = {upper.n} texts in the smallest set)."
    )


def error_bounds(models: OwnModels) -> pd.DataFrame:
    """How far the search can fall short of the bounds of long texts at most, mean over texts: dataset, classifier, end,
    estimate with its ends, n."""
    cells: dict[tuple[str, ...], Comparison] = {}
    for end, dataset in product(("upper", "lower"), models.datasets):
        for model in models.of_dataset(dataset):
            cells[dataset, model, end] = models.mean(f"beyond_{end}", dataset=dataset, model=model)
    return listed(cells, ["dataset", "classifier", "end"])


def long_texts_in_words(certificates: pd.DataFrame, bounds: pd.DataFrame) -> str:
    """What the error bounds say of long texts, from tables of `error_bounds` and `bounds`."""
    return (
        f"The largest mean error bound of a model and data set is {certificates['estimate'].max():.2f} "
        f"({n_texts(certificates)}), and the range between the bounds is {mean_range(bounds, 'long'):.2f}, mean over "
        "models and data sets. So NAOPC of long texts, and rankings by it, may be off by much. That is why the "
        "claim above is judged on short texts."
    )


def quantity_table(table: pd.DataFrame, rows: Sequence[str], column: str) -> pd.DataFrame:
    """A long table of quantities for readers, each with its interval in a cell."""
    words = wide_with_intervals(table.replace({"dataset": edin_bounds.DATASETS}), rows, column, ".2f")
    return words.rename(columns={"length": "texts", "classifier": "model"})
