"""Faults that public reports of other tools describe, each as the smallest input of its kind: right, or refused in
words that name the cause. Tests are named by what the report saw."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sequence_classes
import tokenizers
import torch
import transformers as hf
from flat import evaluate
from heads import (
    Around,
    ByIds,
    Centred,
    Headed,
    Keeping,
    MaskedWithin,
    MeanPooled,
    Offset,
    PooledAndLogits,
    WithTopic,
    around,
    headed,
)
from supported import two_towers
from torch import Tensor, nn
from toy_models import text_inputs, text_model, tokenizer

from faithlib import __main__ as command_line
from faithlib import evaluation
from faithlib._warnings_log import collect_warnings
from faithlib.attribution import attribute, methods
from faithlib.backends.functions import Remembering
from faithlib.errors import FaithlibError, InputError, ModelError, UnavailableError
from faithlib.evaluation import MetricSettings, RunSettings
from faithlib.evaluation.prepare import prepare_inputs
from faithlib.inputs import TextInputs, WordInputs
from faithlib.perturb import Perturber

TEXTS = ["a fine film, not bad", "who is it, not a film"]
FEW: dict[str, Any] = {"methods": ["occlusion"], "metrics": ["aopc_morf", "aopc_lerf"]}


def table_of(model: Any, inputs: Any, **options: Any) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return evaluate(model, inputs, **{**FEW, **options})


@contextmanager
def refused(words: str, kind: type[Exception] = FaithlibError) -> Iterator[Any]:
    with pytest.raises(kind, match=re.escape(words)) as found:
        yield found


# ------------------------------------------------------------------------------------------------------------ pipelines
def text_pipeline(**options: Any) -> Any:
    return hf.TextClassificationPipeline(model=text_model(), tokenizer=tokenizer(), **options)


def test_a_zero_shot_pipeline_is_not_explained_by_the_model_inside() -> None:
    labels = ["good", "bad", "other"]
    model = text_model()
    model.config.label2id = {"entailment": 2, "neutral": 1, "contradiction": 0}
    pipeline = hf.ZeroShotClassificationPipeline(model=model, tokenizer=tokenizer())
    with refused("a ZeroShotClassificationPipeline answers something else about a text", ModelError):
        table_of(pipeline, TEXTS)

    def function(texts: list[str]) -> Any:  # as the message says
        answers = pipeline(texts, labels)
        return [
            [dict(zip(answer["labels"], answer["scores"], strict=True))[label] for label in labels]
            for answer in answers
        ]

    with refused("the function fails on the empty text (ValueError: You must include", InputError):
        table_of(function, TEXTS)
    assert np.isfinite(table_of(function, TEXTS, erase="mask").value).all()


@pytest.mark.parametrize("applied", ["softmax", "sigmoid", "none"])
def test_a_pipelines_function_to_apply_is_what_is_explained(applied: str) -> None:
    pipeline = text_pipeline(function_to_apply=applied)
    table = table_of(pipeline, TEXTS)
    output = {"softmax": "probability", "sigmoid": "sigmoid", "none": "logit"}[applied]
    assert table.value.tolist() == pytest.approx(
        table_of(text_model(), TEXTS, tokenizer=tokenizer(), output=output).value
    )
    score = pipeline(TEXTS[0], top_k=1)[0]["score"]
    assert float(re.findall(r"-?[\d.]+\)", table.shown[0].title)[0][:-1]) == pytest.approx(score, rel=1e-2)


def test_a_pipeline_of_one_logit_answers_a_sigmoid() -> None:
    pipeline = hf.TextClassificationPipeline(model=text_model(classes=1), tokenizer=tokenizer())
    by_hand = table_of(text_model(classes=1), TEXTS, tokenizer=tokenizer(), output="sigmoid")
    assert table_of(pipeline, TEXTS).value.tolist() == pytest.approx(by_hand.value)


class Prefixing(hf.TextClassificationPipeline):
    def preprocess(self, inputs: Any, **options: Any) -> Any:
        return super().preprocess(f"it is {inputs}", **options)


def test_a_pipeline_that_reads_something_else_is_refused() -> None:
    with refused("in a way of its own", ModelError):
        table_of(Prefixing(model=text_model(), tokenizer=tokenizer()), TEXTS)


# ------------------------------------------------------------------------------------------------- heads of one's own


def own_logits(model: Any, inputs: TextInputs, b: int, kept: Any = None) -> Tensor:
    """By the model's own call on one row, of the tokens that are kept."""
    ids = inputs.input_ids[b : b + 1, : int(inputs.lengths[b])]
    ids = ids if kept is None else ids[:, kept]
    with torch.no_grad():
        answer = model(ids, attention_mask=torch.ones_like(ids))
    found = answer["logits"] if hasattr(answer, "keys") else answer[-1]
    return found[0]


