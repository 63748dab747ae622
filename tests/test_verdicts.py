"""Estimates, named tests and rules: their properties, against scipy, and in worlds in which the answer is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint, proportions_ztest
from statsmodels.stats.weightstats import DescrStatsW, ttost_ind, ttost_paired

from faithbook.stats import verdict as rules
from faithbook.stats.estimate import ALPHA, Estimate, Resamples, average, combined, log_ratio, mean
from faithbook.stats.inference import TESTS, BootstrapT, McNemar, Score, Student, holm
from faithbook.stats.verdict import Verdict
from faithlib.errors import InputError

RESAMPLES = 999


def conditions(values: ArrayLike, strata: ArrayLike | None = None, number: int = RESAMPLES) -> list[Estimate]:
    """The means of conditions [K, C], every cluster one value."""
    columns = np.asarray(values, dtype=float)
    stratum = np.zeros(len(columns)) if strata is None else strata
    resamples = Resamples.draw(stratum, number)
    return [mean(column, resamples) for column in columns.T]


def noise(n: int, c: int = 1, shift: ArrayLike = 0.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, c)) + shift


def facts(estimate: Estimate) -> tuple[float, ...]:
    test = Student.of([estimate])
    low, high = test.interval()
    return (*low, *high, *test.p_above(0.1), *test.p_below(0.1))


# --- estimates -------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(10, 40), st.integers(10, 40), st.integers(0, 10_000))
def test_how_an_expression_is_written_makes_no_difference(first: int, second: int, seed: int) -> None:
    strata = np.repeat([0, 1], [first, second])
    a, b = conditions(noise(first + second, 2, [0.3, 0.0], seed), strata)
    expected = facts(a - b)
    same = [
        (a - b) + 0.0,
        (a - b) * 1.0,
        -(b - a),
        0.5 * (2.0 * a - 2.0 * b),
        (a + 1.0) - (b + 1.0),
        (a + b) - 2.0 * b,
        (a - b) / 4.0 * 4.0,
        1.0 - (1.0 - (a - b)),
        combined(lambda values: values[..., 0] - values[..., 1], [a, b]),
    ]
    for estimate in same:
        np.testing.assert_allclose(facts(estimate), expected, rtol=1e-7, atol=1e-9)


def test_units_do_not_matter() -> None:
    a, b = conditions(noise(30, 2, [0.3, 0.0]))
    for test in (Student, BootstrapT):
        plain, scaled = test.of([a - b]), test.of([1000.0 * (a - b)])
        np.testing.assert_allclose(scaled.interval(), 1000.0 * np.array(plain.interval()))
        np.testing.assert_allclose(scaled.p_above(100.0), plain.p_above(0.1))


def test_a_mean_has_the_standard_error_and_the_p_value_of_a_t_test() -> None:
    values = noise(30, 1, 0.4)
    [estimate] = conditions(values, number=9999)
    test = Student.of([estimate])
    assert test.error == pytest.approx(scipy.stats.sem(values), rel=0.02)
    expected = scipy.stats.ttest_1samp(values[:, 0], 0.0, alternative="greater")
    assert test.p_above(0.0) == pytest.approx(expected.pvalue, rel=0.15)
    assert test.df == pytest.approx(29)


def test_two_strata_of_the_same_weight_have_the_degrees_of_freedom_of_welch() -> None:
    large, small = noise(200, 1, seed=1)[:, 0], 3 * noise(12, 1, seed=2)[:, 0]
    both = np.concatenate([large, small])
    resamples = Resamples.draw(np.repeat(["a", "b"], [200, 12]), 9999)
    first = mean(np.where(np.arange(212) < 200, both, np.nan), resamples)
    second = mean(np.where(np.arange(212) >= 200, both, np.nan), resamples)
    difference = first - second
    assert difference.clusters.tolist() == [200, 12]
    assert difference.fewest == 12
    expected = scipy.stats.ttest_ind(large, small, equal_var=False)
    test = Student.of([difference])
    assert test.df == pytest.approx(expected.df, rel=0.1)
    assert test.p_above(0.0) + test.p_below(0.0) == pytest.approx(1.0)
    assert 2 * min(test.p_above(0.0)[0], test.p_below(0.0)[0]) == pytest.approx(expected.pvalue, rel=0.1)


def test_a_mean_over_inputs_counts_every_input_of_a_cluster() -> None:
    resamples = Resamples.draw(np.zeros(3), 99)
    estimate = mean([1.0, 5.0, np.nan], resamples, counts=[1, 3, 7])
    assert float(estimate.point) == 1.5
    assert estimate.clusters.tolist() == [2]
    assert estimate.n == 4


def test_many_estimates_at_once_are_the_estimates_one_by_one() -> None:
    values = noise(24, 6, 0.2).reshape(24, 2, 3)
    resamples = Resamples.draw(np.repeat([0, 1], 12), RESAMPLES)
    for test in (Student, BootstrapT):
        many = test.of_many(mean(values, resamples))
        for i, j in np.ndindex(2, 3):
            single = test.of([mean(values[:, i, j], resamples)])
            np.testing.assert_allclose(many.p_above(0.1)[i, j], single.p_above(0.1)[0])
            np.testing.assert_allclose([end[i, j] for end in many.interval()], np.ravel(single.interval()))


def test_a_ratio_is_tested_by_its_logarithm() -> None:
    a, b = conditions(np.exp(0.1 * noise(40, 2, [1.0, 0.3])))
    ratio = log_ratio(a, b)
    low, high = Student.of([ratio]).interval()
    assert low[0] < math.log(a.point / b.point) < high[0]
    np.testing.assert_allclose(log_ratio(b, a).point, -ratio.point)


def test_strata_stay_apart_in_what_is_no_linear_combination() -> None:
    strata = np.repeat([0, 1], 15)
    columns = conditions(noise(30, 3), strata)
    linear, general = average(columns), combined(lambda values: values.mean(axis=-1), columns)
    np.testing.assert_allclose(general.deviations, linear.deviations, atol=1e-12)
    assert general.contributions is None


def test_estimates_of_different_resamples_are_not_combined() -> None:
    [a], [b] = conditions(noise(12)), conditions(noise(12))
    with pytest.raises(InputError, match="different resamples"):
        a - b


# --- named tests -----------------------------------------------------------------------------------------------------


def parts_for(name: str, n: int, seed: int) -> rules.Inference:
    """Parts of a kind that each test takes."""
    values = np.random.default_rng(seed)
    if name == "score":
        return TESTS[name](conditions((values.random((n, 3)) < [0.2, 0.6, 0.97]).astype(float)))
    if name == "mcnemar":
        first, second = (values.random((n, 2)) < 0.7), (values.random((n, 2)) < 0.4)
        return TESTS[name](conditions(first.astype(float) - second))
    return TESTS[name](conditions(values.exponential(size=(n, 3)) - 0.5))


@pytest.mark.parametrize("name", TESTS)
@settings(max_examples=15, deadline=None)
@given(st.integers(10, 60), st.integers(0, 10_000))
def test_an_interval_excludes_what_a_p_value_rejects(name: str, n: int, seed: int) -> None:
    test = parts_for(name, n, seed)
    low, high = test.interval()
    for threshold in np.linspace(-0.9, 1.2, 43):
        rejected = np.minimum(test.p_above(threshold), test.p_below(threshold)) <= ALPHA
        outside = (threshold < low) | (threshold > high)
        near = np.minimum(np.abs(threshold - low), np.abs(threshold - high)) < 1e-9  # at an end, up to rounding
        assert ((rejected == outside) | near | np.isnan(low)).all()


@pytest.mark.parametrize("name", TESTS)
def test_p_values_are_monotone_in_the_threshold(name: str) -> None:
    test = parts_for(name, 25, 3)
    above = np.array([test.p_above(threshold) for threshold in np.linspace(-1, 1.5, 60)])
    below = np.array([test.p_below(threshold) for threshold in np.linspace(-1, 1.5, 60)])
    assert (np.diff(above, axis=0) >= -1e-12).all()
    assert (np.diff(below, axis=0) <= 1e-12).all()


def test_a_share_has_the_interval_of_wilson() -> None:
    values = np.array([[1.0]] * 17 + [[0.0]] * 3)
    test = Score.of(conditions(values, number=9999))
    assert test.size == pytest.approx(19, rel=0.05)  # the variance of a mean of n values, times n / (n - 1)
    exact = Score(np.array([0.85]), np.array([20.0]), np.array([20]))
    expected = scipy.stats.binomtest(17, 20).proportion_ci(method="wilson")
    np.testing.assert_allclose(np.ravel(exact.interval()), [expected.low, expected.high])


def test_a_share_without_spread_is_decided_by_its_own_test_alone() -> None:
    all_right = conditions(np.ones((20, 1)))
    assert rules.direction(Student.of(all_right), 1, 0.5).verdict is Verdict.UNDECIDED
    assert rules.direction(BootstrapT.of(all_right), 1, 0.5).verdict is Verdict.UNDECIDED
    assert rules.direction(Score.of(all_right), 1, 0.5).verdict is Verdict.YES


def test_a_share_of_clustered_inputs_counts_for_fewer() -> None:
    resamples = Resamples.draw(np.zeros(10), 9999)
    together = mean(np.array([5.0, 0.0] * 5), resamples, counts=np.full(10, 5.0), bounds=(0, 1))
    assert Score.of([together]).size == pytest.approx(9, rel=0.05)


def test_mcnemar_is_the_exact_test_on_the_pairs_that_differ() -> None:
    first = np.array([1] * 10 + [0] * 2 + [1] * 48, dtype=float)
    second = np.array([0] * 10 + [1] * 2 + [1] * 48, dtype=float)
    a, b = conditions(np.stack([first, second], axis=1))
    expected = scipy.stats.binomtest(10, 12, alternative="greater").pvalue
    for difference in (a - b, (a - b) * 1.0, (a - b) + 0.0, -(b - a)):
        test = McNemar.of([difference])
        assert test.p_above(0.0) == pytest.approx(expected)
        assert test.point == pytest.approx(8 / 60)


@pytest.mark.parametrize(
    ("name", "values"), [("score", [[1.5], [2.0]]), ("mcnemar", [[0.5], [0.2]]), ("mcnemar", [[3.0], [1.0]])]
)
def test_a_test_refuses_values_that_it_is_not_for(name: str, values: ArrayLike) -> None:
    with pytest.raises(InputError):
        TESTS[name](conditions(values))


def test_the_studentised_bootstrap_refuses_what_is_no_linear_combination() -> None:
    columns = conditions(noise(20, 2))
    with pytest.raises(InputError, match="linear"):
        BootstrapT.of([combined(lambda values: values.std(axis=-1), columns)])


@settings(max_examples=50)
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12))
def test_holm_is_the_closed_test_of_bonferroni(p: list[float]) -> None:
    """A claim survives exactly where every set of claims with it in is rejected by Bonferroni."""
    few = p[:6]
    kept = holm(few)
    for i in range(len(few)):
        sets = itertools.chain.from_iterable(itertools.combinations(range(len(few)), r) for r in range(1, len(few) + 1))
        closed = all(min(few[j] for j in chosen) <= ALPHA / len(chosen) for chosen in sets if i in chosen)
        assert kept[i] == closed


# --- the same tests in statsmodels -----------------------------------------------------------------------------------


def with_exact_error(estimate: Estimate, error: float) -> Student:
    """The test of an estimate whose standard error is the formula's. The bootstrap's has to lie within 3 % of it."""
    test = Student.of([estimate])
    assert test.error == pytest.approx(error, rel=0.03)
    return replace(test, error=np.array([error]))


@settings(max_examples=50)
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30))
def test_holm_is_that_of_statsmodels(p: list[float]) -> None:
    rejected, adjusted, *_ = multipletests(p, alpha=ALPHA, method="holm")
    near = np.abs(adjusted - ALPHA) < 1e-9  # a p-value that is the level itself, up to rounding
    assert ((holm(p) == rejected) | near).all()


@pytest.mark.parametrize(("right", "n"), [(17, 20), (3, 60), (59, 60), (0, 12), (12, 12), (500, 1000)])
def test_a_share_has_the_interval_and_the_score_test_of_statsmodels(right: int, n: int) -> None:
    share = Score(np.array([right / n]), np.array([float(n)]), np.array([n]))
    expected = proportion_confint(right, n, alpha=2 * ALPHA, method="wilson")
    np.testing.assert_allclose(np.ravel(share.interval()), expected, atol=1e-12)
    for tested in (0.1, 0.5, 0.8):
        _, above = proportions_ztest(right, n, value=tested, alternative="larger", prop_var=tested)
        _, below = proportions_ztest(right, n, value=tested, alternative="smaller", prop_var=tested)
        assert share.p_above(tested) == pytest.approx(above)
        assert share.p_below(tested) == pytest.approx(below)


@pytest.mark.parametrize("shift", [-0.3, 0.2, 0.5])
def test_paired_conditions_have_the_t_test_and_the_interval_of_statsmodels(shift: float) -> None:
    values = noise(40, 2, [shift, 0.0], seed=5)
    first, second = conditions(values, number=9999)
    expected = DescrStatsW(values[:, 0] - values[:, 1])
    difference = with_exact_error(first - second, expected.std_mean)
    for threshold in (-0.2, 0.0, 0.3):
        _, above, _ = expected.ttest_mean(threshold, alternative="larger")
        _, below, _ = expected.ttest_mean(threshold, alternative="smaller")
        assert difference.p_above(threshold) == pytest.approx(above)
        assert difference.p_below(threshold) == pytest.approx(below)
    np.testing.assert_allclose(np.ravel(difference.interval()), expected.tconfint_mean(2 * ALPHA))


@pytest.mark.parametrize(("wins", "losses"), [(10, 2), (3, 9), (6, 0), (4, 4)])
def test_mcnemar_is_that_of_statsmodels(wins: int, losses: int) -> None:
    both_right, both_wrong = 30, 18
    first = np.repeat([1.0, 1.0, 0.0, 0.0], [both_right, wins, losses, both_wrong])
    second = np.repeat([1.0, 0.0, 1.0, 0.0], [both_right, wins, losses, both_wrong])
    a, b = conditions(np.stack([first, second], axis=1))
    test = McNemar.of([a - b])
    expected = mcnemar([[both_right, wins], [losses, both_wrong]], exact=True).pvalue  # two-sided
    smaller = np.minimum(test.p_above(0.0), test.p_below(0.0))
    assert np.minimum(1.0, 2 * smaller) == pytest.approx(expected)
    # The interval is Clopper and Pearson's of the share of wins among the inputs that differ.
    differing = wins + losses
    ends = np.array(proportion_confint(wins, differing, alpha=2 * ALPHA, method="beta"))
    np.testing.assert_allclose(np.ravel(test.interval()), (2 * ends - 1) * differing / len(first), atol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.25, 0.6])
def test_equivalence_is_two_one_sided_tests_of_statsmodels(shift: float) -> None:
    margin, values = 0.4, noise(60, 2, [shift, 0.0], seed=6)
    first, second = conditions(values, number=9999)
    difference = DescrStatsW(values[:, 0] - values[:, 1])
    parts = with_exact_error(first - second, difference.std_mean)
    expected, *_ = ttost_paired(values[:, 0], values[:, 1], -margin, margin)
    assert rules.within(parts, -margin, margin).p_yes == pytest.approx(expected)
    # The rule for directions says "equivalent" where this test rejects and neither direction is clear.
    clear = difference.ttest_mean(0.0)[1] <= 2 * ALPHA
    verdict = rules.direction(parts, "all", 0.0, margin).verdict
    assert (verdict is Verdict.EQUIVALENT) == (expected <= ALPHA and not clear)


def test_equivalence_over_two_data_sets_is_that_of_statsmodels_with_unequal_variances() -> None:
    large, small = noise(200, 1, 0.1, seed=1)[:, 0], 1.5 * noise(30, 1, seed=2)[:, 0]
    values, is_large = np.concatenate([large, small]), np.arange(230) < 200
    resamples = Resamples.draw(is_large, 9999)
    first, second = (mean(np.where(chosen, values, np.nan), resamples) for chosen in (is_large, ~is_large))
    error = float(np.hypot(scipy.stats.sem(large), scipy.stats.sem(small)))
    found = rules.within(with_exact_error(first - second, error), -0.9, 0.9).p_yes
    expected, *_ = ttost_ind(large, small, -0.9, 0.9, usevar="unequal")
    assert found == pytest.approx(expected, rel=0.05)  # the degrees of freedom are still the bootstrap's


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_smallest_of_several_p_values_has_the_correction_of_bonferroni(k: int) -> None:
    p = np.random.default_rng(k).uniform(0, 0.2, 6)
    largest = np.sort(p)[k - 1 :]  # at least k hold: Bonferroni over the m - k + 1 that may fail
    adjusted = multipletests(largest, method="bonferroni")[1]
    assert rules.conjunction(p, k) == pytest.approx(adjusted.min())


# --- rules on parts --------------------------------------------------------------------------------------------------

WORLDS: list[tuple[Verdict, float, int]] = [
    (Verdict.YES, 0.6, 200),
    (Verdict.NO, -0.6, 200),
    (Verdict.EQUIVALENT, 0.0, 4000),
    (Verdict.UNDECIDED, 0.05, 12),
    (Verdict.NOT_TESTED, 2.0, 9),
]


@pytest.mark.parametrize(("expected", "shift", "n"), WORLDS)
@pytest.mark.parametrize("k", ["all", "most", 1])
def test_direction_reaches_every_answer(expected: Verdict, shift: float, n: int, k: int | str) -> None:
    parts = Student.of(conditions(noise(n, 3, shift)))
    assert rules.direction(parts, k, 0.0, 0.2).verdict is expected


EACH: list[tuple[Verdict, list[float], int]] = [
    (Verdict.YES, [0.6, 0.8], 200),
    (Verdict.NO, [-0.6, -0.8], 200),
    (Verdict.EQUIVALENT, [0.0, 0.0], 4000),
    (Verdict.MIXED, [0.6, -0.8], 200),
    (Verdict.MIXED, [0.6, 0.0], 4000),
    (Verdict.UNDECIDED, [0.1, 0.05], 12),
    (Verdict.NOT_TESTED, [2.0, 2.0], 9),
]


@pytest.mark.parametrize(("expected", "shift", "n"), EACH)
def test_each_reaches_every_answer(expected: Verdict, shift: list[float], n: int) -> None:
    assert rules.each(Student.of(conditions(noise(n, 2, shift))), 0.0, 0.2).verdict is expected


@pytest.mark.parametrize(
    ("expected", "shift", "n"),
    [
        (Verdict.YES, 0.0, 400),
        (Verdict.NO, 2.0, 400),
        (Verdict.UNDECIDED, 0.9, 12),
        (Verdict.NOT_TESTED, 0.0, 9),
    ],
)
def test_within_reaches_every_answer(expected: Verdict, shift: float, n: int) -> None:
    assert rules.within(Student.of(conditions(noise(n, 2, shift))), -1.0, 1.0).verdict is expected


def test_a_clear_lead_is_a_yes_however_small() -> None:
    parts = Student.of(conditions(noise(20_000, 2, 0.05), number=199))
    assert rules.direction(parts, "all", 0.0, 0.2).verdict is Verdict.YES


def test_one_part_within_the_margin_decides_about_all_of_them() -> None:
    parts = Student.of(conditions(noise(4000, 3, [1.0, 1.0, 0.0])))
    assert rules.direction(parts, "all", 0.0, 0.2).verdict is Verdict.EQUIVALENT
    assert rules.direction(parts, 2, 0.0, 0.2).verdict is Verdict.YES


def test_partial_conjunction_is_an_intersection_of_all_pairs() -> None:
    """At least k are true exactly where every set of m - k + 1 has one by Bonferroni."""
    p = np.random.default_rng(0).uniform(0, 0.03, (200, 5))
    for k in range(1, 6):
        size = 5 - k + 1
        sets = [p[:, list(chosen)].min(axis=1) * size for chosen in itertools.combinations(range(5), size)]
        np.testing.assert_allclose(rules.conjunction(p, k), np.minimum(1.0, np.max(sets, axis=0)))


def test_rules_judge_many_claims_as_they_judge_one() -> None:
    values = noise(40, 12, np.linspace(-1, 1, 12)).reshape(40, 4, 3)
    resamples = Resamples.draw(np.zeros(40), RESAMPLES)
    many = rules.direction(Student.of_many(mean(values, resamples)), 2, 0.0, 0.3)
    for claim in range(4):
        parts = [mean(values[:, claim, m], resamples) for m in range(3)]
        alone = rules.direction(Student.of(parts), 2, 0.0, 0.3)
        assert many.verdicts[claim] is alone.verdict
        assert many.p_yes[claim] == pytest.approx(float(alone.p_yes))


@settings(max_examples=30, deadline=None)
@given(st.integers(10, 60), st.floats(-1, 1), st.integers(0, 10_000))
def test_verdicts_are_monotone_in_margin_and_threshold(n: int, shift: float, seed: int) -> None:
    parts = Student.of(conditions(noise(n, 2, shift, seed), number=199))
    by_margin = [rules.direction(parts, "all", 0.0, margin).verdict for margin in (0.01, 0.1, 0.5, 2.0)]
    for smaller, larger in itertools.pairwise(by_margin):  # a wider margin only makes open claims equivalent
        assert larger is smaller or (smaller is Verdict.UNDECIDED and larger is Verdict.EQUIVALENT)
    rank = {Verdict.YES: 2, Verdict.UNDECIDED: 1, Verdict.NO: 0}
    by_threshold = [rank[rules.direction(parts, 1, threshold).verdict] for threshold in np.linspace(-2, 2, 9)]
    assert by_threshold == sorted(by_threshold, reverse=True)


@settings(max_examples=30, deadline=None)
@given(st.integers(10, 60), st.integers(0, 10_000))
def test_what_is_claimed_the_other_way_round_gets_the_other_answer(n: int, seed: int) -> None:
    [a] = conditions(noise(n, 1, 0.3, seed), number=199)
    other = {Verdict.YES: Verdict.NO, Verdict.NO: Verdict.YES}
    forward, back = (rules.direction(Student.of([estimate]), 1, 0.0, 0.2).verdict for estimate in (a, -a))
    assert back is other.get(forward, forward)


REFUSED: list[Callable[[], object]] = [
    lambda: Student.of([]),
    lambda: rules.direction(Student.of(conditions(noise(12))), 2),
    lambda: rules.direction(Student.of(conditions(noise(12))), "some"),
    lambda: rules.within(Student.of(conditions(noise(12))), 1.0, 1.0),
    lambda: rules.parts_needed("all", 0),
    lambda: rules.whole([]),
    lambda: rules.same_number([], []),
    lambda: rules.same_number([1.0], ["1", "2"]),
    lambda: rules.order(np.zeros((1, 3)), np.zeros((1, 4)), np.zeros((9, 1, 3)), np.zeros((2, 2, 1, 3)), 20),
    lambda: rules.order(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((9, 0, 3)), np.zeros((2, 2, 0, 3)), 20),
    lambda: Resamples.draw([]),
    lambda: mean([1.0, 2.0], Resamples.draw(np.zeros(3), 9)),
    lambda: mean([np.nan, np.nan], Resamples.draw(np.zeros(2), 9)),
    lambda: average([]),
]


@pytest.mark.parametrize("ask", REFUSED)
def test_what_cannot_be_judged_is_refused(ask: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        ask()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("test", [Student, BootstrapT])
def test_tiny_samples_are_not_tested_and_break_nothing(n: int, test: type[Student] | type[BootstrapT]) -> None:
    assert rules.direction(test.of(conditions(noise(n, 2, 5.0))), "all", 0.0, 0.1).verdict is Verdict.NOT_TESTED


def test_a_part_with_too_few_clusters_says_nothing_and_the_others_still_decide() -> None:
    values = noise(40, 3, [1.0, -1.0, 1.0])
    values[9:, 2] = np.nan
    resamples = Resamples.draw(np.zeros(40), RESAMPLES)
    parts = [mean(column, resamples) for column in values.T]
    assert rules.each(Student.of(parts)).verdict is Verdict.MIXED
    assert rules.direction(Student.of(parts)).verdict is Verdict.NO
    assert rules.direction(Student.of([parts[0], parts[2]])).verdict is Verdict.NOT_TESTED
    assert rules.direction(Student.of([parts[0], parts[2]]), 1).verdict is Verdict.YES


def test_a_small_stratum_is_not_hidden_by_a_large_one() -> None:
    parts = conditions(noise(109, 1, 1.0), np.repeat([0, 1], [100, 9]))
    assert rules.direction(Student.of(parts)).verdict is Verdict.NOT_TESTED


@pytest.mark.parametrize(
    ("halves", "expected"),
    [
        ([Verdict.YES, Verdict.YES], Verdict.YES),
        ([Verdict.YES, Verdict.NO], Verdict.MIXED),
        ([Verdict.YES, Verdict.EQUIVALENT], Verdict.MIXED),
        ([Verdict.NO, Verdict.EQUIVALENT], Verdict.NO),
        ([Verdict.EQUIVALENT, Verdict.EQUIVALENT], Verdict.EQUIVALENT),
        ([Verdict.YES, Verdict.UNDECIDED], Verdict.UNDECIDED),
        ([Verdict.NOT_TESTED, Verdict.NOT_TESTED], Verdict.NOT_TESTED),
        ([Verdict.YES, Verdict.NOT_TESTED], Verdict.UNDECIDED),
        ([Verdict.NOTHING], Verdict.NOTHING),
        ([Verdict.NOTHING, Verdict.YES], Verdict.YES),
    ],
)
def test_a_sentence_is_judged_by_its_statements(halves: list[Verdict], expected: Verdict) -> None:
    assert rules.whole(halves) is expected


# --- orders, trends, numbers -----------------------------------------------------------------------------------------


def judged_order(true: ArrayLike, published: ArrayLike, n: int, spread: float, own: float | None) -> Verdict:
    """The verdict on an order of items with these true means, measured on n inputs."""
    means = np.asarray(true, dtype=float)
    values = means + spread * np.random.default_rng(1).normal(size=(n, len(means)))
    resamples = Resamples.draw(np.zeros(n), 499)
    estimate = mean(values, resamples)
    assert estimate.contributions is not None
    halves = np.asarray(estimate.point + np.tensordot(resamples.halves, estimate.contributions, axes=1))
    points, replicates, theirs = estimate.point[None], estimate.replicates[:, None], np.asarray(published)[None]
    return rules.order(points, theirs, replicates, halves[:, :, None], n, own_agreement=own).verdict


ITEMS = np.arange(10.0)


@pytest.mark.parametrize(
    ("expected", "published", "n", "spread", "own"),
    [
        (Verdict.YES, ITEMS, 40, 1.0, 0.7),
        (Verdict.NO, -ITEMS, 40, 1.0, 0.7),
        (Verdict.NO, [3, 8, 0, 5, 2, 9, 1, 7, 4, 6], 60, 1.0, 0.7),
        (Verdict.UNDECIDED, ITEMS, 12, 60.0, 0.7),
        (Verdict.NOT_TESTED, ITEMS, 9, 1.0, 0.7),
    ],
)
def test_orders_reach_every_answer(
    expected: Verdict, published: ArrayLike, n: int, spread: float, own: float | None
) -> None:
    assert judged_order(ITEMS, published, n, spread, own) is expected


def test_tau_is_that_of_scipy_with_ties() -> None:
    values = np.random.default_rng(0).integers(0, 5, (20, 2, 7)).astype(float)
    ours, theirs = rules.order_signs(values[:, 0]), rules.order_signs(values[:, 1])
    expected = [scipy.stats.kendalltau(a, b).statistic for a, b in values]
    np.testing.assert_allclose(rules.tau_of_signs(ours, theirs), expected)


def test_the_permutation_test_of_an_order_is_that_of_scipy() -> None:
    values = np.random.default_rng(2).normal(size=(2, 6))
    expected = scipy.stats.permutation_test(
        (values[1],),
        lambda y: scipy.stats.kendalltau(values[0], y).statistic,
        permutation_type="pairings",
        n_resamples=1000,
        alternative="greater",
    ).pvalue
    assert rules.permutation_p(values[[0]], values[[1]]) == pytest.approx(expected)


def test_blocks_change_places_together() -> None:
    places = rules.permutations_of(("a", "a", "b", "b", "c"))
    assert sorted(places.tolist()) == [[0, 1, 2, 3, 4], [2, 3, 0, 1, 4]]
    many = rules.permutations_of(tuple(range(13)))
    assert many.shape == (rules.ENUMERATED, 13)
    assert (np.sort(many, axis=1) == np.arange(13)).all()
    assert many[0].tolist() == list(range(13))


def test_few_permutations_are_no_test() -> None:
    few = rules.order(np.zeros((1, 4)), np.arange(4.0)[None], np.zeros((9, 1, 4)), np.zeros((2, 2, 1, 4)), 50)
    assert few.verdict is Verdict.NOT_TESTED


def test_the_papers_own_repeat_goes_through_the_rule_by_points() -> None:
    assert rules.own_repeat_agrees([ITEMS], [[0, 2, 1, 3, 4, 5, 6, 7, 8, 9]])
    assert not rules.own_repeat_agrees([ITEMS], [[3, 8, 0, 5, 2, 9, 1, 7, 4, 6]])


@pytest.mark.parametrize(
    ("expected", "y", "printed"),
    [
        (Verdict.YES, [1, 2, 3, 4, 5.5, 6], 0.9),
        (Verdict.NO, [6, 5, 4, 3, 2.5, 1], 0.9),
        (Verdict.UNDECIDED, [1, 3, 2, 0, 4, 1], 0.9),
        (Verdict.NOT_TESTED, [1, 1, 1, 1, 1, 1], 0.9),
        (Verdict.NOT_TESTED, [1, 2, 3, 4, np.nan, 6], 0.9),
    ],
)
def test_trends_reach_every_answer(expected: Verdict, y: list[float], printed: float) -> None:
    assert rules.trend(np.arange(6.0), y, printed).verdict is expected


def test_a_trend_over_four_units_is_not_tested() -> None:
    assert rules.trend([1, 2, 3, 4], [1, 2, 3, 4], 0.9).verdict is Verdict.NOT_TESTED


def test_the_permutation_test_of_a_trend_is_that_of_scipy() -> None:
    x, y = np.random.default_rng(4).normal(size=(2, 6))
    expected = scipy.stats.pearsonr(x, y, alternative="greater", method=scipy.stats.PermutationMethod(n_resamples=1000))
    assert float(rules.trend(x, y).p_yes) == pytest.approx(expected.pvalue)


def test_numbers_are_the_printed_ones_or_have_a_cause() -> None:
    assert rules.same_number([0.8249, 12.4], ["0.82", "12"]).verdict is Verdict.YES
    assert rules.same_number([0.8249, 0.31], ["0.82", "0.30"]).verdict is Verdict.NO
    assert rules.same_number([0.8249, 0.31], ["0.82", "0.30"], causes=["", "a slip"]).verdict is Verdict.YES
    assert rules.same_number([0.301], ["0.3000"], tolerance=0.01).verdict is Verdict.YES
    assert int(rules.same_number([1, 2, 4], ["1", "2", "3"]).passed) == 2


def test_equivalent_counts_as_not_reproduced() -> None:
    assert Verdict.EQUIVALENT.decision == Verdict.NO.decision == "not reproduced"
