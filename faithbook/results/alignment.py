"""How well aligners agree with people's links, or with one another, with intervals over sentences."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from faithbook.crosslingual.gold import COUNTS, AlignmentScores, scores_of_counts
from faithbook.results.resampling import Interval, resample_means


def score_intervals(counts: pd.DataFrame, *, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
    """`alignment_scores` by name, each with its 95 % percentile bootstrap interval over sentence pairs.

    `counts`: a row a sentence, as `link_counts` gives them. Sentences are drawn with all their counts: a score of a
    resample is the ratio of that resample's sums.

    >>> counts = pd.DataFrame({"found": [2, 1], "sure": [2, 1], "found_sure": [1, 1], "found_possible": [1, 1]})
    >>> round(score_intervals(counts)["f1"].estimate, 3)
    0.667
    """
    numbered = counts[list(COUNTS)].reset_index(drop=True).rename_axis("sentence").reset_index()
    long = numbered.melt("sentence", var_name="count", value_name="value")
    drawn = resample_means(long, value="value", unit="sentence", cells=["count"], n_resamples=n_resamples, seed=seed)

    def score(name: str) -> Callable[[pd.DataFrame], pd.Series]:
        return lambda means: pd.Series(
            scores_of_counts({str(column): means[column].to_numpy() for column in means})[name]
        )

    return {name: drawn.interval(score(name)) for name in AlignmentScores.__annotations__}
