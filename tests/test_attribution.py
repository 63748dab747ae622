"""The attribution registry: what every method must hold, over model families, batches and options."""

from __future__ import annotations

import inspect

import pytest
import torch
from bag_model import Bag
from torch import nn
from toy_models import FAMILIES, LENGTHS, image_inputs, text_inputs, text_model

from faithlib.attribution import attribute, methods
from faithlib.attribution.registry import AGGREGATIONS, METHODS
from faithlib.errors import InputError, ModelError, UnknownNameError
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

FAST = {"lime": {"n_samples": 12}, "shapley_sampling": {"n_samples": 3}, "integrated_gradients": {"n_steps": 8}}
NEEDS_MODEL = [name for name in methods() if METHODS[name].answers != "floor"]
ELEMENTS = [name for name in methods() if METHODS[name].aggregation]


def scores_of(name: str, model: nn.Module | None, inputs: TextInputs, **options: object) -> torch.Tensor:
    return attribute(name, model, inputs, **{**FAST.get(name, {}), **options})  # type: ignore[arg-type]


def words(inputs: TextInputs) -> TextInputs:
    """The same rows with features of two positions each (the last of a row may have one)."""
    feature_of = torch.where(inputs.feature_of >= 0, inputs.feature_of // 2, -1)
    return TextInputs(
        input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, feature_of=feature_of,
        n_features=feature_of.amax(dim=1) + 1, truncated=inputs.truncated, pad_id=inputs.pad_id, mask_id=inputs.mask_id,
    )  # fmt: skip


@pytest.fixture(scope="module", params=FAMILIES)
def model(request: pytest.FixtureRequest) -> nn.Module:
    return text_model(request.param)


@pytest.fixture(scope="module")
def bert() -> nn.Module:
    return text_model("bert")


@pytest.mark.parametrize("name", methods())
def test_batch_order_padding_and_chunks_leave_scores_alone(model: nn.Module, name: str) -> None:
    inputs = text_inputs(model)
    scores = scores_of(name, model, inputs)
    assert scores.shape == inputs.feature_mask.shape
    assert scores.dtype == torch.float32
    assert not scores.requires_grad
    assert (scores[~inputs.feature_mask] == 0).all()
    for b in range(len(inputs)):
        alone = scores_of(name, model, inputs[[b]])
        assert torch.allclose(alone[0], scores[b, : alone.shape[1]], atol=1e-5), b
    turned = scores_of(name, model, inputs[[2, 0, 1]])
    assert torch.allclose(turned, scores[[2, 0, 1]], atol=1e-5)
    if "max_tokens" in METHODS[name].options:
        assert torch.allclose(scores_of(name, model, inputs, max_tokens=1), scores, atol=1e-5)


@pytest.mark.parametrize("name", NEEDS_MODEL)
def test_model_is_left_as_it_was(name: str) -> None:
    model = text_model("bert").train()
    model.classifier.eval()
    model.classifier.bias.requires_grad_(False)
    inputs = text_inputs(model)

    def state() -> list[object]:
        hooks = [
            len(getattr(m, table))
            for m in model.modules()
            for table in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
        ]
        names = [tuple(sorted(vars(m))) for m in model.modules()]
        flags = [(p.requires_grad, p.grad is None) for p in model.parameters()]
        return [hooks, names, flags, [m.training for m in model.modules()], model.config._attn_implementation]

    before = state()
    weights = [p.clone() for p in model.parameters()]
    assert before[-1] == "sdpa"
    variants: tuple[dict[str, str], ...] = ({},)
    if name in ("guided_backprop", "scaled_attention"):
        variants = ({}, {"variant": "released"})
    if name == "deeplift":
        variants = ({}, {"rules": "captum"})
    for options in variants:
        first = scores_of(name, model, inputs, **options)
        assert state() == before
        assert torch.equal(first, scores_of(name, model, inputs, **options)), "dropout was on"

    class Boom(RuntimeError):
        pass

    def fail(*_: object) -> None:
        raise Boom

    if name == "activation":
        return
    handle = model.classifier.register_forward_hook(fail)
    held = state()
    for options in variants:
        with pytest.raises(Boom):
            scores_of(name, model, inputs, **options)
        assert state() == held
    handle.remove()
    assert state() == before
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))


