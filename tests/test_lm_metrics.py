"""Measures of papers about language models against loops written from their formulas, and against scipy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from families import TEXTS, opened, saved
from flat import evaluate
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import optimize, stats
from scipy.spatial import distance
from torch import Tensor

from faithlib.backends import Continuation
from faithlib.catalogue import DIRECTIONS, LANGUAGE
from faithlib.errors import InputError
from faithlib.evaluation import (
    MetricSettings,
    distance_scores,
    lds_scores,
    pi_soft_scores,
    rise_scores,
    top_k_drop_scores,
    win_rate_scores,
)
from faithlib.masks import normalise
from faithlib.metrics import equal_retention, hellinger, lds, mas, randomisation_p, rise, win_rate
from faithlib.perturb import Perturber, SetFunction

SHOTS = "a film : good . one film : bad . review : {text} . it is"
LONG = [text for text in TEXTS if " " in text]
SEEDS = st.integers(0, 2**31)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    return opened(saved("llama", tmp_path_factory.mktemp("hub"), causal=True), causal=True)


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


# ------------------------------------------------------------------------------------------------------------ formulas
@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_the_hellinger_distance_and_what_was_released(seed: int) -> None:
    p, q = drawn(seed, 2, 7).mul(3).softmax(dim=1)
    written = distance.euclidean(np.sqrt(p), np.sqrt(q)) / math.sqrt(2)
    assert float(hellinger(p, q)) == pytest.approx(written, abs=1e-12)
    released = sum((math.sqrt(a) - math.sqrt(b)) ** 2 / math.sqrt(2) for a, b in zip(p, q, strict=True))
    assert float(hellinger(p, q, variant="released")) == pytest.approx(released, abs=1e-12)
    apart = torch.eye(7, dtype=torch.double)[:2]
    assert float(hellinger(*apart)) == pytest.approx(1)
    assert float(hellinger(*apart, variant="released")) == pytest.approx(math.sqrt(2)), "1 - distance is negative"


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(0.02, 0.98), st.integers(2, 9))
def test_equal_retention_has_the_mean_asked_for_and_the_order_of_the_scores(seed: int, share: float, n: int) -> None:
    importance = normalise(drawn(seed, 1, n), "minmax")
    keep = equal_retention(importance, share)
    assert float(keep.mean()) == pytest.approx(share, abs=1e-9)
    a = importance[0].numpy()
    shift = optimize.brentq(lambda b: np.clip(a + b, 0, 1).mean() - share, -1, 1)
    assert np.allclose(keep[0], np.clip(a + shift, 0, 1), atol=1e-6)
    mask = torch.tensor([[True] * n + [False] * 2])
    padded = torch.cat([importance, torch.full((1, 2), 0.7, dtype=torch.double)], dim=1)
    wider = equal_retention(padded, share, mask)
    assert torch.allclose(wider[:, :n], keep)
    assert not wider[:, n:].any()


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.booleans())
def test_lds_is_spearmans_correlation(seed: int, has_ties: bool) -> None:
    predicted, actual = drawn(seed, 2, 3, 12)
    if has_ties:
        predicted, actual = predicted.round(), actual.round()
    for b, found in enumerate(lds(predicted, actual).tolist()):
        expected = stats.spearmanr(predicted[b], actual[b]).statistic
        assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


def reported(scores: list[float], left: list[float]) -> tuple[float, float]:
    """RISE and MAS of one path, step by step as FlashTrace's paper and released evaluation describe them."""

    def area(heights: list[float]) -> float:
        return sum((height + other) / 2 for height, other in itertools.pairwise(heights)) / (len(heights) - 1)

    lowest, response = 1.0, []
    for value in scores:
        share = (value - scores[-1]) / abs(scores[0] - scores[-1])
        lowest = min(lowest, max(0.0, min(1.0, share)))
        response.append(lowest)
    corrected = [min(1.0, n + abs(n - d)) for n, d in zip(response, left, strict=True)]
    low, high = min(corrected), max(corrected)
    if low == high:
        corrected = [1 - k / (len(scores) - 1) for k in range(len(scores))]
    else:
        corrected = [(value - low) / (high - low) for value in corrected]
    return area(response), area(corrected)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 9), st.booleans())
