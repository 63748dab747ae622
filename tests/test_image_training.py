"""What trainings of image classifiers share: the schedule, the loss on mixed batches, accuracy, and the saved files."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import timm.data
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from faithbook.models.image_training import (
    Recipe,
    accuracy,
    in_half_precision,
    new_checkpoint,
    schedule_of,
    write_json,
)
from faithbook.sources.images import Pictures

PLAIN = {"mixup": 0, "cutmix": 0, "erasing": 0, "smoothing": 0.1}
DEIT = {"mixup": 0.8, "cutmix": 1.0, "erasing": 0.25, "smoothing": 0.1}
CLASSES = 3


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, CLASSES))


def recipe(how):
    return Recipe(how, classes=CLASSES, device="cpu", precision=torch.float32)


def batch_of_four():
    return torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(1)), torch.tensor([0, 1, 2, 1])


def test_the_rate_rises_over_a_twentieth_of_the_steps_and_falls_along_a_cosine_to_nothing():
    optimiser = torch.optim.SGD(network().parameters(), lr=0.2)
    schedule = schedule_of(optimiser, 100)
    rates = []
    for _ in range(101):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        schedule.step()
    np.testing.assert_allclose(rates[:6], [0.04, 0.08, 0.12, 0.16, 0.2, 0.2])
    half = 0.5 * (1 + np.cos(math.pi * np.arange(96) / 95))
    np.testing.assert_allclose(rates[5:], 0.2 * half, atol=1e-12)


def test_without_mixing_the_loss_is_cross_entropy_with_smoothed_labels():
    classifier, (batch, labels) = network(), batch_of_four()
    expected = functional.cross_entropy(classifier(batch), labels, label_smoothing=0.1)
    torch.testing.assert_close(recipe(PLAIN).loss(classifier, batch.clone(), labels), expected)


def test_mixed_labels_are_smoothed_once():
    """By hand: what timm mixes by the same seed, and the cross-entropy of its soft labels."""
    classifier, (batch, labels) = network(), batch_of_four()
    how = DEIT | {"erasing": 0}
    np.random.seed(3)  # noqa: NPY002 - timm's mixup draws from NumPy's global generator
    mixup = timm.data.Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=CLASSES)
    mixed, soft = mixup(batch.clone(), labels)
    assert not torch.equal(mixed, batch)
    expected = -(soft * classifier(mixed).log_softmax(dim=1)).sum(dim=1).mean()
    np.random.seed(3)  # noqa: NPY002
    torch.testing.assert_close(recipe(how).loss(classifier, batch.clone(), labels), expected)


def test_a_part_of_some_images_is_erased():
    classifier, (batch, labels) = network(), batch_of_four()
    random.seed(0)
    always = recipe(PLAIN | {"erasing": 1.0}).loss(classifier, batch.clone(), labels)
    never = recipe(PLAIN).loss(classifier, batch.clone(), labels)
    assert always.item() != pytest.approx(never.item(), abs=1e-4)


@pytest.mark.parametrize("is_training", [True, False])
def test_accuracy_counts_every_picture_and_leaves_the_mode_as_it_was(is_training):
    """Five pictures two at a time: each is of its own grey, and the network predicts by that. Dropout of all it says
    would show if it were on."""

    class ByGrey(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(1.0)

        def forward(self, pixels):
            return self.drop(-((pixels.mean(dim=(1, 2, 3))[:, None] - torch.arange(1.0, 6.0)) ** 2) + 100)

    greys = tuple(np.full((4, 4), value, dtype=np.uint8) for value in range(1, 6))
    labels = (0, 1, 0, 3, 4)  # the third is wrong
    pictures = Pictures("greys", "test", greys, labels, tuple("abcde"), tuple("vwxyz"))
    classifier = ByGrey().train(is_training)

    def inputs_of(part):
        return torch.from_numpy(np.stack(part.images)).float()[:, None]

    assert accuracy(classifier, pictures, inputs_of, batch=2) == 4 / 5
    assert classifier.training == is_training


def test_a_checkpoint_that_was_not_finished_leaves_the_one_before(tmp_path):
    target = tmp_path / "model"
    with new_checkpoint(target) as part:
        write_json(part / "card.json", {"accuracy": 0.5})
    with pytest.raises(TypeError), new_checkpoint(target) as part:
        write_json(part / "card.json", {"accuracy": object()})
    assert (target / "card.json").read_text() == '{\n "accuracy": 0.5\n}\n'
    with new_checkpoint(target) as part:
        write_json(part / "config.json", {})
    assert [file.name for file in target.iterdir()] == ["config.json"]
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_weights_are_saved_in_half_precision(tmp_path):
    weights = {"head": torch.linspace(0, 1, 6).view(2, 3).T}
    save_file(in_half_precision(weights), tmp_path / "model.safetensors")
    saved = load_file(tmp_path / "model.safetensors")["head"]
    assert saved.dtype == torch.float16
    torch.testing.assert_close(saved.float(), weights["head"], atol=1e-3, rtol=0)
