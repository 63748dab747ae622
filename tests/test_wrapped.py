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
    table = evaluate(model, inputs, methods=ROWS, draws=1)
    working = {"attention", "rollout", "activation", "lime", "occlusion", "shapley_sampling", "random", "uniform"}
    assert set(table.method) == working
    assert set(table.attrs["left_out"]) == set(ROWS) - working
    assert all("quantised weights" in why for why in table.attrs["left_out"].values())
    refused(ModelError, "saliency takes gradients, which quantised weights", attribute, "saliency", model, inputs)


class NotDifferentiable(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            raise NotImplementedError("no gradient here")
        return x


def test_one_method_that_fails_does_not_cost_the_others() -> None:
    model, seer = text_model(), vision_model()
    model.dropout = seer.head_drop = NotDifferentiable()
    table = evaluate(model, text_inputs(model), methods=ROWS, draws=1)
    assert {"lime", "occlusion", "attention", "random"} <= set(table.method)
    assert "saliency does not work on this Bert" in table.attrs["left_out"]["saliency"]
    seen = evaluate(seer, image_inputs(), methods=["grad_cam", "rollout", "occlusion"], draws=1)
    assert set(seen.method) == {"rollout", "occlusion"}
    for left in (table.attrs["left_out"]["saliency"], seen.attrs["left_out"]["grad_cam"]):
        assert "NotImplementedError: no gradient here" in left


def test_a_callers_own_error_is_passed_on_and_memory_that_ran_out_says_what_to_do() -> None:
    class Own(RuntimeError):
        pass

    with pytest.raises(Own), looking_inside("saliency", nn.Identity(), gradients=True):
        raise Own
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
    for given, said in zip(other, (r"token id \d+ in row 0", "token type 3 in row 0: .* types 0 to 1"), strict=True):
        refused(InputError, said, attribute, "saliency", model, TextInputs(**{**vars(inputs), **given}))
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
