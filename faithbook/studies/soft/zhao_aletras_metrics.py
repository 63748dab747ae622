"""Hard and soft scores of every attribution of some texts, with what is true of a text whatever explains it: what
`soft_metrics` computes.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import torch
from torch import Tensor

from faithbook.sources.datasets import Dataset
from faithbook.studies.soft.zhao_aletras_soft import Task
from faithlib.inputs import TextInputs
from faithlib.metrics.erasure import hard, soft
from faithlib.perturb import Perturber


def facts_of(task: Task, texts: Dataset, perturber: Perturber) -> pd.DataFrame:
    """What is true of an input whatever explains it, one row each."""
    inputs = perturber.inputs
    assert isinstance(inputs, TextInputs)
    return pd.DataFrame(
        {
            "dataset": task.dataset,
            "model_seed": task.seed,
            "input": texts.ids,
            "n_features": inputs.n_features,
            "truncated": inputs.truncated,
            "p_full": perturber.full.cpu(),
            "p_empty": perturber.empty.cpu(),
            "predicted": perturber.predicted.cpu(),
            "label": texts.labels,
        }
    )


def hard_and_soft(
    perturber: Perturber,
    scores: Mapping[str, Tensor],
    facts: pd.DataFrame,
    *,
    ratios: Sequence[float],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """Every value of every method, beside the facts of its input: hard ones by length (`ratio`), soft ones over draws,
    with their Monte-Carlo error (`mc_error`) and the value of the first draw alone (`value_one_draw`)."""
    # The rows of all methods are queued before the first value is made, so that they share forward passes.
    queued = {}
    for method, score in scores.items():
        hard_values = hard.later(perturber, score, ratios=ratios)
        queued[method] = (hard_values, soft.later(perturber, score, draws=draws, seed=seed))
    tables = []
    for method, (hard_values, soft_values) in queued.items():
        for metric, by_length in hard_values().items():
            for ratio, value in zip(ratios, by_length.cpu().T, strict=True):
                tables.append(facts.assign(method=method, metric=metric, ratio=ratio, value=value))
        for metric, by_draw in soft_values().items():
            tables.append(
                facts.assign(
                    method=method,
                    metric=metric,
                    value=by_draw.mean(dim=1).cpu(),
                    mc_error=monte_carlo_error(by_draw).cpu().numpy(),
                    value_one_draw=by_draw[:, 0].cpu(),
                )
            )
    return pd.concat(tables, ignore_index=True)


def monte_carlo_error(by_draw: Tensor) -> Tensor:
    """The standard error [B] of the mean of values [B, R] limited to [0, 1]; NaN of a single draw.

    Without limits, inputs whose probability hardly falls when everything is erased have errors of any size.

    >>> monte_carlo_error(torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
    tensor([0.5000, 0.0000])
    """
    draws = by_draw.shape[1]
    if draws == 1:
        return torch.full_like(by_draw[:, 0], torch.nan)
    spread: Tensor = by_draw.clamp(0, 1).std(dim=1) / draws**0.5
    return spread


def tokens_shown(
    task: Task, texts: Dataset, inputs: TextInputs, scores: Mapping[str, Tensor], wanted: int
) -> pd.DataFrame:
    """Tokens and scores of the first `wanted` texts, a row for each token and method."""
    rows = []
    for b, name in enumerate(texts.ids[:wanted]):
        for method, score in scores.items():
            for position, token in enumerate(inputs.features[b]):
                rows.append(
                    {
                        "dataset": task.dataset,
                        "model_seed": task.seed,
                        "input": name,
                        "position": position,
                        "token": token,
                        "method": method,
                        "score": score[b, position].item(),
                    }
                )
    return pd.DataFrame(rows)
