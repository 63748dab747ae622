"""From a model, inputs and attributions to values: one metric of one `Perturber`, or all metrics in one table."""

from faithlib.evaluation.language import distance_scores as distance_scores
from faithlib.evaluation.language import lds_scores as lds_scores
from faithlib.evaluation.language import pi_soft_scores as pi_soft_scores
from faithlib.evaluation.language import rise_scores as rise_scores
from faithlib.evaluation.language import top_k_drop_scores as top_k_drop_scores
from faithlib.evaluation.language import win_rate_scores as win_rate_scores
from faithlib.evaluation.measures import ALL_SHARES as ALL_SHARES
from faithlib.evaluation.measures import FAD_SHARES as FAD_SHARES
from faithlib.evaluation.measures import count_rows as count_rows
from faithlib.evaluation.prepare import DEFAULT_METHODS as DEFAULT_METHODS
from faithlib.evaluation.prepare import explain as explain
from faithlib.evaluation.scores import PAPER_RATIOS as PAPER_RATIOS
from faithlib.evaluation.scores import RELEASED_RATIOS as RELEASED_RATIOS
from faithlib.evaluation.scores import aopc_scores as aopc_scores
from faithlib.evaluation.scores import hard_scores as hard_scores
from faithlib.evaluation.scores import saco_of_groups as saco_of_groups
from faithlib.evaluation.scores import saco_scores as saco_scores
from faithlib.evaluation.scores import saco_steps as saco_steps
from faithlib.evaluation.scores import shuffled as shuffled
from faithlib.evaluation.scores import soft_scores as soft_scores
from faithlib.evaluation.table import average_marked as average_marked
from faithlib.evaluation.table import evaluate as evaluate
