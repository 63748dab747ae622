"""The perturbation core: ask a model about many erased copies of its inputs, pay for each distinct copy once.

A faithfulness metric is a formula over answers p(target | perturbed input). What costs is the answers, so one scheduler
(`faithlib._scheduler`) serves every way to perturb (`faithlib._masking`). What is asked is flattened to *rows*; a
row already answered is not run again, whichever metric, method, bound or call on one `Perturber` asked it. The rest
share forwards at the least cost. `Perturber.later` queues rows, and all that wait run as one when the first answer is
taken.

Shape letters: B inputs, S perturbed copies of one, F features, L tokens, D embedding size, C classes, R rows.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from faithlib._masking import Dropout, GaussianNoise, Perturbation, Rows, WeightedAttention, erasure_of
from faithlib._scheduler import AnswerCache, Scheduler, Stats, cost_model_of
from faithlib._selfcheck import cannot_run, own_answers, self_check
from faithlib.backends import TextBackend, backend_for
from faithlib.backends._model_adapters import target_classes, unwrapped
from faithlib.copies import Copies
from faithlib.errors import InputError, ModelError, check_counts, check_known, unknown
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs
from faithlib.names import Erasure, FollowedOutput
from faithlib.outputs import FOLLOWED, NEEDS_PROBABILITY, head_of, predicted, read, settled, settled_classes, stays
from faithlib.protocols import Model

__all__ = [
    "ERASURES",
    "IMAGE_ERASURES",
    "TEXT_ERASURES",
    "WORD_ERASURES",
    "Eraser",
    "PendingAnswers",
    "Perturber",
    "SetFunction",
    "costs",
]

TEXT_ERASURES: tuple[Erasure, ...] = ("zero", "pad", "mask", "delete")
IMAGE_ERASURES: tuple[Erasure, ...] = ("mean", "zero", "blur")
WORD_ERASURES: tuple[Erasure, ...] = ("delete", "mask")
ERASURES: dict[type, tuple[Erasure, ...]] = {
    TextInputs: TEXT_ERASURES, ImageInputs: IMAGE_ERASURES, WordInputs: WORD_ERASURES
}  # fmt: skip


def costs(*asked: Perturber | SetFunction) -> dict[str, float]:
    """What several perturbers cost together, as a manifest notes it.

    Parameters
    ----------
    asked
        At least one.

    Returns
    -------
    dict of str to float
        "rows_asked", "rows_run", "forwards"; "seconds_model" and "seconds_core", in the model and in the core;
        "peak_bytes", the largest chunk's.

    Examples
    --------
    >>> costs(SetFunction(lambda keep: keep.double().sum(dim=1), 2))["rows_run"]
    0
    """
    all_stats = [perturber.stats for perturber in asked]
    return {
        "rows_asked": sum(stats.rows_asked for stats in all_stats),
        "rows_run": sum(stats.rows_run for stats in all_stats),
        "forwards": sum(stats.forwards for stats in all_stats),
        "seconds_model": round(sum(stats.seconds_model for stats in all_stats), 2),
        "seconds_core": round(sum(stats.seconds_all for stats in all_stats), 2),
        "peak_bytes": max(stats.peak_bytes for stats in all_stats),
    }


class Eraser:
    """How erased copies of inputs are made, before any model answers: which rows a question takes.

    What `Perturber` answers and `faithlib.evaluation.count_rows` counts. `feature_mask` [B, F]: which features each
    input has. Arguments as for `Perturber`.

    >>> from faithlib.perturb import Eraser
    >>> eraser = Eraser(lambda texts: 1 / 0, WordInputs.from_texts(["good film"]))  # the model is never asked
    >>> _, rows = eraser.rows(Copies(torch.tensor([[[True, False], [False, True]]])))
    >>> len(rows)
    2
    """

    # What has one entry an input, and is taken along by `of`.
    _by_input: tuple[str, ...] = ("feature_mask",)

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        *,
        erase: Erasure | None = None,
        output: FollowedOutput | None = None,
    ) -> None:
        if getattr(model, "training", False):
            raise InputError("the model is in training mode: call model.eval() first, dropout makes answers random")
        if type(inputs) not in ERASURES:
            raise InputError(
                f"inputs are {type(inputs).__name__}: expected TextInputs, ImageInputs or WordInputs, as made by "
                "faithlib.texts(model, ...), faithlib.images(model, ...) or faithlib.tokens(model, ...)"
            )
        choices = ERASURES[type(inputs)]
        self.erase = choices[0] if erase is None else erase
        check_known("erase", self.erase, choices)
        if output is not None:
            check_known("output", output, FOLLOWED)
        if self.erase == "mask" and getattr(inputs, "mask_id", 0) is None:
            raise InputError("erase 'mask': this tokenizer has no mask token; choose 'pad', 'zero' or 'delete'")
        if self.erase == "delete" and isinstance(inputs, TextInputs) and not inputs.has_protected:
            raise InputError(
                "erase 'delete': this tokenizer protects no token of a text, so nothing would be left to read; choose "
                "'zero' or 'pad'"
            )
        self._backend: Any = backend_for(model, inputs, output)
        self.device: torch.device = self._backend.device
        self._chosen = np.arange(len(self._backend.inputs))  # those of the backend's inputs that are asked about
        self.feature_mask: Tensor = self.inputs.feature_mask
        self._content = np.array(self.inputs.keys(), dtype=np.uint64)
        # Inputs with the same content share their answers: each counts as the first of its kind.
        first = {key: b for b, key in reversed(list(enumerate(self._content.tolist())))}
        self._same_as = np.array([first[key] for key in self._content.tolist()])
        self._erased = erasure_of(self._backend, self.erase)

    def subset(self, index: Sequence[int]) -> Self:
        """The same for some of these inputs, that shares all answers.

        Parameters
        ----------
        index : Sequence[int]
            Places of the inputs; a place may come more than once.

        Returns
        -------
        Self
            Masks and scores of it are still F wide.

        Examples
        --------
        >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
        >>> p = Perturber(model, WordInputs.from_texts(["good film", "bad"]))
        >>> p.subset([1, 1]).full, p.subset([1, 1]).feature_mask
        (tensor([0.5000, 0.5000]), tensor([[ True, False],
                [ True, False]]))
        """
        made = copy.copy(self)
        there = torch.as_tensor(index, device=self.device)
        made._chosen = self._chosen[list(index)]
        for name in self._by_input:
            setattr(made, name, getattr(self, name)[there])
        return made

    @property
    def inputs(self) -> Inputs:
        """What is asked about."""
        every: Inputs = self._backend.inputs
        is_whole = np.array_equal(self._chosen, np.arange(len(every)))
        return every if is_whole else every[self._chosen.tolist()]

    @property
    def keys(self) -> list[int]:
        """A number for the content of each input, [B]; equal inputs have the same."""
        keys: list[int] = self._content[self._chosen].tolist()
        return keys

    def rows(self, copies: Copies) -> tuple[Perturbation, Rows]:
        """How copies are perturbed, and which rows of the model they take.

        Parameters
        ----------
        copies : Copies
            Of these inputs: `keep` bool [B, S, F], or float in [0, 1] for soft copies.

        Returns
        -------
        tuple of Perturbation and Rows
            [B, S, draws] flattened, or of the real copies alone.

        Raises
        ------
        InputError
            For masks of another shape, probabilities outside [0, 1] or that are not finite, and fewer than one draw.
        """
        keep = copies.keep
        if copies.real is not None:
            real = copies.real.to(self.device)
            return self._ragged(real.nonzero()[:, 0], keep.to(self.device)[real])
        if keep.dtype == torch.bool:
            # What an input does not have counts as kept, so that copies which differ there alone are the same row.
            masks = self._checked(keep, "keep") | ~self.feature_mask[:, None, :]
            return self._steps(self._erased(masks.flatten(0, 1)))
        masks = self._shares(keep, "keep_prob", 1.0)
        # Where erasing is zeroing as well, shares of 0 and 1 alone ask what `keep` asks, and are the same rows.
        shared = self.erase == "zero" and isinstance(self._backend, TextBackend)
        return self._steps(Dropout(self._backend, masks, self._content, copies.seed, shared), copies.draws)

    def _ragged(self, index: Tensor, keep: Tensor) -> tuple[Perturbation, Rows]:
        """One row of input index[r] with the features of keep[r], for integers [R] and bool masks [R, F]."""
        expected = [len(index), self.feature_mask.shape[1]]
        if keep.dtype != torch.bool or list(keep.shape) != expected:
            raise InputError(f"keep is {keep.dtype} {tuple(keep.shape)}: expected bool [R, F] = {expected}")
        index = index.to(self.device)
        masks = keep.to(self.device) | ~self.feature_mask[index]
        return self._erased(masks), Rows.of_steps(self._chosen[index.cpu().numpy()], 1)

    def _steps(self, perturbation: Perturbation, draws: int = 1) -> tuple[Perturbation, Rows]:
        """Rows of masks [B S, F], each drawn so many times."""
        check_counts(draws=draws)
        return perturbation, Rows.of_steps(self._chosen, len(perturbation.masks) // len(self._chosen), draws=draws)

    def _checked(self, values: Tensor, name: str) -> Tensor:
        expected = tuple(self.feature_mask.shape)
        if values.ndim != 3 or (values.shape[0], values.shape[2]) != expected:
            raise InputError(
                f"{name} has shape {tuple(values.shape)}: expected [B, S, F] = [{expected[0]}, any, {expected[1]}]"
            )
        values = values.to(self.device)
        if values.is_floating_point() and bool((self.feature_mask[:, None, :] & ~torch.isfinite(values)).any()):
            raise InputError(f"{name} holds NaN or infinite values at features of the inputs: expected finite numbers")
        return values

    def _shares(self, values: Tensor, name: str, neutral: float, *, most: float = 1.0) -> Tensor:
        """What is given for each feature as masks [B S, F], `neutral` where an input has none."""
        present, values = self.feature_mask[:, None, :], self._checked(values, name).float()
        if bool((present & ((values < 0) | (values > most))).any()):
            wrong = "values outside [0, 1]" if most == 1 else "negative values"
            raise InputError(f"{name} has {wrong}: normalise the scores first (faithlib.masks.normalise)")
        return torch.where(present, values, neutral).flatten(0, 1)


class PendingAnswers:
    """Answers of a perturber that are on their way: `result` runs all rows that wait, and reads the model's logits.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> p = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> asked = [p.later(torch.tensor([[[kept, not kept]]])) for kept in (True, False)]
    >>> [one.result().item() for one in asked], p.stats.forwards  # both in one forward, the input itself in another
    ([0.8999999761581421, 0.5], 2)
    """

    def __init__(self, perturber: Perturber, copies: Copies) -> None:
        self._perturber, self._read = perturber, copies.read
        perturbation, rows = perturber.rows(copies)
        self._slots = perturber.scheduler.queue(perturbation, rows)
        self._shape = () if copies.real is not None else (*copies.keep.shape[:2], copies.draws)
        self._is_drawn = copies.keep.is_floating_point()

    def result(self) -> Tensor:
        """What is read from the answers; runs all rows that wait.

        Returns
        -------
        Tensor
            [B, S]; of soft copies [B, S, draws]; of real copies alone [R]; the classes [..., C] behind that where
            logits are read, and bool where it is whether the predicted class stays.

        Raises
        ------
        ModelError
            Where the model does not allow such rows.
        InputError
            For answers that are NaN or, for the target, infinite.
        """
        perturber, logits = self._perturber, self._perturber.scheduler.take(self._slots)
        if self._shape:
            logits = logits.unflatten(0, self._shape)
            logits = logits if self._is_drawn else logits[:, :, 0]
        if self._read == "logits":
            return logits
        if self._read == "stays":
            return stays(logits, perturber.logits_full, perturber.target, perturber.head)
        return perturber.read(logits)


class Perturber(Eraser):
    """Answers of one model on perturbed copies of one batch of inputs.

    Parameters
    ----------
    model : Model
        A torch module that reads `TextInputs` or `ImageInputs`, in `eval()` mode (no random dropout); or a function:
        from texts to probabilities with `WordInputs`, from pixels to logits with `ImageInputs`.
    inputs : Inputs
        B inputs.
    target : str | int | Tensor, default "predicted"
        "predicted" (the class of the unperturbed input), a class index, or a LongTensor [B].
    erase : Erasure, optional
        What takes the place of an erased feature in `keep`. Text: "zero" (embedding output set to 0), "pad" or "mask"
        (that token's id), "delete" (a shorter sequence). Images: "mean" (per image and channel), "zero", "blur". Words
        of a function of texts: "delete", "mask" (the inputs' mask string). Default: the first.
    output : FollowedOutput, optional
        What `full`, `empty` and all verbs return, one of `faithlib.outputs`: "probability" (softmax of the logits),
        "logit", "sigmoid" (one logit, or several independent labels) or "value" (regression). Default: what the model's
        configuration says, else "probability"; of a model with one output it must be said.
    max_rows : int, optional
        At most that many rows a forward, at least 1; default: by memory. Results do not depend on it.
    dtype : torch.dtype | str, optional
        Run the model in this precision (a copy of it is made; answers come back in float32). With "auto": bfloat16 on a
        GPU that has it, several times faster and less exact; as it is elsewhere. Default: as it is.
    check : bool, default True
        Whether one input also goes through the model's own call, twice, to be compared with what is computed here
        (`faithlib._selfcheck`): two rows, on no account.

    Raises
    ------
    InputError, UnknownNameError, ModelError
        For what cannot be used.
    OutOfMemoryError
        Where no row fits.

    Notes
    -----
    `feature_mask` [B, F]: which features each input has. `stats`: what was asked and what it cost.

    All answers are float32 on the model's device, equal to the one-row-at-a-time loop to 1e-5 (on a GPU, convolutions
    and LSTMs with `torch.backends.cudnn.allow_tf32 = False`).

    Examples
    --------
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> Perturber(model, WordInputs.from_texts(["good film"])).keep(torch.tensor([[[True, False], [False, True]]]))
    tensor([[0.9000, 0.5000]])
    """

    _by_input = ("feature_mask", "logits_full", "predicted", "target")

    def __init__(
        self,
        model: Model,
        inputs: Inputs,
        *,
        target: str | int | Tensor = "predicted",
        erase: Erasure | None = None,
        output: FollowedOutput | None = None,
        max_rows: int | None = None,
        dtype: torch.dtype | str | None = None,
        check: bool = True,
    ) -> None:
        asked: Any = model
        whole = run = unwrapped(model)
        check_counts(max_rows=max_rows)
        precision = _precision(dtype, run)
        if precision is not None and precision != next(run.parameters()).dtype:
            asked = run = copy.deepcopy(run).to(precision)
        super().__init__(run, inputs, erase=erase, output=output)
        # Kept with the model that was given: a copy in another precision ends with this perturber, and with it all that
        # was measured of it.
        cost_model = cost_model_of(whole, self.device, precision)
        self.scheduler = Scheduler(self.device, self._same_as, cost_model, max_rows=max_rows)
        self.stats = self.scheduler.stats
        # The model's own call comes first: one that cannot be called says so itself, in the words of its library.
        own = own_answers(asked, self._backend) if check else {}
        try:
            self.logits_full = self.logits(self.feature_mask[:, None, :])[:, 0]
        except Exception as error:
            if (why := cannot_run(asked, self._backend, error, own)) is not None:
                raise why from error
            raise
        classes = self.logits_full.shape[1]
        if check:
            self_check(asked, self._backend, self.logits_full, own)
        self.output = settled(output, run, classes)
        self.head = head_of(self.output, run, classes)
        self.predicted = predicted(self.logits_full, self.head)
        wanted = target_classes(target, run, len(self._chosen))
        wanted = None if wanted is None else wanted.to(self.device)
        self.target = settled_classes(self.logits_full, wanted, self.head)

    # ------------------------------------------------------------------------------------------------ what can be asked
    @property
    def full(self) -> Tensor:
        """The output for the whole inputs, p(target | X), [B]."""
        return self.read(self.logits_full)

    @property
    def empty(self) -> Tensor:
        """The output with every feature erased, p(target | every feature erased), [B]; protected positions stay."""
        return self.keep(torch.zeros_like(self.feature_mask)[:, None, :])[:, 0]

    @property
    def soft_empty(self) -> Tensor:
        """The output with every element of every feature's embedding dropped, [B]; protected positions stay.

        What soft perturbations fall to, and so the floor of soft metrics, whatever `erase` puts in a feature's place in
        `keep`. For texts with erase="zero" it is `empty`, and the same row.
        """
        return self.soft(torch.zeros(self.feature_mask.shape, device=self.device)[:, None])[:, 0, 0]

    def keep(self, keep: Tensor) -> Tensor:
        """The output for copies that keep some features, p(target | features where `keep` is True).

        Parameters
        ----------
        keep : Tensor
            What is kept of each copy, bool [B, S, F]. Places beyond an input's features are ignored.

        Returns
        -------
        Tensor
            [B, S].

        Raises
        ------
        InputError
            For masks of another shape or type.
        """
        return self.read(self.logits(keep))

    def read(self, logits: Tensor, target: Tensor | None = None) -> Tensor:
        """The output of logits for the target.

        Parameters
        ----------
        logits : Tensor
            [B, ..., C].
        target : Tensor, optional
            Classes [B]; default: the perturber's.

        Returns
        -------
        Tensor
            [B, ...].

        Raises
        ------
        InputError
            Where it is infinite, as that of a class which a model rules out for some copy.
        """
        values = read(logits, self.target if target is None else target, self.output)
        # Probabilities are never infinite, and a look at the values would make the device wait.
        if self.output not in ("probability", "sigmoid") and bool((endless := values.isinf()).any()):
            n_endless = int(endless.sum())
            copies = "1 copy" if n_endless == 1 else f"{n_endless} copies"
            raise InputError(
                f"the {self.output} is infinite for {copies} of inputs, where the model rules the "
                "target out: expected finite numbers; follow output='probability', or leave such inputs out"
            )
        return values

    def later(self, copies: Copies | Tensor) -> PendingAnswers:
        """Queue copies whose answers will be needed: all rows that wait run as one when the first `result` is taken.

        Parameters
        ----------
        copies : Copies | Tensor
            Masks as for `keep`, or `Copies`.

        Returns
        -------
        PendingAnswers
            Its `result()` runs what waits.

        Raises
        ------
        ModelError
            Where it is asked whether a class stays the predicted one of a model that predicts a value. What the model
            itself does not allow is raised by `result`.
        InputError
            As `keep` and `soft`.
        """
        if isinstance(copies, Tensor):
            copies = Copies(copies)
        if copies.read == "stays" and self.head == "value":
            raise ModelError(NEEDS_PROBABILITY)
        asked = self if copies.inputs is None else self.subset(copies.inputs.tolist())
        return PendingAnswers(asked, copies)

    def stays(self, keep: Tensor) -> Tensor:
        """Where copies are predicted as the input is.

        Parameters
        ----------
        keep : Tensor
            What is kept of each copy, bool [B, S, F].

        Returns
        -------
        Tensor
            bool [B, S].

        Raises
        ------
        ModelError
            For a predicted value (`faithlib.outputs`).
        InputError
            As `keep`.
        """
        return self.later(Copies(keep, read="stays")).result()

    def keep_rows(self, index: Tensor, keep: Tensor) -> Tensor:
        """`keep` where inputs want different numbers of rows.

        p(target | input index[r], features where keep[r] is True).

        Parameters
        ----------
        index : Tensor
            The input of each row, integers [R].
        keep : Tensor
            What is kept of it, bool [R, F].

        Returns
        -------
        Tensor
            [R].

        Raises
        ------
        InputError
            For masks of another shape or type.
        """
        return self.read(self.logit_rows(index, keep), self.target[index.to(self.device)])

    def logit_rows(self, index: Tensor, keep: Tensor) -> Tensor:
        """All logits of the rows of `keep_rows`.

        Parameters
        ----------
        index : Tensor
            The input of each row, integers [R].
        keep : Tensor
            What is kept of it, bool [R, F].

        Returns
        -------
        Tensor
            [R, C].

        Raises
        ------
        InputError
            For masks of another shape or type.
        """
        return self.scheduler.answer(*self._ragged(index, keep))

    def logits(self, keep: Tensor) -> Tensor:
        """All logits of copies that keep some features; the rows are those of `keep`.

        Parameters
        ----------
        keep : Tensor
            What is kept of each copy, bool [B, S, F].

        Returns
        -------
        Tensor
            [B, S, C].

        Raises
        ------
        InputError
            For masks of another shape or type.
        """
        if keep.dtype != torch.bool:
            raise InputError(f"keep has dtype {keep.dtype}: expected torch.bool; for probabilities use soft()")
        return self._answered(*self.rows(Copies(keep)), steps=keep.shape[1])[..., 0, :]

    def soft(self, keep_prob: Tensor, *, draws: int = 1, seed: int = 0) -> Tensor:
        """The output with each embedding element kept with its feature's probability (Zhao & Aletras 2023, Eq. 3).

        x'_i = x_i * e_i, e_i ~ Bernoulli(q_i) independently for every element, no rescaling.

        Parameters
        ----------
        keep_prob : Tensor
            Probabilities q of each copy, [B, S, F], in [0, 1].
        draws : int, default 1
            Random copies of each, at least 1.
        seed : int, default 0
            The elements drawn depend on (seed, content of the input, index in S, draw): calls with the same seed share
            them (common random numbers). So a comparison of two attributions is not blurred by different draws.

        Returns
        -------
        Tensor
            p(target | X'), [B, S, draws].

        Raises
        ------
        InputError
            For probabilities outside [0, 1] or of another shape.

        Notes
        -----
        Rows whose probabilities are all 0 or 1 are the rows of `keep` with erase="zero".
        """
        copies = Copies(keep_prob.float(), draws=draws, seed=seed)
        return self.read(self._answered(*self.rows(copies), steps=keep_prob.shape[1], draws=draws))

    def gaussian(self, noise_scale: Tensor, *, variance: float, equation: int, draws: int = 1, seed: int = 0) -> Tensor:
        """The output with Gaussian noise in proportion to `noise_scale` (Zhao & Aletras 2023, Appendix C, Eq. 7-8).

        Eq. 7: x'_i = x_i + lambda_i * g * x_i with g ~ N(0, variance) for every element. Eq. 8: x'_i = x_i + g * x_i
        with g ~ N(0, lambda_i * variance), our reading of "a deviation associated with the importance score".

        Parameters
        ----------
        noise_scale : Tensor
            lambda of each feature, [B, S, F], at least 0.
        variance : float
            Of the noise, at least 0.
        equation : {7, 8}
            Which of the two.
        draws : int, default 1
            Random copies of each, at least 1.
        seed : int, default 0
            As in `soft`.

        Returns
        -------
        Tensor
            p(target | X'), [B, S, draws].

        Raises
        ------
        InputError
            For a negative variance, and scales that are negative or of another shape.
        UnknownNameError
            For another equation.
        """
        check_known("equation", equation, (7, 8))
        if not variance >= 0:
            raise InputError(f"variance {variance}: expected a number >= 0")
        scale = self._shares(noise_scale, "noise_scale", 0.0, most=torch.inf)
        masks = (scale if equation == 7 else scale.sqrt()) * variance**0.5
        noise = GaussianNoise(self._backend, masks, self._content, seed)
        return self.read(self._answered(*self._steps(noise, draws), steps=noise_scale.shape[1], draws=draws))

    def attention_mask(self, weights: Tensor) -> Tensor:
        """The output with attention to each feature multiplied by its weight and renormalised. Text only.

        The continuous attention mask of Zhao & Aletras 2023, Appendix C: log(weight) is added to the attention scores,
        so that 1 leaves a token alone and 0 hides it as padding is hidden.

        Parameters
        ----------
        weights : Tensor
            Of each feature, [B, S, F], in [0, 1].

        Returns
        -------
        Tensor
            [B, S].

        Raises
        ------
        InputError
            For images, and for weights outside [0, 1] or of another shape.
        """
        if not isinstance(self._backend, TextBackend):
            raise InputError(
                "attention_mask works on text models only: a timm VisionTransformer takes no attention mask"
            )
        masks = self._shares(weights, "weights", 1.0)
        perturbation, rows = self._steps(WeightedAttention(self._backend, masks))
        return self.read(self._answered(perturbation, rows, steps=weights.shape[1]))[..., 0]

    def _answered(self, perturbation: Perturbation, rows: Rows, *, steps: int, draws: int = 1) -> Tensor:
        """Logits [B, S, draws, C] of rows, now."""
        logits: Tensor = self.scheduler.answer(perturbation, rows).unflatten(0, (len(self._chosen), steps, draws))
        return logits


def _precision(dtype: torch.dtype | str | None, model: Any) -> torch.dtype | None:
    """The precision to run a model in; None: its own."""
    if dtype is not None and dtype != "auto":
        if not getattr(dtype, "is_floating_point", False):
            raise unknown("dtype", dtype, ("auto", "torch.float32", "torch.bfloat16", "torch.float16"))
        if not isinstance(model, nn.Module):
            raise InputError(f"dtype {dtype}: a function has its own precision; leave dtype away")
    if not isinstance(dtype, str):
        return dtype
    on_gpu = isinstance(model, nn.Module) and next(model.parameters()).device.type == "cuda"
    return torch.bfloat16 if on_gpu and torch.cuda.is_bf16_supported(including_emulation=False) else None


@dataclass(frozen=True)
class _Answered:
    """Answers that are there."""

    values: Tensor

    def result(self) -> Tensor:
        return self.values


class SetFunction:
    """The `full` / `empty` / `keep` face of a `Perturber` over any function of a feature set; one input (B = 1).

    For closed-form examples and for published tables of model outputs. Sets already asked are not evaluated again.

    Parameters
    ----------
    fn : Callable[[Tensor], Tensor]
        Maps bool [R, F], what is kept, to float [R].
    n_features : int
        F, at least 1.

    Raises
    ------
    InputError
        For fewer than one feature.

    Examples
    --------
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([1.0, 2.0]).double(), 2)
    >>> additive.full.item(), additive.empty.item(), additive.stats.rows_run
    (3.0, 0.0, 2)
    """

    def __init__(self, fn: Callable[[Tensor], Tensor], n_features: int) -> None:
        check_counts(n_features=n_features)
        self.fn = fn
        self.n_features = n_features
        self.feature_mask = torch.ones(1, n_features, dtype=torch.bool)
        self.stats = Stats()
        self._memo = AnswerCache()

    @property
    def full(self) -> Tensor:
        """fn of all features, [1]."""
        return self.keep(torch.ones(1, 1, self.n_features, dtype=torch.bool))[:, 0]

    @property
    def empty(self) -> Tensor:
        """fn of no feature, [1]."""
        return self.keep(torch.zeros(1, 1, self.n_features, dtype=torch.bool))[:, 0]

    def keep_rows(self, index: Tensor, keep: Tensor) -> Tensor:
        """fn of each set.

        Parameters
        ----------
        index : Tensor
            Integers [R], which can only be 0.
        keep : Tensor
            What is kept, bool [R, F].

        Returns
        -------
        Tensor
            [R].

        Raises
        ------
        InputError
            For masks of another shape or type.
        """
        return self.keep(keep[None])[0]

    def later(self, copies: Copies | Tensor) -> _Answered:
        """Answers to copies, which a function gives at once.

        Parameters
        ----------
        copies : Copies | Tensor
            Masks as for `keep`, or `Copies` of bool masks.

        Returns
        -------
        PendingAnswers
            Something with a `result()`.

        Raises
        ------
        InputError
            For what only a model has: embeddings to draw from, logits and a predicted class.
        """
        if isinstance(copies, Tensor):
            copies = Copies(copies)
        if copies.keep.is_floating_point() or copies.read != "output":
            raise InputError("a SetFunction has no embeddings and no classes: expected bool masks, and its output")
        if copies.real is not None:
            return _Answered(self.keep(copies.keep)[copies.real])
        return _Answered(self.keep(copies.keep))

    @property
    def keys(self) -> tuple[int, ...]:
        """A number for the content of each input: there is nothing but their place."""
        return tuple(range(len(self.feature_mask)))

    def keep(self, keep: Tensor) -> Tensor:
        """fn of each set.

        Parameters
        ----------
        keep : Tensor
            What is kept, bool [1, S, F].

        Returns
        -------
        Tensor
            [1, S].

        Raises
        ------
        InputError
            For masks of another shape or type, and where fn answers another number of values.
        """
        if keep.dtype != torch.bool or keep.ndim != 3 or keep.shape[0] != 1 or keep.shape[2] != self.n_features:
            raise InputError(f"keep is {keep.dtype} {tuple(keep.shape)}: expected bool [1, S, {self.n_features}]")
        start = time.perf_counter()
        bits = np.packbits(keep[0].cpu().numpy(), axis=1)
        slots = self._memo.slots([row.tobytes() for row in bits])
        missing, rows = np.unique(slots, return_index=True)
        rows = rows[~self._memo.done[missing]]
        self.stats.rows_asked += len(slots)
        if len(rows):
            sets, began = keep[0, torch.from_numpy(rows)], time.perf_counter()
            values = self.fn(sets)
            self.stats.seconds_model += time.perf_counter() - began
            if tuple(values.shape) != (len(sets),):
                message = f"fn returned shape {tuple(values.shape)} for {len(sets)} sets"
                raise InputError(f"{message}: expected [{len(sets)}]")
            self._memo.put(slots[rows], values[:, None])
            self.stats.rows_run += len(sets)
            self.stats.forwards += 1
        answers = self._memo.get(slots)[None, :, 0]
        self.stats.seconds_all += time.perf_counter() - start
        return answers