@pytest.mark.parametrize("kind", [MeanPooled, ByIds, PooledAndLogits, Keeping])
def test_a_head_of_ones_own_is_answered_as_by_its_own_call(kind: type[Headed]) -> None:
    model, inputs = headed(kind), text_inputs(text_model())
    asked = Perturber(model, inputs, erase="delete")
    keep = asked.feature_mask[:, None].clone()
    keep[:, 0, 1] = False
    erased = asked.logits(keep)[:, 0]
    for b in range(len(inputs)):
        owners = inputs.feature_of[b, : int(inputs.lengths[b])]
        assert torch.allclose(asked.logits_full[b], own_logits(model, inputs, b), atol=1e-5)
        assert torch.allclose(erased[b], own_logits(model, inputs, b, owners != 1), atol=1e-5)


@pytest.mark.parametrize("kind", [MeanPooled, ByIds])
def test_gradients_and_soft_metrics_of_a_pooling_head(kind: type[Headed]) -> None:
    names = ["saliency", "integrated_gradients"]
    table = table_of(headed(kind), text_inputs(text_model()), methods=names, metrics=["aopc_morf", "soft_nc"])
    assert not table.attrs["left_out"]
    assert {*table.method} == {*names}


def test_weights_of_attention_are_not_given_to_a_head_that_pools_with_the_mask() -> None:
    asked = Perturber(headed(MeanPooled), text_inputs(text_model()))
    with refused("is of your own and is given the attention mask", ModelError):
        asked.attention_mask(torch.full((3, 1, asked.feature_mask.shape[1]), 0.5))


def test_several_tensors_of_which_none_has_the_classes_stated() -> None:
    model = headed(PooledAndLogits)
    model.config.num_labels = 5
    with refused("answers several tensors that could be logits, [1, 16], [1, 3], and says that it has 5", ModelError):
        Perturber(model, text_inputs(text_model()))


def test_a_forward_that_needs_more_says_so_before_anything_runs() -> None:
    with refused("its forward needs topic as well", ModelError):
        Perturber(headed(WithTopic), text_inputs(text_model()))


def test_a_model_that_keeps_its_outputs_is_copied() -> None:
    model, inputs = headed(Keeping), text_inputs(text_model())
    model(inputs.input_ids, attention_mask=inputs.attention_mask.long())
    before = model.kept["answer"].last_hidden_state
    assert np.isfinite(table_of(model, inputs, methods=["saliency"]).value.dropna()).all()
    model(inputs.input_ids, attention_mask=inputs.attention_mask.long())
    assert model.kept["answer"].last_hidden_state.shape == before.shape


@pytest.mark.parametrize("kind", [Around, MaskedWithin])
@pytest.mark.parametrize("erase", ["zero", "pad", "mask", "delete"])
def test_a_plain_module_around_an_encoder_is_answered_as_by_its_own_call(kind: type[Around], erase: Any) -> None:
    """The commonest head of one's own; it was refused as no classifier of Hugging Face."""
    model, inputs = around(kind), text_inputs(text_model())
    asked = Perturber(model, inputs, erase=erase)
    keep = asked.feature_mask[:, None].clone()
    keep[:, 0, 1] = False
    erased = asked.logits(keep)[:, 0]
    for b in range(len(inputs)):
        length = int(inputs.lengths[b])
        ids, gone = inputs.input_ids[b : b + 1, :length], inputs.feature_of[b, :length] == 1
        read = {
            "delete": ids[:, ~gone],
            "pad": ids.where(~gone, inputs.pad_id),
            "mask": ids.where(~gone, inputs.mask_id),
        }
        lacking = gone[None, :, None] & torch.tensor(erase == "zero")
        hook = model.encoder.embeddings.register_forward_hook(lambda _, __, out, at=lacking: out.masked_fill(at, 0))
        mask = {} if kind is MaskedWithin else {"attention_mask": torch.ones_like(read.get(erase, ids))}
        with torch.no_grad():
            own = model(read.get(erase, ids), **mask)[0] if erase == "zero" else None
            hook.remove()
            own = model(read.get(erase, ids), **mask)[0] if own is None else own
        assert torch.allclose(erased[b], own, atol=1e-5), (erase, b)


