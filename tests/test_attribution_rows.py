"""Many attribution rows at once: the same numbers as one at a time, for fewer passes through the model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from refusals import refused
from torch import Tensor, nn
from toy_models import Bag, image_inputs, in_words, one_row, text_inputs, text_model

from faithbook.studies.crosslingual.zaman_belinkov_rows import EmbeddedTwice
from faithlib.attribution import Cost, Row, attribute, attribute_rows
from faithlib.errors import InputError, ModelError
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

OPTIONS = {
    "lime": {"n_samples": 12, "erase": "pad"},
    "occlusion": {"erase": "pad"},
    "shapley_sampling": {"n_samples": 3, "erase": "pad"},
    "integrated_gradients": {"n_steps": 8, "baseline": "pad"},
}
ELEMENTS = ("input_x_gradient", "saliency", "guided_backprop", "integrated_gradients", "activation")
ERASING = ("lime", "occlusion", "shapley_sampling")
NUMBERS = (("logit", "predicted"), ("loss", "gold"))
GOLD = [2, 0, 1]
CHECKED = 2  # rows of one input that go through the model's own call before anything is computed
PADDED = 2  # rows that show, once for a replica, whether padding does


def row(method: str, aggregation: str | None = None, number: tuple[str, str] = NUMBERS[0]) -> Row:
    return Row(method, aggregation, *number, options=OPTIONS.get(method, {}))


# The thirteen rows of Zaman & Belinkov 2022 for each explained number.
TABLE = [row(method, how, number) for number in NUMBERS for method in ELEMENTS for how in ("mean", "l2")]
TABLE += [row(method, None, number) for number in NUMBERS for method in ERASING]


def alone(row: Row, model: nn.Module | None, inputs: TextInputs) -> Tensor:
    """The row by a call of its own."""
    target = {"predicted": "predicted", "gold": GOLD}[row.target]
    options = {"target": target, "output": row.output, "aggregation": row.aggregation, "pool": row.pool, **row.options}
    return attribute(row.method, model, inputs, **options)


@contextmanager
def counted(model: nn.Module) -> Iterator[SimpleNamespace]:
    """Rows that reach the end of the model's last layer, and gradients that come back there."""
    seen = SimpleNamespace(forward=0, backward=0, forwards=0)

    def hook(_: nn.Module, arguments: object, output: Tensor) -> None:
        seen.forward += len(output)
        seen.forwards += 1
        if output.requires_grad:
            output.register_hook(back)

    def back(gradient: Tensor) -> None:
        seen.backward += len(gradient)

    handle = model.classifier.register_forward_hook(hook)
    try:
        yield seen
    finally:
        handle.remove()


