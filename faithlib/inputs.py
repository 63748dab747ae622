"""What is explained: batches of texts or images, cut into *features*.

A feature is the unit that an attribution scores and an erasure removes: a wordpiece, a word, an image patch, any group
of pixels. `feature_of` says which feature each position belongs to; -1 marks positions that are never erased ([CLS],
[SEP], a query, padding).

Shape letters: B inputs, L tokens, F features (the largest count in the batch), C channels, H and W pixels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from faithlib.errors import InputError

Span = tuple[int, int]


@dataclass(frozen=True)
class TextInputs:
    """A right-padded batch of tokenised texts.

    Fields: `input_ids`, `attention_mask` (bool), `feature_of`: [B, L]; `token_type_ids`: [B, L] or None; `n_features`:
    [B]; `tokens` and `features`: the strings of the positions and of the features; `spans`: the characters each feature
    covers in its text; `truncated` [B]: True where the text was longer than the limit and its end was cut off.
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

    def __post_init__(self) -> None:
        shape = tuple(self.input_ids.shape)
        for name in ("attention_mask", "feature_of", "token_type_ids"):
            value = getattr(self, name)
            if value is not None and tuple(value.shape) != shape:
                raise InputError(f"{name} has shape {tuple(value.shape)}, input_ids has {shape}: give both as [B, L]")
        _check_features(self.n_features, self.feature_of.amax(dim=1) + 1)
        holes = (~self.attention_mask[:, :-1] & self.attention_mask[:, 1:]).any()
        if holes or not self.attention_mask[:, 0].all():
            raise InputError("padding must stand at the right end of every row: tokenise with padding_side='right'")

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        tokenizer: Any,
        *,
        queries: Sequence[str] | None = None,
        unit: str = "wordpiece",
        max_length: int | None = None,
    ) -> TextInputs:
        """Tokenise `texts` with a fast Hugging Face tokenizer; with `queries`, rows read `[CLS] query [SEP] text
        [SEP]`.

        Only the text carries features, the query is protected. A text longer than `max_length` tokens (default: the
        tokenizer's own limit, at most 512) loses its end, and `truncated` says so. `unit` is "wordpiece" or "word" (the
        pieces that the tokenizer's pre-tokeniser keeps together).

        Raises InputError: no text, a text without a single token, a query that leaves no room, an unknown unit.
        """
        if unit not in ("wordpiece", "word"):
            raise InputError(f"unit {unit!r}: expected 'wordpiece' or 'word'")
        if isinstance(texts, str) or not texts:
            raise InputError(f"texts: expected a non-empty sequence of strings, got {texts!r}")
        if queries is not None and len(queries) != len(texts):
            raise InputError(f"{len(queries)} queries for {len(texts)} texts: expected one query a text")
        limit = min(max_length or 512, 512 if tokenizer.model_max_length is None else tokenizer.model_max_length)
        if queries is not None:
            _check_queries(queries, tokenizer, limit)
        batch = tokenizer(
            *((list(queries), list(texts)) if queries is not None else (list(texts),)),
            truncation="only_second" if queries is not None else True,
            max_length=limit,
            padding=True,
            padding_side="right",
            return_tensors="pt",
        )
        sequence = 0 if queries is None else 1
        rows = [_features_of(batch, i, sequence, unit, text) for i, text in enumerate(texts)]
        if empty := [i for i, row in enumerate(rows) if not row[1]]:
            raise InputError(f"text {empty[0]} ({texts[empty[0]]!r}) has no tokens: leave empty texts out of the batch")
        return cls(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"].bool(),
            feature_of=torch.tensor([row[0] for row in rows]),
            n_features=torch.tensor([len(row[1]) for row in rows]),
            truncated=torch.tensor([bool(e.overflowing) for e in batch.encodings]),
            pad_id=tokenizer.pad_token_id,
            mask_id=tokenizer.mask_token_id,
            token_type_ids=batch.get("token_type_ids"),
            tokens=tuple(tuple(e.tokens[: sum(e.attention_mask)]) for e in batch.encodings),
            features=tuple(row[1] for row in rows),
            spans=tuple(row[2] for row in rows),
        )

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def lengths(self) -> Tensor:
        """Tokens a row, padding not counted: [B]."""
        return self.attention_mask.sum(dim=1)

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

    Fields: `pixels` [B, C, H, W], already normalised as the model expects; `feature_of` [H, W]; `n_features` [B], all
    alike.
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
        """Square patches of `patch` pixels as features, counted row by row.

        Raises InputError where the image is no whole number of patches high or wide.
        """
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


Inputs = TextInputs | ImageInputs


def _features_of(
    batch: Any, i: int, sequence: int, unit: str, text: str
) -> tuple[list[int], tuple[str, ...], tuple[Span, ...]]:
    """`feature_of`, feature strings and character spans of row i."""
    encoding = batch.encodings[i]
    feature_of: list[int] = []
    spans: list[Span] = []
    names: list[str] = []
    last_word = None
    for token, belongs, word, (start, end) in zip(
        encoding.tokens, encoding.sequence_ids, encoding.word_ids, encoding.offsets, strict=True
    ):
        if belongs != sequence:
            feature_of.append(-1)
            continue
        if unit == "word" and spans and word == last_word:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
            names.append(token)
        last_word = word
        feature_of.append(len(spans) - 1)
    if unit == "word":
        names = [text[start:end].strip() for start, end in spans]
    return feature_of, tuple(names), tuple(spans)


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
    return torch.arange(n)[rows if isinstance(rows, slice) else torch.as_tensor(rows)].reshape(-1)


def _to(inputs: Any, device: torch.device | str) -> Any:
    moved = {f.name: value.to(device) for f in fields(inputs) if isinstance(value := getattr(inputs, f.name), Tensor)}
    return replace(inputs, **moved)


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
