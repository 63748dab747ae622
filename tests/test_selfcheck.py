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
from toy_models import image_inputs, model_and_texts, text_inputs, text_model, vision_model, vit

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


class Calls:
    """Rows that a model's own call has seen."""

    def __init__(self, model: nn.Module) -> None:
        self.rows = 0
        model.register_forward_hook(self)

    def __call__(self, module: nn.Module, given: Any, output: Any) -> None:
        self.rows += len(getattr(output, "logits", output))


# ------------------------------------------------------------------------------------------------------------- refused
@pytest.mark.parametrize("door", DOORS)
def test_dropout_that_stays_on_is_refused(door: str) -> None:
    model = text_model()
    model.bert.encoder.layer[1].output.dropout.train()
    with pytest.raises(ModelError) as refused:
        DOORS[door](model, text_inputs(model))
    assert "parts are in training mode, bert.encoder.layer.1.output.dropout: call model.eval()" in str(refused.value)
    assert "check=False" in str(refused.value)


@pytest.mark.parametrize("door", [door for door in DOORS if door != "rows"])
def test_a_part_of_an_image_model_in_training_mode_is_refused(door: str) -> None:
    model = vit(drop_path_rate=0.9)
    for block in model.blocks:  # at 1 - 0.9, each is taken now and then
        block.drop_path1.train()
        block.drop_path2.train()

    def often() -> None:
        for _ in range(8):
            DOORS[door](model, image_inputs())

    torch.manual_seed(0)
    refused(ModelError, "from call to call", often)


def test_batch_statistics_are_not_touched() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 4, 4), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3)).eval()
    model[1].train()
    before = model[1].running_mean.clone()
    for door in ("attribute", "gradients"):
        with pytest.raises(ModelError, match=r"a part of this Sequential is in training mode, '1': call model\.eval"):
            DOORS[door](model, image_inputs())
    assert torch.equal(model[1].running_mean, before)


@pytest.mark.parametrize("door", DOORS)
def test_an_output_that_is_changed_around_the_model_is_refused(door: str) -> None:
    """A wrapper in the user's own hands: its call is another function than that of the parts inside."""

    class Louder(nn.DataParallel):
        def forward(self, *given: Any, **named: Any) -> Any:
            answer = self.module(*given, **named)
            answer.logits = 1.1 * answer.logits
            return answer

    model = text_model()
    with pytest.raises(ModelError, match="by its own call, and as it is run here, answers input 0"):
        DOORS[door](Louder(model).eval(), text_inputs(model))


@pytest.mark.parametrize(
    ("kind", "door"),
    [("PrefixTuningConfig", "evaluate"), ("PromptEncoderConfig", "evaluate")]
    + [("PromptTuningConfig", door) for door in DOORS],
)
def test_virtual_tokens_are_refused_by_name(kind: str, door: str) -> None:
    model, inputs = model_and_texts()
    adapted = peft.get_peft_model(model, getattr(peft, kind)(task_type="SEQ_CLS", num_virtual_tokens=3)).eval()
    refused(ModelError, f"reads 3 virtual tokens \\({kind}\\)", DOORS[door], adapted, inputs)


def test_functions_that_answer_differently_each_time_are_refused() -> None:
    numbers = itertools.count()
    texts = WordInputs.from_texts(["a good film", "so bad really"])

    def drawn(given: list[str]) -> Tensor:
        return torch.tensor([[0.5, 0.5], [0.6, 0.4]])[next(numbers) % 2].expand(len(given), 2)

    def beside(given: list[str]) -> list[list[float]]:
        return [[1 / (1 + len(given)), len(given) / (1 + len(given))]] * len(given)

    for door in ("Perturber", "evaluate", "explain", "attribute"):
        refused(ModelError, "the function answers input 0 differently from call to call", DOORS[door], drawn, texts)
    for door in ("Perturber", "evaluate", "explain"):
        refused(ModelError, "no other inputs of the same call", DOORS[door], beside, texts)
    refused(ModelError, "from call to call", Perturber, lambda pixels: torch.rand(len(pixels), 2), image_inputs())
    assert Perturber(drawn, texts, check=False).full.shape == (2,)
    assert len(evaluate(drawn, texts, methods=["random"], metrics=["nc"], check=False))
    assert attribute("occlusion", drawn, texts, check=False).shape == (2, 3)
    assert explain(drawn, texts, ["random"], check=False)["random"].shape == (2, 3)


# ---------------------------------------------------------------------------------------------- what is right, stays
def test_a_part_in_training_mode_that_changes_nothing_is_no_reason() -> None:
    model = text_model()
    model.bert.pooler.train()
    assert Perturber(model, text_inputs(model)).full.shape == (3,)


