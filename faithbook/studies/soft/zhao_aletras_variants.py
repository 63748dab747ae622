"""Hard and soft scores with one choice changed at a time, and soft ones with what Appendix C of the paper tries instead
of dropout: what `soft_variants` computes.

Shape letters: B inputs, F features, R lengths or draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from faithbook.sources.datasets import Dataset
from faithbook.studies.soft.zhao_aletras_soft import Finish, Task, attention_mask_scores, gaussian_scores
from faithlib.evaluation import RELEASED_RATIOS, soft_scores
from faithlib.metrics import erasure
from faithlib.names import MethodName
from faithlib.perturb import Perturber

OTHER_METHODS: Mapping[str, tuple[MethodName, Mapping[str, Any]]] = {
    "scaled_attention=released": ("scaled_attention", {"variant": "released"}),
    "deeplift=exact": ("deeplift", {"aggregation": "sum", "rules": "rescale"}),
}
"""Variants whose attribution is another one: the method, and its options."""


class Block:
    """Some of a task's texts, read by its model: their scores, and what erases them.

    `perturber` erases to zero embeddings in the run's precision, `padded` to padding, `low` and `high` to zero
    embeddings in bfloat16 and in single precision (one of the two is `perturber`).
    """

    def __init__(self, task: Task, texts: Dataset) -> None:
        self.task = task
        self.ids = texts.ids
        self.inputs = task.inputs_of(texts)
        self.perturber = Perturber(task.model, self.inputs, dtype=task.dtype)
        self.padded = Perturber(task.model, self.inputs, erase="pad", dtype=task.dtype)
        self.low = self._in_precision(torch.bfloat16)
        self.high = self._in_precision(torch.float32)
        self.scores = task.explained(self.inputs)

    def _in_precision(self, dtype: torch.dtype) -> Perturber:
        return self.perturber if self.task.dtype == dtype else Perturber(self.task.model, self.inputs, dtype=dtype)

    def perturbers(self) -> set[Perturber]:
        """Each once."""
        return {self.perturber, self.padded, self.low, self.high}

    def frame(self, values: Mapping[str, Tensor], method: str, **columns: Any) -> pd.DataFrame:
        """Means of values [B, R] over lengths or draws, one row per input and metric."""
        parts = [
            pd.DataFrame({"input": self.ids, "metric": metric, "value": value.float().mean(dim=1).cpu()})
            for metric, value in values.items()
        ]
        about: dict[str, Any] = {"dataset": self.task.dataset, "model_seed": self.task.seed}
        return pd.concat(parts).assign(**about, method=method, **columns)


# ------------------------------------------------------------------------------------------------------------- variants
def variants_of(block: Block, score: Tensor, *, draws: int) -> dict[str, list[Finish]]:
    """By variant, what will make its hard and soft values of one method's scores [B, F]. All rows are queued when this
    returns."""
    perturber = block.perturber

    def hard(erased: Perturber = perturber, **choice: Any) -> Finish:
        return erasure.hard.later(erased, score, **choice)

    def soft(erased: Perturber = perturber, **choice: Any) -> Finish:
        return erasure.soft.later(erased, score, draws=draws, seed=block.task.seed, **choice)

    as_written = soft()
    released = ("released_ns", "released_nc")
    return {
        "paper": [hard(), as_written],
        "draws=1": [_first_draw(as_written)],
        "direction=released": [soft(variant="released")],
        "normaliser=rank": [soft(normaliser="rank")],
        "normaliser=sigmoid": [soft(normaliser="sigmoid")],
        "normaliser=released": [soft(normaliser=released)],
        "direction=released, normaliser=released": [soft(normaliser=released, variant="released")],
        "baseline=pad": [hard(block.padded), soft(empty=block.padded.empty)],
        "ratios=released": [hard(ratios=RELEASED_RATIOS)],
        "clip=released": [hard(clip=True), soft(clip=True)],
        "dtype=bfloat16": [hard(block.low), soft(block.low)],
        "dtype=float32": [hard(block.high), soft(block.high)],
    }


def _first_draw(soft_values: Finish) -> Finish:
    def first() -> dict[str, Tensor]:
        return {name: value[:, :1] for name, value in soft_values().items()}

    return first


def values_by_variant(block: Block, *, draws: int) -> pd.DataFrame:
    """Rows of every `variant` of every method, and of `OTHER_METHODS`."""
    others = {
        variant: block.task.attribute(method, block.inputs, **options)
        for variant, (method, options) in OTHER_METHODS.items()
    }
    # The rows of all variants of all methods are queued before the first value is made, so that they share forward
    # passes.
    queued: list[tuple[str, str, Iterable[Finish]]] = []
    for method, score in block.scores.items():
        for variant, parts in variants_of(block, score, draws=draws).items():
            queued.append((method, variant, parts))
    for variant, score in others.items():
        hard = erasure.hard.later(block.perturber, score)
        soft = erasure.soft.later(block.perturber, score, draws=draws, seed=block.task.seed)
        queued.append((OTHER_METHODS[variant][0], variant, [hard, soft]))
    frames = [block.frame(values(), method, variant=variant) for method, variant, parts in queued for values in parts]
    return pd.concat(frames, ignore_index=True)


# ----------------------------------------------------------------------------------------------------------- Appendix C
def values_by_perturbation(block: Block, *, draws: int, noise_draws: int, variances: Sequence[float]) -> pd.DataFrame:
    """Soft rows of every `perturbation` of every method: dropout, a continuous attention mask, and Gaussian noise of
    each `variance` (undefined for the others) by either equation."""
    frames = []
    for method, score in block.scores.items():
        dropout = soft_scores(block.perturber, score, draws=draws, seed=block.task.seed)
        frames.append(block.frame(dropout, method, perturbation="dropout"))
        masked = attention_mask_scores(block.perturber, score)
        frames.append(block.frame(masked, method, perturbation="attention_mask"))
        for equation in (7, 8):
            for variance in variances:
                noisy = gaussian_scores(
                    block.perturber,
                    score,
                    variance=variance,
                    equation=equation,
                    draws=noise_draws,
                    seed=block.task.seed,
                )
                frames.append(block.frame(noisy, method, perturbation=f"gaussian_eq{equation}", variance=variance))
    return pd.concat(frames, ignore_index=True)
