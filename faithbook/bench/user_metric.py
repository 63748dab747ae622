"""A metric or an attribution method of one's own, read from a file.

**A metric** is a function of one of two shapes, and a module that says `DIRECTION = "higher"` or `"lower"`:

    def my_metric(perturber, scores):   # asks the model: a faithlib.perturb.Perturber, and scores [B, F]
    def my_metric(scores, present):     # looks at scores [B, F] alone, and at which features there are, bool [B, F]

It answers one value per input, [B]; NaN where it is not defined for an input.

**A method** is a function of one of two shapes, and answers scores [B, F]; higher = matters more:

    def my_method(perturber):              # asks the model about erased copies
    def my_method(model, inputs, target):  # looks into the model; target: the classes to explain, [B]

A file holds one public function, or is named with the function behind a colon (`mine.py:top_word`).

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import inspect
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor

from faithlib.catalogue import METRICS, Direction
from faithlib.errors import DataError, InputError, ModelError, unknown
from faithlib.inputs import Inputs
from faithlib.perturb import Perturber

_ASKS, _LOOKS = ("perturber", "scores"), ("scores", "present")
_ERASES, _SEES_INSIDE = ("perturber",), ("model", "inputs", "target")
_LABELS = ("label", "labels", "gold", "y", "truth", "targets")


@dataclass(frozen=True)
class OwnMetric:
    """A metric that is to be judged; `about`: the first line of its docstring."""

    name: str
    function: Callable[..., Any]
    direction: Direction
    asks_model: bool
    about: str = ""

    def __call__(self, perturber: Perturber, scores: Tensor) -> Tensor:
        """Its values, float64 [B] on the processor; InputError where it answers anything else, or fails."""
        given = scores.clone()
        arguments = (perturber, given) if self.asks_model else (given, perturber.feature_mask)
        values = _called(self, arguments, scores.shape[:1], "[B]", "one value per input").double().cpu()
        if bool(values.isinf().any()):
            raise InputError(
                f"{self.name} answered an infinite value for input {int(values.isinf().nonzero()[0])} of "
                f"{len(values)}: expected numbers, or NaN where it is not defined"
            )
        if not torch.equal(given, scores):
            raise InputError(f"{self.name} changed the scores that it was given: let it work on a copy")
        return values


@dataclass(frozen=True)
class OwnMethod:
    """An attribution method that is to be judged; `about`: the first line of its docstring."""

    name: str
    function: Callable[..., Any]
    sees_inside: bool
    about: str = ""

    def __call__(self, model: Any, inputs: Inputs, perturber: Perturber) -> Tensor:
        """Its scores of the perturber's target, float32 [B, F] on the model's device, 0 beyond an input's features;
        InputError where it answers anything else, or fails."""
        arguments = (model, inputs, perturber.target) if self.sees_inside else (perturber,)
        present = perturber.feature_mask
        scores = _called(self, arguments, present.shape, "[B, F]", "one score per feature").float().to(present.device)
        bad = (~torch.isfinite(scores) & present).any(dim=1)
        if bool(bad.any()):
            raise InputError(
                f"{self.name} answered NaN or infinite scores for {int(bad.sum())} of {len(bad)} inputs, first input "
                f"{int(bad.nonzero()[0])}: expected finite numbers"
            )
        return torch.where(present, scores, 0.0)


def _called(
    user: OwnMetric | OwnMethod, arguments: tuple[Any, ...], shape: Sequence[int], letters: str, what: str
) -> Tensor:
    try:
        answer = user.function(*arguments)
    except ModelError:
        raise  # this kind of model does not allow it, which is no fault
    except Exception as error:
        raise InputError(f"{user.name} failed with {type(error).__name__}: {error}") from error
    if not isinstance(answer, Tensor):
        raise InputError(f"{user.name} answered a {type(answer).__name__}: expected a torch tensor")
    if answer.dtype == torch.bool or answer.is_complex():
        raise InputError(f"{user.name} answered {answer.dtype}: expected numbers")
    if tuple(answer.shape) != tuple(shape):
        wanted = f"expected {letters} = {list(shape)}, {what}"
        raise InputError(f"{user.name} answered shape {tuple(answer.shape)}: {wanted}")
    return answer.detach()


# ------------------------------------------------------------------------------------------------------------- reading
def find_metric(what: str) -> OwnMetric:
    """The metric in a file (`mine.py`, `mine.py:function`).

    Raises DataError for a file that is not there, UnknownNameError for a function that it does not have, InputError for
    a function that is no metric.
    """
    function, direction = _function_of(what)
    asks = _shape_of(function, {_ASKS: True, _LOOKS: False}, "metric")
    if direction not in get_args(Direction):
        fault = "says no DIRECTION" if direction is None else f"says DIRECTION = {direction!r}"
        raise InputError(f'{what} {fault}: expected DIRECTION = "higher" or "lower", which values are better')
    if function.__name__ in METRICS:
        raise InputError(f"{function.__name__} is a metric of the catalogue: give yours another name")
    return OwnMetric(function.__name__, function, direction, asks, _about(function))


def find_method(what: str) -> OwnMethod:
    """The method in a file; errors as `find_metric`."""
    function, _ = _function_of(what)
    sees = _shape_of(function, {_ERASES: False, _SEES_INSIDE: True}, "method")
    return OwnMethod(function.__name__, function, sees, _about(function))


def _about(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _shape_of(function: Callable[..., Any], shapes: Mapping[tuple[str, ...], bool], kind: str) -> bool:
    """What the shapes say of the one that the function's parameters without a default have."""
    parameters = inspect.signature(function).parameters.values()
    names = tuple(one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD)
    if names in shapes:
        return shapes[names]
    message = f"{function.__name__} takes ({', '.join(names)}): a {kind} takes "
    message += " or ".join(f"({', '.join(one)})" for one in shapes)
    if asked := [name for name in names if name in _LABELS]:
        message += f"; it gets no {asked[0]}: what a text is really about says nothing of what the model used"
    raise InputError(message)


def _function_of(what: str) -> tuple[Callable[..., Any], Any]:
    """The public function of a file, or the one that is named, and the file's DIRECTION."""
    place, _, name = what.partition(":")
    path = Path(place).resolve()
    if not path.is_file():
        raise DataError(f"{path} is not there: expected a Python file with a function")
    sys.path.insert(0, str(path.parent))  # what is in its folder can be imported, as by `python my_metric.py`
    try:
        module = runpy.run_path(str(path), run_name=path.stem)
    except Exception as error:
        raise InputError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    mine = [one for one in module.values() if inspect.isfunction(one) and one.__module__ == path.stem]
    functions = {one.__name__: one for one in mine if not one.__name__.startswith("_")}
    if name and name not in functions:
        raise unknown(f"function of {place}", name, functions)
    if not name and len(functions) != 1:
        raise InputError(
            f"{what} has {len(functions)} public functions ({', '.join(functions) or 'none'}): expected one, or name "
            f"it, {what}:name"
        )
    return functions[name or next(iter(functions))], module.get("DIRECTION")