def test_rise_and_mas_as_reported(seed: int, k: int, falls: bool) -> None:
    path = drawn(seed, 1, k + 1)
    path = path.sort(dim=1, descending=falls).values if seed % 3 else path
    left = torch.linspace(1, 0, k + 1, dtype=torch.double)[None]
    left[:, 1:-1] = left[:, 1:-1] ** 2
    expected = reported(path[0].tolist(), left[0].tolist())
    assert float(rise(path)) == pytest.approx(expected[0], abs=1e-9)
    assert float(mas(path, left)) == pytest.approx(expected[1], abs=1e-9)


def test_the_ends_of_the_definitions_and_what_they_do_not_take() -> None:
    assert torch.allclose(equal_retention(torch.full((1, 5), 0.5), 0.3), torch.full((1, 5), 0.3))
    for share in (0.0, 1.0):
        assert equal_retention(torch.rand(2, 5), share).eq(share).all()
    assert lds(torch.ones(1, 5), torch.rand(1, 5)).isnan().all()
    assert rise(torch.tensor([[-5.0, -3.0, -1.0]])).item() == 0, "the best value for an output that only rises"
    assert rise(torch.tensor([[-1.0, -3.0, -1.0]])).isnan().all()
    additive = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    found = rise_scores(additive, torch.tensor([[1.0, -1.0]]))  # scores that sum to nothing are left evenly
    assert float(found["mas"]) == pytest.approx(reported([4.0, 1.0, 0.0], [1.0, 0.5, 0.0])[1])
    refused(InputError, "variant", hellinger, torch.ones(1, 1), torch.ones(1, 1), variant="wrong")
    refused(InputError, "between 0 and 1", equal_retention, torch.rand(1, 5), 1.2)
    refused(InputError, "expected both", lds, torch.ones(1, 5), torch.ones(1, 4))
    refused(InputError, "at least two", rise, torch.ones(1, 1))
    refused(InputError, "between 0 and 1", lds_scores, additive, torch.ones(1, 2), keep=1.0)


def test_win_rates_count_ties_by_halves() -> None:
    value, random = torch.tensor([0.5, 0.0]), torch.tensor([[0.5, 0.4, 0.6, 0.1], [0.0, 0.0, 0.0, 0.0]])
    assert win_rate(value, random).tolist() == [2.5 / 4, 0.5]
    assert randomisation_p(value, random).tolist() == [3 / 5, 1.0]


# ------------------------------------------------------------------------------------------- asked of a language model
def test_reagents_scores_come_from_distances_of_distributions(loaded: tuple[Any, Any]) -> None:
    model, reader = loaded
    alike = Continuation(model, reader, SHOTS, reading="similarity")
    whole = Continuation(model, reader, SHOTS, reading="distribution")
    inputs = alike.inputs(LONG)
    scores = torch.rand(inputs.feature_mask.shape, generator=torch.Generator().manual_seed(3))
    perturber, raw = Perturber(alike, inputs), Perturber(whole, inputs)
    p_full = raw.logits_full.double().softmax(dim=-1)
    a = normalise(scores, "minmax", inputs.feature_mask)
    rows = torch.cat([a[:, None], 1 - a[:, None], torch.zeros_like(a[:, None])], dim=1)
    # The distributions of the same rows, drawn with the same numbers, as a number for each word.
    p_soft = torch.stack([soft_of_word(raw, rows, word) for word in range(p_full.shape[1])], dim=-1).double()
    for variant in ("paper", "released"):
        d = hellinger(p_soft, p_full[:, None], variant=variant)
        kept, removed, empty = d.unbind(dim=1)
        found = distance_scores(perturber, scores, variant=variant)
        assert torch.allclose(found["soft_ns"][:, 0].double(), (empty - kept).clamp(min=0) / empty, atol=1e-3)
        assert torch.allclose(found["soft_nc"][:, 0].double(), removed / empty, atol=1e-3)
    refused(InputError, "of a similarity 1", distance_scores, raw, scores)


