"""Outputs that are no softmax over classes: what is followed is what the model's own forward says, and it is asked for
where nobody says what it means."""

from __future__ import annotations

import copy
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from flat import count_rows, evaluate
from refusals import refused
from torch import Tensor, nn
from toy_models import FAST, image_inputs, quick_rows, text_inputs, text_model, vision_model, vit

from faithlib.attribution import Row, attribute, attribute_rows, methods
from faithlib.errors import _SETTINGS, InputError
from faithlib.evaluation import MetricSettings, RunSettings, explain, saco_scores
from faithlib.inputs import ImageInputs, WordInputs
from faithlib.perturb import Perturber

OF_CLASSES = {"auc", "n_auc", "autpc", "log_odds"}


def head_of_two(model: nn.Module, name: str) -> nn.Module:
    """The same model with the logits (0, z) in the place of its one logit z."""
    two = copy.deepcopy(model)
    child = two.get_submodule(name)
    made = nn.Linear(child.in_features, 2)
    with torch.no_grad():
        made.weight[0], made.bias[0] = 0, 0
        made.weight[1:], made.bias[1:] = child.weight, child.bias
    setattr(two, name, made)
    if hasattr(two, "config"):
        two.config.num_labels = 2
    return two.eval()


def own(model: Any, inputs: Any) -> Tensor:
    with torch.no_grad():
        if isinstance(inputs, ImageInputs):
            return model(inputs.pixels)
        return model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask.long()).logits


def one_logit_seer() -> nn.Module:
    model = vit(spread=0.3, embed_dim=16, num_classes=1)
    with torch.no_grad():
        model.head.bias -= model(image_inputs(8).pixels).mean()  # so that some images get a no
    return model


# ----------------------------------------------------------------------------------------------------------- one logit
def test_a_note_says_where_evaluate_takes_what_a_message_names() -> None:
    """`Perturber` takes `output=`, as the message has it, and `evaluate` in a group of settings."""
    model = text_model(classes=1)
    with pytest.raises(InputError, match=r"expected output='sigmoid'") as caught:
        evaluate(model, text_inputs(model), methods=["random"], metrics=["srg"])
    assert caught.value.__notes__ == [
        "In evaluate, explain and count_rows, output is settings=MetricSettings(output=...)."
    ]
    assert not hasattr(InputError("take MetricSettings(output='value'), or tokenizer=..."), "__notes__")
    assert [*_SETTINGS.values()] == [
        tuple(field.name for field in fields(group)) for group in (MetricSettings, RunSettings)
    ]


@pytest.mark.parametrize("kind", ["text", "image"])
def test_one_logit_is_what_two_logits_are_under_a_softmax(kind: str) -> None:
    """Every method and every metric, about the predicted class and about one that is asked for."""
    model = text_model(classes=1) if kind == "text" else one_logit_seer()
    inputs = text_inputs(model) if kind == "text" else image_inputs(8)
    two = head_of_two(model, "classifier" if kind == "text" else "head")
    p = own(model, inputs)[:, 0].sigmoid()
    assert set((p >= 0.5).tolist()) == {True, False}
    single = Perturber(model, inputs, output="sigmoid")
    assert single.predicted.tolist() == (p >= 0.5).long().tolist()
    assert torch.allclose(single.full, torch.maximum(p, 1 - p), atol=1e-5)
    # Gradients of the logit: that of a class of two is z_t, of one logit its difference from the other class.
    differ = {"grad_cam", "transformer_mm", "attcat", "lrp", "partial_lrp", "transformer_attribution"}
    differ |= {"conservative_lrp"}
    named = {name: row for name, row in quick_rows(kind).items() if name not in differ}
    for target in ("predicted", 0, 1):
        scores = explain(model, inputs, named, settings=MetricSettings(output="sigmoid"), target=target)
        for name, expected in explain(two, inputs, named, target=target).items():
            assert torch.allclose(scores[name], expected, atol=1e-5), name
        found = evaluate(
            model, inputs, methods=named, settings=MetricSettings(output="sigmoid", draws=2), target=target
        )
        expected = evaluate(two, inputs, methods=named, target=target, settings=MetricSettings(draws=2))
        assert found.attrs["left_out"] == expected.attrs["left_out"] == {}
        assert (found[["input", "method", "metric"]] == expected[["input", "method", "metric"]]).all(axis=None)
        off = ~np.isclose(found.value, expected.value, atol=2e-4, equal_nan=True)
        assert not off.any(), found[off].assign(expected=expected.value[off])


