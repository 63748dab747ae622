"""One face for every model family: embed a batch, and go on from (perturbed) embeddings to logits.

Perturbations and attributions act on the embedding *output*: what enters the first attention layer, with positions,
token types and LayerNorm applied once. Models are called as they are; no layer is copied or rewritten.

Shape letters: R rows of one forward, L tokens, D embedding size, C classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.errors import InputError, ModelError, require
from faithlib.inputs import ImageInputs, Inputs, TextInputs


class EmbeddedTwice(nn.Module):
    """A Hugging Face encoder classifier as a function that sends its embedding output through its embedding module once
    more: positions, token types and LayerNorm come twice.

    Not the model's own function, but the one that five methods of the released code of Zaman & Belinkov 2022 explain
    (PAPERS.md, E2: `hidden_states[0]` is handed over as `inputs_embeds`). Every attribution and `Perturber` takes it in
    the place of the model; the weights are shared, not copied.

    Raises ModelError where the embedding module takes no embeddings.
    """

    base_model_prefix = "base"

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.base: Any = _base_of(model)
        # A name of its own, for the backend puts another module in the place of `base.embeddings` while it runs.
        self.embeddings: Any = self.base.embeddings
        self.config: Any = model.config
        self._arguments = set(inspect.signature(self.embeddings.forward).parameters)
        if "inputs_embeds" not in self._arguments:
            raise ModelError(f"the embeddings of {type(model).__name__} take no `inputs_embeds`: nothing can go twice")
        self.training = model.training

    def set_attn_implementation(self, name: str) -> None:
        """As the model's own."""
        wrapped: Any = self.model
        wrapped.set_attn_implementation(name)

    def forward(
        self, inputs_embeds: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Any:
        """What the model answers; `inputs_embeds` [R, L, D] is its embedding output."""
        given = {"input_ids": None, "inputs_embeds": inputs_embeds, "token_type_ids": token_type_ids}
        again = self.embeddings(**{name: value for name, value in given.items() if name in self._arguments})
        with _given_embeddings(self.base, again):
            return self.model(inputs_embeds=again, attention_mask=attention_mask)


class TextBackend:
    """A Hugging Face encoder classifier (BERT, RoBERTa, DistilBERT, XLM-R, ELECTRA …) and the texts it reads."""

    def __init__(self, model: nn.Module, inputs: TextInputs) -> None:
        self.model = model
        self.base = _base_of(model)
        self.device = next(model.parameters()).device
        self.inputs = inputs.to(self.device)
        self.lengths = self.inputs.lengths
        self._embedding_arguments = set(inspect.signature(self.embedding_module.forward).parameters)

    @property
    def embedding_module(self) -> Any:
        """The module whose output is perturbed."""
        return self.base.embeddings

    def embed(self, input_ids: Tensor, token_type_ids: Tensor | None) -> Tensor:
        """The embedding output [R, L, D] of any ids [R, L]."""
        given = {"input_ids": input_ids, "token_type_ids": token_type_ids, "position_ids": self._positions(input_ids)}
        return self.embedding_module(
            **{k: v for k, v in given.items() if k in self._embedding_arguments and v is not None}
        )

    def embeddings(self, rows: Tensor | None = None, *, length: int | None = None) -> Tensor:
        """The embedding output [R, L, D] of the inputs `rows` (default: all), cut to `length` positions."""
        rows = torch.arange(len(self.inputs), device=self.device) if rows is None else rows
        types = self.inputs.token_type_ids
        with torch.no_grad():
            return self.embed(self.inputs.input_ids[rows, :length], None if types is None else types[rows, :length])

    def logits(
        self,
        embeddings: Tensor,
        rows: Tensor | None = None,
        *,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Tensor:
        """Logits [R, C] from an embedding output [R, L, D]; gradients flow.

        `rows` says which inputs these are (default: all in order), and so where padding is and what type a token has.
        `attention_mask` overrides it: bool [R, L], or float [R, L] weights w >= 0 that multiply attention (log w is
        added to the scores before the softmax). `token_type_ids` [R, L] likewise, for a model that is `EmbeddedTwice`;
        all others have them in the embedding output.
        """
        length = embeddings.shape[1]
        rows = torch.arange(len(self.inputs), device=self.device) if rows is None else rows
        if attention_mask is None:
            attention_mask = self.inputs.attention_mask[rows, :length]
        types: dict[str, Tensor] = {}
        if isinstance(self.model, EmbeddedTwice) and self.inputs.token_type_ids is not None:
            own = self.inputs.token_type_ids
            types = {"token_type_ids": own[rows, :length] if token_type_ids is None else token_type_ids}
        with _given_embeddings(self.base, embeddings):
            return self.model(
                inputs_embeds=embeddings, attention_mask=_mask_argument(attention_mask, embeddings), **types
            ).logits

    def forward_ids(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None) -> Tensor:
        """Logits [R, C] of token ids [R, L], positions counted from the attention mask's left end."""
        embeddings = self.embed(input_ids, token_type_ids)
        return self.logits(embeddings, attention_mask=attention_mask, token_type_ids=token_type_ids)

    def _positions(self, input_ids: Tensor) -> Tensor | None:
        # RoBERTa-like embeddings number positions by looking for the pad id, so erasing with that id would renumber the
        # rest.
        padding = getattr(self.embedding_module, "padding_idx", None)
        if padding is None:
            return None
        return torch.arange(padding + 1, padding + 1 + input_ids.shape[1], device=self.device).expand_as(input_ids)


class VisionBackend:
    """A timm VisionTransformer and the images it sees. Embeddings are the tokens that enter the first block."""

    def __init__(self, model: nn.Module, inputs: ImageInputs) -> None:
        if not isinstance(model, require("timm.models.vision_transformer", extra="vision").VisionTransformer):
            raise ModelError(f"{type(model).__name__} is no timm VisionTransformer")
        self.model = model
        self.device = next(model.parameters()).device
        self.inputs = inputs.to(self.device)
        self.grid = _grid(model, tuple(inputs.pixels.shape[1:]))
        rows = self.embeddings(torch.zeros(1, dtype=torch.long, device=self.device))
        self.lengths = torch.full((len(inputs),), rows.shape[1], device=self.device)

    def embed(self, pixels: Tensor) -> Tensor:
        """Tokens [R, L, D] that enter the first block, for pixels [R, C, H, W]."""
        model: Any = self.model
        return model.norm_pre(model.patch_drop(model._pos_embed(model.patch_embed(pixels))))

    def embeddings(self, rows: Tensor | None = None, *, length: int | None = None) -> Tensor:
        """Tokens [R, L, D] of the images `rows` (default: all)."""
        pixels = self.inputs.pixels if rows is None else self.inputs.pixels[rows]
        with torch.no_grad():
            return self.embed(pixels.to(next(self.model.parameters()).dtype))

    def logits(self, embeddings: Tensor, rows: Tensor | None = None, *, attention_mask: Tensor | None = None) -> Tensor:
        """Logits [R, C] from tokens [R, L, D]; gradients flow. A ViT has no padding: `attention_mask` must be None."""
        if attention_mask is not None:
            raise ModelError("a timm VisionTransformer takes no attention mask")
        model: Any = self.model
        return model.forward_head(model.norm(model.blocks(embeddings)))

    def forward_pixels(self, pixels: Tensor) -> Tensor:
        """Logits [R, C] of pixels [R, C, H, W]."""
        return self.model(pixels)

    @property
    def patch_size(self) -> tuple[int, int]:
        """Pixels of a patch, down and across."""
        model: Any = self.model
        high, wide = model.patch_embed.feat_ratio(as_scalar=False)
        return high, wide

    def patch_features(self) -> Tensor | None:
        """The feature that each of the model's patches shows [P], row by row; None where one shows several."""
        feature_of = self.inputs.feature_of
        (high, wide), (height, width) = self.patch_size, feature_of.shape
        corners = feature_of[::high, ::wide]
        spread = corners.repeat_interleave(high, 0).repeat_interleave(wide, 1)[:height, :width]
        whole = tuple(corners.shape) == self.grid and torch.equal(spread, feature_of)
        return corners.flatten() if whole else None


Backend = TextBackend | VisionBackend


def backend_for(model: nn.Module, inputs: Inputs) -> Backend:
    """The backend that fits the kind of `inputs`; ModelError where model and inputs do not go together."""
    return TextBackend(model, inputs) if isinstance(inputs, TextInputs) else VisionBackend(model, inputs)


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


def _base_of(model: nn.Module) -> Any:
    """The encoder inside a classifier; ModelError where there is none with an embedding module."""
    base = getattr(model, getattr(model, "base_model_prefix", ""), None)
    if not isinstance(base, nn.Module) or not isinstance(getattr(base, "embeddings", None), nn.Module):
        raise ModelError(
            f"{type(model).__name__} is no Hugging Face encoder classifier with an `embeddings` module: "
            "expected for example BertForSequenceClassification"
        )
    return base


class _Given(nn.Module):
    """Stands in for an embedding module and answers with a tensor made elsewhere."""

    def __init__(self, embeddings: Tensor) -> None:
        super().__init__()
        self.embeddings = embeddings

    def forward(self, *_: object, **__: object) -> Tensor:
        return self.embeddings


@contextmanager
def _given_embeddings(base: nn.Module, embeddings: Tensor) -> Iterator[None]:
    own = base.embeddings
    base.embeddings = _Given(embeddings)
    try:
        yield
    finally:
        base.embeddings = own


def _mask_argument(mask: Tensor, embeddings: Tensor) -> Tensor | None:
    """The mask as the model takes it. None where nothing is masked: attention kernels are faster without one."""
    if mask.dtype == torch.bool:
        # On a GPU the question itself would stop the queue; there the model decides.
        return None if mask.device.type == "cpu" and bool(mask.all()) else mask.long()
    return mask.to(embeddings.dtype).log()[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