def soft_of_word(raw: Perturber, rows: Tensor, word: int) -> Tensor:
    """p(word) of the next token after softly erased prompts, [B, 3]: kept and removed with the draw of step 0 each."""
    asked = Perturber(raw._backend.model, raw.inputs, target=word, check=False)
    parts = [asked.soft(rows[:, step : step + 1])[:, 0, 0] for step in range(2)]
    return torch.stack([*parts, asked.soft_empty], dim=1)


def test_pi_soft_keeps_equal_shares_for_all(loaded: tuple[Any, Any]) -> None:
    lm = Continuation(*loaded, SHOTS, " not bad", reading="probability")
    inputs = lm.inputs(LONG)
    perturber, mask = Perturber(lm, inputs), inputs.feature_mask
    scores = torch.rand(mask.shape, generator=torch.Generator().manual_seed(3))
    shares = [0.25, 0.5, 0.75]
    found = pi_soft_scores(perturber, scores, shares=shares, draws=3)
    a = normalise(scores, "minmax", mask)
    keep = torch.stack([equal_retention(a, share, mask) for share in shares], dim=1)
    assert torch.allclose(keep.sum(dim=2), mask.sum(dim=1)[:, None] * torch.tensor(shares), atol=1e-4)
    p, full, empty = perturber.soft(keep, draws=3), perturber.full, perturber.soft_empty
    for b in range(len(inputs)):
        room = float(full[b] - empty[b])
        for s in range(3):
            own = [(room - max(0.0, float(full[b] - p[b, s, d]))) / room if room > 0 else math.nan for d in range(3)]
            assert float(found["pi_soft_ns"][b, s]) == pytest.approx(np.mean(own), abs=1e-3, nan_ok=True)
    ns = found["pi_soft_ns"]
    expected = (ns[:, 0] + 2 * ns[:, 1] + ns[:, 2]) / 4
    assert torch.allclose(found["pi_soft_ns_area"], expected, atol=1e-5, equal_nan=True)
    assert (found["pi_soft_nc"].nan_to_num() >= 0).all()
    doubled = pi_soft_scores(perturber, 2 * scores, shares=shares, draws=3)
    assert torch.allclose(doubled["pi_soft_nc"], found["pi_soft_nc"], atol=1e-3, equal_nan=True)


