"""The paper's six models run again: what `naopc_six` kept, next to the released numbers (`naopc_six_models`).

A text is identified by dataset, length and id.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.numbers import row_of, spoken
from faithbook.studies.naopc.edin_tables import CELL, released_limits, scored_by

OVER = [*CELL[:3], "method", "metric"]
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


def agreement_of_runs(both: pd.DataFrame) -> pd.DataFrame:
    """By data set, length and model: how near two runs of one model on the same texts are to each other."""
    both = both.copy()
    for name in ("p_full", "lower", "upper"):
        both[f"{name}_apart"] = (both[name] - both[f"{name}_theirs"]).abs()
    both["same_p"] = both["p_full_apart"] < NEAR
    both["same_words"] = both["words"] == both["words_theirs"]
    texts = both.groupby(CELL[:3], sort=False)
    means = texts[["same_p", "same_words", "lower_apart", "upper_apart"]].mean()
    means.insert(0, "n", texts.size())
    means.insert(2, "p_apart", texts["p_full_apart"].max())
    return means.reset_index()


def cells(measured: Scores) -> pd.DataFrame:
    """The data sets, lengths and models that were run: dataset, length, model."""
    return measured.frame[CELL[:3]].drop_duplicates()


def with_ours(published: pd.DataFrame, measured: Scores) -> pd.DataFrame:
    """Released means and ours, with the interval over texts: those of `OVER`, published, estimate with its ends, n."""
    of_measured = published.merge(cells(measured), on=CELL[:3]).rename(columns={"value": "published"})
    rows = []
    for row in of_measured.to_dict("records"):
        mean = measured.mean(**{name: row[name] for name in OVER})
        rows.append(row | row_of(mean))
    return pd.DataFrame(rows)


def within_interval(table: pd.DataFrame) -> float:
    """The share of released means within the 95 % interval of ours."""
    return float(table["published"].between(table["low"], table["high"]).mean())


def distances(table: pd.DataFrame) -> str:
    """How far our means are from the released ones, in a sentence."""
    gap = (table["estimate"] - table["published"]).abs()
    return (
        f"Of {len(table):,} released means {within_interval(table):.0%} are within the 95 % interval of ours; the two "
        f"differ by {gap.mean():.3f} on average and by {gap.max():.3f} at most."
    )


def in_short(scores: pd.DataFrame) -> str:
    """The result of the page in a sentence, from `with_ours` of the scores."""
    gap = (scores["estimate"] - scores["published"]).abs()
    return (
        f"Of {len(scores):,} released means of AOPC and NAOPC {within_interval(scores):.0%} are within the 95 % "
        f"interval of ours; the two differ by {gap.mean():.3f} on average (n = {scores['n'].min()} texts in the "
        "smallest cell)."
    )


def wider_searches(measured: Scores) -> pd.DataFrame:
    """The adaptive search next to a beam of width 5 on long texts: dataset, model, wider (by how much the range between
    the bounds grows), n, rows of both, width at last."""
    rows = []
    for dataset, length, model in cells(measured).itertuples(index=False):
        if length != "long":
            continue
        labels = {"dataset": dataset, "length": length, "model": model}
        beam = measured.quantity("metric", **labels, method="beam")
        adaptive = measured.quantity("metric", **labels, method="adaptive")
        wider = adaptive("range") - beam("range")
        row: dict[str, Any] = {"dataset": dataset, "model": model}
        row["wider"] = spoken(wider, ".4f")
        row["n"] = wider.ours.n
        row["rows, beam"] = beam("rows").ours.point
        row["rows, adaptive"] = adaptive("rows").ours.point
        row["width at last"] = adaptive("width").ours.point
        rows.append(row)
    return pd.DataFrame(rows)


def _wide(frame: pd.DataFrame, metrics: list[str], *keys: str) -> pd.DataFrame:
    """The values of some metrics, one column each, by text and model."""
    return frame[frame["metric"].isin(metrics)].pivot(index=[*CELL, *keys], columns="metric", values="value")
