"""When rows run, and which of them share a forward.

Rows already answered are dropped (the memo is shared by all that is asked of one scheduler). The rest are sorted by
length and cut into chunks by cost. A forward has a price before its first token, so rows of different lengths share one
where padding costs less than another launch. Rows can be queued before their answers are needed: the first answer that
is taken runs all that wait, rows of one kind of perturbation joined.

Shape letters: F features, L tokens, C classes, R rows.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from tqdm.auto import tqdm

from faithlib._masking import Perturbation, Rows
from faithlib.errors import InputError, ModelError, OutOfMemoryError, counted, some_numbers
from faithlib.memory import Clock, free_bytes, is_out_of_memory, waited, with_peak_memory

# Beyond this many tokens a forward a processor's caches overflow and rows get slower; a GPU gains nothing more.
_MOST_TOKENS = {"cpu": 2048, "cuda": 1 << 16}
# What a forward costs before its first token, in tokens, until it is measured: only a GPU's differs much by model.
_LAUNCH = {"cpu": 40.0, "cuda": 4000.0}
_SHARE_OF_FREE_MEMORY = 0.5
_FIRST_CHUNK_ROWS = 8
_TIMED_TOKENS = 1 << 13  # of the forward that prices a token on a GPU, in work of at least four times as many
_MOST_WAITING_BYTES = 1 << 28
_LOG = logging.getLogger(__name__)


@dataclass
class Stats:
    """What was asked and what it cost. Seconds are wall time; `peak_bytes` is the largest chunk's share of memory, from
    the measured bytes per token. `tokens_run` counts padding, `tokens_shared` what rows of a decoder begin with and are
    not run on again (of the beginnings themselves, neither).

    >>> Stats(rows_asked=3).rows_run
    0
    """

    rows_asked: int = 0
    rows_run: int = 0
    forwards: int = 0
    seconds_model: float = 0.0
    seconds_all: float = 0.0
    peak_bytes: int = 0
    tokens_run: int = 0
    tokens_shared: int = 0


class AnswerCache:
    """Answers by row. A slot is given when a row is first asked; `done` says whether its answer has come, `waits`
    whether it is queued.

    >>> AnswerCache().slots([b"a", b"b", b"a"]).tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._slot: dict[bytes, int] = {}
        self._values: Tensor | None = None
        self.done = np.zeros(0, dtype=bool)
        self.waits = np.zeros(0, dtype=bool)

    def __len__(self) -> int:
        return len(self._slot)

    def slots(self, keys: list[bytes]) -> NDArray[np.int64]:
        """The slot of every key; unknown keys get new ones."""
        slot = self._slot
        # The next free number is read before the key goes in, so that new keys are numbered in order.
        places = np.fromiter((slot.setdefault(key, len(slot)) for key in keys), dtype=np.int64, count=len(keys))
        if len(slot) > len(self.done):
            # At least twice as many, so that many small questions do not copy the flags each time.
            more = max(len(slot) - len(self.done), len(self.done))
            self.done = np.pad(self.done, (0, more))
            self.waits = np.pad(self.waits, (0, more))
        return places

    def put(self, slots: NDArray[np.int64], values: Tensor, places: Tensor | None = None) -> None:
        """Store the answers [R, C] of rows that have just run; `places`: the slots on the device, where they are."""
        # Answers come from inference mode, and outside of it torch refuses to write into such tensors.
        with torch.inference_mode():
            if self._values is None or len(self._values) < len(self.done):
                known = values.new_zeros(0, values.shape[1]) if self._values is None else self._values
                self._values = functional.pad(known, (0, 0, 0, len(self.done) - len(known)))
            self._values[torch.from_numpy(slots).to(values.device) if places is None else places] = values
        self.done[slots] = True

    def get(self, slots: NDArray[np.int64]) -> Tensor:
        """Answers [N, C] of rows that are done."""
        assert self._values is not None
        return self._values[torch.from_numpy(slots).to(self._values.device)]


