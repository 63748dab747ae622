"""Quantities that reports make of saved scores, before or after inputs are drawn again."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Estimate
from faithlib.errors import InputError
from faithlib.preferences import preferences


def outside_unit(values: pd.Series) -> pd.Series:
    """1 where a score lies outside [0, 1], so that limiting it to that range moves it; 0 elsewhere, NaN if undefined.

    NS and NC divide by the loss of probability on the empty text. Where that is tiny they lie far outside; a mean of
    limited scores has to say how many were moved.

    >>> outside_unit(pd.Series([-0.1, 0.0, 1.0, 7.0, None])).tolist()
    [1.0, 0.0, 0.0, 1.0, nan]
    """
    return (~values.between(0, 1)).astype(float).where(values.notna())


def kept_shares(examples: pd.DataFrame) -> dict[tuple[str], Estimate]:
    """How much each method's min-max scaled token scores keep: the mean importance of a text's tokens, over inputs.

    `examples` has one row per token: dataset, model_seed, input, method, score. The share is that of the embedding
    elements which Soft-NS keeps and Soft-NC removes, on average. As in `masks.normalise`, equal scores give 1/2.

    >>> row = {"dataset": "d", "model_seed": 0, "input": 1, "method": "m"}
    >>> float(kept_shares(pd.DataFrame([row | {"score": s} for s in (0.0, 0.0, 0.0, 8.0)]))["m",].point)
    0.25
    """
    text = ["dataset", "model_seed", "input", "method"]
    scores = examples.groupby(text, sort=False).score
    low, high = scores.transform("min"), scores.transform("max")
    share = ((examples.score - low) / (high - low)).where(high > low, 0.5)
    per_text = examples.assign(share=share).groupby(text, sort=False).share.mean().reset_index()
    cells = Conditions.of(per_text, over=["method"], unit=["dataset", "input"], value="share", stratum="dataset")
    return {(name,): cells.mean(method=name) for name in sorted(per_text["method"].unique())}


def against_random(frame: pd.DataFrame, *, on: Sequence[str]) -> pd.DataFrame:
    """The rows of every method but "random", each beside the random attribution's `value` that agrees in `on`.

    Adds `random` (that value), `win` (1 where the method's value is strictly higher, else 0), `tie`, and `gap` (method
    minus random); all NaN where one of the two is undefined. The mean of `win` is diagnosticity (Eq. 6), counted by
    `faithlib.preferences`.

    >>> frame = pd.DataFrame({"i": [1, 1], "method": ["a", "random"], "value": [0.7, 0.5]})
    >>> against_random(frame, on=["i"])[["method", "win", "tie"]].to_dict("records")
    [{'method': 'a', 'win': 1.0, 'tie': 0.0}]
    """
    chance = frame[frame.method == "random"]
    if chance.duplicated(list(on)).any():
        raise InputError(f"the random attribution has several rows for one combination of {list(on)}: add columns")
    pairs = frame[frame.method != "random"].merge(
        chance[[*on, "value"]].rename(columns={"value": "random"}), on=list(on), how="left", validate="many_to_one"
    )
    win, tie = preferences(pairs["value"], pairs["random"])
    return pairs.assign(win=win, tie=tie, gap=pairs["value"] - pairs["random"])
