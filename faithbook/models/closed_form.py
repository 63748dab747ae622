"""Classifiers whose every reason is known in closed form, shaped like the models that faithlib reads.

Two are linear: an input's evidence is a sum over its features, and each feature's true share is its summand. Two detect
one planted thing each (`planted`): their answer depends on whether it is there, and stays the same whatever else is
erased, so that no erased copy is strange to them. Texts: `BagOfWords`, `word_detector`; images: `linear_patches`,
`stripe_detector`, which are timm Vision Transformers without blocks.

Shape letters: B inputs, L tokens, D embedding size, F features, V words of the vocabulary, C classes.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
import torch
from sklearn.linear_model import LogisticRegression
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from faithbook.models.load import Classifier
from faithbook.sources import planted
from faithbook.sources.datasets import Dataset
from faithlib.errors import InputError
from faithlib.inputs import ImageInputs, TextInputs

# Dimensions that say the same thing, so that soft metrics have elements to draw from.
COPIES = 16
SHARPNESS = 8.0  # logits of a planted thing that is there, above or below those of "neither"


class _Table(nn.Module):
    """Embeddings without positions."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Embedding.from_pretrained(table, freeze=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """[R, L] -> [R, L, D]."""
        return self.table(input_ids)


class _Encoder(nn.Module):
    """Embeddings and nothing else."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.embeddings: Any = _Table(table)

    def forward(self, inputs_embeds: Tensor) -> Tensor:
        """[R, L, D] -> [R, L, D]."""
        return self.embeddings(inputs_embeds)


class WordModel(nn.Module):
    """A Hugging Face-like classifier of word embeddings [V, D], from "sum" or "max" over tokens and an affine map."""

    base_model_prefix = "encoder"

    def __init__(self, table: Tensor, weight: Tensor, bias: Tensor, *, over: str, pad_id: int) -> None:
        super().__init__()
        self.encoder = _Encoder(table)
        self.head = nn.Linear(weight.shape[1], weight.shape[0])
        self.head.weight.data, self.head.bias.data = weight.clone(), bias.clone()
        self.over = over
        self.config = SimpleNamespace(pad_token_id=pad_id)
        self.eval()

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor | None = None) -> SimpleNamespace:
        """Logits [R, C] of embeddings [R, L, D]; the embeddings of words that are no evidence are 0, as is padding."""
        states = self.encoder(inputs_embeds)
        if attention_mask is not None:
            states = states * attention_mask[..., None]
        pooled = states.sum(dim=1) if self.over == "sum" else states.amax(dim=1)
        return SimpleNamespace(logits=self.head(pooled))


class BagOfWords:
    """Logistic regression on how often each wordpiece occurs, and the shares of its evidence.

    `classifier` is the model, of two classes; its logits are -z/2 and z/2 of z = bias + sum of w[token].
    """

    def __init__(self, data: Dataset, tokenizer: Any) -> None:
        if len(data.label_names) != 2:
            raise InputError(f"{data.name} has {len(data.label_names)} classes: expected 2")
        pieces = tokenizer(list(data.texts), add_special_tokens=False)["input_ids"]
        rows = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
        columns = np.concatenate([np.array(piece, dtype=int) for piece in pieces])
        counts = scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(pieces), len(tokenizer)))
        fitted = LogisticRegression(max_iter=1000).fit(counts, data.labels)
        self.weight = torch.tensor(fitted.coef_[0], dtype=torch.float32)
        table = self.weight[:, None].expand(-1, COPIES) / COPIES
        half = torch.full((1, COPIES), 0.5)
        bias = torch.tensor([-0.5, 0.5]) * float(fitted.intercept_[0])
        model = WordModel(table.contiguous(), torch.cat([-half, half]), bias, over="sum", pad_id=tokenizer.pad_token_id)
        self.classifier = Classifier(model, tokenizer, data.label_names, "closed form: bag of words")

    def truth(self, inputs: TextInputs, predicted: Tensor) -> Tensor:
        """The share of every feature in the evidence for the predicted class, [B, F]: its pieces' weights, signed."""
        shares = self.weight[inputs.input_ids] * torch.where(predicted == 1, 1.0, -1.0)[:, None]
        in_feature = inputs.feature_of >= 0
        scores = torch.zeros(inputs.feature_mask.shape)
        return scores.scatter_add(1, inputs.feature_of.clamp(min=0), torch.where(in_feature, shares, 0.0))


