"""The released pipeline of study 1, each of its choices made or not: the values, and the page on a known world."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from store import Store
from toy_models import text_model, tokenizer

from faithbook.papers.zhao_aletras import (
    HARD_CHOICES,
    RELEASED,
    SOFT_CHOICES,
    SQUARED,
    choices_of,
    replay_name,
    subsets,
)
from faithbook.papers.zhao_aletras_soft import replayed_hard, replayed_soft
from faithlib.evaluation import RELEASED_RATIOS, hard_scores, soft_scores
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

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
    found = dict(replayed_hard(zeroed, padded, scores))
    assert len(found) == 2 ** len(HARD_CHOICES)
    same(found["as written"], hard_scores(zeroed, scores))
    same(found["empty text, lengths, limits"], hard_scores(padded, scores, ratios=RELEASED_RATIOS, clip=True))
    same(found["lengths"], hard_scores(zeroed, scores, ratios=RELEASED_RATIOS))
    same(found["empty text, limits"], hard_scores(padded, scores, clip=True))


def test_every_subset_of_soft_choices_is_what_it_says(asked: tuple[Perturber, Perturber, torch.Tensor]) -> None:
    zeroed, padded, scores = asked
    found = dict(replayed_soft(zeroed, padded, scores, draws=3, seed=5))
    assert len(found) == 2 ** len(SOFT_CHOICES)
    common = {"draws": 3, "seed": 5}
    both = ("released_ns", "released_nc")
    same(found["as written"], soft_scores(zeroed, scores, **common))
    same(found["normaliser"], soft_scores(zeroed, scores, normaliser=both, **common))
    same(found["mask"], soft_scores(zeroed, scores, variant="released", **common))
    same(found["empty text, limits"], soft_scores(zeroed, scores, empty=padded.empty, clip=True, **common))
    whole = soft_scores(zeroed, scores, normaliser=both, variant="released", empty=padded.empty, clip=True, **common)
    same(found["empty text, limits, normaliser, mask"], whole)
    same(found[", ".join(SOFT_CHOICES)], {name: value[:, :1] for name, value in whole.items()})


def test_choices_are_named_in_one_order_and_only_where_they_count() -> None:
    assert replay_name("soft_ns", list(RELEASED)) == ", ".join(SOFT_CHOICES)
    assert replay_name("ns", ["ties", "draws"]) == "as written"
    assert set(HARD_CHOICES) | set(SOFT_CHOICES) < set(RELEASED)
    assert len(list(subsets(list(RELEASED)))) == 256


# --- the page --------------------------------------------------------------------------------------------------------


def values(share: dict[str, float], *, n: int, seed: int) -> pd.DataFrame:
    """Scores of every metric, method and subset in which methods beat random on a share of n inputs: hard ones on
    `hard`, on `padded` with padding as the empty text; soft ones on `soft`, on `inverted` with the mask inverted."""
    ease = np.random.default_rng(seed).random(n).argsort().argsort()
    names = [f"i{i}" for i in range(n)]
    frames = []
    for metric in ("ns", "nc", "soft_ns", "soft_nc"):
        for made in subsets(choices_of(metric)):
            soft = metric.startswith("soft")
            key = ("inverted" if "mask" in made else "soft") if soft else "padded" if "empty text" in made else "hard"
            won = np.where(ease < round(share[key] * n), 0.8, 0.2)
            for method in (*METHODS, "random"):
                value = np.full(n, 0.5) if method == "random" else won
                frame = pd.DataFrame({"id": names, "cluster": names, "value": value})
                frames.append(frame.assign(metric=metric, method=method, variant=replay_name(metric, made), seed=0))
    return pd.concat(frames, ignore_index=True)


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
