"""Scores of the same explainer on several models: which may be compared across models?

Two kinds of models: closed forms, on which an explainer is equally good by construction; and the six whose answers Edin
et al. (2025) released, on which only random scores are known to be equally good everywhere.

Shape letters: B inputs, F features, S sets of features.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from faithbook.studies.naopc import edin
from faithbook.studies.safe import design, outcomes
from faithbook.studies.safe.across_models import FAMILIES, PERFECT, RANDOM, SPOILT
from faithbook.studies.safe.models import Block, Reading, drawn_block
from faithlib.bounds import exact_bounds, naopc
from faithlib.evaluation import aopc_scores
from faithlib.metrics import chance_adjusted, nsrg, srg

FEATURES = 8
SEEDS = range(8)
_NOISE = 0.5
_BLOCKS = {("additive", 1): 1001, ("additive", 2): 1002, ("additive", 4): 1004, ("and", 2): 1002, ("or", 2): 1002}
"""Numbers that inputs are drawn from: those of one size are the same inputs."""


def family(name: str, inputs: int) -> dict[str, Reading]:
    """The models of a family, by what tells them apart, on so many inputs."""

    def of(kind: str, size: int, error: str = design.NEVER, **scale: float) -> Reading:
        number = _BLOCKS[kind, size]
        each = -(-inputs // len(SEEDS))
        block = drawn_block(number, kind, size, distractor=False, length=FEATURES, seeds=SEEDS, inputs=each)
        whither = design.NOWHERE if error == design.NEVER else "away"
        return Reading(block, "clean", error, whither, **scale)

    if name == "scale":
        ends = ((0.1, 0.9), (0.1, 0.5), (0.4, 0.9), (0.3, 0.6))
        return {f"p from {low} to {high}": of("additive", 2, base=low, height=high - low) for low, high in ends}
    if name == "size":
        return {f"{size} features": of("additive", size) for size in (1, 2, 4)}
    if name == "structure":
        return {kind: of(kind, 2) for kind in ("additive", "and", "or")}
    return {error: of("additive", 2, error) for error in (design.NEVER, "light", "heavy")}


def answers(reading: Reading) -> edin.AnswerTable:
    """What a closed-form model answers to every set of features of its inputs."""
    removed = torch.arange(2**FEATURES)
    left = (removed[:, None] >> torch.arange(FEATURES)) & 1 == 0
    count = len(reading.block)
    owner = torch.arange(count).repeat_interleave(len(left))
    p = reading(left.repeat(count, 1).double(), owner)[:, 0]
    return edin.AnswerTable(range(count), list(p.unflatten(0, (count, len(left)))))


def explainers(block: Block) -> dict[str, Tensor]:
    """The three explainers' scores [B, F]: the truth, the truth with noise, noise alone. The noise of an input is the
    same in all models."""
    truth = block.scores[:, 0]
    drawn = [
        np.random.default_rng([FEATURES, seed, number]).normal(size=(2, truth.shape[1]))
        for seed, number in zip(block.seed.tolist(), block.number.tolist(), strict=True)
    ]
    noise, other = np.stack(drawn, axis=1)
    by_name = {PERFECT: truth, SPOILT: truth + _NOISE * noise, RANDOM: other}
    return {name: torch.from_numpy(scores) for name, scores in by_name.items()}


def scores_of(table: edin.AnswerTable, methods: Mapping[str, Tensor]) -> pd.DataFrame:
    """The five scores of explanations [B, F], by text: NaN where an explanation is missing (NaN in its scores), or
    where limits leave a score without a value."""
    bounds = exact_bounds(table)
    rows = []
    for method, of_method in methods.items():
        missing = of_method.isnan().any(dim=1)
        found = aopc_scores(table, of_method.nan_to_num())
        morf, lerf = found["aopc_morf"], found["aopc_lerf"]
        columns = {
            "aopc": morf,
            "naopc": naopc(morf, bounds.lower, bounds.upper),
            "chance-adjusted naopc": chance_adjusted(morf, bounds.random, bounds.upper),
            "srg": srg(morf, lerf),
            "srg over the range": nsrg(morf, lerf, bounds.lower, bounds.upper),
        }
        values = {name: torch.where(missing, torch.nan, value.double()).numpy() for name, value in columns.items()}
        rows.append(pd.DataFrame({"id": table.ids, "method": method, **values}))
    return pd.concat(rows, ignore_index=True)


def closed_form(inputs: int) -> pd.DataFrame:
    """The scores of the three explainers on every closed-form model, and how good they are: one row per family, model,
    input and explainer."""
    parts = []
    for name in FAMILIES:
        for model, reading in family(name, inputs).items():
            methods = explainers(reading.block)
            found = scores_of(answers(reading), methods)
            stacked = np.stack([scores.numpy() for scores in methods.values()], axis=1)
            truth = reading.block.truth[:, None]
            quality = outcomes.best_of(outcomes.average_precision, stacked, truth)
            found["quality"] = quality.T.ravel()
            parts.append(found.assign(family=name, model=model))
    return pd.concat(parts, ignore_index=True)


def released(model: str, dataset: str, *, most: int | None = None) -> pd.DataFrame:
    """The five scores of the released attributions on one model's released answers."""
    table = edin.answers(model, dataset, most=most)
    found = scores_of(table, edin.scores_of(model, dataset, table))
    return found.assign(model=model, dataset=dataset)
