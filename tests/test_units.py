"""Texts are cut by stated rules: words, characters, sentences, in every script; and containers of texts are opened."""

from __future__ import annotations

import pandas as pd
import pytest
import tokenizers
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from test_inputs import sentencepieces
from toy_models import tokenizer

from faithlib.errors import InputError
from faithlib.inputs import ImageInputs, TextInputs, WordInputs
from faithlib.segmentation import cut


def strings(text: str, unit: str) -> list[str]:
    return [text[start:end] for start, end in cut(text, unit)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not bad  at all!", ["not", "bad", "at", "all!"]),
        ("我们喜欢，电影。", ["我", "们", "喜", "欢", "，", "电", "影", "。"]),
        ("用Python写 very well", ["用", "Python", "写", "very", "well"]),
        ("すごいエイガ", list("すごいエイガ")),
        ("ที่ดี", ["ที่", "ดี"]),  # marks stay with their consonant
        ("naïve cafe\u0301", ["naïve", "cafe\u0301"]),
        ("ok 👍🏽 👩\u200d💻 go", ["ok", "👍🏽", "👩\u200d💻", "go"]),
        ("فيلم رائع", ["فيلم", "رائع"]),
    ],
)
def test_words_of_every_script(text: str, words: list[str]) -> None:
    assert strings(text, "word") == words