def word_detector(tokenizer: Any) -> Classifier:
    """The classifier of "planted" texts that knows the triggers: a class where one of its triggers is there, "neither"
    where none is."""
    table = torch.zeros(len(tokenizer), len(planted.TRIGGERS) * COPIES)
    for kind, words in enumerate(planted.TRIGGERS):
        for word in words:
            table[tokenizer.convert_tokens_to_ids(word), kind * COPIES : (kind + 1) * COPIES] = 1.0
    weight, bias = _detecting(len(planted.TRIGGERS), threshold=0.5)
    model = WordModel(table, weight, bias, over="max", pad_id=tokenizer.pad_token_id)
    return Classifier(model, tokenizer, planted.WORD_LABELS, "closed form: word detector")


def _detecting(kinds: int, *, threshold: float) -> tuple[Tensor, Tensor]:
    """Weight [1 + kinds, kinds * copies] and bias of: "neither" at 0, a kind above it where its dimensions are above
    the threshold, by `SHARPNESS` where they are 1."""
    slope = SHARPNESS / (1 - threshold)
    detectors = torch.eye(kinds).repeat_interleave(COPIES, dim=1) * (slope / COPIES)
    weight = torch.cat([torch.zeros(1, detectors.shape[1]), detectors])
    return weight, torch.tensor([0.0] + [-slope * threshold] * kinds)


def _templates() -> Tensor:
    """The two directions of stripes [2, 1, 4, 4] with mean 0, such that a planted cell answers 1 to its own (pixels in
    [0, 1], before they are normalised) and 0 to the other one."""
    stripes = torch.tensor(np.stack(planted.STRIPES), dtype=torch.float32)[:, None] / 255
    centred = stripes - stripes.mean(dim=(2, 3), keepdim=True)
    return centred / centred.square().sum(dim=(1, 2, 3), keepdim=True)


def patch_reader(kind: type[VisionTransformer], *, pool: str, classes: int) -> Any:
    """A Vision Transformer of that kind without blocks, whose patches answer to the two templates."""
    model: Any = kind(
        img_size=28,
        patch_size=planted.CELL,
        in_chans=1,
        num_classes=classes,
        embed_dim=2 * COPIES,
        depth=0,
        num_heads=1,
        class_token=False,
        pos_embed="none",
        global_pool=pool,
        norm_layer=nn.Identity,
        fc_norm=False,
    )
    model.pretrained_cfg = {"input_size": (1, 28, 28), "mean": (0.0,), "std": (1.0,), "crop_pct": 1.0}
    model.patch_embed.proj.weight.data = _templates().repeat_interleave(COPIES, dim=0)
    model.patch_embed.proj.bias.data.zero_()
    return model


def _patches_to_logits(weight: Tensor, bias: Tensor, *, pool: str, labels: tuple[str, ...], what: str) -> Classifier:
    """A Vision Transformer without blocks: each patch's answers to the templates, pooled over patches, and a head."""
    model: Any = patch_reader(VisionTransformer, pool=pool, classes=len(labels))
    model.head.weight.data, model.head.bias.data = weight.clone(), bias.clone()
    return Classifier(model.eval(), None, labels, f"closed form: {what}")


def linear_patches() -> Classifier:
    """Which direction of stripes has more evidence in the whole image: linear in every patch."""
    copies = torch.eye(2).repeat_interleave(COPIES, dim=1) / COPIES
    patches = (28 // planted.CELL) ** 2
    weight = patches * SHARPNESS / 2 * (copies - copies.flip(0))
    return _patches_to_logits(weight, torch.zeros(2), pool="avg", labels=planted.CELL_LABELS[1:], what="linear patches")


def patch_truth(inputs: ImageInputs, predicted: Tensor) -> Tensor:
    """The share of every 4 x 4 cell in the evidence of `linear_patches` for the predicted class, [B, F]."""
    answers = nn.functional.conv2d(inputs.pixels, _templates(), stride=planted.CELL).flatten(2)
    return (answers[:, 1] - answers[:, 0]) * torch.where(predicted == 1, 1.0, -1.0)[:, None]


def stripe_detector() -> Classifier:
    """The classifier of "planted" images that knows the stripes: a direction where a cell has it, "neither" where
    none has. What clothes show answers to the templates with .73 at most, planted stripes with 1."""
    weight, bias = _detecting(2, threshold=0.85)
    return _patches_to_logits(weight, bias, pool="max", labels=planted.CELL_LABELS, what="stripe detector")
