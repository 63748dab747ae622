"""From a model, inputs and attributions to values: one metric of one `Perturber`, or all metrics in one table."""

from faithlib.evaluation.controls import shuffled
from faithlib.evaluation.explaining import explain
from faithlib.evaluation.language import (
    PI_SHARES,
    distance_scores,
    lds_scores,
    pi_soft_scores,
    rise_scores,
    top_k_drop_scores,
    win_rate_scores,
)
from faithlib.evaluation.measures import ALL_SHARES, EXACT_UP_TO, FAD_SHARES
from faithlib.evaluation.opening import DEFAULT_METHODS
from faithlib.evaluation.rows import RowCount, RowCounter, count_rows
from faithlib.evaluation.scores import (
    PAPER_RATIOS,
    RELEASED_RATIOS,
    SacoSteps,
    aopc_scores,
    hard_scores,
    saco_of_groups,
    saco_scores,
    saco_steps,
    soft_scores,
)
from faithlib.evaluation.table import average_marked, evaluate

__all__ = [
    "ALL_SHARES",
    "DEFAULT_METHODS",
    "EXACT_UP_TO",
    "FAD_SHARES",
    "PAPER_RATIOS",
    "PI_SHARES",
    "RELEASED_RATIOS",
    "RowCount",
    "RowCounter",
    "SacoSteps",
    "aopc_scores",
    "average_marked",
    "count_rows",
    "distance_scores",
    "evaluate",
    "explain",
    "hard_scores",
    "lds_scores",
    "pi_soft_scores",
    "rise_scores",
    "saco_of_groups",
    "saco_scores",
    "saco_steps",
    "shuffled",
    "soft_scores",
    "top_k_drop_scores",
    "win_rate_scores",
]
