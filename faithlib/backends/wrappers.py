"""What people put around a model, taken off where the model inside is the same function, refused by name where not."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from faithlib.errors import ModelError

_QUANTISED = (
    "torch.ao.nn.quantized", "torch.nn.quantized", "torchao", "bitsandbytes", "optimum.quanto", "gptqmodel", "awq",
)  # fmt: skip


def unwrapped(model: Any) -> Any:
    """The model inside `torch.compile`, DataParallel and its like, or PEFT adapters that are parts of it (LoRA, IA3).

    Raises ModelError for what is no part of the model inside (virtual tokens of prompt and prefix tuning), and for
    weights that are not there (offloaded, sharded).

    >>> inside = nn.Linear(2, 1)
    >>> unwrapped(nn.DataParallel(inside)) is unwrapped(torch.compile(inside)) is unwrapped(inside) is inside
    True
    """
    if not isinstance(model, nn.Module):
        return model
    if type(model).__name__ == "FullyShardedDataParallel" or any(p.is_meta for p in model.parameters()):
        raise ModelError(
            f"the weights of this {type(model).__name__} are not all on one device: expected a model that is there as "
            "a whole, loaded without offloading (device_map={'': device}) or sharding"
        )
    for part in model.modules():
        adapter = getattr(part, "active_peft_config", None) if hasattr(part, "peft_config") else None
        if adapter is not None and getattr(adapter, "is_prompt_learning", False):
            raise ModelError(
                f"this {type(part).__name__} reads {adapter.num_virtual_tokens} virtual tokens "
                f"({type(adapter).__name__}) that are no part of the model inside, whose embeddings would be disturbed "
                "without them: expected an adapter in the model's own weights (LoRA, IA3); any model can be asked as a "
                "function from texts to probabilities (faithlib.inputs.WordInputs)"
            )
    return inside(model)


def inside(model: Any) -> Any:
    """What is within all wrappers, refused or not; a function as it is.

    >>> inside(nn.DataParallel(nn.Identity()))
    Identity()
    """
    while isinstance(model, nn.Module) and (held := _held(model)) is not None:
        model = held
    return model


def _held(model: Any) -> Any:
    """What the outermost wrapper holds; None where there is none."""
    if isinstance(model, nn.DataParallel | nn.parallel.DistributedDataParallel):
        return model.module
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        return model.get_base_model()
    return model._modules.get("_orig_mod")


def is_quantised(model: nn.Module) -> bool:
    """Whether weights are kept in fewer bits than numbers that gradients go through: int8, 4-bit.

    >>> is_quantised(nn.Linear(2, 1))
    False
    """
    parts: list[Any] = [*model.modules(), *model.parameters()]
    if any(type(part).__module__.startswith(_QUANTISED) for part in parts):
        return True
    return any(not (p.is_floating_point() or p.is_complex() or p.dtype == torch.bool) for p in model.parameters())


def scales_by_batch(model: nn.Module) -> bool:
    """Whether activations are rounded to int8 by the range of all that shares a forward, so that an input's numbers
    depend on its neighbours: torch's dynamic quantisation.

    >>> scales_by_batch(nn.Linear(2, 1))
    False
    """
    return any(type(part).__module__.startswith("torch.ao.nn.quantized.dynamic") for part in model.modules())


def in_training(model: Any) -> list[str]:
    """The names of the parts of a model in evaluation mode that are in training mode; a function has none.

    >>> model = nn.Sequential(nn.Linear(2, 1), nn.Dropout()).eval()
    >>> _ = model[1].train()
    >>> in_training(model)
    ['1']
    """
    parts = model.named_modules() if isinstance(model, nn.Module) else ()
    return [name for name, part in parts if part.training and not any(part.children())]
