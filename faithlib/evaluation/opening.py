"""What a caller of `evaluate` or `explain` holds, as what the library measures with: model, inputs, methods by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor, nn

from faithlib.attribution import Row
from faithlib.attribution.registry import KIND_OF
from faithlib.backends import PromptClassifier
from faithlib.backends.functions import Remembering
from faithlib.errors import InputError
from faithlib.inputs import Inputs, TextInputs, WordInputs

DEFAULT_METHODS = {
    "text": ("input_x_gradient", "integrated_gradients", "saliency", "lime", "occlusion", "random"),
    "image": ("integrated_gradients", "grad_cam", "transformer_attribution", "rollout", "random"),
    "words": ("lime", "occlusion", "random"),
}


def opened(
    model: Any, inputs: Inputs | Sequence[str] | Sequence[tuple[str, str]], tokenizer: Any
) -> tuple[Any, Inputs]:
    """The model, a function of texts as one that remembers; the inputs on its device, made of plain texts where they
    are such.

    >>> opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"], None)[1].texts
    ['good film']
    """
    if not callable(model):
        raise InputError(
            f"model is a {type(model).__name__}: expected a torch module or a function; of an object that holds one "
            "beside its tokenizer give both, evaluate(it.model, texts, tokenizer=it.tokenizer)"
        )
    if not isinstance(model, nn.Module):
        if not isinstance(inputs, Inputs):
            inputs = WordInputs.from_texts(cast(Sequence[str], inputs))
        return Remembering(model) if isinstance(inputs, WordInputs) else model, inputs
    device = next(model.parameters()).device
    if isinstance(inputs, Inputs):
        return model, inputs.to(device)
    if isinstance(model, PromptClassifier):
        return model, model.inputs(cast(Sequence[str], inputs)).to(device)
    if tokenizer is None:
        raise InputError(
            f"inputs are {type(inputs).__name__}: expected TextInputs or ImageInputs; for plain texts give the model's "
            "tokenizer as well, evaluate(model, texts, tokenizer=tokenizer)"
        )
    return model, TextInputs.from_texts(inputs, tokenizer, unit="word").to(device)


def named_methods(
    methods: Sequence[str | Row] | Mapping[str, str | Row | Tensor] | None, inputs: Inputs
) -> dict[str, Row | Tensor]:
    """Rows and scores by name.

    >>> from faithlib.inputs import WordInputs

    >>> sorted(named_methods(None, WordInputs.from_texts(["good film"])))
    ['lime', 'occlusion', 'random']
    """
    if methods is None:
        methods = DEFAULT_METHODS[KIND_OF[type(inputs)]]
    if isinstance(methods, str) or not methods:
        raise InputError(f"methods {methods!r}: expected at least one, as in ['saliency', 'lime']")
    if not isinstance(methods, Mapping):
        methods = {what if isinstance(what, str) else what.name: what for what in methods}
    return {name: Row(what) if isinstance(what, str) else what for name, what in methods.items()}
