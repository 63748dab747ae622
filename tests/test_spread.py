"""Spread taken apart, against slow loops and known worlds; messages that metrics share are drawn together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from faithbook.results import resampling, spread
from faithlib.errors import InputError

MESSAGES = [f"m{i}" for i in range(24)]


def world(*, messages: int = 24, rows: int = 9, signal: float = 1.0, seed: int = 0) -> np.ndarray:
    """Values [messages, rows]: what a row has on every message, what a message has on every row, and noise."""
    generator = np.random.default_rng(seed)
    own = signal * generator.normal(size=(1, rows))
    return own + 3 * generator.normal(size=(messages, 1)) + generator.normal(size=(messages, rows))


def test_parts_of_the_variance_are_those_of_a_loop_over_pairs() -> None:
    values = world(messages=7, rows=4)
    counts = np.vstack([np.full(7, 1), [3, 0, 2, 0, 1, 1, 0]]).astype(float)
    shared, whole = spread.variance_parts(values, counts)
    centred = values - values.mean(axis=1, keepdims=True)
    for draw, times in enumerate(np.vstack([np.ones(7), counts]).astype(int)):
        copies = [message for message, number in enumerate(times) for _ in range(number)]
        pairs = [(centred[i] * centred[j]).mean() for i, j in itertools.product(copies, copies) if i != j]
        assert shared[draw] == pytest.approx(np.mean(pairs))
        assert whole[draw] == pytest.approx(np.mean([(centred[i] ** 2).mean() for i in copies]))
    assert shared[0] == shared[1] and whole[0] == whole[1]


def test_one_message_over_and_over_has_nothing_to_share() -> None:
    shared, _ = spread.variance_parts(world(messages=3), np.array([[3.0, 0, 0]]))
    assert np.isnan(shared[1]) and not np.isnan(shared[0])
    with pytest.raises(InputError, match="3 messages, counts of 4"):
        spread.variance_parts(world(messages=3), np.ones((2, 4)))


def test_equal_rows_have_no_signal_and_clear_ones_have_much() -> None:
    nothing = spread.Spread(world(messages=60, signal=0))
    assert spread.as_interval(nothing.share, 60).contains(0)
    much = spread.Spread(world(messages=60, signal=3))
    assert spread.as_interval(much.share, 60).low > 0.5
    assert nothing.seen[0] == pytest.approx(nothing.noise[0], abs=0.1)
    assert much.noise_with(240)[0] == pytest.approx(much.noise[0] / 2)


# -------------------------------------------------------------------------------------------- messages drawn together
def test_two_metrics_of_the_same_messages_are_drawn_alike() -> None:
    """Drawn apart, a metric less itself had an interval as wide as that of two unrelated ones."""
    values = world()
    turned = [*reversed(range(24))]
    counts = resampling.drawn_together({"a": MESSAGES, "b": [MESSAGES[i] for i in turned]}, 300, seed=0)
    one, other = spread.Spread(values, counts["a"]), spread.Spread(values[turned], counts["b"])
    assert np.abs(one.share - other.share)[1:].max() < 1e-12
    apart = spread.Spread(values, seed=1).share - spread.Spread(values, seed=0).share
    assert apart[1:].std() > 0.01


def test_a_shared_message_is_drawn_as_often_in_both_and_no_metric_changes_its_number() -> None:
    own = {"rho": MESSAGES[:16], "erasure": MESSAGES[10:]}
    counts = resampling.drawn_together(own, 400, seed=3)
    assert (counts["rho"][:, 10:] == counts["erasure"][:, :6]).all()
    for name, messages in own.items():
        assert counts[name].shape == (400, len(messages))
        assert (counts[name].sum(axis=1) == len(messages)).all()
        assert counts[name].mean(axis=0) == pytest.approx(np.ones(len(messages)), abs=0.25)
    with pytest.raises(InputError, match="expected each once"):
        resampling.drawn_together({"rho": ["x", "x"]}, 2, seed=0)


def test_subsets_of_the_same_messages_are_the_same_subsets() -> None:
    gaps = spread.differences(world(signal=0.3))
    turned = [*reversed(range(24))]
    found = spread.told_apart_together(
        {"a": gaps, "b": gaps[turned]}, {"a": MESSAGES, "b": [MESSAGES[i] for i in turned]}, 12, subsets=50
    )
    assert found["a"] == pytest.approx(found["b"])
    assert found["a"].std() > 0
    with pytest.raises(InputError, match="25 or more"):
        spread.told_apart_together({"a": gaps}, {"a": MESSAGES}, 25)


def test_subsets_drawn_together_are_each_any_subset() -> None:
    gaps = spread.differences(world(signal=0.3))
    together = spread.told_apart_together(
        {"a": gaps, "b": gaps[:20]}, {"a": MESSAGES, "b": MESSAGES[:20]}, 8, subsets=400
    )
    alone = spread.told_apart_by_subsets(gaps, 8, subsets=400, seed=5)
    assert together["a"].mean() == pytest.approx(alone.mean(), abs=0.01)
    assert together["a"].std() == pytest.approx(alone.std(), abs=0.01)


def test_equal_rows_are_told_apart_one_time_in_twenty() -> None:
    values = np.random.default_rng(0).normal(size=(20, 40))
    assert spread.told_apart(spread.differences(values)) == pytest.approx(0.05, abs=0.03)
    assert spread.told_apart(spread.differences(values + np.arange(40) * 9)) == 1


def test_an_order_repeats_where_there_is_one() -> None:
    assert spread.repeated_order(world(signal=9), 12).mean() > 0.8
    assert abs(spread.repeated_order(world(signal=0, seed=4), 12).mean()) < 0.3
    with pytest.raises(InputError, match="at least 26"):
        spread.repeated_order(world(), 13)
