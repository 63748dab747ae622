"""Summaries of a perturbation curve: what the model answers while features go, one step after the other.

Direction depends on the order of removal. The docstrings say it for most-relevant-first (MoRF); with
least-relevant-first (LeRF) every arrow turns round, and names at the call site should say which was used (`aopc_morf`,
`aopc_lerf`). Shape letters: B inputs, K steps.
"""

import torch
from torch import Tensor

from faithlib.copies import Copies
from faithlib.errors import InputError
from faithlib.masks import position_in_rank, removal_path, top_ratio
from faithlib.metrics.registry import HIGHER, LOWER, About, Values, metric, register

FAD_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2)
ALL_SHARES = tuple(step / 10 for step in range(11))


def aopc(p_full: Tensor, path: Tensor, n_steps: Tensor | None = None) -> Tensor:
    """Area over the perturbation curve, [B]: 1/K sum_k (p_full - path_k) (Samek et al. 2017; Edin et al. 2025).

    p_full [B]; path [B, K]: p(y) after 1..K removals (the unperturbed input is not a step). `n_steps` [B]: how many of
    the K steps count where inputs differ in length (default all). In [-1, 1] for probabilities; MoRF: higher is better.

    >>> aopc(torch.tensor([1.0]), torch.tensor([[0.5, 0.0]])).item()
    0.75
    """
    used = _used_steps(path, n_steps)
    drop = torch.where(used, p_full[:, None] - path, 0.0)
    return drop.sum(dim=1) / used.sum(dim=1)


def auc(curve: Tensor) -> Tensor:
    """Area under a curve [B, K] over equally spaced shares 0..1 by the trapezium rule, [B].

    `curve` holds accuracies (0/1 an input, as in Wu et al. 2024) or probabilities, the unperturbed input first. In the
    range of the curve; MoRF: lower is better.

    >>> auc(torch.tensor([[1.0, 0.5, 0.0]])).item()
    0.5
    """
    if curve.ndim != 2 or curve.shape[1] < 2:
        raise InputError(f"curve has shape {tuple(curve.shape)}: expected [B, K] with at least two steps")
    return torch.trapezoid(curve, dx=1 / (curve.shape[1] - 1), dim=1)


def log_odds(p_full: Tensor, path: Tensor, n_steps: Tensor | None = None) -> Tensor:
    """Mean log-odds difference, [B]: 1/K sum_k (logit(path_k) - logit(p_full)), natural log (Shrikumar et al. 2017).

    p_full [B], path [B, K] as for `aopc`. Unbounded; MoRF: lower is better. Probabilities of exactly 0 or 1 are moved
    inside by the resolution of their dtype, so that the answer stays finite.

    >>> round(log_odds(torch.tensor([0.5]), torch.tensor([[0.25]])).item(), 4)
    -1.0986
    """
    used = _used_steps(path, n_steps)
    eps = torch.finfo(path.dtype).eps
    difference = torch.logit(path, eps=eps) - torch.logit(p_full, eps=eps)[:, None]
    return torch.where(used, difference, 0.0).sum(dim=1) / used.sum(dim=1)


def n_auc(curve: Tensor) -> Tensor:
    """Area under a curve over the largest it could have, [B]: auc / max of the curve, in [0, 1] (Ngai & Rudzicz 2022).

    curve [B, K]: the unperturbed input first, then equally spaced shares of features gone, 0 to 20 % in the FAD curve.
    Of a data set: one row, its accuracy at each share. Of an input: 1 where the class is still the one predicted at
    first; the maximum is then 1 and the mean over inputs is the data set's value. MoRF: lower is better. NaN where the
    curve is 0 throughout.

    >>> round(n_auc(torch.tensor([[0.8, 0.6, 0.2]])).item(), 4)  # area .55 of .8
    0.6875
    """
    largest = curve.amax(dim=1, keepdim=True)
    return auc(curve / largest.where(largest > 0, torch.nan))


def _used_steps(path: Tensor, n_steps: Tensor | None) -> Tensor:
    if path.ndim != 2 or path.shape[1] == 0:
        raise InputError(f"path has shape {tuple(path.shape)}: expected [B, K] with at least one step")
    if n_steps is None:
        return torch.ones_like(path, dtype=torch.bool)
    if (n_steps < 1).any() or (n_steps > path.shape[1]).any():
        raise InputError(f"n_steps {n_steps.tolist()}: expected between 1 and the {path.shape[1]} steps of the path")
    return torch.arange(path.shape[1], device=path.device) < n_steps[:, None]


# ------------------------------------------------------------------------------------------------------- as two halves
def path_copies(scores: Tensor, about: About) -> Tensor:
    """Features removed one after the other down to the last, most relevant first, then least relevant first.

    The second order is the first backwards, equal scores included.

    >>> about = About(torch.tensor([[True, True]]), keys=[7])
    >>> path_copies(torch.tensor([[0.9, 0.1]]), about).int().tolist()
    [[[0, 1], [0, 0], [1, 0], [0, 0]]]
    """
    last_first = position_in_rank(scores, about.feature_mask).float()
    paths = [removal_path(order, about.feature_mask) for order in (scores, last_first)]
    return torch.cat(paths, dim=1)


def both_aopc(answers: Tensor, about: About) -> Values:
    """AOPC along the two paths of `path_copies`, [B] each.

    >>> from faithlib.perturb import SetFunction
    >>> line = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> aopc_paths(line, torch.tensor([[0.9, 0.1]]))["aopc_morf"].item()
    3.5
    """
    morf, lerf = answers.chunk(2, dim=1)
    sizes = about.feature_mask.sum(dim=1)
    return {"aopc_morf": aopc(about.full, morf, sizes), "aopc_lerf": aopc(about.full, lerf, sizes)}


@register
@metric(
    "aopc",
    rows=path_copies,
    metrics={
        "aopc_morf": (HIGHER, "how far the output falls on average while features go, most relevant first"),
        "aopc_lerf": (LOWER, "how far the output falls on average while features go, least relevant first"),
    },
    cost="2 n - 1",
    source="Samek et al. 2017; Edin et al. 2025",
    by_default=True,
    kind="common",
)
def aopc_paths(answers: Tensor, scores: Tensor, about: About) -> Values:
    """AOPC in both orders, [B]."""
    return both_aopc(answers, about)


def _class_copies(scores: Tensor, about: About) -> dict[str, Copies]:
    shares = {"n_auc": FAD_SHARES, "autpc": ALL_SHARES}
    return {name: Copies(~top_ratio(scores, some, about.feature_mask), read="stays") for name, some in shares.items()}


@register
@metric(
    "curves",
    rows=_class_copies,
    metrics={
        "n_auc": (LOWER, "how long the predicted class survives the removal of the top 20 % of the features"),
        "autpc": (LOWER, "how long the predicted class survives the removal of all features, most relevant first"),
    },
    cost="at most 13",
    source="Ngai & Rudzicz 2022; EvalxNLP (Dhaini et al. 2025)",
    by_default=True,
    kind="common",
)
def class_curves(answers: dict[str, Tensor], scores: Tensor, about: About) -> Values:
    """Areas under curves of 1 where the class is still the predicted one, [B]."""
    return {"n_auc": n_auc(answers["n_auc"].float()), "autpc": auc(answers["autpc"].float())}
