"""The first stage of an evaluation: attributions of every method, those that erase sharing rows and forwards.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from faithlib.attribution import Row, attribute, attribute_rows
from faithlib.attribution.many import PREDICTED
from faithlib.attribution.registry import WITH_DELTA, method_of
from faithlib.errors import ModelError, NotFiniteError, OutOfMemoryError
from faithlib.evaluation.opening import named_methods, opened
from faithlib.inputs import Inputs, Span, TextInputs
from faithlib.perturb import Perturber, asked_together

# What leaves a method out and the others as they are.
LEFT_OUT: tuple[type[Exception], ...] = (ModelError, OutOfMemoryError, NotFiniteError)
_TARGET = "the one asked for"


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
    inputs = perturber.inputs
    rows = {name: what for name, what in named.items() if isinstance(what, Row)}
    if not rows:
        found = {}
    elif isinstance(inputs, TextInputs):
        found = _together(rows, model, inputs, perturber, classes, left_out, deltas, passed)
    else:
        found = _one_by_one(rows, model, inputs, perturber, classes, left_out, deltas, passed)
    given = {name: what.to(perturber.device) for name, what in named.items() if isinstance(what, Tensor)}
    return {name: (found | given)[name] for name in named if name in found or name in given}


def _one_by_one(
    rows: Mapping[str, Row],
    model: Any,
    inputs: Inputs,
    perturber: Perturber,
    target: Tensor | None,
    left_out: dict[str, str],
    deltas: dict[str, Tensor] | None,
    passed: tuple[type[Exception], ...],
) -> dict[str, Tensor]:
    """Scores of methods that share nothing but the perturber, which is asked by all that erase together."""

    def scores_of(names: Sequence[str]) -> dict[str, Tensor]:
        found = {}
        for name in names:
            misses = deltas is not None and rows[name].method == WITH_DELTA
            try:
                answer = attribute(rows[name].method, model, inputs, return_delta=misses, **options[name])
            except passed as error:
                left_out[name] = str(error)
                continue
            found[name], delta = answer if misses else (answer, None)
            if deltas is not None and delta is not None:
                deltas[name] = delta
        return found

    options: dict[str, dict[str, Any]] = {}
    erasing, others = [], []
    for name, row in rows.items():
        given: dict[str, Any] = {"aggregation": row.aggregation, "pool": row.pool, "check": False}
        given |= {"output": _output(row, model, perturber), "target": PREDICTED if target is None else target}
        options[name] = {**given, **row.options}
        if erases(row, inputs) and not {"erase", "perturber"} & set(row.options):
            options[name]["perturber"] = perturber
            erasing.append(name)
        else:
            others.append(name)
    return scores_of(others) | asked_together(lambda: scores_of(erasing), perturber)


def _output(row: Row, model: Any, perturber: Perturber) -> str | None:
    """What a method explains: what its row says, else what the metrics follow."""
    try:
        return row.output or method_of(row.method, perturber.inputs).default_output(model, perturber.output)
    except ModelError:
        return None


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


def _together(
    asked: Mapping[str, Row],
    model: nn.Module,
    inputs: TextInputs,
    perturber: Perturber,
    target: Tensor | None,
    left_out: dict[str, str],
    deltas: dict[str, Tensor] | None,
    passed: tuple[type[Exception], ...],
) -> dict[str, Tensor]:
    """Scores of many rows about the same texts; where the model does not allow one of them, of the others."""
    targets = None if target is None else {_TARGET: target}
    rows = {name: replace(row, output=_output(row, model, perturber)) for name, row in asked.items()}
    if target is not None:
        rows = {name: replace(row, target=_TARGET) for name, row in rows.items()}
    own: dict[str, Tensor] = {}
    try:
        found = attribute_rows(list(rows.values()), model, inputs, targets=targets, perturber=perturber, deltas=own)[0]
    except passed as error:
        if len(asked) == 1:
            left_out[next(iter(asked))] = str(error)
            return {}
        given = (model, inputs, perturber, target, left_out, deltas, passed)
        alone = [_together({name: asked[name]}, *given) for name in asked]
        return {name: scores for one in alone for name, scores in one.items()}
    if deltas is not None:
        deltas |= {name: own[row.name] for name, row in rows.items() if row.name in own}
    return {name: found[row.name] for name, row in rows.items()}
