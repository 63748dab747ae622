"""Calibration: worlds have the truth they say, the rules are asked by their own functions, and the rates are whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from faithbook.paths import root
from faithbook.stats import calibrate
from faithbook.stats.calibrate import World
from faithbook.stats.inference import Student
from faithbook.stats.verdict import direction
from faithlib.errors import UnknownNameError


@pytest.mark.parametrize("shape", [*calibrate.SHAPES, "NC of attention"])
def test_a_world_has_the_true_mean_that_it_says(shape: str) -> None:
    world = World(shape, (60,))
    [estimate] = world.estimates(4000)
    assert np.shape(estimate.point) == (4000, 1)
    assert np.mean(estimate.point) == pytest.approx(world.truth, abs=4 * world.error / np.sqrt(4000))
    assert np.std(estimate.point) == pytest.approx(world.error, rel=0.1)


def test_strata_of_unequal_size_have_equal_weight() -> None:
    world = World("normal", (200, 12))
    [estimate] = world.estimates(3000)
    assert estimate.clusters.tolist() == [200, 12]
    assert np.std(estimate.point) == pytest.approx(np.sqrt(1 / 200 + 1 / 12) / 2, rel=0.05)


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="shape of values"):
        calibrate.shaped("norml", np.zeros(3))


def test_worlds_are_judged_as_claims_are() -> None:
    world = World("normal", (24,), 4, 0.5)
    verdicts = calibrate.judged(world, "t", 50, {"all": lambda parts: direction(parts, "most")})["all"]
    [estimate] = world.estimates(50)
    for number in range(50):
        alone = Student(
            estimate.point[number], estimate.error_and_df[0][number], estimate.error_and_df[1][number], np.full(4, 24)
        )
        assert direction(alone, "most").verdict is verdicts[number]


@pytest.mark.parametrize("shape", ["normal", "paired 0/1"])
def test_rates_of_error_keep_their_promise_where_nothing_is_skewed(shape: str) -> None:
    rows = pd.DataFrame(calibrate.rates_of(World(shape, (60,)), "t", 2000))
    rows = rows[~rows["rule"].str.startswith("interval")]
    assert calibrate.kept(rows).all(), rows[~calibrate.kept(rows)]


def test_the_committed_rates_are_of_every_kind_of_world_beside_those_before() -> None:
    rates = pd.read_csv(root() / calibrate.RATES, dtype={"clusters": str})
    assert [*calibrate.KEYS, "worlds", "rate", "promised", "before"] == list(rates.columns)
    assert not rates.duplicated(calibrate.KEYS).any()
    for world in calibrate.all_worlds():
        clusters = "+".join(map(str, world.clusters))
        assert (
            (rates["shape"] == world.shape) & (rates["clusters"] == clusters) & (rates["parts"] == world.parts)
        ).any()
    one = rates[(rates["test"] == "t") & (rates["parts"] == 1) & (rates["rule"] == "direction, all")]
    assert one["before"].notna().all()
    # What is not skewed keeps its promise everywhere.
    symmetric = rates[
        (rates["test"] == "t") & rates["shape"].isin(["normal", "uniform"]) & (rates["answer"] != "covered")
    ]
    assert calibrate.kept(symmetric).mean() > 0.97