@pytest.fixture(scope="module")
def bert() -> nn.Module:
    return text_model("bert")


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert"])
def test_rows_equal_attribute_one_at_a_time(family: str) -> None:
    model = text_model(family)
    inputs = in_words(text_inputs(model))
    rows = [
        *TABLE,
        Row("saliency", "l2", "logit", pool="mean"),
        Row("guided_backprop", "l2", "logit", options={"variant": "released"}),
        Row("occlusion", None, "loss", "gold", "mean", {"erase": "zero", "unit": "wordpiece"}),
        Row("lime", options={"n_samples": 12}),
        Row("uniform"),
        Row("uniform", pool="mean"),
        Row("random", options={"seed": 3}),
        Row("attention"),
        Row("deeplift", output="loss", target="gold"),
    ]
    scores, costs = attribute_rows(rows, model, inputs, targets={"gold": GOLD})
    assert list(scores) == [row.name for row in rows]
    for row in rows:
        assert torch.allclose(scores[row.name], alone(row, model, inputs), atol=1e-6), row.name
    assert set(costs) == {row.method for row in rows} - {"uniform", "random"}


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_gradients_of_two_outputs_come_from_one_forward(bert: nn.Module, variant: str) -> None:
    inputs = in_words(text_inputs(bert))
    rows = [row(method, "l2", number) for number in NUMBERS for method in ("saliency", "input_x_gradient")]
    rows += [Row("guided_backprop", "l2", *number, options={"variant": variant}) for number in NUMBERS]
    # Rows that read attention or embeddings run once, whatever they are said to explain.
    rows += [Row(method, output=output) for method in ("attention", "activation") for output in ("logit", "loss")]
    with counted(bert) as seen:
        scores, costs = attribute_rows(rows, bert, inputs, targets={"gold": GOLD})
    guided = 1 if variant == "paper" else 0  # released, there is nothing guided on a model without ReLU modules
    assert (seen.forward, seen.backward) == (CHECKED + PADDED + 3 + 3 + 3 * guided, 6 + 6 * guided)
    shares = {"saliency": (1, 1), "input_x_gradient": (0, 0), "guided_backprop": (guided, guided)}
    for method, (forward, backward) in (shares | {"attention": (1, 0), "activation": (0, 0)}).items():
        assert (costs[method].rows_run, costs[method].backward_run) == (3 * forward, 6 * backward), method
    assert costs["saliency"].seconds > 0
    assert torch.equal(scores[rows[-4].name], scores[rows[-3].name])


def test_costs_are_what_the_model_saw(bert: nn.Module) -> None:
    inputs = in_words(text_inputs(bert))
    with counted(bert) as seen:
        _, costs = attribute_rows(TABLE, bert, inputs, targets={"gold": GOLD})
    total = sum(costs.values(), Cost())
    assert (CHECKED + PADDED + total.rows_run, total.backward_run) == (seen.forward, seen.backward)
    with counted(bert) as one_by_one:
        for row in TABLE:
            alone(row, bert, inputs)
    inside = sum((costs[method] for method in ELEMENTS), Cost())
    assert inside.backward_asked == one_by_one.backward
    # Four times two rows of integrated_gradients asked once more for the class that is predicted.
    assert inside.rows_asked <= one_by_one.forward
    assert total.rows_run < one_by_one.forward / 2


def test_seconds_of_joined_forwards_are_shared_out(bert: nn.Module) -> None:
    slept = []

    def sleep(module: nn.Module, arguments: Any, output: Any) -> None:
        if len(output) > 3:  # more rows than inputs: erased copies, of both methods at once
            time.sleep(0.2)
            slept.append(0.2)

    erasing = [Row("occlusion"), Row("lime", options={"n_samples": 12})]
    handle = bert.classifier.register_forward_hook(sleep)
    try:
        _, costs = attribute_rows(erasing, bert, in_words(text_inputs(bert)))
    finally:
        handle.remove()
    rows = {method: cost.rows_run for method, cost in costs.items()}
    assert slept
    for method, cost in costs.items():
        assert cost.seconds >= sum(slept) * rows[method] / sum(rows.values()), method


@pytest.mark.parametrize("method", ERASING)
def test_second_output_costs_no_rows(bert: nn.Module, method: str) -> None:
    inputs = in_words(text_inputs(bert))
    one, both = (
        attribute_rows([row(method, None, number) for number in numbers], bert, inputs, targets={"gold": GOLD})[1]
        for numbers in (NUMBERS[:1], NUMBERS)
    )
    assert one[method].rows_run == both[method].rows_run > 0
    assert both[method].rows_asked > one[method].rows_asked


