"""Explanations of other packages as scores: on recorded layouts always, on the packages themselves where they are.

captum and shap are part of the environment; of quantus, ferret and inseq the layout of arrays and tokens is recorded.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from refusals import refused
from toy_models import image_inputs, model_and_texts, tokenizer, vision_model

from faithbook.adapters import laid_over, scores_of
from faithlib.attribution import attribute
from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation import evaluate
from faithlib.inputs import TextInputs, WordInputs

TEXTS = ["a fine, unfunny film", "not bad"]


def words() -> TextInputs:
    return TextInputs.from_texts(TEXTS, tokenizer(), unit="word")


# -------------------------------------------------------------------------------------------------------------- tokens
@pytest.mark.parametrize(
    "tokens",
    [
        ["[CLS]", "a", "fine", ",", "un", "##fun", "##ny", "film", "[SEP]"],
        ["<s>", "a", "Ġfine", ",", "Ġunfun", "ny", "Ġfilm", "</s>"],
        ["▁A", "▁fine", ",", "▁unfunny", "▁film"],
        ["", "a ", "fine", ", ", "unfun", "ny ", "film", ""],
    ],
)
def test_pieces_of_any_tokenizer_find_their_word(tokens: list[str]) -> None:
    features = ["a", "fine", ",", "unfunny", "film"]
    places = laid_over(tokens, features)
    there = [place for place in places if place >= 0]
    assert sorted(set(there)) == [0, 1, 2, 3, 4] and there == sorted(there)
    assert laid_over(["cafe", "schon"], ["Café", "SCHÖN"]) == [0, 1]


def test_other_texts_are_refused() -> None:
    for tokens, said in (
        (["good", "book"], "token 'book' stands where the inputs have 'film'"),
        (["good"], "ends before 'film'"),
        (["goodfilm"], r"covers several features \(good, film\)"),
        (["good", "film", "!"], "token '!' stands where"),
    ):
        refused(InputError, said, laid_over, tokens, ["good", "film"])


# ------------------------------------------------------------------------------------------------------------- layouts
def test_arrays_are_known_by_their_shape() -> None:
    inputs = words()
    length = inputs.input_ids.shape[1]
    positions = torch.arange(2.0 * length).view(2, length)
    found = scores_of(positions, inputs)
    # [CLS] is position 0; "unfunny" is the positions 4, 5 and 6.
    assert found[0].tolist() == [1, 2, 3, 4 + 5 + 6, 7]
    assert scores_of(positions, inputs, pool="mean")[0, 3] == 5
    embedded = positions[..., None] * torch.tensor([1.0, -2.0])
    assert torch.equal(scores_of(embedded, inputs), -found)
    assert torch.equal(scores_of(embedded, inputs, aggregation="abs_sum"), found)
    assert scores_of(found.numpy(), inputs).shape == inputs.feature_mask.shape
    refused(InputError, r"shape \(2, 3\): these inputs have positions", scores_of, torch.ones(2, 3), inputs)
    refused(UnknownNameError, "aggregation", scores_of, positions, inputs, aggregation="max")
    refused(InputError, r"type builtins.dict: expected a tensor or an array", scores_of, {}, inputs)


def test_pixels_become_patches() -> None:
    pictures = image_inputs(2)
    values = torch.zeros(2, 3, 8, 8)
    values[0, :, :4, 4:] = 1.0
    expected = [[0, 48, 0, 0], [0, 0, 0, 0]]
    assert scores_of(values, pictures).tolist() == expected
    assert scores_of(values.sum(dim=1, keepdim=True).numpy(), pictures).tolist() == expected  # as quantus has it


def test_tokens_come_with_a_score_each() -> None:
    inputs = words()
    first = (["[CLS]", *"a fine , un ##fun ##ny film".split(), "[SEP]"], np.arange(9.0))
    second = (["[CLS]", "not", "bad", "[SEP]"], [0.0, 1.0, 2.0, 3.0])
    assert scores_of([first, second], inputs).tolist() == [[1, 2, 3, 4 + 5 + 6, 7], [1, 2, 0, 0, 0]]
    assert scores_of([first, second], inputs, pool="mean")[0, 3] == 5
    assert scores_of([second], inputs[[1]]).tolist() == [[1, 2]]
    refused(InputError, "explanations of 1 texts for 2 inputs", scores_of, [first], inputs)
    refused(InputError, "has 4 tokens and 3 scores", scores_of, [(second[0], np.arange(3.0))], inputs[[1]])


# ------------------------------------------------------------------------------------------------ packages themselves
def test_captum_on_texts_gives_what_our_method_gives() -> None:
    from captum.attr import LayerGradientXActivation

    model, inputs = model_and_texts()
    target = model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask).logits.argmax(dim=1)

    def probability(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return model(input_ids=ids, attention_mask=mask).logits.softmax(dim=-1)

    method = LayerGradientXActivation(probability, model.bert.embeddings)
    theirs = method.attribute(inputs.input_ids, additional_forward_args=inputs.attention_mask, target=target)
    ours = attribute("input_x_gradient", model, inputs, aggregation="sum")
    assert torch.allclose(scores_of(theirs, inputs), ours, atol=1e-5)
    assert torch.allclose(
        scores_of(theirs, inputs, aggregation="l2"),
        attribute("input_x_gradient", model, inputs, aggregation="l2"),
        atol=1e-5,
    )


def test_captum_on_pictures_goes_into_evaluate() -> None:
    from captum.attr import FeatureAblation

    model, pictures = vision_model(), image_inputs(2)
    target = model(pictures.pixels).argmax(dim=1)
    mask = pictures.feature_of[None, None].expand(1, 3, -1, -1)
    theirs = FeatureAblation(model).attribute(pictures.pixels, target=target, feature_mask=mask)
    ours = attribute("occlusion", model, pictures, erase="zero", output="logit")
    # captum gives every pixel what its patch costs; ours is one score a patch.
    assert torch.allclose(scores_of(theirs, pictures, pool="mean") / 3, ours, atol=1e-4)
    table = evaluate(model, pictures, methods={"captum": scores_of(theirs, pictures)}, metrics=["aopc_morf"])
    assert len(table) == 2


def test_shap_itself_finds_the_weights_of_a_linear_model() -> None:
    shap = pytest.importorskip("shap", reason="shap is not installed: pip install shap==0.51.0")
    weights = torch.tensor([1.0, -2.0, 0.5])
    explainer = shap.Explainer(lambda x: x @ weights.numpy(), np.zeros((1, 3)), algorithm="exact")
    inputs = WordInputs.from_texts(["a good film"])
    assert scores_of(explainer(np.ones((1, 3))).values, inputs)[0].tolist() == pytest.approx([1, -2, 0.5])
    masker = shap.maskers.Text(tokenizer())
    worth = {"fine": 2.0, "bad": -1.0}

    def score(texts: list[str]) -> np.ndarray:
        # What shap puts in a word's place may stand right before the next one.
        return np.array([[0.0, sum(value * str(text).count(word) for word, value in worth.items())] for text in texts])

    told = shap.Explainer(score, masker, output_names=["no", "yes"])(["a fine film", "not bad"])
    own = TextInputs.from_texts(["a fine film", "not bad"], tokenizer(), unit="word")
    found = scores_of([(one.data, one.values[:, 1]) for one in told], own)
    assert found[0].tolist() == pytest.approx([0, 2, 0], abs=1e-6)
    assert found[1, :2].tolist() == pytest.approx([0, -1], abs=1e-6)
