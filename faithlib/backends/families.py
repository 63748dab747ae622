"""How each family of text models is asked about embeddings of our own making: data, not classes.

What "zero", soft erasure, gradients and baselines act on is the output of one part of the model, the last that belongs
to one token alone. `acts_on(model)` says which that is:

=======================================================  ===============================================================
family (`config.model_type`)                             acts on
=======================================================  ===============================================================
bert, roberta, xlm-roberta, distilbert, mpnet, big_bird  embedding output: words, positions, types, after LayerNorm
electra, albert                                          the same, before its projection to the hidden size
longformer                                               the same; what the model pads to its window is masked
deberta-v2 (also v3)                                     embedding output after LayerNorm, before relative positions
esm                                                      embedding output: tokens, and positions if not rotary
xlm, flaubert                                            token embeddings, before positions and LayerNorm
modernbert, modernbert-decoder                           token embeddings after LayerNorm, before rotary positions
xlnet                                                    token embeddings, before relative positions and segments
gpt2, gpt_neo, gpt_bigcode                               token embeddings with positions added
llama, mistral, qwen2, qwen3, gemma, gptj, gpt_neox      token embeddings, before rotary positions
opt                                                      token embeddings, before positions are added
bloom                                                    token embeddings after LayerNorm, before ALiBi
falcon                                                   token embeddings, before rotary positions or ALiBi
mamba, mamba2, falcon_mamba, rwkv                        token embeddings; there are no positions and no attention
t5                                                       token embeddings of encoder and decoder alike, before relative
                                                         positions
=======================================================  ===============================================================

Other models go the way of BERT where their base has an `embeddings` module, that of Llama where it has `embed_tokens`.
Padding never shows: BERT's kind masks it, heads that read the last token find it before the padding, XLNet gets it on
the left, T5's decoder ends at its end-of-sequence token.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from faithlib.backends.prompts import Prompt
from faithlib.errors import ModelError
from faithlib.inputs import TextInputs

__all__ = ["ModelFamily", "base_of", "family_of"]


# How a message says that any model can be asked as a function of texts.
AS_FUNCTION = "evaluate(lambda texts: model(**tokenizer(texts, padding=True, return_tensors='pt')).softmax(-1), texts)"


@dataclass(frozen=True)
class ModelFamily:
    """A way to ask a model.

    - `point`: the part of the base model whose output is perturbed; "" where the model takes it as an argument.
    - `acts_on`: what that is, in words.
    - `tokens`, `positions`: the parts that embed ids and, added to it, places; where `point` does not make both.
    - `also`: a part that embeds the same tokens one place further right, a decoder's.
    - `reads`: "first" or "last", the token that the prediction is read from; "" where no token's attention row leads
      from it to the input.
    - `by_ids`: the model looks for padding or an end in `input_ids`, so it gets some.
    - `on_left`: its padding stands on the left. `with_types`: token types go to the model, not into the embeddings.
    - `weighs`: attention to a token can be given a weight.
    - `shares`: attention looks back only, so that rows that begin alike can share keys and values (`prefix`).
    - `window`: the name in its configuration of what lengths are padded to.
    - `prepare`: what is settled on a replica first; it raises ModelError where the model cannot be asked so.

    >>> ModelFamily("embeddings", "token embeddings, before positions").reads
    'first'
    """

    point: str
    acts_on: str
    tokens: str = ""
    positions: str = ""
    also: str = ""
    reads: str = "first"
    by_ids: bool = False
    on_left: bool = False
    with_types: bool = False
    weighs: bool = False
    shares: bool = False
    window: str = ""
    prepare: Callable[[Any, TextInputs], None] | None = None


def text_config(model: Any) -> Any:
    """The configuration of the part that reads text.

    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)

    >>> text_config(DistilBertForSequenceClassification(config)).vocab_size
    9
    """
    config = model.config
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _end_before_padding(model: Any, inputs: TextInputs) -> None:
    """The pad token is the tokenizer's; no row may end with it, for the model would read it as padding."""
    config = text_config(model)
    pad = inputs.pad_id if config.pad_token_id is None else config.pad_token_id
    last = inputs.input_ids.gather(1, inputs.lengths[:, None] - 1)[:, 0]
    if bool((last == pad).any()):
        raise ModelError(
            f"row {int((last == pad).nonzero()[0])} ends with token {pad}, which this {type(model).__name__} takes for "
            "padding: expected a pad token that no text has; give the tokenizer one of its own, or no end token"
        )
    config.pad_token_id, config.use_cache = inputs.pad_id, False


