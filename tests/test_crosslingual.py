"""Cross-lingual faithfulness against scipy and slow loops, the invariances it must have, and the faults it replays."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation import PAPER_RATIOS
from faithlib.metrics import (
    ERASURE_BINS,
    aligned_scores,
    aopc,
    cka,
    cka_accuracy,
    comprehensiveness_eraser,
    crosslingual_rho,
    erasure_rationales,
    first_batch_fault,
    random_links,
    sufficiency_eraser,
)
from faithlib.metrics.crosslingual import link_matrix

SCORE = st.integers(-4, 4).map(lambda i: i / 4)  # few values, so that ties are common


@st.composite
def linked_pairs(draw):
    """Scores of an English text and of its translation, and links between them."""
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))))
    english, other = (draw(st.lists(SCORE, min_size=size, max_size=size)) for size in (n, m))
    return english, other, sorted(links)


def row(values):
    return torch.tensor([values], dtype=torch.double)


# --- aligned scores --------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(linked_pairs(), st.sampled_from(["sum", "mean"]), st.sampled_from(["zero", "nan"]))
def test_aligned_scores_follow_equation_3(pair, links_by, unaligned):
    english, other, links = pair
    expected = []
    for k in range(len(english)):
        linked = [other[j] for source, j in links if source == k]
        if not linked:
            expected.append(0.0 if unaligned == "zero" else math.nan)
        else:
            expected.append(sum(linked) / (len(linked) if links_by == "mean" else 1))
    got = aligned_scores(torch.tensor(other), links, len(english), links_by=links_by, unaligned=unaligned)
    assert got.tolist() == pytest.approx(expected, abs=1e-6, nan_ok=True)
    # Listed twice is linked once, the order of links is nothing, and methods go in side by side.
    stacked = torch.tensor([other, other])
    again = aligned_scores(stacked, [*reversed(links), *links], len(english), links_by=links_by, unaligned=unaligned)
    assert torch.equal(again.nan_to_num(9), got.nan_to_num(9).expand(2, -1))


def test_equal_sums_tie_whatever_the_order_of_their_links():
    values = torch.tensor([0.1, 0.2, 0.3, 0.7], dtype=torch.float32)
    one, other = aligned_scores(values[[0, 1, 2, 3, 3, 2, 1, 0]], [(i // 4, i) for i in range(8)], 2)
    assert one == other


# --- correlation -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(linked_pairs(), st.sampled_from(["zero", "nan"]), st.data())
def test_rho_is_scipys_on_the_words_that_are_left(pair, unaligned, data):
    english, other, links = pair
    keep = data.draw(st.lists(st.booleans(), min_size=len(english), max_size=len(english)))
    aligned = aligned_scores(torch.tensor(other, dtype=torch.double), links, len(english), unaligned=unaligned)
    left = [k for k in range(len(english)) if keep[k] and not aligned[k].isnan()]
    ours = [english[k] for k in left], [aligned[k].item() for k in left]
    got = crosslingual_rho(row(english), aligned[None], keep=torch.tensor(keep)).item()
    if len(left) < 2 or any(len(set(side)) == 1 for side in ours):
        assert math.isnan(got)
    else:
        assert got == pytest.approx(scipy.stats.spearmanr(*ours).statistic, abs=1e-6)
        assert -1 <= got <= 1


def test_rho_of_many_rows_is_that_of_each():
    generator = torch.Generator().manual_seed(0)
    english, aligned = torch.randn(2, 30, 40, generator=generator).round(decimals=1).unbind()
    keep = torch.rand(30, 40, generator=generator) > 0.3
    aligned[torch.rand(30, 40, generator=generator) > 0.8] = torch.nan
    got = crosslingual_rho(english, aligned, keep=keep)
    for b in range(30):
        left = keep[b] & ~aligned[b].isnan()
        reference = scipy.stats.spearmanr(english[b][left], aligned[b][left]).statistic
        assert got[b].item() == pytest.approx(reference, abs=1e-6)


def test_a_uniform_attribution_correlates_with_itself_through_the_number_of_links():
    """The sum over links and the zeros of unlinked words reward an attribution that ignores the model (PAPERS.md E5);
    their mean does not."""
    english, other = torch.ones(1, 4), torch.tensor([1.0, 1.0, 1.0])
    links = [(0, 0), (0, 1), (1, 2)]
    wordpieces = torch.tensor([[3.0, 2.0, 1.0, 1.0]])  # one each, summed over the pieces of a word
    assert crosslingual_rho(wordpieces, aligned_scores(other, links, 4)[None]).item() > 0.9
    fair = aligned_scores(other, links, 4, links_by="mean", unaligned="nan")[None]
    assert crosslingual_rho(english, fair).isnan()


def test_what_cannot_be_correlated_is_an_error():
    scores = torch.tensor([[0.1, 0.2]])
    refused(InputError, "same shape", crosslingual_rho, scores, torch.ones(1, 3))
    keep = torch.ones(3, dtype=torch.bool)
    refused(InputError, r"expected \[F\] or \[B, F\]", crosslingual_rho, scores, scores, keep=keep)
    refused(InputError, "leave the pair out", aligned_scores, torch.tensor([0.1, torch.inf]), [(0, 0)], 1)
    for link in ((2, 0), (0, 2), (-1, 0)):
        refused(InputError, "cut into words", aligned_scores, scores[0], [link], 2)
    refused(UnknownNameError, "links_by", aligned_scores, scores[0], [], 2, links_by="max")
    refused(UnknownNameError, "unaligned", aligned_scores, scores[0], [], 2, unaligned="drop")


# --- random alignments -----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(linked_pairs(), st.integers(0, 99))
def test_random_links_keep_what_they_say(pair, seed):
    english, other, links = pair
    n, m = len(english), len(other)
    for keep in ("number", "degrees"):
        drawn = random_links(links, n, m, keep=keep, seed=(seed, 1))
        assert drawn == random_links([*links, *links], n, m, keep=keep, seed=(seed, 1))
        assert len(drawn) == len(set(drawn)) == len(links)
    before, after = (link_matrix(which, n, m) for which in (links, drawn))
    assert torch.equal(before.sum(1), after.sum(1))
    assert torch.equal(before.sum(0).sort().values, after.sum(0).sort().values)


def test_random_links_are_uniform():
    counts = np.zeros((3, 4))
    for seed in range(3000):
        for link in random_links([(0, 0), (1, 1)], 3, 4, seed=seed):
            counts[link] += 1
    assert scipy.stats.chisquare(counts.ravel()).pvalue > 0.001
    places = [random_links([(0, 0)], 1, 4, keep="degrees", seed=seed)[0][1] for seed in range(1000)]
    assert scipy.stats.chisquare(np.bincount(places, minlength=4)).pvalue > 0.001
    refused(UnknownNameError, "keep", random_links, [], 1, 1, keep="all")


# --- erasure ---------------------------------------------------------------------------------------------------------


def test_the_bins_are_the_papers_and_hold_at_least_one_word():
    assert ERASURE_BINS == PAPER_RATIOS
    for n in range(1, 60):
        scores = torch.rand(1, n, generator=torch.Generator().manual_seed(n))
        sizes = erasure_rationales(scores).sum(dim=2)[0].tolist()
        assert sizes == [max(math.ceil(round(share * n, 9)), 1) for share in ERASURE_BINS]
        released = erasure_rationales(scores, rounding="nearest").sum(dim=2)[0].tolist()
        assert released == [max(int(np.round(n * share)), 1) for share in ERASURE_BINS]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1))
def test_erasure_metrics_follow_equations_5_and_6(erased, full):
    p_full, p = torch.tensor([full], dtype=torch.double), row(erased)
    expected = sum(full - value for value in erased) / len(erased)
    released = sum(full - value for value in erased) / (len(erased) + 1)
    for metric in (comprehensiveness_eraser, sufficiency_eraser):
        assert metric(p_full, p).item() == pytest.approx(expected, abs=1e-12)
        assert metric(p_full, p, divisor="bins_plus_one").item() == pytest.approx(released, abs=1e-12)
        assert -1 <= metric(p_full, p).item() <= 1
    # ERASER's sum over bins 0..S is the mean with the text itself as one more bin.
    assert aopc(p_full, row([full, *erased])).item() == pytest.approx(released, abs=1e-12)
    refused(InputError, "at least one step", comprehensiveness_eraser, p_full, p[:, :0])


def replayed(values, batch_size=64):
    """The released loop, row by row: every batch is the first rows of the list."""
    answers = []
    for _ in range(0, len(values), batch_size):
        answers += values[:batch_size]
    return [answers[i : i + 6] for i in range(0, len(values), 6)]


@pytest.mark.parametrize("inputs", [1, 10, 11, 32, 33, 100])
def test_the_fault_of_the_first_batch_is_replayed(inputs):
    values = torch.arange(6 * inputs)
    windows = first_batch_fault(values)
    assert windows.tolist() == replayed(values.tolist())
    assert torch.equal(windows[:10], values[:60].unflatten(0, (-1, 6)))  # what fits into the first batch is right


def test_the_fault_keeps_classes_together_and_needs_whole_inputs():
    probabilities = torch.rand(12, 3)
    assert first_batch_fault(probabilities, batch_size=6).tolist() == [probabilities[:6].tolist()] * 2
    assert first_batch_fault(torch.arange(6), batch_size=4, window=3).tolist() == [[0, 1, 2], [3, 0, 1]]
    refused(InputError, "multiple of 6", first_batch_fault, torch.arange(7))


# --- similarity of representations -----------------------------------------------------------------------------------


def slow_cka(x, y):
    """Kornblith et al.'s Eq. 3 for linear kernels, on feature covariances."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))


