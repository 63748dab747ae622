"""Quantities and rules against scipy, against enumeration, and in worlds in which the answer is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from refusals import refused

from faithbook.stats import rules
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions, effective_n
from faithbook.stats.estimates import Estimate, combined
from faithbook.stats.p_values import p_discordant, wilson_ends
from faithlib.errors import InputError, UnknownNameError

RESAMPLES = 1999


Ends = tuple[float, float]


def world(values: dict[str, ArrayLike], bounds: Ends = (-math.inf, math.inf), **columns: ArrayLike) -> Conditions:
    """Cells of one method each, the same inputs under all."""
    frame = pd.concat(
        pd.DataFrame({"method": name, "value": own, **columns}).rename_axis("id").reset_index()
        for name, own in values.items()
    )
    given = {name: name for name in ("cluster", "stratum") if name in columns}
    return Conditions.of(frame, over=["method"], unit="id", bounds=bounds, n_resamples=RESAMPLES, **given)


def noise(n: int, mean: float = 0.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


def one(values: ArrayLike, bounds: Ends = (-math.inf, math.inf), **columns: ArrayLike) -> Estimate:
    return world({"a": values}, bounds, **columns).mean()


def less(a: ArrayLike, b: ArrayLike, bounds: Ends = (-math.inf, math.inf), **columns: ArrayLike) -> Estimate:
    """The paired difference of two methods."""
    cells = world({"a": a, "b": b}, bounds, **columns)
    return cells.mean(method="a") - cells.mean(method="b")


# --- quantities ------------------------------------------------------------------------------------------------------


def test_a_mean_has_the_standard_error_and_the_p_value_of_the_t_test() -> None:
    values = noise(30, 0.4)
    quantity = one(values)
    assert quantity.standard_error == pytest.approx(scipy.stats.sem(values))
    expected = scipy.stats.ttest_1samp(values, 0.1, alternative="greater").pvalue
    assert quantity.p_above(0.1) >= expected - 1e-12
    assert quantity.p_above(0.1) == pytest.approx(expected, abs=0.02)
    assert quantity.p_below(0.1) == pytest.approx(1 - expected, abs=0.02)


def test_a_difference_is_paired() -> None:
    base = noise(40, seed=1)
    apart = 0.1 * noise(40, seed=2) + 0.1
    gap = less(base + apart, base)
    assert (gap.standard_error, gap.point) == pytest.approx((scipy.stats.sem(apart), apart.mean()))


def test_a_cluster_counts_once() -> None:
    values = noise(12, 1.0)
    clustered, alone = one(np.tile(values, 2), cluster=[*range(12)] * 2), one(values)
    assert clustered.clusters == alone.clusters == 12
    assert clustered.n == 24
    assert clustered.standard_error == pytest.approx(alone.standard_error)
    assert clustered.interval().low == pytest.approx(alone.interval().low)


def test_strata_keep_their_sizes_and_their_difference_is_no_noise() -> None:
    values = np.concatenate([np.zeros(10), np.ones(10)]) + 1e-3 * noise(20)
    apart = one(values, stratum=["x"] * 10 + ["y"] * 10)
    assert apart.standard_error < 1e-3 < one(values).standard_error
    assert set(apart.drawn.counts[:, :10].sum(1)) == {10.0}


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_slopes_of_arithmetic_are_right(seed: int) -> None:
    """Influences of expressions against those of the same expression with one cluster's weight moved a little."""
    generator = np.random.default_rng(seed)
    values = {name: generator.uniform(0.5, 2.0, 8) for name in "ab"}
    cells = world(values)
    a, b = cells.mean(method="a"), cells.mean(method="b")
    made = abs(a * b - a / b) + 2.0 * 0.5 - b
    step = 1e-6
    for k in range(8):
        weight = np.ones(8)
        weight[k] += step
        ma, mb = (float(np.average(values[name], weights=weight)) for name in "ab")
        moved = abs(ma * mb - ma / mb) + 1.0 - mb
        assert (moved - made.point) / step == pytest.approx(made.influence[k], abs=1e-4)


