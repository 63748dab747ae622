"""Intervals against slow loops, scipy and simulation; rank tests against scipy; verdicts and the scoreboard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from faithbook.papers.zhao_aletras import STAND_INS
from faithbook.results import claims, evidence, published, quantities, rank_tests, resampling, rules, scoreboard
from faithbook.results.resampling import Interval
from faithbook.results.scoreboard import Entry
from faithlib import masks
from faithlib.errors import DataError, InputError, UnknownNameError
from faithlib.metrics import diagnosticity

STUDY = "zhao_aletras_2023"


def scores(seed: int = 0, *, sizes: tuple[int, ...] = (12, 7), methods: tuple[str, ...] = ("a", "b")) -> pd.DataFrame:
    """Every method on every input of data sets d0, d1 …; the same input names in each of them."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            {"dataset": f"d{d}", "input": i, "method": m, "value": generator.normal(d, 1 + d)}
            for d, size in enumerate(sizes)
            for i in range(size)
            for m in methods
        ]
    )


def resampled(frame: pd.DataFrame, **options: object) -> resampling.Resampled:
    given = {"unit": ["dataset", "input"], "cells": ["dataset", "method"], "stratum": "dataset", **options}
    return resampling.resample_means(frame, value="value", **given)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- resampling
def test_draws_equal_a_loop_that_copies_rows() -> None:
    frame = scores()
    frame.loc[[3, 20], "value"] = np.nan
    found = resampled(frame, n_resamples=30, seed=5)
    units = frame.drop_duplicates(["dataset", "input"])
    weights = resampling.drawn_counts(units.dataset.to_numpy(dtype=object), 30, 5)
    for draw, counts in enumerate(weights.astype(int)):
        copies = pd.concat(
            [
                frame[(frame.dataset == unit.dataset) & (frame.input == unit.input)]
                for unit, times in zip(units.itertuples(), counts, strict=True)
                for _ in range(times)
            ]
        )
        for (dataset, method), group in copies.groupby(["dataset", "method"]):
            assert found.draws.loc[draw, (dataset, method)] == pytest.approx(group.value.mean(), abs=1e-12)
    for cell, group in frame.groupby(["dataset", "method"]):
        assert found.estimate[cell] == pytest.approx(group.value.mean())


def test_a_stratum_may_be_drawn_fewer_times_than_it_has_units():
    counts = resampling.drawn_counts(np.zeros(12), 300, 0, size=4)
    assert (counts.sum(1) == 4).all()
    np.testing.assert_allclose(counts.mean(0), 4 / 12, atol=0.15)


def test_every_stratum_keeps_its_size() -> None:
    strata = np.array(["x"] * 5 + ["y"] * 3, dtype=object)
    weights = resampling.drawn_counts(strata, 200, 0)
    assert (weights[:, :5].sum(1) == 5).all() and (weights[:, 5:].sum(1) == 3).all()
    assert (weights >= 0).all() and weights.std(0).min() > 0


def test_several_unit_columns_make_no_units_that_were_never_measured() -> None:
    frame = scores(sizes=(12, 3))
    whole = resampled(frame, stratum=None, n_resamples=500)
    named = frame.assign(unit=frame.dataset + "/" + frame.input.astype(str))
    expected = resampled(named, unit="unit", stratum=None, n_resamples=500)
    # The order of units, and so the draws, may differ; the number of units must not.
    assert whole.draws.std().to_numpy() == pytest.approx(expected.draws.std().to_numpy(), rel=0.25)
    assert whole.n.tolist() == [12, 12, 3, 3]


def test_undefined_values_are_left_out_and_counted() -> None:
    frame = scores(sizes=(6,))
    frame.loc[(frame.method == "a") & frame.input.isin([0, 1]), "value"] = np.nan
    frame = frame[~((frame.method == "b") & (frame.input == 5))]  # not asked for: missing, and not undefined
    table = resampled(frame).table().set_index("method")
    assert table.n.to_dict() == {"a": 4, "b": 5}
    assert table.dropped.to_dict() == {"a": 2, "b": 0}
    assert table.estimate["a"] == pytest.approx(frame[frame.method == "a"].value.mean())