def _end_of_sequence(model: Any, inputs: TextInputs) -> None:
    last = inputs.input_ids.gather(1, inputs.lengths[:, None] - 1)[:, 0]
    if bool((last != model.config.eos_token_id).any()):
        row = int((last != model.config.eos_token_id).nonzero()[0])
        raise ModelError(
            f"row {row} does not end with token {model.config.eos_token_id}, the end of a sequence that this "
            f"{type(model).__name__} reads its prediction from: expected the model's own tokenizer"
        )
    model.config.use_cache = False


def _full_attention(model: Any, inputs: TextInputs) -> None:
    config = model.config
    if config.attention_type != "block_sparse":
        return
    most = (5 + 2 * config.num_random_blocks) * config.block_size
    if int(inputs.lengths.max()) > most:
        raise ModelError(
            f"texts of more than {most} tokens get this {type(model).__name__}'s block-sparse attention, whose blocks "
            "depend on the padding: shorten them (max_length), or set config.attention_type = 'original_full'"
        )
    # As the model does by itself with such lengths.
    base_of(model).set_attention_type("original_full")


def _summary_of_last(model: Any, inputs: TextInputs) -> None:
    if model.config.summary_type != "last":
        raise ModelError(
            f"this {type(model).__name__} has config.summary_type {model.config.summary_type!r}, which padding would "
            "change: expected 'last'"
        )


_ENCODER = ModelFamily(
    "embeddings", "the embedding output: words, positions and token types, after LayerNorm", weighs=True
)
_NARROW = replace(_ENCODER, acts_on=f"{_ENCODER.acts_on}, before its projection to the hidden size")
_DECODER = ModelFamily(
    "embed_tokens", "token embeddings, before rotary positions",
    reads="last", by_ids=True, shares=True, prepare=_end_before_padding,
)  # fmt: skip
_ADDED = replace(_DECODER, point="drop", acts_on="token embeddings with positions added", tokens="wte", positions="wpe")
_RECURRENT = replace(_DECODER, point="embeddings", acts_on="token embeddings", reads="", shares=False)
_FAMILIES: dict[str, ModelFamily] = {
    "albert": _NARROW,
    "electra": _NARROW,
    "big_bird": replace(_ENCODER, prepare=_full_attention),
    "longformer": replace(_ENCODER, by_ids=True, window="attention_window", weighs=False),
    "deberta-v2": ModelFamily("embeddings", "the embedding output after LayerNorm, before relative positions"),
    "esm": replace(
        _ENCODER, acts_on="the embedding output: tokens, and positions where they are not rotary",
        by_ids=True, weighs=False,
    ),
    **dict.fromkeys(
        ("xlm", "flaubert"),
        ModelFamily("embeddings", "token embeddings, before positions and LayerNorm", by_ids=True),
    ),
    "modernbert": ModelFamily("embeddings", "token embeddings after LayerNorm, before rotary positions"),
    "modernbert-decoder": replace(
        _DECODER, point="embeddings", acts_on="token embeddings after LayerNorm, before rotary positions"
    ),
    "xlnet": ModelFamily(
        "", "token embeddings, before relative positions and segments",
        tokens="word_embedding", reads="", on_left=True, with_types=True, prepare=_summary_of_last,
    ),
    **dict.fromkeys(("gpt2", "gpt_neo", "gpt_bigcode"), _ADDED),
    **dict.fromkeys(("mamba", "mamba2", "falcon_mamba", "rwkv"), _RECURRENT),
    "gptj": replace(_DECODER, point="wte"),
    "gpt_neox": replace(_DECODER, point="embed_in"),
    "opt": replace(_DECODER, point="decoder.embed_tokens", acts_on="token embeddings, before positions are added"),
    "bloom": replace(
        _DECODER, point="word_embeddings_layernorm", acts_on="token embeddings after LayerNorm, before ALiBi",
        tokens="word_embeddings",
    ),
    "falcon": replace(
        _DECODER, point="word_embeddings", acts_on="token embeddings, before rotary positions or ALiBi"
    ),
    "t5": ModelFamily(
        "encoder.embed_tokens", "token embeddings of encoder and decoder alike, before relative positions",
        also="decoder.embed_tokens", reads="", by_ids=True, prepare=_end_of_sequence,
    ),
}  # fmt: skip


