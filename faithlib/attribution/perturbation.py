"""Attributions without a look inside: from erasing features and watching the explained number, and floors.

Each method that erases answers [B, F]: a feature is erased as a whole, there is nothing to aggregate or pool. With
`unit="wordpiece"` every piece of a feature is erased by itself instead, as captum's feature masks of positions do in
the released code of Zaman & Belinkov 2022, and the registry pools the pieces' scores. All rows go through one
`Perturber`, which runs each distinct one once; give your own (`perturber=`) to share its answers with metrics. `erase`
is the perturber's: "zero" (default), "pad", "mask" or "delete".

The floors, random and uniform, know nothing of the model, and every other method has to beat them. They answer from
the inputs alone: for texts [B, L], one number per position, for others [B, F], one per feature.

Shape letters: B inputs, S erased copies of one input, F features, L tokens, C classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from faithlib._draws import drawn, generator
from faithlib.copies import Copies, ask
from faithlib.errors import InputError, check_counts, check_known
from faithlib.inputs import Inputs, TextInputs, WordInputs
from faithlib.names import Erasure, FollowedOutput
from faithlib.outputs import FOLLOWED, read, settled_classes
from faithlib.perturb import ERASURES, Perturber

__all__ = ["ErasingMethod", "Explained"]

DISTRIBUTIONS = ("gaussian", "uniform")


def random(inputs: Inputs, *, seed: int = 0, distribution: str | None = None) -> Tensor:
    """Independent draws, which know nothing of the model.

    Parameters
    ----------
    inputs : Inputs
        B inputs.
    seed : int, default 0
        Drawn from (seed, content of the input): the same input gets the same scores in every batch.
    distribution : {"gaussian", "uniform"}, optional
        N(0, 1) ("gaussian"), by default for texts, as in the released code of Zhao & Aletras 2023; or U(0, 1)
        ("uniform"), for all others the default, the Random Attribution of Wu et al. 2024 (section 5.2).

    Returns
    -------
    Tensor
        One draw per position of a text, [B, L], or per feature of an image (features of one pixel make the paper's map
        of pixels) or of a function's text, [B, F].

    Raises
    ------
    UnknownNameError
        For another distribution.

    Examples
    --------
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> torch.equal(random(texts), random(texts)), random(texts).shape
    (True, torch.Size([1, 4]))
    """
    chosen = DISTRIBUTIONS[not isinstance(inputs, TextInputs)] if distribution is None else distribution
    check_known("distribution", chosen, DISTRIBUTIONS)
    draw = torch.randn if chosen == "gaussian" else torch.rand
    scores = torch.zeros_like(uniform(inputs))
    sizes = inputs.lengths.tolist() if isinstance(inputs, TextInputs) else [scores.shape[1]] * len(scores)
    for row, key, size in zip(scores, inputs.keys(), sizes, strict=True):
        row[:size] = draw(size, generator=generator(seed, key), dtype=torch.float32)
    return scores


def uniform(inputs: Inputs) -> Tensor:
    """The same score everywhere: each position of a text, or feature, matters alike, whatever its size.

    Parameters
    ----------
    inputs : Inputs
        B inputs.

    Returns
    -------
    Tensor
        1 for every position of a text, [B, L], or every feature, [B, F].

    Notes
    -----
    A word of a text gets the number of its pieces: with pool="sum" this is the length confound of Zaman & Belinkov 2022
    (PAPERS.md, E5) by itself. SaCo has no answer to equal saliences.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> uniform(WordInputs.from_texts(["good film"]))
    tensor([[1., 1.]])
    """
    shape = inputs.input_ids.shape if isinstance(inputs, TextInputs) else inputs.feature_mask.shape
    return torch.ones(shape, dtype=torch.float32)


UNITS = ("feature", "wordpiece")
_MOST_MASK_BYTES = 1 << 26
_KERNEL_WIDTH = 0.25


class Perturbers:
    """The perturber of every way to erase from every cut of the inputs, made when first needed; `given` is the
    caller's.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> perturbers = Perturbers(None, perturber)
    >>> perturbers.of(perturber.inputs, "delete", "logit") is perturber, perturbers.rows()
    (True, (1, 1))
    """

    def __init__(self, model: Any, given: Perturber | None = None) -> None:
        self._model = model
        self._given = given
        self._made: dict[tuple[object, ...], Perturber] = {}

    def of(self, inputs: Inputs, erase: Erasure | None, output: str) -> Perturber:
        """The one for these inputs; without `erase`, it erases as the given one does, or as inputs of this kind are."""
        given = self._given
        erase = erase or (ERASURES[type(inputs)][0] if given is None else given.erase)
        if given is not None and (given.erase, given.inputs.keys()) == (erase, inputs.keys()):
            return given
        # `Answers` reads logits by an output of its own; what a function answers is checked by what it is said to be.
        followed: FollowedOutput | None = "logit"
        if isinstance(inputs, WordInputs):
            followed = next((known for known in FOLLOWED if known == output), None)
        key = erase, followed, inputs.keys()
        if key not in self._made:
            self._made[key] = Perturber(self._model, inputs, erase=erase, output=followed, check=False)
        return self._made[key]

    def rows(self) -> tuple[int, int]:
        """Rows that all of them were asked, and those that have run or wait to."""
        asked = [perturber.scheduler for perturber in (self._given, *self._made.values()) if perturber is not None]
        return sum(scheduler.stats.rows_asked for scheduler in asked), sum(scheduler.rows_new for scheduler in asked)


def erased_inputs(inputs: Any, options: Mapping[str, Any]) -> Any:
    """The inputs cut into what is erased at a time, by the option `unit`.

    Parameters
    ----------
    inputs
        B inputs.
    options : Mapping[str, Any]
        Those of a method.

    Returns
    -------
    Inputs
        The same, or texts of which every piece is a feature.

    Raises
    ------
    UnknownNameError
        For another unit.
    InputError
        For "wordpiece" where inputs have no pieces of words.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> words = WordInputs.from_texts(["good film"])
    >>> erased_inputs(words, {"unit": "feature"}) is words
    True
    """
    unit = options.get("unit", UNITS[0])
    check_known("unit", unit, UNITS)
    if unit == "wordpiece" and not isinstance(inputs, TextInputs):
        raise InputError(f"unit 'wordpiece': {type(inputs).__name__} have no pieces of words; leave unit away")
    return inputs.by_piece() if unit == "wordpiece" else inputs


def check_given(perturber: Perturber, inputs: Inputs, erase: str | None) -> None:
    """Check that a caller's perturber is for these inputs, and erases as the caller says.

    Parameters
    ----------
    perturber : Perturber
        The caller's.
    inputs : Inputs
        Those that are explained.
    erase : str
        The option of the method; None: as the perturber does.

    Raises
    ------
    InputError
        Where it is not.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> check_given(perturber, perturber.inputs, "mask")
    Traceback (most recent call last):
    faithlib.errors.InputError: erase 'mask' and a perturber with erase 'delete': give one of the two
    """
    if erase not in (None, perturber.erase):
        raise InputError(f"erase {erase!r} and a perturber with erase {perturber.erase!r}: give one of the two")
    if perturber.inputs.keys() != inputs.keys():
        raise InputError("the perturber was made for other inputs: make both from the same batch")


@dataclass(frozen=True, eq=False)
class Explained:
    """What a method that erases knows: the inputs, and what is explained of them.

    Parameters
    ----------
    present : Tensor
        Which features each input has, bool [B, F].
    keys : Sequence[int]
        A number for each input's content.
    read : Callable[[Tensor, Tensor], Tensor], optional
        The explained number of logits [R, C], for inputs [R]; None while rows are made or counted.

    Examples
    --------
    >>> Explained(torch.tensor([[True, True]]), (7,)).present.shape
    torch.Size([1, 2])
    """

    present: Tensor
    keys: Sequence[int]
    read: Callable[[Tensor, Tensor], Tensor] | None = None

    @classmethod
    def of(cls, perturber: Perturber, target: Tensor | None, output: str) -> Explained:
        """What is known of a perturber's inputs.

        Parameters
        ----------
        perturber : Perturber
            What answers.
        target : Tensor
            The classes that are explained, [B]; None: the predicted class.
        output : str
            What is explained of them.

        Returns
        -------
        Explained
            With a `read`.
        """
        classes = None if target is None else target.to(perturber.device)
        settled = settled_classes(perturber.logits_full, classes, output)

        def number(logits: Tensor, index: Tensor) -> Tensor:
            return read(logits, settled[index], output).float()

        return cls(perturber.feature_mask, perturber.keys, number)

    def copies(self, keep: Tensor, real: Tensor | None = None) -> Copies:
        """Copies that keep some features.

        Parameters
        ----------
        keep : Tensor
            The features that are left in place, bool [B, S, F].
        real : Tensor, optional
            Where the input has such a copy, bool [B, S]. Default: everywhere.

        Returns
        -------
        Copies
            Whose logits are asked for.
        """
        device = self.present.device
        real = torch.ones(keep.shape[:2], dtype=torch.bool) if real is None else real
        return Copies(keep.to(device), real=real.to(device), read="logits")

    def numbers(self, copies: Copies, logits: Tensor) -> Tensor:
        """The explained number F of copies.

        Parameters
        ----------
        copies : Copies
            As they were asked.
        logits : Tensor
            Of the real ones, [R, C].

        Returns
        -------
        Tensor
            [B, S], 0 at the places that are there for longer inputs only.
        """
        assert copies.real is not None and self.read is not None
        values = logits.new_zeros(copies.real.shape, dtype=torch.float32)
        values[copies.real] = self.read(logits, copies.real.nonzero()[:, 0])
        return values


Half = Callable[..., Any]


@dataclass(frozen=True)
class ErasingMethod:
    """A method that erases, as two halves, as metrics are (`faithlib.metrics.registry`).

    Called with a perturber, a target [B] (None: the predicted class) and an output, it asks and answers at once;
    `later` asks now, and what it returns answers when it is called.

    Parameters
    ----------
    rows : Half
        `rows(explained, **options)`: the `Copies` to ask about, one or several one by one.
    value : Half
        `value(numbers, explained, **options)`: scores [B, F] of the explained numbers [B, S], which come as the copies
        were asked. Options and their defaults are its keyword arguments; `rows` gets those that it names.
    name : str, default ""
        Under which its values are in tables.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> ERASING["occlusion"](Perturber(model, WordInputs.from_texts(["good film"])), None, "probability")
    tensor([[0.4000, 0.0000]])
    """

    rows: Half
    value: Half
    name: str = ""

    def __str__(self) -> str:
        return self.name

    def __call__(self, perturber: Perturber, target: Tensor | None, output: str, **options: Any) -> Tensor:
        return self.later(perturber, Explained.of(perturber, target, output), **options)()

    def later(self, perturber: Any, explained: Explained, **options: Any) -> Callable[[], Tensor]:
        """Queue the rows now, and make the scores later.

        Parameters
        ----------
        perturber : Perturber
            What answers; without answers a counter of rows (`faithlib.evaluation.count_rows`).
        explained : Explained
            What is known about the inputs, and which number of them is explained.
        options
            Keyword arguments of the second half; those that are left out keep their defaults.

        Returns
        -------
        Callable[[], Tensor]
            Called without arguments it takes the answers, which runs all rows that wait, and returns scores [B, F].
        """
        options = self.defaults() | options
        copies = self.rows(explained, **_named(self.rows, options))
        parts = [copies] if isinstance(copies, Copies) else copies
        # Copies are queued as they are made, so that the masks of all of them are never there at once.
        no_masks = torch.zeros(0, dtype=torch.bool)
        queued = [(replace(part, keep=no_masks), ask(perturber, part)) for part in parts]

        def finish() -> Tensor:
            numbers = [explained.numbers(part, answers.result()) for part, answers in queued]
            scores: Tensor = self.value(numbers if len(numbers) > 1 else numbers[0], explained, **options)
            return scores

        return finish

    def defaults(self) -> dict[str, Any]:
        """The options of the method.

        Returns
        -------
        dict of str to Any
            The default of each, by name.
        """
        parameters = inspect.signature(self.value).parameters.values()
        return {
            parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY
        }


def _named(function: Half, options: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    return {name: options[name] for name in parameters if name in options}


def _occlusion_rows(explained: Explained) -> Copies:
    n = explained.present.shape[1]
    without = ~torch.eye(n, dtype=torch.bool, device=explained.present.device).expand(len(explained.present), n, n)
    whole = explained.present[:, None, :]
    has_one = torch.ones_like(whole[..., 0])
    return explained.copies(torch.cat([whole, without], dim=1), torch.cat([has_one, explained.present], dim=1))


def occlusion(numbers: Tensor, explained: Explained) -> Tensor:
    """How much the output falls without each feature: F(x) - F(x without feature f) (Zeiler & Fergus 2014).

    Parameters
    ----------
    numbers : Tensor
        The explained number of the input and of the input without each feature, [B, 1 + F].
    explained : Explained
        What is known about the inputs.

    Returns
    -------
    Tensor
        [B, F], signed, in the units of F; higher = matters more.

    Notes
    -----
    Cost: F + 1 forward rows per input.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> ERASING["occlusion"](perturber, None, "probability")
    tensor([[0.4000, 0.0000]])
    """
    return numbers[:, :1] - numbers[:, 1:]


def _lime_copies(explained: Explained, n_samples: int, seed: int) -> Tensor:
    """The input itself and copies in which each feature stays with probability 1/2, bool [B, n_samples, F]."""
    if n_samples < 2:
        raise InputError(f"n_samples {n_samples}: expected at least 2")
    sizes = explained.present.sum(dim=1).tolist()
    keep = torch.ones(len(sizes), n_samples, explained.present.shape[1], dtype=torch.bool)
    keep[:, 1:] = drawn(explained.keys, sizes, n_samples - 1, seed) < 0.5
    return keep


def _lime_rows(explained: Explained, *, n_samples: int, surrogate: str, alpha: float | None, seed: int) -> Copies:
    _lime_penalty(surrogate, alpha)  # before anything is asked
    return explained.copies(_lime_copies(explained, n_samples, seed))


def _lime_penalty(surrogate: str, alpha: float | None) -> float:
    check_known("surrogate", surrogate, ("ridge", "lasso"))
    penalty = {"ridge": 1.0, "lasso": 0.01}[surrogate] if alpha is None else alpha
    if not penalty > 0:
        raise InputError(f"alpha {alpha}: expected more than 0")
    return penalty


def lime(
    numbers: Tensor,
    explained: Explained,
    *,
    n_samples: int = 50,
    surrogate: str = "ridge",
    alpha: float | None = None,
    seed: int = 0,
) -> Tensor:
    """Weights of a linear surrogate of F around the input (LIME, Ribeiro et al. 2016, Eq. 1-2).

    The surrogate is fitted to the input itself and `n_samples` - 1 copies in which each feature stays with probability
    1/2. A copy's weight is exp(-d^2 / (2 width^2)), d the cosine distance to the input in feature space, width 0.25
    (that of the lime package for texts).

    Parameters
    ----------
    numbers : Tensor
        The explained number of the input and of its copies, [B, n_samples].
    explained : Explained
        What is known about the inputs.
    n_samples : int, default 50
        The input and its copies, at least 2. Zaman & Belinkov 2022 take 50; fewer samples than features leave the
        answer to the penalty.
    surrogate : {"ridge", "lasso"}, default "ridge"
        "ridge" has the penalty alpha ||w||^2, "lasso" scikit-learn's, which sets most weights of a long text to 0.
    alpha : float, optional
        The penalty, above 0. Default: 1 for "ridge" (the lime package's), 0.01 for "lasso" (captum's).
    seed : int, default 0
        Samples depend on (seed, content of the input) only.

    Returns
    -------
    Tensor
        [B, F], signed; higher = matters more.

    Raises
    ------
    InputError
        For fewer than 2 samples, and a penalty that is not above 0.
    UnknownNameError
        For another surrogate.

    Notes
    -----
    Cost: `n_samples` forward rows per input.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> scores = ERASING["lime"](perturber, None, "probability", alpha=1e-6)
    >>> scores.round(decimals=2).abs()  # as linear as the model
    tensor([[0.4000, 0.0000]])
    """
    from sklearn.linear_model import Lasso, Ridge  # which takes a second to import, and nothing else needs it

    penalty, keep = _lime_penalty(surrogate, alpha), _lime_copies(explained, n_samples, seed)
    values = numbers.double().cpu().numpy()
    scores = torch.zeros(explained.present.shape, dtype=torch.float32)
    linear = (Ridge if surrogate == "ridge" else Lasso)(alpha=penalty)
    for b, size in enumerate(explained.present.sum(dim=1).tolist()):
        if not np.isfinite(values[b]).all():
            scores[b] = torch.nan  # which the registry reports with the text's words; no surrogate takes it
            continue
        samples = keep[b, :, :size].double().numpy()
        distance = 1 - np.sqrt(samples.mean(axis=1))
        weights = np.exp(-(distance**2) / (2 * _KERNEL_WIDTH**2))
        scores[b, :size] = torch.from_numpy(linear.fit(samples, values[b], sample_weight=weights).coef_).float()
    return scores.to(explained.present.device)


def _orders(explained: Explained, n_samples: int, seed: int) -> list[Tensor]:
    """Random orders of the features, [B, M, F] in parts whose masks fit the memory."""
    check_counts(n_samples=n_samples)
    n_inputs, n = explained.present.shape
    orders = torch.arange(n).repeat(n_inputs, n_samples, 1)
    for b, (key, size) in enumerate(zip(explained.keys, explained.present.sum(dim=1).tolist(), strict=True)):
        draws = generator(seed, key)
        for sample in range(n_samples):
            orders[b, sample, :size] = torch.randperm(size, generator=draws)
    # Many orders in one question fill the forwards of every length of text.
    return list(orders.to(explained.present.device).split(max(1, _MOST_MASK_BYTES // (n_inputs * (n + 1) * n)), dim=1))


def _shapley_rows(explained: Explained, *, n_samples: int, seed: int) -> Iterator[Copies]:
    n = explained.present.shape[1]
    joined = torch.arange(n + 1, device=explained.present.device)
    # Nothing joins after an input's own features, and no answer is asked for the steps that are there for longer ones.
    steps = joined <= explained.present.sum(dim=1)[:, None]
    for some in _orders(explained, n_samples, seed):
        before = some.argsort(dim=2)[:, :, None, :] < joined[:, None]
        asked = steps[:, None, :].expand(-1, some.shape[1], -1)
        yield explained.copies(before.flatten(1, 2), asked.flatten(1))


def shapley_sampling(
    numbers: Tensor | list[Tensor], explained: Explained, *, n_samples: int = 25, seed: int = 0
) -> Tensor:
    """Mean change of F as a feature joins those before it, over random orders of the features.

    Castro et al. 2009; Štrumbelj & Kononenko 2010. An unbiased estimate of the Shapley value.

    Parameters
    ----------
    numbers : Tensor | list[Tensor]
        The explained number after each feature has joined, [B, M (F + 1)] for M orders, in one part or several.
    explained : Explained
        What is known about the inputs.
    n_samples : int, default 25
        Number of orders, at least 1. 25 are those of Zaman & Belinkov 2022.
    seed : int, default 0
        Orders depend on (seed, content of the input) only.

    Returns
    -------
    Tensor
        [B, F], signed; higher = matters more. The scores of an input always add up to F(x) - F(everything erased).

    Raises
    ------
    InputError
        For fewer than 1 order.

    Notes
    -----
    Cost: at most `n_samples` * F forward rows per input.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> ERASING["shapley_sampling"](perturber, None, "probability")
    tensor([[0.4000, 0.0000]])
    """
    parts = numbers if isinstance(numbers, list) else [numbers]
    total = torch.zeros(explained.present.shape, device=explained.present.device, dtype=torch.float64)
    for some, values in zip(_orders(explained, n_samples, seed), parts, strict=True):
        by_order = values.double().unflatten(1, (some.shape[1], -1))
        total.scatter_add_(1, some.flatten(1), by_order.diff(dim=2).flatten(1))
    return (total / n_samples).float()


ERASING = {
    "lime": ErasingMethod(_lime_rows, lime, "lime"),
    "occlusion": ErasingMethod(_occlusion_rows, occlusion, "occlusion"),
    "shapley_sampling": ErasingMethod(_shapley_rows, shapley_sampling, "shapley_sampling"),
}
"""Methods that erase, by name."""
