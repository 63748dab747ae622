"""AOPC on scales that models share: between the worst and the best order (NAOPC), and measured from chance.

AOPC alone has no zero that means anything, and NAOPC's zero is the worst order of removal. A random order gets an AOPC
that depends on the model and the input, so neither can say whether an attribution is better than none. The scores here
can: each is 0 for a random order in expectation, whatever the model.

These are formulas over values of AOPC. `faithlib.bounds` has what they are compared with: the best and worst order,
and the mean over all orders (`Bounds.random`, `random_order_aopc`). Shape letter: B inputs.
"""

import torch
from torch import Tensor

from faithlib.catalogue import HIGHER, LOWER
from faithlib.metrics.curves import both_aopc, path_copies
from faithlib.metrics.registry import About, Chance, Values, metric, register

__all__ = [
    "adjusted_paths",
    "chance_adjusted",
    "chance_adjusted_srg",
    "naopc",
    "naopc_faults",
    "naopc_paths",
    "normalised_gain",
    "nsrg",
    "srg",
    "symmetric_gain",
]

# Differences of AOPC below this come from rounding: AOPC is at most a few units, in double precision.
_ROUNDING = 1e-12
_COST = "2 n - 1, and what the bounds take: 2^n up to 8 features, about 3 n^2 of a beam beyond"


