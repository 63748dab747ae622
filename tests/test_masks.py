"""Scores to masks: against slow loops, at ties, at the ends, and on what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from scipy.stats import rankdata

from faithlib import masks
from faithlib.errors import InputError, UnknownNameError

SCORES = st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=12)


@given(SCORES, st.booleans())
def test_rank_is_a_stable_sort(scores, descending):
    order = masks.rank(torch.tensor([scores]), descending=descending)[0].tolist()
    assert order == sorted(range(len(scores)), key=lambda f: -scores[f] if descending else scores[f])
    place = masks.position_in_rank(torch.tensor([scores]), descending=descending)[0]
    assert place[order].tolist() == list(range(len(scores)))


@given(
    SCORES, st.lists(st.sampled_from(["0", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "1"]), min_size=1, max_size=4)
)
def test_rationales_hold_the_top_share_rounded_up(scores, ratios):
    n = len(scores)
    padded = torch.tensor([[*scores, 99.0]])
    present = torch.tensor([[True] * n + [False]])
    chosen = masks.top_ratio(padded, [float(r) for r in ratios], present)[0]
    order = sorted(range(n), key=lambda f: -scores[f])
    for row, ratio in zip(chosen, ratios, strict=True):
        assert set(row.nonzero()[:, 0].tolist()) == set(order[: math.ceil(Fraction(ratio) * n)])


def test_removal_path_takes_one_feature_a_step():
    path = masks.removal_path(torch.tensor([[0.1, 0.9, 0.5]]))
    assert path.int().tolist() == [[[1, 0, 1], [1, 0, 0], [0, 0, 0]]]
    least_first = masks.removal_path(torch.tensor([[0.1, 0.9, 0.5]]), descending=False)
    assert least_first.int().tolist() == [[[0, 1, 1], [0, 1, 0], [0, 0, 0]]]


@given(SCORES)
def test_normalisers_stay_in_range_and_keep_the_order(scores):
    values = torch.tensor([scores])
    for how in ("minmax", "sigmoid", "released_ns", "released_nc", "rank"):
        out = masks.normalise(values, how)[0]
        assert ((out >= 0) & (out <= 1)).all()
        for f in range(1, len(scores)):
            if scores[f] > scores[f - 1]:
                assert out[f] >= out[f - 1]


def test_normalisers_at_the_values_their_definitions_fix():
    scores = torch.tensor([[2.0, 4.0, 3.0, 50.0]])
    present = torch.tensor([[True, True, True, False]])
    assert masks.normalise(scores, "minmax", present).tolist() == [[0.0, 1.0, 0.5, 0.0]]
    assert masks.normalise(torch.full((1, 3), 7.0), "minmax").tolist() == [[0.5, 0.5, 0.5]]
    squeezed = masks.normalise(torch.tensor([[0.0, 0.25, 1.0]]), "released_nc")
    torch.testing.assert_close(squeezed, torch.tensor([[0.5, 0.625, 1.0]]))
    torch.testing.assert_close(masks.normalise(scores, "sigmoid", present)[0, :3], scores[0, :3].sigmoid())
    assert masks.normalise(torch.tensor([[0.0, 0.3, 1.0]]), "none")[0].tolist() == pytest.approx([0.0, 0.3, 1.0])


@given(SCORES)
def test_ranks_equal_scipys_and_have_mean_one_half(scores):
    padded = torch.tensor([[*scores, -99.0]])
    present = torch.tensor([[True] * len(scores) + [False]])
    got = masks.normalise(padded, "rank", present)[0, : len(scores)]
    expected = (rankdata(scores) - 1) / (len(scores) - 1) if len(scores) > 1 else [0.5]
    torch.testing.assert_close(got, torch.tensor(expected, dtype=torch.float32))
    assert got.mean().item() == pytest.approx(0.5, abs=1e-6)


def test_the_pixels_of_a_picture_are_ranked_in_little_memory():
    """As scipy ranks them; a table of all pairs would take 10 GB."""
    scores = torch.randint(0, 9999, (1, 224 * 224), generator=torch.Generator().manual_seed(0)).float()
    got = masks.normalise(scores, "rank")[0]
    expected = (rankdata(scores[0]) - 1) / (scores.shape[1] - 1)
    torch.testing.assert_close(got, torch.tensor(expected, dtype=torch.float32))


def test_soft_keep_has_the_papers_direction_and_the_released_one():
    scores = torch.tensor([[0.0, 0.9, 1.0]])
    keep = masks.soft_keep(scores, verb="sufficiency")
    torch.testing.assert_close(keep, scores)
    torch.testing.assert_close(masks.soft_keep(scores, verb="comprehensiveness"), 1 - scores)
    torch.testing.assert_close(masks.soft_keep(scores, verb="sufficiency", variant="released"), 1 - scores)
    torch.testing.assert_close(masks.soft_keep(scores, verb="comprehensiveness", variant="released"), scores)


def test_refusals():
    nan = torch.tensor([[0.1, torch.nan], [0.1, 0.2]])
    for function in (
        masks.rank,
        masks.removal_path,
        lambda s: masks.top_ratio(s, [0.5]),
        lambda s: masks.normalise(s, "minmax"),
    ):
        refused(InputError, "scores of input 0 hold nan at feature 1", function, nan)
    masks.rank(nan, torch.tensor([[True, False], [True, True]]))  # a feature that is not there may hold anything
    refused(InputError, r"ratio 1\.5", masks.top_ratio, nan[1:], [1.5])
    refused(InputError, r"score 1\.2 with normaliser 'none'", masks.normalise, torch.tensor([[0.1, 1.2]]), "none")
    refused(UnknownNameError, "did you mean 'minmax'", masks.normalise, nan[1:], "min-max")
    refused(UnknownNameError, "verb", masks.soft_keep, nan[1:], verb="sufficient")
    refused(UnknownNameError, "variant", masks.soft_keep, nan[1:], verb="sufficiency", variant="code")
    refused(InputError, r"expected \[B, F\]", masks.rank, torch.zeros(3))
    refused(InputError, "expected the same", masks.rank, torch.zeros(1, 3), torch.ones(1, 2, dtype=torch.bool))
