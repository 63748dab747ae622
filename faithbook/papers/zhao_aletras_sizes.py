"""Our models of the data of Zhao & Aletras (2023) by size: whose values the pages show, and what size alone moves.

Values of a compute notebook say their model in the column `classifier` ("": the small one that every data set has).
Which model is judged was decided on November 26, 2026, before values of the larger one were in the reference: the
larger where a data set has it, with the rules of all claims as they were. Trial values of seeds 0 and 1 on SST-2 had
been seen then, so that what rests on those is post hoc; AG News had not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

SIZES = {"mpnet": "MPNet, 12 layers, 109 M", "": "MiniLM, 6 layers, 23 M"}
"""Our models by classifier with layers and parameters, the larger first."""
TUNED, ALL_WEIGHTS = "mpnet-tuned", "MPNet, all weights trained"
"""The larger one with all of its weights trained instead of an adapter of rank 8, and its name."""
_CLASSIFIER = "classifier"


def shared(frame: pd.DataFrame, datasets: Sequence[str]) -> list[str]:
    """Which of `SIZES` explained all of these data sets, the largest first; on the first of them claims are judged.

    >>> shared(pd.DataFrame({"dataset": ["sst", "sst", "ag"], "model": [*SIZES.values(), SIZES[""]]}), ["sst", "ag"])
    ['MiniLM, 6 layers, 23 M']
    """
    have = [set(frame.loc[frame["dataset"] == name, "model"]) for name in datasets]
    return [model for model in SIZES.values() if have and all(model in of for of in have)]


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
        names = SIZES | {TUNED: ALL_WEIGHTS}
        frames = [
            prepare(named[named[_CLASSIFIER] == classifier]).assign(model=name)
            for classifier, name in names.items()
            if (named[_CLASSIFIER] == classifier).any()
        ]
        return pd.concat(frames, ignore_index=True)

    return prepared
