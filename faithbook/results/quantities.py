"""Quantities that reports make of saved scores, before or after inputs are drawn again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.results.rank_tests import tau_b
from faithbook.results.resampling import Cells, Resampled, over_inputs
from faithlib.errors import InputError
from faithlib.preferences import preferences


def row_means(rows: Iterable[tuple[str, str]], **labels: object) -> Cells:
    """The mean over the cells of rows (method, aggregation) that have the given `labels`, each one or several.

    What ignores the prediction has one value for all outputs: its cells have the output "none", and belong to each.

    >>> cells = pd.MultiIndex.from_tuples(
    ...     [("lime", "none", "loss"), ("lime", "none", "top_prediction"), ("uniform", "none", "none")],
    ...     names=["method", "aggregation", "output"],
    ... )
    >>> frame = pd.DataFrame([[0.5, 0.25, 0.0]], columns=cells)
    >>> float(row_means([("lime", "none"), ("uniform", "none")], output="loss")(frame)[0])
    0.25
    """
    wanted = list(rows)

    def function(frame: pd.DataFrame) -> pd.Series:
        names = frame.columns
        pairs = pd.MultiIndex.from_arrays([names.get_level_values("method"), names.get_level_values("aggregation")])
        chosen = pairs.isin(wanted)
        for level, given in labels.items():
            values = [given] if isinstance(given, str | int) else list(given)  # type: ignore[call-overload]
            chosen &= names.get_level_values(level).isin([*values, "none"] if level == "output" else values)
        if not chosen.any():
            raise InputError(f"no cell of the rows {wanted} has {labels}")
        return frame.loc[:, chosen].mean(axis=1)

    return function


def tau_between(first: Sequence[Cells], second: Sequence[Cells] | NDArray[np.float64]) -> Cells:
    """Kendall's tau-b of the order of several functions of the cells with that of as many others, or of given values.

    >>> frame = pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 2.0]})
    >>> tau_between([lambda cells: cells["a"], lambda cells: cells["b"]], np.array([0.25, 0.75]))(frame).tolist()
    [1.0, -1.0]
    """

    def function(frame: pd.DataFrame) -> pd.Series:
        other = second if isinstance(second, np.ndarray) else together(second, frame)
        return pd.Series(tau_b(together(first, frame), other), index=frame.index)

    return function


def together(functions: Sequence[Cells], frame: pd.DataFrame) -> NDArray[np.float64]:
    """The values of several functions of the cells side by side, [rows of the frame, functions]."""
    return np.stack([function(frame).to_numpy(dtype=float) for function in functions], axis=1)


def over_lengths(scores: pd.DataFrame) -> pd.DataFrame:
    """One `value` for every data set, model seed, input, method and metric: the mean over rationale lengths.

    The hard score of an input is that mean, and is undefined where the score of one length is; a soft score has no
    length and stays what it is.

    >>> keys = {"dataset": "d", "model_seed": 0, "input": 1, "method": "m", "metric": "ns"}
    >>> over_lengths(pd.DataFrame([keys | {"value": 0.2}, keys | {"value": 0.6}])).value.tolist()
    [0.4]
    """
    keys = ["dataset", "model_seed", "input", "method", "metric"]
    return scores.groupby(keys, observed=True, sort=False).value.agg(lambda v: v.mean(skipna=False)).reset_index()


def outside_unit(values: pd.Series) -> pd.Series:
    """1 where a score lies outside [0, 1], so that limiting it to that range moves it; 0 elsewhere, NaN if undefined.

    NS and NC divide by the loss of probability on the empty text. Where that is tiny they lie far outside; a mean of
    limited scores has to say how many were moved.

    >>> outside_unit(pd.Series([-0.1, 0.0, 1.0, 7.0, None])).tolist()
    [1.0, 0.0, 0.0, 1.0, nan]
    """
    return (~values.between(0, 1)).astype(float).where(values.notna())


def kept_shares(examples: pd.DataFrame) -> Resampled:
    """How much each method's min-max scaled token scores keep: the mean importance of a text's tokens, over inputs.

    `examples` has one row a token: dataset, model_seed, input, method, score. The share is that of the embedding
    elements which Soft-NS keeps and Soft-NC removes, on average. As in `masks.normalise`, equal scores give 1/2.

    >>> row = {"dataset": "d", "model_seed": 0, "input": 1, "method": "m"}
    >>> float(kept_shares(pd.DataFrame([row | {"score": s} for s in (0.0, 0.0, 0.0, 8.0)])).estimate["m"])
    0.25
    """
    text = ["dataset", "model_seed", "input", "method"]
    scores = examples.groupby(text, sort=False).score
    low, high = scores.transform("min"), scores.transform("max")
    share = ((examples.score - low) / (high - low)).where(high > low, 0.5)
    per_text = examples.assign(share=share).groupby(text, sort=False).share.mean().reset_index()
    return over_inputs(per_text, value="share", cells=["method"])


def against_random(
    frame: pd.DataFrame,
    *,
    on: Sequence[str] = ("dataset", "model_seed", "input", "metric"),
    value: str = "value",
) -> pd.DataFrame:
    """The rows of every method but "random", each beside the random attribution's `value` that agrees in `on`.

    Adds `random` (that value), `win` (1 where the method's value is strictly higher, else 0), `tie`, and `gap` (method
    less random); all NaN where one of the two is undefined. The mean of `win` is diagnosticity (Eq. 6), counted by
    `faithlib.preferences`.

    >>> frame = pd.DataFrame({"i": [1, 1], "method": ["a", "random"], "value": [0.7, 0.5]})
    >>> against_random(frame, on=["i"])[["method", "win", "tie"]].to_dict("records")
    [{'method': 'a', 'win': 1.0, 'tie': 0.0}]
    """
    chance = frame[frame.method == "random"]
    if chance.duplicated(list(on)).any():
        raise InputError(f"the random attribution has several rows for one combination of {list(on)}: add columns")
    pairs = frame[frame.method != "random"].merge(
        chance[[*on, value]].rename(columns={value: "random"}), on=list(on), how="left", validate="many_to_one"
    )
    win, tie = preferences(pairs[value], pairs["random"])
    return pairs.assign(win=win, tie=tie, gap=pairs[value] - pairs["random"])
