"""Texts and images become features: what is protected, what is cut off, what is refused."""

from __future__ import annotations

import pytest
import torch
from toy_models import image_inputs, text_inputs, text_model, tokenizer

from faithlib.errors import InputError
from faithlib.inputs import ImageInputs, TextInputs

TEXTS = ["A fine film, not bad.", "Unfunny!", "It is bad"]


def test_wordpieces_are_features_and_special_tokens_are_protected():
    inputs = TextInputs.from_texts(TEXTS, tokenizer())
    assert inputs.features[0] == ("a", "fine", "film", ",", "not", "bad", ".")
    assert inputs.tokens[0] == ("[CLS]", *inputs.features[0], "[SEP]")
    assert inputs.feature_of[0].tolist() == [-1, 0, 1, 2, 3, 4, 5, 6, -1]
    assert inputs.features[1] == ("un", "##fun", "##ny", "[UNK]")
    assert inputs.n_features.tolist() == [7, 4, 3]
    assert inputs.feature_mask.sum(1).tolist() == [7, 4, 3]
    assert [TEXTS[0][a:b] for a, b in inputs.spans[0]] == ["A", "fine", "film", ",", "not", "bad", "."]
    assert not inputs.truncated.any()


def test_words_join_their_pieces():
    inputs = TextInputs.from_texts(TEXTS, tokenizer(), unit="word")
    assert inputs.features[1] == ("Unfunny", "!")
    assert inputs.feature_of[1, :6].tolist() == [-1, 0, 0, 0, 1, -1]


def test_queries_are_protected_and_only_the_text_is_cut():
    inputs = TextInputs.from_texts(TEXTS, tokenizer(), queries=["who is it", "film", "a"], max_length=9)
    assert inputs.tokens[0] == ("[CLS]", "who", "is", "it", "[SEP]", "a", "fine", "film", "[SEP]")
    assert inputs.features[0] == ("a", "fine", "film")
    assert inputs.feature_of[0].tolist() == [-1] * 5 + [0, 1, 2] + [-1]
    assert inputs.token_type_ids[0].tolist() == [0] * 5 + [1] * 4
    assert inputs.truncated.tolist() == [True, False, False]
    with pytest.raises(InputError, match="query 0 has 6 tokens and leaves no room"):
        TextInputs.from_texts(["a film"], tokenizer(), queries=["who is it at all ."], max_length=9)
    with pytest.raises(InputError, match="2 queries for 1 texts"):
        TextInputs.from_texts(["a film"], tokenizer(), queries=["who", "is"])


def test_long_texts_are_cut_and_said_so():
    inputs = TextInputs.from_texts(["film " * 100, "film"], tokenizer())
    assert inputs.input_ids.shape[1] == 32
    assert inputs.truncated.tolist() == [True, False]
    assert inputs.n_features.tolist() == [30, 1]


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(InputError, match=r"text 1 \('  '\) has no tokens"):
        TextInputs.from_texts(["film", "  "], tokenizer())
    with pytest.raises(InputError, match="non-empty sequence"):
        TextInputs.from_texts([], tokenizer())
    with pytest.raises(InputError, match="non-empty sequence"):
        TextInputs.from_texts("film", tokenizer())
    with pytest.raises(InputError, match="'wordpiece' or 'word'"):
        TextInputs.from_texts(TEXTS, tokenizer(), unit="sentence")
    good = text_inputs(text_model())
    fields = {name: getattr(good, name) for name in ("input_ids", "feature_of", "n_features", "truncated", "pad_id")}
    with pytest.raises(InputError, match="right end"):
        TextInputs(**fields, attention_mask=good.attention_mask.flip(1))
    with pytest.raises(InputError, match="attention_mask has shape"):
        TextInputs(**fields, attention_mask=good.attention_mask[:, :3])
    with pytest.raises(InputError, match="disagree"):
        TextInputs(**(fields | {"n_features": good.n_features + 1}), attention_mask=good.attention_mask)


def test_rows_can_be_chosen_and_keep_their_content_key():
    inputs = TextInputs.from_texts(TEXTS, tokenizer())
    chosen = inputs[[2, 1]]
    assert chosen.features == (inputs.features[2], inputs.features[1])
    assert chosen.input_ids.shape[1] == 6
    assert chosen.keys() == (inputs.keys()[2], inputs.keys()[1])
    assert len(set(inputs.keys())) == 3
    assert inputs[:1].features == inputs.features[:1]


def test_images_are_cut_into_patches():
    inputs = image_inputs()
    assert inputs.feature_of[0, 0] == 0
    assert inputs.feature_of[0, 7] == 1
    assert inputs.feature_of[7, 0] == 2
    assert inputs.n_features.tolist() == [4, 4, 4]
    assert len(inputs[[1]]) == 1
    assert inputs[[1]].keys() == inputs.keys()[1:2]
    with pytest.raises(InputError, match="8 x 8 pixels is no whole number of 3-pixel patches"):
        ImageInputs.from_pixels(torch.zeros(1, 3, 8, 8), patch=3)
    with pytest.raises(InputError, match=r"expected \[B, C, H, W\]"):
        ImageInputs.from_pixels(torch.zeros(3, 8, 8), patch=4)
    with pytest.raises(InputError, match="NaN"):
        ImageInputs.from_pixels(torch.full((1, 3, 8, 8), torch.nan), patch=4)
