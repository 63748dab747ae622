"""Attributions from attention maps: how much the position that the prediction is read from attends to each token.

That is [CLS] in an encoder, the last token in a decoder; written [CLS] below.

Each function answers [R, L]; positions that are no feature are dropped later, and what is left is not renormalised.
Fused attention kernels return no maps, so the model's attention is written out ("eager") for the call and put back.

Shape letters: R rows of one chunk, L tokens, H heads.
"""

from contextlib import ExitStack
from functools import reduce

import torch
from torch import Tensor

from faithlib.attribution._target import Chunk, eager_attention
from faithlib.backends.pixels import keeping_maps
from faithlib.errors import InputError, ModelError, check_known

VARIANTS = ("paper", "released")


def attention(chunk: Chunk, *, layer: int = -1) -> Tensor:
    """Attention from [CLS] to each position in one layer, on average over heads (Jain et al. 2020).

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained.
    layer : int, default -1
        Which layer, from 0; -1: the last.

    Returns
    -------
    Tensor
        [R, L], in [0, 1], at most 1 in sum.

    Raises
    ------
    ModelError
        Where the model gives no attention maps.
    InputError
        Where it has no such layer.

    Notes
    -----
    Says nothing about any class: target and output have no effect. Cost: one forward row per input.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> _ = [torch.nn.init.zeros_(weight) for weight in model.parameters()]
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> attribute("attention", model, texts)  # weights of 0: each of the four tokens gets a quarter
    tensor([[0.2500, 0.2500]])
    """
    with torch.no_grad():
        return _row(chunk, _map(chunk, chunk.embeddings(), layer)[0]).mean(dim=1)


def scaled_attention(chunk: Chunk, *, layer: int = -1, variant: str = "paper") -> Tensor:
    """Attention times its own gradient: mean over heads of a_i * dF/da_i, [CLS] row (Serrano & Smith 2019).

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained, and what of them.
    layer : int, default -1
        Which layer, from 0; -1: the last.
    variant : {"paper", "released"}, default "paper"
        "released": the square of the head-mean attention, as the released code of Zhao & Aletras 2023 multiplies
        attention by attention (PAPERS.md, D6); it orders features exactly as `attention` does.

    Returns
    -------
    Tensor
        [R, L], signed.

    Raises
    ------
    ModelError, InputError
        As `attention`.
    UnknownNameError
        For another variant.

    Notes
    -----
    Cost: one forward row and the backward pass down to `layer`.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> _ = [torch.nn.init.zeros_(weight) for weight in model.parameters()]
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> attribute("scaled_attention", model, texts, variant="released")  # weights of 0: a quarter each, squared
    tensor([[0.0625, 0.0625]])
    """
    check_known("variant of scaled_attention", variant, VARIANTS)
    if variant == "released":
        return attention(chunk, layer=layer).square()
    weights, value = _map(chunk, chunk.embeddings(), layer)
    (gradient,) = torch.autograd.grad(value.sum(), weights)
    return _row(chunk, weights * gradient).mean(dim=1).detach()


def rollout(chunk: Chunk, *, sink: str = "keep") -> Tensor:
    """Attention rollout: the [CLS] row of the product over layers of (A + I) / 2, A the mean over heads.

    Abnar & Zuidema 2020.

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained.
    sink : {"keep", "drop"}, default "keep"
        Decoders give most attention to their first token, whatever it is. "keep" it, as the paper does, or "drop" it.
        Then attention to the first token is set to 0 and every row renormalised before the product. Where that token is
        a feature its score is then what it passes on to itself.

    Returns
    -------
    Tensor
        [R, L], in [0, 1].

    Raises
    ------
    ModelError
        As `attention`, and for sink "drop" where the prediction is read from the first token.
    UnknownNameError
        For another sink.

    Notes
    -----
    Target and output have no effect. Cost: one forward row per input.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> _ = [torch.nn.init.zeros_(weight) for weight in model.parameters()]
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> attribute("rollout", model, texts)  # weights of 0: half of a quarter each
    tensor([[0.1250, 0.1250]])
    """
    check_known("sink of rollout", sink, ("keep", "drop"))
    if sink == "drop" and chunk.backend.family.reads != "last":
        raise ModelError(f"this {type(chunk.backend.model).__name__} reads its first token: use sink='keep'")
    with torch.no_grad():
        fused = [layer.mean(dim=1) for layer in _maps(chunk, chunk.embeddings())[0]]
        if sink == "drop":
            fused = [_without_sink(layer) for layer in fused]
        itself = torch.eye(fused[0].shape[1], dtype=fused[0].dtype, device=fused[0].device)
        joint = reduce(lambda below, layer: layer @ below, [(layer + itself) / 2 for layer in fused])
        return _row(chunk, joint[:, None])[:, 0]


def _without_sink(layer: Tensor) -> Tensor:
    """A map [R, L, L] whose rows give nothing to the first token, except its own, and add up to 1 again."""
    layer[:, 1:, 0] = 0
    return layer / layer.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(layer.dtype).tiny)


def _row(chunk: Chunk, maps: Tensor) -> Tensor:
    """What the position that the prediction is read from has in maps [R, H, L, L]: [R, H, L]; of a continuation of
    several tokens the mean over theirs."""
    backend, first = chunk.backend, chunk.backend.read_from(chunk.rows)
    follows = backend.inputs.follows
    if follows is None or not backend.read_ahead:
        return maps[torch.arange(len(maps)), :, first]
    asked = backend.model.asked(follows[chunk.rows])[:, 0]
    places = first[:, None] + torch.arange(asked.shape[1], device=first.device)
    rows = maps[torch.arange(len(maps))[:, None], :, places.clamp(max=maps.shape[2] - 1)]
    mean: Tensor = rows.mul(asked[..., None, None]).sum(dim=1)[..., : chunk.length] / asked.sum(dim=1)[:, None, None]
    return mean


def _map(chunk: Chunk, embeddings: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    """The attention map [R, H, L, L] of a layer and the explained number [R], in one forward."""
    maps, value = _maps(chunk, embeddings)
    if not -len(maps) <= layer < len(maps):
        raise InputError(f"layer {layer}: this model has attention layers 0 to {len(maps) - 1} (or -{len(maps)} to -1)")
    return maps[layer], value


def _maps(chunk: Chunk, embeddings: Tensor) -> tuple[list[Tensor], Tensor]:
    """The attention maps [R, H, L, L] of all layers and the explained number [R], in one forward."""
    chunk.backend.read_from(chunk.rows)  # said before anything runs: there may be no such position
    maps: list[Tensor] = []
    keep = keeping_maps(maps, lambda: (len(chunk.rows), chunk.length + chunk.backend.read_ahead))
    with eager_attention(chunk.backend.model, returned=True), ExitStack() as stack:
        for module in chunk.backend.base.modules():
            stack.callback(module.register_forward_hook(keep).remove)
        value = chunk.value(embeddings)
    if not maps:
        raise ModelError(
            f"{type(chunk.backend.model).__name__} gives no attention maps: expected a transformer whose attention "
            "modules return them with attn_implementation='eager'"
        )
    return maps, value