def test_a_classifier_inside_a_plain_module_is_reached_and_two_encoders_are_refused() -> None:
    class Softened(nn.Module):
        def __init__(self, *models: nn.Module) -> None:
            super().__init__()
            self.models = nn.ModuleList(models)

        def forward(self, **given: Any) -> Any:
            return sum(model(**given).logits for model in self.models) / 3

    model, inputs = text_model(), text_inputs(text_model())
    asked = Perturber(Softened(model).eval(), inputs)
    assert torch.allclose(asked.logits_full * 3, Perturber(model, inputs).logits_full, atol=1e-5)
    with refused("this Softened holds 2 encoders, BertModel, BertModel, each with embeddings of its own", ModelError):
        Perturber(Softened(model, text_model()).eval(), inputs)


def test_a_forward_without_input_ids_is_refused_by_its_names() -> None:
    class Positional(Around):
        def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(x, torch.ones_like(x))

    with refused("the forward of this Positional takes x: expected token ids by the name input_ids", ModelError):
        Perturber(around(Positional), text_inputs(text_model()))


@pytest.mark.parametrize("rows", [[0], [0, 1]])
def test_answers_that_depend_on_the_batch_are_refused_for_one_text_as_for_several(rows: list[int]) -> None:
    """Of one text nothing was noticed: its copies share forwards, and every value was another one."""
    inputs, pixels = text_inputs(text_model())[rows], torch.randn(3, 3, 32, 32)[rows]
    with refused("answers input 0 alone, and in one call with other inputs", ModelError):
        Perturber(around(Centred), inputs)

    def centred(texts: list[str]) -> Tensor:
        logits = torch.tensor(by_length(texts)).log()
        return (logits - logits.mean(dim=0)).softmax(dim=1)

    def from_short_to_long(texts: list[str]) -> list[list[float]]:
        return by_length(sorted(texts, key=len))

    texts = [["not a film at all", "who is it, not a film"][row] for row in rows]
    for function in (centred, from_short_to_long):
        with refused("alone, and in one call with other texts", ModelError):
            table_of(function, texts[::-1])
    table_of(by_length, texts)

    class Batched(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = seer()

        def forward(self, pixels: Tensor) -> Any:
            return self.model(pixels - pixels.mean(dim=0))

    with refused("answers input 0 alone, and in one call with other inputs", ModelError):
        table_of(Batched().eval(), pixels)


def test_the_padding_token_in_a_text_is_named_as_the_cause() -> None:
    sizes: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    torch.manual_seed(0)
    model = hf.RobertaForSequenceClassification(hf.RobertaConfig(vocab_size=60, pad_token_id=0, **sizes)).eval()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.4)
    inputs = text_inputs(text_model())[[0]]
    inputs.input_ids[0, 2] = inputs.pad_id
    with refused(
        f"the id of padding, {inputs.pad_id}, is the cause: it stands in the text itself, at token 2", ModelError
    ):
        Perturber(model, dataclasses.replace(inputs, token_type_ids=None))


# ---------------------------------------------------------------------------------------------- scores from elsewhere
def test_scores_that_are_padded_on_the_left_are_refused() -> None:
    model, inputs = text_model(), text_inputs(text_model())
    scores = attribute("occlusion", model, inputs)
    turned = torch.stack(
        [row.roll(int((~present).sum())) for row, present in zip(scores, inputs.feature_mask, strict=True)]
    )
    with refused("of input 1, which has 4 features, are padded on the left", InputError):
        table_of(model, inputs, methods={"mine": turned})
    with refused("padded on the left", InputError):
        table_of(model, inputs, methods={"mine": turned.tolist()})


def test_scores_beyond_the_features_of_an_input_are_not_dropped_without_a_word() -> None:
    model, inputs = text_model(), text_inputs(text_model())
    scores = torch.ones(inputs.feature_mask.shape)
    table = evaluate(model, inputs, methods={"mine": scores}, metrics=["aopc_morf"])
    assert table.attrs["notes"]["scores of 'mine'"] == "values beyond the features of inputs 1, 2 are not read"
    table_of(model, inputs, methods={"mine": scores.where(inputs.feature_mask, torch.nan)})


def test_words_in_place_of_attributions_are_refused() -> None:
    with refused("attributions 'mine': the explanation of text 0 is ['a', 'b']: expected an Explanation", InputError):
        evaluation.evaluate(by_length, ["a film", "not bad"], attributions={"mine": [["a", "b"], ["c", "d"]]})


