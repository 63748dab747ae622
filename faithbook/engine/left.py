"""The time that a long call has left, where its work is known before it starts.

Every piece of the work has a size: the seconds that an earlier run of it took, or the rows that a model will be asked.
Sizes say how pieces stand to one another; how fast they go is seen in what has ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from faithbook.engine.plan import MANIFEST, Job
from faithbook.engine.trained import checkpoint_of

_CARD = "card.json"


def seconds_left(
    sizes: Mapping[str, float | None],
    ended: Mapping[str, float],
    running: Mapping[str, float],
    seconds: float,
    *,
    pace: float | None = None,
) -> float | None:
    """Seconds that a call still takes, None where nothing tells; as many pieces go on at a time as have until now.

    `sizes`: of all pieces by name, None where it is not known; `ended`: the seconds that those took that are done;
    `running`: for how long others have run; `seconds`: since the call began; `pace`: seconds for one of size 1, until a
    piece of known size has ended.

    >>> seconds_left({"a": 1, "b": 3, "c": 3}, {"a": 10}, {"b": 6}, 16)
    54.0
    """
    paid = {name: size for name in ended if (size := sizes[name])}
    if paid:
        pace = sum(ended[name] for name in paid) / sum(paid.values())
    expected = {name: None if size is None or pace is None else size * pace for name, size in sizes.items()}
    known = [*ended.values(), *(one for name, one in expected.items() if one is not None and name not in ended)]
    if not known:
        return None
    usual = fmean(known)
    rest = {
        name: max((usual if one is None else one) - running.get(name, 0), 0)
        for name, one in expected.items()
        if name not in ended
    }
    at_once = max(1.0, (sum(ended.values()) + sum(running.values())) / max(seconds, 1e-9))
    # Not before the longest of those that run, however many others could go on meanwhile.
    return max(sum(rest.values()) / at_once, *(rest[name] for name in running), 0.0)


def in_words(seconds: float | None) -> str:
    """Time left for people; "" where nothing tells.

    >>> in_words(43), in_words(400), in_words(8000)
    ('about 45 s left', 'about 7 min left', 'about 2 h 15 min left')
    """
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(5, 5 * round(seconds / 5))} s left"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min left"
    hours, minutes = divmod(5 * round(seconds / 300), 60)
    return f"about {hours} h {minutes} min left"


@dataclass
class Steps:
    """Pieces of work one after the other, each told as it begins, with what is done of all and the time left.

    `sizes`: of all pieces by name, in any unit; `tell`: is given each line; `clock`: seconds.
    """

    sizes: dict[str, float]
    tell: Callable[[str], None]
    clock: Callable[[], float] = time.perf_counter
    _ended: dict[str, float] = field(default_factory=dict)
    _now: str = ""
    _since: float = 0.0

    def begin(self, name: str, line: str) -> None:
        """A piece begins, and so the one before it has ended."""
        self._end()
        self._now, self._since = name, self.clock()
        told = in_words(seconds_left(self.sizes, self._ended, {}, sum(self._ended.values())))
        self.tell(f"[{len(self._ended) + 1:>2}/{len(self.sizes):>2}] {line}{told and f'; {told}'}")

    def leave_out(self, names: Iterable[str]) -> None:
        """Pieces that turn out not to be possible, the one that goes on among them or not."""
        self._now = ""
        for name in names:
            self.sizes.pop(name)
            self._ended.pop(name, None)

    def _end(self) -> None:
        if self._now:
            self._ended[self._now] = self.clock() - self._since


def sizes_of(jobs: Iterable[Job]) -> dict[str, float | None]:
    """The seconds that each job may take, by its label: as long as an earlier run of it at its profile, else as others
    of its notebook on average; a training as long as its checkpoint's card says. None where nothing tells."""
    told: dict[str, list[tuple[str, float]]] = {}
    found: dict[str, float | None] = {}
    for job in jobs:
        if job.parts:  # is put together from what they have computed
            found[job.label] = 0.0
            continue
        if job.notebook not in told:
            told[job.notebook] = list(_runs(job))
        runs = told[job.notebook]
        alike = [seconds for slug, seconds in runs if slug == job.slug] or [seconds for _, seconds in runs]
        found[job.label] = fmean(alike) if alike else _trained(job)
    return found


def _runs(job: Job) -> Iterable[tuple[str, float]]:
    """The runs of a job's notebook that lie at its profile: parameters as folders name them, and seconds."""
    for manifest in job.folder.parent.glob(f"*/{MANIFEST}"):
        if seconds := _read(manifest).get("seconds"):
            yield manifest.parent.name.rpartition("-")[0], float(seconds)


def _trained(job: Job) -> float | None:
    seconds = _read(checkpoint_of(job) / _CARD).get("wall_seconds") if job.kind == "train" else None
    return None if seconds is None else float(seconds)


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found