def test_cells_of_few_units_are_drawn_as_those_of_all() -> None:
    generator, places = np.random.default_rng(1), itertools.product(range(40), "abcdefghijkl")
    frame = pd.DataFrame([(unit, cell) for unit, cell in places if generator.random() < 0.3], columns=["id", "cell"])
    frame["value"] = generator.normal(size=len(frame))
    cells = Conditions.of(frame, over=["cell"], unit="id", n_resamples=50)
    for names in (*"abcdefghijkl", "a", ["a", "b"], list("abcdefghijkl")):
        own = [frame[frame.cell == name].set_index("id").value.reindex(range(40)) for name in names]
        slow = [
            np.mean([np.nansum(times * one) / (times * one.notna()).sum() for one in own])
            for times in cells.drawn.counts
        ]
        found = cells.mean(cell=names)
        assert (found.point, found.n) == (pytest.approx(np.mean([x.mean() for x in own])), min(x.count() for x in own))
        assert found.draws == pytest.approx(slow, nan_ok=True)
        influence = found.influence
        among = [times @ influence**2 - (times @ influence) ** 2 / 40 for times in cells.drawn.counts]
        assert found.draw_errors**2 == pytest.approx(40 / 39 * np.maximum(among, 0))


def test_what_cannot_be_is_refused() -> None:
    frame = pd.DataFrame({"id": [1, 2], "m": ["a", "a"], "value": [1.0, np.nan]})
    cells, other = (Conditions.of(frame, over=["m"], unit="id", n_resamples=9) for _ in range(2))
    ours = list(ordered(3.0, 2.0, 1.0))
    for error, sentence, call in (
        (InputError, "lacks the columns", lambda: Conditions.of(frame, over=["metric"], unit="id")),
        (InputError, "no rows", lambda: Conditions.of(frame[:0], over=["m"], unit="id")),
        (UnknownNameError, "cell label", lambda: cells.mean(method="a")),
        (InputError, "no cell has", lambda: cells.mean(m="b")),
        (InputError, "different cells", lambda: cells.mean() - other.mean()),
        (InputError, "ratio to a quantity that is zero", lambda: cells.mean() / 0.0),
        (UnknownNameError, "number of parts", lambda: rules.k_of(parts(1), "mostly")),
        (InputError, "3 of 1 parts", lambda: rules.k_of(parts(1), 3)),
        (InputError, "of 2, 3 items", lambda: rules.orders([(ours, [1.0, 2.0])])),
        (InputError, "as many", lambda: rules.same([0.1], [])),
        (InputError, "effect of zero", lambda: rules.how_many(ours[0], 0.0)),
    ):
        refused(error, sentence, call)


@pytest.mark.parametrize("n", [10, 24])
def test_one_share_has_wilsons_interval_and_the_exact_binomial_test(n: int) -> None:
    """All right in ten of ten says nothing of a share above .95, which six of ten such samples show."""
    whole = one(np.ones(n))
    assert whole.p_above(0.95) == pytest.approx(0.95**n)
    assert whole.p_above(0.5) == pytest.approx(0.5**n)
    assert whole.interval().low == pytest.approx(scipy.stats.binomtest(n, n).proportion_ci(method="wilson").low)
    assert whole.interval().high == pytest.approx(1)
    assert (whole - 0.95).p_above() == pytest.approx(0.95**n)
    some = one((np.arange(n) % 4 > 0).astype(float))
    share, counted = some.point, effective_n(np.arange(n) % 4 > 0, range(n))
    for limit in (0.3, 0.7, 0.9):
        exact = scipy.stats.binomtest(round(share * n), n, limit, alternative="greater").pvalue
        assert some.p_above(limit) == pytest.approx(exact, abs=0.03)
        assert (-some).p_above(-limit) == some.p_below(limit)
        assert (some - limit).p_above() == pytest.approx(some.p_above(limit))
    shown, turned = some.interval(), (-some).interval()
    assert shown.low == pytest.approx(wilson_ends(share, counted)[0])
    assert (turned.low, turned.high) == pytest.approx((-shown.high, -shown.low))


