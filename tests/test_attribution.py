"""The attribution methods: what every one must hold, for texts and images, over model families and options; and against
closed forms, plain loops, autograd by hand and captum's own."""

from __future__ import annotations

import inspect
import itertools
import re
import warnings
from functools import cache
from typing import Any

import pytest
import torch
import transformers
from captum.attr import DeepLift, IntegratedGradients
from refusals import refused
from torch import Tensor, nn
from toy_models import (
    FAMILIES,
    FAST,
    Bag,
    image_inputs,
    in_words,
    model_and_texts,
    one_row,
    text_inputs,
    text_model,
    vision_model,
)

from faithlib.attribution import attribute, methods
from faithlib.attribution._deeplift import _Rules
from faithlib.attribution.registry import AGGREGATIONS, IMAGE_METHODS, METHODS, Method
from faithlib.backends import TextBackend
from faithlib.errors import InputError, ModelError, UnknownNameError
from faithlib.inputs import ImageInputs, Inputs
from faithlib.perturb import Perturber

ELEMENTS = [name for name in methods() if METHODS[name].aggregation]


@cache
def model_of(family: str) -> nn.Module:
    return vision_model() if family == "vit" else text_model(family)


def inputs_of(family: str) -> Inputs:
    return image_inputs() if family == "vit" else text_inputs(model_of(family))


def registry(family: str) -> dict[str, Method]:
    return IMAGE_METHODS if family == "vit" else METHODS


EVERY = [(family, name) for family in (*FAMILIES, "vit") for name in registry(family)]
OF_BOTH = [(family, name) for family, name in EVERY if family in ("bert", "vit")]
NEEDS_MODEL = [(family, name) for family, name in OF_BOTH if registry(family)[name].answers != "floor"]


def scores_of(name: str, model: nn.Module | None, inputs: Inputs, **options: Any) -> torch.Tensor:
    return attribute(name, model, inputs, **{**FAST.get(name, {}), **options})


@pytest.fixture(scope="module")
def bert() -> nn.Module:
    return model_of("bert")


@pytest.mark.parametrize(("what", "name"), EVERY)
def test_batch_order_padding_and_chunks_leave_scores_alone(what: str, name: str) -> None:
    model, inputs = model_of(what), inputs_of(what)
    scores = scores_of(name, model, inputs)
    assert scores.shape == inputs.feature_mask.shape
    assert scores.dtype == torch.float32
    assert not scores.requires_grad
    assert (scores[~inputs.feature_mask] == 0).all()
    for b in range(len(inputs)):
        alone = scores_of(name, model, inputs[[b]])
        assert torch.allclose(alone[0], scores[b, : alone.shape[1]], atol=1e-5), b
    with torch.inference_mode():  # where gradients are switched off
        turned = scores_of(name, model, inputs[[2, 0, 1]])
    assert torch.allclose(turned, scores[[2, 0, 1]], atol=1e-5)
    if "max_tokens" in registry(what)[name].options:
        for max_tokens in (1, 10):
            assert torch.allclose(scores_of(name, model, inputs, max_tokens=max_tokens), scores, atol=1e-5)


@pytest.mark.parametrize(("what", "name"), NEEDS_MODEL)
def test_target_and_output_choose_what_is_explained(what: str, name: str) -> None:
    model, inputs, method = model_of(what), inputs_of(what), registry(what)[name]
    if method.answers == "pixels":
        inputs = ImageInputs.from_pixels(inputs.pixels, patch=1)
    predicted = Perturber(model, inputs).predicted
    chosen = scores_of(name, model, inputs)
    assert torch.allclose(scores_of(name, model, inputs, target=predicted), chosen, atol=1e-6)
    other = (predicted + 1) % 3
    apart = (scores_of(name, model, inputs, target=other) - chosen).abs().amax(dim=1)
    if method.blind:
        assert (apart == 0).all()
        assert torch.equal(scores_of(name, model, inputs, output="loss"), chosen)
        return
    # Grad-CAM may be all zero for both: one image must tell them apart.
    assert (apart > 1e-5).any() if name == "grad_cam" else (apart > 1e-6).all()
    by_list, by_number = (scores_of(name, model, inputs, target=t)[1] for t in (other.tolist(), int(other[1])))
    assert torch.allclose(by_list, by_number)
    asked = [output for output in ("probability", "logit", "loss") if output in method.outputs]
    by_output = {output: scores_of(name, model, inputs, output=output) for output in asked}
    assert torch.equal(by_output[method.outputs[0]], chosen)
    for scores, other_output in itertools.combinations(by_output.values(), 2):
        assert not torch.allclose(scores, other_output, atol=1e-6)


