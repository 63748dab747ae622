"""What stands around a model, or was done to it, changes no number; where it would, or cannot be differentiated, that
is said by name. What is computed is what the model's own call says of the same input, or nothing is."""

from __future__ import annotations

import itertools
import types
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import peft
import pytest
import torch
import transformers
from families import TEXTS, opened, saved
from flat import evaluate
from refusals import refused
from supported import (
    checkpointed,
    compiled,
    compiled_forward,
    pictures,
    seer,
    with_gradients_of_inputs,
    without_dicts,
)
from test_replica import state
from torch import Tensor, nn
from toy_models import FAST, image_inputs, model_and_texts, quick_rows, text_inputs, text_model, tokenizer, vision_model

from faithlib.attribution import Row, attribute, attribute_rows
from faithlib.backends import PromptClassifier
from faithlib.errors import InputError, ModelError, OutOfMemoryError
from faithlib.evaluation import MetricSettings, RunSettings, count_rows, explain
from faithlib.inputs import TextInputs, WordInputs
from faithlib.perturb import Perturber

ROWS = quick_rows("text")


def ever_checkpointed(model: nn.Module) -> nn.Module:
    checkpointed(model.train()).gradient_checkpointing_disable()
    return model.eval()


def compiled_in_place(model: nn.Module) -> nn.Module:
    model.compile(backend="eager")
    return model


Change = Callable[[nn.Module], Any]
CHANGES: list[Change] = [
    checkpointed, ever_checkpointed, with_gradients_of_inputs, without_dicts, compiled_in_place, compiled_forward,
    compiled, nn.DataParallel,
]  # fmt: skip


@pytest.fixture(scope="module")
def unchanged() -> Any:
    return evaluate(*model_and_texts(), methods=ROWS, settings=MetricSettings(draws=1))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_every_method_and_metric_is_that_of_the_model_itself(change: Change, unchanged: Any) -> None:
    model, inputs = model_and_texts()
    changed = change(text_model())
    found = evaluate(changed, inputs, methods=ROWS, settings=MetricSettings(draws=1))
    assert found.attrs["left_out"] == {}
    assert set(found.method) == set(ROWS)
    assert found.value.to_numpy() == pytest.approx(unchanged.value.to_numpy(), abs=1e-5, rel=1e-4, nan_ok=True)
    for name in ("saliency", "attention", "occlusion"):
        assert torch.allclose(attribute(name, changed, inputs), attribute(name, model, inputs), atol=1e-6)


@pytest.mark.parametrize("change", [compiled, nn.DataParallel, compiled_forward])
def test_compiled_and_parallel_models_that_see_images(change: Change) -> None:
    model, changed, inputs = vision_model(), change(vision_model()), image_inputs()
    for name in ("rollout", "lrp", "integrated_gradients", "occlusion"):
        found, expected = (attribute(name, network, inputs, **FAST.get(name, {})) for network in (changed, model))
        assert torch.allclose(found, expected, atol=1e-5), name
    assert torch.allclose(Perturber(changed, inputs).soft_empty, Perturber(model, inputs).soft_empty)


@pytest.mark.parametrize("family", ["bert", "llama", "gpt2"])
def test_adapters_in_the_weights_are_those_of_the_merged_model(family: str, tmp_path: Any) -> None:
    model, reader = opened(saved(family, tmp_path))
    inputs = TextInputs.from_texts(TEXTS, reader)
    modules = {"bert": ["query", "value"], "llama": ["q_proj", "v_proj"], "gpt2": ["c_attn"]}[family]
    config = peft.LoraConfig(task_type="SEQ_CLS", r=2, target_modules=modules, init_lora_weights=False)
    adapted = peft.get_peft_model(model, config).eval()
    named = {name: ROWS[name] for name in ("saliency", "integrated_gradients", "attention", "occlusion")}
    before = state(adapted)
    found = evaluate(adapted, inputs, methods=named, metrics=["nc", "soft_nc"], settings=MetricSettings(draws=1))
    assert state(adapted) == before
    with torch.no_grad():
        own = adapted(input_ids=inputs.input_ids[:1, : inputs.lengths[0]]).logits
    assert torch.allclose(Perturber(adapted, inputs).logits_full[:1], own, atol=1e-5)
    merged = adapted.merge_and_unload()
    expected = evaluate(merged, inputs, methods=named, metrics=["nc", "soft_nc"], settings=MetricSettings(draws=1))
    assert found.value.to_numpy() == pytest.approx(expected.value.to_numpy(), abs=1e-4, rel=1e-3, nan_ok=True)


def test_an_adapter_in_a_causal_model_is_asked_by_prompt(tmp_path: Any) -> None:
    model, reader = opened(saved("llama", tmp_path, causal=True), causal=True)
    config = peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"], init_lora_weights=False)
    adapted = peft.get_peft_model(model, config).eval()
    prompt = PromptClassifier(adapted, reader, "review : {text} . it is", [" good", " bad"])
    with torch.no_grad():
        own = adapted(**reader("review : a film . it is", return_tensors="pt")).logits[0, -1, prompt.label_ids]
    assert torch.allclose(Perturber(prompt, prompt.inputs(["a film"])).logits_full[0], own, atol=1e-5)


