"""The perturbation core: ask a model about many erased copies of its inputs, pay for each distinct copy once.

A faithfulness metric is a formula over answers p(target | perturbed input). What costs is the answers, so one scheduler
stands under every way to perturb (`faithlib.perturbations`): it flattens what is asked to *rows*, drops rows already
answered (the memo is shared by all metrics, methods, bounds and calls on one `Perturber`), sorts the rest by length,
and runs chunks that fit the memory measured on the device; when it runs out all the same, smaller ones.

Shape letters: B inputs, S perturbed copies of one, F features, L tokens, D embedding size, C classes, R rows.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm.auto import tqdm

from faithlib.backends import TextBackend, backend_for
from faithlib.backends.wrappers import unwrapped
from faithlib.errors import FaithlibError, InputError, ModelError, unknown
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs
from faithlib.memory import Clock, free_bytes, is_out_of_memory, with_peak_memory
from faithlib.outputs import FOLLOWED, NEEDS_PROBABILITY, head_of, predicted, read, settled, stays
from faithlib.perturbations import Dropout, GaussianNoise, Perturbation, Rows, WeightedAttention, erasure_of
from faithlib.selfcheck import self_check

TEXT_ERASURES = ("zero", "pad", "mask", "delete")
IMAGE_ERASURES = ("mean", "zero", "blur")
WORD_ERASURES = ("delete", "mask")
_ERASURES: dict[type, tuple[str, ...]] = {
    TextInputs: TEXT_ERASURES, ImageInputs: IMAGE_ERASURES, WordInputs: WORD_ERASURES
}  # fmt: skip

# Beyond this many tokens a forward a processor's caches overflow and rows get slower; a GPU only runs out of memory.
_MOST_TOKENS = {"cpu": 2048, "cuda": 1 << 17}
_SHARE_OF_FREE_MEMORY = 0.5
_FIRST_CHUNK_ROWS = 8
_LOG = logging.getLogger(__name__)


class OutOfMemoryError(FaithlibError, MemoryError):
    """Not even a single row fits."""


@dataclass
class Stats:
    """What was asked and what it cost. Seconds are wall time; `peak_bytes` is the largest chunk's share of memory, from
    the measured bytes a token.

    >>> Stats(rows_asked=3).rows_run
    0
    """

    rows_asked: int = 0
    rows_run: int = 0
    forwards: int = 0
    seconds_model: float = 0.0
    seconds_all: float = 0.0
    peak_bytes: int = 0


def costs(*asked: Perturber | SetFunction) -> dict[str, float]:
    """What several of them cost together, as a manifest notes it: rows, forwards, seconds in the model and in the core,
    the largest chunk's bytes.

    >>> costs(SetFunction(lambda keep: keep.double().sum(dim=1), 2))["rows_run"]
    0
    """
    all_stats = [one.stats for one in asked]
    return {
        "rows_asked": sum(stats.rows_asked for stats in all_stats),
        "rows_run": sum(stats.rows_run for stats in all_stats),
        "forwards": sum(stats.forwards for stats in all_stats),
        "seconds_model": round(sum(stats.seconds_model for stats in all_stats), 2),
        "seconds_core": round(sum(stats.seconds_all for stats in all_stats), 2),
        "peak_bytes": max(stats.peak_bytes for stats in all_stats),
    }


class Memo:
    """Answers by row. A slot is given when a row is first asked; `done` says whether its answer has come.

    >>> Memo().slots([b"a", b"b", b"a"]).tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._slot: dict[bytes, int] = {}
        self._values: Tensor | None = None
        self.done = np.zeros(0, dtype=bool)

    def __len__(self) -> int:
        return len(self._slot)

    def slots(self, keys: list[bytes]) -> NDArray[np.int64]:
        """The slot of every key; unknown keys get new ones."""
        slot = self._slot
        found = np.fromiter((slot.setdefault(key, len(slot)) for key in keys), dtype=np.int64, count=len(keys))
        if len(slot) > len(self.done):
            self.done = np.concatenate(
                [self.done, np.zeros(max(len(slot), 2 * len(self.done)) - len(self.done), dtype=bool)]
            )
        return found

    def put(self, slots: NDArray[np.int64], values: Tensor) -> None:
        """Store the answers [R, C] of rows that have just run."""
        if self._values is None or len(self._values) < len(self.done):
            grown = values.new_zeros(len(self.done), values.shape[1])
            if self._values is not None:
                grown[: len(self._values)] = self._values
            self._values = grown
        self._values[torch.from_numpy(slots).to(values.device)] = values
        self.done[slots] = True

    def get(self, slots: NDArray[np.int64]) -> Tensor:
        """Answers [N, C] of rows that are done."""
        assert self._values is not None
        return self._values[torch.from_numpy(slots).to(self._values.device)]