@pytest.mark.parametrize("name", NEEDS_MODEL)
def test_works_where_gradients_are_switched_off(bert: nn.Module, name: str) -> None:
    inputs = text_inputs(bert)
    expected = scores_of(name, bert, inputs)
    with torch.no_grad():
        assert torch.allclose(scores_of(name, bert, inputs), expected, atol=1e-6)
    with torch.inference_mode():
        assert torch.allclose(scores_of(name, bert, inputs), expected, atol=1e-6)


@pytest.mark.parametrize("name", [n for n in NEEDS_MODEL if not METHODS[n].blind])
def test_target_and_output_choose_what_is_explained(bert: nn.Module, name: str) -> None:
    inputs = text_inputs(bert)
    predicted = Perturber(bert, inputs).predicted
    chosen = scores_of(name, bert, inputs)
    assert torch.allclose(scores_of(name, bert, inputs, target=predicted), chosen, atol=1e-6)
    other = (predicted + 1) % 3
    assert not torch.allclose(scores_of(name, bert, inputs, target=other), chosen, atol=1e-4)
    assert torch.allclose(
        scores_of(name, bert, inputs, target=other.tolist())[1], scores_of(name, bert, inputs, target=int(other[1]))[1]
    )
    by_output = [scores_of(name, bert, inputs, output=o) for o in ("probability", "logit", "loss")]
    assert not torch.allclose(by_output[0], by_output[1], atol=1e-4)
    assert not torch.allclose(by_output[1], by_output[2], atol=1e-4)


def test_log_probability_gradient_is_probability_gradient_over_probability(bert: nn.Module) -> None:
    inputs = text_inputs(bert)
    full = Perturber(bert, inputs).full
    probability = attribute("input_x_gradient", bert, inputs, aggregation="sum")
    loss = attribute("input_x_gradient", bert, inputs, aggregation="sum", output="loss")
    assert torch.allclose(loss, probability / full[:, None], atol=1e-5)


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
    joined = words(pieces)
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


def test_pooled_uniform_counts_pieces(bert: nn.Module) -> None:
    joined = words(text_inputs(bert))
    assert attribute("uniform", bert, joined)[0].tolist() == [2, 2, 2, 1]
    assert attribute("uniform", bert, joined, pool="mean")[0].tolist() == [1, 1, 1, 1]


def test_floors_need_no_model() -> None:
    inputs = text_inputs(text_model("bert"))
    assert torch.equal(attribute("uniform", None, inputs), inputs.feature_mask.float())
    first = attribute("random", None, inputs)
    assert torch.equal(first, attribute("random", None, inputs, seed=0))
    assert not torch.equal(first, attribute("random", None, inputs, seed=1))
    even = attribute("random", None, inputs, distribution="uniform")
    assert ((even >= 0) & (even <= 1)).all()
    with pytest.raises(InputError, match="saliency asks the model"):
        attribute("saliency", None, inputs)


def test_random_is_standard_normal_and_differs_between_texts() -> None:
    inputs = text_inputs(text_model("bert"), (40,) * 60)
    scores = attribute("random", None, inputs)
    assert abs(float(scores.mean())) < 0.06
    assert abs(float(scores.std()) - 1) < 0.05
    assert len({tuple(row) for row in scores.tolist()}) == 60


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
    with pytest.raises(InputError, match="one of the two"):
        scores_of(name, bert, inputs, perturber=perturber, erase="zero")
    with pytest.raises(InputError, match="other inputs"):
        scores_of(name, bert, inputs[[0, 1]], perturber=perturber)


@pytest.mark.parametrize("name", methods())
def test_unknown_option_names_the_known_ones(bert: nn.Module, name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"option of {name} 'stesp'.*known: .*target"):
        attribute(name, bert, text_inputs(bert), stesp=3)


