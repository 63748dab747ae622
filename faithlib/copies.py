"""What is asked of a model: copies of inputs of which some features are erased, described before anything runs.

Shape letters: B inputs, S copies of each, F features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from torch import Tensor

__all__ = [
    "Answerer",
    "Copies",
    "Later",
    "Reading",
    "ask",
    "results",
]

Reading = Literal["output", "logits", "stays"]


@dataclass(frozen=True, eq=False)
class Copies:
    """Copies of inputs, and what is read from the model's answers to them.

    - `keep` [B, S, F]: bool, which features stay; or float in [0, 1], the probability with which each element of a
      feature's embedding stays (`Perturber.soft`), drawn `draws` times with `seed`.
    - `read`: "output" (the number that metrics follow, say the target's probability), "logits" (one more dimension at
      the end: the classes) or "stays" (whether the predicted class stays the predicted one).
    - `inputs`: which of the inputs the B rows of `keep` are about; by default all of them, in order.
    - `real`: bool [B, S], which of the copies there are; others stand for those of longer inputs, and are not asked.
      The answers are then those to the real copies alone, [R] in the order of the rows.

    >>> import torch
    >>> Copies(torch.tensor([[[True, False]]])).read
    'output'
    """

    keep: Tensor
    draws: int = 1
    seed: int = 0
    read: Reading = "output"
    inputs: Tensor | None = None
    real: Tensor | None = None


class Later(Protocol):
    """Answers that are on their way.

    >>> issubclass(Later, Protocol)
    True
    """

    def result(self) -> Tensor:
        """The answers; the first call runs all rows that wait.

        Returns
        -------
        Tensor
            [B, S]; of soft copies [B, S, draws]; with `Copies.real` of the real copies alone, [R]; one more dimension,
            the classes, where logits are read.
        """
        ...


class Answerer(Protocol):
    """What answers to copies: a `Perturber` or a `SetFunction`.

    >>> issubclass(Answerer, Protocol)
    True
    """

    @property
    def feature_mask(self) -> Tensor:
        """Which features each input has, bool [B, F]."""
        ...

    def later(self, copies: Copies | Tensor) -> Later:
        """Queue copies whose answers will be needed.

        Parameters
        ----------
        copies : Copies | Tensor
            `Copies`, or what is kept of each copy, bool [B, S, F].

        Returns
        -------
        Later
            Its `result()` has the answers.
        """
        ...


def ask(answerer: Answerer, rows: Any) -> Any:
    """Queue what a first half returned, in the same shape: masks or `Copies`, or several of them by name or one by one.

    Parameters
    ----------
    answerer : Answerer
        What queues them: a `Perturber`.
    rows : Any
        Masks or `Copies`, or a mapping or list of them; None.

    Returns
    -------
    Any
        What `results` takes, in the shape of `rows`.

    Examples
    --------
    >>> ask(None, {})
    {}
    """
    if rows is None:
        return None
    if isinstance(rows, Mapping):
        return {name: ask(answerer, part) for name, part in rows.items()}
    if isinstance(rows, Iterator | list | tuple):
        return [ask(answerer, part) for part in rows]
    return answerer.later(rows)


def results(asked: Any) -> Any:
    """The answers to what `ask` queued, in the same shape.

    Parameters
    ----------
    asked : Any
        What `ask` returned.

    Returns
    -------
    Any
        Answers in the shape of what was asked.

    Examples
    --------
    >>> results({})
    {}
    """
    if asked is None:
        return None
    if isinstance(asked, dict):
        return {name: results(part) for name, part in asked.items()}
    if isinstance(asked, list):
        return [results(part) for part in asked]
    return asked.result()