# ------------------------------------------------------------------------------------------------------------- few bits
class OfFourBits(nn.Linear):
    """As bitsandbytes' layer, where it cannot unpack the width of its weights."""

    def forward(self, x: Tensor) -> Tensor:
        raise AssertionError


OfFourBits.__module__ = "bitsandbytes.nn"


def test_four_bits_that_cannot_be_unpacked_are_refused_in_words() -> None:
    model = text_model("bert")
    model.bert.pooler.dense = OfFourBits(16, 16)
    said = r"AssertionError .quantised weights: in 4 bits .* load it in 8 bits"
    for check in (True, False):
        refused(ModelError, said, Perturber, model, text_inputs(model), check=check)
    refused(ModelError, "in 4 bits", attribute, "occlusion", model, text_inputs(model))


@pytest.mark.filterwarnings("ignore:int8")
def test_weights_that_are_quantised_in_part_are_erased_over_and_not_differentiated() -> None:
    """Gradients would come back along the residual ways alone: numbers, and wrong."""
    model, inputs = model_and_texts()
    with warnings.catch_warnings(action="ignore"):
        torch.ao.quantization.quantize_dynamic(model.bert.encoder, {nn.Linear}, inplace=True)
    table = evaluate(model, inputs, methods=ROWS, settings=MetricSettings(draws=1))
    working = {"attention", "rollout", "activation", "lime", "occlusion", "shapley_sampling", "random", "uniform"}
    assert set(table.method) == working
    assert set(table.attrs["left_out"]) == set(ROWS) - working
    assert all("quantised weights" in why for why in table.attrs["left_out"].values())
    refused(ModelError, "saliency takes gradients, which quantised weights", attribute, "saliency", model, inputs)


class NotDifferentiable(nn.Module):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            raise self.error
        return x


def test_one_method_that_fails_does_not_cost_the_others() -> None:
    model, seer = text_model(), vision_model()
    model.dropout = seer.head_drop = NotDifferentiable(NotImplementedError("no gradient here"))
    table = evaluate(model, text_inputs(model), methods=ROWS, settings=MetricSettings(draws=1))
    assert {"lime", "occlusion", "attention", "random"} <= set(table.method)
    assert "saliency does not work on this Bert" in table.attrs["left_out"]["saliency"]
    seen = evaluate(
        seer, image_inputs(), methods=["grad_cam", "rollout", "occlusion"], settings=MetricSettings(draws=1)
    )
    assert set(seen.method) == {"rollout", "occlusion"}
    for left in (table.attrs["left_out"]["saliency"], seen.attrs["left_out"]["grad_cam"]):
        assert "NotImplementedError: no gradient here" in left

    model.dropout = NotDifferentiable(torch.OutOfMemoryError())
    refused(OutOfMemoryError, "give a smaller max_tokens", attribute, "saliency", model, text_inputs(model))


class WithoutSlope(torch.autograd.Function):
    """The identity, whose derivative is no number."""

    forward = staticmethod(lambda _, x: x.clone())
    backward = staticmethod(lambda _, gradient: gradient * torch.nan)


def test_scores_that_are_not_numbers_leave_a_method_out() -> None:
    model = text_model()
    model.dropout.register_forward_hook(lambda _, __, output: WithoutSlope.apply(output))
    table = evaluate(model, text_inputs(model), methods=["saliency", "occlusion"], metrics=["nc"])
    assert set(table.method) == {"occlusion"}
    assert "gave NaN or infinite scores for 3 of 3 inputs" in table.attrs["left_out"]["saliency"]


@pytest.mark.parametrize("n_steps", [3, 50])
@pytest.mark.parametrize("kind", ["text", "image"])
def test_integrated_gradients_say_what_they_miss(kind: str, n_steps: int) -> None:
    model, inputs = model_and_texts() if kind == "text" else (vision_model(), image_inputs())
    ends = Perturber(model, inputs, erase="zero")
    scores, delta = attribute("integrated_gradients", model, inputs, n_steps=n_steps, return_delta=True)
    assert torch.equal(scores, attribute("integrated_gradients", model, inputs, n_steps=n_steps))
    assert torch.allclose(delta, scores.sum(dim=1) - (ends.full - ends.empty), atol=1e-5)
    row = Row("integrated_gradients", options={"n_steps": n_steps})
    told = evaluate(model, inputs, methods={"ig": row}, metrics=["nc"]).attrs["convergence"]
    assert list(told) == ["ig"]
    assert torch.allclose(torch.tensor(list(told["ig"].values())), delta, atol=1e-6)
    refused(InputError, "return_delta: of occlusion nothing", attribute, "occlusion", model, inputs, return_delta=True)
    if kind == "text":
        deltas: dict[str, Tensor] = {}
        attribute_rows([row, Row("saliency")], model, inputs, deltas=deltas)
        assert list(deltas) == [row.name]