def test_a_no_is_explained_by_the_logit_with_its_sign_turned() -> None:
    model, inputs = one_logit_seer(), image_inputs(8)
    for name in ("attcat", "conservative_lrp"):
        yes, no = (attribute(name, model, inputs, target=t, output="logit") for t in (1, 0))
        assert yes.abs().max() > 1e-3
        assert torch.allclose(yes, -no, atol=1e-6), name


def test_what_one_output_means_is_asked_for_everywhere() -> None:
    """By `evaluate` in the table of `test_supported`."""
    model, seer = text_model(classes=1), one_logit_seer()
    asked = "has one output.*output='sigmoid'.*output='value'"
    for network, inputs, method in ((model, text_inputs(model), "saliency"), (seer, image_inputs(), "grad_cam")):
        refused(InputError, asked, Perturber, network, inputs, output="probability")
        refused(InputError, asked, explain, network, inputs)
        for name in (method, "occlusion"):
            refused(InputError, asked, attribute, name, network, inputs)
    refused(InputError, asked, attribute_rows, [Row("saliency")], model, text_inputs(model))
    refused(InputError, asked, Perturber, lambda pixels: pixels.mean(dim=(1, 2, 3))[:, None], image_inputs())


# -------------------------------------------------------------------------------------------------- labels of their own
def test_each_of_several_labels_has_a_probability_of_its_own() -> None:
    model = text_model(problem="multi_label_classification")
    inputs = text_inputs(model)
    logits = own(model, inputs)
    for perturber in (Perturber(model, inputs), Perturber(text_model(), inputs, output="sigmoid")):
        assert perturber.output == perturber.head == "sigmoid"
        assert torch.equal(perturber.predicted, logits.argmax(dim=1))
        assert torch.allclose(perturber.full, logits.sigmoid().amax(dim=1), atol=1e-5)
    perturber = Perturber(model, inputs, target=2)
    assert torch.allclose(perturber.full, logits[:, 2].sigmoid(), atol=1e-5)
    # By hand: occlusion and AOPC of it, log-odds as the ratio of the label's probability, the side of .5 for AUC.
    keep = torch.rand(3, 4, 7, generator=torch.Generator().manual_seed(0)) < 0.5
    answers = perturber.logits(keep)[..., 2]
    assert torch.allclose(perturber.keep(keep), answers.sigmoid(), atol=1e-6)
    assert torch.equal(perturber.stays(keep), (answers >= 0) == (logits[:, 2] >= 0)[:, None])
    scores = attribute("occlusion", model, inputs, target=2)
    alone = ~torch.eye(7, dtype=torch.bool).expand(3, 7, 7)
    drop = logits[:, 2].sigmoid()[:, None] - perturber.logits(alone)[..., 2].sigmoid()
    assert torch.allclose(scores, torch.where(inputs.feature_mask, drop, 0), atol=1e-5)
    table = evaluate(
        model,
        inputs,
        target=2,
        methods={"mine": scores},
        metrics=["auc", "log_odds", "saco"],
        settings=MetricSettings(groups=2),
    )
    by_hand = saco_scores(perturber, scores, k=2)
    for metric, values in table.groupby("metric").value:
        assert np.allclose(values, by_hand[metric].numpy(), atol=1e-5), metric
    for wrong in ("probability", "value"):
        refused(InputError, "classification': expected output='sigmoid'", evaluate, model, inputs, output=wrong)
    refused(InputError, "is 'multi_label_classification'", attribute, "saliency", model, inputs, output="loss")


def test_a_method_explains_the_label_that_is_measured() -> None:
    model = text_model(problem="multi_label_classification")
    inputs = text_inputs(model)
    for name, scores in explain(model, inputs, ["saliency", "input_x_gradient", "occlusion"]).items():
        assert torch.allclose(scores, attribute(name, model, inputs, output="sigmoid"), atol=1e-6), name
        assert not torch.allclose(scores, attribute(name, text_model(), inputs), atol=1e-4), name
    seer, images = vision_model(), image_inputs()
    given = explain(seer, images, ["integrated_gradients", "grad_cam"], settings=MetricSettings(output="sigmoid"))
    for name, output in (("integrated_gradients", "sigmoid"), ("grad_cam", "logit")):  # a logit is a logit
        assert torch.allclose(given[name], attribute(name, seer, images, output=output), atol=1e-6)