@pytest.mark.parametrize("name", methods("text"))
def test_what_attribute_answers_can_be_given_to_evaluate(name: str) -> None:
    model, inputs = text_model(), text_inputs(text_model())
    with warnings.catch_warnings(action="ignore"):
        scores = attribute(name, model, inputs)
    assert not table_of(model, inputs, methods={"mine": scores}).empty


# ------------------------------------------------------------------------------------------------------ texts and pairs
def test_lists_of_two_words_are_no_pairs() -> None:
    words = [["good", "film"], ["bad", "film"]]
    with refused("a list of two words: of a text cut into words expected the text, ' '.join(words)", InputError):
        table_of(text_model(), words, tokenizer=tokenizer())
    with refused("of a text cut into words, ' '.join(words)", InputError):
        table_of(text_model(), [["a", "good", "film"], ["bad", "film"]], tokenizer=tokenizer())


def test_pairs_are_tuples_or_lists_of_texts() -> None:
    pairs = [("a film", "not bad"), ("who", "it is")]
    made = [prepare_inputs(text_model(), kind, tokenizer()).inputs for kind in (pairs, [[*pair] for pair in pairs])]
    assert torch.equal(made[0].input_ids, made[1].input_ids)
    assert prepare_inputs(text_model(), [("film", "bad")], tokenizer()).inputs.n_features.tolist() == [2]


# -------------------------------------------------------------------------------------------------------------- images
def test_a_model_of_two_towers_has_the_patches_of_the_one_that_sees() -> None:
    sees = {"image_size": 28, "patch_size": 7, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    sees["intermediate_size"] = 32
    torch.manual_seed(0)
    for kind, config in (
        (hf.CLIPForImageClassification, hf.CLIPConfig),
        (hf.SiglipForImageClassification, hf.SiglipConfig),
    ):
        model = kind(config(vision_config=sees, num_labels=3)).eval()
        assert prepare_inputs(model, torch.randn(2, 3, 28, 28)).inputs.n_features.tolist() == [16, 16]


# ------------------------------------------------------------------------------------- what is checked before it runs
def counted(model: nn.Module) -> list[int]:
    calls: list[int] = []
    model.register_forward_hook(lambda *_: calls.append(1))
    return calls


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": ["salency"]}, "unknown method 'salency'"),
        ({"metrics": ["aopc_mrf"]}, "unknown metric"),
        ({"erase": "blank"}, "unknown erase"),
        ({"output": "probabilities"}, "unknown output"),
        ({"target": "good"}, "unknown target 'good'"),
        ({"target": 7}, "expected classes 0 to 2"),
        ({"gold": [[True]]}, "gold"),
        ({"draws": 0}, "draws 0"),
    ],
)
def test_what_can_be_checked_is_checked_before_the_first_row(options: dict[str, Any], words: str) -> None:
    model = text_model()
    calls = counted(model)
    with refused(words):
        table_of(model, TEXTS, tokenizer=tokenizer(), **options)
    assert not calls


@pytest.mark.parametrize("names", [{"bad": 0, "good": 1, "fair": 2}, {-1: "bad", 0: "good"}])
def test_label_names_that_are_no_map_from_classes_are_refused_before_the_first_row(names: Any) -> None:
    model = text_model()
    model.config.id2label = names
    calls = counted(model)
    with refused("config.id2label", InputError):
        table_of(model, TEXTS, tokenizer=tokenizer())
    assert not calls


def test_label_names_with_gaps_are_counted() -> None:
    model = text_model()
    model.config.id2label = {0: "bad", 2: "good"}
    table = table_of(model, TEXTS, tokenizer=tokenizer(), target=1)
    assert table.shown[0].title.startswith("class 1")


# ----------------------------------------------------------------------------------------------------------- functions
def by_length(texts: list[str]) -> list[list[float]]:
    shares = [(1 + len(text)) / (40 + len(text)) for text in texts]
    return [[0.6 * (1 - p), 0.4 * (1 - p), p] for p in shares]


def test_answers_sorted_by_size_are_noticed() -> None:
    sorted_answers = table_of(lambda texts: [sorted(row, reverse=True) for row in by_length(texts)], TEXTS)
    assert "as where they are sorted by size (top_k=None)" in sorted_answers.attrs["notes"]["function"]
    assert not table_of(by_length, TEXTS).attrs["notes"]


