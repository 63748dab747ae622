"""The first stage of an evaluation: attributions of every method, those that erase sharing rows and forwards.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor

from faithlib.attribution import Row
from faithlib.attribution.many import PREDICTED, attributed
from faithlib.attribution.registry import method_of
from faithlib.errors import ModelError, NotFiniteError, OutOfMemoryError
from faithlib.evaluation.opening import named_methods, opened
from faithlib.inputs import Inputs, Span
from faithlib.perturb import Perturber

# What leaves a method out and the others as they are.
LEFT_OUT: tuple[type[Exception], ...] = (ModelError, OutOfMemoryError, NotFiniteError)


def explain(
    model: Any,
    inputs: Any,
    methods: Iterable[str | Row] | Mapping[str, Any] | None = None,
    *,
    tokenizer: Any = None,
    processor: Any = None,
    target: Any = "predicted",
    erase: str | None = None,
    output: str | None = None,
    check: bool = True,
    unit: str | int | None = None,
    spans: Sequence[Sequence[Span]] | None = None,
    max_length: int | None = None,
) -> dict[str, Tensor]:
    """The scores [B, F] that `evaluate` evaluates under each name; arguments and errors are as there.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> explain(model, ["a good film"], ["occlusion", "uniform"])
    {'occlusion': tensor([[0.0000, 0.4000, 0.0000]]), 'uniform': tensor([[1., 1., 1.]])}
    """
    whole = opened(model, inputs, tokenizer, processor=processor, unit=unit, spans=spans, max_length=max_length)
    model, inputs, classes = whole.model, whole.inputs, whole.classes(target)
    named = named_methods(methods, whole)
    left_out: dict[str, str] = {}
    own = "predicted" if classes is None else classes
    perturber = Perturber(model, inputs, erase=erase, target=own, output=output, check=check)
    scores = explained(named, model, perturber, None if classes is None else perturber.target, left_out)
    if not scores:
        raise ModelError(f"nothing can explain this model. {left_out}")
    return scores


def explained(
    named: Mapping[str, Row | Tensor],
    model: Any,
    perturber: Perturber,
    classes: Tensor | None,
    left_out: dict[str, str],
    deltas: dict[str, Tensor] | None = None,
    passed: tuple[type[Exception], ...] = LEFT_OUT,
) -> dict[str, Tensor]:
    """Each method's scores [B, F] of the perturber's inputs, about `classes` [B] (None: the predicted). What fails with
    an error that is `passed` over is noted; `deltas` is filled with what integrated gradients miss.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> asked, left_out = Perturber(model, WordInputs.from_texts(["good film"])), {}
    >>> explained({"mine": Row("occlusion"), "other": Row("saliency")}, model, asked, None, left_out)
    {'mine': tensor([[0.4000, 0.0000]])}
    >>> list(left_out)
    ['other']
    """
    rows = {name: what for name, what in named.items() if isinstance(what, Row)}
    targets = {} if classes is None else {PREDICTED: classes}
    noted: dict[str, Any] = {"left_out": left_out, "deltas": deltas, "passed": passed}
    asked: dict[str, Any] = {"perturber": perturber, "followed": perturber.output, "targets": targets}
    found = attributed(rows, model, perturber.inputs, **asked, **noted)[0]
    found |= {name: what.to(perturber.device) for name, what in named.items() if isinstance(what, Tensor)}
    return {name: found[name] for name in named if name in found}


def erases(row: Row | Tensor, inputs: Inputs) -> bool:
    """Whether a method asks a perturber about such inputs.

    >>> from faithlib.inputs import WordInputs
    >>> words = WordInputs.from_texts(["good film"])
    >>> erases(Row("lime"), words), erases(Row("random"), words)
    (True, False)
    """
    try:
        return isinstance(row, Row) and method_of(row.method, inputs).answers == "features"
    except ModelError:
        return False
