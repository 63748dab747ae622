"""What stands around a model, or was done to it, changes no number; where it would, or cannot be differentiated, that
is said by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import peft
import pytest
import torch
import transformers
from families import TEXTS, opened, saved
from refusals import refused
from supported import checkpointed, compiled, compiled_forward, with_gradients_of_inputs, without_dicts
from test_replica import state
from torch import Tensor, nn
from toy_models import FAST, image_inputs, model_and_texts, quick_rows, text_inputs, text_model, tokenizer, vision_model

from faithlib.attribution import Row, attribute, attribute_rows
from faithlib.attribution.texts import looking_inside
from faithlib.backends import PromptClassifier
from faithlib.errors import InputError, ModelError, OutOfMemoryError
from faithlib.evaluation import evaluate, explain
from faithlib.inputs import TextInputs
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
    return evaluate(*model_and_texts(), methods=ROWS, draws=1)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_every_method_and_metric_is_that_of_the_model_itself(change: Change, unchanged: Any) -> None:
    model, inputs = model_and_texts()
    changed = change(text_model())
    found = evaluate(changed, inputs, methods=ROWS, draws=1)
    assert found.attrs["left_out"] == {}
    assert set(found.method) == set(ROWS)
    assert found.value.to_numpy() == pytest.approx(unchanged.value.to_numpy(), abs=1e-5, rel=1e-4, nan_ok=True)
    for name in ("saliency", "attention", "occlusion"):
        assert torch.allclose(attribute(name, changed, inputs), attribute(name, model, inputs), atol=1e-6)


@pytest.mark.parametrize("change", [compiled, nn.DataParallel, compiled_forward])
def test_compiled_and_parallel_models_that_see_images(change: Change) -> None:
    model, changed, inputs = vision_model(), change(vision_model()), image_inputs()
    for name in ("rollout", "lrp", "integrated_gradients", "occlusion"):
        found, expected = (attribute(name, one, inputs, **FAST.get(name, {})) for one in (changed, model))
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
    found = evaluate(adapted, inputs, methods=named, metrics=["nc", "soft_nc"], draws=1)
    assert state(adapted) == before
    with torch.no_grad():
        own = adapted(input_ids=inputs.input_ids[:1, : inputs.lengths[0]]).logits
    assert torch.allclose(Perturber(adapted, inputs).logits_full[:1], own, atol=1e-5)
    merged = adapted.merge_and_unload()
    expected = evaluate(merged, inputs, methods=named, metrics=["nc", "soft_nc"], draws=1)
    assert found.value.to_numpy() == pytest.approx(expected.value.to_numpy(), abs=1e-4, rel=1e-3, nan_ok=True)


def test_an_adapter_in_a_causal_model_is_asked_by_prompt(tmp_path: Any) -> None:
    model, reader = opened(saved("llama", tmp_path, causal=True), causal=True)
    adapted = peft.get_peft_model(
        model, peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"], init_lora_weights=False)
    ).eval()
    prompt = PromptClassifier(adapted, reader, "review : {text} . it is", [" good", " bad"])
    with torch.no_grad():
        ids = reader("review : a film . it is", return_tensors="pt")
        own = adapted(**ids).logits[0, -1, prompt.label_ids]
    assert torch.allclose(Perturber(prompt, prompt.inputs(["a film"])).logits_full[0], own, atol=1e-5)
    virtual = peft.get_peft_model(
        opened(saved("llama", tmp_path, causal=True), causal=True)[0],
        peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
    ).eval()
    prompt = PromptClassifier(virtual, reader, "review : {text} . it is", [" good", " bad"])
    refused(ModelError, "reads 3 virtual tokens", evaluate, prompt, ["a film"])


# ------------------------------------------------------------------------------------------------------------- few bits
class OfFourBits(nn.Linear):
    """As bitsandbytes' layer, where it cannot unpack the width of its weights."""

    def forward(self, x: Tensor) -> Tensor:
        raise AssertionError


OfFourBits.__module__ = "bitsandbytes.nn"


