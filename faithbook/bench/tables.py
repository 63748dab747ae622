"""The tables of a bench, made of values of single inputs: the rows of the last chapter, and one more.

Every share and correlation has a 95 % interval over inputs and their number; every yes and no is the answer of the rule
`above` (`faithbook.results.rules`), unsure where it gives neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from faithbook.bench.measure import MIDDLE, Frames
from faithbook.results import rules
from faithbook.results.advice import advice
from faithbook.results.cells import Cells
from faithbook.results.estimates import Quantity
from faithbook.results.numbers import listed
from faithbook.results.side_by_side import (
    BOOK,
    CHANCE,
    FOLLOWS,
    ITSELF,
    RANKS,
    SHUFFLED,
    TIES,
    Known,
    agreements,
    answer,
    followed_truth,
    inputs_needed,
    not_worse_misled,
    preferred_to_chance,
    preferred_truth,
    spearman,
    turned,
)

Tables = dict[str, pd.DataFrame]
Means = dict[tuple[str, ...], Quantity]
YES, UNSURE = "yes", "unsure"
_SHARE, _CORRELATION = (0.0, 1.0), (-1.0, 1.0)
_RESAMPLES = 1999


def means(frame: pd.DataFrame, over: Sequence[str], bounds: tuple[float, float], **fixed: object) -> Means:
    """The mean of every combination of labels, as quantities with common draws; inputs count within their modality.

    `fixed`: labels that all have, one or several.
    """
    frame = frame.dropna(subset=["value"])
    for name, wanted in fixed.items():
        frame = frame[frame[name].isin([wanted] if isinstance(wanted, str) else list(wanted))]  # type: ignore[call-overload]
    if frame.empty:
        return {}
    cells = Cells.of(
        frame, over=over, unit=["modality", "id"], stratum="modality", bounds=bounds, n_resamples=_RESAMPLES
    )
    keys = frame[list(over)].drop_duplicates().itertuples(index=False, name=None)
    # A label may stand in several cells: a mean over these weighs each alike.
    return {tuple(map(str, key)): cells.mean(**dict(zip(over, key, strict=True))) for key in keys}


def _units(frame: pd.DataFrame) -> pd.DataFrame:
    """Values in the columns of `faithbook.engine.units`, as the questions of the last chapter take them."""
    return frame.assign(dataset=frame["modality"], cluster=frame["id"])


# ------------------------------------------------------------------------------------------------------------- a metric
def of_metric(measured: Frames, name: str, direction: str, *, by_amount: bool) -> Tables:
    """Every table of a metric's bench by its name; `answers` comes first and holds what the others say."""
    known = BOOK.beside(name, direction, by_amount=by_amount)  # type: ignore[arg-type]
    values, planted = _units(measured["values"]), _units(measured["planted"])
    tells, amounts = _tells(values, measured["prices"], known)
    right, follows, lost = _truth(planted, known)
    answers = advice(tells, amounts, right, lost, follows, known=known)
    tables = {
        "answers": answers,
        "diagnosticity": tells,
        "density": amounts,
        "agreement": _agreement(values[values["control"] == ""], known, name),
        "planted_truth": right,
        "follows_the_truth": follows,
        "misled": lost,
        "mirror_images": _mirrored(measured["mirrored"], known),
    }
    return {key: table for key, table in tables.items() if len(table)}