def test_a_cell_without_any_value_is_missing_and_does_not_spoil_the_others() -> None:
    frame = scores(sizes=(6,))
    frame.loc[frame.method == "a", "value"] = np.nan
    found = resampled(frame)
    assert np.isnan(found.estimate["d0", "a"]) and found.n["d0", "a"] == 0
    assert found.interval(method="b").estimate == pytest.approx(frame.value.mean())


def test_percentiles_agree_with_scipy() -> None:
    sample = np.random.default_rng(1).exponential(size=60)
    theirs = scipy.stats.bootstrap(
        (sample,), np.mean, method="percentile", n_resamples=20_000, rng=2
    ).confidence_interval
    frame = pd.DataFrame({"input": range(60), "method": "a", "value": sample})
    ours = resampling.resample_means(
        frame, value="value", unit="input", cells=["method"], n_resamples=20_000
    ).interval()
    for found in (ours, resampling.mean_interval(sample, n_resamples=20_000)):
        assert found.low == pytest.approx(theirs.low, abs=0.01)
        assert found.high == pytest.approx(theirs.high, abs=0.01)
        assert (found.estimate, found.n) == (pytest.approx(sample.mean()), 60)


def test_a_paired_difference_agrees_with_the_bootstrap_of_differences() -> None:
    frame = scores(3, sizes=(40,))
    frame["value"] += 5 * frame.input  # inputs differ far more than methods do: only pairing sees the methods
    wide = frame.pivot(index="input", columns="method", values="value")
    found = resampled(frame).difference({"method": "a"}, {"method": "b"})
    direct = resampling.mean_interval(wide.a - wide.b)
    assert (found.low, found.high) == (pytest.approx(direct.low), pytest.approx(direct.high))
    assert found.high - found.low < 2 < np.ptp(resampled(frame).draws["d0", "a"])


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(4)
    hits = sum(
        resampling.mean_interval(generator.binomial(1, 0.4, size=80), n_resamples=400, seed=s).contains(0.4)
        for s in range(400)
    )
    # 95 % minus what a percentile interval of 80 values lacks; five standard errors of the simulation either way.
    assert 0.88 <= hits / 400 <= 0.985


def test_stratified_intervals_cover_the_mean_over_data_sets() -> None:
    hits = 0
    for seed in range(200):
        found = resampled(scores(seed, sizes=(60, 30)), n_resamples=300, seed=seed).interval()
        hits += found.contains(0.5)  # d0 has mean 0, d1 has mean 1, each with the same weight
    assert 0.87 <= hits / 200 <= 0.995


def test_a_function_of_cells_is_applied_to_estimate_and_draws_alike() -> None:
    found = resampled(scores(sizes=(30, 30)))
    spread = found.interval(lambda cells: cells.max(axis=1) - cells.min(axis=1))
    assert spread.estimate == pytest.approx(found.estimate.max() - found.estimate.min())
    assert spread.low <= spread.high


def test_the_same_seed_gives_the_same_draws() -> None:
    assert resampled(scores(), seed=1).draws.equals(resampled(scores(), seed=1).draws)
    assert not resampled(scores(), seed=1).draws.equals(resampled(scores(), seed=2).draws)


def test_what_cannot_be_resampled_is_refused() -> None:
    with pytest.raises(InputError, match="lacks the columns"):
        resampled(scores().drop(columns="input"))
    with pytest.raises(InputError, match="no rows"):
        resampled(scores().iloc[:0])
    with pytest.raises(UnknownNameError, match="'methods'"):
        resampled(scores()).interval(methods="a")
    with pytest.raises(InputError, match="no cell"):
        resampled(scores()).interval(method="c")
    with pytest.raises(InputError, match="NaN"):
        resampling.mean_interval([np.nan])


def test_reports_draw_inputs_within_their_data_set() -> None:
    frame = scores(sizes=(12, 7))
    found = resampling.over_inputs(frame, value="value", cells=["dataset", "method"])
    pd.testing.assert_frame_equal(found.draws, resampled(frame).draws)


