"""A metric is two functions: which copies of an input it asks about, and what it makes of the answers::

    def rows(scores, about):
        return ~torch.eye(scores.shape[1], dtype=torch.bool).expand(len(scores), -1, -1)  # each feature erased alone

    @metric("lone_loss", rows=rows, direction="higher", meaning="what losing one feature costs on average")
    def lone_loss(answers, scores, about):
        return (about.full[:, None] - answers).mean(dim=1)

The first half never sees an answer. So `evaluate` puts the copies of all metrics and methods together, asks about each
once, and hands the answers back; and how many rows there will be can be counted beforehand. A metric of yours is
written like this in a file of its own, and handed over as `evaluate(..., metrics=[..., lone_loss])`, which asks it
about inputs with the same number of features together: nothing is padded. Called with a perturber and the scores of
inputs of several sizes, it gets padding; `about.feature_mask` is true for features.

Shape letters: B attributions (of an input by a method), S copies, F features.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from faithlib.catalogue import HIGHER, LOWER, Direction, Facts
from faithlib.copies import ask, results
from faithlib.errors import InputError, ModelError, check_known

__all__ = ["BUILT_IN", "About", "Chance", "Family", "Measure", "Values", "metric"]

Values = dict[str, Tensor]


@dataclass(frozen=True)
class Chance:
    """What random orders of removal get, and the two ends that AOPC lies between.

    Parameters
    ----------
    random : Tensor
        The mean of AOPC over all orders, [B].
    standard_error : Tensor
        Of that mean, [B]; 0 where all sets of features were answered, so that the mean is exact.
    lower, upper : Tensor
        The ends, [B].

    Examples
    --------
    >>> Chance(*torch.tensor([[0.3], [0.0], [0.2], [0.4]])).subset([0, 0]).random
    tensor([0.3000, 0.3000])
    """

    random: Tensor
    standard_error: Tensor
    lower: Tensor
    upper: Tensor

    def subset(self, index: Sequence[int]) -> Chance:
        """The same of some of the inputs.

        Parameters
        ----------
        index : Sequence[int]
            Places of the inputs, 0 to B - 1; a place may come more than once.

        Returns
        -------
        Chance
            Of as many inputs, in this order.
        """
        return Chance(*(getattr(self, entry.name)[index] for entry in fields(self)))


@dataclass(frozen=True, eq=False)
class About:
    """What a metric knows beside the scores.

    Parameters
    ----------
    feature_mask : Tensor
        Which features each input has, bool [B, F].
    keys : Sequence[int]
        A number for each input's content, [B].
    draws : int, default 1
        Random copies of each input.
    seed : int, default 0
        Of what is random.
    groups : int, default 10
        Into how many parts features are put.
    gold : Tensor, optional
        What people marked, bool [B, F].
    gold_size : int, default 1
        How many features that is on average.
    bounds : tuple[Tensor, Tensor], optional
        The smallest and the largest AOPC of all orders, [B] each; for metrics that say they need them, once the model
        has been asked (not while rows are made or counted).
    chance : Chance, optional
        What random orders get, likewise.
    perturber : optional
        What answers, likewise; `full` [B] is its output for the whole inputs, say the probability of the target.

    Examples
    --------
    >>> context = About(torch.tensor([[True, True], [True, False]]), keys=(7, 8))
    >>> context.subset([1]).feature_mask, context.subset([1]).keys
    (tensor([[ True, False]]), (8,))
    """

    feature_mask: Tensor
    keys: Sequence[int]
    draws: int = 1
    seed: int = 0
    groups: int = 10
    gold: Tensor | None = None
    gold_size: int = 1
    bounds: tuple[Tensor, Tensor] | None = None
    chance: Chance | None = None
    perturber: Any = None

    @property
    def full(self) -> Tensor:
        """The output for the whole inputs, [B]."""
        if self.perturber is None:
            raise InputError("rows are made before the model has answered: use `about.full` where values are made")
        full: Tensor = self.perturber.full
        return full

    def subset(self, index: Sequence[int]) -> About:
        """What is known about some of the inputs.

        Parameters
        ----------
        index : Sequence[int]
            Places of the inputs, 0 to B - 1; a place may come more than once.

        Returns
        -------
        About
            Of as many inputs, in this order. `feature_mask` is still F wide, and the perturber shares all answers.
        """
        places = list(index)
        if places == list(range(len(self.keys))):
            return self
        return replace(
            self,
            feature_mask=self.feature_mask[places],
            keys=tuple(self.keys[b] for b in places),
            gold=None if self.gold is None else self.gold[places],
            bounds=None if self.bounds is None else (self.bounds[0][places], self.bounds[1][places]),
            chance=None if self.chance is None else self.chance.subset(places),
            perturber=None if self.perturber is None else self.perturber.subset(places),
        )


def about(perturber: Any, **known: Any) -> About:
    """What there is to know about a perturber's inputs.

    Parameters
    ----------
    perturber
        What answers.
    known
        Other fields of `About`.

    Returns
    -------
    About
        With the perturber, its features and its keys.

    Examples
    --------
    >>> from faithlib.perturb import SetFunction
    >>> about(SetFunction(lambda keep: keep.double().sum(dim=1), 2), seed=3).full
    tensor([2.], dtype=torch.float64)
    """
    return About(perturber.feature_mask, keys=tuple(perturber.keys), perturber=perturber, **known)


@dataclass(frozen=True, eq=False)
class Measure:
    """The two halves of some metrics, which share their rows.

    Called with a perturber and scores, a measure asks and answers at once; `later` asks now, and what it returns
    answers when it is called, so that several measures share forwards.

    Parameters
    ----------
    rows : Callable[..., Any]
        `rows(scores [B, F], about, **options)`: the copies to ask about, bool masks [B, S, F] of what is kept,
        `Copies`, or several of them by name. None: no model is asked.
    value : Callable[..., Any]
        `value(answers, scores, about, **options)`: values by name, [B] or [B, n]; the answers [B, S] come as the copies
        were asked, several by the same names.

    Notes
    -----
    Each half gets the options that it names.

    Examples
    --------
    >>> from faithlib.perturb import SetFunction
    >>> line = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> def rows(scores, about):
    ...     return ~torch.eye(2, dtype=torch.bool)[None]
    >>> def value(answers, scores, about):
    ...     return {"lone_loss": (about.full[:, None] - answers).mean(dim=1)}
    >>> Measure(rows, value)(line, torch.tensor([[0.9, 0.1]]))["lone_loss"].item()
    2.0
    """

    rows: Callable[..., Any] | None
    value: Callable[..., Any]

    def __call__(self, perturber: Any, scores: Tensor, **options: Any) -> Any:
        return self.later(perturber, scores, **options)()

    def later(self, perturber: Any, scores: Tensor, **options: Any) -> Callable[[], Any]:
        """Queue the rows now, and make the values later.

        Parameters
        ----------
        perturber : Perturber | SetFunction
            What answers.
        scores : Tensor
            Attributions, [B, F], and anything beyond an input's features.
        options
            Fields of `About` (`draws`, `seed`, `groups`, `gold` ...), and what the halves take by name.

        Returns
        -------
        Callable[[], Any]
            Called without arguments it takes the answers, which runs all rows that wait, and returns what the second
            half makes of them: values by name, [B] or [B, n].

        Raises
        ------
        UnknownNameError
            For an option that neither half takes.
        """
        known = {entry.name: options.pop(entry.name) for entry in fields(About) if entry.name in options}
        return self.asked(scores.to(perturber.feature_mask.device), about(perturber, **known), **options)

    def asked(self, scores: Tensor, about: About, **options: Any) -> Callable[[], Any]:
        """Queue the rows as `later` does, for what is known already.

        Parameters
        ----------
        scores : Tensor
            Attributions, [B, F], on the perturber's device.
        about : About
            What is known about the inputs, its perturber among it; a measure without rows needs none.
        options
            What the halves take by name.

        Returns
        -------
        Callable[[], Any]
            As that of `later`.

        Raises
        ------
        UnknownNameError
            For an option that neither half takes.
        """
        halves = [half for half in (self.rows, self.value) if half is not None]
        taken = {name for half in halves for name in inspect.signature(half).parameters}
        for option in options:
            check_known("option", option, sorted(taken - {"answers", "scores", "about"}))
        queued = ask(about.perturber, self.copies(scores, about, **options))
        return lambda: self.value(results(queued), scores, about, **_named(self.value, options))

    def copies(self, scores: Tensor, about: About, **options: Any) -> Any:
        """What the first half asks about; no model is needed for it.

        Parameters
        ----------
        scores : Tensor
            Attributions, [B, F].
        about : About
            What is known about the inputs; it may lack a perturber.
        options
            What the halves take by name; those of the second half are left out.

        Returns
        -------
        Any
            What `rows` returns: bool masks [B, S, F] of what is kept, `Copies`, or several of them by name; None for a
            measure without rows.
        """
        return None if self.rows is None else self.rows(scores, about, **_named(self.rows, options))


def _named(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a function takes."""
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in options.items() if name in parameters}


