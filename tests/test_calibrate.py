"""Calibration: worlds have the truth they say, the rules are asked by their own functions, and the rates are whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from faithbook.judge import analysis_plan, claim_rates, error_rates
from faithbook.judge.reference import committed_board
from faithbook.paths import root
from faithbook.stats import calibrate
from faithbook.stats.calibrate import World
from faithbook.stats.estimate import Estimate, Resamples, combined, mean
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
    verdicts = calibrate.verdicts_of_rules(world, "t", 50, {"all": lambda parts: direction(parts, "most")})["all"]
    [estimate] = world.estimates(50)
    for number in range(50):
        alone = Student(
            estimate.point[number], estimate.error_and_df[0][number], estimate.error_and_df[1][number], np.full(4, 24)
        )
        assert direction(alone, "most").verdict is verdicts[number]


@pytest.mark.parametrize("shape", ["normal", "paired 0/1"])
def test_rates_of_error_keep_their_promise_where_nothing_is_skewed(shape: str) -> None:
    rows = pd.DataFrame(calibrate.rates_in_world(World(shape, (60,)), "t", 2000))
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
    single = rates[(rates["test"] == "t") & (rates["parts"] == 1) & (rates["rule"] == "direction, all")]
    assert single["before"].notna().all()
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


def test_a_claim_has_the_rates_of_its_own_rule_and_values() -> None:
    board = committed_board()
    table = error_rates.of_claims(committed_rates(), board)
    own = error_rates.rates_of_claims().set_index("id")
    by_claim = table.drop_duplicates("id").set_index("id")
    # Every finding that a rule about comparisons judges is there, but for those that the book decides without them.
    judged = board.set_index("id")["decision"].reindex(sorted(error_rates.of_parts()))
    decided = judged.index[~judged.isin(["not tested", "nothing to test"])]
    assert set(decided) <= set(by_claim.index)
    assert by_claim.loc["naopc_c06", "wrongly not reproduced"] == own.loc["naopc_c06", "wrong_no"]
    assert (own["clusters"] >= 10).mean() > 0.9 and (own["worlds"] == claim_rates.WORLDS).all()
    # A claim with a declared test has the rates of that test.
    assert by_claim.loc["together_q5", "values like"].endswith("(score test)")
    # What is beyond the promise is so by its Monte Carlo interval, and is told where the decision is on that side.
    told = error_rates.rates_beyond_promise(board)
    for name, rate in told.items():
        side = "wrong_yes" if judged[name] == "reproduced" else "wrong_no"
        assert rate > calibrate.PROMISE and rate in set(
            own.loc[[claim for claim in own.index if claim.split("/")[0] == name], side]
        )
        assert f"{100 * rate:.1f} of 100" in error_rates.said_of(name, judged[name])
    quiet = next(name for name in decided if name not in told)
    assert error_rates.said_of(quiet, judged[quiet]) == ""


def made(values: np.ndarray, strata: np.ndarray, number: int = 999) -> Estimate:
    return mean(values, Resamples.draw(strata, number, 0))


def test_worlds_of_a_claim_are_draws_of_its_clusters_with_their_dependence() -> None:
    generator = np.random.default_rng(0)
    first = generator.exponential(size=60)
    strata = np.repeat([0, 1], [48, 12])
    resamples = Resamples.draw(strata, 999, 0)
    of_strata = [mean(np.where(strata == h, first, np.nan), resamples) for h in (0, 1)]
    part = (of_strata[0] + of_strata[1]) / 2
    world = claim_rates.null_worlds([part, part * 2.0], 4000)
    assert np.allclose(world.point[:, 1], 2 * world.point[:, 0])
    assert np.mean(world.point[:, 0]) == pytest.approx(0.0, abs=0.01)
    # The spread over worlds is the standard error that the test estimates, and so are, on average, those of the worlds.
    error, df = part.error_and_df
    assert np.std(world.point[:, 0]) == pytest.approx(float(error), rel=0.08)
    assert np.sqrt(np.mean(world.error[:, 0] ** 2)) == pytest.approx(float(error), rel=0.08)
    assert np.median(world.df[:, 0]) == pytest.approx(float(df), rel=0.35)


def test_what_clusters_add_to_a_curved_estimate_is_found_from_its_replicates() -> None:
    values = np.random.default_rng(1).normal(1.0, 0.2, size=40)
    part = made(values, np.zeros(40))
    squared = combined(lambda both: both[..., 0] ** 2, [part])
    expected = 2 * float(part.point) * claim_rates.added(part)  # the derivative of a square
    assert np.corrcoef(claim_rates.added(squared), expected)[0, 1] > 0.99


@pytest.mark.parametrize(
    ("rule", "k"), [("direction", "all"), ("direction", "most"), ("each", "all"), ("within", "all")]
)
def test_normal_values_keep_the_promise_under_every_rule_about_comparisons(rule: str, k: str) -> None:
    values = np.random.default_rng(2).normal(size=(200, 3))
    resamples = Resamples.draw(np.zeros(200), 999, 0)
    parts = [mean(values[:, number], resamples) for number in range(3)]
    of_plan = replace(analysis_plan.rule("saco_c04"), rule=rule, k=k, low=-0.5, high=0.5, margin=None)
    rates = claim_rates.rates_of_claim(claim_rates.Asked("a", of_plan, parts, of_plan.needed(3)), 3000)
    for side in error_rates.SIDES:
        assert rates[side] <= 0.033, (rule, side)
    assert max(rates[side] for side in error_rates.SIDES) > 0.01  # the truth is where an error is likeliest


def test_every_shape_is_in_one_of_the_three_lists_of_the_sentence() -> None:
    rates = committed_rates()
    first, _, second = error_rates.in_sentences(rates, error_rates.of_claims(rates, committed_board())).partition(
        "\n\n"
    )
    assert "with that rate, and its claim says so" in second
    for shape in (*calibrate.SHAPES, *calibrate.stored()):
        assert first.count(f"*{shape}*") == 1, shape
