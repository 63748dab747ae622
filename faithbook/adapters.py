"""Explanations that other packages made, as scores of our inputs: `scores_of(explanation, inputs)`, one call for all.

    scores = scores_of(shap.Explainer(f, masker)(texts), inputs, target=1)
    table = evaluate(model, inputs, methods={"theirs": scores, "random": "random"})

| package | what is taken |
| --- | --- |
| captum | the tensor of attributions: of embeddings [B, L, D], of positions [B, L], of pixels [B, C, H, W] |
| quantus | the array that `quantus.explain` answers: of pixels [B, C, H, W], [B, 1, H, W] or [B, H, W] |
| shap | an `Explanation` of texts, of pixels [B, H, W, C], of our features [B, F]; a last axis of outputs may follow |
| ferret | a list of `Explanation`s, one a text |
| inseq | a `FeatureAttributionOutput`: its source tokens, of a model without a source its prefix |

None of these packages is imported or needed here: an object is known by the package of its class. Tests ran
with captum 0.9.0, shap 0.51.0, quantus 0.6.0, ferret-xai 0.4.1 and inseq 0.7.1, which resolve beside the book's pins.
Tokens of others are laid over our features by their characters, whatever marks of word pieces they carry; a token that
covers several features, or characters that differ, are an error and no guess.

Shape letters: B inputs, L positions, D embedding size, F features, C channels, H and W pixels.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from faithlib.attribution.texts import AGGREGATIONS, POOLS, pooled
from faithlib.errors import InputError, unknown
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs

_SPECIAL = {"", "[CLS]", "[SEP]", "[PAD]", "[BOS]", "[EOS]", "<s>", "</s>", "<pad>", "<bos>", "<eos>"}
_PIECES = str.maketrans("", "", "Ġ▁Ċ")


def scores_of(
    explanation: Any,
    inputs: Inputs,
    *,
    target: int | Sequence[int] | Tensor | None = None,
    aggregation: str = "sum",
    pool: str = "sum",
) -> Tensor:
    """Scores [B, F], float32, of an explanation of these inputs by another package.

    - `target`: the class, one or one an input, where the explanation has scores for several outputs.
    - `aggregation` over the embedding: "sum", "mean", "l2", "abs_sum". `pool` from positions, tokens or pixels to
      features: "sum" or "mean".

    Raises InputError where the explanation is of other inputs, or of a kind that is not known; UnknownNameError for
    another aggregation or pool.

    >>> from faithlib.inputs import WordInputs
    >>> scores_of(torch.tensor([[0.2, 0.8]]), WordInputs.from_texts(["good film"]))
    tensor([[0.2000, 0.8000]])
    """
    if aggregation not in AGGREGATIONS:
        raise unknown("aggregation", aggregation, AGGREGATIONS)
    if pool not in POOLS:
        raise unknown("pool", pool, POOLS)
    first = explanation[0] if isinstance(explanation, list | tuple) and explanation else explanation
    package = type(first).__module__.partition(".")[0]
    if package == "ferret":
        several = [explanation] if first is explanation else list(explanation)
        rows = [(list(one.tokens), np.asarray(one.scores, dtype=float)) for one in several]
        return _by_tokens(rows, inputs, pool)
    if package == "inseq":
        return _by_tokens([_of_inseq(one, aggregation) for one in explanation.sequence_attributions], inputs, pool)
    if package == "shap":
        return _of_shap(explanation, inputs, target, pool)
    if isinstance(first, Tensor | np.ndarray):
        values = torch.as_tensor(first if isinstance(explanation, tuple) else explanation).detach().float()
        return _of_array(values, inputs, aggregation, pool)
    raise InputError(
        f"an explanation of type {type(explanation).__module__}.{type(explanation).__name__}: known are tensors and "
        "arrays (captum, quantus), and the objects of shap, ferret and inseq"
    )


# -------------------------------------------------------------------------------------------------------------- arrays
def _of_array(values: Tensor, inputs: Inputs, aggregation: str, pool: str) -> Tensor:
    """Scores from an array of features, positions, embeddings or pixels, told by its shape."""
    mask = inputs.feature_mask
    if isinstance(inputs, ImageInputs) and values.ndim == 3:
        values = values[:, None]
    if isinstance(inputs, ImageInputs) and values.ndim == 4 and values.shape[-2:] == inputs.pixels.shape[-2:]:
        if len(values) != len(inputs):
            raise _other(values, inputs)
        flat = values.sum(dim=1).flatten(1).to(mask.device)
        return pooled(flat, inputs.maps(torch.arange(len(values), device=mask.device)).flatten(1), mask, pool)
    if isinstance(inputs, TextInputs) and values.shape[:2] == inputs.input_ids.shape and values.ndim in (2, 3):
        positions = AGGREGATIONS[aggregation](values) if values.ndim == 3 else values
        return pooled(positions.to(mask.device), inputs.feature_of, mask, pool)
    if values.shape == mask.shape:
        return torch.where(mask, values.to(mask.device), 0.0)
    raise _other(values, inputs)


def _other(values: Tensor, inputs: Inputs) -> InputError:
    if isinstance(inputs, ImageInputs):
        fitting = f"pixels {list(inputs.pixels.shape)} (one channel will do)"
    elif isinstance(inputs, TextInputs):
        fitting = f"positions {list(inputs.input_ids.shape)}, with or without a last axis of embeddings"
    else:
        fitting = "words"
    return InputError(
        f"an explanation of shape {tuple(values.shape)}: these inputs have {fitting}, or features "
        f"{list(inputs.feature_mask.shape)}; explain the same batch, padded alike"
    )


def _classes(target: Any, outputs: int, n: int) -> Tensor:
    """The class of each input [B], for scores of several outputs."""
    if target is None:
        raise InputError(f"an explanation of {outputs} outputs: say which is meant, target=1 or one an input")
    wanted = torch.as_tensor(target).expand(n) if torch.as_tensor(target).ndim == 0 else torch.as_tensor(target)
    if tuple(wanted.shape) != (n,) or bool(((wanted < 0) | (wanted >= outputs)).any()):
        raise InputError(f"target {target}: expected classes 0 to {outputs - 1}, one or {n}")
    return wanted.long()


# ---------------------------------------------------------------------------------------------------------------- shap
def _of_shap(explanation: Any, inputs: Inputs, target: Any, pool: str) -> Tensor:
    """Of texts with the tokens in `data`, of pixels with channels last, or of our features."""
    values = np.asarray(explanation.values)
    if values.dtype != object and (isinstance(inputs, ImageInputs) or not _has_tokens(explanation)):
        dense = torch.from_numpy(values.astype(np.float32))
        pictures = isinstance(inputs, ImageInputs) and dense.ndim > 3
        if dense.ndim == (5 if pictures else 3):
            dense = dense[torch.arange(len(dense)), ..., _classes(target, dense.shape[-1], len(dense))]
        return _of_array(dense.movedim(-1, 1) if pictures else dense, inputs, "sum", pool)
    rows = []
    for b, (own, tokens) in enumerate(zip(explanation.values, explanation.data, strict=True)):
        scores = np.asarray(own, dtype=float)
        if scores.ndim == 2:
            scores = scores[:, int(_classes(target, scores.shape[1], len(inputs))[b])]
        rows.append(([str(token) for token in tokens], scores))
    return _by_tokens(rows, inputs, pool)


def _has_tokens(explanation: Any) -> bool:
    data = explanation.data
    return data is not None and len(data) > 0 and isinstance(np.asarray(data[0], dtype=object).flat[0], str)


# --------------------------------------------------------------------------------------------------------------- inseq
def _of_inseq(one: Any, aggregation: str) -> tuple[list[str], np.ndarray]:
    """Tokens and scores of one sequence: the mean over generated tokens, of the source or, without one, the prefix."""
    has_source = one.source_attributions is not None
    tokens = one.source if has_source else one.target
    values = one.source_attributions if has_source else one.target_attributions
    if values is None:
        raise InputError("an inseq attribution without source_attributions and target_attributions: nothing to read")
    scores = torch.as_tensor(values).detach().float()
    scores = AGGREGATIONS[aggregation](scores) if scores.ndim == 3 else scores
    strings = [str(getattr(token, "token", token)) for token in tokens][: len(scores)]
    # A token of the prefix has no score for what was generated before it.
    return strings, scores.nanmean(dim=1).nan_to_num().double().numpy()


# -------------------------------------------------------------------------------------------------------------- tokens
def _by_tokens(rows: Sequence[tuple[Sequence[str], np.ndarray]], inputs: Inputs, pool: str) -> Tensor:
    """Scores of features from strings and their scores, a row an input."""
    names = _names(inputs)
    if len(rows) != len(names):
        raise InputError(f"explanations of {len(rows)} texts for {len(names)} inputs: expected one for each")
    scores = torch.zeros(inputs.feature_mask.shape)
    for b, ((tokens, values), features) in enumerate(zip(rows, names, strict=True)):
        if len(tokens) != len(values):
            raise InputError(f"text {b} has {len(tokens)} tokens and {len(values)} scores: expected one for each")
        counts = torch.zeros(scores.shape[1])
        for place, value in zip(laid_over(tokens, features, b), values.tolist(), strict=True):
            if place >= 0:
                scores[b, place] += value
                counts[place] += 1
        if pool == "mean":
            scores[b] /= counts.clamp(min=1)
    return scores.to(inputs.n_features.device)


def _names(inputs: Inputs) -> list[tuple[str, ...]]:
    if isinstance(inputs, WordInputs):
        return [tuple(text[a:z] for a, z in spans) for text, spans in zip(inputs.texts, inputs.spans, strict=True)]
    if isinstance(inputs, TextInputs) and inputs.features:
        return list(inputs.features)
    raise InputError("an explanation of tokens: expected inputs with the strings of their features, made from texts")


def laid_over(tokens: Sequence[str], features: Sequence[str], b: int = 0) -> list[int]:
    """The feature that each token belongs to, -1 for marks like [CLS]; InputError where their characters differ.

    Compared are characters without case, accents, blanks and marks of word pieces. A feature may have several tokens;
    a token may not have several features.

    >>> laid_over(["[CLS]", "un", "##funny", "film", "[SEP]"], ["Unfunny", "film"])
    [-1, 0, 0, 1, -1]
    """
    cleaned = [_characters(feature) for feature in features]
    owner = [f for f, text in enumerate(cleaned) for _ in text]
    whole, read, found = "".join(cleaned), 0, []
    for token in tokens:
        text = "" if token.strip() in _SPECIAL else _characters(token)
        if not text:
            found.append(-1)
            continue
        covered = set(owner[read : read + len(text)])
        if whole[read : read + len(text)] != text:
            raise InputError(
                f"text {b}: the explanation's token {token!r} stands where the inputs have "
                f"{whole[read : read + max(8, len(text))]!r}: explain the same texts, cut at the same length"
            )
        if len(covered) > 1:
            told = ", ".join(features[f] for f in sorted(covered))
            raise InputError(f"text {b}: the token {token!r} covers several features ({told}): take whole words")
        found.append(covered.pop())
        read += len(text)
    if read < len(whole):
        raise InputError(f"text {b}: the explanation ends before {whole[read:][:20]!r}: explain the whole text")
    return found


def _characters(text: str) -> str:
    """A string without case, accents, blanks, and marks of word pieces."""
    plain = unicodedata.normalize("NFKD", text.removeprefix("##").removesuffix("</w>").translate(_PIECES).casefold())
    return "".join(one for one in plain if not one.isspace() and not unicodedata.combining(one))
