"""Measures that papers about language models use, as formulas over what a model answers.

The answers are numbers of one output, a log-probability for example (`faithlib.backends.Continuation`); what is erased
to get them is in `faithlib.evaluation.language`. Shape letters: B inputs, F features, K steps, M random sets, V words.
"""

import torch
from torch import Tensor

from faithlib.errors import InputError, check_known
from faithlib.masks import checked_mask
from faithlib.metrics.crosslingual import crosslingual_rho
from faithlib.metrics.curves import auc


# ------------------------------------------------------------------------------------------------------- distributions
def hellinger(p: Tensor, q: Tensor, *, variant: str = "paper") -> Tensor:
    """H(p, q) = || sqrt(p) - sqrt(q) ||_2 / sqrt(2), [...] for distributions [..., V]: the distance of next-token
    distributions in ReAGent's Soft-NS and Soft-NC (Zhao & Shan 2024, Section 4.3).

    In [0, 1]: 0 for equal distributions, 1 for two without a word in common. `variant` "released": the sum over V of
    (sqrt(p) - sqrt(q))^2 / sqrt(2), as their released code has it, in [0, sqrt(2)]; it is sqrt(2) H^2.

    >>> p, q = torch.tensor([0.25, 0.75]), torch.tensor([1.0, 0.0])
    >>> round(hellinger(p, q).item(), 4), round(hellinger(p, q, variant="released").item(), 4)
    (0.7071, 0.7071)
    """
    check_known("variant", variant, ("paper", "released"))
    squares = (p.sqrt() - q.sqrt()).square().sum(dim=-1)
    return (squares if variant == "released" else squares.sqrt()) / 2**0.5


def sufficiency_distance(kept: Tensor, empty: Tensor) -> Tensor:
    """Soft-NS over distances: max(0, d_empty - d_kept) / d_empty (Zhao & Shan 2024; S = 1 - d in Zhao & Aletras' Eq.
    4).

    Distances from the prompt's own distribution of the copy that retains in proportion to the scores, and of the copy
    with everything erased; shapes broadcast. In [0, 1], higher is better. NaN where erasing everything changes nothing.

    >>> round(sufficiency_distance(torch.tensor(0.2), torch.tensor(0.8)).item(), 4)
    0.75
    """
    return (empty - kept).clamp(min=0) / empty.where(empty > 0, torch.nan)


def comprehensiveness_distance(removed: Tensor, empty: Tensor) -> Tensor:
    """Soft-NC over distances: d_removed / d_empty (Zhao & Shan 2024; Zhao & Aletras' Eq. 5).

    As `sufficiency_distance`, of the copy that loses in proportion to the scores. At least 0, higher is better; above 1
    where that copy is farther away than the empty one.

    >>> round(comprehensiveness_distance(torch.tensor(0.2), torch.tensor(0.8)).item(), 4)
    0.25
    """
    return removed / empty.where(empty > 0, torch.nan)


# ------------------------------------------------------------------------------------------------------ equal retention
def equal_retention(importance: Tensor, share: float, feature_mask: Tensor | None = None) -> Tensor:
    """Keep-probabilities q_i = min(1, max(0, a_i + b)), [B, F], whose mean over an input's features is `share`.

    The b of each input is found by bisection. pi-Soft-NC and pi-Soft-NS (Huang & Chan 2026, arXiv 2601.03089) compare
    attributions at the same expected retaining probability. How a score becomes a probability of that mean is our
    choice: a shift keeps the order, and the differences of whatever is not clipped. Importance a in [0, 1]
    (`masks.normalise`). Raises InputError for a share that is not in [0, 1].

    >>> equal_retention(torch.tensor([[0.0, 0.5, 1.0]]), 0.75).round(decimals=4)
    tensor([[0.3750, 0.8750, 1.0000]])
    """
    if not 0 <= share <= 1:
        raise InputError(f"share {share}: expected between 0 and 1")
    present = checked_mask(importance, feature_mask)
    a, n = importance.double(), present.double().sum(dim=1, keepdim=True)
    low, high = -torch.ones_like(n), torch.ones_like(n)
    for _ in range(60):
        middle = (low + high) / 2
        enough = (a + middle).clamp(0, 1).where(present, 0).sum(dim=1, keepdim=True) >= share * n
        low, high = torch.where(enough, low, middle), torch.where(enough, middle, high)
    return (a + high).clamp(0, 1).where(present, 0).to(importance.dtype)


def area(values: Tensor, shares: Tensor) -> Tensor:
    """Area under values [..., K] over ascending shares [K] by the trapezium rule, divided by their range: a mean.

    >>> area(torch.tensor([[0.0, 1.0, 1.0]]), torch.tensor([0.25, 0.5, 0.75])).item()
    0.75
    """
    return torch.trapezoid(values, shares.to(values), dim=-1) / (shares[-1] - shares[0]).to(values)


