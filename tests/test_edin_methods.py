"""KernelSHAP against Shapley's definition, AttInGrad against its factors and the released scores."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest
import torch
from torch import Tensor
from toy_models import text_inputs, text_model

from faithbook.papers import edin_released
from faithbook.papers.edin_methods import attin_grad, kernel_shap
from faithbook.papers.edin_released import MODELS
from faithlib.attribution import attribute
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber


def shapley(perturber: Perturber, b: int, n: int) -> list[float]:
    """By the definition: what a feature adds to each set of the others, every size of set counted alike."""

    def answer(kept: tuple[int, ...]) -> float:
        keep = torch.zeros_like(perturber.inputs.feature_mask)
        keep[b, list(kept)] = True
        return float(perturber.keep(keep[:, None])[b, 0])

    found = []
    for one in range(n):
        others = [feature for feature in range(n) if feature != one]
        gains = [
            (answer((*kept, one)) - answer(kept)) / (n * comb(n - 1, size))
            for size in range(n)
            for kept in combinations(others, size)
        ]
        found.append(sum(gains))
    return found


@pytest.fixture(scope="module")
def texts() -> tuple[torch.nn.Module, TextInputs]:
    model = text_model()
    return model, cut_into_words(text_inputs(model, lengths=(6, 4, 3, 7)))


def cut_into_words(inputs: TextInputs) -> TextInputs:
    """The same rows, the first two pieces of each one word."""
    feature_of = torch.where(inputs.feature_of > 0, inputs.feature_of - 1, inputs.feature_of)
    return replace(inputs, feature_of=feature_of, n_features=feature_of.amax(dim=1) + 1)


def test_kernel_shap_estimates_shapley_values(texts: tuple[torch.nn.Module, TextInputs]) -> None:
    perturber = Perturber(texts[0], texts[1], erase="mask")
    found = kernel_shap(perturber, n_samples=3000)
    for b, n in enumerate(perturber.inputs.n_features.tolist()):
        expected = shapley(perturber, b, n)
        spread = max(expected) - min(expected)
        assert found[b, :n].tolist() == pytest.approx(expected, abs=0.05 * spread + 1e-6)
        assert float(found[b].sum()) == pytest.approx(float(perturber.full[b] - perturber.empty[b]), abs=1e-4)
        assert not found[b, n:].any()


def test_kernel_shap_draws_by_content_and_seed(texts: tuple[torch.nn.Module, TextInputs]) -> None:
    model, inputs = texts
    state = torch.random.get_rng_state()
    found = kernel_shap(Perturber(model, inputs, erase="mask"), n_samples=8)
    assert torch.equal(torch.random.get_rng_state(), state)  # nobody else's draws move
    turned = torch.arange(len(found)).flip(0)
    again = kernel_shap(Perturber(model, reordered(inputs, turned), erase="mask"), n_samples=8)
    torch.testing.assert_close(again[turned], found, atol=1e-5, rtol=0)
    other = kernel_shap(Perturber(model, inputs, erase="mask"), n_samples=8, seed=1)
    assert not torch.allclose(other, found)


def reordered(inputs: TextInputs, order: Tensor) -> TextInputs:
    names = ("input_ids", "attention_mask", "feature_of", "n_features", "truncated")
    return replace(inputs, **{name: getattr(inputs, name)[order] for name in names})


def test_attin_grad_is_the_sum_over_pieces_of_its_factors(texts: tuple[torch.nn.Module, TextInputs]) -> None:
    model, inputs = texts
    found, pieces = attin_grad(model, inputs), inputs.by_piece()
    attention = attribute("attention", model, pieces)
    gradient = attribute("input_x_gradient", model, pieces, output="probability", aggregation="l2")
    for b in range(len(found)):
        expected = np.zeros(found.shape[1])
        owners = [feature for feature in inputs.feature_of[b].tolist() if feature >= 0]
        for piece, feature in enumerate(owners):
            expected[feature] += float(attention[b, piece]) * float(gradient[b, piece])
        assert found[b].tolist() == pytest.approx(expected.tolist(), rel=1e-5, abs=1e-9)
    assert (found >= 0).all()
    assert found.any()


@pytest.mark.parametrize("model", MODELS)
def test_released_scores_of_attin_grad_are_products_up_to_a_factor_for_each_text(model: str) -> None:
    """Of a word of several pieces the released numbers are sums: the product of two sums is more than the sum of the
    products, so that it stands below the words of one piece, which share the factor."""
    table = edin_released.attributions(model).pivot(index="id", columns="method", values="scores")
    shares = []
    for row in table.itertuples():
        product = row.attention * row.input_x_gradient
        factors = row.attingrad[product > 0] / product[product > 0]
        shares.append(float(np.isclose(factors, factors.max(), rtol=0.01).mean()))
    assert np.mean(shares) > 0.6
