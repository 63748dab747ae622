"""Inputs made of what a user holds: `texts`, `images` and `tokens`, each by itself, and a thin shell that guesses::

    inputs = faithlib.images(model, ["cat.png", "dog.png"], patch=16)
    evaluate(model, inputs)
    Perturber(model, inputs)

`evaluate`, `explain`, `attribute` and `count_rows` take what a user holds as it is: `recognised` says which of the
three it is for. Who says it by calling one of them leaves nothing to guess: strings may be texts or names of files.

Shape letters: B inputs, L tokens, C channels, H and W pixels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from faithlib._image_files import are_images, check_pixels, image_inputs_from_pixels, pixels_from_files, pixels_in, sees
from faithlib.backends._logits import check_task
from faithlib.backends._model_adapters import note_tokenizer, places_of, unwrapped
from faithlib.backends.prompts import Prompt
from faithlib.errors import InputError, ModelError, counted
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs
from faithlib.names import Unit
from faithlib.protocols import Model
from faithlib.segmentation import Span, format_rows, items_of, listed

__all__ = ["images", "most_tokens_of", "texts", "tokens"]

_MOST_TOKENS = 512  # where the caller does not say


# ------------------------------------------------------------------------------------------------- each by itself
def texts(
    model: Model,
    texts: Any,
    *,
    tokenizer: Any = None,
    unit: Unit | None = None,
    spans: Sequence[Sequence[Span]] | None = None,
    max_length: int | None = None,
) -> TextInputs | WordInputs:
    """Texts, cut into features, for a model that reads them.

    Parameters
    ----------
    model : Model
        As for `evaluate`: a classifier of Hugging Face or a pipeline of one, a language model in a `PromptClassifier`
        or `Continuation`, a function from texts to probabilities.
    texts
        Strings in any container (list, Series, array, generator, column of a data set); of a classifier also pairs
        (text, other text), of a prompt with several slots a mapping for each.
    tokenizer : optional
        The model's fast tokenizer. A pipeline and a prompt bring theirs, and a function needs none.
    unit : Unit, optional
        What a feature is, "word" (default), "wordpiece", "character" or "sentence" (`faithlib.segmentation`).
    spans : Sequence[Sequence[Span]], optional
        The features of each text as (start, end) in characters, instead of a `unit`.
    max_length : int, optional
        Tokens read of a text, at most what the model takes. Default: that, and no more than 512.

    Returns
    -------
    TextInputs or WordInputs
        B texts, in their order: `WordInputs` for a function, `TextInputs` for all other models. A warning names the
        texts whose end was cut off, and `truncated` holds them.

    Raises
    ------
    InputError
        For what are no texts, texts without a feature, spans that do not fit, and a missing tokenizer.
    ModelError
        For a pipeline that computes something else than its model does.

    Examples
    --------
    >>> import faithlib
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> faithlib.texts(model, ["A film. Not bad."], unit="sentence").spans
    (((0, 7), (8, 16)),)
    """
    model, tokenizer = _inside(model, tokenizer)
    limit = _limit(model, tokenizer, max_length)
    made = _texts(listed(texts), model, tokenizer, unit, items_of(spans), limit)
    warn_of_cut(made, range(len(made)), len(made), limit, model, tokenizer)
    return made


def images(
    model: Model,
    images: Any,
    *,
    transform: Any = None,
    patch: int | None = None,
    segments: Any = None,
) -> ImageInputs:
    """Images, cut into features, for a model that sees them.

    Parameters
    ----------
    model : Model
        As for `evaluate`: a classifier of timm or Hugging Face or a pipeline of one, any torch module or function from
        pixels to logits.
    images
        PIL images, files of images or uint8 arrays [H, W] or [H, W, C], which the `transform` makes pixels of; or
        pixels that need none: floats [B, C, H, W], normalised as the model expects.
    transform : optional
        An image processor of Hugging Face, or a function from a PIL image to pixels [C, H, W]. Default: the one that
        the model brings (timm, a pipeline).
    patch : int, optional
        The side of the square patches, in pixels. Default: the model's own patches, or 16; patches of nearly that size
        where images are no whole number of them.
    segments : optional
        Integers [H, W] or [B, H, W] of the transformed images, such as superpixels, instead of patches; negative ones
        are never erased.

    Returns
    -------
    ImageInputs
        B images, in their order.

    Raises
    ------
    InputError
        For what cannot be read as an image, named by its row, and for pixels, patches or segments that do not fit.
    ModelError
        For files without a transform.

    Examples
    --------
    >>> import faithlib
    >>> from PIL import Image
    >>> def transform(image):
    ...     return torch.ones(3, image.height, image.width)
    >>> faithlib.images(nn.Flatten(), [Image.new("L", (32, 32))], transform=transform, patch=8).n_features
    tensor([16])
    """
    model, transform = _inside(model, transform)
    items, pixels = _items_and_pixels(images)
    if pixels is None:
        pixels = pixels_from_files(items, model, transform)
    if segments is not None:
        made = ImageInputs.from_pixels(pixels, patch=patch, segments=segments)
    else:
        made = image_inputs_from_pixels(pixels, model, patch)
    check_pixels(made, model, stacklevel=3)
    return made


def tokens(
    model: Model,
    ids: Any,
    *,
    tokenizer: Any = None,
    attention_mask: Any = None,
    token_type_ids: Any = None,
    feature_of: Any = None,
) -> TextInputs:
    """Tokens that are there already, for a model that reads them: each token is a feature.

    For tokenizers that are not fast, for models without a tokenizer, and for features of your own.

    Parameters
    ----------
    model : Model
        A torch module that reads token ids, as for `evaluate`.
    ids
        Token ids, as a tensor or array [B, L] or lists of any lengths; or what a tokenizer answers, a mapping with
        `input_ids` and, where it has them, `attention_mask` and `token_type_ids`.
    tokenizer : optional
        Whose tokens these are, fast or not: it names the ids of padding and mask, the tokens that are never erased (its
        special ones, except unknown and mask) and the strings of all others. Without one the id of padding is that of
        the model's configuration, and no token is protected.
    attention_mask : optional
        True or 1 at tokens, [B, L]. Default: of lists by their lengths, of [B, L] everywhere.
    token_type_ids : optional
        [B, L], for models that have them.
    feature_of : optional
        The feature of each token, integers [B, L], instead of one for each; -1 is never erased.

    Returns
    -------
    TextInputs
        B inputs, in their order, with padding on the right.

    Raises
    ------
    InputError
        For ids that are no whole numbers, shapes that disagree, an unknown id of padding, padding without an
        `attention_mask`, and more tokens than the model takes.

    Examples
    --------
    >>> import faithlib
    >>> from transformers import BertConfig, BertForSequenceClassification
    >>> sizes = {"vocab_size": 9, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1}
    >>> model = BertForSequenceClassification(BertConfig(**sizes)).eval()
    >>> inputs = faithlib.tokens(model, [[1, 5, 7, 2], [1, 6, 2]])
    >>> inputs.n_features, inputs.attention_mask[1]
    (tensor([4, 3]), tensor([ True,  True,  True, False]))
    """
    model, tokenizer = _inside(model, tokenizer)
    if not isinstance(model, nn.Module | None):
        raise InputError(
            f"token ids for a {type(model).__name__}: these are for a torch module; a function reads texts, or pixels "
            "[B, C, H, W]"
        )
    if isinstance(ids, Mapping):
        attention_mask = ids.get("attention_mask") if attention_mask is None else attention_mask
        token_type_ids = ids.get("token_type_ids") if token_type_ids is None else token_type_ids
        ids = ids["input_ids"]
    tokenizer = getattr(model, "tokenizer", None) if tokenizer is None else tokenizer
    pad_id = getattr(tokenizer if tokenizer is not None else _config(model), "pad_token_id", None)
    if pad_id is None:
        raise InputError(
            "the id of padding is not known: give the tokenizer (with a pad_token), or set model.config.pad_token_id"
        )
    input_ids, by_length = _table(ids, "ids", pad_id)
    if attention_mask is None:
        mask = by_length
        if isinstance(ids, Tensor) or hasattr(ids, "ndim"):
            _check_unpadded(input_ids, pad_id)
    else:
        mask = _table(attention_mask, "attention_mask", 0)[0].bool()
    types = None if token_type_ids is None else _table(token_type_ids, "token_type_ids", 0)[0]
    most = most_tokens_of(model)
    if most is not None and int(mask.sum(dim=1).max()) > most:
        raise InputError(
            f"{int(mask.sum(dim=1).max())} tokens, and this {type(model).__name__} takes {most}: cut them before"
        )
    if feature_of is None:
        owned = mask & ~_special(input_ids, tokenizer)
        owners = torch.where(owned, owned.cumsum(dim=1) - 1, -1)
    else:
        owners = _table(feature_of, "feature_of", -1)[0]
    if owners.shape == input_ids.shape and bool((owners < 0).all(dim=1).any()):
        empty = int((owners < 0).all(dim=1).nonzero()[0])
        raise InputError(f"input {empty} has no token that may be erased: leave such inputs out of the batch")
    made = TextInputs(
        input_ids=input_ids,
        attention_mask=mask,
        feature_of=owners,
        n_features=owners.amax(dim=1) + 1,
        truncated=torch.zeros(len(input_ids), dtype=torch.bool),
        pad_id=pad_id,
        mask_id=getattr(tokenizer, "mask_token_id", None),
        token_type_ids=types,
    )
    if tokenizer is None:
        return made
    note_tokenizer(model, tokenizer)
    return _with_strings(made, tokenizer)


# ---------------------------------------------------------------------------------------------------------- the shell
@dataclass(frozen=True)
class UserInputs:
    """What a user handed over, recognised: how many inputs these are, and how those of some rows are made.

    `items`: what was handed over one by one, from which one that fails can be left out; of pixels and token ids, which
    come as a whole, there are none. `limit`: tokens read of a text, where texts are cut to so many.

    >>> UserInputs(2, lambda rows: WordInputs.from_texts(["good", "bad"])[rows]).make([1]).texts
    ('bad',)
    """

    total: int
    make: Callable[[list[int]], Inputs]
    items: Sequence[Any] = ()
    limit: int | None = None


def recognised(
    model: Any,
    held: Any,
    *,
    tokenizer: Any = None,
    unit: Any = None,
    spans: Sequence[Sequence[Span]] | None = None,
    max_length: int | None = None,
    are_files: bool = False,
) -> UserInputs:
    """Which of `texts`, `images` and `tokens` makes inputs of what a user handed over; `Inputs` stay as they are.

    `model` and `tokenizer` (or image processor) as `model_and_reader` and `unwrapped` give them; `are_files`: strings
    are names of files of images, whether the model says that it sees or not.

    Raises InputError for arguments that are not for this kind of inputs, and as `texts`, `images` and `tokens` do.

    >>> recognised(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "bad"]).total
    2
    """
    spans = items_of(spans)
    has_units = any(given is not None for given in (unit, spans, max_length))
    if isinstance(held, Inputs) or (_are_ids(held) and not sees(model)):
        if has_units:
            raise InputError(f"unit, spans, max_length: {type(held).__name__} are cut already; give plain texts")
        whole = held if isinstance(held, Inputs) else tokens(model, held, tokenizer=tokenizer)
        return UserInputs(len(whole), _rows_of(whole))
    items, pixels = _items_and_pixels(held)
    of_images = pixels is not None or are_images(items, model, are_files=are_files)
    if of_images and (spans is not None or max_length is not None):
        raise InputError("spans, max_length: these are for texts; of images `unit` is the side of a patch")
    if pixels is not None:
        whole = image_inputs_from_pixels(pixels, model, unit)
        return UserInputs(len(whole), _rows_of(whole))

    def images_of(rows: list[int]) -> Inputs:
        chosen = [items[row] for row in rows]
        return image_inputs_from_pixels(pixels_from_files(chosen, model, tokenizer), model, unit)

    if of_images:
        return UserInputs(len(items), images_of, items)
    limit = _limit(model, tokenizer, max_length)
    if spans is not None and len(spans) != len(items):
        raise InputError(
            f"{counted(len(spans), 'list')} of spans for {counted(len(items), 'text')}: expected one for each text"
        )

    def texts_of(rows: list[int]) -> Inputs:
        own = None if spans is None else [spans[row] for row in rows]
        return _texts([items[row] for row in rows], model, tokenizer, unit, own, limit)

    return UserInputs(len(items), texts_of, items, limit)


def is_for_images(tokenizer: Any, processor: Any) -> bool:
    """Whether what a user handed over beside strings says that these are names of files of images.

    >>> is_for_images(None, lambda image: torch.zeros(3, 8, 8)), is_for_images(None, None)
    (True, False)
    """
    return tokenizer is None and processor is not None and not hasattr(processor, "tokenize")


def model_and_inputs(model: Any, held: Any, tokenizer: Any = None, processor: Any = None) -> tuple[Any, Inputs]:
    """A model that can be asked, and all inputs of what a user handed over, on its device; `Inputs` stay where they
    are.

    Raises InputError for a pipeline of transformers, whose own way to read logits `evaluate` and `explain` follow.

    >>> model_and_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "bad"])[1].n_features
    tensor([2, 1])
    """
    if is_pipeline(model):
        raise InputError(
            f"a {type(model).__name__} is for evaluate and explain: give the model that it holds and what makes its "
            "inputs, pipeline.model and tokenizer=pipeline.tokenizer or processor=pipeline.image_processor"
        )
    if not isinstance(model, nn.Module) and hasattr(model, "predict_proba"):
        model = model.predict_proba
    if isinstance(held, Inputs):
        return model, held
    inside, reader = _inside(model, processor if tokenizer is None else tokenizer)
    given = recognised(inside, held, tokenizer=reader, are_files=is_for_images(tokenizer, processor))
    made = given.make(list(range(given.total)))
    if isinstance(made, ImageInputs):
        check_pixels(made, inside, stacklevel=4)
    warn_of_cut(made, range(given.total), given.total, given.limit, inside, reader, stacklevel=4)
    first = next(inside.parameters(), None) if isinstance(inside, nn.Module) else None
    return model, made if first is None else made.to(first.device)


def _inside(model: Any, reader: Any) -> tuple[Any, Any]:
    """The model inside pipelines and wrappers, and what makes its inputs; None, which some methods do without, as it
    is."""
    if model is None:
        return None, reader
    model, reader = model_and_reader(model, reader)
    return unwrapped(model), reader


def _rows_of(whole: Inputs) -> Callable[[list[int]], Inputs]:
    """Some rows of inputs that are there; all of them are these inputs as they are."""
    every = list(range(len(whole)))
    return lambda rows: whole if rows == every else whole[rows]


def _are_ids(held: Any) -> bool:
    """Whether these are token ids: a tokenizer's answer, whole numbers [B, L], or lists of whole numbers."""
    if isinstance(held, Mapping):
        return "input_ids" in held
    if getattr(held, "ndim", 0) == 2:
        kind = getattr(getattr(held, "dtype", None), "kind", "")  # of NumPy
        return kind in ("i", "u") or (isinstance(held, Tensor) and not held.is_floating_point())
    first = held[0] if isinstance(held, list | tuple) and held else None
    return isinstance(first, list | tuple) and bool(first) and all(type(number) is int for number in first)


