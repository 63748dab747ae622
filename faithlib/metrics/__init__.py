"""Metrics of attributions as pure functions: tensors in, tensors out, one formula each.

Names carry the convention, because papers use one word for opposite things; every docstring says which direction is
better.
"""

from faithlib.metrics.chance import chance_adjusted as chance_adjusted
from faithlib.metrics.chance import chance_adjusted_srg as chance_adjusted_srg
from faithlib.metrics.chance import nsrg as nsrg
from faithlib.metrics.chance import srg as srg
from faithlib.metrics.complexity import complexity as complexity
from faithlib.metrics.complexity import sparseness as sparseness
from faithlib.metrics.crosslingual import aligned_scores as aligned_scores
from faithlib.metrics.crosslingual import cka as cka
from faithlib.metrics.crosslingual import cka_accuracy as cka_accuracy
from faithlib.metrics.crosslingual import crosslingual_rho as crosslingual_rho
from faithlib.metrics.crosslingual import first_batch_fault as first_batch_fault
from faithlib.metrics.crosslingual import random_links as random_links
from faithlib.metrics.curves import aopc as aopc
from faithlib.metrics.curves import auc as auc
from faithlib.metrics.curves import log_odds as log_odds
from faithlib.metrics.curves import n_auc as n_auc
from faithlib.metrics.erasure import ERASURE_BINS as ERASURE_BINS
from faithlib.metrics.erasure import comprehensiveness_eraser as comprehensiveness_eraser
from faithlib.metrics.erasure import comprehensiveness_nc as comprehensiveness_nc
from faithlib.metrics.erasure import erasure_rationales as erasure_rationales
from faithlib.metrics.erasure import soft_nc as soft_nc
from faithlib.metrics.erasure import soft_ns as soft_ns
from faithlib.metrics.erasure import sufficiency_eraser as sufficiency_eraser
from faithlib.metrics.erasure import sufficiency_ns as sufficiency_ns
from faithlib.metrics.language import equal_retention as equal_retention
from faithlib.metrics.language import hellinger as hellinger
from faithlib.metrics.language import lds as lds
from faithlib.metrics.language import mas as mas
from faithlib.metrics.language import randomisation_p as randomisation_p
from faithlib.metrics.language import rise as rise
from faithlib.metrics.language import win_rate as win_rate
from faithlib.metrics.plausibility import auprc as auprc
from faithlib.metrics.plausibility import average_precision as average_precision
from faithlib.metrics.plausibility import iou as iou
from faithlib.metrics.plausibility import iou_f1 as iou_f1
from faithlib.metrics.plausibility import pointing_game as pointing_game
from faithlib.metrics.plausibility import token_f1 as token_f1
from faithlib.metrics.registry import metric as metric
from faithlib.metrics.saco import saco as saco
from faithlib.preferences import Diagnosticity as Diagnosticity
from faithlib.preferences import diagnosticity as diagnosticity
