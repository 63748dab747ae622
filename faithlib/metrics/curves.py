"""Summaries of a perturbation curve: what the model answers while features go, one step after the other.

Direction depends on the order of removal. The docstrings say it for most-relevant-first (MoRF); with
least-relevant-first (LeRF) every arrow turns round, and names at the call site should say which was used (`aopc_morf`,
`aopc_lerf`). Shape letters: B inputs, K steps.
"""

import torch
from torch import Tensor

from faithlib.catalogue import HIGHER, LOWER
from faithlib.copies import Copies
from faithlib.errors import InputError
from faithlib.masks import position_in_rank, removal_path, top_ratio
from faithlib.metrics._sums import sum_in_order
from faithlib.metrics.registry import About, Values, metric, register

__all__ = [
    "ALL_SHARES",
    "FAD_SHARES",
    "aopc",
    "aopc_paths",
    "auc",
    "both_aopc",
    "class_curves",
    "log_odds",
    "n_auc",
    "path_copies",
]

FAD_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2)
ALL_SHARES = tuple(step / 10 for step in range(11))


def aopc(p_full: Tensor, path: Tensor, n_steps: Tensor | None = None) -> Tensor:
    """Area over the perturbation curve (AOPC): the mean fall of the output while features go.

    1/K sum_k (p_full - path_k) (Samek et al. 2017; Edin et al. 2025).

    Parameters
    ----------
    p_full : Tensor
        p(y) of the unperturbed input, [B].
    path : Tensor
        p(y) after 1..K removals, [B, K]; the unperturbed input is not a step.
    n_steps : Tensor, optional
        How many of the K steps count where inputs differ in length, [B], from 1 to K; default: all.

    Returns
    -------
    Tensor
        [B], in the units of the answers, in [-1, 1] for probabilities. MoRF: higher is better.

    Raises
    ------
    InputError
        Where `path` is not [B, K] with at least one step, or `n_steps` is not between 1 and K.

    Examples
    --------
    >>> aopc(torch.tensor([1.0]), torch.tensor([[0.5, 0.0]])).item()
    0.75
    """
    used = _used_steps(path, n_steps)
    drop = torch.where(used, p_full[:, None] - path, 0.0)
    return sum_in_order(drop, dim=1) / used.sum(dim=1)


def auc(curve: Tensor) -> Tensor:
    """Area under a curve over equally spaced shares 0..1 by the trapezium rule.

    Parameters
    ----------
    curve : Tensor
        Accuracies (0/1 an input, as in Wu et al. 2024) or probabilities, the unperturbed input first, [B, K].

    Returns
    -------
    Tensor
        [B], in the range of the curve. MoRF: lower is better.

    Raises
    ------
    InputError
        Where `curve` is not [B, K] with at least two steps.

    Examples
    --------
    >>> auc(torch.tensor([[1.0, 0.5, 0.0]])).item()
    0.5
    """
    if curve.ndim != 2 or curve.shape[1] < 2:
        raise InputError(f"curve has shape {tuple(curve.shape)}: expected [B, K] with at least two steps")
    return torch.trapezoid(curve, dx=1 / (curve.shape[1] - 1), dim=1)


def log_odds(p_full: Tensor, path: Tensor, n_steps: Tensor | None = None) -> Tensor:
    """Mean difference of log-odds while features go, natural logarithm (Shrikumar et al. 2017).

    1/K sum_k (logit(path_k) - logit(p_full)).

    Parameters
    ----------
    p_full : Tensor
        p(y) of the unperturbed input, [B], in [0, 1].
    path : Tensor
        p(y) after 1..K removals, [B, K], in [0, 1].
    n_steps : Tensor, optional
        How many of the K steps count where inputs differ in length, [B], from 1 to K; default: all.

    Returns
    -------
    Tensor
        [B], unbounded. MoRF: lower is better.

    Raises
    ------
    InputError
        Where `path` is not [B, K] with at least one step, or `n_steps` is not between 1 and K.

    Notes
    -----
    Probabilities of exactly 0 or 1 are moved inside by the resolution of their dtype, so that the answer stays finite.

    Examples
    --------
    >>> round(log_odds(torch.tensor([0.5]), torch.tensor([[0.25]])).item(), 4)
    -1.0986
    """
    used = _used_steps(path, n_steps)
    eps = torch.finfo(path.dtype).eps
    difference = torch.logit(path, eps=eps) - torch.logit(p_full, eps=eps)[:, None]
    return sum_in_order(torch.where(used, difference, 0.0), dim=1) / used.sum(dim=1)