def test_characters_keep_their_marks_and_blanks_are_none() -> None:
    assert strings("a é 👍🏽", "character") == ["a", "é", "👍🏽"]
    assert strings("e\u0301t", "character") == ["e\u0301", "t"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three", ["One.", "Two!", "Three"]),
        ('He said "no." Then 3.5 more...', ['He said "no."', "Then 3.5 more..."]),
        ("好看。不好看！真的？", ["好看。", "不好看！", "真的？"]),
        ("a line \n another\n\n", ["a line", "another"]),
        ("!", ["!"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert strings(text, "sentence") == sentences


@given(st.text(max_size=40), st.sampled_from(["word", "character", "sentence"]))
@settings(max_examples=80, deadline=None)
def test_units_ascend_and_cover_everything_but_blanks(text: str, unit: str) -> None:
    spans, end, left = cut(text, unit), 0, []
    for start, stop in spans:
        assert end <= start < stop <= len(text)
        left.append(text[end:start])
        end = stop
    assert not "".join([*left, text[end:]]).strip()


# ----------------------------------------------------------------------------------------------------- with a tokenizer
def test_a_clause_without_blanks_is_as_many_words_as_tokens() -> None:
    reader = sentencepieces("▁ ▁我们 我们 喜欢 这部 电影 ▁good ▁film s 我 们", split_first=False)
    inputs = TextInputs.from_texts(["我们喜欢这部电影", "good films"], reader, unit="word")
    assert inputs.features == (("我们", "喜欢", "这部", "电影"), ("good", "films"))


def test_a_blank_that_is_a_token_stays_with_its_word() -> None:
    inputs = TextInputs.from_texts(["你好 世界 the"], sentencepieces(), unit="word")
    assert inputs.tokens[0][1:-1] == ("▁", "你好", "▁", "世", "界", "▁the")
    assert inputs.features[0] == ("你好", "世", "界", "the")
    assert inputs.feature_of[0].tolist() == [-1, 0, 0, 1, 1, 2, 3, -1]


def test_bytes_of_one_character_stay_together() -> None:
    backend = tokenizers.Tokenizer(tokenizers.models.BPE({}, []))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = {c: i for i, c in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}
    backend.model = tokenizers.models.BPE(alphabet, [])
    tool = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="Ġ")
    inputs = TextInputs.from_texts(["我们 go"], tool, unit="word")
    assert inputs.features[0] == ("我", "们", "go")
    assert inputs.feature_of[0].tolist() == [0] * 3 + [1] * 3 + [2] * 3


def test_sentences_and_characters_are_features_of_tokens() -> None:
    inputs = TextInputs.from_texts(["A fine film. Not bad at all."], tokenizer(), unit="sentence")
    assert inputs.features[0] == ("A fine film.", "Not bad at all.")
    assert inputs.feature_of[0].tolist() == [-1, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1]
    pair = TextInputs.from_texts([("A film. Fine.", "Not bad.")], tokenizer(), unit="sentence")
    assert pair.features[0] == ("A film.", "Fine.", "Not bad.")
    with pytest.warns(UserWarning, match="1 of 3 features has several characters, those of one token"):
        letters = TextInputs.from_texts(["a, film"], tokenizer(), unit="character")
    assert letters.features[0] == ("a", ",", "film"), "letters that share a token are one feature"


def test_a_function_of_texts_has_the_same_units() -> None:
    assert WordInputs.from_texts(["我们 ok"]).spans == (((0, 1), (1, 2), (3, 5)),)
    assert WordInputs.from_texts(["One. Two."], unit="sentence").spans == (((0, 4), (5, 9)),)
    own = WordInputs.from_texts(["not bad at all"], words=[[(0, 7), (8, 14)]])
    assert own.without(0, [False, True], masked=False) == "at all"
    with pytest.raises(InputError, match="unit 'wordpiece': of a function of texts expected one of 'word', 'char"):
        WordInputs.from_texts(["a"], unit="wordpiece")
    refused(InputError, "1 list of words for 2 texts", WordInputs.from_texts, ["a", "b"], words=[[(0, 1)]])


# ----------------------------------------------------------------------------------------------------------- containers
@pytest.mark.parametrize("wrong", ["a film", b"a film", [], None, 3])
def test_what_is_no_container_of_texts_is_refused(wrong) -> None:
    for make in (WordInputs.from_texts, lambda texts: TextInputs.from_texts(texts, tokenizer())):
        refused(InputError, "expected a non-empty sequence of strings, one for each text, got", make, wrong)


def test_a_table_is_refused_and_a_column_of_it_asked_for() -> None:
    for table in (pd.DataFrame({"text": ["a"]}), {"text": ["a"]}):
        with pytest.raises(InputError, match=r"is a table: expected the column of each text, as table\['text'\]"):
            WordInputs.from_texts(table)


def test_broken_texts_are_named_by_their_row() -> None:
    texts = ["good", None, float("nan"), " ", 3, "bad"]
    with pytest.raises(InputError) as error:
        WordInputs.from_texts(texts)
    assert str(error.value) == (
        "text 1 is None: expected a string; text 2 is nan: expected a string; text 3 (' ') is blank; and text 4: leave "
        "such texts out of the batch"
    )
    refused(InputError, "pair 1 is None", TextInputs.from_texts, ["a", "film"], tokenizer(), pairs=["a", None])


def test_a_tokenizer_without_offsets_is_refused_with_a_way_out() -> None:
    slow = transformers.ByT5Tokenizer()
    with pytest.raises(InputError, match=r"ByT5Tokenizer does not report which characters .* evaluate a function"):
        TextInputs.from_texts(["a film"], slow)
    with pytest.raises(InputError, match="max_length 2: expected more than the 2 tokens added to every text"):
        TextInputs.from_texts(["a film"], tokenizer(), max_length=2)


# --------------------------------------------------------------------------------------------------------------- images
@pytest.mark.parametrize("kind", [torch.uint8, torch.int64])
def test_integer_pixels_are_refused(kind) -> None:
    with pytest.raises(InputError, match=r"pixels are torch\.u?int\d+: expected floats, normalised as the model"):
        ImageInputs.from_pixels(torch.ones(1, 3, 4, 4, dtype=kind), patch=2)
    whole = torch.tensor([4])
    with pytest.raises(InputError, match="expected floats, normalised"):
        ImageInputs(torch.ones(1, 3, 4, 4, dtype=kind), torch.arange(4).repeat_interleave(4).view(4, 4), whole)


def test_pixels_from_0_to_255_are_refused_unless_the_model_wants_them() -> None:
    pixels = torch.linspace(0, 255, 48).view(1, 3, 4, 4)
    with pytest.raises(InputError, match="pixels reach from 0 to 255: expected floats, normalised"):
        ImageInputs.from_pixels(pixels, patch=2)
    assert torch.equal(ImageInputs.from_pixels(pixels, patch=2, is_normalised=False).pixels, pixels)


def test_other_shapes_of_pixels_are_refused() -> None:
    with pytest.raises(InputError, match=r"grayscale images need a channel, pixels\[:, None\]"):
        ImageInputs.from_pixels(torch.zeros(2, 4, 4), patch=2)
    refused(InputError, "patch and segments: give one of the two", ImageInputs.from_pixels, torch.zeros(1, 3, 4, 4))
    with pytest.raises(InputError, match=r"segments are torch.float32 \[4, 4\]: expected integers"):
        ImageInputs.from_pixels(torch.zeros(1, 3, 4, 4), segments=torch.zeros(4, 4))
    with pytest.raises(InputError, match=r"pixels have shape \(1, 3, 4, 4\) and feature_of \(2, 4, 4\)"):
        ImageInputs.from_pixels(torch.zeros(1, 3, 4, 4), segments=torch.zeros(2, 4, 4, dtype=torch.long))


def test_each_image_has_segments_of_its_own() -> None:
    maps = torch.tensor([[[3, 3, 9, 9]] * 2, [[1, 2, 4, -7]] * 2])
    images = ImageInputs.from_pixels(torch.randn(2, 3, 2, 4), segments=maps.numpy())
    assert images.n_features.tolist() == [2, 3]
    assert images.feature_of[:, 0].tolist() == [[0, 0, 1, 1], [0, 1, 2, -1]]
    assert images.feature_mask.tolist() == [[True, True, False], [True, True, True]]
    second = images[[1]]
    assert second.feature_of.shape == (1, 2, 4) and second.keys() == images.keys()[1:]
    assert images[[1, 0]].n_features.tolist() == [3, 2]
