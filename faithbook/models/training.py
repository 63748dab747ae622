"""What the training of a text classifier consists of: the network to train, batches of texts of similar length, a
forward over some of them, losses and predictions.

Shape letters: B texts, R rows of a batch, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import peft
import torch
import transformers
from torch import Tensor
from torch.nn.functional import cross_entropy

from faithbook.models.lora import adapted_layers, new_layers
from faithbook.sources.datasets import Dataset

MEASURED = 64
"""Rows of a batch where nothing is learnt."""


# --------------------------------------------------------------------------------------------------------- the network
def pretrained(weights: str, *, classes: int, revision: str | None, **options: Any) -> Any:
    """An encoder with a new classification head, in float32; `options`: as `from_pretrained` takes them."""
    return transformers.AutoModelForSequenceClassification.from_pretrained(
        weights, num_labels=classes, use_safetensors=True, dtype=torch.float32, revision=revision, **options
    )


def adapted(weights: str, *, rank: int, classes: int, revision: str | None) -> Any:
    """A LoRA adapter of this rank on every linear layer of the encoder; what its file lacks is learnt whole."""
    # Eight ranks on a frozen encoder leave little to regularise, and dropout costs a third of the time on a processor.
    still: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    network, found = pretrained(weights, classes=classes, revision=revision, output_loading_info=True, **still)
    new = new_layers(network, found["missing_keys"])
    lora = peft.LoraConfig(
        task_type="SEQ_CLS",
        r=rank,
        lora_alpha=2 * rank,
        lora_dropout=0.0,
        target_modules=adapted_layers(network, new),
        modules_to_save=new,
    )
    return peft.get_peft_model(network, lora)


# ------------------------------------------------------------------------------------------------------------- batches
class Encoded(NamedTuple):
    """Texts as token ids, and as token types where the tokenizer has them."""

    ids: Sequence[list[int]]
    types: Sequence[list[int]] | None

    @property
    def lengths(self) -> list[int]:
        """Tokens of each text."""
        return [len(ids) for ids in self.ids]


def encode(tokenizer: Any, data: Dataset) -> Encoded:
    """The texts of a data set with their query or second part, cut at its `max_length`; a query is never cut."""
    parts: tuple[Sequence[str], ...] = (data.texts,)
    if data.queries:
        parts = (data.queries, data.texts)
    elif data.pairs:
        parts = (data.texts, data.pairs)
    cut = "only_second" if data.queries else True
    batch = tokenizer(*map(list, parts), truncation=cut, max_length=data.max_length)
    return Encoded(batch["input_ids"], batch.get("token_type_ids"))


def batches(
    lengths: Sequence[int], size: int, *, generator: np.random.Generator | None = None, window: int = 1
) -> list[list[int]]:
    """Places of the texts in batches of `size`, of similar length.

    With a `generator` shuffled first, then sorted by length within windows of so many batches: little padding, still
    random; without one the shortest first.

    >>> batches([5, 1, 4, 2], 2)
    [[1, 3], [2, 0]]
    """
    order = np.arange(len(lengths)) if generator is None else generator.permutation(len(lengths))
    span = len(lengths) if generator is None else window * size
    cut: list[list[int]] = []
    for start in range(0, len(order), span):
        part = sorted(order[start : start + span].tolist(), key=lambda place: lengths[place])
        cut += [part[first : first + size] for first in range(0, len(part), size)]
    if generator is not None:
        generator.shuffle(cut)
    return cut


# ------------------------------------------------------------------------------------------------------------- forward
@dataclass(frozen=True)
class Forward:
    """A network's logits of some texts, padded to the longest of them.

    `precision`: of the passes, "float32" or "bfloat16".
    """

    pad_id: int
    device: str
    precision: str = "float32"

    def __call__(self, network: Any, encoded: Encoded, rows: Sequence[int]) -> Tensor:
        """Logits [R, C] of these texts, in float32."""
        longest = max(len(encoded.ids[row]) for row in rows)

        def padded(values: Callable[[int], list[int]], fill: int) -> Tensor:
            table = [values(row) + [fill] * (longest - len(encoded.ids[row])) for row in rows]
            return torch.tensor(table, device=self.device)

        inputs = {"input_ids": padded(lambda row: encoded.ids[row], self.pad_id)}
        inputs["attention_mask"] = padded(lambda row: [1] * len(encoded.ids[row]), 0)
        types = encoded.types
        if types is not None:
            inputs["token_type_ids"] = padded(lambda row: types[row], 0)
        dtype = getattr(torch, self.precision)
        with torch.autocast(self.device, dtype=dtype, enabled=dtype != torch.float32):
            logits: Tensor = network(**inputs).logits.float()
        return logits

    def losses(self, network: Any, encoded: Encoded, labels: Tensor, rows: Sequence[int]) -> Tensor:
        """The cross entropy of each of these texts, [R]; `labels` [B] of all."""
        return cross_entropy(self(network, encoded, rows), labels[rows], reduction="none")

    def mean_loss(self, network: Any, encoded: Encoded, labels: Tensor) -> float:
        """The mean cross entropy over all texts, in evaluation mode; the network learns on afterwards."""
        network.eval()
        with torch.inference_mode():
            parts = [
                cross_entropy(self(network, encoded, rows), labels[rows], reduction="sum")
                for rows in batches(encoded.lengths, MEASURED)
            ]
        network.train()
        return float(sum(parts) / len(labels))

    @torch.inference_mode()
    def predicted(self, network: Any, encoded: Encoded) -> Any:
        """The predicted class of every text, [B]."""
        classes = np.zeros(len(encoded.ids), dtype=int)
        for rows in batches(encoded.lengths, MEASURED):
            classes[rows] = self(network, encoded, rows).argmax(1).cpu()
        return classes
