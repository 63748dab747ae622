"""Models with drawn weights, a tokenizer and texts made here: all that a benchmark needs where there is no network."""

from __future__ import annotations

import numpy as np
import tokenizers
import torch
import transformers
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

SHAPES: dict[str, dict[str, int]] = {
    "bert-base": {},
    "minilm-l6": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
    "tiny": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64},
}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SYLLABLES = [a + b for a in "bcdfglmnprst" for b in ("a", "en", "i", "or", "u")]
PIECES = ["##" + syllable for syllable in SYLLABLES]
WORDS = [first + second for first in SYLLABLES for second in SYLLABLES[:40]]


def model(shape: str) -> nn.Module:
    """A classifier of this shape; its rows take as long whatever the weights, which are large enough that erasing a
    word shows."""
    size = SHAPES[shape].get("hidden_size", 768)
    config = BertConfig(vocab_size=len((*SPECIAL, *WORDS, *PIECES)), initializer_range=2 / size**0.5, **SHAPES[shape])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return BertForSequenceClassification(config).eval()


def tokenizer() -> transformers.PreTrainedTokenizerBase:
    """WordPiece over made-up words; every fifth word of `texts` is two pieces."""
    words = {word: i for i, word in enumerate([*SPECIAL, *WORDS, *PIECES])}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(words, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", words["[CLS]"]), ("[SEP]", words["[SEP]"])]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=512, model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip


def lengths(n: int, *, seed: int = 0) -> list[int]:
    """Words of a sentence as in SST-2: 19 on average, from 2 to 52."""
    drawn = np.random.default_rng(seed).gamma(4.2, 19.3 / 4.2, size=n)
    return np.clip(np.round(drawn), 2, 52).astype(int).tolist()


def texts(n: int, *, seed: int = 0, of: list[int] | None = None) -> list[str]:
    """Sentences of SST-2's lengths, or of these numbers of words, no two alike."""
    draw = np.random.default_rng(seed + 1)
    return [
        " ".join(WORDS[i] + (SYLLABLES[i % 60] if i % 5 == 0 else "") for i in draw.integers(len(WORDS), size=size))
        for size in of or lengths(n, seed=seed)
    ]