def test_erased_copies_are_those_of_each_inputs_own_features_and_share_full_forwards(bert: nn.Module) -> None:
    lengths = (8, 12, 20, 33) * 8
    inputs = text_inputs(bert, lengths)
    # The perturber itself asks for the whole inputs once.
    steps = int((inputs.n_features + 1).sum())
    copies = {"lime": 12 * len(inputs), "occlusion": steps, "shapley_sampling": 3 * steps}
    longest = {"lime": 12, "occlusion": 34, "shapley_sampling": 3 * 34, "integrated_gradients": 8}
    for method, rows_of in longest.items():
        with counted(bert) as seen:
            _, costs = attribute_rows([row(method, "l2" if rows_of == 8 else None)], bert, inputs)
        if method in copies:
            assert costs[method].rows_asked == copies[method] + len(inputs), method
        full = sum(rows_of * length for length in lengths) / 2048
        # A forward that is not full for each length, one for the predicted class, the first, which tries memory, the
        # two of the self-check, and the two that show whether padding does.
        assert seen.forwards <= full + 4 + 1 + 2 + CHECKED + PADDED, method
        assert costs[method].rows_run > 6 * seen.forwards


@pytest.mark.parametrize(
    ("rows", "given", "message"),
    [
        ([], {}, "expected at least one Row"),
        ([Row("saliency", target="gold")], {}, "unknown target 'gold': .*known: other, predicted"),
        ([Row("lime", target="gold")], {"targets": {"gold": [1, 2]}}, r"expected integers \[3\]"),
        ([Row("saliency", options={"max_tokens": 3})], {}, "max_tokens belongs to all rows"),
        ([Row("lime", options={"perturber": 3})], {}, "perturber belongs to all rows"),
        ([Row("lime", options={"unit": "letter"})], {}, "unknown unit 'letter'"),
        ([Row("saliency")], {"inputs": image_inputs()}, "ImageInputs: attribute_rows explains TextInputs"),
    ],
)
def test_rows_that_cannot_be(bert: nn.Module, rows: list[Row], given: dict[str, Any], message: str) -> None:
    inputs = text_inputs(bert)
    refused(InputError, message, attribute_rows, rows, bert, **{"inputs": inputs, "targets": {"other": 1}, **given})