def _items_and_pixels(held: Any) -> tuple[list[Any], Any]:
    """What was handed over as a list (arrays of images stay arrays, one each), and its pixels where it is these."""
    is_array = getattr(held, "ndim", 0) > 2
    items = list(held) if is_array else listed(held, "text or image")
    return items, pixels_in(held if is_array else items)


# --------------------------------------------------------------------------------------------------------------- texts
def _texts(
    items: Sequence[Any],
    model: Any,
    tokenizer: Any,
    unit: str | None,
    spans: Sequence[Sequence[Span]] | None,
    limit: int | None,
) -> TextInputs | WordInputs:
    """Texts for the `model`, which is inside all wrappers, cut to `limit` tokens."""
    if spans is not None and unit is not None:
        raise InputError(f"spans and unit {unit!r}: give one of the two")
    reads_tokens = isinstance(model, nn.Module) or (model is None and tokenizer is not None)
    given: dict[str, Any] = {"unit": "word" if unit is None else unit, "words": None}
    if spans is not None:
        given = {"unit": "wordpiece" if reads_tokens else "word", "words": spans}
    if not reads_tokens:
        return WordInputs.from_texts(items, **given)
    if isinstance(model, Prompt):
        return model.inputs(items, max_length=limit, **given)
    if isinstance(items[0], Mapping) and "input_ids" in items[0]:
        raise InputError(
            f"inputs are a list of {type(items[0]).__name__}: give their token ids, "
            "tokens(model, [each['input_ids'] for each in inputs]), or the texts with tokenizer=..."
        )
    if tokenizer is None:
        raise InputError(
            f"inputs are {type(items[0]).__name__}: expected images, pixels [C, H, W] or TextInputs; for plain texts "
            "give the model's tokenizer as well, evaluate(model, texts, tokenizer=tokenizer), and for files of images "
            "what makes pixels of them, processor=..."
        )
    made = TextInputs.from_texts(items, tokenizer, max_length=limit, **given)
    note_tokenizer(model, tokenizer)
    return made


