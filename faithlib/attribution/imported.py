"""Explanations that other tools made, as scores of the features of our inputs.

============================  ==========================================================================================
made by                       what to hand over, one explanation for each input
============================  ==========================================================================================
shap (texts, images)          its `Explanation`, as it is: of a batch, or a list of one for each text
lime (texts)                  a list of its `Explanation` objects, as they are
captum, gradients             the tensor: of embeddings [B, L, D], positions [B, L] or pixels [B, C, H, W], or a list
                              with one tensor [L, D] or [L] for each text
quantus                       its array of pixels: [B, C, H, W], [B, 1, H, W] or [B, H, W]
words of your own             an array [B, F], or lists with one value for each word
tokens of your own            for each text a list of (token, score), or of (token, score, start, end)
a table                       a data frame with the columns text_id, token, score and, where known, start, end
ferret                        `[list(zip(one.tokens, one.scores)) for one in explanations]`
inseq                         `[list(zip([token.token for token in one.source], one.source_attributions.nanmean(1)))
                              for one in sequences]`
============================  ==========================================================================================

No other tool is imported here: objects are told by what they hold. Tokens with the characters (start, end) that they
cover belong to the feature that they overlap. Tokens without belong by their letters: those of all tokens must be those
of the text, whatever case, accents, blanks and marks of word pieces. Special tokens of the other tool ([CLS], <s>) are
dropped.

Shape letters: B inputs, L positions, D embedding size, F features, K classes, C channels, H and W pixels.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithlib._warnings_log import note
from faithlib.attribution._texts import AGGREGATIONS, POOLS
from faithlib.errors import InputError, check_known, counted
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs, pooled
from faithlib.names import Aggregation, Pool
from faithlib.segmentation import Span, format_rows, items_of

__all__ = [
    "align_tokens",
    "imported_scores",
    "of_class",
]

_SPECIAL = {"[CLS]", "[SEP]", "[PAD]", "[BOS]", "[EOS]", "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<cls>", "<sep>"}
_SPECIAL |= {"<|endoftext|>", "<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>"}
_UNKNOWN = {"[UNK]", "<unk>"}
_PIECES = str.maketrans("", "", "Ġ▁Ċ")
_COLUMNS = ("text_id", "token", "score")
_EXPECTED = (
    "expected an Explanation of shap, a list of those of lime, a tensor or an array, or for each text its values or a "
    "list of (token, score); of a table the columns text_id, token, score"
)


@dataclass(frozen=True)
class _Tokens:
    """Tokens of a text, the characters that each covers (None: not known), and their scores [n], or [n, K] with one
    for each class. `is_partial`: features without a token are meant to have the score 0."""

    names: list[str]
    spans: list[Span] | None
    scores: NDArray[Any]
    is_partial: bool = False


def imported_scores(
    explanation: Any,
    inputs: Inputs,
    *,
    rows: Sequence[int] | None = None,
    total: int | None = None,
    aggregation: Aggregation = "sum",
    pool: Pool = "sum",
) -> Tensor:
    """Scores of the features of these inputs, as another tool explains them.

    Parameters
    ----------
    explanation
        What the other tool made, in any of the forms at the head of this module, one for each input.
    inputs : Inputs
        The inputs that it explains.
    rows, total
        Where only some of the inputs that were explained are used: the explanation of each, counted from 0, and how
        many explanations there are.
    aggregation : Aggregation, default "sum"
        From the D values of an embedding to one.
    pool : {"sum", "mean"}, default "sum"
        From the tokens, positions or pixels of a feature to one score.

    Returns
    -------
    Tensor
        [B, F], higher = matters more, in the precision of the explanation, at least float32; 0 beyond the features of
        an input. [B, F, K] where the explanation has scores for each of K classes (shap, lime); NaN for a class that
        lime did not explain.

    Raises
    ------
    InputError
        Where an explanation is of other texts or of another number of texts, tokens, words or pixels: both numbers are
        named. Also for numbers that are not finite, and for objects of another kind.
    UnknownNameError
        For another aggregation or pool.

    Notes
    -----
    A feature without a token has the score 0, and a note says so: lime explains ten words of a text where it is not
    asked for more (`num_features`), and no punctuation. A word that lime takes for one wherever it stands (`bow=True`,
    its default) has its weight at each of its places.

    Examples
    --------
    >>> words = WordInputs.from_texts(["good film"])
    >>> imported_scores([[0.2, 0.8]], words)
    tensor([[0.2000, 0.8000]], dtype=torch.float64)
    >>> imported_scores([[("[CLS]", 9.0), ("go", 0.1), ("##od", 0.1), ("film", 0.8), ("[SEP]", 9.0)]], words)
    tensor([[0.2000, 0.8000]], dtype=torch.float64)
    """
    check_known("aggregation", aggregation, AGGREGATIONS)
    check_known("pool", pool, POOLS)
    inputs = inputs.to("cpu")
    total = len(inputs) if total is None else total
    rows = range(total) if rows is None else rows
    if isinstance(explanation, Tensor) or (isinstance(explanation, np.ndarray) and explanation.dtype != object):
        scores = _of_array(_tensor(explanation), inputs, list(rows), total, aggregation, pool)
    elif _is_of_shap(explanation) and isinstance(inputs, ImageInputs):
        scores = _of_shap_images(explanation, inputs, list(rows), total, pool)
    else:
        texts = _one_for_each_text(explanation)
        if len(texts) != total:
            raise InputError(
                f"explanations of {counted(len(texts), 'text')} for {counted(total, 'input')}: expected one for each"
            )
        if isinstance(inputs, ImageInputs):
            raise InputError(f"explanations of images: {_of_images(inputs)}")
        scores = _of_texts([texts[row] for row in rows], inputs, list(rows), aggregation, pool)
    mask = inputs.feature_mask if scores.ndim == 2 else inputs.feature_mask[..., None]
    scores = torch.where(mask, scores, 0.0)
    _check_numbers(scores, inputs.feature_mask, list(rows))
    return scores


def of_class(scores: Tensor, classes: Tensor, name: str) -> Tensor:
    """The scores [B, F] of the explained class [B] out of those of every class [B, F, K].

    Parameters
    ----------
    scores : Tensor
        Of `imported_scores`.
    classes : Tensor
        The class that is explained of each input.
    name : str
        What the scores are called in a message.

    Raises
    ------
    InputError
        Where the explanation says nothing of a class that is explained.

    Examples
    --------
    >>> of_class(torch.tensor([[[0.1, 0.9], [0.3, 0.2]]]), torch.tensor([1]), "mine")
    tensor([[0.9000, 0.2000]])
    """
    known = ~scores.isnan().any(dim=1)  # [B, K]
    wanted = classes.to(scores.device)
    beyond = wanted >= scores.shape[2]
    missing = beyond | ~known.gather(1, wanted.clamp(max=scores.shape[2] - 1)[:, None])[:, 0]
    if bool(missing.any()):
        row = int(missing.nonzero()[0])
        explained = known[row].nonzero()[:, 0].tolist()
        raise InputError(
            f"attributions {name!r} of input {row} are of the classes {explained}, and the class explained is "
            f"{int(wanted[row])}: let the other tool explain it (lime: labels=range(n_classes)), or give it as target"
        )
    return scores.gather(2, wanted[:, None, None].expand(-1, scores.shape[1], 1))[..., 0]


# -------------------------------------------------------------------------------------------------------------- arrays
def _tensor(values: Any) -> Tensor:
    """Values as real numbers, float32 or float64."""
    try:
        made = torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"an explanation {values!r}: expected numbers") from error
    if made.is_complex():
        raise InputError("an explanation of complex numbers: expected real ones")
    return made.cpu() if made.dtype == torch.float64 else made.cpu().float()


def _of_array(
    values: Tensor, inputs: Inputs, rows: list[int], total: int, aggregation: Aggregation, pool: Pool
) -> Tensor:
    """Scores from one array for all inputs, of features, positions, embeddings or pixels, told by its shape."""
    shape, mask = list(values.shape), inputs.feature_mask
    if values.ndim < 2 or len(values) != total:
        raise InputError(f"an explanation of shape {shape} for {total} inputs: expected one row for each")
    values = values[rows]
    if isinstance(inputs, ImageInputs):
        if values.ndim == 2 and values.shape == mask.shape:
            return values
        return _of_pixels(values[:, None] if values.ndim == 3 else values, inputs, pool)
    readings = []
    if values.ndim == 2 and values.shape == mask.shape:
        readings.append(values)
        _check_padding(values, inputs.n_features, rows)
    if isinstance(inputs, TextInputs) and values.ndim in (2, 3):
        length = inputs.input_ids.shape[1]
        # A batch of which some rows are used may have been longer.
        is_longer = len(rows) < total and values.shape[1] > length
        if values.shape[1] == length or is_longer:
            positions = AGGREGATIONS[aggregation](values) if values.ndim == 3 else values
            _check_padding(positions, inputs.lengths, rows)
            readings.append(pooled(positions[:, :length], inputs.feature_of, mask, pool))
    if not readings:
        raise InputError(f"an explanation of shape {shape}: these inputs have {_expected_shapes(inputs, total)}")
    readings = [torch.where(mask, reading, 0.0) for reading in readings]
    if len(readings) == 2 and not torch.equal(*readings):
        raise InputError(
            f"an explanation of shape {shape} may have a value for each word or for each token, of which there are as "
            "many here: give lists without padding, one value for each word, or each token, of a text"
        )
    return readings[0]


def _check_padding(values: Tensor, sizes: Tensor, rows: list[int]) -> None:
    """InputError where rows of values are padded on the left."""
    for row, of_row, size in zip(rows, values, sizes.tolist(), strict=True):
        beyond = len(of_row) - size
        if beyond and bool((of_row[size:] != 0).any()) and not bool((of_row[:beyond] != 0).any()):
            raise InputError(
                f"the explanation of input {row}, with {size} of {len(of_row)} places, is padded on the left: expected "
                "padding on the right, or a list with one array for each"
            )


def _expected_shapes(inputs: Inputs, total: int) -> str:
    features = f"features {[total, inputs.feature_mask.shape[1]]}"
    if not isinstance(inputs, TextInputs):
        return f"{features}; explain the same texts, or give lists, one value for each word"
    positions = [total, inputs.input_ids.shape[1]]
    return (
        f"{features} and positions {positions}, with or without a last axis of embeddings; explain the same texts, "
        "padded alike, or give a list with one array for each"
    )


def _of_images(inputs: ImageInputs) -> str:
    shape, features = list(inputs.pixels.shape), list(inputs.feature_mask.shape)
    return f"these inputs have pixels {shape} (one channel will do), or features {features}"


def _of_pixels(values: Tensor, inputs: ImageInputs, pool: Pool) -> Tensor:
    """Scores [B, F] from pixels [B, C, H, W]."""
    if values.ndim != 4 or values.shape[2:] != inputs.pixels.shape[2:]:
        raise InputError(f"an explanation of shape {list(values.shape)}: {_of_images(inputs)}")
    flat = values.sum(dim=1).flatten(1)
    return pooled(flat, inputs.maps(torch.arange(len(values))).flatten(1), inputs.feature_mask, pool)


def _of_shap_images(explanation: Any, inputs: ImageInputs, rows: list[int], total: int, pool: Pool) -> Tensor:
    """Scores from shap's images, [B, H, W, C] or [B, H, W, C, K]."""
    values = _tensor(explanation.values)
    if values.ndim not in (4, 5) or len(values) != total:
        raise InputError(f"shap's values {list(values.shape)} for {total} images: expected [B, H, W, C], or [.., K]")
    values = values[rows].movedim(3, 1)
    if values.ndim == 4:
        return _of_pixels(values, inputs, pool)
    return torch.stack([_of_pixels(values[..., k], inputs, pool) for k in range(values.shape[4])], dim=2)


