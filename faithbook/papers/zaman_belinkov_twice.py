"""The function that the released code of Zaman & Belinkov (2022) explains instead of the model's own.

Shape letters: R rows, L tokens, D embedding size.
"""

from __future__ import annotations

import inspect
from typing import Any

from torch import Tensor, nn

from faithlib.backends import Family, replica
from faithlib.backends.families import base_of
from faithlib.backends.replica import slot_at
from faithlib.errors import ModelError


class EmbeddedTwice(nn.Module):
    """A Hugging Face encoder classifier as a function that sends its embedding output through its embedding module once
    more: positions, token types and LayerNorm come twice.

    Not the model's own function, but the one that five methods of the released code of Zaman & Belinkov 2022 explain
    (PAPERS.md, E2: `hidden_states[0]` is handed over as `inputs_embeds`). Every attribution and `Perturber` takes it
    instead of the model; the weights are shared, not copied.

    Raises ModelError where the embedding module takes no embeddings.
    """

    base_model_prefix = "base"
    family = Family(
        "", "the embedding output, which then goes through the embedding module again", weighs=True, with_types=True
    )

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = replica(model)
        self.base: Any = base_of(self.model)
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
