"""Explanations of other packages as scores: on recorded layouts always, on the packages themselves where they are.

captum is part of the environment. The others are not; these versions resolve beside its pins: shap 0.51.0, quantus
0.6.0, ferret-xai 0.4.1, inseq 0.7.1. A test whose package is missing is skipped and says so.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from refusals import refused
from torch import nn
from toy_models import image_inputs, model_and_texts, tokenizer, vision_model

from faithbook.adapters import laid_over, scores_of
from faithlib.attribution import attribute
from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation import evaluate
from faithlib.inputs import ImageInputs, TextInputs, WordInputs

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
    assert there.count(3) == sum(place == 3 for place in places) >= 1


def test_accents_and_case_make_no_difference() -> None:
    assert laid_over(["cafe", "schon"], ["Café", "SCHÖN"]) == [0, 1]


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (["good", "book"], "token 'book' stands where the inputs have 'film'"),
        (["good"], "ends before 'film'"),
        (["goodfilm"], r"covers several features \(good, film\)"),
        (["good", "film", "!"], "token '!' stands where"),
    ],
)
def test_other_texts_are_refused(tokens: list[str], said: str) -> None:
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


def test_quantus_itself_explains_pictures() -> None:
    quantus = pytest.importorskip("quantus", reason="quantus is not installed: pip install quantus==0.6.0")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 2)).eval()
    pictures = ImageInputs.from_pixels(torch.rand(2, 3, 8, 8), patch=4)
    target = np.array([0, 1])
    theirs = quantus.explain(model, pictures.pixels.numpy(), target, method="InputXGradient", device="cpu")
    weight = model[1].weight.detach()[torch.from_numpy(target)].view(2, 3, 8, 8) * pictures.pixels
    expected = scores_of(weight, pictures)
    found = scores_of(theirs, pictures)
    # quantus normalises nothing here and sums over channels, which keeps the sums of patches.
    assert torch.allclose(found, expected, atol=1e-4) or torch.allclose(
        found, scores_of(weight.abs(), pictures), atol=1e-4
    )


def test_ferret_itself_has_the_recorded_layout() -> None:
    pytest.importorskip("ferret", reason="ferret is not installed: pip install ferret-xai==0.4.1")
    from ferret.explainers.explanation import Explanation

    tokens = ["[CLS]", "not", "bad", "[SEP]"]
    told = Explanation("not bad", tokens, np.array([0.0, 0.25, 0.75, 0.0]), "Gradient", 1)
    assert scores_of([(told.tokens, told.scores)], words()[[1]]).tolist() == [[0.25, 0.75]]


def test_inseq_itself_has_the_recorded_layout() -> None:
    pytest.importorskip("inseq", reason="inseq is not installed: pip install inseq==0.7.1")
    from inseq.data.attribution import FeatureAttributionSequenceOutput
    from inseq.utils.typing import TokenWithId

    source = [TokenWithId("▁not", 1), TokenWithId("▁bad", 2), TokenWithId("</s>", 3)]
    target = [TokenWithId("▁nicht", 4), TokenWithId("▁schlecht", 5)]
    both = torch.tensor([[1.0, 3.0], [2.0, 2.0], [9.0, 9.0]])
    sequence = FeatureAttributionSequenceOutput(source=source, target=target, source_attributions=both)
    rows = [([token.token for token in sequence.source], sequence.source_attributions.nanmean(1))]
    assert scores_of(rows, WordInputs.from_texts(["not bad"])).tolist() == [[2, 2]]