def _limit(model: Any, tokenizer: Any, max_length: int | None) -> int | None:
    """Tokens that a text may have: those asked for, at most as many as model and tokenizer take."""
    fits = max_length is None or (hasattr(max_length, "__index__") and max_length >= 1 and isinstance(model, nn.Module))
    if not fits:
        raise InputError(f"max_length {max_length}: expected a whole number, at least 1, and a model that reads tokens")
    tokenizer = getattr(model, "tokenizer", None) if tokenizer is None else tokenizer
    limits = [most_tokens_of(model), getattr(tokenizer, "model_max_length", None)]
    return min([max_length or _MOST_TOKENS, *(most for most in limits if most)])


def most_tokens_of(model: Any) -> int | None:
    """Positions that a model has, by its table of them or its configuration; None where neither says.

    >>> from transformers import RobertaConfig, RobertaForSequenceClassification
    >>> sizes = {"vocab_size": 9, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1}
    >>> most_tokens_of(RobertaForSequenceClassification(RobertaConfig(**sizes, max_position_embeddings=20)))
    18
    """
    stated = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    places = places_of(model) if isinstance(model, nn.Module) else None
    return places or (stated if isinstance(stated, int) and stated > 0 else None)


def warn_of_cut(
    inputs: Inputs,
    rows: Sequence[int],
    total: int,
    limit: int | None,
    model: Any,
    tokenizer: Any,
    *,
    stacklevel: int = 3,
) -> None:
    """A warning where the ends of texts were cut off: of inputs that are these `rows` of a `total` that a user gave.

    `limit`: tokens that texts were cut to, where that is known.

    >>> warn_of_cut(WordInputs.from_texts(["good"]), [0], 1, None, None, None)
    """
    cut = inputs.truncated.tolist() if isinstance(inputs, TextInputs) else []
    cut_rows = [row for row, is_cut in zip(rows, cut, strict=False) if is_cut]
    if not cut_rows:
        return
    to = "" if limit is None else f" to {limit} tokens"
    if limit is not None and limit < (_limit(model, tokenizer, 1 << 30) or 0):
        to += " (max_length= of RunSettings or of texts raises that)"
    were, their = ("was", "its") if len(cut_rows) == 1 else ("were", "their")
    end = "beginning" if getattr(tokenizer, "truncation_side", "right") == "left" else "end"
    which = f"{len(cut_rows)} of {counted(total, 'text')}"
    message = f"{which} {were} cut off at {their} {end}{to}, {format_rows(cut_rows)}"
    advice = "What is cut off is not explained (`truncated` of the inputs, and of a table's attrs)"
    warnings.warn(f"{message}. {advice}", stacklevel=stacklevel)