def n_auc(curve: Tensor) -> Tensor:
    """Area under a curve over the largest it could have: auc / max of the curve (Ngai & Rudzicz 2022).

    Parameters
    ----------
    curve : Tensor
        The unperturbed input first, then equally spaced shares of features gone, 0 to 20 % in the FAD curve, [B, K]. Of
        a data set: one row, its accuracy at each share. Of an input: 1 where the class is still the one predicted at
        first; the maximum is then 1 and the mean over inputs is the data set's value.

    Returns
    -------
    Tensor
        [B], in [0, 1]. MoRF: lower is better. NaN where the curve is 0 throughout.

    Raises
    ------
    InputError
        Where `curve` is not [B, K] with at least two steps.

    Examples
    --------
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
    """Copies with features removed one after the other down to the last.

    Most relevant first, then least relevant first. The second order is the first backwards, equal scores included.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs.

    Returns
    -------
    Tensor
        What is kept, bool [B, 2 F, F].

    Raises
    ------
    InputError
        Where the score of a real feature is not finite.

    Examples
    --------
    >>> about = About(torch.tensor([[True, True]]), keys=[7])
    >>> path_copies(torch.tensor([[0.9, 0.1]]), about).int().tolist()
    [[[0, 1], [0, 0], [1, 0], [0, 0]]]
    """
    last_first = position_in_rank(scores, about.feature_mask).float()
    paths = [removal_path(order, about.feature_mask) for order in (scores, last_first)]
    return torch.cat(paths, dim=1)


def both_aopc(answers: Tensor, about: About) -> Values:
    """AOPC along the two paths of `path_copies`.

    Parameters
    ----------
    answers : Tensor
        The output along both paths, [B, 2 F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        "aopc_morf", higher is better, and "aopc_lerf", lower is better; [B] each, in the units of the output.

    Examples
    --------
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
        "aopc_morf": (
            HIGHER,
            "how far the output falls on average while features go, most relevant first",
            "mean over k = 1..n of f(x) - f(x - T_k)",
        ),
        "aopc_lerf": (
            LOWER,
            "how far the output falls on average while features go, least relevant first",
            "mean over k = 1..n of f(x) - f(x - L_k)",
        ),
    },
    cost="2 n - 1",
    source="Samek et al. 2017; Edin et al. 2025",
    by_default=True,
    kind="common",
)
def aopc_paths(answers: Tensor, scores: Tensor, about: About) -> Values:
    """AOPC in both orders.

    Parameters
    ----------
    answers : Tensor
        The output along both paths of `path_copies`, [B, 2 F].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        "aopc_morf", higher is better, and "aopc_lerf", lower is better; [B] each, in the units of the output.
    """
    return both_aopc(answers, about)


def _class_copies(scores: Tensor, about: About) -> dict[str, Copies]:
    shares = {"n_auc": FAD_SHARES, "autpc": ALL_SHARES}
    return {name: Copies(~top_ratio(scores, some, about.feature_mask), read="stays") for name, some in shares.items()}


@register
@metric(
    "curves",
    rows=_class_copies,
    metrics={
        "n_auc": (
            LOWER,
            "how long the predicted class survives the removal of the top 20 % of the features",
            "area over shares 0, 5, 10, 15, 20 % of c(x - T_share)",
        ),
        "autpc": (
            LOWER,
            "how long the predicted class survives the removal of all features, most relevant first",
            "area over shares 0, 10, 20, .., 100 % of c(x - T_share)",
        ),
    },
    cost="at most 12",
    source="Ngai & Rudzicz 2022; EvalxNLP (Dhaini et al. 2025)",
    by_default=True,
    kind="common",
)
def class_curves(answers: dict[str, Tensor], scores: Tensor, about: About) -> Values:
    """Areas under curves of 1 where the class is still the predicted one.

    Parameters
    ----------
    answers : dict[str, Tensor]
        Whether the class stays at each share of features gone, most relevant first, bool [B, K]: "n_auc" from 0 to 20
        %, "autpc" from 0 to 100 %.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        "n_auc" and "autpc", [B] each, in [0, 1]; lower is better.
    """
    return {"n_auc": n_auc(answers["n_auc"].float()), "autpc": auc(answers["autpc"].float())}
