"""What a model answers when the words an attribution points at go, or stay alone: sufficiency and comprehensiveness.

**Normalised** (Carton et al. 2020; Zhao & Aletras 2023): NS and NC with hard erasure (Eq. 1-2) and Soft-NS and Soft-NC
(Eq. 4-5), which are the same formulas over inputs whose embedding elements were dropped with a probability that follows
the attribution (Eq. 3; `faithlib.masks.soft_keep`, `Perturber.soft`). All divide by 1 - S(X, y, 0) = max(0, p_full -
p_empty): how much probability the model loses when everything is erased. Where that is 0 the metric is undefined and
the answer is NaN; callers count these inputs instead of dropping them silently.

**ERASER's** (DeYoung et al. 2020; Zaman & Belinkov 2022, Section 3.1.2): the mean drop over rationales of several
lengths, not divided by anything. Its sufficiency points the other way: lower is better.

Shape letters: B inputs, S rationale lengths, F features.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from faithlib.catalogue import HIGHER, LOWER
from faithlib.copies import Copies
from faithlib.errors import check_known
from faithlib.masks import checked_mask, position_in_rank, soft_keep, top_ratio
from faithlib.metrics.curves import aopc
from faithlib.metrics.registry import About, Values, metric, register
from faithlib.names import Normaliser

__all__ = [
    "ERASURE_BINS",
    "PAPER_RATIOS",
    "RELEASED_RATIOS",
    "comprehensiveness_eraser",
    "comprehensiveness_nc",
    "eraser",
    "erasure_rationales",
    "hard",
    "nothing_kept",
    "soft",
    "soft_nc",
    "soft_ns",
    "sufficiency_eraser",
    "sufficiency_ns",
]

ERASURE_BINS = (0.01, 0.05, 0.10, 0.20, 0.50)
PAPER_RATIOS = (0.01, 0.05, 0.10, 0.20, 0.50)
RELEASED_RATIOS = (0.01, 0.02, 0.05, 0.10, 0.20, 0.50, 1.00)
NO_LOSS = "the output does not fall when all features go"


# --------------------------------------------------------------------------------------------------------- normalised
def sufficiency_ns(p_full: Tensor, p_kept: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """Normalised sufficiency (NS): how much of the output a rationale keeps alone.

    NS = (S - S0) / (1 - S0) with S = 1 - max(0, p_full - p_kept) and S0 = 1 - max(0, p_full - p_empty) (Carton et al.
    2020; Zhao & Aletras 2023, Eq. 1).

    Parameters
    ----------
    p_full : Tensor
        p(y|X), the probability of the class for the whole input; any shapes that broadcast.
    p_kept : Tensor
        p(y|rationale alone).
    p_empty : Tensor
        p(y|everything erased).
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.

    Returns
    -------
    Tensor
        NS in the shape of the three, at most 1. Higher is better: 1 when the rationale alone does as well as the text,
        0 when it does no better than nothing, below 0 when worse. NaN where p_empty >= p_full.

    Examples
    --------
    >>> round(sufficiency_ns(torch.tensor(0.9), torch.tensor(0.8), torch.tensor(0.5)).item(), 4)
    0.75
    """
    room = _room(p_full, p_empty)
    value = (room - (p_full - p_kept).clamp(min=0)) / room
    return value.clamp(0, 1) if clip else value


def comprehensiveness_nc(p_full: Tensor, p_removed: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """Normalised comprehensiveness (NC): how much of the output is lost without a rationale.

    NC = C / (1 - S0) with C = max(0, p_full - p_removed) and S0 = 1 - max(0, p_full - p_empty) (Carton et al. 2020;
    Zhao & Aletras 2023, Eq. 2).

    Parameters
    ----------
    p_full : Tensor
        p(y|X), the probability of the class for the whole input; any shapes that broadcast.
    p_removed : Tensor
        p(y|text without the rationale).
    p_empty : Tensor
        p(y|everything erased).
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.

    Returns
    -------
    Tensor
        NC in the shape of the three, at least 0. Higher is better: 0 when removing the rationale changes nothing (or
        helps), 1 when it costs as much as erasing everything, above 1 when it costs more. NaN where p_empty >= p_full.

    Examples
    --------
    >>> round(comprehensiveness_nc(torch.tensor(0.9), torch.tensor(0.8), torch.tensor(0.5)).item(), 4)
    0.25
    """
    value = (p_full - p_removed).clamp(min=0) / _room(p_full, p_empty)
    return value.clamp(0, 1) if clip else value


def soft_ns(p_full: Tensor, p_soft: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """Soft normalised sufficiency (Soft-NS): NS where each feature is kept in proportion to its score.

    Eq. 1 at p(y|X') where X' retains elements in proportion to importance, q = a (Zhao & Aletras 2023, Eq. 4).

    Parameters
    ----------
    p_full : Tensor
        p(y|X), the probability of the class for the whole input; any shapes that broadcast.
    p_soft : Tensor
        p(y|X').
    p_empty : Tensor
        p(y|everything erased).
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.

    Returns
    -------
    Tensor
        Soft-NS in the shape of the three, at most 1, as `sufficiency_ns`. Higher is better. NaN where
        p_empty >= p_full.

    Notes
    -----
    Average over draws *after* this function, since max(0, .) is not linear.

    Examples
    --------
    >>> p_soft = torch.tensor([0.8, 0.7])  # of two draws
    >>> soft_ns(torch.tensor(0.9), p_soft, torch.tensor(0.5)).mean().round(decimals=4)  # of .75 and .5
    tensor(0.6250)
    """
    return sufficiency_ns(p_full, p_soft, p_empty, clip=clip)


def soft_nc(p_full: Tensor, p_soft: Tensor, p_empty: Tensor, *, clip: bool = False) -> Tensor:
    """Soft normalised comprehensiveness (Soft-NC): NC where each feature is dropped in proportion to its score.

    Eq. 2 at p(y|X') where X' loses elements in proportion to importance, q = 1 - a (Zhao & Aletras 2023, Eq. 5).

    Parameters
    ----------
    p_full : Tensor
        p(y|X), the probability of the class for the whole input; any shapes that broadcast.
    p_soft : Tensor
        p(y|X').
    p_empty : Tensor
        p(y|everything erased).
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.

    Returns
    -------
    Tensor
        Soft-NC in the shape of the three, at least 0, as `comprehensiveness_nc`. Higher is better. NaN where
        p_empty >= p_full.

    Notes
    -----
    Average over draws *after* this function, since max(0, .) is not linear.

    Examples
    --------
    >>> p_soft = torch.tensor([0.8, 0.7])  # of two draws
    >>> soft_nc(torch.tensor(0.9), p_soft, torch.tensor(0.5)).mean().round(decimals=4)  # of .25 and .5
    tensor(0.3750)
    """
    return comprehensiveness_nc(p_full, p_soft, p_empty, clip=clip)


def _room(p_full: Tensor, p_empty: Tensor) -> Tensor:
    room = p_full - p_empty
    return torch.where(room > 0, room, torch.nan)


# ------------------------------------------------------------------------------------------------------------ ERASER's
def erasure_rationales(
    scores: Tensor,
    feature_mask: Tensor | None = None,
    *,
    bins: Sequence[float] = ERASURE_BINS,
    rounding: str = "up",
) -> Tensor:
    """Rationales of ERASER's metrics: the top 1, 5, 10, 20 and 50 % of the words.

    Zaman & Belinkov 2022, Section 3.1.2.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.
    bins : sequence of float, default ERASURE_BINS
        Shares of the features, in [0, 1], [S].
    rounding : {"up", "nearest"}, default "up"
        "up" takes ceil(share * n) of an input's n words, as `masks.top_ratio` does everywhere in this library;
        "nearest" rounds, halves to even, and takes at least one word, as the released code does (its n also counts the
        separators between premise and hypothesis).

    Returns
    -------
    Tensor
        bool [B, S, F], True for the features of each rationale.

    Raises
    ------
    InputError
        Where shapes disagree, the score of a real feature is not finite, or a share is outside [0, 1].
    UnknownNameError
        For another `rounding`.

    Examples
    --------
    >>> erasure_rationales(torch.rand(1, 25)).sum(dim=2).tolist()
    [[1, 2, 3, 5, 13]]
    >>> erasure_rationales(torch.rand(1, 25), rounding="nearest").sum(dim=2).tolist()
    [[1, 1, 2, 5, 12]]
    """
    check_known("rounding", rounding, ("up", "nearest"))
    up = top_ratio(scores, bins, feature_mask)
    if rounding == "up":
        return up
    n = checked_mask(scores, feature_mask).sum(dim=1, keepdim=True)
    sizes = (n * torch.tensor(bins, dtype=torch.double, device=n.device)).round().clamp(min=1)
    # Rounding up never takes fewer words, so that its rationale also keeps absent features out.
    return up & (position_in_rank(scores, feature_mask)[:, None, :] < sizes[:, :, None])


def comprehensiveness_eraser(p_full: Tensor, p_removed: Tensor, *, divisor: str = "bins") -> Tensor:
    """AOPC comprehensiveness of ERASER: how far the output falls without the top features, averaged over bins.

    sum_j [m(x)_y - m(x without r_j)_y] / divisor (DeYoung et al. 2020; Zaman & Belinkov 2022, Eq. 5). Not the
    "comprehensiveness" of Wu et al., who remove what is least relevant.

    Parameters
    ----------
    p_full : Tensor
        Probability of the predicted class, [B].
    p_removed : Tensor
        Probability of the same class without the top features of each bin, [B, S].
    divisor : {"bins", "bins_plus_one"}, default "bins"
        "bins" divides by `|B|`, the number of bins: the mean over bins that both papers describe. "bins_plus_one"
        divides by `|B| + 1`, as in the sum that ERASER writes down and in the released code: a bin of no features,
        whose drop is 0, counts too. With five bins this is 5/6 of the mean; scores from that code are as much smaller.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; higher is better.

    Raises
    ------
    UnknownNameError
        For another `divisor`.
    InputError
        Where `p_removed` is not [B, S] with at least one bin.

    Examples
    --------
    >>> p_full, p_removed = torch.tensor([0.9]), torch.tensor([[0.8, 0.2]])
    >>> round(comprehensiveness_eraser(p_full, p_removed).item(), 4)
    0.4
    >>> round(comprehensiveness_eraser(p_full, p_removed, divisor="bins_plus_one").item(), 4)
    0.2667
    """
    check_known("divisor", divisor, ("bins", "bins_plus_one"))
    mean = aopc(p_full, p_removed)
    if divisor == "bins":
        return mean
    bins = p_removed.shape[1]
    return mean * bins / (bins + 1)


def sufficiency_eraser(p_full: Tensor, p_kept: Tensor, *, divisor: str = "bins") -> Tensor:
    """AOPC sufficiency of ERASER: how far the output falls with the top features alone, averaged over bins.

    sum_j [m(x)_y - m(r_j)_y] / divisor (DeYoung et al. 2020; Zaman & Belinkov 2022, Eq. 6). Not the normalised
    `sufficiency_ns`, where higher is better.

    Parameters
    ----------
    p_full : Tensor
        Probability of the predicted class, [B].
    p_kept : Tensor
        Probability of the same class on the top features of each bin alone, [B, S].
    divisor : {"bins", "bins_plus_one"}, default "bins"
        As in `comprehensiveness_eraser`. The released code divides by `|B| + 1` here too, although a bin of no features
        would be the empty text, with a drop of its own.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; *lower* is better: 0 where the top features do as well as the text.

    Raises
    ------
    UnknownNameError
        For another `divisor`.
    InputError
        Where `p_kept` is not [B, S] with at least one bin.

    Examples
    --------
    >>> round(sufficiency_eraser(torch.tensor([0.9]), torch.tensor([[0.2, 0.8]])).item(), 4)
    0.4
    """
    return comprehensiveness_eraser(p_full, p_kept, divisor=divisor)


# ------------------------------------------------------------------------------------------------------- as two halves
def _hard_copies(scores: Tensor, about: About, *, ratios: Sequence[float] = PAPER_RATIOS) -> Tensor:
    rationale = top_ratio(scores, ratios, about.feature_mask)
    nothing = torch.zeros_like(rationale[:, :1])
    return torch.cat([rationale, ~rationale, nothing], dim=1)


@register
@metric(
    "hard",
    rows=_hard_copies,
    metrics={
        "ns": (
            HIGHER,
            "how much of the output the most relevant features keep alone",
            "mean over q of 1 - [f(x) - f(T_q)]₊ / (f(x) - f(∅))",
        ),
        "nc": (
            HIGHER,
            "how much of the output is lost without the most relevant features",
            "mean over q of [f(x) - f(x - T_q)]₊ / (f(x) - f(∅))",
        ),
    },
    cost="at most 10 and the empty input",
    source="Carton et al. 2020; Zhao & Aletras 2023, Eq. 1-2",
    by_default=True,
    undefined=NO_LOSS,
    kind="common",
)
def hard(answers: Tensor, scores: Tensor, about: About, *, clip: bool = False) -> Values:
    """NS and NC at every rationale length.

    Parameters
    ----------
    answers : Tensor
        The output for rationales alone, for the inputs without them, and with everything erased, [B, 2 S + 1].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.

    Returns
    -------
    dict of str to Tensor
        "ns" and "nc", [B, S] each; higher is better, NaN where the output does not fall when all features go.
    """
    lengths = answers.shape[1] // 2
    kept, removed, empty = answers.split([lengths, lengths, 1], dim=1)
    full = about.full[:, None]
    return {
        "ns": sufficiency_ns(full, kept, empty, clip=clip),
        "nc": comprehensiveness_nc(full, removed, empty, clip=clip),
    }


def nothing_kept(about: About) -> Copies:
    """The input of which every element of every feature's embedding is dropped: what soft erasure falls to.

    Parameters
    ----------
    about : About
        What is known about the inputs.

    Returns
    -------
    Copies
        One copy of each input, `keep` [B, 1, F] of zeros.

    Examples
    --------
    >>> nothing_kept(About(torch.tensor([[True, True]]), keys=[7])).keep
    tensor([[[0., 0.]]])
    """
    return Copies(torch.zeros(about.feature_mask.shape, device=about.feature_mask.device)[:, None])


def _soft_copies(
    scores: Tensor,
    about: About,
    *,
    normaliser: Normaliser | tuple[Normaliser, Normaliser] = "minmax",
    variant: str = "paper",
    empty: Tensor | None = None,
) -> dict[str, Copies]:
    for_ns, for_nc = (normaliser, normaliser) if isinstance(normaliser, str) else normaliser
    copies = {} if empty is not None else {"nothing": nothing_kept(about)}
    for verb, name in (("sufficiency", for_ns), ("comprehensiveness", for_nc)):
        keep = soft_keep(scores, verb=verb, normaliser=name, variant=variant, feature_mask=about.feature_mask)
        copies[verb] = Copies(keep[:, None], draws=about.draws, seed=about.seed)
    return copies


@register
@metric(
    "soft",
    rows=_soft_copies,
    metrics={
        "soft_ns": (
            HIGHER,
            "the same as ns, where each feature is kept in proportion to its score",
            "mean over draws of 1 - [f(x) - f(a)]₊ / (f(x) - f(0))",
        ),
        "soft_nc": (
            HIGHER,
            "the same as nc, where each feature is dropped in proportion to its score",
            "mean over draws of [f(x) - f(1 - a)]₊ / (f(x) - f(0))",
        ),
    },
    cost="2 for each draw and the empty input",
    source="Zhao & Aletras 2023, Eq. 3-5",
    by_default=True,
    undefined=NO_LOSS,
    kind="common",
)
def soft(
    answers: dict[str, Tensor], scores: Tensor, about: About, *, clip: bool = False, empty: Tensor | None = None
) -> Values:
    """Soft-NS and Soft-NC of every draw.

    Parameters
    ----------
    answers : dict[str, Tensor]
        The output of soft copies [B, 1, draws] for "sufficiency" and "comprehensiveness", and [B, 1] for "nothing",
        everything dropped, unless `empty` is given.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.
    empty : Tensor, optional
        The output with everything erased, [B], where it is known already; default: asked.

    Returns
    -------
    dict of str to Tensor
        "soft_ns" and "soft_nc", [B, draws] each; higher is better, NaN where the output does not fall when all features
        go.
    """
    full = about.full[:, None]
    floor = answers["nothing"][:, 0] if empty is None else empty[:, None]
    return {
        "soft_ns": soft_ns(full, answers["sufficiency"][:, 0], floor, clip=clip),
        "soft_nc": soft_nc(full, answers["comprehensiveness"][:, 0], floor, clip=clip),
    }


def _eraser_copies(scores: Tensor, about: About) -> Tensor:
    rationales = erasure_rationales(scores, about.feature_mask)
    return torch.cat([~rationales, rationales], dim=1)


@register
@metric(
    "eraser",
    rows=_eraser_copies,
    metrics={
        "comprehensiveness_eraser": (
            HIGHER,
            "how far the output falls without the top 1 to 50 % of the features",
            "mean over q of f(x) - f(x - T_q)",
        ),
        "sufficiency_eraser": (
            LOWER,
            "how far the output falls with the top 1 to 50 % of the features alone",
            "mean over q of f(x) - f(T_q)",
        ),
    },
    cost="at most 10",
    source="DeYoung et al. 2020",
    by_default=True,
    kind="common",
)
def eraser(answers: Tensor, scores: Tensor, about: About, *, divisor: str = "bins") -> Values:
    """ERASER's comprehensiveness and sufficiency.

    Parameters
    ----------
    answers : Tensor
        The output without the top features of each bin, then with them alone, [B, 2 S].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.
    divisor : {"bins", "bins_plus_one"}, default "bins"
        As in `comprehensiveness_eraser`.

    Returns
    -------
    dict of str to Tensor
        "comprehensiveness_eraser", higher is better, and "sufficiency_eraser", lower is better; [B] each.

    Raises
    ------
    UnknownNameError
        For another `divisor`.

    Notes
    -----
    `evaluate` divides by the number of bins. Values of the released code are a metric of your own, of public functions:

    Examples
    --------
    >>> from faithlib import evaluate
    >>> def without_the_top(scores, about):
    ...     return ~erasure_rationales(scores, about.feature_mask)
    >>> @metric("comprehensiveness_released", rows=without_the_top, direction="higher")
    ... def comprehensiveness_released(answers, scores, about):
    ...     return comprehensiveness_eraser(about.full, answers, divisor="bins_plus_one")
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> both = ["comprehensiveness_eraser", comprehensiveness_released]
    >>> evaluate(model, ["a good film"], methods=["occlusion"], metrics=both).value.round(4).tolist()
    [0.4, 0.3333]
    """
    removed, kept = answers.chunk(2, dim=1)
    return {
        "comprehensiveness_eraser": comprehensiveness_eraser(about.full, removed, divisor=divisor),
        "sufficiency_eraser": sufficiency_eraser(about.full, kept, divisor=divisor),
    }
