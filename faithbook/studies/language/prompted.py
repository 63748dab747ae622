"""Contrasts of two continuations, and whole sentences as features: what `language_contrast` and `language_bounds`
measure, test and show.

`share` is how often a method puts the subject first when it explains one thing, `share("saliency", CONTRAST)`. `mean`
is that of a metric of a method on a set of prompts, `mean("facts", "lime", "naopc_morf")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from faithbook.show.labels import label, labels
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.show.tables import wide_with_intervals
from faithbook.stats.comparison import Comparison
from faithbook.text import joined

CONTRAST, ALONE, NO_OUTPUT = "contrast", "log_probability", "no output"
WITHOUT_MODEL = "**No numbers in this copy.** `python -m faithbook.sources.files fetch smollm2` brings it (98 MB)."
"""What a page of study 5 says instead of numbers."""
FEWEST_SENTENCES, MODEL = 300, "smollm2"
ORDERING = ("aopc_morf", "lds", "top_3_drop")
"""The measures that are asked whether they order methods alike."""
FLOOR = "random"
METRICS = {
    "aopc_morf": "AOPC",
    "naopc_morf": "NAOPC",
    "lds": "LDS",
    "top_1_drop": "top-1 drop",
    "top_3_drop": "top-3 drop",
    "decides_first": "deciding sentence first",
}
"""What is measured of a method on a prompt of sentences, in the words of the page."""
ENDS = {"full": "whole prompt", "empty": "no sentence", "upper": "best AOPC", "lower": "worst AOPC"}
LONGER = "facts-12"
"""Prompts of twelve sentences, which came after the rules were fixed: shown, and no answer counts them."""

MeanOf = Callable[..., Comparison]


# ------------------------------------------------------------------------------------------------------------- measured
def subjects(units: pd.DataFrame) -> pd.DataFrame:
    """Whether the subject is first in `language_agreement`, on the sentences whose right verb the model finds more
    probable than the wrong one. Below `FEWEST_SENTENCES` of them the model that the rule needs is not named."""
    outputs = units[(units["metric"] == "output") & (units["explained"] == CONTRAST)]
    right = outputs.loc[outputs["value"] > 0, "id"]
    named = MODEL if len(right) >= FEWEST_SENTENCES else "too few sentences"
    return units[(units["metric"] == "subject_first") & units["id"].isin(right)].assign(model=named)


def bounded(units: pd.DataFrame) -> pd.DataFrame:
    """The values of `language_sentences` that are defined, with the model's name."""
    return units.dropna(subset=["value"]).assign(model=MODEL)