# ------------------------------------------------------------------------------------------------ sources of an answer
def lds(predicted: Tensor, actual: Tensor) -> Tensor:
    """Linear datamodeling score, [B]: Spearman's rank correlation over M random ablations of an input between the sum
    of the scores that stay and the model's output (Cohen-Wang et al. 2024, ContextCite, Section 3).

    predicted, actual [B, M]. Ties share their mean rank. In [-1, 1], higher is better: whether scores add up to what
    sets of features do. NaN where either side is constant.

    >>> lds(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[-9.0, -4.0, -5.0]])).item()
    0.5
    """
    if predicted.ndim != 2 or predicted.shape != actual.shape or predicted.shape[1] < 2:
        raise InputError(
            f"predicted {tuple(predicted.shape)} and actual {tuple(actual.shape)}: expected both [B, M], M at least 2"
        )
    return crosslingual_rho(predicted.double(), actual.double())


# ----------------------------------------------------------------------------------------------- deletion, as reported
def rise(path: Tensor) -> Tensor:
    """RISE's deletion area as FlashTrace reports it (Pan et al. 2026, arXiv 2602.01914), [B]: the area under the
    monotone response of `monotone_response`.

    path [B, K + 1]: the summed log-probability of the answer after 0 .. K steps, most relevant first. In [0, 1], lower
    is better. NaN where both ends are equal. 0, the best value, also for every path whose end is above its beginning.

    >>> rise(torch.tensor([[-1.0, -3.0, -2.0, -5.0]])).item()  # heights 1, .5, .5, 0
    0.5
    """
    return auc(monotone_response(path))


def mas(path: Tensor, left: Tensor) -> Tensor:
    """Magnitude-aligned score as FlashTrace reports it (Pan et al. 2026), [B]: the area under `n + |n - d|`, clipped to
    [0, 1] and stretched to it, n the monotone response.

    path [B, K + 1] as for `rise`; left [B, K + 1]: d, the share of the attribution that is still there (1 .. 0). In [0,
    1], lower is better: a fall of the output in step with the attribution. 1/2 where the corrected curve is flat, as
    the released code has it; NaN where the ends of the path are equal.

    >>> mas(torch.tensor([[-1.0, -3.0, -5.0]]), torch.tensor([[1.0, 0.5, 0.0]])).item()
    0.5
    """
    response = monotone_response(path)
    corrected = (response + (response - left).abs()).clamp(0, 1)
    low, high = corrected.amin(dim=1, keepdim=True), corrected.amax(dim=1, keepdim=True)
    line = torch.linspace(1, 0, path.shape[1]).to(path).expand_as(path)
    corrected = torch.where(high == low, line, (corrected - low) / (high - low))
    return auc(corrected)


def monotone_response(path: Tensor) -> Tensor:
    """`n_k = min over j <= k of clip((f_j - f_K) / |f_0 - f_K|, 0, 1)`, [B, K + 1]: a path measured by its own ends and
    never rising. NaN where these are equal.

    >>> monotone_response(torch.tensor([[-1.0, -3.0, -2.0, -5.0]])).tolist()
    [[1.0, 0.5, 0.5, 0.0]]
    """
    if path.ndim != 2 or path.shape[1] < 2:
        raise InputError(f"path has shape {tuple(path.shape)}: expected [B, K + 1] with at least two steps")
    room = (path[:, :1] - path[:, -1:]).abs()
    heights = ((path - path[:, -1:]) / room.where(room > 0, torch.nan)).clamp(0, 1)
    return heights.cummin(dim=1).values


# ------------------------------------------------------------------------------------------------------- random matches
def win_rate(value: Tensor, random: Tensor) -> Tensor:
    """The share of random rationales of the same size that a rationale beats, ties by halves, [B] (Basu & Chakraborty
    2026, ICE, arXiv 2603.18579).

    value [B], random [B, M], higher is better in both. In [0, 1]: 1/2 by chance, below for a rationale that is worse
    than random ones.

    >>> win_rate(torch.tensor([0.5]), torch.tensor([[0.1, 0.5, 0.2, 0.9]])).item()
    0.625
    """
    above, equal = value[:, None] > random, value[:, None] == random
    return (above.double() + equal.double() / 2).mean(dim=1)


def randomisation_p(value: Tensor, random: Tensor) -> Tensor:
    """p = (1 + number of random values >= the value) / (M + 1), [B]: the one-sided randomisation test of `win_rate`
    (Basu & Chakraborty 2026). In (0, 1], lower is stronger evidence.

    >>> randomisation_p(torch.tensor([0.5]), torch.tensor([[0.1, 0.5, 0.2, 0.9]])).item()
    0.6
    """
    return (1 + (random >= value[:, None]).sum(dim=1).double()) / (random.shape[1] + 1)
