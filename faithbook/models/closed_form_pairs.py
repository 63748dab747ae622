"""Detectors of the harder planted tasks, in closed form: their answer hangs on a combination, and on nothing else.

Each has dimensions that say how much of a planted thing is there, between 0 and 1, and a formula over them: "meeting"
min(metal, fruit); "negation" a metal and no negation, or a fruit and one; "beside" the most of min(horizontal,
vertical) over cells that share a side. Gradients flow through all of it.

Shape letters: R rows, L tokens, D embedding size, P patches, C classes.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor

from faithbook.models import closed_form
from faithbook.models.load import Classifier
from faithbook.sources import planted_pairs
from faithbook.sources.planted_pairs import FRUIT, METAL, NEGATION
from faithlib.errors import unknown

_COPIES = closed_form.COPIES
_SHARPNESS = closed_form.SHARPNESS
_SHOWN = 0.85  # answers to the templates that clothes do not reach


class WordPairs(closed_form.WordModel):
    """A Hugging Face-like classifier of which kinds of planted words are there (each by its largest token)."""

    def __init__(self, table: Tensor, task: str, *, pad_id: int) -> None:
        classes = len(planted_pairs.WORD_TASKS[task].labels)
        # The head is not used; it keeps the model's parameters where those of other models are.
        super().__init__(table, torch.zeros(classes, table.shape[1]), torch.zeros(classes), over="max", pad_id=pad_id)
        self.task = task

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor | None = None) -> SimpleNamespace:
        """Logits [R, C] of embeddings [R, L, D]."""
        states = self.encoder(inputs_embeds)
        if attention_mask is not None:
            states = states * attention_mask[..., None]
        there = states.amax(dim=1).unflatten(1, (len(planted_pairs.WORDS), _COPIES)).mean(dim=2)
        return SimpleNamespace(logits=_LOGITS[self.task](there))


def _of_meeting(there: Tensor) -> Tensor:
    """Logits [R, 2] of how much of each kind is there [R, 3]."""
    both = torch.minimum(there[:, METAL], there[:, FRUIT])
    return _against_zero(both[:, None])


def _of_negation(there: Tensor) -> Tensor:
    """Logits [R, 3] of the same."""
    metal, fruit, turned = (there[:, kind] for kind in (METAL, FRUIT, NEGATION))
    alone = torch.stack([metal - fruit, fruit - metal], dim=1).clamp(min=0)
    plain = torch.minimum(alone, 1 - turned[:, None])
    other = torch.minimum(alone.flip(1), turned[:, None])
    return _against_zero(torch.maximum(plain, other))


_LOGITS = {"meeting": _of_meeting, "negation": _of_negation}


def _against_zero(evidence: Tensor) -> Tensor:
    """Logits [R, 1 + K] of evidence [R, K] between 0 and 1: class 0 at zero, the others above it from one half on."""
    logits = _SHARPNESS * (2 * evidence - 1)
    return torch.cat([torch.zeros_like(logits[:, :1]), logits], dim=1)


def pair_detector(task: str, tokenizer: Any) -> Classifier:
    """The classifier of "meeting" or "negation" that knows what is planted; UnknownNameError for another task."""
    if task not in planted_pairs.WORD_TASKS:
        raise unknown("task of planted words", task, planted_pairs.WORD_TASKS)
    table = torch.zeros(len(tokenizer), len(planted_pairs.WORDS) * _COPIES)
    for kind, words in enumerate(planted_pairs.WORDS):
        for word in words:
            table[tokenizer.convert_tokens_to_ids(word), kind * _COPIES : (kind + 1) * _COPIES] = 1.0
    model = WordPairs(table, task, pad_id=tokenizer.pad_token_id)
    labels = planted_pairs.WORD_TASKS[task].labels
    return Classifier(model.eval(), tokenizer, labels, f"closed form: {task} detector")


class CellPairs(VisionTransformer):
    """A Vision Transformer without blocks, whose head looks at neighbouring patches."""

    def forward_head(self, x: Tensor, pre_logits: bool = False) -> Tensor:
        """Logits [R, 2] of patches' answers to the templates [R, P, 2 copies]."""
        side = round(x.shape[1] ** 0.5)
        answers = x.unflatten(2, (2, _COPIES)).mean(dim=3).transpose(1, 2).unflatten(2, (side, side))
        shown = ((answers - _SHOWN) / (1 - _SHOWN)).clamp(0, 1)
        across, down = _pairs(shown), _pairs(shown.transpose(2, 3))
        beside = torch.cat([across, down], dim=1).amax(dim=1)
        return _against_zero(beside[:, None])


def _pairs(shown: Tensor) -> Tensor:
    """How much each two neighbours of a row [R, 2, side, side] are one of each direction, [R, pairs]."""
    left, right = shown[..., :-1], shown[..., 1:]
    both = torch.stack([torch.minimum(left[:, k], right[:, 1 - k]) for k in (0, 1)], dim=1)
    return both.flatten(1)


def beside_detector() -> Classifier:
    """The classifier of "beside" pictures that knows the stripes."""
    model = closed_form.patch_reader(CellPairs, pool="max", classes=2)
    return Classifier(model.eval(), None, planted_pairs.BESIDE_LABELS, "closed form: beside detector")
