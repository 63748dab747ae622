"""BERT with heads of somebody's own, as people write them: tiny, with drawn weights."""

from __future__ import annotations

from typing import Any

import torch
import transformers as hf
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput


class Headed(hf.BertPreTrainedModel):
    """BERT with a head of somebody's own."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert = hf.BertModel(config)
        self.out = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def states(self, input_ids: Any, attention_mask: Any) -> Tensor:
        return self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


class MeanPooled(Headed):
    def forward(
        self, input_ids: Any = None, attention_mask: Any = None, token_type_ids: Any = None, inputs_embeds: Any = None
    ) -> Any:
        states = self.bert(input_ids, attention_mask, token_type_ids, inputs_embeds=inputs_embeds).last_hidden_state
        weights = attention_mask.unsqueeze(-1).float()
        return SequenceClassifierOutput(logits=self.out((states * weights).sum(1) / weights.sum(1)))


class ByIds(Headed):
    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        states = self.states(input_ids, attention_mask)
        weights = ((input_ids != 0) & (input_ids % 2 == 0)).unsqueeze(-1).float()
        return (self.out((states * weights).sum(1)),)


class PooledAndLogits(Headed):
    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        pooled = self.states(input_ids, attention_mask)[:, 0]
        return pooled, self.out(pooled)


class WithTopic(Headed):
    def forward(self, input_ids: Tensor, topic: Tensor, attention_mask: Any = None) -> Any:
        return (self.out(self.states(input_ids, attention_mask)[:, 0] + topic),)


class Around(nn.Module):
    """A plain module around an encoder, with a head that pools."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.out = nn.Linear(encoder.config.hidden_size, 3)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states = self.encoder(input_ids, attention_mask=attention_mask)[0]
        weights = attention_mask.unsqueeze(-1).to(states.dtype)
        answer: Tensor = self.out((states * weights).sum(1) / weights.sum(1))
        return answer


class MaskedWithin(Around):
    """It is given ids alone, and sees by itself where padding is."""

    def forward(self, input_ids: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(input_ids, (input_ids != 0).long())


class Centred(Around):
    """Its answers depend on what else is in a batch."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        answer = super().forward(input_ids, attention_mask)
        return answer - answer.mean(dim=0)


class Keeping(Headed):
    """It keeps what it computes, as a person looks at it afterwards."""

    kept: Any = None

    def forward(self, input_ids: Any, attention_mask: Any = None) -> Any:
        answer = self.bert(input_ids, attention_mask, output_hidden_states=True)
        self.kept = {"states": [*answer.hidden_states], "answer": answer}
        return SequenceClassifierOutput(logits=self.out(answer.last_hidden_state[:, 0]))


def headed(kind: type[Headed], **more: Any) -> Any:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(0)
    model = kind(hf.BertConfig(vocab_size=60, max_position_embeddings=64, num_labels=3, **sizes, **more)).eval()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.4)
    return model


class Offset(Headed):
    """It counts positions from 3."""

    def forward(self, input_ids: Tensor, attention_mask: Any = None, position_ids: Any = None) -> Any:
        if position_ids is None:
            position_ids = 3 + torch.arange(input_ids.shape[1])[None]
        answer = self.bert(input_ids, attention_mask, position_ids=position_ids)
        return (self.out(answer.last_hidden_state[:, 0]),)


def around(kind: type[Around], encoder: Any = None) -> Any:
    """A plain module around BERT, or another encoder."""
    torch.manual_seed(1)
    return kind(headed(MeanPooled).bert if encoder is None else encoder).eval()
