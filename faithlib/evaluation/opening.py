"""What a caller of `evaluate` or `explain` holds, as what the library measures with: model, inputs, methods by name.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.attribution import Row
from faithlib.attribution.registry import KIND_OF
from faithlib.attribution.target import target_classes
from faithlib.backends import PromptClassifier
from faithlib.backends.functions import Remembering
from faithlib.backends.labels import class_index
from faithlib.backends.vocabulary import note_tokenizer
from faithlib.backends.wrappers import unwrapped
from faithlib.errors import InputError
from faithlib.evaluation.images import are_images, check_pixels, inputs_of_images, inputs_of_pixels
from faithlib.inputs import ImageInputs, Inputs, Span, TextInputs, WordInputs
from faithlib.units import broken, listed, some_rows

DEFAULT_METHODS = {
    "text": ("input_x_gradient", "integrated_gradients", "saliency", "lime", "occlusion", "random"),
    "image": ("integrated_gradients", "grad_cam", "transformer_attribution", "rollout", "random"),
    "words": ("lime", "occlusion", "random"),
}
_MOST_TOKENS = 512  # where the caller does not say
RAISE, SKIP = ON_ERROR = ("raise", "skip")


@dataclass(frozen=True)
class Opened:
    """What is measured: a model (a function of texts as one that remembers) and inputs on its device.

    `total`: inputs that the caller gave. `rows`: the caller's row of each that is used; `skipped`: why the others are
    not. `limit`: tokens that a text was cut to, None where that is not known.

    >>> opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", None], on_error="skip").skipped
    {1: 'text 1 is None: expected a string'}
    """

    model: Any
    inputs: Inputs
    total: int
    rows: tuple[int, ...]
    skipped: dict[int, str] = field(default_factory=dict)
    limit: int | None = None
    on_error: str = RAISE

    @property
    def truncated(self) -> list[int]:
        """The caller's rows of texts whose end was cut off."""
        cut = self.inputs.truncated.tolist() if isinstance(self.inputs, TextInputs) else []
        return [row for row, is_cut in zip(self.rows, cut, strict=False) if is_cut]

    def classes(self, target: Any) -> Tensor | None:
        """The class [B] that is explained of the inputs used; None for the predicted.

        >>> opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"]).classes(1)
        tensor([1])
        """
        classes = target_classes(class_index(target, self.model), self.total)
        return None if classes is None else classes[list(self.rows)]

    def of_rows(self, values: Any, what: str, dtype: torch.dtype = torch.float32) -> Tensor:
        """Values [B, F] of the inputs used out of what a caller holds for all: a tensor, an array, or ragged lists with
        one value for each feature.

        >>> both = opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "good"])
        >>> both.of_rows([[0.2, 0.3], [0.1]], "scores")
        tensor([[0.2000, 0.3000],
                [0.1000, 0.0000]])
        """
        mask = self.inputs.feature_mask
        sizes, width = mask.sum(dim=1).tolist(), mask.shape[1]
        if hasattr(values, "ndim") and values.ndim == 2:
            whole = torch.as_tensor(values)
            if len(self.rows) < self.total == len(whole) and whole.shape[1] >= width:
                return whole[list(self.rows), :width]
            return whole
        if not isinstance(values, Sequence) or len(values) != self.total:
            shape = list(values.shape) if hasattr(values, "shape") else f"a {type(values).__name__}"
            raise InputError(f"{what}: {shape}; expected [B, F] = {[self.total, width]}, or {self.total} lists")
        table = torch.zeros(len(sizes), width, dtype=dtype)
        for b, (row, size) in enumerate(zip(self.rows, sizes, strict=True)):
            try:
                own = torch.as_tensor(values[row])
            except (TypeError, ValueError, RuntimeError) as error:
                raise InputError(f"{what} of input {row}: expected numbers, got {values[row]!r}") from error
            if own.ndim != 1 or len(own) not in (size, width):
                raise InputError(f"{what} of input {row}: {list(own.shape)} values, expected {size}, one per feature")
            table[b, : len(own)] = own.to(dtype)
        return table