@dataclass
class CostModel:
    """What forwards of one model cost on its device. `launch`: before the first token, in tokens; `most_tokens`: that
    one forward may hold. `bytes_a_token`: of the largest chunk that was measured, of `tokens_measured`; None before the
    first. `seconds`: of the forwards that are timed, small ones and large ones; `to_time`: how many of each are left.

    >>> cost_model = CostModel(launch=4000.0, most_tokens=1 << 16, to_time=2)
    >>> for tokens, seconds in ((200, 0.005), (8000, 0.030), (200, 0.004), (8000, 0.016)):
    ...     cost_model.timed(tokens, seconds)
    >>> round(cost_model.launch), cost_model.to_time  # the quicker of each
    (2000, 0)
    """

    launch: float
    most_tokens: int
    to_time: int = 0
    bytes_a_token: float | None = None
    tokens_measured: int = 0
    seconds: list[tuple[int, float]] = field(default_factory=list)

    @classmethod
    def of(cls, device: torch.device) -> CostModel:
        """Before anything is measured. Processors differ little in how many tokens a launch is worth."""
        kind = device.type if device.type in _LAUNCH else "cpu"
        return cls(_LAUNCH[kind], _MOST_TOKENS[kind], to_time=2 if kind == "cuda" else 0)

    @property
    def times_small(self) -> bool:
        """Whether a small forward is the next to be timed."""
        return len(self.seconds) % 2 == 0

    def measured(self, tokens: int, peak: int) -> None:
        """A chunk took so many bytes: a small one misleads, for its share of workspace is large."""
        self.bytes_a_token, self.tokens_measured = max(1.0, peak / tokens), tokens

    def timed(self, tokens: int, seconds: float) -> None:
        """A forward took so long; small and large ones take turns."""
        self.seconds.append((tokens, seconds))
        if self.times_small:
            self.to_time -= 1
        if not self.to_time:
            # Whatever disturbs a forward makes it slower: the quicker of two is nearer to what it costs.
            a_token = min(taken / size for size, taken in self.seconds[1::2])
            self.launch = min(taken for _, taken in self.seconds[::2]) / a_token


# By model, device and precision: what is measured serves all that ask the model.
_COST_MODELS: WeakKeyDictionary[nn.Module, dict[tuple[torch.device, torch.dtype | None], CostModel]] = (
    WeakKeyDictionary()
)


def cost_model_of(model: object, device: torch.device, precision: torch.dtype | None = None) -> CostModel:
    """What a model's forwards cost in its own precision or another; of a function, which differ in kind, a new one.

    >>> model = nn.Linear(2, 1)
    >>> cost_model_of(model, torch.device("cpu")) is cost_model_of(model, torch.device("cpu"))
    True
    """
    if not isinstance(model, nn.Module):
        return CostModel.of(device)
    cost_models = _COST_MODELS.setdefault(model, {})
    if (device, precision) not in cost_models:
        cost_models[device, precision] = CostModel.of(device)
    return cost_models[device, precision]


