"""Which metrics there are, in families that share their rows, and which way each is better.

What is said about a metric stands where it is registered, in a module of `faithlib.metrics`;
`faithlib.metrics.registry` says how. `python -m faithlib.metrics` collects it in `faithlib._metric_names`, so that
pages which only read results import quickly, and type checkers know the names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from faithlib._metric_names import RECORDS, MetricName
from faithlib.errors import check_known

__all__ = [
    "DIRECTIONS",
    "FAITHFULNESS",
    "FAMILIES",
    "HIGHER",
    "LANGUAGE",
    "LOWER",
    "MEANINGS",
    "METRICS",
    "OF_SCORES_ALONE",
    "ON_REQUEST",
    "Direction",
    "Facts",
    "Kind",
    "list_metrics",
]

Direction = Literal["higher", "lower"]
HIGHER: Direction = "higher"
LOWER: Direction = "lower"
Kind = Literal["common", "language", "request"]


@dataclass(frozen=True, eq=False)
class Facts:
    """What is said of metrics that share their rows.

    - `name`: of the family. `directions`, `meanings`, `formulas`: by metric, which values are better, what a value
      says, and how it is computed, in the symbols of the library's README.
    - `cost`: rows of the model for each attribution of an input with n features. `source`: the paper.
    - `kind`: "common" metrics are those of `METRICS`; others are computed where they are asked for, those of papers
      about "language" models, and all others on "request".
    - `by_default`: whether `evaluate` computes them where no metrics are named.
    - `asks_model`: whether the model is asked. `needs_gold`, `needs_bounds`, `needs_chance`: whether values need what
      people marked, bounds of AOPC, and what random orders get.
    - `least_features`: an input with fewer has no value. `undefined`: when else a value is NaN.

    >>> FAMILIES["eraser"].directions
    {'comprehensiveness_eraser': 'higher', 'sufficiency_eraser': 'lower'}
    """

    name: str = ""
    directions: Mapping[str, Direction] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    formulas: Mapping[str, str] = field(default_factory=dict)
    cost: str = ""
    source: str = ""
    kind: Kind = "request"
    by_default: bool = False
    asks_model: bool = True
    needs_gold: bool = False
    needs_bounds: bool = False
    needs_chance: bool = False
    least_features: int = 2
    undefined: str = "the metric has no value here"


_EVERY = {record["name"]: Facts(**record) for record in RECORDS}
FAMILIES: Mapping[str, Facts] = {name: facts for name, facts in _EVERY.items() if facts.kind == "common"}
"""Those that all inputs have: in `evaluate` by default, except `naopc`, whose bounds cost much."""
LANGUAGE: Mapping[str, Facts] = {name: facts for name, facts in _EVERY.items() if facts.kind == "language"}
"""Measures of papers about language models, computed where they are asked for: of any model, except that the distances
need a `Continuation` with reading "similarity"."""
ON_REQUEST: Mapping[str, Facts] = {name: facts for name, facts in _EVERY.items() if facts.kind == "request"}
"""Computed where they are asked for: AOPC measured from chance (`metrics.srg`, `metrics.chance_adjusted`), and SaCo
with the mean score of a group for its salience, where `saco` has the sum."""
METRICS = {name: direction for facts in FAMILIES.values() for name, direction in facts.directions.items()}
DIRECTIONS = METRICS | {
    name: direction
    for facts in (*LANGUAGE.values(), *ON_REQUEST.values())
    for name, direction in facts.directions.items()
}
"""Every metric that `evaluate` knows by name: those of `METRICS`, and those that are asked for."""
FAITHFULNESS = cast(
    tuple[MetricName, ...],
    tuple(name for facts in FAMILIES.values() if facts.asks_model for name in facts.directions),
)
"""Metrics that ask the model, in the order of their families."""
OF_SCORES_ALONE = frozenset(
    name for facts in _EVERY.values() if not facts.asks_model and not facts.needs_gold for name in facts.directions
)
"""Metrics that describe the scores, whatever the model does and people marked: how widely they are spread."""
MEANINGS: Mapping[str, str] = {name: says for facts in _EVERY.values() for name, says in facts.meanings.items()}
"""What a value of each metric says, in a line; formulas are in `Facts.formulas` and the docstrings of
`faithlib.metrics`."""


def list_metrics(kind: Kind | None = None) -> tuple[MetricName, ...]:
    """The names of the metrics that `evaluate` knows.

    Parameters
    ----------
    kind : {"common", "language", "request"}, optional
        Only those that all inputs have, of papers about language models, or that are computed on request.

    Returns
    -------
    tuple of MetricName
        In the order of their families.

    Raises
    ------
    UnknownNameError
        For another kind.

    Examples
    --------
    >>> list_metrics()[:3]
    ('ns', 'nc', 'soft_ns')
    """
    kinds = get_args(Kind)
    if kind is not None:
        check_known("kind of metrics", kind, kinds)
    chosen = [facts for facts in _EVERY.values() if kind in (None, facts.kind)]
    return cast(tuple[MetricName, ...], tuple(name for facts in chosen for name in facts.directions))