@pytest.mark.parametrize("check", [True, False])
def test_four_bits_that_cannot_be_unpacked_are_refused_in_words(check: bool) -> None:
    model = text_model("bert")
    model.bert.pooler.dense = OfFourBits(16, 16)
    with pytest.raises(ModelError, match=r"AssertionError .quantised weights: in 4 bits .* load it in 8 bits"):
        Perturber(model, text_inputs(model), check=check)
    refused(ModelError, "in 4 bits", attribute, "occlusion", model, text_inputs(model), check=check)


@pytest.mark.filterwarnings("ignore:int8")
@pytest.mark.parametrize("whole", [True, False])
def test_quantised_weights_are_erased_over_and_not_differentiated(whole: bool) -> None:
    """In part quantised, gradients would come back along the residual ways alone: numbers, and wrong."""
    model, inputs = model_and_texts()
    with warnings.catch_warnings(action="ignore"):
        part = model if whole else model.bert.encoder
        made = torch.ao.quantization.quantize_dynamic(part, {nn.Linear}, inplace=not whole)
    model = made if whole else model
    with pytest.warns(UserWarning, match="int8: dynamic quantisation rounds by the range of all rows"):
        table = evaluate(model, inputs, methods=ROWS, draws=1)
    working = {"attention", "rollout", "activation", "lime", "occlusion", "shapley_sampling", "random", "uniform"}
    assert set(table.method) == working
    assert set(table.attrs["left_out"]) == set(ROWS) - working
    assert all("quantised weights" in why for why in table.attrs["left_out"].values())
    refused(ModelError, "saliency takes gradients, which quantised weights", attribute, "saliency", model, inputs)


def test_one_method_that_fails_does_not_cost_the_others() -> None:
    class Odd(nn.Module):
        """Does not like to be differentiated."""

        def forward(self, x: Tensor) -> Tensor:
            if torch.is_grad_enabled():
                raise NotImplementedError("no gradient here")
            return x

    model = text_model()
    model.dropout = Odd()
    inputs = text_inputs(model)
    table = evaluate(model, inputs, methods=ROWS, draws=1)
    assert {"lime", "occlusion", "attention", "random"} <= set(table.method)
    assert "saliency does not work on this Bert" in table.attrs["left_out"]["saliency"]
    assert "NotImplementedError: no gradient here" in table.attrs["left_out"]["saliency"]
    seer = vision_model()
    seer.head_drop = Odd()
    seen = evaluate(seer, image_inputs(), methods=["grad_cam", "rollout", "occlusion"], draws=1)
    assert set(seen.method) == {"rollout", "occlusion"}
    assert "no gradient here" in seen.attrs["left_out"]["grad_cam"]


def test_a_callers_own_error_is_passed_on() -> None:
    class Own(RuntimeError):
        pass

    def raises(*_: object) -> None:
        raise Own

    with pytest.raises(Own), looking_inside("saliency", nn.Identity(), gradients=True):
        raises()
    looking = looking_inside("saliency", nn.Identity(), gradients=True)
    with pytest.raises(OutOfMemoryError, match="give a smaller max_tokens"), looking:
        raise torch.OutOfMemoryError


def test_scores_that_are_not_numbers_leave_a_method_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from faithlib.attribution.registry import METHODS

    def broken(chunk: Any) -> Tensor:
        return torch.full_like(chunk.embeddings(), torch.nan).detach()

    monkeypatch.setitem(METHODS, "saliency", type(METHODS["saliency"])(broken, "elements", "l2"))
    model = text_model()
    table = evaluate(model, text_inputs(model), methods=["saliency", "occlusion"], metrics=["nc"])
    assert set(table.method) == {"occlusion"}
    assert "gave NaN or infinite scores for 3 of 3 inputs" in table.attrs["left_out"]["saliency"]


