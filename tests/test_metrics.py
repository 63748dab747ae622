"""Formulas against the paper's equations written out slowly, scipy and scikit-learn, and the values definitions fix."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused

from faithlib.errors import InputError
from faithlib.metrics import (
    aopc,
    auc,
    comprehensiveness_nc,
    diagnosticity,
    log_odds,
    n_auc,
    soft_nc,
    soft_ns,
    sufficiency_ns,
)

PROBABILITY = st.floats(0, 1)


@given(PROBABILITY, PROBABILITY, PROBABILITY)
def test_hard_and_soft_metrics_follow_equations_1_to_5(full, perturbed, empty):
    s = 1 - max(0, full - perturbed)
    s_zero = 1 - max(0, full - empty)
    c = max(0, full - perturbed)
    tensors = [torch.tensor(x, dtype=torch.double) for x in (full, perturbed, empty)]
    for ns, nc in ((sufficiency_ns, comprehensiveness_nc), (soft_ns, soft_nc)):
        got = ns(*tensors).item(), nc(*tensors).item()
        if full <= empty:
            assert all(map(math.isnan, got))
        elif 1 - s_zero > 1e-6:
            assert got == pytest.approx(((s - s_zero) / (1 - s_zero), c / (1 - s_zero)), abs=1e-6)
            clipped = ns(*tensors, clip=True).item(), nc(*tensors, clip=True).item()
            assert clipped == pytest.approx([min(max(x, 0), 1) for x in got])


@example(path=[0.0, 5e-324], full=0.0)
@given(st.lists(PROBABILITY, min_size=2, max_size=10), PROBABILITY)
def test_curves_against_loops_and_libraries(path, full):
    values = torch.tensor([path], dtype=torch.double)
    p = torch.tensor([full], dtype=torch.double)
    assert aopc(p, values).item() == pytest.approx(np.mean([full - x for x in path]), abs=1e-12)
    x = np.linspace(0, 1, len(path))
    assert auc(values).item() == pytest.approx(sklearn.metrics.auc(x, path), abs=1e-12)
    inside = [min(max(v, 0.01), 0.99) for v in path]
    odds = [math.log(v / (1 - v)) for v in inside]
    half = torch.tensor([0.5], dtype=torch.double)
    assert log_odds(half, torch.tensor([inside], dtype=torch.double)).item() == pytest.approx(np.mean(odds), abs=1e-9)
    if max(path) > 0:  # the page's formula over shares of 0 to 20 %
        few = 0.2 * x
        shares = np.array(path) / max(path)  # first, or the area of the smallest numbers there are is 0
        largest = few[-1] - few[0]
        assert n_auc(values).item() == pytest.approx(sklearn.metrics.auc(few, shares) / largest, abs=1e-9)


def test_curves_of_unequal_length_and_at_the_ends():
    path = torch.tensor([[0.5, 0.1, 9.0], [0.5, 0.4, 0.3]])
    steps = torch.tensor([2, 3])
    torch.testing.assert_close(aopc(torch.ones(2), path, steps), torch.tensor([0.7, 0.6]))
    both = log_odds(torch.tensor([0.5, 0.5]), path.clamp(max=0.9), steps)
    assert both[1] == log_odds(torch.tensor([0.5]), path[1:])[0]
    ends = torch.tensor([[0.3, 0.3, 0.3], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    torch.testing.assert_close(n_auc(ends), torch.tensor([1.0, torch.nan, 0.25]), equal_nan=True)
    assert torch.isfinite(log_odds(torch.tensor([1.0]), torch.tensor([[0.0, 1.0]]))).all()
    for function in (lambda: auc(torch.ones(1, 1)), lambda: aopc(torch.ones(1), torch.ones(1, 0))):
        refused(InputError, "expected", function)
    refused(InputError, "between 1 and the 3 steps", aopc, torch.ones(2), path, torch.tensor([0, 4]))


def test_diagnosticity_counts_strict_wins_and_reports_ties_and_undefined_pairs():
    method = torch.tensor([0.9, 0.5, 0.1, torch.nan, 0.4, 0.8])
    random = torch.tensor([0.2, 0.5, 0.4, 0.1, torch.nan, 0.7])
    result = diagnosticity(method, random, higher_is_better=True)
    assert (result.wins, result.ties, result.n, result.dropped) == (0.5, 0.25, 4, 2)
    assert diagnosticity(method, random, higher_is_better=False).wins == 0.25
    assert diagnosticity(method, method, higher_is_better=True).wins == 0
    for wrong, said in ((torch.full((2,), torch.nan), "none of the 2 pairs"), (torch.ones(3), "two vectors")):
        refused(InputError, said, diagnosticity, wrong, torch.ones(2), higher_is_better=True)


def test_the_interval_of_diagnosticity_agrees_with_scipys_bootstrap_and_covers():
    generator = torch.Generator().manual_seed(0)
    random = torch.rand(200, generator=generator)
    method = random + torch.randn(200, generator=generator) * 0.1 + 0.03
    result = diagnosticity(method, random, higher_is_better=True)
    wins = (method > random).double().numpy()
    drawn = scipy.stats.bootstrap((wins,), np.mean, n_resamples=4000, method="percentile", rng=0)
    assert (result.low, result.high) == pytest.approx(tuple(drawn.confidence_interval), abs=0.015)
    covered = 0
    for _ in range(300):
        draws = torch.rand(80, generator=generator)
        d = diagnosticity(draws, torch.full((80,), 0.4), higher_is_better=True)
        covered += d.low <= 0.6 <= d.high
    assert 0.90 <= covered / 300 <= 0.99
