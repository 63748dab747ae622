"""The ways to perturb an input, one class each: what makes two copies the same, how long they are, the model's answers.

A perturbation holds masks [M, F], one value per feature, and is asked about `Rows`: which input takes which mask. It
answers three questions, and `faithlib._scheduler` knows no more of it:

- `keys`: what tells copies of one input apart; rows with the same key get the same answer and are run once.
- `lengths`: how many tokens each copy has.
- `logits`: what the model says of a chunk.

Shape letters: B inputs, M masks, F features, R rows of one forward, L tokens, D embedding size, C classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from faithlib import counter_rng
from faithlib.backends import Backend, FunctionBackend, TextBackend, VisionBackend
from faithlib.errors import ModelError

_MOST_PLACES = 1 << 24  # positions that are looked at in one step


@dataclass(frozen=True, eq=False)
class Rows:
    """Copies of inputs, [R] each: of which input, under which mask; `step` and `draw` number the random ones of a call.
    All agree with their inputs in the first `shared` tokens.

    `input_of` and `mask_of` are `index` and `mask` on the device, and `words` [R, 2] what random numbers are made of:
    of rows that are `placed`, so that no chunk has to carry them over.

    >>> rows = Rows.of_steps(np.array([0, 1]), 2)  # two inputs, two masks each
    >>> rows.index.tolist(), rows.mask.tolist(), rows.step.tolist()
    ([0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 0, 1])
    """

    index: NDArray[np.int64]
    mask: NDArray[np.int64]
    step: NDArray[np.int64]
    draw: NDArray[np.int64]
    input_of: Any = None
    mask_of: Any = None
    words: Any = None
    shared: int = 0

    @classmethod
    def of_steps(cls, inputs: NDArray[np.int64], steps: int, *, draws: int = 1) -> Rows:
        """`steps` copies of every one of the inputs, each with a mask of its own, drawn `draws` times."""
        mask = np.arange(len(inputs) * steps).repeat(draws)
        return cls(inputs[mask // steps], mask, mask % steps, np.tile(np.arange(draws), len(inputs) * steps))

    @classmethod
    def joined(cls, parts: Sequence[Rows], masks: Sequence[int]) -> Rows:
        """The rows of all parts, which have so many masks each, now one below the other."""
        starts = np.cumsum([0, *masks[:-1]])
        below = [part.mask + start for part, start in zip(parts, starts, strict=True)]
        index, step, draw = (np.concatenate([getattr(part, n) for part in parts]) for n in ("index", "step", "draw"))
        return cls(index, np.concatenate(below), step, draw)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, chosen: NDArray[np.int64] | slice) -> Rows:
        every = {name: value for name, value in vars(self).items() if name != "shared" and value is not None}
        return replace(self, **{name: value[chosen] for name, value in every.items()})


@dataclass(frozen=True, eq=False)
class Perturbation(ABC):
    """One way to perturb the inputs of a backend; `masks` [M, F] lie on its device."""

    backend: Any
    masks: Tensor
    unchanged: ClassVar[float | bool] = 1.0  # the value of a mask that leaves its feature as it is

    @property
    def kind(self) -> tuple[object, ...]:
        """What two of them have in common whose rows can run as one: all but the masks."""
        values = (getattr(self, field.name) for field in fields(self) if field.name != "masks")
        return (type(self), *(value if isinstance(value, int) else id(value) for value in values))

    def keys(self, rows: Rows) -> list[bytes]:
        """What tells these copies of one input apart: equal exactly where the perturbed inputs are equal."""
        keys = self._mask_keys()
        return [keys[m] for m in rows.mask.tolist()]

    def _mask_keys(self) -> list[bytes]:
        """What tells the masks apart."""
        return [row.tobytes() for row in self.masks.cpu().numpy().astype(np.float32)]

    def lengths(self, rows: Rows) -> NDArray[np.int64]:
        """Tokens of each copy, [R]."""
        lengths: NDArray[np.int64] = self.backend.lengths.cpu().numpy()[rows.index]
        return lengths

    @property
    def padding_shows(self) -> bool:
        """Whether copies of different lengths cannot share a forward."""
        return bool(getattr(self.backend, "padding_shows", False))

    def shared_tokens(self, rows: Rows, *, launch: float) -> NDArray[np.int64]:
        """How many first tokens of each copy, [R], are its input's and need no forward of their own; never all. A
        forward costs `launch` tokens before its first."""
        beginnings = getattr(self.backend, "beginnings", None)
        if beginnings is None:
            return np.zeros(len(rows), dtype=np.int64)
        first = beginnings.first_changed(rows.index, self.masks != self.unchanged, rows.mask)
        # One token at least has to run: without a forward there is no answer.
        agree = np.minimum(first, self.lengths(rows) - 1)
        shared: NDArray[np.int64] = beginnings.shared(rows.index, agree, launch=launch)
        return shared

    def only(self, rows: Rows) -> tuple[Perturbation, Rows]:
        """The same copies, of a perturbation that holds no other masks."""
        used, place = np.unique(rows.mask, return_inverse=True)
        masks = self.masks[torch.from_numpy(used).to(self.masks.device)]
        return replace(self, masks=masks), replace(rows, mask=place)

    def placed(self, rows: Rows) -> Rows:
        """The rows with what their chunks need on the device."""
        both = torch.from_numpy(np.stack([rows.index, rows.mask])).to(self.masks.device)
        return replace(rows, input_of=both[0], mask_of=both[1])

    @abstractmethod
    def logits(self, rows: Rows, length: int) -> Tensor:
        """Logits [R, C] of placed copies, the longest of which has `length` tokens."""

    def _on_positions(self, rows: Rows, length: int, *, protected: float | bool) -> Tensor:
        """The masks' values per feature, spread over positions [R, L]."""
        feature_of = self._feature_of(rows, length)
        return torch.where(feature_of >= 0, self.masks[rows.mask_of].gather(1, feature_of.clamp(min=0)), protected)

    def _feature_of(self, rows: Rows, length: int) -> Tensor:
        """The feature of every position, [R, L]; -1 where it is protected."""
        if isinstance(self.backend, TextBackend):
            return self.backend.inputs.feature_of[rows.input_of, :length]
        corners = self.backend.patch_features()
        if corners is None:
            raise ModelError("soft perturbation of a ViT needs features made of whole patches of the model")
        # Class and register tokens are protected.
        return functional.pad(corners, (self.backend.reached.prefix, 0), value=-1).expand(len(rows), -1)

    def _embeddings(self, rows: Rows, length: int) -> Tensor:
        """The unperturbed embeddings, [R, L, D]; on a processor each input is embedded once, a GPU would wait for the
        list of them."""
        device = rows.input_of.device
        embedded: Tensor
        if device.type == "cuda":
            embedded = self.backend.embeddings(rows.input_of, length=length)
            return embedded
        used, place = (torch.from_numpy(values).to(device) for values in np.unique(rows.index, return_inverse=True))
        embedded = self.backend.embeddings(used, length=length)[place]
        return embedded


