"""Salience-guided faithfulness coefficient (Wu et al. 2024, Section 3 and Algorithm 1).

The features of an input are cut into K groups by descending salience (`faithlib.masks.salience_groups`), each group is
erased alone, and every pair of groups is asked whether the more salient one cost the model more. The answer counts as
much as the two saliences differ. Shape letters: B inputs, K groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from faithlib.catalogue import HIGHER, LOWER
from faithlib.copies import Copies
from faithlib.errors import InputError, check_known
from faithlib.masks import group_salience, salience_groups
from faithlib.metrics.curves import aopc, auc, log_odds
from faithlib.metrics.registry import About, Measure, Values, metric, register
from faithlib.outputs import log_probability, predicted, stays

__all__ = ["SacoSteps", "group_metrics", "grouped_alone", "grouped_five", "grouped_steps", "saco", "saco_of_means"]


def saco(salience: Tensor, drop: Tensor, *, ties: str = "satisfied") -> Tensor:
    """Salience-guided faithfulness coefficient (SaCo): whether groups with higher scores cost more when erased.

    `F = sum_{i<j} +-(s_i - s_j) / sum_{i<j} |s_i - s_j|`, with + where drop_i >= drop_j and - elsewhere (Wu et al.
    2024, Eq. 1-3, Algorithm 1).

    Parameters
    ----------
    salience : Tensor
        s(G_i), what the attribution gives to each group, most salient group first, [B, K].
    drop : Tensor
        p(y|x) - p(y|x without G_i), each group erased alone (Eq. 2), [B, K].
    ties : {"satisfied", "half"}, default "satisfied"
        What two equal drops are worth: "satisfied" counts the pair as obeying (Algorithm 1, and the only line of it
        that was released), "half" counts it 0, halfway between the two answers. Under "satisfied" a model that ignores
        its input gives 1 to every attribution.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; higher is better: 1 where every pair obeys, -1 where none does, 0 expected of a random
        attribution. NaN where all saliences are equal (the weights sum to 0): callers count these inputs.

    Raises
    ------
    InputError
        For shapes that are not one [B, K] and for values that are not finite.
    UnknownNameError
        For another `ties`.

    Notes
    -----
    Unchanged when all saliences of an input are shifted or multiplied by a positive number. Where the saliences are
    equally spaced it is Spearman's rank correlation of salience and drop. So a random attribution has a standard
    deviation of 1 / sqrt(K - 1) an input: .50, .33, .23 for K = 5, 10, 20.

    The published sum is taken as it is for rows that are not in descending order, which unequal group sizes can bring
    about. The weight s_i - s_j is then negative, so that a pair of unequal drops still counts by which group is more
    salient. A pair of tied drops counts as a violation, because the algorithm looks at places and not at saliences.

    Examples
    --------
    >>> saco(torch.tensor([[3.0, 2.0, 0.0]]), torch.tensor([[0.5, 0.1, 0.2]])).item()
    0.3333333432674408
    """
    check_known("ties", ties, ("satisfied", "half"))
    if salience.ndim != 2 or salience.shape != drop.shape:
        raise InputError(
            f"salience {tuple(salience.shape)} and drop {tuple(drop.shape)}: expected the same shape [B, K] for both"
        )
    for name, values in (("salience", salience), ("drop", drop)):
        if (broken := ~torch.isfinite(values)).any():
            row, group = broken.nonzero()[0].tolist()
            raise InputError(
                f"{name} of input {row} is {values[row, group].item()} at group {group}: expected finite numbers; "
                "leave the input out, or look at what made it"
            )
    k = salience.shape[1]
    first, second = torch.triu_indices(k, k, offset=1, device=salience.device)
    # In double precision: differences of almost equal saliences are all that a nearly uniform map has.
    values = salience.double()
    weight = values[:, first] - values[:, second]
    above, below = drop[:, first] > drop[:, second], drop[:, first] < drop[:, second]
    sign = above.double() - below.double() if ties == "half" else 1 - 2 * below.double()
    total = weight.abs().sum(dim=1)
    coefficient = torch.where(total > 0, (sign * weight).sum(dim=1) / total, torch.nan)
    return coefficient.to(torch.promote_types(torch.result_type(salience, drop), torch.float32))


# ------------------------------------------------------------------------------------------------------- as two halves
@dataclass(frozen=True)
class SacoSteps:
    """What a model answers while groups of features go, alone and one after the other; from `evaluation.saco_steps`.

    - `salience` [B, K]: what the attribution gives to each group, most salient group first.
    - `alone` [B, K]: what the output loses when this group alone is erased; negative where it gains.
    - `morf`, `lerf` [B, K+1]: the output after 0..K groups, most (least) relevant first.
    - `log_p` [B, K+1]: the logarithm of the target's probability along `morf`, whatever the output; NaN where it is a
      predicted value.
    - `correct` bool [B, K+1]: whether the predicted class along `morf` is the label; False for a predicted value.

    The output is the perturber's: the target's probability, its logit or value (`faithlib.outputs`).

    >>> ones = torch.ones(1, 3)
    >>> SacoSteps(ones[:, 1:], ones[:, 1:], ones, ones, ones, ones.bool()).morf
    tensor([[1., 1., 1.]])
    """

    salience: Tensor
    alone: Tensor
    morf: Tensor
    lerf: Tensor
    log_p: Tensor
    correct: Tensor


def _groups(scores: Tensor, about: About, k: int, remainder: str, ties: str) -> Tensor:
    return salience_groups(scores, k, about.feature_mask, remainder=remainder, ties=ties, seed=about.seed)


def _step_copies(
    scores: Tensor, about: About, *, k: int = 10, remainder: str = "spread", ties: str = "position"
) -> Copies:
    """Each of K groups erased alone, then one after the other, most relevant first and least relevant first."""
    group = _groups(scores, about, k, remainder, ties)[:, None]
    step = torch.arange(k, device=group.device)[:, None]
    kept = torch.cat([group != step, (group > step) | (group < 0), group < k - 1 - step], dim=1)
    return Copies(kept, read="logits")


def _steps(
    answers: Tensor,
    scores: Tensor,
    about: About,
    *,
    k: int = 10,
    labels: Tensor | None = None,
    remainder: str = "spread",
    ties: str = "position",
    reduce: str = "sum",
) -> SacoSteps:
    perturber = about.perturber
    logits = torch.cat([perturber.logits_full[:, None], answers], dim=1)
    full, alone, morf, lerf = perturber.read(logits).split([1, k, k, k], dim=1)
    along = logits[:, [0, *range(k + 1, 2 * k + 1)]]
    group = _groups(scores, about, k, remainder, ties)
    return SacoSteps(
        salience=group_salience(scores, group, k, reduce=reduce),
        alone=full - alone,
        morf=torch.cat([full, morf], dim=1),
        lerf=torch.cat([full, lerf], dim=1),
        log_p=log_probability(along, perturber.target, perturber.head),
        correct=_correct(perturber, along, labels),
    )


def _correct(perturber: Any, logits: Tensor, labels: Tensor | None) -> Tensor:
    """Where logits [B, S, C] predict the labels, or what the input's own do: bool [B, S]; nowhere for a value."""
    if perturber.head == "value":
        return torch.zeros(logits.shape[:2], dtype=torch.bool, device=logits.device)
    if labels is None:
        return stays(logits, perturber.logits_full, perturber.target, perturber.head)
    if labels.shape != perturber.predicted.shape or labels.is_floating_point() or labels.dtype == torch.bool:
        message = f"labels have shape {tuple(labels.shape)} and dtype {labels.dtype}"
        raise InputError(f"{message}: expected integers [B] = [{len(perturber.predicted)}]")
    return predicted(logits) == labels.to(logits.device)[:, None]