def naopc(aopc: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Normalised AOPC (NAOPC): AOPC between its smallest and its largest value over all orders (Edin et al. 2025).

    NAOPC = (AOPC - lower) / (upper - lower).

    Parameters
    ----------
    aopc : Tensor
        AOPC of an order of removal; shapes broadcast.
    lower, upper : Tensor
        Bounds of AOPC over all orders, from `exact_bounds` or `beam_bounds`, in the units of AOPC.

    Returns
    -------
    Tensor
        float64 in [0, 1]; 0 is the worst order, 1 the best. Higher is better where AOPC is that of comprehensiveness,
        lower where it is the ascending sum. Values outside the bounds (a beam's bounds can be beaten) are clipped;
        equal bounds give NaN; `naopc_faults` counts both.

    Notes
    -----
    Zero is not what a random order gets (`chance_adjusted`).

    Examples
    --------
    >>> naopc(torch.tensor([0.3, 0.9]), torch.tensor(0.2), torch.tensor(0.4)).float()
    tensor([0.5000, 1.0000])
    """
    spread = (upper - lower).double()
    value = ((aopc - lower).double() / spread).clamp(0, 1)
    return torch.where(spread > 0, value, torch.nan)


def naopc_faults(aopc: Tensor, lower: Tensor, upper: Tensor, *, tolerance: float = 1e-6) -> dict[str, int]:
    """How many values `naopc` clips, and how many are NaN.

    Parameters
    ----------
    aopc : Tensor
        AOPC of an order of removal; shapes broadcast.
    lower, upper : Tensor
        Bounds of AOPC over all orders.
    tolerance : float, default 1e-06
        A value that is beyond the bounds by no more than this, in units of AOPC, is not counted.

    Returns
    -------
    dict of str to int
        "clipped": values beyond the bounds by more than `tolerance`; "undefined": those whose bounds are equal.

    Examples
    --------
    >>> naopc_faults(torch.tensor([0.3, 0.9]), torch.tensor(0.2), torch.tensor(0.4))
    {'clipped': 1, 'undefined': 0}
    """
    aopc, lower, upper = torch.broadcast_tensors(aopc.double(), lower.double(), upper.double())
    outside = (upper > lower) & ((aopc < lower - tolerance) | (aopc > upper + tolerance))
    return {"clipped": int(outside.sum()), "undefined": int((~(upper > lower)).sum())}


def srg(aopc_morf: Tensor, aopc_lerf: Tensor) -> Tensor:
    r"""Symmetric relevance gain: by how much AOPC differs between most and least relevant first.

    SRG = AOPC_MoRF - AOPC_LeRF, which is the mean distance of the two perturbation curves, and so the area between
    them. It needs no answer of the model beyond those of AOPC.

    Parameters
    ----------
    aopc_morf, aopc_lerf : Tensor
        AOPC with the most and with the least relevant feature first, [B] or any shapes that broadcast; in the units of
        the output that was followed.

    Returns
    -------
    Tensor
        SRG, in the shape of both; higher is better. For probabilities in (-1, 1). The mean over all orders of removal
        is exactly 0 for every model, and the reverse order has the negative value.

    References
    ----------
    Blücher, Vielhaben & Strodthoff (2024), "Decoupling Pixel Flipping and Occlusion Strategy for Consistent XAI
    Benchmarks", arXiv 2401.06654.

    Examples
    --------
    >>> srg(torch.tensor([0.55]), torch.tensor([0.30])).round(decimals=2)
    tensor([0.2500])
    """
    return aopc_morf - aopc_lerf


def nsrg(aopc_morf: Tensor, aopc_lerf: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    r"""SRG in units of the range that orders of removal have: NAOPC_MoRF - NAOPC_LeRF.

    NSRG = (AOPC_MoRF - AOPC_LeRF) / (upper - lower), with the bounds of AOPC over all orders. Models with narrow and
    with wide ranges can be compared, as by NAOPC (Edin et al. 2025), and a random order keeps its 0.

    Parameters
    ----------
    aopc_morf, aopc_lerf : Tensor
        AOPC with the most and with the least relevant feature first, [B].
    lower, upper : Tensor
        Bounds of AOPC over all orders, [B], from `exact_bounds` or `beam_bounds`.

    Returns
    -------
    Tensor
        float64 in [-1, 1]; higher is better, 0 for a random order in expectation. 1 only where the order is the best
        one and its reverse the worst one, which not every model allows. NaN where both bounds are equal. Values beyond
        the range are clipped, because the bounds of a beam can be beaten.

    Examples
    --------
    >>> nsrg(torch.tensor([0.55]), torch.tensor([0.30]), torch.tensor([0.2]), torch.tensor([0.7])).round(decimals=2)
    tensor([0.5000], dtype=torch.float64)
    """
    spread = upper.double() - lower.double()
    value = (aopc_morf.double() - aopc_lerf.double()) / spread
    return torch.where(spread > _ROUNDING, value.clamp(-1, 1), torch.nan)


def chance_adjusted(aopc: Tensor, random: Tensor, best: Tensor) -> Tensor:
    r"""AOPC (and with it NAOPC) adjusted for chance: 0 for a random order in every model, 1 for the best order.

    (AOPC - E) / (best - E), with E the mean of AOPC over all orders of removal. As NAOPC is linear in AOPC, it is also
    (NAOPC - E[NAOPC]) / (best NAOPC - E[NAOPC]).

    Parameters
    ----------
    aopc : Tensor
        AOPC of one order of removal, [B] or any shape that broadcasts with the others.
    random : Tensor
        E, the mean over all orders, [B]: `Bounds.random`, or `random_order_aopc` where there are too many sets.
    best : Tensor
        What the best order reaches, [B]: the upper bound for AOPC with the most relevant feature first, the lower bound
        with the least relevant first.

    Returns
    -------
    Tensor
        float64, at most 1, not bounded below; higher is better for both orders. Negative for an order that is worse
        than chance. NaN where the best order is no better than chance, as with one feature. Values above 1 are clipped,
        because the bound of a beam can be beaten.

    Notes
    -----
    The same form as Cohen's kappa and the adjusted Rand index: (value - expected) / (maximum - expected).

    Examples
    --------
    >>> aopc = torch.tensor([0.55, 0.40, 0.25])
    >>> chance_adjusted(aopc, random=torch.tensor(0.40), best=torch.tensor(0.70)).round(decimals=2)
    tensor([ 0.5000,  0.0000, -0.5000], dtype=torch.float64)
    """
    above_chance = aopc.double() - random.double()
    possible = best.double() - random.double()
    value = (above_chance / possible).clamp(max=1)
    return torch.where(possible.abs() > _ROUNDING, value, torch.nan)


def chance_adjusted_srg(aopc_morf: Tensor, aopc_lerf: Tensor, random: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    r"""SRG with each of its halves adjusted for chance: the mean of `chance_adjusted` of both orders.

    1/2 [(AOPC_MoRF - E) / (upper - E) + (AOPC_LeRF - E) / (lower - E)]. Where E lies halfway between the bounds this is
    `nsrg`; elsewhere each half counts in units of what was possible on its side of chance.

    Parameters
    ----------
    aopc_morf, aopc_lerf : Tensor
        AOPC with the most and with the least relevant feature first, [B].
    random : Tensor
        The mean of AOPC over all orders, [B].
    lower, upper : Tensor
        Bounds of AOPC over all orders, [B].

    Returns
    -------
    Tensor
        float64, at most 1; higher is better, 0 for a random order in expectation. NaN where either half has no value.

    Examples
    --------
    >>> given = {"random": torch.tensor([0.4]), "lower": torch.tensor([0.2]), "upper": torch.tensor([0.8])}
    >>> chance_adjusted_srg(torch.tensor([0.6]), torch.tensor([0.3]), **given).round(decimals=2)
    tensor([0.5000], dtype=torch.float64)
    """
    most_relevant_first = chance_adjusted(aopc_morf, random, best=upper)
    least_relevant_first = chance_adjusted(aopc_lerf, random, best=lower)
    return (most_relevant_first + least_relevant_first) / 2


# ------------------------------------------------------------------------------------------------------- as two halves
def _bounds(about: About) -> tuple[Tensor, Tensor]:
    assert about.bounds is not None, "a metric that needs bounds says so"
    return about.bounds


def _chance(about: About) -> Chance:
    assert about.chance is not None, "a metric that needs to know what random orders get says so"
    return about.chance


@register
@metric(
    "naopc",
    rows=path_copies,
    metrics={
        "naopc_morf": (
            HIGHER,
            "aopc_morf from the lowest (0) to the highest (1) value that any order reaches",
            "(aopc_morf - lo) / (hi - lo)",
        ),
        "naopc_lerf": (
            LOWER,
            "aopc_lerf from the lowest (0) to the highest (1) value that any order reaches",
            "(aopc_lerf - lo) / (hi - lo)",
        ),
    },
    cost=_COST,
    source="Edin et al. 2025",
    needs_bounds=True,
    undefined="all orders are equal",
    kind="common",
)
def naopc_paths(answers: Tensor, scores: Tensor, about: About) -> Values:
    """NAOPC in both orders.

    Parameters
    ----------
    answers : Tensor
        The output along both paths of `path_copies`, [B, 2 F].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model, `bounds` included.

    Returns
    -------
    dict of str to Tensor
        "naopc_morf", higher is better, and "naopc_lerf", lower is better; [B] each, in [0, 1], NaN where all orders are
        equal.
    """
    return {f"n{name}": naopc(value, *_bounds(about)) for name, value in both_aopc(answers, about).items()}


@register
@metric(
    "srg",
    rows=path_copies,
    direction=HIGHER,
    meaning="how much more the output falls when the most relevant features go first than when the least relevant do: "
    "0 by chance",
    formula="aopc_morf - aopc_lerf",
    cost="2 n - 1, those of aopc_morf and aopc_lerf",
    source="Blücher et al. 2024",
)
def symmetric_gain(answers: Tensor, scores: Tensor, about: About) -> Tensor:
    """Symmetric relevance gain (SRG) along both paths.

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
    Tensor
        [B], in the units of the output; higher is better, 0 by chance.
    """
    return srg(**both_aopc(answers, about))


@register
@metric(
    "nsrg",
    rows=path_copies,
    direction=HIGHER,
    meaning="srg in units of the range that any orders reach: 0 by chance",
    formula="(aopc_morf - aopc_lerf) / (hi - lo)",
    cost=_COST,
    source="Blücher et al. 2024 with the bounds of Edin et al. 2025",
    needs_bounds=True,
    undefined="all orders are equal",
)
def normalised_gain(answers: Tensor, scores: Tensor, about: About) -> Tensor:
    """Symmetric relevance gain in units of the range that any orders reach (NSRG).

    Parameters
    ----------
    answers : Tensor
        The output along both paths of `path_copies`, [B, 2 F].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model, `bounds` included.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; higher is better, 0 by chance, NaN where all orders are equal.
    """
    lower, upper = _bounds(about)
    return nsrg(**both_aopc(answers, about), lower=lower, upper=upper)


@register
@metric(
    "adjusted",
    rows=path_copies,
    metrics={
        "adjusted_naopc_morf": (
            HIGHER,
            "aopc_morf from what random orders get (0) to the best that any reaches (1)",
            "(aopc_morf - E) / (hi - E)",
        ),
        "adjusted_naopc_lerf": (
            HIGHER,
            "aopc_lerf from what random orders get (0) to the best that any reaches (1)",
            "(aopc_lerf - E) / (lo - E)",
        ),
        "adjusted_srg": (
            HIGHER,
            "the mean of adjusted_naopc_morf and adjusted_naopc_lerf: 0 by chance, 1 at best",
            "(adjusted_naopc_morf + adjusted_naopc_lerf) / 2",
        ),
    },
    cost=f"{_COST}, there with 64 (n - 1) of random orders",
    source="Edin et al. 2025, adjusted for chance",
    needs_bounds=True,
    needs_chance=True,
    undefined="no order is better than a random one",
)
def adjusted_paths(answers: Tensor, scores: Tensor, about: About) -> Values:
    """AOPC adjusted for chance in both orders, and their mean.

    Parameters
    ----------
    answers : Tensor
        The output along both paths of `path_copies`, [B, 2 F].
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs and the model, `bounds` and `chance` included.

    Returns
    -------
    dict of str to Tensor
        "adjusted_naopc_morf", "adjusted_naopc_lerf" and "adjusted_srg", [B] each, at most 1; higher is better, 0 by
        chance, NaN where no order is better than a random one.
    """
    areas, chance = both_aopc(answers, about), _chance(about)
    return {
        "adjusted_naopc_morf": chance_adjusted(areas["aopc_morf"], chance.random, best=chance.upper),
        "adjusted_naopc_lerf": chance_adjusted(areas["aopc_lerf"], chance.random, best=chance.lower),
        "adjusted_srg": chance_adjusted_srg(**areas, random=chance.random, lower=chance.lower, upper=chance.upper),
    }