# ------------------------------------------------------------------------------------------- one explanation a text
def _is_of_shap(thing: Any) -> bool:
    return all(hasattr(thing, name) for name in ("values", "base_values", "data")) and not hasattr(thing, "columns")


def _is_of_lime(thing: Any) -> bool:
    return hasattr(thing, "local_exp") and hasattr(getattr(thing, "domain_mapper", None), "indexed_string")


def _one_for_each_text(explanation: Any) -> list[Any]:
    """An explanation for each text, as `_Tokens` or as what it was given as."""
    if hasattr(explanation, "columns"):
        return list(_of_table(explanation))
    if _is_of_shap(explanation):
        return list(_of_shap(explanation))
    if _is_of_lime(explanation):
        return [_of_lime(explanation)]
    texts = items_of(explanation)
    if not isinstance(texts, list) or not texts:
        kind = f"{type(explanation).__module__}.{type(explanation).__name__}"
        raise InputError(f"an explanation of type {kind}: {_EXPECTED}")
    made: list[Any] = []
    for text in texts:
        if _is_of_shap(text):
            made += _of_shap(text)
        else:
            made.append(_of_lime(text) if _is_of_lime(text) else text)
    return made


def _of_shap(explanation: Any) -> Iterable[_Tokens]:
    """The tokens of each text of shap's explanation, whose values are [n] or [n, K]."""
    data, values = explanation.data, explanation.values
    if len(data) and isinstance(data[0], str):  # of one text
        data, values = [data], [values]
    for names, scores in zip(data, values, strict=True):
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise InputError("shap's explanation holds no tokens: of a table expected its values, one a feature")
        yield _Tokens([str(name) for name in names], None, np.asarray(scores, dtype=float))