grouped_steps = Measure(_step_copies, _steps)


def _five(
    answers: Tensor,
    scores: Tensor,
    about: About,
    *,
    k: int = 10,
    labels: Tensor | None = None,
    remainder: str = "spread",
    ties: str = "position",
    reduce: str = "sum",
    lodds: str = "ratio",
) -> Values:
    check_known("lodds", lodds, ("ratio", "odds"))
    steps = _steps(answers, scores, about, k=k, labels=labels, remainder=remainder, ties=ties, reduce=reduce)
    p_full, path = steps.log_p[:, 0].exp(), steps.log_p[:, 1:].exp()
    log_ratio = (steps.log_p[:, 1:] - steps.log_p[:, :1]).mean(dim=1)
    values = {
        "saco": _of_unequal(scores, about, saco(steps.salience, steps.alone)),
        "auc": auc(steps.correct.float()),
        "aopc_morf": aopc(steps.morf[:, 0], steps.morf[:, 1:]),
        "log_odds": log_ratio if lodds == "ratio" else log_odds(p_full, path),
        "aopc_lerf": aopc(steps.lerf[:, 0], steps.lerf[:, 1:]),
    }
    if about.perturber.head == "value":  # which has no classes
        del values["auc"], values["log_odds"]
    return values


grouped_five = Measure(_step_copies, _five)


def _alone_copies(
    scores: Tensor, about: About, *, k: int = 10, remainder: str = "spread", ties: str = "position"
) -> Tensor:
    """Each of K groups erased alone."""
    group = _groups(scores, about, k, remainder, ties)
    return group[:, None] != torch.arange(k, device=group.device)[:, None]