def test_answers_in_one_buffer_are_copied() -> None:
    """A function that answers in the same memory each time changed the answers that were kept: AOPC .057, not .113."""
    buffers: list[Any] = [np.zeros((99, 3), dtype=np.float32), torch.zeros(99, 3)]

    def answering_in(buffer: Any) -> Any:
        def function(texts: list[str]) -> Any:
            buffer[: len(texts)] = torch.tensor(by_length(texts)).to(torch.float32)
            return buffer[: len(texts)]

        return function

    expected = table_of(by_length, TEXTS).value.tolist()
    for buffer in buffers:
        assert table_of(answering_in(buffer), TEXTS).value.tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "held",
    [
        lambda rows: [torch.tensor(row) for row in rows],
        lambda rows: pd.DataFrame(rows, columns=["bad", "fair", "good"]),
        lambda rows: (row for row in rows),
        lambda rows: np.array([*rows, None], dtype=object)[:-1],
        lambda rows: torch.tensor(rows, requires_grad=True),
    ],
)
def test_answers_are_taken_whatever_holds_them(held: Any) -> None:
    expected = table_of(by_length, TEXTS).value.tolist()
    found = table_of(lambda texts: held(by_length(texts)), TEXTS)
    assert found.value.tolist() == pytest.approx(expected, abs=1e-6)


def test_a_function_that_has_to_be_awaited_is_refused() -> None:
    async def function(texts: list[str]) -> list[list[float]]:
        return by_length(texts)

    with refused("the function answered a coroutine, as `async def` does", InputError):
        table_of(function, TEXTS)
    expected = table_of(by_length, TEXTS).value.tolist()
    assert table_of(lambda texts: asyncio.run(function(texts)), TEXTS).value.tolist() == expected  # as the message says


def test_answers_as_lists_of_dicts_say_the_cure() -> None:
    pipeline = text_pipeline()
    with refused("give the pipeline itself, or lambda texts: [[one['score'] for one in sorted(row", InputError):
        table_of(lambda texts: pipeline(texts, top_k=None), TEXTS)

    def in_order(texts: list[str]) -> Any:  # as the message says
        return [
            [answer["score"] for answer in sorted(row, key=lambda answer: answer["label"])]
            for row in pipeline(texts, top_k=None)
        ]

    expected = table_of(pipeline, TEXTS, erase="mask")
    assert table_of(in_order, TEXTS, erase="mask").shape == expected.shape


class Labels:
    """As SetFit: a call answers labels, `predict_proba` probabilities."""

    def __call__(self, texts: list[str]) -> list[str]:
        return ["good" for _ in texts]

    def predict_proba(self, texts: list[str]) -> list[list[float]]:
        return by_length(texts)


def test_an_object_that_can_be_called_is_asked_for_probabilities_where_it_has_them() -> None:
    assert table_of(Labels(), TEXTS).value.tolist() == table_of(by_length, TEXTS).value.tolist()


class Margins:
    def fit(self, texts: list[str], labels: list[int]) -> None: ...

    def predict(self, texts: list[str]) -> list[str]:
        return ["good" for _ in texts]


def test_an_estimator_without_probabilities_is_told_how_to_get_some() -> None:
    with refused("model is a Margins without predict_proba", InputError):
        table_of(Margins(), TEXTS)
    with refused("the function answered the label 'good'", InputError):
        table_of(Margins().predict, TEXTS)


@pytest.mark.parametrize("failing", [True, False])
def test_the_empty_text_is_named_where_a_function_fails_on_it(failing: bool) -> None:
    def function(texts: list[str]) -> list[list[float]]:
        if failing and "" in texts:
            raise IndexError("index out of range")
        return [row if text else [np.nan] * 3 for row, text in zip(by_length(texts), texts, strict=True)]

    said = "fails on the empty text (IndexError: index out of range)" if failing else "answers NaN for the empty text"
    with refused(f"the function {said}. It is asked where every word is erased: with erase='mask'", InputError):
        table_of(function, TEXTS)
    assert np.isfinite(table_of(function, TEXTS, erase="mask").value).all()
    assert np.isfinite(table_of(function, WordInputs.from_texts(TEXTS, empty="[MASK]")).value).all()


class RateLimitError(Exception): ...


class Service:
    """It answers `most` texts and is refused then, so many times."""

    def __init__(self, most: int, times: int) -> None:
        self.most, self.times, self.paid, self.calls = most, times, 0, 0

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.calls += 1
        if self.paid >= self.most and self.times:
            self.times -= 1
            raise RateLimitError("slow down")
        self.paid += len(texts)
        return by_length(texts)


