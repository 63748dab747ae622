"""What is explained: batches of texts or images, cut into *features*.

A feature is the unit that an attribution scores and an erasure removes: a wordpiece, a word, a sentence
(`segmentation`), an image patch, any group of pixels. `feature_of` is the feature that each position belongs to; -1
marks positions that are never erased ([CLS], [SEP], a query, padding).

Shape letters: B inputs, L tokens, F features (the largest count in the batch), C channels, H and W pixels.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

from faithlib import segmentation as units
from faithlib._warnings_log import note
from faithlib.errors import InputError, check_counts, counted
from faithlib.names import Pool, Unit
from faithlib.segmentation import UNITS, Span

__all__ = [
    "Batch",
    "ImageInputs",
    "Inputs",
    "TextInputs",
    "WordInputs",
    "pooled",
]


class Batch:
    """What batches of inputs have in common, whatever these are.

    >>> batch = WordInputs.from_texts(["good film", "good"])
    >>> len(batch), batch.feature_mask.tolist(), batch[[1]].texts
    (2, [[True, True], [True, False]], ('good',))
    """

    n_features: Tensor

    def __len__(self) -> int:
        return len(self.n_features)

    @property
    def feature_mask(self) -> Tensor:
        """True where an input has a feature: bool [B, F]."""
        return torch.arange(int(self.n_features.max()), device=self.n_features.device) < self.n_features[:, None]

    def __getitem__(self, rows: slice | Sequence[int] | Tensor) -> Self:
        """The chosen inputs as a batch of their own."""
        index = torch.arange(len(self))[rows if isinstance(rows, slice | Tensor) else list(rows)].reshape(-1)
        if not len(index):
            raise InputError(f"none of {counted(len(self), 'input')} is chosen: a batch needs at least one")
        made = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, Tensor) and len(value) == len(self):
                vars(made)[name] = value[index]
            elif isinstance(value, tuple) and value:
                vars(made)[name] = tuple(value[i] for i in index.tolist())
        return made

    def to(self, device: torch.device | str) -> Self:
        """The same batch with its tensors on another device.

        Parameters
        ----------
        device : torch.device | str
            Where to.

        Returns
        -------
        Self
            A copy.
        """
        made = copy.copy(self)
        vars(made).update({k: value.to(device) for k, value in vars(self).items() if isinstance(value, Tensor)})
        return made


@dataclass(frozen=True)
class TextInputs(Batch):
    """A right-padded batch of tokenised texts; rows padded on the left are turned.

    Parameters
    ----------
    input_ids : Tensor
        Token ids, [B, L].
    attention_mask : Tensor
        True at tokens, False at padding, bool [B, L].
    feature_of : Tensor
        The feature of each position, [B, L]; -1 for positions that are never erased.
    n_features : Tensor
        Features of each input, [B].
    truncated : Tensor
        True where the text was longer than the limit and its end was cut off, bool [B].
    pad_id : int
        Id of the padding token.
    mask_id : int, optional
        Id of the mask token, where there is one.
    token_type_ids : Tensor, optional
        [B, L], for models that have them.
    tokens, features : tuple[tuple[str, ...], ...], default ()
        The strings of the positions and of the features.
    spans : tuple[tuple[Span, ...], ...], default ()
        The characters each feature covers in its text (of a pair, in `text + " " + pair`).
    feature_of_word : tuple[tuple[int, ...], ...], default ()
        For words given by the caller, the feature of each, -1 for a word without a token.
    follows : Tensor, optional
        The tokens that a language model is asked for, [B, C, T] (`backends.prompts`).

    Raises
    ------
    InputError
        Where shapes disagree, an input has no feature, padding is in the middle of a row, or a feature is at padding.

    Examples
    --------
    >>> ids, own = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two own, [SEP]
    >>> texts = TextInputs(ids, ids > 0, own, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> texts.lengths, texts.feature_mask
    (tensor([4]), tensor([[True, True]]))
    """

    input_ids: Tensor
    attention_mask: Tensor
    feature_of: Tensor
    n_features: Tensor
    truncated: Tensor
    pad_id: int
    mask_id: int | None = None
    token_type_ids: Tensor | None = None
    tokens: tuple[tuple[str, ...], ...] = ()
    features: tuple[tuple[str, ...], ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()
    feature_of_word: tuple[tuple[int, ...], ...] = ()
    follows: Tensor | None = None

    def __post_init__(self) -> None:
        shape = tuple(self.input_ids.shape)
        for name in ("attention_mask", "feature_of", "token_type_ids"):
            value = getattr(self, name)
            if value is not None and tuple(value.shape) != shape:
                raise InputError(f"{name} has shape {tuple(value.shape)}, input_ids has {shape}: give both as [B, L]")
        _check_features(self.n_features, self.feature_of.amax(dim=1) + 1)
        self._turn(shape[1])
        holes = (~self.attention_mask[:, :-1] & self.attention_mask[:, 1:]).any()
        if holes or not self.attention_mask[:, 0].all():
            raise InputError("padding must stand at one end of every row, and no row may be all padding")
        if bool(((self.feature_of >= 0) & ~self.attention_mask).any()):
            raise InputError("feature_of names features where attention_mask says padding: give -1 there")

    def _turn(self, length: int) -> None:
        """Rows whose padding comes first, with it last."""
        before = self.attention_mask.int().argmax(dim=1, keepdim=True)
        if bool(before.any()):
            turned = (torch.arange(length, device=before.device) + before) % length
            for name in ("input_ids", "attention_mask", "feature_of", "token_type_ids"):
                value = getattr(self, name)
                object.__setattr__(self, name, None if value is None else value.gather(1, turned))

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str] | Iterable[tuple[str, str]],
        tokenizer: Any,
        *,
        queries: Iterable[str] | None = None,
        pairs: Iterable[str] | None = None,
        words: Sequence[Sequence[Span]] | None = None,
        within: Sequence[Sequence[Span]] | None = None,
        unit: Unit = "wordpiece",
        max_length: int | None = None,
    ) -> TextInputs:
        """Tokenise texts with a fast Hugging Face tokenizer, and cut them into features.

        Parameters
        ----------
        texts : Iterable[str] | Iterable[tuple[str, str]]
            Any container of strings, or of tuples (text, pair).
        tokenizer
            A fast tokenizer of Hugging Face.
        queries : Iterable[str], optional
            Rows read `[CLS] query [SEP] text [SEP]`; the query is protected, only the text carries features and is ever
            cut.
        pairs : Iterable[str], optional
            Rows read `[CLS] text [SEP] pair [SEP]`, a premise and its hypothesis for example; both carry features,
            numbered through, and `spans` and `words` count the characters of `text + " " + pair`. The same may be given
            as `texts` of tuples (text, pair).
        words : Sequence[Sequence[Span]], optional
            The caller's own features: for each text the (start, end) characters of its words, ascending, none over
            another, as another tool cuts them.
        within : Sequence[Sequence[Span]], optional
            The spans (start, end) of each text that carry features; what is around them is protected, the words of a
            template for example.
        unit : Unit, default "wordpiece"
            What a feature is. "word": the pieces that the tokenizer's pre-tokeniser keeps together; in scripts without
            blanks every piece (rules: `faithlib.segmentation`).
        max_length : int, optional
            Tokens of a row; default: the tokenizer's own limit, at most 512. A longer row loses the end of its text, a
            pair that of the longer part, and `truncated` says so.

        Returns
        -------
        TextInputs
            B texts, in their order.

        Raises
        ------
        InputError
            No text, a text without a single token (or none within its words), a query that leaves no room, an unknown
            unit. Likewise for words that are no ascending spans of their text, and options that exclude each other.
            Also: texts that are no strings (their rows are named), a tokenizer that gives no characters of its tokens.

        Notes
        -----
        A piece belongs to the word of `words` that it overlaps. Words that share a piece become one feature, whose span
        runs from the first to the last of them; a word without a piece (cut off, or dropped by the tokenizer's
        clean-up) has none. `feature_of_word` leads from the words as given to the features: what is said of word w
        holds for feature `feature_of_word[b][w]`, and -1 means that nothing can be said. A piece outside all words is
        protected, except blanks ("▁") that the tokenizer writes before a word's first piece.
        """
        texts = units.listed(texts)
        if pairs is None and all(isinstance(text, tuple | list) and len(text) == 2 for text in texts):
            _check_pairs(texts)
            texts, pairs = map(list, zip(*texts, strict=True))
        texts = units.readable(texts)
        pairs = None if pairs is None else units.readable(pairs, "pair")
        queries = None if queries is None else units.readable(queries, "query")
        _check_arguments(texts, queries, pairs, words, within, unit)
        units.check_tokenizer(tokenizer, max_length)
        limit = min(max_length or 512, 512 if tokenizer.model_max_length is None else tokenizer.model_max_length)
        if queries is not None:
            _check_queries(queries, tokenizer, limit)
        first, second = (texts, pairs) if queries is None else (queries, texts)
        form = {"max_length": limit, "padding": True, "padding_side": "right", "return_tensors": "pt"}
        batch = tokenizer(first, second, truncation=True if queries is None else "only_second", **form)
        wholes = list(texts) if pairs is None else [f"{text} {pair}" for text, pair in zip(texts, pairs, strict=True)]
        given = words if words is not None else units.cuts(texts, unit, pairs, within)
        feature_of = torch.full(batch["input_ids"].shape, -1)
        rows = []
        for i, (text, whole, encoding) in enumerate(zip(texts, wholes, batch.encodings, strict=True)):
            # Where the characters of each segment begin; a segment without a beginning carries no features.
            pieces = units.pieces_of(encoding, {0: 0, 1: len(text) + 1} if queries is None else {1: 0})
            if within is not None:
                pieces = [p for p in pieces if any(s < p.span[1] and p.span[0] < e for s, e in within[i])]
            row = units.by_token(pieces, unit, whole) if given is None else units.by_words(pieces, given[i], whole, i)
            if not row.spans:
                where = "no tokens" if given is None else f"no token within its {len(given[i])} words"
                raise InputError(f"text {i} ({whole!r}) has {where}: leave such texts out of the batch")
            feature_of[i, [piece.position for piece in pieces]] = torch.tensor(row.owners)
            rows.append(row)
        if unit == "character" and words is None:
            _note_joined(wholes, [row.spans for row in rows])
        return cls(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"].bool(),
            feature_of=feature_of,
            n_features=torch.tensor([len(row.spans) for row in rows]),
            truncated=torch.tensor([bool(e.overflowing) for e in batch.encodings]),
            pad_id=tokenizer.pad_token_id,
            mask_id=tokenizer.mask_token_id,
            token_type_ids=batch.get("token_type_ids"),
            tokens=tuple(tuple(e.tokens[: sum(e.attention_mask)]) for e in batch.encodings),
            features=tuple(row.names for row in rows),
            spans=tuple(row.spans for row in rows),
            feature_of_word=() if words is None else tuple(row.feature_of_word for row in rows),
        )

    @property
    def lengths(self) -> Tensor:
        """Tokens a row, padding not counted: [B]."""
        return self.attention_mask.sum(dim=1)

    @property
    def has_protected(self) -> bool:
        """Whether every row has a token that is never erased."""
        return bool(((self.feature_of < 0) & self.attention_mask).any(dim=1).all())

    def __getitem__(self, rows: slice | Sequence[int] | Tensor) -> TextInputs:
        """The chosen rows as a batch of their own, with no more padding than they need."""
        made = super().__getitem__(rows)
        length = int(made.lengths.max())
        cut: dict[str, Any] = {name: v[:, :length] for name, v in vars(made).items() if getattr(v, "ndim", 0) == 2}
        return replace(made, **cut)

    def by_piece(self) -> TextInputs:
        """The same rows with every erasable position a feature of its own.

        Returns
        -------
        TextInputs
            B rows, `n_features` [B] their erasable tokens; without `spans` and `feature_of_word`.
        """
        owned = self.feature_of >= 0
        feature_of = torch.where(owned, owned.cumsum(dim=1) - 1, -1)
        names = tuple(
            tuple(token for token, is_own in zip(tokens, row, strict=False) if is_own)
            for tokens, row in zip(self.tokens, owned.tolist(), strict=False)
        )
        return replace(
            self, feature_of=feature_of, n_features=owned.sum(dim=1), features=names, spans=(), feature_of_word=()
        )

    def keys(self) -> tuple[int, ...]:
        """A digest of each row's content: the same text has the same key in every batch and at every padding.

        Returns
        -------
        tuple of int
            B numbers of 64 bits, of token ids, features, token types and continuations.
        """
        columns = [self.input_ids, self.feature_of]
        if self.token_type_ids is not None:
            columns.append(self.token_type_ids)
        stacked = torch.stack(columns, dim=1).cpu()
        after = [b""] * len(self) if self.follows is None else [ids.cpu().numpy().tobytes() for ids in self.follows]
        return tuple(
            _digest(row[:, :n].numpy().tobytes() + ids)
            for row, n, ids in zip(stacked, self.lengths.tolist(), after, strict=True)
        )


@dataclass(frozen=True)
class ImageInputs(Batch):
    """A batch of images of one size, cut into features by one map or by one map for each.

    Parameters
    ----------
    pixels : Tensor
        Floats, normalised as the model expects, [B, C, H, W].
    feature_of : Tensor
        The feature of each pixel, [H, W], or [B, H, W] for segments of each image (superpixels); -1 for pixels that are
        never erased.
    n_features : Tensor
        Features of each input, [B].

    Raises
    ------
    InputError
        For other shapes, pixels that are no floats or not finite, and an image without features.

    Examples
    --------
    >>> ImageInputs.from_pixels(torch.zeros(1, 3, 2, 4), patch=2).feature_of[0]
    tensor([0, 0, 1, 1])
    """

    pixels: Tensor
    feature_of: Tensor
    n_features: Tensor

    def __post_init__(self) -> None:
        shape = tuple(self.pixels.shape)
        expected = ((*shape[-2:],), (shape[0], *shape[-2:]))
        if self.pixels.ndim != 4 or tuple(self.feature_of.shape) not in expected:
            raise InputError(
                f"pixels have shape {shape} and feature_of {tuple(self.feature_of.shape)}: expected [B, C, H, W] and "
                "[H, W] or [B, H, W]"
            )
        if not self.pixels.is_floating_point():
            raise InputError(f"pixels are {self.pixels.dtype}: {_NORMALISED}")
        if not torch.isfinite(self.pixels).all():
            raise InputError("pixels hold NaN or infinite values: clean the images first")
        _check_features(self.n_features, self.feature_of.amax(dim=(-2, -1)) + 1)

    @classmethod
    def from_pixels(
        cls, pixels: Any, *, patch: int | None = None, segments: Any = None, is_normalised: bool = True
    ) -> ImageInputs:
        """Cut pixels into square patches, row by row, or into segments.

        Parameters
        ----------
        pixels
            A tensor or an array, [B, C, H, W].
        patch : int, optional
            Side of the square patches, in pixels.
        segments : optional
            Integers [H, W] or [B, H, W], such as superpixels, instead of patches. They are numbered from 0 in ascending
            order, negative ones never erased.
        is_normalised : bool, default True
            False for a model that takes pixels from 0 to 255 itself.

        Returns
        -------
        ImageInputs
            B images, in their order.

        Raises
        ------
        InputError
            For pixels that are integers or reach from 0 to 255, since models expect normalised ones; for images without
            a channel, patches that do not fill the image, segments of another size, and where not exactly one of
            `patch` and `segments` is given.

        Examples
        --------
        >>> ImageInputs.from_pixels(torch.zeros(1, 3, 1, 4), segments=[[5, 5, 7, -1]]).feature_of
        tensor([[ 0,  0,  1, -1]])
        """
        pixels = torch.as_tensor(pixels)
        if pixels.ndim != 4 or not pixels.numel():
            raise InputError(
                f"pixels have shape {tuple(pixels.shape)}: expected [B, C, H, W], none 0; grayscale images need "
                "a channel, pixels[:, None]; a single image is a batch of one, pixels[None]"
            )
        if is_normalised and not pixels.is_floating_point():
            raise InputError(f"pixels are {pixels.dtype}: {_NORMALISED}")
        if pixels.shape[3] in (1, 3, 4) and min(pixels.shape[1:3]) > 4:
            raise InputError(
                f"pixels have shape {tuple(pixels.shape)}, their channels last: expected [B, C, H, W]; give "
                "pixels.permute(0, 3, 1, 2)"
            )
        if is_normalised and bool((pixels >= 0).all()) and float(pixels.max()) > 16:
            raise InputError(f"pixels reach from {float(pixels.min()):g} to {float(pixels.max()):g}: {_NORMALISED}")
        if (patch is None) == (segments is None):
            raise InputError("patch and segments: give one of the two")
        feature_of = _patches(pixels.shape[-2], pixels.shape[-1], patch) if patch is not None else _segments(segments)
        n_features = feature_of.amax(dim=(-2, -1)) + 1
        n_features = n_features.repeat(len(pixels)) if feature_of.ndim == 2 else n_features
        return cls(pixels=pixels.float(), feature_of=feature_of.to(pixels.device), n_features=n_features)

    def maps(self, rows: Tensor) -> Tensor:
        """The feature of every pixel of some images.

        Parameters
        ----------
        rows : Tensor
            Places of the images, [R].

        Returns
        -------
        Tensor
            [R, H, W].

        Examples
        --------
        >>> ImageInputs.from_pixels(torch.zeros(2, 3, 2, 4), patch=2).maps(torch.tensor([1, 0, 1])).shape
        torch.Size([3, 2, 4])
        """
        return self.feature_of.expand(len(rows), -1, -1) if self.feature_of.ndim == 2 else self.feature_of[rows]

    def __getitem__(self, rows: slice | Sequence[int] | Tensor) -> ImageInputs:
        """The chosen images as a batch of their own."""
        made = super().__getitem__(rows)  # a map of all may be as high as there are images
        return made if self.feature_of.ndim == 3 else replace(made, feature_of=self.feature_of)

    def keys(self) -> tuple[int, ...]:
        """A digest of each image's content.

        Returns
        -------
        tuple of int
            B numbers of 64 bits, of pixels and features.
        """
        layouts, images = self.maps(torch.arange(len(self))).cpu().numpy(), self.pixels.cpu().numpy()
        return tuple(_digest(layout.tobytes() + image.tobytes()) for layout, image in zip(layouts, images, strict=True))


@dataclass(frozen=True)
class WordInputs(Batch):
    """Texts as they are, for a function of strings; features are their words, sentences or characters (`segmentation`).

    Parameters
    ----------
    texts : tuple[str, ...]
        B texts.
    spans : tuple[tuple[Span, ...], ...]
        The (start, end) characters of each word.
    n_features : Tensor
        Words of each text, [B].
    mask : str, default "[MASK]"
        The string that takes a word's place where it is masked and not deleted.
    empty : str, default ""
        The text that is asked where nothing is left of one.

    Examples
    --------
    >>> WordInputs.from_texts(["good film", "good"]).n_features
    tensor([2, 1])
    """

    texts: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...]
    n_features: Tensor
    mask: str = "[MASK]"
    empty: str = ""

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        unit: Unit = "word",
        words: Sequence[Sequence[Span]] | None = None,
        mask: str = "[MASK]",
        empty: str = "",
    ) -> WordInputs:
        """Cut texts into features, for a function of strings.

        Parameters
        ----------
        texts : Iterable[str]
            Any container of strings.
        unit : Unit, default "word"
            What a feature is.
        words : Sequence[Sequence[Span]], optional
            The caller's own features instead: for each text the (start, end) characters of its words.
        mask : str, default "[MASK]"
            The string that takes a word's place where it is masked and not deleted.
        empty : str, default ""
            The text that is asked where nothing is left of one.

        Returns
        -------
        WordInputs
            B texts, in their order.

        Raises
        ------
        InputError
            For no text, texts without a word or that are no strings, another unit, and words that are no ascending
            spans of their text.

        Examples
        --------
        >>> WordInputs.from_texts(["not bad  at all"]).spans
        (((0, 3), (4, 7), (9, 11), (12, 15)),)
        """
        texts = units.readable(texts)
        if unit not in UNITS[1:]:
            raise InputError(f"unit {unit!r}: of a function of texts expected one of {', '.join(map(repr, UNITS[1:]))}")
        given = words if words is not None else [units.cut(text, unit) for text in texts]
        spans = [tuple((start, end) for start, end in row) for row in given]
        if len(spans) != len(texts):
            raise InputError(
                f"{counted(len(spans), 'list')} of words for {counted(len(texts), 'text')}: expected one for each text"
            )
        for i, (text, row) in enumerate(zip(texts, spans, strict=True)):
            units.check_words(row, text, i)
            if not row:
                raise InputError(f"text {i} ({text!r}) has no words: leave such texts out of the batch")
        return cls(tuple(texts), tuple(spans), torch.tensor([len(row) for row in spans]), mask, empty)

    def keys(self) -> tuple[int, ...]:
        """A digest of each text.

        Returns
        -------
        tuple of int
            B numbers of 64 bits.
        """
        return tuple(_digest(text.encode()) for text in self.texts)

    def without(self, i: int, keep: Sequence[bool], *, masked: bool) -> str:
        """A text without some of its words.

        Parameters
        ----------
        i : int
            Which text.
        keep : Sequence[bool]
            Which of its words stay, [F].
        masked : bool
            Whether `mask` takes the place of the others. Otherwise each goes with the blanks before it (the first with
            those after it).

        Returns
        -------
        str
            What is left, or `empty` where that is nothing.

        Examples
        --------
        >>> inputs = WordInputs.from_texts(["not bad  at all"], mask="___")
        >>> [inputs.without(0, [False, True, False, True], masked=masked) for masked in (False, True)]
        ['bad all', '___ bad  ___ all']
        """
        text, end, parts = self.texts[i], 0, []
        for (start, stop), stays in zip(self.spans[i], keep, strict=False):
            if stays or masked:
                parts.append(text[end:start] + (text[start:stop] if stays else self.mask))
            end = stop
        whole = "".join(parts) + text[end:]
        whole = whole if masked or keep[0] else whole.lstrip()
        return whole if whole.strip() else self.empty or whole


Inputs = TextInputs | ImageInputs | WordInputs


def pooled(positions: Tensor, feature_of: Tensor, feature_mask: Tensor, pool: Pool) -> Tensor:
    """Scores of positions to scores of features; protected positions are dropped.

    Parameters
    ----------
    positions : Tensor
        Scores of positions, [B, L].
    feature_of : Tensor
        The feature of each position, [B, L], -1 where there is none.
    feature_mask : Tensor
        Which features each input has, bool [B, F].
    pool : Pool
        "sum" or "mean", over a feature's positions.

    Returns
    -------
    Tensor
        [B, F].

    Examples
    --------
    >>> positions, feature_of = torch.tensor([[9.0, 1.0, 2.0, 4.0]]), torch.tensor([[-1, 0, 0, 1]])
    >>> pooled(positions, feature_of, torch.tensor([[True, True]]), "sum")
    tensor([[3., 4.]])
    """
    owned = feature_of >= 0
    index = feature_of.clamp(min=0)
    scores = positions.new_zeros(feature_mask.shape)
    scores.scatter_add_(1, index, torch.where(owned, positions, 0))
    if pool == "mean":
        scores /= torch.zeros_like(scores).scatter_add_(1, index, owned.to(scores.dtype)).clamp(min=1)
    return scores


_NORMALISED = (
    "expected floats, normalised as the model expects. Give PIL images with the model's own transform, or for a model "
    "that takes 0 to 255 itself pixels.float() with is_normalised=False"
)


def _patches(height: int, width: int, patch: int) -> Tensor:
    check_counts(patch=patch)
    if height % patch or width % patch:
        sides = [side for side in range(4, min(height, width) // 2 + 1) if height % side == 0 and width % side == 0]
        fits = f"patches of {min(sides, key=lambda side: abs(side - patch))} pixels, " if sides else ""
        raise InputError(
            f"an image of {height} x {width} pixels is no whole number of {patch}-pixel patches: expected {fits}images "
            "resized to whole patches, or segments of your own, ImageInputs.from_pixels(pixels, segments=integers of "
            "[H, W]); where no size is given, patches are of nearly the model's"
        )
    down, across = torch.arange(height) // patch, torch.arange(width) // patch
    return down[:, None] * (width // patch) + across[None, :]


def _segments(segments: Any) -> Tensor:
    """Maps whose segments are numbered from 0 without gaps, in each image."""
    maps = torch.as_tensor(segments)
    if maps.is_floating_point() or maps.ndim not in (2, 3):
        raise InputError(f"segments are {maps.dtype} {list(maps.shape)}: expected integers [H, W] or [B, H, W]")
    numbered = torch.full(maps.shape, -1)
    for numbers, given in zip(numbered.view(-1, *maps.shape[-2:]), maps.view(-1, *maps.shape[-2:]), strict=True):
        numbers[given >= 0] = given[given >= 0].unique(return_inverse=True)[1]
    return numbered


def _note_joined(texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> None:
    """A note where features that were to be characters are tokens of several."""
    sizes = [
        len(units.cut(text[start:end], "character")) for text, of in zip(texts, spans, strict=True) for start, end in of
    ]
    several = sum(size > 1 for size in sizes)
    if several:
        have = "has" if several == 1 else "have"
        of_all = f"{several} of {counted(len(sizes), 'feature')}"
        note("character", f"{of_all} {have} several characters, those of one token")


def _check_pairs(texts: Sequence[Any]) -> None:
    """InputError where lists of two strings may be the words of a text and no pair: none of them holds a blank."""
    parts = [part for text in texts for part in text]
    of_words = all(isinstance(part, str) and not any(character.isspace() for character in part) for part in parts)
    if of_words and not any(isinstance(text, tuple) for text in texts):
        raise InputError(
            f"text 0 is {texts[0]!r}, a list of two words: of a text cut into words expected the text, "
            "' '.join(words), and for a pair of texts a tuple (text, other text)"
        )


def _check_arguments(texts: Any, queries: Any, pairs: Any, words: Any, within: Any, unit: str) -> None:
    if unit not in UNITS:
        raise InputError(f"unit {unit!r}: expected one of {', '.join(map(repr, UNITS))}, or spans of your own")
    if queries is not None and pairs is not None:
        raise InputError("queries and pairs: give one of the two; queries are protected, pairs carry features")
    if words is not None and unit != "wordpiece":
        raise InputError(f"words and unit {unit!r}: give one of the two")
    given_beside = (("queries", queries), ("pairs", pairs), ("lists of words", words), ("spans within", within))
    for name, given in given_beside:
        if given is not None and len(given) != len(texts):
            raise InputError(f"{len(given)} {name} for {counted(len(texts), 'text')}: expected one for each text")


def _check_queries(queries: Sequence[str], tokenizer: Any, limit: int) -> None:
    room = limit - tokenizer.num_special_tokens_to_add(pair=True)
    sizes = [len(ids) for ids in tokenizer(list(queries), add_special_tokens=False)["input_ids"]]
    for i, size in enumerate(sizes):
        if size >= room:
            raise InputError(f"query {i} has {size} tokens and leaves no room for its text within {limit}: shorten it")


def _check_features(n_features: Tensor, counted: Tensor) -> None:
    if not torch.equal(n_features.cpu(), counted.cpu().expand_as(n_features)):
        raise InputError(
            f"n_features {n_features.tolist()} and feature_of (largest index + 1: {counted.tolist()}) disagree"
        )
    if (n_features < 1).any():
        raise InputError(f"input {int((n_features < 1).nonzero()[0])} has no features: every input needs at least one")


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
