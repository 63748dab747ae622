"""A bidirectional LSTM classifier over the frozen word embeddings of a pretrained encoder.

It answers to the same calls as a Hugging Face encoder classifier (`embeddings` module, `inputs_embeds`,
`attention_mask`, `.logits`), so that every perturbation, metric and gradient attribution takes it. It has no attention
to look at.

Shape letters: R rows, L tokens, D embedding size, H hidden size, C classes, V words.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers.modeling_outputs import SequenceClassifierOutput

from faithlib.backends import ModelFamily
from faithlib.errors import ModelError


class _Words(nn.Module):
    """Frozen word embeddings, scaled to unit variance (an LSTM learns slowly from inputs as small as a BERT's)."""

    def __init__(self, words: Tensor) -> None:
        super().__init__()
        self.register_buffer("words", words / words.std(), persistent=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        return nn.functional.embedding(input_ids, self.get_buffer("words"))


class _Encoder(nn.Module):
    def __init__(self, words: Tensor, hidden: int) -> None:
        super().__init__()
        self.embeddings = _Words(words)
        self.lstm = nn.LSTM(words.shape[1], hidden, batch_first=True, bidirectional=True)


class LstmClassifier(nn.Module):
    """Word embeddings [V, D] -> bidirectional LSTM of H units -> maximum over tokens -> linear layer of C classes.

    Sequences are packed, so that padding changes nothing.
    """

    base_model_prefix = "encoder"
    # Embeddings come as an argument; weights of attention are refused here, in words of its own.
    family = ModelFamily("", "word embeddings, scaled to unit variance", weighs=True)

    def __init__(self, words: Tensor, *, hidden: int, classes: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder = _Encoder(words, hidden)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(2 * hidden, classes)

    def forward(
        self,
        input_ids: Tensor | None = None,
        *,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        **_: Any,
    ) -> SequenceClassifierOutput:
        embedded = self.encoder.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        if attention_mask is None:
            attention_mask = torch.ones(embedded.shape[:2], dtype=torch.long, device=embedded.device)
        if attention_mask.is_floating_point() or attention_mask.ndim != 2:
            raise ModelError("an LSTM has no attention: a continuous attention mask cannot be applied to it")
        lengths = attention_mask.sum(dim=1)
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _lengths = pad_packed_sequence(self.encoder.lstm(packed)[0], batch_first=True)
        padding = torch.arange(states.shape[1], device=states.device) >= lengths[:, None]
        pooled = states.masked_fill(padding[..., None], -torch.inf).amax(dim=1)
        return SequenceClassifierOutput(logits=self.classifier(self.dropout(pooled)))
