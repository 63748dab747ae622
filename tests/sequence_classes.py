"""Every `*ForSequenceClassification` of transformers that tiny settings can make, with drawn weights; texts for it."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import torch
import transformers
from torch import nn

from faithlib.inputs import TextInputs

MOST_WEIGHTS = 3_000_000
# What configurations call their sizes; each class takes those that it knows.
SIZES: dict[str, Any] = {
    "vocab_size": 60, "num_labels": 3, "pad_token_id": 0, "bos_token_id": 5, "eos_token_id": 6, "cls_token_id": 2,
    "sep_token_id": 3, "decoder_start_token_id": 0, "hidden_size": 16, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 32,
    "max_position_embeddings": 64, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
    "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "n_ctx": 64, "dim": 16, "n_layers": 2, "n_heads": 2,
    "hidden_dim": 32, "emb_dim": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "d_inner": 32,
    "ffn_dim": 32, "word_embed_proj_dim": 16, "embedding_size": 16, "moe_intermediate_size": 32, "num_experts": 4,
    "num_local_experts": 4, "num_experts_per_tok": 2, "n_routed_experts": 4, "n_shared_experts": 1, "n_group": 1,
    "topk_group": 1, "first_k_dense_replace": 1, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 4, "v_head_dim": 8, "qk_head_dim": 8, "rotary_dim": 4, "attention_window": 4,
    "sliding_window": 4, "layers_block_type": None, "mamba_d_state": 4, "mamba_d_conv": 4, "mamba_expand": 2,
    "mamba_dt_rank": 4, "state_size": 4, "time_step_rank": 4, "lstm_hidden_size": 16, "block_sizes": [1, 1],
    "moe_num_experts": 4, "moe_k": 2, "expert_layer_period": 2, "bottleneck_size": 16,
    "intra_bottleneck_size": 16, "true_hidden_size": 16, "num_conv_layers": 2, "conv_kernel_size": 3,
    "hidden_dropout_prob": 0.0, "num_hash_functions": 2, "inner_dim": 32, "expert_intermediate_size": 16,
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "GPTNeoForSequenceClassification": {"attention_types": [[["global", "local"], 1]], "window_size": 4},
    "Gemma2ForSequenceClassification": {"query_pre_attn_scalar": 8},
    "DebertaForSequenceClassification": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "DebertaV2ForSequenceClassification": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "ModernBertForSequenceClassification": {"local_attention": 4},
    "BigBirdForSequenceClassification": {"block_size": 4, "num_random_blocks": 1},
    "BigBirdPegasusForSequenceClassification": {"block_size": 4, "num_random_blocks": 1},
    "PerceiverForSequenceClassification": {"d_latents": 16, "num_latents": 4, "num_blocks": 1,
                                           "num_self_attention_heads": 2, "num_cross_attention_heads": 2,
                                           "num_self_attends_per_block": 1},
    "ReformerForSequenceClassification": {"attn_layers": ["local", "local"], "axial_pos_embds": False,
                                          "attention_head_size": 8, "feed_forward_size": 32,
                                          "local_attn_chunk_length": 4},
    "XLMForSequenceClassification": {},
    "SqueezeBertForSequenceClassification": {"q_groups": 1, "k_groups": 1, "v_groups": 1,
                                             "post_attention_groups": 1, "intermediate_groups": 1,
                                             "output_groups": 1},
    "MobileBertForSequenceClassification": {"intra_bottleneck_size": 16},
    "JambaForSequenceClassification": {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    "FunnelForSequenceClassification": {"block_sizes": [1, 1], "num_decoder_layers": 1, "d_head": 8},
    "CanineForSequenceClassification": {"num_hash_buckets": 50, "local_transformer_stride": 4},
}  # fmt: skip


def class_names() -> list[str]:
    """All of them, in order."""
    ending = "ForSequenceClassification"
    return sorted(n for n in dir(transformers) if n.endswith(ending) and n != f"AutoModel{ending}")


def made(name: str, **more: Any) -> nn.Module:
    """A tiny model of a class with drawn weights; ValueError where these settings lead to a large one."""
    kind = getattr(transformers, name)
    settings = {key: value for key, value in {**SIZES, **OWN.get(name, {}), **more}.items() if value is not None}
    with warnings.catch_warnings(action="ignore"):
        taken = _taken(kind.config_class)
        own = {**OWN.get(name, {}), **more}
        config = kind.config_class(**{k: v for k, v in settings.items() if k in taken or k in own})
        for key in ("num_labels", "pad_token_id", "eos_token_id"):
            setattr(config, key, SIZES[key])
        with torch.device("meta"):
            size = sum(p.numel() for p in kind(config).parameters())
        if size > MOST_WEIGHTS:
            raise ValueError(f"{name}: {size} weights")
        torch.manual_seed(0)
        model = kind(config).eval()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if "norm" not in key.lower() and "ln_" not in key and parameter.is_floating_point():
                parameter.normal_(0, 0.4)
    return model


def _taken(config: Any) -> set[str]:
    """The names of settings that a configuration knows."""
    return {*inspect.signature(config.__init__).parameters, *vars(config()), *getattr(config, "attribute_map", {})}


def texts(lengths: tuple[int, ...] = (9, 6, 4), *, end: int = 6) -> TextInputs:
    """Random ids, the first and the last of each row protected, and the last an end of sequence."""
    drawn = torch.Generator().manual_seed(0)
    ids = torch.randint(7, 60, (len(lengths), max(lengths)), generator=drawn)
    sizes, place = torch.tensor(lengths)[:, None], torch.arange(max(lengths))[None]
    mask = place < sizes
    ids = torch.where(place == sizes - 1, end, ids)
    feature_of = torch.where((place > 0) & (place < sizes - 1), place - 1, -1)
    never = torch.zeros(len(lengths), dtype=torch.bool)
    return TextInputs(torch.where(mask, ids, 0), mask, feature_of, sizes[:, 0] - 2, never, pad_id=0, mask_id=4)


def alone(model: Any, inputs: TextInputs, b: int, keep: Any = None) -> torch.Tensor:
    """Logits [C] of row b by the model's own call on it alone."""
    ids = inputs.input_ids[b : b + 1, : int(inputs.lengths[b])]
    if keep is not None:
        ids = ids[:, keep]
    taken = inspect.signature(model.forward).parameters
    options = {"attention_mask": torch.ones_like(ids)} if "attention_mask" in taken else {}
    with torch.no_grad():
        answer = model(input_ids=ids, **options)
    return answer.logits[0]
