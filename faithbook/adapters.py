"""Explanations that other packages made, as scores of our inputs: arrays by their shape, tokens by their characters.

    scores = scores_of(values, inputs)
    table = evaluate(model, inputs, methods={"theirs": scores, "random": "random"})

| package | what to hand over |
| --- | --- |
| captum | its tensor: of embeddings [B, L, D], of positions [B, L], of pixels [B, C, H, W] |
| quantus | its array of pixels: [B, C, H, W], [B, 1, H, W] or [B, H, W] |
| shap, images | `np.moveaxis(explanation.values[..., target], -1, 1)` |
| shap, texts | `[(one.data, one.values[:, target]) for one in explanation]` |
| ferret | `[(one.tokens, one.scores) for one in explanations]` |
| inseq | `[([token.token for token in one.source], one.source_attributions.nanmean(1)) for one in sequences]` |

None of these packages is imported or needed here; tests ran with captum 0.9.0, shap 0.51.0, quantus 0.6.0, ferret-xai
0.4.1 and inseq 0.7.1. Tokens of others are laid over our features by their characters, whatever marks of word pieces
they carry; a token that covers several features, or characters that differ, are an error and no guess.

Shape letters: B inputs, L positions, D embedding size, F features, C channels, H and W pixels.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from faithlib.attribution.texts import AGGREGATIONS, POOLS, pooled
from faithlib.errors import InputError, unknown
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs

_SPECIAL = {"", "[CLS]", "[SEP]", "[PAD]", "[BOS]", "[EOS]", "<s>", "</s>", "<pad>", "<bos>", "<eos>"}
_PIECES = str.maketrans("", "", "Ġ▁Ċ")

Tokens = Sequence[tuple[Sequence[str], ArrayLike]]
"""Of each input its tokens and a score for each."""


def scores_of(
    explanation: Tensor | np.ndarray[Any, Any] | Tokens, inputs: Inputs, *, aggregation: str = "sum", pool: str = "sum"
) -> Tensor:
    """Scores [B, F], float32, of an explanation of these inputs by another package.

    - `aggregation` over the embedding: "sum", "mean", "l2", "abs_sum".
    - `pool` from positions, tokens or pixels to features: "sum" or "mean".

    Raises InputError where the explanation is of other inputs, or of a kind that is not known; UnknownNameError for
    another aggregation or pool.

    >>> from faithlib.inputs import WordInputs
    >>> scores_of(torch.tensor([[0.2, 0.8]]), WordInputs.from_texts(["good film"]))
    tensor([[0.2000, 0.8000]])
    >>> scores_of([(["go", "##od", "film"], [0.1, 0.1, 0.8])], WordInputs.from_texts(["good film"]))
    tensor([[0.2000, 0.8000]])
    """
    if aggregation not in AGGREGATIONS:
        raise unknown("aggregation", aggregation, AGGREGATIONS)
    if pool not in POOLS:
        raise unknown("pool", pool, POOLS)
    if isinstance(explanation, Tensor | np.ndarray):
        return _of_array(torch.as_tensor(explanation).detach().float(), inputs, aggregation, pool)
    if isinstance(explanation, Sequence) and all(isinstance(one, Sequence) and len(one) == 2 for one in explanation):
        return _by_tokens(
            [(list(names), np.asarray(values, dtype=float)) for names, values in explanation], inputs, pool
        )
    raise InputError(
        f"an explanation of type {type(explanation).__module__}.{type(explanation).__name__}: expected a tensor or an "
        "array, or for each input a pair (tokens, scores); the head of faithbook.adapters has the line for each package"
    )


# -------------------------------------------------------------------------------------------------------------- arrays
def _of_array(values: Tensor, inputs: Inputs, aggregation: str, pool: str) -> Tensor:
    """Scores from an array of features, positions, embeddings or pixels, told by its shape."""
    mask = inputs.feature_mask
    if isinstance(inputs, ImageInputs) and values.ndim == 3:
        values = values[:, None]
    if isinstance(inputs, ImageInputs) and values.ndim == 4 and values[:, 0].shape == inputs.pixels[:, 0].shape:
        flat = values.sum(dim=1).flatten(1).to(mask.device)
        return pooled(flat, inputs.maps(torch.arange(len(values), device=mask.device)).flatten(1), mask, pool)
    if isinstance(inputs, TextInputs) and values.shape[:2] == inputs.input_ids.shape and values.ndim in (2, 3):
        positions = AGGREGATIONS[aggregation](values) if values.ndim == 3 else values
        return pooled(positions.to(mask.device), inputs.feature_of, mask, pool)
    if values.shape == mask.shape:
        return torch.where(mask, values.to(mask.device), 0.0)
    fitting = "words"
    if isinstance(inputs, ImageInputs):
        fitting = f"pixels {list(inputs.pixels.shape)} (one channel will do)"
    elif isinstance(inputs, TextInputs):
        fitting = f"positions {list(inputs.input_ids.shape)}, with or without a last axis of embeddings"
    raise InputError(
        f"an explanation of shape {tuple(values.shape)}: these inputs have {fitting}, or features {list(mask.shape)}; "
        "explain the same batch, padded alike"
    )


# -------------------------------------------------------------------------------------------------------------- tokens
def _by_tokens(rows: Sequence[tuple[Sequence[str], np.ndarray]], inputs: Inputs, pool: str) -> Tensor:
    """Scores of features from strings and their scores, one row per input."""
    if isinstance(inputs, WordInputs):
        names = [tuple(text[a:z] for a, z in spans) for text, spans in zip(inputs.texts, inputs.spans, strict=True)]
    elif isinstance(inputs, TextInputs) and inputs.features:
        names = list(inputs.features)
    else:
        raise InputError("an explanation of tokens: expected inputs with the strings of their features, from texts")
    if len(rows) != len(names):
        raise InputError(f"explanations of {len(rows)} texts for {len(names)} inputs: expected one for each")
    places = []
    for b, ((tokens, values), features) in enumerate(zip(rows, names, strict=True)):
        if len(tokens) != len(values):
            raise InputError(f"text {b} has {len(tokens)} tokens and {len(values)} scores: expected one for each")
        places.append(torch.tensor(laid_over(tokens, features, b)))
    padded = pad_sequence([torch.as_tensor(values).float() for _, values in rows], batch_first=True)
    owner, mask = pad_sequence(places, batch_first=True, padding_value=-1), inputs.feature_mask
    return pooled(padded.to(mask.device), owner.to(mask.device), mask, pool)


def laid_over(tokens: Sequence[str], features: Sequence[str], b: int = 0) -> list[int]:
    """The feature that each token belongs to, -1 for marks like [CLS]; InputError where their characters differ.

    Compared are characters without case, accents, blanks and marks of word pieces. A feature may have several tokens;
    a token may not have several features.

    >>> laid_over(["[CLS]", "un", "##funny", "film", "[SEP]"], ["Unfunny", "film"])
    [-1, 0, 0, 1, -1]
    """
    cleaned = [_characters(feature) for feature in features]
    owner = [f for f, text in enumerate(cleaned) for _ in text]
    whole, read, feature_of = "".join(cleaned), 0, []
    for token in tokens:
        text = "" if token.strip() in _SPECIAL else _characters(token)
        if not text:
            feature_of.append(-1)
            continue
        covered = set(owner[read : read + len(text)])
        if whole[read : read + len(text)] != text:
            raise InputError(
                f"text {b}: the explanation's token {token!r} stands where the inputs have "
                f"{whole[read : read + max(8, len(text))]!r}: explain the same texts, cut at the same length"
            )
        if len(covered) > 1:
            names_covered = ", ".join(features[f] for f in sorted(covered))
            raise InputError(
                f"text {b}: the token {token!r} covers several features ({names_covered}): take whole words"
            )
        feature_of.append(covered.pop())
        read += len(text)
    if read < len(whole):
        raise InputError(f"text {b}: the explanation ends before {whole[read:][:20]!r}: explain the whole text")
    return feature_of


def _characters(text: str) -> str:
    """A string without case, accents, blanks, and marks of word pieces."""
    plain = unicodedata.normalize("NFKD", text.removeprefix("##").removesuffix("</w>").translate(_PIECES).casefold())
    return "".join(one for one in plain if not one.isspace() and not unicodedata.combining(one))
