"""Soft scores are measured from the input whose embedding elements are all dropped, whatever `erase` is."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from toy_models import one_row, text_inputs, text_model, vision_model

from faithbook.papers.zhao_aletras_soft import attention_mask_scores, gaussian_scores
from faithlib.backends import VisionBackend
from faithlib.evaluation import hard_scores, soft_scores
from faithlib.inputs import ImageInputs, TextInputs
from faithlib.masks import normalise
from faithlib.metrics import soft_nc, soft_ns
from faithlib.perturb import IMAGE_ERASURES, TEXT_ERASURES, Perturber

READER, SEER = text_model("bert"), vision_model()
LENGTHS = st.lists(st.integers(4, 9), min_size=1, max_size=4).map(tuple)


def nothing_of_texts(inputs: TextInputs) -> Tensor:
    """p(predicted) of each text alone, its features' embeddings set to 0, [B]."""
    all_, none = (torch.full((inputs.feature_mask.shape[1],), kept) for kept in (True, False))
    rows = [[one_row(READER, inputs, b, keep, "zero") for keep in (all_, none)] for b in range(len(inputs))]
    return torch.stack([empty.softmax(-1)[full.argmax()] for full, empty in rows])


def nothing_of_pictures(inputs: ImageInputs) -> Tensor:
    """p(predicted) of each picture, the tokens of its patches set to 0 and the class token as it is, [B]."""
    backend = VisionBackend(SEER, inputs)
    tokens = backend.reached.embed(inputs.pixels)
    with torch.no_grad():
        full = backend.logits(tokens)
        empty = backend.logits(torch.cat([tokens[:, :1], 0 * tokens[:, 1:]], dim=1))
    return empty.softmax(dim=-1).gather(1, full.argmax(dim=1, keepdim=True))[:, 0]


def random_scores(inputs: TextInputs | ImageInputs, seed: int) -> Tensor:
    return torch.rand(inputs.feature_mask.shape, generator=torch.Generator().manual_seed(seed))


def check(perturber: Perturber, nothing: Tensor, scores: Tensor) -> None:
    """Soft scores and their noisy kin are the formulas over this floor."""
    full, floor = perturber.full[:, None], nothing[:, None]
    torch.testing.assert_close(perturber.soft_empty, nothing, atol=1e-5, rtol=0)
    clear = (full - floor).abs()[:, 0] > 1e-3  # where both sides do not divide by next to nothing
    importance = normalise(scores, "minmax", perturber.feature_mask)
    # Each asked alone: the numbers drawn depend on the place among the steps of a call.
    kept, left = (perturber.soft(share[:, None], draws=2)[:, 0] for share in (importance, 1 - importance))
    little, much = (
        perturber.gaussian(scale[:, None], variance=0.5, equation=7)[:, 0] for scale in (1 - importance, importance)
    )
    for found, ns, nc in (
        (soft_scores(perturber, scores, draws=2), kept, left),
        (gaussian_scores(perturber, scores, variance=0.5, equation=7), little, much),
    ):
        expected = {"soft_ns": soft_ns(full, ns, floor), "soft_nc": soft_nc(full, nc, floor)}
        for name, values in expected.items():
            torch.testing.assert_close(found[name][clear], values[clear], atol=1e-3, rtol=1e-3, equal_nan=True)


@settings(max_examples=25, deadline=None)
@given(lengths=LENGTHS, erase=st.sampled_from(TEXT_ERASURES), seed=st.integers(0, 99))
def test_texts_are_measured_from_nothing_of_their_embeddings(lengths, erase, seed):
    inputs = text_inputs(READER, lengths, seed=seed)
    perturber, scores = Perturber(READER, inputs, erase=erase), random_scores(inputs, seed)
    nothing = nothing_of_texts(inputs)
    check(perturber, nothing, scores)
    importance, full = normalise(scores, "minmax", inputs.feature_mask), perturber.full
    masked = soft_nc(full, perturber.attention_mask(1 - importance[:, None])[:, 0], nothing)
    found = attention_mask_scores(perturber, scores)["soft_nc"][:, 0]
    clear = (full - nothing).abs() > 1e-3
    torch.testing.assert_close(found[clear], masked[clear], atol=1e-3, rtol=1e-3, equal_nan=True)


@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, 4), erase=st.sampled_from(IMAGE_ERASURES), seed=st.integers(0, 99))
def test_pictures_are_measured_from_nothing_of_their_patches(n, erase, seed):
    inputs = ImageInputs.from_pixels(torch.randn(n, 3, 8, 8, generator=torch.Generator().manual_seed(seed)), patch=4)
    check(Perturber(SEER, inputs, erase=erase), nothing_of_pictures(inputs), random_scores(inputs, seed))


def test_texts_with_zeroed_embeddings_ask_for_no_further_row():
    inputs = text_inputs(READER, (9, 7, 6))
    perturber = Perturber(READER, inputs)
    hard_scores(perturber, random_scores(inputs, 0))
    rows = perturber.stats.rows_run
    assert torch.equal(perturber.soft_empty, perturber.empty)
    assert perturber.stats.rows_run == rows
    soft_scores(perturber, random_scores(inputs, 0), draws=3)
    assert perturber.stats.rows_run == rows + 2 * 3 * len(inputs)
