"""How many rows `evaluate` will run, counted without the model: its own scheduler, memo and keys, answers made up.

Shape letters: B inputs, F features.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from faithlib.bounds import exact_bounds, most_rows
from faithlib.errors import ModelError, check_counts
from faithlib.evaluation.measures import EVERY, EXACT_UP_TO, MEASURES, Asked, check_scores, families_of
from faithlib.inputs import Inputs
from faithlib.perturb import Perturber
from faithlib.perturbations import Perturbation, Rows
from faithlib.scheduler import Pace, Scheduler


class _Counting(Scheduler):
    """A scheduler whose rows are put off for good: counted, by input."""

    def __init__(self, device: torch.device, same_as: NDArray[np.int64], pace: Pace, **given: Any) -> None:
        super().__init__(device, same_as, pace, **given)
        self.rows = np.zeros(len(same_as), dtype=np.int64)

    def _run(self, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        self._made_up(slots)
        self.rows += np.bincount(self._same_as[rows.index], minlength=len(self.rows))


class RowCounter(Perturber):
    """A `Perturber` that counts: every row has its slot in the memo, and an answer that no model was asked for.

    `rows` [B]: those that a `Perturber` would run, by input (of equal inputs, the first). The answers themselves, two
    classes equally probable, say nothing.

    >>> from faithlib.inputs import WordInputs

    >>> counter = RowCounter(lambda texts: 1 / 0, WordInputs.from_texts(["good film"]))  # the model is never asked
    >>> counter.keep(torch.tensor([[[True, False], [False, True]]]))
    tensor([[0.5000, 0.5000]])
    >>> counter.rows.tolist()
    [3]
    """

    _schedulers = _Counting
    scheduler: _Counting

    def __init__(self, model: Any, inputs: Inputs, *, erase: str | None = None, output: str | None = None) -> None:
        super().__init__(model, inputs, erase=erase, output=output, target=0, check=False)
        self.rows = self.scheduler.rows

    def count_bounds(self, *, beam: int) -> None:
        """Count the rows of `bounds_of`. A beam goes where the answers lead, and these are made up: the most rows that
        it can take are counted."""
        sizes = self.feature_mask.sum(dim=1).tolist()
        if short := [b for b, n in enumerate(sizes) if n <= EXACT_UP_TO]:
            exact_bounds(self.of(short))
        self.rows += np.array([0 if n <= EXACT_UP_TO else most_rows(n, width=beam) for n in sizes])


@dataclass(frozen=True)
class RowCount:
    """Rows of the model, the unperturbed inputs among them: all `together`, of `each` input, and of each family if it
    were evaluated `alone`.

    `is_exact`: this is what will run. False where a beam has to search bounds of AOPC (NAOPC of inputs with many
    features), whose rows depend on the answers: no more than these will run.

    >>> RowCount(each=(3, 4), alone={"hard": 7}, is_exact=True).together
    7
    """

    each: tuple[int, ...]
    alone: Mapping[str, int]
    is_exact: bool

    @property
    def together(self) -> int:
        return sum(self.each)


def count_rows(
    model: nn.Module | Callable[..., object],
    inputs: Inputs,
    *,
    methods: Mapping[str, Tensor],
    metrics: Sequence[str] | None = None,
    gold: Tensor | None = None,
    erase: str | None = None,
    output: str | None = None,
    draws: int = 4,
    seed: int = 0,
    groups: int = 10,
    beam: int = 3,
) -> RowCount:
    """The rows that `evaluate` will run for scores [B, F] by name; the other arguments and errors are as there.

    Explaining takes rows of its own: with names of methods in place of scores `evaluate` runs these as well. No method
    at all ({}) counts what is asked about no attribution: the inputs themselves, and bounds of AOPC.

    >>> from faithlib.inputs import ImageInputs
    >>> model = nn.Sequential(nn.Flatten(), nn.Linear(12, 2)).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 2, 2), patch=1)
    >>> scores = torch.tensor([[4.0, 3.0, 2.0, 1.0]])
    >>> count_rows(model, images, methods={"mine": scores}, metrics=["aopc_morf"]).together  # 1 + 3 + 3 + 1
    8
    """
    families = families_of(metrics, has_gold=gold is not None)
    if isinstance(model, nn.Module):
        inputs = inputs.to(next(model.parameters()).device)
    for name, scores in methods.items():
        check_scores(name, scores, inputs.feature_mask)
    check_counts(groups=groups)

    def rows_of(chosen: Sequence[str]) -> tuple[int, ...]:
        counter = RowCounter(model, inputs, erase=erase, output=output)
        if any(EVERY[name].needs_bounds for name in chosen):
            counter.count_bounds(beam=beam)
        nothing = counter.full
        asked = Asked(counter, None, (nothing, nothing), draws, seed, groups)
        for scores in methods.values():
            for name in chosen:
                if EVERY[name].asks_model:
                    with suppress(ModelError):  # of metrics that are left out nothing is asked
                        MEASURES[name](asked, scores.to(counter.device))
        return tuple(counter.rows.tolist())

    longest = int(inputs.feature_mask.sum(dim=1).max())
    searched = any(EVERY[name].needs_bounds for name in families) and longest > EXACT_UP_TO
    return RowCount(rows_of(families), {name: sum(rows_of([name])) for name in families}, not searched)