# ----------------------------------------------------------------------------------------------------------- precision
def test_gradients_below_the_smallest_number_are_noted() -> None:
    model = text_model()
    model.classifier.weight.data *= 1e-7
    inputs = text_inputs(model)
    with pytest.warns(UserWarning, match="saliency: 100 % of its numbers are 0 in float16.*bfloat16"):
        attribute("saliency", model.half(), inputs)
    with pytest.warns(UserWarning, match="underflow"):
        table = evaluate(model, inputs, methods=["saliency", "occlusion"], metrics=["aopc_morf"])
    assert set(table.attrs["notes"]) == {"saliency"}
    with warnings.catch_warnings(action="error"):
        attribute("saliency", text_model().bfloat16(), inputs)
        attribute("saliency", text_model().half(), inputs)


def test_integrated_gradients_say_what_they_miss() -> None:
    model, inputs = text_model(), text_inputs(text_model())
    perturber = Perturber(model, inputs)
    for steps in (3, 50):
        scores, delta = attribute("integrated_gradients", model, inputs, n_steps=steps, return_delta=True)
        assert torch.equal(scores, attribute("integrated_gradients", model, inputs, n_steps=steps))
        assert torch.allclose(delta, scores.sum(dim=1) - (perturber.full - perturber.empty), atol=1e-5)
        table = evaluate(
            model, inputs, methods={"ig": Row("integrated_gradients", options={"n_steps": steps})}, metrics=["nc"]
        )
        assert table.attrs["convergence"].keys() == {"ig"}
        assert torch.allclose(torch.tensor(list(table.attrs["convergence"]["ig"].values())), delta, atol=1e-6)
    seer, images = vision_model(), image_inputs()
    scores, delta = attribute("integrated_gradients", seer, images, n_steps=5, return_delta=True)
    zeros = Perturber(seer, images, erase="zero")
    assert torch.allclose(delta, scores.sum(dim=1) - (zeros.full - zeros.empty), atol=1e-5)
    table = evaluate(seer, images, methods={"ig": Row("integrated_gradients", options={"n_steps": 5})}, metrics=["nc"])
    assert torch.allclose(torch.tensor(list(table.attrs["convergence"]["ig"].values())), delta, atol=1e-6)
    with pytest.raises(InputError, match="return_delta: of saliency nothing is known to add up"):
        attribute("saliency", model, inputs, return_delta=True)
    deltas: dict[str, Tensor] = {}
    rows = [Row("integrated_gradients", options={"n_steps": 3}), Row("saliency")]
    attribute_rows(rows, model, inputs, deltas=deltas)
    assert list(deltas) == [rows[0].name]


# ----------------------------------------------------------------------------------------------------- another's texts
def test_numbers_beyond_a_models_tables_are_refused_before_it_runs() -> None:
    model, inputs = text_model(), text_inputs(text_model())

    def never(*_: object) -> None:
        raise AssertionError("it ran")

    model.register_forward_pre_hook(never)
    beyond = TextInputs(**{**vars(inputs), "input_ids": inputs.input_ids + 30})
    with pytest.raises(InputError, match=r"token id \d+ in row 0: this BertModel has ids 0 to 59; the texts were cut"):
        evaluate(model, beyond)
    with pytest.raises(InputError, match="token type 3 in row 0: this BertModel has types 0 to 1"):
        attribute("saliency", model, TextInputs(**{**vars(inputs), "token_type_ids": 0 * inputs.input_ids + 3}))
    for family, most in (("bert", 64), ("roberta", 62), ("distilbert", 64)):
        long = text_inputs(text_model(family), (most + 1, 5))
        with pytest.raises(InputError, match=rf"row 0 has {most + 1} tokens, .* places for {most}: .*length={most}"):
            Perturber(text_model(family), long)
        Perturber(text_model(family), text_inputs(text_model(family), (most, 5)))


def test_special_tokens_of_another_model_are_noted() -> None:
    with pytest.warns(UserWarning, match=r"its pad token has the id 0, and the model says 1: is this the model's own"):
        table = evaluate(text_model("roberta"), ["a fine film"], tokenizer=tokenizer(), methods=["random"])
    assert "pad token" in table.attrs["notes"]["tokenizer"]
    with warnings.catch_warnings(action="error"):
        assert explain(text_model(), ["a fine film"], ["random"], tokenizer=tokenizer())
    wide = transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=2000, hidden_size=4, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4
        )
    ).eval()
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
