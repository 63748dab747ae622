"""Strange inputs of the kinds that public reports are about: each is taken, or refused in a sentence, never silent."""

from __future__ import annotations

import warnings
from collections import UserList
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from refusals import refused
from supported import TEXTS, seer, small
from torch import Tensor, nn
from toy_models import text_inputs, text_model, tokenizer
from transformers import BertForMaskedLM, BertForSequenceClassification

from faithlib.attribution import attribute, methods
from faithlib.backends import PromptClassifier
from faithlib.errors import FaithlibError
from faithlib.evaluation import evaluate
from faithlib.inputs import ImageInputs, TextInputs, WordInputs
from faithlib.perturb import Perturber

BATCH = text_inputs(text_model())
SIZES = [len(row) for row in TextInputs.from_texts(TEXTS, tokenizer(), unit="word").features]
FEW: dict[str, Any] = {"methods": ["occlusion"], "metrics": ["aopc_morf", "saco"]}


def measured(inputs: Any, model: Any = None, **options: Any) -> pd.DataFrame:
    given: dict[str, Any] = {"tokenizer": tokenizer(), **FEW, **options}
    return evaluate(text_model() if model is None else model, inputs, **given)


def arrow(items: Sequence[Any]) -> Any:
    return pytest.importorskip("pyarrow").chunked_array([list(items)])


def objects(items: Sequence[Any]) -> Any:
    return np.array([*items, None], dtype=object)[:-1]


def numbered_otherwise(items: Sequence[Any]) -> Any:
    return pd.Series(list(items), index=[*range(len(items), 0, -1)])


# A column of a `datasets.Dataset` is, as UserList, a sequence and no list; of an iterable data set it is gone through.
@pytest.mark.parametrize("held", [UserList, iter, arrow, objects, numbered_otherwise])
def test_columns_of_data_sets_are_taken_as_lists_are(held: Callable[[Any], Any]) -> None:
    scores, marks = [[0.1 * f for f in range(n)] for n in SIZES], [[True] + [False] * (n - 1) for n in SIZES]
    for name, items in {"target": [0, 1], "spans": [[(0, 1), (2, 6)], [(0, 3), (4, 6)]], "gold": marks}.items():
        more: dict[str, Any] = {"metrics": ["iou"]} if name == "gold" else {}
        assert measured(held(TEXTS), **{name: held(items)}, **more).equals(measured(TEXTS, **{name: items}, **more))
    assert measured(TEXTS, methods={"mine": held(scores)}).equals(measured(TEXTS, methods={"mine": scores}))


def test_a_column_of_pixels_is_taken_as_a_batch_is() -> None:
    pixels = torch.randn(2, 3, 32, 32)
    for held in (UserList(pixels), iter(pixels), tuple(pixels)):
        assert measured(held, seer()).equals(measured(pixels, seer()))


class Ruled(nn.Module):
    """A head that rules a class out, for all inputs or for those whose first number is negative."""

    def __init__(self, head: nn.Module, *, always: bool) -> None:
        super().__init__()
        self.head, self.always = head, always

    def forward(self, state: Tensor) -> Tensor:
        logits = self.head(state).clone()
        logits[:, 2] = torch.where((state[:, 0] > 0) & (not self.always), logits[:, 2], -torch.inf)
        return logits


def ruling_out(*, always: bool) -> Any:
    model = text_model()
    model.classifier = Ruled(model.classifier, always=always)
    return model


@pytest.mark.parametrize("output", ["probability", "logit", "loss", "sigmoid"])
def test_a_class_that_a_model_rules_out_is_explained_by_nobody_and_leaves_the_others_alone(output: str) -> None:
    masked, texts = ruling_out(always=True), BATCH
    for method in ("saliency", "occlusion", "integrated_gradients", "deeplift"):
        if method in ("saliency", "occlusion") or output in ("logit", "loss"):
            refused(FaithlibError, "infinit", attribute, method, masked, texts, target=2, output=output)
    if output != "loss":
        given = {"output": output, **FEW}
        refused(FaithlibError, "the logit is infinite for 3 inputs", evaluate, masked, texts, target=2, **given)
        assert np.isfinite(evaluate(masked, texts, target=0, **given).value).all()


def test_a_class_that_is_ruled_out_for_some_copies_has_a_probability_and_no_logit() -> None:
    model, texts = ruling_out(always=False), text_inputs(text_model(), (9, 8, 9, 9, 7, 8), seed=3)
    kept = texts[Perturber(model, texts, target=0).logits_full[:, 2].isfinite().nonzero()[:, 0]]
    n = kept.feature_mask.shape[1]
    answers = Perturber(model, kept, target=2).keep(~torch.eye(n, dtype=torch.bool).expand(len(kept), n, n))
    assert bool((answers == 0).any()) and bool((answers > 0).any())
    given = {"target": 2, "output": "logit", "methods": ["random"], "metrics": ["aopc_morf"]}
    refused(FaithlibError, "the logit is infinite for .* copies", evaluate, model, kept, **given)
    table = evaluate(model, kept, target=2, methods=["occlusion"], metrics=["log_odds", "aopc_morf"])
    assert not np.isinf(table.value).any()
    assert "no logarithm" in str(table.attrs["undefined"])


