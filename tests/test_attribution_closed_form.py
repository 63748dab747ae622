"""The attribution methods against closed forms, plain loops, autograd by hand and captum's own."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest
import torch
import transformers
from captum.attr import DeepLift, IntegratedGradients
from torch import Tensor, nn
from toy_models import FAMILIES, Bag, model_and_texts, one_row, text_inputs, text_model

from faithlib.attribution import attribute
from faithlib.attribution.deeplift import _Rules
from faithlib.backends import TextBackend
from faithlib.perturb import Perturber


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("input_x_gradient", {"aggregation": "sum"}),
        ("integrated_gradients", {"n_steps": 3}),
        ("deeplift", {}),
        ("deeplift", {"rules": "captum"}),
        ("occlusion", {}),
        ("shapley_sampling", {"n_samples": 1}),
        ("lime", {"n_samples": 100, "alpha": 1e-9}),
        ("lime", {"n_samples": 200, "surrogate": "lasso", "alpha": 1e-7}),
    ],
)
def test_linear_model_gives_weight_times_embedding(name: str, options: dict[str, object]) -> None:
    bag = Bag()
    inputs = bag.texts()
    scores = attribute(name, bag, inputs, target=1, output="logit", **options)  # type: ignore[arg-type]
    assert torch.allclose(scores, bag.exact(inputs, 1), atol=1e-4)


def test_linear_model_gradients() -> None:
    bag = Bag()
    inputs, weight = bag.texts(), bag.weight[:, 1].detach()
    given = {"target": 1, "output": "logit"}
    for aggregation, expected in (("l2", weight.norm()), ("sum", weight.abs().sum()), ("mean", weight.abs().mean())):
        scores = attribute("saliency", bag, inputs, aggregation=aggregation, **given)
        assert torch.allclose(scores, expected * inputs.feature_mask)
    norms = bag.bag.embeddings.table(inputs.input_ids).norm(dim=-1)[:, 1:-1].detach()
    assert torch.allclose(attribute("activation", bag, inputs), torch.where(inputs.feature_mask, norms, 0))
    assert torch.allclose(attribute("input_x_gradient", bag, inputs, **given), bag.exact(inputs, 1).abs(), atol=1e-6)
    assert (attribute("lime", bag, inputs, n_samples=200, surrogate="lasso", alpha=100.0, **given) == 0).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("output", "baseline"), [("probability", "zero"), ("logit", "mask"), ("loss", "pad")])
def test_deeplift_and_integrated_gradients_add_up(family: str, output: str, baseline: str) -> None:
    """To F(input) - F(every feature erased), by the perturber."""
    model, inputs = model_and_texts(family)
    perturber = Perturber(model, inputs, erase=baseline, output="logit" if output == "logit" else "probability")
    full, empty = perturber.full, perturber.empty
    difference = full.log() - empty.log() if output == "loss" else full - empty
    scores = attribute("deeplift", model, inputs, output=output, baseline=baseline)
    assert torch.allclose(scores.sum(dim=1), difference, atol=2e-5)
    if output != "logit":
        # DistilBERT's ReLU head has a kink on the way, which a quadrature needs many points for.
        given = {"output": output, "baseline": baseline, "n_steps": 800 if family == "distilbert" else 50}
        scores = attribute("integrated_gradients", model, inputs, **given)
        assert torch.allclose(scores.sum(dim=1), difference, atol=1e-3)


def test_shapley_of_few_features_equals_all_orders() -> None:
    model, inputs = model_and_texts(lengths=(6,))
    target = Perturber(model, inputs).predicted

    def value(kept: frozenset[int]) -> Tensor:
        keep = torch.tensor([f in kept for f in range(4)])
        return one_row(model, inputs, 0, keep, "zero").softmax(dim=-1)[target[0]]

    exact = torch.zeros(4)
    for order in itertools.permutations(range(4)):
        for k, f in enumerate(order):
            exact[f] += (value(frozenset(order[: k + 1])) - value(frozenset(order[:k]))) / 24
    sampled = attribute("shapley_sampling", model, inputs, n_samples=400)[0]
    assert torch.allclose(sampled, exact, atol=0.02)
    assert torch.allclose(sampled.sum(), exact.sum(), atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_attention_equals_the_models_own_maps(family: str) -> None:
    model, inputs = model_and_texts(family)
    eager = text_model(family)
    eager.set_attn_implementation("eager")
    for b, n in enumerate(inputs.n_features.tolist()):
        ids = inputs.input_ids[b : b + 1, : n + 2]
        maps = eager(input_ids=ids, attention_mask=torch.ones_like(ids), output_attentions=True).attentions
        for layer in (0, -1):
            expected = maps[layer][0, :, 0].mean(dim=0)[1:-1]
            assert torch.allclose(attribute("attention", model, inputs, layer=layer)[b, :n], expected, atol=1e-6)
        released = attribute("scaled_attention", model, inputs, variant="released")[b, :n]
        assert torch.allclose(released, maps[-1][0, :, 0].mean(dim=0)[1:-1].square(), atol=1e-6)


def test_scaled_attention_against_finite_differences() -> None:
    """Moves one attention weight of the last layer at a time, in an attention that is written out here."""
    model, own = text_model("bert").double(), text_model("bert").double()
    inputs, held = text_inputs(model, (6,)), {}
    target = int(Perturber(model, inputs).predicted[0])

    def attention(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> Any:
        weights = held["map"] = (query @ key.mT / 8**0.5).softmax(dim=-1)
        moved = weights + held["move"] if module is own.bert.encoder.layer[-1].attention.self else weights
        return (moved @ value).transpose(1, 2).contiguous(), weights

    transformers.AttentionInterface.register("moved", attention)
    own.set_attn_implementation("moved")

    def run(move: Tensor) -> float:
        held["move"] = move
        with torch.no_grad():
            return float(own(input_ids=inputs.input_ids).logits.softmax(dim=-1)[0, target])

    run(torch.zeros(1, 2, 6, 6).double())
    expected, step = torch.zeros(6, dtype=torch.float64), 1e-5
    for head, position in itertools.product(range(2), range(6)):
        move = torch.zeros(1, 2, 6, 6, dtype=torch.float64)
        move[0, head, 0, position] = step
        slope = (run(move) - run(-move)) / (2 * step)
        expected[position] += held["map"][0, head, 0, position] * slope / 2
    scores = attribute("scaled_attention", model, inputs)[0]
    assert torch.allclose(scores, expected[1:-1].float(), atol=1e-6)
    assert scores.abs().max() > 1e-3


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_integrated_gradients_equal_captums_one_by_one(family: str) -> None:
    model, inputs = model_and_texts(family)
    backend, target = TextBackend(model, inputs), Perturber(model, inputs).predicted
    given: dict[str, Any] = {"baseline": "pad", "keep_protected": False}
    ours = [attribute("integrated_gradients", model, inputs, **given, **more) for more in ({}, {"max_tokens": 12})]
    for b, n in enumerate(inputs.n_features.tolist()):
        embedded = backend.embeddings(torch.tensor([b]), length=n + 2)
        # Padding alone would be given RoBERTa's padding position: the baseline that both mean keeps the positions.
        start = backend.embed(torch.full((1, n + 2), inputs.pad_id), None)
        captum = IntegratedGradients(lambda e, b=b: backend.logits(e, torch.full((len(e),), b)).softmax(dim=-1))
        expected = captum.attribute(embedded, baselines=start, target=int(target[b]), n_steps=50)
        for scores in ours:
            assert torch.allclose(scores[b, :n], expected.sum(dim=-1)[0, 1:-1], atol=1e-5)


def test_guided_backprop_rule_on_gelu_and_the_released_one_without() -> None:
    model, inputs = model_and_texts()
    plain = attribute("saliency", model, inputs)
    assert torch.allclose(attribute("guided_backprop", model, inputs, variant="released"), plain, atol=1e-6)
    guided = attribute("guided_backprop", model, inputs)
    assert not torch.allclose(guided, plain, rtol=0.05)

    # The same rule by hand: hooks on the model's own GELU modules.
    backend = TextBackend(model, inputs)
    embedded = backend.embeddings().requires_grad_()
    handles = [
        m.register_full_backward_hook(lambda _, grad_in, __: (grad_in[0].clamp(min=0),))
        for m in backend.model.modules()
        if "GELU" in type(m).__name__
    ]
    assert len(handles) == 2
    value = backend.logits(embedded).softmax(dim=-1).amax(dim=-1).sum()
    (gradient,) = torch.autograd.grad(value, embedded)
    for handle in handles:
        handle.remove()
    expected = torch.where(inputs.feature_mask, gradient.norm(dim=-1)[:, 1:-1], 0)
    assert torch.allclose(guided, expected, atol=1e-6)


def test_rescale_rules_equal_captums_on_its_own_ground() -> None:
    torch.manual_seed(3)
    network = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 6), nn.ReLU(), nn.Linear(6, 1), nn.Sigmoid())
    x, x0 = torch.randn(4, 5), torch.randn(4, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        captum = DeepLift(network).attribute(x.clone().requires_grad_(), baselines=x0, target=0).detach()
    leaf = x.clone().requires_grad_()
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    with _Rules(4):
        out = network(torch.cat([leaf, x0]))
    (multiplier,) = torch.autograd.grad(out[:4].sum(), leaf)
    assert torch.allclose((x - x0) * multiplier, captum, atol=1e-5)


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x.softmax(dim=-1),
        lambda x: torch.softmax(x[:, None, :] + torch.tensor([0.0, 0, torch.finfo(torch.float32).min]), dim=-1),
        lambda x: nn.functional.log_softmax(x, dim=-1),
        lambda x: nn.functional.layer_norm(x, (3,), torch.tensor([1.0, -2, 0.5]), torch.tensor([0.1, 0, 0])),
        lambda x: x[:, :, None] @ x[:, None, :],
        lambda x: x * x.tanh(),
        lambda x: x * x[:, :1],
        lambda x: nn.functional.relu(x, inplace=False) + nn.functional.gelu(x, approximate="tanh"),
    ],
    ids=["softmax", "masked", "log_softmax", "layer_norm", "matmul", "product", "broadcast", "elementwise"],
)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 20.0])
def test_every_rule_is_exact(operation: object, scale: float) -> None:
    torch.manual_seed(5)
    x = (torch.randn(6, 3) * scale).requires_grad_()
    x0 = torch.randn(6, 3)
    with _Rules(6):
        out = operation(torch.cat([x, x0]))  # type: ignore[operator]
    weights = torch.randn(out[:6].shape)
    (multiplier,) = torch.autograd.grad((out[:6] * weights).sum(), x)
    got = ((x - x0).detach() * multiplier).sum(dim=1)
    expected = ((out[:6] - out[6:]) * weights).detach().flatten(1).sum(dim=1)
    assert torch.allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_multipliers_of_equal_runs_are_gradients() -> None:
    torch.manual_seed(5)
    x = torch.randn(4, 3, requires_grad=True)
    weights = torch.randn(4, 3)
    for operation in (nn.functional.gelu, lambda v: v.softmax(-1), lambda v: nn.functional.layer_norm(v, (3,))):
        with _Rules(4):
            out = operation(torch.cat([x, x.detach()]))
        (multiplier,) = torch.autograd.grad((out[:4] * weights).sum(), x)
        (gradient,) = torch.autograd.grad((operation(x) * weights).sum(), x)
        assert torch.allclose(multiplier, gradient, atol=1e-5)
