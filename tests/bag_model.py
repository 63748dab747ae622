"""A linear classifier whose every attribution is known in closed form."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from torch import Tensor, nn
from toy_models import text_inputs

from faithlib.inputs import TextInputs


class Bag(nn.Module):
    """A classifier shaped like Hugging Face's whose logits are sums of w . e over the tokens."""

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
