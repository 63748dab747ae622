"""Means of conditions: paired, clustered, within strata; and how many inputs would decide."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from numpy.typing import ArrayLike
from refusals import refused

from faithbook.stats import needed
from faithbook.stats import verdict as rules
from faithbook.stats.comparison import Comparison, combined
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Estimate
from faithbook.stats.inference import Student
from faithbook.stats.verdict import Verdict
from faithlib.errors import InputError, UnknownNameError

RESAMPLES = 1999
Ends = tuple[float, float]


def world(values: dict[str, ArrayLike], bounds: Ends = (-math.inf, math.inf), **columns: ArrayLike) -> Conditions:
    """Conditions of one method each, the same inputs under all."""
    frame = pd.concat(
        pd.DataFrame({"method": name, "value": own, **columns}).rename_axis("id").reset_index()
        for name, own in values.items()
    )
    named = {name: name for name in ("cluster", "stratum") if name in columns}
    return Conditions.of(frame, over=["method"], unit="id", bounds=bounds, n_resamples=RESAMPLES, **named)


def noise(n: int, mean: float = 0.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


def one(values: ArrayLike, bounds: Ends = (-math.inf, math.inf), **columns: ArrayLike) -> Estimate:
    return world({"a": values}, bounds, **columns).mean()


def test_a_difference_is_paired() -> None:
    base, apart = noise(40, seed=1), 0.1 * noise(40, seed=2) + 0.1
    cells = world({"a": base + apart, "b": base})
    gap = cells.mean(method="a") - cells.mean(method="b")
    assert gap.point == pytest.approx(apart.mean())
    assert gap.standard_error == pytest.approx(scipy.stats.sem(apart), rel=0.05)


def test_a_cluster_counts_once() -> None:
    values = noise(12, 1.0)
    clustered, alone = one(np.tile(values, 2), cluster=[*range(12)] * 2), one(values)
    assert clustered.fewest == alone.fewest == 12
    assert clustered.n == 24
    assert clustered.standard_error == pytest.approx(alone.standard_error)
    assert clustered.interval().low == pytest.approx(alone.interval().low)


def test_strata_keep_their_sizes_and_their_difference_is_no_noise() -> None:
    values = np.concatenate([np.zeros(10), np.ones(10)]) + 1e-3 * noise(20)
    apart = one(values, stratum=["x"] * 10 + ["y"] * 10)
    assert apart.standard_error < 1e-3 < one(values).standard_error
    assert set(apart.resamples.counts[:, :10].sum(1)) == {10.0}
    assert apart.clusters.tolist() == [10, 10]


def test_conditions_of_few_units_are_resampled_as_those_of_all() -> None:
    generator, places = np.random.default_rng(1), itertools.product(range(40), "abcdefghijkl")
    frame = pd.DataFrame([(unit, cell) for unit, cell in places if generator.random() < 0.3], columns=["id", "cell"])
    frame["value"] = generator.normal(size=len(frame))
    cells = Conditions.of(frame, over=["cell"], unit="id", n_resamples=50)
    for names in (*"abcdefghijkl", "a", ["a", "b"], list("abcdefghijkl")):
        own = [frame[frame.cell == name].set_index("id").value.reindex(range(40)) for name in names]
        slow = [
            np.mean([np.nansum(times * column) / (times * column.notna()).sum() for column in own])
            for times in cells.resamples.counts
        ]
        found = cells.mean(cell=names)
        assert (found.point, found.n) == (pytest.approx(np.mean([x.mean() for x in own])), min(x.count() for x in own))
        assert found.replicates == pytest.approx(np.array(slow), nan_ok=True)


def test_a_mean_over_conditions_of_two_strata_has_the_error_of_both() -> None:
    frame = pd.DataFrame({"id": range(60), "dataset": ["x"] * 40 + ["y"] * 20, "value": noise(60)})
    cells = Conditions.of(frame, over=["dataset"], unit="id", stratum="dataset", n_resamples=9999)
    both = cells.mean()
    expected = 0.5 * math.sqrt(sum(scipy.stats.sem(part) ** 2 for _, part in frame.groupby("dataset")["value"]))
    assert both.standard_error == pytest.approx(expected, rel=0.03)
    assert both.clusters.tolist() == [40, 20]
    assert cells.mean(dataset="x").clusters.tolist() == [40, 0]


def test_what_is_shown_is_cut_to_the_range_and_what_is_tested_is_not() -> None:
    almost_one = one(np.r_[np.ones(19), 0.5], bounds=(0, 1))
    assert almost_one.interval().high == 1.0
    assert Student.of([almost_one]).interval()[1][0] > 1.0
    never_other = one(np.ones(20), bounds=(0, 1)).interval()
    assert never_other.estimate == 1.0 and math.isnan(never_other.low)


def test_the_spread_between_seeds_adds_to_how_far_ours_lies_from_the_published() -> None:
    rows = [(i, seed, value + seed) for seed in (0, 1, 2) for i, value in enumerate(noise(20))]
    frame = pd.DataFrame(rows, columns=["id", "seed", "value"]).assign(method="a")
    cells = Conditions.of(frame, over=["method"], unit="id", n_resamples=RESAMPLES)
    seeds, ours = cells.by_seed(method="a"), cells.mean(method="a")
    assert np.diff(seeds) == pytest.approx([1.0, 1.0])
    pair = Comparison(ours, 0.0, seeds=seeds)
    error = math.sqrt(ours.standard_error**2 + seeds.var(ddof=1) / 3)
    assert pair.z_difference == pytest.approx(float(ours.point) / error)
    assert (pair * 2.0).seeds == pytest.approx(2 * seeds)
    assert combined(lambda values: values[..., 0] - values[..., 1], [pair, pair]).seeds == pytest.approx(np.zeros(3))


def test_what_cannot_be_is_refused() -> None:
    frame = pd.DataFrame({"id": [1, 2], "m": ["a", "a"], "value": [1.0, np.nan]})
    cells, other = (Conditions.of(frame, over=["m"], unit="id", n_resamples=9) for _ in range(2))
    for error, sentence, call in (
        (InputError, "lacks the columns", lambda: Conditions.of(frame, over=["metric"], unit="id")),
        (InputError, "no rows", lambda: Conditions.of(frame[:0], over=["m"], unit="id")),
        (UnknownNameError, "cell label", lambda: cells.mean(method="a")),
        (InputError, "no cell has", lambda: cells.mean(m="b")),
        (InputError, "different resamples", lambda: cells.mean() - other.mean()),
        (InputError, "ratio to an estimate that is zero", lambda: cells.mean() / (cells.mean() * 0.0)),
        (InputError, "no quantities", lambda: combined(np.mean, [])),
    ):
        refused(error, sentence, call)


# --- how many inputs ----------------------------------------------------------------------------------------------


def student(points: list[float], error: float, n: int) -> Student:
    m = len(points)
    return Student(np.array(points), np.full(m, error), np.full(m, n - 1.0), np.full(m, n))


@pytest.mark.parametrize("points", [[0.06, 0.05, -0.02], [0.06, 0.05], [-0.1, -0.02]])
@pytest.mark.parametrize("k", ["all", 1])
def test_with_as_many_inputs_as_would_decide_the_rule_decides(points: list[float], k: int | str) -> None:
    def rule(parts: Student) -> rules.Result:
        return rules.direction(parts, k)

    spread, n = 0.3, 20
    found = needed.inputs_to_decide(rule, student(points, spread / math.sqrt(n), n), n)
    assert found is not None and found > n
    # With a power of .8: a sample that lies .84 standard errors on the wrong side is still decided.
    error = spread / math.sqrt(found)
    unlucky = [point - np.sign(point) * 0.84 * error for point in points]
    assert rule(student(unlucky, error, found)).verdict is not Verdict.UNDECIDED
    fewer = found // 2
    error = spread / math.sqrt(fewer)
    unlucky = [point - np.sign(point) * 0.84 * error for point in points]
    assert rule(student(unlucky, error, fewer)).verdict is Verdict.UNDECIDED


def test_what_lies_on_the_line_is_decided_by_no_number_of_inputs() -> None:
    assert needed.inputs_to_decide(rules.direction, student([0.0], 0.1, 20), 20) is None


def test_how_many_inputs_tell_an_effect_from_zero() -> None:
    [effect] = [one(noise(50, 0.5, seed=3))]
    expected = 50 * ((1.96 + 0.8416) * effect.standard_error / float(effect.point)) ** 2
    assert needed.how_many(effect) == pytest.approx(expected, abs=1)
    assert math.isinf(needed.how_many(effect, float(effect.point)))
    assert needed.smallest_detectable(effect) == pytest.approx((2.01 + 0.849) * effect.standard_error, rel=0.01)


def test_a_resample_without_a_rare_condition_has_no_mean_of_it() -> None:
    """It is undefined and not infinite: rounding can leave a sum of no values that is not quite zero."""
    values = noise(200, seed=1)
    rare = np.where(np.isin(np.arange(200), [11, 87, 150]), values, np.nan)
    estimate = world({"common": values, "rare": rare}).mean(method="rare")
    assert not np.isinf(estimate.deviations).any() and np.isnan(estimate.deviations).any()
    assert estimate.standard_error > 0