def test_drops_ablations_and_deletions_of_a_continuation(loaded: tuple[Any, Any]) -> None:
    lm = Continuation(*loaded, SHOTS, " not bad")
    inputs = lm.inputs(LONG)
    perturber, mask = Perturber(lm, inputs, erase="delete"), inputs.feature_mask
    scores = torch.rand(mask.shape, generator=torch.Generator().manual_seed(5))
    drops, found = top_k_drop_scores(perturber, scores, sizes=(1, 3)), rise_scores(perturber, scores, steps=3)
    correlation = lds_scores(perturber, scores, ablations=20)
    wins = win_rate_scores(perturber, scores, share=0.3, matches=20)
    for b, n in enumerate(inputs.n_features.tolist()):
        alone = Perturber(lm, inputs[[b]], erase="delete")
        own, full = scores[b, :n], float(alone.full)
        order = own.argsort(descending=True).tolist()

        def left(gone: list[int], n: int = n, alone: Perturber = alone) -> float:
            keep = torch.tensor([[[f not in gone for f in range(n)]]])
            return float(alone.keep(keep))

        for place, k in enumerate((1, 3)):
            assert float(drops[b, place]) == pytest.approx(full - left(order[:k]), abs=1e-4)
        sizes = [n // 3 + (step < n % 3) for step in range(3)]
        ends = np.cumsum([0, *sizes])
        path = [left(order[:end]) for end in ends]
        mass = [float(own[order[end:]].sum() / own.sum()) for end in ends]
        expected = reported(path, mass)
        assert float(found["rise"][b]) == pytest.approx(expected[0], abs=1e-3)
        assert float(found["mas"][b]) == pytest.approx(expected[1], abs=1e-3)
        assert float(lds_scores(alone, own[None], ablations=20)) == pytest.approx(float(correlation[b]), abs=1e-6)
        single = win_rate_scores(alone, own[None], share=0.3, matches=20)
        assert {name: float(value) for name, value in single.items()} == {name: float(v[b]) for name, v in wins.items()}
    assert correlation.abs().max() <= 1


def test_an_additive_output_is_explained_by_its_weights() -> None:
    weights = torch.tensor([5.0, -1.0, 3.0, 0.5, 2.0])
    additive = SetFunction(lambda keep: keep.double() @ weights.double(), 5)
    assert float(lds_scores(additive, weights[None])) == pytest.approx(1)
    assert float(lds_scores(additive, -weights[None])) == pytest.approx(-1)
    found = win_rate_scores(additive, weights[None], share=0.4, matches=200)
    assert found["comprehensiveness"] > 0.9, "one in ten draws is the same two features, and ties"
    assert found["comprehensiveness_p"] < 0.2
    assert win_rate_scores(additive, -weights[None], share=0.4, matches=200)["sufficiency"] < 0.1
    chance = torch.stack([win_rate_scores(additive, drawn(i, 1, 5), share=0.4)["sufficiency"] for i in range(60)])
    assert float(chance.mean()) == pytest.approx(0.5, abs=0.12)
    assert rise_scores(additive, -weights[None])["rise"] > rise_scores(additive, weights[None])["rise"]


# ------------------------------------------------------------------------------------------------- asked by `evaluate`
def table_of(
    lm: Continuation, inputs: Any, scores: dict[str, Tensor], metrics: list[str]
) -> dict[tuple[str, str], Any]:
    """The values of `evaluate` by method and metric, inputs in order."""
    table = evaluate(lm, inputs, methods=scores, metrics=metrics, settings=MetricSettings(draws=2, seed=3))
    assert set(table.metric) == set(metrics)
    assert dict(zip(table.metric, table.direction, strict=True)) == {name: DIRECTIONS[name] for name in metrics}
    assert table.summary().notna().any(axis=None)
    return {key: part.value.to_numpy() for key, part in table.groupby(["method", "metric"])}


def test_evaluate_has_the_measures_of_language_models(loaded: tuple[Any, Any]) -> None:
    lm = Continuation(*loaded, SHOTS, " not bad at all")
    inputs = lm.inputs(LONG)
    shape = inputs.feature_mask.shape
    scores = {"mine": torch.rand(shape, generator=torch.Generator().manual_seed(0)), "other": torch.ones(shape)}
    names = [name for family, entry in LANGUAGE.items() if family != "hellinger" for name in entry.directions]
    found = table_of(lm, inputs, scores, names)
    asked = Perturber(lm, inputs)
    for name, own in scores.items():
        pi = pi_soft_scores(asked, own, draws=2, seed=3)
        expected = {metric: pi[f"{metric}_area"] for metric in ("pi_soft_ns", "pi_soft_nc")}
        expected |= dict(zip(("top_1_drop", "top_3_drop", "top_5_drop"), top_k_drop_scores(asked, own).T, strict=True))
        expected |= {"lds": lds_scores(asked, own, seed=3)} | rise_scores(asked, own)
        wins = win_rate_scores(asked, own, seed=3)
        expected |= {f"win_rate_{side}": wins[side] for side in ("comprehensiveness", "sufficiency")}
        assert set(expected) == set(names)
        for metric, value in expected.items():
            assert found[name, metric] == pytest.approx(value.double().numpy(), abs=1e-4, nan_ok=True), metric
    # Distributions are compared where the reading is a similarity.
    names = list(LANGUAGE["hellinger"].directions)
    refused(InputError, "of a similarity 1", evaluate, lm, LONG, methods=["random"], metrics=names)
    alike = Continuation(*loaded, SHOTS, reading="similarity")
    inputs = alike.inputs(LONG)
    found = table_of(alike, inputs, scores, names)
    drawn = distance_scores(Perturber(alike, inputs), scores["mine"], draws=2, seed=3)
    for name in ("soft_ns", "soft_nc"):
        assert found["mine", f"hellinger_{name}"] == pytest.approx(drawn[name].mean(dim=1).numpy(), abs=1e-4)