# --------------------------------------------------------------------------------------------------------- hard erasure
@dataclass(frozen=True, eq=False)
class Erasure(Perturbation):
    """Features stay or go: bool masks, True for what stays."""

    unchanged = True

    def _mask_keys(self) -> list[bytes]:
        return _set_keys(self.masks.cpu().numpy())

    def _kept_positions(self, rows: Rows, length: int) -> Tensor:
        """Which positions [R, L] stay: those of kept features, and the protected ones; padding does not count as
        kept."""
        kept = self._on_positions(rows, length, protected=True)
        mask: Tensor = kept & self.backend.inputs.attention_mask[rows.input_of, :length]
        return mask


@dataclass(frozen=True, eq=False)
class ZeroedEmbeddings(Erasure):
    """The embedding output of what goes is 0.

    >>> erased = ZeroedEmbeddings(None, torch.tensor([[True, False], [True, False], [False, False]]))
    >>> len(set(erased.keys(Rows.of_steps(np.array([0]), 3))))  # two of the three copies are the same
    2
    """

    def logits(self, rows: Rows, length: int) -> Tensor:
        embedded = self._embeddings(rows, length)
        # Under the same name, so that the unperturbed ones are given back before the model runs.
        embedded = torch.where(self._kept_positions(rows, length)[..., None], embedded, 0)
        logits: Tensor = self.backend.logits(embedded, rows.input_of, shared=rows.shared)
        return logits


