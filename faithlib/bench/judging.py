"""What is asked about metrics and methods on the models of `models`, plain and under the `attacks`, and the table that
comes out.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from faithlib.attribution.own import InsideMethod
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.bench.attacks import ATTACKS, Attack, random_scores
from faithlib.bench.models import Case, WordModel, cases
from faithlib.catalogue import FAITHFULNESS
from faithlib.errors import check_counts
from faithlib.evaluation import MetricSettings, RunSettings, count_rows, evaluate, explain, shuffled
from faithlib.evaluation.measures import families_of, names_of
from faithlib.evaluation.summary import _interval
from faithlib.inputs import TextInputs
from faithlib.metrics import crosslingual_rho
from faithlib.metrics.registry import Family
from faithlib.names import MethodName, MetricName

__all__ = ["LADDER", "MEASURED_FROM_CHANCE", "Bench", "bench", "faults_of"]

MEASURED_FROM_CHANCE: tuple[MetricName, ...] = (
    "srg",
    "nsrg",
    "adjusted_naopc_morf",
    "adjusted_naopc_lerf",
    "adjusted_srg",
)
LADDER = (0.25, 0.5, 0.75)  # shares of the true scores that have changed places: ever less true


class Bench(pd.DataFrame):
    """What `bench` returns: one row for each thing that is judged and question.

    A DataFrame with columns judged, question, mean, low, high (a 95 % t interval over inputs) and n. `summary()` is a
    table to read.

    Examples
    --------
    >>> row = {"judged": "saco", "question": "tracks", "mean": 0.7, "low": 0.6, "high": 0.8, "n": 72}
    >>> Bench([row]).summary().loc["saco", "tracks"]
    '0.70 ± 0.10'
    """

    @property
    def _constructor(self) -> Any:
        return Bench

    def summary(self) -> pd.DataFrame:
        """One row for each metric or method: means with half of their intervals; a dash where a question has no answer,
        because no input gives the metric two different values to order.

        Returns
        -------
        DataFrame
            Strings, by what is judged and question.
        """
        frame = pd.DataFrame(self)
        half = (frame["high"] - frame["low"]) / 2
        cells = []
        for mean, width in zip(frame["mean"], half, strict=True):
            value = f"{mean:.1f}" if pd.isna(width) else f"{mean:.2f} ± {width:.2f}"
            cells.append("–" if pd.isna(mean) else value)
        table = frame.assign(cell=cells).pivot(index="judged", columns="question", values="cell")
        return table.loc[list(dict.fromkeys(frame["judged"])), list(dict.fromkeys(frame["question"]))].fillna("")


def bench(
    metrics: Sequence[MetricName | Family] | None = None,
    methods: Sequence[MethodName | ErasingMethod | InsideMethod] = (),
    *,
    attacks: Sequence[Attack] = ATTACKS,
    inputs: int = 24,
    seed: int = 0,
) -> Bench:
    """Judge metrics, and methods, on models whose true explanation is known, plain and under attack.

    Parameters
    ----------
    metrics : Sequence[MetricName | Family], optional
        Names of `catalogue.DIRECTIONS` and metrics of your own; default: where no methods are named, those that ask
        the model and those measured from chance.
    methods : Sequence[MethodName | ErasingMethod | InsideMethod], default ()
        Names of `attribution.methods` and methods of your own.
    attacks : Sequence[Attack], default ATTACKS
        What is tried beside random scores and the plain models.
    inputs : int, default 24
        Of each of the three models.
    seed : int, default 0
        Of the inputs, of random scores and of metrics that draw.

    Returns
    -------
    Bench
        Of each metric: *separates*, how often it prefers the truth to random scores (a tie counts half; 0.5 by chance);
        *tracks*, the rank correlation over explanations of one input with how true they are (1 at best, 0 by chance);
        the same share for the decoy of each attack, and both where an attack is on the model; *rows* of the model for
        each attribution. Of each method: *finds*, its rank correlation with the truth, on the plain models and under
        each attack on the model.

    Raises
    ------
    UnknownNameError
        For a metric or method that does not exist.
    InputError
        For fewer than 1 input.

    Examples
    --------
    >>> found = bench(["aopc_morf"], ["occlusion"], attacks=[], inputs=4)
    >>> list(found.question)
    ['separates', 'tracks', 'rows', 'finds']
    """
    check_counts(inputs=inputs)
    if metrics is None and methods:
        metrics = []
    if metrics is None:
        metrics = [*FAITHFULNESS, *MEASURED_FROM_CHANCE]
    known = cases(inputs, seed)
    conditions: dict[str, Callable[[WordModel], nn.Module] | None] = {"": None}
    conditions |= {f" ({attack.name})": attack.model for attack in attacks if attack.model is not None}
    decoys = {attack.name: attack.decoy for attack in attacks if attack.model is None}
    rows = []
    for condition, attacked in conditions.items():
        models = [case.model if attacked is None else attacked(case.model) for case in known]
        if metrics:
            rows += _of_metrics(known, models, metrics, {} if condition else decoys, condition, seed)
        if metrics and not condition:
            rows += _costs(known, metrics)
        if methods:
            rows += _of_methods(known, models, methods, condition)
    return Bench(rows)


def faults_of(metric: Family, *, inputs: int = 6, seed: int = 0) -> list[str]:
    """What is wrong with a metric before it is judged: values that depend on what they may not.

    Parameters
    ----------
    metric : Family
        A metric of `faithlib.metrics.metric`.
    inputs : int, default 6
        How many inputs it is tried on, at least 1.
    seed : int, default 0
        Of the inputs, of random scores, and of the metric.

    Returns
    -------
    list of str
        A sentence for each fault; empty where there is none.

    Examples
    --------
    >>> from faithlib.metrics import metric
    >>> @metric("place", rows=None, direction="higher")
    ... def place(answers, scores, about):
    ...     return torch.arange(len(scores)).double()
    >>> faults_of(place)
    ['place changes with the order of the inputs.']
    """
    case = cases(inputs, seed)[0]
    random, name = random_scores(case.truth, case.inputs, seed), next(iter(metric.directions))

    def values(scores: Tensor, some: Sequence[int]) -> Tensor:
        rows = list(some)
        part, given = case.inputs[rows], scores[rows]
        given = given[:, : part.feature_mask.shape[1]]
        table = evaluate(
            case.model,
            part,
            methods={"mine": given},
            metrics=[metric],
            settings=MetricSettings(seed=seed),
            run=RunSettings(check=False),
        )
        return torch.tensor(table.loc[table["metric"] == name, "value"].to_numpy())

    everyone = range(inputs)
    first = values(random, everyone)
    faults = []
    if not _same(first, values(random, everyone)):
        return [f"{name} answers the same question twice and differently: let it draw from `about.seed`."]
    if not _same(first, values(random, everyone[::-1]).flip(0)):
        faults.append(f"{name} changes with the order of the inputs.")
    elif not _same(first, torch.cat([values(random, [b]) for b in everyone])):
        faults.append(
            f"{name} changes with the other inputs: the value of an input alone differs from its value beside others."
        )
    if bool(first.isnan().all()):
        faults.append(f"{name} is NaN for every input.")
    elif _same(first, values(case.truth, everyone)) and _same(first, first[:1].expand(len(first))):
        faults.append(f"{name} has the same value for every explanation of every input.")
    return faults


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-4, atol=1e-4, equal_nan=True)


def _of_metrics(
    known: Sequence[Case],
    models: Sequence[nn.Module],
    metrics: Sequence[MetricName | Family],
    decoys: Mapping[str, Callable[[Tensor, TextInputs, int], Tensor]],
    condition: str,
    seed: int,
) -> list[dict[str, Any]]:
    """Rows of the answers about each metric under one condition."""
    frames = []
    for case, model in zip(known, models, strict=True):
        ladder = {"truth": case.truth}
        ladder |= {f"{share:.0%} moved": shuffled(case.truth, case.inputs, share=share, seed=seed) for share in LADDER}
        ladder["random"] = random_scores(case.truth, case.inputs, seed)
        false = {name: make(case.truth, case.inputs, seed) for name, make in decoys.items()}
        explanations = ladder | false
        table = evaluate(
            model,
            case.inputs,
            methods=explanations,
            metrics=list(metrics),
            settings=MetricSettings(seed=seed),
            run=RunSettings(check=False),
        )
        signs = table["direction"].map({"higher": 1.0, "lower": -1.0})
        frames.append(pd.DataFrame(table.assign(good=table["value"] * signs, case=case.name)))
    values = pd.concat(frames).pivot(index=["metric", "case", "input"], columns="method", values="good")
    rungs = values[["truth", *(f"{share:.0%} moved" for share in LADDER), "random"]]
    level = torch.arange(len(rungs.columns), 0, -1).double().expand(len(rungs), -1)
    tracks = pd.Series(crosslingual_rho(level, torch.tensor(rungs.to_numpy())).numpy(), index=values.index)
    asked = {"separates": _preferred(values, "random"), "tracks": tracks}
    asked |= {name: _preferred(values, name) for name in decoys}
    rows = []
    for name in names_of(metrics):
        for question, answers in asked.items():
            if name in answers.index.get_level_values("metric"):
                rows.append(_row(name, question + condition, answers[name]))
    return rows


def _preferred(values: pd.DataFrame, decoy: str) -> pd.Series[Any]:
    """Whether the truth is better than a decoy: 1, 0, or a half where they are equal; NaN where either is."""
    gain = (values["truth"] - values[decoy]).round(6)  # answers are single precision
    return (gain > 0).astype(float).where(gain != 0, 0.5).where(gain.notna())


def _of_methods(
    known: Sequence[Case],
    models: Sequence[nn.Module],
    methods: Sequence[MethodName | ErasingMethod | InsideMethod],
    condition: str,
) -> list[dict[str, Any]]:
    """Rows of how true each method's scores are under one condition."""
    finds: dict[str, list[Tensor]] = {}
    for case, model in zip(known, models, strict=True):
        for name, scores in explain(model, case.inputs, list(methods), run=RunSettings(check=False)).items():
            rho = crosslingual_rho(case.truth, scores, keep=case.inputs.feature_mask)
            finds.setdefault(name, []).append(rho)
    return [_row(name, "finds" + condition, pd.Series(torch.cat(rhos).numpy())) for name, rhos in finds.items()]


def _costs(known: Sequence[Case], metrics: Sequence[MetricName | Family]) -> list[dict[str, Any]]:
    """Rows of what one attribution of one input costs under each metric, all that it needs of the model included."""
    counts: dict[str, list[float]] = {}
    for case in known:
        found = count_rows(case.model, case.inputs, methods={"truth": case.truth}, metrics=list(metrics))
        for family, count in found.alone.items():
            counts.setdefault(family, []).append(count / len(case.inputs))
    families = families_of(metrics, has_gold=False)
    family_of = {name: family.name for family in families.values() for name in family.directions}
    return [_row(name, "rows", pd.Series(counts[family_of[name]]), interval=False) for name in names_of(metrics)]


def _row(judged: str, question: str, values: pd.Series[Any], *, interval: bool = True) -> dict[str, Any]:
    mean, half, n = _interval(values)
    half = half if interval else math.nan
    return {"judged": judged, "question": question, "mean": mean, "low": mean - half, "high": mean + half, "n": n}
