"""Metrics of attributions as pure functions: tensors in, tensors out, one formula each.

Names carry the convention, because papers use one word for opposite things; every docstring says which direction is
better.
"""

from faithlib.metrics.chance import chance_adjusted, chance_adjusted_srg, nsrg, srg
from faithlib.metrics.complexity import complexity, sparseness
from faithlib.metrics.crosslingual import (
    aligned_scores,
    cka,
    cka_accuracy,
    crosslingual_rho,
    first_batch_fault,
    random_links,
)
from faithlib.metrics.curves import aopc, auc, log_odds, n_auc
from faithlib.metrics.erasure import (
    ERASURE_BINS,
    comprehensiveness_eraser,
    comprehensiveness_nc,
    erasure_rationales,
    soft_nc,
    soft_ns,
    sufficiency_eraser,
    sufficiency_ns,
)
from faithlib.metrics.language import equal_retention, hellinger, lds, mas, randomisation_p, rise, win_rate
from faithlib.metrics.plausibility import auprc, average_precision, iou, iou_f1, pointing_game, token_f1
from faithlib.metrics.registry import About, metric
from faithlib.metrics.saco import saco
from faithlib.preferences import Diagnosticity, diagnosticity

__all__ = [
    "ERASURE_BINS",
    "About",
    "Diagnosticity",
    "aligned_scores",
    "aopc",
    "auc",
    "auprc",
    "average_precision",
    "chance_adjusted",
    "chance_adjusted_srg",
    "cka",
    "cka_accuracy",
    "complexity",
    "comprehensiveness_eraser",
    "comprehensiveness_nc",
    "crosslingual_rho",
    "diagnosticity",
    "equal_retention",
    "erasure_rationales",
    "first_batch_fault",
    "hellinger",
    "iou",
    "iou_f1",
    "lds",
    "log_odds",
    "mas",
    "metric",
    "n_auc",
    "nsrg",
    "pointing_game",
    "random_links",
    "randomisation_p",
    "rise",
    "saco",
    "soft_nc",
    "soft_ns",
    "sparseness",
    "srg",
    "sufficiency_eraser",
    "sufficiency_ns",
    "token_f1",
    "win_rate",
]