def cut(
    lengths: NDArray[np.int64], *, launch: float, most_tokens: int, most_rows: int | None = None, apart: bool = False
) -> list[int]:
    """How many of the next rows each forward takes, at the least cost of all ways to cut rows whose `lengths` fall;
    where `most_tokens` or `most_rows` cuts further, at nearly the least.

    A forward costs `launch` tokens and its rows' number times the longest of them, padding included; it holds at most
    `most_tokens`, at least one row, and no more than `most_rows`. `apart`: rows of different lengths share none.

    >>> lengths = np.array([9] * 6 + [8] * 2)
    >>> cut(lengths, launch=1, most_tokens=99), cut(lengths, launch=9, most_tokens=99)
    ([6, 2], [8])
    >>> cut(lengths, launch=9, most_tokens=45), cut(lengths, launch=9, most_tokens=99, apart=True)
    ([4, 4], [6, 2])
    """
    starts = np.flatnonzero(np.r_[True, lengths[1:] != lengths[:-1]])
    if apart:
        limits: dict[str, Any] = {"launch": launch, "most_tokens": most_tokens, "most_rows": most_rows}
        return [size for alike in np.split(lengths, starts[1:]) for size in cut(alike, **limits)]
    longest = lengths[starts]
    rows_of_one = np.maximum(1, np.minimum(most_tokens // longest, most_rows or len(lengths)))
    # best[j]: the least cost of all rows before the j-th length; each segment of lengths is cut into equal forwards.
    # All rows of a segment count as its longest, which is exact for one forward, and a little much for several.
    best, came_from = np.zeros(len(starts) + 1), np.zeros(len(starts) + 1, dtype=np.int64)
    for j, end in enumerate([*starts[1:].tolist(), len(lengths)]):
        rows = end - starts[: j + 1]
        forwards = -(-rows // rows_of_one[: j + 1])
        cost = best[: j + 1] + forwards * launch + rows * longest[: j + 1]
        came_from[j + 1] = cost.argmin()
        best[j + 1] = cost[came_from[j + 1]]
    sizes: list[int] = []
    j, end = len(starts), len(lengths)
    while j:
        j = int(came_from[j])
        rows, most = end - int(starts[j]), int(rows_of_one[j])
        forwards = -(-rows // most)
        # Equal ones: as many launches as with full ones and a rest, and none larger than it has to be.
        sizes += [(rows + i) // forwards for i in range(forwards)]
        end = int(starts[j])
    return sizes[::-1]


# Rows that wait: how they are perturbed, which they are, their slots.
_Waiting = tuple[Perturbation, Rows, NDArray[np.int64]]


def row_keys(same_as: NDArray[np.int64], perturbation: Perturbation, rows: Rows) -> list[bytes]:
    """One byte string a row, equal exactly where the perturbed inputs are equal.

    `same_as` [B]: the first input with the same content.

    >>> from faithlib.backends import FunctionBackend
    >>> from faithlib.inputs import WordInputs
    >>> from faithlib._masking import erasure_of
    >>> words = FunctionBackend(lambda texts: [[0.5, 0.5] for _ in texts], WordInputs.from_texts(["good", "good"]))
    >>> erased = erasure_of(words, "delete")(torch.tensor([[False], [False]]))
    >>> len(set(row_keys(np.array([0, 0]), erased, Rows.of_steps(np.array([0, 1]), 1))))
    1
    """
    owners = same_as[rows.index].tolist()
    return [b.to_bytes(4, "little") + key for b, key in zip(owners, perturbation.keys(rows), strict=True)]


class Scheduler:
    """Answers to rows of one model, each run once.

    `same_as` [B]: the first input with the same content, whose answers an input shares.

    >>> from faithlib.backends import FunctionBackend
    >>> from faithlib.inputs import WordInputs
    >>> from faithlib._masking import erasure_of
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> erased = erasure_of(FunctionBackend(model, WordInputs.from_texts(["good film"])), "delete")
    >>> device, first = torch.device("cpu"), np.array([0])
    >>> scheduler = Scheduler(device, first, CostModel.of(device))
    >>> scheduler.answer(erased(torch.tensor([[True, False], [True, False]])), Rows.of_steps(first, 2)).exp()
    tensor([[0.1000, 0.9000],
            [0.1000, 0.9000]])
    >>> scheduler.stats.rows_asked, scheduler.stats.rows_run
    (2, 1)
    """

    def __init__(
        self, device: torch.device, same_as: NDArray[np.int64], cost_model: CostModel, *, max_rows: int | None = None
    ) -> None:
        self.stats = Stats()
        self.cost_model = cost_model
        self._device = device
        self._same_as = same_as
        self._max_rows = max_rows
        self._most_tokens = cost_model.most_tokens
        self._memo = AnswerCache()
        self._waiting: list[_Waiting] = []
        self._refused: list[tuple[NDArray[np.int64], Exception]] = []  # rows that did not run, and why

    @property
    def rows_new(self) -> int:
        """Rows that have run or wait to."""
        return self.stats.rows_run + sum(len(rows) for _, rows, _ in self._waiting)

    def queue(self, perturbation: Perturbation, rows: Rows) -> NDArray[np.int64]:
        """Note which rows will be needed.

        Parameters
        ----------
        perturbation : Perturbation
            How they are perturbed, with its masks [M, F].
        rows : Rows
            N of them; those that were answered or queued before are not queued again.

        Returns
        -------
        NDArray[np.int64]
            Their places [N], for `take`.

        Notes
        -----
        Nothing runs yet, except where the masks of what waits fill the memory that waiting may take.
        """
        start = time.perf_counter()
        slots, new = self._asked(perturbation, rows)
        if len(new):
            self._memo.waits[slots[new]] = True
            self._waiting.append((*perturbation.only(rows[new]), slots[new]))
        waiting_bytes = sum(waiting.masks.nbytes for waiting, _, _ in self._waiting)
        self.stats.seconds_all += time.perf_counter() - start
        if waiting_bytes > _MOST_WAITING_BYTES:
            self.run_queued()
        return slots

    def take(self, slots: NDArray[np.int64]) -> Tensor:
        """Logits of queued rows; the first call runs all that wait.

        Parameters
        ----------
        slots : NDArray[np.int64]
            Places [N], as `queue` returned them.

        Returns
        -------
        Tensor
            [N, C], float32.

        Raises
        ------
        ModelError
            Of a model that does not allow such rows.
        InputError
            Where it answered NaN or infinity.
        OutOfMemoryError
            Where one row alone does not fit.
        """
        if self._memo.waits[slots].any():
            self.run_queued()
        missing = slots[~self._memo.done[slots]]
        if len(missing):
            raise next(error for refused, error in reversed(self._refused) if np.isin(missing, refused).any())
        return self._memo.get(slots)

    def answer(self, perturbation: Perturbation, rows: Rows) -> Tensor:
        """Logits of rows, now; only those without an answer are run.

        Parameters
        ----------
        perturbation : Perturbation
            How they are perturbed, with its masks [M, F].
        rows : Rows
            N of them.

        Returns
        -------
        Tensor
            [N, C], float32.

        Raises
        ------
        ModelError, InputError, OutOfMemoryError
            As `take`.
        """
        start = time.perf_counter()
        slots, new = self._asked(perturbation, rows)
        if len(new):
            self._run(perturbation, rows[new], slots[new])
        self.stats.seconds_all += time.perf_counter() - start
        return self.take(slots)

    def _asked(self, perturbation: Perturbation, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The slots [N] of rows, and which of the rows are new: the first of each, without an answer, not queued."""
        slots = self._memo.slots(row_keys(self._same_as, perturbation, rows))
        distinct, first = np.unique(slots, return_index=True)
        new = first[~(self._memo.done[distinct] | self._memo.waits[distinct])]
        self.stats.rows_asked += len(slots)
        _LOG.debug("%d rows asked, %d of them new", len(slots), len(new))
        return slots, new

    def run_queued(self) -> None:
        """Run all rows that wait, those of one kind of perturbation as one."""
        start = time.perf_counter()
        # Those of one kind differ in their masks alone, so that one perturbation with all the masks runs them.
        kinds: dict[object, list[_Waiting]] = {}
        for entry in self._waiting:
            kinds.setdefault(entry[0].kind, []).append(entry)
        for parts in kinds.values():
            # Taken off the queue before they run: an error must not make later questions run them again.
            self._waiting = [entry for entry in self._waiting if not any(entry is part for part in parts)]
            masks = torch.cat([perturbation.masks for perturbation, _, _ in parts])
            rows = Rows.joined([rows for _, rows, _ in parts], [len(request.masks) for request, _, _ in parts])
            slots = np.concatenate([slots for _, _, slots in parts])
            self._memo.waits[slots] = False
            try:
                self._run(replace(parts[0][0], masks=masks), rows, slots)
            except ModelError as error:  # of rows that a model does not allow: `take` raises it, the others go on
                self._refused.append((slots, error))
            except Exception as error:
                self._refused.append((slots, error))
                raise
        self.stats.seconds_all += time.perf_counter() - start

    # -------------------------------------------------------------------------------------------------------- what runs
    def _run(self, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        """Answer `rows`, those that share most with others first (`faithlib.backends._prefix`)."""
        shared = perturbation.shared_tokens(rows, launch=self.cost_model.launch)
        for tokens in np.unique(shared)[::-1].tolist():
            alike = np.flatnonzero(shared == tokens)
            self._run_alike(perturbation, replace(rows[alike], shared=tokens), slots[alike])

    def _run_alike(self, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        """Answer rows that share as many tokens, by what is left of them: longest first; every chunk's answers are kept
        as soon as they are there."""
        lengths = perturbation.lengths(rows) - rows.shared
        # A chunk is as long as its first row. Of one length, rows of the same input stand together: a forward then
        # holds the keys and values of few beginnings.
        order = np.lexsort((rows.index, -lengths))
        lengths, slots = lengths[order], slots[order]
        # All that a chunk needs lies on the device before the first runs: carrying it over would stop the queue.
        rows, places = perturbation.placed(rows[order]), torch.from_numpy(slots).to(self._device)
        clock, start = Clock(self._device), 0
        broken = torch.zeros((), dtype=torch.bool, device=self._device)
        # Lengths first: whether padding shows is tried on the model, which rows of one length do not need.
        apart = bool(lengths[0] != lengths[-1]) and perturbation.padding_shows
        sizes: list[int] = []
        with torch.inference_mode(), tqdm(total=len(rows), unit="row", delay=3, leave=False, disable=None) as bar:
            while start < len(rows):
                left = lengths[start:]
                sizes = sizes or self._sizes(left[left == left[0]] if apart else left)
                chunk, longest = slice(start, start + sizes[0]), int(lengths[start])
                timed = self._times(lengths[start:])
                try:
                    with clock:
                        logits, measured = self._measured(perturbation, rows[chunk], longest, timed=timed)
                except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                    self._halve(error, sizes[0], longest)
                    sizes = []
                    continue
                self._memo.put(slots[chunk], logits.float(), places[chunk])
                # Gathered on the device: to look at it here would make the next chunk wait.
                broken |= logits.softmax(dim=-1).isnan().any()
                self.stats.rows_run += sizes[0]
                self.stats.forwards += 1
                self.stats.tokens_run += sizes[0] * longest
                self.stats.tokens_shared += sizes[0] * rows.shared
                peak = round((self.cost_model.bytes_a_token or 0) * sizes[0] * longest)
                self.stats.peak_bytes = max(self.stats.peak_bytes, peak)
                bar.update(sizes[0])
                # What was measured may allow other sizes: the rest is cut again.
                start, sizes = chunk.stop, [] if measured else sizes[1:]
        self.stats.seconds_model += clock.seconds()
        if bool(broken):
            self._refuse_nan(rows, slots)

    def _refuse_nan(self, rows: Rows, slots: NDArray[np.int64]) -> None:
        # Infinity becomes NaN in a softmax. Minus infinity does not: a model may rule a class out.
        bad = self._memo.get(slots).softmax(dim=-1).isnan().any(dim=1).cpu().numpy()
        self._memo.done[slots[bad]] = False
        inputs = sorted(set(rows.index[bad].tolist()))
        row = some_numbers(self._memo.get(slots[bad][:1])[0].tolist())
        rows_of = f"{counted(int(bad.sum()), 'row')}, of inputs {inputs[:5]}"
        raise InputError(
            f"the model answered NaN or infinity for {rows_of}, first {row}: "
            "check its weights; numbers of float16 end at 65504, so try dtype=torch.float32 or torch.bfloat16"
        )

    def _sizes(self, lengths: NDArray[np.int64]) -> list[int]:
        """How many of the next rows each of the next forwards takes; `lengths` fall."""
        few = self.cost_model.bytes_a_token is None
        if few or self._times(lengths):
            few = few or self.cost_model.times_small
            fits = _FIRST_CHUNK_ROWS if few else min(_TIMED_TOKENS, self._token_budget()) // int(lengths[0])
            return [min(max(1, fits), len(lengths), self._max_rows or len(lengths))]
        return cut(lengths, launch=self.cost_model.launch, most_tokens=self._token_budget(), most_rows=self._max_rows)

    def _times(self, lengths: NDArray[np.int64]) -> bool:
        """Whether the next forward is timed: where that is not done, and enough comes after it."""
        return self.cost_model.to_time > 0 and int(lengths.sum()) >= 4 * _TIMED_TOKENS

    def _token_budget(self) -> int:
        if self.cost_model.bytes_a_token is None:
            return self._most_tokens
        fits = _SHARE_OF_FREE_MEMORY * free_bytes(self._device) / self.cost_model.bytes_a_token
        return min(self._most_tokens, int(fits))

    def _measured(self, perturbation: Perturbation, rows: Rows, length: int, *, timed: bool) -> tuple[Tensor, bool]:
        """Logits [R, C] of a chunk, whose longest row has `length` tokens beyond those shared, and whether it was
        measured. The first are, for the memory that a token takes, and again those much larger; some on a GPU for their
        time."""
        tokens = len(rows) * length
        known = self.cost_model.bytes_a_token is not None
        if known and not timed and tokens < 4 * self.cost_model.tokens_measured:
            return self._forward(perturbation, rows, length), False
        begun = waited(self._device) if known and timed else None
        logits, peak = with_peak_memory(lambda: self._forward(perturbation, rows, length), self._device)
        if begun is not None:
            self.cost_model.timed(tokens, waited(self._device) - begun)
        if tokens > self.cost_model.tokens_measured:
            self.cost_model.measured(tokens, peak)
        return logits, True

    def _forward(self, perturbation: Perturbation, rows: Rows, length: int) -> Tensor:
        """Logits [R, C] of one chunk."""
        return perturbation.logits(rows, length + rows.shared)

    def _halve(self, error: BaseException, rows: int, length: int) -> None:
        if not is_out_of_memory(error):
            raise error
        if rows == 1:
            raise OutOfMemoryError(
                f"one row of {length} tokens does not fit the memory of {self._device} "
                f"({free_bytes(self._device) >> 20} MiB free): shorten the input or use a smaller dtype; rows already "
                "answered are kept"
            ) from error
        self._most_tokens = max(1, rows // 2) * length
        _LOG.warning("memory ran out at %d rows of %d tokens: going on with half as many", rows, length)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
