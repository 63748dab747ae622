"""A vision transformer seen from inside: what one forward through a few images leaves for the attribution methods, and
the way from a map of patches to pixels.

Attention maps are taken where the softmax leaves them, in the graph of the forward, so that gradients and relevances of
them can be asked for. Hooks live for one forward.

Shape letters: R images of one chunk, L tokens, P patches (tokens without class and register tokens), D embedding size,
N heads, C classes, H and W pixels.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from faithlib.attribution._target import Chunk, Number, chunks, eager_attention
from faithlib.attribution._texts import Job, answers, most_tokens
from faithlib.attribution.costs import Costs
from faithlib.backends import VisionBackend
from faithlib.errors import ModelError, check_known
from faithlib.inputs import pooled
from faithlib.outputs import read

# With maps of all blocks in the graph, a ViT-B takes 1.2 MB a token (measured): 1 and 10 GB.
_MOST_TOKENS = {"cpu": 1024, "cuda": 1 << 13}


@dataclass(frozen=True)
class Inside:
    """What a forward left: per block its attention map [R, N, L, L] and the tokens that entered it [R, L, D], and the
    explained number `value` [R]; all in one graph. ModelError where blocks have no maps of all tokens.

    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> inside = ImageChunk(VisionBackend(model, images), torch.tensor([0]), 5, "logit", 1024).inside()
    >>> inside.attention[0].shape, inside.attention[0].sum(dim=-1).round(decimals=4)  # the class token and four patches
    (torch.Size([1, 1, 5, 5]), tensor([[[1., 1., 1., 1., 1.]]], grad_fn=...))
    """

    maps: list[Tensor]
    tokens: list[Tensor]
    value: Tensor

    @property
    def attention(self) -> list[Tensor]:
        if len(self.maps) != len(self.tokens):
            raise ModelError(
                f"of {len(self.tokens)} blocks {len(self.maps)} have an attention map of all tokens (others attend "
                "within windows, or by other means): integrated_gradients explains any model"
            )
        return self.maps


class ImageChunk(Chunk):
    """Images `rows` [R] of a backend, with what is explained about them.

    >>> from faithlib.inputs import ImageInputs
    >>> images = ImageInputs.from_pixels(torch.ones(1, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(lambda pixels: pixels.mean(dim=(2, 3)), images)  # a channel for each class
    >>> ImageChunk(backend, torch.tensor([0]), 1, "logit", 1024, target=torch.tensor([1])).value(3 * images.pixels)
    tensor([3.])
    """

    def pixels(self) -> Tensor:
        """The pixels [R, C, H, W], a leaf that gradients can be taken to."""
        leaf: Tensor = self.backend.inputs.pixels[self.rows].clone().requires_grad_()
        return leaf

    embeddings = pixels  # where the target classes are settled

    def erasable(self) -> Any:
        """All places."""
        return slice(None)

    def value(self, pixels: Tensor) -> Tensor:
        """The explained number [R] at the images' own pixels. Settles what the predicted class is."""
        return self._read(self.backend.asked(pixels))

    def value_of(self, pixels: Tensor, rows: Tensor, target: Tensor) -> Tensor:
        """The explained number [N] of any pixels [N, C, H, W]."""
        return self._finite(read(self.backend.asked(pixels), target, self.output), rows)

    def inside(self) -> Inside:
        """One forward, from tokens entering the first block that are a leaf. Settles what the predicted class is."""
        backend, maps, tokens = self.backend, [], []  # type: ignore[var-annotated]
        entering = backend.embeddings(self.rows).clone().requires_grad_()
        with eager_attention(backend.reached.model, returned=True), backend.reached.recorded(maps, tokens):
            value = self._read(backend.logits(entering))
        return Inside(maps, tokens, value)

    def last_map(self) -> tuple[Tensor, Tensor]:
        """Of a convolutional network the last features that have a place, and the explained number, in one graph.

        These are what the last convolution with more than one place makes, after the norm, the residual and the
        activation behind it. Settles what the predicted class is.

        Returns
        -------
        tuple of Tensor
            Features [R, K, h, w] and the number [R].

        Raises
        ------
        ModelError
            Where the model has no such convolution, or goes on in another shape after it.

        Examples
        --------
        >>> from faithlib.inputs import ImageInputs
        >>> model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        >>> images = ImageInputs.from_pixels(torch.rand(1, 1, 6, 6), patch=2)
        >>> features, value = ImageChunk(VisionBackend(model, images), torch.tensor([0]), 1, "logit", 1024).last_map()
        >>> features.shape, bool((features >= 0).all())  # behind the activation
        (torch.Size([1, 2, 4, 4]), True)
        """
        maps: list[Tensor] = []
        convolved: list[torch.Size] = []

        def keep(module: nn.Module, _: Any, output: Any) -> None:
            if not isinstance(output, Tensor) or output.ndim not in (3, 4):
                return
            # Tokens [R, L, D] have places too: who goes on with them does not end in convolutions.
            if (output.shape[1] if output.ndim == 3 else output.shape[-2:].numel()) > 1:
                maps.append(output)
                if isinstance(module, nn.Conv2d):
                    convolved.append(output.shape)

        with ExitStack() as stack:
            for module in self.backend.model.modules():
                stack.callback(module.register_forward_hook(keep).remove)
            value = self.value(self.pixels())
        if not convolved or maps[-1].shape != convolved[-1]:
            raise ModelError(
                f"{type(self.backend.model).__name__} does not end in convolutions, whose features Grad-CAM weighs; "
                "expected a convolutional network or a timm VisionTransformer: integrated_gradients explains any model"
            )
        return maps[-1], value

    def patches(self, tokens: Tensor) -> Tensor:
        """Scores of patches [..., P] out of scores of tokens [..., L]."""
        return tokens[..., self.backend.reached.prefix :]

    def class_row(self, *maps: Tensor) -> Tensor:
        """The class token's row of maps[-1] @ ... @ maps[0], patches only.

        Where a prediction is read from several tokens (a distilled model's two, DINOv2's class token and the mean of
        its patches) it is the mean of their rows, patches together counting as one.

        Parameters
        ----------
        maps
            Of blocks in their order, [..., L, L] each.

        Returns
        -------
        Tensor
            [..., P].

        Raises
        ------
        ModelError
            Where the prediction is not read from a class token.
        """
        read = self.backend.reached.reads().to(maps[-1])
        row = torch.einsum("l,...lm->...m", read, maps[-1])[..., None, :]
        for earlier in reversed(maps[:-1]):
            row = row @ earlier
        return self.patches(row[..., 0, :])


def run_on_images(
    jobs: Sequence[Job], backend: VisionBackend, numbers: Sequence[Number], max_tokens: int | None, costs: Costs
) -> None:
    """Does jobs that look inside a model, chunk by chunk.

    Parameters
    ----------
    jobs : Sequence[Job]
        What is done; their `raw` is filled.
    backend : VisionBackend
        The model with its images.
    numbers : Sequence[Number]
        What is explained: outputs with target classes.
    max_tokens : int
        Tokens a forward; None: what suits the device.
    costs : Costs
        The accounts.

    Raises
    ------
    UnknownNameError
        For another `upsample` among the options of a job.

    Examples
    --------
    >>> from faithlib.attribution.registry import IMAGE_METHODS
    >>> from faithlib.inputs import ImageInputs
    >>> images = ImageInputs.from_pixels(torch.rand(1, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(nn.Sequential(nn.AvgPool2d(4), nn.Flatten()), images)  # a channel for each class
    >>> job = Job("mine", IMAGE_METHODS["integrated_gradients"], 0, "sum", {"n_steps": 1})
    >>> run_on_images([job], backend, [("logit", None)], None, Costs(None))
    >>> job.raw[None].shape
    torch.Size([1, 4])
    """
    feature_mask, options = backend.inputs.feature_mask, {}
    patches = backend.patch_features() if backend.has_tokens else None
    one_to_one = patches is not None and patches.sort().values.tolist() == list(range(feature_mask.shape[1]))
    for job in jobs:
        options[job] = job.options.pop("upsample", "bilinear")
        check_known("upsample", options[job], ("bilinear", "nearest"))
        job.raw = {None: torch.zeros(feature_mask.shape, dtype=torch.float32, device=backend.device)}
    most = most_tokens(backend.device, max_tokens, _MOST_TOKENS)
    chunked = partial(chunks, backend, max_tokens=most, kind=ImageChunk)
    for job, chunk, answer in answers(jobs, chunked, numbers, costs):
        scores, is_map = job.raw[None], job.method.answers == "patches"
        if is_map and one_to_one:
            scores[chunk.rows[:, None], patches] = answer
        else:
            pixels = on_pixels(answer, backend, options[job]) if is_map else answer
            feature_of = backend.inputs.maps(chunk.rows).flatten(1)
            scores[chunk.rows] = pooled(pixels.flatten(1), feature_of, feature_mask[chunk.rows], job.pool)


def on_pixels(patches: Tensor, backend: VisionBackend, upsample: str) -> Tensor:
    """A map of patches as one of pixels.

    Each patch's score is at the patch's centre, and between centres as `upsample` says.

    Parameters
    ----------
    patches : Tensor
        Scores of patches, [R, P]. A map [R, h, w] of a convolutional network is stretched over the image.
    backend : VisionBackend
        The model with its images.
    upsample : {"bilinear", "nearest"}
        "bilinear" is constant beyond the outermost centres, "nearest" in each patch.

    Returns
    -------
    Tensor
        [R, H, W]. Pixels at the edge that the model does not see get 0.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> tokens = SimpleNamespace(grid=(1, 2), patch_size=(1, 2))
    >>> backend = SimpleNamespace(reached=tokens, inputs=SimpleNamespace(feature_of=torch.zeros(1, 4)))
    >>> on_pixels(torch.tensor([[1.0, 2.0]]), backend, "nearest")
    tensor([[[1., 1., 2., 2.]]])
    """
    aligned = {"align_corners": False} if upsample == "bilinear" else {}
    height, width = backend.inputs.feature_of.shape[-2:]
    if patches.ndim == 3:
        return functional.interpolate(patches[:, None], size=(height, width), mode=upsample, **aligned)[:, 0]
    tokens = backend.reached
    size = tuple(n * pixels for n, pixels in zip(tokens.grid, tokens.patch_size, strict=True))
    images = functional.interpolate(patches.unflatten(1, (1, *tokens.grid)), size=size, mode=upsample, **aligned)
    return functional.pad(images[:, 0], (0, width - size[1], 0, height - size[0]))
