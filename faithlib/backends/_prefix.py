"""Rows of a decoder that begin alike share the keys and values of their beginning, which are computed once.

Attention that looks back only gives a token the same keys and values whatever comes after it. So a row needs a forward
only for what follows its first changed token, which its mask determines:

====================================  ==========================================================================
rows                                  share
====================================  ==========================================================================
zero, pad, mask                       all before the first erased token; every token keeps its place
delete                                the same; what follows moves to the left and is computed at its new places
soft, Gaussian noise                  all before the first feature that is disturbed
weights of attention                  nothing: no decoder takes any
gradients, attention maps, relevance  nothing: these need the whole pass
====================================  ==========================================================================

What all inputs of a batch begin with, a template and its shots, is computed once for all of them. What the rows of one
input share beyond it is computed once in each forward that has enough of them. Encoders look ahead and share nothing;
nor do models that pass a state from token to token (Mamba, RWKV, hybrids). The same holds for one whose longest input
gets another answer that way (attention that looks ahead, a cache of another make). Their rows run whole, and the log
says so.

Shape letters: B inputs, R rows of one forward, L tokens, D embedding size, H heads, P tokens of a beginning, U
beginnings.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from faithlib.backends._logits import logits_in

# Beginnings differ by so many tokens, for the rows of a forward have one length of it; an input's own is computed for
# so many rows or more.
_STEP = 8
_LEAST_ROWS = 4
_MOST_PLACES = 1 << 24  # features that are looked at in one step
_LOG = logging.getLogger(__name__)


def has_key_value_cache(config: Any) -> bool:
    """Whether all that a model keeps of a token are its keys and values.

    >>> from transformers import LlamaConfig, MambaConfig
    >>> has_key_value_cache(LlamaConfig()), has_key_value_cache(MambaConfig())
    (True, False)
    """
    try:
        layers = DynamicCache(config=config).layers
    except (AttributeError, KeyError, TypeError, ValueError):  # a kind of layer, or of model, that transformers lacks
        return False
    return all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)


class Decoder(Protocol):
    """What is asked of the backend of a decoder; `faithlib.backends.TextBackend` is one.

    >>> from faithlib.backends import TextBackend
    >>> all(hasattr(TextBackend, name) for name in ("embeddings", "logits", "answer"))
    True
    """

    model: Any
    base: Any
    inputs: Any
    lengths: Tensor

    def embeddings(self, rows: Tensor | None = None, *, length: int | None = None) -> Tensor:
        """The embedding output [R, L, D] of the inputs `rows`."""

    def logits(self, embeddings: Tensor, rows: Tensor | None = None, *, shared: int = 0) -> Tensor:
        """Logits [R, C] of embeddings of the inputs `rows`."""

    def answer(self, model: Any, embeddings: Tensor, mask: Tensor, **given: Any) -> Any:
        """What a model answers to embeddings."""


class Beginnings:
    """The beginnings of a decoder's inputs; all inputs have the first `common` tokens in common.

    >>> from faithlib.backends import TextBackend
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import GPT2Config, GPT2ForSequenceClassification
    >>> model = GPT2ForSequenceClassification(GPT2Config(n_embd=4, n_layer=1, n_head=1, vocab_size=99)).eval()
    >>> ids, words = torch.arange(12)[None], torch.tensor([[-1] * 10 + [0, 1]])  # a template of ten tokens, two words
    >>> texts = TextInputs(ids, ids >= 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> beginnings = Beginnings.of(TextBackend(model, texts))
    >>> erased = torch.tensor([[False, True], [True, True]])
    >>> beginnings.common, beginnings.first_changed(np.array([0, 0]), erased, np.array([0, 1])).tolist()
    (10, [11, 10])
    """

    @classmethod
    def of(cls, backend: Decoder) -> Beginnings | None:
        """Of a backend's inputs; None, with a note in the log, where a model keeps more of a token than its keys and
        values."""
        if has_key_value_cache(backend.model.config):
            return cls(backend)
        _LOG.info("%s keeps more of a token than its keys and values: rows run whole", type(backend.base).__name__)
        return None

    def __init__(self, backend: Decoder) -> None:
        self.backend = backend
        ids, mask, feature_of = (getattr(backend.inputs, n) for n in ("input_ids", "attention_mask", "feature_of"))
        alike = ((ids == ids[0]) & mask & (feature_of < 0)).all(dim=0)
        common = int(alike.cumprod(dim=0).sum())
        # A few tokens are not worth it: kernels are faster without keys of another origin.
        self.common = common if common >= _STEP else 0
        self._of_all: list[tuple[Tensor, Tensor]] | None = None

    def first_changed(self, index: NDArray[np.int64], changed: Tensor, mask: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first position of the features that masks `changed` [M, F], of copies [R] of the inputs `index` under the
        masks `mask`; beyond all positions where none is."""
        beyond = self.backend.inputs.input_ids.shape[1]
        parts = np.array_split(np.stack([index, mask]), 1 + len(index) * changed.shape[1] // _MOST_PLACES, axis=1)
        on_device = (torch.from_numpy(part).to(changed.device) for part in parts)
        first = [torch.where(changed[of], self._begins[rows], beyond).amin(dim=1) for rows, of in on_device]
        positions: NDArray[np.int64] = torch.cat(first).cpu().numpy()
        return positions

    @cached_property
    def _begins(self) -> Tensor:
        """The first position of every feature, [B, F]; beyond all where an input does not have it."""
        owners = self.backend.inputs.feature_of
        beyond = owners.shape[1]
        places = torch.arange(beyond, device=owners.device).where(owners >= 0, beyond)
        begins = places.new_full(self.backend.inputs.feature_mask.shape, beyond)
        return begins.scatter_reduce_(1, owners.clamp(min=0), places, "amin")

    def shared(self, index: NDArray[np.int64], first: NDArray[np.int64], *, launch: float) -> NDArray[np.int64]:
        """How many tokens of each row [R] need no forward of their own: of the `first` that are those of its input
        `index`, as many as pay where a forward costs `launch` tokens before its first."""
        shared = np.where(first > self.common, first - (first - self.common) % _STEP, first)
        for tokens in range(int(shared.max(initial=0)), self.common, -1):
            rows = np.flatnonzero(shared == tokens)
            few = np.bincount(index[rows], minlength=1)[index[rows]] < _LEAST_ROWS
            # Two launches: one for these rows, one for their beginnings.
            if (len(rows) - few.sum()) * _STEP < 2 * launch:
                few[:] = True
            shared[rows[few]] = max(self.common, tokens - _STEP)
        return shared if shared.any() and self._as_whole else np.zeros_like(shared)

    @cached_property
    def _as_whole(self) -> bool:
        """Whether the longest input gets the same answer when the first half of it is kept."""
        length, longest = (column[None] for column in self.backend.lengths.max(dim=0))
        with torch.inference_mode():
            embeddings = self.backend.embeddings(longest, length=int(length))
            whole = self.backend.logits(embeddings, longest)
            try:
                apart = self.backend.logits(embeddings, longest, shared=int(length) // 2)
                tolerance = max(torch.finfo(whole.dtype).eps ** 0.5, 1e-3)
                same = torch.allclose(apart, whole, rtol=tolerance, atol=tolerance * float(whole.abs().max()))
                reason = "gives another answer"
            except Exception as error:  # whatever a cache of another make raises, rows can run whole
                same, reason = False, f"raises {type(error).__name__} ({error})"
        if not same:
            _LOG.warning("%s %s when a beginning is kept: rows run whole", type(self.backend.base).__name__, reason)
        return same

    def logits(self, embeddings: Tensor, rows: Tensor, mask: Tensor, shared: int, **given: Tensor) -> Tensor:
        """Logits [R, C] of rows [R, L, D] of the inputs `rows` [R], of which those of one input agree in the first
        `shared` tokens; `mask` [R, L] is True where tokens are. What else is `given` goes to the model."""
        with torch.inference_mode():
            before = self._before(embeddings, rows, shared)
        model, rest = self.backend.model, embeddings[:, shared:]
        logits: Tensor = logits_in(self.backend.answer(model, rest, mask, past_key_values=before, **given))
        return logits

    def _before(self, embeddings: Tensor, rows: Tensor, tokens: int) -> Cache:
        if self._of_all is None:
            self._of_all = self._after([], embeddings[:1, : self.common]) if self.common else []
        if tokens <= self.common:
            kept = [(keys[:, :, :tokens], values[:, :, :tokens]) for keys, values in self._of_all]
            return Cache(layers=[_Kept(*layer, None) for layer in kept])
        used, place = rows.unique(return_inverse=True)
        one = torch.empty_like(used).scatter_(0, place, torch.arange(len(rows), device=rows.device))
        kept = self._after(self._of_all, embeddings[one, self.common : tokens])
        return Cache(layers=[_Kept(*layer, place) for layer in kept])

    def _after(self, known: list[tuple[Tensor, Tensor]], embeddings: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Keys and values [U, H, P, ...] of every layer: what is known, and those of embeddings after it."""
        # Without a configuration: in layers with a sliding window too all are kept, for rows go on from any of them.
        cache = DynamicCache()
        for layer, (keys, values) in enumerate(known):
            several = (len(embeddings), -1, -1, -1)
            cache.update(keys.expand(several), values.expand(several), layer)
        length = cache.get_seq_length() + embeddings.shape[1]
        mask = torch.ones(len(embeddings), length, dtype=torch.bool, device=embeddings.device)
        self.backend.answer(self.backend.base, embeddings, mask, past_key_values=cache, use_cache=True)
        return [(layer.keys, layer.values) for layer in cache.layers]


class _Kept(DynamicLayer):  # type: ignore[misc]
    """Keys and values of U beginnings as R rows see them: row r goes on from `place[r]`, or all from the only one.

    What the rows add is not kept, so that a beginning serves any number of forwards, and memory holds the keys and
    values that rows see of one layer at a time.
    """

    def __init__(self, keys: Tensor, values: Tensor, place: Tensor | None) -> None:
        super().__init__()
        self.keys, self.values, self.place = keys, values, place
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        """Keys and values [R, H, L, ...] of a layer: of the beginnings, and of what follows."""
        return self._joined(self.keys, key_states), self._joined(self.values, value_states)

    def _joined(self, kept: Tensor, new: Tensor) -> Tensor:
        kept = kept.expand(len(new), -1, -1, -1) if self.place is None else kept[self.place]
        return torch.cat([kept, new], dim=2)