# ----------------------------------------------------------------------------------------------------------- regression
@pytest.mark.parametrize("output", [None, "value"], ids=["by the configuration", "by the caller"])
def test_a_predicted_value_is_followed_as_it_is(output: str | None) -> None:
    model = text_model(classes=1, problem="regression" if output is None else None)
    inputs, named = text_inputs(model), quick_rows("text")
    values = own(model, inputs)[:, 0]
    perturber = Perturber(model, inputs, output=output)
    assert torch.allclose(perturber.full, values, atol=1e-5)
    table = evaluate(model, inputs, methods=named, settings=MetricSettings(output=output, draws=2))
    assert set(table.method) == set(named)
    assert set(table.attrs["left_out"]) == OF_CLASSES
    assert {"nc", "soft_nc", "aopc_morf", "saco"} <= set(table.metric)
    options = {"methods": {"mine": perturber.full[:, None].expand(3, 7)}, "output": output}
    counted = count_rows(model, inputs, **options)
    assert counted.together == evaluate(model, inputs, **options).attrs["costs"]["rows_run"]
    occluded = attribute("occlusion", model, inputs, output=output)
    alone = ~torch.eye(7, dtype=torch.bool).expand(3, 7, 7)
    drop = values[:, None] - perturber.logits(alone)[..., 0]
    assert torch.allclose(occluded, torch.where(inputs.feature_mask, drop, 0), atol=1e-5)
    refused(InputError, "expected classes 0 to 0", Perturber, model, inputs, output=output, target=1)


def test_of_several_predicted_values_one_is_named() -> None:
    model, inputs = text_model(problem="regression"), text_inputs(text_model())
    for call in (Perturber, partial(attribute, "saliency")):
        refused(InputError, "of 3 predicted values none is the one; give its index", call, model, inputs)
    assert torch.allclose(Perturber(model, inputs, target=1).full, own(model, inputs)[:, 1], atol=1e-5)


@pytest.mark.parametrize("name", [n for n in methods("image") if n not in ("random", "uniform")])
def test_methods_for_images_explain_a_value(name: str) -> None:
    model, inputs = one_logit_seer(), image_inputs()
    found = attribute(name, model, inputs, output="value", **FAST.get(name, {}))
    same = attribute(name, model, inputs, output="logit", target=1, **FAST.get(name, {}))
    assert torch.allclose(found, same, atol=1e-6)


# ------------------------------------------------------------------------------------------------------------ functions
def test_functions_say_probabilities_or_values() -> None:
    texts = ["a good film", "good one", "film two"]
    inputs = WordInputs.from_texts(texts)

    def yes(strings: list[str]) -> np.ndarray:
        return np.array([0.9 if "good" in text else 0.2 for text in strings])

    def length(strings: list[str]) -> list[list[float]]:
        return [[float(len(text.split()))] for text in strings]

    perturber = Perturber(yes, inputs, output="sigmoid")
    assert torch.allclose(perturber.full, torch.tensor([0.9, 0.9, 0.8]), atol=1e-5)
    assert perturber.predicted.tolist() == [1, 1, 0]
    asked = {"methods": ["occlusion"], "metrics": ["aopc_morf", "log_odds", "saco"]}
    table = evaluate(yes, texts, settings=MetricSettings(output="sigmoid"), **asked)
    two = evaluate(lambda given: np.stack([1 - yes(given), yes(given)], axis=1), texts, **asked)
    assert np.allclose(table.value, two.value, atol=1e-5, equal_nan=True)
    counted = evaluate(
        length, texts, settings=MetricSettings(output="value"), methods=["occlusion"], metrics=["aopc_morf"]
    )
    assert counted.value.tolist() == [2.0, 1.5, 1.5]
    assert attribute("occlusion", length, inputs, output="value").tolist() == [[1, 1, 1], [1, 1, 0], [1, 1, 0]]
    labels = Perturber(lambda given: [[0.9, 0.8]] * len(given), inputs, output="sigmoid", target=1)
    assert torch.allclose(labels.full, torch.tensor(0.8))
    for wrong in (yes, length):
        refused(InputError, r"output='sigmoid'.*output='value'", evaluate, wrong, texts)
    refused(
        InputError,
        "lists of dicts.*give the pipeline itself",
        evaluate,
        lambda given: [{"label": "POSITIVE"}] * len(given),
        texts,
    )
    refused(InputError, "expected probabilities|labels", evaluate, lambda given: ["good"] * len(given), texts)
    refused(InputError, "expected probabilities", Perturber, length, inputs, output="sigmoid")
