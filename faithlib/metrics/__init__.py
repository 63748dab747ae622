"""Faithfulness metrics as pure functions of probabilities: tensors in, tensors out, one formula each.

Names carry the convention, because papers use one word for opposite things; every docstring says which direction is
better.
"""

from faithlib.metrics.curves import aopc, auc, log_odds, n_auc
from faithlib.metrics.diagnosticity import Diagnosticity, diagnosticity
from faithlib.metrics.hard import comprehensiveness_nc, sufficiency_ns
from faithlib.metrics.saco import saco
from faithlib.metrics.soft import soft_nc, soft_ns

__all__ = [
    "Diagnosticity",
    "aopc",
    "auc",
    "comprehensiveness_nc",
    "diagnosticity",
    "log_odds",
    "n_auc",
    "saco",
    "soft_nc",
    "soft_ns",
    "sufficiency_ns",
]
