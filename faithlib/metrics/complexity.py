"""How simple an attribution is to read, whatever it is about: entropy and Gini index of the sizes of its scores.

Only sizes count, not signs, and not their unit: multiplying all scores of an input by a number changes nothing. Shape
letters: B inputs, F features, n features that an input has.
"""

import torch
from torch import Tensor

from faithlib.catalogue import HIGHER, LOWER
from faithlib.masks import checked_mask
from faithlib.metrics._sums import sum_in_order
from faithlib.metrics.registry import About, Values, metric, register

__all__ = ["complexity", "simplicity", "sparseness"]


def complexity(scores: Tensor, feature_mask: Tensor | None = None) -> Tensor:
    """Shannon entropy of the sizes of an attribution's scores, in nats (Bhatt et al. 2020).

    -sum_j f_j ln f_j with `f = |s| / sum |s|` of the scores s.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.

    Returns
    -------
    Tensor
        [B], in [0, ln n] for an input of n features; lower is better (simpler): 0 where one feature has all, ln n where
        all have the same. NaN where all scores are 0.

    Raises
    ------
    InputError
        Where shapes disagree or the score of a real feature is not finite.

    Notes
    -----
    EvalxNLP's page divides by n as well, which the work it cites does not: the least simple attribution would then
    score ln(n) / n, lower for longer texts.

    Examples
    --------
    >>> round(complexity(torch.tensor([[1.0, -1.0, 0.0]])).item(), 4)  # ln 2
    0.6931
    """
    entropy = sum_in_order(torch.special.entr(_shares(scores, feature_mask)), dim=1)
    return entropy.to(_result_type(scores))


def sparseness(scores: Tensor, feature_mask: Tensor | None = None) -> Tensor:
    """Gini index of the sizes of an attribution's scores (Hurley & Rickard 2009; Chalasani et al. 2020).

    1 - 2 sum_k f_k (n - k + 1/2) / n with `f = |s| / sum |s|` of the scores s in ascending order, k = 1..n.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.

    Returns
    -------
    Tensor
        [B], in [0, (n - 1) / n] for an input of n features; higher is better (sparser): 0 where all features have the
        same, (n - 1) / n where one has all. NaN where all scores are 0.

    Raises
    ------
    InputError
        Where shapes disagree or the score of a real feature is not finite.

    Examples
    --------
    >>> sparseness(torch.tensor([[0.0, 0.0, -3.0, 0.0], [1.0, 1.0, 1.0, 1.0]])).tolist()
    [0.75, 0.0]
    """
    ascending = _shares(scores, feature_mask).sort(dim=1).values
    n_features = scores.shape[1]
    n = checked_mask(scores, feature_mask).sum(dim=1, keepdim=True)
    # Absent features have a share of 0 and come first, at k <= 0 or among zeros, where they add nothing.
    k = torch.arange(1, n_features + 1, device=scores.device) - (n_features - n)
    weighted = sum_in_order(ascending * (n - k + 0.5) / n, dim=1)
    return (1 - 2 * weighted).clamp(min=0).to(_result_type(scores))


def _shares(scores: Tensor, feature_mask: Tensor | None) -> Tensor:
    """|s| / sum |s| in double precision, 0 for absent features; NaN throughout a row whose scores are all 0."""
    size = torch.where(checked_mask(scores, feature_mask), scores.double().abs(), 0.0)
    size = size / size.amax(dim=1, keepdim=True)  # so that no sum leaves the range of floating point
    return size / sum_in_order(size, dim=1)[:, None]


def _result_type(scores: Tensor) -> torch.dtype:
    return torch.promote_types(scores.dtype, torch.float32)


@register
@metric(
    "simplicity",
    rows=None,
    metrics={
        "complexity": (
            LOWER,
            "how widely the scores are spread over the features (entropy)",
            "-Σ_i u_i ln u_i",
        ),
        "sparseness": (
            HIGHER,
            "how far the scores concentrate on a few features (Gini index)",
            "1 - 2 Σ_{i=1..n} u_i (n - i + ½) / n, u in ascending order",
        ),
    },
    cost="none",
    source="Bhatt et al. 2020; Chalasani et al. 2020",
    by_default=True,
    undefined="all scores are 0",
    kind="common",
)
def simplicity(answers: None, scores: Tensor, about: About) -> Values:
    """Complexity and sparseness.

    Parameters
    ----------
    answers : None
        None: no model is asked.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs.

    Returns
    -------
    dict of str to Tensor
        "complexity", lower is better, and "sparseness", higher is better; [B] each, NaN where all scores are 0.
    """
    return {
        "complexity": complexity(scores, about.feature_mask),
        "sparseness": sparseness(scores, about.feature_mask),
    }