def ordered_alike(units: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rank correlation over methods, random scores left out, of two of `ORDERING` on each prompt: columns
    `first` and `second`. A prompt on which one of them gives all methods the same value has none."""
    real = units[(units["method"] != FLOOR) & units["metric"].isin(ORDERING)]
    rows = []
    for (dataset, prompt, cluster), part in real.groupby(["dataset", "id", "cluster"], sort=False, observed=True):
        rho = part.pivot_table(index="method", columns="metric", values="value", observed=True).corr("spearman")
        about = {"dataset": dataset, "id": prompt, "cluster": cluster, "model": MODEL}
        rows += [{**about, "first": a, "second": b, "value": rho.loc[a, b]} for a, b in combinations(ORDERING, 2)]
    return pd.DataFrame(rows).dropna(subset=["value"])


def truth_preferred(units: pd.DataFrame) -> pd.DataFrame:
    """How often, on each prompt whose deciding sentence is known, a measure of `ORDERING` is higher for a method that
    puts it first than for one that does not, over all such pairs; ties count one half."""
    prompt = ["dataset", "id", "cluster"]
    first = units[units["metric"] == "decides_first"].dropna(subset=["value"])[[*prompt, "method", "value"]]
    both = units[units["metric"].isin(ORDERING)].merge(first, on=[*prompt, "method"], suffixes=("", "_first"))

    def share(part: pd.DataFrame) -> float:
        right, wrong = (part.loc[part["value_first"] == first_wins, "value"] for first_wins in (1, 0))
        pairs = len(right) * len(wrong)
        return float(mannwhitneyu(right, wrong).statistic) / pairs if pairs else np.nan

    preferred = both.groupby([*prompt, "metric"], observed=True)[["value", "value_first"]].apply(share)
    return preferred.rename("value").reset_index().assign(model=MODEL)


def by_method(series: Mapping[str, Mapping[str, Comparison]], *, xlabel: str) -> Drawn:
    """A dot with its interval for each method of each series that has it."""
    cells = {(name, method): pair for name, pairs in series.items() for method, pair in pairs.items()}
    layout = Layout(series="series", names=labels(), width=7.5)
    return dot_plot(listed(cells, ["series", "method"]), xlabel, row="method", layout=layout)


# ------------------------------------------------------------------------------------------------------------ contrasts
def explaining(values: pd.DataFrame, explained: str) -> list[str]:
    """The methods with values for one thing that is explained, in their order."""
    return list(dict.fromkeys(values.loc[values["explained"] == explained, "method"]))


def by_contrast(share: MeanOf, methods: Sequence[str]) -> dict[str, Comparison]:
    """How often each method finds the subject when it explains the contrast."""
    return {method: share(method, CONTRAST) for method in methods}


def by_verb_alone(share: MeanOf, methods: Sequence[str], blind: Sequence[str]) -> dict[str, Comparison]:
    """The same when it explains the right verb alone; `blind`: methods that do not depend on the output."""
    return {method: share(method, ALONE) for method in methods} | {method: share(method, NO_OUTPUT) for method in blind}


def gains_of_contrast(share: MeanOf, methods: Sequence[str]) -> dict[str, Comparison]:
    """lm_q3: the share under the contrast minus the share under the right verb alone."""
    return {label(method): share(method, CONTRAST) - share(method, ALONE) for method in methods}


def subjects_quoted(contrasts: Mapping[str, Comparison], alone: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """Both shares by the names under which other pages quote them."""
    quoted = {f"{method}, contrast": pair for method, pair in contrasts.items()}
    return quoted | {f"{method}, alone": pair for method, pair in alone.items()}


def by_nearer_noun(share: MeanOf, methods: Sequence[str]) -> pd.DataFrame:
    """The shares by the number of the nearer noun. `share`: also by `misleads`, whether it is the other one."""
    cells = {
        (label(method), number, explained): share(method, explained, misleads=other)
        for method in methods
        for other, number in (("False", "same number"), ("True", "other number"))
        for explained in (CONTRAST, ALONE)
    }
    return listed(cells, ["method", "nearer noun", "explained"])


def by_nearer_noun_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `by_nearer_noun` for readers."""
    words = {CONTRAST: "contrast", ALONE: "log p(right verb)"}
    return by_row(table.assign(explained=table["explained"].map(words)), ["method", "nearer noun"], "explained")


def contrast_in_short(share: MeanOf, methods: Sequence[str]) -> str:
    """The result of the page on contrasts: for which methods the contrast finds the subject more often, and for which
    not."""
    more = [name for name in methods if share(name, CONTRAST).ours.point > share(name, ALONE).ours.point]
    others = [name for name in methods if name not in more]
    n = share(methods[0], ALONE).ours.n
    only = " only" if 0 < 2 * len(more) <= len(methods) else ""
    text = (
        f"for {len(more)} of {len(methods)} methods{only}, explaining the contrast of the two verbs instead of the "
        f"right verb alone finds the subject more often{_from_to(share, more)}."
    )
    if others:
        fewer = all(share(name, CONTRAST).ours.point < share(name, ALONE).ours.point for name in others)
        how = "less often" if fewer else "no more often"
        text += f" The other methods find it {how} under the contrast{_from_to(share, others)}."
    return (
        f"{text} Numbers are the share of sentences in which the subject has the highest score (n = {n:,}; chance is "
        "one in five)."
    )


def _from_to(share: MeanOf, methods: Sequence[str]) -> str:
    """The shares under the right verb alone and under the contrast, of each of some methods."""
    changes = [
        f"{label(name)} from {spoken(share(name, ALONE), '.2f')} to {spoken(share(name, CONTRAST), '.2f')}"
        for name in methods
    ]
    return f": {joined(changes)}" if changes else ""


def sentences_counted(units: pd.DataFrame, counted: int) -> str:
    """How many sentences were written, and how many of them are not counted. `units`: all values, before `subjects`."""
    written, triples = units["id"].nunique(), units["cluster"].nunique()
    return (
        f"We wrote {written:,} beginnings of sentences, of {triples:,} triples. {counted:,} are counted. For the other "
        f"{written - counted:,} the model does not find the right verb more probable than the wrong one."
    )


def nearer_noun_in_words(share: MeanOf, methods: Sequence[str]) -> str:
    """Which methods find the subject less often, and which more often, when the nearer noun has the other number."""
    sentences = []
    for explained, words in (
        (CONTRAST, "Under the contrast the subject is then"),
        (ALONE, "Under log p(right verb) it is then"),
    ):
        change = {
            label(name): share(name, explained, misleads="True").ours.point
            - share(name, explained, misleads="False").ours.point
            for name in methods
        }
        less, more = [name for name in change if change[name] < 0], [name for name in change if change[name] > 0]
        found = [f"{how} often by {joined(names)}" for how, names in (("less", less), ("more", more)) if names]
        sentences.append(f"{words} found {' and '.join(found) or 'as often by all methods'}.")
    return " ".join(sentences)


# ------------------------------------------------------------------------------------------------------------ sentences
def ends_of_prompts(mean: MeanOf, datasets: Sequence[str]) -> pd.DataFrame:
    """The answer's log-probability on the whole prompt and on none, and the best and the worst AOPC."""
    cells = {
        (dataset, words): mean(dataset=dataset, metric=metric) for dataset in datasets for metric, words in ENDS.items()
    }
    return listed(cells, ["data", "what"])


def reached(mean: MeanOf, datasets: Sequence[str], methods: Sequence[str]) -> dict[str, dict[str, Comparison]]:
    """NAOPC of each method by set of prompts."""
    return {dataset: {method: mean(dataset, method, "naopc_morf") for method in methods} for dataset in datasets}


def reached_quoted(by_dataset: Mapping[str, Mapping[str, Comparison]]) -> dict[str, Comparison]:
    """The same by the names under which other pages quote them."""
    return {f"{method}, {dataset}": pair for dataset, pairs in by_dataset.items() for method, pair in pairs.items()}


def measures(values: pd.DataFrame, mean: MeanOf, methods: Sequence[str]) -> pd.DataFrame:
    """Every measure of every method by set of prompts, wherever it is defined: data, method, measure, estimate with its
    ends, n."""
    defined = set(values[["dataset", "method", "metric"]].itertuples(index=False, name=None))
    cells = {
        (dataset, label(method), words): mean(dataset, method, metric)
        for dataset in dict.fromkeys(values["dataset"])
        for method in methods
        for metric, words in METRICS.items()
        if (dataset, method, metric) in defined
    }
    return listed(cells, ["data", "method", "measure"])


def truth(values: pd.DataFrame, mean: MeanOf) -> pd.DataFrame:
    """How often each measure prefers a method that puts the deciding sentence first: data, measure, estimate with its
    ends, n. `values`: of `truth_preferred`."""
    defined = values.dropna(subset=["value"])[["dataset", "metric"]].drop_duplicates()
    cells = {
        (str(dataset), METRICS[str(metric)]): mean(dataset=dataset, metric=metric)
        for dataset, metric in defined.itertuples(index=False)
    }
    return listed(cells, ["data", "measure"])


def agreements(mean: MeanOf, datasets: Sequence[str]) -> dict[tuple[str, str, str], Comparison]:
    """The rank correlation over methods of every two of `ORDERING`, by set of prompts and their words."""
    return {
        (dataset, METRICS[first], METRICS[second]): mean(dataset=dataset, first=first, second=second)
        for dataset in datasets
        for first, second in combinations(ORDERING, 2)
    }


def by_row(table: pd.DataFrame, rows: Sequence[str], column: str) -> pd.DataFrame:
    """A table of these for readers: the levels of one column side by side, each with its interval, and n last."""
    n = table.groupby([*rows], sort=False)["n"].min()
    return wide_with_intervals(table, rows, column, ".2f").assign(n=[f"{size:,}" for size in n])


def judged_datasets(datasets: Sequence[str]) -> list[str]:
    """The sets of prompts that answers count."""
    return [dataset for dataset in datasets if dataset != LONGER]


def above_random(by_dataset: Mapping[str, Mapping[str, Comparison]]) -> dict[str, Comparison]:
    """lm_q4: NAOPC of each method minus that of random scores."""
    return {
        f"{label(method)}, {dataset}": pair - by_dataset[dataset][FLOOR]
        for dataset in judged_datasets(list(by_dataset))
        for method, pair in by_dataset[dataset].items()
        if method != FLOOR
    }


def agreements_judged(alike: Mapping[tuple[str, str, str], Comparison]) -> dict[str, Comparison]:
    """lm_q7: the rank correlations on the sets of prompts that answers count."""
    return {
        f"{first} and {second}, {dataset}": pair
        for (dataset, first, second), pair in alike.items()
        if dataset != LONGER
    }


def bounds_in_short(mean: MeanOf, datasets: Sequence[str], methods: Sequence[str]) -> str:
    """The result of the page on sentences in a sentence."""
    clauses: list[str] = []
    before = ""
    for dataset, by_method in reached(mean, datasets, methods).items():
        best = max(by_method, key=lambda method, pairs=by_method: pairs[method].ours.point)  # type: ignore[misc]
        of_best, of_random = spoken(by_method[best], ".2f"), spoken(by_method[FLOOR], ".2f")
        place = f"on *{dataset}* (n = {by_method[best].ours.n} prompts)"
        if best == before:
            clauses.append(f"{place} {of_best} and {of_random}")
        else:
            clauses.append(f"{place} {label(best)}, the best method, reaches {of_best} and random scores {of_random}")
        before = best
    return f"On a scale from the worst (0) to the best order of removal (1), {'; '.join(clauses)}."