def pictured(form: Callable[[Tensor], Any]) -> pd.DataFrame:
    """Of a classifier of pixels whose numbers come out in some form."""
    torch.manual_seed(0)
    linear = nn.Linear(3, 3).requires_grad_(False)
    return measured(torch.randn(2, 3, 32, 32), lambda pixels: form(linear(pixels.mean(dim=(2, 3)))))


def test_probabilities_in_the_place_of_logits_are_noted() -> None:
    with pytest.warns(UserWarning, match="add up to 1 and are read as logits"):
        assert "logits" in pictured(lambda z: z.softmax(dim=-1)).attrs["notes"]
    for form in (lambda z: z, lambda z: z.log_softmax(dim=-1)):
        assert "logits" not in pictured(form).attrs["notes"]


def prompt(template: Any = "{text} is", labels: Any = (" film", " bad"), model: Any = None) -> Any:
    reader = tokenizer()
    reader.chat_template = "{{ raise_exception('no system') }}"
    return PromptClassifier(nn.Linear(1, 1) if model is None else model, reader, template, labels)


CNN = nn.Sequential(nn.Conv2d(3, 2, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
WORDS = WordInputs.from_texts(["a film"])
GREY, MESSAGES = torch.randn(2, 1, 32, 32), [{"role": "system", "content": "{text}"}]
HIDDEN = {"mine": np.ma.masked_less(np.ones((2, max(SIZES))), 2)}
# What is asked for, and what the sentence says of it.
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a class for a model": (lambda: measured(TEXTS, BertForSequenceClassification), "the class BertForSequence"),
    "a class for a tokenizer": (lambda: measured(TEXTS, tokenizer=type(tokenizer())), "load a fast tokenizer"),
    "no tokenizer": (lambda: measured(TEXTS, tokenizer=None), "plain texts give the model's tokenizer"),
    "a number for a method": (lambda: measured(TEXTS, methods=[3]), r"methods \[3\]: expected names or Rows"),
    "a list for a metric": (lambda: measured(TEXTS, metrics=[["saco"]]), r"unknown metric \['saco'\]"),
    "labels without an order": (lambda: prompt(labels={" film", " bad"}), "two words or more in their order"),
    "labels that are numbers": (lambda: prompt(labels=[0, 1]), "two words or more"),
    "masked scores": (lambda: measured(TEXTS, methods=HIDDEN), "nan at feature 0"),
    "another kind of inputs": (lambda: methods("audio"), "unknown kind of inputs 'audio'"),
    "a flag for a patch": (lambda: measured(torch.randn(2, 3, 32, 32), seer(), unit=True), "patch True"),
    "a list of batches": (lambda: measured([GREY, GREY], seer(), tokenizer=None), "are Tensor: expected images"),
    "grey images": (lambda: Perturber(CNN, ImageInputs.from_pixels(GREY, patch=16)), "does not take images .* 3 chan"),
    "images that are too small": (lambda: measured(torch.randn(2, 3, 2, 2), CNN, unit=1), "does not take images"),
    "words for a network": (lambda: Perturber(CNN, WORDS), "WordInputs and a Sequential: these inputs"),
    "another precision": (lambda: Perturber(len, WORDS, dtype=torch.float64), "a function has its own precision"),
    "whole numbers": (lambda: pictured(lambda z: z.argmax(dim=-1)), "answers no logits, torch.int64"),
    "complex numbers": (lambda: pictured(lambda z: z + 1j), "answers no logits, torch.complex64"),
    "an encoder by prompt": (lambda: prompt(model=small(BertForMaskedLM)), "predicts no next token"),
    "a chat that refuses": (lambda: prompt(MESSAGES), "no system.*expected mess"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(name: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        refused(FaithlibError, REFUSED[name][1], REFUSED[name][0])


def test_sparse_numbers_are_those_that_they_stand_for() -> None:
    scores = torch.eye(2, max(SIZES))
    both = [measured(TEXTS, methods={"mine": one}) for one in (scores, scores.to_sparse())]
    assert both[0].equals(both[1])
    answers = SimpleNamespace(dense=lambda texts: torch.eye(2)[[len(text) % 2 for text in texts]])
    sparse = measured(TEXTS, lambda texts: answers.dense(texts).to_sparse(), tokenizer=None)
    assert sparse.equals(measured(TEXTS, answers.dense, tokenizer=None))
