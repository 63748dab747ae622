"""Which metrics are computed, what they have to know of the model, and how many rows they will take.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from faithlib._masking import Perturbation, Rows
from faithlib._scheduler import row_keys
from faithlib.attribution import Row
from faithlib.attribution.perturbation import ErasingMethod, Explained, erased_inputs
from faithlib.attribution.registry import method_of
from faithlib.backends._model_adapters import unwrapped
from faithlib.bounds import all_sets, beam_bounds, exact_bounds, most_rows, random_order_aopc, random_order_copies
from faithlib.catalogue import DIRECTIONS, FAMILIES, LANGUAGE, METRICS, ON_REQUEST
from faithlib.copies import Copies, ask
from faithlib.errors import InputError, ModelError, check_counts, check_known
from faithlib.evaluation.settings import MetricSettings, checked_settings
from faithlib.inputs import Inputs
from faithlib.masks import checked_mask
from faithlib.metrics.registry import BUILT_IN, About, Chance, Family
from faithlib.names import Erasure, FollowedOutput, MetricName
from faithlib.outputs import NEEDS_PROBABILITY, head_of, settled
from faithlib.perturb import Eraser, Perturber
from faithlib.protocols import Model
from faithlib.segmentation import items_of
from faithlib.user_inputs import model_and_inputs

__all__ = ["RowCount", "count_rows", "families_of"]

EXACT_UP_TO = 8  # features, for bounds of AOPC
RANDOM_PAIRS = 32  # orders and their reverses, for what a random order gets of longer inputs
EVERY: Mapping[str, Family] = {name: BUILT_IN[name] for name in (*FAMILIES, *LANGUAGE, *ON_REQUEST)}


# ------------------------------------------------------------------------------------------------- what is asked for
def families_of(metrics: Sequence[str | Family] | None, *, has_gold: bool) -> dict[str, Family]:
    """The families to compute by name: those of the metrics, or all that can be. Errors as `evaluate`.

    `metrics`: names, and metrics of the caller's own (`faithlib.metrics.metric`).

    >>> list(families_of(["soft_ns", "nc"], has_gold=False))
    ['hard', 'soft']
    """
    if metrics is None:
        return {
            name: family for name, family in EVERY.items() if family.by_default and (has_gold or not family.needs_gold)
        }
    metrics = items_of(metrics)
    if not isinstance(metrics, list) or not metrics:
        raise InputError(f"metrics {metrics!r}: expected a list of at least one, as in ['soft_nc', 'saco']")
    named = [metric for metric in metrics if not isinstance(metric, Family)]
    own = [metric for metric in metrics if isinstance(metric, Family)]
    for name in named:
        if callable(name):
            raise InputError(
                f"metric {name!r}: expected a name, or a metric of your own, made of two functions by the decorator "
                "faithlib.metrics.metric"
            )
        check_known("metric", name, DIRECTIONS)
    chosen = {name: family for name, family in EVERY.items() if family.directions.keys() & set(named)}
    for family in own:
        if family.name in EVERY or family.directions.keys() & DIRECTIONS.keys():
            raise InputError(f"{family.name} is the name of a metric of this package: give yours another name")
        chosen[family.name] = family
    needy = [family for family in chosen.values() if family.needs_gold]
    if needy and not has_gold:
        raise InputError(f"{', '.join(needy[0].directions)} compare with what people marked: give gold")
    return chosen


def names_of(metrics: Sequence[str | Family] | None) -> list[str]:
    """The names of the metrics that are wanted; those of a family of one's own are all its metrics.

    >>> names_of(["soft_ns", "nc"])
    ['soft_ns', 'nc']
    """
    if metrics is None:
        return list(METRICS)
    names: list[str] = []
    for metric in metrics:
        names += list(metric.directions) if isinstance(metric, Family) else [metric]
    return names


def bounds_of(perturber: Perturber, *, beam: int) -> tuple[Tensor, Tensor]:
    """Lower and upper bounds of AOPC, [B] each: exact of inputs with up to EXACT_UP_TO features, else by a beam.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> lower, upper = bounds_of(Perturber(model, WordInputs.from_texts(["good film"])), beam=3)
    >>> lower.round(decimals=4), upper.round(decimals=4)
    (tensor([0.2000], dtype=torch.float64), tensor([0.4000], dtype=torch.float64))
    """
    short = perturber.feature_mask.sum(dim=1) <= EXACT_UP_TO
    lower, upper = perturber.full.double(), perturber.full.double()
    for of_short in (True, False):
        index = (short == of_short).nonzero()[:, 0]
        if len(index):
            some = perturber.subset(index.tolist())
            bounds = exact_bounds(some) if of_short else beam_bounds(some, width=beam)
            lower[index], upper[index] = bounds.lower, bounds.upper
    return lower, upper


def chance_of(perturber: Perturber, bounds: tuple[Tensor, Tensor], *, seed: int) -> Chance:
    """What random orders get, and the ends of AOPC beside it (`bounds`, of `bounds_of`): exact of inputs with up to
    EXACT_UP_TO features, else from random orders.

    The ends include the random orders that were drawn, so that the mean always lies between them.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> chance_of(perturber, bounds_of(perturber, beam=3), seed=0).random.round(decimals=4)  # (.2 + .4) / 2
    tensor([0.3000], dtype=torch.float64)
    """
    lower, upper = (end.clone() for end in bounds)
    random, error = torch.zeros_like(lower), torch.zeros_like(lower)
    short = perturber.feature_mask.sum(dim=1) <= EXACT_UP_TO
    exact, sampled = short.nonzero()[:, 0], (~short).nonzero()[:, 0]
    if len(exact):
        random[exact] = exact_bounds(perturber.subset(exact.tolist())).random
    if len(sampled):
        orders = random_order_aopc(perturber.subset(sampled.tolist()), pairs=RANDOM_PAIRS, seed=seed)
        random[sampled], error[sampled] = orders.mean, orders.standard_error
        lower[sampled] = torch.minimum(lower[sampled], orders.smallest)
        upper[sampled] = torch.maximum(upper[sampled], orders.largest)
    return Chance(random, error, lower, upper)


def check_scores(name: str, scores: Tensor, mask: Tensor) -> None:
    """InputError where scores from elsewhere do not fit inputs with the features `mask` [B, F].

    >>> check_scores("mine", torch.tensor([[0.2, 0.9]]), torch.tensor([[True, True, True]]))
    Traceback (most recent call last):
    faithlib.errors.InputError: scores of 'mine' have shape (1, 2): expected [B, F] = [1, 3], one score per feature ...
    """
    if scores.shape != mask.shape:
        raise InputError(
            f"scores of {name!r} have shape {tuple(scores.shape)}: expected [B, F] = {list(mask.shape)}, one score per "
            "feature and anything beyond an input's features"
        )
    checked_mask(scores, mask.to(scores.device))


# ------------------------------------------------------------------------------------------------- without any padding
class Narrowed:
    """A perturber of inputs that all have `width` features, asked with masks [B, S, width] instead of wider ones.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> both = Perturber(model, WordInputs.from_texts(["good film", "a good film"]))
    >>> Narrowed(both.subset([0]), 2).later(torch.tensor([[[True, False]]])).result()
    tensor([[0.9000]])
    """

    def __init__(self, perturber: Any, width: int) -> None:
        self._perturber = perturber
        self._width = width

    def __getattr__(self, name: str) -> Any:
        return getattr(self._perturber, name)

    @property
    def feature_mask(self) -> Tensor:
        """True everywhere, bool [B, width]."""
        mask: Tensor = self._perturber.feature_mask[:, : self._width]
        return mask

    def later(self, copies: Copies | Tensor) -> Any:
        """Queue copies, as the perturber does.

        Parameters
        ----------
        copies : Copies | Tensor
            Masks [B, S, width], or `Copies` with such masks.

        Returns
        -------
        PendingAnswers
            Its `result()` runs what waits.

        Raises
        ------
        InputError
            For masks of another width, and as the perturber.
        """
        if isinstance(copies, Tensor):
            copies = Copies(copies)
        keep = copies.keep
        if keep.ndim != 3 or keep.shape[2] != self._width:
            raise InputError(
                f"the copies have shape {tuple(keep.shape)}: expected [B, S, F] = [{len(self.feature_mask)}, any, "
                f"{self._width}], of inputs with {self._width} features"
            )
        beyond = self._perturber.feature_mask.shape[1] - self._width
        whole = torch.nn.functional.pad(keep, (0, beyond), value=True if keep.dtype == torch.bool else 1.0)
        return self._perturber.later(replace(copies, keep=whole))


def by_size(scores: Tensor, about: About) -> Iterator[tuple[list[int], Tensor, About]]:
    """Attributions [B, F] of inputs with the same number of features together, and without padding: places, scores and
    what is known about them.

    >>> words = About(torch.tensor([[True, True], [True, False]]), keys=(7, 8))
    >>> [(places, part.tolist()) for places, part, _ in by_size(torch.tensor([[0.5, 0.25], [0.75, 0.0]]), words)]
    [([1], [[0.75]]), ([0], [[0.5, 0.25]])]
    """
    sizes = about.feature_mask.sum(dim=1)
    for size in sizes.unique().tolist():
        places = (sizes == size).nonzero()[:, 0].tolist()
        part = about.subset(places)
        if size < about.feature_mask.shape[1]:
            part = replace(
                part,
                feature_mask=part.feature_mask[:, :size],
                gold=None if part.gold is None else part.gold[:, :size],
                perturber=None if part.perturber is None else Narrowed(part.perturber, size),
            )
        yield places, scores[places, :size], part


# -------------------------------------------------------------------------------------------------- counted beforehand
class _Uncounted:
    """Where an answer would be."""

    def result(self) -> Tensor:
        raise InputError("these rows are counted and not run: there is no answer")


class RowCounter(Eraser):
    """Counts rows where a `Perturber` would run them: it gets the first halves of metrics and methods, and has no
    answers.

    `rows_run` [B]: those that a `Perturber` would run, by input (of equal inputs, the first).

    >>> from faithlib.inputs import WordInputs

    >>> counter = RowCounter(lambda texts: 1 / 0, WordInputs.from_texts(["good film"]))  # the model is never asked
    >>> _ = counter.later(torch.tensor([[[True, False], [False, True]]]))
    >>> counter.rows_run.tolist()
    [3]
    """

    def __init__(
        self, model: Any, inputs: Inputs, *, erase: Erasure | None = None, output: FollowedOutput | None = None
    ) -> None:
        super().__init__(unwrapped(model), inputs, erase=erase, output=output)
        self.head = head_of(settled(output, model, 2), model, 2)
        self.rows_run = np.zeros(len(self._same_as), dtype=np.int64)
        self._seen: set[bytes] = set()
        self.later(self.feature_mask[:, None, :])  # the inputs themselves

    def later(self, copies: Copies | Tensor) -> _Uncounted:
        """Count the rows of copies that were not counted before; ModelError as from a `Perturber`."""
        if isinstance(copies, Tensor):
            copies = Copies(copies)
        if copies.read == "stays" and self.head == "value":
            raise ModelError(NEEDS_PROBABILITY)
        asked = self if copies.inputs is None else self.subset(copies.inputs.tolist())
        self._count(*asked.rows(copies))
        return _Uncounted()

    def _count(self, perturbation: Perturbation, rows: Rows) -> None:
        for input_, key in zip(rows.index.tolist(), row_keys(self._same_as, perturbation, rows), strict=True):
            if key not in self._seen:
                self._seen.add(key)
                self.rows_run[self._same_as[input_]] += 1

    def count_bounds(self, *, beam: int) -> None:
        """Count the rows of `bounds_of`. A beam goes where the answers lead: the most rows that it can take are
        counted."""
        sizes = self.feature_mask.sum(dim=1).tolist()
        if short := [b for b, n in enumerate(sizes) if n <= EXACT_UP_TO]:
            some = self.subset(short)
            for owner, kept in all_sets(some.feature_mask):
                self._count(*some._ragged(owner, kept))
        self.rows_run += np.array([0 if n <= EXACT_UP_TO else most_rows(n, width=beam) for n in sizes])

    def count_chance(self, *, seed: int) -> None:
        """Count the rows that `chance_of` takes beside those of the bounds."""
        sizes = self.feature_mask.sum(dim=1).tolist()
        if longer := [b for b, n in enumerate(sizes) if n > EXACT_UP_TO]:
            some = self.subset(longer)
            ask(some, random_order_copies(some.feature_mask, some.keys, pairs=RANDOM_PAIRS, seed=seed))


def count_explaining(
    model: nn.Module | Callable[..., object], inputs: Inputs, rows: Sequence[Row], *, erase: Erasure | None = None
) -> int:
    """The rows that explaining by methods which erase will run, the inputs themselves among them; other methods run
    passes of their own, which are not counted.

    >>> from faithlib.attribution import Row
    >>> from faithlib.inputs import WordInputs
    >>> count_explaining(lambda texts: 1 / 0, WordInputs.from_texts(["a good film"]), [Row("occlusion"), Row("random")])
    4
    """
    counters: dict[tuple[Any, ...], RowCounter] = {}
    for row in rows:
        method = method_of(row.method, inputs).run
        if isinstance(method, ErasingMethod):
            cut, way = erased_inputs(inputs, row.options), row.options.get("erase") or erase
            key = (row.options.get("unit"), way)
            counter = counters.setdefault(key, RowCounter(model, cut, erase=way))
            options = {name: value for name, value in row.options.items() if name not in ("erase", "unit")}
            method.later(counter, Explained(counter.feature_mask, counter.keys), **options)
    return sum(int(counter.rows_run.sum()) for counter in counters.values())


@dataclass(frozen=True)
class RowCount:
    """Rows of the model, the unperturbed inputs among them: all `together`, of `each` input, and of each family if it
    were evaluated `alone`.

    `is_exact`: this is what will run. False where a beam has to search bounds of AOPC (NAOPC of inputs with many
    features), whose rows depend on the answers: no more than these will run.

    >>> RowCount(each=(3, 4), alone={"hard": 7}, is_exact=True).together
    7
    """

    each: tuple[int, ...]
    alone: Mapping[str, int]
    is_exact: bool

    @property
    def together(self) -> int:
        return sum(self.each)


def count_rows(
    model: Model,
    inputs: Any,
    *,
    methods: Mapping[str, Tensor],
    tokenizer: Any = None,
    processor: Any = None,
    metrics: Sequence[MetricName | Family] | None = None,
    gold: Tensor | None = None,
    settings: MetricSettings | None = None,
) -> RowCount:
    """The rows that `evaluate` will run for given scores.

    Parameters
    ----------
    model : Model
        As for `evaluate`; a function is not called.
    inputs
        As for `evaluate`.
    methods : Mapping[str, Tensor]
        Scores [B, F] by name. No method at all ({}) counts what is asked about no attribution: the inputs themselves,
        and bounds of AOPC.
    tokenizer, processor : optional
        What makes a model's input of texts, and of images.
    metrics : Sequence[MetricName | Family], optional
        As for `evaluate`.
    gold : Tensor, optional
        What people marked, bool [B, F].
    settings : MetricSettings, optional
        What is erased and followed, and the numbers that metrics take, as for `evaluate`.

    Returns
    -------
    RowCount
        Rows together, of each input, and of each family if it were evaluated alone.

    Raises
    ------
    InputError, UnknownNameError, ModelError
        As `evaluate`.

    Notes
    -----
    Explaining takes rows of its own: with names of methods instead of scores `evaluate` runs these as well.

    Examples
    --------
    >>> from faithlib.inputs import ImageInputs
    >>> model = nn.Sequential(nn.Flatten(), nn.Linear(12, 2)).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 2, 2), patch=1)
    >>> scores = torch.tensor([[4.0, 3.0, 2.0, 1.0]])
    >>> count_rows(model, images, methods={"mine": scores}, metrics=["aopc_morf"]).together  # 1 + 3 + 3 + 1
    8
    """
    families = families_of(metrics, has_gold=gold is not None)
    model, inputs = model_and_inputs(model, inputs, tokenizer, processor)
    if isinstance(model, nn.Module):
        inputs = inputs.to(next(model.parameters()).device)
    for name, scores in methods.items():
        check_scores(name, scores, inputs.feature_mask)
    settings, _ = checked_settings(settings, None)
    check_counts(groups=settings.groups, draws=settings.draws, beam=settings.beam)

    def rows_of(chosen: Sequence[Family]) -> tuple[int, ...]:
        counter = RowCounter(model, inputs, erase=settings.erase, output=settings.output)
        if any(family.needs_bounds for family in chosen):
            counter.count_bounds(beam=settings.beam)
        if any(family.needs_chance for family in chosen):
            counter.count_chance(seed=settings.seed)
        about = About(
            counter.feature_mask,
            tuple(counter.keys),
            draws=settings.draws,
            seed=settings.seed,
            groups=settings.groups,
        )
        for scores in methods.values():
            on_device = scores.to(counter.device)
            for family in chosen:
                with suppress(ModelError):  # of metrics that are left out nothing is asked
                    if family.name in EVERY:
                        ask(counter, family.copies(on_device, about))
                        continue
                    for places, own, part in by_size(on_device, about):
                        ask(Narrowed(counter.subset(places), own.shape[1]), family.copies(own, part))
        return tuple(counter.rows_run.tolist())

    longest = int(inputs.feature_mask.sum(dim=1).max())
    searched = any(family.needs_bounds for family in families.values()) and longest > EXACT_UP_TO
    each = rows_of(list(families.values()))
    return RowCount(each, {name: sum(rows_of([family])) for name, family in families.items()}, not searched)
