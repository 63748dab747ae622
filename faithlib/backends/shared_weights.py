"""A model's function in modules of its own: what is set, hooked or replaced there, the model itself never sees.

Perturbing what a model reads, or looking inside it, needs handles: a module that replaces the embeddings,
hooks, written-out attention, evaluation mode, frozen weights. All of them are put on a `replica`, made once for a
backend or an attribution: a deep copy of the structure (modules, configuration) in which every weight and buffer shares
its memory with the model's. Threads may then ask one model at once, each through a replica or all through one: what a
`Slot` answers is known to the thread that asks alone.
"""

import copy
import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, nn

from faithlib.errors import ModelError

__all__ = ["Slot", "replica", "slot_at"]


class BypassError(ModelError):
    """A forward pass that never asks a module in which an answer was laid."""


_REPLICAS: WeakSet[nn.Module] = WeakSet()


def replica(model: nn.Module) -> Any:
    """The same function in evaluation mode, with frozen weights and modules of its own.

    Weights and buffers share the memory of the model's, so that a training step, or weights loaded into the model, show
    here too; gradients reach its inputs only. Hooks that the model has are called here as well. A replica is its own.

    Parameters
    ----------
    model : nn.Module
        Any module.

    Returns
    -------
    nn.Module
        Another module over the same weights; `model` itself where it is a replica already.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> quiet = replica(model)
    >>> quiet.weight.data_ptr() == model.weight.data_ptr(), quiet.weight.requires_grad, quiet.training, model.training
    (True, False, False, True)
    """
    if model in _REPLICAS:
        return model
    if isinstance(model, torch.jit.ScriptModule):  # which cannot be copied, nor changed
        _REPLICAS.add(model)
        return model
    shared: dict[int, Any] = {}
    with torch.inference_mode(False):
        for parameter in model.parameters():
            wants = parameter.requires_grad
            shared[id(parameter)] = nn.Parameter(parameter.detach(), requires_grad=False) if wants else parameter
        modules: list[Any] = [*model.modules()]
        for module in modules:
            # An 8-bit layer of bitsandbytes takes over what its weight holds in its first forward; of two that share
            # the weight, the second would find nothing. Its copy gets what it has taken.
            if getattr(getattr(module, "weight", None), "CB", None) is not None:
                module.init_8bit_state()
            kept = [tensor for name, value in vars(module).items() for tensor in _tensors_in(value, name)]
            tables = [table for name, table in vars(module).items() if name.endswith("hooks")]
            # PyTorch keeps hooks in dicts; transformers keeps the handles of its own in a list.
            hooks = [hook for table in tables for hook in (table.values() if isinstance(table, dict) else table or ())]
            shared |= {id(value): value for value in (*module.buffers(recurse=False), *kept, *hooks)}
        made = copy.deepcopy(model, shared).eval()
    for module in made.modules():
        # A compiled forward of the module's own would run the model itself and not this copy.
        wrapped = getattr(vars(module).get("forward"), "_torchdynamo_orig_callable", None)
        if getattr(wrapped, "__func__", None) is type(module).forward:
            del module.forward
    _REPLICAS.add(made)
    return made


_OF_TORCH = ("_parameters", "_buffers", "_modules")
_DEEPEST = 6


def _tensors_in(value: Any, name: str = "", depth: int = 0) -> Iterator[Tensor]:
    """The tensors that a module keeps in an attribute, however they are held: activations, a whole answer. They are of
    a graph, which cannot be copied, and nothing here changes them."""
    if isinstance(value, Tensor):
        yield value
    if name in _OF_TORCH or name.endswith("hooks") or depth > _DEEPEST or isinstance(value, nn.Module):
        return
    held: Any = ()
    if isinstance(value, Mapping):
        held = value.values()
    elif isinstance(value, list | tuple | set | deque):
        held = value
    for item in held:
        yield from _tensors_in(item, depth=depth + 1)
    if isinstance(value, Mapping) or dataclasses.is_dataclass(value):  # an answer of transformers is both
        for item in list(getattr(value, "__dict__", {}).values()):
            yield from _tensors_in(item, depth=depth + 1)


CONTEXT: ContextVar[Mapping[object, Any]] = ContextVar("what is handed to parts of replicas", default={})  # noqa: B039
"""Of each thread its own. Replaced, never changed."""
ON_NO_ACCOUNT = "rows that count for no method"


@contextmanager
def in_context(part: object, what: Any) -> Iterator[None]:
    """Inside, a part of a replica finds what it is handed by the thread that asks.

    >>> with in_context("slot", 1):
    ...     CONTEXT.get()
    {'slot': 1}
    """
    before = CONTEXT.set({**CONTEXT.get(), part: what})
    try:
        yield
    finally:
        CONTEXT.reset(before)


class Slot(nn.Module):
    """Replaces the module `original` and does what it does, but answers with a given tensor inside `answering`.

    >>> slot = Slot(nn.Identity())
    >>> with slot.answering(torch.tensor(2.0)):
    ...     slot(torch.tensor(1.0))
    tensor(2.)
    >>> slot(torch.tensor(1.0))
    tensor(1.)
    """

    def __init__(self, original: nn.Module) -> None:
        super().__init__()
        self.original = original
        self.training = original.training

    def forward(self, *arguments: Any, **named: Any) -> Any:
        """The tensor given by the thread that asks, or what the module itself answers."""
        answer = CONTEXT.get().get(self)
        if answer is None:
            return self.original(*arguments, **named)
        answer[1] = True
        return answer[0]

    @contextmanager
    def answering(self, tensor: Tensor) -> Iterator[None]:
        """Inside, this thread gets `tensor`; ModelError where a forward never came by, whose answer would be that to
        another input."""
        answer = [tensor, False]  # whether it has been asked for
        with in_context(self, answer):
            yield
        if not answer[1]:
            raise BypassError(
                f"the forward pass went around the model's own {type(self.original).__name__}: expected a model whose "
                "modules are called where they are registered, without a forward patched in from elsewhere"
            )


def slot_at(parent: nn.Module, name: str) -> Slot:
    """The slot that replaces the module which a part of a replica calls `name` (dots lead further down); put there
    where there is none.

    >>> made = replica(nn.Sequential(nn.Identity()))
    >>> slot_at(made, "0") is slot_at(made, "0") is made[0]
    True
    """
    path, _, last = name.rpartition(".")
    holder = parent.get_submodule(path)
    original = holder.get_submodule(last)
    slot = original if isinstance(original, Slot) else Slot(original)
    setattr(holder, last, slot)
    return slot
