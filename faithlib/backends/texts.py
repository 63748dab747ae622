"""Texts and the Hugging Face models that read them.

Perturbations and attributions act on the embedding *output*: what enters the first attention layer, with positions,
token types and LayerNorm applied once. Models are called as they are; no layer is rewritten.

Shape letters: R rows of one forward, L tokens, D embedding size, C classes.
"""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.backends.replica import replica, slot_at
from faithlib.errors import ModelError
from faithlib.inputs import TextInputs


class EmbeddedTwice(nn.Module):
    """A Hugging Face encoder classifier as a function that sends its embedding output through its embedding module once
    more: positions, token types and LayerNorm come twice.

    Not the model's own function, but the one that five methods of the released code of Zaman & Belinkov 2022 explain
    (PAPERS.md, E2: `hidden_states[0]` is handed over as `inputs_embeds`). Every attribution and `Perturber` takes it in
    the place of the model; the weights are shared, not copied.

    Raises ModelError where the embedding module takes no embeddings.
    """

    base_model_prefix = "base"

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = replica(model)
        self.base: Any = _base_of(self.model)
        self.config: Any = self.model.config
        self._arguments = set(inspect.signature(self.base.embeddings.forward).parameters)
        if "inputs_embeds" not in self._arguments:
            raise ModelError(f"the embeddings of {type(model).__name__} take no `inputs_embeds`: nothing can go twice")
        self._slot = slot_at(self.base, "embeddings")
        self.training = model.training

    def set_attn_implementation(self, name: str) -> None:
        """As the model's own."""
        self.model.set_attn_implementation(name)

    def forward(
        self, inputs_embeds: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Any:
        """What the model answers; `inputs_embeds` [R, L, D] is its embedding output."""
        given = {"input_ids": None, "inputs_embeds": inputs_embeds, "token_type_ids": token_type_ids}
        again = self._slot.own(**{name: value for name, value in given.items() if name in self._arguments})
        with self._slot.answering(again):
            return self.model(inputs_embeds=again, attention_mask=attention_mask)


class TextBackend:
    """A Hugging Face encoder classifier (BERT, RoBERTa, DistilBERT, XLM-R, ELECTRA …) and the texts it reads."""

    def __init__(self, model: nn.Module, inputs: TextInputs) -> None:
        self.model = replica(model)
        self.base = _base_of(self.model)
        # What goes twice is handed over as an argument; everything else by the answer of the module that embeds.
        self._slot = None if isinstance(model, EmbeddedTwice) else slot_at(self.base, "embeddings")
        self.device = next(model.parameters()).device
        self.inputs = inputs.to(self.device)
        self.lengths = self.inputs.lengths
        self._embedding_arguments = set(inspect.signature(self.embedding_module.forward).parameters)

    @property
    def embedding_module(self) -> Any:
        """The module whose output is perturbed."""
        return self.base.embeddings.own

    def embed(self, input_ids: Tensor, token_type_ids: Tensor | None) -> Tensor:
        """The embedding output [R, L, D] of any ids [R, L]."""
        given = {"input_ids": input_ids, "token_type_ids": token_type_ids, "position_ids": self._positions(input_ids)}
        return self.embedding_module(
            **{k: v for k, v in given.items() if k in self._embedding_arguments and v is not None}
        )

    def embeddings(self, rows: Tensor | None = None, *, length: int | None = None) -> Tensor:
        """The embedding output [R, L, D] of the inputs `rows` (default: all), cut to `length` positions."""
        rows = torch.arange(len(self.inputs), device=self.device) if rows is None else rows
        types = self.inputs.token_type_ids
        with torch.no_grad():
            return self.embed(self.inputs.input_ids[rows, :length], None if types is None else types[rows, :length])

    def logits(
        self,
        embeddings: Tensor,
        rows: Tensor | None = None,
        *,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Tensor:
        """Logits [R, C] from an embedding output [R, L, D]; gradients flow.

        `rows` says which inputs these are (default: all in order), and so where padding is and what type a token has.
        `attention_mask` overrides it: bool [R, L], or float [R, L] weights w >= 0 that multiply attention (log w is
        added to the scores before the softmax). `token_type_ids` [R, L] likewise, for a model that is `EmbeddedTwice`;
        all others have them in the embedding output.
        """
        length = embeddings.shape[1]
        rows = torch.arange(len(self.inputs), device=self.device) if rows is None else rows
        if attention_mask is None:
            attention_mask = self.inputs.attention_mask[rows, :length]
        types: dict[str, Tensor] = {}
        if isinstance(self.model, EmbeddedTwice) and self.inputs.token_type_ids is not None:
            own = self.inputs.token_type_ids
            types = {"token_type_ids": own[rows, :length] if token_type_ids is None else token_type_ids}
        with nullcontext() if self._slot is None else self._slot.answering(embeddings):
            return self.model(
                inputs_embeds=embeddings, attention_mask=_mask_argument(attention_mask, embeddings), **types
            ).logits

    def forward_ids(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None) -> Tensor:
        """Logits [R, C] of token ids [R, L], positions counted from the attention mask's left end."""
        embeddings = self.embed(input_ids, token_type_ids)
        return self.logits(embeddings, attention_mask=attention_mask, token_type_ids=token_type_ids)

    def _positions(self, input_ids: Tensor) -> Tensor | None:
        # RoBERTa-like embeddings number positions by looking for the pad id, so erasing with that id would renumber the
        # rest.
        padding = getattr(self.embedding_module, "padding_idx", None)
        if padding is None:
            return None
        return torch.arange(padding + 1, padding + 1 + input_ids.shape[1], device=self.device).expand_as(input_ids)


def _base_of(model: nn.Module) -> Any:
    """The encoder inside a classifier; ModelError where there is none with an embedding module."""
    base = getattr(model, getattr(model, "base_model_prefix", ""), None)
    if not isinstance(base, nn.Module) or not isinstance(getattr(base, "embeddings", None), nn.Module):
        raise ModelError(
            f"{type(model).__name__} is no Hugging Face encoder classifier with an `embeddings` module: "
            "expected for example BertForSequenceClassification"
        )
    return base


def _mask_argument(mask: Tensor, embeddings: Tensor) -> Tensor | None:
    """The mask as the model takes it. None where nothing is masked: attention kernels are faster without one."""
    if mask.dtype == torch.bool:
        # On a GPU the question itself would stop the queue; there the model decides.
        return None if mask.device.type == "cpu" and bool(mask.all()) else mask.long()
    return mask.to(embeddings.dtype).log()[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
