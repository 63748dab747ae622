"""What `naopc_six` kept of the paper's six models, in the terms of the released numbers. Nothing here needs torch."""

from __future__ import annotations

import pandas as pd

from faithbook.papers.edin_tables import CELL, printed, released_limits, scored_by

_STATISTICS = {"lower_bound_mean": "lower", "upper_bound_mean": "upper", "range_mean": "range"}  # published: ours
_PRINTED = [*CELL[:3], "method", "metric", "value"]
NEAR = 1e-3
"""Two answers to one text are the same where they differ by less: the released ones are rounded to half precision."""


def of_six(units: pd.DataFrame) -> pd.DataFrame:
    """The values of single texts, with `range` beside `lower` and `upper` of every search; classifiers are `model`.

    A text is identified by dataset, length and id.
    """
    units = units.rename(columns={"classifier": "model"})
    units["cluster"] = units["length"] + " " + units["cluster"]  # a short text and a long one may have one id
    ends = _wide(units, ["lower", "upper"], "method").reset_index()
    keys = ["cluster", "seed"]
    labels = units.drop_duplicates(CELL)[[*CELL, *keys]]
    between = ends.assign(metric="range", value=ends["upper"] - ends["lower"]).merge(labels, on=CELL)
    return pd.concat([units, between[[*CELL, *keys, "method", "metric", "value"]]], ignore_index=True)


def printed_bounds() -> pd.DataFrame:
    """The published mean bounds over all texts: dataset, length, model, method (the search), metric, value."""
    table = printed("naopc_released_bounds").query("subset == 'all'")
    table = table.assign(metric=table["statistic"].map(_STATISTICS), method=table["search"])
    return table.dropna(subset="metric")[_PRINTED]


def printed_scores() -> pd.DataFrame:
    """The published mean scores in the same columns."""
    table = printed("naopc_released_scores")
    return table[table["metric"].str.match("n?aopc_")][_PRINTED]


def beside_released(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per text and model that was released too: p_full, words, lower and upper, and the released ones
    (`_theirs`).

    Bounds are those that NAOPC is taken with: exact for short texts, a beam's for long ones.
    """
    facts = _wide(frame, ["p_full", "words"])
    used = frame[frame["method"] == frame["length"].map({"short": "exact", "long": "beam"})]
    ours = facts.join(_wide(used, ["lower", "upper"])).reset_index().astype({"id": int})
    theirs = scored_by(released_limits())[[*CELL, "p_full", "words", "lower", "upper"]]
    return ours.merge(theirs, on=CELL, suffixes=("", "_theirs"), validate="one_to_one")


def agreement(both: pd.DataFrame) -> pd.DataFrame:
    """By data set, length and model: how near two runs of one model on the same texts are to each other."""
    far = {name: (both[name] - both[f"{name}_theirs"]).abs() for name in ("p_full", "lower", "upper")}
    flagged = both.assign(
        same_p=(far["p_full"] < NEAR).astype(float),
        same_words=(both["words"] == both["words_theirs"]).astype(float),
        p_apart=far["p_full"],
        lower_apart=far["lower"],
        upper_apart=far["upper"],
    )
    names = {"n": ("id", "size"), "same_p": ("same_p", "mean"), "p_apart": ("p_apart", "max")}
    names |= {name: (name, "mean") for name in ("same_words", "lower_apart", "upper_apart")}
    return flagged.groupby(CELL[:3], sort=False).agg(**names).reset_index()


def _wide(frame: pd.DataFrame, metrics: list[str], *keys: str) -> pd.DataFrame:
    """The values of some metrics, one column each, by text and model."""
    return frame[frame["metric"].isin(metrics)].pivot(index=[*CELL, *keys], columns="metric", values="value")
