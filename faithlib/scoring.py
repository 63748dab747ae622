"""Attributions in, metric values out: which masks each metric needs, asked of one `Perturber`.

Thin glue between `masks`, `Perturber` and `metrics`. Metrics that need the same perturbed rows share them through the
perturber.

Shape letters: B inputs, S rationale lengths, F features.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from faithlib.masks import normalise, position_in_rank, removal_path, soft_keep, top_ratio
from faithlib.metrics import aopc, comprehensiveness_nc, soft_nc, soft_ns, sufficiency_ns
from faithlib.perturb import Perturber

PAPER_RATIOS = (0.01, 0.05, 0.10, 0.20, 0.50)
RELEASED_RATIOS = (0.01, 0.02, 0.05, 0.10, 0.20, 0.50, 1.00)


def hard_scores(
    perturber: Perturber, scores: Tensor, *, ratios: Sequence[float] = PAPER_RATIOS, clip: bool = False
) -> dict[str, Tensor]:
    """Hard NS and NC of attributions [B, F] at every rationale length: {"ns": [B, S], "nc": [B, S]}; higher is better.

    The paper's score of an input is the mean over S. NaN where erasing everything does not lower the probability.
    """
    rationale = top_ratio(scores, ratios, perturber.inputs.feature_mask)
    full, empty = perturber.full[:, None], perturber.empty[:, None]
    return {
        "ns": sufficiency_ns(full, perturber.keep(rationale), empty, clip=clip),
        "nc": comprehensiveness_nc(full, perturber.keep(~rationale), empty, clip=clip),
    }


def soft_scores(
    perturber: Perturber,
    scores: Tensor,
    *,
    normaliser: str | tuple[str, str] = "minmax",
    variant: str = "paper",
    draws: int = 1,
    seed: int = 0,
    clip: bool = False,
    empty: Tensor | None = None,
) -> dict[str, Tensor]:
    """Soft-NS and Soft-NC of attributions [B, F], one value a draw: {"soft_ns": [B, draws], "soft_nc": [B, draws]};
    higher is better.

    `normaliser`: one for both metrics, or (for Soft-NS, for Soft-NC). `empty` [B] overrides the answer to the erased
    input.
    """
    for_ns, for_nc = (normaliser, normaliser) if isinstance(normaliser, str) else normaliser
    mask = perturber.inputs.feature_mask
    retained = soft_keep(scores, verb="sufficiency", normaliser=for_ns, variant=variant, feature_mask=mask)
    removed = soft_keep(scores, verb="comprehensiveness", normaliser=for_nc, variant=variant, feature_mask=mask)
    full = perturber.full[:, None]
    floor = (perturber.empty if empty is None else empty)[:, None]
    return {
        "soft_ns": soft_ns(full, perturber.soft(retained[:, None], draws=draws, seed=seed)[:, 0], floor, clip=clip),
        "soft_nc": soft_nc(full, perturber.soft(removed[:, None], draws=draws, seed=seed)[:, 0], floor, clip=clip),
    }


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
    `soft_scores`.

    Sufficiency disturbs a feature in proportion to 1 - a, comprehensiveness in proportion to a.
    """
    importance = normalise(scores, normaliser, perturber.inputs.feature_mask)
    full, empty = perturber.full[:, None], perturber.empty[:, None]

    def noisy(scale: Tensor) -> Tensor:
        return perturber.gaussian(scale[:, None], variance=variance, equation=equation, draws=draws, seed=seed)[:, 0]

    return {
        "soft_ns": soft_ns(full, noisy(1 - importance), empty),
        "soft_nc": soft_nc(full, noisy(importance), empty),
    }


def attention_mask_scores(perturber: Perturber, scores: Tensor, *, normaliser: str = "minmax") -> dict[str, Tensor]:
    """Soft-NS and Soft-NC with a continuous attention mask in place of dropout (Appendix C): {"soft_ns": [B, 1], ...}.

    Sufficiency weighs attention to a feature by a, comprehensiveness by 1 - a. Nothing is random.
    """
    importance = normalise(scores, normaliser, perturber.inputs.feature_mask)
    full, empty = perturber.full[:, None], perturber.empty[:, None]
    return {
        "soft_ns": soft_ns(full, perturber.attention_mask(importance[:, None]), empty),
        "soft_nc": soft_nc(full, perturber.attention_mask(1 - importance[:, None]), empty),
    }


def aopc_scores(perturber: Perturber, scores: Tensor) -> dict[str, Tensor]:
    """AOPC of attributions [B, F], removing one feature after the other down to the last, [B] each.

    "aopc_morf": most relevant first, higher is better (Edin et al.'s comprehensiveness). "aopc_lerf": least relevant
    first, lower is better (their "sufficiency"; ERASER's reads the same sets at a few rationale lengths). The second
    order is the first backwards, equal scores included.
    """
    mask = perturber.inputs.feature_mask
    last_first = position_in_rank(scores, mask).float()
    return {
        name: aopc(perturber.full, perturber.keep(removal_path(order, mask)), mask.sum(dim=1))
        for name, order in (("aopc_morf", scores), ("aopc_lerf", last_first))
    }