@dataclass(frozen=True, eq=False)
class ReplacedTokens(Erasure):
    """Another token stands where something goes.

    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> erased = ReplacedTokens(TextBackend(model, texts), torch.tensor([[True, False]]), token_id=3)
    >>> erased.logits(erased.placed(Rows.of_steps(np.array([0]), 1)), 4).shape
    torch.Size([1, 2])
    """

    token_id: int

    def logits(self, rows: Rows, length: int) -> Tensor:
        inputs, index = self.backend.inputs, rows.input_of
        mask = inputs.attention_mask[index, :length]
        ids = torch.where(self._kept_positions(rows, length), inputs.input_ids[index, :length], self.token_id)
        ids = torch.where(mask, ids, inputs.pad_id)
        types = None if inputs.token_type_ids is None else inputs.token_type_ids[index, :length]
        embedded = self.backend.embed(ids, types, mask)
        logits: Tensor = self.backend.logits(embedded, index, input_ids=ids, shared=rows.shared)
        return logits


@dataclass(frozen=True, eq=False)
class DeletedTokens(Erasure):
    """What goes leaves no gap: the sequence is shorter.

    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> erased = DeletedTokens(TextBackend(model, texts), torch.tensor([[True, False], [False, False]]))
    >>> erased.lengths(Rows.of_steps(np.array([0]), 2)).tolist()
    [3, 2]
    """

    def lengths(self, rows: Rows) -> NDArray[np.int64]:
        whole, there = super().lengths(rows), self.placed(rows)
        size = max(1, _MOST_PLACES // int(whole.max()))
        parts = [there[start : start + size] for start in range(0, len(rows), size)]
        kept = [self._kept_positions(part, int(whole.max())).sum(dim=1) for part in parts]
        return torch.cat(kept).cpu().numpy()

    def logits(self, rows: Rows, length: int) -> Tensor:
        inputs, index = self.backend.inputs, rows.input_of
        kept = self._kept_positions(rows, int(inputs.input_ids.shape[1]))
        # A stable sort moves the kept positions to the front and leaves their order alone.
        front = (~kept).int().argsort(dim=1, stable=True)[:, :length]
        mask = kept.gather(1, front)
        ids = torch.where(mask, inputs.input_ids[index].gather(1, front), inputs.pad_id)
        types = None if inputs.token_type_ids is None else inputs.token_type_ids[index].gather(1, front)
        given = {"attention_mask": mask, "token_type_ids": types, "input_ids": ids}
        logits: Tensor = self.backend.logits(self.backend.embed(ids, types, mask), index, shared=rows.shared, **given)
        return logits


@dataclass(frozen=True, eq=False)
class ReplacedPixels(Erasure):
    """Other pixels stand where something goes.

    >>> from faithlib.inputs import ImageInputs
    >>> images = ImageInputs.from_pixels(torch.ones(1, 2, 4, 4), patch=2)
    >>> backend = VisionBackend(lambda pixels: pixels.mean(dim=(2, 3)), images)  # a channel for each class
    >>> half = torch.tensor([[True, True, False, False]])
    >>> erased = ReplacedPixels(backend, half, torch.zeros_like(images.pixels))
    >>> erased.logits(erased.placed(Rows.of_steps(np.array([0]), 1)), 1)
    tensor([[0.5000, 0.5000]])
    """

    replacement: Tensor

    def logits(self, rows: Rows, length: int) -> Tensor:
        inputs, index = self.backend.inputs, rows.input_of
        maps = inputs.maps(index)
        kept = self.masks[rows.mask_of].gather(1, maps.clamp(min=0).flatten(1)).view(maps.shape) | (maps < 0)
        pixels = torch.where(kept[:, None], inputs.pixels[index], self.replacement[index])
        logits: Tensor = self.backend.asked(pixels)
        return logits


@dataclass(frozen=True, eq=False)
class ErasedWords(Erasure):
    """Words go from the text, or `masked` the inputs' mask string stands where they were.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> backend = FunctionBackend(model, WordInputs.from_texts(["good film"]))
    >>> erased = ErasedWords(backend, torch.tensor([[True, False]]), masked=True)
    >>> erased.logits(erased.placed(Rows.of_steps(np.array([0]), 1)), 2).exp()  # of "good [MASK]"
    tensor([[0.1000, 0.9000]])
    """

    masked: bool

    def logits(self, rows: Rows, length: int) -> Tensor:
        logits: Tensor = self.backend.forward_kept(rows.input_of, self.masks[rows.mask_of], masked=self.masked)
        return logits


def erasure_of(backend: Backend, erase: str) -> Callable[[Tensor], Erasure]:
    """The perturbation that the `erase` of a `Perturber` names, for masks [M, F].

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> backend = FunctionBackend(model, WordInputs.from_texts(["good film"]))
    >>> type(erasure_of(backend, "mask")(torch.tensor([[True, False]]))).__name__
    'ErasedWords'
    """
    if isinstance(backend, FunctionBackend):
        return partial(ErasedWords, backend, masked=erase == "mask")
    if isinstance(backend, VisionBackend):
        return partial(ReplacedPixels, backend, replacement=replacement_pixels(backend.inputs.pixels, erase))
    if erase in ("pad", "mask"):
        return partial(ReplacedTokens, backend, token_id=getattr(backend.inputs, f"{erase}_id"))
    return partial(DeletedTokens if erase == "delete" else ZeroedEmbeddings, backend)


def replacement_pixels(pixels: Tensor, erase: str) -> Tensor:
    """What an erased pixel becomes, [B, C, H, W].

    >>> replacement_pixels(torch.tensor([[[[1.0, 3.0]]]]), "mean")
    tensor([[[[2., 2.]]]])
    """
    if erase == "zero":
        return torch.zeros_like(pixels)
    if erase == "mean":
        return pixels.mean(dim=(2, 3), keepdim=True).expand_as(pixels)
    # A box filter a quarter of the image wide, applied twice, is close to a Gaussian and leaves no edge of a patch
    # visible.
    width = max(3, (min(pixels.shape[-2:]) // 4) | 1)
    blurred = pixels
    for _ in range(2):
        blurred = functional.avg_pool2d(blurred, width, stride=1, padding=width // 2, count_include_pad=False)
    return blurred


# --------------------------------------------------------------------------------------------------------- soft erasure
@dataclass(frozen=True, eq=False)
class Noise(Perturbation):
    """Embedding elements disturbed at random, with numbers that depend on (`seed`, `content` [B] of the input, step,
    draw) and on nothing else."""

    content: NDArray[np.uint64]
    seed: int
    name: ClassVar[bytes]

    def keys(self, rows: Rows) -> list[bytes]:
        shares, tag = self._mask_keys(), b"%b%d" % (self.name, self.seed)
        numbers = zip(rows.mask.tolist(), rows.step.tolist(), rows.draw.tolist(), strict=True)
        return [b"%b%b|%d|%d" % (tag, shares[m], step, draw) for m, step, draw in numbers]

    def placed(self, rows: Rows) -> Rows:
        words = counter_rng.row_keys(self.seed, self.content[rows.index], rows.step, rows.draw)
        return replace(super().placed(rows), words=torch.from_numpy(words).to(self.masks.device))

    def logits(self, rows: Rows, length: int) -> Tensor:
        embedded = self._disturbed(self._embeddings(rows, length), rows)
        logits: Tensor = self.backend.logits(embedded, rows.input_of, shared=rows.shared)
        return logits

    @abstractmethod
    def _disturbed(self, embedded: Tensor, rows: Rows) -> Tensor:
        """Embeddings [R, L, D] under random numbers."""


@dataclass(frozen=True, eq=False)
class Dropout(Noise):
    """Every embedding element stays with its feature's probability, else it is 0 (Zhao & Aletras 2023, Eq. 3).

    `shared`: the perturber's erasure is `ZeroedEmbeddings`, so that masks of zeros and ones ask what it asks: the keys
    are the same.

    >>> masks = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> noise = Dropout(None, masks, np.zeros(1, dtype=np.uint64), seed=0, shared=True)
    >>> len(set(noise.keys(Rows.of_steps(np.array([0]), 2, draws=2))))  # 0 and 1 leave nothing to draw
    3
    """

    shared: bool
    name = b"soft"

    def keys(self, rows: Rows) -> list[bytes]:
        masks = self.masks.cpu().numpy()
        hard = np.all((masks == 0) | (masks == 1), axis=1) & self.shared
        if not hard.any():
            return super().keys(rows)
        sets = _set_keys(masks)
        return [sets[m] if hard[m] else key for m, key in zip(rows.mask.tolist(), super().keys(rows), strict=True)]

    def _disturbed(self, embedded: Tensor, rows: Rows) -> Tensor:
        _, length, size = embedded.shape
        keep_prob = self._on_positions(rows, length, protected=1.0)
        return torch.where(counter_rng.below(rows.words, keep_prob, size), embedded, 0)


@dataclass(frozen=True, eq=False)
class GaussianNoise(Noise):
    """Every embedding element is multiplied by 1 + its feature's standard deviation times a normal number.

    >>> masks = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> noise = GaussianNoise(None, masks, np.zeros(1, dtype=np.uint64), seed=0)
    >>> len(set(noise.keys(Rows.of_steps(np.array([0]), 2, draws=2))))  # two masks, two draws of each
    4
    """

    name = b"gaussian"
    unchanged = 0.0

    def _disturbed(self, embedded: Tensor, rows: Rows) -> Tensor:
        _, length, size = embedded.shape
        deviation = self._on_positions(rows, length, protected=0.0)
        return embedded * (1 + deviation[..., None] * counter_rng.normal(rows.words, length, size)).to(embedded.dtype)


@dataclass(frozen=True, eq=False)
class WeightedAttention(Perturbation):
    """Attention to a feature's tokens is multiplied by its weight and renormalised; nothing is random.

    >>> masks = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> rows = Rows.of_steps(np.array([0]), 2, draws=2)
    >>> len(set(WeightedAttention(None, masks).keys(rows)))  # nothing is drawn
    2
    """

    def _mask_keys(self) -> list[bytes]:
        return [b"attention" + key for key in super()._mask_keys()]

    def logits(self, rows: Rows, length: int) -> Tensor:
        embedded = self._embeddings(rows, length)
        there = self.backend.inputs.attention_mask[rows.input_of, :length]
        weights = torch.where(there, self._on_positions(rows, length, protected=1.0), 0.0)
        logits: Tensor = self.backend.logits(embedded, rows.input_of, attention_mask=weights)
        return logits


# ------------------------------------------------------------------------------------------------- keys of masks
def _set_keys(masks: NDArray[Any]) -> list[bytes]:
    """A key a mask [M, F] that says which features stay."""
    return [b"keep" + row.tobytes() for row in np.packbits(masks.astype(bool), axis=1)]
