"""Attributions of vision transformers: the ten methods that Wu et al. 2024 compare (section 4.2).

=========  ===========================================================
how        methods
=========  ===========================================================
gradients  integrated_gradients, grad_cam
attention  raw_attention, rollout, transformer_mm, attcat
relevance  lrp, partial_lrp, transformer_attribution, conservative_lrp
=========  ===========================================================

Each function answers a map of patches [R, P] or of pixels [R, H, W], neither clamped nor normalised beyond what is said
here; the registry makes features of it. A_b is the attention map of block b (of 1 ... B blocks) after the softmax, F
the explained number, E_n the mean over heads, (x)+ = max(x, 0); "the class token's row" is that of the token the
prediction is read from, at the patches.

Shape letters: R images of one chunk, L tokens, P patches, D embedding size, N heads, H and W pixels.
"""

import torch
from torch import Tensor

from faithlib._masking import replacement_pixels
from faithlib.attribution._gradient import VARIANTS, along_path
from faithlib.attribution._relevance import conservative_rules, lrp_rules
from faithlib.attribution._target import eager_attention
from faithlib.attribution._vision import ImageChunk, Inside
from faithlib.errors import InputError, check_known
from faithlib.perturb import IMAGE_ERASURES


# ----------------------------------------------------------------------------------------------------------- gradients
def integrated_gradients(chunk: ImageChunk, *, baseline: str = "zero", n_steps: int = 50) -> Tensor:
    """Integrated gradients: (x - x') * integral of dF/dx along the straight line from x' to x, summed over channels.

    Sundararajan et al. 2017, Eq. 1.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.
    baseline : {"zero", "mean", "blur"}, default "zero"
        x': 0 in normalised pixels ("zero": the data set's mean colour), or what `Perturber` puts instead of erased
        pixels.
    n_steps : int, default 50
        Points of Gauss-Legendre, at least 1, as in captum's IntegratedGradients.

    Returns
    -------
    Tensor
        [R, H, W], signed. The scores add up to F(x) - F(x') as far as `n_steps` points reach.

    Raises
    ------
    InputError
        For fewer than 1 step.
    UnknownNameError
        For another baseline.

    Notes
    -----
    F is a probability by default, as for texts. Cost: `n_steps` forward and backward rows per image, one forward row
    for the predicted class.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from faithlib.perturb import Perturber
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> scores, asked = attribute("integrated_gradients", model, images), Perturber(model, images, erase="zero")
    >>> bool((scores.sum(dim=1) - (asked.full - asked.empty)).abs() < 1e-2)  # they add up
    True
    """
    check_known("baseline", baseline, IMAGE_ERASURES)
    pixels = chunk.pixels().detach()
    return along_path(chunk, replacement_pixels(pixels, baseline), pixels, n_steps).sum(dim=1)


def grad_cam(chunk: ImageChunk) -> Tensor:
    """Grad-CAM (Selvaraju et al. 2017, Eq. 1-2), with heads instead of channels.

    (E_n w_n a_n)+ with a_n the class token's row of A_B in head n and w_n the mean over patches of dF/da_n.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.

    Returns
    -------
    Tensor
        [R, P], at least 0; of a convolutional network [R, h, w].

    Raises
    ------
    ModelError
        Where the prediction is not read from a class token; of a convolutional network where it has no last features
        with a place.

    Notes
    -----
    As Chefer et al. (CVPR 2021) apply it to ViTs and Wu et al. after them: their released code also stretches each map
    to [0, 1]. F: the logit by default. Of a convolutional network as it was published: (sum_k w_k a_k)+ with a_k the
    channels of its last features with a place (`ImageChunk.last_map`) and w_k the mean over places of dF/da_k. Cost:
    one forward row and the backward pass to the last block or features.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> scores = attribute("grad_cam", model, images)
    >>> scores.shape, bool((scores >= 0).all())
    (torch.Size([1, 4]), True)
    """
    if chunk.backend.tokens is None:
        features, value = chunk.last_map()
        (gradient,) = torch.autograd.grad(value.sum(), features)
        return (gradient.mean(dim=(2, 3), keepdim=True) * features).sum(dim=1).clamp(min=0)
    inside = chunk.inside()
    attention = inside.attention[-1]
    (gradient,) = torch.autograd.grad(inside.value.sum(), attention)
    weight = chunk.class_row(gradient).mean(dim=-1, keepdim=True)
    return (weight * chunk.class_row(attention)).mean(dim=1).clamp(min=0)


