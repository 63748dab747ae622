"""The measures of study 5's questions 1 and 5, against their formulas."""

from __future__ import annotations

import pytest
import torch
from toy_models import text_inputs, text_model

from faithbook.studies.language.amounts import amounts, at_equal_retention, faithfulness, first_token, same_order
from faithbook.studies.language.language import of_each_method
from faithlib.metrics.erasure import hard, soft
from faithlib.metrics.language import equal_shares
from faithlib.perturb import Perturber

SHARES = (0.25, 0.75)


@pytest.fixture(scope="module")
def asked() -> Perturber:
    model = text_model("bert")
    return Perturber(model, text_inputs(model, (6, 5)))


@pytest.fixture(scope="module")
def scores(asked: Perturber) -> torch.Tensor:
    drawn = torch.rand(asked.feature_mask.shape, generator=torch.Generator().manual_seed(3))
    return drawn.masked_fill(~asked.feature_mask, 0.0)


def test_the_amount_is_the_mean_of_the_stretched_scores_of_a_texts_words(
    asked: Perturber, scores: torch.Tensor
) -> None:
    found = amounts(asked, scores, draws=2, seed=0)()
    for b, row in enumerate(asked.feature_mask):
        words = scores[b][row].tolist()
        lowest, highest = min(words), max(words)
        by_hand = sum((word - lowest) / (highest - lowest) for word in words) / len(words)
        assert found["amount"][b].item() == pytest.approx(by_hand, abs=1e-6)


def test_every_measure_is_the_mean_of_the_librarys_own(asked: Perturber, scores: torch.Tensor) -> None:
    alone = {name: value.mean(dim=1) for name, value in soft(asked, scores, draws=2, seed=0).items()}
    hard_alone = {name: value.mean(dim=1) for name, value in hard(asked, scores).items()}
    areas = equal_shares(asked, scores, shares=SHARES, seed=0)
    found = {
        "amounts": (amounts(asked, scores, draws=2, seed=0)(), alone),
        "faithfulness": (faithfulness(asked, scores, draws=2, seed=0)(), alone | hard_alone),
        "retention": (
            at_equal_retention(asked, scores, shares=SHARES, seed=0)(),
            {name: areas[f"{name}_area"] for name in ("pi_soft_ns", "pi_soft_nc")},
        ),
    }
    for measured, expected in found.values():
        assert set(measured) - {"amount"} == set(expected)
        for name, value in expected.items():
            torch.testing.assert_close(measured[name], value, atol=1e-6, rtol=0, equal_nan=True)


def test_the_controls_keep_the_order_and_change_the_amount(asked: Perturber, scores: torch.Tensor) -> None:
    controls = same_order(scores, asked.feature_mask)
    found = of_each_method(
        asked, {"occlusion": scores, **controls}, lambda perturber, given: amounts(perturber, given, draws=1, seed=0)
    )
    amount = {name: values["amount"] for name, values in found.items()}
    assert (amount["occlusion_less"] < amount["occlusion"]).all()
    assert (amount["occlusion"] < amount["occlusion_more"]).all()
    for control in controls.values():
        for b, row in enumerate(asked.feature_mask):
            assert control[b][row].argsort().tolist() == scores[b][row].argsort().tolist()


def test_a_negative_score_counts_by_its_size_in_the_share_of_the_first_token() -> None:
    scores = {"rollout": torch.tensor([[-3.0, 1.0, 0.0], [1.0, 1.0, 2.0]])}
    found = first_token(scores, torch.tensor([2, 3]))["rollout"]
    assert found["share"].tolist() == pytest.approx([0.75, 0.25])
    assert found["even_share"].tolist() == pytest.approx([1 / 2, 1 / 3])