@pytest.mark.parametrize("name", ELEMENTS)
def test_aggregations_agree_with_each_other(bert: nn.Module, name: str) -> None:
    inputs = text_inputs(bert)
    by = {a: scores_of(name, bert, inputs, aggregation=a) for a in AGGREGATIONS}
    assert torch.allclose(by["sum"], by["mean"] * 16, atol=1e-5)
    assert torch.allclose(by["abs_sum"], by["sum"].abs(), atol=1e-6)
    assert (by["l2"] >= 0).all()
    assert (by["l2"] * 4 + 1e-6 >= by["abs_sum"]).all(), "Cauchy-Schwarz, D = 16"
    assert torch.equal(scores_of(name, bert, inputs), by[METHODS[name].aggregation or ""])


@pytest.mark.parametrize("name", [n for n in methods() if METHODS[n].answers != "features"])
def test_features_pool_their_positions(bert: nn.Module, name: str) -> None:
    pieces = text_inputs(bert)
    joined = in_words(pieces)
    # random draws depend on the grouping too, as part of the input's content; everything else must not.
    by_piece = scores_of(name, bert, pieces) if name != "random" else None
    total, mean = scores_of(name, bert, joined), scores_of(name, bert, joined, pool="mean")
    for b, n in enumerate(pieces.n_features.tolist()):
        for f in range((n + 1) // 2):
            size = min(2, n - 2 * f)
            assert torch.allclose(total[b, f], mean[b, f] * size, atol=1e-6)
            # keep_protected baselines are the same for both groupings, so scores of positions are too.
            if by_piece is not None:
                assert torch.allclose(total[b, f], by_piece[b, 2 * f : 2 * f + size].sum(), atol=1e-5)


@pytest.mark.parametrize("what", ["bert", "vit"])
def test_floors_need_no_model_and_draws_have_their_distribution(what: str) -> None:
    """Standard normal for texts, uniform for images where nobody says otherwise."""
    pixels = torch.arange(3.0).view(3, 1, 1, 1).expand(3, 1, 40, 40)
    inputs = text_inputs(model_of(what), (40,) * 60) if what == "bert" else ImageInputs.from_pixels(pixels, patch=1)
    own, other = ("gaussian", "uniform") if what == "bert" else ("uniform", "gaussian")
    assert torch.equal(attribute("uniform", None, inputs), inputs.feature_mask.float())
    first = attribute("random", None, inputs)
    assert torch.equal(first, attribute("random", None, inputs, seed=0))
    assert not torch.equal(first, attribute("random", None, inputs, seed=1))
    for scores, drawn in ((first, own), (attribute("random", None, inputs, distribution=other), other)):
        mean, deviation = {"gaussian": (0, 1), "uniform": (0.5, 12**-0.5)}[drawn]
        assert float(scores.mean()) == pytest.approx(mean, abs=0.06)
        assert float(scores.std()) == pytest.approx(deviation, abs=0.05)
        assert len({tuple(row) for row in scores.tolist()}) == len(inputs)
    refused(InputError, "integrated_gradients asks the model", attribute, "integrated_gradients", None, inputs)


@pytest.mark.parametrize("name", ["random", "lime", "shapley_sampling"])
def test_seed_changes_draws_and_twins_share_them(bert: nn.Module, name: str) -> None:
    twins = text_inputs(bert)[[0, 0, 1]]
    scores = scores_of(name, bert, twins)
    assert torch.equal(scores[0], scores[1])
    assert not torch.allclose(scores, scores_of(name, bert, twins, seed=7), atol=1e-6)


@pytest.mark.parametrize("name", ["occlusion", "lime", "shapley_sampling"])
def test_perturber_is_shared(bert: nn.Module, name: str) -> None:
    inputs = text_inputs(bert)
    perturber = Perturber(bert, inputs, erase="mask")
    scores = scores_of(name, bert, inputs, perturber=perturber)
    assert torch.allclose(scores, scores_of(name, bert, inputs, erase="mask"), atol=1e-6)
    rows = perturber.stats.rows_run
    scores_of(name, bert, inputs, perturber=perturber)
    assert perturber.stats.rows_run == rows, "the answers were there already"
    refused(InputError, "one of the two", scores_of, name, bert, inputs, perturber=perturber, erase="zero")
    refused(InputError, "other inputs", scores_of, name, bert, inputs[[0, 1]], perturber=perturber)


@pytest.mark.parametrize(
    ("what", "name", "options", "message"),
    [
        ("bert", "atention", {}, "unknown method 'atention': did you mean 'attention'"),
        ("bert", "saliency", {"output": "logits"}, "unknown output 'logits': did you mean 'logit'"),
        ("bert", "saliency", {"target": "best"}, "unknown target 'best'"),
        ("bert", "saliency", {"target": "gold"}, "give the labels themselves"),
        ("bert", "saliency", {"target": 0.5}, "expected integers"),
        ("bert", "saliency", {"target": -1}, "counted from 0"),
        ("bert", "lime", {"target": 3}, "classes 0 to 2"),
        ("bert", "saliency", {"target": object()}, "expected 'predicted'"),
        ("bert", "attention", {"layer": 2}, "layers 0 to 1"),
        ("bert", "lime", {"n_samples": 1}, "n_samples 1"),
        ("bert", "lime", {"alpha": 0.0}, "alpha 0.0"),
        ("vit", "saliency", {}, "'saliency' explains texts, not ImageInputs: known for these: attcat, conserv"),
        ("vit", "lrp", {"output": "probability"}, "lrp starts from the target's logit or value; omit output"),
        ("vit", "lrp", {"aggregation": "l2"}, "aggregation 'l2': lrp has one score .* on texts"),
        ("vit", "rollout", {"start_layer": 2}, "start_layer 2: this model has layers 0 to 1"),
        ("vit", "transformer_attribution", {"start_layer": -1}, "start_layer -1"),
        ("vit", "raw_attention", {"layer": 2}, "layers 0 to 1"),
    ],
)
def test_values_that_cannot_be_used(what: str, name: str, options: dict[str, object], message: str) -> None:
    refused(InputError, message, attribute, name, model_of(what), inputs_of(what), **options)


MISSPELT = [
    ("bert", "saliency", {"aggregation": "l3", "pool": "max"}),
    ("bert", "scaled_attention", {"variant": "old"}),
    ("bert", "guided_backprop", {"variant": "old"}),
    ("bert", "deeplift", {"rules": "old", "baseline": "one"}),
    ("bert", "integrated_gradients", {"baseline": "one"}),
    ("bert", "lime", {"surrogate": "tree"}),
    ("bert", "occlusion", {"erase": "noise"}),
    ("bert", "random", {"distribution": "cauchy"}),
    ("vit", "rollout", {"upsample": "cubic"}),
    ("vit", "transformer_mm", {"layers": "first"}),
    ("vit", "attcat", {"queries": "patches"}),
    ("vit", "partial_lrp", {"variant": "old"}),
    ("vit", "integrated_gradients", {"baseline": "pad"}),
]
NONE_OF_IT = [("saliency", "max_tokens"), ("integrated_gradients", "n_steps"), ("shapley_sampling", "n_samples")]


def test_no_option_takes_a_name_that_it_does_not_know_or_a_count_below_one() -> None:
    """In words of their own: the doctests of `check_known` and `check_counts`."""
    for what, name, options in MISSPELT:
        for option, value in options.items():
            with pytest.raises(UnknownNameError):
                attribute(name, model_of(what), inputs_of(what), **{option: value})
    for name, option in NONE_OF_IT:
        with pytest.raises(InputError):
            attribute(name, model_of("bert"), inputs_of("bert"), **{option: 0})


def test_nan_is_an_error_that_names_method_and_input() -> None:
    """By the self-check of whole inputs; an activation asks no model."""
    model, inputs = model_and_texts()
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[inputs.input_ids[1, 2]] = torch.nan
    said = "activation gave NaN or infinite scores for 1 of 3 inputs, first input 1"
    refused(InputError, said, attribute, "activation", model, inputs)
    refused(InputError, r"NaN or infinity for 1 row, of inputs \[1\].*torch.bfloat16", Perturber, model, inputs)


@pytest.mark.parametrize("name", ["attention", "scaled_attention", "guided_backprop"])
def test_a_part_that_a_method_needs_and_a_model_lacks_is_named(name: str) -> None:
    bag = Bag()
    said = "none of the rectifiers" if "guided" in name else "gives no attention maps"
    refused(ModelError, said, attribute, name, bag, bag.texts())


@pytest.mark.parametrize(("what", "name"), OF_BOTH)
def test_every_method_is_documented_and_names_its_options(what: str, name: str) -> None:
    method, table = registry(what)[name], (inspect.getdoc(attribute) or "").splitlines()
    answers = "features" if method.answers == "floor" else method.answers
    cell = answers if what == "vit" else method.aggregation or "-"
    line = next(line for line in table if re.match(rf"{name}  +{cell}  ", line))
    own = [p.name for p in inspect.signature(method.run).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert inspect.getdoc(method.run) and all(option in line for option in own)
    arguments = name, model_of(what), inputs_of(what)
    refused(UnknownNameError, f"option of {name} 'stesp'.*known: .*target", attribute, *arguments, stesp=3)
    if what == "vit":
        of_output = method.outputs[0] if "probability" in method.outputs else "logit, no other"
        assert re.split(" {2,}", line)[2] == ("no effect" if method.blind else of_output)
    elif name not in ELEMENTS:
        refused(InputError, "nothing to aggregate; it applies to input_x_gra", attribute, *arguments, aggregation="l2")


# -------------------------------------------------------------------------------------- against closed forms and others
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
    options = {"target": 1, "output": "logit"}
    for aggregation, expected in (("l2", weight.norm()), ("sum", weight.abs().sum()), ("mean", weight.abs().mean())):
        scores = attribute("saliency", bag, inputs, aggregation=aggregation, **options)
        assert torch.allclose(scores, expected * inputs.feature_mask)
    norms = bag.bag.embeddings.table(inputs.input_ids).norm(dim=-1)[:, 1:-1].detach()
    assert torch.allclose(attribute("activation", bag, inputs), torch.where(inputs.feature_mask, norms, 0))
    assert torch.allclose(attribute("input_x_gradient", bag, inputs, **options), bag.exact(inputs, 1).abs(), atol=1e-6)
    assert (attribute("lime", bag, inputs, n_samples=200, surrogate="lasso", alpha=100.0, **options) == 0).all()


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
        options = {"output": output, "baseline": baseline, "n_steps": 800 if family == "distilbert" else 50}
        scores = attribute("integrated_gradients", model, inputs, **options)
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
    options: dict[str, Any] = {"baseline": "pad", "keep_protected": False}
    ours = [attribute("integrated_gradients", model, inputs, **options, **more) for more in ({}, {"max_tokens": 12})]
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
