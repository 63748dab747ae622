"""The grid's question asked of trained models: inputs with planted features, graded explanations, metrics.

A model that was taught to answer one class where a certain amount is erased errs toward the class for inputs of that
class and away from it for the others. Shape letters: B inputs, F features, E explanations, M metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithbook.models.load import Classifier
from faithbook.studies.safe import design, outcomes
from faithbook.studies.safe.grid import RANK, WRONG
from faithbook.studies.safe.trainings import Training
from faithlib.catalogue import DIRECTIONS, FAMILIES, LOWER
from faithlib.evaluation import MetricSettings, RunSettings, evaluate
from faithlib.inputs import Inputs
from faithlib.names import Erasure, MetricName
from faithlib.perturb import Perturber

Floats = NDArray[np.float64]

SRG = "srg"
AMOUNTS = (0.1, 0.45, 0.75)
"""Shares of features erased at which it is checked whether a model errs as it was taught: light, middle, heavy."""


def metrics_asked() -> list[MetricName]:
    """The metrics of faithfulness of the catalogue that need no limits, and SRG."""
    families = [family for family in FAMILIES.values() if family.asks_model and not family.needs_bounds]
    return cast(list[MetricName], [*(name for family in families for name in family.directions), SRG])


def explanations(marks: Tensor, present: Tensor, ids: Sequence[str]) -> Tensor:
    """Graded explanations [B, E, F] of inputs with planted features (bool [B, F]), as those of the grid for a truth any
    member of which is enough: every second one starts from one member. Drawn by the input's id."""
    rows = []
    for marked, in_text, name in zip(marks.numpy(), present.numpy(), ids, strict=True):
        drawn = np.random.default_rng([int.from_bytes(name.encode(), "little") % 2**63, 55])
        all_marked = marked.astype(float)
        single_mark = np.zeros_like(all_marked)
        single_mark[drawn.choice(np.flatnonzero(marked))] = 1.0
        of_input = []
        for rung, size in enumerate(design.declared_plan()["explanations"]["noise"]):
            noise = drawn.normal(size=len(all_marked))
            scores = noise if size == "alone" else (all_marked, single_mark)[rung % 2] + size * noise
            of_input.append(np.where(in_text, scores, 0.0))
        rows.append(of_input)
    return torch.tensor(np.array(rows))


def planted_qualities(scores: Tensor, marks: Tensor, present: Tensor) -> Floats:
    """Average precision of what was planted, [B, E]."""
    ranked = np.where(present.numpy()[:, None], scores.numpy(), -np.inf)
    quality: Floats = outcomes.best_of(outcomes.average_precision, ranked, marks.numpy()[:, None])
    return quality


def measured(
    classifier: Classifier,
    inputs: Inputs,
    marks: Tensor,
    labels: Tensor,
    ids: Sequence[str],
    training: Training,
    *,
    erase: Erasure,
    draws: int,
) -> pd.DataFrame:
    """The outcomes of every metric on one model: one row per input, metric and outcome, with the way of the error."""
    names = metrics_asked()
    present = inputs.feature_mask.cpu()
    scores = explanations(marks, present, ids)
    quality = planted_qualities(scores, marks, present)
    methods = {str(e): scores[:, e].float() for e in range(scores.shape[1])}
    table = evaluate(
        classifier.model,
        inputs,
        methods=methods,
        metrics=names,
        settings=MetricSettings(erase=erase, draws=draws),
        run=RunSettings(check=False),
    )
    wide = table.set_index(["metric", "method", "input"]).value.unstack("input")
    values = np.stack([wide.loc[name].loc[list(methods)].to_numpy(dtype=float).T for name in names], axis=1)
    turned = np.array([-1.0 if DIRECTIONS[name] == LOWER else 1.0 for name in names])[:, None]
    values = values * turned
    clear = design.declared_plan()["outcomes"]["clear_pair"]
    found = {
        RANK: outcomes.rank_correlation(values, quality),
        WRONG: outcomes.wrong_orders(values, quality, clear=clear),
    }
    ways = [training.whither(label) for label in labels.tolist()]
    rows = [
        {"input": name, "whither": way, "method": metric, "metric": outcome, "value": of_outcome[b, m]}
        for outcome, of_outcome in found.items()
        for b, (name, way) in enumerate(zip(ids, ways, strict=True))
        for m, metric in enumerate(names)
    ]
    return pd.DataFrame(rows)


def errs(
    classifier: Classifier, inputs: Inputs, marks: Tensor, *, answer: int, erase: Erasure, copies: int = 8
) -> pd.DataFrame:
    """Whether a model errs as it was taught: of copies with their planted features left and so many of the others
    erased at random, the share that gets the class `answer`; one row per amount and input."""
    perturber = Perturber(classifier.model, inputs, erase=erase)
    present = perturber.feature_mask
    generator = torch.Generator().manual_seed(0)
    rows = []
    for amount in AMOUNTS:
        noise = torch.rand(len(inputs), copies, present.shape[1], generator=generator)
        # What was planted comes first, and so goes last; what an input does not have counts as gone.
        noise = noise.masked_fill(marks[:, None].cpu(), -1.0).masked_fill(~present[:, None].cpu(), 2.0)
        kept_count = ((1 - amount) * present.sum(dim=1).cpu()).round().long().clamp(min=1)
        keep_mask = noise.argsort(dim=2).argsort(dim=2) < kept_count[:, None, None]
        answers = perturber.logits(keep_mask.to(present.device)).argmax(dim=-1).cpu()
        share = (answers == answer).float().mean(dim=1)
        rows += [{"amount": f"{amount:.0%}", "row": b, "value": float(x)} for b, x in enumerate(share)]
    return pd.DataFrame(rows)
