"""What `naopc_released_outputs` shows: the released values with what we compute of them, their tables side by side, and
in words how many numbers are the same in both.

    released = Recomputed.of(exact, beams, scores)
    released.bounds                           # the published means of bounds with ours, match and cause
    agreement_in_words(released.bounds)       # how many are the same, and why the others are not

`exact` are our limits of short texts (dataset, model, id, words, p_full, lower, upper); a row is one text under one
model. What is called a *limit* here is a *bound* on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Self

import pandas as pd

from faithbook.judge.decide import SameNumber
from faithbook.show.labels import label
from faithbook.show.numbers import listed as listed_quantities
from faithbook.show.tables import pipe_table, rounded, wide_with_intervals
from faithbook.stats.agreement import tau_b
from faithbook.stats.comparison import Comparison
from faithbook.studies.naopc import edin_tables
from faithbook.studies.naopc.edin_claims import Mean
from faithbook.studies.naopc.edin_released import LONG, SETS, SHORT, read_packed
from faithbook.studies.naopc.edin_tables import KINDS
from faithbook.text import joined

OWN = {True: "our limits or scores", False: "released values on both sides"}
"""What a number of ours rests on, as a listing says it."""
BOUND_LABELS = ("dataset", "length", "model", "search", "subset", "statistic")
SCORE_LABELS = ("dataset", "length", "model", "method", "metric")
TAU_LABELS = ("dataset", "length", "ranking", "metric", "statistic", "bounds")
BEAM_LABELS = ("comparison", "dataset", "search_variant", "beam_size", "bound", "statistic")
"""The columns that name the rows of a compared table."""
CAUSES = {
    edin_tables.FLOOR: "search from 0",
    edin_tables.NO_RANGE: "texts of one word",
    edin_tables.ROUNDED: "rounding",
    edin_tables.UNRELEASED: "scores not released",
    edin_tables.SAMPLE: "unknown sample",
    edin_tables.NOT_ASKED: "width not searched",
}
"""Why a number of the files differs from ours, and what the page calls that."""
HEADS = {
    "length": "texts",
    "subset": "texts",
    "search_variant": "search",
    "beam_size": "width",
    "statistic": "number",
    "metric": "score",
}
"""Heads of a compared table that read otherwise than its columns."""
WORDS = {
    "all": "all",
    "probability_above_0.5": "p > 0.5",
    "lower_bound_mean": "lower bound",
    "upper_bound_mean": "upper bound",
    "range_mean": "range",
    "share_of_cells_outside_0_1_naopc_comprehensiveness": "share outside [0, 1], comprehensiveness",
    "share_of_cells_outside_0_1_naopc_sufficiency": "share outside [0, 1], sufficiency",
    "models_within_method": "models, within a method",
    "methods_within_model": "methods, within a model",
    "model_pairs_within_method": "pairs of models, within a method",
    "kendall_tau_aopc_vs_naopc_mean": "Kendall's tau",
    "share_of_pairs_flipped_by_normalisation": "share of pairs that change order",
    "authors": "released",
    "set_deduplicated": "deduplicated",
    "set_deduplicated_plus_dynamic_programming": "merged",
    "error_mean": "mean error",
    "share_exact": "share found exactly",
}
"""Labels of the files in words."""
_SAME = 1e-4
"""Limits that differ by less are one: released ones are kept in single precision."""


@dataclass(frozen=True)
class Recomputed:
    """The released values, what we compute of them, and the tables that compare the means of both.

    - `exact`: our limits of short texts; `limits`: the released ones of all texts.
    - `beams`: our searches (dataset, model, id, search, width, and what each found).
    - `scores`: our AOPC of short texts; `cells`: every AOPC, ours and the released one.
    """

    exact: pd.DataFrame
    beams: pd.DataFrame
    scores: pd.DataFrame
    limits: pd.DataFrame
    cells: pd.DataFrame

    @classmethod
    def of(cls, exact: pd.DataFrame, beams: pd.DataFrame, scores: pd.DataFrame) -> Self:
        """Beside the released values: our limits as a table, and the values of single inputs of searches and scores as
        `naopc_released` keeps them."""
        keys = ["dataset", "model", "id", "method", "width"]
        found = beams.astype({"id": int}).pivot(index=keys, columns="metric", values="value").reset_index()
        ours = scores[scores["metric"] == "aopc"].astype({"id": int})
        cells = edin_tables.cells_with_ours(edin_tables.released_cells(), ours.rename(columns={"value": "aopc"}))
        return cls(exact, found.rename(columns={"method": "search"}), ours, edin_tables.released_limits(), cells)

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """The means of bounds, words and seconds (`edin_tables.bounds_table`)."""
        return edin_tables.bounds_table(self.limits, self.exact)

    @cached_property
    def means(self) -> pd.DataFrame:
        """The means of scores (`edin_tables.scores_table`)."""
        return edin_tables.scores_table(self.cells, self.limits, self.exact)

    @cached_property
    def taus(self) -> pd.DataFrame:
        """The agreements of rankings (`edin_tables.taus_table`)."""
        return edin_tables.taus_table(self.cells, self.limits, self.exact)

    @cached_property
    def widths(self) -> pd.DataFrame:
        """The numbers about beams (`edin_tables.beam_table`)."""
        return edin_tables.beam_table(self.limits, self.beams, self.exact)

    @property
    def released_widths(self) -> pd.DataFrame:
        """Those of `widths` that the authors released; the others are a count made for this book."""
        return self.widths[self.widths["comparison"] != "beam_variants"]

    @property
    def growing_widths(self) -> pd.DataFrame:
        """Those of `widths` about limits that grow with the width."""
        return self.widths[self.widths["comparison"] == "increasing_beams"]

    @cached_property
    def too_high(self) -> pd.DataFrame:
        """The released upper limits that no order reaches (`edin_tables.too_high`)."""
        return edin_tables.too_high(self.limits, self.exact)

    @cached_property
    def both_limits(self) -> pd.DataFrame:
        """Our exact limits of each short text with the released ones (`lower_released`, `upper_released`)."""
        theirs = self.limits[self.limits["search"] == "exact"]
        return self.exact.merge(theirs, on=["dataset", "model", "id"], suffixes=("", "_released"))

    @cached_property
    def ranked_means(self) -> pd.DataFrame:
        """The means of long texts that the panels of rankings are made of."""
        means = self.means
        return means[(means["length"] == "long") & means["method"].isin(edin_tables.RANKED_METHODS)]

    @cached_property
    def cells_with_p(self) -> pd.DataFrame:
        """The cells with the answer to their whole text."""
        return edin_tables.with_p_full(self.cells, self.limits)

    @cached_property
    def own_limits(self) -> pd.DataFrame:
        """The limits that NAOPC divides by, ours where we have them."""
        return edin_tables.scored_by(edin_tables.with_ours(self.limits, self.exact))

    @property
    def beam_limits(self) -> pd.DataFrame:
        """The released limits of beam 5."""
        return self.limits[self.limits["search"] == "beam"]

    def largest_difference(self, bound: str) -> dict[str, SameNumber]:
        """The largest difference between a released bound and ours, by data set and model, next to 0."""
        both = self.both_limits
        gap = (both[bound] - both[f"{bound}_released"]).abs()
        largest = gap.groupby([both["dataset"], both["model"]]).max()
        numbers = {}
        for dataset, model in largest.index:
            part = f"largest difference, {SETS[dataset]} by {label(model)}"
            numbers[part] = SameNumber(largest[dataset, model], "0.0000")
        return numbers

    def ranks(self, dataset: str, length: str, kind: str) -> pd.DataFrame:
        """Ranks of pairs of a model and a method under AOPC and under NAOPC by each kind of bounds, with our scores and
        bounds (`edin_tables.ranks`)."""
        cells = self.cells_with_p
        part = cells[(cells["dataset"] == dataset) & (cells["length"] == length)]
        scores = {"AOPC": part["aopc"]}
        if length == "short":  # exact bounds of long texts are not known
            scores["exact"] = edin_tables.normalised(part, self.own_limits, no_range=0.0)
        scores["beam"] = edin_tables.normalised(part, self.beam_limits, no_range=0.0)
        return edin_tables.ranks(part, kind, **scores)

    def released_ranks(self, dataset: str, kind: str) -> pd.DataFrame:
        """The same ranks of short texts by the released scores and bounds."""
        cells = self.cells_with_p
        part = cells[(cells["dataset"] == dataset) & (cells["length"] == "short")]
        exact = edin_tables.scored_by(self.limits)
        scores = {"AOPC": part["aopc_files"]}
        scores["exact"] = edin_tables.normalised(part, exact, no_range=0.0, aopc="aopc_files")
        scores["beam"] = edin_tables.normalised(part, self.beam_limits, no_range=0.0, aopc="aopc_files")
        return edin_tables.ranks(part, kind, **scores)

    def panels(self) -> dict[str, pd.DataFrame]:
        """`ranks` of all data sets, lengths and kinds, by the title of their panel."""
        panels = {}
        for kind in KINDS:
            for length, datasets in (("short", SHORT), ("long", LONG)):
                for dataset in datasets:
                    panels[f"{SETS[dataset]} {length}, {kind}"] = self.ranks(dataset, length, kind)
        return panels

    def ranks_again(self, dataset: str, kind: str) -> dict[str, SameNumber]:
        """Each rank of a panel of short texts, ours next to that by the released scores and bounds."""
        ours = self.ranks(dataset, "short", kind)
        released = self.released_ranks(dataset, kind)
        # Only exact limits were searched from 0, so only ranks by these can differ for that reason.
        causes = {"exact": edin_tables.FLOOR}
        numbers = {}
        for model, method in ours.index:
            for score in ours.columns:
                rank = ours.loc[(model, method), score]
                printed = f"{released.loc[(model, method), score]:.0f}"
                part = f"{label(model)}, {method}, {score}"
                numbers[part] = SameNumber(rank, printed, cause=causes.get(score, ""))
        return numbers

    def numbers_ranked(self, kind: str = "") -> dict[str, SameNumber]:
        """The means of long texts that the panels of one kind, or all, rank, ours next to the files'."""
        means = self.ranked_means
        return edin_tables.numbers(means[means["metric"].str.endswith(kind)], "dataset", "model", "method", "metric")

    def shared_out(self) -> pd.DataFrame:
        """By table how many of its numbers rest on our own limits or scores (`edin_tables.shared_out`)."""
        tables = {"bounds": self.bounds, "scores": self.means, "agreement of rankings": self.taus}
        return edin_tables.shared_out({**tables, "beams": self.released_widths})

    def explanations(self) -> pd.DataFrame:
        """Mean AOPC and NAOPC by explanation and model, of texts called positive, on both data sets of short texts
        (`edin_tables.explanations`)."""
        tables = []
        for dataset in SHORT:
            of_dataset = edin_tables.explanations(self.cells_with_p, self.own_limits, dataset)
            tables.append(of_dataset.assign(dataset=dataset))
        table = pd.concat(tables, ignore_index=True)
        scores = [name for name in table if "aopc" in str(name)]
        return table[["dataset", "method", "model", "n", *scores]]