@dataclass(frozen=True, eq=False)
class Family(Facts, Measure):
    """Metrics that share their rows, with their two halves and all that is said of them; made by `metric`.

    >>> BUILT_IN["aopc"].directions
    {'aopc_morf': 'higher', 'aopc_lerf': 'lower'}
    """

    def values(self, answered: Any, count: int) -> Values:
        """What the second half returned, by metric, as one number for each attribution.

        Parameters
        ----------
        answered
            What the second half returned.
        count : int
            How many attributions there are, B.

        Returns
        -------
        dict of str to Tensor
            [B] each: the mean over lengths or draws where there are several.

        Raises
        ------
        InputError
            Where it is nothing of the kind.
        """
        by_name = answered if isinstance(answered, Mapping) else {next(iter(self.directions)): answered}
        values = {}
        for name, value in by_name.items():
            if not isinstance(value, Tensor):
                raise InputError(f"{name} answered a {type(value).__name__}: expected a torch tensor")
            if value.dtype == torch.bool or value.is_complex():
                raise InputError(f"{name} answered {value.dtype}: expected numbers")
            if value.ndim not in (1, 2) or len(value) != count:
                raise InputError(
                    f"{name} answered shape {tuple(value.shape)}: expected [B] = [{count}], one value an input"
                )
            values[name] = value.mean(dim=1) if value.ndim == 2 else value
        return values