@pytest.mark.parametrize("name", [n for n in methods() if n not in ELEMENTS])
def test_aggregation_where_there_is_none(bert: nn.Module, name: str) -> None:
    with pytest.raises(InputError, match=r"nothing to aggregate; it applies to input_x_gradient, integrated_gradients"):
        attribute(name, bert, text_inputs(bert), aggregation="l2")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("atention", {}, "unknown method 'atention': did you mean 'attention'"),
        ("saliency", {"output": "logits"}, "unknown output 'logits': did you mean 'logit'"),
        ("saliency", {"aggregation": "l3"}, "unknown aggregation 'l3'"),
        ("saliency", {"pool": "max"}, "unknown pool 'max'"),
        ("saliency", {"target": "best"}, "unknown target 'best'"),
        ("saliency", {"target": "gold"}, "give the labels themselves"),
        ("saliency", {"target": [0, 1]}, r"expected integers \[3\]"),
        ("saliency", {"target": 0.5}, "expected integers"),
        ("saliency", {"target": -1}, "counted from 0"),
        ("saliency", {"target": 3}, "classes 0 to 2"),
        ("lime", {"target": 3}, "classes 0 to 2"),
        ("saliency", {"target": object()}, "expected 'predicted'"),
        ("saliency", {"max_tokens": 0}, "max_tokens 0"),
        ("attention", {"layer": 2}, "layers 0 to 1"),
        ("scaled_attention", {"variant": "old"}, "unknown variant of scaled_attention"),
        ("guided_backprop", {"variant": "old"}, "unknown variant of guided_backprop"),
        ("deeplift", {"rules": "old"}, "unknown rules of deeplift"),
        ("deeplift", {"baseline": "one"}, "unknown baseline 'one'"),
        ("integrated_gradients", {"baseline": "one"}, "unknown baseline 'one'"),
        ("integrated_gradients", {"n_steps": 0}, "n_steps 0"),
        ("lime", {"n_samples": 1}, "n_samples 1"),
        ("lime", {"surrogate": "tree"}, "unknown surrogate 'tree'"),
        ("lime", {"alpha": 0.0}, "alpha 0.0"),
        ("shapley_sampling", {"n_samples": 0}, "n_samples 0"),
        ("occlusion", {"erase": "noise"}, "unknown erase 'noise'"),
        ("random", {"distribution": "cauchy"}, "unknown distribution 'cauchy'"),
    ],
)
def test_values_that_cannot_be_used(bert: nn.Module, name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        attribute(name, bert, text_inputs(bert), **options)  # type: ignore[arg-type]


def test_images_are_refused(bert: nn.Module) -> None:
    with pytest.raises(InputError, match="ImageInputs"):
        attribute("saliency", bert, image_inputs())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NEEDS_MODEL)
def test_nan_is_an_error_that_names_method_and_input(name: str) -> None:
    model = text_model("bert")
    inputs = text_inputs(model)
    poisoned = int(inputs.input_ids[1, 2])
    others = inputs.input_ids[[0, 2]]
    inputs.input_ids[[0, 2]] = torch.where(others == poisoned, 5 + (poisoned == 5), others)
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[poisoned] = torch.nan
    # A method that erases meets the model's own NaN before it has scores.
    by_model, by_scores = r"the model answered NaN for 1 rows, of inputs \[1\]", "for 1 of 3 inputs, first input 1"
    erases = name in ("lime", "occlusion", "shapley_sampling")
    with pytest.raises(InputError, match=by_model if erases else f"{name} gave NaN or infinite scores {by_scores}"):
        scores_of(name, model, inputs)


def test_no_attention_maps_is_a_model_error() -> None:
    bag = Bag()
    for name in ("attention", "scaled_attention"):
        with pytest.raises(ModelError, match="gives no attention maps"):
            attribute(name, bag, bag.texts())


def test_guided_backprop_without_a_rectifier_is_a_model_error() -> None:
    bag = Bag()
    with pytest.raises(ModelError, match="none of the rectifiers"):
        attribute("guided_backprop", bag, bag.texts())


def test_every_method_is_documented() -> None:
    table = inspect.getdoc(attribute) or ""
    for name, method in METHODS.items():
        assert f"| {name} | {method.aggregation or '-'} |" in table
        assert inspect.getdoc(method.run)
        own = {p.name for p in inspect.signature(method.run).parameters.values() if p.kind is p.KEYWORD_ONLY}
        line = next(line for line in table.splitlines() if line.startswith(f"| {name} |"))
        assert all(option in line for option in own)


def test_lengths_of_the_toy_are_uneven() -> None:
    assert len(set(LENGTHS)) == 3, "the padding tests above rest on it"