def _alone(
    answers: Tensor,
    scores: Tensor,
    about: About,
    *,
    k: int = 10,
    remainder: str = "spread",
    ties: str = "position",
    reduce: str = "sum",
) -> Tensor:
    group = _groups(scores, about, k, remainder, ties)
    salience = group_salience(scores, group, k, reduce=reduce)
    return _of_unequal(scores, about, saco(salience, about.full[:, None] - answers))


grouped_alone = Measure(_alone_copies, _alone)


def _of_unequal(scores: Tensor, about: About, coefficient: Tensor) -> Tensor:
    """The coefficient, NaN where all scores of an input are equal: the tie rule alone made its groups."""
    low = torch.where(about.feature_mask, scores, torch.inf).amin(dim=1)
    high = torch.where(about.feature_mask, scores, -torch.inf).amax(dim=1)
    return torch.where(low < high, coefficient, torch.nan)


# ------------------------------------------------------------------------ in `evaluate`: as many groups as there can be
def _by_size(about: About) -> dict[int, Tensor]:
    """The inputs that have as many groups: `about.groups`, or one a feature where there are fewer features."""
    sizes = about.feature_mask.sum(dim=1).clamp(max=about.groups)
    return {k: (sizes == k).nonzero()[:, 0] for k in sizes.unique().tolist()}


def _copies_by_size(measure: Measure) -> Callable[[Tensor, About], dict[int, Copies]]:
    def rows(scores: Tensor, about: About) -> dict[int, Copies]:
        copies = {}
        for k, index in _by_size(about).items():
            of_size = measure.copies(scores[index], about.subset(index.tolist()), k=k)
            of_size = of_size if isinstance(of_size, Copies) else Copies(of_size)
            copies[k] = Copies(of_size.keep, read=of_size.read, inputs=index)
        return copies

    return rows


def _values_by_size(
    measure: Measure, answers: dict[int, Tensor], scores: Tensor, about: About, **options: Any
) -> list[Any]:
    """What the measure says of the inputs of each number of groups."""
    return [
        measure.value(answers[k], scores[index], about.subset(index.tolist()), k=k, **options)
        for k, index in _by_size(about).items()
    ]


def _in_order(parts: list[Tensor], about: About) -> Tensor:
    """Values of the inputs by number of groups, in the order of the inputs."""
    order = torch.cat(list(_by_size(about).values())).argsort()
    return torch.cat(parts)[order]


@register
@metric(
    "groups",
    rows=_copies_by_size(grouped_five),
    metrics={
        "saco": (
            HIGHER,
            "whether groups of features with higher scores cost more when erased: 1 always, 0 by chance, -1 never",
            "Σ_{i<j} ±(g_i - g_j) / Σ_{i<j} abs(g_i - g_j), + if d_i ≥ d_j",
        ),
        "auc": (
            LOWER,
            "how long the predicted class stays the same while groups of features go, most relevant first",
            "area over k = 0..K of c(x - (G_1 ∪ .. ∪ G_k))",
        ),
        "log_odds": (
            LOWER,
            "the mean log of the output that is left while groups of features go, most relevant first",
            "mean over k = 1..K of ln p(x - (G_1 ∪ .. ∪ G_k)) - ln p(x)",
        ),
    },
    cost="3 K - 3 for K groups",
    source="Wu et al. 2024",
    by_default=True,
    undefined="all scores are equal",
    kind="common",
)
def group_metrics(answers: dict[int, Tensor], scores: Tensor, about: About) -> Values:
    """SaCo (with sums of scores, Eq. 1), AUC and log-odds of as many groups as an input can have.

    Parameters
    ----------
    answers : dict[int, Tensor]
        By number of groups K, all logits of the inputs that have K: each group erased alone, then one after the other,
        most and least relevant first, [., 3 K, C].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        [B] each: "saco", higher is better, NaN where all scores are equal; "auc" and "log_odds", lower is better, which
        a model that predicts a value does not have.
    """
    parts = _values_by_size(grouped_five, answers, scores, about)
    names = [name for name in ("saco", "auc", "log_odds") if name in parts[0]]
    return {name: _in_order([part[name] for part in parts], about) for name in names}


@register
@metric(
    "saco_mean",
    rows=_copies_by_size(grouped_alone),
    direction=HIGHER,
    meaning="saco, where a group has the mean of its features' scores instead of their sum",
    formula="saco with the mean score of G_i for g_i",
    cost="K for K groups",
    source="Wu et al. 2024, with means instead of Eq. 1",
    undefined="all scores are equal",
)
def saco_of_means(answers: dict[int, Tensor], scores: Tensor, about: About) -> Tensor:
    """SaCo where a group has the mean of its features' scores instead of their sum.

    Parameters
    ----------
    answers : dict[int, Tensor]
        By number of groups K, the output of the inputs that have K with each group erased alone, [., K].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; higher is better, NaN where all scores are equal.
    """
    return _in_order(_values_by_size(grouped_alone, answers, scores, about, reduce="mean"), about)