# ------------------------------------------------------------------------------------------- what the rows can now say
@pytest.mark.parametrize("method", ERASING)
def test_pieces_erased_one_by_one_are_pooled(bert: nn.Module, method: str) -> None:
    pieces = text_inputs(bert)
    joined = in_words(pieces)
    options = OPTIONS[method] | {"unit": "wordpiece"}
    by_piece = attribute(method, bert, pieces, **options)
    total, mean = (attribute(method, bert, joined, pool=pool, **options) for pool in ("sum", "mean"))
    assert total.shape == joined.feature_mask.shape
    for b, n in enumerate(pieces.n_features.tolist()):
        for f in range((n + 1) // 2):
            own = by_piece[b, 2 * f : min(2 * f + 2, n)]
            assert torch.allclose(total[b, f], own.sum(), atol=1e-6)
            assert torch.allclose(mean[b, f], own.mean(), atol=1e-6)
    perturber = Perturber(bert, pieces, erase="pad")
    assert torch.equal(attribute(method, bert, joined, perturber=perturber, **options), total)
    other = Perturber(bert, joined, erase="pad")
    refused(InputError, "other inputs", attribute, method, bert, joined, perturber=other, **options)


def test_top_logit_is_the_largest_whichever_class_has_it(bert: nn.Module) -> None:
    inputs = text_inputs(bert)
    assert torch.allclose(
        attribute("saliency", bert, inputs, output="top_logit"), attribute("saliency", bert, inputs, output="logit")
    )
    scores = attribute("occlusion", bert, inputs, output="top_logit", target=0)
    for b, n in enumerate(inputs.n_features.tolist()):
        whole = one_row(bert, inputs, b, torch.ones(n, dtype=torch.bool), "zero").max()
        for f in range(n):
            rest = one_row(bert, inputs, b, torch.arange(n) != f, "zero").max()
            assert torch.allclose(scores[b, f], whole - rest, atol=1e-5)


class Released:
    """The released code's function, slowly: `hidden_states[0]` of one text as `inputs_embeds` of the whole model."""

    def __init__(self, model: nn.Module, inputs: TextInputs, b: int) -> None:
        n = int(inputs.lengths[b])
        self.model = model
        self.ids = inputs.input_ids[b, :n]
        self.types = {} if inputs.token_type_ids is None else {"token_type_ids": inputs.token_type_ids[b : b + 1, :n]}
        self.place = {}
        if hasattr(model.base_model.embeddings, "padding_idx"):
            # Padding alone would be given RoBERTa's padding position.
            self.place["position_ids"] = torch.arange(n)[None] + model.base_model.embeddings.padding_idx + 1
        self.mask = torch.ones(1, n, dtype=torch.long)

    def hidden(self, ids: Tensor) -> Tensor:
        inputs = self.types | self.place
        out = self.model(input_ids=ids[None], attention_mask=self.mask, output_hidden_states=True, **inputs)
        return out.hidden_states[0].detach()

    def logits(self, hidden: Tensor) -> Tensor:
        return self.model(inputs_embeds=hidden, attention_mask=self.mask, **self.types).logits[0]


def with_types(inputs: TextInputs) -> TextInputs:
    types = (torch.arange(inputs.input_ids.shape[1]) >= 3).long().expand(inputs.input_ids.shape)
    return replace(inputs, token_type_ids=types)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert"])
def test_released_function_embeds_twice(family: str) -> None:
    model = text_model(family)
    inputs = with_types(text_inputs(model)) if family == "bert" else text_inputs(model)
    twice = EmbeddedTwice(model)
    rows = [Row("saliency", "l2", "logit"), Row("occlusion", None, "logit", options={"erase": "pad"})]
    scores, _ = attribute_rows(rows, twice, inputs)
    for b, n in enumerate(inputs.n_features.tolist()):
        slow = Released(model, inputs, b)
        hidden = slow.hidden(slow.ids).requires_grad_()
        logits = slow.logits(hidden)
        (gradient,) = torch.autograd.grad(logits.max(), hidden)
        assert torch.allclose(scores[rows[0].name][b, :n], gradient[0, 1:-1].norm(dim=-1), atol=1e-5)
        for f in range(n):
            ids = slow.ids.clone()
            ids[f + 1] = inputs.pad_id
            rest = slow.logits(slow.hidden(ids))[logits.argmax()]
            assert torch.allclose(scores[rows[1].name][b, f], logits.max() - rest, atol=1e-5)
    plain, _ = attribute_rows(rows, model, inputs)
    assert not any(torch.allclose(plain[name], scores[name], rtol=0.05) for name in scores), "another function"


def test_embedded_twice_serves_every_method_and_keeps_the_model(bert: nn.Module) -> None:
    inputs = with_types(text_inputs(bert))
    twice = EmbeddedTwice(bert)
    scores, _ = attribute_rows(TABLE, twice, inputs, targets={"gold": GOLD})
    for row in TABLE:
        assert torch.allclose(scores[row.name], alone(row, twice, inputs), atol=1e-6)
    attention = attribute("attention", twice, inputs)
    assert ((attention > 0) == inputs.feature_mask).all()
    assert twice.config._attn_implementation == "sdpa"
    for erase in ("zero", "delete", "mask"):
        whole = Perturber(twice, inputs, erase=erase).keep(inputs.feature_mask[:, None, :])[:, 0]
        assert torch.allclose(whole, Perturber(twice, inputs).full, atol=1e-5)
    weights = torch.ones(3, 1, 7)
    perturber = Perturber(twice, inputs)
    assert torch.allclose(perturber.attention_mask(weights)[:, 0], perturber.full, atol=1e-5)


def test_only_embeddings_that_take_embeddings_go_twice() -> None:
    refused(ModelError, "take no `inputs_embeds`", EmbeddedTwice, Bag())
    refused(ModelError, "no Hugging Face text classifier", EmbeddedTwice, nn.Linear(2, 2))