def test_a_rate_limit_is_waited_for() -> None:
    service = Service(most=3, times=2)
    table = table_of(Remembering(service, waits=(0, 0)), TEXTS)
    assert table.value.tolist() == table_of(by_length, TEXTS).value.tolist()


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_after_a_rate_limit_nothing_is_paid_for_again(on_error: str) -> None:
    service = Service(most=3, times=3)
    with refused("the function was refused 3 times (RateLimitError: slow down)", UnavailableError) as found:
        table_of(Remembering(service, waits=(0, 0)), TEXTS, on_error=on_error)
    calls, paid = service.calls, service.paid
    table = table_of(found.value.answered, TEXTS)
    assert table.value.tolist() == table_of(by_length, TEXTS).value.tolist()
    whole = Service(most=10**6, times=0)
    table_of(Remembering(whole), TEXTS)
    assert service.paid <= whole.paid + 2  # two rows of the self-check
    assert calls < 8 and paid >= 3


def test_a_refusal_in_a_later_block_keeps_what_earlier_blocks_paid_for() -> None:
    texts = [f"{text} {number}" for number in range(4) for text in TEXTS]
    run = RunSettings(block=len(TEXTS))
    whole = Service(most=10**6, times=0)
    expected = evaluate(Remembering(whole), texts, methods=["occlusion"], metrics=["saco"], run=run)
    service = Service(most=whole.paid * 3 // 4, times=10)
    with pytest.MonkeyPatch.context() as patch, refused("the function was refused", UnavailableError) as found:
        patch.setattr("faithlib.backends.functions.time.sleep", lambda seconds: None)
        evaluate(service, texts, methods=["occlusion"], metrics=["saco"], run=run)
    service.times = 0
    assert found.value.answered.n_answers == service.paid - 2  # two rows of the self-check were asked beside it
    table = evaluate(found.value.answered, texts, methods=["occlusion"], metrics=["saco"], run=run)
    assert table.value.tolist() == expected.value.tolist()
    assert service.paid <= whole.paid + 2  # two rows of the self-check


def test_a_function_that_depends_on_company_is_refused() -> None:
    def function(texts: list[str]) -> list[list[float]]:
        longest = max(map(len, texts))
        return [[p, 1 - p] for p in ((1 + len(text)) / (2 + longest) / 2 for text in texts)]

    with refused("alone, and in one call with other texts", ModelError):
        table_of(function, ["a fine film", "who is it, not a film at all"])


# ---------------------------------------------------------------------------------------- what is no plain torch module
class Called(nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        return self.model(input_ids=input_ids, attention_mask=attention_mask).logits


def seer() -> nn.Module:
    torch.manual_seed(0)
    layers = nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
    return nn.Sequential(*layers).eval()


def test_torchscript_of_a_text_model_is_told_to_be_asked_as_a_function() -> None:
    inputs = text_inputs(text_model())
    tensors = inputs.input_ids, inputs.attention_mask.long()
    with warnings.catch_warnings(action="ignore"):
        traced = torch.jit.trace(Called(text_model()).eval(), tensors, check_trace=False)
    with refused("this model is TorchScript, traced or scripted", ModelError):
        table_of(traced, inputs)


@pytest.mark.parametrize("how", ["traced", "scripted"])
def test_torchscript_of_an_image_model_is_asked_about_pixels(how: str) -> None:
    pixels = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    with warnings.catch_warnings(action="ignore"):
        model = torch.jit.trace(seer(), pixels) if how == "traced" else torch.jit.script(seer())
    names = ["occlusion", "integrated_gradients"]
    expected = table_of(seer(), pixels, methods=names)
    assert table_of(model, pixels, methods=names).value.tolist() == pytest.approx(expected.value.tolist(), abs=1e-5)


def test_a_model_of_images_and_texts_is_told_to_be_asked_as_a_function_and_is_exact_then() -> None:
    model, pixels = two_towers(), torch.randn(2, 3, 32, 32)
    with refused("it reads a text beside each image: ask it as a function of pixels", ModelError):
        table_of(model, pixels)
    texts = torch.tensor([[1, 5, 2], [1, 7, 2]])

    def function(pixels: Tensor) -> Tensor:
        with torch.no_grad():
            return model(pixel_values=pixels, input_ids=texts).logits_per_image

    with torch.no_grad():
        own = function(pixels).softmax(dim=1).amax(dim=1)
    assert torch.allclose(Perturber(function, prepare_inputs(function, pixels, unit=16).inputs).full, own, atol=1e-6)


def test_images_for_a_model_of_texts_are_refused_as_such() -> None:
    with refused("does not take images [1, 3, 32, 32]: it reads tokens; expected texts", ModelError):
        table_of(text_model(), torch.randn(2, 3, 32, 32))


def test_further_inputs_of_embeddings_are_named() -> None:
    with refused("which read bbox beside token ids", ModelError):
        Perturber(sequence_classes.made("LayoutLMForSequenceClassification"), sequence_classes.texts())
    with refused("answers more than one tensor", ModelError):
        Perturber(sequence_classes.made("IBertForSequenceClassification"), sequence_classes.texts())


# ------------------------------------------------------------------------------------------------- the actual cause
def with_types(inputs: TextInputs) -> TextInputs:
    return dataclasses.replace(inputs, token_type_ids=torch.ones_like(inputs.input_ids) * inputs.attention_mask)


def test_token_types_of_a_berts_tokenizer_are_what_gpt2_reads() -> None:
    model, inputs = sequence_classes.made("GPT2ForSequenceClassification"), with_types(sequence_classes.texts())
    answers = Perturber(model, inputs).logits_full
    for b in range(len(inputs)):
        whole = {"input_ids": inputs.input_ids, "token_type_ids": inputs.token_type_ids}
        row = {name: ids[b : b + 1, : int(inputs.lengths[b])] for name, ids in whole.items()}
        with torch.no_grad():
            assert torch.allclose(answers[b], model(**row).logits[0], atol=1e-4)


def test_token_types_that_another_model_adds_are_named_as_the_cause() -> None:
    model, inputs = sequence_classes.made("GPTJForSequenceClassification"), with_types(sequence_classes.texts())
    with refused("its token_type_ids are the cause", ModelError):
        Perturber(model, inputs)


def test_positions_of_ones_own_are_named_as_the_cause() -> None:
    model = headed(Offset)
    with refused("its positions are the cause", ModelError):
        Perturber(model, text_inputs(text_model()))


# ---------------------------------------------------------------------------------------------------- default precision
def test_a_default_dtype_of_float64_changes_no_value() -> None:
    inputs, pixels = text_inputs(text_model()), torch.randn(2, 3, 32, 32, dtype=torch.float32)
    model, looking = text_model(), seer()
    names = ["occlusion", "lime", "shapley_sampling", "saliency", "integrated_gradients", "random", "attention"]

    def tables() -> list[list[float]]:
        return [
            table_of(model, inputs, methods=names, metrics=None).value.tolist(),
            table_of(looking, pixels, methods=["occlusion", "integrated_gradients", "random"]).value.tolist(),
            table_of(by_length, TEXTS, methods=["lime", "random"], metrics=None).value.tolist(),
        ]

    expected = tables()
    torch.set_default_dtype(torch.float64)
    try:
        found = tables()
    finally:
        torch.set_default_dtype(torch.float32)
    for row, other in zip(found, expected, strict=True):
        assert row == pytest.approx(other, abs=1e-5, nan_ok=True)


def test_autocast_around_the_call_is_mentioned() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        table = table_of(text_model(), text_inputs(text_model()))
    assert "inside torch.autocast" in table.attrs["notes"]["autocast"]
    assert not table_of(text_model(), text_inputs(text_model())).attrs["notes"]


# ------------------------------------------------------------------------------------------------- sizes and tokenizers
@pytest.mark.parametrize("side", [299, 300, 331])
def test_images_that_are_no_whole_number_of_patches_are_cut_into_nearly_such(side: int) -> None:
    pixels = torch.zeros(1, 3, side, side)
    with collect_warnings() as notes:
        inputs = prepare_inputs(nn.Flatten(), pixels).inputs
    count = round(side / 16)
    assert inputs.n_features.tolist() == [count**2]
    sizes = inputs.feature_of.unique(return_counts=True)[1]
    assert 14**2 < int(sizes.min()) <= int(sizes.max()) < 18**2
    assert f"{count} x {count} of nearly that size" in notes["patches"]
    with refused("images resized to whole patches, or segments of your own", InputError):
        prepare_inputs(nn.Flatten(), pixels, unit=16)


def byte_level(**more: Any) -> Any:
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<pad>": 0, "<s>": 1} | {character: i + 2 for i, character in enumerate(alphabet)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = tokenizers.processors.ByteLevel(trim_offsets=True)
    for name, value in more.items():
        setattr(made, name, value)
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", model_max_length=100)


@pytest.mark.parametrize(("text", "name"), [("good\nfilm", "\\n"), ("good\tfilm", "\\t"), ("good\u00a0film", "\\xa0")])
def test_a_blank_word_of_a_byte_level_tokenizer_has_a_name(text: str, name: str) -> None:
    assert TextInputs.from_texts([text], byte_level(), unit="word").features == (("good", name, "film"),)


@pytest.mark.parametrize("text", ["\ufb03", "\u00bd cup", "wait\u2026 now"])
def test_what_is_written_as_several_tokens_is_one_word_where_it_is_one_character(text: str) -> None:
    for reader in (byte_level(normalizer=tokenizers.normalizers.NFKC()), byte_level()):
        inputs = TextInputs.from_texts([text], reader, unit="word")
        assert len(set(inputs.spans[0])) == len(inputs.spans[0]), inputs.features


# ---------------------------------------------------------------------------------------------------- the command line
def test_gold_as_spans_of_characters_marks_the_features_that_it_touches() -> None:
    """Reported as "Results of other tools: gold as spans": `[(2, 6)]` was no list of True and False."""
    metrics, model = ["pointing_game", "iou"], text_model()
    texts, marks = ["a fine film", "who is it"], [[False, True, True], [False, False, False]]
    options = {"tokenizer": tokenizer(), "methods": ["occlusion"], "metrics": metrics}
    expected = evaluation.evaluate(model, texts, gold=marks, **options)
    for gold in ([[(3, 5), (6, 8)], []], (spans for spans in ([[2, 9]], ())), [np.array([[2, 9]]), []]):
        assert evaluation.evaluate(model, texts, gold=gold, **options).equals(expected)
    for gold, said in (
        ([[(40, 45)], []], "gold of input 0: [(40, 45)] marks no feature of its text; count from 0"),
        ([[(6, 2)], []], "gold of input 0: expected characters (start, end) with 0 <= start < end, got"),
        ([[(2, 6, 1)], []], "gold of input 0: expected characters (start, end), got"),
        ([[(2, 6)]], "gold: 1 list of characters for 2 inputs"),
        ([(2, 6), (0, 1)], "gold of input 0: expected True and False for each feature, or the characters"),
        (["2:6", ""], "gold of input 0: expected numbers, got '2:6'"),
    ):
        with refused(said, InputError):
            evaluation.evaluate(model, texts, gold=gold, **options)
    with refused("gold of characters: expected inputs made of texts", InputError):
        table_of(seer(), torch.randn(1, 3, 32, 32), gold=[[(2, 6)]], metrics=metrics, methods=["random"])


def test_every_argument_of_evaluate_is_on_the_command_line() -> None:
    arguments = {action.dest for action in evaluate_parser()._actions}
    read_from_files = {"inputs", "tokenizer", "processor", *command_line._MARKS}  # columns of the texts: test_cli
    asked = {*inspect.signature(evaluation.evaluate).parameters} - {"settings", "run"}
    asked |= {field.name for group in (MetricSettings, RunSettings) for field in dataclasses.fields(group)}
    missing = asked - arguments - read_from_files
    assert not missing


def evaluate_parser() -> Any:
    (commands,) = [action for action in command_line._parser()._actions if action.choices]
    return commands.choices["evaluate"]


def test_a_model_of_one_logit_is_measured_from_the_command_line(tmp_path: Path, capsys: Any) -> None:
    text_model(classes=1).save_pretrained(tmp_path / "model")
    tokenizer().save_pretrained(tmp_path / "model")
    (tmp_path / "texts.csv").write_text("text\na fine film\nwho is it\n")
    words = ["evaluate", str(tmp_path / "model"), str(tmp_path / "texts.csv"), "--methods", "occlusion", "--metrics"]
    words += ["aopc_morf", "--out", str(tmp_path / "report.html"), "--device", "cpu"]
    assert command_line.main(words) == 2
    assert "output='sigmoid'" in capsys.readouterr().err
    assert command_line.main([*words, "--output", "sigmoid", "--dtype", "float32", "--seed", "3", "--no-check"]) == 0
    assert command_line.main([*words, "--output", "sigmoid", "--dtype", "float12"]) == 2
    assert "unknown dtype 'float12'" in capsys.readouterr().err
