"""The released pipeline of study 1, each of its choices made or not: the values, and the page on a known world; and
soft scores, measured from the input whose embedding elements are all dropped, whatever `erase` is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from store import Store
from torch import Tensor
from toy_models import one_row, text_inputs, text_model, tokenizer, vision_model

from faithbook.studies.soft import zhao_aletras as paper
from faithbook.studies.soft.zhao_aletras import SQUARED, replay_name
from faithbook.studies.soft.zhao_aletras_soft import (
    attention_mask_scores,
    gaussian_scores,
    replayed_hard,
    replayed_soft,
)
from faithlib.backends import VisionBackend
from faithlib.evaluation import RELEASED_RATIOS, hard_scores, soft_scores
from faithlib.inputs import ImageInputs, TextInputs
from faithlib.masks import normalise
from faithlib.metrics import soft_nc, soft_ns
from faithlib.perturb import IMAGE_ERASURES, TEXT_ERASURES, Perturber

METHODS = ("attention", "scaled_attention", SQUARED, "input_x_gradient", "integrated_gradients", "deeplift")


@pytest.fixture(scope="module")
def asked() -> tuple[Perturber, Perturber, torch.Tensor]:
    model = text_model("bert", classes=2).eval()
    inputs = TextInputs.from_texts(["a fine film , not bad at all", "unfunny film . who is it"], tokenizer())
    torch.manual_seed(0)
    scores = torch.randn(inputs.feature_mask.shape)
    return Perturber(model, inputs), Perturber(model, inputs, erase="pad"), scores


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        torch.testing.assert_close(values, other[name], equal_nan=True, rtol=1e-4, atol=1e-5)


def test_every_subset_of_hard_choices_is_what_it_says(asked: tuple[Perturber, Perturber, torch.Tensor]) -> None:
    zeroed, padded, scores = asked
    found = {name: values() for name, values in replayed_hard(zeroed, padded, scores)}
    assert len(found) == 2 ** len(paper.HARD_CHOICES)
    same(found["as written"], hard_scores(zeroed, scores))
    same(found["empty text, lengths, limits"], hard_scores(padded, scores, ratios=RELEASED_RATIOS, clip=True))
    same(found["lengths"], hard_scores(zeroed, scores, ratios=RELEASED_RATIOS))
    same(found["empty text, limits"], hard_scores(padded, scores, clip=True))


def test_every_subset_of_soft_choices_is_what_it_says(asked: tuple[Perturber, Perturber, torch.Tensor]) -> None:
    zeroed, padded, scores = asked
    found = {name: values() for name, values in replayed_soft(zeroed, padded, scores, draws=3, seed=5)}
    assert len(found) == 2 ** len(paper.SOFT_CHOICES)
    common = {"draws": 3, "seed": 5}
    both = ("released_ns", "released_nc")
    same(found["as written"], soft_scores(zeroed, scores, **common))
    same(found["normaliser"], soft_scores(zeroed, scores, normaliser=both, **common))
    same(found["mask"], soft_scores(zeroed, scores, variant="released", **common))
    same(found["empty text, limits"], soft_scores(zeroed, scores, empty=padded.empty, clip=True, **common))
    whole = soft_scores(zeroed, scores, normaliser=both, variant="released", empty=padded.empty, clip=True, **common)
    same(found["empty text, limits, normaliser, mask"], whole)
    same(found[", ".join(paper.SOFT_CHOICES)], {name: value[:, :1] for name, value in whole.items()})


def test_choices_are_named_in_one_order_and_only_where_they_count() -> None:
    assert replay_name("soft_ns", list(paper.RELEASED)) == ", ".join(paper.SOFT_CHOICES)
    assert replay_name("ns", ["ties", "draws"]) == "as written"
    assert set(paper.HARD_CHOICES) | set(paper.SOFT_CHOICES) < set(paper.RELEASED)
    assert len(list(paper.subsets(list(paper.RELEASED)))) == 256


# --- the page --------------------------------------------------------------------------------------------------------


def values(share: dict[str, float], *, n: int, seed: int) -> pd.DataFrame:
    """Scores of every metric, method and subset in which methods beat random on a share of n inputs: hard ones on
    `hard`, on `padded` with padding as the empty text; soft ones on `soft`, on `inverted` with the mask inverted."""
    ease = np.random.default_rng(seed).random(n).argsort().argsort()
    frames = []
    for metric in ("ns", "nc", "soft_ns", "soft_nc"):
        empty, plain = ("soft", "soft") if metric.startswith("soft") else ("padded", "hard")
        for made in paper.subsets(paper.choices_of(metric)):
            key = "inverted" if "mask" in made else empty if "empty text" in made else plain
            won = np.where(ease < round(share[key] * n), 0.8, 0.2)
            about = {
                "id": [f"i{i}" for i in range(n)],
                "metric": metric,
                "variant": replay_name(metric, made),
                "seed": 0,
            }
            frames += [pd.DataFrame({**about, "method": name, "value": won}) for name in METHODS]
            frames.append(pd.DataFrame({**about, "method": "random", "value": 0.5}))
    return pd.concat(frames, ignore_index=True).assign(cluster=lambda frame: frame.id)


def test_each_choice_and_every_combination(store: Store) -> None:
    share = {"hard": 0.85, "padded": 0.3, "soft": 0.6, "inverted": 0.2}
    for seed, name in enumerate(("sst", "multirc", "movie")):
        found = values(share, n=48, seed=seed)
        store.add("soft_replayed", {"replayed": found}, dataset=name)
        plain = found[(found.variant == "as written") & (found.method != SQUARED)]
        soft = plain.metric.str.startswith("soft")
        sure = plain.drop_duplicates("id").assign(metric="p_full", method="none")
        parts = {"": pd.concat([plain[soft], sure]), "lengths": plain[~soft].assign(ratio=0.1)}
        store.add("soft_metrics", {key: part.drop(columns="variant") for key, part in parts.items()}, dataset=name)
        store.add("soft_variants", {"variants": plain.assign(variant="paper")}, dataset=name)
    page = store.report("soft_pipeline")
    path = page.table("soft_pipeline_path", "texts", "step", "metric").estimate
    steps = [("as written", "nc"), ("+ empty text: padding", "nc"), ("+ mask: inverted", "soft_nc")]
    short = [path["substitute data, our models, short texts", *step] for step in steps]
    assert short == pytest.approx([share["hard"], share["padded"], share["inverted"]], abs=0.02)
    assert set(page.table("soft_pipeline_effects").choice) == {"empty text", "mask"}
    # Soft is ahead where the text is padded and the mask as written: 16 of the 64 combinations.
    every = page.table("soft_pipeline_every")
    assert every[every.low > 0].groupby("texts").size().tolist() == [16, 16, 16]


# --------------------------------------------------------------------------------------------------------- from nothing
READER, SEER = text_model("bert"), vision_model()
LENGTHS = st.lists(st.integers(4, 9), min_size=1, max_size=4).map(tuple)


def nothing_of_texts(inputs: TextInputs) -> Tensor:
    """p(predicted) of each text alone, its features' embeddings set to 0, [B]."""
    all_, none = (torch.full((inputs.feature_mask.shape[1],), value) for value in (True, False))
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