# ----------------------------------------------------------------------------------------------------------- attention
def raw_attention(chunk: ImageChunk, *, layer: int = -1) -> Tensor:
    """Attention of the class token in one block, on average over heads: E_n of its row of A_b (Jain & Wallace 2019).

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained.
    layer : int, default -1
        Which block b, from 0; -1: the last.

    Returns
    -------
    Tensor
        [R, P], in [0, 1].

    Raises
    ------
    InputError
        Where there is no such layer.
    ModelError
        Where the prediction is not read from a class token.

    Notes
    -----
    Target and output have no effect. Cost: one forward row per image.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> _ = [torch.nn.init.zeros_(weight) for weight in model.parameters()]
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> attribute("raw_attention", model, images)  # weights of 0: a fifth for the class token and for each patch
    tensor([[0.2000, 0.2000, 0.2000, 0.2000]])
    """
    with torch.no_grad():
        attention = chunk.inside().attention
    if not -len(attention) <= layer < len(attention):
        raise InputError(f"layer {layer}: this model has layers 0 to {len(attention) - 1} (or -{len(attention)} to -1)")
    return chunk.class_row(attention[layer]).mean(dim=1)


def rollout(chunk: ImageChunk, *, start_layer: int = 0) -> Tensor:
    """Attention rollout: the class token's row of A'_B ... A'_1, A'_b = (E_n A_b + I) / 2.

    Abnar & Zuidema 2020, Eq. 1.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained.
    start_layer : int, default 0
        Blocks before this one (from 0) are left out; the released ViT evaluation of Chefer et al. starts at 1.

    Returns
    -------
    Tensor
        [R, P], in [0, 1].

    Raises
    ------
    ModelError
        Where the prediction is not read from a class token.
    InputError
        Where there is no such layer.

    Notes
    -----
    E_n is the mean over heads; rows are brought to the sum 1 again. Target and output have no effect. Cost: one forward
    row per image.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> _ = [torch.nn.init.zeros_(weight) for weight in model.parameters()]
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> attribute("rollout", model, images)  # weights of 0: half of a fifth each
    tensor([[0.1000, 0.1000, 0.1000, 0.1000]])
    """
    with torch.no_grad():
        attention = _from_layer(chunk.inside().attention, start_layer)
    maps = [_with_residual(a.mean(dim=1)) for a in attention]
    return chunk.class_row(*(m / m.sum(dim=-1, keepdim=True) for m in maps))


def transformer_mm(chunk: ImageChunk, *, layers: str = "all") -> Tensor:
    """Attention times its gradient, carried through all blocks (Chefer et al., ICCV 2021, Eq. 5-6).

    The class token's row of R, where R = I, then R <- R + E_n (dF/dA_b * A_b)+ R for b = 1 ... B.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.
    layers : {"all", "last"}, default "all"
        "last" takes the last block alone: attention times its gradient, row 3 of Table 1 of Wu et al. 2024.

    Returns
    -------
    Tensor
        [R, P], at least 0.

    Raises
    ------
    ModelError
        Where the prediction is not read from a class token.
    UnknownNameError
        For other layers.

    Notes
    -----
    F: the logit by default, as theirs. Cost: one forward and one backward row per image.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> scores = attribute("transformer_mm", model, images)
    >>> scores.shape, bool((scores >= 0).all())
    (torch.Size([1, 4]), True)
    """
    check_known("layers", layers, ("all", "last"))
    inside = chunk.inside()
    attention = inside.attention if layers == "all" else inside.attention[-1:]
    gradients = torch.autograd.grad(inside.value.sum(), attention)
    return chunk.class_row(*map(_positive_part_with_residual, gradients, attention))


