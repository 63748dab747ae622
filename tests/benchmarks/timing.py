"""Times on a machine that is not equally fast all the time: what else runs there only ever adds to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}


def least_seconds(run: Callable[[], Iterable[object]], *, repeats: int, clock: Clock = time.perf_counter) -> float:
    """Seconds of `run` from the beginning, the least of several for each of its steps (what it yields, in order)."""
    return float(np.min([_laps(run, clock) for _ in range(repeats)], axis=0).sum())


def _laps(run: Callable[[], Iterable[object]], clock: Clock) -> list[float]:
    laps, start = [], clock()
    for _ in run():
        now = clock()
        laps.append(now - start)
        start = now
    return laps


class Beside:
    """The price of a row in a plain forward, taken between the forwards of what is measured.

    A machine that others share is a third faster or slower from one minute to the next, so a price taken before and
    after compares two machines. Here each `every`-th forward of `model` inside the `with` is followed by one of
    `batch(size)` alone, in turn for each of the sizes; what these take is not the measured work's.

    A GPU is nobody else's, and waiting for it in the middle would take away what it does while the next rows are made
    ready: there, prices are taken before and after.
    """

    def __init__(
        self,
        model: nn.Module,
        batch: Callable[[int], dict[str, Any]],
        sizes: Sequence[int],
        *,
        every: int = 2,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.model, self.sizes, self.every, self.clock = model, sizes, every, clock
        self.batches = {size: batch(size) for size in sizes}
        self.prices: dict[int, list[float]] = {size: [] for size in sizes}
        self.forwards, self.aside = 0, False
        self.left_out = np.zeros(2)
        self.between = next(model.parameters()).device.type != "cuda"

    def __enter__(self) -> Beside:
        for size in self.sizes:  # warm
            self._plain(size)
        self._price_at_an_end()
        self.hook = self.model.register_forward_hook(self._after)
        self.started = self._now()
        return self

    def __exit__(self, *raised: object) -> None:
        self.seconds, self.wall = self._now() - self.started - self.left_out
        self.hook.remove()
        self._price_at_an_end()

    def _price_at_an_end(self) -> None:
        if not self.between:
            for size in self.sizes:
                self.prices[size] += [self._plain(size) for _ in range(3)]

    def _now(self) -> NDArray[np.float64]:
        """Seconds of the clock, and of the wall."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return np.array([self.clock(), time.perf_counter()])

    def _plain(self, size: int) -> float:
        start = self._now()
        with torch.inference_mode():
            self.model(**self.batches[size])
        return float((self._now() - start)[0])

    def _after(self, *_: object) -> None:
        if self.aside or not self.between:
            return
        self.forwards += 1
        if self.forwards % self.every:
            return
        self.aside, start = True, self._now()
        size = self.sizes[self.forwards // self.every % len(self.sizes)]
        self.prices[size].append(self._plain(size))
        self.aside, self.left_out = False, self.left_out + self._now() - start

    def seconds_a_row(self) -> float:
        """The time of one row in the best size; of each the mean, for the work has its slow moments, too."""
        return min(float(np.mean(taken)) / size for size, taken in self.prices.items() if taken)

    def outside(self, in_model: float) -> float:
        """The share of wall time in which no chunk ran; `in_model`: of chunks, in which the forwards beside are."""
        return 1 - (in_model - float(self.left_out[1])) / float(self.wall)
