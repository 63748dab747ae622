"""Texts and images become features: what is protected, what is cut off, what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tokenizers
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
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
    assert inputs.n_features.tolist() == inputs.feature_mask.sum(1).tolist() == [7, 4, 3]
    assert [TEXTS[0][a:b] for a, b in inputs.spans[0]] == ["A", "fine", "film", ",", "not", "bad", "."]
    assert not inputs.truncated.any()
    # Rows can be chosen and keep their content key.
    chosen = inputs[[2, 1]]
    assert chosen.features == (inputs.features[2], inputs.features[1])
    assert chosen.input_ids.shape[1] == 6
    assert chosen.keys() == (inputs.keys()[2], inputs.keys()[1])
    assert len(set(inputs.keys())) == 3
    # Every position of words can be a feature of its own.
    pieces = TextInputs.from_texts(TEXTS, tokenizer(), unit="word").by_piece()
    assert torch.equal(pieces.feature_of, inputs.feature_of)
    assert (pieces.features, pieces.keys()) == (inputs.features, inputs.keys())


def test_queries_are_protected_and_only_the_text_is_cut():
    inputs = TextInputs.from_texts(TEXTS, tokenizer(), queries=["who is it", "film", "a"], max_length=9)
    assert inputs.tokens[0] == ("[CLS]", "who", "is", "it", "[SEP]", "a", "fine", "film", "[SEP]")
    assert inputs.features[0] == ("a", "fine", "film")
    assert inputs.feature_of[0].tolist() == [-1] * 5 + [0, 1, 2] + [-1]
    assert inputs.token_type_ids[0].tolist() == [0] * 5 + [1] * 4
    assert inputs.truncated.tolist() == [True, False, False]


PIECES = "▁ ▁the ▁film s ▁un fun ny 你 你好 世 界 好世 . ' t ▁don a b"


def sentencepieces(pieces: str = PIECES, *, split_first: bool = True) -> transformers.PreTrainedTokenizerBase:
    """An XLM-R-shaped tokenizer: "▁" stands for the blank before a word, and pairs are parted by two marks.

    With `split_first`, texts are split at white space first as XLM-R's are, so that blanks have no characters; else
    pieces carry the blank before them in their offsets, and "▁" alone may cover a blank.
    """
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    scores = [(mark, 0.0) for mark in marks] + [(piece, -1.0 - i / 100) for i, piece in enumerate(pieces.split())]
    backend = tokenizers.Tokenizer(tokenizers.models.Unigram(scores, unk_id=3))
    split, blanks = tokenizers.pre_tokenizers.WhitespaceSplit(), tokenizers.pre_tokenizers.Metaspace()
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split, blanks]) if split_first else blanks
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>", cls_token="<s>", sep_token="</s>",
        mask_token="<mask>", model_max_length=32,
    )  # fmt: skip


def spans_of(*texts: str) -> list[list[tuple[int, int]]]:
    """Words and punctuation marks, as another tool may cut them."""
    return [[m.span() for m in re.finditer(r"\w+|[^\w\s]", text)] for text in texts]


def test_pieces_belong_to_the_words_given():
    words = spans_of(*TEXTS)
    inputs = TextInputs.from_texts(TEXTS, tokenizer(), words=words)
    assert inputs.features[1] == ("Unfunny", "!")
    assert inputs.feature_of[1, :6].tolist() == [-1, 0, 0, 0, 1, -1]
    assert inputs.spans == tuple(map(tuple, words))
    assert inputs[[2, 1]].feature_of_word == (inputs.feature_of_word[2], inputs.feature_of_word[1])
    # Characters outside the words stay protected: here the full stop, and a word left out.
    some = TextInputs.from_texts(TEXTS[:1], tokenizer(), words=[[(2, 6), (7, 11)]])
    assert some.feature_of[0].tolist() == [-1, -1, 0, 1, -1, -1, -1, -1, -1]


@pytest.mark.parametrize("split_first", [True, False])
def test_words_of_a_sentencepiece_tokenizer(split_first: bool):
    texts = ["the films unfunny.", "你好 世界 the", "don't"]
    inputs = TextInputs.from_texts(texts, sentencepieces(split_first=split_first), words=spans_of(*texts))
    assert inputs.features[0] == ("the", "films", "unfunny", ".")
    assert inputs.tokens[0][1:-1] == ("▁the", "▁film", "s", "▁un", "fun", "ny", ".")
    assert inputs.feature_of[0, :9].tolist() == [-1, 0, 1, 1, 2, 2, 2, 3, -1]
    assert inputs.tokens[1][1:-1] == ("▁", "你好", "▁", "世", "界", "▁the")
    assert inputs.features[1] == ("你好", "世界", "the")
    assert inputs.feature_of[1, :8].tolist() == [-1, 0, 0, 1, 1, 1, 2, -1], "a blank goes with the word it begins"
    assert inputs.features[2] == ("don", "'", "t")
    letters = TextInputs.from_texts(texts[1:2], sentencepieces(), words=[[(0, 1), (1, 2), (3, 4), (4, 5), (6, 9)]])
    assert letters.feature_of_word[0] == (0, 0, 1, 2, 3), "one piece for both of the first two"
    assert letters.features[0] == ("你好", "世", "界", "the")


def test_words_cut_off_or_cleaned_away_have_no_feature():
    half = TextInputs.from_texts(["film unfunny"], tokenizer(), words=[[(0, 4), (5, 12)]], max_length=4)
    assert half.feature_of_word == ((0, 1),), "a word stays with what is left of it"
    text = "a \u200b film"  # the tokenizer drops characters of no width
    cleaned = TextInputs.from_texts([text], tokenizer(), words=[[(0, 1), (2, 3), (4, 8)]])
    assert cleaned.feature_of_word == ((0, -1, 1),)
    assert cleaned.features[0] == ("a", "film")


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.booleans(), st.integers(5, 20))
@settings(max_examples=40, deadline=None)
def test_words_and_pieces_always_agree(sizes: list[int], split_first: bool, max_length: int):
    text = ("the films 你好世界. unfunny don't  a b " * 3)[: 2 * sum(sizes) + 2]
    ends = [2 * sum(sizes[: i + 1]) for i in range(len(sizes))]
    words = [(end - 2 * size, end - size % 2) for size, end in zip(sizes, ends, strict=True)]
    tool = sentencepieces(split_first=split_first)
    inputs = TextInputs.from_texts([text], tool, words=[words], max_length=max_length)
    encoding = tool(text, truncation=True, max_length=max_length).encodings[0]
    for w, (start, end) in enumerate(words):
        feature = inputs.feature_of_word[0][w]
        own = [p for p, (a, b) in enumerate(encoding.offsets) if a < end and start < b]
        assert (feature == -1) == (not own)
        assert all(inputs.feature_of[0, p] == feature for p in own)
        if feature >= 0:
            first, last = inputs.spans[0][feature]
            assert first <= start < end <= last


def test_pairs_carry_features_in_both_segments_and_long_ones_lose_the_end_of_the_longer():
    texts, pairs = ["A fine film.", "It is bad"], ["Unfunny", "who is it at all"]
    inputs = TextInputs.from_texts(texts, tokenizer(), pairs=pairs)
    assert inputs.tokens[0] == ("[CLS]", "a", "fine", "film", ".", "[SEP]", "un", "##fun", "##ny", "[SEP]")
    assert inputs.feature_of[0, :10].tolist() == [-1, 0, 1, 2, 3, -1, 4, 5, 6, -1]
    assert inputs.token_type_ids[0, :10].tolist() == [0] * 6 + [1] * 4
    wholes = [f"{text} {pair}" for text, pair in zip(texts, pairs, strict=True)]
    assert [wholes[0][a:b] for a, b in inputs.spans[0]] == ["A", "fine", "film", ".", "Un", "fun", "ny"]
    by_word = TextInputs.from_texts(texts, tokenizer(), pairs=pairs, unit="word")
    assert by_word.features[0] == ("A", "fine", "film", ".", "Unfunny")
    given = TextInputs.from_texts(texts, tokenizer(), pairs=pairs, words=spans_of(*wholes))
    assert given.features == by_word.features
    assert torch.equal(given.feature_of, by_word.feature_of)
    other = TextInputs.from_texts(texts, sentencepieces(), pairs=["the film", "你好"], unit="word")
    assert other.tokens[1][-5:] == ("</s>", "</s>", "▁", "你好", "</s>")
    assert other.features[1][-1] == "你好"
    long = [[(5 * i, 5 * i + 4) for i in range(6)] + [(31, 32), (33, 37), (38, 42)]]
    cut = TextInputs.from_texts(["film " * 6], tokenizer(), pairs=["a fine film"], words=long, max_length=10)
    assert cut.tokens[0] == ("[CLS]", *["film"] * 4, "[SEP]", "a", "fine", "film", "[SEP]")
    assert cut.truncated.tolist() == [True]
    assert cut.feature_of_word[0] == (0, 1, 2, 3, -1, -1, 4, 5, 6)


def cut(text: str = "a fine film", **given: Any) -> TextInputs:
    return TextInputs.from_texts([text], tokenizer(), **given)


def patched(pixels: torch.Tensor, patch: int = 4) -> ImageInputs:
    return ImageInputs.from_pixels(pixels, patch=patch)


def made(**given: Any) -> TextInputs:
    """A batch by hand, of which some fields are others."""
    good = text_inputs(text_model())
    fields = ("input_ids", "feature_of", "n_features", "truncated", "pad_id", "attention_mask")
    return TextInputs(**{name: getattr(good, name) for name in fields} | given)


MASK = text_inputs(text_model()).attention_mask
SPANS = "covers the characters .*: expected ascending spans"


@pytest.mark.parametrize(
    ("message", "call", "given"),
    [
        ("query 0 has 6 tokens and leaves no room", cut, {"queries": ["who is it at all ."], "max_length": 9}),
        ("2 queries for 1 text", cut, {"queries": ["who", "is"]}),
        ("queries and pairs", cut, {"pairs": ["a"], "queries": ["a"]}),
        *((SPANS, cut, {"words": [wrong]}) for wrong in ([(0, 3), (2, 6)], [(3, 3)], [(0, 99)], [(-1, 2)])),
        ("no token within its 0 words", cut, {"words": [[]]}),
        ("words and unit 'word'", cut, {"words": [[(0, 1)]], "unit": "word"}),
        ("'phrase': expected one of 'wordpiece', 'word', 'character', 'sentence'", cut, {"unit": "phrase"}),
        ("where attention_mask says padding", made, {"attention_mask": MASK.flip(1)}),
        ("padding must stand at one end", made, {"attention_mask": MASK & (torch.arange(9) != 1)}),
        ("padding must stand at one end", made, {"attention_mask": torch.zeros_like(MASK)}),
        ("attention_mask has shape", made, {"attention_mask": MASK[:, :3]}),
        ("disagree", made, {"n_features": torch.tensor([1, 2, 3])}),
        ("none of 3 inputs is chosen", image_inputs().__getitem__, {"rows": []}),
        ("none of 3 inputs is chosen", made().__getitem__, {"rows": torch.zeros(3, dtype=torch.bool)}),
        (
            "8 x 8 pixels is no whole number of 3-pixel",
            patched,
            {"pixels": torch.zeros(1, 3, 8, 8), "patch": 3},
        ),
        (r"expected \[B, C, H, W\]", patched, {"pixels": torch.zeros(3, 8, 8)}),
        ("NaN", patched, {"pixels": torch.full((1, 3, 8, 8), torch.nan)}),
    ],
)
def test_what_cannot_be_explained_is_refused(message: str, call: Any, given: dict[str, Any]):
    refused(InputError, message, call, **given)
