"""What is explained: batches of texts or images, cut into *features*.

A feature is the unit that an attribution scores and an erasure removes: a wordpiece, a word, an image patch, any group
of pixels. `feature_of` says which feature each position belongs to; -1 marks positions that are never erased ([CLS],
[SEP], a query, padding).

Shape letters: B inputs, L tokens, F features (the largest count in the batch), C channels, H and W pixels.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from faithlib.errors import InputError

Span = tuple[int, int]


@dataclass(frozen=True)
class TextInputs:
    """A right-padded batch of tokenised texts; rows padded on the left are turned.

    Fields: `input_ids`, `attention_mask` (bool), `feature_of`: [B, L]; `token_type_ids`: [B, L] or None; `n_features`:
    [B]; `tokens` and `features`: the strings of the positions and of the features; `spans`: the characters each feature
    covers in its text (of a pair, in `text + " " + pair`); `truncated` [B]: True where the text was longer than the
    limit and its end was cut off; `feature_of_word`: for words given by the caller, the feature of each, -1 for a word
    without a token.

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
        texts: Sequence[str] | Sequence[tuple[str, str]],
        tokenizer: Any,
        *,
        queries: Sequence[str] | None = None,
        pairs: Sequence[str] | None = None,
        words: Sequence[Sequence[Span]] | None = None,
        within: Sequence[Span] | None = None,
        unit: str = "wordpiece",
        max_length: int | None = None,
    ) -> TextInputs:
        """Tokenise `texts` with a fast Hugging Face tokenizer.

        - `queries`: rows read `[CLS] query [SEP] text [SEP]`; the query is protected, only the text carries features
          and is ever cut.
        - `pairs`: rows read `[CLS] text [SEP] pair [SEP]`, a premise and its hypothesis for example; both carry
          features, numbered through, and `spans` and `words` count the characters of `text + " " + pair`. The same
          may be given as `texts` of tuples (text, pair).
        - `within`: the (start, end) characters of each text that carry features; what is around them is protected, the
          words of a template for example.
        - A row longer than `max_length` tokens (default: the tokenizer's own limit, at most 512) loses the end of its
          text, a pair that of the longer part, and `truncated` says so.

        Features: `unit` "wordpiece", "word" (the pieces that the tokenizer's pre-tokeniser keeps together), or the
        caller's own `words`: for each text the (start, end) characters of its words, ascending, none over another, as
        another tool cuts them. A piece belongs to the word that it overlaps. Words that share a piece become one
        feature, whose span runs from the first to the last of them; a word without a piece (cut off, or dropped by the
        tokenizer's clean-up) has none. `feature_of_word` leads from the words as given to the features: what is said of
        word w holds for feature `feature_of_word[b][w]`, and -1 means that nothing can be said. A piece outside all
        words is protected, except blanks ("▁") that the tokenizer writes before a word's first piece.

        Raises InputError: no text, a text without a single token (or none within its words), a query that leaves no
        room, an unknown unit, words that are no ascending spans of their text, options that exclude each other.
        """
        if not isinstance(texts, str) and texts and pairs is None and all(isinstance(text, tuple) for text in texts):
            texts, pairs = zip(*texts, strict=True)
        _check_arguments(texts, queries, pairs, words, within, unit)
        texts = cast(Sequence[str], texts)
        if tokenizer.pad_token_id is None:
            raise InputError(
                "this tokenizer has no padding token: give it one that no text has, such as tokenizer.pad_token = "
                "tokenizer.unk_token or, where texts get no end token, tokenizer.eos_token"
            )
        limit = min(max_length or 512, 512 if tokenizer.model_max_length is None else tokenizer.model_max_length)
        if queries is not None:
            _check_queries(queries, tokenizer, limit)
        first, second = (texts, pairs) if queries is None else (queries, texts)
        batch = tokenizer(
            list(first),
            None if second is None else list(second),
            truncation=True if queries is None else "only_second",
            max_length=limit,
            padding=True,
            padding_side="right",
            return_tensors="pt",
        )
        wholes = list(texts) if pairs is None else [f"{text} {pair}" for text, pair in zip(texts, pairs, strict=True)]
        feature_of = torch.full(batch["input_ids"].shape, -1)
        rows = []
        for i, (text, whole, encoding) in enumerate(zip(texts, wholes, batch.encodings, strict=True)):
            # Where the characters of each segment begin; a segment without a beginning carries no features.
            pieces = _pieces_of(encoding, {0: 0, 1: len(text) + 1} if queries is None else {1: 0})
            if within is not None:
                pieces = [piece for piece in pieces if _overlap(piece.span, within[i])]
            row = _by_unit(pieces, unit, whole) if words is None else _by_given_words(pieces, words[i], whole, i)
            if not row.spans:
                where = "no tokens" if words is None else f"no token within its {len(words[i])} words"
                raise InputError(f"text {i} ({whole!r}) has {where}: leave such texts out of the batch")
            feature_of[i, [piece.position for piece in pieces]] = torch.tensor(row.owners)
            rows.append(row)
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

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def lengths(self) -> Tensor:
        """Tokens a row, padding not counted: [B]."""
        return self.attention_mask.sum(dim=1)

    @property
    def has_protected(self) -> bool:
        """Whether every row has a token that is never erased."""
        return bool(((self.feature_of < 0) & self.attention_mask).any(dim=1).all())

    @property
    def feature_mask(self) -> Tensor:
        """True where a row has a feature: bool [B, F]."""
        return _feature_mask(self.n_features)

    def __getitem__(self, rows: slice | Sequence[int] | Tensor) -> TextInputs:
        """The chosen rows as a batch of their own, with no more padding than they need."""
        index = _row_index(rows, len(self))
        length = int(self.lengths[index].max())
        chosen: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Tensor):
                chosen[field.name] = value[index] if value.ndim == 1 else value[index, :length]
            elif isinstance(value, tuple) and value:
                chosen[field.name] = tuple(value[i] for i in index.tolist())
        return replace(self, **chosen)

    def by_piece(self) -> TextInputs:
        """The same rows with every erasable position a feature of its own (`spans` and words are left behind)."""
        owned = self.feature_of >= 0
        feature_of = torch.where(owned, owned.cumsum(dim=1) - 1, -1)
        names = tuple(
            tuple(token for token, own in zip(tokens, row, strict=False) if own)
            for tokens, row in zip(self.tokens, owned.tolist(), strict=False)
        )
        return replace(
            self, feature_of=feature_of, n_features=owned.sum(dim=1), features=names, spans=(), feature_of_word=()
        )

    def to(self, device: torch.device | str) -> TextInputs:
        """The same batch with its tensors on `device`."""
        return _to(self, device)

    def keys(self) -> tuple[int, ...]:
        """A 64-bit digest of each row's content: the same text has the same key in every batch and at every padding."""
        columns = [self.input_ids, self.feature_of]
        if self.token_type_ids is not None:
            columns.append(self.token_type_ids)
        stacked = torch.stack(columns, dim=1).cpu()
        return tuple(
            _digest(row[:, :n].numpy().tobytes()) for row, n in zip(stacked, self.lengths.tolist(), strict=True)
        )


