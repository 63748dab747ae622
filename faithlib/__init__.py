"""faithlib: measures of the faithfulness of feature attributions.

The library behind the book. `Perturber` answers what a model says about inputs with parts erased. `masks` turns
attribution scores into erasures, `metrics` are pure functions over the answers, and `attribute` explains a prediction.
`evaluate` does all of it for a table of methods and metrics. Import from the modules::

    from faithlib.attribution import attribute
    from faithlib.inputs import TextInputs
    from faithlib.perturb import Perturber
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faithlib.evaluation import evaluate

__version__ = "0.3.0"
__all__ = ["__version__", "evaluate"]


def __getattr__(name: str) -> Any:
    # Only when asked for: what it stands on takes seconds to import, and reports do without.
    if name == "evaluate":
        from faithlib.evaluation import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
