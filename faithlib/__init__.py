"""faithlib: measures of the faithfulness of feature attributions, for a model of your own.

`evaluate` makes a table of metrics of attributions. Below it, `attribute` explains a prediction, `Perturber` answers
what a model says about inputs with parts erased, and `metrics` are pure functions of its answers::

    from faithlib import evaluate

    table = evaluate(model, texts, tokenizer=tokenizer, methods=["saliency", "lime", "random"])
    print(table.summary())

All names of `__all__` are imported when they are first used: what they stand on takes seconds to load.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faithlib import metrics
    from faithlib.attribution import attribute
    from faithlib.attribution import methods as list_methods
    from faithlib.bounds import naopc
    from faithlib.catalogue import list_metrics
    from faithlib.evaluation import MetricSettings, RunSettings, evaluate, explain
    from faithlib.inputs import ImageInputs, TextInputs, WordInputs
    from faithlib.perturb import Perturber, SetFunction
    from faithlib.user_inputs import images, texts, tokens

__version__ = "1.0.0"
__all__ = [
    "ImageInputs",
    "MetricSettings",
    "Perturber",
    "RunSettings",
    "SetFunction",
    "TextInputs",
    "WordInputs",
    "__version__",
    "attribute",
    "evaluate",
    "explain",
    "images",
    "list_methods",
    "list_metrics",
    "metrics",
    "naopc",
    "texts",
    "tokens",
]

# The module of each name, and what it is called there.
_HOME = {
    "ImageInputs": ("faithlib.inputs", "ImageInputs"),
    "MetricSettings": ("faithlib.evaluation", "MetricSettings"),
    "Perturber": ("faithlib.perturb", "Perturber"),
    "RunSettings": ("faithlib.evaluation", "RunSettings"),
    "SetFunction": ("faithlib.perturb", "SetFunction"),
    "TextInputs": ("faithlib.inputs", "TextInputs"),
    "WordInputs": ("faithlib.inputs", "WordInputs"),
    "attribute": ("faithlib.attribution", "attribute"),
    "evaluate": ("faithlib.evaluation", "evaluate"),
    "explain": ("faithlib.evaluation", "explain"),
    "images": ("faithlib.user_inputs", "images"),
    "list_methods": ("faithlib.attribution", "methods"),
    "list_metrics": ("faithlib.catalogue", "list_metrics"),
    "naopc": ("faithlib.bounds", "naopc"),
    "texts": ("faithlib.user_inputs", "texts"),
    "tokens": ("faithlib.user_inputs", "tokens"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        # So that `faithlib.bench` is there after `import faithlib`, as `faithlib.metrics` is.
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, known_as = _HOME[name]
    thing = getattr(import_module(module), known_as)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return __all__