def test_what_is_no_single_share_has_none() -> None:
    """Differences that are all zero were taken for a share of 0: not even above -.05 by any p-value."""
    cells = world({"a": np.ones(12), "b": np.zeros(12)})
    a, b = cells.mean(method="a"), cells.mean(method="b")
    assert a.share is not None and b.share is not None
    beside = world({"a": np.zeros(12), "b": np.linspace(-1, 1, 12)})
    for other in (a - b, a * 2.0, abs(a), cells.mean(), one(np.full(12, 0.5)), beside.mean(method="a")):
        assert other.share is None
    zero, share = (one(np.zeros(12), ends) for ends in ((-1, 1), (0, 1)))
    assert zero.share is None and share.share is not None
    assert (zero.interval().low, zero.interval().high) == (0, 0)
    assert zero.p_above(-0.05) == pytest.approx(0.95**12)
    assert one(np.zeros(12)).p_above(-0.05) < 1e-9
    same = one(np.full(10, 0.3))  # what every input says is tested by counting
    assert same.p_above(0) == 0.5**10
    assert same.p_above(0.3) == same.p_below(0.3) == same.p_below(0) == 1.0


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=10, max_size=30), st.sampled_from([(0, 1), (-1, 2)]))
def test_intervals_lie_in_their_range_and_what_spreads_or_ends_there_has_a_width(
    values: list[float], bounds: tuple[float, float]
) -> None:
    mean = one(values, bounds)
    for quantity in (mean, -mean, mean - 0.5, abs(mean), mean * 2.0, mean - mean * 0.5):
        low, high = quantity.bounds
        shown = quantity.interval()
        assert low <= shown.low <= shown.estimate <= shown.high <= high
    if set(values) == {0.0, 1.0} or (bounds == (0, 1) and set(values) in ({0.0}, {1.0})):
        assert mean.interval().low < mean.interval().high


def test_a_difference_of_shares_knows_its_range() -> None:
    gap = less(np.ones(12), np.zeros(12), (0, 1))
    assert gap.bounds == (-1, 1)
    assert -1 < gap.interval().low < gap.interval().high == 1
    assert gap.p_above(0) == 0.5**12
    assert gap.p_above(0.9) == pytest.approx(0.95**12)


@pytest.mark.parametrize("n", [5, 10, 40])
def test_wilson_is_statsmodels_interval_by_hand(n: int) -> None:
    for successes in range(n + 1):
        expected = scipy.stats.binomtest(successes, n).proportion_ci(method="wilson")
        low, high = wilson_ends(successes / n, n)
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12) and 0 <= low < high <= 1
    assert wilson_ends(1.0, n / 2)[0] < wilson_ends(1.0, n)[0]


def test_effective_n_of_clusters() -> None:
    assert effective_n([0, 0, 1, 1], ["a", "a", "b", "b"]) == pytest.approx(1.0)
    assert effective_n([1, 1, 1, 1], ["a", "a", "b", "b"]) == 2.0
    independent = np.arange(100) % 2
    assert effective_n(independent, range(100)) == pytest.approx(99)


def test_the_spread_between_seeds_adds_to_the_error() -> None:
    generator, shift = np.random.default_rng(0), {0: -0.3, 1: 0.0, 2: 0.3}
    frame = pd.DataFrame(list(itertools.product(range(40), "ab", shift)), columns=["id", "method", "seed"])
    frame["value"] = generator.normal(0, 0.1, len(frame)) + frame["seed"].map(shift).where(frame["method"] == "a", 0.0)

    def means(rows: pd.DataFrame, **more: object) -> list[Estimate]:
        cells = Conditions.of(rows, over=["method", *more], unit="id", n_resamples=99)
        return [cells.mean(method=name, **more) for name in "ab"]

    wide = frame.groupby(["seed", "method"])["value"].mean().unstack()
    alone, (a, b) = (wide["a"] - wide["b"]).to_numpy(), means(frame)
    gain = a - b
    np.testing.assert_allclose(gain.seeds, alone)
    twice = combined(lambda values: values[..., 0] - values[..., 1], [a * 2, b * 2])
    np.testing.assert_allclose(twice.seeds, 2 * alone)
    np.testing.assert_allclose((-abs(gain)).seeds, -np.abs(alone))
    assert gain.error_with_seeds == pytest.approx(np.sqrt(gain.standard_error**2 + alone.var(ddof=1) / 3))
    assert Comparison(gain, published=0.5).away == pytest.approx((gain.point - 0.5) / gain.error_with_seeds)
    # A seed that lacks a method says nothing of its gain, and one seed nothing of seeds.
    a, b = means(frame[(frame["seed"] > 0) | (frame["method"] == "b")])
    assert (a - b).error_with_seeds == pytest.approx(np.sqrt((a - b).standard_error ** 2 + alone[1:].var(ddof=1) / 2))
    for single in (means(frame[frame["seed"] == 1])[0], means(frame, seed=1)[0]):
        assert len(single.seeds) == 0 and single.error_with_seeds == single.standard_error


