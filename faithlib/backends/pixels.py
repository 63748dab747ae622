"""Images and what sees them: any classifier of pixels, any function from pixels to logits.

Pixels are erased whatever the model is. Tokens, and so soft erasure, attention and gradients of tokens, are those of a
vision transformer: what enters its first block. The model's own forward runs, on a replica, and a hook replaces the
tokens that enter the first block. Blocks of Hugging Face classifiers are found by what they take.

Shape letters: R rows of one forward, L tokens, P patches, D embedding size, N heads, C classes (of pixels: channels),
H and W pixels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from faithlib.backends._logits import logits_of
from faithlib.backends.functions import ERASING
from faithlib.backends.shared_weights import CONTEXT, in_context, replica
from faithlib.errors import InputError, ModelError, require
from faithlib.inputs import ImageInputs
from faithlib.memory import is_out_of_memory

__all__ = ["VisionBackend"]

Pair = tuple[int, int]
_MOST_PREFIX = 8  # class, distillation and register tokens


class _Reached(Exception):
    """The first block was reached, with these tokens."""

    def __init__(self, tokens: Any) -> None:
        super().__init__()
        self.tokens: Tensor = tokens


class HuggingFaceTokens:
    """Those of a Hugging Face image classifier whose blocks take tokens [R, L, D]: a replica of it, a few of its images
    [R, C, H, W]. `grid`: patches down and across; `patch_size`: their pixels; `prefix`: tokens before the patches.

    >>> from transformers import ViTConfig, ViTForImageClassification
    >>> config = ViTConfig(image_size=4, patch_size=2, hidden_size=4, num_hidden_layers=1, num_attention_heads=1)
    >>> tokens = HuggingFaceTokens.of(replica(ViTForImageClassification(config)), torch.zeros(1, 3, 4, 4))
    >>> tokens.grid, tokens.prefix, tokens.reads()
    ((2, 2), 1, tensor([1., 0., 0., 0., 0.]))
    """

    def __init__(self, model: Any, blocks: Any, images: Tensor, patch_size: Pair) -> None:
        self.model, self._blocks, self._images, self.patch_size = model, blocks, images[:1], patch_size
        self.grid = images.shape[-2] // patch_size[0], images.shape[-1] // patch_size[1]
        self.prefix = -1  # until a forward shows it
        blocks[0].register_forward_pre_hook(self._enter, with_kwargs=True)

    @classmethod
    def of(cls, model: Any, images: Tensor) -> HuggingFaceTokens | None:
        """The tokens; None where the first blocks take none that are patches row by row."""
        config = getattr(model, "config", None)
        patch = getattr(getattr(config, "vision_config", config), "patch_size", None)
        if patch is None:
            return None
        high, wide = (patch, patch) if isinstance(patch, int) else tuple(patch)[-2:]
        # Two images that differ in the patch at the lower left: one token differs most, that of this patch.
        both = images[:1].repeat(2, 1, 1, 1)
        both[1, :, -high:, :wide] += 1
        for blocks in [part for part in model.modules() if isinstance(part, nn.ModuleList) and len(part)]:
            made = cls(model, blocks, images, (high, wide))
            down, across = made.grid
            with torch.no_grad():
                tokens = made.embed(both)
            if not len(tokens):
                continue
            made.prefix = tokens.shape[1] - down * across if tokens.ndim == 3 else -1
            fits = 0 <= made.prefix <= _MOST_PREFIX
            moved = (tokens[1] - tokens[0]).abs().amax(dim=-1).argmax() if fits else -1
            return made if moved == made.prefix + (down - 1) * across else None
        return None

    def embed(self, pixels: Tensor) -> Tensor:
        """Tokens [R, L, D] that enter the first block; none where no block is reached."""
        try:
            with in_context(self, None):
                self.model(pixels)
        except _Reached as reached:
            return reached.tokens
        return pixels.new_zeros(0)

    def logits(self, tokens: Tensor) -> Tensor:
        """Logits [R, C] of tokens [R, L, D] that enter the first block; gradients flow."""
        with in_context(self, tokens):
            answer = self.model(self._images)  # one image: its tokens are replaced before the first block
        return logits_of(answer, len(tokens), self.model)

    def _enter(self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Instead of the model's own tokens those handed over, for which None is to take note and stop."""
        if self not in (entering := CONTEXT.get()):
            return None
        if (tokens := entering[self]) is None:
            raise _Reached(given[0] if given else named.get("hidden_states"))
        return ((tokens, *given[1:]), named) if given else (given, {**named, "hidden_states": tokens})

    @contextmanager
    def recorded(self, maps: list[Tensor], tokens: list[Tensor]) -> Iterator[None]:
        """A context in which a forward leaves the attention maps that blocks return, and what enters each block."""

        keep = keeping_maps(maps, lambda: tokens[0].shape[:2])
        with ExitStack() as stack:
            for block in self._blocks:
                stack.callback(block.register_forward_pre_hook(_keep(tokens), with_kwargs=True).remove)
                for part in block.modules():
                    stack.callback(part.register_forward_hook(keep).remove)
            yield

    def reads(self) -> Tensor:
        """By the gradient: the tokens that leave the last block and have an effect. Class and distillation tokens count
        alike; patches that are read beside them (DINOv2 reads their mean) count as one more."""
        left: list[Any] = []
        with torch.enable_grad():
            hook = self._blocks[-1].register_forward_hook(lambda module, given, output: left.append(output))
            logits = self.logits(self.embed(self._images).detach().requires_grad_())
            hook.remove()
            tokens = left[0] if isinstance(left[0], Tensor) else left[0][0]
            spread = torch.linspace(1, 2, logits.shape[1], dtype=logits.dtype, device=logits.device)
            (gradient,) = torch.autograd.grad((logits * spread).sum(), tokens)
        read = (gradient[0].abs().amax(dim=-1) > 0).float()
        if len(read) != self.prefix + self.grid[0] * self.grid[1] or not read[: self.prefix].any():
            raise ModelError(_no_class_token(self.model, "reads its prediction from patches alone"))
        first, patches = read[: self.prefix], read[self.prefix :]
        patches = patches / patches.sum().clamp(min=1)
        return torch.cat([first, patches]) / (first.sum() + patches.sum())