# -------------------------------------------------------------------------------------------------------------- tokens
def _table(values: Any, name: str, filling: int) -> tuple[Tensor, Tensor]:
    """Whole numbers [B, L], shorter rows filled up, and where there are any, bool [B, L]."""
    rows = values.tolist() if hasattr(values, "tolist") else [items_of(row) for row in items_of(values)]
    is_table = isinstance(rows, list) and bool(rows) and all(isinstance(row, list) and row for row in rows)
    if not is_table or not all(isinstance(number, int) for row in rows for number in row):
        raise InputError(f"{name}: expected whole numbers, a tensor [B, L] or a list for each input, none empty")
    longest = max(len(row) for row in rows)
    table = torch.tensor([row + [filling] * (longest - len(row)) for row in rows])
    sizes = torch.tensor([len(row) for row in rows])
    return table.long(), torch.arange(longest) < sizes[:, None]


def _check_unpadded(ids: Tensor, pad_id: int) -> None:
    """InputError where ids [B, L] that come without a mask hold padding."""
    padded = ((ids[:, 0] == pad_id) | (ids[:, -1] == pad_id)).nonzero()[:, 0].tolist()
    if padded:
        raise InputError(
            f"ids of input {padded[0]} begin or end with the id of padding, {pad_id}: give attention_mask, which says "
            "what is padding, or lists without it"
        )


