"""Values of study 5 as the pages on contrasts and on bounds ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from faithbook.show.labels import labels
from faithbook.show.numbers import listed
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.stats.comparison import Comparison

CONTRAST, ALONE, NO_OUTPUT = "contrast", "log_probability", "no output"
WITHOUT_MODEL = "**No numbers in this copy.** `python -m faithbook.sources.files fetch smollm2` brings it (98 MB)."
"""What a page of study 5 says instead of numbers."""
FEWEST_SENTENCES, MODEL = 300, "smollm2"
ORDERING = ("aopc_morf", "lds", "top_3_drop")
"""The measures that are asked whether they order methods alike."""
FLOOR = "random"
LONGER = "facts-12"
"""Prompts of twelve sentences, which came after the rules were fixed: shown, and no answer counts them."""


def subjects(units: pd.DataFrame) -> pd.DataFrame:
    """Of `language_agreement` whether the subject is first, on the sentences whose right verb the model finds more
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
    """On each prompt whose deciding sentence is known, how often a measure of `ORDERING` is higher for a method that
    puts it first than for one that does not, over all such pairs; ties count one half."""
    prompt = ["dataset", "id", "cluster"]
    first = units[units["metric"] == "decides_first"].dropna(subset=["value"])[[*prompt, "method", "value"]]
    both = units[units["metric"].isin(ORDERING)].merge(first, on=[*prompt, "method"], suffixes=("", "_first"))

    def share(part: pd.DataFrame) -> float:
        right, wrong = (part.loc[part["value_first"] == one, "value"] for one in (1, 0))
        pairs = len(right) * len(wrong)
        return float(mannwhitneyu(right, wrong).statistic) / pairs if pairs else np.nan

    preferred = both.groupby([*prompt, "metric"], observed=True)[["value", "value_first"]].apply(share)
    return preferred.rename("value").reset_index().assign(model=MODEL)


def by_method(series: Mapping[str, Mapping[str, Comparison]], *, xlabel: str) -> Drawn:
    """A dot with its interval for each method of each series that has it."""
    cells = {(name, method): pair for name, pairs in series.items() for method, pair in pairs.items()}
    layout = Layout(series="series", names=labels(), width=7.5)
    return dot_plot(listed(cells, ["series", "method"]), xlabel, row="method", layout=layout)