def test_a_bound_for_any_values_in_their_range_is_hoeffdings() -> None:
    a, b = np.linspace(0, 1, 30), np.linspace(0.2, 0.4, 30)
    cells = world({"a": a, "b": b}, (0, 1))
    first, other = cells.mean(method="a"), cells.mean(method="b")
    assert first.p_bounded(0.2) == pytest.approx(np.exp(-2 * 30 * (a.mean() - 0.2) ** 2))
    assert first.p_bounded(0.6) == 1.0
    assert (first - other).p_bounded() == pytest.approx(np.exp(-2 * 30 * (a.mean() - b.mean()) ** 2 / 2**2))
    assert (-(other - first) * 3).p_bounded() == pytest.approx((first - other).p_bounded())
    # Of two data sets that count alike, an input of the smaller one moves the mean further.
    frame = pd.DataFrame({"id": range(30), "value": a, "dataset": np.where(np.arange(30) < 10, "few", "many")})
    apart = Conditions.of(frame, over=["dataset"], unit="id", stratum="dataset", bounds=(0, 1), n_resamples=99)
    both = apart.mean()
    assert both.p_bounded() == pytest.approx(np.exp(-2 * both.point**2 / (10 / 20**2 + 20 / 40**2)))
    largest = combined(lambda values: values.max(axis=-1), [first, other])
    for without in (one(a), abs(first), first / other, largest):
        assert without.p_bounded(-9) == 1.0


def test_strong_skew_leaves_nothing_open_that_a_bound_for_any_values_decides() -> None:
    def decided(n: int) -> rules.Decision:
        values = np.where(np.arange(n) % 10, -0.5, 0.9)  # of ten inputs one says the opposite, and more loudly
        return rules.above(one(values, (-1, 1)))

    assert (decided(40).answer, decided(40).why) == ("inconclusive", rules.TOO_SKEWED)
    assert (decided(80).answer, decided(80).why) == ("no", rules.BY_RANGE)