@dataclass(frozen=True)
class ImageInputs:
    """A batch of images of one size, cut into features by one map.

    Fields: `pixels` [B, C, H, W], normalised as the model expects; `feature_of` [H, W]; `n_features` [B], all alike.

    >>> ImageInputs.from_pixels(torch.zeros(1, 3, 2, 4), patch=2).feature_of[0]
    tensor([0, 0, 1, 1])
    """

    pixels: Tensor
    feature_of: Tensor
    n_features: Tensor

    def __post_init__(self) -> None:
        if self.pixels.ndim != 4 or tuple(self.pixels.shape[-2:]) != tuple(self.feature_of.shape):
            raise InputError(
                f"pixels have shape {tuple(self.pixels.shape)} and feature_of {tuple(self.feature_of.shape)}: "
                "expected [B, C, H, W] and [H, W]"
            )
        if not torch.isfinite(self.pixels).all():
            raise InputError("pixels hold NaN or infinite values: clean the images first")
        _check_features(self.n_features, self.feature_of.max() + 1)

    @classmethod
    def from_pixels(cls, pixels: Tensor, *, patch: int) -> ImageInputs:
        """Square patches of `patch` pixels as features, row by row; InputError where they do not fill the image."""
        if pixels.ndim != 4:
            raise InputError(f"pixels have shape {tuple(pixels.shape)}: expected [B, C, H, W]")
        height, width = pixels.shape[-2:]
        if height % patch or width % patch:
            raise InputError(f"an image of {height} x {width} pixels is no whole number of {patch}-pixel patches")
        down, across = torch.arange(height) // patch, torch.arange(width) // patch
        feature_of = down[:, None] * (width // patch) + across[None, :]
        n_features = torch.full((len(pixels),), int(feature_of.max()) + 1)
        return cls(pixels=pixels.float(), feature_of=feature_of, n_features=n_features)

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def feature_mask(self) -> Tensor:
        """True where a row has a feature: bool [B, F]."""
        return _feature_mask(self.n_features)

    def __getitem__(self, rows: slice | Sequence[int] | Tensor) -> ImageInputs:
        """The chosen images as a batch of their own."""
        index = _row_index(rows, len(self))
        return replace(self, pixels=self.pixels[index], n_features=self.n_features[index])

    def to(self, device: torch.device | str) -> ImageInputs:
        """The same batch with its tensors on `device`."""
        return _to(self, device)

    def keys(self) -> tuple[int, ...]:
        """A 64-bit digest of each image's content."""
        layout = self.feature_of.cpu().numpy().tobytes()
        return tuple(_digest(layout + image.cpu().numpy().tobytes()) for image in self.pixels)


@dataclass(frozen=True)
class WordInputs:
    """Texts as they are, for a function of strings; features are their words, what stands between blanks.

    Fields: `texts`; `spans`: the characters of each word; `n_features` [B]; `mask`: the string that takes a word's
    place where it is masked and not deleted.

    >>> WordInputs.from_texts(["good film", "good"]).n_features
    tensor([2, 1])
    """

    texts: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...]
    n_features: Tensor
    mask: str = "[MASK]"

    @classmethod
    def from_texts(cls, texts: Sequence[str], *, mask: str = "[MASK]") -> WordInputs:
        """The words of `texts`; InputError for no text and for a text without a word.

        >>> WordInputs.from_texts(["not bad  at all"]).spans
        (((0, 3), (4, 7), (9, 11), (12, 15)),)
        """
        if isinstance(texts, str) or not texts:
            raise InputError(f"texts: expected a non-empty sequence of strings, got {texts!r}")
        spans = tuple(tuple((m.start(), m.end()) for m in re.finditer(r"\S+", text)) for text in texts)
        if empty := [i for i, found in enumerate(spans) if not found]:
            raise InputError(f"text {empty[0]} ({texts[empty[0]]!r}) has no words: leave such texts out of the batch")
        return cls(tuple(texts), spans, torch.tensor([len(found) for found in spans]), mask)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def feature_mask(self) -> Tensor:
        """True where a text has a word: bool [B, F]."""
        return _feature_mask(self.n_features)

    def __getitem__(self, rows: slice | Sequence[int] | Tensor) -> WordInputs:
        """The chosen texts as a batch of their own."""
        index = _row_index(rows, len(self))
        chosen = index.tolist()
        return replace(
            self,
            texts=tuple(self.texts[i] for i in chosen),
            spans=tuple(self.spans[i] for i in chosen),
            n_features=self.n_features[index],
        )

    def to(self, device: torch.device | str) -> WordInputs:
        """The same batch with its tensors on `device`."""
        return _to(self, device)

    def keys(self) -> tuple[int, ...]:
        """A 64-bit digest of each text."""
        return tuple(_digest(text.encode()) for text in self.texts)

    def without(self, i: int, keep: Sequence[bool], *, masked: bool) -> str:
        """Text i with the words that `keep` says; another goes with the blanks before it (the first with those after
        it), or `mask` takes its place.

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
        return whole if masked or keep[0] else whole.lstrip()


Inputs = TextInputs | ImageInputs | WordInputs


class _Piece(NamedTuple):
    """A token of a text: its position in the row, its string, its characters, and what the pre-tokeniser keeps
    together with it (segment, number)."""

    position: int
    token: str
    span: Span
    group: tuple[int, int | None]


class _Features(NamedTuple):
    """The features of one row: the one of each piece (-1: none), names, spans, the one of each given word."""

    owners: tuple[int, ...]
    names: tuple[str, ...]
    spans: tuple[Span, ...]
    feature_of_word: tuple[int, ...] = ()


def _pieces_of(encoding: Any, begins: Mapping[int, int]) -> list[_Piece]:
    """The tokens of the segments that begin somewhere, with spans counted from there."""
    return [
        _Piece(position, token, (begins[segment] + start, begins[segment] + end), (segment, group))
        for position, (token, segment, group, (start, end)) in enumerate(
            zip(encoding.tokens, encoding.sequence_ids, encoding.word_ids, encoding.offsets, strict=True)
        )
        if segment in begins
    ]


def _by_unit(pieces: Sequence[_Piece], unit: str, text: str) -> _Features:
    """One feature a piece, or one for the pieces that the pre-tokeniser keeps together."""
    owners: list[int] = []
    spans: list[Span] = []
    names: list[str] = []
    for before, piece in zip((None, *pieces), pieces, strict=False):
        if unit == "word" and before is not None and piece.group == before.group:
            spans[-1] = (spans[-1][0], piece.span[1])
        else:
            spans.append(piece.span)
            names.append(piece.token)
        owners.append(len(spans) - 1)
    if unit == "word":
        names = [text[start:end].strip() for start, end in spans]
    return _Features(tuple(owners), tuple(names), tuple(spans))


def _by_given_words(pieces: Sequence[_Piece], words: Sequence[Span], text: str, i: int) -> _Features:
    """The words of text i that have pieces, those that share one joined."""
    _check_words(words, text, i)
    starts, ends = [start for start, _ in words], [end for _, end in words]
    overlapped = [range(bisect_right(ends, start), bisect_left(starts, end)) for _, _, (start, end), _ in pieces]
    reached = {w for found in overlapped for w in found}
    joined = {w for found in overlapped for w in found[1:]}
    spans: list[Span] = []
    feature_of_word: list[int] = []
    for w, word in enumerate(words):
        if w in joined:
            spans[-1] = (spans[-1][0], word[1])
        elif w in reached:
            spans.append((word[0], word[1]))
        feature_of_word.append(len(spans) - 1 if w in reached else -1)
    owners = [feature_of_word[found[0]] if found else -1 for found in overlapped]
    for i in reversed(range(len(pieces) - 1)):
        # A SentencePiece model may write the blank before a word as a piece of its own; it comes and goes with it.
        blank = not text[slice(*pieces[i].span)].strip()
        if owners[i] < 0 and blank and pieces[i].group == pieces[i + 1].group:
            owners[i] = owners[i + 1]
    return _Features(
        owners=tuple(owners),
        names=tuple(text[start:end] for start, end in spans),
        spans=tuple(spans),
        feature_of_word=tuple(feature_of_word),
    )


def _check_words(words: Sequence[Span], text: str, i: int) -> None:
    before = 0
    for w, (start, end) in enumerate(words):
        if not before <= start < end <= len(text):
            raise InputError(
                f"word {w} of text {i} covers the characters {start} to {end}: expected ascending spans that do not "
                f"overlap, within the {len(text)} characters of {text!r}"
            )
        before = end


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _check_arguments(texts: Any, queries: Any, pairs: Any, words: Any, within: Any, unit: str) -> None:
    if unit not in ("wordpiece", "word"):
        raise InputError(f"unit {unit!r}: expected 'wordpiece' or 'word'")
    if isinstance(texts, str) or not texts:
        raise InputError(f"texts: expected a non-empty sequence of strings, got {texts!r}")
    if queries is not None and pairs is not None:
        raise InputError("queries and pairs: give one of the two; queries are protected, pairs carry features")
    if words is not None and unit != "wordpiece":
        raise InputError(f"words and unit {unit!r}: give one of the two")
    given_beside = (("queries", queries), ("pairs", pairs), ("lists of words", words), ("spans within", within))
    for name, given in given_beside:
        if given is not None and len(given) != len(texts):
            raise InputError(f"{len(given)} {name} for {len(texts)} texts: expected one for each text")


def _check_queries(queries: Sequence[str], tokenizer: Any, limit: int) -> None:
    room = limit - tokenizer.num_special_tokens_to_add(pair=True)
    sizes = [len(ids) for ids in tokenizer(list(queries), add_special_tokens=False)["input_ids"]]
    for i, size in enumerate(sizes):
        if size >= room:
            raise InputError(f"query {i} has {size} tokens and leaves no room for its text within {limit}: shorten it")


def _check_features(n_features: Tensor, found: Tensor) -> None:
    if not torch.equal(n_features.cpu(), found.cpu().expand_as(n_features)):
        raise InputError(
            f"n_features {n_features.tolist()} and feature_of (largest index + 1: {found.tolist()}) disagree"
        )
    if (n_features < 1).any():
        raise InputError(f"input {int((n_features < 1).nonzero()[0])} has no features: every input needs at least one")


def _feature_mask(n_features: Tensor) -> Tensor:
    return torch.arange(int(n_features.max()), device=n_features.device) < n_features[:, None]


def _row_index(rows: slice | Sequence[int] | Tensor, n: int) -> Tensor:
    if not len(index := torch.arange(n)[rows if isinstance(rows, slice | Tensor) else list(rows)].reshape(-1)):
        raise InputError(f"none of {n} inputs is chosen: a batch needs at least one")
    return index


def _to(inputs: Any, device: torch.device | str) -> Any:
    moved = {f.name: value.to(device) for f in fields(inputs) if isinstance(value := getattr(inputs, f.name), Tensor)}
    return replace(inputs, **moved)


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
