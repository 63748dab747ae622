"""Which metrics there are, in families that share their rows, and which way each is better.

Names alone, so that pages which only read results import quickly; what computes a family is entered beside its name in
`faithlib.evaluation.measures`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Direction = Literal["higher", "lower"]
HIGHER: Direction = "higher"
LOWER: Direction = "lower"


@dataclass(frozen=True)
class Family:
    """Metrics that are computed from the same rows, with the direction that is better for each, and what they need: the
    model's answers, what people marked, bounds of AOPC, which are the same for every attribution of an input, and how
    many features. `undefined`: when a value is NaN.

    >>> FAMILIES["eraser"].directions
    {'comprehensiveness_eraser': 'higher', 'sufficiency_eraser': 'lower'}
    """

    directions: Mapping[str, Direction]
    asks_model: bool = True
    needs_gold: bool = False
    needs_bounds: bool = False
    is_default: bool = True
    least_features: int = 2
    undefined: str = "the metric has no value here"


FAMILIES: Mapping[str, Family] = {
    "hard": Family({"ns": HIGHER, "nc": HIGHER}, undefined="erasing all features does not lower the output"),
    "soft": Family(
        {"soft_ns": HIGHER, "soft_nc": HIGHER}, undefined="dropping all embedding elements does not lower the output"
    ),
    "eraser": Family({"comprehensiveness_eraser": HIGHER, "sufficiency_eraser": LOWER}),
    "aopc": Family({"aopc_morf": HIGHER, "aopc_lerf": LOWER}),
    "naopc": Family(
        {"naopc_morf": HIGHER, "naopc_lerf": LOWER},
        needs_bounds=True,
        is_default=False,
        undefined="all orders of removal reach the same",
    ),
    "groups": Family({"saco": HIGHER, "auc": LOWER, "log_odds": LOWER}, undefined="all scores are equal"),
    "curves": Family({"n_auc": LOWER, "autpc": LOWER}),
    "simplicity": Family({"complexity": LOWER, "sparseness": HIGHER}, asks_model=False, undefined="all scores are 0"),
    "plausibility": Family(
        dict.fromkeys(("iou_f1", "token_f1", "iou", "pointing_game", "auprc", "average_precision"), HIGHER),
        asks_model=False,
        needs_gold=True,
        least_features=1,
        undefined="nothing is marked",
    ),
}
METRICS: Mapping[str, Direction] = {
    name: direction for family in FAMILIES.values() for name, direction in family.directions.items()
}
FAITHFULNESS: tuple[str, ...] = tuple(
    name for family in FAMILIES.values() if family.asks_model for name in family.directions
)
"""Metrics that ask the model, in the order of their families."""
MEANINGS: Mapping[str, str] = {
    "ns": "how much of the output the most relevant features keep alone",
    "nc": "how much of the output is lost without the most relevant features",
    "soft_ns": "the same as ns, where each feature is kept in proportion to its score",
    "soft_nc": "the same as nc, where each feature is dropped in proportion to its score",
    "comprehensiveness_eraser": "how far the output falls without the top 1 to 50 % of the features",
    "sufficiency_eraser": "how far the output falls with the top 1 to 50 % of the features alone",
    "aopc_morf": "how far the output falls on average while features go, most relevant first",
    "aopc_lerf": "how far the output falls on average while features go, least relevant first",
    "naopc_morf": "aopc_morf from the lowest (0) to the highest (1) value that any order reaches",
    "naopc_lerf": "aopc_lerf from the lowest (0) to the highest (1) value that any order reaches",
    "saco": "whether groups of features with higher scores cost more when erased: 1 always, 0 by chance, -1 never",
    "auc": "how long the predicted class stays the same while groups of features go, most relevant first",
    "log_odds": "the mean log of the output that is left while groups of features go, most relevant first",
    "n_auc": "how long the predicted class survives the removal of the top 20 % of the features",
    "autpc": "how long the predicted class survives the removal of all features, most relevant first",
    "complexity": "how widely the scores are spread over the features (entropy)",
    "sparseness": "how far the scores concentrate on a few features (Gini index)",
    "iou_f1": "the share of inputs whose top features overlap the marked ones by half",
    "token_f1": "the overlap (F1) of the top features and the marked ones",
    "iou": "the overlap of positive scores and marked features",
    "pointing_game": "whether the highest score is on a marked feature",
    "auprc": "how well scores rank marked features first (area under precision and recall)",
    "average_precision": "how well scores rank marked features first (mean precision)",
}
"""What a value of each metric says, in a line; formulas are in the docstrings of `faithlib.metrics`."""