def _special(ids: Tensor, tokenizer: Any) -> Tensor:
    """Where special tokens are that no text holds by itself: bool [B, L]."""
    special = set(getattr(tokenizer, "all_special_ids", ()))
    special -= {getattr(tokenizer, "unk_token_id", None), getattr(tokenizer, "mask_token_id", None)}
    return torch.isin(ids, torch.tensor(sorted(special), dtype=torch.long))


def _with_strings(inputs: TextInputs, tokenizer: Any) -> TextInputs:
    """The same inputs with the strings of tokens and features."""
    names = []
    features = []
    rows = zip(inputs.input_ids.tolist(), inputs.feature_of.tolist(), inputs.lengths.tolist(), strict=True)
    for ids, owners, length in rows:
        strings = [str(string) for string in tokenizer.convert_ids_to_tokens(ids[:length])]
        owned: dict[int, list[str]] = {}
        for string, owner in zip(strings, owners, strict=False):
            owned.setdefault(owner, []).append(string)
        names.append(tuple(strings))
        features.append(tuple(" ".join(owned.get(feature, ())) for feature in range(max(owners) + 1)))
    return replace(inputs, tokens=tuple(names), features=tuple(features))


def _config(model: Any) -> Any:
    config: Any = getattr(model, "config", None)
    return config.get_text_config() if hasattr(config, "get_text_config") else config


