"""Small models with random weights, and an obviously correct way to ask them about erased inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import families
import tokenizers
import torch
import transformers
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from faithlib.attribution import Row, methods
from faithlib.inputs import ImageInputs, TextInputs

FAMILIES = ("bert", "roberta", "distilbert", "xlm-roberta")
LENGTHS = (9, 6, 4)
# Enough for tests that ask for every method and not for its accuracy.
FAST: dict[str, dict[str, Any]] = {
    "lime": {"n_samples": 8}, "shapley_sampling": {"n_samples": 2}, "integrated_gradients": {"n_steps": 6}
}  # fmt: skip


def quick_rows(kind: str) -> dict[str, Row]:
    """Every method for "text", "image" or "words" inputs, at little cost."""
    return {name: Row(name, options=FAST.get(name, {})) for name in methods(kind)}


def text_model(family: str = "bert", *, classes: int = 3) -> nn.Module:
    """A two-layer encoder classifier of a family, weights large enough that erasing a token shows."""
    torch.manual_seed(0)
    size = {"vocab_size": 60, "max_position_embeddings": 64, "num_labels": classes}
    common = size | {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config, kind = {
        "bert": (transformers.BertConfig(**common), transformers.BertForSequenceClassification),
        "roberta": (transformers.RobertaConfig(**common), transformers.RobertaForSequenceClassification),
        "xlm-roberta": (transformers.XLMRobertaConfig(**common), transformers.XLMRobertaForSequenceClassification),
        "distilbert": (
            transformers.DistilBertConfig(**size, dim=16, n_layers=2, n_heads=2, hidden_dim=32),
            transformers.DistilBertForSequenceClassification,
        ),
    }[family]
    model = kind(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "LayerNorm" not in name and "layer_norm" not in name:
                parameter.normal_(0, 0.4)
    return model


def text_inputs(model: nn.Module, lengths: tuple[int, ...] = LENGTHS, *, seed: int = 0) -> TextInputs:
    """Random ids; first and last position of each row are protected, the positions between are one feature each."""
    generator = torch.Generator().manual_seed(seed)
    longest = max(lengths)
    ids = torch.randint(5, 60, (len(lengths), longest), generator=generator)
    sizes = torch.tensor(lengths)[:, None]
    place = torch.arange(longest)[None, :]
    mask = place < sizes
    pad = model.config.pad_token_id
    feature_of = torch.where((place > 0) & (place < sizes - 1), place - 1, -1)
    return TextInputs(
        input_ids=torch.where(mask, ids, pad),
        attention_mask=mask,
        feature_of=feature_of,
        n_features=sizes[:, 0] - 2,
        truncated=torch.zeros(len(lengths), dtype=torch.bool),
        pad_id=pad,
        mask_id=4,
    )


def model_and_texts(family: str = "bert", *, lengths: tuple[int, ...] = LENGTHS) -> tuple[nn.Module, TextInputs]:
    """A text model and inputs for it."""
    model = text_model(family)
    return model, text_inputs(model, lengths)


def in_words(inputs: TextInputs) -> TextInputs:
    """The same rows with features of two positions each (the last of a row may have one)."""
    feature_of = torch.where(inputs.feature_of >= 0, inputs.feature_of // 2, -1)
    return replace(inputs, feature_of=feature_of, n_features=feature_of.amax(dim=1) + 1)


def vit(kind: type[VisionTransformer] = VisionTransformer, *, spread: float = 0.4, **options: Any) -> VisionTransformer:
    """A two-block ViT on 8 x 8 images with patches of 4, weights large enough for gradients and attention to show."""
    torch.manual_seed(0)
    size = {"img_size": 8, "patch_size": 4, "embed_dim": 8, "depth": 2, "num_heads": 2, "num_classes": 3}
    model = kind(**{**size, **options}).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, spread)
    return model


def vision_model(*, class_token: bool = True) -> VisionTransformer:
    """A wider one, which reads its class token or the mean of its patches."""
    pool = "token" if class_token else "avg"
    return vit(spread=0.3, embed_dim=16, class_token=class_token, global_pool=pool)


def image_inputs(n: int = 3) -> ImageInputs:
    """Random images in four patches."""
    return ImageInputs.from_pixels(torch.randn(n, 3, 8, 8, generator=torch.Generator().manual_seed(1)), patch=4)


def answers(texts: list[str]) -> list[list[float]]:
    """A function that knows one word."""
    return [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]


def one_row(model: nn.Module, inputs: TextInputs, b: int, keep: Tensor, erase: str) -> Tensor:
    """Logits [C] of one erased text, alone in its batch and without padding: the oracle of every test of the core."""
    return families.one_row("bert", model, inputs, b, keep, erase)


def tokenizer() -> transformers.PreTrainedTokenizerBase:
    """A WordPiece tokenizer over a few words, uncased, with BERT's special tokens and punctuation apart."""
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] a fine film not bad at all , . un ##fun ##ny who is it".split()
    backend = tokenizers.Tokenizer(tokenizers.models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    backend.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=32,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
