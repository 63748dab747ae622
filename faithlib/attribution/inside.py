"""A method that looks into a model: what it cannot pass, and what goes wrong there, is an error that names both.

Shape letters: R rows of one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from faithlib.backends.functions import ERASING_METHODS
from faithlib.backends.wrappers import is_quantised
from faithlib.errors import FaithlibError, ModelError, OutOfMemoryError
from faithlib.memory import is_out_of_memory
from faithlib.notes import note

# What these raise about a model; an error of another make is the caller's own, of a hook for example.
_OF_LIBRARIES = ("builtins", "torch", "captum", "timm", "transformers")
_SHARE_OF_ZEROS = 0.01


@contextmanager
def looking_inside(name: str, model: nn.Module, *, gradients: bool) -> Iterator[None]:
    """Inside, a method runs on a model; with `gradients`, cuDNN leaves recurrent layers alone: its own go backward in
    training mode only.

    Raises ModelError where gradients end at weights of few bits, and for whatever torch, captum, timm or transformers
    raise inside; OutOfMemoryError where memory runs out.

    >>> with looking_inside("saliency", nn.Identity(), gradients=True):
    ...     torch.zeros(1).backward()
    Traceback (most recent call last):
    faithlib.errors.ModelError: saliency does not work on this Identity: RuntimeError: element 0 of tensors does not ...
    """
    if gradients and is_quantised(model):
        raise ModelError(
            f"{name} takes gradients, which quantised weights (int8, 4-bit) do not pass on: methods that work: "
            f"{ERASING_METHODS}, and those that only read attention or embeddings"
        )
    with ExitStack() as stack:
        if gradients and any(isinstance(part, nn.RNNBase) for part in model.modules()):
            stack.enter_context(torch.backends.cudnn.flags(enabled=False))
        try:
            yield
        except Exception as error:
            if is_out_of_memory(error) and not isinstance(error, FaithlibError):
                told = f"{name} ran out of memory: give a smaller max_tokens, the positions of one forward"
                raise OutOfMemoryError(told) from error
            if isinstance(error, FaithlibError) or type(error).__module__.split(".")[0] not in _OF_LIBRARIES:
                raise
            told = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            raise ModelError(
                f"{name} does not work on this {type(model).__name__}: {told}. Methods that work: {ERASING_METHODS}"
            ) from error


def note_underflow(name: str, answer: Tensor, where: Tensor | slice, model: nn.Module) -> None:
    """A note where numbers made of gradients in float16, at the places `where` (bool, as many axes as it has), are 0
    more often than numbers are: they are below the smallest that it holds.

    >>> from faithlib.notes import gathered
    >>> with gathered() as notes:
    ...     note_underflow("saliency", torch.tensor([[0.0, 1.0]]), torch.tensor([[True, True]]), nn.Linear(1, 1).half())
    >>> notes["saliency"][:37]
    '50 % of its numbers are 0 in float16,'
    """
    first = next(model.parameters(), None)
    if first is None or first.dtype != torch.float16:
        return
    share = float((answer[where] == 0).float().mean())
    if share > _SHARE_OF_ZEROS:
        told = f"{round(100 * share)} % of its numbers are 0 in float16, whose smallest is 6e-8: gradients underflow; "
        note(name, told + "take float32 or bfloat16")
