"""How often the rules err where the truth is known: the error rates that the book promises, measured.

    python data/reference/calibrate.py [--worlds 1000]

makes `calibration.csv` beside this file (half an hour) and `calibration.json`, how it was made. A row is a rule in a
kind of world where nothing is to be found (or the effect is exactly at the margin). Its columns are the shape of the
values, how many clusters and parts, how parts correlate, the `kind` and the skewness of the shape, what is promised,
and the share of worlds in which the rule said yes or no, or in which an interval held the truth.

Worlds are drawn and judged many at once, by the functions that judge claims (`p_values.p_means`, `rules.conjunction`
and the rest); a test holds that against rules that are given one world at a time. Resamples are drawn once a number of
clusters: worlds are independent of one another, not of them.

Shape letters: W worlds, K clusters, M parts, R resamples.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
from tqdm.auto import tqdm

from faithbook.engine import machine
from faithbook.stats import p_values, rules
from faithbook.stats.calibration import ALL, COUNTS, HELD, HELD_AS, INSIDE, LISTED, MARGIN, PARTS, SKEW_APART, SPREAD, WORLD
from faithbook.stats.estimates import Array, Drawn, Estimate
from faithlib.errors import unknown

HERE = Path(__file__).resolve().parent
SEED = 20261122
_RESAMPLES = 9999  # as many as `Conditions` draws: with fewer no p-value is small enough for a "no" from many parts
OF_ENDS = 1999  # for intervals, whose percentiles need fewer
_OF_NUMBERS = ("python", "numpy", "scipy", "pandas")
_AT_ONCE, _DRAWN_AT_ONCE = 24_000, 400  # columns of values drawn at once, and columns resampled at once

CORRELATIONS = (0.0, 0.5, 0.9)
SHAPES, SKEWED = ("normal", "paired shares", "share .8", "share .95"), "exponential"
_SHARES = {"share .8": 0.8, "share .95": 0.95}
_DISCORDANT = 0.3  # share of pairs of a paired share that differ


# ----------------------------------------------------------------------------------------------------------- the worlds
@dataclass(frozen=True)
class World:
    """Values [K, W, M] of parts whose true mean is zero: a shape, clusters, parts, and how these correlate.

    Shares keep their 0 and 1 (less their true share), everything else has a standard deviation of one. Correlations are
    those of the normal values that each shape is made of.
    """

    shape: str
    clusters: int
    parts: int = 1
    correlation: float = 0.0

    def values(self, worlds: int, generator: np.random.Generator) -> Array:
        """So many independent worlds; UnknownNameError for a shape that is not known."""
        drawn = generator.normal(size=(self.clusters, worlds, self.parts))
        if self.correlation:
            common = generator.normal(size=(self.clusters, worlds, 1))
            drawn = np.sqrt(self.correlation) * common + np.sqrt(1 - self.correlation) * drawn
        return shape(self.shape)(drawn)


def shape(name: str) -> Callable[[Array], Array]:
    """How standard normal values become values of a shape with mean zero."""
    if name == "normal":
        return lambda normal: normal
    if name == "paired shares":
        end = scipy.stats.norm.ppf(1 - _DISCORDANT / 2)
        return lambda normal: ((normal > end).astype(float) - (normal < -end)) / math.sqrt(_DISCORDANT)
    if name in _SHARES:
        return lambda normal: (normal < scipy.stats.norm.ppf(_SHARES[name])).astype(float) - _SHARES[name]
    if name == SKEWED:
        return lambda normal: -scipy.stats.norm.logsf(normal) - 1
    return _like(name)


def _like(name: str) -> Callable[[Array], Array]:
    """Values drawn from those of a stored quantity, minus their mean, over their standard deviation."""
    known = stored()
    if name not in known:
        raise unknown("shape of values", name, [*SHAPES, SKEWED, *known])
    values = np.sort((known[name] - known[name].mean()) / known[name].std())
    return lambda normal: values[(scipy.stats.norm.cdf(normal) * len(values)).astype(int).clip(max=len(values) - 1)]


@functools.cache
def stored() -> dict[str, Array]:
    """Values of single inputs that claims of this book are about, by quantity: as a run of commit 7374a1d had them."""
    frame = pd.read_csv(HERE / "calibration_values.csv")
    return {str(name): group.to_numpy(dtype=float) for name, group in frame.groupby("quantity", sort=False)["value"]}


@functools.cache
def skewness(name: str) -> float:
    """Of a shape, from a large sample of it."""
    values = World(name, 20_000).values(1, np.random.default_rng(SEED)).ravel()
    return float(scipy.stats.skew(values))


# --------------------------------------------------------------------------------------------------- many means at once
@dataclass(frozen=True)
class Means:
    """Means of W * M columns of K clusters, in worlds of M parts, with what tests and intervals need of each.

    `share`: of values that are 0 or 1 minus their true share, that share.
    """

    points: Array
    errors: Array
    influence: Array
    draws: Drawn
    clusters: int
    parts: int
    share: float | None = None

    @classmethod
    def of(cls, values: Array, draws: Drawn, *, share: float | None = None) -> Means:
        """Of values [K, W, M], every cluster one value."""
        columns = values.reshape(len(values), -1)
        points = columns.mean(0)
        influence = (columns - points) / len(columns)
        errors = np.sqrt((influence**2).sum(0) * len(columns) / (len(columns) - 1))
        return cls(points, errors, influence, draws, len(columns), values.shape[2], share)

    def p_above(self, threshold: float, *, sign: int = 1, limit: float = rules.ALPHA, least: int = 1) -> Array:
        """p-values [W, M] of "not above the threshold", of sign * mean; right where `least` of a world are up to
        `limit`.

        The larger of Student's t and the bootstrap counts. So what Student's t alone has above the limit is above it,
        and is left as it is: no decision asks how far. Nor does one ask where too few are that small.
        """
        if self.share is not None:
            return self._p_share(threshold, sign).reshape(-1, self.parts)
        points = sign * self.points
        p_each = p_values.p_means(points, self.errors, None, self.clusters, threshold)
        low = (p_each <= limit).reshape(-1, self.parts)
        enough = (low & (low.sum(1, keepdims=True) >= least)).ravel()
        asked = np.flatnonzero(enough & (self.errors > p_values.NOTHING))
        for some in np.split(asked, range(_DRAWN_AT_ONCE, len(asked), _DRAWN_AT_ONCE)):
            influence = sign * self.influence[:, some]
            drawn = p_values.pivots(self.draws.counts @ influence, np.sqrt(self.draws.variances(influence)))
            p_each[some] = p_values.p_means(points[some], self.errors[some], drawn, self.clusters, threshold)
        return p_each.reshape(-1, self.parts)

    @property
    def skew(self) -> Array:
        """The median over the parts of each world of their values' skewness, [W], as `rules.k_of` takes it."""
        if self.share is not None:
            return np.zeros(len(self.points) // self.parts)
        of_each = np.where(self.errors > p_values.NOTHING, p_values.skewnesses(self.influence), 0.0)
        return np.asarray(np.median(of_each.reshape(-1, self.parts), axis=1))

    def _p_share(self, threshold: float, sign: int) -> Array:
        """The same of shares, as `Estimate` has it: 0/1 values of single clusters, by `p_values.p_share`."""
        true = self.share or 0.0
        right, limit = (
            (self.points + true, true + threshold) if sign > 0 else (1 - self.points - true, 1 - true + threshold)
        )
        return p_values.p_share(right, limit, self._independent(right))

    def _independent(self, shares: Array) -> Array:
        """`cells.effective_n` of single clusters: n - 1, and n where all are equal."""
        return np.where((shares > 1e-9) & (shares < 1 - 1e-9), self.clusters - 1, self.clusters)

    def ends(self) -> tuple[Array, Array]:
        """The 95 % intervals [W * M]."""
        if self.share is not None:
            low, high = p_values.wilson_ends(self.points + self.share, self._independent(self.points + self.share))
            return low - self.share, high - self.share
        counts = self.draws.counts[:OF_ENDS]
        parts = [self.influence[:, at : at + _DRAWN_AT_ONCE] for at in range(0, len(self.points), _DRAWN_AT_ONCE)]
        away = [np.quantile(counts @ part, [0.025, 0.975], axis=0) for part in parts]
        low, high = self.points + np.concatenate(away, axis=1)
        return p_values.moved_outward(self.points, low, high, self.clusters)


def quantities(values: Array, draws: Drawn) -> list[Estimate]:
    """The columns of one world [K, M] as quantities, for rules that are not worked out many at a time."""
    means, n = values.mean(0), len(values)
    influence = (values - means) / n
    away = draws.counts @ influence
    return [Estimate(float(m), m + away[:, i], influence[:, i], draws, n, n) for i, m in enumerate(means)]


@functools.cache
def resamples(clusters: int, number: int = _RESAMPLES) -> Drawn:
    """The resamples that all worlds of so many clusters share."""
    return Drawn.of(np.zeros(clusters, dtype=np.int64), n_resamples=number, seed=SEED)


# ------------------------------------------------------------------------------------------------------------ the rates
Rates = dict[str, float]
PValues = Callable[[Means], tuple[Array, Array, int]]
"""The p-values of yes and of no [W, M] that a rule makes of worlds, and how many parts it needs."""


def _in_portions(world: World, worlds: int, seed: int) -> Iterator[Array]:
    """Worlds, so many at a time that their resamples fit into memory."""
    generator, most = np.random.default_rng(seed), max(1, _AT_ONCE // world.parts)
    for begin in range(0, worlds, most):
        yield world.values(min(most, worlds - begin), generator)


def _shares(answers: list[str]) -> Rates:
    return {answer: answers.count(answer) / len(answers) for answer in (rules.YES, rules.NO)}


def _judged(world: World, worlds: int, seed: int, p_of: PValues, by: float = 1.0) -> Rates:
    """The shares of worlds in which a rule says yes and no; values of no share are taken `by` times."""
    answers: list[str] = []
    for means in _means(world, worlds, seed, by):
        yes, no, needed = p_of(means)
        decided = zip(yes, no, means.skew, strict=True)
        answers += [rules.conjunction(up, down, needed, world.clusters, skew).answer for up, down, skew in decided]
    return _shares(answers)


def _means(world: World, worlds: int, seed: int, by: float = 1.0) -> Iterator[Means]:
    """The means of worlds, some at a time; values of no share are taken `by` times."""
    draws, share = resamples(world.clusters), _SHARES.get(world.shape)
    for values in _in_portions(world, worlds, seed):
        yield Means.of(values if share else by * values, draws, share=share)


def all_above(world: World, *, k: int | str = "all", worlds: int, seed: int = SEED) -> Rates:
    """`rules.k_of` at equality: all means are truly zero."""

    def p_of(means: Means) -> tuple[Array, Array, int]:
        needed = rules.parts_needed(k, world.parts)
        rest = world.parts - needed + 1
        up = means.p_above(0.0, limit=rules.ALPHA / rest, least=needed)
        return up, means.p_above(0.0, sign=-1, limit=rules.ALPHA / needed, least=rest), needed

    return _judged(world, worlds, seed, p_of)


def at_least(world: World, true: float, *, worlds: int, seed: int = SEED) -> Rates:
    """The rule `at_least` with the margin .05 where the mean is truly `true`."""

    def p_of(means: Means) -> tuple[Array, Array, int]:
        limit = -MARGIN - true
        return means.p_above(limit), means.p_above(-limit, sign=-1), 1

    return _judged(world, worlds, seed, p_of, SPREAD)


def equal(world: World, true: float, *, worlds: int, seed: int = SEED) -> Rates:
    """`rules.equal` with the margin .05 where the mean is truly `true`."""

    def p_of(means: Means) -> tuple[Array, Array, int]:
        within = means.p_above(-MARGIN - true), means.p_above(-MARGIN + true, sign=-1)
        beyond = means.p_above(MARGIN - true), means.p_above(MARGIN + true, sign=-1)
        low, high = means.ends()
        apart = ((low + true > MARGIN) | (high + true < -MARGIN))[:, None]
        return np.maximum(*within), np.where(apart, np.minimum(*beyond), 1.0), 1

    return _judged(world, worlds, seed, p_of, SPREAD)


def each(world: World, *, worlds: int, seed: int = SEED) -> Rates:
    """`rules.each` at equality: how often it says of some part that it is above zero (yes, or mixed), or below."""
    answers: list[str] = []
    for means in _means(world, worlds, seed):
        limit = rules.ALPHA / world.parts
        both = means.p_above(0.0, limit=limit), means.p_above(0.0, sign=-1, limit=limit)
        for up, down, skew in zip(*both, means.skew, strict=True):
            every, some = (rules.conjunction(up, down, k, world.clusters, skew) for k in (world.parts, 1))
            answers.append(rules.of_each(every, some).answer)
    mixed = answers.count(rules.PARTLY) / len(answers)
    return {answer: rate + mixed for answer, rate in _shares(answers).items()}


def leader(world: World, true: float, *, worlds: int, seed: int = SEED) -> Rates:
    """`rules.leader` with the margin .05 where every lead is truly `true`; level counts as a no."""
    answers: list[str] = []
    for means in _means(world, worlds, seed, SPREAD):
        up = means.p_above(-true, least=world.parts)
        down, level = (means.p_above(true - d, sign=-1, limit=rules.ALPHA / world.parts) for d in (0.0, MARGIN))
        for yes, no, below, skew in zip(up, down, level, means.skew, strict=True):
            answer = rules.conjunction(yes, no, world.parts, world.clusters, skew).answer
            is_level = answer == rules.YES and world.parts * below.min() <= rules.ALPHA
            answers.append(rules.NO if is_level else answer)
    return _shares(answers)


def coverage(world: World, *, worlds: int, seed: int = SEED) -> float:
    """The share of worlds in which the 95 % interval of a mean holds the truth."""
    draws, held = resamples(world.clusters), 0
    for values in _in_portions(world, worlds, seed):
        low, high = Means.of(values, draws, share=_SHARES.get(world.shape)).ends()
        held += int(((low <= 0) & (high >= 0)).sum())
    return held / worlds


def unrelated_orders(world: World, *, several: int = 1, worlds: int, seed: int = SEED) -> Rates:
    """`rules.orders` where ours and the published order have nothing to do with one another. Items (the parts) differ
    clearly, in an order of their own, which all of `several` orders share (two outputs of the same methods)."""
    generator, draws = np.random.default_rng(seed), resamples(world.clusters, OF_ENDS)
    items, answers = world.parts, []
    printed = np.arange(items, dtype=float)
    for values in world.values(several * worlds, generator).swapaxes(0, 1).reshape(worlds, several, -1, items):
        places = generator.permutation(items) * 0.5
        answers.append(rules.orders([(quantities(one + places, draws), printed) for one in values]).answer)
    return _shares(answers)


def unrelated_trend(world: World, *, worlds: int, seed: int = SEED) -> Rates:
    """`rules.trend` of two series of so many units (the clusters) that have nothing to do with one another."""
    generator = np.random.default_rng(seed)
    drawn = generator.normal(size=(worlds, 2, world.clusters))
    return _shares([rules.trend(x, y).answer for x, y in drawn])


# ------------------------------------------------------------------------------------------------------------ the table
MOST, LEAST, EQUAL, AT = "most parts above 0", "at least", "equal", "at the margin"
ORDER, ORDERS, TREND = "order, unrelated", "two orders, unrelated", "trend, unrelated"
EACH, LEADER = "each part for itself", "leader"

MEASURES: dict[str, Callable[[World, int], Rates]] = {
    ALL: lambda world, n: all_above(world, worlds=n),
    MOST: lambda world, n: all_above(world, k="most", worlds=n),
    f"{LEAST}, {AT}": lambda world, n: at_least(world, -MARGIN, worlds=n),
    f"{LEAST}, {INSIDE}": lambda world, n: at_least(world, 0.0, worlds=n),
    f"{EQUAL}, {AT}": lambda world, n: equal(world, MARGIN, worlds=n),
    f"{EQUAL}, {INSIDE}": lambda world, n: equal(world, 0.0, worlds=n),
    HELD: lambda world, n: {HELD_AS: coverage(world, worlds=n)},
    EACH: lambda world, n: each(world, worlds=n),
    f"{LEADER}, {AT}": lambda world, n: leader(world, MARGIN, worlds=n),
    ORDER: lambda world, n: unrelated_orders(world, worlds=n),
    ORDERS: lambda world, n: unrelated_orders(world, several=2, worlds=n),
    TREND: lambda world, n: unrelated_trend(world, worlds=n),
}
"""What is measured, by the name of its rows."""


def promised(rule: str, clusters: int) -> Rates:
    """What VERDICTS promises of a rate: at most so much of yes and no, at least so much held."""
    if rule == HELD:
        return {HELD_AS: 0.92 if clusters < rules.FEWEST_FOR_SEVERAL_NO else 0.94}
    limits = {} if rule.endswith(INSIDE) or rule.startswith(LEADER) else {rules.YES: 0.05}
    return limits | ({rules.NO: 0.05} if clusters >= rules.FEWEST_FOR_SEVERAL_NO or rule == TREND else {})


def plan() -> list[tuple[str, World]]:
    """Every row of the table: what is measured, in which world."""
    planned: list[tuple[str, World]] = []
    for name in (*SHAPES, *stored(), SKEWED):
        of_parts = [World(name, n, m, r) for n in COUNTS for m in PARTS[1:] for r in CORRELATIONS]
        if name in stored():
            of_parts = [world for world in of_parts if world.correlation == CORRELATIONS[1]]
        alone = [World(name, n) for n in COUNTS]
        planned += [(ALL, world) for world in (*alone, *of_parts)]
        planned += [(MOST, world) for world in of_parts if world.parts == 10 and world.correlation == CORRELATIONS[1]]
        planned += [(f"{rule}, {where}", world) for rule in (LEAST, EQUAL) for where in (AT, INSIDE) for world in alone]
        planned += [(HELD, world) for world in alone]
    planned += [(ORDER, World("normal", n, items)) for n in COUNTS[1:] for items in (10, 13)]
    planned += [(TREND, World("normal", units)) for units in (5, 8)]
    of_ten = [World(name, n, 10, CORRELATIONS[1]) for name in SHAPES[:2] for n in COUNTS[1:]]
    planned += [(rule, world) for world in of_ten for rule in (EACH, f"{LEADER}, {AT}")]
    return [*planned, (ORDERS, World("normal", COUNTS[1], 10))]


def rows(repetitions: int) -> Iterator[dict[str, object]]:
    """The table's rows, one by one: rates with what is promised of them, and the worlds that each is a share of."""
    for rule, world in tqdm(plan(), unit="rate", mininterval=5):
        worlds = repetitions if world.parts >= 30 or rule in (ORDER, ORDERS) else 2 * repetitions
        limits = promised(rule, world.clusters)
        about = (world.shape, world.clusters, world.parts, world.correlation)
        yield {
            "rule": rule,
            **dict(zip(WORLD, about, strict=True)),
            "kind": kind(world.shape),
            "skewness": skewness(world.shape),
            **MEASURES[rule](world, worlds),
            **{f"promised_{name}": limit for name, limit in limits.items()},
            "worlds": worlds,
        }


def kind(name: str) -> str:
    """Which shapes are kept apart: those that are promised, and strong skew."""
    return SKEW_APART if abs(skewness(name)) > rules.STRONG_SKEW and name not in SHAPES else LISTED


def calibrate(repetitions: int = 1000, folder: Path = HERE) -> None:
    """Measure every rate and write the table, with how it was made beside it."""
    began, commit = time.time(), machine.commit()
    frame = pd.DataFrame(list(rows(repetitions)))
    frame.to_csv(folder / "calibration.csv", index=False, float_format="%.4g", lineterminator="\n")
    made = {
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "seed": SEED,
        "repetitions": repetitions,
        "resamples": _RESAMPLES,
        "seconds": round(time.time() - began),
        "versions": {name: version for name, version in machine.versions().items() if name in _OF_NUMBERS},
        "stored": {name: len(values) for name, values in stored().items()},
    }
    (folder / "calibration.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure how often the rules of the verdicts err.")
    parser.add_argument("--worlds", type=int, default=1000, help="worlds for each rate (default 1000)")
    calibrate(parser.parse_args().worlds)
