"""Calibration: worlds have the truth they say, the rules are asked by their own functions, and the rates are whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from faithbook.judge import error_rates
from faithbook.judge.reference import committed_board
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


def committed_rates() -> pd.DataFrame:
    return error_rates.with_promise(pd.read_csv(root() / calibrate.RATES, dtype={"clusters": str}))


def test_a_shape_names_the_numbers_of_clusters_that_break_the_promise() -> None:
    table = error_rates.of_shapes(committed_rates()).set_index("values")
    assert set(table.index) == {*calibrate.SHAPES, *calibrate.stored()}
    beyond = table["clusters with a rate beyond 2.5 in 100"]
    assert beyond["exponential"] == "wrongly not reproduced: 10, 24, 60, 200, 200+12"
    assert beyond["share of .95"] == "wrongly reproduced: 60, 200, 200+12"
    assert beyond["paired 0/1"] == "–"
    # One rate more that is kept, or not, moves the cell.
    kept_all = committed_rates().assign(kept=True)
    assert set(error_rates.of_shapes(kept_all)["clusters with a rate beyond 2.5 in 100"]) == {"–"}


def test_a_claim_has_the_rates_of_its_own_rule_test_and_size() -> None:
    rates, table = committed_rates(), error_rates.of_claims(committed_rates(), committed_board())
    by_claim = table.set_index("id")
    assert list(by_claim.index) == list(error_rates.ABOUT)
    adversarial = by_claim.loc["naopc_c06"]
    assert adversarial["clusters simulated, of n"] == "60 of 60"
    assert adversarial[error_rates.BEYOND] == ["wrongly not reproduced"]
    shown = error_rates.claims_in_words(table).set_index("id")[error_rates.BEYOND]
    assert shown["naopc_c06"] == "wrongly not reproduced" and shown["xl_c02"] == "no"
    same = rates[
        (rates["shape"] == "AOPC, robust minus standard") & (rates["clusters"] == "60") & (rates["parts"] == 1)
    ]
    same = same[(same["test"] == "t") & (same["rule"] == "direction, all")].set_index("answer")["rate"]
    assert adversarial["wrongly reproduced"] == same["yes"]
    assert adversarial["wrongly not reproduced"] == same["no"]
    # A claim with a declared test has the rates of that test.
    assert by_claim.loc["together_q5", "values like"].endswith("(score test)")
    for name, sizes in by_claim["clusters simulated, of n"].items():
        simulated, n = map(int, sizes.split(" of "))
        assert simulated <= n, name


def test_every_shape_is_in_one_of_the_three_lists_of_the_sentence() -> None:
    rates = committed_rates()
    first, _, second = error_rates.in_sentences(rates, error_rates.of_claims(rates, committed_board())).partition(
        "\n\n"
    )
    assert "with that rate: *naopc_c06*. " in second
    for shape in (*calibrate.SHAPES, *calibrate.stored()):
        assert first.count(f"*{shape}*") == 1, shape
