"""Pictures and what sees them: any timm classifier, any function from pixels to logits.

Pixels are erased whatever the model is. Tokens, and so soft erasure, attention and gradients of tokens, are those of a
timm VisionTransformer: what enters its first block.

Shape letters: R rows of one forward, L tokens, P patches, D embedding size, C classes (of pixels: channels), H and W
pixels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from faithlib.backends.answers import logits_of
from faithlib.backends.functions import ERASING
from faithlib.errors import FaithlibError, InputError, ModelError
from faithlib.inputs import ImageInputs

# Models whose tokens do not lead to their own answers, as a self-check has found, and why.
_WITHOUT_TOKENS: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()


class VisionBackend:
    """A classifier and the images it sees. Embeddings are the tokens that enter the first block of a timm
    VisionTransformer; another model has none that can be reached. `own`: the user's model, of which `model` is a
    replica.

    >>> images = ImageInputs.from_pixels(torch.ones(1, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(lambda pixels: pixels.mean(dim=(2, 3)), images)  # a channel for each class
    >>> backend.forward_pixels(images.pixels), backend.has_tokens
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
        self.shows_tokens = is_vit(model)
        size = tuple(inputs.pixels.shape[1:])
        self.grid = _grid(model, size) if self.shows_tokens else (0, 0)
        # What a chunk holds is counted in tokens; of another model in patches of 16 pixels.
        tokens = max(1, size[1] * size[2] // 256)
        if self.shows_tokens:
            tokens = self.embeddings(torch.zeros(1, dtype=torch.long, device=self.device)).shape[1]
        self.lengths = torch.full((len(inputs),), tokens, device=self.device)

    @property
    def has_tokens(self) -> bool:
        """Whether something can be done with this model's tokens."""
        return self.shows_tokens and not _without_tokens(self._own)

    def embed(self, pixels: Tensor) -> Tensor:
        """Tokens [R, L, D] that enter the first block, for pixels [R, C, H, W]; ModelError for a model without."""
        self._check_tokens()
        model: Any = self.model
        return model.norm_pre(model.patch_drop(model._pos_embed(model.patch_embed(pixels))))

    def embeddings(self, rows: Tensor | None = None, *, length: int | None = None) -> Tensor:
        """Tokens [R, L, D] of the images `rows` (default: all)."""
        pixels = self.inputs.pixels if rows is None else self.inputs.pixels[rows]
        with torch.no_grad():
            return self.embed(pixels.to(self.dtype))

    def logits(self, embeddings: Tensor, rows: Tensor | None = None, *, attention_mask: Tensor | None = None) -> Tensor:
        """Logits [R, C] from tokens [R, L, D]; gradients flow. A ViT has no padding: `attention_mask` must be None."""
        self._check_tokens()
        if attention_mask is not None:
            raise ModelError("a timm VisionTransformer takes no attention mask")
        model: Any = self.model
        return model.forward_head(model.norm(model.blocks(embeddings)))

    def forward_pixels(self, pixels: Tensor) -> Tensor:
        """Logits [R, C] of pixels [R, C, H, W], in the model's own precision; gradients flow."""
        try:
            answer = self.model(pixels.to(self.dtype))
        except (TypeError, ValueError, AssertionError) as error:
            if isinstance(error, FaithlibError):
                raise
            told = f"{_name(self.model)} does not take images {list(pixels.shape)}: {error}"
            raise ModelError(f"{told}; expected a classifier of pixels of this size") from error
        if not isinstance(self.model, nn.Module):
            answer = torch.as_tensor(getattr(answer, "logits", answer))
        return logits_of(answer, len(pixels), self.model).to(self.device)

    def forget_tokens(self, why: str) -> None:
        """Only pixels of this model are left, here and elsewhere; "" takes that back."""
        if isinstance(self._own, nn.Module):
            _WITHOUT_TOKENS[self._own] = why

    def _check_tokens(self) -> None:
        if why := _without_tokens(self._own):
            raise ModelError(f"the tokens of this {_name(self.model)} are left alone: {why}; what works: {ERASING}")
        if not self.has_tokens:
            raise ModelError(
                f"{_name(self.model)} is no timm VisionTransformer, whose tokens could be disturbed or attended to; "
                f"what works: {ERASING}; of a torch module also integrated_gradients"
            )

    @property
    def patch_size(self) -> tuple[int, int]:
        """Pixels of a patch, down and across."""
        model: Any = self.model
        high, wide = model.patch_embed.feat_ratio(as_scalar=False)
        return high, wide

    def patch_features(self) -> Tensor | None:
        """The feature that each of the model's patches shows [P], row by row; None where one shows several."""
        self._check_tokens()
        feature_of = self.inputs.feature_of
        (high, wide), (height, width) = self.patch_size, feature_of.shape
        corners = feature_of[::high, ::wide]
        spread = corners.repeat_interleave(high, 0).repeat_interleave(wide, 1)[:height, :width]
        whole = tuple(corners.shape) == self.grid and torch.equal(spread, feature_of)
        return corners.flatten() if whole else None


def _without_tokens(model: Any) -> str:
    return _WITHOUT_TOKENS.get(model, "") if isinstance(model, nn.Module) else ""


def _name(model: Any) -> str:
    return type(model).__name__ if isinstance(model, nn.Module) else "a function of pixels"


def is_vit(model: Any) -> bool:
    """Whether this is a timm VisionTransformer; without importing timm, which such a model has done.

    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> is_vit(VisionTransformer(**sizes)), is_vit(nn.Identity())
    (True, False)
    """
    loaded = sys.modules.get("timm.models.vision_transformer")
    return loaded is not None and isinstance(model, loaded.VisionTransformer)


def _grid(model: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    """Patches that the model sees down and across images of `shape` [C, H, W]; InputError where it takes none such."""
    embed, size = model.patch_embed, shape[1:]
    fixed = getattr(embed, "strict_img_size", True)
    padded = getattr(embed, "dynamic_img_pad", False)
    whole = padded or not any(side % patch for side, patch in zip(size, embed.feat_ratio(as_scalar=False), strict=True))
    if shape[0] != model.in_chans or not (size == tuple(embed.img_size) if fixed else whole):
        patch = "x".join(map(str, embed.feat_ratio(as_scalar=False)))
        expected = "x".join(map(str, embed.img_size)) if fixed else f"whole patches of {patch} pixels"
        raise InputError(
            f"images have {shape[0]} channels and {size[0]}x{size[1]} pixels: this {type(model).__name__} expects "
            f"{model.in_chans} channels and {expected}; resize the images before they are normalised"
        )
    down, across = embed.grid_size if fixed else embed.dynamic_feat_size(size)
    return down, across
