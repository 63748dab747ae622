"""Intervals against slow loops, scipy and simulation; rank tests against scipy; verdicts and the scoreboard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from faithbook.judge import published, scoreboard
from faithbook.judge.scoreboard import Entry
from faithbook.stats import agreement, grounds, rules
from faithbook.stats.chance import against_random, kept_shares
from faithbook.stats.conditions import Conditions
from faithlib import masks
from faithlib.errors import DataError, InputError
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


def cells_of(frame: pd.DataFrame, **options: object) -> Conditions:
    given = {"unit": ["dataset", "input"], "over": ["dataset", "method"], "stratum": "dataset", **options}
    return Conditions.of(frame, **given)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- resampling
def test_draws_equal_a_loop_that_copies_rows() -> None:
    frame = scores()
    frame.loc[[3, 20], "value"] = np.nan
    found = cells_of(frame, n_resamples=30, seed=5)
    units = frame.drop_duplicates(["dataset", "input"])
    for draw, counts in enumerate(found.drawn.counts.astype(int)):
        copies = pd.concat(
            [
                frame[(frame.dataset == unit.dataset) & (frame.input == unit.input)]
                for unit, times in zip(units.itertuples(), counts, strict=True)
                for _ in range(times)
            ]
        )
        for (dataset, method), group in copies.groupby(["dataset", "method"]):
            drawn = found.mean(dataset=dataset, method=method).draws[draw]
            assert drawn == pytest.approx(group.value.mean(), abs=1e-12)
    for (dataset, method), group in frame.groupby(["dataset", "method"]):
        assert found.mean(dataset=dataset, method=method).point == pytest.approx(group.value.mean())


def test_percentiles_agree_with_scipy() -> None:
    sample = np.random.default_rng(1).exponential(size=60)
    theirs = scipy.stats.bootstrap(
        (sample,), np.mean, method="percentile", n_resamples=20_000, rng=2
    ).confidence_interval
    frame = pd.DataFrame({"input": range(60), "method": "a", "value": sample})
    ours = Conditions.of(frame, over=["method"], unit="input", n_resamples=20_000).mean()
    assert np.quantile(ours.draws, [0.025, 0.975]) == pytest.approx([theirs.low, theirs.high], abs=0.01)
    assert (ours.point, ours.n) == (pytest.approx(sample.mean()), 60)


def test_the_same_seed_gives_the_same_draws() -> None:
    one, same, other = (cells_of(scores(), seed=seed, n_resamples=50).drawn.counts for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()


# --------------------------------------------------------------------------------- one score an input, limits, amounts


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
    found = kept_shares(frame)
    # A long text counts no more than a short one.
    means = [masks.normalise(raw["a", i], "minmax").mean().item() for i in range(3)]
    assert found["a",].point == pytest.approx(np.mean(means))
    assert found["flat",].point == 0.5 and [one.n for one in found.values()] == [3, 3]


# ---------------------------------------------------------------------------------------------------- against random
def test_wins_are_strict_and_undefined_pairs_stay_undefined() -> None:
    frame = pd.DataFrame(
        {
            "input": [0, 1, 2, 3] * 2,
            "method": ["a"] * 4 + ["random"] * 4,
            "value": [0.7, 0.5, 0.2, np.nan, 0.5, 0.5, 0.5, 0.5],
        }
    )
    pairs = against_random(frame, on=["input"])
    assert pairs.win.tolist()[:3] == [1, 0, 0] and np.isnan(pairs.win[3])
    assert pairs.tie.tolist()[:3] == [0, 1, 0] and np.isnan(pairs.tie[3])
    assert pairs.gap.tolist()[:3] == pytest.approx([0.2, 0, -0.3])
    with pytest.raises(InputError, match="several rows"):
        against_random(pd.concat([frame, frame]), on=["input"])


@pytest.mark.parametrize("seed", range(3))
def test_tables_have_the_diagnosticity_that_the_library_computes(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 5, size=(2, 400)) / 4
    values[:, :9] = np.nan
    values[0, 9:20] = np.nan
    frame = pd.DataFrame(
        {"input": [*range(400)] * 2, "method": ["a"] * 400 + ["random"] * 400, "value": values.ravel()}
    )
    pairs = against_random(frame, on=["input"])
    library = diagnosticity(*values, higher_is_better=True)
    assert pairs.win.mean() == library.wins and pairs.tie.mean() == library.ties
    assert pairs.win.isna().sum() == library.dropped == 20
    drawn = Conditions.of(pairs, over=["method"], unit="input", value="win", n_resamples=20_000).mean().draws
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx([library.low, library.high], abs=1 / 380)


# ------------------------------------------------------------------------------------------------------------- tests
@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=9), st.integers(0, 99))
def test_tau_is_scipys_tau_b(values: list[int], seed: int) -> None:
    other = np.random.default_rng(seed).integers(0, 4, (3, len(values))).astype(float)
    expected = [scipy.stats.kendalltau(values, one).statistic for one in other]
    assert agreement.tau_b(values, other) == pytest.approx(expected, nan_ok=True)
    assert agreement.tau_b(other, values) == pytest.approx(expected, nan_ok=True)


def test_tau_is_neither_tau_a_nor_gamma_where_values_tie() -> None:
    """The book once had four coefficients of this name: with ties they are four numbers."""
    ours, printed = [1, 2, 3, 4, 5, 6], [0.1, 0.1, 0.3, 0.2, 0.3, 0.4]
    agree, pairs, untied = 11, 15, 13
    assert float(agreement.tau_b(ours, printed)) == pytest.approx(agree / np.sqrt(pairs * untied))
    assert agree / pairs < float(agreement.tau_b(ours, printed)) < agree / untied


def test_tau_leaves_out_what_is_not_there() -> None:
    ours = [1.0, 2.0, np.nan, 3.0]
    assert float(agreement.tau_b(ours, [1, 3, 0, 2])) == float(agreement.tau_b([1, 2, 3], [1, 3, 2]))
    assert np.isnan(agreement.tau_b(ours, [np.nan] * 4))
    with pytest.raises(InputError, match="as many items"):
        agreement.tau_b([1, 2], [1, 2, 3])


def test_correlations_of_drawn_samples_are_those_of_samples_written_out() -> None:
    generator = np.random.default_rng(0)
    values = generator.integers(0, 6, size=(12, 3)).astype(float)
    weights = np.vstack([np.ones(12), generator.multinomial(12, np.full(12, 1 / 12), size=5)])
    rho, tau = agreement.drawn_correlations(values, weights)
    for sample, counts in enumerate(weights.astype(int)):
        written = np.repeat(values, counts, axis=0)
        for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            x, y = written[:, i], written[:, j]
            assert rho[pair, sample] == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-5)
            assert tau[pair, sample] == pytest.approx(scipy.stats.kendalltau(x, y).statistic, abs=1e-5)


# -------------------------------------------------------------------------------------------------------- scoreboard
def all_known() -> list[str]:
    return list(published.claims().id)


def verdicts(*ids: str) -> pd.DataFrame:
    return scoreboard.entries(Entry(name, rules.REPRODUCED, "executed/page", n=4) for name in ids)


def test_the_scoreboard_lists_everything_with_its_paper() -> None:
    board = scoreboard.board(verdicts(*reversed(all_known())))
    assert list(board.id) == all_known()
    assert sorted(board[board.paper == STUDY].id) == sorted(published.claims(paper=STUDY).id)
    assert (board.decision == rules.REPRODUCED).all()
    assert list(board.columns) == ["id", "paper", "kind", *scoreboard.FIELDS]
    assert set(board.evidence) == {grounds.STAND_INS}
    assert set(board.kind) == {"table", "figure", "claim", "question"}


def test_an_incomplete_scoreboard_is_an_error() -> None:
    ids = all_known()
    with pytest.raises(DataError, match=f"no verdict on: {ids[0]}$"):
        scoreboard.board(verdicts(*ids[1:]))
    with pytest.raises(DataError, match=f"more than one verdict on: {ids[0]}$"):
        scoreboard.board(verdicts(*ids, ids[0]))
    with pytest.raises(DataError, match="unknown ids: soft_table99"):
        scoreboard.board(verdicts(*ids, "soft_table99"))
