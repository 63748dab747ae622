"""Times on a machine that is not equally fast all the time: what else runs there only ever adds to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

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
