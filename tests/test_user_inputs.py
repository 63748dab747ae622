"""Inputs are made by one of three functions, which a user can call; what `evaluate` guesses is what these make."""

from __future__ import annotations

import warnings
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from refusals import refused
from torch import Tensor, nn
from toy_models import answers, text_model, tokenizer, vit

import faithlib
from faithlib import Perturber, RunSettings, attribute, evaluate, explain
from faithlib.errors import InputError, ModelError
from faithlib.evaluation import count_rows
from faithlib.evaluation.shards import merge
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs

TEXTS = ["a fine film, not bad", "unfunny film", "it is bad at all"]
GIVEN: dict[str, Any] = {"methods": ["occlusion", "random"], "metrics": ["aopc_morf"]}


def same(found: Inputs, expected: Inputs) -> None:
    assert type(found) is type(expected)
    for field in fields(expected):
        of_found, of_expected = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(of_expected, Tensor):
            assert torch.equal(of_found, of_expected), field.name
        else:
            assert of_found == of_expected, field.name


@pytest.fixture(scope="module")
def model() -> Any:
    return text_model()


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    generator = np.random.default_rng(0)
    paths = [tmp_path / f"{i}.png" for i in range(2)]
    for path in paths:
        Image.fromarray(generator.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(path)
    return paths


def to_pixels(image: Any) -> Tensor:
    return torch.from_numpy(np.array(image)).permute(2, 0, 1) / 128 - 1


# --------------------------------------------------------------------------------------------------------------- texts
def test_texts_for_each_kind_of_model(model) -> None:
    reader = tokenizer()
    same(faithlib.texts(model, TEXTS, tokenizer=reader), TextInputs.from_texts(TEXTS, reader, unit="word"))
    same(
        faithlib.texts(nn.DataParallel(model), iter(TEXTS), tokenizer=reader, unit="wordpiece"),
        TextInputs.from_texts(TEXTS, reader),
    )
    same(faithlib.texts(answers, pd.Series(TEXTS)), WordInputs.from_texts(TEXTS))
    spans = [[(0, 6)], [(0, 7), (8, 12)], [(0, 5)]]
    same(faithlib.texts(answers, TEXTS, spans=spans), WordInputs.from_texts(TEXTS, words=spans))
    same(faithlib.texts(model, TEXTS, tokenizer=reader, spans=spans), TextInputs.from_texts(TEXTS, reader, words=spans))
    estimator = SimpleNamespace(predict_proba=answers)
    same(faithlib.texts(estimator, TEXTS, unit="character"), WordInputs.from_texts(TEXTS, unit="character"))
    pipeline = SimpleNamespace(task="text-classification", model=model, tokenizer=reader)
    same(faithlib.texts(pipeline, TEXTS), TextInputs.from_texts(TEXTS, reader, unit="word"))


def test_texts_that_do_not_fit_are_refused_and_long_ones_named(model) -> None:
    refused(InputError, "plain texts give the model's tokenizer", faithlib.texts, model, TEXTS)
    refused(
        InputError, "spans and unit 'word': give one", faithlib.texts, answers, ["a"], unit="word", spans=[[(0, 1)]]
    )
    refused(InputError, "1 list of words for 2 texts", faithlib.texts, answers, ["a", "b"], spans=[[(0, 1)]])
    refused(InputError, "text 1 is None", faithlib.texts, answers, ["a", None])
    refused(
        InputError, "max_length 3: expected .* a model that reads tokens", faithlib.texts, answers, ["a"], max_length=3
    )
    refused(ModelError, "answers something else", faithlib.texts, SimpleNamespace(task="ner", model=model), TEXTS)
    with pytest.warns(UserWarning, match=r"1 of 3 texts was cut off at its end to 7 tokens .*row 0\."):
        cut = faithlib.texts(model, TEXTS, tokenizer=tokenizer(), max_length=7)
    assert cut.truncated.tolist() == [True, False, False]


# -------------------------------------------------------------------------------------------------------------- images
def test_images_of_all_forms_are_the_same(pictures) -> None:
    seer = vit(img_size=32, patch_size=16)
    expected = ImageInputs.from_pixels(torch.stack([to_pixels(Image.open(path)) for path in pictures]), patch=16)
    opened = [Image.open(path) for path in pictures]
    arrays = [np.array(image) for image in opened]
    for held in (pictures, [*map(str, pictures)], opened, arrays, np.stack(arrays)):
        same(faithlib.images(seer, held, transform=to_pixels), expected)
    same(faithlib.images(seer, expected.pixels), expected)
    same(faithlib.images(seer, [*expected.pixels.numpy()], patch=8), ImageInputs.from_pixels(expected.pixels, patch=8))
    halves = torch.arange(32).expand(32, 32) // 16
    found = faithlib.images(seer, pictures, transform=to_pixels, segments=halves)
    same(found, ImageInputs.from_pixels(expected.pixels, segments=halves))
    refused(
        InputError, "patch and segments: give one", faithlib.images, seer, expected.pixels, patch=8, segments=halves
    )


def test_strings_are_files_for_a_function_of_pixels(pictures) -> None:
    """`evaluate` takes strings for texts where a model does not say that it sees."""

    def brightness(pixels: Tensor) -> Tensor:
        return torch.stack([pixels.mean(dim=(1, 2, 3)), pixels[:, 0].mean(dim=(1, 2))], dim=1)

    inputs = faithlib.images(brightness, [*map(str, pictures)], transform=to_pixels, patch=16)
    table = evaluate(brightness, inputs, **GIVEN)
    held = {"processor": to_pixels, "unit": 16}
    pd.testing.assert_frame_equal(table, evaluate(brightness, [*map(str, pictures)], **held, **GIVEN))
    pd.testing.assert_frame_equal(table, evaluate(brightness, pictures, processor=to_pixels, unit=16, **GIVEN))
    refused(ModelError, "comes without a transform", faithlib.images, brightness, pictures)
    refused(
        InputError, "image 0 .none.png. cannot be read", faithlib.images, brightness, ["none.png"], transform=to_pixels
    )


# -------------------------------------------------------------------------------------------------------------- tokens
def test_tokens_are_those_of_texts_by_piece(model) -> None:
    reader = tokenizer()
    expected = TextInputs.from_texts(TEXTS, reader)
    encoded = reader(TEXTS, padding=True, return_tensors="pt")
    for found in (
        faithlib.tokens(model, encoded, tokenizer=reader),
        faithlib.tokens(model, dict(encoded), tokenizer=reader),
        faithlib.tokens(model, reader(TEXTS), tokenizer=reader),  # lists of several lengths
    ):
        for name in ("input_ids", "attention_mask", "feature_of", "n_features", "token_type_ids"):
            assert torch.equal(getattr(found, name), getattr(expected, name)), name
        assert (found.tokens, found.features) == (expected.tokens, expected.features)
        assert (found.pad_id, found.mask_id) == (expected.pad_id, expected.mask_id)
    table = evaluate(model, encoded, tokenizer=reader, **GIVEN)
    pd.testing.assert_frame_equal(table, evaluate(model, TEXTS, tokenizer=reader, unit="wordpiece", **GIVEN), atol=1e-5)
    shares = [evaluate(model, encoded, tokenizer=reader, run=RunSettings(shard=(i, 2)), **GIVEN) for i in (1, 2)]
    pd.testing.assert_frame_equal(merge(shares), table, atol=1e-5)


def test_tokens_without_a_tokenizer(model) -> None:
    ids = [[2, 5, 6, 7, 3], [2, 5, 3]]
    inputs = faithlib.tokens(model, ids)
    assert inputs.n_features.tolist() == [5, 3], "no token is known to be special"
    own = faithlib.tokens(model, ids, feature_of=[[-1, 0, 1, 1, -1], [-1, 0, -1]])
    assert own.n_features.tolist() == [2, 1]
    left = [[0, 0, 2, 5, 3]]
    turned = faithlib.tokens(model, left, attention_mask=[[0, 0, 1, 1, 1]])
    assert turned.input_ids.tolist() == [[2, 5, 3, 0, 0]], "padding on the left is turned"
    assert Perturber(model, own).full.shape == (2,)
    unknown = tokenizer()("zzz film")
    assert faithlib.tokens(model, [unknown["input_ids"]], tokenizer=tokenizer()).n_features.tolist() == [2]


def test_tokens_that_do_not_fit_are_refused(model) -> None:
    refused(InputError, "begin or end with the id of padding, 0", faithlib.tokens, model, torch.tensor([[2, 5, 0]]))
    refused(InputError, "expected whole numbers", faithlib.tokens, model, [[2.5, 3.0]])
    refused(InputError, "expected whole numbers", faithlib.tokens, model, [])
    refused(InputError, "65 tokens, and this BertForSeq.* takes 64", faithlib.tokens, model, [[5] * 65])
    refused(InputError, "these are for a torch module", faithlib.tokens, answers, [[5, 6]])
    refused(InputError, "these are for a torch module", evaluate, answers, np.array([[5, 6]]), **GIVEN)
    refused(InputError, "the id of padding is not known", faithlib.tokens, nn.Linear(1, 1), [[5, 6]])
    special = {"tokenizer": tokenizer()}
    refused(InputError, "input 1 has no token that may be erased", faithlib.tokens, model, [[5], [2, 3]], **special)
    refused(InputError, "feature_of has shape", faithlib.tokens, model, [[5, 6]], feature_of=[[0]])
    refused(
        InputError, "unit, spans, max_length: BatchEncoding are cut", evaluate, model, tokenizer()(TEXTS), unit="word"
    )
    each = [tokenizer()(text) for text in TEXTS]
    refused(InputError, r"list of BatchEncoding: give their token ids, tokens\(model, \[each", evaluate, model, each)


# ----------------------------------------------------------------------------------------------------------- the shell
def test_everyone_takes_what_a_user_holds(model) -> None:
    reader = tokenizer()
    inputs = faithlib.texts(model, TEXTS, tokenizer=reader)
    scores = attribute("saliency", model, inputs)
    torch.testing.assert_close(attribute("saliency", model, TEXTS, tokenizer=reader), scores)
    torch.testing.assert_close(explain(model, TEXTS, ["saliency"], tokenizer=reader)["saliency"], scores)
    options: dict[str, Any] = {"methods": {"mine": scores}, "metrics": ["aopc_morf"]}
    assert count_rows(model, TEXTS, tokenizer=reader, **options) == count_rows(model, inputs, **options)
    table = evaluate(model, inputs, **options)
    pd.testing.assert_frame_equal(evaluate(model, TEXTS, tokenizer=reader, **options), table)
    assert attribute("random", None, TEXTS).shape == (3, 5)
    assert attribute("random", None, TEXTS, tokenizer=reader).shape == (3, 6)
    torch.testing.assert_close(attribute("occlusion", answers, ["not good"]), torch.tensor([[0.0, 0.4]]))
    with pytest.warns(UserWarning, match="1 of 1 text was cut off"):
        attribute("random", model, ["film " * 99], tokenizer=reader)
    refused(InputError, "inputs are list: expected TextInputs, .*faithlib.texts", Perturber, model, TEXTS)
    pipeline = SimpleNamespace(task="text-classification", model=model, tokenizer=reader)
    refused(InputError, "is for evaluate and explain: give the model that it holds", attribute, "lime", pipeline, TEXTS)
    estimator = SimpleNamespace(predict_proba=answers)
    torch.testing.assert_close(attribute("occlusion", estimator, ["not good"]), torch.tensor([[0.0, 0.4]]))


# -------------------------------------------------------------------------------------------------------- repeated ones
def test_repeated_inputs_are_counted_and_named() -> None:
    texts = ["a good film", "good", "not good at all", "good", "a good film"]
    with pytest.warns(UserWarning, match=r"2 of 5 inputs repeat an earlier one \(rows 3, 4\): they are counted as"):
        table = evaluate(answers, texts, **GIVEN)
    assert table.attrs["repeated"] == [3, 4]
    assert "Repeated: 2 inputs (rows 3, 4) are the same as an earlier one" in str(table.summary())
    with warnings.catch_warnings(action="error"):
        once = evaluate(answers, texts[:3], **GIVEN)
    assert once.attrs["repeated"] == []
    pd.testing.assert_frame_equal(table[table.input < 3], once)
    assert "Repeated" not in str(once.summary())


def test_inputs_repeated_across_blocks_and_shares_are_found() -> None:
    texts = ["a good film", "not good at all", "a good film"]
    with pytest.warns(UserWarning, match="1 of 3 inputs repeats"):
        whole = evaluate(answers, texts, run=RunSettings(block=1), **GIVEN)
    shares = [evaluate(answers, texts, run=RunSettings(shard=(i, 2)), **GIVEN) for i in (1, 2)]
    assert [share.attrs["repeated"] for share in shares] == [[], []]
    with pytest.warns(UserWarning, match="1 of 3 inputs repeats"):
        merged = merge(shares)
    assert merged.attrs["repeated"] == whole.attrs["repeated"] == [2]


def test_repeated_images_are_found() -> None:
    pixels = torch.randn(1, 3, 32, 32).repeat(3, 1, 1, 1)
    pixels[1] += 1
    with pytest.warns(UserWarning, match=r"1 of 3 inputs repeats an earlier one \(row 2\)"):
        evaluate(vit(img_size=32, patch_size=16), pixels, **GIVEN)


def test_values_beyond_the_features_are_told_of_attributions_too() -> None:
    texts = ["good film", "a good film"]
    options: dict[str, Any] = {"methods": ["random"], "metrics": ["aopc_morf"]}
    quiet = evaluate(answers, texts, attributions={"mine": np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 3.0]])}, **options)
    assert quiet.attrs["notes"] == {}
    wide = evaluate(answers, texts, attributions={"mine": np.array([[1.0, 2.0, 9.0], [1.0, 2.0, 3.0]])}, **options)
    assert wide.attrs["notes"] == {"attributions 'mine'": "values beyond the features of input 0 are not read"}
    pd.testing.assert_frame_equal(wide, quiet)