# ----------------------------------------------------------------------------------------------------- what holds them
def model_and_reader(model: Any, reader: Any = None) -> tuple[Any, Any]:
    """A model that can be called, and what makes its inputs (tokenizer, image processor); both of a pipeline.

    Raises InputError for what is not a model; ModelError for a pipeline that computes something else than its model.

    >>> model = lambda texts: [[0.5, 0.5] for _ in texts]
    >>> model_and_reader(model)[0] is model
    True
    """
    if is_pipeline(model):
        _check_task(model)
        its_reader = getattr(model, "tokenizer", None) or getattr(model, "image_processor", None)
        return model.model, its_reader if reader is None else reader
    if not isinstance(model, nn.Module) and hasattr(model, "predict_proba"):  # of scikit-learn, SetFit
        return model.predict_proba, reader
    if not isinstance(model, nn.Module | type) and hasattr(model, "fit") and hasattr(model, "predict"):
        raise InputError(
            f"model is a {type(model).__name__} without predict_proba, whose call or prediction is a label: expected "
            "probabilities; calibrate it, CalibratedClassifierCV(model).fit(...), or give model.decision_function with "
            "output='value'"
        )
    if not callable(model) or isinstance(model, type):
        article = "the class" if isinstance(model, type) else "a"
        kind = f"{article} {getattr(model, '__name__', type(model).__name__)}"
        raise InputError(
            f"model is {kind}: expected a torch module or a function. Load a model by its name, "
            "AutoModelForSequenceClassification.from_pretrained(...).eval(); of an object that holds one beside its "
            "tokenizer give both, evaluate(it.model, texts, tokenizer=it.tokenizer)"
        )
    return model, reader


def is_pipeline(model: Any) -> bool:
    """Whether this is a pipeline of transformers.

    >>> is_pipeline(nn.Identity())
    False
    """
    return hasattr(model, "task") and isinstance(getattr(model, "model", None), nn.Module)


# Pipelines of one classification of each input; made by their class they do not name their task.
_OF_MODEL_ALONE = {"TextClassificationPipeline", "ImageClassificationPipeline"}
_TASKS = ("text-classification", "sentiment-analysis", "image-classification")
_ZERO_SHOT = (
    "lambda texts: [[dict(zip(one['labels'], one['scores']))[label] for label in labels] for one in pipe(texts, "
    "labels)]"
)


def _check_task(pipeline: Any) -> None:
    """ModelError for a pipeline that computes something else than its model does."""
    names = {kind.__name__ for kind in type(pipeline).__mro__}
    if names & _OF_MODEL_ALONE or pipeline.task in _TASKS:
        return
    check_task(pipeline.model)
    advice = "from texts to probabilities"
    if "ZeroShotClassificationPipeline" in names:
        advice += f", {_ZERO_SHOT}"
    raise ModelError(
        f"a {type(pipeline).__name__} answers something else about a text than the {type(pipeline.model).__name__} in "
        f"it: expected a pipeline for text-classification or image-classification; ask this one as a function {advice}"
    )
