"""How well aligners agree with people's links, or with one another, and how often batches find their translations: as
quantities with draws; and rho of one text and its translation, step by step (Figure 1 of Zaman & Belinkov 2022), on
saved scores and links.

The latter is what `faithlib.metrics` does to tensors (`aligned_scores`, `crosslingual_rho`), on tables of words: pages
that only read results need no tensors, and the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.stats.comparison import Comparison, combined
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Array, Estimate
from faithbook.studies.crosslingual.gold import COUNTS, SCORES, scores_of_counts
from faithlib.errors import unknown

EVERY = "mean"
"""Instead of a language: the mean over all."""
CHANCE = 1 / 11
"""How often a batch of translations is found by chance: among itself and ten random ones (Figure 6)."""


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
            mean = cells.mean(model=model, language=languages if language == EVERY else language)
            shares[model, language] = _of_one_order(mean, orders)
    return shares


def _of_one_order(mean: Estimate, orders: int) -> Estimate:
    """A mean over so many orders with the spread and the number of batches that one order has."""
    if orders == 1:
        return mean
    wider = float(np.sqrt(orders))
    return replace(
        mean,
        deviations=wider * mean.deviations,
        contributions=None,
        clusters=mean.clusters // orders,
        n=mean.n // orders,
    )


# ----------------------------------------------------------------------------------------- one text and its translation
Links = Sequence[tuple[int, int]]
"""Pairs of words by their numbers: the English one, that of the translation."""


def crossings(links: Links) -> int:
    """How many pairs of links cross.

    >>> crossings([(0, 1), (1, 0), (2, 2)])
    1
    """
    return sum(a < c and b > d for (a, b), (c, d) in product(links, links))


def most_crossed(sizes: Mapping[str, int], links: Callable[[str], Links], *, least: int = 6, most: int = 16) -> str:
    """Of the texts that have between `least` and `most` words (of all where none has) the first whose links cross most
    often. It is chosen by its links and not by scores, so that there is an order to see."""
    fitting = [text for text, size in sizes.items() if least <= size <= most]
    return max(fitting or sizes, key=lambda text: crossings(links(text)))


def carried(scores: pd.Series, links: Links, n: int) -> NDArray[Any]:
    """Scores of the translation's words on the n English words: sums over links, 0 without one; as precise as they
    came, so that no rounding parts equal ones.

    >>> carried(pd.Series([0.5, 1.0]), [(0, 0), (0, 1)], 2).tolist()
    [1.5, 0.0]
    """
    brought = np.zeros(n)
    for word, there in links:
        brought[word] += scores[there]
    return brought.astype(scores.to_numpy().dtype)


def ranked(english: pd.DataFrame, translation: pd.DataFrame, links: Links) -> pd.DataFrame:
    """The two lists word by word: own score, carried score, and the ranks of both, 1 for the lowest, equal scores with
    their average rank. `english`, `translation`: the words in order, with the columns text and score."""
    brought = pd.Series(carried(translation["score"], links, len(english)))
    linked: list[list[str]] = [[] for _ in range(len(english))]
    for word, there in links:
        linked[word].append(translation["text"][there])
    return pd.DataFrame(
        {
            "English word": english["text"],
            "score": english["score"],
            "rank": english["score"].rank(),
            "linked with": [" ".join(words) or "–" for words in linked],
            "carried score": brought,
            "rank of carried": brought.rank(),
        }
    )


def rho(steps: pd.DataFrame) -> float:
    """Spearman's rho of the two lists of `ranked`: Pearson's correlation of their ranks; NaN where one is all ties."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(steps["rank"].corr(steps["rank of carried"]))
