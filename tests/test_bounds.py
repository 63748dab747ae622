"""Bounds of AOPC against brute force over all orders, slow loops, closed forms, and the authors' released outputs."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from toy_models import model_and_texts

from faithlib.bounds import Bounds, adaptive_bounds, beam_bounds, exact_bounds, naopc, naopc_faults
from faithlib.errors import InputError
from faithlib.perturb import Perturber, SetFunction


def table(n: int, seed: int) -> SetFunction:
    """Any answer to any set: nothing that a search could lean on."""
    values = torch.rand(2**n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    weights = 2 ** torch.arange(n)
    return SetFunction(lambda keep: values[(keep * weights).sum(dim=1)], n)


def aopc_of(score: SetFunction | Perturber, order: list[int], b: int = 0) -> float:
    """AOPC of one order of input b, removal after removal."""
    keep = score.feature_mask.clone()
    total = 0.0
    for feature in order:
        keep[b, feature] = False
        total += float(score.keep(keep[:, None])[b, 0])
    return float(score.full[b]) - total / len(order)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 7), seed=st.integers(0, 10**6))
def test_exact_bounds_equal_brute_force_over_all_orders(n, seed):
    score = table(n, seed)
    bounds = exact_bounds(score)
    keep = torch.tensor(list(product((False, True), repeat=n)))
    answers = dict(zip(map(tuple, keep.tolist()), score.keep(keep[None])[0].tolist(), strict=True))
    found = []
    for order in permutations(range(n)):
        left = [answers[tuple(i not in order[: k + 1] for i in range(n))] for k in range(n)]
        found.append(float(score.full) - sum(left) / n)
    for bound, order, best in ((bounds.lower, bounds.lower_order, min), (bounds.upper, bounds.upper_order, max)):
        assert bound.item() == pytest.approx(best(found), abs=1e-12)
        assert aopc_of(score, order[0].tolist()) == pytest.approx(bound.item(), abs=1e-12)
    assert bounds.rows.tolist() == [score.stats.rows_run] == [2**n]


def check_inside(bounds: Bounds, exact: Bounds) -> None:
    assert bounds.lower.item() >= exact.lower.item() - 1e-12
    assert bounds.upper.item() <= exact.upper.item() + 1e-12
    assert bounds.certified_lower.item() <= exact.lower.item() + 1e-12
    assert bounds.certified_upper.item() >= exact.upper.item() - 1e-12


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 8),
    seed=st.integers(0, 10**6),
    width=st.sampled_from([1, 2, 3, 4, 1000]),
    candidates=st.sampled_from([None, 2, 4]),
    variant=st.sampled_from(["merged", "released"]),
)
def test_beam_bounds_are_reached_and_their_certificate_holds(n, seed, width, candidates, variant):
    width = min(width, 4) if variant == "released" else width
    score, exact = table(n, seed), exact_bounds(table(n, seed))
    bounds = beam_bounds(score, width=width, candidates=candidates, limits=(0, 1), variant=variant)
    check_inside(bounds, exact)
    assert sorted(bounds.lower_order[0].tolist()) == sorted(bounds.upper_order[0].tolist()) == list(range(n))
    assert aopc_of(score, bounds.lower_order[0].tolist()) == pytest.approx(bounds.lower.item(), abs=1e-12)
    assert aopc_of(score, bounds.upper_order[0].tolist()) == pytest.approx(bounds.upper.item(), abs=1e-12)
    if width == 1000 and candidates is None:  # a beam that keeps everything is exact and certain
        for name in ("lower", "upper", "certified_lower", "certified_upper"):
            assert getattr(bounds, name).item() == pytest.approx(getattr(exact, name).item(), abs=1e-12)
        assert bounds.rows.tolist() == [2**n]


def slow_beam(score: SetFunction, width: int, sign: int, *, merge: bool = True) -> float:
    """Beam search with lists and sets, one row at a time."""
    n = score.n_features

    def answer(removed: frozenset[int]) -> float:
        keep = torch.tensor([[[i not in removed for i in range(n)]]])
        return float(score.keep(keep)[0, 0])

    beams = [(0.0, frozenset[int]())]
    for _ in range(n):
        grown = [
            (cost + sign * answer(removed | {i}), removed | {i})
            for cost, removed in beams
            for i in range(n)
            if i not in removed
        ]
        grown.sort(key=lambda entry: entry[0])
        beams = []
        for cost, removed in grown:
            if not merge or all(removed != other for _, other in beams):
                beams.append((cost, removed))
        beams = beams[:width]
    return float(score.full) - sign * min(cost for cost, _ in beams) / n


@pytest.mark.parametrize("width", [1, 3, 5])
def test_the_released_search_is_the_slow_loop_that_keeps_equal_sets_and_the_merged_one_is_never_worse(width):
    for seed in range(10):
        released = beam_bounds(table(6, seed), width=width, variant="released")
        merged = beam_bounds(table(6, seed), width=width)
        lower, upper = (slow_beam(table(6, seed), width, sign, merge=False) for sign in (-1, 1))
        assert (released.lower.item(), released.upper.item()) == pytest.approx((lower, upper), abs=1e-12)
        lower, upper = (slow_beam(table(6, seed), width, sign) for sign in (-1, 1))
        assert merged.lower.item() <= lower + 1e-12 and merged.upper.item() >= upper - 1e-12


def test_closed_forms():
    """A linear function: the best order removes the largest weight first, whatever the rest does."""
    weights = torch.tensor([0.4, -0.1, 0.2, 0.0], dtype=torch.float64)
    linear = SetFunction(lambda keep: keep.double() @ weights, 4)
    down = weights.sort(descending=True).values
    for bounds in (exact_bounds(linear), beam_bounds(linear, width=1)):
        assert bounds.upper.item() == pytest.approx(float(down.cumsum(0).mean()))
        assert bounds.lower.item() == pytest.approx(float(down.flip(0).cumsum(0).mean()))
        assert (bounds.upper_order.tolist(), bounds.lower_order.tolist()) == ([[0, 2, 3, 1]], [[1, 3, 2, 0]])
    assert bool(bounds.certified_upper.isnan().all()), "without limits there is no certificate"
    # Released code starts the search for the upper bound at 0; here every removal raises the answer.
    rising = exact_bounds(SetFunction(lambda keep: 1 - keep.double().mean(dim=1), 3))
    assert rising.upper.item() == rising.lower.item() == pytest.approx(-2 / 3)


@pytest.mark.parametrize("erase", ["zero", "mask", "delete"])
def test_a_batch_of_texts_of_different_lengths_equals_text_by_text(erase):
    model, inputs = model_and_texts(lengths=(8, 5, 3))
    assert len(set(inputs.n_features.tolist())) == 3
    together = Perturber(model, inputs, erase=erase)
    for search in (
        exact_bounds,
        lambda score: beam_bounds(score, width=2, candidates=3),
        lambda score: adaptive_bounds(score, change=1e-4),
        lambda score: adaptive_bounds(score, change=1e-4, candidates=3),
    ):
        batch = search(together)
        for b in range(len(inputs)):
            alone = search(Perturber(model, inputs[[b]], erase=erase))
            n = int(inputs.n_features[b])
            for name in ("lower", "upper", "certified_lower", "certified_upper"):
                assert getattr(batch, name)[b].item() == pytest.approx(getattr(alone, name)[0].item(), abs=1e-6)
            assert (batch.width[b], batch.rows[b]) == (alone.width[0], alone.rows[0])
            assert batch.upper_order[b, n:].tolist() == [-1] * (batch.upper_order.shape[1] - n)
            order = batch.upper_order[b, :n].tolist()
            assert aopc_of(together, order, b) == pytest.approx(batch.upper[b].item(), abs=1e-5)


def test_pruned_search_asks_for_few_rows():
    weights = torch.linspace(-1, 1, 60, dtype=torch.float64)
    whole, pruned = (SetFunction(lambda keep: torch.sigmoid(keep.double() @ weights), 60) for _ in range(2))
    everything = beam_bounds(whole, width=3, limits=(0, 1))
    few = beam_bounds(pruned, width=3, candidates=6, tolerance=0.005, limits=(0, 1))
    # Effects that add up in log-odds are ranked once and for all, so nothing is lost.
    assert few.upper.item() == pytest.approx(everything.upper.item(), abs=1e-9)
    assert few.lower.item() == pytest.approx(everything.lower.item(), abs=1e-9)
    assert pruned.stats.rows_run * 4 < whole.stats.rows_run


def test_naopc_lies_in_the_unit_interval_and_counts_its_faults():
    aopc = torch.tensor([0.1, 0.5, -0.2, 0.3])
    lower, upper = torch.tensor([0.0, 0.0, 0.0, 0.3]), torch.tensor([0.2, 0.4, 0.4, 0.3])
    values = naopc(aopc, lower, upper)
    torch.testing.assert_close(values[:3], torch.tensor([0.5, 1.0, 0.0], dtype=torch.float64))
    assert bool(values[3].isnan())
    assert naopc_faults(aopc, lower, upper) == {"clipped": 2, "undefined": 1}
    assert naopc_faults(lower + 1e-9, lower, upper) == {"clipped": 0, "undefined": 1}


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 7), seed=st.integers(0, 10**6))
def test_exact_bounds_leave_nothing_to_clip(n, seed):
    score = table(n, seed)
    bounds = exact_bounds(score)
    orders = [np.random.default_rng(seed + i).permutation(n).tolist() for i in range(5)]
    values = torch.tensor([aopc_of(score, order) for order in orders])
    assert naopc_faults(values, bounds.lower, bounds.upper) == {"clipped": 0, "undefined": 0}
    widened = beam_bounds(score, width=1).widened(values[None])
    assert naopc_faults(values, widened.lower, widened.upper)["clipped"] == 0


# ----------------------------------------------------------------------------------------------- a width that doubles
@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 8), seed=st.integers(0, 10**6), candidates=st.sampled_from([None, 3]))
def test_a_width_that_doubles_until_nothing_moves_stays_inside_the_exact_bounds(n, seed, candidates):
    score = table(n, seed)
    found = adaptive_bounds(score, change=0, candidates=candidates, limits=(0, 1))
    check_inside(found, exact_bounds(table(n, seed)))
    for name, order in (("lower", found.lower_order), ("upper", found.upper_order)):
        assert aopc_of(score, order[0].tolist()) == pytest.approx(getattr(found, name).item(), abs=1e-12)
    assert found.rows.tolist() == [score.stats.rows_run]  # each set once, whatever the number of widths
    # Nor loses what a narrower beam has found, and says where it stopped.
    found = adaptive_bounds(table(9, seed), change=1e-3, limits=(0, 1))
    last = int(found.width)
    assert last in (2, 4, 8, 16, 32, 64)
    widths = {w: beam_bounds(table(9, seed), width=w, limits=(0, 1)) for w in (1, 2, 4, 8, 16, 32, 64) if w <= last}
    assert found.upper.item() >= max(bounds.upper.item() for bounds in widths.values()) - 1e-12
    assert found.lower.item() <= min(bounds.lower.item() for bounds in widths.values()) + 1e-12
    assert found.certified_upper.item() <= min(bounds.certified_upper.item() for bounds in widths.values()) + 1e-12


BEYOND = SetFunction(lambda keep: 2 + keep.double().sum(dim=1), 3)


@pytest.mark.parametrize(
    ("message", "search", "score", "given"),
    [
        ("input 0 has 20 features, which is 1,048,576 rows.*use beam_bounds", exact_bounds, table(20, 0), {}),
        ("width 0", beam_bounds, table(3, 0), {"width": 0}),
        ("candidates 1", beam_bounds, table(3, 0), {"candidates": 1}),
        ("variant", beam_bounds, table(3, 0), {"variant": "paper"}),
        ("outside the limits", beam_bounds, BEYOND, {"limits": (0, 1)}),
        ("expected change >= 0 and first <= most", adaptive_bounds, table(3, 0), {"change": -1}),
        ("expected change >= 0 and first <= most", adaptive_bounds, table(3, 0), {"first": 4, "most": 2}),
    ],
)
def test_bad_requests_are_refused(message, search, score, given):
    refused(InputError, message, search, score, **given)


def test_a_width_that_cannot_double_is_searched_once():
    once, beam = adaptive_bounds(table(6, 1), first=3, most=3), beam_bounds(table(6, 1), width=3)
    assert (once.upper.item(), once.width.item()) == (beam.upper.item(), 3)
    assert exact_bounds(table(3, 1)).width.item() == 0
