"""Tiny random models of every family, saved as on the hub and loaded from there, and one row of each asked alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from torch import Tensor, nn

from faithlib import _scheduler as scheduler
from faithlib.backends.families import family_of
from faithlib.inputs import TextInputs

Folder = Callable[..., Path]  # where a family's model lies

WORDS = "a warm fine film not bad at all , . it is un ##fun ##ny who good review : one two".split()
TEXTS = ["a warm , fine film", "not bad at all . it is fine", "unfunny", "who is it , a film"]
PAIRS = [("a warm film", "it is fine"), ("not bad", "all bad at all"), ("unfunny", "who is it")]

_SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
_ENCODER = {**_SIZE, "max_position_embeddings": 64}
_DECODER = {**_ENCODER, "num_key_value_heads": 2, "head_dim": 8}

# model_type: (what is written before and after a text, settings)
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("cls sep", _ENCODER),
    "roberta": ("cls sep", _ENCODER),
    "xlm-roberta": ("cls sep", _ENCODER),
    "distilbert": (
        "cls sep", {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 64},
    ),
    "electra": ("cls sep", {**_ENCODER, "embedding_size": 8}),
    "albert": ("cls sep", {**_ENCODER, "embedding_size": 8}),
    "deberta-v2": (
        "cls sep",
        {**_ENCODER, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False,
         "type_vocab_size": 0, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True},
    ),
    "mpnet": ("cls sep", _ENCODER),
    "modernbert": ("cls sep", {**_ENCODER, "global_attn_every_n_layers": 2, "local_attention": 4}),
    "longformer": ("cls sep", {**_ENCODER, "attention_window": 4}),
    "big_bird": ("cls sep", {**_ENCODER, "block_size": 4, "num_random_blocks": 1}),
    "xlnet": ("sep cls", {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32}),
    "gpt2": ("", {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}),
    "llama": ("bos", _DECODER),
    "mistral": ("bos", {**_DECODER, "sliding_window": 4}),
    "qwen2": ("", _DECODER),
    "qwen3": ("", _DECODER),
    "gemma": ("bos", _DECODER),
    "gemma3_text": ("bos", {**_DECODER, "sliding_window": 4, "layer_types": ["sliding_attention", "full_attention"]}),
    "gpt_neox": ("", _ENCODER),
    "opt": ("bos", {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 32,
                    "word_embed_proj_dim": 8, "max_position_embeddings": 64}),
    "bloom": ("", {"hidden_size": 16, "n_layer": 2, "n_head": 2}),
    "t5": ("eos", {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}),
}  # fmt: skip
# Those that are tried as causal models asked by prompt alone.
BY_PROMPT: dict[str, tuple[str, dict[str, Any]]] = {
    "gemma2": ("bos", {**_DECODER, "sliding_window": 4, "query_pre_attn_scalar": 8}),
    "gpt_oss": ("bos", {**_DECODER, "sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1,
                        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}),
    "phi3": ("bos", {**_DECODER, "sliding_window": 4}),
    "cohere2": ("bos", {**_DECODER, "sliding_window": 4}),
    "modernbert-decoder": ("bos", {**_ENCODER, "local_attention": 4}),
    "gpt_neo": ("", {**_SIZE, "num_layers": 2, "num_heads": 2, "max_position_embeddings": 64, "window_size": 4,
                     "attention_types": [[["global", "local"], 1]]}),
    "gpt_bigcode": ("", {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}),
    "gptj": ("", {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "rotary_dim": 4}),
    "falcon": ("", {**_SIZE, "alibi": True}),
}  # fmt: skip
# They hand a state from token to token.
STATEFUL: dict[str, tuple[str, dict[str, Any]]] = {
    "lfm2": ("bos", {**_DECODER, "layer_types": ["conv", "full_attention"]}),
    "mamba": ("", {"hidden_size": 16, "num_hidden_layers": 2, "state_size": 4, "time_step_rank": 4}),
    "mamba2": ("", {"hidden_size": 16, "num_hidden_layers": 2, "state_size": 4, "num_heads": 4, "head_dim": 8,
                    "n_groups": 1}),
    "falcon_mamba": ("", {"hidden_size": 16, "num_hidden_layers": 2, "state_size": 4, "time_step_rank": 4}),
    "rwkv": ("", {"hidden_size": 16, "num_hidden_layers": 2, "attention_hidden_size": 16, "context_length": 64}),
}  # fmt: skip
DECODERS = ("gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma3_text", "gpt_neox", "opt", "bloom")
# What one row is disturbed at, by hand, in the user's own model: the module, and how its output lies.
POINTS = dict.fromkeys(FAMILIES, "embeddings") | dict.fromkeys(DECODERS, "embed_tokens")
POINTS |= {"gpt2": "drop", "xlnet": "word_embedding", "gpt_neox": "embed_in", "opt": "decoder.embed_tokens"}
POINTS |= {"bloom": "word_embeddings_layernorm"}


def tokenizer(ends: str, *, side: str = "right") -> Any:
    """A WordPiece tokenizer; `ends` names the special tokens of a text, as that family's tokenizer writes them."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[BOS]", "[EOS]"]
    vocabulary = {word: i for i, word in enumerate([*special, *WORDS])}
    backend = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = tokenizers.normalizers.Lowercase()
    backend.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    single, pair = {
        "cls sep": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        "sep cls": ("$A [SEP] [CLS]:2", "$A [SEP] $B:1 [SEP]:1 [CLS]:2"),
        "bos": ("[BOS] $A", "[BOS] $A $B:1"),
        "eos": ("$A [EOS]", "$A $B:1 [EOS]"),
        "": ("$A", "$A $B:1"),
    }[ends]
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(name, vocabulary[name]) for name in special]
    )
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if ends == "sep cls" else [])]
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", bos_token="[BOS]", eos_token="[EOS]", model_max_length=48, padding_side=side,
        model_input_names=names,
    )  # fmt: skip