def _tells(values: pd.DataFrame, prices: pd.DataFrame, known: Known) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Diagnosticity of every metric with its price, and what is left of it without amounts."""
    values = values.assign(control=values["control"].replace("", np.nan))
    preferred = preferred_to_chance(values, known)
    over = ["modality", "metric", "against"]
    shares = means(preferred, over, _SHARE)
    by_chance: Means = {key[:2]: one for key, one in shares.items() if key[2] == CHANCE}
    rows_of = prices.set_index(["modality", "name"])["rows"]
    table = listed(by_chance, ["modality", "metric"])
    table["ties"] = [shares[*key, TIES].point for key in by_chance]
    table["above chance"] = [answer(one, 0.5) for one in by_chance.values()]
    table["inputs needed"] = [inputs_needed(one, 0.5) for one in by_chance.values()]
    table["gain it would find"] = [rules.smallest_detectable(one) for one in by_chance.values()]
    table["model calls per input"] = [rows_of.get((kind, known.family_of[metric])) for kind, metric in by_chance]
    table = table.sort_values(["modality", "estimate"], ascending=[True, False], ignore_index=True)
    freed = {key: one for key, one in shares.items() if key[1] in known.amounts and key[2] in (ITSELF, RANKS)}
    amounts = listed(freed, over).assign(answer=[answer(one, 0.5) for one in freed.values()])
    return table, amounts


def _agreement(values: pd.DataFrame, known: Known, name: str) -> pd.DataFrame:
    """How far the metric ranks methods as every other does: mean rank correlation over methods, input by input."""
    pairs = agreements(values, known)
    pairs = pairs[(pairs["first"] == name) & pairs["second"].isin(known.directions)]
    correlations = means(pairs, ["modality", "second"], _CORRELATION)
    table = listed(correlations, ["modality", "metric"])
    return table.sort_values(["modality", "estimate"], ascending=[True, False], ignore_index=True)


def _truth(planted: pd.DataFrame, known: Known) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """How often the truth is preferred to itself shuffled, by model; how far a metric follows how true explanations
    are; what it loses of that where erasure misleads."""
    over = ["modality", "model", "metric"]
    preferred = means(preferred_truth(planted, known), over, _SHARE, against=SHUFFLED)
    right = listed(preferred, over).assign(answer=[answer(one, 0.5) for one in preferred.values()])
    followed = followed_truth(planted, known)
    tracks = means(followed, over, _CORRELATION, asked=FOLLOWS)
    misled: Means = {
        (modality, metric): one - tracks[modality, "misled by erasure", metric]
        for (modality, model, metric), one in tracks.items()
        if model == "trained" and (modality, "misled by erasure", metric) in tracks
    }
    lost = listed(misled, ["modality", "metric"]).assign(answer=[not_worse_misled(one) for one in misled.values()])
    return right, listed(tracks, over), lost


def _mirrored(both: pd.DataFrame, known: Known) -> pd.DataFrame:
    """Whether a metric ranks the methods alike on an image and on its mirror image: mean rank correlation."""
    if both.empty:
        return pd.DataFrame()
    both = both[(both["method"] != "random") & both["metric"].isin(known.asking)]
    wide = both.pivot(index=["id", "metric"], columns="method", values=["value", "value_straight"])
    rho = spearman(wide["value"].to_numpy(), wide["value_straight"].to_numpy())
    rhos = wide.index.to_frame(index=False).assign(modality="vision", value=rho)
    correlations = means(rhos, ["modality", "metric"], _CORRELATION)
    return listed(correlations, ["modality", "metric"]).sort_values("estimate", ascending=False, ignore_index=True)


# ------------------------------------------------------------------------------------------------------------- a method
METHOD_QUESTIONS = ["beats random", "beats itself shuffled", "finds what was planted", "is not misled"]


def of_method(measured: Frames, name: str) -> Tables:
    """Every table of a method's bench by its name; `answers` comes first: one row a modality."""
    values = _units(measured["values"])
    every = Known(BOOK.directions, BOOK.family_of, BOOK.asking, BOOK.asking)
    preferred = preferred_to_chance(values.assign(control=values["control"].replace("", np.nan)), every)
    preferred = preferred[preferred["metric"].isin(every.asking)]
    of_subject = preferred[preferred["method"] == name]
    by_metric = means(of_subject, ["modality", "metric", "against"], _SHARE, against=[CHANCE, ITSELF])
    beats = listed(by_metric, ["modality", "metric", "against"])
    beats["answer"] = [answer(one, 0.5) for one in by_metric.values()]
    by_method = means(preferred, ["modality", "method"], _SHARE, against=CHANCE)
    true = means(measured["true"], ["modality", "model", "method"], _CORRELATION)
    tables = {
        "answers": _answers_of_method(by_metric, true, name),
        "preferred_to_random": beats,
        "beside_other_methods": _best_first(listed(by_method, ["modality", "method"])),
        "ranks": _ranks(values[values["control"] == ""]),
        "how_true": _best_first(listed(true, ["modality", "model", "method"]), ["modality", "model"]),
        "alike": _best_first(listed(means(measured["alike"], ["modality", "method"], _CORRELATION), _BY_METHOD)),
        "mirror_images": _mirrored_methods(measured["rho"]),
        "cost": measured["prices"].query("seconds == seconds")[["modality", "name", "rows", "seconds"]],
    }
    return {key: table for key, table in tables.items() if len(table)}


