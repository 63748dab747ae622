"""One door to all attribution methods: names, options, aggregation, pooling, checks.

What a method does is said at its function; `attribute` does what they share. Shape letters: B inputs, L tokens, D
embedding size, F features.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.attribution import attention, deeplift, floors, gradient, perturbation
from faithlib.attribution.explained import OUTPUTS, chunks, target_classes, undisturbed
from faithlib.backends import TextBackend
from faithlib.errors import InputError, unknown
from faithlib.inputs import TextInputs

AGGREGATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "l2": lambda x: x.norm(dim=-1),
    "mean": lambda x: x.mean(dim=-1),
    "sum": lambda x: x.sum(dim=-1),
    "abs_sum": lambda x: x.sum(dim=-1).abs(),
}
POOLS = ("sum", "mean")

# A backward pass keeps every layer's activations: small chunks on a processor are also the fastest.
_MOST_TOKENS = {"cpu": 2048, "cuda": 1 << 15}


@dataclass(frozen=True)
class Method:
    """A function and what it answers.

    `answers`: "elements" [R, L, D] of a chunk, "positions" [R, L] of a chunk, "floor" [B, L] of the inputs alone,
    "features" [B, F] of erased copies. `aggregation`: the default over D, for elements.
    """

    run: Callable[..., Tensor]
    answers: str
    aggregation: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The options that it takes beside those of every method."""
        own = [p.name for p in inspect.signature(self.run).parameters.values() if p.kind is p.KEYWORD_ONLY]
        extra = {"elements": ["max_tokens"], "positions": ["max_tokens"], "features": ["erase", "perturber"]}
        return (*own, *extra.get(self.answers, []))


METHODS: dict[str, Method] = {
    "attention": Method(attention.attention, "positions"),
    "scaled_attention": Method(attention.scaled_attention, "positions"),
    "input_x_gradient": Method(gradient.input_x_gradient, "elements", "abs_sum"),
    "integrated_gradients": Method(gradient.integrated_gradients, "elements", "sum"),
    "deeplift": Method(deeplift.deeplift, "elements", "sum"),
    "saliency": Method(gradient.saliency, "elements", "l2"),
    "guided_backprop": Method(gradient.guided_backprop, "elements", "l2"),
    "activation": Method(gradient.activation, "elements", "l2"),
    "lime": Method(perturbation.lime, "features"),
    "occlusion": Method(perturbation.occlusion, "features"),
    "shapley_sampling": Method(perturbation.shapley_sampling, "features"),
    "random": Method(floors.random, "floor"),
    "uniform": Method(floors.uniform, "floor"),
}


def methods() -> tuple[str, ...]:
    """The names of all methods.

    >>> methods()[:3]
    ('attention', 'scaled_attention', 'input_x_gradient')
    """
    return tuple(METHODS)


def attribute(
    name: str,
    model: nn.Module | None,
    inputs: TextInputs,
    *,
    target: str | int | Tensor | list[int] | tuple[int, ...] = "predicted",
    output: str = "probability",
    aggregation: str | None = None,
    pool: str = "sum",
    **options: Any,
) -> Tensor:
    """Scores of every feature, float32 [B, F], 0 at places beyond an input's features; higher = matters more.

    What is explained: `output` "probability" (softmax), "logit", or "loss" (log p, the cross entropy with its sign
    turned) of `target`: the "predicted" class, a class index, or one a input (gold labels). Larger always supports the
    target. Gradients, attention and baselines act on the embedding output, after positions, types and LayerNorm.

    | method | default aggregation | own options |
    | --- | --- | --- |
    | attention | - | layer |
    | scaled_attention | - | layer, variant "paper" / "released" |
    | input_x_gradient | abs_sum | - |
    | integrated_gradients | sum | baseline, keep_protected, n_steps, internal_batch_size |
    | deeplift | sum | baseline, keep_protected, rules "rescale" / "captum" |
    | saliency | l2 | - |
    | guided_backprop | l2 | variant "paper" / "released" |
    | activation | l2 | - |
    | lime | - | n_samples, surrogate, alpha, kernel_width, seed, erase, perturber |
    | occlusion | - | erase, perturber |
    | shapley_sampling | - | n_samples, seed, erase, perturber |
    | random | - | seed, distribution |
    | uniform | - | - |

    `aggregation` over D, for methods with one score an embedding element: "l2", "mean", "sum", "abs_sum" (|sum|).
    `pool` from positions to features, after it: "sum" or "mean" over a feature's positions; methods that erase score
    features as wholes and pool nothing. `max_tokens` (methods with a forward of their own): positions a forward; the
    scores do not depend on it, nor on the other inputs in the batch, their order, or padding.

    The model is run in evaluation mode and left as it was found: modes, `requires_grad`, attention implementation,
    hooks, gradients. random and uniform do not look at it and accept None. Scores are on the model's device.

    Raises UnknownNameError for an unknown method, option, target, output, aggregation or pool; InputError for values
    that cannot be used and where a method answers NaN or infinity; ModelError where the model lacks what it needs.
    """
    method = _checked(name, inputs, output, aggregation, pool, options)
    classes = target_classes(target, len(inputs))
    if method.answers == "floor":
        scores = _pooled(method.run(inputs, **options), inputs.to("cpu"), pool)
        scores = scores.to(inputs.input_ids.device if model is None else next(model.parameters()).device)
    elif model is None:
        raise InputError(f"{name} asks the model, and got None: only random and uniform go without")
    else:
        with undisturbed(model):
            if method.answers == "features":
                shared = {key: options.pop(key, None) for key in ("erase", "perturber")}
                scores = method.run(perturbation.Answers(model, inputs, classes, output, **shared), **options)
            else:
                scores = _from_chunks(method, model, inputs, classes, output, aggregation, pool, options)
    return _finite(name, scores.detach(), inputs)


