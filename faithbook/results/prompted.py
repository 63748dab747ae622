"""Values of study 5 as the pages on contrasts and on bounds ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.results import figures
from faithbook.results.figures import OURS, PUBLISHED
from faithbook.results.labels import label
from faithbook.results.numbers import ends_of
from faithbook.results.paired import Paired

CONTRAST, ALONE, NO_OUTPUT = "contrast", "log_probability", "no output"
WITHOUT_MODEL = "**No numbers in this copy.** `python -m faithbook.sources.files fetch smollm2` brings it (98 MB)."
"""What a page of study 5 says in place of numbers."""
FEWEST_SENTENCES, MODEL = 300, "smollm2"
ORDERING = ("aopc_morf", "lds", "top_3_drop")
"""The measures that are asked whether they order methods alike."""
FLOOR = "random"


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


def two_by_method(
    one: Mapping[str, Paired], other: Mapping[str, Paired], names: tuple[str, str], *, xlabel: str
) -> Any:
    """A dot with its interval for each method of `one`, and of `other` for those that it has: figure and alt text."""
    fig, ax = plt.subplots(figsize=(7.5, 0.42 * len(one) + 1.4))
    places = np.arange(len(one))[::-1]
    for mapping, colour, marker, shift, name in (
        (one, OURS, "o", 0.12, names[0]),
        (other, PUBLISHED, "s", -0.12, names[1]),
    ):
        if not mapping:
            continue
        frame = pd.DataFrame([ends_of(pair) for pair in mapping.values()])
        at = [place + shift for place, method in zip(places, one, strict=True) if method in mapping]
        figures.dots(ax, frame, at, colour=colour, marker=marker, label=name)
    ax.set_yticks(places, [label(method) for method in one])
    ax.set_xlabel(xlabel)
    figures.legend(fig)
    both = ", and ".join(filter(None, names))
    each = "; ".join(
        f"{label(method)} {pair.ours.point:.2f}" + (f" and {other[method].ours.point:.2f}" if method in other else "")
        for method, pair in one.items()
    )
    return fig, f"Dot plot of {xlabel} by method: {both}. {each}."