def _of_lime(explanation: Any) -> _Tokens:
    """Words of lime's explanation by their characters; [n, K] of a classifier, [n] of a regression."""
    indexed, by_class = explanation.domain_mapper.indexed_string, explanation.local_exp
    if getattr(explanation, "mode", "classification") == "regression":
        by_class = {0: by_class[explanation.dummy_label]}
    n_classes = max(by_class) + 1
    weights: dict[int, NDArray[Any]] = {}  # of a place in the list of strings
    for label, pairs in by_class.items():
        for number, weight in pairs:
            for place in np.atleast_1d(indexed.positions[number]).tolist():
                of_place = weights.setdefault(place, np.zeros(n_classes))
                of_place[label] = weight
    places = sorted(weights)
    names = [str(indexed.as_list[place]) for place in places]
    starts = [int(indexed.string_start[place]) for place in places]
    spans = [(start, start + len(name)) for start, name in zip(starts, names, strict=True)]
    scores = np.array([weights[place] for place in places]).reshape(len(places), n_classes)
    for label in set(range(n_classes)) - set(by_class):
        scores[:, label] = np.nan
    if getattr(explanation, "mode", "classification") == "regression":
        scores = scores[:, 0]
    return _Tokens(names, spans, scores, is_partial=True)


def _of_table(table: Any) -> Iterable[_Tokens]:
    """The tokens of each text of a table, texts in order of their number."""
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        held = ", ".join(map(str, table.columns))
        raise InputError(f"a table of attributions has no column {missing[0]}: it has {held}")
    if ("start" in table.columns) != ("end" in table.columns):
        raise InputError("a table of attributions has one of the columns start and end: expected both, or neither")
    numbers = {name: _column(table, name) for name in ("text_id", "score", "start", "end") if name in table.columns}
    ids = numbers["text_id"].astype(int)
    if not len(ids) or set(ids.tolist()) != set(range(int(ids.max()) + 1)):
        found = format_rows(sorted(set(ids.tolist())), "text")
        raise InputError(f"text_id of a table of attributions: {found}; expected the number of each text, from 0")
    names = np.array([str(name) for name in table["token"]], dtype=object)
    for number in range(int(ids.max()) + 1):
        own = ids == number
        spans = None
        if "start" in numbers:
            starts, ends = numbers["start"][own].astype(int), numbers["end"][own].astype(int)
            spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        yield _Tokens(names[own].tolist(), spans, numbers["score"][own])


