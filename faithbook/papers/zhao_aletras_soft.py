"""Soft-NS and Soft-NC with what Zhao & Aletras (2023) try in place of dropout, in their Appendix C.

Values and divisors are those of `faithlib.evaluation.soft_scores`: {"soft_ns": [B, R], "soft_nc": [B, R]}, R draws.

>>> import torch
>>> from faithlib.inputs import TextInputs
>>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
>>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
>>> model = DistilBertForSequenceClassification(config).eval()
>>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
>>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
>>> asked, scores = Perturber(model, texts), torch.tensor([[2.0, 1.0]])

>>> gaussian_scores(asked, scores, variance=1.0, equation=8, draws=4)["soft_ns"].shape
torch.Size([1, 4])
>>> attention_mask_scores(asked, scores)["soft_ns"].shape
torch.Size([1, 1])
"""

from __future__ import annotations

from torch import Tensor

from faithlib.masks import normalise
from faithlib.metrics import soft_nc, soft_ns
from faithlib.perturb import Perturber


def gaussian_scores(
    perturber: Perturber,
    scores: Tensor,
    *,
    variance: float,
    equation: int,
    normaliser: str = "minmax",
    draws: int = 1,
    seed: int = 0,
) -> dict[str, Tensor]:
    """With Gaussian noise: sufficiency disturbs a feature in proportion to 1 - a, comprehensiveness to a."""
    importance = normalise(scores, normaliser, perturber.inputs.feature_mask)

    def noisy(scale: Tensor) -> Tensor:
        return perturber.gaussian(scale[:, None], variance=variance, equation=equation, draws=draws, seed=seed)[:, 0]

    return _divided(perturber, noisy(1 - importance), noisy(importance))


def attention_mask_scores(perturber: Perturber, scores: Tensor, *, normaliser: str = "minmax") -> dict[str, Tensor]:
    """With a continuous attention mask: sufficiency weighs attention to a feature by a, comprehensiveness by 1 - a.

    Nothing is random: one draw.
    """
    importance = normalise(scores, normaliser, perturber.inputs.feature_mask)[:, None]
    return _divided(perturber, perturber.attention_mask(importance), perturber.attention_mask(1 - importance))


def _divided(perturber: Perturber, kept: Tensor, erased: Tensor) -> dict[str, Tensor]:
    """Both from the answers [B, R] to inputs of which the important features were kept, and erased."""
    full, floor = perturber.full[:, None], perturber.soft_empty[:, None]
    return {"soft_ns": soft_ns(full, kept, floor), "soft_nc": soft_nc(full, erased, floor)}