def _checked(
    name: str, inputs: TextInputs, output: str, aggregation: str | None, pool: str, options: dict[str, Any]
) -> Method:
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    method = METHODS[name]
    if not isinstance(inputs, TextInputs):
        raise InputError(f"inputs are {type(inputs).__name__}: attributions of this registry explain TextInputs")
    if output not in OUTPUTS:
        raise unknown("output", output, OUTPUTS)
    if pool not in POOLS:
        raise unknown("pool", pool, POOLS)
    if aggregation is not None and method.aggregation is None:
        able = ", ".join(n for n, m in METHODS.items() if m.aggregation)
        raise InputError(
            f"aggregation {aggregation!r}: {name} has one score a position or feature, nothing to aggregate; "
            f"it applies to {able}"
        )
    if aggregation is not None and aggregation not in AGGREGATIONS:
        raise unknown("aggregation", aggregation, AGGREGATIONS)
    for option in options:
        if option not in method.options:
            raise unknown(f"option of {name}", option, (*method.options, "target", "output", "aggregation", "pool"))
    return method


def _from_chunks(
    method: Method,
    model: nn.Module,
    inputs: TextInputs,
    classes: Tensor | None,
    output: str,
    aggregation: str | None,
    pool: str,
    options: dict[str, Any],
) -> Tensor:
    backend = TextBackend(model, inputs)
    max_tokens = options.pop("max_tokens", None)
    if max_tokens is None:
        max_tokens = _MOST_TOKENS.get(backend.device.type, _MOST_TOKENS["cpu"])
    if max_tokens < 1:
        raise InputError(f"max_tokens {max_tokens}: expected at least 1")
    positions = torch.zeros(backend.inputs.input_ids.shape, device=backend.device)
    for chunk in chunks(backend, classes, output, max_tokens):
        scores = method.run(chunk, **options).detach().float()
        if method.aggregation is not None:
            scores = AGGREGATIONS[aggregation or method.aggregation](scores)
        positions[chunk.rows, : chunk.length] = scores
    return _pooled(positions, backend.inputs, pool)


def _pooled(positions: Tensor, inputs: TextInputs, pool: str) -> Tensor:
    """Scores of positions [B, L] to scores of features [B, F]; protected positions are dropped."""
    owned = inputs.feature_of >= 0
    index = inputs.feature_of.clamp(min=0)
    scores = positions.new_zeros(inputs.feature_mask.shape)
    scores.scatter_add_(1, index, torch.where(owned, positions, 0))
    if pool == "mean":
        scores /= torch.zeros_like(scores).scatter_add_(1, index, owned.to(scores.dtype)).clamp(min=1)
    return scores


def _finite(name: str, scores: Tensor, inputs: TextInputs) -> Tensor:
    mask = inputs.feature_mask.to(scores.device)
    bad = (~torch.isfinite(scores) & mask).any(dim=1)
    if bool(bad.any()):
        b = int(bad.nonzero()[0])
        begin = " ".join(inputs.tokens[b][:8]) if inputs.tokens else "no token strings"
        raise InputError(
            f"{name} gave NaN or infinite scores for {int(bad.sum())} of {len(bad)} inputs, first input {b} "
            f"({begin} ...): check the model's weights and outputs on it, and leave it out or use another method"
        )
    return torch.where(mask, scores, 0)