def material(exact: pd.DataFrame) -> pd.DataFrame:
    """By data set and model how many short texts, words and answers there are, and of how many texts the model says
    positive."""
    answered = exact.assign(answers=2.0**exact.words, positive=exact.p_full > 0.5)
    table = answered.groupby(["dataset", "model"], sort=False).agg(
        n=("id", "nunique"),
        words=("words", "mean"),
        longest=("words", "max"),
        answers=("answers", "sum"),
        positive=("positive", "sum"),
    )
    heads = {"n": "n (texts)", "words": "words, mean", "answers": "outputs", "positive": "p > 0.5"}
    return table.reset_index().rename(columns=heads)


def short_texts(exact: pd.DataFrame) -> str:
    """How many short texts there are of each data set.

    >>> short_texts(pd.DataFrame({"dataset": ["sst2", "sst2", "yelp"], "id": [0, 1, 0]}))
    '2 texts of SST-2 and 1 of Yelp'
    """
    numbers = exact.groupby("dataset", sort=False)["id"].nunique()
    counted = [f"{n} of {label(str(name))}" for name, n in numbers.items()]
    return joined(counted).replace(" of", " texts of", 1)


def texts_left_out(exact: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """By data set and model how many short texts have no NAOPC of ours: those of one word, whose range is empty, and
    those without a score (`scores`: AOPC of ours, NaN where attributions and answers count the words differently)."""
    uncounted = scores[scores.value.isna()].groupby(["dataset", "model"]).id.nunique()
    by_text = exact.assign(one_word=exact.words == 1).groupby(["dataset", "model"], sort=False)
    table = by_text.agg(texts=("id", "nunique"), one_word=("one_word", "sum")).astype(int)
    table["counted differently"] = uncounted.reindex(table.index, fill_value=0)
    table["n (texts with a NAOPC)"] = table.texts - table.one_word - table["counted differently"]
    return table.reset_index().rename(columns={"one_word": "of one word"})


def search_costs(beams: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """Mean errors of our searches and rows that they ask about, by search and width; the last row is the exact one,
    which asks about every set of words."""
    errors = edin_tables.searched_errors(beams[beams.search != "deduplicated"], exact)
    cost = errors.groupby(["search", "width"])[["upper_error", "lower_error", "rows"]].mean().reset_index()
    subsets = (2.0**exact.words).mean()
    last = {"search": "exact", "width": 0, "upper_error": 0.0, "lower_error": 0.0, "rows": subsets}
    return pd.concat([cost, pd.DataFrame([last])], ignore_index=True)


def right_by_beam(too_high: pd.DataFrame) -> int:
    """Of how many upper limits that are too high the released beam search has the right value."""
    return int((too_high.upper_beam - too_high.upper_ours).abs().lt(_SAME).sum())


def compared_as_file(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A compared table as its file has it: these columns, the number of the files and ours, whether they match, the
    cause where they do not, and what ours rests on."""
    chosen = table[[*names, "value", "ours", "n", "match", "cause", "own"]].rename(columns={"value": "files"})
    rests_on = chosen.pop("own").map(OWN)
    # Some rows cannot be compared: there `match` is neither true nor false, and stays empty.
    return chosen.assign(match=chosen.match.map({True: "yes", False: "no"}), rests_on=rests_on)


def without_match(table: pd.DataFrame, names: Sequence[str], *, digits: int = 4) -> pd.DataFrame:
    """The rows of a compared table that differ, as a page shows them: these labels and the causes in words."""
    rows = table[table["match"].eq(False)]
    shown = rows[[*names]].map(in_a_word).rename(columns=HEADS)
    for head, column in (("files", "value"), ("ours", "ours")):
        shown[head] = [rounded(number, digits) for number in rows[column]]
    return shown.assign(n=[f"{n:,}" for n in rows["n"]], cause=rows["cause"].map(short_cause))


def where_scores_differ(table: pd.DataFrame) -> pd.DataFrame:
    """Of a compared table of scores how many numbers differ and by how much at most, by data set, texts, score and
    cause, in words."""
    known = table[table["ours"].notna()]
    known = known.assign(gap=(known["ours"] - known["value"]).abs())
    keys = ["dataset", "length", "metric"]
    compared = known.groupby(keys, sort=False).size().to_dict()
    differing = known[~known["match"].astype(bool)]
    rows = []
    for (dataset, length, metric, cause), part in differing.groupby([*keys, "cause"], sort=False):
        row: dict[str, object] = {"dataset": in_a_word(dataset), "texts": length, "score": in_a_word(metric)}
        row["cause"] = short_cause(str(cause))
        row["differ"] = len(part)
        row["of"] = compared[dataset, length, metric]
        row["largest difference"] = rounded(part["gap"].max(), 4)
        rows.append(row)
    return pd.DataFrame(rows)


def in_a_word(name: object) -> str:
    """A label of the files in a reader's words.

    >>> in_a_word("upper_bound_mean"), in_a_word("sst2"), in_a_word("bert_imdb")
    ('upper bound', 'SST-2', 'BERT, IMDB')
    """
    text = str(name)
    return WORDS.get(text, label(text).replace("_", " "))


def short_cause(cause: str) -> str:
    """Why a number differs, as the page names it.

    >>> short_cause(f"{edin_tables.NO_RANGE}, and {edin_tables.FLOOR}")
    'texts of one word; search from 0'
    """
    return "; ".join(CAUSES.get(part, part) for part in cause.split(", and "))


def agreement_in_words(table: pd.DataFrame, *, within: float | None = None) -> str:
    """How many numbers of a compared table are the same as in the files, and why the others differ; `within`: a
    tolerance instead of half the last printed digit."""
    known = table[table["ours"].notna()]
    off = edin_tables.differences_by_cause(table, within=within)
    same = len(known) - off["numbers"].sum()
    released = int((~known["own"]).sum())
    text = f"{same:,} of {len(known):,} numbers are the same in the files and ours"
    if released:
        text += f" ({released:,} of the {len(known):,} are means of released values in both)"
    if off.empty:
        return f"{text}."
    shown = off.assign(cause=off["cause"].map(short_cause))
    shown["at most apart"] = [rounded(gap, 4) for gap in off["at most apart"]]
    return f"{text}. Those that differ, by cause:\n\n{pipe_table(shown)}"


def short_of_matching(table: pd.DataFrame, caption: str) -> str:
    """The caption of a compared table of which a page shows the rows that differ."""
    differing = int(table["match"].eq(False).sum())
    return f"{caption}. Shown are the {differing} of {len(table):,} numbers that differ; the download has all"


def in_short(released: Recomputed) -> str:
    """The result of the page: how many numbers are the same, how many of these could differ at all, and why some do."""
    counts = released.shared_out().iloc[-1]
    causes = []
    for table in (released.bounds, released.means, released.taus, released.released_widths):
        differs = table["ours"].notna() & table["match"].eq(False)
        causes += table.loc[differs, "cause"].tolist()
    named = f"{len(causes) - causes.count(edin_tables.UNKNOWN)} of the {len(causes)} differences"
    if edin_tables.UNKNOWN not in causes:
        named = f"all {len(causes)} differences"
    high = released.too_high
    return (
        f"We worked out {counts['compared']:,} means twice from the authors' files, by their procedure and by ours: "
        f"{counts['agree']:,} are the same to the last digit. {counts['released on both sides']:,} of the means are "
        f"of released values both times and only check the sums; of the {counts['with ours']:,} with bounds or "
        f"scores of our own {counts['of these agree']:,} are the same. We can name the cause of {named}. One is that "
        f"{len(high)} of {len(released.exact):,} released upper bounds of short texts are higher than any order of "
        f"removals reaches, by up to {high['excess'].max():.3f}."
    )


def shares_shown(shares: pd.DataFrame) -> pd.DataFrame:
    """The table of `edin_tables.shared_out` for readers."""
    heads = {
        "table": "table",
        "compared": "numbers",
        "agree": "the same",
        "with ours": "with bounds or scores of our own",
        "of these agree": "of these the same",
        "released on both sides": "released values in both",
    }
    shown = shares[list(heads)].rename(columns=heads)
    for head in list(shown)[1:]:
        shown[head] = [f"{number:,}" for number in shown[head]]
    return shown


def one_score(mean: Mean, methods: Sequence[str], models: Sequence[str]) -> pd.DataFrame:
    """One AOPC on each data set, the mean over methods and models, and its place between the mean bounds of each
    model: dataset, model, AOPC, lower, upper, n, place (0 the lower bound, 1 the upper)."""
    rows = []
    for dataset in SHORT:
        score = mean("aopc_comprehensiveness", method=list(methods), dataset=dataset).ours.point
        for model in models:
            lower = mean("lower", dataset=dataset, model=model).ours
            upper = mean("upper", dataset=dataset, model=model).ours
            row = {"dataset": dataset, "model": model, "AOPC": score}
            row |= {"lower": lower.point, "upper": upper.point, "n": upper.n}
            rows.append(row)
    table = pd.DataFrame(rows)
    return table.assign(place=(table["AOPC"] - table["lower"]) / (table["upper"] - table["lower"]))


def one_score_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `one_score` for readers."""
    shown = pd.DataFrame({"dataset": table["dataset"].map(label), "model": table["model"].map(label)})
    for head, column in {"AOPC": "AOPC", "lower bound": "lower", "upper bound": "upper", "place": "place"}.items():
        shown[head] = [rounded(value, 2) for value in table[column]]
    return shown.assign(n=table["n"])


def places_in_words(table: pd.DataFrame) -> str:
    """From which place to which one AOPC moves between the limits of models, by data set, from `one_score`."""
    clauses = []
    for dataset, rows in table.groupby("dataset", sort=False):
        ordered = rows.sort_values("place")
        low, high = ordered.iloc[0], ordered.iloc[-1]
        clauses.append(
            f"on {label(str(dataset))} an AOPC of {low['AOPC']:.2f} is at {low['place']:.2f} for "
            f"{label(low['model'])} and at {high['place']:.2f} for {label(high['model'])}"
        )
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}."


def possible_and_reached(mean: Mean, methods: Sequence[str], models: Sequence[str]) -> pd.DataFrame:
    """On short Yelp texts the lowest and the highest possible AOPC of each model and what the methods reach, as rows of
    a plot: series, row, method, estimate with its ends, n."""
    of_yelp = partial(mean, dataset="yelp")
    cells: dict[tuple[str, ...], Comparison] = {}
    for bound, series in (("lower", "lowest possible"), ("upper", "highest possible")):
        for model in models:
            cells[series, label(model), "none"] = of_yelp(bound, model=model, method="none")
    for method, model in product(methods, models):
        cells["ten methods", label(model), method] = of_yelp("aopc_comprehensiveness", model=model, method=method)
    return listed_quantities(cells, ["series", "row", "method"])


def random_scores_by_model(mean: Mean, models: Sequence[str]) -> pd.DataFrame:
    """AOPC and NAOPC (comprehensiveness) of random attributions on short texts: dataset, model, score, estimate with
    its ends, n."""
    cells: dict[tuple[str, ...], Comparison] = {}
    for dataset, model, score in product(SHORT, models, ("aopc", "naopc")):
        cell = mean(f"{score}_comprehensiveness", method="random", model=model, dataset=dataset)
        cells[dataset, model, score] = cell
    return listed_quantities(cells, ["dataset", "model", "score"])


def random_shown(by_model: pd.DataFrame) -> pd.DataFrame:
    """The table of `random_scores_by_model` for readers: a column for AOPC and one for NAOPC."""
    n = by_model.groupby(["dataset", "model"], sort=False)["n"].min()
    shown = wide_with_intervals(
        by_model.assign(score=by_model["score"].str.upper()), ["dataset", "model"], "score", ".2f"
    )
    return shown.assign(n=n.to_numpy())


def random_range_in_words(by_model: pd.DataFrame, means: pd.DataFrame) -> str:
    """From what to what the NAOPC of random attributions goes by model, on short texts (`random_scores_by_model`) and
    on long ones (a table of scores)."""
    short = by_model[by_model["score"] == "naopc"]["estimate"]
    is_random = (means["method"] == "random") & (means["metric"] == "naopc_comprehensiveness")
    long = means[is_random & (means["length"] == "long")]["ours"]
    return (
        f"On short texts random attributions have a mean NAOPC between {short.min():.2f} and {short.max():.2f} by "
        f"model and data set, on long ones, by the bounds of a beam, between {long.min():.2f} and {long.max():.2f}."
    )


def review_shown(review: pd.DataFrame) -> pd.DataFrame:
    """The bounds of the review page with ours (`edin_tables.review_bounds`), for readers."""
    names = {"bert": "BERT", "roberta": "RoBERTa", "lstm": "LSTM"}
    shown = pd.DataFrame({"model": review["model"].map(names), "bound": review["statistic"]})
    shown["review page"] = [rounded(value, 2) for value in review["review"]]
    shown["ours"] = [rounded(value, 2) for value in review["ours"]]
    shown["n"] = review["n"].astype(str).replace("0", "–")
    return shown


def growing_limits() -> pd.DataFrame:
    """The mean limits of long texts by data set and width of the beam, one row each."""
    means = edin_tables.growing_beams()
    return means.pivot(index=["dataset", "beam_size"], columns=["bound", "statistic"], values="value").reset_index()


def fewest_long_texts() -> int:
    """The number of long texts of each data set that beams of several widths searched, the smallest."""
    return int(read_packed("limits_widths").groupby("dataset")["id"].nunique().min())


def before_after_in_words(earlier: pd.DataFrame) -> str:
    """How near the means in the authors' notebook are to ours (`edin_tables.beside_before_after`)."""
    same = int((earlier["gap"] <= 0.005 + 1e-9).sum())
    taus = []
    for metric, part in earlier.groupby("metric"):
        tau = float(tau_b(part["value"].to_numpy(), part["ours"].to_numpy()))
        taus.append(f"{label(str(metric))} {tau:.2f}")
    return (
        f"{same} of {len(earlier)} are the same to the printed digit; the mean distance is "
        f"{earlier['gap'].mean():.3f} and the largest {earlier['gap'].max():.3f}. Kendall's tau between their "
        f"rankings of the forty pairs of a method and a model: {'; '.join(taus)}."
    )


def widths_in_words(released: Recomputed) -> str:
    """How many numbers about beams are compared, and how many of the count made for this book are near ours."""
    sampled = released.widths[released.widths["comparison"] == "beam_variants"]
    return (
        f"Of the {len(released.widths)} numbers, {released.released_widths['ours'].notna().sum()} are means of "
        "released values in the files and ours, and all that these can show is that the sums are right. The other "
        f"{len(sampled)} are of the analysis that was made for this book, on 600 inputs. Which 600 was not recorded, "
        f"so ours are of all inputs with seven words or more: {sampled['match'].sum()} of the {len(sampled)} are "
        "within two standard errors, and the table has the rest."
    )


def too_high_in_words(released: Recomputed) -> str:
    """How many released upper bounds are too high, and by which rule they come out so."""
    high = released.too_high
    if high.empty:
        return "No released upper bound is too high here."
    return (
        f"Of {len(released.exact):,} upper bounds {len(high)} are too high, by up to {high['excess'].max():.3f}. For "
        f"{right_by_beam(high)} of these the *beam search* in the same repository has the right value. All orders "
        "end in the empty text, so the last of the $N$ summands is the same for all of them. The released numbers "
        "are what comes out when the running maximum over the *other* $N - 1$ summands starts at 0 and not at minus "
        "infinity. That rule gives every released upper bound (a test checks each). It matters where a model gives "
        "the positive class hardly any probability to begin with, so that most removals raise it."
    )


def too_high_shown(too_high: pd.DataFrame) -> pd.DataFrame:
    """The upper bounds that are too high, for readers."""
    numbers = {
        "p of the whole text": "p_full",
        "best order": "upper_ours",
        "released": "upper",
        "released beam": "upper_beam",
        "too high by": "excess",
    }
    shown = pd.DataFrame({"dataset": too_high["dataset"].map(label), "model": too_high["model"].map(label)})
    shown["text"] = too_high["id"]
    shown["words"] = too_high["words"]
    for head, column in numbers.items():
        shown[head] = [rounded(number, 4) for number in too_high[column]]
    return shown


def nearest_methods_table(means: pd.DataFrame) -> pd.DataFrame:
    """The methods whose mean AOPC are nearest to each other (`edin_tables.nearest_methods`), with names for people."""
    table = edin_tables.nearest_methods(means)
    return table.assign(one=table["one"].map(label), other=table["other"].map(label))


def nearest_shown(nearest: pd.DataFrame) -> pd.DataFrame:
    """The table of `nearest_methods` for readers."""
    shown = pd.DataFrame({"method": nearest["one"], "nearest to it": nearest["other"]})
    shown["mean distance"] = [rounded(distance, 3) for distance in nearest["mean"]]
    shown["largest distance"] = [rounded(distance, 3) for distance in nearest["most"]]
    return shown.assign(n=nearest["cells"])


def in_one_table(panels: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The ranks of all panels below one another: model, method, ranks, panel."""
    tables = [ranks.reset_index().assign(panel=title) for title, ranks in panels.items()]
    return pd.concat(tables)
