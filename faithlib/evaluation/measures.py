"""How each family of metrics is computed: what it asks of one perturber, and its formulas over the answers.

The families, their metrics and directions stand in `faithlib.catalogue`; importing this module fails where one of them
has nothing here that computes it. Rows that `evaluate` will run are counted without the model: by its own scheduler,
memo and keys, with answers made up.

Shape letters: B inputs, F features, K steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from faithlib import metrics as formulas
from faithlib.bounds import beam_bounds, exact_bounds, most_rows, naopc, random_order_aopc
from faithlib.catalogue import DIRECTIONS, FAMILIES, LANGUAGE, ON_REQUEST
from faithlib.errors import InputError, ModelError, check_counts, check_known
from faithlib.evaluation import language
from faithlib.evaluation.scores import aopc_scores, hard_scores, saco_of_groups, saco_scores, soft_scores
from faithlib.inputs import Inputs
from faithlib.masks import checked_mask, top_ratio
from faithlib.perturb import Perturber
from faithlib.perturbations import Perturbation, Rows
from faithlib.scheduler import Pace, Scheduler
from faithlib.units import items_of

FAD_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2)
EXACT_UP_TO = 8  # features, for bounds of AOPC
RANDOM_PAIRS = 32  # orders and their reverses, for what a random order gets of longer inputs
ALL_SHARES = tuple(step / 10 for step in range(11))
_TOP_SIZES = (1, 3, 5)


@dataclass(frozen=True)
class Chance:
    """The mean of AOPC over all orders of removal, and the two ends that it lies between, [B] each.

    `standard_error` is 0 where all sets of features were answered, so that the mean is exact.

    >>> Chance(*torch.tensor([[0.3], [0.0], [0.2], [0.4]])).of([0, 0]).random
    tensor([0.3000, 0.3000])
    """

    random: Tensor
    standard_error: Tensor
    lower: Tensor
    upper: Tensor

    def of(self, index: list[int]) -> Chance:
        """Of some of the inputs, of one also several times."""
        return Chance(self.random[index], self.standard_error[index], self.lower[index], self.upper[index])


@dataclass(frozen=True)
class Asked:
    """Inputs that metrics ask about, each as often as it has attributions: what only depends on model and inputs.

    `gold`: bool [B, F]; `bounds`: of AOPC, lower and upper [B]; `chance`: what a random order gets; the others are what
    metrics leave open, as in `evaluate`. InputError for no group and for no feature of gold.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> asked = Asked(perturber)
    >>> asked.still_predicted(torch.tensor([[2.0, 1.0]]), [0.0, 0.5])  # two words or one
    tensor([[1., 0.]])
    """

    perturber: Perturber
    gold: Tensor | None = None
    bounds: tuple[Tensor, Tensor] | None = None
    draws: int = 4
    seed: int = 0
    groups: int = 10
    gold_size: int = 1
    chance: Chance | None = None

    @property
    def present(self) -> Tensor:
        return self.perturber.feature_mask

    def of(self, index: list[int]) -> Asked:
        """Some of the inputs, of one also several times."""
        gold = None if self.gold is None else self.gold[index]
        bounds = self.bounds and (self.bounds[0][index], self.bounds[1][index])
        chance = None if self.chance is None else self.chance.of(index)
        return replace(self, perturber=self.perturber.of(index), gold=gold, bounds=bounds, chance=chance)

    def still_predicted(self, scores: Tensor, shares: Sequence[float]) -> Tensor:
        """1 where the predicted class stays the predicted one while these shares of the features go, [B, K]."""
        kept = ~top_ratio(scores, shares, self.present)
        return self.perturber.stays(kept).float()


Values = dict[str, Tensor]
Measure = Callable[[Asked, Tensor], Values]


def _means(values: Values, prefix: str = "") -> Values:
    """Means over lengths or draws, [B] of [B, S]."""
    return {prefix + name: value.mean(dim=1) for name, value in values.items()}


def _eraser(asked: Asked, scores: Tensor) -> Values:
    rationales = formulas.erasure_rationales(scores, asked.present)
    full = asked.perturber.full
    removed, kept = asked.perturber.keep(torch.cat([~rationales, rationales], dim=1)).chunk(2, dim=1)
    return {
        "comprehensiveness_eraser": formulas.comprehensiveness_eraser(full, removed),
        "sufficiency_eraser": formulas.sufficiency_eraser(full, kept),
    }


def _naopc(asked: Asked, scores: Tensor) -> Values:
    assert asked.bounds is not None
    values = aopc_scores(asked.perturber, scores)
    return {f"n{name}": naopc(value, *asked.bounds) for name, value in values.items()}


def _srg(asked: Asked, scores: Tensor) -> Values:
    return {"srg": formulas.srg(**aopc_scores(asked.perturber, scores))}


def _nsrg(asked: Asked, scores: Tensor) -> Values:
    assert asked.bounds is not None
    lower, upper = asked.bounds
    return {"nsrg": formulas.nsrg(**aopc_scores(asked.perturber, scores), lower=lower, upper=upper)}


def _adjusted(asked: Asked, scores: Tensor) -> Values:
    assert asked.chance is not None
    areas, chance = aopc_scores(asked.perturber, scores), asked.chance
    ends = {"random": chance.random, "lower": chance.lower, "upper": chance.upper}
    return {
        "adjusted_naopc_morf": formulas.chance_adjusted(areas["aopc_morf"], chance.random, best=chance.upper),
        "adjusted_naopc_lerf": formulas.chance_adjusted(areas["aopc_lerf"], chance.random, best=chance.lower),
        "adjusted_srg": formulas.chance_adjusted_srg(**areas, **ends),
    }


def _by_size(asked: Asked, scores: Tensor, measure: Callable[[Perturber, Tensor, int], Values]) -> Values:
    """Values of groups of features: an input with fewer features than `asked.groups` has as many groups as features."""
    parts_of: dict[str, list[Tensor]] = defaultdict(list)
    sizes = asked.present.sum(dim=1).clamp(max=asked.groups)
    indices = [(size, (sizes == size).nonzero()[:, 0]) for size in sizes.unique().tolist()]
    for size, index in indices:
        for name, value in measure(asked.perturber.of(index.tolist()), scores[index], size).items():
            parts_of[name].append(value)
    order = torch.cat([index for _, index in indices]).argsort()
    return {name: torch.cat(parts)[order] for name, parts in parts_of.items()}


def _groups(asked: Asked, scores: Tensor) -> Values:
    def measure(perturber: Perturber, some: Tensor, size: int) -> Values:
        values = saco_scores(perturber, some, k=size)
        return {name: values[name] for name in ("saco", "auc", "log_odds") if name in values}

    return _by_size(asked, scores, measure)


def _saco_mean(asked: Asked, scores: Tensor) -> Values:
    def measure(perturber: Perturber, some: Tensor, size: int) -> Values:
        return {"saco_mean": saco_of_groups(perturber, some, k=size, reduce="mean")}

    return _by_size(asked, scores, measure)


def _plausibility(asked: Asked, scores: Tensor) -> Values:
    assert asked.gold is not None
    values: Values = {}
    for name in FAMILIES["plausibility"].directions:
        sized = {"k": asked.gold_size} if name in ("iou_f1", "token_f1") else {}
        values[name] = getattr(formulas, name)(scores, asked.gold, asked.present, **sized)
    return values


def _pi_soft(asked: Asked, scores: Tensor) -> Values:
    values = language.pi_soft_scores(asked.perturber, scores, draws=asked.draws, seed=asked.seed)
    return {name.removesuffix("_area"): value for name, value in values.items() if value.ndim == 1}


def _top_k(asked: Asked, scores: Tensor) -> Values:
    drops = language.top_k_drop_scores(asked.perturber, scores, sizes=_TOP_SIZES).T
    return {f"top_{k}_drop": drop for k, drop in zip(_TOP_SIZES, drops, strict=True)}


def _win_rate(asked: Asked, scores: Tensor) -> Values:
    values = language.win_rate_scores(asked.perturber, scores, seed=asked.seed)
    return {f"win_rate_{name}": value for name, value in values.items() if not name.endswith("_p")}


MEASURES: dict[str, Measure] = {
    "hard": lambda asked, scores: _means(hard_scores(asked.perturber, scores)),
    "soft": lambda asked, scores: _means(soft_scores(asked.perturber, scores, draws=asked.draws, seed=asked.seed)),
    "eraser": _eraser,
    "aopc": lambda asked, scores: aopc_scores(asked.perturber, scores),
    "naopc": _naopc,
    "groups": _groups,
    "curves": lambda asked, scores: {
        "n_auc": formulas.n_auc(asked.still_predicted(scores, FAD_SHARES)),
        "autpc": formulas.auc(asked.still_predicted(scores, ALL_SHARES)),
    },
    "simplicity": lambda asked, scores: {
        "complexity": formulas.complexity(scores, asked.present),
        "sparseness": formulas.sparseness(scores, asked.present),
    },
    "plausibility": _plausibility,
    "hellinger": lambda asked, scores: _means(
        language.distance_scores(asked.perturber, scores, draws=asked.draws, seed=asked.seed), "hellinger_"
    ),
    "pi_soft": _pi_soft,
    "top_k": _top_k,
    "lds": lambda asked, scores: {"lds": language.lds_scores(asked.perturber, scores, seed=asked.seed)},
    "deletion": lambda asked, scores: language.rise_scores(asked.perturber, scores),
    "win_rate": _win_rate,
    "srg": _srg,
    "nsrg": _nsrg,
    "adjusted": _adjusted,
    "saco_mean": _saco_mean,
}
"""How each family of the catalogue is computed from inputs that can be asked about and scores [B, F]: [B] a metric."""
EVERY = {**FAMILIES, **LANGUAGE, **ON_REQUEST}
if MEASURES.keys() != EVERY.keys():
    raise ImportError(f"in the catalogue or computed, but not both: {', '.join(MEASURES.keys() ^ EVERY.keys())}")


# ---------------------------------------------------------------------------------------------------- what is asked for
def families_of(metrics: Sequence[str] | None, *, has_gold: bool) -> list[str]:
    """The families to compute: those of the metrics, or all that can be. Errors as `evaluate`.

    >>> families_of(["soft_ns", "nc"], has_gold=False)
    ['hard', 'soft']
    """
    if metrics is None:
        return [name for name, one in FAMILIES.items() if not one.needs_bounds and (has_gold or not one.needs_gold)]
    metrics = items_of(metrics)
    if not isinstance(metrics, list) or not metrics:
        raise InputError(f"metrics {metrics!r}: expected at least one, as in ['soft_nc', 'saco']")
    for name in metrics:
        check_known("metric", name, DIRECTIONS)
    chosen = [name for name, one in EVERY.items() if one.directions.keys() & set(metrics)]
    if not has_gold and (needy := [EVERY[name] for name in chosen if EVERY[name].needs_gold]):
        raise InputError(f"{', '.join(needy[0].directions)} compare with what people marked: give gold, bool [B, F]")
    return chosen


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
            some = perturber.of(index.tolist())
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
        random[exact] = exact_bounds(perturber.of(exact.tolist())).random
    if len(sampled):
        orders = random_order_aopc(perturber.of(sampled.tolist()), pairs=RANDOM_PAIRS, seed=seed)
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


class _Counting(Scheduler):
    """A scheduler whose rows are put off for good: counted, by input."""

    def __init__(self, device: torch.device, same_as: NDArray[np.int64], pace: Pace, **given: Any) -> None:
        super().__init__(device, same_as, pace, **given)
        self.rows = np.zeros(len(same_as), dtype=np.int64)

    def _run(self, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        self._made_up(slots)
        self.rows += np.bincount(self._same_as[rows.index], minlength=len(self.rows))


class RowCounter(Perturber):
    """A `Perturber` that counts: every row has its slot in the memo, and an answer that no model was asked for.

    `rows` [B]: those that a `Perturber` would run, by input (of equal inputs, the first). The answers themselves, two
    classes equally probable, say nothing.

    >>> from faithlib.inputs import WordInputs

    >>> counter = RowCounter(lambda texts: 1 / 0, WordInputs.from_texts(["good film"]))  # the model is never asked
    >>> counter.keep(torch.tensor([[[True, False], [False, True]]]))
    tensor([[0.5000, 0.5000]])
    >>> counter.rows.tolist()
    [3]
    """

    _schedulers = _Counting
    scheduler: _Counting

    def __init__(self, model: Any, inputs: Inputs, *, erase: str | None = None, output: str | None = None) -> None:
        super().__init__(model, inputs, erase=erase, output=output, target=0, check=False)
        self.rows = self.scheduler.rows

    def count_bounds(self, *, beam: int) -> None:
        """Count the rows of `bounds_of`. A beam goes where the answers lead, and these are made up: the most rows that
        it can take are counted."""
        sizes = self.feature_mask.sum(dim=1).tolist()
        if short := [b for b, n in enumerate(sizes) if n <= EXACT_UP_TO]:
            exact_bounds(self.of(short))
        self.rows += np.array([0 if n <= EXACT_UP_TO else most_rows(n, width=beam) for n in sizes])

    def count_chance(self, *, seed: int) -> None:
        """Count the rows that `chance_of` takes beside those of the bounds."""
        sizes = self.feature_mask.sum(dim=1).tolist()
        if longer := [b for b, n in enumerate(sizes) if n > EXACT_UP_TO]:
            random_order_aopc(self.of(longer), pairs=RANDOM_PAIRS, seed=seed)


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
    model: nn.Module | Callable[..., object],
    inputs: Inputs,
    *,
    methods: Mapping[str, Tensor],
    metrics: Sequence[str] | None = None,
    gold: Tensor | None = None,
    erase: str | None = None,
    output: str | None = None,
    draws: int = 4,
    seed: int = 0,
    groups: int = 10,
    beam: int = 3,
) -> RowCount:
    """The rows that `evaluate` will run for scores [B, F] by name; the other arguments and errors are as there.

    Explaining takes rows of its own: with names of methods instead of scores `evaluate` runs these as well. No method
    at all ({}) counts what is asked about no attribution: the inputs themselves, and bounds of AOPC.

    >>> from faithlib.inputs import ImageInputs
    >>> model = nn.Sequential(nn.Flatten(), nn.Linear(12, 2)).eval()
    >>> images = ImageInputs.from_pixels(torch.rand(1, 3, 2, 2), patch=1)
    >>> scores = torch.tensor([[4.0, 3.0, 2.0, 1.0]])
    >>> count_rows(model, images, methods={"mine": scores}, metrics=["aopc_morf"]).together  # 1 + 3 + 3 + 1
    8
    """
    families = families_of(metrics, has_gold=gold is not None)
    if isinstance(model, nn.Module):
        inputs = inputs.to(next(model.parameters()).device)
    for name, scores in methods.items():
        check_scores(name, scores, inputs.feature_mask)
    check_counts(groups=groups)

    def rows_of(chosen: Sequence[str]) -> tuple[int, ...]:
        counter = RowCounter(model, inputs, erase=erase, output=output)
        if any(EVERY[name].needs_bounds for name in chosen):
            counter.count_bounds(beam=beam)
        if any(EVERY[name].needs_chance for name in chosen):
            counter.count_chance(seed=seed)
        nothing = counter.full
        chance = Chance(nothing, nothing, nothing, nothing)
        asked = Asked(counter, None, (nothing, nothing), draws, seed, groups, chance=chance)
        for scores in methods.values():
            for name in chosen:
                if EVERY[name].asks_model:
                    with suppress(ModelError):  # of metrics that are left out nothing is asked
                        MEASURES[name](asked, scores.to(counter.device))
        return tuple(counter.rows.tolist())

    longest = int(inputs.feature_mask.sum(dim=1).max())
    searched = any(EVERY[name].needs_bounds for name in families) and longest > EXACT_UP_TO
    return RowCount(rows_of(families), {name: sum(rows_of([name])) for name in families}, not searched)
