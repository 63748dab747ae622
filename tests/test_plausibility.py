"""Agreement with marked features against scikit-learn and slow loops, and what projection and thresholds promise."""

from __future__ import annotations

from functools import partial

import pytest
import sklearn.metrics
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from faithbook.studies.crosslingual.highlights import best_f1_threshold, project_rationale
from faithlib.errors import InputError
from faithlib.metrics import auprc, average_precision, iou, iou_f1, pointing_game, token_f1

SCORE = st.integers(-3, 3).map(lambda i: i / 3)  # few values, so that ties are common


@st.composite
def marked_scores(draw, *, least=1):
    n = draw(st.integers(1, 8))
    scores = draw(st.lists(SCORE, min_size=n, max_size=n))
    gold = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda marks: sum(marks) >= least))
    return scores, gold


def rows(scores, gold):
    return torch.tensor([scores], dtype=torch.double), torch.tensor([gold])


def padded(scores, gold, absent, random):
    """The same input among absent features, and which are present."""
    places = random.sample(range(len(scores) + absent), len(scores))
    places.sort()  # ties go by place in the text
    wide = torch.full((1, len(scores) + absent), torch.nan, dtype=torch.double)
    marks, present = torch.zeros_like(wide, dtype=torch.bool), torch.zeros_like(wide, dtype=torch.bool)
    wide[0, places], marks[0, places], present[0, places] = *(x[0] for x in rows(scores, gold)), torch.tensor(True)
    return wide, marks, present


# --- whole orders ----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(marked_scores(), st.integers(0, 3), st.randoms(use_true_random=False))
def test_average_precision_and_auprc_are_scikit_learns(case, absent, random):
    scores, gold = case
    precision, recall, _ = sklearn.metrics.precision_recall_curve(gold, scores)
    expected = {
        average_precision: sklearn.metrics.average_precision_score(gold, scores),
        auprc: sklearn.metrics.auc(recall, precision),
    }
    for metric, value in expected.items():
        assert metric(*rows(scores, gold)).item() == pytest.approx(value, abs=1e-12)
        assert metric(*padded(scores, gold, absent, random)).item() == pytest.approx(value, abs=1e-12)
        assert 0 < value <= 1


def test_orders_without_marks_are_nan_and_half_precision_is_not_kept():
    scores, nothing = torch.tensor([[0.9, 0.8, 0.1]]), torch.zeros(1, 3, dtype=torch.bool)
    assert average_precision(scores, nothing).isnan() and auprc(scores, nothing).isnan()
    assert average_precision(scores.half(), ~nothing).dtype == torch.float32


# --- rationales ------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(marked_scores(), st.integers(1, 9), st.integers(0, 3), st.randoms(use_true_random=False))
def test_rationale_metrics_against_a_loop(case, k, absent, random):
    scores, gold = case
    ranked = sorted(range(len(scores)), key=lambda i: -scores[i])  # stable: the first of equals goes first
    predicted = {i for i in ranked[:k] if scores[i] > 0}
    marked = {i for i, mark in enumerate(gold) if mark}
    f1 = sklearn.metrics.f1_score(gold, [i in predicted for i in range(len(scores))], zero_division=0)
    overlap = len(predicted & marked) / len(predicted | marked)
    for given_ in (rows(scores, gold), padded(scores, gold, absent, random)):
        assert token_f1(*given_, k=k).item() == pytest.approx(f1, abs=1e-6)
        assert iou_f1(*given_, k=k).item() == (overlap >= 0.5)
        assert iou_f1(*given_, k=k, threshold=1).item() == (predicted == marked)
    assert 0 <= f1 <= 1


@settings(deadline=None, max_examples=50)
@given(marked_scores(), st.integers(0, 3), st.randoms(use_true_random=False))
def test_as_many_as_marked_and_the_first_against_a_loop(case, absent, random):
    scores, gold = case
    ranked = sorted(range(len(scores)), key=lambda i: -scores[i])
    best = [i in ranked[: sum(gold)] for i in range(len(scores))]
    for given_ in (rows(scores, gold), padded(scores, gold, absent, random)):
        assert iou(*given_).item() == pytest.approx(sklearn.metrics.jaccard_score(gold, best), abs=1e-6)
        assert pointing_game(*given_).item() == gold[ranked[0]]


def test_rationales_of_inputs_may_have_sizes_of_their_own():
    scores = torch.tensor([[0.9, 0.8, 0.7, 0.1]] * 2)
    gold = torch.tensor([[True, True, True, False], [False, False, True, True]])
    assert iou_f1(scores, gold, k=torch.tensor([1, 3])).tolist() == [0.0, 0.0]  # overlaps of 1/3 and 1/4
    assert iou_f1(scores, gold, k=torch.tensor([2, 4])).tolist() == [1.0, 1.0]  # exactly one half matches


def test_rationales_that_are_empty():
    scores, gold = torch.tensor([[-0.1, 0.0], [0.2, 0.1]]), torch.tensor([[True, False], [False, False]])
    for metric in (token_f1, iou_f1):
        assert metric(scores, gold, k=1).nan_to_num(9).tolist() == [0.0, 9.0]
    for metric in (iou, pointing_game):  # whose rationales may hold scores that are not positive
        assert metric(scores - 1, gold).nan_to_num(9).tolist() == [0.0, 9.0]


def test_broken_inputs_are_refused():
    scores, gold = torch.tensor([[0.1, 0.2]]), torch.tensor([[True, False]])
    absent = torch.tensor([[False, True]])
    for metric in (average_precision, auprc, iou, pointing_game, partial(token_f1, k=1), partial(iou_f1, k=1)):
        refused(InputError, "finite", metric, scores * torch.nan, gold)
        refused(InputError, "expected bool", metric, scores, gold.int())
        refused(InputError, "expected bool", metric, scores, gold[:, :1])
        refused(InputError, "marks feature 0 of input 0", metric, scores, gold, absent)
    refused(InputError, "at least one feature", token_f1, scores, gold, k=0)
    refused(InputError, "marks nothing", best_f1_threshold, torch.rand(2, 3), torch.zeros(2, 3, dtype=torch.bool))
    refused(InputError, "compare scores with a threshold", project_rationale, torch.ones(2), [(0, 0)], 2)
    refused(InputError, "cut into words", project_rationale, torch.tensor([True]), [(1, 0)], 2)


# --- e-XNLI ----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.lists(marked_scores(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_threshold_is_the_best_of_all(cases, random):
    width = max(len(scores) for scores, _ in cases) + 1
    parts = [padded(scores, gold, width - len(scores), random) for scores, gold in cases]
    scores, gold, present = (torch.cat(column) for column in zip(*parts, strict=True))
    threshold, f1 = best_f1_threshold(scores, gold, present)
    flat, marks = scores[present], gold[present]

    def f1_at(t):
        return sklearn.metrics.f1_score(marks, flat >= t)

    assert f1 == pytest.approx(f1_at(threshold), abs=1e-12)
    tried = {t: f1_at(t) for t in set(flat.tolist())}
    assert f1 == pytest.approx(max(tried.values()), abs=1e-12)
    assert threshold == min(t for t, value in tried.items() if value > f1 - 1e-12)


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_projection_marks_what_is_linked_with_something_marked(data):
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    links = data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))))
    masks = data.draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=3))
    got = project_rationale(torch.tensor(masks), links, m)
    assert got.tolist() == [[any(mask[k] for k, j in links if j == word) for word in range(m)] for mask in masks]
    identity = project_rationale(torch.tensor(masks), [(k, k) for k in range(n)], n)
    assert identity.tolist() == masks