class TimmTokens(HuggingFaceTokens):
    """Those of a timm VisionTransformer, of a `model` that is a replica; InputError where it takes no such images.

    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> tokens = TimmTokens(VisionTransformer(**sizes).eval(), torch.zeros(1, 3, 4, 4))
    >>> tokens.grid, tokens.prefix, tokens.embed(torch.zeros(1, 3, 4, 4)).shape
    ((2, 2), 1, torch.Size([1, 5, 4]))
    """

    def __init__(self, model: Any, images: Tensor) -> None:
        grid = _timm_grid(model, tuple(images.shape[1:]))
        # Tokens of a model without blocks enter the empty row of them.
        super().__init__(model, list(model.blocks) or [model.blocks], images, model.patch_embed.feat_ratio(False))
        self.grid, self.prefix = grid, model.num_prefix_tokens
        model.set_grad_checkpointing(False)  # rules for single operations do not reach into checkpoints

    @contextmanager
    def recorded(self, maps: list[Tensor], tokens: list[Tensor]) -> Iterator[None]:
        """A context in which a forward leaves the attention map [R, N, L, L] of each block, and what enters it."""
        layers = require("timm.layers", extra="vision")
        with ExitStack() as stack:
            for block in self.model.blocks:
                if not isinstance(getattr(block, "attn", None), layers.Attention):
                    raise ModelError(
                        f"this {type(self.model).__name__} is made of {type(block).__name__}, whose attention maps "
                        "cannot be read: expected blocks with a timm.layers.Attention as `attn`; integrated_gradients "
                        "explains any model"
                    )
                for module, kept in ((block, tokens), (block.attn.attn_drop, maps)):
                    stack.callback(module.register_forward_pre_hook(_keep(kept), with_kwargs=True).remove)
            yield

    def reads(self) -> Tensor:
        """How much of the prediction is read from each token [L], 1 in sum; ModelError where no class token is read."""
        model = self.model
        if model.global_pool != "token":
            raise ModelError(_no_class_token(model, f"pools its tokens with global_pool={model.global_pool!r}"))
        # A distilled model averages two predictions, one read from its class and one from its distillation token.
        count = 2 if getattr(model, "dist_token", None) is not None else 1
        shares = torch.zeros(self.prefix + self.grid[0] * self.grid[1], dtype=torch.float32)
        shares[:count] = 1 / count
        return shares


def keeping_maps(maps: list[Tensor], size: Callable[[], tuple[int, ...]]) -> Callable[[Any, Any, Any], None]:
    """A hook that keeps the attention maps [R, H, L, L], for `size` (R, L), which modules return beside their output.

    By shape, not by class name, so that it holds for every family; a map that several nested modules hand on counts
    once.

    >>> maps = []
    >>> keeping_maps(maps, lambda: (1, 2))(None, None, (torch.zeros(1, 2, 4), torch.zeros(1, 3, 2, 2)))
    >>> [kept.shape for kept in maps]
    [torch.Size([1, 3, 2, 2])]
    """

    def keep(module: Any, given: Any, output: Any) -> None:
        for item in output if isinstance(output, tuple) else ():
            is_map = (
                isinstance(item, Tensor) and item.ndim == 4 and (len(item), *item.shape[2:]) == (*size(), size()[1])
            )
            if is_map and not any(item is known for known in maps):
                maps.append(item)

    return keep


def _keep(kept: list[Tensor]) -> Any:
    return lambda module, given, named: kept.append(given[0] if given else named.get("hidden_states"))


def _no_class_token(model: Any, how: str) -> str:
    return (
        f"this {type(model).__name__} {how}, so no class token's attention row leads to its prediction: expected a "
        f"model that reads one (timm's global_pool='token'). Methods for such a model: {', '.join(WITHOUT_CLASS_TOKEN)}"
    )