def opened(
    model: Any,
    inputs: Any,
    tokenizer: Any = None,
    *,
    processor: Any = None,
    unit: str | int | None = None,
    spans: Sequence[Sequence[Span]] | None = None,
    max_length: int | None = None,
    on_error: str = RAISE,
) -> Opened:
    """The model, and inputs made of what the caller holds; arguments and errors as `evaluate`.

    >>> opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"]).inputs.texts
    ('good film',)
    """
    if on_error not in ON_ERROR:
        raise InputError(f"on_error {on_error!r}: expected 'raise' or 'skip'")
    model, tokenizer = _model_of(model, tokenizer if tokenizer is not None else processor)
    inside = unwrapped(model)
    device = next(inside.parameters()).device if isinstance(inside, nn.Module) else None
    limit = None
    skipped: dict[int, str] = {}
    if isinstance(inputs, Inputs):
        if any(given is not None for given in (unit, spans, max_length)):
            raise InputError(f"unit, spans, max_length: {type(inputs).__name__} are cut already; give plain texts")
        total, rows = len(inputs), list(range(len(inputs)))
    elif getattr(inputs, "ndim", 0) == 4 and "float" in str(inputs.dtype):
        inputs = inputs_of_pixels(inputs, inside, _patch(unit))
        total, rows = len(inputs), list(range(len(inputs)))
    else:
        items = listed(inputs)
        total = len(items)
        if are_images(items, inside):
            make = _maker_of_images(items, inside, tokenizer, unit)
        else:
            skipped = broken(items) if on_error == SKIP else {}
            limit = _limit(inside, tokenizer, max_length)
            make = _maker_of_texts(items, inside, tokenizer, unit or "word", spans, limit)
        rows, inputs = _made(make, [row for row in range(total) if row not in skipped], skipped, on_error)
    if isinstance(inputs, ImageInputs):
        check_pixels(inputs, inside)
    if isinstance(inputs, WordInputs) and not isinstance(model, nn.Module | Remembering):
        model = Remembering(model)
    whole = Opened(model, inputs if device is None else inputs.to(device), total, tuple(rows), skipped, limit, on_error)
    if cut := whole.truncated:
        to = "" if limit is None else f" to {limit} tokens; max_length= raises that up to the model's own limit"
        told = f"{len(cut)} of {total} texts were cut off at their end{to} (rows {some_rows(cut)})"
        warnings.warn(f"{told}. What is cut off is not explained: table.attrs['truncated']", stacklevel=3)
    return whole


def _model_of(model: Any, tokenizer: Any) -> tuple[Any, Any]:
    """A model that can be called, and what makes inputs for it; both of a pipeline where it is one."""
    if hasattr(model, "task") and isinstance(getattr(model, "model", None), nn.Module):  # a pipeline of transformers
        own = getattr(model, "tokenizer", None) or getattr(model, "image_processor", None)
        return model.model, tokenizer if tokenizer is not None else own
    if isinstance(model, str):
        raise InputError(
            f"model is the string {model!r}: load it first, "
            "AutoModelForSequenceClassification.from_pretrained(...).eval(), or python -m faithlib evaluate"
        )
    if not callable(model) and callable(getattr(model, "predict_proba", None)):  # of scikit-learn
        return model.predict_proba, tokenizer
    if not callable(model):
        raise InputError(
            f"model is a {type(model).__name__}: expected a torch module or a function; of an object that holds one "
            "beside its tokenizer give both, evaluate(it.model, texts, tokenizer=it.tokenizer)"
        )
    return model, tokenizer


def _limit(model: Any, tokenizer: Any, max_length: int | None) -> int | None:
    """Tokens that a text may have: those asked for, at most as many as model and tokenizer take."""
    if not isinstance(model, nn.Module):
        if max_length is not None:
            raise InputError("max_length: a function of texts reads them whole; leave it away")
        return None
    if max_length is not None and max_length < 1:
        raise InputError(f"max_length {max_length}: expected at least 1")
    tokenizer = getattr(model, "tokenizer", None) if tokenizer is None else tokenizer
    own = [most_tokens_of(model), getattr(tokenizer, "model_max_length", None)]
    return min([_MOST_TOKENS if max_length is None else max_length, *(most for most in own if most)])