# --------------------------------------------------------------------------------- one score an input, limits, amounts
def test_a_hard_score_is_the_mean_over_lengths_and_undefined_where_one_is() -> None:
    row = {"dataset": "d", "model_seed": 0, "method": "m"}
    lengths = [
        row | {"input": i, "metric": "ns", "ratio": ratio, "value": value}
        for i, values in enumerate(((0.1, 0.5), (0.1, np.nan)))
        for ratio, value in zip((0.1, 0.5), values, strict=True)
    ]
    soft = row | {"input": 0, "metric": "soft_ns", "ratio": np.nan, "value": 0.7}
    found = quantities.over_lengths(pd.DataFrame([*lengths, soft])).set_index(["metric", "input"]).value
    assert found["ns", 0] == pytest.approx(0.3) and np.isnan(found["ns", 1])
    assert found["soft_ns", 0] == 0.7


def test_outside_is_what_limiting_moves() -> None:
    values = pd.Series([-3.0, -1e-9, 0.0, 0.5, 1.0, 1.0 + 1e-9, np.nan], index=list("abcdefg"))
    moved = (values.clip(0, 1) != values).astype(float).where(values.notna())
    pd.testing.assert_series_equal(quantities.outside_unit(values), moved)


def test_kept_shares_are_the_mean_importance_that_masks_give() -> None:
    generator = torch.Generator().manual_seed(0)
    raw = {("a", i): torch.randn(1, 5 + i, generator=generator) for i in range(3)}
    raw |= {("flat", i): torch.ones(1, 4) for i in range(3)}
    frame = pd.DataFrame(
        [
            {"dataset": "d", "model_seed": seed, "input": i, "method": method, "score": score}
            for (method, i), row in raw.items()
            for seed in (0, 1)
            for score in row[0].tolist()
        ]
    )
    found = quantities.kept_shares(frame)
    # A long text counts no more than a short one.
    means = [masks.normalise(raw["a", i], "minmax").mean().item() for i in range(3)]
    assert found.estimate["a"] == pytest.approx(np.mean(means))
    assert found.estimate["flat"] == 0.5 and found.n.tolist() == [3, 3]


# ---------------------------------------------------------------------------------------------------- against random
def test_wins_are_strict_and_undefined_pairs_stay_undefined() -> None:
    frame = pd.DataFrame(
        {
            "input": [0, 1, 2, 3] * 2,
            "method": ["a"] * 4 + ["random"] * 4,
            "value": [0.7, 0.5, 0.2, np.nan, 0.5, 0.5, 0.5, 0.5],
        }
    )
    pairs = quantities.against_random(frame, on=["input"])
    assert pairs.win.tolist()[:3] == [1, 0, 0] and np.isnan(pairs.win[3])
    assert pairs.tie.tolist()[:3] == [0, 1, 0] and np.isnan(pairs.tie[3])
    assert pairs.gap.tolist()[:3] == pytest.approx([0.2, 0, -0.3])
    with pytest.raises(InputError, match="several rows"):
        quantities.against_random(pd.concat([frame, frame]), on=["input"])


@pytest.mark.parametrize("seed", range(3))
def test_tables_have_the_diagnosticity_that_the_library_computes(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 5, size=(2, 400)) / 4
    values[:, :9] = np.nan
    values[0, 9:20] = np.nan
    frame = pd.DataFrame(
        {"input": [*range(400)] * 2, "method": ["a"] * 400 + ["random"] * 400, "value": values.ravel()}
    )
    pairs = quantities.against_random(frame, on=["input"])
    library = diagnosticity(*values, higher_is_better=True)
    assert pairs.win.mean() == library.wins and pairs.tie.mean() == library.ties
    assert pairs.win.isna().sum() == library.dropped == 20
    table = resampling.mean_interval(pairs.win, n_resamples=20_000)
    assert (table.low, table.high) == pytest.approx((library.low, library.high), abs=1 / 380)


