"""Which metrics there are, in families that share their rows, and which way each is better.

Names alone, so that pages which only read results import quickly; what computes a family is entered beside its name in
`faithlib.evaluation.measures`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Direction = Literal["higher", "lower"]
HIGHER: Direction = "higher"
LOWER: Direction = "lower"


@dataclass(frozen=True)
class Family:
    """Metrics that are computed from the same rows, with the direction that is better for each, and what they need.
    That may be the model's answers, what people marked, bounds of AOPC (the same for every attribution of an input),
    what a random order gets (likewise), and a number of features. `undefined`: when a value is NaN.

    >>> FAMILIES["eraser"].directions
    {'comprehensiveness_eraser': 'higher', 'sufficiency_eraser': 'lower'}
    """

    directions: Mapping[str, Direction]
    asks_model: bool = True
    needs_gold: bool = False
    needs_bounds: bool = False
    needs_chance: bool = False
    least_features: int = 2
    undefined: str = "the metric has no value here"


_NO_LOSS, _NO_GOLD = "the output does not fall when all features go", "nothing is marked"
_OF_GOLD = ("iou_f1", "token_f1", "iou", "pointing_game", "auprc", "average_precision")
FAMILIES: dict[str, Family] = {
    "hard": Family({"ns": HIGHER, "nc": HIGHER}, undefined=_NO_LOSS),
    "soft": Family({"soft_ns": HIGHER, "soft_nc": HIGHER}, undefined=_NO_LOSS),
    "eraser": Family({"comprehensiveness_eraser": HIGHER, "sufficiency_eraser": LOWER}),
    "aopc": Family({"aopc_morf": HIGHER, "aopc_lerf": LOWER}),
    "naopc": Family({"naopc_morf": HIGHER, "naopc_lerf": LOWER}, needs_bounds=True, undefined="all orders are equal"),
    "groups": Family({"saco": HIGHER, "auc": LOWER, "log_odds": LOWER}, undefined="all scores are equal"),
    "curves": Family({"n_auc": LOWER, "autpc": LOWER}),
    "simplicity": Family({"complexity": LOWER, "sparseness": HIGHER}, asks_model=False, undefined="all scores are 0"),
    "plausibility": Family(
        dict.fromkeys(_OF_GOLD, HIGHER), asks_model=False, needs_gold=True, least_features=1, undefined=_NO_GOLD
    ),
}
LANGUAGE: dict[str, Family] = {
    "hellinger": Family({"hellinger_soft_ns": HIGHER, "hellinger_soft_nc": HIGHER}, undefined=_NO_LOSS),
    "pi_soft": Family({"pi_soft_ns": HIGHER, "pi_soft_nc": HIGHER}, undefined=_NO_LOSS),
    "top_k": Family(dict.fromkeys(("top_1_drop", "top_3_drop", "top_5_drop"), HIGHER)),
    "lds": Family({"lds": HIGHER}, undefined="all scores or all answers are equal"),
    "deletion": Family({"rise": LOWER, "mas": LOWER}, undefined="both ends of the path are equal"),
    "win_rate": Family({"win_rate_comprehensiveness": HIGHER, "win_rate_sufficiency": HIGHER}),
}
"""Measures of papers about language models (`faithlib.evaluation.language`), computed where they are asked for: of any
model, except that the distances need a `Continuation` with reading "similarity"."""
ON_REQUEST: dict[str, Family] = {
    "srg": Family({"srg": HIGHER}),
    "nsrg": Family({"nsrg": HIGHER}, needs_bounds=True, undefined="all orders are equal"),
    "adjusted": Family(
        {"adjusted_naopc_morf": HIGHER, "adjusted_naopc_lerf": HIGHER, "adjusted_srg": HIGHER},
        needs_bounds=True,
        needs_chance=True,
        undefined="no order is better than a random one",
    ),
    "saco_mean": Family({"saco_mean": HIGHER}, undefined="all scores are equal"),
}
"""Computed where they are asked for: AOPC measured from chance (`metrics.srg`, `metrics.chance_adjusted`), and SaCo
with the mean score of a group for its salience, where `saco` has the sum."""
METRICS = {name: direction for family in FAMILIES.values() for name, direction in family.directions.items()}
DIRECTIONS = METRICS | {
    name: way for family in (LANGUAGE | ON_REQUEST).values() for name, way in family.directions.items()
}
"""Every metric that `evaluate` knows: those of `METRICS`, which all of its inputs have, and those on request."""
FAITHFULNESS = tuple(name for family in FAMILIES.values() if family.asks_model for name in family.directions)
"""Metrics that ask the model, in the order of their families."""
MEANINGS: Mapping[str, str] = json.loads(Path(__file__).with_name("meanings.json").read_text(encoding="utf-8"))
"""What a value of each metric says, in a line; formulas are in the docstrings of `faithlib.metrics`."""
