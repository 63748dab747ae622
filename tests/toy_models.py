"""Small models with random weights, and an obviously correct way to ask them about erased inputs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
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


def text_model(family: str = "bert", *, classes: int = 3, problem: str | None = None) -> nn.Module:
    """A two-layer encoder classifier of a family, weights large enough that erasing a token shows."""
    settings = {"num_labels": classes, "problem_type": problem, **families.FAMILIES[family][1]}
    config = transformers.AutoConfig.for_model(family, vocab_size=60, **settings)
    return families.random_model(transformers.AutoModelForSequenceClassification, config)


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


class Bag(nn.Module):
    """A linear classifier shaped like Hugging Face's: logits are sums of w . e over the tokens, all scores known."""

    base_model_prefix = "bag"

    class Base(nn.Module):
        class Embeddings(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.table = nn.Embedding(60, 4)

            def forward(self, input_ids: Tensor) -> Tensor:
                return self.table(input_ids)

        def __init__(self) -> None:
            super().__init__()
            self.embeddings = self.Embeddings()

        def forward(self, inputs_embeds: Tensor) -> Tensor:
            return self.embeddings(inputs_embeds)

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.bag = self.Base()
        self.weight = nn.Parameter(torch.randn(4, 2))
        self.config = SimpleNamespace(pad_token_id=0)
        self.eval()

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor | None) -> SimpleNamespace:
        states = self.bag(inputs_embeds) @ self.weight
        if attention_mask is not None:
            states = states * attention_mask[..., None]
        return SimpleNamespace(logits=states.sum(dim=1))

    def texts(self, lengths: tuple[int, ...] = (9, 6, 4)) -> TextInputs:
        return text_inputs(self, lengths)

    def exact(self, inputs: TextInputs, target: int) -> Tensor:
        """w . e of every feature, [B, F]."""
        share = (self.bag.embeddings.table(inputs.input_ids) @ self.weight)[..., target].detach()
        scores = share[:, 1 : 1 + inputs.feature_mask.shape[1]]
        return torch.where(inputs.feature_mask, scores, 0)