def models_in(place: Path) -> Folder:
    """The folder of a family's model below `place`; each is written once."""

    @cache
    def of(family: str, causal: bool = False, side: str = "right") -> Path:
        return saved(family, place / f"{family}-{causal}-{side}", causal=causal, side=side)

    return of


def share_to_the_last(patch: Any) -> None:
    """Every token that can be shared is from now on, however few rows it is for; `patch`: pytest's monkeypatch."""
    patch.setattr("faithlib.backends._prefix._STEP", 1)
    patch.setattr("faithlib.backends._prefix._LEAST_ROWS", 1)
    patch.setitem(scheduler._LAUNCH, "cpu", 0.0)


def saved(family: str, folder: Path, *, causal: bool = False, side: str = "right") -> Path:
    """A random classifier of a family with its tokenizer, written as on the hub."""
    ends, settings = (FAMILIES | BY_PROMPT | STATEFUL)[family]
    reader = tokenizer(ends, side=side)
    special = {"pad_token_id": 0, "bos_token_id": 5, "eos_token_id": 6, "cls_token_id": 2, "sep_token_id": 3}
    config = transformers.AutoConfig.for_model(family, vocab_size=len(reader), num_labels=3, **special, **settings)
    kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSequenceClassification
    random_model(kind, config).save_pretrained(folder)
    reader.save_pretrained(folder)
    return folder