BUILT_IN: dict[str, Family] = {}
"""Every family of this package by its name, in the order of tables."""


def metric(
    name: str,
    *,
    rows: Callable[..., Any] | None,
    direction: Direction | None = None,
    meaning: str = "",
    formula: str = "",
    metrics: Mapping[str, tuple[Direction, str] | tuple[Direction, str, str]] | None = None,
    cost: str = "",
    source: str = "",
    **known: Any,
) -> Callable[[Callable[..., Any]], Family]:
    """Make a metric of the function below it, which makes values of answers; `rows` makes the copies to ask about.

    Parameters
    ----------
    name : str
        Of the metric; of the family, where several `metrics` share their rows.
    rows : Callable[..., Any]
        The first half, `rows(scores, about) -> masks`; None where no model is asked.
    direction : {"higher", "lower"}, optional
        Which values are better.
    meaning : str, default ""
        What a value says, in a line.
    formula : str, default ""
        How a value is computed, as plain text in a line; the symbols of this package's metrics are in its README.
    metrics : Mapping[str, tuple[Direction, str] | tuple[Direction, str, str]], optional
        Direction, meaning and, where you give one, formula of each, where there are several; the function then returns
        values by these names.
    cost : str, default ""
        Rows for each attribution of an input with n features, in words.
    source : str, default ""
        The paper.
    known
        Other fields of `catalogue.Facts`.

    Returns
    -------
    Callable
        The decorator: what it makes is handed to `evaluate(metrics=[...])`, and can be called with a perturber and
        scores.

    Raises
    ------
    UnknownNameError
        For a direction that is none.
    InputError
        Where there is no direction.

    Examples
    --------
    >>> @metric("top_score", rows=None, direction="higher", meaning="the largest score")
    ... def top_score(answers, scores, about):
    ...     return scores.amax(dim=1)
    >>> top_score.directions
    {'top_score': 'higher'}
    """
    if metrics is None:
        if direction is None:
            raise InputError(f"{name} says no direction: expected 'higher' or 'lower', which values are better")
        metrics = {name: (direction, meaning, formula)}
    for said in metrics.values():
        check_known("direction", said[0], (HIGHER, LOWER))

    def made(value: Callable[..., Any]) -> Family:
        family = Family(
            rows=rows,
            value=value,
            name=name,
            directions={name: said[0] for name, said in metrics.items()},
            meanings={name: said[1] for name, said in metrics.items()},
            formulas={name: said[2] if len(said) == 3 else "" for name, said in metrics.items()},
            cost=cost,
            source=source,
            asks_model=rows is not None,
            **known,
        )
        object.__setattr__(family, "__doc__", value.__doc__)
        return family

    return made


def register(family: Family) -> Family:
    """Enter a family of this package, in which the name of each metric is there once.

    Parameters
    ----------
    family : Family
        Made by `metric`.

    Returns
    -------
    Family
        The same.

    Raises
    ------
    ModelError
        Where one of the names is taken.

    Examples
    --------
    >>> register(BUILT_IN["aopc"])
    Traceback (most recent call last):
    faithlib.errors.ModelError: aopc is registered twice
    """
    taken = {name for other in BUILT_IN.values() for name in other.directions}
    if family.name in BUILT_IN or taken & set(family.directions):
        raise ModelError(f"{family.name} is registered twice")
    BUILT_IN[family.name] = family
    return family
