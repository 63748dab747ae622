"""Soft-NS and Soft-NC with what Zhao & Aletras (2023) try in place of dropout, in their Appendix C."""

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
    """Soft-NS and Soft-NC with Gaussian noise in place of dropout (Zhao & Aletras 2023, Appendix C), values as
    `faithlib.evaluation.soft_scores`.

    Sufficiency disturbs a feature in proportion to 1 - a, comprehensiveness in proportion to a. Divided as
    `faithlib.evaluation.soft_scores`.

    >>> import torch
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)

    >>> found = gaussian_scores(Perturber(model, texts), torch.tensor([[2.0, 1.0]]), variance=1.0, equation=8, draws=4)
    >>> {name: tuple(values.shape) for name, values in found.items()}
    {'soft_ns': (1, 4), 'soft_nc': (1, 4)}
    """
    importance = normalise(scores, normaliser, perturber.inputs.feature_mask)
    full, floor = perturber.full[:, None], perturber.soft_empty[:, None]

    def noisy(scale: Tensor) -> Tensor:
        return perturber.gaussian(scale[:, None], variance=variance, equation=equation, draws=draws, seed=seed)[:, 0]

    return {
        "soft_ns": soft_ns(full, noisy(1 - importance), floor),
        "soft_nc": soft_nc(full, noisy(importance), floor),
    }


def attention_mask_scores(perturber: Perturber, scores: Tensor, *, normaliser: str = "minmax") -> dict[str, Tensor]:
    """Soft-NS and Soft-NC with a continuous attention mask in place of dropout (Appendix C): {"soft_ns": [B, 1], ...}.

    Sufficiency weighs attention to a feature by a, comprehensiveness by 1 - a. Nothing is random.
    Divided as `faithlib.evaluation.soft_scores`.

    >>> import torch
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)

    >>> found = attention_mask_scores(Perturber(model, texts), torch.tensor([[2.0, 1.0]]))
    >>> {name: tuple(values.shape) for name, values in found.items()}
    {'soft_ns': (1, 1), 'soft_nc': (1, 1)}
    """
    importance = normalise(scores, normaliser, perturber.inputs.feature_mask)
    full, floor = perturber.full[:, None], perturber.soft_empty[:, None]
    return {
        "soft_ns": soft_ns(full, perturber.attention_mask(importance[:, None]), floor),
        "soft_nc": soft_nc(full, perturber.attention_mask(1 - importance[:, None]), floor),
    }
