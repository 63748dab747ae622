"""An attribution method of one's own, for `evaluate(methods=[...])` beside the names of others.

One that erases is two functions, as a metric is (`faithlib.metrics.registry`)::

    def rows(explained):
        n = explained.present.shape[1]
        return explained.copies(torch.eye(n, dtype=torch.bool).expand(len(explained.present), n, n), explained.present)

    @method("lone_words", rows=rows)
    def lone_words(numbers, explained):
        return numbers

One that looks into the model is a single function::

    @method("my_gradient")
    def my_gradient(model, inputs, target):
        ...

Both answer scores [B, F], one for each feature of each input; higher = matters more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from faithlib.attribution.perturbation import ErasingMethod
from faithlib.errors import InputError

__all__ = ["InsideMethod", "method"]


@dataclass(frozen=True)
class InsideMethod:
    """A function of the model, its inputs and the classes that are explained, which answers scores [B, F].

    Parameters
    ----------
    name : str
        Under which its values are in tables.
    function : Callable[[Any, Any, Tensor], Tensor]
        Of the model, the inputs and the classes [B].

    Examples
    --------
    >>> @method("even")
    ... def even(model, inputs, target):
    ...     return inputs.feature_mask.float()
    >>> even.name
    'even'
    """

    name: str
    function: Callable[[Any, Any, Tensor], Tensor]

    def __call__(self, model: Any, inputs: Any, target: Tensor) -> Tensor:
        scores: Any = self.function(model, inputs, target)
        if not isinstance(scores, Tensor) or scores.shape != inputs.feature_mask.shape:
            what = f"a {type(scores).__name__}" if not isinstance(scores, Tensor) else f"shape {tuple(scores.shape)}"
            raise InputError(
                f"{self.name} answered {what}: expected a tensor [B, F] = {list(inputs.feature_mask.shape)}, one score "
                "per feature"
            )
        return scores.detach().float()


def method(
    name: str, *, rows: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Tensor]], ErasingMethod | InsideMethod]:
    """Make an attribution method of the function below it.

    Parameters
    ----------
    name : str
        Under which its values are in tables.
    rows : Callable[..., Any], optional
        Of a method that erases: the first half, `rows(explained, **options)`, which returns the copies to ask about
        (`Explained.copies`). The function below then makes scores of the explained numbers [B, S] of these copies; its
        keyword arguments are the method's options. None: the function looks into the model.

    Returns
    -------
    Callable
        The decorator: what it makes is handed to `evaluate(methods=[...])`.

    Examples
    --------
    >>> import torch
    >>> from faithlib.evaluation import evaluate
    >>> def rows(explained):
    ...     n = explained.present.shape[1]
    ...     return explained.copies(torch.eye(n, dtype=torch.bool).expand(len(explained.present), n, n))
    >>> @method("lone_words", rows=rows)
    ... def lone_words(numbers, explained):
    ...     return numbers
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> table = evaluate(model, ["a good film"], methods=[lone_words, "random"], metrics=["aopc_morf"])
    >>> table.value.round(4).tolist()[0]
    0.4
    """

    def made(function: Callable[..., Tensor]) -> ErasingMethod | InsideMethod:
        return InsideMethod(name, function) if rows is None else ErasingMethod(rows, function, name)

    return made
