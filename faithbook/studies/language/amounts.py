"""Measures of study 5, questions 1 and 5: how much of a text a method marks, what soft metrics make of it, and how
much of a prompt's scores its first token has.

Shape letters: B texts, F features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor

from faithlib.masks import normalise
from faithlib.metrics.erasure import hard, soft
from faithlib.metrics.language import equal_shares
from faithlib.perturb import Perturber

Values = Callable[[], dict[str, Tensor]]
"""What makes the values [B] of one method by metric, once all queued rows have run."""

SHARPER, FLATTER = 3.0, 1 / 3
"""The powers of the two controls of `same_order`."""


def amounts(asked: Perturber, scores: Tensor, *, draws: int, seed: int) -> Values:
    """The soft metrics of one method, and its amount: the mean importance of the words of a text.

    `scores` [B, F]; `draws`: masks per soft score.
    """
    queued = soft.later(asked, scores, draws=draws, seed=seed)

    def values() -> dict[str, Tensor]:
        means = {name: of_draws.mean(dim=1) for name, of_draws in queued().items()}
        importance = normalise(scores, "minmax", asked.feature_mask)
        return means | {"amount": importance.sum(dim=1) / asked.feature_mask.sum(dim=1)}

    return values


def at_equal_retention(asked: Perturber, scores: Tensor, *, shares: Sequence[float], seed: int) -> Values:
    """The soft metrics of one method at equal expected retention: the areas over the shares kept."""
    queued = equal_shares.later(asked, scores, shares=shares, seed=seed)

    def values() -> dict[str, Tensor]:
        by_name = queued()
        return {name: by_name[f"{name}_area"] for name in ("pi_soft_ns", "pi_soft_nc")}

    return values


def faithfulness(asked: Perturber, scores: Tensor, *, draws: int, seed: int) -> Values:
    """The soft and the hard metrics of one method; soft ones as means over the draws, hard ones over the lengths."""
    of_soft, of_hard = soft.later(asked, scores, draws=draws, seed=seed), hard.later(asked, scores)

    def values() -> dict[str, Tensor]:
        return {name: value.mean(dim=1) for name, value in (of_soft() | of_hard()).items()}

    return values


def same_order(scores: Tensor, feature_mask: Tensor) -> dict[str, Tensor]:
    """Two controls with the order of these scores and another amount: their importance to the power 1/3 and 3."""
    importance = normalise(scores, "minmax", feature_mask)
    return {"occlusion_more": importance**FLATTER, "occlusion_less": importance**SHARPER}


def first_token(scores: Mapping[str, Tensor], n_features: Tensor) -> dict[str, dict[str, Tensor]]:
    """The first token's share, by method, of the absolute scores of its prompt, |a_1| / sum |a_i|, beside an even
    share.

    `scores`: by method [B, F], zero behind the last feature; `n_features` [B].

    >>> import torch
    >>> shares = first_token({"attention": torch.tensor([[3.0, -1.0, 0.0]])}, torch.tensor([2]))
    >>> {name: value.tolist() for name, value in shares["attention"].items()}
    {'share': [0.75], 'even_share': [0.5]}
    """
    even = 1 / n_features.double()
    return {
        name: {"share": of_method[:, 0].abs() / of_method.abs().sum(dim=1), "even_share": even}
        for name, of_method in scores.items()
    }