#: What can be said about a model whose prediction is not read from a class token.
WITHOUT_CLASS_TOKEN = (
    "integrated_gradients", "lrp", "conservative_lrp", "attcat", "lime", "occlusion", "shapley_sampling", "random",
    "uniform",
)  # fmt: skip


def tokens_of(model: Any, images: Tensor) -> HuggingFaceTokens | None:
    """The tokens of a model that sees images [R, C, H, W]; None where none can be reached.

    >>> tokens_of(nn.Flatten(), torch.zeros(1, 3, 4, 4)) is None
    True
    """
    if is_vit(getattr(model, "timm_model", model)):  # transformers wraps timm's models
        quiet = replica(model)
        return TimmTokens(getattr(quiet, "timm_model", quiet), images)
    if not isinstance(model, nn.Module) or not hasattr(model, "base_model_prefix"):
        return None
    try:
        return HuggingFaceTokens.of(replica(model), images)
    except (TypeError, ValueError, RuntimeError, AttributeError):  # what does not take them will say so when it is run
        return None


def is_vit(model: Any) -> bool:
    """Whether this is a timm VisionTransformer; without importing timm, which such a model has done.

    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> is_vit(VisionTransformer(**sizes)), is_vit(nn.Identity())
    (True, False)
    """
    loaded = sys.modules.get("timm.models.vision_transformer")
    return loaded is not None and isinstance(model, loaded.VisionTransformer)


def _timm_grid(model: Any, shape: tuple[int, ...]) -> Pair:
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


# Models whose tokens do not lead to their own answers, as a self-check has found, and why.
_WITHOUT_TOKENS: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()


class VisionBackend:
    """A classifier and the images it sees. Embeddings are the `tokens` that enter the first block of a vision
    transformer; another model has none that can be reached. `users`: the user's model, of which `model` is a replica.

    >>> images = ImageInputs.from_pixels(torch.ones(1, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(lambda pixels: pixels.mean(dim=(2, 3)), images)  # a channel for each class
    >>> backend.asked(images.pixels), backend.has_tokens
    (tensor([[1., 1.]]), False)
    """

    def __init__(self, model: nn.Module | Callable[[Tensor], Any], inputs: ImageInputs, users: Any = None) -> None:
        if not callable(model):
            raise ModelError(f"{type(model).__name__} cannot be called: expected a classifier of pixels [R, C, H, W]")
        self.model: Any = model
        self._users: Any = model if users is None else users
        first = next(model.parameters(), None) if isinstance(model, nn.Module) else None
        self.device = inputs.pixels.device if first is None else first.device
        self.dtype = inputs.pixels.dtype if first is None else first.dtype
        self.inputs = inputs.to(self.device)
        images = self.inputs.pixels[:1].to(self.dtype)
        self.tokens: HuggingFaceTokens | None = tokens_of(model, images)
        # What a chunk holds is counted in tokens; of another model in patches of 16 pixels.
        count = max(1, images.shape[2] * images.shape[3] // 256)
        if self.tokens is not None:
            down, across = self.tokens.grid
            count = self.tokens.prefix + down * across
        self.lengths = torch.full((len(inputs),), count, device=self.device)

    @property
    def has_tokens(self) -> bool:
        """Whether something can be done with this model's tokens."""
        return self.tokens is not None and not _without_tokens(self._users)

    @property
    def reached(self) -> HuggingFaceTokens:
        """The tokens; ModelError for a model without."""
        if why := _without_tokens(self._users):
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

    def asked(self, pixels: Tensor, model: Any = None) -> Tensor:
        """Logits [R, C] of pixels [R, C, H, W] by the model's call, or another's, in its own precision; gradients flow.
        ModelError where it does not take such images."""
        model = self.model if model is None else model
        try:
            answer = model(pixels.to(self.dtype))
        except (TypeError, ValueError, AssertionError, RuntimeError, AttributeError, IndexError, KeyError) as error:
            of_torch = type(error).__module__ == "builtins" and isinstance(model, nn.Module)  # not the user's own
            if not of_torch or is_out_of_memory(error):
                raise
            message = f"{_name(model)} does not take images {list(pixels.shape)}: {error}"
            reads = getattr(model, "main_input_name", "pixel_values") != "pixel_values"
            if reads and not hasattr(getattr(model, "config", None), "vision_config"):
                raise ModelError(
                    f"{_name(model)} does not take images {list(pixels.shape)}: it reads tokens; expected texts with "
                    "tokenizer=..., or token ids"
                ) from error
            if reads or hasattr(model, "text_model"):
                message += (
                    "; it reads a text beside each image: ask it as a function of pixels, lambda pixels: "
                    "model(pixel_values=pixels, **texts).logits_per_image.detach()"
                )
            raise ModelError(f"{message}; expected a classifier of pixels of this size") from error
        if not isinstance(model, nn.Module):
            answer = torch.as_tensor(getattr(answer, "logits", answer))
        return logits_of(answer, len(pixels), model).to(self.device)

    def forget_tokens(self, why: str) -> None:
        """Only pixels of this model are left, here and elsewhere; "" takes that back."""
        if isinstance(self._users, nn.Module):
            _WITHOUT_TOKENS[self._users] = why

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