_BY_METHOD = ["modality", "method"]


def _best_first(table: pd.DataFrame, within: Sequence[str] = ("modality",)) -> pd.DataFrame:
    order = [True] * len(within) + [False]
    return table.sort_values([*within, "estimate"], ascending=order, ignore_index=True)


def _answers_of_method(by_metric: Means, true: Means, name: str) -> pd.DataFrame:
    """The four questions: the first two are a yes where most metrics say yes alone, the third compares with random
    scores on the model that is trained as usual, the last asks what is lost on the misled one."""
    rows = []
    for modality in dict.fromkeys(key[0] for key in by_metric):
        row: dict[str, Any] = {"modality": modality}
        sizes = []
        for question, against in zip(METHOD_QUESTIONS[:2], (CHANCE, ITSELF), strict=True):
            parts = [one for key, one in by_metric.items() if key[0] == modality and key[2] == against]
            answers = [answer(one, 0.5) for one in parts]
            for verdict in (YES, "no"):
                if answers.count(verdict) > len(answers) / 2:
                    row[question] = verdict
            row.setdefault(question, UNSURE)
            row[f"{question}: metrics"] = f"{answers.count(YES)} of {len(answers)}"
            sizes += [one.n for one in parts]
        usual, misled = true.get((modality, "trained", name)), true.get((modality, "misled by erasure", name))
        chance = true.get((modality, "trained", "random"))
        row[METHOD_QUESTIONS[2]] = UNSURE if usual is None or chance is None else answer(usual - chance)
        row[METHOD_QUESTIONS[3]] = UNSURE if usual is None or misled is None else not_worse_misled(usual - misled)
        sizes += [one.n for one in (usual, misled) if one is not None]
        rows.append(row | {"n": min(sizes)})
    counts = [f"{one}: metrics" for one in METHOD_QUESTIONS[:2]]
    return pd.DataFrame(rows).reindex(columns=["modality", *METHOD_QUESTIONS, "n", *counts])


def _ranks(values: pd.DataFrame) -> pd.DataFrame:
    """Each method's mean rank over the metrics of faithfulness (1 is best, ties share), with its interval over inputs.

    Metrics come in families that agree by construction, so a mean rank is a summary and not a vote.
    """
    better = turned(values)
    better = better[better["metric"].isin(BOOK.asking)].dropna(subset=["value"])
    rank = better.groupby(["modality", "id", "metric"])["value"].rank(ascending=False)
    each = better.assign(value=rank).groupby(["modality", "id", "method"])["value"].mean().reset_index()
    most = float(values["method"].nunique())
    table = listed(means(each, _BY_METHOD, (1.0, most)), _BY_METHOD)
    return table.sort_values(["modality", "estimate"], ignore_index=True)


def _mirrored_methods(rho: pd.DataFrame) -> pd.DataFrame:
    """Rank correlation of an image's scores with those of its mirror image, and its lead over two floors."""
    if rho.empty:
        return pd.DataFrame()
    correlations = means(rho, _BY_METHOD, _CORRELATION)
    table = listed(correlations, _BY_METHOD)
    for column, floor in (("less random", "random"), ("less the middle", MIDDLE)):
        below = correlations.get(("vision", floor))
        table[column] = [float("nan") if below is None else (one - below).point for one in correlations.values()]
    return _best_first(table)


# ------------------------------------------------------------------------------------------------------------- in words
_INPUTS = {"text": "texts", "vision": "images"}


def in_words(answers: pd.DataFrame, name: str, questions: Sequence[str]) -> list[str]:
    """The answers to the questions about a metric or a method, a line for each modality.

    >>> answers = pd.DataFrame({"modality": ["text"], "n": [20], "tells": ["yes"], "is right": ["unsure"]})
    >>> in_words(answers, "mine", ["tells", "is right"])
    ['On texts (n = 20), mine: tells: yes; is right: unsure.']
    """
    of_name = answers[answers["metric"] == name] if "metric" in answers.columns else answers
    return [
        f"On {_INPUTS[row['modality']]} (n = {row['n']}), {name}: "
        f"{'; '.join(f'{question}: {row[question]}' for question in questions)}."
        for row in of_name.to_dict("records")
    ]
