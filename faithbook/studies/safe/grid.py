"""The grid, measured: every metric on every explanation of every input of a condition, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from faithbook.studies.safe import design, outcomes
from faithbook.studies.safe.models import Block, GridModel, Reading, drawn_block, inputs_of_block
from faithlib.catalogue import DIRECTIONS, FAMILIES, LANGUAGE, LOWER
from faithlib.evaluation import MetricSettings, RunSettings, count_rows, evaluate
from faithlib.names import MetricName

Floats = NDArray[np.float64]

ABOUT = ("truth", "size", "distractor", "length", "erasure")
RANK, WRONG = "rank correlation", "wrong orders"
UNTOUCHED = "untouched"
SRG = "srg"
ERASE: Final = "mask"
_NEEDS_A_LANGUAGE_MODEL = "hellinger"


def metrics_judged() -> list[str]:
    """The metrics of the grid: those of faithfulness, SRG, and those made for language models that need none. Metrics
    that need limits of AOPC are rising functions of AOPC or SRG within one input, and are left to the comparison of
    models."""
    families = {**FAMILIES, **LANGUAGE}
    named = [
        metric
        for name, family in families.items()
        if family.asks_model and not family.needs_bounds and name != _NEEDS_A_LANGUAGE_MODEL
        for metric in family.directions
    ]
    return named if SRG in named else [*named, SRG]


def values_of(reading: Reading, metrics: Sequence[str], *, draws: int) -> Floats:
    """Every metric of every explanation of a block under one model, [B, M, E], higher always better."""
    block = reading.block
    methods = {str(e): torch.from_numpy(block.scores[:, e]).float() for e in range(block.scores.shape[1])}
    known = [name for name in metrics if name in DIRECTIONS]
    asked = list(known)
    if SRG in metrics and SRG not in DIRECTIONS:
        asked = list(dict.fromkeys([*known, "aopc_morf", "aopc_lerf"]))
    table = evaluate(
        GridModel(reading),
        inputs_of_block(block),
        methods=methods,
        metrics=cast(list[MetricName], asked),
        settings=MetricSettings(erase=ERASE, draws=draws),
        target=0,
        run=RunSettings(check=False),
    )
    wide = table.pivot_table(index=["metric", "method"], columns="input", values="value", dropna=False, observed=False)
    order = [str(e) for e in range(block.scores.shape[1])]
    by_metric = {name: wide.loc[name].loc[order].to_numpy(dtype=float).T for name in asked}
    oriented = {name: -value if DIRECTIONS[name] == LOWER else value for name, value in by_metric.items()}
    if SRG in metrics and SRG not in DIRECTIONS:
        oriented[SRG] = oriented["aopc_morf"] + oriented["aopc_lerf"]
    return np.stack([oriented[name] for name in metrics], axis=1)


def prices(metrics: Sequence[str], *, draws: int, features: int) -> dict[str, float]:
    """Rows of the model that the library runs for each metric alone, per explanation, the whole input left out."""
    block = drawn_block(0, "single", 1, distractor=False, length=features, seeds=range(1), inputs=8)
    model = GridModel(Reading(block, "clean", design.NEVER, design.NOWHERE))
    scores = torch.from_numpy(block.scores[:, -1]).float()
    found = {}
    for name in metrics:
        asked = cast(list[MetricName], [name] if name in DIRECTIONS else ["aopc_morf", "aopc_lerf"])
        settings = MetricSettings(erase=ERASE, draws=draws)
        counted = count_rows(model, inputs_of_block(block), methods={"one": scores}, metrics=asked, settings=settings)
        found[name] = counted.together / len(block) - 1
    return found


def blocks_of_grid(listed: pd.DataFrame, seeds: range, inputs: int) -> Iterator[tuple[Block, pd.DataFrame]]:
    """Each block with its conditions, the model that never errs first."""
    for number, part in listed.groupby("block", sort=True):
        first = part.iloc[0]
        yield (
            drawn_block(
                int(str(number)),
                str(first.truth),
                int(first["size"]),
                distractor=bool(first.distractor),
                length=int(first.length),
                seeds=seeds,
                inputs=inputs,
            ),
            part,
        )


def measured(
    block: Block, part: pd.DataFrame, metrics: Sequence[str], *, draws: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The outcomes of a block's conditions: one row per condition, input, metric and outcome; and, for each condition,
    metric and half of the seeds, the means of what is looked at only together (other qualities, untouched inputs)."""
    clear = design.declared_plan()["outcomes"]["clear_pair"]
    qualities = outcomes.qualities(block)
    main = qualities[outcomes.MAIN]
    twin: Floats | None = None
    rows, together = [], []
    halves = {"choose": block.seed % 2 == 0, "report": block.seed % 2 == 1}
    for condition in part.to_dict("records"):
        reading = Reading(block, str(condition["erasure"]), str(condition["error"]), str(condition["whither"]))
        values = values_of(reading, metrics, draws=draws)
        if condition["error"] == design.NEVER:
            twin = values
        by_outcome = {
            RANK: outcomes.rank_correlation(values, main),
            WRONG: outcomes.wrong_orders(values, main, clear=clear),
        }
        beside = {
            name: outcomes.rank_correlation(values, quality)
            for name, quality in qualities.items()
            if name != outcomes.MAIN
        }
        assert twin is not None  # a block's first condition is the model that never errs
        beside[UNTOUCHED] = outcomes.untouched(values, twin).astype(float)
        name = condition["condition"]
        rows += [_by_input(block, metrics, name, outcome, found) for outcome, found in by_outcome.items()]
        together += [
            _by_half(metrics, name, half, number, outcome, found[chosen])
            for outcome, found in beside.items()
            for number, (half, chosen) in enumerate(halves.items())
            if chosen.any()
        ]
    return pd.concat(rows, ignore_index=True), pd.concat(together, ignore_index=True)


def _by_input(block: Block, metrics: Sequence[str], condition: str, outcome: str, found: Floats) -> pd.DataFrame:
    inputs, count = found.shape
    return pd.DataFrame(
        {
            "input": np.repeat(
                [f"{seed}-{number}" for seed, number in zip(block.seed, block.number, strict=True)], count
            ),
            "seed": np.repeat(block.seed, count),
            "condition": condition,
            "method": np.tile(np.array(metrics), inputs),
            "metric": outcome,
            "value": found.ravel(),
        }
    )


def _by_half(
    metrics: Sequence[str], condition: str, half: str, number: int, outcome: str, found: Floats
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "input": half,
            "seed": number,
            "condition": condition,
            "method": metrics,
            "metric": outcome,
            "value": np.nanmean(found, axis=0) if not np.isnan(found).all() else np.nan,
        }
    )
