"""The worst small shift of an embedding output: projected gradient descent, for adversarial training and for attacks.

Shape letters: R rows, L tokens, D embedding size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from faithlib.errors import InputError


def worst_shift(loss: Callable[[Tensor], Tensor], present: Tensor, size: int, *, radius: float, steps: int) -> Tensor:
    """A shift [R, L, D] of every token by at most `radius` (L2) that makes `loss(shift)` [R] large (Madry et al. 2018,
    in embedding space).

    `present` [R, L] is True at tokens, `size` is D. Each step goes 1.5 radius / steps along the gradient, normalised a
    token, and back into the ball; the first starts at no shift. Nothing is random. Raises InputError for a negative
    radius or no step.
    """
    if radius < 0 or steps < 1:
        raise InputError(f"radius {radius}, steps {steps}: expected radius >= 0 and steps >= 1")
    shift = torch.zeros(*present.shape, size, device=present.device)
    for _ in range(steps):
        shift.requires_grad_()
        (slope,) = torch.autograd.grad(loss(shift).sum(), shift)
        with torch.no_grad():
            stride = slope / slope.norm(dim=-1, keepdim=True).clamp(min=1e-12)
            moved = shift + 1.5 * radius / steps * stride * present[..., None]
            shift = moved * (radius / moved.norm(dim=-1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
    return shift.detach()


class EmbeddingShift:
    """A shift of what a model's embedding module answers, for the length of a block; none outside of it.

    moved = EmbeddingShift(model)
    with moved.by(shift):
        loss = model(**inputs)
    """

    def __init__(self, model: nn.Module) -> None:
        self._shift: Tensor | None = None
        named = model.named_modules()
        embeddings = next(module for path, module in named if path.split(".")[-1] == "embeddings")
        embeddings.register_forward_hook(self._moved)

    def _moved(self, module: nn.Module, inputs: object, output: Tensor) -> Tensor:
        return output if self._shift is None else output + self._shift

    @contextmanager
    def by(self, shift: Tensor | None) -> Iterator[None]:
        """Embeddings are moved by this, [R, L, D]; None: by nothing."""
        self._shift = shift
        try:
            yield
        finally:
            self._shift = None
