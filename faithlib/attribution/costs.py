"""What attributions cost: rows that the model ran forward and backward, rows that were asked for, seconds.

Shape letters: R rows of one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.attribution._target import Chunk
from faithlib.attribution.perturbation import Perturbers
from faithlib.backends._logits import logits_in
from faithlib.backends.shared_weights import CONTEXT, ON_NO_ACCOUNT
from faithlib.memory import Clock, waited

__all__ = ["Cost"]


@dataclass
class Cost:
    """What the rows of one method cost.

    Parameters
    ----------
    rows_asked, backward_asked : int, default 0
        Rows that calls of `attribute`, one for each row of the table, ask the model for, forward and backward; erased
        copies as `Perturber.stats` counts them, before equal ones are dropped.
    rows_run, backward_run : int, default 0
        Those that the model ran. What methods share is on the account of the one that came first.
    seconds : float, default 0.0
        Wall time (on a GPU, time on the device).

    Examples
    --------
    >>> Cost(rows_asked=2, seconds=0.5) + Cost(rows_asked=3)
    Cost(rows_asked=5, rows_run=0, backward_asked=0, backward_run=0, seconds=0.5)
    """

    rows_asked: int = 0
    rows_run: int = 0
    backward_asked: int = 0
    backward_run: int = 0
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))


class Costs:
    """An account for each method that asks `model`.

    >>> from faithlib.inputs import WordInputs
    >>> from faithlib.perturb import Perturber
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> costs, perturbers = Costs(None), Perturbers(None, perturber)
    >>> with costs.of_erased("occlusion", 1, perturbers):
    ...     _ = perturber.keep(torch.tensor([[[True, False], [False, True]]]))
    >>> costs.by_method()["occlusion"].rows_run
    2
    """

    def __init__(self, model: Any) -> None:
        first = next(model.parameters(), None) if isinstance(model, nn.Module) else None
        self._device = torch.device("cpu") if first is None else first.device
        self._rows: dict[str, Cost] = {}
        self._clocks: dict[str, Clock] = {}
        # By method, the rows that it queued: they run later, joined with those of other methods.
        self._queued: dict[str, int] = {}

    def by_method(self) -> dict[str, Cost]:
        """The accounts, closed: on a GPU this waits for the last of the work."""
        return {name: cost + Cost(seconds=self._clocks[name].seconds()) for name, cost in self._rows.items()}

    @contextmanager
    def of_chunk(self, name: str, readers: int, chunk: Chunk) -> Iterator[None]:
        """Counts the rows of a method on a chunk; `readers` rows of the table would each have asked for them."""
        before = chunk.gradients_asked
        with self._clock(name), _counted(chunk.backend.model) as ran:
            yield
        cost = self._rows[name]
        cost.rows_run += ran.rows_run
        cost.backward_run += ran.backward_run
        # Alone, each gradient takes a pass forward and one backward; here they may have come from an earlier one.
        gradients = (chunk.gradients_asked - before) * len(chunk.rows)
        cost.rows_asked += readers * (gradients or ran.rows_run)
        cost.backward_asked += readers * (gradients or ran.backward_run)

    @contextmanager
    def of_erased(self, name: str, readers: int, perturbers: Perturbers) -> Iterator[None]:
        """Counts the rows of a method that erases."""
        asked, run = perturbers.rows()
        with self._clock(name):
            yield
        rows_asked, rows_run = perturbers.rows()
        self._rows[name].rows_asked += readers * (rows_asked - asked)
        self._rows[name].rows_run += rows_run - run
        self._queued[name] = self._queued.get(name, 0) + rows_run - run

    @contextmanager
    def of_joined(self) -> Iterator[None]:
        """Shares out the seconds in which queued rows run, by how many of them each method has queued."""
        start, on_account = waited(self._device), self._seconds()
        yield
        seconds = waited(self._device) - start - (self._seconds() - on_account)
        all_queued = max(1, sum(self._queued.values()))
        for name, rows in self._queued.items():
            self._rows[name].seconds += seconds * rows / all_queued
        self._queued.clear()

    def _seconds(self) -> float:
        return sum(clock.seconds() for clock in self._clocks.values())

    def _clock(self, name: str) -> Clock:
        self._rows.setdefault(name, Cost())
        return self._clocks.setdefault(name, Clock(self._device))


@contextmanager
def _counted(model: nn.Module) -> Iterator[Cost]:
    """Counts the rows that a model runs inside, forward and backward, whoever calls it."""
    ran = Cost()

    def forward(module: nn.Module, arguments: Any, output: Any) -> None:
        if CONTEXT.get().get(ON_NO_ACCOUNT):
            return
        logits = logits_in(output)
        ran.rows_run += len(logits)
        if logits.requires_grad:
            logits.register_hook(backward)

    def backward(gradient: Tensor) -> None:
        ran.backward_run += len(gradient)

    if isinstance(model, torch.jit.ScriptModule):  # which takes no hooks
        yield ran
        return
    with model.register_forward_hook(forward):
        yield ran
