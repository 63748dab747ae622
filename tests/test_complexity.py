"""Entropy against scipy, the Gini index against its double loop, and the ends that both definitions fix."""

from __future__ import annotations

import math

import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from faithlib.errors import InputError
from faithlib.metrics import complexity, sparseness

SCORES = st.lists(st.integers(-(10**6), 10**6).map(lambda i: i / 1000), min_size=1, max_size=10)


def slow_gini(values):
    """Mean absolute difference of all pairs over twice the mean."""
    sizes = [abs(v) for v in values]
    n = len(sizes)
    return sum(abs(a - b) for a in sizes for b in sizes) / (2 * n * sum(sizes))


def row(values):
    return torch.tensor([values], dtype=torch.double)


@settings(deadline=None, max_examples=50)
@given(SCORES)
def test_against_scipy_and_the_double_loop(values):
    entropy, gini = complexity(row(values)).item(), sparseness(row(values)).item()
    if not any(values):
        assert math.isnan(entropy) and math.isnan(gini)
        return
    assert entropy == pytest.approx(scipy.stats.entropy([abs(v) for v in values]), abs=1e-9)
    assert gini == pytest.approx(slow_gini(values), abs=1e-9)


@settings(deadline=None, max_examples=50)
@given(SCORES, st.sampled_from([-3.0, 0.5, 1e-200, 1e200]), st.integers(0, 3), st.randoms(use_true_random=False))
def test_signs_units_order_and_absent_features_do_not_count(values, unit, absent, random):
    mixed = random.sample(range(len(values) + absent), len(values) + absent)
    padded = torch.full((1, len(mixed)), torch.nan, dtype=torch.double)
    padded[0, mixed[: len(values)]] = row([unit * v * random.choice([-1, 1]) for v in values])[0]
    present = torch.zeros(1, len(mixed), dtype=torch.bool)
    present[0, mixed[: len(values)]] = True
    for metric in (complexity, sparseness):
        torch.testing.assert_close(metric(padded, present), metric(row(values)), equal_nan=True, atol=1e-6, rtol=0)


@pytest.mark.parametrize("n", [1, 2, 7, 512])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_the_ends(n, dtype):
    both = torch.stack([torch.full((n,), -0.3, dtype=dtype), torch.eye(n, dtype=dtype)[0]])
    assert complexity(both).tolist() == pytest.approx([math.log(n), 0], abs=1e-6)
    assert sparseness(both).tolist() == pytest.approx([0, (n - 1) / n], abs=1e-6)
    assert complexity(both).dtype == torch.promote_types(dtype, torch.float32)


def test_undefined_and_broken_inputs():
    scores = torch.tensor([[0.0, 0.0, 9.0], [0.0, 2.0, 1.0]])
    present = torch.tensor([[True, True, False], [True, True, True]])
    for metric in (complexity, sparseness):
        assert metric(scores, present).isnan().tolist() == [True, False]
        assert metric(scores, torch.zeros(2, 3, dtype=torch.bool)).isnan().all()
        refused(InputError, "finite", metric, torch.tensor([[torch.nan, 1.0]]))
        refused(InputError, "feature_mask", metric, scores, present[:, :2])