@settings(deadline=None, max_examples=50)
@given(st.integers(3, 9), st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_cka_against_its_definition(n, d1, d2, seed):
    generator = np.random.default_rng(seed)
    x, y = generator.normal(size=(n, d1)), generator.normal(size=(n, d2)) * 7 + 3
    ours = cka(torch.tensor(x), torch.tensor(y)).item()
    assert ours == pytest.approx(slow_cka(x, y), abs=1e-9)
    assert 0 <= ours <= 1
    assert cka(torch.tensor(y), torch.tensor(x)).item() == pytest.approx(ours, abs=1e-12)
    rotation, _ = np.linalg.qr(generator.normal(size=(d1, d1)))
    assert cka(torch.tensor(-2 * x @ rotation + 5), torch.tensor(y)).item() == pytest.approx(ours, abs=1e-9)
    order = generator.permutation(n)  # the same sentences in another order, on both sides
    assert cka(torch.tensor(x[order]), torch.tensor(y[order])).item() == pytest.approx(ours, abs=1e-12)


def test_cka_of_batches_and_at_its_ends():
    x, y = torch.randn(2, 5, 8, 6, generator=torch.Generator().manual_seed(0)).unbind()
    torch.testing.assert_close(cka(x[0], y), torch.stack([cka(x[0], layer) for layer in y]))
    torch.testing.assert_close(cka(x, x), torch.ones(5, dtype=torch.double))
    assert cka(x[0], torch.full((8, 3), 0.1)).isnan()
    assert cka(x[0] * 1e-30, x[0] * 1e30).item() == pytest.approx(1)
    for bad in (x[0, :4], x[0, 0], torch.full((8, 2), torch.nan)):
        refused(InputError, "expected", cka, x[0], bad)
    refused(InputError, "n >= 3", cka, x[0, :2], y[0, :2])


def test_translations_are_found_where_they_are_similar_and_by_chance_where_they_are_not():
    generator = torch.Generator().manual_seed(0)
    english = torch.randn(64, 16, generator=generator)
    hits = cka_accuracy(english, english @ torch.linalg.qr(torch.randn(16, 16, generator=generator)).Q)
    assert hits.shape == (8,) and hits.all()
    english, other = torch.randn(2, 3000, 4, generator=generator).unbind()
    hits = cka_accuracy(english, other, n=6, k=4)
    assert scipy.stats.binomtest(int(hits.sum()), len(hits), 1 / 5).pvalue > 0.001
    assert torch.equal(hits, cka_accuracy(english, other, n=6, k=4))
    assert not torch.equal(hits, cka_accuracy(english, other, n=6, k=4, seed=1))


def test_consecutive_rows_of_one_premise_are_found_by_their_shape_alone():
    """Rows in threes that share a premise, the translation of which has nothing else in common with it."""
    generator = torch.Generator().manual_seed(0)
    premise, other = torch.randn(2, 200, 1, 8, generator=generator).unbind()
    english = (premise + 0.1 * torch.randn(200, 3, 8, generator=generator)).flatten(0, 1)
    unrelated = (other + 0.1 * torch.randn(200, 3, 8, generator=generator)).flatten(0, 1)
    in_threes = cka_accuracy(english, unrelated, n=6, k=10, shuffle=False)
    shuffled = cka_accuracy(english, unrelated, n=6, k=10)
    assert in_threes.double().mean() > 0.5
    assert scipy.stats.binomtest(int(shuffled.sum()), len(shuffled), 1 / 11).pvalue > 0.001


def test_accuracy_leaves_a_part_batch_over_counts_undefined_as_missed_and_refuses_what_is_too_small():
    english = torch.randn(19, 4, generator=torch.Generator().manual_seed(0))
    assert cka_accuracy(english, english).shape == (2,)
    assert not cka_accuracy(english, torch.ones(19, 4)).any()
    refused(InputError, "as many translations", cka_accuracy, english, english[:-1])
    refused(InputError, "at least n = 20", cka_accuracy, english, english, n=20)
    refused(InputError, "k 0: expected at least 1", cka_accuracy, english, english, k=0)