class Perturber:
    """Answers of one model on perturbed copies of one batch of inputs.

    - `model`, `inputs`: a torch module with the `TextInputs` or `ImageInputs` that it reads, or a function: from texts
      to probabilities with `WordInputs`, from pixels to logits with `ImageInputs`.
    - `target`: "predicted" (the class of the unperturbed input), a class index, or a LongTensor [B].
    - `erase`: what takes the place of an erased feature in `keep`. Text: "zero" (embedding output set to 0), "pad" or
      "mask" (that token's id), "delete" (a shorter sequence). Images: "mean" (per image and channel), "zero", "blur".
      Words of a function of texts: "delete", "mask" (the inputs' mask string). Default: the first.
    - `output`: what `full`, `empty` and all verbs return, one of `faithlib.outputs`: "probability" (softmax of the
      logits), "logit", "sigmoid" (one logit, or several independent labels) or "value" (regression). Default: what the
      model's configuration says, else "probability"; of a model with one output it must be said.
    - `max_rows`: at most that many rows a forward (default: by memory). Results do not depend on it.
    - `check`: whether one input also goes through the model's own call, twice, to be compared with what is computed
      here (`faithlib.selfcheck`): two rows, on no account.
    - `dtype`: run the model in this precision (a copy of it is made; answers come back in float32). Default: as it is.

    All answers are float32 on the model's device, equal to the one-row-at-a-time loop to 1e-5 (on a GPU, convolutions
    and LSTMs with `torch.backends.cudnn.allow_tf32 = False`). The model must be in `eval()` mode: no random dropout.

    Raises InputError, UnknownNameError or ModelError for what cannot be used, OutOfMemoryError where no row fits.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> Perturber(model, WordInputs.from_texts(["good film"])).keep(torch.tensor([[[True, False], [False, True]]]))
    tensor([[0.9000, 0.5000]])
    """

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        *,
        target: str | int | Tensor = "predicted",
        erase: str | None = None,
        output: str | None = None,
        max_rows: int | None = None,
        dtype: torch.dtype | None = None,
        check: bool = True,
    ) -> None:
        asked, model = model, unwrapped(model)
        if getattr(model, "training", False):
            raise InputError("the model is in training mode: call model.eval() first, dropout makes answers random")
        choices = _ERASURES[type(inputs)]
        self.erase = choices[0] if erase is None else erase
        if self.erase not in choices:
            raise unknown("erase", erase, choices)
        if output is not None and output not in FOLLOWED:
            raise unknown("output", output, FOLLOWED)
        if max_rows is not None and max_rows < 1:
            raise InputError(f"max_rows {max_rows}: expected at least 1")
        if self.erase == "mask" and getattr(inputs, "mask_id", 0) is None:
            raise InputError("erase 'mask': this tokenizer has no mask token; choose 'pad', 'zero' or 'delete'")
        if self.erase == "delete" and isinstance(inputs, TextInputs) and not inputs.has_protected:
            raise InputError(
                "erase 'delete': this tokenizer protects no token of a text, so nothing would be left to read; choose "
                "'zero' or 'pad'"
            )
        if dtype is not None and not isinstance(model, nn.Module):
            raise InputError(f"dtype {dtype}: a function has its own precision; leave dtype away")
        if dtype is not None and dtype != next(model.parameters()).dtype:
            asked = model = copy.deepcopy(model).to(dtype)
        self._backend: Any = backend_for(model, inputs, output)
        self.inputs: Inputs = self._backend.inputs
        self.device: torch.device = self._backend.device
        self.stats = Stats()
        self._max_rows = max_rows
        self._max_tokens = _MOST_TOKENS.get(self.device.type, _MOST_TOKENS["cpu"])
        self._bytes_a_token: float | None = None
        self._memo = Memo()
        self._present = self.inputs.feature_mask
        self._content = np.array(self.inputs.keys(), dtype=np.uint64)
        # Inputs with the same content share their answers: each counts as the first of its kind.
        first = {key: b for b, key in reversed(list(enumerate(self._content.tolist())))}
        self._same_as = np.array([first[key] for key in self._content.tolist()])
        self._erased = erasure_of(self._backend, self.erase)
        self.logits_full = self.logits(self._present[:, None, :])[:, 0]
        classes = self.logits_full.shape[1]
        if check:
            self_check(asked, self._backend, self.logits_full)
        self.output = settled(output, model, classes)
        self.head = head_of(self.output, model, classes)
        self.predicted = predicted(self.logits_full)
        self.target = self._target(target)

    # ------------------------------------------------------------------------------------------------ what can be asked
    @property
    def full(self) -> Tensor:
        """p(target | X), [B]."""
        return read(self.logits_full, self.target, self.output)

    @property
    def empty(self) -> Tensor:
        """p(target | every feature erased), [B]; protected positions stay."""
        return self.keep(torch.zeros_like(self._present)[:, None, :])[:, 0]

    @cached_property
    def soft_empty(self) -> Tensor:
        """p(target | every element of every feature's embedding dropped), [B]; protected positions stay.

        What soft perturbations fall to, and so the floor of soft metrics, whatever `erase` puts in a feature's place
        in `keep`. For texts with erase="zero" it is `empty`, and the same row.
        """
        return self.soft(torch.zeros(self._present.shape, device=self.device)[:, None])[:, 0, 0]

    def keep(self, keep: Tensor) -> Tensor:
        """p(target | features where `keep` is True), [B, S], for bool masks [B, S, F]. Places beyond an input's
        features are ignored."""
        return read(self.logits(keep), self.target, self.output)

    def stays(self, keep: Tensor) -> Tensor:
        """Where copies with the features of `keep` [B, S, F] are predicted as the input is, bool [B, S]; ModelError for
        a predicted value (`faithlib.outputs`)."""
        if self.head == "value":
            raise ModelError(NEEDS_PROBABILITY)
        return stays(self.logits(keep), self.logits_full, self.target, self.head)

    @property
    def feature_mask(self) -> Tensor:
        """Which features each input has, bool [B, F]."""
        return self._present

    def keep_rows(self, index: Tensor, keep: Tensor) -> Tensor:
        """`keep` where inputs want different numbers of rows: p(target | input index[r], features where keep[r] is
        True), [R], for integers [R] and bool masks [R, F]."""
        return read(self.logit_rows(index, keep), self.target[index.to(self.device)], self.output)

    def logit_rows(self, index: Tensor, keep: Tensor) -> Tensor:
        """All logits [R, C] of the rows of `keep_rows`."""
        expected = [len(index), self._present.shape[1]]
        if keep.dtype != torch.bool or list(keep.shape) != expected:
            raise InputError(f"keep is {keep.dtype} {tuple(keep.shape)}: expected bool [R, F] = {expected}")
        index = index.to(self.device)
        masks = keep.to(self.device) | ~self._present[index]
        rows = Rows.of(index.cpu().numpy(), np.arange(len(index)), self.device)
        return self._answer(self._erased(masks), rows)

    def logits(self, keep: Tensor) -> Tensor:
        """All logits [B, S, C] for bool masks [B, S, F]; the rows are those of `keep`."""
        if keep.dtype != torch.bool:
            raise InputError(f"keep has dtype {keep.dtype}: expected torch.bool; for probabilities use soft()")
        masks = self._checked(keep, "keep") | ~self._present[:, None, :]
        return self._steps(self._erased(masks.flatten(0, 1)), keep.shape[1])[..., 0, :]

    def soft(self, keep_prob: Tensor, *, draws: int = 1, seed: int = 0) -> Tensor:
        """p(target | X') with each embedding element kept with its feature's probability, [B, S, draws] (Zhao & Aletras
        2023, Eq. 3), for float [B, S, F] in [0, 1].

        x'_i = x_i * e_i, e_i ~ Bernoulli(q_i) independently for every element, no rescaling. The elements drawn depend
        on (seed, content of the input, index in S, draw): calls with the same seed share them (common random numbers),
        so that a comparison of two attributions is not blurred by different draws. Rows whose probabilities are all 0
        or 1 are the rows of `keep` with erase="zero".
        """
        prob = self._checked(keep_prob, "keep_prob").float()
        if bool((self._present[:, None, :] & ((prob < 0) | (prob > 1))).any()):
            raise InputError(
                "keep_prob has values outside [0, 1]: normalise the scores first (faithlib.masks.normalise)"
            )
        masks = torch.where(self._present[:, None, :], prob, 1.0).flatten(0, 1)
        shared = self.erase == "zero" and isinstance(self._backend, TextBackend)
        return self._drawn(Dropout(self._backend, masks, self._content, seed, shared), draws)

    def gaussian(self, noise_scale: Tensor, *, variance: float, equation: int, draws: int = 1, seed: int = 0) -> Tensor:
        """p(target | X') with Gaussian noise in proportion to `noise_scale` [B, S, F] >= 0, [B, S, draws] (Appendix C,
        Eq. 7-8).

        Eq. 7: x'_i = x_i + lambda_i * g * x_i with g ~ N(0, variance) for every element. Eq. 8: x'_i = x_i + g * x_i
        with g ~ N(0, lambda_i * variance), our reading of "a deviation associated with the importance score".
        """
        if equation not in (7, 8):
            raise unknown("equation", equation, ("7", "8"))
        if not variance >= 0:
            raise InputError(f"variance {variance}: expected a number >= 0")
        scale = self._checked(noise_scale, "noise_scale").float()
        if bool((self._present[:, None, :] & (scale < 0)).any()):
            raise InputError("noise_scale has negative values: normalise the scores first (faithlib.masks.normalise)")
        deviation = (scale if equation == 7 else scale.sqrt()) * variance**0.5
        masks = torch.where(self._present[:, None, :], deviation, 0.0).flatten(0, 1)
        return self._drawn(GaussianNoise(self._backend, masks, self._content, seed), draws)

    def attention_mask(self, weights: Tensor) -> Tensor:
        """p(target | X with attention to feature f multiplied by weights_f and renormalised), [B, S], for float [B, S,
        F] in [0, 1].

        The continuous attention mask of Appendix C: log(weight) is added to the attention scores, so that 1 leaves a
        token alone and 0 hides it as padding is hidden. Text only.
        """
        weights = self._checked(weights, "weights").float()
        if not isinstance(self._backend, TextBackend):
            raise InputError(
                "attention_mask works on text models only: a timm VisionTransformer takes no attention mask"
            )
        if bool((self._present[:, None, :] & ((weights < 0) | (weights > 1))).any()):
            raise InputError("weights has values outside [0, 1]: normalise the scores first (faithlib.masks.normalise)")
        masks = torch.where(self._present[:, None, :], weights, 1.0).flatten(0, 1)
        return self._drawn(WeightedAttention(self._backend, masks), 1)[..., 0]

    # -------------------------------------------------------------------------------------------------- asking, as rows
    def _drawn(self, perturbation: Perturbation, draws: int) -> Tensor:
        """The target's output under masks [B S, F], each drawn so many times: [B, S, draws]."""
        if draws < 1:
            raise InputError(f"draws {draws}: expected at least 1")
        return read(
            self._steps(perturbation, len(perturbation.masks) // len(self.inputs), draws), self.target, self.output
        )

    def _steps(self, perturbation: Perturbation, steps: int, draws: int = 1) -> Tensor:
        """Logits [B, S, draws, C] under masks [B S, F]."""
        rows = Rows.of_steps(len(perturbation.masks), steps, self.device, draws=draws)
        return self._answer(perturbation, rows).unflatten(0, (len(self.inputs), steps, draws))

    def _checked(self, values: Tensor, name: str) -> Tensor:
        expected = tuple(self._present.shape)
        if values.ndim != 3 or (values.shape[0], values.shape[2]) != expected:
            raise InputError(
                f"{name} has shape {tuple(values.shape)}: expected [B, S, F] = [{expected[0]}, any, {expected[1]}]"
            )
        values = values.to(self.device)
        if values.is_floating_point() and bool((self._present[:, None, :] & ~torch.isfinite(values)).any()):
            raise InputError(f"{name} holds NaN or infinite values at features of the inputs: expected finite numbers")
        return values

    def _target(self, target: str | int | Tensor) -> Tensor:
        count = self.logits_full.shape[1]
        classes = 2 if count == 1 and self.head == "sigmoid" else count
        if isinstance(target, str):
            if target != "predicted":
                raise unknown("target", target, ("predicted", "a class index", "a LongTensor [B]"))
            if self.head == "value" and count > 1:
                raise InputError(f"target 'predicted': of {count} predicted values none is the one; give its index")
            return self.predicted
        wanted = torch.as_tensor(target, device=self.device)
        if wanted.ndim == 0:
            wanted = wanted.expand(len(self.inputs))
        if tuple(wanted.shape) != (len(self.inputs),) or wanted.is_floating_point():
            raise InputError(f"target has shape {tuple(wanted.shape)} and dtype {wanted.dtype}: expected integers [B]")
        if bool(((wanted < 0) | (wanted >= classes)).any()):
            raise InputError(f"target {wanted.tolist()}: expected classes 0 to {classes - 1}")
        return wanted

    # --------------------------------------------------------------------------------------------------- the scheduler
    def _answer(self, perturbation: Perturbation, rows: Rows) -> Tensor:
        """Logits [N, C] of all rows asked; only rows without an answer are run."""
        start = time.perf_counter()
        slots = self._memo.slots(self._keys(perturbation, rows))
        missing, first = np.unique(slots, return_index=True)
        first = first[~self._memo.done[missing]]
        _LOG.debug("%d rows asked, %d of them new", len(slots), len(first))
        self.stats.rows_asked += len(slots)
        if len(first):
            self._run(perturbation, rows[first], slots[first])
        answers = self._memo.get(slots)
        self.stats.seconds_all += time.perf_counter() - start
        return answers

    def _keys(self, perturbation: Perturbation, rows: Rows) -> list[bytes]:
        """One byte string a row, equal exactly where the perturbed inputs are equal."""
        owners = self._same_as[rows.index].tolist()
        return [b.to_bytes(4, "little") + key for b, key in zip(owners, perturbation.keys(rows), strict=True)]

    def _run(self, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        """Answer `rows`, longest first, and keep every chunk's answers as soon as they are there."""
        lengths = perturbation.lengths(rows)
        order = np.argsort(-lengths, kind="stable")
        lengths = lengths[order]
        clock = Clock(self.device)
        broken = torch.zeros((), dtype=torch.bool, device=self.device)
        start = 0
        with torch.inference_mode(), tqdm(total=len(rows), unit="row", delay=3, leave=False, disable=None) as bar:
            while start < len(rows):
                stop = start + self._chunk(lengths[start:])
                chunk = order[start:stop]
                try:
                    with clock:
                        logits = self._measured(perturbation, rows, chunk, int(lengths[start]))
                except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                    self._halve(error, len(chunk), int(lengths[start]))
                    continue
                self._memo.put(slots[chunk], logits.float())
                broken |= logits.softmax(dim=-1).isnan().any()
                self.stats.rows_run += len(chunk)
                self.stats.forwards += 1
                peak = round((self._bytes_a_token or 0) * len(chunk) * int(lengths[start]))
                self.stats.peak_bytes = max(self.stats.peak_bytes, peak)
                bar.update(len(chunk))
                start = stop
        self.stats.seconds_model += clock.seconds()
        if bool(broken):
            self._refuse_nan(rows, slots)

    def _refuse_nan(self, rows: Rows, slots: NDArray[np.int64]) -> None:
        bad = self._memo.get(slots).softmax(dim=-1).isnan().any(dim=1).cpu().numpy()
        found, row = sorted(set(rows.index[bad].tolist())), self._memo.get(slots[bad][:1])[0].tolist()
        raise InputError(
            f"the model answered NaN for {int(bad.sum())} rows, of inputs {found[:5]}, first {row[:4]}: check its "
            "weights; numbers of float16 end at 65504, so try dtype=torch.float32 or torch.bfloat16"
        )

    def _chunk(self, lengths: NDArray[np.int64]) -> int:
        """How many of the next rows go into one forward; `lengths` fall."""
        longest = int(lengths[0])
        fits = max(1, self._token_budget() // longest)
        if self._bytes_a_token is None:
            fits = min(fits, _FIRST_CHUNK_ROWS)
        # Rows over 1/16 shorter than the first would mostly be padding: they wait for a chunk, unless few are left.
        alike = int(np.searchsorted(-lengths, -(longest - longest // 16), side="right"))
        return min(fits, max(alike, _FIRST_CHUNK_ROWS), self._max_rows or len(lengths), len(lengths))

    def _token_budget(self) -> int:
        if self._bytes_a_token is None:
            return self._max_tokens
        return min(self._max_tokens, int(_SHARE_OF_FREE_MEMORY * free_bytes(self.device) / self._bytes_a_token))

    def _measured(self, perturbation: Perturbation, rows: Rows, chunk: NDArray[np.int64], length: int) -> Tensor:
        """Run a chunk of the rows; the first one also tells how much memory a token takes."""
        if self._bytes_a_token is not None:
            return self._forward(perturbation, rows[chunk], length)
        logits, peak = with_peak_memory(lambda: self._forward(perturbation, rows[chunk], length), self.device)
        self._bytes_a_token = max(1.0, peak / (len(chunk) * length))
        return logits

    def _forward(self, perturbation: Perturbation, rows: Rows, length: int) -> Tensor:
        """Logits [R, C] of one chunk, whose longest row has `length` tokens."""
        return perturbation.logits(rows, length)

    def _halve(self, error: BaseException, rows: int, length: int) -> None:
        if not is_out_of_memory(error):
            raise error
        if rows == 1:
            raise OutOfMemoryError(
                f"one row of {length} tokens does not fit the memory of {self.device} ({free_bytes(self.device) >> 20} "
                "MiB free): shorten the input or use a smaller dtype; rows already answered are kept"
            ) from error
        self._max_tokens = max(1, rows // 2) * length
        _LOG.warning("memory ran out at %d rows of %d tokens: going on with half as many", rows, length)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


class SetFunction:
    """The `full` / `empty` / `keep` face of a `Perturber` over any function of a feature set; one input (B = 1).

    `fn` maps bool [R, F] to float [R]. For closed-form examples and for published tables of model outputs. Sets already
    asked are not evaluated again.

    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([1.0, 2.0]).double(), 2)
    >>> additive.full.item(), additive.empty.item(), additive.stats.rows_run
    (3.0, 0.0, 2)
    """

    def __init__(self, fn: Callable[[Tensor], Tensor], n_features: int) -> None:
        if n_features < 1:
            raise InputError(f"n_features {n_features}: expected at least 1")
        self.fn = fn
        self.n_features = n_features
        self.stats = Stats()
        self._memo = Memo()

    @property
    def full(self) -> Tensor:
        """fn of all features, [1]."""
        return self.keep(torch.ones(1, 1, self.n_features, dtype=torch.bool))[:, 0]

    @property
    def empty(self) -> Tensor:
        """fn of no feature, [1]."""
        return self.keep(torch.zeros(1, 1, self.n_features, dtype=torch.bool))[:, 0]

    @property
    def feature_mask(self) -> Tensor:
        """Which features there are, bool [1, F]: all."""
        return torch.ones(1, self.n_features, dtype=torch.bool)

    def keep_rows(self, index: Tensor, keep: Tensor) -> Tensor:
        """fn of each set, [R], for bool masks [R, F]; `index` [R] can only be 0."""
        return self.keep(keep[None])[0]

    def keep(self, keep: Tensor) -> Tensor:
        """fn of each set, [1, S], for bool masks [1, S, F]."""
        if keep.dtype != torch.bool or keep.ndim != 3 or keep.shape[0] != 1 or keep.shape[2] != self.n_features:
            raise InputError(f"keep is {keep.dtype} {tuple(keep.shape)}: expected bool [1, S, {self.n_features}]")
        start = time.perf_counter()
        bits = np.packbits(keep[0].cpu().numpy(), axis=1)
        slots = self._memo.slots([row.tobytes() for row in bits])
        missing, rows = np.unique(slots, return_index=True)
        rows = rows[~self._memo.done[missing]]
        self.stats.rows_asked += len(slots)
        if len(rows):
            self._evaluate(keep[0, torch.from_numpy(rows)], slots[rows])
        answers = self._memo.get(slots)[None, :, 0]
        self.stats.seconds_all += time.perf_counter() - start
        return answers

    def _evaluate(self, sets: Tensor, slots: NDArray[np.int64]) -> None:
        start = time.perf_counter()
        values = self.fn(sets)
        self.stats.seconds_model += time.perf_counter() - start
        if tuple(values.shape) != (len(sets),):
            raise InputError(f"fn returned shape {tuple(values.shape)} for {len(sets)} sets: expected [{len(sets)}]")
        self._memo.put(slots, values[:, None])
        self.stats.rows_run += len(sets)
        self.stats.forwards += 1