def test_an_attribution_that_is_random_itself_wins_half_of_the_time() -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"input": [*range(2000)] * 2, "method": ["a"] * 2000 + ["random"] * 2000})
    frame["value"] = generator.normal(size=4000)
    assert resampling.mean_interval(quantities.against_random(frame, on=["input"]).win).contains(0.5)


def test_by_default_random_is_that_of_the_same_input_seed_and_metric() -> None:
    frame = pd.DataFrame(
        [
            {"dataset": "d", "model_seed": seed, "input": i, "metric": metric, "method": method, "value": value}
            for value, (seed, i, metric, method) in enumerate(
                (seed, i, metric, method)
                for seed in (0, 1)
                for i in (0, 1)
                for metric in ("ns", "nc")
                for method in ("random", "a")
            )
        ]
    )
    assert quantities.against_random(frame).gap.tolist() == [1] * 8


# ------------------------------------------------------------------------------------------------------------- tests
@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=9), st.integers(0, 99))
def test_tau_is_scipys_tau_b(values: list[int], seed: int) -> None:
    other = np.random.default_rng(seed).integers(0, 4, (3, len(values))).astype(float)
    expected = [scipy.stats.kendalltau(values, one).statistic for one in other]
    assert rank_tests.tau_b(values, other) == pytest.approx(expected, nan_ok=True)
    assert rank_tests.tau_b(other, values) == pytest.approx(expected, nan_ok=True)


def test_tau_is_neither_tau_a_nor_gamma_where_values_tie() -> None:
    """The book once had four coefficients of this name: with ties they are four numbers."""
    ours, printed = [1, 2, 3, 4, 5, 6], [0.1, 0.1, 0.3, 0.2, 0.3, 0.4]
    agree, pairs, untied = 11, 15, 13
    assert float(rank_tests.tau_b(ours, printed)) == pytest.approx(agree / np.sqrt(pairs * untied))
    assert agree / pairs < float(rank_tests.tau_b(ours, printed)) < agree / untied


def test_tau_leaves_out_what_is_not_there() -> None:
    ours = [1.0, 2.0, np.nan, 3.0]
    assert float(rank_tests.tau_b(ours, [1, 3, 0, 2])) == float(rank_tests.tau_b([1, 2, 3], [1, 3, 2]))
    assert np.isnan(rank_tests.tau_b(ours, [np.nan] * 4))
    with pytest.raises(InputError, match="as many items"):
        rank_tests.tau_b([1, 2], [1, 2, 3])


def test_correlations_of_drawn_samples_are_those_of_samples_written_out() -> None:
    generator = np.random.default_rng(0)
    values = generator.integers(0, 6, size=(12, 3)).astype(float)
    weights = np.vstack([np.ones(12), generator.multinomial(12, np.full(12, 1 / 12), size=5)])
    rho, tau = rank_tests.drawn_correlations(values, weights)
    for sample, counts in enumerate(weights.astype(int)):
        written = np.repeat(values, counts, axis=0)
        for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            x, y = written[:, i], written[:, j]
            assert rho[pair, sample] == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-5)
            assert tau[pair, sample] == pytest.approx(scipy.stats.kendalltau(x, y).statistic, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_rank_sum_is_scipys_with_cliffs_delta(seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.integers(0, 9, size=15) / 10, generator.integers(2, 9, size=11) / 10
    found = rank_tests.rank_sum([*a, np.nan], b)
    assert found.effect == pytest.approx(np.mean([np.sign(x - y) for x in a for y in b]))
    assert found.p == pytest.approx(scipy.stats.mannwhitneyu(a, b).pvalue)
    assert found.n == (15, 11)
    turned = rank_tests.rank_sum(b, a)
    assert (turned.effect, turned.p) == (pytest.approx(-found.effect), pytest.approx(found.p))


def test_rank_tests_at_the_edges() -> None:
    assert rank_tests.rank_sum([1, 1], [0, 0]).effect == 1
    with pytest.raises(InputError, match="without values"):
        rank_tests.rank_sum([np.nan], [1.0])


# ---------------------------------------------------------------------------------------------------------- verdicts
@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.2, "holds"),
        (0.0, 0.2, "inconclusive"),
        (-0.1, 0.2, "inconclusive"),
        (-0.2, 0.0, "inconclusive"),
        (-0.2, -0.01, "fails"),
        (np.nan, np.nan, "inconclusive"),
    ],
)
def test_a_claim_is_decided_by_the_whole_interval(low: float, high: float, verdict: str) -> None:
    assert claims.verdict(Interval((low + high) / 2, low, high, 9)) == verdict
    assert claims.verdict(Interval((low + high) / 2 + 1, low + 1, high + 1, 9), above=1) == verdict


