"""How well aligners agree with people's links, or with one another, and how often batches find their translations: as
quantities with draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from faithbook.crosslingual.gold import COUNTS, SCORES, scores_of_counts
from faithbook.stats.comparison import Comparison, combined
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimates import Array, Estimate
from faithlib.errors import unknown

EVERY = "mean"
"""Instead of a language: the mean over all."""


def score(name: str, mean: Callable[[str], Comparison]) -> Comparison:
    """One of `SCORES`, in [0, 1], from the mean counts of a sentence
    (`mean` is asked for each of `COUNTS`): a score of a draw is the ratio of that draw's sums.

    Raises UnknownNameError for another score.
    """
    if name not in SCORES:
        raise unknown("score of links", name, SCORES)

    def ratio(counts: Array) -> Array:
        return np.asarray(scores_of_counts(dict(zip(COUNTS, np.moveaxis(counts, -1, 0), strict=True)))[name])

    pair = combined(ratio, [mean(count) for count in COUNTS])
    return replace(pair, ours=replace(pair.ours, bounds=(0.0, 1.0)))


def found_batches(hits: pd.DataFrame, *, n_resamples: int = 9999) -> dict[tuple[str, str], Estimate]:
    """How often each model finds the right batch in each language, and over all of them (`EVERY`).

    `hits`: a row a batch, with model, language, `draw` (the number of the random order that made the batch), id and
    value (0 or 1). The orders share their texts: a mean over several of them is as uncertain as that of one order.
    """
    orders = hits["draw"].nunique()
    cells = Conditions.of(
        hits, over=["model", "language"], unit=["draw", "id"], bounds=(0.0, 1.0), n_resamples=n_resamples
    )
    languages = list(dict.fromkeys(hits["language"]))
    shares = {}
    for model in dict.fromkeys(hits["model"]):
        for language in (*languages, EVERY):
            one = cells.mean(model=model, language=languages if language == EVERY else language)
            shares[model, language] = _of_one(one, orders)
    return shares


def _of_one(mean: Estimate, orders: int) -> Estimate:
    """A mean over so many orders with the spread and the number of batches that one order has."""
    if orders == 1:
        return mean
    wider = float(np.sqrt(orders))
    return replace(
        mean,
        draws=mean.point + wider * (mean.draws - mean.point),
        influence=wider * mean.influence,
        clusters=mean.clusters // orders,
        n=mean.n // orders,
        share=mean.share and replace(mean.share, n=mean.share.n / orders),
    )