def most_tokens_of(model: Any) -> int | None:
    """Positions that a model has, those that RoBERTa's kind keeps for padding left out; None where it says nothing.

    >>> from transformers import RobertaConfig, RobertaForSequenceClassification
    >>> sizes = {"vocab_size": 9, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1}
    >>> most_tokens_of(RobertaForSequenceClassification(RobertaConfig(**sizes, max_position_embeddings=20)))
    18
    """
    places = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    if not isinstance(places, int) or places < 1:
        return None
    with_places = (module for module in model.modules() if hasattr(module, "position_embeddings"))
    padding = [m.padding_idx for m in with_places if isinstance(getattr(m, "padding_idx", None), int)]
    return places - (padding[0] + 1 if padding else 0)


def _maker_of_texts(
    items: Sequence[Any], model: Any, tokenizer: Any, unit: Any, spans: Any, limit: int | None
) -> Callable[[list[int]], Inputs]:
    """What makes inputs of some of the texts."""
    if spans is not None and len(spans) != len(items):
        raise InputError(f"{len(spans)} lists of spans for {len(items)} texts: expected one for each text")
    if isinstance(model, nn.Module) and not isinstance(model, PromptClassifier) and tokenizer is None:
        raise InputError(
            f"inputs are {type(items).__name__}: expected TextInputs or ImageInputs; for plain texts give the model's "
            "tokenizer as well, evaluate(model, texts, tokenizer=tokenizer)"
        )

    if isinstance(model, nn.Module):
        note_tokenizer(model, getattr(model, "tokenizer", None) if tokenizer is None else tokenizer)

    def make(rows: list[int]) -> Inputs:
        texts = [items[row] for row in rows]
        words = None if spans is None else [[(start, end) for start, end in spans[row]] for row in rows]
        given: dict[str, Any] = {"words": words, "unit": unit if spans is None else "wordpiece"}
        if isinstance(model, PromptClassifier):
            return model.inputs(texts, max_length=limit, **given)
        if isinstance(model, nn.Module):
            return TextInputs.from_texts(texts, tokenizer, max_length=limit, **given)
        return WordInputs.from_texts(texts, words=words, unit=unit)

    return make


def _maker_of_images(items: Sequence[Any], model: Any, processor: Any, unit: Any) -> Callable[[list[int]], Inputs]:
    def make(rows: list[int]) -> Inputs:
        return inputs_of_images([items[row] for row in rows], model, processor, _patch(unit))

    return make


def _patch(unit: Any) -> int | None:
    if unit is not None and not isinstance(unit, int):
        raise InputError(f"unit {unit!r}: of images expected the side of a square patch in pixels")
    return unit


def _made(
    make: Callable[[list[int]], Inputs], rows: list[int], skipped: dict[int, str], on_error: str
) -> tuple[list[int], Inputs]:
    """Inputs of the rows, or where some may be skipped of those that can be made, the reasons of the others noted."""
    if not rows:
        raise InputError(f"no input is left: {'; '.join(list(skipped.values())[:3])}")
    try:
        return rows, make(rows)
    except InputError:
        if on_error == RAISE:
            raise
        wrong = {}
        for row in rows:
            try:
                make([row])
            except InputError as error:
                wrong[row] = str(error).replace(" 0 ", f" {row} ", 1)
        if len(wrong) in (0, len(rows)):
            raise
        skipped |= wrong
        left = [row for row in rows if row not in wrong]
        return left, make(left)


def named_methods(methods: Iterable[str | Row] | Mapping[str, Any] | None, whole: Opened) -> dict[str, Row | Tensor]:
    """Rows and scores by name.

    >>> sorted(named_methods(None, opened(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"])))
    ['lime', 'occlusion', 'random']
    """
    if methods is None:
        methods = DEFAULT_METHODS[KIND_OF[type(whole.inputs)]]
    methods = methods if isinstance(methods, Mapping | str) else list(methods)
    if isinstance(methods, str) or not methods:
        raise InputError(f"methods {methods!r}: expected at least one, as in ['saliency', 'lime']")
    if not isinstance(methods, Mapping):
        methods = {what if isinstance(what, str) else what.name: what for what in methods}
    made: dict[str, Row | Tensor] = {}
    for name, what in methods.items():
        what = Row(what) if isinstance(what, str) else what
        made[str(name)] = what if isinstance(what, Row) else whole.of_rows(what, f"scores of {name!r}")
    return made
