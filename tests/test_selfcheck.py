"""What is computed is what the model's own call says of the same input, or nothing is: whatever stands around it."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import peft
import pytest
import timm
import torch
from refusals import refused
from torch import Tensor, nn
from toy_models import image_inputs, model_and_texts, text_inputs, text_model, vision_model

from faithlib.attribution import Row, attribute, attribute_rows
from faithlib.errors import InputError, ModelError
from faithlib.evaluation import count_rows, evaluate, explain
from faithlib.inputs import ImageInputs, TextInputs, WordInputs
from faithlib.perturb import Perturber

DOORS: dict[str, Callable[..., Any]] = {
    "Perturber": Perturber,
    "evaluate": partial(evaluate, methods=["random"], metrics=["nc"]),
    "explain": partial(explain, methods=["occlusion"]),
    "attribute": partial(attribute, "occlusion"),
    "gradients": lambda model, inputs, **given: attribute(
        "saliency" if isinstance(inputs, TextInputs) else "lrp", model, inputs, **given
    ),
    "rows": partial(attribute_rows, [Row("saliency"), Row("lime")]),
}


# ------------------------------------------------------------------------------------------------------------- refused
def test_batch_statistics_are_not_touched() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 4, 4), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3)).eval()
    model[1].train()
    before = model[1].running_mean.clone()
    for door in ("attribute", "gradients"):
        refused(ModelError, "this Sequential is in training mode, '1': call", DOORS[door], model, image_inputs())
    assert torch.equal(model[1].running_mean, before)


class Louder(nn.DataParallel):
    """A wrapper in the user's own hands: its call is another function than that of the parts inside."""

    def forward(self, *given: Any, **named: Any) -> Any:
        answer = self.module(*given, **named)
        answer.logits = 1.1 * answer.logits
        return answer


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_dropout_that_stays_on_a_changed_output_and_virtual_tokens(door: str) -> None:
    model, inputs = model_and_texts()
    refused(ModelError, "by its own call, and as it is run here", DOORS[door], Louder(model).eval(), inputs)
    model.bert.encoder.layer[1].output.dropout.train()
    said = r"in training mode, bert.encoder.layer.1.output.dropout: call model.eval\(\)\. check=False"
    refused(ModelError, said, DOORS[door], model, inputs)
    virtual = peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3)
    adapted = peft.get_peft_model(text_model(), virtual).eval()
    refused(ModelError, r"reads 3 virtual tokens \(PromptTuningConfig\)", DOORS[door], adapted, inputs)


def test_functions_that_answer_differently_each_time_are_refused() -> None:
    numbers = itertools.count()
    texts = WordInputs.from_texts(["a good film", "so bad really"])

    def drawn(given: list[str]) -> Tensor:
        return torch.tensor([[0.5, 0.5], [0.6, 0.4]])[next(numbers) % 2].expand(len(given), 2)

    def beside(given: list[str]) -> list[list[float]]:
        return [[1 / (1 + len(given)), len(given) / (1 + len(given))]] * len(given)

    for door in ("Perturber", "evaluate", "explain", "attribute"):
        refused(ModelError, "the function answers input 0 differently from call to call", DOORS[door], drawn, texts)
        if door != "attribute":
            refused(ModelError, "no other inputs of the same call", DOORS[door], beside, texts)
        assert DOORS[door](drawn, texts, check=False) is not None
    refused(ModelError, "from call to call", Perturber, lambda pixels: torch.rand(len(pixels), 2), image_inputs())


# ---------------------------------------------------------------------------------------------- what is right, stays
def test_a_part_in_training_mode_that_changes_nothing_is_no_reason() -> None:
    model = text_model()
    model.bert.pooler.train()
    assert Perturber(model, text_inputs(model)).full.shape == (3,)


def test_a_forward_of_ones_own_is_what_runs() -> None:
    model, inputs = model_and_texts()
    quiet, own = Perturber(model, inputs).logits_full, type(model).forward

    def louder(self: Any, *given: Any, **named: Any) -> Any:
        answer = own(self, *given, **named)
        answer.logits = 3 * answer.logits
        return answer

    model.__class__ = type("Louder", (type(model),), {"forward": louder})
    bound = text_model()
    bound.forward = types.MethodType(louder, bound)
    for one in (model, bound):
        assert torch.allclose(Perturber(one, inputs).logits_full, 3 * quiet, atol=1e-5)


def test_pixels_are_left_where_tokens_do_not_lead_to_the_answer() -> None:
    """What `evaluate` leaves out then stands in the table of `test_supported`."""
    model, inputs = vision_model(), image_inputs()
    own = model.forward
    model.forward = lambda pixels: 2 * own(pixels)
    with torch.no_grad():
        assert torch.allclose(Perturber(model, inputs).logits_full, 2 * own(inputs.pixels), atol=1e-5)
    refused(ModelError, "its own call answers otherwise", attribute, "grad_cam", model, inputs)
    del model.forward
    assert attribute("grad_cam", model, inputs).shape == (3, 4)


# ----------------------------------------------------------------------------------------------------------- its price
def test_two_rows_a_batch_and_no_more() -> None:
    inputs = text_inputs(text_model())
    for door, call in DOORS.items():
        rows: list[list[int]] = [[], []]
        for check in (False, True):
            model = text_model()
            model.register_forward_hook(lambda _, __, output, seen=rows[check]: seen.append(len(output.logits)))
            call(model, inputs, check=check)
        assert sum(rows[1]) - sum(rows[0]) == 2, door


def test_rows_of_the_check_are_on_no_account() -> None:
    model, inputs = model_and_texts()
    scores = {"mine": torch.rand(3, 7)}
    ran = [evaluate(model, inputs, methods=scores, check=check).attrs["costs"]["rows_run"] for check in (True, False)]
    assert ran == [count_rows(model, inputs, methods=scores).together] * 2
    asked: list[int] = []

    def fn(given: list[str]) -> list[list[float]]:
        asked.append(len(given))
        return [[0.2, 0.8]] * len(given)

    Perturber(fn, WordInputs.from_texts(["a b", "c"]))
    assert asked == [2, 1, 1]


# ------------------------------------------------------------------------------------------------------------------ NaN
def test_answers_that_are_not_numbers_are_refused() -> None:
    """Of whole inputs a row of the table of `test_supported`; of the copies of an input, when they are asked for."""
    model, inputs = model_and_texts()
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[inputs.input_ids[1, 2]] = torch.nan
    refused(InputError, r"NaN or infinity for 1 rows, of inputs \[1\].*torch.bfloat16", Perturber, model, inputs)
    words = WordInputs.from_texts(["a b"])
    seen = Perturber(lambda texts: [[0.5, 0.5] if "a" in t else [torch.nan] * 2 for t in texts], words)
    refused(InputError, "answered NaN or infinity for 1 rows", seen.keep, torch.tensor([[[False, True]]]))


@pytest.mark.parametrize("name", ["resnet10t", "test_convnext", "deit_tiny_distilled_patch16_224", "bert"])
def test_features_without_a_head_are_refused(name: str) -> None:
    if name == "bert":
        model, inputs = model_and_texts()
        model.classifier = nn.Identity()
    else:
        sizes = {"img_size": 32, "depth": 1} if "deit" in name else {}
        model = timm.create_model(name, num_classes=0, **sizes).eval()
        inputs = ImageInputs.from_pixels(torch.randn(1, 3, 32, 32), patch=16)
    refused(ModelError, "has no head", Perturber, model, inputs)
    refused(ModelError, "has no head", attribute, "integrated_gradients", model, inputs)