def _column(table: Any, name: str) -> NDArray[np.float64]:
    """Numbers of a column; whole ones except of scores."""
    try:
        numbers: NDArray[np.float64] = np.array([float(value) for value in table[name]])
    except (TypeError, ValueError) as error:
        raise InputError(f"column {name} of a table of attributions: expected numbers ({error})") from error
    is_whole = np.isfinite(numbers) & (numbers == np.round(numbers)) & (numbers >= 0)
    if name != "score" and not is_whole.all():
        first = int((~is_whole).nonzero()[0][0])
        raise InputError(f"column {name} of a table of attributions, row {first}: {numbers[first]}; expected 0, 1, ...")
    return numbers


# ------------------------------------------------------------------------------------------------------ onto features
def _of_texts(
    texts: Sequence[Any], inputs: TextInputs | WordInputs, rows: list[int], aggregation: Aggregation, pool: Pool
) -> Tensor:
    """Scores [B, F] or [B, F, K] from what is said of each text."""
    made, unsaid = [], []
    for i, (text, row) in enumerate(zip(texts, rows, strict=True)):
        tokens = text if isinstance(text, _Tokens) else _tokens_in(text, row)
        if tokens is None:
            made.append(_of_values(text, inputs, i, row, aggregation, pool))
            continue
        if len(tokens.names) != len(tokens.scores):
            counts = f"{counted(len(tokens.names), 'token')} and {counted(len(tokens.scores), 'score')}"
            raise InputError(f"text {row} has {counts}: expected one for each")
        names = _names_of(inputs, i)
        if tokens.spans is None:
            owners = align_tokens(tokens.names, names, row)
        else:
            owners = _by_characters(tokens, inputs, i, names, row)
        if set(range(len(names))) - set(owners):
            unsaid.append(row)
        made.append(_pooled_tokens(tokens.scores, owners, len(names), pool))
    if unsaid:
        note("attributions", f"features that no token covers have the score 0 ({format_rows(unsaid, 'text')})")
    kinds = {scores.shape[1:] for scores in made}
    if len(kinds) > 1:
        # Lime's explanations of different classes have different numbers of them.
        most = max(scores.shape[1] if scores.ndim == 2 else 0 for scores in made)
        if any(scores.ndim == 1 for scores in made):
            raise InputError("some explanations have a score for each class, and others do not: expected one kind")
        made = [torch.nn.functional.pad(scores, (0, most - scores.shape[1]), value=torch.nan) for scores in made]
    return torch.nn.utils.rnn.pad_sequence(made, batch_first=True)


