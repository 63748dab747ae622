"""Inputs whose reason was planted, explanations of known quality, and the attributions they are compared with.

Words are features of texts, 4 x 4 cells those of images. Shape letters: B inputs, F features.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from faithbook.models import closed_form
from faithbook.models.load import Classifier
from faithbook.sources import planted
from faithbook.sources.datasets import Dataset, load_dataset
from faithbook.sources.excerpts import gold_of, words_within
from faithbook.sources.images import Pictures, as_inputs, load_pictures
from faithbook.sources.object_scenes import mask_of
from faithbook.sources.tokenise import split_words
from faithlib.attribution import Row
from faithlib.errors import unknown
from faithlib.evaluation import shuffled
from faithlib.inputs import ImageInputs, Inputs, TextInputs
from faithlib.perturb import Perturber

ERASURES = {"text": ("mask", "delete", "zero", "pad"), "vision": ("mean", "blur", "zero")}
"""Ways to erase that a planted model is asked about; the first is the main one."""
SHARES = (0.25, 0.5, 1.0)
CLOSED = ("linear", "detector")
"""Models in closed form; their images are read without blocks, and so without attention."""


def text_inputs(data: Dataset, tokenizer: Any) -> tuple[TextInputs, Tensor]:
    """Texts with words as features, and the features that were planted, bool [B, F]."""
    words = [split_words(text) for text in data.texts]
    inputs = TextInputs.from_texts(data.texts, tokenizer, words=words, max_length=data.max_length)
    marked = [words_within(data, row) if data.rationales else [False] * len(words[row]) for row in range(len(data))]
    return inputs, gold_of(inputs, marked)


def picture_inputs(data: Pictures, model: nn.Module) -> tuple[ImageInputs, Tensor]:
    """Images with cells as features, and the cells that were planted, bool [B, F]."""
    inputs = as_inputs(data, model, patch=planted.CELL)
    return inputs, mask_of(data.cells or [()] * len(data), inputs.feature_mask.shape[1])


def planted_inputs(
    modality: str, name: str, classifier: Classifier, n: int
) -> tuple[Inputs, Tensor, Tensor, tuple[str, ...]]:
    """Inputs of a sample of a planted data set's test split, what was planted, labels [B] and ids."""
    if modality == "text":
        data = load_dataset(name, "test", n=n)
        return *text_inputs(data, classifier.tokenizer), torch.tensor(data.labels), data.ids
    shown = load_pictures(name, "test", n=n)
    return *picture_inputs(shown, classifier.model), torch.tensor(shown.labels), shown.ids


def detector(modality: str, tokenizer: Any) -> Classifier:
    """The model in closed form that finds what was planted."""
    return closed_form.word_detector(tokenizer) if modality == "text" else closed_form.stripe_detector()


def linear(
    modality: str, n: int, detector: Classifier, *, device: str
) -> tuple[nn.Module, Inputs, Tensor, tuple[str, ...]]:
    """A linear model, so many inputs of it, the true scores of their features [B, F], and ids: opinions of film
    reviews, or which direction of stripes an image has more of."""
    data: Dataset | Pictures
    inputs: Inputs
    if modality == "text":
        data = load_dataset("planted", "test", n=n)
        bag = closed_form.BagOfWords(load_dataset("movie", "train"), detector.tokenizer)
        model, (inputs, _) = bag.classifier.model, text_inputs(data, detector.tokenizer)
        truth = bag.truth(inputs, Perturber(model, inputs).predicted)
    else:
        data = load_pictures("planted", "test", n=n)
        model = closed_form.linear_patches().model
        inputs, _ = picture_inputs(data, model)
        truth = closed_form.patch_truth(inputs, Perturber(model, inputs).predicted)
    return model.to(device), inputs.to(device), truth.to(device), data.ids


def ladder(truth: Tensor, inputs: Inputs) -> dict[str, Tensor]:
    """The truth [B, F], the truth spoilt more and more (a part of its scores shuffled), and its opposite.

    Of planted explanations, which have few ones and many zeros, every feature's score is moved with that probability.
    """
    rungs = {"truth": truth} | {f"{share:.0%} shuffled": shuffled(truth, inputs, share=share) for share in SHARES}
    return rungs | {"opposite": -truth}


def methods(modality: str, model: str, *, ig_steps: int, lime_samples: int) -> dict[str, str | Row]:
    """The attributions that planted models are explained with, by name; `model`: a closed form, or a trained one.

    >>> list(methods("vision", "detector", ig_steps=4, lime_samples=8))
    ['integrated_gradients', 'random']
    """
    if modality not in ERASURES:
        raise unknown("modality", modality, ERASURES)
    gradients = Row("integrated_gradients", options={"n_steps": ig_steps})
    blind: dict[str, str | Row] = {"integrated_gradients": gradients, "random": "random"}
    if modality == "text":
        lime = Row("lime", options={"n_samples": lime_samples})
        looking = {"saliency": "saliency", "input_x_gradient": "input_x_gradient"}
        return {**looking, **blind, "occlusion": "occlusion", "lime": lime}
    attending = ("grad_cam", "transformer_attribution", "raw_attention", "rollout", "attcat")
    return blind if model in CLOSED else blind | {name: name for name in attending}
