"""Our models of the data of Zhao & Aletras (2023) by size: whose values the pages show, and what size alone moves.

Values of a compute notebook say their model in the column `classifier` ("": the small one that every data set has).
Which model speaks was settled on November 26, 2026, before values of the larger one were in the reference: the larger
where a data set has it, with the rules of all claims as they were. Trial values of seeds 0 and 1 on SST-2 had been seen
then, so that what rests on those is post hoc; AG News had not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from faithbook.results.numbers import ends_of
from faithbook.results.paired import Paired

SIZES = {"mpnet": "MPNet, 12 × 768", "": "MiniLM, 6 × 384"}
"""Our models by classifier, the larger first."""
TUNED = "mpnet-tuned"
"""The larger one with all of its weights trained, in place of an adapter of rank 8."""
_CLASSIFIER = "classifier"


def of_largest(units: pd.DataFrame) -> pd.DataFrame:
    """The values of the largest model that each data set has (`SIZES`).

    >>> units = pd.DataFrame({"dataset": ["sst", "sst", "pair"], "classifier": ["", "mpnet", ""], "value": [1, 2, 3]})
    >>> of_largest(units).value.tolist()
    [2, 3]
    """
    if _CLASSIFIER not in units.columns:
        return units
    have = units[["dataset", _CLASSIFIER]].drop_duplicates()
    rank = {name: place for place, name in enumerate(SIZES)}
    have = have[have[_CLASSIFIER].isin(rank)]
    first = have.loc[have[_CLASSIFIER].map(rank).groupby(have["dataset"]).idxmin()]
    return units.merge(first, on=["dataset", _CLASSIFIER], how="inner")


def of_each(prepare: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """What prepares the values of each model by itself, with the model's name in the column `model`; values without a
    classifier are those of the small one."""

    def prepared(units: pd.DataFrame) -> pd.DataFrame:
        named = units if _CLASSIFIER in units.columns else units.assign(classifier="")
        names = SIZES | {TUNED: f"{SIZES['mpnet']}, all weights trained"}
        frames = [
            prepare(named[named[_CLASSIFIER] == classifier]).assign(model=name)
            for classifier, name in names.items()
            if (named[_CLASSIFIER] == classifier).any()
        ]
        return pd.concat(frames, ignore_index=True)

    return prepared


def both_sizes(
    power: Callable[..., Paired], have: pd.DataFrame, metrics: Sequence[str], datasets: Sequence[str]
) -> pd.DataFrame:
    """One row per data set, metric and model: the published value, ours with its interval, and how much nearer to the
    published value ours is than that of the smallest model of the same data set, on all inputs of either.

    `power`: the mean of a metric over methods, by `dataset` and `model`; `have`: which data sets have which models.
    """
    rows = []
    for name in datasets:
        models = [one for one in dict.fromkeys(have["model"]) if one in set(have[have["dataset"] == name]["model"])]
        for metric in metrics if len(models) > 1 else []:
            of = {model: power(metric, dataset=name, model=model) for model in models}
            small = of.get(SIZES[""], of[models[-1]])
            for model, one in of.items():
                row = {"dataset": name, "metric": metric, "model": model, "published": one.published, "n": one.ours.n}
                rows.append(row | ends_of(one))
                if one is not small:
                    nearer = abs(small - small.published) - abs(one - one.published)
                    rows[-1] |= ends_of(nearer, "nearer by", "its low", "its high")
    return pd.DataFrame(rows)
