"""From a model, inputs and attributions to values: one metric of one `Perturber`, or all metrics in one table."""

from faithlib.evaluation.language import (
    distance_scores,
    lds_scores,
    pi_soft_scores,
    rise_scores,
    top_k_drop_scores,
    win_rate_scores,
)
from faithlib.evaluation.measures import count_rows
from faithlib.evaluation.prepare import DEFAULT_METHODS, explain
from faithlib.evaluation.scores import (
    aopc_scores,
    hard_scores,
    saco_of_groups,
    saco_scores,
    saco_steps,
    shuffled,
    soft_scores,
)
from faithlib.evaluation.settings import MetricSettings, RunSettings, grouped_settings
from faithlib.evaluation.summary import Summary, Table
from faithlib.evaluation.table import average_marked, evaluate
from faithlib.metrics.curves import ALL_SHARES, FAD_SHARES
from faithlib.metrics.erasure import PAPER_RATIOS, RELEASED_RATIOS

__all__ = [
    "ALL_SHARES",
    "DEFAULT_METHODS",
    "FAD_SHARES",
    "PAPER_RATIOS",
    "RELEASED_RATIOS",
    "MetricSettings",
    "RunSettings",
    "Summary",
    "Table",
    "aopc_scores",
    "average_marked",
    "count_rows",
    "distance_scores",
    "evaluate",
    "explain",
    "grouped_settings",
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