def attcat(chunk: ImageChunk, *, queries: str = "all") -> Tensor:
    """Attentive class activation tokens (AttCAT, Qiang et al. 2022).

    Sum over blocks b of E_n(alpha_b,i) * sum_d (dF/dh_b * h_b)_i,d, with h_b the tokens that enter block b and
    alpha_b,i the attention that token i receives in it.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.
    queries : {"all", "class"}, default "all"
        alpha on average over all tokens ("all"), or from the class token ("class"). The released code has the first,
        which settles what an alpha of one index means.

    Returns
    -------
    Tensor
        [R, P], signed.

    Raises
    ------
    ModelError
        With "class", where the prediction is not read from a class token.
    UnknownNameError
        For other queries.

    Notes
    -----
    In a ViT with LayerNorm before attention the last block adds nothing: what a patch's token sends from there has
    passed the norm, and stretching the token changes none of it. F: the logit by default, as theirs. Cost: one forward
    and one backward row per image.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> bool(attribute("attcat", model, images).abs().max() < 1e-3)  # the last block, here the only one, adds nothing
    True
    """
    check_known("queries", queries, ("all", "class"))
    inside = chunk.inside()
    gradients = torch.autograd.grad(inside.value.sum(), inside.tokens)
    total = torch.zeros_like(chunk.patches(gradients[0][..., 0]))
    for attention, tokens, gradient in zip(inside.attention, inside.tokens, gradients, strict=True):
        received = chunk.patches(attention.mean(dim=2)) if queries == "all" else chunk.class_row(attention)
        total = total + received.mean(dim=1) * chunk.patches((gradient * tokens).sum(dim=-1))
    return total


# ----------------------------------------------------------------------------------------------------------- relevance
def lrp(chunk: ImageChunk) -> Tensor:
    """Layer-wise relevance propagation from the target's logit to the pixels, summed over channels.

    Bach et al. 2015; Binder et al. 2016.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.

    Returns
    -------
    Tensor
        [R, H, W], signed.

    Raises
    ------
    ModelError
        For an operation without a rule.

    Notes
    -----
    Rules: `faithlib.attribution._relevance.lrp_rules`. Relevance that ends in class token and positions, or at outputs
    without a positive contribution, is not in the map. Cost: one forward and one backward row per image, with the
    rules' extra products.

    **The map of a single image is decided by rounding.** The rule for products of two activations divides by sums that
    nearly cancel, layer after layer. Pixels changed by a millionth, or a processor with other instructions, may give
    another map, also in double precision: on 120 images of vision transformers SaCo of two such maps differed by .30
    on average, where two unrelated maps differ by .38. Report means over many images, and rely on no map of one.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> attribute("lrp", model, images).shape
    torch.Size([1, 4])
    """
    pixels = chunk.pixels()
    with eager_attention(chunk.backend.model), lrp_rules():
        value = chunk.value(pixels)
    (relevance,) = torch.autograd.grad(value.sum(), pixels)
    return relevance.sum(dim=1)


def partial_lrp(chunk: ImageChunk, *, variant: str = "paper") -> Tensor:
    """Layer-wise relevance propagation that stops at the last block's attention map (Voita et al. 2019).

    E_n of the class token's row of the relevance of A_B, as Chefer et al. (CVPR 2021) apply it to ViTs.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.
    variant : {"paper", "released"}, default "paper"
        "released": each head's relevance is clamped at 0 before the mean, as in the released code of Chefer et al.;
        "paper": nothing is clamped.

    Returns
    -------
    Tensor
        [R, P], signed.

    Raises
    ------
    ModelError
        For an operation without a rule, and where the prediction is not read from a class token.
    UnknownNameError
        For another variant.

    Notes
    -----
    Cost: one forward row and the backward pass to the last block.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> attribute("partial_lrp", model, images).shape
    torch.Size([1, 4])
    """
    check_known("variant of partial_lrp", variant, VARIANTS)
    with lrp_rules():
        inside = chunk.inside()
    (relevance,) = torch.autograd.grad(inside.value.sum(), inside.attention[-1])
    return chunk.class_row(relevance.clamp(min=0) if variant == "released" else relevance).mean(dim=1)


