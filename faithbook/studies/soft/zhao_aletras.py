"""Where the released code of Zhao & Aletras (2023) differs from their text; and our models of their data by size: whose
values the pages show, and what size alone moves.

Values of a compute notebook say their model in the column `classifier` ("": the small one that every data set has).
Which model is judged was decided on November 26, 2026, before values of the larger one were in the reference: the
larger where a data set has it, with the rules of all claims as they were. Trial values of seeds 0 and 1 on SST-2 had
been seen then, so that what rests on those is post hoc; AG News had not.

No tensors here: pages read it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, combinations

import pandas as pd

RELEASED = {
    "empty text": ("zero embeddings", "padding"),
    "lengths": ("five", "seven"),
    "limits": ("none", "0 to 1"),
    "scaled attention": ("with gradient", "squared"),
    "draws": ("several", "one"),
    "normaliser": ("min-max", "the code's two"),
    "mask": ("as written", "inverted"),
    "ties": ("no win", "wins"),
}
"""The choices in which the released pipeline leaves the text: by choice the text's option (the book's own, where the
text names none) and the code's."""
HARD_CHOICES = ("empty text", "lengths", "limits")
SOFT_CHOICES = ("empty text", "limits", "draws", "normaliser", "mask")
"""Those that change a value of a single input. What is left of `RELEASED` is read from these values: another
attribution, and how ties count."""
SQUARED = "scaled_attention_squared"
"""Attention multiplied by attention, as the released script has it, beside that multiplied by its gradient."""


def choices_of(metric: str) -> tuple[str, ...]:
    """The choices that a metric's values depend on.

    >>> choices_of("nc")
    ('empty text', 'lengths', 'limits')
    """
    return SOFT_CHOICES if metric.startswith("soft_") else HARD_CHOICES


def replay_name(metric: str, released: Collection[str]) -> str:
    """The name of a metric's values where these choices are the released code's and all others the text's.

    >>> replay_name("nc", ["mask", "limits", "empty text"])
    'empty text, limits'
    >>> replay_name("soft_nc", ["lengths", "ties"])
    'as written'
    """
    return ", ".join(name for name in choices_of(metric) if name in released) or "as written"


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every choice of some of the names, from none to all.

    >>> list(subsets("ab"))
    [(), ('a',), ('b',), ('a', 'b')]
    """
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


# ------------------------------------------------------------------------------------------------------- models by size
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
    pairs = set(frame[["dataset", "model"]].drop_duplicates().itertuples(index=False, name=None))
    return [model for model in SIZES.values() if datasets and all((name, model) in pairs for name in datasets)]


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