# ----------------------------------------------------------------------------------------------------- another's texts
def test_numbers_beyond_a_models_tables_are_refused_before_it_runs() -> None:
    """Ids and places of a BERT are rows of the table of `test_supported`."""
    model, inputs = model_and_texts()
    model.register_forward_pre_hook(lambda *_: pytest.fail("it ran"))
    other = {"input_ids": inputs.input_ids + 30}, {"token_type_ids": 0 * inputs.input_ids + 3}
    for tensors, said in zip(other, (r"token id \d+ in row 0", "token type 3 in row 0: .* types 0 to 1"), strict=True):
        refused(InputError, said, attribute, "saliency", model, TextInputs(**{**vars(inputs), **tensors}))
    for family, most in (("roberta", 62), ("distilbert", 64)):
        model = text_model(family)
        refused(InputError, f"places for {most}: .*length={most}", Perturber, model, text_inputs(model, (most + 1, 5)))
        Perturber(model, text_inputs(model, (most, 5)))


def test_a_tokenizer_that_is_much_smaller_than_the_model_is_noted() -> None:
    """One whose pad token is another stands in the table of `test_supported`."""
    with warnings.catch_warnings(action="error"):
        assert explain(text_model(), ["a fine film"], ["random"], tokenizer=tokenizer())
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
    wide = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=2000, **sizes)).eval()
    with pytest.warns(UserWarning, match="it has 20 tokens, and the model ids for 2000"):
        explain(wide, ["a fine film"], ["random"], tokenizer=tokenizer())


@pytest.mark.gpu
def test_gradients_of_a_recurrent_layer_on_a_gpu() -> None:
    """cuDNN goes back through recurrent layers in training mode only."""
    from faithbook.models.lstm import LstmClassifier

    torch.manual_seed(0)
    model = LstmClassifier(torch.randn(60, 8), hidden=6, classes=3).eval()
    inputs = text_inputs(text_model())
    for name in ("saliency", "integrated_gradients", "input_x_gradient"):
        here = attribute(name, model.cpu(), inputs, **FAST.get(name, {}))
        there = attribute(name, model.cuda(), inputs.to("cuda"), **FAST.get(name, {}))
        torch.testing.assert_close(there.cpu(), here, atol=1e-3, rtol=1e-2)


# ------------------------------------------------------------------------------------------------------- the self-check
DOORS: dict[str, Callable[..., Any]] = {
    "Perturber": Perturber,
    "evaluate": partial(evaluate, methods=["random"], metrics=["nc"]),
    "explain": lambda model, inputs, check=True: explain(model, inputs, ["occlusion"], run=RunSettings(check=check)),
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

    def drawn(texts: list[str]) -> Tensor:
        return torch.tensor([[0.5, 0.5], [0.6, 0.4]])[next(numbers) % 2].expand(len(texts), 2)

    def beside(texts: list[str]) -> list[list[float]]:
        return [[1 / (1 + len(texts)), len(texts) / (1 + len(texts))]] * len(texts)

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
    for network in (model, bound):
        assert torch.allclose(Perturber(network, inputs).logits_full, 3 * quiet, atol=1e-5)


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
    ran = [
        evaluate(model, inputs, methods=scores, run=RunSettings(check=check)).attrs["costs"]["rows_run"]
        for check in (True, False)
    ]
    assert ran == [count_rows(model, inputs, methods=scores).together] * 2
    asked: list[int] = []

    def fn(texts: list[str]) -> list[list[float]]:
        asked.append(len(texts))
        return [[0.2, 0.8]] * len(texts)

    Perturber(fn, WordInputs.from_texts(["a b", "c"]))
    assert asked == [1, 2, 1]


# ------------------------------------------------------------------------------------------------------------------ NaN
def test_answers_that_are_not_numbers_are_refused() -> None:
    """Of the copies of an input, when they are asked for; of whole inputs in `test_attribution`."""
    words = WordInputs.from_texts(["a b"])
    seen = Perturber(lambda texts: [[0.5, 0.5] if "a" in t else [torch.nan] * 2 for t in texts], words)
    refused(InputError, "answered NaN or infinity for 1 row,", seen.keep, torch.tensor([[[False, True]]]))


def test_features_without_a_head_are_refused() -> None:
    """Of timm's ViT in the table of `test_supported`."""
    model, inputs = model_and_texts()
    model.classifier = nn.Identity()
    for network, given in ((model, inputs), (seer("resnet10t", num_classes=0), pictures())):
        refused(ModelError, "has no head", Perturber, network, given)
        refused(ModelError, "has no head", attribute, "integrated_gradients", network, given)