def transformer_attribution(chunk: ImageChunk, *, start_layer: int = 0) -> Tensor:
    """Relevance times gradient of attention, carried through all blocks (Chefer et al., CVPR 2021, Eq. 13-14).

    The class token's row of A'_B ... A'_1, A'_b = I + E_n (dF/dA_b * R_b)+, with R_b the relevance of A_b and F the
    target's logit.

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.
    start_layer : int, default 0
        Blocks before this one (from 0) are left out; the released ViT evaluation starts at 1.

    Returns
    -------
    Tensor
        [R, P], at least 0.

    Raises
    ------
    ModelError
        For an operation without a rule, and where the prediction is not read from a class token.
    InputError
        Where there is no such layer.

    Notes
    -----
    The product is written in the order of rollout, so that its row is the class token's, as in the released code; rows
    are not normalised. Cost: two forward and two backward rows per image, one pair with the rules' extra products.

    The relevance is that of `lrp`, whose rounding it inherits in part: pixels changed by a millionth, or another
    processor, moved SaCo of single images by up to .11 (of 120).

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> scores = attribute("transformer_attribution", model, images)
    >>> scores.shape, bool((scores >= 0).all())
    (torch.Size([1, 4]), True)
    """
    gradients = _carried_to_attention(chunk.inside(), start_layer)
    with lrp_rules():
        ruled = chunk.inside()
    relevances = _carried_to_attention(ruled, start_layer)
    return chunk.class_row(*map(_positive_part_with_residual, gradients, relevances))


def conservative_lrp(chunk: ImageChunk) -> Tensor:
    """Token times gradient, with attention weights and LayerNorm's divisors held constant (Ali et al. 2022).

    sum_d h_i,d dF/dh_i,d for the tokens h that enter the first block and the target's logit F (section 4: AH- and
    LN-rule).

    Parameters
    ----------
    chunk : ImageChunk
        The images that are explained, and what of them.

    Returns
    -------
    Tensor
        [R, P], signed.

    Raises
    ------
    ModelError
        For fused attention, and for norms that the LN-rule does not cover.

    Notes
    -----
    Cost: one forward and one backward row per image.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import ImageInputs
    >>> from timm.models import VisionTransformer
    >>> sizes = {"img_size": 4, "patch_size": 2, "embed_dim": 4, "depth": 1, "num_heads": 1, "num_classes": 2}
    >>> model = VisionTransformer(**sizes).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 4, 4), patch=2)
    >>> attribute("conservative_lrp", model, images).shape
    torch.Size([1, 4])
    """
    with conservative_rules():
        inside = chunk.inside()
    tokens = inside.tokens[0]
    (gradient,) = torch.autograd.grad(inside.value.sum(), tokens)
    return chunk.patches((tokens * gradient).sum(dim=-1))


def _with_residual(attention: Tensor) -> Tensor:
    return attention + torch.eye(attention.shape[-1], dtype=attention.dtype, device=attention.device)


def _positive_part_with_residual(gradient: Tensor, weighted: Tensor) -> Tensor:
    """I + E_n (gradient * weighted)+, [R, L, L] from [R, N, L, L]."""
    return _with_residual((gradient * weighted).clamp(min=0).mean(dim=1))


def _carried_to_attention(inside: Inside, start_layer: int) -> tuple[Tensor, ...]:
    """What the graph's backward carries to each block's attention map: gradients, or relevance."""
    return torch.autograd.grad(inside.value.sum(), _from_layer(inside.attention, start_layer))


def _from_layer(attention: list[Tensor], start_layer: int) -> list[Tensor]:
    if not 0 <= start_layer < len(attention):
        raise InputError(f"start_layer {start_layer}: this model has layers 0 to {len(attention) - 1}")
    return attention[start_layer:]