def test_few_inputs_decide_nothing_and_a_stable_count_of_many_does() -> None:
    assert claims.verdict(Interval(0.3, 0.1, 0.5, 40, units=claims.FEWEST_UNITS - 1)) == "inconclusive"
    assert claims.verdict(Interval(0.3, 0.1, 0.5, 40, units=claims.FEWEST_UNITS)) == "holds"
    assert claims.verdict(Interval(1, 1, 1, 40)) == "inconclusive"
    assert claims.verdict(Interval(1, 1, 1, 40, units=40)) == "holds"
    for size, verdict in ((3, "inconclusive"), (30, "holds")):
        frame = scores(sizes=(size,)).assign(value=lambda f: f.input + 100.0 * (f.method == "a"))
        first = resampled(frame).interval(lambda cells: -cells.rank(axis=1, ascending=False).iloc[:, 0])
        assert claims.verdict(first, above=-1.5) == verdict


# --------------------------------------------------------------------------------------------------- the papers' index
def test_published_tables_and_indices_are_read() -> None:
    table = published.table("soft_table2")
    assert table.value.between(0, 1).all() and table.spread.notna().sum() == 4
    assert set(published.claims("claim").paper) <= set(published.PAPERS)
    assert set(published.claims("claim", STUDY).paper) == {STUDY}
    with pytest.raises(UnknownNameError, match="soft_table2"):
        published.table("soft_tabel2")
    with pytest.raises(UnknownNameError, match="figure"):
        published.claims("figures")
    assert set(STAND_INS.values()) == set(published.table("soft_table6").dataset)


# -------------------------------------------------------------------------------------------------------- scoreboard
def known(paper: str) -> list[str]:
    return list(published.claims(paper=paper).id)


def all_known() -> list[str]:
    return [name for paper in (*published.PAPERS, published.OUR_OWN) for name in known(paper)]


def verdicts(*ids: str) -> pd.DataFrame:
    return scoreboard.entries(Entry(name, rules.REPRODUCED, "executed/page", n=4) for name in ids)


def test_the_scoreboard_lists_everything_with_its_paper() -> None:
    board = scoreboard.board(verdicts(*reversed(all_known())))
    assert list(board.id) != list(reversed(all_known()))
    assert sorted(board.id) == sorted(all_known())
    assert sorted(board[board.paper == STUDY].id) == sorted(known(STUDY))
    assert (board.decision == rules.REPRODUCED).all()
    assert list(board.columns) == ["id", "paper", "kind", *scoreboard.FIELDS]
    assert set(board.evidence) == {evidence.STAND_INS}
    assert set(board.kind) == {"table", "figure", "claim", "question"}


def test_an_incomplete_scoreboard_is_an_error() -> None:
    ids = all_known()
    with pytest.raises(DataError, match=f"no verdict on: {ids[0]}$"):
        scoreboard.board(verdicts(*ids[1:]))
    with pytest.raises(DataError, match=f"more than one verdict on: {ids[0]}$"):
        scoreboard.board(verdicts(*ids, ids[0]))
    with pytest.raises(DataError, match="unknown ids: soft_table99"):
        scoreboard.board(verdicts(*ids, "soft_table99"))


def test_an_unknown_verdict_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="undecided"):
        Entry("soft_c01", "undecide", "executed/page")