def _tokens_in(one: Any, row: int) -> _Tokens | None:
    """The tokens of a list of (token, score) or (token, score, start, end), or of a pair (tokens, scores); None of
    values alone."""
    if not isinstance(one, list | tuple) or not one:
        return None
    if isinstance(one[0], list | tuple) and one[0] and isinstance(one[0][0], str) and len(one) != 2:
        is_of_tokens = True
    elif isinstance(one[0], list | tuple) and one[0] and isinstance(one[0][0], str):
        # Two tokens with their scores, or the tokens and the scores of a text.
        is_of_tokens = isinstance(one[1], list | tuple) and len(one[1]) > 0 and isinstance(one[1][0], str)
        if not is_of_tokens:
            names = [str(name) for name in one[0]]
            return _Tokens(names, None, _tensor(one[1]).double().numpy().reshape(-1))
    elif isinstance(one[0], np.ndarray) and one[0].dtype.kind in "OU" and len(one) == 2:
        return _Tokens([str(name) for name in one[0]], None, np.asarray(one[1], dtype=float))
    else:
        return None
    sizes = {len(token) for token in one}
    if sizes not in ({2}, {4}):
        raise InputError(f"text {row} has tokens of {sorted(sizes)} parts: expected (token, score), or with start, end")
    try:
        scores = np.array([float(token[1]) for token in one])
        spans = [(int(token[2]), int(token[3])) for token in one] if sizes == {4} else None
    except (TypeError, ValueError) as error:
        raise InputError(f"text {row}: expected a number as the score of each token ({error})") from error
    return _Tokens([str(token[0]) for token in one], spans, scores)


