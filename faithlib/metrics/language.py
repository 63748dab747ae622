"""Measures that papers about language models use, as formulas over what a model answers.

The answers are numbers of one output, a log-probability for example (`faithlib.backends.Continuation`); what is erased
to get them stands below the formulas, as two halves (`faithlib.metrics.registry`).

Shape letters: B inputs, F features, K steps, M random sets, V words.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from faithlib._draws import drawn
from faithlib.catalogue import HIGHER, LOWER
from faithlib.copies import Copies
from faithlib.errors import InputError, check_known
from faithlib.masks import checked_mask, normalise, position_in_rank, soft_keep, top_ratio
from faithlib.metrics._sums import sum_in_order
from faithlib.metrics.crosslingual import crosslingual_rho
from faithlib.metrics.curves import auc
from faithlib.metrics.erasure import NO_LOSS, nothing_kept, soft_nc, soft_ns
from faithlib.metrics.registry import About, Measure, Values, metric, register
from faithlib.names import Normaliser

__all__ = [
    "PI_SHARES",
    "TOP_SIZES",
    "area",
    "comprehensiveness_distance",
    "contest",
    "deletion",
    "distances",
    "equal_retention",
    "equal_shares",
    "hellinger",
    "hellinger_soft",
    "lds",
    "linear_datamodel",
    "mas",
    "monotone_response",
    "pi_soft",
    "randomisation_p",
    "rise",
    "sufficiency_distance",
    "top_k",
    "top_k_drops",
    "win_rate",
    "win_rates",
]

PI_SHARES = tuple(step / 10 for step in range(1, 10))
TOP_SIZES = (1, 3, 5)


# ------------------------------------------------------------------------------------------------------- distributions
def hellinger(p: Tensor, q: Tensor, *, variant: str = "paper") -> Tensor:
    """Hellinger distance of distributions: how far next-token distributions are from each other.

    H(p, q) = || sqrt(p) - sqrt(q) ||_2 / sqrt(2), the distance in ReAGent's Soft-NS and Soft-NC (Zhao & Shan 2024,
    Section 4.3).

    Parameters
    ----------
    p, q : Tensor
        Distributions over V words, [..., V].
    variant : {"paper", "released"}, default "paper"
        "paper": H. "released": the sum over V of (sqrt(p) - sqrt(q))^2 / sqrt(2), as their released code has it; it is
        sqrt(2) H^2.

    Returns
    -------
    Tensor
        [...], in [0, 1]: 0 for equal distributions, 1 for two without a word in common. In [0, sqrt(2)] where `variant`
        is "released".

    Raises
    ------
    UnknownNameError
        For another `variant`.

    Examples
    --------
    >>> p, q = torch.tensor([0.25, 0.75]), torch.tensor([1.0, 0.0])
    >>> round(hellinger(p, q).item(), 4), round(hellinger(p, q, variant="released").item(), 4)
    (0.7071, 0.7071)
    """
    check_known("variant", variant, ("paper", "released"))
    squares = (p.sqrt() - q.sqrt()).square().sum(dim=-1)
    return (squares if variant == "released" else squares.sqrt()) / 2**0.5


def sufficiency_distance(kept: Tensor, empty: Tensor) -> Tensor:
    """Soft-NS over distances: how near the output stays where each feature is kept in proportion to its score.

    max(0, d_empty - d_kept) / d_empty (Zhao & Shan 2024; S = 1 - d in Zhao & Aletras' Eq. 4).

    Parameters
    ----------
    kept : Tensor
        Distance from the prompt's own distribution of the copy that retains in proportion to the scores; shapes
        broadcast.
    empty : Tensor
        Distance of the copy with everything erased.

    Returns
    -------
    Tensor
        In [0, 1], higher is better. NaN where erasing everything changes nothing.

    Examples
    --------
    >>> round(sufficiency_distance(torch.tensor(0.2), torch.tensor(0.8)).item(), 4)
    0.75
    """
    return (empty - kept).clamp(min=0) / empty.where(empty > 0, torch.nan)


def comprehensiveness_distance(removed: Tensor, empty: Tensor) -> Tensor:
    """Soft-NC over distances: how far the output moves where each feature is dropped in proportion to its score.

    d_removed / d_empty (Zhao & Shan 2024; Zhao & Aletras' Eq. 5).

    Parameters
    ----------
    removed : Tensor
        Distance from the prompt's own distribution of the copy that loses in proportion to the scores; shapes
        broadcast.
    empty : Tensor
        Distance of the copy with everything erased.

    Returns
    -------
    Tensor
        At least 0, higher is better; above 1 where that copy is farther away than the empty one. NaN where erasing
        everything changes nothing.

    Examples
    --------
    >>> round(comprehensiveness_distance(torch.tensor(0.2), torch.tensor(0.8)).item(), 4)
    0.25
    """
    return removed / empty.where(empty > 0, torch.nan)


# ------------------------------------------------------------------------------------------------------ equal retention
def equal_retention(importance: Tensor, share: float, feature_mask: Tensor | None = None) -> Tensor:
    """Keep-probabilities of which every input keeps the same share on average.

    q_i = min(1, max(0, a_i + b)), whose mean over an input's features is `share`; the b of each input is found by
    bisection.

    Parameters
    ----------
    importance : Tensor
        Importance a of each feature, in [0, 1] (`masks.normalise`), [B, F].
    share : float
        The mean of the probabilities, in [0, 1].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.

    Returns
    -------
    Tensor
        [B, F], in [0, 1]; 0 beyond an input's features.

    Raises
    ------
    InputError
        For a share that is not in [0, 1], where shapes disagree, or where the importance of a real feature is not
        finite.

    Notes
    -----
    pi-Soft-NC and pi-Soft-NS (Huang & Chan 2026, arXiv 2601.03089) compare attributions at the same expected retaining
    probability. How a score becomes a probability of that mean is our choice: a shift keeps the order, and the
    differences of whatever is not clipped.

    Examples
    --------
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
    """Area under values over ascending shares by the trapezium rule, divided by their range: a mean.

    Parameters
    ----------
    values : Tensor
        One value for each share, [..., K].
    shares : Tensor
        Ascending shares, [K].

    Returns
    -------
    Tensor
        [...], in the range of the values.

    Examples
    --------
    >>> area(torch.tensor([[0.0, 1.0, 1.0]]), torch.tensor([0.25, 0.5, 0.75])).item()
    0.75
    """
    return torch.trapezoid(values, shares.to(values), dim=-1) / (shares[-1] - shares[0]).to(values)


# ------------------------------------------------------------------------------------------------ sources of an answer
def lds(predicted: Tensor, actual: Tensor) -> Tensor:
    """Linear datamodeling score (LDS): whether sums of scores rank random ablations of an input as the output does.

    Spearman's rank correlation over M random ablations between the sum of the scores that stay and the model's output
    (Cohen-Wang et al. 2024, ContextCite, Section 3).

    Parameters
    ----------
    predicted : Tensor
        Sums of the scores that stay, [B, M].
    actual : Tensor
        The model's output for the same ablations, [B, M].

    Returns
    -------
    Tensor
        [B], float64 in [-1, 1]; higher is better: whether scores add up to what sets of features do. NaN where either
        side is constant.

    Raises
    ------
    InputError
        Where the two are not of one shape [B, M], M is below 2, or a sum of scores is not finite.

    Notes
    -----
    Ties share their mean rank.

    Examples
    --------
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
    """RISE's deletion area as FlashTrace reports it (Pan et al. 2026, arXiv 2602.01914).

    The area under the monotone response of `monotone_response`.

    Parameters
    ----------
    path : Tensor
        The summed log-probability of the answer after 0 .. K steps, most relevant first, [B, K + 1].

    Returns
    -------
    Tensor
        [B], in [0, 1]; lower is better. NaN where both ends are equal. 0, the best value, also for every path whose end
        is above its beginning.

    Raises
    ------
    InputError
        Where `path` is not [B, K + 1] with at least two columns.

    Examples
    --------
    >>> rise(torch.tensor([[-1.0, -3.0, -2.0, -5.0]])).item()  # heights 1, .5, .5, 0
    0.5
    """
    return auc(monotone_response(path))


def mas(path: Tensor, left: Tensor) -> Tensor:
    """Magnitude-aligned score (MAS) as FlashTrace reports it (Pan et al. 2026).

    The area under `n + |n - d|`, clipped to [0, 1] and stretched to it, n the response of `monotone_response` and d the
    share of the attribution that is left.

    Parameters
    ----------
    path : Tensor
        The summed log-probability of the answer after 0 .. K steps, most relevant first, [B, K + 1], as for `rise`.
    left : Tensor
        The share d of the attribution that is left after each step (1 .. 0), [B, K + 1].

    Returns
    -------
    Tensor
        [B], in [0, 1]; lower is better: a fall of the output in step with the attribution. 1/2 where the corrected
        curve is flat, as the released code has it; NaN where the ends of the path are equal.

    Raises
    ------
    InputError
        Where `path` is not [B, K + 1] with at least two columns.

    Examples
    --------
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
    """A path measured by its own ends and never rising.

    `n_k = min over j <= k of clip((f_j - f_K) / |f_0 - f_K|, 0, 1)`.

    Parameters
    ----------
    path : Tensor
        Outputs f after 0 .. K steps, [B, K + 1].

    Returns
    -------
    Tensor
        [B, K + 1], in [0, 1]; NaN where both ends of the path are equal.

    Raises
    ------
    InputError
        Where `path` is not [B, K + 1] with at least two columns.

    Examples
    --------
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
    """Share of random rationales of the same size that a rationale beats, ties by halves.

    Basu & Chakraborty 2026, ICE, arXiv 2603.18579.

    Parameters
    ----------
    value : Tensor
        The value of the rationale, [B]; higher is better.
    random : Tensor
        The values of M random rationales, [B, M]; higher is better.

    Returns
    -------
    Tensor
        [B], float64 in [0, 1]; higher is better: 1/2 by chance, below for a rationale that is worse than random ones.

    Examples
    --------
    >>> win_rate(torch.tensor([0.5]), torch.tensor([[0.1, 0.5, 0.2, 0.9]])).item()
    0.625
    """
    above, equal = value[:, None] > random, value[:, None] == random
    return (above.double() + equal.double() / 2).mean(dim=1)


def randomisation_p(value: Tensor, random: Tensor) -> Tensor:
    """p value of the one-sided randomisation test of `win_rate` (Basu & Chakraborty 2026).

    p = (1 + number of random values >= the value) / (M + 1).

    Parameters
    ----------
    value : Tensor
        The value of the rationale, [B]; higher is better.
    random : Tensor
        The values of M random rationales, [B, M]; higher is better.

    Returns
    -------
    Tensor
        [B], float64 in (0, 1]; lower is stronger evidence.

    Examples
    --------
    >>> randomisation_p(torch.tensor([0.5]), torch.tensor([[0.1, 0.5, 0.2, 0.9]])).item()
    0.6
    """
    return (1 + (random >= value[:, None]).sum(dim=1).double()) / (random.shape[1] + 1)


# ------------------------------------------------------------------------------------------------------- as two halves
def _numbers(about: About, count: int) -> Tensor:
    """U(0, 1) numbers [B, M, F], of each input its own, from (seed, content); 1 beyond its features."""
    sizes = about.feature_mask.sum(dim=1).tolist()
    return drawn(about.keys, sizes, count, about.seed).to(about.feature_mask.device)


def _check_similarity(about: About) -> None:
    far = (about.full - 1).abs() > 1e-3
    if bool(far.any()):
        b = int(far.nonzero()[0])
        raise InputError(
            f"the output at input {b} is {float(about.full[b]):.3g}, and of a similarity 1: expected a "
            "Continuation with reading='similarity'"
        )


def _distance_copies(
    scores: Tensor, about: About, *, normaliser: Normaliser = "minmax", variant: str = "paper"
) -> dict[str, Copies]:
    check_known("variant", variant, ("paper", "released"))
    if about.perturber is not None:
        _check_similarity(about)
    copies = {"nothing": nothing_kept(about)}
    for verb in ("sufficiency", "comprehensiveness"):
        keep = soft_keep(scores, verb=verb, normaliser=normaliser, feature_mask=about.feature_mask)
        copies[verb] = Copies(keep[:, None], draws=about.draws, seed=about.seed)
    return copies


def _distances(answers: dict[str, Tensor], scores: Tensor, about: About, *, variant: str = "paper") -> Values:
    def distance(similarity: Tensor) -> Tensor:
        distances = (1 - similarity).clamp(min=0)
        return distances if variant == "paper" else 2**0.5 * distances.square()

    kept, removed, empty = (distance(answers[name][:, 0]) for name in ("sufficiency", "comprehensiveness", "nothing"))
    return {"soft_ns": sufficiency_distance(kept, empty), "soft_nc": comprehensiveness_distance(removed, empty)}


distances = Measure(_distance_copies, _distances)


@register
@metric(
    "hellinger",
    rows=_distance_copies,
    metrics={
        "hellinger_soft_ns": (
            HIGHER,
            "how near the next token's distribution stays where each feature is kept in proportion to its score",
            "mean over draws of [H(0) - H(a)]₊ / H(0)",
        ),
        "hellinger_soft_nc": (
            HIGHER,
            "how far the next token's distribution moves where each feature is dropped in proportion to its score",
            "mean over draws of H(1 - a) / H(0)",
        ),
    },
    cost="2 for each draw and the empty input",
    source="Zhao & Shan 2024",
    undefined=NO_LOSS,
    kind="language",
)
def hellinger_soft(answers: dict[str, Tensor], scores: Tensor, about: About) -> Values:
    """Soft-NS and Soft-NC over distances of next-token distributions.

    Parameters
    ----------
    answers : dict[str, Tensor]
        Similarities (1 - distance) of soft copies, [B, 1, draws] for "sufficiency" and "comprehensiveness", [B, 1] for
        "nothing"; of a `Continuation` with reading "similarity".
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        "hellinger_soft_ns" and "hellinger_soft_nc", [B, draws] each; higher is better, NaN where erasing everything
        changes nothing.
    """
    return {f"hellinger_{name}": value for name, value in _distances(answers, scores, about).items()}


def _equal_copies(
    scores: Tensor, about: About, *, shares: Sequence[float] = PI_SHARES, normaliser: Normaliser = "minmax"
) -> dict[str, Copies]:
    importance = normalise(scores, normaliser, about.feature_mask)
    copies = {"nothing": nothing_kept(about)}
    for name, kept in (("pi_soft_ns", importance), ("pi_soft_nc", 1 - importance)):
        keep = torch.stack([equal_retention(kept, share, about.feature_mask) for share in shares], dim=1)
        copies[name] = Copies(keep, draws=about.draws, seed=about.seed)
    return copies


def _equal(answers: dict[str, Tensor], scores: Tensor, about: About, *, shares: Sequence[float] = PI_SHARES) -> Values:
    full, floor = about.full[:, None, None], answers["nothing"][:, 0, 0][:, None, None]
    values = {}
    for name, formula in (("pi_soft_ns", soft_ns), ("pi_soft_nc", soft_nc)):
        values[name] = formula(full, answers[name], floor).mean(dim=2)
        values[f"{name}_area"] = area(values[name], torch.tensor(shares, dtype=torch.double))
    return values


equal_shares = Measure(_equal_copies, _equal)


@register
@metric(
    "pi_soft",
    rows=_equal_copies,
    metrics={
        "pi_soft_ns": (
            HIGHER,
            "soft_ns where all methods keep the same share of an input, averaged over shares",
            "area over π = 0.1, 0.2, .., 0.9 of soft_ns with a_π for a",
        ),
        "pi_soft_nc": (
            HIGHER,
            "soft_nc where all methods keep the same share of an input, averaged over shares",
            "area over π = 0.1, 0.2, .., 0.9 of soft_nc with (1 - a)_π for 1 - a",
        ),
    },
    cost="18 for each draw and the empty input",
    source="Huang & Chan 2026",
    undefined=NO_LOSS,
    kind="language",
)
def pi_soft(answers: dict[str, Tensor], scores: Tensor, about: About) -> Values:
    """Areas of Soft-NS and Soft-NC over the shares of an input that all methods keep (Huang & Chan 2026).

    Parameters
    ----------
    answers : dict[str, Tensor]
        The output of soft copies at each share, [B, K, draws] for "pi_soft_ns" and "pi_soft_nc", [B, 1, 1] for
        "nothing".
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        "pi_soft_ns" and "pi_soft_nc", [B] each; higher is better, NaN where the output does not fall when all features
        go.
    """
    values = _equal(answers, scores, about)
    return {"pi_soft_ns": values["pi_soft_ns_area"], "pi_soft_nc": values["pi_soft_nc_area"]}


def _top_copies(scores: Tensor, about: About, *, sizes: Sequence[int] = TOP_SIZES) -> Tensor:
    place = position_in_rank(scores, about.feature_mask)
    return place[:, None] >= torch.tensor(list(sizes), device=place.device)[:, None]


def _top_drop(answers: Tensor, scores: Tensor, about: About) -> Tensor:
    return about.full[:, None] - answers


top_k_drops = Measure(_top_copies, _top_drop)


@register
@metric(
    "top_k",
    rows=_top_copies,
    metrics={
        "top_1_drop": (
            HIGHER,
            "how far the output falls without the most relevant feature",
            "f(x) - f(x - T_1)",
        ),
        "top_3_drop": (
            HIGHER,
            "how far the output falls without the three most relevant features",
            "f(x) - f(x - T_3)",
        ),
        "top_5_drop": (
            HIGHER,
            "how far the output falls without the five most relevant features",
            "f(x) - f(x - T_5)",
        ),
    },
    cost="3",
    source="Cohen-Wang et al. 2024 (ContextCite)",
    kind="language",
)
def top_k(answers: Tensor, scores: Tensor, about: About) -> Values:
    """Falls of the output without the one, three and five most relevant features (Cohen-Wang et al. 2024).

    Parameters
    ----------
    answers : Tensor
        The output without the top 1, 3 and 5 features, [B, 3].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        "top_1_drop", "top_3_drop" and "top_5_drop", [B] each, in the units of the output; higher is better.
    """
    drops = _top_drop(answers, scores, about)
    return {f"top_{k}_drop": drops[:, place] for place, k in enumerate(TOP_SIZES)}


def _ablations(about: About, ablations: int, keep: float) -> Tensor:
    """Random sets of features, bool [B, M, F]: each feature stays with the same probability."""
    if not 0 < keep < 1:
        raise InputError(f"keep {keep}: expected a probability between 0 and 1")
    return _numbers(about, ablations) < keep


def _ablation_copies(scores: Tensor, about: About, *, ablations: int = 64, keep: float = 0.5) -> Tensor:
    return _ablations(about, ablations, keep)


@register
@metric(
    "lds",
    rows=_ablation_copies,
    direction=HIGHER,
    meaning="whether sums of scores rank random sets of features as the output does: 1 always, 0 by chance",
    formula="rank correlation of Σ_{i∈R} s_i and f(R) over 64 random R",
    cost="64",
    source="Cohen-Wang et al. 2024 (ContextCite)",
    undefined="all scores or all answers are equal",
    kind="language",
)
def linear_datamodel(
    answers: Tensor, scores: Tensor, about: About, *, ablations: int = 64, keep: float = 0.5
) -> Tensor:
    """Linear datamodeling score (LDS) over random ablations of each input.

    Parameters
    ----------
    answers : Tensor
        The output for each ablation, [B, M].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.
    ablations : int, default 64
        Number M of random ablations, at least 2.
    keep : float, default 0.5
        Probability with which each feature stays, between 0 and 1.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; higher is better, NaN where all scores or all answers are equal.

    Raises
    ------
    InputError
        For a `keep` that is not between 0 and 1, and for fewer than 2 ablations.
    """
    kept = _ablations(about, ablations, keep)
    return lds(sum_in_order(kept * scores[:, None], dim=2), answers)


def _step_counts(about: About, steps: int) -> dict[int, Tensor]:
    """The inputs that take as many steps: `steps`, or one a feature where there are fewer features."""
    counts = about.feature_mask.sum(dim=1).clamp(max=steps)
    return {k: (counts == k).nonzero()[:, 0] for k in counts.unique().tolist()}


def _deletion_path(scores: Tensor, about: About, k: int) -> Tensor:
    """What is kept after 0..k steps, most relevant first: the first n mod k steps take one feature more."""
    n = about.feature_mask.sum(dim=1, keepdim=True)
    size, larger = n // k, n % k
    step = torch.arange(k + 1, device=n.device)
    edges = step * size + step.minimum(larger)
    return position_in_rank(scores, about.feature_mask)[:, None] >= edges[..., None]


def _deletion_copies(scores: Tensor, about: About, *, steps: int = 20) -> dict[int, Copies]:
    copies = {}
    for k, index in _step_counts(about, steps).items():
        copies[k] = Copies(_deletion_path(scores[index], about.subset(index.tolist()), k), inputs=index)
    return copies


@register
@metric(
    "deletion",
    rows=_deletion_copies,
    metrics={
        "rise": (
            LOWER,
            "how long the output stays high while features go, most relevant first, between its two ends",
            "area over k = 0..J of min_{j≤k} clip((f_j - f_J) / abs(f_0 - f_J))",
        ),
        "mas": (
            LOWER,
            "the same as rise, with a penalty where output and scores do not fall in step",
            "area over k = 0..J of stretched min(1, h_k + abs(h_k - l_k))",
        ),
    },
    cost="at most 20",
    source="Petsiuk et al. 2018; Walker et al. 2024; as in Pan et al. 2026 (FlashTrace)",
    undefined="both ends of the path are equal",
    kind="language",
)
def deletion(answers: dict[int, Tensor], scores: Tensor, about: About, *, steps: int = 20) -> Values:
    """RISE's deletion area and MAS, in as many steps as an input has features, and no more than `steps`.

    Parameters
    ----------
    answers : dict[int, Tensor]
        By number of steps k, the output of the inputs that take k after 0 .. k steps, [., k + 1].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.
    steps : int, default 20
        The most steps that an input takes.

    Returns
    -------
    dict of str to Tensor
        "rise" and "mas", float64 [B] each, in [0, 1]; lower is better, NaN where both ends of the path are equal.
    """
    areas = torch.full((2, len(scores)), torch.nan, dtype=torch.double)
    for k, index in _step_counts(about, steps).items():
        some = about.subset(index.tolist())
        path, kept = answers[k].double(), _deletion_path(scores[index], some, k)
        some_scores = scores[index].where(some.feature_mask, 0).double()
        whole = sum_in_order(some_scores, dim=1)[:, None]
        left = sum_in_order(kept * some_scores[:, None], dim=2) / whole
        # Shares of a sum that is not positive say nothing: what is left then falls evenly, as in FlashTrace's code.
        evenly = torch.linspace(1, 0, k + 1, dtype=torch.double, device=scores.device)
        left = torch.where(whole > 0, left, evenly)
        areas[:, index.cpu()] = torch.stack([rise(path), mas(path, left)]).cpu()
    return {"rise": areas[0], "mas": areas[1]}


def _contest(scores: Tensor, about: About, share: float, matches: int) -> Tensor:
    """The top share of features and random ones of the same number, bool [B, 1 + M, F]."""
    rationale = top_ratio(scores, [share], about.feature_mask)
    orders = _numbers(about, matches)
    random = [top_ratio(orders[:, m], [share], about.feature_mask)[:, 0] for m in range(matches)]
    return torch.cat([rationale, torch.stack(random, dim=1)], dim=1)


def _contest_copies(scores: Tensor, about: About, *, share: float = 0.2, matches: int = 50) -> Tensor:
    both = _contest(scores, about, share, matches)
    return torch.cat([~both, both], dim=1)


def _contest_values(answers: Tensor, scores: Tensor, about: About) -> Values:
    removed, kept = answers.chunk(2, dim=1)
    values = {}
    for name, value in (("comprehensiveness", -removed), ("sufficiency", kept)):
        values[name] = win_rate(value[:, 0], value[:, 1:])
        values[f"{name}_p"] = randomisation_p(value[:, 0], value[:, 1:])
    return values


win_rates = Measure(_contest_copies, _contest_values)


@register
@metric(
    "win_rate",
    rows=_contest_copies,
    metrics={
        "win_rate_comprehensiveness": (
            HIGHER,
            "how often the top 20 % of the features are missed more than random ones of the same number",
            "share of 50 random R with f(x - R) > f(x - T_20%), ties by ½",
        ),
        "win_rate_sufficiency": (
            HIGHER,
            "how often the top 20 % of the features alone keep more of the output than random ones",
            "share of 50 random R with f(R) < f(T_20%), ties by ½",
        ),
    },
    cost="at most 102",
    source="Basu & Chakraborty 2026 (ICE)",
    kind="language",
)
def contest(answers: Tensor, scores: Tensor, about: About) -> Values:
    """Win rates of the top 20 % of the features over random ones of the same number (Basu & Chakraborty 2026).

    Parameters
    ----------
    answers : Tensor
        The output without, then with the rationale alone and M random ones, [B, 2 (1 + M)].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model.

    Returns
    -------
    dict of str to Tensor
        "win_rate_comprehensiveness" and "win_rate_sufficiency", [B] each, in [0, 1]; higher is better, 1/2 by chance.
    """
    values = _contest_values(answers, scores, about)
    return {f"win_rate_{name}": values[name] for name in ("comprehensiveness", "sufficiency")}
