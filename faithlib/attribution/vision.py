"""A vision transformer seen from inside: what one forward through a few images leaves for the attribution methods, and
the way from a map of patches to pixels.

Attention maps are taken where the softmax leaves them, in the graph of the forward, so that gradients and relevances of
them can be asked for. Hooks live for one forward.

Shape letters: R images of one chunk, L tokens, P patches (tokens without class and register tokens), D embedding size,
N heads, C classes, H and W pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from faithlib.attribution.relevance import plain_attention
from faithlib.attribution.target import read, settled_classes
from faithlib.backends import VisionBackend
from faithlib.errors import ModelError, require

UPSAMPLINGS = ("bilinear", "nearest")

# What can be said about a model whose prediction is not read from a class token.
WITHOUT_CLASS_TOKEN = (
    "integrated_gradients", "lrp", "conservative_lrp", "attcat", "lime", "occlusion", "shapley_sampling", "random",
    "uniform",
)  # fmt: skip


@dataclass(frozen=True)
class Inside:
    """What a forward left: per block its attention map [R, N, L, L] and the tokens that entered it [R, L, D], and the
    explained number `value` [R]; all in one graph.

    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> inside = ImageChunk(VisionBackend(model, images), torch.tensor([0]), "logit", 1024).inside()
    >>> inside.attention[0].shape, inside.attention[0].sum(dim=-1).round(decimals=4)  # the class token and four patches
    (torch.Size([1, 1, 5, 5]), tensor([[[1., 1., 1., 1., 1.]]], grad_fn=...))
    """

    attention: list[Tensor]
    tokens: list[Tensor]
    value: Tensor


@dataclass
class ImageChunk:
    """Images `rows` [R] of a backend, with what is explained about them.

    >>> from faithlib.inputs import ImageInputs
    >>> images = ImageInputs.from_pixels(torch.ones(1, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(lambda pixels: pixels.mean(dim=(2, 3)), images)  # a channel for each class
    >>> ImageChunk(backend, torch.tensor([0]), "logit", 1024, torch.tensor([1])).value_of(3 * images.pixels)
    tensor([3.])
    """

    backend: VisionBackend
    rows: Tensor
    output: str
    max_tokens: int
    target: Tensor | None = None

    @property
    def length(self) -> int:
        """Tokens of an image, L."""
        return int(self.backend.lengths[0])

    def pixels(self) -> Tensor:
        """The pixels [R, C, H, W], a leaf that gradients can be taken to."""
        return self.backend.inputs.pixels[self.rows].clone().requires_grad_()

    def value_of(self, pixels: Tensor, target: Tensor | None = None) -> Tensor:
        """The explained number [N] of any pixels [N, C, H, W]; without `target`, of the chunk's own images."""
        backend = self.backend
        if not backend.has_tokens:
            return self._value(backend.forward_pixels(pixels), target)
        return self._value(backend.logits(backend.embed(pixels.to(backend.dtype))), target)

    def settled_target(self) -> Tensor:
        """The target classes [R], for methods whose first forward is not at the inputs themselves."""
        if self.target is None:
            with torch.no_grad():
                self.value_of(self.pixels())
        assert self.target is not None
        return self.target

    def inside(self) -> Inside:
        """One forward, from tokens entering the first block that are a leaf. Settles what the predicted class is."""
        entering = self.backend.embeddings(self.rows).clone().requires_grad_()
        with _recorded(self.backend.model) as (attention, tokens):
            value = self._value(self.backend.logits(entering))
        return Inside(attention, tokens, value)

    def patches(self, tokens: Tensor) -> Tensor:
        """Scores of patches [..., P] out of scores of tokens [..., L]."""
        model: Any = self.backend.model
        return tokens[..., model.num_prefix_tokens :]

    def class_row(self, *maps: Tensor) -> Tensor:
        """The class token's row of maps[-1] @ ... @ maps[0], patches only: [..., P] for maps [..., L, L] of blocks in
        their order.

        A distilled model averages two predictions, one read from its class token and one from its distillation token;
        here it is the mean of these two rows.

        Raises ModelError where the prediction is not read from a class token.
        """
        model: Any = self.backend.model
        if model.global_pool != "token":
            raise ModelError(
                f"this {type(model).__name__} pools its tokens with global_pool={model.global_pool!r}, so no class "
                "token's attention row leads to its prediction: expected a model with global_pool='token'. Methods "
                f"for such a model: {', '.join(WITHOUT_CLASS_TOKEN)}"
            )
        read_from = 2 if getattr(model, "dist_token", None) is not None else 1
        row = maps[-1][..., :read_from, :].mean(dim=-2, keepdim=True)
        for earlier in reversed(maps[:-1]):
            row = row @ earlier
        return self.patches(row[..., 0, :])

    def _value(self, logits: Tensor, target: Tensor | None = None) -> Tensor:
        if target is None:
            target = self.target = settled_classes(logits, self.target, self.output)
        return read(logits, target, self.output)


def image_chunks(backend: VisionBackend, target: Tensor | None, output: str, max_tokens: int) -> Iterator[ImageChunk]:
    """The images in chunks of at most `max_tokens` tokens (at least one image), in order.

    >>> from faithlib.inputs import ImageInputs
    >>> images = ImageInputs.from_pixels(torch.ones(3, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(lambda pixels: pixels.mean(dim=(2, 3)), images)  # no patches: counted as one token
    >>> [chunk.rows.tolist() for chunk in image_chunks(backend, None, "logit", max_tokens=2)]
    [[0, 1], [2]]
    """
    together = max(1, max_tokens // int(backend.lengths[0]))
    for rows in torch.arange(len(backend.inputs), device=backend.device).split(together):
        chosen = None if target is None else target.to(backend.device)[rows]
        yield ImageChunk(backend, rows, output, max_tokens, chosen)


def on_pixels(patches: Tensor, backend: VisionBackend, upsample: str) -> Tensor:
    """A map of patches [R, P] as one of pixels [R, H, W]: each patch's score at the patch's centre, and between centres
    as `upsample` says ("bilinear", beyond the outermost centres constant; "nearest", constant in each patch). Pixels at
    the edge that the model does not see get 0.

    >>> from types import SimpleNamespace
    >>> backend = SimpleNamespace(grid=(1, 2), patch_size=(1, 2), inputs=SimpleNamespace(feature_of=torch.zeros(1, 4)))
    >>> on_pixels(torch.tensor([[1.0, 2.0]]), backend, "nearest")
    tensor([[[1., 1., 2., 2.]]])
    """
    size = tuple(n * pixels for n, pixels in zip(backend.grid, backend.patch_size, strict=True))
    aligned = {"align_corners": False} if upsample == "bilinear" else {}
    images = functional.interpolate(patches.unflatten(1, (1, *backend.grid)), size=size, mode=upsample, **aligned)
    height, width = backend.inputs.feature_of.shape
    return functional.pad(images[:, 0], (0, width - size[1], 0, height - size[0]))


@contextmanager
def _recorded(model: nn.Module) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """Notes the attention map of each block, and the tokens that enter it, while a forward runs inside."""
    maps: list[Tensor] = []
    tokens: list[Tensor] = []
    with ExitStack() as stack:
        stack.enter_context(plain_attention(model))
        for block, attention in _blocks(model):
            for module, kept in ((block, tokens), (attention.attn_drop, maps)):
                handle = module.register_forward_pre_hook(_keep(kept))
                stack.callback(handle.remove)
        yield maps, tokens


def _keep(kept: list[Tensor]) -> Any:
    return lambda module, arguments: kept.append(arguments[0])


def _blocks(model: Any) -> Sequence[tuple[nn.Module, Any]]:
    """The blocks with their attention; ModelError where the attention is not the one that the methods are about."""
    layers = require("timm.layers", extra="vision")
    for block in model.blocks:
        if not isinstance(getattr(block, "attn", None), layers.Attention):
            raise ModelError(
                f"this {type(model).__name__} is made of {type(block).__name__}, whose attention maps cannot be read: "
                "expected blocks with a timm.layers.Attention as `attn`; integrated_gradients explains any model"
            )
    return [(block, block.attn) for block in model.blocks]