def _of_values(
    values: Any, inputs: TextInputs | WordInputs, i: int, row: int, aggregation: Aggregation, pool: Pool
) -> Tensor:
    """Scores [f] of one text from values of its words or tokens, or of their embeddings."""
    if isinstance(values, str | bytes | dict | Real) or values is None:
        raise InputError(f"the explanation of text {row} is {values!r}: {_EXPECTED}")
    try:
        given = _tensor(values if isinstance(values, Tensor) else np.asarray(values, dtype=float))
    except (TypeError, ValueError) as error:
        raise InputError(f"the explanation of text {row} is {_cut_off(values)}: {_EXPECTED}") from error
    while given.ndim > 1 and given.shape[0] == 1:  # a batch of one
        given = given[0]
    if given.ndim == 2:
        given = AGGREGATIONS[aggregation](given)
    n_features = int(inputs.n_features[i])
    known = f"{n_features} words"
    if given.ndim == 1 and len(given) == n_features:
        return given
    if isinstance(inputs, TextInputs):
        places = inputs.feature_of[i, : int(inputs.lengths[i])]
        inside = places[places >= 0]
        for owners in (places, inside):
            if given.ndim == 1 and len(given) == len(owners):
                return pooled(given[None], owners[None], torch.ones(1, n_features, dtype=torch.bool), pool)[0]
        known += f", {len(places)} tokens, {len(inside)} of them with a word"
    counted = str(len(given)) if given.ndim == 1 else str(list(given.shape))
    raise InputError(
        f"the explanation of text {row} ({_shown(inputs, i)}) has {counted} values, and the text has {known}: "
        "expected as many; explain the same text, cut at the same length"
    )


def _cut_off(values: Any) -> str:
    said = repr(values)
    return said if len(said) < 120 else said[:117] + "..."


def _shown(inputs: TextInputs | WordInputs, i: int) -> str:
    text = inputs.texts[i] if isinstance(inputs, WordInputs) else " ".join(inputs.tokens[i])
    return repr(text if len(text) < 60 else text[:57] + "...")


def _names_of(inputs: TextInputs | WordInputs, i: int) -> tuple[str, ...]:
    """The strings of the features of one input."""
    if isinstance(inputs, WordInputs):
        return tuple(inputs.texts[i][start:end] for start, end in inputs.spans[i])
    if not inputs.features:
        raise InputError("an explanation of tokens: expected inputs with the strings of their features, from texts")
    return inputs.features[i]


def _pooled_tokens(scores: NDArray[Any], owners: Sequence[int], n_features: int, pool: Pool) -> Tensor:
    """Scores [f] or [f, K] from those of tokens."""
    values = torch.as_tensor(scores)
    columns = values[:, None] if values.ndim == 1 else values
    mask = torch.ones(columns.shape[1], n_features, dtype=torch.bool)
    of_all = torch.tensor(owners, dtype=torch.long)[None].expand(columns.shape[1], -1)
    # Of a class that was not explained all is NaN, a feature without a token as well.
    unknown = columns.isnan().all(dim=0) & torch.tensor(values.ndim == 2)
    made = pooled(columns.T.contiguous(), of_all, mask, pool)
    made[unknown] = torch.nan
    return made[0] if values.ndim == 1 else made.T