def random_model(kind: Any, config: Any) -> nn.Module:
    """With weights large enough that erasing a token shows."""
    torch.manual_seed(0)
    model = kind.from_config(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name.lower() and "ln_" not in name:
                parameter.normal_(0, 0.4)
    return model


def opened(folder: Path, *, causal: bool = False) -> tuple[nn.Module, Any]:
    """Model and tokenizer as a person loads them; the tokenizer without `Auto`, which for some families puts its own
    way to cut words in the place of what the file says."""
    kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSequenceClassification
    return kind.from_pretrained(folder).eval(), transformers.PreTrainedTokenizerFast.from_pretrained(folder)


@contextmanager
def hooked(modules: list[nn.Module], change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """The user's own model with the output of some modules changed."""
    handles = [module.register_forward_hook(lambda m, given, output: change(output)) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def erased_ids(inputs: TextInputs, b: int, keep: Tensor, erase: str) -> tuple[Tensor, Tensor]:
    """Token ids of one erased text, and which of the whole text's tokens stay."""
    owners, ids = (one[b, : int(inputs.lengths[b])] for one in (inputs.feature_of, inputs.input_ids))
    stays = torch.tensor([f < 0 or bool(keep[f]) for f in owners.tolist()])
    if erase == "delete":
        return ids[stays], stays
    other = {"pad": inputs.pad_id, "mask": inputs.mask_id}.get(erase)
    return (ids if other is None else torch.where(stays, ids, other)), stays


def one_row(
    family: str, model: Any, inputs: TextInputs, b: int, keep: Tensor, erase: str, factor: Tensor | None = None
) -> Tensor:
    """Logits [C] of one erased text, alone and unpadded, from the model's own forward on token ids: the oracle.

    `factor` [L, D] multiplies the embeddings (for soft perturbations), in the place of zeros.
    """
    length = int(inputs.lengths[b])
    ids, stays = erased_ids(inputs, b, keep, erase)
    base = getattr(model, model.base_model_prefix)
    given: dict[str, Any] = {}
    if erase in ("pad", "mask") and hasattr(getattr(base, "embeddings", None), "padding_idx"):
        first = base.embeddings.padding_idx + 1
        given["position_ids"] = torch.arange(first, first + length)[None]
    if inputs.token_type_ids is not None:
        types = inputs.token_type_ids[b, :length]
        given["token_type_ids"] = (types[stays] if erase == "delete" else types)[None]
    scale = stays[:, None].float() if factor is None else factor
    if erase != "zero":
        scale = torch.ones(1, 1)

    def change(output: Tensor) -> Tensor:
        if family == "xlnet":
            return output * scale[:, None]
        # A window may have been padded: what is there beyond the text is masked.
        padded = torch.ones(output.shape[-2], scale.shape[1], dtype=scale.dtype)
        padded[: len(scale)] = scale
        return output * padded

    points = [base.get_submodule(POINTS[family])] if family != "t5" else [base.encoder.embed_tokens]
    # Alone there is no padding; what is erased by the pad token is read all the same.
    given["attention_mask"] = torch.ones_like(ids)[None]
    pad, model.config.pad_token_id = model.config.pad_token_id, -1 if family in DECODERS else model.config.pad_token_id
    try:
        with torch.no_grad(), hooked(points, change):
            if family == "t5":
                shifted = torch.cat([torch.ones(1, scale.shape[1]), scale.expand(len(ids), -1)[:-1]])
                with hooked([base.decoder.embed_tokens], lambda output: output * shifted):
                    return model(input_ids=ids[None], **given).logits[0]
            return model(input_ids=ids[None], **given).logits[0]
    finally:
        model.config.pad_token_id = pad


def masks(inputs: TextInputs, steps: int = 5) -> Tensor:
    """Subsets of which some begin as the text does, and of each text the whole and nothing."""
    keep = torch.rand((len(inputs), steps, inputs.feature_mask.shape[1]), generator=torch.Generator().manual_seed(0))
    keep = keep < 0.5
    keep[:, 0], keep[:, 1] = True, False
    for step in range(2, steps):
        keep[:, step, : step - 1] = True
    return keep


def next_logits(lm: Any, inputs: TextInputs, b: int, keep: Tensor, erase: str, after: Sequence[int] = ()) -> Tensor:
    """Logits [V] of the token that follows one erased prompt and what comes `after` it: alone, unpadded, without a
    cache, on the user's own model. The oracle."""
    ids, stays = erased_ids(inputs, b, keep, erase)
    row = torch.cat([ids, torch.tensor(after, dtype=torch.long)])[None]
    scale = torch.ones(row.shape[1], 1)
    if erase == "zero":
        scale[: len(stays)] = stays[:, None]
    with torch.no_grad(), hooked([lm.base.get_submodule(family_of(lm).point)], lambda output: output * scale):
        return lm.model(input_ids=row, attention_mask=torch.ones_like(row), use_cache=False).logits[0, -1]
