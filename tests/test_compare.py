"""Comparison with chance against the library; rank tests against scipy; verdicts and the scoreboard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from faithbook.judge import published, scoreboard
from faithbook.stats import agreement, evidence_levels
from faithbook.stats.chance import against_random, kept_shares
from faithbook.stats.conditions import Conditions
from faithlib import masks
from faithlib.errors import DataError, InputError
from faithlib.metrics import diagnosticity

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
    assert found["flat",].point == 0.5 and [estimate.n for estimate in found.values()] == [3, 3]


# ---------------------------------------------------------------------------------------------------- against random


@pytest.mark.parametrize("seed", range(3))
def test_tables_have_the_diagnosticity_that_the_library_computes(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 5, size=(2, 400)) / 4
    values[:, :9] = np.nan
    values[0, 9:20] = np.nan
    methods = ["a"] * 400 + ["random"] * 400
    frame = pd.DataFrame({"input": [*range(400)] * 2, "method": methods, "value": values.ravel()})
    pairs = against_random(frame, on=["input"])
    library = diagnosticity(*values, higher_is_better=True)
    assert pairs.win.mean() == library.wins and pairs.tie.mean() == library.ties
    assert pairs.win.isna().sum() == library.dropped == 20
    assert pairs.gap.to_numpy() == pytest.approx(values[0] - values[1], nan_ok=True)
    drawn = Conditions.of(pairs, over=["method"], unit="input", value="win", n_resamples=20_000).mean().replicates
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx([library.low, library.high], abs=1 / 380)
    refused(InputError, "several rows", against_random, pd.concat([frame, frame]), on=["input"])


# ------------------------------------------------------------------------------------------------------------- tests
@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=9), st.integers(0, 99))
def test_tau_is_scipys_tau_b(values: list[int], seed: int) -> None:
    """What is not there is left out."""
    other = np.random.default_rng(seed).integers(0, 4, (3, len(values))).astype(float)
    expected = [scipy.stats.kendalltau(values, column).statistic for column in other]
    assert agreement.tau_b(values, other) == pytest.approx(expected, nan_ok=True)
    holed, wide = [*values, np.nan], np.concatenate([other, np.ones((3, 1))], axis=1)
    assert agreement.tau_b(wide, holed) == pytest.approx(expected, nan_ok=True)
    refused(InputError, "as many items", agreement.tau_b, values, values[1:])


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


def verdicts(*ids: str) -> pd.DataFrame:
    return pd.DataFrame(
        [{"id": name, "decision": evidence_levels.REPRODUCED, "page": "executed/page", "n": 4} for name in ids]
    )


def test_the_scoreboard_lists_everything_or_is_an_error() -> None:
    ids = list(published.claims().id)
    board = scoreboard.board(verdicts(*reversed(ids)))
    assert list(board.id) == ids and list(board.columns) == ["id", "paper", "kind", *scoreboard.FIELDS]
    assert set(board.evidence) == {evidence_levels.SUBSTITUTE}
    for sentence, judged in (
        (f"no verdict on: {ids[0]}$", ids[1:]),
        (f"more than one verdict on: {ids[0]}$", [*ids, ids[0]]),
        ("unknown ids: soft_table99", [*ids, "soft_table99"]),
    ):
        refused(DataError, sentence, scoreboard.board, verdicts(*judged))