def test_paired_shares_are_mcnemars_exact_test() -> None:
    a, b = [1.0] * 9 + [0.0] * 3 + [1.0] * 20, [0.0] * 9 + [1.0] * 3 + [1.0] * 20
    gain = less(a, b, (0, 1))
    assert gain.discordant == (9, 3)
    assert gain.p_above() == pytest.approx(scipy.stats.binom.sf(8, 12, 0.5)) == pytest.approx(p_discordant(9, 3))
    assert gain.p_below() == pytest.approx(scipy.stats.binom.sf(2, 12, 0.5))
    # No longer two paired shares: a margin, a mean of gains, inputs that share a source.
    assert gain.p_above(0.05) != gain.p_above() != (gain + 0.01).p_above()
    assert ((gain + gain) / 2).discordant is None
    assert less(a, b, cluster=np.arange(32) // 2).discordant is None


# --- rules: each says yes and no where that is so --------------------------------------------------------------------


def parts(*means: float, n: int = 40, spread: float = 1.0) -> list[Estimate]:
    cells = world({f"m{i}": spread * noise(n, seed=i) + mean for i, mean in enumerate(means)})
    return [cells.mean(method=f"m{i}") for i in range(len(means))]


near, ordered = partial(parts, n=60, spread=0.1), partial(parts, spread=0.3)
X = np.arange(6.0)


@pytest.mark.parametrize(
    ("rule", "given", "answer"),
    [
        (rules.k_of, (parts(1), 1), rules.YES),
        (rules.k_of, (parts(-1), 1), rules.NO),
        (rules.k_of, (parts(0), 1), rules.INCONCLUSIVE),
        (rules.k_of, (parts(5, n=9), 1), rules.UNTESTABLE),
        (rules.k_of, (parts(1, 1, 1), "all"), rules.YES),
        (rules.k_of, (parts(1, 1, -1), "all"), rules.NO),
        (rules.k_of, (parts(1, 1, -1), "most"), rules.YES),
        (rules.k_of, (parts(1, -1, -1), "most"), rules.NO),
        (rules.k_of, (parts(1, 0, -1), 2), rules.PARTLY),
        (rules.k_of, (parts(0, 0, 0), "all"), rules.INCONCLUSIVE),
        (rules.k_of, (parts(1, -1, n=20), "all"), rules.PARTLY),  # several parts: 24 inputs before a no
        (rules.k_of, (near(0.0, 0.3), "all", -0.05), rules.YES),
        (rules.k_of, (near(0.0, -0.3), "all", -0.05), rules.NO),
        (rules.k_of, (near(0.0, -0.3), 1, -0.05), rules.YES),
        (rules.equal, (near(0.0), 0.05), rules.YES),
        (rules.equal, (near(-0.3), 0.05), rules.NO),
        (rules.equal, (near(0.3), 0.05), rules.NO),
        (rules.equal, (parts(0, n=20), 0.05), rules.INCONCLUSIVE),
        (rules.equal, (parts(0, n=5), 0.05), rules.UNTESTABLE),
        (rules.equal, (near(0.0, 0.0), 0.05), rules.YES),
        (rules.equal, (near(0.0, 0.3), 0.05), rules.NO),
        (rules.equal, (parts(0.0, 0.0, n=30), 0.05), rules.INCONCLUSIVE),
        (rules.trend, (X, X**2), rules.YES),
        (rules.trend, (X, -(X**2)), rules.NO),
        (rules.trend, (X, [0, 1, 0, 1, 0, 1]), rules.INCONCLUSIVE),
        (rules.trend, (X[:4], X[:4]), rules.UNTESTABLE),
        (rules.trend, (X, X * 0), rules.UNTESTABLE),
        (rules.trend, (X, np.where(X == 2, np.nan, X)), rules.UNTESTABLE),
        (rules.same, ([0.8249, 0.3], ["0.82", "0.30"]), rules.YES),
        (rules.same, ([0.8249, 0.306], ["0.82", "0.30"]), rules.NO),
    ],
)
def test_every_rule_says_yes_and_no_where_that_is_so(
    rule: Callable[..., rules.Decision], given: tuple[object, ...], answer: str
) -> None:
    assert rule(*given).answer == answer


def test_margins_and_one_share_of_parts_change_the_answer() -> None:
    """What is within the margin is level even if it is clearly above."""
    small = one(0.02 + 0.001 * noise(40))
    assert small.p_above() < 1e-3
    assert [rules.above(small, margin=margin).answer for margin in (0.05, 0.01)] == [rules.LEVEL, rules.YES]
    assert rules.equal(near(0.0, 0.3), 0.05, k=1).answer == rules.YES
    assert rules.same([0.8249, 0.306], ["0.82", "0.30"], tolerance=0.01).answer == rules.YES
    decision = rules.k_of(parts(1, 1, 0), 2)
    assert (decision.passed, decision.parts, str(decision)) == (2, 3, "yes (2 of 3)")
    assert rules.trend(X[:5], X[:5] ** 2).p_yes == pytest.approx(1 / 120)  # exact


def test_partial_conjunction_by_hand() -> None:
    chosen = parts(0.5, 0.4, 0.3, 0.0)
    p = sorted(part.p_above() for part in chosen)
    below = sorted(part.p_below() for part in chosen)
    for k in range(1, 5):
        decision = rules.k_of(chosen, k)
        assert decision.p_yes == pytest.approx(min(1.0, (4 - k + 1) * p[k - 1]))
        assert decision.p_no == pytest.approx(min(1.0, k * below[4 - k]))


def test_order() -> None:
    published, ours = [5.0, 4.0, 3.0, 2.0, 1.0], ordered(2.5, 2.0, 1.5, 1.0, 0.5)
    assert rules.orders([(ours, published)]).answer == rules.YES
    assert rules.orders([(ours[::-1], published)]).answer == rules.NO
    assert rules.orders([(ours, [3.0, 1.0, 5.0, 2.0, 4.0])]).answer == rules.INCONCLUSIVE
    assert rules.orders([(ours, published)], repeats_agree=False).answer == rules.NO_ORDER
    assert rules.orders([(ours, published)], ["a", "a", "b", "b", "c"]).answer == rules.UNTESTABLE


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_there_are_as_many_permutations_as_ways_to_order_blocks_of_a_size(sizes: list[int]) -> None:
    blocks = [name for name, size in enumerate(sizes) for _ in range(size)]
    found = rules._permutations(tuple(blocks))
    assert len(found) == np.prod([math.factorial(sizes.count(size)) for size in set(sizes)])
    assert len({tuple(way) for way in found}) == len(found)
    assert all(sorted(way) == list(range(len(blocks))) for way in found.tolist())
    for way in found:  # places of one block stay together, in their order
        moved = [blocks[place] for place in way]
        assert all(len({moved[i] for i, one in enumerate(blocks) if one == name}) == 1 for name in set(blocks))
    assert rules._permutations(tuple(range(9))).shape == (10_000, 9)


def test_several_orders_are_one_test() -> None:
    """Two orders that are each near the printed one are it together; two that contradict one another are not."""
    published = [5.0, 4.0, 3.0, 2.0, 1.0]
    ours, other = ordered(2.5, 2.0, 1.5, 1.0, 0.5), ordered(2.0, 2.5, 1.0, 1.5, 0.5)
    right, wrong = (ours, published), (ours, published[::-1])
    both = rules.orders([right, right])
    assert (both.answer, both.passed, both.parts) == (rules.YES, 2, 2)
    assert rules.orders([wrong, wrong]).answer == rules.NO
    parted = rules.orders([right, wrong])
    assert (parted.answer, parted.passed) == (rules.INCONCLUSIVE, 1)
    alone, together = rules.orders([(other, published)]), rules.orders([(other, published), right])
    assert alone.p_yes > together.p_yes > both.p_yes
    # One at a time: the p-value of a mean of tau over all orders of five, by enumeration.
    taus = [scipy.stats.kendalltau(way, range(5)).statistic for way in itertools.permutations(range(5))]
    seen = scipy.stats.kendalltau([2.0, 2.5, 1.0, 1.5, 0.5], published).statistic
    assert alone.p_yes == pytest.approx(np.mean(np.array(taus) >= seen - 1e-9))


def test_how_many_inputs_would_decide() -> None:
    quantity = one(noise(100, 0.25))
    needed = rules.how_many(quantity, 0.25)
    decided = [rules.above(one(noise(needed, 0.25, seed))).answer == rules.YES for seed in range(1, 101)]
    assert 0.65 <= np.mean(decided) <= 0.92
    assert rules.smallest_detectable(quantity) == pytest.approx(2.8 * quantity.standard_error, rel=0.03)


def test_a_tail_that_a_sample_may_lack_decides_nothing() -> None:
    """Exponential values minus a little more than their mean: below zero, but no such sample shows it safely."""
    drawn = np.random.default_rng(3).exponential(size=60)
    few = one(drawn - 1.6)
    assert few.skewness > rules.STRONG_SKEW
    assert few.p_below() <= 0.025
    decision = rules.above(few)
    assert decision.answer == rules.INCONCLUSIVE
    assert "skewed" in decision.why
    assert rules.above(-few).answer == rules.INCONCLUSIVE
    assert rules.above(one(drawn)).answer == rules.YES  # the tail is on the side of the answer
    assert rules.above(one(noise(60, -0.6))).answer == rules.NO
    assert one(np.ones(12)).skewness == 0.0
