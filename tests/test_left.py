"""Time left: what is told of it where work is known in advance, and that the calls tell it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import tiny

from faithbook.bench import measure
from faithbook.bench import run as bench
from faithbook.engine import build
from faithbook.engine.left import Steps, in_words, seconds_left, sizes_of
from faithbook.engine.plan import MANIFEST, plan, trainings
from faithlib.errors import ModelError


@pytest.mark.parametrize(
    ("sizes", "ended", "running", "seconds", "pace", "expected"),
    [
        ({"a": 10, "b": 20}, {}, {}, 0, None, None),  # sizes alone tell nothing of time
        ({"a": 10, "b": 20}, {}, {}, 0, 1, 30),
        ({"a": 10, "b": 20}, {"a": 30}, {}, 30, 1, 60),  # this machine takes three times as long as was told
        ({"a": None, "b": None, "c": None}, {"a": 8}, {}, 8, 1, 16),  # as what has ended, on average
        ({"a": 10, "b": 10, "c": 10, "d": 10}, {"a": 10, "b": 10}, {}, 10, 1, 10),  # two at a time
        ({"a": 10, "b": 10, "c": 40}, {"a": 10}, {"c": 10, "b": 0}, 10, 1, 30),  # not before the longest
        ({"a": 10, "b": 10}, {"a": 10}, {"b": 25}, 35, 1, 0),  # longer than expected: any moment
        ({"a": 0, "b": 5}, {"a": 2}, {}, 2, None, 2),  # what has no size tells no pace
        ({"a": 10}, {"a": 10}, {}, 10, 1, 0),
    ],
)
def test_time_left_is_worked_out_by_hand(sizes, ended, running, seconds, pace, expected) -> None:
    assert seconds_left(sizes, ended, running, seconds, pace=pace) == (
        None if expected is None else pytest.approx(expected)
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0, "about 5 s left"),
        (88, "about 90 s left"),
        (90, "about 2 min left"),
        (5399, "about 90 min left"),
        (7199, "about 2 h 0 min left"),
    ],
)
def test_time_is_rounded_for_people(seconds: float | None, words: str) -> None:
    assert in_words(seconds) == words


def test_steps_are_counted_and_what_is_left_out_no_longer_waits() -> None:
    said: list[str] = []
    now = iter([0.0, 30.0, 30.0, 50.0])
    steps = Steps({"a": 3, "b": 3, "c": 3, "d": 4}, said.append, lambda: next(now))
    steps.begin("a", "first")
    steps.begin("b", "second")  # 30 s for a size of 3
    steps.leave_out(["b", "c"])
    steps.begin("d", "last")
    assert said == ["[ 1/ 4] first", "[ 2/ 4] second; about 2 min left", "[ 2/ 2] last; about 40 s left"]


def test_a_bench_knows_its_steps_before_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step that a bench plans begins once; those of pictures go where the kind of model does not allow them."""
    own = measure.Bench(None, None, measure.SIZES["laptop"])

    def real(self: measure.Bench, modality: str) -> None:
        if modality == "vision":
            raise ModelError("no pictures")
        self.begin("text: real", "texts")

    def planted(self: measure.Bench, modality: str) -> None:
        for name in list(self.steps(modality))[1:]:
            self.begin(name, name)

    monkeypatch.setattr(measure.Bench, "real", real)
    monkeypatch.setattr(measure.Bench, "planted", planted)
    said: list[str] = []
    bench._measure(own, ("vision", "text"), [], said.append)
    steps = own.steps("text")
    assert [line.partition("]")[0] for line in said] == [f"[{k:>2}/{len(steps):>2}" for k in range(1, len(steps) + 1)]
    # What is trained takes nearly all of the time.
    assert sum(steps[f"text: {name}"] for name in measure._TRAINED) + steps["text: real"] > 0.9 * sum(steps.values())


def test_sizes_of_jobs_are_seconds_of_earlier_runs(home: Path) -> None:
    jobs = plan("laptop")
    assert set(sizes_of(jobs).values()) == {None}
    took = {"movie_0": 30.0, "movie_1": 10.0, "bbc_0": 20.0}
    for job in jobs:
        if job.slug in took:
            tiny.finish(job)
            told = json.loads(job.manifest.read_text()) | {"seconds": took[job.slug]}
            (earlier := job.folder.with_name(f"{job.slug}-0123456789ab")).mkdir()  # of other code
            (earlier / MANIFEST).write_text(json.dumps(told))
            job.manifest.unlink()
    found = sizes_of(jobs)
    assert {job.slug: found[job.label] for job in jobs} == {**took, "bbc_1": 20.0, "all": None}


def test_a_training_takes_as_long_as_its_card_says() -> None:
    sizes = sizes_of(trainings("laptop"))
    assert all(size for size in sizes.values())


def test_a_build_says_what_is_left(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three of five notebooks end at once, and two take as long as those."""
    jobs = plan("laptop")

    class Scheduler:
        """Ends a job at each look."""

        def __init__(self) -> None:
            self.waiting = list(jobs)

        def poll(self) -> int | None:
            if self.waiting:
                tiny.finish(self.waiting.pop(0))
            return None if self.waiting else 0

        def wait(self, seconds: float) -> None: ...

    console = build.Console(highlight=False, soft_wrap=True)
    build._watch(Scheduler(), jobs, time.time() - 100, console)  # type: ignore[arg-type]
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("]")[0] for line in lines] == [f"[  {k}/5" for k in range(1, 6)]
    assert all(" left" in line for line in lines[:-1]) and " left" not in lines[-1]
