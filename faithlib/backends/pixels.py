"""Images and what sees them: any classifier of pixels, any function from pixels to logits.

Pixels are erased whatever the model is. Tokens, and so soft erasure, attention and gradients of tokens, are those of a
vision transformer (`tokens`): what enters its first block.

Shape letters: R rows of one forward, L tokens, P patches, D embedding size, C classes (of pixels: channels), H and W
pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from faithlib.backends.answers import logits_of
from faithlib.backends.functions import ERASING
from faithlib.backends.tokens import TimmTokens, Tokens, tokens_of
from faithlib.errors import FaithlibError, ModelError
from faithlib.inputs import ImageInputs

# Models whose tokens do not lead to their own answers, as a self-check has found, and why.
_WITHOUT_TOKENS: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()


class VisionBackend:
    """A classifier and the images it sees. Embeddings are the `tokens` that enter the first block of a vision
    transformer; another model has none that can be reached. `own`: the user's model, of which `model` is a replica.

    >>> images = ImageInputs.from_pixels(torch.ones(1, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(lambda pixels: pixels.mean(dim=(2, 3)), images)  # a channel for each class
    >>> backend.asked(images.pixels), backend.has_tokens
    (tensor([[1., 1.]]), False)
    """

    def __init__(self, model: nn.Module | Callable[[Tensor], Any], inputs: ImageInputs, own: Any = None) -> None:
        if not callable(model):
            raise ModelError(f"{type(model).__name__} cannot be called: expected a classifier of pixels [R, C, H, W]")
        self.model: Any = model
        self._own: Any = model if own is None else own
        first = next(model.parameters(), None) if isinstance(model, nn.Module) else None
        self.device = inputs.pixels.device if first is None else first.device
        self.dtype = inputs.pixels.dtype if first is None else first.dtype
        self.inputs = inputs.to(self.device)
        images = self.inputs.pixels[:1].to(self.dtype)
        self.tokens: Tokens | None = tokens_of(model, images)
        # What a chunk holds is counted in tokens; of another model in patches of 16 pixels.
        count = max(1, images.shape[2] * images.shape[3] // 256)
        if self.tokens is not None:
            down, across = self.tokens.grid
            count = self.tokens.prefix + down * across
        self.lengths = torch.full((len(inputs),), count, device=self.device)

    @property
    def has_tokens(self) -> bool:
        """Whether something can be done with this model's tokens."""
        return self.tokens is not None and not _without_tokens(self._own)

    @property
    def reached(self) -> Tokens:
        """The tokens; ModelError for a model without."""
        if why := _without_tokens(self._own):
            raise ModelError(f"the tokens of this {_name(self.model)} are left alone: {why}; what works: {ERASING}")
        if self.tokens is None:
            raise ModelError(
                f"{_name(self.model)} is no timm VisionTransformer, or one of Hugging Face, whose tokens can "
                f"be disturbed or attended to; what works: {ERASING}; of a torch module also integrated_gradients, "
                "of a convolutional network grad_cam"
            )
        return self.tokens

    def embeddings(self, rows: Tensor | None = None, *, length: int | None = None) -> Tensor:
        """Tokens [R, L, D] of the images `rows` (default: all)."""
        pixels = self.inputs.pixels if rows is None else self.inputs.pixels[rows]
        with torch.no_grad():
            return self.reached.embed(pixels.to(self.dtype))

    def logits(self, embeddings: Tensor, rows: Tensor | None = None, *, shared: int = 0) -> Tensor:
        """Logits [R, C] from tokens [R, L, D]; gradients flow. Nothing is shared."""
        return self.reached.logits(embeddings)

    def traced(self, pixels: Tensor) -> Tensor:
        """Logits [R, C] of pixels for what looks at each operation: timm's blocks one by one, without checkpoints."""
        pixels = pixels.to(self.dtype)
        if self.has_tokens and isinstance(self.tokens, TimmTokens):
            return self.logits(self.tokens.embed(pixels))
        return logits_of(self.model(pixels), len(pixels), self.model)

    def asked(self, pixels: Tensor, model: Any = None) -> Tensor:
        """Logits [R, C] of pixels [R, C, H, W] by the model's call, or another's, in its own precision; gradients flow.
        ModelError where it does not take such images."""
        model = self.model if model is None else model
        try:
            answer = model(pixels.to(self.dtype))
        except (TypeError, ValueError, AssertionError) as error:
            if isinstance(error, FaithlibError):
                raise
            told = f"{_name(model)} does not take images {list(pixels.shape)}: {error}"
            raise ModelError(f"{told}; expected a classifier of pixels of this size") from error
        if not isinstance(model, nn.Module):
            answer = torch.as_tensor(getattr(answer, "logits", answer))
        return logits_of(answer, len(pixels), model).to(self.device)

    def forget_tokens(self, why: str) -> None:
        """Only pixels of this model are left, here and elsewhere; "" takes that back."""
        if isinstance(self._own, nn.Module):
            _WITHOUT_TOKENS[self._own] = why

    def patch_features(self) -> Tensor | None:
        """The feature that each of the model's patches shows [P], row by row; None where one shows several, or images
        are cut differently."""
        (high, wide), grid = self.reached.patch_size, self.reached.grid
        feature_of = self.inputs.feature_of
        if feature_of.ndim == 3:
            return None
        height, width = feature_of.shape
        corners = feature_of[::high, ::wide]
        spread = corners.repeat_interleave(high, 0).repeat_interleave(wide, 1)[:height, :width]
        whole = tuple(corners.shape) == grid and torch.equal(spread, feature_of)
        return corners.flatten() if whole else None


def _without_tokens(model: Any) -> str:
    return _WITHOUT_TOKENS.get(model, "") if isinstance(model, nn.Module) else ""


def _name(model: Any) -> str:
    return type(model).__name__ if isinstance(model, nn.Module) else "a function of pixels"
