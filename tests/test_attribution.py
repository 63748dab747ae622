"""The attribution registry: what every method must hold, for texts and images, over model families and options."""

from __future__ import annotations

import inspect
import itertools
from functools import cache
from typing import Any

import pytest
import torch
from refusals import refused
from torch import nn
from toy_models import (
    FAMILIES,
    FAST,
    Bag,
    image_inputs,
    in_words,
    model_and_texts,
    text_inputs,
    text_model,
    vision_model,
)

from faithlib.attribution import attribute, methods
from faithlib.attribution.registry import AGGREGATIONS, IMAGE_METHODS, METHODS, Method
from faithlib.errors import InputError, ModelError, UnknownNameError
from faithlib.inputs import ImageInputs, Inputs
from faithlib.perturb import Perturber

ELEMENTS = [name for name in methods() if METHODS[name].aggregation]


@cache
def model_of(what: str) -> nn.Module:
    return vision_model() if what == "vit" else text_model(what)


def inputs_of(what: str) -> Inputs:
    return image_inputs() if what == "vit" else text_inputs(model_of(what))


def registry(what: str) -> dict[str, Method]:
    return IMAGE_METHODS if what == "vit" else METHODS


EVERY = [(what, name) for what in (*FAMILIES, "vit") for name in registry(what)]
OF_BOTH = [(what, name) for what, name in EVERY if what in ("bert", "vit")]
NEEDS_MODEL = [(what, name) for what, name in OF_BOTH if registry(what)[name].answers != "floor"]


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
    asked = [one for one in ("probability", "logit", "loss") if one in method.outputs]
    by_output = {one: scores_of(name, model, inputs, output=one) for one in asked}
    assert torch.equal(by_output[method.outputs[0]], chosen)
    for one, other_output in itertools.combinations(by_output.values(), 2):
        assert not torch.allclose(one, other_output, atol=1e-6)


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
        ("bert", "saliency", {"aggregation": "l3"}, "unknown aggregation 'l3'"),
        ("bert", "saliency", {"pool": "max"}, "unknown pool 'max'"),
        ("bert", "saliency", {"target": "best"}, "unknown target 'best'"),
        ("bert", "saliency", {"target": "gold"}, "give the labels themselves"),
        ("bert", "saliency", {"target": 0.5}, "expected integers"),
        ("bert", "saliency", {"target": -1}, "counted from 0"),
        ("bert", "lime", {"target": 3}, "classes 0 to 2"),
        ("bert", "saliency", {"target": object()}, "expected 'predicted'"),
        ("bert", "saliency", {"max_tokens": 0}, "max_tokens 0"),
        ("bert", "attention", {"layer": 2}, "layers 0 to 1"),
        ("bert", "scaled_attention", {"variant": "old"}, "unknown variant of scaled_attention"),
        ("bert", "guided_backprop", {"variant": "old"}, "unknown variant of guided_backprop"),
        ("bert", "deeplift", {"rules": "old"}, "unknown rules of deeplift"),
        ("bert", "deeplift", {"baseline": "one"}, "unknown baseline 'one'"),
        ("bert", "integrated_gradients", {"baseline": "one"}, "unknown baseline 'one'"),
        ("bert", "integrated_gradients", {"n_steps": 0}, "n_steps 0"),
        ("bert", "lime", {"n_samples": 1}, "n_samples 1"),
        ("bert", "lime", {"surrogate": "tree"}, "unknown surrogate 'tree'"),
        ("bert", "lime", {"alpha": 0.0}, "alpha 0.0"),
        ("bert", "shapley_sampling", {"n_samples": 0}, "n_samples 0"),
        ("bert", "occlusion", {"erase": "noise"}, "unknown erase 'noise'"),
        ("bert", "random", {"distribution": "cauchy"}, "unknown distribution 'cauchy'"),
        ("vit", "rolout", {}, "unknown method 'rolout': did you mean 'rollout'"),
        ("vit", "saliency", {}, "'saliency' explains texts, not ImageInputs: known for these: attcat, conserv"),
        ("vit", "lrp", {"output": "probability"}, "lrp starts from the target's logit or value; omit output"),
        ("vit", "lrp", {"aggregation": "l2"}, "aggregation 'l2': lrp has one score .* on texts"),
        ("vit", "lrp", {"target": 3}, "classes 0 to 2"),
        ("vit", "rollout", {"upsample": "cubic"}, "unknown upsample 'cubic'"),
        ("vit", "rollout", {"start_layer": 2}, "start_layer 2: this model has layers 0 to 1"),
        ("vit", "transformer_attribution", {"start_layer": -1}, "start_layer -1"),
        ("vit", "raw_attention", {"layer": 2}, "layers 0 to 1"),
        ("vit", "transformer_mm", {"layers": "first"}, "unknown layers 'first'"),
        ("vit", "attcat", {"queries": "patches"}, "unknown queries 'patches'"),
        ("vit", "partial_lrp", {"variant": "old"}, "unknown variant of partial_lrp"),
        ("vit", "integrated_gradients", {"baseline": "pad"}, "unknown baseline 'pad'"),
    ],
)
def test_values_that_cannot_be_used(what: str, name: str, options: dict[str, object], message: str) -> None:
    refused(InputError, message, attribute, name, model_of(what), inputs_of(what), **options)


def test_nan_is_an_error_that_names_method_and_input() -> None:
    """By the self-check of whole inputs; an activation asks no model."""
    model, inputs = model_and_texts()
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[inputs.input_ids[1, 2]] = torch.nan
    said = "activation gave NaN or infinite scores for 1 of 3 inputs, first input 1"
    refused(InputError, said, attribute, "activation", model, inputs)
    refused(InputError, r"NaN or infinity for 1 rows, of inputs \[1\]", attribute, "saliency", model, inputs)


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
    line = next(line for line in table if line.startswith(f"| {name} | {cell} |"))
    own = [p.name for p in inspect.signature(method.run).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert inspect.getdoc(method.run) and all(option in line for option in own)
    given = name, model_of(what), inputs_of(what)
    refused(UnknownNameError, f"option of {name} 'stesp'.*known: .*target", attribute, *given, stesp=3)
    if what == "vit":
        of_output = method.outputs[0] if "probability" in method.outputs else "logit, no other"
        assert line.split(" | ")[2] == ("no effect" if method.blind else of_output)
    elif name not in ELEMENTS:
        refused(InputError, "nothing to aggregate; it applies to input_x_gra", attribute, *given, aggregation="l2")