def test_a_class_of_ones_own_is_run_by_its_own_forward() -> None:
    model = text_model()

    class Louder(type(model)):
        def forward(self, *given: Any, **named: Any) -> Any:
            answer = super().forward(*given, **named)
            answer.logits = 3 * answer.logits
            return answer

    inputs, quiet = text_inputs(model), Perturber(model, text_inputs(model)).logits_full
    model.__class__ = Louder
    assert torch.allclose(Perturber(model, inputs).logits_full, 3 * quiet, atol=1e-5)
    model = text_model()
    own = type(model).forward

    def louder(self: Any, *given: Any, **named: Any) -> Any:
        answer = own(self, *given, **named)
        answer.logits = 3 * answer.logits
        return answer

    model.forward = types.MethodType(louder, model)
    assert torch.allclose(Perturber(model, inputs).logits_full, 3 * quiet, atol=1e-5)


def test_pixels_are_left_where_tokens_do_not_lead_to_the_answer() -> None:
    model, inputs = vision_model(), image_inputs()
    own = model.forward
    model.forward = lambda pixels: 2 * own(pixels)
    table = evaluate(model, inputs, methods=["occlusion", "grad_cam", "rollout", "random"], draws=1)
    assert set(table.method) == {"occlusion", "random"}
    left = table.attrs["left_out"]
    assert set(left) == {"grad_cam", "rollout", "soft_ns", "soft_nc"}
    assert all("its own call answers otherwise than its parts do" in why for why in left.values())
    with torch.no_grad():
        assert torch.allclose(Perturber(model, inputs).logits_full, 2 * own(inputs.pixels), atol=1e-5)
    refused(ModelError, "its own call answers otherwise", attribute, "grad_cam", model, inputs)
    del model.forward
    assert attribute("grad_cam", model, inputs).shape == (3, 4)


# ----------------------------------------------------------------------------------------------------------- its price
def test_two_rows_a_batch_and_no_more() -> None:
    inputs = text_inputs(text_model())
    for door, call in DOORS.items():
        rows = []
        for check in (False, True):
            model = text_model()
            calls = Calls(model)
            call(model, inputs, check=check)
            rows.append(calls.rows)
        assert rows[1] - rows[0] == 2, door


def test_rows_of_the_check_are_on_no_account() -> None:
    model, inputs = model_and_texts()
    scores = {"mine": torch.rand(3, 7)}
    table = evaluate(model, inputs, methods=scores)
    same = evaluate(model, inputs, methods=scores, check=False)
    assert table.attrs["costs"]["rows_run"] == same.attrs["costs"]["rows_run"]
    assert table.attrs["costs"]["rows_run"] == count_rows(model, inputs, methods=scores).together
    asked: list[int] = []

    def fn(given: list[str]) -> list[list[float]]:
        asked.append(len(given))
        return [[0.2, 0.8]] * len(given)

    Perturber(fn, WordInputs.from_texts(["a b", "c"]))
    assert asked == [2, 1, 1]
    asked.clear()
    evaluate(fn, ["a b", "c", "d"], methods=["random"], metrics=["nc"])
    with_check = sum(asked)
    asked.clear()
    evaluate(fn, ["a b", "c", "d"], methods=["random"], metrics=["nc"], check=False)
    assert with_check == sum(asked) + 2


# ------------------------------------------------------------------------------------------------------------------ NaN
def test_answers_that_are_not_numbers_are_refused() -> None:
    model, inputs = model_and_texts()
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[inputs.input_ids[1, 2]] = torch.nan
    with pytest.raises(InputError, match=r"answered NaN or infinity for 1 rows, of inputs \[1\].*torch.bfloat16"):
        Perturber(model, inputs)
    with pytest.raises(InputError, match="answered NaN or infinity for 2 rows"):
        Perturber(lambda pixels: torch.full((len(pixels), 2), torch.inf), ImageInputs.from_pixels(
            torch.rand(2, 3, 4, 4), patch=2))  # fmt: skip
    seen = Perturber(lambda texts: [[0.5, 0.5] if "a" in t else [torch.nan] * 2 for t in texts],
                     WordInputs.from_texts(["a b"]))  # fmt: skip
    refused(InputError, "answered NaN or infinity for 1 rows", seen.keep, torch.tensor([[[False, True]]]))


def test_features_without_a_head_are_refused() -> None:
    for model in (
        timm.create_model("vit_tiny_patch16_224", img_size=32, depth=1, num_classes=0),
        timm.create_model("resnet10t", num_classes=0),
        timm.create_model("test_convnext", num_classes=0),
        timm.create_model("deit_tiny_distilled_patch16_224", img_size=32, depth=1, num_classes=0),
    ):
        inputs = ImageInputs.from_pixels(torch.randn(1, 3, 32, 32), patch=16)
        refused(ModelError, r"has no head .*num_classes=0", Perturber, model.eval(), inputs)
        refused(ModelError, "has no head", attribute, "integrated_gradients", model.eval(), inputs)
    text = text_model()
    text.classifier = nn.Identity()
    refused(ModelError, "has no head", Perturber, text, text_inputs(text))