def align_tokens(tokens: Sequence[str], features: Sequence[str], row: int = 0) -> list[int]:
    """The feature that each token belongs to by its letters.

    Parameters
    ----------
    tokens, features : Sequence[str]
        The strings of the other tool's tokens, and of our features, both of the whole text.
    row : int, default 0
        The number of the text in messages.

    Returns
    -------
    list of int
        A feature for each token, -1 for special ones. A feature may have several tokens; a token may not have several
        features. Compared are characters without case, accents, blanks and marks of word pieces.

    Raises
    ------
    InputError
        Where the characters differ, or a token covers several features.

    Examples
    --------
    >>> align_tokens(["[CLS]", "un", "##funny", "film", "[SEP]"], ["Unfunny", "film"])
    [-1, 0, 0, 1, -1]
    """
    cleaned = [_letters(feature) for feature in features]
    owner = [f for f, text in enumerate(cleaned) for _ in text]
    whole, read, feature_of = "".join(cleaned), 0, []
    counts = f"{counted(len(tokens), 'token')} for {counted(len(features), 'feature')}"
    for token in tokens:
        text = "" if token.strip() in _SPECIAL else _letters(token)
        if not text:
            feature_of.append(-1)
            continue
        if whole[read : read + len(text)] != text:
            raise InputError(
                f"text {row}: the explanation's token {token!r} stands where the inputs have "
                f"{whole[read : read + max(8, len(text))]!r} ({counts}): explain the same texts, cut at the same "
                "length, or give the characters (start, end) of each token"
            )
        covered = sorted(set(owner[read : read + len(text)]))
        if len(covered) > 1:
            _refuse_several(token, [features[f] for f in covered], row)
        feature_of.append(covered[0])
        read += len(text)
    if read < len(whole):
        rest = whole[read:][:20]
        raise InputError(f"text {row}: the explanation ends before {rest!r} ({counts}): explain the whole text")
    return feature_of


def _by_characters(
    tokens: _Tokens, inputs: TextInputs | WordInputs, i: int, names: Sequence[str], row: int
) -> list[int]:
    """The feature that each token overlaps, -1 for special tokens and for what no feature covers."""
    if not inputs.spans:
        raise InputError("an explanation of characters: expected inputs with the spans of their features, from texts")
    owners = []
    for name, (start, end) in zip(tokens.names, tokens.spans or [], strict=True):
        if end < start or start < 0:
            raise InputError(
                f"text {row}: the token {name!r} has the characters {start} to {end}: expected start < end"
            )
        if start == end or name.strip() in _SPECIAL:
            owners.append(-1)
            continue
        covered = [f for f, (first, last) in enumerate(inputs.spans[i]) if start < last and first < end]
        if len(covered) > 1:
            _refuse_several(name, [names[f] for f in covered], row)
        text = _letters(name)
        if not covered:
            is_cut = isinstance(inputs, TextInputs) and bool(inputs.truncated[i])
            if text and not is_cut and not re.fullmatch(r"\W+", text):
                raise InputError(
                    f"text {row}: the token {name!r} has the characters {start} to {end}, where the inputs have no "
                    f"feature (the last ends at {inputs.spans[i][-1][1]}): explain the same texts"
                )
            owners.append(-1)
            continue
        is_told = text.isascii() and name.strip() not in _UNKNOWN  # others may be bytes
        if is_told and text not in _letters(names[covered[0]]):
            raise InputError(
                f"text {row}: the token {name!r} has the characters {start} to {end}, where the inputs have "
                f"{names[covered[0]]!r}: explain the same texts; characters count from 0"
            )
        owners.append(covered[0])
    return owners


def _refuse_several(token: str, features: Sequence[str], row: int) -> None:
    raise InputError(
        f"text {row}: the token {token!r} covers several features ({', '.join(features)}): take a unit that is as "
        "long, or the other tool's tokens as features: RunSettings(spans=...), on the command line a column spans"
    )


def _letters(text: str) -> str:
    """A string without case, accents, blanks, and marks of word pieces."""
    plain = unicodedata.normalize("NFKD", text.removeprefix("##").removesuffix("</w>").translate(_PIECES).casefold())
    return "".join(character for character in plain if not character.isspace() and not unicodedata.combining(character))


def _check_numbers(scores: Tensor, mask: Tensor, rows: list[int]) -> None:
    """InputError where a score is not finite; those of a class may all be NaN."""
    bad = ~torch.isfinite(scores)
    if scores.ndim == 3:
        is_whole = (scores.isnan() | ~mask[..., None]).all(dim=1, keepdim=True)
        bad &= ~is_whole
    if bool(bad.any()):
        row, feature = bad.nonzero()[0].tolist()[:2]
        raise InputError(f"the explanation of input {rows[row]} is NaN or infinite at feature {feature}")
