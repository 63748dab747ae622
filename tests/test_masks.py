"""Scores to masks: against slow loops, at ties, at the ends, and on what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused
from scipy.stats import rankdata

from faithlib import masks
from faithlib.errors import InputError

SCORES = st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=12)


@given(SCORES, st.booleans())
def test_rank_is_a_stable_sort(scores, descending):
    order = masks.rank(torch.tensor([scores]), descending=descending)[0].tolist()
    assert order == sorted(range(len(scores)), key=lambda f: -scores[f] if descending else scores[f])
    place = masks.position_in_rank(torch.tensor([scores]), descending=descending)[0]
    assert place[order].tolist() == list(range(len(scores)))
    path = masks.removal_path(torch.tensor([scores]), descending=descending)[0]
    for step, left in enumerate(path.tolist()):
        assert [f for f in range(len(scores)) if left[f]] == sorted(order[step + 1 :])


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


def test_normalisers_at_the_values_their_definitions_fix():
    scores = torch.tensor([[2.0, 4.0, 3.0, 50.0]])
    present = torch.tensor([[True, True, True, False]])
    assert masks.normalise(scores, "minmax", present).tolist() == [[0.0, 1.0, 0.5, 0.0]]
    assert masks.normalise(torch.full((1, 3), 7.0), "minmax").tolist() == [[0.5, 0.5, 0.5]]
    squeezed = masks.normalise(torch.tensor([[0.0, 0.25, 1.0]]), "released_nc")
    torch.testing.assert_close(squeezed, torch.tensor([[0.5, 0.625, 1.0]]))
    for how in ("sigmoid", "released_ns"):
        torch.testing.assert_close(masks.normalise(scores, how, present)[0, :3], scores[0, :3].sigmoid())
    assert masks.normalise(torch.tensor([[0.0, 0.3, 1.0]]), "none")[0].tolist() == pytest.approx([0.0, 0.3, 1.0])


@given(SCORES)
@example([float(i * 7919 % 9973) for i in range(224 * 224)])  # a picture's: a table of all pairs would take 10 GB
def test_ranks_equal_scipys_and_have_mean_one_half(scores):
    padded = torch.tensor([[*scores, -99.0]])
    present = torch.tensor([[True] * len(scores) + [False]])
    got = masks.normalise(padded, "rank", present)[0, : len(scores)]
    expected = (rankdata(scores) - 1) / (len(scores) - 1) if len(scores) > 1 else [0.5]
    torch.testing.assert_close(got, torch.tensor(expected, dtype=torch.float32))
    assert got.mean().item() == pytest.approx(0.5, abs=1e-6)


def test_soft_keep_has_the_papers_direction_and_the_released_one():
    scores = torch.tensor([[0.0, 0.9, 1.0]])
    keep = masks.soft_keep(scores, verb="sufficiency")
    torch.testing.assert_close(keep, scores)
    torch.testing.assert_close(masks.soft_keep(scores, verb="comprehensiveness"), 1 - scores)
    torch.testing.assert_close(masks.soft_keep(scores, verb="sufficiency", variant="released"), 1 - scores)
    torch.testing.assert_close(masks.soft_keep(scores, verb="comprehensiveness", variant="released"), scores)


NAN, WORDS = torch.tensor([[0.1, torch.nan], [0.1, 0.2]]), torch.tensor([[0.1, 0.2]])
HOLDS = "scores of input 0 hold nan at feature 1"


@pytest.mark.parametrize(
    ("message", "function", "given", "named"),
    [
        (HOLDS, masks.rank, (NAN,), {}),
        (HOLDS, masks.removal_path, (NAN,), {}),
        (HOLDS, masks.top_ratio, (NAN, [0.5]), {}),
        (HOLDS, masks.normalise, (NAN, "minmax"), {}),
        (r"ratio 1\.5", masks.top_ratio, (WORDS, [1.5]), {}),
        (r"score 1\.1 with normaliser 'none'", masks.normalise, (WORDS + 1, "none"), {}),
        ("did you mean 'minmax'", masks.normalise, (WORDS, "min-max"), {}),
        ("verb", masks.soft_keep, (WORDS,), {"verb": "sufficient"}),
        ("variant", masks.soft_keep, (WORDS,), {"verb": "sufficiency", "variant": "code"}),
        (r"expected \[B, F\]", masks.rank, (torch.zeros(3),), {}),
        ("expected the same", masks.rank, (torch.zeros(1, 3), torch.ones(1, 2, dtype=torch.bool)), {}),
    ],
)
def test_what_cannot_be_used_is_refused(message, function, given, named):
    refused(InputError, message, function, *given, **named)
    masks.rank(NAN, torch.tensor([[True, False], [True, True]]))  # a feature that is not there may hold anything