def base_of(model: Any) -> Any:
    """The part of a classifier below its head; ModelError where there is none whose embeddings can be reached.

    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)

    >>> type(base_of(DistilBertForSequenceClassification(config))).__name__
    'DistilBertModel'
    """
    base = getattr(model, getattr(model, "base_model_prefix", ""), None)
    if isinstance(base, nn.Module) and _family(model, base) is not None:
        return base
    own = isinstance(model, nn.Module) and not type(model).__module__.startswith("transformers.")
    within = bases_within(model) if own and not isinstance(model, Prompt) else []
    if len(within) == 1:
        return within[0]
    if len(within) > 1:
        raise ModelError(
            f"this {type(model).__name__} holds {len(within)} encoders, {', '.join(type(b).__name__ for b in within)}, "
            "each with embeddings of its own: expected one; any model can be asked as a function of texts, "
            f"{AS_FUNCTION}"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise ModelError(
            "this model is TorchScript, traced or scripted, whose embeddings cannot be reached: load the model itself, "
            "or ask it as a function from texts to probabilities, lambda texts: model(**tokenizer(texts, padding=True, "
            "return_tensors='pt')).softmax(dim=-1)"
        )
    asked = model.model if isinstance(model, Prompt) else model
    raise ModelError(
        f"{type(asked).__name__} is no Hugging Face text classifier whose embeddings can be reached: expected for "
        f"example BertForSequenceClassification, a module of your own around one encoder, or one of "
        f"{', '.join(sorted(_FAMILIES))}; any other model can be asked as a function from texts to probabilities, "
        f"{AS_FUNCTION}"
    )


def bases_within(module: Any) -> list[nn.Module]:
    """The models of transformers inside a module of somebody's own, each below its head; none in a function.

    >>> bases_within(nn.Sequential(nn.Linear(1, 1)))
    []
    """
    found: list[nn.Module] = []
    for part in module.children() if isinstance(module, nn.Module) else ():
        if not hasattr(part, "config") or not hasattr(part, "base_model_prefix"):
            found += bases_within(part)
            continue
        base: Any = getattr(part, str(part.base_model_prefix), part)
        if _family(part, base) is not None:
            found.append(base)
    return found


def family_of(model: Any) -> ModelFamily:
    """How a model is asked: as it says itself (`family`), by its configuration, or by the parts it has.

    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)

    >>> family_of(DistilBertForSequenceClassification(config)).acts_on
    'the embedding output: words, positions and token types, after LayerNorm'
    """
    family = _family(model, base_of(model))
    assert family is not None
    pools = getattr(getattr(model, "config", None), "classifier_pooling", "cls") == "mean"
    return replace(family, reads="") if pools else family


def _family(model: Any, base: nn.Module) -> ModelFamily | None:
    declared = getattr(model, "family", None)
    if isinstance(declared, ModelFamily):
        return declared
    kind = getattr(getattr(base, "config", None), "model_type", "")
    known = ((name, family) for name, family in (("embeddings", _ENCODER), ("embed_tokens", _DECODER)))
    by_part = next((family for name, family in known if isinstance(getattr(base, name, None), nn.Module)), None)
    match = _FAMILIES.get(kind, by_part)
    # A prompt is asked by ids alone.
    return None if isinstance(model, Prompt) and match is not None and not match.by_ids else match
